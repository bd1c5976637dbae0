/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Describes every failure of SQLite in one line: the database's name, the problem, and a remedy. */
#include <errno.h>
#include <string.h>

#include "private.h"

static bool fail_full(const struct store *store, struct sim_error *error)
{
    return sim_fail(error, SIM_ERROR_ENVIRONMENT,
                    "%s: the disk is full; free some space, or name a database on another disk with --db",
                    store->path);
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

static int system_error(const struct store *store)
{
    return store->db == NULL ? 0 : sqlite3_system_errno(store->db);
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

bool store_fail_damaged(const struct store *store, const char *what, struct sim_error *error)
{
    return sim_fail(error, SIM_ERROR_ENVIRONMENT,
                    "%s: damaged (%s); name another with --db, or try sqlite3's .recover on a copy",
                    store->path, what);
}
