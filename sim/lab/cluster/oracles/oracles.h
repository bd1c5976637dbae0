/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The internals of the oracles: a ledger of the rows that were placed, stored and acknowledged, by key and
 * partition, which the engine and the mock's observer fill; and the oracles, one file each, which judge by
 * this ledger.
 *
 * Memory does not grow with the number of rows: a row has a record of its own only while its write is under
 * way, or for ever if its outcome was never reported. */
#ifndef LAB_ORACLES_H
#define LAB_ORACLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/digest.h"
#include "lab/oracle.h"

struct lab_cluster_run;
struct lab_scenario;
struct lab_host_operation;
struct bk_action;

#define LAB_NO_PARTITION UINT32_MAX
#define LAB_ALL_COLUMNS  ((UINT32_C(1) << BK_COLUMN_COUNT) - 1) /* of a state row */
/* Instead of a bucket: the row was refused before it had one; the row has none yet. */
#define LAB_UNPLACED INT64_MIN
#define LAB_PENDING  (INT64_MIN + 1)
/* The oracle `newest` keeps as many rows as the scenario's readers ask for, up to this number. */
#define LAB_NEWEST_MAX 64u

/* The greatest time, and the greatest time of any other agent. Least times are stored negated. */
struct lab_extreme {
    int64_t time_ns[2];
    uint32_t agent[2];
};

struct lab_partition {
    int64_t bucket;
    uint32_t key, lower, higher; /* the key's neighbours; LAB_NO_PARTITION at the ends */
    uint32_t rows_in_second;
    bool is_reopened; /* it got a row after it was closed */
    bool is_late;     /* it did not close when it should have, and this was reported */
    uint8_t eras;     /* bit e: it got a row of era e of the settings, by the scenario's dates */
    int64_t second;
    uint64_t placed, stored, acknowledged;
    uint64_t balance[2];                        /* hash sums of stored less acknowledged rows */
    uint64_t copies_balance;                    /* hash sums of copies due less copies made; 0: all are
                                                   there */
    struct lab_extreme latest, earliest, below; /* below: latest of all lower partitions */
    uint64_t fired, increments_lost;            /* rows that fired, and increments lost, of acknowledged
                                                   rows */
    uint64_t unfindable;                        /* acknowledged but not findable, and already reported */
    uint64_t counted, overlapping; /* firing rows whose increment was stored, and those whose increment
                                      another may have overwritten */
    uint64_t doubled;              /* increments made twice; of guarded, whose buckets have counters */
    uint64_t added;                /* of the same: what acknowledged increments have added */
    uint32_t healthy_stretch, fired_since_healthy; /* for `live` */
    int64_t full_ns;                               /* since when it should be closed */
    int64_t first_unhealthy_ns, last_unhealthy_ns; /* unhealthy time until its first and last row */
    int64_t first_ns, last_stored_ns; /* when it came into being, and when the last row was stored */
    int64_t line_ns; /* the next line above its rows, but for those that were overtaken; 0: there are none */
};

#define LAB_WINDOW_FEW 4u
/* Placements are digested in the order of the key's rows; this queue holds those that wait for an earlier
 * one. Its capacity is a power of two. */
struct lab_window {
    uint32_t begin, count, capacity; /* capacity 0: the few */
    int64_t few[LAB_WINDOW_FEW];
    int64_t *buckets; /* NULL: the few are enough */
    struct sim_placement placement;
};

static inline uint32_t lab_window_capacity(const struct lab_window *window)
{
    return window->capacity != 0 ? window->capacity : LAB_WINDOW_FEW;
}

/* The bucket of the place-th row in the queue. */
static inline int64_t *lab_window_bucket(struct lab_window *window, uint32_t place)
{
    int64_t *buckets = window->capacity != 0 ? window->buckets : window->few;
    return &buckets[(window->begin + place) & (lab_window_capacity(window) - 1)];
}

struct lab_newest_row {
    int64_t time_ns, bucket;
};

