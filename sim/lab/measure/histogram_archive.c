/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saves and loads a histogram. */
#include "lab/histogram.h"

#include <stdlib.h>

/* Checks a loaded histogram: there must be a free slot, since a search ends there, and the counts of the
 * slots must add up to the total. */
static bool is_sound(const struct lab_histogram *histogram)
{
    size_t used = 0;
    uint64_t left = histogram->count;
    for (size_t i = 0; i < histogram->slot_count; i++) {
        uint64_t count = histogram->slots[i].count;
        if (count > left)
            return false;
        left -= count;
        used += count > 0;
    }
    return (histogram->slot_count & (histogram->slot_count - 1)) == 0 && used == histogram->used &&
           left == 0 && (used == 0 || used < histogram->slot_count);
}

/* Most slots are free: a byte says which of eight slots are used, and their bins follow. */
static void archive_slots(struct lab_histogram *histogram, struct sim_archive *archive)
{
    sim_archive_size(archive, &histogram->slot_count);
    if (archive->is_loading) {
        if (sim_archive_is_fine(archive))
            sim_archive_check(archive, histogram->slot_count % 8 == 0);
        free(histogram->slots);
        histogram->slots =
            sim_archive_allocate(archive, histogram->slot_count / 8, 8 * sizeof *histogram->slots, 1);
        if (histogram->slots == NULL)
            histogram->slot_count = 0;
    }
    for (size_t i = 0; i < histogram->slot_count && sim_archive_is_fine(archive); i += 8) {
        struct lab_bin *bins = &histogram->slots[i];
        uint8_t is_used = 0;
        for (int j = 0; !archive->is_loading && j < 8; j++)
            is_used |= (uint8_t)((bins[j].count > 0) << j);
        sim_archive_u8(archive, &is_used);
        for (int j = 0; is_used >> j != 0; j++) {
            if ((is_used >> j & 1) == 0)
                continue;
            sim_archive_packed(archive, &bins[j].size);
            sim_archive_packed(archive, &bins[j].count);
            sim_archive_packed(archive, &bins[j].weight);
        }
    }
}

void lab_histogram_archive(struct lab_histogram *histogram, struct sim_archive *archive)
{
    sim_archive_mark(archive, 0x48495354);
    archive_slots(histogram, archive);
    sim_archive_size(archive, &histogram->used);
    sim_archive_bool(archive, &histogram->is_rounded);
    sim_archive_bool(archive, &histogram->out_of_memory);
    sim_archive_u64(archive, &histogram->count);
    sim_archive_u64(archive, &histogram->weight);
    sim_archive_u64(archive, &histogram->least);
    sim_archive_u64(archive, &histogram->most);
    sim_archive_bytes(archive, &histogram->sum, sizeof histogram->sum);
    sim_archive_bytes(archive, &histogram->sum_of_squares, sizeof histogram->sum_of_squares);
    sim_archive_bytes(archive, &histogram->weighted_sum, sizeof histogram->weighted_sum);
    sim_archive_bytes(archive, &histogram->weighted_sum_of_squares,
                      sizeof histogram->weighted_sum_of_squares);
    if (archive->is_loading && sim_archive_is_fine(archive))
        sim_archive_check(archive, is_sound(histogram));
    if (!sim_archive_is_fine(archive) && archive->is_loading)
        lab_histogram_clear(histogram);
}
