/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: late rows, rounded times and a backfill change the times at which rows arrive, and nothing else.
 * Method: the rows with these modifiers are compared with the rows without them; lateness and history with
 * their distributions, at fixed seeds. The bounds are 6.2 standard deviations, so that a false alarm has a
 * chance below 1e-9. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made.h"

#include <math.h>
#include <string.h>

#include "workload/workload.h"

#define SIGMAS 6.2

struct rows {
    size_t count;
    int64_t *times_ns, *late_ns;
    uint64_t *ids, *bytes;
};

static void rows_free(struct rows *rows)
{
    free(rows->times_ns);
    free(rows->late_ns);
    free(rows->ids);
    free(rows->bytes);
}

/* All rows of a key, drawn `most` at a time. */
static struct rows all_rows(const struct wl_workload *workload, uint64_t key_index, size_t most)
{
    struct rows rows = {0};
    struct wl_rows source;
    size_t got, room = 0;
    wl_rows_init(&source, workload, key_index);
    do {
        if (rows.count + most > room) {
            room = 2 * room + most;
            rows.times_ns = realloc(rows.times_ns, room * sizeof(int64_t));
            rows.late_ns = realloc(rows.late_ns, room * sizeof(int64_t));
            rows.ids = realloc(rows.ids, room * sizeof(uint64_t));
            rows.bytes = realloc(rows.bytes, room * sizeof(uint64_t));
            assert_true(rows.times_ns && rows.late_ns && rows.ids && rows.bytes);
        }
        const struct wl_columns columns = {rows.times_ns + rows.count, rows.ids + rows.count,
                                           rows.bytes + rows.count, rows.late_ns + rows.count};
        got = wl_rows_next(&source, INT64_MAX, most, &columns);
        rows.count += got;
    } while (got == most);
    return rows;
}

static struct wl_workload made_late(void)
{
    struct wl_workload made = made_plain(4, 4, SIM_DAY);
    made.row_bytes = (struct sim_size){.kind = SIM_SIZE_LOGNORMAL, .a = 350, .b = 1};
    assert_int_equal(sim_size_prepare(&made.row_bytes), 0);
    made.late_share = 0.1;
    made.late_mean_ns = SIM_HOUR;
    return made;
}

static void give_history(struct wl_workload *made, enum wl_order order)
{
    made->backfill_before_ns = 5 * SIM_DAY;
    made->backfill_lasts_ns = 6 * SIM_HOUR;
    made->backfill_rate_per_s = 0.25;
    made->backfill_order = order;
}

static void test_late_rows_are_the_same_rows(void **state)
{
    (void)state;
    struct wl_workload workload = made_late(), plain = workload;
    plain.late_share = 0;
    for (uint64_t key = 0; key < workload.key_count; key++) {
        struct made_rows live = made_all(&plain, key);
        struct rows late = all_rows(&workload, key, 512);
        assert_int_equal(live.count, late.count);
        assert_memory_equal(live.times_ns, late.times_ns, live.count * sizeof(int64_t));
        assert_memory_equal(live.ids, late.ids, live.count * sizeof(uint64_t));
        assert_memory_equal(live.bytes, late.bytes, live.count * sizeof(uint64_t));
        made_rows_free(&live);
        rows_free(&late);
    }
}

/* A share of the rows is late by an exponential distribution: tests its mean, and its median, which rules out
 * other distributions. */
static void test_lateness_follows_its_distribution(void **state)
{
    (void)state;
    struct wl_workload workload = made_late();
    double rows = 0, late = 0, above = 0, sum = 0, mean_ns = (double)workload.late_mean_ns;
    double median_ns = mean_ns * 0.693147180559945309;
    for (uint64_t key = 0; key < workload.key_count; key++) {
        struct rows drawn = all_rows(&workload, key, 512);
        rows += (double)drawn.count;
        for (size_t i = 0; i < drawn.count; i++) {
            assert_in_range(drawn.late_ns[i], 0, wl_late_most_ns(&workload));
            late += drawn.late_ns[i] > 0;
            above += (double)drawn.late_ns[i] > median_ns;
            sum += (double)drawn.late_ns[i];
        }
        rows_free(&drawn);
    }
    double share = workload.late_share;
    assert_true(rows > 300000);
    assert_true(fabs(late - share * rows) <= SIGMAS * sqrt(rows * share * (1 - share)));
    assert_true(fabs(sum / late - mean_ns) <= SIGMAS * mean_ns / sqrt(late));
    assert_true(fabs(above - late / 2) <= SIGMAS * sqrt(late) / 2);
}

