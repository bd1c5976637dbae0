/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts: whether one from outside is UTF-8, which name a mistyped one was meant to be, and copies. */
#ifndef KERNEL_TEXT_H
#define KERNEL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#define SIM_UTF8_SIZE_MAX 4

/* Bytes of the well-formed character at text (1 to 4), or 0: RFC 3629, no overlong form, no surrogate, none
 * above U+10FFFF. At most `size` bytes are read, and none behind the first that does not fit: a NUL ends it,
 * so that SIM_UTF8_SIZE_MAX does for a terminated text. *code (which may be NULL) gets the code point when
 * the result is not 0. */
size_t sim_utf8(const char *text, size_t size, unsigned *code);

/* How many bytes at the front are whole characters: `size` when all is UTF-8. */
size_t sim_utf8_valid(const char *text, size_t size);

/* For showing text to a person. Bytes of the character at text (1 where it is not UTF-8; at most `size`,
 * which is above 0), and whether it may be shown as it is. Neither may control characters (C0, C1, DEL), line
 * and paragraph separators, and invisible characters that set the direction of what follows (Unicode's
 * Bidi_Control and the deprecated U+206A to U+206F): they could make a label look like another, or control a
 * terminal. Nor may U+FFFE and U+FFFF, which XML cannot hold. `kept` lists control characters that are fine
 * here, as in "\n\t". */
size_t sim_text_step(const char *text, size_t size, const char *kept, bool *is_fine);

/* The nearest of names[0..count) when it is near enough to be meant, of equals the one
 * that begins with it, else the first; or NULL. */
const char *sim_nearest(const char *name, const char *const *names, size_t count);

/* A copy of a terminated text, malloc'ed; NULL when out of memory. */
char *sim_text_copy(const char *text);

#endif
