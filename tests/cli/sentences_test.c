/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the sentences of `tune SCENARIO` describe the result of the race correctly. Method: constructed races,
 * with a case for each sentence that may appear or be omitted; whole texts are compared. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/contest_answer.h"
#include "kernel/time.h"

#define ENTRANTS 6
#define SEEDS    2

struct fixture {
    struct lab_scenario scenario;
    struct tune_contest contest;
    struct tune_entrant entrants[ENTRANTS];
    struct tune_seen seen[ENTRANTS][SEEDS];
    struct tune_margin margins[ENTRANTS];
    char labels[ENTRANTS][8];
    struct cli_saying said;
};

/* "a" is recommended. The others are more expensive and do not matter. */
static void begin(struct fixture *made, size_t count)
{
    static char path[] = "x.yaml";
    memset(made, 0, sizeof *made);
    made->scenario.path = path;
    made->scenario.limits = (struct lab_limits){.partition_rows = 1000, .partition_bytes = 2000000};
    made->contest =
        (struct tune_contest){.scenario = &made->scenario, .led = SIZE_MAX, .margins = made->margins};
    made->contest.rows.lasts_ns = SIM_DAY;
    made->contest.rows.limit_rows = 1000.5;
    made->contest.race = (struct tune_race){.entrants = made->entrants, .count = count, .is_shown = true};
    made->contest.race.terms =
        (struct lab_tune){.risk = 0.01, .share = 0.01, .confidence = 0.95, .seeds = SEEDS};
    for (size_t i = 0; i < count; i++) {
        struct tune_entrant *entrant = &made->entrants[i];
        *entrant = (struct tune_entrant){.status = i == 0 ? TUNE_RECOMMENDED : TUNE_DOMINATED,
                                         .seen = made->seen[i],
                                         .seeds = SEEDS,
                                         .over = {.low = 0, .high = 0.004}};
        snprintf(made->labels[i], sizeof made->labels[i], "%c", (char)('a' + i));
        entrant->strategy.label = made->labels[i];
        for (size_t seed = 0; seed < SEEDS; seed++) {
            made->seen[i][seed] = (struct tune_seen){.partitions = 100, .closed = 50};
            double *figures = made->seen[i][seed].figures;
            figures[TUNE_COST_WRITE] = (double)i + 0.25;
            figures[TUNE_COST] = (double)i + 1.25;
            figures[TUNE_CV] = 0.1;
            figures[TUNE_PER_READ] = 1.5;
            figures[TUNE_PER_READ_P99] = 2.5;
            figures[TUNE_P99_BYTES] = 123456;
        }
    }
}

static void set_figure(struct fixture *made, size_t entrant, enum tune_figure figure, double value)
{
    for (size_t seed = 0; seed < SEEDS; seed++)
        made->seen[entrant][seed].figures[figure] = value;
}

static void expect(struct fixture *made, const char *text)
{
    assert_string_equal(made->said.buffer, text);
    assert_int_equal(made->said.used, strlen(text));
    made->said = (struct cli_saying){.used = 0};
}

static void expect_why(struct fixture *made, const char *text)
{
    cli_contest_why(&made->contest, &made->said);
    expect(made, text);
}

static void expect_notes(struct fixture *made, const char *text)
{
    cli_contest_notes(&made->contest, &made->said);
    expect(made, text);
}

static void expect_refusal(struct fixture *made, const char *text)
{
    struct sim_error error;
    made->contest.race.recommended = SIZE_MAX;
    assert_false(cli_contest_refuse(&made->contest, &error));
    assert_int_equal(error.class, SIM_ERROR_CHECK);
    assert_string_equal(error.text, text);
}

static void test_sentences_are_cut_at_the_buffer_size(void **state)
{
    (void)state;
    static struct cli_saying saying;
    for (int i = 0; i < CLI_SAYING_SIZE; i++)
        cli_say(&saying, "ab");
    assert_int_equal(saying.used, CLI_SAYING_SIZE - 1);
    assert_int_equal(strlen(saying.buffer), CLI_SAYING_SIZE - 1);
}

static void test_cheapest_within_the_limits_is_explained(void **state)
{
    (void)state;
    struct fixture made;
    begin(&made, 1);
    made.scenario.reads.present = true;
    made.entrants[0].has_distribution = true;
    expect_why(&made,
               "a is the cheapest that stays within the limits: 1.25 operations per 1000 rows in addition to "
               "the inserts, 0.25 for counters "
               "and state and 1 for the partitions that reads query (1.50 a read). In 2 seeds none of its "
               "partitions exceeded a limit, and none can (1 % allowed). 99 % of its partitions are within "
               "123KB, and the rows of closed ones have a CV of 10 %.");
    made.scenario.reads.present = false;
    made.entrants[0].exact_share = made.entrants[0].over.high;
    made.entrants[0].seeds = 1;
    set_figure(&made, 0, TUNE_CV, (double)NAN);
    set_figure(&made, 0, TUNE_OVER, 0.002);
    expect_why(
        &made,
        "a is the cheapest that stays within the limits: 1.25 operations per 1000 rows in addition to the "
        "inserts. In 1 seed 0.2 % "
        "of its partitions exceeded a limit; by the exact distribution 0.4 % of the partitions that fill up "
        "do (1 % "
        "allowed). 99 % of its partitions are within 123KB.");
    made.entrants[0].exact_share = 0.5;
    made.contest.race.is_shown = false;
    expect_why(
        &made,
        "a is the cheapest that was not seen to fail: 1.25 operations per 1000 rows in addition to the "
        "inserts. "
        "In 1 seed 0.2 % of its partitions exceeded a limit; with 95 % confidence at most 0.4 % do (1 % "
        "allowed). 99 % of its partitions are within 123KB.");
    made.entrants[0].is_fixed = true;
    expect_why(&made,
               "a is the cheapest that was not seen to fail: 1.25 operations per 1000 rows in addition to "
               "the inserts. In "
               "this trace 0.2 % of its partitions exceed a limit (1 % allowed). 99 % of its partitions are "
               "within 123KB.");
}

