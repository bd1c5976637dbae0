/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: `tune` gives the answer of an exhaustive search, and its race keeps its rules.
 * Method: random small scenarios of the cluster engine and of the stream engine, which are exact, thinned or
 * traces; each is tuned twice: as `tune` does it, and with runs of all settings with all seeds, also of those
 * that a distribution excludes. The recommended setting is the same, or costs the same within the tolerance.
 * Seeds are fixed, so no failure is a matter of chance. The argument `all` takes more scenarios. */
#define _XOPEN_SOURCE 700
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../lab/scenario_of.h"
#include "../share.h"
#include "../workload/trace_file.h"
#include "kernel/random.h"
#include "tune/contest.h"

/* With few reads, chance makes one of several hundred settings cheaper by this much in the cluster engine
 * that is not so on average. */
#define BY_CHANCE 1.04

static bool is_all;

/* The scenarios of the stream engine are smaller. */
#define STREAMS 1000

/* What all scenarios showed. */
struct tally {
    unsigned answered, answers, kinds; /* the last two: of how many the answers differ */
    uint64_t runs, all_runs;
};

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

/* Appends to `text`, which has room for 4096 bytes. At most one argument is drawn, since their order is that
 * of the compiler. */
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
    const char *const popularity = often(40) ? ", popularity: {zipf: 0.8}" : "";
    add(text, "seed: %u\nduration: %us\nkeys: {count: %u%s}\n", PICK(1, 20, 300), lasts_s, keys, popularity);
    const char *const bursts = often(25) ? ", bursts: {on: 2s, off: 8s, factor: 4}" : "";
    add(text, "arrivals: {rate: %u/s%s%s}\n", rate, often(25) ? ", late: {share: 10%, by: 5s}" : "", bursts);
    add(text, "row: {bytes: 200}\n%s", often(20) ? "deletes: {share: 50%, after: 5s}\n" : "");
    if (has_reads) {
        const unsigned reads = PICK(1, 4);
        add(text, "reads: {latest: {rows: %u, rate: %u/s}}\n", PICK(5, 20), reads);
    }
    if (often(75))
        add(text, "limits: {partition_rows: %u, over_limit_share: %u%%}\n", limit, share);
    else
        add(text, "limits: {partition_bytes: %uB, over_limit_share: %u%%}\n", limit * 220, share);
    add(text, "cluster: {nodes: %u, replication_factor: %u}\n", nodes, nodes);
    const unsigned ttl_ms = PICK(0, 500, 1000);
    add(text, "agents: {count: %u, cache_ttl: %ums, cache_entries: 8, operations: 32}\n", PICK(1, 2, 3, 4),
        ttl_ms);
    if (often(35))
        add_faults(text);
    add(text, "tune: {seeds: %u}\n", PICK(3, 5, 8));
    if (often(30)) {
        const unsigned read = PICK(1, 2);
        add(text, "prices: {counter_increment: %u, partition_read: %u}\n", PICK(1, 4), read);
    }
    add_strategies(text, limit);
    return scenario_of("", text);
}

