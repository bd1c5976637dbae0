/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: what the lab takes rows and partitions to weigh, in O(1) a row, is what a real Cassandra 5.0.4 wrote.
 * Method: the tables that tests/cassandra5/bytes.py recorded and a scenario can describe, in both formats;
 * each partition is summed from the payloads and write times of its rows, and may be off by 1 % or 8 bytes.
 * Then rows of all sizes around the bounds of vints against the serialiser, which may differ by 2 bytes, and
 * a table whose columns have sizes of their own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/scenario.h"

#define BASE "duration: 1d\nkeys: {count: 2}\narrivals: {rate: 1/s}\nstrategies: [none: {}]\n"

struct sum {
    const struct lab_row_cost *cost;
    struct lab_row_stamps stamps;
    size_t key_parts; /* bytes of the serialised key that are no key */
    size_t key_size;
    uint64_t rows, bytes, wanted, partitions, worst;
    bool is_open;
};

static struct lab_scenario *load(const char *text)
{
    struct lab_scenario *scenario;
    struct sim_error error;
    char whole[2048];
    snprintf(whole, sizeof whole, BASE "%s", text);
    if (!lab_scenario_parse("x.yaml", whole, strlen(whole), NULL, 0, NULL, &scenario, &error))
        fail_msg("%s", error.text);
    return scenario;
}

/* In thousandths of a percent; 0 within 8 bytes. */
static void end_partition(struct sum *sum)
{
    if (!sum->is_open)
        return;
    uint64_t bytes = sum->bytes + lab_partition_bytes(sum->cost, sum->key_size, sum->rows, sum->bytes);
    uint64_t apart = bytes > sum->wanted ? bytes - sum->wanted : sum->wanted - bytes;
    uint64_t off = apart <= 8 ? 0 : apart * 100000 / sum->wanted;
    sum->worst = off > sum->worst ? off : sum->worst;
    sum->partitions++;
    sum->rows = sum->bytes = 0;
}

static void take_line(struct sum *sum, const char *line)
{
    if (*line == 'T') {
        lab_row_stamps_init(&sum->stamps, sum->cost, strtoll(strstr(line, " ts=") + 4, NULL, 10) * 1000);
    } else if (*line == 'P') {
        end_partition(sum);
        sum->is_open = true;
        sum->key_size = strtoul(line + 2, NULL, 10) - sum->key_parts;
        sum->wanted = strtoull(strstr(line, "=> ") + 3, NULL, 10);
    } else if (*line == 'R') {
        uint64_t payload = 0;
        for (const char *at = line; (at = strchr(at, '=')) != NULL; at++) {
            if (strncmp(at - 4, "live", 4) != 0)
                payload += strtoull(at + 1, NULL, 10);
        }
        int64_t us = strtoll(strstr(line, "live=") + 5, NULL, 10);
        sum->bytes += lab_row_bytes(sum->cost, payload, lab_row_stamp(&sum->stamps, us * 1000));
        sum->rows++;
    }
}

static void check(const char *name, const char *text, size_t key_parts)
{
    static char line[65536];
    char path[512];
    struct lab_scenario *scenario = load(text);
    struct sum sum = {.cost = &scenario->row_cost, .key_parts = key_parts};
    snprintf(path, sizeof path, BUCKETLAB_SOURCE_DIR "/tests/cassandra5/bytes/%s.txt", name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL)
        take_line(&sum, line);
    end_partition(&sum);
    fclose(file);
    print_message("%s: %lu partitions, at most %.3f %% off\n", name, (unsigned long)sum.partitions,
                  (double)sum.worst / 1000);
    assert_true(sum.partitions >= 8);
    assert_true(sum.worst <= 1000);
    lab_scenario_destroy(scenario);
}

static void test_partitions_weigh_what_a_node_wrote(void **state)
{
    (void)state;
    check("text-nb", "", 14);
    check("text-da", "row: {format: da}\n", 14);
    check("bigint-nb",
          "row: {columns: {v: bigint}}\n"
          "table: {name: t, columns: {k: key, b: bucket, at: time, v: data}, partition_key: [k, b], "
          "clustering: [at]}\n",
          14);
    check("timeuuid-nb",
          "table: {name: t, columns: {k: key, id: id, data: data}, partition_key: [k], clustering: [{id: "
          "desc}]}\n",
          0);
    check("timeuuid-da",
          "row: {format: da}\n"
          "table: {name: t, columns: {k: key, id: id, data: data}, partition_key: [k], clustering: [{id: "
          "desc}]}\n",
          0);
}

