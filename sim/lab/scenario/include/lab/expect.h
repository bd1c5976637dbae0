/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An expectation: "LABEL.METRIC OP NUMBER", OP being one of < <= > >= == !=. */
#ifndef LAB_EXPECT_H
#define LAB_EXPECT_H

#include <stdbool.h>

#include "bucketing/strategy.h"

enum lab_compare { LAB_LESS, LAB_LESS_EQUAL, LAB_GREATER, LAB_GREATER_EQUAL, LAB_EQUAL, LAB_NOT_EQUAL };

struct lab_expect {
    char *text;   /* as written */
    char *metric; /* with the label in front; the label's strategy is found by the longest label that fits */
    enum lab_compare compare;
    double
        value; /* a plain number, or bytes or a duration with its unit: then in bytes, or in milliseconds */
    int line, column;
};

/* "tune.recommended == LABEL" or "tune.best.KIND != LABEL": of tune's answer, which no run has. */
struct lab_tune_expect {
    char *text, *label;
    enum bk_kind kind; /* the best of it; BK_KIND_COUNT: what is recommended */
    bool is_unequal;
};

/* The one text of lab_expect_parse() that is not the writer's fault; compare the pointers. */
extern const char LAB_EXPECT_NO_MEMORY[];

/* Splits one expectation. Returns NULL, or a constant text "what; cure". On success the strings are
 * malloc'ed. */
const char *lab_expect_parse(const char *text, struct lab_expect *out);
/* Whether a line speaks of tune's answer. */
bool lab_expect_is_of_tune(const char *text);
/* As lab_expect_parse(), of such a line. */
const char *lab_tune_expect_parse(const char *text, struct lab_tune_expect *out);
void lab_tune_expect_clear(struct lab_tune_expect *expect);
/* label: of the recommended setting, or of the best of the kind; NULL: there is none. */
bool lab_tune_expect_holds(const struct lab_tune_expect *expect, const char *label);
void lab_expect_clear(struct lab_expect *expect);
bool lab_expect_holds(const struct lab_expect *expect, double actual);

#endif
