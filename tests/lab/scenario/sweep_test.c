/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a sweep consists of the jobs of its section, in the order that the manual describes, each with the
 * scenario that the same --set arguments make; its identity changes exactly when the work of a job changes;
 * mistakes are reported with the point and its place. Method: small sections, compared with lists in this
 * file. */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lab/sweep.h"

#define HEAD                                                                                                 \
    "seed: 5\nduration: 1d\nkeys: {count: 10}\narrivals: {rate: 1/s}\n"                                      \
    "strategies:\n  - probabilistic: {bits: 4, threshold: 40}\n  - hash: {buckets: 4}\n"
#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct lab_sweep *parse_with(const char *text, const char *override, const uint64_t *seed)
{
    struct lab_sweep *sweep;
    struct sim_error error = {0};
    const struct lab_override overrides[] = {{override}};
    if (!lab_sweep_parse("x.yaml", text, strlen(text), overrides, override != NULL, seed, &sweep, &error))
        fail_msg("%s", error.text);
    return sweep;
}

static struct lab_sweep *parse(const char *text)
{
    return parse_with(text, NULL, NULL);
}

static void assert_refused(const char *text, const char *expected)
{
    struct lab_sweep *sweep;
    struct sim_error error = {0};
    assert_false(lab_sweep_parse("x.yaml", text, strlen(text), NULL, 0, NULL, &sweep, &error));
    assert_null(sweep);
    assert_int_equal(error.class, SIM_ERROR_INPUT);
    assert_string_equal(error.text, expected);
}

static uint64_t identity_of(const char *text, const char *override)
{
    struct lab_sweep *sweep = parse_with(text, override, NULL);
    uint64_t identity = sweep->identity;
    lab_sweep_destroy(sweep);
    return identity;
}

struct job {
    size_t point;
    uint64_t seed;
};

static void assert_jobs(const struct lab_sweep *sweep, const struct job *jobs, size_t count)
{
    assert_int_equal(sweep->job_count, count);
    for (size_t i = 0; i < count; i++) {
        size_t point;
        uint64_t seed;
        lab_sweep_job(sweep, i, &point, &seed);
        assert_int_equal(point, jobs[i].point);
        assert_true(seed == jobs[i].seed);
    }
}

static void test_grid_turns_its_last_path_fastest_and_the_list_follows(void **state)
{
    (void)state;
    struct lab_sweep *sweep =
        parse(HEAD "sweep:\n  seeds: [9, 3]\n  grid:\n    strategies[0].probabilistic.bits: [2, 3]\n"
                   "    arrivals.rate: [1/s, 2/s, 3/s]\n  list:\n    - {}\n    - {duration: 2d, seed: 70}\n"
                   "    - {keys: {count: 3}, reads: null}\n");
    static const char *const settings[] = {"strategies[0].probabilistic.bits=2\narrivals.rate=1/s\n",
                                           "strategies[0].probabilistic.bits=2\narrivals.rate=2/s\n",
                                           "strategies[0].probabilistic.bits=2\narrivals.rate=3/s\n",
                                           "strategies[0].probabilistic.bits=3\narrivals.rate=1/s\n",
                                           "strategies[0].probabilistic.bits=3\narrivals.rate=2/s\n",
                                           "strategies[0].probabilistic.bits=3\narrivals.rate=3/s\n",
                                           "",
                                           "duration=2d\n",
                                           "keys={count: 3}\nreads=null\n"};
    static const struct job jobs[] = {{0, 9}, {0, 3}, {1, 9}, {1, 3}, {2, 9}, {2, 3},  {3, 9}, {3, 3}, {4, 9},
                                      {4, 3}, {5, 9}, {5, 3}, {6, 9}, {6, 3}, {7, 70}, {8, 9}, {8, 3}};
    assert_int_equal(sweep->point_count, COUNT(settings));
    for (size_t i = 0; i < COUNT(settings); i++)
        assert_string_equal(sweep->points[i].settings, settings[i]);
    assert_jobs(sweep, jobs, COUNT(jobs));
    assert_string_equal(sweep->name, "x");
    lab_sweep_destroy(sweep);
}

static void test_seeds_count_from_the_scenarios_own(void **state)
{
    (void)state;
    static const struct job from_5[] = {{0, 5}, {0, 6}, {0, 7}}, from_8[] = {{0, 8}, {0, 9}, {0, 10}};
    struct lab_sweep *sweep = parse(HEAD "sweep: {seeds: 3}\n");
    assert_jobs(sweep, from_5, 3);
    lab_sweep_destroy(sweep);
    sweep = parse_with(HEAD "sweep: {seeds: 3}\n", "seed=8", NULL);
    assert_jobs(sweep, from_8, 3);
    lab_sweep_destroy(sweep);
    const uint64_t seed = 8;
    sweep = parse_with(HEAD "sweep: {seeds: {count: 3}}\n", "seed=2", &seed);
    assert_jobs(sweep, from_8, 3);
    lab_sweep_destroy(sweep);
    sweep = parse_with(HEAD "sweep: {seeds: {from: 8, count: 3}}\n", NULL, NULL);
    assert_jobs(sweep, from_8, 3);
    lab_sweep_destroy(sweep);
    sweep = parse(HEAD "sweep: {grid: {duration: [2d]}}\n");
    assert_jobs(sweep, from_5, 1);
    lab_sweep_destroy(sweep);
}

