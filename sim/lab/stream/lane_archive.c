/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Archives a lane and the current key between two batches. */
#include <stdlib.h>
#include <string.h>

#include "stream.h"

/* Rejects a state that the core would refuse for a row or a read. */
static void check_state(const struct lab_lane *lane, const struct lab_lane_settings *settings,
                        struct sim_archive *archive)
{
    const struct bk_row row = {0};
    struct bk_route route;
    if (archive->is_loading)
        sim_archive_check(archive, lab_is_bucket(lane->state.bucket) &&
                                       bk_route(settings->strategy, &lane->state, &row, &route) == BK_OK);
}

/* Only cells of the current key are archived; other memory of the lane is not part of its state. */
static void archive_cells(struct lab_lane *lane, const struct lab_lane_settings *settings,
                          struct sim_archive *archive)
{
    size_t count = lane->cells_used == 0 ? 0 : lane->cell_count;
    if (archive->is_loading || count > 0) {
        lane->cells =
            sim_archive_array(archive, lane->cells, sizeof *lane->cells, &count, UINT32_MAX / 2 + 1);
        lane->cell_count = (uint32_t)count;
    } else {
        sim_archive_array(archive, NULL, sizeof *lane->cells, &count, 0);
    }
    sim_archive_u32(archive, &lane->cells_used);
    if (!archive->is_loading)
        return;
    /* A search ends at its bucket or at a free cell, so at least one cell must be free, except if each bucket
     * has a cell. */
    uint32_t used = 0,
             buckets = settings->strategy->kind == BK_HASH ? settings->strategy->of.hash.buckets : 0;
    bool is_sound = (count & (count - 1)) == 0;
    for (size_t i = 0; i < count; i++) {
        used += lane->cells[i].rows > 0;
        is_sound = is_sound && (lane->cells[i].rows == 0 || lane->cells[i].bucket < buckets);
    }
    if (sim_archive_is_fine(archive))
        sim_archive_check(archive, is_sound && used == lane->cells_used &&
                                       (used == 0 || used < count || count >= buckets));
    if (!sim_archive_is_fine(archive)) {
        free(lane->cells);
        lane->cells = NULL;
        lane->cell_count = lane->cells_used = 0;
    }
}

static void archive_windows(struct lab_lane *lane, struct sim_archive *archive)
{
    struct lab_time_window *windows = lane->windows;
    if (archive->is_loading)
        lane->window_begin = 0;
    else
        windows = lane->window_count > 0 ? lab_window_at(lane, 0) : NULL;
    sim_archive_size(archive, &lane->window_count);
    if (archive->is_loading) {
        free(windows);
        windows = lane->windows =
            sim_archive_allocate(archive, lane->window_count, sizeof *windows, sizeof(int64_t));
        lane->window_count = windows == NULL ? 0 : lane->window_count;
        lane->window_capacity = lane->window_count;
    }
    for (size_t i = 0; i < lane->window_count; i++) {
        sim_archive_i64(archive, &windows[i].bucket);
        sim_archive_u64(archive, &windows[i].rows);
        sim_archive_u64(archive, &windows[i].bytes);
        sim_archive_u64(archive, &windows[i].gone);
        sim_archive_i64(archive, &windows[i].first_ns);
        sim_archive_u64(archive, &windows[i].second);
        sim_archive_u32(archive, &windows[i].rows_in_second);
        sim_archive_bool(archive, &windows[i].is_reopened);
    }
}

static void archive_past(struct lab_lane *lane, struct sim_archive *archive)
{
    size_t count = lane->past_end - lane->past_begin;
    if (archive->is_loading) {
        lane->past = sim_archive_array(archive, lane->past, sizeof *lane->past, &count, UINT32_MAX / 2);
        lane->past_begin = 0;
        lane->past_end = lane->past_capacity = (uint32_t)count;
    } else {
        struct lab_past *past = count > 0 ? lane->past + lane->past_begin : NULL;
        sim_archive_array(archive, past, sizeof *lane->past, &count, UINT32_MAX / 2);
    }
    sim_archive_u64(archive, &lane->past_rows);
    sim_archive_u64(archive, &lane->past_count);
}

static void archive_empties(struct lab_lane *lane, struct sim_archive *archive)
{
    bool is_there = lane->empties != NULL;
    sim_archive_bool(archive, &is_there);
    if (is_there && lane->empties == NULL)
        lane->empties = sim_archive_allocate(archive, 1, sizeof *lane->empties, sizeof(uint32_t));
    if (!is_there || lane->empties == NULL)
        return;
    sim_archive_u32_below(archive, &lane->empties->count, BK_EMPTY_RUNS_MAX + 1);
    sim_archive_bytes(archive, lane->empties->runs, lane->empties->count * sizeof *lane->empties->runs);
}

