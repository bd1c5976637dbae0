/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: `cluster.node: {like: FILE}` takes the settings of a measured file, the scenario's own settings take
 * precedence, and each mistake in either is reported with its place and remedy. Method: files written here,
 * one that tests/cassandra5/latency.py recorded, and the settings in a stored snapshot. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/time.h"
#include "lab/context.h"
#include "lab/scenario.h"

#define BASE      "duration: 1d\nkeys: {count: 2}\narrivals: {rate: 1/s}\nstrategies: [unbucketed: {}]\n"
#define FILE_NAME "scenario_node_test.json"
#define RECORDED  BUCKETLAB_SOURCE_DIR "/tests/cassandra5/latency/one-v1.json"

static void write_measured(const char *text)
{
    FILE *file = fopen(FILE_NAME, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    fclose(file);
}

static struct lab_scenario *parse_at(const char *path, const char *node, const char *set,
                                     struct sim_error *error)
{
    struct lab_scenario *scenario = NULL;
    const struct lab_override overrides[] = {{set}};
    char text[1024];
    snprintf(text, sizeof text, BASE "cluster: {node: %s}\n", node);
    bool ok =
        lab_scenario_parse(path, text, strlen(text), overrides, set == NULL ? 0 : 1, NULL, &scenario, error);
    assert_true(ok == (scenario != NULL));
    return scenario;
}

static struct lab_scenario *good(const char *node)
{
    struct sim_error error = {0};
    struct lab_scenario *scenario = parse_at("x.yaml", node, NULL, &error);
    if (scenario == NULL)
        fail_msg("%s", error.text);
    return scenario;
}

static void assert_bad(const char *measured, const char *node, const char *wanted)
{
    struct sim_error error = {0};
    if (measured != NULL)
        write_measured(measured);
    assert_null(parse_at("x.yaml", node, NULL, &error));
    assert_int_equal(error.class, SIM_ERROR_INPUT);
    assert_string_equal(error.text, wanted);
}

static void test_a_measured_file_gives_the_settings(void **state)
{
    (void)state;
    write_measured(
        "{\"node\": {\"concurrency\": 2, \"coordinate\": \"207us\", \"write\": \"68233ns\", \"read\": "
        "\"115us\"},\n \"cores\": 2, \"points\": [{\"kind\": \"insert\"}]}\n");
    struct lab_scenario *s = good("{like: " FILE_NAME "}");
    assert_int_equal(s->network.concurrency, 2);
    assert_int_equal(s->network.coordinate_ns, 207 * SIM_US);
    assert_int_equal(s->network.write_ns, 68233);
    assert_int_equal(s->network.read_ns, 115 * SIM_US);
    /* Settings that the file does not contain keep their defaults. */
    assert_int_equal(s->network.scan_row_ns, SIM_US);
    assert_string_equal(s->like_path, FILE_NAME);
    lab_scenario_destroy(s);
}

static void test_the_scenarios_own_settings_go_before_the_files(void **state)
{
    (void)state;
    write_measured("{\"node\": {\"concurrency\": 2, \"write\": \"50us\", \"gc\": {\"every\": \"1m\"}}}\n");
    struct lab_scenario *s = good("{write: 9us, like: " FILE_NAME ", gc: {lasts: 1ms}}");
    assert_true(s->network.write_ns == 9 * SIM_US && s->network.concurrency == 2);
    assert_true(s->network.gc_every_ns == SIM_MINUTE && s->network.gc_lasts_ns == SIM_MS);
    lab_scenario_destroy(s);
    struct sim_error error = {0};
    s = parse_at("x.yaml", "{write: 9us}", "cluster.node.like=" FILE_NAME, &error);
    assert_non_null(s);
    assert_true(s->network.write_ns == 9 * SIM_US && s->network.concurrency == 2);
    lab_scenario_destroy(s);
    s = good("{like: ~}");
    assert_true(s->like_path == NULL && s->network.concurrency == 32 && s->network.coordinate_ns == 0);
    lab_scenario_destroy(s);
}

static void test_node_file_is_relative_to_the_scenario(void **state)
{
    (void)state;
    struct sim_error error = {0};
    write_measured("{\"node\": {\"concurrency\": 3}}\n");
    struct lab_scenario *s = parse_at("./x.yaml", "{like: " FILE_NAME "}", NULL, &error);
    assert_non_null(s);
    assert_string_equal(s->like_path, "./" FILE_NAME);
    lab_scenario_destroy(s);
    assert_null(parse_at("elsewhere/x.yaml", "{like: " FILE_NAME "}", NULL, &error));
    assert_string_equal(error.text,
                        "elsewhere/" FILE_NAME ":1:1: cannot be opened: No such file or directory; check the "
                        "name and its permissions");
}

static void test_mistakes_are_reported_with_place_and_remedy(void **state)
{
    (void)state;
    assert_bad(NULL, "{like: [a]}",
               "x.yaml:5:24: 'like' takes a single value, not a list; give one, in quotes if necessary");
    assert_bad("[1]\n", "{like: " FILE_NAME "}",
               FILE_NAME ":1:1: no field 'node' in it; write the file with tests/cassandra5/latency.py");
    assert_bad("{\"nodes\": 3}\n", "{like: " FILE_NAME "}",
               FILE_NAME ":1:1: no field 'node' in it; write the file with tests/cassandra5/latency.py");
    assert_bad("{\"node\": {\"write\":\n  \"80\"}}\n", "{like: " FILE_NAME "}",
               FILE_NAME
               ":2:3: 'write: 80': a duration needs a unit; add ns us ms s m h d w or y, as in 90d");
    assert_bad("{\"node\": {\"writes\": \"80us\"}}\n", "{like: " FILE_NAME "}",
               FILE_NAME ":1:11: unknown field 'writes' under 'node'; did you mean 'write'?");
    /* A measured file must not refer to another file. */
    assert_bad(
        "{\"node\": {\"like\": \"other.json\"}}\n", "{like: " FILE_NAME "}",
        FILE_NAME
        ":1:11: unknown field 'like' under 'node'; the fields are concurrency, coordinate, write, read, "
        "scan_row, scan_tombstone, tombstone_warn, tombstone_fail, gc");
    assert_bad("{\"node\": {\"concurrency\": 2}}\n", "{like: " FILE_NAME ", coordinate: 2h}",
               "x.yaml:5:61: 'coordinate: 2h': out of range; give a duration from 0s to 1h");
    assert_bad(NULL, "{like: .}", ".:1:1: is a directory; name a file in it");
}

static void test_file_above_1_mib_is_refused(void **state)
{
    (void)state;
    size_t size = ((size_t)1 << 20) + 2;
    char *text = malloc(size);
    assert_non_null(text);
    memset(text, ' ', size);
    text[size - 1] = '\0';
    assert_bad(text, "{like: " FILE_NAME "}",
               FILE_NAME ":1:1: more than 1 MiB; it should be a short text, check that this is the file");
    free(text);
}

static void test_sources_depend_on_the_content_of_the_file(void **state)
{
    (void)state;
    struct sim_error error = {0};
    uint64_t before = 0, same = 1, after = 0;
    write_measured("{\"node\": {\"concurrency\": 3}}\n");
    struct lab_scenario *s = good("{like: " FILE_NAME "}");
    assert_true(lab_sources(s, &before, &error) && lab_sources(s, &same, &error));
    write_measured("{\"node\": {\"concurrency\": 4}}\n");
    assert_true(lab_sources(s, &after, &error));
    assert_true(before == same && before != after);
    lab_scenario_destroy(s);
}

static void test_a_recorded_node_is_read(void **state)
{
    (void)state;
    struct lab_scenario *s = good("{like: " RECORDED "}");
    assert_int_equal(s->network.concurrency, 2);
    assert_true(s->network.write_ns > 10 * SIM_US && s->network.write_ns < SIM_MS);
    assert_true(s->network.read_ns > 10 * SIM_US && s->network.read_ns < SIM_MS);
    assert_true(s->network.scan_row_ns > SIM_US && s->network.scan_tombstone_ns > SIM_US / 2);
    lab_scenario_destroy(s);
}

static int remove_file(void **state)
{
    (void)state;
    remove(FILE_NAME);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_measured_file_gives_the_settings),
        cmocka_unit_test(test_the_scenarios_own_settings_go_before_the_files),
        cmocka_unit_test(test_node_file_is_relative_to_the_scenario),
        cmocka_unit_test(test_mistakes_are_reported_with_place_and_remedy),
        cmocka_unit_test(test_file_above_1_mib_is_refused),
        cmocka_unit_test(test_sources_depend_on_the_content_of_the_file),
        cmocka_unit_test(test_a_recorded_node_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, remove_file);
}
