/* SPDX-License-Identifier: MIT */
/* The memory of an agent: one block from its host, laid out by bk_agent_init(), without pointers inside.
 * Every part begins at an offset that the header keeps, a multiple of alignof(max_align_t), so the block may
 * be moved. What each operation uses lies together: the beginning of the ring next to the header, and the top
 * of a full stack next to the first operations. The cache begins at a multiple of 64, so that an entry is in
 * one line of the processor's cache if the block begins at one:
 *
 *                    struct                  entries
 *     0             +-----------------------+
 *                   | struct bk_agent       |  1: the config, how many of each part are in use, the offsets
 *     ready_at      +-----------------------+
 *                   | uint32_t              |  config.operations: ring of operations with a pending action
 *     free_at       +-----------------------+
 *                   | uint32_t              |  config.operations: stack of unused operations
 *     operations_at +-----------------------+
 *                   | struct operation      |  config.operations, found by their numbers
 *     cache_at      +-----------------------+
 *                   | struct cache_entry    |  cache_sets x 4: the states of keys, 4 to a set
 *     local_at      +-----------------------+
 *                   | struct local_count    |  one for each cache entry, if the protocol uses them
 *     lists_at      +-----------------------+
 *                   | uint32_t              |  list_count: the first operation of a list, by the key's hash
 *     links_at      +-----------------------+
 *                   | uint32_t              |  list_count: for each operation, the next one on its list
 *     memory_at     +-----------------------+
 *                   | struct memory_entry   |  memory_sets x 4: windows known to be empty, 4 keys to a set
 *     size          +-----------------------+
 *
 * There are no lists if the protocol's operations never wait for each other. */
#ifndef BUCKETING_AGENT_PRIVATE_H
#define BUCKETING_AGENT_PRIVATE_H

#include "bucketing/agent.h"

/* For functions that few rows need: inlined, they would make their callers save registers for every row. */
#ifdef __GNUC__
#define OUT_OF_LINE __attribute__((noinline))
#else
#define OUT_OF_LINE
#endif

#define BIT(column) (1u << (column))
#define COLUMNS_ALL (BIT(BK_COLUMN_COUNT) - 1)
#define CACHE_WAYS  4u
/* No roll goes beyond this bucket, whatever bucket the host reports. */
#define BUCKET_LAST (INT64_MAX - 1)
/* The most that a row adds, and the value at which a counter that is read and written back saturates; a
 * larger value cannot have been stored. */
#define WEIGHT_MAX (INT64_MAX - 1)

/* A key's state row, as known at learned_ns. */
struct known {
    uint32_t mask; /* columns with a value; 0: the key has no state row */
    int64_t columns[BK_COLUMN_COUNT];
    int64_t learned_ns;
};

/* The mapping of numbers to buckets: `rows` numbers per bucket, where number `first` is the first of
 * `bucket`. */
struct filling {
    int64_t bucket, first, rows;
};

/* An operation: what the agent does for one call of its host; operation.h describes its steps. */
struct operation {
    uint32_t step; /* enum step, or a step of the protocol */
    bool is_read, ack_due, waits_for_outcome, is_retry, fired, counted, was_unknown;
    bool is_listed;   /* turns.c: it is on the list of its key */
    bool is_outdated; /* it neither uses nor learns empty windows: the history was replaced since it began, or
                         the agent stored a row of the key while it waited */
    bool adds;        /* the counter that is being written includes this row */
    bool is_placed;   /* the row is stored */
    bool is_new_key;  /* BK_GUARDED: a read found no state row */
    bool start_is_kept; /* BK_GUARDED: the start of the bucket below `bucket` is stored in the table of starts
                         */
    uint32_t tries;     /* number of retries of the current action */
    uint32_t lost; /* number of conditional updates that lost to another agent, in counting or in locking */
    uint32_t recounts; /* number of repeated counts after a conditional count of unknown outcome;
                          BK_SOURCE_MEMORY: number of buckets that it found full */
    uint32_t waits;    /* number of waits for a lock that another agent holds */
    uint64_t key;
    int64_t bucket;
    struct bk_row row; /* in a read, time_ns is its now_ns, and sequence the newest sequence number */
    int64_t weight;    /* what the row adds to the counter; above 0 when it fired */
    int64_t begun_ns;  /* by the agent's clock; not in a checkpoint */
    int64_t asked_ns;  /* when the current action became ready; begun_ns before the first action */
    int64_t wake_ns;   /* INT64_MAX: not asleep */
    int64_t total;     /* value of the counter column */
    int64_t end_ns;    /* BK_GUARDED, while looking up an old start: end of the bucket */
    struct known known;
    struct known next; /* what the step writes to the state; `mask` has the columns to write */
    struct filling
        filling;     /* BK_SOURCE_LWT, BK_SOURCE_LEASE: mapping of the numbers that the step reserves */
    int64_t lock[2]; /* owner and end as last read; both 0 in a released lock */
    enum bk_operation_status status;
    /* Only reads use what follows; in an operation that was never a read since it was cleared it is 0. */
    struct bk_query query;
    struct bk_history_reader reader;
};

