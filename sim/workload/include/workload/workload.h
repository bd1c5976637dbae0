/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A synthetic workload: keys with popularity, and per key a Poisson stream of rows whose rate is piecewise
 * constant.
 *
 * rate of key k at t = rate * share(k) * burst(k, t) * daily(t) * spike(k, t). Bursts are a stationary
 * two-state Markov chain per key and the daily curve a cosine in 96 steps of 15 minutes, both scaled to a
 * mean of 1; spikes multiply and so add to the mean. Each key is made by itself, from streams of its own, in
 * time order. */
#ifndef WORKLOAD_WORKLOAD_H
#define WORKLOAD_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/random.h"
#include "kernel/sampler.h"
#include "kernel/sizes.h"

struct wl_spike {
    int64_t at_ns; /* since the start */
    int64_t lasts_ns;
    double factor;
    double keys_share; /* of the keys, drawn at random: 0 to 1 */
    uint64_t
        keys_count; /* above 0: exactly so many of the keys, drawn at random, and keys_share is not used */
};

/* Of a backfill: from the oldest row on, or from the newest back. */
enum wl_order { WL_FORWARD, WL_REVERSE };

struct wl_workload {
    uint64_t seed;
    int64_t start_ns;
    int64_t duration_ns;
    uint64_t key_count;
    struct sim_zipf popularity;
    double rate_per_s;  /* mean of all keys together */
    bool is_late_trace; /* the rows of a trace have own times before those of their arrival */
    bool has_daily;
    double daily_amplitude; /* 0 to 1 */
    int64_t daily_peak_ns;  /* since midnight UTC */
    bool has_bursts;
    int64_t burst_on_ns, burst_off_ns; /* means of the two states */
    double burst_factor;               /* rate while on / rate while off */
    size_t spike_count;
    struct wl_spike *spikes; /* owned by the scenario */
    /* Of rows.h. */
    double late_share;          /* of the rows: these come late; 0: none */
    int64_t late_mean_ns;       /* by so much on average, exponentially */
    double early_share;         /* of the rows: their own times lie ahead; 0: none. Agents alone look at it */
    int64_t early_mean_ns;      /* by so much on average, exponentially */
    int64_t resolution_ns;      /* of the rows' own times; 0: as fine as they come */
    int64_t backfill_before_ns; /* length of the history, up to the start; 0: no backfill */
    int64_t backfill_lasts_ns;  /* over which it is loaded, from the start on */
    double backfill_rate_per_s; /* of the history, in its own time */
    enum wl_order backfill_order;
    struct sim_size row_bytes;
    struct sim_sizes *sizes; /* of row_bytes, owned by the scenario; may be NULL */
    uint64_t row_cells;
};

/* A key's stream of rows, by value; no memory of its own. The rate is constant within a segment. */
struct wl_key {
    const struct wl_workload *workload;
    uint64_t key_index;
    double base_rate_per_ns; /* while off duty: neither burst, daily curve nor spike at work */
    bool burst_is_on;
    int64_t burst_until_ns;
    int64_t segment_begin_ns, segment_end_ns;
    double rate_per_ns, gap_ns; /* of the segment; the mean gap is 1 / rate */
    double next_ns; /* of the next row, since segment_begin_ns; beyond the segment: not final yet */
    struct sim_random arrivals, ids, bytes, bursts;
};

/* What a made key is called, "key-" and its index; WL_KEY_NAME_SIZE bytes are room enough. Returns the length
 * without the end. */
#define WL_KEY_NAME_SIZE 25
size_t wl_key_name(uint64_t key_index, char *out);

void wl_key_init(struct wl_key *key, const struct wl_workload *workload, uint64_t key_index);
/* Draws up to `most` rows with a time before `until_ns` (which is cut at the workload's end) into the arrays,
 * and returns their number. Fewer than `most` means that no further row comes before until_ns. bytes may be
 * NULL when all rows have the same size; the draws of the other columns do not depend on it. */
size_t wl_key_rows(struct wl_key *key, int64_t until_ns, size_t most, int64_t *times_ns, uint64_t *ids,
                   uint64_t *bytes);
/* The next `count` sizes of rows of a stream. */
static inline void wl_row_sizes(const struct wl_workload *workload, struct sim_random *random, uint64_t *out,
                                size_t count)
{
    sim_sizes_draw(workload->sizes, &workload->row_bytes, random, out, count);
}
/* A stretch of time in which the rate stays as it is, within the run. */
struct wl_stretch {
    int64_t begin_ns, end_ns;
    double rate_per_ns;
};
/* The same stream without its rows: its stretches in order, from the start to the end of the run; false
 * behind the last. Not to be mixed with wl_key_rows(). */
bool wl_key_stretch(struct wl_key *key, struct wl_stretch *out);
/* Whether spike `spike_index` strikes the key. */
bool wl_spike_strikes(const struct wl_workload *workload, size_t spike_index, uint64_t key_index);

#endif
