/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a sound scenario becomes the struct that it describes, with defaults and overrides. Method: a text
 * with every field, checked member by member; the shortest text for the defaults; tables of values in their
 * several spellings; --set arguments compared with the same figures; the shipped scenarios; and
 * docs/scenario.md compared with the fields that the parser itself lists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/time.h"
#include "lab/scenario.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

#define HEAD "duration: 1d\nkeys: {count: 10}\narrivals: {rate: 1/s}\n"
#define TAIL "strategies: [unbucketed: {}]\n"

static const char everything[] =
    "name: chat-channels\n"
    "about: Channels whose traffic differs by orders of magnitude and spikes without warning.\n"
    "seed: 18446744073709551615\n"
    "start: 2026-02-03T04:05:06.5Z\n"
    "duration: 90d\n"
    "engine: exact\n"
    "keys:\n"
    "  count: 10_000\n"
    "  popularity: {zipf: 1.1}            # uniform | {zipf: s}\n"
    "arrivals:\n"
    "  rate: 200/s                        # mean of all keys together\n"
    "  daily: {amplitude: 0.6, peak: 20h}\n"
    "  bursts: {on: 10m, off: 6h, factor: 50}\n"
    "  spikes: [{at: 12d, lasts: 1h, factor: 200, keys: 1%}, {at: 89d, lasts: 1d, factor: 0.5, keys: 100%}]\n"
    "row:\n"
    "  bytes: {lognormal: {mean: 350, sigma: 1.0}}\n"
    "  cells: 6\n"
    "reads:\n"
    "  latest: {rows: 50, rate: 20/s, plan: pair}\n"
    "limits: {partition_rows: 100000, partition_bytes: 100MB, tiny_rows: 24}\n"
    "cluster: {nodes: 12, replication_factor: 5, num_tokens: 8}\n"
    "strategies:\n"
    "  - unbucketed: {}\n"
    "  - time: {window: 10d, epoch: 2015-01-01T00:00:00Z}\n"
    "  - time: {calendar: week, label: weeks}\n"
    "  - count: {rows: 20480, counter: external}\n"
    "  - probabilistic: {bits: 9, threshold: 40}\n"
    "  - probabilistic: {chance: 1/300, threshold: 40, coordination: single, label: guarded}\n"
    "  - hash: {buckets: 256}\n"
    "    label: \"h\\u00e4sh 2.0\"\n"
    "expect:\n"
    "  - probabilistic.partitions.closed.rows.p999 <= 32000\n"
    "  - \"h\u00e4sh 2.0.partitions.over_limit == 0\"\n";

static struct lab_scenario *parse_with(const char *path, const char *text, const char *const *sets,
                                       size_t count)
{
    struct lab_override overrides[8] = {{NULL}};
    struct lab_scenario *scenario;
    struct sim_error error;
    for (size_t i = 0; i < count; i++)
        overrides[i].text = sets[i];
    if (!lab_scenario_parse(path, text, strlen(text), overrides, count, NULL, &scenario, &error))
        fail_msg("%s", error.text);
    return scenario;
}

static struct lab_scenario *parse(const char *text)
{
    return parse_with("folder/x.yaml", text, NULL, 0);
}

static void check_strategies(const struct lab_scenario *s)
{
    const struct lab_strategy *strategy = s->strategies;
    assert_int_equal(s->strategy_count, 7);
    static const char *const labels[] = {"unbucketed",    "time",    "weeks",        "count",
                                         "probabilistic", "guarded", "h\u00e4sh 2.0"};
    static const enum bk_kind kinds[] = {BK_KIND_UNBUCKETED, BK_KIND_TIME,          BK_KIND_TIME,
                                         BK_KIND_COUNT,      BK_KIND_PROBABILISTIC, BK_KIND_PROBABILISTIC,
                                         BK_KIND_HASH};
    for (size_t i = 0; i < 7; i++) {
        assert_string_equal(strategy[i].label, labels[i]);
        assert_int_equal(strategy[i].settings.strategy.kind, kinds[i]);
        assert_int_equal(strategy[i].line, 23 + (int)i);
        assert_int_equal(strategy[i].column, 5);
    }
    assert_int_equal(strategy[1].settings.strategy.of.time.calendar, BK_CALENDAR_NONE);
    assert_true(strategy[1].settings.strategy.of.time.window_ns == 10 * SIM_DAY);
    assert_true(strategy[1].settings.strategy.of.time.epoch_ns == 16436 * SIM_DAY);
    assert_int_equal(strategy[2].settings.strategy.of.time.calendar, BK_CALENDAR_WEEK);
    assert_int_equal(strategy[3].settings.strategy.of.count.rows, 20480);
    assert_int_equal(strategy[4].settings.strategy.of.probabilistic.bits, 9);
    assert_int_equal(strategy[4].settings.strategy.of.probabilistic.chance_denominator, 0);
    assert_int_equal(strategy[4].settings.strategy.of.probabilistic.threshold, 40);
    assert_int_equal(strategy[5].settings.strategy.of.probabilistic.chance_numerator, 1);
    assert_int_equal(strategy[5].settings.strategy.of.probabilistic.chance_denominator, 300);
    assert_int_equal(strategy[6].settings.strategy.of.hash.buckets, 256);
}

