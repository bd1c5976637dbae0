/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a sample of rows becomes the sstable that Cassandra would write for them, and compresses as that
 * sstable does. Method: the tables that tests/cassandra5/compression.py loaded into a real Cassandra 5.0.4:
 * bytes before compression are equal, and those of Data.db within 0.5 %, since liblz4's version may differ
 * from the node's (with 1.9 they are equal). Then files written here: order, quotes, types, rows that replace
 * others, and every mistake with its place and remedy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lab/scenario_of.h"
#include "sample/sample.h"

#define RECORDED BUCKETLAB_SOURCE_DIR "/tests/cassandra5/compression/"
#define BASE     "duration: 1d\nkeys: {count: 2}\narrivals: {rate: 1/s}\nstrategies: [unbucketed: {}]\n"
#define ID       "d5513760-e6a4-11f0-8001-00000000004d"
#define ID_LATER "d5513761-e6a4-11f0-8001-00000000004d"

static bool measure(const char *table, const char *path, struct sample_figures *out, struct sim_error *error)
{
    struct lab_scenario *scenario = scenario_of(BASE, table);
    bool ok = sample_measure(scenario, path, out, error);
    lab_scenario_destroy(scenario);
    return ok;
}

static bool measure_text(const char *table, const char *text, struct sample_figures *out,
                         struct sim_error *error)
{
    FILE *file = fopen("sample_test.csv", "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    fclose(file);
    return measure(table, "sample_test.csv", out, error);
}

static struct sample_figures good(const char *table, const char *text)
{
    struct sample_figures figures;
    struct sim_error error;
    if (!measure_text(table, text, &figures, &error))
        fail_msg("%s", error.text);
    return figures;
}

static void check_recorded(const char *name, const char *table)
{
    char line[512], wanted_name[32];
    uint64_t bytes, compressed;
    bool is_found = false;
    FILE *file = fopen(RECORDED "recorded.txt", "r");
    assert_non_null(file);
    while (!is_found && fgets(line, sizeof line, file) != NULL) {
        assert_int_equal(sscanf(line, "%31s LZ4Compressor data=%" SCNu64 " file=%" SCNu64, wanted_name,
                                &bytes, &compressed),
                         3);
        is_found = strcmp(name, wanted_name) == 0;
    }
    fclose(file);
    assert_true(is_found);
    struct sample_figures figures;
    struct sim_error error;
    snprintf(line, sizeof line, RECORDED "%s.csv.gz", name);
    if (!measure(table, line, &figures, &error))
        fail_msg("%s", error.text);
    assert_int_equal(figures.bytes, bytes);
    compressed -= 9; /* an empty chunk at the end */
    print_message("%s: %" PRIu64 " bytes compressed, %" PRIu64 " on the node\n", name,
                  figures.compressed_bytes, compressed);
    uint64_t apart = figures.compressed_bytes > compressed ? figures.compressed_bytes - compressed
                                                           : compressed - figures.compressed_bytes;
    assert_true(apart * 200 <= compressed);
}

static void test_a_sample_compresses_as_on_a_node(void **state)
{
    (void)state;
    check_recorded("log", "");
    check_recorded(
        "columns",
        "row: {columns: {level: tinyint, host: text, ok: boolean, load: double, body: text, owner: {type: "
        "text, bytes: 20B, static: true}}}\n"
        "table: {name: columns, columns: {key: key, bucket: bucket, at: time, id: id, level: data, host: "
        "data, ok: data, load: data, body: data, owner: data}, partition_key: [key, bucket], clustering: "
        "[at, id]}\n");
    check_recorded("random", "row: {columns: {data: blob}}\n");
}

#define HEADER "key,bucket,at,id,data\n"

/* A partition takes 2 + 15 + 12 bytes and 1 at its end; the clustering of a row takes 24 + 2. */
static void test_rows_are_put_in_order(void **state)
{
    (void)state;
    struct sample_figures one = good("", HEADER "k,1,5," ID ",abc\n");
    assert_int_equal(one.rows, 1);
    assert_int_equal(one.bytes, 2 + 15 + 12 + (26 + 2 + 1 + 5) + 1);
    struct sample_figures forward = good("", HEADER "k,1,5," ID ",abc\nk,1,6," ID ",def\nj,1,7," ID ",ghi\n");
    struct sample_figures backward =
        good("", HEADER "j,1,7," ID ",ghi\nk,1,6," ID ",def\nk,1,5," ID ",abc\n");
    assert_int_equal(forward.rows, 3);
    assert_int_equal(forward.partitions, 2);
    assert_memory_equal(&forward, &backward, sizeof forward);
    /* Of equal primary keys the last row counts; the bucket and the columns may be in any order, or
     * omitted. */
    struct sample_figures same = good("", HEADER "k,1,5," ID ",abc\nk,1,5," ID ",xy\n");
    assert_int_equal(same.rows, 1);
    assert_int_equal(same.bytes, one.bytes - 1);
    same = good("", "data,id,at,key\nabc," ID ",5,k\n\n");
    assert_int_equal(same.bytes, one.bytes);
}

static void test_values_are_as_copy_writes_them(void **state)
{
    (void)state;
    struct sample_figures one = good("", HEADER "k,1,1767225600250," ID ",\"a,\"\"b\"\"\nc\\\"\\\\\"\n");
    struct sample_figures same = good("", HEADER "k,1,2026-01-01 00:00:00.250+0000," ID ",123456789\r\n");
    assert_int_equal(one.bytes, same.bytes);
    static const char *const times[] = {"2026-01-01T01:00:00.250+01:00", "2026-01-01 00:00:00.250",
                                        "2026-01-01 00:00:00.250Z", "2025-12-31 23:30:00.250-0030"};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        char text[256];
        snprintf(text, sizeof text, HEADER "k,1,%s," ID ",123456789\n", times[i]);
        struct sample_figures other = good("", text);
        assert_memory_equal(&other, &same, sizeof same);
    }
    const char *table = "row: {columns: {a: int, b: boolean, c: blob, d: float}}\n";
    struct sample_figures all = good(table, "key,at,id,a,b,c,d\nk,1," ID ",-5,True,0x00ff,1.5\n"
                                            "k,2," ID_LATER ",,,,0\n");
    /* One row has 4 cells of 5, 2, 4 and 5 bytes; the other a vint of missing columns and a cell of 5. Times
     * take 1 and 2 bytes; so does the former row's size, which the row that is written first lacks. */
    assert_int_equal(all.bytes, 29 + (26 + 2 + 2 + 1 + 5) + (26 + 2 + 1 + 16) + 1);
    struct sample_figures counters = good("row: {columns: {n: counter}}\n", "key,at,id,n\nk,1," ID ",7\n");
    assert_int_equal(counters.bytes, 29 + (26 + 2 + 1 + 1 + 1 + 36) + 1);
    struct sample_figures expiring = good("row: {ttl: 1d}\n", HEADER "k,1,5," ID ",abc\n");
    assert_int_equal(expiring.bytes, 29 + (26 + 2 + 1 + 1 + 1 + 5) + 1);
}

