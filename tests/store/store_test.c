/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a run is loaded as it was saved, field for field; the views show the same values; older databases are
 * migrated, newer ones refused. Method: made-up results with extreme values, through files in a fresh folder;
 * the test queries the views through a separate connection. */
#define _DEFAULT_SOURCE
#include "../share.h"
#include "sample.h"

#include <math.h>
#include <time.h>

static void test_run_saved_and_loaded_is_equal(void **state)
{
    struct folder *folder = *state;
    struct lab_result *saved = sample_make(50), *loaded;
    assert_int_equal(store_must_save(folder->db, saved), 1);
    assert_int_equal(folder_count(folder, NULL), 1);
    struct store *store = store_must_open(folder->db, STORE_READ);
    struct store_run_info info;
    struct sim_error error = {0};
    assert_true(store_load_run(store, 1, &info, &loaded, &error));
    assert_results_equal(saved, loaded);
    assert_int_equal(info.run, 1);
    assert_string_equal(info.scenario_path, "scenarios/chat-channels.yaml");
    assert_string_equal(info.scenario_text, "name: chat-channels\nseed: 1\n");
    assert_string_equal(info.overrides, "arrivals.rate=300/s\n");
    assert_string_equal(info.version, "0.1.0");
    assert_int_equal(info.created_unix_s, 1767225600);
    assert_int_equal(info.elapsed_ms, 1234);
    store_close(store);
    lab_result_destroy(saved);
    lab_result_destroy(loaded);
}

static void test_run_of_extreme_values_is_equal(void **state)
{
    struct folder *folder = *state;
    struct lab_result *saved = sample_make(0), *loaded;
    saved->seed = saved->digest = saved->rows = saved->keys = UINT64_MAX;
    saved->start_ns = INT64_MIN;
    saved->end_ns = INT64_MAX;
    saved->limits = (struct lab_limits){
        .partition_rows = (uint64_t)INT64_MAX + 1, .partition_bytes = UINT64_MAX, .tiny_rows = INT64_MAX};
    free(saved->about);
    saved->about = NULL;
    struct lab_strategy_result *strategy = &saved->strategies[0];
    lab_histogram_add(&strategy->closed_bytes, UINT64_MAX, 1, UINT64_MAX);
    lab_histogram_add(&strategy->closed_bytes, 0, 3, 0);
    lab_histogram_add(&strategy->closed_bytes, (uint64_t)INT64_MAX + 1, 1, 1);
    lab_histogram_add(&strategy->closed_bytes, INT64_MAX, UINT64_MAX - 5, 1);
    const double values[] = {
        (double)INFINITY, -(double)INFINITY, (double)NAN, 5e-324, 1.7976931348623157e308, 0.1, -3.0,
        0x1p53 + 2};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        assert_true(lab_metrics_add(&strategy->metrics, "m", values[i]));
    struct lab_event_log *events = &saved->strategies[2].events;
    *events = (struct lab_event_log){UINT64_MAX, UINT64_MAX, UINT64_C(1) << 47, NULL, (1u << 17) - 1};
    events->marks = malloc(events->mark_count * sizeof *events->marks);
    assert_non_null(events->marks);
    for (size_t i = 0; i < events->mark_count; i++)
        events->marks[i] = (uint16_t)sim_mix64(i);
    saved->expects[1].ok = saved->expects_hold = true;
    saved->expects[1].actual = (double)NAN;
    store_must_save(folder->db, saved);
    struct store *store = store_must_open(folder->db, STORE_WRITE);
    struct sim_error error = {0};
    if (!store_load_run(store, 0, NULL, &loaded, &error))
        fail_msg("%s", error.text);
    assert_results_equal(saved, loaded);
    store_close(store);
    assert_query(folder->db, "SELECT seed, typeof(seed), digest, limit_partition_bytes FROM run",
                 "18446744073709551615|text|ffffffffffffffff|18446744073709551615\n");
    lab_result_destroy(saved);
    lab_result_destroy(loaded);
}

