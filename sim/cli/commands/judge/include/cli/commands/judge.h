/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command judge. */
#ifndef CLI_COMMANDS_JUDGE_H
#define CLI_COMMANDS_JUDGE_H

#include "cli/command.h"

extern const struct cli_command cli_judge;

#endif
