/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the search finds exactly the settings that a scan over every chance and threshold finds, and is fast
 * for limits of any size. Method: that scan, for random goals and for the goals of the documentation; the
 * neighbours of each edge where a scan would not end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../share.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tune/odds.h"

#define FITS_MAX 1000
#define LIST_MAX 50000

static const struct tune_chances all_bits = {1, UINT64_C(1) << 32, true};
static const struct tune_chances every_number = {1, UINT64_C(1) << 63, false};

static double risk_of(const struct tune_goal *goal, uint64_t one_in, uint64_t threshold)
{
    const struct tune_distribution distribution = {1.0 / (double)one_in, threshold, 0};
    return tune_risk(&distribution, goal);
}

static bool holds(const struct tune_goal *goal, uint64_t one_in, uint64_t threshold)
{
    const struct tune_distribution distribution = {1.0 / (double)one_in, threshold, 0};
    return tune_holds(&distribution, goal);
}

static void fail_at(const struct tune_goal *goal, uint64_t one_in, uint64_t threshold, const char *what)
{
    fail_msg("rows %" PRIu64 "..%" PRIu64 ", risk %g, chance 1/%" PRIu64 ", threshold %" PRIu64 ": %s",
             goal->rows_min, goal->rows_max, goal->risk, one_in, threshold, what);
}

static bool is_all;

/* Tries every threshold; returns whether one is within the risk. */
static bool check_fit_by_scan(const struct tune_goal *goal, const struct tune_fit *fit)
{
    double least = HUGE_VAL;
    for (uint64_t threshold = 1; threshold <= goal->rows_max + 2; threshold++) {
        double risk = risk_of(goal, fit->one_in, threshold);
        bool is_found = fit->first <= threshold && threshold <= fit->last;
        if (is_found != holds(goal, fit->one_in, threshold))
            fail_at(goal, fit->one_in, threshold, is_found ? "found, and does not hold" : "not found");
        least = risk < least ? risk : least;
    }
    if (!(fit->best_risk <= least * (1 + 1e-9)) || fit->best_risk != risk_of(goal, fit->one_in, fit->best))
        fail_at(goal, fit->one_in, fit->best, "not the best");
    assert_true((fit->first > 0) == holds(goal, fit->one_in, fit->best));
    return fit->first > 0;
}

/* Checks all chances from the most frequent one to some that are certainly too rare, and the whole list. */
static void check_search_by_scan(const struct tune_goal *goal, const struct tune_chances *chances)
{
    struct tune_found found;
    assert_true(tune_search(goal, chances, 20000, 200000, &found));
    uint64_t rarest = 0, step = chances->powers ? 0 : 1;
    uint64_t end = found.fit_count > 0 ? 3 * found.fits[0].one_in + 8 : 64;
    for (uint64_t one_in = 1; one_in <= end; one_in = step ? one_in + 1 : 2 * one_in) {
        if (one_in < chances->least || one_in > chances->most)
            continue;
        struct tune_fit fit = tune_fit_thresholds(goal, one_in);
        if (check_fit_by_scan(goal, &fit))
            rarest = one_in;
    }
    assert_int_equal(rarest, found.fit_count > 0 ? found.fits[0].one_in : 0);
    assert_int_equal(rarest, tune_rarest(goal, chances));
    size_t place = 0;
    for (size_t i = 0; i < found.fit_count; i++) {
        const struct tune_fit *fit = &found.fits[i];
        assert_true(i == 0 || fit->one_in < found.fits[i - 1].one_in);
        for (uint64_t threshold = fit->first; threshold <= fit->last; threshold++, place++) {
            const struct tune_candidate *candidate = &found.candidates[place];
            assert_int_equal(candidate->one_in, fit->one_in);
            assert_int_equal(candidate->distribution.threshold, threshold);
            double sum = candidate->below + candidate->above;
            assert_true(sum <= goal->risk * (1 + 1e-13));
            assert_true(fmax(sum, 5e-324) == fmax(risk_of(goal, fit->one_in, threshold), 5e-324));
        }
    }
    assert_int_equal(place, found.candidate_count);
    assert_int_equal(found.left_out, 0);
    assert_true(found.is_counted);
    if (found.has_rarer) {
        assert_true(found.rarer.one_in > rarest && found.rarer.first == 0);
        uint64_t next = rarest > 0 ? (step ? rarest + 1 : 2 * rarest) : chances->least;
        while (!step && (next & (next - 1)) != 0)
            next++;
        assert_int_equal(found.rarer.one_in, next);
    }
    if (found.fit_count > 0) {
        assert_int_equal(found.recommended.one_in, rarest);
        assert_int_equal(found.recommended.distribution.threshold, found.fits[0].best);
    }
    tune_found_free(&found);
}

static uint64_t drawn(uint64_t *state, uint64_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*state >> 33) % below;
}

