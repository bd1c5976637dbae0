/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Converts a field of a CSV file, in the forms that cqlsh's COPY TO prints and CQL accepts, to the bytes that
 * Cassandra stores. */
#ifndef SAMPLE_VALUE_H
#define SAMPLE_VALUE_H

#include "cassandra/token.h"
#include "kernel/error.h"

/* *out is malloc'ed and the caller's. Text is copied unchanged. A timestamp is milliseconds since 1970, or a
 * date with a time and a zone. A counter is stored as one shard with its count. Errors: SIM_ERROR_INPUT,
 * without file and line. */
bool sample_value_parse(enum cass_type type, const char *text, size_t text_size, uint8_t **out, size_t *size,
                        struct sim_error *error);
/* Parses a time such as "2026-01-01 12:30:00.250+0100" to milliseconds since 1970. All parts after the date
 * are optional; a time without a zone is UTC. */
bool sample_time_parse(const char *text, int64_t *out_ms);
/* The time of a UUID of version 1, in microseconds since 1970. */
int64_t sample_uuid_time_us(const uint8_t *uuid);

#endif
