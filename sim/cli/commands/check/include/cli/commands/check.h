/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command check. */
#ifndef CLI_COMMANDS_CHECK_H
#define CLI_COMMANDS_CHECK_H

#include "cli/command.h"

extern const struct cli_command cli_check;

#endif
