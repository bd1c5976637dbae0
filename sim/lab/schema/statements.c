/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the CQL of a strategy. In: a checked scenario. Kept: nothing. Out: CREATE TABLE statements and every
 * statement that an application prepares. The tables in addition to the rows, and which statement implements
 * which action of the agent, are the rows of the tables below; the statements of the rows follow from the
 * design of the table. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cassandra/cluster.h"
#include "kernel/grow.h"
#include "kernel/time.h"
#include "lab/fields.h"
#include "lab/quantity.h"
#include "lab/schema.h"

#define NAME_SIZE 128

/* The reserved words of CQL, sorted. Source: apache/cassandra cql3/ReservedKeywords.java and
 * pylib/cqlshlib/cqlhandling.py. */
static const char *const reserved[] = {
    "add",    "allow",    "alter",        "and",     "apply",       "asc",      "authorize", "batch",
    "begin",  "by",       "columnfamily", "create",  "default",     "delete",   "desc",      "describe",
    "drop",   "entries",  "execute",      "from",    "full",        "grant",    "if",        "in",
    "index",  "infinity", "insert",       "into",    "is",          "keyspace", "limit",     "materialized",
    "mbean",  "mbeans",   "modify",       "nan",     "norecursive", "not",      "null",      "of",
    "on",     "or",       "order",        "primary", "rename",      "replace",  "revoke",    "schema",
    "select", "set",      "table",        "to",      "token",       "truncate", "unlogged",  "unset",
    "update", "use",      "using",        "view",    "where",       "with"};

