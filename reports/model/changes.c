/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which bucket each agent believes to be current during a change of a key's bucket: one panel per strategy,
 * one lane per agent. */
#include "changes.h"

#include <inttypes.h>
#include <math.h>

#include "kernel/time.h"
#include "reports/format.h"
#include "reports/strategy.h"

/* U+2212, the minus sign. A hyphen is too short. */
#define MINUS "\xE2\x88\x92"

/* Returns a step of 1, 2 or 5 times a power of ten that fits into `span` four to nine times. */
static double step_of(double span)
{
    double step = 1;
    while (step * 9 < span) {
        step *= 10;
    }
    while (step > span / 9 && step > 1e-12) {
        step /= 10;
    }
    return step * 2 >= span / 9 ? step * 2 : step * 5 >= span / 9 ? step * 5 : step * 10;
}

double report_changes_axis(struct report_arena *arena, double low, double high, struct report_axis *out)
{
    enum { TICKS_MAX = 16 };
    static const struct {
        const char *title;
        double ns, most_ns; /* for axes up to this length */
    } units[] = {{"nanoseconds since the change was stored", 1, 900},
                 {"microseconds since the change was stored", (double)SIM_US, 900 * (double)SIM_US},
                 {"milliseconds since the change was stored", (double)SIM_MS, 900 * (double)SIM_MS},
                 {"seconds since the change was stored", (double)SIM_SECOND, 120 * (double)SIM_SECOND},
                 {"minutes since the change was stored", (double)SIM_MINUTE, 120 * (double)SIM_MINUTE},
                 {"hours since the change was stored", (double)SIM_HOUR, 48 * (double)SIM_HOUR},
                 {"days since the change was stored", (double)SIM_DAY, HUGE_VAL}};
    size_t unit = 0;
    while (high - low > units[unit].most_ns) {
        unit++;
    }
    out->low = low / units[unit].ns;
    out->high = high / units[unit].ns;
    out->title = units[unit].title;
    out->ticks = report_take(arena, TICKS_MAX, sizeof *out->ticks);
    if (out->ticks == NULL) {
        return units[unit].ns;
    }
    const double step = step_of(out->high - out->low);
    for (double i = ceil(out->low / step); i * step <= out->high && out->tick_count < TICKS_MAX; i++) {
        const char *digits = report_number(arena, fabs(i * step));
        out->ticks[out->tick_count++] = (struct report_tick){
            .at = i * step, .text = i < 0 ? report_text(arena, MINUS "%s", digits) : digits};
    }
    return units[unit].ns;
}

enum { LANES_MAX = 64, FIGURES_MAX = 6 };
/* Ranges that differ by less than this ratio are shown on one scale, so that panels can be compared. */
static const double common_ratio_max = 4;

/* What an agent believed during a stretch of time, in nanoseconds since the change was stored. */
struct belief {
    double from, to;
    enum report_ink ink;
    int64_t bucket;
};

static size_t study_all(const struct lab_result *result, struct report_arena *arena,
                        struct report_change *changes, const struct lab_strategy_result **strategies)
{
    size_t count = 0;
    for (size_t i = 0; i < result->strategy_count; i++) {
        if (report_change_study(&result->strategies[i].views, arena, &changes[count])) {
            strategies[count++] = &result->strategies[i];
        }
    }
    return count;
}

/* Gives all panels the same range of time if their ranges are similar and each panel was observed over the
 * whole range; otherwise a part of a panel would be empty. */
static void share_range(struct report_change *changes, size_t count)
{
    double low = 0;
    double high = 0;
    double least = HUGE_VAL;
    double first = -HUGE_VAL;
    double end = HUGE_VAL;
    for (size_t i = 0; i < count; i++) {
        low = fmin(low, changes[i].low);
        high = fmax(high, changes[i].high);
        least = fmin(least, changes[i].high - changes[i].low);
        first = fmax(first, changes[i].first);
        end = fmin(end, changes[i].end);
    }
    const bool is_alike = high - low <= common_ratio_max * least && low >= first && high <= end;
    for (size_t i = 0; is_alike && i < count; i++) {
        changes[i].low = low;
        changes[i].high = high;
    }
}