/* Own strategies of the stream engine. `size`: the rows of mean size that a limit allows. */
static void add_single_strategies(char *text, unsigned size, unsigned bytes, bool may_scan)
{
    const unsigned bits = PICK(1, 2, 3, 4), threshold = (size * 6 / 10 >> bits) + 1;
    const char *const age = often(20) ? ", max_age: 6h" : "";
    static const char *const sources[] = {
        "external", "counter", "lwt", "lease", "memory", "incremental, every_rows: 4", "scan"};
    unsigned kinds = PICK(1, 2, 4, 8, 16, 32, 64, 128, 256);
    kinds |= PICK(1, 2, 4, 8, 16, 32, 64, 128, 256);
    add(text, "strategies:\n");
    if ((kinds & 1) != 0)
        add(text, "  - probabilistic: {bits: %u, threshold: %u%s}\n", bits, threshold, age);
    if ((kinds & 2) != 0) {
        const unsigned few = PICK(1, 2, 5);
        add(text, "  - probabilistic: {chance: 1/%u, threshold: %u, label: chance}\n", PICK(3, 7, 20), few);
    }
    if ((kinds & 4) != 0) {
        const unsigned few = PICK(1, 2, 4, 8);
        add(text, "  - weighted: {bytes: %uB, threshold: %u%s}\n", size * bytes / PICK(4, 10, 20), few, age);
    }
    if ((kinds & 8) != 0) {
        const char *const read = often(30) ? ", read: {remember_empty: true}" : "";
        add(text, "  - time: {window: %um%s}\n", PICK(7, 60, 90, 360), read);
    }
    if ((kinds & 16) != 0)
        add(text, "  - time: {calendar: %s, label: calendar}\n", often(50) ? "hour" : "day");
    if ((kinds & 32) != 0)
        add(text, "  - count: {rows: %u, counter: external%s}\n", size, age);
    if ((kinds & 64) != 0)
        add(text, "  - count: {rows: %u, counter: %s, label: counted}\n", size / 2 + 1,
            sources[1 + sim_random_below(&dice, may_scan ? 6 : 4)]);
    if ((kinds & 128) != 0)
        add(text, "  - hash: {buckets: %u}\n", PICK(2, 4, 16));
    if ((kinds & 256) != 0)
        add(text, "  - unbucketed: {}\n");
}

static void add_arrivals(char *text, double rows, unsigned hours, bool may_be_late)
{
    add(text, "arrivals:\n  rate: %.9g/h\n", rows / hours);
    if (often(30))
        add(text, "  daily: {amplitude: %s, peak: 12h}\n", often(30) ? "1" : "0.6");
    if (often(40)) {
        const unsigned factor = PICK(5, 20, 100), off = PICK(1, 4, 20);
        add(text, "  bursts: {on: %um, off: %uh, factor: %u}\n", PICK(5, 30, 120), off, factor);
    }
    if (often(30)) {
        const char *const keys = often(50) ? "30%" : "1";
        const unsigned factor = PICK(10, 50, 200);
        add(text, "  spikes: [{at: %uh, lasts: %um, factor: %u, keys: %s}]\n", hours / 3, PICK(10, 60, 120),
            factor, keys);
    }
    if (may_be_late && often(20))
        add(text, "  late: {share: 5%%, by: %um}\n", PICK(5, 60));
}

/* Writes a trace with bursts, and names it. */
static void add_trace(char *text, unsigned rows, unsigned hours, unsigned keys, unsigned bytes,
                      struct trace_file *trace)
{
    *trace = trace_file_name("t.csv");
    FILE *file = fopen(trace->path, "wb");
    assert_non_null(file);
    const bool has_bytes = often(60), varies = often(50);
    fprintf(file, has_bytes ? "timestamp_ms,key,bytes\n" : "timestamp_ms,key,count\n");
    const double step_ms = 3.6e6 * hours / rows;
    double at_ms = 1767225600000.0, factor = 1;
    for (unsigned i = 0; i < rows; i++) {
        if (sim_random_below(&dice, 200) == 0)
            factor = PICK(1, 4, 12, 80) / 4.0;
        at_ms += step_ms / factor * (double)sim_random_below(&dice, 2001) / 1000;
        const uint64_t one = sim_random_below(&dice, keys), two = sim_random_below(&dice, keys);
        const unsigned size = varies ? bytes / 4 + bytes / 8 * (unsigned)sim_random_below(&dice, 13) : bytes;
        fprintf(file, "%.0f,k%u,%u\n", at_ms, (unsigned)(one < two ? one : two), has_bytes ? size : 1);
    }
    assert_int_equal(fclose(file), 0);
    add(text, "trace: {file: %s}\n", trace->path);
    if (!has_bytes)
        add(text, varies ? "row: {bytes: {lognormal: {mean: %uB, sigma: 0.8}}}\n" : "row: {bytes: %u}\n",
            bytes);
}

