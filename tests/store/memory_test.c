/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: when out of memory, the store fails with an environment error, leaks nothing, and stores a run
 * completely or not at all. Method: allocation 1, 2, 3 ... of the store fails until saving, loading and
 * listing succeed; then every seventh allocation of SQLite fails, or each of them with the argument `all`. */
#define _DEFAULT_SOURCE
#include "baseline_sample.h"

#include "../no_memory.h"
#include "../share.h"

#include "fault_vfs.h" /* for speed */

static sqlite3_mem_methods sqlite_memory;
static long sqlite_left = ALLOCATIONS_WITHOUT_END; /* like allocations_left, for SQLite's allocations */
static long sqlite_step = 17;

static bool is_refused_to_sqlite(void)
{
    return sqlite_left >= 0 && sqlite_left-- == 0;
}

static void *sqlite_malloc(int size)
{
    return is_refused_to_sqlite() ? NULL : sqlite_memory.xMalloc(size);
}

static void *sqlite_realloc(void *memory, int size)
{
    return is_refused_to_sqlite() ? NULL : sqlite_memory.xRealloc(memory, size);
}

/* The allocation that fails next. */
struct turn {
    long number; /* from 0 */
    bool is_sqlite, is_over;
    long failures; /* failed attempts so far */
};

static void turn_begin(const struct turn *turn)
{
    if (turn->is_sqlite)
        sqlite_left = turn->number;
    else
        allocations_left = turn->number;
}

/* The attempt made fewer allocations than that, so all allocations of this kind have been tried. */
static void turn_end(struct turn *turn, bool is_fine)
{
    bool is_spent = (turn->is_sqlite ? sqlite_left : allocations_left) < 0;
    allocations_left = ALLOCATIONS_WITHOUT_END;
    sqlite_left = ALLOCATIONS_WITHOUT_END;
    turn->failures += is_fine ? 0 : 1;
    assert_true(is_spent || is_fine);
    if (is_spent) {
        turn->number =
            turn->is_sqlite ? turn->number + sqlite_step * (long)test_share() : test_next_fault(turn->number);
        return;
    }
    print_message("up to %ld allocations%s, %ld failures\n", turn->number,
                  turn->is_sqlite ? " of SQLite's" : "", turn->failures);
    assert_true(turn->failures > 5);
    turn->is_over = turn->is_sqlite;
    turn->is_sqlite = true;
    turn->number = 0;
}

static bool save_step(const char *path, const struct lab_result *saved, struct sim_error *error)
{
    struct store *store;
    struct store_run_info info = sample_info();
    bool fine = store_open(path, STORE_WRITE, &store, error) && store_save_run(store, &info, saved, error);
    store_close(store);
    return fine;
}

static bool load_step(const char *path, const struct lab_result *saved, struct sim_error *error)
{
    struct store *store;
    struct store_run_info info;
    struct lab_result *loaded = NULL;
    bool fine =
        store_open(path, STORE_READ, &store, error) && store_load_run(store, 0, &info, &loaded, error);
    long left = allocations_left;
    allocations_left = ALLOCATIONS_WITHOUT_END;
    if (fine)
        assert_results_equal(saved, loaded);
    allocations_left = left;
    lab_result_destroy(loaded);
    store_close(store);
    return fine;
}

static bool list_step(const char *path, const struct lab_result *saved, struct sim_error *error)
{
    struct store *store;
    struct store_run_row *rows = NULL;
    struct lab_result *loaded;
    size_t count = 0;
    struct sim_error missing = {0};
    bool fine =
        store_open(path, STORE_READ, &store, error) && store_list_runs(store, false, &rows, &count, error);
    if (fine) {
        assert_int_equal(count, 1);
        assert_string_equal(rows[0].scenario_name, saved->scenario_name);
        assert_false(store_load_run(store, 9, NULL, &loaded, &missing));
        if (missing.class != SIM_ERROR_INPUT) {
            *error = missing;
            fine = false;
        }
    }
    store_runs_free(rows, count);
    store_close(store);
    return fine;
}

