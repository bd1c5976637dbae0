/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every kind of chart in its form for pages, one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"
#include "fixture_curves.h"
#include "fixture_pages.h"
#include "fixture_tune.h"
#include "fixture_views.h"
#include "reports/model.h"

enum { RESULTS = FIXTURE_COUNT + FIXTURE_VIEWS_COUNT };

size_t fixture_pages_count(void)
{
    return RESULTS * REPORT_KIND_COUNT + FIXTURE_CURVES_COUNT + FIXTURE_HEATMAP_COUNT + FIXTURE_FRONT_COUNT;
}

/* The last result is cached, since its charts are requested one after the other. */
static const struct lab_result *result_of(size_t which)
{
    static struct lab_result *kept;
    static size_t kept_which;
    if (kept == NULL || kept_which != which) {
        lab_result_destroy(kept);
        kept = which < FIXTURE_COUNT ? fixture_case(which) : fixture_views_case(which - FIXTURE_COUNT);
        kept_which = which;
    }
    return kept;
}

struct report_chart *fixture_pages_chart(size_t index, struct report_arena *arena)
{
    static struct fixture_curves curves;
    static struct fixture_heatmap heatmap;
    static struct fixture_front front;
    struct report_chart *chart = NULL;
    if (index < RESULTS * REPORT_KIND_COUNT) {
        const enum report_kind kind = (enum report_kind)(index % REPORT_KIND_COUNT);
        assert_true(report_chart_make(result_of(index / REPORT_KIND_COUNT), kind, arena, &chart, NULL));
        return chart;
    }
    index -= RESULTS * REPORT_KIND_COUNT;
    chart = report_take(arena, 1, sizeof *chart);
    assert_non_null(chart);
    if (index < FIXTURE_CURVES_COUNT) {
        chart->name = "curves";
        fixture_curves(index, &curves);
        report_curves_fill(&curves.curves, arena, chart);
    } else if (index < FIXTURE_CURVES_COUNT + FIXTURE_HEATMAP_COUNT) {
        chart->name = "heatmap";
        fixture_heatmap(index - FIXTURE_CURVES_COUNT, &heatmap);
        report_heatmap_fill(&heatmap.heatmap, arena, chart);
    } else {
        chart->name = "front";
        fixture_front(index - FIXTURE_CURVES_COUNT - FIXTURE_HEATMAP_COUNT, &front);
        report_front_fill(&front.front, arena, chart);
    }
    assert_false(arena->out_of_memory);
    return chart;
}
