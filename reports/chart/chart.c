/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The names of inks, and the helpers that all chart models share. */
#include "reports/chart.h"

#include <assert.h>

#include "kernel/number.h"

static const char *const ink_names[REPORT_INK_COUNT] = {
    "closed", "open",  "distribution", "dashes",   "over",  "tiny",     "cost",  "slow",
    "alarm",  "waste", "old",          "old-soon", "new",   "new-soon", "other", "unknown",
    "split",  "text",  "quiet",        "axis",     "grid",  "halo",     "zero",  "pale",
    "chosen", "ring",  "holds",        "tile",     "range", "middle",   "line1", "line2",
    "line3",  "line4", "line5",        "line6",    "line7", "line8",    "line9",
};

const char *report_ink_name(enum report_ink ink)
{
    return ink_names[ink];
}

void report_legend_add(struct report_chart *chart, enum report_ink ink, const char *text)
{
    assert(chart->legend_count < REPORT_LEGEND_MAX);
    chart->legend[chart->legend_count++] = (struct report_legend){.ink = ink, .text = text};
}

double report_log10(double value)
{
    static const double log_of_ten = 2.302585092994045684;
    return sim_log(value) / log_of_ten;
}
