/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: lint names each risk of a scenario, its column and its remedy, and is silent when the remedy has been
 * applied. Method: pairs of scenarios, one with the risk and one without; the four tables of a log; and a
 * warning's figures compared with the run that it estimates. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../scenario_of.h"
#include "lab/run.h"
#include "lab/schema.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The first warning of a risk, or NULL. */
static const struct lab_warning *find(const struct lab_warnings *warnings, enum lab_risk risk)
{
    for (size_t i = 0; i < warnings->count; i++) {
        if (warnings->items[i].risk == risk)
            return &warnings->items[i];
    }
    return NULL;
}

#define HEAD                                                                                                 \
    "duration: 10d\nkeys: {count: 50, popularity: {zipf: 1.1}}\narrivals: {rate: 20/s}\nrow: {bytes: 200, "  \
    "format: payload}\n"
#define FAST                                                                                                 \
    "duration: 10d\nkeys: {count: 50, popularity: {zipf: 1.1}}\narrivals: {rate: 500/s}\nrow: {bytes: "      \
    "200}\n"
#define WIDE    "cluster: {nodes: 12, replication_factor: 3}\n"
#define ALIKE   "duration: 10d\nkeys: {count: 50}\narrivals: {rate: 20/s}\nrow: {bytes: 200, format: payload}\n"
#define TIME(w) "strategies: [time: {window: " w "}]\n"
#define TABLE                                                                                                \
    "table:\n  name: t\n  columns: {hour: bucket, server: key, level: {values: 5}, at: time, id: id}\n"
#define UNIQUE "  clustering: [at, id]\n"

struct pair {
    enum lab_risk risk;
    bool is_certain, is_common; /* common: the risk belongs to the table, not to a strategy */
    const char *column;
    const char *text, *cure; /* parts of the message */
    const char *with, *cured;
};

