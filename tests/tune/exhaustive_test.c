/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: in the cluster engine, `tune` gives the answer of an exhaustive search.
 * Method: random small scenarios; each is tuned twice: as `tune` does it, and with whole runs of all settings
 * with all seeds, those that the distribution refuses included. Seeds are fixed, so no failure is a matter of
 * chance. The argument `all` takes more scenarios. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../lab/scenario_of.h"
#include "kernel/random.h"
#include "tune/contest.h"

/* Of several hundred settings, chance makes one cheaper by this much that is not so on average. */
#define AS_CHEAP 1.04

static bool is_all;

static struct sim_random dice;

static unsigned pick(const unsigned *values, unsigned count)
{
    return values[sim_random_below(&dice, count)];
}
#define PICK(...)                                                                                            \
    pick((const unsigned[]){__VA_ARGS__}, sizeof(const unsigned[]){__VA_ARGS__} / sizeof(unsigned))

static bool often(unsigned percent)
{
    return sim_random_below(&dice, 100) < percent;
}

/* Appends to `text`, which has room for 4096 bytes. */
__attribute__((format(printf, 2, 3))) static void add(char *text, const char *format, ...)
{
    const size_t size = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    assert_in_range(vsnprintf(text + size, 4096 - size, format, arguments), 0, 4095 - (int)size);
    va_end(arguments);
}

static void add_faults(char *text)
{
    static const char *const faults[] = {
        "node_down: {node: 0, at: 5s, lasts: 4s}",
        "slow_node: {node: 0, at: 3s, lasts: 10s}",
        "network_partition: {between: [agents, node 0], at: 6s, lasts: 5s}",
        "lost_message: {chance: 5%, at: 2s, lasts: 12s}",
        "agent_crash: {rate: 300/h}",
    };
    add(text, "faults: [%s]\n", faults[sim_random_below(&dice, sizeof faults / sizeof *faults)]);
}

static void add_strategies(char *text, unsigned limit)
{
    const unsigned bits = PICK(1, 2, 3), threshold = (limit * 6 / 10 >> bits) + 1;
    const char *const age = often(30) ? ", max_age: 10s" : "";
    const char *const counter = often(30) ? ", counter: lwt" : often(50) ? ", counter: counter" : "";
    unsigned kinds = PICK(1, 2, 4, 8, 16, 32, 64, 128, 256);
    kinds |= PICK(1, 2, 4, 8, 16, 32, 64, 128, 256);
    add(text, "strategies:\n");
    const char *const labels[] = {"single", "locked", "guarded"};
    for (unsigned i = 0; i < 3; i++) {
        if ((kinds >> i & 1) != 0)
            add(text, "  - probabilistic: {bits: %u, threshold: %u, coordination: %s, label: %s%s%s}\n", bits,
                threshold, labels[i], labels[i], age, i == 2 ? "" : counter);
    }
    if ((kinds & 8) != 0)
        add(text,
            "  - probabilistic: {bits: %u, threshold: %u, coordination: three-state, lead: 3s, label: "
            "three%s%s}\n",
            bits, threshold, age, counter);
    if ((kinds & 16) != 0)
        add(text, "  - weighted: {bytes: %uB, threshold: 4, coordination: three-state, lead: 3s}\n",
            limit * 38);
    if ((kinds & 32) != 0)
        add(text, "  - time: {window: %us}\n", PICK(2, 5, 10));
    if ((kinds & 64) != 0)
        add(text, "  - count: {rows: %u, counter: external, label: external}\n", limit / 2);
    if ((kinds & 128) != 0)
        add(text, "  - count: {rows: %u, counter: lease, batch: 10, label: lease}\n", limit / 2);
    if ((kinds & 256) != 0)
        add(text, "  - count: {rows: %u, counter: scan, every_rows: 8, label: scan}\n", limit / 2);
}

static struct lab_scenario *draw_scenario(uint64_t number)
{
    char text[4096] = "";
    sim_random_init(&dice, number, SIM_ROW_ID, 0);
    const unsigned rate = PICK(10, 20, 30, 60), lasts_s = PICK(20, 30, 60), keys = PICK(2, 3, 4);
    const unsigned fits = rate * lasts_s / keys / PICK(2, 3, 5, 8), nodes = PICK(1, 3, 3);
    const unsigned limit = fits < 60 ? 60 : fits > 400 ? 400 : fits, share = PICK(0, 2, 5, 10, 20);
    const bool has_reads = often(75);
    add(text, "seed: %u\nduration: %us\nkeys: {count: %u%s}\n", PICK(1, 20, 300), lasts_s, keys,
        often(40) ? ", popularity: {zipf: 0.8}" : "");
    add(text, "arrivals: {rate: %u/s%s%s}\n", rate, often(25) ? ", late: {share: 10%, by: 5s}" : "",
        often(25) ? ", bursts: {on: 2s, off: 8s, factor: 4}" : "");
    add(text, "row: {bytes: 200}\n%s", often(20) ? "deletes: {share: 50%, after: 5s}\n" : "");
    if (has_reads)
        add(text, "reads: {latest: {rows: %u, rate: %u/s}}\n", PICK(5, 20), PICK(1, 4));
    if (often(75))
        add(text, "limits: {partition_rows: %u, over_limit_share: %u%%}\n", limit, share);
    else
        add(text, "limits: {partition_bytes: %uB, over_limit_share: %u%%}\n", limit * 220, share);
    add(text, "cluster: {nodes: %u, replication_factor: %u}\n", nodes, nodes);
    add(text, "agents: {count: %u, cache_ttl: %ums, cache_entries: 8, operations: 32}\n", PICK(1, 2, 3, 4),
        PICK(0, 500, 1000));
    if (often(35))
        add_faults(text);
    add(text, "tune: {seeds: %u}\n", PICK(3, 5, 8));
    if (often(30))
        add(text, "prices: {counter_increment: %u, partition_read: %u}\n", PICK(1, 4), PICK(1, 2));
    add_strategies(text, limit);
    return scenario_of("", text);
}

