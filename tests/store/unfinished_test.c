/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: an unfinished run keeps its number, its scenario and the newest state of each part, whatever the disk
 * does; a program that has lost the run to another program changes nothing; and a run ends once. Method:
 * states that replace each other by the rule of parts; two programs that take turns; a file system of which
 * write 1, 2, 3 ... fails while a state is stored. */
#define _DEFAULT_SOURCE
#include "sample.h"

#include "fault_vfs.h"
#include "store/unfinished.h"

static struct store_unfinished sample_unfinished(void)
{
    return (struct store_unfinished){.scenario_name = (char *)(uintptr_t) "chat",
                                     .seed = UINT64_MAX,
                                     .sources = 77,
                                     .created_unix_s = 1000,
                                     .elapsed_ms = 5,
                                     .version = (char *)(uintptr_t) "0.1.0",
                                     .scenario_path = (char *)(uintptr_t) "/x/chat.yaml",
                                     .scenario_text = (char *)(uintptr_t) "name: chat\n",
                                     .overrides = (char *)(uintptr_t) "seed=1"};
}

static int64_t begin(struct store *store, struct store_unfinished *run)
{
    struct sim_error error;
    *run = sample_unfinished();
    if (!store_unfinished_begin(store, run, &error))
        fail_msg("%s", error.text);
    return run->run;
}

static bool put(struct store *store, const struct store_unfinished *run, uint32_t part, uint32_t parts,
                const char *text, struct sim_error *error)
{
    return store_snapshot_put(store, run, part, parts, (const unsigned char *)text, strlen(text), error);
}

/* "0:text 3:other" */
static void assert_states(struct store *store, int64_t run, const char *expected)
{
    struct store_snapshot *states;
    size_t count, used = 0;
    struct sim_error error;
    char text[1024] = "";
    assert_true(store_snapshots_load(store, run, &states, &count, &error));
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%u:%.*s", i == 0 ? "" : " ",
                                 states[i].part, (int)states[i].size, (const char *)states[i].data);
    assert_string_equal(text, expected);
    store_snapshots_free(states, count);
}

static void test_unfinished_run_is_loaded_as_it_was_stored(void **state)
{
    (void)state;
    struct folder folder = folder_make();
    store_must_save_sample(folder.db, 5);
    struct store *store = store_must_open(folder.db, STORE_WRITE);
    struct store_unfinished told, found;
    struct sim_error error;
    bool is_there;
    assert_int_equal(begin(store, &told), 2);
    assert_true(store_unfinished_load(store, 0, &found, &is_there, &error) && is_there);
    assert_true(found.run == 2 && found.attempt == 1 && !found.is_stopped && found.seed == UINT64_MAX);
    assert_true(found.sources == 77 && found.created_unix_s == 1000 && found.elapsed_ms == 5);
    assert_string_equal(found.scenario_name, "chat");
    assert_string_equal(found.version, "0.1.0");
    assert_string_equal(found.scenario_path, "/x/chat.yaml");
    assert_string_equal(found.scenario_text, "name: chat\n");
    assert_string_equal(found.overrides, "seed=1");
    store_unfinished_clear(&found);
    told.elapsed_ms = 9;
    assert_true(store_unfinished_stop(store, &told, &error));
    assert_query(folder.db, "SELECT state, elapsed_ms, parts FROM unfinished_runs", "stopped|9|0\n");
    /* No other run gets its number, and it is not among the finished runs. */
    assert_int_equal(store_must_save_sample(folder.db, 5), 3);
    assert_query(folder.db, "SELECT run FROM runs", "1\n3\n");
    assert_true(store_unfinished_load(store, 1, &found, &is_there, &error) && !is_there);
    store_close(store);
    folder_remove(&folder);
}

