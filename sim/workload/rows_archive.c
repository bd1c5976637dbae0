/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saves and loads the state of a key's rows. */
#include "workload/rows_archive.h"

#include <math.h>

/* The segment must be within the run, and none of its members may be NaN. */
static void check_segment(const struct wl_key *key, struct sim_archive *archive)
{
    const struct wl_workload *workload = key->workload;
    int64_t start_ns = workload->start_ns, end_ns = start_ns + workload->duration_ns;
    if (archive->is_loading && sim_archive_is_fine(archive))
        sim_archive_check(archive,
                          key->segment_begin_ns >= start_ns && key->segment_begin_ns <= key->segment_end_ns &&
                              key->segment_end_ns <= end_ns && key->segment_end_ns <= key->burst_until_ns &&
                              key->next_ns >= 0 && isfinite(key->next_ns) && key->gap_ns > 0 &&
                              isfinite(key->gap_ns) && key->rate_per_ns > 0 && isfinite(key->rate_per_ns));
}

static void archive_random(struct sim_random *random, struct sim_archive *archive)
{
    sim_archive_bytes(archive, random->s, sizeof random->s);
}

void wl_key_archive(struct wl_key *key, struct sim_archive *archive)
{
    sim_archive_mark(archive, 0x574b4559);
    sim_archive_bool(archive, &key->burst_is_on);
    sim_archive_i64(archive, &key->burst_until_ns);
    sim_archive_i64(archive, &key->segment_begin_ns);
    sim_archive_i64(archive, &key->segment_end_ns);
    sim_archive_double(archive, &key->rate_per_ns);
    sim_archive_double(archive, &key->gap_ns);
    sim_archive_double(archive, &key->next_ns);
    check_segment(key, archive);
    archive_random(&key->arrivals, archive);
    archive_random(&key->ids, archive);
    archive_random(&key->bytes, archive);
    archive_random(&key->bursts, archive);
}

/* The loading of the history must be complete, or its next row within the time of loading. */
static bool is_sound_history(const struct wl_history *history, const struct wl_workload *workload)
{
    return history->next_ns == INT64_MAX ||
           (workload->backfill_before_ns > 0 && history->next_ns >= workload->start_ns &&
            history->next_ns <= history->until_ns);
}

void wl_rows_archive(struct wl_rows *rows, struct sim_archive *archive)
{
    wl_key_archive(&rows->live, archive);
    archive_random(&rows->lateness, archive);
    archive_random(&rows->history.arrivals, archive);
    archive_random(&rows->history.ids, archive);
    archive_random(&rows->history.bytes, archive);
    sim_archive_i64(archive, &rows->history.next_ns);
    if (archive->is_loading)
        sim_archive_check(archive, is_sound_history(&rows->history, rows->live.workload));
}
