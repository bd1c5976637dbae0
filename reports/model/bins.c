/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bins of sizes, with 20 or 10 edges per decade. The edges include the round numbers that limits usually
 * have. */
#include "bins.h"

#include <assert.h>
#include <stdbool.h>

#include "kernel/number.h"
#include "reports/chart.h"

/* 10^(k/20) to five digits, but 2, 4, 5 and 8 instead of 1.9953, 3.9811, 5.0119 and 7.9433: limits are round
 * numbers, and the bar of a partition that is just within a limit must not extend beyond it. */
static const unsigned mantissas[20] = {10000, 11220, 12589, 14125, 15849, 17783, 20000, 22387, 25119, 28184,
                                       31623, 35481, 40000, 44668, 50000, 56234, 63096, 70795, 80000, 89125};

/* The numbers of decades for which a decade has 20 bins. With more decades such bins would be too narrow.
 * With fewer, the sizes are so small that some bins would hold one size and others two, which would look like
 * a distribution. */
enum { FINE_DECADES_MIN = 4, FINE_DECADES_MAX = 8 };
static const double below_one_log10 = -0.15;

static unsigned decade_of(uint64_t value)
{
    unsigned decade = 0;
    for (; value >= 10; value /= 10) {
        decade++;
    }
    return decade;
}

static uint64_t edge_of(unsigned decade, unsigned mantissa)
{
    lab_wide edge = mantissa;
    for (unsigned i = 0; i < decade; i++) {
        edge *= 10;
    }
    edge /= 10000;
    return edge > UINT64_MAX ? UINT64_MAX : (uint64_t)edge;
}

void report_bins_make(uint64_t least, uint64_t most, struct report_bins *out)
{
    /* A size on an edge is in the bin below the edge, so the first bin begins below the least size. */
    unsigned first = decade_of(least > 1 ? least - 1 : 1);
    unsigned last = decade_of(most);
    size_t used = 0;
    unsigned decades = last >= first ? last - first : 0;
    bool has_many_sizes = decades >= FINE_DECADES_MIN || first >= 2;
    unsigned step = has_many_sizes && decades <= FINE_DECADES_MAX ? 1 : 2;
    if (least <= 1) {
        out->edges[used++] = 0;
    }
    for (unsigned decade = first;; decade++) {
        for (unsigned i = 0; i < 20; i += step) {
            uint64_t edge = edge_of(decade, mantissas[i]);
            if (used == 0 || edge > out->edges[used - 1]) {
                assert(used < REPORT_EDGES_MAX);
                out->edges[used++] = edge;
            }
            if (edge >= most && used >= 2) {
                out->count = used - 1;
                return;
            }
        }
    }
}

size_t report_bins_find(const struct report_bins *bins, uint64_t size)
{
    size_t low = 0;
    size_t high = bins->count - 1;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (size <= bins->edges[middle + 1]) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

double report_bins_edge_log10(uint64_t edge)
{
    return edge == 0 ? below_one_log10 : report_log10((double)edge);
}
