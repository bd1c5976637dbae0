/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab trace: describes a file of rows, and anonymises it. */
#include "cli/commands/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "cli/outputs.h"
#include "cli/text.h"
#include "cli/text_file.h"
#include "cli/warnings.h"
#include "kernel/grow.h"
#include "kernel/time.h"
#include "trace_anonymise.h"
#include "trace_fit.h"
#include "trace_summary.h"
#include "trace_yaml.h"

static const struct cli_option options[] = {
    {"columns", "SPEC",
     "time=COLUMN,key=COLUMN+COLUMN,bytes=COLUMN; also\narrived, count and bytes_of; by name or number"},
    {"sort", NULL, "the rows are in no order; the same as trace.sort=true"},
    {"set", "PATH=VALUE", "a field of trace in a scenario, as in trace.time=ms;\nrepeatable"},
    {"anonymise", "FILE", "write the rows with numbers instead of keys; - for stdout"},
    {"scenario", "FILE", "write a scenario of these rows, for run and tune"},
    {"emit-scenario", "FILE", "write a synthetic scenario fitted to the trace"},
    CLI_OPTION_JSON,
    CLI_OPTION_QUIET,
    {NULL, NULL, NULL}};

/* A scenario with only the trace, so that the fields are read as in any scenario. */
static bool read_format(const struct cli_args *args, struct lab_scenario **out, struct sim_error *error)
{
    static const char head[] = "strategies: [{unbucketed: {}}]\n";
    bool is_written = cli_has(args, "scenario");
    char *yaml = trace_yaml(args, cli_argument(args, 0), is_written, error);
    size_t size = yaml == NULL ? 0 : sizeof head + strlen(yaml), count = 0;
    char *text = malloc(size + 1);
    struct lab_override *overrides = NULL;
    *out = NULL;
    bool ok = yaml != NULL && (text != NULL || sim_fail_memory(error));
    if (ok)
        snprintf(text, size, "%s%s", head, yaml);
    ok = ok && (is_written || cli_overrides(args, &overrides, &count, error)) &&
         lab_scenario_parse("bucketlab trace", text, size - 1, overrides, count, NULL, out, error);
    free(overrides);
    free(text);
    free(yaml);
    return ok;
}

static void print_peak(const char *name, const struct trace_peak *peak)
{
    char time[SIM_TIME_TEXT_SIZE], rows[CLI_NUMBER_SIZE];
    if (peak->slot_ns == 0)
        return;
    sim_time_format(peak->begin_ns, time);
    cli_grouped(peak->rows, rows);
    printf("  peak %-7s %s rows, %.3g times the mean, from %s; %.3g%% of %ss are empty\n", name, rows,
           peak->over_mean, time, 100 * peak->empty, name);
}

static void print_sizes(const struct trace_summary *summary)
{
    char p50[CLI_NUMBER_SIZE], p99[CLI_NUMBER_SIZE], most[CLI_NUMBER_SIZE], all[CLI_NUMBER_SIZE];
    cli_grouped(trace_summary_quantile(&summary->key_rows, 0.5), p50);
    cli_grouped(trace_summary_quantile(&summary->key_rows, 0.99), p99);
    cli_grouped(summary->key_rows.most, most);
    printf("  rows per key p50 %s, p99 %s, max %s\n", p50, p99, most);
    if (summary->has_sizes) {
        cli_compact_bytes((double)trace_summary_quantile(&summary->sizes, 0.5), p50);
        cli_compact_bytes((double)trace_summary_quantile(&summary->sizes, 0.99), p99);
        cli_compact_bytes((double)summary->sizes.most, most);
        cli_compact_bytes((double)summary->bytes, all);
        printf("  row sizes    p50 %s, p99 %s, max %s, all %s\n", p50, p99, most, all);
    }
    if (summary->has_gaps && summary->gaps_ms.count > 0)
        printf("  gaps         between rows of a key: p50 %.3g s, p99 %.3g s, max %.3g s\n",
               (double)trace_summary_quantile(&summary->gaps_ms, 0.5) / 1e3,
               (double)trace_summary_quantile(&summary->gaps_ms, 0.99) / 1e3,
               (double)summary->gaps_ms.most / 1e3);
}

