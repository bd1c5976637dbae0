/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of the store: the connection, the versions of the schema, and reading and writing of
 * values.
 *
 * A whole number that fits into SQLite's 63 bits is stored as an INTEGER, a larger one as TEXT with its
 * digits. A digest is stored as 16 hexadecimal digits. Both are exact, and readable in the sqlite3 shell. */
#ifndef STORE_PRIVATE_H
#define STORE_PRIVATE_H

#include <sqlite3.h>

#include "store/store.h"

/* "bklb": the application id, by which file(1) and this program recognise the database. */
#define STORE_APPLICATION_ID 0x626b6c62

/* Migrates a database from one version to the next; the index in the table is the old version. */
struct store_migration {
    const char *sql;
};

struct store_options {
    int busy_timeout_ms;
    const struct store_migration *migrations;
    int version;          /* the version that this program writes, which is the number of migrations */
    int readable_version; /* the oldest version that this program can read without a migration */
};

extern const struct store_options store_options_default;

#define STORE_INFO_TEXTS 4

struct store {
    sqlite3 *db; /* NULL until the first run, when the database does not exist yet */
    char *path;  /* as the user named it, for messages */
    char *file;  /* path as passed to SQLite, which is never ":memory:" or "file:..." */
    enum store_mode mode;
    bool is_read_only; /* STORE_READ: neither the file nor SQLite's files next to it can be written */
    struct store_options options;
    char *texts[STORE_INFO_TEXTS]; /* strings of the last store_load_run() */
};

/* --- open.c */

/* store_open() with other options than the default, for tests. */
bool store_open_with(const char *path, enum store_mode mode, const struct store_options *options,
                     struct store **out, struct sim_error *error);
/* Begins the transaction of a run. If the database does not exist yet, it is created now (*is_new is then
 * true): its tables and the run are written in one transaction, so that a database without a run never
 * exists. */
bool store_begin(struct store *store, bool *is_new, struct sim_error *error);
/* Rolls back what was not committed, and removes a new database whose run is not `fine`. */
void store_end(struct store *store, bool is_new, bool fine);

/* Whether the database has a table: a reader accepts databases of older versions. */
bool store_has_table(struct store *store, const char *name, bool *is_there, struct sim_error *error);

/* Fills the error for a result code of SQLite; returns false. */
bool store_fail(const struct store *store, int code, struct sim_error *error);
/* Fills the error for a failed system call, whose errno is `number`; returns false. */
bool store_fail_system(const struct store *store, int number, struct sim_error *error);
/* Fills the error for contents that this program cannot have written, described in a few words by `what`;
 * returns false. */
bool store_fail_damaged(const struct store *store, const char *what, struct sim_error *error);

/* --- value.c */

bool store_execute(struct store *store, const char *sql, struct sim_error *error);
bool store_prepare(struct store *store, const char *sql, sqlite3_stmt **out, struct sim_error *error);
/* As store_prepare(), and binds the statement's only parameter to `id`. */
bool store_query(struct store *store, const char *sql, int64_t id, sqlite3_stmt **out,
                 struct sim_error *error);
/* Rolls back a transaction that is still open. */
void store_rollback(struct store *store);

/* Binds values to a statement's parameters, in order. store_bind_run() reports the first failure. */
struct store_binder {
    sqlite3_stmt *statement;
    int index, code;
};
void store_bind_text(struct store_binder *binder, const char *text); /* not copied; NULL is NULL */
void store_bind_long_text(struct store_binder *binder, const char *text, size_t length); /* not copied */
void store_bind_integer(struct store_binder *binder, int64_t value);
void store_bind_whole(struct store_binder *binder, lab_wide value);
void store_bind_real(struct store_binder *binder, double value); /* NaN is NULL */
void store_bind_digest(struct store_binder *binder, uint64_t digest);
void store_bind_blob(struct store_binder *binder, const void *bytes, size_t size); /* not copied */
/* Executes a statement that returns no rows, and resets it for the next values. */
bool store_bind_run(struct store *store, struct store_binder *binder, struct sim_error *error);

