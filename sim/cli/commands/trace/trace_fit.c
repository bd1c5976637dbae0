/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fits a synthetic scenario to a trace, and says how close it is: its file, a table, JSON, and the verdict.
 * Popularity, the daily curve, the rate over the span and the sizes are computed from the trace's summary;
 * bursts are found by trial. Each trial runs the strategies on the scenario, and the trial whose partitions
 * are closest to the trace's is chosen. It is judged on a separate seed. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base.h"
#include "kernel/time.h"
#include "lab/run.h"
#include "trace.h"

#define TRACE_FIT_STRATEGIES 5
#define TRACE_FIT_FIGURES    4 /* figures per strategy: p50 and p99 of rows, p50 and p99 of bytes */
#define TRACE_FIT_TEXT_SIZE  8192
#define TRACE_FIT_WITHIN     0.15

struct fit {
    const struct lab_scenario *trace;
    const struct trace_summary *summary;
    char strategies[512];
    size_t of_each; /* number of figures per strategy; 2 when the trace has no sizes */
    double wanted[TRACE_FIT_STRATEGIES][TRACE_FIT_FIGURES], found[TRACE_FIT_STRATEGIES][TRACE_FIT_FIGURES];
    double off; /* largest deviation of all figures */
    size_t worst_strategy, worst_figure;
    char text[TRACE_FIT_TEXT_SIZE]; /* the scenario */
};

#define FIT_SEEDS       2 /* the seeds 1 and 2 */
#define JUDGE_SEED      3
#define NEAR_ENOUGH     (TRACE_FIT_WITHIN / 2) /* a deviation at which no further trials are made */
#define ZIPF_MOST       3.0
#define ZIPF_STEP       0.01
#define Z_P99           2.3263 /* 99th percentile of the standard normal distribution */
#define PARTS           8      /* number of partitions per key, or windows in the span */
#define THRESHOLD_MOST  256    /* partitions of `probabilistic` then have a CV of one sixteenth */
#define FACTOR_LEAST    1e-3
#define FACTOR_IGNORE   0.02
#define LATE_MEAN_MOST  (365.0 * SIM_DAY) /* the largest arrivals.late.by */
#define LATE_SPANS_MOST 100.0             /* limits the number of windows that late rows may open */

/* Bursts: mean durations on and off as shares of the span, and the factor of the rate. */
struct bursts {
    double on, off, factor;
};

struct shape {
    bool has_points, has_parts;
    struct bursts bursts;
};

static const struct shape shapes[] = {
    {false, false, {0, 0, 1}}, {true, false, {0, 0, 1}}, {false, true, {0, 0, 1}}, {true, true, {0, 0, 1}}};

static const struct bursts bursts[] = {
    {0.001, 0.01, 10}, {0.001, 0.1, 100}, {0.015, 0.12, 5}, {0.015, 0.12, 20}, {0.06, 0.25, 5},
    {0.06, 0.25, 20},  {0.12, 0.5, 5},    {0.12, 0.5, 50},  {0.25, 1, 10},     {0.25, 1, 1000}};

/* The rank of a quantile, where rank 1 is the key with the most rows. */
static double rank_of(const struct trace_summary *summary, double share)
{
    return (double)summary->keys - ceil(share * (double)summary->keys) + 1;
}

static double misfit(const struct trace_summary *summary, double s)
{
    static const double shares[] = {0.5, 0.99};
    struct sim_zipf zipf;
    double off = 0;
    sim_zipf_init(&zipf, s, summary->keys);
    for (size_t i = 0; i < 2; i++) {
        double has = fmax(1, (double)lab_histogram_quantile(&summary->key_rows, shares[i]));
        uint64_t index = (uint64_t)rank_of(summary, shares[i]) - 1;
        off += fabs(log((double)summary->rows * sim_zipf_share(&zipf, index) / has));
    }
    return off;
}

static double fit_zipf(const struct trace_summary *summary)
{
    double best = 0, least = (double)INFINITY;
    for (int step = 0; step * ZIPF_STEP <= ZIPF_MOST; step++) {
        double off = misfit(summary, step * ZIPF_STEP);
        if (off < least) {
            least = off;
            best = step * ZIPF_STEP;
        }
    }
    return best;
}

