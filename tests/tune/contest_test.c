/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the entrants of a race follow from the scenario and the distribution; the race recommends the same
 * setting as running all settings with all seeds; a strategy that is written out is parsed as the same one.
 * Method: small scenarios, run both ways. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../lab/scenario_of.h"
#include "kernel/time.h"
#include "tune/contest.h"
#include "tune/strategy_text.h"

#define STREAM                                                                                               \
    "duration: 1d\nkeys: {count: 30, popularity: {zipf: 0.8}}\n"                                             \
    "arrivals: {rate: 0.5/s, bursts: {on: 10m, off: 1h, factor: 10}}\n"
#define HEAD                                                                                                 \
    STREAM                                                                                                   \
    "reads: {latest: {rows: 20, rate: 0.01/s}}\n"

static void begin(struct tune_contest *contest, const struct lab_scenario *scenario)
{
    struct sim_error error = {0};
    if (!tune_contest_begin(contest, scenario, &scenario->tune, 2, NULL, &error))
        fail_msg("%s", error.text);
}

static void run(struct tune_contest *contest)
{
    struct sim_error error = {0};
    if (!tune_contest_run(contest, 2, NULL, &error))
        fail_msg("%s", error.text);
}

static const struct tune_entrant *find(const struct tune_contest *contest, const char *label)
{
    for (size_t i = 0; i < contest->race.count; i++) {
        if (strcmp(contest->race.entrants[i].strategy.label, label) == 0)
            return &contest->race.entrants[i];
    }
    return NULL;
}

/* Stores the outcomes of all runs, and counts the runs that were made. */
struct notebook {
    uint64_t jobs[1000];
    struct tune_seen seen[1000]; /* larger than every stored outcome */
    size_t sizes[1000], count, made;
    pthread_mutex_t lock;
};

static bool recall(void *context, uint64_t job, void *out, size_t size)
{
    struct notebook *notebook = context;
    bool is_known = false;
    pthread_mutex_lock(&notebook->lock);
    for (size_t i = 0; i < notebook->count && !is_known; i++) {
        is_known = notebook->jobs[i] == job;
        if (is_known) {
            assert_int_equal(notebook->sizes[i], size);
            memcpy(out, &notebook->seen[i], size);
        }
    }
    pthread_mutex_unlock(&notebook->lock);
    return is_known;
}

static void keep(void *context, uint64_t job, const void *bytes, size_t size)
{
    struct notebook *notebook = context;
    pthread_mutex_lock(&notebook->lock);
    assert_true(notebook->count < 1000 && size <= sizeof *notebook->seen);
    notebook->jobs[notebook->count] = job;
    notebook->sizes[notebook->count] = size;
    memcpy(&notebook->seen[notebook->count++], bytes, size);
    notebook->made++;
    pthread_mutex_unlock(&notebook->lock);
}

static void assert_same(const struct tune_contest *one, const struct tune_contest *other)
{
    assert_int_equal(one->race.recommended, other->race.recommended);
    for (size_t i = 0; i < one->race.count; i++) {
        const struct tune_entrant *entrant = &one->race.entrants[i];
        assert_int_equal(entrant->status, other->race.entrants[i].status);
        assert_int_equal(entrant->seeds, other->race.entrants[i].seeds);
        if (entrant->seeds > 0)
            assert_memory_equal(entrant->seen, other->race.entrants[i].seen,
                                entrant->seeds * sizeof *entrant->seen);
    }
    assert_int_equal(one->margin_count, other->margin_count);
    for (size_t i = 0; i < one->margin_count; i++) {
        for (size_t j = 0; j < TUNE_MARGIN_STEPS; j++)
            assert_memory_equal(&one->margins[i].steps[j].seen, &other->margins[i].steps[j].seen,
                                sizeof(struct tune_seen));
    }
    assert_int_equal(one->led, other->led);
    assert_int_equal(one->lead.safe_ns, other->lead.safe_ns);
    assert_int_equal(one->lead.unsafe_ns, other->lead.unsafe_ns);
    assert_int_equal(one->lead.formula_ns, other->lead.formula_ns);
    assert_int_equal(one->lead.step_count, other->lead.step_count);
}

/* On one thread: several threads may finish a run of the lead's search that is no longer needed. */
/* Returns the number of steps that were recalled. */
static uint64_t compete(struct tune_contest *contest, const struct lab_scenario *scenario,
                        const struct tune_memory *memory)
{
    struct sim_error error;
    struct lab_progress progress = {0};
    begin(contest, scenario);
    contest->memory = memory;
    if (!tune_contest_run(contest, 1, &progress, &error))
        fail_msg("%s", error.text);
    return progress.recalled;
}

static void test_contest_with_stored_runs_gives_the_same_result(void **state)
{
    static const char *const texts[] = {
        HEAD "limits: {partition_rows: 1000}\ntune: {seeds: 4, risk: 2%}\nstrategies: [time: {window: 6h}]\n",
        ("duration: 4s\nkeys: {count: 2}\narrivals: {rate: 30/s}\n"
         "cluster: {nodes: 1, replication_factor: 1}\nagents: {count: 2, cache_entries: 8, operations: 32}\n"
         "limits: {partition_rows: 100}\ntune: {seeds: 2, risk: 50%}\nstrategies:\n"
         "  - probabilistic: {bits: 1, threshold: 3, coordination: three-state, lead: 2s}\n")};
    static struct notebook notebook;
    const struct tune_memory memory = {&notebook, recall, keep};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct tune_contest plain, first, second, third;
        struct lab_scenario *scenario = scenario_of("", texts[i]);
        notebook = (struct notebook){.lock = PTHREAD_MUTEX_INITIALIZER};
        compete(&plain, scenario, NULL);
        const uint64_t own = compete(&first, scenario, &memory);
        size_t all = notebook.made;
        assert_int_equal(first.led != SIZE_MAX, i == 1);
        assert_same(&plain, &first);
        /* Every run has a different number. */
        for (size_t j = 0; j < all; j++) {
            for (size_t k = 0; k < j; k++)
                assert_true(notebook.jobs[j] != notebook.jobs[k]);
        }
        assert_true(compete(&second, scenario, &memory) > own);
        assert_int_equal(notebook.made, all);
        assert_same(&plain, &second);
        /* The contest was stopped in the middle of runs that were made together. A run that is remembered
         * leaves nothing for the search of the lead. */
        notebook.count = all / 3;
        compete(&third, scenario, &memory);
        assert_in_range(notebook.made, all + all - all / 3 - TUNE_LEAD_SEEDS, all + all - all / 3 + 16);
        assert_same(&plain, &third);
        struct tune_contest *const contests[] = {&plain, &first, &second, &third};
        for (size_t j = 0; j < 4; j++)
            tune_contest_clear(contests[j]);
        lab_scenario_destroy(scenario);
    }
}

