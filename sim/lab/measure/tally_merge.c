/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Merges, archives and clears tallies, including what their tables store, by a list of what a tally has. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "lab/stored.h"
#include "lab/tally.h"

/* The histograms of a tally; those of partitions come first. */
static const size_t histograms[] = {
    offsetof(struct lab_tally, closed_rows),
    offsetof(struct lab_tally, open_rows),
    offsetof(struct lab_tally, closed_bytes),
    offsetof(struct lab_tally, open_bytes),
    offsetof(struct lab_tally, live_rows),
    offsetof(struct lab_tally, tombstones),
    offsetof(struct lab_tally, reads.partitions),
    offsetof(struct lab_tally, reads_of[0].partitions),
    offsetof(struct lab_tally, reads_of[1].partitions),
    offsetof(struct lab_tally, reads_of[2].partitions),
};
#define HISTOGRAM_COUNT      (sizeof histograms / sizeof *histograms)
#define PARTITION_HISTOGRAMS 4

/* Its numbers, and how they merge; those of partitions come first. */
enum rule { ADD, SATURATE, LARGER };
#define OF(rule, member)                                                                                     \
    {                                                                                                        \
        offsetof(struct lab_tally, member), rule                                                             \
    }
#define OF_READS(reads)                                                                                      \
    OF(ADD, reads.empties), OF(ADD, reads.incomplete), OF(ADD, reads.out_of_order), OF(ADD, reads.scanned),  \
        OF(ADD, reads.cut), OF(ADD, reads.before)
static const struct {
    size_t place;
    enum rule rule;
} numbers[] = {
    OF(ADD, over_limit),
    OF(ADD, over_limit_rows),
    OF(ADD, over_limit_bytes),
    OF(ADD, tiny),
    OF(ADD, placed),
    OF(LARGER, peak_rows_per_s),
    OF(LARGER, key_most.rows),
    OF(LARGER, key_most.bytes),
    OF(SATURATE, payload_bytes),
    OF(ADD, rows),
    OF(ADD, counter_increments),
    OF(ADD, state_reads),
    OF(ADD, state_writes),
    OF(ADD, lwt),
    OF(ADD, rows_scanned),
    OF(ADD, rows_deleted),
    OF(ADD, rows_expired),
    OF(ADD, emptied),
    OF(ADD, late_rows),
    OF(ADD, rows_into_closed),
    OF(ADD, reopened),
    OF(ADD, placement_digest),
    OF_READS(reads),
    OF_READS(reads_of[0]),
    OF_READS(reads_of[1]),
    OF_READS(reads_of[2]),
};
#define NUMBER_COUNT      (sizeof numbers / sizeof *numbers)
#define PARTITION_NUMBERS 6
_Static_assert(LAB_READ_KINDS == 3, "list the tallies of all kinds of reads");

static struct lab_histogram *histogram_at(const struct lab_tally *tally, size_t i)
{
    return (struct lab_histogram *)((uintptr_t)tally + histograms[i]);
}

static uint64_t *number_at(const struct lab_tally *tally, size_t i)
{
    return (uint64_t *)((uintptr_t)tally + numbers[i].place);
}

bool lab_tally_is_lost(const struct lab_tally *tally)
{
    bool is_lost = tally->out_of_memory || tally->slices.out_of_memory;
    for (size_t i = 0; i < HISTOGRAM_COUNT; i++)
        is_lost = is_lost || histogram_at(tally, i)->out_of_memory;
    return is_lost;
}

void lab_tally_merge(struct lab_tally *into, const struct lab_tally *from, uint32_t nodes)
{
    for (size_t i = 0; i < HISTOGRAM_COUNT; i++)
        lab_histogram_merge(histogram_at(into, i), histogram_at(from, i));
    for (size_t i = 0; i < NUMBER_COUNT; i++) {
        uint64_t *sum = number_at(into, i);
        const uint64_t more = *number_at(from, i);
        if (numbers[i].rule == LARGER)
            *sum = more > *sum ? more : *sum;
        else if (numbers[i].rule == SATURATE)
            lab_bytes_add(sum, more);
        else
            *sum += more;
    }
    for (int unit = 0; unit < LAB_SIZE_UNITS; unit++) {
        const struct lab_largest *largest = &from->largest[unit];
        lab_sizes_merge(&into->sizes[unit], &from->sizes[unit]);
        if (lab_is_larger(largest->size, largest->key_index, largest->bucket, &into->largest[unit]))
            into->largest[unit] = *largest;
    }
    lab_slices_merge(&into->slices, &from->slices);
    lab_tally_over(into, from->first_over_ns);
    into->out_of_memory = into->out_of_memory || lab_tally_is_lost(from);
    if (from->stored != NULL)
        lab_stored_merge(into->stored, from->stored);
    for (uint32_t i = 0; i < nodes; i++) {
        into->nodes[i].rows += from->nodes[i].rows;
        lab_bytes_add(&into->nodes[i].bytes, from->nodes[i].bytes);
    }
}

void lab_tally_move(struct lab_tally *into, struct lab_tally *from, uint32_t nodes)
{
    if (into->rows > 0 || into->reads.partitions.count > 0 || into->reads.before > 0 || into->out_of_memory) {
        lab_tally_merge(into, from, nodes);
        return;
    }
    const struct lab_tally empty = *into;
    *into = *from;
    *from = empty;
}

void lab_tally_take_partitions(struct lab_tally *into, struct lab_tally *from)
{
    into->out_of_memory = lab_tally_is_lost(into) || lab_tally_is_lost(from);
    for (size_t i = 0; i < PARTITION_HISTOGRAMS; i++) {
        lab_histogram_clear(histogram_at(into, i));
        *histogram_at(into, i) = *histogram_at(from, i);
        lab_histogram_init(histogram_at(from, i));
    }
    for (size_t i = 0; i < PARTITION_NUMBERS; i++)
        *number_at(into, i) = *number_at(from, i);
    into->first_over_ns = from->first_over_ns;
    memset(into->largest, 0, sizeof into->largest);
    const struct lab_slices slices = into->slices;
    struct cass_node_load *nodes = into->nodes;
    into->slices = from->slices;
    into->nodes = from->nodes;
    from->slices = slices;
    from->nodes = nodes;
}

void lab_tally_clear(struct lab_tally *tally)
{
    for (size_t i = 0; i < HISTOGRAM_COUNT; i++)
        lab_histogram_clear(histogram_at(tally, i));
    for (int unit = 0; unit < LAB_SIZE_UNITS; unit++)
        lab_sizes_clear(&tally->sizes[unit]);
    lab_slices_clear(&tally->slices);
    lab_stored_destroy(tally->stored);
    free(tally->nodes);
    memset(tally, 0, sizeof *tally);
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
    sim_archive_mark(archive, 0x54414c59);
    for (size_t i = 0; i < HISTOGRAM_COUNT; i++)
        lab_histogram_archive(histogram_at(tally, i), archive);
    for (size_t i = 0; i < NUMBER_COUNT; i++)
        sim_archive_u64(archive, number_at(tally, i));
    sim_archive_i64(archive, &tally->first_over_ns);
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
