/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Evaluates the samples of the agents' views around a change of bucket, before they become a chart.
 *
 * Times are in nanoseconds since the change was stored. A sample of an agent's view is valid until the
 * agent's next sample; the last one is valid for the mean time between samples. */
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
    int64_t old_bucket; /* the key's bucket in the view of most agents before the change was stored */
    int64_t new_bucket; /* the next higher bucket in any agent's view */
    double until;       /* time at which the change takes effect */
    double first, last; /* times of the first and the last sample */
    double end;         /* end of the validity of the last sample */
    size_t look_count;
    double gap;                    /* mean time between samples; a millisecond when there is only one */
    struct report_stretch *splits; /* intervals in which two agents that know the key disagree */
    size_t split_count;
    double split_ns;  /* total length of these intervals */
    double low, high; /* the interval of time to show */
};

/* Returns false, and sets nothing, when the views have no change or no samples, and when out of memory, which
 * the arena records. */
bool report_change_study(const struct lab_views *views, struct report_arena *arena,
                         struct report_change *out);
/* A time in nanoseconds since the change was stored. */
double report_change_since(const struct report_change *change, int64_t time_ns);
/* Whether the change was stored and took effect between two consecutive samples, which cannot distinguish the
 * two times. */
bool report_change_is_at_once(const struct report_change *change);
/* The colour of an agent's view. */
enum report_ink report_change_ink(const struct report_change *change, const struct lab_view *view);

/* A linear axis of time from low to high, both in nanoseconds; returns the nanoseconds of its unit. */
double report_changes_axis(struct report_arena *arena, double low, double high, struct report_axis *out);

#endif
