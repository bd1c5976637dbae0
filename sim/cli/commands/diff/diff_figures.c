/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chooses the metrics that a comparison shows, and their means and confidence intervals. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "kernel/text.h"
#include "lab/metric.h"

#define SIGNIFICANT 0.05
#define NOTABLE     0.01

static bool is_chosen(const struct cli_diff_side *side, const struct lab_strategy_result *strategy)
{
    return side->label == NULL || strcmp(side->label, strategy->label) == 0;
}

static const struct lab_strategy_result *only_one(const struct cli_diff_side *side)
{
    const struct lab_strategy_result *one = NULL;
    size_t count = 0;
    for (size_t i = 0; i < side->result->strategy_count; i++) {
        if (is_chosen(side, &side->result->strategies[i])) {
            one = &side->result->strategies[i];
            count++;
        }
    }
    return count == 1 ? one : NULL;
}

/* The strategy of the same label; or, when each side has one strategy, that one. */
static const struct lab_strategy_result *partner(const struct cli_diff *diff,
                                                 const struct lab_strategy_result *strategy)
{
    const struct lab_result *b = diff->b.result;
    if (only_one(&diff->a) != NULL && only_one(&diff->b) != NULL)
        return only_one(&diff->b);
    for (size_t i = 0; i < b->strategy_count; i++) {
        if (is_chosen(&diff->b, &b->strategies[i]) && strcmp(b->strategies[i].label, strategy->label) == 0)
            return &b->strategies[i];
    }
    return NULL;
}

static bool match(struct cli_diff *diff, struct sim_error *error)
{
    const struct lab_result *a = diff->a.result;
    diff->strategies = calloc(a->strategy_count + 1, sizeof *diff->strategies);
    if (diff->strategies == NULL)
        return sim_fail_memory(error);
    for (size_t i = 0; i < a->strategy_count; i++) {
        const struct lab_strategy_result *other =
            is_chosen(&diff->a, &a->strategies[i]) ? partner(diff, &a->strategies[i]) : NULL;
        if (other != NULL)
            diff->strategies[diff->strategy_count++] =
                (struct cli_diff_strategy){.a = &a->strategies[i], .b = other};
    }
    if (diff->strategy_count > 0)
        return true;
    return sim_fail(error, SIM_ERROR_INPUT,
                    "bucketlab: runs %lld and %lld have no strategy of the same label; name one of each, as "
                    "in 'diff %lld:%s %lld:%s'",
                    (long long)diff->a.run, (long long)diff->b.run, (long long)diff->a.run,
                    a->strategies[0].label, (long long)diff->b.run, diff->b.result->strategies[0].label);
}

/* Whether a metric is given by --metric, or is below a name given by it. */
static bool is_wanted(const struct cli_args *args, const char *name)
{
    if (!cli_has(args, "metric"))
        return true;
    for (size_t i = 0; cli_value_at(args, "metric", i) != NULL; i++) {
        const char *wanted = cli_value_at(args, "metric", i);
        size_t length = strlen(wanted);
        if (strncmp(name, wanted, length) == 0 && (name[length] == '\0' || name[length] == '.'))
            return true;
    }
    return false;
}

/* Lists the metrics of a in its order, then those that only b has. */
static bool list_figures(struct cli_diff_strategy *strategy, const struct cli_args *args,
                         struct sim_error *error)
{
    const struct lab_metrics *a = &strategy->a->metrics, *b = &strategy->b->metrics;
    strategy->figures = calloc(a->count + b->count + 1, sizeof *strategy->figures);
    if (strategy->figures == NULL)
        return sim_fail_memory(error);
    for (size_t i = 0; i < a->count + b->count; i++) {
        const struct lab_metric *metric = i < a->count ? &a->items[i] : &b->items[i - a->count];
        const struct lab_metric *in_a = lab_metrics_find(a, metric->name),
                                *in_b = lab_metrics_find(b, metric->name);
        if ((i >= a->count && in_a != NULL) || !is_wanted(args, metric->name))
            continue;
        struct cli_diff_figure *figure = &strategy->figures[strategy->count++];
        memcpy(figure->name, metric->name, sizeof figure->name);
        figure->is_in_a = in_a != NULL && !isnan(in_a->value);
        figure->is_in_b = in_b != NULL && !isnan(in_b->value);
        figure->a = figure->is_in_a ? in_a->value : 0;
        figure->b = figure->is_in_b ? in_b->value : 0;
        figure->p = 1;
        if (!figure->is_in_a && !figure->is_in_b)
            strategy->count--;
    }
    return true;
}

