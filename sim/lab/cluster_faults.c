/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Faults, on a timetable or at random. Every fault has a stream of its own, so one more moves no other; all
 * strategies meet the same faults at the same times. Where two overlap, the thing is well again when both
 * have ended. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster_run.h"

/* In nanoseconds; what is drawn to last longer never ends. */
#define LASTS_MAX 0x1p62
/* Faults on top of each other; nothing that runs would be seen to end beyond. */
#define FACTOR_MAX 1e6
#define FACTOR_MIN 1e-6

static void begin(struct lab_cluster_run *run, const struct lab_active_fault *made, int64_t lasts_ns);
static void jump(struct lab_host_agent *agent, int64_t by_ns);
static void come_again(struct lab_cluster_run *run, uint32_t fault);
static enum lab_fault_kind draw_kind(struct sim_random *draws, uint32_t kinds);
static uint32_t draw_target(const struct lab_cluster_run *run, enum lab_fault_kind kind,
                            struct sim_random *draws);
static void apply(struct lab_cluster_run *run, const struct lab_active_fault *fault, bool begins);
static void apply_cuts(struct lab_cluster_run *run, const struct lab_active_fault *ended);
static void change_cut(struct lab_cluster_run *run, const struct lab_active_fault *fault, bool is_cut);
static void fill_group(const struct lab_cluster_run *run, const struct lab_group *group, uint8_t *places);
static double product_of(const struct lab_cluster_run *run, enum lab_fault_kind kind, uint32_t target);
static double chance_of(const struct lab_cluster_run *run, enum lab_fault_kind kind, double normal);
static bool is_active(const struct lab_cluster_run *run, enum lab_fault_kind kind, uint32_t target);
static void tell(struct lab_cluster_run *run, const struct lab_active_fault *fault, const char *what);
static void group_text(const struct lab_cluster_run *run, const struct lab_group *group, char *buffer,
                       size_t size);

void lab_faults_begin(struct lab_cluster_run *run)
{
    for (uint32_t i = 0; i < run->scenario->fault_count; i++) {
        const struct lab_fault *fault = &run->scenario->faults[i];
        sim_random_init(&run->fault_draws[i], run->scenario->seed, SIM_FAULT, i);
        if (fault->rate_per_s > 0)
            come_again(run, i);
        else
            lab_push(run, lab_until(run->start_ns, fault->at_ns), LAB_EVENT_FAULT, i);
    }
}

void lab_fault_strike(struct lab_cluster_run *run, uint32_t number)
{
    const struct lab_fault *fault = &run->scenario->faults[number];
    struct sim_random *draws = &run->fault_draws[number];
    struct lab_active_fault made = {.is_used = true, .fault = number, .factor = fault->factor};
    made.kind = draw_kind(draws, fault->kinds);
    made.target = fault->target != UINT32_MAX ? fault->target : draw_target(run, made.kind, draws);
    memcpy(made.between, fault->between, sizeof made.between);
    int64_t lasts_ns = fault->lasts_ns, by_ns = fault->by_ns;
    if (fault->rate_per_s > 0) {
        double drawn_ns = sim_exponential(draws) * (double)lasts_ns;
        lasts_ns = drawn_ns < LASTS_MAX ? 1 + (int64_t)drawn_ns : INT64_MAX;
        by_ns = (int64_t)((2 * sim_random_unit(draws) - 1) * (double)by_ns);
        if (made.kind == LAB_FAULT_CUT) {
            /* Drawn: one node is cut off from all agents. */
            made.between[0] = (struct lab_group){LAB_GROUP_NODE, made.target};
            made.between[1] = (struct lab_group){LAB_GROUP_AGENTS, 0};
        }
        if (made.kind == LAB_FAULT_LOST_MESSAGE || made.kind == LAB_FAULT_DUPLICATE_MESSAGE)
            made.factor = made.factor > 1 ? 0.05 : made.factor;
        come_again(run, number);
    }
    tell(run, &made, "begins");
    lab_watch_fault(run, made.kind);
    if (made.kind == LAB_FAULT_NODE_DOWN || made.kind == LAB_FAULT_HINT_LOSS)
        run->oracles.hints_may_be_lost = true;
    if (made.kind == LAB_FAULT_CLOCK_JUMP) {
        lab_condition_set(&run->oracles.verdict, LAB_CONDITION_CLOCK_JUMP);
        lab_health_pulse(run, sim_queue_now(&run->queue));
        jump(&run->agents[made.target], by_ns);
        return;
    }
    if (made.kind == LAB_FAULT_AGENT_CRASH) {
        lab_agent_crash(run, made.target, lasts_ns);
        return;
    }
    if (made.kind == LAB_FAULT_HINT_LOSS) {
        lab_health_pulse(run, sim_queue_now(&run->queue));
        cass_drop_hints(run->cluster, made.target);
        return;
    }
    if (made.kind == LAB_FAULT_GC_STORM) {
        int64_t left_ns = lab_until(run->end_ns, LAB_DRAIN_NS) - sim_queue_now(&run->queue);
        lasts_ns = lasts_ns < left_ns ? lasts_ns : left_ns;
        lab_health_pulse(run, lab_until(sim_queue_now(&run->queue), lasts_ns));
        cass_pause(run->cluster, made.target, lasts_ns);
        return;
    }
    begin(run, &made, lasts_ns);
}

