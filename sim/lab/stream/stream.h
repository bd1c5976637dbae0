/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internals of the stream engine: a worker with its tallies and the current batch, a key in progress */
#ifndef LAB_WORKER_H
#define LAB_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "kernel/sampler.h"
#include "lab/context.h"
#include "lab/stream.h"
#include "lab/team.h"
#include "lane.h"
#include "workload/workload.h"

/* A row is small if its payload has fewer bytes; the size of a small row is computed once. */
#define LAB_SMALL_ROW 2048
/* The most reads between two safe points. */
#define LAB_READS_AT_ONCE 1024u

/* A key in progress: its lanes, one per strategy, and the data that they share. */
struct lab_key {
    struct lab_worker *worker;
    struct lab_lane *lanes;
    struct lab_key_name name;
    uint64_t entity;
    uint64_t rows, bytes; /* bytes: total size of the rows */
    struct lab_disk *disk;
    int64_t birth_ns; /* the earliest of its rows' own times so far */
    int64_t second_end_ns;
    uint64_t second_begin; /* number of the first row in the current second */
    struct lab_read_clock reads[LAB_READ_KINDS];
    struct lab_reads_seen expected;
    int64_t next_read_ns; /* time of the next read; INT64_MAX: none */
    enum lab_read_kind next_read;
    struct lab_horizon horizon; /* with reads of ranges */
};

/* The rows of a batch that fire by a strategy, and a number above all. */
struct lab_firing {
    const struct bk_strategy *strategy;
    uint16_t rows[LAB_BATCH_ROWS + 1];
};

/* Those that fire by the strategy of its kind by which the most rows fire. */
struct lab_widest {
    const struct bk_strategy *strategy; /* NULL: there are not several strategies of this kind */
    size_t count;
    uint16_t rows[LAB_BATCH_ROWS];
    uint64_t ids[LAB_BATCH_ROWS], bytes[LAB_BATCH_ROWS];
};

/* A worker: its tallies and the columns of the current batch. */
struct lab_worker {
    const struct lab_scenario *scenario;
    const struct lab_run_context *context;
    size_t lane_count;
    bool wants_ids;                     /* some lane uses the id of each row */
    bool wants_bytes;                   /* some lane uses the size of each row */
    bool wants_seconds;                 /* some lane counts the rows of each second */
    struct lab_lane_settings *settings; /* one per lane */
    struct bk_strategy *strategies;     /* one per lane: the strategy by which rows are placed */
    struct lab_regimes *regimes;        /* one per lane; only used for settings that change */
    struct lab_tally *tallies;          /* one per lane */
    uint64_t rows, keys;
    uint64_t untold_rows, untold_done; /* not added to the progress yet; see lab_worker_tell() */
    int64_t end_ns;                    /* end of the run */
    struct lab_disk_windows disk;      /* of a key in one partition */
    struct lab_row_stamps stamps;      /* for rows written from the start of the run on */
    /* The bytes of a small row, by the class of its times and its payload; 0: not known yet. */
    uint16_t small_weights[LAB_ROW_STAMPS_MAX][LAB_SMALL_ROW];
    /* In the thinned mode. */
    struct wl_pace pace;                    /* of the interval in progress */
    uint64_t row_bytes[LAB_ROW_STAMPS_MAX]; /* size of a row, by the class of its time */
    struct lab_sums {
        struct sim_sum payload, bytes;
    } sums[LAB_ROW_STAMPS_MAX][SIM_LEVELS]; /* of rows whose sizes are drawn */
    int64_t times_ns[LAB_BATCH_ROWS];
    int64_t reads_ns[LAB_READS_AT_ONCE];
    int64_t late_ns[LAB_BATCH_ROWS]; /* set if wl_has_late() */
    int64_t own_ns[LAB_BATCH_ROWS];
    uint64_t ids[LAB_BATCH_ROWS];
    uint64_t bytes[LAB_BATCH_ROWS];
    uint64_t bytes_before[LAB_BATCH_ROWS + 1];
    uint64_t second_begin[LAB_BATCH_ROWS];
    uint32_t gone_before[LAB_BATCH_ROWS + 1];
    struct lab_widest widest[2]; /* of the kinds that fire */
    struct lab_firing *firing;   /* one for all lanes by which the same rows fire */
    size_t firing_count;
};

