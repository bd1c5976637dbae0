/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares a histogram with a sorted list of the same random sizes, and a table of tuples with an array of
 * counts. The engine's runs have fewer distinct sizes than a histogram stores exactly, so only this file
 * tests the rounding. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernel/random.h"
#include "lab/histogram.h"
#include "lab/tally.h"
#include "stream_distribution.h"

#define PARTS_MOST 3u
#define TUPLES     300u

static int by_size(const void *left, const void *right)
{
    const struct lab_bin *a = left, *b = right;
    return (a->size > b->size) - (a->size < b->size);
}

/* Adds up entries of the same size. Returns the number of sizes. */
static size_t fold(struct lab_bin *bins, size_t count)
{
    size_t folded = 0;
    qsort(bins, count, sizeof *bins, by_size);
    for (size_t i = 0; i < count; i++) {
        if (folded > 0 && bins[folded - 1].size == bins[i].size) {
            bins[folded - 1].count += bins[i].count;
            bins[folded - 1].weight += bins[i].weight;
        } else {
            bins[folded++] = bins[i];
        }
    }
    return folded;
}

/* The smallest number with at most 12 significant bits that is not below the size. */
static uint64_t rounded(uint64_t size)
{
    uint64_t unit = 1;
    while ((size + unit - 1) / unit > 4096)
        unit *= 2;
    return (size + unit - 1) / unit * unit;
}

static bool is_same(const struct lab_histogram *found, const struct lab_bin *wanted, size_t count)
{
    size_t found_count;
    struct lab_bin *bins = lab_histogram_sorted(found, &found_count);
    bool ok = found_count == count;
    for (size_t i = 0; ok && i < count; i++)
        ok = bins[i].size == wanted[i].size && bins[i].count == wanted[i].count &&
             bins[i].weight == wanted[i].weight;
    free(bins);
    return ok;
}

/* Counts random tuples, empties the table, and repeats this with other tuples. */
static bool check_tuples(struct sim_random *random)
{
    struct lab_tuples tuples;
    bool ok = true;
    lab_tuples_init(&tuples, 1);
    for (int round = 0; ok && round < 30; round++) {
        uint64_t counts[TUPLES] = {0}, first = sim_random_next(random);
        uint32_t distinct = 0;
        uint64_t adds = sim_random_below(random, sim_random_below(random, 2) == 0 ? 20 : TUPLES);
        for (uint64_t i = 0; i < adds; i++) {
            uint64_t which = sim_random_below(random, TUPLES);
            const uint64_t tuple[LAB_TUPLE_WORDS] = {first, which % 3, 0, which};
            uint64_t *count = lab_tuples_get(&tuples, tuple);
            ok = ok && count != NULL && *count == counts[which];
            distinct += counts[which] == 0;
            counts[which]++;
            if (count != NULL)
                *count = counts[which];
        }
        ok = ok && tuples.count == distinct;
        for (uint64_t which = 0; which < TUPLES; which++) {
            const uint64_t tuple[LAB_TUPLE_WORDS] = {first, which % 3, 0, which};
            const uint64_t *count = lab_tuples_find(&tuples, tuple);
            ok = ok && (count == NULL ? 0 : *count) == counts[which];
        }
        lab_tuples_empty(&tuples);
        for (uint32_t i = 0; i < tuples.slot_count; i++)
            ok = ok && tuples.slots[i] == 0;
    }
    lab_tuples_clear(&tuples);
    return ok;
}

static int by_number(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* The sizes of a search, in parts that are merged, and the size of each rank. */
static bool check_sizes(struct sim_random *random)
{
    struct lab_sizes parts[2] = {{.small_count = 0}, {.small_count = 0}};
    const bool is_many = sim_random_below(random, 16) == 0;
    const size_t count =
        is_many ? LAB_SIZES_LISTED + sim_random_below(random, 9) : 1 + sim_random_below(random, 400);
    const uint64_t most = UINT64_C(1) << (1 + sim_random_below(random, is_many ? 12 : 40));
    uint64_t *list = calloc(count, sizeof *list), ranks[6], found[6];
    bool ok = list != NULL;
    for (size_t i = 0; i < count; i++) {
        list[i] = 1 + sim_random_below(random, most);
        lab_sizes_add(&parts[sim_random_below(random, is_many ? 1 : 2)], list[i]);
    }
    lab_sizes_merge(&parts[0], &parts[1]);
    qsort(list, count, sizeof *list, by_number);
    for (int i = 0; i < 6; i++)
        ranks[i] = i == 0 ? 1 : i == 1 ? count : 1 + sim_random_below(random, count);
    ok = lab_sizes_find(&parts[0], ranks, 6, found);
    for (int i = 0; ok && i < 6; i++)
        ok = found[i] == list[count - ranks[i]];
    lab_sizes_clear(&parts[0]);
    lab_sizes_clear(&parts[1]);
    free(list);
    return ok;
}

bool stream_check_histogram(uint64_t seed, char *message, size_t size)
{
    struct sim_random random;
    struct lab_histogram parts[PARTS_MOST];
    sim_random_init(&random, seed, SIM_FUZZ, 4);
    size_t part_count = 1 + sim_random_below(&random, PARTS_MOST);
    size_t count = sim_random_below(&random, 2) == 0
                       ? 1 + sim_random_below(&random, 2000)
                       : LAB_HISTOGRAM_EXACT - 200 + sim_random_below(&random, 1200);
    uint64_t most = UINT64_C(1) << (14 + sim_random_below(&random, 40));
    struct lab_bin *list = calloc(count, sizeof *list);
    if (list == NULL)
        abort();
    for (size_t i = 0; i < part_count; i++)
        lab_histogram_init(&parts[i]);
    lab_wide sum = 0, weighted = 0;
    uint64_t items = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t each = sim_random_below(&random, 50);
        list[i].size = sim_random_below(&random, most);
        list[i].count = 1 + sim_random_below(&random, 3);
        list[i].weight = list[i].count * each;
        lab_histogram_add(&parts[sim_random_below(&random, part_count)], list[i].size, list[i].count, each);
        items += list[i].count;
        sum += (lab_wide)list[i].size * list[i].count;
        weighted += (lab_wide)list[i].size * list[i].weight;
    }
    for (size_t i = 1; i < part_count; i++)
        lab_histogram_merge(&parts[0], &parts[i]);
    size_t distinct = fold(list, count);
    bool ok = parts[0].least == list[0].size && parts[0].most == list[distinct - 1].size &&
              parts[0].count == items && parts[0].sum == sum && parts[0].weighted_sum == weighted &&
              parts[0].is_rounded == (distinct > LAB_HISTOGRAM_EXACT);
    if (distinct > LAB_HISTOGRAM_EXACT) {
        for (size_t i = 0; i < distinct; i++)
            list[i].size = rounded(list[i].size);
        distinct = fold(list, distinct);
    }
    ok = ok && is_same(&parts[0], list, distinct);
    if (!ok)
        snprintf(message, size, "a histogram of %zu sizes up to %" PRIu64 " in %zu parts is not its list",
                 count, most, part_count);
    for (size_t i = 0; i < part_count; i++)
        lab_histogram_clear(&parts[i]);
    free(list);
    if (ok && !check_sizes(&random)) {
        snprintf(message, size, "the size of a rank is not that of a sorted list");
        ok = false;
    }
    if (ok && !check_tuples(&random)) {
        snprintf(message, size, "a table of tuples is not the array of its counts");
        ok = false;
    }
    return ok;
}
