/* SPDX-License-Identifier: MIT */
/* An agent: one process of the application, as a state machine without I/O, clock or randomness.
 *
 * The host reports each event to the agent, with the time by the agent's own clock: a row to write, a read to
 * answer, the outcome of an action, a deadline that was reached. It then takes the agent's actions until
 * there are none. Each operation has at most one action under way. The outcome of an action is definite
 * (applied, not applied with the current value, refused) or unknown (timed out: it may have been applied, or
 * may still be applied later). The agent keeps a bounded cache of key states with a time to live, retries a
 * row in the bucket that it first chose for the row, and counts, rolls and resets counters as its
 * coordination requires.
 *
 * The caller provides the memory, of fixed size: bk_agent_size() bytes, aligned as for max_align_t. It
 * contains no pointers, so it may be copied, moved and stored. The agent allocates nothing. One agent may be
 * used by one thread at a time; agents share nothing. No function keeps a pointer that it was passed. Times
 * are nanoseconds; `now_ns` is the agent's own clock, which may be wrong and may go backwards.
 *
 * Every protocol emits PUT_ROW, READ_ROWS, ACK and DONE, and these actions (names without the prefix
 * BK_ACT_):
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
 * What the store must guarantee, and what breaks without it:
 *
 *  - A row has one primary key, which contains its id: PUT_ROW may be sent and applied several times.
 *    Otherwise a retry stores the row twice.
 *  - Plain reads and writes of the state, of starts and of rows overlap: W + R > RF, such as QUORUM for both.
 *    Otherwise an agent does not see a roll, or a reader does not see a row that was acknowledged.
 *  - CAS_STATE, CAS_LOCK and reads with `serial` are linearisable: SERIAL, or LOCAL_SERIAL while all agents
 *    are in one data centre. A column that is written by a conditional update is never written by a plain one
 *    at the same time, since their timestamps are of two kinds. Otherwise two agents both roll, or both hold
 *    the lock.
 *  - WRITE_STATE takes the time of the write as its timestamp, and the last write wins. A clock that is ahead
 *    hides later writes until it is reached.
 *  - The driver itself neither repeats ADD_COUNTER, CAS_STATE and CAS_LOCK nor sends them speculatively.
 *    Otherwise an increment counts twice, or an update is taken for another agent's.
 *
 * Example: a host that performs each action synchronously writes a row.
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
 *         bk_agent_report(agent, now_ns, action.ticket, &outcome);
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

/** How agents agree on the roll of a key, that is, on the move to its next bucket. */
enum bk_coordination {
    BK_SINGLE, /**< the agent that reaches the threshold writes bucket + 1 and counter 0, as if it were the
                  only agent */
    BK_LOCKED, /**< as BK_SINGLE, but under a lock row: acquire the lock, read the state again, roll if the
                  roll is still due, release the lock */
    BK_THREE_STATE, /**< a change of bucket is stored with the date at which it takes effect, `lead` after the
                       time of the roll. Rows go to the old bucket until that date, so a bucket gets threshold
                       x 2^bits rows (the mean between two rolls) plus rate x lead: choose a lower threshold
                       where rate x lead is large */
    BK_GUARDED /**< a row is placed only under a grant that a conditional update has stored: the newest bucket
                  takes the rows with times in it, whatever failed, and whatever clocks within
                  clock_bound_ns show */
};

/** How the counter is kept. */
enum bk_counter {
    BK_COUNTER_RMW,   /**< an int column, read and written back: concurrent agents overwrite each other's
                         increments, and buckets exceed the threshold */
    BK_COUNTER_LWT,   /**< an int column, compare-and-set; rolls and resets are conditional too */
    BK_COUNTER_NATIVE /**< a Cassandra counter column, minus a base that is stored in the state row.
                         BK_GUARDED always uses a counter column, with one counter for each (key, bucket) and
                         no base */
};

#define BK_GRANT_DOUBLINGS_MAX 3u

