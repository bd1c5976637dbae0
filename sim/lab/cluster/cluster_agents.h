/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The host of the agents: agents, their operations, their requests to the cluster and the outcomes. */
#ifndef LAB_CLUSTER_AGENTS_H
#define LAB_CLUSTER_AGENTS_H

#include "cluster_run.h"

/* --- cluster_host.c: assigns rows and reads to agents, performs their actions and reports the outcomes. */
bool lab_agents_create(struct lab_cluster_run *run, struct sim_error *error);
void lab_agents_destroy(struct lab_cluster_run *run);
/* The config of an agent that begins, or continues, with the history of settings that it was given. */
struct bk_agent_config lab_agent_config(const struct lab_cluster_run *run, uint32_t agent);
/* Called at the end of a run: operations that are still under way count as unresolved. */
void lab_agents_leave(struct lab_cluster_run *run);
/* Draws the offset and the drift of an agent's clock. */
void lab_agent_draw_clock(struct lab_cluster_run *run, uint32_t agent);
/* lab_agent_begun() records that an operation of the agent has begun; lab_agent_pump() must follow, which
 * performs the agent's actions. */
struct lab_host_operation *lab_agent_begun(struct lab_cluster_run *run, uint32_t agent, uint32_t number,
                                           uint32_t key);
void lab_agent_pump(struct lab_cluster_run *run, uint32_t agent);
/* Passes the key's next row to the agent; UINT32_MAX: no agent is up. */
void lab_agent_write(struct lab_cluster_run *run, uint32_t agent, uint32_t key,
                     const struct lab_arrival *row);
/* As lab_agent_write(), or lets the row wait for the row of its key before it. */
void lab_agent_arrive(struct lab_cluster_run *run, uint32_t agent, uint32_t key,
                      const struct lab_arrival *row);
/* Ends the wait of the row behind the one that has ended. */
void lab_agent_turn(struct lab_cluster_run *run, const struct sim_event *event);
/* How long ago the row that is under way in the agent arrived; 0 without agents.queue. */
int64_t lab_agent_waited(const struct lab_cluster_run *run, uint32_t agent, uint32_t key);
/* As lab_agent_write(), for an agent that is up, and a row that was counted as an arrival before.
 * row->sequence is its number within the key. */
void lab_agent_take(struct lab_cluster_run *run, uint32_t agent, uint32_t key, const struct bk_row *row);
/* Reports operation->outcome, the outcome of its action, to the agent. */
void lab_agent_hear(struct lab_cluster_run *run, uint32_t agent, uint32_t operation);
/* Ticks the agent, whether it is paused or not, and performs its actions. */
void lab_agent_wake(struct lab_cluster_run *run, uint32_t agent);
void lab_agent_reply(struct lab_cluster_run *run, const struct sim_event *event);
void lab_agent_timeout(struct lab_cluster_run *run, const struct sim_event *event);
void lab_agent_tick(struct lab_cluster_run *run, uint32_t agent);
/* Crashes an agent. is_kept: it restarts from its checkpoint, if it has one. */
void lab_agent_crash(struct lab_cluster_run *run, uint32_t agent, int64_t lasts_ns, bool is_kept);
void lab_agent_restart(struct lab_cluster_run *run, uint32_t agent);
/* The load balancer's choice: the drawn agent, or the next one that is up and accepts requests; UINT32_MAX:
 * there is none. */
uint32_t lab_choose_agent(const struct lab_cluster_run *run, uint64_t draw);
/* As lab_choose_agent(), for a row or a read of this key: with agents.by_key, every draw for the key is
 * equal. */
uint32_t lab_choose_agent_of_key(const struct lab_cluster_run *run, uint32_t key, uint64_t draw);
/* The agent for the key's row with this number. */
uint32_t lab_choose_agent_of_row(const struct lab_cluster_run *run, uint32_t key, uint64_t row);

/* --- cluster_host.c: agents that are paused and continue later. */
void lab_agent_pause(struct lab_cluster_run *run, uint32_t agent, int64_t lasts_ns);
void lab_agent_resume(struct lab_cluster_run *run, uint32_t agent);
/* Called for an event of an agent. Returns true when the agent is paused and the event waits for the end of
 * the pause; the first event in a pause is still delivered. */
bool lab_agent_waits(struct lab_cluster_run *run, const struct sim_event *event);
/* Saves the agent's checkpoint now, or as soon as it has no operations under way. */
void lab_agent_keep(struct lab_cluster_run *run, uint32_t agent);

/* --- cluster_clients.c: plans the deletion of an acknowledged row, and handles the events of deletes. */
void lab_delete_plan(struct lab_cluster_run *run, const struct lab_host_operation *operation);
void lab_delete_send(struct lab_cluster_run *run, uint32_t slot);
void lab_delete_reply(struct lab_cluster_run *run, const struct sim_event *event);
void lab_delete_timeout(struct lab_cluster_run *run, const struct sim_event *event);

/* --- cluster_clients.c: the reads of a key, and their results. */
bool lab_reads_create(struct lab_cluster_run *run);
void lab_reads_destroy(struct lab_cluster_run *run);
void lab_reads_begin(struct lab_cluster_run *run, uint32_t key);
void lab_cluster_read(struct lab_cluster_run *run, uint32_t key, enum lab_read_kind kind);
/* Passes a read to the agent; UINT32_MAX: no agent is up. newest: the key's highest sequence number. */
void lab_read_take(struct lab_cluster_run *run, uint32_t agent, uint32_t key, enum lab_read_kind kind,
                   int64_t birth_ns, uint64_t newest);

/* --- cluster_view.c: converts an action to a statement, and its replies to an outcome. */
void lab_action_count(struct lab_cluster_run *run, const struct bk_action *action);
/* For an action that puts a row: completes run->put. */
void lab_action_put(struct lab_cluster_run *run, const struct lab_host_operation *operation,
                    const struct bk_action *action);
/* For all other actions. */
void lab_action_statement(const struct lab_cluster_run *run, const struct bk_action *action,
                          struct cass_statement *out);
void lab_reply_add(struct lab_cluster_run *run, struct lab_host_operation *operation,
                   const struct cass_reply *reply);

void lab_deploys_begin(struct lab_cluster_run *run);
void lab_deploy(struct lab_cluster_run *run, uint32_t agent, uint32_t change);

/* --- Begins and ends faults. */
void lab_faults_begin(struct lab_cluster_run *run);
void lab_fault_strike(struct lab_cluster_run *run, uint32_t fault);
/* Begins a fault whose values are all drawn. is_kept: for an agent's crash, see lab_agent_crash(). */
void lab_fault_begins(struct lab_cluster_run *run, const struct lab_active_fault *made, int64_t lasts_ns,
                      bool is_kept);
void lab_fault_end(struct lab_cluster_run *run, uint32_t place);
/* Saves the state that the fault restores later. */
void lab_fault_keep(struct lab_cluster_run *run, uint32_t fault);

#endif
