/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Faults, at fixed times or at random. Every fault has its own stream of random numbers, so adding a fault
 * does not change the others. All strategies have the same faults at the same times. If two faults of a
 * component overlap, it is healthy again when both have ended. */
#include <stdio.h>
#include <string.h>

#include "cluster_agents.h"
#include "cluster_event_trace.h"
#include "cluster_faults.h"
#include "cluster_run.h"
#include "cluster_view.h"
#include "cluster_watch.h"
#include "evidence.h"
#include "history.h"
#include "kernel/grow.h"
#include "kernel/time.h"
#include "oracles.h"

/* In nanoseconds. A fault that is drawn to last longer never ends. */
#define LASTS_MAX 0x1p62
/* The defaults of random faults, as lab_read_faults() has them for others. */
#define LATE_CHANCE    0.01
#define LATE_BY_NS     SIM_MINUTE
#define SYNC_PERIOD_NS (10 * SIM_SECOND)

/* Schedules the next occurrence of a random fault. */
static void come_again(struct lab_cluster_run *run, uint32_t number)
{
    const struct lab_fault *fault = &run->scenario->faults[number];
    double gap_ns = sim_exponential(&run->fault_draws[number]) * 1e9 / fault->rate_per_s;
    int64_t now_ns = sim_queue_now(&run->queue);
    int64_t until_ns =
        fault->until_ns < run->end_ns - run->start_ns ? run->start_ns + fault->until_ns : run->end_ns;
    if (gap_ns < (double)(until_ns - now_ns))
        lab_push(run, now_ns + (int64_t)gap_ns, LAB_EVENT_FAULT, number);
}

void lab_faults_begin(struct lab_cluster_run *run)
{
    for (uint32_t i = 0; i < run->scenario->fault_count; i++) {
        const struct lab_fault *fault = &run->scenario->faults[i];
        bool is_kept = fault->kinds == UINT32_C(1) << LAB_FAULT_STATE_RESTORED ||
                       (fault->kinds == UINT32_C(1) << LAB_FAULT_AGENT_CRASH && fault->age_ns > 0);
        int64_t kept_ns = fault->at_ns > fault->age_ns ? fault->at_ns - fault->age_ns : 0;
        sim_random_init(&run->fault_draws[i], run->scenario->seed, SIM_FAULT, i);
        if (i < 64 && (run->scenario->faults_left_out >> i & 1) != 0)
            continue;
        if (is_kept)
            lab_push(run, lab_until(run->start_ns, kept_ns), LAB_EVENT_KEEP, i);
        if (fault->rate_per_s > 0)
            come_again(run, i);
        else
            lab_push(run, lab_until(run->start_ns, fault->at_ns), LAB_EVENT_FAULT, i);
    }
}

/* Deletes the key's state row, or restores it from the backup, depending on the kind of fault. */
static void lose_state(struct lab_cluster_run *run, const struct lab_active_fault *made)
{
    const struct lab_backup *backup = &run->backups[made->fault];
    bool is_lost = made->kind == LAB_FAULT_STATE_LOST;
    if (!lab_keeps_state(run))
        return;
    lab_condition_of_key(run, LAB_CONDITION_STATE_LOST, made->target, INT64_MIN, LAB_OPEN_ENDED);
    lab_health_pulse(run, sim_queue_now(&run->queue));
    if (run->replay == NULL)
        cass_set_columns(run->cluster, lab_state_register(made->target), backup->columns,
                         is_lost ? 0 : backup->mask);
}

static void excuse_paxos(void *context, uint64_t name)
{
    struct lab_cluster_run *run = context;
    uint32_t key;
    if (run->idgen != NULL)
        lab_condition_set(run, LAB_CONDITION_PAXOS_LOST);
    else if (lab_register_is_state(name, &key))
        lab_fault_paxos(run, key);
}

void lab_fault_paxos(struct lab_cluster_run *run, uint32_t key)
{
    lab_record_paxos_loss(run, key);
    lab_condition_of_key(run, LAB_CONDITION_PAXOS_LOST, key, INT64_MIN, LAB_OPEN_ENDED);
}

static void lose_paxos(struct lab_cluster_run *run, const struct lab_active_fault *made)
{
    lab_health_pulse(run, sim_queue_now(&run->queue));
    if (run->replay != NULL)
        return;
    const struct lab_fault *fault = &run->scenario->faults[made->fault];
    int64_t last_ns = fault->age_ns > 0 ? fault->age_ns : SYNC_PERIOD_NS;
    cass_forget_paxos(run->cluster, made->target, last_ns, excuse_paxos, run);
}

