/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A key's rows in order of arrival, and how late each row is. Rows come from the live stream of workload.h,
 * some of them late, and from a backfill, which loads the key's history at the same time.
 *
 * A row's own time is the time of its writer's clock at its arrival, minus its lateness, rounded down to the
 * workload's resolution: wl_own_time(). Lateness and history are drawn from separate random streams, so the
 * live rows are the same with and without them. */
#ifndef WORKLOAD_ROWS_H
#define WORKLOAD_ROWS_H

#include "workload/workload.h"

/* The largest lateness, as a multiple of its mean (`late.by`). Larger draws have a probability of e^-64, and
 * are truncated. */
#define WL_LATE_MEANS_MAX 64

struct wl_history {
    struct sim_random arrivals, ids, bytes;
    int64_t next_ns, until_ns; /* time of the next row to load, and the end of the loading; next_ns INT64_MAX:
                                  no more rows */
    double gap_ns;
};

struct wl_rows {
    struct wl_key live;
    struct sim_random lateness;
    struct wl_history history;
};

/* The arrays that wl_rows_next() fills, each with room for `most` rows. ids may be NULL when they are not
 * needed, bytes when all rows have the same size, and late_ns when wl_has_late() is false. */
struct wl_columns {
    int64_t *times_ns;
    uint64_t *ids, *bytes;
    int64_t *late_ns;
};

/* Whether rows may arrive late: a share of the live rows, the rows of a backfill, or rows of a trace with
 * times of arrival. */
static inline bool wl_has_late(const struct wl_workload *workload)
{
    return workload->is_late_trace || workload->late_share > 0 || workload->backfill_before_ns > 0;
}

/* Whether a row's own time may differ from the time of its arrival. */
static inline bool wl_has_own_times(const struct wl_workload *workload)
{
    return wl_has_late(workload) || workload->resolution_ns > 0 || workload->early_share > 0;
}

/* The largest difference between a row's arrival and its own time, for rows that arrive late. */
int64_t wl_late_most_ns(const struct wl_workload *workload);

/* A row's own time: clock_ns minus late_ns, rounded down to the workload's resolution. */
int64_t wl_own_time(const struct wl_workload *workload, int64_t clock_ns, int64_t late_ns);

void wl_rows_init(struct wl_rows *rows, const struct wl_workload *workload, uint64_t key_index);
/* Draws up to `most` rows that arrive before until_ns, in order of arrival, and returns their number, as
 * wl_key_rows(). */
size_t wl_rows_next(struct wl_rows *rows, int64_t until_ns, size_t most, const struct wl_columns *out);

#endif
