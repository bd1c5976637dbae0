/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of the table of settings, in the order in which messages, docs and `show` list them. */
#include "kernel/time.h"
#include "lab/setting.h"

#define PLACE(member) offsetof(struct lab_settings, member)
#define KIND(name)    (1u << BK_KIND_##name)
#define FIRES         (KIND(PROBABILISTIC) | KIND(WEIGHTED))
#define IDGEN         (1u << LAB_KIND_IDGEN)
#define OBSERVED      (1u << LAB_KIND_OBSERVED)
#define CORE          (IDGEN - 1)
#define CHANGING      (CORE & ~KIND(UNBUCKETED))
#define BOTH          (LAB_OF_STRATEGY | LAB_OF_CHANGE)
#define VALUE(value)  (1u << (value))
#define IS(path, value)                                                                                      \
    {                                                                                                        \
        path, VALUE(value)                                                                                   \
    }
#define NOTHING_IN(path) IS(path, 0)
#define SPAN_MAX         (365.0 * (double)SIM_DAY)
#define LONG_MAX_NS      (36500.0 * (double)SIM_DAY)
/* Ranges of numbers and spans. */
#define FROM(low, high) .least = (low), .most = (high)
#define BILLION         FROM(1, 1e9)
#define SPAN            FROM(1, SPAN_MAX)
#define MICROSECOND     FROM(1000, 0x1p63)

#define WORD(word, value) {word, value},
static const struct lab_choice calendars[] = {BK_CALENDAR_WORDS(WORD){NULL, 0}};
static const struct lab_choice sources[] = {BK_SOURCE_WORDS(WORD){NULL, 0}};
static const char *const drawn_sources[] = {"",
                                            "numbers of a counter column",
                                            "numbers by LWT",
                                            "numbers leased",
                                            "new ones counted",
                                            "all counted",
                                            "counted by their writer"};
static const struct lab_choice coordinations[] = {BK_COORDINATION_WORDS(WORD){NULL, 0}};
static const struct lab_choice counters[] = {BK_COUNTER_WORDS(WORD){NULL, 0}};
static const struct lab_choice choices[] = {
    {"fixed", BK_IDGEN_FIXED}, {"rotate", BK_IDGEN_ROTATE}, {"random", BK_IDGEN_RANDOM}, {NULL, 0}};
static const struct lab_choice locks[] = {
    {"columns", BK_IDGEN_LOCK_COLUMNS}, {"lwt", BK_IDGEN_LOCK_LWT}, {NULL, 0}};
static const char *const drawn_locks[] = {"columns", "conditional updates"};
static const struct lab_choice backoffs[] = {{"constant", BK_IDGEN_CONSTANT},
                                             {"exponential", BK_IDGEN_EXPONENTIAL},
                                             {"random", BK_IDGEN_RANDOM_TIMES},
                                             {NULL, 0}};
static const struct lab_choice formats[] = {{"auto", WL_OBSERVED_AUTO},
                                            {"sstablepartitions", WL_OBSERVED_PARTITIONS},
                                            {"tablehistograms", WL_OBSERVED_PERCENTILES},
                                            {"large_partitions", WL_OBSERVED_LARGEST},
                                            {NULL, 0}};
const struct lab_choice lab_plan_words[] = {BK_PLAN_WORDS(WORD){NULL, 0}};

