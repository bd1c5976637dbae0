/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a seed gives a scenario that parses, that is always the same, and that differs in character from
 * others; the contents of a user's file hold in each scenario; shrinking keeps the required property and
 * terminates. Method: hundreds of seeds are drawn and counted, with various files as their base; a cheap
 * check replaces a run when scenarios are shrunk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/time.h"
#include "lab/fuzz.h"
#include "lab/run.h"

#define SEEDS 300u

static const struct lab_fuzz_base nothing = {0};

static struct lab_scenario *draw(const struct lab_fuzz_base *base, uint64_t seed)
{
    struct sim_error error = {SIM_ERROR_NONE, ""};
    struct lab_scenario *scenario;
    if (!lab_fuzz_scenario(base, seed, true, &scenario, &error))
        fail_msg("seed %llu: %s", (unsigned long long)seed, error.text);
    return scenario;
}

static struct lab_fuzz_base file(const char *text)
{
    return (struct lab_fuzz_base){.path = "folder/user.yaml", .text = text, .size = strlen(text)};
}

static uint32_t kinds_of(const struct lab_scenario *scenario)
{
    uint32_t kinds = 0;
    for (size_t i = 0; i < scenario->fault_count; i++)
        kinds |= scenario->faults[i].kinds;
    return kinds;
}

/* --- drawing */

static void test_seed_read_from_its_own_text_is_the_same_scenario(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct lab_scenario *drawn = draw(&nothing, seed), *again, *read;
        struct sim_error error;
        again = draw(&nothing, seed);
        assert_string_equal(drawn->text, again->text);
        assert_int_equal(drawn->seed, seed);
        /* The text alone is complete: it parses as a file, and nothing is missing that would have to be
         * drawn. */
        assert_true(
            lab_scenario_parse("x.yaml", drawn->text, drawn->text_size, NULL, 0, NULL, &read, &error));
        assert_int_equal(read->seed, seed);
        assert_int_equal(read->fault_count, drawn->fault_count);
        assert_int_equal(read->workload.duration_ns, drawn->workload.duration_ns);
        assert_memory_equal(&read->agents, &drawn->agents, sizeof read->agents);
        if (seed % 30 == 0) {
            struct lab_result *one, *other;
            assert_true(lab_run(drawn, 1, NULL, &one, &error));
            assert_true(lab_run(read, 1, NULL, &other, &error));
            assert_int_equal(one->digest, other->digest);
            lab_result_destroy(one);
            lab_result_destroy(other);
        }
        struct lab_fuzz_base itself = file(drawn->text);
        struct lab_scenario *same = draw(&itself, seed);
        assert_string_equal(same->text, drawn->text);
        lab_scenario_destroy(same);
        lab_scenario_destroy(drawn);
        lab_scenario_destroy(again);
        lab_scenario_destroy(read);
    }
}

/* These kinds excuse many violations. */
static const uint32_t rare_kinds = 1u << LAB_FAULT_CLOCK_JUMP | 1u << LAB_FAULT_STATE_LOST |
                                   1u << LAB_FAULT_STATE_RESTORED | 1u << LAB_FAULT_PAXOS_LOSS;