static void test_run_without_strategies_is_equal(void **state)
{
    struct folder *folder = *state;
    struct lab_result saved = {.scenario_name = text_copy("bare"), .expects_hold = true}, *loaded;
    store_must_save(folder->db, &saved);
    struct store *store = store_must_open(folder->db, STORE_READ);
    struct sim_error error = {0};
    assert_true(store_load_run(store, 1, NULL, &loaded, &error));
    assert_results_equal(&saved, loaded);
    store_close(store);
    free(saved.scenario_name);
    lab_result_destroy(loaded);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Half a million bins: a store that is too slow would show as a timeout; the times are printed for
 * information. */
static void test_run_of_half_a_million_bins_is_equal(void **state)
{
    struct folder *folder = *state;
    struct lab_result *saved = sample_make(test_part(16000)), *loaded;
    struct lab_histogram *rounded = &saved->strategies[0].closed_bytes;
    for (uint64_t i = 0; i < 70000; i++)
        lab_histogram_add(rounded, i * i * 5 + 1, 1, 3);
    assert_true(rounded->is_rounded);
    double start = seconds();
    store_must_save(folder->db, saved);
    double middle = seconds();
    struct store *store = store_must_open(folder->db, STORE_READ);
    struct sim_error error = {0};
    assert_true(store_load_run(store, 1, NULL, &loaded, &error));
    print_message("saved in %.2f s, loaded in %.2f s\n", middle - start, seconds() - middle);
    store_close(store);
    assert_results_equal(saved, loaded);
    lab_result_destroy(saved);
    lab_result_destroy(loaded);
}

/* Values that older databases could not store. */
static void test_guarded_run_is_equal(void **state)
{
    struct folder *folder = *state;
    struct lab_result *saved = sample_make(3), *loaded;
    struct lab_strategy_result *guarded = &saved->strategies[4];
    guarded->settings.coordination = BK_GUARDED;
    guarded->settings.counter = BK_COUNTER_NATIVE;
    guarded->settings.lead_ns = 0;
    guarded->settings.grant_ns = 2500000000;
    store_must_save(folder->db, saved);
    assert_query(folder->db, "SELECT settings FROM strategies WHERE label = 'probabilistic'",
                 "{\"bits\":9,\"coordination\":\"guarded\",\"counter\":\"counter\",\"grant_ns\":2500000000,"
                 "\"threshold\":40}\n");
    struct store *store = store_must_open(folder->db, STORE_READ);
    struct sim_error error = {0};
    assert_true(store_load_run(store, 1, NULL, &loaded, &error));
    store_close(store);
    assert_results_equal(saved, loaded);
    lab_result_destroy(loaded);
    execute(folder->db, "UPDATE setting SET value = -1 WHERE name = 'grant_ns'");
    store = store_must_open(folder->db, STORE_READ);
    assert_false(store_load_run(store, 1, NULL, &loaded, &error));
    assert_null(loaded);
    store_close(store);
    lab_result_destroy(saved);
}

static void test_views_of_a_run_read_as_documented(void **state)
{
    struct folder *folder = *state;
    store_must_save_sample(folder->db, 3);
    assert_query(folder->db, "SELECT * FROM runs",
                 "1|chat-channels|1|00c0ffee00000001|1555200000|10000|2026-01-01T00:00:00Z|1234|0.1.0|8|2|1|"
                 "synthetic|2026-01-01T00:00:00Z|2026-04-01T00:00:00Z|scenarios/chat-channels.yaml|"
                 "arrivals.rate=300/s\n\n");
    assert_query(folder->db, "SELECT run, label, kind, settings FROM strategies",
                 "1|unbucketed|unbucketed|{}\n"
                 "1|time|time|{\"epoch_ns\":-1000000000,\"window_ns\":864000000000000}\n"
                 "1|monthly|time|{\"calendar\":\"month\"}\n"
                 "1|count|count|{\"counter\":\"incremental\",\"every_ns\":2000000000,\"every_rows\":1000,"
                 "\"rows\":20480}\n"
                 "1|probabilistic|probabilistic|{\"bits\":9,\"coordination\":\"three-state\",\"lead_ns\":"
                 "10000000000,\"threshold\":40}\n"
                 "1|every "
                 "row|probabilistic|{\"bits\":0,\"coordination\":\"locked\",\"counter\":\"counter\","
                 "\"threshold\":\"18446744073709551615\"}\n"
                 "1|dice|probabilistic|{\"chance_denominator\":300,\"chance_numerator\":1,\"counter\":"
                 "\"lwt\",\"threshold\":40}\n"
                 "1|hash|hash|{\"buckets\":256}\n");
    assert_query(folder->db, "SELECT * FROM strategy_metrics WHERE label = 'hash'",
                 "1|hash|partitions.closed|3.0\n1|hash|partitions.closed.rows.mean|3.1\n"
                 "1|hash|partitions.closed.rows.p99|21.0\n1|hash|partitions.over_limit|1.0\n"
                 "1|hash|writes.extra_ops_per_1000_rows|0.333333333333333\n");
    assert_query(folder->db, "SELECT * FROM partition_histogram WHERE label = 'time' AND unit = 'rows'",
                 "1|time|closed|rows|7|2|14\n1|time|closed|rows|14|3|42\n1|time|closed|rows|21|4|84\n"
                 "1|time|open|rows|3|1|3\n1|time|open|rows|6|1|6\n1|time|open|rows|9|1|9\n");
    assert_query(folder->db, "SELECT * FROM read_histogram WHERE label = 'unbucketed'",
                 "1|unbucketed|2|40\n");
    assert_query(
        folder->db,
        "SELECT state, unit, h.count, least, most, count(*), min(size), max(size), sum(b.count) FROM "
        "histogram h JOIN bin b USING (histogram) JOIN strategy USING (strategy) WHERE label = "
        "'unbucketed' AND unit = 'ns'",
        "latency.write|ns|40|1001|400020|20|1008|401408|40\n");
    assert_query(folder->db,
                 "SELECT label, event_digest, events FROM strategies WHERE label IN ('hash', 'every row')",
                 "every row|fedcba9876543210|23\nhash|NULL|NULL\n");
    assert_query(folder->db, "SELECT hex(marks) FROM event_log WHERE events = 23", "00FFFF0034120000FFFF\n");
    assert_query(folder->db, "SELECT * FROM node_load WHERE node LIKE '%1'",
                 "1|every row|dc1 node 1|7|18446744073709551614\n");
    assert_query(
        folder->db,
        "SELECT * FROM partition_timeline WHERE starts = '2026-01-01T00:00:00.000Z' AND "
        "state = 'open' ORDER BY unit",
        "1|every row|open|bytes|2026-01-01T00:00:00.000Z|2026-01-01T00:00:00.000Z|2|0|102|202|302|402\n"
        "1|every row|open|rows|2026-01-01T00:00:00.000Z|2026-01-01T00:00:00.000Z|2|2|12|22|32|"
        "18446744073709551615\n");
    assert_query(folder->db, "SELECT * FROM agent_views WHERE agent = 2",
                 "1|every row|key-3's|5000000000|15000000000|3|1000000000|2|8|1|1\n"
                 "1|every row|key-3's|5000000000|15000000000|3|9223372036854775807|2|9223372036854775807|1|"
                 "0\n");
    assert_query(folder->db, "PRAGMA journal_mode", "wal\n");
    assert_query(folder->db, "PRAGMA user_version", "12\n");
    assert_query(folder->db, "PRAGMA foreign_key_check", "");
    assert_query(folder->db,
                 "SELECT name FROM pragma_table_list WHERE type = 'table' AND NOT strict AND name "
                 "NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
                 "");
    execute(folder->db, "PRAGMA foreign_keys = ON; DELETE FROM run");
    assert_query(folder->db,
                 "SELECT (SELECT count(*) FROM bin) + (SELECT count(*) FROM metric) + (SELECT "
                 "count(*) FROM setting) + (SELECT count(*) FROM expectation) + (SELECT count(*) FROM "
                 "event_log) + (SELECT count(*) FROM change) + (SELECT count(*) FROM belief)",
                 "0\n");
}

static void test_list_of_runs_is_newest_first(void **state)
{
    struct folder *folder = *state;
    struct store_run_row *rows;
    size_t count;
    struct sim_error error = {0};
    for (int i = 0; i < 20; i++)
        assert_int_equal(store_must_save_sample(folder->db, 1), i + 1);
    struct store *store = store_must_open(folder->db, STORE_READ);
    assert_true(store_list_runs(store, false, &rows, &count, &error));
    assert_int_equal(count, 20);
    struct store_run_info info;
    struct lab_result *newest;
    assert_true(store_load_run(store, 0, &info, &newest, &error));
    assert_int_equal(info.run, 20);
    lab_result_destroy(newest);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(rows[i].run, 20 - (int)i);
    assert_string_equal(rows[3].scenario_name, "chat-channels");
    assert_string_equal(rows[3].version, "0.1.0");
    assert_int_equal(rows[3].seed, 1);
    assert_true(rows[3].digest == UINT64_C(0x00c0ffee00000001));
    assert_int_equal(rows[3].rows, 1555200000);
    assert_int_equal(rows[3].created_unix_s, 1767225600);
    assert_int_equal(rows[3].elapsed_ms, 1234);
    assert_int_equal(rows[3].strategy_count, SAMPLE_STRATEGIES);
    assert_int_equal(rows[3].expects, 2);
    assert_int_equal(rows[3].expects_failed, 1);
    store_runs_free(rows, count);
    store_close(store);
}

static void test_missing_run_lists_the_existing_runs(void **state)
{
    struct folder *folder = *state;
    struct lab_result *result;
    struct sim_error error = {0};
    for (int i = 0; i < 9; i++)
        store_must_save_sample(folder->db, 1);
    execute(folder->db, "PRAGMA foreign_keys = ON; DELETE FROM run WHERE run IN (4, 6, 7)");
    struct store *store = store_must_open(folder->db, STORE_READ);
    assert_false(store_load_run(store, 6, NULL, &result, &error));
    assert_null(result);
    assert_int_equal(error.class, SIM_ERROR_INPUT);
    assert_non_null(strstr(error.text, "runs.db: no run 6; it has runs 1 to 3, 5, 8 to 9"));
    store_close(store);
    execute(folder->db, "PRAGMA foreign_keys = ON; DELETE FROM run");
    store = store_must_open(folder->db, STORE_READ);
    assert_false(store_load_run(store, 0, NULL, &result, &error));
    assert_int_equal(error.class, SIM_ERROR_INPUT);
    assert_non_null(strstr(error.text, "has no run yet; run a scenario first"));
    store_close(store);
    /* A number is never reused, so that "run 9" in a report keeps its meaning. */
    assert_int_equal(store_must_save_sample(folder->db, 1), 10);
}

static void test_many_runs_with_gaps_fit_into_the_message(void **state)
{
    struct folder *folder = *state;
    struct lab_result *result;
    struct sim_error error = {0};
    store_must_save_sample(folder->db, 1);
    execute(folder->db,
            "WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i + 2 FROM n LIMIT 500) INSERT INTO "
            "run SELECT i, scenario, about, source, seed, digest, rows, keys, start_ns, end_ns, "
            "0, 0, 0, created_unix_s, elapsed_ms, version, '', '', '', 1 FROM n, run WHERE run = 1");
    struct store *store = store_must_open(folder->db, STORE_READ);
    assert_false(store_load_run(store, 2, NULL, &result, &error));
    assert_non_null(strstr(error.text, "it has runs 1, 3, 5, 7"));
    assert_string_equal(error.text + strlen(error.text) - 5, ", ...");
    store_close(store);
}

static void test_store_creates_no_file_before_the_first_run(void **state)
{
    struct folder *folder = *state;
    struct store *store = store_must_open(folder->db, STORE_WRITE);
    struct store_run_row *rows;
    struct lab_result *result;
    size_t count;
    struct sim_error error = {0};
    assert_true(store_list_runs(store, false, &rows, &count, &error));
    assert_int_equal(count, 0);
    assert_false(store_load_run(store, 0, NULL, &result, &error));
    assert_int_equal(error.class, SIM_ERROR_INPUT);
    assert_int_equal(folder_count(folder, NULL), 0);
    store_close(store);
    assert_int_equal(folder_count(folder, NULL), 0);
}

static void test_reader_changes_no_byte(void **state)
{
    struct folder *folder = *state;
    store_must_save_sample(folder->db, 100);
    size_t size, size_after;
    char *before = file_read(folder->db, &size);
    struct store *store = store_must_open(folder->db, STORE_READ);
    struct lab_result *result;
    struct sim_error error = {0};
    assert_true(store_load_run(store, 0, NULL, &result, &error));
    assert_false(store_execute(store, "DELETE FROM run", &error));
    store_close(store);
    char *after = file_read(folder->db, &size_after);
    assert_int_equal(size, size_after);
    assert_memory_equal(before, after, size);
    assert_int_equal(folder_count(folder, NULL), 1);
    lab_result_destroy(result);
    free(before);
    free(after);
}

static void test_two_stores_on_one_database_see_each_others_runs(void **state)
{
    struct folder *folder = *state;
    struct store *a = store_must_open(folder->db, STORE_WRITE), *b = store_must_open(folder->db, STORE_WRITE);
    struct lab_result *saved = sample_make(20), *loaded;
    struct store_run_info info = sample_info();
    struct sim_error error = {0};
    assert_true(store_save_run(a, &info, saved, &error));
    assert_true(store_save_run(b, &info, saved, &error));
    assert_int_equal(info.run, 2);
    assert_true(store_save_run(a, &info, saved, &error));
    assert_int_equal(info.run, 3);
    assert_true(store_load_run(b, 3, &info, &loaded, &error));
    assert_results_equal(saved, loaded);
    lab_result_destroy(loaded);
    lab_result_destroy(saved);
    store_close(a);
    store_close(b);
}

static void test_names_with_a_meaning_in_sqlite_are_files(void **state)
{
    struct folder *folder = *state;
    char before[PATH_SIZE];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(folder->path), 0);
    static const char *const names[] = {":memory:", "file:runs.db?mode=memory", "-runs.db", "läuft ?#%20.db"};
    for (size_t i = 0; i < 4; i++) {
        store_must_save_sample(names[i], 1);
        assert_int_equal(access(names[i], F_OK), 0);
        store_close(store_must_open(names[i], STORE_READ));
    }
    assert_int_equal(folder_count(folder, NULL), 4);
    assert_int_equal(chdir(before), 0);
}

