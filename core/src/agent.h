/* SPDX-License-Identifier: MIT */
/* The memory of an agent: one block from its host, laid out by bk_agent_init(), without pointers inside.
 * Every part begins at an offset that the header keeps, a multiple of alignof(max_align_t), so the block may
 * be moved:
 *
 *                    struct                  entries
 *     0             +-----------------------+
 *                   | struct bk_agent       |  1: the config, how many of each part are in use, the offsets
 *     operations_at +-----------------------+
 *                   | struct operation      |  config.operations, found by their numbers
 *     cache_at      +-----------------------+
 *                   | struct cache_entry    |  cache_sets x 4: the states of keys, 4 to a set
 *     local_at      +-----------------------+
 *                   | struct local_count    |  one for each cache entry; none where the protocol keeps none
 *     ready_at      +-----------------------+
 *                   | uint32_t              |  config.operations: ring of those with something to ask
 *     free_at       +-----------------------+
 *                   | uint32_t              |  config.operations: stack of those that nobody uses
 *     lists_at      +-----------------------+
 *                   | uint32_t              |  list_count: the first operation of a list, by the key's hash
 *     links_at      +-----------------------+
 *                   | uint32_t              |  list_count: behind each operation the next on its list
 *     memory_at     +-----------------------+
 *                   | struct memory_entry   |  memory_sets x 4: windows known to be empty, 4 keys to a set
 *     size          +-----------------------+
 *
 * There are no lists where no operation of the protocol waits for another. */
#ifndef BUCKETING_AGENT_PRIVATE_H
#define BUCKETING_AGENT_PRIVATE_H

#include "bucketing/agent.h"

#define BIT(column) (1u << (column))
#define COLUMNS_ALL (BIT(BK_COLUMN_COUNT) - 1)
#define CACHE_WAYS  4u
/* No roll goes beyond it, whatever bucket a host tells. */
#define BUCKET_LAST (INT64_MAX - 1)
/* What a row adds at most, and what a counter that is read and written back stops at: one above it is none
 * that anybody can have stored. */
#define WEIGHT_MAX (INT64_MAX - 1)

/* A key's state row, as it was at a time. */
struct known {
    uint32_t mask; /* 0: the key has no state row; else all columns */
    int64_t columns[BK_COLUMN_COUNT];
    int64_t learned_ns;
};

/* How numbers fill buckets: `rows` each, number `first` being the first of `bucket`. */
struct filling {
    int64_t bucket, first, rows;
};

/* What the agent has under way for one call of its host; operation.h has its life. */
struct operation {
    uint32_t step; /* enum step, or one of the protocol's own */
    bool is_read, ack_due, waits_for_outcome, is_retry, fired, counted, was_unknown;
    bool is_listed;   /* turns.c: it may concern others on its key */
    bool is_outdated; /* knows nothing of empty windows: its history was replaced since it began, or its agent
                         stored a row of the key while it waited */
    bool adds;        /* what is written to the counter has this row in it */
    bool is_placed;   /* the row is stored */
    bool is_new_key;  /* BK_GUARDED: a read found no state row */
    bool start_is_kept; /* BK_GUARDED: of the bucket below `bucket`, in the table of starts */
    uint32_t tries;     /* of the action as it stands, after the first */
    uint32_t lost;      /* conditional updates that somebody else got ahead of, in counting or in locking */
    uint32_t recounts;  /* after a conditional count whose outcome was unknown; of BK_SOURCE_MEMORY: buckets
                           that it found full */
    uint32_t waits;     /* for a lock that somebody holds */
    uint64_t key;
    int64_t bucket;
    struct bk_row row; /* of a read: time_ns is its now, sequence the newest */
    struct bk_query query;
    int64_t weight;   /* what the row adds to the counter; above 0 when it fired */
    int64_t begun_ns; /* by the agent's clock; not in a checkpoint */
    int64_t asked_ns; /* when the action under way became ready; begun_ns before the first */
    int64_t wake_ns;  /* INT64_MAX: not asleep */
    int64_t total;    /* of the counter column */
    int64_t end_ns;   /* BK_GUARDED, looking up an old start: of the bucket */
    struct known known;
    struct known next;      /* what the step writes to the state; mask: the columns written */
    struct filling filling; /* BK_SOURCE_LWT, BK_SOURCE_LEASE: of the numbers that the step takes */
    int64_t lock[2];        /* owner and end as last seen; both 0 in a row that was released */
    struct bk_history_reader reader;
    enum bk_operation_status status;
};

