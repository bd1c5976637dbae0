/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a new baseline from the runs of a check. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "kernel/grow.h"
#include "lab/fuzz.h"
#include "tune/sample.h"

/* Confidence of the interval of a metric for one more seed. False alarms are prevented by check_figures.c,
 * not by this number. */
#define CONFIDENCE 0.99

struct figure {
    char *label; /* owned by the item's strategy */
    char name[LAB_METRIC_NAME_SIZE];
    struct tune_sample sample;
};

struct figures {
    struct figure *items;
    size_t count, capacity;
    uint64_t failed; /* number of seeds at which an expectation fails */
    uint64_t first_failed;
};

struct update {
    struct cli_gate *gate;
    struct figures *figures; /* metrics of each item */
};

/* Finds or makes a metric; `hint` is its usual index, since metrics are nearly always in the same order. */
static struct figure *figure_of(struct figures *figures, size_t hint, char *label, const char *name)
{
    for (size_t i = 0; i < figures->count; i++) {
        struct figure *figure = &figures->items[(hint + i) % figures->count];
        if (strcmp(figure->name, name) == 0 && strcmp(figure->label, label) == 0)
            return figure;
    }
    if (!sim_grow(&figures->items, &figures->capacity, figures->count + 1, sizeof *figures->items))
        return NULL;
    struct figure *figure = &figures->items[figures->count++];
    *figure = (struct figure){.label = label};
    snprintf(figure->name, sizeof figure->name, "%s", name);
    return figure;
}

static bool add_result(struct figures *figures, const struct cli_checked *item,
                       const struct lab_result *result)
{
    size_t place = 0;
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_strategy_result *strategy = &result->strategies[i];
        for (size_t j = 0; j < strategy->metrics.count; j++, place++) {
            const struct lab_metric *metric = &strategy->metrics.items[j];
            if (!isfinite(metric->value))
                continue;
            struct figure *figure =
                figure_of(figures, place, item->result->strategies[i].label, metric->name);
            if (figure == NULL)
                return false;
            tune_sample_add(&figure->sample, metric->value);
        }
    }
    return true;
}

static bool add_seed(void *context, size_t index, uint64_t offset, struct lab_result *result,
                     int64_t elapsed_ms, struct sim_error *error)
{
    struct update *update = context;
    struct figures *figures = &update->figures[index];
    struct lab_breach breach;
    (void)offset;
    (void)elapsed_ms;
    if (!result->expects_hold || lab_breach_find(result, &breach)) {
        figures->first_failed = figures->failed++ == 0 ? result->seed : figures->first_failed;
    }
    bool is_fine = add_result(figures, &update->gate->items[index], result);
    lab_result_destroy(result);
    return is_fine || sim_fail_memory(error);
}

static bool save_made(struct cli_gate *gate, struct store_baseline *made, struct sim_error *error)
{
    struct store *store;
    if (!store_open(gate->baseline, STORE_WRITE, &store, error))
        return false;
    bool is_fine = store_baselines_save(store, made, gate->count, error);
    store_close(store);
    return is_fine;
}

/* Makes a baseline, whose strings and result are owned by the item. */
static bool make_baseline(struct cli_checked *item, const struct figures *figures, uint64_t seeds,
                          struct store_baseline *out)
{
    *out = (struct store_baseline){
        .info = {.scenario_path = item->scenario->path, /* relative to the repository's folder, so that it is
                                                           the same on every machine */
                 .scenario_text = item->scenario->text,
                 .overrides = item->scenario->overrides,
                 .version = BUCKETLAB_VERSION,
                 .created_unix_s = item->created_unix_s,
                 .elapsed_ms = item->elapsed_ms},
        .result = item->result,
        .seeds = seeds,
        .metrics = calloc(figures->count + 1, sizeof *out->metrics),
        .metric_count = figures->count};
    for (size_t i = 0; out->metrics != NULL && i < figures->count; i++) {
        const struct figure *figure = &figures->items[i];
        struct tune_interval next = tune_sample_next_interval(&figure->sample, CONFIDENCE);
        struct store_baseline_metric *metric = &out->metrics[i];
        *metric = (struct store_baseline_metric){.label = figure->label,
                                                 .count = figure->sample.count,
                                                 .mean = figure->sample.mean,
                                                 .stddev = tune_sample_stddev(&figure->sample),
                                                 .low = fmin(next.low, figure->sample.least),
                                                 .high = fmax(next.high, figure->sample.most)};
        memcpy(metric->name, figure->name, sizeof metric->name);
    }
    return out->metrics != NULL;
}

static bool save(struct update *update, struct sim_error *error)
{
    struct cli_gate *gate = update->gate;
    struct store_baseline *made = calloc(gate->count, sizeof *made);
    if (made == NULL)
        return sim_fail_memory(error);
    bool is_fine = true;
    for (size_t i = 0; is_fine && i < gate->count; i++)
        is_fine = make_baseline(&gate->items[i], &update->figures[i], gate->seeds + 1, &made[i]) ||
                  sim_fail_memory(error);
    is_fine = is_fine && save_made(gate, made, error);
    for (size_t i = 0; i < gate->count; i++)
        free(made[i].metrics);
    free(made);
    return is_fine;
}

bool cli_check_update(struct cli_gate *gate, struct sim_error *error)
{
    struct update update = {gate, calloc(gate->count, sizeof *update.figures)};
    bool is_fine = update.figures != NULL;
    for (size_t i = 0; is_fine && i < gate->count; i++)
        is_fine = add_result(&update.figures[i], &gate->items[i], gate->items[i].result);
    is_fine = is_fine || sim_fail_memory(error);
    is_fine = is_fine && cli_check_run(gate, 1, gate->seeds, NULL, add_seed, &update, error) &&
              save(&update, error);
    for (size_t i = 0; is_fine && i < gate->count; i++) {
        const struct figures *figures = &update.figures[i];
        if (figures->failed > 0)
            is_fine = cli_check_note(&gate->items[i],
                                     "at %" PRIu64 " of %" PRIu64 " further seeds, %" PRIu64
                                     " for one, an expectation does not hold or a guarantee is broken",
                                     figures->failed, gate->seeds, figures->first_failed) ||
                      sim_fail_memory(error);
    }
    for (size_t i = 0; update.figures != NULL && i < gate->count; i++)
        free(update.figures[i].items);
    free(update.figures);
    gate->is_updated = is_fine;
    return is_fine;
}
