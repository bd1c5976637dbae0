/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The checks that need no further runs: expectations, guarantees, and what the scenario demands compared with
 * what it demanded when the baseline was made (limits, expectations and the settings of strategies). A gate
 * that can be loosened without a word is none, so what was loosened or removed fails until the baseline is
 * made again. What was tightened is noted. */
#define _POSIX_C_SOURCE 200809L
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cli/text.h"
#include "lab/fuzz.h"
#include "lab/metric.h"
#include "lab/setting.h"
#include "tune/contest.h"

#define CONDITIONS_SIZE (LAB_CONDITION_COUNT * 24)

static const struct lab_strategy_result *strategy_of(const struct lab_result *result,
                                                     const struct lab_metric *metric)
{
    for (size_t i = 0; metric != NULL && i < result->strategy_count; i++) {
        const struct lab_metrics *metrics = &result->strategies[i].metrics;
        for (size_t j = 0; j < metrics->count; j++) {
            if (&metrics->items[j] == metric)
                return &result->strategies[i];
        }
    }
    return NULL;
}

static bool judge_expect(struct cli_checked *item, size_t index)
{
    const struct lab_expect_result *expect = &item->result->expects[index];
    if (!cli_check_begin(item, CLI_CHECK_EXPECT, "%s", expect->text))
        return false;
    if (expect->ok)
        return true;
    const struct lab_metric *metric = lab_result_find(item->result, item->scenario->expects[index].metric);
    const struct lab_strategy_result *strategy = strategy_of(item->result, metric);
    char largest[CLI_LARGEST_SIZE] = "";
    struct cli_about about = {.value = expect->actual, .low = (double)NAN, .high = (double)NAN};
    const char *key = NULL;
    if (strategy != NULL) {
        cli_check_largest(item->result, strategy, metric->name, largest, &key);
        about.label = strategy->label;
        about.name = metric->name;
        about.key = key;
    }
    return cli_check_fail(item, &about, "expected %s, got %.10g%s", expect->text, expect->actual, largest);
}

static bool fail_guarantee(struct cli_checked *item, const struct lab_strategy_result *strategy,
                           enum lab_oracle oracle, struct sim_error *error)
{
    const struct lab_violation *violation = &strategy->verdict.violations[oracle];
    char key[LAB_KEY_NAME_SIZE];
    if (!lab_fuzz_key_name(item->scenario, violation->key, key, error))
        return false;
    struct cli_about about = {.label = strategy->label,
                              .name = lab_oracle_name(oracle),
                              .key = key[0] == '\0' ? NULL : key,
                              .value = (double)violation->count,
                              .low = 0,
                              .high = 0};
    bool is_fine = cli_check_fail(
        item, &about, "%s breaks its guarantee '%s' (%s): %" PRIu64 " violation%s, first %s%s at %.6f s: %s",
        strategy->label, lab_oracle_name(oracle), lab_oracle_about(oracle), violation->count,
        violation->count == 1 ? "" : "s", key[0] == '\0' ? "" : "of key ", key,
        (double)(violation->time_ns - item->result->start_ns) / 1e9, violation->text);
    return is_fine || sim_fail_memory(error);
}

static void conditions_of(uint32_t conditions, char *buffer)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (unsigned i = 0; i < LAB_CONDITION_COUNT; i++) {
        if (conditions >> i & 1)
            used += (size_t)snprintf(buffer + used, CONDITIONS_SIZE - used, "%s%s", used == 0 ? "" : ", ",
                                     lab_condition_name((enum lab_condition)i));
    }
}

static bool judge_guarantee(struct cli_checked *item, const struct lab_strategy_result *strategy,
                            enum lab_oracle oracle, struct sim_error *error)
{
    enum bk_kind kind = lab_settings_kind(&strategy->settings);
    unsigned protocol = lab_settings_protocol(&strategy->settings);
    const struct lab_guarantee *guarantee = lab_guarantee_find(kind, protocol, oracle);
    const struct lab_verdict *verdict = &strategy->verdict;
    if (guarantee == NULL || !verdict->is_judged[oracle])
        return true;
    if (!cli_check_begin(item, CLI_CHECK_GUARANTEE, "%s keeps %s", strategy->label, lab_oracle_name(oracle)))
        return sim_fail_memory(error);
    if (lab_guarantee_is_broken(kind, protocol, oracle, verdict))
        return fail_guarantee(item, strategy, oracle, error);
    uint32_t excuses = 0;
    for (uint32_t i = 0; i < verdict->violations[oracle].excuse_count; i++)
        excuses |= verdict->violations[oracle].excuses[i];
    char conditions[CONDITIONS_SIZE];
    conditions_of(excuses, conditions);
    return excuses == 0 || cli_check_excuse(item, conditions) || sim_fail_memory(error);
}

