/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bins of sizes, even on a log axis and whole at their edges.
 *
 * Bin i holds the sizes n with edges[i] < n <= edges[i + 1], so that a partition of exactly the limit stands
 * left of the limit. There are 20 or 10 a decade; edges are rounded down and stand once: below 10 that is one
 * size a bin, or two.
 */
#ifndef REPORTS_BINS_H
#define REPORTS_BINS_H

#include <stddef.h>
#include <stdint.h>

#include "lab/histogram.h"

enum { REPORT_EDGES_MAX = 400 };

struct report_bins {
    uint64_t edges[REPORT_EDGES_MAX];
    size_t count; /* of bins: one less than the edges */
};

/* Bins from the decade of least (1: from the size 0 on) to the first edge at or above most. */
void report_bins_make(uint64_t least, uint64_t most, struct report_bins *out);
/* The bin of a size; sizes outside are counted in the first and last bin. */
size_t report_bins_find(const struct report_bins *bins, uint64_t size);
/* Where an edge is drawn, as a decimal logarithm: the edge 0 has none and is drawn a little below 1. */
double report_bins_edge_log10(uint64_t edge);

#endif
