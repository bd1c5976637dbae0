/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A synthetic workload: keys of different popularity, and for each key a Poisson process of rows whose rate
 * is piecewise constant.
 *
 * The rate of key k at time t is rate * share(k) * burst(k, t) * daily(t) * day(t) * spike(k, t). Bursts are
 * a stationary two-state Markov chain per key, and the daily curve is a cosine in 96 steps of 15 minutes;
 * both are scaled to a mean of 1, as are weekends. Growth, from day to day, and spikes raise the mean. The
 * rows of each key are drawn independently of other keys, from random streams of the key, in time order. */
#ifndef WORKLOAD_WORKLOAD_H
#define WORKLOAD_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/random.h"
#include "kernel/sampler.h"

struct wl_spike {
    int64_t at_ns; /* since the start of the run */
    int64_t lasts_ns;
    double factor;
    double keys_share;   /* the share of the keys that the spike affects, drawn at random; 0 to 1 */
    uint64_t keys_count; /* above 0: the spike affects exactly this number of keys, drawn at random, and
                            keys_share is not used */
};

/* The order in which a backfill loads the history: from the oldest row forward, or from the newest row
 * back. */
enum wl_order { WL_FORWARD, WL_REVERSE };

struct wl_workload {
    uint64_t seed;
    int64_t start_ns;
    int64_t duration_ns;
    uint64_t key_count;
    struct sim_zipf popularity;
    double rate_per_s; /* mean rate of all keys together */
    int64_t every_ns;  /* above 0: the rows of a key are not Poisson, but equally far apart, by the inverse of
                          its rate, from a drawn phase on */
    int64_t jitter_ns; /* each of them is up to this much later, but not later than the next one is due */
    bool
        is_late_trace; /* the rows come from a trace with times of arrival, and their own times are earlier */
    bool has_daily;
    double daily_amplitude; /* 0 to 1 */
    int64_t daily_peak_ns;  /* since midnight UTC */
    bool has_weekend;
    double weekend; /* the rate on Saturdays and Sundays (UTC), for each 1 on other days */
    double growth;  /* the rate after 365 days, for each 1 before; 0 or 1: it does not grow */
    bool has_bursts;
    int64_t burst_on_ns, burst_off_ns; /* mean durations of the two states */
    double burst_factor;               /* rate while on / rate while off */
    size_t spike_count;
    struct wl_spike *spikes; /* owned by the scenario */
    /* The members below are for struct wl_rows. */
    double late_share;     /* the share of the rows that arrive late; 0: none */
    int64_t late_mean_ns;  /* by so much on average, exponentially */
    double early_share;    /* the share of the rows whose own time is ahead of their arrival; 0: none. Only
                              agents use it */
    int64_t early_mean_ns; /* by so much on average, exponentially */
    int64_t resolution_ns; /* resolution of the rows' own times; 0: nanoseconds */
    int64_t
        backfill_before_ns;    /* length of the history, which ends at the start of the run; 0: no backfill */
    int64_t backfill_lasts_ns; /* how long it takes to load the history, from the start of the run */
    double backfill_rate_per_s; /* mean rate of the history's rows, in terms of their own times */
    enum wl_order backfill_order;
    struct sim_size row_bytes;
    struct sim_sizes *sizes; /* table for row_bytes, owned by the scenario; may be NULL */
    uint64_t row_cells;
};

/* Whether the rate differs from day to day, for all keys alike, and the most that this makes of it up to a
 * time. */
static inline bool wl_has_days(const struct wl_workload *workload)
{
    return workload->has_weekend || workload->growth > 1;
}
double wl_week_factor(const struct wl_workload *workload, int64_t day); /* of a day since 1970-01-01 */
double wl_days_most(const struct wl_workload *workload, int64_t until_ns);

/* The expected number of segments of all keys: spans in which the rate of a key is constant. */
double wl_segments(const struct wl_workload *workload);

/* A key's stream of rows. It may be copied, and owns no memory. The rate is constant within a segment. */
struct wl_key {
    const struct wl_workload *workload;
    uint64_t key_index;
    double base_rate_per_ns; /* the key's rate before the factors of burst, daily curve and spikes; while the
                                burst is off */
    bool burst_is_on;
    int64_t burst_until_ns;
    int64_t segment_begin_ns, segment_end_ns;
    double rate_per_ns, gap_ns; /* rate of the segment, and the mean gap between rows, 1 / rate */
    int64_t step_ns; /* the distance between rows that are equally far apart; 0: they are Poisson. Then
                        segment_begin_ns is when the next row is due, and segment_end_ns is its time */
    double next_ns;  /* time of the next row, since segment_begin_ns; if it is after the segment's end, it is
                        rescaled in the next segment */
    struct sim_random arrivals, ids, bytes, bursts;
};

