/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which bucket each agent believes to be current during a change of a key's bucket. In: the samples of the
 * agents' views. Kept: which bucket is the old one and which the new one, when agents disagree, and which
 * range of time to show. Out: one panel per strategy, one lane per agent; where agents disagree it is red,
 * but only if rows were misrouted.
 *
 * Times are in nanoseconds since the change was stored. A sample of an agent's view is valid until the
 * agent's next sample; the last one is valid for the mean time between samples. */
#include <inttypes.h>

#include "kernel/time.h"
#include "parts.h"

struct change {
    const struct lab_strategy_result *strategy;
    const struct lab_views *views;
    bool has_old, has_new;
    int64_t old_bucket; /* the key's bucket in the view of most agents before the change was stored */
    int64_t new_bucket; /* the next higher bucket in any agent's view */
    double until;       /* time at which the change takes effect */
    double first, last; /* times of the first and the last sample */
    double end;         /* end of the validity of the last sample */
    size_t look_count;
    double gap;                 /* mean time between samples; a millisecond when there is only one */
    struct report_band *splits; /* intervals in which two agents that know the key disagree */
    size_t split_count;
    double split_ns;  /* total length of these intervals */
    double low, high; /* the interval of time to show */
};

/* The margin shown before and after the relevant range, as a share of that range; and the least margin, in
 * looks. */
static const double margin_share = 0.2;
static const double margin_looks = 6;

/* A time in nanoseconds since the change was stored. Differences that do not fit into int64_t are correct,
 * too. */
static double since(const struct change *change, int64_t time_ns)
{
    const int64_t origin_ns = change->views->change_ns;
    return time_ns >= origin_ns ? (double)((uint64_t)time_ns - (uint64_t)origin_ns)
                                : -(double)((uint64_t)origin_ns - (uint64_t)time_ns);
}

/* Whether the change was stored and took effect between two consecutive samples, which cannot distinguish the
 * two times. */
static bool is_at_once(const struct change *change)
{
    return fabs(change->until) < change->gap;
}

static void find_times(struct change *change)
{
    const struct lab_views *views = change->views;
    change->look_count = 1;
    for (size_t i = 1; i < views->count; i++)
        change->look_count += views->items[i].time_ns != views->items[i - 1].time_ns;
    change->until = since(change, views->until_ns);
    change->first = since(change, views->items[0].time_ns);
    change->last = since(change, views->items[views->count - 1].time_ns);
    change->gap = change->look_count > 1 ? (change->last - change->first) / (double)(change->look_count - 1)
                                         : (double)SIM_MS;
    change->end = change->last + change->gap;
}

static bool is_belief(const struct change *change, const struct lab_view *view)
{
    return view->is_known && view->agent < change->views->agents;
}

/* The bucket that most agents believed in before the change was stored is the old one; if several have as
 * many votes, the lowest of them. For a key that no agent knew then, it is that of the first belief from
 * before the change time. */
static void find_buckets(struct report_arena *arena, struct change *change)
{
    const struct lab_views *views = change->views;
    const uint32_t agents = views->agents;
    const struct lab_view **votes = report_take(arena, agents, sizeof *votes);
    uint32_t most = 0;
    for (size_t i = 0; i < views->count && views->items[i].time_ns < views->change_ns; i++) {
        if (is_belief(change, &views->items[i]))
            votes[views->items[i].agent] = &views->items[i];
    }
    for (uint32_t i = 0; i < agents; i++) {
        uint32_t count = 0;
        for (uint32_t k = 0; votes[i] != NULL && k < agents; k++)
            count += votes[k] != NULL && votes[k]->bucket == votes[i]->bucket;
        if (count > most || (count > 0 && count == most && votes[i]->bucket < change->old_bucket)) {
            most = count;
            change->has_old = true;
            change->old_bucket = votes[i]->bucket;
        }
    }
    for (size_t i = 0; i < views->count && !change->has_old; i++) {
        const struct lab_view *view = &views->items[i];
        change->has_old = is_belief(change, view) && (view->is_changing || view->time_ns < views->until_ns);
        change->old_bucket = view->bucket;
    }
    for (size_t i = 0; i < views->count; i++) {
        const struct lab_view *view = &views->items[i];
        bool is_later = is_belief(change, view) && (!change->has_old || view->bucket > change->old_bucket);
        if (is_later && (!change->has_new || view->bucket < change->new_bucket)) {
            change->has_new = true;
            change->new_bucket = view->bucket;
        }
    }
}

