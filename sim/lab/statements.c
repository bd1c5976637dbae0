/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a strategy needs stands in one table of rules: a line for each statement that the agent's actions can
 * become, with the strategies that come to it. The tables are those that the statements name. */
#include "lab/statements.h"

#include <stdlib.h>
#include <string.h>

#include "cassandra/cluster.h"
#include "cql_text.h"

#define SIDE_COLUMNS_MAX 4

/* The tables beside that of the rows: a key, or a key and a bucket, and numbers. */
enum side {
    SIDE_STATE,
    SIDE_BASE,
    SIDE_GRANTS,
    SIDE_STARTS,
    SIDE_COUNTER,
    SIDE_COUNTS,
    SIDE_LOCK,
    SIDE_COUNT
};
struct side_table {
    const char *suffix;
    const char *columns[SIDE_COLUMNS_MAX];
    bool by_bucket, is_counter;
    const char *about;
};
static const struct side_table sides[SIDE_COUNT] = {
    [SIDE_STATE] = {"_state",
                    {"bucket", "counted", "last_change", "next_change"},
                    .about =
                        "where each key stands: its bucket, what was counted in it, when it changed, and "
                        "when it is to change (0: not)"},
    [SIDE_BASE] = {"_state",
                   {"bucket", "base", "last_change", "next_change"},
                   .about = "where each key stands: its bucket, the counter's value that counts as 0 in it, "
                            "when it changed, and when it is to change (0: not)"},
    [SIDE_GRANTS] = {"_state",
                     {"bucket", "before", "start", "until"},
                     .about = "the newest grant of each key: times from start to before until belong to "
                              "bucket, those from before to before start to the one below"},
    [SIDE_STARTS] = {"_starts", {"start"}, .by_bucket = true, .about = "where each older bucket starts"},
    [SIDE_COUNTER] = {"_counter",
                      {"n"},
                      .is_counter = true,
                      .about = "rows that fired, of each key and for ever: a counter is never set back"},
    [SIDE_COUNTS] = {"_counts",
                     {"n"},
                     .by_bucket = true,
                     .is_counter = true,
                     .about = "rows that fired, of each bucket: none is ever set back"},
    [SIDE_LOCK] = {"_lock", {"owner", "until"}, .about = "who may roll a key, and until when; 0: nobody"},
};

enum form { FORM_SELECT, FORM_INSERT, FORM_INSERT_IF, FORM_UPDATE, FORM_UPDATE_IF, FORM_ADD };
enum level { LEVEL_STATE, LEVEL_SERIAL, LEVEL_CAS };

#define BIT(n)      (1u << (n))
#define ANY         UINT32_MAX
#define ALL_COLUMNS 15u
/* Positions in the tables of states. */
#define BUCKET  BIT(BK_BUCKET)
#define COUNTED BIT(BK_COUNTER)
#define LAST    BIT(BK_LAST_CHANGE)
#define NEXT    BIT(BK_NEXT_CHANGE)
/* Coordinations, and counters. */
#define SINGLE      BIT(BK_SINGLE)
#define LOCKED      BIT(BK_LOCKED)
#define THREE_STATE BIT(BK_THREE_STATE)
#define GUARDED     BIT(BK_GUARDED)
#define UNGUARDED   (SINGLE | LOCKED | THREE_STATE)
#define RMW         BIT(BK_COUNTER_RMW)
#define LWT         BIT(BK_COUNTER_LWT)
#define COLUMN      BIT(BK_COUNTER_COLUMN)

struct rule {
    uint32_t coordinations, counters; /* of the kinds that fire: bit n stands for value n of its enum */
    bool at_threshold_1;              /* only then, or where a row adds more than 1, can it come to this */
    enum side side;
    enum form form;
    uint32_t columns; /* that it sets, or asks for: bit n stands for column n of the table */
    enum level level;
    const char *when;
};

