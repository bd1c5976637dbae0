/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An expectation: "LABEL.METRIC OP NUMBER", OP being one of < <= > >= == !=. */
#ifndef LAB_EXPECT_H
#define LAB_EXPECT_H

#include <stdbool.h>

enum lab_compare { LAB_LESS, LAB_LESS_EQUAL, LAB_GREATER, LAB_GREATER_EQUAL, LAB_EQUAL, LAB_NOT_EQUAL };

struct lab_expect {
    char *text;   /* as written */
    char *metric; /* with the label in front; the label's strategy is found by the longest label that fits */
    enum lab_compare compare;
    double
        value; /* a plain number, or bytes or a duration with its unit: then in bytes, or in milliseconds */
    int line, column;
};

/* The one text of lab_expect_parse() that is not the writer's fault; compare the pointers. */
extern const char LAB_EXPECT_NO_MEMORY[];

/* Splits one expectation. Returns NULL, or a constant text "what; cure". On success the strings are
 * malloc'ed. */
const char *lab_expect_parse(const char *text, struct lab_expect *out);
void lab_expect_clear(struct lab_expect *expect);
bool lab_expect_holds(const struct lab_expect *expect, double actual);

#endif
