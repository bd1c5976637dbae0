/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command why. */
#ifndef CLI_COMMANDS_WHY_H
#define CLI_COMMANDS_WHY_H

#include "cli/command.h"

extern const struct cli_command cli_why;

#endif
