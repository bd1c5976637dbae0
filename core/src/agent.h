/* SPDX-License-Identifier: MIT */
/* The inside of an agent: one block of memory that holds the header, the operations, the cache with what the
 * agent alone knows of its keys, two rings of operation numbers, and the memory of empty windows. Everything
 * is found by offset, so the block may be moved. */
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

/* What an operation waits for, or is about to ask. */
enum step {
    STEP_FREE,
    STEP_ROUTE_READ, /* the state, to find the bucket */
    STEP_PUT,
    STEP_RESET,      /* post-change: the counter back to 0 */
    STEP_FRESH_READ, /* the state again, to count on it */
    STEP_ADD,
    STEP_TOTAL,
    STEP_COUNT, /* write the counter, and the roll where it is due */
    STEP_LOCK,
    STEP_LOCK_STALE, /* take over a lock that has run out */
    STEP_LOCKED_READ,
    STEP_ROLL,
    STEP_UNLOCK,
    STEP_ROWS,
    STEP_GRANT_READ, /* BK_GUARDED, these: the state at SERIAL */
    STEP_EXTEND,     /* the grant, to beyond the row */
    STEP_KEEP_START, /* stored before the roll takes it out of the state */
    STEP_GRANT_ROLL,
    STEP_OLD_START,  /* of a bucket that the state tells nothing about */
    STEP_PARKED,     /* nothing, until the operation that asks for the same key has ended to */
    STEP_NUMBER_ADD, /* of a source, these: 1 to the counter, for the row's number */
    STEP_NUMBER_TOTAL,
    STEP_NUMBER_READ, /* the state at SERIAL */
    STEP_NUMBER_TAKE,
    STEP_SUM_ROWS, /* what the bucket holds, or has got since */
    STEP_SUM_STORE,
    STEP_SUM_FRESH, /* the state again: nobody else has raised the bucket */
    STEP_OWN_READ,  /* BK_SOURCE_MEMORY, these: the state */
    STEP_OWN_ROWS,
    STEP_OWN_RAISE,
    STEP_DONE
};

/* A key's state row, as it was at a time. */
struct known {
    uint32_t mask; /* 0: the key has no state row; else all columns */
    int64_t columns[BK_COLUMN_COUNT];
    int64_t learned_ns;
};

