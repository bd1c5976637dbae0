/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the size buckets equal Cassandra's. Method: every offset in the vectors, which come from Cassandra's
 * source and tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cassandra/estimated_histogram.h"
#include "vectors.h"

#define MOST 165

static void test_offsets_are_those_of_cassandra(void **state)
{
    (void)state;
    uint64_t offsets[MOST];
    cass_histogram_offsets(offsets, MOST);
    json_t *root = vectors_load();
    json_t *section = vectors_get(root, "estimated_histogram"), *wanted = vectors_get(section, "offsets_155");
    assert_int_equal(json_array_size(wanted), CASS_HISTOGRAM_OFFSETS);
    size_t index;
    json_t *value;
    json_array_foreach(wanted, index, value)
        assert_int_equal(offsets[index], vectors_int64(json_string_value(value)));
    const char *size;
    json_object_foreach(vectors_get(section, "last_offset_by_size"), size, value)
    {
        size_t count = strtoul(size, NULL, 10);
        assert_in_range(count, 1, MOST);
        assert_int_equal(offsets[count - 1], vectors_int64(json_string_value(vectors_get(value, "last"))));
    }
    json_decref(root);
}

static void test_only_offsets_have_a_previous_offset(void **state)
{
    (void)state;
    uint64_t offsets[CASS_HISTOGRAM_OFFSETS];
    cass_histogram_offsets(offsets, CASS_HISTOGRAM_OFFSETS);
    assert_int_equal(cass_histogram_above(1), 0);
    for (size_t i = 1; i < CASS_HISTOGRAM_OFFSETS; i++)
        assert_int_equal(cass_histogram_above(offsets[i]), offsets[i - 1]);
    assert_int_equal(cass_histogram_above(0), 0);
    assert_int_equal(cass_histogram_above(9), 0);
    assert_int_equal(cass_histogram_above(offsets[CASS_HISTOGRAM_OFFSETS - 1] + 1), 0);
    assert_int_equal(cass_histogram_above(UINT64_MAX), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_offsets_are_those_of_cassandra),
        cmocka_unit_test(test_only_offsets_have_a_previous_offset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
