/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a merge loses nothing, duplicates nothing, and covers every table; when it is refused, the receiving
 * database and all sources stay unchanged. Method: databases of made-up runs and jobs; one in which every
 * table of the schema has rows, read from the schema itself; parts that overlap in every way, in any order,
 * repeatedly; and the file system that fails at write 1, 2, 3 ... */
#define _DEFAULT_SOURCE
#include "store/store.h"
#include "sweep_sample.h"

#include <signal.h>
#include <sys/wait.h>

#include "../share.h"
#include "fault_vfs.h"

#define ALL     ((1u << SWEEP_JOBS) - 1)
#define SOURCES 3

struct stand {
    struct folder folder;
    char paths[SOURCES][PATH_SIZE]; /* "a.db", "b.db", "c.db" */
    struct lab_sweep *sweep;
};

#define stand_test(name) cmocka_unit_test_setup_teardown(name, stand_begin, stand_end)
static int stand_begin(void **state)
{
    struct stand *stand = *state = malloc(sizeof *stand);
    assert_non_null(stand);
    *stand = (struct stand){.folder = folder_make(), .sweep = sweep_make()};
    for (int i = 0; i < SOURCES; i++)
        snprintf(stand->paths[i], PATH_SIZE, "%s/%c.db", stand->folder.path, 'a' + i);
    return 0;
}

static int stand_end(void **state)
{
    struct stand *stand = *state;
    lab_sweep_destroy(stand->sweep);
    folder_remove(&stand->folder);
    free(stand);
    return 0;
}

static bool merge(const char *into_path, const char *source_path, struct store_merged *out,
                  struct sim_error *error)
{
    struct store *into = NULL, *source = NULL;
    bool is_fine = store_open(source_path, STORE_READ, &source, error) &&
                   store_open(into_path, STORE_WRITE, &into, error) &&
                   store_merge(into, &source, 1, NULL, out, error);
    store_close(source);
    store_close(into);
    return is_fine;
}

static struct store_merged must_merge(const char *into, const char *source)
{
    struct store_merged merged;
    struct sim_error error = {0};
    if (!merge(into, source, &merged, &error))
        fail_msg("%s", error.text);
    return merged;
}

/* All rows of all tables as text, which the caller frees; except what unfinished commands have done,
 * which is not merged. */
static char *dump(const char *path, bool asserts_filled)
{
    static char names[4096], rows[1 << 20];
    size_t used = 0, size = 1 << 22;
    char *out = calloc(1, size), sql[4200];
    assert_non_null(out);
    query(path,
          "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT IN "
          "('outcome') ORDER BY name",
          names, sizeof names);
    for (char *name = names, *end; (end = strchr(name, '\n')) != NULL; name = end + 1) {
        *end = '\0';
        snprintf(sql, sizeof sql, "SELECT * FROM \"%s\" ORDER BY 1, 2", name);
        query(path, sql, rows, sizeof rows);
        if (asserts_filled && rows[0] == '\0')
            fail_msg("table '%s' holds nothing: let the test fill it, so that it is seen to be merged", name);
        used += (size_t)snprintf(out + used, size - used, "%s:\n%s", name, rows);
        assert_true(used < size);
    }
    return out;
}

static void assert_sound(const char *path)
{
    assert_query(path, "PRAGMA integrity_check", "ok\n");
    assert_query(path, "PRAGMA foreign_key_check", "");
}

/* Adds rows to every table. */
static void fill_all(const char *path, const struct lab_sweep *sweep)
{
    store_must_save_sample(path, 3);
    sweep_must_store(path, sweep, 0x00f);
    store_must_save_sample(path, 4);
    execute(path,
            "INSERT INTO tune VALUES (1, '{\"a\": 1}');"
            "INSERT INTO run_term VALUES (1, 'confidence', 0.95);"
            "INSERT INTO baseline (scenario, run, seeds) VALUES ('chat-channels', 6, 5);"
            "INSERT INTO baseline_metric (scenario, label, name, count, mean, stddev, low, high) VALUES "
            "('chat-channels', 'hash', 'x', 5, 1.5, 0.25, NULL, 2), "
            "('chat-channels', 'hash', 'y', 5, 2.5, 0.5, 1, NULL)");
}

