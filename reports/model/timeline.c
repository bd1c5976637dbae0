/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sizes of partitions by the time at which they began. In: a result. Out: one panel per strategy, with a
 * step for each stretch of time, which shows whether the strategy keeps sizes equal while the load varies. */
#include "parts.h"

struct domain {
    enum lab_size_unit unit;
    uint64_t least, most; /* over all strategies; most is 0 if no strategy has a timeline */
    uint64_t limit;       /* 0 if there is none */
    uint64_t shown;       /* as of report_limit_shown() */
    bool has_closed, has_open;
};

static struct domain find_domain(const struct lab_result *result)
{
    const struct lab_limits *limits = &result->limits;
    struct domain domain = {.unit = limits->partition_rows == 0 && limits->partition_bytes != 0 ? LAB_IN_BYTES
                                                                                                : LAB_IN_ROWS,
                            .least = UINT64_MAX};
    domain.limit = domain.unit == LAB_IN_BYTES ? limits->partition_bytes : limits->partition_rows;
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_timeline *timeline = &result->strategies[i].timeline;
        for (size_t k = 0; k < timeline->count; k++) {
            const struct lab_slice_sizes *sizes = &timeline->items[k].sizes[domain.unit];
            domain.least = sizes->least < domain.least ? sizes->least : domain.least;
            domain.most = sizes->most > domain.most ? sizes->most : domain.most;
            domain.has_closed |= timeline->items[k].state == LAB_CLOSED;
            domain.has_open |= timeline->items[k].state == LAB_OPEN;
        }
    }
    domain.shown = report_limit_shown(domain.limit, domain.most);
    return domain;
}

static const char *reason_of(const struct lab_result *result)
{
    bool has_run = false, has_partitions = false;
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_strategy_result *strategy = &result->strategies[i];
        has_run |= strategy->settings.observed == WL_OBSERVED_AUTO && !strategy->settings.is_idgen;
        has_partitions |= strategy->closed_rows.count + strategy->open_rows.count > 0;
    }
    return !has_run          ? "this run does not record when its partitions began"
           : !has_partitions ? "no partition holds a row"
                             : "the run was stored without the sizes over time; run it again";
}

/* Returns the closed and open partitions of the earliest remaining stretch; NULL if none is left. */
static const struct lab_slice *next_slice(const struct lab_timeline *timeline, size_t *closed, size_t *open,
                                          const struct lab_slice **both)
{
    const struct lab_slice *items = timeline->items;
    const bool has_closed = *closed < timeline->count && items[*closed].state == LAB_CLOSED;
    const bool has_open = *open < timeline->count;
    const bool takes_closed = has_closed && (!has_open || items[*closed].start_ns <= items[*open].start_ns);
    const bool takes_open = has_open && (!has_closed || items[*open].start_ns <= items[*closed].start_ns);
    both[LAB_CLOSED] = takes_closed ? &items[(*closed)++] : NULL;
    both[LAB_OPEN] = takes_open ? &items[(*open)++] : NULL;
    return takes_closed ? both[LAB_CLOSED] : both[LAB_OPEN];
}

static struct report_spread cv_of(const struct lab_slice *slice, enum lab_size_unit unit)
{
    if (slice == NULL)
        return (struct report_spread){0};
    const struct lab_slice_sizes *sizes = &slice->sizes[unit];
    const uint64_t values[] = {sizes->least, sizes->p10, sizes->p50, sizes->p90, sizes->most};
    double logs[5];
    for (int i = 0; i < 5; i++)
        logs[i] = report_log10(values[i] > 0 ? (double)values[i] : 1);
    return (struct report_spread){true, logs[0], logs[1], logs[2], logs[3], logs[4]};
}