/** For BK_KIND_COUNT: where a row's number comes from, or how the rows of a bucket are counted.
 *
 * The first four assign a number to each row before the row is stored, and the row's bucket is number / rows.
 * The last three keep the newest bucket in the state row, and raise it when a count shows that the bucket is
 * full; they do not work with shards (BK_ERROR_SHARDS). */
enum bk_source {
    BK_SOURCE_EXTERNAL, /**< the row brings its number, such as an order number */
    BK_SOURCE_COUNTER,  /**< Cassandra's counter column: add 1, then read it; not atomic, so concurrent rows
                           may read the same total, and an increment of unknown outcome may count twice */
    BK_SOURCE_LWT,   /**< the state row's counter, compare-and-set for each row: the most expensive, since all
                        agents that write a key contend for each of its rows */
    BK_SOURCE_LEASE, /**< as BK_SOURCE_LWT, but one update reserves many numbers, which the agent then assigns
                        to its rows. The numbers that are left when the agent crashes, or when its cache
                        evicts the key, are lost */
    BK_SOURCE_INCREMENTAL, /**< from time to time the agent counts the rows that are newer than the last
                              counted row, and adds their number to a sum, by an update that is conditional on
                              the sum and on the last counted row. When the condition fails, another agent has
                              counted more rows. A row that is later stored before the last counted row, in
                              the partition's order, is never counted */
    BK_SOURCE_SCAN,  /**< from time to time the agent runs count(*), which reads every row of the bucket every
                        time */
    BK_SOURCE_MEMORY /**< the agent counts the rows that it writes. After it starts it reads how many rows the
                        newest bucket holds; if that bucket holds any, the agent moves to the next bucket and
                        reads again. The count is exact as long as a key has one writer, except for rows that
                        are being written during such a read */
};

struct bk_agent_config {
    struct bk_strategy
        strategy; /**< a strategy of BK_KIND_COUNT must not have a greatest age (BK_ERROR_AGE) */
    struct bk_history
        history; /**< the eras of the strategy's settings, all of its kind. With count 0, `strategy` applies
                    at all times; otherwise only its kind is used. BK_KIND_COUNT: whether a bucket is full is
                    decided by the settings at the time of the row to be placed. BK_SOURCE_EXTERNAL and
                    BK_SOURCE_COUNTER keep no state that could show where new settings begin, so they allow
                    one era at most (BK_ERROR_ERA_KIND) */
    enum bk_coordination
        coordination; /**< for kinds with bk_kind_fires(); must be BK_SINGLE for all others */
    enum bk_counter counter;
    enum bk_source source; /**< BK_KIND_COUNT only; must be BK_SOURCE_EXTERNAL for all other kinds */
    uint64_t lease_rows;   /**< BK_SOURCE_LEASE: numbers that one update reserves; 1 to INT64_MAX - 1 */
    uint64_t
        every_rows;   /**< BK_SOURCE_INCREMENTAL, BK_SOURCE_SCAN: this agent counts again after it has stored
                         this   many rows in the key's newest bucket; 0: the number of rows triggers no count.
                         When the   cache has evicted the key, the agent does not know how many rows it has
                         stored   since   the last count, and starts from a random number below every_rows. The
                         probability   that   n rows pass without a count is then at most exp(-n / every_rows),
                         and the mean   number   of rows between two counts is still every_rows */
    int64_t every_ns; /**< BK_SOURCE_INCREMENTAL, BK_SOURCE_SCAN: this agent counts again after a row that it
                         handles this long or longer after its last count of the key, and after the first row
                         since the cache evicted the key; 0: time triggers no count. At least one of
                         every_rows and every_ns must be above 0 */
    int64_t lead_ns;  /**< BK_THREE_STATE: >= 0 */
    int64_t cache_ttl_ns; /**< >= 0; 0: the state is read for every row. With BK_SINGLE and BK_LOCKED an agent
                             may write into a closed bucket for this long. BK_GUARDED does not use it, since
                             the cached facts about a key never become false */
    uint32_t cache_entries; /**< >= 1; rounded up to a multiple of 4 */
    uint32_t operations;    /**< the largest number of operations that can be under way at once: 1 to 65535 */
    uint32_t retries; /**< the largest number of retries of an action that may be repeated, not counting the
                         first try */
    uint32_t counter_retries; /**< the largest number of retries of an increment whose outcome is unknown
                                 (BK_ACT_ADD_COUNTER; with BK_COUNTER_LWT the state is read again first). If
                                 the first try did take effect, the increment is counted twice */
    int64_t retry_backoff_ns; /**< after the n-th refusal of an action the agent waits n times this before it
                                 retries; >= 0. A try of unknown outcome is repeated without a wait. The read
                                 and the update of a number count as tries of one action. For grants, rolls
                                 and starts BK_GUARDED waits differently: a random time from 0.5 to 1.5 times
                                 2^n times this (n at most 6) or, after an unknown outcome, from 0.5 to 1.5
                                 times the time that the try took where that is longer; 0: no wait */
    int64_t lock_lasts_ns; /**< BK_LOCKED: a lock older than this may be taken over by another agent; > 0. An
                              agent holds the lock when its own update was applied, or when the lock row names
                              this agent as owner with the end that it requested. The holder writes the state
                              only before that end by its own clock, and tries to release the lock before the
                              operation ends */
    int64_t lock_backoff_ns; /**< BK_LOCKED: mean wait before the next try to acquire a lock that another
                                agent holds; > 0. There are at most `retries` such tries */
    int64_t grant_ns; /**< BK_GUARDED: how long after the current time a grant ends; > 0. A contended grant
                         lasts longer, at most 2^BK_GRANT_DOUBLINGS_MAX times this */
    uint32_t remember_keys; /**< BK_KIND_TIME: the number of keys for which the agent remembers empty windows
                               (struct bk_empties); 0: none. Rounded up to a multiple of 4 */
    int64_t late_ns; /**< BK_KIND_TIME: how long after a window's end its rows may still arrive; >= 0 */
    int64_t clock_bound_ns; /**< the largest difference between any agent's clock and the true time, for
                               bk_agent_warnings(). BK_GUARDED: >= 0; a row whose time is more than this ahead
                               of the agent's clock is refused */
    uint64_t agent_id; /**< unique among agents. BK_LOCKED stores it as the owner of a lock, so it must not be
                          0 there; BK_LOCKED and BK_GUARDED also derive their random waits from it */
    uint64_t reserved[8]; /**< 0: room for settings of later versions */
};

