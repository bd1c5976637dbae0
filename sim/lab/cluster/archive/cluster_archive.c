/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saves and loads a cluster run: its queue, its cluster, its agents, keys and oracles, each in its own source
 * file, and its counts. Data that follows from the scenario is not archived, because the run has been begun
 * when it is loaded. */
#include "cluster_archive.h"

#include <stdlib.h>
#include <string.h>

#include "cassandra/archive.h"
#include "cluster_agents.h"
#include "kernel/queue_archive.h"

SIM_ARCHIVE_KNOWS(sizeof(struct lab_cluster_run) - sizeof(struct sim_queue) - sizeof(struct bk_agent_config) -
                          sizeof(struct lab_regimes) - sizeof(struct lab_oracles) - sizeof(struct lab_tally) -
                          sizeof(struct lab_views) - sizeof(struct lab_event_log) -
                          sizeof(struct lab_row_stamps) - sizeof(struct lab_spent) -
                          sizeof(struct lab_row_last) - sizeof(struct cass_statement) ==
                      1544,
                  "a run has changed: archive new fields");
SIM_ARCHIVE_KNOWS(sizeof(struct lab_active_fault) == 56 && sizeof(struct lab_delete) == 72 &&
                      sizeof(struct lab_view) == 32 && sizeof(struct lab_event_log) == 40,
                  "faults, deletes, views or the log have changed: archive new fields");

static void counts(struct lab_cluster_run *run, struct sim_archive *archive)
{
    uint64_t *const fields[] = {
        &run->operations_active,     &run->arrivals_pending, &run->refused,         &run->unresolved,
        &run->unresolved_increments, &run->rows_uncounted,   &run->conditions_lost, &run->keys_met};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        sim_archive_u64(archive, fields[i]);
    lab_tally_archive(&run->tally, archive, run->node_count);
    lab_spent_settle(run);
    for (int i = 0; i < LAB_LATENCY_COUNT; i++)
        lab_histogram_archive(&run->latency[i], archive);
    for (int i = 0; i < LAB_READ_KINDS; i++)
        lab_histogram_archive(&run->read_latency[i], archive);
}

static void event_log(struct sim_archive *archive, struct lab_event_log *log)
{
    sim_archive_u64(archive, &log->digest);
    sim_archive_u64(archive, &log->events);
    sim_archive_u64(archive, &log->stride);
    sim_archive_size_below(archive, &log->mark_count, LAB_EVENT_MARKS_MAX + 1);
    if (archive->is_loading && sim_archive_is_fine(archive)) {
        bool is_power = log->stride != 0 && (log->stride & (log->stride - 1)) == 0;
        sim_archive_check(archive, is_power && log->events / log->stride == log->mark_count);
    }
    sim_archive_bytes(archive, log->marks, log->mark_count * sizeof *log->marks);
}

static void views(struct lab_cluster_run *run, struct sim_archive *archive)
{
    struct lab_views *views = &run->views;
    sim_archive_text(archive, &views->key);
    sim_archive_i64(archive, &views->change_ns);
    sim_archive_i64(archive, &views->until_ns);
    sim_archive_u32_below(archive, &views->agents, (uint64_t)run->agent_count + 1);
    sim_archive_size(archive, &views->count);
    if (archive->is_loading) {
        free(views->items);
        views->items = sim_archive_allocate(archive, views->count, sizeof *views->items, 8);
        views->count = views->items == NULL ? 0 : views->count;
        views->capacity = views->count;
    }
    for (size_t i = 0; i < views->count; i++) {
        struct lab_view *view = &views->items[i];
        sim_archive_i64(archive, &view->time_ns);
        sim_archive_u32_below(archive, &view->agent, run->agent_count);
        sim_archive_i64(archive, &view->bucket);
        sim_archive_bool(archive, &view->is_known);
        sim_archive_bool(archive, &view->is_changing);
    }
    sim_archive_bool(archive, &run->views_done);
    sim_archive_i64(archive, &run->views_until_ns);
    sim_archive_i64(archive, &run->views_next_ns);
    /* Observations come in groups of as many agents as are observed, and the list is thinned out by
     * groups. */
    if (archive->is_loading && sim_archive_is_fine(archive))
        sim_archive_check(archive,
                          views->agents == 0 ? views->count == 0 : views->count % views->agents == 0);
}

/* Archives the data from which the result of a completed run is made. */
static void results(struct lab_cluster_run *run, struct sim_archive *archive)
{
    if (run->idgen != NULL)
        lab_archive_idgen(run, archive);
    else if (archive->is_loading) /* as when the result was tallied */
        lab_slices_begin(&run->tally.slices, run->start_ns, run->end_ns);
    counts(run, archive);
    lab_archive_verdict(archive, &run->oracles.verdict);
    event_log(archive, &run->events);
    views(run, archive);
}

static void backup_of(struct sim_archive *archive, struct sim_random *draws, struct lab_backup *backup)
{
    lab_archive_random(archive, draws);
    sim_archive_bytes(archive, backup->columns, sizeof backup->columns);
    sim_archive_u32_below(archive, &backup->mask, UINT64_C(1) << CASS_COLUMNS);
}

