/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: `run` and `tune` judge the limits alike. Method: each shipped scenario runs, and its own strategies
 * race with the same seed; the two verdicts on a strategy are the same, and are known in the same way. With
 * the argument `all`, scenarios with agents and long scenarios run at full length; otherwise they are
 * shortened or skipped. */
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
#include "tune/expected.h"

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

/* Races only the scenario's own strategies, with one seed. */
static void race(struct tune_contest *contest, const struct lab_scenario *scenario)
{
    struct sim_error error = {0};
    struct lab_tune terms = scenario->tune;
    terms.seeds = 1;
    if (!tune_contest_begin(contest, scenario, &terms, 1, NULL, &error))
        fail_msg("%s", error.text);
    size_t count = 0;
    for (size_t i = 0; i < contest->count; i++) {
        if (contest->entrants[i].is_own)
            contest->entrants[count++] = contest->entrants[i];
        else
            free(contest->entrants[i].strategy.label);
    }
    contest->count = count;
    if (!tune_race(contest, 1, NULL, &error))
        fail_msg("%s", error.text);
}

static void compare(const char *path, const struct lab_score *score, const struct tune_entrant *entrant)
{
    static const char *const words[] = {"not judged", "within", "exceeds"};
    judged++;
    if (entrant->judgment.within != score->judgment.within ||
        (entrant->seeds > 0 &&
         (entrant->judgment.over != score->judgment.over || entrant->judgment.by != score->judgment.by ||
          entrant->disqualifiers != score->disqualifiers))) {
        print_error("%s: %s: run %s (%s), tune %s (%s)\n", path, entrant->strategy.label,
                    words[score->judgment.within], lab_judged_by_name(score->judgment.by),
                    words[entrant->judgment.within], lab_judged_by_name(entrant->judgment.by));
        failed++;
    }
}

static void judge(const char *path)
{
    struct lab_scenario *scenario = load(path);
    struct sim_error error = {0};
    struct lab_result *result;
    struct tune_contest contest;
    if (scenario == NULL)
        return;
    if (!lab_run(scenario, 1, NULL, &result, &error) || !tune_horizons_add(scenario, result, &error))
        fail_msg("%s", error.text);
    race(&contest, scenario);
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_score score = lab_score_of(result, &result->strategies[i]);
        for (size_t j = 0; j < contest.count; j++) {
            const struct tune_entrant *entrant = &contest.entrants[j];
            if (strcmp(entrant->strategy.label, result->strategies[i].label) == 0)
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
