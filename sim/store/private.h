/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of the store: the connection, the versions of the schema, and reading and writing of
 * values.
 *
 * A whole number that fits into SQLite's 63 bits is stored as an INTEGER, a larger one as TEXT with its
 * digits. A digest is stored as 16 hexadecimal digits. Both are exact, and readable in the sqlite3 shell. */
#ifndef STORE_PRIVATE_H
#define STORE_PRIVATE_H

#include <glib.h>
#include <sqlite3.h>

#include "store/store.h"

/* "bklb": the application id, by which file(1) and this program recognise the database. */
#define STORE_APPLICATION_ID 0x626b6c62

/* Migrates a database from one version to the next; the index in the table is the old version. */
struct store_migration {
    const char *sql;
    const char *view; /* shows a reader of an earlier version what the migration changes; NULL: nothing */
};

struct store_options {
    int busy_timeout_ms;
    const struct store_migration *migrations;
    int version;          /* the version that this program writes, which is the number of migrations */
    int readable_version; /* the oldest version that this program can read without a migration */
};

extern const struct store_options store_options_default;

/* How this program digests placements; earlier ones are of the kind 0. */
#define STORE_DIGEST_KIND 1

/* --- schema.c: the tables, by their columns. A type says what a column holds, and what is at its place. */

enum store_type {
    STORE_TEXT,    /* char *: malloc'ed when it is loaded; NULL is NULL */
    STORE_NAME,    /* char *: the same, and NULL in the database is damage */
    STORE_CHARS,   /* char []: at most `bytes`, with the NUL */
    STORE_WORD,    /* an enum: one of `words` */
    STORE_INTEGER, /* int64_t */
    STORE_SPAN,    /* int64_t or uint64_t from 0 to INT64_MAX / 2 */
    STORE_WHOLE,   /* uint64_t */
    STORE_U32,     /* uint32_t */
    STORE_WIDE,    /* lab_wide */
    STORE_FLAG,    /* bool */
    STORE_REAL,    /* double; NaN is NULL */
    STORE_DIGEST,  /* uint64_t */
    STORE_BLOB     /* struct store_blob: malloc'ed when it is loaded */
};
struct store_blob {
    unsigned char *bytes;
    size_t size;
};
struct store_column {
    const char *name; /* for one that is only read, any expression */
    enum store_type type;
    size_t offset, bytes;
    const char *const *words; /* ends with NULL */
};
struct store_table {
    const char *name;     /* for a list that is only read, any join */
    const char *owner;    /* the column by which rows belong to a run, strategy or sweep; NULL: none */
    const char *key;      /* its value, from the owner's number ?1; NULL: that number */
    const char *position; /* the column that numbers an owner's rows, from `first` on; NULL: none */
    int first;
    const char *order; /* of an owner's rows when they are read; NULL: that of their positions */
    const struct store_column *columns;
    size_t column_count, only_read; /* the last `only_read` columns are not inserted */
    size_t row_bytes;
};
/* The tables of which a table is the owner come after it. */
enum store_table_id {
    STORE_RUN,
    STORE_STRATEGY,
    STORE_SETTING,
    STORE_METRIC,
    STORE_HISTOGRAM,
    STORE_EVENT_LOG,
    STORE_CHANGE,
    STORE_BELIEF,
    STORE_LARGEST,
    STORE_SLICE,
    STORE_NODE,
    STORE_EXPECTATION,
    STORE_TERM,
    STORE_TUNE,
    STORE_BASELINE,
    STORE_BASELINE_METRIC,
    STORE_SWEEP,
    STORE_SWEEP_POINT,
    STORE_SWEEP_JOB,
    STORE_OUTCOME,
    STORE_RUN_LIST,
    STORE_SEED_LIST,
    STORE_TABLE_COUNT
};
extern const struct store_table store_tables[STORE_TABLE_COUNT];

/* Rows that are not structs of a result. Texts that are saved are only read. */
struct store_head {
    struct store_run_info info;
    struct lab_result result;
    int64_t digest_kind;
    uint64_t strategies;
};
struct store_strategy_row {
    int64_t id, position;
    char *label, *kind;
    uint64_t placement_digest;
};
struct store_histogram_row {
    char *state, *unit, *bins;
    struct lab_histogram figures;
};
struct store_event_row {
    struct lab_event_log log;
    struct store_blob marks;
};
struct store_largest_row {
    enum lab_size_unit unit;
    struct lab_largest largest;
};
struct store_term_row {
    char *name;
    double value;
};
struct store_text_row {
    char *text;
};
struct store_baseline_row {
    int64_t run;
    char *scenario;
    uint64_t seeds;
};
struct store_work_row {
    int64_t sweep, created_unix_s;
    uint64_t identity, points, jobs;
    char *scenario, *version, *path, *text, *overrides;
};
struct store_job_row {
    int64_t sweep, job, point, run;
    uint64_t digest;
};
struct store_outcome_row {
    uint64_t identity, job, command, digest;
    struct store_blob outcome;
};
struct store_seed_row {
    int64_t run;
    uint64_t seed;
    char *overrides, *wanted;
};

