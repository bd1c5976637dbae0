/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: whichever SQLite call fails, an operation of the store ends with an environment error,
 * in one line that names the database or says that memory ran out; it leaks nothing, and leaves the file
 * unchanged, byte for byte.
 *
 * Method: a database in which every table has rows, and the operations of the store on it. SQLite's call 1,
 * 2, 3 ... fails (no_sqlite.h) until the operation succeeds. */
#define _DEFAULT_SOURCE
#include "operations.h"

#include "../share.h"

#include "fault_vfs.h" /* for speed */
#include "no_sqlite.h"

/* The file has its former bytes; if it did not exist, it still does not. */
static bool is_as_before(const char *path, bool is_there, const char *bytes, size_t size)
{
    if (!is_there || access(path, F_OK) != 0)
        return is_there == (access(path, F_OK) == 0);
    size_t size_now;
    char *now = file_read(path, &size_now);
    bool is_same = size_now == size && memcmp(now, bytes, size) == 0;
    free(now);
    return is_same;
}

/* The program does not need these calls: a ROLLBACK happens in any case, and the journal mode is optional. */
static bool is_needed(const char *call)
{
    return strncmp(call, "exec: ROLLBACK", strlen("exec: ROLLBACK")) != 0 &&
           strcmp(call, "exec: PRAGMA journal_mode = WAL") != 0;
}

/* One attempt, in which the call with this number fails; *has_struck: there was one. */
static bool attempt(struct stand *stand, const struct operation *operation, long number, bool *has_struck)
{
    struct sim_error error = {0};
    stand->store = store_must_open(stand->folder.db, STORE_WRITE);
    stand->source = operation->run == merge ? store_must_open(stand->source_path, STORE_READ) : NULL;
    calls_begin(number);
    bool fine = operation->run(stand, &error);
    *has_struck = calls.struck[0] != '\0';
    calls_end();
    store_close(stand->store);
    store_close(stand->source);
    if (fine && *has_struck && is_needed(calls.struck))
        fail_msg("%s: nobody saw that number %ld failed (%s)", operation->name, number, calls.struck);
    bool names_place = strncmp(error.text, stand->folder.path, strlen(stand->folder.path)) == 0;
    bool is_told =
        error.class == SIM_ERROR_ENVIRONMENT && (names_place || strstr(error.text, "out of memory") != NULL);
    if (!fine && !(*has_struck && is_told))
        fail_msg("%s: number %ld (%s): %s", operation->name, number, calls.struck, error.text);
    return fine;
}

static void test_whichever_call_of_sqlite_fails_nothing_changes(void **state)
{
    (void)state;
    struct stand stand = stand_make();
    size_t size, source_size;
    char *bytes = file_read(stand.folder.db, &size),
         *source_bytes = file_read(stand.source_path, &source_size);
    long attempts = 0, failures = 0;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        const struct operation *operation = &operations[i];
        bool has_struck = true;
        for (long number = 0; has_struck; number = test_next_fault(number), attempts++) {
            if (operation->has_database && !is_as_before(stand.folder.db, true, bytes, size))
                file_write(stand.folder.db, bytes, size);
            else if (!operation->has_database)
                unlink(stand.folder.db);
            bool fine = attempt(&stand, operation, number, &has_struck);
            failures += !fine;
            if (!fine && !is_as_before(stand.folder.db, operation->has_database, bytes, size))
                fail_msg("%s: number %ld has left something", operation->name, number);
            assert_true(is_as_before(stand.source_path, true, source_bytes, source_size));
        }
    }
    print_message("%ld of %ld attempts failed\n", failures, attempts);
    assert_true(failures > 100);
    free(bytes);
    free(source_bytes);
    stand_remove(&stand);
}

int main(void)
{
    fault_vfs_register();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whichever_call_of_sqlite_fails_nothing_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