/** What the agent asks its host to do. `columns`, `mask` and other words in backquotes are members of struct
 * bk_action. */
enum bk_action_kind {
    BK_ACT_PUT_ROW,     /**< store row in (key, bucket) */
    BK_ACT_READ_STATE,  /**< read the state row of key, at a SERIAL consistency level if `serial` is true */
    BK_ACT_WRITE_STATE, /**< plain write of the state row's columns in `mask` */
    BK_ACT_CAS_STATE, /**< conditional update of the state row: IF the columns in `if_mask` equal `expected`,
                         set the columns in `mask`; if_mask 0: IF NOT EXISTS. The columns in
                         `if_null_mask`, some of those in `if_mask`, must be null instead */
    BK_ACT_ADD_COUNTER,  /**< add `amount` to the counter column of key; with BK_GUARDED, to that of (key,
                            bucket) */
    BK_ACT_READ_COUNTER, /**< read that counter column */
    BK_ACT_READ_START,   /**< BK_GUARDED: plain read of the row (key, bucket) of the table of starts; its one
                            column is columns[0] of the outcome */
    BK_ACT_WRITE_START,  /**< BK_GUARDED: plain write of that row's one column, columns[0] */
    BK_ACT_CAS_LOCK, /**< as BK_ACT_CAS_STATE, but on the key's lock row, whose columns are BK_LOCK_OWNER and
                        BK_LOCK_UNTIL */
    BK_ACT_COUNT_ROWS, /**< count the rows of (key, bucket); with a mask, only the rows after
                          (columns[BK_PLACE_TIME], columns[BK_PLACE_ID]), in the order of time, then id */
    BK_ACT_READ_ROWS,  /**< query the buckets step.bucket_low to step.bucket_high of key, each for up to
                          step.rows rows with times in the range of the step */
    BK_ACT_ACK, /**< needs no outcome: the row is stored, and the host may acknowledge it to its client. Only
                   counting follows */
    BK_ACT_DONE /**< needs no outcome: the operation has ended, with `status`; its number may be reused */
};

