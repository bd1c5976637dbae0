/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the sizes that the lab computes for rows and partitions, in O(1) per row, equal those that a real
 * Cassandra 5.0.4 wrote. Method: tests/cassandra5/bytes.py recorded eight tables, and each is
 * described as a scenario. Each partition is summed from the payloads and write times of its rows, and may be
 * off by 1 % or 8 bytes. A scenario cannot say which partitions have static values, so each partition of that
 * table is compared with a scenario for exactly its own. Then rows of all sizes around the bounds of vints
 * are compared with the serialiser, within 2 bytes, and so is a table whose columns have different sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../scenario_of.h"
#include "lab/scenario.h"

#define BASE "duration: 1d\nkeys: {count: 2}\narrivals: {rate: 1/s}\nstrategies: [unbucketed: {}]\n"

struct sum {
    const struct lab_row_cost *cost;
    struct lab_row_stamps stamps;
    size_t key_parts; /* bytes of the serialised key besides the key */
    size_t key_size;
    uint64_t rows, bytes, wanted, partitions, worst;
    bool is_open;
    /* If each partition has a separate scenario: the text before its static columns. */
    const char *of_each;
    struct lab_scenario *own;
};

/* The error is in thousandths of a percent, and 0 within 8 bytes. */
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

/* Describes a partition with exactly the static values of the line `S`. */
static void say_statics(struct sum *sum, const char *line)
{
    static const char *const names[] = {"owner", "quota"};
    char text[1024], columns[2][96];
    for (int i = 0; i < 2; i++) {
        char name[16];
        snprintf(name, sizeof name, " %s=", names[i]);
        const char *at = line == NULL ? NULL : strstr(line, name);
        unsigned long size = at == NULL ? 20 : strtoul(at + strlen(name), NULL, 10);
        if (i == 0)
            snprintf(columns[i], sizeof *columns, "type: text, bytes: %luB, present: %s", size,
                     at == NULL ? "0%" : "100%");
        else
            snprintf(columns[i], sizeof *columns, "type: int, present: %s", at == NULL ? "0%" : "100%");
    }
    snprintf(
        text, sizeof text,
        "%sowner: {%s, static: true}, quota: {%s, static: true}}}\n"
        "table: {name: t, columns: {k: key, b: bucket, at: time, name: {values: 9, bytes: 9B}, data: data, "
        "owner: data, quota: data}, partition_key: [k, b], clustering: [at, name]}\n",
        sum->of_each, columns[0], columns[1]);
    lab_scenario_destroy(sum->own);
    sum->own = scenario_of(BASE, text);
    sum->cost = &sum->own->row_cost;
}

static void take_line(struct sum *sum, const char *line)
{
    if (*line == 'T') {
        lab_row_stamps_init(&sum->stamps, sum->cost, strtoll(strstr(line, " ts=") + 4, NULL, 10) * 1000);
    } else if (*line == 'P') {
        end_partition(sum);
        sum->is_open = true;
        if (sum->of_each != NULL)
            say_statics(sum, NULL);
        sum->key_size = strtoul(line + 2, NULL, 10) - sum->key_parts;
        sum->wanted = strtoull(strstr(line, "=> ") + 3, NULL, 10);
    } else if (*line == 'S') {
        say_statics(sum, line);
    } else if (*line == 'R') {
        uint64_t payload = 0;
        for (const char *at = line; (at = strchr(at, '=')) != NULL; at++) {
            if (strncmp(at - 4, "live", 4) != 0)
                payload += strtoull(at + 1, NULL, 10);
        }
        const char *live = strstr(line, "live=");
        int64_t us = strtoll(live == NULL ? strchr(line, '@') + 1 : live + 5, NULL, 10);
        sum->bytes += lab_row_bytes(sum->cost, payload, lab_row_stamp(&sum->stamps, us * 1000));
        sum->rows++;
    }
}

static void check(const char *name, const char *text, size_t key_parts)
{
    static char line[65536];
    char path[512];
    struct lab_scenario *scenario = scenario_of(BASE, strncmp(name, "static", 6) == 0 ? "" : text);
    struct sum sum = {.cost = &scenario->row_cost, .key_parts = key_parts};
    sum.of_each = strncmp(name, "static", 6) == 0 ? text : NULL;
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
    lab_scenario_destroy(sum.own);
}

