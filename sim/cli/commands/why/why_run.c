/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a scenario with all faults, with none, and without each in turn, and compares how many rows go wrong.
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>

#include "lab/crew.h"
#include "lab/metric.h"
#include "why.h"

/* The number of races differs from run to run by chance: a difference below this many standard deviations,
 * computed as if races were independent, is ignored. */
#define CHANCE_DEVIATIONS 3

static bool run_one(void *context, uint64_t job, struct lab_progress *progress, void **made,
                    struct sim_error *error)
{
    const struct why *why = context;
    struct lab_scenario scenario = *why->scenario;
    struct lab_result *result = NULL;
    scenario.faults_left_out = job == 0 ? 0 : job == 1 ? UINT64_MAX : UINT64_C(1) << (job - 2);
    bool is_fine = lab_run(&scenario, 1, progress, &result, error);
    *made = result;
    return is_fine;
}

static void drop(void *made)
{
    lab_result_destroy(made);
}

static bool take(void *context, uint64_t job, void *made, bool *is_enough, struct sim_error *error)
{
    struct why *why = context;
    (void)is_enough;
    (void)error;
    why->runs[job] = made;
    return true;
}

static bool run_all(void *context, struct lab_progress *progress, struct sim_error *error)
{
    struct why *why = context;
    uint64_t taken;
    const struct lab_crew crew = {
        .context = why, .count = why->run_count, .work = run_one, .take = take, .drop = drop};
    return lab_crew_run(&crew, why->jobs, progress, &taken, error);
}

bool why_run(struct why *why, bool is_quiet, struct cli_signals *signals, struct sim_error *error)
{
    const struct cli_task task = {
        .name = "why", .unit = "runs/s", .is_quiet = is_quiet, .run = run_all, .context = why};
    why->run_count = why->scenario->fault_count == 0 ? 1 : why->scenario->fault_count + 2;
    why->runs = calloc(why->run_count, sizeof *why->runs);
    if (why->runs == NULL)
        return sim_fail_memory(error);
    bool is_fine = cli_attend(&task, signals, &why->elapsed_ms, error);
    return signals->caught == 0 ? is_fine
                                : sim_fail(error, SIM_ERROR_CHECK, "interrupted; there is no result");
}

void why_free(struct why *why)
{
    for (size_t i = 0; why->runs != NULL && i < why->run_count; i++)
        lab_result_destroy(why->runs[i]);
    free(why->runs);
}

static uint64_t figure(const struct lab_strategy_result *strategy, const char *name)
{
    const struct lab_metric *metric = lab_metrics_find(&strategy->metrics, name);
    return metric == NULL ? 0 : (uint64_t)metric->value;
}

uint64_t why_rows(const struct why *why, size_t run, size_t strategy, enum why_kind kind)
{
    const struct lab_strategy_result *of = &why->runs[run]->strategies[strategy];
    const struct lab_histogram *latency = &of->latency[LAB_LATENCY_WRITE];
    uint64_t rows = 0;
    if (kind == WHY_MISROUTED)
        return figure(of, "writes.misrouted");
    if (kind == WHY_REFUSED)
        return figure(of, "writes.refused") + figure(of, "writes.unresolved");
    for (size_t i = 0; i < latency->slot_count; i++)
        rows += latency->slots[i].size >= (uint64_t)why->slow_ns ? latency->slots[i].count : 0;
    return rows;
}

/* The decrease in the number of rows without a fault, or 0 if it may be chance. */
static uint64_t fewer(uint64_t with, uint64_t without, uint64_t races)
{
    double chance = races == 0 ? 0 : CHANCE_DEVIATIONS * sqrt((double)with + (double)without);
    return with > without && (double)(with - without) > chance ? with - without : 0;
}

void why_judge(const struct why *why, size_t strategy, enum why_kind kind, struct why_causes *out)
{
    uint64_t rows = why_rows(why, 0, strategy, kind), sum = 0;
    uint64_t races = why->run_count == 1 ? rows : why_rows(why, 1, strategy, kind);
    *out = (struct why_causes){.rows = rows, .races = races < rows ? races : rows};
    for (size_t run = 2; run < why->run_count; run++)
        sum += out->faults[run - 2] = fewer(rows, why_rows(why, run, strategy, kind), races);
    uint64_t of_faults = rows - out->races;
    if (sum == 0 && why->run_count == 3) { /* there is only one fault, and its effect may be chance */
        out->races = rows;
        return;
    }
    out->together = sum > of_faults ? sum - of_faults : 0;
    out->any = sum < of_faults ? of_faults - sum : 0;
}