static void test_seeds_differ_in_their_kinds_of_fault(void **state)
{
    (void)state;
    unsigned without = 0, with_all = 0, with[LAB_FAULT_KIND_COUNT] = {0}, agents[9] = {0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct lab_scenario *scenario = draw(&nothing, seed);
        uint32_t kinds = kinds_of(scenario);
        without += kinds == 0;
        with_all += (kinds | rare_kinds) == (1u << LAB_FAULT_KIND_COUNT) - 1;
        for (unsigned kind = 0; kind < LAB_FAULT_KIND_COUNT; kind++)
            with[kind] += kinds >> kind & 1;
        assert_in_range(scenario->agents.count, 1, 8);
        agents[scenario->agents.count]++;
        if (!scenario->identifiers.present)
            assert_in_range(scenario->workload.key_count, 1, 16);
        assert_int_equal(scenario->strategy_count, 1);
        /* All faults end while a large part of the run remains. */
        for (size_t i = 0; i < scenario->fault_count; i++) {
            const struct lab_fault *fault = &scenario->faults[i];
            bool has_end = ((rare_kinds | 1u << LAB_FAULT_HINT_LOSS) & fault->kinds) == 0;
            int64_t end_ns = fault->at_ns + (has_end ? fault->lasts_ns : 0);
            assert_true(end_ns <= scenario->workload.duration_ns / 100 * 61);
        }
        lab_scenario_destroy(scenario);
    }
    assert_in_range(without, SEEDS / 8, SEEDS / 4);
    assert_in_range(with_all, SEEDS / 20, SEEDS / 4);
    for (unsigned kind = 0; kind < LAB_FAULT_KIND_COUNT; kind++) {
        bool is_rare = rare_kinds >> kind & 1;
        assert_in_range(with[kind], is_rare ? SEEDS / 50 : SEEDS / 4, is_rare ? SEEDS / 4 : SEEDS * 2 / 3);
    }
    for (unsigned count = 1; count <= 8; count++)
        assert_true(agents[count] > 0);
}

static void test_seeds_try_every_kind_of_strategy_and_leads_of_both_sorts(void **state)
{
    (void)state;
    unsigned kinds[BK_KINDS] = {0}, protocols[LAB_PROTOCOL_COUNT] = {0}, counters[3] = {0}, safe = 0;
    unsigned sources[LAB_PROTOCOL_COUNT] = {0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct lab_scenario *scenario = draw(&nothing, seed);
        const struct lab_strategy *strategy = &scenario->strategies[0];
        kinds[strategy->settings.strategy.kind]++;
        if (strategy->settings.strategy.kind == BK_KIND_COUNT)
            sources[strategy->settings.source]++;
        if (bk_kind_fires(strategy->settings.strategy.kind)) {
            protocols[strategy->settings.coordination]++;
            counters[strategy->settings.counter]++;
        }
        safe +=
            strategy->settings.coordination == BK_THREE_STATE &&
            strategy->settings.lead_ns > scenario->agents.cache_ttl_ns + 2 * scenario->agents.clock_bound_ns;
        lab_scenario_destroy(scenario);
    }
    for (unsigned kind = 0; kind < BK_KINDS; kind++)
        assert_true(kinds[kind] > 0);
    assert_true(kinds[BK_KIND_PROBABILISTIC] > SEEDS * 2 / 3);
    for (unsigned protocol = BK_SINGLE; protocol <= BK_THREE_STATE; protocol++)
        assert_true(protocols[protocol] > SEEDS / 20);
    for (unsigned counter = 0; counter < 3; counter++)
        assert_true(counters[counter] > SEEDS / 10);
    unsigned drawn = 0;
    for (unsigned source = 0; source < LAB_PROTOCOL_COUNT; source++)
        drawn += sources[source] > 0;
    assert_true(drawn >= 4); /* few seeds count */
    assert_in_range(safe, protocols[BK_THREE_STATE] / 2,
                    protocols[BK_THREE_STATE] * 9 / 10); /* three in four */
}

static bool has_checkpoint(const struct lab_scenario *scenario)
{
    for (size_t i = 0; i < scenario->fault_count; i++) {
        if (scenario->faults[i].kinds == 1u << LAB_FAULT_AGENT_CRASH && scenario->faults[i].age_ns > 0)
            return true;
    }
    return false;
}

