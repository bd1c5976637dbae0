/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Executes SQL, binds and reads values with one check at the end, and makes the errors of both. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "private.h"

#define WIDE_DIGITS_MAX 39 /* number of digits of 2^128 - 1 */
#define DIGEST_DIGITS   16

static int system_error(const struct store *store)
{
    return store->db == NULL ? 0 : sqlite3_system_errno(store->db);
}

/* SQLite reports a full disk and a full sequence alike. */
static bool has_last_number(const struct store *store)
{
    sqlite3_stmt *statement = NULL;
    bool is_last =
        sqlite3_prepare_v2(store->db, "SELECT 1 FROM sqlite_sequence WHERE seq = 9223372036854775807", -1,
                           &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW;
    sqlite3_finalize(statement);
    return is_last;
}

/* Describes every failure of SQLite in one line: the database's name, the problem, and a remedy. */

static bool fail_full(const struct store *store, struct sim_error *error)
{
    return sim_fail(error, SIM_ERROR_ENVIRONMENT,
                    "%s: the disk is full; free some space, or name a database on another disk with --db",
                    store->path);
}

bool store_fail_damaged(const struct store *store, const char *what, struct sim_error *error)
{
    return sim_fail(error, SIM_ERROR_ENVIRONMENT,
                    "%s: damaged (%s); name another with --db, or try sqlite3's .recover on a copy",
                    store->path, what);
}

bool store_fail_system(const struct store *store, int number, struct sim_error *error)
{
    switch (number) {
    case ENOSPC:
    case EDQUOT:
        return fail_full(store, error);
    case ENOENT:
    case ENOTDIR:
        return sim_fail(error, SIM_ERROR_ENVIRONMENT,
                        "%s: its folder does not exist; make it, or name another file with --db",
                        store->path);
    case 0:
        return sim_fail(error, SIM_ERROR_ENVIRONMENT,
                        "%s: cannot be opened, read or written; check the file, its folder and the disk, or "
                        "name another with --db",
                        store->path);
    default:
        return sim_fail(error, SIM_ERROR_ENVIRONMENT,
                        "%s: %s; check the file, its folder and the disk, or name another with --db",
                        store->path, strerror(number));
    }
}

bool store_fail(const struct store *store, int code, struct sim_error *error)
{
    int number = system_error(store);
    bool lacks_files = (code & 0xff) == SQLITE_CANTOPEN || (code & 0xff) == SQLITE_READONLY;
    if (store->is_read_only && lacks_files && number != EACCES)
        return sim_fail(error, SIM_ERROR_ENVIRONMENT,
                        "%s: read-only, and the log next to it holds changes that SQLite can only read where "
                        "it may write; copy both into a folder of yours, and name the copy with --db",
                        store->path);
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return sim_fail_memory(error);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return sim_fail(error, SIM_ERROR_ENVIRONMENT,
                        "%s: locked by another program; wait until that is done, or name another with --db",
                        store->path);
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return sim_fail(
            error, SIM_ERROR_ENVIRONMENT,
            "%s: read-only; allow writing to the file and its folder, or name another, or a copy in "
            "a folder of yours, with --db",
            store->path);
    case SQLITE_FULL:
        if (has_last_number(store))
            return sim_fail(
                error, SIM_ERROR_ENVIRONMENT,
                "%s: its last number for a run, 9223372036854775807, is taken, so no further run fits; "
                "name another with --db",
                store->path);
        return fail_full(store, error);
    case SQLITE_NOTADB:
        return sim_fail(error, SIM_ERROR_ENVIRONMENT,
                        "%s: not a database; name one of bucketlab's, or a new file, with --db", store->path);
    case SQLITE_CORRUPT:
        return store_fail_damaged(store, sqlite3_errstr(code), error);
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
        if ((code & 0xffff) == SQLITE_IOERR_NOMEM)
            return sim_fail_memory(error);
        return store_fail_system(store, number, error);
    default:
        return store_fail_damaged(store, sqlite3_errmsg(store->db), error);
    }
}

