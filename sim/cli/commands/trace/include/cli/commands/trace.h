/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command trace. */
#ifndef CLI_COMMANDS_TRACE_H
#define CLI_COMMANDS_TRACE_H

#include "cli/command.h"

extern const struct cli_command cli_trace;

#endif