/* Each of these is in at least one seed of a hundred, and in fewer than a third of the seeds. */
static void test_seeds_have_what_is_rare_now_and_then(void **state)
{
    (void)state;
    unsigned counts[20] = {0};
    const uint64_t seeds = 1000;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct lab_scenario *s = draw(&nothing, seed);
        const struct lab_strategy *strategy = &s->strategies[0];
        const struct wl_workload *workload = &s->workload;
        const bool has[] = {
            s->identifiers.present,
            workload->late_share > 0,
            workload->early_share > 0,
            workload->resolution_ns > 0,
            workload->backfill_before_ns > 0,
            s->row_ttl_ns > 0,
            s->deletes.share > 0,
            s->reads.kinds[LAB_READ_RANGE].rate_per_s > 0,
            s->reads.kinds[LAB_READ_ALL].rate_per_s > 0,
            s->agents.clock_resolution_ns > 0,
            !s->identifiers.present &&
                s->agents.cache_entries<
                    workload->key_count, s->agents.by_key, strategy->settings.reading.plan != BK_PLAN_DEFAULT,
                    strategy->settings.reading.remembers_empty, strategy->settings.change_count> 0,
            s->network.datacenters[0].racks > 1,
            s->network.datacenter_count > 2,
            s->consistency.write == CASS_ANY || s->consistency.write == CASS_EACH_QUORUM,
            has_checkpoint(s),
        };
        for (size_t i = 0; i < sizeof has / sizeof *has; i++)
            counts[i] += has[i];
        /* Grants are multiples of the clock's resolution, so that times hit their ends exactly. */
        if (s->agents.clock_resolution_ns > 0 && strategy->settings.grant_ns > 0)
            assert_true(strategy->settings.grant_ns % s->agents.clock_resolution_ns == 0);
        lab_scenario_destroy(s);
    }
    for (size_t i = 0; i < 19; i++) {
        if (counts[i] < seeds / 100 || counts[i] > seeds / 3)
            fail_msg("the rare feature %zu is in %u of %u seeds", i, counts[i], (unsigned)seeds);
    }
}

/* --- what the user's file says */

static void test_file_with_strategies_and_a_clock_keeps_them_in_every_seed(void **state)
{
    (void)state;
    const struct lab_fuzz_base base = file("agents: {clock: {offset: 10ms, bound: 20ms}, cache_ttl: 700ms}\n"
                                           "cluster: {nodes: 4}\n"
                                           "seed: 99\n"
                                           "expect: [\"b.partitions.total == 12345\"]\n"
                                           "strategies:\n"
                                           "  - probabilistic: {bits: 3, threshold: 7, label: \"a: 1\"}\n"
                                           "  - hash: {buckets: 3, label: b}\n");
    bool has_other_agents = false, has_faults = false, has_none = false;
    uint32_t agents = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct lab_scenario *scenario = draw(&base, seed);
        assert_int_equal(scenario->seed, seed);
        assert_int_equal(scenario->strategy_count, 2);
        assert_string_equal(scenario->strategies[0].label, "a: 1");
        assert_string_equal(scenario->strategies[1].label, "b");
        assert_int_equal(scenario->agents.clock_offset_ns, 10 * SIM_MS);
        assert_int_equal(scenario->agents.clock_bound_ns, 20 * SIM_MS);
        assert_int_equal(scenario->agents.cache_ttl_ns, 700 * SIM_MS);
        assert_int_equal(scenario->cluster.nodes, 4);
        assert_int_equal(scenario->expect_count, 0);
        assert_string_equal(scenario->name, "user");
        has_other_agents = has_other_agents || (seed > 1 && scenario->agents.count != agents);
        agents = scenario->agents.count;
        has_faults = has_faults || scenario->fault_count > 0;
        has_none = has_none || scenario->fault_count == 0;
        lab_scenario_destroy(scenario);
    }
    assert_true(has_other_agents && has_faults && has_none);
}

