/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: `run` and `tune` judge the limits alike. Method: each shipped scenario runs, and its own strategies
 * race over two seeds; the two verdicts on a strategy must not contradict each other. With the argument
 * `all`, scenarios with agents and long scenarios run at full length; otherwise they are shortened or
 * skipped. */
#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lab/judgment.h"
#include "tune/contest.h"

static bool is_all;
static size_t judged, failed;

enum { PARTS_MAX = 3 };

/* Overrides that shorten the long scenarios by reducing the part that takes their time; returns their
 * number. */
static size_t shortened(const struct lab_scenario *scenario, struct lab_override parts[PARTS_MAX])
{
    if (strcmp(scenario->name, "chat-channels") == 0) {
        parts[0].text = "arrivals.rate=0.1/s";
        parts[1].text = "reads.latest.rate=1/m";
        parts[2].text = "keys.count=300";
        return 3;
    }
    parts[0].text = "arrivals.rate=0.2/s";
    return strcmp(scenario->name, "weighted") == 0 || strncmp(scenario->name, "server-logs", 11) == 0;
}

static struct lab_scenario *load(const char *path)
{
    struct lab_scenario *scenario;
    struct sim_error error = {0};
    if (!lab_scenario_load(path, NULL, 0, NULL, &scenario, &error))
        fail_msg("%s", error.text);
    bool has_limits = scenario->limits.partition_rows != 0 || scenario->limits.partition_bytes != 0;
    bool has_rows = scenario->trace_path == NULL || access(scenario->trace_path, R_OK) == 0;
    if (!has_rows)
        print_message("%s: left out, as its trace is not here\n", path);
    if (!has_rows || !has_limits || scenario->strategy_count == 0 || scenario->identifiers.present ||
        (!is_all && scenario->engine == LAB_ENGINE_CLUSTER)) {
        lab_scenario_destroy(scenario);
        return NULL;
    }
    struct lab_override parts[PARTS_MAX];
    size_t count = is_all ? 0 : shortened(scenario, parts);
    if (count > 0) {
        lab_scenario_destroy(scenario);
        assert_true(lab_scenario_load(path, parts, count, NULL, &scenario, &error));
    }
    return scenario;
}

/* Races only the scenario's own strategies, over two seeds. */
static void race(struct tune_contest *contest, const struct lab_scenario *scenario, struct lab_tune *terms)
{
    struct sim_error error = {0};
    *terms = scenario->tune;
    terms->seeds = 2;
    if (!tune_contest_begin(contest, scenario, terms, 1, NULL, &error))
        fail_msg("%s", error.text);
    for (size_t i = 0; i < contest->race.count; i++) {
        if (!contest->race.entrants[i].is_own)
            contest->race.entrants[i].status = TUNE_REFUSED;
    }
    contest->race.context = contest;
    if (!tune_race_run(&contest->race, 1, NULL, &error))
        fail_msg("%s", error.text);
}

static void compare(const char *path, const struct lab_score *score, const struct tune_entrant *entrant)
{
    bool is_above = score->judgment.within == LAB_EXCEEDS;
    bool tune_holds = entrant->status <= TUNE_HOLDS;
    bool tune_fails = (entrant->status == TUNE_FAILS && entrant->failed == TUNE_IN_LIMITS) ||
                      entrant->status == TUNE_REFUSED;
    /* When `run` finds no partition above a limit, it reports an upper bound that depends on the number of
     * partitions. */
    double seen = entrant->status == TUNE_REFUSED ? entrant->exact_share : tune_mean_of(entrant, TUNE_OVER);
    bool run_denies = score->judgment.within == LAB_WITHIN && score->disqualifiers == 0 &&
                      (isnan(score->judgment.share_most) || score->judgment.share_most < seen);
    judged++;
    if ((is_above && tune_holds) || (tune_fails && run_denies)) {
        print_error("%s: %s: run %s, tune %s\n", path, entrant->strategy.label,
                    is_above ? "exceeded" : "within", tune_status_name(entrant->status));
        failed++;
    }
    if (entrant->status != TUNE_REFUSED && entrant->seen[0].figures[TUNE_OVER] != score->judgment.share) {
        print_error("%s: %s: run and tune saw other shares\n", path, entrant->strategy.label);
        failed++;
    }
}

static void judge(const char *path)
{
    struct lab_scenario *scenario = load(path);
    struct sim_error error = {0};
    struct lab_result *result;
    struct tune_contest contest;
    struct lab_tune terms;
    if (scenario == NULL)
        return;
    if (!lab_run(scenario, 1, NULL, &result, &error))
        fail_msg("%s", error.text);
    race(&contest, scenario, &terms);
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_score score = lab_score_of(result, &result->strategies[i]);
        for (size_t j = 0; j < contest.race.count; j++) {
            const struct tune_entrant *entrant = &contest.race.entrants[j];
            if (entrant->is_own && strcmp(entrant->strategy.label, result->strategies[i].label) == 0)
                compare(path, &score, entrant);
        }
    }
    tune_contest_clear(&contest);
    lab_result_destroy(result);
    lab_scenario_destroy(scenario);
}

static void test_run_and_tune_agree_on_every_scenario(void **state)
{
    (void)state;
    glob_t paths;
    assert_int_equal(glob(BUCKETLAB_SOURCE_DIR "/scenarios/*.yaml", 0, NULL, &paths), 0);
    for (size_t i = 0; i < paths.gl_pathc; i++)
        judge(paths.gl_pathv[i]);
    globfree(&paths);
    print_message("%zu strategies were judged\n", judged);
    assert_true(judged > 15);
    assert_int_equal(failed, 0);
}

int main(int count, char **arguments)
{
    is_all = count > 1 && strcmp(arguments[1], "all") == 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_run_and_tune_agree_on_every_scenario)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