static void test_why_says_what_a_strategy_requires(void **state)
{
    (void)state;
    static const char begin_of_why[] =
        "a is the cheapest that stays within the limits: 1.25 operations per 1000 rows in addition to the "
        "inserts. In 2 seeds none of its partitions exceeded a limit; with 95 % confidence at most 0.4 % do "
        "(1 % allowed). 99 % of its partitions are within 123KB, and the rows of closed ones "
        "have "
        "a CV of 10 %.";
    static const char *const ends[LAB_REQUIREMENT_COUNT] = {
        [LAB_REQUIRES_SEQUENCE] =
            (" This assumes that rows already carry a gapless sequence number; otherwise "
             "nothing that was tried stays within the limits."),
        [LAB_REQUIRES_FAN_OUT] = " It needs readers that query all partitions of a key.",
        [LAB_REQUIRES_LEAD] = " It needs a lead with bounded caches and clocks.",
        [LAB_REQUIRES_LWT] = " It needs conditional updates (LWT).",
    };
    char whole[1024];
    struct fixture made;
    for (int i = 0; i < LAB_REQUIREMENT_COUNT; i++) {
        begin(&made, 1);
        made.entrants[0].requirements = 1U << i;
        snprintf(whole, sizeof whole, "%s%s", begin_of_why, ends[i]);
        expect_why(&made, whole);
    }
    begin(&made, 2);
    made.entrants[0].requirements = 1U << LAB_REQUIRES_SEQUENCE;
    made.entrants[1].status = TUNE_HOLDS;
    set_figure(&made, 1, TUNE_COST, 3);
    set_figure(&made, 1, TUNE_CV, 0.65);
    snprintf(whole, sizeof whole,
             "%s This assumes that rows already carry a gapless sequence number; otherwise b (3; its "
             "partitions are "
             "uneven, with a CV of 65 %%).",
             begin_of_why);
    expect_why(&made, whole);
    made.entrants[1].status = TUNE_UNSURE;
    snprintf(whole, sizeof whole,
             "%s This assumes that rows already carry a gapless sequence number; otherwise nothing that was "
             "tried is shown to stay within the limits, since there are too few partitions; the cheapest "
             "that may is b (3).",
             begin_of_why);
    expect_why(&made, whole);
    made.entrants[1].status = TUNE_HOLDS;
    made.entrants[0].requirements = 0;
    made.entrants[1].requirements = 1U << LAB_REQUIRES_SEQUENCE;
    snprintf(whole, sizeof whole,
             "%s This assumes that rows have no sequence number. If they already carry a gapless one, b (3) "
             "stays within the limits too.",
             begin_of_why);
    expect_why(&made, whole);
    begin(&made, 2);
    made.contest.race.terms.kinds = 1U << BK_COUNT;
    snprintf(whole, sizeof whole,
             "%s This assumes that rows have no sequence number. If they already carry a gapless one, such "
             "as an order number, counting by it costs no operation and gives a CV of 0, with fewer than "
             "1,000 rows per partition; add count: {rows: N, counter: external} to try it.",
             begin_of_why);
    expect_why(&made, whole);
    made.entrants[1].strategy.settings.strategy.kind = BK_COUNT;
    made.entrants[1].strategy.settings.source = BK_SOURCE_LEASE;
    expect_why(&made, whole);
    made.entrants[1].strategy.settings.source = BK_SOURCE_EXTERNAL;
    expect_why(&made, begin_of_why);
    made.entrants[1].strategy.settings.source = BK_SOURCE_LEASE;
    made.entrants[1].status = TUNE_FAILS;
    made.entrants[1].failed = TUNE_FINDABLE;
    expect_why(&made, begin_of_why);
    made.entrants[1].strategy.settings.strategy.kind = BK_TIME;
    made.contest.rows.limit_rows = 0.5;
    expect_why(&made, begin_of_why);
    /* A number of rows that stays within the limits is named. */
    made.contest.rows.limit_rows = 1000;
    made.entrants[1].status = TUNE_HOLDS;
    made.entrants[1].strategy.settings.source = BK_SOURCE_COUNTER;
    made.entrants[1].strategy.settings.strategy =
        (struct bk_strategy){.kind = BK_COUNT, .of.count.rows = 700};
    snprintf(whole, sizeof whole,
             "%s This assumes that rows have no sequence number. If they already carry a gapless one, such "
             "as an order number, counting by it costs no operation and gives a CV of 0, with 700 rows per "
             "partition; add count: {rows: N, counter: external} to try it.",
             begin_of_why);
    expect_why(&made, whole);
}

static void test_why_says_what_is_uneven_and_what_every_row_costs(void **state)
{
    (void)state;
    struct fixture made;
    begin(&made, 1);
    set_figure(&made, 0, TUNE_CV, 0.65);
    set_figure(&made, 0, TUNE_COST, 1000);
    set_figure(&made, 0, TUNE_COST_WRITE, 1000);
    set_figure(&made, 0, TUNE_OPS, 1000);
    static const char begin_of_why[] =
        "a is the cheapest that stays within the limits: 1000 operations per 1000 rows in addition to "
        "the inserts. In 2 seeds none of its partitions exceeded a limit; with 95 % confidence at most 0.4 % "
        "do (1 % allowed). 99 % of its partitions are within 123KB, and the rows of closed "
        "ones have a CV of 65 %, which is uneven";
    char whole[1024];
    snprintf(whole, sizeof whole, "%s. It costs an operation for every row.", begin_of_why);
    made.entrants[0].strategy.settings.strategy.kind = BK_TIME;
    expect_why(&made, whole);
    snprintf(whole, sizeof whole,
             "%s: a higher threshold with fewer bits evens them out. It costs an operation for every row.",
             begin_of_why);
    made.entrants[0].strategy.settings.strategy.kind = BK_PROBABILISTIC;
    expect_why(&made, whole);
}

