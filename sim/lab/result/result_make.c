/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes a result from a scenario and the tallies of its strategies. */
#include "lab/result_make.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/digest.h"
#include "kernel/text.h"
#include "lab/stored.h"

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
    bool is_lost = !lab_slices_timeline(&tally->slices, &strategy->timeline) || tally->out_of_memory ||
                   tally->closed_rows.out_of_memory || tally->open_rows.out_of_memory ||
                   tally->closed_bytes.out_of_memory || tally->open_bytes.out_of_memory ||
                   tally->reads.partitions.out_of_memory || tally->live_rows.out_of_memory ||
                   tally->tombstones.out_of_memory;
    for (int kind = 0; kind < LAB_READ_KINDS; kind++)
        is_lost = is_lost || tally->reads_of[kind].partitions.out_of_memory;
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
