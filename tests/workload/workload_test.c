/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a key's rows do not depend on how they are drawn, nor on other keys. Method: the rows of one call are
 * compared bit for bit with those of many small calls; keys, sizes and modifiers are added one by one; the
 * extremes of rates and durations. rates_test.c tests the distributions of the rates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made.h"

#include <string.h>

static struct wl_spike two_spikes[] = {
    {.at_ns = 3 * SIM_DAY, .lasts_ns = 2 * SIM_HOUR, .factor = 30, .keys_share = 0.5},
    {.at_ns = 3 * SIM_DAY + SIM_HOUR, .lasts_ns = 3 * SIM_HOUR, .factor = 5, .keys_share = 0.5},
};

/* A workload with all features. */
static struct wl_workload made_rich(void)
{
    struct wl_workload made = made_plain(20, 0.1, 9 * SIM_DAY);
    made.has_daily = true;
    made.daily_amplitude = 0.9;
    made.daily_peak_ns = 20 * SIM_HOUR;
    made.has_bursts = true;
    made.burst_on_ns = SIM_HOUR;
    made.burst_off_ns = 5 * SIM_HOUR;
    made.burst_factor = 20;
    made.spike_count = 2;
    made.spikes = two_spikes;
    made.row_bytes = (struct sim_size){.kind = SIM_SIZE_LOGNORMAL, .a = 350, .b = 1};
    assert_int_equal(sim_size_prepare(&made.row_bytes), 0);
    sim_zipf_init(&made.popularity, 1.1, made.key_count);
    return made;
}

static void assert_same_rows(const struct made_rows *a, const struct made_rows *b, bool has_bytes)
{
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->times_ns, b->times_ns, a->count * sizeof *a->times_ns);
    assert_memory_equal(a->ids, b->ids, a->count * sizeof *a->ids);
    if (has_bytes)
        assert_memory_equal(a->bytes, b->bytes, a->count * sizeof *a->bytes);
}

static void test_rows_drawn_in_batches_of_any_size_are_the_same(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 7, 1000, 100000};
    struct wl_workload workload = made_rich();
    for (uint64_t index = 0; index < workload.key_count; index++) {
        struct made_rows whole = made_all(&workload, index);
        assert_true(index > 0 || whole.count > 1000);
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            struct made_rows parts = {0};
            struct wl_key key;
            wl_key_init(&key, &workload, index);
            while (made_more(&parts, &key, INT64_MAX, sizes[s]) == sizes[s]) {
            }
            assert_same_rows(&whole, &parts, true);
            made_rows_free(&parts);
        }
        made_rows_free(&whole);
    }
}

static void test_rows_drawn_in_pieces_of_time_are_the_same(void **state)
{
    (void)state;
    struct wl_workload workload = made_rich();
    struct sim_random random;
    sim_random_init(&random, 99, SIM_READ, 0);
    for (uint64_t index = 0; index < workload.key_count; index++) {
        struct made_rows whole = made_all(&workload, index), parts = {0};
        struct wl_key key;
        wl_key_init(&key, &workload, index);
        int64_t until_ns = workload.start_ns, end_ns = workload.start_ns + workload.duration_ns;
        while (until_ns < end_ns) {
            /* Advances to a random time, to the next row, or just past it; sometimes goes back, which draws
             * nothing. */
            uint64_t choice = sim_random_below(&random, 8);
            int64_t next_ns = parts.count < whole.count ? whole.times_ns[parts.count] : end_ns;
            if (choice < 5)
                until_ns +=
                    (int64_t)(sim_random_below(&random, 6 * SIM_HOUR) >> sim_random_below(&random, 20));
            else if (choice < 7)
                until_ns = next_ns + (choice == 6) > until_ns ? next_ns + (choice == 6) : until_ns;
            else
                assert_int_equal(made_more(&parts, &key, until_ns - SIM_DAY, 5), 0);
            size_t most = sim_random_below(&random, 20), count;
            do {
                count = made_more(&parts, &key, until_ns, most);
                for (size_t i = parts.count - count; i < parts.count; i++)
                    assert_true(parts.times_ns[i] < until_ns);
            } while (count == most && most > 0);
            /* The call returned fewer rows than requested, so the next row comes later. */
            if (most > 0 && parts.count < whole.count)
                assert_true(whole.times_ns[parts.count] >= until_ns);
        }
        while (made_more(&parts, &key, end_ns, 100) == 100) {
        }
        assert_same_rows(&whole, &parts, true);
        made_rows_free(&whole);
        made_rows_free(&parts);
    }
}