/** The index of each column of a state row, and of a lock row; bit n of a mask represents column n. A row
 * that exists has all of its columns, since the first write sets them all. There is one exception: when a
 * state row is deleted while an update is under way, that update may leave a row of the columns that it set.
 * The agent treats the other columns as 0. Its next conditional update requires that they are null and sets
 * all columns; BK_GUARDED refuses such a row. */
enum bk_column {
    BK_COLUMN_BUCKET,
    BK_COLUMN_COUNTER,
    BK_COLUMN_LAST_CHANGE,
    BK_COLUMN_NEXT_CHANGE,
    BK_COLUMNS
};
enum bk_lock_column { BK_LOCK_OWNER, BK_LOCK_UNTIL };
/** In a state row of BK_SOURCE_LWT or BK_SOURCE_LEASE, BK_COLUMN_COUNTER is the number of row numbers
 * assigned so far, BK_COLUMN_BUCKET is the bucket of the last one, and BK_NUMBER_FIRST is the first number of
 * that bucket. BK_NUMBER_FIRST is 0 when the first number is BK_COLUMN_BUCKET times the rows of the first
 * era, as it is until settings change. In a state row of BK_SOURCE_INCREMENTAL, BK_COLUMN_COUNTER is the
 * number of rows of BK_COLUMN_BUCKET counted so far, and BK_SUM_TIME and BK_SUM_ID are the place of the last
 * counted row; both are INT64_MIN when no row was counted. */
enum bk_number_column { BK_NUMBER_FIRST = BK_COLUMN_LAST_CHANGE };
enum bk_sum_column { BK_SUM_TIME = BK_COLUMN_LAST_CHANGE, BK_SUM_ID = BK_COLUMN_NEXT_CHANGE };
/** A row's place within its partition, in the order of a timeuuid: time_ns, then its id as a signed number.
 */
enum bk_place_column { BK_PLACE_TIME, BK_PLACE_ID };
/** In a state row of BK_GUARDED, times in [START, UNTIL) belong to BUCKET, and times in [BEFORE, START) to
 * BUCKET - 1. The first bucket starts at INT64_MIN. */
enum bk_guarded_column {
    BK_GUARDED_BUCKET = BK_COLUMN_BUCKET,
    BK_GUARDED_BEFORE,
    BK_GUARDED_START,
    BK_GUARDED_UNTIL
};

enum bk_operation_status {
    BK_OPERATION_OK,
    BK_OPERATION_REFUSED,
    BK_OPERATION_UNKNOWN,
    BK_OPERATION_TOO_LONG /**< a read reached its limit of partitions before it was complete */
};

struct bk_action {
    enum bk_action_kind kind;
    uint32_t operation;
    uint64_t ticket; /**< names this action for bk_agent_report(); 0: it needs no outcome */
    uint64_t key;
    /** In all actions of a write, the row and, as soon as it is chosen, its bucket; else 0. READ_START,
     * WRITE_START and COUNT_ROWS have the bucket that they ask for. Where counted buckets have shards,
     * PUT_ROW and ACK have the partition (bk_strategy_shards()), and all others the bucket as a whole. */
    int64_t bucket;
    struct bk_row row;
    bool is_retry;
    bool serial;
    uint32_t if_null_mask;
    int64_t amount; /**< ADD_COUNTER: 1, or the row's weight */
    uint32_t mask, if_mask;
    int64_t columns[BK_COLUMNS], expected[BK_COLUMNS];
    struct bk_read_step step;        /**< READ_ROWS */
    enum bk_operation_status status; /**< DONE */
    bool fired, counted; /**< DONE of a write: whether the row added to the counter, and whether that
                            increment is known to be stored */
    uint64_t rows_found, partitions_asked, partitions_spared; /**< DONE of a read */
    enum bk_order order;                                      /**< DONE of a read */
};

