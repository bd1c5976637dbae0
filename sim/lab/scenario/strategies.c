/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads `strategies`. Each element of the list is one kind with its settings, which are read by the table of
 * settings (setting_table.c), and optionally a label and other settings from a date on. In: the list. Kept:
 * nothing. Out: the strategies and the observed sizes of the scenario, completed by defaults, as the core
 * accepts them. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/text.h"
#include "kernel/time.h"
#include "lab/fields.h"
#include "lab/quantity.h"
#include "lab/scenario.h"

#define CHANCE_SIZE  48
#define LISTING_SIZE 160

#define SPAN_MAX     (365.0 * (double)SIM_DAY)
#define BASE_DEFAULT (5 * SIM_MS)

/* A label may be next to the kind or among its settings. */
static bool read_label(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                       void *out)
{
    if (*(char **)out != NULL)
        return lab_fail_at(&reader->tree, &node->name_place,
                           "a second 'label' for one strategy; remove one of them");
    return lab_read_text(reader, field, node, out);
}

/* Reads m/n, two whole numbers, into two consecutive members. */
static bool read_chance(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                        void *out)
{
    uint64_t *chance = out;
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
    const char *problem = lab_quantity_whole(numerator, &chance[0]);
    if (problem == NULL)
        problem = lab_quantity_whole(slash + 1, &chance[1]);
    if (problem != NULL)
        return lab_fail_value(reader, node, "not a chance; write two whole numbers, as in 1/300");
    if (chance[0] == 0 || chance[0] > chance[1])
        return lab_fail_value(reader, node, "out of range; give m/n with m from 1 to n, as in 1/300");
    return true;
}

/* Fails with, for example, "'lead' applies only to coordination: three-state; add that, or remove 'lead'". */
static bool fail_needs(struct lab_reader *reader, const struct lab_node *node, enum bk_kind kind,
                       const struct lab_setting_rule *rule)
{
    const struct lab_setting *other = lab_setting_find(kind, rule->other);
    char names[LISTING_SIZE] = "";
    size_t count = 0, used = 0;
    for (const struct lab_choice *word = other->words; word->name != NULL; word++) {
        if ((rule->values >> word->value & 1) != 0)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", count++ == 0 ? "" : " and ",
                                     word->name);
    }
    const char *point = strchr(other->path, '.');
    return lab_fail_at(
        &reader->tree, &node->name_place, "'%s' applies only to %s: %s; add %s, or remove '%s'", node->name,
        point == NULL ? other->path : point + 1, names, count == 1 ? "that" : "one", node->name);
}

static bool complete_settings(struct lab_reader *reader, const struct lab_node *node,
                              struct lab_settings *settings)
{
    enum bk_kind kind = lab_settings_kind(settings);
    for (size_t i = 0; i < lab_setting_count; i++) {
        const struct lab_setting *setting = &lab_setting_table[i];
        if (setting->path == NULL || (setting->kinds >> kind & 1) == 0)
            continue;
        const struct lab_node *given = lab_node_at(node, setting->path);
        if (given == NULL)
            lab_setting_put_standard(setting, settings);
        else if (!lab_setting_rule_holds(&setting->needs, settings, 0))
            return fail_needs(reader, given, kind, &setting->needs);
    }
    return true;
}

/* Whether one of two fields is given, and not both. Of both, the one that --set gave is reported. */
static bool check_either(struct lab_reader *reader, const struct lab_node *node, const char *one,
                         const char *other, const char *example)
{
    const struct lab_node *first = lab_node_find(node, one), *second = lab_node_find(node, other);
    if (first == NULL && second == NULL)
        return lab_fail_at(&reader->tree, &node->place, "neither '%s' nor '%s' under '%s'; add one, as in %s",
                           one, other, node->name, example);
    if (first == NULL || second == NULL)
        return true;
    const struct lab_node *wrong = first->name_place.line == 0 ? first : second;
    return lab_fail_at(&reader->tree, &wrong->name_place, "'%s' conflicts with '%s'; remove one of them",
                       wrong->name, wrong == first ? other : one);
}

