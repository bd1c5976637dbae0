/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saves and loads the agents of a run: the core's checkpoint of each agent that is up, and the data of the
 * host. */
#include <stdlib.h>
#include <string.h>

#include "cluster_agents.h"
#include "cluster_archive.h"
#include "oracles.h"

/* The latest start of an era, after which another one can still begin. */
#define ERA_LAST_NS (INT64_MAX - 1024)

SIM_ARCHIVE_KNOWS(offsetof(struct lab_host_operation, walk) + sizeof(struct lab_walk) == 592,
                  "operations have changed: archive new fields");
/* The archive leaves out an agent's empty windows: after loading, no windows that are left out are judged. */
SIM_ARCHIVE_KNOWS(offsetof(struct lab_host_agent, restart_ns) - sizeof(struct bk_history) -
                          LAB_COPIES * sizeof(struct lab_copy) ==
                      264,
                  "agents have changed: archive new fields");
SIM_ARCHIVE_KNOWS(sizeof(struct lab_copy) == 32 && sizeof(struct lab_host_record) == 184,
                  "copies or records have changed: archive new fields");

/* The twin is restored from the agent, because both are equal. */
static void twin_of(struct lab_cluster_run *run, struct sim_archive *archive, uint32_t number)
{
    struct lab_host_agent *agent = &run->agents[number];
    bool has_twin = agent->is_up && agent->twin != NULL;
    sim_archive_bool(archive, &has_twin);
    if (!archive->is_loading)
        return;
    agent->twin = NULL;
    if (has_twin && agent->is_up && sim_archive_is_fine(archive))
        lab_twin_begin(run, number);
}

static void count_parked(struct lab_host_agent *agent)
{
    agent->parked = 0;
    for (uint32_t i = 0; i < agent->operations_met; i++)
        agent->parked += agent->operations[i].is_active && agent->operations[i].is_parked;
}

/* The figures of all kinds are in a union of integers; padding in it is never read. */
static void strategy_of(struct sim_archive *archive, struct bk_strategy *strategy)
{
    SIM_ARCHIVE_ENUM(archive, strategy->kind, BK_KIND_COUNT);
    switch (strategy->kind) {
    case BK_TIME:
        SIM_ARCHIVE_ENUM(archive, strategy->of.time.calendar, BK_CALENDAR_MONTH + 1);
        sim_archive_i64(archive, &strategy->of.time.window_ns);
        sim_archive_i64(archive, &strategy->of.time.epoch_ns);
        break;
    case BK_COUNT:
        sim_archive_u64(archive, &strategy->of.count.rows);
        break;
    case BK_PROBABILISTIC:
        sim_archive_u32(archive, &strategy->of.probabilistic.bits);
        sim_archive_u64(archive, &strategy->of.probabilistic.chance_numerator);
        sim_archive_u64(archive, &strategy->of.probabilistic.chance_denominator);
        sim_archive_u64(archive, &strategy->of.probabilistic.threshold);
        break;
    case BK_HASH:
        sim_archive_u32(archive, &strategy->of.hash.buckets);
        break;
    case BK_WEIGHTED:
        sim_archive_u64(archive, &strategy->of.weighted.bytes);
        sim_archive_u64(archive, &strategy->of.weighted.threshold);
        break;
    default:
        break;
    }
    sim_archive_i64(archive, &strategy->max_age_ns);
}

static void history_of(const struct lab_cluster_run *run, struct sim_archive *archive,
                       struct bk_history *history)
{
    struct bk_history read = *history;
    if (archive->is_loading)
        memset(&read, 0, sizeof read);
    sim_archive_u32_below(archive, &read.count, BK_ERAS_MAX + 1);
    for (uint32_t i = 0; i < read.count; i++) {
        sim_archive_i64(archive, &read.eras[i].from_ns);
        sim_archive_i64(archive, &read.eras[i].shift);
        strategy_of(archive, &read.eras[i].strategy);
    }
    if (!archive->is_loading || !sim_archive_is_fine(archive))
        return;
    bool is_sound = bk_history_check(&read) == BK_OK && read.eras[read.count - 1].from_ns < ERA_LAST_NS;
    for (uint32_t i = 0; is_sound && i < read.count; i++)
        is_sound = read.eras[i].strategy.kind == run->config.strategy.kind;
    sim_archive_check(archive, is_sound);
    if (is_sound)
        *history = read;
}

