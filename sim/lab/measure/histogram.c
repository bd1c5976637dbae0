/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Histograms of sizes in an open-addressing hash table, exact or rounded; their distance, their archive; and
 * the sizes of a run of `tune`: lists, and the search for one of them by its rank. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"
#include "kernel/random.h"
#include "lab/histogram.h"

#define SLOTS_MIN        64u
#define SIGNIFICANT_BITS 12
#define RADIX_BITS       8
#define RADIX_MASK       ((UINT64_C(1) << RADIX_BITS) - 1)
#define FEW_BINS         32 /* insertion sort is faster */

void lab_histogram_init(struct lab_histogram *histogram)
{
    memset(histogram, 0, sizeof *histogram);
}

void lab_histogram_clear(struct lab_histogram *histogram)
{
    free(histogram->slots);
    lab_histogram_init(histogram);
}

/* How many of the size's low bits are rounded away. */
static inline unsigned rounded_bits(uint64_t size, unsigned significant_bits)
{
    return 64 - significant_bits - (unsigned)__builtin_clzll(size | UINT64_C(1) << (significant_bits - 1));
}

/* The first slot to try for a size; when it is taken, the next ones follow. Eight neighbouring sizes have
 * neighbouring slots; rounded sizes are neighbours if their last significant bits differ by one unit. */
static inline size_t place_of(const struct lab_histogram *histogram, uint64_t size)
{
    unsigned shift = histogram->is_rounded ? rounded_bits(size, SIGNIFICANT_BITS) : 0;
    uint64_t units = size >> shift;
    return (sim_mix64(units >> 3 | (uint64_t)shift << 58) + (units & 7)) & (histogram->slot_count - 1);
}

static inline struct lab_bin *find(const struct lab_histogram *histogram, uint64_t size)
{
    size_t mask = histogram->slot_count - 1, i = place_of(histogram, size);
    while (histogram->slots[i].size != size && histogram->slots[i].count > 0)
        i = (i + 1) & mask;
    return &histogram->slots[i];
}

/* Searches are short while half of the slots are free. A large table is fuller, for the sake of memory. */
static bool is_full(const struct lab_histogram *histogram)
{
    const size_t slots = histogram->slot_count;
    return histogram->used >= (slots < LAB_HISTOGRAM_EXACT ? slots / 2 : slots / 8 * 7);
}

static bool grow(struct lab_histogram *histogram)
{
    struct lab_histogram old = *histogram;
    size_t slot_count = old.slot_count == 0 ? SLOTS_MIN : old.slot_count * 2;
    struct lab_bin *slots = aligned_alloc(SIM_LINE_BYTES, slot_count * sizeof *slots);
    if (slots == NULL) {
        histogram->out_of_memory = true;
        return false;
    }
    /* Not calloc(): if a page is read before it is written, the first write copies the kernel's page of
     * zeros, and interrupts all other threads, which must forget that page. */
    memset(slots, 0, slot_count * sizeof *slots);
    histogram->slots = slots;
    histogram->slot_count = slot_count;
    for (size_t i = 0; i < old.slot_count; i++) {
        if (old.slots[i].count > 0)
            *find(histogram, old.slots[i].size) = old.slots[i];
    }
    free(old.slots);
    return true;
}

static void round_all(struct lab_histogram *histogram);

/* Rounds up to the next number with this many significant bits, so that P(size <= N) is never
 * overestimated. */
static inline uint64_t round_up(uint64_t size, unsigned significant_bits)
{
    uint64_t low = (UINT64_C(1) << rounded_bits(size, significant_bits)) - 1;
    return size > UINT64_MAX - low ? UINT64_MAX : (size + low) & ~low;
}

