/* SPDX-License-Identifier: MIT */
/* An agent: one process of the application, as a state machine without I/O, clock or randomness.
 *
 * The host tells it what happens (a row to write, a read to answer, an action's outcome, a deadline that has
 * come) with the time by the agent's own clock, and then takes its actions until there are none. Each
 * operation has at most one action under way; its outcome is definite (applied, not applied with the current
 * value, refused) or unknown (timed out: perhaps applied, perhaps later). The agent keeps a bounded cache of
 * key states with a time to live, retries a row into the bucket that it first gave it, and counts, rolls and
 * resets as its coordination says.
 *
 * Memory is the caller's and fixed: bk_agent_size() bytes, aligned as for max_align_t, without pointers
 * inside, so it may be copied, moved and stored. Nothing is allocated. An agent may be used by one thread at
 * a time; agents share nothing. No function keeps a pointer. Times are nanoseconds; `now_ns` is the agent's
 * own clock, which may be wrong and may go back.
 *
 * Each protocol emits PUT_ROW, READ_ROWS, ACK and DONE, and these actions (names without the prefix BK_ACT_):
 *
 *     unbucketed, time, hash  none
 *     single, rmw             READ_STATE WRITE_STATE
 *     single, lwt             READ_STATE CAS_STATE
 *     single, column          READ_STATE WRITE_STATE ADD_COUNTER READ_COUNTER
 *     locked, rmw             READ_STATE WRITE_STATE CAS_LOCK
 *     locked, lwt             READ_STATE CAS_STATE CAS_LOCK
 *     locked, column          READ_STATE WRITE_STATE ADD_COUNTER READ_COUNTER CAS_LOCK
 *     three-state, rmw        READ_STATE WRITE_STATE
 *     three-state, lwt        READ_STATE CAS_STATE
 *     three-state, column     READ_STATE WRITE_STATE ADD_COUNTER READ_COUNTER
 *     guarded, column         READ_STATE CAS_STATE ADD_COUNTER READ_COUNTER READ_START WRITE_START
 *     count, external         none
 *     count, counter          ADD_COUNTER READ_COUNTER
 *     count, lwt              READ_STATE CAS_STATE
 *     count, lease            READ_STATE CAS_STATE
 *     count, incremental      READ_STATE CAS_STATE COUNT_ROWS
 *     count, scan             READ_STATE WRITE_STATE COUNT_ROWS
 *     count, memory           READ_STATE WRITE_STATE COUNT_ROWS
 *
 * Example: a host that answers each action at once writes a row.
 *
 *     bk_strategy_probabilistic(9, 40, &strategy);
 *     struct bk_agent_config config = bk_agent_config_default(&strategy);
 *     size_t size = bk_agent_size(&config);
 *     void *memory = malloc(size);
 *     struct bk_agent *agent;
 *     struct bk_action action;
 *     uint32_t operation;
 *     if (memory == NULL || bk_agent_init(memory, size, &config, &agent) != BK_OK)
 *         return false;
 *     bk_agent_write(agent, now_ns, key, &row, &operation);
 *     while (bk_agent_next(agent, &action)) {
 *         if (action.kind == BK_ACT_ACK || action.kind == BK_ACT_DONE)
 *             continue;
 *         struct bk_outcome outcome = ask_database(&action);
 *         bk_agent_outcome(agent, now_ns, action.operation, &outcome);
 *     }
 *     free(memory);
 */
#ifndef BUCKETING_AGENT_H
#define BUCKETING_AGENT_H

#include "bucketing/api.h"
#include "bucketing/history.h"
#include "bucketing/read.h"
#include "bucketing/route.h"

BK_BEGIN

/* How agents agree on a roll of a key. */
enum bk_coordination {
    BK_SINGLE, /* the agent that reaches the threshold writes bucket + 1 and counter 0, as if it were the only
                  agent */
    BK_LOCKED, /* the same under a lock row: acquire, read again, roll if still due, release */
    BK_THREE_STATE, /* a change of bucket is stored with a date, `lead` ahead of now. Until that date rows
                       still go to the old bucket, so a bucket gets threshold x 2^bits rows (the mean between
                       two rolls) plus rate x lead: choose a lower threshold where rate x lead is large */
    BK_GUARDED      /* a row is placed only under a committed grant, see docs/guarded.md */
};

