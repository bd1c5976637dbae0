/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: whatever file has the database's name is refused in one line that names the file and a remedy, and
 * stays unchanged, byte for byte, without new files next to it. Method: a gallery of wrong files; locks held
 * by second connections; a child process of another user, without access rights; bytes flipped all over a
 * good database. */
#define _DEFAULT_SOURCE
#include "../share.h"
#include "sample.h"

#include <errno.h>
#include <sys/wait.h>

#include "fault_vfs.h" /* for speed */
#include "kernel/random.h"
#include "store/store.h"

#define NOBODY 65534

static struct store_options impatient(void)
{
    struct store_options options = store_options_default;
    options.busy_timeout_ms = 50;
    return options;
}

/* One line that begins with the file's name and has a remedy after a semicolon or an "or". */
static void assert_error_fits(const struct sim_error *error, const char *path, const char *word)
{
    if (error->class != SIM_ERROR_ENVIRONMENT || strncmp(error->text, path, strlen(path)) != 0 ||
        strstr(error->text, word) == NULL || strstr(error->text, "; ") == NULL ||
        strchr(error->text, '\n') != NULL)
        fail_msg("'%s' is not the error of %s: %s", error->text, path, word);
}

static void assert_open_fails(const char *path, enum store_mode mode, const char *word)
{
    struct store *store;
    struct sim_error error = {0};
    struct store_options options = impatient();
    if (store_open_with(path, mode, &options, &store, &error))
        fail_msg("%s was opened: %s", path, word);
    assert_null(store);
    assert_error_fits(&error, path, word);
}

static void assert_refused_untouched(const struct folder *folder, const char *word)
{
    int files = folder_count(folder, NULL);
    size_t size, size_after;
    char *before = file_read(folder->db, &size);
    assert_open_fails(folder->db, STORE_READ, word);
    assert_open_fails(folder->db, STORE_WRITE, word);
    char *after = file_read(folder->db, &size_after);
    assert_int_equal(size, size_after);
    assert_memory_equal(before, after, size);
    assert_int_equal(folder_count(folder, NULL), files);
    free(before);
    free(after);
}

static void test_file_that_is_no_database_is_refused_untouched(void **state)
{
    struct folder *folder = *state;
    static unsigned char bytes[8192] = "\x89PNG\r\n\x1a\n";
    static const char text[] = "timestamp_ms,key,bytes\n1,a,1\n";
    file_write(folder->db, text, sizeof text - 1);
    assert_refused_untouched(folder, "not a database");
    file_write(folder->db, "x", 1);
    assert_refused_untouched(folder, "not a database");
    file_write(folder->db, bytes, sizeof bytes);
    assert_refused_untouched(folder, "not a database");
    memcpy(bytes, "SQLite format 3", 16);
    file_write(folder->db, bytes, 100);
    assert_refused_untouched(folder, "not a database");
    memset(bytes, 0, 16);
    file_write(folder->db, bytes, sizeof bytes);
    assert_refused_untouched(folder, "not a database");
    memcpy(bytes, "SQLite format 3", 16);
    /* SQLite's magic and our application id, followed by bytes that SQLite cannot read. */
    memcpy(bytes + 68, "bklb", 4);
    bytes[63] = 1;
    file_write(folder->db, bytes, sizeof bytes);
    assert_refused_untouched(folder, "not a database");
}

static void test_path_that_is_not_a_file_is_refused(void **state)
{
    struct folder *folder = *state;
    char path[2 * PATH_SIZE];
    struct store *store;
    struct sim_error error = {0};
    for (enum store_mode mode = STORE_READ; mode <= STORE_WRITE; mode++) {
        assert_open_fails(folder->path, mode, "a directory");
        assert_open_fails("/dev/null", mode, "not a regular file");
        assert_false(store_open("", mode, &store, &error));
        assert_non_null(strstr(error.text, "the database has no name; name a file"));
    }
    assert_open_fails(folder->db, STORE_READ, "no such database; run a scenario first, or name another");
    snprintf(path, sizeof path, "%s/none/runs.db", folder->path);
    assert_open_fails(path, STORE_WRITE, "its folder does not exist");
    snprintf(path, sizeof path, "%s/none/", folder->path);
    assert_open_fails(path, STORE_WRITE, "no such directory");
    assert_int_equal(folder_count(folder, NULL), 0);
    file_write(folder->db, "", 0);
    assert_open_fails(folder->db, STORE_READ, "an empty database; run a scenario first");
    snprintf(path, sizeof path, "%s/runs.db", folder->db);
    assert_open_fails(path, STORE_WRITE, "its folder does not exist");
    assert_int_equal(unlink(folder->db), 0);
    assert_int_equal(mkfifo(folder->db, 0600), 0);
    assert_open_fails(folder->db, STORE_READ, "not a regular file");
}

