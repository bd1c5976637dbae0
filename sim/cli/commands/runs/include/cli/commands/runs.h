/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commands runs, show, export, import, merge, report, replay. */
#ifndef CLI_COMMANDS_RUNS_H
#define CLI_COMMANDS_RUNS_H

#include "cli/command.h"

extern const struct cli_command cli_runs, cli_show, cli_export, cli_import, cli_merge, cli_report, cli_replay;

#endif
