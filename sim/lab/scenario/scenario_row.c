/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads `row.columns`: the types and sizes of a row's values, from which the size of the row follows. */
#include <stdio.h>
#include <string.h>

#include "kernel/text.h"
#include "lab/scenario_part.h"

#define TYPES                                                                                                \
    "text, blob, int, bigint, uuid, timeuuid, boolean, tinyint, smallint, timestamp, float, double or "      \
    "counter"
#define COUNTER_BYTES 36u /* CASS_COUNTER_VALUE_SIZE(1) */

static const struct lab_choice types[] = {{"text", CASS_TEXT},         {"blob", CASS_BLOB},
                                          {"int", CASS_INT},           {"bigint", CASS_BIGINT},
                                          {"uuid", CASS_UUID},         {"timeuuid", CASS_TIMEUUID},
                                          {"boolean", CASS_BOOLEAN},   {"tinyint", CASS_TINYINT},
                                          {"smallint", CASS_SMALLINT}, {"timestamp", CASS_TIMESTAMP},
                                          {"float", CASS_FLOAT},       {"double", CASS_DOUBLE},
                                          {"counter", CASS_COUNTER},   {NULL, 0}};
static const struct lab_field type_field = {.name = "type", .range = TYPES, .detail = types};

static bool read_type(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                      void *out)
{
    int type = CASS_TEXT;
    (void)field;
    if (!lab_read_choice(reader, &type_field, node, &type))
        return false;
    ((struct lab_column *)out)->type = (enum cass_type)type;
    return true;
}

static bool read_static(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                        void *out)
{
    static const struct lab_choice choices[] = {{"false", 0}, {"true", 1}, {NULL, 0}};
    static const struct lab_field choice = {.name = "static", .range = "true or false", .detail = choices};
    int value = 0;
    (void)field;
    if (!lab_read_choice(reader, &choice, node, &value))
        return false;
    ((struct lab_column *)out)->is_static = value != 0;
    return true;
}

static bool read_present(struct lab_reader *reader, const struct lab_field *field,
                         const struct lab_node *node, void *out)
{
    static const struct lab_field share = {.name = "present", .most = 1, .range = "a share from 0% to 100%"};
    double value = 1;
    (void)field;
    if (!lab_read_share(reader, &share, node, &value))
        return false;
    ((struct lab_column *)out)->missing = 1 - value;
    return true;
}

/* The target is a struct lab_column. */
static const struct lab_table column_table = {
    .fields = (const struct lab_field[]){
        {"type", read_type, 0, LAB_REQUIRED, 0, 0, TYPES, NULL},
        {"bytes", lab_read_bytes, offsetof(struct lab_column, bytes), LAB_OPTIONAL, 1, 1099511627776.0,
         "a size from 1B to 1TiB", NULL},
        {"static", read_static, 0, LAB_OPTIONAL, 0, 0, "true or false", NULL},
        {"present", read_present, 0, LAB_OPTIONAL, 0, 1, "a share from 0% to 100%", NULL},
        {.name = NULL},
    }};

/* Without a table, the columns replace the column `data` of the default design. */
static struct lab_column *column_of(struct lab_reader *reader, const struct lab_node *node)
{
    struct lab_design *design = &reader->scenario->design;
    struct lab_column *found = NULL;
    char shown[LAB_SHOWN_SIZE];
    for (size_t i = 0; i < design->column_count; i++) {
        if (strcmp(design->columns[i].name, node->name) == 0)
            found = &design->columns[i];
    }
    if (design->is_given && (found == NULL || found->feed != LAB_FEED_DATA)) {
        lab_fail_at(&reader->tree, &node->name_place,
                    "'%s' is not a column of 'table' that is fed by data; name it there, as in %s: data",
                    lab_show(node->name, shown), lab_show(node->name, shown));
        return NULL;
    }
    if (found != NULL && found->feed != LAB_FEED_DATA) {
        lab_fail_at(&reader->tree, &node->name_place,
                    "column '%s' is in the primary key already; give it another name", found->name);
        return NULL;
    }
    if (found != NULL)
        return found;
    size_t size = strlen(node->name);
    if (size < 1 || size > LAB_COLUMN_NAME_MAX || design->column_count == LAB_COLUMNS_MAX) {
        lab_fail_at(&reader->tree, &node->name_place,
                    "a table has at most %u columns, with names of 1 to %u bytes; use fewer, or shorten it",
                    LAB_COLUMNS_MAX, LAB_COLUMN_NAME_MAX);
        return NULL;
    }
    found = &design->columns[design->column_count++];
    *found = (struct lab_column){.feed = LAB_FEED_DATA};
    memcpy(found->name, node->name, size + 1);
    return found;
}

/* A counter's value has a shard for each node that coordinated an increment. */
static bool check_counter(struct lab_reader *reader, const struct lab_node *node,
                          const struct lab_column *column)
{
    uint64_t leader = CASS_COUNTER_VALUE_SIZE(1) - CASS_COUNTER_VALUE_SIZE(0);
    if (column->bytes < COUNTER_BYTES || (column->bytes - CASS_COUNTER_VALUE_SIZE(0)) % leader != 0)
        return lab_fail_at(&reader->tree, &node->place,
                           "a counter has 36 bytes, and 34 for each further node that counted; give 36B, 70B "
                           "or 104B, or remove 'bytes'");
    if (reader->scenario->row_ttl_ns > 0)
        return lab_fail_at(&reader->tree, &node->place,
                           "a counter does not expire; remove 'ttl' of the row, or give another type");
    return true;
}

