/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commands, in the order in which a new user needs them, and what other ranks do. */
#define _POSIX_C_SOURCE 200809L
#include "cli/command.h"

const struct cli_command *const cli_commands[CLI_COMMAND_COUNT] = {
    &cli_init,  &cli_run,    &cli_why,    &cli_sweep, &cli_merge, &cli_cql,   &cli_fuzz,     &cli_judge,
    &cli_odds,  &cli_tune,   &cli_check,  &cli_runs,  &cli_show,  &cli_diff,  &cli_report,   &cli_import,
    &cli_watch, &cli_export, &cli_replay, &cli_ids,   &cli_trace, &cli_token, &cli_bucket_of};

lab_team_service *const cli_services[LAB_SERVICES] = {[LAB_SERVICE_KEYS] = lab_serve_keys,
                                                      [LAB_SERVICE_STRATEGIES] = lab_serve_strategies,
                                                      [LAB_SERVICE_JOBS] = cli_sweep_serve,
                                                      [LAB_SERVICE_SEEDS] = cli_campaign_serve};
