/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Metrics of strategies over several seeds, as `sweep` and the baseline of `check` sum them up. */
#ifndef CLI_FIGURES_H
#define CLI_FIGURES_H

#include "lab/result.h"
#include "tune/sample.h"

/* One metric of one strategy. */
struct cli_sampled {
    char *label;
    char name[LAB_METRIC_NAME_SIZE];
    struct tune_sample sample;
};

/* In order; those of a strategy are together. */
struct cli_figures {
    struct cli_sampled *items;
    size_t count, capacity, next;
};

/* Adds a value, unless it is not finite. */
void cli_figures_add(struct cli_figures *figures, const char *label, const char *name, double value);
void cli_figures_clear(struct cli_figures *figures);

#endif
