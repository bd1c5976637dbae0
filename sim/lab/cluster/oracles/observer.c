/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The observer of the oracles: passes each event to the ledger, to the conditions and the health that follow
 * from it, and to the oracles that judge it. At the end they complete the verdict. */
#include <stdio.h>

#include "cluster_view.h"
#include "events.h"
#include "oracles.h"

/* A fault that begins: how long something is unhealthy, and what a guarantee may except. One with an end has
 * its own event for it. */
static void fault_begins(struct lab_cluster_run *run, const struct lab_active_fault *fault, int64_t lasts_ns)
{
    int64_t now_ns = sim_queue_now(&run->queue), left_ns = lab_until(run->end_ns, LAB_DRAIN_NS) - now_ns;
    lab_watch_fault(run, fault->kind);
    if (fault->kind == LAB_FAULT_NODE_DOWN || fault->kind == LAB_FAULT_HINT_LOSS)
        run->oracles.hints_may_be_lost = true;
    switch (fault->kind) {
    case LAB_FAULT_AGENT_CRASH: /* the agent stops, unless it is down */
        break;
    case LAB_FAULT_CLOCK_JUMP:
    case LAB_FAULT_HINT_LOSS:
    case LAB_FAULT_PAXOS_LOSS:
        lab_health_pulse(run, now_ns);
        break;
    case LAB_FAULT_GC_STORM:
        lab_health_pulse(run, lab_until(now_ns, lasts_ns < left_ns ? lasts_ns : left_ns));
        break;
    case LAB_FAULT_STATE_LOST:
    case LAB_FAULT_STATE_RESTORED:
        if (!lab_keeps_state(run))
            break;
        lab_condition_of_key(run, LAB_CONDITION_STATE_LOST, fault->target, INT64_MIN, LAB_OPEN_ENDED);
        lab_health_pulse(run, now_ns);
        break;
    default:
        lab_health_fault(run, true);
    }
}

/* The last delayed message is still in flight. It may be a write for which no agent waits any more, and which
 * sets a key's state back. */
static void fault_ends(struct lab_cluster_run *run, const struct lab_active_fault *fault)
{
    lab_health_fault(run, false);
    if (fault->kind == LAB_FAULT_LATE_MESSAGE || fault->kind == LAB_FAULT_DELAY)
        lab_health_pulse(run, lab_until(sim_queue_now(&run->queue), fault->by_ns));
}

/* A clock that jumped is wrong until another jump sets it back, and its effects last until the times that it
 * wrote have passed. Each jump ends a span in which the clock was wrong, so the latest end over all jumps
 * counts. */
static void clock_jumped(struct lab_cluster_run *run, int64_t before_ns)
{
    int64_t now_ns = sim_queue_now(&run->queue);
    uint64_t was_off = before_ns < 0 ? 0 - (uint64_t)before_ns : (uint64_t)before_ns;
    int64_t over_ns = was_off < INT64_MAX ? lab_until(now_ns, (int64_t)was_off) : LAB_OPEN_ENDED;
    if (over_ns > run->oracles.jumps_until_ns)
        run->oracles.jumps_until_ns = over_ns;
    lab_condition_of_key(run, LAB_CONDITION_CLOCK_JUMP, LAB_NO_KEY, now_ns, LAB_OPEN_ENDED);
    for (uint32_t i = 0; i < run->agent_count; i++) {
        if (run->agents[i].jump_ns != 0)
            return;
    }
    if (run->oracles.jumps_until_ns != LAB_OPEN_ENDED)
        lab_condition_closes(run, LAB_CONDITION_CLOCK_JUMP, LAB_NO_KEY, INT64_MAX,
                             lab_until(run->oracles.jumps_until_ns, lab_aftermath_ns(run)));
}

static void of_fault(struct lab_cluster_run *run, const struct cluster_event *event)
{
    if (event->kind == CLUSTER_FAULT_BEGINS)
        fault_begins(run, event->fault, event->time_ns);
    else if (event->kind == CLUSTER_FAULT_ENDS)
        fault_ends(run, event->fault);
    else if (event->kind == CLUSTER_CLOCK_JUMPED)
        clock_jumped(run, event->time_ns);
    else if (event->key == LAB_NO_KEY)
        lab_condition_set(run, LAB_CONDITION_PAXOS_LOST);
    else
        lab_condition_of_key(run, LAB_CONDITION_PAXOS_LOST, event->key, INT64_MIN, LAB_OPEN_ENDED);
}

