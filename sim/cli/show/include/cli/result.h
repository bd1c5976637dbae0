/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run in words and as JSON, as `run`, `show`, `import` and `judge` print it. */
#ifndef CLI_RESULT_H
#define CLI_RESULT_H

#include <jansson.h>

#include "cli/base.h"
#include "lab/result.h"
#include "reports/option.h"
#include "store/store.h"

/* The object of `run` and `show`; takes ownership of `warnings`. */
json_t *cli_json_run(int64_t run, const struct lab_result *result, json_t *warnings);

/* The headline and the lines of an answer, as a list of sentences. */
json_t *cli_json_why(const struct report_answer *answer);

/* Prints what was run, a row per strategy, and the expectations. Tables have at most 80 columns, whatever the
 * labels are. */
void cli_print_result(const struct lab_result *result);
/* The headline and the lines of an answer. */
void cli_print_answer(const struct report_answer *answer);
/* The tables of a run with agents: latencies, operations per 1000 rows, and violations of oracles; nothing
 * for another run. */
void cli_print_agents(const struct lab_result *result);
/* The value of a metric; NaN when there is none. */
double cli_figure(const struct lab_metrics *metrics, const char *name);
/* A strategy's settings as in a scenario (lab_settings_text()). */
#define CLI_SETTINGS_SIZE 4096
/* Prints the settings of all strategies, a paragraph each. scenario: for settings that a result does not have
 * (changes and how readers read); NULL when it cannot be parsed again. */
void cli_print_settings(const struct lab_result *result, const struct lab_scenario *scenario);
/* Returns true when all expectations hold; otherwise fails with SIM_ERROR_CHECK: "1 of 3 expectations of
 * chat-channels failed". */
bool cli_expects_hold(const struct lab_result *result, struct sim_error *error);

/* --- the charts of a run, and its page, with the data that it shows in addition to the result */

struct cli_page {
    const struct lab_result *result;
    const struct store_run_info *info;
    const char *database;
    const json_t *answer; /* answer of tune (contest_json.c); NULL without one */
};

/* Writes what was requested. */
bool cli_charts_write(struct cli_charts *charts, const struct cli_page *page, struct sim_error *error);

#endif
