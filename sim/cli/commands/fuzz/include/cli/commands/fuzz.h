/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command fuzz. */
#ifndef CLI_COMMANDS_FUZZ_H
#define CLI_COMMANDS_FUZZ_H

#include "cli/command.h"

extern const struct cli_command cli_fuzz;

#endif