static void assert_schemas_equal(const char *path, const char *other)
{
    static const char sql[] = "SELECT type, name, sql FROM sqlite_schema ORDER BY type, name";
    char one[16384], two[16384];
    query(path, sql, one, sizeof one);
    query(other, sql, two, sizeof two);
    assert_string_equal(one, two);
}

static void test_database_of_version_1_is_migrated_with_its_run(void **state)
{
    struct folder *folder = *state;
    char fresh[PATH_SIZE];
    snprintf(fresh, sizeof fresh, "%s/fresh.db", folder->path);
    size_t size;
    char *old = file_read(BUCKETLAB_SOURCE_DIR "/tests/store/version_1.sql", &size);
    execute(folder->db, old);
    free(old);
    struct lab_result *saved = sample_make(1), *loaded;
    struct store *store;
    struct sim_error error = {0};
    assert_false(store_open(folder->db, STORE_READ, &store, &error));
    assert_non_null(
        strstr(error.text, "made by an older bucketlab (database version 1, this program reads 12)"));
    assert_query(folder->db, "PRAGMA user_version", "1\n");
    assert_int_equal(store_must_save(folder->db, saved), 2);
    store = store_must_open(folder->db, STORE_READ);
    assert_true(store_load_run(store, 2, NULL, &loaded, &error));
    assert_results_equal(saved, loaded);
    lab_result_destroy(loaded);
    /* The old run has the first three strategies of the sample. */
    assert_true(store_load_run(store, 1, NULL, &loaded, &error));
    saved->strategy_count = 3;
    /* That version stored no latencies. */
    for (size_t i = 0; i < saved->strategy_count; i++)
        lab_histogram_clear(&saved->strategies[i].latency[LAB_LATENCY_WRITE]);
    assert_results_equal(saved, loaded);
    saved->strategy_count = SAMPLE_STRATEGIES;
    lab_result_destroy(loaded);
    store_close(store);
    store_must_save(fresh, saved);
    assert_schemas_equal(folder->db, fresh);
    assert_query(folder->db, "PRAGMA user_version", "12\n");
    lab_result_destroy(saved);
}

