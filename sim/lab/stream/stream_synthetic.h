/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of the stream engine over a synthetic workload.
 *
 * Work goes in tasks, which are keys that follow each other. A member of the crew has one under way; what it
 * has put into its tallies, which tasks that were, and the task under way are a part of a snapshot, which
 * another run goes on from, with as many members as it likes. */
#ifndef LAB_STREAM_MADE_H
#define LAB_STREAM_MADE_H

#include <pthread.h>
#include <stdatomic.h>

#include "lab/snapshot.h"
#include "ranks/ranks.h"
#include "thin.h"

/* The first keys of a Zipf distribution are worth a task each; of the many quiet ones some go at a time. */
#define LAB_BUSY_KEYS       1024u
#define LAB_QUIET_KEYS_TASK 64u
/* What beginning and ending a key takes, in rows: for the progress alone. */
#define LAB_KEY_ROWS 64u

struct lab_task {
    uint64_t number, next_key; /* the key under way, or the one to begin with */
    bool is_begun;             /* there is a task */
    bool is_under_way;         /* next_key has begun: below is its state */
    bool has_all_rows;         /* and there are only reads left of it */
    struct lab_key key;
    struct lab_lane *lanes;
    struct wl_rows rows;       /* where every row is drawn */
    struct lab_thin_walk walk; /* where they are not */
    struct lab_thin *thins;    /* one a lane; NULL: every row is drawn */
};

/* Tallies, and a task that was under way when they were kept. No two tasks under way share tallies: a table's
 * key in turn is the only one there. */
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
    uint64_t *taken; /* bits by task: done or under way when the run was stopped; NULL: none */
    _Atomic uint64_t next_task;
    /* Where another rank has the tasks: this one works on those from share_begin on, and asks for more. */
    struct ranks_task *shares; /* NULL: they are here */
    pthread_mutex_t lock;      /* of the two */
    uint64_t share_begin, share_end;
};

struct lab_member {
    struct lab_stream_crew *crew;
    uint32_t number, count; /* of the crew */
    struct lab_stint now;
    struct lab_stint *waiting; /* that the run goes on from */
    size_t waiting_count;
    uint64_t *done; /* bits by task; NULL: nobody wants to know */
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

/* stream_synthetic.c: ready for its first task. */
bool lab_stint_init(struct lab_stint *stint, const struct lab_stream_crew *crew, struct sim_error *error);
void lab_stint_clear(struct lab_stint *stint, size_t lane_count);
/* What `from` has put into its tallies, and has no task under way in, goes to `into`. */
void lab_stint_merge(struct lab_stint *into, const struct lab_stint *from,
                     const struct lab_stream_crew *crew);

/* The same as lab_stream_synthetic(), of the tasks that the caller gives. */
bool lab_stream_shares(const struct lab_scenario *scenario, const struct cass_ring *ring, uint32_t jobs,
                       const struct lab_run_context *context, struct ranks_task *shares,
                       struct lab_stream_result *out, struct sim_error *error);

/* stream_ranks.c: the tasks of the crew are done by other ranks too, if there are any, until
 * lab_far_keys_end(): it waits for them, and adds what they found. NULL is fine there. */
struct lab_far_keys;
struct lab_far_keys *lab_far_keys_begin(struct lab_stream_crew *crew);
bool lab_far_keys_end(struct lab_far_keys *far, struct lab_stream_result *out, struct sim_error *error);

/* stream_synthetic_archive.c: puts the member's state; and loads those that were kept, each to the member
 * that is to put the next one in its place. */
void lab_member_put(struct lab_member *member);
bool lab_crew_go_on(struct lab_stream_crew *crew, struct lab_member *members, uint32_t count,
                    struct sim_error *error);

#endif
