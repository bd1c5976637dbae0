/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a baseline is loaded as it was saved, a scenario has at most one baseline, and a change is complete or
 * absent. Method: made-up baselines with extreme values; invalid values, inserted by SQL; a disk whose write
 * 1, 2, 3 ... fails until saving succeeds. */
#define _DEFAULT_SOURCE
#include "../share.h"
#include "baseline_sample.h"

#include "fault_vfs.h"

static void assert_held(const char *path, const struct store_baseline *saved)
{
    struct store *store = store_must_open(path, STORE_READ);
    struct store_baseline loaded;
    struct sim_error error = {0};
    bool is_there;
    if (!store_baseline_load(store, saved->result->scenario_name, &loaded, &is_there, &error))
        fail_msg("%s", error.text);
    assert_true(is_there);
    assert_baseline_equal(saved, &loaded);
    store_baseline_clear(&loaded);
    store_close(store);
}

static void test_baselines_saved_and_loaded_are_equal(void **state)
{
    struct folder *folder = *state;
    struct store_baseline saved[] = {baseline_make("one", 6), baseline_make("two", INT64_MAX)};
    struct sim_error error = {0};
    assert_true(baseline_save(folder->db, saved, 2, &error));
    assert_int_equal(saved[0].info.run, 1);
    assert_int_equal(saved[1].info.run, 2);
    assert_held(folder->db, &saved[0]);
    assert_held(folder->db, &saved[1]);
    assert_query(folder->db, "SELECT count(*) FROM baseline_metric WHERE low IS NULL AND high IS NULL",
                 "2\n");
    struct store *store = store_must_open(folder->db, STORE_READ);
    struct store_baseline none;
    bool is_there = true;
    assert_true(store_baseline_load(store, "three", &none, &is_there, &error));
    assert_false(is_there);
    assert_null(none.result);
    store_close(store);
    store_baseline_clear(&saved[0]);
    store_baseline_clear(&saved[1]);
}

static void test_missing_database_has_no_runs(void **state)
{
    struct folder *folder = *state;
    struct store *store = store_must_open(folder->db, STORE_WRITE);
    struct store_baseline none;
    struct sim_error error = {0};
    bool is_there = true;
    assert_true(store_baseline_load(store, "one", &none, &is_there, &error));
    assert_false(is_there);
    store_close(store);
    assert_int_equal(folder_count(folder, NULL), 0);
}

static void test_new_baseline_replaces_only_the_old_one(void **state)
{
    struct folder *folder = *state;
    struct store_baseline first[] = {baseline_make("one", 6), baseline_make("two", 7)};
    struct store_baseline second = baseline_make("one", 9);
    struct sim_error error = {0};
    store_must_save_sample(folder->db, 3);
    assert_true(baseline_save(folder->db, first, 2, &error));
    second.result->digest = 42;
    assert_true(baseline_save(folder->db, &second, 1, &error));
    assert_held(folder->db, &second);
    assert_held(folder->db, &first[1]);
    assert_query(folder->db, "SELECT run, scenario FROM run ORDER BY run", "1|chat-channels\n3|two\n4|one\n");
    assert_query(folder->db, "SELECT count(*) FROM baseline_metric", "8\n");
    assert_query(folder->db, "PRAGMA foreign_key_check", "");
    store_baseline_clear(&first[0]);
    store_baseline_clear(&first[1]);
    store_baseline_clear(&second);
}

static void test_deleted_run_takes_its_baseline_along(void **state)
{
    struct folder *folder = *state;
    struct store_baseline saved = baseline_make("one", 6);
    struct sim_error error = {0};
    assert_true(baseline_save(folder->db, &saved, 1, &error));
    execute(folder->db, "PRAGMA foreign_keys = ON; DELETE FROM run");
    assert_query(folder->db,
                 "SELECT (SELECT count(*) FROM baseline) + (SELECT count(*) FROM baseline_metric)", "0\n");
    store_baseline_clear(&saved);
}