/* Version 3 is produced by removing the additions of versions 4 and 5. */
static void test_database_of_version_3_is_migrated_with_its_run(void **state)
{
    struct folder *folder = *state;
    char fresh[PATH_SIZE];
    snprintf(fresh, sizeof fresh, "%s/fresh.db", folder->path);
    struct lab_result *saved = sample_make(20), *loaded;
    store_must_save(folder->db, saved);
    execute(folder->db,
            "ALTER TABLE run DROP COLUMN digest_kind; DROP TABLE outcome; "
            "DROP VIEW partition_timeline; DROP VIEW node_load; DROP TABLE slice; DROP TABLE node; "
            "DROP VIEW run_terms; DROP TABLE run_term; " SAMPLE_BINS_TO_ROWS "PRAGMA user_version = 3");
    assert_int_equal(store_must_save(folder->db, saved), 2);
    store_must_save(fresh, saved);
    assert_schemas_equal(folder->db, fresh);
    struct store *store = store_must_open(folder->db, STORE_READ);
    struct sim_error error;
    assert_true(store_load_run(store, 2, NULL, &loaded, &error));
    assert_results_equal(saved, loaded);
    lab_result_destroy(loaded);
    assert_true(store_load_run(store, 1, NULL, &loaded, &error));
    for (size_t i = 0; i < saved->strategy_count; i++)
        saved->strategies[i].timeline.count = saved->strategies[i].node_count = 0;
    assert_results_equal(saved, loaded);
    lab_result_destroy(loaded);
    store_close(store);
    lab_result_destroy(saved);
}

