/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the oracles judge by: the ledger, what a guarantee excepts, and whether anything fails now. */
#ifndef LAB_EVIDENCE_H
#define LAB_EVIDENCE_H

#include "cluster_run.h"

/* --- ledger.c: rows, by key and partition; violations. */
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
/* The partition, or LAB_NO_PARTITION: in the table; mostly it is the one that was asked for last. */
uint32_t lab_partition_search(const struct lab_oracles *oracles, uint32_t key, int64_t bucket);
static inline uint32_t lab_partition_find(const struct lab_oracles *oracles, uint32_t key, int64_t bucket)
{
    uint32_t recent = oracles->keys[key].recent;
    if (recent != LAB_NO_PARTITION && oracles->partitions[recent].bucket == bucket)
        return recent;
    return lab_partition_search(oracles, key, bucket);
}
/* Makes the table again, for the partitions as they are; false when out of memory. */
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
/* Of two struct lab_open_row, for qsort(): by key, row and bucket. */
int lab_open_compare(const void *a, const void *b);

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

/* --- conditions.c: what happened that a guarantee excepts. */
void lab_conditions_begin(struct lab_cluster_run *run);
void lab_conditions_end(struct lab_cluster_run *run);
/* Replicas that a reader surely asks; 0: which ones depends on where it stands. */
uint32_t lab_read_replicas(const struct lab_scenario *scenario);
/* On average, one way, between the two places that are furthest apart. */
int64_t lab_longest_trip_ns(const struct lab_scenario *scenario);
/* Whether a plain read of states and counters may miss what a plain write has stored. */
bool lab_plain_state_is_weak(const struct lab_cluster_run *run);

/* --- health.c: whether anything fails. */
void lab_health_begin(struct lab_cluster_run *run);
void lab_health_fault(struct lab_cluster_run *run, bool begins);
/* A fault that ends by itself then. */
void lab_health_pulse(struct lab_cluster_run *run, int64_t until_ns);
int64_t lab_health_unhealthy_ns(const struct lab_cluster_run *run);
/* For so long nothing has failed; below 0: something fails. */
int64_t lab_health_well_ns(const struct lab_cluster_run *run);

/* --- increments.c: of counter columns. */
void lab_increment_asked(struct lab_cluster_run *run, uint64_t counter, uint64_t row, uint64_t amount);
void lab_increment_applied(struct lab_cluster_run *run, uint64_t counter, uint64_t row, uint64_t amount);
/* A counter is read: what acknowledged increments had added by then, and whether the read finds it. */
void lab_total_asked(struct lab_cluster_run *run, struct lab_host_operation *operation);
/* That, or an increment, has succeeded. */
void lab_total_heard(struct lab_cluster_run *run, const struct lab_host_operation *operation);
/* So many were made that nobody asked for. */
void lab_increment_doubled(struct lab_cluster_run *run, uint64_t counter, uint64_t count);
/* The row's operation has ended; is_counted: its increment is known to have been made. */
void lab_increment_ended(struct lab_cluster_run *run, const struct lab_host_operation *operation,
                         bool is_counted);
void lab_increments_end(struct lab_cluster_run *run);
/* Puts one that was saved, and is not there yet; false when out of memory. */
bool lab_increment_restore(struct lab_increments *increments, const struct lab_increment *increment);

#endif
