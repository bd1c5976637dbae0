/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab trace: a file of rows comes in; out go its summary (span, keys, skew, peaks, sizes), as text or
 * JSON, the rows without the names of their keys, a scenario that reads the rows, and a synthetic scenario
 * that is fitted to them (trace_fit.c). */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base.h"
#include "kernel/time.h"
#include "trace.h"
#include "workload/trace.h"

#define SLOTS_MAX    (UINT64_C(1) << 23) /* about 16 years of minutes */
#define DAY_HOURS    24
#define CONFIDENCE   0.95 /* the default of tune */
#define HOUR_MINUTES 60u

struct key {
    uint64_t rows;
    int64_t last_ns;
};

struct pass {
    struct wl_trace *trace;
    struct trace_summary *out;
    GArray *keys; /* struct key */
    uint64_t *slots;
    uint64_t slot_count;
    int64_t slot_ns, begin_ns;
};

static void count_batch(struct pass *pass, const struct wl_trace_batch *batch)
{
    struct trace_summary *out = pass->out;
    if (pass->keys->len <= batch->key_index)
        g_array_set_size(pass->keys, batch->key_index + 1);
    struct key *key = &g_array_index(pass->keys, struct key, batch->key_index);
    if (batch->rows == 0)
        return;
    int64_t last_ns = wl_trace_row_time(batch, batch->rows - 1);
    if (out->rows == 0 || batch->time_ns < out->first_ns)
        out->first_ns = batch->time_ns;
    if (out->rows == 0 || last_ns > out->last_ns)
        out->last_ns = last_ns;
    if (out->has_gaps && key->rows > 0)
        lab_histogram_add(&out->gaps_ms, (uint64_t)((batch->time_ns - key->last_ns) / SIM_MS), 1, 0);
    if (out->has_sizes) {
        lab_histogram_add(&out->sizes, batch->bytes, batch->rows, 0);
        out->bytes += batch->bytes * batch->rows;
    }
    if (batch->late_ns > 0) {
        lab_histogram_add(&out->late_ms, (uint64_t)(batch->late_ns / SIM_MS), batch->rows, 0);
        out->late_mean_ns += (double)batch->late_ns * (double)batch->rows; /* the sum, divided at the end */
        out->late_rows += batch->rows;
    }
    key->last_ns = last_ns;
    key->rows += batch->rows;
    out->rows += batch->rows;
}

static gint descending(gconstpointer one, gconstpointer other)
{
    uint64_t a = ((const struct key *)one)->rows, b = ((const struct key *)other)->rows;
    return a > b ? -1 : a < b;
}

/* The rows of the key with this rank, where the first has rank 0. */
static uint64_t rows_of(const struct pass *pass, uint32_t rank)
{
    return g_array_index(pass->keys, struct key, rank).rows;
}

/* All ranks if they are few; otherwise ranks whose distance grows with the rank. */
static void summarise_ranks(const struct pass *pass)
{
    struct trace_summary *out = pass->out;
    for (uint32_t i = 0; i < TRACE_RANKS_MAX; i++) {
        double part = (double)i / (TRACE_RANKS_MAX - 1);
        uint32_t rank = out->keys <= TRACE_RANKS_MAX ? i + 1 : (uint32_t)lround(pow(out->keys, part));
        if (rank > out->keys || (out->rank_count > 0 && rank <= out->ranks[out->rank_count - 1]))
            continue;
        out->ranks[out->rank_count] = rank;
        out->rank_rows[out->rank_count++] = rows_of(pass, rank - 1);
    }
}

static void summarise_keys(struct pass *pass)
{
    struct trace_summary *out = pass->out;
    uint64_t sum = 0;
    g_array_sort(pass->keys, descending);
    summarise_ranks(pass);
    for (uint32_t i = 0; i < out->keys; i++) {
        lab_histogram_add(&out->key_rows, rows_of(pass, i), 1, 0);
        sum += rows_of(pass, i);
        double share = (double)sum / (double)out->rows;
        if (i == 0)
            out->top_key = share;
        if (i == (out->keys - 1) / 100)
            out->top_1_percent = share;
        if (i == (out->keys - 1) / 10)
            out->top_10_percent = share;
    }
}