struct tuning {
    const struct lab_scenario *scenario;
    uint32_t workers;
    struct tune_contest contest;
};

static bool tune(void *context, struct lab_progress *progress, struct sim_error *error)
{
    struct tuning *tuning = context;
    return tune_contest_begin(&tuning->contest, tuning->scenario, &tuning->scenario->tune, tuning->workers,
                              NULL, error) &&
           tune_contest_run(&tuning->contest, tuning->workers, progress, error);
}

/* Adds an expectation about tune's answer to those of the run, so that a baseline has it. */
static bool keep_expect(struct lab_result *result, const char *text, bool ok)
{
    struct lab_expect_result *grown =
        realloc(result->expects, (result->expect_count + 1) * sizeof *result->expects);
    if (grown == NULL)
        return false;
    result->expects = grown;
    struct lab_expect_result *added = &grown[result->expect_count];
    *added = (struct lab_expect_result){.text = strdup(text), .actual = (double)NAN, .ok = ok};
    result->expect_count += added->text != NULL;
    result->expects_hold = result->expects_hold && ok;
    return added->text != NULL;
}

static bool judge_answer(struct cli_checked *item, const struct tune_contest *contest)
{
    for (size_t i = 0; i < item->scenario->tune_expect_count; i++) {
        const struct lab_tune_expect *expect = &item->scenario->tune_expects[i];
        const char *label = tune_contest_best(contest, expect->kind);
        if (!keep_expect(item->result, expect->text, lab_tune_expect_holds(expect, label)))
            return false;
        const struct cli_about about = {.name = "tune", CLI_NO_FIGURE};
        if (!cli_check_begin(item, CLI_CHECK_EXPECT, "%s", expect->text))
            return false;
        if (!lab_tune_expect_holds(expect, label) &&
            !cli_check_fail(item, &about, "expected %s, got %s, as 'bucketlab tune' shows", expect->text,
                            label == NULL ? "none" : label))
            return false;
    }
    return true;
}

bool cli_check_tune(struct cli_gate *gate, struct cli_checked *item, struct sim_error *error)
{
    if (item->scenario->tune_expect_count == 0)
        return true;
    struct tuning tuning = {.scenario = item->scenario, .workers = gate->workers};
    const struct cli_task task = {
        .name = "tune", .unit = "runs/s", .is_quiet = gate->is_quiet, .run = tune, .context = &tuning};
    int64_t elapsed_ms;
    bool is_fine = cli_attend(&task, &gate->signals, &elapsed_ms, error) &&
                   (judge_answer(item, &tuning.contest) || sim_fail_memory(error));
    tune_contest_clear(&tuning.contest);
    return is_fine;
}

bool cli_check_judge(struct cli_checked *item, struct sim_error *error)
{
    const struct lab_result *result = item->result;
    for (size_t i = 0; i < result->expect_count; i++) {
        if (!judge_expect(item, i))
            return sim_fail_memory(error);
    }
    for (size_t i = 0; i < result->strategy_count; i++) {
        for (int oracle = 0; oracle < LAB_ORACLE_COUNT; oracle++) {
            if (!judge_guarantee(item, &result->strategies[i], (enum lab_oracle)oracle, error))
                return false;
        }
    }
    return true;
}

