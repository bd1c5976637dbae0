/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads `strategies`: each element of the list is one kind with its settings, and optionally a label. */
#include <stdlib.h>
#include <string.h>

#include "kernel/text.h"
#include "lab/scenario_part.h"

static bool fail_name(struct lab_reader *reader, const struct lab_node *node, const char *text)
{
    return lab_fail_at(&reader->tree, &node->name_place, "'%s' %s", node->name, text);
}

static bool check_guarded(struct lab_reader *reader, const struct lab_node *node,
                          struct lab_settings *settings)
{
    const struct lab_node *counter = lab_node_find(node, "counter");
    if (settings->coordination != BK_GUARDED)
        return true;
    if (counter != NULL && settings->counter != BK_COUNTER_COLUMN)
        return lab_fail_value(reader, counter,
                              "guarded counts each bucket in its own counter; write counter: counter, or "
                              "remove this");
    settings->counter = BK_COUNTER_COLUMN;
    return true;
}

static bool check_lead(struct lab_reader *reader, const struct lab_node *node,
                       const struct lab_settings *settings)
{
    return settings->coordination != BK_THREE_STATE || lab_node_find(node, "lead") != NULL ||
           lab_fail_at(&reader->tree, &node->place,
                       "'lead' is missing under '%s', and three-state needs it; add how long "
                       "before a change every agent must know it, as in lead: 10s",
                       node->name);
}

/* Few tables have a number in each row, so the external source must be named. It was the default in earlier
 * versions. */
static bool is_named(struct lab_reader *reader, const struct lab_node *node,
                     const struct lab_settings *settings)
{
    return settings->strategy.kind != BK_COUNT || reader->is_kept || lab_node_find(node, "counter") != NULL ||
           lab_fail_at(
               &reader->tree, &node->place,
               "'counter' is missing under 'count'; add where a row's number comes from: external if rows "
               "already carry a gapless number, else counter, lwt, lease, incremental, scan or memory");
}

/* Checks how often rows are counted, in rows or in time. */
static bool check_source(struct lab_reader *reader, const struct lab_node *node,
                         struct lab_settings *settings)
{
    if (lab_node_find(node, "every_rows") != NULL || lab_node_find(node, "every_time") != NULL)
        return true;
    if (settings->source == BK_SOURCE_INCREMENTAL)
        return lab_fail_at(
            &reader->tree, &node->place,
            "neither 'every_rows' nor 'every_time' under 'count', and incremental needs one; "
            "add how often the new rows are counted, as in every_rows: 1000 or every_time: 10s");
    settings->every_rows = settings->source == BK_SOURCE_SCAN ? 1 : 0;
    return true;
}

/* The greatest age applies to all eras. */
static bool check_max_age(struct lab_reader *reader, const struct lab_node *node,
                          struct lab_settings *settings)
{
    const struct bk_strategy *strategy = &settings->strategy;
    if (strategy->max_age_ns == 0)
        return true;
    if (strategy->kind == BK_COUNT && lab_node_find(node, "then") != NULL)
        return fail_name(reader, lab_node_find(node, "then"),
                         "conflicts with 'max_age': a key's state has room for only one position where the "
                         "count began; remove one of them");
    for (uint32_t i = 0; i < settings->change_count; i++)
        settings->changes[i].strategy.max_age_ns = strategy->max_age_ns;
    return settings->source == BK_SOURCE_EXTERNAL ||
           lab_fail_value(reader, lab_node_find(node, "max_age"),
                          "of 'count', only 'counter: external' without 'agents' takes it; use that, "
                          "'probabilistic' or 'time'");
}

/* The check of the settings of one of the core's kinds. */
static bool check_settings(struct lab_reader *reader, const struct lab_node *node, void *target)
{
    struct lab_settings *settings = &((struct lab_strategy *)target)->settings;
    int kind = 0;
    while (strcmp(bk_kind_name((enum bk_kind)kind), node->name) != 0)
        kind++;
    settings->strategy.kind = (enum bk_kind)kind;
    return lab_settings_complete(reader, node, settings) && is_named(reader, node, settings) &&
           check_source(reader, node, settings) && check_lead(reader, node, settings) &&
           check_guarded(reader, node, settings) && lab_strategy_make(reader, node, &settings->strategy) &&
           check_max_age(reader, node, settings) && lab_reading_check(reader, node, settings);
}

/* The table of one kind, whose settings fill a struct lab_strategy. */
#define OF(kind)                                                                                             \
    {                                                                                                        \
        .kinds = 1u << (kind), .scope = LAB_OF_STRATEGY, .check = check_settings,                            \
        .may_be_empty = (kind) == BK_UNBUCKETED                                                              \
    }
static const struct lab_table unbucketed_table = OF(BK_UNBUCKETED), time_table = OF(BK_TIME),
                              count_table = OF(BK_COUNT), probabilistic_table = OF(BK_PROBABILISTIC),
                              hash_table = OF(BK_HASH), weighted_table = OF(BK_WEIGHTED);