void lab_lane_archive(struct lab_lane *lane, const struct lab_lane_settings *settings,
                      struct sim_archive *archive)
{
    sim_archive_mark(archive, 0x4c414e45);
    lab_key_state_archive(&lane->state, archive);
    check_state(lane, settings, archive);
    sim_archive_i64(archive, &lane->bucket);
    sim_archive_u64_below(archive, &lane->open.rows, LAB_COUNT_END);
    sim_archive_u64(archive, &lane->open.bytes);
    sim_archive_u64_below(archive, &lane->open_first_row, LAB_COUNT_END);
    sim_archive_u64(archive, &lane->open_gone);
    sim_archive_i64(archive, &lane->open_first_ns);
    sim_archive_u64(archive, &lane->placement.fold);
    sim_archive_u64_below(archive, &lane->placement.rows, LAB_COUNT_END);
    sim_archive_i64(archive, &lane->placement.bucket);
    archive_cells(lane, settings, archive);
    archive_windows(lane, archive);
    archive_past(lane, archive);
    archive_empties(lane, archive);
    lab_eras_archive(&lane->eras, settings->regimes, archive);
}

void lab_key_state_archive(struct bk_key_state *state, struct sim_archive *archive)
{
    sim_archive_i64(archive, &state->bucket);
    sim_archive_u64(archive, &state->counter);
    sim_archive_i64(archive, &state->last_change_ns);
    sim_archive_bool(archive, &state->is_begun);
    sim_archive_i64(archive, &state->until_ns);
    sim_archive_u64(archive, &state->first_sequence);
}

/* A read goes back from its time to the key's birth. lab_check_walks() has verified that this is possible
 * between these bounds. */
static bool is_sound_key(const struct lab_key *key, const struct lab_key_origin *origin)
{
    int64_t first_ns = origin->start_ns - wl_late_most_ns(&origin->scenario->workload);
    bool is_sound = key->entity == origin->entity &&
                    key->next_read_ns == key->reads[key->next_read].next_ns &&
                    (key->rows == 0 || (key->birth_ns >= first_ns && key->birth_ns <= origin->end_ns));
    for (int kind = 0; kind < LAB_READ_KINDS; kind++) {
        struct lab_read_clock clock;
        lab_read_clock_begin(&clock, origin->scenario, (enum lab_read_kind)kind, origin->entity,
                             origin->share, origin->start_ns);
        is_sound = is_sound && key->reads[kind].gap_ns == clock.gap_ns &&
                   key->reads[kind].next_ns >= origin->start_ns;
    }
    return is_sound;
}

static void archive_horizon(struct lab_horizon *horizon, struct sim_archive *archive)
{
    size_t count = horizon->end - horizon->begin;
    if (archive->is_loading) {
        horizon->rows = sim_archive_array(archive, horizon->rows, sizeof *horizon->rows, &count, SIZE_MAX);
        horizon->begin = 0;
        horizon->end = horizon->capacity = count;
    } else {
        struct lab_horizon_row *rows = count > 0 ? horizon->rows + horizon->begin : NULL;
        sim_archive_array(archive, rows, sizeof *rows, &count, SIZE_MAX);
    }
    sim_archive_u64(archive, &horizon->end_row);
    if (sim_archive_is_fine(archive))
        sim_archive_check(archive, horizon->end_row >= count);
}

void lab_key_archive(struct lab_key *key, const struct lab_key_origin *origin, struct sim_archive *archive)
{
    sim_archive_mark(archive, 0x4b455920);
    sim_archive_u64(archive, &key->entity);
    sim_archive_u64_below(archive, &key->rows, LAB_COUNT_END);
    sim_archive_u64(archive, &key->bytes);
    sim_archive_i64(archive, &key->birth_ns);
    sim_archive_i64(archive, &key->second_end_ns);
    sim_archive_u64(archive, &key->second_begin);
    for (int kind = 0; kind < LAB_READ_KINDS; kind++) {
        sim_archive_i64(archive, &key->reads[kind].next_ns);
        sim_archive_double(archive, &key->reads[kind].gap_ns);
        sim_archive_bytes(archive, key->reads[kind].draws.s, sizeof key->reads[kind].draws.s);
    }
    sim_archive_i64(archive, &key->next_read_ns);
    SIM_ARCHIVE_ENUM(archive, key->next_read, LAB_READ_KINDS);
    archive_horizon(&key->horizon, archive);
    if (archive->is_loading && sim_archive_is_fine(archive))
        sim_archive_check(archive, is_sound_key(key, origin));
}
