/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command ids. */
#ifndef CLI_COMMANDS_IDS_H
#define CLI_COMMANDS_IDS_H

#include "cli/command.h"

extern const struct cli_command cli_ids;

#endif
