/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opens and closes a database: its header is checked before SQLite sees it, and its schema before anything is
 * read; a writer applies the migrations that are missing.
 *
 * A reader's connection is writable where possible: SQLite then recovers what a killed writer left, and the
 * last connection removes the write-ahead log. If the file or its folder is read-only, SQLite cannot create
 * the two files that it needs next to a database in WAL mode (https://www.sqlite.org/wal.html#readonly). The
 * database is then opened as immutable, which needs neither. An immutable database ignores a log or a
 * journal, so if one of these has changes, SQLite opens the database read-only by its own rules, which
 * require these files. */
#define _XOPEN_SOURCE   700
#define _POSIX_C_SOURCE 200809L
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

/* keep_log: for a refused database, whose write-ahead log must not be checkpointed. */
static void disconnect(struct store *store, bool keep_log)
{
    for (int i = 0; i < STORE_TABLE_COUNT; i++) {
        sqlite3_finalize(store->inserts[i]);
        store->inserts[i] = NULL;
    }
    if (store->db != NULL && keep_log)
        sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_close(store->db);
    store->db = NULL;
}

void store_close(struct store *store)
{
    if (store == NULL)
        return;
    disconnect(store, false);
    store_info_clear(store);
    free(store->path);
    free(store->file);
    free(store);
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

static bool is_filled(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && status.st_size > 0;
}

static bool is_filled_beside(const char *file, const char *suffix)
{
    g_autofree char *name = g_strconcat(file, suffix, NULL);
    return is_filled(name);
}

static int connect_reader(struct store *store)
{
    char file[PATH_MAX];
    store->is_read_only = realpath(store->file, file) != NULL && may_only_be_read(file);
    if (!store->is_read_only)
        return sqlite3_open_v2(store->file, &store->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX;
    if (is_filled_beside(file, "-wal") || is_filled_beside(file, "-journal"))
        return sqlite3_open_v2(store->file, &store->db, flags, NULL);
    g_autofree char *path = g_uri_escape_string(file, "/", FALSE),
                    *uri = g_strconcat("file:", path, "?immutable=1", NULL);
    return sqlite3_open_v2(uri, &store->db, flags | SQLITE_OPEN_URI, NULL);
}

/* Checks the first page of a database file: https://www.sqlite.org/fileformat2.html, sections 1.3 and 1.6. */

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

static uint32_t big_endian(const unsigned char *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return GUINT32_FROM_BE(value);
}

/* Refuses a version that is too new or too old; used for the header and for the schema. */
static bool store_version_check(const struct store *store, int64_t version, struct sim_error *error)
{
    if (version > store->options.version)
        return sim_fail(error, SIM_ERROR_ENVIRONMENT,
                        "%s: made by a newer bucketlab (database version %lld, this program knows %d); "
                        "update the program, or name another with --db",
                        store->path, (long long)version, store->options.version);
    return version >= 0 || store_fail_damaged(store, "its version is below 0", error);
}

static bool fail_foreign(const struct store *store, struct sim_error *error)
{
    return sim_fail(error, SIM_ERROR_ENVIRONMENT,
                    "%s: a database of another program; name one of bucketlab's, or a new file, with --db",
                    store->path);
}

/* Checks the file's first bytes before SQLite does, so that a foreign file is refused without taking a lock
 * or creating a file next to it. *has_log: the database has a write-ahead log. */
static bool store_header_check(struct store *store, bool *has_log, struct sim_error *error)
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
    return store_execute(store, "PRAGMA foreign_keys = ON", error);
}

/* The header was checked already, but the newest version may be in the write-ahead log, and another process
 * may have changed it since. */
static bool read_version(struct store *store, int64_t *version, struct sim_error *error)
{
    int64_t id, tables;
    if (!store_number(store, "PRAGMA user_version", 0, NULL, version, NULL, error) ||
        !store_number(store, "PRAGMA application_id", 0, NULL, &id, NULL, error) ||
        !store_number(store, "SELECT count(*) FROM sqlite_schema", 0, NULL, &tables, NULL, error))
        return false;
    if (id != STORE_APPLICATION_ID && (id != 0 || *version != 0 || tables != 0))
        return sim_fail(error, SIM_ERROR_ENVIRONMENT,
                        "%s: another program has just taken it over; name another with --db", store->path);
    return store_version_check(store, *version, error);
}

/* No database of this program needs more, in steps of SQLite's virtual machine. */
#define CHECK_STEPS 20000000

static int give_up(void *context)
{
    (void)context;
    return 1;
}

static bool fail_schema(const struct store *store, const char *what, const char *name,
                        struct sim_error *error)
{
    return sim_fail(
        error, SIM_ERROR_ENVIRONMENT,
        "%s: %s '%.64s' is not as bucketlab makes it, so nothing was read; name another with --db",
        store->path, what, name);
}

/* Whether an object is the same in both schemas; white space in its SQL does not count. */
#define BARE(sql) "replace(replace(replace(" sql ", ' ', ''), char(9), ''), char(10), '')"
#define SAME      "s.type = t.type AND s.name = t.name AND " BARE("s.sql") " IS " BARE("t.sql")

/* Compares the schema with that of a database of our own. Tables and views of the user's own are never read.
 */
static bool check_objects(struct store *store, sqlite3 *own, struct sim_error *error)
{
    static const char all[] = "SELECT type, name, tbl_name, sql FROM sqlite_schema";
    static const char other[] =
        "SELECT type, name FROM theirs AS t WHERE NOT EXISTS (SELECT 1 FROM sqlite_schema AS s WHERE " SAME
        ") AND (type IS NULL OR name IS NULL OR tbl_name IS NULL OR type = 'trigger' OR EXISTS (SELECT 1 "
        "FROM "
        "sqlite_schema AS s WHERE s.name = t.name COLLATE NOCASE OR s.tbl_name = t.tbl_name COLLATE NOCASE)) "
        "UNION ALL SELECT NULL, NULL FROM sqlite_schema AS s WHERE NOT EXISTS (SELECT 1 FROM theirs AS t "
        "WHERE " SAME ") LIMIT 1";
    sqlite3_stmt *objects = NULL, *insert = NULL, *find = NULL;
    int code = sqlite3_exec(own, "CREATE TEMP TABLE theirs (type, name, tbl_name, sql)", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_prepare_v2(own, "INSERT INTO theirs VALUES (?, ?, ?, ?)", -1, &insert, NULL);
    bool fine = (code == SQLITE_OK || sim_fail_memory(error)) && store_prepare(store, all, &objects, error);
    sqlite3_progress_handler(store->db, CHECK_STEPS, give_up, NULL);
    while (fine && (code = sqlite3_step(objects)) == SQLITE_ROW) {
        code = SQLITE_OK;
        for (int i = 0; i < 4 && code == SQLITE_OK; i++)
            code = sqlite3_bind_value(insert, i + 1, sqlite3_column_value(objects, i));
        /* A text that could not be read is null, as some are, so the error says it. */
        bool is_read = code == SQLITE_OK && sqlite3_errcode(store->db) != SQLITE_NOMEM;
        fine = (is_read && sqlite3_step(insert) == SQLITE_DONE) || sim_fail_memory(error);
        sqlite3_reset(insert);
    }
    fine = fine && (code == SQLITE_DONE || store_fail(store, code, error));
    sqlite3_progress_handler(store->db, 0, NULL, NULL);
    sqlite3_finalize(objects);
    sqlite3_finalize(insert);
    if (fine) {
        code = sqlite3_prepare_v2(own, other, -1, &find, NULL);
        code = code == SQLITE_OK ? sqlite3_step(find) : code;
        bool is_missing = sqlite3_column_type(find, 0) == SQLITE_NULL;
        const char *type = (const char *)sqlite3_column_text(find, 0);
        const char *name = (const char *)sqlite3_column_text(find, 1);
        if (code == SQLITE_ROW)
            fine = is_missing                     ? store_fail_damaged(store, "a table is missing", error)
                   : type == NULL || name == NULL ? sim_fail_memory(error)
                                                  : fail_schema(store, type, name, error);
        else
            fine = code == SQLITE_DONE || sim_fail_memory(error);
    }
    sqlite3_finalize(find);
    return fine;
}

/* Refuses a schema that is not this program's: a table could be a view that computes without end, and a
 * trigger could write what it likes. The right one is that of a database in memory, made by the same
 * migrations. */
static bool check_schema(struct store *store, int64_t version, struct sim_error *error)
{
    sqlite3 *own = NULL;
    int code = sqlite3_open_v2(":memory:", &own, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    for (int64_t i = 0; code == SQLITE_OK && i < version; i++)
        code = sqlite3_exec(own, store->options.migrations[i].sql, NULL, NULL, NULL);
    bool fine = code == SQLITE_OK ? check_objects(store, own, error) : sim_fail_memory(error);
    sqlite3_close(own);
    return fine;
}

/* Makes the same checks for a reader, which may not migrate, and sees an earlier version by its views. */
static bool prepare_reader(struct store *store, struct sim_error *error)
{
    int64_t version;
    if (!read_version(store, &version, error))
        return false;
    if (version == 0)
        return sim_fail(error, SIM_ERROR_ENVIRONMENT,
                        "%s: an empty database; run a scenario first, or name another with --db",
                        store->path);
    if (version < store->options.readable_version)
        return sim_fail(error, SIM_ERROR_ENVIRONMENT,
                        "%s: made by an older bucketlab (database version %lld, this program reads %d); run "
                        "a scenario into it, which brings it up to date",
                        store->path, (long long)version, store->options.version);
    bool fine = check_schema(store, version, error);
    for (int64_t i = version; fine && i < store->options.version; i++)
        fine = store->options.migrations[i].view == NULL ||
               store_execute(store, store->options.migrations[i].view, error);
    return fine && store_execute(store, "PRAGMA query_only = ON", error);
}

static bool apply(struct store *store, int64_t from, struct sim_error *error)
{
    for (int64_t i = from; i < store->options.version; i++) {
        if (!store_execute(store, store->options.migrations[i].sql, error))
            return false;
    }
    char sql[96];
    snprintf(sql, sizeof sql, "PRAGMA application_id = %d; PRAGMA user_version = %d", STORE_APPLICATION_ID,
             store->options.version);
    return store_execute(store, sql, error);
}

/* Applies the missing migrations in one transaction, which stays open when `continues` is true. */
static bool store_migrate(struct store *store, bool continues, struct sim_error *error)
{
    /* The write lock is taken even when no migration is missing, so that a program that cannot write fails
     * now, not at the end of a long run. */
    int64_t version;
    bool fine = store_execute(store, "BEGIN IMMEDIATE", error) && read_version(store, &version, error) &&
                check_schema(store, version, error) &&
                (version == store->options.version || apply(store, version, error));
    if (fine && continues)
        return true;
    fine = fine && (version == store->options.version || store_execute(store, "COMMIT", error));
    store_rollback(store);
    return fine;
}

/* Sets WAL mode, which is stored in the file. When it cannot be set now (another process has the database
 * open, or the file system has no shared memory), the rollback journal works as well. The schema is written
 * before, so that the header always has the application id. */
static void use_log(struct store *store)
{
    sqlite3_exec(store->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
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
        fine = prepare_reader(store, error);
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
    struct store *store = g_new0(struct store, 1);
    store->path = g_strdup(path);
    /* Some names have a special meaning for SQLite, such as ":memory:", but none that begins with a
     * folder. */
    store->file = g_strconcat(*path == '/' ? "" : "./", path, NULL);
    store->mode = mode;
    store->options = *options;
    if (!open_existing(store, error)) {
        store_close(store);
        return false;
    }
    *out = store;
    return true;
}

bool store_open(const char *path, enum store_mode mode, struct store **out, struct sim_error *error)
{
    return store_open_with(path, mode, &store_options_default, out, error);
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
