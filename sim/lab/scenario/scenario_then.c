/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `then` under a strategy: the same kind with other settings, from a date on. */
#include <string.h>

#include "kernel/time.h"
#include "lab/change.h"
#include "lab/scenario_part.h"

#define SPAN_MAX    (365.0 * 100 * (double)SIM_DAY)
#define WHOLE_MAX   1e15
#define BUCKETS_MAX 4096

/* One element of the list. */
struct draft {
    int64_t at_ns, rollout_ns;
    int keeps_old;
    int64_t window_ns, epoch_ns;
    int calendar;
    uint64_t rows, bits, threshold, buckets, bytes;
    struct bk_strategy strategy;
};

static bool make_time(struct lab_reader *reader, const struct lab_node *node, void *target);
static bool make_count(struct lab_reader *reader, const struct lab_node *node, void *target);
static bool make_probabilistic(struct lab_reader *reader, const struct lab_node *node, void *target);
static bool make_hash(struct lab_reader *reader, const struct lab_node *node, void *target);
static bool make_weighted(struct lab_reader *reader, const struct lab_node *node, void *target);
static bool check_made(struct lab_reader *reader, const struct lab_node *node, enum bk_status status);

#define DRAFT(member) offsetof(struct draft, member)
#define AT_RANGE      "a time after the start of the run, as in 30d"
#define CHANGE_FIELDS                                                                                        \
    {"at", lab_read_duration, DRAFT(at_ns), LAB_REQUIRED, 1, SPAN_MAX, AT_RANGE, NULL},                      \
        {"rollout", lab_read_duration, DRAFT(rollout_ns),     LAB_OPTIONAL,                                  \
         1,         SPAN_MAX,          "a duration above 0s", NULL},                                         \
        {"keep_old", lab_read_choice, DRAFT(keeps_old), LAB_OPTIONAL, 0, 0, NULL, truths},                   \
    {                                                                                                        \
        .name = NULL                                                                                         \
    }

static const struct lab_choice truths[] = {{"true", true}, {"false", false}, {NULL, 0}};
static const struct lab_choice calendars[] = {{"hour", BK_CALENDAR_HOUR},
                                              {"day", BK_CALENDAR_DAY},
                                              {"week", BK_CALENDAR_WEEK},
                                              {"month", BK_CALENDAR_MONTH},
                                              {NULL, 0}};

const struct lab_table lab_then_time_table = {
    .fields =
        (const struct lab_field[]){
            {"window", lab_read_duration, DRAFT(window_ns), LAB_OPTIONAL, 1000, 0x1p63,
             "a duration of at least 1us", NULL},
            {"epoch", lab_read_time, DRAFT(epoch_ns), LAB_OPTIONAL, 0, 0, NULL, NULL},
            {"calendar", lab_read_choice, DRAFT(calendar), LAB_OPTIONAL, 0, 0, NULL, calendars},
            CHANGE_FIELDS},
    .check = make_time};

const struct lab_table lab_then_count_table = {
    .fields = (const struct lab_field[]){{"rows", lab_read_whole, DRAFT(rows), LAB_REQUIRED, 1, WHOLE_MAX,
                                          "a whole number of at least 1", NULL},
                                         CHANGE_FIELDS},
    .check = make_count};

const struct lab_table lab_then_probabilistic_table = {
    .fields = (const struct lab_field[]){{"bits", lab_read_whole, DRAFT(bits), LAB_REQUIRED, 0, BK_BITS_MAX,
                                          "a whole number from 0 to 32", NULL},
                                         {"threshold", lab_read_whole, DRAFT(threshold), LAB_REQUIRED, 1, 1e9,
                                          "a whole number from 1 to 1000000000", NULL},
                                         CHANGE_FIELDS},
    .check = make_probabilistic};

const struct lab_table lab_then_hash_table = {
    .fields = (const struct lab_field[]){{"buckets", lab_read_whole, DRAFT(buckets), LAB_REQUIRED, 1,
                                          BUCKETS_MAX, "a whole number from 1 to 4096", NULL},
                                         CHANGE_FIELDS},
    .check = make_hash};

const struct lab_table lab_then_weighted_table = {
    .fields = (const struct lab_field[]){{"bytes", lab_read_bytes, DRAFT(bytes), LAB_REQUIRED, 1, 0x1p40,
                                          "a size of at least 1B", NULL},
                                         {"threshold", lab_read_whole, DRAFT(threshold), LAB_REQUIRED, 1, 1e9,
                                          "a whole number from 1 to 1000000000", NULL},
                                         CHANGE_FIELDS},
    .check = make_weighted};

