/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A strategy's settings in words: those that a result holds, and of its scenario how they change and how its
 * readers go about it. */
#include <inttypes.h>
#include <string.h>

#include "cli/table.h"
#include "cli/text.h"
#include "kernel/time.h"

#define LABEL_COLUMNS 13

static void settings_of_kind(const struct lab_strategy_result *result, char *buffer);
static void settings_of_strategy(const struct bk_strategy *strategy, char *buffer);
static void add_source(const struct lab_strategy_result *result, char *buffer);
static void add_coordination(const struct lab_strategy_result *result, char *buffer);
static const struct lab_strategy *strategy_of(const struct lab_scenario *scenario, const char *label);
static void print_more(const struct lab_strategy *strategy, size_t column);
static void print_change(const struct lab_change *change, size_t column);
static void print_reading(const struct lab_reading *reading, size_t column);

void cli_settings(const struct lab_strategy_result *result, char *buffer)
{
    char age[CLI_NUMBER_SIZE];
    settings_of_kind(result, buffer);
    if (result->settings.strategy.max_age_ns == 0)
        return;
    size_t used = strlen(buffer);
    cli_duration(result->settings.strategy.max_age_ns, age);
    snprintf(buffer + used, CLI_SETTINGS_SIZE - used, ", max age %s", age);
}

void cli_print_settings(const struct lab_result *result, const struct lab_scenario *scenario)
{
    printf("\nsettings\n");
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_strategy_result *strategy = &result->strategies[i];
        const struct lab_strategy *asked = strategy_of(scenario, strategy->label);
        char settings[CLI_SETTINGS_SIZE];
        size_t width = cli_text_width(strategy->label);
        const size_t column = LABEL_COLUMNS + 4;
        cli_settings(strategy, settings);
        printf("  ");
        cli_print_text(stdout, strategy->label);
        if (width > LABEL_COLUMNS)
            printf("\n  %*s", LABEL_COLUMNS, "");
        else
            printf("%*s", (int)(LABEL_COLUMNS - width), "");
        int used = printf("  %s:", lab_result_kind(strategy));
        cli_print_indented(settings, column + (size_t)used - 2, column);
        putchar('\n');
        if (asked != NULL)
            print_more(asked, column);
    }
}

/* NULL: the scenario cannot be read again, or is another one by now. */
static const struct lab_strategy *strategy_of(const struct lab_scenario *scenario, const char *label)
{
    for (size_t i = 0; scenario != NULL && i < scenario->strategy_count; i++) {
        if (strcmp(scenario->strategies[i].label, label) == 0)
            return &scenario->strategies[i];
    }
    return NULL;
}

static void print_more(const struct lab_strategy *strategy, size_t column)
{
    for (uint32_t i = 0; i < strategy->settings.change_count; i++)
        print_change(&strategy->settings.changes[i], column);
    if (strategy->settings.reading.plan != BK_PLAN_DEFAULT || strategy->settings.reading.remembers_empty)
        print_reading(&strategy->settings.reading, column);
}

static void print_change(const struct lab_change *change, size_t column)
{
    char at[CLI_NUMBER_SIZE], span[CLI_NUMBER_SIZE], settings[CLI_SETTINGS_SIZE], told[2 * CLI_SETTINGS_SIZE];
    cli_duration(change->at_ns, at);
    settings_of_strategy(&change->strategy, settings);
    int used = snprintf(told, sizeof told, "%s on: %s", at, settings);
    if (change->rollout_ns != 0) {
        cli_duration(change->rollout_ns, span);
        used += snprintf(told + used, sizeof told - (size_t)used, ", rolled out over %s", span);
    }
    if (!change->keeps_old)
        snprintf(told + used, sizeof told - (size_t)used, "; the settings before it are forgotten");
    printf("%*sthen from", (int)column, "");
    cli_print_indented(told, column + sizeof "then from" - 1, column);
    putchar('\n');
}

static void print_reading(const struct lab_reading *reading, size_t column)
{
    static const char *const plans[] = {[BK_PLAN_DEFAULT] = "",
                                        [BK_PLAN_WALK] = "one by one, from the newest bucket down",
                                        [BK_PLAN_PAIR] = "from the newest bucket down, two at once",
                                        [BK_PLAN_ALL] = "all buckets at once",
                                        [BK_PLAN_LAZY] =
                                            "an iterator, bucket by bucket as long as rows are missing",
                                        [BK_PLAN_PARALLEL] = "some buckets at once"};
    char told[CLI_SETTINGS_SIZE], late[CLI_NUMBER_SIZE];
    int used = 0;
    if (reading->plan == BK_PLAN_PARALLEL)
        used = snprintf(told, sizeof told, "%" PRIu32 " buckets at once",
                        reading->at_once == 0 ? BK_AT_ONCE_DEFAULT : reading->at_once);
    else
        used = snprintf(told, sizeof told, "%s", plans[reading->plan]);
    if (reading->remembers_empty) {
        cli_duration(reading->late_ns, late);
        snprintf(told + used, sizeof told - (size_t)used,
                 "%sempty windows are remembered from %s after their end", used == 0 ? "" : "; ", late);
    }
    printf("%*sread:", (int)column, "");
    cli_print_indented(told, column + sizeof "read:" - 1, column);
    putchar('\n');
}

