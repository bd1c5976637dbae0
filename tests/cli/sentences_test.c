/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the notes, refusals and words of `tune SCENARIO` describe the result of the race correctly. Method:
 * constructed contests, with a case for each sentence that may appear or be omitted; whole texts are
 * compared. (tests/reports/answer_test.c has the answer itself.) */
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
    char labels[ENTRANTS][8];
};

/* "a" is recommended. The others are more expensive and do not matter. */
static void begin(struct fixture *made, size_t count)
{
    static char path[] = "x.yaml";
    memset(made, 0, sizeof *made);
    made->scenario.path = path;
    made->scenario.limits = (struct lab_limits){.partition_rows = 1000, .partition_bytes = 2000000};
    made->contest =
        (struct tune_contest){.scenario = &made->scenario,
                              .led = SIZE_MAX,
                              .terms = {.share = 0.01, .tiny = -1, .confidence = 0.95, .seeds = SEEDS},
                              .entrants = made->entrants,
                              .count = count};
    made->contest.outlook = (struct tune_outlook){.scenario = &made->scenario, .days = 1};
    for (size_t i = 0; i < count; i++) {
        struct tune_entrant *entrant = &made->entrants[i];
        *entrant = (struct tune_entrant){.base = "",
                                         .status = i == 0 ? TUNE_RECOMMENDED : TUNE_WITHIN,
                                         .seen = made->seen[i],
                                         .seeds = SEEDS,
                                         .judgment = {.within = LAB_WITHIN, .share_most = 0.004}};
        snprintf(made->labels[i], sizeof made->labels[i], "%c", (char)('a' + i));
        entrant->strategy.label = made->labels[i];
        for (size_t seed = 0; seed < SEEDS; seed++) {
            made->seen[i][seed] = (struct tune_seen){.closed = 50, .candidate.cv = 0.1};
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

static void expect_notes(const struct fixture *made, const char *text)
{
    g_autoptr(GString) said = g_string_new("");
    cli_contest_notes(&made->contest, said);
    assert_string_equal(said->str, text);
}

static void expect_refusal(struct fixture *made, const char *text)
{
    struct sim_error error;
    made->contest.recommended = SIZE_MAX;
    assert_false(cli_contest_refuse(&made->contest, &error));
    assert_int_equal(error.class, SIM_ERROR_CHECK);
    assert_string_equal(error.text, text);
}

static void test_notes_report_leads_and_what_was_left_out(void **state)
{
    (void)state;
    struct fixture made;
    begin(&made, 1);
    expect_notes(&made, "");
    made.contest.left_out = 2;
    expect_notes(&made,
                 "Left out: 2 settings that change during the run, or that the engine cannot simulate.");
    made.contest.left_out = 0;
    for (uint32_t i = 0; i < made.entrants[0].seeds; i++)
        made.seen[0][i].closed = 0;
    enum bk_kind *kind = &made.entrants[0].strategy.settings.strategy.kind;
    *kind = BK_KIND_COUNT;
    expect_notes(&made,
                 "No partition of a ended within 24 hours, so a longer run may recommend another setting.");
    *kind = BK_KIND_UNBUCKETED;
    expect_notes(&made, "");
    made.seen[0][1].closed = 1;
    made.contest.led = 0;
    made.scenario.agents.cache_ttl_ns = 1000 * SIM_MS;
    made.scenario.agents.clock_bound_ns = 200 * SIM_MS;
    set_figure(&made, 0, TUNE_WRITE_P999, 99.5);
    made.entrants[0].strategy.settings.lead_ns = 1500 * SIM_MS;
    expect_notes(&made, "By its caches, clocks and write latency, the lead of a must be at least 1500ms: its "
                        "lead, 1500ms, is long enough.");
    made.entrants[0].strategy.settings.lead_ns = 1000 * SIM_MS;
    expect_notes(&made, "By its caches, clocks and write latency, the lead of a must be at least 1500ms: its "
                        "lead, 1s, is too short; use 1500ms.");
}

#define NONE "x.yaml: no setting stays within the limits: "

static void test_refusal_names_the_nearest_and_a_remedy(void **state)
{
    (void)state;
    struct fixture made;
    begin(&made, 3);
    for (size_t i = 0; i < 3; i++) {
        made.entrants[i].status = TUNE_EXCEEDS;
        made.entrants[i].seeds = 0;
    }
    expect_refusal(&made,
                   NONE "the distribution excludes every one; raise the limits under 'limits', or the risk");
    made.entrants[1].seeds = made.entrants[2].seeds = SEEDS;
    set_figure(&made, 1, TUNE_OVER, 0.3);
    set_figure(&made, 2, TUNE_OVER, 0.2);
    for (size_t seed = 0; seed < SEEDS; seed++) {
        made.seen[2][seed].rows_most = 1200 + seed;
        made.seen[2][seed].bytes_most = 2345678 - seed;
    }
    made.entrants[2].judgment.over_of[LAB_IN_ROWS] = 3;
    made.entrants[2].judgment.share_most = 0.251;
    expect_refusal(&made, NONE "with c, the nearest, 20% of partitions exceed 1,000 rows; raise "
                               "partition_rows to 1201, or risk to 25.1%");
    made.entrants[2].judgment.over_of[LAB_IN_BYTES] = 9;
    made.entrants[2].judgment.share_most = 0.51;
    expect_refusal(&made, NONE "with c, the nearest, 20% of partitions exceed 2MB; raise partition_rows to "
                               "1201 and partition_bytes to 2345678B");
    made.entrants[1].status = TUNE_DISQUALIFIED;
    made.entrants[1].failed = TUNE_FEW_PER_READ;
    expect_refusal(&made, NONE "with b, the nearest, 3 partitions or more are queried by 1% of the reads; "
                               "raise tune.partitions_per_read to 3");
    made.entrants[2].status = TUNE_DISQUALIFIED;
    made.entrants[2].failed = TUNE_NOT_TINY;
    set_figure(&made, 2, TUNE_TINY, 0.98);
    expect_refusal(&made, NONE "with c, the nearest, 98% of closed partitions are tiny; raise tune.tiny to "
                               "98%, or lower limits.tiny_rows");
    made.entrants[1].failed = made.entrants[2].failed = TUNE_FINDABLE;
    expect_refusal(&made, NONE "with b, the nearest, readers miss rows; add coordination: guarded, or remove "
                               "'faults'");
    made.entrants[2].failed = TUNE_ANSWERED;
    made.entrants[1].failed = TUNE_AVAILABLE;
    made.seen[1][1].refused = 0.25;
    expect_refusal(&made,
                   NONE "with b, the nearest, 25% of the rows are refused although nothing has failed; "
                        "raise agents.timeout or agents.retries, or add coordination: guarded");
    made.entrants[2].status = TUNE_NOT_JUDGED;
    expect_refusal(&made, NONE "with c, the nearest, 20% of partitions are seen to exceed a limit, which are "
                               "too few to tell; raise --seeds or duration");
}

/* The words of the table: what it prints for each, and that the legend has only those that occur. */
static void test_table_has_a_word_for_each_verdict(void **state)
{
    static const char *const words[] = {" recommended\n", " within\n", " exceeds\n", " unfound\n",
                                        " grows\n"};
    (void)state;
    struct fixture made;
    char *out = NULL, name[] = "made";
    size_t size;
    begin(&made, 5);
    made.scenario.name = name;
    made.entrants[2].status = TUNE_EXCEEDS;
    made.entrants[3].status = TUNE_DISQUALIFIED;
    made.entrants[3].failed = TUNE_FINDABLE;
    made.entrants[4].is_endless = true;
    for (size_t i = 0; i < 5; i++)
        made.entrants[i].is_own = true;
    FILE *kept = stdout, *stream = open_memstream(&out, &size);
    assert_non_null(stream);
    stdout = stream;
    cli_contest_table(&made.contest);
    stdout = kept;
    assert_int_equal(fclose(stream), 0);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_non_null(strstr(out, words[i]));
    assert_non_null(strstr(out, "\nunfound: readers miss rows"));
    assert_non_null(strstr(out, "\ngrows: "));
    assert_null(strstr(out, "\ncostly: "));
    assert_null(strstr(out, "\nrefuses: "));
    assert_non_null(
        strstr(out, "> a                   1.25   0.25   1.50 0.10 123KB   0%   0.40% recommended\n"));
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_notes_report_leads_and_what_was_left_out),
        cmocka_unit_test(test_refusal_names_the_nearest_and_a_remedy),
        cmocka_unit_test(test_table_has_a_word_for_each_verdict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