static void test_complete_file_gets_only_a_seed(void **state)
{
    (void)state;
    char *text;
    struct lab_fuzz_base base = {.path = BUCKETLAB_SOURCE_DIR "/scenarios/faults.yaml"};
    struct sim_error error;
    struct lab_scenario *plain;
    assert_true(lab_scenario_text(base.path, &text, &base.size, &error));
    base.text = text;
    assert_true(lab_scenario_load(base.path, NULL, 0, NULL, &plain, &error));
    for (uint64_t seed = 5; seed < 8; seed++) {
        struct lab_scenario *scenario = draw(&base, seed);
        assert_int_equal(scenario->seed, seed);
        assert_int_equal(scenario->fault_count, plain->fault_count);
        assert_memory_equal(&scenario->agents, &plain->agents, sizeof plain->agents);
        assert_int_equal(scenario->network.seed, seed);
        assert_int_equal(scenario->network.timeout_write_ns, plain->network.timeout_write_ns);
        assert_false(scenario->reads.present && !plain->reads.present);
        lab_scenario_destroy(scenario);
    }
    lab_scenario_destroy(plain);
    free(text);
}

/* The drawn settings follow from these figures and stay within the limits of a scenario. */
static void test_file_of_extreme_figures_gives_scenarios(void **state)
{
    (void)state;
    const char *const texts[] = {"duration: 30ns\n", "duration: 365d\n", "arrivals: {rate: 0.0001/d}\n",
                                 "start: 2038-01-19T03:12:00Z\n", "start: 2040-01-01\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct lab_fuzz_base base = file(texts[i]);
        for (uint64_t seed = 1; seed <= 60; seed++)
            lab_scenario_destroy(draw(&base, seed));
    }
}

static void test_datacenter_without_nodes_is_named_in_every_seed(void **state)
{
    (void)state;
    const struct lab_fuzz_base base = file("cluster: {datacenters: {dc1: {replication_factor: 3}}}\n");
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct sim_error error = {SIM_ERROR_NONE, ""};
        struct lab_scenario *scenario;
        assert_false(lab_fuzz_scenario(&base, seed, true, &scenario, &error));
        assert_non_null(strstr(error.text, "folder/user.yaml:1:30: 'nodes' is missing"));
    }
}

static void test_null_panel_is_not_drawn(void **state)
{
    (void)state;
    const struct lab_fuzz_base base = file("faults: null\nreads: null\n");
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct lab_scenario *scenario = draw(&base, seed);
        assert_int_equal(scenario->fault_count, 0);
        assert_false(scenario->reads.present);
        lab_scenario_destroy(scenario);
    }
}

static void test_override_counts_as_said_by_the_file(void **state)
{
    (void)state;
    static const struct lab_override overrides[] = {{"agents.count=3"},
                                                    {"cluster.datacenters={east: {nodes: 5}}"}};
    const struct lab_fuzz_base base = {.overrides = overrides, .override_count = 2};
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct lab_scenario *scenario = draw(&base, seed);
        assert_int_equal(scenario->agents.count, 3);
        assert_int_equal(scenario->cluster.nodes, 5);
        lab_scenario_destroy(scenario);
    }
}

static void test_trace_gets_no_keys_and_no_timed_faults(void **state)
{
    (void)state;
    const struct lab_fuzz_base base = file("trace: {file: a.csv}\nstrategies: [{unbucketed: {}}]\n");
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct lab_scenario *scenario = draw(&base, seed);
        assert_string_equal(scenario->trace_path, "folder/a.csv");
        assert_int_equal(scenario->fault_count, 0);
        assert_true(scenario->agents.present);
        lab_scenario_destroy(scenario);
    }
}

