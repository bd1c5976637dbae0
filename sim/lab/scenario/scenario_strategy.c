/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The strategies: each element of the list is one kind with its settings, and perhaps a label. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/time.h"
#include "lab/quantity.h"
#include "lab/scenario_part.h"

#define CHANCE_SIZE          48
#define LOCK_LASTS_DEFAULT   (5 * SIM_SECOND)
#define LOCK_BACKOFF_DEFAULT (100 * SIM_MS)
#define GRANT_DEFAULT        (10 * SIM_SECOND)
#define LEASE_DEFAULT        100

/* What the tables fill; a kind's check makes the strategy of it. */
struct draft {
    char *label; /* malloc'ed; NULL when none was given */
    int64_t window_ns, epoch_ns;
    int calendar;
    uint64_t rows;
    uint64_t bits, threshold, chance_numerator, chance_denominator;
    uint64_t buckets;
    int source;
    uint64_t lease_rows, every_rows;
    int64_t every_ns;
    uint64_t bytes; /* of weighted */
    int64_t max_age_ns;
    int coordination, counter_kind;
    int64_t lead_ns, lock_lasts_ns, lock_backoff_ns, grant_ns;
    struct lab_idgen_draft idgen;
    struct lab_observed_draft observed;
    struct bk_strategy strategy;
    struct lab_changes changes;
    struct lab_reading_draft reading;
};

static bool read_one(struct lab_reader *reader, const struct lab_node *item, struct draft *draft,
                     struct lab_reading *reading);
static bool take_label(struct lab_reader *reader, const struct lab_node *item, char **label,
                       struct draft *draft);
static void take_strategy(struct lab_scenario *scenario, const struct lab_node *item, struct draft *draft,
                          const struct lab_reading *reading);
static void take_observed(struct lab_scenario *scenario, const struct lab_node *item, struct draft *draft);
static bool take_max_age(struct lab_reader *reader, const struct lab_node *kind, struct draft *draft);
static bool check_label(struct lab_reader *reader, const struct lab_node *list, const struct lab_node *item,
                        const char *label);
static lab_field_reader read_label, read_chance;
static bool make_none(struct lab_reader *reader, const struct lab_node *node, void *target);
static bool make_time(struct lab_reader *reader, const struct lab_node *node, void *target);
static bool make_count(struct lab_reader *reader, const struct lab_node *node, void *target);
static bool check_source(struct lab_reader *reader, const struct lab_node *node, struct draft *draft);
static bool make_probabilistic(struct lab_reader *reader, const struct lab_node *node, void *target);
static bool check_coordination(struct lab_reader *reader, const struct lab_node *node, struct draft *draft);
static bool check_guarded(struct lab_reader *reader, const struct lab_node *node, struct draft *draft);
static bool make_hash(struct lab_reader *reader, const struct lab_node *node, void *target);
static bool make_weighted(struct lab_reader *reader, const struct lab_node *node, void *target);
static bool check_made(struct lab_reader *reader, const struct lab_node *node, enum bk_status status);
static bool fail_both(struct lab_reader *reader, const struct lab_node *second, const char *text);
static bool fail_name(struct lab_reader *reader, const struct lab_node *node, const char *text);

#define DRAFT(member) offsetof(struct draft, member)
#define WHOLE_MAX     1e15
#define UNIT_MAX      0x1p40
#define SPAN_MAX      (365.0 * (double)SIM_DAY)
#define ABOVE_RANGE   "a duration above 0s and at most 365d"
#define LABEL_RANGE   "a label of 1 to 64 bytes"
#define LABEL_FIELD                                                                                          \
    {                                                                                                        \
        "label", read_label, DRAFT(label), LAB_OPTIONAL, 0, LAB_LABEL_SIZE_MAX, LABEL_RANGE, NULL            \
    }
#define READ_FIELD                                                                                           \
    {                                                                                                        \
        "read", lab_read_mapping, DRAFT(reading), LAB_OPTIONAL, 0, 0, NULL, &lab_reading_table               \
    }

static const struct lab_choice calendars[] = {{"hour", BK_CALENDAR_HOUR},
                                              {"day", BK_CALENDAR_DAY},
                                              {"week", BK_CALENDAR_WEEK},
                                              {"month", BK_CALENDAR_MONTH},
                                              {NULL, 0}};