static bool check_wanted(const struct cli_diff *diff, const struct cli_args *args, struct sim_error *error)
{
    size_t count = 0;
    for (size_t i = 0; i < diff->strategy_count; i++)
        count += diff->strategies[i].count;
    if (count > 0)
        return true;
    const struct lab_metrics *metrics = &diff->strategies[0].a->metrics;
    const char **names = calloc(metrics->count + 1, sizeof *names), *wanted = cli_value(args, "metric", "");
    if (names == NULL)
        return sim_fail_memory(error);
    for (size_t i = 0; i < metrics->count; i++)
        names[i] = metrics->items[i].name;
    const char *near = lab_metric_nearest(wanted, names, metrics->count);
    free(names);
    const struct lab_metric_row *row = lab_metric_row_of(wanted);
    if (row != NULL && row->absent != NULL)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --metric %s: the runs do not have it: it is absent %s", wanted,
                        row->absent);
    if (near != NULL)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --metric %s: no figure of that name; did you "
                        "mean '%s'?",
                        wanted, near);
    return sim_fail(error, SIM_ERROR_INPUT,
                    "bucketlab: --metric %s: no figure of that name; 'bucketlab show %lld --json' has all",
                    wanted, (long long)diff->a.run);
}

static void add_pair(struct cli_diff_strategy *strategy, const struct lab_metrics *a,
                     const struct lab_metrics *b)
{
    for (size_t i = 0; i < strategy->count; i++) {
        struct cli_diff_figure *figure = &strategy->figures[i];
        const struct lab_metric *one = lab_metrics_find(a, figure->name),
                                *other = lab_metrics_find(b, figure->name);
        if (one == NULL || other == NULL)
            continue;
        figure->is_infinite = figure->is_infinite || isinf(one->value) || isinf(other->value);
        if (!isfinite(one->value) || !isfinite(other->value))
            continue;
        tune_sample_add(&figure->sample_a, one->value);
        tune_sample_add(&figure->sample_b, other->value);
        tune_sample_add(&figure->differences, other->value - one->value);
    }
}

static bool add_alone(struct store *store, const struct cli_diff_side *side, const char *label,
                      struct cli_diff_strategy *strategy, bool is_a, struct sim_error *error)
{
    for (size_t i = 0; i < side->seed_count; i++) {
        struct lab_metrics metrics = {.items = NULL};
        bool is_fine = store_load_metrics(store, side->seeds[i].run, label, &metrics, error);
        for (size_t j = 0; is_fine && j < strategy->count; j++) {
            struct cli_diff_figure *figure = &strategy->figures[j];
            const struct lab_metric *metric = lab_metrics_find(&metrics, figure->name);
            figure->is_infinite = figure->is_infinite || (metric != NULL && isinf(metric->value));
            if (metric != NULL && isfinite(metric->value))
                tune_sample_add(is_a ? &figure->sample_a : &figure->sample_b, metric->value);
        }
        free(metrics.items);
        if (!is_fine)
            return false;
    }
    return true;
}

