/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads `table`: the columns, and which of them are the primary key. */
#include <stdio.h>
#include <string.h>

#include "kernel/text.h"
#include "lab/gone.h"
#include "lab/scenario_part.h"

/* The values of a primary key must fit into one number. */
#define COMBINATIONS_MAX (UINT64_C(1) << 62)

#define DESIGN(member) offsetof(struct lab_scenario, design.member)
#define FEEDS          "key, bucket, time, id, data or {values: N}"

static const struct lab_choice feeds[] = {{"key", LAB_FEED_KEY},   {"bucket", LAB_FEED_BUCKET},
                                          {"time", LAB_FEED_TIME}, {"id", LAB_FEED_ID},
                                          {"data", LAB_FEED_DATA}, {NULL, 0}};

/* The target is a struct lab_column. */
static const struct lab_table values_table = {
    .fields = (const struct lab_field[]){
        {"values", lab_read_whole32, offsetof(struct lab_column, values), LAB_REQUIRED, 1,
         LAB_COLUMN_VALUES_MAX, "a whole number from 1 to 1000000", NULL},
        {"zipf", lab_read_number, offsetof(struct lab_column, zipf), LAB_OPTIONAL, 0, 10,
         "a number from 0 to 10", NULL},
        {"bytes", lab_read_bytes, offsetof(struct lab_column, bytes), LAB_OPTIONAL, 1,
         CASS_COMPONENT_SIZE_MAX, "a size from 1B to 65535B", NULL},
        {.name = NULL},
    }};

static bool read_name(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                      void *out)
{
    const char *text = lab_scalar(reader, node);
    (void)field;
    if (text == NULL)
        return false;
    size_t size = strlen(text);
    bool is_name = size >= 1 && size <= LAB_TABLE_NAME_MAX;
    for (size_t i = 0; i < size && is_name; i++) {
        bool is_letter = (text[i] >= 'a' && text[i] <= 'z') || (text[i] >= 'A' && text[i] <= 'Z');
        is_name = is_letter || (i > 0 && ((text[i] >= '0' && text[i] <= '9') || text[i] == '_'));
    }
    if (!is_name)
        return lab_fail_value(
            reader, node, "not a table's name; give a letter, then letters, digits and _, at most 36 in all");
    memcpy(out, text, size + 1);
    return true;
}

/* Read after the columns, wherever it is in the file: see check_design(). */
static bool read_later(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                       void *out)
{
    (void)reader, (void)field, (void)node, (void)out;
    return true;
}

static bool check_column_name(struct lab_reader *reader, const struct lab_node *node)
{
    size_t size = strlen(node->name);
    char shown[LAB_SHOWN_SIZE];
    for (size_t i = 0, length; i < size; i += length) {
        unsigned code = 0;
        length = sim_utf8(node->name + i, size - i, &code);
        if (length == 0 || lab_is_control(code))
            return lab_fail_at(&reader->tree, &node->name_place,
                               "a control character or a line break in a column's name; remove it");
    }
    return (size >= 1 && size <= LAB_COLUMN_NAME_MAX) ||
           lab_fail_at(&reader->tree, &node->name_place,
                       "'%s': a column's name has 1 to %u bytes; shorten it", lab_show(node->name, shown),
                       LAB_COLUMN_NAME_MAX);
}

/* Checks that at most one column each is the key, the bucket, the time and the id. */
static bool check_feed(struct lab_reader *reader, const struct lab_node *node,
                       const struct lab_design *design, enum lab_feed feed)
{
    if (feed == LAB_FEED_VALUES || feed == LAB_FEED_DATA)
        return true;
    const struct lab_column *other = lab_design_column(design, feed);
    char problem[128];
    if (other == NULL)
        return true;
    snprintf(problem, sizeof problem, "column '%s' is fed by it already; remove one of them", other->name);
    return lab_fail_value(reader, node, problem);
}

static bool read_column(struct lab_reader *reader, const struct lab_node *node, struct lab_design *design)
{
    static const struct lab_field field = {.name = "columns", .range = FEEDS, .detail = feeds};
    struct lab_column *column = &design->columns[design->column_count];
    int feed = LAB_FEED_VALUES;
    if (!check_column_name(reader, node))
        return false;
    if (node->is_empty)
        return lab_fail_at(&reader->tree, &node->name_place,
                           "nothing says what feeds the column; give " FEEDS);
    if (node->kind == LAB_NODE_MAPPING ? !lab_table_read(reader, &values_table, node, column)
                                       : !lab_read_choice(reader, &field, node, &feed))
        return false;
    if (!check_feed(reader, node, design, (enum lab_feed)feed))
        return false;
    column->feed = (enum lab_feed)feed;
    memcpy(column->name, node->name, strlen(node->name) + 1);
    design->column_count++;
    return true;
}