static struct lab_scenario *draw_stream(uint64_t number, struct trace_file *trace)
{
    char text[4096] = "";
    sim_random_init(&dice, number, SIM_ROW_BYTES, 0);
    const unsigned form = (unsigned)(number % 4); /* 0 and 1: exact; 2: thinned; 3: trace */
    const bool is_thinned = form == 2, is_trace = form == 3, has_reads = often(60),
               has_ttl = often(10) && !(is_thinned && has_reads);
    const unsigned hours = PICK(6, 24, 48, 120), keys = PICK(1, 2, 5, 10, 20, 50), bytes = 200;
    const unsigned rows = PICK(1000, 3000, 10000, 10000), tight = PICK(10, 20, 40, 100, 300);
    const unsigned mean = rows / keys / PICK(2, 3, 5, 10), size = mean < 8 ? 8 : mean > tight ? tight : mean;
    const unsigned kinds = is_thinned ? 0 : (unsigned)sim_random_below(&dice, 5);
    add(text, "seed: %u\nengine: %s\n", PICK(1, 20, 300), is_thinned ? "thinned" : "exact");
    if (is_trace) {
        add_trace(text, rows, hours, keys, bytes, trace);
    } else {
        static const char *const popularities[] = {"uniform", "{zipf: 0.7}", "{zipf: 1.2}"};
        add(text, "duration: %uh\nkeys: {count: %u, popularity: %s}\n", hours, keys,
            popularities[keys == 2 || keys == 1 ? 0 : sim_random_below(&dice, 3)]);
        add_arrivals(text, rows, hours, !is_thinned && !(has_reads && (has_ttl || kinds == 3)));
        add(text, "row: {");
        if (is_thinned || often(40))
            add(text, "bytes: %u", bytes);
        else if (often(70))
            add(text, "bytes: {lognormal: {mean: %uB, sigma: %s}}", bytes, often(50) ? "0.5" : "1.5");
        else
            add(text, "bytes: {uniform: [%u, %u]}", bytes / 10, bytes * 2);
        add(text, "%s}\n", has_ttl ? ", ttl: 5h" : "");
    }
    if (has_reads) {
        const unsigned rate = rows / hours / PICK(1, 5, 20) + 1;
        add(text, "reads:\n");
        if (kinds != 3)
            add(text, "  latest: {rows: %u, rate: %u/h}\n", PICK(1, 10, 50), rate);
        if (kinds == 3) {
            const unsigned age = PICK(0, 60);
            add(text, "  range: {span: %um, age: %um, rate: %u/h}\n", PICK(10, 60), age, rate);
        }
        if (kinds == 4)
            add(text, "  all: {rate: %u/h}\n", rate / 20 + 1);
        if (often(10))
            add(text, "  limit: 5\n");
    }
    const char *const shares[] = {"0", "0", "0", "0.5", "1", "2", "5", "10"};
    add(text, "limits: {over_limit_share: %s%%", shares[sim_random_below(&dice, 8)]);
    const unsigned limits = PICK(1, 2, 2, 3);
    if ((limits & 1) != 0)
        add(text, ", partition_rows: %u", size);
    if ((limits & 2) != 0)
        add(text, ", partition_bytes: %uB", size * (bytes + 40));
    const bool has_tiny = often(15);
    add(text, "%s}\n", has_tiny ? ", tiny_rows: 4" : "");
    static const char *const competitors[] = {
        "time",        "weighted, time, probabilistic", "probabilistic, hash", "time, weighted",
        "count, time", "weighted, probabilistic"};
    const char *const per_read = has_reads && often(15) ? ", partitions_per_read: 4" : "";
    add(text, "tune: {seeds: %u%s%s", PICK(3, 4, 5, 8, 8), has_tiny ? ", tiny: 30%" : "", per_read);
    if (often(50))
        add(text, ", strategies: [%s]", competitors[sim_random_below(&dice, 6)]);
    add(text, "}\n");
    if (often(30)) {
        const unsigned read = PICK(1, 2);
        add(text, "prices: {counter_increment: %u, partition_read: %u}\n", PICK(0, 1, 8), read);
    }
    add_single_strategies(text, size, bytes, !has_ttl);
    return scenario_of("", text);
}