static bool observe(const struct cli_diff *diff, struct store *store, struct cli_diff_strategy *strategy,
                    struct sim_error *error)
{
    if (diff->test == CLI_DIFF_WELCH)
        return add_alone(store, &diff->a, strategy->a->label, strategy, true, error) &&
               add_alone(store, &diff->b, strategy->b->label, strategy, false, error);
    bool is_fine = true;
    for (size_t i = 0; is_fine && diff->test == CLI_DIFF_PAIRED && i < diff->pair_count; i++) {
        const struct cli_diff_pair *pair = &diff->pairs[i];
        struct lab_metrics a = {.items = NULL}, b = {.items = NULL};
        is_fine = store_load_metrics(store, pair->run_a, strategy->a->label, &a, error) &&
                  store_load_metrics(store, pair->run_b, strategy->b->label, &b, error);
        if (is_fine)
            add_pair(strategy, &a, &b);
        free(a.items);
        free(b.items);
    }
    return is_fine;
}

static void judge(struct cli_diff_figure *figure, enum cli_diff_test test)
{
    const struct tune_sample *a = &figure->sample_a, *b = &figure->sample_b;
    figure->is_infinite = figure->is_infinite || isinf(figure->a) || isinf(figure->b);
    figure->is_tested = figure->is_in_a && figure->is_in_b && !figure->is_infinite &&
                        test != CLI_DIFF_UNTESTED && a->count >= 2 && b->count >= 2;
    if (figure->is_tested && test == CLI_DIFF_PAIRED) {
        figure->p = tune_sample_p_value(&figure->differences);
        figure->interval = tune_sample_mean_interval(&figure->differences, CLI_DIFF_CONFIDENCE);
    } else if (figure->is_tested) {
        figure->p = tune_welch_p_value(b, a);
        figure->interval = tune_welch_interval(b, a, CLI_DIFF_CONFIDENCE);
    }
    if (figure->is_tested) {
        figure->a = a->mean;
        figure->b = b->mean;
    }
    figure->difference = figure->is_tested && test == CLI_DIFF_PAIRED ? figure->differences.mean
                         : figure->a == figure->b                     ? 0
                                                                      : figure->b - figure->a;
}

/* Corrects for all tested metrics, whether they are shown or not. */
static bool correct(struct cli_diff *diff, struct sim_error *error)
{
    size_t most = 0, used = 0;
    for (size_t i = 0; i < diff->strategy_count; i++)
        most += diff->strategies[i].count;
    double *p_values = calloc(most + 1, sizeof *p_values);
    if (p_values == NULL)
        return sim_fail_memory(error);
    for (size_t i = 0; i < most; i++)
        p_values[i] = 1;
    for (size_t i = 0; i < diff->strategy_count; i++) {
        for (size_t j = 0; j < diff->strategies[i].count; j++) {
            if (diff->strategies[i].figures[j].is_tested)
                p_values[diff->tested++] = diff->strategies[i].figures[j].p;
        }
    }
    bool is_fine = tune_holm(p_values, diff->tested);
    for (size_t i = 0; i < diff->strategy_count; i++) {
        for (size_t j = 0; j < diff->strategies[i].count; j++) {
            if (diff->strategies[i].figures[j].is_tested)
                diff->strategies[i].figures[j].p = p_values[used++];
        }
    }
    free(p_values);
    return is_fine || sim_fail_memory(error);
}

/* Compares the closed partitions if both sides have some; otherwise all partitions. */
static bool measure_gap(struct cli_diff_strategy *strategy, struct sim_error *error)
{
    const struct lab_strategy_result *a = strategy->a, *b = strategy->b;
    struct lab_histogram one, other;
    lab_histogram_init(&one);
    lab_histogram_init(&other);
    lab_histogram_merge(&one, &a->closed_rows);
    lab_histogram_merge(&other, &b->closed_rows);
    strategy->is_gap_of_closed = one.count > 0 && other.count > 0;
    if (!strategy->is_gap_of_closed) {
        lab_histogram_merge(&one, &a->open_rows);
        lab_histogram_merge(&other, &b->open_rows);
    }
    strategy->has_gap = one.count > 0 && other.count > 0;
    bool is_fine = !one.out_of_memory && !other.out_of_memory &&
                   (!strategy->has_gap || lab_histogram_gap(&one, &other, &strategy->gap));
    lab_histogram_clear(&one);
    lab_histogram_clear(&other);
    return is_fine || sim_fail_memory(error);
}

