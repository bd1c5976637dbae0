/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the statements of the rules of statement_rules.h that apply to a strategy, and the tables that these
 * statements use. */
#include "lab/statements.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cassandra/cluster.h"
#include "cql_text.h"
#include "kernel/grow.h"
#include "kernel/time.h"
#include "retention.h"
#include "statement_rules.h"

#define BIT(n)      (1u << (n))
#define ALL_COLUMNS 15u

struct maker {
    const struct lab_scenario *scenario;
    const struct lab_strategy *strategy;
    const struct lab_design *design;
    struct lab_statements *out;
    const char *key;          /* name of the key column in the additional tables */
    bool is_weighted;         /* a row adds its weight, not 1 */
    bool is_hash, takes_bits; /* takes_bits: the strategy uses bits of the rows' ids */
    uint32_t sides_made;
    bool is_summed; /* only rows after the last counted row are counted */
    bool out_of_memory;
};

static void add_partition_equals(const struct lab_design *design, struct lab_cql_text *text)
{
    for (size_t i = 0; i < design->partition_count; i++) {
        lab_cql_add(text, i == 0 ? " WHERE " : " AND ");
        lab_cql_name(text, design->columns[design->partition[i]].name, "");
        lab_cql_add(text, " = ?");
    }
}

static void add_clustering_equals(const struct lab_design *design, struct lab_cql_text *text)
{
    for (size_t i = 0; i < design->clustering_count; i++) {
        lab_cql_add(text, " AND ");
        lab_cql_name(text, design->columns[design->clustering[i]].name, "");
        lab_cql_add(text, " = ?");
    }
}

/* Adds a statement, and takes ownership of the text. */
static void keep(struct maker *maker, struct lab_cql_text *text, const char *when, const char *level,
                 const char *serial)
{
    struct lab_statements *out = maker->out;
    maker->out_of_memory = maker->out_of_memory || text->out_of_memory ||
                           !sim_grow(&out->items, &out->capacity, out->count + 1, sizeof *out->items);
    if (maker->out_of_memory) {
        free(text->bytes);
        return;
    }
    out->items[out->count++] = (struct lab_statement){
        .is_table = level == NULL, .when = when, .level = level, .serial = serial, .cql = text->bytes};
}

/* Adds to each counter, since rows cannot be inserted into a table of counters. */
static void make_addition(struct maker *maker)
{
    const struct lab_design *design = maker->design;
    struct lab_cql_text text = {0};
    const char *before = " SET ";
    lab_cql_add(&text, "UPDATE ");
    lab_cql_name(&text, design->name, "");
    for (size_t i = 0; i < design->column_count; i++) {
        if (design->columns[i].type != CASS_COUNTER)
            continue;
        lab_cql_add(&text, before);
        lab_cql_name(&text, design->columns[i].name, "");
        lab_cql_add(&text, " = ");
        lab_cql_name(&text, design->columns[i].name, "");
        lab_cql_add(&text, " + ?");
        before = ", ";
    }
    add_partition_equals(design, &text);
    add_clustering_equals(design, &text);
    keep(maker, &text, "each row; adding again counts twice",
         cass_consistency_name(maker->scenario->consistency.write), NULL);
}

static void make_insert(struct maker *maker)
{
    const struct lab_design *design = maker->design;
    struct lab_cql_text text = {0};
    lab_cql_add(&text, "INSERT INTO ");
    lab_cql_name(&text, design->name, "");
    for (size_t i = 0; i < design->column_count; i++) {
        lab_cql_add(&text, i == 0 ? " (" : ", ");
        lab_cql_name(&text, design->columns[i].name, "");
    }
    for (size_t i = 0; i < design->column_count; i++)
        lab_cql_add(&text, i == 0 ? ") VALUES (?" : ", ?");
    lab_cql_add(&text, ")");
    if (maker->scenario->row_ttl_ns > 0) {
        char ttl[48];
        int64_t seconds = (maker->scenario->row_ttl_ns - 1) / SIM_SECOND + 1;
        snprintf(ttl, sizeof ttl, " USING TTL %" PRId64, seconds);
        lab_cql_add(&text, ttl);
    }
    keep(maker, &text,
         maker->takes_bits
             ? "each row; a retry goes to the bucket of the first try; the row's random bits are "
               "bk_id_bits(BK_ID_TIMEUUID) of its id, as the low bits of a timeuuid never change in a process"
             : "each row; a retry goes to the bucket of the first try",
         cass_consistency_name(maker->scenario->consistency.write), NULL);
}