static void group_of(const struct lab_cluster_run *run, struct sim_archive *archive, struct lab_group *group)
{
    SIM_ARCHIVE_ENUM(archive, group->kind, LAB_GROUP_NODE + 1);
    uint32_t limit = group->kind == LAB_GROUP_NODE         ? run->node_count
                     : group->kind == LAB_GROUP_AGENT      ? run->agent_count
                     : group->kind == LAB_GROUP_DATACENTER ? run->scenario->network.datacenter_count
                                                           : UINT32_MAX;
    sim_archive_u32_below(archive, &group->index, limit);
}

static void fault_of(const struct lab_cluster_run *run, struct sim_archive *archive,
                     struct lab_active_fault *fault)
{
    sim_archive_bool(archive, &fault->is_used);
    sim_archive_u32_below(archive, &fault->fault, run->scenario->fault_count);
    SIM_ARCHIVE_ENUM(archive, fault->kind, LAB_FAULT_KIND_COUNT);
    sim_archive_u32(archive, &fault->target);
    bool is_of_node = fault->kind == LAB_FAULT_NODE_DOWN || fault->kind == LAB_FAULT_SLOW_NODE;
    bool is_of_agent = fault->kind == LAB_FAULT_AGENT_PAUSE;
    if (archive->is_loading)
        sim_archive_check(archive, (!is_of_node || fault->target < run->node_count) &&
                                       (!is_of_agent || fault->target < run->agent_count));
    for (int side = 0; side < 2 && fault->kind == LAB_FAULT_NETWORK_PARTITION; side++)
        group_of(run, archive, &fault->between[side]);
    sim_archive_double(archive, &fault->factor);
    sim_archive_i64(archive, &fault->by_ns);
    sim_archive_i64(archive, &fault->until_ns);
    if (archive->is_loading)
        sim_archive_check(archive, fault->factor >= 0 && fault->factor <= 1e300 &&
                                       (fault->kind != LAB_FAULT_LATE_MESSAGE || fault->by_ns >= 0));
}

static void faults(struct lab_cluster_run *run, struct sim_archive *archive)
{
    for (uint32_t i = 0; i < run->scenario->fault_count; i++)
        backup_of(archive, &run->fault_draws[i], &run->backups[i]);
    sim_archive_size(archive, &run->active_count);
    if (archive->is_loading) {
        free(run->active);
        run->active = sim_archive_allocate(archive, run->active_count, sizeof *run->active, 8);
        run->active_count = run->active == NULL ? 0 : run->active_count;
        run->active_capacity = run->active_count;
    }
    for (size_t i = 0; i < run->active_count; i++)
        fault_of(run, archive, &run->active[i]);
}

/* Archives the free slots in the order in which they were freed, which determines which one will be taken
 * next. */
static void deletes(struct lab_cluster_run *run, struct sim_archive *archive)
{
    struct lab_deletes_open *open = &run->deletes;
    sim_archive_u32(archive, &open->capacity);
    if (archive->is_loading) {
        open->items = sim_archive_allocate(archive, open->capacity, sizeof *open->items, 4);
        open->free_slots = sim_archive_allocate(archive, open->capacity, sizeof *open->free_slots, 4);
        if (open->items == NULL || open->free_slots == NULL)
            open->capacity = 0;
    }
    sim_archive_u32_below(archive, &open->free_count, (uint64_t)open->capacity + 1);
    for (uint32_t i = 0; i < open->free_count; i++)
        sim_archive_u32_below(archive, &open->free_slots[i], open->capacity);
    for (uint32_t i = 0; i < open->capacity; i++) {
        struct lab_delete *item = &open->items[i];
        sim_archive_u32_below(archive, &item->key, run->key_count);
        sim_archive_u32(archive, &item->tries);
        sim_archive_u32(archive, &item->serial);
        sim_archive_bool(archive, &item->is_waiting);
        sim_archive_i64(archive, &item->bucket);
        sim_archive_u64(archive, &item->row);
        sim_archive_u64(archive, &item->bytes);
        sim_archive_u64(archive, &item->timeout);
        sim_archive_u64(archive, &item->row_id);
        sim_archive_i64(archive, &item->row_time_ns);
        sim_archive_i64(archive, &item->due_ns);
    }
    sim_archive_u64(archive, &open->asked);
    sim_archive_u64(archive, &open->confirmed);
}

void lab_cluster_archive(struct lab_cluster_run *run, struct sim_archive *archive)
{
    sim_archive_mark(archive, 0x636c7573);
    sim_archive_bool(archive, &run->is_over);
    if (run->is_over) {
        results(run, archive);
        return;
    }
    sim_queue_archive(&run->queue, archive);
    if (archive->is_loading && sim_archive_is_fine(archive)) /* times are compared with the current time */
        sim_archive_check(archive, sim_queue_now(&run->queue) >= run->start_ns);
    if (sim_archive_is_fine(archive))
        cass_cluster_archive(run->cluster, archive);
    if (!sim_archive_is_fine(archive))
        return;
    if (run->idgen != NULL)
        lab_archive_idgen(run, archive);
    else
        lab_archive_agents(run, archive);
    lab_archive_keys(run, archive);
    lab_archive_oracles(run, archive);
    faults(run, archive);
    deletes(run, archive);
    counts(run, archive);
    event_log(archive, &run->events);
    views(run, archive);
    sim_archive_mark(archive, 0x73756c63);
    if (!archive->is_loading || !sim_archive_is_fine(archive))
        return;
    bool has_memory, fits = lab_archive_fits(run, &has_memory);
    if (!has_memory)
        sim_archive_fail_memory(archive);
    else
        sim_archive_check(archive, fits);
    run->is_resumed = true;
}
