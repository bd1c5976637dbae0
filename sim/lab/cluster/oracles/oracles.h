/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The evidence of the oracles: the ledger, the conditions that guarantees except, and whether anything fails
 * at present. */
#ifndef LAB_ORACLES_H
#define LAB_ORACLES_H

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

/* --- conditions.c: whether anything fails at present. */
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

/* --- conserved.c: the increments of counter columns. */
void lab_increment_asked(struct lab_cluster_run *run, uint64_t counter, uint64_t row, uint64_t amount);
void lab_increment_applied(struct lab_cluster_run *run, uint64_t counter, uint64_t row, uint64_t amount);
/* Called when a read of a counter is requested: stores what acknowledged increments have added by then, which
 * the read must find. */
void lab_total_asked(struct lab_cluster_run *run, struct lab_host_operation *operation);
/* Called when a read of a counter, or an increment, has succeeded. */
void lab_total_heard(struct lab_cluster_run *run, const struct lab_host_operation *operation);
/* Called when a row's operation has ended; is_counted: its increment is known to be applied. */
void lab_increment_ended(struct lab_cluster_run *run, const struct lab_host_operation *operation,
                         bool is_counted);

/* --- The interface between the engine and the oracles, each of which has its own source file: what the
 * engine reports to them, and what they share with each other. They judge by the ledger (evidence.h). */
/* The operation's row was acknowledged. lab_findable_is_usual(): there is nothing to judge, since a reader
 * begins high enough and queries all replicas, and each acknowledged row of the partition is stored, so on at
 * least one of them. */
static inline bool lab_findable_is_usual(const struct lab_cluster_run *run,
                                         const struct lab_partition *partition)
{
    return run->oracles.finds_all && partition->balance == 0 && lab_keeps_state(run) &&
           partition->bucket <= run->oracles.keys[partition->key].state_bucket;
}
void lab_findable_acknowledged(struct lab_cluster_run *run, uint32_t key, struct lab_partition *partition,
                               const struct lab_host_operation *operation);
/* A read begins. Counts in operation->done.due the acknowledged rows, and in operation->beyond those that it
 * need not find, because they are in no window that it queries. */
void lab_findable_begun(const struct lab_cluster_run *run, struct lab_host_operation *operation,
                        const struct bk_query *query);
/* --- readers.c: the reads of the run. */
/* Returns how many rows a reader must find: `rows` less `excused`, but at most `wanted`. */
uint64_t lab_findable_due(uint64_t rows, uint64_t excused, uint64_t wanted);
/* A read of the workload found fewer than the `due` rows. */
void lab_findable_read(struct lab_cluster_run *run, const struct lab_host_operation *operation, uint64_t due);
bool lab_reads_judged(struct lab_cluster_run *run);
void lab_reads_forgotten(struct lab_cluster_run *run);
/* The operation's row was acknowledged: reads that begin now must find it. */
void lab_reads_acknowledged(struct lab_cluster_run *run, const struct lab_host_operation *operation);
/* A read has ended. */
void lab_read_ended(struct lab_cluster_run *run, struct lab_host_operation *operation,
                    const struct bk_action *action);
/* The key's state went back to a lower bucket. */
void lab_findable_lowered(struct lab_cluster_run *run, uint32_t key);
/* Returns the slot of the ring of newest rows that the next row usually takes. */
const struct lab_newest_row *lab_newest_next(const struct lab_oracles *oracles,
                                             const struct lab_key_ledger *ledger);
void lab_newest_stored(struct lab_cluster_run *run, uint32_t key, int64_t time_ns, int64_t bucket);
/* A row is put for the first time, not into the highest bucket, or it is not newer than all lower ones. */
void lab_order_placed(struct lab_cluster_run *run, const struct lab_partition *partition, uint64_t row,
                      int64_t time_ns, uint32_t agent);
/* An agent accepted a row with this time. */
void lab_lines_begun(struct lab_cluster_run *run, uint32_t key, int64_t time_ns);
/* A row is put for the first time. */
void lab_lines_placed(struct lab_cluster_run *run, struct lab_partition *partition, uint64_t row,
                      int64_t time_ns);
/* Returns the first line after a time according to the settings of that time; INT64_MAX if there is none.
 * The settings must have a greatest age. */
int64_t lab_line_above(const struct lab_cluster_run *run, int64_t time_ns);
int64_t lab_line_of(const struct bk_strategy *strategy, int64_t time_ns); /* by these settings */
/* Returns whether, with three states, the key's next line is so near that no change can be dated before it.
 */
bool lab_line_is_near(const struct lab_cluster_run *run, uint32_t key);
/* Returns whether the time is that of a line. False without a greatest age. */
bool lab_is_line(const struct lab_cluster_run *run, int64_t time_ns);
/* --- counts.c: bounded, live, filled, no_gaps. */
/* Returns whether the key's set of an agent's cache is shared by more keys than it holds, so that the key may
 * be evicted. */
bool lab_may_be_evicted(const struct lab_cluster_run *run, uint32_t key);
/* The operation's row was acknowledged, and may be counted from now on. lab_counts_are_usual(): no other row
 * of the key is being counted, and its state has not changed and does not change. */
static inline bool lab_counts_are_usual(const struct lab_cluster_run *run,
                                        const struct lab_partition *partition)
{
    const struct lab_key_ledger *ledger = &run->oracles.keys[partition->key];
    return ledger->counting == 0 && ledger->writes_open == 0 && partition->bucket >= ledger->state_bucket;
}
void lab_counts_acknowledged(struct lab_cluster_run *run, struct lab_partition *partition,
                             const struct lab_host_operation *operation);