static const char *sizes_of(const struct lab_slice *slice, enum lab_size_unit unit, bool says_unit,
                            struct report_arena *arena)
{
    const struct lab_slice_sizes *sizes = &slice->sizes[unit];
    const char *name = !says_unit ? "" : unit == LAB_IN_BYTES ? " byte" : " row";
    const char *least = report_grouped(arena, sizes->least);
    if (sizes->least == sizes->most)
        return report_text(arena, "%s%s%s", least, name, !says_unit || sizes->least == 1 ? "" : "s");
    const char *range = report_text(arena, "%s to %s%s%s", least, report_grouped(arena, sizes->most), name,
                                    says_unit ? "s" : "");
    if (slice->partitions < 3)
        return range;
    return report_text(arena, "%s, median %s, p10 %s, p90 %s", range, report_grouped(arena, sizes->p50),
                       report_grouped(arena, sizes->p10), report_grouped(arena, sizes->p90));
}

/* "2026-01-03 06:00 to 12:00 UTC: 312 closed partitions of 12 to 23,551 rows, 10% below 18,432, median
 * 20,479, 90% below 22,528; 40 open ones ..." */
static const char *hint_of(const struct lab_slice *slice, const struct lab_slice *open,
                           enum lab_size_unit unit, struct report_arena *arena)
{
    const char *when = report_interval(arena, slice->start_ns, slice->end_ns);
    const char *text =
        report_text(arena, "%s: %s %s partition%s of %s", when, report_grouped(arena, slice->partitions),
                    slice->state == LAB_CLOSED ? "closed" : "open", slice->partitions == 1 ? "" : "s",
                    sizes_of(slice, unit, true, arena));
    if (open == NULL || open == slice)
        return text;
    return report_text(arena, "%s; %s open, of %s", text, report_grouped(arena, open->partitions),
                       sizes_of(open, unit, false, arena));
}

static void fill_steps(const struct lab_result *result, const struct lab_timeline *timeline,
                       enum lab_size_unit unit, const struct report_axis *x, struct report_arena *arena,
                       struct report_panel *panel)
{
    panel->steps = report_take(arena, timeline->count, sizeof *panel->steps);
    size_t closed = 0, open = 0;
    while (open < timeline->count && timeline->items[open].state == LAB_CLOSED)
        open++;
    const struct lab_slice *both[LAB_STATES], *slice;
    while ((slice = next_slice(timeline, &closed, &open, both)) != NULL) {
        const double from = (double)((uint64_t)slice->start_ns - (uint64_t)result->start_ns) * 1e-9;
        const double to = (double)((uint64_t)slice->end_ns - (uint64_t)result->start_ns) * 1e-9;
        panel->steps[panel->step_count++] = (struct report_slice){
            .from = report_at(x, from),
            .to = report_at(x, to > from ? to : from + 1e-9), /* a trace may consist of a single moment */
            .closed = cv_of(both[LAB_CLOSED], unit),
            .open = cv_of(both[LAB_OPEN], unit),
            .hint = hint_of(slice, both[LAB_OPEN], unit, arena)};
    }
}

static void fill_figures(const struct lab_strategy_result *strategy, const struct domain *domain,
                         struct report_arena *arena, struct report_panel *panel)
{
    const enum report_unit unit = domain->unit == LAB_IN_BYTES ? REPORT_BYTES : REPORT_ROWS;
    const struct lab_timeline *timeline = &strategy->timeline;
    const enum lab_partition_state state = timeline->items[0].state;
    uint64_t partitions = 0, low = UINT64_MAX, high = 0, most = 0;
    int64_t step_ns = 0;
    for (size_t i = 0; i < timeline->count; i++) {
        const struct lab_slice_sizes *sizes = &timeline->items[i].sizes[domain->unit];
        const int64_t length_ns = timeline->items[i].end_ns - timeline->items[i].start_ns;
        step_ns =
            length_ns > step_ns ? length_ns : step_ns; /* the last slice may be shorter than the others */
        partitions += timeline->items[i].partitions;
        most = sizes->most > most ? sizes->most : most;
        if (timeline->items[i].state == state) {
            low = sizes->p50 < low ? sizes->p50 : low;
            high = sizes->p50 > high ? sizes->p50 : high;
        }
    }
    const char *const range = report_size(arena, (double)low, unit);
    const struct report_figure figures[] = {
        {.name = "partitions", .text = report_number(arena, (double)partitions), .is_key = true},
        {.name = "step length", .text = report_duration(arena, step_ns)},
        {.name = "medians",
         .text = low == high
                     ? range
                     : report_text(arena, "%s\u2013%s", range, report_size(arena, (double)high, unit)),
         .is_key = true},
        {.name = "largest", .text = report_size(arena, (double)most, unit), .is_key = true},
    };
    report_figures_add(arena, panel, figures, sizeof figures / sizeof figures[0]);
    if (domain->limit != 0)
        report_metric_add(arena, panel, strategy, "over the limit",
                          unit == REPORT_BYTES ? "partitions.over_limit_bytes" : "partitions.over_limit_rows",
                          REPORT_ROWS, REPORT_ALARM, true);
}

