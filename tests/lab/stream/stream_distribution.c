/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two samples of n are compared with each other twice. First by the Mann-Whitney statistic: the share of
 * pairs in which the first value is the smaller one, with ties counted half, is a U-statistic with mean 1/2
 * when the distributions are equal, and P(|U - 1/2| >= t) <= 2 exp(-2 n t^2) (Hoeffding 1963, 5b). Then by
 * their largest distance (Kolmogorov and Smirnov), which is at most the sum of the two samples' distances
 * from the true distribution, each of which exceeds t / 2 with a chance of at most 2 exp(-n t^2 / 2) (Massart
 * 1990). Closed partitions of one key are the first k of a sequence of independent sizes, where k depends on
 * the sizes. Their distance from the exact distribution is therefore compared with a bound that holds for all
 * k together: Massart's bound with the chance alpha * 6 / (pi k)^2 for each k. Reads are a Poisson process
 * that is independent of the rows. For given rows, the number of reads that visit a certain number of
 * partitions is therefore a Poisson number, whose mean is the expected number: P(N >= n) or P(N <= n),
 * whichever is smaller, is at most exp(-D) with D = n ln(n / mean) - n + mean (Chernoff's bound). */
#include "stream_distribution.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/run.h"
#include "lab/scenario.h"
#include "lab/tally.h"
#include "stream_draw.h"
#include "tune/odds.h"

#define SAMPLES         500u
#define SQUARES_SUM     1.6449340668482264 /* of 1 / k^2 for k from 1 on: pi^2 / 6 */
#define PARTS           4                  /* of a run, for the times at which partitions begin */
#define METRICS_MAX     900u
#define KEYS_MANY       6000u
#define THREADS         3u
#define NAME_SIZE       (LAB_METRIC_NAME_SIZE + LAB_LABEL_SIZE_MAX + 2)
#define EXPECTED_RUNS   60
#define EXPECTED_NEAR   0.1 /* distance from a mean */
#define EXPECTED_ERRORS 8   /* in standard errors */
#define STRATEGIES_MOST 8
#define EXPECTED_SLACK  0.1    /* in reads */
#define NONE            (-1.0) /* a metric that the run does not have */

/* A strategy and a metric, with its value in each run of either mode. */
struct figure {
    char name[NAME_SIZE];
    double values[2][SAMPLES];
};

struct figures {
    struct figure *items;
    size_t count;
    size_t next; /* where to search first: runs mostly report their figures in one order */
};

static const char *const modes[2] = {"exact", "thinned"};

static void note(struct figures *figures, const char *label, const char *metric, int mode, size_t sample,
                 double value)
{
    char name[NAME_SIZE];
    size_t at = figures->next;
    snprintf(name, sizeof name, "%s.%s", label, metric);
    if (at >= figures->count || strcmp(figures->items[at].name, name) != 0) {
        for (at = 0; at < figures->count && strcmp(figures->items[at].name, name) != 0;)
            at++;
    }
    if (at == METRICS_MAX)
        abort();
    figures->next = at + 1;
    struct figure *figure = &figures->items[at];
    if (at == figures->count) {
        figures->count++;
        memcpy(figure->name, name, sizeof name);
        for (size_t i = 0; i < SAMPLES; i++)
            figure->values[0][i] = figure->values[1][i] = NONE;
    }
    figure->values[mode][sample] = value;
}

static void note_result(struct figures *figures, const struct lab_result *result, int mode, size_t sample)
{
    int64_t span_ns = result->end_ns - result->start_ns;
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_strategy_result *strategy = &result->strategies[i];
        double begun[LAB_STATES][PARTS] = {{0}};
        for (size_t j = 0; j < strategy->metrics.count; j++) {
            const struct lab_metric *metric = &strategy->metrics.items[j];
            if (strncmp(metric->name, "peak.", 5) != 0) /* the thinned mode has none */
                note(figures, strategy->label, metric->name, mode, sample, metric->value);
        }
        for (size_t j = 0; j < strategy->timeline.count; j++) {
            const struct lab_slice *slice = &strategy->timeline.items[j];
            int64_t part = (slice->start_ns - result->start_ns) / (span_ns / PARTS + 1);
            begun[slice->state][part] += (double)slice->partitions;
        }
        for (int state = 0; state < LAB_STATES; state++) {
            for (int part = 0; part < PARTS; part++) {
                char name[32];
                snprintf(name, sizeof name, "begun.%d.%d", state, part);
                note(figures, strategy->label, name, mode, sample, begun[state][part]);
            }
        }
    }
}

