/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory of one chart, page or answer: allocated piece by piece by GLib, which ends the program with a
 * line when memory runs out, and freed as a whole. */
#ifndef REPORTS_ARENA_H
#define REPORTS_ARENA_H

#include <stddef.h>

struct report_block;

/* Begins as {NULL}. */
struct report_arena {
    struct report_block *blocks;
};

void report_arena_free(struct report_arena *arena);

/* Allocates zeroed memory for count items of size bytes. A count of 0 is treated as 1. */
void *report_take(struct report_arena *arena, size_t count, size_t size);
/* Formats a text. */
const char *report_text(struct report_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Appends a formatted text to a list, after `join` unless the list is empty. An empty text is not appended.
 */
void report_append(struct report_arena *arena, const char **list, const char *join, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* A user's text as one line that may be displayed (sim_text_step()): control characters become spaces; bytes
 * that are not UTF-8, and other characters that must not be displayed, become U+FFFD. NULL becomes "". */
const char *report_clean(struct report_arena *arena, const char *text);
/* The same, but line breaks and tabs are kept, and a text that needs no change is returned as it is. */
const char *report_clean_lines(struct report_arena *arena, const char *text);

#endif
