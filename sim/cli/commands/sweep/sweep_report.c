/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints a sweep by point and strategy, as a table, JSON or CSV. */
#define _POSIX_C_SOURCE 200809L
#include "sweep_report.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/csv.h"
#include "cli/json.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cli/text_file.h"
#include "kernel/grow.h"
#include "lab/metric.h"
#include "tune/sample.h"

#define CONFIDENCE     0.95
#define LABEL_COLUMNS  16
#define FIGURE_COLUMNS 15
#define COLUMNS        4 /* metrics per line */
#define SETTINGS_SIZE  400

/* One metric of one strategy over the seeds of a point. */
struct figure {
    char *label;
    char name[LAB_METRIC_NAME_SIZE];
    struct tune_sample sample;
};

/* The current point's sums, and the outputs. */
struct sum {
    const struct cli_sweep_report *report;
    size_t point;
    struct figure *figures; /* metrics by strategy, in order */
    size_t count, capacity, next;
    uint64_t *failed; /* by point: number of jobs with a failed expectation */
    uint64_t *done;   /* by point */
    const char *columns[COLUMNS];
    size_t column_count; /* 0: not chosen yet */
    json_t *points;      /* with --json */
    FILE *csv;           /* with --csv: a stream in memory */
};

struct headline {
    const char *name, *title;
};

/* The first few of these metrics that a sweep has are shown. */
static const struct headline headlines[] = {
    {"partitions.all.rows.p99", "rows p99"},
    {"partitions.over_limit", "over limit"},
    {"writes.extra_ops_per_1000_rows", "ops per 1000"},
    {"reads.partitions_per_read.mean", "parts per read"},
    {"ids.per_second", "ids per s"},
    {"ids.lost", "ids lost"},
    {"latency.lease.p99", "lease p99 ms"},
    {"locks.busy", "locks busy"},
};
#define HEADLINE_COUNT (sizeof headlines / sizeof headlines[0])

static void count_done(struct sum *sum)
{
    const struct lab_sweep *sweep = sum->report->sweep;
    for (uint64_t job = 0; job < sweep->job_count; job++) {
        size_t point;
        uint64_t seed;
        lab_sweep_job(sweep, job, &point, &seed);
        sum->done[point] += store_sweep_is_done(sum->report->stored, job);
    }
}

static bool begin(struct sum *sum, struct sim_error *error)
{
    const struct cli_sweep_report *report = sum->report;
    sum->failed = calloc(report->sweep->point_count, sizeof *sum->failed);
    sum->done = calloc(report->sweep->point_count, sizeof *sum->done);
    if (report->is_json)
        sum->points = json_array();
    if (sum->failed == NULL || sum->done == NULL || (report->is_json && sum->points == NULL))
        return sim_fail_memory(error);
    count_done(sum);
    return true;
}

struct seen {
    const struct cli_sweep_report *report;
    bool *is_seen;
    size_t left;
};

static bool note_seen(void *context, uint64_t job, const char *label, const char *name, double value,
                      struct sim_error *error)
{
    struct seen *seen = context;
    (void)job, (void)label, (void)value, (void)error;
    for (size_t i = 0; i < seen->report->metric_count; i++) {
        if (!seen->is_seen[i] && strcmp(seen->report->metrics[i], name) == 0) {
            seen->is_seen[i] = true;
            seen->left--;
        }
    }
    return seen->left > 0;
}

static bool pass_failed(void *context, uint64_t job, struct sim_error *error)
{
    (void)context, (void)job, (void)error;
    return true;
}

/* The metrics to read, as a JSON list. */
static char *wanted_names(const struct cli_sweep_report *report, struct sim_error *error)
{
    json_t *list = json_array();
    size_t count = report->metric_count > 0 ? report->metric_count : HEADLINE_COUNT;
    for (size_t i = 0; list != NULL && i < count; i++)
        list = cli_json_append(
            list, json_string(report->metric_count > 0 ? report->metrics[i] : headlines[i].name));
    char *text = list == NULL ? NULL : cli_json_text(list);
    json_decref(list);
    if (text == NULL)
        sim_fail_memory(error);
    return text;
}

