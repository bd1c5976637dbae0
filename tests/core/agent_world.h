/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A world for agents: a database of a few rows (state row, counter and lock row of each key), the agents, and
 * the actions under way between them. Each action takes effect some time after its request and is answered
 * some time after that. If the world allows it, an action is refused, lost, or takes effect after the agent
 * has received an unknown outcome. Time passes with each event. The seed determines everything. */
#ifndef TESTS_CORE_AGENT_WORLD_H
#define TESTS_CORE_AGENT_WORLD_H

#include "agent_host.h"
#include "draw.h"

#define KEYS           3 /* keys that get rows; for guarded, more than a small cache holds */
#define KEYS_GUARDED   6
#define AGENTS_MAX     5
#define OPERATIONS_MAX 4
#define LATE_MAX       64
#define DATES_MAX      256
#define BUCKETS_MAX    256
#define PLACED_MAX     512
#define LATENCY_NS_MAX 30 /* from the request to the effect, and from the effect to the answer */

struct failures {
    bool refuse, lose, hide, late; /* an action is refused; lost; applied unanswered; applied late */
    bool lag;                      /* actions may wait before the host takes them */
    bool crash;                    /* agents may restart while their requests are still under way */
};

struct tally {
    uint64_t fired, counted, rolls, rolls_above_threshold, misrouted, beyond_lines;
    uint64_t retried_rows, refused_rows, unknown_rows, late_effects, takeovers, conditions_lost, reads;
    uint64_t extensions, line_rolls, lookups, crashes, late_rows, future_rows; /* guarded only */
};

/* Guarded: a row that an agent has put; its acknowledgement may be missing. */
struct placed {
    int64_t time_ns, bucket;
    bool is_acknowledged, fires;
};

struct world_key {
    bool state_exists, lock_exists;
    int64_t state[BK_COLUMNS], lock[2], total;
    uint64_t rolls;
    int64_t dates[DATES_MAX]; /* dates of the changes that were stored */
    size_t date_count;
    int64_t latest_ns, lines_ns[BUCKETS_MAX]; /* with a greatest age: times of rows; see check_lines() */
    int64_t lock_until[AGENTS_MAX];           /* the end of the lock that each agent requested last */
    /* Guarded: the table of starts, the starts as they were committed, and a counter for each bucket. */
    bool has_start[BUCKETS_MAX];
    int64_t starts[BUCKETS_MAX], committed[BUCKETS_MAX], totals[BUCKETS_MAX];
    struct placed placed[PLACED_MAX];
    size_t placed_count;
};

struct pending {
    bool is_used, has_effect;
    struct bk_action action;
    int64_t since_ns;
    struct bk_outcome outcome;
};

struct under_way {
    bool is_used, is_read, has_bucket;
    int64_t bucket;
    struct pending pending;
    struct bk_row row;
    struct placed *placed; /* guarded only; NULL: not yet */
    int64_t latest_ns, due_bucket;
};

struct world_agent {
    struct bk_agent *agent;
    uint32_t begun;
    int64_t offset_ns; /* of the agent's clock */
    struct under_way operations[OPERATIONS_MAX];
};

struct world {
    struct draw draw;
    struct bk_agent_config config;
    struct failures may;
    int64_t now_ns;
    bool is_frozen; /* no time passes */
    int agent_count;
    uint64_t key_count, reads_of_8;
    bool rows_are_ahead; /* guarded: rows are a bound ahead of their agent's clock, which is a bound ahead too
                          */
    struct world_agent agents[AGENTS_MAX];
    struct world_key keys[KEYS_GUARDED];
    struct {
        int agent;
        struct bk_action action;
    } late[LATE_MAX];
    size_t late_count;
    struct tally tally;
    struct bk_action last_done;
};

struct world *world_of(const struct bk_agent_config *config, int agent_count, uint64_t seed);
void world_free(struct world *world);
/* Starts up to this many rows and reads, and continues until all have ended; then no trace of them may
 * remain. Returns the number of steps. */
uint64_t world_run(struct world *world, int count);
/* Writes one row, and drives everything under way to its end while the clock is frozen. */
void world_write(struct world *world, int agent, uint64_t key, const struct bk_row *row);
void world_finish(struct world *world);
int64_t world_clock(const struct world *world, int agent);

/* The next line of the greatest age, or INT64_MAX without a greatest age. */
static inline int64_t line_above(const struct world *world, int64_t time_ns)
{
    int64_t age_ns = world->config.strategy.max_age_ns;
    return age_ns == 0 ? INT64_MAX : time_ns - (time_ns % age_ns + age_ns) % age_ns + age_ns;
}

/* agent_world_guarded.c: the properties that hold at any time with guarded. */
void guarded_begun(struct world *world, int agent, uint64_t key, uint32_t operation);
void guarded_draw_time(struct world *world, struct bk_row *row);
void guarded_asked(struct world *world, int agent, const struct bk_action *action);
void guarded_acknowledged(struct world *world, int agent, const struct bk_action *action);
void guarded_stored(struct world *world, const struct bk_action *action, const int64_t *before, bool existed);
void guarded_ended(struct world *world, int agent, const struct bk_action *action);
/* Asserts for the whole run that a row's bucket depends only on its time and never decreases as times
 * increase. */
void guarded_check(const struct world *world);

static inline struct failures draw_failures(struct draw *draw)
{
    uint64_t bits = draw_bits(draw);
    return (struct failures){bits & 1, bits & 2, bits & 4, bits & 8, bits & 16, false};
}

static inline void add_tally(struct tally *sum, const struct tally *more)
{
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)more;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += from[i];
}

#endif
