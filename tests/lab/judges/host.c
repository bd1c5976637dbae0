/* SPDX-License-Identifier: GPL-3.0-or-later */
/* available, the host of the agents: what it does between workload, agents and cluster follows from the
 * scenario.
 * - Rows and reads go to the drawn agent, or to the next one that is up and not paused; with routing by key
 *   all draws of a key are equal.
 * - An agent's clock has the declared offset, drift, resolution and jumps, and a row has its time.
 * - An agent is down for as long as its crash lasts. It begins with the declared checkpoint, or with nothing.
 * - In a pause it handles one event, and the others wait. No answer is lost or waits for longer than the
 *   pause.
 * - An outcome is the answers to all requests of the action, or comes at the time-out.
 * - A state row that is lost is gone; one that is restored is as it was at the time of its backup.
 *
 * Each agent has a record, with the host's duties by the oracle's own sums. A history, whose events were
 * recorded elsewhere, is not judged. */
#include "judges.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/random.h"
#include "kernel/time.h"

#define UNSURE UINT64_MAX /* an event of a pause: two faults met at one moment */
/* Clocks that have jumped further are not judged. */
#define JUMPS_MOST (INT64_C(1) << 61)

static void violate(struct lab_cluster_run *run, uint32_t agent, uint32_t key, const char *what)
{
    judge_violate(run, key, "the host of agent %" PRIu32 " %s", agent, what);
}

/* --- Faults of agents. */

void lab_host_faulted(struct lab_cluster_run *run, const struct lab_active_fault *fault, int64_t lasts_ns)
{
    const struct lab_fault *declared = &run->scenario->faults[fault->fault];
    int64_t now_ns = sim_queue_now(&run->queue), until_ns = lab_until(now_ns, lasts_ns);
    struct lab_host_record *record =
        fault->target < run->agent_count ? &judge_of(run)->records[fault->target] : NULL;
    switch (fault->kind) {
    case LAB_FAULT_CLOCK_JUMP:
        record->is_jump_wide =
            record->is_jump_wide || __builtin_add_overflow(record->jumps_ns, fault->by_ns, &record->jumps_ns);
        record->is_jump_wide =
            record->is_jump_wide || record->jumps_ns > JUMPS_MOST || record->jumps_ns < -JUMPS_MOST;
        break;
    case LAB_FAULT_AGENT_PAUSE:
        if (now_ns >= of_agent(run, fault->target)->held_until_ns)
            record->heard = now_ns > of_agent(run, fault->target)->held_until_ns ? 0 : UNSURE;
        break;
    case LAB_FAULT_AGENT_CRASH:
        if (now_ns > record->down_until_ns)
            record->is_kept = declared->rate_per_s == 0 && declared->age_ns > 0;
        record->is_unsure = now_ns == record->down_until_ns;
        if (until_ns > record->down_until_ns)
            record->down_until_ns = until_ns;
        break;
    default:
        break;
    }
}

void lab_host_kept(struct lab_cluster_run *run, uint32_t number, bool is_agent)
{
    const struct lab_fault *declared = &run->scenario->faults[number];
    int64_t before_ns = declared->at_ns > declared->age_ns ? declared->at_ns - declared->age_ns : 0;
    if (sim_queue_now(&run->queue) != lab_until(run->start_ns, before_ns))
        violate(run, is_agent ? declared->target : 0, is_agent ? LAB_NO_KEY : declared->target,
                "makes a copy for a fault at another time than declared");
    if (!is_agent)
        cass_peek_merged(run->cluster, lab_state_register(declared->target),
                         judge_of(run)->backups[number].columns, &judge_of(run)->backups[number].mask);
}

void lab_host_saved(struct lab_cluster_run *run, uint32_t agent)
{
    if (judge_of(run)->records != NULL)
        judge_of(run)->records[agent].has_checkpoint = true;
}

/* Returns whether the scenario sets the same state row again in this microsecond. Both sets have the same
 * timestamp then, so the row may have cells of either. */
