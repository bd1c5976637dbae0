/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares what the scenario demands with what it demanded when the baseline was made: limits, expectations
 * and the settings of strategies. A gate that can be loosened without a word is none, so what was loosened or
 * removed fails until the baseline is made again. What was tightened is noted. */
#define _POSIX_C_SOURCE 200809L
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "lab/setting.h"

#define SETTINGS_SIZE 4096

/* How a demand compares with the baseline's, from the least similar to the most. */
enum relation { OTHER, LOOSER, TIGHTER, SAME };

static enum relation relation_of(double one, double now, int looser)
{
    if (fabs(one - now) <= DBL_EPSILON * fabs(one) || (isinf(one) && isinf(now)))
        return SAME;
    return looser == 0 || (now > one) == (looser > 0) ? LOOSER : TIGHTER;
}

static double limit_of(uint64_t limit)
{
    return limit == 0 ? (double)INFINITY : (double)limit;
}

static bool check_limits(struct cli_checked *item)
{
    const struct lab_limits *one = &item->held.result->limits, *now = &item->result->limits;
    const struct {
        const char *name;
        double one, now;
        int looser; /* 1: a larger value is looser; -1: a smaller one; 0: any other */
    } limits[] = {
        {"limits.partition_rows", limit_of(one->partition_rows), limit_of(now->partition_rows), 1},
        {"limits.partition_bytes", limit_of(one->partition_bytes), limit_of(now->partition_bytes), 1},
        {"limits.tiny_rows", (double)one->tiny_rows, (double)now->tiny_rows, -1},
        {"limits.over_limit_share", one->over_limit_share, now->over_limit_share, 1},
        {"tune.confidence", one->confidence, now->confidence, 0},
    };
    bool is_fine = true;
    for (size_t i = 0; is_fine && i < sizeof limits / sizeof *limits; i++) {
        enum relation relation = relation_of(limits[i].one, limits[i].now, limits[i].looser);
        const struct cli_about about = {
            .name = limits[i].name, .value = limits[i].now, .low = limits[i].one, .high = limits[i].one};
        if (relation == LOOSER && isinf(limits[i].now))
            is_fine = cli_check_fail(item, &about, "%s was removed; the baseline has %.10g", limits[i].name,
                                     limits[i].one);
        else if (relation == LOOSER)
            is_fine = cli_check_fail(item, &about, "%s was loosened: %.10g, baseline %.10g", limits[i].name,
                                     limits[i].now, limits[i].one);
        else if (relation == TIGHTER)
            is_fine = cli_check_note(item, "%s was tightened: %.10g, baseline %.10g", limits[i].name,
                                     limits[i].now, limits[i].one);
    }
    for (size_t i = 0; is_fine && i < lab_price_count; i++) {
        const struct lab_price *price = &lab_price_table[i];
        double old = lab_price_of(&item->held.result->prices, price);
        double new = lab_price_of(&item->result->prices, price);
        const struct cli_about about = {.name = price->name, .value = new, .low = old, .high = old};
        if (relation_of(old, new, 0) != SAME)
            is_fine = cli_check_fail(item, &about, "the price '%s' is %.10g, baseline %.10g", price->name,
                                     new, old);
    }
    return is_fine;
}

static enum relation relation_of_expects(const char *one, const char *now)
{
    struct lab_expect old, new;
    if (strcmp(one, now) == 0)
        return SAME;
    bool is_fine = lab_expect_parse(one, &old) == NULL;
    is_fine = lab_expect_parse(now, &new) == NULL && is_fine;
    static const int looser[] = {[LAB_LESS] = 1,           [LAB_LESS_EQUAL] = 1, [LAB_GREATER] = -1,
                                 [LAB_GREATER_EQUAL] = -1, [LAB_EQUAL] = 0,      [LAB_NOT_EQUAL] = 0};
    enum relation relation = is_fine && strcmp(old.metric, new.metric) == 0 && old.compare == new.compare
                                 ? relation_of(old.value, new.value, looser[old.compare])
                                 : OTHER;
    lab_expect_clear(&old);
    lab_expect_clear(&new);
    return relation;
}

/* Finds the expectation of `result` that is most like this one of the other result. */
static enum relation find_expect(const struct lab_result *result, const char *text, bool is_old,
                                 const char **found)
{
    enum relation most = OTHER;
    for (size_t i = 0; i < result->expect_count; i++) {
        const char *other = result->expects[i].text;
        enum relation relation = is_old ? relation_of_expects(text, other) : relation_of_expects(other, text);
        if (relation > most) {
            most = relation;
            *found = other;
        }
    }
    return most;
}

static bool check_expects(struct cli_checked *item)
{
    const struct lab_result *one = item->held.result, *now = item->result;
    const struct cli_about about = {.name = "expect", CLI_NO_FIGURE};
    bool is_fine = true;
    for (size_t i = 0; is_fine && i < one->expect_count; i++) {
        const char *text = one->expects[i].text, *found = "";
        switch (find_expect(now, text, true, &found)) {
        case OTHER:
            is_fine = cli_check_fail(item, &about, "the expectation '%s' was removed", text);
            break;
        case LOOSER:
            is_fine =
                cli_check_fail(item, &about, "an expectation was loosened: '%s', baseline '%s'", found, text);
            break;
        case TIGHTER:
            is_fine = cli_check_note(item, "an expectation was tightened: '%s', baseline '%s'", found, text);
            break;
        case SAME:
            break;
        }
    }
    for (size_t i = 0; is_fine && i < now->expect_count; i++) {
        const char *text = now->expects[i].text, *found;
        if (find_expect(one, text, false, &found) == OTHER)
            is_fine = cli_check_fail(item, &about, "the baseline does not have the expectation '%s'", text);
    }
    return is_fine;
}

static bool check_settings(struct cli_checked *item, const struct lab_strategy_result *one,
                           const struct lab_strategy_result *now)
{
    char old[SETTINGS_SIZE], new[SETTINGS_SIZE];
    const struct cli_about about = {.label = now->label, .name = "strategy", CLI_NO_FIGURE};
    lab_settings_text(&one->settings, old, sizeof old);
    lab_settings_text(&now->settings, new, sizeof new);
    const char *old_kind = lab_result_kind(one), *new_kind = lab_result_kind(now);
    return (strcmp(old, new) == 0 && strcmp(old_kind, new_kind) == 0) ||
           cli_check_fail(item, &about, "the strategy %s is another: %s {%s}, baseline %s {%s}", now->label,
                          new_kind, new, old_kind, old);
}

bool cli_check_terms(struct cli_checked *item, struct sim_error *error)
{
    const struct lab_result *one = item->held.result, *now = item->result;
    const struct cli_about about = {.name = "baseline", CLI_NO_FIGURE};
    bool is_fine = cli_check_begin(item, CLI_CHECK_BASELINE, "scenario");
    if (is_fine && item->held.info.scenario_text == NULL)
        is_fine = cli_check_fail(item, &about, "the baseline does not have the scenario's text");
    is_fine = is_fine && check_limits(item) && check_expects(item);
    for (size_t i = 0; is_fine && i < now->strategy_count; i++) {
        const struct lab_strategy_result *old = cli_check_strategy(one, now->strategies[i].label);
        is_fine = old == NULL || check_settings(item, old, &now->strategies[i]);
    }
    return is_fine || sim_fail_memory(error);
}
