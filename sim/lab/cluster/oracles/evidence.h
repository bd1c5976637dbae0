/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The evidence of the oracles: the ledger, the conditions that guarantees except, and whether anything fails
 * at present. */
#ifndef LAB_EVIDENCE_H
#define LAB_EVIDENCE_H

#include "cluster_run.h"

/* --- ledger.c: rows, by key and partition; violations. */
bool lab_oracles_begin(struct lab_cluster_run *run);
void lab_oracles_end(struct lab_cluster_run *run); /* completes the verdict */
void lab_oracles_destroy(struct lab_cluster_run *run);
/* Doubles the capacity of a window; false when out of memory. */
bool lab_window_grow(struct lab_window *window);
/* conditions.c: notes rows of a key whose conditional updates delay one another. */
void lab_condition_crowd(struct lab_cluster_run *run, uint32_t key);
/* Called when a row has arrived, before it is placed. */
static inline void lab_oracles_arrived(struct lab_cluster_run *run, uint32_t key)
{
    struct lab_key_ledger *ledger = &run->oracles.keys[key];
    struct lab_window *window = &ledger->window;
    ledger->arrived++;
    if (SIM_UNLIKELY(run->oracles.has_crowds))
        lab_condition_crowd(run, key);
    if (SIM_UNLIKELY(window->count == lab_window_capacity(window)) && !lab_window_grow(window))
        run->out_of_memory = true;
    else
        *lab_window_bucket(window, window->count++) = LAB_PENDING;
}
/* Prefetches what a row of the key, which will arrive soon, needs of its partition. */
void lab_oracles_prefetch_partition(const struct lab_cluster_run *run, uint32_t key);
/* Called at a row's first put, or with the bucket LAB_UNPLACED when it will not be put. row: its number
 * within the key. */
void lab_oracles_placed(struct lab_cluster_run *run, uint32_t key, uint64_t row, int64_t time_ns,
                        int64_t bucket, uint32_t agent);
/* Called at each put of the operation's row. The first one decides its bucket; one into another bucket may
 * store it twice. */
void lab_oracles_put(struct lab_cluster_run *run, uint32_t agent, const struct lab_host_operation *operation,
                     int64_t bucket);
/* A row was stored on its first replica (CLUSTER_ROW_STORED), and on another one. */
struct cluster_event;
void lab_oracles_stored(struct lab_cluster_run *run, const struct cluster_event *event);
void lab_oracles_copied(struct lab_cluster_run *run, uint32_t key, int64_t bucket, uint64_t row,
                        uint32_t replica);
/* Called when the operation's row was acknowledged. */
void lab_oracles_acknowledged(struct lab_cluster_run *run, const struct lab_host_operation *operation);
/* Called when the write has ended, or its agent has crashed. Most rows were acknowledged, are in one bucket
 * and do not count. */
void lab_oracles_tell_ended(struct lab_cluster_run *run, const struct lab_host_operation *operation,
                            bool is_counted, bool is_refused);
static inline void lab_oracles_write_ended(struct lab_cluster_run *run,
                                           const struct lab_host_operation *operation, bool is_counted,
                                           bool is_refused)
{
    struct lab_key_ledger *ledger = &run->oracles.keys[operation->key];
    bool is_usual = operation->is_acknowledged && operation->bucket != LAB_UNPLACED &&
                    !(operation->is_moved || operation->fires || operation->has_counted);
    if (SIM_LIKELY(is_usual))
        ledger->counting -= ledger->counting > 0;
    else
        lab_oracles_tell_ended(run, operation, is_counted, is_refused);
}
/* From now on only copies of rows are observed. */
void lab_copies_alone(struct lab_cluster_run *run);
/* Finds a partition, or LAB_NO_PARTITION: lab_partition_search() in the hash table; lab_partition_find()
 * tries first the partition that was found last, which is usually right. */
uint32_t lab_partition_search(const struct lab_oracles *oracles, uint32_t key, int64_t bucket);
static inline uint32_t lab_partition_find(const struct lab_oracles *oracles, uint32_t key, int64_t bucket)
{
    uint32_t recent = oracles->keys[key].recent;
    if (SIM_LIKELY(recent != LAB_NO_PARTITION && oracles->partitions[recent].bucket == bucket))
        return recent;
    return lab_partition_search(oracles, key, bucket);
}
/* Whether the run can have reached this bucket, of a row or of a key's state, by now. */
bool lab_is_possible_bucket(const struct lab_cluster_run *run, int64_t bucket);
/* How long a problem with a key's state or clocks may still have effects after it has ended. */
int64_t lab_aftermath_ns(const struct lab_cluster_run *run);
/* Counts `count` violations whose cause is between from_ns and until to_ns. The text describes it; the
 * verdict stores the text of the first violation that is not excused, or else of the first one. */
void lab_violate_within(struct lab_cluster_run *run, enum lab_oracle oracle, uint32_t key, uint64_t count,
                        int64_t from_ns, int64_t to_ns, const char *format, ...)
    __attribute__((cold, format(printf, 7, 8)));
/* Counts one violation that no condition can excuse. */
void lab_violate_bare(struct lab_cluster_run *run, enum lab_oracle oracle, uint32_t key, const char *format,
                      ...) __attribute__((cold, format(printf, 4, 5)));
/* lab_violate_within() for a violation whose cause is at the present time. */
#define lab_violate(run, oracle, key, count, ...)                                                            \
    lab_violate_within(run, oracle, key, count, sim_queue_now(&(run)->queue), sim_queue_now(&(run)->queue),  \
                       __VA_ARGS__)
