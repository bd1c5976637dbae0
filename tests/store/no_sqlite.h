/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SQLite with calls that fail on request. The linker replaces SQLite's functions in the code under test by
 * those below, when the test is registered as tests.cmake does it for calls_test. A call may fail the first
 * two times that a statement is prepared, executed or stepped, and the first time that one of its columns
 * returns a text or bytes. Call number calls_left, from 0, fails, and the calls after it succeed again. A
 * failing text behaves as when SQLite is out of memory: it is NULL, and the statement's next step fails. */
#ifndef TESTS_STORE_NO_SQLITE_H
#define TESTS_STORE_NO_SQLITE_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <sqlite3.h>

#define CALLS_WITHOUT_END (-1)
#define CALLS_MAX         1024
#define TIMES_EACH        2

int __real_sqlite3_prepare_v2(sqlite3 *db, const char *sql, int size, sqlite3_stmt **out, const char **rest);
int __real_sqlite3_exec(sqlite3 *db, const char *sql, int (*callback)(void *, int, char **, char **),
                        void *context, char **message);
int __real_sqlite3_step(sqlite3_stmt *statement);
const unsigned char *__real_sqlite3_column_text(sqlite3_stmt *statement, int column);
int __real_sqlite3_column_bytes(sqlite3_stmt *statement, int column);
const void *__real_sqlite3_column_blob(sqlite3_stmt *statement, int column);
int __real_sqlite3_errcode(sqlite3 *db);
int __wrap_sqlite3_prepare_v2(sqlite3 *db, const char *sql, int size, sqlite3_stmt **out, const char **rest);
int __wrap_sqlite3_exec(sqlite3 *db, const char *sql, int (*callback)(void *, int, char **, char **),
                        void *context, char **message);
int __wrap_sqlite3_step(sqlite3_stmt *statement);
const unsigned char *__wrap_sqlite3_column_text(sqlite3_stmt *statement, int column);
int __wrap_sqlite3_column_bytes(sqlite3_stmt *statement, int column);
const void *__wrap_sqlite3_column_blob(sqlite3_stmt *statement, int column);
int __wrap_sqlite3_errcode(sqlite3 *db);

static long calls_left = CALLS_WITHOUT_END;

/* The calls since calls_begin(). */
static struct {
    size_t seen_count;
    struct {
        uint64_t call;
        int times;
    } seen[CALLS_MAX];
    sqlite3_stmt *without_text; /* the next step of this statement fails */
    char struck[256];           /* the call that failed; "": none */
} calls;

/* number: the call that fails, or CALLS_WITHOUT_END. */
static inline void calls_begin(long number)
{
    memset(&calls, 0, sizeof calls);
    calls_left = number;
}

/* From now on no call fails; calls.struck still names the call that did. */
static inline void calls_end(void)
{
    calls_left = CALLS_WITHOUT_END;
    calls.without_text = NULL;
}

/* Whether this call fails. A call is identified by its kind and by its statement or column; only its first
 * `times` occurrences can be the one that fails. */
static bool call_strikes(const char *what, const char *sql, int column, int times)
{
    if (calls_left < 0)
        return false;
    uint64_t call = (uint64_t)column * 31 + (unsigned char)*what;
    for (const char *at = sql; *at != '\0'; at++)
        call = (call ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    size_t i = 0;
    while (i < calls.seen_count && calls.seen[i].call != call)
        i++;
    assert(i < CALLS_MAX); /* otherwise some calls would not be tried */
    if (i < calls.seen_count && calls.seen[i].times == times)
        return false;
    if (i == calls.seen_count)
        calls.seen[calls.seen_count++].call = call;
    calls.seen[i].times++;
    if (calls_left-- > 0)
        return false;
    snprintf(calls.struck, sizeof calls.struck, "%s: %s", what, sql);
    return true;
}

/* Every other failure is an allocation failure, as SQLite reports it for file operations. */
static int call_code(void)
{
    return calls.seen_count % 2 == 0 ? SQLITE_IOERR : SQLITE_IOERR_NOMEM;
}

int __wrap_sqlite3_prepare_v2(sqlite3 *db, const char *sql, int size, sqlite3_stmt **out, const char **rest)
{
    if (!call_strikes("prepare", sql, 0, TIMES_EACH))
        return __real_sqlite3_prepare_v2(db, sql, size, out, rest);
    *out = NULL;
    return call_code();
}

int __wrap_sqlite3_exec(sqlite3 *db, const char *sql, int (*callback)(void *, int, char **, char **),
                        void *context, char **message)
{
    if (call_strikes("exec", sql, 0, TIMES_EACH))
        return call_code();
    return __real_sqlite3_exec(db, sql, callback, context, message);
}

int __wrap_sqlite3_step(sqlite3_stmt *statement)
{
    if (calls.without_text == statement && statement != NULL) {
        calls.without_text = NULL;
        return SQLITE_NOMEM;
    }
    if (call_strikes("step", sqlite3_sql(statement), 0, TIMES_EACH))
        return call_code();
    return __real_sqlite3_step(statement);
}

const unsigned char *__wrap_sqlite3_column_text(sqlite3_stmt *statement, int column)
{
    if (sqlite3_column_type(statement, column) == SQLITE_NULL ||
        !call_strikes("text", sqlite3_sql(statement), column, 1))
        return __real_sqlite3_column_text(statement, column);
    calls.without_text = statement;
    return NULL;
}

const void *__wrap_sqlite3_column_blob(sqlite3_stmt *statement, int column)
{
    if (!call_strikes("blob", sqlite3_sql(statement), column, 1))
        return __real_sqlite3_column_blob(statement, column);
    calls.without_text = statement;
    return NULL;
}

int __wrap_sqlite3_errcode(sqlite3 *db)
{
    return calls.without_text != NULL ? SQLITE_NOMEM : __real_sqlite3_errcode(db);
}

int __wrap_sqlite3_column_bytes(sqlite3_stmt *statement, int column)
{
    return calls.without_text == statement ? 0 : __real_sqlite3_column_bytes(statement, column);
}

#endif
