/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commands cql, token, bucket-of. */
#ifndef CLI_COMMANDS_CQL_H
#define CLI_COMMANDS_CQL_H

#include "cli/command.h"

extern const struct cli_command cli_cql, cli_token, cli_bucket_of;

#endif