/* One row as the serialiser has it: its neighbour before it is as large as itself. */
static uint64_t serialised(uint64_t payload, int64_t delta_us)
{
    static const enum cass_type places[] = {CASS_TIMESTAMP, CASS_TIMEUUID}, text[] = {CASS_TEXT};
    const struct cass_sstable sstable = {.clustering = {places, 2}, .regular = {text, 1}};
    const struct cass_bytes place[] = {{NULL, 8}, {NULL, 16}};
    const struct cass_stored_cell cell = {
        .is_present = true, .value = {NULL, payload}, .timestamp_us = delta_us};
    const struct cass_stored_row row = {
        .clustering = place, .has_liveness = true, .timestamp_us = delta_us, .cells = &cell};
    struct cass_sstable_writer writer = {.sstable = &sstable};
    cass_sstable_begin(&writer, NULL, 0, NULL);
    cass_sstable_row(&writer, &row);
    uint64_t one = writer.size;
    cass_sstable_row(&writer, &row);
    return writer.size - one;
}

static void test_rows_weigh_what_the_serialiser_writes(void **state)
{
    (void)state;
    struct lab_scenario *scenario = load("");
    struct lab_row_stamps stamps;
    lab_row_stamps_init(&stamps, &scenario->row_cost, 0);
    for (int bits = 0; bits < 50; bits += 7) {
        int64_t us = bits == 0 ? 0 : INT64_C(1) << bits;
        for (uint64_t payload = 0; payload < 20000; payload += payload < 300 || payload > 16000 ? 1 : 97) {
            uint64_t mine = lab_row_bytes(&scenario->row_cost, payload, lab_row_stamp(&stamps, us * 1000));
            uint64_t real = serialised(payload, us);
            if (mine + 2 < real || mine > real + 2)
                fail_msg("%lu bytes after %ld us: %lu, not %lu", (unsigned long)payload, (long)us,
                         (unsigned long)mine, (unsigned long)real);
        }
    }
    lab_scenario_destroy(scenario);
}

/* 1 + 1 + 24 of flags and clustering, 3 of sizes, 6 of time; cells 1 + 1 + 1, 1 + 1 + 20, 1 + 1 + 79 of 100
 * bytes. */
static void test_columns_divide_the_payload(void **state)
{
    (void)state;
    struct lab_scenario *scenario =
        load("row: {bytes: 100, columns: {level: tinyint, host: {type: text, bytes: 20B}, body: text}}\n");
    assert_int_equal(lab_row_bytes(&scenario->row_cost, 100, LAB_STAMP_USUAL), 26 + 3 + 6 + 3 + 22 + 81);
    assert_int_equal(scenario->workload.row_cells, 3);
    lab_scenario_destroy(scenario);
    scenario = load("row: {columns: {a: bigint, b: int}}\n");
    assert_int_equal((uint64_t)scenario->workload.row_bytes.a, 12);
    assert_int_equal(lab_row_bytes(&scenario->row_cost, 12, LAB_STAMP_USUAL), 26 + 2 + 6 + 9 + 5);
    lab_scenario_destroy(scenario);
    scenario = load("row: {bytes: 100, format: payload}\n");
    assert_int_equal(lab_row_bytes(&scenario->row_cost, 100, LAB_STAMP_USUAL), 100);
    assert_int_equal(lab_partition_bytes(&scenario->row_cost, 9, 5, 500), 0);
    lab_scenario_destroy(scenario);
}

static void test_wrong_columns_are_refused_with_cure(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"row: {bytes: 100, columns: {a: bigint}}\n", "'bytes' of the row means nothing; remove it"},
        {"row: {columns: {a: {type: int, bytes: 5B}}}\n", "type int has 4 bytes; remove 'bytes'"},
        {"row: {columns: {a: text, s: {type: text, static: true}}}\n", "give its size"},
        {"row: {columns: {s: {type: int, static: true}}}\n", "needs a column that is not static; add one"},
        {"row: {columns: {at: int}}\n", "stands in the primary key already"},
        {"row: {columns: {a: counter}}\n", "text, blob, int"},
        {"row: {columns: [a]}\n", "write it as {level: tinyint"},
        {"row: {columns: {b: int}}\ntable: {name: t, columns: {k: key, d: data}, partition_key: [k]}\n",
         "fed by data"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lab_scenario *scenario;
        struct sim_error error;
        char whole[1024];
        snprintf(whole, sizeof whole, BASE "%s", rows[i][0]);
        if (lab_scenario_parse("x.yaml", whole, strlen(whole), NULL, 0, NULL, &scenario, &error))
            fail_msg("%s was taken", rows[i][0]);
        if (strstr(error.text, rows[i][1]) == NULL)
            fail_msg("%s", error.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_partitions_weigh_what_a_node_wrote),
        cmocka_unit_test(test_rows_weigh_what_the_serialiser_writes),
        cmocka_unit_test(test_columns_divide_the_payload),
        cmocka_unit_test(test_wrong_columns_are_refused_with_cure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
