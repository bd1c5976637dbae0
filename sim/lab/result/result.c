/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A result: made from a scenario and the tallies of its strategies, its books checked, archived for other
 * ranks. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/digest.h"
#include "kernel/grow.h"
#include "kernel/text.h"
#include "lab/result.h"
#include "lab/scenario.h"
#include "lab/tally.h"

bool lab_metrics_add(struct lab_metrics *metrics, const char *name, double value)
{
    if (name == NULL)
        return false;
    if (!sim_grow(&metrics->items, &metrics->capacity, metrics->count + 1, sizeof *metrics->items))
        return false;
    struct lab_metric *metric = &metrics->items[metrics->count++];
    memset(metric->name, 0, sizeof metric->name);
    snprintf(metric->name, sizeof metric->name, "%s", name);
    metric->value = value;
    return true;
}

const char *lab_result_kind(const struct lab_strategy_result *strategy)
{
    return lab_kind_name(lab_settings_kind(&strategy->settings));
}

const char *lab_latency_name(enum lab_latency latency)
{
    static const char *const names[LAB_LATENCY_COUNT] = {"latency.write", "latency.read", "latency.counter",
                                                         "latency.lwt",   "latency.lock", "latency.lease"};
    return names[latency];
}

const struct lab_metric *lab_metrics_find(const struct lab_metrics *metrics, const char *name)
{
    for (size_t i = 0; name != NULL && i < metrics->count; i++) {
        if (strcmp(metrics->items[i].name, name) == 0)
            return &metrics->items[i];
    }
    return NULL;
}

const struct lab_metric *lab_result_find(const struct lab_result *result, const char *name)
{
    const struct lab_strategy_result *best = NULL;
    size_t best_length = 0;
    for (size_t i = 0; i < result->strategy_count; i++) {
        size_t length = strlen(result->strategies[i].label);
        if (length >= best_length && strncmp(name, result->strategies[i].label, length) == 0 &&
            name[length] == '.') {
            best = &result->strategies[i];
            best_length = length;
        }
    }
    return best == NULL ? NULL : lab_metrics_find(&best->metrics, name + best_length + 1);
}

void lab_result_destroy(struct lab_result *result)
{
    if (result == NULL)
        return;
    for (size_t i = 0; i < result->strategy_count; i++)
        lab_strategy_result_clear(&result->strategies[i]);
    for (size_t i = 0; i < result->expect_count; i++)
        free(result->expects[i].text);
    free(result->strategies);
    free(result->expects);
    free(result->scenario_name);
    free(result->about);
    free(result->source);
    free(result->weeks);
    free(result);
}

void lab_strategy_result_clear(struct lab_strategy_result *strategy)
{
    free(strategy->label);
    lab_histogram_clear(&strategy->closed_rows);
    lab_histogram_clear(&strategy->open_rows);
    lab_histogram_clear(&strategy->closed_bytes);
    lab_histogram_clear(&strategy->open_bytes);
    for (int unit = 0; unit < LAB_SIZE_UNITS; unit++)
        lab_sizes_clear(&strategy->sizes[unit]);
    lab_histogram_clear(&strategy->read_partitions);
    free(strategy->timeline.items);
    free(strategy->nodes);
    for (int i = 0; i < LAB_LATENCY_COUNT; i++)
        lab_histogram_clear(&strategy->latency[i]);
    free(strategy->metrics.items);
    free(strategy->events.marks);
    free(strategy->views.key);
    free(strategy->views.items);
    free(strategy->settings.observed_file);
    free(strategy->settings.observed_table);
}

bool lab_result_is_observed(const struct lab_result *result)
{
    /* Observed strategies follow all others, so the first one decides. */
    return result->strategy_count > 0 && result->strategies[0].settings.observed != WL_OBSERVED_AUTO;
}

/* Makes a result from a scenario and the tallies of its strategies. */

struct lab_result *lab_result_begin(const struct lab_scenario *scenario, uint64_t rows, uint64_t keys,
                                    int64_t start_ns, int64_t end_ns)
{
    struct lab_result *result = calloc(1, sizeof *result);
    if (result == NULL)
        return NULL;
    const char *source = scenario->trace_path == NULL ? "synthetic" : strrchr(scenario->trace_path, '/');
    if (source == NULL)
        source = scenario->trace_path;
    else if (*source == '/')
        source++;
    result->scenario_name = sim_text_copy(scenario->name);
    result->about = sim_text_copy(scenario->about);
    result->source = sim_text_copy(source);
    result->seed = scenario->seed;
    result->rows = rows;
    result->keys = keys;
    result->start_ns = start_ns;
    result->end_ns = end_ns;
    result->limits = scenario->limits;
    result->prices = scenario->prices;
    result->digest = sim_digest_chain(sim_digest_chain(0, rows), keys);
    result->strategies =
        calloc(scenario->strategy_count + scenario->observed_count, sizeof *result->strategies);
    if (result->scenario_name == NULL || result->about == NULL || result->source == NULL ||
        result->strategies == NULL) {
        lab_result_destroy(result);
        return NULL;
    }
    return result;
}