static bool read_columns(struct lab_reader *reader, const struct lab_node *node, struct lab_design *design)
{
    if (node->kind != LAB_NODE_MAPPING)
        return lab_fail_at(&reader->tree, &node->place,
                           "'columns' takes names and what feeds each; write it as {server: key, hour: "
                           "bucket, at: time, id: id}");
    if (node->count > LAB_COLUMNS_MAX)
        return lab_fail_at(&reader->tree, &node->place, "%zu columns; give at most %u", node->count,
                           LAB_COLUMNS_MAX);
    for (const struct lab_node *column = node->first; column != NULL; column = column->next) {
        if (!column->is_null && !read_column(reader, column, design))
            return false;
    }
    return true;
}

static bool find_column(struct lab_reader *reader, const struct lab_node *node, const char *name,
                        const struct lab_design *design, uint8_t *out)
{
    const char *names[LAB_COLUMNS_MAX];
    char shown[LAB_SHOWN_SIZE];
    for (size_t i = 0; i < design->column_count; i++) {
        names[i] = design->columns[i].name;
        *out = (uint8_t)i;
        if (strcmp(names[i], name) == 0)
            return true;
    }
    const char *nearest = sim_nearest(name, names, design->column_count);
    if (nearest != NULL)
        return lab_fail_at(&reader->tree, &node->place, "no column '%s'; did you mean '%s'?",
                           lab_show(name, shown), nearest);
    return lab_fail_at(&reader->tree, &node->place,
                       "no column '%s'; add it to 'columns', or name one that is there",
                       lab_show(name, shown));
}

static bool check_key_column(struct lab_reader *reader, const struct lab_node *node,
                             const struct lab_design *design, uint8_t position)
{
    const struct lab_column *column = &design->columns[position];
    if (memchr(design->partition, position, design->partition_count) != NULL)
        return lab_fail_at(&reader->tree, &node->place,
                           "column '%s' is in the partition key already; remove it here", column->name);
    if (memchr(design->clustering, position, design->clustering_count) != NULL)
        return lab_fail_at(&reader->tree, &node->place,
                           "column '%s' is in the clustering already; remove one of them", column->name);
    if (column->feed == LAB_FEED_DATA)
        return lab_fail_at(&reader->tree, &node->place,
                           "column '%s' is the row's data, not a key; feed it by {values: N} or id, or "
                           "remove it here",
                           column->name);
    uint64_t combinations = lab_design_values(design, false);
    if (column->feed == LAB_FEED_VALUES && column->values > COMBINATIONS_MAX / combinations)
        return lab_fail_at(&reader->tree, &node->place,
                           "with column '%s' the key has more than 2^62 combinations of values; use fewer "
                           "columns or values",
                           column->name);
    return true;
}

static bool read_partition_key(struct lab_reader *reader, const struct lab_node *node,
                               struct lab_design *design)
{
    if (node->kind != LAB_NODE_LIST)
        return lab_fail_at(&reader->tree, &node->place,
                           "'partition_key' takes a list of columns; write it as [server, hour]");
    if (node->count == 0)
        return lab_fail_at(&reader->tree, &node->place, "a table needs a partition key; name its columns");
    for (const struct lab_node *item = node->first; item != NULL; item = item->next) {
        uint8_t position;
        const char *name = lab_scalar(reader, item);
        if (name == NULL || !find_column(reader, item, name, design, &position) ||
            !check_key_column(reader, item, design, position))
            return false;
        if (design->columns[position].feed == LAB_FEED_TIME || design->columns[position].feed == LAB_FEED_ID)
            return lab_fail_value(reader, item,
                                  "a time or an id here makes a partition per row, which readers cannot "
                                  "find; put it into 'clustering', and a bucket here");
        design->partition[design->partition_count++] = position;
    }
    return true;
}

/* Reads the clustering columns; each element is a name, {name: asc} or {name: desc}. */
static bool read_clustering(struct lab_reader *reader, const struct lab_node *node, struct lab_design *design)
{
    static const struct lab_choice orders[] = {{"asc", 0}, {"desc", 1}, {NULL, 0}};
    static const struct lab_field order_field = {
        .name = "clustering", .range = "asc or desc", .detail = orders};
    if (node->kind != LAB_NODE_LIST)
        return lab_fail_at(&reader->tree, &node->place,
                           "'clustering' takes a list of columns; write it as [{at: desc}, id]");
    for (const struct lab_node *item = node->first; item != NULL; item = item->next) {
        const struct lab_node *column = item;
        const char *name;
        int order = 0;
        uint8_t position;
        if (item->kind == LAB_NODE_MAPPING && item->count == 1) {
            column = item->first;
            name = column->name;
            if (!lab_read_choice(reader, &order_field, column, &order))
                return false;
        } else {
            name = lab_scalar(reader, item);
        }
        if (name == NULL || !find_column(reader, column, name, design, &position) ||
            !check_key_column(reader, column, design, position))
            return false;
        design->is_descending[design->clustering_count] = order != 0;
        design->clustering[design->clustering_count++] = position;
    }
    return true;
}