/* Fails for a metric that no run has, before anything is printed. */
static bool check_metrics(const struct cli_sweep_report *report, struct sim_error *error)
{
    struct seen seen = {report, calloc(report->metric_count + 1, sizeof(bool)), report->metric_count};
    const struct store_sweep_visitor visitor = {&seen, note_seen, pass_failed};
    struct sim_error end = {.class = SIM_ERROR_NONE};
    char *names = NULL;
    bool is_fine = seen.is_seen != NULL || sim_fail_memory(error);
    if (is_fine && report->metric_count > 0 && store_sweep_done(report->stored) > 0) {
        names = wanted_names(report, error);
        is_fine = names != NULL;
        /* The visit ends early, without an error, when all metrics were seen. */
        if (is_fine && !store_sweep_visit(report->stored, names, &visitor, &end) &&
            end.class != SIM_ERROR_NONE) {
            *error = end;
            is_fine = false;
        }
        for (size_t i = 0; is_fine && i < report->metric_count; i++) {
            if (!seen.is_seen[i])
                is_fine =
                    sim_fail(error, SIM_ERROR_INPUT,
                             "bucketlab: no run of this sweep has the metric '%s'; 'bucketlab show last "
                             "--json' names those of a run",
                             report->metrics[i]);
        }
    }
    free(names);
    free(seen.is_seen);
    return is_fine;
}

static bool note_failed(void *context, uint64_t job, struct sim_error *error)
{
    struct sum *sum = context;
    size_t point;
    uint64_t seed;
    (void)error;
    lab_sweep_job(sum->report->sweep, job, &point, &seed);
    sum->failed[point]++;
    return true;
}

/* Finds or makes a metric. Runs of a point have nearly the same metrics in the same order, so it is nearly
 * always the one after the last one. A metric that earlier runs did not have is added to those of its
 * strategy. */
static struct figure *figure_of(struct sum *sum, const char *label, const char *name)
{
    for (size_t i = 0; i < sum->count; i++) {
        struct figure *figure = &sum->figures[(sum->next + i) % sum->count];
        if (strcmp(figure->name, name) == 0 && strcmp(figure->label, label) == 0) {
            sum->next = (size_t)(figure - sum->figures) + 1;
            return figure;
        }
    }
    if (!sim_grow(&sum->figures, &sum->capacity, sum->count + 1, sizeof *sum->figures))
        return NULL;
    char *copy = strdup(label);
    if (copy == NULL)
        return NULL;
    size_t at = sum->count;
    while (at > 0 && strcmp(sum->figures[at - 1].label, label) != 0)
        at--;
    at = at > 0 ? at : sum->count;
    struct figure *figure = &sum->figures[at];
    memmove(figure + 1, figure, (sum->count - at) * sizeof *figure);
    *figure = (struct figure){.label = copy};
    snprintf(figure->name, sizeof figure->name, "%s", name);
    sum->count++;
    sum->next = at + 1;
    return figure;
}

static const struct figure *find(const struct sum *sum, const char *label, const char *name)
{
    for (size_t i = 0; i < sum->count; i++) {
        const struct figure *figure = &sum->figures[i];
        if ((label == NULL || strcmp(figure->label, label) == 0) && strcmp(figure->name, name) == 0 &&
            figure->sample.count > 0)
            return figure;
    }
    return NULL;
}

/* --- the table */

static void choose_columns(struct sum *sum)
{
    for (size_t i = 0; i < HEADLINE_COUNT && sum->column_count < COLUMNS; i++) {
        assert(lab_metric_row_of(headlines[i].name) != NULL);
        if (find(sum, NULL, headlines[i].name) != NULL)
            sum->columns[sum->column_count++] = headlines[i].name;
    }
}

/* A name that is too long for its column is replaced by a number, which the legend explains. */
static const char *title_of(const char *name, size_t column, char *buffer)
{
    for (size_t i = 0; i < HEADLINE_COUNT; i++) {
        if (strcmp(headlines[i].name, name) == 0)
            return headlines[i].title;
    }
    snprintf(buffer, CLI_NUMBER_SIZE, "%c", (char)('a' + column));
    return strlen(name) < FIGURE_COLUMNS ? name : buffer;
}

/* The columns have no room for units. */
static const char *unit_of(const char *name)
{
    const struct lab_metric_row *row = lab_metric_row_of(name);
    if (row == NULL)
        return "";
    return row->unit == LAB_METRIC_BYTES ? ", in bytes" : row->unit == LAB_METRIC_MS ? ", in ms" : "";
}

