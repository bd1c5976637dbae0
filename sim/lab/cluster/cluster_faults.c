/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Faults, at fixed times or at random. In: the scenario's faults. Kept: those that are active. Out:
 * disturbances of cluster and agents, alone or combined. Every fault has its own stream of random numbers, so
 * adding a fault does not change the others. All strategies have the same faults at the same times. If two
 * faults of a component overlap, it is healthy again when both have ended. */
#include <string.h>

#include "cluster_agents.h"
#include "cluster_run.h"
#include "cluster_view.h"
#include "events.h"
#include "kernel/grow.h"
#include "kernel/time.h"

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
    if (lab_keeps_state(run) && run->replay == NULL)
        cass_set_columns(run->cluster, lab_state_register(made->target), backup->columns,
                         is_lost ? 0 : backup->mask);
}

static void paxos_is_lost(void *context, uint64_t name)
{
    struct lab_cluster_run *run = context;
    uint32_t key;
    if (run->idgen != NULL)
        cluster_emit(run, PAXOS_LOST, .key = LAB_NO_KEY);
    else if (lab_register_is_state(name, &key))
        cluster_emit(run, PAXOS_LOST, .key = key);
}

static void lose_paxos(struct lab_cluster_run *run, const struct lab_active_fault *made)
{
    if (run->replay != NULL)
        return;
    const struct lab_fault *fault = &run->scenario->faults[made->fault];
    int64_t last_ns = fault->age_ns > 0 ? fault->age_ns : SYNC_PERIOD_NS;
    cass_forget_paxos(run->cluster, made->target, last_ns, paxos_is_lost, run);
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
    apply(run, made, true);
    if (made->kind == LAB_FAULT_AGENT_PAUSE)
        lab_agent_pause(run, made->target, lasts_ns);
    if (lasts_ns < SIM_QUEUE_TIME_MAX - now_ns)
        lab_push(run, now_ns + lasts_ns, LAB_EVENT_FAULT_END, (uint32_t)place);
}

static void jump(struct lab_cluster_run *run, uint32_t number, int64_t by_ns)
{
    struct lab_host_agent *agent = &run->agents[number];
    int64_t before_ns = agent->jump_ns;
    if (by_ns > 0 && agent->jump_ns > INT64_MAX - by_ns)
        agent->jump_ns = INT64_MAX;
    else if (by_ns < 0 && agent->jump_ns < INT64_MIN - by_ns)
        agent->jump_ns = INT64_MIN;
    else
        agent->jump_ns += by_ns;
    cluster_emit(run, CLOCK_JUMPED, .agent = number, .time_ns = before_ns);
}

/* Applies faults that happen at one moment or end by themselves. Others begin and end by events. */
static void strike_at_once(struct lab_cluster_run *run, const struct lab_active_fault *made, int64_t lasts_ns,
                           bool is_kept)
{
    int64_t now_ns = sim_queue_now(&run->queue);
    switch (made->kind) {
    case LAB_FAULT_CLOCK_JUMP:
        jump(run, made->target, made->by_ns);
        break;
    case LAB_FAULT_AGENT_CRASH:
        lab_agent_crash(run, made->target, lasts_ns, is_kept);
        break;
    case LAB_FAULT_HINT_LOSS:
        cass_drop_hints(run->cluster, made->target);
        break;
    case LAB_FAULT_GC_STORM: {
        int64_t left_ns = lab_until(run->end_ns, LAB_DRAIN_NS) - now_ns;
        lasts_ns = lasts_ns < left_ns ? lasts_ns : left_ns;
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

static uint32_t draw_target(const struct lab_cluster_run *run, enum lab_fault_kind kind,
                            struct sim_random *draws)
{
    uint32_t count = lab_fault_is_of_agent(kind)    ? run->agent_count
                     : kind == LAB_FAULT_STATE_LOST ? run->key_count
                                                    : cass_node_count(run->cluster);
    return (uint32_t)sim_random_below(draws, count);
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
    cluster_emit(run, FAULT_BEGINS, .fault = made, .time_ns = lasts_ns);
    strike_at_once(run, made, lasts_ns, is_kept);
    cluster_emit(run, FAULT_STRUCK, .fault = made, .time_ns = lasts_ns);
}

void lab_fault_keep(struct lab_cluster_run *run, uint32_t number)
{
    const struct lab_fault *fault = &run->scenario->faults[number];
    struct lab_backup *backup = &run->backups[number];
    bool is_agent = fault->kinds == UINT32_C(1) << LAB_FAULT_AGENT_CRASH;
    cluster_emit(run, FAULT_KEPT, .number = number, .flag = is_agent);
    if (is_agent)
        lab_agent_keep(run, fault->target);
    else
        cass_peek_merged(run->cluster, lab_state_register(fault->target), backup->columns, &backup->mask);
}

/* Returns how much later the last delayed message arrives. */
static int64_t delayed_by_ns(const struct lab_cluster_run *run)
{
    int64_t now_ns = sim_queue_now(&run->queue), until_ns = cass_delayed_until_ns(run->cluster);
    return until_ns > now_ns ? until_ns - now_ns : 0;
}

void lab_fault_end(struct lab_cluster_run *run, uint32_t place)
{
    struct lab_active_fault ended = run->active[place];
    if (ended.kind == LAB_FAULT_DELAY && run->replay == NULL)
        ended.by_ns = delayed_by_ns(run);
    run->active[place].is_used = false;
    if (place < run->active_free)
        run->active_free = place;
    cluster_emit(run, FAULT_ENDS, .fault = &ended, .number = place);
    apply(run, &ended, false);
    cluster_emit(run, FAULT_ENDED, .fault = &ended);
}