struct lab_key_ledger {
    uint32_t top, bottom, recent; /* partitions; the highest and the lowest bucket, the one asked for last */
    struct lab_window window;
    struct lab_newest_row *newest; /* a ring in order of time */
    uint32_t newest_begin, newest_count, newest_run;
    uint32_t spans;                          /* number + 1 of its newest span; 0: none */
    int64_t misplaced_ns, misplaced_from_ns; /* time of the last row that was placed out of order, and of its
                                                cause; 0: never */
    uint64_t stored, overdue; /* overdue: rows acknowledged so late that readers may already consider their
                                 windows empty */
    int64_t second;
    uint64_t rows_in_second, peak_rows_per_s;
    /* The state as a read from all replicas returns it. */
    int64_t state_bucket;
    uint64_t state_version; /* of bucket and dates */
    uint32_t writes_open;   /* writes of the state under way now */
    uint32_t missed;        /* rows that were refused, or left unresolved */
    uint32_t counting;      /* rows that are acknowledged, and whose operations have not ended */
    uint64_t doubled;       /* increments of the key's one counter that were made twice */
    uint64_t added;         /* to it by acknowledged increments */
    uint64_t numbers_lost;  /* of BK_SOURCE_LWT and BK_SOURCE_LEASE: numbers that were taken, but perhaps
                               given to no row */
    int64_t rolled_ns;      /* when the state named a later bucket last; 0: never */
    int64_t at_once_ns;     /* when a row began to be counted while another was; 0: never */
    int64_t latest_ns;      /* for `lines`: the latest time of a row that an agent took; 0: none */
    int64_t gaps_judged;    /* the gaps below this bucket were judged */
    uint32_t stuck_stretch; /* 1 + the healthy stretch in which stuck_bucket did not close */
    int64_t stuck_bucket;
};

/* A row whose writer never learned its outcome; or a row that was put into several buckets, with one record
 * for each bucket, of which the last may have been acknowledged. */
struct lab_open_row {
    uint32_t key;
    bool is_acknowledged;
    bool is_heard; /* as stored, by an agent that then crashed */
    uint64_t row;
    int64_t bucket;
};
struct lab_open_rows {
    struct lab_open_row *items;
    size_t count, capacity;
};

/* Increments of counter columns under way, or of unknown outcome: by counter and row. */
struct lab_increment {
    uint64_t counter, row;
    uint64_t amount; /* that each of them adds */
    uint32_t asked, applied;
    bool is_used;
};
struct lab_increments {
    struct lab_increment *slots;
    size_t used, capacity;                            /* a power of two, or 0 */
    uint64_t due, lost, doubled;                      /* as operations */
    uint64_t amount_due, amount_lost, amount_doubled; /* and what they add */
};

/* Time with a fault in it, or just after one. */
struct lab_health {
    uint32_t active;
    uint32_t stretch; /* number of the healthy stretch */
    int64_t total_ns, since_ns, until_ns, pulse_until_ns, settle_ns;
    bool is_unhealthy;
};

/* A condition that can have an effect on a key (or, in the list of all, on any) within a span of time. */
#define LAB_OPEN_ENDED INT64_MAX
struct lab_span {
    uint32_t condition, next;  /* next: number + 1 of the key's next; 0: none */
    int64_t from_ns, until_ns; /* LAB_OPEN_ENDED: until something ends it */
    int64_t noted_ns;          /* when it was last known to apply */
};
struct lab_spans {
    struct lab_span *items;
    uint32_t count, capacity;
};

/* A violation without an excuse so far. */
struct lab_doubt {
    uint32_t oracle, key;
    int64_t from_ns, to_ns;
};
struct lab_doubts {
    struct lab_doubt *items;
    uint32_t count, capacity;
};

/* Waits that are drawn around a mean, as seen so far. */
struct lab_waits {
    uint64_t seen;                /* by agent and try */
    uint32_t least_ppm, most_ppm; /* of their means */
};