static void test_job_is_the_scenario_of_its_overrides(void **state)
{
    (void)state;
    struct lab_sweep *sweep = parse_with(HEAD "sweep:\n  seeds: 2\n  grid:\n"
                                              "    strategies.probabilistic.bits: [2, 3]\n"
                                              "    row.bytes: [{lognormal: {mean: 350, sigma: 1.0}}, 7]\n",
                                         "duration=3d", NULL);
    struct lab_scenario *scenario;
    struct sim_error error = {0};
    assert_true(lab_sweep_scenario(sweep, 5, &scenario, &error));
    assert_string_equal(scenario->overrides, "duration=3d\nstrategies.probabilistic.bits=3\n"
                                             "row.bytes={lognormal: {mean: 350, sigma: 1.0}}\n");
    assert_int_equal(scenario->strategies[0].settings.strategy.of.probabilistic.bits, 3);
    assert_int_equal(scenario->workload.row_bytes.kind, SIM_SIZE_LOGNORMAL);
    assert_true(scenario->workload.duration_ns == INT64_C(3) * 86400 * 1000000000);
    assert_true(scenario->seed == 6 && scenario->workload.seed == 6);
    lab_scenario_destroy(scenario);
    assert_true(lab_sweep_scenario(sweep, 2, &scenario, &error));
    assert_int_equal(scenario->strategies[0].settings.strategy.of.probabilistic.bits, 2);
    assert_int_equal(scenario->workload.row_bytes.kind, SIM_SIZE_CONSTANT);
    assert_true(scenario->seed == 5);
    lab_scenario_destroy(scenario);
    lab_sweep_destroy(sweep);
}

static void test_identity_changes_only_with_the_content_of_a_job(void **state)
{
    (void)state;
    static const char base[] = HEAD "sweep: {seeds: 2, grid: {strategies.hash.buckets: [2, 3]}}\n";
    const uint64_t identity = identity_of(base, NULL);
    static const char *const same[] = {
        "# a comment\n" HEAD "sweep: {seeds: 2, grid: {strategies.hash.buckets: [2, 3]}}\n",
        HEAD "\nsweep:\n  seeds: {from: 5, count: 2}\n  grid: {\"strategies.hash.buckets\": ['2', 3]}\n",
        HEAD "sweep:\n  seeds: [5, 6]\n  grid: {strategies.hash.buckets: [2, 3]}\n",
    };
    for (size_t i = 0; i < COUNT(same); i++)
        assert_true(identity_of(same[i], NULL) == identity);
    assert_true(identity_of(HEAD "sweep: {seeds: 2}\n",
                            "sweep={seeds: 2, grid: {strategies.hash.buckets: [2, 3]}}") == identity);
    static const char *const others[] = {
        HEAD "sweep: {seeds: 3, grid: {strategies.hash.buckets: [2, 3]}}\n",
        HEAD "sweep: {seeds: [6, 5], grid: {strategies.hash.buckets: [2, 3]}}\n",
        HEAD "sweep: {seeds: 2, grid: {strategies.hash.buckets: [3, 2]}}\n",
        HEAD "sweep: {seeds: 2, grid: {strategies.hash.buckets: [2, 4]}}\n",
        HEAD "name: y\nsweep: {seeds: 2, grid: {strategies.hash.buckets: [2, 3]}}\n",
        HEAD "row: {bytes: 7}\nsweep: {seeds: 2, grid: {strategies.hash.buckets: [2, 3]}}\n",
    };
    for (size_t i = 0; i < COUNT(others); i++)
        assert_true(identity_of(others[i], NULL) != identity);
    assert_true(identity_of(base, "duration=2d") != identity);
}

static void check_file(const char *section, const char *head, const char *line)
{
    char folder[] = "/tmp/bucketlab-sweep-XXXXXX", path[64], text[256];
    uint64_t identities[2];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.csv", folder);
    snprintf(text, sizeof text, section, path);
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fprintf(file, "%s%d%s", head, i + 1, line);
        fclose(file);
        identities[i] = identity_of(text, NULL);
    }
    assert_true(identities[0] != identities[1]);
    remove(path);
    struct lab_sweep *sweep;
    struct sim_error error = {0};
    assert_false(lab_sweep_parse("x.yaml", text, strlen(text), NULL, 0, NULL, &sweep, &error));
    assert_int_equal(error.class, SIM_ERROR_INPUT);
    assert_non_null(strstr(error.text, "a.csv: cannot be opened (No such file"));
    rmdir(folder);
}

