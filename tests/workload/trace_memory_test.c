/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: when out of memory, reading a trace, or sorting its lines, fails with an environment error and leaks
 * nothing. Method: allocation 1, 2, 3 ... fails until reading succeeds. zlib's own allocations are not
 * tested. */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>

#include "../no_memory.h"
#include "trace_file.h"
#include "workload/trace.h"

static bool read_all_as(const char *path, const struct wl_trace_format *format, struct sim_error *error)
{
    struct wl_trace *trace;
    if (!wl_trace_open_as(path, format, &trace, error)) {
        return false;
    }
    struct wl_trace_batch batch;
    struct wl_trace_lines *lines = wl_trace_lines_create(path, wl_trace_has_counts(trace));
    bool more = true;
    bool fine = lines != NULL || sim_fail_memory(error);
    while (fine && more) {
        fine =
            wl_trace_next(trace, &batch, &more, error) && (!more || wl_trace_lines_put(lines, &batch, error));
    }
    fine = fine && wl_trace_lines_turn(lines, error);
    for (more = true; fine && more;) {
        fine = wl_trace_lines_next(lines, &batch, &more, error);
    }
    wl_trace_lines_destroy(lines);
    wl_trace_close(trace);
    return fine;
}

static void read_text_with_refusals(const char *text, size_t size, const struct wl_trace_format *format)
{
    struct trace_file file = trace_file_plain(text, size);
    long refused = 0;
    for (bool fine = false; !fine; refused++) {
        struct sim_error error = {0};
        allocations_left = refused;
        fine = read_all_as(file.path, format, &error);
        bool is_spent = allocations_left < 0;
        allocations_left = ALLOCATIONS_WITHOUT_END;
        assert_true(fine != is_spent);
        assert_int_equal(error.class, fine ? SIM_ERROR_NONE : SIM_ERROR_ENVIRONMENT);
    }
    /* The trace, its path, the buffer, and the table's three arrays, which grow at least once. */
    assert_true(refused > 7);
    trace_file_remove(&file);
}

static void read_with_refusals(const char *header)
{
    static char text[200 * 32];
    const struct wl_trace_format plain = {.sort = false};
    size_t size = (size_t)snprintf(text, sizeof text, "%s\n", header);
    for (int i = 0; i < 200; i++) {
        size += (size_t)snprintf(text + size, sizeof text - size, "%d,%d,1\n", i, i);
    }
    read_text_with_refusals(text, size, &plain);
}

static void test_trace_by_columns_without_memory_fails_clean(void **state)
{
    static char time[] = "1", key[] = "2", part[] = "3", json_key[] = "k", json_time[] = "t";
    static char csv[200 * 48], json[200 * 48];
    const struct wl_trace_format by_number = {.columns = {.time = time, .key = {key, part}, .key_count = 2}};
    const struct wl_trace_format by_name = {
        .columns = {.time = json_time, .key = {json_key}, .key_count = 1}};
    struct wl_trace_format sorted = by_number;
    size_t csv_size = 0, json_size = 0;
    (void)state;
    for (int i = 0; i < 200; i++) {
        csv_size += (size_t)snprintf(csv + csv_size, sizeof csv - csv_size, "%d;\"a\"\"%d\";b\n", i, i);
        json_size +=
            (size_t)snprintf(json + json_size, sizeof json - json_size, "{\"t\": %d, \"k\": \"%d\"}\n", i, i);
    }
    sorted.sort = true;
    read_text_with_refusals(csv, csv_size, &by_number);
    read_text_with_refusals(csv, csv_size, &sorted);
    read_text_with_refusals(json, json_size, &by_name);
}

static void test_trace_of_bytes_without_memory_fails_clean(void **state)
{
    (void)state;
    read_with_refusals("timestamp_ms,key,bytes");
}

static void test_trace_of_counts_without_memory_fails_clean(void **state)
{
    (void)state;
    read_with_refusals("timestamp_ms,key,count");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trace_of_bytes_without_memory_fails_clean),
        cmocka_unit_test(test_trace_of_counts_without_memory_fails_clean),
        cmocka_unit_test(test_trace_by_columns_without_memory_fails_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
