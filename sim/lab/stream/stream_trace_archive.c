/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run with a trace as one part of a snapshot: the tallies and the current key. A resumed run reads the
 * trace again, because the places of a key's lines are known only after the last line. */
#include "stream_trace.h"

static void archive_known(uint64_t value, struct sim_archive *archive)
{
    uint64_t kept = value;
    sim_archive_u64(archive, &kept);
    if (sim_archive_is_fine(archive))
        sim_archive_check(archive, kept == value);
}

static void archive_run(struct lab_trace_run *run, struct sim_archive *archive)
{
    struct lab_worker *worker = run->worker;
    sim_archive_mark(archive, 0x54524143);
    archive_known(run->rows, archive);
    archive_known(wl_trace_key_count(run->trace), archive);
    archive_known((uint64_t)run->first_ns, archive);
    archive_known((uint64_t)run->last_ns, archive);
    sim_archive_u64(archive, &worker->rows);
    sim_archive_u64(archive, &worker->keys);
    for (size_t i = 0; i < worker->lane_count; i++)
        lab_tally_archive(&worker->tallies[i], archive, cass_ring_node_count(worker->settings[i].ring));
    sim_archive_size_below(archive, &run->key_index, (size_t)wl_trace_key_count(run->trace) + 1);
    sim_archive_bool(archive, &run->is_under_way);
    if (!run->is_under_way || !sim_archive_is_fine(archive))
        return;
    sim_archive_check(archive, run->key_index < wl_trace_key_count(run->trace));
    if (!sim_archive_is_fine(archive))
        return;
    sim_archive_bytes(archive, run->ids.s, sizeof run->ids.s);
    sim_archive_bytes(archive, run->bytes.s, sizeof run->bytes.s);
    const struct lab_key_origin origin = lab_trace_origin(run, run->key_index);
    lab_key_archive(&run->key, &origin, archive);
    for (size_t i = 0; i < worker->lane_count; i++)
        lab_lane_archive(&run->lanes[i], &worker->settings[i], archive);
}

void lab_trace_put(struct lab_trace_run *run)
{
    struct sim_archive archive;
    if (run->context->snapshots == NULL)
        return;
    for (size_t i = 0; i < run->worker->lane_count; i++) {
        if (run->worker->tallies[i].out_of_memory)
            return; /* this ends the run; the previous snapshot remains */
    }
    lab_snapshot_begin(run->scenario, &archive);
    archive_run(run, &archive);
    lab_snapshot_put(run->context, 0, 1, &archive);
}

bool lab_trace_load(struct lab_trace_run *run, struct sim_archive *archive, struct sim_error *error)
{
    archive_run(run, archive);
    return sim_archive_finish_load(archive, error);
}