static bool is_set_twice(const struct lab_cluster_run *run, const struct lab_active_fault *fault)
{
    const uint32_t of_states = UINT32_C(1) << LAB_FAULT_STATE_LOST | UINT32_C(1) << LAB_FAULT_STATE_RESTORED;
    for (uint32_t i = 0; i < run->scenario->fault_count; i++) {
        const struct lab_fault *other = &run->scenario->faults[i];
        bool sets = (other->kinds & of_states) != 0;
        int64_t at_ns = lab_until(run->start_ns, other->at_ns);
        if (i != fault->fault && sets && other->target == fault->target &&
            at_ns / 1000 == sim_queue_now(&run->queue) / 1000)
            return true;
    }
    return false;
}

/* The state row of a key was lost or restored. */
void lab_host_state_set(struct lab_cluster_run *run, const struct lab_active_fault *fault)
{
    const struct lab_backup *due = &judge_of(run)->backups[fault->fault];
    struct lab_backup now = {.mask = 0};
    uint32_t mask = fault->kind == LAB_FAULT_STATE_LOST ? 0 : due->mask;
    if (!lab_keeps_state(run) || is_set_twice(run, fault))
        return;
    cass_peek_merged(run->cluster, lab_state_register(fault->target), now.columns, &now.mask);
    bool is_fine = now.mask == mask;
    for (uint32_t i = 0; i < CASS_COLUMNS; i++)
        is_fine = is_fine && ((mask >> i & 1) == 0 || now.columns[i] == due->columns[i]);
    if (!is_fine)
        judge_violate(run, fault->target, "the state row is not what %s leaves",
                      lab_fault_kind_name(fault->kind));
}

void lab_host_restarted(struct lab_cluster_run *run, uint32_t agent, bool is_kept)
{
    struct lab_host_record *record = &judge_of(run)->records[agent];
    if (sim_queue_now(&run->queue) != record->down_until_ns)
        violate(run, agent, LAB_NO_KEY, "restarts it before or after the end of its crash");
    if (!record->is_unsure && is_kept && !record->is_kept)
        violate(run, agent, LAB_NO_KEY, "restarts it from a checkpoint that its crash does not declare");
    /* A checkpoint that was made with other settings cannot be loaded. */
    if (!record->is_unsure && !is_kept && record->is_kept && record->has_checkpoint &&
        run->strategy->settings.change_count == 0)
        violate(run, agent, LAB_NO_KEY, "restarts it without its checkpoint");
    record->has_memory = is_kept;
}

bool lab_host_is_cold(const struct lab_cluster_run *run, uint32_t agent)
{
    return !judge_of(run)->records[agent].has_memory;
}

/* --- Which agent. */

/* Whether the agent should be up, and is not paused. */
static bool is_up(const struct lab_cluster_run *run, uint32_t agent)
{
    int64_t now_ns = sim_queue_now(&run->queue);
    return now_ns >= judge_of(run)->records[agent].down_until_ns &&
           now_ns >= of_agent(run, agent)->held_until_ns;
}

enum answer { NO, YES, NOT_SURE };

/* Whether the load balancer may choose the agent. At the moment at which a fault ends, either is right. */
static enum answer is_ready(const struct lab_cluster_run *run, uint32_t agent)
{
    const struct lab_host_record *record = &judge_of(run)->records[agent];
    int64_t now_ns = sim_queue_now(&run->queue), held_ns = of_agent(run, agent)->held_until_ns;
    if (now_ns == record->down_until_ns || now_ns == held_ns || record->heard == UNSURE)
        return NOT_SURE;
    if (now_ns < record->down_until_ns)
        return NO;
    return now_ns > held_ns || record->heard == 0 ? YES : NO;
}