static void fill_group(const struct lab_cluster_run *run, const struct lab_group *group, uint8_t *places)
{
    memset(places, 0, cass_place_count(run->cluster));
    uint32_t first = 0, count = 1;
    switch (group->kind) {
    case LAB_GROUP_AGENTS:
        first = cass_place_of_client(run->cluster, 0);
        count = run->agent_count;
        break;
    case LAB_GROUP_AGENT:
        first = cass_place_of_client(run->cluster, group->index);
        break;
    case LAB_GROUP_DATACENTER:
        for (uint32_t i = 0; i < group->index; i++)
            first += run->scenario->network.datacenters[i].nodes;
        count = run->scenario->network.datacenters[group->index].nodes;
        break;
    case LAB_GROUP_NODE:
        first = group->index;
        break;
    }
    memset(places + first, 1, count);
}

static void change_network_partition(struct lab_cluster_run *run, const struct lab_active_fault *fault,
                                     bool is_separated)
{
    fill_group(run, &fault->between[0], run->places[0]);
    fill_group(run, &fault->between[1], run->places[1]);
    cass_set_network_partition(run->cluster, run->places[0], run->places[1], is_separated);
}

static double product_of(const struct lab_cluster_run *run, enum lab_fault_kind kind, uint32_t target)
{
    double product = 1;
    for (size_t i = 0; i < run->active_count; i++) {
        const struct lab_active_fault *active = &run->active[i];
        if (active->is_used && active->kind == kind && (target == UINT32_MAX || active->target == target))
            product *= active->factor;
    }
    return product > LAB_FACTOR_MAX ? LAB_FACTOR_MAX : product < LAB_FACTOR_MIN ? LAB_FACTOR_MIN : product;
}

/* Returns the combined probability: a message is lost unless every cause spares it. */
static double chance_of(const struct lab_cluster_run *run, enum lab_fault_kind kind, double normal)
{
    double spared = 1 - normal;
    for (size_t i = 0; i < run->active_count; i++) {
        if (run->active[i].is_used && run->active[i].kind == kind)
            spared *= 1 - run->active[i].factor;
    }
    return 1 - spared;
}

/* Returns the delay of a late message: the longest of all causes. */
static int64_t latest_of(const struct lab_cluster_run *run)
{
    int64_t by_ns = 0;
    for (size_t i = 0; i < run->active_count; i++) {
        const struct lab_active_fault *active = &run->active[i];
        if (active->is_used && active->kind == LAB_FAULT_LATE_MESSAGE && active->by_ns > by_ns)
            by_ns = active->by_ns;
    }
    return by_ns;
}

static bool is_active(const struct lab_cluster_run *run, enum lab_fault_kind kind, uint32_t target)
{
    for (size_t i = 0; i < run->active_count; i++) {
        if (run->active[i].is_used && run->active[i].kind == kind && run->active[i].target == target)
            return true;
    }
    return false;
}

static void apply(struct lab_cluster_run *run, const struct lab_active_fault *fault, bool begins)
{
    const struct cass_cluster_config *config = &run->scenario->network;
    if (run->replay != NULL && fault->kind != LAB_FAULT_AGENT_PAUSE)
        return; /* its effects are in the history */
    switch (fault->kind) {
    case LAB_FAULT_NODE_DOWN:
        cass_set_down(run->cluster, fault->target, is_active(run, LAB_FAULT_NODE_DOWN, fault->target));
        break;
    case LAB_FAULT_SLOW_NODE:
        cass_set_slow(run->cluster, fault->target, product_of(run, LAB_FAULT_SLOW_NODE, fault->target));
        break;
    case LAB_FAULT_NETWORK_PARTITION:
        change_network_partition(run, fault, begins);
        break;
    case LAB_FAULT_LOST_MESSAGE:
    case LAB_FAULT_DUPLICATE_MESSAGE:
        cass_set_loss(run->cluster, chance_of(run, LAB_FAULT_LOST_MESSAGE, config->loss),
                      chance_of(run, LAB_FAULT_DUPLICATE_MESSAGE, config->duplicate));
        break;
    case LAB_FAULT_DELAY:
        cass_set_delay(run->cluster, product_of(run, LAB_FAULT_DELAY, UINT32_MAX));
        break;
    case LAB_FAULT_LATE_MESSAGE:
        cass_set_late(run->cluster, chance_of(run, LAB_FAULT_LATE_MESSAGE, 0), latest_of(run));
        break;
    case LAB_FAULT_AGENT_PAUSE:
        if (!begins)
            lab_agent_resume(run, fault->target);
        break;
    default:
        break;
    }
}

