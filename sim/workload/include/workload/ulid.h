/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses ULIDs: 26 digits of Crockford's base 32, in upper or lower case. Source: github.com/ulid/spec. */
#ifndef WORKLOAD_ULID_H
#define WORKLOAD_ULID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WL_ULID_BYTES 16u

/* Sets out to the bytes of the id, most significant first: six bytes of milliseconds since 1970, ten random
 * bytes. Returns false and leaves out unchanged when the text is not a ULID. */
bool wl_ulid_parse(const char *text, size_t size, uint8_t out[WL_ULID_BYTES]);

#endif