/* How far an operation of `locked` is with its key's lock. */
enum lab_lock_step {
    LAB_LOCK_NONE,
    LAB_LOCK_ASKED,    /* it asked, and was not told that it has the lock */
    LAB_LOCK_HELD,     /* it has the lock, and has not read the state since */
    LAB_LOCK_READ,     /* it knows the state under the lock */
    LAB_LOCK_RETURNED, /* it has asked to release it */
    LAB_LOCK_STEPS
};
struct lab_lock_use {
    enum lab_lock_step step;
    uint32_t if_mask;     /* of its last CAS_LOCK */
    uint32_t failed;      /* failed tries in a row */
    uint32_t held, raced; /* denials: another held the lock; it was free, but another was faster */
    int64_t expected[2];  /* as if_mask */
    int64_t until_ns;     /* of the lock that it asked for last */
    int64_t clock_ns;     /* the agent's, when the operation heard its last outcome */
};

/* A read, as oracle_reads.c follows it. */
struct lab_walk {
    int64_t now_ns, birth_ns;  /* of its query */
    int64_t top;               /* the first bucket that it asked */
    uint64_t width;            /* buckets of the step under way */
    uint64_t rows, partitions; /* of the steps that were answered */
};

struct lab_oracles {
    struct lab_partition *partitions;
    uint32_t partition_count, partition_capacity;
    uint32_t *table; /* of partitions by (key, bucket); slot 0: free, else the number + 1 */
    uint32_t table_mask;
    struct lab_key_ledger *keys;
    uint32_t key_count, newest_rows;
    bool is_ordered;        /* buckets follow row times: probabilistic, time, unbucketed */
    bool keeps_times;       /* of the rows of each partition */
    bool is_linked;         /* partitions of a key are linked: all but hash */
    int64_t tolerance_ns;   /* of agreement */
    int64_t lag_ns;         /* within which a full partition closes when all is well */
    int64_t available_ns;   /* within which a row is acknowledged when all is well */
    uint32_t replicas;      /* of each row */
    uint32_t read_replicas; /* that a reader surely asks; 0: not known */
    bool hints_may_be_lost; /* a node went down with what it had in mind, or lost its hints */
    uint32_t crashes;       /* of agents, so far */
    uint64_t placed, acknowledged;
    uint64_t copies_due; /* of rows that some replica holds: for those that do not yet */
    struct lab_open_rows open, moved;
    struct lab_increments increments;
    struct lab_health health;
    struct lab_waits waits;
    uint32_t rolls_open;
    int64_t rolls_until_ns; /* the latest date of a roll */
    int64_t jumps_until_ns; /* the latest time that a clock showed that had jumped */
    uint32_t spans_of_all;  /* number + 1 of the newest span of all keys; 0: none */
    uint32_t whole_run;     /* bit c: LAB_CONDITION_c holds for all keys and times */
    struct lab_spans spans;
    struct lab_doubts doubts;
    struct lab_lives *lives; /* of oracle_expired.c, by key; NULL: rows do not expire, or nobody knows when */
    uint32_t except[LAB_ORACLE_COUNT]; /* of the strategy's guarantees */
    bool is_guaranteed[LAB_ORACLE_COUNT];
    struct lab_verdict verdict;
};

/* --- ledger.c */
bool lab_oracles_begin(struct lab_cluster_run *run);
void lab_oracles_end(struct lab_cluster_run *run); /* the verdict is then complete */
void lab_oracles_destroy(struct lab_cluster_run *run);
/* A row has come, and is to be placed. */
void lab_oracles_arrived(struct lab_cluster_run *run, uint32_t key);
/* A row of the key will come soon: fetches what it will need of its partition into the processor's cache. */
void lab_oracles_prefetch_partition(const struct lab_cluster_run *run, uint32_t key);
/* A row's first put; or, with LAB_UNPLACED, there will be none. `row`: its number within the key. */
void lab_oracles_placed(struct lab_cluster_run *run, uint32_t key, uint64_t row, int64_t time_ns,
                        int64_t bucket, uint32_t agent);
/* Its client was told that it is stored. */
void lab_oracles_acknowledged(struct lab_cluster_run *run, const struct lab_host_operation *operation);
/* The write has ended, or its agent is gone. */
void lab_oracles_write_ended(struct lab_cluster_run *run, const struct lab_host_operation *operation,
                             bool is_counted, bool is_refused);