enum bk_outcome_kind {
    BK_OUTCOME_UNKNOWN, /**< timed out: it may have been applied, or may still be applied later. It is 0, so
                           an outcome that a host forgot to set acknowledges nothing */
    BK_OUTCOME_APPLIED, /**< definite: done, or read */
    BK_OUTCOME_NOT_APPLIED, /**< definite: the condition failed; columns hold the current values */
    BK_OUTCOME_REFUSED      /**< definite: not applied */
};

struct bk_outcome {
    enum bk_outcome_kind kind;
    uint32_t mask; /**< the columns that have a value; 0: the row does not exist */
    int64_t columns[BK_COLUMNS];
    int64_t counter; /**< READ_COUNTER */
    uint64_t rows;   /**< READ_ROWS: the number of rows found in the step. COUNT_ROWS: the number of rows
                        counted; when   it is above 0, `columns` has the place of the last counted row, and
                        `mask`   has both bits */
    bool saw_older;  /**< READ_ROWS of a range: as for bk_read_found_range() */
    uint64_t empty;  /**< READ_ROWS: bit i is set when bucket_low + i has no row; only the first 64 buckets of
                        a  step can be reported */
};

struct bk_agent;

/** What an agent has done since bk_agent_init() or bk_agent_load(), for a service to export: counters, which
 * only rise, and gauges, which describe the present. */
struct bk_agent_stats {
    uint64_t rows_stored, rows_refused, rows_unknown; /**< writes that have ended, per status */
    uint64_t reads_complete,
        reads_incomplete; /**< reads that have ended, with BK_OPERATION_OK and with another status */
    uint64_t cache_hits;  /**< writes that read no state, since the cache had it or the strategy needs none */
    uint64_t rolls;       /**< writes of a state row with a higher bucket that are known to be applied */
    uint64_t retries;     /**< actions that were repeated */
    uint64_t unknown;     /**< outcomes of kind BK_OUTCOME_UNKNOWN */
    uint32_t under_way;   /**< gauge: operations that have begun and not ended */
    uint32_t parked;      /**< gauge: operations that wait for another operation on their key */
    uint32_t asleep;      /**< gauge: operations that wait for a time, until bk_agent_tick() */
    int64_t oldest_ns;    /**< gauge: time since the oldest operation began; 0: none is under way */
};

/** The default configuration of a strategy: BK_SINGLE, BK_COUNTER_RMW, BK_SOURCE_EXTERNAL; cache_ttl_ns 5 s,
 * cache_entries 100,000, operations 64, retries 3, counter_retries 0, retry_backoff_ns 10 ms, lead_ns 10 s,
 * lock_lasts_ns 5 s, lock_backoff_ns 100 ms, grant_ns 10 s, lease_rows 100, every_rows 1, late_ns 1 min;
 * every other member is 0. The caller must also set agent_id where several agents share keys, and for
 * BK_GUARDED clock_bound_ns and counter (BK_COUNTER_NATIVE).
 *
 * @param strategy  copied; NULL: BK_KIND_UNBUCKETED
 * @return          a plain struct without pointers, of 0.7 kB */
struct bk_agent_config bk_agent_config_default(const struct bk_strategy *strategy);

/** Checks that an agent can be made from the config.
 *
 * @param config  NULL: BK_ERROR_NULL
 * @return        BK_OK; an error of bk_strategy_check() or bk_history_check(); or the first error that
 *                applies of BK_ERROR_AGE, COORDINATION, SOURCE, SHARDS, LEAD, CACHE, OPERATIONS, LOCK, GRANT,
 * RANGE, BACKOFF, RESERVED and ERA_KIND */
enum bk_status bk_agent_check(const struct bk_agent_config *config);

/** Settings with which an agent works, but does not keep what its coordination is for: X(name, rule that is
 * broken and what follows). `answer` is the argument of bk_agent_warnings(). */
