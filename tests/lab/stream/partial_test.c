/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a run of the stream engine that is killed at any time and resumed from its partial result, any number
 * of times and with any number of workers, ends exactly like an undisturbed run, and repeats no key of the
 * partial result. Method: scenarios with each kind of tally run in attempts that are killed after a random
 * number of partial results; the complete result is compared with that of an undisturbed run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../share.h"
#include "kernel/random.h"
#include "lab/context.h"
#include "same.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READS "reads: {latest: {rows: 40, rate: 30/h}, range: {span: 2h, rate: 10/h}, all: {rate: 1/h}}\n"
#define KINDS                                                                                                \
    "strategies:\n"                                                                                          \
    "  - unbucketed: {}\n"                                                                                   \
    "  - time: {window: 3h}\n"                                                                               \
    "  - count: {rows: 300, counter: external, max_age: 2d}\n"                                               \
    "  - probabilistic: {bits: 3, threshold: 40}\n"                                                          \
    "  - {label: aged, probabilistic: {bits: 3, threshold: 40, max_age: 1d}}\n"                              \
    "  - weighted: {bytes: 2KB, threshold: 40}\n"                                                            \
    "  - hash: {buckets: 64}\n"

static const struct {
    const char *name, *text;
} scenarios[] = {
    {"exact",
     "name: x\nengine: exact\nduration: 4d\nkeys: {count: 50, popularity: {zipf: 1.1}}\n"
     "arrivals: {rate: 200/h, daily: {amplitude: 0.6, peak: 20h}, bursts: {on: 1h, off: 6h, factor: 10}, "
     "spikes: [{at: 1d, lasts: 1h, factor: 20, keys: 50%}]}\n"
     "row: {bytes: {lognormal: {mean: 350, sigma: 1.0}}}\nlimits: {partition_rows: 500, "
     "tiny_rows: 10}\n" READS KINDS},
    {"read-more-than-written", "name: x\nengine: exact\nduration: 12h\nkeys: {count: 3}\n"
                               "arrivals: {rate: 20/h}\nrow: {bytes: 100}\n"
                               "reads: {latest: {rows: 30, rate: 2/s}}\n" KINDS},
    {"late", "name: x\nengine: exact\nduration: 4d\nkeys: {count: 5}\n"
             "arrivals: {rate: 100/h, late: {share: 5%, by: 2h}, resolution: 1s, "
             "backfill: {before: 2d, rate: 60/h, lasts: 1d, order: reverse}}\nrow: {bytes: 100}\n"
             "reads: {latest: {rows: 40, rate: 30/h}}\nstrategies:\n  - time: {window: 1h}\n"
             "  - count: {rows: 200, counter: external}\n"},
    {"remembers", "name: x\nengine: exact\nduration: 4d\nkeys: {count: 5}\narrivals: {rate: 20/h}\n"
                  "row: {bytes: 100}\nreads: {latest: {rows: 40, rate: 30/h}}\nstrategies:\n"
                  "  - time: {window: 10m, read: {remember_empty: true}}\n"},
    {"gone", "name: x\nengine: exact\nduration: 4d\nkeys: {count: 5}\narrivals: {rate: 100/h}\n"
             "row: {bytes: 100, ttl: 1d}\ndeletes: {share: 20%, after: 2h}\n" KINDS},
    {"changes",
     "name: x\nduration: 20d\nkeys: {count: 5}\narrivals: {rate: 50/h}\nrow: {bytes: 100}\n"
     "reads: {latest: {rows: 40, rate: 10/h}}\nstrategies:\n"
     "  - {label: a, time: {window: 1d, then: [{at: 10d, window: 2d}]}}\n"
     "  - {label: b, hash: {buckets: 4, then: [{at: 10d, buckets: 16, keep_old: false}]}}\n"
     "  - {label: c, count: {rows: 300, counter: external, then: [{at: 10d, rows: 200, keep_old: false}]}}\n"
     "  - {label: d, probabilistic: {bits: 3, threshold: 16, then: [{at: 10d, bits: 2, "
     "threshold: 16}]}}\n"},
    {"table-by-key", "name: x\nduration: 2d\nkeys: {count: 8, popularity: {zipf: 1.1}}\n"
                     "arrivals: {rate: 500/h}\nrow: {bytes: 200}\ntable:\n  name: logs\n"
                     "  columns: {log_hour: bucket, server: key, log_level: {values: 5}, message: data}\n"
                     "  partition_key: [log_hour, server]\n  clustering: [log_level]\n"
                     "strategies:\n  - time: {calendar: hour}\n"},
    {"table-of-all", "name: x\nduration: 1d\nkeys: {count: 8, popularity: {zipf: 1.1}}\n"
                     "arrivals: {rate: 500/h}\nrow: {bytes: 200}\ntable:\n  name: logs\n"
                     "  columns: {log_hour: bucket, server: key, log_level: {values: 5}, message: data}\n"
                     "  partition_key: [log_hour]\n  clustering: [server, log_level]\n"
                     "strategies:\n  - time: {calendar: hour}\n"},
    {"thinned", "name: x\nengine: thinned\nduration: 3d\nkeys: {count: 20, popularity: {zipf: 1.1}}\n"
                "arrivals: {rate: 10/s, bursts: {on: 1h, off: 6h, factor: 10}}\n"
                "row: {bytes: 100, ttl: 2d}\nlimits: {partition_rows: 5000}\n" KINDS},
    {"trace", "name: x\ntrace: {file: partial-rows.csv}\n" READS KINDS},
    {"trace-of-counts",
     "name: x\ntrace: {file: partial-counts.csv}\nrow: {bytes: {uniform: [1, 99]}}\n" READS KINDS},
    {"trace-with-a-window", "name: x\ntrace: {file: partial-rows.csv}\nstart: 1970-01-02\nduration: 2d\n"
                            "row: {ttl: 1d}\n" KINDS},
    {"thinned-and-read", "name: x\nengine: thinned\nduration: 10h\nkeys: {count: 10}\n"
                         "arrivals: {rate: 10/s}\nrow: {bytes: 100}\n"
                         "reads: {latest: {rows: 40, rate: 20/h}}\n" KINDS},
};
#define SCENARIOS (sizeof scenarios / sizeof *scenarios)