/* Adds the conditions on the row's time: from a time on, and before another. */
static void add_times(const struct lab_design *design, struct lab_cql_text *text)
{
    const char *name = design->columns[design->clustering[0]].name;
    lab_cql_add(text, " AND ");
    lab_cql_name(text, name, "");
    lab_cql_add(text, " >= ? AND ");
    lab_cql_name(text, name, "");
    lab_cql_add(text, " < ?");
}

/* If the first clustering column is the time in ascending order, reads need ORDER BY ... DESC. */
static void add_newest_first(const struct lab_design *design, struct lab_cql_text *text)
{
    if (design->clustering_count == 0 || design->is_descending[0] ||
        design->columns[design->clustering[0]].feed != LAB_FEED_TIME)
        return;
    lab_cql_add(text, " ORDER BY ");
    lab_cql_name(text, design->columns[design->clustering[0]].name, "");
    lab_cql_add(text, " DESC");
}

static const char *when_of_select(const struct lab_design *design, bool is_hash)
{
    if (!lab_design_partitions_by(design, LAB_FEED_KEY))
        return "a bucket's rows, of all keys together";
    bool is_newest =
        design->clustering_count > 0 && design->columns[design->clustering[0]].feed == LAB_FEED_TIME;
    if (!lab_design_partitions_by(design, LAB_FEED_BUCKET))
        return is_newest ? "the newest rows of a key" : "rows of a key, in no order of time";
    if (is_newest && is_hash)
        return "the newest rows of a bucket; each bucket may hold the newest of all";
    return is_newest ? "the newest rows of a bucket; the next bucket when they are not enough"
                     : "rows of a bucket, in no order of time";
}

static void make_select(struct maker *maker, enum lab_read_kind kind)
{
    const struct lab_design *design = maker->design;
    struct lab_cql_text text = {0};
    const char *when = when_of_select(design, maker->is_hash);
    lab_cql_add(&text, "SELECT ");
    for (size_t i = 0; i < design->column_count; i++) {
        lab_cql_add(&text, i == 0 ? "" : ", ");
        lab_cql_name(&text, design->columns[i].name, "");
    }
    lab_cql_add(&text, " FROM ");
    lab_cql_name(&text, design->name, "");
    add_partition_equals(design, &text);
    if (kind == LAB_READ_LATEST) {
        add_newest_first(design, &text);
        lab_cql_add(&text, " LIMIT ?");
    } else if (kind == LAB_READ_RANGE) {
        add_times(design, &text);
        when = "the rows of a bucket in a span of time";
    } else {
        when = "all rows of a bucket, page by page";
    }
    keep(maker, &text, when, cass_consistency_name(maker->scenario->consistency.read), NULL);
}

static void make_delete(struct maker *maker)
{
    const struct lab_design *design = maker->design;
    struct lab_cql_text text = {0};
    lab_cql_add(&text, "DELETE FROM ");
    lab_cql_name(&text, design->name, "");
    add_partition_equals(design, &text);
    add_clustering_equals(design, &text);
    keep(maker, &text, "a row that is deleted, from the bucket that it was put into",
         cass_consistency_name(maker->scenario->consistency.write), NULL);
}

static void make_rows(struct maker *maker)
{
    if (maker->scenario->row_cost.is_counter)
        make_addition(maker);
    else
        make_insert(maker);
    const struct lab_reads *reads = &maker->scenario->reads;
    bool has_times = maker->design->clustering_count > 0 &&
                     maker->design->columns[maker->design->clustering[0]].feed == LAB_FEED_TIME;
    make_select(maker, LAB_READ_LATEST);
    if (reads->present && reads->kinds[LAB_READ_RANGE].rate_per_s > 0 && has_times)
        make_select(maker, LAB_READ_RANGE);
    if (reads->present && reads->kinds[LAB_READ_ALL].rate_per_s > 0)
        make_select(maker, LAB_READ_ALL);
    if (maker->scenario->deletes.share > 0)
        make_delete(maker);
}

static const char *type_of(const struct lab_column *column)
{
    switch (column->feed) {
    case LAB_FEED_BUCKET:
        return "bigint";
    case LAB_FEED_TIME:
        return "timestamp";
    case LAB_FEED_ID:
        return "timeuuid";
    case LAB_FEED_DATA:
        return cass_type_name(column->type);
    default:
        return "text";
    }
}

