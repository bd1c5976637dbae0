/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The agents' host: agents, their operations, what they ask of the cluster and hear of it. */
#ifndef LAB_CLUSTER_AGENTS_H
#define LAB_CLUSTER_AGENTS_H

#include "cluster_run.h"

/* --- cluster_host.c: which agent takes what, its actions and their outcomes. */
bool lab_agents_create(struct lab_cluster_run *run, struct sim_error *error);
void lab_agents_destroy(struct lab_cluster_run *run);
/* Of an agent that begins, or goes on, by the history that it was given. */
struct bk_agent_config lab_agent_config(const struct lab_cluster_run *run, uint32_t agent);
/* At the end of a run: what is still under way stays unresolved. */
void lab_agents_leave(struct lab_cluster_run *run);
/* How far its clock is off, and how fast it drifts. */
void lab_agent_draw_clock(struct lab_cluster_run *run, uint32_t agent);
/* All that have not begun, for whoever looks at them. */
void lab_agent_clear_operations(struct lab_cluster_run *run, uint32_t agent);
/* An operation of the agent has begun; then it is to be carried on. */
struct lab_host_operation *lab_agent_begun(struct lab_cluster_run *run, uint32_t agent, uint32_t number,
                                           uint32_t key);
void lab_agent_pump(struct lab_cluster_run *run, uint32_t agent);
void lab_agent_write(struct lab_cluster_run *run, uint32_t key, const struct lab_arrival *row);
/* A row of its time, sequence number (which is its number within the key), id and bytes comes to the agent
 * (UINT32_MAX: none is up). */
void lab_agent_take(struct lab_cluster_run *run, uint32_t agent, uint32_t key, const struct bk_row *row);
/* operation->outcome is what became of its action. */
void lab_agent_hear(struct lab_cluster_run *run, uint32_t agent, uint32_t operation);
/* Whatever is paused: its time has come. */
void lab_agent_wake(struct lab_cluster_run *run, uint32_t agent);
void lab_agent_reply(struct lab_cluster_run *run, const struct sim_event *event);
void lab_agent_timeout(struct lab_cluster_run *run, const struct sim_event *event);
void lab_agent_tick(struct lab_cluster_run *run, uint32_t agent);
/* is_kept: it restarts from its checkpoint, if it has one. */
void lab_agent_crash(struct lab_cluster_run *run, uint32_t agent, int64_t lasts_ns, bool is_kept);
void lab_agent_restart(struct lab_cluster_run *run, uint32_t agent);
/* The load balancer's choice: the drawn agent, or the next that is up and takes something; UINT32_MAX: none
 * is. */
uint32_t lab_choose_agent(const struct lab_cluster_run *run, uint64_t draw);
/* The same for a row or a read of this key: routed by key, all of them draw alike. */
uint32_t lab_choose_agent_of_key(const struct lab_cluster_run *run, uint32_t key, uint64_t draw);
/* The same for the key's row of that number. */
uint32_t lab_choose_agent_of_row(const struct lab_cluster_run *run, uint32_t key, uint64_t row);

/* --- cluster_pause.c: agents that stand still, and continue from where they were. */
void lab_agent_pause(struct lab_cluster_run *run, uint32_t agent, int64_t lasts_ns);
void lab_agent_resume(struct lab_cluster_run *run, uint32_t agent);
/* An event for a paused agent: true when it waits for the end of the pause. The first one is heard. */
bool lab_agent_waits(struct lab_cluster_run *run, const struct sim_event *event);
/* The agent's checkpoint is made now, or as soon as it has nothing under way. */
void lab_agent_keep(struct lab_cluster_run *run, uint32_t agent);
/* The agent made of its checkpoint; false when there is none that it can be made of. */
bool lab_agent_go_back(struct lab_cluster_run *run, uint32_t agent);

/* --- cluster_twin.c: with the agent, when it begins; after the agent was told the same; it has taken an
 * action; it has no more of them. */
void lab_twin_begin(struct lab_cluster_run *run, uint32_t agent);
void lab_twin_destroy(struct lab_host_agent *agent);
void lab_twin_write(struct lab_cluster_run *run, uint32_t agent, int64_t now_ns, uint32_t key,
                    const struct bk_row *row, enum bk_status status, uint32_t operation);
void lab_twin_read(struct lab_cluster_run *run, uint32_t agent, int64_t now_ns, uint32_t key,
                   const struct bk_query *query, enum bk_status status, uint32_t operation);
void lab_twin_heard(struct lab_cluster_run *run, uint32_t agent, int64_t now_ns, uint32_t operation,
                    const struct bk_outcome *outcome);
void lab_twin_ticked(struct lab_cluster_run *run, uint32_t agent, int64_t now_ns);
void lab_twin_changed(struct lab_cluster_run *run, uint32_t agent);
void lab_twin_acted(struct lab_cluster_run *run, uint32_t agent, const struct bk_action *action);
void lab_twin_rests(struct lab_cluster_run *run, uint32_t agent);
/* Whether the twin is to be restored after this step; counts those that are. */
bool lab_twin_is_due(struct lab_cluster_run *run, uint32_t agent);

/* --- cluster_delete.c: an acknowledged row may be deleted later; then the delete's events. */
void lab_delete_plan(struct lab_cluster_run *run, const struct lab_host_operation *operation);
void lab_delete_send(struct lab_cluster_run *run, uint32_t slot);
void lab_delete_reply(struct lab_cluster_run *run, const struct sim_event *event);
void lab_delete_timeout(struct lab_cluster_run *run, const struct sim_event *event);

/* --- cluster_reads.c: reads that come to a key, and what became of them. */
bool lab_reads_create(struct lab_cluster_run *run);
void lab_reads_destroy(struct lab_cluster_run *run);
void lab_reads_begin(struct lab_cluster_run *run, uint32_t key);
void lab_cluster_read(struct lab_cluster_run *run, uint32_t key, enum lab_read_kind kind);
/* A read comes to the agent (UINT32_MAX: none is up). newest: the key's newest sequence number. */
void lab_read_take(struct lab_cluster_run *run, uint32_t agent, uint32_t key, enum lab_read_kind kind,
                   int64_t birth_ns, uint64_t newest);
/* Its row was acknowledged, so that readers that come now are to find it. */
void lab_reads_acknowledged(struct lab_cluster_run *run, const struct lab_host_operation *operation);
/* A partition has answered; all of the step have; the read has ended. */
void lab_read_reply(struct lab_host_operation *operation, const struct cass_reply *reply);
void lab_read_step_done(struct lab_host_operation *operation);
void lab_read_ended(struct lab_cluster_run *run, struct lab_host_operation *operation,
                    const struct bk_action *action);

/* --- cluster_action.c: an action as a statement, and the replies to it as an outcome. */
void lab_action_count(struct lab_cluster_run *run, const struct bk_action *action);
void lab_action_statement(const struct lab_cluster_run *run, const struct bk_action *action,
                          struct cass_statement *out);
void lab_reply_add(struct lab_cluster_run *run, struct lab_host_operation *operation,
                   const struct cass_reply *reply);

/* --- cluster_change.c: settings that change, into the agents' config; events for those who are given them.
 */
void lab_changes_begin(struct lab_cluster_run *run);
void lab_deploys_begin(struct lab_cluster_run *run);
void lab_deploy(struct lab_cluster_run *run, uint32_t agent, uint32_t change);

#endif