static void test_weighted_is_read_with_all_its_settings(void **state)
{
    (void)state;
    struct lab_scenario *s =
        parse("duration: 1d\n"
              "keys: {count: 1}\n"
              "arrivals: {rate: 1/s}\n"
              "agents: {count: 2}\n"
              "strategies:\n"
              "  - weighted: {bytes: 512KB, threshold: 40, coordination: locked, counter: "
              "lwt, lock: {lasts: 3s}}\n"
              "  - weighted: {bytes: 1TiB, threshold: 1, label: w}\n");
    assert_int_equal(s->strategy_count, 2);
    assert_string_equal(s->strategies[0].label, "weighted");
    assert_int_equal(s->strategies[0].settings.strategy.kind, BK_KIND_WEIGHTED);
    assert_true(s->strategies[0].settings.strategy.of.weighted.bytes == 512000);
    assert_true(s->strategies[0].settings.strategy.of.weighted.threshold == 40);
    assert_int_equal(s->strategies[0].settings.coordination, BK_LOCKED);
    assert_int_equal(s->strategies[0].settings.counter, BK_COUNTER_LWT);
    assert_true(s->strategies[0].settings.lock_lasts_ns == 3 * SIM_SECOND);
    assert_true(s->strategies[1].settings.strategy.of.weighted.bytes == UINT64_C(1) << 40);
    assert_int_equal(s->strategies[1].settings.coordination, BK_SINGLE);
    lab_scenario_destroy(s);
}

static void check_workload(const struct wl_workload *w)
{
    assert_true(w->seed == UINT64_MAX);
    assert_true(w->start_ns ==
                20487 * SIM_DAY + 4 * SIM_HOUR + 5 * SIM_MINUTE + 6 * SIM_SECOND + 500 * SIM_MS);
    assert_true(w->duration_ns == 90 * SIM_DAY);
    assert_int_equal(w->key_count, 10000);
    assert_true(w->popularity.s == 1.1);
    assert_int_equal(w->popularity.count, 10000);
    struct sim_zipf zipf;
    sim_zipf_init(&zipf, 1.1, 10000);
    assert_true(w->popularity.total == zipf.total);
    assert_true(w->rate_per_s == 200.0);
    assert_true(w->has_daily && w->daily_amplitude == 0.6 && w->daily_peak_ns == 20 * SIM_HOUR);
    assert_true(w->has_bursts && w->burst_on_ns == 10 * SIM_MINUTE && w->burst_off_ns == 6 * SIM_HOUR &&
                w->burst_factor == 50.0);
    assert_int_equal(w->spike_count, 2);
    assert_true(w->spikes[0].at_ns == 12 * SIM_DAY && w->spikes[0].lasts_ns == SIM_HOUR &&
                w->spikes[0].factor == 200.0 && w->spikes[0].keys_share == 0.01);
    assert_true(w->spikes[1].at_ns == 89 * SIM_DAY && w->spikes[1].lasts_ns == SIM_DAY &&
                w->spikes[1].factor == 0.5 && w->spikes[1].keys_share == 1.0);
    struct sim_size size = {.kind = SIM_SIZE_LOGNORMAL, .a = 350, .b = 1};
    assert_int_equal(sim_size_prepare(&size), 0);
    assert_int_equal(w->row_bytes.kind, SIM_SIZE_LOGNORMAL);
    assert_true(w->row_bytes.a == 350.0 && w->row_bytes.b == 1.0 && w->row_bytes.log_mean == size.log_mean);
    assert_int_equal(w->row_cells, 6);
}

