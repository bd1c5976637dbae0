/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commands tune, odds. */
#ifndef CLI_COMMANDS_TUNE_H
#define CLI_COMMANDS_TUNE_H

#include "cli/command.h"

extern const struct cli_command cli_tune, cli_odds;

#endif
