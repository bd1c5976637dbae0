/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Adds up what one strategy did: partitions, operations, reads, the largest partitions. */
#include <stdlib.h>
#include <string.h>

#include "lab/stored.h"
#include "lab/tally.h"

bool lab_tally_init(struct lab_tally *tally, uint32_t nodes)
{
    memset(tally, 0, sizeof *tally);
    tally->nodes = calloc(nodes, sizeof *tally->nodes);
    return tally->nodes != NULL;
}

/* A total order, so that the parts of several workers merge to one answer. */
static bool is_before(uint64_t size, uint64_t key_index, int64_t bucket, const struct lab_largest *other)
{
    if (size != other->size)
        return size > other->size;
    if (key_index != other->key_index)
        return key_index < other->key_index;
    return bucket < other->bucket;
}

void lab_tally_merge(struct lab_tally *into, const struct lab_tally *from, uint32_t nodes)
{
    lab_histogram_merge(&into->closed_rows, &from->closed_rows);
    lab_histogram_merge(&into->open_rows, &from->open_rows);
    lab_histogram_merge(&into->closed_bytes, &from->closed_bytes);
    lab_histogram_merge(&into->open_bytes, &from->open_bytes);
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
    for (int unit = 0; unit < LAB_SIZE_UNITS; unit++) {
        const struct lab_largest *largest = &from->largest[unit];
        if (is_before(largest->size, largest->key_index, largest->bucket, &into->largest[unit]))
            into->largest[unit] = *largest;
    }
    into->rows += from->rows;
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

void lab_tally_partition(struct lab_tally *tally, const struct lab_limits *limits,
                         const struct cass_partition *partition, int64_t first_ns, bool is_closed)
{
    bool over_rows = limits->partition_rows != 0 && partition->rows > limits->partition_rows;
    bool over_bytes = limits->partition_bytes != 0 && partition->bytes > limits->partition_bytes;
    tally->over_limit_rows += over_rows;
    tally->over_limit_bytes += over_bytes;
    tally->over_limit += over_rows || over_bytes;
    tally->tiny += is_closed && partition->rows < limits->tiny_rows;
    lab_histogram_add(is_closed ? &tally->closed_rows : &tally->open_rows, partition->rows, 1,
                      partition->rows);
    lab_histogram_add(is_closed ? &tally->closed_bytes : &tally->open_bytes, partition->bytes, 1,
                      partition->rows);
    lab_slices_add(&tally->slices, first_ns, is_closed, partition);
}

void lab_tally_largest(struct lab_tally *tally, const struct lab_key_name *key, int64_t bucket,
                       const struct cass_partition *partition)
{
    const uint64_t sizes[LAB_SIZE_UNITS] = {partition->rows, partition->bytes};
    for (int unit = 0; unit < LAB_SIZE_UNITS; unit++) {
        struct lab_largest *largest = &tally->largest[unit];
        if (!is_before(sizes[unit], key->index, bucket, largest))
            continue;
        *largest = (struct lab_largest){.key_index = key->index, .bucket = bucket, .size = sizes[unit]};
        size_t size = key->size;
        if (size >= sizeof largest->key) {
            size = sizeof largest->key - 1;
            /* Not within a character: its bytes after the first are 10xxxxxx. */
            while (size > 0 && ((unsigned char)key->text[size] & 0xc0) == 0x80)
                size--;
        }
        memcpy(largest->key, key->text, size);
    }
}

void lab_tally_left(struct lab_tally *tally, uint64_t live, uint64_t tombstones)
{
    lab_histogram_add(&tally->tombstones, tombstones, 1, 1);
    tally->emptied += live == 0;
    if (live > 0)
        lab_histogram_add(&tally->live_rows, live, 1, live);
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
    lab_slices_clear(&tally->slices);
    lab_stored_destroy(tally->stored);
    lab_histogram_clear(&tally->live_rows);
    lab_histogram_clear(&tally->tombstones);
    free(tally->nodes);
    memset(tally, 0, sizeof *tally);
}
