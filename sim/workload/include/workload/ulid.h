/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ULIDs as text: 26 of Crockford's base 32 digits, in either case. Source: github.com/ulid/spec. */
#ifndef WORKLOAD_ULID_H
#define WORKLOAD_ULID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WL_ULID_BYTES 16u

/* The id's bytes, most significant first: six of milliseconds since 1970, ten of random bits. False when the
 * text is no ULID; then `out` is as it was. */
bool wl_ulid_parse(const char *text, size_t size, uint8_t out[WL_ULID_BYTES]);

#endif
