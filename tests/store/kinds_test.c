/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the settings of a strategy of any kind are loaded as they were saved, with every named value that a
 * setting can have; invalid values are reported as damage; and bins are loaded correctly even when SQLite
 * does not sort them by size. Method: a run of one strategy, which gets one kind after the other. */
#define _DEFAULT_SOURCE
#include "sample.h"

#include "fault_vfs.h" /* for speed */

/* A run of one strategy, "unbucketed". */
static struct lab_result *run_of_one(void)
{
    struct lab_result *result = sample_make_small();
    struct lab_result *rest = calloc(1, sizeof *rest);
    assert_non_null(rest);
    rest->strategies = calloc(1, sizeof *rest->strategies);
    assert_non_null(rest->strategies);
    rest->strategies[0] = result->strategies[1];
    rest->strategy_count = result->strategy_count = 1;
    lab_result_destroy(rest);
    return result;
}

static void assert_comes_back(const struct folder *folder, const struct lab_result *saved)
{
    struct lab_result *loaded;
    struct sim_error error = {0};
    int64_t run = store_must_save(folder->db, saved);
    struct store *store = store_must_open(folder->db, STORE_READ);
    if (!store_load_run(store, run, NULL, &loaded, &error))
        fail_msg("%s", error.text);
    assert_results_equal(saved, loaded);
    const struct lab_strategy_result *a = &saved->strategies[0], *b = &loaded->strategies[0];
    assert_true(a->settings.is_idgen == b->settings.is_idgen && a->settings.observed == b->settings.observed);
    assert_true(a->settings.idgen.batch == b->settings.idgen.batch &&
                a->settings.idgen.stripes == b->settings.idgen.stripes);
    assert_true(a->settings.idgen.stripe == b->settings.idgen.stripe &&
                a->settings.idgen.choice == b->settings.idgen.choice);
    assert_true(a->settings.idgen.lock == b->settings.idgen.lock &&
                a->settings.idgen.lock_lasts_ns == b->settings.idgen.lock_lasts_ns);
    assert_true(a->settings.idgen.lease_ns == b->settings.idgen.lease_ns &&
                a->settings.idgen.backoff == b->settings.idgen.backoff);
    assert_true(a->settings.idgen.backoff_base_ns == b->settings.idgen.backoff_base_ns);
    assert_true(a->settings.idgen.backoff_cap_ns == b->settings.idgen.backoff_cap_ns);
    assert_true(a->settings.idgen.backoff_limit_ns == b->settings.idgen.backoff_limit_ns);
    assert_true(a->settings.idgen.attempts == b->settings.idgen.attempts);
    assert_texts_equal(a->settings.observed_file, b->settings.observed_file);
    assert_texts_equal(a->settings.observed_table, b->settings.observed_table);
    lab_result_destroy(loaded);
    store_close(store);
}

static void assert_is_damage(const struct folder *folder, const char *edit)
{
    struct lab_result *loaded;
    struct sim_error error = {0};
    execute(folder->db, edit);
    struct store *store = store_must_open(folder->db, STORE_READ);
    if (store_load_run(store, 0, NULL, &loaded, &error))
        fail_msg("nobody minds '%s'", edit);
    assert_int_equal(error.class, SIM_ERROR_ENVIRONMENT);
    assert_non_null(strstr(error.text, "runs.db: damaged ("));
    store_close(store);
}

static void assert_each_is_damage(const struct folder *folder, const struct lab_result *saved,
                                  const char *const *edits, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        folder_empty(folder);
        store_must_save(folder->db, saved);
        assert_is_damage(folder, edits[i]);
    }
}

static void test_clients_of_identifiers_are_restored(void **state)
{
    struct folder *folder = *state;
    static const char *const edits[] = {
        "UPDATE setting SET value = 'sometimes' WHERE name = 'choice'",
        "UPDATE setting SET value = 'none' WHERE name = 'backoff'",
        "UPDATE setting SET value = 'padlock' WHERE name = 'lock'",
        "UPDATE setting SET value = 0 WHERE name = 'batch'",
        "UPDATE setting SET value = 4294967296 WHERE name = 'attempts'",
        "DELETE FROM setting WHERE name = 'lease_ns'",
        "UPDATE strategy SET kind = 'none'",
    };
    struct lab_result *saved = run_of_one();
    saved->strategies[0].settings.is_idgen = true;
    for (int choice = 0; choice < 3; choice++) {
        saved->strategies[0].settings.idgen =
            (struct bk_idgen_config){.client_id = 1,
                                     .batch = 100,
                                     .stripes = 8,
                                     .stripe = 3,
                                     .choice = (enum bk_idgen_choice)choice,
                                     .lock = (enum bk_idgen_lock)(choice > 0),
                                     .lock_lasts_ns = INT64_MAX,
                                     .lease_ns = INT64_MAX - 1,
                                     .backoff = (enum bk_idgen_backoff)choice,
                                     .backoff_base_ns = 5,
                                     .backoff_cap_ns = choice * 1000,
                                     .backoff_limit_ns = choice * 2000,
                                     .attempts = UINT32_MAX};
        assert_comes_back(folder, saved);
    }
    assert_each_is_damage(folder, saved, edits, sizeof edits / sizeof *edits);
    lab_result_destroy(saved);
}