/* The beginning of the slot that contains a time, where slots are counted from 1970 on. */
static int64_t begin_of(int64_t time_ns, int64_t slot_ns)
{
    int64_t into_ns = time_ns % slot_ns;
    return time_ns - (into_ns < 0 ? into_ns + slot_ns : into_ns);
}

/* The peak of the whole minutes or hours from that of the first row on. */
static struct trace_peak peak_of(const struct pass *pass, int64_t slot_ns)
{
    struct trace_peak peak = {.slot_ns = slot_ns};
    int64_t begin_ns = begin_of(pass->begin_ns, slot_ns);
    uint64_t of = (uint64_t)(slot_ns / pass->slot_ns), rows = 0, slots = 0, empty = 0;
    uint64_t before = (uint64_t)((pass->begin_ns - begin_ns) / pass->slot_ns);
    for (uint64_t i = 0; i < pass->slot_count; i++) {
        rows += pass->slots[i];
        if ((before + i + 1) % of != 0 && i + 1 < pass->slot_count)
            continue;
        empty += rows == 0;
        if (rows > peak.rows) {
            peak.rows = rows;
            peak.begin_ns = begin_ns + (int64_t)slots * slot_ns;
        }
        slots++;
        rows = 0;
    }
    double span = (double)(pass->out->last_ns - pass->out->first_ns) / (double)peak.slot_ns;
    peak.over_mean = (double)peak.rows / ((double)pass->out->rows / (span > 1 ? span : 1));
    peak.empty = (double)empty / (double)slots;
    return peak;
}

static void summarise_day(const struct pass *pass)
{
    struct trace_summary *out = pass->out;
    double hours[DAY_HOURS] = {0};
    out->has_day = out->last_ns - out->first_ns >= 2 * SIM_DAY;
    for (uint64_t i = 0; out->has_day && i < pass->slot_count; i++) {
        int64_t time_ns = pass->begin_ns + (int64_t)i * pass->slot_ns;
        hours[(time_ns - begin_of(time_ns, SIM_DAY)) / SIM_HOUR] += (double)pass->slots[i];
    }
    for (int hour = 1; hour < DAY_HOURS; hour++) {
        if (hours[hour] > hours[out->busiest_hour])
            out->busiest_hour = hour;
        if (hours[hour] < hours[out->quietest_hour])
            out->quietest_hour = hour;
    }
    out->busiest_over_mean = hours[out->busiest_hour] * DAY_HOURS / (double)out->rows;
    out->quietest_over_mean = hours[out->quietest_hour] * DAY_HOURS / (double)out->rows;
}

static void summarise_slots(const struct pass *pass)
{
    struct trace_summary *out = pass->out;
    uint64_t first = 0, second = 0;
    if (pass->slot_ns == SIM_MINUTE)
        out->minute = peak_of(pass, SIM_MINUTE);
    out->hour = peak_of(pass, SIM_HOUR);
    for (size_t i = 0; i < TRACE_PARTS / 2; i++) {
        first += out->parts[i];
        second += out->parts[TRACE_PARTS / 2 + i];
    }
    out->second_half = first == 0 ? 0 : (double)second / (double)first;
    summarise_day(pass);
}

/* Slots are whole minutes, or whole hours in a long trace, from that of the first row on. */
static void make_slots(struct pass *pass)
{
    const struct trace_summary *out = pass->out;
    uint64_t minutes = ((uint64_t)out->last_ns - (uint64_t)out->first_ns) / (uint64_t)SIM_MINUTE;
    pass->slot_ns = minutes >= SLOTS_MAX ? SIM_HOUR : SIM_MINUTE;
    pass->begin_ns = begin_of(out->first_ns, pass->slot_ns);
    pass->slot_count = ((uint64_t)out->last_ns - (uint64_t)pass->begin_ns) / (uint64_t)pass->slot_ns + 1;
    pass->slots = g_new0(uint64_t, pass->slot_count);
}

