/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The interface between the engine and the oracles, each of which has its own source file: what the engine
 * reports to them, and what they share with each other. They judge by the ledger (evidence.h). */
#ifndef LAB_ORACLES_H
#define LAB_ORACLES_H

#include "evidence.h"

/* --- concerns.c passes the actions and outcomes of an operation to the oracles that they concern. */
void lab_concerns_begin(struct lab_cluster_run *run);
/* The agent chose the operation's next action. */
void lab_oracles_acted(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                       const struct bk_action *next);

/* The current bucket of a key according to an agent. */
struct lab_known_bucket {
    bool is_known;
    int64_t bucket;
};
/* Returns a mask of the conditions under which a committed state may be lost, so that two grants of the same
 * bucket may have different starts. */
uint32_t lab_may_go_back(const struct lab_cluster_run *run);
/* Judges whether an operation repeats a failed request as often as it should. `is_again`: `next` repeats it.
 * Call this before operation->tried is updated. */
void lab_steps_tried(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                     const struct bk_action *next, bool is_again);
void lab_route_acted(struct lab_cluster_run *run, uint32_t agent, const struct lab_host_operation *operation,
                     const struct bk_action *next);
void lab_reads_acted(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                     const struct bk_action *next);
/* Returns the current bucket of the operation's key according to the agent. is_known is false unless the
 * operation's last request was about the state row. */
struct lab_known_bucket lab_known_bucket(const struct lab_cluster_run *run, uint32_t agent,
                                         const struct lab_host_operation *operation);
/* Judges that the agent's current bucket did not go back by an outcome. `before`: as lab_oracles_heard()
 * returned it. */
void lab_known_heard(struct lab_cluster_run *run, uint32_t agent, const struct lab_host_operation *operation,
                     const struct lab_known_bucket *before);
/* The operation's row was acknowledged. lab_findable_is_usual(): there is nothing to judge, since a reader
 * begins high enough and queries all replicas, and each acknowledged row of the partition is stored, so on at
 * least one of them. */
static inline bool lab_findable_is_usual(const struct lab_cluster_run *run,
                                         const struct lab_partition *partition)
{
    return run->oracles.concerns.finds && partition->balance == 0 && lab_keeps_state(run) &&
           partition->bucket <= run->oracles.keys[partition->key].state_bucket;
}
void lab_findable_acknowledged(struct lab_cluster_run *run, uint32_t key, struct lab_partition *partition,
                               const struct lab_host_operation *operation);
/* A read begins. Counts in operation->beyond the acknowledged rows that it need not find, because they are in
 * no window that it queries. */
void lab_findable_begun(const struct lab_cluster_run *run, struct lab_host_operation *operation,
                        const struct bk_query *query);
/* Returns how many rows a reader must find: `rows` less `excused`, but at most `wanted`. */
uint64_t lab_findable_due(uint64_t rows, uint64_t excused, uint64_t wanted);
/* A read of the workload found fewer than the `due` rows. */
void lab_findable_read(struct lab_cluster_run *run, const struct lab_host_operation *operation, uint64_t due);
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
/* Judges the agent's next action for a row that has not been put, by the state that the agent last read. */
void lab_lines_acted(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                     const struct bk_action *next);
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
/* A row or a read, or a request of one, took from since_ns until now; returns how long. */
static inline int64_t lab_request_spent(struct lab_cluster_run *run, enum lab_latency kind, int64_t since_ns)
{
    int64_t spent_ns = sim_queue_now(&run->queue) - since_ns;
    run->oracles.spent_ns[kind] += (uint64_t)spent_ns;
    run->oracles.spent[kind]++;
    return spent_ns;
}
/* The operation's row was acknowledged: lab_available_late() after more time than the bound. */
void lab_available_late(struct lab_cluster_run *run, const struct lab_host_operation *operation);
static inline void lab_available_acknowledged(struct lab_cluster_run *run,
                                              const struct lab_host_operation *operation)
{
    int64_t spent_ns = lab_request_spent(run, LAB_LATENCY_WRITE, operation->begun_ns);
    if (SIM_UNLIKELY(spent_ns > run->oracles.available_ns))
        lab_available_late(run, operation);
}
/* The operation ended: lab_available_failed() without an acknowledgement. */
void lab_available_failed(struct lab_cluster_run *run, const struct lab_host_operation *operation,
                          bool is_refused);