#define BK_WARNING_MAP(X)                                                                                    \
    X(BK_WARNING_LEAD, "lead_ns >= cache_ttl_ns + 2 clock_bound_ns + answer; otherwise an agent learns of "  \
                       "a change after its date, and puts rows into the closed bucket")                      \
    X(BK_WARNING_LEAD_AGE, "max_age_ns >= lead_ns + 2 clock_bound_ns; otherwise a change for reasons of "    \
                           "age is known too late")                                                          \
    X(BK_WARNING_LOCK, "lock_lasts_ns > answer; otherwise another agent takes the lock over before the "     \
                       "roll is stored, and both roll")                                                      \
    X(BK_WARNING_GRANT, "grant_ns >= answer; otherwise a grant has ended before it is known, and rows "      \
                        "are refused")                                                                       \
    X(BK_WARNING_GRANT_AGE, "max_age_ns >= answer; otherwise a bucket has ended before its grant is known")  \
    X(BK_WARNING_GRANT_CLOCK, "grant_ns > 2 clock_bound_ns; otherwise rows of a clock that is ahead are "    \
                              "never within a grant of one that is behind")                                  \
    X(BK_WARNING_LATE, "late_ns >= 2 clock_bound_ns + answer; otherwise a window is remembered as empty "    \
                       "while rows are still being written into it")
enum bk_warning {
#define BK_WARNING_ENUM(name, text) name,
    BK_WARNING_MAP(BK_WARNING_ENUM)
#undef BK_WARNING_ENUM
};

/** Which of the rules above the config breaks; a host should log them when it starts. The rules hold for one
 * agent's config, so all agents of a table should have the same.
 *
 * @param config     read only, of times that are not negative; agent_id may be 0. NULL: no warnings
 * @param answer_ns  how long an operation may take from its first request to its last answer, with contention
 *                   and retries: the request timeout times the tries; >= 0
 * @return           a mask: bit n is enum bk_warning n */
uint32_t bk_agent_warnings(const struct bk_agent_config *config, int64_t answer_ns);
/** The rule of a warning, a constant that must not be freed; "unknown warning" for any other value. */
const char *bk_warning_text(enum bk_warning warning);

/** How much memory an agent of this config needs: about 0.6 kB per operation, 64 to 112 bytes per entry of
 * the cache, and 0.5 kB per remembered key.
 *
 * @param config  read only; may be NULL
 * @return        the size in bytes, the same on every call and on every machine of the same word size; 0 for
 *                NULL and for a config that bk_agent_check() refuses */
size_t bk_agent_size(const struct bk_agent_config *config);

/** Makes an agent with an empty cache and no operations. Cost: linear in its memory, which is cleared.
 *
 * @param memory  the caller's, aligned as for max_align_t, which must live as long as the agent is used;
 *                there is nothing else to free. It may be moved between two calls: the agent is then at the
 *                new address
 * @param size    size of the memory in bytes, at least bk_agent_size(config)
 * @param config  copied
 * @param out     set to the agent, which is `memory`; NULL on errors
 * @return        BK_OK; BK_ERROR_NULL (any pointer), BK_ERROR_MEMORY (too small or not aligned), or an error
 *                of bk_agent_check(). On errors the memory is unchanged */
enum bk_status bk_agent_init(void *memory, size_t size, const struct bk_agent_config *config,
                             struct bk_agent **out);

/** Begins to write a row. Actions follow until BK_ACT_DONE of this operation. The row is written into one
 * bucket, and every retry writes it into the same bucket. A row is refused (BK_OPERATION_REFUSED)
 * - with BK_THREE_STATE, when it waited for its state so long that two changes of bucket may have passed,
 *   since the state then no longer shows where the row belongs;
 * - with BK_GUARDED, when its time is more than clock_bound_ns ahead of now_ns;
 * - with a greatest age, when it opens a bucket and the state row of that bucket cannot be written.
 *
 * @param now_ns     the agent's clock; the row's own time is row->time_ns, fixed from here on
 * @param key        a number that identifies the key, the same in all agents
 * @param row        copied
 * @param operation  set to the operation's number, below config.operations, which no other operation has
 *                   until BK_ACT_DONE
 * @return           BK_OK; BK_ERROR_NULL, BK_ERROR_BUSY (all operations are under way). On errors nothing is
 *                   changed
 *
 * Cost: constant; where operations wait for others on their key (BK_LOCKED, BK_GUARDED, BK_SOURCE_LEASE,
 * BK_SOURCE_MEMORY), linear in the operations on the same key. */
