/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of statements that each strategy needs. */
#include "statement_rules.h"

#define BIT(n)      (1u << (n))
#define ANY         UINT32_MAX
#define ALL_COLUMNS 15u
/* Columns of the state tables, as bits. */
#define BUCKET  BIT(BK_BUCKET)
#define COUNTED BIT(BK_COUNTER)
#define LAST    BIT(BK_LAST_CHANGE)
#define NEXT    BIT(BK_NEXT_CHANGE)
/* Coordinations and counters, as bits. */
#define SINGLE      BIT(BK_SINGLE)
#define LOCKED      BIT(BK_LOCKED)
#define THREE_STATE BIT(BK_THREE_STATE)
#define GUARDED     BIT(BK_GUARDED)
#define UNGUARDED   (SINGLE | LOCKED | THREE_STATE)
#define RMW         BIT(BK_COUNTER_RMW)
#define LWT         BIT(BK_COUNTER_LWT)
#define COLUMN      BIT(BK_COUNTER_COLUMN)
/* When a rule applies. */
#define ALWAYS         LAB_RULE_ALWAYS
#define AT_THRESHOLD_1 LAB_RULE_AT_THRESHOLD_1
#define AT_LINES       LAB_RULE_AT_LINES
/* Sources, as bits. */
#define BY_COUNTER     BIT(BK_SOURCE_COUNTER)
#define BY_LWT         BIT(BK_SOURCE_LWT)
#define BY_LEASE       BIT(BK_SOURCE_LEASE)
#define BY_INCREMENTAL BIT(BK_SOURCE_INCREMENTAL)
#define BY_SCAN        BIT(BK_SOURCE_SCAN)
#define BY_MEMORY      BIT(BK_SOURCE_MEMORY)

const struct lab_side_table lab_sides[LAB_SIDE_COUNT] = {
    [LAB_SIDE_STATE] = {"_state",
                        {"bucket", "counted", "last_change", "next_change"},
                        .about =
                            "the state of each key: its bucket, what was counted in it, when it changed, and "
                            "when it is to change (0: not)"},
    [LAB_SIDE_BASE] =
        {"_state",
         {"bucket", "base", "last_change", "next_change"},
         .about = "the state of each key: its bucket, the counter's value at which the bucket's count "
                  "begins, when it changed, and when it is to change (0: not)"},
    [LAB_SIDE_GRANTS] = {"_state",
                         {"bucket", "before", "start", "until"},
                         .about = "the newest grant of each key: rows with times in [start, until) belong to "
                                  "bucket, those with times in [before, start) to bucket - 1"},
    [LAB_SIDE_STARTS] = {"_starts", {"start"}, .by_bucket = true, .about = "the start of each older bucket"},
    [LAB_SIDE_COUNTER] = {"_counter",
                          {"n"},
                          .is_counter = true,
                          .about = "rows that fired, per key; a counter is never reset"},
    [LAB_SIDE_COUNTS] = {"_counts",
                         {"n"},
                         .by_bucket = true,
                         .is_counter = true,
                         .about = "how many rows of each bucket fired; a counter is never reset"},
    [LAB_SIDE_NUMBERS] = {"_state",
                          {"bucket", "given", "last_change", "next_change"},
                          .about =
                              "how many numbers the rows of each key have taken, and the bucket of the last "
                              "number; last_change: the first number of that bucket, if settings have "
                              "changed (otherwise 0); next_change: always 0"},
    [LAB_SIDE_SUM] = {"_state",
                      {"bucket", "counted", "last_time", "last_id"},
                      {NULL, NULL, " timestamp", " timeuuid"},
                      .about = "how many rows of each key's newest bucket are counted, and the last of them; "
                               "null: none"},
    [LAB_SIDE_TOTAL] = {"_counter",
                        {"n"},
                        .is_counter = true,
                        .about = "how many rows of each key took a number; a counter is never reset"},
    [LAB_SIDE_LOCK] = {"_lock",
                       {"owner", "until"},
                       .about = "the agent that may roll a key, and until when; 0: none"},
};

