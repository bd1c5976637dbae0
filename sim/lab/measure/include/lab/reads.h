/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by both engines: when reads occur, what they request, and what is counted of them. */
#ifndef LAB_READS_H
#define LAB_READS_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/random.h"
#include "lab/histogram.h"
#include "lab/scenario.h"

/* The reads of one kind of one key: a Poisson process with its own random stream. */
struct lab_read_clock {
    int64_t next_ns; /* time of the next read; INT64_MAX: none */
    double gap_ns;
    struct sim_random draws;
};
void lab_read_clock_begin(struct lab_read_clock *clock, const struct lab_scenario *scenario,
                          enum lab_read_kind kind, uint64_t entity, double share, int64_t start_ns);
void lab_read_clock_next(struct lab_read_clock *clock);

/* Sets the plan to the strategy's, or else to the scenario's for this kind of read. *at_once 0 is the core's
 * default. */
void lab_read_plan(const struct lab_scenario *scenario, const struct lab_strategy *strategy,
                   enum lab_read_kind kind, enum bk_plan *plan, uint32_t *at_once);
/* time_ns - span_ns, saturating at INT64_MIN; span_ns >= 0. */
int64_t lab_before(int64_t time_ns, int64_t span_ns);
/* Makes the query of a read of this kind that begins at now_ns. */
void lab_read_query(const struct lab_scenario *scenario, const struct lab_strategy *strategy,
                    enum lab_read_kind kind, int64_t now_ns, int64_t birth_ns, struct bk_query *out);

/* The result of one read. */
struct lab_read_done {
    enum lab_read_kind kind;
    enum bk_order order;
    uint64_t partitions, empties,
        filled; /* number of partitions queried; of these, without and with a row for the read */
    uint64_t rows, due, scanned; /* number of rows found, of rows that should have been found, and of rows
                                    that the replicas scanned */
    bool is_stale;               /* the rows found are not the newest ones */
    bool is_early;               /* a lazy read ended without querying all buckets */
    bool is_cut;                 /* the read ended at its limit of partitions */
    bool is_before; /* its range begins before the stream, so it finds less than later reads do */
};
/* Whether a range that begins at from_ns does so before the stream of a run that starts at start_ns. */
static inline bool lab_range_is_before(const struct lab_scenario *scenario, int64_t from_ns, int64_t start_ns)
{
    return from_ns < lab_before(start_ns, scenario->workload.backfill_before_ns);
}

/* Expected counts of reads are stored as multiples of 1 / LAB_READ_PARTS. */
#define LAB_READ_PARTS 65536.0

struct lab_read_tally {
    struct lab_histogram partitions;
    uint64_t empties, incomplete, out_of_order, scanned, cut;
    uint64_t before; /* reads of ranges that begin before the stream: neither partitions, empties nor scanned
                        have them */
};
/* Counts `times` reads with this result. */
void lab_read_count(struct lab_read_tally *tally, const struct lab_read_done *done, uint64_t times);
void lab_read_tally_merge(struct lab_read_tally *into, const struct lab_read_tally *from);

/* The number of kinds of reads that a scenario has. */
unsigned lab_read_kind_count(const struct lab_scenario *scenario);
const char *lab_read_kind_name(enum lab_read_kind kind);

#endif