static void test_scenario_with_every_field_is_read_whole(void **state)
{
    struct lab_scenario *s = parse(everything);
    (void)state;
    assert_string_equal(s->path, "folder/x.yaml");
    assert_string_equal(s->text, everything);
    assert_int_equal(s->text_size, sizeof everything - 1);
    assert_string_equal(s->overrides, "");
    assert_string_equal(s->name, "chat-channels");
    assert_string_equal(s->about,
                        "Channels whose traffic differs by orders of magnitude and spikes without warning.");
    assert_true(s->seed == UINT64_MAX);
    assert_int_equal(s->engine, LAB_ENGINE_EXACT);
    assert_null(s->trace_path);
    assert_true(s->has_start && s->has_row_bytes);
    check_workload(&s->workload);
    assert_true(s->reads.present && s->reads.kinds[LAB_READ_LATEST].rows == 50 &&
                s->reads.kinds[LAB_READ_LATEST].rate_per_s == 20.0);
    assert_int_equal(s->reads.kinds[LAB_READ_LATEST].plan, BK_PLAN_PAIR);
    assert_int_equal(s->limits.partition_rows, 100000);
    assert_int_equal(s->limits.partition_bytes, 100000000);
    assert_int_equal(s->limits.tiny_rows, 24);
    assert_int_equal(s->cluster.nodes, 12);
    assert_int_equal(s->cluster.replication_factor, 5);
    assert_int_equal(s->cluster.num_tokens, 8);
    check_strategies(s);
    assert_int_equal(s->expect_count, 2);
    assert_string_equal(s->expects[0].text, "probabilistic.partitions.closed.rows.p999 <= 32000");
    assert_int_equal(s->expects[0].line, 32);
    assert_int_equal(s->expects[0].column, 5);
    assert_string_equal(s->expects[1].metric, "h\u00e4sh 2.0.partitions.over_limit");
    lab_scenario_destroy(s);
}

static void test_scenario_without_options_has_the_defaults(void **state)
{
    struct lab_scenario *s = parse(HEAD TAIL);
    const struct wl_workload *w = &s->workload;
    (void)state;
    assert_string_equal(s->name, "x");
    assert_string_equal(s->about, "");
    assert_true(s->seed == 1 && w->seed == 1);
    assert_int_equal(s->engine, LAB_ENGINE_AUTO);
    assert_true(w->start_ns == 20454 * SIM_DAY && !s->has_start);
    assert_true(w->popularity.s == 0.0 && w->popularity.count == 10 && w->popularity.total == 10.0);
    assert_false(w->has_daily || w->has_bursts || w->spike_count != 0 || s->has_row_bytes);
    assert_int_equal(w->row_bytes.kind, SIM_SIZE_CONSTANT);
    assert_true(w->row_bytes.a == 1000.0);
    assert_int_equal(w->row_cells, 1);
    assert_false(s->reads.present);
    assert_true(s->limits.partition_rows == 0 && s->limits.partition_bytes == 0 && s->limits.tiny_rows == 0);
    assert_int_equal(s->cluster.nodes, 6);
    assert_int_equal(s->cluster.replication_factor, 3);
    assert_int_equal(s->cluster.num_tokens, 16);
    assert_int_equal(s->expect_count, 0);
    lab_scenario_destroy(s);

    s = parse(HEAD TAIL "cluster: {nodes: 2}\nreads: {latest: {rows: 1, rate: 1/d}}\n");
    assert_int_equal(s->cluster.replication_factor, 2);
    assert_int_equal(s->reads.kinds[LAB_READ_LATEST].plan, BK_PLAN_DEFAULT);
    lab_scenario_destroy(s);
}

static void test_seed_of_the_caller_takes_precedence(void **state)
{
    const uint64_t seed = 77;
    const struct lab_override override = {"seed=5"};
    struct lab_scenario *s;
    (void)state;
    assert_true(lab_scenario_parse("x.yaml", HEAD TAIL, strlen(HEAD TAIL), &override, 1, &seed, &s, NULL));
    assert_true(s->seed == 77 && s->workload.seed == 77);
    lab_scenario_destroy(s);
    assert_true(lab_scenario_parse("x.yaml", HEAD TAIL, strlen(HEAD TAIL), &override, 1, NULL, &s, NULL));
    assert_true(s->seed == 5 && s->workload.seed == 5);
    lab_scenario_destroy(s);
    lab_scenario_destroy(NULL);
}

