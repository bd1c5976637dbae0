/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the race drops entrants that fail and entrants that are dominated, seldom any other, and recommends
 * the same setting as a race with all seeds.
 *
 * Method: an observer that draws figures around known means, so that the truth is known; hundreds of races,
 * each compared with a race that drops no entrant. Seeds are fixed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/random.h"
#include "kernel/sampler.h"
#include "tune/race.h"

#define ENTRANTS 12
#define SEEDS    10

/* The true values of one setting. */
struct truth {
    double objectives[TUNE_OBJECTIVES]; /* means; NaN: none */
    double over;                        /* share of partitions above a limit */
    double noise; /* relative noise of the objectives; half of it is common to all settings */
};

struct stage {
    uint64_t seed;
    uint64_t partitions;
    struct truth truths[ENTRANTS];
    uint32_t over_from[ENTRANTS];     /* the first seed with partitions above a limit */
    uint64_t partitions_of[ENTRANTS]; /* 0: `partitions` */
    _Atomic uint64_t runs;
    _Atomic uint64_t unnamed; /* the runs of which each began before a best setting was named */
};

static uint64_t draw_hits(struct sim_random *random, uint64_t count, double share)
{
    uint64_t hits = 0;
    for (uint64_t i = 0; i < count; i++)
        hits += (double)(sim_random_next(random) >> 11) * 0x1p-53 < share;
    return hits;
}

static bool watch(void *context, const struct tune_entrant *const *entrants, size_t count,
                  uint32_t seed_index, uint32_t threads, struct lab_progress *progress, struct tune_seen *out,
                  struct sim_error *error)
{
    struct stage *stage = context;
    struct sim_random common;
    (void)threads;
    (void)error;
    const struct lab_progress *whole = progress;
    while (whole->parent != NULL)
        whole = whole->parent;
    stage->unnamed += whole->best == NULL;
    sim_random_init(&common, stage->seed, SIM_ARRIVAL, seed_index);
    double weather = sim_normal(&common);
    for (size_t i = 0; i < count; i++) {
        size_t number = (size_t)entrants[i]->strategy.line;
        const struct truth *truth = &stage->truths[number];
        struct sim_random own;
        sim_random_init(&own, stage->seed, SIM_ROW_ID, seed_index * 1000u + number);
        for (int j = 0; j < TUNE_OBJECTIVES; j++)
            out[i].figures[j] = truth->objectives[j] * (1 + truth->noise * (weather + sim_normal(&own)) / 2);
        out[i].figures[TUNE_COST] = out[i].figures[TUNE_COST_WRITE] + out[i].figures[TUNE_PER_READ];
        out[i].partitions =
            stage->partitions_of[number] != 0 ? stage->partitions_of[number] : stage->partitions;
        if (seed_index >= stage->over_from[number])
            out[i].over = draw_hits(&own, out[i].partitions, truth->over);
        out[i].figures[TUNE_OVER] = (double)out[i].over / (double)out[i].partitions;
        out[i].figures[TUNE_TINY] = out[i].figures[TUNE_PER_READ_P99] = (double)NAN;
        stage->runs++;
    }
    return true;
}

static void enter_all(struct tune_race *race, struct stage *stage, bool drops)
{
    *race = (struct tune_race){
        .terms = {.risk = 0.01, .share = 0.01, .tiny = -1, .confidence = 0.95, .seeds = SEEDS},
        .watch = watch,
        .context = stage,
        .drops = drops};
    for (int i = 0; i < ENTRANTS; i++) {
        struct tune_entrant entrant = {.strategy = {.label = calloc(1, 1), .line = i}, .status = TUNE_HOLDS};
        assert_non_null(entrant.strategy.label);
        assert_true(tune_race_add(race, &entrant));
    }
}

static void run(struct tune_race *race, uint32_t threads)
{
    struct sim_error error = {0};
    struct lab_progress progress = {0};
    uint64_t runs = 0;
    assert_true(tune_race_run(race, threads, &progress, &error));
    for (size_t i = 0; i < race->count; i++)
        runs += race->entrants[i].seeds;
    assert_int_equal(progress.rows, runs);
}

/* Settings on a front, settings dominated by varying amounts, and some that are above the risk. */
static void set_stage(struct stage *stage, uint64_t seed, double noise)
{
    struct sim_random random;
    memset(stage, 0, sizeof *stage);
    stage->seed = seed;
    stage->partitions = 2000;
    sim_random_init(&random, seed, SIM_ROW_BYTES, 0);
    for (int i = 0; i < ENTRANTS; i++) {
        struct truth *truth = &stage->truths[i];
        double place = (double)(sim_random_next(&random) % 1000) / 1000;
        double behind = i % 3 == 0 ? 0 : (double)(sim_random_next(&random) % 100) / 100;
        truth->objectives[TUNE_COST_WRITE] = (1 + place) * (1 + behind);
        truth->objectives[TUNE_CV] = (2 - place) * (1 + behind);
        truth->objectives[TUNE_PER_READ] = 1 + behind;
        truth->objectives[TUNE_P99_BYTES] = 1000 * (1 + behind);
        truth->over = i % 4 == 1 ? 0.03 : i % 4 == 2 ? 0.012 : 0.004;
        truth->noise = noise;
    }
}

/* The race drops the setting that all seeds recommend with a chance of at most 5 % (tune/race.h). At 5 %, 15
 * of 300 races would do so on average, and 50 or more with a chance below 1e-12. */
static void test_race_against_all_seeds_recommends_the_same(void **state)
{
    (void)state;
    unsigned lost = 0, races = 0;
    uint64_t runs = 0, all_runs = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct stage stage;
        struct tune_race race, all;
        set_stage(&stage, seed, seed % 2 == 0 ? 0.02 : 0.2);
        enter_all(&race, &stage, true);
        run(&race, 1);
        runs += stage.runs;
        stage.runs = 0;
        enter_all(&all, &stage, false);
        run(&all, 1);
        all_runs += stage.runs;
        assert_int_equal(stage.runs, ENTRANTS * SEEDS);
        races++;
        lost += race.recommended != all.recommended;
        tune_race_clear(&race);
        tune_race_clear(&all);
    }
    assert_int_equal(races, 300);
    assert_in_range(lost, 0, 49);
    /* The race also saves runs. */
    assert_true(runs < all_runs * 9 / 10);
}

/* The front, by its definition and for any order of the settings: the settings that are as certain as the
 * recommended one, unless another such setting is better and may replace them. */
static void test_race_front_is_what_its_definition_says(void **state)
{
    (void)state;
    unsigned fronts = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct stage stage;
        struct tune_race race;
        set_stage(&stage, seed, 0.02);
        enter_all(&race, &stage, false);
        for (size_t i = 0; i < ENTRANTS; i++) {
            if (i % 5 == 0)
                race.entrants[i].requirements = 1U << LAB_REQUIRES_LWT;
        }
        run(&race, 1);
        assert_int_not_equal(race.recommended, SIZE_MAX);
        enum tune_status among = race.is_shown ? TUNE_HOLDS : TUNE_UNSURE;
        for (size_t i = 0; i < ENTRANTS; i++) {
            const struct tune_entrant *one = &race.entrants[i];
            bool is_front = one->status == TUNE_FRONT || one->status == TUNE_RECOMMENDED;
            if (!is_front && one->status != among)
                continue;
            bool is_beaten = false;
            for (size_t j = 0; j < ENTRANTS; j++) {
                const struct tune_entrant *other = &race.entrants[j];
                bool is_peer = other->status == TUNE_FRONT || other->status == TUNE_RECOMMENDED ||
                               other->status == among;
                is_beaten = is_beaten ||
                            (i != j && is_peer && tune_may_replace(other, one) && tune_is_better(other, one));
            }
            assert_true(i == race.recommended || is_front == !is_beaten);
            fronts += is_front;
        }
        tune_race_clear(&race);
    }
    assert_true(fronts > 200);
}

static void test_race_of_any_threads_is_the_same(void **state)
{
    (void)state;
    struct stage stage;
    struct tune_race one, other;
    set_stage(&stage, 5, 0.05);
    enter_all(&one, &stage, true);
    run(&one, 1);
    enter_all(&other, &stage, true);
    run(&other, 4);
    assert_int_equal(one.recommended, other.recommended);
    for (size_t i = 0; i < one.count; i++) {
        assert_int_equal(one.entrants[i].status, other.entrants[i].status);
        assert_int_equal(one.entrants[i].seeds, other.entrants[i].seeds);
        for (uint32_t s = 0; s < one.entrants[i].seeds; s++)
            assert_true(one.entrants[i].seen[s].figures[TUNE_COST_WRITE] ==
                        other.entrants[i].seen[s].figures[TUNE_COST_WRITE]);
    }
    tune_race_clear(&one);
    tune_race_clear(&other);
}