/* How the counter is kept. */
enum bk_counter {
    BK_COUNTER_RMW,   /* an int column, read and written back: concurrent agents overwrite each other's
                         increments, and buckets exceed the threshold */
    BK_COUNTER_LWT,   /* an int column, compare-and-set; rolls and resets are conditional too */
    BK_COUNTER_COLUMN /* a Cassandra counter column, less a base that is stored in the state row. BK_GUARDED
                         always counts so, with one counter for each (key, bucket) and no base */
};

#define BK_GRANT_DOUBLINGS_MAX 3u

/* For BK_COUNT: where a row's number comes from, or how the rows of a bucket are counted.
 *
 * The first four give each row a number before it is stored, and number / rows is its bucket; the last three
 * keep the newest bucket in the state row, and raise it when a count shows that the bucket is full. */
enum bk_source {
    BK_SOURCE_EXTERNAL, /* the row brings its number, such as an order number */
    BK_SOURCE_COUNTER,  /* Cassandra's counter column: add 1, then read it; not atomic, so concurrent rows
                           may read the same total, and an increment of unknown outcome may count twice */
    BK_SOURCE_LWT,   /* the state row's counter, compare-and-set for each row: the most expensive, since all
                        agents that write a key contend for each of its rows */
    BK_SOURCE_LEASE, /* the same, but one update takes many numbers, which the agent then hands out; the
                        numbers left when the agent crashes, or when its cache evicts the key, are lost */
    BK_SOURCE_INCREMENTAL, /* now and then the agent counts the rows that are newer than the last counted one,
                              and adds their number to a sum, by an update conditional on the sum and on the
                              last counted row. When the condition fails, another agent has counted further; a
                              row that is stored with a place before the last counted one is never counted */
    BK_SOURCE_SCAN, /* now and then the agent runs count(*), which reads every row of the bucket every time */
    BK_SOURCE_MEMORY /* the agent counts the rows that it writes. After its start it reads how many rows the
                        newest bucket holds; if it holds any, the agent moves to the next bucket and reads
                        again. Exact as long as a key has one writer, except for rows that are being written
                        during such a read */
};