/* From now on only copies of rows are heard of. */
void lab_copies_alone(struct lab_cluster_run *run);
/* The partition, or LAB_NO_PARTITION. */
uint32_t lab_partition_find(const struct lab_oracles *oracles, uint32_t key, int64_t bucket);
/* Makes the table anew, for the partitions as they are; false without memory. */
bool lab_partitions_enter(struct lab_oracles *oracles);
/* Whether the bucket of a row, or of a key's state, is one that the run can have come to by now. */
bool lab_is_possible_bucket(const struct lab_cluster_run *run, int64_t bucket);
/* What is wrong with a key's state or clocks may still show for so long after it has ended. */
int64_t lab_aftermath_ns(const struct lab_cluster_run *run);
/* Counts a violation that can have been caused from one time to the other; the text is of the first, of the
 * first that nothing excuses if there is one. */
void lab_violate_within(struct lab_cluster_run *run, enum lab_oracle oracle, uint32_t key, uint64_t count,
                        int64_t from_ns, int64_t to_ns, const char *format, ...)
    __attribute__((format(printf, 7, 8)));
/* The same of one violation that no condition excuses. */
void lab_violate_bare(struct lab_cluster_run *run, enum lab_oracle oracle, uint32_t key, const char *format,
                      ...) __attribute__((format(printf, 4, 5)));
/* The same as lab_violate_within() of one that is caused as it is seen. */
#define lab_violate(run, oracle, key, count, ...)                                                            \
    lab_violate_within(run, oracle, key, count, sim_queue_now(&(run)->queue), sim_queue_now(&(run)->queue),  \
                       __VA_ARGS__)
void lab_extreme_add(struct lab_extreme *extreme, int64_t time_ns, uint32_t agent);
bool lab_open_add(struct lab_open_rows *rows, const struct lab_host_operation *operation);

/* --- excuses.c: which violations the conditions excuse. */
void lab_excuses_begin(struct lab_cluster_run *run);
/* It holds for all keys and the whole run. */
void lab_condition_set(struct lab_cluster_run *run, enum lab_condition condition);
/* It can have an effect on this key (LAB_NO_KEY: on all) within these times. */
void lab_condition_of_key(struct lab_cluster_run *run, enum lab_condition condition, uint32_t key,
                          int64_t from_ns, int64_t until_ns);
/* Those of the key that are open end then, if they were known before an action was asked. */
void lab_condition_closes(struct lab_cluster_run *run, enum lab_condition condition, uint32_t key,
                          int64_t asked_ns, int64_t until_ns);
/* Bit c: LAB_CONDITION_c overlaps. */
uint32_t lab_conditions_at(const struct lab_cluster_run *run, uint32_t key, int64_t from_ns, int64_t to_ns);
/* What may take a state back that was committed: two grants of one bucket then have different starts. */
uint32_t lab_may_go_back(const struct lab_cluster_run *run);
/* Bit c: LAB_CONDITION_c has reached the key by now. */
uint32_t lab_conditions_met(const struct lab_cluster_run *run, uint32_t key);
/* Of these, those that the oracle's guarantee excepts. */
uint32_t lab_excuses_of(const struct lab_cluster_run *run, enum lab_oracle oracle, uint32_t key,
                        int64_t from_ns, int64_t to_ns);
/* A violation's excuses go to the verdict; without any it stays in doubt. Returns them. */
uint32_t lab_excuse(struct lab_cluster_run *run, enum lab_oracle oracle, uint32_t key, int64_t from_ns,
                    int64_t to_ns);
/* One that nothing excuses. */
void lab_excuse_nothing(struct lab_cluster_run *run, enum lab_oracle oracle);
/* Doubts that are excused by now are settled; at the end all are. */
void lab_excuses_settle(struct lab_cluster_run *run, bool is_end);

/* --- conditions.c */
void lab_conditions_begin(struct lab_cluster_run *run);
void lab_conditions_end(struct lab_cluster_run *run);
/* Replicas that a reader surely asks; 0: which ones depends on where it stands. */
uint32_t lab_read_replicas(const struct lab_scenario *scenario);
/* On average, one way, between the two places that are furthest apart. */
int64_t lab_longest_trip_ns(const struct lab_scenario *scenario);