static void test_row_bytes_spellings_give_equal_distributions(void **state)
{
    static const struct {
        const char *text;
        struct sim_size size;
    } cases[] = {
        {"350", {SIM_SIZE_CONSTANT, 350, 0, 0}},
        {"2KB", {SIM_SIZE_CONSTANT, 2000, 0, 0}},
        {"1TiB", {SIM_SIZE_CONSTANT, 0x1p40, 0, 0}},
        {"{uniform: [1, 4KiB]}", {SIM_SIZE_UNIFORM, 1, 4096, 0}},
        {"{uniform: [7, 7]}", {SIM_SIZE_UNIFORM, 7, 7, 0}},
        {"{lognormal: {sigma: 0, mean: 1KB}}", {SIM_SIZE_LOGNORMAL, 1000, 0, 0}},
        {"{pareto: {min: 100, alpha: 1.5}}", {SIM_SIZE_PARETO, 100, 1.5, 0}},
        {"{pareto: {min: 100, alpha: 1.5}, uniform: null}", {SIM_SIZE_PARETO, 100, 1.5, 0}},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[256];
        snprintf(text, sizeof text, "%srow: {bytes: %s}\n", HEAD TAIL, cases[i].text);
        struct lab_scenario *s = parse(text);
        const struct sim_size *size = &s->workload.row_bytes;
        assert_int_equal(size->kind, cases[i].size.kind);
        assert_true(size->a == cases[i].size.a && size->b == cases[i].size.b);
        assert_true(s->has_row_bytes);
        lab_scenario_destroy(s);
    }
}