static void tune(struct tune_contest *contest, const struct lab_scenario *scenario, bool is_exhaustive)
{
    struct sim_error error = {0};
    if (!tune_contest_begin(contest, scenario, &scenario->tune, 1, NULL, &error))
        fail_msg("%s", error.text);
    for (size_t i = 0; is_exhaustive && i < contest->race.count; i++) {
        struct tune_entrant *entrant = &contest->race.entrants[i];
        if (entrant->status == TUNE_REFUSED) {
            entrant->status = TUNE_HOLDS;
            entrant->has_distribution = false;
        }
    }
    contest->stops_early = contest->race.drops = !is_exhaustive;
    if (!tune_contest_run(contest, 1, NULL, &error))
        fail_msg("%s", error.text);
}

static const struct tune_entrant *find(const struct tune_contest *contest, const char *label)
{
    for (size_t i = 0; label != NULL && i < contest->race.count; i++) {
        if (strcmp(contest->race.entrants[i].strategy.label, label) == 0)
            return &contest->race.entrants[i];
    }
    return NULL;
}

/* The best setting of a kind, or of all with BK_KIND_COUNT, by the figures of the exhaustive search. NULL if
 * it was not shown to hold. */
static const struct tune_entrant *best_of(const struct tune_contest *contest, const struct tune_contest *all,
                                          unsigned kind)
{
    return contest->race.is_shown ? find(all, tune_contest_best(contest, (enum bk_kind)kind)) : NULL;
}

/* Where nothing is shown to hold, the exhaustive search knows less of a setting that the distribution
 * refuses.
 */
static void check_refused(uint64_t number, const struct tune_contest *contest, const struct tune_contest *all)
{
    for (size_t i = 0; i < contest->race.count; i++) {
        const struct tune_entrant *entrant = &all->race.entrants[i];
        if (contest->race.entrants[i].status == TUNE_REFUSED && all->race.is_shown &&
            entrant->status <= TUNE_HOLDS)
            fail_msg("%llu: %s is refused, and holds", (unsigned long long)number, entrant->strategy.label);
    }
}

/* Returns whether the answers for a kind differ. */
static bool differs(uint64_t number, const struct tune_contest *contest, const struct tune_contest *all,
                    unsigned kind)
{
    const struct tune_entrant *mine = best_of(contest, all, kind), *its = best_of(all, all, kind);
    const bool is_same =
        mine == its || (mine != NULL && its != NULL && mine->status <= TUNE_HOLDS &&
                        tune_mean_of(mine, TUNE_COST) <= AS_CHEAP * tune_mean_of(its, TUNE_COST));
    if (!is_same)
        print_message("%llu: kind %u: %s (%g), and of all %s (%g)\n", (unsigned long long)number, kind,
                      mine == NULL ? "none" : mine->strategy.label,
                      mine == NULL ? (double)NAN : tune_mean_of(mine, TUNE_COST),
                      its == NULL ? "none" : its->strategy.label,
                      its == NULL ? (double)NAN : tune_mean_of(its, TUNE_COST));
    return !is_same;
}

static void test_tune_answers_as_an_exhaustive_search(void **state)
{
    unsigned kinds = 0, shown = 0;
    uint64_t runs = 0, all_runs = 0;
    (void)state;
    for (uint64_t number = 0; number < (is_all ? 300 : 20); number++) {
        struct lab_scenario *scenario = draw_scenario(number);
        struct tune_contest contest, all;
        tune(&contest, scenario, false);
        tune(&all, scenario, true);
        check_refused(number, &contest, &all);
        if (contest.race.is_shown != all.race.is_shown || differs(number, &contest, &all, BK_KIND_COUNT))
            fail_msg("%llu: another answer in\n%s", (unsigned long long)number, scenario->text);
        for (unsigned kind = 0; kind < BK_KIND_COUNT; kind++)
            kinds += differs(number, &contest, &all, kind);
        shown += all.race.is_shown && all.race.recommended != SIZE_MAX;
        for (size_t i = 0; i < all.race.count; i++) {
            runs += contest.race.entrants[i].seeds;
            all_runs += all.race.entrants[i].seeds;
        }
        tune_contest_clear(&contest);
        tune_contest_clear(&all);
        lab_scenario_destroy(scenario);
    }
    print_message("%u shown, %u kinds differ; %llu runs instead of %llu\n", shown, kinds,
                  (unsigned long long)runs, (unsigned long long)all_runs);
    assert_true(shown > 5 && kinds <= (is_all ? 6 : 0) && 2 * runs < all_runs);
}

int main(int count, char **arguments)
{
    is_all = count > 1 && strcmp(arguments[1], "all") == 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tune_answers_as_an_exhaustive_search)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