/* The members that were not given are 0, as the core's constructors make them. */
static bool check_strategy(struct lab_reader *reader, const struct lab_node *node,
                           const struct bk_strategy *strategy)
{
    if (strategy->kind == BK_KIND_TIME &&
        (!check_either(reader, node, "window", "calendar", "window: 10d") ||
         (lab_node_find(node, "epoch") != NULL && !check_either(reader, node, "calendar", "epoch", ""))))
        return false;
    if (strategy->kind == BK_KIND_PROBABILISTIC &&
        !check_either(reader, node, "bits", "chance", "bits: 9 or chance: 1/300"))
        return false;
    enum bk_status status = bk_strategy_check(strategy);
    return status == BK_OK || lab_fail_at(&reader->tree, &node->place, "'%s': %s; change it", node->name,
                                          bk_status_text(status));
}

/* The check of an element of `then`, whose kind is set. */
static bool check_change(struct lab_reader *reader, const struct lab_node *node, void *target)
{
    struct lab_change *change = target;
    return check_strategy(reader, node, &change->strategy);
}

static const struct lab_table *change_table(uint32_t kinds)
{
#define OF_CHANGE(kind) [kind] = {.kinds = 1u << (kind), .scope = LAB_OF_CHANGE, .check = check_change }
    static const struct lab_table tables[BK_KINDS] = {OF_CHANGE(BK_KIND_TIME), OF_CHANGE(BK_KIND_COUNT),
                                                      OF_CHANGE(BK_KIND_PROBABILISTIC),
                                                      OF_CHANGE(BK_KIND_HASH), OF_CHANGE(BK_KIND_WEIGHTED)};
    for (size_t kind = 0; kind < BK_KINDS; kind++) {
        if (kinds == 1u << kind)
            return &tables[kind];
    }
    return NULL;
}

bool lab_read_then(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                   void *target)
{
    struct lab_settings *settings = target;
    const struct lab_table *table = field->detail;
    int kind = 0;
    while (table->kinds != 1u << kind)
        kind++;
    if (!lab_check_list(reader, node, 1, LAB_CHANGES_MAX, "then: [{at: 30d, ...}]"))
        return false;
    settings->change_count = 0;
    for (const struct lab_node *item = node->first; item != NULL; item = item->next) {
        struct lab_change *change = &settings->changes[settings->change_count++];
        *change = (struct lab_change){.keeps_old = true, .strategy = {.kind = (enum bk_kind)kind}};
        if (!lab_table_read(reader, table, item, change))
            return false;
    }
    return true;
}

static bool check_backoff(struct lab_reader *reader, const struct lab_node *node, void *target)
{
    struct bk_idgen_config *config = &((struct lab_strategy *)target)->settings.idgen;
    const struct lab_node *cap = lab_node_find(node, "cap"), *limit = lab_node_find(node, "limit");
    int given = 0;
    for (const struct lab_choice *word = lab_setting_find(LAB_KIND_IDGEN, "backoff.random")->words;
         word->name != NULL; word++) {
        if (lab_node_find(node, word->name) == NULL)
            continue;
        config->backoff = (enum bk_idgen_backoff)word->value;
        given++;
    }
    if (given != 1)
        return lab_fail_at(&reader->tree, &node->place,
                           "'backoff' takes exactly one of constant, exponential or random; write it as "
                           "{random: 5ms}");
    if (cap != NULL && config->backoff != BK_IDGEN_EXPONENTIAL)
        return lab_fail_at(&reader->tree, &cap->name_place, "'cap' applies only to exponential; remove it");
    if (cap != NULL && config->backoff_cap_ns < config->backoff_base_ns)
        return lab_fail_value(reader, cap, "less than the first wait; raise it");
    return limit == NULL || config->backoff_limit_ns >= config->backoff_base_ns ||
           lab_fail_value(
               reader, limit,
               "less than the first wait may be, so a lease might have only one attempt; raise it");
}

static const struct lab_table lock_table = {
    .kinds = 1u << BK_KIND_PROBABILISTIC, .group = "lock", .scope = LAB_OF_STRATEGY};
static const struct lab_table reading_table = {
    .kinds = 1u << BK_KIND_TIME, .group = "read", .scope = LAB_OF_STRATEGY};
static const struct lab_table backoff_table = {
    .kinds = 1u << LAB_KIND_IDGEN, .group = "backoff", .scope = LAB_OF_STRATEGY, .check = check_backoff};
static const struct lab_table *const group_tables[] = {&lock_table, &reading_table, &backoff_table};

static const struct lab_table *find_group(const char *path)
{
    size_t i = 0;
    while (strcmp(group_tables[i]->group, path) != 0) {
        i++;
        assert(i < sizeof group_tables / sizeof *group_tables);
    }
    return group_tables[i];
}

