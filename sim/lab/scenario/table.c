/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads `table` and `row.columns`: the columns, which of them are the primary key, and the types and sizes of
 * values. In: the nodes of both, after the strategies are known. Kept: nothing. Out: the design of the
 * scenario. */
#include <stdio.h>
#include <string.h>

#include "kernel/text.h"
#include "lab/fields.h"
#include "lab/scenario.h"

void lab_design_default(struct lab_design *out)
{
    static const struct lab_column columns[] = {{.name = "key", .feed = LAB_FEED_KEY},
                                                {.name = "bucket", .feed = LAB_FEED_BUCKET},
                                                {.name = "at", .feed = LAB_FEED_TIME},
                                                {.name = "id", .feed = LAB_FEED_ID},
                                                {.name = "data", .feed = LAB_FEED_DATA}};
    memset(out, 0, sizeof *out);
    memcpy(out->name, "rows_by_key", sizeof "rows_by_key");
    memcpy(out->columns, columns, sizeof columns);
    out->column_count = sizeof columns / sizeof *columns;
    out->partition_count = out->clustering_count = 2;
    out->partition[1] = 1;
    out->clustering[0] = 2;
    out->clustering[1] = 3;
    out->is_descending[0] = out->is_descending[1] = true;
}

const struct lab_column *lab_design_column(const struct lab_design *design, enum lab_feed feed)
{
    for (size_t i = 0; i < design->column_count; i++) {
        if (design->columns[i].feed == feed)
            return &design->columns[i];
    }
    return NULL;
}

static bool is_fed(const struct lab_design *design, const uint8_t *positions, size_t count,
                   enum lab_feed feed)
{
    for (size_t i = 0; i < count; i++) {
        if (design->columns[positions[i]].feed == feed)
            return true;
    }
    return false;
}

bool lab_design_partitions_by(const struct lab_design *design, enum lab_feed feed)
{
    return is_fed(design, design->partition, design->partition_count, feed);
}

bool lab_design_clusters_by(const struct lab_design *design, enum lab_feed feed)
{
    return is_fed(design, design->clustering, design->clustering_count, feed);
}

bool lab_design_is_in_key(const struct lab_design *design, size_t column)
{
    return memchr(design->partition, (int)column, design->partition_count) != NULL ||
           memchr(design->clustering, (int)column, design->clustering_count) != NULL;
}

bool lab_design_is_unique(const struct lab_design *design)
{
    return lab_design_clusters_by(design, LAB_FEED_ID);
}

bool lab_design_is_plain(const struct lab_design *design)
{
    return lab_design_is_unique(design) && lab_design_partitions_by(design, LAB_FEED_KEY) &&
           lab_design_partitions_by(design, LAB_FEED_BUCKET) && lab_design_values(design, true) == 1;
}

uint64_t lab_design_values(const struct lab_design *design, bool of_partition_alone)
{
    uint64_t product = 1;
    for (size_t i = 0; i < design->partition_count; i++) {
        const struct lab_column *column = &design->columns[design->partition[i]];
        product *= column->feed == LAB_FEED_VALUES ? column->values : 1;
    }
    for (size_t i = 0; !of_partition_alone && i < design->clustering_count; i++) {
        const struct lab_column *column = &design->columns[design->clustering[i]];
        product *= column->feed == LAB_FEED_VALUES ? column->values : 1;
    }
    return product;
}

/* The values of a primary key must fit into one number. */
#define COMBINATIONS_MAX (UINT64_C(1) << 62)

#define FEEDS "key, bucket, time, id, data or {values: N}"

static const struct lab_choice feeds[] = {{"key", LAB_FEED_KEY},   {"bucket", LAB_FEED_BUCKET},
                                          {"time", LAB_FEED_TIME}, {"id", LAB_FEED_ID},
                                          {"data", LAB_FEED_DATA}, {NULL, 0}};

