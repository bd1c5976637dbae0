/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a timeline reports for each slice what a list of its partitions gives, and does not depend on how its
 * parts were combined. Method: sizes over all octaves go into slices and into plain lists; least and most
 * must equal those of the list, and quantiles may be at most an eighth above. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/random.h"
#include "kernel/time.h"
#include "lab/tally.h"

#define COUNT 20000u
#define START (1767225600 * SIM_SECOND) /* 2026-01-01 */

struct drawn {
    int64_t first_ns;
    bool is_closed;
    struct cass_partition size;
};

/* Rows over the full 64 bits, and bytes above them; most rows of each are early, so that some slices have
 * few. */
static struct drawn *draw(int64_t span_ns)
{
    struct drawn *all = malloc(COUNT * sizeof *all);
    struct sim_random random;
    assert_non_null(all);
    sim_random_init(&random, 1, SIM_ROW_BYTES, 0);
    for (size_t i = 0; i < COUNT; i++) {
        uint64_t into = sim_random_below(&random, (uint64_t)span_ns);
        all[i].first_ns = START + (int64_t)sim_random_below(&random, into + 1);
        all[i].is_closed = sim_random_below(&random, 4) > 0;
        all[i].size.rows = sim_random_next(&random) >> sim_random_below(&random, 64);
        all[i].size.bytes = all[i].size.rows | sim_random_next(&random);
    }
    return all;
}

static struct lab_timeline timeline_of(const struct lab_slices *slices)
{
    struct lab_timeline timeline;
    assert_true(lab_slices_timeline(slices, &timeline));
    return timeline;
}

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void assert_quantile(uint64_t told, const uint64_t *sorted, size_t count, size_t percent)
{
    uint64_t exact = sorted[(count * percent + 99) / 100 - 1];
    assert_true(told >= exact);
    assert_true(told - exact <= exact / 8);
    assert_true(told >= sorted[0] && told <= sorted[count - 1]);
}

static void test_slices_show_what_a_list_shows(void **state)
{
    (void)state;
    struct drawn *all = draw(SIM_DAY);
    uint64_t *sizes = malloc(COUNT * sizeof *sizes), seen = 0;
    struct lab_slices slices = {0};
    lab_slices_begin(&slices, START, START + SIM_DAY);
    for (size_t i = 0; i < COUNT; i++)
        lab_slices_add(&slices, all[i].first_ns, all[i].is_closed, &all[i].size);
    struct lab_timeline timeline = timeline_of(&slices);
    for (size_t i = 0; i < timeline.count; i++) {
        const struct lab_slice *slice = &timeline.items[i];
        assert_true(slice->end_ns - slice->start_ns == 15 * SIM_MINUTE);
        for (int unit = 0; unit < LAB_SIZE_UNITS; unit++) {
            size_t count = 0;
            for (size_t j = 0; j < COUNT; j++) {
                if (all[j].is_closed == (slice->state == LAB_CLOSED) && all[j].first_ns >= slice->start_ns &&
                    all[j].first_ns < slice->end_ns)
                    sizes[count++] = unit == LAB_IN_ROWS ? all[j].size.rows : all[j].size.bytes;
            }
            assert_true(count == slice->partitions);
            qsort(sizes, count, sizeof *sizes, compare);
            const struct lab_slice_sizes *told = &slice->sizes[unit];
            assert_true(told->least == sizes[0] && told->most == sizes[count - 1]);
            assert_quantile(told->p10, sizes, count, 10);
            assert_quantile(told->p50, sizes, count, 50);
            assert_quantile(told->p90, sizes, count, 90);
        }
        seen += slice->partitions;
    }
    assert_int_equal(seen, COUNT);
    free(timeline.items);
    lab_slices_clear(&slices);
    free(sizes);
    free(all);
}

/* Three workers, one of which has no partitions, merged in both orders. */
static void test_slices_merge_to_the_same_whatever_the_split(void **state)
{
    (void)state;
    struct drawn *all = draw(10 * SIM_DAY);
    struct lab_slices whole = {0}, parts[3] = {{0}}, merged[2] = {{0}};
    lab_slices_begin(&whole, START, START + 10 * SIM_DAY);
    for (int i = 0; i < 3; i++)
        lab_slices_begin(&parts[i], START, START + 10 * SIM_DAY);
    for (size_t i = 0; i < COUNT; i++) {
        lab_slices_add(&whole, all[i].first_ns, all[i].is_closed, &all[i].size);
        lab_slices_add(&parts[i % 7 == 0 ? 0 : 2], all[i].first_ns, all[i].is_closed, &all[i].size);
    }
    struct lab_timeline expected = timeline_of(&whole);
    assert_true(expected.count > 100);
    for (int order = 0; order < 2; order++) {
        for (int i = 0; i < 3; i++)
            lab_slices_merge(&merged[order], &parts[order == 0 ? i : 2 - i]);
        struct lab_timeline timeline = timeline_of(&merged[order]);
        assert_int_equal(timeline.count, expected.count);
        for (size_t i = 0; i < timeline.count; i++) {
            const struct lab_slice *a = &timeline.items[i], *b = &expected.items[i];
            assert_int_equal(a->state, b->state);
            assert_true(a->start_ns == b->start_ns && a->end_ns == b->end_ns);
            assert_int_equal(a->partitions, b->partitions);
            assert_memory_equal(a->sizes, b->sizes, sizeof a->sizes);
        }
        free(timeline.items);
        lab_slices_clear(&merged[order]);
    }
    free(expected.items);
    lab_slices_clear(&whole);
    for (int i = 0; i < 3; i++)
        lab_slices_clear(&parts[i]);
    free(all);
}