static void test_own_times_are_rounded_down(void **state)
{
    (void)state;
    struct wl_workload workload = made_late();
    assert_int_equal(wl_own_time(&workload, 1999, 500), 1499);
    workload.resolution_ns = SIM_SECOND;
    assert_int_equal(wl_own_time(&workload, 7 * SIM_SECOND + 1, 0), 7 * SIM_SECOND);
    assert_int_equal(wl_own_time(&workload, 7 * SIM_SECOND, 0), 7 * SIM_SECOND);
    assert_int_equal(wl_own_time(&workload, 7 * SIM_SECOND, 1), 6 * SIM_SECOND);
    assert_int_equal(wl_own_time(&workload, 0, 1), -SIM_SECOND);
    assert_int_equal(wl_own_time(&workload, 0, 2 * SIM_SECOND), -2 * SIM_SECOND);
}

static int64_t own_time(const struct rows *rows, size_t i)
{
    return rows->times_ns[i] - rows->late_ns[i];
}

/* Removes the history: the remaining rows are the live rows, bit for bit, and the history's times are
 * monotonic. */
static size_t check_history(const struct wl_workload *workload, uint64_t key)
{
    struct made_rows live = made_all(workload, key);
    struct rows both = all_rows(workload, key, 512);
    bool is_reverse = workload->backfill_order == WL_REVERSE;
    int64_t begin_ns = workload->start_ns - workload->backfill_before_ns;
    int64_t last_ns = is_reverse ? workload->start_ns : begin_ns;
    size_t lives = 0, history = 0;
    for (size_t i = 0; i < both.count; i++) {
        int64_t time_ns = own_time(&both, i);
        assert_true(i == 0 || both.times_ns[i - 1] <= both.times_ns[i]);
        if (both.late_ns[i] == 0) {
            assert_true(lives < live.count);
            assert_int_equal(live.times_ns[lives], both.times_ns[i]);
            assert_int_equal(live.ids[lives], both.ids[i]);
            assert_int_equal(live.bytes[lives], both.bytes[i]);
            lives++;
            continue;
        }
        assert_true(time_ns >= begin_ns && time_ns < workload->start_ns);
        assert_true(is_reverse ? time_ns <= last_ns : time_ns >= last_ns);
        assert_true(both.times_ns[i] < workload->start_ns + workload->backfill_lasts_ns);
        last_ns = time_ns;
        history++;
    }
    assert_int_equal(lives, live.count);
    made_rows_free(&live);
    rows_free(&both);
    return history;
}

static void test_backfill_goes_in_one_direction_during_the_live_rows(void **state)
{
    (void)state;
    for (int order = WL_FORWARD; order <= WL_REVERSE; order++) {
        struct wl_workload workload = made_late();
        workload.late_share = 0;
        workload.duration_ns = 8 * SIM_HOUR;
        give_history(&workload, (enum wl_order)order);
        double rows = 0, mean = workload.backfill_rate_per_s * (double)workload.backfill_before_ns / 1e9;
        for (uint64_t key = 0; key < workload.key_count; key++)
            rows += (double)check_history(&workload, key);
        assert_true(fabs(rows - mean) <= SIGMAS * sqrt(mean));
    }
}

static void test_rows_in_batches_of_any_size_are_the_same(void **state)
{
    (void)state;
    struct wl_workload workload = made_late();
    give_history(&workload, WL_REVERSE);
    static const size_t sizes[] = {1, 3, 1000};
    struct rows whole = all_rows(&workload, 0, 512);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct rows parts = all_rows(&workload, 0, sizes[i]);
        assert_int_equal(whole.count, parts.count);
        assert_memory_equal(whole.times_ns, parts.times_ns, whole.count * sizeof(int64_t));
        assert_memory_equal(whole.late_ns, parts.late_ns, whole.count * sizeof(int64_t));
        assert_memory_equal(whole.ids, parts.ids, whole.count * sizeof(uint64_t));
        assert_memory_equal(whole.bytes, parts.bytes, whole.count * sizeof(uint64_t));
        rows_free(&parts);
    }
    rows_free(&whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_late_rows_are_the_same_rows),
        cmocka_unit_test(test_lateness_follows_its_distribution),
        cmocka_unit_test(test_own_times_are_rounded_down),
        cmocka_unit_test(test_backfill_goes_in_one_direction_during_the_live_rows),
        cmocka_unit_test(test_rows_in_batches_of_any_size_are_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
