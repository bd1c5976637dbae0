/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A field of a CSV file as Cassandra stores its value: what cqlsh's COPY TO prints, and what CQL takes. */
#ifndef SAMPLE_VALUE_H
#define SAMPLE_VALUE_H

#include "cassandra/token.h"
#include "kernel/error.h"

/* *out is malloc'ed; text is copied as it is. A timestamp is milliseconds since 1970 or a date with its time
 * and zone, a counter is its count as one node keeps it. Errors: SIM_ERROR_INPUT, without a place. */
bool sample_value_parse(enum cass_type type, const char *text, size_t text_size, uint8_t **out, size_t *size,
                        struct sim_error *error);
/* Milliseconds since 1970 of "2026-01-01 12:30:00.250+0100", of which what follows the date may be missing; a
 * time without a zone is UTC. */
bool sample_time_parse(const char *text, int64_t *out_ms);
/* Microseconds since 1970 of a version 1 uuid. */
int64_t sample_uuid_time_us(const uint8_t *uuid);

#endif
