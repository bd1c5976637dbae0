/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A part of a snapshot: the tasks that a member has completed, its tallies, and its current task. */
#include <stdlib.h>
#include <string.h>

#include "stream_synthetic.h"
#include "workload/rows_archive.h"

/* The least number of bytes of a stint in an archive. */
#define STINT_BYTES_LEAST 256u

static void archive_done(uint64_t *done, const struct lab_stream_crew *crew, struct sim_archive *archive)
{
    sim_archive_mark(archive, 0x4d414445);
    sim_archive_bytes(archive, done, lab_bit_words(crew->task_count) * sizeof *done);
}

/* Returns whether the stretch is within the run and its number of rows is possible. */
static bool is_sound_walk(const struct lab_thin_walk *walk)
{
    const struct wl_workload *workload = walk->arrivals.workload;
    const struct wl_stretch *steady = &walk->steady;
    return steady->begin_ns >= workload->start_ns && steady->begin_ns <= walk->begin_ns &&
           walk->begin_ns <= steady->end_ns && steady->end_ns <= workload->start_ns + workload->duration_ns &&
           steady->rate_per_ns >= 0 &&
           steady->rate_per_ns * (double)(steady->end_ns - steady->begin_ns) < 0x1p62;
}

static void archive_piece(struct lab_thin_walk *walk, size_t lane_count, struct sim_archive *archive)
{
    struct lab_stretch *piece = &walk->piece;
    sim_archive_bool(archive, &walk->is_in_piece);
    if (!walk->is_in_piece)
        return;
    sim_archive_i64(archive, &piece->begin_ns);
    sim_archive_i64(archive, &piece->end_ns);
    sim_archive_u64(archive, &piece->first_row);
    sim_archive_u64_below(archive, &piece->rows, UINT64_C(1) << 62);
    sim_archive_bool(archive, &piece->is_gone);
    sim_archive_size_below(archive, &walk->lane, lane_count);
    if (archive->is_loading && sim_archive_is_fine(archive))
        sim_archive_check(archive, piece->begin_ns >= walk->begin_ns && piece->begin_ns <= piece->end_ns &&
                                       piece->end_ns <= walk->steady.end_ns);
}

static void archive_rest(struct lab_rest *rest, const struct lab_stretch *piece, struct sim_archive *archive)
{
    sim_archive_i64(archive, &rest->begin_ns);
    sim_archive_i64(archive, &rest->end_ns);
    sim_archive_u64(archive, &rest->after);
    sim_archive_u64(archive, &rest->rows);
    sim_archive_bool(archive, &rest->is_at);
    if (archive->is_loading && sim_archive_is_fine(archive))
        sim_archive_check(archive, rest->rows <= piece->rows && rest->after <= piece->rows &&
                                       (rest->rows == 0 ||
                                        (rest->begin_ns >= piece->begin_ns &&
                                         rest->begin_ns <= rest->end_ns && rest->end_ns <= piece->end_ns)));
}

static void archive_thins(struct lab_stint *stint, struct sim_archive *archive)
{
    struct lab_task *task = &stint->task;
    struct lab_thin_walk *walk = &task->walk;
    if (archive->is_loading)
        wl_key_init(&walk->arrivals, &stint->worker->scenario->workload, task->next_key);
    wl_key_archive(&walk->arrivals, archive);
    sim_archive_i64(archive, &walk->steady.begin_ns);
    sim_archive_i64(archive, &walk->steady.end_ns);
    sim_archive_double(archive, &walk->steady.rate_per_ns);
    sim_archive_i64(archive, &walk->begin_ns);
    if (archive->is_loading && sim_archive_is_fine(archive))
        sim_archive_check(archive, is_sound_walk(walk));
    sim_archive_bytes(archive, walk->counts.s, sizeof walk->counts.s);
    archive_piece(walk, stint->worker->lane_count, archive);
    for (size_t i = 0; i < stint->worker->lane_count; i++) {
        sim_archive_bool(archive, &task->thins[i].is_on_its_way);
        if (sim_archive_is_fine(archive))
            sim_archive_check(archive, !task->thins[i].is_on_its_way || walk->is_in_piece);
        if (task->thins[i].is_on_its_way) {
            archive_rest(&task->thins[i].rest, &walk->piece, archive);
            archive_rest(&task->thins[i].later, &walk->piece, archive);
            sim_archive_u64(archive, &task->thins[i].sequence);
        }
        sim_archive_bytes(archive, task->thins[i].draws.s, sizeof task->thins[i].draws.s);
        sim_archive_u64(archive, &task->thins[i].to_fire);
    }
}

static void archive_task(struct lab_stint *stint, const struct lab_stream_crew *crew,
                         struct sim_archive *archive)
{
    struct lab_task *task = &stint->task;
    sim_archive_bool(archive, &task->is_begun);
    if (!task->is_begun)
        return;
    sim_archive_u64_below(archive, &task->number, crew->task_count);
    sim_archive_u64(archive, &task->next_key);
    sim_archive_bool(archive, &task->is_under_way);
    if (sim_archive_is_fine(archive))
        sim_archive_check(archive,
                          task->next_key >= lab_task_begin(task->number) &&
                              task->next_key <= lab_task_begin(task->number + 1) &&
                              (!task->is_under_way || task->next_key < crew->scenario->workload.key_count));
    if (!task->is_under_way || !sim_archive_is_fine(archive))
        return;
    sim_archive_bool(archive, &task->has_all_rows);
    const struct wl_workload *workload = &crew->scenario->workload;
    const struct lab_key_origin origin = {crew->scenario, task->next_key,
                                          sim_zipf_share(&workload->popularity, task->next_key),
                                          workload->start_ns, workload->start_ns + workload->duration_ns};
    lab_key_archive(&task->key, &origin, archive);
    for (size_t i = 0; i < stint->worker->lane_count; i++)
        lab_lane_archive(&task->lanes[i], &stint->worker->settings[i], archive);
    if (task->thins != NULL) {
        archive_thins(stint, archive);
        return;
    }
    if (archive->is_loading)
        wl_rows_init(&task->rows, &crew->scenario->workload, task->next_key);
    wl_rows_archive(&task->rows, archive);
}

