/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: no identifier is given twice, whatever fails, unless the exceptions of the guarantee occur.
 * Method: each seed is a scenario of a few clients under drawn settings and drawn faults; the oracle's
 * count is compared with the table of guarantees. There are 200 seeds, or as many as the first argument
 * says, beginning with the second argument. Runs in which the guarantee is excused must sometimes break
 * it; otherwise the campaign would be too weak to detect anything. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../share.h"
#include "kernel/random.h"
#include "lab/run.h"

#define TEXT_SIZE 8192

struct text {
    char bytes[TEXT_SIZE];
    size_t length;
};

struct sum {
    uint64_t given, lost, stale, crashes, excused, broken_excused;
};

static __attribute__((format(printf, 2, 3))) void add(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text->bytes + text->length, TEXT_SIZE - text->length, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= TEXT_SIZE - text->length)
        abort();
    text->length += (size_t)length;
}

static uint64_t whole(struct sim_random *random, uint64_t least, uint64_t most)
{
    return least + sim_random_below(random, most - least + 1);
}

static void add_faults(struct text *text, struct sim_random *random, uint64_t agents, uint64_t nodes)
{
    static const char *const of_agent[] = {"agent_crash", "clock_jump"};
    static const char *const of_node[] = {"node_down", "gc_storm", "slow_node", "hint_loss"};
    static const char *const global[] = {"lost_message", "delay", "duplicate_message"};
    add(text, "faults:\n  - lost_message: {chance: 1%%, at: 0s, lasts: 1ms}\n");
    for (uint64_t i = whole(random, 0, 12); i > 0; i--) {
        uint64_t at_ms = whole(random, 0, 15000), lasts_ms = whole(random, 10, 4000),
                 kind = whole(random, 0, 9);
        if (kind <= 3) {
            add(text, "  - agent_crash: {agent: %llu, at: %llums, lasts: %llums}\n",
                (unsigned long long)whole(random, 0, agents - 1), (unsigned long long)at_ms,
                (unsigned long long)lasts_ms);
        } else if (kind == 4 && whole(random, 0, 5) == 0) {
            add(text, "  - %s: {agent: %llu, at: %llums, by: %s%llums}\n", of_agent[1],
                (unsigned long long)whole(random, 0, agents - 1), (unsigned long long)at_ms,
                whole(random, 0, 1) == 0 ? "-" : "", (unsigned long long)lasts_ms);
        } else if (kind <= 6) {
            const char *name = of_node[whole(random, 0, 3)];
            add(text, "  - %s: {node: %llu, at: %llums", name,
                (unsigned long long)whole(random, 0, nodes - 1), (unsigned long long)at_ms);
            if (strcmp(name, "hint_loss") != 0)
                add(text, ", lasts: %llums", (unsigned long long)lasts_ms);
            add(text, strcmp(name, "slow_node") == 0 ? ", factor: 300}\n" : "}\n");
        } else if (kind == 7) {
            add(text,
                "  - network_partition: {between: [agent %llu, node %llu], at: %llums, lasts: %llums}\n",
                (unsigned long long)whole(random, 0, agents - 1),
                (unsigned long long)whole(random, 0, nodes - 1), (unsigned long long)at_ms,
                (unsigned long long)lasts_ms);
        } else {
            uint64_t which = whole(random, 0, 2);
            add(text, "  - %s: {%s, at: %llums, lasts: %llums}\n", global[which],
                which == 1 ? "factor: 200" : "chance: 20%", (unsigned long long)at_ms,
                (unsigned long long)lasts_ms);
        }
    }
}

