/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The run of a strategy is one part of a snapshot (lab/snapshot.h). Its state is saved between two events,
 * and the data of its result when it is complete, so a resumed run repeats only what came after the last
 * saved state. */
#include "cluster_snapshot.h"
#include "cluster_archive.h"
#include "lab/snapshot.h"

bool lab_cluster_go_on(struct lab_cluster_run *run, struct sim_error *error)
{
    struct sim_archive archive;
    bool is_there;
    if (!lab_snapshot_find(run->context, run->scenario, run->part, &archive, &is_there, error))
        return false;
    if (!is_there)
        return true;
    lab_cluster_archive(run, &archive);
    if (!sim_archive_finish_load(&archive, error))
        return false;
    if (run->context->progress != NULL)
        atomic_fetch_add_explicit(&run->context->progress->rows, run->tally.rows, memory_order_relaxed);
    return true;
}

static void keep(struct lab_cluster_run *run)
{
    struct sim_archive archive;
    lab_snapshot_begin(run->scenario, &archive);
    lab_cluster_archive(run, &archive);
    lab_snapshot_put(run->context, run->part, (uint32_t)run->scenario->strategy_count, &archive);
}

void lab_cluster_keep(struct lab_cluster_run *run)
{
    if (lab_snapshot_is_due(run->context, &run->wish_heard))
        keep(run);
}

void lab_cluster_keep_end(struct lab_cluster_run *run)
{
    if (run->context->snapshots != NULL)
        keep(run);
}