/* Makes strategies whose partitions have an eighth of a mean key's rows, or an eighth of the span. */
static void make_strategies(struct fit *fit)
{
    const struct trace_summary *summary = fit->summary;
    uint64_t rows = summary->rows / summary->keys / PARTS, window_s;
    unsigned bits = 0;
    if (rows < 4)
        rows = 4;
    while (bits < 30 && (rows >> bits) > THRESHOLD_MOST)
        bits++;
    window_s = ((uint64_t)summary->last_ns - (uint64_t)summary->first_ns) / SIM_SECOND / PARTS;
    snprintf(fit->strategies, sizeof fit->strategies,
             "[{unbucketed: {}}, {time: {window: %" PRIu64 "s}}, {count: {rows: %" PRIu64
             ", counter: counter}}, {probabilistic: {bits: %u, threshold: %" PRIu64
             "}}, {hash: {buckets: %d}}]",
             window_s < 1 ? 1 : window_s, rows, bits, rows >> bits, PARTS);
}

static void put(char *text, const char *format, ...)
{
    size_t used = strlen(text);
    va_list values;
    va_start(values, format);
    vsnprintf(text + used, TRACE_FIT_TEXT_SIZE - used, format, values);
    va_end(values);
}

static void put_popularity(const struct trace_summary *summary, bool has_points, char *text)
{
    put(text, "keys:\n  count: %" PRIu32 "\n  popularity: ", summary->keys);
    if (!has_points) {
        put(text, "{zipf: %.2f}\n", fit_zipf(summary));
        return;
    }
    put(text, "{points: [");
    for (uint32_t i = 0; i < summary->rank_count; i++)
        put(text, "%s%s[%" PRIu32 ", %.10g]", i == 0 ? "" : ",", i % 8 == 0 ? "\n    " : " ",
            summary->ranks[i], fmax(0.5, (double)summary->rank_rows[i]));
    put(text, "]}\n");
}

/* Writes the rate in those parts of the span in which it differs from the mean. */
static void put_parts(const struct trace_summary *summary, uint64_t duration_s, char *text)
{
    put(text, "  spikes: # the rate over the span\n");
    for (uint64_t i = 0; i < TRACE_PARTS; i++) {
        uint64_t begin_ms = duration_s * 1000 * i / TRACE_PARTS,
                 end_ms = duration_s * 1000 * (i + 1) / TRACE_PARTS;
        double factor = (double)summary->parts[i] * TRACE_PARTS / (double)summary->rows;
        if (end_ms > begin_ms)
            put(text, "    - {at: %" PRIu64 "ms, lasts: %" PRIu64 "ms, factor: %.4g, keys: 100%%}\n",
                begin_ms, end_ms - begin_ms, fmax(FACTOR_LEAST, factor));
    }
}

static bool parts_differ(const struct trace_summary *summary)
{
    bool differ = false;
    for (uint64_t i = 0; i < TRACE_PARTS; i++)
        differ = differ ||
                 fabs((double)summary->parts[i] * TRACE_PARTS / (double)summary->rows - 1) > FACTOR_IGNORE;
    return differ;
}

static void put_sizes(const struct trace_summary *summary, char *text)
{
    double p50 = (double)lab_histogram_quantile(&summary->sizes, 0.5),
           p99 = (double)lab_histogram_quantile(&summary->sizes, 0.99);
    double mean = (double)summary->bytes / (double)summary->rows;
    if (!summary->has_sizes || mean < 1)
        return;
    if (p99 <= p50 || p50 < 1)
        put(text, "row: {bytes: %.0f}\n", mean);
    else
        put(text, "row: {bytes: {lognormal: {mean: %.0fB, sigma: %.3f}}}\n", mean, log(p99 / p50) / Z_P99);
}

/* Whether the scenario has late rows, by the share and the mean delay of the trace's. It has none if the
 * trace has none, or if a scenario cannot have such delays. */
