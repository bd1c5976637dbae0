/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: whatever fails on the disk, and whenever the program dies, the database holds either a complete run or
 * nothing of it. Method: a file system whose write, or sync, 1, 2, 3 ... fails, once or from then on, until
 * saving succeeds; a child process that saves repeatedly and is killed. After each attempt SQLite checks the
 * database, and every run in it is compared with the saved one. */
#define _DEFAULT_SOURCE
#include "../share.h"
#include "sample.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "fault_vfs.h"

/* Counts the runs in the database, and checks each of them. */
static size_t count_runs(const struct folder *folder, const struct lab_result *saved)
{
    struct stat status;
    if (stat(folder->db, &status) != 0)
        return 0;
    struct sim_error error = {0};
    struct store *store = store_must_open(folder->db, STORE_WRITE);
    struct store_run_row *rows;
    size_t count;
    assert_true(store_list_runs(store, false, &rows, &count, &error));
    for (size_t i = 0; i < count; i++) {
        struct lab_result *loaded;
        if (!store_load_run(store, rows[i].run, NULL, &loaded, &error))
            fail_msg("run %d: %s", (int)rows[i].run, error.text);
        assert_results_equal(saved, loaded);
        lab_result_destroy(loaded);
    }
    store_runs_free(rows, count);
    store_close(store);
    assert_query(folder->db, "PRAGMA integrity_check", "ok\n");
    assert_query(folder->db, "PRAGMA foreign_key_check", "");
    return count;
}

/* One attempt under the configured fault; returns whether the store reported success. */
static bool save_once(const struct folder *folder, const struct lab_result *saved)
{
    struct store *store;
    struct store_run_info info = sample_info();
    struct sim_error error = {0};
    bool fine =
        store_open(folder->db, STORE_WRITE, &store, &error) && store_save_run(store, &info, saved, &error);
    store_close(store);
    if (!fine) {
        assert_int_equal(error.class, SIM_ERROR_ENVIRONMENT);
        assert_int_equal(strncmp(error.text, folder->db, strlen(folder->db)), 0);
        assert_non_null(strstr(error.text, fault.code == SQLITE_FULL ? "the disk is full; " : "; "));
    }
    return fine;
}

static bool has_journal(const struct folder *folder)
{
    char path[sizeof folder->db + 16];
    struct stat status;
    snprintf(path, sizeof path, "%s-journal", folder->db);
    return stat(path, &status) == 0;
}

/* The bytes of a database with these runs, to be freed, or NULL if there are none. */
static char *make_old(const struct folder *folder, const struct lab_result *saved, size_t runs, size_t *size)
{
    for (size_t i = 0; i < runs; i++)
        store_must_save(folder->db, saved);
    return runs > 0 ? file_read(folder->db, size) : NULL;
}

/* old_runs: runs in the database before the attempt. Ends when the fault no longer occurs, or at `most`. */
static void fail_in_turn(enum fault_kind kind, int code, bool is_lasting, size_t old_runs, uint64_t bins,
                         long step, long most)
{
    struct folder folder = folder_make();
    struct lab_result *saved = sample_make(bins);
    int failed = 0, none = 0, waiting = 0;
    long n = 0;
    size_t old_size = 0;
    char *old = make_old(&folder, saved, old_runs, &old_size);
    for (bool has_struck = true; has_struck && n < most; n = step == 1 ? test_next_fault(n) : n + step) {
        if (old_runs > 0)
            file_write(folder.db, old, old_size);
        fault_set(kind, is_lasting, code, n);
        bool fine = save_once(&folder, saved);
        has_struck = fault.has_struck;
        fault_set(FAULT_NONE, false, 0, 0);
        failed += fine ? 0 : 1;
        /* A new database appears with its first run or not at all. */
        struct stat status;
        bool is_there = stat(folder.db, &status) == 0;
        size_t size = is_there ? (size_t)status.st_size : 0;
        bool is_waiting = has_journal(&folder); /* the next program rolls back */
        assert_true(is_there ? size > 0 || is_waiting : !is_waiting);
        size_t runs = count_runs(&folder, saved);
        if (fine || kind == FAULT_WRITE)
            assert_int_equal(runs, old_runs + (fine ? 1 : 0));
        else
            assert_true(runs == old_runs || runs == old_runs + 1); /* the data may be written */
        assert_true(is_waiting || is_there == (runs > 0));
        waiting += is_waiting;
        none += is_there ? 0 : 1;
        folder_empty(&folder);
    }
    print_message("%d of %ld attempts failed, %d without a rollback\n", failed, n / step, waiting);
    assert_true(failed > 1);
    assert_int_equal(none > 0, old_runs == 0);
    free(old);
    lab_result_destroy(saved);
    folder_remove(&folder);
}

