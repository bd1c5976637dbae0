/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the oracles share.
 *
 *     engine, mock --events--> conditions.c   what a guarantee may except, and whether anything fails now
 *                              ledger.c       an account of each key and partition --+
 *                                                                                    | the same events, and
 *     the oracles, restored (cluster_twin.c)  <--------------------------------------+ "what the ledger
 *          |                                                                           finds"
 *          +--lab_violate()--> conditions.c: the verdict, with the conditions that excuse each violation
 *
 * An oracle is a file here with a struct cluster_observer (events.h), and a row in CLUSTER_OBSERVER_MAP: what
 * it wants to hear in a run, or nothing when it does not apply; what it judges; and nothing else calls it.
 * Its name and sentence are a row in lab/oracle.h, and who guarantees it is a row in result/guarantee.c. The
 * ledger does not report rows that prove nothing, as most do: they were acknowledged in time, every reader
 * finds them, they are in order, and they do not fire. */
#ifndef LAB_ORACLES_H
#define LAB_ORACLES_H

#include "cluster_run.h"

/* --- ledger.c: rows, by key and partition. */
/* Prefetches what a row of the key, which will arrive soon, needs of its partition. */
void lab_oracles_prefetch_partition(const struct lab_cluster_run *run, uint32_t key);
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
/* Compares two struct lab_open_row by key, row and bucket, for qsort(). */
int lab_open_compare(const void *a, const void *b);

/* --- conditions.c: violations, and the conditions that excuse them. */
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
/* Ends the run before its next event, without the results of its end. */
static inline void lab_stop_early(struct lab_cluster_run *run)
{
    run->is_over = true;
    run->pause_at = 0;
}
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
/* Settles doubts that are excused by now; at the end, all doubts. */
void lab_excuses_settle(struct lab_cluster_run *run, bool is_end);
/* Called when a row has arrived whose conditional updates may delay those of other rows of the key. */
void lab_condition_crowd(struct lab_cluster_run *run, uint32_t key);
/* Called when a key's state has changed although no write of it is under way, or has changed back. */
void lab_watch_late_effect(struct lab_cluster_run *run, uint32_t key);
/* The number of replicas that a reader certainly queries; 0: it depends on the reader's datacenter. */
uint32_t lab_read_replicas(const struct lab_scenario *scenario);
/* The mean one-way latency between the two most distant places. */
int64_t lab_longest_trip_ns(const struct lab_scenario *scenario);
/* A length that a node's pauses exceed with a chance of 10^-12; 0: it has none. */
int64_t lab_longest_pause_ns(const struct lab_scenario *scenario);
/* Whether a plain read of states and counters may miss what a plain write has stored. */
bool lab_plain_state_is_weak(const struct lab_cluster_run *run);
/* Returns whether each row makes a conditional update of its key's state that contends with those of other
 * rows, and waits for it: for its number, or for the roll at a line. */
bool lab_contends_by_row(const struct lab_cluster_run *run);

/* --- conditions.c: whether anything fails at present. */
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

/* --- What several oracles ask of a run. */
/* Whether partitions close at a number of rows, or of rows that fire. */
static inline bool lab_counts_rows(const struct lab_cluster_run *run)
{
    return run->idgen == NULL && (lab_rows_fire(run) || run->config.strategy.kind == BK_KIND_COUNT);
}
/* Whether an action writes more of a state than its count. */
static inline bool lab_writes_state(const struct bk_action *action)
{
    return (action->kind == BK_ACT_WRITE_STATE || action->kind == BK_ACT_CAS_STATE) &&
           (action->mask & ~(1u << BK_COLUMN_COUNTER)) != 0;
}
/* bounded.c: the greatest (is_most) or the least threshold of the settings that apply to a partition's rows.
 */
uint64_t lab_threshold_of(const struct lab_cluster_run *run, const struct lab_partition *partition,
                          bool is_most);
/* bounded.c: whether the key's set of an agent's cache is shared by more keys than it holds, so that the key
 * may be evicted. */
bool lab_may_be_evicted(const struct lab_cluster_run *run, uint32_t key);
/* bounded.c: the mean increment of a counter by `rows` rows of `bytes` bytes in total, where rows fire. */
double lab_mean_weight(const struct bk_strategy *strategy, uint64_t rows, uint64_t bytes);
/* newest.c: the slot of the ring of newest rows that the next row usually takes. */
const struct lab_newest_row *lab_newest_next(const struct lab_oracles *oracles,
                                             const struct lab_key_ledger *ledger);
/* available.c: the time within which a row must be acknowledged if nothing fails, and whether a row may need
 * a conditional update, for which agents contend, before it is acknowledged. */
int64_t lab_available_bound_ns(const struct lab_cluster_run *run);
bool lab_contends_for_rows(const struct lab_cluster_run *run);
/* expired.c: how many of the key's acknowledged rows cannot have expired yet, and, at the end of the run,
 * whether the cluster can have this many expired rows. */
uint64_t lab_lives_left(const struct lab_cluster_run *run, uint32_t key);
void lab_expired_end(struct lab_cluster_run *run, uint64_t expired);
/* findable.c: how many rows a reader must find: `rows` less `excused`, but at most `wanted`; and a read of
 * the workload found fewer than the `due` rows. */
uint64_t lab_findable_due(uint64_t rows, uint64_t excused, uint64_t wanted);
void lab_findable_read(struct lab_cluster_run *run, const struct lab_host_operation *operation, uint64_t due);
/* lines.c. */
/* Returns the first line after a time according to the settings of that time; INT64_MAX if there is none.
 * The settings must have a greatest age. */
int64_t lab_line_above(const struct lab_cluster_run *run, int64_t time_ns);
int64_t lab_line_of(const struct bk_strategy *strategy, int64_t time_ns); /* by these settings */
/* Returns whether, with three states, the key's next line is so near that no change can be dated before it.
 */
bool lab_line_is_near(const struct lab_cluster_run *run, uint32_t key);
/* Returns whether the time is that of a line. False without a greatest age. */
bool lab_is_line(const struct lab_cluster_run *run, int64_t time_ns);
/* --- unique.c: the identifiers of a stripe that were handed out. */
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

#endif
