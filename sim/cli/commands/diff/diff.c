/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab diff: compares two runs, or two strategies, over the same seeds. Two runs come in from the
 * database; their samples (all stored seeds of the same scenario) are paired, missing seeds are run and
 * stored; out go the figures of each strategy with their intervals and p-values. diff_print.c prints them. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/base.h"
#include "cli/run.h"
#include "diff.h"
#include "lab/metric.h"

/* A run that is missing. */
struct job {
    const struct cli_diff_side *side;
    uint64_t seed;
};

struct jobs {
    const struct cli_args *args;
    struct job *items;
    size_t count;
    struct store *store;
    uint64_t stored;
};

/* A seed is represented by its newest run, so two runs of the same sample have the same list. */
static bool is_one_sample(const struct cli_diff *diff)
{
    const struct cli_diff_side *a = &diff->a, *b = &diff->b;
    return a->seed_count > 0 && a->seed_count == b->seed_count && a->seeds[0].run == b->seeds[0].run;
}

static bool pair_seeds(struct cli_diff *diff, struct store *store, struct sim_error *error)
{
    struct cli_diff_side *a = &diff->a, *b = &diff->b;
    free(a->seeds);
    free(b->seeds);
    a->seeds = b->seeds = NULL;
    if (!store_list_seeds(store, a->stored.info.run, &a->seeds, &a->seed_count, error) ||
        !store_list_seeds(store, b->stored.info.run, &b->seeds, &b->seed_count, error))
        return false;
    g_free(diff->pairs);
    diff->pair_count = 0;
    diff->pairs = g_new0(struct cli_diff_pair, a->seed_count);
    for (size_t i = 0, j = 0; i < a->seed_count; i++) {
        while (j < b->seed_count && b->seeds[j].seed < a->seeds[i].seed)
            j++;
        if (j < b->seed_count && b->seeds[j].seed == a->seeds[i].seed)
            diff->pairs[diff->pair_count++] =
                (struct cli_diff_pair){a->seeds[i].seed, a->seeds[i].run, b->seeds[j].run};
    }
    diff->is_one_sample = is_one_sample(diff);
    return true;
}

static int by_seed(const void *one, const void *other)
{
    const uint64_t a = ((const struct store_seed *)one)->seed, b = ((const struct store_seed *)other)->seed;
    return a < b ? -1 : a > b;
}

static bool has_seed(const struct cli_diff_side *side, uint64_t seed)
{
    const struct store_seed key = {.seed = seed};
    return side->seed_count > 0 &&
           bsearch(&key, side->seeds, side->seed_count, sizeof *side->seeds, by_seed) != NULL;
}

/* Plans the missing runs: first for seeds that one of the two samples has, then for the smallest other
 * seeds. */
static void plan(const struct cli_diff *diff, uint64_t wanted, struct jobs *jobs)
{
    const struct cli_diff_side *a = &diff->a, *b = &diff->b;
    const size_t known = a->seed_count + b->seed_count;
    uint64_t missing = wanted - diff->pair_count;
    jobs->items = g_new0(struct job, 2 * missing);
    for (size_t i = 0; missing > 0; i++) {
        const uint64_t seed = i < a->seed_count ? a->seeds[i].seed
                              : i < known       ? b->seeds[i - a->seed_count].seed
                                                : i - known + 1;
        const bool is_in_a = has_seed(a, seed), is_in_b = has_seed(b, seed);
        if ((is_in_a && is_in_b) || (i >= known && (is_in_a || is_in_b)))
            continue;
        if (!is_in_a)
            jobs->items[jobs->count++] = (struct job){a, seed};
        if (!is_in_b && !diff->is_one_sample)
            jobs->items[jobs->count++] = (struct job){b, seed};
        missing--;
    }
}

/* Fails when the stored run is of another version, whose runs would belong to another sample. */
static bool check_version(const struct cli_diff_side *side, struct sim_error *error)
{
    const struct store_run_info *info = &side->stored.info;
    return strcmp(info->version, BUCKETLAB_VERSION) == 0 ||
           sim_fail(error, SIM_ERROR_INPUT,
                    "bucketlab: --seeds: run %" PRId64 " was stored by bucketlab %s, and this is %s, whose "
                    "runs may differ; run its scenario again, and compare that run",
                    info->run, info->version, BUCKETLAB_VERSION);
}

static bool make(void *context, uint64_t job, struct lab_scenario **out, struct sim_error *error)
{
    const struct jobs *jobs = context;
    return cli_scenario_again(jobs->args, &jobs->items[job].side->stored.info, NULL, jobs->items[job].seed,
                              out, error);
}

static bool take(void *context, uint64_t job, struct lab_result *result, int64_t elapsed_ms,
                 struct sim_error *error)
{
    struct jobs *jobs = context;
    struct store_run_info info = jobs->items[job].side->stored.info;
    info.created_unix_s = (int64_t)time(NULL);
    info.elapsed_ms = elapsed_ms;
    bool is_fine = store_save_run(jobs->store, &info, result, error);
    jobs->stored += is_fine;
    lab_result_destroy(result);
    return is_fine;
}