/* Reads a row's columns, in order. store_row_check() reports the first failure. */
struct store_row {
    sqlite3_stmt *statement;
    int column;
    bool is_damaged, is_out_of_memory;
};
char *store_take_text(struct store_row *row); /* malloc'ed; NULL for NULL */
char *store_take_name(struct store_row *row); /* malloc'ed; NULL in the database is damage */
int64_t store_take_integer(struct store_row *row);
lab_wide store_take_whole(struct store_row *row, lab_wide most);
double store_take_real(struct store_row *row);
uint64_t store_take_digest(struct store_row *row);
/* The bytes are valid until the statement's next step. An empty blob returns NULL and size 0. */
const unsigned char *store_take_blob(struct store_row *row, size_t *size);
bool store_row_check(const struct store *store, const struct store_row *row, struct sim_error *error);
/* Steps the statement. *more: whether there is a row; *row is then set to its first column. */
bool store_next(struct store *store, sqlite3_stmt *statement, struct store_row *row, bool *more,
                struct sim_error *error);

/* --- run.c */

/* Stores a run within a transaction that store_begin() began. */
bool store_save_within(struct store *store, const struct store_run_info *info,
                       const struct lab_result *result, int64_t *run, struct sim_error *error);
/* Stores several runs within one transaction, with statements that are prepared once. */
struct store_saver;
bool store_saver_make(struct store *store, struct store_saver **out, struct sim_error *error);
bool store_saver_add(struct store *store, struct store_saver *saver, const struct store_run_info *info,
                     const struct lab_result *result, int64_t *run, struct sim_error *error);
void store_saver_free(struct store_saver *saver); /* saver may be NULL */

/* store_load_run() within an open transaction. */
bool store_load_within(struct store *store, int64_t run, struct store_run_info *info, struct lab_result **out,
                       struct sim_error *error);

/* --- strategy.c */

/* The histograms of a strategy, including its latencies. */
/* histogram.bins, from a database whose bins are rows. */
#define STORE_BINS_OF_ROWS                                                                                   \
    "(SELECT json_group_array(json_array(size, count, weight)) FROM bin WHERE bin.histogram = "              \
    "histogram.histogram)"
bool store_histograms_save(struct store *store, sqlite3_stmt *insert, int64_t id,
                           const struct lab_strategy_result *result, struct sim_error *error);
/* Finds out whether the database is of a version whose bins are rows. */
bool store_bins_are_rows(struct store *store, bool *are_rows, struct sim_error *error);
bool store_histograms_load(struct store *store, int64_t id, struct lab_strategy_result *result,
                           struct sim_error *error);

/* The metrics of a strategy. */
bool store_metrics_load(struct store *store, int64_t id, struct lab_metrics *out, struct sim_error *error);

/* The largest partitions, with key and bucket. */
bool store_largest_save(struct store *store, sqlite3_stmt *insert, int64_t id,
                        const struct lab_largest *largest, struct sim_error *error);
bool store_largest_load(struct store *store, int64_t id, struct lab_largest *out, struct sim_error *error);

/* The sizes of partitions over time, and the load of each node. */
bool store_slices_save(struct store *store, sqlite3_stmt *insert, int64_t id,
                       const struct lab_timeline *timeline, struct sim_error *error);
bool store_slices_load(struct store *store, int64_t id, struct lab_timeline *out, struct sim_error *error);
bool store_nodes_save(struct store *store, sqlite3_stmt *insert, int64_t id,
                      const struct lab_strategy_result *result, struct sim_error *error);
bool store_nodes_load(struct store *store, int64_t id, struct lab_strategy_result *out,
                      struct sim_error *error);

/* The event log and the views of a strategy in a cluster run; other runs have none. */
bool store_events_save(struct store *store, sqlite3_stmt *insert, int64_t id,
                       const struct lab_event_log *events, struct sim_error *error);
bool store_events_load(struct store *store, int64_t id, struct lab_event_log *out, struct sim_error *error);
bool store_views_save(struct store *store, sqlite3_stmt *insert_change, sqlite3_stmt *insert_belief,
                      int64_t id, const struct lab_views *views, struct sim_error *error);
bool store_views_load(struct store *store, int64_t id, struct lab_views *out, struct sim_error *error);

#endif