static void test_disk_full_in_a_new_database_leaves_all_or_nothing(void **state)
{
    (void)state;
    fail_in_turn(FAULT_WRITE, SQLITE_FULL, true, 0, 3, 1, 100000);
}

static void test_disk_full_in_an_old_database_leaves_all_or_nothing(void **state)
{
    (void)state;
    fail_in_turn(FAULT_WRITE, SQLITE_FULL, true, 1, 3, 1, 100000);
}

static void test_one_failed_write_leaves_all_or_nothing(void **state)
{
    (void)state;
    fail_in_turn(FAULT_WRITE, SQLITE_IOERR_WRITE, false, 1, 3, 1, 100000);
    fail_in_turn(FAULT_WRITE, SQLITE_FULL, false, 0, 3, 1, 100000);
}

/* A journal without its database would be applied to the next database with that name. */
static void test_broken_disk_leaves_no_journal_without_database(void **state)
{
    (void)state;
    fail_in_turn(FAULT_WRITE, SQLITE_IOERR_WRITE, true, 0, 3, 1, 100000);
    fail_in_turn(FAULT_WRITE, SQLITE_IOERR_WRITE, true, 1, 3, 1, 100000);
}

/* More data than SQLite's cache holds, so that the log grows before the transaction ends. */
static void test_disk_full_in_a_large_run_leaves_all_or_nothing(void **state)
{
    (void)state;
    fail_in_turn(FAULT_WRITE, SQLITE_FULL, true, 0, 4000, 331, 4000);
}

static void test_failed_sync_leaves_all_or_nothing(void **state)
{
    (void)state;
    fail_in_turn(FAULT_SYNC, SQLITE_IOERR_FSYNC, true, 0, 3, 1, 100000);
    fail_in_turn(FAULT_SYNC, SQLITE_IOERR_FSYNC, false, 1, 3, 1, 100000);
}

/* The message is that of the system. The store reads the file's first bytes without SQLite, which does not
 * know the cause of such a failure. */
static void test_failed_read_is_reported(void **state)
{
    struct folder *folder = *state;
    static const struct {
        int number;
        const char *word;
    } reasons[] = {
        {EIO, "Input/output error"},
        {ENOSPC, "the disk is full; free some space"},
        {EDQUOT, "the disk is full; free some space"},
        {ENOENT, "its folder does not exist; make it"},
    };
    struct lab_result *saved = sample_make(300), *loaded;
    store_must_save(folder->db, saved);
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        int failed = 0, unknown = 0;
        for (bool has_struck = true; has_struck; failed += has_struck) {
            struct store *store;
            struct sim_error error = {0};
            fault_set(FAULT_READ, false, SQLITE_IOERR_READ, failed);
            fault.number = reasons[i].number;
            bool fine = store_open(folder->db, STORE_READ, &store, &error) &&
                        store_load_run(store, 1, NULL, &loaded, &error);
            has_struck = fault.has_struck;
            fault_set(FAULT_NONE, false, 0, 0);
            store_close(store);
            assert_int_equal(fine, !has_struck);
            assert_int_equal(error.class, fine ? SIM_ERROR_NONE : SIM_ERROR_ENVIRONMENT);
            if (fine)
                lab_result_destroy(loaded);
            else if (strstr(error.text, "cannot be opened, read or written; check the file") != NULL)
                unknown++;
            else if (strstr(error.text, reasons[i].word) == NULL)
                fail_msg("read %d: %s", failed, error.text);
        }
        assert_int_equal(unknown, 1);
        assert_true(failed > 10);
    }
    assert_int_equal(count_runs(folder, saved), 1);
    lab_result_destroy(saved);
}

