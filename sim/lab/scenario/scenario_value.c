/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The readers of single values: text, numbers, quantities, choices. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/text.h"
#include "kernel/time.h"
#include "lab/quantity.h"
#include "lab/scenario_field.h"

#define LISTING_SIZE 256

const char *lab_scalar(struct lab_reader *reader, const struct lab_node *node)
{
    if (node->kind == LAB_NODE_SCALAR)
        return node->text;
    lab_fail_at(&reader->tree, &node->place,
                "'%s' takes a single value, not a %s; give one, in quotes if necessary", node->name,
                node->kind == LAB_NODE_LIST ? "list" : "mapping");
    return NULL;
}

bool lab_fail_value(struct lab_reader *reader, const struct lab_node *node, const char *text)
{
    char name[LAB_SHOWN_SIZE], value[LAB_SHOWN_SIZE];
    return lab_fail_at(&reader->tree, &node->place, "'%s: %s': %s", lab_show(node->name, name),
                       lab_show(node->text, value), text);
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
            return lab_fail_value(reader, node,
                                  has_breaks ? "a control character in it; remove it"
                                             : "a control character or a line break in it; "
                                               "remove it");
    }
    if (size == 0 || (double)size > field->most) {
        char problem[LISTING_SIZE];
        snprintf(problem, sizeof problem, "%s; give %s", size == 0 ? "nothing in it" : "too long",
                 field->range);
        return lab_fail_value(reader, node, problem);
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
                  const char *problem, double value)
{
    if (problem != NULL)
        return lab_fail_value(reader, node, problem);
    bool has_range = field->least < 0 || field->most > 0;
    if (!has_range || (value >= field->least && value <= field->most))
        return true;
    char text[LISTING_SIZE];
    snprintf(text, sizeof text, "out of range; give %s", field->range);
    return lab_fail_value(reader, node, text);
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
        if (!check(reader, field, node, problem, (double)value))                                             \
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
    if (!check(reader, field, node, problem, (double)value))
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
    if (!check(reader, field, node, problem, (double)value))
        return false;
    *(int64_t *)out = value;
    return true;
}

bool lab_read_choice(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                     void *out)
{
    char problem[LISTING_SIZE];
    size_t used = 0;
    const char *text = lab_scalar(reader, node);
    if (text == NULL)
        return false;
    for (const struct lab_choice *choice = field->detail; choice->name != NULL; choice++) {
        if (strcmp(choice->name, text) != 0)
            continue;
        *(int *)out = choice->value;
        return true;
    }
    used = (size_t)snprintf(problem, sizeof problem, "no such choice; use");
    const char *before = " ";
    for (const struct lab_choice *choice = field->detail; choice->name != NULL; choice++) {
        if (choice[1].name == NULL && before[0] == ',')
            before = " or ";
        used += (size_t)snprintf(problem + used, sizeof problem - used, "%s%s", before, choice->name);
        before = ", ";
    }
    return lab_fail_value(reader, node, problem);
}

bool lab_read_mapping(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                      void *out)
{
    return lab_table_read(reader, field->detail, node, out);
}
