/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Judges the runs of a check: by expectations and guarantees, by what the scenario demands compared with what
 * it demanded when the baseline was made, and by the stored baseline; and makes a new one.
 *
 * A gate that can be loosened without a word is none, so a limit, an expectation or a strategy that is not
 * the baseline's fails until the baseline is made again.
 *
 * A metric has drifted when it is outside the interval of its baseline, on the same side, at several seeds in
 * sequence. One seed proves nothing: an effect of a fault or a burst on a tail may occur at one seed in ten,
 * and the few seeds of a baseline may not have had it. But if the distribution has not changed, the
 * probability that m new values are all below, or all above, n old values is 2 / C(n + m, n), whatever the
 * distribution is; over many metrics it is at most the sum, however they are correlated. So m is the smallest
 * number with which the probability of any false alarm in the whole check is below FALSE_ALARM. The cost is
 * small if nothing has drifted, since a suspect is dropped at the first seed that clears it. */
#define _POSIX_C_SOURCE 200809L
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cli/base.h"
#include "cli/run.h"
#include "lab/fuzz.h"
#include "lab/metric.h"
#include "lab/setting.h"
#include "tune/contest.h"
#include "tune/sample.h"

#define LARGEST_SIZE (LAB_KEY_NAME_SIZE + 96)
static const struct lab_strategy_result *strategy_named(const struct lab_result *result, const char *label)
{
    for (size_t i = 0; i < result->strategy_count; i++) {
        if (strcmp(result->strategies[i].label, label) == 0)
            return &result->strategies[i];
    }
    return NULL;
}

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

/* " (largest: key K, bucket 4, 35,112 rows)" for a figure about the sizes of partitions, else "";
 * *key is then the name, else NULL. */
static void tell_largest(const struct lab_result *result, const struct lab_strategy_result *strategy,
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
    snprintf(buffer, LARGEST_SIZE, " (largest: key %s, bucket %" PRId64 ", %s%s)", largest->key,
             largest->bucket, size, unit == LAB_IN_BYTES ? "" : " rows");
}