static bool check_column(struct lab_reader *reader, const struct lab_node *node,
                         const struct lab_column *column)
{
    uint32_t fixed = cass_type_size(column->type);
    if (column->type == CASS_COUNTER)
        return check_counter(reader, node, column);
    if (column->bytes > 0 && fixed > 0 && column->bytes != fixed)
        return lab_fail_at(&reader->tree, &node->place, "type %s has %u bytes; remove 'bytes'",
                           cass_type_name(column->type), fixed);
    if (column->is_static && fixed == 0 && column->bytes == 0)
        return lab_fail_at(
            &reader->tree, &node->place,
            "a static column has no part in row.bytes; give its size, as in {type: text, bytes: 20B, "
            "static: true}");
    return true;
}

static bool read_column(struct lab_reader *reader, const struct lab_node *node)
{
    struct lab_column *column = column_of(reader, node);
    if (column == NULL)
        return false;
    bool is_read = node->kind == LAB_NODE_MAPPING ? lab_table_read(reader, &column_table, node, column)
                                                  : read_type(reader, NULL, node, column);
    if (!is_read)
        return false;
    /* Cassandra stores a length with each value of these types, although it is always the same. */
    if (column->type == CASS_TINYINT || column->type == CASS_SMALLINT)
        column->bytes = column->type == CASS_TINYINT ? 1 : 2;
    if (column->type == CASS_COUNTER && column->bytes == 0)
        column->bytes = COUNTER_BYTES;
    return check_column(reader, node, column);
}

/* A table with counters has no other columns except its primary key. */
static bool check_counters(struct lab_reader *reader, const struct lab_node *columns)
{
    const struct lab_design *design = &reader->scenario->design;
    size_t counters = 0, others = 0;
    for (size_t i = 0; i < design->column_count; i++) {
        bool is_in_key = memchr(design->partition, (int)i, design->partition_count) != NULL ||
                         memchr(design->clustering, (int)i, design->clustering_count) != NULL;
        counters += !is_in_key && design->columns[i].type == CASS_COUNTER;
        others += !is_in_key && design->columns[i].type != CASS_COUNTER;
    }
    return counters == 0 || others == 0 ||
           lab_fail_at(&reader->tree, &columns->place,
                       "a table of counters has no other columns outside its primary key; give all of them "
                       "the type counter, or none");
}

/* If every column has its own size, row.bytes has no column to share it. */
static bool settle_bytes(struct lab_reader *reader, const struct lab_node *columns)
{
    struct lab_scenario *scenario = reader->scenario;
    double sum = 0, cells = 0;
    bool shares = false;
    for (size_t i = 0; i < scenario->design.column_count; i++) {
        const struct lab_column *column = &scenario->design.columns[i];
        if (column->feed != LAB_FEED_DATA || column->is_static)
            continue;
        uint64_t own = column->bytes > 0 ? column->bytes : cass_type_size(column->type);
        shares = shares || own == 0;
        sum += (double)own * (1 - column->missing);
        cells += 1 - column->missing;
    }
    if (cells <= 0)
        return lab_fail_at(&reader->tree, &columns->place,
                           "a row needs a column that is not static, and is present in some; add one");
    if (!shares && scenario->has_row_bytes)
        return lab_fail_at(&reader->tree, &columns->place,
                           "every column has its own size, so 'bytes' of the row has no effect; remove it");
    if (!shares)
        scenario->workload.row_bytes =
            (struct sim_size){.kind = SIM_SIZE_CONSTANT, .a = sum < 1 ? 1 : (double)(uint64_t)(sum + 0.5)};
    if (!scenario->has_row_cells)
        scenario->workload.row_cells = cells < 1 ? 1 : (uint64_t)(cells + 0.5);
    return check_counters(reader, columns);
}

bool lab_row_complete(struct lab_reader *reader, const struct lab_node *root)
{
    struct lab_scenario *scenario = reader->scenario;
    const struct lab_node *row = lab_node_find(root, "row"), *columns = lab_node_find(row, "columns");
    scenario->has_row_cells = lab_node_find(row, "cells") != NULL;
    scenario->has_row_columns = columns != NULL;
    if (columns != NULL) {
        if (columns->kind != LAB_NODE_MAPPING || columns->count == 0)
            return lab_fail_at(&reader->tree, &columns->place,
                               "'columns' takes names and types; write it as {level: tinyint, body: text}");
        if (!scenario->design.is_given)
            scenario->design.column_count--; /* removes `data`, which is the last column */
        for (const struct lab_node *column = columns->first; column != NULL; column = column->next) {
            if (!column->is_null && !read_column(reader, column))
                return false;
        }
        if (!settle_bytes(reader, columns))
            return false;
    }
    lab_row_cost_make(scenario, &scenario->row_cost);
    return true;
}