static const struct rule probabilistic_rules[] = {
    {UNGUARDED, RMW | LWT, false, SIDE_STATE, FORM_SELECT, ALL_COLUMNS, LEVEL_STATE,
     "before a row or a read whose key the cache does not know; afresh before a row that fires is counted"},
    {UNGUARDED, COLUMN, false, SIDE_BASE, FORM_SELECT, ALL_COLUMNS, LEVEL_STATE,
     "before a row or a read whose key the cache does not know; afresh before a row that fires is counted"},
    {UNGUARDED, LWT, false, SIDE_STATE, FORM_SELECT, ALL_COLUMNS, LEVEL_SERIAL,
     "after a conditional update of unknown outcome, and under a lock"},
    {UNGUARDED, RMW, false, SIDE_STATE, FORM_INSERT, ALL_COLUMNS, LEVEL_STATE,
     "the first row of a key that fires"},
    {UNGUARDED, COLUMN, false, SIDE_BASE, FORM_INSERT, ALL_COLUMNS, LEVEL_STATE,
     "the first time that a key rolls"},
    {UNGUARDED, LWT, false, SIDE_STATE, FORM_INSERT_IF, ALL_COLUMNS, LEVEL_CAS,
     "the first row of a key that fires"},
    {UNGUARDED, RMW, false, SIDE_STATE, FORM_UPDATE, COUNTED, LEVEL_STATE,
     "a row that fires, after it was acknowledged: what was read, plus 1"},
    {UNGUARDED, LWT, false, SIDE_STATE, FORM_UPDATE_IF, COUNTED, LEVEL_CAS,
     "a row that fires, after it was acknowledged: what is known, plus 1; all columns are named, since a "
     "failed condition tells no others"},
    {UNGUARDED, COLUMN, false, SIDE_COUNTER, FORM_ADD, 1, LEVEL_STATE,
     "a row that fires, after it was acknowledged; not to be repeated when its outcome is unknown"},
    {UNGUARDED, COLUMN, false, SIDE_COUNTER, FORM_SELECT, 1, LEVEL_STATE,
     "after each addition: n minus base is the count"},
    {SINGLE, RMW, false, SIDE_STATE, FORM_UPDATE, BUCKET | COUNTED | LAST, LEVEL_STATE,
     "the count is full: bucket + 1, and the count back to 0"},
    {SINGLE, COLUMN, false, SIDE_BASE, FORM_UPDATE, BUCKET | COUNTED | LAST, LEVEL_STATE,
     "the count is full: bucket + 1, and the base up to n"},
    {SINGLE, LWT, false, SIDE_STATE, FORM_UPDATE_IF, BUCKET | COUNTED | LAST, LEVEL_CAS,
     "the count is full: bucket + 1, and the count back to 0"},
    {LOCKED, RMW, false, SIDE_STATE, FORM_UPDATE, BUCKET | COUNTED | LAST, LEVEL_STATE,
     "under the lock, when the count is still full: bucket + 1, and the count back to 0"},
    {LOCKED, COLUMN, false, SIDE_BASE, FORM_UPDATE, BUCKET | COUNTED | LAST, LEVEL_STATE,
     "under the lock, when the count is still full: bucket + 1, and the base up to n"},
    {LOCKED, LWT, false, SIDE_STATE, FORM_UPDATE_IF, BUCKET | COUNTED | LAST, LEVEL_CAS,
     "under the lock, when the count is still full: bucket + 1, and the count back to 0"},
    {LOCKED, ANY, false, SIDE_LOCK, FORM_INSERT_IF, 3u, LEVEL_CAS,
     "the count is full: take the lock of a key that never had one"},
    {LOCKED, ANY, false, SIDE_LOCK, FORM_UPDATE_IF, 3u, LEVEL_CAS,
     "take a lock that was released or has run out; release it, as owner 0 until 0"},
    {THREE_STATE, RMW, false, SIDE_STATE, FORM_UPDATE, BUCKET | COUNTED | NEXT, LEVEL_STATE,
     "the count is full, pre-change: bucket + 1, from next_change on, a lead ahead"},
    {THREE_STATE, COLUMN, false, SIDE_BASE, FORM_UPDATE, BUCKET | NEXT, LEVEL_STATE,
     "the count is full, pre-change: bucket + 1, from next_change on, a lead ahead"},
    {THREE_STATE, LWT, false, SIDE_STATE, FORM_UPDATE_IF, BUCKET | COUNTED | NEXT, LEVEL_CAS,
     "the count is full, pre-change: bucket + 1, from next_change on, a lead ahead"},
    {THREE_STATE, RMW, false, SIDE_STATE, FORM_UPDATE, COUNTED | LAST | NEXT, LEVEL_STATE,
     "post-change, by whoever touches the key: the count back to 0, last_change = next_change, next_change = "
     "0"},
    {THREE_STATE, COLUMN, false, SIDE_BASE, FORM_UPDATE, COUNTED | LAST | NEXT, LEVEL_STATE,
     "post-change, by whoever touches the key: the base up to n, last_change = next_change, next_change = 0"},
    {THREE_STATE, LWT, false, SIDE_STATE, FORM_UPDATE_IF, COUNTED | LAST | NEXT, LEVEL_CAS,
     "post-change, by whoever touches the key: the count back to 0, last_change = next_change, next_change = "
     "0"},
    {THREE_STATE, RMW, true, SIDE_STATE, FORM_UPDATE, ALL_COLUMNS, LEVEL_STATE,
     "post-change and full again at once"},
    {THREE_STATE, COLUMN, true, SIDE_BASE, FORM_UPDATE, ALL_COLUMNS, LEVEL_STATE,
     "post-change and full again at once"},
    {THREE_STATE, LWT, true, SIDE_STATE, FORM_UPDATE_IF, ALL_COLUMNS, LEVEL_CAS,
     "post-change and full again at once"},
    {GUARDED, ANY, false, SIDE_GRANTS, FORM_SELECT, ALL_COLUMNS, LEVEL_SERIAL,
     "a key that the agent does not know; an update of unknown outcome; a read near the end of the grant"},
    {GUARDED, ANY, false, SIDE_GRANTS, FORM_INSERT_IF, ALL_COLUMNS, LEVEL_CAS,
     "the first grant of a key: bucket 0, before and start at the least bigint"},
    {GUARDED, ANY, false, SIDE_GRANTS, FORM_UPDATE_IF, ALL_COLUMNS, LEVEL_CAS,
     "a row later than the grant: until further on; a full count: bucket + 1, before = start, start = until, "
     "until further on"},
    {GUARDED, ANY, false, SIDE_COUNTS, FORM_ADD, 1, LEVEL_STATE,
     "a row that fires, after it was acknowledged: of the bucket that it went to"},
    {GUARDED, ANY, false, SIDE_COUNTS, FORM_SELECT, 1, LEVEL_STATE,
     "after each addition: the count of that bucket"},
    {GUARDED, ANY, false, SIDE_STARTS, FORM_INSERT, 1, LEVEL_STATE,
     "before a roll from bucket 2 on: the start of the bucket below, which the state is to forget"},
    {GUARDED, ANY, false, SIDE_STARTS, FORM_SELECT, 1, LEVEL_STATE,
     "a row older than the state tells: from bucket to bucket down, never bucket 0"},
};