static inline void lab_available_ended(struct lab_cluster_run *run,
                                       const struct lab_host_operation *operation, bool is_refused)
{
    if (SIM_UNLIKELY(!operation->is_acknowledged))
        lab_available_failed(run, operation, is_refused);
}
/* The operation had not ended at the end of the run. */
void lab_available_left(struct lab_cluster_run *run, const struct lab_host_operation *operation);
/* Returns whether a row may need a conditional update, for which agents contend, before it is acknowledged.
 */
bool lab_contends_for_rows(const struct lab_cluster_run *run);
/* Returns whether each row makes a conditional update of its key's state that contends with those of other
 * rows, and waits for it: for its number, or for the roll at a line. */
bool lab_contends_by_row(const struct lab_cluster_run *run);
int64_t lab_available_bound_ns(const struct lab_cluster_run *run);
/* Returns whether the operation's last request must be repeated because it failed or was not answered. With
 * guarded, this also includes an update that found no row, and an answer that no update can have written. */
bool lab_request_failed(const struct lab_cluster_run *run, const struct lab_host_operation *operation);
/* Judges how long the operation waited before the first action since it began or since its last outcome. */
void lab_waits_acted(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                     const struct bk_action *next);
/* With `locked`: judges the operation's next action by the protocol of the lock. */
void lab_lock_acted(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                    const struct bk_action *next);
/* With `locked`: the operation has an outcome that the agent has not seen yet. */
void lab_lock_heard(const struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation);
/* Returns true if no other operation of the agent uses the key's lock. */
bool lab_lock_is_alone(const struct lab_cluster_run *run, uint32_t agent,
                       const struct lab_host_operation *operation);
/* The agent stored the operation's row, so its next reads must not skip the row's window. */
void lab_reads_keep(struct lab_cluster_run *run, uint32_t agent, const struct lab_host_operation *operation);
static inline void lab_reads_stored(struct lab_cluster_run *run, uint32_t agent,
                                    const struct lab_host_operation *operation)
{
    if (SIM_UNLIKELY(run->config.remember_keys > 0))
        lab_reads_keep(run, agent, operation);
}
/* --- Which windows an agent remembers as empty. */
/* A step of a read was answered. */
void lab_empties_heard(struct lab_cluster_run *run, uint32_t agent,
                       const struct lab_host_operation *operation);
/* The agent stored a row. */
void lab_empties_stored(struct lab_cluster_run *run, uint32_t agent,
                        const struct lab_host_operation *operation);
/* The agent restarted. `is_known` is false if it restarted with a memory of unknown contents, so that nothing
 * can be judged by it. */
void lab_empties_forgotten(struct lab_cluster_run *run, uint32_t agent, bool is_known);
/* A read of the agent skips the windows from `high` down to `low`. Returns false if the agent cannot know
 * that all of them are empty. */
bool lab_empties_know(const struct lab_cluster_run *run, uint32_t agent, uint32_t key, int64_t low,
                      int64_t high);
void lab_steps_acted(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                     const struct bk_action *next);
/* Returns LAB_CONCERNS_STEPS if the oracle of steps is concerned when action `next` of a row that fires or
 * does not follows action `heard`, otherwise 0. It is always concerned by a refusal. */
unsigned lab_steps_concern(const struct lab_cluster_run *run, bool fires, enum bk_action_kind heard,
                           enum bk_action_kind next);
/* Returns whether an agent's copies of states expire, so that it must read the state again. */
bool lab_copies_run_out(const struct lab_cluster_run *run);
/* Returns whether an agent forgets its copy when a request of this kind fails for the last time. */
bool lab_copies_may_go(enum bk_action_kind heard);
/* --- The greatest possible age of an agent's copies of states. */
/* The operation has an outcome that the agent has not acted on yet. */
void lab_copies_heard(struct lab_cluster_run *run, uint32_t agent,
                      const struct lab_host_operation *operation);
/* Returns whether the agent's cache certainly has an entry of the key, unless other keys have evicted it. */
bool lab_copies_has(const struct lab_cluster_run *run, uint32_t agent, uint32_t key);
/* The agent restarted. */
void lab_copies_forgotten(struct lab_cluster_run *run, uint32_t agent);
/* Judges that the agent does not use an expired copy for its next action, unless another key has taken the
 * place of the operation's. */
void lab_copies_judge(struct lab_cluster_run *run, uint32_t agent, const struct lab_host_operation *operation,
                      const struct bk_action *next);