static const struct pair pairs[] = {
    {LAB_RISK_UNBOUNDED, true, false, "bucket", "always the same value", "use time, count or probabilistic",
     HEAD "limits: {partition_rows: 100000}\nstrategies: [unbucketed: {}]\n",
     HEAD "limits: {partition_rows: 100000}\nstrategies: [count: {rows: 10000, counter: external}]\n"},
    {LAB_RISK_UNBOUNDED, false, false, "bucket", "one of 256 constant values", "use time, count",
     HEAD "strategies: [hash: {buckets: 256}]\n",
     HEAD "strategies: [probabilistic: {bits: 8, threshold: 40}]\n"},
    {LAB_RISK_UNBOUNDED, true, false, "server", "no column of the partition key changes over time",
     "feed a column by bucket",
     HEAD "strategies: [unbucketed: {}]\ntable: {name: t, columns: {server: key, id: id}, partition_key: "
          "[server], "
          "clustering: [id]}\n",
     HEAD TIME(
         "1h") "table: {name: t, columns: {server: key, h: bucket, id: id}, partition_key: [server, h], "
               "clustering: [id]}\n"},
    {LAB_RISK_UNBOUNDED, true, false, "bucket", "has 1440 live rows at a time", "use 'counter: incremental'",
     "duration: 10d\nkeys: {count: 50}\narrivals: {rate: 20/s}\nrow: {ttl: 1h}\nagents: {count: 2}\n"
     "strategies: [count: {rows: 2000, counter: scan, every_rows: 10}]\n",
     "duration: 10d\nkeys: {count: 50}\narrivals: {rate: 20/s}\nrow: {ttl: 2h}\nagents: {count: 2}\n"
     "strategies: [count: {rows: 2000, counter: scan, every_rows: 10}]\n"},
    {LAB_RISK_HOT_SPOT, true, true, "hour", "100 % of them, about 20 rows/s on average, go to 3 of 12 nodes",
     "put 'server' into", HEAD WIDE TIME("1h") TABLE UNIQUE "  partition_key: [hour]\n",
     HEAD WIDE TIME("1h") TABLE UNIQUE "  partition_key: [hour, server]\n"},
    {LAB_RISK_HOT_SPOT, true, true, "hour", "go to 3 of 12 nodes", "put 'server' into",
     HEAD WIDE TIME("1h") TABLE UNIQUE "  partition_key: [hour]\n",
     HEAD WIDE "strategies: [hash: {buckets: 64}]\n" TABLE UNIQUE "  partition_key: [hour]\n"},
    {LAB_RISK_SKEW, true, false, "server", "of all writes, about", "add a column of a few values",
     FAST WIDE TIME("1h") TABLE UNIQUE "  partition_key: [hour, server]\n",
     FAST WIDE TIME("1h") TABLE UNIQUE "  partition_key: [hour, server, level]\n"},
    {LAB_RISK_SKEW, true, false, "server", "of all writes, about", "add a column of a few values",
     FAST WIDE TIME("1h") TABLE UNIQUE "  partition_key: [hour, server]\n",
     HEAD WIDE TIME("1h") TABLE UNIQUE "  partition_key: [hour, server]\n"},
    {LAB_RISK_SKEW, true, false, "key", "which is over the limit; the average has", "shorter window",
     HEAD "limits: {partition_rows: 50000}\n" TIME("6h"),
     HEAD "limits: {partition_rows: 50000}\n" TIME("1h")},
    {LAB_RISK_SKEW, true, false, "key", "which is over the limit; the average has", "count or probabilistic",
     HEAD "limits: {partition_bytes: 5MB}\n" TIME("6h"),
     HEAD "limits: {partition_bytes: 5MB}\nstrategies: [probabilistic: {bits: 9, threshold: 30}]\n"},
    {LAB_RISK_LARGE, true, false, "bucket",
     "a partition gets about 34.6k rows, 6.91MB, which is over the limit", "shorter window",
     ALIKE "limits: {partition_rows: 30000}\n" TIME("1d"),
     ALIKE "limits: {partition_rows: 30000}\n" TIME("12h")},
    {LAB_RISK_LARGE, true, false, "bucket", "over the limit", "give fewer 'rows'",
     ALIKE "limits: {partition_rows: 30000}\nstrategies: [count: {rows: 30001, counter: external}]\n",
     ALIKE "limits: {partition_rows: 30000}\nstrategies: [count: {rows: 30000, counter: external}]\n"},
    {LAB_RISK_LARGE, true, false, "bucket", "over the limit", "give fewer 'rows'",
     ALIKE "limits: {partition_rows: 30000}\nstrategies: [count: {rows: 60000, counter: external}]\n",
     ALIKE "limits: {partition_rows: 30000}\nstrategies: [count: {rows: 60000, counter: external, max_age: "
           "12h}]\n"},
    {LAB_RISK_LARGE, true, false, "bucket", "a partition gets about 41.0k rows",
     "lower 'bits' or 'threshold'",
     ALIKE "limits: {partition_rows: 30000}\nstrategies: [probabilistic: {bits: 10, threshold: 40}]\n",
     ALIKE "limits: {partition_rows: 30000}\nstrategies: [probabilistic: {bits: 8, threshold: 40}]\n"},
    {LAB_RISK_LARGE, true, false, "bucket", "over the limit", "give fewer 'rows'",
     ALIKE "limits: {partition_rows: 30000}\nagents: {count: 4}\n"
           "strategies: [count: {rows: 20000, counter: memory}]\n",
     ALIKE "limits: {partition_rows: 30000}\nagents: {count: 4, routing: key}\n"
           "strategies: [count: {rows: 20000, counter: memory}]\n"},
    {LAB_RISK_LARGE, false, false, "bucket", "few partitions, if any, reach", "lower 'bits' or 'threshold'",
     ALIKE "limits: {partition_rows: 30000}\nstrategies: [probabilistic: {bits: 9, threshold: 50}]\n",
     ALIKE "limits: {partition_rows: 30000}\nstrategies: [probabilistic: {bits: 7, threshold: 50}]\n"},
    {LAB_RISK_LARGE, false, false, "bucket", "few partitions, if any, reach", "lower 'bytes' or 'threshold'",
     ALIKE "limits: {partition_bytes: 5MB}\nstrategies: [weighted: {bytes: 100KB, threshold: 40}]\n",
     ALIKE "limits: {partition_bytes: 7MB}\nstrategies: [weighted: {bytes: 100KB, threshold: 40}]\n"},
    {LAB_RISK_CELL_WALL, false, false, "bucket", "2 billion cells after", "use time, count or probabilistic",
     "duration: 10d\nkeys: {count: 1}\narrivals: {rate: 100/s}\nstrategies: [unbucketed: {}]\n",
     "duration: 10d\nkeys: {count: 1}\narrivals: {rate: 100/s}\nstrategies: [count: {rows: 10000, counter: "
     "external}]\n"},
    {LAB_RISK_CELL_WALL, true, false, "bucket", "the largest partition gets about 2.59G cells",
     "shorter window",
     "duration: 60d\nkeys: {count: 1}\narrivals: {rate: 100/s}\nrow: {cells: 10}\n" TIME("30d"),
     "duration: 60d\nkeys: {count: 1}\narrivals: {rate: 100/s}\nrow: {cells: 10}\n" TIME("10d")},
    {LAB_RISK_TOMBSTONES, false, false, "bucket",
     "about 3456 tombstones; Cassandra warns of 1000 and fails at 100000", "shorter window",
     ALIKE "deletes: {share: 10%, after: 1h}\n" TIME("1d"),
     ALIKE "deletes: {share: 10%, after: 1h}\n" TIME("2h")},
    {LAB_RISK_TOMBSTONES, true, false, "bucket", "about 311k tombstones",
     "use a time window of at most the time to live",
     "duration: 10d\nkeys: {count: 50}\narrivals: {rate: 20/s}\n"
     "row: {bytes: 200, format: payload, ttl: 1d}\nstrategies: [unbucketed: {}]\n",
     "duration: 10d\nkeys: {count: 50}\narrivals: {rate: 20/s}\n"
     "row: {bytes: 200, format: payload, ttl: 1d}\n" TIME("1d")},
    {LAB_RISK_TOMBSTONES, true, false, "bucket", "tombstones on average", "leave values unset",
     "duration: 1d\nkeys: {count: 50}\narrivals: {rate: 1/s}\n"
     "row: {absent: tombstone, columns: {a: int, b: {type: int, present: 50%}}}\n" TIME("1h"),
     "duration: 1d\nkeys: {count: 50}\narrivals: {rate: 1/s}\n"
     "row: {columns: {a: int, b: {type: int, present: 50%}}}\n" TIME("1h")},
    {LAB_RISK_EXPIRY, true, true, "bucket", "the run's last rows expire after 2038-01-19T03:14:06Z",
     "shorten 'row.ttl'",
     "start: 2026-01-19T03:14:06Z\nduration: 1s\nkeys: {count: 1}\narrivals: {rate: 20/s}\nrow: {ttl: "
     "4383d}\n" TIME("1d"),
     "start: 2026-01-19T03:14:05Z\nduration: 1s\nkeys: {count: 1}\narrivals: {rate: 20/s}\nrow: {ttl: "
     "4383d}\n" TIME("1d")},
    {LAB_RISK_WINDOWS, true, true, "bucket", "960 windows of compaction are in use, and 20 to 30",
     "a 20th to a 30th of the time to live",
     "duration: 10d\nkeys: {count: 50}\narrivals: {rate: 20/s}\n"
     "row: {ttl: 30d, compaction: {window: 1h}}\n" TIME("1h"),
     "duration: 10d\nkeys: {count: 50}\narrivals: {rate: 20/s}\n"
     "row: {ttl: 30d, compaction: {window: 1d}}\n" TIME("1h")},
    {LAB_RISK_WINDOWS, false, false, "bucket", "in about 28 windows of compaction", "shorter window",
     "duration: 60d\nkeys: {count: 50}\narrivals: {rate: 20/s}\n"
     "row: {ttl: 30d, compaction: {window: 1d}}\n" TIME("28d"),
     "duration: 60d\nkeys: {count: 50}\narrivals: {rate: 20/s}\n"
     "row: {ttl: 30d, compaction: {window: 1d}}\n" TIME("7d")},
    {LAB_RISK_OVERWRITTEN, true, false, "level", "keeps at most 5", "add a column fed by id",
     HEAD TIME("1h") TABLE "  partition_key: [hour, server]\n  clustering: [level]\n",
     HEAD TIME("1h") TABLE "  partition_key: [hour, server]\n  clustering: [level, id]\n"},
    {LAB_RISK_OVERWRITTEN, false, true, "at", "rows of one millisecond replace each other",
     "add a column fed by id", HEAD TIME("1h") TABLE "  partition_key: [hour, server]\n  clustering: [at]\n",
     HEAD TIME("1h") TABLE "  partition_key: [hour, server]\n  clustering: [at, id]\n"},
};