/* The runs of a database without the table of terms have the default terms. */
static void test_terms_are_stored_and_version_8_has_none(void **state)
{
    struct folder *folder = *state;
    struct lab_result *saved = sample_make(20), *loaded;
    struct sim_error error;
    saved->limits.over_limit_share = 0.003;
    saved->limits.confidence = 0.99;
    saved->limits.tolerance = 0.02;
    store_must_save(folder->db, saved);
    assert_query(folder->db, "SELECT term, value FROM run_terms ORDER BY term",
                 "confidence|0.99\nover_limit_share|0.003\ntolerance|0.02\n");
    struct store *store = store_must_open(folder->db, STORE_READ);
    assert_true(store_load_run(store, 1, NULL, &loaded, &error));
    assert_results_equal(saved, loaded);
    lab_result_destroy(loaded);
    store_close(store);
    execute(folder->db, "DROP VIEW run_terms; DROP TABLE run_term; " SAMPLE_VERSION_10 SAMPLE_BINS_TO_ROWS
                        "PRAGMA user_version = 8");
    store = store_must_open(folder->db, STORE_READ);
    assert_true(store_load_run(store, 1, NULL, &loaded, &error));
    assert_true(loaded->limits.over_limit_share == 0 && loaded->limits.confidence == 0.95);
    lab_result_destroy(loaded);
    store_close(store);
    store_must_save(folder->db, saved);
    assert_query(folder->db, "SELECT run, value FROM run_terms WHERE term = 'confidence'", "2|0.99\n");
    lab_result_destroy(saved);
}

