/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command watch. */
#ifndef CLI_COMMANDS_WATCH_H
#define CLI_COMMANDS_WATCH_H

#include "cli/command.h"

extern const struct cli_command cli_watch;

#endif