static const struct lab_choice sources[] = {{"external", BK_SOURCE_EXTERNAL},
                                            {"counter", BK_SOURCE_COUNTER},
                                            {"lwt", BK_SOURCE_LWT},
                                            {"lease", BK_SOURCE_LEASE},
                                            {"incremental", BK_SOURCE_INCREMENTAL},
                                            {"scan", BK_SOURCE_SCAN},
                                            {"memory", BK_SOURCE_MEMORY},
                                            {NULL, 0}};
static const struct lab_choice coordinations[] = {{"single", BK_SINGLE},
                                                  {"locked", BK_LOCKED},
                                                  {"three-state", BK_THREE_STATE},
                                                  {"guarded", BK_GUARDED},
                                                  {NULL, 0}};
static const struct lab_choice counter_kinds[] = {
    {"rmw", BK_COUNTER_RMW}, {"lwt", BK_COUNTER_LWT}, {"counter", BK_COUNTER_COLUMN}, {NULL, 0}};

#define THRESHOLD_FIELD                                                                                      \
    {                                                                                                        \
        "threshold", lab_read_whole, DRAFT(threshold), LAB_REQUIRED, 1, 1e9,                                 \
            "a whole number from 1 to 1000000000", NULL                                                      \
    }
#define MAX_AGE_FIELD                                                                                        \
    {                                                                                                        \
        "max_age", lab_read_duration, DRAFT(max_age_ns), LAB_OPTIONAL, 1000, 0x1p63,                         \
            "a duration of at least 1us", NULL                                                               \
    }
/* Of the kinds whose rows fire. */
#define COORDINATION_FIELDS                                                                                  \
    {"coordination", lab_read_choice, DRAFT(coordination), LAB_OPTIONAL, 0, 0, NULL, coordinations},         \
        {"counter", lab_read_choice, DRAFT(counter_kind), LAB_OPTIONAL, 0, 0, NULL, counter_kinds},          \
        {"lead", lab_read_duration, DRAFT(lead_ns), LAB_OPTIONAL, 0, SPAN_MAX, "a duration from 0s to 365d", \
         NULL},                                                                                              \
        {"grant", lab_read_duration, DRAFT(grant_ns), LAB_OPTIONAL, 1, SPAN_MAX, ABOVE_RANGE, NULL},         \
    {                                                                                                        \
        "lock", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &lock_table                                   \
    }

static const struct lab_table none_table = {
    .fields = (const struct lab_field[]){READ_FIELD, LABEL_FIELD, {.name = NULL}},
    .check = make_none,
    .may_be_empty = true};

static const struct lab_table time_table = {
    .fields =
        (const struct lab_field[]){
            {"window", lab_read_duration, DRAFT(window_ns), LAB_OPTIONAL, 1000, 0x1p63,
             "a duration of at least 1us", NULL},
            {"epoch", lab_read_time, DRAFT(epoch_ns), LAB_OPTIONAL, 0, 0, NULL, NULL},
            {"calendar", lab_read_choice, DRAFT(calendar), LAB_OPTIONAL, 0, 0, NULL, calendars},
            {"then", lab_read_then, DRAFT(changes), LAB_OPTIONAL, 0, 0, NULL, &lab_then_time_table},
            READ_FIELD,
            LABEL_FIELD,
            {.name = NULL},
        },
    .check = make_time};

static const struct lab_table count_table = {
    .fields =
        (const struct lab_field[]){
            {"rows", lab_read_whole, DRAFT(rows), LAB_REQUIRED, 1, WHOLE_MAX, "a whole number of at least 1",
             NULL},
            {"counter", lab_read_choice, DRAFT(source), LAB_OPTIONAL, 0, 0,
             "external, counter, lwt, lease, incremental, scan or memory", sources},
            {"batch", lab_read_whole, DRAFT(lease_rows), LAB_OPTIONAL, 1, 1e9,
             "a whole number from 1 to 1000000000", NULL},
            {"every_rows", lab_read_whole, DRAFT(every_rows), LAB_OPTIONAL, 1, 1e9,
             "a whole number from 1 to 1000000000", NULL},
            {"every_time", lab_read_duration, DRAFT(every_ns), LAB_OPTIONAL, 1, SPAN_MAX, ABOVE_RANGE, NULL},
            {"then", lab_read_then, DRAFT(changes), LAB_OPTIONAL, 0, 0, NULL, &lab_then_count_table},
            READ_FIELD,
            LABEL_FIELD,
            MAX_AGE_FIELD,
            {.name = NULL},
        },
    .check = make_count};

