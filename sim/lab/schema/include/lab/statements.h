/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CQL of a strategy: the tables that it needs, and every statement that an application prepares for it.
 *
 * The state's tables are those that the agent asks for (bucketing/agent.h): each action there has its
 * statement here. Times in them are nanoseconds since 1970, as the agent counts. */
#ifndef LAB_STATEMENTS_H
#define LAB_STATEMENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "lab/scenario.h"

#ifdef __cplusplus
extern "C" {
#endif

struct lab_statement {
    bool is_table;      /* CREATE TABLE; then no levels */
    const char *when;   /* what it is for, a line without end; constant */
    const char *level;  /* its consistency level: "QUORUM"; of a conditional update that of its commit */
    const char *serial; /* of a conditional update: "SERIAL" or "LOCAL_SERIAL"; else NULL */
    char *cql;          /* without the semicolon; a CREATE TABLE has line breaks */
    char *note;         /* lines, each ended, that a person should know; NULL: none */
};

struct lab_statements {
    struct lab_statement *items; /* the tables first */
    size_t count, capacity;
};

/* Why the table cannot serve the strategy, and the cure; NULL: it can. */
const char *lab_statements_problem(const struct lab_scenario *scenario, size_t strategy);
/* Of one strategy of the scenario that has no problem. False without memory; then *out is empty. */
bool lab_statements_make(const struct lab_scenario *scenario, size_t strategy, struct lab_statements *out);
void lab_statements_clear(struct lab_statements *statements);

#ifdef __cplusplus
}
#endif
#endif
