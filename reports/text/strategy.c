/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A strategy in words, and its figures by name. */
#include "reports/strategy.h"

#include <inttypes.h>
#include <string.h>

#include "reports/format.h"

static const char *source_of_numbers(struct report_arena *arena, const struct lab_strategy_result *result)
{
    const char *every =
        result->settings.every_rows > 0
            ? report_text(arena, "%s rows", report_exact(arena, result->settings.every_rows, REPORT_ROWS))
            : report_duration(arena, result->settings.every_ns);
    switch (result->settings.source) {
    case BK_SOURCE_EXTERNAL:
        break;
    case BK_SOURCE_COUNTER:
        return ", numbers of a counter column";
    case BK_SOURCE_LWT:
        return ", numbers by LWT";
    case BK_SOURCE_LEASE:
        return report_text(arena, ", numbers leased by %s",
                           report_exact(arena, result->settings.lease_rows, REPORT_ROWS));
    case BK_SOURCE_INCREMENTAL:
        return report_text(arena, ", new ones counted every %s", every);
    case BK_SOURCE_SCAN:
        return report_text(arena, ", all counted every %s", every);
    case BK_SOURCE_MEMORY:
        return ", counted by their writer";
    }
    return "";
}

static const char *settings_of_idgen(struct report_arena *arena, const struct bk_idgen_config *config)
{
    static const char *const locks[] = {"columns", "conditional updates"};
    static const char *const backoffs[] = {"constant", "exponential", "random"};
    return report_text(arena, "batches of %s, %s stripe%s, a lock of %s, back-off %s from %s",
                       report_exact(arena, config->batch, REPORT_ROWS),
                       report_exact(arena, config->stripes, REPORT_ROWS), config->stripes == 1 ? "" : "s",
                       locks[config->lock], backoffs[config->backoff],
                       report_duration(arena, config->backoff_base_ns));
}

static const char *settings_of_kind(struct report_arena *arena, const struct bk_strategy *strategy)
{
    static const char *const calendars[] = {"", "hour", "day", "week", "month"};
    switch (strategy->kind) {
    case BK_NONE:
        return "one partition a key, for ever";
    case BK_TIME:
        if (strategy->of.time.calendar != BK_CALENDAR_NONE) {
            return report_text(arena, "calendar %s, UTC", calendars[strategy->of.time.calendar]);
        }
        return report_text(arena, "windows of %s", report_duration(arena, strategy->of.time.window_ns));
    case BK_COUNT:
        return report_text(arena, "%s rows", report_exact(arena, strategy->of.count.rows, REPORT_ROWS));
    case BK_PROBABILISTIC: {
        const char *threshold = report_exact(arena, strategy->of.probabilistic.threshold, REPORT_ROWS);
        if (strategy->of.probabilistic.chance_denominator != 0) {
            return report_text(
                arena, "chance %s/%s, threshold %s",
                report_exact(arena, strategy->of.probabilistic.chance_numerator, REPORT_ROWS),
                report_exact(arena, strategy->of.probabilistic.chance_denominator, REPORT_ROWS), threshold);
        }
        return report_text(arena, "%" PRIu32 " bit%s, threshold %s", strategy->of.probabilistic.bits,
                           strategy->of.probabilistic.bits == 1 ? "" : "s", threshold);
    }
    case BK_HASH:
        return report_text(arena, "%s bucket%s", report_exact(arena, strategy->of.hash.buckets, REPORT_ROWS),
                           strategy->of.hash.buckets == 1 ? "" : "s");
    case BK_WEIGHTED:
        return report_text(arena, "1 in %s, threshold %s",
                           report_exact(arena, strategy->of.weighted.bytes, REPORT_BYTES),
                           report_exact(arena, strategy->of.weighted.threshold, REPORT_ROWS));
    case BK_KIND_COUNT:
        break;
    }
    return "";
}

const char *report_settings(struct report_arena *arena, const struct lab_strategy_result *result)
{
    const struct bk_strategy *strategy = &result->settings.strategy;
    if (result->settings.is_idgen) {
        return settings_of_idgen(arena, &result->settings.idgen);
    }
    if (result->settings.observed != WL_OBSERVED_AUTO) {
        return report_text(arena, "%s of %s%s%s", wl_observed_format_name(result->settings.observed),
                           report_clean(arena, result->settings.observed_table),
                           result->settings.observed_table[0] == 0 ? "" : " in ",
                           report_clean(arena, result->settings.observed_file));
    }
    const char *settings = settings_of_kind(arena, strategy);
    if (strategy->kind == BK_COUNT) {
        settings = report_text(arena, "%s%s", settings, source_of_numbers(arena, result));
    }
    if (strategy->max_age_ns == 0) {
        return settings;
    }
    return report_text(arena, "%s, at most %s", settings, report_duration(arena, strategy->max_age_ns));
}

bool report_metric(const struct lab_strategy_result *strategy, const char *name, double *out)
{
    const struct lab_metric *metric = lab_metrics_find(&strategy->metrics, name);
    *out = metric != NULL ? metric->value : 0;
    return metric != NULL;
}

void report_strategy_name(struct report_arena *arena, const struct lab_strategy_result *strategy,
                          const char **label, const char **detail)
{
    const char *kind = lab_result_kind(strategy);
    *label = report_clean(arena, strategy->label);
    *detail = report_settings(arena, strategy);
    if (strategy->label != NULL && strcmp(strategy->label, kind) != 0) {
        *detail = report_text(arena, "%s: %s", kind, *detail);
    }
}
