/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads mappings by tables of fields. In: a node and a table whose rows say name, reader, place and range.
 * Kept: nothing. Out: the values in the target of the table, or an error that names the place and the remedy.
 * The prose of a range is made from its two numbers. */
#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/text.h"
#include "kernel/time.h"
#include "lab/fields.h"
#include "lab/quantity.h"

#define UNDER_SIZE 64

/* How the values that a reader takes are put into words. */
struct form {
    lab_field_reader *read;
    const char *noun, *unit;
    double scale;    /* of a value in the unit */
    double smallest; /* a least value of at most this is "above 0" */
    double endless;  /* a greatest value of at least this is left out */
};
static const struct form forms[] = {
    {lab_read_whole, "a whole number", "", 1, 0, 1e15},
    {lab_read_whole32, "a whole number", "", 1, 0, 1e15},
    {lab_read_number, "a number", "", 1, 1e-9, 1e12},
    {lab_read_duration, "a duration", NULL, 1, 2, 0x1p63},
    {lab_read_signed_duration, "a duration", NULL, 1, 0, 0x1p63},
    {lab_read_bytes, "a size", NULL, 1, 0, 1e18},
    {lab_read_size, "a size", NULL, 1, 0, 1e18},
    {lab_read_rate, "a rate", "/s", 1, 1e-9, 1e18},
    {lab_read_share, "a share", "%", 100, 1e-9, 1e18},
    {lab_read_drift, "a drift", "ppm", 1e6, 0, 1e18},
    {lab_read_time, "a time", NULL, 1, 0, 0},
};

/* "365d", "1TiB", "100%", "0.01". */
static const char *bound_text(const struct form *form, double value, char *buffer, size_t size)
{
    if (form->read == lab_read_duration || form->read == lab_read_signed_duration) {
        lab_quantity_duration_text(value < 0x1p63 ? (int64_t)value : INT64_MAX, buffer, size);
    } else if (form->read == lab_read_bytes || form->read == lab_read_size) {
        bool is_binary = value >= 0x1p40 && (uint64_t)value % (UINT64_C(1) << 40) == 0;
        lab_quantity_bytes_text((uint64_t)(is_binary ? value / 0x1p40 : value), buffer, size);
        if (is_binary)
            strcpy(buffer + strlen(buffer) - 1, "TiB");
    } else {
        snprintf(buffer, size, "%.6f", value * form->scale);
        size_t end = strlen(buffer);
        while (buffer[end - 1] == '0')
            end--;
        end -= buffer[end - 1] == '.';
        snprintf(buffer + end, size - end, "%s", form->unit);
    }
    return buffer;
}

/* "auto, exact, thinned or cluster". */
static void list_words(const struct lab_choice *words, char *buffer, size_t size)
{
    size_t used = 0;
    for (const struct lab_choice *word = words; word->name != NULL; word++)
        used += (size_t)snprintf(buffer + used, size - used, "%s%s",
                                 word == words          ? ""
                                 : word[1].name == NULL ? " or "
                                                        : ", ",
                                 word->name);
}

static void write_range(const struct lab_field *field, const struct form *form, char *buffer)
{
    char least[48], most[48];
    const char *more = field->range == NULL ? "" : field->range;
    if (field->range != NULL && field->range[0] != ',') {
        snprintf(buffer, LAB_RANGE_SIZE, "%s", field->range);
        return;
    }
    bound_text(form, field->least, least, sizeof least);
    bound_text(form, field->most, most, sizeof most);
    if (field->least > 0 && field->least <= form->smallest)
        snprintf(buffer, LAB_RANGE_SIZE, "%s above %s%s%s%s", form->noun,
                 bound_text(form, 0, least, sizeof least), field->most < form->endless ? " and at most " : "",
                 field->most < form->endless ? most : "", more);
    else if (field->most >= form->endless)
        snprintf(buffer, LAB_RANGE_SIZE, "%s of at least %s%s", form->noun, least, more);
    else
        snprintf(buffer, LAB_RANGE_SIZE, "%s from %s to %s%s", form->noun, least, most, more);
}

void lab_field_range(const struct lab_field *field, char *buffer)
{
    buffer[0] = '\0';
    if (field->range != NULL && field->range[0] != ',')
        snprintf(buffer, LAB_RANGE_SIZE, "%s", field->range);
    else if (field->read == lab_read_choice || field->read == lab_read_flag)
        list_words(field->read == lab_read_flag ? lab_flag_words : field->detail, buffer, LAB_RANGE_SIZE);
    else if (field->read == lab_read_prose)
        snprintf(buffer, LAB_RANGE_SIZE, "a text of 1 to %.0f bytes", field->most);
    for (size_t i = 0; i < sizeof forms / sizeof *forms && buffer[0] == '\0' && field->most > 0; i++) {
        if (forms[i].read == field->read)
            write_range(field, &forms[i], buffer);
    }
    if (buffer[0] == '\0' && field->most > 0)
        snprintf(buffer, LAB_RANGE_SIZE, "a %s of 1 to %.0f bytes", field->name, field->most);
}