/* An agent that is down has no checkpoint, because it restarts without knowledge. */
static void checkpoint_of(struct lab_cluster_run *run, struct sim_archive *archive, uint32_t number)
{
    struct lab_host_agent *agent = &run->agents[number];
    size_t size = archive->is_loading ? 0 : bk_agent_state_size(agent->agent);
    unsigned char *state = NULL;
    if (!archive->is_loading) {
        state = malloc(size);
        if (state == NULL)
            sim_archive_fail_memory(archive);
        else
            bk_agent_save(agent->agent, state, size);
    }
    if (sim_archive_is_fine(archive))
        state = sim_archive_array(archive, state, 1, &size, SIZE_MAX);
    if (archive->is_loading && sim_archive_is_fine(archive)) {
        struct bk_agent_config config = lab_agent_config(run, number);
        sim_archive_check(archive,
                          state != NULL && bk_agent_load(agent->memory, bk_agent_size(&config), &config,
                                                         state, size, &agent->agent) == BK_OK);
    }
    free(state);
}

static void operation_flags(struct sim_archive *archive, struct lab_host_operation *operation)
{
    bool *const flags[] = {&operation->is_read,       &operation->is_acknowledged, &operation->is_moved,
                           &operation->fires,         &operation->has_counted,     &operation->changes_state,
                           &operation->raises,        &operation->was_unknown,     &operation->is_taking_over,
                           &operation->is_awaited,    &operation->is_parked,       &operation->is_state_told,
                           &operation->is_start_kept, &operation->older_told};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        sim_archive_bool(archive, flags[i]);
}

static void read_done_of(struct sim_archive *archive, struct lab_read_done *done)
{
    SIM_ARCHIVE_ENUM(archive, done->kind, LAB_READ_KINDS);
    SIM_ARCHIVE_ENUM(archive, done->order, BK_ORDER_NONE + 1);
    uint64_t *const counts[] = {&done->partitions, &done->empties, &done->filled,
                                &done->rows,       &done->due,     &done->scanned};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        sim_archive_u64(archive, counts[i]);
    sim_archive_bool(archive, &done->is_stale);
    sim_archive_bool(archive, &done->is_early);
    sim_archive_bool(archive, &done->is_cut);
}

static void outcome_of(struct sim_archive *archive, struct bk_outcome *outcome)
{
    SIM_ARCHIVE_ENUM(archive, outcome->kind, BK_OUTCOME_UNKNOWN + 1);
    sim_archive_u32(archive, &outcome->mask);
    sim_archive_bytes(archive, outcome->columns, sizeof outcome->columns);
    sim_archive_i64(archive, &outcome->counter);
    sim_archive_u64(archive, &outcome->rows);
    sim_archive_bool(archive, &outcome->saw_older);
    sim_archive_u64(archive, &outcome->empty);
}

static void lock_of(struct sim_archive *archive, struct lab_lock_use *lock)
{
    SIM_ARCHIVE_ENUM(archive, lock->step, LAB_LOCK_STEPS);
    sim_archive_u32(archive, &lock->if_mask);
    sim_archive_u32(archive, &lock->failed);
    sim_archive_u32(archive, &lock->held);
    sim_archive_u32(archive, &lock->raced);
    sim_archive_bytes(archive, lock->expected, sizeof lock->expected);
    sim_archive_i64(archive, &lock->until_ns);
    sim_archive_i64(archive, &lock->clock_ns);
}

static void walk_of(struct sim_archive *archive, struct lab_walk *walk)
{
    sim_archive_i64(archive, &walk->now_ns);
    sim_archive_i64(archive, &walk->birth_ns);
    sim_archive_i64(archive, &walk->top);
    sim_archive_u64(archive, &walk->width);
    sim_archive_u64(archive, &walk->rows);
    sim_archive_u64(archive, &walk->partitions);
    sim_archive_bool(archive, &walk->is_overtaken);
}