struct maker {
    const struct lab_scenario *scenario;
    const struct lab_design *design;
    struct lab_statements *out;
    const char *key;  /* what the tables beside the rows call the key */
    bool is_weighted; /* a row adds what it weighs, not 1 */
    uint32_t sides_made;
    bool out_of_memory;
};

static void make_rows(struct maker *maker);
static void make_row_table(struct maker *maker);
static void make_insert(struct maker *maker);
static void make_select(struct maker *maker);
static void make_sides(struct maker *maker, const struct rule *rules, size_t count,
                       const struct lab_strategy *strategy, bool tables);
static bool applies(const struct rule *rule, const struct lab_strategy *strategy);
static void make_side_table(struct maker *maker, enum side side);
static const char *when_of(const struct maker *maker, const struct rule *rule);
static void make_side(struct maker *maker, const struct rule *rule);
static void add_key_equals(struct maker *maker, struct lab_cql_text *text, const struct side_table *side);
static void add_assignments(struct lab_cql_text *text, const struct side_table *side, uint32_t columns,
                            const char *between);
static void add_list(struct lab_cql_text *text, const struct side_table *side, uint32_t columns,
                     const char *before);
static const char *key_name(const struct lab_design *design);
static const char *type_of(enum lab_feed feed);
static const char *when_of_select(const struct lab_design *design);
static void keep(struct maker *maker, struct lab_cql_text *text, const char *when, const char *level,
                 const char *serial);

