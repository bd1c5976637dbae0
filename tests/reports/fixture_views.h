/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Views of a change made by a simple rule: each agent refreshes its cache once per time to live, at an
 * independent phase, learns of the change then, and follows its own clock. */
#ifndef TESTS_REPORTS_FIXTURE_VIEWS_H
#define TESTS_REPORTS_FIXTURE_VIEWS_H

#include "fixture.h"

struct fixture_change {
    uint32_t agents;
    int64_t lead_ns, ttl_ns, skew_ns; /* clocks are up to skew_ns ahead or behind */
    int64_t look_ns;
    int64_t before_ns, after_ns; /* samples from change - before to change + lead + after */
    bool knows_nothing;
    bool has_trouble; /* agent 1 crashes, agent 2 believes in another bucket, agent 3 learns of a further
                         change */
};

/* The change is stored a day after the result's start, from bucket 7 to 8. */
void fixture_views(const struct lab_result *result, struct lab_strategy_result *strategy,
                   const struct fixture_change *change);
/* Adds a sample of one agent after all former ones. is_known false: the bucket is ignored. */
void fixture_look(struct lab_strategy_result *strategy, int64_t time_ns, uint32_t agent, bool is_known,
                  int64_t bucket, bool is_changing);
/* Must be called before the two functions above; key NULL omits the name. */
void fixture_views_begin(struct lab_strategy_result *strategy, const char *key, uint32_t agents,
                         int64_t change_ns, int64_t until_ns);

enum { FIXTURE_VIEWS_COUNT = 13 };
struct lab_result *fixture_views_case(size_t index);

#endif
