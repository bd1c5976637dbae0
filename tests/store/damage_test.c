/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a value that the program cannot have written, wherever it is stored, makes each operation that reads
 * it report a damaged database, in one line, and changes nothing.
 *
 * Method: a database in which every table has rows, one edit at a time, and the operation that reads the
 * edited value. During an edit the tables' declarations are relaxed, so that a text may replace a declared
 * number, as a flipped bit could cause. */
#define _DEFAULT_SOURCE
#include "operations.h"

#include "fault_vfs.h" /* for speed */

struct damage {
    bool (*run)(struct stand *stand, struct sim_error *error);
    const char *edit;
};

/* Of the runs in operations.h, run 5 has cluster data only in its second strategy, "every row". */
static const struct damage damages[] = {
    {load_run, "UPDATE run SET created_unix_s = 'soon'"},
    {load_run, "UPDATE run SET digest = NULL"},
    {load_run, "UPDATE run SET digest = 7"},
    {load_run, "UPDATE run SET seed = 1.5"},
    {load_run, "UPDATE run SET seed = NULL"},
    {load_run, "UPDATE run SET limit_tiny_rows = x'07'"},
    {load_run, "UPDATE strategy SET label = NULL"},
    {load_run, "UPDATE strategy SET kind = NULL"},
    {load_run, "UPDATE strategy SET placement_digest = 'ten'"},
    {load_run, "UPDATE strategy SET placement_digest = 'ten', label = NULL"},
    {load_run, "UPDATE setting SET value = -1 WHERE name = 'threshold'"},
    {load_run, "UPDATE setting SET value = NULL WHERE name = 'threshold'"},
    {load_run, "UPDATE metric SET name = NULL"},
    {load_run, "UPDATE metric SET value = 'much'"},
    {load_run, "UPDATE metric SET value = 'much', name = NULL"},
    {load_metrics, "UPDATE metric SET value = 'much'"},
    {load_run, "UPDATE histogram SET state = NULL"},
    {load_run, "UPDATE histogram SET unit = NULL"},
    {load_run, "UPDATE histogram SET is_rounded = 'so'"},
    {load_run, "UPDATE histogram SET weighted_sum = weighted_sum + 1 WHERE state = 'open'"},
    {load_run, "UPDATE histogram SET least = least + 1000000000 WHERE unit = 'ns'"},
    {load_run, "UPDATE histogram SET most = most * 2 WHERE unit = 'ns'"},
    {load_run, "UPDATE histogram SET sum = sum * 2 WHERE unit = 'ns'"},
    {load_run, "UPDATE histogram SET bins = replace(bins, ',', ';')"},
    {load_run, "UPDATE histogram SET bins = NULL"},
    {load_run, "UPDATE histogram SET bins = bins || ' '"},
    {load_run, "UPDATE histogram SET bins = '[' || bins"},
    {load_run, "UPDATE histogram SET bins = '[[18446744073709551616,1,1]]'"},
    {load_run, "UPDATE histogram SET bins = '[[\"7,1,1]]'"},
    {load_run, "UPDATE histogram SET bins = '[[,1,1]]'"},
    {load_run, "UPDATE expectation SET text = NULL"},
    {load_run, "UPDATE expectation SET ok = 'yes'"},
    {load_run, "UPDATE expectation SET ok = 'yes', text = NULL"},
    {load_run, "UPDATE largest SET unit = 'cells' WHERE unit = 'rows'"},
    {load_run, "UPDATE largest SET key = NULL"},
    {load_run, "UPDATE largest SET key = printf('%.*c', 300, 'x')"},
    {load_run, "UPDATE slice SET state = 'ajar' WHERE state = 'open'"},
    {load_run, "UPDATE slice SET end_ns = start_ns - 1"},
    {load_run, "UPDATE slice SET partitions = 0"},
    {load_run, "UPDATE slice SET start_ns = 'then' WHERE state = 'open'"},
    {load_run, "UPDATE slice SET rows_least = 'few'"},
    {load_run, "UPDATE slice SET bytes_least = -1"},
    {load_run, "UPDATE slice SET rows_least = rows_p10 + 1"},
    {load_run, "UPDATE slice SET rows_p10 = rows_p50 + 1"},
    {load_run, "UPDATE slice SET bytes_p50 = bytes_p90 + 1"},
    {load_run, "UPDATE slice SET bytes_p90 = bytes_most + 1"},
    {load_run, "UPDATE node SET name = NULL"},
    {load_run, "UPDATE node SET name = printf('%.*c', 300, 'x')"},
    {load_run, "UPDATE event_log SET marks = 'none'"},
    {load_run, "UPDATE event_log SET marks = NULL"},
    {load_run, "UPDATE change SET key = NULL"},
    {load_run, "UPDATE change SET change_ns = 'then', key = NULL"},
    {load_run, "UPDATE belief SET bucket = 'mine'"},
    {list_runs, "UPDATE run SET elapsed_ms = 'long'"},
    {list_runs, "UPDATE run SET digest = 'xyz'"},
    {list_seeds, "UPDATE run SET seed = -1"},
    {load_baseline, "UPDATE baseline SET run = 0"},
    {load_baseline, "UPDATE baseline SET run = 'six'"},
    {load_baseline, "UPDATE baseline SET seeds = -1"},
    {load_baseline, "UPDATE baseline_metric SET name = name || printf('%.*c', 300, 'x')"},
    {load_baseline, "UPDATE baseline_metric SET mean = 'mean'"},
    {load_baseline, "UPDATE baseline_metric SET count = -1"},
    {digest_sweep, "UPDATE sweep SET jobs = 5"},
    {digest_sweep, "UPDATE sweep SET version = NULL"},
    {digest_sweep, "UPDATE sweep SET jobs = 5, version = NULL"},
    {digest_sweep, "UPDATE sweep_job SET job = 0 WHERE job = 1"},
    {digest_sweep, "UPDATE sweep_job SET job = 99 WHERE job = 1"},
    {digest_sweep, "UPDATE sweep_job SET job = 'first' WHERE job = 1"},
    {digest_sweep, "UPDATE run SET digest = 'xyz'"},
    {list_sweeps, "UPDATE sweep SET identity = 'me'"},
    {list_sweeps, "UPDATE sweep SET jobs = -1"},
    {list_sweeps, "UPDATE sweep_job SET job = -1 WHERE job = 1"},
    {list_sweeps, "UPDATE run SET digest = 'xyz'"},
    {visit_sweep, "UPDATE metric SET value = 'much'"},
    {keep_jobs, "UPDATE sweep SET jobs = 5"},
    {list_runs, "UPDATE run SET scenario = NULL"},
    {load_run, "UPDATE run SET scenario = NULL"},
    {load_run, "UPDATE strategy SET label = NULL"},
    {load_run, "UPDATE strategy SET kind = NULL"},
    {load_run, "UPDATE expectation SET text = NULL"},
    {load_outcomes, "UPDATE outcome SET job = 'ten' WHERE job LIKE '%2'"},
    {load_outcomes, "UPDATE outcome SET digest = 7"},
    {load_outcomes, "UPDATE outcome SET outcome = 'text'"},
};

