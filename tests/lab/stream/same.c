/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares results. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "same.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_same_histogram(const struct lab_histogram *one, const struct lab_histogram *other)
{
    size_t counts[2];
    struct lab_bin *bins[2] = {lab_histogram_sorted(one, &counts[0]),
                               lab_histogram_sorted(other, &counts[1])};
    bool is_same = counts[0] == counts[1] && one->is_rounded == other->is_rounded &&
                   one->count == other->count && one->weight == other->weight && one->least == other->least &&
                   one->most == other->most && one->sum == other->sum &&
                   one->sum_of_squares == other->sum_of_squares && one->weighted_sum == other->weighted_sum &&
                   one->weighted_sum_of_squares == other->weighted_sum_of_squares;
    is_same = is_same && (counts[0] == 0 || memcmp(bins[0], bins[1], counts[0] * sizeof *bins[0]) == 0);
    free(bins[0]);
    free(bins[1]);
    return is_same;
}

static bool is_same_timeline(const struct lab_timeline *one, const struct lab_timeline *other)
{
    bool is_same = one->count == other->count;
    for (size_t i = 0; is_same && i < one->count; i++) {
        const struct lab_slice *a = &one->items[i], *b = &other->items[i];
        is_same = a->state == b->state && a->start_ns == b->start_ns && a->end_ns == b->end_ns &&
                  a->partitions == b->partitions && memcmp(a->sizes, b->sizes, sizeof a->sizes) == 0;
    }
    return is_same;
}

static bool is_same_metrics(const struct lab_metrics *one, const struct lab_metrics *other)
{
    bool is_same = one->count == other->count;
    for (size_t i = 0; is_same && i < one->count; i++) {
        /* All bits are compared: a NaN equals itself. */
        is_same = strcmp(one->items[i].name, other->items[i].name) == 0 &&
                  memcmp(&one->items[i].value, &other->items[i].value, sizeof one->items[i].value) == 0;
        if (!is_same)
            print_message("%s: %.17g and %.17g\n", one->items[i].name, one->items[i].value,
                          other->items[i].value);
    }
    return is_same;
}

static bool is_same_views(const struct lab_views *one, const struct lab_views *other)
{
    bool is_same = one->count == other->count && one->change_ns == other->change_ns &&
                   one->until_ns == other->until_ns && one->agents == other->agents &&
                   (one->key == NULL) == (other->key == NULL) &&
                   (one->key == NULL || strcmp(one->key, other->key) == 0);
    for (size_t i = 0; is_same && i < one->count; i++) {
        const struct lab_view *a = &one->items[i], *b = &other->items[i];
        is_same = a->time_ns == b->time_ns && a->agent == b->agent && a->bucket == b->bucket &&
                  a->is_known == b->is_known && a->is_changing == b->is_changing;
    }
    return is_same;
}

static const char *difference_of(const struct lab_strategy_result *one,
                                 const struct lab_strategy_result *other)
{
    if (one->placement_digest != other->placement_digest)
        return "placement digest";
    if (!is_same_histogram(&one->closed_rows, &other->closed_rows) ||
        !is_same_histogram(&one->open_rows, &other->open_rows) ||
        !is_same_histogram(&one->closed_bytes, &other->closed_bytes) ||
        !is_same_histogram(&one->open_bytes, &other->open_bytes))
        return "sizes";
    if (!is_same_histogram(&one->read_partitions, &other->read_partitions))
        return "reads";
    for (int i = 0; i < LAB_LATENCY_COUNT; i++) {
        if (!is_same_histogram(&one->latency[i], &other->latency[i]))
            return "latency";
    }
    for (int unit = 0; unit < LAB_SIZE_UNITS; unit++) {
        const struct lab_largest *a = &one->largest[unit], *b = &other->largest[unit];
        if (strcmp(a->key, b->key) != 0 || a->key_index != b->key_index || a->bucket != b->bucket ||
            a->size != b->size)
            return "largest";
    }
    if (!is_same_timeline(&one->timeline, &other->timeline))
        return "timeline";
    if (one->node_count != other->node_count)
        return "nodes";
    for (size_t i = 0; i < one->node_count; i++) {
        if (one->nodes[i].rows != other->nodes[i].rows || one->nodes[i].bytes != other->nodes[i].bytes)
            return "nodes";
    }
    if (!is_same_metrics(&one->metrics, &other->metrics))
        return "metrics";
    if (one->events.digest != other->events.digest || one->events.events != other->events.events ||
        one->events.stride != other->events.stride || one->events.mark_count != other->events.mark_count)
        return "events";
    if (one->events.mark_count > 0 && memcmp(one->events.marks, other->events.marks,
                                             one->events.mark_count * sizeof *one->events.marks) != 0)
        return "marks";
    return is_same_views(&one->views, &other->views) ? NULL : "views";
}

const char *same_difference(const struct lab_result *one, const struct lab_result *other)
{
    if (one->digest != other->digest)
        return "digest";
    if (one->rows != other->rows || one->keys != other->keys || one->start_ns != other->start_ns ||
        one->end_ns != other->end_ns || one->seed != other->seed)
        return "head";
    if (one->strategy_count != other->strategy_count || one->expect_count != other->expect_count)
        return "counts";
    for (size_t i = 0; i < one->expect_count; i++) {
        if (one->expects[i].ok != other->expects[i].ok)
            return "expectations";
    }
    for (size_t i = 0; i < one->strategy_count; i++) {
        const char *what = difference_of(&one->strategies[i], &other->strategies[i]);
        if (what != NULL)
            return what;
    }
    return NULL;
}

struct lab_scenario *same_scenario(const char *text)
{
    struct lab_scenario *scenario;
    struct sim_error error;
    if (!lab_scenario_parse("same.yaml", text, strlen(text), NULL, 0, NULL, &scenario, &error))
        fail_msg("%s", error.text);
    return scenario;
}

struct lab_result *same_undisturbed(const struct lab_scenario *scenario)
{
    struct lab_result *result;
    struct sim_error error;
    if (!lab_run(scenario, 1, NULL, &result, &error))
        fail_msg("%s", error.text);
    return result;
}
