/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The results of runs of an earlier contest of the same scenario. A run is a pure function of scenario,
 * setting, seed and rate, so a run whose result is remembered need not be repeated. */
#ifndef TUNE_MEMORY_H
#define TUNE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lab/scenario.h"

/* Both functions may be called on any thread, and concurrently. A struct tune_memory * may be NULL; then
 * nothing is remembered. */
struct tune_memory {
    void *context;
    bool (*recall)(void *context, uint64_t job, void *out, size_t size); /* false if it is not remembered */
    void (*keep)(void *context, uint64_t job, const void *bytes, size_t size);
};

/* Returns the number that identifies the run of a setting at `factor` times the scenario's rate. */
uint64_t tune_memory_job(const struct lab_strategy *strategy, uint64_t seed, double factor);

#endif
