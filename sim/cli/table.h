/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The comparison of a run's strategies, for people: at most 80 columns while labels are short. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include "lab/result.h"

/* What was run, a row a strategy, and the expectations. */
void cli_print_result(const struct lab_result *result);
/* "bits 9, threshold 40"; buffer holds CLI_SETTINGS_SIZE. */
#define CLI_SETTINGS_SIZE 128
void cli_settings(const struct bk_strategy *strategy, char *buffer);
/* Whether stdout takes colours: a terminal, and neither NO_COLOR nor TERM=dumb. */
bool cli_has_colour(void);
/* "1 of 3 expectations of chat-channels failed", SIM_ERROR_CHECK; true when they hold. */
bool cli_expects_hold(const struct lab_result *result, struct sim_error *error);

#endif
