/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads `trace`: a file of rows, and how to read it. */
#include <stdlib.h>
#include <string.h>

#include "lab/scenario_part.h"

#define NAME_BYTES_MAX 256

#define FORMAT(member) offsetof(struct lab_scenario, trace_format.member)
#define COLUMN(member) offsetof(struct wl_trace_columns, member)
#define COLUMN_RANGE   "the name of a column, or its number from 1"

/* Reads one name, or a list of at most `most` names. */
static bool read_names(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                       size_t most, char **names, size_t *count)
{
    if (node->kind != LAB_NODE_LIST) {
        *count = 1;
        return lab_read_text(reader, field, node, &names[0]);
    }
    if (node->count == 0 || node->count > most)
        return lab_fail_at(&reader->tree, &node->place, "'%s' names %zu columns; name 1 to %zu", node->name,
                           node->count, most);
    for (const struct lab_node *item = node->first; item != NULL; item = item->next, ++*count) {
        if (!lab_read_text(reader, field, item, &names[*count]))
            return false;
    }
    return true;
}

static bool read_time(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                      void *out)
{
    struct wl_trace_columns *columns = out;
    char *names[2] = {NULL};
    size_t count = 0;
    bool ok = read_names(reader, field, node, 2, names, &count);
    columns->time = names[0];
    columns->time_of_day = names[1];
    return ok;
}

static bool read_key(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                     void *out)
{
    struct wl_trace_columns *columns = out;
    return read_names(reader, field, node, WL_TRACE_PARTS_MAX, columns->key, &columns->key_count);
}

static bool read_bytes_of(struct lab_reader *reader, const struct lab_field *field,
                          const struct lab_node *node, void *out)
{
    struct wl_trace_columns *columns = out;
    return read_names(reader, field, node, WL_TRACE_PARTS_MAX, columns->bytes_of, &columns->bytes_of_count);
}

static bool check_columns(struct lab_reader *reader, const struct lab_node *mapping, void *target)
{
    const struct wl_trace_columns *columns = target;
    int values = (columns->bytes != NULL) + (columns->count != NULL) + (columns->bytes_of_count > 0);
    reader->scenario->workload.is_late_trace = columns->arrived != NULL;
    if (columns->arrived != NULL && columns->count != NULL)
        return lab_fail_at(&reader->tree, &mapping->place,
                           "'arrived' applies to single rows and conflicts with 'count'; remove one of them");
    return values <= 1 || lab_fail_at(&reader->tree, &mapping->place,
                                      "'columns' takes one of bytes, count and bytes_of; remove the others");
}

static const struct lab_table columns_table = {
    .fields =
        (const struct lab_field[]){
            {"time", read_time, 0, LAB_OPTIONAL, 0, NAME_BYTES_MAX, COLUMN_RANGE, NULL},
            {"arrived", lab_read_text, COLUMN(arrived), LAB_OPTIONAL, 0, NAME_BYTES_MAX, COLUMN_RANGE, NULL},
            {"key", read_key, 0, LAB_OPTIONAL, 0, NAME_BYTES_MAX, COLUMN_RANGE, NULL},
            {"bytes", lab_read_text, COLUMN(bytes), LAB_OPTIONAL, 0, NAME_BYTES_MAX, COLUMN_RANGE, NULL},
            {"count", lab_read_text, COLUMN(count), LAB_OPTIONAL, 0, NAME_BYTES_MAX, COLUMN_RANGE, NULL},
            {"bytes_of", read_bytes_of, 0, LAB_OPTIONAL, 0, NAME_BYTES_MAX, COLUMN_RANGE, NULL},
            {.name = NULL},
        },
    .check = check_columns};

static bool read_delimiter(struct lab_reader *reader, const struct lab_field *field,
                           const struct lab_node *node, void *out)
{
    (void)field;
    const char *text = lab_scalar(reader, node);
    if (text == NULL)
        return false;
    char delimiter = wl_trace_delimiter(text);
    if (delimiter == '\0' && strcmp(text, "auto") != 0)
        return lab_fail_value(reader, node,
                              "not a delimiter; use comma, semicolon, tab, pipe, space or one character");
    ((struct lab_scenario *)out)->trace_format.delimiter = delimiter;
    return true;
}

static bool read_epoch(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                       void *out)
{
    struct lab_scenario *scenario = out;
    scenario->trace_format.has_epoch = true;
    return lab_read_time(reader, field, node, &scenario->trace_format.epoch_ns);
}

static bool read_sort(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                      void *out)
{
    static const struct lab_choice choices[] = {{"false", 0}, {"true", 1}, {NULL, 0}};
    struct lab_field choice = *field;
    int value = 0;
    choice.detail = choices;
    if (!lab_read_choice(reader, &choice, node, &value))
        return false;
    ((struct lab_scenario *)out)->trace_format.sort = value == 1;
    return true;
}

static const struct lab_choice layouts[] = {
    {"auto", WL_LAYOUT_AUTO}, {"csv", WL_LAYOUT_CSV}, {"json", WL_LAYOUT_JSON}, {NULL, 0}};
#define CHOICE(id, option, name) {option, WL_TIME_##id},
static const struct lab_choice times[] = {WL_TRACE_TIMES(CHOICE){NULL, 0}};
static const struct lab_choice headers[] = {
    {"auto", WL_HEADER_AUTO}, {"true", WL_HEADER_YES}, {"false", WL_HEADER_NO}, {NULL, 0}};
static const struct lab_choice escapes[] = {
    {"auto", WL_ESCAPE_AUTO}, {"doubled", WL_ESCAPE_DOUBLED}, {"backslash", WL_ESCAPE_BACKSLASH}, {NULL, 0}};

static bool check_trace(struct lab_reader *reader, const struct lab_node *mapping, void *target)
{
    const struct lab_scenario *scenario = target;
    const struct lab_node *epoch = lab_node_find(mapping, "epoch");
    return epoch == NULL || scenario->trace_format.time == WL_TIME_SNOWFLAKE ||
           lab_fail_at(&reader->tree, &epoch->name_place,
                       "'epoch' applies only to Snowflakes; add time: snowflake, or remove it");
}

const struct lab_table lab_trace_table = {
    .fields =
        (const struct lab_field[]){
            {"file", lab_read_text, offsetof(struct lab_scenario, trace_path), LAB_REQUIRED, 0, 4096,
             "the name of a file of rows, or of a folder of them", NULL},
            {"columns", lab_read_mapping, FORMAT(columns), LAB_OPTIONAL, 0, 0, NULL, &columns_table},
            {"format", lab_read_choice, FORMAT(layout), LAB_OPTIONAL, 0, 0, NULL, layouts},
            {"time", lab_read_choice, FORMAT(time), LAB_OPTIONAL, 0, 0, NULL, times},
            {"epoch", read_epoch, 0, LAB_OPTIONAL, 0, 0, NULL, NULL},
            {"delimiter", read_delimiter, 0, LAB_OPTIONAL, 0, 0, NULL, NULL},
            {"escape", lab_read_choice, FORMAT(escape), LAB_OPTIONAL, 0, 0, NULL, escapes},
            {"header", lab_read_choice, FORMAT(header), LAB_OPTIONAL, 0, 0, NULL, headers},
            {"sort", read_sort, 0, LAB_OPTIONAL, 0, 0, NULL, NULL},
            {.name = NULL},
        },
    .check = check_trace};
