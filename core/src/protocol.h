/* SPDX-License-Identifier: MIT */
/* The memory of an agent: one block from its host, laid out by bk_agent_init(), without pointers inside.
 * Every part begins at an offset that the header keeps, aligned for any member (align_up()), so the block may
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
#ifndef BUCKETING_PROTOCOL_H
#define BUCKETING_PROTOCOL_H

#include "bucketing/agent.h"

/* For functions that few rows need: inlined, they would make their callers save registers for every row. */
#ifdef __GNUC__
#define OUT_OF_LINE __attribute__((noinline))
#else
#define OUT_OF_LINE
#endif

/* The low bits of a ticket: the place of its operation + 1, which is never 0. */
#define TICKET_BITS   16u
#define TICKET_PLACES UINT64_C(0xffff)
#define BIT(column)   (1u << (column))
#define COLUMNS_ALL   (BIT(BK_COLUMNS) - 1)
#define CACHE_WAYS    4u
/* No roll goes beyond this bucket, whatever bucket the host reports. */
#define BUCKET_LAST (INT64_MAX - 1)
/* The most that a row adds, and the value at which a counter that is read and written back saturates; a
 * larger value cannot have been stored. */
#define WEIGHT_MAX (INT64_MAX - 1)

/* A key's state row, as known at learned_ns. */
struct known {
    uint32_t mask; /* columns with a value; 0: the key has no state row */
    int64_t columns[BK_COLUMNS];
    int64_t learned_ns;
};

/* The mapping of numbers to buckets: `rows` numbers per bucket, where number `first` is the first of
 * `bucket`. */
struct filling {
    int64_t bucket, first, rows;
};

