/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Merges several databases into one. */
#define _POSIX_C_SOURCE 200809L
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bucketing/hash.h"
#include "kernel/grow.h"
#include "lab/sweep.h"
#include "private.h"
#include "store/merge.h"

/* A digest of everything stored about a run that is not a job, by which the run is found in another
 * database. */
struct mark {
    lab_wide hash;
    int64_t run;
};

/* A run to copy, and the job of a sweep to which it belongs, if any, with the sweep's number in the source
 * and in the target. */
struct item {
    int64_t run, sweep, job, point;
};

struct items {
    struct item *items;
    size_t count, capacity;
};

struct marks {
    struct mark *items;
    size_t count, capacity;
};

struct merge {
    struct store *into, *from;
    struct lab_progress *progress;
    struct store_merged *told;
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

/* Over all columns except the first, which is the run's number. */
static struct mark mark_of(sqlite3_stmt *statement)
{
    struct mark mark = {.run = sqlite3_column_int64(statement, 0)};
    int columns = sqlite3_column_count(statement);
    for (int i = 1; i < columns; i++) {
        uint64_t part[4] = {(uint64_t)(mark.hash >> 64), (uint64_t)mark.hash,
                            (uint64_t)sqlite3_column_type(statement, i), 0};
        const void *text = sqlite3_column_text(statement, i);
        int size = sqlite3_column_bytes(statement, i);
        part[3] = bk_murmur3_128(text, (size_t)size, 1).h1;
        part[2] += bk_murmur3_128(text, (size_t)size, 2).h2;
        struct bk_hash128 hash = bk_murmur3_128(part, sizeof part, (uint64_t)size);
        mark.hash = (lab_wide)hash.h1 << 64 | hash.h2;
    }
    return mark;
}

static int by_mark(const void *a, const void *b)
{
    const struct mark *one = a, *other = b;
    if (one->hash != other->hash)
        return one->hash > other->hash ? 1 : -1;
    return (one->run > other->run) - (one->run < other->run);
}

static bool mark_runs(struct store *store, struct marks *marks, struct sim_error *error)
{
    sqlite3_stmt *statement;
    struct store_row row;
    bool more = true,
         fine = store_prepare(store, "SELECT * FROM run WHERE run NOT IN (SELECT run FROM sweep_job)",
                              &statement, error);
    while (fine && (fine = store_next(store, statement, &row, &more, error)) && more) {
        if (!sim_grow(&marks->items, &marks->capacity, marks->count + 1, sizeof *marks->items)) {
            fine = sim_fail_memory(error);
            break;
        }
        marks->items[marks->count++] = mark_of(statement);
    }
    sqlite3_finalize(statement);
    if (fine && marks->count > 0)
        qsort(marks->items, marks->count, sizeof *marks->items, by_mark);
    return fine;
}

static bool add_item(struct items *items, const struct item *item, struct sim_error *error)
{
    if (!sim_grow(&items->items, &items->capacity, items->count + 1, sizeof *items->items))
        return sim_fail_memory(error);
    items->items[items->count++] = *item;
    return true;
}

/* A run that was stored twice in the source is copied twice. */
static bool list_plain(struct merge *merge, struct items *items, struct sim_error *error)
{
    struct marks there = {0}, here = {0};
    bool fine = mark_runs(merge->from, &there, error) && mark_runs(merge->into, &here, error);
    size_t found = 0;
    for (size_t i = 0; fine && i < there.count; i++) {
        const struct mark *mark = &there.items[i];
        while (found < here.count && here.items[found].hash < mark->hash)
            found++;
        if (found < here.count && here.items[found].hash == mark->hash) {
            found++;
            merge->told->found++;
        } else {
            fine = add_item(items, &(struct item){.run = mark->run}, error);
        }
    }
    free(there.items);
    free(here.items);
    return fine;
}

/* The primary key of a row. */
struct key {
    int64_t number;
    char *text; /* malloc'ed; NULL: a number */
};

/* A foreign key: the rows of a table that refer, by one column, to a row of another table. For a root, the
 * row itself. */
struct link {
    char *table, *parent; /* parent: the table that is referred to; for a root, the table itself */
    sqlite3_stmt *select, *insert;
    int columns;
    int reference; /* index of the referring column; -1 for a root */
    int key; /* index of the only column of the primary key; -1: it has several columns, so no table can refer
                to it */
    bool is_new; /* the copies get new keys */
    bool is_parent;
};

struct store_copier {
    struct store *from, *into;
    struct link *links; /* roots come first */
    size_t count, capacity;
};

static void bind_key(sqlite3_stmt *statement, int index, const struct key *key)
{
    if (key->text != NULL)
        sqlite3_bind_text(statement, index, key->text, -1, SQLITE_TRANSIENT);
    else
        sqlite3_bind_int64(statement, index, key->number);
}

static bool take_key(struct store_copier *copier, sqlite3_stmt *select, int column, struct key *out,
                     struct sim_error *error)
{
    *out = (struct key){0, NULL};
    if (sqlite3_column_type(select, column) == SQLITE_INTEGER) {
        out->number = sqlite3_column_int64(select, column);
        return true;
    }
    const char *text = (const char *)sqlite3_column_text(select, column);
    if (text == NULL)
        return store_fail_damaged(copier->from, "a row without its key", error);
    out->text = strdup(text);
    return out->text != NULL || sim_fail_memory(error);
}

/* Copies the current row of the link's SELECT. *out: the key of the copy. */
static bool copy_row(struct store_copier *copier, struct link *link, const struct key *parent,
                     struct key *out, bool *is_copied, struct sim_error *error)
{
    for (int i = 0; i < link->columns; i++) {
        if (i == link->reference)
            bind_key(link->insert, i + 1, parent);
        else if (i == link->key && link->is_new)
            sqlite3_bind_null(link->insert, i + 1);
        else
            sqlite3_bind_value(link->insert, i + 1, sqlite3_column_value(link->select, i));
    }
    int code = sqlite3_step(link->insert);
    sqlite3_reset(link->insert);
    *is_copied = code == SQLITE_DONE && sqlite3_changes(copier->into->db) > 0;
    /* A row that violates a constraint cannot come from an undamaged database. */
    if ((code & 0xff) == SQLITE_CONSTRAINT)
        return store_fail_damaged(copier->from, sqlite3_errmsg(copier->into->db), error);
    if (code != SQLITE_DONE)
        return store_fail(copier->into, code, error);
    if (!link->is_parent)
        return true;
    if (link->is_new)
        out->number = sqlite3_last_insert_rowid(copier->into->db);
    else if (link->key == link->reference)
        out->number = parent->number;
    else
        return take_key(copier, link->select, link->key, out, error);
    return true;
}

static bool copy_rows(struct store_copier *copier, struct link *link, const struct key *old,
                      const struct key *number, struct sim_error *error);

static bool copy_children(struct store_copier *copier, struct link *link, const struct key *number,
                          struct sim_error *error)
{
    struct key old = {0, NULL};
    if (!link->is_parent)
        return true;
    bool fine = take_key(copier, link->select, link->key, &old, error);
    for (size_t i = 0; fine && i < copier->count; i++) {
        if (copier->links[i].reference >= 0 && strcmp(copier->links[i].parent, link->table) == 0)
            fine = copy_rows(copier, &copier->links[i], &old, number, error);
    }
    free(old.text);
    return fine;
}

static bool copy_rows(struct store_copier *copier, struct link *link, const struct key *old,
                      const struct key *number, struct sim_error *error)
{
    int code = SQLITE_OK;
    bool fine = true;
    bind_key(link->select, 1, old);
    while (fine && (code = sqlite3_step(link->select)) == SQLITE_ROW) {
        struct key made = {0, NULL};
        bool is_copied;
        fine = copy_row(copier, link, number, &made, &is_copied, error) &&
               (!is_copied || copy_children(copier, link, &made, error));
        free(made.text);
    }
    sqlite3_reset(link->select);
    sqlite3_clear_bindings(link->select);
    return fine && (code == SQLITE_DONE || store_fail(copier->from, code, error));
}

static bool store_copier_copy(struct store_copier *copier, const char *table, int64_t old, int64_t *number,
                              struct sim_error *error)
{
    struct link *root = copier->links;
    while (strcmp(root->table, table) != 0)
        root++;
    const struct key key = {old, NULL};
    bind_key(root->select, 1, &key);
    int code = sqlite3_step(root->select);
    struct key made = {0, NULL};
    /* A missing row is treated like any other failure. */
    bool is_copied, fine = code == SQLITE_ROW || store_fail(copier->from, code, error);
    fine = fine && copy_row(copier, root, NULL, &made, &is_copied, error) &&
           copy_children(copier, root, &made, error);
    sqlite3_reset(root->select);
    *number = made.number;
    return fine;
}

/* Finds the sweep's number in the target; a sweep that is missing there is copied. */
static bool find_sweep(struct merge *merge, struct store_copier *copier, int64_t there, const char *identity,
                       const char *version, int64_t *here, struct sim_error *error)
{
    sqlite3_stmt *statement;
    struct store_row row;
    bool more = false,
         fine = store_prepare(merge->into, "SELECT sweep, version FROM sweep WHERE identity = ?", &statement,
                              error);
    *here = 0;
    if (fine)
        sqlite3_bind_text(statement, 1, identity, -1, SQLITE_STATIC);
    fine = fine && store_next(merge->into, statement, &row, &more, error);
    if (fine && more) {
        *here = store_take_integer(&row);
        char *other = store_take_text(&row);
        fine = store_row_check(merge->into, &row, error);
        if (fine && strcmp(version, other) != 0)
            fine = sim_fail(error, SIM_ERROR_INPUT,
                            "%s: its sweep %" PRId64
                            " is by bucketlab %s, and that in %s by %s; runs of two versions cannot be "
                            "combined: sweep this part again with one of them",
                            merge->from->path, there, version, merge->into->path, other);
        free(other);
    }
    sqlite3_finalize(statement);
    return fine && (more || store_copier_copy(copier, "sweep", there, here, error));
}

static bool find_job(struct merge *merge, sqlite3_stmt *find, int64_t here, const struct item *item,
                     uint64_t digest, bool *is_there, struct sim_error *error)
{
    struct store_row row;
    sqlite3_bind_int64(find, 1, here);
    sqlite3_bind_int64(find, 2, item->job);
    bool fine = store_next(merge->into, find, &row, is_there, error);
    if (fine && *is_there) {
        int64_t run = store_take_integer(&row);
        uint64_t other = store_take_digest(&row);
        fine = store_row_check(merge->into, &row, error);
        if (fine && other != digest)
            fine = sim_fail(error, SIM_ERROR_CHECK,
                            "%s: job %" PRId64 " of a sweep, run %" PRId64 ", has digest %016" PRIx64
                            ", and in %s it is run %" PRId64 " with %016" PRIx64
                            "; 'bucketlab replay %" PRId64 " --db %s' tells which is right",
                            merge->from->path, item->job, item->run, digest, merge->into->path, run, other,
                            item->run, merge->from->path);
    }
    sqlite3_reset(find);
    return fine;
}

static bool list_jobs(struct merge *merge, int64_t there, int64_t here, struct items *items,
                      struct sim_error *error)
{
    sqlite3_stmt *statement = NULL, *find = NULL;
    struct store_row row;
    bool more = true,
         fine = store_prepare(
                    merge->from,
                    "SELECT run, job, point, digest FROM sweep_job JOIN run USING (run) WHERE sweep = ? "
                    "ORDER BY job",
                    &statement, error) &&
                store_prepare(
                    merge->into,
                    "SELECT run, digest FROM sweep_job JOIN run USING (run) WHERE sweep = ? AND job = ?",
                    &find, error);
    if (fine)
        sqlite3_bind_int64(statement, 1, there);
    while (fine && (fine = store_next(merge->from, statement, &row, &more, error)) && more) {
        struct item item = {.sweep = here};
        item.run = store_take_integer(&row);
        item.job = store_take_integer(&row);
        item.point = store_take_integer(&row);
        uint64_t digest = store_take_digest(&row);
        bool is_there = false;
        fine = store_row_check(merge->from, &row, error) &&
               find_job(merge, find, here, &item, digest, &is_there, error) &&
               (is_there || add_item(items, &item, error));
        merge->told->found += is_there;
    }
    sqlite3_finalize(statement);
    sqlite3_finalize(find);
    return fine;
}

static bool list_sweeps(struct merge *merge, struct store_copier *copier, struct items *items,
                        struct sim_error *error)
{
    sqlite3_stmt *statement;
    struct store_row row;
    bool more = true,
         fine = store_prepare(merge->from, "SELECT sweep, identity, version FROM sweep ORDER BY sweep",
                              &statement, error);
    while (fine && (fine = store_next(merge->from, statement, &row, &more, error)) && more) {
        int64_t there = store_take_integer(&row), here;
        char *identity = store_take_text(&row), *version = store_take_text(&row);
        fine = store_row_check(merge->from, &row, error) &&
               find_sweep(merge, copier, there, identity, version, &here, error) &&
               list_jobs(merge, there, here, items, error);
        free(identity);
        free(version);
    }
    sqlite3_finalize(statement);
    return fine;
}

static bool copy_items(struct merge *merge, struct store_copier *copier, struct items *items,
                       struct sim_error *error)
{
    sqlite3_stmt *insert;
    bool fine = store_prepare(
        merge->into, "INSERT INTO sweep_job (sweep, job, point, run) VALUES (?, ?, ?, ?)", &insert, error);
    if (merge->progress != NULL)
        merge->progress->total += items->count;
    for (size_t i = 0; fine && i < items->count; i++) {
        const struct item *item = &items->items[i];
        int64_t run;
        if (lab_is_stopped(merge->progress)) {
            fine = sim_fail(error, SIM_ERROR_CHECK, "interrupted; nothing was merged");
            break;
        }
        fine = store_copier_copy(copier, "run", item->run, &run, error);
        if (fine && item->sweep != 0) {
            struct store_binder binder = {.statement = insert};
            store_bind_integer(&binder, item->sweep);
            store_bind_integer(&binder, item->job);
            store_bind_integer(&binder, item->point);
            store_bind_integer(&binder, run);
            fine = store_bind_run(merge->into, &binder, error);
        }
        merge->told->added += fine;
        if (merge->progress != NULL)
            merge->progress->done = merge->progress->rows = merge->told->added;
    }
    sqlite3_finalize(insert);
    return fine;
}

static int by_run(const void *a, const void *b)
{
    int64_t one = ((const struct item *)a)->run, other = ((const struct item *)b)->run;
    return (one > other) - (one < other);
}

static const char *const roots[] = {"run", "sweep"};
/* The jobs of a sweep refer to a sweep and to a run; the caller, which copies both, inserts them. */
static const char jobs[] = "sweep_job";
/* A scenario has only one baseline: if the target already has one, that one is kept. */
static const char baselines[] = "baseline";
/* Databases of earlier versions do not have this table, which is treated as empty. */
static const char terms[] = "run_term";
/* And their bins are rows, of which the copy makes one text. */
static const char histograms[] = "histogram";

/* Copies a row of one database into another, with every row that refers to it, directly or indirectly.
 *
 * The tables and columns are found by the foreign keys of the schema, so a new table that refers to a run
 * needs no code here. An INTEGER PRIMARY KEY gets a new value in the target. */

#define COLUMNS_MAX 64
#define SQL_SIZE    4096

static bool prepare(struct store_copier *copier, struct link *link, const char *column,
                    struct sim_error *error)
{
    static const char info[] =
        "SELECT name, pk, type = 'INTEGER', (SELECT count(*) FROM pragma_table_info(?1) "
        "WHERE pk > 0) FROM pragma_table_info(?1)";
    char names[SQL_SIZE] = "", values[SQL_SIZE / 4] = "", select[2 * SQL_SIZE], insert[2 * SQL_SIZE];
    size_t names_used = 0, values_used = 0;
    sqlite3_stmt *statement;
    struct store_row row;
    char key[128] = "";
    bool more = true, is_there, are_rows,
         fine = store_has_table(copier->from, link->table, &is_there, error) &&
                store_bins_are_rows(copier->from, &are_rows, error) &&
                store_prepare(copier->into, info, &statement, error);
    if (!fine)
        return false;
    if (fine)
        sqlite3_bind_text(statement, 1, link->table, -1, SQLITE_STATIC);
    while (fine && (fine = store_next(copier->into, statement, &row, &more, error)) && more) {
        char *name = store_take_text(&row);
        bool is_key = store_take_integer(&row) == 1, is_integer = store_take_integer(&row) != 0;
        is_key = store_take_integer(&row) == 1 && is_key;
        fine = store_row_check(copier->into, &row, error);
        if (fine) {
            bool is_reference = column != NULL && strcmp(name, column) == 0;
            link->reference = is_reference ? link->columns : link->reference;
            link->key = is_key ? link->columns : link->key;
            link->is_new = link->is_new || (is_key && is_integer && !is_reference);
            if (is_key)
                snprintf(key, sizeof key, "%s", name);
            names_used += (size_t)snprintf(names + names_used, sizeof names - names_used, "%s\"%s\"",
                                           link->columns > 0 ? ", " : "", name);
            values_used += (size_t)snprintf(values + values_used, sizeof values - values_used, "%s?",
                                            link->columns > 0 ? ", " : "");
            link->columns++;
            assert(names_used < sizeof names && link->columns < COLUMNS_MAX);
        }
        free(name);
    }
    sqlite3_finalize(statement);
    /* Sorted, so that new keys are in the order of the old ones. */
    snprintf(select, sizeof select, "SELECT %s FROM (SELECT *%s FROM \"%s\") WHERE \"%s\" = ? ORDER BY %s",
             names,
             are_rows && strcmp(link->table, histograms) == 0 ? ", " STORE_BINS_OF_ROWS " AS bins" : "",
             link->table, column != NULL ? column : key, link->is_new ? key : "1");
    if (!is_there && strcmp(link->table, terms) == 0)
        snprintf(select, sizeof select, "SELECT 1 WHERE ? IS NULL AND 0");
    snprintf(insert, sizeof insert, "INSERT %sINTO \"%s\" (%s) VALUES (%s)",
             strcmp(link->table, baselines) == 0 ? "OR IGNORE " : "", link->table, names, values);
    return fine && store_prepare(copier->from, select, &link->select, error) &&
           store_prepare(copier->into, insert, &link->insert, error);
}

/* Takes ownership of the names. */
static bool add_link(struct store_copier *copier, char *table, char *parent, const char *column,
                     struct sim_error *error)
{
    if (table == NULL || parent == NULL ||
        !sim_grow(&copier->links, &copier->capacity, copier->count + 1, sizeof *copier->links)) {
        free(table);
        free(parent);
        return sim_fail_memory(error);
    }
    /* A row with two owners would be copied twice; a table of such rows needs special treatment, like the
     * jobs. */
    for (size_t i = 0; i < copier->count; i++)
        assert(strcmp(copier->links[i].table, table) != 0);
    struct link *link = &copier->links[copier->count++];
    *link = (struct link){.table = table, .parent = parent, .reference = -1, .key = -1};
    return prepare(copier, link, column, error);
}

static bool add_links(struct store_copier *copier, struct sim_error *error)
{
    static const char sql[] = "SELECT name, \"table\", \"from\" FROM (SELECT name FROM sqlite_schema WHERE "
                              "type = 'table'), pragma_foreign_key_list(name)";
    bool more = true, fine = true;
    for (size_t i = 0; fine && i < sizeof roots / sizeof *roots; i++) {
        char *table = strdup(roots[i]), *parent = strdup(roots[i]);
        fine = add_link(copier, table, parent, NULL, error);
    }
    sqlite3_stmt *statement = NULL;
    struct store_row row;
    fine = fine && store_prepare(copier->into, sql, &statement, error);
    while (fine && (fine = store_next(copier->into, statement, &row, &more, error)) && more) {
        char *table = store_take_text(&row), *parent = store_take_text(&row), *column = store_take_text(&row);
        fine = store_row_check(copier->into, &row, error);
        if (fine && strcmp(table, jobs) != 0) {
            fine = add_link(copier, table, parent, column, error);
        } else {
            free(table);
            free(parent);
        }
        free(column);
    }
    sqlite3_finalize(statement);
    for (size_t i = 0; fine && i < copier->count; i++) {
        for (size_t j = 0; j < copier->count; j++) {
            struct link *link = &copier->links[i];
            link->is_parent = link->is_parent || (copier->links[j].reference >= 0 &&
                                                  strcmp(copier->links[j].parent, link->table) == 0);
        }
    }
    return fine;
}

static void store_copier_free(struct store_copier *copier)
{
    for (size_t i = 0; copier != NULL && i < copier->count; i++) {
        sqlite3_finalize(copier->links[i].select);
        sqlite3_finalize(copier->links[i].insert);
        free(copier->links[i].table);
        free(copier->links[i].parent);
    }
    if (copier != NULL)
        free(copier->links);
    free(copier);
}

static bool store_copier_make(struct store *from, struct store *into, struct store_copier **out,
                              struct sim_error *error)
{
    struct store_copier *copier = *out = calloc(1, sizeof *copier);
    if (copier == NULL)
        return sim_fail_memory(error);
    *copier = (struct store_copier){.from = from, .into = into};
    if (add_links(copier, error))
        return true;
    store_copier_free(copier);
    *out = NULL;
    return false;
}

static bool merge_one(struct merge *merge, struct sim_error *error)
{
    struct store_copier *copier = NULL;
    struct items items = {0};
    bool fine = store_copier_make(merge->from, merge->into, &copier, error) &&
                list_plain(merge, &items, error) && list_sweeps(merge, copier, &items, error);
    if (fine && items.count > 0)
        qsort(items.items, items.count, sizeof *items.items, by_run);
    fine = fine && copy_items(merge, copier, &items, error);
    free(items.items);
    store_copier_free(copier);
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
        struct merge merge = {into, sources[i], progress, out};
        fine = store_execute(sources[i], "BEGIN", error) && merge_one(&merge, error);
        store_rollback(sources[i]);
    }
    fine = fine && store_execute(into, "COMMIT", error);
    store_end(into, is_new, fine);
    return fine;
}