static void test_trace_is_found_from_the_scenarios_folder(void **state)
{
    static const struct {
        const char *path, *file, *wanted;
    } cases[] = {
        {"x.yaml", "a.csv", "a.csv"},
        {"folder/x.yaml", "a.csv", "folder/a.csv"},
        {"/abs/x.yaml", "../a.csv.gz", "/abs/../a.csv.gz"},
        {"folder/x.yaml", "/abs/a.csv", "/abs/a.csv"},
        {"/x.yaml", "a b.csv", "/a b.csv"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[256];
        snprintf(text, sizeof text, TAIL "trace: {file: %s}\n", cases[i].file);
        struct lab_scenario *s = parse_with(cases[i].path, text, NULL, 0);
        assert_string_equal(s->trace_path, cases[i].wanted);
        assert_true(s->workload.duration_ns == 0 && !s->has_start);
        lab_scenario_destroy(s);
    }
    struct lab_scenario *s =
        parse(TAIL "trace: {file: a.csv}\nrow: {bytes: 140}\nstart: 2015-02-26\nduration: 3d\n");
    assert_true(s->has_start && s->workload.start_ns == 16492 * SIM_DAY);
    assert_true(s->workload.duration_ns == 3 * SIM_DAY && s->has_row_bytes);
    lab_scenario_destroy(s);
}

static void test_scenario_without_a_name_uses_the_files_stem(void **state)
{
    static const struct {
        const char *path, *name;
    } cases[] = {{"a/b.c/tweets.yaml", "tweets"},
                 {"tweets", "tweets"},
                 {"t.2.yml", "t.2"},
                 {".yaml", ".yaml"},
                 {"a/", "scenario"},
                 {"a\tb\xff.yaml", "a?b?"},
                 {"caf\u00e9.yaml", "caf\u00e9"}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct lab_scenario *s = parse_with(cases[i].path, HEAD TAIL, NULL, 0);
        assert_string_equal(s->name, cases[i].name);
        lab_scenario_destroy(s);
    }
}

static void test_null_and_other_spellings_are_accepted(void **state)
{
    static const char *const texts[] = {
        /* The whole text in braces, as JSON; quoted figures; Windows' line ends; a byte-order mark; a
         * directive. */
        "{\"duration\": \"1d\", \"keys\": {\"count\": \"10\"}, \"arrivals\": {\"rate\": \"1/s\"}, "
        "\"strategies\": [{\"unbucketed\": {}}]}",
        "duration: 1d\r\nkeys: {count: 10}\r\narrivals: {rate: 1/s}\r\nstrategies:\r\n  - unbucketed: {}\r\n",
        "\xef\xbb\xbf" HEAD TAIL,
        "%YAML 1.2\n---\n" HEAD TAIL "...\n",
        HEAD TAIL "limits: null\nabout: ~\nreads: null\nexpect: []\ntrace: null\nrow: ~\n",
        HEAD "strategies:\n- unbucketed:\n",
        HEAD "strategies:\n- {unbucketed: {}, hash: null, label: unbucketed}\n",
        "duration: 1d\nkeys: {count: 10, popularity: uniform}\n" TAIL
        "arrivals: {rate: 1/s, spikes: [], daily: null}\n",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct lab_scenario *s = parse(texts[i]);
        assert_true(s->workload.duration_ns == SIM_DAY && s->workload.key_count == 10);
        assert_true(s->workload.rate_per_s == 1.0 && s->workload.popularity.s == 0.0);
        assert_int_equal(s->strategy_count, 1);
        assert_string_equal(s->strategies[0].label, "unbucketed");
        assert_true(!s->reads.present && !s->workload.has_daily && s->expect_count == 0);
        lab_scenario_destroy(s);
    }
}

static void test_values_at_the_bounds_are_accepted(void **state)
{
    struct lab_scenario *s = parse(
        "duration: 1ns\nkeys: {count: 4294967295, popularity: {zipf: 10}}\narrivals: {rate: 1e9/s, daily: "
        "{amplitude: 0, peak: 0s}}\nstrategies:\n  - probabilistic: {bits: 32, threshold: 1000000000}\n  - "
        "probabilistic: {chance: 1/1, threshold: 1, label: b}\n  - hash: {buckets: 2147483647}\n  - "
        "time: {window: 1us}\n  - count: {rows: 1, counter: external}\n");
    (void)state;
    assert_true(s->workload.key_count == UINT32_MAX && s->workload.popularity.s == 10.0);
    assert_int_equal(s->strategies[0].settings.strategy.of.probabilistic.bits, 32);
    assert_int_equal(s->strategies[2].settings.strategy.of.hash.buckets, 2147483647);
    lab_scenario_destroy(s);

    char text[LAB_STRATEGIES_MAX * 100 + 256];
    size_t size = (size_t)snprintf(text, sizeof text, HEAD "strategies:\n");
    for (int i = 0; i < LAB_STRATEGIES_MAX; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, "  - unbucketed: {label: '%064d'}\n", i);
    s = parse(text);
    assert_int_equal(s->strategy_count, LAB_STRATEGIES_MAX);
    assert_int_equal(strlen(s->strategies[63].label), LAB_LABEL_SIZE_MAX);
    lab_scenario_destroy(s);
}

static void test_override_changes_adds_and_removes_fields(void **state)
{
    static const char *const first[] = {"duration=13d",
                                        "arrivals.spikes=[{at: 1d, lasts: 2h, factor: 3, keys: 5%}]",
                                        "arrivals.spikes[0].factor=4",
                                        "strategies.probabilistic.threshold=50",
                                        "strategies[3].count.rows=7",
                                        "strategies.weeks.calendar=month",
                                        "limits=null",
                                        "keys.popularity.zipf=0.5"};
    struct lab_scenario *s = parse_with("x.yaml", everything, first, 8);
    (void)state;
    assert_true(s->workload.duration_ns == 13 * SIM_DAY && s->workload.spike_count == 1);
    assert_true(s->workload.spikes[0].factor == 4.0 && s->workload.spikes[0].keys_share == 0.05);
    assert_int_equal(s->strategies[4].settings.strategy.of.probabilistic.threshold, 50);
    assert_int_equal(s->strategies[4].settings.strategy.of.probabilistic.bits, 9);
    assert_int_equal(s->strategies[5].settings.strategy.of.probabilistic.threshold, 40);
    assert_int_equal(s->strategies[3].settings.strategy.of.count.rows, 7);
    assert_int_equal(s->strategies[2].settings.strategy.of.time.calendar, BK_CALENDAR_MONTH);
    assert_int_equal(s->limits.partition_rows, 0);
    assert_true(s->workload.popularity.s == 0.5);
    assert_string_equal(s->text, everything);
    assert_true(strncmp(s->overrides, "duration=13d\narrivals.spikes=[", 30) == 0);
    assert_string_equal(strrchr(s->overrides, 'k'), "keys.popularity.zipf=0.5\n");
    lab_scenario_destroy(s);

    static const char *const second[] = {"limits.tiny_rows=5",
                                         "strategies.h\u00e4sh 2.0.buckets=8",
                                         "strategies.guarded.chance=null",
                                         "strategies.guarded.bits=3",
                                         "strategies.unbucketed.label=zero",
                                         "row.bytes=2KB",
                                         "name=\"a: b\"",
                                         "strategies.h\u00e4sh 2.0.label=hash"};
    s = parse_with("x.yaml", everything, second, 7);
    assert_int_equal(s->limits.tiny_rows, 5);
    assert_int_equal(s->limits.partition_rows, 100000);
    assert_int_equal(s->strategies[6].settings.strategy.of.hash.buckets, 8);
    assert_int_equal(s->strategies[5].settings.strategy.of.probabilistic.bits, 3);
    assert_int_equal(s->strategies[5].settings.strategy.of.probabilistic.chance_denominator, 0);
    assert_string_equal(s->strategies[0].label, "zero");
    assert_int_equal(s->workload.row_bytes.kind, SIM_SIZE_CONSTANT);
    assert_string_equal(s->name, "a: b");
    lab_scenario_destroy(s);
}

/* The stored scenario of a run is run again, with a further change. */
static void test_scenario_again_keeps_overrides_and_takes_more(void **state)
{
    (void)state;
    const struct lab_override more[] = {{"duration=5d"}, {"keys.count=8"}};
    const char *sets[] = {"duration=13d", "limits.tiny_rows=99"};
    struct lab_scenario *first = parse_with("x.yaml", HEAD TAIL, sets, 2), *again;
    assert_true(lab_scenario_again(first->path, first->text, first->overrides, more, 2, 77, &again, NULL));
    assert_int_equal(again->seed, 77);
    assert_int_equal(again->limits.tiny_rows, 99);
    assert_int_equal(again->workload.duration_ns, INT64_C(5) * 86400 * 1000000000);
    assert_string_equal(again->overrides, "duration=13d\nlimits.tiny_rows=99\nduration=5d\nkeys.count=8\n");
    lab_scenario_destroy(again);
    assert_true(lab_scenario_again(first->path, first->text, "", NULL, 0, 1, &again, NULL));
    assert_string_equal(again->overrides, "");
    lab_scenario_destroy(again);
    lab_scenario_destroy(first);
}

static void test_override_of_a_label_reaches_where_it_is(void **state)
{
    static const char *const sets[] = {"strategies.b.label=c", "strategies.hash.buckets=4",
                                       "strategies.v1.2.bits=5", "strategies.v1.bits=6", "expect=[c.x == 1]"};
    struct lab_scenario *s =
        parse_with("x.yaml",
                   HEAD "strategies:\n  - unbucketed: {}\n    label: b\n  - hash: {buckets: 2, label: h}\n"
                        "  - probabilistic: {bits: 1, threshold: 1, label: v1}\n"
                        "  - probabilistic: {bits: 1, threshold: 1, label: v1.2}\n",
                   sets, 5);
    (void)state;
    assert_string_equal(s->strategies[0].label, "c");
    assert_int_equal(s->strategies[1].settings.strategy.of.hash.buckets, 4);
    assert_int_equal(s->strategies[2].settings.strategy.of.probabilistic.bits, 6);
    assert_int_equal(s->strategies[3].settings.strategy.of.probabilistic.bits, 5);
    assert_int_equal(s->expects[0].line, 0);
    lab_scenario_destroy(s);
}

static void test_shipped_scenarios_are_sound(void **state)
{
    static const char *const names[] = {"chat-channels", "tweets", "small-trace", "three-state", "faults"};
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        char path[1024];
        struct lab_scenario *s;
        struct sim_error error;
        snprintf(path, sizeof path, "%s/scenarios/%s.yaml", BUCKETLAB_SOURCE_DIR, names[i]);
        if (!lab_scenario_load(path, NULL, 0, NULL, &s, &error))
            fail_msg("%s", error.text);
        assert_string_equal(s->name, names[i]);
        assert_int_equal(s->strategy_count, 5);
        assert_true(s->expect_count > 0);
        lab_scenario_destroy(s);
    }
}

