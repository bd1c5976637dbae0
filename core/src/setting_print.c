/* SPDX-License-Identifier: MIT */
/* Writes a setting as text, and passes it to an agent. */
#include "bucketing/setting.h"
#include "setting_lines.h"
#include "setting_text.h"

/* Returns whether the value can be parsed again. */
static bool is_sound(const struct bk_setting *setting, const struct bk_setting_line *line)
{
    uint64_t value = bk_setting_value(setting, line);
    if ((line->type == BK_VALUE_CHOICE || line->type == BK_VALUE_FLAG) &&
        bk_setting_word_of(line->words, value) == NULL)
        return value == 0 && line->is_optional;
    if (line->type == BK_VALUE_DURATION && value > INT64_MAX)
        return false;
    if (line->most != 0 && value > line->most)
        return false;
    return line->type == BK_VALUE_TIME || value >= line->least || (value == 0 && line->is_optional);
}

/* A value of 0 is written only if it is a word, as in coordination = single. */
static bool is_written(const struct bk_setting *setting, const struct bk_setting_line *line)
{
    return !line->is_optional || bk_setting_value(setting, line) != 0 ||
           (line->type == BK_VALUE_CHOICE && bk_setting_word_of(line->words, 0) != NULL);
}

static void write_value(struct bk_text *text, const struct bk_setting *setting,
                        const struct bk_setting_line *line)
{
    uint64_t value = bk_setting_value(setting, line);
    switch (line->type) {
    case BK_VALUE_CHOICE:
    case BK_VALUE_FLAG:
        bk_text_word(text, bk_setting_word_of(line->words, value));
        return;
    case BK_VALUE_DURATION:
        bk_text_duration(text, (int64_t)value);
        return;
    case BK_VALUE_BYTES:
        bk_text_bytes(text, value);
        return;
    case BK_VALUE_TIME:
        bk_text_time(text, (int64_t)value);
        return;
    case BK_VALUE_CHANCE:
        bk_text_number(text, setting->strategy.of.probabilistic.chance_numerator);
        bk_text_word(text, "/");
        break;
    case BK_VALUE_U32:
    case BK_VALUE_U64:
        break;
    }
    bk_text_number(text, value);
}

static enum bk_status check_setting(const struct bk_setting *setting)
{
    enum bk_status status = bk_strategy_check(&setting->strategy);
    if (status != BK_OK)
        return status;
    for (unsigned i = BK_LINE_NONE + 1; i < BK_LINE_COUNT; i++) {
        if (bk_setting_is_of_kind(&bk_setting_lines[i], setting) &&
            bk_setting_applies(&bk_setting_lines[i], setting) && !is_sound(setting, &bk_setting_lines[i]))
            return BK_ERROR_SETTING;
    }
    return bk_setting_counts_never(setting) ? BK_ERROR_SETTING : BK_OK;
}

static void write_setting(struct bk_text *text, const struct bk_setting *setting)
{
    bk_text_word(text, BK_SETTING_FIRST_LINE "\nscenario_digest = ");
    bk_text_digest(text, setting->scenario_digest);
    bk_text_word(text, "\nkind = ");
    bk_text_word(text, bk_kind_name(setting->strategy.kind));
    bk_text_word(text, "\n");
    for (unsigned i = BK_LINE_NONE + 1; i < BK_LINE_COUNT; i++) {
        if (!bk_setting_applies(&bk_setting_lines[i], setting) || !is_written(setting, &bk_setting_lines[i]))
            continue;
        bk_text_word(text, bk_setting_lines[i].name);
        bk_text_word(text, " = ");
        write_value(text, setting, &bk_setting_lines[i]);
        bk_text_word(text, "\n");
    }
    bk_text_word(text, "end\n");
}

enum bk_status bk_strategy_print(const struct bk_setting *setting, char *buffer, size_t size, size_t *length)
{
    struct bk_text text = {buffer, size, 0, false};
    if (length != NULL)
        *length = 0;
    if (buffer == NULL)
        return BK_ERROR_NULL;
    if (size > 0)
        buffer[0] = '\0';
    if (setting == NULL)
        return BK_ERROR_NULL;
    enum bk_status status = check_setting(setting);
    if (status != BK_OK)
        return status;
    write_setting(&text, setting);
    if (text.is_full) {
        if (size > 0)
            buffer[0] = '\0';
        return BK_ERROR_MEMORY;
    }
    if (length != NULL)
        *length = text.used;
    return BK_OK;
}

struct bk_agent_config bk_setting_agent_config(const struct bk_setting *setting)
{
    struct bk_agent_config config = bk_agent_config_default(setting != NULL ? &setting->strategy : NULL);
    if (setting == NULL)
        return config;
    config.coordination = setting->coordination;
    config.counter = setting->counter;
    config.source = setting->source;
    if (bk_setting_is_of_kind(&bk_setting_lines[BK_LINE_BATCH], setting) &&
        bk_setting_is_needed(&bk_setting_lines[BK_LINE_BATCH], setting))
        config.lease_rows = setting->lease_rows;
    if (bk_setting_is_of_kind(&bk_setting_lines[BK_LINE_EVERY_ROWS], setting) &&
        bk_setting_is_needed(&bk_setting_lines[BK_LINE_EVERY_ROWS], setting)) {
        config.every_rows = setting->every_rows;
        config.every_ns = setting->every_ns;
    }
    if (setting->coordination == BK_THREE_STATE)
        config.lead_ns = setting->lead_ns;
    if (setting->coordination == BK_LOCKED) {
        config.lock_lasts_ns = setting->lock_lasts_ns;
        config.lock_backoff_ns = setting->lock_backoff_ns;
    }
    if (setting->coordination == BK_GUARDED)
        config.grant_ns = setting->grant_ns;
    if (setting->read_remember_empty)
        config.late_ns = setting->read_late_ns;
    return config;
}
