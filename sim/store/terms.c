/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stores and loads the criteria by which a run is judged, with a row for each criterion that is not the
 * default. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "private.h"

#define TERM(member) offsetof(struct lab_result, member)

static const struct term {
    const char *name;
    size_t place; /* offset of a double in the result */
    double missing;
} terms[] = {
    {"over_limit_share", TERM(limits.over_limit_share), 0},
    {"confidence", TERM(limits.confidence), LAB_TUNE_CONFIDENCE},
    {"tolerance", TERM(limits.tolerance), LAB_TUNE_TOLERANCE},
    {"price.counter_increment", TERM(prices.counter_increment), 0},
    {"price.state_read", TERM(prices.state_read), 0},
    {"price.state_write", TERM(prices.state_write), 0},
    {"price.lwt", TERM(prices.lwt), 0},
    {"price.lock", TERM(prices.lock), 0},
    {"price.row_scanned", TERM(prices.row_scanned), 0},
    {"price.partition_read", TERM(prices.partition_read), 0},
};
#define TERM_COUNT (sizeof terms / sizeof *terms)

bool store_terms_save(struct store *store, sqlite3_stmt *statement, int64_t run,
                      const struct lab_result *result, struct sim_error *error)
{
    for (size_t i = 0; i < TERM_COUNT; i++) {
        double value;
        memcpy(&value, (const unsigned char *)result + terms[i].place, sizeof value);
        if (value == terms[i].missing)
            continue;
        struct store_binder binder = {.statement = statement};
        store_bind_integer(&binder, run);
        store_bind_text(&binder, terms[i].name);
        store_bind_real(&binder, value);
        if (!store_bind_run(store, &binder, error))
            return false;
    }
    return true;
}

/* Ignores a name that is not known, which a later version of the program wrote. */
static void take(struct lab_result *result, const char *name, double value)
{
    for (size_t i = 0; i < TERM_COUNT; i++) {
        if (name != NULL && strcmp(terms[i].name, name) == 0)
            memcpy((unsigned char *)result + terms[i].place, &value, sizeof value);
    }
}

bool store_terms_load(struct store *store, int64_t run, struct lab_result *result, struct sim_error *error)
{
    sqlite3_stmt *statement;
    struct store_row row;
    bool is_there = false, more = true;
    for (size_t i = 0; i < TERM_COUNT; i++)
        take(result, terms[i].name, terms[i].missing);
    if (!store_has_table(store, "run_term", &is_there, error))
        return false;
    if (!is_there)
        return true;
    bool fine = store_prepare(store, "SELECT name, value FROM run_term WHERE run = ?", &statement, error);
    if (fine)
        sqlite3_bind_int64(statement, 1, run);
    while (fine && (fine = store_next(store, statement, &row, &more, error)) && more) {
        char *name = store_take_name(&row);
        take(result, name, store_take_real(&row));
        fine = store_row_check(store, &row, error);
        free(name);
    }
    sqlite3_finalize(statement);
    return fine;
}