/* The greatest row size that a trace or a scenario may have. Larger draws from the tail of a distribution are
 * limited to it, so that the sums of a batch are far from overflow. */
#define LAB_ROW_MAX (UINT64_C(1) << 40)
static inline uint64_t lab_row_clamped(uint64_t payload)
{
    return payload < LAB_ROW_MAX ? payload : LAB_ROW_MAX;
}
/* The bytes of a row with this payload, by the class of its time. */
static inline uint64_t lab_row_weight(struct lab_worker *worker, uint64_t payload, uint32_t class)
{
    uint16_t *known = worker->small_weights[class];
    uint64_t weight = payload < LAB_SMALL_ROW ? known[payload] : 0;
    if (weight == 0) {
        weight = lab_row_bytes(&worker->scenario->row_cost, payload, worker->stamps.bytes[class]);
        if (payload < LAB_SMALL_ROW && weight <= UINT16_MAX)
            known[payload] = (uint16_t)weight;
    }
    return weight;
}

bool lab_worker_create(const struct lab_scenario *scenario, const struct cass_ring *ring,
                       const struct lab_run_context *context, struct lab_worker **out,
                       struct sim_error *error);
/* Must be called before the first row, with the start of the run, from which the dates of changes are
 * computed. Returns false when the date of a change overflows a timestamp. */
bool lab_worker_start(struct lab_worker *worker, int64_t start_ns, struct sim_error *error);
/* Initialises the tally of one strategy and one worker. Returns false when out of memory; the caller must
 * clear the tally in any case. Before its first row, the span of the run must be set. */
bool lab_stream_tally_init(const struct lab_scenario *scenario, const struct cass_ring *ring,
                           struct lab_tally *tally);
void lab_stream_tally_begin(const struct lab_scenario *scenario, struct lab_tally *tally, int64_t start_ns,
                            int64_t end_ns);
/* Adds what the worker has done so far, between two keys, to the sum, and empties its tallies. */
void lab_worker_add(struct lab_worker *worker, const struct cass_ring *ring, struct lab_stream_result *sum);
/* A sum and the set of what is done; loading needs an empty sum of the same scenario. */
void lab_sum_archive(struct sim_archive *archive, const struct lab_scenario *scenario,
                     const struct cass_ring *ring, struct lab_stream_result *sum, uint64_t *done,
                     size_t words);
/* Saves them as lab_partial.put() gets it; or loads it. */
void lab_partial_put(struct lab_partial *partial, const struct lab_scenario *scenario,
                     const struct cass_ring *ring, struct lab_stream_result *sum, uint64_t *done,
                     size_t words);
bool lab_partial_load(const struct lab_partial *partial, const struct lab_scenario *scenario,
                      const struct cass_ring *ring, struct lab_stream_result *sum, uint64_t *done,
                      size_t words, struct sim_error *error);
void lab_worker_destroy(struct lab_worker *worker);
/* Whether the run must end early, at the next safe point, which is between two batches. Its keys in progress
 * are then lost. */
static inline bool lab_worker_is_stopped(const struct lab_worker *worker)
{
    return lab_run_is_stopped(worker->context);
}
#define LAB_TELL_AT 8192u
/* Adds finished rows and work to the progress, a few thousand at a time, since updating the shared counter
 * costs as much as about twenty rows. lab_worker_tell_rest() must be called at the end for the remainder. */
