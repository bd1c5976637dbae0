/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads `then` of a strategy: the same kind with other settings, from a date on. */
#include <string.h>

#include "lab/change.h"
#include "lab/scenario_part.h"

bool lab_read_then(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                   void *target)
{
    struct lab_settings *settings = target;
    const struct lab_table *table = field->detail;
    int kind = 0;
    while (table->kinds != 1u << kind)
        kind++;
    if (node->kind != LAB_NODE_LIST)
        return lab_fail_at(&reader->tree, &node->place,
                           "'then' takes a list of changes; write it as 'then: [{at: 30d, ...}]'");
    if (node->count == 0)
        return lab_fail_at(&reader->tree, &node->place,
                           "no change; add one, as in {at: 30d, ...}, or remove "
                           "'then'");
    if (node->count > LAB_CHANGES_MAX)
        return lab_fail_at(&reader->tree, &node->place, "%zu changes; give at most %u", node->count,
                           LAB_CHANGES_MAX);
    settings->change_count = 0;
    for (const struct lab_node *item = node->first; item != NULL; item = item->next) {
        struct lab_change *change = &settings->changes[settings->change_count++];
        *change = (struct lab_change){.keeps_old = true, .strategy = {.kind = (enum bk_kind)kind}};
        if (!lab_table_read(reader, table, item, change))
            return false;
    }
    return true;
}

/* The row at which a count with other settings begins must be known to the only writer, or stored in a state
 * row that all agents read. */
static bool check_count(struct lab_reader *reader, const struct lab_node *list, enum bk_source source,
                        bool is_cluster)
{
    if (!is_cluster)
        return source == BK_SOURCE_EXTERNAL ||
               lab_fail_at(&reader->tree, &list->name_place,
                           "without agents 'then' needs counter: external; use that, or add "
                           "'agents: {count: N}'");
    return (source != BK_SOURCE_EXTERNAL && source != BK_SOURCE_COUNTER) ||
           lab_fail_at(&reader->tree, &list->name_place,
                       "agents with 'counter: %s' keep no state that could say at which number the new count "
                       "begins; use lwt, lease, incremental, scan or memory, or remove agents",
                       lab_setting_name(BK_COUNT, "counter", (int)source));
}

bool lab_then_complete(struct lab_reader *reader, const struct lab_node *settings,
                       const struct lab_strategy *strategy)
{
    const struct lab_scenario *scenario = reader->scenario;
    bool is_cluster = scenario->engine == LAB_ENGINE_CLUSTER;
    const struct lab_node *list = lab_node_find(settings, "then");
    if (strategy->settings.change_count == 0)
        return true;
    if (strategy->settings.strategy.kind == BK_COUNT &&
        !check_count(reader, list, strategy->settings.source, is_cluster))
        return false;
    if (strategy->settings.strategy.kind == BK_HASH &&
        strategy->settings.strategy.of.hash.buckets > LAB_CHANGED_BUCKETS_MAX)
        return lab_fail_value(reader, lab_node_find(settings, "buckets"),
                              "more than a run with 'then' can hold; give at most 4096");
    const struct lab_node *item = list->first;
    for (uint32_t i = 0; i < strategy->settings.change_count; i++, item = item->next) {
        const struct lab_node *at = lab_node_find(item, "at"), *rollout = lab_node_find(item, "rollout");
        int64_t duration_ns = scenario->workload.duration_ns;
        if (i > 0 && strategy->settings.changes[i].at_ns <= strategy->settings.changes[i - 1].at_ns)
            return lab_fail_value(reader, at, "not after the change before it; put changes in order of time");
        if (i > 0 && strategy->settings.changes[i].at_ns - strategy->settings.changes[i - 1].at_ns <
                         strategy->settings.changes[i - 1].rollout_ns)
            return lab_fail_value(
                reader, at,
                "the previous rollout has not ended by then; move this change, or shorten that rollout");
        if (duration_ns > 0 && strategy->settings.changes[i].at_ns >= duration_ns)
            return lab_fail_value(reader, at,
                                  "the change comes after the run's end; move it, or make duration longer");
        if (rollout != NULL && !is_cluster)
            return lab_fail_at(&reader->tree, &rollout->name_place,
                               "'rollout' needs agents; add 'agents: {count: N}', or remove this");
    }
    struct lab_regimes regimes;
    if (!lab_regimes_make(strategy, scenario->workload.start_ns, &regimes))
        return lab_fail_at(&reader->tree, &list->place,
                           "a change overflows the range of timestamps; lower 'at'");
    return true;
}
