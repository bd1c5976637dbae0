/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Determines which bucket is the old one and which is the new one, when agents disagree, and which range of
 * time to show. */
#include <math.h>

#include "changes.h"
#include "kernel/time.h"

/* The margin shown before and after the relevant range, as a share of that range; and the least margin, in
 * looks. */
static const double margin_share = 0.2;
static const double margin_looks = 6;

static void find_times(struct report_change *change)
{
    const struct lab_views *views = change->views;
    change->look_count = 1;
    for (size_t i = 1; i < views->count; i++) {
        change->look_count += views->items[i].time_ns != views->items[i - 1].time_ns;
    }
    change->until = report_change_since(change, views->until_ns);
    change->first = report_change_since(change, views->items[0].time_ns);
    change->last = report_change_since(change, views->items[views->count - 1].time_ns);
    change->gap = change->look_count > 1 ? (change->last - change->first) / (double)(change->look_count - 1)
                                         : (double)SIM_MS;
    change->end = change->last + change->gap;
}

static bool is_belief(const struct report_change *change, const struct lab_view *view)
{
    return view->is_known && view->agent < change->views->agents;
}

/* The bucket with the most votes is the old one; if several have as many, the lowest of them. */
static void count_votes(const struct lab_view *const *votes, struct report_change *change)
{
    const uint32_t agents = change->views->agents;
    uint32_t most = 0;
    for (uint32_t i = 0; i < agents; i++) {
        uint32_t count = 0;
        for (uint32_t k = 0; votes[i] != NULL && k < agents; k++) {
            count += votes[k] != NULL && votes[k]->bucket == votes[i]->bucket;
        }
        if (count > most || (count > 0 && count == most && votes[i]->bucket < change->old_bucket)) {
            most = count;
            change->has_old = true;
            change->old_bucket = votes[i]->bucket;
        }
    }
}

/* For a key that no agent knew before the change: the first belief from before the change time is the old
 * bucket. */
static void take_first(struct report_change *change)
{
    const struct lab_views *views = change->views;
    for (size_t i = 0; i < views->count; i++) {
        const struct lab_view *view = &views->items[i];
        if (is_belief(change, view) && (view->is_changing || view->time_ns < views->until_ns)) {
            change->has_old = true;
            change->old_bucket = view->bucket;
            return;
        }
    }
}

static void find_buckets(struct report_arena *arena, struct report_change *change)
{
    const struct lab_views *views = change->views;
    const struct lab_view **votes = report_take(arena, views->agents, sizeof *votes);
    if (votes == NULL) {
        return;
    }
    for (size_t i = 0; i < views->count && views->items[i].time_ns < views->change_ns; i++) {
        const struct lab_view *view = &views->items[i];
        if (is_belief(change, view)) {
            votes[view->agent] = view;
        }
    }
    count_votes(votes, change);
    if (!change->has_old) {
        take_first(change);
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
        if (last[i] == NULL || !last[i]->is_known) {
            continue;
        }
        if (one != NULL && one->bucket != last[i]->bucket) {
            return true;
        }
        one = last[i];
    }
    return false;
}

static void add_split(struct report_change *change, double from, double to)
{
    change->split_ns += to - from;
    if (change->split_count > 0 && change->splits[change->split_count - 1].to >= from) {
        change->splits[change->split_count - 1].to = to;
    } else {
        change->splits[change->split_count++] = (struct report_stretch){from, to};
    }
}

static void find_splits(struct report_arena *arena, struct report_change *change)
{
    const struct lab_views *views = change->views;
    const struct lab_view **last = report_take(arena, views->agents, sizeof *last);
    change->splits = report_take(arena, views->count, sizeof *change->splits);
    if (last == NULL || change->splits == NULL) {
        return;
    }
    for (size_t i = 0; i < views->count;) {
        const int64_t time_ns = views->items[i].time_ns;
        for (; i < views->count && views->items[i].time_ns == time_ns; i++) {
            if (views->items[i].agent < views->agents) {
                last[views->items[i].agent] = &views->items[i];
            }
        }
        if (is_split(last, views->agents)) {
            double to = i < views->count ? report_change_since(change, views->items[i].time_ns) : change->end;
            add_split(change, report_change_since(change, time_ns), to);
        }
    }
}

/* Determines the range to show: from the time at which the change was stored to the change time and until all
 * agents agree, with a margin, within the time that was observed. */
static void find_range(struct report_change *change)
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

bool report_change_study(const struct lab_views *views, struct report_arena *arena, struct report_change *out)
{
    *out = (struct report_change){0};
    if (views->key == NULL || views->agents == 0 || views->count == 0) {
        return false;
    }
    struct report_change change = {.views = views};
    find_times(&change);
    find_buckets(arena, &change);
    find_splits(arena, &change);
    if (arena->out_of_memory) {
        return false;
    }
    find_range(&change);
    *out = change;
    return true;
}

/* Differences that do not fit into int64_t are correct, too. */
double report_change_since(const struct report_change *change, int64_t time_ns)
{
    const int64_t origin_ns = change->views->change_ns;
    return time_ns >= origin_ns ? (double)((uint64_t)time_ns - (uint64_t)origin_ns)
                                : -(double)((uint64_t)origin_ns - (uint64_t)time_ns);
}

bool report_change_is_at_once(const struct report_change *change)
{
    return fabs(change->until) < change->gap;
}

enum report_ink report_change_ink(const struct report_change *change, const struct lab_view *view)
{
    if (!view->is_known) {
        return REPORT_INK_UNKNOWN;
    }
    if (change->has_old && view->bucket == change->old_bucket) {
        return view->is_changing ? REPORT_INK_OLD_SOON : REPORT_INK_OLD;
    }
    if (change->has_new && view->bucket == change->new_bucket) {
        return view->is_changing ? REPORT_INK_NEW_SOON : REPORT_INK_NEW;
    }
    return REPORT_INK_OTHER;
}