struct bk_agent_config {
    struct bk_strategy strategy; /* of BK_COUNT without a greatest age (BK_ERROR_AGE) */
    struct bk_history
        history; /* the eras of its settings, all of the strategy's kind. With count 0 `strategy` holds for
                    all times; otherwise only its kind is used. BK_COUNT: a bucket is full by the settings of
                    the time of the row that asks; BK_SOURCE_EXTERNAL and BK_SOURCE_COUNTER keep no state
                    that could tell where new settings begin, and have one era at most (BK_ERROR_ERA_KIND) */
    enum bk_coordination coordination; /* for kinds with bk_kind_fires(); must be BK_SINGLE for all others */
    enum bk_counter counter;
    enum bk_source source; /* BK_COUNT only; else BK_SOURCE_EXTERNAL */
    uint64_t lease_rows;   /* BK_SOURCE_LEASE: numbers taken at once; 1 to INT64_MAX - 1 */
    uint64_t every_rows; /* BK_SOURCE_INCREMENTAL, BK_SOURCE_SCAN: this agent counts again after it has stored
                            this many rows in the key's newest bucket; 0: not by rows. When the cache has
                            evicted the key, the agent does not know that number, and starts from a random one
                            below every_rows: then n rows pass without a count with a chance of at most exp(-n
                            / every_rows), and the mean between two counts stays every_rows */
    int64_t every_ns; /* the same two sources: this agent counts again after a row that comes this long after
                         its last count of the key, and after the first row once the cache has evicted the
                         key; 0: not by time. At least one of every_rows and every_ns is above 0 */
    int64_t lead_ns;  /* BK_THREE_STATE: >= 0 */
    int64_t cache_ttl_ns;     /* >= 0; 0: every row reads the state. With BK_SINGLE and BK_LOCKED an agent may
                                 write into a closed bucket for this long. BK_GUARDED does not use it, since what
                                 an agent knows of a key stays true */
    uint32_t cache_entries;   /* >= 1; rounded up to a multiple of 4 */
    uint32_t operations;      /* the most that can be under way at once: 1 to 65535 */
    uint32_t retries;         /* of each action that may be repeated, after the first try */
    uint32_t counter_retries; /* of an increment whose outcome is unknown (BK_ACT_ADD_COUNTER; with
                                 BK_COUNTER_LWT the state is read again first), which counts twice when the
                                 first try took effect after all */
    int64_t retry_backoff_ns; /* the n-th refusal of an action is followed by a wait of n times this; >= 0. A
                                 try of unknown outcome is repeated without a wait. The read and the update of
                                 a number are tries of one action. BK_GUARDED waits otherwise for grants,
                                 rolls and starts: from half to one and a half, at random, of 2^n times this
                                 (n at most 6), or, after an unknown outcome, of the time that the try took
                                 when that is longer; 0: no wait */
    int64_t lock_lasts_ns;    /* BK_LOCKED: a lock older than this is taken over; > 0. An agent holds the lock
                                 when its own update was applied, or when the row names it as owner with the end
                                 that it asked for. The holder writes the state only before that end by its own
                                 clock, and tries to release the lock before the operation ends */
    int64_t lock_backoff_ns;  /* BK_LOCKED: mean wait before the next try at a lock that another agent holds;
                                 there are `retries` such tries; > 0 */
    int64_t grant_ns; /* BK_GUARDED: how far beyond now a grant reaches; > 0. A contended grant is longer, at
                         most 2^BK_GRANT_DOUBLINGS_MAX times this */
    uint32_t remember_keys; /* BK_TIME: for how many keys the agent remembers empty windows (struct
                               bk_empties); 0: for none. Rounded up to a multiple of 4 */
    int64_t late_ns;        /* BK_TIME: how long after a window's end its rows may still arrive; >= 0 */
    int64_t clock_bound_ns; /* BK_GUARDED: no agent's clock is further than this from the true time, and
                               no row is admitted whose time is further than this ahead of it; >= 0 */
    uint64_t agent_id; /* unique among agents. BK_LOCKED names the lock's owner by it, so there it is not 0;
                          BK_LOCKED and BK_GUARDED also derive their random waits from it */
};

/* What the agent asks of its host. */
enum bk_action_kind {
    BK_ACT_PUT_ROW,     /* store row in (key, bucket) */
    BK_ACT_READ_STATE,  /* the state row of key; serial: at a SERIAL level */
    BK_ACT_WRITE_STATE, /* plain write of the state row's columns in `mask` */
    BK_ACT_CAS_STATE,   /* conditional: IF the columns in if_mask equal `expected` THEN set those in `mask`;
                           if_mask 0: IF NOT EXISTS */
    BK_ACT_ADD_COUNTER, /* add amount to the counter column of key; with BK_GUARDED, of (key, bucket) */
    BK_ACT_READ_COUNTER,
    BK_ACT_READ_START,  /* BK_GUARDED: the row (key, bucket) of the table of starts, columns[0]; plain */
    BK_ACT_WRITE_START, /* BK_GUARDED: plain write of that row's one column, columns[0] */
    BK_ACT_CAS_LOCK,    /* as CAS_STATE, on the key's lock row: columns BK_LOCK_OWNER and BK_LOCK_UNTIL */
    BK_ACT_COUNT_ROWS,  /* how many rows (key, bucket) has; with a mask, only those after the place
                           columns[BK_PLACE_TIME], columns[BK_PLACE_ID], in the order of time, then id */
    BK_ACT_READ_ROWS,   /* ask buckets low..high of key, each for up to `rows` rows of the step's times */
    BK_ACT_ACK, /* needs no outcome: the row is stored, and the client may be told. Only counting follows */
    BK_ACT_DONE /* needs no outcome: the operation has ended, with `status`; its number may be reused */
};