static bool check_design(struct lab_reader *reader, const struct lab_node *mapping, void *target)
{
    struct lab_design *design = &((struct lab_scenario *)target)->design;
    const struct lab_node *clustering = lab_node_find(mapping, "clustering");
    if (!read_columns(reader, lab_node_find(mapping, "columns"), design) ||
        !read_partition_key(reader, lab_node_find(mapping, "partition_key"), design) ||
        (clustering != NULL && !read_clustering(reader, clustering, design)))
        return false;
    const struct lab_column *bucket = lab_design_column(design, LAB_FEED_BUCKET);
    if (bucket != NULL && !lab_design_partitions_by(design, LAB_FEED_BUCKET))
        return lab_fail_at(&reader->tree, &lab_node_find(mapping, "partition_key")->place,
                           "bucket column '%s' has no effect outside the partition key; add it here, or "
                           "remove it from 'columns'",
                           bucket->name);
    return true;
}

const struct lab_table lab_design_table = {
    .fields =
        (const struct lab_field[]){
            {"name", read_name, DESIGN(name), LAB_REQUIRED, 0, 0,
             "letters, digits and _, as in name: server_logs", NULL},
            {"columns", read_later, 0, LAB_REQUIRED, 0, 0,
             "a name and what feeds it each, as in {server: key, hour: bucket, at: time, id: id}", NULL},
            {"partition_key", read_later, 0, LAB_REQUIRED, 0, 0, "a list of columns, as in [server, hour]",
             NULL},
            {"clustering", read_later, 0, LAB_OPTIONAL, 0, 0, NULL, NULL},
            {.name = NULL},
        },
    .check = check_design};

/* Without a bucket column, the table does not store what a strategy decides. Buckets of different eras are
 * not comparable. */
static bool check_strategies(struct lab_reader *reader, const struct lab_node *table)
{
    const struct lab_scenario *scenario = reader->scenario;
    bool has_bucket = lab_design_column(&scenario->design, LAB_FEED_BUCKET) != NULL;
    for (size_t i = 0; i < scenario->strategy_count; i++) {
        if (scenario->strategies[i].settings.change_count > 0)
            return lab_fail_at(&reader->tree, &table->name_place,
                               "'table' conflicts with 'then' of strategy '%s'; remove one of them",
                               scenario->strategies[i].label);
        if (!has_bucket && scenario->strategies[i].settings.strategy.kind != BK_UNBUCKETED)
            return lab_fail_at(&reader->tree, &lab_node_find(table, "columns")->name_place,
                               "no column is fed by the bucket, and strategy '%s' needs one; add it, as in "
                               "hour: bucket, or try only 'unbucketed'",
                               scenario->strategies[i].label);
    }
    return true;
}

bool lab_table_complete(struct lab_reader *reader, const struct lab_node *root)
{
    struct lab_scenario *scenario = reader->scenario;
    const struct lab_node *table = lab_node_find(root, "table"), *reads = lab_node_find(root, "reads");
    if (table == NULL) {
        lab_design_default(&scenario->design);
        return true;
    }
    scenario->design.is_given = true;
    if (!check_strategies(reader, table))
        return false;
    bool is_plain = lab_design_is_plain(&scenario->design);
    if (!is_plain && scenario->engine == LAB_ENGINE_CLUSTER)
        return lab_fail_at(&reader->tree, &lab_node_find(table, "partition_key")->name_place,
                           "with agents partitions are (key, bucket) and no row replaces another; use these "
                           "two columns here and an id in 'clustering', or remove 'agents'");
    const struct lab_node *deletes = lab_node_find(root, "deletes");
    if (!is_plain && lab_rows_go(scenario))
        return lab_fail_at(
            &reader->tree,
            deletes != NULL ? &deletes->name_place
                            : &lab_node_find(lab_node_find(root, "row"), "ttl")->name_place,
            "'%s' is for rows that are never overwritten, and this table overwrites or partitions them "
            "differently; use (key, bucket) and an id in 'table', or remove this",
            deletes != NULL ? "deletes" : "ttl");
    if (!is_plain && scenario->reads.present)
        return lab_fail_at(
            &reader->tree, &reads->name_place,
            "'reads' query the newest rows of a key, which this table overwrites or partitions differently; "
            "use (key, bucket) and an id in 'table', or remove 'reads'");
    return true;
}