static void print_figure(const struct figure *figure)
{
    char value[CLI_NUMBER_SIZE], half[CLI_NUMBER_SIZE], text[3 * CLI_NUMBER_SIZE] = "-";
    if (figure != NULL) {
        double width = tune_sample_mean_interval(&figure->sample, CONFIDENCE).high - figure->sample.mean;
        cli_compact(figure->sample.mean, 5, value);
        if (isfinite(width)) {
            cli_compact(width, 5, half);
            snprintf(text, sizeof text, "%s +- %s", value, half);
        } else {
            snprintf(text, sizeof text, "%s", value);
        }
    }
    printf(" %*s", FIGURE_COLUMNS - 1, text);
}

static void print_lines(const struct sum *sum, const char *const *columns, size_t count)
{
    char letter[CLI_NUMBER_SIZE];
    if (sum->count == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        if (title_of(columns[i], i, letter) == letter)
            printf("  %s: %s%s\n", letter, columns[i], unit_of(columns[i]));
    }
    printf("  %-*s", LABEL_COLUMNS, "strategy");
    for (size_t i = 0; i < count; i++)
        printf(" %*s", FIGURE_COLUMNS - 1, title_of(columns[i], i, letter));
    fputs("\n", stdout);
    for (size_t i = 0; i < sum->count; i++) {
        const char *label = sum->figures[i].label;
        if (i > 0 && strcmp(label, sum->figures[i - 1].label) == 0)
            continue;
        fputs("  ", stdout);
        cli_print_text(stdout, label);
        size_t width = cli_text_width(label);
        if (width > LABEL_COLUMNS)
            printf("\n  %*s", LABEL_COLUMNS, "");
        else
            printf("%*s", LABEL_COLUMNS - (int)width, "");
        for (size_t c = 0; c < count; c++)
            print_figure(find(sum, label, columns[c]));
        fputs("\n", stdout);
    }
}

static void print_point(struct sum *sum)
{
    const struct cli_sweep_report *report = sum->report;
    char settings[SETTINGS_SIZE], head[64];
    size_t column = (size_t)snprintf(head, sizeof head, "\npoint %zu:", sum->point + 1) - 1;
    fputs(head, stdout);
    lab_sweep_describe(report->sweep->points[sum->point].settings, true, settings, sizeof settings);
    column = cli_print_wrapped(settings, column);
    uint64_t failed = sum->failed[sum->point];
    snprintf(head, sizeof head, "(%" PRIu64 " of %" PRIu64 " runs%s", sum->done[sum->point],
             report->sweep->points[sum->point].seed_count, failed > 0 ? ";" : ")");
    column = cli_print_wrapped(head, column);
    if (failed > 0) {
        snprintf(head, sizeof head, "expectations failed in %" PRIu64 ")", failed);
        cli_print_wrapped(head, column);
    }
    fputs("\n", stdout);
    if (report->metric_count > 0) {
        for (size_t i = 0; i < report->metric_count; i += COLUMNS)
            print_lines(sum, report->metrics + i,
                        report->metric_count - i < COLUMNS ? report->metric_count - i : COLUMNS);
        return;
    }
    if (sum->column_count == 0)
        choose_columns(sum);
    print_lines(sum, sum->columns, sum->column_count);
}

/* --- JSON and CSV */

static json_t *settings_as_json(const char *settings)
{
    json_t *object = json_object();
    bool is_fine = object != NULL;
    for (const char *line = settings; is_fine && *line != '\0';) {
        size_t length = strcspn(line, "\n"), path = strcspn(line, "=");
        char *name = strndup(line, path);
        is_fine =
            name != NULL && cli_json_set(object, name, json_stringn(line + path + 1, length - path - 1));
        free(name);
        line += length + 1;
    }
    return cli_json_complete(object, is_fine);
}

static json_t *figure_as_json(const struct figure *figure)
{
    const struct tune_interval interval = tune_sample_mean_interval(&figure->sample, CONFIDENCE);
    json_t *object = json_object();
    bool is_fine = cli_json_set(object, "mean", cli_json_number(figure->sample.mean)) &&
                   cli_json_set(object, "stddev", cli_json_number(tune_sample_stddev(&figure->sample))) &&
                   cli_json_set(object, "low", cli_json_number(interval.low)) &&
                   cli_json_set(object, "high", cli_json_number(interval.high)) &&
                   cli_json_set(object, "count", cli_json_whole(figure->sample.count));
    return cli_json_complete(object, is_fine);
}