/* The target is a struct lab_column. */
static const struct lab_table values_table = {LAB_FIELDS(
    {"values", lab_read_whole32, LAB_AT(struct lab_column, values), LAB_REQUIRED,
     LAB_FROM(1, LAB_COLUMN_VALUES_MAX)},
    {"zipf", lab_read_number, LAB_AT(struct lab_column, zipf), LAB_FROM(0, 10)},
    {"bytes", lab_read_bytes, LAB_AT(struct lab_column, bytes), LAB_FROM(1, CASS_COMPONENT_SIZE_MAX)})};

static bool read_name(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                      void *out)
{
    const char *text = lab_scalar(reader, node);
    (void)field;
    if (text == NULL)
        return false;
    static const char signs[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    size_t size = strlen(text);
    if (size < 1 || size > LAB_TABLE_NAME_MAX || strspn(text, signs) != size ||
        strchr(signs + 52, text[0]) != NULL)
        return lab_fail_value(
            reader, node, "not a table's name; give a letter, then letters, digits and _, at most 36 in all");
    memcpy(out, text, size + 1);
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
    if (other == NULL)
        return true;
    return lab_fail_value(reader, node, "column '%s' is fed by it already; remove one of them", other->name);
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
    if (!lab_check_list(reader, node, 1, LAB_COLUMNS_MAX, "[server, hour]"))
        return false;
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
    if (!lab_check_list(reader, node, 0, LAB_COLUMNS_MAX, "[{at: desc}, id]"))
        return false;
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
    if (design->is_given)
        return lab_fail_at(&reader->tree, &mapping->name_place,
                           "'table' conflicts with 'row.schema', which says the same; remove one of them");
    design->is_given = true;
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
    LAB_FIELDS(
        {"name", read_name, LAB_IN(design.name), LAB_REQUIRED,
         .range = "letters, digits and _, as in name: server_logs"},
        {"columns", lab_read_later, LAB_REQUIRED,
         .range = "a name and what feeds it each, as in {server: key, hour: bucket, at: time, id: id}"},
        {"partition_key", lab_read_later, LAB_REQUIRED, .range = "a list of columns, as in [server, hour]"},
        {.name = "clustering", .read = lab_read_later}),
    .check = check_design};

/* Without a bucket column, the table does not store what a strategy decides. */
static bool check_strategies(struct lab_reader *reader, const struct lab_node *table)
{
    const struct lab_scenario *scenario = reader->scenario;
    bool has_bucket = lab_design_column(&scenario->design, LAB_FEED_BUCKET) != NULL;
    for (size_t i = 0; i < scenario->strategy_count; i++) {
        if (!has_bucket && scenario->strategies[i].settings.strategy.kind != BK_KIND_UNBUCKETED)
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
    const struct lab_node *table = lab_node_find(root, "table");
    if (scenario->design.is_given)
        return check_strategies(reader, table);
    lab_design_default(&scenario->design);
    return true;
}

#define COUNTER_BYTES 36u /* CASS_COUNTER_VALUE_SIZE(1) */

/* The target is a struct lab_column. */
static bool read_type(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                      void *out)
{
    struct lab_column *column = out;
    struct cass_weight weight;
    const char *text = lab_scalar(reader, node);
    (void)field;
    if (text == NULL)
        return false;
    if (strlen(text) >= sizeof column->type_text || !cass_type_weigh(text, reader->user_types, 0, 0, &weight))
        return lab_fail_value(reader, node,
                              "not a type; the types are " CASS_TYPES
                              ", counter, list<T>, set<T>, map<T, T>, "
                              "tuple<T, ...>, vector<T, N> and frozen<T>; one with a comma needs quotes");
    memcpy(column->type_text, text, strlen(text) + 1);
    return true;
}

static bool read_elements(struct lab_reader *reader, const struct lab_field *field,
                          const struct lab_node *node, void *out)
{
    struct lab_column *column = out;
    if (node->kind == LAB_NODE_SCALAR)
        return lab_read_whole32(reader, field, node, &column->elements);
    return lab_read_distribution(reader, field, node, lab_read_size, "uniform, lognormal or pareto",
                                 &column->spread);
}

static bool read_present(struct lab_reader *reader, const struct lab_field *field,
                         const struct lab_node *node, void *out)
{
    static const struct lab_field share = {.name = "present", .most = 1};
    double value = 1;
    (void)field;
    if (!lab_read_share(reader, &share, node, &value))
        return false;
    ((struct lab_column *)out)->missing = 1 - value;
    return true;
}

/* The target is a struct lab_column. */
static const struct lab_table column_table = {
    LAB_FIELDS({"type", read_type, .offset = 0},
               {"elements", read_elements, LAB_FROM(1, 65535), .detail = &lab_row_bytes_table},
               {"bytes", lab_read_bytes, LAB_AT(struct lab_column, bytes), LAB_FROM(1, 1099511627776.0)},
               {"static", lab_read_flag, LAB_AT(struct lab_column, is_static)},
               {"present", read_present, LAB_FROM(0, 1)})};

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
    if (design->is_given && found == NULL) {
        lab_fail_at(&reader->tree, &node->name_place,
                    "'%s' is not a column of the table; name it there, as in %s: data",
                    lab_show(node->name, shown), lab_show(node->name, shown));
        return NULL;
    }
    if (design->is_given)
        return found;
    if (found != NULL && found->feed != LAB_FEED_DATA) {
        lab_fail_at(&reader->tree, &node->name_place,
                    "column '%s' is in the primary key already; give it another name", found->name);
        return NULL;
    }
    if (found != NULL)
        return found;
    if (!check_column_name(reader, node))
        return NULL;
    if (design->column_count == LAB_COLUMNS_MAX) {
        lab_fail_at(&reader->tree, &node->name_place, "a table has at most %u columns; use fewer",
                    LAB_COLUMNS_MAX);
        return NULL;
    }
    found = &design->columns[design->column_count++];
    *found = (struct lab_column){.feed = LAB_FEED_DATA};
    memcpy(found->name, node->name, strlen(node->name) + 1);
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
    const bool has_elements = column->elements > 0 || column->spread.a > 0;
    if (column->feed != LAB_FEED_DATA && (column->is_static || column->missing > 0 || column->spread.a > 0))
        return lab_fail_at(
            &reader->tree, &node->place,
            "column '%s' is not fed by data; give only 'type', 'bytes' and a number of 'elements'",
            column->name);
    if (column->feed == LAB_FEED_KEY && column->bytes > 0)
        return lab_fail_at(&reader->tree, &node->place, "keys are as long as their names; remove 'bytes'");
    if (has_elements && column->type != CASS_NESTED)
        return lab_fail_at(&reader->tree, &node->place, "type %s has no elements; remove 'elements'",
                           column->type_text);
    if (column->spread.a > 0 && (!column->weight.is_complex || column->is_static))
        return lab_fail_at(&reader->tree, &node->place,
                           "a number of elements that differs needs a collection that is neither static nor "
                           "frozen; give their mean");
    if (column->type == CASS_COUNTER)
        return check_counter(reader, node, column);
    if (column->bytes > 0 && fixed > 0 && column->bytes != fixed)
        return lab_fail_at(&reader->tree, &node->place, "type %s has %u bytes; remove 'bytes'",
                           cass_type_name(column->type), fixed);
    if (column->is_static && column->weight.value == 0)
        return lab_fail_at(
            &reader->tree, &node->place,
            "a static column has no part in row.bytes; give its size, as in {type: text, bytes: 20B, "
            "static: true}");
    return true;
}

/* Sets the type, unless it is given, by what feeds the column, and what the column weighs. */
static void settle_type(const struct lab_reader *reader, struct lab_column *column)
{
    static const char *const usual[] = {
        [LAB_FEED_KEY] = "text",    [LAB_FEED_BUCKET] = "bigint", [LAB_FEED_TIME] = "timestamp",
        [LAB_FEED_ID] = "timeuuid", [LAB_FEED_VALUES] = "text",   [LAB_FEED_DATA] = "text"};
    const bool is_schema = reader->scenario->schema_table != NULL;
    uint64_t bytes = column->bytes;
    if (column->type_text[0] == '\0')
        memcpy(column->type_text, usual[column->feed], strlen(usual[column->feed]) + 1);
    if (!cass_type_parse(column->type_text, &column->type))
        column->type = CASS_NESTED;
    if (column->type == CASS_COUNTER && bytes == 0)
        column->bytes = COUNTER_BYTES;
    if (column->feed == LAB_FEED_VALUES && bytes == 0 && !is_schema) {
        bytes = 1; /* the number of digits */
        for (uint32_t largest = column->values - 1; largest >= 10; largest /= 10)
            bytes++;
    }
    cass_type_weigh(column->type_text, reader->user_types, bytes, column->elements, &column->weight);
    struct cass_weight other;
    cass_type_weigh(column->type_text, reader->user_types, bytes > 0 ? bytes : 1,
                    column->elements > 0 ? column->elements : 1, &other);
    bool shares = cass_type_is_any_length(column->type) && bytes == 0 &&
                  (column->feed == LAB_FEED_KEY ||
                   (column->feed == LAB_FEED_DATA && !(column->is_static && is_schema)));
    column->is_guess = !shares && column->feed != LAB_FEED_KEY && column->spread.a == 0 &&
                       column->type != CASS_COUNTER && column->weight.value != other.value;
    if (shares)
        column->weight = (struct cass_weight){.count = 1, .cells = 2};
    if (column->spread.a > 0)
        column->weight.value = column->weight.cells = 0;
}

static bool read_value_column(struct lab_reader *reader, const struct lab_node *node)
{
    struct lab_column *column = column_of(reader, node);
    if (column == NULL ||
        !(node->kind == LAB_NODE_MAPPING ? lab_table_read(reader, &column_table, node, column)
                                         : read_type(reader, NULL, node, column)))
        return false;
    if (column->type_text[0] == '\0')
        return lab_fail_at(&reader->tree, &node->place, "'type' of column '%s' is missing; add it",
                           column->name);
    settle_type(reader, column);
    return check_column(reader, node, column);
}

/* A table with counters has no other columns except its primary key. */
static bool check_counters(struct lab_reader *reader, const struct lab_node *columns)
{
    const struct lab_design *design = &reader->scenario->design;
    size_t counters = 0, others = 0;
    for (size_t i = 0; i < design->column_count; i++) {
        bool is_in_key = lab_design_is_in_key(design, i);
        counters += !is_in_key && design->columns[i].type == CASS_COUNTER;
        others += !is_in_key && design->columns[i].type != CASS_COUNTER;
    }
    return counters == 0 || others == 0 ||
           lab_fail_at(&reader->tree, &columns->place,
                       "a table of counters has no other columns outside its primary key; give all of them "
                       "the type counter, or none");
}

/* If every column has its own size, row.bytes has no column to share it. If the number of elements of one
 * differs, the row's bytes are those of the elements. */
static bool settle_bytes(struct lab_reader *reader, const struct lab_node *columns)
{
    struct lab_scenario *scenario = reader->scenario;
    const struct lab_column *spread = NULL;
    double sum = 0, cells = 0;
    size_t shares = 0, missing = 0;
    for (size_t i = 0; i < scenario->design.column_count; i++) {
        const struct lab_column *column = &scenario->design.columns[i];
        if (column->feed != LAB_FEED_DATA || column->is_static)
            continue;
        spread = column->spread.a > 0 ? column : spread;
        shares += column->weight.value == 0;
        missing += column->missing > 0;
        sum += (double)column->weight.value * (1 - column->missing);
        cells += (double)column->weight.count * (1 - column->missing);
    }
    if (cells <= 0 && scenario->schema_table == NULL)
        return lab_fail_at(&reader->tree, &columns->place,
                           "a row needs a column that is not static, and is present in some; add one");
    if (spread != NULL && (shares > 1 || missing > 0))
        return lab_fail_at(
            &reader->tree, &columns->place,
            "the number of elements of '%s' differs, so each other column needs 'bytes' and no "
            "'present'; give these, or a mean number of elements",
            spread->name);
    if ((shares == 0 || spread != NULL) && scenario->has_row_bytes)
        return lab_fail_at(&reader->tree, &columns->place,
                           "every column has its own size, so 'bytes' of the row has no effect; remove it");
    if (spread != NULL) {
        const double each = (double)spread->weight.element;
        scenario->workload.row_bytes = spread->spread;
        scenario->workload.row_bytes.a *= each;
        scenario->workload.row_bytes.b *= spread->spread.kind == SIM_SIZE_UNIFORM ? each : 1;
    } else if (shares == 0) {
        scenario->workload.row_bytes =
            (struct sim_size){.kind = SIM_SIZE_CONSTANT, .a = sum < 1 ? 1 : (double)(uint64_t)(sum + 0.5)};
    }
    if (!scenario->has_row_cells)
        scenario->workload.row_cells = cells < 1 ? 1 : (uint64_t)(cells + 0.5);
    return (sim_size_prepare(&scenario->workload.row_bytes) == 0 ||
            lab_fail_at(&reader->tree, &columns->place, "no distribution has these elements")) &&
           check_counters(reader, columns);
}

bool lab_row_complete(struct lab_reader *reader, const struct lab_node *root)
{
    struct lab_scenario *scenario = reader->scenario;
    struct lab_design *design = &scenario->design;
    const struct lab_node *row = lab_node_find(root, "row"), *columns = lab_node_find(row, "columns");
    scenario->has_row_cells = lab_node_find(row, "cells") != NULL;
    scenario->has_row_columns = columns != NULL || scenario->schema_table != NULL;
    if (columns != NULL && (columns->kind != LAB_NODE_MAPPING || columns->count == 0))
        return lab_fail_at(&reader->tree, &columns->place,
                           "'columns' takes names and types; write it as {level: tinyint, body: text}");
    if (columns != NULL && !design->is_given)
        design->column_count--; /* removes `data`, which is the last column */
    for (const struct lab_node *column = columns == NULL ? NULL : columns->first; column != NULL;
         column = column->next) {
        if (!column->is_null && !read_value_column(reader, column))
            return false;
    }
    for (size_t i = 0; i < design->column_count; i++)
        settle_type(reader, &design->columns[i]);
    if (scenario->has_row_columns && !settle_bytes(reader, columns != NULL ? columns : row))
        return false;
    lab_row_cost_make(scenario, &scenario->row_cost);
    if (scenario->row_is_updated && scenario->row_cost.deletions > 0)
        return lab_fail_at(
            &reader->tree, &lab_node_find(row, "writes")->place,
            "the sizes of collections are known for rows written by INSERT; freeze them, or remove "
            "'writes'");
    const struct lab_node *absent = row == NULL ? NULL : row->first;
    while (absent != NULL && strcmp(absent->name, "absent") != 0)
        absent = absent->next;
    if (absent != NULL && absent->is_null)
        return lab_fail_at(
            &reader->tree, &absent->place,
            "a null means that the field is not given; write 'absent: tombstone', which is what "
            "a null that is written becomes");
    return absent == NULL || (scenario->row_cost.is_estimated && !scenario->row_cost.is_counter) ||
           lab_fail_at(&reader->tree, &absent->place,
                       "'absent' is about columns that some rows lack, and there are none; give columns "
                       "'present' below 100%%, or remove it");
}