enum bk_status bk_agent_write(struct bk_agent *agent, int64_t now_ns, uint64_t key, const struct bk_row *row,
                              uint32_t *operation);

/** Begins to read the newest rows of a key. BK_ACT_READ_ROWS names the buckets; the rows stay with the host.
 *
 * @param birth_ns         time of the key's first row, as for bk_read_latest(); only BK_KIND_TIME uses it
 * @param newest_sequence  the key's highest sequence number, counted from 0; only BK_KIND_COUNT with
 *                         BK_SOURCE_EXTERNAL uses it
 * @param rows             how many rows to read, >= 1
 * @param plan             BK_PLAN_DEFAULT: the default plan of the strategy
 * @return                 as for bk_agent_write(), and the errors of bk_read_latest()
 *
 * Cost: as for bk_agent_write(). */
enum bk_status bk_agent_read_latest(struct bk_agent *agent, int64_t now_ns, uint64_t key, int64_t birth_ns,
                                    uint64_t newest_sequence, uint64_t rows, enum bk_plan plan,
                                    uint32_t *operation);

/** Begins a read of any kind.
 *
 * @param query  copied, except that the agent replaces now_ns and the starts. It uses the starts of buckets
 *               that it knows where its coordination makes them exact (BK_GUARDED, and BK_THREE_STATE up to
 *               its lead)
 * @return       as for bk_agent_write(), and the errors of bk_read_begin() */
enum bk_status bk_agent_read(struct bk_agent *agent, int64_t now_ns, uint64_t key, uint64_t newest_sequence,
                             const struct bk_query *query, uint32_t *operation);

/** Replaces the agent's history, for example after a deployment of its host. Rows that already have a bucket
 * keep it, also for retries. All agents place rows alike as long as each of them gets an era's history before
 * the date of that era; from that date on, agents with and without the new history disagree. A read under way
 * finishes its current era by the old history, and continues by the new one.
 *
 * @param history  copied; all its eras are of the strategy's kind
 * @return         BK_OK; BK_ERROR_NULL, BK_ERROR_AGE, BK_ERROR_ERA_KIND (also where the source allows only
 *                 one era), or an error of bk_history_check(). On errors nothing is changed
 *
 * Cost: linear in operations and remember_keys. */
enum bk_status bk_agent_change(struct bk_agent *agent, const struct bk_history *history);

/** Reports the outcome of an action. The host must report exactly one outcome for each action that needs one,
 * at any time after bk_agent_next() returned the action, and in any order among operations.
 * BK_OUTCOME_NOT_APPLIED for an action without a condition, and a state that cannot have been stored (bucket
 * below 0), are treated as BK_OUTCOME_REFUSED.
 *
 * @param ticket   the action's ticket. Each action has another one, also each retry, so the answer to an
 *                 earlier action is not taken for the answer to a later one
 * @param outcome  copied
 * @return         BK_OK; BK_ERROR_NULL; BK_ERROR_OPERATION: no action under way has this ticket, because its
 *                 outcome was reported before, or because it is an action of an agent with another agent_id;
 *                 BK_ERROR_OUTCOME: no such kind of outcome. On errors nothing is changed
 *
 * Cost: as for bk_agent_write(), plus as much again for each operation on the key that was parked until this
 * outcome. With remember_keys, the outcome of a stored row also costs time linear in config.operations. */
enum bk_status bk_agent_report(struct bk_agent *agent, int64_t now_ns, uint64_t ticket,
                               const struct bk_outcome *outcome);

/** Takes the next action, in the order in which operations became ready.
 *
 * @param out  every member is set, to 0 where the kind of action does not use it (but see `bucket`);
 * unchanged when there is no action
 * @return     false when either pointer is NULL, or when there is no action; further calls then return false
 *             until another function has been called
 *
 * Cost: constant. */
