/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the runs of a contest leave for its later steps, which need not repeat them. Each is identified by a
 * number, as in tune/memory.h. Unlike there, it is lost with the contest. */
#ifndef TUNE_KEPT_H
#define TUNE_KEPT_H

#include "lab/result.h"
#include "tune/memory.h"

struct tune_kept;

struct tune_kept *tune_kept_create(void); /* NULL when out of memory */
/* kept may be NULL. Frees the results that were not taken. */
void tune_kept_destroy(struct tune_kept *kept);
/* Takes ownership of the result. May be called on any thread, and concurrently, like the next one. When out
 * of memory, nothing is kept. */
void tune_kept_result(struct tune_kept *kept, uint64_t job, struct lab_result *result);
void tune_kept_bytes(struct tune_kept *kept, uint64_t job, const void *bytes, size_t size);
/* Hands over the result of a run; NULL if there is none. */
struct lab_result *tune_kept_take(struct tune_kept *kept, uint64_t job);
/* Returns a memory that keeps bytes in `kept` and in `memory`, and recalls them from either. `memory` may be
 * NULL. The result is valid for as long as both, and until the next call. */
const struct tune_memory *tune_kept_memory(struct tune_kept *kept, const struct tune_memory *memory);

#endif