/* An operation: what the agent does for one call of its host; enum step has its steps. */
struct operation {
    uint32_t step; /* enum step, or a step of the protocol */
    bool is_read, ack_due, is_retry, fired, counted, was_unknown;
    bool is_listed;   /* it is on the list of its key */
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
    uint64_t ticket;   /* of the action that waits for its outcome; 0: none does */
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
    uint64_t actions;            /* number of the last action that needs an outcome; see next_ticket() */
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

/* The states of keys. A key's state, if it was learned within the time to live; otherwise NULL. */
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

/* Begins the reader of an operation at `bucket`, the newest one; handles the rows found. */
void bk_agent_start_reader(struct bk_agent *agent, struct operation *operation, int64_t bucket);
void bk_agent_take_rows(struct bk_agent *agent, struct operation *operation,
                        const struct bk_outcome *outcome);
/* Called when a row was stored in the bucket, which is then no longer empty; only if memory_sets is not 0. */
void bk_agent_forget_empty(struct bk_agent *agent, uint64_t key, int64_t bucket);

/* Whether a history fits a config, and the settings at a row's time. */
enum bk_status bk_agent_history_fits(const struct bk_agent_config *config, const struct bk_history *history);
const struct bk_strategy *bk_agent_settings(const struct bk_agent *agent, int64_t time_ns);
/* A line is a multiple of max_age_ns, at which buckets end (bk_strategy_max_age()); each era has the lines of
 * its own max_age_ns. Returns the first line after time_ns; INT64_MAX: there is none. */
int64_t bk_agent_line_above(const struct bk_agent *agent, int64_t time_ns);
/* The last line at or before time_ns; INT64_MIN: there is none. */
int64_t bk_agent_line_at(const struct bk_agent *agent, int64_t time_ns);

/* A protocol: how the rows of a key find their bucket, and how agents agree on the next one. Each protocol
 * is one table of functions. An agent's config selects its protocol, which never changes.
 *
 * The functions set the operation's next step; protocol.c returns the step's action to the host, and passes
 * its outcome back. A protocol may have further steps in addition to those of enum step. */
/* The steps that protocols share. The numbers of a protocol's own steps begin with STEP_OF_PROTOCOL. */
enum step {
    STEP_FREE,   /* the operation is unused */
    STEP_PARKED, /* waits until another operation, which requests the same key, has learned enough or has
                    ended */
    STEP_LOOK,   /* reads the state, to find the bucket */
    STEP_PUT,    /* puts the row into its bucket */
    STEP_ROWS,   /* reads the rows of the reader's step */
    STEP_DONE,   /* the result must be reported to the host */
    STEP_OF_PROTOCOL
};

/* The action of a protocol's own step. A strict read of the state is at a SERIAL level, and a strict write is
 * conditional. */
struct step_action {
    enum bk_action_kind kind; /* a write of the state is BK_ACT_WRITE_STATE, also when it is strict */
    enum {
        PLAIN,
        STRICT,
        STRICT_BY_COUNTER,
        STRICT_BY_SOURCE
    } how; /* with BK_COUNTER_LWT,
              BK_SOURCE_INCREMENTAL */
};

struct protocol {
    /* Begin a write, or a read. */
    void (*write)(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
    void (*read)(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
    /* Chooses the row's bucket; the state is known. */
    void (*route)(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
    /* Called once the row is stored and acknowledged; NULL: the operation ends. */
    void (*placed)(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
    /* For the protocol's own steps: their actions, what more an action needs (NULL: nothing), and what its
     * outcome changes. */
    const struct step_action *actions; /* from STEP_OF_PROTOCOL on */
    void (*fill)(const struct bk_agent *agent, const struct operation *operation, struct bk_action *out);
    void (*outcome)(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                    const struct bk_outcome *outcome);
    /* Only for protocols in which one operation sends requests on behalf of all of the agent's operations on
     * the key; else NULL. asks(): whether the operation is that one. is_served(): whether it can proceed
     * without a request. resume(): makes it proceed, send a request, or park. */
    bool (*asks)(const struct operation *operation);
    bool (*is_served)(const struct bk_agent *agent, struct operation *operation, int64_t now_ns);
    void (*resume)(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
    /* Only for protocols with a lock row for each key; else NULL. Whether the operation is reading or
     * writing the lock row, and whether its plan is a write of the lock row. */
    bool (*is_locking)(const struct operation *operation);
    bool (*plans_lock)(const struct operation *operation);
    /* Only for protocols that count in the state row; else NULL. count() plans the write of the
     * state for the row, once the known state is current; written() is called after that write (NULL: the
     * operation ends). */
    void (*count)(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
    void (*written)(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
    /* Implements bk_agent_view(); NULL: the protocol keeps no state to show. */
    bool (*view)(const struct bk_agent *agent, int64_t now_ns, uint64_t key, int64_t *bucket,
                 bool *is_changing);
    uint32_t step_count;  /* the number of its last step, plus 1 */
    bool has_local_count; /* it uses a struct local_count for each key */
};

extern const struct protocol bk_protocol_routed;      /* the bucket depends only on the row */
extern const struct protocol bk_protocol_single;      /* BK_SINGLE */
extern const struct protocol bk_protocol_locked;      /* BK_LOCKED */
extern const struct protocol bk_protocol_three_state; /* BK_THREE_STATE */
extern const struct protocol bk_protocol_guarded;     /* BK_GUARDED */
extern const struct protocol bk_protocol_number;      /* BK_SOURCE_COUNTER, BK_SOURCE_LWT */
extern const struct protocol bk_protocol_lease;       /* BK_SOURCE_LEASE */
extern const struct protocol bk_protocol_sum;         /* BK_SOURCE_INCREMENTAL, BK_SOURCE_SCAN */
extern const struct protocol bk_protocol_memory;      /* BK_SOURCE_MEMORY */

/* The protocols by number, since an agent's memory contains no pointers. */
extern const struct protocol *const bk_protocols[];
/* The number of a checked config's protocol. */
uint32_t bk_protocol_of(const struct bk_agent_config *config);

static inline const struct protocol *bk_protocol(const struct bk_agent *agent)
{
    return bk_protocols[agent->protocol];
}

/* The life of an operation, and the functions that all protocols share.
 *
 *     write                                      read
 *       | protocol->write()                        | protocol->read()
 *       +--- knows too little ---> LOOK or steps --+--- of the protocol
 *       |                                          |
 *      PUT   again into the same bucket           ROWS   as often as the read plan says
 *       |                                          |
 *       | the row is acknowledged                  |
 *       | protocol->placed(): steps of             |
 *       | the protocol that count and roll         |
 *       |                                          |
 *      DONE ---> free                             DONE ---> free
 *
 * Before each action it may be PARKED while another operation of the agent requests the same key, or asleep
 * before a retry. */
/* After this many lost conditional updates in a row the operation gives up and leaves the change to its
 * contenders. */
#define CAS_TRIES_MAX 64u

/* Moves the operation to another step. */
static inline void bk_operation_go(struct operation *operation, uint32_t step)
{
    operation->step = step;
    operation->tries = 0;
    operation->is_retry = false;
}

static inline void bk_operation_finish(struct operation *operation, enum bk_operation_status status)
{
    bk_operation_go(operation, STEP_DONE);
    operation->status = status;
}

/* Repeats the action, after a pause if it was refused; false: no retries are left. */
bool bk_operation_try_again(const struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                            bool is_unknown, uint32_t retries);
/* Repeats an action that failed, or else ends the operation: its row is stored in any case. An unconfirmed
 * copy of the state is then dropped from the cache. */
void bk_operation_try_again_or_end(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                                   bool is_unknown, uint32_t retries);
/* Handles the outcome of the action under way. */
void bk_operation_outcome(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                          const struct bk_outcome *outcome);
/* Fills the action of the operation's step, which is not STEP_DONE. */
void bk_operation_fill(const struct bk_agent *agent, const struct operation *operation,
                       struct bk_action *out);

static inline bool bk_outcome_is_unknown(const struct bk_outcome *outcome)
{
    return outcome->kind == BK_OUTCOME_UNKNOWN;
}

/* For writes: finds the bucket by the cached state, or reads the state first. */
void bk_operation_find_bucket(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
/* Routes the row to the newest known bucket. */
void bk_operation_route_newest(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
/* For reads: reads the state first, since others may have begun a bucket since this agent's last look. */
void bk_operation_look(struct bk_agent *agent, struct operation *operation, int64_t now_ns);

/* Converts the outcome of a read to a state row; false when it cannot have been stored. */
bool bk_operation_read_known(const struct bk_outcome *outcome, int64_t asked_ns, struct known *out);
/* Stores the state in the operation, and in the cache unless the cache has a newer one. */
void bk_operation_learn(struct bk_agent *agent, struct operation *operation, const struct known *state,
                        int64_t now_ns);
/* The complete state row that the current step has just stored. */
void bk_operation_stored(const struct operation *operation, struct known *out);
/* Plans to write the next bucket, from the known state. */
void bk_operation_plan_raise(struct operation *operation, int64_t now_ns);
/* The columns that the plan writes; all columns for a new row. */
uint32_t bk_operation_written_mask(const struct operation *operation);

/* now + times x span, or INT64_MAX - 1 where that would overflow. */
int64_t bk_agent_saturating_add(int64_t now_ns, uint64_t times, int64_t span_ns);
/* A pseudorandom wait from 0.5 to 1.5 times the mean, different for each agent and wait, so that contenders
 * do not collide again. */
int64_t bk_agent_spread(const struct bk_agent *agent, int64_t mean_ns, uint32_t nth);

/* Lists of the operations on a key that send requests for others, are parked, or access the key's
 * lock row, in the order of their numbers. The cost of a call is at most linear in the number of these
 * operations, of all keys with the same hash. */
/* Updates the lists after an operation has changed its step; only for agents that have such lists. */
void bk_turns_update(struct bk_agent *agent, uint32_t number);
struct operation *bk_turns_first(struct bk_agent *agent, uint64_t key); /* NULL: none */
struct operation *bk_turns_next(struct bk_agent *agent, const struct operation *operation);
/* Whether the operation sends requests on behalf of all of the agent's operations on its key. */
bool bk_turns_asks(const struct bk_agent *agent, const struct operation *operation);
/* Whether another operation on its key does so, so that this one must wait. */
bool bk_turns_is_taken(struct bk_agent *agent, const struct operation *operation);
/* Whether another operation is reading or writing its key's lock row. */
bool bk_turns_is_locking(struct bk_agent *agent, const struct operation *operation);

/* Sets the operation's weight, which is above 0 if the row fires. */
void bk_operation_weigh(const struct bk_agent *agent, struct operation *operation);
/* Whether the bucket is full with this count, by the settings at the time of the operation's row. */
bool bk_operation_is_full(const struct bk_agent *agent, const struct operation *operation, int64_t count);

#endif