static void test_run_is_dropped_only_by_its_own_attempt(void **state)
{
    (void)state;
    struct folder folder = folder_make();
    struct store *store = store_must_open(folder.db, STORE_WRITE);
    struct store_unfinished first, second;
    struct sim_error error;
    begin(store, &first);
    assert_true(put(store, &first, 0, 1, "it", &error));
    second = first;
    assert_true(store_unfinished_take(store, &second, &error));
    assert_false(store_unfinished_drop(store, &first, &error));
    assert_int_equal(error.class, SIM_ERROR_CHECK);
    assert_query(folder.db, "SELECT state, attempt, parts FROM unfinished_runs", "running|2|1\n");
    assert_true(store_unfinished_drop(store, &second, &error));
    assert_query(folder.db, "SELECT (SELECT count(*) FROM unfinished), (SELECT count(*) FROM snapshot)",
                 "0|0\n");
    store_close(store);
    folder_remove(&folder);
}

static void test_newer_states_replace_older_ones(void **state)
{
    (void)state;
    struct folder folder = folder_make();
    struct store *store = store_must_open(folder.db, STORE_WRITE);
    struct store_unfinished run, other;
    struct sim_error error;
    begin(store, &run);
    begin(store, &other);
    assert_true(put(store, &other, 0, 1, "other", &error));
    for (uint32_t part = 0; part < 4; part++)
        assert_true(put(store, &run, part, 4, "old", &error));
    assert_states(store, run.run, "0:old 1:old 2:old 3:old");
    assert_true(put(store, &run, 2, 4, "new", &error));
    assert_states(store, run.run, "0:old 1:old 2:new 3:old");
    assert_true(put(store, &run, 1, 2, "half", &error)); /* of two parts now: it replaces 1 and 3 */
    assert_states(store, run.run, "0:old 1:half 2:new");
    assert_true(put(store, &run, 0, 1, "all", &error));
    assert_states(store, run.run, "0:all");
    assert_states(store, other.run, "0:other");
    /* A state whose bytes were lost is loaded as empty; its reader detects that. */
    execute(folder.db, "UPDATE snapshot SET bytes = x'' WHERE run = 2");
    assert_states(store, other.run, "0:");
    /* A state of more than one piece is loaded completely. */
    size_t size = ((size_t)64 << 20) + 5, count;
    unsigned char *large = malloc(size);
    for (size_t i = 0; i < size; i++)
        large[i] = (unsigned char)(i * 7 >> 3);
    assert_true(store_snapshot_put(store, &run, 0, 1, large, size, &error));
    assert_query(folder.db, "SELECT count(*) FROM snapshot WHERE run = 1", "2\n");
    struct store_snapshot *states;
    assert_true(store_snapshots_load(store, run.run, &states, &count, &error));
    assert_true(count == 1 && states[0].size == size && memcmp(states[0].data, large, size) == 0);
    store_snapshots_free(states, count);
    free(large);
    store_close(store);
    folder_remove(&folder);
}

static void assert_not_loaded(struct store *store, int64_t run, const char *words)
{
    struct lab_result *result;
    struct sim_error error;
    assert_false(store_load_run(store, run, NULL, &result, &error));
    assert_int_equal(error.class, SIM_ERROR_INPUT);
    assert_non_null(strstr(error.text, words));
}

static void test_unfinished_run_is_named_when_requested(void **state)
{
    (void)state;
    struct folder folder = folder_make();
    struct store *store = store_must_open(folder.db, STORE_WRITE);
    struct store_unfinished first, second;
    begin(store, &first);
    begin(store, &second);
    assert_not_loaded(store, 1, "runs.db: run 1 is not finished; `bucketlab run --resume 1` resumes it");
    assert_not_loaded(store, 0, "runs.db: run 2 is not finished; `bucketlab run --resume 2` resumes it");
    assert_not_loaded(store, 3, "has no run yet");
    store_must_save_sample(folder.db, 1);
    assert_not_loaded(store, 1, "run 1 is not finished");
    assert_not_loaded(store, 4, "no run 4; it has run 3");
    store_close(store);
    folder_remove(&folder);
}