static bool run_missing(struct cli_diff *diff, struct store *store, const struct cli_args *args,
                        uint64_t wanted, struct sim_error *error)
{
    struct jobs jobs = {.args = args, .store = store};
    const int64_t a = diff->a.stored.info.run, b = diff->b.stored.info.run;
    if (diff->is_one_sample && diff->is_same_choice)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --seeds: runs %" PRId64 " and %" PRId64
                        " are of one scenario and differ only in their seed, so more seeds would show "
                        "nothing; leave it out",
                        a, b);
    if (lab_result_is_observed(diff->a.result) || lab_result_is_observed(diff->b.result))
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --seeds: run %" PRId64
                        " holds sizes from a file, the same for every seed; leave "
                        "it out, or put the file under 'observed' of the other run's scenario",
                        lab_result_is_observed(diff->a.result) ? a : b);
    if (!check_version(&diff->a, error) || !check_version(&diff->b, error))
        return false;
    plan(diff, wanted, &jobs);
    const struct cli_runs runs = {
        .name = "diff", .count = jobs.count, .context = &jobs, .make = make, .take = take};
    bool is_fine = cli_run_all(args, &runs, error);
    cli_release(args);
    if (args->signals->caught != 0)
        is_fine = sim_fail(error, SIM_ERROR_CHECK,
                           "interrupted; %" PRIu64 " of %zu runs are stored, and the same command resumes",
                           jobs.stored, jobs.count);
    g_free(jobs.items);
    return is_fine && pair_seeds(diff, store, error);
}

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
    diff->strategies = g_new0(struct cli_diff_strategy, a->strategy_count);
    for (size_t i = 0; i < a->strategy_count; i++) {
        const struct lab_strategy_result *other =
            is_chosen(&diff->a, &a->strategies[i]) ? partner(diff, &a->strategies[i]) : NULL;
        if (other != NULL)
            diff->strategies[diff->strategy_count++] =
                (struct cli_diff_strategy){.a = &a->strategies[i], .b = other};
    }
    if (diff->strategy_count > 0)
        return true;
    const int64_t one = diff->a.stored.info.run, other = diff->b.stored.info.run;
    return sim_fail(error, SIM_ERROR_INPUT,
                    "bucketlab: runs %" PRId64 " and %" PRId64
                    " have no strategy of the same label; name one of each, as in 'diff %" PRId64
                    ":%s %" PRId64 ":%s'",
                    one, other, one, a->strategies[0].label, other, diff->b.result->strategies[0].label);
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
static void list_figures(struct cli_diff_strategy *strategy, const struct cli_args *args)
{
    const struct lab_metrics *a = &strategy->a->metrics, *b = &strategy->b->metrics;
    strategy->figures = g_new0(struct cli_diff_figure, a->count + b->count);
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
}

static bool check_wanted(const struct cli_diff *diff, const struct cli_args *args, struct sim_error *error)
{
    size_t count = 0;
    for (size_t i = 0; i < diff->strategy_count; i++)
        count += diff->strategies[i].count;
    if (count > 0)
        return true;
    const struct lab_metrics *metrics = &diff->strategies[0].a->metrics;
    const char **names = g_new0(const char *, metrics->count), *wanted = cli_value(args, "metric", "");
    for (size_t i = 0; i < metrics->count; i++)
        names[i] = metrics->items[i].name;
    const char *near = lab_metric_nearest(wanted, names, metrics->count);
    g_free(names);
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
                    "bucketlab: --metric %s: no figure of that name; 'bucketlab show %" PRId64
                    " --json' has all",
                    wanted, diff->a.stored.info.run);
}

/* Adds the metrics of a run of each side, or, without pairs, of one side; the other is NULL. */
static void add(struct cli_diff_strategy *strategy, const struct lab_metrics *a, const struct lab_metrics *b)
{
    const bool is_pair = a != NULL && b != NULL;
    for (size_t i = 0; i < strategy->count; i++) {
        struct cli_diff_figure *figure = &strategy->figures[i];
        const struct lab_metric *one = a == NULL ? NULL : lab_metrics_find(a, figure->name),
                                *other = b == NULL ? NULL : lab_metrics_find(b, figure->name);
        const bool has_one = one != NULL && isfinite(one->value),
                   has_other = other != NULL && isfinite(other->value);
        if (is_pair && (one == NULL || other == NULL))
            continue;
        figure->is_infinite = figure->is_infinite || (one != NULL && isinf(one->value)) ||
                              (other != NULL && isinf(other->value));
        if (is_pair && !(has_one && has_other))
            continue;
        if (has_one)
            tune_sample_add(&figure->sample_a, one->value);
        if (has_other)
            tune_sample_add(&figure->sample_b, other->value);
        if (is_pair)
            tune_sample_add(&figure->differences, other->value - one->value);
    }
}