static void test_ids_and_times_do_not_depend_on_sizes(void **state)
{
    (void)state;
    struct wl_workload lognormal = made_rich(), constant = made_rich(), pareto = made_rich();
    constant.row_bytes = (struct sim_size){.kind = SIM_SIZE_CONSTANT, .a = 9};
    pareto.row_bytes = (struct sim_size){.kind = SIM_SIZE_PARETO, .a = 9, .b = 1.5};
    assert_int_equal(sim_size_prepare(&pareto.row_bytes), 0);
    for (uint64_t index = 0; index < lognormal.key_count; index++) {
        struct made_rows a = made_all(&lognormal, index), b = made_all(&constant, index);
        struct made_rows c = made_all(&pareto, index);
        assert_same_rows(&a, &b, false);
        assert_same_rows(&a, &c, false);
        assert_true(a.count == 0 || memcmp(a.bytes, c.bytes, a.count * sizeof *a.bytes) != 0);
        made_rows_free(&a);
        made_rows_free(&b);
        made_rows_free(&c);
    }
}

static void test_ids_do_not_depend_on_the_rate(void **state)
{
    (void)state;
    struct wl_workload few = made_plain(4, 0.01, 9 * SIM_DAY), many = made_rich();
    struct made_rows a = made_all(&few, 3), b = made_all(&many, 3);
    size_t count = a.count < b.count ? a.count : b.count;
    assert_true(count > 500);
    assert_memory_equal(a.ids, b.ids, count * sizeof *a.ids);
    made_rows_free(&a);
    made_rows_free(&b);
}

/* Twice the keys at twice the rate: exactly the same rate for each key. */
static void test_more_keys_do_not_change_the_rows_of_other_keys(void **state)
{
    (void)state;
    struct wl_workload half = made_rich(), whole = made_rich();
    half.key_count = 16;
    whole.key_count = 32;
    whole.rate_per_s = 2 * half.rate_per_s;
    sim_zipf_init(&half.popularity, 0, half.key_count);
    sim_zipf_init(&whole.popularity, 0, whole.key_count);
    for (uint64_t index = 0; index < half.key_count; index++) {
        struct made_rows a = made_all(&half, index), b = made_all(&whole, index);
        assert_same_rows(&a, &b, true);
        made_rows_free(&a);
        made_rows_free(&b);
    }
}

static void test_keys_and_seeds_have_rows_of_their_own(void **state)
{
    (void)state;
    struct wl_workload workload = made_plain(2, 0.1, SIM_DAY), other = workload;
    other.seed = 2;
    struct made_rows rows[] = {made_all(&workload, 0), made_all(&workload, 1), made_all(&other, 0)};
    for (size_t a = 0; a < 3; a++) {
        for (size_t b = 0; b < a; b++) {
            for (size_t i = 0; i < 100; i++) {
                assert_true(rows[a].times_ns[i] != rows[b].times_ns[i]);
                assert_true(rows[a].ids[i] != rows[b].ids[i]);
            }
        }
    }
    for (size_t a = 0; a < 3; a++)
        made_rows_free(&rows[a]);
}