static void test_mistakes_are_reported_with_place_and_remedy(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"", "sample_test.csv: a sample without rows; export some, as by COPY"},
        {HEADER, "sample_test.csv: a sample without rows"},
        {"k,1,5," ID ",abc\n",
         "sample_test.csv:1: 'k' is not a column of the scenario's table; name it under row.columns"},
        {"key,bucket,at,id,id\n", "sample_test.csv:1: column 'id' appears twice; remove one"},
        {"key,bucket,at,data\nk,1,5,abc\n",
         "sample_test.csv:1: no column 'id', which is in the table's primary key"},
        {HEADER "k,1,5," ID "\n",
         "sample_test.csv:2: 4 fields where the first line has 5; write a row per line"},
        {HEADER "k,1,5," ID ",a,b\n", "sample_test.csv:2: 6 fields where"},
        {HEADER "k,1,5," ID ",abc\nk,one,5," ID ",abc\n", "sample_test.csv:3: column 'bucket': "},
        {HEADER "k,1,5,77,abc\n", "sample_test.csv:2: column 'id': "},
        {HEADER "k,1,yesterday," ID ",abc\n", "sample_test.csv:2: column 'at': "},
        {HEADER "k,1,," ID ",abc\n",
         "sample_test.csv:2: column 'at' of the primary key is empty; give it a value"},
        {HEADER ",1,5," ID ",abc\n", "sample_test.csv:2: column 'key' of the primary key is empty"},
        {HEADER "k,1,5," ID ",\"abc\n\n", "sample_test.csv:2: a quote that is never closed; close it"},
        {HEADER "k,1,5," ID ",\"abc\"d\n",
         "sample_test.csv:2: text after a closing quote; double the quotes"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sample_figures figures;
        struct sim_error error;
        if (measure_text("", rows[i][0], &figures, &error))
            fail_msg("%s was taken", rows[i][0]);
        if (strncmp(error.text, rows[i][1], strlen(rows[i][1])) != 0)
            fail_msg("%s", error.text);
        assert_int_equal(error.class, SIM_ERROR_INPUT);
    }
    struct sample_figures figures;
    struct sim_error error;
    assert_false(measure("", "no_such.csv", &figures, &error));
    assert_non_null(strstr(error.text, "no_such.csv: sample cannot be opened"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_sample_compresses_as_on_a_node),
        cmocka_unit_test(test_rows_are_put_in_order),
        cmocka_unit_test(test_values_are_as_copy_writes_them),
        cmocka_unit_test(test_mistakes_are_reported_with_place_and_remedy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
