/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Archives a complete result, so that a result from another rank is stored, drawn and printed like one that
 * was made here. */
#include <string.h>

#include "lab/result_make.h"

/* The fewest bytes that an item takes in an archive, which limits the counts that loading accepts. */
#define STRATEGY_BYTES 64u
#define EXPECT_BYTES   16u

/* Numbers and enums are archived as one block, since all ranks run the same program; texts separately. */
static void archive_settings(struct lab_settings *settings, struct sim_archive *archive)
{
    struct lab_settings plain = *settings;
    plain.observed_file = plain.observed_table = NULL;
    sim_archive_bytes(archive, &plain, sizeof plain);
    if (archive->is_loading)
        *settings = plain;
    sim_archive_text(archive, &settings->observed_file);
    sim_archive_text(archive, &settings->observed_table);
}

static void archive_metrics(struct lab_metrics *metrics, struct sim_archive *archive)
{
    metrics->items =
        sim_archive_array(archive, metrics->items, sizeof *metrics->items, &metrics->count, SIZE_MAX);
    if (archive->is_loading)
        metrics->capacity = metrics->count;
}

static void archive_events(struct lab_event_log *events, struct sim_archive *archive)
{
    sim_archive_u64(archive, &events->digest);
    sim_archive_u64(archive, &events->events);
    sim_archive_u64(archive, &events->stride);
    events->marks = sim_archive_array(archive, events->marks, sizeof *events->marks, &events->mark_count,
                                      LAB_EVENT_MARKS_MAX);
}

static void archive_views(struct lab_views *views, struct sim_archive *archive)
{
    sim_archive_text(archive, &views->key);
    sim_archive_i64(archive, &views->change_ns);
    sim_archive_i64(archive, &views->until_ns);
    sim_archive_u32(archive, &views->agents);
    views->items = sim_archive_array(archive, views->items, sizeof *views->items, &views->count, SIZE_MAX);
    if (archive->is_loading)
        views->capacity = views->count;
}

static void archive_timeline(struct lab_timeline *timeline, struct sim_archive *archive)
{
    timeline->items =
        sim_archive_array(archive, timeline->items, sizeof *timeline->items, &timeline->count, SIZE_MAX);
}

static void archive_strategy(struct lab_strategy_result *strategy, struct sim_archive *archive)
{
    struct lab_histogram *const histograms[] = {&strategy->closed_rows, &strategy->open_rows,
                                                &strategy->closed_bytes, &strategy->open_bytes,
                                                &strategy->read_partitions};
    sim_archive_text(archive, &strategy->label);
    archive_settings(&strategy->settings, archive);
    sim_archive_u64(archive, &strategy->placement_digest);
    for (size_t i = 0; i < sizeof histograms / sizeof *histograms; i++)
        lab_histogram_archive(histograms[i], archive);
    for (int i = 0; i < LAB_LATENCY_COUNT; i++)
        lab_histogram_archive(&strategy->latency[i], archive);
    sim_archive_bytes(archive, strategy->largest, sizeof strategy->largest);
    archive_timeline(&strategy->timeline, archive);
    strategy->nodes =
        sim_archive_array(archive, strategy->nodes, sizeof *strategy->nodes, &strategy->node_count, SIZE_MAX);
    archive_metrics(&strategy->metrics, archive);
    archive_events(&strategy->events, archive);
    archive_views(&strategy->views, archive);
    sim_archive_bytes(archive, &strategy->verdict, sizeof strategy->verdict);
}

static void archive_expect(struct lab_expect_result *expect, struct sim_archive *archive)
{
    sim_archive_text(archive, &expect->text);
    sim_archive_double(archive, &expect->actual);
    sim_archive_bool(archive, &expect->ok);
}

SIM_ARCHIVE_KNOWS(sizeof(struct lab_limits) == 48 && sizeof(struct lab_prices) == 56 &&
                      sizeof(struct lab_result) == 232,
                  "results have changed: archive new fields");

void lab_result_archive(struct lab_result *result, struct sim_archive *archive)
{
    sim_archive_mark(archive, 0x5245534c);
    sim_archive_text(archive, &result->scenario_name);
    sim_archive_text(archive, &result->about);
    sim_archive_text(archive, &result->source);
    sim_archive_u64(archive, &result->seed);
    sim_archive_u64(archive, &result->digest);
    sim_archive_u64(archive, &result->rows);
    sim_archive_u64(archive, &result->keys);
    sim_archive_i64(archive, &result->start_ns);
    sim_archive_i64(archive, &result->end_ns);
    result->weeks =
        sim_archive_array(archive, result->weeks, sizeof *result->weeks, &result->week_count, SIZE_MAX);
    sim_archive_u64(archive, &result->limits.partition_rows);
    sim_archive_u64(archive, &result->limits.partition_bytes);
    sim_archive_u64(archive, &result->limits.tiny_rows);
    sim_archive_double(archive, &result->limits.over_limit_share);
    sim_archive_double(archive, &result->limits.confidence);
    sim_archive_double(archive, &result->limits.tolerance);
    sim_archive_bytes(archive, &result->prices, sizeof result->prices); /* has only doubles */
    size_t strategies = result->strategy_count, expects = result->expect_count;
    sim_archive_size(archive, &strategies);
    if (archive->is_loading)
        result->strategies =
            sim_archive_allocate(archive, strategies, sizeof *result->strategies, STRATEGY_BYTES);
    result->strategy_count = result->strategies == NULL ? 0 : strategies;
    for (size_t i = 0; i < result->strategy_count; i++)
        archive_strategy(&result->strategies[i], archive);
    sim_archive_size(archive, &expects);
    if (archive->is_loading)
        result->expects = sim_archive_allocate(archive, expects, sizeof *result->expects, EXPECT_BYTES);
    result->expect_count = result->expects == NULL ? 0 : expects;
    for (size_t i = 0; i < result->expect_count; i++)
        archive_expect(&result->expects[i], archive);
    sim_archive_bool(archive, &result->expects_hold);
    sim_archive_bool(archive, &result->is_tuned);
}
