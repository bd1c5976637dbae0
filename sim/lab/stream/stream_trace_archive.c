/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run over a trace as one part of a snapshot: the place in the file, the line under way, and the lanes of
 * all keys. */
#include <stdlib.h>

#include "stream_trace.h"

/* The least that a key takes in an archive. */
#define KEY_BYTES_LEAST 64u

static void archive_head(struct lab_trace_run *run, struct sim_archive *archive)
{
    sim_archive_mark(archive, 0x54524143);
    sim_archive_bool(archive, &run->has_counts);
    sim_archive_u64(archive, &run->lines);
    run->key_rows =
        sim_archive_array(archive, run->key_rows, sizeof *run->key_rows, &run->key_rows_capacity, SIZE_MAX);
    sim_archive_u64(archive, &run->rows);
    sim_archive_i64(archive, &run->first_ns);
    sim_archive_i64(archive, &run->last_ns);
    sim_archive_i64(archive, &run->begin_ns);
    sim_archive_i64(archive, &run->until_ns);
    if (sim_archive_is_fine(archive))
        sim_archive_check(archive, run->rows > 0 && run->first_ns <= run->last_ns);
}

static void allocate_keys(struct lab_trace_run *run, size_t count, struct sim_archive *archive)
{
    if (sim_archive_is_fine(archive))
        sim_archive_check(archive, count <= wl_trace_key_count(run->trace));
    run->keys = sim_archive_allocate(archive, count, sizeof *run->keys, KEY_BYTES_LEAST);
    run->lanes =
        sim_archive_allocate(archive, count, run->worker->lane_count * sizeof *run->lanes, KEY_BYTES_LEAST);
    run->key_count = run->keys == NULL || run->lanes == NULL ? 0 : count;
    run->key_capacity = run->key_count;
}

static void archive_line(struct lab_trace_run *run, struct sim_archive *archive)
{
    struct wl_trace_batch *line = &run->line;
    sim_archive_u32(archive, &line->key_index);
    sim_archive_i64(archive, &line->time_ns);
    sim_archive_i64(archive, &line->step_ms);
    if (run->scenario->workload.is_late_trace) {
        sim_archive_i64(archive, &line->late_ns);
        if (sim_archive_is_fine(archive))
            sim_archive_check(archive, line->late_ns >= 0 && line->late_ns <= WL_TRACE_LATE_MAX);
    }
    sim_archive_u64(archive, &line->rows);
    sim_archive_u64(archive, &line->bytes);
    sim_archive_u64(archive, &run->row);
    sim_archive_u64(archive, &run->row_end);
    if (!archive->is_loading || !sim_archive_is_fine(archive))
        return;
    bool is_over = run->row == run->row_end;
    uint64_t room_ms = ((uint64_t)INT64_MAX - (uint64_t)line->time_ns) / 1000000;
    sim_archive_check(archive, is_over || (run->row < run->row_end && run->row_end <= line->rows &&
                                           line->key_index < run->key_count && line->step_ms >= 0 &&
                                           (uint64_t)line->step_ms <= room_ms));
}

static void archive_body(struct lab_trace_run *run, struct sim_archive *archive)
{
    struct lab_worker *worker = run->worker;
    size_t count = run->key_count;
    sim_archive_mark(archive, 0x54424f44);
    sim_archive_u64(archive, &worker->rows);
    sim_archive_u64(archive, &worker->keys);
    for (size_t i = 0; i < worker->lane_count; i++)
        lab_tally_archive(&worker->tallies[i], archive, cass_ring_node_count(worker->settings[i].ring));
    sim_archive_size(archive, &count);
    if (archive->is_loading)
        allocate_keys(run, count, archive);
    archive_line(run, archive);
    for (size_t i = 0; i < run->key_count; i++) {
        struct lab_trace_key *key = &run->keys[i];
        sim_archive_bytes(archive, key->ids.s, sizeof key->ids.s);
        sim_archive_bytes(archive, key->bytes.s, sizeof key->bytes.s);
        const struct lab_key_origin origin = lab_trace_origin(run, i);
        lab_key_archive(&key->key, &origin, archive);
        for (size_t j = 0; j < worker->lane_count; j++)
            lab_lane_archive(&run->lanes[i * worker->lane_count + j], &worker->settings[j], archive);
    }
}

void lab_trace_put(struct lab_trace_run *run)
{
    struct sim_archive archive;
    if (run->context->snapshots == NULL)
        return;
    for (size_t i = 0; i < run->worker->lane_count; i++) {
        if (run->worker->tallies[i].out_of_memory)
            return; /* the run will end by that; the older state is good */
    }
    lab_snapshot_begin(run->scenario, &archive);
    archive_head(run, &archive);
    wl_trace_archive(run->trace, &archive);
    archive_body(run, &archive);
    lab_snapshot_put(run->context, 0, 1, &archive);
}

bool lab_trace_find(struct lab_trace_run *run, struct sim_archive *archive, bool *is_kept,
                    struct sim_error *error)
{
    if (!lab_snapshot_find(run->context, run->scenario, 0, archive, is_kept, error))
        return false;
    if (!*is_kept)
        return true;
    archive_head(run, archive);
    return sim_archive_is_fine(archive) || sim_archive_finish_load(archive, error);
}

bool lab_trace_load(struct lab_trace_run *run, struct sim_archive *archive, struct sim_error *error)
{
    wl_trace_archive(run->trace, archive);
    archive_body(run, archive);
    return sim_archive_finish_load(archive, error);
}
