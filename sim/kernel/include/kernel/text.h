/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts: validation of UTF-8, the closest known name to a misspelled one, and copies. */
#ifndef KERNEL_TEXT_H
#define KERNEL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#define SIM_UTF8_SIZE_MAX 4

/* The number of bytes (1 to 4) of the well-formed UTF-8 character at text, or 0 when there is none (RFC 3629:
 * no overlong form, no surrogate, nothing above U+10FFFF). It reads at most `size` bytes, and none after the
 * first invalid byte, so a NUL stops it and size may be SIM_UTF8_SIZE_MAX for a terminated text. *code is set
 * to the code point when the result is not 0; code may be NULL. */
size_t sim_utf8(const char *text, size_t size, unsigned *code);

/* The number of leading bytes that are valid UTF-8: `size` when all of them are. */
size_t sim_utf8_valid(const char *text, size_t size);

/* For displaying text. Returns the number of bytes of the character at text (1 when it is not UTF-8; at most
 * `size`, which is above 0), and sets *is_fine to whether the character may be displayed unchanged. The
 * following may not, since they could make a label look like another or control a terminal: control
 * characters (C0, C1, DEL), line and paragraph separators, and invisible characters that set the direction of
 * the text after them (Unicode's Bidi_Control and the deprecated U+206A to U+206F). Nor may U+FFFE and
 * U+FFFF, which XML does not allow. `kept` lists control characters that the caller allows, for example
 * "\n\t". */
size_t sim_text_step(const char *text, size_t size, const char *kept, bool *is_fine);

/* The one of the `count` names that is closest to `name` by edit distance, or NULL when none is close enough
 * to be what was meant. Of equally close names, returns one that begins with `name`, otherwise the first. */
const char *sim_nearest(const char *name, const char *const *names, size_t count);

/* A copy of a terminated text, malloc'ed; NULL when out of memory. */
char *sim_text_copy(const char *text);

#endif
