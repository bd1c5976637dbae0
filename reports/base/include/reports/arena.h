/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory of one chart: taken piece by piece, given back at once.
 *
 * A failure is sticky, so that a builder checks once at its end. Text functions never return NULL: after a
 * failure they return "". */
#ifndef REPORTS_ARENA_H
#define REPORTS_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct report_block;

struct report_arena {
    struct report_block *blocks;
    size_t allowance; /* pieces that may still be taken; SIZE_MAX outside tests */
    bool out_of_memory;
};

void report_arena_init(struct report_arena *arena);
void report_arena_free(struct report_arena *arena);

/* Zeroed memory for count items of size bytes; NULL when out of memory. count 0 is taken as 1. */
void *report_take(struct report_arena *arena, size_t count, size_t size);
const char *report_text(struct report_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A user's text as one line that may be shown (sim_text_step()): control characters become spaces, what is
 * not UTF-8 and other characters that may not be shown become U+FFFD. NULL becomes "". */
const char *report_clean(struct report_arena *arena, const char *text);

#endif