/* Version 8 renamed a kind, its label, and the source of rows; a reader accepts the earlier names as they
 * are. */
static void test_database_of_version_7_is_read_and_migrated(void **state)
{
    struct folder *folder = *state;
    struct lab_result *saved = sample_make(20), *loaded;
    struct sim_error error;
    store_must_save(folder->db, saved);
    execute(folder->db,
            "UPDATE strategy SET kind = 'none', label = 'none' WHERE kind = 'unbucketed'; "
            "UPDATE expectation SET text = 'none.' || substr(text, 12) WHERE text LIKE 'unbucketed.%'; "
            "UPDATE run SET source = 'made'; DROP VIEW run_terms; DROP TABLE run_term; " SAMPLE_VERSION_10
                SAMPLE_BINS_TO_ROWS "PRAGMA user_version = 7");
    struct store *store = store_must_open(folder->db, STORE_READ);
    assert_true(store_load_run(store, 1, NULL, &loaded, &error));
    assert_string_equal(loaded->source, "synthetic");
    assert_string_equal(loaded->strategies[0].label, "none");
    assert_int_equal(loaded->strategies[0].settings.strategy.kind, BK_KIND_UNBUCKETED);
    lab_result_destroy(loaded);
    store_close(store);
    assert_int_equal(store_must_save(folder->db, saved), 2);
    store = store_must_open(folder->db, STORE_READ);
    assert_true(store_load_run(store, 1, NULL, &loaded, &error));
    assert_results_equal(saved, loaded);
    lab_result_destroy(loaded);
    store_close(store);
    lab_result_destroy(saved);
}