static bool is_bare(const char *name)
{
    if (name[0] < 'a' || name[0] > 'z')
        return false;
    for (const char *c = name; *c != '\0'; c++) {
        if (!((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') || *c == '_'))
            return false;
    }
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) {
        if (strcmp(reserved[i], name) == 0)
            return false;
    }
    return true;
}

static void add_name(struct lab_writer *text, const char *before, const char *first, const char *second)
{
    lab_writer_add(text, "%s", before);
    char name[NAME_SIZE];
    size_t size = strlen(first), more = strlen(second);
    if (size + more >= sizeof name)
        abort(); /* names in a scenario are never that long */
    memcpy(name, first, size);
    memcpy(name + size, second, more + 1);
    if (is_bare(name)) {
        lab_writer_add(text, "%s", name);
        return;
    }
    lab_writer_add(text, "\"");
    for (const char *c = name; *c != '\0'; c++)
        lab_writer_add(text, *c == '"' ? "\"\"" : "%c", *c);
    lab_writer_add(text, "\"");
}

#define WINDOWS_LEAST 20
#define WINDOWS_MOST  30
#define WINDOWS_MEANT 25

struct window {
    const char *unit;
    int64_t size, span_ns;
};

static const struct window units[] = {
    {"DAYS", 1, SIM_DAY}, {"HOURS", 1, SIM_HOUR}, {"MINUTES", 1, SIM_MINUTE}};

/* The times at which a strategy's buckets end: all multiples of a step or, for calendar units, some of
 * them. */
struct grid {
    int64_t step_ns; /* 0: they do not end at multiples of a step */
    bool is_calendar;
};

static struct grid grid_of(const struct lab_strategy *strategy)
{
    const struct bk_strategy *core = &strategy->settings.strategy;
    if (core->kind != BK_KIND_TIME)
        return (struct grid){core->max_age_ns, false};
    if (core->of.time.calendar != BK_CALENDAR_NONE)
        return (struct grid){core->of.time.calendar == BK_CALENDAR_HOUR ? SIM_HOUR : SIM_DAY, true};
    bool is_shifted = core->of.time.epoch_ns % core->of.time.window_ns != 0;
    return (struct grid){is_shifted ? 0 : core->of.time.window_ns, false};
}

/* Whether every end of a bucket is the end of a window, or every end of a window the end of a bucket. */
static bool fits(int64_t span_ns, struct grid grid)
{
    return grid.step_ns > 0 &&
           (grid.step_ns % span_ns == 0 || (!grid.is_calendar && span_ns % grid.step_ns == 0));
}

/* The score of a window size: whether windows end with buckets, whether the size divides a day, and how close
 * the number of windows is to the recommendation. */
static int64_t score(int64_t span_ns, int64_t ttl_ns, struct grid grid)
{
    int64_t off = ttl_ns / span_ns - WINDOWS_MEANT;
    return (fits(span_ns, grid) ? 1000 : 0) + (SIM_DAY % span_ns == 0 || span_ns % SIM_DAY == 0 ? 100 : 0) -
           (off < 0 ? -off : off);
}

/* The window that suits the time to live and the buckets. */
static struct window suited_window(int64_t ttl_ns, struct grid grid)
{
    struct window best = units[2];
    bool is_found = false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        int64_t unit = units[i].span_ns, most = ttl_ns / (WINDOWS_LEAST * unit);
        for (int64_t size = ttl_ns / ((WINDOWS_MOST + 1) * unit) + 1; size <= most; size++) {
            if (is_found && score(size * unit, ttl_ns, grid) <= score(best.span_ns, ttl_ns, grid))
                continue;
            best = (struct window){units[i].unit, size, size * unit};
            is_found = true;
        }
    }
    return best;
}

/* The scenario's own window, or else the one that suits. */
static struct window window_of(const struct lab_scenario *scenario, const struct lab_strategy *strategy)
{
    const int64_t own_ns = scenario->compaction_window_ns;
    size_t i = 0;
    if (own_ns == 0)
        return suited_window(scenario->row_ttl_ns, grid_of(strategy));
    while (own_ns % units[i].span_ns != 0) /* it is whole minutes */
        i++;
    return (struct window){units[i].unit, own_ns / units[i].span_ns, own_ns};
}

static void add_retention(const struct lab_scenario *scenario, const struct lab_strategy *strategy,
                          bool is_first, struct lab_writer *text)
{
    if (scenario->row_ttl_ns <= 0)
        return;
    struct window window = window_of(scenario, strategy);
    lab_writer_add(
        text,
        "%s default_time_to_live = %" PRId64 "\n AND compaction = {'class': "
        "'TimeWindowCompactionStrategy', 'compaction_window_unit': '%s', 'compaction_window_size': "
        "'%" PRId64 "'}",
        is_first ? " WITH" : "\n AND", (scenario->row_ttl_ns - 1) / SIM_SECOND + 1, window.unit, window.size);
}

/* Adds a note when buckets do not end with windows, or have no end. */
static void tell_conflict(const struct lab_scenario *scenario, const struct lab_strategy *strategy,
                          const struct window *window, struct lab_writer *text)
{
    char span[48], bucket[48];
    struct grid grid = grid_of(strategy);
    enum bk_kind kind = strategy->settings.strategy.kind;
    lab_quantity_duration_text(window->span_ns, span, sizeof span);
    lab_quantity_duration_text(grid.step_ns, bucket, sizeof bucket);
    if (fits(window->span_ns, grid))
        return;
    if (kind == BK_KIND_TIME && (grid.step_ns == 0 || grid.is_calendar))
        lab_writer_add(
            text,
            "conflict: buckets end by a calendar or an epoch, windows at multiples of %s since 1970; set "
            "time: {window: %s}\n",
            span, span);
    else if (grid.step_ns > 0)
        lab_writer_add(
            text,
            "conflict: buckets of %s and windows of %s end at different times; set %s: %s, or a multiple\n",
            bucket, span, kind == BK_KIND_TIME ? "window" : "max_age", span);
    else if (!lab_kind_ends(kind))
        lab_writer_add(
            text,
            "conflict: a partition takes rows in every window, so a read of it queries up to %" PRId64
            " sstables\n",
            scenario->row_ttl_ns / window->span_ns + 1);
    else
        lab_writer_add(
            text,
            "conflict: a bucket ends where its rows do, in the middle of a window; set max_age: %s so "
            "that both end together\n",
            span);
}

static void tell_retention(const struct lab_scenario *scenario, const struct lab_strategy *strategy,
                           struct lab_writer *text)
{
    char span[48], late[48];
    if (scenario->row_ttl_ns <= 0)
        return;
    struct window window = window_of(scenario, strategy),
                  suited = suited_window(scenario->row_ttl_ns, grid_of(strategy));
    const int64_t count = scenario->row_ttl_ns / window.span_ns;
    const bool is_meant = count >= WINDOWS_LEAST && count <= WINDOWS_MOST,
               is_suited = window.span_ns == suited.span_ns;
    lab_quantity_duration_text(window.span_ns, span, sizeof span);
    lab_quantity_duration_text(suited.span_ns, late, sizeof late);
    lab_writer_add(text, "windows of %s: %" PRId64 " per time to live%s%s\n", span, count,
                   is_meant    ? ""
                   : is_suited ? ", where 20 to 30 are meant; none is shorter than a minute"
                               : ", where 20 to 30 are meant; such are windows of ",
                   is_meant || is_suited ? "" : late);
    lab_writer_add(
        text, "windows use the time of writing, not the row's own time: a late row, a repair and a hint are "
              "in a later window\n");
    lab_writer_add(
        text,
        "expired rows stay on disk, and reads pass over them, for gc_grace_seconds more (10 days unless "
        "set)\n");
    if (scenario->row_ttl_ns / SIM_SECOND > CASS_EXPIRES_MAX_S - scenario->workload.start_ns / SIM_SECOND)
        lab_writer_add(text, "rows expire after 2038-01-19: without storage_compatibility_mode: NONE their "
                             "inserts are refused\n");
    if (scenario->workload.late_share > 0 && scenario->workload.late_mean_ns > window.span_ns) {
        lab_quantity_duration_text(scenario->workload.late_mean_ns, late, sizeof late);
        lab_writer_add(
            text,
            "rows come late by %s on average, later than a window lasts, and expire with the window "
            "of their writing; written USING TIMESTAMP of their own time, they would keep an old "
            "sstable from being dropped\n",
            late);
    }
    tell_conflict(scenario, strategy, &window, text);
}

#define SIDE_COLUMNS_MAX 4

/* The tables in addition to the table of rows. Their columns are a key, or a key and a bucket, and
 * numbers. */
enum side {
    SIDE_STATE,
    SIDE_BASE,
    SIDE_GRANTS,
    SIDE_NUMBERS,
    SIDE_SUM,
    SIDE_STARTS,
    SIDE_COUNTER,
    SIDE_TOTAL,
    SIDE_COUNTS,
    SIDE_LOCK,
    SIDE_COUNT,
    SIDE_NONE = SIDE_COUNT /* the table of rows */
};

struct side_table {
    const char *suffix;                    /* suffix of the name of the table of rows */
    const char *columns[SIDE_COLUMNS_MAX]; /* columns in addition to the key; a NULL ends them */
    const char *types[SIDE_COLUMNS_MAX];   /* " text" and the like; NULL: bigint */
    bool by_bucket, is_counter;
    const char *about;
};

enum form {
    FORM_SELECT,
    FORM_SELECT_SERIAL,
    FORM_INSERT,
    FORM_INSERT_IF,
    FORM_UPDATE,
    FORM_UPDATE_IF,
    FORM_ADD,
    FORM_COUNT_ALL,  /* counts the rows of a bucket */
    FORM_COUNT_AFTER /* counts the rows after a time and an id, and returns the newest row's time and id
                      */
};
/* The settings with which a statement is needed. */
enum rule_only { ALWAYS, AT_THRESHOLD_1, AT_LINES };

struct rule {
    uint32_t
        protocols;     /* bit n: coordination n of probabilistic and weighted; bit 8 + n: source n of count */
    uint32_t counters; /* bit n: counter n of probabilistic and weighted */
    enum rule_only only;
    enum side side;
    enum form form;
    uint32_t columns; /* the columns that it sets or selects: bit n is column n of the table */
    const char *when;
};

#define BIT(n)      (1u << (n))
#define ANY         UINT32_MAX
#define ALL_COLUMNS 15u
/* Columns of the state tables, as bits. */
#define BUCKET  BIT(BK_COLUMN_BUCKET)
#define COUNTED BIT(BK_COLUMN_COUNTER)
#define LAST    BIT(BK_COLUMN_LAST_CHANGE)
#define NEXT    BIT(BK_COLUMN_NEXT_CHANGE)
/* Coordinations and counters, as bits. */
#define SINGLE      BIT(BK_SINGLE)
#define LOCKED      BIT(BK_LOCKED)
#define THREE_STATE BIT(BK_THREE_STATE)
#define GUARDED     BIT(BK_GUARDED)
#define UNGUARDED   (SINGLE | LOCKED | THREE_STATE)
#define RMW         BIT(BK_COUNTER_RMW)
#define LWT         BIT(BK_COUNTER_LWT)
#define COLUMN      BIT(BK_COUNTER_NATIVE)
/* Sources, as bits. */
#define OF_SOURCE(source) BIT(8 + (source))
#define BY_COUNTER        OF_SOURCE(BK_SOURCE_COUNTER)
#define BY_LWT            OF_SOURCE(BK_SOURCE_LWT)
#define BY_LEASE          OF_SOURCE(BK_SOURCE_LEASE)
#define BY_INCREMENTAL    OF_SOURCE(BK_SOURCE_INCREMENTAL)
#define BY_SCAN           OF_SOURCE(BK_SOURCE_SCAN)
#define BY_MEMORY         OF_SOURCE(BK_SOURCE_MEMORY)

static const struct side_table sides[SIDE_COUNT] = {
    [SIDE_STATE] = {"_state",
                    {"bucket", "counted", "last_change", "next_change"},
                    .about =
                        "the state of each key: its bucket, what was counted in it, when it changed, and "
                        "when it is to change (0: not)"},
    [SIDE_BASE] = {"_state",
                   {"bucket", "base", "last_change", "next_change"},
                   .about =
                       "the state of each key: its bucket, the counter's value at which the bucket's count "
                       "begins, when it changed, and when it is to change (0: not)"},
    [SIDE_GRANTS] = {"_state",
                     {"bucket", "before", "start", "until"},
                     .about = "the newest grant of each key: rows with times in [start, until) belong to "
                              "bucket, those with times in [before, start) to bucket - 1"},
    [SIDE_STARTS] = {"_starts", {"start"}, .by_bucket = true, .about = "the start of each older bucket"},
    [SIDE_COUNTER] = {"_counter",
                      {"n"},
                      .is_counter = true,
                      .about = "rows that fired, per key; a counter is never reset"},
    [SIDE_COUNTS] = {"_counts",
                     {"n"},
                     .by_bucket = true,
                     .is_counter = true,
                     .about = "how many rows of each bucket fired; a counter is never reset"},
    [SIDE_NUMBERS] = {"_state",
                      {"bucket", "given", "last_change", "next_change"},
                      .about = "how many numbers the rows of each key have taken, and the bucket of the last "
                               "number; last_change: the first number of that bucket, if settings have "
                               "changed (otherwise 0); next_change: always 0"},
    [SIDE_SUM] = {"_state",
                  {"bucket", "counted", "last_time", "last_id"},
                  {NULL, NULL, " timestamp", " timeuuid"},
                  .about = "how many rows of each key's newest bucket are counted, and the last of them; "
                           "null: none"},
    [SIDE_TOTAL] = {"_counter",
                    {"n"},
                    .is_counter = true,
                    .about = "how many rows of each key took a number; a counter is never reset"},
    [SIDE_LOCK] = {"_lock",
                   {"owner", "until"},
                   .about = "the agent that may roll a key, and until when; 0: none"},
};

/* Rules of SIDE_STATE are for a counter that is read and written back; see rule_for(). */
static const struct rule rules[] = {
    {UNGUARDED, ANY, ALWAYS, SIDE_STATE, FORM_SELECT, ALL_COLUMNS,
     "before a row or a read whose key the cache does not know; again before a row that fires is counted"},
    {UNGUARDED, LWT, ALWAYS, SIDE_STATE, FORM_SELECT_SERIAL, ALL_COLUMNS,
     "after a conditional update of unknown outcome, and under a lock"},
    {UNGUARDED, RMW | LWT, ALWAYS, SIDE_STATE, FORM_INSERT, ALL_COLUMNS, "the first row of a key that fires"},
    {UNGUARDED, COLUMN, ALWAYS, SIDE_STATE, FORM_INSERT, ALL_COLUMNS, "the first time that a key rolls"},
    {UNGUARDED, RMW, ALWAYS, SIDE_STATE, FORM_UPDATE, COUNTED,
     "a row that fires, after it was acknowledged: what was read, plus 1"},
    {UNGUARDED, LWT, ALWAYS, SIDE_STATE, FORM_UPDATE, COUNTED,
     "a row that fires, after it was acknowledged: the known count, plus 1; the condition names all columns, "
     "since a failed update returns only those that it names"},
    {UNGUARDED, COLUMN, ALWAYS, SIDE_COUNTER, FORM_ADD, 1,
     "a row that fires, after it was acknowledged; not to be repeated when its outcome is unknown"},
    {UNGUARDED, COLUMN, ALWAYS, SIDE_COUNTER, FORM_SELECT, 1,
     "after each addition: n minus base is the count"},
    {SINGLE, RMW | LWT, ALWAYS, SIDE_STATE, FORM_UPDATE, BUCKET | COUNTED | LAST,
     "the count is full: bucket + 1, and the count back to 0"},
    {SINGLE, COLUMN, ALWAYS, SIDE_STATE, FORM_UPDATE, BUCKET | COUNTED | LAST,
     "the count is full: bucket + 1, and the base up to n"},
    {LOCKED, RMW | LWT, ALWAYS, SIDE_STATE, FORM_UPDATE, BUCKET | COUNTED | LAST,
     "under the lock, when the count is still full: bucket + 1, and the count back to 0"},
    {LOCKED, COLUMN, ALWAYS, SIDE_STATE, FORM_UPDATE, BUCKET | COUNTED | LAST,
     "under the lock, when the count is still full: bucket + 1, and the base up to n"},
    {LOCKED, ANY, ALWAYS, SIDE_LOCK, FORM_INSERT_IF, 3u,
     "the count is full: take the lock of a key that never had one"},
    {LOCKED, ANY, ALWAYS, SIDE_LOCK, FORM_UPDATE_IF, 3u,
     "take a lock that was released or has expired; release it, as owner 0 until 0"},
    {THREE_STATE, RMW | LWT, ALWAYS, SIDE_STATE, FORM_UPDATE, BUCKET | COUNTED | NEXT,
     "the count is full; the pre-change begins: bucket + 1 for rows from next_change on, one lead from now"},
    {THREE_STATE, COLUMN, ALWAYS, SIDE_STATE, FORM_UPDATE, BUCKET | NEXT,
     "the count is full; the pre-change begins: bucket + 1 for rows from next_change on, one lead from now"},
    {THREE_STATE, RMW | LWT, ALWAYS, SIDE_STATE, FORM_UPDATE, COUNTED | LAST | NEXT,
     "post-change, by the first agent that uses the key: count = 0, last_change = next_change, next_change = "
     "0"},
    {THREE_STATE, COLUMN, ALWAYS, SIDE_STATE, FORM_UPDATE, COUNTED | LAST | NEXT,
     "post-change, by the first agent that uses the key: base = n, last_change = next_change, next_change = "
     "0"},
    {THREE_STATE, ANY, AT_THRESHOLD_1, SIDE_STATE, FORM_UPDATE, ALL_COLUMNS,
     "post-change, when one row fills the count (threshold 1): the reset and the next change in one update"},
    {THREE_STATE, ANY, AT_LINES, SIDE_STATE, FORM_UPDATE, BUCKET | LAST | NEXT,
     "before a row at or beyond the bucket's line (max_age) is stored: bucket + 1 for rows from the line on; "
     "bucket + 2 when the row is beyond a later line too"},
    {GUARDED, ANY, ALWAYS, SIDE_GRANTS, FORM_SELECT_SERIAL, ALL_COLUMNS,
     "a key that the agent does not know; an update of unknown outcome; a read near the end of the grant"},
    {GUARDED, ANY, ALWAYS, SIDE_GRANTS, FORM_INSERT_IF, ALL_COLUMNS,
     "the first grant of a key: bucket 0, before and start at the least bigint"},
    {GUARDED, ANY, ALWAYS, SIDE_GRANTS, FORM_UPDATE_IF, ALL_COLUMNS,
     "a row at or after the end of the grant: a later until; a full count: bucket + 1, before = start, "
     "start = until, and a later until"},
    {GUARDED, ANY, ALWAYS, SIDE_COUNTS, FORM_ADD, 1,
     "a row that fires, after it was acknowledged: adds to the counter of the bucket that it went to"},
    {GUARDED, ANY, ALWAYS, SIDE_COUNTS, FORM_SELECT, 1, "after each addition: the count of that bucket"},
    {GUARDED, ANY, ALWAYS, SIDE_STARTS, FORM_INSERT, 1,
     "before bucket 2 or a higher one is rolled: stores the start of the bucket below, which the new "
     "state no longer has"},
    {GUARDED, ANY, ALWAYS, SIDE_STARTS, FORM_SELECT, 1,
     "a row with a time below before: the starts of lower buckets, one at a time, down to bucket 1"},
    {BY_COUNTER, ANY, ALWAYS, SIDE_TOTAL, FORM_ADD, 1,
     "before each row: takes its number; not to be repeated when its outcome is unknown"},
    {BY_COUNTER, ANY, ALWAYS, SIDE_TOTAL, FORM_SELECT, 1,
     "after that: n - 1 is the row's number, and perhaps also that of a concurrent row; and before a read"},
    {BY_LWT | BY_LEASE, ANY, ALWAYS, SIDE_NUMBERS, FORM_SELECT_SERIAL, ALL_COLUMNS,
     "before a row whose key the agent does not know; after an update of unknown outcome"},
    {BY_LWT | BY_LEASE, ANY, ALWAYS, SIDE_NUMBERS, FORM_SELECT, ALL_COLUMNS,
     "before a read whose key the cache does not know"},
    {BY_LWT, ANY, ALWAYS, SIDE_NUMBERS, FORM_INSERT_IF, ALL_COLUMNS,
     "the first row of a key takes its number"},
    {BY_LWT, ANY, ALWAYS, SIDE_NUMBERS, FORM_UPDATE_IF, ALL_COLUMNS, "before each row: takes its number"},
    {BY_LEASE, ANY, ALWAYS, SIDE_NUMBERS, FORM_INSERT_IF, ALL_COLUMNS, "the first lease of a key's numbers"},
    {BY_LEASE, ANY, ALWAYS, SIDE_NUMBERS, FORM_UPDATE_IF, ALL_COLUMNS,
     "before a row for which no leased number is left: takes the next lease"},
    {BY_INCREMENTAL, ANY, ALWAYS, SIDE_SUM, FORM_SELECT, ALL_COLUMNS,
     "before a row or a read whose key the cache does not know"},
    {BY_INCREMENTAL, ANY, ALWAYS, SIDE_NONE, FORM_COUNT_ALL, 0,
     "the first count of a bucket; also returns the newest row, which is now the last counted row"},
    {BY_INCREMENTAL, ANY, ALWAYS, SIDE_NONE, FORM_COUNT_AFTER, 0,
     "at intervals: the rows after the last one that was counted"},
    {BY_INCREMENTAL, ANY, ALWAYS, SIDE_SUM, FORM_INSERT_IF, ALL_COLUMNS, "the first sum of a key"},
    {BY_INCREMENTAL, ANY, ALWAYS, SIDE_SUM, FORM_UPDATE_IF, ALL_COLUMNS,
     "adds to the sum, or raises the bucket when it is full; a failed condition: another agent has counted "
     "further"},
    {BY_SCAN | BY_MEMORY, ANY, ALWAYS, SIDE_STATE, FORM_SELECT, ALL_COLUMNS,
     "before a row or a read whose key the agent does not know; again before the bucket is raised"},
    {BY_SCAN, ANY, ALWAYS, SIDE_NONE, FORM_COUNT_ALL, 0, "at intervals: every row of the bucket"},
    {BY_MEMORY, ANY, ALWAYS, SIDE_NONE, FORM_COUNT_ALL, 0,
     "once after the agent has started: how many rows the bucket already has"},
    {BY_SCAN | BY_MEMORY, ANY, ALWAYS, SIDE_STATE, FORM_INSERT, ALL_COLUMNS,
     "the first time that a key's bucket is full"},
    {BY_SCAN | BY_MEMORY, ANY, ALWAYS, SIDE_STATE, FORM_UPDATE, BUCKET | LAST,
     "the bucket is full: bucket + 1"},
};

static bool rule_applies(const struct rule *rule, const struct lab_strategy *strategy)
{
    enum bk_kind kind = strategy->settings.strategy.kind;
    uint32_t protocol = bk_kind_fires(kind)     ? BIT(strategy->settings.coordination)
                        : kind == BK_KIND_COUNT ? OF_SOURCE(strategy->settings.source)
                                                : 0;
    return (rule->protocols & protocol) != 0 && (rule->counters & BIT(strategy->settings.counter)) != 0 &&
           (rule->only != AT_THRESHOLD_1 || bk_threshold(&strategy->settings.strategy) == 1) &&
           (rule->only != AT_LINES || strategy->settings.strategy.max_age_ns != 0);
}

/* The rule with the strategy's counter: by LWT the state is written on a condition; with a counter column it
 * has the base of the count. */
static struct rule rule_for(const struct rule *rule, const struct lab_strategy *strategy)
{
    struct rule own = *rule;
    bool is_write = rule->form == FORM_INSERT || rule->form == FORM_UPDATE;
    if (rule->side != SIDE_STATE || !bk_kind_fires(strategy->settings.strategy.kind))
        return own;
    if (strategy->settings.counter == BK_COUNTER_NATIVE)
        own.side = SIDE_BASE;
    if (strategy->settings.counter == BK_COUNTER_LWT && is_write)
        own.form = rule->form == FORM_INSERT ? FORM_INSERT_IF : FORM_UPDATE_IF;
    return own;
}

struct maker {
    const struct lab_scenario *scenario;
    const struct lab_strategy *strategy;
    const struct lab_design *design;
    struct lab_statements *out;
    const char *key;                      /* name of the key column in the additional tables */
    bool is_weighted;                     /* a row adds its weight, not 1 */
    bool is_hash, is_sharded, takes_bits; /* takes_bits: the strategy uses bits of the rows' ids */
    uint32_t sides_made;
    bool is_summed; /* only rows after the last counted row are counted */
    bool out_of_memory;
};

/* Adds columns by their positions, or all of them if these are NULL: BEFORE name AFTER, BETWEEN name AFTER,
 * ... */
static void add_columns(const struct lab_design *design, const uint8_t *positions, size_t count,
                        const char *before, const char *between, const char *after, struct lab_writer *text)
{
    for (size_t i = 0; i < count; i++) {
        add_name(text, i == 0 ? before : between, design->columns[positions != NULL ? positions[i] : i].name,
                 "");
        lab_writer_add(text, "%s", after);
    }
}

static void add_partition_equals(const struct lab_design *design, struct lab_writer *text)
{
    add_columns(design, design->partition, design->partition_count, " WHERE ", " AND ", " = ?", text);
}

static void add_clustering_equals(const struct lab_design *design, struct lab_writer *text)
{
    add_columns(design, design->clustering, design->clustering_count, " AND ", " AND ", " = ?", text);
}

/* Adds a statement, and takes ownership of the text. */
static void keep(struct maker *maker, struct lab_writer *text, const char *when, const char *level,
                 const char *serial)
{
    struct lab_statements *out = maker->out;
    maker->out_of_memory = maker->out_of_memory || text->out_of_memory ||
                           !sim_grow(&out->items, &out->capacity, out->count + 1, sizeof *out->items);
    if (maker->out_of_memory) {
        free(text->text);
        return;
    }
    out->items[out->count++] = (struct lab_statement){
        .is_table = level == NULL, .when = when, .level = level, .serial = serial, .cql = text->text};
}

static void add_ttl(const struct lab_scenario *scenario, struct lab_writer *text)
{
    if (scenario->row_ttl_ns > 0)
        lab_writer_add(text, " USING TTL %" PRId64, (scenario->row_ttl_ns - 1) / SIM_SECOND + 1);
}

static const char *when_of_write(const struct maker *maker)
{
    bool may_lack = maker->scenario->row_cost.is_estimated && !maker->scenario->row_has_nulls;
    return maker->strategy->settings.strategy.shards > 1
               ? "each row; a retry goes to the bucket of the first try: the state's bucket times the number "
                 "of "
                 "shards, plus bk_bucket_of_id() of the row's random bits, which are bk_id_bits() of its id"
           : maker->takes_bits
               ? "each row; a retry goes to the bucket of the first try; the row's random bits are "
                 "bk_id_bits(BK_ID_TIMEUUID) of its id, as the low bits of a timeuuid never change in a "
                 "process"
           : may_lack
               ? "each row; leave what it lacks unset, as a null is a tombstone; a retry goes to the bucket "
                 "of the first try"
               : "each row; a retry goes to the bucket of the first try";
}

/* Writes a row by UPDATE: counters, into whose tables rows cannot be inserted, and row.writes. */
static void make_update(struct maker *maker)
{
    const struct lab_design *design = maker->design;
    struct lab_writer text = {0};
    const char *before = " SET ";
    bool is_counter = maker->scenario->row_cost.is_counter;
    add_name(&text, "UPDATE ", design->name, "");
    add_ttl(maker->scenario, &text);
    for (size_t i = 0; i < design->column_count; i++) {
        if (lab_design_is_in_key(design, i))
            continue;
        add_name(&text, before, design->columns[i].name, "");
        if (is_counter)
            add_name(&text, " = ", design->columns[i].name, "");
        lab_writer_add(&text, is_counter ? " + ?" : " = ?");
        before = ", ";
    }
    add_partition_equals(design, &text);
    add_clustering_equals(design, &text);
    keep(maker, &text, is_counter ? "each row; adding again counts twice" : when_of_write(maker),
         cass_consistency_name(maker->scenario->consistency.write), NULL);
}

static void make_insert(struct maker *maker)
{
    const struct lab_design *design = maker->design;
    struct lab_writer text = {0};
    add_name(&text, "INSERT INTO ", design->name, "");
    add_columns(design, NULL, design->column_count, " (", ", ", "", &text);
    for (size_t i = 0; i < design->column_count; i++)
        lab_writer_add(&text, "%s", i == 0 ? ") VALUES (?" : ", ?");
    lab_writer_add(&text, ")");
    add_ttl(maker->scenario, &text);
    keep(maker, &text, when_of_write(maker), cass_consistency_name(maker->scenario->consistency.write), NULL);
}

/* Adds the conditions on the row's time: from a time on, and before another. */
static void add_times(const struct lab_design *design, struct lab_writer *text)
{
    const char *name = design->columns[design->clustering[0]].name;
    add_name(text, " AND ", name, "");
    add_name(text, " >= ? AND ", name, "");
    lab_writer_add(text, " < ?");
}

/* If the first clustering column is the time in ascending order, reads need ORDER BY ... DESC. */
static void add_newest_first(const struct lab_design *design, struct lab_writer *text)
{
    if (design->clustering_count == 0 || design->is_descending[0] ||
        design->columns[design->clustering[0]].feed != LAB_FEED_TIME)
        return;
    add_name(text, " ORDER BY ", design->columns[design->clustering[0]].name, "");
    lab_writer_add(text, " DESC");
}

static const char *when_of_select(const struct lab_design *design, const struct maker *maker)
{
    if (!lab_design_partitions_by(design, LAB_FEED_KEY))
        return "a bucket's rows, of all keys together";
    bool is_newest =
        design->clustering_count > 0 && design->columns[design->clustering[0]].feed == LAB_FEED_TIME;
    if (!lab_design_partitions_by(design, LAB_FEED_BUCKET))
        return is_newest ? "the newest rows of a key" : "rows of a key, in no order of time";
    if (is_newest && maker->is_hash)
        return "the newest rows of a bucket; each bucket may hold the newest of all";
    if (is_newest && maker->is_sharded)
        return "the newest rows of a bucket; of all shards at once, then of those of the window or count "
               "before";
    return is_newest ? "the newest rows of a bucket; the next bucket when they are not enough"
                     : "rows of a bucket, in no order of time";
}

static void make_select(struct maker *maker, enum lab_read_kind kind)
{
    const struct lab_design *design = maker->design;
    struct lab_writer text = {0};
    const char *when = when_of_select(design, maker);
    add_columns(design, NULL, design->column_count, "SELECT ", ", ", "", &text);
    add_name(&text, " FROM ", design->name, "");
    add_partition_equals(design, &text);
    if (kind == LAB_READ_LATEST) {
        add_newest_first(design, &text);
        lab_writer_add(&text, " LIMIT ?");
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
    struct lab_writer text = {0};
    add_name(&text, "DELETE FROM ", design->name, "");
    add_partition_equals(design, &text);
    add_clustering_equals(design, &text);
    keep(maker, &text, "a row that is deleted, from the bucket that it was put into",
         cass_consistency_name(maker->scenario->consistency.write), NULL);
}

static void make_rows(struct maker *maker)
{
    if (maker->scenario->row_cost.is_counter || maker->scenario->row_is_updated)
        make_update(maker);
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

static void make_row_table(struct maker *maker)
{
    const struct lab_design *design = maker->design;
    const char *types = maker->scenario->schema_types, *table = maker->scenario->schema_table;
    struct lab_writer text = {0};
    if (types != NULL) {
        lab_writer_add(&text, "%s", types);
        keep(maker, &text, "the types of the schema", NULL, NULL);
        text = (struct lab_writer){0};
    }
    if (table != NULL) {
        lab_writer_add(&text, "%s", table);
        keep(maker, &text, "the rows: the table of the schema, with a bucket", NULL, NULL);
        return;
    }
    add_name(&text, "CREATE TABLE ", design->name, "");
    lab_writer_add(&text, " (\n");
    for (size_t i = 0; i < design->column_count; i++) {
        add_name(&text, "    ", design->columns[i].name, "");
        lab_writer_add(&text, " ");
        lab_writer_add(&text, "%s", design->columns[i].type_text);
        lab_writer_add(&text, "%s", design->columns[i].is_static ? " static" : "");
        lab_writer_add(&text, ",\n");
    }
    lab_writer_add(&text, "%s", design->partition_count > 1 ? "    PRIMARY KEY ((" : "    PRIMARY KEY (");
    add_columns(design, design->partition, design->partition_count, "", ", ", "", &text);
    lab_writer_add(&text, "%s", design->partition_count > 1 ? ")" : "");
    add_columns(design, design->clustering, design->clustering_count, ", ", ", ", "", &text);
    lab_writer_add(&text, ")\n)");
    for (size_t i = 0; i < design->clustering_count; i++) {
        add_name(&text, i == 0 ? " WITH CLUSTERING ORDER BY (" : ", ",
                 design->columns[design->clustering[i]].name, "");
        lab_writer_add(&text, "%s", design->is_descending[i] ? " DESC" : " ASC");
    }
    lab_writer_add(&text, "%s", design->clustering_count > 0 ? ")" : "");
    add_retention(maker->scenario, maker->strategy, design->clustering_count == 0, &text);
    keep(maker, &text, "the rows", NULL, NULL);
    struct lab_writer note = {0};
    tell_retention(maker->scenario, maker->strategy, &note);
    maker->out_of_memory = maker->out_of_memory || note.out_of_memory;
    if (maker->out_of_memory)
        free(note.text);
    else
        maker->out->items[maker->out->count - 1].note = note.text;
}

static void make_side_table(struct maker *maker, enum side which)
{
    const struct side_table *side = &sides[which];
    struct lab_writer text = {0};
    add_name(&text, "CREATE TABLE ", maker->design->name, side->suffix);
    add_name(&text, " (\n    ", maker->key, "");
    lab_writer_add(&text, "%s", side->by_bucket ? " text,\n    bucket bigint,\n" : " text,\n");
    for (size_t i = 0; i < SIDE_COLUMNS_MAX && side->columns[i] != NULL; i++) {
        add_name(&text, "    ", side->columns[i], "");
        lab_writer_add(&text, "%s",
                       side->is_counter         ? " counter"
                       : side->types[i] == NULL ? " bigint"
                                                : side->types[i]);
        lab_writer_add(&text, ",\n");
    }
    add_name(&text, side->by_bucket ? "    PRIMARY KEY ((" : "    PRIMARY KEY (", maker->key, "");
    lab_writer_add(&text, "%s", side->by_bucket ? ", bucket))\n)" : ")\n)");
    keep(maker, &text, side->about, NULL, NULL);
}

/* Counts the rows of one bucket. A count of the rows after a place, or of all rows if no place is known yet,
 * also returns the newest row. */
static void make_count(struct maker *maker, const struct rule *rule)
{
    const struct lab_design *design = maker->design;
    bool is_summed = rule->form == FORM_COUNT_AFTER || maker->is_summed;
    struct lab_writer text = {0};
    lab_writer_add(&text, "SELECT COUNT(*)");
    add_columns(design, design->clustering, is_summed ? 2 : 0, ", ", ", ", "", &text);
    add_name(&text, " FROM ", design->name, "");
    add_partition_equals(design, &text);
    if (rule->form == FORM_COUNT_AFTER) {
        add_columns(design, design->clustering, 2, " AND (", ", ", "", &text);
        lab_writer_add(&text, ") > (?, ?)");
    }
    if (is_summed)
        add_newest_first(design, &text);
    keep(maker, &text, rule->when, cass_consistency_name(maker->scenario->consistency.read), NULL);
}

/* The purpose of a statement with a greatest age, when it differs; NULL: as without one. */
static const char *when_aged(const struct rule *rule)
{
    if (rule->side != SIDE_STATE && rule->side != SIDE_BASE)
        return NULL;
    if (rule->form == FORM_INSERT || rule->form == FORM_INSERT_IF)
        return "the first row of a key, before it is put: last_change is the line before it";
    if (rule->columns == (BIT(BK_COLUMN_BUCKET) | BIT(BK_COLUMN_COUNTER) | BIT(BK_COLUMN_LAST_CHANGE)))
        return rule->side == SIDE_BASE
                   ? "before a row at or beyond the bucket's line (max_age) is stored, and when the count is "
                     "full: bucket + 1, and the base up to n"
                   : "before a row at or beyond the bucket's line (max_age) is stored, and when the count is "
                     "full: bucket + 1, and the count back to 0";
    return NULL;
}

static const char *when_of(const struct maker *maker, const struct rule *rule)
{
    const char *aged = maker->strategy->settings.strategy.max_age_ns != 0 ? when_aged(rule) : NULL;
    if (aged != NULL)
        return aged;
    if (!maker->is_weighted || rule->columns != BIT(BK_COLUMN_COUNTER))
        return rule->when;
    return rule->form == FORM_UPDATE_IF
               ? "a row that fires, after it was acknowledged: the known count, plus its weight; the "
                 "condition names all columns, since a failed update returns only those that it names"
               : "a row that fires, after it was acknowledged: what was read, plus its weight";
}

static void add_key_equals(struct maker *maker, struct lab_writer *text, const struct side_table *side)
{
    add_name(text, " WHERE ", maker->key, "");
    lab_writer_add(text, "%s", side->by_bucket ? " = ? AND bucket = ?" : " = ?");
}

/* Adds the columns of another table whose bits are set, as add_columns() does. */
static void add_side_columns(struct lab_writer *text, const struct side_table *side, uint32_t columns,
                             const char *before, const char *between, const char *after)
{
    for (size_t i = 0; i < SIDE_COLUMNS_MAX && side->columns[i] != NULL; i++) {
        if ((columns & BIT(i)) == 0)
            continue;
        add_name(text, before, side->columns[i], "");
        lab_writer_add(text, "%s", after);
        before = between;
    }
}

static void make_side(struct maker *maker, const struct rule *rule)
{
    const struct lab_consistency *level = &maker->scenario->consistency;
    const struct side_table *side = &sides[rule->side];
    struct lab_writer text = {0};
    bool is_insert = rule->form == FORM_INSERT || rule->form == FORM_INSERT_IF;
    bool is_select = rule->form == FORM_SELECT || rule->form == FORM_SELECT_SERIAL;
    lab_writer_add(&text, "%s", is_select ? "SELECT " : is_insert ? "INSERT INTO " : "UPDATE ");
    if (is_select) {
        add_side_columns(&text, side, rule->columns, "", ", ", "");
        lab_writer_add(&text, " FROM ");
    }
    add_name(&text, "", maker->design->name, side->suffix);
    if (is_insert) {
        add_name(&text, " (", maker->key, "");
        lab_writer_add(&text, "%s", side->by_bucket ? ", bucket" : "");
        add_side_columns(&text, side, rule->columns, ", ", ", ", "");
        lab_writer_add(&text, "%s", side->by_bucket ? ") VALUES (?, ?" : ") VALUES (?");
        for (size_t i = 0; i < SIDE_COLUMNS_MAX; i++)
            lab_writer_add(&text, "%s",
                           (rule->columns & BIT(i)) != 0 && side->columns[i] != NULL ? ", ?" : "");
        lab_writer_add(&text, "%s", rule->form == FORM_INSERT_IF ? ") IF NOT EXISTS" : ")");
    } else {
        if (rule->form == FORM_ADD)
            lab_writer_add(&text, "%s", maker->is_weighted ? " SET n = n + ?" : " SET n = n + 1");
        else if (!is_select) {
            lab_writer_add(&text, " SET ");
            add_side_columns(&text, side, rule->columns, "", ", ", " = ?");
        }
        add_key_equals(maker, &text, side);
        if (rule->form == FORM_UPDATE_IF) {
            lab_writer_add(&text, " IF ");
            add_side_columns(&text, side, ALL_COLUMNS, "", " AND ", " = ?");
        }
    }
    bool is_conditional = rule->form == FORM_INSERT_IF || rule->form == FORM_UPDATE_IF;
    keep(maker, &text, when_of(maker, rule),
         cass_consistency_name(rule->form == FORM_SELECT_SERIAL ? level->serial : level->state),
         is_conditional ? cass_consistency_name(level->serial) : NULL);
}

/* Makes the tables of the rules that apply, or their statements. */
static void make_sides(struct maker *maker, bool tables)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct rule rule = rule_for(&rules[i], maker->strategy);
        if (!rule_applies(&rule, maker->strategy))
            continue;
        if (!tables && rule.side == SIDE_NONE) {
            make_count(maker, &rule);
        } else if (!tables) {
            make_side(maker, &rule);
        } else if (rule.side != SIDE_NONE && (maker->sides_made & BIT(rule.side)) == 0) {
            maker->sides_made |= BIT(rule.side);
            make_side_table(maker, rule.side);
        }
    }
}

/* The user's name of the key column, unless another column of the table has that name. */
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

bool lab_statements_make(const struct lab_scenario *scenario, size_t strategy, struct lab_statements *out)
{
    const struct lab_strategy *one = &scenario->strategies[strategy];
    memset(out, 0, sizeof *out);
    struct maker maker = {.scenario = scenario,
                          .strategy = one,
                          .design = &scenario->design,
                          .out = out,
                          .key = key_name(&scenario->design)};
    maker.is_weighted = one->settings.strategy.kind == BK_KIND_WEIGHTED;
    maker.is_summed = one->settings.source == BK_SOURCE_INCREMENTAL;
    maker.is_hash = one->settings.strategy.kind == BK_KIND_HASH;
    maker.is_sharded = lab_shards(&one->settings.strategy) > 1;
    maker.takes_bits = maker.is_hash || maker.is_sharded || bk_kind_fires(one->settings.strategy.kind);
    make_row_table(&maker);
    make_sides(&maker, true);
    make_rows(&maker);
    make_sides(&maker, false);
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
