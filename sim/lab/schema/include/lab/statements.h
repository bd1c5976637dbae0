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
    bool is_table;     /* CREATE TABLE; then no levels */
    const char *when;  /* its purpose, one line without a line break; constant */
    const char *level; /* its consistency level: "QUORUM"; for a conditional update the level of its commit */
    const char *serial; /* for a conditional update: "SERIAL" or "LOCAL_SERIAL"; else NULL */
    char *cql;          /* without the semicolon; a CREATE TABLE has line breaks */
    char *note;         /* warnings for the reader, one line each with its line break; NULL: none */
};

struct lab_statements {
    struct lab_statement *items; /* the tables first */
    size_t count, capacity;
};

/* Why the table cannot serve the strategy, and the cure; NULL: it can. */
const char *lab_statements_problem(const struct lab_scenario *scenario, size_t strategy);
/* The statements of one strategy without a problem. False when out of memory; then *out is empty. */
bool lab_statements_make(const struct lab_scenario *scenario, size_t strategy, struct lab_statements *out);
void lab_statements_clear(struct lab_statements *statements);

#ifdef __cplusplus
}
#endif
#endif