static void test_wrong_file_is_named_by_its_own_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"strategies:\n  - hash: {bukets: 3}\n", "folder/user.yaml:2:12: unknown field 'bukets'"},
        {"agents:\n  count: 0\n", "folder/user.yaml:2:10: 'count: 0'"},
        {"\n\n- a\n", "folder/user.yaml:3:1: no fields here"},
        {"keys: {count: 1", "folder/user.yaml:"},
        {"strategies: [{unbucketed: {}}]\nfaults: [{node_down: {node: 9999, at: 1s}}]\n",
         "folder/user.yaml:2:29: 'node: 9999'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct lab_fuzz_base base = file(cases[i].text);
        struct sim_error error = {SIM_ERROR_NONE, ""};
        struct lab_scenario *scenario = (struct lab_scenario *)&error;
        assert_false(lab_fuzz_scenario(&base, 1, true, &scenario, &error));
        assert_null(scenario);
        assert_int_equal(error.class, SIM_ERROR_INPUT);
        if (strstr(error.text, cases[i].error) != error.text)
            fail_msg("'%s' does not begin with '%s'", error.text, cases[i].error);
    }
}

/* --- writing */

static void test_text_with_a_special_meaning_in_yaml_is_quoted(void **state)
{
    (void)state;
    static const char text[] = "about: \"two\\nlines: \\\"a\\\" \\\\ # { [ ü\"\n"
                               "name: \"- x\"\n"
                               "strategies:\n"
                               "  - unbucketed: {label: \"null\"}\n"
                               "  - hash: {buckets: 2, label: 'it''s: a'}\n"
                               "  - unbucketed:\n"
                               "    label: '#1'\n"
                               "expect: ['null.writes.rows > 0']\n"
                               "duration: 1d\nkeys: {count: 1}\narrivals: {rate: 1/h}\n";
    struct sim_error error;
    struct lab_scenario *one, *other;
    char *written, *again;
    assert_true(lab_fuzz_rewrite(text, NULL, 0, &written, &error));
    assert_true(lab_scenario_parse("x", text, strlen(text), NULL, 0, NULL, &one, &error));
    if (!lab_scenario_parse("x", written, strlen(written), NULL, 0, NULL, &other, &error))
        fail_msg("%s\n%s", error.text, written);
    assert_string_equal(one->about, other->about);
    assert_string_equal(one->name, other->name);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(one->strategies[i].label, other->strategies[i].label);
    assert_string_equal(one->expects[0].text, other->expects[0].text);
    assert_true(lab_fuzz_rewrite(written, NULL, 0, &again, &error));
    assert_string_equal(written, again);
    free(written);
    free(again);
    lab_scenario_destroy(one);
    lab_scenario_destroy(other);
}

/* --- shrinking */

struct question {
    unsigned asked;
    uint32_t kinds, agents; /* that must remain at least */
};

/* A scenario with at least this many agents, and with these kinds of fault. */
static bool has_enough(void *context, const char *text)
{
    struct question *question = context;
    struct lab_scenario *scenario;
    question->asked++;
    if (!lab_scenario_parse("x", text, strlen(text), NULL, 0, NULL, &scenario, NULL))
        return false;
    bool is_enough = (kinds_of(scenario) & question->kinds) == question->kinds &&
                     scenario->agents.count >= question->agents;
    lab_scenario_destroy(scenario);
    return is_enough;
}

static void test_shrunk_scenario_keeps_what_it_must_and_loses_the_rest(void **state)
{
    (void)state;
    unsigned shrunk_count = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct lab_scenario *scenario = draw(&nothing, seed), *small;
        struct question question = {.kinds = 1u << LAB_FAULT_NETWORK_PARTITION | 1u << LAB_FAULT_DELAY,
                                    .agents = 2};
        struct sim_error error = {SIM_ERROR_NONE, ""};
        char *shrunk;
        if (has_enough(&question, scenario->text)) {
            shrunk_count++;
            assert_true(lab_shrink(scenario->text, 2000, has_enough, &question, &shrunk, &error));
            assert_true(has_enough(&question, shrunk));
            assert_true(lab_scenario_parse("x", shrunk, strlen(shrunk), NULL, 0, NULL, &small, &error));
            assert_int_equal(small->fault_count, 2);
            /* A network partition of agent 2, for example, keeps three agents. */
            uint32_t needed = 2;
            for (size_t i = 0; i < 2; i++) {
                for (size_t j = 0; j < 2; j++) {
                    const struct lab_group *group = &small->faults[i].between[j];
                    if (small->faults[i].kinds == 1u << LAB_FAULT_NETWORK_PARTITION &&
                        group->kind == LAB_GROUP_AGENT && group->index >= needed)
                        needed = group->index + 1;
                }
            }
            assert_int_equal(small->agents.count, needed);
            assert_int_equal(small->workload.key_count, 1);
            assert_false(small->reads.present);
            assert_int_equal(small->seed, seed);
            assert_true(strlen(shrunk) < strlen(scenario->text) / 2);
            lab_scenario_destroy(small);
            free(shrunk);
        }
        lab_scenario_destroy(scenario);
    }
    assert_true(shrunk_count > 3);
}