static const struct lab_field *find_field(const struct lab_field *fields, const char *name)
{
    for (const struct lab_field *field = fields; field->name != NULL; field++) {
        if (strcmp(field->name, name) == 0)
            return field;
    }
    return NULL;
}

static bool fail_unknown(struct lab_reader *reader, const struct lab_field *fields,
                         const struct lab_node *mapping, const struct lab_node *node)
{
    const char *names[LAB_FIELDS_MAX];
    char shown[LAB_SHOWN_SIZE];
    char listing[512] = "", under[UNDER_SIZE] = "";
    size_t count = 0, used = 0;
    for (const struct lab_field *field = fields; field->name != NULL; field++) {
        if (field->read == NULL)
            continue;
        assert(count < LAB_FIELDS_MAX);
        names[count++] = field->name;
        used += (size_t)snprintf(listing + used, sizeof listing - used, "%s%s", used == 0 ? "" : ", ",
                                 field->name);
        assert(used < sizeof listing);
    }
    if (mapping->name[0] != '\0')
        snprintf(under, sizeof under, " under '%s'", mapping->name);
    const char *nearest = sim_nearest(node->name, names, count);
    if (nearest != NULL)
        return lab_fail_at(&reader->tree, &node->name_place, "unknown field '%s'%s; did you mean '%s'?",
                           lab_show(node->name, shown), under, nearest);
    return lab_fail_at(&reader->tree, &node->name_place, "unknown field '%s'%s; the %s %s",
                       lab_show(node->name, shown), under, count == 1 ? "one field is" : "fields are",
                       listing);
}

static bool read_field(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                       void *target)
{
    if (field->read == NULL)
        return lab_fail_at(&reader->tree, &node->name_place, "'%s' %s", field->name, field->range);
    if (node->is_null)
        return true;
    const struct lab_table *table = field->read == lab_read_mapping ? field->detail : NULL;
    if (node->is_empty && table != NULL && table->may_be_empty) {
        struct lab_node nothing = *node;
        nothing.kind = LAB_NODE_MAPPING;
        return field->read(reader, field, &nothing, (char *)target + field->offset);
    }
    if (node->is_empty)
        return lab_fail_at(&reader->tree, &node->name_place, "'%s' has no value; give it one, or remove it",
                           field->name);
    return field->read(reader, field, node, (char *)target + field->offset);
}

static bool fail_missing(struct lab_reader *reader, const struct lab_field *field,
                         const struct lab_node *mapping)
{
    char range[LAB_RANGE_SIZE];
    lab_field_range(field, range);
    const char *give = range[0] != '\0' ? "; add it: " : "; add it";
    bool is_top = mapping->name[0] == '\0';
    return lab_fail_at(&reader->tree, &mapping->place, "'%s' is missing%s%s%s%s%s", field->name,
                       is_top ? "" : " under '", mapping->name, is_top ? "" : "'", give, range);
}

bool lab_table_read(struct lab_reader *reader, const struct lab_table *table, const struct lab_node *mapping,
                    void *target)
{
    if (mapping->kind != LAB_NODE_MAPPING)
        return lab_fail_at(&reader->tree, &mapping->place,
                           "'%s' takes fields and their values; write it as 'field: value' lines below it, "
                           "or in braces",
                           mapping->name);
    struct lab_field made[LAB_FIELDS_MAX];
    const struct lab_field *fields = lab_table_fields(table, made);
    for (const struct lab_node *node = mapping->first; node != NULL; node = node->next) {
        const struct lab_field *field = find_field(fields, node->name);
        if (field == NULL)
            return fail_unknown(reader, fields, mapping, node);
        if (!read_field(reader, field, node, target))
            return false;
    }
    for (const struct lab_field *field = fields; field->name != NULL; field++) {
        if (field->is_required && lab_node_find(mapping, field->name) == NULL)
            return fail_missing(reader, field, mapping);
    }
    return table->check == NULL || table->check(reader, mapping, target);
}

const struct lab_node *lab_only_field(struct lab_reader *reader, const struct lab_node *mapping,
                                      const char *except, const char *what, const char *choices)
{
    const struct lab_node *found = NULL;
    size_t count = 0;
    for (const struct lab_node *node = mapping->first; node != NULL; node = node->next) {
        if (node->is_null || (except != NULL && strcmp(node->name, except) == 0))
            continue;
        found = node;
        count++;
    }
    if (count == 1)
        return found;
    lab_fail_at(&reader->tree, count > 1 ? &found->name_place : &mapping->place,
                "%s takes exactly one of %s; %s", what, choices,
                count > 1 ? "remove this one or the other" : "add one");
    return NULL;
}