static inline void lab_copies_acted(struct lab_cluster_run *run, uint32_t agent,
                                    const struct lab_host_operation *operation, const struct bk_action *next)
{
    const struct lab_copy *copy = &run->agents[agent].copies[operation->key % LAB_COPIES];
    if (!copy->is_known || copy->key == operation->key)
        lab_copies_judge(run, agent, operation, next);
}
/* Returns whether the operation, which has not acted since its last outcome, may be parked: whether it may
 * wait for the request of another operation on the same key. */
bool lab_may_be_parked(const struct lab_cluster_run *run, const struct lab_host_operation *operation);
/* Judges the outcome of an operation, which includes this reply. The OK to a put has no contents. */
void lab_reply_judge(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                     const struct cass_reply *reply);
static inline void lab_reply_heard(struct lab_cluster_run *run, uint32_t agent,
                                   struct lab_host_operation *operation, const struct cass_reply *reply)
{
    operation->answers++;
    if (operation->action != BK_ACT_PUT_ROW || reply->result != CASS_OK || run->oracles.concerns.all)
        lab_reply_judge(run, agent, operation, reply);
}
/* Whether other operations may be parked until a request of this kind is answered. */
bool lab_asks_for_key(enum bk_action_kind kind);
/* An operation sends a request of this kind. With guarded, no other operation of the agent on the key may
 * wait for the answer to one that lab_asks_for_key(). */
void lab_parked_acted(struct lab_cluster_run *run, uint32_t agent, const struct lab_host_operation *operation,
                      enum bk_action_kind kind);
/* The operation began or has an outcome, and its agent took all its actions. If the operation may be parked
 * and still waits for an action, it counts as parked. */
void lab_parked_begins(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation);
void lab_parked_ends(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation);
/* An operation on the key had the outcome of an action of this kind, and the agent took all its actions. */
void lab_parked_heard(struct lab_cluster_run *run, uint32_t agent, uint32_t key, enum bk_action_kind kind);
/* The operation's row was acknowledged, and may be counted from now on. lab_filled_is_usual(): no other row
 * of the key is being counted, and its state has not changed and does not change. */