static struct lab_scenario *parse(const char *text, int mode, char *message, size_t size)
{
    char whole[STREAM_TEXT_SIZE + 32];
    struct lab_scenario *scenario;
    struct sim_error error;
    snprintf(whole, sizeof whole, "engine: %s\n%s", modes[mode], text);
    if (!lab_scenario_parse("distribution.yaml", whole, strlen(whole), NULL, 0, NULL, &scenario, &error)) {
        snprintf(message, size, "the drawn scenario is refused: %s", error.text);
        return NULL;
    }
    scenario->reads.are_expected = false;
    return scenario;
}

/* Returns the result of a run in a mode, which the caller must destroy; NULL, with a message, if it fails. */
static struct lab_result *run_text(uint64_t seed, const char *text, int mode, char *message, size_t size)
{
    struct lab_scenario *scenario = parse(text, mode, message, size);
    struct lab_result *result;
    struct sim_error error;
    if (scenario == NULL)
        return NULL;
    scenario->seed = scenario->workload.seed = seed;
    bool ok = lab_run(scenario, 1, NULL, &result, &error);
    if (!ok)
        snprintf(message, size, "%s", error.text);
    lab_scenario_destroy(scenario);
    return ok ? result : NULL;
}

/* The seeds of the two modes are unrelated, so that all samples are independent. */
static bool run_mode(uint64_t seed, const char *text, int mode, struct figures *figures, char *message,
                     size_t size)
{
    struct lab_scenario *scenario = parse(text, mode, message, size);
    bool ok = scenario != NULL;
    for (size_t i = 0; ok && i < SAMPLES; i++) {
        struct lab_result *result;
        struct sim_error error;
        scenario->seed = scenario->workload.seed = (seed * 2 + (uint64_t)mode) * SAMPLES + i;
        ok = lab_run(scenario, 1, NULL, &result, &error);
        if (!ok)
            snprintf(message, size, "%s", error.text);
        else
            note_result(figures, result, mode, i);
        lab_result_destroy(ok ? result : NULL);
    }
    lab_scenario_destroy(scenario);
    return ok;
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double mean_of(const double *values)
{
    double sum = 0;
    for (size_t i = 0; i < SAMPLES; i++)
        sum += values[i];
    return sum / SAMPLES;
}

static bool compare(struct figure *figure, char *message, size_t size)
{
    const double n = SAMPLES;
    double *exact = figure->values[0], *thinned = figure->values[1], smaller = 0, distance = 0;
    qsort(exact, SAMPLES, sizeof *exact, by_value);
    qsort(thinned, SAMPLES, sizeof *thinned, by_value);
    for (size_t i = 0, below = 0, upto = 0; i < SAMPLES; i++) {
        while (below < SAMPLES && exact[below] < thinned[i])
            below++;
        while (upto < SAMPLES && exact[upto] <= thinned[i])
            upto++;
        smaller += (double)(below + upto) / 2;
        /* Both distribution functions are compared just below this value, where it is the first of its kind,
         * and at the value. */
        bool is_first = i == 0 || thinned[i - 1] < thinned[i];
        bool is_last = i + 1 == SAMPLES || thinned[i + 1] > thinned[i];
        double under = is_first ? fabs((double)below - (double)i) / n : 0;
        double at = is_last ? fabs((double)upto - (double)(i + 1)) / n : 0;
        distance = fmax(distance, fmax(under, at));
    }
    double share = smaller / (n * n), share_most = sqrt(log(2 / STREAM_FALSE_ALARM) / (2 * n));
    double distance_most = 2 * sqrt(log(4 / STREAM_FALSE_ALARM) / (2 * n));
    if (fabs(share - 0.5) <= share_most && distance <= distance_most)
        return true;
    snprintf(message, size,
             "%s: exact %.6g on average, thinned %.6g; exact is the smaller one in %.3f of the pairs (0.5 +- "
             "%.3f), distance %.3f (at most %.3f)",
             figure->name, mean_of(exact), mean_of(thinned), share, share_most, distance, distance_most);
    return false;
}

bool stream_check_distribution(uint64_t seed, char *message, size_t size)
{
    char text[STREAM_TEXT_SIZE];
    stream_draw_distribution(seed, 1, text);
    struct figures figures = {calloc(METRICS_MAX, sizeof *figures.items), 0, 0};
    if (figures.items == NULL)
        abort();
    bool ok =
        run_mode(seed, text, 0, &figures, message, size) && run_mode(seed, text, 1, &figures, message, size);
    for (size_t i = 0; ok && i < figures.count; i++)
        ok = compare(&figures.items[i], message, size);
    free(figures.items);
    return ok;
}

static bool is_alike(const struct lab_strategy_result *one, const struct lab_strategy_result *several,
                     char *message, size_t size)
{
    bool ok = one->metrics.count == several->metrics.count;
    for (size_t i = 0; ok && i < one->metrics.count; i++)
        ok = memcmp(&one->metrics.items[i].value, &several->metrics.items[i].value, sizeof(double)) == 0;
    ok = ok && one->placement_digest == several->placement_digest;
    if (!ok)
        snprintf(message, size, "%s: one thread and %u find different figures", one->label, THREADS);
    return ok;
}

bool stream_check_threads(uint64_t seed, char *message, size_t size)
{
    char text[STREAM_TEXT_SIZE];
    struct lab_result *results[2] = {NULL, NULL};
    struct sim_error error = {.class = SIM_ERROR_NONE};
    stream_draw_distribution(seed, KEYS_MANY, text);
    struct lab_scenario *scenario = parse(text, 1, message, size);
    bool ok = scenario != NULL;
    if (ok && (!lab_run(scenario, 1, NULL, &results[0], &error) ||
               !lab_run(scenario, THREADS, NULL, &results[1], &error))) {
        snprintf(message, size, "%s", error.text);
        ok = false;
    }
    for (size_t i = 0; ok && i < results[0]->strategy_count; i++)
        ok = is_alike(&results[0]->strategies[i], &results[1]->strategies[i], message, size);
    lab_result_destroy(results[0]);
    lab_result_destroy(results[1]);
    lab_scenario_destroy(scenario);
    return ok;
}

/* P(size <= this size). */
static double exact_upto(const struct stream_single *single, uint64_t size)
{
    if (!single->is_weighted)
        return 1 - tune_above(&(struct tune_distribution){single->chance, single->threshold, 0}, size);
    const struct tune_distribution distribution =
        tune_weighted(single->unit_bytes, single->threshold, single->row_bytes);
    return 1 - tune_above(&distribution, size / single->row_bytes);
}

/* Between two sizes of the sample the empirical distribution is constant and the exact distribution
 * increases. */
static double distance_of(const struct stream_single *single, const struct lab_histogram *sizes)
{
    size_t count;
    struct lab_bin *bins = lab_histogram_sorted(sizes, &count);
    double distance = 0, below = 0;
    for (size_t i = 0; i < count; i++) {
        double upto = below + (double)bins[i].count / (double)sizes->count;
        double under = bins[i].size == 0 ? 0 : exact_upto(single, bins[i].size - 1);
        distance = fmax(distance, fabs(below - under));
        distance = fmax(distance, fabs(upto - exact_upto(single, bins[i].size)));
        below = upto;
    }
    free(bins);
    return distance;
}

static bool check_sizes(uint64_t seed, int mode, char *message, size_t size)
{
    char text[STREAM_TEXT_SIZE];
    struct stream_single single;
    bool is_thinned = mode == 1;
    stream_draw_single(seed, is_thinned ? 40000 : 3000, is_thinned ? 1e12 : 3e6, text, &single);
    struct lab_result *result = run_text(seed, text, mode, message, size);
    if (result == NULL)
        return false;
    const struct lab_strategy_result *strategy = &result->strategies[0];
    const struct lab_histogram *sizes = single.is_weighted ? &strategy->closed_bytes : &strategy->closed_rows;
    double k = (double)sizes->count, distance = k > 0 ? distance_of(&single, sizes) : 0;
    double most = k > 0 ? sqrt(log(2 * k * k * SQUARES_SUM / STREAM_FALSE_ALARM) / (2 * k)) : 1;
    bool ok = distance <= most;
    if (!ok)
        snprintf(message, size, "%s, %s: distance %.4g from the exact distribution, more than %.4g of %.0f",
                 modes[mode], strategy->label, distance, most, k);
    lab_result_destroy(result);
    return ok;
}

/* Whether n, the number of reads that visit a given number of partitions, fits the expected mean. The
 * expected figure is summed in parts, and each change of a read's partitions may lose one part. */
static bool is_poisson(double n, double mean)
{
    double least = mean > EXPECTED_SLACK ? mean - EXPECTED_SLACK : 0, most = mean + EXPECTED_SLACK;
    double near = n < least ? least : n > most ? most : n;
    return n * log(n > 0 ? n / near : 1) - n + near <= log(2 / STREAM_FALSE_ALARM);
}

static bool check_expected(const struct lab_strategy_result *drawn,
                           const struct lab_strategy_result *expected, char *message, size_t size)
{
    size_t counts[2];
    struct lab_bin *bins[2] = {lab_histogram_sorted(&drawn->read_partitions, &counts[0]),
                               lab_histogram_sorted(&expected->read_partitions, &counts[1])};
    bool ok = drawn->placement_digest == expected->placement_digest;
    snprintf(message, size, "%s: expected reads place rows in another way", drawn->label);
    for (size_t i = 0, j = 0; ok && (i < counts[0] || j < counts[1]);) {
        uint64_t one = i < counts[0] ? bins[0][i].size : UINT64_MAX,
                 other = j < counts[1] ? bins[1][j].size : UINT64_MAX, asked = one < other ? one : other;
        double n = one == asked ? (double)bins[0][i++].count : 0;
        double mean = other == asked ? (double)bins[1][j++].count / LAB_READ_PARTS : 0;
        ok = is_poisson(n, mean);
        snprintf(message, size, "%s: %.0f reads ask %" PRIu64 " partitions, expected are %.2f", drawn->label,
                 n, asked, mean);
    }
    free(bins[0]);
    free(bins[1]);
    return ok;
}

/* The mean number of partitions per read over runs, and the variance of that mean. */
struct mean {
    double sum, squares;
};

static double error_of(const struct mean *mean)
{
    double average = mean->sum / EXPECTED_RUNS;
    return (mean->squares / EXPECTED_RUNS - average * average) / (EXPECTED_RUNS - 1);
}

/* The thinned mode knows when rows are expected, not when they arrive, so its expected reads are only
 * approximately those of the exact mode. */
static bool check_expected_thinned(uint64_t seed, const char *text, char *message, size_t size)
{
    struct mean means[2][STRATEGIES_MOST] = {0};
    bool ok = true;
    size_t count = 0;
    for (int mode = 0; ok && mode < 2; mode++) {
        struct lab_scenario *scenario = parse(text, mode, message, size);
        ok = scenario != NULL;
        for (uint64_t i = 0; ok && i < EXPECTED_RUNS; i++) {
            struct lab_result *result = NULL;
            struct sim_error error;
            scenario->seed = scenario->workload.seed = (seed * 2 + (uint64_t)mode) * EXPECTED_RUNS + i;
            scenario->reads.are_expected = true;
            ok = lab_run(scenario, 1, NULL, &result, &error);
            if (!ok)
                snprintf(message, size, "%s", error.text);
            count = ok ? result->strategy_count : 0;
            for (size_t k = 0; k < count && k < STRATEGIES_MOST; k++) {
                const struct lab_histogram *asked = &result->strategies[k].read_partitions;
                double mean = (double)asked->sum / (double)asked->count;
                means[mode][k].sum += mean;
                means[mode][k].squares += mean * mean;
            }
            lab_result_destroy(result);
        }
        lab_scenario_destroy(scenario);
    }
    for (size_t k = 0; ok && k < count; k++) {
        double exact = means[0][k].sum / EXPECTED_RUNS, thinned = means[1][k].sum / EXPECTED_RUNS;
        double error = sqrt(fabs(error_of(&means[0][k])) + fabs(error_of(&means[1][k])));
        ok = fabs(exact - thinned) <= EXPECTED_NEAR * exact + EXPECTED_ERRORS * error;
        if (!ok)
            snprintf(message, size, "strategy %zu: expected reads ask %.3f partitions, thinned %.3f", k,
                     exact, thinned);
    }
    return ok;
}

bool stream_check_expected(uint64_t seed, char *message, size_t size)
{
    char text[STREAM_TEXT_SIZE];
    struct lab_result *results[2] = {NULL, NULL};
    struct sim_error error = {.class = SIM_ERROR_NONE};
    stream_draw_expected(seed, text);
    struct lab_scenario *scenario = parse(text, 0, message, size);
    bool ok = scenario != NULL;
    for (int i = 0; ok && i < 2; i++) {
        scenario->seed = scenario->workload.seed = seed;
        scenario->reads.are_expected = i == 1;
        ok = lab_reads_can_be_expected(scenario) && lab_run(scenario, 1, NULL, &results[i], &error);
        if (!ok)
            snprintf(message, size, "reads cannot be expected: %s", error.text);
    }
    for (size_t i = 0; ok && i < results[0]->strategy_count; i++)
        ok = check_expected(&results[0]->strategies[i], &results[1]->strategies[i], message, size);
    lab_result_destroy(results[0]);
    lab_result_destroy(results[1]);
    lab_scenario_destroy(scenario);
    ok = ok && (seed % 16 != 2 || check_expected_thinned(seed, text, message, size));
    return ok;
}

/* P(N <= n) of a Poisson number of at least one. */
static double poisson_upto(double mean, uint64_t n)
{
    double term = exp(-mean), sum = 0;
    for (uint64_t i = 1; i <= n; i++) {
        term *= mean / (double)i;
        sum += term;
    }
    return fmin(1, sum / (1 - exp(-mean)));
}

/* The largest distance of the sizes, and of the times of hash buckets' first rows, from their distribution.
 */
static double poisson_distance(const struct stream_poisson *drawn, const struct lab_result *result)
{
    const struct lab_strategy_result *strategy = &result->strategies[0];
    const struct lab_histogram *sizes = drawn->is_hash ? &strategy->open_rows : &strategy->closed_rows;
    size_t count;
    struct lab_bin *bins = lab_histogram_sorted(sizes, &count);
    double distance = 0, upto = 0, n = (double)sizes->count, before = 0;
    for (size_t i = 0; i < count; i++) {
        distance = fmax(distance, fabs(upto - poisson_upto(drawn->mean, bins[i].size - 1)));
        upto += (double)bins[i].count / n;
        distance = fmax(distance, fabs(upto - poisson_upto(drawn->mean, bins[i].size)));
    }
    free(bins);
    /* By the end of a slice the first rows of this share of buckets have come; windows are equally likely. */
    double span_ns = (double)(result->end_ns - result->start_ns), all = 1 - exp(-drawn->mean);
    for (size_t i = 0; i < strategy->timeline.count; i++) {
        const struct lab_slice *slice = &strategy->timeline.items[i];
        double until = (double)(slice->end_ns - result->start_ns) / span_ns;
        before += (double)slice->partitions / n;
        if (drawn->is_hash)
            distance = fmax(distance, fabs(before - (1 - exp(-drawn->mean * until)) / all));
        else if ((slice->end_ns - result->start_ns) % drawn->window_ns == 0)
            distance = fmax(distance, fabs(before - until));
    }
    return distance;
}

/* The rows of a key are a Poisson process, so their numbers in windows, and in hash buckets, are independent
 * Poisson numbers. A partition has at least one row. */
static bool check_poisson(uint64_t seed, int mode, char *message, size_t size)
{
    char text[STREAM_TEXT_SIZE];
    struct stream_poisson drawn;
    stream_draw_poisson(seed, text, &drawn);
    struct lab_result *result = run_text(seed, text, mode, message, size);
    if (result == NULL)
        return false;
    const struct lab_strategy_result *strategy = &result->strategies[0];
    double k = (double)(strategy->open_rows.count + strategy->closed_rows.count);
    double distance = poisson_distance(&drawn, result);
    double most = sqrt(log(2 * k * k * SQUARES_SUM / STREAM_FALSE_ALARM) / (2 * k));
    bool ok = distance <= most;
    if (!ok)
        snprintf(message, size,
                 "%s, %s of %.1f rows: distance %.4g from a Poisson process, more than %.4g of %.0f",
                 modes[mode], drawn.is_hash ? "buckets" : "windows", drawn.mean, distance, most, k);
    lab_result_destroy(result);
    return ok;
}

bool stream_check_sizes(uint64_t seed, char *message, size_t size)
{
    return check_sizes(seed, 0, message, size) && check_sizes(seed, 1, message, size) &&
           check_poisson(seed, 0, message, size) && check_poisson(seed, 1, message, size);
}
