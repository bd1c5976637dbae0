/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opens and closes a database.
 *
 * A reader's connection is writable where possible: SQLite then recovers what a killed writer left, and the
 * last connection removes the write-ahead log. If the file or its folder is read-only, SQLite cannot create
 * the two files that it needs next to a database in WAL mode (https://www.sqlite.org/wal.html#readonly). The
 * database is then opened as immutable, which needs neither. An immutable database ignores a log or a
 * journal, so if one of these has changes, SQLite opens the database read-only by its own rules, which
 * require these files. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "private.h"

/* In bytes; the values of a run are far smaller. */
#define VALUE_MAX 100000000

bool store_open(const char *path, enum store_mode mode, struct store **out, struct sim_error *error)
{
    return store_open_with(path, mode, &store_options_default, out, error);
}

/* Whether SQLite cannot write the file, or cannot create files next to it. */
static bool may_only_be_read(const char *file)
{
    char *slash = strrchr(file, '/');
    if (access(file, W_OK) != 0 || slash == NULL)
        return access(file, R_OK) == 0;
    char kept = slash[1];
    slash[1] = '\0';
    bool is_read_only = access(file, W_OK) != 0;
    slash[1] = kept;
    return is_read_only;
}

static bool is_filled_beside(const char *file, const char *suffix)
{
    char name[PATH_MAX + 16];
    struct stat status;
    snprintf(name, sizeof name, "%s%s", file, suffix);
    return stat(name, &status) == 0 && status.st_size > 0;
}

/* Writes "file:PATH?immutable=1", with the bytes of the path percent-encoded except for letters, digits and
 * the like. */
static void name_immutable(const char *file, char *out)
{
    static const char digits[] = "0123456789ABCDEF", tail[] = "?immutable=1";
    char *at = stpcpy(out, "file:");
    for (; *file != '\0'; file++) {
        unsigned char byte = (unsigned char)*file;
        bool is_plain = byte == '/' || byte == '.' || byte == '-' || byte == '_' ||
                        (byte >= '0' && byte <= '9') || ((byte | 32) >= 'a' && (byte | 32) <= 'z');
        if (is_plain) {
            *at++ = (char)byte;
        } else {
            *at++ = '%';
            *at++ = digits[byte / 16];
            *at++ = digits[byte % 16];
        }
    }
    memcpy(at, tail, sizeof tail);
}

static int connect_reader(struct store *store)
{
    char file[PATH_MAX], uri[3 * PATH_MAX + 32];
    store->is_read_only = realpath(store->file, file) != NULL && may_only_be_read(file);
    if (!store->is_read_only)
        return sqlite3_open_v2(store->file, &store->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX;
    if (is_filled_beside(file, "-wal") || is_filled_beside(file, "-journal"))
        return sqlite3_open_v2(store->file, &store->db, flags, NULL);
    name_immutable(file, uri);
    return sqlite3_open_v2(uri, &store->db, flags | SQLITE_OPEN_URI, NULL);
}

/* A database may be of unknown origin. */
static void distrust(struct store *store)
{
    static const int limits[][2] = {{SQLITE_LIMIT_LENGTH, VALUE_MAX}, {SQLITE_LIMIT_ATTACHED, 0}};
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        sqlite3_limit(store->db, limits[i][0], limits[i][1]);
}

static bool configure(struct store *store, struct sim_error *error)
{
    distrust(store);
    sqlite3_busy_timeout(store->db, store->options.busy_timeout_ms);
    sqlite3_extended_result_codes(store->db, 1);
    /* Otherwise SQLite would continue, and a writer would fail only at its first row. */
    if (!store->is_read_only && sqlite3_db_readonly(store->db, "main") == 1)
        return store_fail(store, SQLITE_READONLY, error);
    return store_execute(store, "PRAGMA foreign_keys = ON", error) &&
           (store->mode == STORE_WRITE || store_execute(store, "PRAGMA query_only = ON", error));
}

/* Sets WAL mode, which is stored in the file. When it cannot be set now (another process has the database
 * open, or the file system has no shared memory), the rollback journal works as well. The schema is written
 * before, so that the header always has the application id. */
static void use_log(struct store *store)
{
    sqlite3_exec(store->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
}

/* keep_log: for a refused database, whose write-ahead log must not be checkpointed. */
static void disconnect(struct store *store, bool keep_log)
{
    if (store->db != NULL && keep_log)
        sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_close(store->db);
    store->db = NULL;
}

static bool open_file(struct store *store, int create, struct sim_error *error)
{
    int code = store->mode == STORE_READ
                   ? connect_reader(store)
                   : sqlite3_open_v2(store->file, &store->db,
                                     SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | create, NULL);
    bool has_log = false;
    bool fine = code == SQLITE_OK ? store_header_check(store, &has_log, error) && configure(store, error)
                                  : store_fail(store, code, error);
    if (fine && store->mode == STORE_READ)
        fine = store_schema_check(store, error);
    else if (fine)
        fine = store_migrate(store, create != 0, error);
    if (!fine) {
        disconnect(store, has_log);
        return false;
    }
    if (store->mode == STORE_WRITE && create == 0)
        use_log(store);
    return true;
}

static bool check_kind(const struct store *store, bool *is_there, struct sim_error *error)
{
    struct stat status;
    *is_there = stat(store->file, &status) == 0;
    if (!*is_there)
        return errno == ENOENT || store_fail_system(store, errno, error);
    if (S_ISDIR(status.st_mode))
        return sim_fail(error, SIM_ERROR_ENVIRONMENT, "%s: a directory; name a database file with --db",
                        store->path);
    if (!S_ISREG(status.st_mode))
        return sim_fail(error, SIM_ERROR_ENVIRONMENT,
                        "%s: not a regular file; name a database file with --db", store->path);
    return true;
}

static bool check_folder(const struct store *store, struct sim_error *error)
{
    /* SQLite would follow a dangling symbolic link and create its target, whose name only SQLite knows. */
    struct stat status;
    if (lstat(store->file, &status) == 0)
        return true;
    char *slash = strrchr(store->file, '/');
    char *end = slash == store->file ? slash + 1 : slash;
    if (slash[1] == '\0')
        return sim_fail(error, SIM_ERROR_ENVIRONMENT, "%s: no such directory; name a database file with --db",
                        store->path);
    char kept = *end;
    *end = '\0';
    int number = access(store->file, W_OK | X_OK) == 0 ? 0 : errno;
    *end = kept;
    return number == 0 || store_fail_system(store, number, error);
}

/* A database for writing that does not exist is created with its first run, so that a failed run leaves no
 * file. Errors that would prevent its creation are reported now, before the run. */
static bool open_existing(struct store *store, struct sim_error *error)
{
    bool is_there;
    if (!check_kind(store, &is_there, error))
        return false;
    if (is_there)
        return open_file(store, 0, error);
    if (store->mode == STORE_WRITE)
        return check_folder(store, error);
    return sim_fail(error, SIM_ERROR_ENVIRONMENT,
                    "%s: no such database; run a scenario first, or name another with --db", store->path);
}

bool store_open_with(const char *path, enum store_mode mode, const struct store_options *options,
                     struct store **out, struct sim_error *error)
{
    *out = NULL;
    if (*path == '\0')
        return sim_fail(error, SIM_ERROR_ENVIRONMENT, "the database has no name; name a file with --db");
    struct store *store = calloc(1, sizeof *store);
    size_t size = strlen(path) + 1;
    if (store != NULL) {
        store->path = malloc(size);
        store->file = malloc(size + 2);
    }
    if (store == NULL || store->path == NULL || store->file == NULL) {
        store_close(store);
        return sim_fail_memory(error);
    }
    memcpy(store->path, path, size);
    /* Some names have a special meaning for SQLite, such as ":memory:", but none that begins with a
     * folder. */
    size_t prefix = *path == '/' ? 0 : 2;
    memcpy(store->file, "./", prefix);
    memcpy(store->file + prefix, path, size);
    store->mode = mode;
    store->options = *options;
    if (!open_existing(store, error)) {
        store_close(store);
        return false;
    }
    *out = store;
    return true;
}

void store_close(struct store *store)
{
    if (store == NULL)
        return;
    disconnect(store, false);
    for (size_t i = 0; i < STORE_INFO_TEXTS; i++)
        free(store->texts[i]);
    free(store->path);
    free(store->file);
    free(store);
}

bool store_begin(struct store *store, bool *is_new, struct sim_error *error)
{
    *is_new = false;
    if (store->db != NULL)
        return store_execute(store, "BEGIN IMMEDIATE", error);
    bool is_there;
    if (!check_kind(store, &is_there, error))
        return false;
    *is_new = !is_there;
    return open_file(store, SQLITE_OPEN_CREATE, error);
}

static void read_once(const char *file)
{
    sqlite3 *db;
    if (sqlite3_open_v2(file, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK)
        sqlite3_exec(db, "SELECT 1 FROM sqlite_schema", NULL, NULL, NULL);
    sqlite3_close(db);
}

/* Removes a database that could not be created. If even the rollback failed, its journal stays; SQLite rolls
 * it back when the file is opened again. A journal must not stay without its database, since SQLite would
 * take it for the journal of the next database of that name. */
static void remove_empty(const struct store *store)
{
    char file[PATH_MAX], journal[PATH_MAX + sizeof "-journal"];
    struct stat status;
    if (realpath(store->file, file) == NULL)
        return;
    snprintf(journal, sizeof journal, "%s-journal", file);
    if (access(journal, F_OK) == 0)
        read_once(file);
    if (access(journal, F_OK) != 0 && stat(file, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size == 0)
        unlink(file);
}

void store_end(struct store *store, bool is_new, bool fine)
{
    if (store->db != NULL)
        store_rollback(store);
    if (is_new && fine) {
        use_log(store);
    } else if (is_new) {
        disconnect(store, false);
        remove_empty(store);
    }
}
