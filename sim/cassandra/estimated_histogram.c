/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bucket offsets of Cassandra's EstimatedHistogram. */
#include "cassandra/estimated_histogram.h"

/* Java's Math.round(x) is floor(x + 1/2). */
static uint64_t next(uint64_t offset)
{
    uint64_t grown = (uint64_t)((double)offset * 1.2 + 0.5);
    return grown == offset ? offset + 1 : grown;
}

void cass_histogram_offsets(uint64_t *out, size_t count)
{
    uint64_t offset = 1;
    for (size_t i = 0; i < count; i++, offset = next(offset))
        out[i] = offset;
}

uint64_t cass_histogram_above(uint64_t offset)
{
    uint64_t above = 0, at = 1;
    for (size_t i = 1; i < CASS_HISTOGRAM_OFFSETS && at < offset; i++) {
        above = at;
        at = next(at);
    }
    return at == offset ? above : 0;
}