/* A free operation has only a serial number, by which late replies are recognised. */
static void operation_of(const struct lab_cluster_run *run, struct sim_archive *archive,
                         struct lab_host_operation *operation)
{
    if (archive->is_loading)
        *operation = (struct lab_host_operation){.uses_all = true};
    sim_archive_u32(archive, &operation->serial);
    sim_archive_bool(archive, &operation->is_active);
    if (!operation->is_active)
        return;
    operation_flags(archive, operation);
    sim_archive_u32(archive, &operation->outstanding);
    sim_archive_u64(archive, &operation->timeout);
    SIM_ARCHIVE_ENUM(archive, operation->action, BK_ACT_DONE + 1);
    sim_archive_u32_below(archive, &operation->key, run->key_count);
    sim_archive_u64(archive, &operation->row);
    sim_archive_u64(archive, &operation->row_bytes);
    sim_archive_u64(archive, &operation->row_id);
    sim_archive_u64(archive, &operation->weight);
    sim_archive_u64(archive, &operation->beyond);
    sim_archive_i64(archive, &operation->row_time_ns);
    sim_archive_i64(archive, &operation->bucket);
    sim_archive_u64(archive, &operation->counter);
    sim_archive_u64(archive, &operation->added);
    sim_archive_u64(archive, &operation->state_seen);
    lab_archive_time(archive, run, &operation->state_read_ns);
    lab_archive_time(archive, run, &operation->begun_ns);
    lab_archive_time(archive, run, &operation->asked_ns);
    sim_archive_u64(archive, &operation->rows);
    sim_archive_u64(archive, &operation->rows_told);
    sim_archive_u32(archive, &operation->answers);
    sim_archive_i64(archive, &operation->came_ns);
    sim_archive_i64(archive, &operation->hold_ns);
    SIM_ARCHIVE_ENUM(archive, operation->read, LAB_READ_KINDS);
    sim_archive_u32(archive, &operation->failures);
    sim_archive_u32(archive, &operation->tried);
    sim_archive_u32(archive, &operation->requests);
    sim_archive_bytes(archive, operation->state_told, sizeof operation->state_told);
    sim_archive_u32(archive, &operation->unknown_updates);
    lab_archive_time(archive, run, &operation->heard_ns);
    lab_archive_time(archive, run, &operation->turn_ns);
    sim_archive_i64(archive, &operation->step_low);
    sim_archive_u64(archive, &operation->step_filled);
    sim_archive_u64(archive, &operation->step_scanned);
    read_done_of(archive, &operation->done);
    outcome_of(archive, &operation->outcome);
    sim_archive_u32(archive, &operation->mask);
    sim_archive_bytes(archive, operation->columns, sizeof operation->columns);
    lock_of(archive, &operation->lock);
    walk_of(archive, &operation->walk);
}

static void copy_of(const struct lab_cluster_run *run, struct sim_archive *archive, struct lab_copy *copy)
{
    sim_archive_bool(archive, &copy->is_known);
    sim_archive_bool(archive, &copy->is_kept);
    sim_archive_u32_below(archive, &copy->key, run->key_count);
    lab_archive_time(archive, run, &copy->asked_ns);
    lab_archive_time(archive, run, &copy->kept_ns);
    sim_archive_i64(archive, &copy->bucket);
}

static void agent_of(struct lab_cluster_run *run, struct sim_archive *archive, uint32_t number)
{
    struct lab_host_agent *agent = &run->agents[number];
    lab_archive_agent_clock(archive, agent);
    history_of(run, archive, &agent->history);
    sim_archive_u64(archive, &agent->keys_seen);
    sim_archive_bool(archive, &agent->wants_checkpoint);
    sim_archive_bool(archive, &agent->goes_back);
    agent->checkpoint = sim_archive_array(archive, agent->checkpoint, 1, &agent->checkpoint_bytes, SIZE_MAX);
    if (agent->is_up)
        checkpoint_of(run, archive, number);
    twin_of(run, archive, number);
    for (size_t i = 0; i < LAB_COPIES; i++)
        copy_of(run, archive, &agent->copies[i]);
    if (archive->is_loading)
        lab_empties_forgotten(run, number, false);
    lab_agent_clear_operations(run, number);
    for (uint32_t i = 0; i < run->operation_count && sim_archive_is_fine(archive); i++)
        operation_of(run, archive, &agent->operations[i]);
    count_parked(agent);
}

void lab_archive_agents(struct lab_cluster_run *run, struct sim_archive *archive)
{
    sim_archive_mark(archive, 0x6167656e);
    for (uint32_t i = 0; i < run->agent_count && sim_archive_is_fine(archive); i++)
        agent_of(run, archive, i);
}

void lab_archive_agent_clock(struct sim_archive *archive, struct lab_host_agent *agent)
{
    sim_archive_bool(archive, &agent->is_up);
    sim_archive_bool(archive, &agent->is_paused);
    sim_archive_bool(archive, &agent->has_heard);
    sim_archive_i64(archive, &agent->pause_until_ns);
    sim_archive_i64(archive, &agent->held_until_ns);
    lab_archive_span(archive, &agent->offset_ns);
    sim_archive_i64(archive, &agent->drift_ppb);
    sim_archive_i64(archive, &agent->jump_ns);
    sim_archive_i64(archive, &agent->jumped_ns);
    sim_archive_i64(archive, &agent->disturbed_ns);
    sim_archive_i64(archive, &agent->deployed_ns);
    sim_archive_bool(archive, &agent->stored.is_known);
    sim_archive_u32(archive, &agent->stored.key);
    sim_archive_i64(archive, &agent->stored.bucket);
    sim_archive_u64(archive, &agent->tick);
    sim_archive_i64(archive, &agent->tick_ns);
    sim_archive_u64(archive, &agent->restart);
    sim_archive_i64(archive, &agent->restart_ns);
}