static void test_slightly_lower_cost_is_no_reason(void **state)
{
    (void)state;
    static const char cheapest[] = "a is the cheapest that ",
                      slightly_more[] = "a costs at most 1 % more than the cheapest that ";
    static const struct {
        enum tune_status status;
        bool is_shown, is_endless, is_peer;
    } cases[] = {{TUNE_FRONT, true, false, true},   {TUNE_HOLDS, true, false, true},
                 {TUNE_HOLDS, true, true, false},   {TUNE_UNSURE, true, false, false},
                 {TUNE_UNSURE, false, false, true}, {TUNE_FAILS, true, false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture made;
        begin(&made, 2);
        set_figure(&made, 1, TUNE_COST, 1.24);
        made.entrants[1].status = cases[i].status;
        made.entrants[1].is_endless = cases[i].is_endless;
        made.contest.race.is_shown = cases[i].is_shown;
        cli_contest_why(&made.contest, &made.said);
        const char *wanted = cases[i].is_peer ? slightly_more : cheapest;
        assert_int_equal(strncmp(made.said.buffer, wanted, strlen(wanted)), 0);
    }
}

static void test_rivals_are_the_next_cheaper_one_and_the_best_of_other_kinds(void **state)
{
    (void)state;
    static const char begin_of_why[] =
        "a is the cheapest that stays within the limits: 1.25 operations per 1000 rows in addition to the "
        "inserts. In 2 seeds none "
        "of its "
        "partitions exceeded a limit; with 95 % confidence at most 0.4 % do (1 % allowed). 99 % of its "
        "partitions are "
        "within 123KB, and the rows of closed ones have a CV of 10 %.";
    char whole[1024];
    struct fixture made;
    begin(&made, ENTRANTS);
    /* b fails and is unbounded; c fails and is expensive; d and e fail and are cheaper, but e by less. */
    for (size_t i = 1; i < 5; i++)
        made.entrants[i].status = TUNE_FAILS;
    made.entrants[1].is_endless = true;
    set_figure(&made, 1, TUNE_COST, 0.1);
    set_figure(&made, 3, TUNE_COST, 0.2);
    set_figure(&made, 4, TUNE_COST, 0.3);
    made.entrants[4].failed = TUNE_NOT_TINY;
    set_figure(&made, 4, TUNE_TINY, 0.07);
    made.contest.margin_count = 3;
    made.entrants[2].requirements = 1U << LAB_REQUIRES_LEAD | 1U << LAB_REQUIRES_LWT;
    made.margins[1].entrant = 2;
    made.margins[2].entrant = 5;
    snprintf(whole, sizeof whole,
             "%s The next cheaper one, e (0.3), fails: 7 %% of closed partitions are tiny. The cheapest of "
             "each other kind within the limits: c (3.25; needs a lead with bounded caches and clocks and "
             "conditional updates (LWT)), f (6.25).",
             begin_of_why);
    expect_why(&made, whole);
    made.entrants[2].is_endless = made.entrants[5].is_endless = true;
    snprintf(whole, sizeof whole,
             "%s The next cheaper one, e (0.3), fails: 7 %% of closed partitions are tiny.", begin_of_why);
    expect_why(&made, whole);
}

/* Settings that stay within the limits at every rate are named together. */
static void test_margins_name_those_that_no_rate_changes(void **state)
{
    static const char *const said[] = {
        "c already fails at 1.5 times this rate: readers miss rows.",
        "a stays within the limits at any rate, since its buckets end by rows. c already fails at 1.5 times "
        "this rate: readers miss rows.",
        "a and b stay within the limits at any rate, since their buckets end by rows. c already fails at 1.5 "
        "times this rate: readers miss rows.",
        "a, b and d stay within the limits at any rate, since their buckets end by rows. c already fails at "
        "1.5 times this rate: readers miss rows."};
    static const size_t order[] = {2, 0, 1, 3};
    struct fixture made;
    (void)state;
    begin(&made, 4);
    for (size_t i = 0; i < 4; i++) {
        made.margins[i] =
            (struct tune_margin){.entrant = order[i], .is_tried = true, .holds_anywhere = i > 0};
        for (size_t j = 0; j < TUNE_MARGIN_STEPS; j++)
            made.margins[i].steps[j].holds = i > 0;
    }
    made.margins[0].steps[0] = (struct tune_margin_step){1.5, .is_run = true, .failed = TUNE_FINDABLE};
    for (size_t i = 0; i < 4; i++) {
        made.contest.margin_count = i + 1;
        cli_contest_margins(&made.contest, &made.said);
        expect(&made, said[i]);
    }
    made.contest.margin_count = 2;
    made.margins[1].is_tried = made.margins[1].holds_anywhere = false;
    cli_contest_margins(&made.contest, &made.said);
    expect(&made, said[0]);
}

static void test_margins_name_the_limiting_demand(void **state)
{
    (void)state;
    struct fixture made;
    begin(&made, 1);
    struct tune_margin margin = {.entrant = 0};
    static const double factors[TUNE_MARGIN_STEPS] = {1.1, 1.25, 1.5, 2, 4};
    for (size_t i = 0; i < TUNE_MARGIN_STEPS; i++) {
        margin.steps[i].factor = factors[i];
        margin.steps[i].holds = true;
    }
    cli_contest_margin(&made.contest, &margin, &made.said);
    expect(&made, "a still stays within the limits at 4 times this rate.");

    margin.steps[2] = (struct tune_margin_step){.factor = 1.5, .is_run = true, .failed = TUNE_FEW_PER_READ};
    margin.steps[2].seen.figures[TUNE_PER_READ_P99] = 12;
    cli_contest_margin(&made.contest, &margin, &made.said);
    expect(&made, "At 1.25 times this rate a still stays within the limits; at 1.5 times 1 % of reads query "
                  "12 partitions or more.");

    /* A mean over the seeds is no whole number. */
    margin.steps[2].seen.figures[TUNE_PER_READ_P99] = 20.0 / 3;
    cli_contest_margin(&made.contest, &margin, &made.said);
    expect(&made, "At 1.25 times this rate a still stays within the limits; at 1.5 times 1 % of reads query "
                  "6.67 partitions or more.");

    margin.steps[0] = (struct tune_margin_step){.factor = 1.1, .is_run = true, .failed = TUNE_FINDABLE};
    cli_contest_margin(&made.contest, &margin, &made.said);
    expect(&made, "a already fails at 1.1 times this rate: readers miss rows.");

    /* The named limit is the one that more partitions exceed, or the only one. */
    struct tune_seen *seen = &margin.steps[0].seen;
    margin.steps[0].failed = TUNE_IN_LIMITS;
    seen->figures[TUNE_OVER] = 0.123;
    seen->over_rows = 2, seen->over_bytes = 1;
    cli_contest_margin(&made.contest, &margin, &made.said);
    expect(&made, "a already fails at 1.1 times this rate: 12 % of partitions exceed 1,000 rows.");
    seen->over_bytes = 2;
    cli_contest_margin(&made.contest, &margin, &made.said);
    expect(&made, "a already fails at 1.1 times this rate: 12 % of partitions exceed 2MB.");
    made.scenario.limits.partition_bytes = 0;
    cli_contest_margin(&made.contest, &margin, &made.said);
    expect(&made, "a already fails at 1.1 times this rate: 12 % of partitions exceed 1,000 rows.");
    made.scenario.limits = (struct lab_limits){.partition_bytes = 2000000};
    seen->over_bytes = 1;
    cli_contest_margin(&made.contest, &margin, &made.said);
    expect(&made, "a already fails at 1.1 times this rate: 12 % of partitions exceed 2MB.");
    seen->figures[TUNE_OVER] = 0; /* of the seeds that were run to the end */
    cli_contest_margin(&made.contest, &margin, &made.said);
    expect(&made, "a already fails at 1.1 times this rate: a partition exceeds 2MB.");

    /* Rates that the exact distribution decides. */
    static const struct {
        double least, most;
        const char *said;
    } bounds[] = {{0.678, 0.321, "0.33; at 1.25 times it is at least 0.67."},
                  {195.1, 0.0004, "0.01; at 1.25 times it is at least 190."},
                  {1.05, 0.07, "0.07; at 1.25 times it is at least 1."},
                  {1.97, 0.29, "0.29; at 1.25 times it is at least 1.9."},
                  {25.1, 0.3, "0.3; at 1.25 times it is at least 25."}};
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        char whole[256];
        margin.steps[0] = (struct tune_margin_step){
            .factor = 1.1, .is_bounded = true, .over_most = bounds[i].most, .holds = true};
        margin.steps[1] = (struct tune_margin_step){
            .factor = 1.25, .is_bounded = true, .over_least = bounds[i].least, .fails = true};
        snprintf(
            whole, sizeof whole,
            "At 1.1 times this rate the expected number of partitions of a above a limit in 24 hours is at "
            "most %s",
            bounds[i].said);
        cli_contest_margin(&made.contest, &margin, &made.said);
        expect(&made, whole);
    }
    margin.steps[0].is_run = true;
    cli_contest_margin(&made.contest, &margin, &made.said);
    expect(&made,
           "At 1.1 times this rate a still stays within the limits; at 1.25 times the expected number of "
           "partitions above a limit in 24 hours is at least 25.");
    margin.steps[0].holds = margin.steps[0].is_run = false;
    margin.steps[0].over_least = 0.678;
    cli_contest_margin(&made.contest, &margin, &made.said);
    expect(&made,
           "a already fails at 1.1 times this rate: the expected number of partitions above a limit in 24 "
           "hours is at least 0.67.");
    for (size_t i = 0; i < TUNE_MARGIN_STEPS; i++)
        margin.steps[i] = (struct tune_margin_step){
            .factor = factors[i], .is_bounded = true, .over_most = 0.2, .holds = true};
    cli_contest_margin(&made.contest, &margin, &made.said);
    expect(&made,
           "At 4 times this rate the expected number of partitions of a above a limit in 24 hours is at "
           "most 0.2.");
}