static bool trace_fit_has_late(const struct trace_summary *summary)
{
    double span_ns = fmax((double)SIM_SECOND, (double)summary->last_ns - (double)summary->first_ns);
    return summary->late_rows > 0 && summary->late_mean_ns <= fmin(LATE_MEAN_MOST, LATE_SPANS_MOST * span_ns);
}

static void make_text(struct fit *fit, const struct shape *shape, unsigned seed)
{
    const struct trace_summary *summary = fit->summary;
    char start[SIM_TIME_TEXT_SIZE], *text = fit->text;
    double seconds = ((double)summary->last_ns - (double)summary->first_ns) / 1e9;
    uint64_t duration_s = (uint64_t)fmax(1, ceil(seconds));
    int64_t into_ns = summary->first_ns % SIM_SECOND;
    sim_time_format(summary->first_ns - (into_ns < 0 ? into_ns + SIM_SECOND : into_ns), start);
    text[0] = '\0';
    put(text, "seed: %u\nstart: %s\nduration: %" PRIu64 "s\n", seed, start, duration_s);
    put_popularity(summary, shape->has_points, text);
    put(text, "arrivals:\n  rate: %.9g/h\n", (double)summary->rows / (double)duration_s * 3600);
    double amplitude = fmin(1, (summary->busiest_over_mean - summary->quietest_over_mean) / 2);
    if (summary->has_day && amplitude > 0)
        put(text, "  daily: {amplitude: %.3f, peak: %dm}\n", amplitude, 60 * summary->busiest_hour + 30);
    if (shape->bursts.factor > 1)
        put(text, "  bursts: {on: %.0fms, off: %.0fms, factor: %g}\n",
            fmax(1, shape->bursts.on * (double)duration_s * 1e3),
            fmax(1, shape->bursts.off * (double)duration_s * 1e3), shape->bursts.factor);
    if (trace_fit_has_late(summary))
        put(text, "  late: {share: %.10g%%, by: %.0fus}\n",
            100 * (double)summary->late_rows / (double)summary->rows, fmax(1, summary->late_mean_ns / 1e3));
    if (shape->has_parts)
        put_parts(summary, duration_s, text);
    put_sizes(summary, text);
    put(text, "strategies: %s\n", fit->strategies);
}

static bool figures_of(const struct lab_scenario *scenario, const struct fit *fit,
                       double out[][TRACE_FIT_FIGURES], struct sim_error *error)
{
    static const char *const names[TRACE_FIT_FIGURES] = {"partitions.all.rows.p50", "partitions.all.rows.p99",
                                                         "partitions.all.bytes.p50",
                                                         "partitions.all.bytes.p99"};
    struct lab_result *result;
    if (!lab_run(scenario, 1, NULL, &result, error))
        return false;
    for (size_t strategy = 0; strategy < TRACE_FIT_STRATEGIES; strategy++) {
        for (size_t i = 0; i < fit->of_each; i++) {
            const struct lab_metric *metric =
                lab_metrics_find(&result->strategies[strategy].metrics, names[i]);
            out[strategy][i] = metric == NULL ? 0 : metric->value;
        }
    }
    lab_result_destroy(result);
    return true;
}

static bool run_trace(struct fit *fit, struct sim_error *error)
{
    char strategies[sizeof fit->strategies + 16];
    struct lab_scenario *scenario;
    const struct lab_scenario *trace = fit->trace;
    snprintf(strategies, sizeof strategies, "strategies=%s", fit->strategies);
    const struct lab_override more[] = {{strategies}};
    if (!lab_scenario_again(trace->path, trace->text, trace->overrides, more, 1, trace->seed, &scenario,
                            error))
        return false;
    bool is_fine = figures_of(scenario, fit, fit->wanted, error);
    lab_scenario_destroy(scenario);
    return is_fine;
}

static double trace_fit_off(double found, double wanted)
{
    return wanted > 0 ? fabs(found / wanted - 1) : found;
}