static bool read_twice(struct pass *pass, struct sim_error *error)
{
    struct trace_summary *out = pass->out;
    struct wl_trace_batch batch;
    int64_t part_ns;
    bool more = true;
    while (more) {
        if (!wl_trace_next(pass->trace, &batch, &more, error))
            return false;
        if (more)
            count_batch(pass, &batch);
    }
    out->keys = wl_trace_key_count(pass->trace);
    snprintf(out->read_as, sizeof out->read_as, "%s", wl_trace_text(pass->trace));
    out->late_mean_ns /= out->late_rows == 0 ? 1 : (double)out->late_rows;
    summarise_keys(pass);
    make_slots(pass);
    if (!wl_trace_rewind(&pass->trace, error))
        return false;
    part_ns = (int64_t)(((uint64_t)out->last_ns - (uint64_t)out->first_ns) / TRACE_PARTS) + 1;
    for (more = true; more;) {
        if (!wl_trace_next(pass->trace, &batch, &more, error))
            return false;
        if (more) {
            wl_trace_slot_rows(&batch, pass->begin_ns, pass->slot_ns, pass->slots, pass->slot_count);
            wl_trace_slot_rows(&batch, out->first_ns, part_ns, out->parts, TRACE_PARTS);
        }
    }
    summarise_slots(pass);
    return !(out->key_rows.out_of_memory || out->sizes.out_of_memory || out->gaps_ms.out_of_memory ||
             out->late_ms.out_of_memory) ||
           sim_fail_memory(error);
}

static void trace_summary_clear(struct trace_summary *summary)
{
    lab_histogram_clear(&summary->key_rows);
    lab_histogram_clear(&summary->sizes);
    lab_histogram_clear(&summary->gaps_ms);
    lab_histogram_clear(&summary->late_ms);
}

/* The first pass finds span and keys, the second counts rows in time slots, and a third pass counts rows per
 * week if the trace has enough weeks. */
static bool trace_summary_make(const struct lab_scenario *scenario, struct trace_summary *out,
                               struct sim_error *error)
{
    struct pass pass = {.out = out, .keys = g_array_new(FALSE, TRUE, sizeof(struct key))};
    *out = (struct trace_summary){.rows = 0};
    lab_histogram_init(&out->key_rows);
    lab_histogram_init(&out->sizes);
    lab_histogram_init(&out->gaps_ms);
    lab_histogram_init(&out->late_ms);
    out->has_arrivals = scenario->workload.is_late_trace;
    out->is_sorted = scenario->trace_format.sort;
    bool is_fine = wl_trace_open_as(scenario->trace_path, &scenario->trace_format, &pass.trace, error);
    if (is_fine) {
        out->has_sizes = wl_trace_has_sizes(pass.trace);
        out->has_gaps = !wl_trace_has_counts(pass.trace);
        is_fine = read_twice(&pass, error);
    }
    wl_trace_close(pass.trace);
    is_fine =
        is_fine && tune_growth_read(scenario, out->first_ns, out->last_ns, CONFIDENCE, &out->growth, error);
    g_array_free(pass.keys, TRUE);
    g_free(pass.slots);
    if (!is_fine)
        trace_summary_clear(out);
    return is_fine;
}

#define READS_OF_ROWS 10
#define TRACE_PREFIX  "trace."

/* Writes a text in single quotes for YAML. */
static void put_quoted(GString *text, const char *word)
{
    g_auto(GStrv) parts = g_strsplit(word, "'", -1);
    g_autofree char *doubled = g_strjoinv("''", parts);
    g_string_append_printf(text, "'%s'", doubled);
}

