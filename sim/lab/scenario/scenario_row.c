/* SPDX-License-Identifier: GPL-3.0-or-later */
/* row.columns: what the values of a row are, and what the row weighs by that. */
#include <stdio.h>
#include <string.h>

#include "kernel/text.h"
#include "lab/scenario_part.h"

#define TIME_BYTES   8u
#define ID_BYTES     16u
#define BUCKET_BYTES 8u
#define TYPES                                                                                                \
    "text, blob, int, bigint, uuid, timeuuid, boolean, tinyint, smallint, timestamp, float or double"

static const struct lab_choice types[] = {{"text", CASS_TEXT},
                                          {"blob", CASS_BLOB},
                                          {"int", CASS_INT},
                                          {"bigint", CASS_BIGINT},
                                          {"uuid", CASS_UUID},
                                          {"timeuuid", CASS_TIMEUUID},
                                          {"boolean", CASS_BOOLEAN},
                                          {"tinyint", CASS_TINYINT},
                                          {"smallint", CASS_SMALLINT},
                                          {"timestamp", CASS_TIMESTAMP},
                                          {"float", CASS_FLOAT},
                                          {"double", CASS_DOUBLE},
                                          {NULL, 0}};
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

/* The target is a struct lab_column. */
static const struct lab_table column_table = {
    .fields = (const struct lab_field[]){
        {"type", read_type, 0, LAB_REQUIRED, 0, 0, TYPES, NULL},
        {"bytes", lab_read_bytes, offsetof(struct lab_column, bytes), LAB_OPTIONAL, 1, 1099511627776.0,
         "a size from 1B to 1TiB", NULL},
        {"static", read_static, 0, LAB_OPTIONAL, 0, 0, "true or false", NULL},
        {.name = NULL},
    }};

