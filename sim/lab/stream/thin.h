/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stream engine's thinned mode: the same distribution as where every row is drawn, by jumps from one row
 * that matters to the next, so that what a run costs goes with partitions and increments, and not with rows.
 *
 * The rows of a Poisson process in a stretch of constant rate are Poisson in number and, given that, uniform
 * in time and independent of each other and of their ids. All strategies meet the same numbers; which rows
 * fire, and when rows come within a stretch, each draws for itself, with the same stream for a key, so that a
 * strategy's figures do not depend on the others. */
#ifndef LAB_THIN_H
#define LAB_THIN_H

#include "kernel/counts.h"
#include "lane.h"
#include "stream.h"

/* What is left of a stretch, or of its part before a line. */
struct lab_rest {
    int64_t begin_ns, end_ns;
    uint64_t after; /* rows taken since begin_ns, at unknown times */
    uint64_t rows;  /* left */
    bool is_at;     /* the first of these is at begin_ns */
};

/* Of a strategy, and of the key under way. */
struct lab_thin {
    bool can_fire, goes_by_time;
    bool fires_always;                      /* and by how much is the row's own matter */
    struct sim_trials trials;               /* to the next row that fires */
    uint64_t quiet, firing;                 /* ids of a row that does not, and of one that does */
    uint64_t bytes_each;                    /* of payload */
    uint64_t row_bytes[LAB_ROW_STAMPS_MAX]; /* what a row weighs by the class of its time */
    struct lab_worker *worker;              /* who waits for it may stop a lane on its way */
    struct sim_random draws;                /* the key's */
    uint64_t to_fire; /* rows up to and including the next that fires; 0: not drawn yet */
    /* On its way through a stretch: what is left. */
    bool is_on_its_way;
    struct lab_rest rest, later;
    uint64_t sequence;
};

/* Rows of a key within a span of time in which nothing else happens to it. */
struct lab_stretch {
    int64_t begin_ns, end_ns;
    uint64_t first_row, rows;
    bool is_gone; /* the rows will have expired when the run ends */
};

void lab_thin_prepare(const struct lab_lane_settings *settings, uint64_t bytes_each,
                      struct lab_worker *worker, struct lab_thin *out);
/* How far a key has been gone through. */
struct lab_thin_walk {
    struct wl_key arrivals;
    struct wl_stretch steady; /* under way, or done */
    int64_t begin_ns;         /* of what is left of it */
    struct sim_random counts; /* of rows */
    /* The piece under way, and the first lane that has not been through it. */
    bool is_in_piece;
    struct lab_stretch piece;
    size_t lane;
};
/* A key that has begun, and not its end: first lab_thin_begin(), then lab_thin_go() until it returns true. It
 * returns false now and then when lab_worker_is_wanted(). */
void lab_thin_begin(struct lab_thin_walk *walk, const struct lab_worker *worker, struct lab_thin *thins,
                    const struct lab_key_name *name);
bool lab_thin_go(struct lab_thin_walk *walk, struct lab_key *key, struct lab_lane *lanes,
                 struct lab_worker *worker, struct lab_thin *thins, const struct lab_key_name *name);
/* lane_thin.c: false when the lane is on its way still, and is to be asked again. */
bool lab_lane_stretch(struct lab_lane *lane, const struct lab_lane_settings *settings, struct lab_thin *thin,
                      struct lab_tally *tally, const struct lab_key_name *key,
                      const struct lab_stretch *stretch);

/* lane_thin.c: what so many rows weigh that lie in [begin_ns, end_ns): those of each class of times by its
 * share, evenly with draws == NULL, else at random. */
uint64_t lab_thin_bytes(const struct lab_thin *thin, int64_t begin_ns, int64_t end_ns, uint64_t rows,
                        struct sim_random *draws);
/* The k-th in order of n points that are uniform in [begin_ns, end_ns), which holds a nanosecond at least. */
static inline int64_t lab_thin_place(struct sim_random *draws, int64_t begin_ns, int64_t end_ns, uint64_t k,
                                     uint64_t n)
{
    int64_t into_ns = (int64_t)((double)(end_ns - begin_ns) * sim_order(draws, k, n));
    /* The last of very many lies so near to the end that a double does not tell them apart. */
    return into_ns < end_ns - begin_ns ? begin_ns + into_ns : end_ns - 1;
}

#endif