static void test_database_of_another_version_is_refused_untouched(void **state)
{
    struct folder *folder = *state;
    store_must_save_sample(folder->db, 5);
    execute(folder->db, "PRAGMA user_version = 13");
    assert_refused_untouched(folder,
                             "made by a newer bucketlab (database version 13, this program knows 12)");
    execute(folder->db, "PRAGMA user_version = 2147483647");
    assert_refused_untouched(folder, "made by a newer bucketlab");
    execute(folder->db, "PRAGMA user_version = -1");
    assert_refused_untouched(folder, "damaged (its version is below 0)");
}

static void test_database_of_another_program_is_refused_untouched(void **state)
{
    struct folder *folder = *state;
    execute(folder->db, "CREATE TABLE run (x)");
    assert_refused_untouched(folder, "a database of another program");
    folder_empty(folder);
    execute(folder->db, "PRAGMA application_id = 1179011410; CREATE TABLE run (x)");
    assert_refused_untouched(folder, "a database of another program");
    folder_empty(folder);
    execute(folder->db, "PRAGMA application_id = 1179011410");
    assert_refused_untouched(folder, "a database of another program");
    folder_empty(folder);
    execute(folder->db, "PRAGMA user_version = 1");
    assert_refused_untouched(folder, "a database of another program");
    folder_empty(folder);
    /* Many tables, so that the schema table is a tree. */
    execute(folder->db, "PRAGMA page_size = 512; CREATE TABLE a (x); CREATE TABLE b (x); CREATE TABLE c (x); "
                        "CREATE TABLE d (x); CREATE TABLE e (x); CREATE TABLE f (x); CREATE TABLE g (x); "
                        "CREATE TABLE h (x); CREATE TABLE i (x); CREATE TABLE j (x); CREATE TABLE k (x)");
    assert_refused_untouched(folder, "a database of another program");
}

/* Leaves in the folder the files of a writer that was killed after `sql`: a log that was never
 * checkpointed. */
