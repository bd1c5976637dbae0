/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The axes of a histogram of sizes. */
#include "sizes.h"

/* Up to this many decades, each decade has a number. On longer axes only 1, 1K, 1M and so on have one. */
static const double decades_with_numbers_max = 13;
static const double decades_with_strokes_max = 9;
static const double decades_with_2_and_5_max = 2.2;

void report_sizes_x_axis(struct report_arena *arena, const struct report_bins *bins, enum report_unit unit,
                         struct report_axis *out)
{
    enum { DECADES = 20, A_DECADE = 9 };
    out->low = report_bins_edge_log10(bins->edges[0]);
    out->high = report_bins_edge_log10(bins->edges[bins->count]);
    out->title =
        unit == REPORT_BYTES ? "bytes in a partition (log scale)" : "rows in a partition (log scale)";
    out->ticks = report_take(arena, DECADES * A_DECADE, sizeof *out->ticks);
    if (out->ticks == NULL) {
        return;
    }
    const double span = out->high - out->low;
    double power = 1;
    for (unsigned decade = 0; decade < DECADES; decade++, power *= 10) {
        for (unsigned digit = 1; digit <= A_DECADE; digit++) {
            double at = (double)decade + report_log10(digit);
            if (at < out->low - 1e-9 || at > out->high + 1e-9 ||
                (digit > 1 && span > decades_with_strokes_max)) {
                continue;
            }
            bool has_number = digit == 1 ? span <= decades_with_numbers_max || decade % 3 == 0
                                         : span <= decades_with_2_and_5_max && (digit == 2 || digit == 5);
            out->ticks[out->tick_count++] = (struct report_tick){
                .at = at, .text = has_number ? report_size(arena, power * digit, unit) : ""};
        }
    }
}

void report_sizes_y_axis(struct report_arena *arena, double top, struct report_axis *out)
{
    enum { TICKS_MAX = 6 };
    static const double headroom = 1.06;
    out->low = 0;
    out->high = top > 0 ? top * headroom : 1;
    out->title = "partitions";
    out->ticks = report_take(arena, TICKS_MAX, sizeof *out->ticks);
    if (out->ticks == NULL) {
        return;
    }
    /* The distance of ticks is 1, 2, 5, 10, 20, ...: the first of these that fits at most four times below
     * the top. */
    double step = 1;
    for (unsigned i = 0; top > 4.999 * step; i++) {
        step *= i % 3 == 1 ? 2.5 : 2;
    }
    for (double at = 0; at <= top && out->tick_count < TICKS_MAX; at += step) {
        out->ticks[out->tick_count++] = (struct report_tick){.at = at, .text = report_number(arena, at)};
    }
}