bool lab_read_then(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                   void *target)
{
    struct lab_changes *out = target;
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
    for (const struct lab_node *item = node->first; item != NULL; item = item->next) {
        struct draft draft = {.keeps_old = true};
        if (!lab_table_read(reader, field->detail, item, &draft))
            return false;
        out->items[out->count++] = (struct lab_change){.at_ns = draft.at_ns,
                                                       .rollout_ns = draft.rollout_ns,
                                                       .keeps_old = draft.keeps_old,
                                                       .strategy = draft.strategy};
    }
    return true;
}

bool lab_then_complete(struct lab_reader *reader, const struct lab_node *settings,
                       const struct lab_strategy *strategy)
{
    const struct lab_scenario *scenario = reader->scenario;
    bool is_cluster = scenario->engine == LAB_ENGINE_CLUSTER;
    const struct lab_node *list = lab_node_find(settings, "then");
    if (strategy->settings.change_count == 0)
        return true;
    if (is_cluster && strategy->settings.strategy.kind == BK_COUNT)
        return lab_fail_at(&reader->tree, &list->name_place,
                           "'then' of count needs one writer, whose state says where the new count begins; "
                           "remove agents, or this");
    if (strategy->settings.source != BK_SOURCE_EXTERNAL)
        return lab_fail_at(&reader->tree, &list->name_place,
                           "'then' goes with counter: external alone; use that, or remove this");
    if (strategy->settings.strategy.kind == BK_HASH &&
        strategy->settings.strategy.of.hash.buckets > BUCKETS_MAX)
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
            return lab_fail_value(reader, at,
                                  "the rollout before it has not ended by then; move it, or shorten that");
        if (duration_ns > 0 && strategy->settings.changes[i].at_ns >= duration_ns)
            return lab_fail_value(reader, at,
                                  "the change comes after the run's end; move it, or make duration longer");
        if (rollout != NULL && !is_cluster)
            return lab_fail_at(&reader->tree, &rollout->name_place,
                               "'rollout' needs agents; add 'agents: {count: N}', or remove this");
    }
    struct lab_regimes regimes;
    if (!lab_regimes_make(strategy, scenario->workload.start_ns, &regimes))
        return lab_fail_at(&reader->tree, &list->place, "a change lies beyond all time; lower 'at'");
    return true;
}

static bool make_time(struct lab_reader *reader, const struct lab_node *node, void *target)
{
    struct draft *draft = target;
    const struct lab_node *window = lab_node_find(node, "window"), *epoch = lab_node_find(node, "epoch"),
                          *calendar = lab_node_find(node, "calendar");
    if ((window == NULL) == (calendar == NULL))
        return lab_fail_at(&reader->tree, &node->place,
                           "a change of time takes one of 'window' and 'calendar'; %s",
                           window == NULL ? "add one, as in window: 10d" : "remove the other");
    if (epoch != NULL && calendar != NULL)
        return lab_fail_at(&reader->tree, &epoch->name_place,
                           "'epoch' stands beside 'calendar', whose units begin by themselves; remove one of "
                           "them");
    if (calendar != NULL)
        return check_made(reader, node,
                          bk_strategy_calendar((enum bk_calendar)draft->calendar, &draft->strategy));
    return check_made(reader, node, bk_strategy_time(draft->window_ns, draft->epoch_ns, &draft->strategy));
}

static bool make_count(struct lab_reader *reader, const struct lab_node *node, void *target)
{
    struct draft *draft = target;
    return check_made(reader, node, bk_strategy_count(draft->rows, &draft->strategy));
}

static bool make_probabilistic(struct lab_reader *reader, const struct lab_node *node, void *target)
{
    struct draft *draft = target;
    return check_made(reader, node,
                      bk_strategy_probabilistic((uint32_t)draft->bits, draft->threshold, &draft->strategy));
}

static bool make_hash(struct lab_reader *reader, const struct lab_node *node, void *target)
{
    struct draft *draft = target;
    return check_made(reader, node, bk_strategy_hash((uint32_t)draft->buckets, &draft->strategy));
}

static bool make_weighted(struct lab_reader *reader, const struct lab_node *node, void *target)
{
    struct draft *draft = target;
    return check_made(reader, node, bk_strategy_weighted(draft->bytes, draft->threshold, &draft->strategy));
}

/* The tables' ranges are the core's own; should they ever part, the core has the last word. */
static bool check_made(struct lab_reader *reader, const struct lab_node *node, enum bk_status status)
{
    return status == BK_OK ||
           lab_fail_at(&reader->tree, &node->place, "'then': %s; change it", bk_status_text(status));
}