static void test_each_risk_is_reported_until_it_is_fixed(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(pairs); i++) {
        const struct pair *pair = &pairs[i];
        for (int cured = 0; cured < 2; cured++) {
            struct lab_scenario *scenario = scenario_of("", cured ? pair->cured : pair->with);
            struct lab_warnings warnings;
            assert_true(lab_lint(scenario, &warnings));
            const struct lab_warning *one = find(&warnings, pair->risk);
            if (cured && one != NULL)
                fail_msg("pair %zu, cured: %s: %s", i, one->column, one->text);
            if (!cured &&
                (one == NULL || strstr(one->text, pair->text) == NULL ||
                 strstr(one->cure, pair->cure) == NULL || strcmp(one->column, pair->column) != 0 ||
                 one->is_certain != pair->is_certain || (one->strategy == SIZE_MAX) != pair->is_common))
                fail_msg("pair %zu: %s: %s; %s", i, one == NULL ? "" : one->column,
                         one == NULL ? "nothing" : one->text, one == NULL ? "" : one->cure);
            lab_warnings_clear(&warnings);
            lab_scenario_destroy(scenario);
        }
    }
}

static uint32_t risks_of(const char *name)
{
    char path[512];
    struct lab_scenario *scenario;
    struct lab_warnings warnings;
    struct sim_error error;
    uint32_t risks = 0;
    snprintf(path, sizeof path, "%s/scenarios/%s.yaml", BUCKETLAB_SOURCE_DIR, name);
    if (!lab_scenario_load(path, NULL, 0, NULL, &scenario, &error))
        fail_msg("%s", error.text);
    assert_true(lab_lint(scenario, &warnings));
    for (size_t i = 0; i < warnings.count; i++)
        risks |= 1u << warnings.items[i].risk;
    lab_warnings_clear(&warnings);
    lab_scenario_destroy(scenario);
    return risks;
}