static struct store_migration next_versions[13] = {
    [12] = {"ALTER TABLE run ADD COLUMN mood TEXT; CREATE TABLE note (text TEXT) STRICT", NULL}};

static struct store_options options_of_next_version(void)
{
    for (int32_t i = 0; i < store_options_default.version; i++)
        next_versions[i] = store_options_default.migrations[i];
    return (struct store_options){3000, next_versions, 13, 13};
}

static void test_database_of_version_10_keeps_its_runs_and_their_kind_of_digest(void **state)
{
    struct folder *folder = *state;
    struct lab_result *saved = sample_make(20), *loaded;
    struct store_run_info info;
    struct sim_error error;
    store_must_save(folder->db, saved);
    execute(folder->db, SAMPLE_VERSION_10
            "INSERT INTO tune_outcome VALUES ('1', '2', '3', '4', x'05'); "
            "INSERT INTO unfinished VALUES (7, 1, 'stopped', 's', 1, '', 0, 0, '', '', '', ''); "
            "INSERT INTO snapshot VALUES (7, 0, 0, x'00'); "
            "PRAGMA user_version = 10");
    struct store *store = store_must_open(folder->db, STORE_READ);
    assert_true(store_load_run(store, 1, &info, &loaded, &error) && info.has_earlier_digest);
    assert_results_equal(saved, loaded);
    lab_result_destroy(loaded);
    store_close(store);
    assert_int_equal(store_must_save(folder->db, saved), 2);
    assert_query(folder->db, "SELECT run, digest_kind FROM run", "1|0\n2|1\n");
    assert_query(folder->db,
                 "SELECT name FROM sqlite_schema WHERE name LIKE '%unfinished%' OR name = 'snapshot'", "");
    assert_query(folder->db, "SELECT count(*) FROM outcome", "0\n");
    lab_result_destroy(saved);
}

static void test_older_database_is_migrated_with_its_runs(void **state)
{
    struct folder *folder = *state;
    struct lab_result *saved = sample_make(20), *loaded;
    store_must_save(folder->db, saved);
    struct store_options options = options_of_next_version();
    struct store *store;
    struct sim_error error = {0};
    assert_false(store_open_with(folder->db, STORE_READ, &options, &store, &error));
    assert_int_equal(error.class, SIM_ERROR_ENVIRONMENT);
    assert_non_null(
        strstr(error.text, "made by an older bucketlab (database version 12, this program reads 13)"));
    assert_query(folder->db, "PRAGMA user_version", "12\n");
    assert_true(store_open_with(folder->db, STORE_WRITE, &options, &store, &error));
    assert_true(store_load_run(store, 1, NULL, &loaded, &error));
    assert_results_equal(saved, loaded);
    store_close(store);
    assert_query(folder->db, "PRAGMA user_version", "13\n");
    assert_query(folder->db, "SELECT mood, (SELECT count(*) FROM note) FROM run", "NULL|0\n");
    assert_false(store_open(folder->db, STORE_WRITE, &store, &error));
    assert_null(store);
    assert_non_null(
        strstr(error.text, "made by a newer bucketlab (database version 13, this program knows 12)"));
    lab_result_destroy(saved);
    lab_result_destroy(loaded);
}

static void test_failed_migration_changes_nothing(void **state)
{
    struct folder *folder = *state;
    store_must_save_sample(folder->db, 20);
    struct store_migration broken[13] = {
        [12] = {"CREATE TABLE half (x) ; INSERT INTO nowhere VALUES (1)", NULL}};
    for (size_t i = 0; i < 12; i++)
        broken[i] = (struct store_migration){"SELECT 1", NULL};
    const struct store_options options = {3000, broken, 13, 13};
    size_t size, size_after;
    char *before = file_read(folder->db, &size);
    struct store *store;
    struct sim_error error = {0};
    assert_false(store_open_with(folder->db, STORE_WRITE, &options, &store, &error));
    assert_int_equal(error.class, SIM_ERROR_ENVIRONMENT);
    char *after = file_read(folder->db, &size_after);
    assert_int_equal(size, size_after);
    assert_memory_equal(before, after, size);
    assert_int_equal(folder_count(folder, NULL), 1);
    free(before);
    free(after);
}