static void test_identity_changes_with_the_files(void **state)
{
    (void)state;
    check_file("trace: {file: %s}\nstrategies: [unbucketed: {}]\nsweep: {seeds: 2}\n",
               "timestamp_ms,key,bytes\n", ",a,10\n");
    check_file("keys: {count: 1}\nduration: 1h\narrivals: {rate: 1/h}\n"
               "strategies: [unbucketed: {}, observed: {file: %s}]\nsweep: {seeds: 2}\n",
               "key,size,rowCount\na,", ",10\n");
}

static void test_error_names_the_point_and_its_place(void **state)
{
    (void)state;
    assert_refused(HEAD, "x.yaml:1:1: no 'sweep' in it; add one, as in sweep: {seeds: 20, grid: "
                         "{arrivals.rate: [100/s, 200/s]}}");
    assert_refused(HEAD "sweeps: {seeds: 2}\n", "x.yaml:8:1: unknown field 'sweeps'; did you mean 'sweep'?");
    assert_refused(HEAD "sweep:\n", "x.yaml:8:1: 'sweep' has no value; give it one, or remove it");
    assert_refused(HEAD "sweep:\n  grid:\n    strategies.probabilistic.bits: [2, 99]\n",
                   "x.yaml:10:40: point 2: 'bits: 99': out of range; give a whole number from 0 to 32");
    assert_refused(HEAD "sweep:\n  list:\n    - {duration: 2d, strategies.hash.bukkets: 3}\n",
                   "x.yaml:10:47: point 1: unknown field 'bukkets' under 'hash'; did you mean 'buckets'?");
    assert_refused(HEAD "sweep:\n  grid:\n    strategies[9].hash: [{buckets: 2}]\n",
                   "x.yaml:10:26: point 1: 'strategies' has 2 elements, counted from 0; there is no [9]");
    assert_refused(HEAD "expect: [unbucketed.partitions.total < 3]\nsweep:\n  grid: {duration: [2d]}\n",
                   "x.yaml:8:10: no strategy has the label 'unbucketed'; begin with one of the strategies' "
                   "labels (point 1 "
                   "of the sweep, line 10: duration=2d)");
    assert_refused(HEAD "sweep: {seeds: {from: 18446744073709551615, count: 2}}\n",
                   "x.yaml:8:8: 2 seeds from 18446744073709551615 on exceed 2^64 - 1; begin lower");
}

static void test_sizes_are_bounded(void **state)
{
    (void)state;
    char text[4096] = HEAD "sweep:\n  seeds: 1000000\n  grid: {duration: [1d, 2d]}\n";
    assert_refused(text, "x.yaml:9:3: more than 1000000 jobs, 2 points with 1000000 seeds; leave out points "
                         "or seeds");
    char list[512] = "1d";
    for (int i = 2; i <= 22; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), ", %dd", i);
    snprintf(text, sizeof text, HEAD "sweep:\n  grid:\n    duration: [%s]\n    a: [%s]\n    b: [%s]\n", list,
             list, list);
    assert_refused(text, "x.yaml:10:5: more than 10000 combinations; leave out values, or sweep one path "
                         "after the other");
}

static void test_settings_are_described_within_their_room(void **state)
{
    (void)state;
    static const char settings[] = "strategies[0].probabilistic.bits=7\narrivals.rate=1.5/s\n";
    char buffer[64];
    assert_string_equal(lab_sweep_describe("", true, buffer, sizeof buffer), "as it stands");
    assert_string_equal(lab_sweep_describe(settings, true, buffer, sizeof buffer), "bits=7, rate=1.5/s");
    assert_string_equal(lab_sweep_describe(settings, false, buffer, sizeof buffer),
                        "strategies[0].probabilistic.bits=7, arrivals.rate=1.5/s");
    assert_string_equal(lab_sweep_describe(settings, true, buffer, 12), "bits=7, ...");
    assert_string_equal(lab_sweep_describe("name=\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\n", true, buffer, 12),
                        "name=\xc3\xa4...");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grid_turns_its_last_path_fastest_and_the_list_follows),
        cmocka_unit_test(test_seeds_count_from_the_scenarios_own),
        cmocka_unit_test(test_job_is_the_scenario_of_its_overrides),
        cmocka_unit_test(test_identity_changes_only_with_the_content_of_a_job),
        cmocka_unit_test(test_identity_changes_with_the_files),
        cmocka_unit_test(test_error_names_the_point_and_its_place),
        cmocka_unit_test(test_sizes_are_bounded),
        cmocka_unit_test(test_settings_are_described_within_their_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
