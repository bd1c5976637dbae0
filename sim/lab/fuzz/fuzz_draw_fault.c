/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws the faults of a seed. First it draws which kinds of fault are enabled (swarm testing), so that seeds
 * differ in character; then each kind occurs a few times in the first part of the run. The rest of the run
 * has no faults, so that recovery can be checked. */
#include <inttypes.h>
#include <stdio.h>

#include "fuzz_plan.h"
#include "kernel/random.h"
#include "kernel/time.h"
#include "lab/scenario.h"

#define CHAOS_SHARE 0.6
#define LASTS_MAX   (10 * SIM_MINUTE)
#define STRIKES_MAX 4u

/* The share of seeds of each character, and the probability that a kind of fault is enabled. */
#define QUIET_SEEDS  0.08 /* no faults */
#define MILD_SEEDS   0.28
#define STORMY_SEEDS 0.12 /* all kinds */
#define MILD_SHARE   0.1
#define KIND_SHARE   0.35
#define JUMP_SHARE   0.12 /* rare, since a clock beyond its bound excuses many violations */
#define LOSS_SHARE   0.06 /* rare, since a lost state row, or lost Paxos state, excuses many too */
#define PAXOS_SHARE  0.12 /* few of these faults have an effect */
#define CHECKPOINTS  0.4

static bool is_struck(const struct lab_fuzz_plan *plan, enum lab_fault_kind kind)
{
    struct sim_random random;
    if (!plan->has_duration)
        return false;
    lab_draw_init(&random, plan, LAB_DRAW_SWARM);
    double character = sim_random_unit(&random);
    double draws[LAB_FAULT_KIND_COUNT];
    for (unsigned i = 0; i < LAB_FAULT_KIND_COUNT; i++)
        draws[i] = sim_random_unit(&random);
    if (character < QUIET_SEEDS)
        return false;
    bool is_loss = kind == LAB_FAULT_STATE_LOST || kind == LAB_FAULT_STATE_RESTORED;
    if (is_loss && (plan->has_identifiers || plan->keys == 0))
        return false;
    if (is_loss)
        return draws[kind] < LOSS_SHARE;
    if (kind == LAB_FAULT_PAXOS_LOSS)
        return draws[kind] < PAXOS_SHARE;
    if (kind == LAB_FAULT_CLOCK_JUMP)
        return draws[kind] < JUMP_SHARE;
    if (character < QUIET_SEEDS + MILD_SEEDS)
        return draws[kind] < MILD_SHARE;
    return character >= 1 - STORMY_SEEDS || draws[kind] < KIND_SHARE;
}

static bool has_kinds(const struct lab_fuzz_plan *plan)
{
    for (unsigned kind = 0; kind < LAB_FAULT_KIND_COUNT; kind++) {
        if (is_struck(plan, (enum lab_fault_kind)kind))
            return true;
    }
    return false;
}

/* A fraction 1/parts of the run. */
static int64_t part_of(const struct lab_fuzz_plan *plan, int64_t parts)
{
    return plan->duration_ns / parts < LASTS_MAX ? plan->duration_ns / parts : LASTS_MAX;
}

static int64_t longest_of(const struct lab_fuzz_plan *plan)
{
    return part_of(plan, plan->length->faults);
}

static bool is_at_once(enum lab_fault_kind kind)
{
    return kind == LAB_FAULT_HINT_LOSS || kind == LAB_FAULT_STATE_LOST || kind == LAB_FAULT_PAXOS_LOSS;
}

/* All crashes of a seed that happen at the same time have the same checkpoint. */
static void draw_checkpoint(const struct lab_fuzz_plan *plan, int64_t at_ns, struct lab_writer *writer)
{
    struct sim_random random;
    char span[LAB_SPAN_SIZE];
    sim_random_init(&random, plan->seed ^ (uint64_t)at_ns, SIM_FUZZ, LAB_DRAW_CHECKPOINT);
    bool has_checkpoint = lab_draw_chance(&random, CHECKPOINTS) || plan->has_then;
    /* With changing settings, a checkpoint from before the change. */
    int64_t age_ns = plan->has_then ? lab_draw_span(&random, part_of(plan, 20), part_of(plan, 2))
                                    : lab_draw_span(&random, 10 * SIM_MS, longest_of(plan));
    if (has_checkpoint)
        lab_writer_add(writer, ", checkpoint: %s", lab_span_text(age_ns, span));
}

static void draw_network_partition(const struct lab_fuzz_plan *plan, struct sim_random *random,
                                   struct lab_writer *writer)
{
    uint64_t node = lab_draw_whole(random, 0, plan->nodes - 1);
    uint64_t other =
        plan->nodes == 1 ? node : (node + lab_draw_whole(random, 1, plan->nodes - 1)) % plan->nodes;
    uint64_t agent = lab_draw_whole(random, 0, plan->agents - 1);
    uint64_t kind = lab_draw_whole(random, 0, 3);
    if (kind == 0 && plan->datacenters > 1)
        lab_writer_add(writer, "between: [%s, %s], ", plan->datacenter_names[0], plan->datacenter_names[1]);
    else if (kind == 1 || other == node)
        lab_writer_add(writer, "between: [agents, node %" PRIu64 "], ", node);
    else if (kind == 2)
        lab_writer_add(writer, "between: [agent %" PRIu64 ", node %" PRIu64 "], ", agent, node);
    else
        lab_writer_add(writer, "between: [node %" PRIu64 ", node %" PRIu64 "], ", node, other);
}