/* Runs the scenario of a shape, and computes its deviation. */
static bool try_shape(struct fit *fit, const struct shape *shape, unsigned seed, struct sim_error *error)
{
    struct lab_scenario *scenario;
    make_text(fit, shape, seed);
    if (!lab_scenario_parse("bucketlab trace", fit->text, strlen(fit->text), NULL, 0, NULL, &scenario, error))
        return false;
    bool is_fine = figures_of(scenario, fit, fit->found, error);
    lab_scenario_destroy(scenario);
    fit->off = 0;
    for (size_t i = 0; is_fine && i < TRACE_FIT_STRATEGIES * fit->of_each; i++) {
        size_t strategy = i / fit->of_each, figure = i % fit->of_each;
        double off = trace_fit_off(fit->found[strategy][figure], fit->wanted[strategy][figure]);
        if (off <= fit->off)
            continue;
        fit->off = off;
        fit->worst_strategy = strategy;
        fit->worst_figure = figure;
    }
    return is_fine;
}

/* Judges a shape by its worst seed. */
static bool try_better(struct fit *fit, const struct shape *shape, struct shape *best, double *least,
                       struct sim_error *error)
{
    double off = 0;
    if (*least <= NEAR_ENOUGH)
        return true;
    for (unsigned seed = 1; seed <= FIT_SEEDS && off < *least; seed++) {
        if (!try_shape(fit, shape, seed, error))
            return false;
        off = fmax(off, fit->off);
    }
    if (off < *least) {
        *least = off;
        *best = *shape;
    }
    return true;
}

/* Tries shapes without bursts first, from the simplest on; then bursts with the best of these. */
static bool find_shape(struct fit *fit, struct shape *best, struct sim_error *error)
{
    double least = (double)INFINITY;
    bool has_parts = parts_differ(fit->summary);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if ((has_parts || !shapes[i].has_parts) && !try_better(fit, &shapes[i], best, &least, error))
            return false;
    }
    struct shape shape = *best;
    for (size_t i = 0; i < sizeof bursts / sizeof *bursts; i++) {
        shape.bursts = bursts[i];
        if (!try_better(fit, &shape, best, &least, error))
            return false;
    }
    return true;
}

static bool make_fit(const struct lab_scenario *trace, const struct trace_summary *summary, struct fit *out,
                     struct sim_error *error)
{
    struct shape best = shapes[0];
    *out = (struct fit){
        .trace = trace, .summary = summary, .of_each = summary->has_sizes ? TRACE_FIT_FIGURES : 2};
    make_strategies(out);
    return run_trace(out, error) && find_shape(out, &best, error) && try_shape(out, &best, JUDGE_SEED, error);
}

static const char *const labels[TRACE_FIT_STRATEGIES] = {"unbucketed", "time", "count", "probabilistic",
                                                         "hash"};
static const char *const figures[TRACE_FIT_FIGURES] = {"rows p50", "rows p99", "bytes p50", "bytes p99"};
static const char *const members[TRACE_FIT_FIGURES] = {"rows_p50", "rows_p99", "bytes_p50", "bytes_p99"};

static void print_table(FILE *file, const struct fit *fit, const char *lead)
{
    static const struct cli_column columns[] = {
        {"strategy", "strategy", CLI_LABEL, .group = NULL}, {"partition", "figure", CLI_WORDS, .group = NULL},
        {"trace", "trace", CLI_EXACT, .group = NULL},       {"fit", "fit", CLI_EXACT, .group = NULL},
        {"off", "off", CLI_EXACT, .group = NULL},           {"", "mark", CLI_WORDS, .group = NULL}};
    json_t *rows = json_array();
    for (size_t i = 0; i < TRACE_FIT_STRATEGIES * fit->of_each; i++) {
        const size_t one = i / fit->of_each, figure = i % fit->of_each;
        const double off = trace_fit_off(fit->found[one][figure], fit->wanted[one][figure]);
        rows = cli_json_append(rows, CLI_OBJECT({"strategy", json_string(figure == 0 ? labels[one] : "")},
                                                {"figure", json_string(figures[figure])},
                                                {"trace", cli_json_number(fit->wanted[one][figure])},
                                                {"fit", cli_json_number(fit->found[one][figure])},
                                                {"off", json_sprintf("%.1f %%", 100 * off)},
                                                {"mark", json_string(off > TRACE_FIT_WITHIN ? "!" : "")}));
    }
    cli_table_print(
        file, &(struct cli_table){.rows = rows, .columns = columns, .count = 6, .lead = lead, .gap = 2});
    json_decref(rows);
}