/* Positions of the columns of a state row, and of a lock row; bit n of a mask stands for column n. A row that
 * exists has all of its columns: the first write sets them all. */
enum bk_column { BK_BUCKET, BK_COUNTER, BK_LAST_CHANGE, BK_NEXT_CHANGE, BK_COLUMN_COUNT };
enum bk_lock_column { BK_LOCK_OWNER, BK_LOCK_UNTIL };
/* In a state row of BK_SOURCE_LWT or BK_SOURCE_LEASE, BK_COUNTER is how many numbers were given out so far,
 * BK_BUCKET is the bucket of the last of them, and BK_NUMBER_FIRST is the first number of that bucket; 0 when
 * that is BK_BUCKET times the rows of the first era, as it is until settings change. In a state row of
 * BK_SOURCE_INCREMENTAL, BK_COUNTER is how many rows of BK_BUCKET were counted so far, and these two columns
 * are the place of the last of them; both INT64_MIN: none was counted. */
enum bk_number_column { BK_NUMBER_FIRST = BK_LAST_CHANGE };
enum bk_sum_column { BK_SUM_TIME = BK_LAST_CHANGE, BK_SUM_ID = BK_NEXT_CHANGE };
/* A row's place within its partition, in the order of a timeuuid: time_ns, then its id as a signed number. */
enum bk_place_column { BK_PLACE_TIME, BK_PLACE_ID };
/* In a state row of BK_GUARDED, times in [START, UNTIL) belong to BUCKET, and times in [BEFORE, START) to
 * BUCKET - 1. The first bucket starts at INT64_MIN. */
enum bk_guarded_column {
    BK_GUARDED_BUCKET = BK_BUCKET,
    BK_GUARDED_BEFORE,
    BK_GUARDED_START,
    BK_GUARDED_UNTIL
};

enum bk_operation_status {
    BK_OPERATION_OK,
    BK_OPERATION_REFUSED,
    BK_OPERATION_UNKNOWN,
    BK_OPERATION_TOO_LONG /* of a read: it reached the limit of partitions before it was complete */
};

struct bk_action {
    enum bk_action_kind kind;
    uint32_t operation;
    uint64_t key;
    int64_t bucket; /* PUT_ROW, ACK, DONE of a write: where the row went */
    struct bk_row row;
    bool is_retry;
    bool serial;
    int64_t amount; /* ADD_COUNTER: 1, or the row's weight */
    uint32_t mask, if_mask;
    int64_t columns[BK_COLUMN_COUNT], expected[BK_COLUMN_COUNT];
    struct bk_read_step step;        /* READ_ROWS */
    enum bk_operation_status status; /* DONE */
    bool fired,
        counted; /* DONE of a write: whether the row fired, and whether its increment is known to be stored */
    uint64_t rows_found, partitions_asked, partitions_spared; /* DONE of a read */
    enum bk_order order;                                      /* the same */
};

enum bk_outcome_kind {
    BK_OUTCOME_APPLIED,     /* definite: done, or read */
    BK_OUTCOME_NOT_APPLIED, /* definite: the condition failed; columns hold the current values */
    BK_OUTCOME_REFUSED,     /* definite: not applied */
    BK_OUTCOME_UNKNOWN      /* timed out: perhaps applied, perhaps later */
};

struct bk_outcome {
    enum bk_outcome_kind kind;
    uint32_t mask; /* the columns that have a value; 0: the row does not exist */
    int64_t columns[BK_COLUMN_COUNT];
    int64_t counter; /* READ_COUNTER */
    uint64_t rows; /* READ_ROWS: rows found in the step. COUNT_ROWS: rows counted; when above 0, columns holds
                      the place of the last one, and mask both bits */
    bool saw_older; /* READ_ROWS of a range: as for bk_read_found_range() */
    uint64_t
        empty; /* READ_ROWS: bit i: bucket_low + i has no row; buckets beyond the 64th cannot be reported */
};