static void test_search_of_drawn_goals_is_what_a_scan_finds(void **state)
{
    (void)state;
    static const double risks[] = {0, 1e-300, 1e-12, 1e-6, 0.003, 0.05, 0.3, 0.5, 0.9, 0.97};
    uint64_t random = 1;
    for (int i = 0; i < (is_all ? 400 : (int)test_part(150)); i++) {
        struct tune_goal goal = {.rows_min = drawn(&random, 60)};
        goal.rows_max = goal.rows_min + drawn(&random, i % 3 == 0 ? 3 : 80);
        goal.rows_max += goal.rows_max == 0;
        goal.risk = risks[drawn(&random, sizeof risks / sizeof risks[0])];
        check_search_by_scan(&goal, &all_bits);
        check_search_by_scan(&goal, &every_number);
        const struct tune_chances some = {1 + drawn(&random, 9), 9 + drawn(&random, 30), i % 2 == 0};
        check_search_by_scan(&goal, &some);
    }
}

static void test_search_of_published_limits_is_what_a_scan_finds(void **state)
{
    (void)state;
    static const double risks[] = {0.003, 1e-12, 0.5};
    for (size_t i = 0; i < sizeof risks / sizeof risks[0]; i++) {
        const struct tune_goal goal = {12000, 32000, risks[i]};
        check_search_by_scan(&goal, &all_bits);
    }
    const struct tune_goal goal = {12000, 32000, 0.003};
    struct tune_found found;
    assert_true(tune_search(&goal, &all_bits, FITS_MAX, LIST_MAX, &found));
    assert_int_equal(found.recommended.one_in, 512);
    assert_int_equal(found.recommended.distribution.threshold, 40);
    assert_int_equal(found.fits[0].first, 39);
    assert_int_equal(found.fits[0].last, 42);
    tune_found_free(&found);
}

/* Limits around a mean of about 20480 rows: at 549, only one threshold is possible. */
static void test_search_of_every_number_is_what_a_scan_finds(void **state)
{
    (void)state;
    const struct tune_goal small = {300, 800, 0.003};
    check_search_by_scan(&small, &every_number);
    const struct tune_goal narrow = {900, 1000, 0.1};
    check_search_by_scan(&narrow, &every_number);
    const struct tune_goal goal = {12000, 32000, 0.003};
    uint64_t rarest = tune_rarest(&goal, &every_number);
    for (uint64_t one_in = rarest - 1; one_in <= rarest + 40; one_in++) {
        struct tune_fit fit = tune_fit_thresholds(&goal, one_in);
        assert_true(check_fit_by_scan(&goal, &fit) == (one_in <= rarest));
    }
}

/* 11 tosses have fewer than 6 heads with probability 1/2. */
static void test_risk_equal_to_the_allowed_one_is_accepted(void **state)
{
    (void)state;
    const struct tune_goal goal = {3, 11, 0.5}, less = {3, 11, 0.5 - 1e-12};
    const struct tune_distribution distribution = {0.5, 6, 0};
    assert_true(tune_holds(&distribution, &goal) && !tune_holds(&distribution, &less));
    assert_int_equal(tune_fit_thresholds(&goal, 2).last, 6);
    assert_int_equal(tune_fit_thresholds(&less, 2).last, 5);
}

static void test_no_risk_leaves_only_0_bits(void **state)
{
    (void)state;
    /* 2^-100000 underflows in a double, but a partition that ends by chance still has a risk above 0. */
    const struct tune_goal goal = {1, 100000, 0};
    struct tune_found found;
    assert_true(tune_search(&goal, &all_bits, FITS_MAX, LIST_MAX, &found));
    assert_int_equal(found.fit_count, 1);
    assert_int_equal(found.fits[0].one_in, 1);
    assert_int_equal(found.candidate_count, LIST_MAX);
    assert_true(found.has_rarer && found.rarer.one_in == 2 && found.rarer.best_risk > 0);
    tune_found_free(&found);
    const struct tune_goal one = {7, 7, 0};
    struct tune_fit fit = tune_fit_thresholds(&one, 1);
    assert_true(fit.first == 7 && fit.last == 7 && fit.best_risk == 0);
}

static void test_chances_without_a_threshold_are_reported(void **state)
{
    (void)state;
    const struct tune_goal goal = {12000, 32000, 0.003};
    const struct tune_chances too_rare = {1024, 4096, true}, none = {1025, 2047, true};
    struct tune_found found;
    assert_true(tune_search(&goal, &too_rare, FITS_MAX, LIST_MAX, &found));
    assert_int_equal(found.fit_count + found.candidate_count, 0);
    assert_true(found.has_rarer && found.rarer.one_in == 1024 && found.rarer.best == 20);
    assert_true(found.rarer.best_risk > 0.003 && found.rarer.first == 0);
    tune_found_free(&found);
    assert_true(tune_search(&goal, &none, FITS_MAX, LIST_MAX, &found));
    assert_true(found.fit_count == 0 && !found.has_rarer);
    tune_found_free(&found);
}

