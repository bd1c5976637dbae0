/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commands run, init. */
#ifndef CLI_COMMANDS_RUN_H
#define CLI_COMMANDS_RUN_H

#include "cli/command.h"

extern const struct cli_command cli_run, cli_init;

#endif
