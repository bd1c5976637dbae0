/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Collects a timeline: a coarse histogram of partition sizes for each slice of time. */
#include "lab/tally.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/time.h"
#include "lab/histogram.h"

#define BINS_AN_OCTAVE 8u
#define BINS_MAX       (62 * BINS_AN_OCTAVE) /* bins for all sizes up to 2^64 - 1 */

/* The bins of one unit, from the smallest to the largest octave that occurred. */
struct bins {
    uint64_t least, most;
    uint64_t *counts;
    uint32_t from, width; /* multiples of an octave; width 0: no size was added, and least is UINT64_MAX */
};

struct lab_slice_cell {
    uint64_t partitions;
    struct bins bins[LAB_SIZE_UNITS];
};

static uint64_t one_two_five(uint64_t at_least, uint64_t unit)
{
    for (;; unit *= 10) {
        for (uint64_t steps = 1; steps <= 5; steps += steps == 1 ? 1 : 3) {
            if (unit * steps >= at_least)
                return unit * steps;
        }
    }
}

/* The shortest sufficient length that is common on clocks and calendars, so that the slices of a run that
 * begins at midnight begin at round times. */
static uint64_t round_length(uint64_t at_least_ns)
{
    static const uint64_t seconds[] = {1,   2,    5,    10,   15,   20,    30,    60,    120,   300,  600,
                                       900, 1200, 1800, 3600, 7200, 10800, 14400, 21600, 28800, 43200};
    if (at_least_ns <= SIM_SECOND / 2)
        return one_two_five(at_least_ns, 1);
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
        if (seconds[i] * SIM_SECOND >= at_least_ns)
            return seconds[i] * SIM_SECOND;
    }
    return one_two_five(at_least_ns, SIM_DAY);
}

void lab_slices_begin(struct lab_slices *slices, int64_t start_ns, int64_t end_ns)
{
    uint64_t span_ns = (uint64_t)end_ns - (uint64_t)start_ns;
    slices->start_ns = start_ns;
    slices->end_ns = end_ns;
    slices->slice_ns = round_length(span_ns / LAB_SLICES_MAX + (span_ns % LAB_SLICES_MAX != 0));
    slices->count = (uint32_t)(span_ns / slices->slice_ns + (span_ns % slices->slice_ns != 0));
    if (slices->count == 0)
        slices->count = 1; /* a trace whose rows all have the same time */
    assert(slices->count <= LAB_SLICES_MAX);
    slices->last = 0;
    slices->last_ns = start_ns;
}

static bool need_cells(struct lab_slices *slices)
{
    if (slices->cells == NULL)
        slices->cells = calloc((size_t)LAB_STATES * slices->count, sizeof *slices->cells);
    slices->out_of_memory = slices->out_of_memory || slices->cells == NULL;
    return slices->cells != NULL;
}

/* Most often it is the slice of the call before. */
static inline uint32_t slice_at(struct lab_slices *slices, int64_t time_ns)
{
    if ((uint64_t)time_ns - (uint64_t)slices->last_ns >= slices->slice_ns) {
        const uint64_t since_ns =
                           time_ns < slices->start_ns ? 0 : (uint64_t)time_ns - (uint64_t)slices->start_ns,
                       slice = since_ns / slices->slice_ns;
        slices->last = slice < slices->count ? (uint32_t)slice : slices->count - 1;
        slices->last_ns = slices->start_ns + (int64_t)(slices->last * slices->slice_ns);
    }
    return slices->last;
}

bool lab_slices_is_one(struct lab_slices *slices, int64_t from_ns, int64_t until_ns)
{
    return slices->count == 0 || slice_at(slices, from_ns) == slice_at(slices, until_ns - 1);
}

/* Each size below 16 has its own bin. */
static inline uint32_t bin_of(uint64_t size)
{
    if (size < 2 * BINS_AN_OCTAVE)
        return (uint32_t)size;
    uint32_t shift = 60 - (uint32_t)__builtin_clzll(size);
    return shift * BINS_AN_OCTAVE + (uint32_t)(size >> shift);
}

