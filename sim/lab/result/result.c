/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a result: names, metrics, latencies. */
#include "lab/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"

bool lab_metrics_add(struct lab_metrics *metrics, const char *name, double value)
{
    if (name == NULL)
        return false;
    if (!sim_grow(&metrics->items, &metrics->capacity, metrics->count + 1, sizeof *metrics->items))
        return false;
    struct lab_metric *metric = &metrics->items[metrics->count++];
    memset(metric->name, 0, sizeof metric->name);
    snprintf(metric->name, sizeof metric->name, "%s", name);
    metric->value = value;
    return true;
}

const char *lab_result_kind(const struct lab_strategy_result *strategy)
{
    return lab_kind_name(lab_settings_kind(&strategy->settings));
}

const char *lab_latency_name(enum lab_latency latency)
{
    static const char *const names[LAB_LATENCY_COUNT] = {"latency.write", "latency.read", "latency.counter",
                                                         "latency.lwt",   "latency.lock", "latency.lease"};
    return names[latency];
}

const struct lab_metric *lab_metrics_find(const struct lab_metrics *metrics, const char *name)
{
    for (size_t i = 0; name != NULL && i < metrics->count; i++) {
        if (strcmp(metrics->items[i].name, name) == 0)
            return &metrics->items[i];
    }
    return NULL;
}

const struct lab_metric *lab_result_find(const struct lab_result *result, const char *name)
{
    const struct lab_strategy_result *best = NULL;
    size_t best_length = 0;
    for (size_t i = 0; i < result->strategy_count; i++) {
        size_t length = strlen(result->strategies[i].label);
        if (length >= best_length && strncmp(name, result->strategies[i].label, length) == 0 &&
            name[length] == '.') {
            best = &result->strategies[i];
            best_length = length;
        }
    }
    return best == NULL ? NULL : lab_metrics_find(&best->metrics, name + best_length + 1);
}

void lab_result_destroy(struct lab_result *result)
{
    if (result == NULL)
        return;
    for (size_t i = 0; i < result->strategy_count; i++)
        lab_strategy_result_clear(&result->strategies[i]);
    for (size_t i = 0; i < result->expect_count; i++)
        free(result->expects[i].text);
    free(result->strategies);
    free(result->expects);
    free(result->scenario_name);
    free(result->about);
    free(result->source);
    free(result->weeks);
    free(result);
}

void lab_strategy_result_clear(struct lab_strategy_result *strategy)
{
    free(strategy->label);
    lab_histogram_clear(&strategy->closed_rows);
    lab_histogram_clear(&strategy->open_rows);
    lab_histogram_clear(&strategy->closed_bytes);
    lab_histogram_clear(&strategy->open_bytes);
    for (int unit = 0; unit < LAB_SIZE_UNITS; unit++)
        lab_sizes_clear(&strategy->sizes[unit]);
    lab_histogram_clear(&strategy->read_partitions);
    free(strategy->timeline.items);
    free(strategy->nodes);
    for (int i = 0; i < LAB_LATENCY_COUNT; i++)
        lab_histogram_clear(&strategy->latency[i]);
    free(strategy->metrics.items);
    free(strategy->events.marks);
    free(strategy->views.key);
    free(strategy->views.items);
    free(strategy->settings.observed_file);
    free(strategy->settings.observed_table);
}

bool lab_result_is_observed(const struct lab_result *result)
{
    /* Observed strategies follow all others, so the first one decides. */
    return result->strategy_count > 0 && result->strategies[0].settings.observed != WL_OBSERVED_AUTO;
}