/* For a race that dropped no entrant. Chance moves the mean of its seeds by less than a twentieth. */
static void assert_costs_reach_their_bounds(const struct tune_contest *contest)
{
    unsigned bounded = 0;
    for (size_t i = 0; i < contest->race.count; i++) {
        const struct tune_entrant *entrant = &contest->race.entrants[i];
        if (entrant->seeds == 0 || entrant->cost_least == 0)
            continue;
        double cost = tune_mean_of(entrant, TUNE_COST);
        if (cost < 0.95 * entrant->cost_least)
            fail_msg("%s costs %.4g, and its bound says %.4g", entrant->strategy.label, cost,
                     entrant->cost_least);
        bounded++;
    }
    assert_in_range(bounded, 10, contest->race.count);
}

static void test_race_in_the_lab_recommends_what_all_seeds_do(void **state)
{
    static const char *const limits[] = {
        "limits: {partition_rows: 1000}\ntune: {seeds: 6, risk: 2%}\n",
        ("row: {bytes: {lognormal: {mean: 300, sigma: 1}}}\nlimits: {partition_bytes: 300KB}\n"
         "tune: {seeds: 6, risk: 2%}\n"),
        "limits: {partition_rows: 3000, tiny_rows: 50}\ntune: {seeds: 6, risk: 1%, tiny: 1%}\n",
        ("row: {bytes: {lognormal: {mean: 300, sigma: 1}}}\n"
         "limits: {partition_rows: 900, partition_bytes: 300KB}\ntune: {seeds: 6, risk: 2%}\n")};
    (void)state;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        char text[1024];
        struct tune_contest race, all;
        uint64_t runs = 0, all_runs = 0;
        snprintf(text, sizeof text,
                 STREAM "reads: {latest: {rows: 20, rate: 0.01/s}%s}\n%sstrategies: [time: {window: 6h}]\n",
                 i == 1 ? ", limit: 12" : "", limits[i]);
        struct lab_scenario *scenario = scenario_of("", text);
        begin(&race, scenario);
        run(&race);
        begin(&all, scenario);
        all.race.drops = false;
        run(&all);
        assert_costs_reach_their_bounds(&all);
        assert_int_not_equal(all.race.recommended, SIZE_MAX);
        assert_int_equal(race.race.recommended, all.race.recommended);
        for (size_t j = 0; j < race.race.count; j++) {
            runs += race.race.entrants[j].seeds;
            all_runs += all.race.entrants[j].seeds;
        }
        assert_true(runs < all_runs);
        for (unsigned kind = 0; kind <= BK_KIND_COUNT; kind++) {
            const char *one = tune_contest_best(&race, (enum bk_kind)kind);
            const char *other = tune_contest_best(&all, (enum bk_kind)kind);
            assert_true((one == NULL) == (other == NULL) && (one == NULL || strcmp(one, other) == 0));
        }
        tune_contest_clear(&race);
        tune_contest_clear(&all);
        lab_scenario_destroy(scenario);
    }
}

static uint64_t digest_of(const struct tune_contest *contest, const struct lab_strategy *strategies,
                          size_t count, struct lab_result **known)
{
    struct lab_strategy copies[2];
    struct lab_scenario scenario;
    struct lab_result *result;
    struct sim_error error;
    memcpy(copies, strategies, count * sizeof *copies);
    tune_scenario_of(contest->scenario, copies, count, contest->scenario->seed, 1, &scenario);
    const struct lab_run_context context = {.known = known};
    if (!lab_run_in(&scenario, 1, &context, &result, &error))
        fail_msg("%s", error.text);
    const uint64_t digest = result->digest;
    assert_int_equal(result->strategy_count, count);
    assert_string_equal(result->strategies[count - 1].label, strategies[count - 1].label);
    lab_result_destroy(result);
    return digest;
}

/* Runs that stop as soon as a setting fails give the same verdicts as whole runs. The results that the race
 * leaves are those of runs made later. */
