/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The comparison of a run's strategies, for people: at most 80 columns whatever the labels are. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include "lab/result.h"

#define CLI_RED   "\033[31m"
#define CLI_GREEN "\033[32m"
#define CLI_BOLD  "\033[1;32m" /* green as well */
#define CLI_PLAIN "\033[0m"

/* What was run, a row per strategy, and the expectations. These four fail when out of memory. */
bool cli_print_result(const struct lab_result *result, struct sim_error *error);
/* The first table, what it says in words, and what its marks mean. */
bool cli_print_sizes(const struct lab_result *result, struct sim_error *error);
/* What the run answers, a paragraph. */
bool cli_print_verdict(const struct lab_result *result, struct sim_error *error);
/* The second table, of a run with agents; of another one nothing. */
void cli_print_cluster(const struct lab_result *result);
/* The third, of such a run: operations per 1000 rows, by kind. */
void cli_print_costs(const struct lab_result *result);
/* The fourth: what the oracles found. */
void cli_print_oracles(const struct lab_result *result);
/* The one table of a run of identifiers. */
bool cli_print_identifiers(const struct lab_result *result, struct sim_error *error);
/* A row's first column, on a line of its own where it is too long. */
void cli_print_label(const char *label);
/* The same where the column begins further right. */
void cli_print_label_after(const char *label, size_t column);
/* NaN where there is none. */
double cli_figure(const struct lab_metrics *metrics, const char *name);
/* "bits 9, threshold 40, three-state, lead 10s"; buffer holds CLI_SETTINGS_SIZE. */
#define CLI_SETTINGS_SIZE 256
void cli_settings(const struct lab_strategy_result *result, char *buffer);
/* The settings of all, a paragraph each. scenario: for what a result does not hold, how settings change and
 * how readers read; NULL where it cannot be read again. */
void cli_print_settings(const struct lab_result *result, const struct lab_scenario *scenario);
/* What the files of the observed ones are; of a run without any nothing. */
void cli_print_observed(const struct lab_result *result);
void cli_observed_settings(const struct lab_strategy_result *result, char *buffer);
/* Whether stdout takes colours: a terminal, and neither NO_COLOR nor TERM=dumb. */
bool cli_has_colour(void);
/* "1 of 3 expectations of chat-channels failed", SIM_ERROR_CHECK; true when they hold. */
bool cli_expects_hold(const struct lab_result *result, struct sim_error *error);

#endif
