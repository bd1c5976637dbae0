/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the settings of a contest follow from the scenario and the distribution; verdicts, the tolerance,
 * margins and what is remembered keep their definitions; a strategy that is written out is parsed as the same
 * one. Method: small scenarios, run both ways. exhaustive_test.c compares the answers with exhaustive ones.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../lab/scenario_of.h"
#include "lab/setting.h"
#include "tune/contest.h"

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
    for (size_t i = 0; i < contest->count; i++) {
        if (strcmp(contest->entrants[i].strategy.label, label) == 0)
            return &contest->entrants[i];
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
    assert_int_equal(one->recommended, other->recommended);
    for (size_t i = 0; i < one->count; i++) {
        const struct tune_entrant *entrant = &one->entrants[i];
        assert_int_equal(entrant->status, other->entrants[i].status);
        assert_int_equal(entrant->seeds, other->entrants[i].seeds);
        if (entrant->seeds > 0)
            assert_memory_equal(entrant->seen, other->entrants[i].seen,
                                entrant->seeds * sizeof *entrant->seen);
    }
    assert_int_equal(one->margin_count, other->margin_count);
    for (size_t i = 0; i < one->margin_count; i++) {
        for (size_t j = 0; j < TUNE_MARGIN_STEPS; j++)
            assert_memory_equal(&one->margins[i].steps[j].seen, &other->margins[i].steps[j].seen,
                                sizeof(struct tune_seen));
    }
    assert_int_equal(one->led, other->led);
}

/* Several threads may finish a run that is no longer needed. Returns the number of steps that
 * were recalled. */
static uint64_t compete(struct tune_contest *contest, const struct lab_scenario *scenario, uint32_t threads,
                        const struct tune_memory *memory)
{
    struct sim_error error;
    struct lab_progress progress = {0};
    begin(contest, scenario);
    contest->memory = memory;
    if (!tune_contest_run(contest, threads, &progress, &error))
        fail_msg("%s", error.text);
    return progress.recalled;
}

static void test_contest_of_any_threads_or_stored_runs_is_the_same(void **state)
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
        struct tune_contest plain, many, first, second, third;
        struct lab_scenario *scenario = scenario_of("", texts[i]);
        notebook = (struct notebook){.lock = PTHREAD_MUTEX_INITIALIZER};
        compete(&plain, scenario, 1, NULL);
        compete(&many, scenario, 3, NULL);
        assert_same(&plain, &many);
        const uint64_t own = compete(&first, scenario, 1, &memory);
        size_t all = notebook.made;
        assert_int_equal(first.led != SIZE_MAX, i == 1);
        assert_same(&plain, &first);
        /* Every run has a different number. */
        for (size_t j = 0; j < all; j++) {
            for (size_t k = 0; k < j; k++)
                assert_true(notebook.jobs[j] != notebook.jobs[k]);
        }
        assert_true(compete(&second, scenario, 1, &memory) > own);
        assert_int_equal(notebook.made, all);
        assert_same(&plain, &second);
        /* The contest was stopped in the middle of runs that were made together. */
        notebook.count = all / 3;
        compete(&third, scenario, 1, &memory);
        assert_int_equal(notebook.made, all + all - all / 3);
        assert_same(&plain, &third);
        struct tune_contest *const contests[] = {&plain, &many, &first, &second, &third};
        for (size_t j = 0; j < 5; j++)
            tune_contest_clear(contests[j]);
        lab_scenario_destroy(scenario);
    }
}

/* Settings within the tolerance of the least load count as equal, and the most even one of them is taken: not
 * 11 x 7 for the sake of three operations per 1000 rows. */
static void test_equal_loads_are_decided_by_evenness(void **state)
{
    char text[1024];
    const char *const tolerances[] = {"", ", tolerance: 0%"};
    double loads[2], cvs[2];
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct tune_contest contest;
        snprintf(text, sizeof text,
                 "duration: 10d\nkeys: {count: 4}\narrivals: {rate: 1/s}\nrow: {bytes: 300}\n"
                 "limits: {partition_rows: 100000}\ntune: {strategies: [probabilistic], seeds: 2%s}\n"
                 "strategies: [probabilistic: {bits: 11, threshold: 7}]\n",
                 tolerances[i]);
        struct lab_scenario *scenario = scenario_of("", text);
        begin(&contest, scenario);
        run(&contest);
        assert_int_not_equal(contest.recommended, SIZE_MAX);
        const struct lab_candidate best =
            tune_candidate_for(&contest, &contest.entrants[contest.recommended]);
        loads[i] = best.load;
        cvs[i] = best.cv;
        tune_contest_clear(&contest);
        lab_scenario_destroy(scenario);
    }
    assert_true(loads[0] > loads[1] && loads[0] <= 1.005 * loads[1]);
    assert_true(cvs[0] < 0.6 * cvs[1]);
}