static void test_failing_settings_stop_early_in_the_cluster(void **state)
{
    struct lab_scenario *scenario = scenario_of(
        "", "duration: 30s\nkeys: {count: 2}\narrivals: {rate: 30/s}\nreads: {latest: {rows: 5, rate: 1/s}}\n"
            "cluster: {nodes: 3, replication_factor: 3}\n"
            "agents: {count: 3, cache_ttl: 1s, cache_entries: 8, operations: 32}\n"
            "limits: {partition_rows: 100}\ntune: {seeds: 3}\nstrategies:\n  - time: {window: 2s}\n"
            "  - probabilistic: {bits: 1, threshold: 30, coordination: three-state, lead: 3s, label: three}\n"
            "  - probabilistic: {bits: 1, threshold: 20, coordination: single, label: single}\n"
            "  - probabilistic: {bits: 1, threshold: 60, coordination: guarded, label: guarded}\n");
    struct tune_contest early, whole;
    size_t cut[TUNE_DEMAND_COUNT] = {0}, dear = 0;
    (void)state;
    begin(&early, scenario);
    early.keeps_results = true;
    run(&early);
    begin(&whole, scenario);
    whole.stops_early = false;
    run(&whole);
    assert_int_not_equal(early.race.recommended, SIZE_MAX);
    assert_int_equal(early.race.recommended, whole.race.recommended);
    const double most = 2 * tune_mean_of(&early.race.entrants[early.race.recommended], TUNE_COST);
    for (size_t i = 0; i < early.race.count; i++) {
        const struct tune_entrant *entrant = &early.race.entrants[i], *other = &whole.race.entrants[i];
        assert_int_equal(entrant->status, other->status);
        assert_int_equal(entrant->seeds, other->seeds);
        if (entrant->status != TUNE_FAILS)
            continue;
        const bool is_cut = tune_is_cut(&entrant->seen[entrant->seeds - 1]);
        assert_false(is_cut && entrant->is_own);
        assert_false(tune_is_cut(&other->seen[other->seeds - 1]));
        cut[entrant->failed] += is_cut;
        dear += is_cut && entrant->seen->cost_so_far > most;
        /* A setting may fail for both reasons; then the run stopped at the first. */
        assert_true(entrant->failed == other->failed || (is_cut && other->failed == TUNE_FINDABLE));
    }
    assert_true(cut[TUNE_IN_LIMITS] > 0 && cut[TUNE_FINDABLE] > 0);
    /* Those that cost more than the recommended setting until then were not run as a whole after the race. */
    assert_true(dear > 0);
    /* At other rates, a single violation ends the run, but partitions above the limit are counted at the
     * lowest rate, and if they end with time. */
    struct tune_seen seen;
    struct sim_error error = {0};
    struct lab_strategy window = scenario->strategies[0];
    assert_int_equal(bk_strategy_time(10000 * SIM_MS, 0, &window.settings.strategy), BK_OK);
    for (int i = 0; i < 2; i++) {
        assert_true(tune_watch_at(i == 0 ? &early : &whole, &scenario->strategies[2], 1, scenario->seed, 2, 1,
                                  NULL, &seen, &error));
        assert_true(seen.violations > 0 && tune_is_cut(&seen) == (i == 0));
        assert_true(tune_watch_at(&early, &scenario->strategies[3], 1, scenario->seed, i == 0 ? 2 : 1.5, 1,
                                  NULL, &seen, &error));
        assert_true(seen.over > 0 && seen.violations == 0 && tune_is_cut(&seen) == (i == 0));
        assert_true(tune_watch_at(&early, &window, 1, scenario->seed, 2, 1, NULL, &seen, &error));
        assert_true(seen.over > 0 && !tune_is_cut(&seen));
    }
    struct lab_result *known[2] = {NULL};
    for (size_t i = 0; i < 2; i++) {
        const uint64_t job = tune_memory_job(&early.race.entrants[i].strategy, scenario->seed, 1);
        known[i] = tune_kept_take(early.kept, job);
        assert_non_null(known[i]);
        assert_null(tune_kept_take(early.kept, job));
    }
    const uint64_t digest = digest_of(&early, scenario->strategies, 2, NULL);
    assert_true(digest_of(&early, scenario->strategies, 2, known) == digest);
    assert_true(known[0] == NULL && known[1] == NULL);
    tune_contest_clear(&early);
    tune_contest_clear(&whole);
    lab_scenario_destroy(scenario);
}

/* No setting is within the limits. Those that stopped at a partition above one run again, to the end, but not
 * those whose readers miss rows. */
static void test_settings_above_a_limit_run_again_if_none_is_within(void **state)
{
    struct lab_scenario *scenario = scenario_of(
        "", "duration: 20s\nkeys: {count: 2}\narrivals: {rate: 30/s}\nreads: {latest: {rows: 5, rate: 1/s}}\n"
            "cluster: {nodes: 3, replication_factor: 3}\n"
            "agents: {count: 3, cache_ttl: 1s, cache_entries: 8, operations: 32}\n"
            "limits: {partition_rows: 8}\ntune: {seeds: 3, strategies: [probabilistic]}\nstrategies:\n"
            "  - probabilistic: {bits: 1, threshold: 20, coordination: single, label: single}\n"
            "  - probabilistic: {bits: 1, threshold: 60, coordination: guarded, label: guarded}\n");
    struct tune_contest contest;
    size_t missed = 0, above = 0;
    (void)state;
    begin(&contest, scenario);
    run(&contest);
    assert_int_equal(contest.race.recommended, SIZE_MAX);
    for (size_t i = 0; i < contest.race.count; i++) {
        const struct tune_entrant *entrant = &contest.race.entrants[i];
        if (entrant->status != TUNE_FAILS || entrant->is_own || entrant->is_endless)
            continue;
        assert_false(tune_stopped_over(entrant));
        missed += entrant->failed == TUNE_FINDABLE && tune_is_cut(entrant->seen);
        above += entrant->failed == TUNE_IN_LIMITS;
    }
    assert_true(missed > 0 && above > 0);
    tune_contest_clear(&contest);
    lab_scenario_destroy(scenario);
}

/* Returns the most expensive of the settings that fail and cost less than the recommended one. */
static const struct tune_entrant *next_cheaper(const struct tune_contest *contest)
{
    const struct tune_race *race = &contest->race;
    const double most = tune_mean_of(&race->entrants[race->recommended], TUNE_COST) / TUNE_AS_CHEAP;
    const struct tune_entrant *found = NULL;
    for (size_t i = 0; i < race->count; i++) {
        const struct tune_entrant *entrant = &race->entrants[i];
        if (entrant->status == TUNE_FAILS && !entrant->is_endless &&
            tune_mean_of(entrant, TUNE_COST) < most && (found == NULL || tune_is_cheaper(found, entrant)))
            found = entrant;
    }
    return found;
}

/* Larger windows fail early in the cluster. The one next to the recommended window has the figures of a whole
 * run. */
static void test_next_cheaper_window_has_its_figures(void **state)
{
    struct lab_scenario *scenario = scenario_of(
        "", "duration: 12m\nkeys: {count: 1}\narrivals: {rate: 4/s}\nreads: {latest: {rows: 5, rate: 1/s}}\n"
            "cluster: {nodes: 3, replication_factor: 3}\n"
            "agents: {count: 2, cache_ttl: 1s, cache_entries: 8, operations: 32}\n"
            "limits: {partition_rows: 350}\ntune: {seeds: 2, strategies: [time]}\n"
            "strategies: [time: {window: 20s}]\n");
    struct tune_contest early, whole;
    size_t cut = 0;
    (void)state;
    begin(&early, scenario);
    run(&early);
    begin(&whole, scenario);
    whole.stops_early = false;
    run(&whole);
    const struct tune_entrant *next = next_cheaper(&early), *other = next_cheaper(&whole);
    assert_true(next != NULL && other != NULL);
    assert_string_equal(next->strategy.label, other->strategy.label);
    assert_memory_equal(next->seen, other->seen, sizeof *next->seen);
    for (size_t i = 0; i < early.race.count; i++)
        cut += early.race.entrants[i].seeds > 0 && tune_is_cut(early.race.entrants[i].seen);
    assert_true(cut > 0);
    tune_contest_clear(&early);
    tune_contest_clear(&whole);
    lab_scenario_destroy(scenario);
}

