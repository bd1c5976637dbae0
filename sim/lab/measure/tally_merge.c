/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Merges, archives and clears tallies, including what their tables store. */
#include <stdlib.h>
#include <string.h>

#include "lab/stored.h"
#include "lab/tally.h"

void lab_tally_merge(struct lab_tally *into, const struct lab_tally *from, uint32_t nodes)
{
    lab_histogram_merge(&into->closed_rows, &from->closed_rows);
    lab_histogram_merge(&into->open_rows, &from->open_rows);
    lab_histogram_merge(&into->closed_bytes, &from->closed_bytes);
    lab_histogram_merge(&into->open_bytes, &from->open_bytes);
    for (int unit = 0; unit < LAB_SIZE_UNITS; unit++)
        lab_sizes_merge(&into->sizes[unit], &from->sizes[unit]);
    lab_slices_merge(&into->slices, &from->slices);
    lab_read_tally_merge(&into->reads, &from->reads);
    for (int kind = 0; kind < LAB_READ_KINDS; kind++)
        lab_read_tally_merge(&into->reads_of[kind], &from->reads_of[kind]);
    for (int kind = 0; kind < LAB_READ_KINDS; kind++)
        into->out_of_memory = into->out_of_memory || from->reads_of[kind].partitions.out_of_memory;
    into->over_limit += from->over_limit;
    into->over_limit_rows += from->over_limit_rows;
    into->over_limit_bytes += from->over_limit_bytes;
    into->tiny += from->tiny;
    lab_tally_over(into, from->first_over_ns);
    for (int unit = 0; unit < LAB_SIZE_UNITS; unit++) {
        const struct lab_largest *largest = &from->largest[unit];
        if (lab_is_larger(largest->size, largest->key_index, largest->bucket, &into->largest[unit]))
            into->largest[unit] = *largest;
    }
    lab_tally_key(into, &from->key_most);
    into->rows += from->rows;
    into->placed += from->placed;
    into->counter_increments += from->counter_increments;
    into->state_reads += from->state_reads;
    into->state_writes += from->state_writes;
    into->lwt += from->lwt;
    into->rows_scanned += from->rows_scanned;
    if (from->peak_rows_per_s > into->peak_rows_per_s)
        into->peak_rows_per_s = from->peak_rows_per_s;
    lab_histogram_merge(&into->live_rows, &from->live_rows);
    lab_histogram_merge(&into->tombstones, &from->tombstones);
    into->rows_deleted += from->rows_deleted;
    into->rows_expired += from->rows_expired;
    into->emptied += from->emptied;
    into->late_rows += from->late_rows;
    lab_bytes_add(&into->payload_bytes, from->payload_bytes);
    into->rows_into_closed += from->rows_into_closed;
    into->reopened += from->reopened;
    into->placement_digest += from->placement_digest;
    into->out_of_memory = into->out_of_memory || from->out_of_memory || from->closed_rows.out_of_memory ||
                          from->open_rows.out_of_memory || from->closed_bytes.out_of_memory ||
                          from->open_bytes.out_of_memory || from->live_rows.out_of_memory ||
                          from->tombstones.out_of_memory || from->reads.partitions.out_of_memory;
    if (from->stored != NULL)
        lab_stored_merge(into->stored, from->stored);
    for (uint32_t i = 0; i < nodes; i++) {
        into->nodes[i].rows += from->nodes[i].rows;
        lab_bytes_add(&into->nodes[i].bytes, from->nodes[i].bytes);
    }
}

void lab_tally_move(struct lab_tally *into, struct lab_tally *from, uint32_t nodes)
{
    if (into->rows > 0 || into->reads.partitions.count > 0 || into->out_of_memory) {
        lab_tally_merge(into, from, nodes);
        return;
    }
    const struct lab_tally empty = *into;
    *into = *from;
    *from = empty;
}

void lab_tally_clear(struct lab_tally *tally)
{
    lab_histogram_clear(&tally->closed_rows);
    lab_histogram_clear(&tally->open_rows);
    lab_histogram_clear(&tally->closed_bytes);
    lab_histogram_clear(&tally->open_bytes);
    lab_histogram_clear(&tally->reads.partitions);
    for (int kind = 0; kind < LAB_READ_KINDS; kind++)
        lab_histogram_clear(&tally->reads_of[kind].partitions);
    for (int unit = 0; unit < LAB_SIZE_UNITS; unit++)
        lab_sizes_clear(&tally->sizes[unit]);
    lab_slices_clear(&tally->slices);
    lab_stored_destroy(tally->stored);
    lab_histogram_clear(&tally->live_rows);
    lab_histogram_clear(&tally->tombstones);
    free(tally->nodes);
    memset(tally, 0, sizeof *tally);
}

/* Saves and loads a tally. */

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