/* Called for each shrunk text: checks that it is shorter, and says whether it is to be kept. */
struct cuts {
    size_t size, count;
    bool is_kept;
};

static bool keep_or_not(void *context, const char *text)
{
    struct cuts *cuts = context;
    cuts->count++;
    if (cuts->is_kept)
        cuts->size = strlen(text);
    return cuts->is_kept;
}

/* Texts that a later version or a user may write: with other shapes, or without numbers. None of their values
 * is shrunk. */
static void test_shrinking_a_text_that_is_no_scenario_ends(void **state)
{
    static const char *const texts[] = {
        "agents: {count: [1]}\narrivals: {rate: [1]}\ncluster: {nodes: {}, replication_factor: x}\n"
        "duration: [1]\nfaults: 5\nkeys: 3\nreads: {latest: [1]}\nstrategies: x\n",
        "agents: {count: x}\narrivals: {rate: x}\ncluster: {nodes: x}\nduration: x\nfaults:\n"
        "  - 5\n  - {label: x}\n  - {node_down: 3}\n  - {agent_crash: {agent: x, at: x, lasts: x}}\n"
        "  - {slow_node: {node: [1], at: [1]}}\n  - {network_partition: {between: [agent x, node x, agents, "
        "[1]]}}\n"
        "strategies: [7, {label: x}, {hash: 3}, {unbucketed: {}}]\n",
        "agents: {count: 0}\narrivals: {rate: 0.0001/s}\nduration: 0s\nfaults: []\nstrategies: []\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct cuts cuts = {.size = strlen(texts[i])};
        struct sim_error error = {SIM_ERROR_NONE, ""};
        char *shrunk;
        assert_true(lab_shrink(texts[i], 10000, keep_or_not, &cuts, &shrunk, &error));
        assert_string_equal(shrunk, texts[i]);
        assert_in_range(cuts.count, 5, 100);
        free(shrunk);
        /* If every step is kept, nothing remains to be parsed, and the callback is never called with an empty
         * text. */
        cuts.is_kept = true;
        assert_false(lab_shrink(texts[i], 10000, keep_or_not, &cuts, &shrunk, &error));
        assert_null(shrunk);
        assert_true(cuts.size < 8);
        assert_non_null(strstr(error.text, "nothing in it; "));
    }
    static const struct {
        const char *text, *wanted;
    } refused[] = {{"keys: [", "fuzz:"}, {"7\n", "fuzz:1:1: no fields here; "}};
    for (size_t i = 0; i < 2; i++) {
        struct sim_error error = {SIM_ERROR_NONE, ""};
        struct cuts cuts = {0};
        char *shrunk;
        assert_false(lab_shrink(refused[i].text, 10, keep_or_not, &cuts, &shrunk, &error));
        assert_null(shrunk);
        assert_int_equal(error.class, SIM_ERROR_INPUT);
        if (strncmp(error.text, refused[i].wanted, strlen(refused[i].wanted)) != 0)
            fail_msg("%s", error.text);
    }
}