static bool is_split(const struct lab_view *const *last, uint32_t agents)
{
    const struct lab_view *one = NULL;
    for (uint32_t i = 0; i < agents; i++) {
        if (last[i] == NULL || !last[i]->is_known)
            continue;
        if (one != NULL && one->bucket != last[i]->bucket)
            return true;
        one = last[i];
    }
    return false;
}

static void add_split(struct change *change, double from, double to)
{
    change->split_ns += to - from;
    if (change->split_count > 0 && change->splits[change->split_count - 1].to >= from)
        change->splits[change->split_count - 1].to = to;
    else
        change->splits[change->split_count++] = (struct report_band){from, to, REPORT_INK_SPLIT, false};
}

static void find_splits(struct report_arena *arena, struct change *change)
{
    const struct lab_views *views = change->views;
    const struct lab_view **last = report_take(arena, views->agents, sizeof *last);
    change->splits = report_take(arena, views->count, sizeof *change->splits);
    for (size_t i = 0; i < views->count;) {
        const int64_t time_ns = views->items[i].time_ns;
        for (; i < views->count && views->items[i].time_ns == time_ns; i++) {
            if (views->items[i].agent < views->agents)
                last[views->items[i].agent] = &views->items[i];
        }
        if (is_split(last, views->agents)) {
            double to = i < views->count ? since(change, views->items[i].time_ns) : change->end;
            add_split(change, since(change, time_ns), to);
        }
    }
}

/* Determines the range to show: from the time at which the change was stored to the change time and until all
 * agents agree, with a margin, within the time that was observed. */
static void find_range(struct change *change)
{
    double low = fmin(0, change->until);
    double high = fmax(0, change->until);
    if (change->split_count > 0) {
        low = fmin(low, change->splits[0].from);
        high = fmax(high, change->splits[change->split_count - 1].to);
    }
    const double margin = fmax(margin_share * (high - low), margin_looks * change->gap);
    /* Limit the range to the observed time: a change time far after the end of the run would squeeze
     * everything else. */
    change->low = fmin(fmax(low - margin, change->first), 0);
    change->high = fmax(fmin(high + margin, change->end), 0);
}

/* Returns false when the views have no change or no samples. */
static bool study(const struct lab_strategy_result *strategy, struct report_arena *arena, struct change *out)
{
    const struct lab_views *views = &strategy->views;
    if (views->key == NULL || views->agents == 0 || views->count == 0)
        return false;
    *out = (struct change){.strategy = strategy, .views = views};
    find_times(out);
    find_buckets(arena, out);
    find_splits(arena, out);
    find_range(out);
    return true;
}

/* The colour of an agent's view. */
static enum report_ink ink_of(const struct change *change, const struct lab_view *view)
{
    if (!view->is_known)
        return REPORT_INK_UNKNOWN;
    if (change->has_old && view->bucket == change->old_bucket)
        return view->is_changing ? REPORT_INK_OLD_SOON : REPORT_INK_OLD;
    if (change->has_new && view->bucket == change->new_bucket)
        return view->is_changing ? REPORT_INK_NEW_SOON : REPORT_INK_NEW;
    return REPORT_INK_OTHER;
}

enum { LANES_MAX = 64, FIGURES_MAX = 6 };
/* Ranges that differ by less than this ratio are shown on one scale, so that panels can be compared. */
static const double common_ratio_max = 4;

/* Gives all panels the same range of time if their ranges are similar and each panel was observed over the
 * whole range; otherwise a part of a panel would be empty. */
static void share_range(struct change *changes, size_t count)
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
    if (!bk_kind_fires(strategy->settings.strategy.kind))
        return "";
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