/* The same, but the better setting is of another kind, or requires something that its user may not have. */
static void test_race_dominance_respects_kinds_and_requirements(void **state)
{
    (void)state;
    struct stage stage;
    struct tune_race race;
    set_stage(&stage, 3, 0.001);
    for (int i = 0; i < ENTRANTS; i++)
        stage.truths[i] = (struct truth){{5, 5, 5, 5}, 0.2, 0.001};
    stage.truths[0] = (struct truth){{1, 1, 1, 1}, 0.001, 0.001};
    stage.truths[1] = (struct truth){{2, 2, 2, 2}, 0.001, 0.001}; /* of another kind */
    stage.truths[2] = (struct truth){{3, 3, 3, 3}, 0.001, 0.001}; /* also of that kind, requires less */
    stage.truths[3] = (struct truth){{4, 4, 4, 4}, 0.001, 0.001}; /* also of that kind, requires the same */
    enter_all(&race, &stage, true);
    for (int i = 1; i < ENTRANTS; i++)
        race.entrants[i].strategy.settings.strategy.kind = BK_PROBABILISTIC;
    race.entrants[0].requirements = 1U << LAB_REQUIRES_SEQUENCE;
    race.entrants[1].requirements = race.entrants[3].requirements = 1U << LAB_REQUIRES_LWT;
    run(&race, 2);
    assert_int_equal(race.entrants[0].status, TUNE_RECOMMENDED);
    assert_int_equal(race.entrants[1].status, TUNE_FRONT);
    assert_int_equal(race.entrants[2].status, TUNE_FRONT);
    assert_int_equal(race.entrants[3].status, TUNE_DOMINATED);
    tune_race_clear(&race);
    /* Without requirements the first setting is better than all others, but each kind has a best setting. */
    enter_all(&race, &stage, true);
    for (int i = 1; i < ENTRANTS; i++)
        race.entrants[i].strategy.settings.strategy.kind = BK_PROBABILISTIC;
    run(&race, 2);
    assert_int_equal(race.entrants[1].status, TUNE_HOLDS);
    assert_int_equal(race.entrants[2].status, TUNE_DOMINATED);
    tune_race_clear(&race);
}

/* The settings differ widely, so the status of each is known. */
static void test_race_of_clear_cases_names_each(void **state)
{
    (void)state;
    struct stage stage;
    struct tune_race race;
    set_stage(&stage, 3, 0.001);
    for (int i = 0; i < ENTRANTS; i++)
        stage.truths[i] = (struct truth){{5, 5, 5, 5}, 0.2, 0.001};
    stage.truths[0] = (struct truth){{1, 2, 1, 1}, 0.001, 0.001};         /* cheapest */
    stage.truths[1] = (struct truth){{2, 1, 1, 1}, 0.001, 0.001};         /* smaller CV */
    stage.truths[2] = (struct truth){{3, 3, 3, 3}, 0.001, 0.001};         /* worse than both */
    stage.truths[3] = (struct truth){{0.5, 1, 1, 1}, 0.2, 0.001};         /* best, but fails */
    stage.truths[4] = (struct truth){{0.9, (double)NAN, 1, 1}, 0, 0.001}; /* grows without end */
    stage.truths[5] =
        (struct truth){{4, 4, 4, 4}, 0.0099, 0.001}; /* too close to the risk to decide; dominated */
    enter_all(&race, &stage, true);
    race.entrants[4].is_endless = true;
    race.entrants[6].status = TUNE_REFUSED;
    run(&race, 2);
    assert_int_equal(race.recommended, 0);
    assert_true(race.is_shown);
    assert_int_equal(race.entrants[0].status, TUNE_RECOMMENDED);
    assert_int_equal(race.entrants[1].status, TUNE_FRONT);
    assert_int_equal(race.entrants[2].status, TUNE_DOMINATED);
    assert_in_range(race.entrants[2].dominator, 0, 1);
    assert_int_equal(race.entrants[3].status, TUNE_FAILS);
    assert_int_equal(race.entrants[3].failed, TUNE_IN_LIMITS);
    assert_int_equal(race.entrants[3].seeds, 2); /* two seeds at 20 times the risk are sufficient */
    assert_int_equal(race.entrants[4].status, TUNE_HOLDS);
    assert_int_equal(race.entrants[4].seeds, 1); /* which delays no other one */
    assert_int_equal(race.entrants[2].seeds, TUNE_SEEDS_FIRST);
    assert_int_equal(race.entrants[5].status, TUNE_DOMINATED);
    assert_int_equal(race.entrants[6].status, TUNE_REFUSED);
    assert_int_equal(race.entrants[6].seeds, 0);
    for (int i = 7; i < ENTRANTS; i++)
        assert_int_equal(race.entrants[i].status, TUNE_FAILS);
    tune_race_clear(&race);
}

/* Enters only the first settings of the stage. */
static void enter_some(struct tune_race *race, struct stage *stage, size_t count)
{
    enter_all(race, stage, true);
    for (size_t i = count; i < race->count; i++)
        free(race->entrants[i].strategy.label);
    race->count = count;
}

/* Enters the first settings of the stage as one template of `probabilistic`. */
static void enter_template(struct tune_race *race, struct stage *stage, size_t count)
{
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_probabilistic(4, 40, &strategy), BK_OK);
    enter_some(race, stage, count);
    for (size_t i = 0; i < race->count; i++) {
        race->entrants[i].strategy.settings.strategy = strategy;
        race->entrants[i].base = "template";
    }
}

/* A race of two settings of one template, without runs yet. */
static void enter_two(struct tune_race *race, struct stage *stage, const struct bk_strategy *one,
                      const struct bk_strategy *other)
{
    const struct bk_strategy *strategies[] = {one, other};
    enter_some(race, stage, 2);
    for (size_t i = 0; i < race->count; i++) {
        race->entrants[i].strategy.settings.strategy = *strategies[i];
        race->entrants[i].strategy.settings.source = BK_SOURCE_EXTERNAL;
        race->entrants[i].base = "template";
    }
}

/* The first setting is a template of its own; the others, of one costly template, all of `probabilistic`. */
static void enter_cheap_and_costly(struct tune_race *race, struct stage *stage, size_t count,
                                   enum tune_sharing sharing)
{
    enter_template(race, stage, count);
    race->sharing = sharing;
    for (size_t i = 0; i < race->count; i++)
        race->entrants[i].base = i == 0 ? "cheap" : "costly";
}

/* A cheap setting, and one that costs this many times as much. */
static void set_two(struct stage *stage, double times)
{
    set_stage(stage, 3, 0.001);
    stage->truths[0] = (struct truth){{1, 2, 1, 1}, 0.001, 0.001};
    stage->truths[1] = (struct truth){{times, 1, times, 1}, 0.001, 0.001};
}

/* Runs the race. Checks that the second setting was not run beyond its first seed, or that it was. */
static void check_outdone(struct tune_race *race, bool is_outdone)
{
    run(race, 1);
    const struct tune_entrant *part = &race->entrants[1];
    if (is_outdone) {
        assert_int_equal(part->status, TUNE_COSTLY);
        assert_in_range(part->seeds, 0, 1);
        assert_true(part->seeds == 0 || part->over.high > 0); /* one seed shows no share of 0 */
        assert_int_equal(race->recommended, 0);
    } else {
        assert_int_not_equal(part->status, TUNE_COSTLY);
        assert_in_range(part->seeds, 3, SEEDS);
    }
    tune_race_clear(race);
}

static struct bk_strategy window_of(int64_t minutes)
{
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_time(minutes * INT64_C(60000000000), 0, &strategy), BK_OK);
    return strategy;
}

static struct bk_strategy count_of(uint64_t rows)
{
    struct bk_strategy strategy;
    assert_int_equal(bk_strategy_count(rows, &strategy), BK_OK);
    return strategy;
}

/* Of two settings the second one divides the buckets of the first one and costs a tenth more. */
static void test_smaller_bucket_that_costs_more_is_not_run(void **state)
{
    const struct bk_strategy hours = window_of(120), hour = window_of(60), odd = window_of(90),
                             many = count_of(100), few = count_of(50);
    struct stage stage;
    struct tune_race race;
    (void)state;
    set_two(&stage, 1.1);
    enter_two(&race, &stage, &hours, &hour);
    check_outdone(&race, true);
    enter_two(&race, &stage, &many, &few);
    check_outdone(&race, true);
    /* The buckets are not divided. */
    enter_two(&race, &stage, &hours, &odd);
    check_outdone(&race, false);
    enter_two(&race, &stage, &hours, &hour);
    race.entrants[1].strategy.settings.strategy.of.time.epoch_ns = 1;
    check_outdone(&race, false);
    enter_two(&race, &stage, &many, &few);
    race.entrants[0].strategy.settings.strategy.max_age_ns = 1;
    check_outdone(&race, false);
    enter_two(&race, &stage, &many, &few);
    race.entrants[0].strategy.settings.source = BK_SOURCE_SCAN;
    check_outdone(&race, false);
    /* It is of another template, or the scenario's own. */
    enter_two(&race, &stage, &hours, &hour);
    race.entrants[1].base = "other";
    check_outdone(&race, false);
    enter_two(&race, &stage, &hours, &hour);
    race.entrants[1].is_own = true;
    check_outdone(&race, false);
    /* The larger one is above its limits. */
    stage.truths[0].over = 0.05;
    enter_two(&race, &stage, &hours, &hour);
    check_outdone(&race, false);
}