static void add_bin(struct lab_histogram *histogram, const struct lab_bin *bin)
{
    uint64_t size = histogram->is_rounded ? round_up(bin->size, SIGNIFICANT_BITS) : bin->size;
    if (histogram->slot_count == 0 && !grow(histogram))
        return;
    struct lab_bin *slot = find(histogram, size);
    if (slot->count == 0) {
        if (!histogram->is_rounded && histogram->used == LAB_HISTOGRAM_EXACT) {
            round_all(histogram);
            add_bin(histogram, bin);
            return;
        }
        if (is_full(histogram)) {
            if (!grow(histogram))
                return;
            slot = find(histogram, size);
        }
        histogram->used++;
        slot->size = size;
    }
    slot->count += bin->count;
    slot->weight += bin->weight;
}

static void round_all(struct lab_histogram *histogram)
{
    struct lab_histogram old = *histogram;
    histogram->slots = NULL;
    histogram->slot_count = histogram->used = 0;
    histogram->is_rounded = true;
    for (size_t i = 0; i < old.slot_count; i++) {
        if (old.slots[i].count > 0)
            add_bin(histogram, &old.slots[i]);
    }
    free(old.slots);
}

static lab_wide add_saturating(lab_wide a, lab_wide b)
{
    return a + b < a ? ~(lab_wide)0 : a + b;
}

static lab_wide multiply_saturating(lab_wide a, uint64_t b)
{
    if (b == 1) /* as for most partitions */
        return a;
    /* The 128-bit division is slow, and needed only for sizes above 2^32. */
    if (a >> 64 == 0)
        return a * b;
    return b != 0 && a > ~(lab_wide)0 / b ? ~(lab_wide)0 : a * b;
}

/* Adds to count, sums, least and most. */
static void count_sizes(struct lab_histogram *histogram, uint64_t size, uint64_t count, uint64_t weight_each)
{
    const uint64_t weight = count * weight_each;
    if (histogram->count == 0 || size < histogram->least)
        histogram->least = size;
    if (size > histogram->most)
        histogram->most = size;
    lab_wide square = (lab_wide)size * size;
    histogram->count += count;
    histogram->weight += weight;
    histogram->sum += (lab_wide)size * count;
    histogram->sum_of_squares = add_saturating(histogram->sum_of_squares, multiply_saturating(square, count));
    histogram->weighted_sum += (lab_wide)size * weight;
    histogram->weighted_sum_of_squares =
        add_saturating(histogram->weighted_sum_of_squares, multiply_saturating(square, weight));
}

/* In most cases the size already has a bin. */
static inline void add_to_bin(struct lab_histogram *histogram, const struct lab_bin *bin)
{
    if (histogram->slot_count > 0) {
        struct lab_bin *slot =
            find(histogram, histogram->is_rounded ? round_up(bin->size, SIGNIFICANT_BITS) : bin->size);
        if (slot->count > 0) {
            slot->count += bin->count;
            slot->weight += bin->weight;
            return;
        }
    }
    add_bin(histogram, bin);
}

void lab_histogram_add(struct lab_histogram *histogram, uint64_t size, uint64_t count, uint64_t weight_each)
{
    if (count == 0)
        return;
    count_sizes(histogram, size, count, weight_each);
    add_to_bin(histogram, &(struct lab_bin){size, count, count * weight_each});
}

void lab_histogram_prefetch(const struct lab_histogram *histogram, uint64_t size)
{
    if (histogram->slot_count > 0)
        __builtin_prefetch(&histogram->slots[place_of(
            histogram, histogram->is_rounded ? round_up(size, SIGNIFICANT_BITS) : size)]);
}

