/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decides whether metrics have drifted: a metric has drifted when it is outside the interval of its baseline,
 * on the same side, at several seeds in sequence. One seed proves nothing: an effect of a fault or a burst on
 * a tail may occur at one seed in ten, and the few seeds of a baseline may not have had it. But if the
 * distribution has not changed, the probability that m new values are all below, or all above, n old values
 * is 2 / C(n + m, n), whatever the distribution is; over many metrics it is at most the sum, however they are
 * correlated. So m is the smallest number with which the probability of any false alarm in the whole check is
 * below FALSE_ALARM. The cost is small if nothing has drifted, since a suspect is dropped at the first seed
 * that clears it. */
#define _POSIX_C_SOURCE 200809L
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "lab/metric.h"

#define FALSE_ALARM 1e-3
/* Sums may be rounded differently on another processor. */
#define ROUNDING 1e-9

#define FIGURE_SIZE 48
#define FIGURES     4

const struct lab_strategy_result *cli_check_strategy(const struct lab_result *result, const char *label)
{
    for (size_t i = 0; i < result->strategy_count; i++) {
        if (strcmp(result->strategies[i].label, label) == 0)
            return &result->strategies[i];
    }
    return NULL;
}

static int side_of(const struct store_baseline_metric *metric, double value)
{
    double slack = ROUNDING * fabs(metric->mean);
    return value < metric->low - slack ? -1 : value > metric->high + slack ? 1 : 0;
}