static inline bool lab_filled_is_usual(const struct lab_cluster_run *run,
                                       const struct lab_partition *partition)
{
    const struct lab_key_ledger *ledger = &run->oracles.keys[partition->key];
    return ledger->counting == 0 && ledger->writes_open == 0 && partition->bucket >= ledger->state_bucket &&
           !run->oracles.concerns.all;
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
/* --- oracle_host.c: the host of the agents. */
/* Returns whether the host has records to be judged by: not in a history. */
static inline bool lab_host_is_judged(const struct lab_cluster_run *run)
{
    return run->oracles.records != NULL && run->replay == NULL;
}
bool lab_host_begin(struct lab_cluster_run *run);
void lab_host_end(struct lab_oracles *oracles);
void lab_host_faulted(struct lab_cluster_run *run, const struct lab_active_fault *fault, int64_t lasts_ns);
/* A copy is made for a fault of the scenario: of an agent, or of a state row. */
void lab_host_kept(struct lab_cluster_run *run, uint32_t fault, bool is_agent);
/* The agent's checkpoint was saved. */
void lab_host_saved(struct lab_cluster_run *run, uint32_t agent);
void lab_host_state_set(struct lab_cluster_run *run, const struct lab_active_fault *fault);
/* The agent is up again; is_kept: with its checkpoint. */
void lab_host_restarted(struct lab_cluster_run *run, uint32_t agent, bool is_kept);
/* The agent was chosen by this draw; UINT32_MAX: none is up. */
void lab_host_chosen(struct lab_cluster_run *run, uint32_t key, uint32_t agent, uint64_t draw);
/* The agent, or UINT32_MAX, gets the key's row with this number, whose own time is time_ns. */
void lab_host_writes(struct lab_cluster_run *run, uint32_t agent, uint32_t key, uint64_t number,
                     const struct lab_arrival *arrival, int64_t time_ns);
/* Whether the agent began without knowledge, as far as is known. */
bool lab_host_is_cold(const struct lab_cluster_run *run, uint32_t agent);
/* The agent, which was chosen by this draw, gets a read, with the key's birth and newest number. */
void lab_host_reads(struct lab_cluster_run *run, uint32_t agent, uint32_t key, uint64_t draw,
                    int64_t birth_ns, uint64_t newest);
/* A read begins; operation->done.due: the rows that it has to find. */
void lab_host_due(struct lab_cluster_run *run, const struct lab_host_operation *operation,
                  const struct bk_query *query);
/* Whether the agent should be up, and is not paused: the oracle has nothing to judge about its events. */
static inline bool lab_host_is_up(const struct lab_cluster_run *run, uint32_t agent)
{
    int64_t now_ns = sim_queue_now(&run->queue);
    return now_ns >= run->oracles.records[agent].down_until_ns && now_ns >= run->agents[agent].held_until_ns;
}
/* The agent handles an event: lab_host_hears_now() while it should be down, or is paused. */
void lab_host_hears_now(struct lab_cluster_run *run, uint32_t agent) __attribute__((cold));
static inline void lab_host_hears(struct lab_cluster_run *run, uint32_t agent)
{
    if (lab_host_is_judged(run) && !lab_host_is_up(run, agent))
        lab_host_hears_now(run, agent);
}
/* An event of the agent waits for the end of its pause. */
void lab_host_waits(struct lab_cluster_run *run, uint32_t agent);
/* A reply of the cluster has come to an agent that is paused. */
void lab_host_came(struct lab_cluster_run *run, const struct sim_event *reply);
/* The operation has an outcome. */
void lab_host_answered(struct lab_cluster_run *run, uint32_t agent,
                       const struct lab_host_operation *operation);
/* Whether lab_host_answered() has nothing to judge, as for most rows: the answer to a put came in time, and
 * its agent was up. */
static inline bool lab_host_is_usual(const struct lab_cluster_run *run, uint32_t agent,
                                     const struct lab_host_operation *operation)
{
    return operation->action == BK_ACT_PUT_ROW && operation->outcome.kind == BK_OUTCOME_APPLIED &&
           operation->answers == 1 && operation->came_ns == 0 && lab_host_is_up(run, agent) &&
           sim_queue_now(&run->queue) - operation->asked_ns <= run->scenario->agents.timeout_ns;
}
/* --- oracle_settings.c: the settings of agents. */
void lab_settings_begin(struct lab_cluster_run *run);
/* The agent was given this change of settings. */
void lab_settings_deployed(struct lab_cluster_run *run, uint32_t agent, uint32_t change);
/* The agent begins again with this history. */
void lab_settings_restarted(struct lab_cluster_run *run, uint32_t agent, const struct bk_history *history);
void lab_settings_end(struct lab_cluster_run *run);
/* --- oracle_requests.c: the statements of requests. */
void lab_request_sent(struct lab_cluster_run *run, uint32_t agent, struct lab_host_operation *operation,
                      const struct bk_action *action, const struct cass_statement *sent);
/* The result is complete. */
void lab_requests_end(struct lab_cluster_run *run);
/* A try of a delete was sent; it was refused, is not known to be applied, or is_timeout: was not answered. */
void lab_delete_sent(struct lab_cluster_run *run, struct lab_delete *item, const struct cass_statement *sent);
void lab_delete_failed(struct lab_cluster_run *run, struct lab_delete *item, bool is_timeout);
/* A fault begins and lasts for lasts_ns. */
void lab_faults_begun(struct lab_cluster_run *run, const struct lab_active_fault *fault, int64_t lasts_ns);
/* An agent acts for the key. */
void lab_faults_acted(struct lab_cluster_run *run, uint32_t agent, uint32_t key);
/* A fault began or ended, and the cluster has applied it. lasts_ns: how long it lasts; 0: it ended. */
void lab_faults_changed(struct lab_cluster_run *run, const struct lab_active_fault *fault, int64_t lasts_ns);
void lab_faults_ended(struct lab_cluster_run *run, const struct lab_active_fault *fault);
/* A delete ended with this reply, or with NULL if its last try was not answered. */
void lab_delete_ended(struct lab_cluster_run *run, const struct lab_delete *item,
                      const struct cass_reply *reply);
void lab_conserved_end(struct lab_cluster_run *run);
void lab_replicas_end(struct lab_cluster_run *run);
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

/* --- concerns.c: the outcome of an operation, which the agent has not seen yet. Returns the agent's current
 * bucket before it sees the outcome; is_known is false if lab_known_heard() is not to judge the change. */
struct lab_known_bucket lab_oracles_tell_heard(struct lab_cluster_run *run, uint32_t agent,
                                               struct lab_host_operation *operation);
static inline struct lab_known_bucket lab_oracles_heard(struct lab_cluster_run *run, uint32_t agent,
                                                        struct lab_host_operation *operation)
{
    const struct lab_concerns *concerns = &run->oracles.concerns;
    if (lab_host_is_judged(run) && concerns->outcome[operation->action] == 0 &&
        lab_host_is_usual(run, agent, operation))
        return (struct lab_known_bucket){false, 0};
    return lab_oracles_tell_heard(run, agent, operation);
}

#endif