static const struct lab_table lock_table = {
    .fields = (const struct lab_field[]){
        {"lasts", lab_read_duration, DRAFT(lock_lasts_ns), LAB_OPTIONAL, 1, SPAN_MAX, ABOVE_RANGE, NULL},
        {"backoff", lab_read_duration, DRAFT(lock_backoff_ns), LAB_OPTIONAL, 1, SPAN_MAX, ABOVE_RANGE, NULL},
        {.name = NULL},
    }};

static const struct lab_table probabilistic_table = {
    .fields =
        (const struct lab_field[]){
            {"bits", lab_read_whole, DRAFT(bits), LAB_OPTIONAL, 0, BK_BITS_MAX, "a whole number from 0 to 32",
             NULL},
            {"chance", read_chance, 0, LAB_OPTIONAL, 0, 0, NULL, NULL},
            THRESHOLD_FIELD,
            COORDINATION_FIELDS,
            {"then", lab_read_then, DRAFT(changes), LAB_OPTIONAL, 0, 0, NULL, &lab_then_probabilistic_table},
            READ_FIELD,
            LABEL_FIELD,
            MAX_AGE_FIELD,
            {.name = NULL},
        },
    .check = make_probabilistic};

static const struct lab_table weighted_table = {
    .fields =
        (const struct lab_field[]){
            {"bytes", lab_read_bytes, DRAFT(bytes), LAB_REQUIRED, 1, UNIT_MAX, "a size from 1B to 1TiB",
             NULL},
            THRESHOLD_FIELD,
            COORDINATION_FIELDS,
            {"then", lab_read_then, DRAFT(changes), LAB_OPTIONAL, 0, 0, NULL, &lab_then_weighted_table},
            READ_FIELD,
            LABEL_FIELD,
            MAX_AGE_FIELD,
            {.name = NULL},
        },
    .check = make_weighted};

static const struct lab_table hash_table = {
    .fields =
        (const struct lab_field[]){
            {"buckets", lab_read_whole, DRAFT(buckets), LAB_REQUIRED, 1, BK_BUCKETS_MAX,
             "a whole number from 1 to 2147483647", NULL},
            {"then", lab_read_then, DRAFT(changes), LAB_OPTIONAL, 0, 0, NULL, &lab_then_hash_table},
            READ_FIELD,
            LABEL_FIELD,
            {.name = NULL},
        },
    .check = make_hash};

const struct lab_table lab_strategy_table = {
    .fields = (const struct lab_field[]){
        {"none", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &none_table},
        {"time", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &time_table},
        {"count", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &count_table},
        {"probabilistic", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &probabilistic_table},
        {"hash", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &hash_table},
        {"weighted", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &weighted_table},
        {"idgen", lab_read_mapping, DRAFT(idgen), LAB_OPTIONAL, 0, 0, NULL, &lab_idgen_table},
        {"observed", lab_read_mapping, DRAFT(observed), LAB_OPTIONAL, 0, 0, NULL, &lab_observed_table},
        LABEL_FIELD,
        {.name = NULL},
    }};

bool lab_read_strategies(struct lab_reader *reader, const struct lab_field *field,
                         const struct lab_node *node, void *out)
{
    struct lab_scenario *scenario = out;
    (void)field;
    if (node->kind != LAB_NODE_LIST)
        return lab_fail_at(&reader->tree, &node->place,
                           "'strategies' takes a list; begin each with a dash, as in '- none: {}'");
    if (node->count == 0)
        return lab_fail_at(&reader->tree, &node->place, "no strategy to try; add one, as in '- none: {}'");
    if (node->count > LAB_STRATEGIES_MAX)
        return lab_fail_at(&reader->tree, &node->place, "%zu strategies; give at most %d", node->count,
                           LAB_STRATEGIES_MAX);
    scenario->strategies = calloc(node->count, sizeof *scenario->strategies);
    scenario->observed = calloc(node->count, sizeof *scenario->observed);
    if (scenario->strategies == NULL || scenario->observed == NULL)
        return sim_fail_memory(reader->tree.error);
    for (const struct lab_node *item = node->first; item != NULL; item = item->next) {
        struct draft draft = {0};
        struct lab_reading reading;
        if (!read_one(reader, item, &draft, &reading) || !check_label(reader, node, item, draft.label)) {
            free(draft.label);
            free(draft.idgen.label);
            free(draft.observed.label);
            free(draft.observed.file);
            free(draft.observed.table);
            return false;
        }
        if (draft.observed.is_present)
            take_observed(scenario, item, &draft);
        else
            take_strategy(scenario, item, &draft, &reading);
    }
    return true;
}

