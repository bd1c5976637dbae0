/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internals of the stream engine for a synthetic workload.
 *
 * The work is divided into tasks of consecutive keys. Each member of the crew works on one task at a time,
 * and adds the tallies of its finished tasks to the crew's sum: at its end and, if partial results are stored
 * (lab/partial.h), now and then. A run resumes from the sum and the set of its tasks. */
#ifndef LAB_STREAM_MADE_H
#define LAB_STREAM_MADE_H

#include <pthread.h>
#include <stdatomic.h>

#include "kernel/sampler.h"
#include "lab/team.h"
#include "stream.h"

/* The first keys of a Zipf distribution are a task each; of the many keys with few rows, several are one
 * task. */
#define LAB_BUSY_KEYS       1024u
#define LAB_QUIET_KEYS_TASK 64u
/* The cost of beginning and ending a key, in rows; only for the progress. */
#define LAB_KEY_ROWS 64u

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
/* The key in progress. */
struct lab_task {
    struct lab_key key;
    struct lab_lane *lanes;
    struct wl_rows rows;       /* if every row is drawn */
    struct lab_thin_walk walk; /* if rows are not drawn (thinned) */
    struct lab_thin *thins;    /* one per lane; NULL: every row is drawn */
};

struct lab_stream_crew {
    const struct lab_scenario *scenario;
    const struct cass_ring *ring;
    const struct lab_run_context *context;
    size_t batch_rows;
    uint64_t task_count;
    _Atomic uint64_t next_task; /* of this rank, if it works alone */
    struct lab_joint joint;     /* its team is NULL if it does */
    struct lab_block {
        pthread_mutex_t lock;
        uint64_t number, next, end; /* number of the next block; the tasks left of this rank's block */
        uint64_t from;              /* where the next block begins */
        uint64_t threads;           /* of all ranks */
        _Atomic bool is_over;
    } block;
    pthread_mutex_t lock;          /* of all members below */
    struct lab_stream_result *sum; /* of the tasks that are done */
    uint64_t *done;                /* bit set of these tasks; changes only at the members' calls of add() */
    uint64_t *before;              /* those that were done when the run was resumed; NULL: none */
    uint32_t put;                  /* the last wish for which the sum was put */
};

struct lab_member {
    struct lab_stream_crew *crew;
    struct lab_worker *worker;
    struct lab_task task;
    uint64_t *done; /* bit set of the finished tasks that are not in the sum yet */
    pthread_t thread;
    bool is_running;
};

static inline uint64_t lab_task_begin(uint64_t number)
{
    return number < LAB_BUSY_KEYS ? number : LAB_BUSY_KEYS + (number - LAB_BUSY_KEYS) * LAB_QUIET_KEYS_TASK;
}
static inline uint64_t lab_task_of(uint64_t key)
{
    return key < LAB_BUSY_KEYS ? key : LAB_BUSY_KEYS + (key - LAB_BUSY_KEYS) / LAB_QUIET_KEYS_TASK;
}
static inline bool lab_bit(const uint64_t *bits, uint64_t index)
{
    return (bits[index / 64] >> (index % 64) & 1) != 0;
}
static inline void lab_bit_set(uint64_t *bits, uint64_t index)
{
    bits[index / 64] |= UINT64_C(1) << (index % 64);
}
static inline size_t lab_bit_words(uint64_t count)
{
    return (size_t)(count / 64 + 1);
}

/* Initialises an empty sum. The caller must call lab_stream_result_clear() even if this fails. */
bool lab_stream_sum_init(const struct lab_scenario *scenario, const struct cass_ring *ring,
                         struct lab_stream_result *out);
/* With the lock held, after tasks were added to the sum: puts it, if a partial result is requested. */
void lab_crew_added(struct lab_stream_crew *crew);

/* Does the tasks of the crew. On failure the sum is cleared. */
bool lab_stream_tasks(struct lab_stream_crew *crew, uint32_t jobs, struct sim_error *error);

/* --- stream_ranks.c: a run that other ranks work on too */
void lab_keys_share(struct lab_stream_crew *crew); /* finds out whether they do */
bool lab_keys_begin(struct lab_stream_crew *crew, struct sim_error *error);
/* The next task for this rank; task_count when there is none. */
uint64_t lab_keys_next(struct lab_stream_crew *crew);

#endif
