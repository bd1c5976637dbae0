/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the comparison of a run's strategies as tables of at most 80 columns, whatever the labels are. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include "lab/result.h"
#include "reports/option.h"

#define CLI_RED   "\033[31m"
#define CLI_GREEN "\033[32m"
#define CLI_BOLD  "\033[1;32m" /* bold and green */
#define CLI_PLAIN "\033[0m"

/* Prints what was run, a row per strategy, and the expectations. The functions that return bool fail when out
 * of memory. */
bool cli_print_result(const struct lab_result *result, struct sim_error *error);
/* The headline and the lines of an answer. */
void cli_print_answer(const struct report_answer *answer);
/* The first table: sizes, costs, and whatever went wrong, with the meaning of its columns and marks. */
void cli_print_sizes(const struct lab_result *result, const struct report_answer *answer);
/* The tables of a run with agents: latencies, operations per 1000 rows, and violations of oracles; nothing
 * for another run. */
void cli_print_agents(const struct lab_result *result);
/* The only table of a run with identifiers. */
void cli_print_identifiers(const struct lab_result *result);
/* The first column of a row; a label that is too long gets a separate line. */
void cli_print_label(const char *label);
/* As cli_print_label(), where the column begins further right. */
void cli_print_label_after(const char *label, size_t column);
/* The value of a metric; NaN when there is none. */
double cli_figure(const struct lab_metrics *metrics, const char *name);
/* Formats a strategy's settings: "bits 9, threshold 40, three-state, lead 10s". buffer must have
 * CLI_SETTINGS_SIZE bytes. */
#define CLI_SETTINGS_SIZE 256
void cli_settings(const struct lab_strategy_result *result, char *buffer);
/* Prints the settings of all strategies, a paragraph each. scenario: for settings that a result does not have
 * (changes and how readers read); NULL when it cannot be parsed again. */
void cli_print_settings(const struct lab_result *result, const struct lab_scenario *scenario);
/* Prints the files of the observed strategies, if there are any. */
void cli_print_observed(const struct lab_result *result);
void cli_observed_settings(const struct lab_strategy_result *result, char *buffer);
/* Whether to print colours: stdout is a terminal, and neither NO_COLOR nor TERM=dumb is set. */
bool cli_has_colour(void);
/* Returns true when all expectations hold; otherwise fails with SIM_ERROR_CHECK: "1 of 3 expectations of
 * chat-channels failed". */
bool cli_expects_hold(const struct lab_result *result, struct sim_error *error);

#endif