static const char *coordination_of(const struct lab_strategy_result *strategy, struct report_arena *arena)
{
    if (!bk_kind_fires(strategy->settings.strategy.kind)) {
        return "";
    }
    switch (strategy->settings.coordination) {
    case BK_SINGLE:
        return ", single";
    case BK_LOCKED:
        return strategy->settings.lock_lasts_ns == 0 /* a database from before this setting existed */
                   ? ", locked"
                   : report_text(arena, ", locked for %s",
                                 report_time(arena, (double)strategy->settings.lock_lasts_ns));
    case BK_THREE_STATE:
        return report_text(arena, ", three-state, lead %s",
                           report_time(arena, (double)strategy->settings.lead_ns));
    case BK_GUARDED:
        return report_text(arena, ", guarded, grants of %s",
                           report_time(arena, (double)strategy->settings.grant_ns));
    }
    return "";
}

/* Adds `next` to the `count` beliefs, merging it with the last one if both are the same. Returns the new
 * number of beliefs. */
static size_t add_belief(struct belief *beliefs, size_t count, const struct belief *next)
{
    struct belief *last = count > 0 ? &beliefs[count - 1] : NULL;
    const bool has_bucket = next->ink != REPORT_INK_UNKNOWN;
    if (next->from >= next->to) {
        return count;
    }
    if (last != NULL && last->ink == next->ink && (!has_bucket || last->bucket == next->bucket)) {
        last->to = next->to;
        return count;
    }
    beliefs[count] = *next;
    return count + 1;
}

/* Adds the part of a belief that is inside the shown range. The hint gives the whole belief. */
static void add_span(const struct report_change *change, const struct belief *belief, uint32_t agent,
                     double unit_ns, struct report_arena *arena, struct report_lane *lane)
{
    const double from = fmax(belief->from, change->low), to = fmin(belief->to, change->high);
    if (from >= to) {
        return;
    }
    const bool is_known = belief->ink != REPORT_INK_UNKNOWN;
    const bool knows_more = belief->ink == REPORT_INK_OLD_SOON || belief->ink == REPORT_INK_NEW_SOON;
    const char *text = !is_known ? "not in its cache"
                                 : report_text(arena, "bucket %" PRId64 "%s", belief->bucket,
                                               knows_more ? ", knows the coming change" : "");
    lane->spans[lane->span_count++] = (struct report_span){
        .from = from / unit_ns,
        .to = to / unit_ns,
        .ink = belief->ink,
        .hint = report_text(arena, "agent %" PRIu32 ", %s s to %s s since the change was stored: %s", agent,
                            report_full(arena, belief->from / (double)SIM_SECOND),
                            report_full(arena, belief->to / (double)SIM_SECOND), text)};
}

static void fill_lane(const struct report_change *change, uint32_t agent, double unit_ns,
                      struct report_arena *arena, struct report_lane *lane)
{
    const struct lab_views *views = change->views;
    size_t looks = 0;
    for (size_t i = 0; i < views->count; i++) {
        looks += views->items[i].agent == agent;
    }
    struct belief *beliefs = report_take(arena, looks, sizeof *beliefs);
    lane->spans = report_take(arena, looks, sizeof *lane->spans);
    if (beliefs == NULL || lane->spans == NULL) {
        return;
    }
    const struct lab_view *last = NULL;
    size_t count = 0;
    for (size_t i = 0; i <= views->count; i++) {
        const struct lab_view *view = i < views->count ? &views->items[i] : NULL;
        if (view != NULL && view->agent != agent) {
            continue;
        }
        if (last != NULL) {
            const double to = view != NULL ? report_change_since(change, view->time_ns) : change->end;
            const struct belief belief = {report_change_since(change, last->time_ns), to,
                                          report_change_ink(change, last), last->bucket};
            count = add_belief(beliefs, count, &belief);
        }
        last = view;
    }
    for (size_t i = 0; i < count; i++) {
        add_span(change, &beliefs[i], agent, unit_ns, arena, lane);
    }
}