static const struct lab_rule firing_rules[] = {
    {UNGUARDED, RMW | LWT, ALWAYS, LAB_SIDE_STATE, LAB_FORM_SELECT, ALL_COLUMNS, LAB_LEVEL_STATE,
     "before a row or a read whose key the cache does not know; again before a row that fires is counted"},
    {UNGUARDED, COLUMN, ALWAYS, LAB_SIDE_BASE, LAB_FORM_SELECT, ALL_COLUMNS, LAB_LEVEL_STATE,
     "before a row or a read whose key the cache does not know; again before a row that fires is counted"},
    {UNGUARDED, LWT, ALWAYS, LAB_SIDE_STATE, LAB_FORM_SELECT, ALL_COLUMNS, LAB_LEVEL_SERIAL,
     "after a conditional update of unknown outcome, and under a lock"},
    {UNGUARDED, RMW, ALWAYS, LAB_SIDE_STATE, LAB_FORM_INSERT, ALL_COLUMNS, LAB_LEVEL_STATE,
     "the first row of a key that fires"},
    {UNGUARDED, COLUMN, ALWAYS, LAB_SIDE_BASE, LAB_FORM_INSERT, ALL_COLUMNS, LAB_LEVEL_STATE,
     "the first time that a key rolls"},
    {UNGUARDED, LWT, ALWAYS, LAB_SIDE_STATE, LAB_FORM_INSERT_IF, ALL_COLUMNS, LAB_LEVEL_CAS,
     "the first row of a key that fires"},
    {UNGUARDED, RMW, ALWAYS, LAB_SIDE_STATE, LAB_FORM_UPDATE, COUNTED, LAB_LEVEL_STATE,
     "a row that fires, after it was acknowledged: what was read, plus 1"},
    {UNGUARDED, LWT, ALWAYS, LAB_SIDE_STATE, LAB_FORM_UPDATE_IF, COUNTED, LAB_LEVEL_CAS,
     "a row that fires, after it was acknowledged: the known count, plus 1; the condition names all columns, "
     "since a failed update returns only those that it names"},
    {UNGUARDED, COLUMN, ALWAYS, LAB_SIDE_COUNTER, LAB_FORM_ADD, 1, LAB_LEVEL_STATE,
     "a row that fires, after it was acknowledged; not to be repeated when its outcome is unknown"},
    {UNGUARDED, COLUMN, ALWAYS, LAB_SIDE_COUNTER, LAB_FORM_SELECT, 1, LAB_LEVEL_STATE,
     "after each addition: n minus base is the count"},
    {SINGLE, RMW, ALWAYS, LAB_SIDE_STATE, LAB_FORM_UPDATE, BUCKET | COUNTED | LAST, LAB_LEVEL_STATE,
     "the count is full: bucket + 1, and the count back to 0"},
    {SINGLE, COLUMN, ALWAYS, LAB_SIDE_BASE, LAB_FORM_UPDATE, BUCKET | COUNTED | LAST, LAB_LEVEL_STATE,
     "the count is full: bucket + 1, and the base up to n"},
    {SINGLE, LWT, ALWAYS, LAB_SIDE_STATE, LAB_FORM_UPDATE_IF, BUCKET | COUNTED | LAST, LAB_LEVEL_CAS,
     "the count is full: bucket + 1, and the count back to 0"},
    {LOCKED, RMW, ALWAYS, LAB_SIDE_STATE, LAB_FORM_UPDATE, BUCKET | COUNTED | LAST, LAB_LEVEL_STATE,
     "under the lock, when the count is still full: bucket + 1, and the count back to 0"},
    {LOCKED, COLUMN, ALWAYS, LAB_SIDE_BASE, LAB_FORM_UPDATE, BUCKET | COUNTED | LAST, LAB_LEVEL_STATE,
     "under the lock, when the count is still full: bucket + 1, and the base up to n"},
    {LOCKED, LWT, ALWAYS, LAB_SIDE_STATE, LAB_FORM_UPDATE_IF, BUCKET | COUNTED | LAST, LAB_LEVEL_CAS,
     "under the lock, when the count is still full: bucket + 1, and the count back to 0"},
    {LOCKED, ANY, ALWAYS, LAB_SIDE_LOCK, LAB_FORM_INSERT_IF, 3u, LAB_LEVEL_CAS,
     "the count is full: take the lock of a key that never had one"},
    {LOCKED, ANY, ALWAYS, LAB_SIDE_LOCK, LAB_FORM_UPDATE_IF, 3u, LAB_LEVEL_CAS,
     "take a lock that was released or has expired; release it, as owner 0 until 0"},
    {THREE_STATE, RMW, ALWAYS, LAB_SIDE_STATE, LAB_FORM_UPDATE, BUCKET | COUNTED | NEXT, LAB_LEVEL_STATE,
     "the count is full; the pre-change begins: bucket + 1 for rows from next_change on, one lead from now"},
    {THREE_STATE, COLUMN, ALWAYS, LAB_SIDE_BASE, LAB_FORM_UPDATE, BUCKET | NEXT, LAB_LEVEL_STATE,
     "the count is full; the pre-change begins: bucket + 1 for rows from next_change on, one lead from now"},
    {THREE_STATE, LWT, ALWAYS, LAB_SIDE_STATE, LAB_FORM_UPDATE_IF, BUCKET | COUNTED | NEXT, LAB_LEVEL_CAS,
     "the count is full; the pre-change begins: bucket + 1 for rows from next_change on, one lead from now"},
    {THREE_STATE, RMW, ALWAYS, LAB_SIDE_STATE, LAB_FORM_UPDATE, COUNTED | LAST | NEXT, LAB_LEVEL_STATE,
     "post-change, by the first agent that uses the key: count = 0, last_change = next_change, next_change = "
     "0"},
    {THREE_STATE, COLUMN, ALWAYS, LAB_SIDE_BASE, LAB_FORM_UPDATE, COUNTED | LAST | NEXT, LAB_LEVEL_STATE,
     "post-change, by the first agent that uses the key: base = n, last_change = next_change, next_change = "
     "0"},
    {THREE_STATE, LWT, ALWAYS, LAB_SIDE_STATE, LAB_FORM_UPDATE_IF, COUNTED | LAST | NEXT, LAB_LEVEL_CAS,
     "post-change, by the first agent that uses the key: count = 0, last_change = next_change, next_change = "
     "0"},
    {THREE_STATE, RMW, AT_THRESHOLD_1, LAB_SIDE_STATE, LAB_FORM_UPDATE, ALL_COLUMNS, LAB_LEVEL_STATE,
     "post-change, when one row fills the count (threshold 1): the reset and the next change in one update"},
    {THREE_STATE, COLUMN, AT_THRESHOLD_1, LAB_SIDE_BASE, LAB_FORM_UPDATE, ALL_COLUMNS, LAB_LEVEL_STATE,
     "post-change, when one row fills the count (threshold 1): the reset and the next change in one update"},
    {THREE_STATE, LWT, AT_THRESHOLD_1, LAB_SIDE_STATE, LAB_FORM_UPDATE_IF, ALL_COLUMNS, LAB_LEVEL_CAS,
     "post-change, when one row fills the count (threshold 1): the reset and the next change in one update"},
    {THREE_STATE, RMW, AT_LINES, LAB_SIDE_STATE, LAB_FORM_UPDATE, BUCKET | LAST | NEXT, LAB_LEVEL_STATE,
     "before a row at or beyond the bucket's line (max_age) is stored: bucket + 1 for rows from the line on; "
     "bucket + 2 when the row is beyond a later line too"},
    {THREE_STATE, COLUMN, AT_LINES, LAB_SIDE_BASE, LAB_FORM_UPDATE, BUCKET | LAST | NEXT, LAB_LEVEL_STATE,
     "before a row at or beyond the bucket's line (max_age) is stored: bucket + 1 for rows from the line on; "
     "bucket + 2 when the row is beyond a later line too"},
    {THREE_STATE, LWT, AT_LINES, LAB_SIDE_STATE, LAB_FORM_UPDATE_IF, BUCKET | LAST | NEXT, LAB_LEVEL_CAS,
     "before a row at or beyond the bucket's line (max_age) is stored: bucket + 1 for rows from the line on; "
     "bucket + 2 when the row is beyond a later line too"},
    {GUARDED, ANY, ALWAYS, LAB_SIDE_GRANTS, LAB_FORM_SELECT, ALL_COLUMNS, LAB_LEVEL_SERIAL,
     "a key that the agent does not know; an update of unknown outcome; a read near the end of the grant"},
    {GUARDED, ANY, ALWAYS, LAB_SIDE_GRANTS, LAB_FORM_INSERT_IF, ALL_COLUMNS, LAB_LEVEL_CAS,
     "the first grant of a key: bucket 0, before and start at the least bigint"},
    {GUARDED, ANY, ALWAYS, LAB_SIDE_GRANTS, LAB_FORM_UPDATE_IF, ALL_COLUMNS, LAB_LEVEL_CAS,
     "a row at or after the end of the grant: a later until; a full count: bucket + 1, before = start, "
     "start = until, and a later until"},
    {GUARDED, ANY, ALWAYS, LAB_SIDE_COUNTS, LAB_FORM_ADD, 1, LAB_LEVEL_STATE,
     "a row that fires, after it was acknowledged: adds to the counter of the bucket that it went to"},
    {GUARDED, ANY, ALWAYS, LAB_SIDE_COUNTS, LAB_FORM_SELECT, 1, LAB_LEVEL_STATE,
     "after each addition: the count of that bucket"},
    {GUARDED, ANY, ALWAYS, LAB_SIDE_STARTS, LAB_FORM_INSERT, 1, LAB_LEVEL_STATE,
     "before bucket 2 or a higher one is rolled: stores the start of the bucket below, which the new "
     "state no longer has"},
    {GUARDED, ANY, ALWAYS, LAB_SIDE_STARTS, LAB_FORM_SELECT, 1, LAB_LEVEL_STATE,
     "a row with a time below before: the starts of lower buckets, one at a time, down to bucket 1"},
};