static void make_row_table(struct maker *maker)
{
    const struct lab_design *design = maker->design;
    struct lab_cql_text text = {0};
    lab_cql_add(&text, "CREATE TABLE ");
    lab_cql_name(&text, design->name, "");
    lab_cql_add(&text, " (\n");
    for (size_t i = 0; i < design->column_count; i++) {
        lab_cql_add(&text, "    ");
        lab_cql_name(&text, design->columns[i].name, "");
        lab_cql_add(&text, " ");
        lab_cql_add(&text, type_of(&design->columns[i]));
        lab_cql_add(&text, design->columns[i].is_static ? " static" : "");
        lab_cql_add(&text, ",\n");
    }
    lab_cql_add(&text, design->partition_count > 1 ? "    PRIMARY KEY ((" : "    PRIMARY KEY (");
    for (size_t i = 0; i < design->partition_count; i++) {
        lab_cql_add(&text, i == 0 ? "" : ", ");
        lab_cql_name(&text, design->columns[design->partition[i]].name, "");
    }
    lab_cql_add(&text, design->partition_count > 1 ? ")" : "");
    for (size_t i = 0; i < design->clustering_count; i++) {
        lab_cql_add(&text, ", ");
        lab_cql_name(&text, design->columns[design->clustering[i]].name, "");
    }
    lab_cql_add(&text, ")\n)");
    for (size_t i = 0; i < design->clustering_count; i++) {
        lab_cql_add(&text, i == 0 ? " WITH CLUSTERING ORDER BY (" : ", ");
        lab_cql_name(&text, design->columns[design->clustering[i]].name, "");
        lab_cql_add(&text, design->is_descending[i] ? " DESC" : " ASC");
    }
    lab_cql_add(&text, design->clustering_count > 0 ? ")" : "");
    lab_retention_add(maker->scenario, maker->strategy, design->clustering_count == 0, &text);
    keep(maker, &text, "the rows", NULL, NULL);
    struct lab_cql_text note = {0};
    lab_retention_tell(maker->scenario, maker->strategy, &note);
    maker->out_of_memory = maker->out_of_memory || note.out_of_memory;
    if (maker->out_of_memory)
        free(note.bytes);
    else
        maker->out->items[maker->out->count - 1].note = note.bytes;
}

static void make_side_table(struct maker *maker, enum lab_side which)
{
    const struct lab_side_table *side = &lab_sides[which];
    struct lab_cql_text text = {0};
    lab_cql_add(&text, "CREATE TABLE ");
    lab_cql_name(&text, maker->design->name, side->suffix);
    lab_cql_add(&text, " (\n    ");
    lab_cql_name(&text, maker->key, "");
    lab_cql_add(&text, side->by_bucket ? " text,\n    bucket bigint,\n" : " text,\n");
    for (size_t i = 0; i < LAB_SIDE_COLUMNS_MAX && side->columns[i] != NULL; i++) {
        lab_cql_add(&text, "    ");
        lab_cql_name(&text, side->columns[i], "");
        lab_cql_add(&text, side->is_counter         ? " counter"
                           : side->types[i] == NULL ? " bigint"
                                                    : side->types[i]);
        lab_cql_add(&text, ",\n");
    }
    lab_cql_add(&text, side->by_bucket ? "    PRIMARY KEY ((" : "    PRIMARY KEY (");
    lab_cql_name(&text, maker->key, "");
    lab_cql_add(&text, side->by_bucket ? ", bucket))\n)" : ")\n)");
    keep(maker, &text, side->about, NULL, NULL);
}

/* Counts the rows of one bucket. A count of the rows after a place, or of all rows if no place is known yet,
 * also returns the newest row. */
static void make_count(struct maker *maker, const struct lab_rule *rule)
{
    const struct lab_design *design = maker->design;
    bool is_summed = rule->form == LAB_FORM_COUNT_AFTER || maker->is_summed;
    struct lab_cql_text text = {0};
    lab_cql_add(&text, "SELECT COUNT(*)");
    for (size_t i = 0; is_summed && i < 2; i++) {
        lab_cql_add(&text, ", ");
        lab_cql_name(&text, design->columns[design->clustering[i]].name, "");
    }
    lab_cql_add(&text, " FROM ");
    lab_cql_name(&text, design->name, "");
    add_partition_equals(design, &text);
    if (rule->form == LAB_FORM_COUNT_AFTER) {
        lab_cql_add(&text, " AND (");
        lab_cql_name(&text, design->columns[design->clustering[0]].name, "");
        lab_cql_add(&text, ", ");
        lab_cql_name(&text, design->columns[design->clustering[1]].name, "");
        lab_cql_add(&text, ") > (?, ?)");
    }
    if (is_summed)
        add_newest_first(design, &text);
    keep(maker, &text, rule->when, cass_consistency_name(maker->scenario->consistency.read), NULL);
}