static void judge_expect(struct cli_checked *item, size_t index)
{
    const struct lab_expect_result *expect = &item->result->expects[index];
    cli_check_begin(item, "expect", "%s", expect->text);
    if (expect->ok)
        return;
    const struct lab_metric *metric = lab_result_find(item->result, item->scenario->expects[index].metric);
    const struct lab_strategy_result *strategy = strategy_of(item->result, metric);
    char largest[LARGEST_SIZE] = "";
    struct cli_about about = {.value = expect->actual, .low = (double)NAN, .high = (double)NAN};
    const char *key = NULL;
    if (strategy != NULL) {
        tell_largest(item->result, strategy, metric->name, largest, &key);
        about.label = strategy->label;
        about.name = metric->name;
        about.key = key;
    }
    cli_check_fail(item, &about, "expected %s, got %.10g%s", expect->text, expect->actual, largest);
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
    cli_check_fail(item, &about,
                   "%s breaks its guarantee '%s' (%s): %" PRIu64 " violation%s, first %s%s at %.6f s: %s",
                   strategy->label, lab_oracle_name(oracle), lab_oracle_about(oracle), violation->count,
                   violation->count == 1 ? "" : "s", key[0] == '\0' ? "" : "of key ", key,
                   (double)(violation->time_ns - item->result->start_ns) / 1e9, violation->text);
    return true;
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
    cli_check_begin(item, "guarantee", "%s keeps %s", strategy->label, lab_oracle_name(oracle));
    if (lab_guarantee_is_broken(kind, protocol, oracle, verdict))
        return fail_guarantee(item, strategy, oracle, error);
    uint32_t excuses = 0;
    for (uint32_t i = 0; i < verdict->violations[oracle].excuse_count; i++)
        excuses |= verdict->violations[oracle].excuses[i];
    g_autoptr(GString) conditions = g_string_new("");
    for (unsigned i = 0; i < LAB_CONDITION_COUNT; i++) {
        if (excuses >> i & 1)
            g_string_append_printf(conditions, "%s%s", conditions->len == 0 ? "" : ", ",
                                   lab_condition_name((enum lab_condition)i));
    }
    if (excuses != 0)
        cli_check_excuse(item, conditions->str);
    return true;
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
static void keep_expect(struct lab_result *result, const char *text, bool ok)
{
    result->expects = g_renew(struct lab_expect_result, result->expects, result->expect_count + 1);
    result->expects[result->expect_count++] =
        (struct lab_expect_result){.text = g_strdup(text), .actual = (double)NAN, .ok = ok};
    result->expects_hold = result->expects_hold && ok;
}

static void judge_answer(struct cli_checked *item, const struct tune_contest *contest)
{
    const struct cli_about about = {.name = "tune", CLI_NO_FIGURE};
    for (size_t i = 0; i < item->scenario->tune_expect_count; i++) {
        const struct lab_tune_expect *expect = &item->scenario->tune_expects[i];
        const char *label = tune_contest_best(contest, expect->kind);
        const bool ok = lab_tune_expect_holds(expect, label);
        keep_expect(item->result, expect->text, ok);
        cli_check_begin(item, "expect", "%s", expect->text);
        if (!ok)
            cli_check_fail(item, &about, "expected %s, got %s, as 'bucketlab tune' shows", expect->text,
                           label == NULL ? "none" : label);
    }
}

bool cli_check_tune(struct cli_gate *gate, struct cli_checked *item, struct sim_error *error)
{
    if (item->scenario->tune_expect_count == 0)
        return true;
    struct tuning tuning = {.scenario = item->scenario, .workers = gate->args->jobs};
    const struct cli_task task = {.name = "tune", .unit = "runs/s", .run = tune, .context = &tuning};
    bool is_fine = cli_attend(gate->args, &task, NULL, error);
    if (is_fine)
        judge_answer(item, &tuning.contest);
    tune_contest_clear(&tuning.contest);
    return is_fine;
}

bool cli_check_judge(struct cli_checked *item, struct sim_error *error)
{
    const struct lab_result *result = item->result;
    for (size_t i = 0; i < result->expect_count; i++)
        judge_expect(item, i);
    for (size_t i = 0; i < result->strategy_count; i++) {
        for (int oracle = 0; oracle < LAB_ORACLE_COUNT; oracle++) {
            if (!judge_guarantee(item, &result->strategies[i], (enum lab_oracle)oracle, error))
                return false;
        }
    }
    return true;
}

#define SETTINGS_SIZE 4096

/* A number of the scenario that the baseline has too. */
static void check_term(struct cli_checked *item, const char *name, double one, double now)
{
    const struct cli_about about = {.name = name, .value = now, .low = one, .high = one};
    if (fabs(one - now) > DBL_EPSILON * fabs(one))
        cli_check_fail(item, &about, "%s is %.10g, baseline %.10g", name, now, one);
}

/* A limit of 0 is none. */
static void check_limits(struct cli_checked *item)
{
    const struct lab_limits *one = &item->held.result->limits, *now = &item->result->limits;
    check_term(item, "limits.partition_rows", (double)one->partition_rows, (double)now->partition_rows);
    check_term(item, "limits.partition_bytes", (double)one->partition_bytes, (double)now->partition_bytes);
    check_term(item, "limits.partition_writes", one->rate[LAB_RATE_WRITES], now->rate[LAB_RATE_WRITES]);
    check_term(item, "limits.partition_reads", one->rate[LAB_RATE_READS], now->rate[LAB_RATE_READS]);
    check_term(item, "limits.tiny_rows", (double)one->tiny_rows, (double)now->tiny_rows);
    check_term(item, "limits.over_limit_share", one->over_limit_share, now->over_limit_share);
    check_term(item, "tune.confidence", one->confidence, now->confidence);
    for (size_t i = 0; i < lab_price_count; i++) {
        const struct lab_price *price = &lab_price_table[i];
        g_autofree char *name = g_strdup_printf("the price '%s'", price->name);
        check_term(item, name, lab_price_of(&item->held.result->prices, price),
                   lab_price_of(&item->result->prices, price));
    }
}

/* Fails for each expectation of one result that the other does not have. */
static void check_expects(struct cli_checked *item, const struct lab_result *one,
                          const struct lab_result *other, const char *what)
{
    const struct cli_about about = {.name = "expect", CLI_NO_FIGURE};
    for (size_t i = 0; i < one->expect_count; i++) {
        bool is_found = false;
        for (size_t k = 0; k < other->expect_count; k++)
            is_found = is_found || strcmp(one->expects[i].text, other->expects[k].text) == 0;
        if (!is_found)
            cli_check_fail(item, &about, "%s '%s'", what, one->expects[i].text);
    }
}

static void check_settings(struct cli_checked *item, const struct lab_strategy_result *one,
                           const struct lab_strategy_result *now)
{
    char old[SETTINGS_SIZE], new[SETTINGS_SIZE];
    const struct cli_about about = {.label = now->label, .name = "strategy", CLI_NO_FIGURE};
    lab_settings_text(&one->settings, old, sizeof old);
    lab_settings_text(&now->settings, new, sizeof new);
    const char *old_kind = lab_result_kind(one), *new_kind = lab_result_kind(now);
    if (strcmp(old, new) != 0 || strcmp(old_kind, new_kind) != 0)
        cli_check_fail(item, &about, "the strategy %s is another: %s {%s}, baseline %s {%s}", now->label,
                       new_kind, new, old_kind, old);
}

static void check_terms(struct cli_checked *item)
{
    const struct lab_result *one = item->held.result, *now = item->result;
    const struct cli_about about = {.name = "baseline", CLI_NO_FIGURE};
    cli_check_begin(item, "baseline", "scenario");
    if (item->held.info.scenario_text == NULL)
        cli_check_fail(item, &about, "the baseline does not have the scenario's text");
    check_limits(item);
    check_expects(item, one, now, "the run does not have the expectation");
    check_expects(item, now, one, "the baseline does not have the expectation");
    for (size_t i = 0; i < now->strategy_count; i++) {
        const struct lab_strategy_result *old = strategy_named(one, now->strategies[i].label);
        if (old != NULL)
            check_settings(item, old, &now->strategies[i]);
    }
}

/* --- the baseline */

#define FALSE_ALARM 1e-3
/* Sums may be rounded differently on another processor. */
#define ROUNDING 1e-9

static int side_of(const struct store_baseline_metric *metric, double value)
{
    double slack = ROUNDING * fabs(metric->mean);
    return value < metric->low - slack ? -1 : value > metric->high + slack ? 1 : 0;
}

void cli_check_suspect(struct cli_checked *item)
{
    const struct store_baseline *held = &item->held;
    if (!item->has_baseline || item->is_exact)
        return;
    item->suspects = g_new0(struct cli_suspect, held->metric_count);
    for (size_t i = 0; i < held->metric_count; i++) {
        const struct store_baseline_metric *metric = &held->metrics[i];
        const struct lab_strategy_result *now = strategy_named(item->result, metric->label);
        if (now == NULL)
            continue;
        const struct lab_metric *figure = lab_metrics_find(&now->metrics, metric->name);
        struct cli_suspect suspect = {.metric = metric,
                                      .value = figure == NULL ? (double)NAN : figure->value};
        suspect.side = figure == NULL ? 0 : side_of(metric, figure->value);
        bool is_gone = figure == NULL && metric->count == held->seeds;
        if (is_gone || suspect.side != 0)
            item->suspects[item->suspect_count++] = suspect;
    }
    item->suspects_left = item->suspect_count;
}

static bool is_wanted(const struct cli_checked *item)
{
    return item->suspects_left > 0;
}

static bool clear_suspects(void *context, size_t index, struct lab_result *result, int64_t elapsed_ms,
                           struct sim_error *error)
{
    struct cli_gate *gate = context;
    struct cli_checked *item = &gate->items[index];
    size_t left = 0;
    (void)elapsed_ms;
    (void)error;
    for (size_t i = 0; result != NULL && i < item->suspect_count; i++) {
        struct cli_suspect *suspect = &item->suspects[i];
        const struct lab_strategy_result *now = strategy_named(result, suspect->metric->label);
        const struct lab_metric *figure = lab_metrics_find(&now->metrics, suspect->metric->name);
        bool is_same = suspect->side == 0
                           ? figure == NULL
                           : figure != NULL && side_of(suspect->metric, figure->value) == suspect->side;
        suspect->is_cleared = suspect->is_cleared || !is_same;
        left += !suspect->is_cleared;
    }
    if (result != NULL)
        item->suspects_left = left;
    lab_result_destroy(result);
    return true;
}

/* The number of runs that must agree, including the one at the scenario's own seed. */
static uint64_t confirmations(uint64_t seeds, uint64_t figures)
{
    /* C(n + m, n) grows by (n + m) / m with each m. */
    double combinations = 1, wanted = 2 * (double)figures / FALSE_ALARM;
    uint64_t runs = 1;
    for (combinations = (double)seeds + 1; combinations < wanted && runs < 100000;
         combinations *= (double)(seeds + runs) / (double)runs)
        runs++;
    return runs;
}

bool cli_check_confirm(struct cli_gate *gate, struct sim_error *error)
{
    uint64_t figures = 0, seeds = UINT64_MAX, suspects = 0;
    for (size_t i = 0; i < gate->count; i++) {
        const struct cli_checked *item = &gate->items[i];
        if (item->has_baseline && !item->is_exact)
            figures += item->held.metric_count;
        suspects += item->suspect_count;
        if (item->suspect_count > 0 && item->held.seeds < seeds)
            seeds = item->held.seeds;
    }
    if (seeds == UINT64_MAX)
        return true;
    gate->confirmed = confirmations(seeds, figures);
    if (!gate->args->is_quiet)
        fprintf(stderr,
                "%" PRIu64 " figure%s outside the baseline; running up to %" PRIu64
                " more seeds to rule out chance\n",
                suspects, suspects == 1 ? " is" : "s are", gate->confirmed - 1);
    return cli_check_run(gate, 1, gate->confirmed - 1, is_wanted, clear_suspects, gate, error);
}

static bool is_equal(double one, double other)
{
    return fabs(one - other) <= ROUNDING * fmax(fabs(one), fabs(other)) || (isnan(one) && isnan(other));
}

/* Compares the metrics when the digest is equal, so that every row has the same bucket. */
static void compare_equal(struct cli_checked *item, const struct lab_strategy_result *one,
                          const struct lab_strategy_result *now)
{
    for (size_t i = 0; i < one->metrics.count; i++) {
        const struct lab_metric *old = &one->metrics.items[i];
        const struct lab_metric *figure = lab_metrics_find(&now->metrics, old->name);
        const double value = figure == NULL ? (double)NAN : figure->value;
        const struct cli_about about = {
            .label = one->label, .name = old->name, .value = value, .low = old->value, .high = old->value};
        if (figure == NULL)
            cli_check_fail(item, &about, "%s.%s is missing although the digest is the same; %s", one->label,
                           old->name, item->cause);
        else if (!is_equal(old->value, value))
            cli_check_fail(item, &about, "%s.%s: %.10g, baseline %.10g, although the digest is the same; %s",
                           one->label, old->name, value, old->value, item->cause);
    }
}

static void fail_drifted(struct cli_checked *item, const struct cli_gate *gate,
                         const struct cli_suspect *suspect, const struct lab_strategy_result *now)
{
    const struct store_baseline_metric *metric = suspect->metric;
    char largest[LARGEST_SIZE];
    struct cli_about about = {.label = metric->label,
                              .name = metric->name,
                              .value = suspect->value,
                              .low = metric->low,
                              .high = metric->high};
    if (suspect->side == 0) {
        cli_check_fail(item, &about, "%s.%s is missing, at each of %" PRIu64 " seeds", metric->label,
                       metric->name, gate->confirmed);
        return;
    }
    tell_largest(item->result, now, metric->name, largest, &about.key);
    if (metric->low >= metric->high)
        cli_check_fail(item, &about,
                       "%s.%s: %.10g, and %.10g at all %" PRIu64
                       " seeds of the baseline; so at each of %" PRIu64 " seeds%s",
                       metric->label, metric->name, suspect->value, metric->low, item->held.seeds,
                       gate->confirmed, largest);
    else
        cli_check_fail(item, &about,
                       "%s.%s: %.10g is outside %.10g to %.10g (baseline: mean %.10g over %" PRIu64
                       " seeds), and so at each of %" PRIu64 " seeds%s",
                       metric->label, metric->name, suspect->value, metric->low, metric->high, metric->mean,
                       item->held.seeds, gate->confirmed, largest);
}

static const struct store_baseline_metric *baseline_metric(const struct store_baseline *baseline,
                                                           const char *label, const char *name)
{
    for (size_t i = 0; i < baseline->metric_count; i++) {
        const struct store_baseline_metric *metric = &baseline->metrics[i];
        if (strcmp(name, metric->name) == 0 && strcmp(label, metric->label) == 0)
            return metric;
    }
    return NULL;
}

/* Whether the baseline lacks a figure that it had when it was made, or that the run has now. */
static bool lacks_figure(const struct cli_checked *item, const struct lab_strategy_result *one,
                         const struct lab_metric *figure)
{
    const struct store_baseline_metric *range = baseline_metric(&item->held, one->label, figure->name);
    if (lab_metrics_find(&one->metrics, figure->name) == NULL)
        return item->is_exact || range == NULL || range->count == item->held.seeds;
    return range == NULL && isfinite(figure->value);
}

/* What a baseline must have follows from the run that is compared with it: whatever this has and the baseline
 * lacks was removed, or was not there to be compared. */
static void check_whole(struct cli_checked *item, const struct lab_strategy_result *one,
                        const struct lab_strategy_result *now)
{
    struct cli_about about = {.label = one->label, .name = "figures", CLI_NO_FIGURE};
    size_t count = 0;
    for (size_t i = 0; i < now->metrics.count; i++) {
        if (lacks_figure(item, one, &now->metrics.items[i]) && count++ == 0)
            about.name = now->metrics.items[i].name;
    }
    if (count > 0)
        cli_check_fail(item, &about, "the baseline does not have %zu figure%s of %s, for example %s", count,
                       count == 1 ? "" : "s", one->label, about.name);
    const struct {
        const char *name;
        uint64_t one, now;
    } parts[] = {
        {"largest partition by rows", one->largest[LAB_IN_ROWS].size, now->largest[LAB_IN_ROWS].size},
        {"largest partition by bytes", one->largest[LAB_IN_BYTES].size, now->largest[LAB_IN_BYTES].size},
        {"sizes over time", one->timeline.count, now->timeline.count},
        {"load of nodes", one->node_count, now->node_count},
        {"events", one->events.events, now->events.events},
        {"agents' views of a change", one->views.count, item->is_exact ? now->views.count : 0}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        about.name = parts[i].name;
        if (parts[i].one < parts[i].now && (item->is_exact || parts[i].one == 0))
            cli_check_fail(item, &about, "the baseline does not have all of %s: %s", one->label,
                           parts[i].name);
    }
}

static void check_strategy(struct cli_checked *item, const struct cli_gate *gate,
                           const struct lab_strategy_result *one, const struct lab_strategy_result *now)
{
    const char *label = now == NULL ? one->label : now->label;
    const struct cli_about gone = {.label = label, .name = "strategy", CLI_NO_FIGURE};
    cli_check_begin(item, "baseline", "figures of %s", label);
    if (now == NULL || one == NULL) {
        cli_check_fail(item, &gone,
                       now == NULL ? "the baseline has strategy %s, and the run does not"
                                   : "the run has strategy %s, and the baseline does not",
                       label);
        return;
    }
    check_whole(item, one, now);
    if (item->is_exact)
        compare_equal(item, one, now);
    for (size_t i = 0; i < item->suspect_count; i++) {
        const struct cli_suspect *suspect = &item->suspects[i];
        if (!suspect->is_cleared && strcmp(suspect->metric->label, label) == 0)
            fail_drifted(item, gate, suspect, now);
    }
}

void cli_check_figures(struct cli_checked *item, const struct cli_gate *gate)
{
    const struct lab_result *one = item->held.result, *now = item->result;
    for (size_t i = 0; item->has_baseline && i < now->strategy_count; i++)
        check_strategy(item, gate, strategy_named(one, now->strategies[i].label), &now->strategies[i]);
    for (size_t i = 0; item->has_baseline && i < one->strategy_count; i++) {
        if (strategy_named(now, one->strategies[i].label) == NULL)
            check_strategy(item, gate, &one->strategies[i], NULL);
    }
}

/* Says which strategies differ, or that none does. */
static void tell_where(const struct lab_result *one, const struct lab_result *now, GString *out)
{
    size_t differ = 0;
    for (size_t i = 0; i < one->strategy_count; i++) {
        const struct lab_strategy_result *old = &one->strategies[i];
        const struct lab_strategy_result *other = strategy_named(now, old->label);
        if (other == NULL ||
            (old->placement_digest == other->placement_digest && old->events.digest == other->events.digest))
            continue;
        if (differ++ == 0)
            g_string_append_printf(out,
                                   "; first to differ: strategy %s, placement %016" PRIx64
                                   ", baseline %016" PRIx64 ", %" PRIu64 " events, baseline %" PRIu64,
                                   old->label, other->placement_digest, old->placement_digest,
                                   other->events.events, old->events.events);
    }
    if (differ > 1)
        g_string_append_printf(out, ", and %zu more of %zu", differ - 1, one->strategy_count);
    else if (differ == 0 && (one->rows != now->rows || one->keys != now->keys))
        g_string_append_printf(out,
                               "; the rows themselves differ: %" PRIu64 " of %" PRIu64
                               " keys, baseline %" PRIu64 " of %" PRIu64,
                               now->rows, now->keys, one->rows, one->keys);
    else if (differ == 0)
        g_string_append(out, "; each strategy that both have puts every row where it did");
}

static void compare_digest(struct cli_checked *item, const struct cli_gate *gate)
{
    const struct store_run_info *info = &item->held.info;
    const struct lab_result *one = item->held.result, *now = item->result;
    const struct cli_about about = {.name = "digest", CLI_NO_FIGURE};
    const bool is_same = one->digest == now->digest && one->seed == now->seed,
               is_same_version = g_strcmp0(info->version, BUCKETLAB_VERSION) == 0,
               is_same_text = g_strcmp0(info->scenario_text, item->scenario->text) == 0,
               is_same_set =
                   strcmp(info->overrides == NULL ? "" : info->overrides, item->scenario->overrides) == 0;
    g_autofree char *change = g_strconcat(is_same_text ? "" : "; the scenario changed since",
                                          is_same_set ? "" : "; --set differs from the baseline's", NULL);
    item->is_exact = is_same && change[0] == '\0' && (is_same_version || gate->digest_counts);
    item->cause =
        is_same_version
            ? "the same program gave two results, which is a defect; please report it"
            : "another version of bucketlab made the baseline, and computed this figure differently";
    if (is_same && change[0] != '\0')
        cli_check_note(item, "all rows go to the same partitions as before%s", change);
    if (is_same)
        return;
    GString *told = g_string_new("");
    g_string_append_printf(told, "digest changed: %016" PRIx64 ", baseline %016" PRIx64, now->digest,
                           one->digest);
    if (one->seed != now->seed)
        g_string_append_printf(told, " at seed %" PRIu64 ", and this is %" PRIu64, one->seed, now->seed);
    if (!is_same_version)
        g_string_append_printf(told, " by bucketlab %s, and this is %s", info->version, BUCKETLAB_VERSION);
    tell_where(one, now, told);
    g_string_append(told, change);
    if (gate->digest_counts)
        cli_check_fail(item, &about, "%s", told->str);
    else
        cli_check_note(item, "%s", told->str);
    g_string_free(told, TRUE);
}

bool cli_check_digest(struct cli_checked *item, const struct cli_gate *gate, struct store *store,
                      struct sim_error *error)
{
    const struct cli_about about = {.name = "baseline", CLI_NO_FIGURE};
    if (!store_baseline_load(store, item->scenario->name, &item->held, &item->has_baseline, error))
        return false;
    if (item->has_baseline)
        check_terms(item);
    cli_check_begin(item, "baseline", "digest");
    if (item->has_baseline)
        compare_digest(item, gate);
    else
        cli_check_fail(item, &about,
                       "%s does not have '%s'; add it with --update-baseline once its figures are right",
                       gate->baseline, item->scenario->name);
    return true;
}

/* Confidence of the interval of a metric for one more seed. False alarms are prevented by FALSE_ALARM,
 * not by this number. */
#define CONFIDENCE 0.99

struct update {
    struct cli_gate *gate;
    /* Of each item: its metrics, and the seeds at which an expectation fails. */
    struct cli_figures *figures;
    uint64_t *failed, *first_failed;
};

static void add_result(struct cli_figures *figures, const struct lab_result *result)
{
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_strategy_result *strategy = &result->strategies[i];
        for (size_t j = 0; j < strategy->metrics.count; j++) {
            const struct lab_metric *metric = &strategy->metrics.items[j];
            if (isfinite(metric->value))
                cli_figures_add(figures, strategy->label, metric->name, metric->value);
        }
    }
}

