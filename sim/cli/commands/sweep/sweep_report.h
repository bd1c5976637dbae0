/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the results of a sweep per point: the mean of each metric over the seeds, and its confidence
 * interval. */
#ifndef CLI_SWEEP_REPORT_H
#define CLI_SWEEP_REPORT_H

#include <jansson.h>

#include "store/sweep.h"

struct cli_sweep_report {
    const struct lab_sweep *sweep;
    struct store_sweep *stored;
    const char *database;
    const char *const *metrics; /* the requested metrics */
    size_t metric_count;        /* 0: a few important ones, or all of them in JSON and CSV */
    uint64_t digest;
    bool is_json;
    const char *csv; /* file; NULL: none */
};

/* Prints the jobs that are done, and writes the CSV. */
bool cli_sweep_report(const struct cli_sweep_report *report, struct sim_error *error);

#endif