static void archive_stint(struct lab_stint *stint, const struct lab_stream_crew *crew,
                          struct sim_archive *archive)
{
    struct lab_worker *worker = stint->worker;
    if (!archive->is_loading)
        lab_stint_settle(stint);
    sim_archive_u64(archive, &worker->rows);
    sim_archive_u64(archive, &worker->keys);
    for (size_t i = 0; i < worker->lane_count; i++)
        lab_tally_archive(&worker->tallies[i], archive, cass_ring_node_count(crew->ring));
    archive_task(stint, crew, archive);
}

static bool is_out_of_memory(const struct lab_stint *stint)
{
    for (size_t i = 0; i < stint->worker->lane_count; i++) {
        if (stint->worker->tallies[i].out_of_memory)
            return true;
    }
    return false;
}

void lab_member_put(struct lab_member *member)
{
    const struct lab_stream_crew *crew = member->crew;
    struct sim_archive archive;
    size_t count = 1 + member->waiting_count;
    if (is_out_of_memory(&member->now))
        return; /* this ends the run; the previous snapshot remains */
    lab_snapshot_begin(crew->scenario, &archive);
    archive_done(member->done, crew, &archive);
    sim_archive_size(&archive, &count);
    archive_stint(&member->now, crew, &archive);
    for (size_t i = 0; i < member->waiting_count; i++)
        archive_stint(&member->waiting[i], crew, &archive);
    lab_snapshot_put(crew->context, member->number, member->count, &archive);
}

/* Returns false if one of the tasks was already taken, because it would be counted twice. */
static bool take_tasks(struct lab_stream_crew *crew, const uint64_t *done, const struct lab_stint *stints,
                       size_t count)
{
    uint64_t twice = 0;
    for (size_t i = 0; i < lab_bit_words(crew->task_count); i++) {
        twice |= crew->taken[i] & done[i];
        crew->taken[i] |= done[i];
    }
    for (size_t i = 0; i < count; i++) {
        const struct lab_task *task = &stints[i].task;
        if (!task->is_begun)
            continue;
        twice |= lab_bit(crew->taken, task->number);
        lab_bit_set(crew->taken, task->number);
    }
    return twice == 0;
}

static bool load_part(struct lab_stream_crew *crew, struct lab_member *member, struct sim_archive *archive,
                      struct sim_error *error)
{
    size_t words = lab_bit_words(crew->task_count), count = 0, before = member->waiting_count;
    uint64_t *done = calloc(words, sizeof *done);
    struct lab_stint *waiting = NULL;
    if (done == NULL)
        return sim_fail_memory(error);
    archive_done(done, crew, archive);
    sim_archive_size(archive, &count);
    struct lab_stint *loaded = sim_archive_allocate(archive, count, sizeof *loaded, STINT_BYTES_LEAST);
    count = loaded == NULL ? 0 : count;
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        ok = lab_stint_init(&loaded[i], crew, error);
        if (ok)
            archive_stint(&loaded[i], crew, archive);
        ok = ok && sim_archive_is_fine(archive);
    }
    if (!ok && !sim_archive_is_fine(archive))
        ok = true; /* reported below */
    ok = ok && sim_archive_finish_load(archive, error);
    if (ok && !take_tasks(crew, done, loaded, count))
        ok = sim_fail(error, SIM_ERROR_INPUT,
                      "two states that were kept hold the same part of the run; run the scenario again");
    if (ok && count > 0)
        waiting = realloc(member->waiting, (before + count) * sizeof *waiting);
    if (ok && count > 0 && waiting == NULL)
        ok = sim_fail_memory(error);
    for (size_t i = 0; ok && i < words; i++)
        member->done[i] |= done[i];
    for (size_t i = 0; ok && i < count; i++) {
        lab_worker_tell(loaded[i].worker, 0, loaded[i].worker->rows + LAB_KEY_ROWS * loaded[i].worker->keys);
        waiting[before + i] = loaded[i];
    }
    if (waiting != NULL)
        member->waiting = waiting;
    if (ok)
        member->waiting_count = before + count;
    for (size_t i = 0; !ok && i < count; i++)
        lab_stint_clear(&loaded[i], crew->scenario->strategy_count);
    free(loaded);
    free(done);
    return ok;
}

bool lab_crew_go_on(struct lab_stream_crew *crew, struct lab_member *members, uint32_t count,
                    struct sim_error *error)
{
    const struct lab_snapshots *snapshots = crew->context->snapshots;
    if (snapshots == NULL)
        return true;
    size_t words = lab_bit_words(crew->task_count);
    for (uint32_t i = 0; i < count; i++) {
        members[i].done = calloc(words, sizeof *members[i].done);
        if (members[i].done == NULL)
            return sim_fail_memory(error);
    }
    if (snapshots->kept_count == 0)
        return true;
    crew->taken = calloc(words, sizeof *crew->taken);
    if (crew->taken == NULL)
        return sim_fail_memory(error);
    for (size_t i = 0; i < snapshots->kept_count; i++) {
        struct sim_archive archive;
        bool is_there;
        uint32_t part = snapshots->kept[i].part;
        if (!lab_snapshot_find(crew->context, crew->scenario, part, &archive, &is_there, error) ||
            !load_part(crew, &members[part % count], &archive, error))
            return false;
    }
    return true;
}