bool cli_check_suspect(struct cli_checked *item, struct sim_error *error)
{
    const struct store_baseline *held = &item->held;
    if (!item->has_baseline || item->is_exact)
        return true;
    item->suspects = calloc(held->metric_count + 1, sizeof *item->suspects);
    if (item->suspects == NULL)
        return sim_fail_memory(error);
    for (size_t i = 0; i < held->metric_count; i++) {
        const struct store_baseline_metric *metric = &held->metrics[i];
        const struct lab_strategy_result *now = cli_check_strategy(item->result, metric->label);
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
    return true;
}

static bool is_wanted(void *context, size_t index, uint64_t offset)
{
    struct cli_gate *gate = context;
    (void)offset;
    return gate->items[index].suspects_left > 0;
}

static bool clear_suspects(void *context, size_t index, uint64_t offset, struct lab_result *result,
                           int64_t elapsed_ms, struct sim_error *error)
{
    struct cli_gate *gate = context;
    struct cli_checked *item = &gate->items[index];
    size_t left = 0;
    (void)offset;
    (void)elapsed_ms;
    (void)error;
    for (size_t i = 0; result != NULL && i < item->suspect_count; i++) {
        struct cli_suspect *suspect = &item->suspects[i];
        const struct lab_strategy_result *now = cli_check_strategy(result, suspect->metric->label);
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
    gate->confirmed = cli_check_confirmations(seeds, figures);
    if (!gate->is_quiet)
        fprintf(stderr,
                "%" PRIu64 " figure%s outside the baseline; running up to %" PRIu64
                " more seeds to rule out chance\n",
                suspects, suspects == 1 ? " is" : "s are", gate->confirmed - 1);
    return cli_check_run(gate, 1, gate->confirmed - 1, is_wanted, clear_suspects, gate, error);
}

uint64_t cli_check_confirmations(uint64_t seeds, uint64_t figures)
{
    /* C(n + m, n) grows by (n + m) / m with each m. */
    double combinations = 1, wanted = 2 * (double)figures / FALSE_ALARM;
    uint64_t runs = 1;
    for (combinations = (double)seeds + 1; combinations < wanted && runs < 100000;
         combinations *= (double)(seeds + runs) / (double)runs)
        runs++;
    return runs;
}

static bool is_equal(double one, double other)
{
    return fabs(one - other) <= ROUNDING * fmax(fabs(one), fabs(other)) || (isnan(one) && isnan(other));
}

/* Compares the metrics when the digest is equal, so that every row has the same bucket. */
static bool compare_equal(struct cli_checked *item, const struct lab_strategy_result *one,
                          const struct lab_strategy_result *now, const char *cause)
{
    for (size_t i = 0; i < one->metrics.count; i++) {
        const struct lab_metric *old = &one->metrics.items[i];
        const struct lab_metric *figure = lab_metrics_find(&now->metrics, old->name);
        double value = figure == NULL ? (double)NAN : figure->value;
        if (figure != NULL && is_equal(old->value, value))
            continue;
        struct cli_about about = {
            .label = one->label,
            .name = old->name,
            .value = value,
            .low = old->value,
            .high = old->value,
            .excess = figure == NULL ? HUGE_VAL : fabs(value - old->value) / fmax(fabs(old->value), DBL_MIN)};
        if (figure == NULL
                ? !cli_check_fail(item, &about, "%s.%s is missing although the digest is the same; %s",
                                  one->label, old->name, cause)
                : !cli_check_fail(item, &about,
                                  "%s.%s: %.10g, baseline %.10g, although the digest is the same; %s",
                                  one->label, old->name, value, old->value, cause))
            return false;
    }
    return true;
}

/* Formats values in the same unit, which is returned, with enough digits to distinguish the first one from
 * the bounds. */
static const char *print_figures(const char *name, const double *values, char (*texts)[FIGURE_SIZE])
{
    static const char *const units[] = {" B", " KB", " MB", " GB", " TB", " PB"};
    double divisor = 1, most = fmax(fabs(values[0]), fabs(values[2]));
    size_t unit = 0, unit_count = sizeof units / sizeof *units;
    const struct lab_metric_row *row = lab_metric_row_of(name);
    bool is_bytes = row != NULL && row->unit == LAB_METRIC_BYTES;
    for (; is_bytes && most / divisor >= 1000 && unit + 1 < unit_count; unit++)
        divisor *= 1000;
    for (int digits = 4; digits <= 17; digits++) {
        for (size_t i = 0; i < FIGURES; i++) {
            double shown = values[i] / divisor;
            /* Printed as a whole number where %g would print 1.2e+04. */
            if (fabs(shown) >= pow(10, digits) && fabs(shown) < 1e15)
                snprintf(texts[i], FIGURE_SIZE, "%.0f", shown);
            else
                snprintf(texts[i], FIGURE_SIZE, "%.*g", digits, shown);
        }
        if (strcmp(texts[0], texts[1]) != 0 && strcmp(texts[0], texts[2]) != 0)
            break;
    }
    return is_bytes ? units[unit] : "";
}

static bool fail_drifted(struct cli_checked *item, const struct cli_gate *gate,
                         const struct cli_suspect *suspect, const struct lab_strategy_result *now)
{
    const struct store_baseline_metric *metric = suspect->metric;
    char texts[FIGURES][FIGURE_SIZE], largest[CLI_LARGEST_SIZE];
    const char *key;
    struct cli_about about = {.label = metric->label,
                              .name = metric->name,
                              .value = suspect->value,
                              .low = metric->low,
                              .high = metric->high,
                              .excess = HUGE_VAL};
    if (suspect->side == 0)
        return cli_check_fail(item, &about, "%s.%s is missing, at each of %" PRIu64 " seeds", metric->label,
                              metric->name, gate->confirmed);
    double bound = suspect->side < 0 ? metric->low : metric->high;
    double width = (metric->high - metric->low) / 2 + ROUNDING * fabs(metric->mean);
    const double values[FIGURES] = {suspect->value, metric->low, metric->high, metric->mean};
    about.excess = width > 0 ? fabs(suspect->value - bound) / width : HUGE_VAL;
    const char *unit = print_figures(metric->name, values, texts);
    cli_check_largest(item->result, now, metric->name, largest, &key);
    about.key = key;
    if (metric->low >= metric->high)
        return cli_check_fail(item, &about,
                              "%s.%s: %s%s, and %s%s at all %" PRIu64
                              " seeds of the baseline; so at each of %" PRIu64 " seeds%s",
                              metric->label, metric->name, texts[0], unit, texts[1], unit, item->held.seeds,
                              gate->confirmed, largest);
    return cli_check_fail(item, &about,
                          "%s.%s: %s%s is outside %s to %s%s (baseline: mean %s%s over %" PRIu64
                          " seeds), and so at each of %" PRIu64 " seeds%s",
                          metric->label, metric->name, texts[0], unit, texts[1], texts[2], unit, texts[3],
                          unit, item->held.seeds, gate->confirmed, largest);
}

static const struct store_baseline_metric *baseline_metric(const struct store_baseline *baseline,
                                                           const char *label, const char *name)
{
    size_t low = 0, high = baseline->metric_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct store_baseline_metric *metric = &baseline->metrics[middle];
        int order = strcmp(label, metric->label);
        order = order != 0 ? order : strcmp(name, metric->name);
        if (order == 0)
            return metric;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
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
static bool check_whole(struct cli_checked *item, const struct lab_strategy_result *one,
                        const struct lab_strategy_result *now)
{
    struct cli_about about = {.label = one->label, .name = "figures", CLI_NO_FIGURE};
    size_t count = 0;
    for (size_t i = 0; i < now->metrics.count; i++) {
        if (lacks_figure(item, one, &now->metrics.items[i]) && count++ == 0)
            about.name = now->metrics.items[i].name;
    }
    if (count > 0 &&
        !cli_check_fail(item, &about, "the baseline does not have %zu figure%s of %s, for example %s", count,
                        count == 1 ? "" : "s", one->label, about.name))
        return false;
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
    bool is_fine = true;
    for (size_t i = 0; is_fine && i < sizeof parts / sizeof *parts; i++) {
        about.name = parts[i].name;
        if (parts[i].one < parts[i].now && (item->is_exact || parts[i].one == 0))
            is_fine = cli_check_fail(item, &about, "the baseline does not have all of %s: %s", one->label,
                                     parts[i].name);
    }
    return is_fine;
}

static bool check_strategy(struct cli_checked *item, const struct cli_gate *gate,
                           const struct lab_strategy_result *one, const struct lab_strategy_result *now)
{
    const char *label = now == NULL ? one->label : now->label;
    const struct cli_about gone = {.label = label, .name = "strategy", CLI_NO_FIGURE};
    if (!cli_check_begin(item, CLI_CHECK_BASELINE, "figures of %s", label))
        return false;
    if (now == NULL)
        return cli_check_fail(item, &gone, "the baseline has strategy %s, and the run does not", label);
    if (one == NULL)
        return cli_check_fail(item, &gone, "the run has strategy %s, and the baseline does not", label);
    if (!check_whole(item, one, now))
        return false;
    if (item->is_exact)
        return compare_equal(item, one, now, item->cause);
    for (size_t i = 0; i < item->suspect_count; i++) {
        const struct cli_suspect *suspect = &item->suspects[i];
        if (!suspect->is_cleared && strcmp(suspect->metric->label, label) == 0 &&
            !fail_drifted(item, gate, suspect, now))
            return false;
    }
    return true;
}

bool cli_check_figures(struct cli_checked *item, const struct cli_gate *gate, struct sim_error *error)
{
    if (!item->has_baseline)
        return true;
    const struct lab_result *one = item->held.result, *now = item->result;
    bool is_fine = true;
    for (size_t i = 0; is_fine && i < now->strategy_count; i++)
        is_fine = check_strategy(item, gate, cli_check_strategy(one, now->strategies[i].label),
                                 &now->strategies[i]);
    for (size_t i = 0; is_fine && i < one->strategy_count; i++) {
        if (cli_check_strategy(now, one->strategies[i].label) == NULL)
            is_fine = check_strategy(item, gate, &one->strategies[i], NULL);
    }
    return is_fine || sim_fail_memory(error);
}
