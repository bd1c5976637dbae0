/* SPDX-License-Identifier: GPL-3.0-or-later */
/* available, the faults that the engine applies: each is one that the scenario declares, the cluster runs
 * with the faults that are active and no others, and no agent acts while it is paused; a crash ends a pause.
 * conserved, deletes: a delete ends with its acknowledgement, or after as many tries as are set. Faults in
 * histories are not made by the engine and are not judged. */
#include "../../cassandra/peek.h"
#include "judges.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "kernel/time.h"

/* Random faults have the chances that others have by default (docs/scenario.md). */
#define CHANCE_OF_RANDOM 0.05
#define LATE_OF_RANDOM   0.01
#define AGE_OF_PAXOS     (10 * SIM_SECOND)
#define ACTIVE_JUDGED    64u /* active faults of which every change is judged */

static void demand(struct lab_cluster_run *run, const struct lab_active_fault *fault, bool is_fine,
                   const char *otherwise)
{
    if (!is_fine)
        judge_violate(run, LAB_NO_KEY, "faults[%" PRIu32 "] (%s) %s", fault->fault,
                      lab_fault_kind_name(fault->kind), otherwise);
}

/* Returns whether a fault has the declared strength. Some random faults draw theirs. */
static bool has_figures(const struct lab_active_fault *made, const struct lab_fault *declared)
{
    bool is_random = declared->rate_per_s > 0;
    switch (made->kind) {
    case LAB_FAULT_SLOW_NODE:
    case LAB_FAULT_DELAY:
        return made->factor == declared->factor;
    case LAB_FAULT_LOST_MESSAGE:
    case LAB_FAULT_DUPLICATE_MESSAGE:
        return made->factor == (is_random ? CHANCE_OF_RANDOM : declared->factor);
    case LAB_FAULT_LATE_MESSAGE:
        return is_random ? made->factor == LATE_OF_RANDOM && made->by_ns == SIM_MINUTE
                         : made->factor == declared->factor && made->by_ns == declared->by_ns;
    case LAB_FAULT_CLOCK_JUMP:
        return is_random ? made->by_ns <= declared->by_ns && made->by_ns >= -declared->by_ns
                         : made->by_ns == declared->by_ns;
    case LAB_FAULT_NETWORK_PARTITION:
        return is_random || memcmp(made->between, declared->between, sizeof made->between) == 0;
    default:
        return true;
    }
}

static void judge_declared(struct lab_cluster_run *run, const struct lab_active_fault *made, int64_t lasts_ns)
{
    const struct lab_fault *declared = &run->scenario->faults[made->fault];
    int64_t now_ns = sim_queue_now(&run->queue);
    bool is_on_time = declared->rate_per_s > 0 ? now_ns <= lab_until(run->start_ns, declared->until_ns)
                                               : now_ns == lab_until(run->start_ns, declared->at_ns) &&
                                                     lasts_ns == declared->lasts_ns;
    bool is_target = declared->target == UINT32_MAX || made->target == declared->target;
    demand(run, made,
           (declared->kinds >> made->kind & 1) != 0 && is_on_time && is_target && has_figures(made, declared),
           "is not what the scenario declares");
}

/* Returns what the node has of the Paxos state that it loses now, and of older one. */
static struct cass_paxos_age age_of_paxos(const struct lab_cluster_run *run,
                                          const struct lab_active_fault *fault)
{
    int64_t age_ns = run->scenario->faults[fault->fault].age_ns;
    int64_t since_ns = sim_queue_now(&run->queue) - (age_ns > 0 ? age_ns : AGE_OF_PAXOS);
    return cass_peek_paxos(run->cluster, fault->target, since_ns / SIM_US);
}

static void judge_paxos(struct lab_cluster_run *run, const struct lab_active_fault *fault)
{
    struct cass_paxos_age left = age_of_paxos(run, fault);
    demand(run, fault, left.newer == 0 && left.older == judge_of(run)->paxos_kept,
           "loses more or less than the Paxos state of its span");
}

void lab_faults_begun(struct lab_cluster_run *run, const struct lab_active_fault *fault, int64_t lasts_ns)
{
    judge_declared(run, fault, lasts_ns);
    if (run->idgen == NULL)
        lab_host_faulted(run, fault, lasts_ns);
    if (fault->kind == LAB_FAULT_PAXOS_LOSS)
        judge_of(run)->paxos_kept = age_of_paxos(run, fault).older;
    if (fault->kind != LAB_FAULT_AGENT_PAUSE && fault->kind != LAB_FAULT_AGENT_CRASH)
        return;
    struct judged_agent *agent = of_agent(run, fault->target);
    int64_t until_ns = lab_until(sim_queue_now(&run->queue), lasts_ns);
    if (fault->kind == LAB_FAULT_AGENT_CRASH)
        agent->held_until_ns = 0;
    else if (run->agents[fault->target].is_up && until_ns > agent->held_until_ns)
        agent->held_until_ns = until_ns;
}