static void test_observed_sizes_are_restored(void **state)
{
    struct folder *folder = *state;
    static const char *const edits[] = {
        "UPDATE setting SET value = 'rumour' WHERE name = 'format'",
        "UPDATE setting SET value = 'auto' WHERE name = 'format'",
        "DELETE FROM setting WHERE name = 'format'",
        "DELETE FROM setting WHERE name = 'file'",
        "DELETE FROM setting WHERE name = 'table'",
        "UPDATE setting SET name = 'batch' WHERE name = 'table'",
    };
    struct lab_result *saved = run_of_one();
    saved->strategies[0].settings.observed_file = text_copy("sizes.txt");
    saved->strategies[0].settings.observed_table = text_copy("");
    for (int format = WL_OBSERVED_AUTO + 1; format <= WL_OBSERVED_LARGEST; format++) {
        saved->strategies[0].settings.observed = (enum wl_observed_format)format;
        assert_comes_back(folder, saved);
    }
    assert_each_is_damage(folder, saved, edits, sizeof edits / sizeof *edits);
    lab_result_destroy(saved);
}

static void test_names_of_settings_are_restored(void **state)
{
    struct folder *folder = *state;
    struct lab_result *saved = run_of_one();
    struct lab_strategy_result *strategy = &saved->strategies[0];
    bk_strategy_weighted(UINT64_MAX, 40, &strategy->settings.strategy);
    strategy->settings.lead_ns = strategy->settings.grant_ns = INT64_MAX;
    for (int i = BK_SINGLE; i <= BK_GUARDED; i++) {
        strategy->settings.coordination = (enum bk_coordination)i;
        strategy->settings.counter = (enum bk_counter)(i % 3);
        assert_comes_back(folder, saved);
    }
    strategy->settings.coordination = BK_SINGLE;
    strategy->settings.counter = BK_COUNTER_RMW;
    strategy->settings.lead_ns = strategy->settings.grant_ns = 0;
    bk_strategy_count(7, &strategy->settings.strategy);
    strategy->settings.lease_rows = UINT64_MAX;
    for (int i = BK_SOURCE_EXTERNAL; i <= BK_SOURCE_MEMORY; i++) {
        strategy->settings.source = (enum bk_source)i;
        assert_comes_back(folder, saved);
    }
    strategy->settings.source = BK_SOURCE_EXTERNAL;
    strategy->settings.lease_rows = 0;
    for (int i = BK_CALENDAR_HOUR; i <= BK_CALENDAR_MONTH; i++) {
        bk_strategy_calendar((enum bk_calendar)i, &strategy->settings.strategy);
        assert_comes_back(folder, saved);
    }
    lab_result_destroy(saved);
}

/* The first two are stored as TEXT, and the greater one sorts first as text. */
static void test_sizes_of_more_than_63_bits_are_restored(void **state)
{
    struct folder *folder = *state;
    static const uint64_t sizes[] = {UINT64_C(9300000000000000000), UINT64_C(18446744073709551615), 5};
    struct lab_result *saved = run_of_one();
    lab_histogram_clear(&saved->strategies[0].open_bytes);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        lab_histogram_add(&saved->strategies[0].open_bytes, sizes[i], 1, 1);
    assert_comes_back(folder, saved);
    lab_histogram_clear(&saved->strategies[0].open_bytes);
    for (size_t i = 0; i < 2; i++)
        lab_histogram_add(&saved->strategies[0].open_bytes, sizes[i], 1, 1);
    assert_comes_back(folder, saved);
    assert_query(folder->db,
                 "SELECT size FROM bin JOIN histogram USING (histogram) JOIN strategy USING (strategy) WHERE "
                 "run = 2 AND state = 'open' AND unit = 'bytes' ORDER BY size",
                 "18446744073709551615\n9300000000000000000\n");
    lab_result_destroy(saved);
}

int main(void)
{
    fault_vfs_register();
    const struct CMUnitTest tests[] = {
        folder_test(test_clients_of_identifiers_are_restored),
        folder_test(test_observed_sizes_are_restored),
        folder_test(test_names_of_settings_are_restored),
        folder_test(test_sizes_of_more_than_63_bits_are_restored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
