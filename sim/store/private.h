/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the store share: the connection, the schema's versions, values in and out of SQLite.
 *
 * A whole number that fits SQLite's 63 bits is an INTEGER, a larger one the same digits as TEXT; a digest is
 * 16 hex digits. So a person can read both, and nothing is lost. */
#ifndef STORE_PRIVATE_H
#define STORE_PRIVATE_H

#include <sqlite3.h>

#include "store/store.h"

/* "bklb": tells file(1), and us, whose database it is. */
#define STORE_APPLICATION_ID 0x626b6c62

/* Brings a database from the version that is its index in the table to the next. */
struct store_migration {
    const char *sql;
};

struct store_options {
    int busy_timeout_ms;
    const struct store_migration *migrations;
    int version;          /* the one we write: the number of migrations */
    int readable_version; /* the oldest whose tables are those of `version` */
};

extern const struct store_options store_options_default;

#define STORE_INFO_TEXTS 4

struct store {
    sqlite3 *db; /* NULL until the first run of a database that is not there yet */
    char *path;  /* as the user named it, for messages */
    char *file;  /* as SQLite gets it: never ":memory:" or "file:..." */
    enum store_mode mode;
    bool is_read_only; /* a reader's: neither the file nor what SQLite keeps next to it can be written */
    struct store_options options;
    char *texts[STORE_INFO_TEXTS]; /* those of the last store_load_run() */
};

/* --- open.c */

/* store_open() with a table of migrations and a patience of one's own. */
bool store_open_with(const char *path, enum store_mode mode, const struct store_options *options,
                     struct store **out, struct sim_error *error);
/* Begins the transaction of a run. A store that was opened for writing before there was a database makes it
 * now (*is_new), tables and run in one transaction, so that it comes into being with its first run. */
bool store_begin(struct store *store, bool *is_new, struct sim_error *error);
/* Undoes what was not committed; a new database goes again when its run is not `fine`. */
void store_end(struct store *store, bool is_new, bool fine);

/* --- header.c */

/* Looks at the file's first bytes before SQLite does, so that a file that is not ours is refused without a
 * lock taken or a file made next to it. *has_log: the database has a write-ahead log. */
bool store_header_check(struct store *store, bool *has_log, struct sim_error *error);
/* The refusals by version that header and schema share. */
bool store_version_check(const struct store *store, int64_t version, struct sim_error *error);

/* --- schema.c */

/* Applies the migrations that are missing, in one transaction, which is left open when the caller
 * `continues` it. */
bool store_migrate(struct store *store, bool continues, struct sim_error *error);
/* The same checks for a reader, who may not migrate. */
bool store_schema_check(struct store *store, struct sim_error *error);

/* Whether the database has it: a reader takes older ones as they are. */
bool store_has_table(struct store *store, const char *name, bool *is_there, struct sim_error *error);

/* --- fail.c */

/* Fills the error for a result code of SQLite; returns false. */
bool store_fail(const struct store *store, int code, struct sim_error *error);
/* The same where a system call failed. */
bool store_fail_system(const struct store *store, int number, struct sim_error *error);
/* For contents that cannot be ours: `what` is a few words. */
bool store_fail_damaged(const struct store *store, const char *what, struct sim_error *error);

/* --- value.c */

bool store_execute(struct store *store, const char *sql, struct sim_error *error);
bool store_prepare(struct store *store, const char *sql, sqlite3_stmt **out, struct sim_error *error);
/* The same, with its one parameter. */
bool store_query(struct store *store, const char *sql, int64_t id, sqlite3_stmt **out,
                 struct sim_error *error);
/* Ends a transaction that is still open; what it did is undone. */
void store_rollback(struct store *store);

/* Values for a statement's parameters, in order; the first failure is kept for store_bind_run(). */
struct store_binder {
    sqlite3_stmt *statement;
    int index, code;
};
void store_bind_text(struct store_binder *binder, const char *text); /* kept by reference; NULL is NULL */
void store_bind_integer(struct store_binder *binder, int64_t value);
void store_bind_whole(struct store_binder *binder, lab_wide value);
void store_bind_real(struct store_binder *binder, double value); /* NaN is NULL */
void store_bind_digest(struct store_binder *binder, uint64_t digest);
void store_bind_blob(struct store_binder *binder, const void *bytes, size_t size); /* kept by reference */
/* Runs a statement that gives no rows and makes it ready for the next values. */
bool store_bind_run(struct store *store, struct store_binder *binder, struct sim_error *error);

