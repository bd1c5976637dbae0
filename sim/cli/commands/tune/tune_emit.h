/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The recommended setting as a file that the core reads (bucketing/setting.h). */
#ifndef CLI_TUNE_EMIT_H
#define CLI_TUNE_EMIT_H

#include <stdbool.h>

#include "kernel/error.h"
#include "lab/result.h"
#include "lab/scenario.h"

/* Of what decides a scenario's figures: its text, --set, its seed, and the files that it reads. */
bool cli_tune_digest(const struct lab_scenario *scenario, uint64_t *out, struct sim_error *error);

/* Whole or not at all; the first strategy of the result is the recommended one. */
bool cli_tune_emit(const char *path, const struct lab_result *result, uint64_t scenario_digest, bool is_shown,
                   struct sim_error *error);

#endif
