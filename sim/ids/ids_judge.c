/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares the bits of ids with random bits: each bit, pairs of bits, bits of consecutive ids, and all bits
 * together. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "ids/ids.h"

#define SNOWFLAKE_PROCESS_SHIFT 12u
#define SNOWFLAKE_PROCESS_MASK  0x3ffu

/* The parts of an id that the tests use. */
struct place {
    uint64_t process, bits[2]; /* the lowest bits of the id, and those of bk_id_bits() */
    size_t index;
};

/* A set of bits under test, over all ids or those of one process. */
struct series {
    const struct place *places;
    size_t count;
    int set;
    uint32_t bits;
    bool is_of_process;
};

static const uint8_t *bytes_of(const struct ids_sample *sample, size_t i, size_t *size)
{
    size_t begin = i == 0 ? 0 : sample->ends[i - 1];
    *size = sample->ends[i] - begin;
    return sample->bytes + begin;
}

static uint64_t lowest_bits(const uint8_t *bytes, size_t size)
{
    uint64_t value = 0;
    for (size_t i = size < 8 ? 0 : size - 8; i < size; i++)
        value = value << 8 | bytes[i];
    return value;
}

/* The process that made an id: the clock sequence and node of a timeuuid, the ten bits above the sequence of
 * a Snowflake. */
static uint64_t process_of(enum bk_id_kind kind, uint64_t lowest)
{
    if (kind == BK_ID_TIMEUUID)
        return lowest;
    return kind == BK_ID_SNOWFLAKE ? lowest >> SNOWFLAKE_PROCESS_SHIFT & SNOWFLAKE_PROCESS_MASK : 0;
}

static int by_process(const void *a, const void *b)
{
    const struct place *one = a, *other = b;
    if (one->process != other->process)
        return one->process < other->process ? -1 : 1;
    return one->index < other->index ? -1 : one->index > other->index;
}

static int by_bits(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return one < other ? -1 : one > other;
}

/* The two-sided p-value: twice the smaller tail. */
static double chance_of(size_t hits, size_t count, double share)
{
    unsigned k = (unsigned)hits, n = (unsigned)count;
    double low = gsl_cdf_binomial_P(k, share, n), high = k == 0 ? 1 : gsl_cdf_binomial_Q(k - 1, share, n);
    return fmin(1, 2 * fmin(low, high));
}

static void test(const struct series *series, enum ids_test kind, uint32_t bit, uint32_t other, size_t hits,
                 size_t count, double expected, struct ids_bits *out, size_t *tests)
{
    double chance = chance_of(hits, count, expected);
    ++*tests;
    if (*tests > 1 && chance >= out->chance)
        return;
    out->test = kind;
    out->bit = bit;
    out->other = other;
    out->is_of_process = series->is_of_process;
    out->share = (double)hits / (double)count;
    out->chance = chance;
}

static uint32_t constant_bits(const struct series *series)
{
    uint64_t changed = 0, mask = (UINT64_C(1) << series->bits) - 1;
    for (size_t i = 1; i < series->count; i++)
        changed |= series->places[i].bits[series->set] ^ series->places[0].bits[series->set];
    return series->bits - (uint32_t)__builtin_popcountll(changed & mask);
}

static void judge_series(const struct series *series, struct ids_bits *out, size_t *tests)
{
    size_t ones[IDS_BITS_MAX] = {0}, again[IDS_BITS_MAX] = {0}, fired = 0;
    size_t equal[IDS_BITS_MAX][IDS_BITS_MAX] = {{0}};
    uint64_t mask = (UINT64_C(1) << series->bits) - 1;
    for (size_t i = 0; i < series->count; i++) {
        uint64_t bits = series->places[i].bits[series->set];
        uint64_t same = i == 0 ? 0 : ~(bits ^ series->places[i - 1].bits[series->set]);
        fired += (bits & mask) == mask;
        for (uint32_t bit = 0; bit < series->bits; bit++) {
            ones[bit] += bits >> bit & 1;
            again[bit] += same >> bit & 1;
            for (uint32_t other = 0; other < bit; other++)
                equal[bit][other] += (~(bits >> bit ^ bits >> other)) & 1;
        }
    }
    for (uint32_t bit = 0; bit < series->bits; bit++) {
        test(series, IDS_TEST_BIT, bit, 0, ones[bit], series->count, 0.5, out, tests);
        test(series, IDS_TEST_SERIAL, bit, 0, again[bit], series->count - 1, 0.5, out, tests);
        for (uint32_t other = 0; other < bit; other++)
            test(series, IDS_TEST_PAIR, bit, other, equal[bit][other], series->count, 0.5, out, tests);
    }
    test(series, IDS_TEST_FIRE, 0, 0, fired, series->count, ldexp(1, -(int)series->bits), out, tests);
    uint32_t constant = constant_bits(series);
    if (!series->is_of_process)
        out->fires = (double)fired / (double)series->count;
    if (constant > out->constant)
        out->constant = constant;
}