/* Cuts out the part of the manual under the heading of a mapping. */
static char *section_of(const char *manual, const char *heading)
{
    const char *begin = strstr(manual, heading);
    if (begin == NULL)
        fail_msg("docs/scenario.md has no '%s'", heading);
    begin += strlen(heading);
    const char *end = strstr(begin, "\n##");
    size_t size = end == NULL ? strlen(begin) : (size_t)(end - begin);
    char *section = malloc(size + 1);
    assert_non_null(section);
    memcpy(section, begin, size);
    section[size] = '\0';
    return section;
}

static void check_section(const char *manual, const char *heading, const char *text)
{
    struct lab_scenario *scenario;
    struct sim_error error;
    assert_false(lab_scenario_parse("x.yaml", text, strlen(text), NULL, 0, NULL, &scenario, &error));
    char *names = strstr(error.text, "; the "), *section = section_of(manual, heading);
    if (names == NULL)
        fail_msg("%s: %s", heading, error.text);
    names = strstr(names, " is ") != NULL ? strstr(names, " is ") + 4 : strstr(names, " are ") + 5;
    size_t fields = 0, rows = 0;
    for (char *name = strtok(names, ", "); name != NULL; name = strtok(NULL, ", "), fields++) {
        char row[64];
        snprintf(row, sizeof row, "\n| `%s` |", name);
        if (strstr(section, row) == NULL)
            fail_msg("docs/scenario.md has no row '%s' under '%s'", name, heading);
    }
    for (const char *at = section; (at = strstr(at, "\n| `")) != NULL; at++)
        rows++;
    if (rows != fields)
        fail_msg("docs/scenario.md has %zu rows under '%s' for %zu fields", rows, heading, fields);
    free(section);
}