static void tune(struct tune_contest *contest, const struct lab_scenario *scenario, bool is_exhaustive)
{
    struct sim_error error = {0};
    if (!tune_contest_begin(contest, scenario, &scenario->tune, 1, NULL, &error))
        fail_msg("%s", error.text);
    contest->is_exhaustive = is_exhaustive;
    if (!tune_race(contest, 1, NULL, &error))
        fail_msg("%s", error.text);
}

static double load_of(const struct tune_entrant *entrant)
{
    return entrant->seen[0].candidate.load;
}

/* The best setting of a group, or of all with TUNE_GROUPS, by the rule of recommendation; SIZE_MAX: none. */
static size_t best_of(const struct tune_contest *contest, unsigned group)
{
    static struct lab_candidate candidates[1000];
    assert_in_range(contest->count, 0, 1000);
    for (size_t i = 0; i < contest->count; i++) {
        const struct tune_entrant *entrant = &contest->entrants[i];
        candidates[i] = tune_candidate_for(contest, entrant);
        candidates[i].is_eligible = entrant->status <= TUNE_WITHIN && !entrant->is_endless &&
                                    (group == TUNE_GROUPS || tune_group_of(entrant) == group);
    }
    return lab_choose_from(candidates, contest->count, contest->terms.tolerance);
}

/* The best of all has all the seeds that it needs. None was excluded that the runs show to be within the
 * limits. */
static void check_rules(uint64_t number, const struct tune_contest *contest, const struct tune_contest *all)
{
    assert_int_equal(contest->count, all->count);
    assert_true(contest->recommended == best_of(contest, TUNE_GROUPS));
    const struct tune_entrant *best =
        contest->recommended == SIZE_MAX ? NULL : &contest->entrants[contest->recommended];
    if (best != NULL && best->seeds < best->needs)
        fail_msg("%llu: %s is the best with %u of %u seeds", (unsigned long long)number, best->strategy.label,
                 best->seeds, best->needs);
    for (size_t i = 0; i < contest->count; i++) {
        const struct tune_entrant *one = &contest->entrants[i], *other = &all->entrants[i];
        if (one->seeds > 0 && one->status == TUNE_COSTLY)
            fail_msg("%llu: %s ran, and has no verdict", (unsigned long long)number, one->strategy.label);
        if (one->seeds == 0 && one->status == TUNE_EXCEEDS && other->status <= TUNE_WITHIN)
            fail_msg("%llu: %s is excluded, and within the limits", (unsigned long long)number,
                     one->strategy.label);
        if (one->seeds == other->seeds && one->status != other->status &&
            (one->status != TUNE_RECOMMENDED || other->status != TUNE_WITHIN) &&
            (one->status != TUNE_WITHIN || other->status != TUNE_RECOMMENDED))
            fail_msg("%llu: %s is %s, and by the exhaustive search %s", (unsigned long long)number,
                     one->strategy.label, tune_status_name(one->status), tune_status_name(other->status));
        assert_true(one->seeds <= one->needs);
    }
}

/* Returns whether the answers for a kind, or for all with TUNE_GROUPS, differ: the loads by the exhaustive
 * search are compared. The best of a kind is that of the first seed, or of as many as the search has taken.
 */