/* Ensures that the bins from `from` to `last` exist. */
static bool widen(struct bins *bins, uint32_t from, uint32_t last)
{
    uint32_t end = last - last % BINS_AN_OCTAVE + BINS_AN_OCTAVE, old_end = bins->from + bins->width;
    from -= from % BINS_AN_OCTAVE;
    if (bins->width > 0) {
        from = from < bins->from ? from : bins->from;
        end = end > old_end ? end : old_end;
    }
    uint64_t *counts = calloc(end - from, sizeof *counts);
    if (counts == NULL)
        return false;
    if (bins->width > 0)
        memcpy(counts + (bins->from - from), bins->counts, bins->width * sizeof *counts);
    else
        bins->least = UINT64_MAX;
    free(bins->counts);
    bins->counts = counts;
    bins->from = from;
    bins->width = end - from;
    return true;
}

static inline bool bins_add(struct bins *bins, uint64_t size)
{
    uint32_t bin = bin_of(size);
    if (bin - bins->from >= bins->width && !widen(bins, bin, bin))
        return false;
    bins->counts[bin - bins->from]++;
    if (size < bins->least)
        bins->least = size;
    if (size > bins->most)
        bins->most = size;
    return true;
}

void lab_slices_add(struct lab_slices *slices, int64_t first_ns, bool is_closed,
                    const struct cass_partition *partition)
{
    if (slices->count == 0 || !need_cells(slices))
        return;
    struct lab_slice_cell *cell =
        &slices->cells[(is_closed ? LAB_CLOSED : LAB_OPEN) * slices->count + slice_at(slices, first_ns)];
    if (!bins_add(&cell->bins[LAB_IN_ROWS], partition->rows) ||
        !bins_add(&cell->bins[LAB_IN_BYTES], partition->bytes)) {
        slices->out_of_memory = true;
        return;
    }
    cell->partitions++;
}

static bool bins_merge(struct bins *into, const struct bins *from)
{
    uint32_t last = from->from + from->width - 1;
    if ((from->from - into->from >= into->width || last - into->from >= into->width) &&
        !widen(into, from->from, last))
        return false;
    for (uint32_t bin = from->from; bin <= last; bin++)
        into->counts[bin - into->from] += from->counts[bin - from->from];
    if (from->least < into->least)
        into->least = from->least;
    if (from->most > into->most)
        into->most = from->most;
    return true;
}

void lab_slices_merge(struct lab_slices *into, const struct lab_slices *from)
{
    into->out_of_memory = into->out_of_memory || from->out_of_memory;
    if (into->count == 0 && from->count > 0)
        lab_slices_begin(into, from->start_ns, from->end_ns);
    if (from->cells == NULL || !need_cells(into))
        return;
    assert(into->start_ns == from->start_ns && into->end_ns == from->end_ns);
    for (uint32_t i = 0; i < LAB_STATES * from->count; i++) {
        const struct lab_slice_cell *part = &from->cells[i];
        struct lab_slice_cell *cell = &into->cells[i];
        for (int unit = 0; part->partitions > 0 && unit < LAB_SIZE_UNITS; unit++) {
            if (!bins_merge(&cell->bins[unit], &part->bins[unit])) {
                into->out_of_memory = true;
                return;
            }
        }
        cell->partitions += part->partitions;
    }
}

/* The largest size of the bin. */
static uint64_t bin_top(uint32_t bin)
{
    if (bin < 2 * BINS_AN_OCTAVE)
        return bin;
    uint32_t shift = bin / BINS_AN_OCTAVE - 1;
    return ((uint64_t)(bin % BINS_AN_OCTAVE + BINS_AN_OCTAVE) << shift) + ((UINT64_C(1) << shift) - 1);
}

static uint64_t quantile(const struct bins *bins, uint64_t count, uint64_t percent)
{
    uint64_t rank = count / 100 * percent + (count % 100 * percent + 99) / 100, upto = 0;
    uint32_t bin = bins->from;
    for (; bin + 1 < bins->from + bins->width; bin++) {
        upto += bins->counts[bin - bins->from];
        if (upto >= rank)
            break;
    }
    uint64_t size = bin_top(bin);
    size = size > bins->least ? size : bins->least;
    return size < bins->most ? size : bins->most;
}

