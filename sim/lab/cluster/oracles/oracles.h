/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the engine tells the oracles, one file each, and what they offer each other. They judge by the ledger.
 */
#ifndef LAB_ORACLES_H
#define LAB_ORACLES_H

#include "evidence.h"

/* --- concerns.c: what an operation asks, and what it has heard, to the oracles that this concerns. */
void lab_concerns_begin(struct lab_cluster_run *run);
void lab_oracles_acted(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                       const struct bk_action *next);

/* Where an agent takes a key to be. */
struct lab_known_bucket {
    bool is_known;
    int64_t bucket;
};
/* Returns what the agent knows before it hears that, where it may be judged by that. */
struct lab_known_bucket lab_oracles_heard(struct lab_cluster_run *run, uint32_t agent,
                                          struct lab_host_operation *operation);

/* What may take a state back that was committed: two grants of one bucket then have different starts. */
uint32_t lab_may_go_back(const struct lab_cluster_run *run);
/* What follows a request that failed, before it is known as the next try; then any next action. */
void lab_steps_tried(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                     const struct bk_action *next, bool is_again);
void lab_route_acted(struct lab_cluster_run *run, uint32_t agent, const struct lab_host_operation *operation,
                     const struct bk_action *next);
void lab_reads_acted(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                     const struct bk_action *next);
/* Where the agent takes the operation's key to be, before it hears of the state; and after. */
struct lab_known_bucket lab_known_bucket(const struct lab_cluster_run *run, uint32_t agent,
                                         const struct lab_host_operation *operation);
void lab_known_heard(struct lab_cluster_run *run, uint32_t agent, const struct lab_host_operation *operation,
                     const struct lab_known_bucket *before);
void lab_findable_acknowledged(struct lab_cluster_run *run, uint32_t key, struct lab_partition *partition,
                               const struct lab_host_operation *operation);
/* A read begins. Counts the acknowledged rows that it need not find, as no window that it walks has them. */
void lab_findable_begun(const struct lab_cluster_run *run, struct lab_host_operation *operation,
                        const struct bk_query *query);
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
/* The agent's next action for a row that has not been put, by the state that it goes by. */
void lab_lines_acted(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                     const struct bk_action *next);
/* With three states: a line comes too soon for a change to be dated before it. */
bool lab_line_is_near(const struct lab_cluster_run *run, uint32_t key);
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
/* Of an action after that one: LAB_CONCERNS_STEPS, LAB_CONCERNS_FIRING, or 0. A refusal always concerns it.
 */
unsigned lab_steps_concern(const struct lab_cluster_run *run, enum bk_action_kind heard,
                           enum bk_action_kind next);
/* Whether copies run out, so that they are asked for again. */
bool lab_copies_run_out(const struct lab_cluster_run *run);
/* What an agent's copies of states are at most as young as: it has heard an outcome, and not yet acted on it;
 * it begins a life; then any next action. */
void lab_copies_heard(struct lab_cluster_run *run, uint32_t agent,
                      const struct lab_host_operation *operation);
void lab_copies_forgotten(struct lab_cluster_run *run, uint32_t agent);
void lab_copies_acted(struct lab_cluster_run *run, uint32_t agent, const struct lab_host_operation *operation,
                      const struct bk_action *next);
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
/* A fault begins; an agent acts, for the key; a fault has begun, or has ended, and the cluster knows. */
void lab_faults_begun(struct lab_cluster_run *run, const struct lab_active_fault *fault, int64_t lasts_ns);
void lab_faults_acted(struct lab_cluster_run *run, uint32_t agent, uint32_t key);
void lab_faults_changed(struct lab_cluster_run *run, const struct lab_active_fault *fault);
void lab_faults_ended(struct lab_cluster_run *run, const struct lab_active_fault *fault);
/* By this reply, or with NULL without one. */
void lab_delete_ended(struct lab_cluster_run *run, const struct lab_delete *item,
                      const struct cass_reply *reply);
void lab_conserved_end(struct lab_cluster_run *run);
void lab_replicas_end(struct lab_cluster_run *run);
/* After the run, and all that is told of it: heals the cluster, lets it deliver what it owes, and judges. */
void lab_conserved_delivered(struct lab_cluster_run *run);
void lab_live_fired(struct lab_cluster_run *run, struct lab_partition *partition);
void lab_live_end(struct lab_cluster_run *run);
/* Rows that expire. */
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

#endif
