/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command sweep. */
#ifndef CLI_COMMANDS_SWEEP_H
#define CLI_COMMANDS_SWEEP_H

#include "cli/command.h"

extern const struct cli_command cli_sweep;
extern lab_team_service cli_sweep_serve; /* another rank: runs jobs */

#endif