static void test_every_table_is_merged(void **state)
{
    struct stand *stand = *state;
    fill_all(stand->paths[0], stand->sweep);
    struct store_merged merged = must_merge(stand->paths[1], stand->paths[0]);
    assert_true(merged.added == 6 && merged.found == 0);
    char *there = dump(stand->paths[0], true), *here = dump(stand->paths[1], true);
    assert_string_equal(here, there);
    merged = must_merge(stand->paths[1], stand->paths[0]);
    assert_true(merged.added == 0 && merged.found == 6);
    free(here);
    here = dump(stand->paths[1], true);
    assert_string_equal(here, there);
    assert_sound(stand->paths[1]);
    free(there);
    free(here);
}

static void test_bins_of_an_earlier_version_are_merged(void **state)
{
    struct stand *stand = *state;
    fill_all(stand->paths[0], stand->sweep);
    execute(stand->paths[0], "UPDATE run SET digest_kind = 0");
    char *there = dump(stand->paths[0], true);
    execute(stand->paths[0], SAMPLE_VERSION_10 SAMPLE_BINS_TO_ROWS "PRAGMA user_version = 9");
    struct store_merged merged = must_merge(stand->paths[1], stand->paths[0]);
    assert_true(merged.added == 6 && merged.found == 0);
    char *here = dump(stand->paths[1], true);
    assert_string_equal(here, there);
    free(there);
    free(here);
}

static void assert_loads(const char *path, int64_t run, uint64_t bins)
{
    struct lab_result *expected = sample_make(bins), *loaded;
    struct sim_error error = {0};
    struct store *store = store_must_open(path, STORE_READ);
    if (!store_load_run(store, run, NULL, &loaded, &error))
        fail_msg("%s", error.text);
    assert_results_equal(loaded, expected);
    store_close(store);
    lab_result_destroy(loaded);
    lab_result_destroy(expected);
}

static void test_runs_are_numbered_again_behind_those_that_are_there(void **state)
{
    struct stand *stand = *state;
    store_must_save_sample(stand->paths[0], 9);
    store_must_save_sample(stand->paths[0], 10);
    fill_all(stand->paths[1], stand->sweep);
    execute(stand->paths[0], "UPDATE run SET elapsed_ms = run;"
                             "INSERT INTO baseline (scenario, run, seeds) VALUES ('chat-channels', 2, 7)");
    struct store_merged merged = must_merge(stand->paths[0], stand->paths[1]);
    assert_true(merged.added == 6 && merged.found == 0);
    static const uint64_t bins[] = {9, 10, 3, 3, 3, 3, 3, 4};
    assert_loads(stand->paths[0], 1, bins[0]);
    assert_loads(stand->paths[0], 2, bins[1]);
    assert_loads(stand->paths[0], 3, bins[2]);
    assert_loads(stand->paths[0], 8, bins[7]);
    assert_query(stand->paths[0], "SELECT job, run FROM sweep_job ORDER BY job", "1|4\n2|5\n3|6\n4|7\n");
    assert_query(stand->paths[0], "SELECT run, answer FROM tune", "3|{\"a\": 1}\n");
    /* A scenario keeps its existing baseline. */
    assert_query(stand->paths[0], "SELECT run, seeds, (SELECT count(*) FROM baseline_metric) FROM baseline",
                 "2|7|0\n");
    assert_sound(stand->paths[0]);
}

static void test_run_that_was_stored_twice_comes_twice(void **state)
{
    struct stand *stand = *state;
    for (int i = 0; i < 3; i++)
        store_must_save_sample(stand->paths[0], 3);
    store_must_save_sample(stand->paths[1], 3);
    struct store_merged merged = must_merge(stand->paths[1], stand->paths[0]);
    assert_true(merged.added == 2 && merged.found == 1);
    merged = must_merge(stand->paths[1], stand->paths[0]);
    assert_true(merged.added == 0 && merged.found == 3);
    /* A run with another creation time is another run. */
    execute(stand->paths[0], "UPDATE run SET created_unix_s = created_unix_s + 1 WHERE run = 2");
    merged = must_merge(stand->paths[1], stand->paths[0]);
    assert_true(merged.added == 1 && merged.found == 2);
}

static void test_overlapping_parts_merge_in_any_order(void **state)
{
    struct stand *stand = *state;
    uint64_t draw = 5;
    for (int round = 0; round < (int)test_part(12); round++) {
        unsigned parts[SOURCES], all = 0;
        for (int i = 0; i < SOURCES; i++) {
            draw = sim_mix64(draw);
            parts[i] = (unsigned)(draw & ALL) | 1u << i;
            sweep_must_store(stand->paths[i], stand->sweep, parts[i]);
        }
        for (int i = 0; i < 2 * SOURCES; i++) {
            draw = sim_mix64(draw);
            int source = i < SOURCES ? (round + i) % SOURCES : (int)(draw % SOURCES);
            struct store_merged merged = must_merge(stand->folder.db, stand->paths[source]);
            assert_int_equal(merged.found, __builtin_popcount(parts[source] & all));
            assert_int_equal(merged.added, __builtin_popcount(parts[source] & ~all));
            all |= parts[source];
            assert_int_equal(sweep_done(stand->folder.db, stand->sweep), all);
        }
        assert_query(stand->folder.db, "SELECT count(*) FROM sweep", "1\n");
        folder_empty(&stand->folder);
    }
}