/* The second setting costs less than 1 % more and is more even, so it may be recommended for that, unless
 * none of its windows is empty. */
static void test_smaller_bucket_that_may_be_more_even_is_run(void **state)
{
    const struct bk_strategy hours = window_of(120), hour = window_of(60);
    struct stage stage;
    struct tune_race race;
    (void)state;
    set_two(&stage, 1.005);
    enter_two(&race, &stage, &hours, &hour);
    check_outdone(&race, false);
    stage.partitions_of[1] = 2 * stage.partitions;
    enter_two(&race, &stage, &hours, &hour);
    check_outdone(&race, true);
    stage.partitions_of[1]--;
    enter_two(&race, &stage, &hours, &hour);
    check_outdone(&race, false);
    /* Without reads, windows cost nothing, whatever their length. */
    set_two(&stage, 1.1);
    stage.truths[0].objectives[TUNE_PER_READ] = stage.truths[1].objectives[TUNE_PER_READ] = 0;
    enter_two(&race, &stage, &hours, &hour);
    check_outdone(&race, false);
}

/* The same after the failure of a larger window, if no partition may exceed a limit. */
static void test_smaller_window_continues_after_a_failure(void **state)
{
    static const int64_t minutes[] = {240, 120, 60};
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct stage stage;
        struct tune_race race;
        set_two(&stage, 1);
        for (size_t j = 0; j < 3; j++)
            stage.truths[j] = (struct truth){{0.1, 1, 1 + 0.1 * (double)j, 1}, j == 0 ? 0.5 : 0, 0.001};
        enter_some(&race, &stage, 3);
        race.terms.share = i == 1 ? 0.01 : 0;
        race.draws_sizes = i != 3;
        for (size_t j = 0; j < race.count; j++) {
            race.entrants[j].strategy.settings.strategy = window_of(minutes[j]);
            race.entrants[j].base = "template";
            race.entrants[j].is_light = i != 2;
        }
        run(&race, 1);
        assert_int_equal(race.recommended, 1);
        assert_int_equal(race.entrants[2].seeds > 1, i == 0);
        tune_race_clear(&race);
    }
}

/* Nine windows fail together. Of the others, one that is less than a sixteenth as long as these waits. */
static void test_much_smaller_window_waits(void **state)
{
    static const int64_t minutes[] = {43200, 20160, 14400, 10080, 7200, 4320, 2880, 1440, 720, 60, 30};
    struct stage stage;
    struct tune_race race;
    (void)state;
    set_two(&stage, 1);
    const size_t count = sizeof minutes / sizeof *minutes;
    for (size_t i = 0; i < count; i++)
        stage.truths[i] = (struct truth){{0.1, 1, 1 + 0.1 * (double)i, 1}, i < 9 ? 0.5 : 0, 0.001};
    enter_some(&race, &stage, count);
    race.terms.share = 0;
    for (size_t i = 0; i < count; i++) {
        race.entrants[i].strategy.settings.strategy = window_of(minutes[i]);
        race.entrants[i].base = "template";
        race.entrants[i].cost_least = i == 10 ? 2.3 : 1.5; /* the window before it costs 2 */
    }
    run(&race, 1);
    assert_int_equal(race.recommended, 9);
    for (size_t i = 0; i < 9; i++)
        assert_int_equal(race.entrants[i].seeds, 1);
    assert_int_equal(race.entrants[10].seeds, 0);
    tune_race_clear(&race);
}

/* Only the shortest window has enough partitions to be shown to hold. It is less than a sixteenth as long as
 * the first one, but those between the two cannot be shown to. */
static void test_much_smaller_window_is_run_if_only_it_can_be_shown(void **state)
{
    static const int64_t minutes[] = {20, 10, 5, 1};
    struct stage stage;
    struct tune_race race;
    (void)state;
    set_two(&stage, 1);
    for (size_t i = 0; i < 4; i++) {
        stage.truths[i] = (struct truth){{0.1, 1, 1 + 0.1 * (double)i, 1}, 0, 0.001};
        stage.partitions_of[i] = 100 / (uint64_t)minutes[i]; /* 368 in all seeds show that a setting holds */
    }
    enter_some(&race, &stage, 4);
    race.sharing = TUNE_SHARES_KEYS;
    for (size_t i = 0; i < race.count; i++) {
        race.entrants[i].strategy.settings.strategy = window_of(minutes[i]);
        race.entrants[i].base = "template";
        race.entrants[i].cost_least = 1;
    }
    run(&race, 1);
    assert_int_equal(race.recommended, 3);
    assert_true(race.is_shown);
    tune_race_clear(&race);
}

/* Where every part of a window is certain to have rows, a smaller window is not run at all. */
static void test_window_that_is_certainly_full_is_not_run(void **state)
{
    const struct bk_strategy hours = window_of(120), hour = window_of(60);
    struct stage stage;
    struct tune_race race;
    (void)state;
    set_two(&stage, 1.005);
    for (uint64_t lack = 0; lack < 2; lack++) {
        stage.partitions_of[1] = 2 * stage.partitions - lack;
        enter_two(&race, &stage, &hours, &hour);
        race.sharing = TUNE_SHARES_KEYS;
        race.entrants[1].full_count = (double)stage.partitions_of[1];
        run(&race, 1);
        assert_int_equal(race.entrants[1].seeds > 0, lack > 0);
        assert_int_equal(race.entrants[1].status == TUNE_COSTLY, lack == 0);
        tune_race_clear(&race);
    }
}

/* Where each setting has its own run, the first one that is within the limits is named as soon as it was run.
 */
static void test_best_so_far_is_named_after_the_first_run(void **state)
{
    struct bk_strategy strategy;
    (void)state;
    assert_int_equal(bk_strategy_probabilistic(4, 40, &strategy), BK_OK);
    for (unsigned over = 0; over < 2; over++) {
        struct stage stage;
        struct tune_race race;
        set_two(&stage, 1.05);
        stage.truths[0].over = over;
        stage.truths[1].over = 0;
        enter_two(&race, &stage, &strategy, &strategy);
        race.sharing = TUNE_SHARES_NOTHING;
        run(&race, 1);
        assert_int_equal(race.recommended, over);
        assert_int_equal(stage.unnamed, 1 + over);
        tune_race_clear(&race);
    }
}

/* The second setting costs twice as much, so it waits for as long as the first one may hold; and to the end,
 * if neither has enough partitions to be shown to hold. */
static void test_setting_waits_while_a_cheaper_one_may_hold(void **state)
{
    static const struct {
        enum tune_sharing sharing;
        uint64_t partitions;
        uint32_t over_from, seeds;
        size_t recommended;
    } cases[] = {
        {TUNE_SHARES_NOTHING, 50, SEEDS, 1, 0}, /* shown after eight seeds, 1 - 0.99^400 = 98.2 % */
        {TUNE_SHARES_NOTHING, 20, SEEDS, 1, 0},
        {TUNE_SHARES_NOTHING, 50, 5, SEEDS, 1},  /* the first one fails after the fifth seed */
        {TUNE_SHARES_ROWS, 50, SEEDS, SEEDS, 0}, /* it does not wait, since its rows are drawn anyway */
    };
    struct bk_strategy strategy;
    (void)state;
    assert_int_equal(bk_strategy_probabilistic(4, 40, &strategy), BK_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stage stage;
        struct tune_race race;
        set_two(&stage, 2);
        stage.partitions = cases[i].partitions;
        stage.truths[0].over = 0.5;
        stage.over_from[0] = cases[i].over_from;
        stage.truths[1].over = 0;
        enter_two(&race, &stage, &strategy, &strategy);
        race.sharing = cases[i].sharing;
        run(&race, 1);
        assert_int_equal(race.recommended, cases[i].recommended);
        assert_in_range(race.entrants[1].seeds, cases[i].seeds == 1 ? 1 : 8, cases[i].seeds);
        assert_in_range(race.entrants[0].seeds, cases[i].over_from == SEEDS ? 8 : 6, SEEDS);
        tune_race_clear(&race);
    }
}

/* Of a template that costs three times as much as the first setting, only the best runs with all seeds; the
 * other one runs once, until the best fails. */
static void test_template_that_costs_too_much_has_one_setting_with_all_seeds(void **state)
{
    static const struct {
        enum tune_sharing sharing;
        uint32_t over_from, least, most; /* the seeds of the last setting */
    } cases[] = {
        {TUNE_SHARES_NOTHING, SEEDS, 1, 1},  {TUNE_SHARES_NOTHING, 5, 6, SEEDS},
        {TUNE_SHARES_KEYS, SEEDS, 1, 1},     {TUNE_SHARES_KEYS, 5, 6, SEEDS},
        {TUNE_SHARES_ROWS, SEEDS, 3, SEEDS},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stage stage;
        struct tune_race race;
        set_two(&stage, 3);
        stage.truths[1].over = 0.5;
        stage.over_from[1] = cases[i].over_from;
        stage.truths[2] = (struct truth){{3.2, 0.5, 3, 1}, 0, 0.001};
        stage.partitions = 50; /* eight seeds show that a setting holds */
        stage.truths[0].over = 0;
        enter_cheap_and_costly(&race, &stage, 3, cases[i].sharing);
        run(&race, 1);
        assert_int_equal(race.recommended, 0);
        assert_in_range(race.entrants[1].seeds, cases[i].over_from == SEEDS ? 3 : 5, SEEDS);
        assert_in_range(race.entrants[2].seeds, cases[i].least, cases[i].most);
        assert_int_equal(race.entrants[1].status == TUNE_FAILS, cases[i].over_from != SEEDS);
        tune_race_clear(&race);
    }
}