static void refuse_in_turn(bool (*step)(const char *, const struct lab_result *, struct sim_error *),
                           bool has_run)
{
    struct folder folder = folder_make();
    struct lab_result *saved = sample_make_small();
    char *bytes = NULL;
    size_t size = 0;
    if (has_run) {
        store_must_save(folder.db, saved);
        bytes = file_read(folder.db, &size);
    }
    for (struct turn turn = {0}; !turn.is_over;) {
        folder_empty(&folder);
        if (has_run)
            file_write(folder.db, bytes, size);
        struct sim_error error = {0};
        const long number = turn.number;
        turn_begin(&turn);
        /* SQLite tolerates the failure of some of its allocations. */
        bool fine = step(folder.db, saved, &error);
        turn_end(&turn, fine);
        assert_int_equal(error.class, fine ? SIM_ERROR_NONE : SIM_ERROR_ENVIRONMENT);
        if (!fine && strstr(error.text, "out of memory") == NULL)
            fail_msg("allocation %ld: %s", number, error.text);
        if (access(folder.db, F_OK) == 0) {
            struct store *store = store_must_open(folder.db, STORE_WRITE);
            struct store_run_row *rows;
            size_t count;
            assert_true(store_list_runs(store, false, &rows, &count, &error));
            assert_int_equal(count, (has_run ? 1 : 0) + (fine && step == save_step ? 1 : 0));
            store_runs_free(rows, count);
            store_close(store);
        }
    }
    free(bytes);
    lab_result_destroy(saved);
    folder_remove(&folder);
}

static void test_saving_without_memory_stores_all_or_nothing(void **state)
{
    (void)state;
    refuse_in_turn(save_step, false);
}

/* Saves and loads; saving may succeed although loading fails. */
static void test_baselines_without_memory_are_stored_whole_or_not_at_all(void **state)
{
    struct folder *folder = *state;
    struct store_baseline saved = baseline_make("one", 6), loaded;
    lab_result_destroy(saved.result);
    saved.result = sample_make_small();
    for (struct turn turn = {0}; !turn.is_over;) {
        struct sim_error error = {0};
        bool is_there = false;
        struct store *store = NULL;
        folder_empty(folder);
        turn_begin(&turn);
        bool is_saved = baseline_save(folder->db, &saved, 1, &error);
        bool is_loaded = is_saved && store_open(folder->db, STORE_READ, &store, &error) &&
                         store_baseline_load(store, saved.result->scenario_name, &loaded, &is_there, &error);
        turn_end(&turn, is_loaded);
        assert_int_equal(error.class, is_loaded ? SIM_ERROR_NONE : SIM_ERROR_ENVIRONMENT);
        assert_int_equal(is_loaded, is_there);
        if (is_loaded) {
            assert_baseline_equal(&saved, &loaded);
            store_baseline_clear(&loaded);
        }
        store_close(store);
        assert_int_equal(access(folder->db, F_OK) == 0, is_saved);
    }
    store_baseline_clear(&saved);
}

static void test_loading_without_memory_fails_clean(void **state)
{
    (void)state;
    refuse_in_turn(load_step, true);
}

static void test_listing_without_memory_fails_clean(void **state)
{
    (void)state;
    refuse_in_turn(list_step, true);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "all") == 0)
        sqlite_step = 1;
    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &sqlite_memory);
    sqlite3_mem_methods counted = sqlite_memory;
    counted.xMalloc = sqlite_malloc;
    counted.xRealloc = sqlite_realloc;
    sqlite3_config(SQLITE_CONFIG_MALLOC, &counted);
    fault_vfs_register();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_saving_without_memory_stores_all_or_nothing),
        folder_test(test_baselines_without_memory_are_stored_whole_or_not_at_all),
        cmocka_unit_test(test_loading_without_memory_fails_clean),
        cmocka_unit_test(test_listing_without_memory_fails_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