static void test_notes_are_empty_without_a_reason(void **state)
{
    (void)state;
    struct fixture made;
    begin(&made, 1);
    expect_notes(&made, "");
    made.contest.race.recommended = SIZE_MAX;
    made.contest.race.is_shown = false;
    expect_notes(&made, "");
}

static void test_notes_say_what_more_seeds_would_do(void **state)
{
    (void)state;
    struct fixture made;
    begin(&made, 5);
    made.contest.race.terms.tiny = -1;
    /* b is unbounded, c is not cheap enough, and d and e are cheaper, d by more. */
    for (size_t i = 1; i < 5; i++)
        made.entrants[i].status = TUNE_UNSURE;
    made.entrants[1].is_endless = true;
    made.scenario.limits = (struct lab_limits){0};
    set_figure(&made, 1, TUNE_COST, 0.1);
    set_figure(&made, 2, TUNE_COST, 1.24);
    set_figure(&made, 3, TUNE_COST, 0.2);
    set_figure(&made, 4, TUNE_COST, 0.3);
    made.entrants[3].over.high = 0.03;
    made.entrants[3].failed = TUNE_IN_LIMITS;
    made.entrants[1].status = TUNE_FAILS;
    expect_notes(&made, " d would cost 0.2 and was not seen to fail, but with so few seeds up to 3 % of its "
                        "partitions may be above a limit; about 4 seeds (--seeds 4) would decide.");
    static const char above[] = "up to 0.4 % of its partitions may be above a limit",
                      tiny[] = "up to 20 % of its closed partitions may be tiny",
                      reads[] = "1 % of reads may query more than 2.4 partitions";
    static const struct {
        enum tune_demand open;
        double risk;
        uint64_t partitions, over_first, over_second;
        const char *what;
        int seeds; /* 0: no number */
    } cases[] = {
        {TUNE_IN_LIMITS, 0.01, 100, 0, 0, above, 4},
        {TUNE_IN_LIMITS, 0.01, 1, 0, 0, above, 368},
        {TUNE_IN_LIMITS, 0.001, 1, 0, 0, above, 0},
        {TUNE_IN_LIMITS, 0.01, 1000, 0, 15, above, 38}, /* their shares differ more than by chance */
        {TUNE_IN_LIMITS, 0.01, 100, 1, 1, above, 0},
        {TUNE_NOT_TINY, 0.01, 100, 0, 0, tiny, 0},
        {TUNE_FEW_PER_READ, 0.01, 100, 0, 0, reads, 0},
    };
    made.contest.race.is_shown = false;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[400], cure[80] = "more seeds (--seeds), more keys or a longer run";
        made.contest.race.terms.risk = cases[i].risk;
        made.contest.race.terms.tiny = cases[i].open == TUNE_NOT_TINY ? 0.05 : -1;
        made.contest.race.terms.partitions_per_read = cases[i].open == TUNE_FEW_PER_READ ? 2.4 : 0;
        made.entrants[0].failed = cases[i].open;
        for (size_t seed = 0; seed < SEEDS; seed++) {
            struct tune_seen *seen = &made.seen[0][seed];
            seen->partitions = cases[i].partitions;
            seen->over = seed == 0 ? cases[i].over_first : cases[i].over_second;
            seen->figures[TUNE_OVER] = (double)seen->over / (double)seen->partitions;
            seen->tiny = 6;
            seen->figures[TUNE_TINY] = 0.04;
        }
        if (cases[i].seeds > 0)
            snprintf(cure, sizeof cure, "about %d seeds (--seeds %d)", cases[i].seeds, cases[i].seeds);
        snprintf(
            text, sizeof text,
            " There are too few partitions to show with 95 %% confidence that a stays within the limits: %s; "
            "%s would decide.",
            cases[i].what, cure);
        expect_notes(&made, text);
    }
}