static void test_empty_databases_are_new(void **state)
{
    struct folder *folder = *state;
    file_write(folder->db, "", 0);
    assert_int_equal(store_must_save_sample(folder->db, 5), 1);
    folder_empty(folder);
    execute(folder->db, "CREATE TABLE t (x); DROP TABLE t; VACUUM");
    assert_int_equal(store_must_save_sample(folder->db, 5), 1);
    folder_empty(folder);
    /* A later version begins with an empty file and runs all migrations. */
    struct store_options options = options_of_next_version();
    struct store *store;
    struct sim_error error = {0};
    file_write(folder->db, "", 0);
    assert_true(store_open_with(folder->db, STORE_WRITE, &options, &store, &error));
    store_close(store);
    assert_query(folder->db, "SELECT count(*) FROM note", "0\n");
}

static void test_answer_of_a_run_belongs_to_that_run(void **state)
{
    struct folder *folder = *state;
    struct lab_result *result = sample_make(5);
    struct store_run_info info = sample_info();
    const struct store_work tune = {1, 2};
    struct sim_error error = {0};
    char *answer;
    store_must_save(folder->db, result);
    struct store *store = store_must_open(folder->db, STORE_WRITE);
    assert_true(store_tune_save(store, &tune, &info, result, "{\"why\":\"'cheap'\"}", &error));
    assert_int_equal(info.run, 2);
    for (int64_t run = 1; run <= 2; run++) {
        struct lab_result *loaded;
        assert_true(store_load_run(store, run, NULL, &loaded, &error));
        assert_int_equal(loaded->is_tuned, run == 2);
        lab_result_destroy(loaded);
    }
    assert_true(store_tune_load(store, 2, &answer, &error));
    assert_string_equal(answer, "{\"why\":\"'cheap'\"}");
    free(answer);
    assert_true(store_tune_load(store, 1, &answer, &error));
    assert_null(answer);
    /* Either both the run and the tune are stored or neither. */
    execute(folder->db, "CREATE TRIGGER t BEFORE INSERT ON tune BEGIN SELECT RAISE(ABORT, 'no'); END");
    assert_false(store_tune_save(store, &tune, &info, result, "{}", &error));
    assert_int_equal(error.class, SIM_ERROR_ENVIRONMENT);
    assert_int_equal(info.run, 2);
    store_close(store);
    assert_query(folder->db, "SELECT run, answer FROM run LEFT JOIN tune USING (run)",
                 "1|NULL\n2|{\"why\":\"'cheap'\"}\n");
    lab_result_destroy(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        folder_test(test_run_saved_and_loaded_is_equal),
        folder_test(test_run_of_extreme_values_is_equal),
        folder_test(test_run_without_strategies_is_equal),
        folder_test(test_run_of_half_a_million_bins_is_equal),
        folder_test(test_guarded_run_is_equal),
        folder_test(test_views_of_a_run_read_as_documented),
        folder_test(test_list_of_runs_is_newest_first),
        folder_test(test_missing_run_lists_the_existing_runs),
        folder_test(test_many_runs_with_gaps_fit_into_the_message),
        folder_test(test_store_creates_no_file_before_the_first_run),
        folder_test(test_reader_changes_no_byte),
        folder_test(test_two_stores_on_one_database_see_each_others_runs),
        folder_test(test_names_with_a_meaning_in_sqlite_are_files),
        folder_test(test_database_of_version_1_is_migrated_with_its_run),
        folder_test(test_database_of_version_3_is_migrated_with_its_run),
        folder_test(test_terms_are_stored_and_version_8_has_none),
        folder_test(test_database_of_version_7_is_read_and_migrated),
        folder_test(test_database_of_version_10_keeps_its_runs_and_their_kind_of_digest),
        folder_test(test_older_database_is_migrated_with_its_runs),
        folder_test(test_failed_migration_changes_nothing),
        folder_test(test_empty_databases_are_new),
        folder_test(test_answer_of_a_run_belongs_to_that_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