struct bk_agent;

/* What an agent has done since bk_agent_init() or bk_agent_load(), for a service to export: counters, which
 * only rise, and gauges, which describe the present. */
struct bk_agent_stats {
    uint64_t rows_stored, rows_refused, rows_unknown; /* writes that ended, by their status */
    uint64_t reads_complete, reads_incomplete;        /* reads that ended: with BK_OPERATION_OK; otherwise */
    uint64_t cache_hits; /* writes that needed no read for their bucket: the cache had it, or the strategy
                            needs no state */
    uint64_t rolls;      /* writes of a state row with a higher bucket that are known to be applied */
    uint64_t retries;    /* actions handed out again */
    uint64_t unknown;    /* outcomes that were BK_OUTCOME_UNKNOWN */
    uint32_t under_way;  /* gauge: operations begun and not ended */
    uint32_t parked;     /* gauge: those that wait for another operation on their key */
    uint32_t asleep;     /* gauge: those that wait for bk_agent_tick() */
    int64_t oldest_ns;   /* gauge: time since the oldest operation began; 0: none is under way */
};

/* A config to begin with: BK_SINGLE, BK_COUNTER_RMW, BK_SOURCE_EXTERNAL; cache_ttl_ns 5 s, cache_entries
 * 100,000, operations 64, retries 3, counter_retries 0, retry_backoff_ns 10 ms, lead_ns 10 s, lock_lasts_ns 5
 * s, lock_backoff_ns 100 ms, grant_ns 10 s, lease_rows 100, every_rows 1, late_ns 1 min, all else 0. The
 * caller must also set agent_id where several agents share keys, and for BK_GUARDED clock_bound_ns and
 * counter (BK_COUNTER_COLUMN).
 *
 * @param strategy  copied; NULL: BK_UNBUCKETED
 * @return          plain, without pointers; costs a copy of 0.7 kB */
struct bk_agent_config bk_agent_config_default(const struct bk_strategy *strategy);

/* Whether an agent can be made of the config.
 *
 * @param config  NULL: BK_ERROR_NULL
 * @return        BK_OK; an error of bk_strategy_check() or bk_history_check(); or the first that applies of
 *                BK_ERROR_AGE, COORDINATION, SOURCE, LEAD, CACHE, OPERATIONS, LOCK, GRANT, RANGE, BACKOFF and
 *                ERA_KIND */
enum bk_status bk_agent_check(const struct bk_agent_config *config);

/* How much memory an agent of this config needs: some 0.6 kB an operation, 64 to 112 bytes an entry of the
 * cache, and 0.5 kB a remembered key.
 *
 * @param config  0 is returned for NULL and for a config that bk_agent_check() refuses
 * @return        bytes; the same on every call, and on every machine of the same word size */
size_t bk_agent_size(const struct bk_agent_config *config);

/* Makes an agent that knows nothing. Costs the clearing of its cache.
 *
 * @param memory  the caller's, aligned as for max_align_t, kept until the agent is no longer used; there
 *                is nothing else to free. It may be moved between two calls: the agent is then at the
 *                new address
 * @param size    of it in bytes, bk_agent_size(config) or more
 * @param config  copied
 * @param out     set to the agent, which is `memory`; NULL on errors
 * @return        BK_OK; BK_ERROR_NULL (any pointer), BK_ERROR_MEMORY (too small or not aligned),
 *                those of bk_agent_check(). Errors leave the memory untouched */
enum bk_status bk_agent_init(void *memory, size_t size, const struct bk_agent_config *config,
                             struct bk_agent **out);