/* Tests all ids in the order of the file, and then the ids of each process, for which the ids are sorted. */
static void judge_all(struct place *places, size_t count, uint32_t bits, bool has_processes,
                      struct ids_verdict *out)
{
    struct ids_bits *const sets[] = {&out->lowest, &out->taken};
    size_t tests[2] = {0, 0};
    for (int set = 0; set < 2; set++)
        judge_series(&(struct series){places, count, set, bits, false}, sets[set], &tests[set]);
    if (has_processes)
        qsort(places, count, sizeof *places, by_process);
    for (size_t begin = 0, end; has_processes && begin < count; begin = end) {
        for (end = begin + 1; end < count && places[end].process == places[begin].process;)
            end++;
        out->processes++;
        for (int set = 0; set < 2 && end - begin >= IDS_LEAST && end - begin < count; set++)
            judge_series(&(struct series){places + begin, end - begin, set, bits, true}, sets[set],
                         &tests[set]);
    }
    for (int set = 0; set < 2; set++) {
        sets[set]->chance = fmin(1, sets[set]->chance * (double)tests[set]);
        sets[set]->is_random = sets[set]->chance >= IDS_CHANCE;
    }
}

bool ids_judge(const struct ids_sample *sample, uint32_t bits, struct ids_verdict *out,
               struct sim_error *error)
{
    struct place *places = calloc(sample->count, sizeof *places);
    uint64_t *all = calloc(sample->count, sizeof *all);
    *out = (struct ids_verdict){.count = sample->count};
    if (places == NULL || all == NULL) {
        free(places);
        free(all);
        return sim_fail_memory(error);
    }
    for (size_t i = 0; i < sample->count; i++) {
        size_t size;
        const uint8_t *bytes = bytes_of(sample, i, &size);
        uint64_t lowest = lowest_bits(bytes, size), taken;
        (void)bk_id_bits(sample->kind, bytes, size,
                         &taken); /* cannot fail, since ids_read() checked the id */
        places[i] = (struct place){process_of(sample->kind, lowest), {lowest, taken}, i};
        all[i] = taken;
    }
    qsort(all, sample->count, sizeof *all, by_bits);
    for (size_t i = 1; i < sample->count; i++)
        out->repeated += all[i] == all[i - 1];
    free(all);
    judge_all(places, sample->count, bits, sample->kind == BK_ID_TIMEUUID || sample->kind == BK_ID_SNOWFLAKE,
              out);
    free(places);
    return true;
}

const char *ids_trap(enum bk_id_kind kind)
{
    switch (kind) {
    case BK_ID_TIMEUUID:
        return "The low half of a timeuuid is the clock sequence and the node, which one process never "
               "changes: all of its rows would count, or none.";
    case BK_ID_UUID7:
        return "Generators of UUIDs v7 may add 1 to the lowest bits within a millisecond, so rows that come "
               "together would count together.";
    case BK_ID_ULID:
        return "Generators of ULIDs may add 1 to the lowest bits within a millisecond, so rows that come "
               "together would count together.";
    case BK_ID_SNOWFLAKE:
        return "The low 12 bits of a Snowflake are a sequence that starts at 0 in each millisecond: hardly "
               "any row would count.";
    case BK_ID_BYTES:
        return "Nothing says that the last bits of such ids are random.";
    case BK_ID_UUID4:
    case BK_ID_KIND_COUNT:
        break;
    }
    return NULL;
}