struct lab_strategy_result *lab_result_add(struct lab_result *result, const struct lab_scenario *scenario,
                                           size_t index, const struct lab_tally *tally)
{
    struct lab_strategy_result *strategy = &result->strategies[index];
    result->strategy_count = index + 1;
    strategy->label = sim_text_copy(scenario->strategies[index].label);
    strategy->settings = scenario->strategies[index].settings;
    strategy->placement_digest = tally->placement_digest;
    memcpy(strategy->largest, tally->largest, sizeof strategy->largest);
    result->digest = sim_digest_chain(result->digest, tally->placement_digest);
    if (tally->stored != NULL) {
        const struct lab_stored_figures *stored = lab_stored_figures(tally->stored);
        result->digest =
            sim_digest_chain(sim_digest_chain(result->digest, stored->rows), stored->minute_most);
    }
    const struct lab_settings *settings = &strategy->settings;
    const bool has_partitions = !settings->is_idgen && settings->observed == WL_OBSERVED_AUTO;
    const bool grows = lab_partitions_grow(scenario, settings, result->start_ns, result->end_ns);
    const bool is_lost =
        (has_partitions && !lab_metrics_add(&strategy->metrics, "partitions.growing", grows)) ||
        !lab_slices_timeline(&tally->slices, &strategy->timeline) || lab_tally_is_lost(tally);
    return strategy->label == NULL || is_lost ? NULL : strategy;
}

void lab_result_take(struct lab_strategy_result *strategy, struct lab_tally *tally)
{
    struct lab_histogram *from[] = {&tally->closed_rows, &tally->open_rows, &tally->closed_bytes,
                                    &tally->open_bytes, &tally->reads.partitions};
    struct lab_histogram *to[] = {&strategy->closed_rows, &strategy->open_rows, &strategy->closed_bytes,
                                  &strategy->open_bytes, &strategy->read_partitions};
    for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
        *to[i] = *from[i];
        lab_histogram_init(from[i]);
    }
    memcpy(strategy->sizes, tally->sizes, sizeof strategy->sizes);
    memset(tally->sizes, 0, sizeof tally->sizes);
}

/* Computes the rows and bytes of each node of the ring. */

bool lab_result_nodes(struct lab_strategy_result *strategy, const struct lab_scenario *scenario,
                      const struct lab_tally *tally)
{
    const struct cass_cluster_config *network = &scenario->network;
    uint32_t count = scenario->cluster.nodes, datacenter = 0, end = network->datacenters[0].nodes;
    uint64_t rows = 0;
    for (uint32_t i = 0; i < count; i++)
        rows += tally->nodes[i].rows;
    if (rows == 0)
        return true;
    strategy->nodes = calloc(count, sizeof *strategy->nodes);
    if (strategy->nodes == NULL)
        return false;
    strategy->node_count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct lab_node_load *node = &strategy->nodes[i];
        while (i >= end && datacenter + 1 < network->datacenter_count)
            end += network->datacenters[++datacenter].nodes;
        if (network->datacenter_count > 1)
            snprintf(node->name, sizeof node->name, "%s node %u", network->datacenters[datacenter].name,
                     (unsigned)i);
        else
            snprintf(node->name, sizeof node->name, "node %u", (unsigned)i);
        node->rows = tally->nodes[i].rows;
        node->bytes = tally->nodes[i].bytes;
    }
    return true;
}

/* The books of a run: each row of the workload is in a partition, was refused, or its outcome is unknown. A
 * run whose figures do not add up must not be shown, since its table would look like any other. */

/* Counts of rows are below 2^53, so they are exact. */
static uint64_t count_of(const struct lab_strategy_result *strategy, const char *name)
{
    const struct lab_metric *metric = lab_metrics_find(&strategy->metrics, name);
    return metric == NULL ? 0 : (uint64_t)metric->value;
}

/* Whether the sizes of the partitions have the rows that were placed, less those that a table replaced, and
 * whether those rows are live, expired or deleted. */