bool lab_statements_make(const struct lab_scenario *scenario, size_t strategy, struct lab_statements *out)
{
    const struct lab_strategy *one = &scenario->strategies[strategy];
    const struct rule *rules = probabilistic_rules;
    size_t count = sizeof probabilistic_rules / sizeof *probabilistic_rules;
    memset(out, 0, sizeof *out);
    struct maker maker = {
        .scenario = scenario, .design = &scenario->design, .out = out, .key = key_name(&scenario->design)};
    maker.is_weighted = one->strategy.kind == BK_WEIGHTED;
    if (!bk_kind_fires(one->strategy.kind))
        count = 0;
    make_row_table(&maker);
    make_sides(&maker, rules, count, one, true);
    make_rows(&maker);
    make_sides(&maker, rules, count, one, false);
    if (maker.out_of_memory)
        lab_statements_clear(out);
    return !maker.out_of_memory;
}

void lab_statements_clear(struct lab_statements *statements)
{
    for (size_t i = 0; i < statements->count; i++)
        free(statements->items[i].cql);
    free(statements->items);
    memset(statements, 0, sizeof *statements);
}

static void make_rows(struct maker *maker)
{
    make_insert(maker);
    make_select(maker);
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
        lab_cql_add(&text, type_of(design->columns[i].feed));
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
    keep(maker, &text, "the rows", NULL, NULL);
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
    keep(maker, &text, "each row; a retry goes to the bucket of the first try",
         cass_consistency_name(maker->scenario->consistency.write), NULL);
}

static void make_select(struct maker *maker)
{
    const struct lab_design *design = maker->design;
    struct lab_cql_text text = {0};
    lab_cql_add(&text, "SELECT ");
    for (size_t i = 0; i < design->column_count; i++) {
        lab_cql_add(&text, i == 0 ? "" : ", ");
        lab_cql_name(&text, design->columns[i].name, "");
    }
    lab_cql_add(&text, " FROM ");
    lab_cql_name(&text, design->name, "");
    for (size_t i = 0; i < design->partition_count; i++) {
        lab_cql_add(&text, i == 0 ? " WHERE " : " AND ");
        lab_cql_name(&text, design->columns[design->partition[i]].name, "");
        lab_cql_add(&text, " = ?");
    }
    if (design->clustering_count > 0 && !design->is_descending[0] &&
        design->columns[design->clustering[0]].feed == LAB_FEED_TIME) {
        lab_cql_add(&text, " ORDER BY ");
        lab_cql_name(&text, design->columns[design->clustering[0]].name, "");
        lab_cql_add(&text, " DESC");
    }
    lab_cql_add(&text, " LIMIT ?");
    keep(maker, &text, when_of_select(design), cass_consistency_name(maker->scenario->consistency.read),
         NULL);
}

