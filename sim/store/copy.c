/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Copies rows of one database into another by the foreign keys of the schema. */
#define _POSIX_C_SOURCE 200809L
#include "copy.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"

#define COLUMNS_MAX 64
#define SQL_SIZE    4096

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

static const char *const roots[] = {"run", "sweep"};
/* The jobs of a sweep refer to a sweep and to a run; the caller, which copies both, inserts them. */
static const char jobs[] = "sweep_job";
/* A scenario has only one baseline: if the target already has one, that one is kept. */
static const char baselines[] = "baseline";
/* Databases of earlier versions do not have this table, which is treated as empty. */
static const char terms[] = "run_term";
/* And their bins are rows, of which the copy makes one text. */
static const char histograms[] = "histogram";

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

bool store_copier_make(struct store *from, struct store *into, struct store_copier **out,
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

void store_copier_free(struct store_copier *copier)
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

bool store_copier_copy(struct store_copier *copier, const char *table, int64_t old, int64_t *number,
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