static bool is_choice_right(const struct lab_cluster_run *run, uint32_t agent, uint32_t first)
{
    uint32_t next = first;
    for (uint32_t i = 0; i < run->agent_count; i++) {
        enum answer ready = is_ready(run, next);
        if (ready != NO)
            return ready == NOT_SURE || agent == next;
        next = next + 1 < run->agent_count ? next + 1 : 0;
    }
    return agent == UINT32_MAX;
}

/* The draw of a key, for its row with this number. */
static uint64_t draw_of(const struct lab_cluster_run *run, uint32_t key, uint64_t row)
{
    return sim_hash(judge_of(run)->draws[key], SIM_AGENT, run->scenario->agents.by_key ? 0 : row);
}

/* Usually the drawn agent is up, and is not paused. */
static inline void judge_choice(struct lab_cluster_run *run, uint32_t key, uint32_t agent, uint64_t draw)
{
    uint32_t first = (uint32_t)(draw % run->agent_count);
    bool is_usual = agent == first && is_up(run, agent);
    if (SIM_UNLIKELY(!is_usual) && !is_choice_right(run, agent, first))
        violate(run, agent, key, "gives it a row or a read that another agent should get");
}

void lab_host_chosen(struct lab_cluster_run *run, uint32_t key, uint32_t agent, uint64_t draw)
{
    judge_choice(run, key, agent, draw);
}

/* --- Clocks and times. */

/* Returns whether a clock with an offset, a drift or a resolution may show this time now. */
static bool is_near(const struct lab_cluster_run *run, uint32_t agent, int64_t shown_ns)
{
    const struct lab_host_record *record = &judge_of(run)->records[agent];
    const struct lab_agents *agents = &run->scenario->agents;
    int64_t now_ns = sim_queue_now(&run->queue), step_ns = agents->clock_resolution_ns;
    if (record->is_jump_wide)
        return true;
    double off_ns = record->offset_ns + record->drift * (double)(now_ns - run->start_ns);
    double most_ns = (double)agents->clock_bound_ns, least_ns = (double)step_ns - most_ns;
    off_ns = off_ns > most_ns ? most_ns : off_ns < least_ns ? least_ns : off_ns;
    /* The drift is known to a billionth. */
    double slip_ns = 2 + (double)(now_ns - run->start_ns) * 2e-9;
    __extension__ typedef __int128 wide; /* a history may show any clock */
    double apart_ns = (double)((wide)shown_ns - now_ns - record->jumps_ns) - off_ns;
    return (step_ns == 0 || shown_ns % step_ns == 0) && apart_ns <= slip_ns &&
           apart_ns >= -slip_ns - (double)step_ns;
}

/* Returns whether the agent's clock may show this time now. */
static bool is_clock_right(const struct lab_cluster_run *run, uint32_t agent, int64_t shown_ns)
{
    const struct lab_host_record *record = &judge_of(run)->records[agent];
    uint64_t apart_ns = (uint64_t)shown_ns - (uint64_t)sim_queue_now(&run->queue);
    return SIM_LIKELY(record->is_exact && apart_ns == (uint64_t)record->jumps_ns) ||
           is_near(run, agent, shown_ns);
}

static bool is_time_right(const struct lab_cluster_run *run, int64_t clock_ns, int64_t late_ns,
                          int64_t time_ns)
{
    const struct wl_workload *workload = &run->scenario->workload;
    int64_t early_ns = time_ns - (clock_ns - late_ns), step_ns = workload->resolution_ns;
    if (SIM_LIKELY(early_ns == 0 && late_ns == 0))
        return true;
    if (late_ns > 0 && workload->late_share <= 0 && workload->backfill_before_ns <= 0)
        return false;
    if (workload->early_share <= 0)
        return early_ns <= 0 && (step_ns == 0 ? early_ns == 0 : early_ns > -step_ns);
    return early_ns >= 0 || early_ns > -step_ns;
}