/* Without a table the columns stand in the place of the default one's `data`. */
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
                    "'%s' is no column of 'table' that is fed by data; name it there, as in %s: data",
                    lab_show(node->name, shown), lab_show(node->name, shown));
        return NULL;
    }
    if (found != NULL && found->feed != LAB_FEED_DATA) {
        lab_fail_at(&reader->tree, &node->name_place,
                    "column '%s' stands in the primary key already; give it another name", found->name);
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

static bool check_column(struct lab_reader *reader, const struct lab_node *node,
                         const struct lab_column *column)
{
    uint32_t fixed = cass_type_size(column->type);
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
    /* Cassandra keeps the lengths of these with each value, though they are always the same. */
    if (column->type == CASS_TINYINT || column->type == CASS_SMALLINT)
        column->bytes = column->type == CASS_TINYINT ? 1 : 2;
    return check_column(reader, node, column);
}

/* Where every column has a size of its own, the row has none left to share. */
static bool settle_bytes(struct lab_reader *reader, const struct lab_node *columns)
{
    struct lab_scenario *scenario = reader->scenario;
    uint64_t sum = 0, count = 0;
    bool shares = false;
    for (size_t i = 0; i < scenario->design.column_count; i++) {
        const struct lab_column *column = &scenario->design.columns[i];
        if (column->feed != LAB_FEED_DATA || column->is_static) {
            scenario->row_static_columns += column->is_static;
            continue;
        }
        uint64_t own = column->bytes > 0 ? column->bytes : cass_type_size(column->type);
        shares = shares || own == 0;
        sum += own;
        count++;
    }
    if (count == 0)
        return lab_fail_at(&reader->tree, &columns->place,
                           "a row needs a column that is not static; add one");
    if (!shares && scenario->has_row_bytes)
        return lab_fail_at(
            &reader->tree, &columns->place,
            "every column has a size of its own, so 'bytes' of the row means nothing; remove it");
    if (!shares)
        scenario->workload.row_bytes = (struct sim_size){.kind = SIM_SIZE_CONSTANT, .a = (double)sum};
    if (!scenario->has_row_cells)
        scenario->workload.row_cells = count;
    return true;
}

/* Of a text that writes one of so many values as a number. */
static uint64_t digits(uint32_t values)
{
    uint64_t count = 1;
    for (uint32_t largest = values - 1; largest >= 10; largest /= 10)
        count++;
    return count;
}

/* A column of the clustering, behind its bits in the header. */
static uint64_t clustering_bytes(const struct lab_column *column)
{
    switch (column->feed) {
    case LAB_FEED_TIME:
        return TIME_BYTES;
    case LAB_FEED_ID:
        return ID_BYTES;
    case LAB_FEED_VALUES:
        return 1 + digits(column->values);
    default:
        return 0; /* the key: its length is not known yet */
    }
}

/* The bytes of a value that a column has by itself; 0: it shares the row's. */
static uint64_t own_value(const struct lab_column *column)
{
    uint32_t fixed = cass_type_size(column->type);
    if (column->feed == LAB_FEED_VALUES)
        return digits(column->values);
    return column->bytes > 0 ? column->bytes : fixed;
}

static uint64_t cell_bytes(const struct lab_column *column)
{
    uint64_t value = own_value(column);
    return 1 + (cass_type_size(column->type) == 0 ? cass_vint_size(value) : 0) + value;
}

static bool is_in(const uint8_t *positions, size_t count, size_t column)
{
    for (size_t i = 0; i < count; i++) {
        if (positions[i] == column)
            return true;
    }
    return false;
}

static void add_columns(struct lab_row_cost *out, const struct lab_scenario *scenario, uint64_t *static_cells)
{
    const struct lab_design *design = &scenario->design;
    for (size_t i = 0; i < design->column_count; i++) {
        const struct lab_column *column = &design->columns[i];
        if (is_in(design->partition, design->partition_count, i) ||
            is_in(design->clustering, design->clustering_count, i))
            continue;
        if (column->is_static) {
            *static_cells += cell_bytes(column);
        } else if (column->feed == LAB_FEED_DATA && own_value(column) == 0) {
            out->shares++;
        } else {
            out->own_cells += cell_bytes(column);
            out->own_values += column->feed == LAB_FEED_DATA ? own_value(column) : 0;
        }
    }
    /* Without columns of its own a table has as many as the row has cells. */
    if (!scenario->has_row_columns && scenario->workload.row_cells > out->shares)
        out->shares = (uint32_t)scenario->workload.row_cells;
    if (!scenario->has_row_columns && out->shares == 0)
        out->shares = 1;
}

/* The key's two bytes of length and its end, where it is one of several components. */
static uint64_t partition_key_bytes(const struct lab_design *design)
{
    uint64_t bytes = 0, each = design->partition_count > 1 ? 3 : 0;
    for (size_t i = 0; i < design->partition_count; i++) {
        const struct lab_column *column = &design->columns[design->partition[i]];
        bytes += each;
        bytes += column->feed == LAB_FEED_BUCKET ? BUCKET_BYTES : 0;
        bytes += column->feed == LAB_FEED_VALUES ? digits(column->values) : 0;
    }
    return bytes;
}

static void make_cost(struct lab_row_cost *out, const struct lab_scenario *scenario)
{
    const struct lab_design *design = &scenario->design;
    uint64_t static_cells = 0;
    *out = (struct lab_row_cost){.is_payload = scenario->row_format == LAB_ROW_PAYLOAD,
                                 .ttl_ns = scenario->row_ttl_ns};
    out->partitions_by_key = lab_design_partitions_by(design, LAB_FEED_KEY);
    out->clusters_by_key = lab_design_clusters_by(design, LAB_FEED_KEY);
    add_columns(out, scenario, &static_cells);
    out->head = 1 + (design->clustering_count > 0);
    for (size_t i = 0; i < design->clustering_count; i++)
        out->head += clustering_bytes(&design->columns[design->clustering[i]]);
    out->partition = 2 + partition_key_bytes(design) + (scenario->row_format == LAB_ROW_DA ? 1 : 12) + 1;
    /* Flags twice, two sizes, and in each cell its time of writing, as it is no row by INSERT: 6 bytes are 50
     * days. */
    if (static_cells > 0)
        out->partition += 4 + static_cells + 6 * (uint64_t)scenario->row_static_columns;
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
            scenario->design.column_count--; /* data, which stands last */
        for (const struct lab_node *column = columns->first; column != NULL; column = column->next) {
            if (!column->is_null && !read_column(reader, column))
                return false;
        }
        if (!settle_bytes(reader, columns))
            return false;
    }
    make_cost(&scenario->row_cost, scenario);
    return true;
}
