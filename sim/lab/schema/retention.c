/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chooses the windows of TimeWindowCompactionStrategy for rows that expire. This compaction puts the rows
 * that were written in one window into one sstable, which is dropped as a whole when all of its rows have
 * expired. Cassandra's documentation recommends 20 to 30 windows per time to live. Windows begin at multiples
 * of their size since 1970, in UTC, like time buckets. */
#include "retention.h"

#include <inttypes.h>
#include <stdio.h>

#include "kernel/time.h"
#include "lab/quantity.h"

#define WINDOWS_LEAST 20
#define WINDOWS_MOST  30
#define WINDOWS_MEANT 25
#define LINE_SIZE     256

struct window {
    const char *unit;
    int64_t size, span_ns;
};

/* The times at which a strategy's buckets end: all multiples of a step or, for calendar units, some of
 * them. */
struct grid {
    int64_t step_ns; /* 0: they do not end at multiples of a step */
    bool is_calendar;
};

static struct grid grid_of(const struct lab_strategy *strategy)
{
    const struct bk_strategy *core = &strategy->settings.strategy;
    if (core->kind != BK_TIME)
        return (struct grid){core->max_age_ns, false};
    if (core->of.time.calendar != BK_CALENDAR_NONE)
        return (struct grid){core->of.time.calendar == BK_CALENDAR_HOUR ? SIM_HOUR : SIM_DAY, true};
    bool is_shifted = core->of.time.epoch_ns % core->of.time.window_ns != 0;
    return (struct grid){is_shifted ? 0 : core->of.time.window_ns, false};
}

/* Whether every end of a bucket is the end of a window, or every end of a window the end of a bucket. */
static bool fits(int64_t span_ns, struct grid grid)
{
    return grid.step_ns > 0 &&
           (grid.step_ns % span_ns == 0 || (!grid.is_calendar && span_ns % grid.step_ns == 0));
}

/* The score of a window size: whether windows end with buckets, whether the size divides a day, and how close
 * the number of windows is to the recommendation. */
static int64_t score(int64_t span_ns, int64_t ttl_ns, struct grid grid)
{
    int64_t off = ttl_ns / span_ns - WINDOWS_MEANT;
    return (fits(span_ns, grid) ? 1000 : 0) + (SIM_DAY % span_ns == 0 || span_ns % SIM_DAY == 0 ? 100 : 0) -
           (off < 0 ? -off : off);
}

static struct window window_of(int64_t ttl_ns, struct grid grid)
{
    static const struct window units[] = {
        {"DAYS", 1, SIM_DAY}, {"HOURS", 1, SIM_HOUR}, {"MINUTES", 1, SIM_MINUTE}};
    struct window best = units[2];
    bool is_found = false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        int64_t unit = units[i].span_ns, most = ttl_ns / (WINDOWS_LEAST * unit);
        for (int64_t size = ttl_ns / ((WINDOWS_MOST + 1) * unit) + 1; size <= most; size++) {
            if (is_found && score(size * unit, ttl_ns, grid) <= score(best.span_ns, ttl_ns, grid))
                continue;
            best = (struct window){units[i].unit, size, size * unit};
            is_found = true;
        }
    }
    return best;
}

void lab_retention_add(const struct lab_scenario *scenario, const struct lab_strategy *strategy,
                       bool is_first, struct lab_cql_text *text)
{
    char line[LINE_SIZE];
    if (scenario->row_ttl_ns <= 0)
        return;
    struct window window = window_of(scenario->row_ttl_ns, grid_of(strategy));
    snprintf(line, sizeof line,
             "%s default_time_to_live = %" PRId64 "\n AND compaction = {'class': "
             "'TimeWindowCompactionStrategy', 'compaction_window_unit': '%s', 'compaction_window_size': "
             "'%" PRId64 "'}",
             is_first ? " WITH" : "\n AND", (scenario->row_ttl_ns - 1) / SIM_SECOND + 1, window.unit,
             window.size);
    lab_cql_add(text, line);
}

/* Adds a note when buckets do not end with windows, or have no end. */
static void tell_conflict(const struct lab_strategy *strategy, const struct window *window,
                          struct lab_cql_text *text)
{
    char line[LINE_SIZE], span[48], bucket[48];
    struct grid grid = grid_of(strategy);
    enum bk_kind kind = strategy->settings.strategy.kind;
    lab_quantity_duration_text(window->span_ns, span, sizeof span);
    lab_quantity_duration_text(grid.step_ns, bucket, sizeof bucket);
    if (fits(window->span_ns, grid))
        return;
    if (kind == BK_TIME && (grid.step_ns == 0 || grid.is_calendar))
        snprintf(
            line, sizeof line,
            "conflict: buckets end by a calendar or an epoch, windows at multiples of %s since 1970; set "
            "time: {window: %s}\n",
            span, span);
    else if (grid.step_ns > 0)
        snprintf(
            line, sizeof line,
            "conflict: buckets of %s and windows of %s end at different times; set %s: %s, or a multiple\n",
            bucket, span, kind == BK_TIME ? "window" : "max_age", span);
    else if (!lab_kind_ends(kind))
        snprintf(
            line, sizeof line,
            "conflict: a partition takes rows in every window, so a read of it queries up to %d sstables\n",
            WINDOWS_MOST);
    else
        snprintf(line, sizeof line,
                 "conflict: a bucket ends where its rows do, in the middle of a window; set max_age: %s so "
                 "that both end together\n",
                 span);
    lab_cql_add(text, line);
}

void lab_retention_tell(const struct lab_scenario *scenario, const struct lab_strategy *strategy,
                        struct lab_cql_text *text)
{
    char line[LINE_SIZE], span[48], late[48];
    if (scenario->row_ttl_ns <= 0)
        return;
    struct window window = window_of(scenario->row_ttl_ns, grid_of(strategy));
    lab_quantity_duration_text(window.span_ns, span, sizeof span);
    snprintf(line, sizeof line, "windows of %s: %" PRId64 " per time to live%s\n", span,
             scenario->row_ttl_ns / window.span_ns,
             scenario->row_ttl_ns / window.span_ns < WINDOWS_LEAST
                 ? ", where 20 to 30 are meant; none is shorter than a minute"
                 : "");
    lab_cql_add(text, line);
    lab_cql_add(
        text, "windows use the time of writing, not the row's own time: a late row, a repair and a hint are "
              "in a later window\n");
    lab_cql_add(
        text,
        "expired rows stay on disk, and reads pass over them, for gc_grace_seconds more (10 days unless "
        "set)\n");
    if (scenario->workload.late_share > 0 && scenario->workload.late_mean_ns > window.span_ns) {
        lab_quantity_duration_text(scenario->workload.late_mean_ns, late, sizeof late);
        snprintf(line, sizeof line,
                 "conflict: rows come late by %s on average, later than a window lasts; they keep its "
                 "sstable from being dropped\n",
                 late);
        lab_cql_add(text, line);
    }
    tell_conflict(strategy, &window, text);
}