void lab_host_writes(struct lab_cluster_run *run, uint32_t agent, uint32_t key, uint64_t number,
                     const struct lab_arrival *arrival, int64_t time_ns)
{
    struct lab_key_ledger *ledger = &run->oracles.keys[key];
    if (SIM_UNLIKELY(ledger->arrived == 1 || time_ns < judge_of(run)->born_ns[key]))
        judge_of(run)->born_ns[key] = time_ns;
    if (run->scenario->agents.queue == 0) /* otherwise it was chosen before the row waited */
        judge_choice(run, key, agent, draw_of(run, key, number));
    int64_t clock_ns = agent == UINT32_MAX ? arrival->time_ns : lab_agent_clock(run, agent);
    if (arrival->time_ns != sim_queue_now(&run->queue) ||
        (agent != UINT32_MAX && !is_clock_right(run, agent, clock_ns)))
        violate(run, agent, key, "has a clock that is not as declared, or gives it a row at a wrong time");
    if (!is_time_right(run, clock_ns, arrival->late_ns, time_ns))
        violate(run, agent, key, "gives a row a time that does not follow from its clock");
}

void lab_host_reads(struct lab_cluster_run *run, uint32_t agent, uint32_t key, uint64_t draw,
                    int64_t birth_ns, uint64_t newest)
{
    const struct lab_key_ledger *ledger = &run->oracles.keys[key];
    judge_choice(run, key, agent, run->scenario->agents.by_key ? draw_of(run, key, 0) : draw);
    if (agent != UINT32_MAX && !is_clock_right(run, agent, lab_agent_clock(run, agent)))
        violate(run, agent, key, "has a clock that is not as declared");
    if (ledger->arrived > 0 && (birth_ns != judge_of(run)->born_ns[key] || newest != ledger->arrived - 1))
        violate(run, agent, key, "tells a reader a wrong birth or newest row of its key");
}

/* The acknowledged rows of a range are not counted here a second time, but they are at least those of the
 * partitions within it, and at most those of the partitions that overlap with it. After a jump of a clock a
 * reader need not find all of them. A row that was put into two buckets is counted in one of them, and its
 * time may be in the other. */
static bool is_range_due(const struct lab_cluster_run *run, const struct lab_host_operation *operation,
                         const struct bk_query *query)
{
    const struct lab_oracles *oracles = &run->oracles;
    uint64_t least = 0, most = 0;
    bool has_jumped = oracles->verdict.conditions >> LAB_CONDITION_CLOCK_JUMP & 1;
    if (!oracles->keeps_times || !oracles->is_linked || oracles->moved.count > 0)
        return true;
    for (uint32_t i = oracles->keys[operation->key].top; i != LAB_NO_PARTITION;
         i = oracles->partitions[i].lower) {
        const struct lab_partition *partition = &oracles->partitions[i];
        int64_t first_ns = -partition->earliest.time_ns[0], last_ns = partition->latest.time_ns[0];
        bool is_within = first_ns >= query->from_ns && last_ns < query->until_ns;
        least += is_within ? partition->acknowledged : 0;
        most += last_ns >= query->from_ns && first_ns < query->until_ns ? partition->acknowledged : 0;
    }
    return operation->done.due <= most && (operation->done.due >= least || has_jumped);
}

void lab_host_due(struct lab_cluster_run *run, const struct lab_host_operation *operation,
                  const struct bk_query *query)
{
    bool is_range = query->kind == BK_QUERY_RANGE;
    if (is_range ? !is_range_due(run, operation, query)
                 : operation->done.due != judge_of(run)->acknowledged[operation->key])
        judge_violate(run, operation->key,
                      "a read has to find %" PRIu64
                      " rows, but another number of rows was acknowledged before it",
                      operation->done.due);
}

/* --- Events of agents. */