struct store {
    sqlite3 *db; /* NULL until the first run, when the database does not exist yet */
    char *path;  /* as the user named it, for messages */
    char *file;  /* path as passed to SQLite, which is never ":memory:" or "file:..." */
    enum store_mode mode;
    bool is_read_only; /* STORE_READ: neither the file nor SQLite's files next to it can be written */
    struct store_options options;
    struct store_run_info info;               /* that of the last store_load_run(), which owns its strings */
    sqlite3_stmt *inserts[STORE_TABLE_COUNT]; /* prepared when the first row is inserted */
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
/* As store_prepare(), and binds ?1 and ?2, if the statement has them. text: not copied; may be NULL. */
bool store_query(struct store *store, const char *sql, int64_t id, const char *text, sqlite3_stmt **out,
                 struct sim_error *error);
/* The text of a digest in the database, for a query. */
#define STORE_DIGEST_SIZE 17
const char *store_digest_text(uint64_t digest, char text[STORE_DIGEST_SIZE]);
/* Rolls back a transaction that is still open. */
void store_rollback(struct store *store);

/* Binds values to a statement's parameters, in order. store_bind_run() reports the first failure. */
struct store_binder {
    sqlite3_stmt *statement;
    int index, code;
};
/* Begins a row of a table, with its owner, if the table has one. */
bool store_bind_begin(struct store *store, enum store_table_id table, int64_t owner,
                      struct store_binder *binder, struct sim_error *error);
void store_bind_text(struct store_binder *binder, const char *text); /* not copied; NULL is NULL */
/* Binds what is at the column's place in a row. Texts and bytes are not copied. */
void store_bind_column(struct store_binder *binder, const struct store_column *column, const void *row);
/* Executes a statement that returns no rows, and resets it for the next values. */
bool store_bind_run(struct store *store, struct store_binder *binder, struct sim_error *error);
/* Inserts an owner's rows. */
bool store_rows_save(struct store *store, enum store_table_id table, int64_t owner, const void *rows,
                     size_t count, struct sim_error *error);

/* Reads a row's columns, in order. store_row_check() reports the first failure. */
struct store_row {
    sqlite3_stmt *statement;
    int column;
    bool is_damaged;
};
char *store_take_text(struct store_row *row); /* malloc'ed; NULL for NULL */
int64_t store_take_integer(struct store_row *row);
double store_take_real(struct store_row *row);
void store_take_column(struct store_row *row, const struct store_column *column, void *into);
bool store_row_check(const struct store *store, const struct store_row *row, struct sim_error *error);
/* Steps the statement. *more: whether there is a row; *row is then set to its first column. */
bool store_next(struct store *store, sqlite3_stmt *statement, struct store_row *row, bool *more,
                struct sim_error *error);
/* Loads the rows of a table for which `where`, a condition and an order, holds; ?1 and ?2 are `id` and
 * `text`. `out` is the address of a pointer to the table's row struct: the rows are malloc'ed, and so are the
 * texts in them. Both are owned by the caller, after a failure too. */
bool store_rows_find(struct store *store, enum store_table_id table, const char *where, int64_t id,
                     const char *text, void *out, size_t *count, struct sim_error *error);
/* Loads an owner's rows, in order. */
bool store_rows_load(struct store *store, enum store_table_id table, int64_t owner, void *out, size_t *count,
                     struct sim_error *error);
/* Frees rows and the texts and bytes in them. */
void store_rows_free(enum store_table_id table, void *rows, size_t count);
/* Runs a query of one number, which is *out; *is_there, which may be NULL: whether it has a row. */
bool store_number(struct store *store, const char *sql, int64_t id, const char *text, int64_t *out,
                  bool *is_there, struct sim_error *error);

/* --- run.c */

/* Stores a run within a transaction that store_begin() began. */
bool store_save_within(struct store *store, const struct store_run_info *info,
                       const struct lab_result *result, int64_t *run, struct sim_error *error);
/* store_load_run() within an open transaction. */
bool store_load_within(struct store *store, int64_t run, struct store_run_info *info, struct lab_result **out,
                       struct sim_error *error);
void store_info_clear(struct store *store);

#endif
