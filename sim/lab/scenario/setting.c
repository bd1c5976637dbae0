/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Evaluates the table of settings. In: the settings of a strategy. Kept: nothing. Out: their kind and
 * protocol, offsets, whether rules hold, values as text, and the struct that the core's text of a setting
 * has. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kernel/time.h"
#include "lab/quantity.h"
#include "lab/setting.h"

enum bk_kind lab_settings_kind(const struct lab_settings *settings)
{
    if (settings->observed != WL_OBSERVED_AUTO)
        return LAB_KIND_OBSERVED;
    return settings->is_idgen ? LAB_KIND_IDGEN : settings->strategy.kind;
}

const char *lab_kind_name(enum bk_kind kind)
{
    assert((unsigned)kind < LAB_KIND_COUNT);
    if (kind == LAB_KIND_OBSERVED)
        return "observed";
    return kind == LAB_KIND_IDGEN ? "idgen" : bk_kind_name(kind);
}

unsigned lab_settings_protocol(const struct lab_settings *settings)
{
    if (settings->is_idgen)
        return (unsigned)settings->idgen.lock;
    return settings->strategy.kind == BK_KIND_COUNT ? (unsigned)settings->source
                                                    : (unsigned)settings->coordination;
}

#define PLACE(member) offsetof(struct lab_settings, member)

/* A text that grows up to the size of its buffer. */
struct text {
    char *buffer;
    size_t used, size;
};

static void add(struct text *text, const char *part, size_t length)
{
    if (length >= text->size - text->used)
        length = text->size - text->used - 1;
    memcpy(text->buffer + text->used, part, length);
    text->used += length;
    text->buffer[text->used] = '\0';
}

size_t lab_setting_place(const struct lab_setting *setting, enum bk_kind kind, uint32_t change)
{
    uint32_t scopes = setting->scopes == 0 ? LAB_OF_STRATEGY : setting->scopes;
    if (setting->type >= LAB_SETTING_GROUP || (setting->kinds >> kind & 1) == 0 ||
        (scopes & (change == 0 ? LAB_OF_STRATEGY : LAB_OF_CHANGE)) == 0)
        return SIZE_MAX;
    if (change == 0)
        return setting->place;
    size_t of_change = PLACE(changes) + (change - 1) * sizeof(struct lab_change);
    if (setting->scopes == LAB_OF_CHANGE)
        return of_change + (setting->place - PLACE(changes));
    return of_change + offsetof(struct lab_change, strategy) + (setting->place - PLACE(strategy));
}

const struct lab_setting *lab_setting_find(enum bk_kind kind, const char *name)
{
    for (size_t i = 0; i < lab_setting_count; i++) {
        const struct lab_setting *setting = &lab_setting_table[i];
        bool is_it = (setting->path != NULL && strcmp(setting->path, name) == 0) ||
                     (setting->stored != NULL && strcmp(setting->stored, name) == 0);
        if (is_it && (setting->kinds >> kind & 1) != 0)
            return setting;
    }
    return NULL;
}

const char *lab_setting_word(const struct lab_choice *words, int value)
{
    while (words->name != NULL && words->value != value)
        words++;
    return words->name == NULL ? "" : words->name;
}

const char *lab_setting_name(enum bk_kind kind, const char *path, int value)
{
    const struct lab_setting *setting = lab_setting_find(kind, path);
    assert(setting != NULL && setting->words != NULL);
    return lab_setting_word(setting->words, value);
}

/* The value as a number; a text is 1 if it is set. */
static uint64_t number_of(const struct lab_setting *setting, const void *value)
{
    switch (setting->type) {
    case LAB_SETTING_U32:
        return *(const uint32_t *)value;
    case LAB_SETTING_CHOICE:
        return (uint64_t) * (const int *)value;
    case LAB_SETTING_FLAG:
        return *(const bool *)value;
    case LAB_SETTING_TEXT:
        return *(char *const *)value != NULL;
    case LAB_SETTING_DURATION:
    case LAB_SETTING_TIME:
    case LAB_SETTING_WAIT:
        return (uint64_t) * (const int64_t *)value;
    case LAB_SETTING_U64:
    case LAB_SETTING_BYTES:
    case LAB_SETTING_CHANCE:
        return *(const uint64_t *)value;
    case LAB_SETTING_GROUP:
    case LAB_SETTING_CHANGES:
    case LAB_SETTING_LABEL:
        break;
    }
    return 0;
}

static const void *value_of(const struct lab_setting *setting, const struct lab_settings *settings,
                            uint32_t change)
{
    size_t place = lab_setting_place(setting, lab_settings_kind(settings), change);
    return place == SIZE_MAX ? NULL : (const unsigned char *)settings + place;
}

