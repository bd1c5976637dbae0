/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the checks that need no baseline: expectations and guarantees. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cli/text.h"
#include "lab/fuzz.h"
#include "lab/metric.h"
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