/* Runs the windows that are said to be full, and returns their number. `epoch` follows the window's length.
 */
static size_t check_full_windows(const char *arrivals, const char *epoch)
{
    char text[500];
    snprintf(text, sizeof text,
             "duration: 12h\nkeys: {count: 3}\narrivals: {%s}\nlimits: {partition_rows: 100000}\n"
             "strategies: [time: {window: 6h%s}]\n",
             arrivals, epoch);
    struct lab_scenario *scenario = scenario_of("", text);
    struct tune_contest contest;
    size_t count = 0;
    begin(&contest, scenario);
    for (size_t i = 0; i < contest.race.count; i++) {
        struct tune_entrant *entrant = &contest.race.entrants[i];
        struct tune_seen seen;
        struct sim_error error;
        if (entrant->full_count <= 0)
            continue;
        assert_true(
            tune_watch_at(&contest, &entrant->strategy, 1, scenario->seed, 1, 1, NULL, &seen, &error));
        assert_true((double)seen.partitions == entrant->full_count);
        count++;
    }
    tune_contest_clear(&contest);
    lab_scenario_destroy(scenario);
    return count;
}

static void test_full_windows_have_rows(void **state)
{
    (void)state;
    const size_t full = check_full_windows("rate: 0.6/s", ""); /* 64 rows of a key take 320 s */
    assert_true(full > 0);
    assert_int_equal(check_full_windows("rate: 0.6/s", ", epoch: 1700-01-01"), full);
    assert_int_equal(check_full_windows("rate: 0.6/s", ", epoch: 1700-01-01T00:01:30Z"), 0);
    assert_true(check_full_windows("rate: 6/s", "") > full);
    assert_true(check_full_windows("rate: 6/s, daily: {amplitude: 0.9, peak: 12h}", "") > 0);
    assert_int_equal(check_full_windows("rate: 6/s, daily: {amplitude: 1, peak: 12h}", ""), 0);
    assert_int_equal(check_full_windows("rate: 6/s, bursts: {on: 10m, off: 1h, factor: 10}", ""), 0);
    assert_int_equal(
        check_full_windows("rate: 6/s, spikes: [{at: 2h, lasts: 8h, factor: 0.0001, keys: 1}]", ""), 0);
}

/* With limits in rows and in bytes, a partition is over the limits if it is over one of them, and a partition
 * over both counts once. */
static void test_contest_of_two_limits_counts_a_partition_once(void **state)
{
    static const char *const limits[] = {"partition_rows: 300", "partition_bytes: 100KB",
                                         "partition_rows: 300, partition_bytes: 100KB"};
    static const char *const labels[] = {"short", "long"};
    struct tune_contest contests[3];
    struct lab_scenario *scenarios[3];
    uint64_t both = 0, at_least = 0, at_most = 0;
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 HEAD "row: {bytes: {lognormal: {mean: 300, sigma: 2}}}\nlimits: {%s}\n"
                      "tune: {seeds: 3, risk: 2%%, strategies: [time]}\n"
                      "strategies: [time: {window: 2h, label: short}, time: {window: 8h, label: long}]\n",
                 limits[i]);
        scenarios[i] = scenario_of("", text);
        begin(&contests[i], scenarios[i]);
        contests[i].race.drops = false;
        run(&contests[i]);
    }
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
        const struct tune_entrant *by_rows = find(&contests[0], labels[i]),
                                  *by_bytes = find(&contests[1], labels[i]),
                                  *by_both = find(&contests[2], labels[i]);
        assert_int_equal(by_both->seeds, 3);
        for (uint32_t j = 0; j < 3; j++) {
            uint64_t rows = by_rows->seen[j].over, bytes = by_bytes->seen[j].over,
                     any = by_both->seen[j].over;
            assert_int_equal(by_both->seen[j].partitions, by_rows->seen[j].partitions);
            assert_in_range(any, rows > bytes ? rows : bytes, rows + bytes);
            assert_true(by_both->seen[j].figures[TUNE_OVER] ==
                        (double)any / (double)by_both->seen[j].partitions);
            both += any;
            at_least += rows > bytes ? rows : bytes;
            at_most += rows + bytes;
        }
    }
    assert_true(at_least < both && both < at_most);
    for (size_t i = 0; i < 3; i++) {
        tune_contest_clear(&contests[i]);
        lab_scenario_destroy(scenarios[i]);
    }
}

/* With limits in rows only, the distribution decides everything about probabilistic and count. */
static void test_distribution_excludes_or_confirms_candidates(void **state)
{
    (void)state;
    struct tune_contest contest;
    struct lab_scenario *scenario =
        scenario_of("", HEAD "limits: {partition_rows: 2000}\nstrategies:\n"
                             "  - probabilistic: {bits: 10, threshold: 4, label: wild}\n"
                             "  - probabilistic: {bits: 4, threshold: 40, label: tame}\n"
                             "  - probabilistic: {bits: 10, threshold: 4, max_age: 1d, label: aged}\n"
                             "  - count: {rows: 2001, counter: external, label: over}\n  - count: {rows: "
                             "2000, counter: external, label: full}\n");
    begin(&contest, scenario);
    assert_int_equal(find(&contest, "wild")->status, TUNE_REFUSED);
    assert_true(find(&contest, "wild")->exact_share > 0.5);
    assert_true(find(&contest, "tame")->has_distribution);
    assert_true(find(&contest, "tame")->exact_share < 1e-6);
    assert_false(find(&contest, "aged")->has_distribution);
    assert_int_equal(find(&contest, "over")->status, TUNE_REFUSED);
    assert_true(find(&contest, "full")->has_distribution);
    assert_true(find(&contest, "full")->exact_share == 0);
    assert_null(find(&contest, "weighted-512Bx1"));
    assert_true(find(&contest, "unbucketed")->is_endless);
    tune_contest_clear(&contest);
    lab_scenario_destroy(scenario);
}