static void agent_started(struct lab_cluster_run *run, const struct cluster_event *event)
{
    if (event->number > 0)
        lab_health_fault(run, false);
    if (!event->flag)
        return;
    lab_condition_set(run, LAB_CONDITION_OLD_CHECKPOINT);
    run->oracles.verdict.probes[LAB_PROBE_CHECKPOINT]++;
}

static void agent_stopped(struct lab_cluster_run *run, bool is_end)
{
    if (is_end)
        return;
    if (run->agent_count > 1)
        lab_condition_of_key(run, LAB_CONDITION_MANY_AGENTS, LAB_NO_KEY, sim_queue_now(&run->queue),
                             LAB_OPEN_ENDED);
    lab_health_fault(run, true);
    run->oracles.crashes++;
}

/* Readers now begin at the new bucket numbers, which may be below those of old rows. */
static void agent_deployed(struct lab_cluster_run *run, uint32_t agent, uint64_t index)
{
    bool forgets = !run->strategy->settings.changes[index].keeps_old && agent == 0 && !lab_keeps_state(run);
    for (uint32_t key = 0; forgets && run->oracles.is_linked && key < run->key_count; key++)
        lab_findable_lowered(run, key);
}

static void of_agent(struct lab_cluster_run *run, const struct cluster_event *event)
{
    if (event->kind == CLUSTER_AGENT_STARTED)
        agent_started(run, event);
    else if (event->kind == CLUSTER_AGENT_STOPPED)
        agent_stopped(run, event->flag);
    else if (event->kind == CLUSTER_AGENT_DEPLOYED)
        agent_deployed(run, event->agent, event->number);
    else if (event->kind == CLUSTER_AGENT_RESUMED)
        run->oracles.verdict.probes[LAB_PROBE_PAUSED_ACT] += event->flag;
    else if (run->agent_count > 1) /* it is paused */
        lab_condition_set(run, LAB_CONDITION_MANY_AGENTS);
}

static void row_ended(struct lab_cluster_run *run, const struct lab_host_operation *operation,
                      const struct bk_action *action)
{
    bool is_refused = action->status == BK_OPERATION_REFUSED;
    if (SIM_UNLIKELY(!operation->is_acknowledged))
        lab_available_failed(run, operation, is_refused);
    lab_oracles_write_ended(run, operation, action->counted, is_refused);
}

static void operation_lost(struct lab_cluster_run *run, const struct cluster_event *event)
{
    struct lab_host_operation *operation = event->operation;
    if (event->flag)
        lab_available_left(run, operation);
    if (operation->is_read)
        return;
    run->oracles.verdict.probes[LAB_PROBE_CRASH_UNCOUNTED] += operation->is_acknowledged && operation->fires;
    lab_state_write_ended(run, operation, BK_OUTCOME_UNKNOWN);
    lab_oracles_write_ended(run, operation, false, false);
}

/* All but the events of most rows. */
SIM_OUT_OF_LINE static void hear_rare(struct lab_cluster_run *run, const struct cluster_event *event)
{
    switch (event->kind) {
    case CLUSTER_ROW_REFUSED:
        lab_oracles_placed(run, event->key, event->row->sequence, 0, LAB_UNPLACED, 0);
        break;
    case CLUSTER_ROW_TAKEN:
        lab_lines_begun(run, event->key, event->row->time_ns);
        break;
    case CLUSTER_READ_TAKEN:
        lab_findable_begun(run, event->operation, event->query);
        break;
    case CLUSTER_REQUEST_SENT:
        lab_watch_asked(run, event->operation, event->action, event->statement);
        break;
    case CLUSTER_HEARD:
        lab_watch_outcome(run, event->operation, event->operation->outcome.kind);
        break;
    case CLUSTER_LOST:
        operation_lost(run, event);
        break;
    case CLUSTER_AGENT_STARTED:
    case CLUSTER_AGENT_STOPPED:
    case CLUSTER_AGENT_PAUSED:
    case CLUSTER_AGENT_RESUMED:
    case CLUSTER_AGENT_DEPLOYED:
        of_agent(run, event);
        break;
    case CLUSTER_FAULT_BEGINS:
    case CLUSTER_FAULT_ENDS:
    case CLUSTER_CLOCK_JUMPED:
    case CLUSTER_PAXOS_LOST:
        of_fault(run, event);
        break;
    case CLUSTER_STATE_WRITTEN:
        lab_state_changed(run, event->key);
        break;
    case CLUSTER_COUNTER_ADDED:
        lab_increment_applied(run, event->bytes, event->number, (uint64_t)event->value);
        break;
    case CLUSTER_ID_ACTED:
        if (event->id_action->kind == BK_IDGEN_READY)
            lab_available_served(run, event->agent);
        break;
    case CLUSTER_AGENT_RESTS:
        lab_available_waits(run, event->agent);
        break;
    case CLUSTER_IDS_GIVEN:
        lab_unique_given(run, event->agent, event->value, event->time_ns);
        break;
    default:
        break;
    }
}

