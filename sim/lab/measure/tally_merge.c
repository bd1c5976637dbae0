/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Merges and clears tallies, including what their tables store. */
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