void lab_faults_acted(struct lab_cluster_run *run, uint32_t agent, uint32_t key)
{
    if (sim_queue_now(&run->queue) < of_agent(run, agent)->held_until_ns)
        judge_violate(run, key, "agent %" PRIu32 " acts although it is paused until %.6f s", agent,
                      lab_seconds(run, of_agent(run, agent)->held_until_ns));
}

static bool is_in_force(const struct lab_cluster_run *run, size_t index, enum lab_fault_kind kind)
{
    return run->active[index].is_used && run->active[index].kind == kind;
}

/* Returns the combined strength of the active faults of a kind: the product of their factors, within the
 * bounds of the engine, or the probability that at least one of them has an effect. */
static double strength(const struct lab_cluster_run *run, enum lab_fault_kind kind, uint32_t target,
                       double normal)
{
    bool is_chance = kind != LAB_FAULT_SLOW_NODE && kind != LAB_FAULT_DELAY;
    double factor = 1, spared = 1 - normal;
    for (size_t i = 0; i < run->active_count; i++) {
        if (!is_in_force(run, i, kind) || (target != UINT32_MAX && run->active[i].target != target))
            continue;
        factor *= run->active[i].factor;
        spared *= 1 - run->active[i].factor;
    }
    if (is_chance)
        return 1 - spared;
    return factor > LAB_FACTOR_MAX ? LAB_FACTOR_MAX : factor < LAB_FACTOR_MIN ? LAB_FACTOR_MIN : factor;
}

/* A chance is 1 minus a product, so its rounding error does not get smaller with the chance. */
static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b)) + 1e-12;
}

static bool has_place(const struct lab_cluster_run *run, const struct lab_group *group, uint32_t place)
{
    const struct cass_cluster_config *network = &run->scenario->network;
    uint32_t nodes = cass_node_count(run->cluster), first = 0;
    switch (group->kind) {
    case LAB_GROUP_AGENTS:
        return place >= nodes && place < nodes + run->agent_count;
    case LAB_GROUP_AGENT:
        return place == nodes + group->index;
    case LAB_GROUP_NODE:
        return place == group->index;
    case LAB_GROUP_DATACENTER:
        break;
    }
    for (uint32_t i = 0; i < group->index; i++)
        first += network->datacenters[i].nodes;
    return place >= first && place < first + network->datacenters[group->index].nodes;
}

static bool is_separated(const struct lab_cluster_run *run, uint32_t place, uint32_t node)
{
    for (size_t i = 0; i < run->active_count; i++) {
        const struct lab_group *sides = run->active[i].between;
        if (is_in_force(run, i, LAB_FAULT_NETWORK_PARTITION) && place != node &&
            ((has_place(run, &sides[0], place) && has_place(run, &sides[1], node)) ||
             (has_place(run, &sides[1], place) && has_place(run, &sides[0], node))))
            return true;
    }
    return false;
}

/* Whether any network partition in force has the place on one of its sides. */
static bool is_on_a_side(const struct lab_cluster_run *run, uint32_t place)
{
    for (size_t i = 0; i < run->active_count; i++) {
        const struct lab_group *sides = run->active[i].between;
        if (is_in_force(run, i, LAB_FAULT_NETWORK_PARTITION) &&
            (has_place(run, &sides[0], place) || has_place(run, &sides[1], place)))
            return true;
    }
    return false;
}

/* Compares all pairs of places. Most places of a large cluster are on no side, so nothing separates them. */
static void judge_separations(struct lab_cluster_run *run, const struct lab_active_fault *fault)
{
    uint32_t nodes = cass_node_count(run->cluster);
    bool is_fine = true;
    for (uint32_t place = 0; place < nodes + run->agent_count; place++) {
        bool may_be = is_on_a_side(run, place);
        for (uint32_t node = 0; node < nodes && is_fine; node++)
            is_fine = cass_places_are_separated(run->cluster, place, node) ==
                      (may_be && is_separated(run, place, node));
    }
    demand(run, fault, is_fine, "does not separate the places that the active faults separate");
}

static void judge_messages(struct lab_cluster_run *run, const struct lab_active_fault *fault)
{
    const struct cass_cluster_config *normal = &run->scenario->network;
    struct cass_disturbance now;
    int64_t late_ns = 0;
    for (size_t i = 0; i < run->active_count; i++) {
        if (is_in_force(run, i, LAB_FAULT_LATE_MESSAGE) && run->active[i].by_ns > late_ns)
            late_ns = run->active[i].by_ns;
    }
    cass_disturbance(run->cluster, &now);
    demand(run, fault,
           is_near(now.loss, strength(run, LAB_FAULT_LOST_MESSAGE, UINT32_MAX, normal->loss)) &&
               is_near(now.duplicate,
                       strength(run, LAB_FAULT_DUPLICATE_MESSAGE, UINT32_MAX, normal->duplicate)) &&
               is_near(now.delay, strength(run, LAB_FAULT_DELAY, UINT32_MAX, 0)) &&
               is_near(now.late, strength(run, LAB_FAULT_LATE_MESSAGE, UINT32_MAX, 0)) &&
               now.late_ns == late_ns,
           "does not lose, double or delay messages as the active faults require");
}