/* What disqualifies a setting is named. */
static void test_failed_demands_are_named(void **state)
{
    static const struct {
        const char *text, *label;
        enum tune_demand failed;
    } cases[] = {
        {HEAD "limits: {partition_rows: 200}\ntune: {seeds: 2, strategies: [time]}\n"
              "strategies: [time: {window: 1d, label: it}]\n",
         "it", TUNE_IN_LIMITS},
        {"duration: 30s\nkeys: {count: 2}\narrivals: {rate: 30/s}\n"
         "reads: {latest: {rows: 5, rate: 1/s}}\ncluster: {nodes: 3, replication_factor: 3}\n"
         "agents: {count: 3, cache_ttl: 1s, cache_entries: 8, operations: 32}\n"
         "limits: {partition_rows: 100}\ntune: {seeds: 2, strategies: [probabilistic]}\nstrategies:\n"
         "  - probabilistic: {bits: 1, threshold: 20, coordination: single, label: it}\n",
         "it", TUNE_FINDABLE}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tune_contest contest;
        struct lab_scenario *scenario = scenario_of("", cases[i].text);
        begin(&contest, scenario);
        run(&contest);
        const struct tune_entrant *entrant = find(&contest, cases[i].label);
        assert_int_equal(entrant->status,
                         cases[i].failed == TUNE_IN_LIMITS ? TUNE_EXCEEDS : TUNE_DISQUALIFIED);
        assert_int_equal(entrant->failed, cases[i].failed);
        tune_contest_clear(&contest);
        lab_scenario_destroy(scenario);
    }
}

/* The margin: within at a rate is within at every lower one, and what exceeds does so at every higher one; a
 * whole run at each rate confirms what was said. */
static void check_margin(struct tune_contest *contest, const struct tune_margin *margin, size_t *decided)
{
    const struct tune_entrant *entrant = &contest->entrants[margin->entrant];
    for (size_t i = 0; i < TUNE_MARGIN_STEPS; i++) {
        const struct tune_margin_step *step = &margin->steps[i];
        struct tune_seen seen;
        struct lab_facts known;
        struct lab_judgment judgment;
        enum tune_demand failed;
        struct sim_error error;
        assert_true(i == 0 || margin->steps[i - 1].within != LAB_EXCEEDS || step->within == LAB_EXCEEDS);
        assert_true(i == 0 || step->within != LAB_WITHIN || margin->steps[i - 1].within == LAB_WITHIN);
        if (!tune_watch(contest, &margin->entrant, 1, contest->scenario->seed, step->factor, 1, NULL, &seen,
                        NULL, &error))
            fail_msg("%s", error.text);
        tune_know(contest, &entrant->strategy.settings, step->factor, contest->scenario->seed, &known);
        const enum lab_within within = tune_judge(contest, &seen, 1, &known, &judgment, &failed);
        /* If none may exceed a limit, one does with a probability of up to 5 %. */
        if (step->within == LAB_WITHIN && within == LAB_EXCEEDS && judgment.over > 1)
            fail_msg("%s at %g: said to be within", entrant->strategy.label, step->factor);
        if (step->within == LAB_EXCEEDS && within == LAB_WITHIN)
            fail_msg("%s at %g: said to exceed", entrant->strategy.label, step->factor);
        *decided += step->within != LAB_NOT_JUDGED && !step->is_run;
    }
}