/* --- health.c */
void lab_health_begin(struct lab_cluster_run *run);
void lab_health_fault(struct lab_cluster_run *run, bool begins);
/* A fault that ends by itself then. */
void lab_health_pulse(struct lab_cluster_run *run, int64_t until_ns);
int64_t lab_health_unhealthy_ns(const struct lab_cluster_run *run);
/* For so long nothing has failed; below 0: something fails. */
int64_t lab_health_well_ns(const struct lab_cluster_run *run);

/* --- The oracles. */
void lab_findable_acknowledged(struct lab_cluster_run *run, uint32_t key, struct lab_partition *partition,
                               const struct lab_host_operation *operation);
/* A read begins at this time of its agent's clock: takes down what it will not meet, since it lies above or
 * below the windows that it walks. */
void lab_findable_begun(const struct lab_cluster_run *run, struct lab_host_operation *operation,
                        int64_t now_ns, int64_t birth_ns);
/* Of so many rows a reader has to find all but the excused ones, and no more than it wants. */
uint64_t lab_findable_due(uint64_t rows, uint64_t excused, uint64_t wanted);
/* A reader of the run itself has found fewer rows than were due. */
void lab_findable_read(struct lab_cluster_run *run, const struct lab_host_operation *operation, uint64_t due);
void lab_findable_lowered(struct lab_cluster_run *run, uint32_t key);
/* Where the next row goes as a rule. */
const struct lab_newest_row *lab_newest_next(const struct lab_oracles *oracles,
                                             const struct lab_key_ledger *ledger);
void lab_newest_stored(struct lab_cluster_run *run, uint32_t key, int64_t time_ns, int64_t bucket);
/* `higher` holds the earliest row of all higher partitions. */
void lab_agreement_placed(struct lab_cluster_run *run, const struct lab_partition *partition, uint64_t row,
                          int64_t time_ns, uint32_t agent, const struct lab_extreme *higher);
/* An agent has taken a row; and it is put for the first time. The next line above a time, by the settings of
 * the time's era; only with a greatest age. */
void lab_lines_begun(struct lab_cluster_run *run, uint32_t key, int64_t time_ns);
void lab_lines_placed(struct lab_cluster_run *run, struct lab_partition *partition, uint64_t row,
                      int64_t time_ns);
int64_t lab_line_above(const struct lab_cluster_run *run, int64_t time_ns);
/* With a greatest age: whether the time is that of a line. */
bool lab_is_line(const struct lab_cluster_run *run, int64_t time_ns);
void lab_monotone_placed(struct lab_cluster_run *run, const struct lab_partition *partition, uint64_t row,
                         int64_t time_ns, const struct lab_extreme *higher);
/* Two rows of a key are out of order: from when on the second one's putting may have been wrong. */
int64_t lab_order_cause_ns(const struct lab_cluster_run *run, int64_t time_ns, int64_t other_ns);
void lab_no_gaps_changed(struct lab_cluster_run *run, uint32_t key);
void lab_no_gaps_end(struct lab_cluster_run *run);
void lab_no_duplicates_end(struct lab_cluster_run *run);
void lab_bounded_end(struct lab_cluster_run *run);
/* More keys share the key's set of a cache than the set holds, so that one is pushed out. */
bool lab_may_be_evicted(const struct lab_cluster_run *run, uint32_t key);
/* The key's state names a later bucket, whose first row is of this time. */
void lab_bounded_rolled(struct lab_cluster_run *run, uint32_t key, int64_t change_ns);
/* A row was acknowledged, and may now be counted; its operation has ended. */
void lab_bounded_acknowledged(struct lab_cluster_run *run, struct lab_partition *partition,
                              const struct lab_host_operation *operation);
void lab_bounded_counted(struct lab_cluster_run *run, struct lab_partition *partition,
                         const struct lab_host_operation *operation, bool is_counted);
/* Its rows' thresholds: the greatest that any of its eras has, or the least. */
uint64_t lab_threshold_of(const struct lab_cluster_run *run, const struct lab_partition *partition,
                          bool is_most);
