/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internals of the stream engine for a synthetic workload.
 *
 * The work is divided into tasks of consecutive keys. Each member of the crew works on one task at a time.
 * Its tallies, the set of its finished tasks and its current task are one part of a snapshot; a run with any
 * number of members can resume from it. */
#ifndef LAB_STREAM_MADE_H
#define LAB_STREAM_MADE_H

#include <pthread.h>
#include <stdatomic.h>

#include "lab/snapshot.h"
#include "ranks/ranks.h"
#include "thin.h"

/* The first keys of a Zipf distribution are a task each; of the many keys with few rows, several are one
 * task. */
#define LAB_BUSY_KEYS       1024u
#define LAB_QUIET_KEYS_TASK 64u
/* The cost of beginning and ending a key, in rows; only for the progress. */
#define LAB_KEY_ROWS 64u

struct lab_task {
    uint64_t number, next_key; /* next_key: the current key, or the next one to begin */
    bool is_begun;             /* there is a task */
    bool is_under_way;         /* next_key has begun; its state is below */
    bool has_all_rows;         /* all of its rows were drawn, and only reads are left */
    struct lab_key key;
    struct lab_lane *lanes;
    struct wl_rows rows;       /* if every row is drawn */
    struct lab_thin_walk walk; /* if rows are not drawn (thinned) */
    struct lab_thin *thins;    /* one per lane; NULL: every row is drawn */
};

/* A worker's tallies, and the task that was in progress when they were saved. Two tasks in progress never
 * share tallies, since a tally with a table has the state of one key. */
struct lab_stint {
    struct lab_worker *worker;
    struct lab_task task;
};

struct lab_stream_crew {
    const struct lab_scenario *scenario;
    const struct cass_ring *ring;
    const struct lab_run_context *context;
    size_t batch_rows;
    uint64_t task_count;
    uint64_t *taken; /* bit set by task: done or in progress when the run was stopped; NULL: none */
    _Atomic uint64_t next_task;
    /* When another rank distributes the tasks: this rank has those from share_begin to share_end, and
     * requests more. */
    struct ranks_task *shares; /* NULL: this rank distributes them */
    pthread_mutex_t lock;      /* of the two */
    uint64_t share_begin, share_end;
};

struct lab_member {
    struct lab_stream_crew *crew;
    uint32_t number, count; /* number of this member, and of all members */
    struct lab_stint now;
    struct lab_stint *waiting; /* saved states from which this member resumes */
    size_t waiting_count;
    uint64_t *done; /* bit set of finished tasks; NULL: not needed */
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

/* stream_synthetic.c: initialises a stint for its first task. */
bool lab_stint_init(struct lab_stint *stint, const struct lab_stream_crew *crew, struct sim_error *error);
void lab_stint_clear(struct lab_stint *stint, size_t lane_count);
/* Computes the rest of the digests of keys. Called before the stint is stored or merged, and at its end.
 */
void lab_stint_settle(struct lab_stint *stint);
/* Adds the tallies of `from`, which must have no task in progress, to `into`. */
void lab_stint_merge(struct lab_stint *into, const struct lab_stint *from,
                     const struct lab_stream_crew *crew);

/* As lab_stream_synthetic(), for the tasks that the calling rank distributes. */
bool lab_stream_shares(const struct lab_scenario *scenario, const struct cass_ring *ring, uint32_t jobs,
                       const struct lab_run_context *context, struct ranks_task *shares,
                       struct lab_stream_result *out, struct sim_error *error);

/* stream_ranks.c: lets other ranks, if there are any, work on the crew's tasks too. lab_far_keys_end() waits
 * for them, and adds their results; it accepts NULL. */
struct lab_far_keys;
struct lab_far_keys *lab_far_keys_begin(struct lab_stream_crew *crew);
bool lab_far_keys_end(struct lab_far_keys *far, struct lab_stream_result *out, struct sim_error *error);

/* stream_synthetic_archive.c: lab_member_put() saves the member's state; lab_crew_go_on() loads saved states,
 * each into the member whose next state will replace it. */
void lab_member_put(struct lab_member *member);
bool lab_crew_go_on(struct lab_stream_crew *crew, struct lab_member *members, uint32_t count,
                    struct sim_error *error);

#endif
