/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of the stream engine: a worker with its tallies and the batch at hand, and a key under way. */
#ifndef LAB_WORKER_H
#define LAB_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "lab/snapshot.h"
#include "lab/stream.h"
#include "lane.h"
#include "workload/rows.h"

#define LAB_BATCH_ROWS 512
/* From one safe point to the next. */
#define LAB_READS_AT_ONCE 1024u

/* A key under way: what its lanes share. */
struct lab_key {
    uint64_t entity;
    uint64_t rows, bytes; /* bytes: what the rows weigh */
    int64_t birth_ns;     /* the least of its rows' own times so far */
    int64_t second_end_ns;
    uint64_t second_begin; /* number of the first row in the second under way */
    struct lab_read_clock reads[LAB_READ_KINDS];
    int64_t next_read_ns; /* the earliest of them; INT64_MAX: none */
    enum lab_read_kind next_read;
    struct lab_horizon horizon; /* with reads of ranges */
};

/* A worker: its tallies and the columns of the batch at hand. */
struct lab_worker {
    const struct lab_scenario *scenario;
    const struct lab_run_context *context;
    size_t lane_count;
    bool wants_bytes;                   /* some lane goes by the size of each row */
    bool wants_seconds;                 /* some lane counts the rows of each second by itself */
    struct lab_lane_settings *settings; /* one a lane */
    struct bk_strategy *strategies;     /* one a lane: as rows are placed by it */
    struct lab_regimes *regimes;        /* one a lane; those of settings that do not change are not used */
    struct lab_tally *tallies;          /* one a lane */
    uint64_t rows, keys;
    uint64_t untold_rows, untold_done; /* of the progress; see lab_worker_tell() */
    uint32_t heard;                    /* of wishes for a snapshot */
    int64_t end_ns;                    /* of the run */
    struct lab_row_stamps stamps;      /* of rows written from its start on */
    int64_t times_ns[LAB_BATCH_ROWS];
    int64_t reads_ns[LAB_READS_AT_ONCE];
    int64_t late_ns[LAB_BATCH_ROWS]; /* read when wl_has_late() */
    int64_t own_ns[LAB_BATCH_ROWS];
    uint64_t ids[LAB_BATCH_ROWS];
    uint64_t bytes[LAB_BATCH_ROWS];
    uint64_t bytes_before[LAB_BATCH_ROWS + 1];
    uint64_t second_begin[LAB_BATCH_ROWS];
    uint32_t gone_before[LAB_BATCH_ROWS + 1];
};

bool lab_worker_create(const struct lab_scenario *scenario, const struct cass_ring *ring,
                       const struct lab_run_context *context, struct lab_worker **out,
                       struct sim_error *error);
/* Before the first row: the run starts at start_ns, and settings change by that. False: the date of a change
 * overflows a timestamp. */
bool lab_worker_start(struct lab_worker *worker, int64_t start_ns, struct sim_error *error);
/* Of one strategy by one worker; false when out of memory, and it is to be cleared in any case. */
bool lab_stream_tally_init(const struct lab_scenario *scenario, const struct cass_ring *ring,
                           struct lab_tally *tally);
void lab_worker_destroy(struct lab_worker *worker);
/* Whether the run is to end early, at the next safe point, which lies between two batches. */
static inline bool lab_worker_is_stopped(const struct lab_worker *worker)
{
    return lab_run_is_stopped(worker->context);
}
/* Whether it is to end at once: what the worker has counted by then is worth nothing. */
static inline bool lab_worker_is_abandoned(const struct lab_worker *worker)
{
    return lab_is_abandoned(worker->context);
}
/* At a safe point: whether the worker is to stop, or to give its state. */
static inline bool lab_worker_is_wanted(struct lab_worker *worker)
{
    return lab_snapshot_is_due(worker->context, &worker->heard) || lab_worker_is_stopped(worker);
}

#define LAB_TELL_AT 8192u
/* Rows and work are done. They are told on some thousand at a time, as a shared counter costs as much as some
 * twenty rows; what is left at the end, by lab_worker_tell_rest(). */
void lab_worker_tell_rest(struct lab_worker *worker);
static inline void lab_worker_tell(struct lab_worker *worker, uint64_t rows, uint64_t done)
{
    worker->untold_rows += rows;
    worker->untold_done += done;
    if (worker->untold_done >= LAB_TELL_AT)
        lab_worker_tell_rest(worker);
}

/* A key of zeros, or one that has ended, begins; its share of all reads comes from start_ns on. */
void lab_key_begin(struct lab_key *key, const struct lab_scenario *scenario, uint64_t entity, double share,
                   int64_t start_ns);
void lab_key_clear(struct lab_key *key);
/* One a strategy, of zeros or ended: for a key with this share of all reads, which come from start_ns on. */
void lab_lanes_begin(struct lab_lane *lanes, const struct lab_worker *worker, double share, int64_t start_ns);
/* Takes `count` rows from the worker's columns times_ns, ids, late_ns when rows can be late, and, unless
 * bytes_each > 0, bytes. */
void lab_key_rows(struct lab_key *key, struct lab_lane *lanes, struct lab_worker *worker,
                  const struct lab_key_name *name, size_t count, uint64_t bytes_each);
/* weigh.c: what the rows of a batch weigh, into the batch, and their payload into the tallies; a payload
 * above 1 TiB becomes that. */
void lab_weigh_rows(struct lab_worker *worker, struct lab_batch *batch, uint64_t payload_each);
/* The read that is due, under every strategy. */
void lab_key_read(struct lab_key *key, struct lab_lane *lanes, struct lab_worker *worker);
/* How many of the key's next `count` rows to give to lab_key_rows() at once, at least 1 of 1: fewer where
 * many reads lie between them, as nobody looks who waits until all are done. */
size_t lab_key_batch_rows(const struct lab_key *key, const int64_t *times_ns, size_t count);
/* Reads after the last row, up to some thousand of them; false when none is left before end_ns. */
bool lab_key_reads(struct lab_key *key, struct lab_lane *lanes, struct lab_worker *worker, int64_t end_ns);
/* With those that are left. */
void lab_key_end(struct lab_key *key, struct lab_lane *lanes, struct lab_worker *worker,
                 const struct lab_key_name *name, int64_t end_ns);

/* As what a key begins, and when its rows end. */
struct lab_key_origin {
    const struct lab_scenario *scenario;
    uint64_t entity;
    double share;
    int64_t start_ns, end_ns;
};
/* Both ways, between two batches; loading takes a key of zeros, and no other than one of this origin. */
void lab_key_archive(struct lab_key *key, const struct lab_key_origin *origin, struct sim_archive *archive);

#endif