/* Of a strategy that fires: what so many rows with so many bytes add to counters on average. */
double lab_mean_weight(const struct bk_strategy *strategy, uint64_t rows, uint64_t bytes);
/* Its row is acknowledged; it ended without that; it is still under way at the end of the run. */
void lab_available_acknowledged(struct lab_cluster_run *run, const struct lab_host_operation *operation);
void lab_available_ended(struct lab_cluster_run *run, const struct lab_host_operation *operation,
                         bool is_refused);
void lab_available_left(struct lab_cluster_run *run, const struct lab_host_operation *operation);
/* Before its row is acknowledged an operation may have to win an update from other agents. */
bool lab_contends_for_rows(const struct lab_cluster_run *run);
int64_t lab_available_bound_ns(const struct lab_cluster_run *run);
/* The operation's last request was refused or not answered; or, of guarded, an update found no row, or it was
 * told of one that no update can have written. It is tried again. */
bool lab_request_failed(const struct lab_cluster_run *run, const struct lab_host_operation *operation);
/* Its first action since it began, or since it heard what had become of the last one. */
void lab_waits_acted(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                     const struct bk_action *next);
/* Of `locked`: what an operation asks next; it has heard what had become of that, and its agent has not. */
void lab_lock_acted(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                    const struct bk_action *next);
void lab_lock_heard(const struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation);
/* No other operation of the agent is about the key's lock. */
bool lab_lock_is_alone(const struct lab_cluster_run *run, uint32_t agent,
                       const struct lab_host_operation *operation);
/* What follows a request that failed, before it is known as the next try; then any next action. */
void lab_steps_tried(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                     const struct bk_action *next, bool is_again);
void lab_route_acted(struct lab_cluster_run *run, uint32_t agent, const struct lab_host_operation *operation,
                     const struct bk_action *next);
void lab_reads_acted(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                     const struct bk_action *next);
/* The agent has stored the operation's row, which its next reads will not leave out. */
void lab_reads_stored(struct lab_cluster_run *run, uint32_t agent,
                      const struct lab_host_operation *operation);
/* What an agent learns of empty windows: a step of a read was answered, a row is stored; it begins a life;
 * it has a memory that nobody has seen it fill. Then a read leaves out these windows, from high down to low.
 */
void lab_empties_heard(struct lab_cluster_run *run, uint32_t agent,
                       const struct lab_host_operation *operation);
void lab_empties_stored(struct lab_cluster_run *run, uint32_t agent,
                        const struct lab_host_operation *operation);
void lab_empties_forgotten(struct lab_cluster_run *run, uint32_t agent, bool is_known);
/* False: one of them is not known to be empty. */
bool lab_empties_know(const struct lab_cluster_run *run, uint32_t agent, uint32_t key, int64_t low,
                      int64_t high);
void lab_steps_acted(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                     const struct bk_action *next);
/* What an agent's copies of states are at most as young as: it has heard an outcome, and not yet acted on it;
 * it begins a life; then any next action. */
void lab_copies_heard(struct lab_cluster_run *run, uint32_t agent,
                      const struct lab_host_operation *operation);
void lab_copies_forgotten(struct lab_cluster_run *run, uint32_t agent);
void lab_copies_acted(struct lab_cluster_run *run, uint32_t agent, const struct lab_host_operation *operation,
                      const struct bk_action *next);
/* Where the agent takes the operation's key to be, before it hears of the state; and after. */
struct lab_known_bucket {
    bool is_known;
    int64_t bucket;
};
struct lab_known_bucket lab_known_bucket(const struct lab_cluster_run *run, uint32_t agent,
                                         const struct lab_host_operation *operation);
void lab_known_heard(struct lab_cluster_run *run, uint32_t agent, const struct lab_host_operation *operation,
                     const struct lab_known_bucket *before);
/* Where operations on a key wait for one that asks, this one, which has not acted since it heard, may be
 * parked. */
bool lab_may_be_parked(const struct lab_cluster_run *run, const struct lab_host_operation *operation);
/* It has begun, or heard an outcome, and its agent has taken all actions: if it may be, it is parked. */
void lab_parked_begins(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation);
void lab_parked_ends(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation);
/* An operation on the key has heard of an action of this kind, and the agent has acted. */
void lab_parked_heard(struct lab_cluster_run *run, uint32_t agent, uint32_t key, enum bk_action_kind kind);
/* Its row may now be counted; it writes a key's bucket or dates; nobody knows whether it is counted, or how
 * often. */