/* Writes the name of a synthetic key, "key-" and its index, into out, which must have WL_KEY_NAME_SIZE bytes.
 * Returns the length without the final NUL. */
#define WL_KEY_NAME_SIZE 25
size_t wl_key_name(uint64_t key_index, char *out);

void wl_key_init(struct wl_key *key, const struct wl_workload *workload, uint64_t key_index);
/* Draws up to `most` rows with a time before until_ns, or before the workload's end if that is earlier, into
 * the arrays, and returns their number. A number below `most` means that there is no further row before
 * until_ns. ids may be NULL when they are not needed, and bytes when all rows have the same size; this does
 * not change the draws of the other arrays. */
size_t wl_key_rows(struct wl_key *key, int64_t until_ns, size_t most, int64_t *times_ns, uint64_t *ids,
                   uint64_t *bytes);
/* Draws the sizes of `count` rows. */
static inline void wl_row_sizes(const struct wl_workload *workload, struct sim_random *random, uint64_t *out,
                                size_t count)
{
    sim_sizes_draw(workload->sizes, &workload->row_bytes, random, out, count);
}
/* An interval of the run in which the rate is constant. */
struct wl_stretch {
    int64_t begin_ns, end_ns;
    double rate_per_ns;
};
/* Returns the intervals of a key's stream in order, from the start to the end of the run, without drawing
 * rows; false after the last interval. A stream that wl_key_stretch() has advanced must not be passed to
 * wl_key_rows(), or the reverse. */
bool wl_key_stretch(struct wl_key *key, struct wl_stretch *out);

/* A key's rate over a time, which is divided into pieces of constant rate. Time that is measured in expected
 * rows is a scale on which the rows are a Poisson process of rate 1 (operational time). */
#define WL_PACE_PIECES 4096u
struct wl_pace {
    struct wl_edge {
        int64_t time_ns;
        double rows, moment; /* rows expected before, and the sum of their times since the first edge */
    } edges[WL_PACE_PIECES + 1];
    size_t count; /* of the pieces; edges[count] is the end */
};
/* Sets the pace of the next intervals, at most `pieces` (1 to WL_PACE_PIECES), and no more once `rows` rows
 * are expected. False after the last interval, as wl_key_stretch(). */
bool wl_key_pace(struct wl_key *key, size_t pieces, double rows, struct wl_pace *out);
/* The rows expected before a time, which must not be outside of the pace; and the time before which this
 * number is expected. */
double wl_pace_rows(const struct wl_pace *pace, int64_t time_ns);
int64_t wl_pace_at(const struct wl_pace *pace, double rows);
/* The share of the rows in [begin_ns, end_ns) that is expected before line_ns. */
double wl_pace_share(const struct wl_pace *pace, int64_t begin_ns, int64_t line_ns, int64_t end_ns);
/* The time in [begin_ns, end_ns), or end_ns, before which this share of the rows there is expected. */
int64_t wl_pace_place(const struct wl_pace *pace, int64_t begin_ns, int64_t end_ns, double share);
/* Whether the rate is the same all the time. */
bool wl_pace_is_level(const struct wl_pace *pace, int64_t begin_ns, int64_t end_ns);
/* The mean time of the rows in [begin_ns, end_ns), since begin_ns. */
double wl_pace_mean_ns(const struct wl_pace *pace, int64_t begin_ns, int64_t end_ns);

/* Whether the spike with this index affects the key. */
bool wl_spike_strikes(const struct wl_workload *workload, size_t spike_index, uint64_t key_index);

/* A key's rows in order of arrival, and how late each row is. Rows come from the live stream,
 * some of them late, and from a backfill, which loads the key's history at the same time.
 *
 * A row's own time is the time of its writer's clock at its arrival, minus its lateness, rounded down to the
 * workload's resolution: wl_own_time(). Lateness and history are drawn from separate random streams, so the
 * live rows are the same with and without them. */

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

/* The share of time in which a key is in a burst. */
static inline double wl_burst_share(const struct wl_workload *workload)
{
    const double on = (double)workload->burst_on_ns;
    return on / (on + (double)workload->burst_off_ns);
}

/* A key's mean rate, as a multiple of its rate between bursts. */
static inline double wl_burst_mean(const struct wl_workload *workload)
{
    return 1 + wl_burst_share(workload) * (workload->burst_factor - 1);
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