#define CELLS_OF(tens)                                                                                       \
    "c" tens "0: {type: int, present: 80%}, c" tens "1: {type: boolean, present: 80%}, c" tens               \
    "2: {type: tinyint, present: 80%}, c" tens "3: {type: smallint, present: 80%}, c" tens                   \
    "4: {type: float, present: 80%}, c" tens "5: {type: double, present: 80%}, c" tens                       \
    "6: {type: bigint, present: 80%}, c" tens "7: {type: text, bytes: 28B, present: 80%}, c" tens            \
    "8: {type: blob, bytes: 2B, present: 80%}, c" tens "9: {type: uuid, present: 80%}"
#define FEEDS_OF(tens)                                                                                       \
    "c" tens "0: data, c" tens "1: data, c" tens "2: data, c" tens "3: data, c" tens "4: data, c" tens       \
    "5: data, c" tens "6: data, c" tens "7: data, c" tens "8: data, c" tens "9: data"
#define CELLS                                                                                                \
    CELLS_OF("0")                                                                                            \
    ", " CELLS_OF("1") "}}\n"                                                                                \
                       "table: {name: t, columns: {k: key, b: bucket, id: id, " FEEDS_OF("0") ", " FEEDS_OF( \
                           "1") "}, partition_key: [k, b], clustering: [id]}\n"
#define COUNTERS                                                                                             \
    "columns: {a: {type: counter, present: 67%}, b: {type: counter, present: 67%}}}\n"                       \
    "table: {name: t, columns: {k: key, bucket: bucket, n: {values: 50, bytes: 3B}, a: data, b: data}, "     \
    "partition_key: [k, bucket], clustering: [n]}\n"

/* `share` is the share of the rows that have each column. */
#define FEW(share)                                                                                           \
    "columns: {a: {type: int, present: " share "}, b: {type: text, bytes: 12B, present: " share              \
    "}, c: {type: bigint, present: " share "}, d: {type: boolean, present: " share                           \
    "}, e: {type: double, present: " share "}, f: {type: int, present: " share "}}}\n"                       \
    "table: {name: t, columns: {k: key, bucket: bucket, id: id, a: data, b: data, c: data, d: data, "        \
    "e: data, f: data}, partition_key: [k, bucket], clustering: [id]}\n"

static void test_partitions_weigh_what_a_node_wrote(void **state)
{
    (void)state;
    check("nulls-nb", "row: {absent: tombstone, " FEW("70%"), 14);
    check("updates-nb", "row: {writes: update, " FEW("100%"), 14);
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
    check("bigint-da",
          "row: {format: da, columns: {v: bigint}}\n"
          "table: {name: t, columns: {k: key, b: bucket, at: time, v: data}, partition_key: [k, b], "
          "clustering: [at]}\n",
          14);
    check("cells-nb", "row: {columns: {" CELLS, 14);
    check("cells-da", "row: {format: da, columns: {" CELLS, 14);
    check("counters-nb", "row: {" COUNTERS, 14);
    check("counters-da", "row: {format: da, " COUNTERS, 14);
    check("static-nb", "row: {columns: {data: text, ", 14);
    check("static-da", "row: {format: da, columns: {data: text, ", 14);
}

/* Describes the table of a schema whose rows have a value in one data column alone; "-": in all. */
static struct lab_scenario *of_type(const char *table, const char *name, unsigned bytes, unsigned elements)
{
    char text[16384];
    int size = snprintf(text, sizeof text,
                        "row: {schema: {file: " BUCKETLAB_SOURCE_DIR
                        "/tests/cassandra5/cql_types.cql, table: %s, bucket: b}}\n",
                        table);
    if (*name == '-')
        return scenario_of(BASE, text);
    struct lab_scenario *whole = scenario_of(BASE, text);
    text[size - 2] = '\0';
    strcat(text, ", columns: {");
    for (size_t i = 0; i < whole->design.column_count; i++) {
        const struct lab_column *column = &whole->design.columns[i];
        bool is_here = strcmp(column->name, name) == 0;
        if (column->feed != LAB_FEED_DATA)
            continue;
        size = (int)strlen(text);
        size += snprintf(text + size, sizeof text - (size_t)size, "%s: {present: %s", column->name,
                         is_here ? "100%" : "0%");
        if (is_here ? bytes > 0 : cass_type_is_any_length(column->type))
            size += snprintf(text + size, sizeof text - (size_t)size, ", bytes: %uB", is_here ? bytes : 1);
        if (is_here && elements > 0)
            size += snprintf(text + size, sizeof text - (size_t)size, ", elements: %u", elements);
        strcat(text, "}, ");
    }
    strcat(text, "}}\n");
    lab_scenario_destroy(whole);
    return scenario_of(BASE, text);
}

/* tests/cassandra5/cql_types.py recorded partitions of 60 rows, a second apart, with a value of one type
 * each, and one with all types in its clustering, and in its key. Within 3 bytes, where rows grow to 128. */