/* Entrants from a template keep its other settings, and each template has a separate ladder. */
static void test_candidates_keep_the_settings_of_their_templates(void **state)
{
    (void)state;
    struct tune_contest contest;
    unsigned by_lwt = 0, by_counter = 0, aged = 0, kinds = 0;
    struct lab_scenario *scenario = scenario_of(
        "", HEAD "limits: {partition_rows: 2000}\ntune: {strategies: [count, probabilistic]}\nstrategies:\n"
                 "  - unbucketed: {}\n  - count: {rows: 500, counter: lwt, label: sure}\n"
                 "  - count: {rows: 500, counter: counter, label: sure-1000}\n"
                 "  - probabilistic: {bits: 3, threshold: 9, max_age: 1d}\n"
                 "  - probabilistic: {bits: 4, threshold: 9, max_age: 1d, label: again}\n");
    begin(&contest, scenario);
    for (size_t i = 0; i < contest.race.count; i++) {
        const struct tune_entrant *entrant = &contest.race.entrants[i];
        enum bk_kind kind = entrant->strategy.settings.strategy.kind;
        kinds |= 1u << kind;
        by_lwt += kind == BK_COUNT && entrant->strategy.settings.source == BK_SOURCE_LWT;
        by_counter += kind == BK_COUNT && entrant->strategy.settings.source == BK_SOURCE_COUNTER;
        aged += kind == BK_PROBABILISTIC;
        assert_true(kind != BK_PROBABILISTIC || entrant->strategy.settings.strategy.max_age_ns != 0);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(entrant->strategy.label, contest.race.entrants[j].strategy.label);
    }
    assert_int_equal(kinds, 1u << BK_COUNT | 1u << BK_PROBABILISTIC);
    assert_in_range(by_lwt, 4, 8);
    assert_int_equal(by_counter, by_lwt);
    assert_in_range(aged, 8, TUNE_LADDER_MAX + 2);
    assert_non_null(find(&contest, "sure-1000-2"));
    tune_contest_clear(&contest);
    lab_scenario_destroy(scenario);
}

/* A contest without a lead ends with the runs at higher rates, and its total counts exactly these runs. */
static void test_progress_of_a_contest_ends_at_its_total(void **state)
{
    (void)state;
    struct tune_contest contest;
    struct sim_error error = {0};
    struct lab_progress progress = {0};
    static const char *const texts[] = {
        HEAD "limits: {partition_rows: 2000}\ntune: {strategies: [time], seeds: 2, risk: 5%}\n"
             "strategies: [time: {window: 6h}]\n",
        /* No setting of three-state holds, so that none has its lead searched. */
        ("duration: 20s\nkeys: {count: 2}\narrivals: {rate: 30/s}\n"
         "cluster: {nodes: 1, replication_factor: 1}\n"
         "agents: {count: 3, cache_ttl: 2s, cache_entries: 8, operations: 32}\nlimits: {partition_rows: "
         "100}\n"
         "tune: {seeds: 2, risk: 50%, strategies: [time, probabilistic]}\nstrategies:\n  - time: {window: "
         "2s}\n"
         "  - probabilistic: {bits: 1, threshold: 9, coordination: three-state, lead: 1ms, label: three}\n")};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct lab_scenario *scenario = scenario_of("", texts[i]);
        progress = (struct lab_progress){0};
        if (!tune_contest_begin(&contest, scenario, &scenario->tune, 1, NULL, &error) ||
            !tune_contest_run(&contest, 1, &progress, &error))
            fail_msg("%s", error.text);
        assert_true(contest.margins[0].is_tried && contest.led == SIZE_MAX);
        assert_true(progress.done > contest.race.terms.seeds);
        assert_int_equal(progress.done, progress.total);
        tune_contest_clear(&contest);
        lab_scenario_destroy(scenario);
    }
}

/* A time to live bounds a partition that would otherwise grow without end. The keys have some 6,000 rows, so
 * they need four buckets of `hash`, and twice as many if these grow. */
static void test_unbounded_partition_is_bounded_by_a_time_to_live(void **state)
{
    (void)state;
    struct tune_contest contest;
    struct lab_scenario *scenario =
        scenario_of("", "duration: 4d\nkeys: {count: 30}\narrivals: {rate: 0.5/s}\nrow: {ttl: 1d}\n"
                        "limits: {partition_rows: 2000}\nstrategies: [unbucketed: {}]\n");
    begin(&contest, scenario);
    assert_false(find(&contest, "unbucketed")->is_endless);
    assert_non_null(find(&contest, "hash-4"));
    assert_non_null(find(&contest, "hash-8"));
    tune_contest_clear(&contest);
    scenario->row_ttl_ns *= 5;
    begin(&contest, scenario);
    assert_true(find(&contest, "unbucketed")->is_endless);
    assert_null(find(&contest, "hash-4"));
    assert_non_null(find(&contest, "hash-8"));
    tune_contest_clear(&contest);
    lab_scenario_destroy(scenario);
}

/* When a trace lacks sizes, every seed draws them differently, so one seed is not sufficient. */
static void test_trace_with_drawn_sizes_is_not_fixed(void **state)
{
    static const char format[] =
        "trace: {file: " BUCKETLAB_SOURCE_DIR "/scenarios/traces/%s}\n%slimits: {%s}\n"
        "tune: {strategies: [time]}\nstrategies: [time: {window: 1d}]\n";
    static const struct {
        const char *file, *row, *limits;
        bool is_fixed;
    } cases[] = {{"small.csv", "", "partition_bytes: 9KB", true},
                 {"small-counts.csv.gz", "row: {bytes: 300}\n", "partition_bytes: 9KB", true},
                 {"small-counts.csv.gz", "row: {bytes: {lognormal: {mean: 300, sigma: 1}}}\n",
                  "partition_bytes: 9KB", false},
                 {"small-counts.csv.gz", "row: {bytes: {lognormal: {mean: 300, sigma: 1}}}\n",
                  "partition_rows: 99", true}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        struct tune_contest contest;
        snprintf(text, sizeof text, format, cases[i].file, cases[i].row, cases[i].limits);
        struct lab_scenario *scenario = scenario_of("", text);
        begin(&contest, scenario);
        assert_int_equal(find(&contest, "time")->is_fixed, cases[i].is_fixed);
        tune_contest_clear(&contest);
        lab_scenario_destroy(scenario);
    }
}