/* The runs are those of the pairs, or all of each side. */
static bool observe(const struct cli_diff *diff, struct store *store, struct cli_diff_strategy *strategy,
                    struct sim_error *error)
{
    const struct store_seed *in_a = diff->a.seeds, *in_b = diff->b.seeds;
    const bool is_paired = diff->test == CLI_DIFF_PAIRED;
    const size_t both = diff->a.seed_count + diff->b.seed_count, count = is_paired ? diff->pair_count
                                                                         : diff->test == CLI_DIFF_WELCH ? both
                                                                                                        : 0;
    bool is_fine = true;
    for (size_t i = 0; is_fine && i < count; i++) {
        const bool has_a = is_paired || i < diff->a.seed_count, has_b = is_paired || !has_a;
        struct lab_metrics a = {.items = NULL}, b = {.items = NULL};
        if (has_a)
            is_fine = store_load_metrics(store, is_paired ? diff->pairs[i].run_a : in_a[i].run,
                                         strategy->a->label, &a, error);
        if (is_fine && has_b)
            is_fine =
                store_load_metrics(store, is_paired ? diff->pairs[i].run_b : in_b[i - diff->a.seed_count].run,
                                   strategy->b->label, &b, error);
        if (is_fine)
            add(strategy, has_a ? &a : NULL, has_b ? &b : NULL);
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
    double *p_values = g_new0(double, most);
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
    g_free(p_values);
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

static bool compare_figures(struct cli_diff *diff, struct store *store, const struct cli_args *args,
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
        list_figures(strategy, args);
        if (!observe(diff, store, strategy, error) || !measure_gap(strategy, error))
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

static const struct cli_option options[] = {
    {"seeds", "N", "compare over N common seeds; runs the missing ones"},
    {"metric", "NAME", "only this figure, or all below NAME; repeatable"},
    {"all", NULL, "show every figure, even equal ones"},
    {"exit-code", NULL, "exit code 1 when the two differ"},
    {CLI_OPTION_DB},
    {CLI_OPTION_FILES},
    {CLI_OPTION_JOBS},
    {NULL, NULL, NULL}};

/* Loads "3", "last" or "3:LABEL". */
static bool load_side(const struct cli_args *args, size_t index, struct cli_diff_side *side,
                      struct sim_error *error)
{
    const char *text = cli_argument(args, index), *colon = strchr(text, ':');
    const struct lab_strategy_result *found;
    g_autofree char *number = colon == NULL ? g_strdup(text) : g_strndup(text, (gsize)(colon - text));
    int64_t run;
    if (!cli_run_parse(number, &run, error))
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: '%s' is not a run; give a number that 'bucketlab runs' lists, or "
                        "'last', and RUN:LABEL for one strategy of it",
                        number);
    if (!cli_stored_open(args, number, &side->stored, error))
        return false;
    side->label = colon == NULL ? NULL : colon + 1;
    side->result = side->stored.result;
    return side->label == NULL || cli_stored_find(&side->stored, side->label, &found, error);
}

/* Whether a strategy is compared with itself. */
static bool is_same_choice(const struct cli_diff *diff)
{
    const char *a = diff->a.label, *b = diff->b.label;
    return a == NULL || b == NULL || strcmp(a, b) == 0;
}

static bool compare(const struct cli_args *args, struct cli_diff *diff, struct sim_error *error)
{
    uint64_t wanted = 0;
    struct store *store;
    if (!cli_whole(args, "seeds", 2, 1000000, &wanted, error) ||
        !store_open(args->database, wanted > 0 ? STORE_WRITE : STORE_READ, &store, error))
        return false;
    bool is_fine = load_side(args, 0, &diff->a, error) && load_side(args, 1, &diff->b, error) &&
                   pair_seeds(diff, store, error);
    if (is_fine) {
        diff->is_same_choice = is_same_choice(diff);
        diff->is_same_digest = diff->is_same_choice && diff->a.result->digest == diff->b.result->digest;
        is_fine = (wanted <= diff->pair_count || run_missing(diff, store, args, wanted, error)) &&
                  compare_figures(diff, store, args, error);
    }
    store_close(store);
    return is_fine;
}

static bool run(const struct cli_args *args, struct sim_error *error)
{
    struct cli_diff diff = {.strategies = NULL};
    bool is_fine = compare(args, &diff, error);
    if (is_fine && args->is_json)
        cli_json_print(cli_diff_json(&diff));
    else if (is_fine)
        cli_diff_print(&diff, cli_has(args, "all"));
    if (is_fine && cli_has(args, "exit-code") && cli_diff_is_any(&diff)) {
        error->class = SIM_ERROR_CHECK;
        is_fine = false;
    }
    for (size_t i = 0; i < diff.strategy_count; i++)
        g_free(diff.strategies[i].figures);
    g_free(diff.strategies);
    g_free(diff.pairs);
    free(diff.a.seeds);
    free(diff.b.seeds);
    cli_stored_close(&diff.a.stored);
    cli_stored_close(&diff.b.stored);
    return is_fine;
}

const struct cli_command cli_diff = {
    .name = "diff",
    .arguments = "RUN[:LABEL] RUN[:LABEL]",
    .summary = "compare two stored runs, and test the differences for chance",
    .example = "  bucketlab diff 3 last\n  bucketlab diff 3 4 --seeds 10\n"
               "  bucketlab diff 3:hash 3:probabilistic\n",
    .options = options,
    .least = 2,
    .most = 2,
    .run = run,
};