static void fill_bands(const struct report_change *change, double unit_ns, struct report_arena *arena,
                       struct report_panel *panel)
{
    panel->bands = report_take(arena, change->split_count, sizeof *panel->bands);
    for (size_t i = 0; panel->bands != NULL && i < change->split_count; i++) {
        panel->bands[panel->band_count++] = (struct report_band){
            change->splits[i].from / unit_ns, change->splits[i].to / unit_ns, REPORT_INK_SPLIT, false};
    }
}

static void fill_moments(const struct report_change *change, double unit_ns, struct report_panel *panel)
{
    const struct report_moment stored = {0, "change stored"};
    const struct report_moment due = {change->until / unit_ns, "change time"};
    if (report_change_is_at_once(change)) {
        panel->moments[panel->moment_count++] = (struct report_moment){0, "change stored = change time"};
        return;
    }
    const bool is_shown = change->until >= change->low && change->until <= change->high;
    if (is_shown && change->until < 0) {
        panel->moments[panel->moment_count++] = due;
    }
    panel->moments[panel->moment_count++] = stored;
    if (is_shown && change->until > 0) {
        panel->moments[panel->moment_count++] = due;
    }
}

/* If the change time is before the time at which the change was stored, which differing clocks can cause,
 * there is no time for a pre-change. */
static void fill_stages(const struct report_change *change, double unit_ns, struct report_panel *panel)
{
    const double over = report_change_is_at_once(change) ? 0 : fmin(fmax(change->until, 0), change->high);
    const struct report_stage stages[REPORT_STAGES_MAX] = {
        {change->low / unit_ns, 0, "steady"},
        {0, over / unit_ns, "pre-change"},
        {over / unit_ns, change->high / unit_ns, "post-change"},
    };
    for (size_t i = 0; i < REPORT_STAGES_MAX; i++) {
        if (stages[i].from < stages[i].to) {
            panel->stages[panel->stage_count++] = stages[i];
        }
    }
}

static void fill_figures(const struct report_change *change, bool is_harmful, struct report_arena *arena,
                         struct report_panel *panel)
{
    panel->figures = report_take(arena, FIGURES_MAX, sizeof *panel->figures);
    if (panel->figures == NULL) {
        return;
    }
    const bool is_split = change->split_count > 0;
    const bool is_at_once = report_change_is_at_once(change);
    const bool is_before = !is_at_once && change->until < 0;
    const struct report_figure figures[FIGURES_MAX] = {
        {"agents", report_text(arena, "%" PRIu32, change->views->agents), false, false},
        {"old bucket", change->has_old ? report_text(arena, "%" PRId64, change->old_bucket) : "–", false,
         false},
        {"new bucket", change->has_new ? report_text(arena, "%" PRId64, change->new_bucket) : "–", false,
         false},
        {"change time",
         is_at_once ? "at once"
                    : report_text(arena, is_before ? "%s before" : "after %s",
                                  report_time(arena, fabs(change->until))),
         is_before, false},
        {is_split ? "agents disagree for" : "agents disagree",
         is_split ? report_time(arena, change->split_ns) : "never", is_split && is_harmful, false},
        {"sampled every", report_time(arena, change->gap), false, false},
    };
    /* With a single look there is no interval between samples to show. */
    const size_t count = change->look_count > 1 ? FIGURES_MAX : FIGURES_MAX - 1;
    for (size_t i = 0; i < count; i++) {
        panel->figures[panel->figure_count++] = figures[i];
    }
}

static const char *note_of(const struct report_change *change, struct report_arena *arena)
{
    const struct lab_views *views = change->views;
    const char *note = "";
    if (!change->has_old && !change->has_new) {
        note = "no agent's cache knew the key";
    }
    if (change->until > change->end) {
        note = report_text(arena, "%s%sthe last sample was %s before the change time", note,
                           note[0] != 0 ? "; " : "", report_time(arena, change->until - change->last));
    }
    if (views->agents > LANES_MAX) {
        note = report_text(arena, "%s%sthe first %d of %" PRIu32 " agents are shown", note,
                           note[0] != 0 ? "; " : "", (int)LANES_MAX, views->agents);
    }
    return note;
}