/* `count` costs far more than windows, so no run is spent on its margin. No key needs a second bucket of
 * `hash`. */
static void test_kind_that_costs_far_more_has_no_margin(void **state)
{
    struct lab_scenario *scenario = scenario_of(
        "", HEAD "row: {bytes: {lognormal: {mean: 100, sigma: 0.5}}}\nlimits: {partition_bytes: 10MB}\n"
                 "tune: {seeds: 2, strategies: [time, count, hash]}\nstrategies: [time: {window: 6h}]\n");
    struct tune_contest contest;
    (void)state;
    begin(&contest, scenario);
    run(&contest);
    assert_int_equal(contest.margin_count, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct tune_entrant *entrant = &contest.race.entrants[contest.margins[i].entrant];
        assert_int_equal(entrant->strategy.settings.strategy.kind, i == 0 ? BK_TIME : BK_COUNT);
        assert_int_equal(contest.margins[i].is_tried, i == 0);
        assert_int_equal(contest.margins[i].steps[TUNE_MARGIN_STEPS - 1].is_run, i == 0);
    }
    for (size_t i = 0; i < contest.race.count; i++)
        assert_int_not_equal(contest.race.entrants[i].strategy.settings.strategy.kind, BK_HASH);
    tune_contest_clear(&contest);
    lab_scenario_destroy(scenario);
}

/* The numbers of rows are within the limits at every rate, which one run at the highest rate shows. The
 * windows may fail at a lower rate, but that run decides the highest rate for them too. */
static void test_margins_share_the_rates_that_run(void **state)
{
    struct lab_scenario *scenario = scenario_of(
        "", STREAM "row: {bytes: {lognormal: {mean: 100, sigma: 0.5}}}\nlimits: {partition_bytes: 200KB}\n"
                   "tune: {seeds: 12, strategies: [time, count]}\n"
                   "strategies: [time: {window: 1h}, count: {rows: 100, counter: external}]\n");
    struct tune_contest contest;
    (void)state;
    begin(&contest, scenario);
    run(&contest);
    assert_int_equal(contest.margin_count, 2);
    for (size_t i = 0; i < 2; i++)
        assert_true(contest.margins[i].steps[TUNE_MARGIN_STEPS - 1].is_run);
    tune_contest_clear(&contest);
    lab_scenario_destroy(scenario);
}

/* The race shows the margin of buckets that end by rows, but not where most partitions are still open, since
 * a higher rate fills them, nor where rows expire, since then fewer do so while their partition is open. */
static void test_margin_runs_unless_closed_partitions_show_it(void **state)
{
    static const struct {
        const char *keys, *row;
        bool is_run;
    } cases[] = {{"20", "", false}, {"2000", "", true}, {"20", ", ttl: 1h", true}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        struct tune_contest contest;
        snprintf(text, sizeof text,
                 "duration: 1d\nkeys: {count: %s}\narrivals: {rate: 2/s}\n"
                 "row: {bytes: {uniform: [900, 1100]}%s}\nlimits: {partition_bytes: 200KB}\n"
                 "tune: {seeds: 4, risk: 5%%, strategies: [count]}\n"
                 "strategies: [count: {rows: 100, counter: external}]\n",
                 cases[i].keys, cases[i].row);
        struct lab_scenario *scenario = scenario_of("", text);
        begin(&contest, scenario);
        run(&contest);
        assert_int_equal(contest.margin_count, 1);
        bool is_run = false;
        for (size_t j = 0; j < TUNE_MARGIN_STEPS; j++)
            is_run = is_run || contest.margins[0].steps[j].is_run;
        assert_int_equal(is_run, cases[i].is_run);
        tune_contest_clear(&contest);
        lab_scenario_destroy(scenario);
    }
}

/* What shows each rate: b, B: the exact distribution, that the setting holds or fails; r, R: a run; h, f: a
 * higher or lower rate. */
static void margin_of(const char *text, bool has_only_limits, char *out)
{
    struct tune_contest contest;
    struct lab_scenario *scenario = scenario_of("", text);
    begin(&contest, scenario);
    run(&contest);
    const struct tune_margin *margin = &contest.margins[0];
    assert_true(margin->is_tried && !margin->holds_anywhere);
    for (size_t i = 0; i < TUNE_MARGIN_STEPS; i++) {
        const struct tune_margin_step *step = &margin->steps[i];
        const bool is_decided =
            step->is_bounded && ((has_only_limits && step->over_most <= 0.5) || step->over_least > 0.5);
        assert_true(!step->is_bounded || step->over_least <= step->over_most);
        out[i] = step->is_run                ? (step->holds ? 'r' : 'R')
                 : is_decided && step->holds ? 'b'
                 : is_decided && step->fails ? 'B'
                 : step->holds               ? 'h'
                                             : 'f';
        assert_true(step->holds != step->fails);
    }
    out[TUNE_MARGIN_STEPS] = '\0';
    tune_contest_clear(&contest);
    lab_scenario_destroy(scenario);
}

/* The exact distribution bounds the number of partitions above the limit that are expected, and decides where
 * it can: not where keys have few rows, nor, that a setting fails, where buckets have a maximum age, rows go,
 * or some rows are those of a backfill, nor, that it holds, with other demands. */
static void test_margin_follows_from_the_exact_distribution(void **state)
{
    static const struct {
        const char *keys, *rate, *row, *arrivals, *tune, *strategy, *shown;
    } cases[] = {
        {"5", "5/s", "", "", "", "", "bbbbB"},
        {"400", "1.5/s", "", "", "", "", "bbhrB"},
        {"2000", "5/s", "", "", "", "", "hhhrB"},
        {"5", "5/s", ", ttl: 30d", "", "", "", "bbbbr"},
        {"5", "5/s", "", "", "", ", max_age: 30d", "bbbbr"},
        {"5", "1/s", "", ", backfill: {before: 10d, rate: 1/s, lasts: 12h}", "", "", "bbbrr"},
        {"5", "5/s", "", "", ", tiny: 40%", "", "hrrrB"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024], shown[TUNE_MARGIN_STEPS + 1];
        snprintf(text, sizeof text,
                 "duration: 1d\nkeys: {count: %s}\narrivals: {rate: %s%s}\nrow: {bytes: 100%s}\n"
                 "limits: {partition_rows: 2000, tiny_rows: 50}\n"
                 "tune: {seeds: 4, strategies: [probabilistic]%s}\n"
                 "strategies: [probabilistic: {chance: 1/160, threshold: 2%s}]\n",
                 cases[i].keys, cases[i].rate, cases[i].arrivals, cases[i].row, cases[i].tune,
                 cases[i].strategy);
        margin_of(text, cases[i].tune[0] == '\0', shown);
        assert_string_equal(shown, cases[i].shown);
    }
}