/* Like execute(), with declarations that accept any value. */
static void execute_loosely(const char *path, const char *edit)
{
    static const char format[] =
        "PRAGMA ignore_check_constraints = ON; PRAGMA writable_schema = ON;"
        "CREATE TEMP TABLE kept AS SELECT name AS place, sql AS was FROM main.sqlite_schema WHERE type = "
        "'table';"
        "UPDATE main.sqlite_schema SET sql = replace(replace(replace(replace(sql, 'STRICT, ', ''), 'STRICT', "
        "''), 'NOT NULL', ''), ' ANY', ' BLOB') WHERE type = 'table';"
        "PRAGMA writable_schema = RESET; %s; PRAGMA writable_schema = ON;"
        "UPDATE main.sqlite_schema SET sql = (SELECT was FROM kept WHERE place = name) "
        "WHERE type = 'table'; PRAGMA writable_schema = RESET";
    char sql[2048];
    assert_in_range(snprintf(sql, sizeof sql, format, edit), 1, sizeof sql - 1);
    execute(path, sql);
}

static void test_values_that_no_program_wrote_are_reported_as_damage(void **state)
{
    (void)state;
    struct stand stand = stand_make();
    size_t size, size_before, size_after;
    char *bytes = file_read(stand.folder.db, &size);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        struct sim_error error = {0};
        file_write(stand.folder.db, bytes, size);
        execute_loosely(stand.folder.db, damages[i].edit);
        char *before = file_read(stand.folder.db, &size_before);
        stand.store = store_must_open(stand.folder.db, STORE_WRITE);
        if (damages[i].run(&stand, &error))
            fail_msg("nobody minds '%s'", damages[i].edit);
        store_close(stand.store);
        if (error.class != SIM_ERROR_ENVIRONMENT || strstr(error.text, "runs.db: damaged (") == NULL)
            fail_msg("%s: %s", damages[i].edit, error.text);
        char *after = file_read(stand.folder.db, &size_after);
        assert_int_equal(size_before, size_after);
        assert_memory_equal(before, after, size_after);
        free(before);
        free(after);
    }
    free(bytes);
    stand_remove(&stand);
}

int main(void)
{
    fault_vfs_register();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_that_no_program_wrote_are_reported_as_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