/* is_harmful: rows went to the wrong bucket. Otherwise agents may disagree: a protocol such as guarded lets
 * no agent place a row by its cache alone. */
static void fill_panel(const struct report_change *change, bool is_harmful, struct report_arena *arena,
                       struct report_panel *panel)
{
    const double unit_ns = report_changes_axis(arena, change->low, change->high, &panel->x);
    const uint32_t agents = change->views->agents;
    const uint32_t lanes = agents < LANES_MAX ? agents : LANES_MAX;
    panel->lanes = report_take(arena, lanes, sizeof *panel->lanes);
    if (panel->lanes == NULL) {
        return;
    }
    panel->lane_count = lanes;
    for (uint32_t i = 0; i < panel->lane_count; i++) {
        panel->lanes[i].label = report_text(arena, "agent %" PRIu32, i);
        fill_lane(change, i, unit_ns, arena, &panel->lanes[i]);
    }
    if (is_harmful) {
        fill_bands(change, unit_ns, arena, panel);
    }
    fill_moments(change, unit_ns, panel);
    fill_stages(change, unit_ns, panel);
    fill_figures(change, is_harmful, arena, panel);
    panel->note = note_of(change, arena);
}

/* Adds legend entries for the inks that the chart uses. */
static void fill_legend(struct report_chart *chart)
{
    static const struct {
        enum report_ink ink;
        const char *text;
    } entries[] = {{REPORT_INK_OLD, "old bucket"},
                   {REPORT_INK_OLD_SOON, "old bucket, knows the coming change"},
                   {REPORT_INK_NEW, "new bucket"},
                   {REPORT_INK_NEW_SOON, "new bucket, knows another change"},
                   {REPORT_INK_OTHER, "another bucket"},
                   {REPORT_INK_UNKNOWN, "not in the agent's cache"},
                   {REPORT_INK_SPLIT, "agents disagree, and rows were misrouted"}};
    bool is_used[REPORT_INK_COUNT] = {false};
    for (size_t i = 0; i < chart->panel_count; i++) {
        const struct report_panel *panel = &chart->panels[i];
        for (size_t k = 0; k < panel->lane_count; k++) {
            for (size_t m = 0; m < panel->lanes[k].span_count; m++) {
                is_used[panel->lanes[k].spans[m].ink] = true;
            }
        }
        is_used[REPORT_INK_SPLIT] |= panel->band_count > 0;
    }
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        if (is_used[entries[i].ink]) {
            report_legend_add(chart, entries[i].ink, entries[i].text);
        }
    }
}

void report_changes_fill(const struct lab_result *result, struct report_arena *arena,
                         struct report_chart *chart)
{
    chart->form = REPORT_FORM_LANES;
    chart->name = "bucket-changes";
    chart->title = "Each agent's view of a key's bucket";
    struct report_change *changes = report_take(arena, result->strategy_count, sizeof *changes);
    const struct lab_strategy_result **strategies =
        report_take(arena, result->strategy_count, sizeof *strategies);
    chart->panels = report_take(arena, result->strategy_count, sizeof *chart->panels);
    if (changes == NULL || strategies == NULL || chart->panels == NULL) {
        return;
    }
    const size_t count = study_all(result, arena, changes, strategies);
    if (count == 0) {
        chart->absent = "no agent was seen while a key's bucket changed";
        return;
    }
    share_range(changes, count);
    for (size_t i = 0; i < count; i++) {
        struct report_panel *panel = &chart->panels[i];
        report_strategy_name(arena, strategies[i], &panel->label, &panel->detail);
        panel->detail =
            report_text(arena, "%s%s · key %s", panel->detail, coordination_of(strategies[i], arena),
                        report_clean(arena, strategies[i]->views.key));
        double misrouted = 0;
        report_metric(strategies[i], "writes.misrouted", &misrouted);
        fill_panel(&changes[i], misrouted > 0, arena, panel);
    }
    chart->panel_count = count;
    fill_legend(chart);
}
