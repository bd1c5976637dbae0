/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a batch of jobs is stored completely or not at all, and each job once, whatever disk, locks, kills and
 * other programs do; the stored jobs are loaded as they were. Method: made-up jobs in batches, with the file
 * system that fails at write 1, 2, 3 ..., with child processes that are killed, and with two programs working
 * on one sweep. */
#define _DEFAULT_SOURCE
#include "../share.h"
#include "sweep_sample.h"

#include <signal.h>
#include <sys/wait.h>

#include "fault_vfs.h"

#define ALL ((1u << SWEEP_JOBS) - 1)

static void test_jobs_are_kept_once_and_reported_in_order(void **state)
{
    struct folder *folder = *state;
    struct lab_sweep *sweep = sweep_make();
    sweep_must_store(folder->db, sweep, 0x0f0);
    assert_int_equal(sweep_done(folder->db, sweep), 0x0f0);
    sweep_must_store(folder->db, sweep, 0x1f8);
    assert_int_equal(sweep_done(folder->db, sweep), 0x1f8);
    assert_query(folder->db, "SELECT job, point, run FROM sweep_job ORDER BY job",
                 "4|1|5\n5|2|1\n6|2|2\n7|2|3\n8|2|4\n9|3|6\n");
    assert_query(
        folder->db, "SELECT point, settings FROM sweep_point ORDER BY point",
        "1|strategies.hash.buckets=2\n\n2|strategies.hash.buckets=3\n\n3|strategies.hash.buckets=4\n\n");
    assert_query(folder->db, "SELECT jobs, points, version, scenario FROM sweep", "12|3|0.1.0|x\n");
    sweep_must_store(folder->db, sweep, ALL);
    assert_int_equal(sweep_done(folder->db, sweep), ALL);
    /* After a run has been deleted, its job is done again. */
    execute(folder->db, "PRAGMA foreign_keys = ON; DELETE FROM run WHERE run = 3");
    assert_int_equal(sweep_done(folder->db, sweep), ALL & ~(1u << 6));
    lab_sweep_destroy(sweep);
}

static void test_other_digest_of_a_job_is_refused(void **state)
{
    struct folder *folder = *state;
    struct lab_sweep *sweep = sweep_make();
    sweep_must_store(folder->db, sweep, 0x007);
    struct store *store = store_must_open(folder->db, STORE_WRITE);
    struct store_sweep *stored = sweep_must_open(store, sweep);
    struct sim_error error = {0};
    struct store_job jobs[] = {sweep_job_make(5, 3), sweep_job_make(2, 3)};
    jobs[1].result->digest = 1;
    assert_false(store_sweep_keep(stored, jobs, 2, &error));
    assert_int_equal(error.class, SIM_ERROR_CHECK);
    assert_non_null(strstr(error.text, "job 3 is stored with digest "));
    assert_non_null(strstr(error.text, ", and came to 0000000000000001 now; "));
    sweep_jobs_clear(jobs, 2);
    store_sweep_close(stored);
    store_close(store);
    assert_int_equal(sweep_done(folder->db, sweep), 0x007);
    lab_sweep_destroy(sweep);
}

static void test_sweep_of_another_version_is_refused(void **state)
{
    struct folder *folder = *state;
    struct lab_sweep *sweep = sweep_make();
    struct store_sweep *stored;
    struct sim_error error = {0};
    sweep_must_store(folder->db, sweep, 0x001);
    struct store *store = store_must_open(folder->db, STORE_WRITE);
    assert_false(store_sweep_open(store, sweep, "/x.yaml", "0.2.0", &stored, &error));
    assert_int_equal(error.class, SIM_ERROR_INPUT);
    assert_non_null(strstr(error.text, "bucketlab 0.1.0 began this sweep, and this is 0.2.0: "));
    store_close(store);
    lab_sweep_destroy(sweep);
}

/* Both programs opened the sweep before either wrote. */
static void test_two_programs_at_one_sweep_do_each_job_once(void **state)
{
    struct folder *folder = *state;
    struct lab_sweep *sweep = sweep_make();
    struct store *stores[2];
    struct store_sweep *stored[2];
    struct sim_error error = {0};
    for (int i = 0; i < 2; i++) {
        stores[i] = store_must_open(folder->db, STORE_WRITE);
        stored[i] = sweep_must_open(stores[i], sweep);
    }
    for (unsigned job = 0; job < SWEEP_JOBS; job++) {
        /* The second program is one job late, and repeats the job that the first one has just done. */
        if (!sweep_keep(stored[0], 3u << job & ALL, 3, &error) ||
            !sweep_keep(stored[1], 1u << job, 3, &error))
            fail_msg("%s", error.text);
        assert_true(store_sweep_is_done(stored[1], job));
    }
    assert_int_equal(store_sweep_done(stored[0]), SWEEP_JOBS);
    for (int i = 0; i < 2; i++) {
        store_sweep_close(stored[i]);
        store_close(stores[i]);
    }
    assert_int_equal(sweep_done(folder->db, sweep), ALL);
    assert_query(folder->db, "SELECT count(*), (SELECT count(*) FROM sweep) FROM run", "12|1\n");
    lab_sweep_destroy(sweep);
}

