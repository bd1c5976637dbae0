/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The axis of counts that the panels of a histogram share. It is linear as long as the lowest bar is visible
 * next to the highest one, and otherwise logarithmic: the chart must show a single partition that exceeds a
 * limit. */
#include "sizes.h"

/* A bar of one hundredth of the panel's height is one pixel high. */
static const double linear_ratio_max = 100;
static const double log_headroom = 1.4;
/* A log axis begins at half a partition, so that a bar of one partition has a height. */
static const double log_low = 0.5;

struct range {
    double least, most; /* counts of the bars; most is 0 if there are no bars */
};

static bool is_in(const struct report_panel *panel, bool is_share)
{
    return panel->counts_are_shares == is_share;
}

static struct range find_range(const struct report_panel *panels, size_t count, bool is_share)
{
    struct range range = {0, 0};
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < panels[i].bar_count && is_in(&panels[i], is_share); k++) {
            const struct report_bar *bar = &panels[i].bars[k];
            const double bars = bar->high - bar->low;
            range.most = bar->high > range.most ? bar->high : range.most;
            range.least = range.least == 0 || bars < range.least ? bars : range.least;
        }
    }
    return range;
}

static double curve_top(const struct report_panel *panels, size_t count)
{
    double top = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < panels[i].curve_count; k++) {
            top = panels[i].curve[k].y > top ? panels[i].curve[k].y : top;
        }
    }
    return top;
}

static void fill_log_axis(struct report_arena *arena, double top, struct report_axis *axis)
{
    enum { DECADES = 20, NUMBERS_MAX = 4 };
    axis->low = report_log10(log_low);
    axis->high = report_log10(top * log_headroom);
    axis->is_log = true;
    axis->ticks = report_take(arena, DECADES, sizeof *axis->ticks);
    const unsigned step = 1 + (unsigned)(axis->high / (NUMBERS_MAX + 0.999));
    double power = 1;
    for (unsigned decade = 0; axis->ticks != NULL && decade < DECADES && (double)decade <= axis->high;
         decade++, power *= 10) {
        axis->ticks[axis->tick_count++] = (struct report_tick){
            .at = (double)decade, .text = decade % step == 0 ? report_number(arena, power) : ""};
    }
}

static double log_of(double count)
{
    return count > log_low ? report_log10(count) : report_log10(log_low);
}

static void turn_to_logs(struct report_panel *panel)
{
    for (size_t i = 0; i < panel->bar_count; i++) {
        panel->bars[i].low = log_of(panel->bars[i].low);
        panel->bars[i].high = log_of(panel->bars[i].high);
    }
    if (panel->curve_count == 0) {
        return;
    }
    /* At both ends, points with an expected count below one half are left out. */
    size_t first = 0, end = panel->curve_count;
    while (first + 1 < end && panel->curve[first + 1].y <= log_low) {
        first++;
    }
    while (end > first + 1 && panel->curve[end - 2].y <= log_low) {
        end--;
    }
    panel->curve += first;
    panel->curve_count = end - first;
    for (size_t i = 0; i < panel->curve_count; i++) {
        panel->curve[i].y = log_of(panel->curve[i].y);
    }
}

bool report_counts_scale(struct report_arena *arena, struct report_panel *panels, size_t count,
                         const char *title)
{
    const struct range range = find_range(panels, count, false);
    const struct range shares = find_range(panels, count, true);
    const double curve = curve_top(panels, count);
    const double top = curve > range.most ? curve : range.most;
    const bool is_log = range.most > linear_ratio_max * range.least;
    struct report_axis axis = {.low = 0}, percent = {.low = 0};
    if (is_log) {
        fill_log_axis(arena, top, &axis);
    } else {
        report_sizes_y_axis(arena, top, &axis);
    }
    axis.title = is_log ? report_text(arena, "%s (log)", title) : title;
    report_sizes_y_axis(arena, shares.most, &percent);
    percent.title = report_text(arena, "%% of %s", title);
    for (size_t i = 0; i < count; i++) {
        panels[i].y = panels[i].counts_are_shares ? percent : axis;
        if (is_log && !panels[i].counts_are_shares) {
            turn_to_logs(&panels[i]);
        }
    }
    return is_log;
}