static void test_one_failed_baseline_leaves_all_unchanged(void **state)
{
    struct folder *folder = *state;
    struct store_baseline old = baseline_make("one", 6);
    struct store_baseline both[] = {baseline_make("one", 8), baseline_make("two", 8)};
    struct sim_error error = {0};
    /* Both contain the same figure twice. */
    memcpy(both[1].metrics[2].name, "writes.rows", sizeof "writes.rows");
    assert_false(baseline_save(folder->db, both, 2, &error));
    assert_int_equal(error.class, SIM_ERROR_ENVIRONMENT);
    assert_int_equal(folder_count(folder, NULL), 0);
    assert_true(baseline_save(folder->db, &old, 1, &error));
    assert_false(baseline_save(folder->db, both, 2, &error));
    assert_held(folder->db, &old);
    assert_query(folder->db, "SELECT count(*) FROM run", "1\n");
    store_baseline_clear(&old);
    store_baseline_clear(&both[0]);
    store_baseline_clear(&both[1]);
}

static void test_values_that_no_baseline_has_are_reported_as_damage(void **state)
{
    struct folder *folder = *state;
    static const char *const damages[] = {
        "UPDATE baseline SET seeds = -1",
        "PRAGMA foreign_keys = OFF; UPDATE baseline SET run = 77",
        "PRAGMA foreign_keys = OFF; UPDATE baseline SET run = -1",
        "UPDATE baseline_metric SET count = -1 WHERE label = 'time'",
        "UPDATE baseline_metric SET name = printf('%064d', 1) WHERE label = 'time'",
        "UPDATE run SET digest = 'no digest'",
    };
    struct store_baseline saved = baseline_make("one", 6);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        struct sim_error error = {0};
        struct store_baseline loaded;
        bool is_there;
        folder_empty(folder);
        assert_true(baseline_save(folder->db, &saved, 1, &error));
        execute(folder->db, damages[i]);
        struct store *store = store_must_open(folder->db, STORE_READ);
        if (store_baseline_load(store, "one", &loaded, &is_there, &error))
            fail_msg("not found: %s", damages[i]);
        assert_int_not_equal(error.class, SIM_ERROR_NONE);
        assert_null(loaded.result);
        store_close(store);
    }
    store_baseline_clear(&saved);
}

static void test_disk_full_leaves_the_old_baseline(void **state)
{
    struct folder *folder = *state;
    struct store_baseline old = baseline_make("one", 6), new = baseline_make("one", 9);
    int failed = 0;
    bool has_struck = true;
    new.result->digest = 42;
    for (long n = 0; has_struck; n = test_next_fault(n)) {
        struct sim_error error = {0};
        folder_empty(folder);
        assert_true(baseline_save(folder->db, &old, 1, &error));
        fault_set(FAULT_WRITE, true, SQLITE_FULL, n);
        bool fine = baseline_save(folder->db, &new, 1, &error);
        has_struck = fault.has_struck;
        fault_set(FAULT_NONE, false, 0, 0);
        assert_held(folder->db, fine ? &new : &old);
        assert_query(folder->db, "SELECT count(*) FROM run", "1\n");
        assert_query(folder->db, "PRAGMA integrity_check", "ok\n");
        failed += fine ? 0 : 1;
    }
    print_message("%d writes failed\n", failed);
    assert_true(failed > 1);
    store_baseline_clear(&old);
    store_baseline_clear(&new);
}

int main(void)
{
    fault_vfs_register();
    const struct CMUnitTest tests[] = {
        folder_test(test_baselines_saved_and_loaded_are_equal),
        folder_test(test_missing_database_has_no_runs),
        folder_test(test_new_baseline_replaces_only_the_old_one),
        folder_test(test_deleted_run_takes_its_baseline_along),
        folder_test(test_one_failed_baseline_leaves_all_unchanged),
        folder_test(test_values_that_no_baseline_has_are_reported_as_damage),
        folder_test(test_disk_full_leaves_the_old_baseline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