struct operation {
    enum step step;
    bool is_read, ack_due, waits_for_outcome, is_retry, fired, counted, was_unknown;
    bool is_outdated;                          /* begun by a history that was replaced since */
    bool adds;                                 /* what STEP_COUNT writes has this row in it */
    bool is_placed, is_new_key, start_is_kept; /* BK_GUARDED: the row is stored; a read found no state row */
    uint32_t tries;                            /* of the action as it stands, after the first */
    uint32_t lost;     /* conditional updates that somebody else got ahead of, in counting or in locking */
    uint32_t recounts; /* after a conditional count whose outcome was unknown; of BK_SOURCE_MEMORY: buckets
                          that it found full */
    uint32_t waits;    /* for a lock that somebody holds */
    uint64_t key;
    int64_t bucket;
    struct bk_row row; /* of a read: time_ns is its now, sequence the newest */
    struct bk_query query;
    int64_t weight;   /* what the row adds to the counter; above 0 when it fired */
    int64_t asked_ns; /* when the action under way became ready */
    int64_t wake_ns;  /* INT64_MAX: not asleep */
    int64_t total;    /* of the counter column */
    int64_t end_ns;   /* STEP_OLD_START: of the bucket */
    struct known known;
    struct known next; /* what the step writes to the state; mask: the columns written */
    int64_t lock[2];   /* owner and end as last seen; both 0 in a row that was released */
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
struct own {
    int64_t next, end;
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
    uint32_t cache_sets;
    uint32_t ready_begin, ready_count; /* ring of operations with something to ask */
    uint32_t free_count;
    int64_t wake_ns;      /* the earliest of the operations asleep, or sooner */
    uint32_t memory_sets; /* of what is remembered of empty windows */
    uint64_t memory_uses;
    size_t operations_at, cache_at, own_at, ready_at, free_at,
        memory_at; /* own_at: one an entry of the cache */
};

struct operation *bk_agent_operations(struct bk_agent *agent);
/* A key's state that was learned within the time to live; NULL when there is none. */
const struct known *bk_agent_cache_find(const struct bk_agent *agent, int64_t now_ns, uint64_t key);
/* The same of any age. */
const struct known *bk_agent_cache_peek(const struct bk_agent *agent, uint64_t key);
void bk_agent_cache_store(struct bk_agent *agent, int64_t now_ns, uint64_t key, const struct known *known);
void bk_agent_cache_forget(struct bk_agent *agent, uint64_t key);
/* NULL when the cache does not hold the key. Only of the sources that keep one. */
struct own *bk_agent_cache_own(const struct bk_agent *agent, uint64_t key);
bool bk_agent_has_own(const struct bk_agent_config *config);
/* Of a table of so many sets, the first entry of the key's. */
size_t bk_agent_set_at(uint64_t key, uint32_t sets);

/* agent.c: of all operations on a key, the one that asks for what the others wait for. */
bool bk_agent_asks(const struct bk_agent *agent, const struct operation *operation);
bool bk_agent_somebody_asks(struct bk_agent *agent, const struct operation *operation);

/* agent_steps.c: goes on with an operation, sets its next step from what is known. */
void bk_agent_begin_write(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
void bk_agent_begin_read(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
void bk_agent_take_outcome(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                           const struct bk_outcome *outcome);
/* Fills the action of the operation's step. */
void bk_agent_fill_action(const struct bk_agent *agent, const struct operation *operation,
                          struct bk_action *out);
/* The bucket that a row of this time goes to. */
int64_t bk_agent_bucket_at(const struct bk_agent_config *config, const struct known *known, int64_t time_ns);
bool bk_agent_is_changing(const struct known *known, int64_t time_ns);
void bk_agent_go(struct operation *operation, enum step step);
void bk_agent_finish(struct operation *operation, enum bk_operation_status status);
/* The state row as the outcome tells it; false when nobody can have stored it. */
bool bk_agent_read_known(const struct bk_outcome *outcome, int64_t asked_ns, struct known *out);
/* Into the operation, and into the cache unless it holds something newer. */
void bk_agent_learn(struct bk_agent *agent, struct operation *operation, const struct known *state,
                    int64_t now_ns);
/* The same action again, after a pause when it was refused; false when that was the last try. */
bool bk_agent_try_again(const struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                        bool is_unknown, uint32_t retries);
/* The whole state row as the step under way has just stored it. */
void bk_agent_stored(const struct operation *operation, struct known *out);
/* A conditional update that has lost this often in a row is given up: others are at it. */
#define CAS_TRIES_MAX 64u
/* now + times x span, or the last time that is one. */
int64_t bk_agent_later(int64_t now_ns, uint64_t times, int64_t span_ns);

/* agent_read.c: from the newest bucket on. */
void bk_agent_start_reader(struct bk_agent *agent, struct operation *operation, int64_t bucket);
void bk_agent_take_rows(struct bk_agent *agent, struct operation *operation,
                        const struct bk_outcome *outcome);
/* A row was stored in the bucket, so that it is empty no longer. */
void bk_agent_forget_empty(struct bk_agent *agent, uint64_t key, int64_t bucket);

/* agent_change.c: the settings that hold at a row's time. */
enum bk_status bk_agent_history_fits(const struct bk_agent_config *config, const struct bk_history *history);
const struct bk_strategy *bk_agent_settings(const struct bk_agent *agent, int64_t time_ns);

/* agent_count.c: what is to be written, given the state as known. */
void bk_agent_plan_reset(const struct bk_agent *agent, struct operation *operation);
void bk_agent_plan_count(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
void bk_agent_plan_roll(const struct bk_agent *agent, struct operation *operation, int64_t now_ns);
/* By the settings of the time of the operation's row. */
bool bk_agent_is_full(const struct bk_agent *agent, const struct operation *operation, int64_t count);

/* agent_lock.c: the lock row around a roll. */
void bk_agent_lock(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
void bk_agent_lock_taken(struct operation *operation);
/* The lock row holds something else than the condition named. */
void bk_agent_lock_denied(const struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                          const struct bk_outcome *outcome);
void bk_agent_unlock(struct operation *operation);
/* Between half and one and a half of the mean, other for each agent and wait, so that contenders part. */
int64_t bk_agent_spread(const struct bk_agent *agent, int64_t mean_ns, uint32_t nth);

/* agent_guarded.c: rows placed by committed grants. */
void bk_agent_guarded_write(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
/* As far as what is known carries; then it asks, or is parked. */
void bk_agent_guarded_go_on(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
void bk_agent_guarded_outcome(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                              const struct bk_outcome *outcome);
void bk_agent_guarded_fill(const struct operation *operation, struct bk_action *out);
/* Whether it can go on without asking for its key. */
bool bk_agent_guarded_is_served(const struct bk_agent *agent, struct operation *operation);
/* The bucket of the row that was counted is the newest as far as is known. */
bool bk_agent_guarded_may_roll(const struct bk_agent *agent, struct operation *operation);
void bk_agent_guarded_roll(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
bool bk_agent_guarded_view(const struct known *known, int64_t time_ns, int64_t *bucket, bool *is_changing);

/* agent_number.c: numbers before the row is stored. */
bool bk_agent_is_numbered(const struct bk_agent_config *config);
void bk_agent_number_write(struct bk_agent *agent, struct operation *operation);
bool bk_agent_number_is_served(const struct bk_agent *agent, const struct operation *operation);
void bk_agent_number_outcome(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                             const struct bk_outcome *outcome);

/* agent_sum.c: rows counted after they are stored. */
bool bk_agent_is_summed(const struct bk_agent_config *config);
void bk_agent_sum_after_put(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
void bk_agent_sum_outcome(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                          const struct bk_outcome *outcome);
/* Plans to write the next bucket, from what is known. */
void bk_agent_plan_raise(struct operation *operation, int64_t now_ns);
void bk_agent_sum_fill(const struct bk_agent *agent, const struct operation *operation,
                       struct bk_action *out);

/* agent_own.c: the writer counts for itself. */
void bk_agent_own_write(struct bk_agent *agent, struct operation *operation, int64_t now_ns);
bool bk_agent_own_is_served(const struct bk_agent *agent, const struct operation *operation, int64_t now_ns);
void bk_agent_own_outcome(struct bk_agent *agent, struct operation *operation, int64_t now_ns,
                          const struct bk_outcome *outcome);

#endif
