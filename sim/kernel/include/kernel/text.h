/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text that comes from outside: whether it is UTF-8, and which name a mistyped one was meant to be. */
#ifndef KERNEL_TEXT_H
#define KERNEL_TEXT_H

#include <stddef.h>

#define SIM_UTF8_SIZE_MAX 4

/* Bytes of the well-formed character at text (1 to 4), or 0: RFC 3629, no overlong form, no surrogate, none
 * above U+10FFFF. At most `size` bytes are read, and none behind the first that does not fit: a NUL ends it,
 * so that SIM_UTF8_SIZE_MAX does for a terminated text. *code (which may be NULL) gets the code point when
 * the result is not 0. */
size_t sim_utf8(const char *text, size_t size, unsigned *code);

/* How many bytes at the front are whole characters: `size` when all is UTF-8. */
size_t sim_utf8_valid(const char *text, size_t size);

/* The nearest of names[0..count) when it is near enough to be meant, of equals the one
 * that begins with it, else the first; or NULL. */
const char *sim_nearest(const char *name, const char *const *names, size_t count);

#endif