/* Of several strategies one remains, whichever it is. */
static void test_shrinking_keeps_one_strategy(void **state)
{
    (void)state;
    struct sim_error error = {SIM_ERROR_NONE, ""};
    struct question question = {.agents = 1};
    char *shrunk;
    assert_true(lab_shrink("agents: {count: 2}\narrivals: {rate: 1/s}\nduration: 8s\nkeys: {count: 1}\n"
                           "strategies: [unbucketed: {}, hash: {buckets: 2}, time: {window: 1s}]\n",
                           1000, has_enough, &question, &shrunk, &error));
    assert_true((strstr(shrunk, "unbucketed") != NULL) + (strstr(shrunk, "hash") != NULL) +
                    (strstr(shrunk, "time") != NULL) ==
                1);
    free(shrunk);
}

static void test_shrinking_stops_at_its_number_of_tries(void **state)
{
    (void)state;
    struct lab_scenario *scenario = draw(&nothing, 1);
    struct sim_error error;
    for (uint32_t tries = 0; tries < 30; tries += 7) {
        struct question question = {.agents = 1};
        char *shrunk;
        assert_true(lab_shrink(scenario->text, tries, has_enough, &question, &shrunk, &error));
        assert_int_equal(question.asked, tries);
        free(shrunk);
    }
    lab_scenario_destroy(scenario);
}

static void test_scenario_that_cannot_shrink_is_unchanged(void **state)
{
    (void)state;
    struct lab_scenario *scenario = draw(&nothing, 1);
    struct question question = {.agents = UINT32_MAX};
    struct sim_error error;
    char *shrunk, *same;
    assert_true(lab_shrink(scenario->text, 100000, has_enough, &question, &shrunk, &error));
    assert_true(lab_fuzz_rewrite(scenario->text, NULL, 0, &same, &error));
    assert_string_equal(shrunk, same);
    assert_in_range(question.asked, 30, 300);
    free(shrunk);
    free(same);
    lab_scenario_destroy(scenario);
}

/* --- judging */

static struct lab_result *result_of(struct lab_strategy_result *strategies, size_t count)
{
    static struct lab_result result;
    result = (struct lab_result){.rows = 10 * count, .strategies = strategies, .strategy_count = count};
    return &result;
}