static void hear(struct lab_cluster_run *run, void *state, const struct cluster_event *event)
{
    (void)state;
    switch (event->kind) {
    case CLUSTER_ROW_ARRIVES:
        lab_oracles_arrived(run, event->key);
        break;
    case CLUSTER_PLACED:
        lab_oracles_put(run, event->agent, event->operation, event->bucket);
        break;
    case CLUSTER_ROW_STORED:
        lab_oracles_stored(run, event);
        break;
    case CLUSTER_ROW_COPIED:
        lab_oracles_copied(run, event->key, event->bucket, event->number, event->replica);
        break;
    case CLUSTER_ACKNOWLEDGED:
        if (SIM_UNLIKELY(run->acknowledged != NULL))
            lab_reads_acknowledged(run, event->operation);
        if (SIM_UNLIKELY(run->oracles.lives != NULL))
            lab_lives_acknowledged(run, event->key, event->operation->begun_ns);
        lab_oracles_acknowledged(run, event->operation);
        break;
    case CLUSTER_ENDED:
        if (SIM_UNLIKELY(event->operation->is_read))
            lab_read_ended(run, event->operation, event->action);
        else
            row_ended(run, event->operation, event->action);
        break;
    default:
        hear_rare(run, event);
    }
}

bool lab_metrics_of_oracles(const struct lab_verdict *verdict, struct lab_metrics *out)
{
    bool ok = true;
    for (int i = 0; ok && i < LAB_ORACLE_COUNT; i++) {
        char name[LAB_METRIC_NAME_SIZE];
        snprintf(name, sizeof name, "oracle.%s.violations", lab_oracle_name((enum lab_oracle)i));
        if (verdict->is_judged[i])
            ok = lab_metrics_add(out, name, (double)verdict->violations[i].count);
    }
    return ok;
}

static uint64_t wants(const struct lab_cluster_run *run)
{
    uint64_t faults = CLUSTER_WANTS(AGENT_STARTED) | CLUSTER_WANTS(AGENT_STOPPED) |
                      CLUSTER_WANTS(AGENT_PAUSED) | CLUSTER_WANTS(AGENT_RESUMED) |
                      CLUSTER_WANTS(FAULT_BEGINS) | CLUSTER_WANTS(FAULT_ENDS) | CLUSTER_WANTS(CLOCK_JUMPED) |
                      CLUSTER_WANTS(PAXOS_LOST);
    if (run->idgen != NULL)
        return faults | CLUSTER_WANTS(ID_ACTED) | CLUSTER_WANTS(AGENT_RESTS) | CLUSTER_WANTS(IDS_GIVEN);
    bool has_lines = run->config.strategy.max_age_ns != 0;
    return faults | CLUSTER_WANTS(ROW_ARRIVES) | CLUSTER_WANTS(ROW_REFUSED) | CLUSTER_WANTS(READ_TAKEN) |
           CLUSTER_WANTS(REQUEST_SENT) | CLUSTER_WANTS(HEARD) | CLUSTER_WANTS(PLACED) |
           CLUSTER_WANTS(ACKNOWLEDGED) | CLUSTER_WANTS(ENDED) | CLUSTER_WANTS(LOST) |
           CLUSTER_WANTS(AGENT_DEPLOYED) | CLUSTER_WANTS(ROW_STORED) | CLUSTER_WANTS(ROW_COPIED) |
           CLUSTER_WANTS(STATE_WRITTEN) | CLUSTER_WANTS(COUNTER_ADDED) |
           (has_lines ? CLUSTER_WANTS(ROW_TAKEN) : 0);
}

static bool begin(struct lab_cluster_run *run, void **state)
{
    *state = run;
    if (run->idgen == NULL)
        return lab_oracles_begin(run);
    lab_health_begin(run);
    lab_conditions_begin(run);
    return lab_unique_begin(run);
}

static void finish(struct lab_cluster_run *run, void *state)
{
    (void)state;
    if (run->idgen == NULL) {
        lab_oracles_end(run);
        lab_conserved_delivered(run);
        return;
    }
    lab_excuses_settle(run, true);
    lab_conditions_watch_nodes(run);
}

static void destroy(void *state)
{
    lab_oracles_destroy(state);
}

const struct cluster_observer cluster_oracles = {.name = "oracles",
                                                 .wants = wants,
                                                 .begin = begin,
                                                 .on_event = hear,
                                                 .finish = finish,
                                                 .destroy = destroy};