static const char *when_of_select(const struct lab_design *design)
{
    if (!lab_design_partitions_by(design, LAB_FEED_KEY))
        return "a bucket's rows, of all keys together";
    bool is_newest =
        design->clustering_count > 0 && design->columns[design->clustering[0]].feed == LAB_FEED_TIME;
    if (!lab_design_partitions_by(design, LAB_FEED_BUCKET))
        return is_newest ? "the newest rows of a key" : "rows of a key, in no order of time";
    return is_newest ? "the newest rows of a bucket; the next bucket when they are not enough"
                     : "rows of a bucket, in no order of time";
}

/* The tables of the rules that apply, or the statements. */
static void make_sides(struct maker *maker, const struct rule *rules, size_t count,
                       const struct lab_strategy *strategy, bool tables)
{
    for (size_t i = 0; i < count; i++) {
        if (!applies(&rules[i], strategy))
            continue;
        if (!tables) {
            make_side(maker, &rules[i]);
        } else if ((maker->sides_made & BIT(rules[i].side)) == 0) {
            maker->sides_made |= BIT(rules[i].side);
            make_side_table(maker, rules[i].side);
        }
    }
}

static bool applies(const struct rule *rule, const struct lab_strategy *strategy)
{
    return (rule->coordinations & BIT(strategy->coordination)) != 0 &&
           (rule->counters & BIT(strategy->counter)) != 0 &&
           (!rule->at_threshold_1 || strategy->strategy.kind == BK_WEIGHTED ||
            bk_threshold(&strategy->strategy) == 1);
}

static void make_side_table(struct maker *maker, enum side which)
{
    const struct side_table *side = &sides[which];
    struct lab_cql_text text = {0};
    lab_cql_add(&text, "CREATE TABLE ");
    lab_cql_name(&text, maker->design->name, side->suffix);
    lab_cql_add(&text, " (\n    ");
    lab_cql_name(&text, maker->key, "");
    lab_cql_add(&text, side->by_bucket ? " text,\n    bucket bigint,\n" : " text,\n");
    for (size_t i = 0; i < SIDE_COLUMNS_MAX && side->columns[i] != NULL; i++) {
        lab_cql_add(&text, "    ");
        lab_cql_name(&text, side->columns[i], "");
        lab_cql_add(&text, side->is_counter ? " counter,\n" : " bigint,\n");
    }
    lab_cql_add(&text, side->by_bucket ? "    PRIMARY KEY ((" : "    PRIMARY KEY (");
    lab_cql_name(&text, maker->key, "");
    lab_cql_add(&text, side->by_bucket ? ", bucket))\n)" : ")\n)");
    keep(maker, &text, side->about, NULL, NULL);
}

static void make_side(struct maker *maker, const struct rule *rule)
{
    const struct lab_consistency *level = &maker->scenario->consistency;
    const struct side_table *side = &sides[rule->side];
    struct lab_cql_text text = {0};
    bool is_insert = rule->form == FORM_INSERT || rule->form == FORM_INSERT_IF;
    lab_cql_add(&text, rule->form == FORM_SELECT ? "SELECT " : is_insert ? "INSERT INTO " : "UPDATE ");
    if (rule->form == FORM_SELECT) {
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
        for (size_t i = 0; i < SIDE_COLUMNS_MAX; i++)
            lab_cql_add(&text, (rule->columns & BIT(i)) != 0 && side->columns[i] != NULL ? ", ?" : "");
        lab_cql_add(&text, rule->form == FORM_INSERT_IF ? ") IF NOT EXISTS" : ")");
    } else {
        if (rule->form == FORM_ADD)
            lab_cql_add(&text, maker->is_weighted ? " SET n = n + ?" : " SET n = n + 1");
        else if (rule->form != FORM_SELECT) {
            lab_cql_add(&text, " SET ");
            add_assignments(&text, side, rule->columns, ", ");
        }
        add_key_equals(maker, &text, side);
        if (rule->form == FORM_UPDATE_IF) {
            lab_cql_add(&text, " IF ");
            add_assignments(&text, side, ALL_COLUMNS, " AND ");
        }
    }
    bool is_conditional = rule->level == LEVEL_CAS;
    const char *name = cass_consistency_name(rule->level == LEVEL_SERIAL ? level->serial : level->state);
    keep(maker, &text, when_of(maker, rule), name,
         is_conditional ? cass_consistency_name(level->serial) : NULL);
}