/* A row's columns, in order; the first failure is kept for store_row_check(). */
struct store_row {
    sqlite3_stmt *statement;
    int column;
    bool is_damaged, is_out_of_memory;
};
char *store_take_text(struct store_row *row); /* malloc'ed; NULL for NULL */
char *store_take_name(struct store_row *row); /* the same, of what is never NULL */
int64_t store_take_integer(struct store_row *row);
lab_wide store_take_whole(struct store_row *row, lab_wide most);
double store_take_real(struct store_row *row);
uint64_t store_take_digest(struct store_row *row);
/* Those of the row: gone with its next step. An empty blob gives NULL and size 0. */
const unsigned char *store_take_blob(struct store_row *row, size_t *size);
bool store_row_check(const struct store *store, const struct store_row *row, struct sim_error *error);
/* Steps: *more tells whether there is a row, which *row then begins. */
bool store_next(struct store *store, sqlite3_stmt *statement, struct store_row *row, bool *more,
                struct sim_error *error);

/* --- save.c */

/* Stores a run in a transaction that store_begin() has begun. */
bool store_save_within(struct store *store, const struct store_run_info *info,
                       const struct lab_result *result, int64_t *run, struct sim_error *error);
/* The same for several runs, whose statements are prepared once. */
struct store_saver;
bool store_saver_make(struct store *store, struct store_saver **out, struct sim_error *error);
bool store_saver_add(struct store *store, struct store_saver *saver, const struct store_run_info *info,
                     const struct lab_result *result, int64_t *run, struct sim_error *error);
void store_saver_free(struct store_saver *saver); /* NULL is fine */

/* --- unfinished.c */

/* In a transaction: whether the attempt is the newest; else SIM_ERROR_CHECK. Notes the time so far. */
struct store_unfinished;
bool store_unfinished_holds(struct store *store, const struct store_unfinished *unfinished,
                            struct sim_error *error);

/* --- load.c */

/* store_load_run() in a transaction that is open. */
bool store_load_within(struct store *store, int64_t run, struct store_run_info *info, struct lab_result **out,
                       struct sim_error *error);

/* --- terms.c: what a run is judged by, as (name, value) */

bool store_terms_save(struct store *store, sqlite3_stmt *insert, int64_t run, const struct lab_result *result,
                      struct sim_error *error);
bool store_terms_load(struct store *store, int64_t run, struct lab_result *result, struct sim_error *error);

/* --- settings.c: a strategy's settings as (name, value) */

bool store_settings_save(struct store *store, sqlite3_stmt *insert, int64_t id,
                         const struct lab_strategy_result *result, struct sim_error *error);
/* kind: its name, as stored. */
bool store_settings_load(struct store *store, int64_t id, const char *kind, struct lab_strategy_result *out,
                         struct sim_error *error);

/* --- histograms.c: the histograms of a strategy: five, and its latencies */

bool store_histograms_save(struct store *store, sqlite3_stmt *insert, sqlite3_stmt *insert_bin, int64_t id,
                           const struct lab_strategy_result *result, struct sim_error *error);
bool store_histograms_load(struct store *store, int64_t id, struct lab_strategy_result *result,
                           struct sim_error *error);

/* --- figures.c: the metrics of a strategy */

bool store_metrics_load(struct store *store, int64_t id, struct lab_metrics *out, struct sim_error *error);

/* --- largest.c: where the largest partitions stand */

bool store_largest_save(struct store *store, sqlite3_stmt *insert, int64_t id,
                        const struct lab_largest *largest, struct sim_error *error);
bool store_largest_load(struct store *store, int64_t id, struct lab_largest *out, struct sim_error *error);

/* --- slices.c: the sizes of partitions over time, and what each node holds */

bool store_slices_save(struct store *store, sqlite3_stmt *insert, int64_t id,
                       const struct lab_timeline *timeline, struct sim_error *error);
bool store_slices_load(struct store *store, int64_t id, struct lab_timeline *out, struct sim_error *error);
bool store_nodes_save(struct store *store, sqlite3_stmt *insert, int64_t id,
                      const struct lab_strategy_result *result, struct sim_error *error);
bool store_nodes_load(struct store *store, int64_t id, struct lab_strategy_result *out,
                      struct sim_error *error);

/* --- events.c: what a strategy of a cluster run has in addition; nothing is stored of another */

bool store_events_save(struct store *store, sqlite3_stmt *insert, int64_t id,
                       const struct lab_event_log *events, struct sim_error *error);
bool store_events_load(struct store *store, int64_t id, struct lab_event_log *out, struct sim_error *error);
bool store_views_save(struct store *store, sqlite3_stmt *insert_change, sqlite3_stmt *insert_belief,
                      int64_t id, const struct lab_views *views, struct sim_error *error);
bool store_views_load(struct store *store, int64_t id, struct lab_views *out, struct sim_error *error);

#endif