static const struct lab_table idgen_table = {
    .kinds = 1u << LAB_KIND_IDGEN, .scope = LAB_OF_STRATEGY, .check = lab_check_idgen, .may_be_empty = true};
static const struct lab_table observed_table = {
    .kinds = 1u << LAB_KIND_OBSERVED, .scope = LAB_OF_STRATEGY, .check = lab_check_observed};

#define KIND_FIELD(name, table)                                                                              \
    {                                                                                                        \
        name, lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &(table)                                        \
    }
const struct lab_table lab_strategy_table = {
    .fields = (const struct lab_field[]){
        KIND_FIELD("unbucketed", unbucketed_table),
        KIND_FIELD("time", time_table),
        KIND_FIELD("count", count_table),
        KIND_FIELD("probabilistic", probabilistic_table),
        KIND_FIELD("hash", hash_table),
        KIND_FIELD("weighted", weighted_table),
        KIND_FIELD("idgen", idgen_table),
        KIND_FIELD("observed", observed_table),
        {"label", lab_read_label, offsetof(struct lab_strategy, label), LAB_OPTIONAL, 0, LAB_LABEL_SIZE_MAX,
         "a label of 1 to 64 bytes", NULL},
        {.name = NULL},
    }};

static bool read_one(struct lab_reader *reader, const struct lab_node *item, struct lab_strategy *out)
{
    if (item->kind != LAB_NODE_MAPPING)
        return lab_fail_at(&reader->tree, &item->place,
                           "a strategy is its kind and settings; write it as 'hash: {buckets: 256}'");
    /* Two kinds in one element are refused first, since each would check what the other has read. */
    const struct lab_node *kind =
        lab_only_field(reader, item, "label", "an element of 'strategies'",
                       "unbucketed, time, count, probabilistic, weighted, hash, idgen or observed");
    if (kind == NULL || !lab_table_read(reader, &lab_strategy_table, item, out))
        return false;
    if (out->label == NULL)
        out->label = sim_text_copy(kind->name);
    return out->label != NULL || sim_fail_memory(reader->tree.error);
}

static bool check_label(struct lab_reader *reader, const struct lab_node *list, const struct lab_node *item,
                        const char *label)
{
    const struct lab_scenario *scenario = reader->scenario;
    const struct lab_node *earlier = list->first;
    size_t placing = 0, observed = 0;
    for (; earlier != item; earlier = earlier->next) {
        bool is_observed = lab_node_find(earlier, "observed") != NULL;
        const char *taken =
            is_observed ? scenario->observed[observed++].label : scenario->strategies[placing++].label;
        char where[LAB_PLACE_SIZE];
        if (strcmp(taken, label) == 0)
            return lab_fail_at(&reader->tree, &item->place,
                               "label '%s' is taken by the strategy at %s; give this one another 'label'",
                               label, lab_place_text(&earlier->place, where));
    }
    return true;
}

static struct lab_observed observed_of(const struct lab_strategy *strategy)
{
    return (struct lab_observed){.label = strategy->label,
                                 .path = strategy->settings.observed_file,
                                 .format = strategy->settings.observed,
                                 .table = strategy->settings.observed_table,
                                 .line = strategy->line,
                                 .column = strategy->column};
}

bool lab_read_strategies(struct lab_reader *reader, const struct lab_field *field,
                         const struct lab_node *node, void *out)
{
    struct lab_scenario *scenario = out;
    (void)field;
    if (node->kind != LAB_NODE_LIST)
        return lab_fail_at(&reader->tree, &node->place,
                           "'strategies' takes a list; begin each with a dash, as in '- unbucketed: {}'");
    if (node->count == 0)
        return lab_fail_at(&reader->tree, &node->place,
                           "no strategy to try; add one, as in '- unbucketed: {}'");
    if (node->count > LAB_STRATEGIES_MAX)
        return lab_fail_at(&reader->tree, &node->place, "%zu strategies; give at most %d", node->count,
                           LAB_STRATEGIES_MAX);
    scenario->strategies = calloc(node->count, sizeof *scenario->strategies);
    scenario->observed = calloc(node->count, sizeof *scenario->observed);
    if (scenario->strategies == NULL || scenario->observed == NULL)
        return sim_fail_memory(reader->tree.error);
    for (const struct lab_node *item = node->first; item != NULL; item = item->next) {
        bool is_of_file = item->place.argument == NULL;
        struct lab_strategy strategy = {.line = is_of_file ? item->place.line : 0,
                                        .column = is_of_file ? item->place.column : 0};
        if (!read_one(reader, item, &strategy) || !check_label(reader, node, item, strategy.label)) {
            free(strategy.label);
            free(strategy.settings.observed_file);
            free(strategy.settings.observed_table);
            return false;
        }
        if (lab_node_find(item, "observed") != NULL)
            scenario->observed[scenario->observed_count++] = observed_of(&strategy);
        else
            scenario->strategies[scenario->strategy_count++] = strategy;
    }
    return true;
}