/* What an agent remembers of a key's empty windows. */
struct memory_entry {
    uint64_t key;
    uint64_t used; /* number of the last use, by memory_uses; 0: never */
    struct bk_empties empties;
};

/* What only this agent knows of a key. BK_SOURCE_LEASE: the numbers in [next, end) are reserved for its
 * rows. BK_SOURCE_INCREMENTAL, BK_SOURCE_SCAN: the number of rows that it has stored since its last count,
 * and when that was. BK_SOURCE_MEMORY: the number of rows of a bucket, which may not be the state's bucket
 * any more. */
struct local_count {
    int64_t next, end;
    struct filling filling; /* mapping of these numbers */
    uint64_t rows;
    int64_t bucket, counted_ns;
    bool is_counted; /* BK_SOURCE_MEMORY: `rows` is complete */
    bool is_cold;    /* there may have been earlier rows: of this agent, before the cache evicted the key, or
                        (BK_SOURCE_MEMORY) of another agent */
};

struct cache_entry {
    bool is_used;
    uint64_t key;
    struct known known;
};

/* The members that each operation needs come first. */
struct bk_agent {
    uint32_t protocol; /* number of the protocol, see protocol.h */
    uint32_t cache_sets;
    uint32_t ready_begin, ready_count; /* of the ring */
    uint32_t free_count;
    uint32_t operations_met; /* operations below this number began at least once; the others, most of them,
                                are not initialised */
    uint32_t list_count;
    uint32_t memory_sets; /* sets of the table of empty windows */
    int64_t wake_ns;      /* not later than the earliest wake_ns of the operations */
    size_t ready_at, free_at, operations_at, cache_at, local_at, lists_at, links_at, memory_at;
    uint64_t memory_uses;
    struct bk_agent_stats stats; /* the counters; the gauges are 0 */
    struct bk_agent_config config;
};

static inline struct operation *bk_agent_operations(struct bk_agent *agent)
{
    return (struct operation *)(void *)((char *)agent + agent->operations_at);
}

/* The array of numbers at an offset: a ring, a stack, or the heads of lists. */
static inline uint32_t *bk_agent_numbers(struct bk_agent *agent, size_t at)
{
    return (uint32_t *)(void *)((char *)agent + at);
}

/* agent_cache.c: the states of keys. */
/* A key's state, if it was learned within the time to live; otherwise NULL. */
const struct known *bk_agent_cache_find(const struct bk_agent *agent, int64_t now_ns, uint64_t key);
/* A key's state of any age; NULL when there is none. */
const struct known *bk_agent_cache_peek(const struct bk_agent *agent, uint64_t key);
void bk_agent_cache_store(struct bk_agent *agent, int64_t now_ns, uint64_t key, const struct known *known);
void bk_agent_cache_forget(struct bk_agent *agent, uint64_t key);
/* NULL when the key is not in the cache. Only for protocols with has_local_count. */
struct local_count *bk_agent_cache_local(const struct bk_agent *agent, uint64_t key);
/* The index of the first entry of the key's set, in a table of `sets` sets. */
static inline size_t bk_agent_set_at(uint64_t key, uint32_t sets)
{
    /* Fibonacci hashing: the high half of the product selects the set. */
    uint64_t high = key * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    return (size_t)(high * sets >> 32) * CACHE_WAYS;
}

/* agent_read.c: begins the reader of an operation at `bucket`, the newest one; handles the rows found. */
void bk_agent_start_reader(struct bk_agent *agent, struct operation *operation, int64_t bucket);
void bk_agent_take_rows(struct bk_agent *agent, struct operation *operation,
                        const struct bk_outcome *outcome);
/* Called when a row was stored in the bucket, which is then no longer empty; only if memory_sets is not 0. */
void bk_agent_forget_empty(struct bk_agent *agent, uint64_t key, int64_t bucket);

/* agent_change.c: whether a history fits a config, and the settings at a row's time. */
enum bk_status bk_agent_history_fits(const struct bk_agent_config *config, const struct bk_history *history);
const struct bk_strategy *bk_agent_settings(const struct bk_agent *agent, int64_t time_ns);
/* A line is a multiple of max_age_ns, at which buckets end (bk_strategy_max_age()); each era has the lines of
 * its own max_age_ns. Returns the first line after time_ns; INT64_MAX: there is none. */
int64_t bk_agent_line_above(const struct bk_agent *agent, int64_t time_ns);
/* The last line at or before time_ns; INT64_MIN: there is none. */
int64_t bk_agent_line_at(const struct bk_agent *agent, int64_t time_ns);

#endif