/* The purpose of a statement with a greatest age, when it differs; NULL: as without one. */
static const char *when_aged(const struct lab_rule *rule)
{
    if (rule->side != LAB_SIDE_STATE && rule->side != LAB_SIDE_BASE)
        return NULL;
    if (rule->form == LAB_FORM_INSERT || rule->form == LAB_FORM_INSERT_IF)
        return "the first row of a key, before it is put: last_change is the line before it";
    if (rule->columns == (BIT(BK_BUCKET) | BIT(BK_COUNTER) | BIT(BK_LAST_CHANGE)))
        return rule->side == LAB_SIDE_BASE
                   ? "before a row at or beyond the bucket's line (max_age) is stored, and when the count is "
                     "full: bucket + 1, and the base up to n"
                   : "before a row at or beyond the bucket's line (max_age) is stored, and when the count is "
                     "full: bucket + 1, and the count back to 0";
    return NULL;
}

static const char *when_of(const struct maker *maker, const struct lab_rule *rule)
{
    const char *aged = maker->strategy->settings.strategy.max_age_ns != 0 ? when_aged(rule) : NULL;
    if (aged != NULL)
        return aged;
    if (!maker->is_weighted || rule->columns != BIT(BK_COUNTER))
        return rule->when;
    return rule->form == LAB_FORM_UPDATE_IF
               ? "a row that fires, after it was acknowledged: the known count, plus its weight; the "
                 "condition names all columns, since a failed update returns only those that it names"
               : "a row that fires, after it was acknowledged: what was read, plus its weight";
}

static void add_key_equals(struct maker *maker, struct lab_cql_text *text, const struct lab_side_table *side)
{
    lab_cql_add(text, " WHERE ");
    lab_cql_name(text, maker->key, "");
    lab_cql_add(text, side->by_bucket ? " = ? AND bucket = ?" : " = ?");
}

static void add_assignments(struct lab_cql_text *text, const struct lab_side_table *side, uint32_t columns,
                            const char *between)
{
    const char *before = "";
    for (size_t i = 0; i < LAB_SIDE_COLUMNS_MAX && side->columns[i] != NULL; i++) {
        if ((columns & BIT(i)) == 0)
            continue;
        lab_cql_add(text, before);
        lab_cql_name(text, side->columns[i], "");
        lab_cql_add(text, " = ?");
        before = between;
    }
}

static void add_list(struct lab_cql_text *text, const struct lab_side_table *side, uint32_t columns,
                     const char *before)
{
    for (size_t i = 0; i < LAB_SIDE_COLUMNS_MAX && side->columns[i] != NULL; i++) {
        if ((columns & BIT(i)) == 0)
            continue;
        lab_cql_add(text, before);
        lab_cql_name(text, side->columns[i], "");
        before = ", ";
    }
}

static void make_side(struct maker *maker, const struct lab_rule *rule)
{
    const struct lab_consistency *level = &maker->scenario->consistency;
    const struct lab_side_table *side = &lab_sides[rule->side];
    struct lab_cql_text text = {0};
    bool is_insert = rule->form == LAB_FORM_INSERT || rule->form == LAB_FORM_INSERT_IF;
    lab_cql_add(&text, rule->form == LAB_FORM_SELECT ? "SELECT " : is_insert ? "INSERT INTO " : "UPDATE ");
    if (rule->form == LAB_FORM_SELECT) {
        add_list(&text, side, rule->columns, "");
        lab_cql_add(&text, " FROM ");
    }
    lab_cql_name(&text, maker->design->name, side->suffix);
    if (is_insert) {
        lab_cql_add(&text, " (");
        lab_cql_name(&text, maker->key, "");
        lab_cql_add(&text, side->by_bucket ? ", bucket" : "");
        add_list(&text, side, rule->columns, ", ");
        lab_cql_add(&text, side->by_bucket ? ") VALUES (?, ?" : ") VALUES (?");
        for (size_t i = 0; i < LAB_SIDE_COLUMNS_MAX; i++)
            lab_cql_add(&text, (rule->columns & BIT(i)) != 0 && side->columns[i] != NULL ? ", ?" : "");
        lab_cql_add(&text, rule->form == LAB_FORM_INSERT_IF ? ") IF NOT EXISTS" : ")");
    } else {
        if (rule->form == LAB_FORM_ADD)
            lab_cql_add(&text, maker->is_weighted ? " SET n = n + ?" : " SET n = n + 1");
        else if (rule->form != LAB_FORM_SELECT) {
            lab_cql_add(&text, " SET ");
            add_assignments(&text, side, rule->columns, ", ");
        }
        add_key_equals(maker, &text, side);
        if (rule->form == LAB_FORM_UPDATE_IF) {
            lab_cql_add(&text, " IF ");
            add_assignments(&text, side, ALL_COLUMNS, " AND ");
        }
    }
    bool is_conditional = rule->level == LAB_LEVEL_CAS;
    const char *name = cass_consistency_name(rule->level == LAB_LEVEL_SERIAL ? level->serial : level->state);
    keep(maker, &text, when_of(maker, rule), name,
         is_conditional ? cass_consistency_name(level->serial) : NULL);
}

