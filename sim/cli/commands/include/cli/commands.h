/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All commands: the program, its manual and what shells complete are made from this table. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/command.h"

#define CLI_COMMAND_COUNT 23
extern const struct cli_command *const cli_commands[CLI_COMMAND_COUNT];

#endif