static void test_notes_say_when_unbounded_partitions_are_too_large(void **state)
{
    (void)state;
    struct fixture made;
    begin(&made, ENTRANTS);
    for (size_t i = 0; i < ENTRANTS; i++)
        made.entrants[i].is_endless = true;
    for (size_t i = 1; i < ENTRANTS; i++)
        made.entrants[i].status = i == 2 ? TUNE_FAILS : TUNE_HOLDS;
    made.seen[0][0].rows_most = 100; /* 10 days, and by bytes 5 */
    made.seen[0][0].bytes_most = 400000;
    made.seen[1][0].rows_most = 24000;     /* 1 hour */
    made.seen[3][0].bytes_most = 96000000; /* half an hour; it has no rows */
    made.seen[4][0].rows_most = 1;
    expect_notes(&made, " Partitions that never close keep growing: at this rate a exceeds a limit after 5 "
                        "days, b exceeds a limit after 1 hour, d exceeds a limit after 30 minutes.");
    made.scenario.limits.partition_bytes = 0;
    made.entrants[1].is_endless = made.entrants[3].is_endless = false;
    made.entrants[4].is_endless = made.entrants[5].is_endless = false;
    expect_notes(&made,
                 " Partitions that never close keep growing: at this rate a exceeds a limit after 10 days.");
    made.scenario.limits = (struct lab_limits){.partition_bytes = 2000000};
    expect_notes(&made,
                 " Partitions that never close keep growing: at this rate a exceeds a limit after 5 days.");
}

static size_t cheapest_at(const struct tune_contest *contest, double price, double reads)
{
    size_t count;
    struct tune_plane *planes = tune_planes(contest, &count);
    assert_non_null(planes);
    const size_t cheapest = tune_cheapest_at(planes, count, price, reads);
    free(planes);
    return cheapest;
}

/* A counter update now costs 1 insert. The cost 101.25 is that of 100 updates plus 1.25; the rival costs 300
 * and has no update. */
static void test_choice_changes_where_costs_are_equal(void **state)
{
    (void)state;
    struct fixture made;
    begin(&made, 2);
    made.scenario.prices = (struct lab_prices){.counter_increment = 1, .partition_read = 1};
    made.scenario.reads.present = true;
    made.entrants[1].status = TUNE_HOLDS;
    made.entrants[1].strategy.settings.strategy.kind = BK_TIME;
    set_figure(&made, 0, TUNE_INCREMENTS, 100);
    set_figure(&made, 0, TUNE_COST_WRITE, 100);
    set_figure(&made, 0, TUNE_COST, 120);
    set_figure(&made, 1, TUNE_COST_WRITE, 0);
    set_figure(&made, 1, TUNE_COST, 300);
    struct tune_flip flip = tune_flip_of(&made.contest, TUNE_AXIS_COUNTER, true);
    assert_true(flip.at == 2.8 && flip.entrant == 1); /* 20 + 100 x 2.8 = 300 */
    assert_int_equal(tune_flip_of(&made.contest, TUNE_AXIS_COUNTER, false).entrant, SIZE_MAX);
    assert_int_equal(tune_flip_of(&made.contest, TUNE_AXIS_READS, true).entrant, SIZE_MAX);
    /* 100 + 20 r = 300 r */
    assert_true(fabs(tune_flip_of(&made.contest, TUNE_AXIS_READS, false).at - 100.0 / 280) < 1e-12);
    cli_contest_flip(&made.contest, &made.said);
    expect(&made, "unbucketed stays the cheapest kind while a counter update costs less than 2.8 inserts "
                  "(otherwise b), and "
                  "while there are more than "
                  "0.357 times as many reads (otherwise b).");
    assert_int_equal(cheapest_at(&made.contest, 2.7, 1), 0);
    assert_int_equal(cheapest_at(&made.contest, 2.9, 1), 1);
    assert_int_equal(cheapest_at(&made.contest, 1, 0.3), 1);
    /* A setting of the same kind that costs more has one seed, in which all costs are a tenth lower. */
    made.contest.race.count = 3;
    made.entrants[2] = made.entrants[0];
    made.entrants[2].status = TUNE_HOLDS;
    made.entrants[2].seen = made.seen[2];
    set_figure(&made, 2, TUNE_INCREMENTS, 102);
    set_figure(&made, 2, TUNE_COST, 124);
    for (size_t i = 0; i < 3; i++) {
        made.seen[i][0].figures[TUNE_INCREMENTS] *= 0.9;
        made.seen[i][0].figures[TUNE_COST] *= 0.9;
    }
    made.entrants[2].seeds = 1;
    flip = tune_flip_of(&made.contest, TUNE_AXIS_COUNTER, true);
    assert_true(fabs(flip.at - 2.8) < 1e-9 && flip.entrant == 1);
    assert_int_equal(cheapest_at(&made.contest, 2.7, 1), 0);
    made.contest.race.count = 2;
    made.entrants[1].status = TUNE_FAILS;
    made.contest.margin_count = 2;
    cli_contest_flip(&made.contest, &made.said);
    expect(&made,
           "No price of a counter update makes another kind cheaper than unbucketed, and no rate of reads.");
}