/* Converts "trace.time=ms" to "time: ms". */
static bool put_sets(GString *text, const struct cli_args *args, struct sim_error *error)
{
    const char *set;
    for (size_t i = 0; (set = cli_value_at(args, "set", i)) != NULL; i++) {
        const char *name = set + strlen(TRACE_PREFIX), *equals = strchr(set, '=');
        if (!g_str_has_prefix(set, TRACE_PREFIX) || equals == NULL ||
            memchr(name, '.', (size_t)(equals - name)) != NULL)
            return sim_fail(
                error, SIM_ERROR_INPUT,
                "bucketlab: --set %s: --scenario takes fields of trace, as in trace.time=ms; write "
                "others into the file",
                set);
        g_string_append_printf(text, ", %.*s: ", (int)(equals - name), name);
        if (equals[1] == '%')
            put_quoted(text, equals + 1);
        else
            g_string_append(text, equals + 1);
    }
    return true;
}

/* Converts "time=at,key=guild+channel" to "columns: {time: 'at', key: ['guild', 'channel']}". */
static bool put_columns(GString *text, const char *spec, struct sim_error *error)
{
    g_auto(GStrv) columns = g_strsplit(spec, ",", -1);
    g_string_append(text, ", columns: {");
    for (char **column = columns; *column != NULL; column++) {
        const char *equals = strchr(*column, '=');
        if (equals == NULL || equals == *column || equals[1] == '\0')
            return sim_fail(
                error, SIM_ERROR_INPUT,
                "bucketlab: --columns %s: '%s' is not a column; write time=created_at,key=guild+channel",
                spec, *column);
        g_auto(GStrv) names = g_strsplit(equals + 1, "+", -1);
        const bool is_list = names[1] != NULL;
        g_string_append_printf(text, "%s%.*s: %s", column == columns ? "" : ", ", (int)(equals - *column),
                               *column, is_list ? "[" : "");
        for (char **name = names; *name != NULL; name++) {
            put_quoted(text, *name);
            g_string_append(text, name[1] != NULL ? ", " : is_list ? "]" : "");
        }
    }
    g_string_append(text, "}");
    return true;
}

/* Makes "trace: {file: 'x.csv', columns: {time: 'at'}, sort: true}" from --columns and --sort and, if
 * has_sets, from --set trace.NAME=VALUE; every --set must then have this form. The caller must free the text;
 * NULL on failure. */
static char *trace_yaml(const struct cli_args *args, const char *file, bool has_sets, bool is_sorted,
                        struct sim_error *error)
{
    const char *columns = cli_value(args, "columns", NULL);
    GString *text = g_string_new("trace: {file: ");
    put_quoted(text, file);
    bool is_fine =
        (columns == NULL || put_columns(text, columns, error)) && (!has_sets || put_sets(text, args, error));
    g_string_append(text, is_sorted ? ", sort: true}\n" : "}\n");
    return g_string_free(text, !is_fine);
}