/* Begins to write a row. Actions follow until BK_ACT_DONE of this operation: it is written into one bucket,
 * and a retry puts it into the same. With BK_THREE_STATE a row that waited for its state so long that two
 * changes may have passed is refused, since the state no longer tells where it belongs; with BK_GUARDED one
 * whose time is further ahead of now than clock_bound_ns; with a greatest age one for which the next bucket
 * cannot be written.
 *
 * @param now_ns     the agent's clock; the row's own time is row->time_ns, fixed from here on
 * @param key        any number that stands for the key, the same in all agents
 * @param row        copied
 * @param operation  set to the operation's number, below config.operations; no other operation has it until
 *                   BK_ACT_DONE
 * @return           BK_OK; BK_ERROR_NULL, BK_ERROR_BUSY (all operations are under way): nothing has
 *                   changed then
 *
 * Cost: constant; where operations wait for others on their key (BK_LOCKED, BK_GUARDED, BK_SOURCE_LEASE,
 * BK_SOURCE_MEMORY), linear in the operations on the same key. */
enum bk_status bk_agent_write(struct bk_agent *agent, int64_t now_ns, uint64_t key, const struct bk_row *row,
                              uint32_t *operation);

/* Begins to read the newest rows of a key. BK_ACT_READ_ROWS names the buckets; the rows stay with the host.
 *
 * @param birth_ns         of the key's first row, as for bk_read_latest(); only BK_TIME looks at it
 * @param newest_sequence  of the key, from 0; only BK_COUNT with BK_SOURCE_EXTERNAL looks at it
 * @param rows             wanted, >= 1
 * @param plan             BK_PLAN_DEFAULT: the usual one of the strategy
 * @return                 as for bk_agent_write(), and those of bk_read_latest()
 *
 * Cost: as bk_agent_write(). */
enum bk_status bk_agent_read_latest(struct bk_agent *agent, int64_t now_ns, uint64_t key, int64_t birth_ns,
                                    uint64_t newest_sequence, uint64_t rows, enum bk_plan plan,
                                    uint32_t *operation);

/* Begins any read.
 *
 * @param query  copied; the agent sets now_ns and the starts: it uses the starts that it knows of the key
 *               where its coordination makes them exact (BK_GUARDED, and BK_THREE_STATE up to its lead)
 * @return       as for bk_agent_write(), and those of bk_read_begin() */
enum bk_status bk_agent_read(struct bk_agent *agent, int64_t now_ns, uint64_t key, uint64_t newest_sequence,
                             const struct bk_query *query, uint32_t *operation);

/* The agent uses this history from now on, for example after a deployment of its host. Rows that have a
 * bucket keep it, and retries go there. All agents agree as long as each hears of a date before that date
 * comes; later, agents that have heard of it and agents that have not disagree. A read under way ends its era
 * by the old history, and continues by this one.
 *
 * @param history  copied; all its eras are of the strategy's kind
 * @return         BK_OK; BK_ERROR_NULL, BK_ERROR_AGE, those of bk_history_check(), BK_ERROR_ERA_KIND (also
 *                 where the source refuses eras): nothing has changed then
 *
 * Cost: linear in operations and remember_keys. */
enum bk_status bk_agent_change(struct bk_agent *agent, const struct bk_history *history);

/* Reports the outcome of the operation's action: one outcome for each action, in any order and at any time
 * after bk_agent_next() gave it. NOT_APPLIED for an action without a condition, and a state that cannot have
 * been stored (bucket below 0), count as refused.
 *
 * @param operation  that of the action
 * @param outcome    copied
 * @return           BK_OK; BK_ERROR_NULL, BK_ERROR_OPERATION when no action is under way for it: nothing
 *                   has changed then
 *
 * Cost: as bk_agent_write(), and once more for each operation on the key that was parked until this outcome;
 * with remember_keys, of a row that is stored, linear in config.operations besides.
 */
enum bk_status bk_agent_outcome(struct bk_agent *agent, int64_t now_ns, uint32_t operation,
                                const struct bk_outcome *outcome);

/* Takes the next action, in the order in which operations became ready.
 *
 * @param out  every member is set, to 0 where the kind of action does not use it; untouched when there is no
 *             action
 * @return     false when there is no action, until another function is called; false when either pointer is
 *             NULL
 *
 * Cost: constant. */
