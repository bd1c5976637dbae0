/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saves and loads the clients of identifiers, and the identifiers that were given. */
#include <stdlib.h>

#include "cluster_archive.h"
#include "idgen_private.h"

SIM_ARCHIVE_KNOWS(sizeof(struct lab_id_watch) == 104, "what is watched has changed: archive new fields");
SIM_ARCHIVE_KNOWS(sizeof(struct lab_id_client) - 2 * sizeof(struct bk_idgen) ==
                          80 + sizeof(struct lab_id_watch) &&
                      sizeof(struct lab_idgen) - sizeof(struct bk_idgen_config) == 120,
                  "clients of identifiers have changed: archive new fields");

static void checkpoint_of(struct lab_cluster_run *run, struct sim_archive *archive, uint32_t number)
{
    struct bk_idgen *idgen = &run->idgen->clients[number].idgen;
    unsigned char state[LAB_ID_CHECKPOINT_MAX];
    size_t size = archive->is_loading ? 0 : bk_idgen_state_size(idgen);
    sim_archive_size_below(archive, &size, sizeof state + 1);
    if (!archive->is_loading)
        bk_idgen_save(idgen, state, sizeof state);
    sim_archive_bytes(archive, state, size);
    if (!archive->is_loading || !sim_archive_is_fine(archive))
        return;
    struct bk_idgen_config config = lab_idgen_config(run, number);
    bool is_sound = bk_idgen_load(&config, state, size, idgen) == BK_OK;
    /* Columns have the numbers of their clients. */
    for (uint32_t i = 0; is_sound && i < idgen->column_count; i++)
        is_sound = idgen->columns[i].client >= 1 && idgen->columns[i].client <= run->agent_count;
    sim_archive_check(archive, is_sound);
}

static void watch_of(const struct lab_cluster_run *run, struct sim_archive *archive,
                     struct lab_id_watch *watch)
{
    lab_archive_time(archive, run, &watch->heard_ns);
    sim_archive_i64(archive, &watch->came_ns);
    sim_archive_i64(archive, &watch->hold_ns);
    int64_t *const clocks[] = {&watch->clock_ns, &watch->until_ns, &watch->begun_ns, &watch->first_wait_ns};
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++)
        sim_archive_i64(archive, clocks[i]);
    SIM_ARCHIVE_ENUM(archive, watch->outcome, BK_IDGEN_UNKNOWN + 1);
    sim_archive_u32(archive, &watch->failed);
    sim_archive_u32(archive, &watch->attempts);
    sim_archive_bool(archive, &watch->owes);
    sim_archive_bool(archive, &watch->is_holder);
    sim_archive_bool(archive, &watch->is_releasing);
    sim_archive_bool(archive, &watch->is_blurred);
    sim_archive_bool(archive, &watch->is_late);
    sim_archive_bool(archive, &watch->is_found);
    sim_archive_bool(archive, &watch->has_batch);
    sim_archive_i64(archive, &watch->last);
    sim_archive_i64(archive, &watch->next);
    sim_archive_i64(archive, &watch->stored);
}

static void client_of(struct lab_cluster_run *run, struct sim_archive *archive, uint32_t number)
{
    struct lab_id_client *client = &run->idgen->clients[number];
    lab_archive_agent_clock(archive, &run->agents[number]);
    if (run->agents[number].is_up)
        checkpoint_of(run, archive, number);
    sim_archive_u32(archive, &client->serial);
    sim_archive_bool(archive, &client->is_asking);
    SIM_ARCHIVE_ENUM(archive, client->action, BK_IDGEN_FAILED + 1);
    sim_archive_u64(archive, &client->timeout);
    sim_archive_u64(archive, &client->serial_of_life);
    lab_archive_time(archive, run, &client->asked_ns);
    sim_archive_bool(archive, &client->is_leasing);
    lab_archive_time(archive, run, &client->leased_ns);
    sim_archive_u64(archive, &client->given);
    sim_archive_bool(archive, &client->is_trying);
    sim_archive_u64(archive, &client->attempt);
    watch_of(run, archive, &client->watch);
    bool has_twin = run->agents[number].is_up && client->has_twin;
    sim_archive_bool(archive, &has_twin);
    client->has_twin = archive->is_loading ? false : client->has_twin;
    if (archive->is_loading && has_twin && run->agents[number].is_up && sim_archive_is_fine(archive))
        lab_id_twin_begin(run, number);
}

static void spans_of(struct sim_archive *archive, struct lab_id_spans *spans)
{
    spans->items = sim_archive_array(archive, spans->items, sizeof *spans->items, &spans->count,
                                     SIZE_MAX / sizeof *spans->items);
    if (!archive->is_loading)
        return;
    spans->capacity = spans->count;
    for (size_t i = 0; i < spans->count; i++) {
        const struct lab_id_span *span = &spans->items[i];
        sim_archive_check(archive, span->first >= 0 && span->first < span->end);
        sim_archive_check(archive, i == 0 || span[-1].end < span->first);
    }
}

void lab_archive_idgen(struct lab_cluster_run *run, struct sim_archive *archive)
{
    struct lab_idgen *idgen = run->idgen;
    uint64_t *const counts[] = {&idgen->given,    &idgen->in_hand, &idgen->leased,
                                &idgen->leases,   &idgen->failed,  &idgen->tried,
                                &idgen->acquired, &idgen->busy,    &idgen->stale};
    sim_archive_mark(archive, 0x69646765);
    for (uint32_t i = 0; i < run->agent_count && sim_archive_is_fine(archive); i++)
        client_of(run, archive, i);
    for (uint32_t i = 0; i < idgen->config.stripes && sim_archive_is_fine(archive); i++)
        spans_of(archive, &idgen->spans[i]);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        sim_archive_u64(archive, counts[i]);
    sim_archive_bool(archive, &idgen->is_over);
    sim_archive_u32_below(archive, &idgen->done, (uint64_t)run->agent_count + 1);
    lab_archive_time(archive, run, &idgen->last_given_ns);
}
