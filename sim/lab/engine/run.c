/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a scenario with the engine that it specifies, and judges its expectations: what can be refused is
 * refused before the run. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"
#include "kernel/text.h"
#include "lab/cluster_engine.h"
#include "lab/drift.h"
#include "lab/fields.h"
#include "lab/metric.h"
#include "lab/result.h"
#include "lab/run.h"
#include "lab/scenario.h"
#include "lab/stream.h"
#include "lab/tally.h"

/* "chat.yaml:14:5", or the option that has the expectation. */
#define PLACE_SIZE 32
static const char *place_of(const struct lab_scenario *scenario, const struct lab_expect *expect,
                            char at[PLACE_SIZE])
{
    at[0] = '\0';
    if (expect->line == 0)
        return "--set expect";
    snprintf(at, PLACE_SIZE, ":%d:%d", expect->line, expect->column);
    return scenario->path;
}

/* The metric's name without the label: the longest one that fits, as in lab_result_find(). */
static const char *name_of(const struct lab_scenario *scenario, const struct lab_expect *expect)
{
    size_t longest = strcspn(expect->metric, ".");
    for (size_t i = 0; i < scenario->strategy_count + scenario->observed_count; i++) {
        const char *label = i < scenario->strategy_count
                                ? scenario->strategies[i].label
                                : scenario->observed[i - scenario->strategy_count].label;
        size_t size = strlen(label);
        if (size > longest && strncmp(expect->metric, label, size) == 0 && expect->metric[size] == '.')
            longest = size;
    }
    return expect->metric + longest + 1;
}

/* Checks the expectations of a scenario against the table of metrics, and judges them by a result. */

/* Names of metrics. */
struct names {
    char (*items)[LAB_METRIC_NAME_SIZE];
    size_t count, capacity;
};

static void add_name(void *context, const char *name)
{
    struct names *names = context;
    if (sim_grow(&names->items, &names->capacity, names->count + 1, sizeof *names->items))
        snprintf(names->items[names->count++], sizeof *names->items, "%s", name);
}

/* With several kinds of read, "reads.count" is also "reads.range.count" and so on. */
static void add_name_of_kinds(void *context, const char *name)
{
    static const char reads[] = "reads.";
    for (int kind = 0; kind < LAB_READ_KINDS; kind++) {
        char of_kind[LAB_METRIC_NAME_SIZE];
        snprintf(of_kind, sizeof of_kind, "%s%s.%s", reads, lab_read_kind_name((enum lab_read_kind)kind),
                 name + strlen(reads));
        add_name(context, of_kind);
    }
}

/* The known name that is most like this one, in the memory of `names`; NULL: none is. */
static const char *nearest_name(struct names *names, const char *name)
{
    for (size_t i = 0; i < lab_metric_row_count; i++) {
        if (lab_metric_table[i].is_late)
            continue;
        lab_metric_names(&lab_metric_table[i], add_name, names);
        if (lab_metric_table[i].is_of_kinds)
            lab_metric_names(&lab_metric_table[i], add_name_of_kinds, names);
    }
    const char **list = calloc(names->count + 1, sizeof *list);
    for (size_t i = 0; list != NULL && i < names->count; i++)
        list[i] = names->items[i];
    const char *nearest = list == NULL ? NULL : lab_metric_nearest(name, list, names->count);
    free(list);
    return nearest;
}

/* Whether no run of the scenario has the metric, since there is no such limit. */
static bool has_no_limit(const struct lab_scenario *scenario, const char *name)
{
    const struct lab_limits *limits = &scenario->limits;
    if (strcmp(name, "partitions.over_limit") == 0)
        return !lab_limits_sizes(limits);
    return (strcmp(name, "partitions.over_limit_rows") == 0 && limits->partition_rows == 0) ||
           (strcmp(name, "partitions.over_limit_bytes") == 0 && limits->partition_bytes == 0) ||
           (strcmp(name, "partitions.tiny") == 0 && limits->tiny_rows == 0);
}

static bool fail_unknown(const struct lab_scenario *scenario, const struct lab_expect *expect,
                         const char *name, struct sim_error *error)
{
    char at[PLACE_SIZE];
    const char *place = place_of(scenario, expect, at);
    struct names names = {.items = NULL};
    const char *nearest = nearest_name(&names, name);
    int label = (int)(name - expect->metric); /* with its point */
    if (nearest != NULL && has_no_limit(scenario, nearest))
        sim_fail(error, SIM_ERROR_INPUT,
                 "%s%s: this run has no metric '%s'; did you mean '%.*s%s'? It is absent %s; "
                 "docs/metrics.md has all",
                 place, at, expect->metric, label, expect->metric, nearest,
                 lab_metric_row_of(nearest)->absent);
    else if (nearest != NULL)
        sim_fail(error, SIM_ERROR_INPUT, "%s%s: this run has no metric '%s'; did you mean '%.*s%s'?", place,
                 at, expect->metric, label, expect->metric, nearest);
    else
        sim_fail(error, SIM_ERROR_INPUT,
                 "%s%s: this run has no metric '%s'; `bucketlab run --json` shows those that it has", place,
                 at, expect->metric);
    free(names.items);
    return false;
}

