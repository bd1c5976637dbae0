/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fits a synthetic scenario to a trace, and measures how close its partitions are to the trace's. */
#ifndef CLI_TRACE_FIT_H
#define CLI_TRACE_FIT_H

#include <jansson.h>

#include "lab/scenario.h"
#include "trace_summary.h"

#define TRACE_FIT_STRATEGIES 5
#define TRACE_FIT_FIGURES    4 /* figures per strategy: p50 and p99 of rows, p50 and p99 of bytes */
#define TRACE_FIT_TEXT_SIZE  8192
#define TRACE_FIT_WITHIN     0.15

struct trace_fit {
    const struct lab_scenario *trace;
    const struct trace_summary *summary;
    char strategies[512];
    size_t of_each; /* number of figures per strategy; 2 when the trace has no sizes */
    double wanted[TRACE_FIT_STRATEGIES][TRACE_FIT_FIGURES], found[TRACE_FIT_STRATEGIES][TRACE_FIT_FIGURES];
    double off; /* largest deviation of all figures */
    size_t worst_strategy, worst_figure;
    char text[TRACE_FIT_TEXT_SIZE]; /* the scenario */
};

/* Fits on one seed, and compares on another seed, whose figures are in `found`. */
bool trace_fit_make(const struct lab_scenario *trace, const struct trace_summary *summary,
                    struct trace_fit *out, struct sim_error *error);
/* Whether the scenario has late rows, by the share and the mean delay of the trace's. It has none if the
 * trace has none, or if a scenario cannot have such delays. */
bool trace_fit_has_late(const struct trace_summary *summary);
double trace_fit_off(double found, double wanted);

bool trace_fit_write(const struct trace_fit *fit, const char *path, struct sim_error *error);
void trace_fit_print(const struct trace_fit *fit, const char *path);
json_t *trace_fit_json(const struct trace_fit *fit, const char *path);
/* Fails with SIM_ERROR_CHECK when a figure deviates by more than TRACE_FIT_WITHIN. */
bool trace_fit_judge(const struct trace_fit *fit, const char *path, struct sim_error *error);

#endif