static void fill_panel(const struct lab_result *result, const struct lab_strategy_result *strategy,
                       const struct domain *domain, const struct report_axis *x,
                       const struct report_axis *sizes, struct report_arena *arena,
                       struct report_panel *panel)
{
    report_strategy_name(arena, strategy, &panel->label, &panel->detail);
    panel->note = "";
    panel->y = *sizes;
    fill_steps(result, &strategy->timeline, domain->unit, x, arena, panel);
    panel->bands = report_take(arena, 1, sizeof *panel->bands);
    if (domain->shown > 0) {
        const double from = report_log10((double)domain->limit);
        panel->bands[panel->band_count++] =
            (struct report_band){.from = from > sizes->low ? from : sizes->low,
                                 .to = sizes->high,
                                 .ink = REPORT_INK_OVER,
                                 .is_level = true};
    }
    fill_figures(strategy, domain, arena, panel);
}

static void fill_legend(const struct domain *domain, struct report_arena *arena, struct report_chart *chart)
{
    if (domain->has_closed) {
        report_legend_add(chart, REPORT_INK_RANGE, "closed: smallest to largest");
        report_legend_add(chart, REPORT_INK_MIDDLE, "10th to 90th percentile");
    }
    if (domain->has_open)
        report_legend_add(chart, REPORT_INK_OPEN, "still open at the end: smallest to largest");
    report_legend_add(chart, REPORT_INK_DISTRIBUTION,
                      domain->has_closed && domain->has_open ? "median (dotted where all are open)"
                                                             : "median");
    if (domain->limit != 0)
        report_limit_legend(arena, chart, domain->limit, domain->unit == LAB_IN_BYTES, domain->shown > 0);
}

void report_timeline_fill(const struct lab_result *result, struct report_arena *arena,
                          struct report_chart *chart)
{
    const struct domain domain = find_domain(result);
    const bool is_bytes = domain.unit == LAB_IN_BYTES;
    chart->title = is_bytes ? "Bytes per partition over time" : "Rows per partition over time";
    if (domain.most == 0) {
        chart->absent = reason_of(result);
        return;
    }
    struct report_extremes extremes = report_no_extremes;
    report_extremes_meet(&extremes, domain.least > 0 ? (double)domain.least : 1);
    report_extremes_meet(&extremes, (double)(domain.shown > domain.most ? domain.shown : domain.most));
    extremes.is_tight = extremes.is_upright = true;
    const struct report_curves_axis data = {is_bytes ? "bytes" : "rows",
                                            is_bytes ? REPORT_UNIT_BYTES : REPORT_UNIT_PLAIN, REPORT_LOG};
    struct report_axis sizes = {0};
    report_scale_fill(&data, &extremes, arena, &sizes);
    report_scale_dates(arena, result->start_ns, result->end_ns, &chart->x);
    chart->panels = report_take(arena, result->strategy_count, sizeof *chart->panels);
    for (size_t i = 0; i < result->strategy_count; i++) {
        if (result->strategies[i].timeline.count > 0)
            fill_panel(result, &result->strategies[i], &domain, &chart->x, &sizes, arena,
                       &chart->panels[chart->panel_count++]);
    }
    fill_legend(&domain, arena, chart);
}