static void test_margins_are_confirmed_by_runs(void **state)
{
    static const char *const limits[] = {"partition_rows: 3000", "partition_rows: 3000, over_limit_share: 1%",
                                         "partition_bytes: 1MB"};
    size_t decided = 0, failed = 0;
    (void)state;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct tune_contest contest;
        char text[1024];
        snprintf(text, sizeof text,
                 "duration: 2d\nkeys: {count: 20}\narrivals: {rate: 0.4/s}\nlimits: {%s}\n"
                 "row: {bytes: 300}\ntune: {seeds: 2}\nstrategies: [time: {window: 1d}]\n",
                 limits[i]);
        struct lab_scenario *scenario = scenario_of("", text);
        begin(&contest, scenario);
        run(&contest);
        assert_int_not_equal(contest.recommended, SIZE_MAX);
        assert_int_equal(contest.margins[0].entrant, contest.recommended);
        for (size_t j = 0; j < contest.margin_count; j++) {
            check_margin(&contest, &contest.margins[j], &decided);
            failed += contest.margins[j].steps[TUNE_MARGIN_STEPS - 1].within == LAB_EXCEEDS;
        }
        tune_contest_clear(&contest);
        lab_scenario_destroy(scenario);
    }
    assert_true(decided > 20 && failed > 1);
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
        contests[i].is_exhaustive = true;
        run(&contests[i]);
    }
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
        const struct tune_entrant *by_rows = find(&contests[0], labels[i]),
                                  *by_bytes = find(&contests[1], labels[i]),
                                  *by_both = find(&contests[2], labels[i]);
        assert_int_equal(by_both->seeds, 3);
        for (uint32_t j = 0; j < 3; j++) {
            uint64_t rows = by_rows->seen[j].facts.over, bytes = by_bytes->seen[j].facts.over,
                     any = by_both->seen[j].facts.over;
            assert_int_equal(by_both->seen[j].facts.partitions, by_rows->seen[j].facts.partitions);
            assert_in_range(any, rows > bytes ? rows : bytes, rows + bytes);
            assert_true(by_both->seen[j].figures[TUNE_OVER] ==
                        (double)any / (double)by_both->seen[j].facts.partitions);
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

static enum lab_within judge_by_distribution(const struct tune_contest *contest,
                                             const struct tune_entrant *entrant)
{
    struct lab_facts known;
    struct lab_judgment judgment;
    enum tune_demand failed;
    tune_know(contest, &entrant->strategy.settings, 1, contest->scenario->seed, &known);
    return tune_judge(contest, NULL, 0, &known, &judgment, &failed);
}

/* With limits in rows only, the distribution decides everything about probabilistic and count. */
static void test_distribution_excludes_or_confirms_candidates(void **state)
{
    (void)state;
    struct tune_contest contest;
    struct lab_scenario *scenario =
        scenario_of("", HEAD "limits: {partition_rows: 1000}\ntune: {seeds: 2}\nstrategies:\n"
                             "  - probabilistic: {bits: 8, threshold: 4, label: wild}\n"
                             "  - probabilistic: {bits: 4, threshold: 20, label: tame}\n"
                             "  - count: {rows: 1001, counter: external, label: over}\n"
                             "  - count: {rows: 1000, counter: external, label: full}\n");
    begin(&contest, scenario);
    run(&contest);
    static const char *const excluded[] = {"wild", "over"}, *const within[] = {"tame", "full"};
    for (size_t i = 0; i < 2; i++) {
        const struct tune_entrant *out = find(&contest, excluded[i]), *in = find(&contest, within[i]);
        assert_int_equal(out->status, TUNE_EXCEEDS);
        assert_int_equal(out->failed, TUNE_IN_LIMITS);
        assert_int_equal(judge_by_distribution(&contest, out), LAB_EXCEEDS);
        assert_true(in->status <= TUNE_WITHIN && in->seeds > 0);
        assert_true(in->judgment.by == LAB_BY_DISTRIBUTION || in->judgment.by == LAB_BY_CERTAINTY);
    }
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
    for (size_t i = 0; i < contest.count; i++) {
        const struct tune_entrant *entrant = &contest.entrants[i];
        enum bk_kind kind = entrant->strategy.settings.strategy.kind;
        kinds |= 1u << kind;
        by_lwt += kind == BK_KIND_COUNT && entrant->strategy.settings.source == BK_SOURCE_LWT;
        by_counter += kind == BK_KIND_COUNT && entrant->strategy.settings.source == BK_SOURCE_COUNTER;
        aged += kind == BK_KIND_PROBABILISTIC;
        assert_true(kind != BK_KIND_PROBABILISTIC || entrant->strategy.settings.strategy.max_age_ns != 0);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(entrant->strategy.label, contest.entrants[j].strategy.label);
    }
    assert_int_equal(kinds, 1u << BK_KIND_COUNT | 1u << BK_KIND_PROBABILISTIC);
    assert_in_range(by_lwt, 4, 8);
    assert_int_equal(by_counter, by_lwt);
    assert_in_range(aged, 8, TUNE_LADDER_MAX + 2);
    assert_non_null(find(&contest, "sure-1000-2"));
    tune_contest_clear(&contest);
    lab_scenario_destroy(scenario);
}

/* A contest ends with the runs at higher rates, and its total counts exactly these runs. */
static void test_progress_of_a_contest_ends_at_its_total(void **state)
{
    (void)state;
    struct tune_contest contest;
    struct sim_error error = {0};
    struct lab_progress progress = {0};
    static const char *const texts[] = {
        HEAD "limits: {partition_rows: 2000}\ntune: {strategies: [time], seeds: 2, risk: 5%}\n"
             "strategies: [time: {window: 6h}]\n",
        /* No setting of three-state holds, so that no lead is judged. */
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
        assert_true(progress.done > contest.terms.seeds);
        assert_int_equal(progress.done, progress.total);
        tune_contest_clear(&contest);
        lab_scenario_destroy(scenario);
    }
}

/* A time to live bounds a partition that would otherwise grow without end, once the run is longer than rows
 * stay on disk: 11.4 days, then 15.6. The keys have some 6,000 rows, so they need four buckets of `hash`, and
 * twice as many if these grow. Windows of which the run has no whole one grow too. */
static void test_unbounded_partition_is_bounded_by_a_time_to_live(void **state)
{
    (void)state;
    struct tune_contest contest;
    struct lab_scenario *scenario = scenario_of(
        "", "duration: 12d\nkeys: {count: 30}\narrivals: {rate: 0.16/s}\nrow: {ttl: 1d}\n"
            "limits: {partition_rows: 2000}\nstrategies: [unbucketed: {}, time: {window: 30d}]\n");
    begin(&contest, scenario);
    assert_false(find(&contest, "unbucketed")->is_endless);
    assert_false(find(&contest, "time")->is_endless);
    assert_non_null(find(&contest, "hash-4"));
    assert_non_null(find(&contest, "hash-8"));
    tune_contest_clear(&contest);
    scenario->row_ttl_ns *= 5;
    begin(&contest, scenario);
    assert_true(find(&contest, "unbucketed")->is_endless);
    assert_true(find(&contest, "time")->is_endless);
    assert_null(find(&contest, "hash-4"));
    assert_non_null(find(&contest, "hash-8"));
    tune_contest_clear(&contest);
    lab_scenario_destroy(scenario);
}

/* Every seed has the rows of a trace, so one is enough; but not for sizes that are drawn. */
static void test_trace_needs_more_seeds_only_if_sizes_are_drawn(void **state)
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
                  "partition_rows: 99", false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        struct tune_contest contest;
        snprintf(text, sizeof text, format, cases[i].file, cases[i].row, cases[i].limits);
        struct lab_scenario *scenario = scenario_of("", text);
        begin(&contest, scenario);
        assert_int_equal(find(&contest, "time")->needs == 1, cases[i].is_fixed);
        tune_contest_clear(&contest);
        lab_scenario_destroy(scenario);
    }
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
    for (size_t i = 0; i < contest.count; i++) {
        enum bk_kind kind = contest.entrants[i].strategy.settings.strategy.kind;
        if (kind == BK_KIND_PROBABILISTIC || kind == BK_KIND_COUNT)
            assert_int_equal(judge_by_distribution(&contest, &contest.entrants[i]), LAB_EXCEEDS);
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
    const enum bk_kind kind = strategy->settings.strategy.kind;
    assert_int_equal(read->settings.strategy.kind, kind);
    for (size_t i = 0; i < lab_setting_count; i++) {
        const struct lab_setting *setting = &lab_setting_table[i];
        const size_t place = lab_setting_place(setting, kind, 0);
        char mine[LAB_SETTING_TEXT_SIZE], its[LAB_SETTING_TEXT_SIZE];
        if (place == SIZE_MAX || setting->type == LAB_SETTING_TEXT)
            continue;
        lab_setting_text(setting, (const char *)&strategy->settings + place, mine);
        lab_setting_text(setting, (const char *)&read->settings + place, its);
        assert_string_equal(mine, its);
    }
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
        cmocka_unit_test(test_contest_of_any_threads_or_stored_runs_is_the_same),
        cmocka_unit_test(test_equal_loads_are_decided_by_evenness),
        cmocka_unit_test(test_failed_demands_are_named),
        cmocka_unit_test(test_margins_are_confirmed_by_runs),
        cmocka_unit_test(test_contest_of_two_limits_counts_a_partition_once),
        cmocka_unit_test(test_distribution_excludes_or_confirms_candidates),
        cmocka_unit_test(test_candidates_keep_the_settings_of_their_templates),
        cmocka_unit_test(test_progress_of_a_contest_ends_at_its_total),
        cmocka_unit_test(test_unbounded_partition_is_bounded_by_a_time_to_live),
        cmocka_unit_test(test_trace_needs_more_seeds_only_if_sizes_are_drawn),
        cmocka_unit_test(test_limit_below_a_row_is_refused_by_the_distribution),
        cmocka_unit_test(test_text_of_a_strategy_is_that_strategy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
