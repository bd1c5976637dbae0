/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a run's sample consists of the runs of the same scenario, overrides and version, one per seed, and no
 * others. Method: runs that differ from the first one in a single respect; the list must hold exactly those
 * that belong to it. */
#define _DEFAULT_SOURCE
#include "sample.h"

static int64_t save(struct store *store, uint64_t seed, const struct store_run_info *like, const char *source)
{
    struct store_run_info info = *like;
    struct sim_error error = {0};
    struct lab_result *result = sample_make(1);
    result->seed = seed;
    free(result->source);
    result->source = text_copy(source);
    assert_true(store_save_run(store, &info, result, &error));
    lab_result_destroy(result);
    return info.run;
}

/* "seed:run seed:run". */
static void assert_sample(struct store *store, int64_t run, const char *expected)
{
    struct store_seed *seeds;
    size_t count, used = 0;
    char text[512] = "";
    struct sim_error error = {0};
    assert_true(store_list_seeds(store, run, &seeds, &count, &error));
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%llu:%lld", i == 0 ? "" : " ",
                                 (unsigned long long)seeds[i].seed, (long long)seeds[i].run);
    assert_string_equal(text, expected);
    free(seeds);
}

static void test_sample_has_one_scenario_and_version(void **state)
{
    struct folder *folder = *state;
    struct store *store = store_must_open(folder->db, STORE_WRITE);
    struct store_run_info first = sample_info(), other;
    assert_sample(store, 1, "");
    assert_int_equal(save(store, 5, &first, "synthetic"), 1);
    assert_sample(store, 1, "5:1");
    assert_sample(store, 2, "");
    save(store, UINT64_MAX, &first, "synthetic");
    save(store, 3, &first, "synthetic");
    save(store, 5, &first, "synthetic"); /* of several runs of a seed the newest counts */
    other = first;
    other.scenario_path = "elsewhere.yaml"; /* the path of a synthetic workload is ignored */
    save(store, 4, &other, "synthetic");
    other = first;
    other.version = "0.0.9";
    save(store, 6, &other, "synthetic");
    other = first;
    other.scenario_text = "name: chat-channels\nseed: 2\n";
    save(store, 7, &other, "synthetic");
    for (int64_t run = 1; run <= 5; run++)
        assert_sample(store, run, "3:3 4:5 5:4 18446744073709551615:2");
    assert_sample(store, 6, "6:6");
    assert_sample(store, 7, "7:7");
    store_close(store);
}

static void test_overrides_count_but_that_of_the_seed(void **state)
{
    struct folder *folder = *state;
    static const char *const same[] = {"a=1\nb=2\n", "seed=7\na=1\nb=2\n", "a=1\nseed=7\nb=2\n",
                                       "a=1\nb=2\nseed=7", "a=1\nb=2"};
    static const char *const others[] = {
        "", "a=1\n", "a=1\nb=2\nc=3\n", "b=2\na=1\n", "a=1\nb=21\n", "seed.x=1\na=1\nb=2\n", "seed=1"};
    struct store *store = store_must_open(folder->db, STORE_WRITE);
    struct store_run_info info = sample_info();
    for (size_t i = 0; i < 5; i++) {
        info.overrides = same[i];
        save(store, 10 + i, &info, "synthetic");
    }
    for (size_t i = 0; i < 7; i++) {
        info.overrides = others[i];
        save(store, 20 + i, &info, "synthetic");
    }
    for (int64_t run = 1; run <= 5; run++)
        assert_sample(store, run, "10:1 11:2 12:3 13:4 14:5");
    assert_sample(store, 6, "20:6 26:12"); /* no overrides, and only the seed's */
    for (int64_t run = 7; run <= 11; run++) {
        char alone[64];
        snprintf(alone, sizeof alone, "%d:%d", (int)run + 14, (int)run);
        assert_sample(store, run, alone);
    }
    store_close(store);
}

/* More than the list's first capacity; runs stored before overrides were introduced have none. */
static void test_sample_may_have_many_seeds(void **state)
{
    struct folder *folder = *state;
    struct store *store = store_must_open(folder->db, STORE_WRITE);
    struct store_run_info info = sample_info();
    struct store_seed *seeds;
    struct sim_error error = {0};
    size_t count;
    info.overrides = NULL;
    save(store, 7, &info, "synthetic");
    info.overrides = "seed=8";
    save(store, 8, &info, "synthetic");
    execute(folder->db, "WITH RECURSIVE n (i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 149) "
                        "INSERT INTO run SELECT i, scenario, about, source, 1000 - i, digest, rows, keys, "
                        "start_ns, end_ns, limit_partition_rows, limit_partition_bytes, limit_tiny_rows, "
                        "created_unix_s, elapsed_ms, version, scenario_path, scenario_text, overrides, "
                        "1 FROM n, run WHERE run = 1");
    assert_true(store_list_seeds(store, 1, &seeds, &count, &error));
    assert_int_equal(count, 52);
    assert_true(seeds[0].seed == 7 && seeds[0].run == 1 && seeds[1].seed == 8 && seeds[1].run == 2);
    for (size_t i = 2; i < count; i++)
        assert_true(seeds[i].seed == 849 + i && seeds[i].run == 151 - (int64_t)i);
    free(seeds);
    store_close(store);
}

static void test_a_trace_is_the_same_at_the_same_path(void **state)
{
    struct folder *folder = *state;
    struct store *store = store_must_open(folder->db, STORE_WRITE);
    struct store_run_info info = sample_info();
    save(store, 1, &info, "rows.csv");
    save(store, 2, &info, "rows.csv");
    info.scenario_path = "elsewhere.yaml";
    save(store, 3, &info, "rows.csv");
    assert_sample(store, 1, "1:1 2:2");
    assert_sample(store, 3, "3:3");
    store_close(store);
}

static void test_metrics_are_those_of_one_strategy(void **state)
{
    struct folder *folder = *state;
    struct store *store = store_must_open(folder->db, STORE_WRITE);
    struct store_run_info info = sample_info();
    save(store, 1, &info, "synthetic");
    struct lab_result *result;
    struct sim_error error = {0};
    assert_true(store_load_run(store, 1, NULL, &result, &error));
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_metrics *expected = &result->strategies[i].metrics;
        struct lab_metrics metrics = {.items = NULL};
        assert_true(store_load_metrics(store, 1, result->strategies[i].label, &metrics, &error));
        assert_int_equal(metrics.count, expected->count);
        for (size_t j = 0; j < metrics.count; j++) {
            assert_string_equal(metrics.items[j].name, expected->items[j].name);
            assert_true(metrics.items[j].value == expected->items[j].value);
        }
        free(metrics.items);
    }
    struct lab_metrics none = {.items = NULL};
    assert_true(store_load_metrics(store, 1, "nobody", &none, &error));
    assert_true(store_load_metrics(store, 2, "none", &none, &error));
    assert_int_equal(none.count, 0);
    lab_result_destroy(result);
    store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        folder_test(test_sample_has_one_scenario_and_version),
        folder_test(test_overrides_count_but_that_of_the_seed),
        folder_test(test_sample_may_have_many_seeds),
        folder_test(test_a_trace_is_the_same_at_the_same_path),
        folder_test(test_metrics_are_those_of_one_strategy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
