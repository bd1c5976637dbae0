/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the looks at one strategy's agents say about a change of bucket, before any of it is a chart.
 *
 * Times are in nanoseconds since the change was stored. A look stands until the agent's next one; the last
 * one stands for the mean time between looks. */
#ifndef REPORTS_CHANGES_H
#define REPORTS_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reports/model.h"

struct report_stretch {
    double from, to;
};

struct report_change {
    const struct lab_views *views;
    bool has_old, has_new;
    int64_t old_bucket; /* what most agents took for the key's bucket before the change was stored */
    int64_t new_bucket; /* the next one above it that any agent believes in */
    double until;       /* the change time */
    double first, last; /* look */
    double end;         /* of what the last look stands for */
    size_t look_count;
    double gap;                    /* mean time between looks; a millisecond when there is one alone */
    struct report_stretch *splits; /* in which two agents that know the key disagree */
    size_t split_count;
    double split_ns;  /* their length together */
    double low, high; /* what is worth being shown */
};

/* False, and nothing is set, when the views hold no change or nothing was looked at; also when out of memory,
 * which the arena remembers. */
bool report_change_study(const struct lab_views *views, struct report_arena *arena,
                         struct report_change *out);
double report_change_since(const struct report_change *change, int64_t time_ns);
/* Stored and due within one look: the looks cannot tell them apart. */
bool report_change_is_at_once(const struct report_change *change);
/* The colour of what an agent believes. */
enum report_ink report_change_ink(const struct report_change *change, const struct lab_view *view);

/* A linear axis of time from low to high, both in nanoseconds; returns the nanoseconds of its unit. */
double report_changes_axis(struct report_arena *arena, double low, double high, struct report_axis *out);

#endif
