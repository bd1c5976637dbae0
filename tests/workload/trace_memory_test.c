/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a trace that gets no memory fails as the environment's error and leaks nothing. Method: allocation
 * 1, 2, 3 ... fails until reading succeeds by itself. zlib's own allocations are its own. */
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

static bool read_all(const char *path, struct sim_error *error)
{
    struct wl_trace *trace;
    if (!wl_trace_open(path, &trace, error)) {
        return false;
    }
    struct wl_trace_batch batch;
    bool more = true;
    bool fine = true;
    while (fine && more) {
        fine = wl_trace_next(trace, &batch, &more, error);
    }
    wl_trace_close(trace);
    return fine;
}

static void read_with_refusals(const char *header)
{
    static char text[200 * 32];
    size_t size = (size_t)snprintf(text, sizeof text, "%s\n", header);
    for (int i = 0; i < 200; i++) {
        size += (size_t)snprintf(text + size, sizeof text - size, "%d,%d,1\n", i, i);
    }
    struct trace_file file = trace_file_plain(text, size);
    long refused = 0;
    for (bool fine = false; !fine; refused++) {
        struct sim_error error = {0};
        allocations_left = refused;
        fine = read_all(file.path, &error);
        bool is_spent = allocations_left < 0;
        allocations_left = ALLOCATIONS_WITHOUT_END;
        assert_true(fine != is_spent);
        assert_int_equal(error.class, fine ? SIM_ERROR_NONE : SIM_ERROR_ENVIRONMENT);
    }
    /* The trace, its path, the buffer, and the table's three arrays, grown at least once. */
    assert_true(refused > 7);
    trace_file_remove(&file);
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