static void print_late(const struct trace_summary *summary)
{
    if (!summary->has_arrivals)
        return;
    printf("  late         %.3g%% of the rows arrive after their own time",
           100 * (double)summary->late_rows / (double)summary->rows);
    if (summary->late_rows > 0)
        printf(": p50 %.3g s, p99 %.3g s, max %.3g s",
               (double)trace_summary_quantile(&summary->late_ms, 0.5) / 1e3,
               (double)trace_summary_quantile(&summary->late_ms, 0.99) / 1e3,
               (double)summary->late_ms.most / 1e3);
    putchar('\n');
}

static void print_growth(const struct trace_summary *summary)
{
    char doubles[CLI_SPAN_SIZE];
    if (summary->second_half == 0)
        return;
    printf("  growth       the second half has %.3g times the rows of the first", summary->second_half);
    cli_span(tune_growth_doubles(&summary->growth), doubles);
    if (summary->growth.per_day > 0)
        printf("; the rate doubles every %s", doubles);
    putchar('\n');
}

static double span_seconds(const struct trace_summary *summary)
{
    return ((double)summary->last_ns - (double)summary->first_ns) / 1e9;
}

static void print_text(const char *file, const struct trace_summary *summary)
{
    char rows[CLI_NUMBER_SIZE], keys[CLI_NUMBER_SIZE], first[SIM_TIME_TEXT_SIZE], last[SIM_TIME_TEXT_SIZE];
    double seconds = span_seconds(summary);
    cli_grouped(summary->rows, rows);
    cli_grouped(summary->keys, keys);
    sim_time_format(summary->first_ns, first);
    sim_time_format(summary->last_ns, last);
    cli_print_text(stdout, file);
    printf(": ");
    cli_print_text(stdout, summary->read_as);
    printf("\n%s rows of %s keys, %s to %s,\n%.3g days", rows, keys, first, last, seconds / 86400);
    if (seconds > 0)
        printf(", %.3g rows/s", (double)summary->rows / seconds);
    printf("\n\n  skew         busiest key %.3g%% of the rows, busiest 1%% of keys %.3g%%, 10%% %.3g%%\n",
           100 * summary->top_key, 100 * summary->top_1_percent, 100 * summary->top_10_percent);
    print_sizes(summary);
    print_late(summary);
    print_peak("minute", &summary->minute);
    print_peak("hour", &summary->hour);
    print_growth(summary);
    if (summary->has_day)
        printf(
            "  day          busiest hour %02d:00 UTC with %.3g times the mean, quietest %02d:00 with %.3g\n",
            summary->busiest_hour, summary->busiest_over_mean, summary->quietest_hour,
            summary->quietest_over_mean);
}

static json_t *quantiles(const struct lab_histogram *histogram, bool is_known)
{
    if (!is_known || histogram->count == 0)
        return json_null();
    json_t *object = json_object();
    bool is_fine = cli_json_set(object, "p50", cli_json_whole(trace_summary_quantile(histogram, 0.5))) &&
                   cli_json_set(object, "p99", cli_json_whole(trace_summary_quantile(histogram, 0.99))) &&
                   cli_json_set(object, "max", cli_json_whole(histogram->most));
    return cli_json_complete(object, is_fine);
}

static json_t *peak_json(const struct trace_peak *peak)
{
    char time[SIM_TIME_TEXT_SIZE];
    if (peak->slot_ns == 0)
        return json_null();
    json_t *object = json_object();
    sim_time_format(peak->begin_ns, time);
    bool is_fine = cli_json_set(object, "begin", json_string(time)) &&
                   cli_json_set(object, "rows", cli_json_whole(peak->rows)) &&
                   cli_json_set(object, "over_mean", cli_json_number(peak->over_mean)) &&
                   cli_json_set(object, "empty_share", cli_json_number(peak->empty));
    return cli_json_complete(object, is_fine);
}

