/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the recommended setting to a file that the core can parse (bucketing/setting.h). */
#ifndef CLI_TUNE_EMIT_H
#define CLI_TUNE_EMIT_H

#include <stdbool.h>

#include "kernel/error.h"
#include "lab/result.h"
#include "lab/scenario.h"

/* A digest of everything that determines a scenario's results: its text, --set, its seed, and the files that
 * it reads. */
bool cli_tune_digest(const struct lab_scenario *scenario, uint64_t *out, struct sim_error *error);

/* Writes the setting of the result's first strategy, which is the recommended one; the file appears only when
 * it is complete. */
bool cli_tune_emit(const char *path, const struct lab_result *result, uint64_t scenario_digest,
                   struct sim_error *error);

#endif
