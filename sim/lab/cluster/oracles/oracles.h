/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The interface between the engine and the oracles, each of which has its own source file: what the engine
 * reports to them, and what they share with each other. They judge by the ledger (evidence.h). */
#ifndef LAB_ORACLES_H
#define LAB_ORACLES_H

#include "evidence.h"

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
/* --- oracle_findable.c: the reads of the run. */
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
/* An agent puts a row for the first time. `higher`: the earliest row of all higher partitions. */
void lab_agreement_placed(struct lab_cluster_run *run, const struct lab_partition *partition, uint64_t row,
                          int64_t time_ns, uint32_t agent, const struct lab_extreme *higher);
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
void lab_monotone_placed(struct lab_cluster_run *run, const struct lab_partition *partition, uint64_t row,
                         int64_t time_ns, const struct lab_extreme *higher);
/* Returns the earliest time at which the disorder of two rows with these times may have been caused. */
int64_t lab_order_cause_ns(const struct lab_cluster_run *run, int64_t time_ns, int64_t other_ns);
void lab_no_gaps_changed(struct lab_cluster_run *run, uint32_t key);
void lab_no_gaps_end(struct lab_cluster_run *run);
void lab_no_duplicates_end(struct lab_cluster_run *run);
void lab_bounded_end(struct lab_cluster_run *run);
/* Returns whether the key's set of an agent's cache is shared by more keys than it holds, so that the key may
 * be evicted. */
bool lab_may_be_evicted(const struct lab_cluster_run *run, uint32_t key);
/* The key's state names a later bucket, which begins at change_ns. */
void lab_bounded_rolled(struct lab_cluster_run *run, uint32_t key, int64_t change_ns);
/* The operation's row was acknowledged while other rows of the key are being counted. */
void lab_bounded_at_once(struct lab_cluster_run *run, struct lab_partition *partition,
                         const struct lab_host_operation *operation);
/* The operation ended. `is_counted`: its row was counted. */
void lab_bounded_counted(struct lab_cluster_run *run, struct lab_partition *partition,
                         const struct lab_host_operation *operation, bool is_counted);
/* Returns the greatest (is_most) or the least threshold of the settings that apply to the partition's rows.
 */
uint64_t lab_threshold_of(const struct lab_cluster_run *run, const struct lab_partition *partition,
                          bool is_most);
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
/* --- oracle_unique.c: the identifiers of a stripe that were handed out. */
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
/* The operation's row was acknowledged, and may be counted from now on. lab_filled_is_usual(): no other row
 * of the key is being counted, and its state has not changed and does not change. */
static inline bool lab_filled_is_usual(const struct lab_cluster_run *run,
                                       const struct lab_partition *partition)
{
    const struct lab_key_ledger *ledger = &run->oracles.keys[partition->key];
    return ledger->counting == 0 && ledger->writes_open == 0 && partition->bucket >= ledger->state_bucket;
}
void lab_filled_acknowledged(struct lab_cluster_run *run, const struct lab_partition *partition,
                             const struct lab_host_operation *operation);
/* The operation writes the bucket or the dates of the key's state. */
void lab_filled_changing(struct lab_cluster_run *run, const struct lab_host_operation *operation);
/* It is unknown whether the operation's row was counted, or how often. */
void lab_filled_unknown(struct lab_cluster_run *run, const struct lab_host_operation *operation);
/* The key's state names a later bucket than `before`. */
void lab_filled_rolled(struct lab_cluster_run *run, uint32_t key, int64_t before);
void lab_filled_end(struct lab_cluster_run *run);
void lab_conserved_end(struct lab_cluster_run *run);
/* Heals the cluster, lets it deliver hints and messages that are still due, and judges. This changes the
 * cluster, so call it when the result of the run is complete. */
void lab_conserved_delivered(struct lab_cluster_run *run);
void lab_live_fired(struct lab_cluster_run *run, struct lab_partition *partition);
void lab_live_end(struct lab_cluster_run *run);
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

#endif