static void test_slices_are_round_and_at_most_96(void **state)
{
    (void)state;
    const struct {
        int64_t span_ns, slice_ns;
        uint32_t count;
    } cases[] = {{0, 1, 1},
                 {1, 1, 1},
                 {96, 1, 96},
                 {97, 2, 49},
                 {40 * SIM_SECOND, SIM_SECOND / 2, 80},
                 {50 * SIM_SECOND, SIM_SECOND, 50},
                 {SIM_HOUR, SIM_MINUTE, 60},
                 {SIM_DAY, 15 * SIM_MINUTE, 96},
                 {SIM_DAY + 1, 20 * SIM_MINUTE, 73},
                 {10 * SIM_DAY, 3 * SIM_HOUR, 80},
                 {14 * SIM_DAY, 4 * SIM_HOUR, 84},
                 {30 * SIM_DAY, 8 * SIM_HOUR, 90},
                 {365 * SIM_DAY, 5 * SIM_DAY, 73},
                 {INT64_MAX, 2000 * SIM_DAY, 54}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lab_slices slices = {0};
        lab_slices_begin(&slices, 0, cases[i].span_ns);
        assert_int_equal(slices.slice_ns, cases[i].slice_ns);
        assert_int_equal(slices.count, cases[i].count);
        lab_slices_begin(&slices, INT64_MAX - cases[i].span_ns, INT64_MAX);
        assert_int_equal(slices.count, cases[i].count);
    }
    for (int64_t span_ns = 1; span_ns < INT64_MAX / 3; span_ns += 1 + span_ns / 7) {
        struct lab_slices slices = {0};
        lab_slices_begin(&slices, INT64_MIN / 2, INT64_MIN / 2 + span_ns);
        assert_in_range(slices.count, 1, 96);
        /* The worst case of steps of 2 and 5. */
        assert_true(span_ns < 96 || slices.count >= 38);
    }
}

/* Partitions after the end, of a cluster that still answers, belong to the last slice, which ends there. */
static void test_slices_count_outside_rows_at_the_nearest_end(void **state)
{
    (void)state;
    const struct cass_partition sizes[] = {{1, 10}, {2, 20}, {3, 30}};
    const int64_t times[] = {START - 1, START + 100 * SIM_SECOND, START + SIM_DAY};
    struct lab_slices slices = {0};
    lab_slices_begin(&slices, START, START + 97 * SIM_SECOND);
    for (int i = 0; i < 3; i++)
        lab_slices_add(&slices, times[i], true, &sizes[i]);
    struct lab_timeline timeline = timeline_of(&slices);
    assert_int_equal(timeline.count, 2);
    assert_true(timeline.items[0].start_ns == START);
    assert_true(timeline.items[0].end_ns == START + 2 * SIM_SECOND);
    assert_int_equal(timeline.items[0].sizes[LAB_IN_BYTES].most, 10);
    assert_true(timeline.items[1].start_ns == START + 96 * SIM_SECOND);
    assert_true(timeline.items[1].end_ns == START + 97 * SIM_SECOND);
    assert_int_equal(timeline.items[1].partitions, 2);
    assert_int_equal(timeline.items[1].sizes[LAB_IN_ROWS].least, 2);
    assert_int_equal(timeline.items[1].sizes[LAB_IN_ROWS].most, 3);
    free(timeline.items);
    lab_slices_clear(&slices);
}

static void test_slices_without_partitions_give_nothing(void **state)
{
    (void)state;
    struct lab_slices slices = {0}, other = {0};
    struct lab_timeline timeline = timeline_of(&slices);
    assert_null(timeline.items);
    lab_slices_merge(&slices, &other);
    lab_slices_begin(&other, START, START + SIM_DAY);
    lab_slices_merge(&slices, &other);
    timeline = timeline_of(&slices);
    assert_null(timeline.items);
    assert_int_equal(timeline.count, 0);
    lab_slices_clear(&slices);
    lab_slices_clear(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slices_show_what_a_list_shows),
        cmocka_unit_test(test_slices_merge_to_the_same_whatever_the_split),
        cmocka_unit_test(test_slices_are_round_and_at_most_96),
        cmocka_unit_test(test_slices_count_outside_rows_at_the_nearest_end),
        cmocka_unit_test(test_slices_without_partitions_give_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