/* If several faults end now, the end of some of them may not have been reported yet. */
static void judge_down(struct lab_cluster_run *run, const struct lab_active_fault *fault, bool is_down)
{
    bool is_held = false, may_be_down = false;
    for (size_t i = 0; i < run->active_count; i++) {
        bool is_same = is_in_force(run, i, LAB_FAULT_NODE_DOWN) && run->active[i].target == fault->target;
        may_be_down = may_be_down || is_same;
        is_held = is_held || (is_same && run->active[i].until_ns > sim_queue_now(&run->queue));
    }
    demand(run, fault, is_down ? may_be_down : !is_held,
           "leaves the node up or down although the active faults require otherwise");
}

static void judge_node(struct lab_cluster_run *run, const struct lab_active_fault *fault)
{
    struct cass_node_disturbance node;
    cass_node_disturbance(run->cluster, fault->target, &node);
    if (fault->kind == LAB_FAULT_NODE_DOWN)
        judge_down(run, fault, node.is_down);
    else if (fault->kind == LAB_FAULT_SLOW_NODE)
        demand(run, fault, is_near(node.slow, strength(run, fault->kind, fault->target, 0)),
               "leaves the node faster or slower than the active faults require");
}

/* A node that is down does not pause. Nothing runs after the drain. */
static void judge_storm(struct lab_cluster_run *run, const struct lab_active_fault *fault, int64_t lasts_ns)
{
    int64_t now_ns = sim_queue_now(&run->queue), left_ns = lab_until(run->end_ns, LAB_DRAIN_NS) - now_ns;
    struct cass_node_disturbance node;
    cass_node_disturbance(run->cluster, fault->target, &node);
    demand(run, fault,
           node.is_down || node.paused_until_ns >= lab_until(now_ns, lasts_ns < left_ns ? lasts_ns : left_ns),
           "does not pause its node for as long as it lasts");
}

/* A judgment looks at all active faults. When there are very many, only one change in some is judged, so that
 * the time for all changes remains proportional to their number. */
static bool is_due(struct lab_cluster_run *run)
{
    size_t every = run->active_count / ACTIVE_JUDGED + 1;
    return judge_of(run)->fault_changes++ % every == 0;
}

void lab_faults_changed(struct lab_cluster_run *run, const struct lab_active_fault *fault, int64_t lasts_ns)
{
    if (run->out_of_memory)
        return;
    switch (fault->kind) {
    case LAB_FAULT_NODE_DOWN:
    case LAB_FAULT_SLOW_NODE:
        if (is_due(run))
            judge_node(run, fault);
        break;
    case LAB_FAULT_NETWORK_PARTITION:
        if (is_due(run))
            judge_separations(run, fault);
        break;
    case LAB_FAULT_LOST_MESSAGE:
    case LAB_FAULT_DUPLICATE_MESSAGE:
    case LAB_FAULT_DELAY:
    case LAB_FAULT_LATE_MESSAGE:
        if (is_due(run))
            judge_messages(run, fault);
        break;
    case LAB_FAULT_GC_STORM:
        judge_storm(run, fault, lasts_ns);
        break;
    case LAB_FAULT_HINT_LOSS:
        demand(run, fault, !cass_has_hints(run->cluster, fault->target), "leaves its node some hints");
        break;
    case LAB_FAULT_PAXOS_LOSS:
        judge_paxos(run, fault);
        break;
    case LAB_FAULT_STATE_LOST:
    case LAB_FAULT_STATE_RESTORED:
        lab_host_state_set(run, fault);
        break;
    default:
        break; /* it has no duration */
    }
}

void lab_faults_ended(struct lab_cluster_run *run, const struct lab_active_fault *fault)
{
    demand(run, fault, fault->until_ns == sim_queue_now(&run->queue), "ends too early or too late");
    lab_faults_changed(run, fault, 0);
}

void lab_delete_ended(struct lab_cluster_run *run, const struct lab_delete *item,
                      const struct cass_reply *reply)
{
    if (reply != NULL ? reply->result != CASS_OK : item->tries != run->scenario->agents.retries + 1)
        judge_violate(run, item->key,
                      "the delete of row %" PRIu64 " ends after %" PRIu32 " tries without an acknowledgement",
                      item->row, item->tries);
}