static void begin(struct lab_cluster_run *run, const struct lab_active_fault *made, int64_t lasts_ns)
{
    size_t place = 0;
    while (place < run->active_count && run->active[place].is_used)
        place++;
    if (place == run->active_capacity) {
        size_t capacity = place == 0 ? 16 : place * 2;
        struct lab_active_fault *active = realloc(run->active, capacity * sizeof *active);
        if (active == NULL) {
            run->out_of_memory = true;
            return;
        }
        run->active = active;
        run->active_capacity = capacity;
    }
    run->active_count += place == run->active_count;
    run->active[place] = *made;
    lab_health_fault(run, true);
    apply(run, made, true);
    int64_t now_ns = sim_queue_now(&run->queue);
    if (lasts_ns < SIM_QUEUE_TIME_MAX - now_ns)
        lab_push(run, now_ns + lasts_ns, LAB_EVENT_FAULT_END, (uint32_t)place);
}

static void jump(struct lab_host_agent *agent, int64_t by_ns)
{
    if (by_ns > 0 && agent->jump_ns > INT64_MAX - by_ns)
        agent->jump_ns = INT64_MAX;
    else if (by_ns < 0 && agent->jump_ns < INT64_MIN - by_ns)
        agent->jump_ns = INT64_MIN;
    else
        agent->jump_ns += by_ns;
}

void lab_fault_end(struct lab_cluster_run *run, uint32_t place)
{
    struct lab_active_fault ended = run->active[place];
    run->active[place].is_used = false;
    lab_health_fault(run, false);
    tell(run, &ended, "ends");
    apply(run, &ended, false);
}

/* The next of a fault that comes at random. */
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
    bool is_agent = kind == LAB_FAULT_AGENT_CRASH || kind == LAB_FAULT_CLOCK_JUMP;
    return (uint32_t)sim_random_below(draws, is_agent ? run->agent_count : cass_node_count(run->cluster));
}