/* Adds the part of a belief that is inside the shown range. The hint gives the whole belief. */
static void add_span(const struct change *change, const struct lab_view *view, double end, double unit_ns,
                     struct report_arena *arena, struct report_lane *lane)
{
    const double begin = since(change, view->time_ns);
    const double from = fmax(begin, change->low), to = fmin(end, change->high);
    if (from >= to)
        return;
    const enum report_ink ink = ink_of(change, view);
    const bool knows_more = ink == REPORT_INK_OLD_SOON || ink == REPORT_INK_NEW_SOON;
    const char *text = ink == REPORT_INK_UNKNOWN ? "not in its cache"
                                                 : report_text(arena, "bucket %" PRId64 "%s", view->bucket,
                                                               knows_more ? ", knows the coming change" : "");
    lane->spans[lane->span_count++] = (struct report_span){
        .from = from / unit_ns,
        .to = to / unit_ns,
        .ink = ink,
        .hint = report_text(arena, "agent %" PRIu32 ", %s s to %s s since the change was stored: %s",
                            view->agent, report_full(arena, begin / (double)SIM_SECOND),
                            report_full(arena, end / (double)SIM_SECOND), text)};
}

/* Of consecutive views that mean the same, only the first one ends the belief before it. */
static void fill_lane(const struct change *change, uint32_t agent, double unit_ns, struct report_arena *arena,
                      struct report_lane *lane)
{
    const struct lab_views *views = change->views;
    const struct lab_view *belief = NULL;
    size_t looks = 0;
    for (size_t i = 0; i < views->count; i++)
        looks += views->items[i].agent == agent;
    lane->spans = report_take(arena, looks, sizeof *lane->spans);
    for (size_t i = 0; i < views->count; i++) {
        const struct lab_view *view = &views->items[i];
        const bool is_same = belief != NULL && ink_of(change, view) == ink_of(change, belief) &&
                             (!view->is_known || view->bucket == belief->bucket);
        if (view->agent == agent && !is_same) {
            if (belief != NULL)
                add_span(change, belief, since(change, view->time_ns), unit_ns, arena, lane);
            belief = view;
        }
    }
    if (belief != NULL)
        add_span(change, belief, change->end, unit_ns, arena, lane);
}

static void fill_moments(const struct change *change, double unit_ns, struct report_panel *panel)
{
    const bool at_once = is_at_once(change);
    const struct report_moment stored = {0, at_once ? "change stored = change time" : "change stored"};
    const struct report_moment due = {change->until / unit_ns, "change time"};
    const bool has_due = !at_once && change->until >= change->low && change->until <= change->high;
    if (has_due && change->until < 0)
        panel->moments[panel->moment_count++] = due;
    panel->moments[panel->moment_count++] = stored;
    if (has_due && change->until > 0)
        panel->moments[panel->moment_count++] = due;
}

/* If the change time is before the time at which the change was stored, which differing clocks can cause,
 * there is no time for a pre-change. */
static void fill_stages(const struct change *change, double unit_ns, struct report_panel *panel)
{
    const double over = is_at_once(change) ? 0 : fmin(fmax(change->until, 0), change->high);
    const struct report_stage stages[REPORT_STAGES_MAX] = {
        {change->low / unit_ns, 0, "steady"},
        {0, over / unit_ns, "pre-change"},
        {over / unit_ns, change->high / unit_ns, "post-change"},
    };
    for (size_t i = 0; i < REPORT_STAGES_MAX; i++) {
        if (stages[i].from < stages[i].to)
            panel->stages[panel->stage_count++] = stages[i];
    }
}