static bool sum_up(struct store *store, struct store_sweep_row *out, struct sim_error *error)
{
    sqlite3_stmt *statement;
    struct store_row row;
    bool more = true, fine = store_prepare(store,
                                           "SELECT job, digest FROM sweep_job JOIN run USING (run) WHERE "
                                           "sweep = ? ORDER BY job",
                                           &statement, error);
    if (fine)
        sqlite3_bind_int64(statement, 1, out->sweep);
    while (fine && (fine = store_next(store, statement, &row, &more, error)) && more) {
        uint64_t job = (uint64_t)store_take_whole(&row, INT64_MAX);
        uint64_t digest = store_take_digest(&row);
        fine = store_row_check(store, &row, error);
        out->digest = lab_sweep_digest_add(out->digest, job, digest);
        out->done++;
    }
    sqlite3_finalize(statement);
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
    *out = NULL;
    *count = 0;
    if (store->db == NULL)
        return true;
    sqlite3_stmt *statement;
    struct store_row row;
    size_t capacity = 0;
    bool more = true,
         fine = store_prepare(store, "SELECT sweep, scenario, identity, jobs FROM sweep ORDER BY sweep",
                              &statement, error);
    while (fine && (fine = store_next(store, statement, &row, &more, error)) && more) {
        if (!sim_grow(out, &capacity, *count + 1, sizeof **out)) {
            fine = sim_fail_memory(error);
            break;
        }
        struct store_sweep_row *made = &(*out)[(*count)++];
        *made = (struct store_sweep_row){.sweep = store_take_integer(&row)};
        made->scenario_name = store_take_text(&row);
        made->identity = store_take_digest(&row);
        made->jobs = (uint64_t)store_take_whole(&row, UINT64_MAX);
        fine = store_row_check(store, &row, error) && sum_up(store, made, error);
    }
    sqlite3_finalize(statement);
    if (!fine) {
        store_sweeps_free(*out, *count);
        *out = NULL;
        *count = 0;
    }
    return fine;
}
