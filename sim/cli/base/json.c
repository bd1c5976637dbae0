/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Builds the JSON that --json prints. All numbers are made here, so that they have the same format. */
#define _POSIX_C_SOURCE 200809L
#include "cli/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/text.h"
#include "kernel/grow.h"
#include "lab/judgment.h"
#include "reports/reports.h"

struct text {
    char *bytes; /* with a final NUL */
    size_t size, capacity;
    bool is_cut;
};

json_t *cli_json_number(double value)
{
    if (!isfinite(value))
        return json_null();
    if (fabs(value) <= 0x1p53 && value == (double)(json_int_t)value)
        return json_integer((json_int_t)value);
    return json_real(value);
}

json_t *cli_json_whole(uint64_t value)
{
    if (value <= INT64_MAX)
        return json_integer((json_int_t)value);
    char digits[CLI_NUMBER_SIZE];
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    return json_string(digits);
}

static json_t *metrics_of(const struct lab_metrics *metrics)
{
    json_t *object = json_object();
    for (size_t i = 0; i < metrics->count; i++) {
        if (!cli_json_set(object, metrics->items[i].name, cli_json_number(metrics->items[i].value))) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

static json_t *hex(uint64_t value)
{
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, value);
    return json_string(text);
}

json_t *cli_json_why(const struct report_answer *answer)
{
    json_t *list = cli_json_append(json_array(), json_string(answer->headline));
    for (size_t i = 0; i < answer->line_count; i++)
        list = cli_json_append(list, json_sprintf("%s: %s", answer->lines[i].label, answer->lines[i].text));
    return list;
}

json_t *cli_json_verdict(const struct report_answer *answer, size_t index, double first_over_days)
{
    const struct lab_judgment *judgment = &answer->scores[index].judgment;
    json_t *object = json_object();
    bool is_fine =
        cli_json_set(object, "within",
                     judgment->within == LAB_NOT_JUDGED ? json_null()
                                                        : json_boolean(judgment->within == LAB_WITHIN)) &&
        cli_json_set(object, "by", json_string(lab_judged_by_name(judgment->by))) &&
        cli_json_set(object, "share", cli_json_number(judgment->share)) &&
        cli_json_set(object, "share_most", cli_json_number(judgment->share_most)) &&
        cli_json_set(object, "why", json_string(answer->verdicts[index])) &&
        cli_json_set(object, "first_over_days", cli_json_number(first_over_days));
    return cli_json_complete(object, is_fine);
}

/* The cost per 1000 rows, in inserts. */
static json_t *cost_of(const struct lab_result *result, const struct lab_strategy_result *strategy)
{
    const struct lab_cost cost = lab_cost_of(&result->prices, strategy);
    json_t *object = json_object();
    bool is_fine = cli_json_set(object, "write", cli_json_number(cost.write)) &&
                   cli_json_set(object, "read", cli_json_number(cost.read));
    return cli_json_complete(object, is_fine);
}

static json_t *strategies_of(const struct lab_result *result, const struct report_answer *answer)
{
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < result->strategy_count; i++) {
        const struct lab_strategy_result *strategy = &result->strategies[i];
        const struct lab_metric *days = lab_metrics_find(&strategy->metrics, "horizon.days");
        json_t *object = json_object();
        bool is_fine = cli_json_set(object, "label", json_string(strategy->label)) &&
                       cli_json_set(object, "kind", json_string(lab_result_kind(strategy))) &&
                       cli_json_set(object, "placement_digest", hex(strategy->placement_digest)) &&
                       cli_json_set(object, "verdict",
                                    cli_json_verdict(answer, i, days == NULL ? (double)NAN : days->value)) &&
                       cli_json_set(object, "cost", cost_of(result, strategy)) &&
                       cli_json_set(object, "metrics", metrics_of(&strategy->metrics));
        list = cli_json_append(list, cli_json_complete(object, is_fine));
    }
    return list;
}

static json_t *expects_of(const struct lab_result *result)
{
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < result->expect_count; i++) {
        const struct lab_expect_result *expect = &result->expects[i];
        json_t *object = json_object();
        bool is_fine = cli_json_set(object, "text", json_string(expect->text)) &&
                       cli_json_set(object, "actual", cli_json_number(expect->actual)) &&
                       cli_json_set(object, "ok", json_boolean(expect->ok));
        list = cli_json_append(list, cli_json_complete(object, is_fine));
    }
    return list;
}

json_t *cli_json_run(int64_t run, const struct lab_result *result, json_t *warnings)
{
    struct report_answer *answer = report_run_answer(result);
    if (answer == NULL) {
        json_decref(warnings);
        return NULL;
    }
    json_t *object = json_object();
    const double days = result->strategy_count == 0 ? (double)NAN : report_run_horizon(result).days_left;
    bool is_fine =
        cli_json_set(object, "run", run == 0 ? json_null() : json_integer(run)) &&
        cli_json_set(object, "scenario", json_string(result->scenario_name)) &&
        cli_json_set(object, "seed", cli_json_whole(result->seed)) &&
        cli_json_set(object, "digest", hex(result->digest)) &&
        cli_json_set(object, "rows", cli_json_whole(result->rows)) &&
        cli_json_set(object, "recommended",
                     answer->chosen == SIZE_MAX ? json_null()
                                                : json_string(result->strategies[answer->chosen].label)) &&
        cli_json_set(object, "why", cli_json_why(answer)) &&
        cli_json_set(object, "strategies", strategies_of(result, answer)) &&
        cli_json_set(object, "expect", expects_of(result)) &&
        cli_json_set(object, "needs_buckets", json_boolean(!(days >= REPORT_ENOUGH_DAYS))) &&
        cli_json_set(object, "unbucketed_days_left", cli_json_number(days));
    is_fine = cli_json_set(object, "warnings", warnings) && is_fine;
    report_answer_free(answer);
    return cli_json_complete(object, is_fine);
}

bool cli_json_set(json_t *object, const char *name, json_t *value)
{
    return json_object_set_new(object, name, value) == 0;
}

json_t *cli_json_complete(json_t *object, bool is_complete)
{
    if (is_complete)
        return object;
    json_decref(object);
    return NULL;
}

json_t *cli_json_append(json_t *list, json_t *item)
{
    return cli_json_complete(list, json_array_append_new(list, item) == 0);
}

static int add_text(const char *bytes, size_t size, void *context)
{
    struct text *text = context;
    if (text->is_cut || !sim_grow(&text->bytes, &text->capacity, text->size + size + 1, 1)) {
        text->is_cut = true;
        return -1;
    }
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    text->bytes[text->size] = '\0';
    return 0;
}

char *cli_json_text(const json_t *value)
{
    struct text text = {.size = 0};
    /* Jansson continues after a key that it could not write, so its return value is not sufficient. */
    if (json_dump_callback(value, add_text, &text, JSON_COMPACT | JSON_REAL_PRECISION(17)) == 0 &&
        !text.is_cut)
        return text.bytes;
    free(text.bytes);
    return NULL;
}

bool cli_json_print(json_t *value, struct sim_error *error)
{
    char *line = value == NULL ? NULL : cli_json_text(value);
    json_decref(value);
    if (line == NULL)
        return sim_fail_memory(error);
    /* A failed write sets the stream's error indicator, which main() checks. On a terminal, characters that
     * turn the direction of text are printed as in all other output. */
    if (isatty(STDOUT_FILENO) == 1)
        cli_print_text(stdout, line);
    else
        fputs(line, stdout);
    putchar('\n');
    free(line);
    return true;
}