void lab_histogram_add_each(struct lab_histogram *histogram, const uint64_t *sizes, size_t count)
{
    uint64_t least = UINT64_MAX, most = 0, sum = 0;
    lab_wide squares = 0;
    if (count == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        uint64_t size = sizes[i];
        least = size < least ? size : least;
        most = size > most ? size : most;
        sum += size;
        squares += (lab_wide)size * size;
        lab_histogram_prefetch(histogram, size);
    }
    if (most >> 32 != 0 || count >> 32 != 0) { /* the sums may have overflowed */
        for (size_t i = 0; i < count; i++)
            lab_histogram_add(histogram, sizes[i], 1, 1);
        return;
    }
    if (histogram->count == 0 || least < histogram->least)
        histogram->least = least;
    if (most > histogram->most)
        histogram->most = most;
    histogram->count += count;
    histogram->weight += count;
    histogram->sum += sum;
    histogram->weighted_sum += sum;
    histogram->sum_of_squares = add_saturating(histogram->sum_of_squares, squares);
    histogram->weighted_sum_of_squares = add_saturating(histogram->weighted_sum_of_squares, squares);
    for (size_t i = 0; i < count; i++)
        add_to_bin(histogram, &(struct lab_bin){sizes[i], 1, 1});
}

/* Copies into a histogram without slots. */
static void copy_slots(struct lab_histogram *into, const struct lab_histogram *from)
{
    if (from->slot_count == 0)
        return;
    struct lab_bin *slots = malloc(from->slot_count * sizeof *slots);
    if (slots == NULL) {
        into->out_of_memory = true;
        return;
    }
    memcpy(slots, from->slots, from->slot_count * sizeof *slots);
    into->slots = slots;
    into->slot_count = from->slot_count;
    into->used = from->used;
}

/* Merges everything but the bins. */
static void merge_figures(struct lab_histogram *into, const struct lab_histogram *from)
{
    if (into->count == 0 || from->least < into->least)
        into->least = from->least;
    if (from->most > into->most)
        into->most = from->most;
    into->count += from->count;
    into->weight += from->weight;
    into->sum += from->sum;
    into->sum_of_squares = add_saturating(into->sum_of_squares, from->sum_of_squares);
    into->weighted_sum += from->weighted_sum;
    into->weighted_sum_of_squares =
        add_saturating(into->weighted_sum_of_squares, from->weighted_sum_of_squares);
    into->out_of_memory = into->out_of_memory || from->out_of_memory;
}

void lab_histogram_merge(struct lab_histogram *into, const struct lab_histogram *from)
{
    if (from->count == 0)
        return;
    merge_figures(into, from);
    if (from->is_rounded && !into->is_rounded)
        round_all(into);
    if (into->slot_count == 0 && into->is_rounded == from->is_rounded) {
        copy_slots(into, from);
        return;
    }
    for (size_t i = 0; i < from->slot_count; i++) {
        if (from->slots[i].count > 0)
            add_bin(into, &from->slots[i]);
    }
}

bool lab_histogram_coarse(const struct lab_histogram *histogram, unsigned significant_bits,
                          struct lab_histogram *out)
{
    assert(significant_bits >= 1 && significant_bits <= SIGNIFICANT_BITS && !histogram->out_of_memory);
    *out = *histogram;
    out->slots = NULL;
    out->slot_count = out->used = 0;
    out->is_rounded = histogram->count > 0;
    for (size_t i = 0; i < histogram->slot_count; i++) {
        struct lab_bin bin = histogram->slots[i];
        bin.size = round_up(bin.size, significant_bits);
        if (bin.count > 0)
            add_bin(out, &bin);
    }
    if (!out->out_of_memory)
        return true;
    lab_histogram_clear(out);
    return false;
}

static void insert_bin(struct lab_bin *bins, size_t last)
{
    const struct lab_bin bin = bins[last];
    for (; last > 0 && bins[last - 1].size > bin.size; last--)
        bins[last] = bins[last - 1];
    bins[last] = bin;
}

/* Radix sort in place from the byte at `shift` down (American flag sort, McIlroy, Bostic and McIlroy 1993).
 */
