/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the settings of a strategy, or of a change, by the table of settings. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "lab/quantity.h"
#include "lab/scenario_part.h"

#define CHANCE_SIZE  48
#define LISTING_SIZE 160
#define NAME_SIZE    32

#define SETTINGS(member) (offsetof(struct lab_strategy, settings) + offsetof(struct lab_settings, member))

/* A label may be next to the kind or among its settings. */
bool lab_read_label(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
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

static bool read_flag(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                      void *out)
{
    int value;
    if (!lab_read_choice(reader, field, node, &value))
        return false;
    *(bool *)out = value != 0;
    return true;
}

/* out: the struct bk_idgen_config; the kind of back-off is the field's name. */
static bool read_wait(struct lab_reader *reader, const struct lab_field *field, const struct lab_node *node,
                      void *out)
{
    struct bk_idgen_config *config = out;
    const struct lab_choice *word = field->detail;
    while (strcmp(word->name, field->name) != 0)
        word++;
    config->backoff = (enum bk_idgen_backoff)word->value;
    return lab_read_duration(reader, field, node, &config->backoff_base_ns);
}

static const struct lab_table lock_table = {
    .kinds = 1u << BK_PROBABILISTIC, .group = "lock", .scope = LAB_OF_STRATEGY};
static const struct lab_table reading_table = {
    .kinds = 1u << BK_TIME, .group = "read", .scope = LAB_OF_STRATEGY};
static const struct lab_table backoff_table = {
    .kinds = 1u << LAB_KIND_IDGEN, .group = "backoff", .scope = LAB_OF_STRATEGY, .check = lab_check_backoff};
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
                                                [LAB_SETTING_FLAG] = read_flag,
                                                [LAB_SETTING_TEXT] = lab_read_text,
                                                [LAB_SETTING_CHANCE] = read_chance,
                                                [LAB_SETTING_WAIT] = read_wait,
                                                [LAB_SETTING_GROUP] = lab_read_mapping,
                                                [LAB_SETTING_CHANGES] = lab_read_then,
                                                [LAB_SETTING_LABEL] = lab_read_label};
    out->read = readers[setting->type];
    out->detail = setting->words;
    if (setting->type == LAB_SETTING_WAIT)
        out->offset = SETTINGS(idgen);
    if (setting->type == LAB_SETTING_GROUP) {
        out->offset = 0;
        out->detail = find_group(setting->path);
    }
    if (setting->type == LAB_SETTING_CHANGES) {
        out->offset = offsetof(struct lab_strategy, settings);
        out->detail = lab_change_table(kinds);
    }
    if (setting->type == LAB_SETTING_LABEL)
        out->offset = offsetof(struct lab_strategy, label);
}

void lab_setting_fields(const struct lab_table *table, struct lab_field *made)
{
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
                                         .presence = (setting->required & table->scope) != 0 ? LAB_REQUIRED
                                                                                             : LAB_OPTIONAL,
                                         .least = setting->least,
                                         .most = setting->most,
                                         .range = setting->range};
        if (is_change && setting->change_most > 0) {
            made[count].most = setting->change_most;
            made[count].range = setting->change_range;
        }
        set_reader(setting, table->kinds, &made[count++]);
    }
    made[count] = (struct lab_field){.name = NULL};
}