const struct lab_setting lab_setting_table[] = {
    /* time */
    {"window", "window_ns", KIND(TIME), LAB_SETTING_DURATION, PLACE(strategy.of.time.window_ns),
     .scopes = BOTH, MICROSECOND, .is_rung = true, .told = "window %s", .drawn = "windows of %s",
     .standard_text = "", .meaning = "length of the windows"},
    {"epoch", "epoch_ns", KIND(TIME), LAB_SETTING_TIME, PLACE(strategy.of.time.epoch_ns), .scopes = BOTH,
     .when = NOTHING_IN("calendar"), .zero = LAB_ZERO_TOLD, .told = " from %s",
     .standard_text = "1970-01-01T00:00:00Z", .meaning = "where a window begins; only with `window`"},
    {"calendar", "calendar", KIND(TIME), LAB_SETTING_CHOICE, PLACE(strategy.of.time.calendar), .scopes = BOTH,
     .words = calendars, .is_rung = true, .told = "calendar %s", .drawn = "calendar %s (UTC)",
     .standard_text = "", .meaning = "units of the calendar in UTC; a week begins on Monday"},
    {"shards", "shards", KIND(TIME), LAB_SETTING_U32, PLACE(strategy.of.time.shards), .scopes = BOTH,
     FROM(1, BK_SHARDS_MAX), .is_rung = true, .told = "shards %s", .drawn = "%s shard{s}",
     .standard_text = "1",
     .meaning = "partitions of each window, among which its rows are divided by a hash of their ids; see "
                "[shards](#shards)"},
    /* count */
    {"rows", "rows", KIND(COUNT), LAB_SETTING_U64, PLACE(strategy.of.count.rows), .scopes = BOTH,
     .required = BOTH, FROM(1, 1e15), .is_rung = true, .told = "rows %s", .drawn = "%s rows",
     .meaning = "rows of a partition"},
    {"counter", "counter", KIND(COUNT), LAB_SETTING_CHOICE, PLACE(source), .words = sources,
     .zero = LAB_ZERO_WRITTEN, .told = "counter %s", .drawn = "%s", .drawn_words = drawn_sources,
     .standard_text = "required",
     .meaning = "where the number comes from, or who counts the rows: see below"},
    {"batch", "batch", KIND(COUNT), LAB_SETTING_U64, PLACE(lease_rows), BILLION, .standard = 100,
     .needs = IS("counter", BK_SOURCE_LEASE), .told = "batch %s", .drawn = " by %s",
     .meaning = "only for `lease`: numbers taken at once"},
    {"every_rows", "every_rows", KIND(COUNT), LAB_SETTING_U64, PLACE(every_rows), BILLION,
     .needs = {"counter", VALUE(BK_SOURCE_INCREMENTAL) | VALUE(BK_SOURCE_SCAN)}, .told = "every %s row{s}",
     .drawn = " every %s rows", .standard_text = "1 for `scan`",
     .meaning = "only for `incremental` and `scan`: an agent counts a key's newest bucket each time that it "
                "has stored this number of rows in it; only on average if there are more keys than "
                "`cache_entries`, see below"},
    {"every_time", "every_ns", KIND(COUNT), LAB_SETTING_DURATION, PLACE(every_ns), SPAN,
     .needs = {"counter", VALUE(BK_SOURCE_INCREMENTAL) | VALUE(BK_SOURCE_SCAN)}, .told = "every %s",
     .drawn = " every %s", .standard_text = "",
     .meaning = "the same by time: an agent also counts after a row that comes this long after its last "
                "count of the key, and after the "
                "first row of a key that its cache had evicted. Needs `agents`"},
    /* probabilistic and weighted */
    {"bits", "bits", KIND(PROBABILISTIC), LAB_SETTING_U32, PLACE(strategy.of.probabilistic.bits),
     .scopes = BOTH, .required = LAB_OF_CHANGE, FROM(0, BK_BITS_MAX),
     .when = NOTHING_IN("chance_denominator"), .zero = LAB_ZERO_STORED, .is_rung = true, .told = "bits %s",
     .drawn = "%s bit{s}", .standard_text = "", .meaning = "a row counts with chance 2^-bits"},
    {"chance", NULL, KIND(PROBABILISTIC), LAB_SETTING_CHANCE,
     PLACE(strategy.of.probabilistic.chance_numerator), .is_rung = true, .told = "chance %s",
     .drawn = "chance %s", .standard_text = "",
     .meaning = "a row counts with this chance, for example `1/300`"},
    {NULL, "chance_numerator", KIND(PROBABILISTIC), LAB_SETTING_U64,
     PLACE(strategy.of.probabilistic.chance_numerator), .scopes = BOTH},
    {NULL, "chance_denominator", KIND(PROBABILISTIC), LAB_SETTING_U64,
     PLACE(strategy.of.probabilistic.chance_denominator), .scopes = BOTH},
    {"threshold", "threshold", KIND(PROBABILISTIC), LAB_SETTING_U64,
     PLACE(strategy.of.probabilistic.threshold), .scopes = BOTH, .required = BOTH, BILLION, .is_rung = true,
     .told = "threshold %s", .drawn = "threshold %s", .meaning = "counted rows until the key rolls"},
    {"bytes", "bytes", KIND(WEIGHTED), LAB_SETTING_BYTES, PLACE(strategy.of.weighted.bytes), .scopes = BOTH,
     .required = BOTH, FROM(1, 0x1p40), .is_rung = true, .told = "1 in %s", .drawn = "1 in %s",
     .meaning = "B: a row adds floor(its bytes / B) to the counter, and 1 more with probability remainder / "
                "B. The unit is required"},
    {"threshold", "threshold", KIND(WEIGHTED), LAB_SETTING_U64, PLACE(strategy.of.weighted.threshold),
     .scopes = BOTH, .required = BOTH, BILLION, .is_rung = true, .told = "threshold %s",
     .drawn = "threshold %s",
     .meaning = "the key rolls when its rows have added this much: a partition gets `threshold` x B bytes on "
                "average"},
    {"coordination", "coordination", FIRES, LAB_SETTING_CHOICE, PLACE(coordination), .words = coordinations,
     .zero = LAB_ZERO_TOLD, .needs_agents = true, .told = "%s", .standard_text = "`single`",
     .meaning = "how several writers agree on a roll; `single`: each rolls a key as if it were the only "
                "writer; `locked`: "
                "under a lock row; `three-state`: at a change time that every agent knows in advance; "
                "`guarded`: each row is placed by a grant that a conditional update has stored, see "
                "[strategies.md](strategies.md#guarded). All except `single` need `agents`"},
    {"counter", "counter", FIRES, LAB_SETTING_CHOICE, PLACE(counter), .words = counters,
     .when = {"coordination", ~VALUE(BK_GUARDED)}, .zero = LAB_ZERO_TOLD, .needs_agents = true,
     .told = "counter %s", .standard_text = "`rmw`",
     .meaning = "how the count is stored: `rmw`: a column that is read and written back; `lwt`: the same "
                "column with conditional updates; `counter`: Cassandra's counter less a stored base. All "
                "except `rmw` need `agents`. "
                "`guarded` has a counter for each bucket: it takes only `counter`, its default"},
    {"lead", "lead_ns", FIRES, LAB_SETTING_DURATION, PLACE(lead_ns), FROM(0, SPAN_MAX),
     .needs = IS("coordination", BK_THREE_STATE), .zero = LAB_ZERO_WRITTEN, .needs_agents = true,
     .told = "lead %s", .standard_text = "required for `three-state`",
     .meaning = "a change is stored this long before it takes effect; must be longer than `cache_ttl`, the "
                "slowest read of a state and the clocks' differences together"},
    {"grant", "grant_ns", FIRES, LAB_SETTING_DURATION, PLACE(grant_ns), SPAN, .standard = 10 * SIM_SECOND,
     .needs = IS("coordination", BK_GUARDED), .needs_agents = true, .told = "grants of %s",
     .meaning = "only for `guarded`: a grant ends this long after its request, or up to eight times as long "
                "if agents contend for it. Each grant costs a key one request. A partition exceeds its "
                "threshold by the rows that are written during a grant"},
    {"lock", NULL, FIRES, LAB_SETTING_GROUP, 0, .needs = IS("coordination", BK_LOCKED),
     .standard_text = "see [lock](#lock)", .meaning = "only for `locked`"},
    {"lock.lasts", "lock_lasts_ns", FIRES, LAB_SETTING_DURATION, PLACE(lock_lasts_ns), SPAN,
     .standard = 5 * SIM_SECOND, .needs = IS("coordination", BK_LOCKED), .needs_agents = true,
     .told = "locks of %s", .meaning = "a lock older than this is taken over"},
    {"lock.backoff", "lock_backoff_ns", FIRES, LAB_SETTING_DURATION, PLACE(lock_backoff_ns), SPAN,
     .standard = 100 * SIM_MS, .needs = IS("coordination", BK_LOCKED), .needs_agents = true,
     .told = "back-off %s", .meaning = "mean wait of an agent that finds it taken"},
    /* hash */
    {"buckets", "buckets", KIND(HASH), LAB_SETTING_U32, PLACE(strategy.of.hash.buckets), .scopes = BOTH,
     .required = BOTH, FROM(1, BK_BUCKETS_MAX), .change_most = LAB_CHANGED_BUCKETS_MAX, .is_rung = true,
     .told = "buckets %s", .drawn = "%s bucket{s}",
     .meaning = "buckets of each key; with `agents` at most 65536, with `then` at most 4096"},
    /* idgen */
    {"batch", "batch", IDGEN, LAB_SETTING_U32, PLACE(idgen.batch), BILLION, .standard = 100,
     .told = "batch %s", .drawn = "batches of %s", .meaning = "identifiers of a lease"},
    {"stripes", "stripes", IDGEN, LAB_SETTING_U32, PLACE(idgen.stripes), FROM(1, BK_IDGEN_STRIPES_MAX),
     .standard = 1, .told = "stripes %s", .drawn = "%s stripe{s}",
     .meaning = "locks, each with its own identifiers: stripe s of n hands out s, s + n, s + 2n ..."},
    {"choice", "choice", IDGEN, LAB_SETTING_CHOICE, PLACE(idgen.choice), .words = choices,
     .when = {"stripes", ~VALUE(1)}, .zero = LAB_ZERO_TOLD, .told = " (%s)",
     .standard_text = "`fixed` with `stripe`, else `random`",
     .meaning = "which stripe an attempt goes to: always the same, the next one, or a random one"},
    {"stripe", "stripe", IDGEN, LAB_SETTING_U32, PLACE(idgen.stripe), FROM(1, BK_IDGEN_STRIPES_MAX),
     .range = "a whole number from 1 to the number of stripes", .standard = 1,
     .when = {"choice", VALUE(BK_IDGEN_FIXED) | VALUE(BK_IDGEN_ROTATE)}, .told = "stripe %s",
     .meaning = "for `choice: fixed` the one that all clients use; for `rotate` the one where the first "
                "client begins"},
    {"lock", "lock", IDGEN, LAB_SETTING_CHOICE, PLACE(idgen.lock), .words = locks, .zero = LAB_ZERO_TOLD,
     .told = "lock %s", .drawn = "a lock of %s", .drawn_words = drawn_locks, .standard_text = "`columns`",
     .meaning = "a row with one column per client; or a row that is compared and set"},
    {"lock_lasts", "lock_lasts_ns", IDGEN, LAB_SETTING_DURATION, PLACE(idgen.lock_lasts_ns),
     FROM(2, SPAN_MAX), .standard = 5 * SIM_SECOND, .told = " of %s", .meaning = "an older lock is stale"},
    {"lease", "lease_ns", IDGEN, LAB_SETTING_DURATION, PLACE(idgen.lease_ns), SPAN, .told = "lease %s",
     .standard_text = "half of `lock_lasts`",
     .meaning = "a client uses a batch only if it learns within this time, counted from its request for the "
                "lock, that the batch is stored; must be shorter than `lock_lasts`"},
    {"backoff", NULL, IDGEN, LAB_SETTING_GROUP, 0, .standard_text = "`{random: 5ms}`",
     .meaning = "the waits between attempts"},
    {NULL, "backoff", IDGEN, LAB_SETTING_CHOICE, PLACE(idgen.backoff), .words = backoffs,
     .zero = LAB_ZERO_TOLD, .told = "back-off %s", .drawn = "back-off %s"},
    {NULL, "backoff_base_ns", IDGEN, LAB_SETTING_DURATION, PLACE(idgen.backoff_base_ns), .told = " %s",
     .drawn = " from %s"},
    {"backoff.constant", NULL, IDGEN, LAB_SETTING_WAIT, PLACE(idgen.backoff_base_ns), .words = backoffs, SPAN,
     .meaning = "every wait is that long"},
    {"backoff.exponential", NULL, IDGEN, LAB_SETTING_WAIT, PLACE(idgen.backoff_base_ns), .words = backoffs,
     SPAN, .meaning = "the first wait; each further wait is twice as long"},
    {"backoff.random", NULL, IDGEN, LAB_SETTING_WAIT, PLACE(idgen.backoff_base_ns), .words = backoffs, SPAN,
     .meaning = "the first wait is drawn between 0 and this, once for each lease; the nth wait is n times "
                "the first"},
    {"backoff.cap", "backoff_cap_ns", IDGEN, LAB_SETTING_DURATION, PLACE(idgen.backoff_cap_ns), SPAN,
     .told = "at most %s each",
     .meaning = "for `exponential`: the longest wait; must be at least the first wait"},
    {"backoff.limit", "backoff_limit_ns", IDGEN, LAB_SETTING_DURATION, PLACE(idgen.backoff_limit_ns), SPAN,
     .told = "given up at a wait of %s",
     .meaning = "a lease fails when a wait would be longer than this; the client then begins another. "
                "Must be at least the first wait"},
    {"backoff.attempts", "attempts", IDGEN, LAB_SETTING_U32, PLACE(idgen.attempts), BILLION,
     .range = ", or leave it out for any number", .told = "at most %s attempt{s}",
     .standard_text = "any number", .meaning = "a lease fails after this number of failed attempts"},
    /* observed */
    {"file", "file", OBSERVED, LAB_SETTING_TEXT, PLACE(observed_file), .required = LAB_OF_STRATEGY,
     FROM(0, 4096), .range = "the name of a file",
     .meaning = "the file, plain or compressed; relative to the scenario's folder"},
    {"format", "format", OBSERVED, LAB_SETTING_CHOICE, PLACE(observed), .words = formats,
     .standard_text = "`auto`", .meaning = "which tool wrote it; `auto`: detected from its contents"},
    {"table", "table", OBSERVED, LAB_SETTING_TEXT, PLACE(observed_table), FROM(0, 256),
     .range = "a table, as in chat.messages", .standard_text = "the only one in the file",
     .meaning = "which table, if the file has several"},
    /* of several kinds */
    {"shards", "shards", KIND(COUNT), LAB_SETTING_U32, PLACE(strategy.shards), FROM(1, BK_SHARDS_MAX),
     .needs = {"counter", VALUE(BK_SOURCE_EXTERNAL) | VALUE(BK_SOURCE_COUNTER) | VALUE(BK_SOURCE_LWT) |
                              VALUE(BK_SOURCE_LEASE)},
     .is_rung = true, .told = "shards %s", .drawn = "%s shard{s}", .standard_text = "1",
     .meaning = "partitions of each bucket of `rows` rows, as for `time`; see [shards](#shards). Not for a "
                "counter that counts stored rows"},
    {"shards", "shards", FIRES, LAB_SETTING_U32, PLACE(strategy.shards), FROM(1, BK_SHARDS_MAX),
     .is_rung = true, .told = "shards %s", .drawn = "%s shard{s}", .standard_text = "1",
     .meaning = "partitions of each bucket, as for `time`; see [shards](#shards)"},
    {"max_age", "max_age_ns", KIND(COUNT) | FIRES, LAB_SETTING_DURATION, PLACE(strategy.max_age_ns),
     MICROSECOND, .told = "max age %s", .drawn = "at most %s",
     .meaning = "the key also rolls at its first row at or after the next multiple of this since 1970; see "
                "[max_age](#max_age). For `count` only with `counter: external`, and without `agents`"},
    {"then", NULL, CHANGING, LAB_SETTING_CHANGES, 0,
     .meaning = "other settings from a date on, [see below](#then)"},
    {"at", "at_ns", CORE, LAB_SETTING_DURATION, PLACE(changes[0].at_ns), .scopes = LAB_OF_CHANGE,
     .required = LAB_OF_CHANGE, FROM(1, LONG_MAX_NS), .range = "a time after the start of the run, as in 30d",
     .meaning = "the date, after the start of the run and after the previous change, and within the run"},
    {"rollout", "rollout_ns", CORE, LAB_SETTING_DURATION, PLACE(changes[0].rollout_ns),
     .scopes = LAB_OF_CHANGE, FROM(1, LONG_MAX_NS), .range = "a duration above 0s",
     .standard_text = "none: all agents know the date in advance",
     .meaning = "each agent takes the new settings at its own moment between `at` and `at` + `rollout`, and "
                "uses that moment, by its own clock, as their date. Needs `agents`; the next change comes "
                "after the rollout"},
    {"keep_old", "keep_old", CORE, LAB_SETTING_FLAG, PLACE(changes[0].keeps_old), .scopes = LAB_OF_CHANGE,
     .words = lab_flag_words, .standard_text = "`true`",
     .meaning = "`true`: the application keeps the old settings, the time of each row selects its settings, "
                "and readers walk into older eras; `false`: from then on it knows only the new settings, as "
                "when a constant is edited"},
    {"read", NULL, CORE, LAB_SETTING_GROUP, 0, .standard_text = "as `reads` says",
     .meaning = "how its rows are [read](#read)"},
    {"read.plan", "read_plan", CORE, LAB_SETTING_CHOICE, PLACE(reading.plan), .words = lab_plan_words,
     .standard_text = "as the kind of read says", .meaning = "see [plans](#plans)"},
    {"read.at_once", "read_at_once", CORE, LAB_SETTING_U32, PLACE(reading.at_once), FROM(1, 4096),
     .needs = IS("read.plan", BK_PLAN_PARALLEL), .standard_text = "8",
     .meaning = "for `parallel`: partitions queried at once"},
    {"read.remember_empty", "remember_empty", CORE, LAB_SETTING_FLAG, PLACE(reading.remembers_empty),
     .words = lab_flag_words, .standard_text = "`false`",
     .meaning = "for `time`: readers remember the windows that they found empty, up to 32 spans of "
                "consecutive windows per key, and do not query them again. In the cluster engine each agent "
                "has its own memory, for as many keys as `cache_entries` says"},
    {"read.late", "read_late_ns", CORE, LAB_SETTING_DURATION, PLACE(reading.late_ns), FROM(0, LONG_MAX_NS),
     .standard = SIM_MINUTE, .needs = IS("read.remember_empty", true), .zero = LAB_ZERO_WRITTEN,
     .meaning = "with `remember_empty`: an empty window is remembered only if it ended at least this long "
                "before the read. Rows that come into it later are not found"},
    {"label", NULL, CORE | IDGEN | OBSERVED, LAB_SETTING_LABEL, 0, FROM(0, 64), .standard_text = "the kind",
     .meaning = "its name in results"},
};
const size_t lab_setting_count = sizeof lab_setting_table / sizeof *lab_setting_table;
