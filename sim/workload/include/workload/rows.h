/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A key's rows as they arrive, and how late each is: the live stream of workload.h, of which some rows come
 * late, and at the same time a backfill, which loads the key's history while the live stream runs.
 *
 * A row's own time is the one that its writer's clock shows at its arrival, less what it is late, rounded
 * down to the workload's resolution: wl_own_time(). Lateness and history are drawn from streams of their own,
 * so the live rows are the same with and without them. */
#ifndef WORKLOAD_ROWS_H
#define WORKLOAD_ROWS_H

#include "workload/workload.h"

/* What a mean of `by` can draw at most: a chance of e^-64 lies beyond, and is cut. */
#define WL_LATE_MEANS_MAX 64

struct wl_history {
    struct sim_random arrivals, ids, bytes;
    int64_t next_ns, until_ns; /* INT64_MAX: no more */
    double gap_ns;
};

struct wl_rows {
    struct wl_key live;
    struct sim_random lateness;
    struct wl_history history;
};

/* The columns of wl_rows_next(), each with room for `most` rows. bytes may be NULL when all rows have the
 * same size, late_ns when wl_has_late() is false. */
struct wl_columns {
    int64_t *times_ns;
    uint64_t *ids, *bytes;
    int64_t *late_ns;
};

/* Whether rows come late, by a share of them, by a backfill, or as their trace says. */
static inline bool wl_has_late(const struct wl_workload *workload)
{
    return workload->is_late_trace || workload->late_share > 0 || workload->backfill_before_ns > 0;
}

/* Whether a row's own time may differ from the time of its arrival. */
static inline bool wl_has_own_times(const struct wl_workload *workload)
{
    return wl_has_late(workload) || workload->resolution_ns > 0 || workload->early_share > 0;
}

/* How far before its arrival a row's own time may lie. */
int64_t wl_late_most_ns(const struct wl_workload *workload);

int64_t wl_own_time(const struct wl_workload *workload, int64_t clock_ns, int64_t late_ns);

void wl_rows_init(struct wl_rows *rows, const struct wl_workload *workload, uint64_t key_index);
/* As wl_key_rows(), in order of arrival. */
size_t wl_rows_next(struct wl_rows *rows, int64_t until_ns, size_t most, const struct wl_columns *out);

#endif