/* What an agent remembers of a key's empty windows. */
struct memory_entry {
    uint64_t key;
    uint64_t used; /* when, counted in uses; 0: never */
    struct bk_empties empties;
};

/* What this agent alone knows of a key: of BK_SOURCE_LEASE the numbers from next to before end are its to
 * give; of the sources that count, the rows that it has stored since the last count, and when that was; of
 * BK_SOURCE_MEMORY the rows of a bucket, which the state may have left since. */
struct local_count {
    int64_t next, end;
    struct filling filling; /* of those numbers */
    uint64_t rows;
    int64_t bucket, counted_ns;
    bool is_counted; /* rows says all */
    bool is_cold;    /* there may have been rows before: this agent's, until the cache evicted the key, or of
                        BK_SOURCE_MEMORY another's */
};

struct cache_entry {
    bool is_used;
    uint64_t key;
    struct known known;
};

struct bk_agent {
    struct bk_agent_config config;
    uint32_t protocol; /* its number, see protocol.h */
    uint32_t cache_sets;
    uint32_t ready_begin, ready_count; /* of the ring */
    uint32_t free_count;
    uint32_t list_count;
    int64_t wake_ns;      /* the earliest of the operations asleep, or sooner */
    uint32_t memory_sets; /* of what is remembered of empty windows */
    uint64_t memory_uses;
    struct bk_agent_stats stats; /* the counters; the gauges are 0 */
    size_t operations_at, cache_at, local_at, ready_at, free_at, lists_at, links_at, memory_at;
};

static inline struct operation *bk_agent_operations(struct bk_agent *agent)
{
    return (struct operation *)(void *)((char *)agent + agent->operations_at);
}

/* A ring, a stack or the heads of lists: the numbers at an offset. */
static inline uint32_t *bk_agent_numbers(struct bk_agent *agent, size_t at)
{
    return (uint32_t *)(void *)((char *)agent + at);
}

/* agent_cache.c: the states of keys. */
/* A key's state that was learned within the time to live; NULL when there is none. */
const struct known *bk_agent_cache_find(const struct bk_agent *agent, int64_t now_ns, uint64_t key);
/* The same of any age. */
const struct known *bk_agent_cache_peek(const struct bk_agent *agent, uint64_t key);
void bk_agent_cache_store(struct bk_agent *agent, int64_t now_ns, uint64_t key, const struct known *known);
void bk_agent_cache_forget(struct bk_agent *agent, uint64_t key);
/* NULL when the cache does not hold the key. Only of the protocols that keep one. */
struct local_count *bk_agent_cache_local(const struct bk_agent *agent, uint64_t key);
/* Of a table of so many sets, the first entry of the key's. */
size_t bk_agent_set_at(uint64_t key, uint32_t sets);

/* agent_read.c: from the newest bucket on. */
void bk_agent_start_reader(struct bk_agent *agent, struct operation *operation, int64_t bucket);
void bk_agent_take_rows(struct bk_agent *agent, struct operation *operation,
                        const struct bk_outcome *outcome);
/* A row was stored in the bucket, so that it is empty no longer. */
void bk_agent_forget_empty(struct bk_agent *agent, uint64_t key, int64_t bucket);

/* agent_change.c: the settings that hold at a row's time. */
enum bk_status bk_agent_history_fits(const struct bk_agent_config *config, const struct bk_history *history);
const struct bk_strategy *bk_agent_settings(const struct bk_agent *agent, int64_t time_ns);
/* The next line of a greatest age: the first of its multiples that is later than the time, and of the era
 * whose age it is. INT64_MAX: there is none. */
int64_t bk_agent_line_above(const struct bk_agent *agent, int64_t time_ns);
/* The last line that is not later than the time; INT64_MIN: there is none. */
int64_t bk_agent_line_at(const struct bk_agent *agent, int64_t time_ns);

#endif