static void test_manual_lists_every_field_and_no_other(void **state)
{
#define ZEBRA "zzzzzzzzzzzz: 1"
    static const struct {
        const char *heading, *text;
    } cases[] = {
        {"### The top level\n", ZEBRA},
        {"### `keys`\n", "keys: {" ZEBRA "}"},
        {"### `popularity`\n", "keys: {popularity: {" ZEBRA "}}"},
        {"### `arrivals`\n", "arrivals: {" ZEBRA "}"},
        {"### `daily`\n", "arrivals: {daily: {" ZEBRA "}}"},
        {"### `bursts`\n", "arrivals: {bursts: {" ZEBRA "}}"},
        {"### `spikes`\n", "arrivals: {spikes: [{" ZEBRA "}]}"},
        {"### `trace`\n", "trace: {" ZEBRA "}"},
        {"### `row`\n", "row: {" ZEBRA "}"},
        {"### `compaction`\n", "row: {compaction: {" ZEBRA "}}"},
        {"### `identifiers`\n", "identifiers: {" ZEBRA "}"},
        {"### `idgen`\n", "strategies: [idgen: {" ZEBRA "}]"},
        {"### `backoff`\n", "strategies: [idgen: {backoff: {" ZEBRA "}}]"},
        {"### `bytes`\n", "row: {bytes: {" ZEBRA "}}"},
        {"### `lognormal`\n", "row: {bytes: {lognormal: {" ZEBRA "}}}"},
        {"### `pareto`\n", "row: {bytes: {pareto: {" ZEBRA "}}}"},
        {"### `reads`\n", "reads: {" ZEBRA "}"},
        {"### `latest`\n", "reads: {latest: {" ZEBRA "}}"},
        {"### `range`\n", "reads: {range: {" ZEBRA "}}"},
        {"### `all`\n", "reads: {all: {" ZEBRA "}}"},
        {"### `read`\n", "strategies: [{time: {read: {" ZEBRA "}}}]"},
        {"### `sweep`\n", "sweep: {" ZEBRA "}"},
        {"### `seeds`\n", "sweep: {seeds: {" ZEBRA "}}"},
        {"### `limits`\n", "limits: {" ZEBRA "}"},
        {"### `cluster`\n", "cluster: {" ZEBRA "}"},
        {"### `datacenters`\n", "cluster: {datacenters: {dc1: {" ZEBRA "}}}"},
        {"### `consistency`\n", "cluster: {consistency: {" ZEBRA "}}"},
        {"### `network`\n", "cluster: {network: {" ZEBRA "}}"},
        {"### `latency` and `between`\n", "cluster: {network: {latency: {" ZEBRA "}}}"},
        {"### `lognormal` of a latency\n", "cluster: {network: {latency: {lognormal: {" ZEBRA "}}}}"},
        {"### `node`\n", "cluster: {node: {" ZEBRA "}}"},
        {"### `gc`\n", "cluster: {node: {gc: {" ZEBRA "}}}"},
        {"### `timeouts`\n", "cluster: {timeouts: {" ZEBRA "}}"},
        {"### `agents`\n", "agents: {" ZEBRA "}"},
        {"### `clock`\n", "agents: {clock: {" ZEBRA "}}"},
        {"### `faults`\n", "faults: [{" ZEBRA "}]"},
        {"### `node_down` and `gc_storm`\n", "faults: [{node_down: {" ZEBRA "}}]"},
        {"### `node_down` and `gc_storm`\n", "faults: [{gc_storm: {" ZEBRA "}}]"},
        {"### `slow_node`\n", "faults: [{slow_node: {" ZEBRA "}}]"},
        {"### `network_partition`\n", "faults: [{network_partition: {" ZEBRA "}}]"},
        {"### `lost_message` and `duplicate_message`\n", "faults: [{lost_message: {" ZEBRA "}}]"},
        {"### `lost_message` and `duplicate_message`\n", "faults: [{duplicate_message: {" ZEBRA "}}]"},
        {"### `delay`\n", "faults: [{delay: {" ZEBRA "}}]"},
        {"### `hint_loss`\n", "faults: [{hint_loss: {" ZEBRA "}}]"},
        {"### `agent_crash`\n", "faults: [{agent_crash: {" ZEBRA "}}]"},
        {"### `clock_jump`\n", "faults: [{clock_jump: {" ZEBRA "}}]"},
        {"### `random`\n", "faults: [{random: {" ZEBRA "}}]"},
        {"### `lock`\n", "strategies: [{probabilistic: {lock: {" ZEBRA "}}}]"},
        {"### `strategies`\n", "strategies: [{" ZEBRA "}]"},
        {"### `unbucketed`\n", "strategies: [{unbucketed: {" ZEBRA "}}]"},
        {"### `time`\n", "strategies: [{time: {" ZEBRA "}}]"},
        {"### `count`\n", "strategies: [{count: {" ZEBRA "}}]"},
        {"### `probabilistic`\n", "strategies: [{probabilistic: {" ZEBRA "}}]"},
        {"### `hash`\n", "strategies: [{hash: {" ZEBRA "}}]"},
        {"### `weighted`\n", "strategies: [{weighted: {" ZEBRA "}}]"},
    };
    static char manual[1 << 17];
    (void)state;
    FILE *file = fopen(BUCKETLAB_SOURCE_DIR "/docs/scenario.md", "r");
    assert_non_null(file);
    size_t size = fread(manual, 1, sizeof manual - 1, file);
    fclose(file);
    manual[size] = '\0';
    for (size_t i = 0; i < COUNT(cases); i++)
        check_section(manual, cases[i].heading, cases[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weighted_is_read_with_all_its_settings),
        cmocka_unit_test(test_scenario_with_every_field_is_read_whole),
        cmocka_unit_test(test_scenario_without_options_has_the_defaults),
        cmocka_unit_test(test_seed_of_the_caller_takes_precedence),
        cmocka_unit_test(test_row_bytes_spellings_give_equal_distributions),
        cmocka_unit_test(test_trace_is_found_from_the_scenarios_folder),
        cmocka_unit_test(test_scenario_without_a_name_uses_the_files_stem),
        cmocka_unit_test(test_null_and_other_spellings_are_accepted),
        cmocka_unit_test(test_values_at_the_bounds_are_accepted),
        cmocka_unit_test(test_override_changes_adds_and_removes_fields),
        cmocka_unit_test(test_scenario_again_keeps_overrides_and_takes_more),
        cmocka_unit_test(test_override_of_a_label_reaches_where_it_is),
        cmocka_unit_test(test_shipped_scenarios_are_sound),
        cmocka_unit_test(test_manual_lists_every_field_and_no_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
