/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables and statements that strategies need, as one table of rules: a row for each statement that
 * implements an action of the agent (bucketing/agent.h), with the strategies that need it. */
#ifndef LAB_STATEMENT_RULES_H
#define LAB_STATEMENT_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lab/scenario.h"

#define LAB_SIDE_COLUMNS_MAX 4

/* The tables in addition to the table of rows. Their columns are a key, or a key and a bucket, and
 * numbers. */
enum lab_side {
    LAB_SIDE_STATE,
    LAB_SIDE_BASE,
    LAB_SIDE_GRANTS,
    LAB_SIDE_NUMBERS,
    LAB_SIDE_SUM,
    LAB_SIDE_STARTS,
    LAB_SIDE_COUNTER,
    LAB_SIDE_TOTAL,
    LAB_SIDE_COUNTS,
    LAB_SIDE_LOCK,
    LAB_SIDE_COUNT,
    LAB_SIDE_NONE = LAB_SIDE_COUNT /* the table of rows */
};

struct lab_side_table {
    const char *suffix;                        /* suffix of the name of the table of rows */
    const char *columns[LAB_SIDE_COLUMNS_MAX]; /* columns in addition to the key; a NULL ends them */
    const char *types[LAB_SIDE_COLUMNS_MAX];   /* " text" and the like; NULL: bigint */
    bool by_bucket, is_counter;
    const char *about;
};
extern const struct lab_side_table lab_sides[LAB_SIDE_COUNT];

enum lab_form {
    LAB_FORM_SELECT,
    LAB_FORM_INSERT,
    LAB_FORM_INSERT_IF,
    LAB_FORM_UPDATE,
    LAB_FORM_UPDATE_IF,
    LAB_FORM_ADD,
    LAB_FORM_COUNT_ALL,  /* counts the rows of a bucket */
    LAB_FORM_COUNT_AFTER /* counts the rows after a time and an id, and returns the newest row's time and id
                          */
};
enum lab_level { LAB_LEVEL_STATE, LAB_LEVEL_SERIAL, LAB_LEVEL_CAS, LAB_LEVEL_READ };

/* The settings with which a statement is needed. */
enum lab_rule_only { LAB_RULE_ALWAYS, LAB_RULE_AT_THRESHOLD_1, LAB_RULE_AT_LINES };

struct lab_rule {
    uint32_t protocols; /* bit n: coordination n of probabilistic and weighted; source n of count */
    uint32_t counters;  /* bit n: counter n of probabilistic and weighted */
    enum lab_rule_only only;
    enum lab_side side;
    enum lab_form form;
    uint32_t columns; /* the columns that it sets or selects: bit n is column n of the table */
    enum lab_level level;
    const char *when;
};

/* The rules of the strategy's kind; *count may be 0. */
const struct lab_rule *lab_rules_of(const struct lab_strategy *strategy, size_t *count);
bool lab_rule_applies(const struct lab_rule *rule, const struct lab_strategy *strategy);

#endif