bool store_execute(struct store *store, const char *sql, struct sim_error *error)
{
    int code = sqlite3_exec(store->db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK || store_fail(store, code, error);
}

bool store_prepare(struct store *store, const char *sql, sqlite3_stmt **out, struct sim_error *error)
{
    int code = sqlite3_prepare_v2(store->db, sql, -1, out, NULL);
    return code == SQLITE_OK || store_fail(store, code, error);
}

bool store_query(struct store *store, const char *sql, int64_t id, sqlite3_stmt **out,
                 struct sim_error *error)
{
    if (!store_prepare(store, sql, out, error))
        return false;
    int code = sqlite3_bind_int64(*out, 1, id);
    return code == SQLITE_OK || store_fail(store, code, error);
}

void store_rollback(struct store *store)
{
    if (!sqlite3_get_autocommit(store->db))
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
}

static void note(struct store_binder *binder, int code)
{
    if (binder->code == SQLITE_OK)
        binder->code = code;
}

void store_bind_text(struct store_binder *binder, const char *text)
{
    note(binder, sqlite3_bind_text(binder->statement, ++binder->index, text, -1, SQLITE_STATIC));
}

void store_bind_long_text(struct store_binder *binder, const char *text, size_t length)
{
    note(binder,
         sqlite3_bind_text64(binder->statement, ++binder->index, text, length, SQLITE_STATIC, SQLITE_UTF8));
}

void store_bind_integer(struct store_binder *binder, int64_t value)
{
    note(binder, sqlite3_bind_int64(binder->statement, ++binder->index, value));
}

void store_bind_whole(struct store_binder *binder, lab_wide value)
{
    if (value <= INT64_MAX) {
        store_bind_integer(binder, (int64_t)value);
        return;
    }
    char text[WIDE_DIGITS_MAX], *begin = text + sizeof text;
    for (; value > 0; value /= 10)
        *--begin = (char)('0' + (int)(value % 10));
    note(binder, sqlite3_bind_text(binder->statement, ++binder->index, begin,
                                   (int)(text + sizeof text - begin), SQLITE_TRANSIENT));
}

void store_bind_real(struct store_binder *binder, double value)
{
    note(binder, sqlite3_bind_double(binder->statement, ++binder->index, value));
}

void store_bind_digest(struct store_binder *binder, uint64_t digest)
{
    char text[DIGEST_DIGITS + 1];
    snprintf(text, sizeof text, "%016" PRIx64, digest);
    note(binder, sqlite3_bind_text(binder->statement, ++binder->index, text, -1, SQLITE_TRANSIENT));
}

void store_bind_blob(struct store_binder *binder, const void *bytes, size_t size)
{
    /* A NULL pointer would be bound as NULL, not as an empty blob. */
    note(binder, sqlite3_bind_blob64(binder->statement, ++binder->index, size == 0 ? "" : bytes, size,
                                     SQLITE_STATIC));
}

bool store_bind_run(struct store *store, struct store_binder *binder, struct sim_error *error)
{
    int code = binder->code;
    if (code == SQLITE_OK) {
        code = sqlite3_step(binder->statement);
        code = code == SQLITE_DONE ? SQLITE_OK : code;
    }
    bool fine = code == SQLITE_OK || store_fail(store, code, error);
    sqlite3_reset(binder->statement);
    *binder = (struct store_binder){.statement = binder->statement};
    return fine;
}

char *store_take_text(struct store_row *row)
{
    int column = row->column++;
    if (sqlite3_column_type(row->statement, column) == SQLITE_NULL)
        return NULL;
    const unsigned char *text = sqlite3_column_text(row->statement, column);
    char *copy = text == NULL ? NULL : strdup((const char *)text);
    row->is_out_of_memory = row->is_out_of_memory || copy == NULL;
    return copy;
}

char *store_take_name(struct store_row *row)
{
    char *text = store_take_text(row);
    /* The text is NULL when out of memory too; store_row_check() reports that first. */
    row->is_damaged = row->is_damaged || text == NULL;
    return text;
}

int64_t store_take_integer(struct store_row *row)
{
    int column = row->column++;
    if (sqlite3_column_type(row->statement, column) != SQLITE_INTEGER)
        row->is_damaged = true;
    return sqlite3_column_int64(row->statement, column);
}

static bool parse_whole(const unsigned char *text, lab_wide *out)
{
    size_t length = strlen((const char *)text);
    *out = 0;
    for (size_t i = 0; i < length; i++) {
        unsigned digit = (unsigned)text[i] - '0';
        if (digit > 9 || *out > (~(lab_wide)0 - digit) / 10)
            return false;
        *out = *out * 10 + digit;
    }
    return length > 0;
}

lab_wide store_take_whole(struct store_row *row, lab_wide most)
{
    int column = row->column++, type = sqlite3_column_type(row->statement, column);
    lab_wide value = 0;
    if (type == SQLITE_INTEGER) {
        int64_t integer = sqlite3_column_int64(row->statement, column);
        row->is_damaged = row->is_damaged || integer < 0;
        value = (lab_wide)integer;
    } else {
        const unsigned char *text = sqlite3_column_text(row->statement, column);
        if (type != SQLITE_TEXT || (text != NULL && !parse_whole(text, &value)))
            row->is_damaged = true;
        else if (text == NULL)
            row->is_out_of_memory = true;
    }
    row->is_damaged = row->is_damaged || value > most;
    return value;
}

double store_take_real(struct store_row *row)
{
    int column = row->column++, type = sqlite3_column_type(row->statement, column);
    if (type == SQLITE_NULL)
        return (double)NAN;
    if (type != SQLITE_FLOAT)
        row->is_damaged = true;
    return sqlite3_column_double(row->statement, column);
}

static bool parse_digest(const unsigned char *text, uint64_t *out)
{
    *out = 0;
    for (int i = 0; i < DIGEST_DIGITS; i++) {
        static const char digits[] = "0123456789abcdef";
        const char *digit = text[i] == '\0' ? NULL : strchr(digits, text[i]);
        if (digit == NULL)
            return false;
        *out = *out << 4 | (uint64_t)(digit - digits);
    }
    return text[DIGEST_DIGITS] == '\0';
}

uint64_t store_take_digest(struct store_row *row)
{
    const unsigned char *text = sqlite3_column_text(row->statement, row->column);
    uint64_t digest = 0;
    if (text == NULL && sqlite3_column_type(row->statement, row->column) == SQLITE_TEXT)
        row->is_out_of_memory = true;
    else if (text == NULL || !parse_digest(text, &digest))
        row->is_damaged = true;
    row->column++;
    return digest;
}

const unsigned char *store_take_blob(struct store_row *row, size_t *size)
{
    int column = row->column++;
    if (sqlite3_column_type(row->statement, column) != SQLITE_BLOB)
        row->is_damaged = true;
    const unsigned char *bytes = sqlite3_column_blob(row->statement, column);
    *size = (size_t)sqlite3_column_bytes(row->statement, column);
    /* NULL means an empty blob, or that memory ran out. */
    if (bytes == NULL && sqlite3_errcode(sqlite3_db_handle(row->statement)) == SQLITE_NOMEM)
        row->is_out_of_memory = true;
    return bytes;
}

bool store_row_check(const struct store *store, const struct store_row *row, struct sim_error *error)
{
    if (row->is_out_of_memory)
        return sim_fail_memory(error);
    return !row->is_damaged || store_fail_damaged(store, "a value that no run has", error);
}

bool store_next(struct store *store, sqlite3_stmt *statement, struct store_row *row, bool *more,
                struct sim_error *error)
{
    int code = sqlite3_step(statement);
    *row = (struct store_row){.statement = statement};
    *more = code == SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE || store_fail(store, code, error);
}
