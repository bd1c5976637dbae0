/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Executes SQL, binds and reads values with one check at the end, saves and loads the rows of a table by its
 * columns (schema.c), and makes the errors of all of these. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "private.h"

#define WIDE_DIGITS_MAX 39 /* number of digits of 2^128 - 1 */
#define DIGEST_DIGITS   (STORE_DIGEST_SIZE - 1)
#define SQL_SIZE        2048

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

bool store_query(struct store *store, const char *sql, int64_t id, const char *text, sqlite3_stmt **out,
                 struct sim_error *error)
{
    if (!store_prepare(store, sql, out, error))
        return false;
    int code = SQLITE_OK;
    if (sqlite3_bind_parameter_count(*out) > 0)
        code = sqlite3_bind_int64(*out, 1, id);
    if (code == SQLITE_OK && sqlite3_bind_parameter_count(*out) > 1)
        code = sqlite3_bind_text(*out, 2, text, -1, SQLITE_STATIC);
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

static void bind_integer(struct store_binder *binder, int64_t value)
{
    note(binder, sqlite3_bind_int64(binder->statement, ++binder->index, value));
}

static void bind_whole(struct store_binder *binder, lab_wide value)
{
    if (value <= INT64_MAX) {
        bind_integer(binder, (int64_t)value);
        return;
    }
    char text[WIDE_DIGITS_MAX], *begin = text + sizeof text;
    for (; value > 0; value /= 10)
        *--begin = (char)('0' + (int)(value % 10));
    note(binder, sqlite3_bind_text(binder->statement, ++binder->index, begin,
                                   (int)(text + sizeof text - begin), SQLITE_TRANSIENT));
}

const char *store_digest_text(uint64_t digest, char text[STORE_DIGEST_SIZE])
{
    snprintf(text, STORE_DIGEST_SIZE, "%016" PRIx64, digest);
    return text;
}

static void bind_digest(struct store_binder *binder, uint64_t digest)
{
    char text[STORE_DIGEST_SIZE];
    note(binder, sqlite3_bind_text(binder->statement, ++binder->index, store_digest_text(digest, text), -1,
                                   SQLITE_TRANSIENT));
}

void store_bind_column(struct store_binder *binder, const struct store_column *column, const void *row)
{
    const void *at = (const unsigned char *)row + column->offset;
    switch (column->type) {
    case STORE_TEXT:
    case STORE_NAME:
        store_bind_text(binder, *(char *const *)at);
        break;
    case STORE_CHARS:
        store_bind_text(binder, at);
        break;
    case STORE_WORD:
        store_bind_text(binder, column->words[*(const int *)at]);
        break;
    case STORE_INTEGER:
    case STORE_SPAN:
        bind_integer(binder, *(const int64_t *)at);
        break;
    case STORE_WHOLE:
        bind_whole(binder, *(const uint64_t *)at);
        break;
    case STORE_U32:
        bind_integer(binder, *(const uint32_t *)at);
        break;
    case STORE_WIDE:
        bind_whole(binder, *(const lab_wide *)at);
        break;
    case STORE_FLAG:
        bind_integer(binder, *(const bool *)at);
        break;
    case STORE_REAL:
        note(binder, sqlite3_bind_double(binder->statement, ++binder->index, *(const double *)at));
        break;
    case STORE_DIGEST:
        bind_digest(binder, *(const uint64_t *)at);
        break;
    case STORE_BLOB: {
        /* A NULL pointer would be bound as NULL, not as an empty blob. */
        const struct store_blob *blob = at;
        note(binder, sqlite3_bind_blob64(binder->statement, ++binder->index,
                                         blob->size == 0 ? (const void *)"" : blob->bytes, blob->size,
                                         SQLITE_STATIC));
    }
    }
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
    row->is_damaged = row->is_damaged || text == NULL;
    return g_strdup((const char *)text);
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

static lab_wide take_whole(struct store_row *row, lab_wide most)
{
    int column = row->column++, type = sqlite3_column_type(row->statement, column);
    lab_wide value = 0;
    if (type == SQLITE_INTEGER) {
        int64_t integer = sqlite3_column_int64(row->statement, column);
        row->is_damaged = row->is_damaged || integer < 0;
        value = (lab_wide)integer;
    } else {
        const unsigned char *text = sqlite3_column_text(row->statement, column);
        if (type != SQLITE_TEXT || text == NULL || !parse_whole(text, &value))
            row->is_damaged = true;
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

static uint64_t take_digest(struct store_row *row)
{
    const char *text = (const char *)sqlite3_column_text(row->statement, row->column++);
    if (text == NULL || strspn(text, "0123456789abcdef") != DIGEST_DIGITS || text[DIGEST_DIGITS] != '\0')
        row->is_damaged = true;
    return text == NULL ? 0 : g_ascii_strtoull(text, NULL, 16);
}

static void take_blob(struct store_row *row, struct store_blob *out)
{
    int column = row->column++;
    if (sqlite3_column_type(row->statement, column) != SQLITE_BLOB)
        row->is_damaged = true;
    const unsigned char *bytes = sqlite3_column_blob(row->statement, column);
    out->size = (size_t)sqlite3_column_bytes(row->statement, column);
    out->bytes = g_malloc(out->size + 1);
    /* NULL means an empty blob, or that SQLite's memory ran out. */
    if (bytes != NULL)
        memcpy(out->bytes, bytes, out->size);
    else if (sqlite3_errcode(sqlite3_db_handle(row->statement)) == SQLITE_NOMEM)
        row->is_damaged = true;
}

static void take_chars(struct store_row *row, char *out, size_t bytes)
{
    char *text = store_take_text(row);
    if (text != NULL && strlen(text) < bytes)
        strcpy(out, text);
    else
        row->is_damaged = true;
    free(text);
}

static int take_word(struct store_row *row, const char *const *words)
{
    int word = 0;
    char *text = store_take_text(row);
    while (text != NULL && words[word] != NULL && strcmp(text, words[word]) != 0)
        word++;
    if (text == NULL || words[word] == NULL)
        row->is_damaged = true;
    free(text);
    return words[word] == NULL ? 0 : word;
}

void store_take_column(struct store_row *row, const struct store_column *column, void *into)
{
    void *at = (unsigned char *)into + column->offset;
    switch (column->type) {
    case STORE_TEXT:
    case STORE_NAME:
        *(char **)at = store_take_text(row);
        if (column->type == STORE_NAME && *(char **)at == NULL)
            row->is_damaged = true;
        break;
    case STORE_CHARS:
        take_chars(row, at, column->bytes);
        break;
    case STORE_WORD:
        *(int *)at = take_word(row, column->words);
        break;
    case STORE_INTEGER:
        *(int64_t *)at = store_take_integer(row);
        break;
    case STORE_SPAN:
        *(int64_t *)at = (int64_t)take_whole(row, INT64_MAX / 2);
        break;
    case STORE_WHOLE:
        *(uint64_t *)at = (uint64_t)take_whole(row, UINT64_MAX);
        break;
    case STORE_U32:
        *(uint32_t *)at = (uint32_t)take_whole(row, UINT32_MAX);
        break;
    case STORE_WIDE:
        *(lab_wide *)at = take_whole(row, ~(lab_wide)0);
        break;
    case STORE_FLAG:
        *(bool *)at = take_whole(row, 1) != 0;
        break;
    case STORE_REAL:
        *(double *)at = store_take_real(row);
        break;
    case STORE_DIGEST:
        *(uint64_t *)at = take_digest(row);
        break;
    case STORE_BLOB:
        take_blob(row, at);
        break;
    }
}

bool store_row_check(const struct store *store, const struct store_row *row, struct sim_error *error)
{
    /* SQLite returns NULL for a value for which it has no memory, too. */
    if (row->is_damaged && sqlite3_errcode(store->db) == SQLITE_NOMEM)
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

/* --- Rows --- */

/* Writes the names of the first columns, separated by commas; `each`: instead of each name. */
static void list_columns(char *sql, const struct store_column *columns, size_t count, const char *each)
{
    for (size_t i = 0; i < count; i++) {
        strcat(sql, i > 0 ? ", " : "");
        strcat(sql, each != NULL ? each : columns[i].name);
    }
}

bool store_bind_begin(struct store *store, enum store_table_id id, int64_t owner, struct store_binder *binder,
                      struct sim_error *error)
{
    const struct store_table *table = &store_tables[id];
    if (store->inserts[id] == NULL) {
        char names[SQL_SIZE] = "", values[SQL_SIZE] = "", sql[2 * SQL_SIZE + 64];
        const char *key = table->key == NULL ? "?1" : table->key;
        snprintf(names, sizeof names, "%s%s%s%s", table->owner != NULL ? table->owner : "",
                 table->owner != NULL ? ", " : "", table->position != NULL ? table->position : "",
                 table->position != NULL ? ", " : "");
        snprintf(values, sizeof values, "%s%s%s", table->owner != NULL ? key : "",
                 table->owner != NULL ? ", " : "", table->position != NULL ? "?, " : "");
        list_columns(names, table->columns, table->column_count - table->only_read, NULL);
        list_columns(values, table->columns, table->column_count - table->only_read, "?");
        snprintf(sql, sizeof sql, "INSERT OR %s INTO %s (%s) VALUES (%s)",
                 id == STORE_OUTCOME ? "REPLACE" : "ABORT", table->name, names, values);
        if (!store_prepare(store, sql, &store->inserts[id], error))
            return false;
    }
    *binder = (struct store_binder){.statement = store->inserts[id]};
    if (table->owner != NULL)
        bind_integer(binder, owner);
    return true;
}

bool store_rows_save(struct store *store, enum store_table_id id, int64_t owner, const void *rows,
                     size_t count, struct sim_error *error)
{
    const struct store_table *table = &store_tables[id];
    for (size_t i = 0; i < count; i++) {
        struct store_binder binder;
        if (!store_bind_begin(store, id, owner, &binder, error))
            return false;
        if (table->position != NULL)
            bind_integer(&binder, (int64_t)i + table->first);
        for (size_t j = 0; j < table->column_count - table->only_read; j++)
            store_bind_column(&binder, &table->columns[j],
                              (const unsigned char *)rows + i * table->row_bytes);
        if (!store_bind_run(store, &binder, error))
            return false;
    }
    return true;
}

bool store_rows_find(struct store *store, enum store_table_id id, const char *where, int64_t number,
                     const char *text, void *out, size_t *count, struct sim_error *error)
{
    const struct store_table *table = &store_tables[id];
    char sql[SQL_SIZE] = "SELECT ";
    list_columns(sql, table->columns, table->column_count, NULL);
    strcat(strcat(strcat(strcat(sql, " FROM "), table->name), " WHERE "), where);
    sqlite3_stmt *statement = NULL;
    struct store_row row;
    GArray *rows = g_array_new(FALSE, TRUE, (guint)table->row_bytes);
    bool more = true, fine = store_query(store, sql, number, text, &statement, error);
    while (fine && (fine = store_next(store, statement, &row, &more, error)) && more) {
        g_array_set_size(rows, rows->len + 1);
        for (size_t i = 0; i < table->column_count; i++)
            store_take_column(&row, &table->columns[i], rows->data + (rows->len - 1) * table->row_bytes);
        fine = store_row_check(store, &row, error);
    }
    sqlite3_finalize(statement);
    *count = rows->len;
    char *data = g_array_free(rows, FALSE);
    memcpy(out, &data, sizeof data);
    return fine;
}

bool store_rows_load(struct store *store, enum store_table_id id, int64_t owner, void *out, size_t *count,
                     struct sim_error *error)
{
    const struct store_table *table = &store_tables[id];
    const char *order = table->order != NULL ? table->order : table->position;
    char where[128];
    snprintf(where, sizeof where, "%s = %s%s%s", table->owner, table->key == NULL ? "?1" : table->key,
             order == NULL ? "" : " ORDER BY ", order == NULL ? "" : order);
    return store_rows_find(store, id, where, owner, NULL, out, count, error);
}

void store_rows_free(enum store_table_id id, void *rows, size_t count)
{
    const struct store_table *table = &store_tables[id];
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < table->column_count; j++) {
            void *at = (unsigned char *)rows + i * table->row_bytes + table->columns[j].offset;
            if (table->columns[j].type == STORE_TEXT || table->columns[j].type == STORE_NAME)
                free(*(char **)at);
            else if (table->columns[j].type == STORE_BLOB)
                free(((struct store_blob *)at)->bytes);
        }
    }
    free(rows);
}

bool store_number(struct store *store, const char *sql, int64_t id, const char *text, int64_t *out,
                  bool *is_there, struct sim_error *error)
{
    sqlite3_stmt *statement = NULL;
    struct store_row row;
    bool more = false, fine = store_query(store, sql, id, text, &statement, error) &&
                              store_next(store, statement, &row, &more, error);
    *out = 0;
    if (fine && more) {
        *out = store_take_integer(&row);
        fine = store_row_check(store, &row, error);
    }
    if (is_there != NULL)
        *is_there = fine && more;
    sqlite3_finalize(statement);
    return fine;
}