static void expect_horizon(struct fixture *made, const char *text)
{
    cli_contest_horizon(&made->contest, &made->said);
    expect(made, text);
}

/* A day of 100 partitions a seed. */
static void test_horizon_is_reported_in_partitions_and_time(void **state)
{
    (void)state;
    struct fixture made;
    begin(&made, 2);
    set_figure(&made, 0, TUNE_OVER, 0.005);
    expect_horizon(&made,
                   "a makes 100 partitions in 24 hours; 0.5 of them are expected to exceed a limit, the "
                   "first after 2 days.");
    set_figure(&made, 0, TUNE_OVER, 0);
    expect_horizon(&made, "a makes 100 partitions in 24 hours; with 95 % confidence at most 0.4 of them are "
                          "expected to exceed a limit, the first not before 2.50 days.");
    made.entrants[0].over.high = 0;
    expect_horizon(&made, "No partition of a ever exceeds a limit.");
    made.entrants[0].is_fixed = true;
    expect_horizon(&made, "");
    assert_true(cli_contest_needs_buckets(&made.contest));
}

/* The rate doubles each day, so day k has 2^k rows, and eight days together have 2^8 - 1. */
static void test_horizon_includes_the_growth_of_a_trace(void **state)
{
    (void)state;
    static char trace[] = "x.csv";
    struct fixture made;
    begin(&made, 4);
    made.scenario.trace_path = trace;
    made.contest.growth = (struct tune_growth){.weeks = 4, .per_day = log(2)};
    set_figure(&made, 0, TUNE_OVER, 1 / 25500.0);
    for (int i = 1; i < 4; i++)
        made.entrants[i].status = TUNE_HOLDS;
    made.margins[1].entrant = 1, made.margins[2].entrant = 2, made.margins[3].entrant = 3;
    made.contest.margin_count = 4;
    /* The rows of a window grow with the rate, and those of a count do not. The seeds give no bound for the
     * third one. */
    made.entrants[1].is_fixed = made.entrants[2].is_fixed = true;
    made.entrants[1].strategy.settings.strategy.kind = BK_TIME;
    made.seen[1][1].rows_most = 250; /* a quarter of the limit; the mean rate is that of day log2(1 / ln 2) */
    made.entrants[2].has_distribution = true;
    set_figure(&made, 1, TUNE_OVER, 0);
    set_figure(&made, 2, TUNE_OVER, 0);
    set_figure(&made, 3, TUNE_OVER, 0);
    made.entrants[3].over.high = 1 / 6300.0;
    expect_horizon(&made,
                   "a makes 100 partitions in 24 hours; 0.0039 of them are expected to exceed a limit, the "
                   "first after 8 days. First partition over a limit, for other kinds: b "
                   "after 2.53 days, c never, d not before 6 days.");
    made.contest.growth.per_day = 0;
    expect_horizon(&made,
                   "a makes 100 partitions in 24 hours; 0.0039 of them are expected to exceed a limit, the "
                   "first after 255 days. First partition over a limit, for other kinds: c "
                   "never, d not before 63 days.");
}

static void test_horizon_says_when_no_buckets_are_needed(void **state)
{
    (void)state;
    struct fixture made;
    begin(&made, 2);
    made.entrants[0].is_fixed = true;
    made.entrants[1].is_endless = true;
    made.entrants[1].status = TUNE_HOLDS;
    made.seen[1][0].bytes_most = 500; /* 4,000 days, and by rows 1,000 */
    made.seen[1][0].rows_most = 1;
    expect_horizon(&made,
                   "You need no buckets yet: unbucketed is within the limits for 2.74 years more at this "
                   "rate. Run tune again when the largest partition has 500 rows, half the limit.");
    assert_false(cli_contest_needs_buckets(&made.contest));
    assert_true(cli_contest_unbucketed_days(&made.contest) == 999);
    made.scenario.limits.partition_rows = 0;
    made.contest.rows.lasts_ns = 3650 * SIM_DAY;
    expect_horizon(&made,
                   "You need no buckets yet: unbucketed is within the limits for 40K years more at this "
                   "rate. Run tune again when the largest partition has 1\u202FMB, half the limit.");
    static char trace[] = "x.csv";
    made.scenario.trace_path = trace;
    made.contest.growth = (struct tune_growth){.weeks = 521, .per_day = log(2) / 1825};
    expect_horizon(
        &made,
        "You need no buckets yet: unbucketed is within the limits for 57.8 years more at this "
        "trace's growth (its rate doubles every 5 years). Run tune again when the largest partition has "
        "1\u202FMB, half the limit.");
    made.contest.growth.per_day = 0;
    made.seen[1][0].bytes_most = 2000000;
    expect_horizon(&made, "");
    made.seen[1][0].bytes_most = 500;
    made.entrants[1].status = TUNE_FAILS;
    assert_true(cli_contest_needs_buckets(&made.contest));
}