/* The node of a setting, below that of its kind; NULL: it was not given. */
static const struct lab_node *node_of(const struct lab_node *kind, const char *path)
{
    char name[NAME_SIZE];
    const char *point = strchr(path, '.');
    if (point == NULL)
        return lab_node_find(kind, path);
    snprintf(name, sizeof name, "%.*s", (int)(point - path), path);
    const struct lab_node *group = lab_node_find(kind, name);
    return group == NULL ? NULL : lab_node_find(group, point + 1);
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

bool lab_settings_complete(struct lab_reader *reader, const struct lab_node *node,
                           struct lab_settings *settings)
{
    enum bk_kind kind = lab_settings_kind(settings);
    for (size_t i = 0; i < lab_setting_count; i++) {
        const struct lab_setting *setting = &lab_setting_table[i];
        if (setting->path == NULL || (setting->kinds >> kind & 1) == 0)
            continue;
        const struct lab_node *given = node_of(node, setting->path);
        if (given == NULL)
            lab_setting_put_standard(setting, settings);
        else if (!lab_setting_rule_holds(&setting->needs, settings, 0))
            return fail_needs(reader, given, kind, &setting->needs);
    }
    return true;
}

/* Makes the strategy with the core's constructor, which makes the final checks. */
static enum bk_status make(const struct bk_strategy *asked, struct bk_strategy *out)
{
    switch (asked->kind) {
    case BK_TIME:
        if (asked->of.time.calendar != BK_CALENDAR_NONE)
            return bk_strategy_calendar(asked->of.time.calendar, out);
        return bk_strategy_time(asked->of.time.window_ns, asked->of.time.epoch_ns, out);
    case BK_COUNT:
        return bk_strategy_count(asked->of.count.rows, out);
    case BK_PROBABILISTIC:
        if (asked->of.probabilistic.chance_denominator != 0)
            return bk_strategy_probabilistic_chance(asked->of.probabilistic.chance_numerator,
                                                    asked->of.probabilistic.chance_denominator,
                                                    asked->of.probabilistic.threshold, out);
        return bk_strategy_probabilistic(asked->of.probabilistic.bits, asked->of.probabilistic.threshold,
                                         out);
    case BK_HASH:
        return bk_strategy_hash(asked->of.hash.buckets, out);
    case BK_WEIGHTED:
        return bk_strategy_weighted(asked->of.weighted.bytes, asked->of.weighted.threshold, out);
    case BK_UNBUCKETED:
    case BK_KIND_COUNT:
        break;
    }
    return bk_strategy_unbucketed(out);
}

/* Reports `one` if it was given by --set, and otherwise `other`. */
static bool fail_both(struct lab_reader *reader, const struct lab_node *one, const struct lab_node *other,
                      const char *why)
{
    bool is_one = one->name_place.line == 0 && other->name_place.line != 0;
    const struct lab_node *first = is_one ? one : other, *second = is_one ? other : one;
    return lab_fail_at(&reader->tree, &first->name_place, "'%s' conflicts with '%s'%s; remove one of them",
                       first->name, second->name, why);
}

static bool check_time(struct lab_reader *reader, const struct lab_node *node)
{
    const struct lab_node *window = lab_node_find(node, "window"), *epoch = lab_node_find(node, "epoch"),
                          *calendar = lab_node_find(node, "calendar");
    if (window == NULL && calendar == NULL)
        return lab_fail_at(&reader->tree, &node->place,
                           "neither 'window' nor 'calendar' under '%s'; add one, as in window: 10d",
                           node->name);
    if (window != NULL && calendar != NULL)
        return fail_both(reader, window, calendar, "");
    return epoch == NULL || calendar == NULL ||
           fail_both(reader, calendar, epoch, ", as the units of a calendar begin by themselves");
}

static bool check_chance(struct lab_reader *reader, const struct lab_node *node)
{
    const struct lab_node *bits = lab_node_find(node, "bits"), *chance = lab_node_find(node, "chance");
    if (bits == NULL && chance == NULL)
        return lab_fail_at(
            &reader->tree, &node->place,
            "neither 'bits' nor 'chance' under 'probabilistic'; add one, as in bits: 9 or chance: 1/300");
    return bits == NULL || chance == NULL || fail_both(reader, bits, chance, "");
}

bool lab_strategy_make(struct lab_reader *reader, const struct lab_node *node, struct bk_strategy *strategy)
{
    const struct bk_strategy asked = *strategy;
    if (asked.kind == BK_TIME && !check_time(reader, node))
        return false;
    if (asked.kind == BK_PROBABILISTIC && !check_chance(reader, node))
        return false;
    enum bk_status status = make(&asked, strategy);
    if (status == BK_OK && asked.max_age_ns != 0)
        status = bk_strategy_max_age(asked.max_age_ns, strategy);
    return status == BK_OK || lab_fail_at(&reader->tree, &node->place, "'%s': %s; change it", node->name,
                                          bk_status_text(status));
}

/* The check of an element of `then`, whose kind is set. */
static bool check_change(struct lab_reader *reader, const struct lab_node *node, void *target)
{
    struct lab_change *change = target;
    return lab_strategy_make(reader, node, &change->strategy);
}

const struct lab_table *lab_change_table(uint32_t kinds)
{
#define OF_CHANGE(kind) [kind] = {.kinds = 1u << (kind), .scope = LAB_OF_CHANGE, .check = check_change }
    static const struct lab_table tables[BK_KIND_COUNT] = {OF_CHANGE(BK_TIME), OF_CHANGE(BK_COUNT),
                                                           OF_CHANGE(BK_PROBABILISTIC), OF_CHANGE(BK_HASH),
                                                           OF_CHANGE(BK_WEIGHTED)};
    for (size_t kind = 0; kind < BK_KIND_COUNT; kind++) {
        if (kinds == 1u << kind)
            return &tables[kind];
    }
    return NULL;
}
