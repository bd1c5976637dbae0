/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: when out of memory, measuring a sample of rows fails with an environment error and leaks nothing.
 * Method: allocation 1, 2, 3 ... fails until the measurement succeeds, with enough rows to make every array
 * grow. liblz4's own allocations are not tested. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../no_memory.h"
#include "../share.h"
#include "sample/sample.h"

#define ROWS 120
#define PATH "sample_memory_test.csv"

static const char scenario_text[] =
    "duration: 1d\nkeys: {count: 2}\narrivals: {rate: 1/s}\nstrategies: [unbucketed: {}]\n"
    "row: {columns: {level: tinyint, host: text, body: blob, owner: {type: text, bytes: 20B, static: "
    "true}}}\n"
    "table: {name: columns, columns: {key: key, bucket: bucket, at: time, id: id, level: data, host: data, "
    "body: data, owner: data}, partition_key: [key, bucket], clustering: [at, id]}\n";

static void write_file(void)
{
    FILE *file = fopen(PATH, "wb");
    assert_non_null(file);
    fprintf(file, "key,at,id,level,host,body,owner\n");
    for (int i = 0; i < ROWS; i++)
        fprintf(
            file,
            "k%d,2026-01-01 00:%02d:%02d.000+0000,d5513760-e6a4-11f0-8001-%012x,%d,\"h,%d\",0x%0600d,me\n",
            i % 3, i / 60, i % 60, (unsigned)i, i % 100, i, i);
    fclose(file);
}

static void test_sample_without_memory_fails_clean(void **state)
{
    (void)state;
    struct lab_scenario *scenario;
    struct sample_figures figures;
    struct sim_error error = {0};
    long refused = 0;
    write_file();
    if (!lab_scenario_parse("x.yaml", scenario_text, strlen(scenario_text), NULL, 0, NULL, &scenario, &error))
        fail_msg("%s", error.text);
    for (bool fine = false; !fine; refused = test_next_fault(refused)) {
        error = (struct sim_error){0};
        allocations_left = refused;
        fine = sample_measure(scenario, PATH, &figures, &error);
        bool is_spent = allocations_left < 0;
        allocations_left = ALLOCATIONS_WITHOUT_END;
        if (fine == is_spent)
            fail_msg("allocation %ld: %s", refused, fine ? "its failure went unseen" : error.text);
        assert_int_equal(error.class, fine ? SIM_ERROR_NONE : SIM_ERROR_ENVIRONMENT);
    }
    assert_int_equal(figures.rows, ROWS);
    assert_int_equal(figures.partitions, 3);
    /* The values of each row alone take seven allocations. */
    assert_true(refused > 7 * ROWS);
    lab_scenario_destroy(scenario);
    remove(PATH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sample_without_memory_fails_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