void lab_host_hears(struct lab_cluster_run *run, uint32_t agent)
{
    struct lab_host_record *record = &judge_of(run)->records[agent];
    int64_t now_ns = sim_queue_now(&run->queue);
    if (now_ns < record->down_until_ns)
        violate(run, agent, LAB_NO_KEY, "lets it handle an event while it is down");
    if (now_ns >= of_agent(run, agent)->held_until_ns)
        return;
    if (record->heard != 0 && record->heard != UNSURE && record->heard != run->events.events)
        violate(run, agent, LAB_NO_KEY, "lets it handle more than one event in a pause");
    if (record->heard == 0)
        record->heard = run->events.events;
}

void lab_host_waits(struct lab_cluster_run *run, uint32_t agent)
{
    const struct lab_host_record *record = &judge_of(run)->records[agent];
    if (sim_queue_now(&run->queue) < of_agent(run, agent)->held_until_ns && record->heard == 0)
        violate(run, agent, LAB_NO_KEY, "lets the first event of a pause wait");
}

/* Of an action with several requests, some answers may come before the pause. */
static uint64_t width_of(const struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    return operation->action == BK_ACT_READ_ROWS ? own(run, operation)->walk.width : 1;
}

void lab_host_came(struct lab_cluster_run *run, const struct sim_event *reply)
{
    struct lab_host_agent *agent = &run->agents[reply->target];
    struct lab_host_operation *operation = &agent->operations[reply->a >> 32 & 0xffff];
    int64_t now_ns = sim_queue_now(&run->queue);
    if (operation->serial != (uint32_t)reply->a || operation->outstanding == 0 ||
        width_of(run, operation) != 1 || own(run, operation)->came_ns != 0 ||
        now_ns >= lab_until(operation->asked_ns, run->scenario->agents.timeout_ns))
        return;
    own(run, operation)->came_ns = now_ns;
    own(run, operation)->hold_ns = of_agent(run, reply->target)->held_until_ns;
}

/* Judges an answer that came during a pause: the agent handles it at once, or at the end of the pause. If
 * another pause has made that later, other events may come before it. */
static void judge_came(struct lab_cluster_run *run, uint32_t agent,
                       const struct lab_host_operation *operation)
{
    int64_t now_ns = sim_queue_now(&run->queue);
    if (own(run, operation)->came_ns == 0 ||
        own(run, operation)->hold_ns != of_agent(run, agent)->held_until_ns)
        return;
    if (own(run, operation)->answers == 0)
        violate(run, agent, operation->key, "loses an answer that came during a pause");
    else if (now_ns != own(run, operation)->came_ns && now_ns != own(run, operation)->hold_ns)
        violate(run, agent, operation->key, "holds back an answer for longer than a pause");
}

void lab_host_answered(struct lab_cluster_run *run, uint32_t agent,
                       const struct lab_host_operation *operation)
{
    int64_t now_ns = sim_queue_now(&run->queue), held_ns = of_agent(run, agent)->held_until_ns;
    int64_t due_ns = lab_until(operation->asked_ns, run->scenario->agents.timeout_ns);
    uint64_t width = width_of(run, operation);
    lab_host_hears(run, agent);
    judge_came(run, agent, operation);
    if (operation->outcome.kind == BK_OUTCOME_APPLIED && operation->action == BK_ACT_ADD_COUNTER)
        lab_request_spent(run, LAB_LATENCY_COUNTER, operation->asked_ns);
    if (operation->outcome.kind == BK_OUTCOME_APPLIED &&
        (operation->action == BK_ACT_CAS_STATE || operation->action == BK_ACT_CAS_LOCK))
        lab_request_spent(run, LAB_LATENCY_LWT, operation->asked_ns);
    if (own(run, operation)->answers == width) {
        if (now_ns > due_ns && now_ns != held_ns)
            violate(run, agent, operation->key, "waits for an answer for longer than the time-out");
        return;
    }
    if (own(run, operation)->answers > width || operation->outcome.kind != BK_OUTCOME_UNKNOWN)
        violate(run, agent, operation->key, "tells it an outcome before all answers came");
    else if (now_ns != due_ns && now_ns != held_ns)
        violate(run, agent, operation->key, "gives a request up before or after its time-out");
}
