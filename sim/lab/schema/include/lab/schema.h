/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What follows from a scenario's table before it runs: the CQL of its strategies, and warnings. */
#ifndef LAB_SCHEMA_H
#define LAB_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include "lab/scenario.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- The CQL of a strategy: the tables that it needs, and every statement that an application prepares for
 * it.
 *
 * The tables hold the state that the agent reads and writes (bucketing/agent.h): each of its actions has a
 * statement here. Times in the tables are nanoseconds since 1970, as in the agent. */
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

/* --- Lints a scenario before it runs: warns of problems that its table and strategies certainly, or
 * probably, cause.
 *
 * Estimates use the scenario's means (rate, popularity, windows, thresholds, sizes) and ignore bursts and
 * spikes, so they are somewhat low. For a trace no rates are known, and only warnings that follow from the
 * design are made. */
enum lab_risk {
    LAB_RISK_UNBOUNDED, /* a partition grows for as long as rows arrive */
    LAB_RISK_HOT_SPOT,  /* at any one time, all keys write to the same partition */
    LAB_RISK_SKEW,  /* the partitions of one key, or the nodes that store them, get many more rows than others
                     */
    LAB_RISK_LARGE, /* every partition is expected to exceed a limit */
    LAB_RISK_CELL_WALL,   /* a partition is expected to approach Cassandra's limit of 2 billion cells */
    LAB_RISK_OVERWRITTEN, /* rows overwrite other rows */
    LAB_RISK_TOMBSTONES,  /* a read of a partition is expected to scan more tombstones than Cassandra's
                             threshold */
    LAB_RISK_EXPIRY,      /* rows expire after the last second that a node stores by default */
    LAB_RISK_WINDOWS,     /* too many windows of compaction are on disk, or are in a partition */
    LAB_RISK_COUNT
};
/* The name of a risk: "unbounded", "hot_spot", "skew", "large", "cell_wall", "overwritten", "tombstones",
 * "expiry", "windows". */
const char *lab_risk_name(enum lab_risk risk);

struct lab_warning {
    enum lab_risk risk;
    bool is_certain;    /* by the scenario's own numbers, it happens within the run */
    size_t strategy;    /* index of the strategy; SIZE_MAX: a warning about the table, for any strategy */
    const char *column; /* name of the column, owned by the scenario */
    char text[224], cure[128];
};

struct lab_warnings {
    struct lab_warning *items; /* in the order of strategies */
    size_t count, capacity;
};

/* Makes the warnings. Returns false, with *out empty, when out of memory. */
bool lab_lint(const struct lab_scenario *scenario, struct lab_warnings *out);
void lab_warnings_clear(struct lab_warnings *warnings);

#ifdef __cplusplus
}
#endif
#endif