static void assert_refused(struct stand *stand, enum sim_error_class class, const char *text)
{
    struct store_merged merged;
    struct sim_error error = {0};
    size_t sizes[2], size;
    char *before[2];
    for (int i = 0; i < 2; i++)
        before[i] = file_read(stand->paths[i], &sizes[i]);
    assert_false(merge(stand->paths[0], stand->paths[1], &merged, &error));
    assert_int_equal(error.class, class);
    if (strstr(error.text, text) == NULL)
        fail_msg("'%s' lacks '%s'", error.text, text);
    for (int i = 0; i < 2; i++) {
        char *after = file_read(stand->paths[i], &size);
        assert_int_equal(size, sizes[i]);
        assert_memory_equal(after, before[i], size);
        free(after);
        free(before[i]);
    }
}

static void test_job_with_two_digests_is_refused(void **state)
{
    struct stand *stand = *state;
    sweep_must_store(stand->paths[0], stand->sweep, 0x00c);
    sweep_must_store(stand->paths[1], stand->sweep, 0x01f);
    execute(stand->paths[1], "UPDATE run SET digest = '0000000000000001' WHERE run = 4");
    assert_refused(stand, SIM_ERROR_CHECK,
                   "b.db: job 4 of a sweep, run 4, has digest 0000000000000001, and in ");
    assert_refused(stand, SIM_ERROR_CHECK, "; 'bucketlab replay 4 --db ");
}

static void test_sweep_of_two_versions_is_refused(void **state)
{
    struct stand *stand = *state;
    sweep_must_store(stand->paths[0], stand->sweep, 0x00c);
    sweep_must_store(stand->paths[1], stand->sweep, 0x003);
    execute(stand->paths[1], "UPDATE sweep SET version = '0.2.0'");
    assert_refused(stand, SIM_ERROR_INPUT, "b.db: its sweep 1 is by bucketlab 0.2.0, and that in ");
}

static void test_bad_source_is_refused(void **state)
{
    struct stand *stand = *state;
    static const struct {
        const char *edit, *text;
    } cases[] = {
        {"PRAGMA user_version = 99", "made by a newer bucketlab"},
        {"PRAGMA user_version = 2", "made by an older bucketlab"},
        {"PRAGMA application_id = 7", "a database of another program"},
        {"DROP VIEW strategy_metrics; DROP TABLE metric", "damaged ("},
    };
    sweep_must_store(stand->paths[0], stand->sweep, 0x00c);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sweep_must_store(stand->paths[1], stand->sweep, 0x003);
        execute(stand->paths[1], cases[i].edit);
        assert_refused(stand, SIM_ERROR_ENVIRONMENT, cases[i].text);
        remove(stand->paths[1]);
    }
    file_write(stand->paths[1], "no database at all", 18);
    assert_refused(stand, SIM_ERROR_ENVIRONMENT, "not a database");
    /* An index that lacks a row: without a check the row would be lost silently. */
    remove(stand->paths[1]);
    sweep_must_store(stand->paths[1], stand->sweep, 0x003);
    execute(
        stand->paths[1],
        "PRAGMA writable_schema = ON; CREATE TABLE t (a); INSERT INTO t SELECT rootpage FROM sqlite_schema "
        "WHERE name = 'sqlite_autoindex_strategy_1'; UPDATE sqlite_schema SET rootpage = (SELECT rootpage "
        "FROM sqlite_schema WHERE name = 'sqlite_autoindex_strategy_2') WHERE name = "
        "'sqlite_autoindex_strategy_1'; DROP TABLE t");
    assert_refused(stand, SIM_ERROR_ENVIRONMENT, "damaged (");
}

static void test_database_into_itself_is_refused(void **state)
{
    struct stand *stand = *state;
    sweep_must_store(stand->paths[0], stand->sweep, 0x00c);
    assert_int_equal(link(stand->paths[0], stand->paths[1]), 0);
    assert_refused(stand, SIM_ERROR_INPUT,
                   "b.db: receives the other databases, so it cannot be one of them; ");
}