/* How expectations write numbers, and metrics of which unit they are for; LAB_EXPECT_PLAIN is for all. */
static const struct {
    enum lab_metric_unit unit;
    const char *name, *cure;
} units[] = {
    [LAB_EXPECT_PLAIN] = {LAB_METRIC_BYTES, "a number", NULL},
    [LAB_EXPECT_THOUSANDS] = {LAB_METRIC_BYTES, "a count in k, M or G", "a number, as in 50000 or 50k"},
    [LAB_EXPECT_BYTES] = {LAB_METRIC_BYTES, "a size in bytes", "a size, as in 50MB"},
    [LAB_EXPECT_DURATION] = {LAB_METRIC_MS, "a duration", "a duration, as in 50ms"},
    [LAB_EXPECT_SHARE] = {LAB_METRIC_SHARE, "a share", "a share, as in 50%"}};

/* The way in which numbers of this unit are written, if not plainly. */
static enum lab_expect_unit written_as(enum lab_metric_unit unit)
{
    int written = LAB_EXPECT_SHARE;
    while (written > LAB_EXPECT_THOUSANDS && units[written].unit != unit)
        written--;
    return (enum lab_expect_unit)written;
}

static bool check(const struct lab_scenario *scenario, const struct lab_expect *expect,
                  struct sim_error *error)
{
    char at[PLACE_SIZE];
    const char *place = place_of(scenario, expect, at), *name = name_of(scenario, expect);
    const struct lab_metric_row *row = lab_metric_row_of(name);
    if (row == NULL)
        return fail_unknown(scenario, expect, name, error);
    if (row->is_late)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s%s: an expectation cannot name '%s', which is added after expectations are "
                        "judged; name another metric; docs/metrics.md has all",
                        place, at, expect->metric);
    enum lab_expect_unit own = written_as(row->unit);
    if (!scenario->is_kept && expect->unit != LAB_EXPECT_PLAIN && expect->unit != own)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s%s: '%s': the metric's unit is '%s', and it is compared with %s; end in %s", place,
                        at, expect->text,
                        row->unit == LAB_METRIC_VIOLATIONS ? "violations" : lab_metric_unit_name(row->unit),
                        units[expect->unit].name, units[own].cure);
    return true;
}

bool lab_expects_check(const struct lab_scenario *scenario, struct sim_error *error)
{
    for (size_t i = 0; i < scenario->expect_count; i++) {
        if (!check(scenario, &scenario->expects[i], error))
            return false;
    }
    return true;
}

/* Makes the result of a scenario whose strategies are all observed. */
static bool run_none(const struct lab_scenario *scenario, struct lab_result **out, struct sim_error *error)
{
    int64_t start_ns = scenario->workload.start_ns;
    *out = lab_result_begin(scenario, 0, 0, start_ns, start_ns);
    return *out != NULL || sim_fail_memory(error);
}

/* With a table, the table's partitions replace the strategy's partitions (key, bucket). */
static bool settle(const struct lab_scenario *scenario, struct lab_stream_result *stream,
                   struct sim_error *error)
{
    for (size_t i = 0; LAB_KEEPS_STORED(scenario) && i < scenario->strategy_count; i++) {
        if (!lab_stored_settle(stream->tallies[i].stored, &stream->tallies[i]))
            return sim_fail(error, SIM_ERROR_INPUT,
                            "%s:%d:%d: strategy '%s' gives the table more than %u rows or partitions to "
                            "remember; add an id to its 'clustering', or shorten 'duration'",
                            scenario->path, scenario->strategies[i].line, scenario->strategies[i].column,
                            scenario->strategies[i].label, LAB_TUPLES_MAX);
    }
    return true;
}

static struct lab_result *stream_result(const struct lab_scenario *scenario, struct lab_stream_result *stream)
{
    struct lab_result *result =
        lab_result_begin(scenario, stream->rows, stream->keys, stream->start_ns, stream->end_ns);
    bool ok = result != NULL;
    if (ok) {
        result->weeks = stream->weeks;
        result->week_count = stream->week_count;
        stream->weeks = NULL;
    }
    for (size_t i = 0; ok && i < scenario->strategy_count; i++) {
        struct lab_strategy_result *strategy = lab_result_add(result, scenario, i, &stream->tallies[i]);
        ok = strategy != NULL &&
             lab_metrics_of_tally(&stream->tallies[i], scenario, stream->start_ns, scenario->cluster.nodes,
                                  &strategy->metrics) &&
             lab_metrics_of_capacity(&stream->tallies[i], scenario, &strategy->settings,
                                     (double)((uint64_t)stream->end_ns - (uint64_t)stream->start_ns) * 1e-9,
                                     &strategy->metrics) &&
             lab_result_nodes(strategy, scenario, &stream->tallies[i]);
        if (ok)
            lab_result_take(strategy, &stream->tallies[i]);
    }
    if (!ok) {
        lab_result_destroy(result);
        return NULL;
    }
    return result;
}

