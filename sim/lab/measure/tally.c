/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Adds partitions and keys to a tally, and records the largest partitions. */
#include "lab/tally.h"

#include <stdlib.h>
#include <string.h>

bool lab_tally_init(struct lab_tally *tally, uint32_t nodes)
{
    memset(tally, 0, sizeof *tally);
    tally->first_over_ns = INT64_MAX;
    tally->nodes = calloc(nodes, sizeof *tally->nodes);
    return tally->nodes != NULL;
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
    if (tally->is_raced) {
        lab_histogram_note(is_closed ? &tally->closed_rows : &tally->open_rows, partition->rows);
        lab_histogram_note(is_closed ? &tally->closed_bytes : &tally->open_bytes, partition->bytes);
        lab_sizes_add(&tally->sizes[LAB_IN_ROWS], partition->rows);
        lab_sizes_add(&tally->sizes[LAB_IN_BYTES], partition->bytes);
        return;
    }
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
        if (!lab_is_larger(sizes[unit], key->index, bucket, largest))
            continue;
        *largest = (struct lab_largest){.key_index = key->index, .bucket = bucket, .size = sizes[unit]};
        size_t size = key->size;
        if (size >= sizeof largest->key) {
            size = sizeof largest->key - 1;
            /* Not within a character, whose bytes after the first are 10xxxxxx. */
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

void lab_tally_key(struct lab_tally *tally, const struct cass_partition *whole)
{
    struct cass_partition *most = &tally->key_most;
    most->rows = whole->rows > most->rows ? whole->rows : most->rows;
    most->bytes = whole->bytes > most->bytes ? whole->bytes : most->bytes;
}