static void test_rows_of_very_quiet_keys_end(void **state)
{
    (void)state;
    static const double rates[] = {0, 1e-300, 1e-30, 1e-12};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct wl_workload workload = made_rich();
        workload.rate_per_s = rates[i];
        assert_true(made_count(&workload, INT64_MIN, INT64_MAX) == 0);
    }
    /* A popularity so skewed that the last share is 0. */
    struct wl_workload steep = made_rich();
    sim_zipf_init(&steep.popularity, 300, steep.key_count);
    struct made_rows rows = made_all(&steep, steep.key_count - 1);
    assert_int_equal(rows.count, 0);
    made_rows_free(&rows);
}

static void test_rows_of_a_very_fast_key_keep_their_rate(void **state)
{
    (void)state;
    struct wl_workload workload = made_plain(1, 1e6, 2 * SIM_SECOND);
    assert_near(made_count(&workload, INT64_MIN, INT64_MAX), 2e6, 2e6);
    /* Late in a long segment, where a double's resolution is coarsest. */
    workload = made_plain(1, 1e-6, 100 * SIM_DAY);
    struct wl_key key;
    wl_key_init(&key, &workload, 0);
    int64_t edge_ns = key.segment_end_ns;
    assert_true(edge_ns - workload.start_ns == INT64_C(1) << 52);
    key.rate_per_ns = 1e-3;
    key.gap_ns = 1e3;
    key.next_ns = (double)(edge_ns - workload.start_ns - SIM_SECOND);
    struct made_rows rows = {0};
    while (made_more(&rows, &key, edge_ns, 1024) == 1024) {
    }
    assert_near((double)rows.count, 1e6, 1e6);
    made_rows_free(&rows);
}

static void test_rows_over_a_hundred_years_keep_their_rate(void **state)
{
    (void)state;
    struct wl_workload workload = made_plain(1, 1e-4, 36525 * SIM_DAY);
    workload.has_daily = true;
    workload.daily_amplitude = 0.5;
    double half = 1e-4 * 36525 * 86400 / 2;
    int64_t middle_ns = workload.start_ns + workload.duration_ns / 2;
    assert_near(made_count(&workload, INT64_MIN, middle_ns), half, half);
    assert_near(made_count(&workload, middle_ns, INT64_MAX), half, half);
}

/* Bursts continue until the last year that int64 can hold. */
static void test_bursts_late_on_the_time_line_still_change(void **state)
{
    (void)state;
    struct wl_workload workload = made_plain(1, 0, 50 * 365 * SIM_DAY);
    workload.start_ns = INT64_C(200) * 365 * SIM_DAY; /* the year 2169 */
    workload.has_bursts = true;
    workload.burst_on_ns = workload.burst_off_ns = SIM_DAY;
    workload.burst_factor = 2;
    struct wl_key key;
    wl_key_init(&key, &workload, 0);
    int64_t end_ns = workload.start_ns + workload.duration_ns, times_ns[1];
    uint64_t ids[1];
    double changes = 0;
    for (bool was_on = key.burst_is_on; key.segment_end_ns < end_ns; was_on = key.burst_is_on) {
        assert_int_equal(wl_key_rows(&key, key.segment_end_ns + 1, 1, times_ns, ids, NULL), 0);
        changes += key.burst_is_on != was_on;
    }
    assert_near(changes, 50 * 365, 50 * 365);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_drawn_in_batches_of_any_size_are_the_same),
        cmocka_unit_test(test_rows_drawn_in_pieces_of_time_are_the_same),
        cmocka_unit_test(test_ids_and_times_do_not_depend_on_sizes),
        cmocka_unit_test(test_ids_do_not_depend_on_the_rate),
        cmocka_unit_test(test_more_keys_do_not_change_the_rows_of_other_keys),
        cmocka_unit_test(test_keys_and_seeds_have_rows_of_their_own),
        cmocka_unit_test(test_rows_of_very_quiet_keys_end),
        cmocka_unit_test(test_rows_of_a_very_fast_key_keep_their_rate),
        cmocka_unit_test(test_rows_over_a_hundred_years_keep_their_rate),
        cmocka_unit_test(test_bursts_late_on_the_time_line_still_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