bool bk_agent_next(struct bk_agent *agent, struct bk_action *out);

/** The time, by the agent's clock, at which bk_agent_tick() should be called. The time may be earlier than
 * the first operation needs. INT64_MAX when no operation waits for a time, and for NULL. Cost: constant. */
int64_t bk_agent_deadline(const struct bk_agent *agent);

/** Wakes the operations whose time has come; before the deadline it does nothing.
 *
 * @return  BK_OK; BK_ERROR_NULL
 *
 * Cost: linear in config.operations once the deadline has come, else constant. */
enum bk_status bk_agent_tick(struct bk_agent *agent, int64_t now_ns);

/** The bucket (as a whole) that a row of the key would get now, as far as the agent's cache knows; for charts
 * and oracles. It changes nothing. With BK_SOURCE_LEASE it is the bucket of the agent's next number, with
 * BK_SOURCE_MEMORY the bucket that has room by the agent's local count.
 *
 * @param bucket       set when the bucket is known
 * @param is_changing  set together with bucket: true when a change of bucket is stored whose date is still
 *                     ahead
 * @return             true when the bucket is known; false when the cache does not know it, for NULL, and for
 *                     strategies other than BK_KIND_PROBABILISTIC, BK_KIND_WEIGHTED, and BK_KIND_COUNT with
 * one of the two sources above
 *
 * Cost: constant. */
bool bk_agent_view(const struct bk_agent *agent, int64_t now_ns, uint64_t key, int64_t *bucket,
                   bool *is_changing);

/** Reports what the agent has done, and what it has under way. A checkpoint does not contain the counters.
 * The age of an operation that was loaded from a checkpoint is counted from its last action, or from its
 * beginning if it had none.
 *
 * @param out  every member is set, to 0 when agent is NULL. When out is NULL the call does nothing
 *
 * Cost: linear in config.operations. */
void bk_agent_get_stats(const struct bk_agent *agent, int64_t now_ns, struct bk_agent_stats *out);

/** The size in bytes of the checkpoint that bk_agent_save() would write now; 0 for NULL.
 *
 * A checkpoint has the agent's cache and all of its operations, as bytes that are portable between machines.
 * It may be taken between any two calls, and does not change the agent; its size depends on the contents of
 * the agent at that time. A loaded agent continues as the saved agent would have, with the same tickets: the
 * host must still report an outcome for each action that had none (BK_OUTCOME_UNKNOWN when the host died in
 * between). Never load an old checkpoint of an agent that has continued since: numbers of a lease and local
 * counts would be used twice. The cost of this call, bk_agent_save() and bk_agent_load() is linear in
 * operations, cache entries and remembered keys. */
size_t bk_agent_state_size(const struct bk_agent *agent);

/** Writes a checkpoint of the agent.
 *
 * @param state  the caller's buffer of any alignment
 * @param size   size of the buffer in bytes, at least bk_agent_state_size()
 * @return       BK_OK; BK_ERROR_NULL, BK_ERROR_MEMORY (too small). On errors nothing is written */
enum bk_status bk_agent_save(const struct bk_agent *agent, void *state, size_t size);

/** Makes an agent from a checkpoint of `size` bytes, in memory as for bk_agent_init(). Bytes that are not a
 * valid checkpoint are refused without harm.
 *
 * @param config  must equal the saved agent's config in kind, coordination, counter, source, cache_entries,
 *                operations, remember_keys and agent_id. The history comes from the checkpoint, not from
 *                config
 * @param state   read only, any alignment
 * @param out     set to the agent; NULL on errors
 * @return        as for bk_agent_init(); BK_ERROR_CHECKPOINT when the bytes are not a checkpoint of such an
 *                agent, or have another BK_AGENT_LAYOUT (api.h): the contents of memory are then undefined */
enum bk_status bk_agent_load(void *memory, size_t memory_size, const struct bk_agent_config *config,
                             const void *state, size_t size, struct bk_agent **out);

BK_END
#endif