static void test_notes_report_traces_leads_and_what_was_left_out(void **state)
{
    (void)state;
    struct fixture made;
    static char trace[] = "rows.csv";
    begin(&made, 1);
    made.scenario.trace_path = trace;
    made.contest.left_out = 1;
    expect_notes(&made,
                 " The rows come from a trace, at its rate, so a margin by rate cannot be computed; to see a "
                 "margin, lower the limits (--set limits.partition_rows=N). Left out: 1 setting "
                 "that changes during the run, or that the engine cannot simulate.");
    made.scenario.trace_path = NULL;
    made.contest.left_out = 2;
    expect_notes(&made,
                 " Left out: 2 settings that change during the run, or that the engine cannot simulate.");
    made.contest.left_out = 0;
    for (uint32_t i = 0; i < made.entrants[0].seeds; i++)
        made.seen[0][i].closed = 0;
    enum bk_kind *kind = &made.entrants[0].strategy.settings.strategy.kind;
    *kind = BK_COUNT;
    expect_notes(&made,
                 " No partition of a ended within 24 hours, so a longer run may recommend another setting.");
    *kind = BK_UNBUCKETED;
    expect_notes(&made, "");
    made.seen[0][1].closed = 1;
    made.contest.led = 0;
    made.contest.lead = (struct tune_lead){.formula_ns = 1500 * SIM_MS - 1, .safe_ns = -1};
    expect_notes(&made, " The agents of a disagreed with every lead that was tried, even with twice the "
                        "1500ms that caches and clocks require.");
    made.contest.lead.safe_ns = 250 * SIM_MS;
    made.entrants[0].strategy.settings.lead_ns = 1500 * SIM_MS;
    expect_notes(&made,
                 " In the lab, the smallest lead of a without a violation is 250ms, and by its caches, "
                 "clocks and write latency it should be 1500ms: its lead, 1500ms, is long enough.");
    made.entrants[0].strategy.settings.lead_ns = 1000 * SIM_MS;
    expect_notes(&made,
                 " In the lab, the smallest lead of a without a violation is 250ms, and by its caches, "
                 "clocks and write latency it should be 1500ms: its lead, 1s, is too short; "
                 "use 1500ms.");
    made.entrants[0].strategy.settings.lead_ns = 1700 * SIM_MS;
    made.contest.lead.safe_ns = 2000 * SIM_MS;
    expect_notes(&made, " In the lab, the smallest lead of a without a violation is 2s, and by its caches, "
                        "clocks and write latency it should be 1500ms: its lead, 1700ms, is too short; use "
                        "2s.");
}

static void test_refusal_names_the_nearest_and_a_remedy(void **state)
{
    (void)state;
    struct fixture made;
    begin(&made, 3);
    made.entrants[0].status = TUNE_REFUSED;
    expect_refusal(&made, "x.yaml: no setting stays within the limits: the exact distribution excludes every "
                          "one; raise the limits under 'limits', or the "
                          "risk");
    made.entrants[0].status = made.entrants[1].status = made.entrants[2].status = TUNE_FAILS;
    made.entrants[0].is_endless = true;
    set_figure(&made, 1, TUNE_OVER, 0.3);
    set_figure(&made, 2, TUNE_OVER, 0.2);
    for (size_t seed = 0; seed < SEEDS; seed++) {
        made.seen[2][seed].over_rows = 2 - seed;
        made.seen[2][seed].rows_at_risk = 1200 + seed;
        made.seen[2][seed].bytes_at_risk = 2345678 - seed;
    }
    made.entrants[2].over.high = 0.251;
    expect_refusal(&made, "x.yaml: no setting stays within the limits: with c, the nearest, 20 % of "
                          "partitions exceed 1,000 rows; raise "
                          "partition_rows to 1201, or risk to 26%");
    made.seen[2][1].over_bytes = 9;
    made.entrants[2].over.high = 0.51;
    expect_refusal(&made, "x.yaml: no setting stays within the limits: with c, the nearest, 20 % of "
                          "partitions exceed 2MB; raise "
                          "partition_rows to 1201 and partition_bytes to 2400KB");
    made.scenario.limits.partition_rows = 0;
    expect_refusal(&made, "x.yaml: no setting stays within the limits: with c, the nearest, 20 % of "
                          "partitions exceed 2MB; raise "
                          "partition_bytes to 2400KB");
    made.entrants[1].failed = TUNE_FEW_PER_READ;
    expect_refusal(&made, "x.yaml: no setting stays within the limits: with b, the nearest, 1 % of reads "
                          "query 2.50 partitions or more; raise "
                          "tune.partitions_per_read to 3");
    made.entrants[2].failed = TUNE_NOT_TINY;
    set_figure(&made, 2, TUNE_TINY, 0.98);
    for (size_t seed = 0; seed < SEEDS; seed++)
        made.seen[2][seed].tiny = 49;
    expect_refusal(&made, "x.yaml: no setting stays within the limits: with c, the nearest, 98 % of closed "
                          "partitions are tiny; raise "
                          "tune.tiny to 100%, or lower limits.tiny_rows");
    made.entrants[1].failed = made.entrants[2].failed = TUNE_FINDABLE;
    expect_refusal(&made, "x.yaml: no setting stays within the limits: with b, the nearest, readers miss "
                          "rows; add coordination: guarded, "
                          "or remove 'faults'");
}

#define HEADINGS                                                                                             \
    "                              of parts/                over a limit, %\n"                               \
    "setting               cost writes  read    CV    p99   seen  at most\n"
/* With a demand on tiny partitions and one on partitions per read. */
#define DEMANDED                                                                                             \
    "                              of parts/                over a limit, %   tiny,    p99/\n"               \
    "setting               cost writes  read    CV    p99   seen  at most       %    read\n"
#define LEGEND                                                                                               \
    "\ncost: operations in addition to the inserts, and partitions read, in inserts\n"                       \
    "per 1000 rows; of writes: the same without reads; parts/read: partitions per\n"                         \
    "read; CV: coefficient of variation of closed partitions' rows; p99: bytes of all\n"                     \
    "partitions\n"

/* What the table prints. */
static void expect_table(struct fixture *made, const char *text)
{
    char *out = NULL;
    size_t size;
    struct sim_error error;
    FILE *kept = stdout, *stream = open_memstream(&out, &size);
    assert_non_null(stream);
    stdout = stream;
    bool is_fine = cli_contest_table(&made->contest, &error);
    stdout = kept;
    assert_int_equal(fclose(stream), 0);
    assert_true(is_fine);
    assert_string_equal(out, text);
    free(out);
}