static void test_each_type_weighs_what_a_node_wrote(void **state)
{
    (void)state;
    char line[256], table[32], name[32];
    unsigned bytes, elements, count = 0, wrong = 0;
    unsigned long wanted;
    FILE *file = fopen(BUCKETLAB_SOURCE_DIR "/tests/cassandra5/cql_types.txt", "r");
    assert_non_null(file);
    for (; fgets(line, sizeof line, file) != NULL; count++) {
        assert_int_equal(sscanf(line, "%31s %31s %u %u %lu", table, name, &bytes, &elements, &wanted), 5);
        struct lab_scenario *scenario = of_type(table, name, bytes, elements);
        struct lab_row_stamps stamps;
        uint64_t sum = 0;
        lab_row_stamps_init(&stamps, &scenario->row_cost, 0);
        for (int64_t row = 0; row < 60; row++)
            sum += lab_row_bytes(&scenario->row_cost, (uint64_t)scenario->workload.row_bytes.a,
                                 lab_row_stamp(&stamps, row * 1000000000));
        sum += lab_partition_bytes(&scenario->row_cost, 5, 60, sum);
        bool is_right = sum <= wanted + 3 && wanted <= sum + 3;
        if (!is_right)
            print_error("%lu bytes, not as in %s", (unsigned long)sum, line);
        wrong += !is_right;
        lab_scenario_destroy(scenario);
    }
    fclose(file);
    assert_int_equal(wrong, 0);
    assert_int_equal(count, 80);
}

/* The size of one row by the serialiser; the row before it has the same size. */
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
    struct lab_scenario *scenario = scenario_of(BASE, "");
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

/* At each edge of the classes of write times, rows of two payloads in turn, and each row twice. */
static void test_rows_like_the_row_before_weigh_what_others_do(void **state)
{
    (void)state;
    struct lab_scenario *scenario = scenario_of(BASE, "");
    const struct lab_row_cost *cost = &scenario->row_cost;
    struct lab_row_stamps stamps;
    struct lab_row_last last = {.until_ns = INT64_MIN};
    lab_row_stamps_init(&stamps, cost, 0);
    assert_true(stamps.count > 1);
    for (uint32_t i = 0; i + 1 < stamps.count; i++) {
        for (int64_t time_ns = stamps.until_ns[i] - 2; time_ns < stamps.until_ns[i] + 2; time_ns++) {
            uint64_t payload = 100 + (uint64_t)(time_ns + 1) / 2 % 2;
            for (int again = 0; again < 2; again++)
                assert_int_equal(lab_row_bytes_at(cost, &stamps, payload, time_ns, &last),
                                 lab_row_bytes(cost, payload, lab_row_stamp(&stamps, time_ns)));
        }
    }
    lab_scenario_destroy(scenario);
}

/* 1 + 1 + 24 of flags and clustering, 3 of sizes, 6 of time; cells 1 + 1 + 1, 1 + 1 + 20, 1 + 1 + 79 of 100
 * bytes. */
static void test_columns_divide_the_payload(void **state)
{
    (void)state;
    struct lab_scenario *scenario = scenario_of(
        BASE, "row: {bytes: 100, columns: {level: tinyint, host: {type: text, bytes: 20B}, body: text}}\n");
    assert_int_equal(lab_row_bytes(&scenario->row_cost, 100, LAB_STAMP_USUAL), 26 + 3 + 6 + 3 + 22 + 81);
    assert_int_equal(scenario->workload.row_cells, 3);
    lab_scenario_destroy(scenario);
    scenario = scenario_of(BASE, "row: {columns: {a: bigint, b: int}}\n");
    assert_int_equal((uint64_t)scenario->workload.row_bytes.a, 12);
    assert_int_equal(lab_row_bytes(&scenario->row_cost, 12, LAB_STAMP_USUAL), 26 + 2 + 6 + 9 + 5);
    lab_scenario_destroy(scenario);
    scenario = scenario_of(BASE, "row: {bytes: 100, format: payload}\n");
    assert_int_equal(lab_row_bytes(&scenario->row_cost, 100, LAB_STAMP_USUAL), 100);
    assert_int_equal(lab_partition_bytes(&scenario->row_cost, 9, 5, 500), 0);
    lab_scenario_destroy(scenario);
}

/* 26 of flags and clustering; sizes 1 + 1; the bits of missing columns 0.5; time 6; half of 1 + 4, of 1 + 8.
 */
