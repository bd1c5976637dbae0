/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Merges several databases into one. */
#define _POSIX_C_SOURCE 200809L
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lab/sweep.h"
#include "private.h"
#include "store/store.h"

/* A run to copy, and the job of a sweep to which it belongs, if any, with the sweep's number in the source
 * and in the target. */
struct item {
    int64_t run, sweep, job, point;
};

struct merge {
    struct store *into, *from;
    struct lab_progress *progress;
    struct store_merged *told;
    sqlite3_stmt *selects[STORE_TABLE_COUNT], *inserts[STORE_TABLE_COUNT]; /* prepared when they are needed */
};

/* A row that is missing in an index would be lost silently, so the source's integrity is checked. */
static bool check_whole(struct store *source, struct sim_error *error)
{
    /* The process that wrote the write-ahead log may still be running, and this program must not checkpoint
     * the log. */
    struct stat status;
    if (stat(sqlite3_filename_wal(sqlite3_db_filename(source->db, "main")), &status) == 0 &&
        status.st_size > 0)
        sqlite3_db_config(source->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_stmt *statement;
    struct store_row row;
    bool more, fine = store_prepare(source, "PRAGMA integrity_check(1)", &statement, error) &&
                      store_next(source, statement, &row, &more, error);
    if (fine) {
        const char *text = (const char *)sqlite3_column_text(statement, 0);
        fine = (text != NULL && strcmp(text, "ok") == 0) ||
               store_fail_damaged(source, text == NULL ? "it cannot be checked" : text, error);
    }
    sqlite3_finalize(statement);
    return fine;
}

/* Called before anything is written. */
static bool check_sources(struct store *into, struct store *const *sources, size_t count,
                          struct sim_error *error)
{
    struct stat one, other;
    for (size_t i = 0; i < count; i++) {
        assert(sources[i]->mode == STORE_READ);
        if (stat(into->file, &one) == 0 && stat(sources[i]->file, &other) == 0 &&
            one.st_dev == other.st_dev && one.st_ino == other.st_ino)
            return sim_fail(
                error, SIM_ERROR_INPUT,
                "%s: receives the other databases, so it cannot be one of them; leave it out of their list",
                sources[i]->path);
        if (!check_whole(sources[i], error))
            return false;
    }
    return true;
}

/* Everything stored about a run that is not a job, except its number, by which the run is found in another
 * database: a digest of all columns but the first. */
static char *key_of(sqlite3_stmt *statement)
{
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
    for (int i = 1; i < sqlite3_column_count(statement); i++) {
        const void *text = sqlite3_column_text(statement, i);
        const int part[] = {sqlite3_column_type(statement, i), sqlite3_column_bytes(statement, i)};
        g_checksum_update(sum, (const guchar *)part, sizeof part);
        g_checksum_update(sum, text, part[1]);
    }
    char *key = g_strdup(g_checksum_get_string(sum));
    g_checksum_free(sum);
    return key;
}

/* Counts the runs with each key or, if `items` is not NULL, lists those that are not among the counted ones,
 * each of which stands for one run: a run that was stored twice in the source is copied twice. */
static bool visit_plain(struct merge *merge, struct store *store, GHashTable *counts, GArray *items,
                        struct sim_error *error)
{
    sqlite3_stmt *statement;
    struct store_row row;
    bool more = true,
         fine = store_query(store, "SELECT * FROM run WHERE run NOT IN (SELECT run FROM sweep_job)", 0, NULL,
                            &statement, error);
    while (fine && (fine = store_next(store, statement, &row, &more, error)) && more) {
        char *key = key_of(statement);
        const size_t count = GPOINTER_TO_SIZE(g_hash_table_lookup(counts, key));
        const struct item item = {.run = store_take_integer(&row)};
        if (items != NULL && count == 0)
            g_array_append_val(items, item);
        merge->told->found += items != NULL && count > 0;
        g_hash_table_replace(counts, key, GSIZE_TO_POINTER(items == NULL ? count + 1 : count - (count > 0)));
    }
    sqlite3_finalize(statement);
    return fine;
}

static bool list_plain(struct merge *merge, GArray *items, struct sim_error *error)
{
    GHashTable *counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    const bool fine = visit_plain(merge, merge->into, counts, NULL, error) &&
                      visit_plain(merge, merge->from, counts, items, error);
    g_hash_table_destroy(counts);
    return fine;
}

/* --- Copies: a row of one database, with every row that it owns, directly or indirectly ---
 *
 * A row's own number, which is in the column of its table's name, is new in the target; the number of its
 * owner is that of the owner's copy. All other columns are copied in their order, which is that of any
 * version. */

static bool prepare(struct merge *merge, enum store_table_id id, struct sim_error *error)
{
    const struct store_table *table = &store_tables[id];
    char sql[512];
    if (merge->selects[id] != NULL)
        return true;
    snprintf(sql, sizeof sql, "SELECT * FROM %s WHERE %s = %s ORDER BY 1", table->name,
             table->owner == NULL ? table->name : table->owner, table->key == NULL ? "?1" : table->key);
    if (!store_prepare(merge->from, sql, &merge->selects[id], error))
        return false;
    /* A scenario has only one baseline: if the target already has one, that one is kept. */
    int used = snprintf(sql, sizeof sql, "INSERT OR %s INTO %s VALUES (?",
                        id == STORE_BASELINE ? "IGNORE" : "ABORT", table->name);
    for (int i = 1; i < sqlite3_column_count(merge->selects[id]); i++)
        used += snprintf(sql + used, sizeof sql - (size_t)used, ", ?");
    snprintf(sql + used, sizeof sql - (size_t)used, ")");
    return store_prepare(merge->into, sql, &merge->inserts[id], error);
}

static bool copy_row(struct merge *merge, enum store_table_id id, int64_t owner, struct sim_error *error)
{
    const struct store_table *table = &store_tables[id];
    sqlite3_stmt *select = merge->selects[id], *insert = merge->inserts[id];
    for (int i = 0; i < sqlite3_column_count(select); i++) {
        const char *column = sqlite3_column_name(select, i);
        if (column == NULL)
            return sim_fail_memory(error);
        if (strcmp(column, table->name) == 0)
            sqlite3_bind_null(insert, i + 1);
        else if (table->owner != NULL && table->key == NULL && strcmp(column, table->owner) == 0)
            sqlite3_bind_int64(insert, i + 1, owner);
        else
            sqlite3_bind_value(insert, i + 1, sqlite3_column_value(select, i));
    }
    int code = sqlite3_step(insert);
    sqlite3_reset(insert);
    /* A row that violates a constraint cannot come from an undamaged database. */
    if ((code & 0xff) == SQLITE_CONSTRAINT)
        return store_fail_damaged(merge->from, sqlite3_errmsg(merge->into->db), error);
    return code == SQLITE_DONE || store_fail(merge->into, code, error);
}

/* Copies the rows of a table whose owner, or which itself for a root, has the number `old`. *copied: the
 * number of the last copy; 0: there is none. */
static bool copy_rows(struct merge *merge, enum store_table_id id, int64_t old, int64_t owner,
                      int64_t *copied, struct sim_error *error)
{
    int code = SQLITE_OK;
    *copied = 0;
    if (!prepare(merge, id, error))
        return false;
    sqlite3_stmt *select = merge->selects[id];
    sqlite3_bind_int64(select, 1, old);
    bool fine = true;
    while (fine && (code = sqlite3_step(select)) == SQLITE_ROW) {
        fine = copy_row(merge, id, owner, error);
        if (!fine || sqlite3_changes(merge->into->db) == 0)
            continue;
        const int64_t made = *copied = sqlite3_last_insert_rowid(merge->into->db);
        const bool is_baseline = id == STORE_BASELINE; /* whose metrics are found by the run */
        for (int i = 0; fine && i < STORE_TABLE_COUNT; i++) {
            const char *of = store_tables[i].owner;
            int64_t ignored;
            if (is_baseline ? i == STORE_BASELINE_METRIC
                            : of != NULL && strcmp(of, store_tables[id].name) == 0)
                fine = copy_rows(merge, (enum store_table_id)i,
                                 is_baseline ? old : sqlite3_column_int64(select, 0), made, &ignored, error);
        }
    }
    sqlite3_reset(select);
    return fine && (code == SQLITE_DONE || store_fail(merge->from, code, error));
}

/* --- Sweeps --- */

/* Finds the sweep's number in the target; a sweep that is missing there is copied. */
static bool find_sweep(struct merge *merge, const struct store_work_row *there, int64_t *here,
                       struct sim_error *error)
{
    struct store_work_row *row;
    size_t count;
    char identity[STORE_DIGEST_SIZE];
    bool fine = store_rows_find(merge->into, STORE_SWEEP, "identity = ?2", 0,
                                store_digest_text(there->identity, identity), &row, &count, error);
    *here = fine && count > 0 ? row->sweep : 0;
    if (*here != 0 && strcmp(there->version, row->version) != 0)
        fine = sim_fail(error, SIM_ERROR_INPUT,
                        "%s: its sweep %" PRId64
                        " is by bucketlab %s, and that in %s by %s; runs of two versions cannot be "
                        "combined: sweep this part again with one of them",
                        merge->from->path, there->sweep, there->version, merge->into->path, row->version);
    store_rows_free(STORE_SWEEP, row, count);
    return fine && (*here != 0 || copy_rows(merge, STORE_SWEEP, there->sweep, 0, here, error));
}

/* Adds the jobs of a sweep that the target does not have. Both lists are in the order of jobs. */
static bool list_jobs(struct merge *merge, int64_t there, int64_t here, GArray *items,
                      struct sim_error *error)
{
    static const char of_sweep[] = "sweep = ?1 ORDER BY job";
    struct store_job_row *jobs, *found = NULL;
    size_t count, found_count = 0, at = 0;
    bool fine =
        store_rows_find(merge->from, STORE_SWEEP_JOB, of_sweep, there, NULL, &jobs, &count, error) &&
        store_rows_find(merge->into, STORE_SWEEP_JOB, of_sweep, here, NULL, &found, &found_count, error);
    for (size_t i = 0; fine && i < count; i++) {
        const struct store_job_row *job = &jobs[i];
        while (at < found_count && found[at].job < job->job)
            at++;
        if (at == found_count || found[at].job != job->job) {
            const struct item item = {job->run, here, job->job, job->point};
            g_array_append_val(items, item);
            continue;
        }
        merge->told->found++;
        if (found[at].digest != job->digest)
            fine = sim_fail(error, SIM_ERROR_CHECK,
                            "%s: job %" PRId64 " of a sweep, run %" PRId64 ", has digest %016" PRIx64
                            ", and in %s it is run %" PRId64 " with %016" PRIx64
                            "; 'bucketlab replay %" PRId64 " --db %s' tells which is right",
                            merge->from->path, job->job, job->run, job->digest, merge->into->path,
                            found[at].run, found[at].digest, job->run, merge->from->path);
    }
    free(jobs);
    free(found);
    return fine;
}

static bool list_sweeps(struct merge *merge, GArray *items, struct sim_error *error)
{
    struct store_work_row *rows;
    size_t count;
    int64_t here;
    bool fine = store_rows_find(merge->from, STORE_SWEEP, "1 ORDER BY sweep", 0, NULL, &rows, &count, error);
    for (size_t i = 0; fine && i < count; i++)
        fine =
            find_sweep(merge, &rows[i], &here, error) && list_jobs(merge, rows[i].sweep, here, items, error);
    store_rows_free(STORE_SWEEP, rows, count);
    return fine;
}

static bool copy_items(struct merge *merge, const GArray *items, struct sim_error *error)
{
    if (merge->progress != NULL)
        merge->progress->total += items->len;
    for (guint i = 0; i < items->len; i++) {
        const struct item *item = &g_array_index(items, struct item, i);
        struct store_job_row job = {.sweep = item->sweep, .job = item->job, .point = item->point};
        if (lab_is_stopped(merge->progress))
            return sim_fail(error, SIM_ERROR_CHECK, "interrupted; nothing was merged");
        if (!copy_rows(merge, STORE_RUN, item->run, 0, &job.run, error) ||
            !store_rows_save(merge->into, STORE_SWEEP_JOB, 0, &job, item->sweep != 0, error))
            return false;
        merge->told->added++;
        if (merge->progress != NULL)
            merge->progress->done = merge->progress->rows = merge->told->added;
    }
    return true;
}

static gint by_run(gconstpointer a, gconstpointer b)
{
    int64_t one = ((const struct item *)a)->run, other = ((const struct item *)b)->run;
    return (one > other) - (one < other);
}

static bool merge_one(struct merge *merge, struct sim_error *error)
{
    GArray *items = g_array_new(FALSE, FALSE, sizeof(struct item));
    bool fine = list_plain(merge, items, error) && list_sweeps(merge, items, error);
    g_array_sort(items, by_run);
    fine = fine && copy_items(merge, items, error);
    g_array_free(items, TRUE);
    for (int i = 0; i < STORE_TABLE_COUNT; i++) {
        sqlite3_finalize(merge->selects[i]);
        sqlite3_finalize(merge->inserts[i]);
    }
    return fine;
}

bool store_merge(struct store *into, struct store *const *sources, size_t count,
                 struct lab_progress *progress, struct store_merged *out, struct sim_error *error)
{
    assert(into->mode == STORE_WRITE);
    *out = (struct store_merged){0, 0};
    if (!check_sources(into, sources, count, error))
        return false;
    bool is_new, fine = store_begin(into, &is_new, error);
    for (size_t i = 0; fine && i < count; i++) {
        struct merge merge = {.into = into, .from = sources[i], .progress = progress, .told = out};
        fine = store_execute(sources[i], "BEGIN", error) && merge_one(&merge, error);
        store_rollback(sources[i]);
    }
    fine = fine && store_execute(into, "COMMIT", error);
    store_end(into, is_new, fine);
    return fine;
}

static bool sum_up(struct store *store, struct store_sweep_row *out, struct sim_error *error)
{
    struct store_job_row *jobs;
    size_t count;
    const bool fine = store_rows_find(store, STORE_SWEEP_JOB, "sweep = ?1 ORDER BY job", out->sweep, NULL,
                                      &jobs, &count, error);
    for (size_t i = 0; fine && i < count; i++)
        out->digest = lab_sweep_digest_add(out->digest, (uint64_t)jobs[i].job, jobs[i].digest);
    out->done = count;
    free(jobs);
    return fine;
}

void store_sweeps_free(struct store_sweep_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(rows[i].scenario_name);
    free(rows);
}

bool store_list_sweeps(struct store *store, struct store_sweep_row **out, size_t *count,
                       struct sim_error *error)
{
    struct store_work_row *rows = NULL;
    size_t found = 0;
    *out = NULL;
    *count = 0;
    bool fine = store->db == NULL ||
                store_rows_find(store, STORE_SWEEP, "1 ORDER BY sweep", 0, NULL, &rows, &found, error);
    *out = g_new0(struct store_sweep_row, found);
    for (size_t i = 0; fine && i < found; i++) {
        struct store_sweep_row *made = &(*out)[(*count)++];
        *made = (struct store_sweep_row){.sweep = rows[i].sweep,
                                         .scenario_name = rows[i].scenario,
                                         .identity = rows[i].identity,
                                         .jobs = rows[i].jobs};
        rows[i].scenario = NULL;
        fine = sum_up(store, made, error);
    }
    store_rows_free(STORE_SWEEP, rows, found);
    if (!fine) {
        store_sweeps_free(*out, *count);
        *out = NULL;
        *count = 0;
    }
    return fine;
}