const char *lab_scalar(struct lab_reader *reader, const struct lab_node *node)
{
    if (node->kind == LAB_NODE_SCALAR)
        return node->text;
    lab_fail_at(&reader->tree, &node->place,
                "'%s' takes a single value, not a %s; give one, in quotes if necessary", node->name,
                node->kind == LAB_NODE_LIST ? "list" : "mapping");
    return NULL;
}

bool lab_fail_value(struct lab_reader *reader, const struct lab_node *node, const char *format, ...)
{
    char name[LAB_SHOWN_SIZE], value[LAB_SHOWN_SIZE], text[sizeof reader->tree.error->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return lab_fail_at(&reader->tree, &node->place, "'%s: %s': %s", lab_show(node->name, name),
                       lab_show(node->text, value), text);
}

bool lab_check_list(struct lab_reader *reader, const struct lab_node *node, size_t least, size_t most,
                    const char *form)
{
    char range[64] = "", shown[LAB_SHOWN_SIZE];
    if (node->kind == LAB_NODE_LIST && node->count >= least && node->count <= most)
        return true;
    if (least == most)
        snprintf(range, sizeof range, " of %zu elements", most);
    else if (most < SIZE_MAX)
        snprintf(range, sizeof range, " of %zu to %zu elements", least, most);
    return lab_fail_at(&reader->tree, &node->place, "'%s' takes a list%s; write it as %s",
                       lab_show(node->name, shown), range, form);
}

bool lab_read_names(struct lab_reader *reader, const struct lab_node *node, const char *what,
                    const char *const *names, size_t count, const char *form, uint32_t *out)
{
    *out = 0;
    if (!lab_check_list(reader, node, 1, SIZE_MAX, form))
        return false;
    for (const struct lab_node *item = node->first; item != NULL; item = item->next) {
        const char *text = lab_scalar(reader, item);
        size_t i = 0;
        if (text == NULL)
            return false;
        while (i < count && strcmp(text, names[i]) != 0)
            i++;
        const char *nearest = i < count ? NULL : sim_nearest(text, names, count);
        if (nearest != NULL)
            return lab_fail_value(reader, item, "no such %s; did you mean '%s'?", what, nearest);
        char listing[320] = "";
        for (size_t j = 0, used = 0; i == count && j < count; j++)
            used += (size_t)snprintf(listing + used, sizeof listing - used, "%s%s",
                                     j == 0          ? ""
                                     : j + 1 < count ? ", "
                                                     : " or ",
                                     names[j]);
        if (i == count)
            return lab_fail_value(reader, item, "no such %s; use %s", what, listing);
        *out |= UINT32_C(1) << i;
    }
    return true;
}

bool lab_read_uniform(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                      lab_field_reader *read, const char *form, struct sim_size *out)
{
    if (!lab_check_list(reader, node, 2, 2, form) || !read(reader, field, node->first, &out->a) ||
        !read(reader, field, node->last, &out->b))
        return false;
    return out->a <= out->b ||
           lab_fail_at(&reader->tree, &node->place, "'uniform' has its least above its most; swap the two");
}

bool lab_read_distribution(struct lab_reader *reader, const struct lab_field *field,
                           const struct lab_node *node, lab_field_reader *read, const char *choices,
                           struct sim_size *out)
{
    char what[LAB_SHOWN_SIZE];
    *out = (struct sim_size){.kind = SIM_SIZE_CONSTANT};
    if (node->kind == LAB_NODE_SCALAR)
        return read(reader, field, node, &out->a);
    if (!lab_table_read(reader, field->detail, node, out))
        return false;
    snprintf(what, sizeof what, "'%s'", node->name);
    const struct lab_node *form = lab_only_field(reader, node, NULL, what, choices);
    if (form == NULL)
        return false;
    out->kind = strcmp(form->name, "uniform") == 0     ? SIM_SIZE_UNIFORM
                : strcmp(form->name, "lognormal") == 0 ? SIM_SIZE_LOGNORMAL
                                                       : SIM_SIZE_PARETO;
    return true;
}

static bool read_string(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                        bool has_breaks, char **out)
{
    const char *text = lab_scalar(reader, node);
    if (text == NULL)
        return false;
    size_t size = strlen(text);
    for (size_t i = 0, length; i < size; i += length) {
        unsigned code = 0;
        length = sim_utf8(text + i, size - i, &code);
        bool is_break = code == '\n' || code == '\t';
        if (length == 0 || (lab_is_control(code) && !(is_break && has_breaks)))
            return lab_fail_value(reader, node, "a control character%s in it; remove it",
                                  has_breaks ? "" : " or a line break");
    }
    if (size == 0 || (double)size > field->most) {
        char range[LAB_RANGE_SIZE];
        lab_field_range(field, range);
        return lab_fail_value(reader, node, "%s; give %s", size == 0 ? "nothing in it" : "too long", range);
    }
    char *copy = malloc(size + 1);
    if (copy == NULL)
        return sim_fail_memory(reader->tree.error);
    memcpy(copy, text, size + 1);
    *out = copy;
    return true;
}

bool lab_read_text(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                   void *out)
{
    return read_string(reader, field, node, false, out);
}

bool lab_read_prose(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                    void *out)
{
    return read_string(reader, field, node, true, out);
}

/* Fails by the problem that a quantity's parser found, if any, or by the field's range. */
static bool check(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                  const char *problem, double value, lab_field_reader *read)
{
    if (problem != NULL)
        return lab_fail_value(reader, node, "%s", problem);
    bool has_range = field->least < 0 || field->most > 0;
    if (!has_range || (value >= field->least && value <= field->most))
        return true;
    char range[LAB_RANGE_SIZE];
    size_t form = 0;
    while (forms[form].read != read)
        form++;
    write_range(field, &forms[form], range);
    return lab_fail_value(reader, node, "out of range; give %s", range);
}

/* Defines a reader of a single value: it is parsed, compared with the field's range, and stored. */
#define READER(name, type, parse)                                                                            \
    bool name(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,         \
              void *out)                                                                                     \
    {                                                                                                        \
        type value;                                                                                          \
        const char *text = lab_scalar(reader, node);                                                         \
        if (text == NULL)                                                                                    \
            return false;                                                                                    \
        const char *problem = parse(text, &value);                                                           \
        if (!check(reader, field, node, problem, (double)value, name))                                       \
            return false;                                                                                    \
        *(type *)out = value;                                                                                \
        return true;                                                                                         \
    }

READER(lab_read_whole, uint64_t, lab_quantity_whole)
READER(lab_read_number, double, lab_quantity_number)
READER(lab_read_duration, int64_t, lab_quantity_duration)
READER(lab_read_signed_duration, int64_t, lab_quantity_signed_duration)
READER(lab_read_bytes, uint64_t, lab_quantity_bytes)
READER(lab_read_rate, double, lab_quantity_rate)
READER(lab_read_share, double, lab_quantity_share)
READER(lab_read_drift, double, lab_quantity_drift)

bool lab_read_whole32(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                      void *out)
{
    uint64_t value;
    if (!lab_read_whole(reader, field, node, &value))
        return false;
    *(uint32_t *)out = (uint32_t)value;
    return true;
}

bool lab_read_size(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                   void *out)
{
    uint64_t value;
    const char *text = lab_scalar(reader, node);
    if (text == NULL)
        return false;
    const char *problem = lab_quantity_whole(text, &value);
    if (problem != NULL)
        problem = lab_quantity_bytes(text, &value);
    if (!check(reader, field, node, problem, (double)value, lab_read_size))
        return false;
    *(double *)out = (double)value;
    return true;
}

bool lab_read_time(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                   void *out)
{
    int64_t value;
    const char *text = lab_scalar(reader, node);
    if (text == NULL)
        return false;
    const char *problem = NULL;
    if (sim_time_parse(text, &value) != 0) {
        value = 0;
        problem = "not a time in UTC; write it as 2026-01-01 or 2026-01-01T12:30:00Z";
    }
    if (!check(reader, field, node, problem, (double)value, lab_read_time))
        return false;
    *(int64_t *)out = value;
    return true;
}

bool lab_read_choice(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                     void *out)
{
    const char *text = lab_scalar(reader, node);
    if (text == NULL)
        return false;
    for (const struct lab_choice *choice = field->detail; choice->name != NULL; choice++) {
        if (strcmp(choice->name, text) != 0)
            continue;
        *(int *)out = choice->value;
        return true;
    }
    char words[LAB_RANGE_SIZE];
    list_words(field->detail, words, sizeof words);
    return lab_fail_value(reader, node, "no such choice; use %s", words);
}

const struct lab_choice lab_flag_words[] = {{"true", true}, {"false", false}, {NULL, 0}};

bool lab_read_flag(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                   void *out)
{
    struct lab_field choice = *field;
    int value = 0;
    choice.detail = lab_flag_words;
    if (!lab_read_choice(reader, &choice, node, &value))
        return false;
    *(bool *)out = value != 0;
    return true;
}

bool lab_read_later(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                    void *out)
{
    (void)reader, (void)field, (void)node, (void)out;
    return true;
}

bool lab_read_mapping(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                      void *out)
{
    return lab_table_read(reader, field->detail, node, out);
}