static void draw_fault(const struct lab_fuzz_plan *plan, enum lab_fault_kind kind, struct sim_random *random,
                       struct lab_writer *writer)
{
    char at[LAB_SPAN_SIZE], lasts[LAB_SPAN_SIZE], by[LAB_SPAN_SIZE];
    double until_ns = (double)plan->duration_ns * CHAOS_SHARE;
    int64_t at_ns = (int64_t)(until_ns * sim_random_unit(random)) / SIM_MS * SIM_MS;
    int64_t longest_ns = longest_of(plan);
    int64_t lasts_ns = lab_draw_span(random, 200 * SIM_MS, longest_ns);
    if ((double)lasts_ns > until_ns - (double)at_ns)
        lasts_ns = lab_draw_rounded(until_ns - (double)at_ns);
    uint64_t node = lab_draw_whole(random, 0, plan->nodes - 1);
    uint64_t agent = lab_draw_whole(random, 0, plan->agents - 1);
    uint64_t factor = (uint64_t)lab_draw_log(random, 2, 300);
    bool is_back = lab_draw_chance(random, 0.5);
    int64_t by_ns = lab_draw_span(random, 10 * SIM_MS, longest_ns);
    lab_writer_add(writer, "  - %s: {", lab_fault_kind_name(kind));
    switch (kind) {
    case LAB_FAULT_SLOW_NODE:
        lab_writer_add(writer, "node: %" PRIu64 ", factor: %" PRIu64 ", ", node, factor);
        break;
    case LAB_FAULT_NODE_DOWN:
    case LAB_FAULT_GC_STORM:
    case LAB_FAULT_HINT_LOSS:
        lab_writer_add(writer, "node: %" PRIu64 ", ", node);
        break;
    case LAB_FAULT_NETWORK_PARTITION:
        draw_network_partition(plan, random, writer);
        break;
    case LAB_FAULT_LOST_MESSAGE:
    case LAB_FAULT_DUPLICATE_MESSAGE:
        lab_writer_add(writer, "chance: %" PRIu64 "%%, ", lab_draw_whole(random, 1, 40));
        break;
    case LAB_FAULT_DELAY:
        lab_writer_add(writer, "factor: %" PRIu64 ", ", factor);
        break;
    case LAB_FAULT_LATE_MESSAGE:
        lab_writer_add(writer, "chance: 0.%" PRIu64 "%%, by: %s, ", lab_draw_whole(random, 1, 9),
                       lab_span_text(by_ns, by));
        break;
    case LAB_FAULT_STATE_LOST:
    case LAB_FAULT_STATE_RESTORED:
        lab_writer_add(writer, "key: %" PRIu64 ", ", lab_draw_whole(random, 0, plan->keys - 1));
        break;
    case LAB_FAULT_PAXOS_LOSS:
        lab_writer_add(writer, "node: %" PRIu64 ", last: %s, ", node, lab_span_text(by_ns, by));
        break;
    default:
        lab_writer_add(writer, "agent: %" PRIu64 ", ", agent);
    }
    lab_writer_add(writer, "at: %s", lab_span_text(at_ns, at));
    if (kind == LAB_FAULT_CLOCK_JUMP)
        lab_writer_add(writer, ", by: %s%s", is_back ? "-" : "", lab_span_text(by_ns, by));
    else if (kind == LAB_FAULT_STATE_RESTORED)
        lab_writer_add(writer, ", age: %s", lab_span_text(by_ns, by));
    else if (!is_at_once(kind))
        lab_writer_add(writer, ", lasts: %s", lab_span_text(lasts_ns, lasts));
    if (kind == LAB_FAULT_AGENT_CRASH && !plan->has_identifiers)
        draw_checkpoint(plan, at_ns, writer);
    lab_writer_add(writer, "}\n");
}

void lab_fuzz_draw_faults(const struct lab_fuzz_plan *plan, struct lab_writer *writer)
{
    lab_writer_add(writer, "faults:");
    if (!has_kinds(plan) && !lab_draw_has_random(plan)) {
        lab_writer_add(writer, " []\n");
        return;
    }
    lab_writer_add(writer, "\n");
    for (unsigned kind = 0; kind < LAB_FAULT_KIND_COUNT; kind++) {
        if (!is_struck(plan, (enum lab_fault_kind)kind))
            continue;
        struct sim_random random;
        lab_draw_init(&random, plan, LAB_DRAW_FAULTS + kind);
        uint64_t strikes = lab_draw_whole(&random, 1, STRIKES_MAX);
        for (uint64_t i = 0; i < strikes; i++)
            draw_fault(plan, (enum lab_fault_kind)kind, &random, writer);
    }
    lab_draw_random_faults(plan, CHAOS_SHARE, writer);
}
