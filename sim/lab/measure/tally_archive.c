/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saves and loads a tally. */
#include <string.h>

#include "lab/stored.h"
#include "lab/tally.h"

static void archive_reads(struct lab_read_tally *reads, struct sim_archive *archive)
{
    lab_histogram_archive(&reads->partitions, archive);
    sim_archive_u64(archive, &reads->empties);
    sim_archive_u64(archive, &reads->incomplete);
    sim_archive_u64(archive, &reads->out_of_order);
    sim_archive_u64(archive, &reads->scanned);
    sim_archive_u64(archive, &reads->cut);
    sim_archive_u64(archive, &reads->before);
}

static void archive_largest(struct lab_largest *largest, struct sim_archive *archive)
{
    sim_archive_bytes(archive, largest->key, sizeof largest->key);
    sim_archive_u64(archive, &largest->key_index);
    sim_archive_i64(archive, &largest->bucket);
    sim_archive_u64(archive, &largest->size);
    if (sim_archive_is_fine(archive))
        sim_archive_check(archive, memchr(largest->key, '\0', sizeof largest->key) != NULL);
    if (!sim_archive_is_fine(archive) && archive->is_loading)
        memset(largest, 0, sizeof *largest);
}

void lab_tally_archive(struct lab_tally *tally, struct sim_archive *archive, uint32_t nodes)
{
    struct lab_histogram *const histograms[] = {&tally->closed_rows, &tally->open_rows, &tally->closed_bytes,
                                                &tally->open_bytes,  &tally->live_rows, &tally->tombstones};
    uint64_t *const counts[] = {&tally->over_limit,
                                &tally->over_limit_rows,
                                &tally->over_limit_bytes,
                                &tally->tiny,
                                &tally->rows,
                                &tally->placed,
                                &tally->counter_increments,
                                &tally->state_reads,
                                &tally->state_writes,
                                &tally->lwt,
                                &tally->lock_ops,
                                &tally->rows_scanned,
                                &tally->retried,
                                &tally->duplicated,
                                &tally->misrouted,
                                &tally->peak_rows_per_s,
                                &tally->rows_deleted,
                                &tally->rows_expired,
                                &tally->emptied,
                                &tally->tombstones_read,
                                &tally->tombstone_warnings,
                                &tally->reads_failed,
                                &tally->deletes_lost,
                                &tally->late_rows,
                                &tally->rows_into_closed,
                                &tally->reopened,
                                &tally->key_most.rows,
                                &tally->key_most.bytes,
                                &tally->payload_bytes,
                                &tally->placement_digest};
    sim_archive_mark(archive, 0x54414c59);
    for (size_t i = 0; i < sizeof histograms / sizeof *histograms; i++)
        lab_histogram_archive(histograms[i], archive);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        sim_archive_u64(archive, counts[i]);
    sim_archive_i64(archive, &tally->first_over_ns);
    archive_reads(&tally->reads, archive);
    for (int kind = 0; kind < LAB_READ_KINDS; kind++)
        archive_reads(&tally->reads_of[kind], archive);
    lab_slices_archive(&tally->slices, archive);
    for (int unit = 0; unit < LAB_SIZE_UNITS; unit++)
        archive_largest(&tally->largest[unit], archive);
    sim_archive_bool(archive, &tally->out_of_memory);
    sim_archive_bytes(archive, tally->nodes, nodes * sizeof *tally->nodes);
    /* The tally was made for the same scenario, which determines whether it has `stored`. */
    bool has_stored = tally->stored != NULL;
    sim_archive_bool(archive, &has_stored);
    if (has_stored == (tally->stored != NULL) && has_stored)
        lab_stored_archive(tally->stored, archive);
    else if (sim_archive_is_fine(archive))
        sim_archive_check(archive, has_stored == (tally->stored != NULL));
}