static void begin(struct lab_cluster_run *run, const struct lab_active_fault *made, int64_t lasts_ns)
{
    size_t place = run->active_free;
    while (place < run->active_count && run->active[place].is_used)
        place++;
    if (!sim_grow(&run->active, &run->active_capacity, place + 1, sizeof *run->active)) {
        run->out_of_memory = true;
        return;
    }
    run->active_count += place == run->active_count;
    run->active_free = place + 1;
    int64_t now_ns = sim_queue_now(&run->queue);
    run->active[place] = *made;
    run->active[place].until_ns = lab_until(now_ns, lasts_ns);
    lab_health_fault(run, true);
    apply(run, made, true);
    if (made->kind == LAB_FAULT_AGENT_PAUSE)
        lab_agent_pause(run, made->target, lasts_ns);
    if (lasts_ns < SIM_QUEUE_TIME_MAX - now_ns)
        lab_push(run, now_ns + lasts_ns, LAB_EVENT_FAULT_END, (uint32_t)place);
}

/* A clock that jumped is wrong until another jump sets it back, and its effects last until the times that it
 * wrote have passed. Each jump ends a span in which the clock was wrong, so the latest end over all jumps
 * counts. */
static void jump(struct lab_cluster_run *run, struct lab_host_agent *agent, int64_t by_ns)
{
    int64_t now_ns = sim_queue_now(&run->queue);
    uint64_t was_off = agent->jump_ns < 0 ? 0 - (uint64_t)agent->jump_ns : (uint64_t)agent->jump_ns;
    int64_t over_ns = was_off < INT64_MAX ? lab_until(now_ns, (int64_t)was_off) : LAB_OPEN_ENDED;
    if (over_ns > run->oracles.jumps_until_ns)
        run->oracles.jumps_until_ns = over_ns;
    if (by_ns > 0 && agent->jump_ns > INT64_MAX - by_ns)
        agent->jump_ns = INT64_MAX;
    else if (by_ns < 0 && agent->jump_ns < INT64_MIN - by_ns)
        agent->jump_ns = INT64_MIN;
    else
        agent->jump_ns += by_ns;
    agent->jumped_ns = agent->disturbed_ns = now_ns;
    lab_condition_of_key(run, LAB_CONDITION_CLOCK_JUMP, LAB_NO_KEY, now_ns, LAB_OPEN_ENDED);
    for (uint32_t i = 0; i < run->agent_count; i++) {
        if (run->agents[i].jump_ns != 0)
            return;
    }
    if (run->oracles.jumps_until_ns != LAB_OPEN_ENDED)
        lab_condition_closes(run, LAB_CONDITION_CLOCK_JUMP, LAB_NO_KEY, INT64_MAX,
                             lab_until(run->oracles.jumps_until_ns, lab_aftermath_ns(run)));
}

/* Applies faults that happen at one moment or end by themselves. Others begin and end by events. */
static void strike_at_once(struct lab_cluster_run *run, const struct lab_active_fault *made, int64_t lasts_ns,
                           bool is_kept)
{
    int64_t now_ns = sim_queue_now(&run->queue);
    switch (made->kind) {
    case LAB_FAULT_CLOCK_JUMP:
        lab_health_pulse(run, now_ns);
        jump(run, &run->agents[made->target], made->by_ns);
        break;
    case LAB_FAULT_AGENT_CRASH:
        lab_agent_crash(run, made->target, lasts_ns, is_kept);
        break;
    case LAB_FAULT_HINT_LOSS:
        lab_health_pulse(run, now_ns);
        cass_drop_hints(run->cluster, made->target);
        break;
    case LAB_FAULT_GC_STORM: {
        int64_t left_ns = lab_until(run->end_ns, LAB_DRAIN_NS) - now_ns;
        lasts_ns = lasts_ns < left_ns ? lasts_ns : left_ns;
        lab_health_pulse(run, lab_until(now_ns, lasts_ns));
        if (run->replay == NULL)
            cass_pause(run->cluster, made->target, lasts_ns);
        break;
    }
    case LAB_FAULT_STATE_LOST:
    case LAB_FAULT_STATE_RESTORED:
        lose_state(run, made);
        break;
    case LAB_FAULT_PAXOS_LOSS:
        lose_paxos(run, made);
        break;
    default:
        begin(run, made, lasts_ns);
    }
}