/* Whether a metric is about large partitions, and in which unit. */
static bool unit_of(const struct lab_result *result, const struct lab_strategy_result *strategy,
                    const char *metric, enum lab_size_unit *unit)
{
    static const char *const small[] = {".min", ".p001", ".p01"};
    size_t length = strlen(metric);
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        size_t size = strlen(small[i]);
        if (length > size && strcmp(metric + length - size, small[i]) == 0)
            return false;
    }
    const struct lab_metric_row *row = lab_metric_row_of(metric);
    if (row == NULL || row->largest == LAB_LARGEST_NONE)
        return false;
    *unit = row->largest == LAB_LARGEST_BYTES ? LAB_IN_BYTES : LAB_IN_ROWS;
    /* The unit of the limit that is exceeded. */
    if (row->largest == LAB_LARGEST_EITHER &&
        (result->limits.partition_rows == 0 ||
         strategy->largest[LAB_IN_ROWS].size <= result->limits.partition_rows))
        *unit = LAB_IN_BYTES;
    return true;
}

void cli_check_largest(const struct lab_result *result, const struct lab_strategy_result *strategy,
                       const char *metric, char *buffer, const char **key)
{
    enum lab_size_unit unit;
    buffer[0] = '\0';
    *key = NULL;
    if (!unit_of(result, strategy, metric, &unit) || strategy->largest[unit].size == 0)
        return;
    const struct lab_largest *largest = &strategy->largest[unit];
    char size[CLI_NUMBER_SIZE];
    if (unit == LAB_IN_BYTES)
        cli_compact_bytes((double)largest->size, size);
    else
        cli_grouped(largest->size, size);
    *key = largest->key;
    snprintf(buffer, CLI_LARGEST_SIZE, " (largest: key %s, bucket %" PRId64 ", %s%s)", largest->key,
             largest->bucket, size, unit == LAB_IN_BYTES ? "" : " rows");
}

#define SETTINGS_SIZE 4096

/* How a demand compares with the baseline's, from the least similar to the most. */
enum relation { OTHER, LOOSER, TIGHTER, SAME };

static enum relation relation_of(double one, double now, int looser)
{
    if (fabs(one - now) <= DBL_EPSILON * fabs(one) || (isinf(one) && isinf(now)))
        return SAME;
    return looser == 0 || (now > one) == (looser > 0) ? LOOSER : TIGHTER;
}

static double limit_of(uint64_t limit)
{
    return limit == 0 ? (double)INFINITY : (double)limit;
}

static bool check_limits(struct cli_checked *item)
{
    const struct lab_limits *one = &item->held.result->limits, *now = &item->result->limits;
    const struct {
        const char *name;
        double one, now;
        int looser; /* 1: a larger value is looser; -1: a smaller one; 0: any other */
    } limits[] = {
        {"limits.partition_rows", limit_of(one->partition_rows), limit_of(now->partition_rows), 1},
        {"limits.partition_bytes", limit_of(one->partition_bytes), limit_of(now->partition_bytes), 1},
        {"limits.tiny_rows", (double)one->tiny_rows, (double)now->tiny_rows, -1},
        {"limits.over_limit_share", one->over_limit_share, now->over_limit_share, 1},
        {"tune.confidence", one->confidence, now->confidence, 0},
    };
    bool is_fine = true;
    for (size_t i = 0; is_fine && i < sizeof limits / sizeof *limits; i++) {
        enum relation relation = relation_of(limits[i].one, limits[i].now, limits[i].looser);
        const struct cli_about about = {
            .name = limits[i].name, .value = limits[i].now, .low = limits[i].one, .high = limits[i].one};
        if (relation == LOOSER && isinf(limits[i].now))
            is_fine = cli_check_fail(item, &about, "%s was removed; the baseline has %.10g", limits[i].name,
                                     limits[i].one);
        else if (relation == LOOSER)
            is_fine = cli_check_fail(item, &about, "%s was loosened: %.10g, baseline %.10g", limits[i].name,
                                     limits[i].now, limits[i].one);
        else if (relation == TIGHTER)
            is_fine = cli_check_note(item, "%s was tightened: %.10g, baseline %.10g", limits[i].name,
                                     limits[i].now, limits[i].one);
    }
    for (size_t i = 0; is_fine && i < lab_price_count; i++) {
        const struct lab_price *price = &lab_price_table[i];
        double old = lab_price_of(&item->held.result->prices, price);
        double new = lab_price_of(&item->result->prices, price);
        const struct cli_about about = {.name = price->name, .value = new, .low = old, .high = old};
        if (relation_of(old, new, 0) != SAME)
            is_fine = cli_check_fail(item, &about, "the price '%s' is %.10g, baseline %.10g", price->name,
                                     new, old);
    }
    return is_fine;
}