void lab_worker_tell_rest(struct lab_worker *worker);
static inline void lab_worker_tell(struct lab_worker *worker, uint64_t rows, uint64_t done)
{
    worker->untold_rows += rows;
    worker->untold_done += done;
    if (worker->untold_done >= LAB_TELL_AT)
        lab_worker_tell_rest(worker);
}

/* Makes the lanes of a key, which must not move any more. `key` must be zeroed. Returns false when out of
 * memory. */
bool lab_key_init(struct lab_key *key, struct lab_worker *worker);
/* Begins a key with its lanes, after the one before was ended. `share`: its share of all reads, which begin
 * at start_ns. name: its text must outlive the key. */
void lab_key_begin(struct lab_key *key, const struct lab_key_name *name, uint64_t entity, double share,
                   int64_t start_ns);
void lab_key_clear(struct lab_key *key);
/* Adds `count` rows from the worker's columns times_ns, ids, late_ns (if rows can be late) and bytes (unless
 * bytes_each > 0) to the lanes. */
void lab_key_rows(struct lab_key *key, size_t count, uint64_t bytes_each);
/* Puts rows of one compaction window on disk, as if the key were one partition. */
void lab_key_store(struct lab_key *key, int64_t time_ns, uint64_t rows, uint64_t bytes);
/* Makes the read that is due, under every strategy. */
void lab_key_read(struct lab_key *key);
/* How many of the key's next `count` rows to pass to lab_key_rows() in one call, at least 1: fewer if there
 * are many reads between them, so that safe points are not too far apart. */
size_t lab_key_batch_rows(const struct lab_key *key, const int64_t *times_ns, size_t count);
/* Makes reads after the last row, at most LAB_READS_AT_ONCE; false when none is left before end_ns. */
bool lab_key_reads(struct lab_key *key, int64_t end_ns);
/* Makes the remaining reads, and ends the key. */
void lab_key_end(struct lab_key *key, int64_t end_ns);

/* The cost of beginning and ending a key, in rows; only for the progress. */
#define LAB_KEY_ROWS 64u

/* The state of a strategy, and of the current key. */
struct lab_thin {
    bool can_fire, goes_by_time;
    bool fires_always;        /* every row fires, with a weight that depends on the row */
    struct sim_trials trials; /* number of rows up to the next one that fires */
    uint64_t quiet, firing;   /* ids of a row that does not fire, and of one that does */
    uint64_t threshold;       /* if rows that fire only raise the counter until it reaches this; else 0 */
    bool is_drawn;            /* the size of each row, which is `bytes_each` otherwise */
    uint64_t bytes_each;
    struct lab_worker *worker;  /* asked whether to stop in the middle of an interval */
    struct sim_random draws;    /* the key's */
    struct sim_random sizes;    /* of its rows, if they are drawn */
    struct cass_partition over; /* lab_over_bound() of the key */
    struct lab_alike alike[LAB_ALIKE];
    uint64_t to_fire; /* number of rows up to and including the next one that fires; 0: not drawn yet */
};

/* The payload and the bytes of rows. */
struct lab_weight {
    uint64_t payload, bytes;
};

/* The rows of a key within an interval without other events of the key. */
struct lab_stretch {
    int64_t begin_ns, end_ns;
    uint64_t first_row, rows;
    bool is_gone;             /* the rows will have expired when the run ends */
    struct lab_weight weight; /* of all rows */
};

/* The position within a key. */
struct lab_thin_walk {
    struct wl_key arrivals;
    int64_t begin_ns, end_ns;        /* the rest of the interval in progress */
    struct sim_random counts, sizes; /* of rows */
    struct lab_stretch piece;
};
/* Prepares the weights of rows, before the first key. */
void lab_thin_weights(struct lab_worker *worker);
void lab_thin_prepare(struct lab_lane *lane, struct lab_worker *worker, struct lab_thin *out);
/* Process the rows and reads of a key that has begun. Return false when lab_worker_is_stopped(). */
bool lab_thin_key(struct lab_key *key);

#endif