static json_t *day_json(const struct trace_summary *summary)
{
    if (!summary->has_day)
        return json_null();
    json_t *object = json_object();
    bool is_fine = cli_json_set(object, "busiest_hour", json_integer(summary->busiest_hour)) &&
                   cli_json_set(object, "busiest_over_mean", cli_json_number(summary->busiest_over_mean)) &&
                   cli_json_set(object, "quietest_hour", json_integer(summary->quietest_hour)) &&
                   cli_json_set(object, "quietest_over_mean", cli_json_number(summary->quietest_over_mean));
    return cli_json_complete(object, is_fine);
}

static bool print_json(const char *file, const struct trace_summary *summary, const struct trace_fit *fit,
                       const char *fitted, struct sim_error *error)
{
    char first[SIM_TIME_TEXT_SIZE], last[SIM_TIME_TEXT_SIZE];
    json_t *object = json_object();
    sim_time_format(summary->first_ns, first);
    sim_time_format(summary->last_ns, last);
    bool is_fine =
        cli_json_set(object, "file", json_string(file)) &&
        cli_json_set(object, "read_as", json_string(summary->read_as)) &&
        cli_json_set(object, "rows", cli_json_whole(summary->rows)) &&
        cli_json_set(object, "keys", json_integer(summary->keys)) &&
        cli_json_set(object, "first", json_string(first)) &&
        cli_json_set(object, "last", json_string(last)) &&
        cli_json_set(object, "bytes", summary->has_sizes ? cli_json_whole(summary->bytes) : json_null()) &&
        cli_json_set(object, "top_key_share", cli_json_number(summary->top_key)) &&
        cli_json_set(object, "top_1_percent_share", cli_json_number(summary->top_1_percent)) &&
        cli_json_set(object, "top_10_percent_share", cli_json_number(summary->top_10_percent)) &&
        cli_json_set(object, "key_rows", quantiles(&summary->key_rows, true)) &&
        cli_json_set(object, "row_bytes", quantiles(&summary->sizes, summary->has_sizes)) &&
        cli_json_set(object, "gaps_ms", quantiles(&summary->gaps_ms, summary->has_gaps)) &&
        cli_json_set(object, "late_share",
                     summary->has_arrivals
                         ? cli_json_number((double)summary->late_rows / (double)summary->rows)
                         : json_null()) &&
        cli_json_set(object, "late_ms", quantiles(&summary->late_ms, summary->has_arrivals)) &&
        cli_json_set(object, "minute", peak_json(&summary->minute)) &&
        cli_json_set(object, "hour", peak_json(&summary->hour)) &&
        cli_json_set(object, "second_half_over_first",
                     summary->second_half > 0 ? cli_json_number(summary->second_half) : json_null()) &&
        cli_json_set(object, "doubles_days", cli_json_number(tune_growth_doubles(&summary->growth))) &&
        cli_json_set(object, "day", day_json(summary)) &&
        cli_json_set(object, "fit", fitted == NULL ? json_null() : trace_fit_json(fit, fitted));
    return cli_json_print(cli_json_complete(object, is_fine), error);
}

static bool describe(const struct cli_args *args, const struct lab_scenario *scenario,
                     struct sim_error *error)
{
    struct trace_summary summary;
    struct trace_fit fit;
    const char *file = cli_argument(args, 0), *fitted = cli_value(args, "emit-scenario", NULL);
    const char *written = cli_value(args, "scenario", NULL);
    if (!cli_has(args, "quiet"))
        cli_warnings_files(stderr, scenario);
    if (!trace_summary_make(scenario, &summary, error))
        return false;
    bool is_json = cli_has(args, "json");
    if (!is_json)
        print_text(file, &summary);
    bool ok = written == NULL || trace_yaml_write(args, &summary, written, error);
    if (ok && written != NULL && !is_json) {
        printf("\nwrote ");
        cli_print_text(stdout, written);
        printf("; next: bucketlab tune ");
        cli_print_text(stdout, written);
        putchar('\n');
    }
    ok = ok && (fitted == NULL ||
                (trace_fit_make(scenario, &summary, &fit, error) && trace_fit_write(&fit, fitted, error)));
    if (ok && is_json)
        ok = print_json(file, &summary, &fit, fitted, error);
    else if (ok && fitted != NULL)
        trace_fit_print(&fit, fitted);
    ok = ok && (fitted == NULL || trace_fit_judge(&fit, fitted, error));
    trace_summary_clear(&summary);
    return ok;
}