static enum relation relation_of_expects(const char *one, const char *now)
{
    struct lab_expect old, new;
    if (strcmp(one, now) == 0)
        return SAME;
    bool is_fine = lab_expect_parse(one, &old) == NULL;
    is_fine = lab_expect_parse(now, &new) == NULL && is_fine;
    static const int looser[] = {[LAB_LESS] = 1,           [LAB_LESS_EQUAL] = 1, [LAB_GREATER] = -1,
                                 [LAB_GREATER_EQUAL] = -1, [LAB_EQUAL] = 0,      [LAB_NOT_EQUAL] = 0};
    enum relation relation = is_fine && strcmp(old.metric, new.metric) == 0 && old.compare == new.compare
                                 ? relation_of(old.value, new.value, looser[old.compare])
                                 : OTHER;
    lab_expect_clear(&old);
    lab_expect_clear(&new);
    return relation;
}

/* Finds the expectation of `result` that is most like this one of the other result. */
static enum relation find_expect(const struct lab_result *result, const char *text, bool is_old,
                                 const char **found)
{
    enum relation most = OTHER;
    for (size_t i = 0; i < result->expect_count; i++) {
        const char *other = result->expects[i].text;
        enum relation relation = is_old ? relation_of_expects(text, other) : relation_of_expects(other, text);
        if (relation > most) {
            most = relation;
            *found = other;
        }
    }
    return most;
}

static bool check_expects(struct cli_checked *item)
{
    const struct lab_result *one = item->held.result, *now = item->result;
    const struct cli_about about = {.name = "expect", CLI_NO_FIGURE};
    bool is_fine = true;
    for (size_t i = 0; is_fine && i < one->expect_count; i++) {
        const char *text = one->expects[i].text, *found = "";
        switch (find_expect(now, text, true, &found)) {
        case OTHER:
            is_fine = cli_check_fail(item, &about, "the expectation '%s' was removed", text);
            break;
        case LOOSER:
            is_fine =
                cli_check_fail(item, &about, "an expectation was loosened: '%s', baseline '%s'", found, text);
            break;
        case TIGHTER:
            is_fine = cli_check_note(item, "an expectation was tightened: '%s', baseline '%s'", found, text);
            break;
        case SAME:
            break;
        }
    }
    for (size_t i = 0; is_fine && i < now->expect_count; i++) {
        const char *text = now->expects[i].text, *found;
        if (find_expect(one, text, false, &found) == OTHER)
            is_fine = cli_check_fail(item, &about, "the baseline does not have the expectation '%s'", text);
    }
    return is_fine;
}

static bool check_settings(struct cli_checked *item, const struct lab_strategy_result *one,
                           const struct lab_strategy_result *now)
{
    char old[SETTINGS_SIZE], new[SETTINGS_SIZE];
    const struct cli_about about = {.label = now->label, .name = "strategy", CLI_NO_FIGURE};
    lab_settings_text(&one->settings, old, sizeof old);
    lab_settings_text(&now->settings, new, sizeof new);
    const char *old_kind = lab_result_kind(one), *new_kind = lab_result_kind(now);
    return (strcmp(old, new) == 0 && strcmp(old_kind, new_kind) == 0) ||
           cli_check_fail(item, &about, "the strategy %s is another: %s {%s}, baseline %s {%s}", now->label,
                          new_kind, new, old_kind, old);
}

bool cli_check_terms(struct cli_checked *item, struct sim_error *error)
{
    const struct lab_result *one = item->held.result, *now = item->result;
    const struct cli_about about = {.name = "baseline", CLI_NO_FIGURE};
    bool is_fine = cli_check_begin(item, CLI_CHECK_BASELINE, "scenario");
    if (is_fine && item->held.info.scenario_text == NULL)
        is_fine = cli_check_fail(item, &about, "the baseline does not have the scenario's text");
    is_fine = is_fine && check_limits(item) && check_expects(item);
    for (size_t i = 0; is_fine && i < now->strategy_count; i++) {
        const struct lab_strategy_result *old = cli_check_strategy(one, now->strategies[i].label);
        is_fine = old == NULL || check_settings(item, old, &now->strategies[i]);
    }
    return is_fine || sim_fail_memory(error);
}