/* Writes a scenario that reads this trace, with guesses for values that the trace does not determine. */
static bool write_scenario(const struct cli_args *args, const struct trace_summary *summary, const char *path,
                           struct sim_error *error)
{
    static const char form[] =
        "# Every strategy below gets the rows of this trace.\n"
        "#   bucketlab tune THIS-FILE   which strategy, and with which numbers\n"
        "#   bucketlab run THIS-FILE    the strategies below side by side\n"
        "#   docs/scenario.md           every field, and what it takes\n"
        "%s%s"
        "reads:\n"
        "  latest: {rows: 50, rate: %.3f/h} # a guess: the newest 50 rows of a key, once for %d "
        "rows\n" CLI_SCENARIO_LIMITS
        "  - count: {rows: 20480, counter: counter} # external, if rows already carry a gapless number\n"
        "  - probabilistic: {bits: 9, threshold: 40}\n"
        "  - hash: {buckets: 16}\n";
    const char *row =
        summary->has_sizes ? "" : "row: {bytes: 350, cells: 6} # a guess, as the trace has no sizes\n";
    /* A scenario's paths are relative to its folder. */
    g_autofree char *file =
        strchr(path, '/') == NULL ? g_strdup(cli_argument(args, 0)) : cli_absolute(cli_argument(args, 0));
    g_autofree char *yaml = trace_yaml(args, file, true, summary->is_sorted, error);
    if (yaml == NULL)
        return false;
    double hours = ((double)summary->last_ns - (double)summary->first_ns) / 3.6e12;
    double reads = hours > 0 ? (double)summary->rows / hours / READS_OF_ROWS : 1;
    g_autofree char *text = g_strdup_printf(form, yaml, row, reads < 0.001 ? 0.001 : reads, READS_OF_ROWS);
    return cli_file_write(path, text, strlen(text), error);
}