/* Changes in the log of a killed writer count, and the log is left in place. */
static void test_log_of_a_source_is_read_and_left(void **state)
{
    struct stand *stand = *state;
    char log[PATH_SIZE + 8];
    sweep_must_store(stand->paths[1], stand->sweep, 0x001);
    pid_t child = fork();
    if (child == 0) {
        struct store *store = store_must_open(stand->paths[1], STORE_WRITE);
        struct store_sweep *stored = sweep_must_open(store, stand->sweep);
        struct sim_error error;
        sweep_keep(stored, 0x006, 3, &error);
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    snprintf(log, sizeof log, "%s-wal", stand->paths[1]);
    size_t sizes[2], size;
    char *before[] = {file_read(stand->paths[1], &sizes[0]), file_read(log, &sizes[1])};
    assert_true(sizes[1] > 0);
    struct store_merged merged = must_merge(stand->paths[0], stand->paths[1]);
    assert_int_equal(merged.added, 3);
    for (int i = 0; i < 2; i++) {
        char *after = file_read(i == 0 ? stand->paths[1] : log, &size);
        assert_int_equal(size, sizes[i]);
        assert_memory_equal(after, before[i], size);
        free(after);
        free(before[i]);
    }
    assert_int_equal(sweep_done(stand->paths[0], stand->sweep), 0x007);
    assert_int_equal(sweep_done(stand->paths[1], stand->sweep), 0x007);
}

static void test_full_disk_merges_all_or_nothing(void **state)
{
    struct stand *stand = *state;
    int failed = 0;
    sweep_must_store(stand->paths[1], stand->sweep, 0x01e);
    size_t size;
    sweep_must_store(stand->paths[0], stand->sweep, 0x003);
    char *bytes = file_read(stand->paths[0], &size);
    for (int is_old = 0; is_old < 2; is_old++) {
        bool has_struck = true;
        for (long n = 0; has_struck && n < 2000; n = test_next_fault(n)) {
            struct sim_error error = {0};
            struct store_merged merged;
            remove(stand->paths[0]);
            if (is_old)
                file_write(stand->paths[0], bytes, size);
            fault_set(FAULT_WRITE, true, SQLITE_FULL, n);
            bool is_fine = merge(stand->paths[0], stand->paths[1], &merged, &error);
            has_struck = fault.has_struck;
            fault_set(FAULT_NONE, false, 0, 0);
            assert_true(is_fine || strstr(error.text, "the disk is full; ") != NULL);
            failed += is_fine ? 0 : 1;
            unsigned old = is_old ? 0x003 : 0;
            struct stat status;
            unsigned done =
                stat(stand->paths[0], &status) == 0 ? sweep_done(stand->paths[0], stand->sweep) : 0;
            assert_int_equal(done, is_fine ? 0x01e | old : old);
        }
        assert_false(has_struck);
    }
    print_message("failed at %d writes\n", failed);
    assert_true(failed > 10);
    assert_int_equal(sweep_done(stand->paths[1], stand->sweep), 0x01e);
    free(bytes);
}

/* Runs without any other rows, in a number that exceeds the lists' first capacity. */
static void test_many_runs_are_merged_once(void **state)
{
    struct stand *stand = *state;
    store_must_save_sample(stand->paths[0], 1);
    execute(stand->paths[0], "WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 200) "
                             "INSERT INTO run SELECT i, scenario, about, source, seed + i / 2, digest, rows, "
                             "keys, start_ns, end_ns, limit_partition_rows, limit_partition_bytes, "
                             "limit_tiny_rows, created_unix_s, elapsed_ms, version, scenario_path, "
                             "scenario_text, overrides, 1 FROM n, run WHERE run = 1");
    /* A database without a write-ahead log is merged too. */
    execute(stand->paths[0], "PRAGMA journal_mode = DELETE");
    struct store_merged merged = must_merge(stand->paths[1], stand->paths[0]);
    assert_true(merged.added == 200 && merged.found == 0);
    assert_query(stand->paths[1], "SELECT count(*), count(DISTINCT seed), min(run), max(run) FROM run",
                 "200|101|1|200\n");
    merged = must_merge(stand->paths[1], stand->paths[0]);
    assert_true(merged.added == 0 && merged.found == 200);
    /* Some of the runs are already present. */
    execute(stand->paths[1], "DELETE FROM run WHERE run % 3 = 0");
    merged = must_merge(stand->paths[1], stand->paths[0]);
    assert_true(merged.added == 66 && merged.found == 134);
    assert_sound(stand->paths[1]);
}

/* Declarations that were altered to hide a value that the tables here reject. */
static void test_source_that_does_not_fit_is_refused(void **state)
{
    struct stand *stand = *state;
    struct store_merged merged;
    struct sim_error error = {0};
    store_must_save_sample(stand->paths[0], 1);
    execute(stand->paths[0], "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'NOT "
                             "NULL', '') WHERE name = 'strategy'; PRAGMA writable_schema = RESET; UPDATE "
                             "strategy SET kind = NULL WHERE label = 'hash'");
    assert_false(merge(stand->paths[1], stand->paths[0], &merged, &error));
    assert_int_equal(error.class, SIM_ERROR_ENVIRONMENT);
    assert_non_null(strstr(error.text, "a.db: table 'strategy' is not as bucketlab makes it"));
    assert_int_equal(access(stand->paths[1], F_OK), -1);
    assert_int_equal(access(stand->paths[1], F_OK), -1);
}

/* An open file stays readable after its removal. */
static void test_source_that_is_removed_meanwhile_is_merged(void **state)
{
    struct stand *stand = *state;
    struct store_merged merged;
    struct sim_error error = {0};
    store_must_save_sample(stand->paths[0], 1);
    store_must_save_sample(stand->paths[1], 1);
    execute(stand->paths[0], "UPDATE run SET seed = 9");
    struct store *source = store_must_open(stand->paths[0], STORE_READ),
                 *into = store_must_open(stand->paths[1], STORE_WRITE);
    assert_int_equal(unlink(stand->paths[0]), 0);
    assert_true(store_merge(into, &source, 1, NULL, &merged, &error));
    assert_int_equal(merged.added, 1);
    store_close(source);
    store_close(into);
    assert_query(stand->paths[1], "SELECT run, seed FROM run", "1|1\n2|9\n");
}

static void test_stopped_merge_changes_nothing(void **state)
{
    struct stand *stand = *state;
    sweep_must_store(stand->paths[0], stand->sweep, 0x003);
    struct store *into, *source = store_must_open(stand->paths[0], STORE_READ);
    struct lab_progress progress = {.stop = true};
    struct store_merged merged;
    struct sim_error error = {0};
    assert_true(store_open(stand->paths[1], STORE_WRITE, &into, &error));
    assert_false(store_merge(into, &source, 1, &progress, &merged, &error));
    assert_string_equal(error.text, "interrupted; nothing was merged");
    store_close(into);
    store_close(source);
    assert_int_equal(access(stand->paths[1], F_OK), -1);
}

static void test_sweeps_are_listed_with_their_digests(void **state)
{
    struct stand *stand = *state;
    sweep_must_store(stand->paths[0], stand->sweep, 0x00a);
    struct store *store = store_must_open(stand->paths[0], STORE_READ);
    struct store_sweep_row *rows;
    struct sim_error error = {0};
    size_t count;
    assert_true(store_list_sweeps(store, &rows, &count, &error));
    assert_int_equal(count, 1);
    assert_string_equal(rows[0].scenario_name, "x");
    assert_true(rows[0].identity == stand->sweep->identity && rows[0].jobs == SWEEP_JOBS &&
                rows[0].done == 2);
    uint64_t digest = lab_sweep_digest_add(0, 2, sweep_run_digest(1));
    assert_true(rows[0].digest == lab_sweep_digest_add(digest, 4, sweep_run_digest(3)));
    store_sweeps_free(rows, count);
    store_close(store);
}

int main(void)
{
    fault_vfs_register();
    const struct CMUnitTest tests[] = {
        stand_test(test_every_table_is_merged),
        stand_test(test_bins_of_an_earlier_version_are_merged),
        stand_test(test_runs_are_numbered_again_behind_those_that_are_there),
        stand_test(test_run_that_was_stored_twice_comes_twice),
        stand_test(test_overlapping_parts_merge_in_any_order),
        stand_test(test_job_with_two_digests_is_refused),
        stand_test(test_sweep_of_two_versions_is_refused),
        stand_test(test_bad_source_is_refused),
        stand_test(test_database_into_itself_is_refused),
        stand_test(test_log_of_a_source_is_read_and_left),
        stand_test(test_full_disk_merges_all_or_nothing),
        stand_test(test_many_runs_are_merged_once),
        stand_test(test_source_that_does_not_fit_is_refused),
        stand_test(test_source_that_is_removed_meanwhile_is_merged),
        stand_test(test_stopped_merge_changes_nothing),
        stand_test(test_sweeps_are_listed_with_their_digests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
