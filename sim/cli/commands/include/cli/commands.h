/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of all commands, from which the program, its manual and its shell completions are made. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/command.h"

#define CLI_COMMAND_COUNT 23
extern const struct cli_command *const cli_commands[CLI_COMMAND_COUNT];
/* What another rank does for rank 0. */
extern lab_team_service *const cli_services[LAB_SERVICES];

#endif