static void leave_log(const struct folder *folder, const char *sql)
{
    char log[PATH_SIZE + 8];
    snprintf(log, sizeof log, "%s-wal", folder->db);
    sqlite3 *db;
    size_t size, log_size;
    assert_int_equal(sqlite3_open(folder->db, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    char *bytes = file_read(folder->db, &size), *log_bytes = file_read(log, &log_size);
    sqlite3_close(db);
    file_write(folder->db, bytes, size);
    file_write(log, log_bytes, log_size);
    free(bytes);
    free(log_bytes);
}

static void assert_log_refused_untouched(const struct folder *folder, const char *word)
{
    char log[PATH_SIZE + 8];
    snprintf(log, sizeof log, "%s-wal", folder->db);
    size_t size, size_after;
    char *before = file_read(log, &size);
    assert_refused_untouched(folder, word);
    char *after = file_read(log, &size_after);
    assert_int_equal(size, size_after);
    assert_memory_equal(before, after, size);
    free(before);
    free(after);
}

static void test_log_next_to_a_refused_database_stays(void **state)
{
    struct folder *folder = *state;
    leave_log(folder, "CREATE TABLE theirs (x)");
    assert_log_refused_untouched(folder, "a database of another program");
    file_write(folder->db, "", 0);
    assert_log_refused_untouched(folder, "there is a write-ahead log, but the database file is empty");
}

/* The header says version 12, the log version 13; SQLite has to read the log to find out. */
static void test_newer_version_in_the_log_is_refused(void **state)
{
    struct folder *folder = *state;
    store_must_save_sample(folder->db, 5);
    leave_log(folder, "PRAGMA user_version = 13");
    size_t size, size_after;
    char *before = file_read(folder->db, &size);
    for (enum store_mode mode = STORE_READ; mode <= STORE_WRITE; mode++)
        assert_open_fails(folder->db, mode, "made by a newer bucketlab");
    char *after = file_read(folder->db, &size_after);
    assert_int_equal(size, size_after);
    assert_memory_equal(before, after, size);
    assert_query(folder->db, "PRAGMA user_version", "13\n");
    free(before);
    free(after);
}

/* The log may also contain another application id. */
static void test_wal_with_another_application_id_is_refused(void **state)
{
    struct folder *folder = *state;
    static const char *const logs[] = {"PRAGMA application_id = 5", "PRAGMA application_id = 0",
                                       "PRAGMA application_id = 0; PRAGMA user_version = 0"};
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
        store_must_save_sample(folder->db, 1);
        leave_log(folder, logs[i]);
        for (enum store_mode mode = STORE_READ; mode <= STORE_WRITE; mode++)
            assert_open_fails(folder->db, mode, "another program has just taken it over");
        folder_empty(folder);
    }
}

/* The name is taken between the opening and the first run, which creates the database. */
static void test_path_that_is_taken_meanwhile_is_refused(void **state)
{
    struct folder *folder = *state;
    struct store *store = store_must_open(folder->db, STORE_WRITE);
    struct store_run_info info = sample_info();
    struct sim_error error = {0};
    struct lab_result *result = sample_make_small();
    assert_int_equal(mkdir(folder->db, 0700), 0);
    assert_false(store_save_run(store, &info, result, &error));
    assert_error_fits(&error, folder->db, "a directory; name a database file");
    assert_int_equal(rmdir(folder->db), 0);
    assert_true(store_save_run(store, &info, result, &error));
    store_close(store);
    lab_result_destroy(result);
}

/* A link to a file that does not exist yet is followed when the first run is saved. */
static void test_link_to_nowhere_is_followed(void **state)
{
    struct folder *folder = *state;
    char link[PATH_SIZE];
    snprintf(link, sizeof link, "%s/link.db", folder->path);
    assert_int_equal(symlink("runs.db", link), 0);
    store_close(store_must_open(link, STORE_WRITE));
    assert_int_equal(access(folder->db, F_OK), -1);
    assert_int_equal(store_must_save_sample(link, 1), 1);
    assert_query(folder->db, "SELECT run FROM run", "1\n");
}

/* Queries on a database that the first run has not created yet. */
static void test_database_that_does_not_exist_yet_is_empty(void **state)
{
    struct folder *folder = *state;
    struct store *store = store_must_open(folder->db, STORE_WRITE);
    struct sim_error error = {0};
    struct store_run_row *rows;
    struct store_sweep_row *sweeps;
    struct lab_metrics metrics = {0};
    size_t count = 7;
    assert_true(store_list_runs(store, false, &rows, &count, &error));
    assert_true(rows == NULL && count == 0);
    count = 7;
    assert_true(store_list_sweeps(store, &sweeps, &count, &error));
    assert_true(sweeps == NULL && count == 0);
    assert_true(store_load_metrics(store, 1, "unbucketed", &metrics, &error));
    assert_int_equal(metrics.count, 0);
    store_sweep_close(NULL);
    store_close(store);
    assert_int_equal(folder_count(folder, NULL), 0);
}

static void test_log_of_a_killed_writer_is_read(void **state)
{
    struct folder *folder = *state;
    store_must_save_sample(folder->db, 5);
    leave_log(folder, "UPDATE run SET scenario = 'from the log'");
    struct store *store = store_must_open(folder->db, STORE_READ);
    struct lab_result *result;
    struct sim_error error = {0};
    assert_true(store_load_run(store, 1, NULL, &result, &error));
    assert_string_equal(result->scenario_name, "from the log");
    lab_result_destroy(result);
    store_close(store);
}

static void test_locked_database_is_an_error_after_the_busy_timeout(void **state)
{
    struct folder *folder = *state;
    store_must_save_sample(folder->db, 5);
    sqlite3 *other;
    assert_int_equal(sqlite3_open(folder->db, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    assert_open_fails(folder->db, STORE_WRITE, "locked by another program; wait");
    store_close(store_must_open(folder->db, STORE_READ));
    assert_int_equal(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    /* Another program takes the lock between opening and saving. */
    struct store *store;
    struct store_options options = impatient();
    struct sim_error error = {0};
    assert_true(store_open_with(folder->db, STORE_WRITE, &options, &store, &error));
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    struct lab_result *result = sample_make(5);
    struct store_run_info info = sample_info();
    assert_false(store_save_run(store, &info, result, &error));
    assert_error_fits(&error, folder->db, "locked by another program");
    assert_int_equal(info.run, 0);
    assert_int_equal(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    assert_true(store_save_run(store, &info, result, &error));
    assert_int_equal(info.run, 2);
    store_close(store);
    lab_result_destroy(result);
    sqlite3_close(other);
    assert_int_equal(sqlite3_open(folder->db, &other), SQLITE_OK);
    sqlite3_exec(other, "PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT", NULL, NULL, NULL);
    assert_open_fails(folder->db, STORE_READ, "locked by another program");
    assert_open_fails(folder->db, STORE_WRITE, "locked by another program");
    sqlite3_close(other);
    assert_query(folder->db, "PRAGMA integrity_check", "ok\n");
}

static void test_lock_that_will_expire_is_waited_for(void **state)
{
    struct folder *folder = *state;
    store_must_save_sample(folder->db, 5);
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        sqlite3 *db;
        sqlite3_open(folder->db, &db);
        sqlite3_exec(db, "BEGIN IMMEDIATE; DELETE FROM expectation", NULL, NULL, NULL);
        if (write(ready[1], "x", 1) != 1)
            _exit(1);
        usleep(150000);
        sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
        sqlite3_close(db);
        _exit(0);
    }
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(store_must_save_sample(folder->db, 5), 2);
    assert_query(folder->db, "SELECT run FROM expectation", "2\n2\n");
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(ready[0]);
    close(ready[1]);
}

/* Opens the database as a user other than root; the error is empty on success. */
static void open_as_nobody(const char *path, enum store_mode mode, struct sim_error *error)
{
    int answer[2];
    assert_int_equal(pipe(answer), 0);
    pid_t child = fork();
    if (child == 0) {
        struct store *store;
        struct sim_error found = {0};
        struct store_options options = impatient();
        if (getuid() == 0 && setuid(NOBODY) != 0)
            _exit(1);
        store_open_with(path, mode, &options, &store, &found);
        store_close(store);
        _exit(write(answer[1], &found, sizeof found) == sizeof found ? 0 : 1);
    }
    assert_int_equal(read(answer[0], error, sizeof *error), sizeof *error);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(answer[0]);
    close(answer[1]);
}

static void test_read_only_database_is_never_written(void **state)
{
    struct folder *folder = *state;
    struct sim_error error;
    store_must_save_sample(folder->db, 5);
    size_t size, size_after;
    char *before = file_read(folder->db, &size);
    chmod(folder->path, 0777);
    chmod(folder->db, 0444);
    open_as_nobody(folder->db, STORE_WRITE, &error);
    assert_error_fits(&error, folder->db, "read-only; allow writing");
    open_as_nobody(folder->db, STORE_READ, &error);
    assert_int_equal(error.class, SIM_ERROR_NONE);
    chmod(folder->path, 0555);
    open_as_nobody(folder->db, STORE_READ, &error);
    assert_int_equal(error.class, SIM_ERROR_NONE);
    chmod(folder->path, 0777);
    chmod(folder->db, 0000);
    for (enum store_mode mode = STORE_READ; mode <= STORE_WRITE; mode++) {
        open_as_nobody(folder->db, mode, &error);
        assert_error_fits(&error, folder->db, "Permission denied");
    }
    chmod(folder->db, 0666);
    chmod(folder->path, 0555);
    open_as_nobody(folder->db, STORE_WRITE, &error);
    assert_error_fits(&error, folder->db, "folder");
    open_as_nobody(folder->db, STORE_READ, &error);
    assert_int_equal(error.class, SIM_ERROR_NONE);
    chmod(folder->path, 0755);
    assert_int_equal(folder_count(folder, NULL), 1);
    char *after = file_read(folder->db, &size_after);
    assert_int_equal(size, size_after);
    assert_memory_equal(before, after, size);
    free(before);
    free(after);
    /* Changes in a log are not ignored. */
    leave_log(folder, "CREATE TABLE theirs (x)");
    chmod(folder->path, 0555);
    open_as_nobody(folder->db, STORE_READ, &error);
    assert_error_fits(&error, folder->db, "read-only, and the log next to it holds changes");
    chmod(folder->path, 0755);
    /* A database that does not exist yet: the error is reported before the run, not after it. */
    folder_empty(folder);
    chmod(folder->path, 0555);
    open_as_nobody(folder->db, STORE_WRITE, &error);
    assert_error_fits(&error, folder->db, "Permission denied");
    chmod(folder->path, 0755);
}

/* Loading a damaged database ends with a result or with one line of error, never with a crash. */
static bool load_survives(const struct folder *folder, const struct lab_result *saved)
{
    struct store *store;
    struct sim_error error = {0};
    struct lab_result *result = NULL;
    bool fine =
        store_open(folder->db, STORE_READ, &store, &error) && store_load_run(store, 1, NULL, &result, &error);
    if (fine)
        assert_int_equal(result->strategy_count, saved->strategy_count);
    else if (error.class == SIM_ERROR_ENVIRONMENT)
        assert_error_fits(&error, folder->db, "");
    else
        assert_int_equal(error.class, SIM_ERROR_INPUT);
    lab_result_destroy(result);
    store_close(store);
    return fine;
}

static void test_flipped_bytes_are_an_error_or_a_result(void **state)
{
    struct folder *folder = *state;
    struct lab_result *saved = sample_make(300);
    store_must_save(folder->db, saved);
    size_t size;
    char *bytes = file_read(folder->db, &size);
    struct sim_random random;
    sim_random_init(&random, 1, SIM_ROW_ID, 0);
    const uint64_t flips = test_part(400);
    uint64_t refused = 0;
    for (uint64_t i = 0; i < flips; i++) {
        /* Every other flip hits the structures at the front of a page. */
        size_t at = sim_random_below(&random, size);
        at = i % 2 == 0 ? at : at / 4096 * 4096 + at % 256;
        char kept = bytes[at];
        bytes[at] = (char)(bytes[at] ^ (1 + (int)sim_random_below(&random, 255)));
        file_write(folder->db, bytes, size);
        refused += load_survives(folder, saved) ? 0 : 1;
        bytes[at] = kept;
    }
    print_message("%u of %u flips were noticed\n", (unsigned)refused, (unsigned)flips);
    assert_true(refused > flips / 4);
    for (size_t cut = 4096; cut < size; cut += 4096 * 3 + 1) {
        file_write(folder->db, bytes, cut);
        assert_false(load_survives(folder, saved));
    }
    free(bytes);
    lab_result_destroy(saved);
}

static void test_contents_that_no_run_has_are_reported_as_damage(void **state)
{
    struct folder *folder = *state;
    static const char *const edits[] = {
        "UPDATE run SET digest = 'xyz'",
        "UPDATE run SET digest = '00C0FFEE00000001'",
        "UPDATE run SET seed = -1",
        "UPDATE run SET seed = '18446744073709551616'",
        "UPDATE run SET rows = 'many'",
        "UPDATE run SET rows = ''",
        "UPDATE strategy SET kind = 'fancy' WHERE position = 0",
        "UPDATE setting SET value = 33 WHERE name = 'bits'",
        "UPDATE setting SET value = 4294967296 WHERE name = 'bits'",
        "UPDATE setting SET value = 0 WHERE name = 'threshold'",
        "UPDATE setting SET value = 'fortnight' WHERE name = 'calendar'",
        "UPDATE setting SET name = 'bitts' WHERE name = 'bits'",
        "UPDATE setting SET value = 'four-state' WHERE name = 'coordination'",
        "UPDATE setting SET value = 'abacus' WHERE name = 'counter'",
        "UPDATE setting SET value = -1 WHERE name = 'lead_ns'",
        "UPDATE histogram SET bins = replace(bins, '[7,2,14]', '[7,3,14]')",
        "UPDATE histogram SET bins = replace(bins, '[7,2,14]', '[7,0,14]')",
        "UPDATE histogram SET bins = replace(bins, '[7,2,14]', '[7,2,15]')",
        "UPDATE histogram SET bins = replace(bins, '[7,2,14]', '[8,2,14]')",
        "UPDATE histogram SET bins = replace(bins, '[7,2,14],', '')",
        "UPDATE histogram SET sum = sum + 1",
        "UPDATE histogram SET most = most + 1",
        "UPDATE histogram SET sum_of_squares = '340282366920938463463374607431768211456'",
        "DELETE FROM histogram WHERE state = 'read'",
        "UPDATE histogram SET state = 'ajar' WHERE state = 'read'",
        "UPDATE histogram SET state = 'latency.nap' WHERE unit = 'ns'",
        "UPDATE histogram SET count = count + 1 WHERE unit = 'ns'",
        "UPDATE event_log SET digest = 'xyz'",
        "UPDATE event_log SET stride = 0",
        "UPDATE event_log SET stride = 3, marks = zeroblob(14) WHERE events = 23",
        "UPDATE event_log SET events = 24",
        "UPDATE event_log SET marks = x'000000000000000000' WHERE events = 23",
        "UPDATE event_log SET marks = x''",
        "UPDATE event_log SET stride = 1, events = 131073, marks = zeroblob(262146)",
        "UPDATE belief SET agent = 3",
        "UPDATE belief SET agent = -1",
        "UPDATE change SET agents = 2",
        "UPDATE change SET agents = 4294967299",
        "DROP VIEW agent_views; DROP TABLE belief",
        "DROP VIEW strategy_metrics; DROP TABLE metric",
        "DROP TABLE expectation; CREATE TABLE expectation (run, text)",
    };
    struct lab_result *saved = sample_make(10);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        store_must_save(folder->db, saved);
        execute(folder->db, edits[i]);
        struct store *store = NULL;
        struct sim_error error = {0};
        struct lab_result *result;
        if (store_open(folder->db, STORE_READ, &store, &error) &&
            store_load_run(store, 0, NULL, &result, &error))
            fail_msg("loaded in spite of %s", edits[i]);
        assert_error_fits(&error, folder->db,
                          strstr(edits[i], "CREATE") == NULL ? "damaged (" : "as bucketlab makes");
        store_close(store);
        folder_empty(folder);
    }
    lab_result_destroy(saved);
}

static void test_run_that_cannot_be_stored_leaves_nothing(void **state)
{
    struct folder *folder = *state;
    struct lab_result *saved = sample_make(10);
    store_must_save(folder->db, saved);
    struct store *store = store_must_open(folder->db, STORE_WRITE);
    struct store_run_info info = sample_info();
    struct sim_error error = {0};
    /* The schema rejects a repeated label, after most of the run has been written. */
    free(saved->strategies[7].label);
    saved->strategies[7].label = text_copy("unbucketed");
    assert_false(store_save_run(store, &info, saved, &error));
    assert_int_equal(error.class, SIM_ERROR_ENVIRONMENT);
    assert_query(folder->db, "SELECT count(*), (SELECT count(*) FROM strategy) FROM run", "1|8\n");
    free(saved->strategies[7].label);
    saved->strategies[7].label = text_copy("hash");
    saved->strategies[7].open_rows.out_of_memory = true;
    assert_false(store_save_run(store, &info, saved, &error));
    assert_non_null(strstr(error.text, "out of memory"));
    saved->strategies[7].open_rows.out_of_memory = false;
    assert_true(store_save_run(store, &info, saved, &error));
    assert_int_equal(info.run, 2);
    store_close(store);
    lab_result_destroy(saved);
}

int main(void)
{
    fault_vfs_register();
    const struct CMUnitTest tests[] = {
        folder_test(test_file_that_is_no_database_is_refused_untouched),
        folder_test(test_path_that_is_not_a_file_is_refused),
        folder_test(test_database_of_another_version_is_refused_untouched),
        folder_test(test_database_of_another_program_is_refused_untouched),
        folder_test(test_log_next_to_a_refused_database_stays),
        folder_test(test_newer_version_in_the_log_is_refused),
        folder_test(test_wal_with_another_application_id_is_refused),
        folder_test(test_path_that_is_taken_meanwhile_is_refused),
        folder_test(test_link_to_nowhere_is_followed),
        folder_test(test_database_that_does_not_exist_yet_is_empty),
        folder_test(test_log_of_a_killed_writer_is_read),
        folder_test(test_locked_database_is_an_error_after_the_busy_timeout),
        folder_test(test_lock_that_will_expire_is_waited_for),
        folder_test(test_read_only_database_is_never_written),
        folder_test(test_flipped_bytes_are_an_error_or_a_result),
        folder_test(test_contents_that_no_run_has_are_reported_as_damage),
        folder_test(test_run_that_cannot_be_stored_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