void lab_filled_acknowledged(struct lab_cluster_run *run, const struct lab_partition *partition,
                             const struct lab_host_operation *operation);
void lab_filled_changing(struct lab_cluster_run *run, const struct lab_host_operation *operation);
void lab_filled_unknown(struct lab_cluster_run *run, const struct lab_host_operation *operation);
/* The key's state names a later bucket than this one. */
void lab_filled_rolled(struct lab_cluster_run *run, uint32_t key, int64_t before);
void lab_filled_end(struct lab_cluster_run *run);
void lab_conserved_end(struct lab_cluster_run *run);
void lab_replicas_end(struct lab_cluster_run *run);
/* After the run, and all that is told of it: heals the cluster, lets it deliver what it owes, and judges. */
void lab_conserved_delivered(struct lab_cluster_run *run);
void lab_live_fired(struct lab_cluster_run *run, struct lab_partition *partition);
void lab_live_end(struct lab_cluster_run *run);

/* --- oracle_expired.c: rows that expire. */
bool lab_lives_begin(struct lab_cluster_run *run);
void lab_lives_destroy(struct lab_oracles *oracles);
/* A row's write began then, and it may be stored from now on; the same, and it is acknowledged; some replica
 * holds it. */
void lab_lives_placed(struct lab_cluster_run *run, uint32_t key, int64_t begun_ns);
void lab_lives_acknowledged(struct lab_cluster_run *run, uint32_t key, int64_t begun_ns);
void lab_lives_stored(struct lab_cluster_run *run, uint32_t key);
/* Of so many rows of a key that were acknowledged, those that surely have not expired. */
uint64_t lab_lives_left(const struct lab_cluster_run *run, uint32_t key);
/* A read found rows. */
void lab_expired_read(struct lab_cluster_run *run, const struct lab_host_operation *operation);
void lab_expired_end(struct lab_cluster_run *run, uint64_t expired);

/* --- increments.c: of counter columns. */
void lab_increment_asked(struct lab_cluster_run *run, uint64_t counter, uint64_t row, uint64_t amount);
void lab_increment_applied(struct lab_cluster_run *run, uint64_t counter, uint64_t row, uint64_t amount);
/* A counter is read: what acknowledged increments had added by then, and whether the read finds it. */
void lab_total_asked(struct lab_cluster_run *run, struct lab_host_operation *operation);
/* That, or an increment, has succeeded. */
void lab_total_heard(struct lab_cluster_run *run, const struct lab_host_operation *operation);
/* Whether a plain read of states and counters may miss what a plain write has stored. */
bool lab_plain_state_is_weak(const struct lab_cluster_run *run);
/* So many were made that nobody asked for. */
void lab_increment_doubled(struct lab_cluster_run *run, uint64_t counter, uint64_t count);
/* The row's operation has ended; is_counted: its increment is known to have been made. */
void lab_increment_ended(struct lab_cluster_run *run, const struct lab_host_operation *operation,
                         bool is_counted);
void lab_increments_end(struct lab_cluster_run *run);
/* Puts one that was saved, and is not there yet; false without memory. */
bool lab_increment_restore(struct lab_increments *increments, const struct lab_increment *increment);

/* --- cluster_state.c: a key's state as it is stored, and what it means for its rows. */
/* From when on rows belong to a bucket, by bucket; 0: not known. */
void lab_state_changed(struct lab_cluster_run *run, uint32_t key);
int64_t lab_state_bucket_at(const struct lab_cluster_run *run, uint32_t key, int64_t time_ns);
/* The bucket that a row of that time would belong to by what is stored now: partitions below it are closed.
 */
int64_t lab_current_bucket(const struct lab_cluster_run *run, uint32_t key, int64_t time_ns);
/* Where a reader that comes now begins, of a strategy that is read by walking down. */
int64_t lab_state_newest(const struct lab_cluster_run *run, uint32_t key);

#endif