/* The operation of a row that fires has ended. `is_counted`: its row was counted. */
void lab_counts_ended(struct lab_cluster_run *run, struct lab_partition *partition,
                      const struct lab_host_operation *operation, bool is_counted);
/* The key's state has changed; it named the bucket `before`, and names one that begins at change_ns. */
void lab_counts_changed(struct lab_cluster_run *run, uint32_t key, int64_t before, int64_t change_ns);
void lab_counts_end(struct lab_cluster_run *run);
/* For strategies whose rows fire: returns the mean increment of a counter by `rows` rows of `bytes` bytes in
 * total. */
double lab_mean_weight(const struct bk_strategy *strategy, uint64_t rows, uint64_t bytes);
/* The operation's row was acknowledged: lab_available_late() after more time than the bound. */
void lab_available_late(struct lab_cluster_run *run, const struct lab_host_operation *operation);
static inline void lab_available_acknowledged(struct lab_cluster_run *run,
                                              const struct lab_host_operation *operation)
{
    if (SIM_UNLIKELY(sim_queue_now(&run->queue) - operation->begun_ns > run->oracles.available_ns))
        lab_available_late(run, operation);
}
/* The operation ended without an acknowledgement. */
void lab_available_failed(struct lab_cluster_run *run, const struct lab_host_operation *operation,
                          bool is_refused);
/* A client of identifiers gets a batch; and it has no more actions. */
void lab_available_served(struct lab_cluster_run *run, uint32_t client);
void lab_available_waits(struct lab_cluster_run *run, uint32_t client);
/* --- available.c: the identifiers of a stripe that were handed out. */
/* Numbers within a stripe, from first to before end. Intervals are disjoint, not adjacent, and ascending. */
struct lab_id_span {
    int64_t first, end;
};
struct lab_id_spans {
    struct lab_id_span *items;
    size_t count, capacity;
};
/* Adds [first, end), first < end. Sets *twice to the number of identifiers that were in the set already.
 * Returns false when out of memory. */
bool lab_id_spans_add(struct lab_id_spans *spans, int64_t first, int64_t end, uint64_t *twice);
/* A client hands out the identifiers of a stripe from `first` to `last`. */
bool lab_unique_begin(struct lab_cluster_run *run);
void lab_unique_end(struct lab_oracles *oracles);
void lab_unique_given(struct lab_cluster_run *run, uint32_t client, int64_t first, int64_t last);
/* The operation had not ended at the end of the run. */
void lab_available_left(struct lab_cluster_run *run, const struct lab_host_operation *operation);
/* Returns whether a row may need a conditional update, for which agents contend, before it is acknowledged.
 */
bool lab_contends_for_rows(const struct lab_cluster_run *run);
/* Returns whether each row makes a conditional update of its key's state that contends with those of other
 * rows, and waits for it: for its number, or for the roll at a line. */
bool lab_contends_by_row(const struct lab_cluster_run *run);
int64_t lab_available_bound_ns(const struct lab_cluster_run *run);
/* The operation writes the bucket or the dates of the key's state. */
void lab_filled_changing(struct lab_cluster_run *run, const struct lab_host_operation *operation);
/* It is unknown whether the operation's row was counted, or how often. */
void lab_filled_unknown(struct lab_cluster_run *run, const struct lab_host_operation *operation);
void lab_conserved_end(struct lab_cluster_run *run);
/* Heals the cluster, lets it deliver hints and messages that are still due, and judges. This changes the
 * cluster, so call it when the result of the run is complete. */
void lab_conserved_delivered(struct lab_cluster_run *run);
/* --- Rows that expire. Without a time to live of rows, these functions do nothing. */
/* Returns false when out of memory. */
bool lab_lives_begin(struct lab_cluster_run *run);
void lab_lives_destroy(struct lab_oracles *oracles);
/* A row whose write began at begun_ns is put into a bucket for the first time. */
void lab_lives_placed(struct lab_cluster_run *run, uint32_t key, int64_t begun_ns);
/* The row whose write began at begun_ns was acknowledged. */
void lab_lives_acknowledged(struct lab_cluster_run *run, uint32_t key, int64_t begun_ns);
/* A first replica stored a row. */
void lab_lives_stored(struct lab_cluster_run *run, uint32_t key);
/* Returns how many of the key's acknowledged rows cannot have expired yet. */
uint64_t lab_lives_left(const struct lab_cluster_run *run, uint32_t key);
/* A read ended and found rows. */
void lab_expired_read(struct lab_cluster_run *run, const struct lab_host_operation *operation);
/* The run ended. `expired`: the number of rows that expired in the cluster. */
void lab_expired_end(struct lab_cluster_run *run, uint64_t expired);

/* --- Records probes (rare paths), conditions that a guarantee may except, and the agents' views. */
/* --- conditions.c: probes and conditions. */
void lab_watch_asked(struct lab_cluster_run *run, struct lab_host_operation *operation,
                     const struct bk_action *action, const struct cass_statement *statement);
void lab_watch_outcome(struct lab_cluster_run *run, struct lab_host_operation *operation,
                       enum bk_outcome_kind outcome);
/* Called when the operation's write of the state, if it had one, is no longer under way. */
void lab_state_write_ended(struct lab_cluster_run *run, struct lab_host_operation *operation,
                           enum bk_outcome_kind outcome);
/* Called when a key's state has changed although no write of it is under way, or has changed back. */
void lab_watch_late_effect(struct lab_cluster_run *run, uint32_t key);
/* Called when a fault of this kind begins. */
void lab_watch_fault(struct lab_cluster_run *run, enum lab_fault_kind kind);

/* Adds the number of violations of every oracle that applies. */
bool lab_metrics_of_oracles(const struct lab_verdict *verdict, struct lab_metrics *out);

#endif
