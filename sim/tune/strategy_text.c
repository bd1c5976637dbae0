/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a strategy as YAML: its kind, the values of the table of settings, and its label. */
#include "tune/strategy_text.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "lab/setting.h"

#define QUOTED_SIZE (2 * LAB_LABEL_SIZE_MAX + 3)

/* Quotes the label unless every YAML parser reads it as text without quotes. */
static void write_label(const char *label, char *quoted)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    static const char *const words[] = {"null",  "Null", "NULL", "true", "True", "TRUE", "false", "False",
                                        "FALSE", "y",    "n",    "yes",  "no",   "on",   "off"};
    char *end = quoted;
    bool is_plain = strspn(label, letters) > 0 && strspn(label, safe) == strlen(label);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        is_plain = is_plain && strcmp(label, words[i]) != 0;
    if (is_plain) {
        strcpy(quoted, label);
        return;
    }
    *end++ = '\'';
    for (const char *c = label; *c != '\0'; c++) {
        if (*c == '\'')
            *end++ = '\'';
        *end++ = *c;
    }
    *end++ = '\'';
    *end = '\0';
}

void tune_strategy_text(const struct lab_strategy *strategy, char *buffer)
{
    struct lab_settings settings = strategy->settings;
    char told[TUNE_STRATEGY_TEXT_SIZE], quoted[QUOTED_SIZE];
    settings.change_count = 0;
    size_t used = lab_settings_text(&settings, told, sizeof told);
    write_label(strategy->label, quoted);
    int size = snprintf(buffer, TUNE_STRATEGY_TEXT_SIZE, "%s: {%s%slabel: %s}",
                        lab_kind_name(lab_settings_kind(&settings)), told, used == 0 ? "" : ", ", quoted);
    assert(size > 0 && size < TUNE_STRATEGY_TEXT_SIZE);
    (void)size;
}