static void sort_bins(struct lab_bin *bins, size_t count, unsigned shift)
{
    size_t starts[RADIX_MASK + 1], ends[RADIX_MASK + 1] = {0}, end = 0;
    for (size_t i = 0; i < count; i++)
        ends[bins[i].size >> shift & RADIX_MASK]++;
    for (size_t digit = 0; digit <= RADIX_MASK; digit++) {
        starts[digit] = end;
        end = ends[digit] += end;
    }
    for (size_t digit = 0; digit <= RADIX_MASK; digit++) {
        while (starts[digit] < ends[digit]) {
            struct lab_bin *from = &bins[starts[digit]], bin = *from;
            struct lab_bin *place = &bins[starts[bin.size >> shift & RADIX_MASK]++];
            *from = *place;
            *place = bin;
        }
    }
    for (size_t digit = 0, first = 0; shift > 0 && digit <= RADIX_MASK; first = ends[digit++]) {
        if (ends[digit] - first > FEW_BINS)
            sort_bins(bins + first, ends[digit] - first, shift - RADIX_BITS);
        else
            for (size_t i = 1; first + i < ends[digit]; i++)
                insert_bin(bins + first, i);
    }
}

struct lab_bin *lab_histogram_sorted(const struct lab_histogram *histogram, size_t *count)
{
    struct lab_bin *bins = histogram->used > 0 ? malloc(histogram->used * sizeof *bins) : NULL;
    uint64_t most = 0;
    *count = 0;
    for (size_t i = 0; bins != NULL && i < histogram->slot_count; i++) {
        if (histogram->slots[i].count == 0)
            continue;
        most = histogram->slots[i].size > most ? histogram->slots[i].size : most; /* rounding is upwards */
        bins[(*count)++] = histogram->slots[i];
    }
    if (bins != NULL)
        sort_bins(bins, *count, (63 - (unsigned)__builtin_clzll(most | 1)) / RADIX_BITS * RADIX_BITS);
    return bins;
}