static enum lab_fault_kind draw_kind(struct sim_random *draws, uint32_t kinds)
{
    uint32_t count = 0;
    for (uint32_t kind = 0; kind < LAB_FAULT_KIND_COUNT; kind++)
        count += kinds >> kind & 1;
    uint64_t nth = count > 1 ? sim_random_below(draws, count) : 0;
    for (uint32_t kind = 0; kind < LAB_FAULT_KIND_COUNT; kind++) {
        if ((kinds >> kind & 1) != 0 && nth-- == 0)
            return (enum lab_fault_kind)kind;
    }
    return LAB_FAULT_NODE_DOWN;
}

static bool is_of_agent(enum lab_fault_kind kind)
{
    return kind == LAB_FAULT_AGENT_CRASH || kind == LAB_FAULT_CLOCK_JUMP || kind == LAB_FAULT_AGENT_PAUSE;
}

static uint32_t draw_target(const struct lab_cluster_run *run, enum lab_fault_kind kind,
                            struct sim_random *draws)
{
    uint32_t count = is_of_agent(kind)              ? run->agent_count
                     : kind == LAB_FAULT_STATE_LOST ? run->key_count
                                                    : cass_node_count(run->cluster);
    return (uint32_t)sim_random_below(draws, count);
}

/* Writes a group as in the scenario. */
static void group_text(const struct lab_cluster_run *run, const struct lab_group *group, char *buffer,
                       size_t size)
{
    if (group->kind == LAB_GROUP_AGENTS)
        snprintf(buffer, size, "agents");
    else if (group->kind == LAB_GROUP_DATACENTER)
        snprintf(buffer, size, "%s", run->scenario->network.datacenters[group->index].name);
    else
        snprintf(buffer, size, "%s %u", group->kind == LAB_GROUP_AGENT ? "agent" : "node", group->index);
}

static void tell(struct lab_cluster_run *run, const struct lab_active_fault *fault,
                 enum lab_event_phase phase)
{
    const char *what = phase == LAB_EVENT_BEGINS ? "begins" : "ends";
    bool is_global = fault->kind == LAB_FAULT_LOST_MESSAGE || fault->kind == LAB_FAULT_DUPLICATE_MESSAGE ||
                     fault->kind == LAB_FAULT_DELAY || fault->kind == LAB_FAULT_LATE_MESSAGE;
    bool is_of_key = fault->kind == LAB_FAULT_STATE_LOST || fault->kind == LAB_FAULT_STATE_RESTORED;
    const char *name = lab_fault_kind_name(fault->kind);
    struct lab_told told = LAB_TOLD(FAULTS, is_of_key ? fault->target : LAB_NO_KEY, LAB_EVENT_NOBODY);
    char sides[2][64];
    told.phase = phase;
    told.agent = is_of_agent(fault->kind) ? fault->target : LAB_EVENT_NOBODY;
    told.node =
        is_global || is_of_key || is_of_agent(fault->kind) || fault->kind == LAB_FAULT_NETWORK_PARTITION
            ? LAB_EVENT_NOBODY
            : fault->target;
    if (fault->kind == LAB_FAULT_NETWORK_PARTITION) {
        for (int i = 0; i < 2; i++)
            group_text(run, &fault->between[i], sides[i], sizeof sides[i]);
        lab_event_trace_add(run, told, "fault: network partition between %s and %s %s", sides[0], sides[1],
                            what);
    } else if (is_global) {
        lab_event_trace_add(run, told, "fault: %s %s", name, what);
    } else if (is_of_key) {
        lab_event_trace_add(run, told, "fault: %s %s", name, what);
    } else {
        lab_event_trace_add(run, told, "fault: %s at %s %u %s", name,
                            is_of_agent(fault->kind) ? "agent" : "node", fault->target, what);
    }
}