static void settings_of_kind(const struct lab_strategy_result *result, char *buffer)
{
    if (result->settings.observed != WL_OBSERVED_AUTO) {
        cli_observed_settings(result, buffer);
        return;
    }
    if (result->settings.is_idgen) {
        cli_idgen_settings(&result->settings.idgen, buffer);
        return;
    }
    settings_of_strategy(&result->settings.strategy, buffer);
    if (result->settings.strategy.kind == BK_COUNT)
        add_source(result, buffer);
    else if (bk_kind_fires(result->settings.strategy.kind))
        add_coordination(result, buffer);
}

static void settings_of_strategy(const struct bk_strategy *strategy, char *buffer)
{
    static const char *const units[] = {"none", "hour", "day", "week", "month"};
    char window[CLI_NUMBER_SIZE], epoch[SIM_TIME_TEXT_SIZE];
    switch (strategy->kind) {
    case BK_TIME:
        if (strategy->of.time.calendar != BK_CALENDAR_NONE) {
            snprintf(buffer, CLI_SETTINGS_SIZE, "calendar %s", units[strategy->of.time.calendar]);
            return;
        }
        cli_duration(strategy->of.time.window_ns, window);
        sim_time_format(strategy->of.time.epoch_ns, epoch);
        snprintf(buffer, CLI_SETTINGS_SIZE, "window %s from %s", window, epoch);
        return;
    case BK_COUNT:
        snprintf(buffer, CLI_SETTINGS_SIZE, "rows %" PRIu64, strategy->of.count.rows);
        return;
    case BK_PROBABILISTIC:
        if (strategy->of.probabilistic.chance_denominator == 0)
            snprintf(buffer, CLI_SETTINGS_SIZE, "bits %" PRIu32 ", threshold %" PRIu64,
                     strategy->of.probabilistic.bits, strategy->of.probabilistic.threshold);
        else
            snprintf(buffer, CLI_SETTINGS_SIZE, "chance %" PRIu64 "/%" PRIu64 ", threshold %" PRIu64,
                     strategy->of.probabilistic.chance_numerator,
                     strategy->of.probabilistic.chance_denominator, strategy->of.probabilistic.threshold);
        return;
    case BK_HASH:
        snprintf(buffer, CLI_SETTINGS_SIZE, "buckets %" PRIu32, strategy->of.hash.buckets);
        return;
    case BK_WEIGHTED:
        cli_size(strategy->of.weighted.bytes, window);
        snprintf(buffer, CLI_SETTINGS_SIZE, "1 in %s, threshold %" PRIu64, window,
                 strategy->of.weighted.threshold);
        return;
    case BK_NONE:
    case BK_KIND_COUNT:
        break;
    }
    snprintf(buffer, CLI_SETTINGS_SIZE, "one partition a key");
}

/* Where the numbers come from, unless the rows have them. */
static void add_source(const struct lab_strategy_result *result, char *buffer)
{
    static const char *const sources[] = {"external",    "counter", "lwt",   "lease",
                                          "incremental", "scan",    "memory"};
    char span[CLI_NUMBER_SIZE];
    size_t used = strlen(buffer);
    if (result->settings.source == BK_SOURCE_EXTERNAL)
        return;
    used += (size_t)snprintf(buffer + used, CLI_SETTINGS_SIZE - used, ", counter %s",
                             sources[result->settings.source]);
    if (result->settings.source == BK_SOURCE_LEASE)
        snprintf(buffer + used, CLI_SETTINGS_SIZE - used, ", batch %" PRIu64, result->settings.lease_rows);
    if (result->settings.source != BK_SOURCE_INCREMENTAL && result->settings.source != BK_SOURCE_SCAN)
        return;
    if (result->settings.every_rows != 0)
        used += (size_t)snprintf(buffer + used, CLI_SETTINGS_SIZE - used, ", every %" PRIu64 " row%s",
                                 result->settings.every_rows, result->settings.every_rows == 1 ? "" : "s");
    cli_duration(result->settings.every_ns, span);
    if (result->settings.every_ns != 0)
        snprintf(buffer + used, CLI_SETTINGS_SIZE - used, ", every %s", span);
}

/* Of a run with agents: without them there is nothing to coordinate. */
static void add_coordination(const struct lab_strategy_result *result, char *buffer)
{
    static const char *const coordinations[] = {"single", "locked", "three-state", "guarded"};
    static const char *const counters[] = {"rmw", "lwt", "counter"};
    char span[CLI_NUMBER_SIZE];
    size_t used = strlen(buffer);
    if (result->events.stride == 0)
        return;
    used += (size_t)snprintf(buffer + used, CLI_SETTINGS_SIZE - used, ", %s",
                             coordinations[result->settings.coordination]);
    if (result->settings.coordination != BK_GUARDED)
        used += (size_t)snprintf(buffer + used, CLI_SETTINGS_SIZE - used, ", counter %s",
                                 counters[result->settings.counter]);
    if (result->settings.coordination == BK_THREE_STATE) {
        cli_duration(result->settings.lead_ns, span);
        snprintf(buffer + used, CLI_SETTINGS_SIZE - used, ", lead %s", span);
    } else if (result->settings.coordination == BK_LOCKED &&
               result->settings.lock_lasts_ns > 0) { /* 0: of an older database */
        char backoff[CLI_NUMBER_SIZE];
        cli_duration(result->settings.lock_lasts_ns, span);
        cli_duration(result->settings.lock_backoff_ns, backoff);
        snprintf(buffer + used, CLI_SETTINGS_SIZE - used, ", locks of %s, back-off %s", span, backoff);
    } else if (result->settings.coordination == BK_GUARDED) {
        cli_duration(result->settings.grant_ns, span);
        snprintf(buffer + used, CLI_SETTINGS_SIZE - used, ", grants of %s", span);
    }
}