bool bk_agent_next(struct bk_agent *agent, struct bk_action *out);

/* The time, by the agent's clock, when bk_agent_tick() should be called; it may be early. INT64_MAX when no
 * operation waits, and for NULL. Constant.
 */
int64_t bk_agent_deadline(const struct bk_agent *agent);

/* Wakes the operations whose time has come; before the deadline it does nothing.
 *
 * @return  BK_OK; BK_ERROR_NULL
 *
 * Cost: linear in config.operations once the deadline has come, else constant. */
enum bk_status bk_agent_tick(struct bk_agent *agent, int64_t now_ns);

/* A row or a read of the key will come soon: prefetches its place in the agent's memory into the processor's
 * cache, where the compiler knows how (GCC and Clang do). It changes nothing; NULL does nothing. Constant. */
void bk_agent_prefetch(const struct bk_agent *agent, uint64_t key);

/* The bucket that a row would get now, from the cache alone: for charts and oracles. It changes nothing.
 * With BK_SOURCE_LEASE the bucket of the agent's next number; with BK_SOURCE_MEMORY the bucket that has room
 * by the agent's local count.
 *
 * @param bucket       set when it is known
 * @param is_changing  set at the same time: whether a change of bucket has a date that has not come yet
 * @return             false when the cache does not know the bucket, for NULL, and for strategies other than
 *                     BK_PROBABILISTIC, BK_WEIGHTED and the two sources above
 *
 * Cost: constant. */
bool bk_agent_view(const struct bk_agent *agent, int64_t now_ns, uint64_t key, int64_t *bucket,
                   bool *is_changing);

/* Reports what the agent has done, and what it has under way. A checkpoint does not keep the counters. The
 * age of an operation that was loaded from a checkpoint counts from its last action, or from its beginning if
 * it had none.
 *
 * @param out  set whole; all 0 when agent is NULL. NULL does nothing
 *
 * Cost: linear in config.operations. */
void bk_agent_stats(const struct bk_agent *agent, int64_t now_ns, struct bk_agent_stats *out);

/* The set of four entries in which the cache keeps the key's state. A fifth key of a set evicts one, so a
 * cache of n entries may keep fewer than n keys. config: not NULL, and not checked. Constant.
 */
uint32_t bk_agent_cache_set(const struct bk_agent_config *config, uint64_t key);

/* A checkpoint: all that the agent knows and has under way, as bytes that mean the same on every machine. It
 * may be taken between any two calls, and does not change the agent; its size depends on what the agent knows
 * at that time. A loaded agent continues as the saved one would have: for each action that had no outcome,
 * the host still has to report one (BK_OUTCOME_UNKNOWN when the host died in between). An old checkpoint
 * restores old knowledge: numbers of a lease and local counts are then used twice.
 *
 * Returns the bytes that bk_agent_save() would write; 0 for NULL. The cost of this and of the next two is
 * linear in operations, cache and remembered keys. */
size_t bk_agent_state_size(const struct bk_agent *agent);

/* @param state  the caller's, of `size` bytes, bk_agent_state_size() or more; any alignment
 * @return       BK_OK; BK_ERROR_NULL, BK_ERROR_MEMORY (too small): nothing is written then */
enum bk_status bk_agent_save(const struct bk_agent *agent, void *state, size_t size);

/* As bk_agent_init(), with the agent as it was saved in the `size` bytes of state. Bytes that are not
 * a saved state do no harm.
 *
 * @param config  must agree with the saved agent's in kind, coordination, counter, source, cache_entries,
 *                operations, remember_keys and agent_id; the history is the saved one
 * @param state   read only, any alignment
 * @param out     set to the agent; NULL on errors
 * @return        as bk_agent_init(); BK_ERROR_CHECKPOINT, also of another BK_AGENT_LAYOUT (api.h): the
 *                contents of memory are then undefined */
enum bk_status bk_agent_load(void *memory, size_t memory_size, const struct bk_agent_config *config,
                             const void *state, size_t size, struct bk_agent **out);

BK_END
#endif