static void test_columns_that_may_be_missing_weigh_their_share(void **state)
{
    (void)state;
    struct lab_scenario *scenario =
        scenario_of(BASE, "row: {columns: {a: {type: int, present: 50%}, b: bigint}}\n");
    assert_int_equal((uint64_t)scenario->workload.row_bytes.a, 10);
    assert_int_equal(lab_row_bytes(&scenario->row_cost, 8, LAB_STAMP_USUAL), 26 + 2 + 1 + 6 + 9);
    assert_int_equal(lab_row_bytes(&scenario->row_cost, 12, LAB_STAMP_USUAL), 26 + 2 + 6 + 5 + 9);
    lab_scenario_destroy(scenario);
    /* Shared: half of the rows have 1 byte of bits, and of the flag and the length of 99 bytes. */
    scenario = scenario_of(BASE, "row: {bytes: 103, columns: {a: {type: text, present: 50%}, b: int}}\n");
    assert_int_equal(lab_row_bytes(&scenario->row_cost, 103, LAB_STAMP_USUAL), 26 + 3 + 6 + 5 + 99 + 2);
    lab_scenario_destroy(scenario);
    /* Two counters, each with its own write time; 70 bytes where two nodes counted. */
    scenario = scenario_of(BASE, "row: {columns: {a: counter, b: counter}}\n");
    assert_int_equal(lab_row_bytes(&scenario->row_cost, 72, LAB_STAMP_USUAL), 26 + 2 + 2 * (1 + 6 + 1 + 36));
    lab_scenario_destroy(scenario);
    scenario = scenario_of(BASE, "row: {columns: {a: {type: counter, bytes: 70B}}}\n");
    assert_int_equal(lab_row_bytes(&scenario->row_cost, 70, LAB_STAMP_USUAL), 26 + 2 + 1 + 6 + 1 + 70);
    lab_scenario_destroy(scenario);
}

static void test_wrong_columns_are_refused_with_a_remedy(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"row: {bytes: 100, columns: {a: bigint}}\n", "'bytes' of the row has no effect; remove it"},
        {"row: {columns: {a: {type: int, bytes: 5B}}}\n", "type int has 4 bytes; remove 'bytes'"},
        {"row: {columns: {a: text, s: {type: text, static: true}}}\n", "give its size"},
        {"row: {columns: {s: {type: int, static: true}}}\n",
         "needs a column that is not static, and is present in some; add one"},
        {"row: {columns: {at: int}}\n", "is in the primary key already"},
        {"row: {columns: {a: list}}\n", "text, ascii, varchar, blob, int"},
        {"row: {columns: {a: {type: int, present: 0%}}}\n", "is present in some; add one"},
        {"row: {columns: {a: {type: int, present: 0.8}}}\n", "a share needs a unit; add %, as in 1%"},
        {"row: {columns: {a: {type: int, present: 180%}}}\n", "at most 100%"},
        {"row: {columns: {a: counter, b: int}}\n", "give all of them the type counter, or none"},
        {"row: {columns: {a: {type: counter, bytes: 40B}}}\n", "give 36B, 70B or 104B, or remove 'bytes'"},
        {"row: {ttl: 1d, columns: {a: counter}}\n", "a counter does not expire; remove 'ttl'"},
        {"row: {columns: {a: int}}\ntable: {name: t, columns: {k: key, n: {values: 9, bytes: 0B}, a: data}, "
         "partition_key: [k]}\n",
         "a size from 1B to 65535B"},
        {"row: {columns: [a]}\n", "write it as {level: tinyint"},
        {"row: {columns: {b: int}}\ntable: {name: t, columns: {k: key, d: data}, partition_key: [k]}\n",
         "is not a column of the table"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lab_scenario *scenario;
        struct sim_error error;
        char whole[1024];
        snprintf(whole, sizeof whole, BASE "%s", rows[i][0]);
        if (lab_scenario_parse("x.yaml", whole, strlen(whole), NULL, 0, NULL, &scenario, &error))
            fail_msg("%s was accepted", rows[i][0]);
        if (strstr(error.text, rows[i][1]) == NULL)
            fail_msg("%s", error.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_partitions_weigh_what_a_node_wrote),
        cmocka_unit_test(test_each_type_weighs_what_a_node_wrote),
        cmocka_unit_test(test_rows_weigh_what_the_serialiser_writes),
        cmocka_unit_test(test_rows_like_the_row_before_weigh_what_others_do),
        cmocka_unit_test(test_columns_divide_the_payload),
        cmocka_unit_test(test_columns_that_may_be_missing_weigh_their_share),
        cmocka_unit_test(test_wrong_columns_are_refused_with_a_remedy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