static gint by_line(gconstpointer one, gconstpointer other)
{
    const struct wl_trace_batch *a = one, *b = other;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

static void write_line(FILE *stream, const struct wl_trace_batch *batch, uint64_t value)
{
    int64_t ms = batch->time_ns / SIM_MS - (batch->time_ns % SIM_MS < 0);
    fprintf(stream, "%" PRId64 ",%" PRIu32 ",%" PRIu64 "\n", ms, batch->key_index + 1, value);
}

static bool write_rows(struct wl_trace *trace, FILE *stream, struct sim_error *error)
{
    GArray *lines = g_array_new(FALSE, FALSE, sizeof(struct wl_trace_batch));
    struct wl_trace_batch batch;
    bool has_sizes = wl_trace_has_sizes(trace), is_held = wl_trace_has_counts(trace), more = true,
         is_fine = true;
    fprintf(stream, "timestamp_ms,key,%s\n", has_sizes ? "bytes" : "count");
    while (is_fine && more) {
        is_fine = wl_trace_next(trace, &batch, &more, error);
        if (is_fine && more && is_held)
            g_array_append_val(lines, batch);
        else if (is_fine && more)
            write_line(stream, &batch, has_sizes ? batch.bytes : 1);
    }
    g_array_sort(lines, by_line);
    for (guint i = 0; is_fine && i < lines->len; i++) {
        const struct wl_trace_batch *line = &g_array_index(lines, struct wl_trace_batch, i);
        write_line(stream, line, line->rows);
    }
    g_array_free(lines, TRUE);
    return is_fine;
}

static bool write_file(struct wl_trace *trace, const char *path, struct sim_error *error)
{
    struct cli_file file;
    struct sim_error ignored;
    if (!cli_file_open(&file, path, error))
        return false;
    const bool is_fine = write_rows(trace, file.stream, error);
    return cli_file_close(&file, is_fine, is_fine ? error : &ignored) && is_fine;
}

/* Writes the trace in the plain form to a file, or to stdout for "-". Keys are replaced by their numbers in
 * order of first appearance; times are rounded to whole milliseconds. Lines with counts are returned late,
 * key by key, so they are collected and sorted; all others are written as they are read. */
static bool anonymise(const struct lab_scenario *scenario, const char *path, struct sim_error *error)
{
    struct wl_trace *trace;
    if (!wl_trace_open_as(scenario->trace_path, &scenario->trace_format, &trace, error))
        return false;
    bool is_fine = strcmp(path, "-") == 0 ? write_rows(trace, stdout, error) : write_file(trace, path, error);
    wl_trace_close(trace);
    return is_fine;
}

static const struct cli_option options[] = {
    {"columns", "SPEC",
     "time=COLUMN,key=COLUMN+COLUMN,bytes=COLUMN; also\narrived, count and bytes_of; by name or number"},
    {"explain", NULL, "print how each column is understood"},
    {"sort", NULL, "the rows are in no order; the same as trace.sort=true"},
    {"set", "PATH=VALUE", "a field of trace in a scenario, as in trace.time=ms;\nrepeatable"},
    {"anonymise", "FILE", "write the rows with numbers instead of keys; - for stdout"},
    {"scenario", "FILE", "write a scenario of these rows, for run and tune"},
    {"emit-scenario", "FILE", "write a synthetic scenario fitted to the trace"},
    {NULL, NULL, NULL}};

/* A scenario with only the trace, so that the fields are read as in any scenario. */
static bool read_format(const struct cli_args *args, struct lab_scenario **out, struct sim_error *error)
{
    static const char head[] = "strategies: [{unbucketed: {}}]\n";
    bool is_written = cli_has(args, "scenario");
    g_autofree char *yaml = trace_yaml(args, cli_argument(args, 0), is_written, cli_has(args, "sort"), error);
    size_t count = 0;
    struct lab_override *overrides = NULL;
    if (yaml == NULL || (!is_written && !cli_overrides(args, &overrides, &count, error)))
        return false;
    g_autofree char *text = g_strconcat(head, yaml, NULL);
    bool is_fine =
        lab_scenario_parse("bucketlab trace", text, strlen(text), overrides, count, NULL, out, error);
    g_free(overrides);
    return is_fine;
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

/* Prints milliseconds in seconds. */
static void print_times(const struct lab_histogram *ms)
{
    printf("p50 %.3g s, p99 %.3g s, max %.3g s", (double)lab_histogram_quantile(ms, 0.5) / 1e3,
           (double)lab_histogram_quantile(ms, 0.99) / 1e3, (double)ms->most / 1e3);
}

static void print_sizes(const struct trace_summary *summary)
{
    char p50[CLI_NUMBER_SIZE], p99[CLI_NUMBER_SIZE], most[CLI_NUMBER_SIZE], all[CLI_NUMBER_SIZE];
    cli_grouped(lab_histogram_quantile(&summary->key_rows, 0.5), p50);
    cli_grouped(lab_histogram_quantile(&summary->key_rows, 0.99), p99);
    cli_grouped(summary->key_rows.most, most);
    printf("  rows per key p50 %s, p99 %s, max %s\n", p50, p99, most);
    if (summary->has_sizes) {
        cli_compact_bytes((double)lab_histogram_quantile(&summary->sizes, 0.5), p50);
        cli_compact_bytes((double)lab_histogram_quantile(&summary->sizes, 0.99), p99);
        cli_compact_bytes((double)summary->sizes.most, most);
        cli_compact_bytes((double)summary->bytes, all);
        printf("  row sizes    p50 %s, p99 %s, max %s, all %s\n", p50, p99, most, all);
    }
    if (summary->has_gaps && summary->gaps_ms.count > 0) {
        printf("  gaps         between rows of a key: ");
        print_times(&summary->gaps_ms);
        putchar('\n');
    }
}

static void print_late(const struct trace_summary *summary)
{
    if (!summary->has_arrivals)
        return;
    printf("  late         %.3g%% of the rows arrive after their own time",
           100 * (double)summary->late_rows / (double)summary->rows);
    fputs(summary->late_rows > 0 ? ": " : "", stdout);
    if (summary->late_rows > 0)
        print_times(&summary->late_ms);
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
    return CLI_OBJECT({"p50", cli_json_whole(lab_histogram_quantile(histogram, 0.5))},
                      {"p99", cli_json_whole(lab_histogram_quantile(histogram, 0.99))},
                      {"max", cli_json_whole(histogram->most)});
}

static json_t *peak_json(const struct trace_peak *peak)
{
    char time[SIM_TIME_TEXT_SIZE];
    if (peak->slot_ns == 0)
        return json_null();
    sim_time_format(peak->begin_ns, time);
    return CLI_OBJECT({"begin", json_string(time)}, {"rows", cli_json_whole(peak->rows)},
                      {"over_mean", cli_json_number(peak->over_mean)},
                      {"empty_share", cli_json_number(peak->empty)});
}

static json_t *day_json(const struct trace_summary *summary)
{
    if (!summary->has_day)
        return json_null();
    return CLI_OBJECT({"busiest_hour", json_integer(summary->busiest_hour)},
                      {"busiest_over_mean", cli_json_number(summary->busiest_over_mean)},
                      {"quietest_hour", json_integer(summary->quietest_hour)},
                      {"quietest_over_mean", cli_json_number(summary->quietest_over_mean)});
}

static void print_json(const char *file, const struct trace_summary *summary, json_t *fit)
{
    char first[SIM_TIME_TEXT_SIZE], last[SIM_TIME_TEXT_SIZE];
    sim_time_format(summary->first_ns, first);
    sim_time_format(summary->last_ns, last);
    cli_json_print(
        CLI_OBJECT({"file", json_string(file)}, {"read_as", json_string(summary->read_as)},
                   {"rows", cli_json_whole(summary->rows)}, {"keys", json_integer(summary->keys)},
                   {"first", json_string(first)}, {"last", json_string(last)},
                   {"bytes", summary->has_sizes ? cli_json_whole(summary->bytes) : json_null()},
                   {"top_key_share", cli_json_number(summary->top_key)},
                   {"top_1_percent_share", cli_json_number(summary->top_1_percent)},
                   {"top_10_percent_share", cli_json_number(summary->top_10_percent)},
                   {"key_rows", quantiles(&summary->key_rows, true)},
                   {"row_bytes", quantiles(&summary->sizes, summary->has_sizes)},
                   {"gaps_ms", quantiles(&summary->gaps_ms, summary->has_gaps)},
                   {"late_share", summary->has_arrivals
                                      ? cli_json_number((double)summary->late_rows / (double)summary->rows)
                                      : json_null()},
                   {"late_ms", quantiles(&summary->late_ms, summary->has_arrivals)},
                   {"minute", peak_json(&summary->minute)}, {"hour", peak_json(&summary->hour)},
                   {"second_half_over_first",
                    summary->second_half > 0 ? cli_json_number(summary->second_half) : json_null()},
                   {"doubles_days", cli_json_number(tune_growth_doubles(&summary->growth))},
                   {"day", day_json(summary)}, {"fit", fit}));
}

static bool describe(const struct cli_args *args, const struct lab_scenario *scenario,
                     struct sim_error *error)
{
    struct trace_summary summary;
    const char *file = cli_argument(args, 0), *fitted = cli_value(args, "emit-scenario", NULL);
    const char *written = cli_value(args, "scenario", NULL);
    if (!args->is_quiet)
        cli_warnings_files(stderr, scenario);
    if (cli_has(args, "explain")) {
        char *text = wl_trace_explain(scenario->trace_path, &scenario->trace_format, error);
        if (text != NULL)
            fprintf(args->is_json ? stderr : stdout, "%s\n", text);
        free(text);
        if (text == NULL)
            return false;
    }
    if (!trace_summary_make(scenario, &summary, error))
        return false;
    if (!args->is_json)
        print_text(file, &summary);
    bool is_fine = written == NULL || write_scenario(args, &summary, written, error);
    if (is_fine && written != NULL && !args->is_json) {
        printf("\nwrote ");
        cli_print_text(stdout, written);
        cli_print_line(stdout, "; next: bucketlab tune ", written);
    }
    json_t *fit = NULL;
    struct sim_error of_fit = {.class = SIM_ERROR_NONE};
    if (is_fine && fitted != NULL)
        trace_fit(scenario, &summary, fitted, args->is_json, &fit, &of_fit);
    if (is_fine && args->is_json && (of_fit.class == SIM_ERROR_NONE || of_fit.class == SIM_ERROR_CHECK))
        print_json(file, &summary, fit == NULL ? json_null() : fit);
    if (is_fine && of_fit.class != SIM_ERROR_NONE) {
        *error = of_fit;
        is_fine = false;
    }
    trace_summary_clear(&summary);
    return is_fine;
}

/* A message about columns shows them as a scenario has them; here they are an option, in quotes if a shell
 * would split it. */
static void name_option(struct sim_error *error)
{
    static const char form[] = "as in columns: {";
    /* [a, b] becomes a+b, and "name: column, " becomes "name=column,". */
    static const char *const swaps[][2] = {
        {", (?=[^\\[]*\\])", "+"}, {"[\\[\\]]", ""}, {": ", "="}, {", ", ","}};
    g_autofree char *text = g_strdup(error->text);
    char *from = strstr(text, form), *end = from == NULL ? NULL : strchr(from, '}');
    if (end == NULL)
        return;
    g_autofree char *columns = g_strndup(from + strlen(form), (gsize)(end - from) - strlen(form));
    for (size_t i = 0; i < sizeof swaps / sizeof *swaps; i++) {
        g_autoptr(GRegex) regex = g_regex_new(swaps[i][0], 0, 0, NULL);
        g_autofree char *before = columns;
        columns = g_regex_replace_literal(regex, before, -1, 0, swaps[i][1], 0, NULL);
    }
    g_autofree char *quoted = cli_quoted(columns);
    sim_fail(error, error->class, "%.*swith --columns %s%s", (int)(from - text), text, quoted, end + 1);
}

/* Checks the outputs, and writes the rows if they are asked for. */
static bool write_outputs(const struct cli_args *args, const struct lab_scenario *scenario,
                          struct sim_error *error)
{
    static const char *const files[] = {"anonymise", "scenario", "emit-scenario"};
    const char *anonymous = cli_value(args, "anonymise", NULL);
    struct cli_outputs outputs = {NULL};
    if (anonymous != NULL && scenario->workload.is_late_trace)
        return sim_fail(
            error, SIM_ERROR_INPUT,
            "bucketlab: --anonymise writes one time per row and conflicts with arrived=; remove one of them");
    cli_outputs_input(&outputs, "the trace", scenario->trace_path);
    for (size_t i = 0; i < 3; i++)
        cli_outputs_file(&outputs, files[i], cli_value(args, files[i], NULL));
    if (!cli_outputs_check(&outputs, error))
        return false;
    for (size_t i = 0; i < 3; i++) {
        if (!cli_file_check(files[i], cli_value(args, files[i], NULL), error))
            return false;
    }
    return anonymous == NULL || anonymise(scenario, anonymous, error);
}

static bool trace(const struct cli_args *args, struct sim_error *error)
{
    struct lab_scenario *scenario = NULL;
    static const char *const files[] = {"scenario", "emit-scenario"};
    const bool is_stdout = strcmp(cli_value(args, "anonymise", ""), "-") == 0;
    for (size_t i = 0; is_stdout && i < 2; i++) {
        if (cli_has(args, files[i]))
            return sim_fail(error, SIM_ERROR_INPUT,
                            "bucketlab: --anonymise - conflicts with --%s; write the rows to a file",
                            files[i]);
    }
    bool is_fine = read_format(args, &scenario, error) && write_outputs(args, scenario, error) &&
                   (is_stdout || describe(args, scenario, error));
    if (!is_fine && strstr(error->text, WL_TRACE_SORT_IT) != NULL && !is_stdout) {
        if (!args->is_quiet)
            cli_print_notice(stderr, "note",
                             "the rows are not in order of time; they are sorted, as by --sort");
        *error = (struct sim_error){.class = SIM_ERROR_NONE};
        scenario->trace_format.sort = true;
        is_fine = write_outputs(args, scenario, error) && describe(args, scenario, error);
    }
    if (!is_fine)
        name_option(error);
    lab_scenario_destroy(scenario);
    return is_fine;
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