static const char *when_of(const struct maker *maker, const struct rule *rule)
{
    if (!maker->is_weighted || rule->columns != COUNTED)
        return rule->when;
    return rule->form == FORM_UPDATE_IF
               ? "a row that fires, after it was acknowledged: what is known, plus its weight; all columns "
                 "are "
                 "named, since a failed condition tells no others"
               : "a row that fires, after it was acknowledged: what was read, plus its weight";
}

static void add_key_equals(struct maker *maker, struct lab_cql_text *text, const struct side_table *side)
{
    lab_cql_add(text, " WHERE ");
    lab_cql_name(text, maker->key, "");
    lab_cql_add(text, side->by_bucket ? " = ? AND bucket = ?" : " = ?");
}

static void add_assignments(struct lab_cql_text *text, const struct side_table *side, uint32_t columns,
                            const char *between)
{
    const char *before = "";
    for (size_t i = 0; i < SIDE_COLUMNS_MAX && side->columns[i] != NULL; i++) {
        if ((columns & BIT(i)) == 0)
            continue;
        lab_cql_add(text, before);
        lab_cql_name(text, side->columns[i], "");
        lab_cql_add(text, " = ?");
        before = between;
    }
}

static void add_list(struct lab_cql_text *text, const struct side_table *side, uint32_t columns,
                     const char *before)
{
    for (size_t i = 0; i < SIDE_COLUMNS_MAX && side->columns[i] != NULL; i++) {
        if ((columns & BIT(i)) == 0)
            continue;
        lab_cql_add(text, before);
        lab_cql_name(text, side->columns[i], "");
        before = ", ";
    }
}

/* The user's name for it, unless a column beside it has that name. */
static const char *key_name(const struct lab_design *design)
{
    const struct lab_column *key = lab_design_column(design, LAB_FEED_KEY);
    if (key == NULL || strcmp(key->name, "bucket") == 0)
        return "key";
    for (size_t i = 0; i < SIDE_COUNT; i++) {
        for (size_t j = 0; j < SIDE_COLUMNS_MAX && sides[i].columns[j] != NULL; j++) {
            if (strcmp(sides[i].columns[j], key->name) == 0)
                return "key";
        }
    }
    return key->name;
}

static const char *type_of(enum lab_feed feed)
{
    switch (feed) {
    case LAB_FEED_BUCKET:
        return "bigint";
    case LAB_FEED_TIME:
        return "timestamp";
    case LAB_FEED_ID:
        return "timeuuid";
    default:
        return "text";
    }
}

/* Takes the text over. */
static void keep(struct maker *maker, struct lab_cql_text *text, const char *when, const char *level,
                 const char *serial)
{
    struct lab_statements *out = maker->out;
    maker->out_of_memory = maker->out_of_memory || text->out_of_memory;
    if (!maker->out_of_memory && out->count == out->capacity) {
        size_t capacity = out->capacity == 0 ? 16 : out->capacity * 2;
        struct lab_statement *items = realloc(out->items, capacity * sizeof *items);
        maker->out_of_memory = items == NULL;
        if (items != NULL) {
            out->items = items;
            out->capacity = capacity;
        }
    }
    if (maker->out_of_memory) {
        free(text->bytes);
        return;
    }
    out->items[out->count++] = (struct lab_statement){
        .is_table = level == NULL, .when = when, .level = level, .serial = serial, .cql = text->bytes};
}