static inline void lab_extreme_add(struct lab_extreme *extreme, int64_t time_ns, uint32_t agent)
{
    if (time_ns > extreme->time_ns[0]) {
        if (agent != extreme->agent[0]) {
            extreme->time_ns[1] = extreme->time_ns[0];
            extreme->agent[1] = extreme->agent[0];
        }
        extreme->time_ns[0] = time_ns;
        extreme->agent[0] = agent;
    } else if (time_ns > extreme->time_ns[1] && agent != extreme->agent[0]) {
        extreme->time_ns[1] = time_ns;
        extreme->agent[1] = agent;
    }
}
bool lab_open_add(struct lab_open_rows *rows, const struct lab_host_operation *operation);
/* Compares two struct lab_open_row by key, row and bucket, for qsort(). */
int lab_open_compare(const void *a, const void *b);

/* --- excuses.c: which violations are excused by conditions. */
void lab_excuses_begin(struct lab_cluster_run *run);
/* The condition applies to all keys and the whole run. */
void lab_condition_set(struct lab_cluster_run *run, enum lab_condition condition);
/* The condition can have an effect on this key (LAB_NO_KEY: on all keys) between these times. */
void lab_condition_of_key(struct lab_cluster_run *run, enum lab_condition condition, uint32_t key,
                          int64_t from_ns, int64_t until_ns);
/* The key's occurrences of the condition without an end, which were known before an action was requested, end
 * at until_ns. */
void lab_condition_closes(struct lab_cluster_run *run, enum lab_condition condition, uint32_t key,
                          int64_t asked_ns, int64_t until_ns);
/* The conditions whose effects on the key overlap with the interval; bit c: condition c. */
uint32_t lab_conditions_at(const struct lab_cluster_run *run, uint32_t key, int64_t from_ns, int64_t to_ns);
/* The conditions that have affected the key by now; bit c: condition c. */
uint32_t lab_conditions_met(const struct lab_cluster_run *run, uint32_t key);
/* The conditions of lab_conditions_at() that the oracle's guarantee excepts. */
uint32_t lab_excuses_of(const struct lab_cluster_run *run, enum lab_oracle oracle, uint32_t key,
                        int64_t from_ns, int64_t to_ns);
/* Adds a violation's excuses to the verdict, and returns them. Without any, the violation is stored as a
 * doubt, since an excuse may become known later. */
uint32_t lab_excuse(struct lab_cluster_run *run, enum lab_oracle oracle, uint32_t key, int64_t from_ns,
                    int64_t to_ns);
/* Adds a violation that is not excused to the verdict. */
void lab_excuse_nothing(struct lab_cluster_run *run, enum lab_oracle oracle);
/* Settles doubts that are excused by now; at the end, all doubts. */
void lab_excuses_settle(struct lab_cluster_run *run, bool is_end);

/* --- conditions.c: the conditions of a run. */
void lab_conditions_begin(struct lab_cluster_run *run);
void lab_conditions_end(struct lab_cluster_run *run);
/* Notes the rare paths of nodes. */
void lab_conditions_watch_nodes(struct lab_cluster_run *run);
/* The number of replicas that a reader certainly queries; 0: it depends on the reader's datacenter. */
uint32_t lab_read_replicas(const struct lab_scenario *scenario);
/* The mean one-way latency between the two most distant places. */
int64_t lab_longest_trip_ns(const struct lab_scenario *scenario);
/* Whether a plain read of states and counters may miss what a plain write has stored. */
bool lab_plain_state_is_weak(const struct lab_cluster_run *run);

/* --- health.c: whether anything fails at present. */
void lab_health_begin(struct lab_cluster_run *run);
void lab_health_fault(struct lab_cluster_run *run, bool begins);
/* Called for a fault that ends by itself at until_ns. */
void lab_health_pulse(struct lab_cluster_run *run, int64_t until_ns);
static inline int64_t lab_health_unhealthy_ns(const struct lab_cluster_run *run)
{
    const struct lab_health *health = &run->oracles.health;
    if (SIM_LIKELY(!health->is_unhealthy))
        return health->total_ns;
    int64_t now_ns = sim_queue_now(&run->queue);
    return health->total_ns + (now_ns < health->until_ns ? now_ns : health->until_ns) - health->since_ns;
}
/* For how long nothing has failed; below 0: something fails at present. */
int64_t lab_health_well_ns(const struct lab_cluster_run *run);

/* --- increments.c: the increments of counter columns. */
void lab_increment_asked(struct lab_cluster_run *run, uint64_t counter, uint64_t row, uint64_t amount);
void lab_increment_applied(struct lab_cluster_run *run, uint64_t counter, uint64_t row, uint64_t amount);
/* Called when a read of a counter is requested: stores what acknowledged increments have added by then, which
 * the read must find. */
void lab_total_asked(struct lab_cluster_run *run, struct lab_host_operation *operation);
/* Called when a read of a counter, or an increment, has succeeded. */
void lab_total_heard(struct lab_cluster_run *run, const struct lab_host_operation *operation);
/* Called when `count` increments were applied that were not requested. */
void lab_increment_doubled(struct lab_cluster_run *run, uint64_t counter, uint64_t count);
/* Called when a row's operation has ended; is_counted: its increment is known to be applied. */
void lab_increment_ended(struct lab_cluster_run *run, const struct lab_host_operation *operation,
                         bool is_counted);
void lab_increments_end(struct lab_cluster_run *run);

#endif