bool lab_slices_timeline(const struct lab_slices *slices, struct lab_timeline *out)
{
    memset(out, 0, sizeof *out);
    size_t count = 0;
    for (uint32_t i = 0; slices->cells != NULL && i < LAB_STATES * slices->count; i++)
        count += slices->cells[i].partitions > 0;
    if (slices->out_of_memory)
        return false;
    if (count == 0)
        return true;
    out->items = calloc(count, sizeof *out->items);
    if (out->items == NULL)
        return false;
    for (uint32_t i = 0; i < LAB_STATES * slices->count; i++) {
        const struct lab_slice_cell *cell = &slices->cells[i];
        if (cell->partitions == 0)
            continue;
        uint64_t from_ns = i % slices->count * slices->slice_ns;
        uint64_t left_ns = (uint64_t)slices->end_ns - (uint64_t)slices->start_ns - from_ns;
        struct lab_slice *slice = &out->items[out->count++];
        slice->state = (enum lab_partition_state)(i / slices->count);
        slice->start_ns = (int64_t)((uint64_t)slices->start_ns + from_ns);
        slice->end_ns =
            (int64_t)((uint64_t)slice->start_ns + (left_ns < slices->slice_ns ? left_ns : slices->slice_ns));
        slice->partitions = cell->partitions;
        for (int unit = 0; unit < LAB_SIZE_UNITS; unit++) {
            const struct bins *bins = &cell->bins[unit];
            slice->sizes[unit] = (struct lab_slice_sizes){bins->least, quantile(bins, cell->partitions, 10),
                                                          quantile(bins, cell->partitions, 50),
                                                          quantile(bins, cell->partitions, 90), bins->most};
        }
    }
    return true;
}

/* Archives the bins of a cell that has partitions. */
static void archive_bins(struct bins *bins, struct sim_archive *archive)
{
    size_t width = bins->width;
    sim_archive_u64(archive, &bins->least);
    sim_archive_u64(archive, &bins->most);
    sim_archive_size_below(archive, &width, BINS_MAX + 1);
    if (archive->is_loading) {
        free(bins->counts);
        bins->counts = sim_archive_allocate(archive, width, sizeof *bins->counts, 1);
    }
    bins->width = bins->counts == NULL ? 0 : (uint32_t)width;
    for (uint32_t i = 0; i < bins->width; i++)
        sim_archive_packed(archive, &bins->counts[i]);
    sim_archive_u32_below(archive, &bins->from, BINS_MAX);
    if (sim_archive_is_fine(archive))
        sim_archive_check(archive, width > 0 && bins->from + width <= BINS_MAX &&
                                       width % BINS_AN_OCTAVE == 0 && bins->from % BINS_AN_OCTAVE == 0);
}

void lab_slices_archive(struct lab_slices *slices, struct sim_archive *archive)
{
    bool has_cells = slices->cells != NULL;
    int64_t start_ns = slices->start_ns, end_ns = slices->end_ns;
    sim_archive_mark(archive, 0x534c4943);
    sim_archive_bool(archive, &slices->out_of_memory);
    sim_archive_i64(archive, &start_ns);
    sim_archive_i64(archive, &end_ns);
    sim_archive_bool(archive, &has_cells);
    if (sim_archive_is_fine(archive))
        sim_archive_check(archive, start_ns == slices->start_ns && end_ns == slices->end_ns &&
                                       (!has_cells || slices->count > 0));
    if (!has_cells || !sim_archive_is_fine(archive))
        return;
    if (!need_cells(slices)) {
        sim_archive_fail_memory(archive);
        return;
    }
    for (uint32_t i = 0; i < LAB_STATES * slices->count; i++) {
        struct lab_slice_cell *cell = &slices->cells[i];
        sim_archive_u64(archive, &cell->partitions);
        for (int unit = 0; cell->partitions > 0 && unit < LAB_SIZE_UNITS; unit++)
            archive_bins(&cell->bins[unit], archive);
    }
}

void lab_slices_clear(struct lab_slices *slices)
{
    for (uint32_t i = 0; slices->cells != NULL && i < LAB_STATES * slices->count; i++) {
        for (int unit = 0; unit < LAB_SIZE_UNITS; unit++)
            free(slices->cells[i].bins[unit].counts);
    }
    free(slices->cells);
    memset(slices, 0, sizeof *slices);
}