static void test_locked_database_keeps_what_it_had(void **state)
{
    struct folder *folder = *state;
    struct lab_sweep *sweep = sweep_make();
    struct store *store;
    struct store_options options = store_options_default;
    struct sim_error error = {0};
    options.busy_timeout_ms = 30;
    sweep_must_store(folder->db, sweep, 0x003);
    assert_true(store_open_with(folder->db, STORE_WRITE, &options, &store, &error));
    struct store_sweep *stored = sweep_must_open(store, sweep);
    sqlite3 *other;
    assert_int_equal(sqlite3_open(folder->db, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    assert_false(sweep_keep(stored, 0x00c, 3, &error));
    assert_int_equal(error.class, SIM_ERROR_ENVIRONMENT);
    assert_non_null(strstr(error.text, "locked by another program"));
    assert_int_equal(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(other);
    assert_int_equal(store_sweep_done(stored), 2);
    assert_true(sweep_keep(stored, 0x00c, 3, &error));
    store_sweep_close(stored);
    store_close(store);
    assert_int_equal(sweep_done(folder->db, sweep), 0x00f);
    lab_sweep_destroy(sweep);
}

static void test_database_that_is_removed_is_an_error(void **state)
{
    struct folder *folder = *state;
    for (int is_replaced = 0; is_replaced < 2; is_replaced++) {
        struct lab_sweep *sweep = sweep_make();
        struct sim_error error = {0};
        uint64_t digest;
        struct store *store = store_must_open(folder->db, STORE_WRITE);
        struct store_sweep *stored = sweep_must_open(store, sweep);
        assert_true(sweep_keep(stored, 0x003, 3, &error));
        folder_empty(folder);
        if (is_replaced)
            store_must_save_sample(folder->db, 3);
        assert_false(sweep_keep(stored, 0x00c, 3, &error));
        assert_int_equal(error.class, SIM_ERROR_ENVIRONMENT);
        assert_non_null(strstr(error.text, "runs.db: was removed, moved or replaced meanwhile; "));
        assert_false(store_sweep_digest(stored, &digest, &error));
        store_sweep_close(stored);
        store_close(store);
        if (is_replaced)
            assert_query(folder->db, "SELECT count(*), (SELECT count(*) FROM sweep) FROM run", "1|0\n");
        lab_sweep_destroy(sweep);
    }
}

static void test_full_disk_keeps_a_batch_whole_or_not_at_all(void **state)
{
    struct folder *folder = *state;
    struct lab_sweep *sweep = sweep_make();
    int failed = 0;
    for (int is_old = 0; is_old < 2; is_old++) {
        bool has_struck = true;
        for (long n = 0; has_struck; n = test_next_fault(n)) {
            struct sim_error error = {0};
            if (is_old)
                sweep_must_store(folder->db, sweep, 0x005);
            struct store *store;
            struct store_sweep *stored = NULL;
            fault_set(FAULT_WRITE, true, SQLITE_FULL, n);
            bool is_fine = store_open(folder->db, STORE_WRITE, &store, &error) &&
                           store_sweep_open(store, sweep, "/x.yaml", SWEEP_VERSION, &stored, &error) &&
                           sweep_keep(stored, 0x01f, 3, &error);
            has_struck = fault.has_struck;
            if (stored != NULL && !is_fine)
                assert_int_equal(store_sweep_done(stored), is_old ? 2 : 0);
            store_sweep_close(stored);
            store_close(store);
            fault_set(FAULT_NONE, false, 0, 0);
            failed += is_fine ? 0 : 1;
            assert_true(is_fine || strstr(error.text, "the disk is full; ") != NULL);
            struct stat status;
            bool is_there = stat(folder->db, &status) == 0;
            assert_int_equal(is_there ? sweep_done(folder->db, sweep) : 0, is_fine  ? 0x01f
                                                                           : is_old ? 0x005
                                                                                    : 0);
            folder_empty(folder);
        }
    }
    print_message("failed at %d writes\n", failed);
    assert_true(failed > 10);
    lab_sweep_destroy(sweep);
}

/* One batch per job; the next program continues. */
static void test_killed_sweeps_end_whole(void **state)
{
    struct folder *folder = *state;
    struct lab_sweep *sweep = sweep_make();
    unsigned done = 0, killed = 0;
    for (unsigned i = 0; done != ALL && i < 100; i++) {
        pid_t child = fork();
        if (child == 0) {
            fault_set(FAULT_WRITE, true, FAULT_KILL, 5 + 23 * (long)i % 301);
            for (unsigned job = 0; job < SWEEP_JOBS; job++) {
                if (!(done >> job & 1))
                    sweep_must_store(folder->db, sweep, 1u << job);
            }
            _exit(0);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) || status == 0);
        killed += WIFSIGNALED(status) ? 1 : 0;
        struct stat there;
        unsigned found = stat(folder->db, &there) == 0 ? sweep_done(folder->db, sweep) : 0;
        assert_int_equal(found & done, done);
        done = found;
    }
    print_message("killed %u times\n", killed);
    assert_int_equal(done, ALL);
    assert_true(killed > 5);
    lab_sweep_destroy(sweep);
}

struct told {
    uint64_t jobs, failed;
    double sum;
};

static bool tell_metric(void *context, uint64_t job, const char *label, const char *name, double value,
                        struct sim_error *error)
{
    struct told *told = context;
    (void)error;
    assert_string_equal(name, "partitions.closed");
    if (strcmp(label, "unbucketed") == 0) {
        assert_true(job == told->jobs++ && value == (double)job);
    }
    told->sum += value;
    return true;
}

static bool tell_failed(void *context, uint64_t job, struct sim_error *error)
{
    struct told *told = context;
    (void)error;
    assert_true(job == told->failed++);
    return true;
}

static bool refuse(void *context, uint64_t job, const char *label, const char *name, double value,
                   struct sim_error *error)
{
    (void)context, (void)job, (void)label, (void)name, (void)value;
    return sim_fail(error, SIM_ERROR_CHECK, "enough; stop");
}

static bool refuse_failed(void *context, uint64_t job, struct sim_error *error)
{
    (void)context, (void)job;
    return sim_fail(error, SIM_ERROR_CHECK, "one failed; stop");
}

static void test_visitor_receives_each_figure_in_order(void **state)
{
    struct folder *folder = *state;
    struct lab_sweep *sweep = sweep_make();
    sweep_must_store(folder->db, sweep, 0x00f);
    struct store *store = store_must_open(folder->db, STORE_READ);
    struct store_sweep *stored = sweep_must_open(store, sweep);
    struct told told = {0};
    struct store_sweep_visitor visitor = {&told, tell_metric, tell_failed};
    struct sim_error error = {0};
    assert_true(store_sweep_visit(stored, "[\"partitions.closed\",\"unbucketed.such\"]", &visitor, &error));
    assert_true(told.jobs == 4 && told.failed == 4);
    assert_true(told.sum == 0 + 1 + 2 + 3 + 4 * 7 * 3);
    visitor.metric = refuse;
    told.failed = 0;
    assert_false(store_sweep_visit(stored, NULL, &visitor, &error));
    assert_string_equal(error.text, "enough; stop");
    visitor.failed = refuse_failed;
    error = (struct sim_error){0};
    assert_false(store_sweep_visit(stored, NULL, &visitor, &error));
    assert_string_equal(error.text, "one failed; stop");
    store_sweep_close(stored);
    store_close(store);
    /* Before its first run a sweep has no results. */
    folder_empty(folder);
    store = store_must_open(folder->db, STORE_WRITE);
    stored = sweep_must_open(store, sweep);
    assert_true(store_sweep_visit(stored, NULL, &visitor, &error));
    store_sweep_close(stored);
    store_close(store);
    lab_sweep_destroy(sweep);
}

static void test_list_folds_the_runs_of_a_sweep(void **state)
{
    struct folder *folder = *state;
    struct lab_sweep *sweep = sweep_make();
    store_must_save_sample(folder->db, 3);
    sweep_must_store(folder->db, sweep, 0x00f);
    store_must_save_sample(folder->db, 3);
    struct store *store = store_must_open(folder->db, STORE_READ);
    struct store_run_row *rows;
    struct sim_error error = {0};
    size_t count;
    assert_true(store_list_runs(store, true, &rows, &count, &error));
    assert_int_equal(count, 3);
    assert_true(rows[0].run == 6 && rows[0].sweep == 0);
    assert_true(rows[1].run == 5 && rows[1].sweep == 1 && rows[1].sweep_runs == 4);
    assert_true(rows[2].run == 1 && rows[2].sweep == 0);
    store_runs_free(rows, count);
    assert_true(store_list_runs(store, false, &rows, &count, &error));
    assert_int_equal(count, 6);
    assert_true(rows[4].run == 2 && rows[4].sweep == 1 && rows[4].sweep_runs == 4);
    store_runs_free(rows, count);
    store_close(store);
    lab_sweep_destroy(sweep);
}

int main(void)
{
    fault_vfs_register();
    const struct CMUnitTest tests[] = {
        folder_test(test_jobs_are_kept_once_and_reported_in_order),
        folder_test(test_other_digest_of_a_job_is_refused),
        folder_test(test_sweep_of_another_version_is_refused),
        folder_test(test_two_programs_at_one_sweep_do_each_job_once),
        folder_test(test_locked_database_keeps_what_it_had),
        folder_test(test_database_that_is_removed_is_an_error),
        folder_test(test_full_disk_keeps_a_batch_whole_or_not_at_all),
        folder_test(test_killed_sweeps_end_whole),
        folder_test(test_visitor_receives_each_figure_in_order),
        folder_test(test_list_folds_the_runs_of_a_sweep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
