/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What both engines share of reads: when they come, what they ask, and what is counted of them. */
#ifndef LAB_READS_H
#define LAB_READS_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/random.h"
#include "lab/histogram.h"
#include "lab/scenario.h"

/* The reads of one kind that come to one key: a Poisson process with a stream of its own. */
struct lab_read_clock {
    int64_t next_ns; /* INT64_MAX: none */
    double gap_ns;
    struct sim_random draws;
};
void lab_read_clock_begin(struct lab_read_clock *clock, const struct lab_scenario *scenario,
                          enum lab_read_kind kind, uint64_t entity, double share, int64_t start_ns);
void lab_read_clock_next(struct lab_read_clock *clock);

/* The plan that the strategy itself names, or else the scenario's; at_once: 0, the core's default. */
void lab_read_plan(const struct lab_scenario *scenario, const struct lab_strategy *strategy,
                   enum lab_read_kind kind, enum bk_plan *plan, uint32_t *at_once);
/* time - span, at the least INT64_MIN; span: at least 0. */
int64_t lab_before(int64_t time_ns, int64_t span_ns);
/* What a read of this kind asks that begins at now_ns. */
void lab_read_query(const struct lab_scenario *scenario, const struct lab_strategy *strategy,
                    enum lab_read_kind kind, int64_t now_ns, int64_t birth_ns, struct bk_query *out);

/* One read, as it ended. */
struct lab_read_done {
    enum lab_read_kind kind;
    enum bk_order order;
    uint64_t partitions, empties, filled; /* asked; of them without a row for it, and with one */
    uint64_t rows, due, scanned; /* found, that should have been, and that the replicas went through */
    bool is_stale;               /* other rows than these are the newest */
    bool is_early;               /* a lazy one that left buckets unasked */
    bool is_cut;                 /* at the limit of partitions */
};

/* Of reads that are expected, which are counted in such parts. */
#define LAB_READ_PARTS 65536.0

struct lab_read_tally {
    struct lab_histogram partitions;
    uint64_t empties, incomplete, out_of_order, scanned, cut;
};
/* So many such reads. */
void lab_read_count(struct lab_read_tally *tally, const struct lab_read_done *done, uint64_t times);
void lab_read_tally_merge(struct lab_read_tally *into, const struct lab_read_tally *from);

/* Of how many kinds a scenario's reads are. */
unsigned lab_read_kind_count(const struct lab_scenario *scenario);
const char *lab_read_kind_name(enum lab_read_kind kind);

#endif