static void apply(struct lab_cluster_run *run, const struct lab_active_fault *fault, bool begins)
{
    const struct cass_cluster_config *config = &run->scenario->network;
    switch (fault->kind) {
    case LAB_FAULT_NODE_DOWN:
        cass_set_down(run->cluster, fault->target, is_active(run, LAB_FAULT_NODE_DOWN, fault->target));
        break;
    case LAB_FAULT_SLOW_NODE:
        cass_set_slow(run->cluster, fault->target, product_of(run, LAB_FAULT_SLOW_NODE, fault->target));
        break;
    case LAB_FAULT_CUT:
        apply_cuts(run, begins ? NULL : fault);
        break;
    case LAB_FAULT_LOST_MESSAGE:
    case LAB_FAULT_DUPLICATE_MESSAGE:
        cass_set_loss(run->cluster, chance_of(run, LAB_FAULT_LOST_MESSAGE, config->loss),
                      chance_of(run, LAB_FAULT_DUPLICATE_MESSAGE, config->duplicate));
        break;
    case LAB_FAULT_DELAY:
        cass_set_delay(run->cluster, product_of(run, LAB_FAULT_DELAY, UINT32_MAX));
        break;
    default:
        break;
    }
}

/* Heals the one that ended (NULL: one begins), and cuts again what others still cut. In between nobody
 * notices: who is long believed to be gone stays so. */
static void apply_cuts(struct lab_cluster_run *run, const struct lab_active_fault *ended)
{
    if (ended != NULL)
        change_cut(run, ended, false);
    for (size_t i = 0; i < run->active_count; i++) {
        if (run->active[i].is_used && run->active[i].kind == LAB_FAULT_CUT)
            change_cut(run, &run->active[i], true);
    }
    cass_cuts_tell(run->cluster);
}

static void change_cut(struct lab_cluster_run *run, const struct lab_active_fault *fault, bool is_cut)
{
    fill_group(run, &fault->between[0], run->places[0]);
    fill_group(run, &fault->between[1], run->places[1]);
    cass_change_cut(run->cluster, run->places[0], run->places[1], is_cut);
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

static double product_of(const struct lab_cluster_run *run, enum lab_fault_kind kind, uint32_t target)
{
    double product = 1;
    for (size_t i = 0; i < run->active_count; i++) {
        const struct lab_active_fault *active = &run->active[i];
        if (active->is_used && active->kind == kind && (target == UINT32_MAX || active->target == target))
            product *= active->factor;
    }
    return product > FACTOR_MAX ? FACTOR_MAX : product < FACTOR_MIN ? FACTOR_MIN : product;
}

/* A message is lost unless every cause spares it. */
static double chance_of(const struct lab_cluster_run *run, enum lab_fault_kind kind, double normal)
{
    double spared = 1 - normal;
    for (size_t i = 0; i < run->active_count; i++) {
        if (run->active[i].is_used && run->active[i].kind == kind)
            spared *= 1 - run->active[i].factor;
    }
    return 1 - spared;
}

static bool is_active(const struct lab_cluster_run *run, enum lab_fault_kind kind, uint32_t target)
{
    for (size_t i = 0; i < run->active_count; i++) {
        if (run->active[i].is_used && run->active[i].kind == kind && run->active[i].target == target)
            return true;
    }
    return false;
}

static void tell(struct lab_cluster_run *run, const struct lab_active_fault *fault, const char *what)
{
    bool is_agent = fault->kind == LAB_FAULT_AGENT_CRASH || fault->kind == LAB_FAULT_CLOCK_JUMP;
    bool is_global = fault->kind == LAB_FAULT_LOST_MESSAGE || fault->kind == LAB_FAULT_DUPLICATE_MESSAGE ||
                     fault->kind == LAB_FAULT_DELAY;
    const char *name = lab_fault_kind_name(fault->kind);
    char sides[2][64];
    if (fault->kind == LAB_FAULT_CUT) {
        for (int i = 0; i < 2; i++)
            group_text(run, &fault->between[i], sides[i], sizeof sides[i]);
        lab_story_tell(run, LAB_NO_KEY, "fault: cut between %s and %s %s", sides[0], sides[1], what);
    } else if (is_global) {
        lab_story_tell(run, LAB_NO_KEY, "fault: %s %s", name, what);
    } else {
        lab_story_tell(run, LAB_NO_KEY, "fault: %s at %s %u %s", name, is_agent ? "agent" : "node",
                       fault->target, what);
    }
}

/* A group as the scenario names it. */
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