/* Keeps the newest partial result of a run, and kills the run after a number of them. */
struct keeper {
    struct lab_progress progress;
    struct lab_partial partial;
    unsigned char *kept;
    size_t size;
    unsigned puts, puts_left; /* puts_left 0: it is not killed */
    bool is_dead;
};

static void put(void *context, const unsigned char *data, size_t size)
{
    struct keeper *keeper = context;
    atomic_fetch_add(&keeper->partial.wish, 1);
    if (keeper->is_dead)
        return;
    free(keeper->kept);
    keeper->kept = malloc(size);
    keeper->size = size;
    memcpy(keeper->kept, data, size);
    keeper->puts++;
    if (keeper->puts_left > 0 && --keeper->puts_left == 0) {
        keeper->is_dead = true;
        atomic_store(&keeper->progress.stop, true);
    }
}

/* One attempt, which is killed after `puts` partial results. Returns false if it did not end by itself. */
static bool attempt(struct keeper *keeper, const struct lab_scenario *scenario, uint32_t jobs, unsigned puts,
                    struct lab_result **out)
{
    struct sim_error error = {SIM_ERROR_NONE, ""};
    unsigned char *before = keeper->kept == NULL ? NULL : malloc(keeper->size);
    if (before != NULL)
        memcpy(before, keeper->kept, keeper->size);
    keeper->partial = (struct lab_partial){
        .put = put, .context = keeper, .kept = before, .kept_size = keeper->size, .wish = 1};
    keeper->puts_left = puts;
    keeper->is_dead = false;
    atomic_store(&keeper->progress.stop, false);
    const struct lab_run_context context = {.progress = &keeper->progress, .partial = &keeper->partial};
    bool ok = lab_run_in(scenario, jobs, &context, out, &error);
    if (!ok && strstr(error.text, "stopped before the end") == NULL)
        fail_msg("%s", error.text);
    free(before);
    return ok;
}

static void check_same(const char *name, const struct lab_result *one, const struct lab_result *other)
{
    const char *difference = same_difference(one, other);
    if (difference != NULL)
        fail_msg("%s: %s differ", name, difference);
}

