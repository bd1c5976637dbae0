/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bins of sizes, equally wide on a log axis, with whole numbers as edges.
 *
 * Bin i has the sizes n with edges[i] < n <= edges[i + 1], so that a partition of exactly the limit is left
 * of the limit. There are 20 or 10 bins per decade. Edges are rounded down, and duplicates are removed: below
 * 10, a bin has one or two sizes. */
#ifndef REPORTS_BINS_H
#define REPORTS_BINS_H

#include <stddef.h>
#include <stdint.h>

#include "lab/histogram.h"

enum { REPORT_EDGES_MAX = 400 };

struct report_bins {
    uint64_t edges[REPORT_EDGES_MAX];
    size_t count; /* number of bins, one less than the number of edges */
};

/* Makes bins from the decade of `least` (if 1, from the size 0) to the first edge that is at least `most`. */
void report_bins_make(uint64_t least, uint64_t most, struct report_bins *out);
/* The bin of a size; sizes outside of the bins belong to the first or the last bin. */
size_t report_bins_find(const struct report_bins *bins, uint64_t size);
/* Where an edge is drawn, as a decimal logarithm; the edge 0 is drawn slightly below 1. */
double report_bins_edge_log10(uint64_t edge);

#endif