/* A share is allowed: the bound of the share holds at every rate, and no number matters. */
static void test_margin_of_a_share_has_no_number_of_partitions(void **state)
{
    struct lab_scenario *scenario = scenario_of(
        "", "duration: 1d\nkeys: {count: 5}\narrivals: {rate: 5/s}\nlimits: {partition_rows: 2000}\n"
            "tune: {seeds: 4, risk: 1%, strategies: [probabilistic]}\n"
            "strategies: [probabilistic: {chance: 1/160, threshold: 2}]\n");
    struct tune_contest contest;
    (void)state;
    begin(&contest, scenario);
    run(&contest);
    assert_true(contest.margins[0].holds_anywhere);
    for (size_t i = 0; i < TUNE_MARGIN_STEPS; i++)
        assert_true(contest.margins[0].steps[i].holds && !contest.margins[0].steps[i].is_bounded);
    tune_contest_clear(&contest);
    lab_scenario_destroy(scenario);
}

/* In the cluster, the distribution refuses a setting that fails even if each increment is seen at once, but
 * shows for none that it holds. A kind that costs far more has no margin. */
static void test_cluster_refuses_what_the_distribution_rules_out(void **state)
{
    struct lab_scenario *scenario = scenario_of(
        "", "duration: 30s\nkeys: {count: 2}\narrivals: {rate: 30/s}\nreads: {latest: {rows: 5, rate: 1/s}}\n"
            "cluster: {nodes: 3, replication_factor: 3}\n"
            "agents: {count: 3, cache_ttl: 1s, cache_entries: 8, operations: 32}\n"
            "limits: {partition_rows: 150}\ntune: {seeds: 2}\nstrategies:\n  - time: {window: 2s}\n"
            "  - probabilistic: {bits: 1, threshold: 30, coordination: guarded, label: guarded}\n"
            "  - probabilistic: {bits: 1, threshold: 30, coordination: guarded, max_age: 1d, label: aged}\n");
    struct tune_contest contest;
    size_t refused = 0;
    (void)state;
    begin(&contest, scenario);
    run(&contest);
    for (size_t i = 0; i < contest.race.count; i++) {
        const struct tune_entrant *entrant = &contest.race.entrants[i];
        if (strcmp(entrant->base, "guarded") != 0)
            continue;
        assert_int_equal(entrant->has_distribution, entrant->status == TUNE_REFUSED);
        assert_true(entrant->status != TUNE_REFUSED || entrant->exact_share > contest.race.terms.risk);
        refused += entrant->status == TUNE_REFUSED;
    }
    assert_true(refused > 0);
    for (size_t i = 0; i < contest.race.count; i++)
        refused -= contest.race.entrants[i].status == TUNE_REFUSED;
    assert_int_equal(refused, 0);
    assert_true(contest.margin_count > 1 && contest.margins[0].is_tried);
    for (size_t i = 0; i < contest.margin_count; i++) {
        const struct tune_entrant *best = &contest.race.entrants[contest.race.recommended],
                                  *entrant = &contest.race.entrants[contest.margins[i].entrant];
        assert_int_equal(contest.margins[i].is_tried,
                         !tune_is_far(tune_mean_of(entrant, TUNE_COST), tune_mean_of(best, TUNE_COST)));
    }
    assert_false(contest.margins[1].is_tried);
    tune_contest_clear(&contest);
    lab_scenario_destroy(scenario);
}

/* Most partitions of a short run are open at its end, and exceed no limit. So the share of all partitions may
 * be within the risk where that of closed ones is above it, and the distribution refuses nothing. */
static void test_distribution_refuses_nothing_where_most_partitions_are_open(void **state)
{
    struct tune_contest contest;
    size_t above = 0;
    struct lab_scenario *scenario = scenario_of(
        "", "duration: 30s\nkeys: {count: 2}\narrivals: {rate: 30/s}\n"
            "cluster: {nodes: 1, replication_factor: 1}\nagents: {count: 1, operations: 32}\n"
            "limits: {partition_rows: 400}\ntune: {seeds: 2, risk: 10%}\nstrategies:\n"
            "  - probabilistic: {bits: 8, threshold: 1, coordination: guarded, label: guarded}\n");
    (void)state;
    begin(&contest, scenario);
    for (size_t i = 0; i < contest.race.count; i++) {
        assert_int_equal(contest.race.entrants[i].status, TUNE_HOLDS);
        above += contest.race.entrants[i].exact_share > contest.race.terms.risk;
    }
    assert_true(above > 0);
    tune_contest_clear(&contest);
    lab_scenario_destroy(scenario);
}

/* When not even one row fits into the limits, the distribution refuses the setting. */
static void test_limit_below_a_row_is_refused_by_the_distribution(void **state)
{
    (void)state;
    struct tune_contest contest;
    struct lab_scenario *scenario = scenario_of(
        "", "duration: 1h\nkeys: {count: 3}\narrivals: {rate: 0.1/s}\nrow: {bytes: 300}\n"
            "limits: {partition_bytes: 299B}\nstrategies: [probabilistic: {bits: 1, threshold: 3}]\n");
    begin(&contest, scenario);
    for (size_t i = 0; i < contest.race.count; i++) {
        enum bk_kind kind = contest.race.entrants[i].strategy.settings.strategy.kind;
        if (kind == BK_PROBABILISTIC || kind == BK_COUNT)
            assert_int_equal(contest.race.entrants[i].status, TUNE_REFUSED);
    }
    assert_non_null(find(&contest, "probabilistic-0x1"));
    assert_non_null(find(&contest, "count-1"));
    tune_contest_clear(&contest);
    lab_scenario_destroy(scenario);
}