bool lab_setting_rule_holds(const struct lab_setting_rule *rule, const struct lab_settings *settings,
                            uint32_t change)
{
    if (rule->other == NULL)
        return true;
    const struct lab_setting *other = lab_setting_find(lab_settings_kind(settings), rule->other);
    const void *value = other == NULL ? NULL : value_of(other, settings, change);
    uint64_t number = value == NULL ? 0 : number_of(other, value);
    return (rule->values >> (number < 31 ? number : 31) & 1) != 0;
}

bool lab_setting_is_said(const struct lab_setting *setting, const struct lab_settings *settings,
                         uint32_t change, enum lab_zero zero)
{
    const void *value = value_of(setting, settings, change);
    if (value == NULL)
        return false;
    bool is_zero = number_of(setting, value) == 0;
    bool needs_hold = zero == LAB_ZERO_STORED || lab_setting_rule_holds(&setting->needs, settings, change);
    if (zero != LAB_ZERO_TOLD && !is_zero)
        return needs_hold;
    return needs_hold && (!is_zero || setting->zero >= zero) &&
           lab_setting_rule_holds(&setting->when, settings, change);
}

void lab_setting_text(const struct lab_setting *setting, const void *value, char *buffer)
{
    const uint64_t *chance = value;
    switch (setting->type) {
    case LAB_SETTING_DURATION:
    case LAB_SETTING_WAIT:
        lab_quantity_duration_text(*(const int64_t *)value, buffer, LAB_SETTING_TEXT_SIZE);
        return;
    case LAB_SETTING_BYTES:
        lab_quantity_bytes_text(*(const uint64_t *)value, buffer, LAB_SETTING_TEXT_SIZE);
        return;
    case LAB_SETTING_TIME:
        sim_time_format(*(const int64_t *)value, buffer);
        return;
    case LAB_SETTING_CHOICE:
    case LAB_SETTING_FLAG:
        snprintf(buffer, LAB_SETTING_TEXT_SIZE, "%s",
                 lab_setting_word(setting->words, (int)number_of(setting, value)));
        return;
    case LAB_SETTING_TEXT:
        snprintf(buffer, LAB_SETTING_TEXT_SIZE, "%s", *(char *const *)value);
        return;
    case LAB_SETTING_CHANCE:
        snprintf(buffer, LAB_SETTING_TEXT_SIZE, "%" PRIu64 "/%" PRIu64, chance[0], chance[1]);
        return;
    case LAB_SETTING_U32:
    case LAB_SETTING_U64:
    case LAB_SETTING_GROUP:
    case LAB_SETTING_CHANGES:
    case LAB_SETTING_LABEL:
        break;
    }
    snprintf(buffer, LAB_SETTING_TEXT_SIZE, "%" PRIu64, number_of(setting, value));
}

/* The setting's name within a group; NULL when it is not in the group, or in a nested group. */
static const char *name_in(const struct lab_setting *setting, const char *group)
{
    size_t length = strlen(group);
    const char *path = setting->path;
    if (path == NULL || strncmp(path, group, length) != 0 || (length > 0 && path[length] != '.'))
        return NULL;
    const char *name = length > 0 ? path + length + 1 : path;
    return strchr(name, '.') == NULL ? name : NULL;
}

static bool is_written(const struct lab_setting *setting, const struct lab_settings *settings,
                       uint32_t change)
{
    if (setting->type == LAB_SETTING_WAIT) {
        const char *backoff = lab_setting_word(setting->words, (int)settings->idgen.backoff);
        const char *dot = strchr(setting->path, '.');
        return settings->is_idgen && dot != NULL && strcmp(dot + 1, backoff) == 0;
    }
    if (change > 0 && setting->type == LAB_SETTING_FLAG)
        return !*(const bool *)value_of(setting, settings, change); /* keep_old */
    return lab_setting_is_said(setting, settings, change, LAB_ZERO_WRITTEN);
}

static void add_value(struct text *text, const char *name, const char *value)
{
    if (text->used > 0 && text->buffer[text->used - 1] != '{')
        add(text, ", ", 2);
    add(text, name, strlen(name));
    add(text, ": ", 2);
    add(text, value, strlen(value));
}