static void take_strategy(struct lab_scenario *scenario, const struct lab_node *item, struct draft *draft,
                          const struct lab_reading *reading)
{
    scenario->strategies[scenario->strategy_count] = (struct lab_strategy){
        .label = draft->label,
        .settings.strategy = draft->strategy,
        .settings.coordination = (enum bk_coordination)draft->coordination,
        .settings.counter = (enum bk_counter)draft->counter_kind,
        .settings.source = (enum bk_source)draft->source,
        .settings.lease_rows = draft->lease_rows,
        .settings.every_rows = draft->every_rows,
        .settings.every_ns = draft->every_ns,
        .settings.lead_ns = draft->lead_ns,
        .settings.lock_lasts_ns = draft->lock_lasts_ns,
        .settings.lock_backoff_ns = draft->lock_backoff_ns,
        .settings.grant_ns = draft->grant_ns,
        .settings.change_count = draft->changes.count,
        .settings.is_idgen = draft->idgen.is_present,
        .settings.idgen = draft->idgen.config,
        .settings.reading = *reading,
        .line = item->place.argument == NULL ? item->place.line : 0,
        .column = item->place.argument == NULL ? item->place.column : 0,
    };
    memcpy(scenario->strategies[scenario->strategy_count].settings.changes, draft->changes.items,
           sizeof draft->changes.items);
    scenario->strategy_count++;
}

static void take_observed(struct lab_scenario *scenario, const struct lab_node *item, struct draft *draft)
{
    scenario->observed[scenario->observed_count++] = (struct lab_observed){
        .label = draft->label,
        .path = draft->observed.file,
        .format = (enum wl_observed_format)draft->observed.format,
        .table = draft->observed.table,
        .line = item->place.argument == NULL ? item->place.line : 0,
        .column = item->place.argument == NULL ? item->place.column : 0,
    };
}

static bool read_one(struct lab_reader *reader, const struct lab_node *item, struct draft *draft,
                     struct lab_reading *reading)
{
    if (item->kind != LAB_NODE_MAPPING)
        return lab_fail_at(&reader->tree, &item->place,
                           "a strategy is its kind and settings; write it as 'hash: {buckets: 256}'");
    if (!lab_table_read(reader, &lab_strategy_table, item, draft))
        return false;
    const struct lab_node *kind =
        lab_only_field(reader, item, "label", "an element of 'strategies'",
                       "none, time, count, probabilistic, weighted, hash, idgen or observed");
    if (kind == NULL || !take_max_age(reader, kind, draft) ||
        !lab_reading_make(reader, kind, draft->strategy.kind, &draft->reading, reading))
        return false;
    if (!take_label(reader, item, &draft->idgen.label, draft) ||
        !take_label(reader, item, &draft->observed.label, draft))
        return false;
    if (draft->label == NULL) {
        size_t size = strlen(kind->name) + 1;
        draft->label = malloc(size);
        if (draft->label == NULL)
            return sim_fail_memory(reader->tree.error);
        memcpy(draft->label, kind->name, size);
    }
    return true;
}

/* Of a kind whose settings go to a draft of their own. */
static bool take_label(struct lab_reader *reader, const struct lab_node *item, char **label,
                       struct draft *draft)
{
    if (*label == NULL)
        return true;
    if (draft->label != NULL)
        return lab_fail_at(&reader->tree, &lab_node_find(item, "label")->name_place,
                           "a second 'label' for one strategy; remove one of them");
    draft->label = *label;
    *label = NULL;
    return true;
}

