/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A strategy's settings in words: those of a result and, from the scenario, how they change and how readers
 * work. */
#include <inttypes.h>
#include <string.h>

#include "cli/table.h"
#include "cli/text.h"
#include "lab/quantity.h"
#include "lab/setting.h"

#define LABEL_COLUMNS 13

/* A value as `show` writes it. */
static void tell(void *context, const struct lab_setting *setting, const void *value, char *buffer,
                 size_t size)
{
    char number[CLI_NUMBER_SIZE];
    (void)context;
    if (setting->type == LAB_SETTING_DURATION)
        lab_quantity_duration_text(*(const int64_t *)value, number, sizeof number);
    else if (setting->type == LAB_SETTING_BYTES)
        lab_quantity_bytes_text(*(const uint64_t *)value, number, sizeof number);
    else {
        lab_setting_text(setting, value, buffer);
        return;
    }
    snprintf(buffer, size, "%s", number);
}

static void tell_settings(const struct lab_settings *settings, uint32_t change, bool has_agents, char *buffer)
{
    if (lab_settings_tell(settings, change, has_agents, false, tell, NULL, buffer, CLI_SETTINGS_SIZE) == 0)
        snprintf(buffer, CLI_SETTINGS_SIZE, "one partition per key");
}

void cli_settings(const struct lab_strategy_result *result, char *buffer)
{
    if (result->settings.observed != WL_OBSERVED_AUTO)
        cli_observed_settings(result, buffer);
    else
        tell_settings(&result->settings, 0, result->events.stride != 0, buffer);
}

/* NULL: the scenario cannot be parsed again, or was changed. */
static const struct lab_strategy *strategy_of(const struct lab_scenario *scenario, const char *label)
{
    for (size_t i = 0; scenario != NULL && i < scenario->strategy_count; i++) {
        if (strcmp(scenario->strategies[i].label, label) == 0)
            return &scenario->strategies[i];
    }
    return NULL;
}

static void print_change(const struct lab_settings *of, uint32_t number, size_t column)
{
    const struct lab_change *change = &of->changes[number - 1];
    char at[CLI_NUMBER_SIZE], span[CLI_NUMBER_SIZE], settings[CLI_SETTINGS_SIZE], told[2 * CLI_SETTINGS_SIZE];
    lab_quantity_duration_text(change->at_ns, at, sizeof at);
    tell_settings(of, number, false, settings);
    int used = snprintf(told, sizeof told, "%s on: %s", at, settings);
    if (change->rollout_ns != 0) {
        lab_quantity_duration_text(change->rollout_ns, span, sizeof span);
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
        lab_quantity_duration_text(reading->late_ns, late, sizeof late);
        snprintf(told + used, sizeof told - (size_t)used,
                 "%sempty windows are remembered from %s after their end", used == 0 ? "" : "; ", late);
    }
    printf("%*sread:", (int)column, "");
    cli_print_indented(told, column + sizeof "read:" - 1, column);
    putchar('\n');
}

static void print_more(const struct lab_strategy *strategy, size_t column)
{
    for (uint32_t i = 0; i < strategy->settings.change_count; i++)
        print_change(&strategy->settings, i + 1, column);
    if (strategy->settings.reading.plan != BK_PLAN_DEFAULT || strategy->settings.reading.remembers_empty)
        print_reading(&strategy->settings.reading, column);
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
