/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CQL of a strategy: the tables that it needs, and every statement that an application prepares for it.
 *
 * The tables hold the state that the agent reads and writes (bucketing/agent.h): each of its actions has a
 * statement here. Times in the tables are nanoseconds since 1970, as in the agent. */
#ifndef LAB_STATEMENTS_H
#define LAB_STATEMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "lab/scenario.h"

#ifdef __cplusplus
extern "C" {
#endif

struct lab_statement {
    bool is_table;     /* a CREATE TABLE, which has no levels */
    const char *when;  /* its purpose, one line without a line break; constant */
    const char *level; /* its consistency level: "QUORUM"; for a conditional update the level of its commit */
    const char *serial; /* for a conditional update: "SERIAL" or "LOCAL_SERIAL"; else NULL */
    char *cql;          /* without the semicolon; a CREATE TABLE has line breaks */
    char *note;         /* warnings for the reader, one line each with its line break; NULL: none */
};

struct lab_statements {
    struct lab_statement *items; /* tables come first */
    size_t count, capacity;
};

/* Why the strategy cannot use the table, and the remedy; NULL: it can. */
const char *lab_statements_problem(const struct lab_scenario *scenario, size_t strategy);
/* Makes the statements of a strategy for which lab_statements_problem() is NULL. Returns false, with *out
 * empty, when out of memory. */
bool lab_statements_make(const struct lab_scenario *scenario, size_t strategy, struct lab_statements *out);
void lab_statements_clear(struct lab_statements *statements);

#ifdef __cplusplus
}
#endif
#endif
