/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command diff. */
#ifndef CLI_COMMANDS_DIFF_H
#define CLI_COMMANDS_DIFF_H

#include "cli/command.h"

extern const struct cli_command cli_diff;

#endif