/* Sets the reader of a field by the setting's type, and its offset if it differs from the setting's. */
static void set_reader(const struct lab_setting *setting, uint32_t kinds, struct lab_field *out)
{
    static lab_field_reader *const readers[] = {[LAB_SETTING_U32] = lab_read_whole32,
                                                [LAB_SETTING_U64] = lab_read_whole,
                                                [LAB_SETTING_DURATION] = lab_read_duration,
                                                [LAB_SETTING_TIME] = lab_read_time,
                                                [LAB_SETTING_BYTES] = lab_read_bytes,
                                                [LAB_SETTING_CHOICE] = lab_read_choice,
                                                [LAB_SETTING_FLAG] = lab_read_flag,
                                                [LAB_SETTING_TEXT] = lab_read_text,
                                                [LAB_SETTING_CHANCE] = read_chance,
                                                [LAB_SETTING_WAIT] = lab_read_duration,
                                                [LAB_SETTING_GROUP] = lab_read_mapping,
                                                [LAB_SETTING_CHANGES] = lab_read_then,
                                                [LAB_SETTING_LABEL] = read_label};
    out->read = readers[setting->type];
    out->detail = setting->words;
    if (setting->type == LAB_SETTING_GROUP) {
        out->offset = 0;
        out->detail = find_group(setting->path);
    }
    if (setting->type == LAB_SETTING_CHANGES) {
        out->offset = offsetof(struct lab_strategy, settings);
        out->detail = change_table(kinds);
    }
    if (setting->type == LAB_SETTING_LABEL)
        out->offset = offsetof(struct lab_strategy, label);
}

const struct lab_field *lab_table_fields(const struct lab_table *table, struct lab_field *made)
{
    if (table->fields != NULL)
        return table->fields;
    bool is_change = table->scope == LAB_OF_CHANGE;
    size_t count = 0, length = table->group == NULL ? 0 : strlen(table->group);
    for (size_t i = 0; i < lab_setting_count; i++) {
        const struct lab_setting *setting = &lab_setting_table[i];
        uint32_t scopes = setting->scopes == 0 ? LAB_OF_STRATEGY : setting->scopes;
        const char *path = setting->path, *point = path == NULL ? NULL : strchr(path, '.');
        bool is_in_group = path != NULL &&
                           (length == 0 ? point == NULL
                                        : point == path + length && strncmp(path, table->group, length) == 0);
        if (!is_in_group || (setting->kinds & table->kinds) == 0 || (scopes & table->scope) == 0)
            continue;
        size_t place = setting->place + offsetof(struct lab_strategy, settings);
        if (is_change)
            place = setting->scopes == LAB_OF_CHANGE
                        ? setting->place - offsetof(struct lab_settings, changes)
                        : setting->place - offsetof(struct lab_settings, strategy) +
                              offsetof(struct lab_change, strategy);
        assert(count + 1 < LAB_FIELDS_MAX);
        made[count] = (struct lab_field){.name = length == 0 ? path : point + 1,
                                         .offset = place,
                                         .is_required = (setting->required & table->scope) != 0,
                                         .least = setting->least,
                                         .most = setting->most,
                                         .range = setting->range};
        if (is_change && setting->change_most > 0)
            made[count].most = setting->change_most;
        set_reader(setting, table->kinds, &made[count++]);
    }
    made[count] = (struct lab_field){.name = NULL};
    return made;
}

const struct lab_node *lab_placing(const struct lab_node *item)
{
    while (item != NULL && lab_node_find(item, "observed") != NULL)
        item = item->next;
    return item;
}

bool lab_regimes_make(const struct lab_strategy *strategy, int64_t start_ns, struct lab_regimes *out)
{
    *out = (struct lab_regimes){.count = 1};
    struct lab_regime *regime = &out->items[0];
    regime->from_ns = INT64_MIN;
    enum bk_status status = bk_history_begin(&strategy->settings.strategy, &regime->history);
    for (uint32_t i = 0; status == BK_OK && i < strategy->settings.change_count; i++) {
        const struct lab_change *change = &strategy->settings.changes[i];
        if (start_ns > INT64_MAX - change->at_ns)
            return false;
        int64_t from_ns = start_ns + change->at_ns;
        if (change->keeps_old) {
            status = bk_history_change(&regime->history, from_ns, &change->strategy);
            continue;
        }
        regime = &out->items[out->count++];
        regime->from_ns = from_ns;
        status = bk_history_begin(&change->strategy, &regime->history);
    }
    return status == BK_OK;
}