static json_t *strategies_as_json(const struct sum *sum)
{
    json_t *list = json_array();
    for (size_t i = 0, next; list != NULL && i < sum->count; i = next) {
        json_t *object = json_object(), *metrics = json_object();
        const char *label = sum->figures[i].label;
        bool is_fine = metrics != NULL;
        for (next = i; next < sum->count && strcmp(sum->figures[next].label, label) == 0; next++) {
            if (sum->figures[next].sample.count > 0)
                is_fine = is_fine &&
                          cli_json_set(metrics, sum->figures[next].name, figure_as_json(&sum->figures[next]));
        }
        is_fine = cli_json_set(object, "label", json_string(label)) && is_fine;
        is_fine = cli_json_set(object, "metrics", metrics) && is_fine;
        list = cli_json_append(list, cli_json_complete(object, is_fine));
    }
    return list;
}

static json_t *point_as_json(const struct sum *sum)
{
    const struct lab_sweep_point *point = &sum->report->sweep->points[sum->point];
    json_t *object = json_object();
    bool is_fine = cli_json_set(object, "point", json_integer((json_int_t)sum->point + 1)) &&
                   cli_json_set(object, "settings", settings_as_json(point->settings)) &&
                   cli_json_set(object, "seeds", cli_json_whole(point->seed_count)) &&
                   cli_json_set(object, "done", cli_json_whole(sum->done[sum->point])) &&
                   cli_json_set(object, "expects_failed", cli_json_whole(sum->failed[sum->point])) &&
                   cli_json_set(object, "strategies", strategies_as_json(sum));
    return cli_json_complete(object, is_fine);
}

/* Writes a quoted text (RFC 4180), with line breaks replaced by "; ", so that a row is one line. */
static void write_csv_text(FILE *csv, const char *text)
{
    fprintf(csv, "\"%s", cli_csv_guard(text));
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\n')
            fputs(c[1] == '\0' ? "" : "; ", csv);
        else if (*c == '"')
            fputs("\"\"", csv);
        else
            fputc(*c, csv);
    }
    fputc('"', csv);
}

/* Writes a number; an infinite one is an empty field. */
static void write_csv_number(FILE *csv, double value)
{
    if (isfinite(value))
        fprintf(csv, ",%.17g", value);
    else
        fputc(',', csv);
}

static void write_csv(const struct sum *sum)
{
    for (size_t i = 0; i < sum->count; i++) {
        const struct figure *figure = &sum->figures[i];
        const struct tune_interval interval = tune_sample_mean_interval(&figure->sample, CONFIDENCE);
        if (figure->sample.count == 0)
            continue;
        fprintf(sum->csv, "%zu,", sum->point + 1);
        write_csv_text(sum->csv, sum->report->sweep->points[sum->point].settings);
        fputc(',', sum->csv);
        write_csv_text(sum->csv, figure->label);
        fprintf(sum->csv, ",%s,%" PRIu64, figure->name, figure->sample.count);
        write_csv_number(sum->csv, figure->sample.mean);
        write_csv_number(sum->csv, tune_sample_stddev(&figure->sample));
        write_csv_number(sum->csv, interval.low);
        write_csv_number(sum->csv, interval.high);
        fputc('\n', sum->csv);
    }
}

static bool end_point(struct sum *sum, struct sim_error *error)
{
    if (sum->csv != NULL)
        write_csv(sum);
    if (!sum->report->is_json) {
        print_point(sum);
        return true;
    }
    sum->points = cli_json_append(sum->points, point_as_json(sum));
    return sum->points != NULL || sim_fail_memory(error);
}

/* Finishes the points before `until`, which are complete. */
static bool end_points(struct sum *sum, size_t until, struct sim_error *error)
{
    for (; sum->point < until; sum->point++) {
        if (!end_point(sum, error))
            return false;
        for (size_t i = 0; i < sum->count; i++)
            free(sum->figures[i].label);
        sum->count = sum->next = 0;
    }
    return true;
}

static bool add_metric(void *context, uint64_t job, const char *label, const char *name, double value,
                       struct sim_error *error)
{
    struct sum *sum = context;
    size_t point;
    uint64_t seed;
    lab_sweep_job(sum->report->sweep, job, &point, &seed);
    if (!end_points(sum, point, error))
        return false;
    struct figure *figure = figure_of(sum, label, name);
    if (figure == NULL)
        return sim_fail_memory(error);
    if (isfinite(value))
        tune_sample_add(&figure->sample, value);
    return true;
}

