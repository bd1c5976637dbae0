/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: when out of memory, reading a file of observed sizes fails with an environment error and leaks
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
#include "workload/observed.h"

static void read_with_refusals(const char *text, size_t size, long least)
{
    struct trace_file file = trace_file_plain(text, size);
    long refused = 0;
    for (bool fine = false; !fine; refused++) {
        struct wl_observed seen;
        struct sim_error error = {0};
        allocations_left = refused;
        fine = wl_observed_read(file.path, WL_OBSERVED_AUTO, NULL, NULL, &seen, &error);
        bool is_spent = allocations_left < 0;
        allocations_left = ALLOCATIONS_WITHOUT_END;
        assert_true(fine != is_spent);
        assert_int_equal(error.class, fine ? SIM_ERROR_NONE : SIM_ERROR_ENVIRONMENT);
        if (!fine)
            assert_null(seen.partitions);
        wl_observed_clear(&seen);
    }
    assert_true(refused > least);
    trace_file_remove(&file);
}

static void test_partitions_without_memory_fail_clean(void **state)
{
    (void)state;
    static char text[300 * 64];
    size_t size = (size_t)snprintf(text, sizeof text,
                                   "key,keyBinary,size,directory,keyspace,table,snapshot,generation\n");
    for (int i = 0; i < 300; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, "\"%d\",%04x,1,/d,k,t,,%d\n", i, i, i);
    /* Buffer, header, table, copy, partitions and their sstables, and two tables of keys, all of which
     * grow. */
    read_with_refusals(text, size, 20);
}

static void test_percentiles_without_memory_fail_clean(void **state)
{
    (void)state;
    static const char text[] =
        "k/t histograms\nPercentile SSTables Write Latency Read Latency Partition Size "
        "Cell Count\n(micros) (micros) (bytes)\n50% 1 1 1 2 1\n75% 1 1 1 2 1\n95% 1 1 1 "
        "2 1\n98% 1 1 1 2 1\n99% 1 1 1 2 1\nMin 1 1 1 2 1\nMax 1 1 1 2 1\n";
    read_with_refusals(text, sizeof text - 1, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_partitions_without_memory_fail_clean),
        cmocka_unit_test(test_percentiles_without_memory_fail_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