uint32_t lab_regime_at(const struct lab_regimes *regimes, int64_t time_ns)
{
    uint32_t regime = regimes->count - 1;
    while (regime > 0 && time_ns < regimes->items[regime].from_ns)
        regime--;
    return regime;
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
                       lab_setting_name(BK_KIND_COUNT, "counter", (int)source));
}

bool lab_then_complete(struct lab_reader *reader, const struct lab_node *settings,
                       const struct lab_strategy *strategy)
{
    const struct lab_scenario *scenario = reader->scenario;
    bool is_cluster = scenario->engine == LAB_ENGINE_CLUSTER;
    const struct lab_node *list = lab_node_find(settings, "then");
    if (strategy->settings.change_count == 0)
        return true;
    if (strategy->settings.strategy.kind == BK_KIND_COUNT &&
        !check_count(reader, list, strategy->settings.source, is_cluster))
        return false;
    if (strategy->settings.strategy.kind == BK_KIND_HASH &&
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

static bool check_stripe(struct lab_reader *reader, const struct lab_node *node,
                         struct bk_idgen_config *config)
{
    const struct lab_node *stripe = lab_node_find(node, "stripe"), *choice = lab_node_find(node, "choice");
    if (choice == NULL)
        config->choice = stripe != NULL ? BK_IDGEN_FIXED : BK_IDGEN_RANDOM;
    if (stripe != NULL && config->choice == BK_IDGEN_RANDOM)
        return lab_fail_at(
            &reader->tree, &stripe->name_place,
            "'stripe' has no effect when stripes are drawn at random; remove it, or write choice: fixed");
    if (stripe == NULL && choice != NULL && config->choice == BK_IDGEN_FIXED)
        return lab_fail_value(reader, choice,
                              "it needs the number of the stripe; add 'stripe', as in stripe: 1");
    return true;
}

static bool check_idgen(struct lab_reader *reader, const struct lab_node *node, void *target)
{
    struct lab_settings *settings = &((struct lab_strategy *)target)->settings;
    struct bk_idgen_config *config = &settings->idgen;
    settings->is_idgen = true;
    config->client_id = 1;
    if (!complete_settings(reader, node, settings) || !check_stripe(reader, node, config))
        return false;
    if (lab_node_find(node, "lease") == NULL)
        config->lease_ns = config->lock_lasts_ns / 2;
    if (config->backoff_base_ns == 0) {
        config->backoff = BK_IDGEN_RANDOM_TIMES;
        config->backoff_base_ns = BASE_DEFAULT;
    }
    enum bk_status status = bk_idgen_check(config);
    return status == BK_OK || lab_fail_at(&reader->tree, &node->place, "'%s': %s; change it", node->name,
                                          bk_status_text(status));
}

static bool check_observed(struct lab_reader *reader, const struct lab_node *node, void *target)
{
    const char *table = ((struct lab_strategy *)target)->settings.observed_table;
    if (table == NULL)
        return true;
    const char *point = strchr(table, '.');
    bool is_name = point != NULL && point != table && point[1] != '\0' && strpbrk(table, " \t/\"'") == NULL;
    return is_name || lab_fail_value(reader, lab_node_find(node, "table"),
                                     "not KEYSPACE.TABLE; write it as chat.messages");
}

static bool check_guarded(struct lab_reader *reader, const struct lab_node *node,
                          struct lab_settings *settings)
{
    const struct lab_node *counter = lab_node_find(node, "counter");
    if (settings->coordination != BK_GUARDED)
        return true;
    if (counter != NULL && settings->counter != BK_COUNTER_NATIVE)
        return lab_fail_value(reader, counter,
                              "guarded counts each bucket in its own counter; write counter: counter, or "
                              "remove this");
    settings->counter = BK_COUNTER_NATIVE;
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
    return settings->strategy.kind != BK_KIND_COUNT || reader->is_kept ||
           lab_node_find(node, "counter") != NULL ||
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

/* The greatest age and the shards apply to all eras. */
static bool check_max_age(struct lab_reader *reader, const struct lab_node *node,
                          struct lab_settings *settings)
{
    const struct bk_strategy *strategy = &settings->strategy;
    for (uint32_t i = 0; i < settings->change_count; i++)
        settings->changes[i].strategy.shards = strategy->shards;
    if (strategy->max_age_ns == 0)
        return true;
    if (strategy->kind == BK_KIND_COUNT && lab_node_find(node, "then") != NULL)
        return lab_fail_at(&reader->tree, &lab_node_find(node, "then")->name_place,
                           "'then' conflicts with 'max_age': a key's state has room for only one position "
                           "where the count began; remove one of them");
    for (uint32_t i = 0; i < settings->change_count; i++)
        settings->changes[i].strategy.max_age_ns = strategy->max_age_ns;
    return settings->source == BK_SOURCE_EXTERNAL ||
           lab_fail_value(reader, lab_node_find(node, "max_age"),
                          "of 'count', only 'counter: external' without 'agents' takes it; use that, "
                          "'probabilistic' or 'time'");
}

/* A strategy must be readable with the settings of its `read`. */
static bool check_reading(struct lab_reader *reader, const struct lab_node *strategy,
                          const struct lab_settings *settings)
{
    const struct lab_node *read = lab_node_find(strategy, "read");
    const struct lab_node *plan = lab_node_find(read, "plan");
    const struct lab_node *remembers = lab_node_find(read, "remember_empty");
    enum bk_plan asked = settings->reading.plan;
    bool is_hash = settings->strategy.kind == BK_KIND_HASH;
    if (read != NULL && lab_node_find(strategy, "then") != NULL)
        return lab_fail_at(&reader->tree, &read->name_place,
                           "'read' conflicts with 'then', whose eras are read by their own plans; remove one "
                           "of them");
    if (is_hash && (asked == BK_PLAN_WALK || asked == BK_PLAN_PAIR))
        return lab_fail_value(reader, plan,
                              "any bucket of hash may hold the newest row; use all, lazy or parallel");
    if (!is_hash && (asked == BK_PLAN_ALL || asked == BK_PLAN_LAZY))
        return lab_fail_value(reader, plan, "only hash can be read this way; use walk, pair or parallel");
    return remembers == NULL || settings->strategy.kind == BK_KIND_TIME ||
           lab_fail_at(&reader->tree, &remembers->name_place,
                       "'remember_empty' applies only to time, whose windows close by themselves; remove it");
}

/* The check of the settings of one of the core's kinds. */
static bool check_settings(struct lab_reader *reader, const struct lab_node *node, void *target)
{
    struct lab_settings *settings = &((struct lab_strategy *)target)->settings;
    int kind = 0;
    while (strcmp(bk_kind_name((enum bk_kind)kind), node->name) != 0)
        kind++;
    settings->strategy.kind = (enum bk_kind)kind;
    return complete_settings(reader, node, settings) && is_named(reader, node, settings) &&
           check_source(reader, node, settings) && check_lead(reader, node, settings) &&
           check_guarded(reader, node, settings) && check_strategy(reader, node, &settings->strategy) &&
           check_max_age(reader, node, settings) && check_reading(reader, node, settings);
}

/* The table of one kind, whose settings fill a struct lab_strategy. */
#define OF(kind)                                                                                             \
    {                                                                                                        \
        .kinds = 1u << (kind), .scope = LAB_OF_STRATEGY, .check = check_settings,                            \
        .may_be_empty = (kind) == BK_KIND_UNBUCKETED                                                         \
    }
static const struct lab_table unbucketed_table = OF(BK_KIND_UNBUCKETED), time_table = OF(BK_KIND_TIME),
                              count_table = OF(BK_KIND_COUNT),
                              probabilistic_table = OF(BK_KIND_PROBABILISTIC), hash_table = OF(BK_KIND_HASH),
                              weighted_table = OF(BK_KIND_WEIGHTED);
static const struct lab_table idgen_table = {
    .kinds = 1u << LAB_KIND_IDGEN, .scope = LAB_OF_STRATEGY, .check = check_idgen, .may_be_empty = true};
static const struct lab_table observed_table = {
    .kinds = 1u << LAB_KIND_OBSERVED, .scope = LAB_OF_STRATEGY, .check = check_observed};

const struct lab_table lab_strategy_table = {LAB_FIELDS(
    {"unbucketed", lab_read_mapping, .detail = &unbucketed_table},
    {"time", lab_read_mapping, .detail = &time_table}, {"count", lab_read_mapping, .detail = &count_table},
    {"probabilistic", lab_read_mapping, .detail = &probabilistic_table},
    {"hash", lab_read_mapping, .detail = &hash_table},
    {"weighted", lab_read_mapping, .detail = &weighted_table},
    {"idgen", lab_read_mapping, .detail = &idgen_table},
    {"observed", lab_read_mapping, .detail = &observed_table},
    {"label", read_label, LAB_AT(struct lab_strategy, label), LAB_FROM(0, LAB_LABEL_SIZE_MAX)})};

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

static bool check_label(struct lab_reader *reader, const struct lab_node *item, const char *label)
{
    const struct lab_scenario *scenario = reader->scenario;
    bool is_taken = false;
    for (size_t i = 0; i < scenario->strategy_count; i++)
        is_taken = is_taken || strcmp(scenario->strategies[i].label, label) == 0;
    for (size_t i = 0; i < scenario->observed_count; i++)
        is_taken = is_taken || strcmp(scenario->observed[i].label, label) == 0;
    return !is_taken ||
           lab_fail_at(&reader->tree, &item->place,
                       "label '%s' is taken by an earlier strategy; give this one another 'label'", label);
}

bool lab_read_strategies(struct lab_reader *reader, const struct lab_field *field,
                         const struct lab_node *node, void *out)
{
    struct lab_scenario *scenario = out;
    (void)field;
    if (!lab_check_list(reader, node, 1, LAB_STRATEGIES_MAX, "'- unbucketed: {}' lines"))
        return false;
    scenario->strategies = calloc(node->count, sizeof *scenario->strategies);
    scenario->observed = calloc(node->count, sizeof *scenario->observed);
    if (scenario->strategies == NULL || scenario->observed == NULL)
        return sim_fail_memory(reader->tree.error);
    for (const struct lab_node *item = node->first; item != NULL; item = item->next) {
        bool is_of_file = item->place.argument == NULL;
        struct lab_strategy strategy = {.line = is_of_file ? item->place.line : 0,
                                        .column = is_of_file ? item->place.column : 0};
        if (!read_one(reader, item, &strategy) || !check_label(reader, item, strategy.label)) {
            free(strategy.label);
            free(strategy.settings.observed_file);
            free(strategy.settings.observed_table);
            return false;
        }
        if (lab_node_find(item, "observed") != NULL)
            scenario->observed[scenario->observed_count++] = strategy;
        else
            scenario->strategies[scenario->strategy_count++] = strategy;
    }
    return true;
}

const struct lab_table lab_identifiers_table = {
    LAB_FIELDS({"think", lab_read_duration, LAB_IN(identifiers.think_ns), LAB_FROM(0, SPAN_MAX),
                LAB_DRAWN(THINK, 1, "<think>")},
               {"each", lab_read_whole, LAB_IN(identifiers.each), LAB_FROM(1, 1e15),
                .range = ", or leave it out for as many as a client gets",
                LAB_DRAWN(EACH, 0.3, "<~5..1000>")}),
    .may_be_empty = true};

/* Checks that taking identifiers takes time; otherwise the closed loop would never advance the clock. */
static bool takes_time(struct lab_reader *reader, const struct lab_node *root)
{
    const struct lab_scenario *scenario = reader->scenario;
    const struct cass_cluster_config *network = &scenario->network;
    bool has_latency = network->latency_ns.kind != SIM_SIZE_CONSTANT || network->latency_ns.a >= 1;
    if (scenario->identifiers.think_ns > 0 || has_latency || network->coordinate_ns > 0 ||
        network->write_ns > 0 || network->read_ns > 0)
        return true;
    return lab_fail_at(&reader->tree, &root->place,
                       "identifiers would take no time at all; give 'identifiers' a think above 0s, or the "
                       "network a latency");
}

/* A scenario has either rows or identifiers. */
bool lab_identifiers_complete(struct lab_reader *reader, const struct lab_node *root)
{
    struct lab_scenario *scenario = reader->scenario;
    const struct lab_node *section = lab_node_find(root, "identifiers");
    scenario->identifiers.present = section != NULL;
    const struct lab_node *item = lab_placing(lab_node_find(root, "strategies")->first);
    for (size_t i = 0; i < scenario->strategy_count; i++, item = lab_placing(item->next)) {
        if (scenario->strategies[i].settings.is_idgen && section == NULL)
            return lab_fail_at(&reader->tree, &item->place,
                               "'idgen' needs clients that take identifiers; add 'identifiers: {}'");
        if (!scenario->strategies[i].settings.is_idgen && section != NULL)
            return lab_fail_at(
                &reader->tree, &item->place,
                "it places rows, and with 'identifiers' there are none; use idgen, or remove 'identifiers'");
    }
    return section == NULL || takes_time(reader, root);
}