static void check_text(const struct lab_strategy *strategy, const char *agents)
{
    char text[TUNE_STRATEGY_TEXT_SIZE], again[TUNE_STRATEGY_TEXT_SIZE], whole[4096];
    tune_strategy_text(strategy, text);
    snprintf(whole, sizeof whole,
             "duration: 1h\nkeys: {count: 3}\narrivals: {rate: 1/s}\n%sstrategies: [{%s}]\n", agents, text);
    struct lab_scenario *scenario = scenario_of("", whole);
    const struct lab_strategy *read = &scenario->strategies[0];
    tune_strategy_text(read, again);
    assert_string_equal(text, again);
    assert_string_equal(read->label, strategy->label);
    assert_int_equal(read->settings.strategy.kind, strategy->settings.strategy.kind);
    assert_int_equal(read->settings.strategy.max_age_ns, strategy->settings.strategy.max_age_ns);
    assert_int_equal(read->settings.coordination, strategy->settings.coordination);
    assert_int_equal(read->settings.counter, strategy->settings.counter);
    assert_int_equal(read->settings.source, strategy->settings.source);
    assert_int_equal(read->settings.lease_rows, strategy->settings.lease_rows);
    assert_int_equal(read->settings.every_rows, strategy->settings.every_rows);
    assert_int_equal(read->settings.every_ns, strategy->settings.every_ns);
    assert_int_equal(read->settings.lead_ns, strategy->settings.lead_ns);
    assert_int_equal(read->settings.grant_ns, strategy->settings.grant_ns);
    assert_int_equal(read->settings.lock_lasts_ns, strategy->settings.lock_lasts_ns);
    assert_int_equal(read->settings.lock_backoff_ns, strategy->settings.lock_backoff_ns);
    assert_int_equal(read->settings.reading.plan, strategy->settings.reading.plan);
    assert_int_equal(read->settings.reading.at_once, strategy->settings.reading.at_once);
    assert_int_equal(read->settings.reading.remembers_empty, strategy->settings.reading.remembers_empty);
    assert_int_equal(read->settings.reading.late_ns, strategy->settings.reading.late_ns);
    lab_scenario_destroy(scenario);
}

static void test_text_of_a_strategy_is_that_strategy(void **state)
{
    static const char agents[] = "agents: {count: 2}\n";
    static const char *const lists[] = {
        "  - unbucketed: {}\n  - unbucketed: {read: {plan: pair}, label: 'on'}\n"
        "  - time: {window: 90m, epoch: 2015-06-07T08:09:10Z, label: \"it's\"}\n"
        "  - time: {calendar: week, read: {remember_empty: true, late: 1500ms}, label: '7'}\n"
        "  - count: {rows: 7, counter: external, max_age: 36h, label: 'a: {b}, #c'}\n  - count: {rows: 8, "
        "counter: lwt, label: "
        "é}\n"
        "  - count: {rows: 8, counter: lease, batch: 5, label: l}\n"
        "  - count: {rows: 8, counter: scan, every_rows: 3, label: -s}\n"
        "  - count: {rows: 8, counter: memory, label: m}\n"
        "  - probabilistic: {bits: 0, threshold: 9}\n"
        "  - probabilistic: {chance: 3/1000, threshold: 1, max_age: 1500us, label: c}\n"
        "  - weighted: {bytes: 512KiB, threshold: 40}\n"
        "  - hash: {buckets: 3, read: {plan: parallel, at_once: 2}}\n",
        "  - probabilistic: {bits: 3, threshold: 9, coordination: three-state, lead: 1500ms, counter: lwt}\n"
        "  - probabilistic: {bits: 3, threshold: 9, coordination: guarded, grant: 7s, label: g}\n"
        "  - probabilistic: {bits: 3, threshold: 9, counter: counter, label: s}\n"
        "  - weighted: {bytes: 1MB, threshold: 9, coordination: locked, lock: {lasts: 3s, backoff: 1ns}}\n"
        "  - count: {rows: 8, counter: incremental, every_time: 90s, every_rows: 4}\n"};
    (void)state;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        char text[4096];
        snprintf(text, sizeof text,
                 "duration: 1h\nkeys: {count: 3}\narrivals: {rate: 1/s}\n%sstrategies:\n%s",
                 i == 1 ? agents : "", lists[i]);
        struct lab_scenario *scenario = scenario_of("", text);
        for (size_t j = 0; j < scenario->strategy_count; j++)
            check_text(&scenario->strategies[j], i == 1 ? agents : "");
        lab_scenario_destroy(scenario);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_race_in_the_lab_recommends_what_all_seeds_do),
        cmocka_unit_test(test_contest_with_stored_runs_gives_the_same_result),
        cmocka_unit_test(test_failing_settings_stop_early_in_the_cluster),
        cmocka_unit_test(test_settings_above_a_limit_run_again_if_none_is_within),
        cmocka_unit_test(test_next_cheaper_window_has_its_figures),
        cmocka_unit_test(test_full_windows_have_rows),
        cmocka_unit_test(test_contest_of_two_limits_counts_a_partition_once),
        cmocka_unit_test(test_distribution_excludes_or_confirms_candidates),
        cmocka_unit_test(test_candidates_keep_the_settings_of_their_templates),
        cmocka_unit_test(test_progress_of_a_contest_ends_at_its_total),
        cmocka_unit_test(test_unbounded_partition_is_bounded_by_a_time_to_live),
        cmocka_unit_test(test_trace_with_drawn_sizes_is_not_fixed),
        cmocka_unit_test(test_limit_below_a_row_is_refused_by_the_distribution),
        cmocka_unit_test(test_cluster_refuses_what_the_distribution_rules_out),
        cmocka_unit_test(test_kind_that_costs_far_more_has_no_margin),
        cmocka_unit_test(test_margins_share_the_rates_that_run),
        cmocka_unit_test(test_margin_runs_unless_closed_partitions_show_it),
        cmocka_unit_test(test_margin_follows_from_the_exact_distribution),
        cmocka_unit_test(test_margin_of_a_share_has_no_number_of_partitions),
        cmocka_unit_test(test_distribution_refuses_nothing_where_most_partitions_are_open),
        cmocka_unit_test(test_text_of_a_strategy_is_that_strategy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