static void test_database_that_may_not_grow_is_full(void **state)
{
    struct folder *folder = *state;
    struct lab_result *saved = sample_make(2000);
    store_must_save_sample(folder->db, 3);
    struct store *store = store_must_open(folder->db, STORE_WRITE);
    struct store_run_info info = sample_info();
    struct sim_error error = {0};
    assert_true(store_execute(store, "PRAGMA max_page_count = 60", &error));
    assert_false(store_save_run(store, &info, saved, &error));
    assert_int_equal(error.class, SIM_ERROR_ENVIRONMENT);
    assert_non_null(strstr(error.text, "runs.db: the disk is full; free some space"));
    store_close(store);
    assert_query(folder->db, "SELECT count(*) FROM run", "1\n");
    lab_result_destroy(saved);
}

static void test_killed_writer_leaves_whole_runs(void **state)
{
    struct folder *folder = *state;
    struct lab_result *saved = sample_make(40);
    size_t runs = 0;
    for (unsigned i = 0; i < 12 || runs == 0;
         i += (unsigned)test_share()) { /* ever later, until a run is whole on any machine */
        pid_t child = fork();
        if (child == 0) {
            for (;;)
                store_must_save(folder->db, saved);
        }
        usleep(5000 + i * 7919);
        assert_int_equal(kill(child, SIGKILL), 0);
        assert_int_equal(waitpid(child, NULL, 0), child);
        size_t found = count_runs(folder, saved);
        assert_true(found >= runs);
        runs = found;
    }
    print_message("%zu runs of killed writers\n", runs);
    assert_true(runs > 0);
    lab_result_destroy(saved);
}

/* Kills the child at every write in turn. The large run has written most of its pages before the first page,
 * which identifies the file. */
static void kill_in_turn(size_t old_runs, uint64_t bins, long step)
{
    struct folder folder = folder_make();
    struct lab_result *saved = sample_make(bins);
    int killed = 0;
    long n = 0;
    size_t old_size = 0;
    char *old = make_old(&folder, saved, old_runs, &old_size);
    for (bool was_killed = true; was_killed; n = step == 1 ? test_next_fault(n) : n + step) {
        if (old_runs > 0)
            file_write(folder.db, old, old_size);
        pid_t child = fork();
        if (child == 0) {
            fault_set(FAULT_WRITE, true, FAULT_KILL, n);
            _exit(save_once(&folder, saved) ? 0 : 1);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        was_killed = WIFSIGNALED(status);
        killed += was_killed ? 1 : 0;
        assert_true(was_killed || status == 0);
        size_t runs = count_runs(&folder, saved);
        assert_true(runs == old_runs || runs == old_runs + 1);
        assert_true(was_killed || runs == old_runs + 1);
        /* The next program finds a usable database. */
        store_must_save(folder.db, saved);
        assert_int_equal(count_runs(&folder, saved), runs + 1);
        folder_empty(&folder);
    }
    print_message("killed at %d writes\n", killed);
    assert_true(killed > 5);
    free(old);
    lab_result_destroy(saved);
    folder_remove(&folder);
}

static void test_writer_killed_in_a_write_leaves_whole_runs(void **state)
{
    (void)state;
    kill_in_turn(0, 3, 1);
    kill_in_turn(1, 3, test_share() > 1 ? 5 : 3);
    kill_in_turn(0, 4000, 97);
}

int main(void)
{
    fault_vfs_register();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_disk_full_in_a_new_database_leaves_all_or_nothing),
        cmocka_unit_test(test_disk_full_in_an_old_database_leaves_all_or_nothing),
        cmocka_unit_test(test_one_failed_write_leaves_all_or_nothing),
        cmocka_unit_test(test_broken_disk_leaves_no_journal_without_database),
        cmocka_unit_test(test_disk_full_in_a_large_run_leaves_all_or_nothing),
        cmocka_unit_test(test_failed_sync_leaves_all_or_nothing),
        folder_test(test_failed_read_is_reported),
        folder_test(test_database_that_may_not_grow_is_full),
        folder_test(test_killed_writer_leaves_whole_runs),
        cmocka_unit_test(test_writer_killed_in_a_write_leaves_whole_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