static bool add_seed(void *context, size_t index, struct lab_result *result, int64_t elapsed_ms,
                     struct sim_error *error)
{
    struct update *update = context;
    struct lab_breach breach;
    (void)elapsed_ms, (void)error;
    if ((!result->expects_hold || lab_breach_find(result, &breach)) && update->failed[index]++ == 0)
        update->first_failed[index] = result->seed;
    add_result(&update->figures[index], result);
    lab_result_destroy(result);
    return true;
}

/* Makes a baseline, whose strings and result are owned by the item and its figures. */
static void make_baseline(const struct cli_checked *item, const struct cli_figures *figures, uint64_t seeds,
                          struct store_baseline *out)
{
    *out = (struct store_baseline){.info = item->info,
                                   .result = item->result,
                                   .seeds = seeds,
                                   .metrics = g_new0(struct store_baseline_metric, figures->count),
                                   .metric_count = figures->count};
    /* Relative to the repository's folder, so that it is the same on every machine. */
    out->info.scenario_path = item->scenario->path;
    for (size_t i = 0; i < figures->count; i++) {
        const struct cli_sampled *figure = &figures->items[i];
        struct tune_interval next = tune_sample_next_interval(&figure->sample, CONFIDENCE);
        struct store_baseline_metric *metric = &out->metrics[i];
        *metric = (struct store_baseline_metric){.label = figure->label,
                                                 .count = figure->sample.count,
                                                 .mean = figure->sample.mean,
                                                 .stddev = tune_sample_stddev(&figure->sample),
                                                 .low = fmin(next.low, figure->sample.least),
                                                 .high = fmax(next.high, figure->sample.most)};
        memcpy(metric->name, figure->name, sizeof metric->name);
    }
}