/* Keys appear and disappear, and one key is only in the second half. */
static void write_traces(void)
{
    struct sim_random random;
    sim_random_init(&random, 5, SIM_FUZZ, 0);
    for (int has_counts = 0; has_counts < 2; has_counts++) {
        FILE *file = fopen(has_counts ? "partial-counts.csv" : "partial-rows.csv", "w");
        assert_non_null(file);
        fprintf(file, "timestamp_ms,key,%s\n", has_counts ? "count" : "bytes");
        int64_t time_ms = 0;
        for (uint64_t line = 0; line < 400; line++) {
            time_ms += (int64_t)sim_random_below(&random, 2000000);
            fprintf(file, "%lld,key %llu,%llu\n", (long long)time_ms,
                    (unsigned long long)sim_random_below(&random, 3 + line / 50),
                    (unsigned long long)sim_random_below(&random, has_counts ? 40 : 500) + 1);
        }
        assert_int_equal(fclose(file), 0);
    }
}

static void test_partial_killed_often_ends_as_undisturbed(void **state)
{
    (void)state;
    struct sim_random random;
    sim_random_init(&random, 1, SIM_FUZZ, 0);
    for (size_t i = 0; i < SCENARIOS; i++) {
        struct lab_scenario *scenario = same_scenario(scenarios[i].text);
        struct lab_result *undisturbed = same_undisturbed(scenario), *result;
        unsigned attempts = 0, runs = 0;
        for (int run = 0; run < 4; run += (int)test_share(), runs++) {
            struct keeper keeper = {0};
            do {
                assert_true(attempts++ < 10000);
            } while (!attempt(&keeper, scenario, 1 + (uint32_t)sim_random_below(&random, 3),
                              1 + (unsigned)sim_random_below(&random, 3), &result));
            check_same(scenarios[i].name, undisturbed, result);
            lab_result_destroy(result);
            free(keeper.kept);
        }
        if (attempts < 2 * runs)
            fail_msg("%s: %u attempts in %u runs", scenarios[i].name, attempts, runs);
        lab_result_destroy(undisturbed);
        lab_scenario_destroy(scenario);
    }
}

/* A trace reports the rows that were read, not those that were run. */
static void test_partial_result_is_not_done_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < SCENARIOS; i++) {
        struct lab_scenario *scenario = same_scenario(scenarios[i].text);
        struct keeper keeper = {0};
        struct lab_result *result;
        assert_true(attempt(&keeper, scenario, 1, 0, &result));
        lab_result_destroy(result);
        unsigned all = keeper.puts;
        keeper.puts = 0;
        free(keeper.kept);
        keeper.kept = NULL;
        assert_false(attempt(&keeper, scenario, 1, (all + 1) / 2, &result));
        assert_true(attempt(&keeper, scenario, 1, 0, &result));
        if (keeper.puts > all + 1)
            fail_msg("%s: %u partial results, and %u without a kill", scenarios[i].name, keeper.puts, all);
        lab_result_destroy(result);
        free(keeper.kept);
        lab_scenario_destroy(scenario);
    }
}

static void test_partial_result_that_is_damaged_is_refused(void **state)
{
    (void)state;
    struct lab_scenario *scenario = same_scenario(scenarios[0].text);
    struct keeper keeper = {0};
    struct lab_result *result;
    struct sim_error error;
    assert_false(attempt(&keeper, scenario, 1, 2, &result));
    keeper.kept[keeper.size / 2]++;
    struct lab_partial partial = {
        .put = put, .context = &keeper, .kept = keeper.kept, .kept_size = keeper.size};
    const struct lab_run_context context = {.partial = &partial};
    assert_false(lab_run_in(scenario, 1, &context, &result, &error));
    assert_int_equal(error.class, SIM_ERROR_ENVIRONMENT);
    free(keeper.kept);
    lab_scenario_destroy(scenario);
}

int main(void)
{
    write_traces();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_partial_killed_often_ends_as_undisturbed),
        cmocka_unit_test(test_partial_result_is_not_done_again),
        cmocka_unit_test(test_partial_result_that_is_damaged_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
