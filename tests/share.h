/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether a test tries all of its cases, or only one part in BUCKETLAB_TEST_SHARE. ./test.sh sets this
 * variable to stay within its time; with --slow, and with plain ctest, all cases are tried. */
#ifndef TESTS_SHARE_H
#define TESTS_SHARE_H

#include <stdint.h>
#include <stdlib.h>

static inline uint64_t test_share(void)
{
    const char *text = getenv("BUCKETLAB_TEST_SHARE");
    uint64_t share = text == NULL ? 0 : strtoull(text, NULL, 10);
    return share == 0 ? 1 : share;
}

/* The part of `count` that is tried, or that comes of it: of seeds, and of what many seeds must have met. */
static inline uint64_t test_part(uint64_t count)
{
    return (count + test_share() - 1) / test_share();
}

/* The number of the fault to try after fault n, where each run has one fault, from 0: the first faults are
 * all tried, since they hit the most different places. */
static inline long test_next_fault(long n)
{
    return n + (n < 20 ? 1 : (long)test_share());
}

#endif