static bool differs(uint64_t number, const struct tune_contest *contest, struct tune_contest *all,
                    unsigned group)
{
    const size_t mine = best_of(contest, group);
    for (size_t i = 0; group < TUNE_GROUPS && i < all->count; i++) {
        struct tune_entrant *entrant = &all->entrants[i];
        const uint32_t seeds = contest->entrants[i].seeds;
        struct lab_judgment judgment;
        enum tune_demand failed;
        if (entrant->seeds == 0 || seeds > entrant->seeds)
            continue;
        const struct tune_entrant *from = seeds > 0 ? &contest->entrants[i] : entrant;
        const enum lab_within within =
            tune_judge(all, from->seen, seeds > 0 ? seeds : 1, &from->known, &judgment, &failed);
        entrant->status = within == LAB_WITHIN ? TUNE_WITHIN : TUNE_EXCEEDS;
    }
    const size_t its = best_of(all, group);
    const double as_cheap =
        all->scenario->engine == LAB_ENGINE_CLUSTER ? BY_CHANCE : 1 + 2 * all->terms.tolerance;
    if (mine == its || (mine != SIZE_MAX && its != SIZE_MAX && all->entrants[mine].status <= TUNE_WITHIN &&
                        load_of(&all->entrants[mine]) <= load_of(&all->entrants[its]) * as_cheap))
        return false;
    print_message("%llu: group %u: %s, and of all %s\n", (unsigned long long)number, group,
                  mine == SIZE_MAX ? "none" : contest->entrants[mine].strategy.label,
                  its == SIZE_MAX ? "none" : all->entrants[its].strategy.label);
    return true;
}

static void compare(uint64_t number, const struct lab_scenario *scenario, struct tally *tally)
{
    struct tune_contest contest, all;
    tune(&contest, scenario, false);
    tune(&all, scenario, true);
    check_rules(number, &contest, &all);
    if (differs(number, &contest, &all, TUNE_GROUPS)) {
        print_message("%llu: another answer in\n%s", (unsigned long long)number, scenario->text);
        tally->answers++;
    }
    for (unsigned group = 0; group < TUNE_GROUPS; group++)
        tally->kinds += differs(number, &contest, &all, group);
    tally->answered += all.recommended != SIZE_MAX;
    for (size_t i = 0; i < all.count; i++) {
        tally->runs += contest.entrants[i].seeds;
        tally->all_runs += all.entrants[i].seeds;
    }
    tune_contest_clear(&contest);
    tune_contest_clear(&all);
}

static void print(const struct tally *tally)
{
    print_message("%u answers, of which %u and %u kinds differ; %llu runs instead of %llu\n", tally->answered,
                  tally->answers, tally->kinds, (unsigned long long)tally->runs,
                  (unsigned long long)tally->all_runs);
}

static void test_tune_answers_as_an_exhaustive_search(void **state)
{
    struct tally tally = {0};
    (void)state;
    for (uint64_t number = 0; number < (is_all ? 300 : 20); number += test_share()) {
        struct lab_scenario *scenario = draw_scenario(number);
        compare(number, scenario, &tally);
        lab_scenario_destroy(scenario);
    }
    print(&tally);
    assert_int_equal(tally.answers, 0);
    assert_true(tally.answered > test_part(5) && tally.kinds == 0 && 2 * tally.runs < tally.all_runs);
}

static void compare_stream(uint64_t number, struct tally *tally)
{
    struct trace_file trace;
    struct lab_scenario *scenario = draw_stream(number, &trace);
    compare(number, scenario, tally);
    if (scenario->trace_path != NULL)
        trace_file_remove(&trace);
    lab_scenario_destroy(scenario);
}

static void test_tune_answers_as_an_exhaustive_search_of_streams(void **state)
{
    /* These had another answer once. */
    static const uint64_t hard[] = {82, 102, 138, 151, 164, 179, 541, 549, 694, 1088, 1330, 2012};
    struct tally tally = {0};
    (void)state;
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++)
        compare_stream(hard[i], &tally);
    for (uint64_t number = 0; number < (is_all ? STREAMS : 4); number += test_share())
        compare_stream(number, &tally);
    print(&tally);
    assert_int_equal(tally.answers, 0);
    assert_true(tally.answered > test_part(5) && tally.kinds == 0 && 4 * tally.runs < 3 * tally.all_runs);
}

int main(int count, char **arguments)
{
    is_all = count > 1 && strcmp(arguments[1], "all") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tune_answers_as_an_exhaustive_search),
        cmocka_unit_test(test_tune_answers_as_an_exhaustive_search_of_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