/* Makes the tables of the rules that apply, or their statements. */
static void make_sides(struct maker *maker, const struct lab_rule *rules, size_t count,
                       const struct lab_strategy *strategy, bool tables)
{
    for (size_t i = 0; i < count; i++) {
        if (!lab_rule_applies(&rules[i], strategy))
            continue;
        if (!tables && rules[i].side == LAB_SIDE_NONE) {
            make_count(maker, &rules[i]);
        } else if (!tables) {
            make_side(maker, &rules[i]);
        } else if (rules[i].side != LAB_SIDE_NONE && (maker->sides_made & BIT(rules[i].side)) == 0) {
            maker->sides_made |= BIT(rules[i].side);
            make_side_table(maker, rules[i].side);
        }
    }
}

/* The user's name of the key column, unless another column of the table has that name. */
static const char *key_name(const struct lab_design *design)
{
    const struct lab_column *key = lab_design_column(design, LAB_FEED_KEY);
    if (key == NULL || strcmp(key->name, "bucket") == 0)
        return "key";
    for (size_t i = 0; i < LAB_SIDE_COUNT; i++) {
        for (size_t j = 0; j < LAB_SIDE_COLUMNS_MAX && lab_sides[i].columns[j] != NULL; j++) {
            if (strcmp(lab_sides[i].columns[j], key->name) == 0)
                return "key";
        }
    }
    return key->name;
}

bool lab_statements_make(const struct lab_scenario *scenario, size_t strategy, struct lab_statements *out)
{
    const struct lab_strategy *one = &scenario->strategies[strategy];
    size_t count;
    const struct lab_rule *rules = lab_rules_of(one, &count);
    memset(out, 0, sizeof *out);
    struct maker maker = {.scenario = scenario,
                          .strategy = one,
                          .design = &scenario->design,
                          .out = out,
                          .key = key_name(&scenario->design)};
    maker.is_weighted = one->settings.strategy.kind == BK_WEIGHTED;
    maker.is_summed = one->settings.source == BK_SOURCE_INCREMENTAL;
    maker.is_hash = one->settings.strategy.kind == BK_HASH;
    maker.takes_bits = maker.is_hash || bk_kind_fires(one->settings.strategy.kind);
    make_row_table(&maker);
    make_sides(&maker, rules, count, one, true);
    make_rows(&maker);
    make_sides(&maker, rules, count, one, false);
    if (maker.out_of_memory)
        lab_statements_clear(out);
    return !maker.out_of_memory;
}

const char *lab_statements_problem(const struct lab_scenario *scenario, size_t strategy)
{
    const struct lab_design *design = &scenario->design;
    if (scenario->strategies[strategy].settings.source != BK_SOURCE_INCREMENTAL)
        return NULL;
    if (design->clustering_count >= 2 && design->columns[design->clustering[0]].feed == LAB_FEED_TIME &&
        design->columns[design->clustering[1]].feed == LAB_FEED_ID &&
        design->is_descending[0] == design->is_descending[1])
        return NULL;
    return "counts the rows after the last one counted, by time and id; begin 'clustering' with these two, "
           "both in one order";
}

void lab_statements_clear(struct lab_statements *statements)
{
    for (size_t i = 0; i < statements->count; i++) {
        free(statements->items[i].cql);
        free(statements->items[i].note);
    }
    free(statements->items);
    memset(statements, 0, sizeof *statements);
}
