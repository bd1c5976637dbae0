/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks the first page of a database file: https://www.sqlite.org/fileformat2.html, sections 1.3 and 1.6. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "private.h"

#define MAGIC                 "SQLite format 3" /* with the NUL at its end */
#define USER_VERSION_OFFSET   60
#define APPLICATION_ID_OFFSET 68
#define TREE_OFFSET           100 /* offset of the schema table's page: its kind, and its number of cells at + 3 */
#define TREE_LEAF             0x0d
#define HEADER_SIZE           108
#define PAGE_SIZE_MIN         512

/* Reads through SQLite's own file handle: opening and closing the file separately would release the locks of
 * every other connection of this process (POSIX). Nothing was read or locked so far. */
static bool read_header(struct store *store, unsigned char *bytes, int64_t *size, struct sim_error *error)
{
    sqlite3_file *file = NULL;
    int code = sqlite3_file_control(store->db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    /* SQLite treats a file of one byte as empty, and would overwrite it. */
    struct stat status;
    if (stat(sqlite3_db_filename(store->db, "main"), &status) != 0)
        return store_fail_system(store, errno, error);
    *size = status.st_size;
    if (code == SQLITE_OK && *size >= PAGE_SIZE_MIN)
        code = file->pMethods->xRead(file, bytes, HEADER_SIZE, 0);
    return code == SQLITE_OK || store_fail(store, code, error);
}

static bool is_filled(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && status.st_size > 0;
}

static bool fail_foreign(const struct store *store, struct sim_error *error)
{
    return sim_fail(error, SIM_ERROR_ENVIRONMENT,
                    "%s: a database of another program; name one of bucketlab's, or a new file, with --db",
                    store->path);
}

static uint32_t big_endian(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

bool store_header_check(struct store *store, bool *has_log, struct sim_error *error)
{
    unsigned char bytes[HEADER_SIZE];
    int64_t size = 0;
    const char *name = sqlite3_db_filename(store->db, "main");
    *has_log = is_filled(sqlite3_filename_wal(name));
    if (!read_header(store, bytes, &size, error))
        return false;
    if (size == 0 && *has_log)
        return store_fail_damaged(store, "there is a write-ahead log, but the database file is empty", error);
    if (size == 0)
        return true;
    /* A large first run writes its other pages before the first page. If it was killed then, its journal is
     * left, and SQLite will roll the file back to an empty one. */
    static const unsigned char blank[sizeof MAGIC];
    if (size >= PAGE_SIZE_MIN && memcmp(bytes, blank, sizeof blank) == 0 &&
        is_filled(sqlite3_filename_journal(name)))
        return true;
    if (size < PAGE_SIZE_MIN || memcmp(bytes, MAGIC, sizeof MAGIC) != 0)
        return store_fail(store, SQLITE_NOTADB, error);
    uint32_t id = big_endian(bytes + APPLICATION_ID_OFFSET);
    if (id == STORE_APPLICATION_ID)
        return store_version_check(store, (int32_t)big_endian(bytes + USER_VERSION_OFFSET), error);
    /* A database without an application id and without tables is treated as new. Changes in its write-ahead
     * log are not visible here. */
    bool has_tables = bytes[TREE_OFFSET] != TREE_LEAF || bytes[TREE_OFFSET + 3] != 0 ||
                      bytes[TREE_OFFSET + 4] != 0 || *has_log;
    if (id != 0 || has_tables || big_endian(bytes + USER_VERSION_OFFSET) != 0)
        return fail_foreign(store, error);
    return true;
}

bool store_version_check(const struct store *store, int64_t version, struct sim_error *error)
{
    if (version > store->options.version)
        return sim_fail(error, SIM_ERROR_ENVIRONMENT,
                        "%s: made by a newer bucketlab (database version %lld, this program knows %d); "
                        "update the program, or name another with --db",
                        store->path, (long long)version, store->options.version);
    return version >= 0 || store_fail_damaged(store, "its version is below 0", error);
}