static void print_head(const struct cli_sweep_report *report)
{
    const struct lab_sweep *sweep = report->sweep;
    char jobs[CLI_NUMBER_SIZE], done[CLI_NUMBER_SIZE];
    cli_grouped(sweep->job_count, jobs);
    cli_grouped(store_sweep_done(report->stored), done);
    cli_print_text(stdout, sweep->name);
    printf(": %zu point%s, %s of %s runs done\n", sweep->point_count, sweep->point_count == 1 ? "" : "s",
           done, jobs);
    printf("means over seeds +- half the width of their 95 %% interval\n");
}

/* Prints which metrics the column headings mean; docs/metrics.md explains the metrics. */
static void print_legend(const struct sum *sum)
{
    bool is_first = true;
    size_t column = 0;
    for (size_t i = 0; i < HEADLINE_COUNT; i++) {
        const struct headline *headline = &headlines[i];
        const char *const *shown = sum->report->metric_count > 0 ? sum->report->metrics : sum->columns;
        size_t count = sum->report->metric_count > 0 ? sum->report->metric_count : sum->column_count;
        bool is_shown = false;
        for (size_t c = 0; c < count; c++)
            is_shown = is_shown || strcmp(shown[c], headline->name) == 0;
        if (!is_shown)
            continue;
        char text[160];
        snprintf(text, sizeof text, "%s: %s", headline->title, headline->name);
        bool fits = !is_first && column + strlen("; ") + strlen(text) <= 79;
        printf("%s%s", is_first ? "\n" : fits ? "; " : "\n", text);
        column = (fits ? column + strlen("; ") : 0) + strlen(text);
        is_first = false;
    }
    fputs(is_first ? "" : "\n", stdout);
}

static json_t *as_json(const struct cli_sweep_report *report, json_t *points)
{
    char identity[17], digest[17];
    snprintf(identity, sizeof identity, "%016" PRIx64, report->sweep->identity);
    snprintf(digest, sizeof digest, "%016" PRIx64, report->digest);
    json_t *object = json_object();
    bool is_fine = cli_json_set(object, "sweep", json_integer(store_sweep_number(report->stored))) &&
                   cli_json_set(object, "scenario", json_string(report->sweep->name)) &&
                   cli_json_set(object, "identity", json_string(identity)) &&
                   cli_json_set(object, "digest", json_string(digest)) &&
                   cli_json_set(object, "jobs", cli_json_whole(report->sweep->job_count)) &&
                   cli_json_set(object, "done", cli_json_whole(store_sweep_done(report->stored)));
    is_fine = cli_json_set(object, "points", points) && is_fine;
    return cli_json_complete(object, is_fine);
}

bool cli_sweep_report(const struct cli_sweep_report *report, struct sim_error *error)
{
    struct sum sum = {.report = report};
    const struct store_sweep_visitor visitor = {&sum, add_metric, note_failed};
    char *csv_text = NULL, *names = NULL;
    size_t csv_size = 0;
    bool is_fine = begin(&sum, error) && check_metrics(report, error);
    if (is_fine && report->csv != NULL) {
        sum.csv = open_memstream(&csv_text, &csv_size);
        is_fine = (sum.csv != NULL &&
                   fputs("point,settings,label,metric,count,mean,stddev,low,high\n", sum.csv) >= 0) ||
                  sim_fail_memory(error);
    }
    if (is_fine && !report->is_json)
        print_head(report);
    bool is_all = report->metric_count == 0 && (report->is_json || report->csv != NULL);
    is_fine = is_fine && (is_all || (names = wanted_names(report, error)) != NULL) &&
              store_sweep_visit(report->stored, names, &visitor, error) &&
              end_points(&sum, report->sweep->point_count, error);
    if (sum.csv != NULL) {
        bool is_whole = !ferror(sum.csv);
        is_whole = fclose(sum.csv) == 0 && is_whole;
        is_fine = is_fine && (is_whole || sim_fail_memory(error)) &&
                  cli_text_file_write(report->csv, csv_text, csv_size, error);
    }
    if (is_fine && report->is_json) {
        is_fine = cli_json_print(as_json(report, sum.points), error);
        sum.points = NULL;
    } else if (is_fine) {
        print_legend(&sum);
        printf("\nsweep %" PRId64 " in ", store_sweep_number(report->stored));
        cli_print_text(stdout, report->database);
        printf(", digest %016" PRIx64 "\n", report->digest);
    }
    json_decref(sum.points);
    for (size_t i = 0; i < sum.count; i++)
        free(sum.figures[i].label);
    free(sum.figures);
    free(sum.failed);
    free(sum.done);
    free(csv_text);
    free(names);
    return is_fine;
}
