/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a run of the stream engine that is killed at any of its safe points and resumed from its snapshots,
 * any number of times and with any number of workers, ends exactly like an undisturbed run, and does not
 * repeat finished work. Method: scenarios with each kind of state that a lane, a key or a table can have run
 * in attempts that are killed after a random number of states; the complete result is compared with that of
 * an undisturbed run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../share.h"
#include "resume.h"

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
    {"one-key", "name: x\nengine: exact\nduration: 20d\nkeys: {count: 1}\narrivals: {rate: 100/h}\n"
                "row: {bytes: 100}\n" READS KINDS},
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
    {"trace", "name: x\ntrace: {file: resume-rows.csv}\n" READS KINDS},
    {"trace-of-counts",
     "name: x\ntrace: {file: resume-counts.csv}\nrow: {bytes: {uniform: [1, 99]}}\n" READS KINDS},
    {"trace-with-a-window", "name: x\ntrace: {file: resume-rows.csv}\nstart: 1970-01-02\nduration: 2d\n"
                            "row: {ttl: 1d}\n" KINDS},
    {"thinned-piece", "name: x\nengine: thinned\nduration: 4s\nkeys: {count: 1}\n"
                      "arrivals: {rate: 500000/s}\nrow: {bytes: 100}\nstrategies:\n"
                      "  - probabilistic: {bits: 2, threshold: 40}\n  - time: {window: 10us}\n"
                      "  - {label: aged, probabilistic: {bits: 2, threshold: 40, max_age: 1s}}\n"},
    {"thinned-and-read", "name: x\nengine: thinned\nduration: 10h\nkeys: {count: 10}\n"
                         "arrivals: {rate: 10/s}\nrow: {bytes: 100}\n"
                         "reads: {latest: {rows: 40, rate: 20/h}}\n" KINDS},
};
#define SCENARIOS (sizeof scenarios / sizeof *scenarios)

static void check_same(const char *name, const struct lab_result *one, const struct lab_result *other)
{
    const char *difference = resume_difference(one, other);
    if (difference != NULL)
        fail_msg("%s: %s differ", name, difference);
}

/* Keys appear and disappear, and one key is only in the second half. */
static void write_traces(void)
{
    struct sim_random random;
    sim_random_init(&random, 5, SIM_FUZZ, 0);
    for (int has_counts = 0; has_counts < 2; has_counts++) {
        FILE *file = fopen(has_counts ? "resume-counts.csv" : "resume-rows.csv", "w");
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

/* The number of states that an undisturbed run puts if a state is requested at every safe point. */
static uint64_t count_puts(const struct lab_scenario *scenario, uint32_t jobs)
{
    struct resume_keeper keeper;
    struct lab_result *result;
    resume_keeper_init(&keeper);
    assert_true(resume_attempt(&keeper, scenario, jobs, 0, &result));
    uint64_t puts = keeper.puts;
    lab_result_destroy(result);
    resume_keeper_clear(&keeper);
    return puts;
}

/* When only a part of the tests runs, the two tests below take alternate scenarios, so that each scenario is
 * tested. */
static size_t turns(void)
{
    return test_share() > 1 ? 2 : 1;
}

static void test_resume_killed_often_ends_as_undisturbed(void **state)
{
    (void)state;
    struct sim_random random;
    sim_random_init(&random, 1, SIM_FUZZ, 0);
    for (size_t i = 0; i < SCENARIOS; i += turns()) {
        struct lab_scenario *scenario = resume_scenario(scenarios[i].text);
        struct lab_result *undisturbed = resume_undisturbed(scenario), *result;
        uint64_t puts = count_puts(scenario, 1);
        unsigned attempts = 0;
        for (int run = 0; run < 6; run += (int)test_share()) {
            /* From a few attempts to a few dozen. */
            uint64_t most = 1 + puts / (run < 3 ? 4 : 20);
            attempts += resume_run(scenario, &random, most, run % 2 == 1, &result);
            check_same(scenarios[i].name, undisturbed, result);
            lab_result_destroy(result);
        }
        if (puts < 8 || attempts < test_part(18))
            fail_msg("%s: %u attempts, %u states", scenarios[i].name, attempts, (unsigned)puts);
        lab_result_destroy(undisturbed);
        lab_scenario_destroy(scenario);
    }
}

static void test_resume_at_90_percent_does_little_again(void **state)
{
    (void)state;
    for (size_t i = turns() - 1; i < SCENARIOS; i += turns()) {
        struct lab_scenario *scenario = resume_scenario(scenarios[i].text);
        struct resume_keeper keeper;
        struct lab_result *result = resume_undisturbed(scenario);
        uint64_t puts = count_puts(scenario, 2), rows = result->rows;
        lab_result_destroy(result);
        resume_keeper_init(&keeper);
        if (!resume_attempt(&keeper, scenario, 2, puts * 9 / 10, &result)) {
            uint64_t rows_before = atomic_load(&keeper.progress.rows), puts_before = keeper.puts;
            assert_true(resume_attempt(&keeper, scenario, 2, 0, &result));
            uint64_t rows_again = atomic_load(&keeper.progress.rows) - rows_before;
            uint64_t puts_again = keeper.puts - puts_before;
            /* States are put in the order of work, and two workers are one or two batches apart; the work of
             * the last batches may be lost. With a trace, progress reports the rows that were read and not
             * the rows that were run, so its states are counted. */
            if (rows_again > rows * 15 / 100 + 1024 || puts_again > puts * 15 / 100 + 4)
                fail_msg("%s: %u of %u rows again, %u of %u states", scenarios[i].name, (unsigned)rows_again,
                         (unsigned)rows, (unsigned)puts_again, (unsigned)puts);
        }
        lab_result_destroy(result);
        resume_keeper_clear(&keeper);
        lab_scenario_destroy(scenario);
    }
}

/* A task in two states would be counted twice. */
static void test_resume_refuses_a_task_that_is_in_two_states(void **state)
{
    (void)state;
    /* A state of many keys, most of which are done, and a state of the key under way. */
    for (size_t i = 0; i < 2; i++) {
        struct lab_scenario *scenario = resume_scenario(scenarios[i].text);
        struct resume_keeper keeper;
        struct lab_result *result;
        struct sim_error error;
        resume_keeper_init(&keeper);
        assert_false(resume_attempt(&keeper, scenario, 1, count_puts(scenario, 1) / 2, &result));
        assert_int_equal(keeper.snapshots.kept_count, 1);
        const struct lab_kept twice[] = {keeper.kept[0], {1, keeper.kept[0].data, keeper.kept[0].size}};
        struct lab_snapshots mine = {
            .put = keeper.snapshots.put, .context = &keeper, .kept = twice, .kept_count = 2};
        struct lab_progress progress = {0};
        const struct lab_run_context context = {.progress = &progress, .snapshots = &mine};
        for (uint32_t jobs = 1; jobs <= 2; jobs++) {
            assert_false(lab_run_in(scenario, jobs, &context, &result, &error));
            assert_int_equal(error.class, SIM_ERROR_INPUT);
        }
        resume_keeper_clear(&keeper);
        lab_scenario_destroy(scenario);
    }
}

int main(void)
{
    write_traces();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resume_killed_often_ends_as_undisturbed),
        cmocka_unit_test(test_resume_at_90_percent_does_little_again),
        cmocka_unit_test(test_resume_refuses_a_task_that_is_in_two_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