static bool are_sizes_whole(const struct lab_scenario *scenario, const struct lab_strategy_result *strategy,
                            const struct lab_disk_windows *windows)
{
    const uint64_t placed = count_of(strategy, "writes.placed"),
                   kept = placed - count_of(strategy, "rows.overwritten");
    const lab_wide sum = strategy->closed_rows.sum + strategy->open_rows.sum;
    const bool is_once = count_of(strategy, "writes.duplicated") == 0;
    const uint64_t left = count_of(strategy, "rows.live") + count_of(strategy, "rows.deleted") +
                          count_of(strategy, "rows.expired");
    /* Where rows leave the disk during the run, sizes are the largest over time. */
    const bool is_whole = windows->window_ns != 0 ? sum <= kept || !is_once
                          : is_once               ? sum == kept
                                                  : sum > kept;
    return is_whole && (kept == 0 || sum > 0) &&
           (!lab_rows_go(scenario) || (is_once ? left == placed : left > placed));
}

bool lab_books_check(const struct lab_scenario *scenario, const struct lab_result *result,
                     struct sim_error *error)
{
    for (size_t i = 0; i < result->strategy_count && !scenario->identifiers.present; i++) {
        const struct lab_strategy_result *strategy = &result->strategies[i];
        struct lab_disk_windows windows;
        lab_disk_windows_init(&windows, scenario, &scenario->strategies[i], result->start_ns, result->end_ns);
        const uint64_t written = count_of(strategy, "writes.rows"),
                       placed = count_of(strategy, "writes.placed"),
                       refused = count_of(strategy, "writes.refused"),
                       unresolved = count_of(strategy, "writes.unresolved");
        /* With ANY, an acknowledged row may be in a hint only. */
        const bool is_hinted =
            scenario->engine == LAB_ENGINE_CLUSTER && scenario->consistency.write == CASS_ANY;
        const uint64_t missing = is_hinted ? written - refused : unresolved;
        if (written == result->rows && placed + refused <= written && placed + refused + missing >= written &&
            are_sizes_whole(scenario, strategy, &windows))
            continue;
        const lab_wide sum = strategy->closed_rows.sum + strategy->open_rows.sum;
        return sim_fail(error, SIM_ERROR_ENVIRONMENT,
                        "strategy '%s' does not account for all rows: %" PRIu64 " of the workload, %" PRIu64
                        " placed, %" PRIu64 " refused, %" PRIu64 " unresolved, %" PRIu64
                        " in the sizes of partitions; this is a defect of bucketlab, so the run has no "
                        "result; please report it with the scenario",
                        strategy->label, result->rows, placed, refused, unresolved, (uint64_t)sum);
    }
    return true;
}

/* Archives a complete result, so that a result from another rank is stored, drawn and printed like one that
 * was made here. */

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

#define ARRAY(items, count, most) (items) = sim_archive_array(archive, items, sizeof *(items), &(count), most)

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
    ARRAY(strategy->timeline.items, strategy->timeline.count, SIZE_MAX);
    ARRAY(strategy->nodes, strategy->node_count, SIZE_MAX);
    ARRAY(strategy->metrics.items, strategy->metrics.count, SIZE_MAX);
    sim_archive_u64(archive, &strategy->events.digest);
    sim_archive_u64(archive, &strategy->events.events);
    sim_archive_u64(archive, &strategy->events.stride);
    ARRAY(strategy->events.marks, strategy->events.mark_count, LAB_EVENT_MARKS_MAX);
    sim_archive_text(archive, &strategy->views.key);
    sim_archive_i64(archive, &strategy->views.change_ns);
    sim_archive_i64(archive, &strategy->views.until_ns);
    sim_archive_u32(archive, &strategy->views.agents);
    ARRAY(strategy->views.items, strategy->views.count, SIZE_MAX);
    if (archive->is_loading) {
        strategy->metrics.capacity = strategy->metrics.count;
        strategy->views.capacity = strategy->views.count;
    }
    sim_archive_bytes(archive, &strategy->verdict, sizeof strategy->verdict);
}

static void archive_expect(struct lab_expect_result *expect, struct sim_archive *archive)
{
    sim_archive_text(archive, &expect->text);
    sim_archive_double(archive, &expect->actual);
    sim_archive_bool(archive, &expect->ok);
}

SIM_ARCHIVE_KNOWS(sizeof(struct lab_limits) == 64 && sizeof(struct lab_prices) == 56 &&
                      sizeof(struct lab_result) == 248,
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
    ARRAY(result->weeks, result->week_count, SIZE_MAX);
    sim_archive_bytes(archive, &result->limits,
                      sizeof result->limits); /* both have only numbers of 8 bytes */
    sim_archive_bytes(archive, &result->prices, sizeof result->prices);
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

/* Makes the token ring that a scenario describes. */

bool lab_ring_create(const struct lab_scenario *scenario, struct cass_ring **out, struct sim_error *error)
{
    const struct cass_cluster_config *network = &scenario->network;
    return cass_ring_create(scenario->seed, network->datacenters, network->datacenter_count,
                            scenario->cluster.num_tokens, out, error);
}
