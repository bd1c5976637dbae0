/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: lines are returned key by key, each key's lines in their original order and unchanged, in memory or
 * through a file. Method: random lines, with times to the millisecond and to the nanosecond, at the ends of
 * the range of times, with the largest numbers; enough lines for dozens of runs; a folder in which no file
 * can be created; and a file that cannot be written. */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "kernel/random.h"
#include "workload/trace.h"

struct lines_case {
    uint32_t keys;
    uint64_t lines;
    bool has_counts, has_ns, has_extra;
};

static struct wl_trace_batch line_of(const struct lines_case *wanted, uint64_t number)
{
    struct sim_random random;
    sim_random_init(&random, 1, SIM_FUZZ, number);
    struct wl_trace_batch line = {.key_index = (uint32_t)sim_random_below(&random, wanted->keys), .rows = 1};
    int64_t size = (int64_t)(sim_random_next(&random) >> (1 + sim_random_below(&random, 60)));
    uint64_t value = sim_random_next(&random) >> sim_random_below(&random, 64);
    int64_t extra = (int64_t)(sim_random_next(&random) >> (1 + sim_random_below(&random, 60)));
    line.time_ns = sim_random_below(&random, 2) == 0 ? size : -size;
    if (!wanted->has_ns)
        line.time_ns -= line.time_ns % 1000000;
    if (number == 7)
        line.time_ns = wanted->has_ns ? INT64_MIN : INT64_MIN / 1000000 * 1000000;
    if (number == 8)
        line.time_ns = wanted->has_ns ? INT64_MAX : INT64_MAX / 1000000 * 1000000;
    if (wanted->has_counts) {
        line.rows = value;
        line.step_ms = wanted->has_extra ? extra : 0;
    } else {
        line.bytes = value;
        line.late_ns = wanted->has_extra ? extra : 0;
    }
    return line;
}

static void check_case(const struct lines_case *wanted)
{
    struct sim_error error;
    struct wl_trace_batch line;
    bool more;
    struct wl_trace_lines *lines = wl_trace_lines_create("t.csv", wanted->has_counts);
    struct wl_trace_batch *puts = calloc(wanted->lines + 1, sizeof *puts);
    uint64_t *numbers = calloc(wanted->lines + 1, sizeof *numbers); /* of the lines of each key, in order */
    uint64_t *before = calloc(wanted->keys + 1, sizeof *before); /* the lines of the keys before each key */
    assert_true(lines != NULL && puts != NULL && numbers != NULL && before != NULL);
    for (uint64_t i = 0; i < wanted->lines; i++) {
        puts[i] = line_of(wanted, i);
        assert_true(wl_trace_lines_put(lines, &puts[i], &error));
        before[puts[i].key_index + 1]++;
    }
    for (uint32_t key = 0; key < wanted->keys; key++)
        before[key + 1] += before[key];
    for (uint64_t i = 0; i < wanted->lines; i++)
        numbers[before[puts[i].key_index]++] = i;
    assert_true(wl_trace_lines_turn(lines, &error));
    for (uint64_t i = 0; i < wanted->lines; i++) {
        const struct wl_trace_batch put = puts[numbers[i]];
        assert_true(wl_trace_lines_next(lines, &line, &more, &error));
        assert_true(more);
        assert_int_equal(line.key_index, put.key_index);
        assert_true(line.time_ns == put.time_ns && line.step_ms == put.step_ms &&
                    line.late_ns == put.late_ns);
        assert_true(line.rows == put.rows && line.bytes == put.bytes);
    }
    assert_true(wl_trace_lines_next(lines, &line, &more, &error) && !more);
    wl_trace_lines_destroy(lines);
    free(before);
    free(numbers);
    free(puts);
}

static void test_lines_come_key_by_key_as_they_were_put(void **state)
{
    static const struct lines_case cases[] = {
        {.keys = 1, .lines = 0},
        {.keys = 1, .lines = 1},
        {.keys = 3, .lines = 100, .has_counts = true},
        {.keys = 40, .lines = 9000, .has_ns = true, .has_extra = true},
        {.keys = 40, .lines = 9000, .has_counts = true, .has_extra = true},
        /* Several megabytes, so that most of them go through a file. */
        {.keys = 3, .lines = 400000, .has_ns = true, .has_extra = true},
        {.keys = 300, .lines = 200000},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(&cases[i]);
}

static const struct lines_case large = {.keys = 3, .lines = 300000, .has_ns = true, .has_extra = true};

static void test_lines_stay_in_memory_where_no_file_can_be_made(void **state)
{
    struct rlimit before, none;
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    check_case(&large);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

static void test_lines_report_a_full_disk(void **state)
{
    struct rlimit before, little;
    struct sim_error error = {.class = SIM_ERROR_NONE};
    struct wl_trace_lines *lines = wl_trace_lines_create("t.csv", false);
    bool is_fine = true;
    (void)state;
    assert_non_null(lines);
    assert_ptr_not_equal(signal(SIGXFSZ, SIG_IGN), SIG_ERR);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    little = (struct rlimit){.rlim_cur = 4096, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    for (uint64_t i = 0; is_fine && i < large.lines; i++) {
        const struct wl_trace_batch line = line_of(&large, i);
        is_fine = wl_trace_lines_put(lines, &line, &error);
    }
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_false(is_fine);
    assert_int_equal(error.class, SIM_ERROR_ENVIRONMENT);
    assert_string_equal(error.text,
                        "t.csv: cannot be sorted in a temporary file in /var/tmp or /tmp (File too large); "
                        "free space there");
    wl_trace_lines_destroy(lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_come_key_by_key_as_they_were_put),
        cmocka_unit_test(test_lines_stay_in_memory_where_no_file_can_be_made),
        cmocka_unit_test(test_lines_report_a_full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
