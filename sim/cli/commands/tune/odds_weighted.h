/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `odds --weighted`: the distribution of a weighted partition's bytes. */
#ifndef CLI_ODDS_WEIGHTED_H
#define CLI_ODDS_WEIGHTED_H

#include "cli/command.h"

int cli_odds_weighted(const struct cli_args *args, struct sim_error *error);

#endif
