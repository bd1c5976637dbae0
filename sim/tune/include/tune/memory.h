/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the runs of an earlier contest of the same scenario came to. A run is a pure function of scenario,
 * setting, seed and rate, so one that is remembered need not be made again. */
#ifndef TUNE_MEMORY_H
#define TUNE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lab/scenario.h"

/* Both are called on any thread, several at once. A struct tune_memory * may be NULL: nothing is remembered.
 */
struct tune_memory {
    void *context;
    bool (*recall)(void *context, uint64_t job, void *out, size_t size); /* false: it is not there */
    void (*keep)(void *context, uint64_t job, const void *bytes, size_t size);
};

/* The run of a setting, at `factor` times the scenario's rate. */
uint64_t tune_memory_job(const struct lab_strategy *strategy, uint64_t seed, double factor);

#endif