static void test_the_tables_of_a_log_have_their_own_warnings(void **state)
{
    const uint32_t hot = 1u << LAB_RISK_HOT_SPOT, lost = 1u << LAB_RISK_OVERWRITTEN;
    (void)state;
    assert_int_equal(risks_of("server-logs-1-hour"), hot | lost);
    assert_int_equal(risks_of("server-logs-2-hour-level"), hot | lost);
    assert_int_equal(risks_of("server-logs-3-hour-server"), lost);
    assert_int_equal(risks_of("server-logs-4-hour-server-level"), lost);
    assert_int_equal(risks_of("server-logs-5-every-line"), 0);
}

#define BURSTS "bursts: {on: 10m, off: 6h, factor: 50}"
#define SPIKES                                                                                               \
    "spikes: [{at: 3d, lasts: 1h, factor: 200, keys: 5}, {at: 5d, lasts: 2h, factor: 30, keys: 100%}]"
#define RATE(x, limit)                                                                                       \
    "duration: 10d\nkeys: {count: 50}\narrivals: {rate: 20/s, " x "}\nlimits: {partition_rows: " limit "}\n"

/* "about N rows" of the largest partition, compared with the run: within 2 % and 5 standard deviations. */
static void test_estimates_match_the_results(void **state)
{
    static const char *const texts[] = {
        HEAD "limits: {partition_rows: 50000}\n" TIME("6h"),
        RATE("daily: {amplitude: 0.9, peak: 20h}", "2000") TIME("1h"),
        RATE(SPIKES, "100000") TIME("1d"),
        RATE(SPIKES, "50000") TIME("30m"),
        RATE(SPIKES, "100000") "strategies: [unbucketed: {}]\n",
        RATE(SPIKES ", daily: {amplitude: 0.5, peak: 2h}", "10000") "strategies: [hash: {buckets: 4}]\n",
        RATE(BURSTS, "60000") TIME("1d"),
        RATE(BURSTS, "5000") TIME("1h"),
        RATE(SPIKES, "400000")
            TIME("2h") "table: {name: t, columns: {h: bucket, k: key, id: id}, partition_key: "
                       "[h], clustering: [id]}\n",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct lab_scenario *scenario = scenario_of("", texts[i]);
        struct lab_warnings warnings;
        struct lab_result *result;
        struct sim_error error;
        double estimated = 0;
        char power = 0;
        assert_true(lab_lint(scenario, &warnings));
        const struct lab_warning *one = find(&warnings, LAB_RISK_LARGE);
        one = one == NULL ? find(&warnings, LAB_RISK_SKEW) : one;
        one = one == NULL ? find(&warnings, LAB_RISK_UNBOUNDED) : one;
        assert_non_null(one);
        const char *figure = strstr(one->text, "the largest gets about ");
        figure = strstr(figure == NULL ? one->text : figure, "about ");
        assert_int_equal(sscanf(figure, "about %lf%c", &estimated, &power), 2);
        estimated *= power == 'k' ? 1e3 : power == 'M' ? 1e6 : 1;
        assert_true(lab_run(scenario, 1, NULL, &result, &error));
        double largest = lab_metrics_find(&result->strategies[0].metrics, "partitions.all.rows.max")->value;
        if (fabs(estimated - largest) > 0.02 * largest + 5 * sqrt(largest))
            fail_msg("%zu: estimated %g, and the largest has %g rows", i, estimated, largest);
        lab_warnings_clear(&warnings);
        lab_result_destroy(result);
        lab_scenario_destroy(scenario);
    }
}

static void test_trace_is_checked_only_against_its_table(void **state)
{
    static const char text[] = "trace: {file: rows.csv}\nstrategies: [unbucketed: {}, time: {window: 1d}]\n"
                               "table: {name: t, columns: {b: bucket, k: key}, partition_key: [b]}\n";
    (void)state;
    struct lab_scenario *scenario = scenario_of("", text);
    struct lab_warnings warnings;
    assert_true(lab_lint(scenario, &warnings));
    assert_non_null(find(&warnings, LAB_RISK_HOT_SPOT));
    assert_non_null(find(&warnings, LAB_RISK_OVERWRITTEN));
    for (size_t i = 0; i < warnings.count; i++)
        assert_true(warnings.items[i].risk == LAB_RISK_HOT_SPOT || !warnings.items[i].is_certain);
    lab_warnings_clear(&warnings);
    lab_scenario_destroy(scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_risk_is_reported_until_it_is_fixed),
        cmocka_unit_test(test_the_tables_of_a_log_have_their_own_warnings),
        cmocka_unit_test(test_estimates_match_the_results),
        cmocka_unit_test(test_trace_is_checked_only_against_its_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
