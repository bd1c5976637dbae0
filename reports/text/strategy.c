/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Describes a strategy in words, and looks up its figures by name. */
#include "reports/strategy.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "lab/metric.h"
#include "lab/setting.h"
#include "reports/format.h"

#define SETTINGS_SIZE 256

/* Formats the value of a setting for charts. */
static void tell(void *context, const struct lab_setting *setting, const void *value, char *buffer,
                 size_t size)
{
    struct report_arena *arena = context;
    const uint64_t *chance = value;
    const char *text;
    switch (setting->type) {
    case LAB_SETTING_DURATION:
        text = report_duration(arena, *(const int64_t *)value);
        break;
    case LAB_SETTING_BYTES:
        text = report_exact(arena, *(const uint64_t *)value, REPORT_BYTES);
        break;
    case LAB_SETTING_U32:
        text = report_exact(arena, *(const uint32_t *)value, REPORT_ROWS);
        break;
    case LAB_SETTING_U64:
        text = report_exact(arena, *(const uint64_t *)value, REPORT_ROWS);
        break;
    case LAB_SETTING_CHANCE:
        text = report_text(arena, "%s/%s", report_exact(arena, chance[0], REPORT_ROWS),
                           report_exact(arena, chance[1], REPORT_ROWS));
        break;
    default:
        lab_setting_text(setting, value, buffer);
        return;
    }
    snprintf(buffer, size, "%s", text);
}

const char *report_settings(struct report_arena *arena, const struct lab_settings *given)
{
    struct lab_settings settings = *given;
    char told[SETTINGS_SIZE];
    if (settings.observed != WL_OBSERVED_AUTO) {
        return report_text(arena, "%s of %s%s%s", wl_observed_format_name(settings.observed),
                           report_clean(arena, settings.observed_table),
                           settings.observed_table[0] == 0 ? "" : " in ",
                           report_clean(arena, settings.observed_file));
    }
    if (settings.every_rows > 0) {
        settings.every_ns = 0; /* one of the two intervals is enough */
    }
    if (lab_settings_tell(&settings, 0, false, true, tell, arena, told, sizeof told) == 0) {
        return "one partition per key";
    }
    return report_text(arena, "%s", told);
}

bool report_metric(const struct lab_strategy_result *strategy, const char *name, double *out)
{
    const struct lab_metric *metric = lab_metrics_find(&strategy->metrics, name);
    /* The name is empty if the arena ran out of memory. */
    assert(metric != NULL || name[0] == '\0' || lab_metric_row_of(name) != NULL);
    *out = metric != NULL ? metric->value : 0;
    return metric != NULL;
}

void report_strategy_name(struct report_arena *arena, const struct lab_strategy_result *strategy,
                          const char **label, const char **detail)
{
    const char *kind = lab_result_kind(strategy);
    *label = report_clean(arena, strategy->label);
    *detail = report_settings(arena, &strategy->settings);
    if (strategy->label != NULL && strcmp(strategy->label, kind) != 0) {
        *detail = report_text(arena, "%s: %s", kind, *detail);
    }
}