static void test_long_lists_are_cut_after_the_most_expensive(void **state)
{
    (void)state;
    const struct tune_goal goal = {12000, 32000, 0.003};
    struct tune_found whole, cut, few;
    assert_true(tune_search(&goal, &all_bits, FITS_MAX, LIST_MAX, &whole));
    assert_true(tune_search(&goal, &all_bits, FITS_MAX, 100, &cut));
    assert_int_equal(cut.candidate_count, 100);
    assert_int_equal(cut.left_out, whole.candidate_count - 100);
    for (size_t i = 0; i < 100; i++)
        assert_true(cut.candidates[i].one_in == whole.candidates[i].one_in &&
                    cut.candidates[i].distribution.threshold == whole.candidates[i].distribution.threshold);
    assert_true(tune_search(&goal, &all_bits, 2, 0, &few));
    assert_true(!few.is_counted && few.fit_count == 2 && few.candidate_count == 0);
    assert_int_equal(few.left_out, 4 + 28);
    assert_int_equal(few.recommended.distribution.threshold, 40);
    tune_found_free(&few);
    tune_found_free(&cut);
    tune_found_free(&whole);
}

/* An edge is within the risk and its outer neighbour is not; the rarest chance is within the risk and the
 * next one is not. */
static void check_edges(const struct tune_goal *goal, const struct tune_found *found)
{
    for (size_t i = 0; i < found->fit_count; i += 1 + i / 40) {
        const struct tune_fit *fit = &found->fits[i];
        assert_true(1 <= fit->first && fit->first <= fit->best && fit->best <= fit->last);
        assert_true(fit->last <= goal->rows_max);
        const uint64_t inside[] = {fit->first, fit->best, fit->last};
        for (size_t j = 0; j < 3; j++) {
            if (!holds(goal, fit->one_in, inside[j]))
                fail_at(goal, fit->one_in, inside[j], "does not hold");
        }
        if ((fit->first > 1 && holds(goal, fit->one_in, fit->first - 1)) ||
            holds(goal, fit->one_in, fit->last + 1))
            fail_at(goal, fit->one_in, fit->best, "a neighbour of an edge holds, too");
    }
    assert_int_equal(found->fits[found->fit_count - 1].one_in == 1, found->is_counted);
    assert_true(!found->has_rarer || found->rarer.best_risk > goal->risk);
}

static void test_search_of_huge_limits_takes_a_moment(void **state)
{
    (void)state;
    static const struct tune_goal goals[] = {
        {12000, 32000, 0.003},
        {12000, 32000, 0.999999},
        {1, UINT64_C(1000000000000), 0.003},
        {0, UINT64_C(1000000000000000000), 1e-12},
        {UINT64_C(1000000000000), UINT64_C(2000000000000), 0.003},
        {UINT64_C(1000000000000), UINT64_C(1001000000000), 1e-12},
        {UINT64_C(1000000000000000000), UINT64_C(1001000000000000000), 0.003},
        {UINT64_C(999999999999999999), UINT64_C(1000000000000000000), 0.5},
        {INT64_MAX, INT64_MAX, 0.9},
        {1, INT64_MAX, 0.999},
        {INT64_MAX - 1, INT64_MAX, 0},
    };
    for (size_t i = 0; i < 2 * sizeof goals / sizeof goals[0]; i++) {
        const struct tune_goal *goal = &goals[i / 2];
        struct tune_found found;
        clock_t begin = clock();
        assert_true(tune_search(goal, i % 2 == 0 ? &all_bits : &every_number, FITS_MAX, LIST_MAX, &found));
        double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
        assert_true(found.fit_count > 0);
        check_edges(goal, &found);
        tune_found_free(&found);
#if defined __OPTIMIZE__ && !defined __SANITIZE_ADDRESS__
        if (seconds >= 10) /* 0.3 s where this was written */
            fail_at(goal, 0, 0, "took ten seconds of processor time, or more");
#else
        (void)seconds;
#endif
    }
}

int main(int count, char **arguments)
{
    is_all = count > 1 && strcmp(arguments[1], "all") == 0; /* otherwise fewer random goals */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_search_of_drawn_goals_is_what_a_scan_finds),
        cmocka_unit_test(test_search_of_published_limits_is_what_a_scan_finds),
        cmocka_unit_test(test_search_of_every_number_is_what_a_scan_finds),
        cmocka_unit_test(test_risk_equal_to_the_allowed_one_is_accepted),
        cmocka_unit_test(test_no_risk_leaves_only_0_bits),
        cmocka_unit_test(test_chances_without_a_threshold_are_reported),
        cmocka_unit_test(test_long_lists_are_cut_after_the_most_expensive),
        cmocka_unit_test(test_search_of_huge_limits_takes_a_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
