/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saves and loads the keys of a run: the source of their future rows, their readers, and their stored
 * state. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cluster_archive.h"
#include "workload/rows_archive.h"

SIM_ARCHIVE_KNOWS(offsetof(struct lab_cluster_key, cursor) == 120, "keys have changed: archive new fields");
SIM_ARCHIVE_KNOWS(sizeof(struct lab_cursor) - sizeof(struct wl_rows) == 216,
                  "cursors have changed: archive new fields");

static void arrival_of(const struct lab_cluster_run *run, struct sim_archive *archive,
                       struct lab_arrival *arrival)
{
    int64_t most_ns = wl_late_most_ns(&run->scenario->workload);
    sim_archive_i64(archive, &arrival->time_ns);
    sim_archive_u64(archive, &arrival->id);
    sim_archive_u64(archive, &arrival->bytes);
    sim_archive_i64(archive, &arrival->late_ns);
    if (archive->is_loading)
        sim_archive_check(archive, arrival->late_ns >= 0 && arrival->late_ns <= most_ns);
}

/* For a synthetic workload, archives the random streams; for a trace, the position. */
static void cursor_of(const struct lab_cluster_run *run, struct sim_archive *archive,
                      struct lab_cursor *cursor)
{
    assert(cursor->is_open); /* opened when the run begins */
    sim_archive_bool(archive, &cursor->is_open);
    sim_archive_u64(archive, &cursor->next);
    sim_archive_u32_below(archive, &cursor->ahead_end, LAB_ROWS_AHEAD + 1);
    sim_archive_u32_below(archive, &cursor->ahead_begin, (uint64_t)cursor->ahead_end + 1);
    for (uint32_t i = cursor->ahead_begin; i < cursor->ahead_end; i++)
        arrival_of(run, archive, &cursor->ahead[i]);
    sim_archive_check(archive, cursor->is_open);
    if (!sim_archive_is_fine(archive))
        return;
    if (run->scenario->trace_path != NULL) {
        lab_archive_random(archive, &cursor->ids);
        lab_archive_random(archive, &cursor->bytes);
        return;
    }
    wl_rows_archive(&cursor->made, archive);
}

static void key_of(struct lab_cluster_run *run, struct sim_archive *archive, uint32_t number)
{
    struct lab_cluster_key *key = &run->keys[number];
    arrival_of(run, archive, &key->coming);
    sim_archive_u64(archive, &key->rows);
    sim_archive_u64(archive, &key->bytes);
    sim_archive_i64(archive, &key->birth_ns);
    sim_archive_u64(archive, &key->acknowledged);
    sim_archive_u64(archive, &key->deletes_asked);
    sim_archive_bytes(archive, key->state, sizeof key->state);
    key->changes = sim_archive_array(archive, key->changes, sizeof *key->changes, &key->change_count,
                                     SIZE_MAX / sizeof *key->changes);
    cursor_of(run, archive, &key->cursor);
}

static void times_of(struct sim_archive *archive, struct sim_times *times)
{
    size_t count = times->end - times->begin;
    sim_archive_size(archive, &count);
    if (archive->is_loading) {
        sim_times_clear(times);
        times->items = sim_archive_allocate(archive, count, sizeof *times->items, sizeof *times->items);
        times->end = times->capacity = times->items == NULL ? 0 : count;
    }
    count = times->end - times->begin;
    if (count > 0)
        sim_archive_bytes(archive, times->items + times->begin, count * sizeof *times->items);
}

static void readers_of(struct lab_cluster_run *run, struct sim_archive *archive, uint32_t key)
{
    for (int kind = 0; kind < LAB_READ_KINDS; kind++) {
        if (run->reads[kind] == NULL)
            continue;
        struct lab_read_clock *clock = &run->reads[kind][key];
        sim_archive_i64(archive, &clock->next_ns);
        if (archive->is_loading)
            sim_archive_check(archive, clock->next_ns >= run->start_ns);
        if (clock->next_ns < INT64_MAX) /* otherwise there are no further draws */
            lab_archive_random(archive, &clock->draws);
    }
    if (run->acknowledged != NULL)
        times_of(archive, &run->acknowledged[key]);
}

void lab_archive_keys(struct lab_cluster_run *run, struct sim_archive *archive)
{
    sim_archive_mark(archive, 0x6b657973);
    for (uint32_t i = 0; i < run->key_count && sim_archive_is_fine(archive); i++) {
        key_of(run, archive, i);
        readers_of(run, archive, i);
    }
}
