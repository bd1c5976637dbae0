/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints a look as a line of text, as a line of JSON, and as a file for Prometheus (text exposition format
 * 0.0.4). */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "cli/text.h"
#include "cli/text_file.h"
#include "kernel/time.h"
#include "watch.h"

/* Formats a size in its unit for display. */
static void tell_size(const struct watch *watch, uint64_t size, char *buffer)
{
    if (watch->question.unit == LAB_IN_BYTES)
        cli_compact_bytes((double)size, buffer);
    else
        cli_grouped(size, buffer);
}

static void print_line(const struct watch *watch, const struct watch_look *look)
{
    const struct lab_drift *drift = &look->drift;
    char at[SIM_TIME_TEXT_SIZE], size[CLI_NUMBER_SIZE], limit[CLI_NUMBER_SIZE], seen[CLI_NUMBER_SIZE],
        predicted[CLI_NUMBER_SIZE], beyond[CLI_NUMBER_SIZE], largest[CLI_NUMBER_SIZE];
    const char *rows = watch->question.unit == LAB_IN_ROWS ? " rows" : "";
    sim_time_format(look->time_s * SIM_SECOND, at);
    tell_size(watch, drift->size, size);
    tell_size(watch, drift->beyond_size, beyond);
    tell_size(watch, drift->largest_predicted, largest);
    tell_size(watch, watch->question.limit, limit);
    cli_grouped(drift->observed_count, seen);
    cli_grouped(drift->predicted_count, predicted);
    printf("%s run %" PRId64 ", look %" PRIu64 ": %s ", at, look->run, look->number,
           drift->is_drift ? "DRIFT from" : "fits");
    cli_print_text(stdout, watch->predicted->label);
    printf(" of run %" PRId64 "; distance %.3f, by chance at most %.3f (%s partitions, %s predicted)",
           watch->run, drift->distance, drift->allowed, seen, predicted);
    if (drift->is_far)
        printf("; %.1f%% of the partitions are up to %s%s, %.1f%% were predicted to be",
               100 * drift->observed, size, rows, 100 * drift->predicted);
    if (drift->beyond > 0)
        printf("; %" PRIu64 " partition%s %s or more%s, but the largest predicted one has %s%s",
               drift->beyond, drift->beyond == 1 ? " has" : "s have", beyond, rows, largest, rows);
    if (drift->is_over)
        printf("; at least %.2g%% of the partitions exceed %s%s, at most %.2g%% were predicted to",
               100 * drift->over_least, limit, rows, 100 * drift->over_most);
    putchar('\n');
}

static json_t *object_of(const struct watch *watch, const struct watch_look *look)
{
    const struct lab_drift *drift = &look->drift;
    json_t *object = json_object();
    bool ok =
        object != NULL && cli_json_set(object, "run", json_integer(look->run)) &&
        cli_json_set(object, "look", cli_json_whole(look->number)) &&
        cli_json_set(object, "predicted_run", json_integer(watch->run)) &&
        cli_json_set(object, "strategy", json_string(watch->predicted->label)) &&
        cli_json_set(object, "unit", json_string(watch->question.unit == LAB_IN_ROWS ? "rows" : "bytes")) &&
        cli_json_set(object, "partitions", cli_json_whole(drift->observed_count)) &&
        cli_json_set(object, "distance", cli_json_number(drift->distance)) &&
        cli_json_set(object, "allowed", cli_json_number(drift->allowed)) &&
        cli_json_set(object, "size", cli_json_whole(drift->size)) &&
        cli_json_set(object, "observed_share", cli_json_number(drift->observed)) &&
        cli_json_set(object, "predicted_share", cli_json_number(drift->predicted)) &&
        cli_json_set(object, "beyond", cli_json_whole(drift->beyond)) &&
        cli_json_set(object, "beyond_size", cli_json_whole(drift->beyond_size)) &&
        cli_json_set(object, "largest_predicted", cli_json_whole(drift->largest_predicted));
    if (ok && drift->has_limit)
        ok = cli_json_set(object, "over_limit_share", cli_json_number(drift->over)) &&
             cli_json_set(object, "over_limit_least", cli_json_number(drift->over_least)) &&
             cli_json_set(object, "over_limit_most_predicted", cli_json_number(drift->over_most));
    ok = ok && cli_json_set(object, "drift", json_boolean(drift->is_drift));
    return cli_json_complete(object, ok);
}

bool watch_print(const struct watch *watch, const struct watch_look *look, struct sim_error *error)
{
    if (watch->is_json)
        return cli_json_print(object_of(watch, look), error) && fflush(stdout) == 0;
    print_line(watch, look);
    fflush(stdout);
    return true;
}