static void fill_figures(const struct change *change, bool is_harmful, struct report_arena *arena,
                         struct report_panel *panel)
{
    const bool is_split = change->split_count > 0;
    const bool at_once = is_at_once(change);
    const bool is_before = !at_once && change->until < 0;
    const struct report_figure figures[FIGURES_MAX] = {
        {"agents", report_text(arena, "%" PRIu32, change->views->agents), false, false},
        {"old bucket", change->has_old ? report_text(arena, "%" PRId64, change->old_bucket) : "–", false,
         false},
        {"new bucket", change->has_new ? report_text(arena, "%" PRId64, change->new_bucket) : "–", false,
         false},
        {"change time",
         at_once ? "at once"
                 : report_text(arena, is_before ? "%s before" : "after %s",
                               report_time(arena, fabs(change->until))),
         is_before, false},
        {is_split ? "agents disagree for" : "agents disagree",
         is_split ? report_time(arena, change->split_ns) : "never", is_split && is_harmful, false},
        {"sampled every", report_time(arena, change->gap), false, false},
    };
    /* With a single look there is no interval between samples to show. */
    const size_t count = change->look_count > 1 ? FIGURES_MAX : FIGURES_MAX - 1;
    report_figures_add(arena, panel, figures, count);
}

static const char *note_of(const struct change *change, struct report_arena *arena)
{
    const struct lab_views *views = change->views;
    const char *note = "";
    if (!change->has_old && !change->has_new)
        report_append(arena, &note, "; ", "no agent's cache knew the key");
    if (change->until > change->end)
        report_append(arena, &note, "; ", "the last sample was %s before the change time",
                      report_time(arena, change->until - change->last));
    if (views->agents > LANES_MAX)
        report_append(arena, &note, "; ", "the first %d of %" PRIu32 " agents are shown", (int)LANES_MAX,
                      views->agents);
    return note;
}

/* is_harmful: rows went to the wrong bucket. Otherwise agents may disagree: a protocol such as guarded lets
 * no agent place a row by its cache alone. */
static void fill_panel(const struct change *change, bool is_harmful, struct report_arena *arena,
                       struct report_panel *panel)
{
    const double second = (double)SIM_SECOND;
    report_scale_span(arena, change->low / second, change->high / second, "since the change was stored",
                      &panel->x);
    const double unit_ns = panel->x.unit * second;
    const uint32_t agents = change->views->agents;
    const uint32_t lanes = agents < LANES_MAX ? agents : LANES_MAX;
    panel->lanes = report_take(arena, lanes, sizeof *panel->lanes);
    panel->lane_count = lanes;
    for (uint32_t i = 0; i < panel->lane_count; i++) {
        panel->lanes[i].label = report_text(arena, "agent %" PRIu32, i);
        fill_lane(change, i, unit_ns, arena, &panel->lanes[i]);
    }
    panel->bands = change->splits;
    panel->band_count = is_harmful ? change->split_count : 0;
    for (size_t i = 0; i < panel->band_count; i++) {
        panel->bands[i].from /= unit_ns;
        panel->bands[i].to /= unit_ns;
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
            for (size_t m = 0; m < panel->lanes[k].span_count; m++)
                is_used[panel->lanes[k].spans[m].ink] = true;
        }
        is_used[REPORT_INK_SPLIT] |= panel->band_count > 0;
    }
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        if (is_used[entries[i].ink])
            report_legend_add(chart, entries[i].ink, entries[i].text);
    }
}

void report_changes_fill(const struct lab_result *result, struct report_arena *arena,
                         struct report_chart *chart)
{
    struct change *changes = report_take(arena, result->strategy_count, sizeof *changes);
    chart->panels = report_take(arena, result->strategy_count, sizeof *chart->panels);
    size_t count = 0;
    for (size_t i = 0; i < result->strategy_count; i++)
        count += study(&result->strategies[i], arena, &changes[count]);
    if (count == 0) {
        chart->absent = "no agent was seen while a key's bucket changed";
        return;
    }
    share_range(changes, count);
    for (size_t i = 0; i < count; i++) {
        const struct lab_strategy_result *strategy = changes[i].strategy;
        struct report_panel *panel = &chart->panels[i];
        double misrouted = 0;
        report_strategy_name(arena, strategy, &panel->label, &panel->detail);
        panel->detail = report_text(arena, "%s%s · key %s", panel->detail, coordination_of(strategy, arena),
                                    report_clean(arena, strategy->views.key));
        report_metric(strategy, "writes.misrouted", &misrouted);
        fill_panel(&changes[i], misrouted > 0, arena, panel);
    }
    chart->panel_count = count;
    fill_legend(chart);
}