/* Where each setting needs its own run, a template that costs more than twice as much as the cheapest setting
 * is tried from the lowest bound up, until a setting is within the limits; and again if that one fails. */
static void test_costly_template_is_tried_until_a_setting_holds(void **state)
{
    static const struct {
        enum tune_sharing sharing;
        uint32_t over_from; /* the first seed of the lowest bound with partitions above a limit */
        uint32_t seeds[2];  /* the fewest of the first two settings of the costly template */
        bool is_last_run;
    } cases[] = {
        {TUNE_SHARES_NOTHING, SEEDS, {8, 1}, false},
        {TUNE_SHARES_NOTHING, 0, {1, 8}, false},
        {TUNE_SHARES_NOTHING, 5, {6, 8}, false},
        {TUNE_SHARES_ROWS, SEEDS, {3, 3}, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stage stage;
        struct tune_race race;
        set_two(&stage, 3);
        stage.truths[0].over = 0;
        stage.truths[1].over = 0.5;
        stage.over_from[1] = cases[i].over_from;
        stage.truths[2] = (struct truth){{3.2, 0.5, 3, 1}, 0, 0.001};
        stage.truths[3] = (struct truth){{3.4, 0.3, 3, 1}, 0, 0.001};
        stage.truths[4] = (struct truth){{3.6, 0.2, 3, 1}, 0, 0.001};
        stage.partitions = 50; /* eight seeds show that a setting holds */
        enter_cheap_and_costly(&race, &stage, 5, cases[i].sharing);
        for (size_t j = 0; j < race.count; j++)
            race.entrants[j].cost_least = j == 0 ? 2 : 3 + 0.1 * (double)j;
        run(&race, 1);
        assert_int_equal(race.recommended, 0);
        assert_in_range(race.entrants[1].seeds, cases[i].seeds[0], SEEDS);
        assert_in_range(race.entrants[2].seeds, cases[i].seeds[1], cases[i].seeds[1] == 1 ? 1 : SEEDS);
        assert_int_equal(race.entrants[4].seeds > 0, cases[i].is_last_run);
        assert_int_equal(race.entrants[4].status == TUNE_COSTLY, !cases[i].is_last_run);
        tune_race_clear(&race);
    }
}

/* A setting whose partitions never end, and that may be cheap, runs beside one that is within the limits. */
static void test_endless_setting_is_run_if_another_one_is_within_the_limits(void **state)
{
    (void)state;
    for (int fails = 0; fails < 2; fails++) {
        struct stage stage;
        struct tune_race race;
        set_two(&stage, 1);
        stage.truths[0].over = fails ? 0.5 : 0;
        stage.truths[1].over = 0;
        enter_cheap_and_costly(&race, &stage, 2, TUNE_SHARES_NOTHING);
        race.entrants[1].is_endless = true;
        race.entrants[1].cost_least = 2;
        run(&race, 1);
        assert_int_equal(race.entrants[0].status == TUNE_FAILS, fails);
        assert_int_equal(race.entrants[1].seeds, fails ? 0 : 1);
        tune_race_clear(&race);
    }
}

/* Where each setting needs its own run, the scenario's own setting of a template shows that it costs too much
 * before any other one of it runs. Then only the one with the lowest bound does. */
static void test_own_setting_runs_before_others_of_its_template(void **state)
{
    static const enum tune_sharing sharings[] = {TUNE_SHARES_NOTHING, TUNE_SHARES_ROWS};
    (void)state;
    for (size_t i = 0; i < sizeof sharings / sizeof *sharings; i++) {
        struct stage stage;
        struct tune_race race;
        set_two(&stage, 3);
        stage.truths[0].over = stage.truths[1].over = 0;
        stage.truths[2] = (struct truth){{3.2, 0.5, 3, 1}, 0, 0.001};
        stage.truths[3] = (struct truth){{3.6, 0.3, 3, 1}, 0, 0.001};
        stage.partitions = 50; /* eight seeds show that a setting holds */
        enter_cheap_and_costly(&race, &stage, 4, sharings[i]);
        for (size_t j = 0; j < race.count; j++)
            race.entrants[j].cost_least = j == 0 ? 2 : 3 + 0.1 * (double)j;
        race.entrants[3].is_own = true;
        run(&race, 1);
        assert_int_equal(race.recommended, 0);
        assert_true(race.entrants[1].seeds > 0 && race.entrants[3].seeds > 0);
        assert_int_equal(race.entrants[2].seeds > 0, sharings[i] == TUNE_SHARES_ROWS);
        tune_race_clear(&race);
    }
}

/* Where each setting needs its own run, three seeds are enough for one that costs 5% more than another one of
 * its template. They are also enough for one of another template that costs six times as much, unless it is
 * the best of its kind and has enough partitions to be shown to hold. */
static void test_first_seeds_are_enough_for_a_setting_that_costs_more(void **state)
{
    static const struct {
        enum tune_sharing sharing;
        double cost, times; /* half the cost of the first one, and the cost of the second one as a multiple */
        bool is_peer, is_kind;
        uint64_t partitions; /* 50: eight seeds show that a setting holds; 20: ten do not */
        uint32_t least, most;
    } cases[] = {
        {TUNE_SHARES_NOTHING, 10, 1.05, true, true, 50, 3, 3},
        {TUNE_SHARES_NOTHING, 10, 1.05, false, true, 50, 4, SEEDS},
        {TUNE_SHARES_NOTHING, 10, 6, false, true, 50, 3, 3},
        {TUNE_SHARES_NOTHING, 10, 4, false, true, 50, 4, SEEDS},
        {TUNE_SHARES_NOTHING, 1, 6, false, true, 50, 4, SEEDS},
        {TUNE_SHARES_KEYS, 10, 6, false, true, 50, 4, SEEDS},
        {TUNE_SHARES_NOTHING, 10, 6, false, false, 50, 8, SEEDS},
        {TUNE_SHARES_NOTHING, 10, 6, false, false, 20, 3, 3},
    };
    const struct bk_strategy other = count_of(100);
    struct bk_strategy strategy;
    (void)state;
    assert_int_equal(bk_strategy_probabilistic(4, 40, &strategy), BK_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stage stage;
        struct tune_race race;
        set_two(&stage, cases[i].times);
        for (int j = 0; j < 2; j++) {
            stage.truths[j].over = 0;
            stage.truths[j].objectives[TUNE_COST_WRITE] *= cases[i].cost;
            stage.truths[j].objectives[TUNE_PER_READ] *= cases[i].cost;
        }
        stage.truths[0].noise = stage.truths[1].noise = 0.04; /* too much for a test of three seeds */
        stage.partitions = 50;
        stage.partitions_of[1] = cases[i].partitions;
        enter_two(&race, &stage, &strategy, cases[i].is_kind ? &strategy : &other);
        race.sharing = cases[i].sharing;
        race.entrants[0].base = "one";
        race.entrants[1].base = cases[i].is_peer ? "one" : "other";
        run(&race, 1);
        assert_int_equal(race.recommended, 0);
        assert_in_range(race.entrants[1].seeds, cases[i].least, cases[i].most);
        assert_in_range(race.entrants[0].seeds, 8, SEEDS);
        tune_race_clear(&race);
    }
}

/* The first two settings of the costly template have too few partitions to be shown to hold. So it is tried
 * further, but only with settings whose smaller partitions are numerous enough. If the cheapest setting has
 * too few as well, the template is not costly, so the last setting has its first seeds. */
static void test_template_that_stays_unsure_is_tried_further(void **state)
{
    static const uint64_t thresholds[] = {40, 60, 58, 40, 55};
    (void)state;
    for (int is_other_shown = 0; is_other_shown < 2; is_other_shown++) {
        struct stage stage;
        struct tune_race race;
        set_two(&stage, 3);
        for (size_t i = 0; i < 5; i++) {
            stage.truths[i] = (struct truth){{i == 0 ? 1 : 6 + (double)i, 0.5, 3, 1}, 0, 0.001};
            stage.partitions_of[i] = i == 1 || i == 2 ? 25 : 50; /* 368 of them show that a setting holds */
        }
        stage.partitions_of[0] = is_other_shown ? 50 : 20;
        enter_cheap_and_costly(&race, &stage, 5, TUNE_SHARES_NOTHING);
        for (size_t i = 0; i < race.count; i++) {
            struct tune_entrant *entrant = &race.entrants[i];
            struct bk_strategy *strategy = &entrant->strategy.settings.strategy;
            assert_int_equal(bk_strategy_probabilistic(4, thresholds[i], strategy), BK_OK);
            if (i == 0)
                *strategy = count_of(100);
            entrant->cost_least = stage.truths[i].objectives[TUNE_COST_WRITE];
        }
        run(&race, 1);
        assert_true(race.is_shown);
        assert_int_equal(race.recommended, is_other_shown ? 0 : 3);
        assert_in_range(race.entrants[3].seeds, 8, SEEDS);
        assert_int_equal(race.entrants[4].seeds, is_other_shown ? 0 : 3);
        tune_race_clear(&race);
    }
}

/* Of a costly template whose rows are numbered, the second setting waits for the first one, and resumes when
 * that one fails. The third setting is not run. */
static void test_waiting_setting_resumes_before_others_are_run(void **state)
{
    struct stage stage;
    struct tune_race race;
    (void)state;
    set_two(&stage, 3);
    stage.truths[0].over = 0;
    stage.truths[1].over = 0.5;
    stage.over_from[1] = 2;
    stage.truths[2] = stage.truths[3] = (struct truth){{3.1, 0, 3.1, 1}, 0, 0.001};
    stage.partitions = 50; /* eight seeds show that a setting holds */
    enter_cheap_and_costly(&race, &stage, 4, TUNE_SHARES_NOTHING);
    race.terms.share = 0;
    for (size_t i = 0; i < race.count; i++) {
        struct lab_settings *settings = &race.entrants[i].strategy.settings;
        assert_int_equal(bk_strategy_count(1000 - i, &settings->strategy), BK_OK);
        settings->source = BK_SOURCE_EXTERNAL;
        race.entrants[i].cost_least = i == 0 ? 2 : 6;
    }
    run(&race, 1);
    assert_int_equal(race.entrants[1].seeds, 3);
    assert_in_range(race.entrants[2].seeds, 8, SEEDS);
    assert_int_equal(race.entrants[3].seeds, 0);
    tune_race_clear(&race);
}

/* The cheaper setting fails with its second seed, when the other one has run with one. */
static void test_beaten_setting_resumes_when_no_other_one_is_left(void **state)
{
    struct bk_strategy strategy;
    struct stage stage;
    struct tune_race race;
    (void)state;
    assert_int_equal(bk_strategy_probabilistic(4, 40, &strategy), BK_OK);
    set_two(&stage, 2);
    stage.truths[0].over = 0.5;
    stage.over_from[0] = 1;
    stage.truths[1].over = 0;
    stage.partitions = 50; /* eight seeds show that a setting holds */
    enter_two(&race, &stage, &strategy, &strategy);
    race.sharing = TUNE_SHARES_NOTHING;
    race.terms.share = 0;
    run(&race, 1);
    assert_int_equal(race.entrants[0].seeds, 2);
    assert_in_range(race.entrants[1].seeds, 8, SEEDS);
    assert_int_equal(race.recommended, 1);
    tune_race_clear(&race);
}

/* Nine windows run together beside a cheap setting, and all but the last two fail. The last one waits for the
 * one before it and resumes when that one fails on its second seed. A tenth window is not run. */
static void test_waiting_window_resumes_before_smaller_ones_are_run(void **state)
{
    static const int64_t minutes[] = {0, 43200, 20160, 14400, 10080, 7200, 4320, 2880, 120, 60, 30};
    const size_t count = sizeof minutes / sizeof *minutes;
    struct stage stage;
    struct tune_race race;
    (void)state;
    set_two(&stage, 1);
    for (size_t i = 0; i < count; i++)
        stage.truths[i] = (struct truth){{0.1, 1, 0.1 * (double)i, 1}, i < 1 || i > 8 ? 0 : 0.5, 0.001};
    stage.over_from[8] = 1;
    enter_cheap_and_costly(&race, &stage, count, TUNE_SHARES_ROWS);
    race.terms.share = 0;
    race.entrants[0].strategy.settings.strategy = count_of(100);
    for (size_t i = 1; i < count; i++)
        race.entrants[i].strategy.settings.strategy = window_of(minutes[i]);
    run(&race, 1);
    assert_int_equal(race.recommended, 0);
    assert_int_equal(race.entrants[8].seeds, 2);
    assert_in_range(race.entrants[9].seeds, 3, SEEDS);
    assert_int_equal(race.entrants[10].seeds, 0);
    tune_race_clear(&race);
}

/* The cheapest setting has a partition above a limit on its last seed alone. That counts only if none may
 * be. */
static void test_cheapest_setting_has_all_seeds_where_none_may_exceed(void **state)
{
    static const enum tune_sharing sharings[] = {TUNE_SHARES_ROWS, TUNE_SHARES_KEYS, TUNE_SHARES_NOTHING};
    struct bk_strategy strategy;
    (void)state;
    assert_int_equal(bk_strategy_probabilistic(4, 40, &strategy), BK_OK);
    for (size_t i = 0; i < 2 * sizeof sharings / sizeof *sharings; i++) {
        const bool none_may = i % 2 == 0;
        struct stage stage;
        struct tune_race race;
        set_two(&stage, 10);
        stage.truths[0].over = 0.005;
        stage.over_from[0] = SEEDS - 1;
        stage.truths[1].over = 0;
        enter_two(&race, &stage, &strategy, &strategy);
        race.entrants[1].base = "other";
        race.sharing = sharings[i / 2];
        race.terms.share = none_may ? 0 : 0.01;
        run(&race, 1);
        assert_int_equal(race.recommended, none_may);
        assert_in_range(race.entrants[0].seeds, none_may ? SEEDS : 3, none_may ? SEEDS : SEEDS - 1);
        tune_race_clear(&race);
    }
}

/* The first two settings of a template fail, on their first seed or on their second. If no partition may
 * exceed a limit, all others continue after the first failure, although they cost three times as much each.
 */
static void test_settings_continue_after_a_failure(void **state)
{
    (void)state;
    for (int n = 0; n < 6; n++) {
        const int i = n % 3;
        struct stage stage;
        struct tune_race race;
        set_two(&stage, 1);
        double cost = 1;
        for (size_t j = 0; j < 4; j++, cost *= 3) {
            stage.truths[j] = (struct truth){{cost, 1, cost, 1}, j < 2 ? 0.5 : 0, 0.001};
            stage.over_from[j] = n < 3 ? 1 : 0;
        }
        enter_template(&race, &stage, 4);
        race.draws_sizes = n >= 3;
        for (size_t j = 0; j < race.count; j++) {
            race.entrants[j].cost_least = 1.9 * stage.truths[j].objectives[TUNE_COST_WRITE];
            race.entrants[j].is_light = i < 2;
        }
        race.terms.share = i == 1 ? 0.01 : 0;
        run(&race, 1);
        assert_int_equal(race.recommended, 2);
        assert_int_equal(race.entrants[1].status, TUNE_FAILS);
        assert_int_equal(race.entrants[3].seeds > 1, i == 0);
        tune_race_clear(&race);
    }
}

/* The best of a costlier template has a partition above a limit on its last seed alone. */
static void test_best_of_a_template_has_all_seeds_where_none_may_exceed(void **state)
{
    static const enum tune_sharing sharings[] = {TUNE_SHARES_ROWS, TUNE_SHARES_KEYS, TUNE_SHARES_NOTHING};
    const struct bk_strategy many = count_of(100), window = window_of(60);
    (void)state;
    for (size_t i = 0; i < sizeof sharings / sizeof *sharings; i++) {
        struct stage stage;
        struct tune_race race;
        set_two(&stage, 4);
        stage.truths[0].over = 0;
        stage.truths[1].over = 0.005;
        stage.over_from[1] = SEEDS - 1;
        enter_two(&race, &stage, &many, &window);
        race.entrants[1].base = "other";
        race.sharing = sharings[i];
        race.terms.share = 0;
        run(&race, 1);
        assert_int_equal(race.recommended, 0);
        assert_int_equal(race.entrants[1].status == TUNE_FAILS, sharings[i] != TUNE_SHARES_NOTHING);
        tune_race_clear(&race);
    }
}

/* On the three seeds of the second setting, it costs less than the first one, and the third one less than the
 * second. On all seeds the first one costs the least. The third one has shown that the second costs more. */
static void test_beaten_setting_is_not_recommended(void **state)
{
    (void)state;
    for (int is_beaten = 0; is_beaten < 2; is_beaten++) {
        struct stage stage;
        struct tune_race race;
        set_two(&stage, 1);
        for (size_t i = 0; i < 3; i++)
            stage.truths[i] = (struct truth){{1, i == 2 ? 1 : 2, 1, 1}, 0, 0};
        enter_some(&race, &stage, 3);
        race.drops = false;
        run(&race, 1);
        for (uint32_t i = 0; i < SEEDS; i++) {
            race.entrants[0].seen[i].figures[TUNE_COST] = i < 3 ? 12 : 8;
            race.entrants[1].seen[i].figures[TUNE_COST] = 11;
            race.entrants[2].seen[i].figures[TUNE_COST] = 10;
        }
        race.entrants[1].seeds = 3;
        race.entrants[1].is_beaten = is_beaten != 0;
        tune_race_finish(&race);
        assert_int_equal(race.recommended, is_beaten ? 0 : 2);
        tune_race_clear(&race);
    }
}

/* The third setting costs a little more than the second one and is less even, but more even than the first
 * one, the cheapest. */
static void test_setting_is_settled_by_any_cheaper_one(void **state)
{
    struct stage stage;
    struct tune_race race;
    (void)state;
    set_two(&stage, 1);
    for (size_t i = 0; i < 3; i++)
        stage.truths[i] =
            (struct truth){{1 + 0.002 * (double)i, i == 0 ? 2 : 0.5 + 0.1 * (double)i, 1, 1}, 0.001, 0.00001};
    enter_template(&race, &stage, 3);
    run(&race, 1);
    assert_int_equal(race.recommended, 1);
    assert_int_equal(race.entrants[1].seeds, SEEDS);
    assert_in_range(race.entrants[2].seeds, 3, SEEDS - 1);
    tune_race_clear(&race);
}

/* Two settings cost the same and are perfectly even, so the one with the smaller partitions is recommended.
 * The other one needs no further seeds where each needs a run of its own. */
static void test_setting_with_larger_partitions_needs_few_seeds(void **state)
{
    static const struct {
        enum tune_sharing sharing;
        double cv; /* of the smaller partitions */
        uint32_t most;
        size_t recommended;
    } cases[] = {
        {TUNE_SHARES_NOTHING, 0, SEEDS - 1, 1},
        {TUNE_SHARES_NOTHING, 0.1, SEEDS, 0},
        {TUNE_SHARES_ROWS, 0, SEEDS, 1},
    };
    struct bk_strategy strategy;
    (void)state;
    assert_int_equal(bk_strategy_count(100, &strategy), BK_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stage stage;
        struct tune_race race;
        set_two(&stage, 1);
        stage.truths[0] = (struct truth){{1, 0, 1, 3}, 0, 0.0001};
        stage.truths[1] = (struct truth){{1.001, cases[i].cv, 1, 1}, 0, 0.0001};
        stage.partitions = 50; /* eight seeds show that a setting holds */
        enter_two(&race, &stage, &strategy, &strategy);
        race.sharing = cases[i].sharing;
        run(&race, 1);
        assert_int_equal(race.recommended, cases[i].recommended);
        assert_in_range(race.entrants[0].seeds, 3, cases[i].most);
        assert_int_equal(race.entrants[0].seeds < SEEDS, cases[i].most < SEEDS);
        tune_race_clear(&race);
    }
}

/* Of a template that costs more than twice as much as the cheapest setting, a thinned run has only the
 * highest threshold of each number of bits that may be within the limits: the second setting has half the
 * threshold of the first one, the third one has fewer bits. */
static void test_costly_template_of_a_thinned_run_has_the_highest_thresholds(void **state)
{
    static const struct {
        enum tune_sharing sharing;
        double cheap;          /* half the cost of the cheap template */
        size_t failing;        /* has partitions above a limit */
        uint32_t over_from;    /* from this seed on; SEEDS: none fails */
        bool is_run[ENTRANTS]; /* of the costly template */
    } cases[] = {
        {TUNE_SHARES_KEYS, 1, 0, SEEDS, {true, false, true}},
        {TUNE_SHARES_KEYS, 1, 1, 0, {true, true, true}},
        {TUNE_SHARES_KEYS, 1, 0, 5, {true, true, true}},
        {TUNE_SHARES_KEYS, 4, 0, SEEDS, {true, true, true}},
        {TUNE_SHARES_ROWS, 1, 0, SEEDS, {true, true, true}},
    };
    const struct {
        uint32_t bits;
        uint64_t threshold;
        double least;
    } settings[] = {{6, 40, 0}, {5, 40, 15}, {5, 20, 15}, {4, 40, 25}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stage stage;
        struct tune_race race;
        set_two(&stage, 10);
        stage.truths[0] = (struct truth){{cases[i].cheap, 2, cases[i].cheap, 1}, 0, 0.001};
        stage.truths[1].over = 0;
        stage.truths[2] = (struct truth){{11, 0.5, 10, 1}, 0, 0.001};
        stage.truths[3] = (struct truth){{15, 0.2, 15, 1}, 0, 0.001};
        stage.partitions = 50; /* eight seeds show that a setting holds */
        if (cases[i].over_from < SEEDS)
            stage.truths[cases[i].failing].over = 0.5;
        stage.over_from[cases[i].failing] = cases[i].over_from;
        enter_cheap_and_costly(&race, &stage, 4, cases[i].sharing);
        for (size_t j = 0; j < race.count; j++) {
            struct tune_entrant *entrant = &race.entrants[j];
            assert_int_equal(bk_strategy_probabilistic(settings[j].bits, settings[j].threshold,
                                                       &entrant->strategy.settings.strategy),
                             BK_OK);
            entrant->cost_least = j == 0 ? 2 * cases[i].cheap : settings[j].least;
        }
        run(&race, 1);
        for (size_t j = 1; j < race.count; j++) {
            assert_int_equal(race.entrants[j].seeds > 0, cases[i].is_run[j - 1]);
            assert_int_equal(race.entrants[j].status == TUNE_COSTLY, !cases[i].is_run[j - 1]);
        }
        assert_int_equal(race.recommended, cases[i].over_from == 5 ? 1 : 0);
        tune_race_clear(&race);
    }
}

/* Where settings share rows, a setting whose bound is a little more than twice the least bound runs once, and
 * no further if its bound is more than twice the cost of the best. One that costs little to run does so
 * whatever its bound is. */
static void test_setting_with_a_high_bound_runs_once_where_rows_are_shared(void **state)
{
    static const struct {
        enum tune_sharing sharing;
        double cheap;         /* half the cost of the best */
        uint32_t least, most; /* the seeds of the other one */
        bool is_light;
        double bound;
    } cases[] = {{TUNE_SHARES_ROWS, 8.5, 1, 1, false, 37},    {TUNE_SHARES_ROWS, 10, 3, SEEDS, false, 37},
                 {TUNE_SHARES_THREADS, 8.5, 0, 0, false, 37}, {TUNE_SHARES_ROWS, 8.5, 0, 0, false, 90},
                 {TUNE_SHARES_ROWS, 8.5, 1, 1, true, 90},     {TUNE_SHARES_THREADS, 8.5, 0, 0, true, 90}};
    struct bk_strategy strategy;
    (void)state;
    assert_int_equal(bk_strategy_probabilistic(4, 40, &strategy), BK_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stage stage;
        struct tune_race race;
        set_two(&stage, 20);
        stage.truths[0] = (struct truth){{cases[i].cheap, 2, cases[i].cheap, 1}, 0.001, 0.001};
        enter_two(&race, &stage, &strategy, &strategy);
        race.sharing = cases[i].sharing;
        race.entrants[0].cost_least = 15;
        race.entrants[1].cost_least = cases[i].bound;
        race.entrants[1].is_light = cases[i].is_light;
        run(&race, 1);
        assert_in_range(race.entrants[1].seeds, cases[i].least, cases[i].most);
        assert_int_equal(race.entrants[1].status == TUNE_COSTLY, cases[i].most < 3);
        assert_int_equal(race.recommended, 0);
        tune_race_clear(&race);
    }
}

/* A product of the ratios share / risk is compared with 1 / chance; one seed with share 0 clears the
 * setting. */
static void test_hopeless_shares_are_reported_by_their_product(void **state)
{
    static const struct {
        double shares[3];
        uint32_t seeds;
        bool is_hopeless;
    } cases[] = {{{0.19}, 1, false},        {{0.21}, 1, true},          {{0.05, 0.04}, 2, true},
                 {{0.01, 0.019}, 2, false}, {{0.05, 0, 0.9}, 3, false}, {{0.01, 0.01, 0.003}, 3, true},
                 {{0.21, 0, 0}, 3, true}};
    struct tune_seen seen[3] = {0};
    struct tune_entrant entrant = {.seen = seen};
    struct lab_tune terms = {.share = 0.001, .risk = 0.001, .tiny = -1};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        entrant.seeds = cases[i].seeds;
        for (uint32_t j = 0; j < cases[i].seeds; j++)
            seen[j].figures[TUNE_OVER] = cases[i].shares[j];
        assert_int_equal(tune_is_hopeless(&entrant, &terms, 0.005), cases[i].is_hopeless);
    }
    entrant.seeds = 1;
    seen[0].figures[TUNE_OVER] = 0.002;
    terms.share = 0; /* no partition may exceed a limit: one is sufficient */
    assert_true(tune_is_hopeless(&entrant, &terms, 0.005));
    terms.share = 0.001;
    entrant.is_fixed = true; /* each seed has this share */
    assert_true(tune_is_hopeless(&entrant, &terms, 0.005));
}