/* A message about columns shows them as a scenario has them; here they are an option, in quotes if a shell
 * would split it. */
static void name_option(struct sim_error *error)
{
    static const char form[] = "as in columns: {", option[] = "with --columns ";
    static const char safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789-./:,[] ";
    char *from = strstr(error->text, form), *to = from, *end = from == NULL ? NULL : strchr(from, '}');
    if (end == NULL)
        return;
    memcpy(to, option, sizeof option - 1);
    to += sizeof option - 1;
    from += sizeof form - 1;
    bool is_quoted = strspn(from, safe) < (size_t)(end - from);
    for (const char *at = from; at < end; at++)
        is_quoted = is_quoted || (*at == ' ' && at[-1] != ':' && at[-1] != ',');
    if (is_quoted)
        *to++ = '\'';
    bool is_list = false;
    for (char before = '\0'; from < end; from++) {
        bool is_gap = *from == ' ' && (before == ':' || before == ',');
        before = *from;
        is_list = *from == '[' || (is_list && *from != ']');
        if (!is_gap && *from != '[' && *from != ']')
            *to++ = before == ':' ? '=' : before == ',' && is_list ? '+' : before;
    }
    if (is_quoted)
        *to++ = '\'';
    memmove(to, end + 1, strlen(end + 1) + 1);
}

static int trace(const struct cli_args *args, struct sim_error *error)
{
    struct lab_scenario *scenario;
    struct cli_outputs outputs = {0};
    const char *anonymous = cli_value(args, "anonymise", NULL);
    bool is_stdout = anonymous != NULL && strcmp(anonymous, "-") == 0;
    static const char *const files[] = {"scenario", "emit-scenario"};
    for (size_t i = 0; is_stdout && i < 2; i++) {
        if (!cli_has(args, files[i]))
            continue;
        sim_fail(error, SIM_ERROR_INPUT,
                 "bucketlab: --anonymise - conflicts with --%s; write the rows to a file", files[i]);
        return (int)error->class;
    }
    if (!read_format(args, &scenario, error))
        return (int)error->class;
    if (anonymous != NULL && scenario->workload.is_late_trace) {
        sim_fail(
            error, SIM_ERROR_INPUT,
            "bucketlab: --anonymise writes one time per row and conflicts with arrived=; remove one of them");
        lab_scenario_destroy(scenario);
        return (int)error->class;
    }
    cli_outputs_input(&outputs, "the trace", scenario->trace_path);
    cli_outputs_file(&outputs, "anonymise", anonymous);
    for (size_t i = 0; i < 2; i++)
        cli_outputs_file(&outputs, files[i], cli_value(args, files[i], NULL));
    bool ok = cli_outputs_check(&outputs, error);
    for (size_t i = 0; ok && i < 2; i++)
        ok =
            !cli_has(args, files[i]) || cli_text_file_check(files[i], cli_value(args, files[i], NULL), error);
    if (ok && anonymous != NULL)
        ok = (is_stdout || cli_text_file_check("anonymise", anonymous, error)) &&
             trace_anonymise(scenario, anonymous, error);
    ok = ok && (is_stdout || describe(args, scenario, error));
    if (!ok)
        name_option(error);
    lab_scenario_destroy(scenario);
    return ok ? 0 : (int)error->class;
}

const struct cli_command cli_trace = {
    .name = "trace",
    .arguments = "FILE",
    .summary = "describe a file of rows: span, keys, skew, bursts, sizes",
    .example = "  bucketlab trace messages.csv --columns time=created_at,key=guild+channel\n"
               "  bucketlab trace rows.csv --scenario rows.yaml && bucketlab tune rows.yaml\n"
               "  bucketlab trace rows.csv.zst --sort --anonymise share.csv\n",
    .options = options,
    .least = 1,
    .most = 1,
    .run = trace,
};