/* Writes a label with its value, in which backslash, quote and line break are escaped. */
static void write_label(FILE *out, const char *name, const char *value)
{
    fprintf(out, "%s=\"", name);
    for (const char *c = value; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\' || *c == '\n')
            fputc('\\', out);
        fputc(*c == '\n' ? 'n' : *c, out);
    }
    fputc('"', out);
}

static void write_head(FILE *out, const char *name, const char *type, const char *help)
{
    fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* Writes NAME{scenario="..",strategy="..",more} value. */
static void write_value(FILE *out, const struct watch *watch, const char *name, const char *more,
                        double value)
{
    fprintf(out, "%s{", name);
    write_label(out, "scenario", watch->result->scenario_name);
    fputc(',', out);
    write_label(out, "strategy", watch->predicted->label);
    fprintf(out, "%s%s} %.17g\n", *more == '\0' ? "" : ",", more, value);
}

static void write_one(FILE *out, const struct watch *watch, const char *name, const char *help, double value)
{
    write_head(out, name, strstr(name, "_total") != NULL ? "counter" : "gauge", help);
    write_value(out, watch, name, "", value);
}

/* Writes the metrics with this name of either side. */
static void write_both(FILE *out, const struct watch *watch, const struct watch_look *look, const char *name,
                       const char *metric, const char *labels)
{
    const struct lab_strategy_result *const sides[] = {look->observed, watch->predicted};
    static const char *const names[] = {"observed", "predicted"};
    for (size_t i = 0; i < 2; i++) {
        const struct lab_metric *figure = lab_metrics_find(&sides[i]->metrics, metric);
        char more[128];
        snprintf(more, sizeof more, "source=\"%s\"%s", names[i], labels);
        if (figure != NULL)
            write_value(out, watch, name, more, figure->value);
    }
}

static void write_sizes(FILE *out, const struct watch *watch, const struct watch_look *look)
{
    static const char *const points[] = {"min", "p50", "p75", "p90", "p95", "p98", "p99", "p999", "max"};
    bool is_bytes = watch->question.unit == LAB_IN_BYTES;
    const char *name = is_bytes ? "bucketlab_partition_size_bytes" : "bucketlab_partition_size_rows";
    write_head(out, "bucketlab_partitions", "gauge",
               "Partitions of the table, and of the run that predicts it.");
    write_both(out, watch, look, "bucketlab_partitions", "partitions.total", "");
    write_head(out, name, "gauge", "Percentiles of the sizes of partitions.");
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        char metric[LAB_METRIC_NAME_SIZE], labels[64];
        snprintf(metric, sizeof metric, "partitions.all.%s.%s", is_bytes ? "bytes" : "rows", points[i]);
        snprintf(labels, sizeof labels, ",percentile=\"%s\"", points[i]);
        write_both(out, watch, look, name, metric, labels);
    }
    write_head(out, "bucketlab_partitions_over_limit", "gauge", "Partitions above a limit of the scenario.");
    write_both(out, watch, look, "bucketlab_partitions_over_limit", "partitions.over_limit", "");
}

bool watch_write_prometheus(const struct watch *watch, const struct watch_look *look, struct sim_error *error)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return sim_fail_memory(error);
    write_sizes(out, watch, look);
    write_one(out, watch, "bucketlab_drift_distance",
              "Difference between observed and predicted shares of partitions.", look->drift.distance);
    write_one(out, watch, "bucketlab_drift_allowed", "Difference that chance explains.", look->drift.allowed);
    write_one(out, watch, "bucketlab_partitions_beyond",
              "Largest partitions that are too large for the prediction.", (double)look->drift.beyond);
    write_one(out, watch, "bucketlab_drift", "1 where the sizes no longer fit the prediction, else 0.",
              look->drift.is_drift);
    write_one(out, watch, "bucketlab_watch_last_look_timestamp_seconds",
              "Time of the last look that succeeded.", (double)look->time_s);
    write_one(out, watch, "bucketlab_watch_looks_total", "Looks by this process that succeeded.",
              (double)watch->looked);
    write_one(out, watch, "bucketlab_watch_failures_total", "Looks by this process that failed.",
              (double)watch->failed);
    bool is_lost = ferror(out) != 0;
    if (fclose(out) != 0 || is_lost) {
        free(text);
        return sim_fail_memory(error);
    }
    bool is_fine = cli_text_file_write(watch->prometheus, text, size, error);
    free(text);
    return is_fine;
}