static void draw(uint64_t seed, struct text *text)
{
    static const char *const backoffs[] = {"random", "constant", "exponential"};
    struct sim_random random;
    sim_random_init(&random, seed, SIM_FAULT, 1u << 30);
    uint64_t agents = whole(&random, 2, 8), nodes = whole(&random, 1, 5);
    uint64_t lock_ms = whole(&random, 50, 2000), stripes = whole(&random, 1, 3);
    bool is_weak = nodes >= 3 && whole(&random, 0, 7) == 0;
    /* In three cases of four the lease allows for the differences of the clocks. */
    uint64_t bound_ms = whole(&random, 0, lock_ms / 5);
    uint64_t lease_ms = whole(&random, 0, 3) > 0 ? lock_ms - 2 * bound_ms - 1 : lock_ms - 1;
    text->length = 0;
    add(text, "seed: %llu\nduration: 20s\nidentifiers: {think: %lluus}\n", (unsigned long long)seed,
        (unsigned long long)whole(&random, 0, 1) * 100);
    add(text,
        "cluster:\n  nodes: %llu\n  consistency: {state: %s}\n  timeouts: {write: %llums, read: %llums, "
        "client: %llums}\n",
        (unsigned long long)nodes, is_weak ? "ONE" : "QUORUM", (unsigned long long)whole(&random, 20, 1000),
        (unsigned long long)whole(&random, 20, 1000), (unsigned long long)whole(&random, 20, 2000));
    add(text, "agents: {count: %llu, retries: %llu, restart: %llums, clock: {offset: %llums}}\n",
        (unsigned long long)agents, (unsigned long long)whole(&random, 0, 3),
        (unsigned long long)whole(&random, 1, 2000), (unsigned long long)bound_ms);
    add_faults(text, &random, agents, nodes);
    add(text,
        "strategies:\n  - idgen: {batch: %llu, stripes: %llu, lock: %s, lock_lasts: %llums, lease: %llums, "
        "backoff: {%s: %llums}}\n",
        (unsigned long long)whole(&random, 1, 50), (unsigned long long)stripes,
        whole(&random, 0, 3) == 0 ? "lwt" : "columns", (unsigned long long)lock_ms,
        (unsigned long long)lease_ms, backoffs[whole(&random, 0, 2)],
        (unsigned long long)whole(&random, 1, 40));
}

static uint64_t figure(const struct lab_strategy_result *strategy, const char *name)
{
    const struct lab_metric *metric = lab_metrics_find(&strategy->metrics, name);
    if (metric == NULL)
        abort();
    return (uint64_t)metric->value;
}

/* Returns whether the guarantee held. */
static bool judge(uint64_t seed, const struct lab_result *result, struct sum *sum)
{
    const struct lab_strategy_result *strategy = &result->strategies[0];
    unsigned lock = strategy->settings.idgen.lock;
    uint64_t twice = figure(strategy, "oracle.unique.violations");
    const struct lab_guarantee *guarantee = lab_guarantee_find(LAB_KIND_IDGEN, lock, LAB_ORACLE_UNIQUE);
    bool is_excused = (guarantee->except & strategy->verdict.conditions) != 0;
    sum->given += figure(strategy, "ids.given");
    sum->lost += figure(strategy, "ids.lost");
    sum->stale += figure(strategy, "locks.stale");
    sum->excused += is_excused;
    sum->broken_excused += is_excused && twice > 0;
    /* Every leased identifier is accounted for: given, in hand, or lost. */
    uint64_t accounted = figure(strategy, "ids.given") - twice + figure(strategy, "ids.in_hand") +
                         figure(strategy, "ids.lost");
    if (!is_excused && accounted != figure(strategy, "ids.leased"))
        printf("seed %llu: %llu accounted for of %llu leased\n", (unsigned long long)seed,
               (unsigned long long)accounted, (unsigned long long)figure(strategy, "ids.leased"));
    else if (!lab_guarantee_is_broken(LAB_KIND_IDGEN, lock, LAB_ORACLE_UNIQUE, &strategy->verdict))
        return true;
    printf("seed %llu: %s\n", (unsigned long long)seed, strategy->verdict.violations[LAB_ORACLE_UNIQUE].text);
    return false;
}

int main(int count, char **words)
{
    static struct text text;
    uint64_t seeds = count > 1 ? strtoull(words[1], NULL, 10) : test_part(200);
    uint64_t first = count > 2 ? strtoull(words[2], NULL, 10) : 1, broken = 0;
    struct sum sum = {0};
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        struct sim_error error = {0};
        struct lab_scenario *scenario;
        struct lab_result *result;
        draw(seed, &text);
        if (!lab_scenario_parse("drawn.yaml", text.bytes, text.length, NULL, 0, NULL, &scenario, &error) ||
            !lab_run(scenario, 1, NULL, &result, &error)) {
            printf("seed %llu: %s\n%s", (unsigned long long)seed, error.text, text.bytes);
            return 1;
        }
        bool held = judge(seed, result, &sum);
        broken += !held;
        if (!held || seeds == 1)
            fputs(text.bytes, stdout);
        lab_result_destroy(result);
        lab_scenario_destroy(scenario);
    }
    printf("%llu seeds: %llu given, %llu lost, %llu stale locks; %llu excused, %llu of them broken; %llu "
           "broken\n",
           (unsigned long long)seeds, (unsigned long long)sum.given, (unsigned long long)sum.lost,
           (unsigned long long)sum.stale, (unsigned long long)sum.excused,
           (unsigned long long)sum.broken_excused, (unsigned long long)broken);
    bool is_wild =
        seeds < 200 || (sum.lost > 0 && sum.stale > 0 && sum.excused < seeds / 2 && sum.broken_excused > 0);
    if (!is_wild)
        puts("too tame to see anything");
    return broken > 0 || !is_wild ? 1 : 0;
}
