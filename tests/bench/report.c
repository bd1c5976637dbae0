/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the figures of the benchmark, as a table or as JSON. */
#define _DEFAULT_SOURCE
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

enum { TEXT_SIZE = 32 };

static int compare(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static struct bench_spread spread(const struct bench_result *result, size_t offset)
{
    double values[BENCH_RUNS_MAX];
    size_t count = 0;
    for (uint32_t i = 0; i < result->run_count; i++) {
        memcpy(&values[count], (const char *)&result->runs[i] + offset, sizeof *values);
        count += !isnan(values[count]);
    }
    if (count == 0)
        return (struct bench_spread){(double)NAN, (double)NAN, (double)NAN};
    qsort(values, count, sizeof *values, compare);
    return (struct bench_spread){values[0], values[count / 2], values[count - 1]};
}

struct bench_spread bench_values(const struct bench_result *result)
{
    return spread(result, offsetof(struct bench_sample, value));
}

struct bench_spread bench_besides(const struct bench_result *result)
{
    return spread(result, offsetof(struct bench_sample, beside));
}

struct bench_spread bench_ratios(const struct bench_result *result)
{
    return spread(result, offsetof(struct bench_sample, ratio));
}

bool bench_is_kept(const struct bench_case *bench, const struct bench_result *result)
{
    if (result->failure[0] != 0)
        return false;
    switch (bench->bound) {
    case BENCH_VALUE_AT_MOST:
        return bench_values(result).median <= bench->budget;
    case BENCH_VALUE_AT_LEAST:
        return bench_values(result).median >= bench->budget;
    case BENCH_RATIO_AT_MOST:
        return bench_ratios(result).median <= bench->budget;
    case BENCH_RATIO_AT_LEAST:
        return bench_ratios(result).median >= bench->budget;
    case BENCH_NO_BUDGET:
        break;
    }
    return true;
}

/* A value with three significant digits. */
static char *text_of(double value, char text[TEXT_SIZE])
{
    const int decimals = value >= 99.95    ? 0
                         : value >= 9.995  ? 1
                         : value >= 0.9995 ? 2
                         : value >= 0.0095 ? 3
                                           : 4;
    snprintf(text, TEXT_SIZE, "%.*f", decimals, value);
    return text;
}

static void budget_text(const struct bench_case *bench, const struct bench_result *result,
                        char text[TEXT_SIZE])
{
    const bool is_at_most = bench->bound == BENCH_VALUE_AT_MOST || bench->bound == BENCH_RATIO_AT_MOST;
    const bool is_ratio = bench->bound == BENCH_RATIO_AT_MOST || bench->bound == BENCH_RATIO_AT_LEAST;
    text[0] = 0;
    if (bench->bound != BENCH_NO_BUDGET)
        snprintf(text, TEXT_SIZE, "%s%g%s %s", is_at_most ? "<" : ">", bench->budget, is_ratio ? "x" : "",
                 bench_is_kept(bench, result) ? "ok" : "NO");
}

void bench_print(const struct bench_case *bench, const struct bench_result *result, bool is_first_of_group)
{
    if (is_first_of_group)
        printf("\n%-29s %8s %-6s %-12s %6s %-9s %4s\n", bench->group, "median", "", "  range", "ratio",
               "budget", "MiB");
    if (result->failure[0] != 0) {
        printf("  %-28s failed: %s\n", bench->title, result->failure);
        return;
    }
    const struct bench_spread values = bench_values(result);
    const double ratio = bench_ratios(result).median;
    char median[TEXT_SIZE], least[TEXT_SIZE], most[TEXT_SIZE], ratio_text[TEXT_SIZE], budget[TEXT_SIZE],
        range[2 * TEXT_SIZE];
    snprintf(range, sizeof range, "%s-%s", text_of(values.least, least), text_of(values.most, most));
    budget_text(bench, result, budget);
    printf("  %-27s %8s %-6s %-12s %6s %-9s %4.0f\n", bench->title, text_of(values.median, median),
           bench->unit, result->run_count > 1 ? range : "", isnan(ratio) ? "" : text_of(ratio, ratio_text),
           budget, (double)result->peak_kib / 1024);
    fflush(stdout);
}

static json_t *json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *json_spread(struct bench_spread values)
{
    if (isnan(values.median))
        return json_null();
    return json_pack("{s:o, s:o, s:o}", "least", json_number(values.least), "median",
                     json_number(values.median), "most", json_number(values.most));
}

static json_t *json_case(const struct bench_case *bench, const struct bench_result *result)
{
    json_t *samples = json_array();
    for (uint32_t i = 0; i < result->run_count; i++)
        json_array_append_new(samples, json_number(result->runs[i].value));
    json_t *item = json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:s?, s:I}", "name", bench->name,
                             "group", bench->group, "title", bench->title, "unit", bench->unit, "value",
                             json_spread(bench_values(result)), "beside", json_spread(bench_besides(result)),
                             "ratio", json_spread(bench_ratios(result)), "runs", samples, "ratio_is",
                             bench->beside, "peak_kib", (json_int_t)result->peak_kib);
    static const char *const bounds[] = {NULL, "value_at_most", "value_at_least", "ratio_at_most",
                                         "ratio_at_least"};
    if (bench->bound != BENCH_NO_BUDGET) {
        json_object_set_new(item, "budget", json_pack("{s:f}", bounds[bench->bound], bench->budget));
        json_object_set_new(item, "kept", json_boolean(bench_is_kept(bench, result)));
    }
    if (bench->curve != NULL) {
        json_object_set_new(item, "curve", json_string(bench->curve));
        json_object_set_new(item, "at", json_real(bench->at));
    }
    if (result->failure[0] != 0)
        json_object_set_new(item, "failure", json_string(result->failure));
    return item;
}

/* The machine of the measurement: the processor, the compiler, and the load. */
static json_t *json_machine(void)
{
    char line[256], model[256] = "";
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file != NULL && model[0] == 0 && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':') != NULL)
            snprintf(model, sizeof model, "%.*s", (int)strcspn(strchr(line, ':') + 2, "\n"),
                     strchr(line, ':') + 2);
    }
    if (file != NULL)
        fclose(file);
    double load[1] = {0};
    getloadavg(load, 1);
    return json_pack("{s:s, s:I, s:s, s:f, s:I}", "model", model, "processors",
                     (json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "compiler", __VERSION__, "load", load[0],
                     "unix_s", (json_int_t)time(NULL));
}

bool bench_write_json(const char *path, const struct bench_context *context,
                      const struct bench_result *results, const bool *is_done)
{
    json_t *cases = json_array();
    for (size_t i = 0; i < bench_case_count; i++) {
        if (is_done[i])
            json_array_append_new(cases, json_case(&bench_cases[i], &results[i]));
    }
    json_t *all = json_pack("{s:o, s:b, s:o}", "machine", json_machine(), "quick", (int)context->is_quick,
                            "cases", cases);
    const bool is_fine =
        all != NULL && json_dump_file(all, path, JSON_INDENT(1) | JSON_REAL_PRECISION(6)) == 0;
    json_decref(all);
    return is_fine;
}