static void test_table_has_a_line_for_each_verdict(void **state)
{
    (void)state;
    static char name[] = "x";
    struct fixture made;
    begin(&made, ENTRANTS);
    made.scenario.name = name;
    made.contest.rows.rows = 12345;
    made.contest.race.terms.tiny = 0.05;
    made.contest.race.terms.partitions_per_read = 4;
    for (size_t i = 0; i < ENTRANTS; i++)
        made.entrants[i].is_own = i != 5;
    made.entrants[1].status = TUNE_HOLDS;
    made.entrants[1].is_endless = true;
    set_figure(&made, 1, TUNE_CV, (double)NAN);
    made.entrants[2].status = made.entrants[3].status = TUNE_FAILS;
    made.entrants[2].failed = TUNE_NOT_TINY;
    set_figure(&made, 2, TUNE_OVER, 0.5);
    set_figure(&made, 2, TUNE_TINY, 0.2);
    made.entrants[3].failed = TUNE_FEW_PER_READ;
    set_figure(&made, 3, TUNE_COST_WRITE, 0.0001);
    set_figure(&made, 3, TUNE_OVER, 5e-7);
    made.entrants[4].status = TUNE_REFUSED;
    made.entrants[4].exact_share = 5e-6;
    static char wide[] = "a label of twenty-five b";
    made.entrants[4].strategy.label = wide;
    expect_table(
        &made,
        "x: 5 settings run on the same 12,345 rows, seed by seed; at most 1 % of\n"
        "partitions above 1,000 rows or 2.00MB, at most 5 % of closed ones tiny, at most\n"
        "4 partitions for 99 % of reads\n\n" DEMANDED
        "*a                    1.25  0.25  1.50   0.10  123KB      0     0.4       0    2.50  recommended\n"
        " b                    2.25  1.25  1.50      -  123KB      0     0.4       0    2.50  keeps growing\n"
        " d                    4.25 1e-04  1.50   0.10  123KB  <1e-4     0.4       0    2.50  fails: reads\n"
        " c                    3.25  2.25  1.50   0.10  123KB     50     0.4      20    2.50  fails: tiny\n"
        " a label of twenty-five b\n"
        "                         -     -     -      -      - 0.0005       -       -       -  refused\n"
        " 1 more: 1 dominated; --json lists them\n" LEGEND
        "tiny, %: share of closed partitions with fewer rows than limits.tiny_rows\n"
        "p99/read: partitions that 99 % of reads query at most, mean over the seeds\n"
        "dominated: dropped; one of its kind is as good in writes, CV, parts/read and p99\n"
        "refused: not run; by its exact distribution, too many partitions exceed a limit\n"
        "keeps growing: its partitions never end; within the limits for this run only\n"
        "tiny: too many of its closed partitions are tiny\n"
        "reads: too many partitions per read\n");
    for (size_t i = 1; i < ENTRANTS; i++)
        made.entrants[i].status = TUNE_DOMINATED;
    made.entrants[2].status = made.entrants[5].status = TUNE_FAILS;
    made.entrants[2].failed = made.entrants[5].failed = TUNE_FINDABLE;
    made.scenario.limits.partition_rows = 0;
    made.contest.race.terms.tiny = -1;
    made.contest.race.terms.partitions_per_read = 0;
    for (size_t i = 0; i < ENTRANTS; i++)
        made.entrants[i].is_own = false;
    expect_table(&made, "x: 6 settings run on the same 12,345 rows, seed by seed; at most 1 % of\n"
                        "partitions above 2.00MB\n\n" HEADINGS
                        "*a                    1.25  0.25  1.50   0.10  123KB      0     0.4  recommended\n"
                        " 5 more: 3 dominated, 2 fails; --json lists them\n" LEGEND
                        "dominated: dropped; one of its kind is as good in writes, CV, parts/read and p99\n"
                        "unfound: readers miss rows that are in the table\n");
    static const enum tune_status verdicts[] = {TUNE_RECOMMENDED, TUNE_FRONT, TUNE_HOLDS, TUNE_UNSURE};
    made.contest.race.count = 5;
    for (size_t i = 1; i < 5; i++)
        made.entrants[i].status = i < 4 ? verdicts[i] : TUNE_COSTLY;
    made.entrants[1].is_endless = false;
    made.entrants[1].seeds = 1; /* one seed does not say what others may show */
    made.entrants[1].over.high = 1;
    expect_table(&made, "x: 4 settings run on the same 12,345 rows, seed by seed; at most 1 % of\n"
                        "partitions above 2.00MB\n\n" HEADINGS
                        "*a                    1.25  0.25  1.50   0.10  123KB      0     0.4  recommended\n"
                        " b                    2.25  1.25  1.50      -  123KB      0       -  front\n"
                        " c                    3.25  2.25  1.50   0.10  123KB     50     0.4  in limits\n"
                        " d                    4.25 1e-04  1.50   0.10  123KB  <1e-4     0.4  unsure\n"
                        " 1 more: 1 costly; --json lists them\n" LEGEND
                        "front: none that requires no more is as good in writes, CV, parts/read and p99\n"
                        "in limits: another one is as good in writes, CV, parts/read and p99, or better\n"
                        "unsure: not seen to fail, but too few partitions to show that it is in limits\n"
                        "costly: costs too much, or only cuts larger buckets; run in part or not at all\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sentences_are_cut_at_the_buffer_size),
        cmocka_unit_test(test_cheapest_within_the_limits_is_explained),
        cmocka_unit_test(test_why_says_what_a_strategy_requires),
        cmocka_unit_test(test_why_says_what_is_uneven_and_what_every_row_costs),
        cmocka_unit_test(test_slightly_lower_cost_is_no_reason),
        cmocka_unit_test(test_rivals_are_the_next_cheaper_one_and_the_best_of_other_kinds),
        cmocka_unit_test(test_margins_name_the_limiting_demand),
        cmocka_unit_test(test_margins_name_those_that_no_rate_changes),
        cmocka_unit_test(test_notes_are_empty_without_a_reason),
        cmocka_unit_test(test_notes_say_what_more_seeds_would_do),
        cmocka_unit_test(test_notes_say_when_unbounded_partitions_are_too_large),
        cmocka_unit_test(test_choice_changes_where_costs_are_equal),
        cmocka_unit_test(test_horizon_is_reported_in_partitions_and_time),
        cmocka_unit_test(test_horizon_includes_the_growth_of_a_trace),
        cmocka_unit_test(test_horizon_says_when_no_buckets_are_needed),
        cmocka_unit_test(test_notes_report_traces_leads_and_what_was_left_out),
        cmocka_unit_test(test_table_has_a_line_for_each_verdict),
        cmocka_unit_test(test_refusal_names_the_nearest_and_a_remedy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