/* Otherwise the program would take the run for one that another program has finished. */
static void test_run_that_cannot_start_has_no_number(void **state)
{
    (void)state;
    struct folder folder = folder_make();
    struct store *store = store_must_open(folder.db, STORE_WRITE);
    struct store_unfinished run;
    struct sim_error error;
    begin(store, &run);
    int failed = 0;
    bool has_struck = true;
    for (long n = 0; has_struck; n++) {
        run = sample_unfinished();
        fault_set(FAULT_WRITE, true, SQLITE_FULL, n);
        bool is_begun = store_unfinished_begin(store, &run, &error);
        has_struck = fault.has_struck;
        fault_set(FAULT_NONE, false, 0, 0);
        failed += !is_begun;
        assert_true(is_begun ? run.run > 1 : run.run == 0 && error.class == SIM_ERROR_ENVIRONMENT);
    }
    assert_true(failed > 0);
    assert_true(put(store, &run, 0, 1, "state", &error));
    store_close(store);
    folder_remove(&folder);
}

static void test_run_that_was_taken_over_is_not_changed_by_its_former_owner(void **state)
{
    (void)state;
    struct folder folder = folder_make();
    struct store *store = store_must_open(folder.db, STORE_WRITE);
    struct store_unfinished first, second;
    struct sim_error error = {SIM_ERROR_NONE, ""};
    struct lab_result *result = sample_make(5);
    struct store_run_info info = sample_info();
    begin(store, &first);
    assert_true(put(store, &first, 0, 1, "first", &error));
    second = first;
    assert_true(store_unfinished_take(store, &second, &error));
    assert_int_equal(second.attempt, 2);
    assert_false(put(store, &first, 0, 1, "late", &error));
    assert_int_equal(error.class, SIM_ERROR_CHECK);
    assert_false(store_unfinished_stop(store, &first, &error));
    assert_false(store_unfinished_take(store, &first, &error));
    assert_false(store_unfinished_end(store, &first, &info, result, &error));
    assert_int_equal(error.class, SIM_ERROR_CHECK);
    assert_query(folder.db, "SELECT count(*) FROM run", "0\n");
    assert_states(store, second.run, "0:first");
    assert_true(put(store, &second, 0, 1, "second", &error));
    assert_true(store_unfinished_end(store, &second, &info, result, &error));
    assert_int_equal(info.run, second.run);
    assert_query(folder.db, "SELECT run FROM runs", "1\n");
    assert_query(folder.db, "SELECT count(*) FROM snapshot", "0\n");
    assert_query(folder.db, "SELECT count(*) FROM unfinished", "0\n");
    /* A run cannot end twice. */
    assert_false(store_unfinished_end(store, &second, &info, result, &error));
    lab_result_destroy(result);
    store_close(store);
    folder_remove(&folder);
}

static void test_state_that_cannot_be_written_leaves_the_older_one(void **state)
{
    (void)state;
    char large[40000];
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    struct folder folder = folder_make();
    struct store *store = store_must_open(folder.db, STORE_WRITE);
    struct store_unfinished run;
    struct sim_error error;
    begin(store, &run);
    int failed = 0;
    bool has_struck = true;
    for (long n = 0; has_struck; n++) {
        assert_true(put(store, &run, 0, 2, "old", &error) && put(store, &run, 1, 2, "old", &error));
        fault_set(FAULT_WRITE, true, SQLITE_FULL, n);
        bool is_put = put(store, &run, 0, 1, large, &error);
        has_struck = fault.has_struck;
        fault_set(FAULT_NONE, false, 0, 0);
        assert_true(is_put || error.class == SIM_ERROR_ENVIRONMENT);
        failed += !is_put;
        if (!is_put)
            assert_states(store, run.run, "0:old 1:old");
    }
    assert_true(failed > 3);
    assert_query(folder.db, "SELECT sum(length(bytes)) FROM snapshot", "39999\n");
    assert_query(folder.db, "PRAGMA integrity_check", "ok\n");
    store_close(store);
    folder_remove(&folder);
}

int main(void)
{
    fault_vfs_register();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unfinished_run_is_loaded_as_it_was_stored),
        cmocka_unit_test(test_run_is_dropped_only_by_its_own_attempt),
        cmocka_unit_test(test_newer_states_replace_older_ones),
        cmocka_unit_test(test_unfinished_run_is_named_when_requested),
        cmocka_unit_test(test_run_that_cannot_start_has_no_number),
        cmocka_unit_test(test_run_that_was_taken_over_is_not_changed_by_its_former_owner),
        cmocka_unit_test(test_state_that_cannot_be_written_leaves_the_older_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