static void test_breach_is_a_violation_that_was_guaranteed_and_not_excused(void **state)
{
    (void)state;
    struct lab_strategy_result runs[2] = {0};
    struct lab_breach breach;
    for (int i = 0; i < 2; i++) {
        runs[i].settings.strategy.kind = BK_KIND_PROBABILISTIC;
        runs[i].settings.coordination = BK_THREE_STATE;
        runs[i].verdict.is_judged[LAB_ORACLE_FINDABLE] = true;
        runs[i].verdict.rolls = 5;
    }
    assert_false(lab_breach_find(result_of(runs, 2), &breach));
    runs[1].verdict.violations[LAB_ORACLE_FINDABLE].count = 3;
    assert_true(lab_breach_find(result_of(runs, 2), &breach));
    assert_int_equal(breach.strategy, 1);
    assert_int_equal(breach.oracle, LAB_ORACLE_FINDABLE);

    struct lab_fuzz_tally tally;
    struct lab_fuzz_outcome outcome;
    lab_fuzz_tally_init(&tally);
    lab_fuzz_outcome_of(result_of(runs, 2), &outcome);
    assert_true(lab_fuzz_tally_add(&tally, &outcome));
    runs[1].verdict.violations[LAB_ORACLE_FINDABLE].excuse_count = 1;
    runs[1].verdict.violations[LAB_ORACLE_FINDABLE].excuses[0] = 1u << LAB_CONDITION_SHORT_LEAD;
    runs[1].verdict.probes[LAB_PROBE_LATE_ROW] = 7;
    runs[1].verdict.rolls = 9;
    /* Of 20 rows 3 are not acknowledged: 85 % are kept. */
    struct lab_metric lost[] = {{.name = "writes.refused", .value = 2},
                                {.name = "writes.unresolved", .value = 1}};
    runs[1].metrics = (struct lab_metrics){.items = lost, .count = 2};
    assert_false(lab_breach_find(result_of(runs, 2), &breach));
    lab_fuzz_outcome_of(result_of(runs, 2), &outcome);
    assert_true(lab_fuzz_tally_add(&tally, &outcome));

    const struct lab_fuzz_cell *cell =
        &tally.cells[BK_KIND_PROBABILISTIC][BK_THREE_STATE][LAB_ORACLE_FINDABLE];
    assert_int_equal(tally.seeds, 2);
    assert_int_equal(tally.runs[BK_KIND_PROBABILISTIC][BK_THREE_STATE], 4);
    assert_int_equal(cell->judged, 4);
    assert_int_equal(cell->violated, 2);
    assert_int_equal(cell->broken, 1);
    assert_int_equal(cell->excused, 1);
    assert_int_equal(cell->excuses[LAB_CONDITION_SHORT_LEAD], 1);
    /* No guarantee names this condition, so it excuses nothing. */
    assert_int_equal(cell->excuses[LAB_CONDITION_MANY_AGENTS], 0);
    const struct lab_fuzz_cell *kept = tally.cells[BK_KIND_PROBABILISTIC][BK_THREE_STATE];
    assert_int_equal(kept[LAB_FUZZ_KEPT_BELOW_99].judged, 1);
    assert_int_equal(kept[LAB_FUZZ_KEPT_BELOW_99].violated, 1);
    assert_int_equal(kept[LAB_FUZZ_KEPT_BELOW_90].violated, 1);
    assert_int_equal(kept[LAB_FUZZ_KEPT_BELOW_50].judged, 1);
    assert_int_equal(kept[LAB_FUZZ_KEPT_BELOW_50].violated, 0);
    assert_int_equal(tally.probes[LAB_PROBE_LATE_ROW], 1);
    assert_int_equal(lab_histogram_quantile(&tally.rolls, 0.5), 5);
    assert_int_equal(lab_histogram_quantile(&tally.rows, 0.5), 20);
    lab_fuzz_tally_clear(&tally);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seed_read_from_its_own_text_is_the_same_scenario),
        cmocka_unit_test(test_seeds_differ_in_their_kinds_of_fault),
        cmocka_unit_test(test_seeds_have_what_is_rare_now_and_then),
        cmocka_unit_test(test_seeds_try_every_kind_of_strategy_and_leads_of_both_sorts),
        cmocka_unit_test(test_file_with_strategies_and_a_clock_keeps_them_in_every_seed),
        cmocka_unit_test(test_complete_file_gets_only_a_seed),
        cmocka_unit_test(test_file_of_extreme_figures_gives_scenarios),
        cmocka_unit_test(test_datacenter_without_nodes_is_named_in_every_seed),
        cmocka_unit_test(test_null_panel_is_not_drawn),
        cmocka_unit_test(test_override_counts_as_said_by_the_file),
        cmocka_unit_test(test_trace_gets_no_keys_and_no_timed_faults),
        cmocka_unit_test(test_wrong_file_is_named_by_its_own_line),
        cmocka_unit_test(test_text_with_a_special_meaning_in_yaml_is_quoted),
        cmocka_unit_test(test_shrunk_scenario_keeps_what_it_must_and_loses_the_rest),
        cmocka_unit_test(test_shrinking_a_text_that_is_no_scenario_ends),
        cmocka_unit_test(test_shrinking_keeps_one_strategy),
        cmocka_unit_test(test_shrinking_stops_at_its_number_of_tries),
        cmocka_unit_test(test_scenario_that_cannot_shrink_is_unchanged),
        cmocka_unit_test(test_breach_is_a_violation_that_was_guaranteed_and_not_excused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