void lab_fault_strike(struct lab_cluster_run *run, uint32_t number)
{
    const struct lab_fault *fault = &run->scenario->faults[number];
    struct sim_random *draws = &run->fault_draws[number];
    struct lab_active_fault made = {
        .is_used = true, .fault = number, .factor = fault->factor, .by_ns = fault->by_ns};
    made.kind = draw_kind(draws, fault->kinds);
    made.target = fault->target != UINT32_MAX ? fault->target : draw_target(run, made.kind, draws);
    memcpy(made.between, fault->between, sizeof made.between);
    int64_t lasts_ns = fault->lasts_ns;
    if (fault->rate_per_s > 0) {
        double drawn_ns = sim_exponential(draws) * (double)lasts_ns;
        lasts_ns = drawn_ns < LASTS_MAX ? 1 + (int64_t)drawn_ns : INT64_MAX;
        made.by_ns = (int64_t)((2 * sim_random_unit(draws) - 1) * (double)made.by_ns);
        if (made.kind == LAB_FAULT_NETWORK_PARTITION) {
            /* A random network partition separates one node from all agents. */
            made.between[0] = (struct lab_group){LAB_GROUP_NODE, made.target};
            made.between[1] = (struct lab_group){LAB_GROUP_AGENTS, 0};
        }
        if (made.kind == LAB_FAULT_LOST_MESSAGE || made.kind == LAB_FAULT_DUPLICATE_MESSAGE)
            made.factor = made.factor > 1 ? 0.05 : made.factor;
        if (made.kind == LAB_FAULT_LATE_MESSAGE) {
            made.factor = LATE_CHANCE;
            made.by_ns = LATE_BY_NS;
        }
        come_again(run, number);
    }
    lab_fault_begins(run, &made, lasts_ns, fault->rate_per_s == 0 && fault->age_ns > 0);
}

void lab_fault_begins(struct lab_cluster_run *run, const struct lab_active_fault *made, int64_t lasts_ns,
                      bool is_kept)
{
    tell(run, made, LAB_EVENT_BEGINS);
    lab_record_fault(run, made, lasts_ns);
    lab_watch_fault(run, made->kind);
    lab_faults_begun(run, made, lasts_ns);
    if (made->kind == LAB_FAULT_NODE_DOWN || made->kind == LAB_FAULT_HINT_LOSS)
        run->oracles.hints_may_be_lost = true;
    strike_at_once(run, made, lasts_ns, is_kept);
    lab_faults_changed(run, made, lasts_ns);
}

void lab_fault_keep(struct lab_cluster_run *run, uint32_t number)
{
    const struct lab_fault *fault = &run->scenario->faults[number];
    struct lab_backup *backup = &run->backups[number];
    lab_host_kept(run, number, fault->kinds == UINT32_C(1) << LAB_FAULT_AGENT_CRASH);
    if (fault->kinds == UINT32_C(1) << LAB_FAULT_AGENT_CRASH)
        lab_agent_keep(run, fault->target);
    else
        cass_peek_merged(run->cluster, lab_state_register(fault->target), backup->columns, &backup->mask);
}

/* Returns how much later the last delayed message arrives. */
static int64_t delayed_by_ns(const struct lab_cluster_run *run)
{
    struct cass_disturbance now;
    cass_disturbance(run->cluster, &now);
    int64_t now_ns = sim_queue_now(&run->queue);
    return now.delayed_until_ns > now_ns ? now.delayed_until_ns - now_ns : 0;
}

void lab_fault_end(struct lab_cluster_run *run, uint32_t place)
{
    struct lab_active_fault ended = run->active[place];
    int64_t now_ns = sim_queue_now(&run->queue);
    if (ended.kind == LAB_FAULT_DELAY && run->replay == NULL)
        ended.by_ns = delayed_by_ns(run);
    lab_record_fault_end(run, place, &ended);
    run->active[place].is_used = false;
    if (place < run->active_free)
        run->active_free = place;
    lab_health_fault(run, false);
    /* The last delayed message is still in flight. It may be a write for which no agent waits any more, and
     * which sets a key's state back. */
    if (ended.kind == LAB_FAULT_LATE_MESSAGE || ended.kind == LAB_FAULT_DELAY)
        lab_health_pulse(run, lab_until(now_ns, ended.by_ns));
    tell(run, &ended, LAB_EVENT_ENDS);
    apply(run, &ended, false);
    lab_faults_ended(run, &ended);
}
