/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of `watch` share: a prediction, and the looks at a table that are compared with it. */
#ifndef CLI_WATCH_H
#define CLI_WATCH_H

#include <stdio.h>

#include "cli/execute.h"
#include "lab/drift.h"

/* The request, according to the command line and the database. */
struct watch {
    const char *database;
    const char *path;    /* the file to read; NULL: the output of `command` is read */
    const char *command; /* NULL: the file is read */
    const char *prometheus;
    int64_t every_ms; /* 0: one look */
    uint64_t looks;   /* 0: until a signal comes */
    bool is_json, is_quiet, is_check;
    int64_t run; /* the number of the run that predicts the sizes */
    struct lab_result *result;
    const struct lab_strategy_result *predicted;
    struct lab_drift_question question; /* without the fields that each look fills */
    uint64_t looked, failed;            /* by this process */
    struct cli_signals signals;
};

/* A look: what was observed, stored under the number `run`. */
struct watch_look {
    int64_t run, time_s;
    uint64_t number; /* of this look among all looks for this prediction, from 1 */
    struct lab_result *result;
    const struct lab_strategy_result *observed; /* of result */
    struct lab_drift drift;
};

/* Runs the command by a shell and writes what it prints to `out`. A command that runs longer than limit_ms
 * (0: no limit) is killed. A signal kills it too, and sets signals->caught. */
bool watch_run_command(const char *command, int64_t limit_ms, struct cli_signals *signals, FILE *out,
                       struct sim_error *error);
/* Writes the file that Prometheus reads; the look is the last one that was stored. */
bool watch_write_prometheus(const struct watch *watch, const struct watch_look *look,
                            struct sim_error *error);
bool watch_print(const struct watch *watch, const struct watch_look *look, struct sim_error *error);

#endif