bool cli_diff_compare(struct cli_diff *diff, struct store *store, const struct cli_args *args,
                      struct sim_error *error)
{
    bool can_tell = !diff->is_one_sample || !diff->is_same_choice;
    if (can_tell && diff->pair_count >= 2)
        diff->test = CLI_DIFF_PAIRED;
    else if (can_tell && diff->pair_count == 0 && diff->a.seed_count >= 2 && diff->b.seed_count >= 2)
        diff->test = CLI_DIFF_WELCH;
    if (!match(diff, error))
        return false;
    for (size_t i = 0; i < diff->strategy_count; i++) {
        struct cli_diff_strategy *strategy = &diff->strategies[i];
        if (!list_figures(strategy, args, error) || !observe(diff, store, strategy, error) ||
            !measure_gap(strategy, error))
            return false;
        for (size_t j = 0; j < strategy->count; j++)
            judge(&strategy->figures[j], diff->test);
    }
    return check_wanted(diff, args, error) && correct(diff, error);
}

bool cli_diff_is_significant(const struct cli_diff_figure *figure)
{
    return figure->is_tested && figure->p < SIGNIFICANT && figure->difference != 0;
}

bool cli_diff_is_notable(const struct cli_diff_figure *figure)
{
    return cli_diff_is_significant(figure) || isinf(figure->difference) ||
           fabs(figure->difference) > NOTABLE * fabs(figure->a);
}

bool cli_diff_has_other_rows(const struct cli_diff *diff)
{
    const struct lab_result *a = diff->a.result, *b = diff->b.result;
    if (a->seed != b->seed || lab_result_is_observed(a) || lab_result_is_observed(b))
        return false;
    if (a->rows != b->rows || a->keys != b->keys || a->start_ns != b->start_ns || a->end_ns != b->end_ns)
        return true;
    const struct lab_strategy_result *one = &a->strategies[0], *other = &b->strategies[0];
    /* With agents, rows may be lost, and a table may store fewer rows, so sizes also depend on the
     * strategy. */
    if (one->events.stride != 0 || other->events.stride != 0 ||
        lab_metrics_find(&one->metrics, "rows.stored") != NULL ||
        lab_metrics_find(&other->metrics, "rows.stored") != NULL)
        return false;
    return one->closed_bytes.sum + one->open_bytes.sum != other->closed_bytes.sum + other->open_bytes.sum;
}

bool cli_diff_is_any(const struct cli_diff *diff)
{
    for (int side = 0; side < 2; side++) {
        const struct lab_result *result = side == 0 ? diff->a.result : diff->b.result;
        for (size_t i = 0; i < result->strategy_count; i++) {
            const struct lab_strategy_result *strategy = &result->strategies[i];
            if (is_chosen(side == 0 ? &diff->a : &diff->b, strategy) && !cli_diff_is_matched(diff, strategy))
                return true;
        }
    }
    for (size_t i = 0; i < diff->strategy_count; i++) {
        for (size_t j = 0; j < diff->strategies[i].count; j++) {
            const struct cli_diff_figure *figure = &diff->strategies[i].figures[j];
            if (figure->is_in_a != figure->is_in_b || cli_diff_is_significant(figure) ||
                (!figure->is_tested && figure->difference != 0))
                return true;
        }
    }
    return false;
}

bool cli_diff_is_matched(const struct cli_diff *diff, const struct lab_strategy_result *strategy)
{
    for (size_t i = 0; i < diff->strategy_count; i++) {
        if (diff->strategies[i].a == strategy || diff->strategies[i].b == strategy)
            return true;
    }
    return false;
}