/* What the scenario has of the trace's late rows; NULL when the trace has none. */
static const char *late_text(const struct fit *fit)
{
    if (fit->summary->late_rows == 0)
        return NULL;
    return trace_fit_has_late(fit->summary)
               ? "late rows have the share and the mean delay of the trace's; their delays are exponential, "
                 "and "
                 "not compared"
               : "the scenario has no late rows, as those of the trace are too late: 365 days, or 100 times "
                 "the span, is the most on average";
}

static bool write_fit(const struct fit *fit, const char *path, struct sim_error *error)
{
    char *whole = NULL;
    size_t size;
    FILE *stream = cli_memory_open(&whole, &size);
    fprintf(stream,
            "# Fitted to a trace by bucketlab trace, on another seed than this one. Its partitions:\n");
    print_table(stream, fit, "#   ");
    if (late_text(fit) != NULL)
        fprintf(stream, "# %s\n", late_text(fit));
    if (fit->off > TRACE_FIT_WITHIN)
        fprintf(stream, "# The fit failed: figures are more than %.0f %% off. Run the trace itself.\n",
                100 * TRACE_FIT_WITHIN);
    fputs(fit->text, stream);
    cli_memory_close(stream);
    bool is_fine = cli_file_write(path, whole, size, error);
    free(whole);
    return is_fine;
}

static void print_fit(const struct fit *fit, const char *path)
{
    printf("\n%s: a scenario fitted to the trace, judged on a seed that it was not fitted on\n\n", path);
    print_table(stdout, fit, "  ");
    if (fit->off <= TRACE_FIT_WITHIN)
        printf("\n  the fit holds: every figure is within %.0f %% of the trace's\n", 100 * TRACE_FIT_WITHIN);
    if (late_text(fit) != NULL)
        printf("  %s\n", late_text(fit));
    fflush(stdout);
}

static json_t *as_json(const struct fit *fit, const char *path)
{
    json_t *strategies = json_object();
    for (size_t i = 0; i < TRACE_FIT_STRATEGIES; i++) {
        json_t *one = json_object();
        for (size_t j = 0; j < fit->of_each; j++)
            one = cli_json_with(one, members[j],
                                CLI_OBJECT({"trace", cli_json_number(fit->wanted[i][j])},
                                           {"fit", cli_json_number(fit->found[i][j])}));
        strategies = cli_json_with(strategies, labels[i], one);
    }
    return CLI_OBJECT({"file", json_string(path)}, {"holds", json_boolean(fit->off <= TRACE_FIT_WITHIN)},
                      {"off", cli_json_number(fit->off)}, {"within", cli_json_number(TRACE_FIT_WITHIN)},
                      {"strategies", strategies});
}

static bool judge(const struct fit *fit, const char *path, struct sim_error *error)
{
    size_t strategy = fit->worst_strategy, figure = fit->worst_figure;
    return fit->off <= TRACE_FIT_WITHIN ||
           sim_fail(
               error, SIM_ERROR_CHECK,
               "%s: the fit failed: %s of %s is %.10g, and %.10g in the trace, %.0f %% off where %.0f %% is "
               "allowed; run the trace itself, or change the scenario by hand",
               path, figures[figure], labels[strategy], fit->found[strategy][figure],
               fit->wanted[strategy][figure], 100 * fit->off, 100 * TRACE_FIT_WITHIN);
}

bool trace_fit(const struct lab_scenario *trace, const struct trace_summary *summary, const char *path,
               bool is_json, json_t **json, struct sim_error *error)
{
    struct fit fit;
    if (!make_fit(trace, summary, &fit, error) || !write_fit(&fit, path, error))
        return false;
    if (is_json)
        *json = as_json(&fit, path);
    else
        print_fit(&fit, path);
    return judge(&fit, path, error);
}
