/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An expectation: "LABEL.METRIC OP NUMBER", where OP is one of < <= > >= == !=. */
#ifndef LAB_EXPECT_H
#define LAB_EXPECT_H

#include <stdbool.h>

#include "bucketing/strategy.h"

enum lab_compare { LAB_LESS, LAB_LESS_EQUAL, LAB_GREATER, LAB_GREATER_EQUAL, LAB_EQUAL, LAB_NOT_EQUAL };

/* With what unit the number of an expectation is written. */
enum lab_expect_unit {
    LAB_EXPECT_PLAIN,     /* "32000" */
    LAB_EXPECT_THOUSANDS, /* "32k" */
    LAB_EXPECT_BYTES,     /* "10MB" */
    LAB_EXPECT_DURATION,  /* "5ms" */
    LAB_EXPECT_SHARE      /* "1%" */
};

struct lab_expect {
    char *text;   /* as written */
    char *metric; /* "LABEL.METRIC"; the strategy is the one with the longest matching label */
    enum lab_compare compare;
    double value; /* a number, a share of 1, a size in bytes, or a duration in milliseconds */
    enum lab_expect_unit unit;
    int line, column;
};

/* An expectation about the answer of `tune`: "tune.recommended == LABEL" or "tune.best.KIND != LABEL". Runs
 * ignore it. */
struct lab_tune_expect {
    char *text, *label;
    enum bk_kind kind; /* the kind of "tune.best.KIND"; BK_KIND_COUNT: "tune.recommended" */
    bool is_unequal;
};

/* The text that lab_expect_parse() returns when out of memory. Compare the pointers. */
extern const char LAB_EXPECT_NO_MEMORY[];

/* Parses one expectation. Returns NULL, or a constant text "problem; remedy". On success the caller must free
 * *out with lab_expect_clear(). */
const char *lab_expect_parse(const char *text, struct lab_expect *out);
/* Whether the text is an expectation about tune's answer. */
bool lab_expect_is_of_tune(const char *text);
/* As lab_expect_parse(), for an expectation about tune's answer; free it with lab_tune_expect_clear(). */
const char *lab_tune_expect_parse(const char *text, struct lab_tune_expect *out);
void lab_tune_expect_clear(struct lab_tune_expect *expect);
/* label: the label of the recommended setting, or of the best setting of the kind; NULL: there is none. */
bool lab_tune_expect_holds(const struct lab_tune_expect *expect, const char *label);
void lab_expect_clear(struct lab_expect *expect);
bool lab_expect_holds(const struct lab_expect *expect, double actual);

#endif