/* Found by bisection, which needs no memory and cannot fail. */
uint64_t lab_histogram_quantile(const struct lab_histogram *histogram, double share)
{
    uint64_t low = 0, high = histogram->count == 0 ? 0 : histogram->most;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2, below = 0;
        for (size_t i = 0; i < histogram->slot_count; i++)
            below += histogram->slots[i].size <= middle ? histogram->slots[i].count : 0;
        if ((double)below >= share * (double)histogram->count)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

struct lab_bin *lab_histogram_both(const struct lab_histogram *one, const struct lab_histogram *other,
                                   struct lab_histogram *figures, size_t *count)
{
    lab_histogram_init(figures);
    lab_histogram_merge(figures, one);
    lab_histogram_merge(figures, other);
    struct lab_bin *bins = lab_histogram_sorted(figures, count);
    free(figures->slots);
    figures->slots = NULL;
    figures->slot_count = figures->used = 0;
    return bins;
}

bool lab_histogram_restore(struct lab_histogram *histogram, const struct lab_bin *bins, size_t bin_count,
                           const struct lab_histogram *figures)
{
    struct lab_histogram made = *figures;
    made.slots = NULL;
    made.slot_count = made.used = 0;
    made.out_of_memory = false;
    for (size_t i = 0; i < bin_count; i++)
        add_bin(&made, &bins[i]);
    if (made.out_of_memory) {
        free(made.slots);
        lab_histogram_init(histogram);
        return false;
    }
    *histogram = made;
    return true;
}

/* The largest distance between two cumulative distributions (Kolmogorov and Smirnov). */

static bool sorted_as(const struct lab_histogram *histogram, bool is_rounded, struct lab_bin **out,
                      size_t *count)
{
    struct lab_histogram same;
    lab_histogram_init(&same);
    same.is_rounded = is_rounded;
    lab_histogram_merge(&same, histogram);
    *out = same.out_of_memory ? NULL : lab_histogram_sorted(&same, count);
    lab_histogram_clear(&same);
    return *out != NULL;
}

/* Compares cumulative shares in whole numbers, each multiplied by the total of the other histogram. */
static void compare_shares(const struct lab_bin *one, size_t one_count, lab_wide one_total,
                           const struct lab_bin *other, size_t other_count, lab_wide other_total,
                           struct lab_gap *out)
{
    lab_wide below = 0, other_below = 0, most = 0;
    size_t i = 0, j = 0;
    *out = (struct lab_gap){0};
    while (i < one_count || j < other_count) {
        uint64_t size =
            j == other_count || (i < one_count && one[i].size < other[j].size) ? one[i].size : other[j].size;
        if (i < one_count && one[i].size == size)
            below += one[i++].count;
        if (j < other_count && other[j].size == size)
            other_below += other[j++].count;
        lab_wide a = below * other_total, b = other_below * one_total, gap = a > b ? a - b : b - a;
        if (gap > most) {
            most = gap;
            *out = (struct lab_gap){.size = size,
                                    .one = (double)below / (double)one_total,
                                    .other = (double)other_below / (double)other_total};
        }
    }
    out->distance = (double)most / ((double)one_total * (double)other_total);
}

bool lab_histogram_gap(const struct lab_histogram *one, const struct lab_histogram *other,
                       struct lab_gap *out)
{
    assert(one->count > 0 && other->count > 0);
    struct lab_bin *bins = NULL, *other_bins = NULL;
    size_t count, other_count;
    bool is_rounded = one->is_rounded || other->is_rounded;
    bool is_fine =
        sorted_as(one, is_rounded, &bins, &count) && sorted_as(other, is_rounded, &other_bins, &other_count);
    if (is_fine)
        compare_shares(bins, count, one->count, other_bins, other_count, other->count, out);
    free(bins);
    free(other_bins);
    return is_fine;
}

/* Saves and loads a histogram. */

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

/* Lists of sizes, and the search for one of them by its rank. */

#define CLASSES_AN_OCTAVE 32u
#define CLASSES           (60 * CLASSES_AN_OCTAVE)

static inline size_t count_of(const struct lab_sizes *sizes)
{
    return sizes->small_count + sizes->large_count;
}

static inline uint64_t size_at(const struct lab_sizes *sizes, size_t i)
{
    return i < sizes->small_count ? sizes->small[i] : sizes->large[i - sizes->small_count];
}

static void put_listed(struct lab_histogram *histogram, const struct lab_sizes *sizes)
{
    for (size_t i = 0; i < count_of(sizes); i++)
        lab_histogram_add(histogram, size_at(sizes, i), 1, 1);
}

void lab_sizes_add_more(struct lab_sizes *sizes, uint64_t size)
{
    if (count_of(sizes) == LAB_SIZES_LISTED) {
        put_listed(&sizes->rest, sizes);
        sizes->small_count = sizes->large_count = 0;
    }
    if (size <= UINT32_MAX &&
        sim_grow(&sizes->small, &sizes->small_capacity, sizes->small_count + 1, sizeof *sizes->small))
        sizes->small[sizes->small_count++] = (uint32_t)size;
    else if (size > UINT32_MAX &&
             sim_grow(&sizes->large, &sizes->large_capacity, sizes->large_count + 1, sizeof *sizes->large))
        sizes->large[sizes->large_count++] = size;
    else
        sizes->out_of_memory = true;
}

void lab_sizes_merge(struct lab_sizes *into, const struct lab_sizes *from)
{
    for (size_t i = 0; i < count_of(from); i++)
        lab_sizes_add(into, size_at(from, i));
    lab_histogram_merge(&into->rest, &from->rest);
    into->out_of_memory |= from->out_of_memory;
}

/* Sizes below 2 * CLASSES_AN_OCTAVE have a class each. */
static inline uint32_t class_of(uint64_t size)
{
    if (size < 2 * CLASSES_AN_OCTAVE)
        return (uint32_t)size;
    const uint32_t shift = 58 - (uint32_t)__builtin_clzll(size);
    return shift * CLASSES_AN_OCTAVE + (uint32_t)(size >> shift);
}

/* Moves the sizes above `middle` to the front, and those that are equal to it behind them. Returns their
 * numbers. */
static size_t divide(uint64_t *list, size_t count, uint64_t middle, size_t *equal)
{
    size_t above = 0, from = 0, end = count;
    while (from < end) {
        const uint64_t size = list[from];
        if (size > middle) {
            list[from++] = list[above];
            list[above++] = size;
        } else if (size == middle) {
            from++;
        } else {
            list[from] = list[--end];
            list[end] = size;
        }
    }
    *equal = end - above;
    return above;
}

static uint64_t select_size(uint64_t *list, size_t count, uint64_t rank)
{
    for (;;) {
        const uint64_t middle = list[count / 2];
        size_t equal, above = divide(list, count, middle, &equal);
        if (rank > above && rank <= above + equal)
            return middle;
        if (rank > above) {
            list += above + equal;
            count -= above + equal;
            rank -= above + equal;
        } else {
            count = above;
        }
    }
}

/* The least size of a class. */
static inline uint64_t least_of(uint32_t class)
{
    if (class < 2 * CLASSES_AN_OCTAVE)
        return class;
    const uint32_t shift = class / CLASSES_AN_OCTAVE - 1;
    return (uint64_t)(class - shift * CLASSES_AN_OCTAVE) << shift;
}

/* The classes show how small a size may be to have one of the ranks. Only the larger ones are searched. */
static bool find_listed(const struct lab_sizes *sizes, const uint64_t *ranks, size_t rank_count,
                        uint64_t *out)
{
    uint32_t counts[CLASSES] = {0}, class = 0;
    uint64_t rank = 0, above;
    for (size_t i = 0; i < count_of(sizes); i++) {
        const uint32_t its = class_of(size_at(sizes, i));
        counts[its]++;
        class = its > class ? its : class;
    }
    for (size_t i = 0; i < rank_count; i++)
        rank = ranks[i] > rank ? ranks[i] : rank;
    for (above = counts[class]; class > 0 && above < rank; above += counts[class])
        class --;
    const uint64_t least = least_of(class);
    uint64_t *members = malloc(above * sizeof *members);
    size_t found = 0;
    if (members == NULL)
        return false;
    for (size_t i = 0; i < count_of(sizes); i++) {
        if (size_at(sizes, i) >= least)
            members[found++] = size_at(sizes, i);
    }
    for (size_t i = 0; i < rank_count; i++)
        out[i] = select_size(members, found, ranks[i]);
    free(members);
    return true;
}

static bool find_binned(const struct lab_sizes *sizes, const uint64_t *ranks, size_t rank_count,
                        uint64_t *out)
{
    struct lab_histogram all;
    size_t count;
    lab_histogram_init(&all);
    lab_histogram_merge(&all, &sizes->rest);
    put_listed(&all, sizes);
    struct lab_bin *bins = lab_histogram_sorted(&all, &count);
    const bool is_found = bins != NULL && !all.out_of_memory;
    for (size_t i = 0; is_found && i < rank_count; i++) {
        uint64_t reached = 0;
        size_t bin = count;
        while (bin > 0 && reached < ranks[i])
            reached += bins[--bin].count;
        out[i] = bins[bin].size < all.most ? bins[bin].size : all.most;
    }
    free(bins);
    lab_histogram_clear(&all);
    return is_found;
}

bool lab_sizes_find(const struct lab_sizes *sizes, const uint64_t *ranks, size_t rank_count, uint64_t *out)
{
    return !sizes->out_of_memory && (sizes->rest.count == 0 ? find_listed(sizes, ranks, rank_count, out)
                                                            : find_binned(sizes, ranks, rank_count, out));
}

void lab_sizes_clear(struct lab_sizes *sizes)
{
    free(sizes->small);
    free(sizes->large);
    lab_histogram_clear(&sizes->rest);
    memset(sizes, 0, sizeof *sizes);
}