static bool take_max_age(struct lab_reader *reader, const struct lab_node *kind, struct draft *draft)
{
    if (draft->max_age_ns == 0)
        return true;
    if (lab_node_find(kind, "then") != NULL)
        return fail_both(reader, lab_node_find(kind, "then"), "stands beside 'max_age'");
    if (draft->source != BK_SOURCE_EXTERNAL)
        return lab_fail_value(reader, lab_node_find(kind, "max_age"),
                              "of all ways to count, external alone has one; remove this, or 'counter'");
    return check_made(reader, kind, bk_strategy_max_age(draft->max_age_ns, &draft->strategy));
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

/* It may stand beside the kind or among its settings. */
static bool read_label(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                       void *out)
{
    if (*(char **)out != NULL)
        return lab_fail_at(&reader->tree, &node->name_place,
                           "a second 'label' for one strategy; remove one of them");
    return lab_read_text(reader, field, node, out);
}

/* m/n, two whole numbers. */
static bool read_chance(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                        void *out)
{
    struct draft *draft = out;
    char numerator[CHANCE_SIZE];
    (void)field;
    const char *text = lab_scalar(reader, node);
    if (text == NULL)
        return false;
    const char *slash = strchr(text, '/');
    size_t size = slash == NULL ? 0 : (size_t)(slash - text);
    if (slash == NULL || size >= sizeof numerator)
        return lab_fail_value(reader, node, "not a chance; write two whole numbers, as in 1/300");
    memcpy(numerator, text, size);
    numerator[size] = '\0';
    const char *problem = lab_quantity_whole(numerator, &draft->chance_numerator);
    if (problem == NULL)
        problem = lab_quantity_whole(slash + 1, &draft->chance_denominator);
    if (problem != NULL)
        return lab_fail_value(reader, node, "not a chance; write two whole numbers, as in 1/300");
    if (draft->chance_numerator == 0 || draft->chance_numerator > draft->chance_denominator)
        return lab_fail_value(reader, node, "out of range; give m/n with m from 1 to n, as in 1/300");
    return true;
}

static bool make_none(struct lab_reader *reader, const struct lab_node *node, void *target)
{
    struct draft *draft = target;
    return check_made(reader, node, bk_strategy_none(&draft->strategy));
}

static bool make_time(struct lab_reader *reader, const struct lab_node *node, void *target)
{
    struct draft *draft = target;
    const struct lab_node *window = lab_node_find(node, "window"), *epoch = lab_node_find(node, "epoch"),
                          *calendar = lab_node_find(node, "calendar");
    if (window == NULL && calendar == NULL)
        return lab_fail_at(&reader->tree, &node->place,
                           "neither 'window' nor 'calendar' under 'time'; add one, as in window: 10d");
    if (window != NULL && calendar != NULL)
        return fail_both(reader, calendar, "stands beside 'window'");
    if (epoch != NULL && calendar != NULL)
        return fail_both(reader, epoch, "stands beside 'calendar', whose units begin by themselves");
    if (calendar != NULL)
        return check_made(reader, node,
                          bk_strategy_calendar((enum bk_calendar)draft->calendar, &draft->strategy));
    return check_made(reader, node, bk_strategy_time(draft->window_ns, draft->epoch_ns, &draft->strategy));
}

static bool make_count(struct lab_reader *reader, const struct lab_node *node, void *target)
{
    struct draft *draft = target;
    return check_source(reader, node, draft) &&
           check_made(reader, node, bk_strategy_count(draft->rows, &draft->strategy));
}

/* How often a count is made belongs to those that count, the size of a lease to those that lease. */
static bool check_source(struct lab_reader *reader, const struct lab_node *node, struct draft *draft)
{
    const struct lab_node *batch = lab_node_find(node, "batch");
    const struct lab_node *every_rows = lab_node_find(node, "every_rows");
    const struct lab_node *every_time = lab_node_find(node, "every_time");
    bool is_lease = draft->source == BK_SOURCE_LEASE, is_scan = draft->source == BK_SOURCE_SCAN;
    bool counts = is_scan || draft->source == BK_SOURCE_INCREMENTAL;
    if (batch != NULL && !is_lease)
        return fail_name(reader, batch, "is of counter: lease alone; add that, or remove this");
    if (!counts && (every_rows != NULL || every_time != NULL))
        return fail_name(reader, every_rows != NULL ? every_rows : every_time,
                         "is of counter: incremental and scan alone; add one, or remove this");
    if (counts && !is_scan && every_rows == NULL && every_time == NULL)
        return lab_fail_at(
            &reader->tree, &node->place,
            "neither 'every_rows' nor 'every_time' under 'count', and incremental needs one; "
            "add how often the new rows are counted, as in every_rows: 1000 or every_time: 10s");
    if (is_scan && every_rows == NULL && every_time == NULL)
        draft->every_rows = 1;
    if (is_lease && batch == NULL)
        draft->lease_rows = LEASE_DEFAULT;
    return true;
}

static bool make_probabilistic(struct lab_reader *reader, const struct lab_node *node, void *target)
{
    struct draft *draft = target;
    const struct lab_node *bits = lab_node_find(node, "bits"), *chance = lab_node_find(node, "chance");
    if (bits == NULL && chance == NULL)
        return lab_fail_at(
            &reader->tree, &node->place,
            "neither 'bits' nor 'chance' under 'probabilistic'; add one, as in bits: 9 or chance: 1/300");
    if (bits != NULL && chance != NULL)
        return fail_both(reader, chance, "stands beside 'bits'");
    if (!check_coordination(reader, node, draft))
        return false;
    if (chance != NULL)
        return check_made(reader, node,
                          bk_strategy_probabilistic_chance(draft->chance_numerator, draft->chance_denominator,
                                                           draft->threshold, &draft->strategy));
    return check_made(reader, node,
                      bk_strategy_probabilistic((uint32_t)draft->bits, draft->threshold, &draft->strategy));
}

static bool check_coordination(struct lab_reader *reader, const struct lab_node *node, struct draft *draft)
{
    const struct lab_node *lead = lab_node_find(node, "lead"), *lock = lab_node_find(node, "lock");
    if (draft->coordination == BK_THREE_STATE && lead == NULL)
        return lab_fail_at(&reader->tree, &node->place,
                           "'lead' is missing under '%s', and three-state needs it; add how long "
                           "before a change every agent is to know of it, as in lead: 10s",
                           node->name);
    if (draft->coordination != BK_THREE_STATE && lead != NULL)
        return fail_name(reader, lead, "is of coordination: three-state alone; add that, or remove this");
    if (draft->coordination != BK_LOCKED && lock != NULL)
        return fail_name(reader, lock, "is of coordination: locked alone; add that, or remove this");
    if (draft->coordination == BK_LOCKED && lab_node_find(lock, "lasts") == NULL)
        draft->lock_lasts_ns = LOCK_LASTS_DEFAULT;
    if (draft->coordination == BK_LOCKED && lab_node_find(lock, "backoff") == NULL)
        draft->lock_backoff_ns = LOCK_BACKOFF_DEFAULT;
    return check_guarded(reader, node, draft);
}

static bool check_guarded(struct lab_reader *reader, const struct lab_node *node, struct draft *draft)
{
    const struct lab_node *grant = lab_node_find(node, "grant"), *counter = lab_node_find(node, "counter");
    if (draft->coordination != BK_GUARDED)
        return grant == NULL ||
               fail_name(reader, grant, "is of coordination: guarded alone; add that, or remove this");
    if (counter != NULL && draft->counter_kind != BK_COUNTER_COLUMN)
        return lab_fail_value(
            reader, counter,
            "guarded counts each bucket in a counter of its own; write counter: counter, or "
            "remove this");
    draft->counter_kind = BK_COUNTER_COLUMN;
    if (grant == NULL)
        draft->grant_ns = GRANT_DEFAULT;
    return true;
}

static bool make_weighted(struct lab_reader *reader, const struct lab_node *node, void *target)
{
    struct draft *draft = target;
    return check_coordination(reader, node, draft) &&
           check_made(reader, node, bk_strategy_weighted(draft->bytes, draft->threshold, &draft->strategy));
}

static bool make_hash(struct lab_reader *reader, const struct lab_node *node, void *target)
{
    struct draft *draft = target;
    return check_made(reader, node, bk_strategy_hash((uint32_t)draft->buckets, &draft->strategy));
}

/* The tables' ranges are the core's own; should they ever part, the core has the last word. */
static bool check_made(struct lab_reader *reader, const struct lab_node *node, enum bk_status status)
{
    if (status == BK_OK)
        return true;
    return lab_fail_at(&reader->tree, &node->place, "'%s': %s; change it", node->name,
                       bk_status_text(status));
}

static bool fail_both(struct lab_reader *reader, const struct lab_node *second, const char *text)
{
    return lab_fail_at(&reader->tree, &second->name_place, "'%s' %s; remove one of them", second->name, text);
}

static bool fail_name(struct lab_reader *reader, const struct lab_node *node, const char *text)
{
    return lab_fail_at(&reader->tree, &node->name_place, "'%s' %s", node->name, text);
}