static bool save(const struct update *update, struct sim_error *error)
{
    const struct cli_gate *gate = update->gate;
    struct store *store;
    if (!store_open(gate->baseline, STORE_WRITE, &store, error))
        return false;
    g_autofree struct store_baseline *made = g_new0(struct store_baseline, gate->count);
    for (size_t i = 0; i < gate->count; i++)
        make_baseline(&gate->items[i], &update->figures[i], gate->seeds + 1, &made[i]);
    bool is_fine = store_baselines_save(store, made, gate->count, error);
    for (size_t i = 0; i < gate->count; i++)
        g_free(made[i].metrics);
    store_close(store);
    return is_fine;
}

bool cli_check_update(struct cli_gate *gate, struct sim_error *error)
{
    struct update update = {gate, g_new0(struct cli_figures, gate->count), g_new0(uint64_t, gate->count),
                            g_new0(uint64_t, gate->count)};
    for (size_t i = 0; i < gate->count; i++)
        add_result(&update.figures[i], gate->items[i].result);
    gate->is_updated =
        cli_check_run(gate, 1, gate->seeds, NULL, add_seed, &update, error) && save(&update, error);
    for (size_t i = 0; i < gate->count; i++) {
        if (gate->is_updated && update.failed[i] > 0)
            cli_check_note(&gate->items[i],
                           "at %" PRIu64 " of %" PRIu64 " further seeds, %" PRIu64
                           " for one, an expectation does not hold or a guarantee is broken",
                           update.failed[i], gate->seeds, update.first_failed[i]);
        cli_figures_clear(&update.figures[i]);
    }
    g_free(update.figures);
    g_free(update.failed);
    g_free(update.first_failed);
    return gate->is_updated;
}