/* P(X >= hits) for X binomial, term by term. */
static double upper_tail(uint64_t hits, uint64_t count, double share)
{
    const long double p = (long double)share;
    long double term = powl(1 - p, (long double)count), below = 0;
    for (uint64_t i = 0; i < hits; i++) {
        below += term;
        term *= (long double)(count - i) / (long double)(i + 1) * p / (1 - p);
    }
    return (double)(1 - below);
}

/* The share at which the tail reaches the chance, to 1e-11: Clopper and Pearson's bounds. */
static double share_at(uint64_t hits, uint64_t count, double chance)
{
    double low = 0, high = 1;
    while (high - low > 1e-11) {
        double middle = (low + high) / 2;
        if (upper_tail(hits, count, middle) < chance)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* What all seeds of an entrant have seen of one kind: hits among `count` partitions, and the shares of those
 * seeds that have partitions. */
struct shares {
    uint64_t hits, count;
    double each[SEEDS];
    unsigned seeds;
};

static void share_add(struct shares *shares, uint64_t hits, uint64_t count, struct tune_seen *seen,
                      enum tune_figure figure)
{
    seen->figures[figure] = count == 0 ? (double)NAN : (double)hits / (double)count;
    shares->hits += hits;
    shares->count += count;
    if (count > 0)
        shares->each[shares->seeds++] = seen->figures[figure];
}

/* The interval over seeds (Student) and the one over partitions (Clopper and Pearson), together. */
static struct tune_interval interval_of(const struct shares *shares)
{
    static const double t_0025[] = {12.7062047362, 4.3026527297, 3.1824463053, 2.7764451052, 2.5705818366,
                                    2.4469118511,  2.3646242516, 2.3060041352, 2.2621571628};
    struct tune_interval found = {0, 1};
    double mean = 0, squares = 0;
    if (shares->count == 0 || shares->seeds < 2)
        return found;
    for (unsigned i = 0; i < shares->seeds; i++)
        mean += shares->each[i] / shares->seeds;
    for (unsigned i = 0; i < shares->seeds; i++)
        squares += (shares->each[i] - mean) * (shares->each[i] - mean);
    double half = t_0025[shares->seeds - 2] * sqrt(squares / (shares->seeds - 1) / shares->seeds);
    double least = shares->hits == 0 ? 0 : share_at(shares->hits, shares->count, 0.025);
    double most = shares->hits == shares->count ? 1 : share_at(shares->hits + 1, shares->count, 0.975);
    found.low = fmax(0, fmin(least, mean - half));
    found.high = fmin(1, fmax(most, mean + half));
    return found;
}

static void assert_near(uint64_t seed, double value, double wanted)
{
    if (!(fabs(value - wanted) < 1e-8))
        fail_msg("seed %d: %.12g, not %.12g", (int)seed, value, wanted);
}

static enum tune_verdict verdict_of(struct tune_interval interval, double most)
{
    return interval.low > most    ? TUNE_VERDICT_FAILS
           : interval.high > most ? TUNE_VERDICT_OPEN
                                  : TUNE_VERDICT_HOLDS;
}

/* The intervals of random settings, and what they say of two demands, by their definition. */
static void test_intervals_of_random_settings_follow_their_definition(void **state)
{
    (void)state;
    unsigned verdicts[3] = {0}, of_tiny = 0;
    for (uint64_t seed = 1; seed <= 600; seed++) {
        struct sim_random random;
        struct tune_seen seen[SEEDS] = {0};
        struct shares over = {0}, tiny = {0};
        sim_random_init(&random, seed, SIM_ROW_BYTES, 1);
        struct tune_entrant entrant = {.seen = seen, .seeds = 1 + (uint32_t)sim_random_below(&random, SEEDS)};
        uint64_t most = sim_random_below(&random, 2) == 0 ? 5 : 200;
        double share = sim_random_unit(&random) * sim_random_unit(&random), spread = sim_random_unit(&random);
        for (uint32_t i = 0; i < entrant.seeds; i++) {
            double here = fmin(1, share * (1 + spread * (sim_random_unit(&random) * 2 - 1)));
            seen[i].partitions = 1 + sim_random_below(&random, most);
            seen[i].over = draw_hits(&random, seen[i].partitions, here);
            seen[i].closed = sim_random_below(&random, seen[i].partitions + 1);
            seen[i].tiny = draw_hits(&random, seen[i].closed, here / 2);
            share_add(&over, seen[i].over, seen[i].partitions, &seen[i], TUNE_OVER);
            share_add(&tiny, seen[i].tiny, seen[i].closed, &seen[i], TUNE_TINY);
            seen[i].figures[TUNE_PER_READ_P99] = (double)NAN;
        }
        struct tune_interval wanted[2] = {interval_of(&over), interval_of(&tiny)};
        entrant.has_distribution = sim_random_below(&random, 4) == 0;
        entrant.exact_share = share * sim_random_unit(&random);
        if (entrant.has_distribution)
            wanted[0].high = fmin(wanted[0].high, entrant.exact_share);
        wanted[0].low = fmin(wanted[0].low, wanted[0].high);
        struct tune_interval told[2] = {tune_over_interval(&entrant, 0.025),
                                        tune_tiny_interval(&entrant, 0.025)};
        for (int i = 0; i < 2; i++) {
            assert_near(seed, told[i].low, wanted[i].low);
            assert_near(seed, told[i].high, wanted[i].high);
        }
        const struct lab_tune terms = {.risk = share * 3 * sim_random_unit(&random),
                                       .share = 1,
                                       .tiny = share * 2 * sim_random_unit(&random),
                                       .confidence = 0.95,
                                       .seeds = SEEDS};
        enum tune_verdict first = verdict_of(wanted[0], terms.risk),
                          second = tiny.seeds == 0 ? TUNE_VERDICT_HOLDS : verdict_of(wanted[1], terms.tiny),
                          worse = second < first ? second : first;
        enum tune_demand demand = TUNE_DEMAND_COUNT;
        assert_int_equal(tune_judge(&entrant, &terms, 0.025, &demand), worse);
        if (worse != TUNE_VERDICT_HOLDS)
            assert_int_equal(demand, second < first ? TUNE_NOT_TINY : TUNE_IN_LIMITS);
        verdicts[worse]++;
        of_tiny += worse != TUNE_VERDICT_HOLDS && second < first;
    }
    for (int i = 0; i < 3; i++)
        assert_true(verdicts[i] > 20);
    assert_true(of_tiny > 20);
}

/* With so few partitions no setting is shown to be within the limits; the race recommends the cheapest
 * setting that did not fail, and says that it is not shown. */
static void test_race_of_few_partitions_is_not_shown(void **state)
{
    (void)state;
    struct stage stage;
    struct tune_race race;
    set_stage(&stage, 4, 0.01);
    stage.partitions = 20;
    for (int i = 0; i < ENTRANTS; i++)
        stage.truths[i].over = i == 0 ? 0.5 : 0;
    enter_all(&race, &stage, true);
    run(&race, 1);
    assert_int_not_equal(race.recommended, SIZE_MAX);
    assert_false(race.is_shown);
    assert_int_equal(race.entrants[0].status, TUNE_FAILS);
    for (size_t i = 1; i < race.count; i++)
        assert_true(race.entrants[i].status == TUNE_UNSURE || race.entrants[i].status == TUNE_FRONT ||
                    race.entrants[i].status == TUNE_RECOMMENDED);
    tune_race_clear(&race);
}

static void test_race_without_a_winner_recommends_none(void **state)
{
    (void)state;
    struct stage stage;
    struct tune_race race;
    set_stage(&stage, 6, 0.01);
    for (int i = 0; i < ENTRANTS; i++)
        stage.truths[i].over = 0.05;
    enter_all(&race, &stage, true);
    run(&race, 1);
    assert_int_equal(race.recommended, SIZE_MAX);
    for (size_t i = 0; i < race.count; i++)
        assert_int_equal(race.entrants[i].status, TUNE_FAILS);
    tune_race_clear(&race);
}

/* An exact distribution is stronger evidence than a sample. */
static void test_distribution_of_few_partitions_shows(void **state)
{
    (void)state;
    struct tune_seen seen[2] = {{.partitions = 10}, {.partitions = 10}};
    struct tune_entrant entrant = {.seen = seen, .seeds = 2};
    const struct lab_tune terms = {.risk = 0.01, .share = 0.01, .tiny = -1, .confidence = 0.95, .seeds = 2};
    enum tune_demand demand;
    assert_int_equal(tune_judge(&entrant, &terms, 0.025, &demand), TUNE_VERDICT_OPEN);
    assert_int_equal(demand, TUNE_IN_LIMITS);
    entrant.has_distribution = true;
    entrant.exact_share = 0.009;
    assert_int_equal(tune_judge(&entrant, &terms, 0.025, &demand), TUNE_VERDICT_HOLDS);
    assert_true(tune_over_interval(&entrant, 0.025).high == 0.009);
    /* Partitions that were seen above the limit refute a share of 0. */
    entrant.exact_share = 0;
    assert_int_equal(tune_judge(&entrant, &terms, 0.025, &demand), TUNE_VERDICT_HOLDS);
    seen[0].over = 1;
    assert_int_equal(tune_judge(&entrant, &terms, 0.025, &demand), TUNE_VERDICT_OPEN);
    seen[0].over = 0;
    entrant.has_distribution = false;
    entrant.is_fixed = true;
    assert_int_equal(tune_judge(&entrant, &terms, 0.025, &demand), TUNE_VERDICT_HOLDS);
}

static void test_failed_demand_is_named(void **state)
{
    (void)state;
    struct tune_seen seen[3];
    struct tune_entrant entrant = {.seen = seen, .seeds = 3};
    const struct lab_tune terms = {
        .risk = 0.01, .share = 0.01, .tiny = 0.1, .partitions_per_read = 4, .confidence = 0.95, .seeds = 3};
    enum tune_demand demand;
    for (int i = 0; i < 3; i++) {
        seen[i] = (struct tune_seen){.partitions = 10000, .closed = 5000};
        seen[i].figures[TUNE_PER_READ_P99] = 4;
    }
    assert_int_equal(tune_judge(&entrant, &terms, 0.025, &demand), TUNE_VERDICT_HOLDS);
    for (int i = 0; i < 3; i++)
        seen[i].figures[TUNE_PER_READ_P99] = 5;
    assert_int_equal(tune_judge(&entrant, &terms, 0.025, &demand), TUNE_VERDICT_FAILS);
    assert_int_equal(demand, TUNE_FEW_PER_READ);
    for (int i = 0; i < 3; i++) {
        seen[i].tiny = 1000;
        seen[i].figures[TUNE_TINY] = 0.2;
    }
    assert_int_equal(tune_judge(&entrant, &terms, 0.025, &demand), TUNE_VERDICT_FAILS);
    assert_int_equal(demand, TUNE_NOT_TINY);
    seen[2].violations = 1;
    for (int i = 0; i < 3; i++) {
        seen[i].tiny = 0;
        seen[i].figures[TUNE_TINY] = 0;
        seen[i].figures[TUNE_PER_READ_P99] = 1;
    }
    assert_int_equal(tune_judge(&entrant, &terms, 0.025, &demand), TUNE_VERDICT_FAILS);
    assert_int_equal(demand, TUNE_FINDABLE);
    seen[2].violations = 0;
    seen[1].refused = LAB_REFUSED_MOST;
    assert_int_equal(tune_judge(&entrant, &terms, 0.025, &demand), TUNE_VERDICT_HOLDS);
    assert_true(tune_is_within(&entrant, &terms, &demand));
    assert_false(tune_is_hopeless(&entrant, &terms, 0.025));
    seen[1].refused = 2 * LAB_REFUSED_MOST;
    assert_int_equal(tune_judge(&entrant, &terms, 0.025, &demand), TUNE_VERDICT_FAILS);
    assert_int_equal(demand, TUNE_AVAILABLE);
    assert_false(tune_is_within(&entrant, &terms, &demand));
    assert_int_equal(demand, TUNE_AVAILABLE);
    assert_true(tune_is_hopeless(&entrant, &terms, 0.025));
    assert_int_equal(entrant.failed, TUNE_AVAILABLE);
}

/* Sets one objective of a setting in its four seeds. */
static void set_objective(struct tune_seen *seen, enum tune_figure figure, double a, double b, double c,
                          double d)
{
    const double values[] = {a, b, c, d};
    for (int i = 0; i < 4; i++)
        seen[i].figures[figure] = values[i];
}

/* Significantly better in one objective; in another one only the mean is better. */
static void test_dominance_needs_proof_for_every_objective(void **state)
{
    (void)state;
    struct tune_seen mine[4] = {0}, its[4] = {0};
    const struct tune_entrant one = {.seen = mine, .seeds = 4}, other = {.seen = its, .seeds = 4};
    assert_false(tune_dominates(&one, &other, 0.01));
    set_objective(mine, TUNE_COST_WRITE, 1, 1.01, 0.99, 1);
    set_objective(its, TUNE_COST_WRITE, 2, 2.02, 1.99, 2);
    assert_true(tune_dominates(&one, &other, 0.01));
    assert_false(tune_dominates(&other, &one, 0.01));
    set_objective(mine, TUNE_CV, 1, 2, 1, 2);
    set_objective(its, TUNE_CV, 2, 1, 1, 2.1);
    assert_true(tune_is_better(&one, &other));
    assert_false(tune_dominates(&one, &other, 0.01));
    set_objective(its, TUNE_CV, 2, 3, 2, 3);
    assert_true(tune_dominates(&one, &other, 0.01));
    /* A missing figure is worse than any value. */
    set_objective(its, TUNE_CV, (double)NAN, (double)NAN, (double)NAN, (double)NAN);
    assert_true(tune_dominates(&one, &other, 0.01));
    set_objective(mine, TUNE_CV, (double)NAN, (double)NAN, (double)NAN, (double)NAN);
    assert_true(tune_dominates(&one, &other, 0.01));
    set_objective(its, TUNE_CV, 9, 9, 9, 9);
    assert_false(tune_dominates(&one, &other, 0.01));
}

/* One seed has all of the partitions above a limit: the interval comes from the variation between seeds
 * rather than from the number of partitions. */
static void test_interval_of_differing_seeds_is_that_of_the_seeds(void **state)
{
    (void)state;
    struct tune_seen seen[4] = {0};
    const struct tune_entrant entrant = {.seen = seen, .seeds = 4};
    struct tune_sample shares = {0};
    for (int i = 0; i < 4; i++) {
        seen[i].partitions = 100000;
        seen[i].over = i == 2 ? 4000 : 0;
        seen[i].figures[TUNE_OVER] = (double)seen[i].over / 100000;
        tune_sample_add(&shares, seen[i].figures[TUNE_OVER]);
    }
    struct tune_interval interval = tune_over_interval(&entrant, 0.025);
    assert_true(interval.high == tune_sample_mean_interval(&shares, 0.95).high);
    assert_true(interval.high > 2 * lab_share_most(4000, 400000, 0.975));
    assert_true(interval.low == 0);
    /* No seed has any: the interval comes from the number of partitions. */
    seen[2].over = 0;
    seen[2].figures[TUNE_OVER] = 0;
    assert_true(tune_over_interval(&entrant, 0.025).high == lab_share_most(0, 400000, 0.975));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_race_against_all_seeds_recommends_the_same),
        cmocka_unit_test(test_race_front_is_what_its_definition_says),
        cmocka_unit_test(test_race_of_any_threads_is_the_same),
        cmocka_unit_test(test_race_of_clear_cases_names_each),
        cmocka_unit_test(test_race_dominance_respects_kinds_and_requirements),
        cmocka_unit_test(test_smaller_bucket_that_costs_more_is_not_run),
        cmocka_unit_test(test_smaller_bucket_that_may_be_more_even_is_run),
        cmocka_unit_test(test_smaller_window_continues_after_a_failure),
        cmocka_unit_test(test_much_smaller_window_waits),
        cmocka_unit_test(test_much_smaller_window_is_run_if_only_it_can_be_shown),
        cmocka_unit_test(test_window_that_is_certainly_full_is_not_run),
        cmocka_unit_test(test_best_so_far_is_named_after_the_first_run),
        cmocka_unit_test(test_setting_waits_while_a_cheaper_one_may_hold),
        cmocka_unit_test(test_template_that_costs_too_much_has_one_setting_with_all_seeds),
        cmocka_unit_test(test_costly_template_is_tried_until_a_setting_holds),
        cmocka_unit_test(test_endless_setting_is_run_if_another_one_is_within_the_limits),
        cmocka_unit_test(test_own_setting_runs_before_others_of_its_template),
        cmocka_unit_test(test_first_seeds_are_enough_for_a_setting_that_costs_more),
        cmocka_unit_test(test_setting_with_larger_partitions_needs_few_seeds),
        cmocka_unit_test(test_template_that_stays_unsure_is_tried_further),
        cmocka_unit_test(test_waiting_setting_resumes_before_others_are_run),
        cmocka_unit_test(test_beaten_setting_resumes_when_no_other_one_is_left),
        cmocka_unit_test(test_waiting_window_resumes_before_smaller_ones_are_run),
        cmocka_unit_test(test_cheapest_setting_has_all_seeds_where_none_may_exceed),
        cmocka_unit_test(test_best_of_a_template_has_all_seeds_where_none_may_exceed),
        cmocka_unit_test(test_beaten_setting_is_not_recommended),
        cmocka_unit_test(test_setting_is_settled_by_any_cheaper_one),
        cmocka_unit_test(test_settings_continue_after_a_failure),
        cmocka_unit_test(test_costly_template_of_a_thinned_run_has_the_highest_thresholds),
        cmocka_unit_test(test_setting_with_a_high_bound_runs_once_where_rows_are_shared),
        cmocka_unit_test(test_hopeless_shares_are_reported_by_their_product),
        cmocka_unit_test(test_race_of_few_partitions_is_not_shown),
        cmocka_unit_test(test_intervals_of_random_settings_follow_their_definition),
        cmocka_unit_test(test_race_without_a_winner_recommends_none),
        cmocka_unit_test(test_dominance_needs_proof_for_every_objective),
        cmocka_unit_test(test_interval_of_differing_seeds_is_that_of_the_seeds),
        cmocka_unit_test(test_distribution_of_few_partitions_shows),
        cmocka_unit_test(test_failed_demand_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