static const struct lab_rule count_rules[] = {
    {BY_COUNTER, ANY, ALWAYS, LAB_SIDE_TOTAL, LAB_FORM_ADD, 1, LAB_LEVEL_STATE,
     "before each row: takes its number; not to be repeated when its outcome is unknown"},
    {BY_COUNTER, ANY, ALWAYS, LAB_SIDE_TOTAL, LAB_FORM_SELECT, 1, LAB_LEVEL_STATE,
     "after that: n - 1 is the row's number, and perhaps also that of a concurrent row; and before a read"},
    {BY_LWT | BY_LEASE, ANY, ALWAYS, LAB_SIDE_NUMBERS, LAB_FORM_SELECT, ALL_COLUMNS, LAB_LEVEL_SERIAL,
     "before a row whose key the agent does not know; after an update of unknown outcome"},
    {BY_LWT | BY_LEASE, ANY, ALWAYS, LAB_SIDE_NUMBERS, LAB_FORM_SELECT, ALL_COLUMNS, LAB_LEVEL_STATE,
     "before a read whose key the cache does not know"},
    {BY_LWT, ANY, ALWAYS, LAB_SIDE_NUMBERS, LAB_FORM_INSERT_IF, ALL_COLUMNS, LAB_LEVEL_CAS,
     "the first row of a key takes its number"},
    {BY_LWT, ANY, ALWAYS, LAB_SIDE_NUMBERS, LAB_FORM_UPDATE_IF, ALL_COLUMNS, LAB_LEVEL_CAS,
     "before each row: takes its number"},
    {BY_LEASE, ANY, ALWAYS, LAB_SIDE_NUMBERS, LAB_FORM_INSERT_IF, ALL_COLUMNS, LAB_LEVEL_CAS,
     "the first lease of a key's numbers"},
    {BY_LEASE, ANY, ALWAYS, LAB_SIDE_NUMBERS, LAB_FORM_UPDATE_IF, ALL_COLUMNS, LAB_LEVEL_CAS,
     "before a row for which no leased number is left: takes the next lease"},
    {BY_INCREMENTAL, ANY, ALWAYS, LAB_SIDE_SUM, LAB_FORM_SELECT, ALL_COLUMNS, LAB_LEVEL_STATE,
     "before a row or a read whose key the cache does not know"},
    {BY_INCREMENTAL, ANY, ALWAYS, LAB_SIDE_NONE, LAB_FORM_COUNT_ALL, 0, LAB_LEVEL_READ,
     "the first count of a bucket; also returns the newest row, which is now the last counted row"},
    {BY_INCREMENTAL, ANY, ALWAYS, LAB_SIDE_NONE, LAB_FORM_COUNT_AFTER, 0, LAB_LEVEL_READ,
     "at intervals: the rows after the last one that was counted"},
    {BY_INCREMENTAL, ANY, ALWAYS, LAB_SIDE_SUM, LAB_FORM_INSERT_IF, ALL_COLUMNS, LAB_LEVEL_CAS,
     "the first sum of a key"},
    {BY_INCREMENTAL, ANY, ALWAYS, LAB_SIDE_SUM, LAB_FORM_UPDATE_IF, ALL_COLUMNS, LAB_LEVEL_CAS,
     "adds to the sum, or raises the bucket when it is full; a failed condition: another agent has counted "
     "further"},
    {BY_SCAN | BY_MEMORY, ANY, ALWAYS, LAB_SIDE_STATE, LAB_FORM_SELECT, ALL_COLUMNS, LAB_LEVEL_STATE,
     "before a row or a read whose key the agent does not know; again before the bucket is raised"},
    {BY_SCAN, ANY, ALWAYS, LAB_SIDE_NONE, LAB_FORM_COUNT_ALL, 0, LAB_LEVEL_READ,
     "at intervals: every row of the bucket"},
    {BY_MEMORY, ANY, ALWAYS, LAB_SIDE_NONE, LAB_FORM_COUNT_ALL, 0, LAB_LEVEL_READ,
     "once after the agent has started: how many rows the bucket already has"},
    {BY_SCAN | BY_MEMORY, ANY, ALWAYS, LAB_SIDE_STATE, LAB_FORM_INSERT, ALL_COLUMNS, LAB_LEVEL_STATE,
     "the first time that a key's bucket is full"},
    {BY_SCAN | BY_MEMORY, ANY, ALWAYS, LAB_SIDE_STATE, LAB_FORM_UPDATE, BUCKET | LAST, LAB_LEVEL_STATE,
     "the bucket is full: bucket + 1"},
};

const struct lab_rule *lab_rules_of(const struct lab_strategy *strategy, size_t *count)
{
    bool is_count = strategy->settings.strategy.kind == BK_COUNT,
         fires = bk_kind_fires(strategy->settings.strategy.kind);
    *count = fires      ? sizeof firing_rules / sizeof *firing_rules
             : is_count ? sizeof count_rules / sizeof *count_rules
                        : 0;
    return is_count ? count_rules : firing_rules;
}

bool lab_rule_applies(const struct lab_rule *rule, const struct lab_strategy *strategy)
{
    bool is_count = strategy->settings.strategy.kind == BK_COUNT;
    unsigned protocol =
        is_count ? (unsigned)strategy->settings.source : (unsigned)strategy->settings.coordination;
    return (rule->protocols & BIT(protocol)) != 0 &&
           (rule->counters & BIT(strategy->settings.counter)) != 0 &&
           (rule->only != AT_THRESHOLD_1 || bk_threshold(&strategy->settings.strategy) == 1) &&
           (rule->only != AT_LINES || strategy->settings.strategy.max_age_ns != 0);
}
