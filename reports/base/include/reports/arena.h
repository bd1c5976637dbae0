/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory of one chart, page or answer: allocated piece by piece, and freed as a whole.
 *
 * The maker of an arena says in report_arena_fails() what to do when memory runs out. All other code has
 * nothing to check, and must own nothing outside of the arena while it allocates. */
#ifndef REPORTS_ARENA_H
#define REPORTS_ARENA_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>

struct report_block;

struct report_arena {
    struct report_block *blocks;
    size_t allowance; /* number of pieces that may still be allocated; SIZE_MAX outside of tests */
    jmp_buf failed;
};

void report_arena_init(struct report_arena *arena);
void report_arena_free(struct report_arena *arena);
/* False at first; an allocation that fails returns here again, with true. Until the arena is freed, the
 * caller must not return. The arena must not be a variable of the caller itself (C17, 7.13.2.1). */
#define report_arena_fails(arena) (setjmp((arena)->failed) != 0)

/* Allocates zeroed memory for count items of size bytes. A count of 0 is treated as 1. */
void *report_take(struct report_arena *arena, size_t count, size_t size);
/* Ends what the arena is used for, as a failed allocation does. */
_Noreturn void report_arena_fail(struct report_arena *arena);
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
