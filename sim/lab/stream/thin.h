/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stream engine's thinned mode: results have the same distribution as if every row were drawn, but the
 * engine jumps from one relevant row to the next, so the cost of a run is proportional to its partitions and
 * increments, and not to its rows.
 *
 * In an interval of constant rate, the number of rows of a Poisson process is Poisson distributed; given
 * their number, the rows are uniform in time, and independent of each other and of their ids. All strategies
 * have the same numbers of rows. Which rows fire, and when rows arrive within an interval, is drawn for each
 * strategy separately, from the same random stream per key, so that a strategy's results do not depend on the
 * other strategies. */
#ifndef LAB_THIN_H
#define LAB_THIN_H

#include "kernel/counts.h"
#include "lane.h"
#include "stream.h"

/* The rest of an interval, or of its part before a line. */
struct lab_rest {
    int64_t begin_ns, end_ns;
    uint64_t after; /* rows taken since begin_ns, at unknown times */
    uint64_t rows;  /* rows left */
    bool is_at;     /* the first of these rows is at begin_ns */
};

/* The state of a strategy, and of the current key. */
struct lab_thin {
    bool can_fire, goes_by_time;
    bool fires_always;        /* every row fires, with a weight that depends on the row */
    struct sim_trials trials; /* number of rows up to the next one that fires */
    uint64_t quiet, firing;   /* ids of a row that does not fire, and of one that does */
    uint64_t threshold;       /* if rows that fire only raise the counter until it reaches this; else 0 */
    uint64_t bytes_each;      /* payload per row */
    uint64_t row_bytes[LAB_ROW_STAMPS_MAX]; /* size of a row, by the class of its time */
    struct lab_worker *worker;              /* asked whether to stop in the middle of an interval */
    struct sim_random draws;                /* the key's */
    struct cass_partition over;             /* lab_over_bound() of the key */
    uint64_t to_fire; /* number of rows up to and including the next one that fires; 0: not drawn yet */
};

/* The rows of a key within an interval without other events of the key. */
struct lab_stretch {
    int64_t begin_ns, end_ns;
    uint64_t first_row, rows;
    bool is_gone; /* the rows will have expired when the run ends */
};

void lab_thin_prepare(const struct lab_lane_settings *settings, uint64_t bytes_each,
                      struct lab_worker *worker, struct lab_thin *out);
/* The position within a key. */
struct lab_thin_walk {
    struct wl_key arrivals;
    struct wl_stretch steady; /* the current interval of constant rate, or the last one */
    int64_t begin_ns;         /* beginning of the rest of that interval */
    struct sim_random counts; /* of rows */
    struct lab_stretch piece;
};
/* Processes the rows and reads of a key, between its beginning and its end: lab_thin_begin(), and then
 * lab_thin_go(), which returns false when lab_worker_is_stopped(). */
void lab_thin_begin(struct lab_thin_walk *walk, const struct lab_worker *worker, struct lab_thin *thins,
                    const struct lab_key_name *name);
bool lab_thin_go(struct lab_thin_walk *walk, struct lab_key *key, struct lab_lane *lanes,
                 struct lab_worker *worker, struct lab_thin *thins, const struct lab_key_name *name);
/* lane_thin.c: processes a stretch in a lane; false when the run must stop. */
bool lab_lane_stretch(struct lab_lane *lane, const struct lab_lane_settings *settings, struct lab_thin *thin,
                      struct lab_tally *tally, const struct lab_key_name *key,
                      const struct lab_stretch *stretch);

/* lane_thin.c: the total size of `rows` rows with times in [begin_ns, end_ns). The number of rows in each
 * class of times is proportional to its share of the interval if draws is NULL, otherwise random. */
uint64_t lab_thin_bytes(const struct lab_thin *thin, int64_t begin_ns, int64_t end_ns, uint64_t rows,
                        struct sim_random *draws);
/* The k-th smallest of n points that are uniform in [begin_ns, end_ns), which must not be empty. */
static inline int64_t lab_thin_place(struct sim_random *draws, int64_t begin_ns, int64_t end_ns, uint64_t k,
                                     uint64_t n)
{
    int64_t into_ns = (int64_t)((double)(end_ns - begin_ns) * sim_order(draws, k, n));
    /* With very many points, the last one may be rounded up to the end. */
    return into_ns < end_ns - begin_ns ? begin_ns + into_ns : end_ns - 1;
}

#endif