static bool run_stream(const struct lab_scenario *scenario, uint32_t jobs,
                       const struct lab_run_context *context, struct lab_result **out,
                       struct sim_error *error)
{
    struct cass_ring *ring;
    if (!lab_run_check(scenario, error) || !lab_ring_create(scenario, &ring, error))
        return false;
    struct lab_stream_result stream;
    bool ok = scenario->trace_path != NULL
                  ? lab_stream_trace(scenario, ring, context, &stream, error)
                  : lab_stream_synthetic(scenario, ring, jobs, context, &stream, error);
    if (!ok) {
        cass_ring_destroy(ring);
        return false;
    }
    ok = settle(scenario, &stream, error);
    cass_ring_destroy(ring);
    *out = ok ? stream_result(scenario, &stream) : NULL;
    lab_stream_result_clear(&stream, scenario->strategy_count);
    return *out != NULL || (ok && sim_fail_memory(error));
}

/* Fails because of a metric that the run does not have, such as those of closed partitions when no partition
 * closes. */
static bool fail_absent(const struct lab_scenario *scenario, const struct lab_expect *expect,
                        struct sim_error *error)
{
    char at[PLACE_SIZE];
    const char *place = place_of(scenario, expect, at);
    const struct lab_metric_row *row = lab_metric_row_of(name_of(scenario, expect));
    bool is_told = row != NULL && row->absent != NULL;
    return sim_fail(error, SIM_ERROR_INPUT, "%s%s: this run has no metric '%s'%s%s; %s", place, at,
                    expect->metric, is_told ? ", which is absent " : "", is_told ? row->absent : "",
                    is_told ? "docs/metrics.md has all" : "`bucketlab run --json` shows those that it has");
}

/* Adds the judged expectations to the result. Refuses one whose metric the run does not have. */
static bool judge_expects(const struct lab_scenario *scenario, struct lab_result *result,
                          struct sim_error *error)
{
    result->expects_hold = true;
    if (scenario->expect_count == 0)
        return true;
    result->expects = calloc(scenario->expect_count, sizeof *result->expects);
    if (result->expects == NULL)
        return sim_fail_memory(error);
    for (size_t i = 0; i < scenario->expect_count; i++) {
        const struct lab_expect *expect = &scenario->expects[i];
        const struct lab_metric *metric = lab_result_find(result, expect->metric);
        if (metric == NULL)
            return fail_absent(scenario, expect, error);
        struct lab_expect_result *judged = &result->expects[i];
        judged->text = sim_text_copy(expect->text);
        result->expect_count = i + 1;
        if (judged->text == NULL)
            return sim_fail_memory(error);
        judged->actual = metric->value;
        judged->ok = lab_expect_holds(expect, metric->value);
        result->expects_hold = result->expects_hold && judged->ok;
    }
    return true;
}

bool lab_run_in(const struct lab_scenario *scenario, uint32_t jobs, const struct lab_run_context *context,
                struct lab_result **out, struct sim_error *error)
{
    assert(jobs >= 1);
    *out = NULL;
    struct lab_result *result;
    struct lab_strategy_result *observed;
    if (!lab_expects_check(scenario, error) ||
        !lab_observed_read(scenario, context->progress, &observed, error))
        return false;
    bool ok = scenario->strategy_count == 0 ? run_none(scenario, &result, error)
              : scenario->engine == LAB_ENGINE_CLUSTER
                  ? lab_cluster_scenario(scenario, jobs, context, &result, error)
                  : run_stream(scenario, jobs, context, &result, error);
    if (!ok) {
        lab_observed_free(observed, scenario->observed_count);
        return false;
    }
    /* A run that only judges, or stops early, does not count all rows. */
    const bool is_whole = !context->only_judges && context->stops_at == 0 && context->stops_at_rows == 0;
    if (is_whole && !lab_books_check(scenario, result, error)) {
        lab_observed_free(observed, scenario->observed_count);
        lab_result_destroy(result);
        return false;
    }
    lab_observed_append(result, observed, scenario->observed_count);
    if (!judge_expects(scenario, result, error)) {
        lab_result_destroy(result);
        return false;
    }
    *out = result;
    return true;
}

bool lab_run(const struct lab_scenario *scenario, uint32_t jobs, struct lab_progress *progress,
             struct lab_result **out, struct sim_error *error)
{
    return lab_run_in(scenario, jobs, &(const struct lab_run_context){.progress = progress}, out, error);
}