/* Adds the settings of a group ("": those in none), or of a change. */
static void add_settings(struct text *text, const struct lab_settings *settings, const char *group,
                         uint32_t change)
{
    char value[LAB_SETTING_TEXT_SIZE];
    for (size_t i = 0; i < lab_setting_count; i++) {
        const struct lab_setting *setting = &lab_setting_table[i];
        const char *name = name_in(setting, group);
        const void *held = name == NULL ? NULL : value_of(setting, settings, change);
        size_t before = text->used;
        if (name == NULL || (setting->kinds >> lab_settings_kind(settings) & 1) == 0)
            continue;
        if (setting->type == LAB_SETTING_GROUP && change == 0) {
            add_value(text, name, "{");
            size_t begin = text->used;
            add_settings(text, settings, name, 0);
            bool is_empty = text->used == begin;
            text->used = is_empty ? before : text->used;
            add(text, "}", !is_empty);
        } else if (setting->type == LAB_SETTING_CHANGES && settings->change_count > 0 && change == 0) {
            add_value(text, name, "[");
            for (uint32_t one = 1; one <= settings->change_count; one++) {
                add(text, ", ", one == 1 ? 0 : 2);
                add(text, "{", 1);
                add_settings(text, settings, "", one);
                add(text, "}", 1);
            }
            add(text, "]", 1);
        } else if (held != NULL && is_written(setting, settings, change)) {
            lab_setting_text(setting, held, value);
            add_value(text, name, value);
        }
    }
}

size_t lab_settings_text(const struct lab_settings *settings, char *buffer, size_t size)
{
    struct text text = {buffer, 0, size};
    buffer[0] = '\0';
    add_settings(&text, settings, "", 0);
    return text.used;
}

/* Adds the template with the value for %s, and with the s of a plural unless `is_one`. */
static void add_told(struct text *text, const char *template, const char *value, bool is_one)
{
    if (text->used > 0 && template[0] != ' ')
        add(text, ", ", 2);
    while (*template != '\0') {
        size_t plain = strcspn(template, "%{");
        add(text, template, plain);
        template += plain;
        if (*template == '%')
            add(text, value, strlen(value));
        else if (*template == '{' && !is_one)
            add(text, "s", 1);
        template += *template == '%' ? 2 : *template == '{' ? 3 : 0;
    }
}

size_t lab_settings_tell(const struct lab_settings *settings, uint32_t change, bool has_agents, bool is_drawn,
                         lab_setting_teller *teller, void *context, char *buffer, size_t size)
{
    struct text text = {buffer, 0, size};
    char value[LAB_SETTING_TEXT_SIZE];
    buffer[0] = '\0';
    for (size_t i = 0; i < lab_setting_count; i++) {
        const struct lab_setting *setting = &lab_setting_table[i];
        const char *template = is_drawn ? setting->drawn : setting->told;
        if (template == NULL || (setting->needs_agents && !has_agents) ||
            !lab_setting_is_said(setting, settings, change, LAB_ZERO_TOLD))
            continue;
        const void *held = value_of(setting, settings, change);
        uint64_t number = number_of(setting, held);
        if (setting->type != LAB_SETTING_CHOICE)
            teller(context, setting, held, value, sizeof value);
        else
            snprintf(value, sizeof value, "%s",
                     is_drawn && setting->drawn_words != NULL
                         ? setting->drawn_words[number]
                         : lab_setting_word(setting->words, (int)number));
        if (value[0] != '\0')
            add_told(&text, template, value, number == 1);
    }
    return text.used;
}

void lab_setting_put_standard(const struct lab_setting *setting, struct lab_settings *settings)
{
    size_t place = lab_setting_place(setting, lab_settings_kind(settings), 0);
    if (place == SIZE_MAX || setting->standard == 0 || !lab_setting_rule_holds(&setting->needs, settings, 0))
        return;
    unsigned char *held = (unsigned char *)settings + place;
    if (setting->type == LAB_SETTING_U32)
        *(uint32_t *)held = (uint32_t)setting->standard;
    else
        *(int64_t *)held = setting->standard;
}

void lab_settings_core(const struct lab_settings *settings, uint64_t scenario_digest, struct bk_setting *out)
{
    memset(out, 0, sizeof *out);
    out->scenario_digest = scenario_digest;
    out->strategy = settings->strategy;
    out->coordination = settings->coordination;
    out->counter = settings->counter;
    out->source = settings->source;
    out->lease_rows = settings->lease_rows;
    out->every_rows = settings->every_rows;
    out->every_ns = settings->every_ns;
    out->lead_ns = settings->lead_ns;
    out->lock_lasts_ns = settings->lock_lasts_ns;
    out->lock_backoff_ns = settings->lock_backoff_ns;
    out->grant_ns = settings->grant_ns;
    out->read_plan = settings->reading.plan;
    out->read_at_once = settings->reading.plan == BK_PLAN_PARALLEL ? settings->reading.at_once : 0;
    out->read_remember_empty = settings->reading.remembers_empty;
    out->read_late_ns = settings->reading.remembers_empty ? settings->reading.late_ns : 0;
}
