/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints tune's comparison of strategies as JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/contest_answer.h"
#include "cli/json.h"
#include "lab/setting.h"
#include "reports/reports.h"
#include "tune/contest.h"

static const char *const figure_names[TUNE_FIGURE_COUNT] = {
    [TUNE_COST] = "cost_per_1000_rows",
    [TUNE_COST_WRITE] = "cost_of_writes_per_1000_rows",
    [TUNE_CV] = "partitions.closed.rows.cv",
    [TUNE_PER_READ] = "reads.partitions_per_read.mean",
    [TUNE_PER_READ_P99] = "reads.partitions_per_read.p99",
    [TUNE_P99_BYTES] = "partitions.all.bytes.p99",
    [TUNE_OVER] = "partitions.over_limit.share",
    [TUNE_TINY] = "partitions.tiny.share",
    [TUNE_OPS] = "writes.extra_ops_per_1000_rows",
    [TUNE_INCREMENTS] = "writes.counter_increments_per_1000_rows",
    [TUNE_ROWS_MEAN] = "partitions.rows.mean",
    [TUNE_BYTES_MEAN] = "partitions.bytes.mean",
    [TUNE_FIRST_OVER] = "partitions.first_over_days",
    [TUNE_ROWS] = "writes.rows",
    [TUNE_REFUSED] = "writes.refused",
    [TUNE_REPLACED] = "rows.overwritten",
    [TUNE_MISROUTED] = "writes.misrouted",
    [TUNE_READS] = "reads.count",
    [TUNE_READS_FAILED] = "reads.failed",
    [TUNE_WRITE_P999] = "latency.write.p999",
};
static const char *const demand_names[TUNE_DEMAND_COUNT] = {
    [TUNE_IN_LIMITS] = "limits",
    [TUNE_NOT_TINY] = "tiny",
    [TUNE_FEW_PER_READ] = "partitions_per_read",
    [TUNE_FINDABLE] = "findable",
    [TUNE_AVAILABLE] = "available",
    [TUNE_ANSWERED] = "reads",
    [TUNE_GUARANTEED] = "guarantees",
};

static json_t *asked_of(const struct tune_contest *contest)
{
    const struct lab_tune *terms = &contest->terms;
    const struct lab_limits *limits = &contest->scenario->limits;
    json_t *object = json_object();
    bool is_fine =
        cli_json_set(object, "partition_rows",
                     limits->partition_rows == 0 ? json_null() : cli_json_whole(limits->partition_rows)) &&
        cli_json_set(object, "partition_bytes",
                     limits->partition_bytes == 0 ? json_null() : cli_json_whole(limits->partition_bytes)) &&
        cli_json_set(object, "over_limit_share", cli_json_number(terms->share)) &&
        cli_json_set(object, "tiny", terms->tiny < 0 ? json_null() : cli_json_number(terms->tiny)) &&
        cli_json_set(object, "partitions_per_read",
                     terms->partitions_per_read == 0 ? json_null()
                                                     : cli_json_number(terms->partitions_per_read)) &&
        cli_json_set(object, "confidence", cli_json_number(terms->confidence)) &&
        cli_json_set(object, "tolerance", cli_json_number(terms->tolerance)) &&
        cli_json_set(object, "seeds", json_integer(terms->seeds));
    return cli_json_complete(object, is_fine);
}

/* A number that tune varies. */
static json_t *number_of(const struct lab_setting *setting, const void *value)
{
    const uint64_t *whole = value;
    switch (setting->type) {
    case LAB_SETTING_DURATION:
        return cli_json_number((double)*(const int64_t *)value / 1e9);
    case LAB_SETTING_CHANCE:
        return cli_json_number((double)whole[0] / (double)whole[1]);
    case LAB_SETTING_CHOICE:
        return json_string(lab_setting_word(setting->words, *(const int *)value));
    case LAB_SETTING_U32:
        return json_integer(*(const uint32_t *)value);
    default:
        return cli_json_whole(*whole);
    }
}

static json_t *settings_of(const struct lab_settings *settings)
{
    json_t *object = json_object();
    bool is_fine = true;
    for (size_t i = 0; i < lab_setting_count; i++) {
        const struct lab_setting *setting = &lab_setting_table[i];
        char name[32];
        if (!setting->is_rung || !lab_setting_is_said(setting, settings, 0, LAB_ZERO_WRITTEN))
            continue;
        snprintf(name, sizeof name, "%s%s", setting->path, setting->type == LAB_SETTING_DURATION ? "_s" : "");
        is_fine =
            is_fine &&
            cli_json_set(object, name,
                         number_of(setting, (const unsigned char *)settings +
                                                lab_setting_place(setting, settings->strategy.kind, 0)));
    }
    return cli_json_complete(object, is_fine);
}

/* Means over seeds with their intervals, at the requested confidence; for the share above a limit, the
 * interval by which it was judged. null: no bound. */
static json_t *metrics_of(const struct tune_contest *contest, const struct tune_entrant *entrant)
{
    const struct lab_judgment *judgment = &entrant->judgment;
    json_t *object = json_object();
    bool is_fine = object != NULL;
    for (int i = 0; is_fine && i < TUNE_FIGURE_COUNT; i++) {
        struct tune_sample sample = tune_figures_of(entrant, (enum tune_figure)i);
        if (sample.count == 0)
            continue;
        struct tune_interval interval = tune_sample_mean_interval(&sample, contest->terms.confidence);
        if (i == TUNE_OVER && isnan(judgment->share_most)) /* every seed has the same partitions */
            interval = (struct tune_interval){sample.mean, sample.mean};
        else if (i == TUNE_OVER)
            interval = (struct tune_interval){lab_share_least(judgment->over, judgment->partitions,
                                                              1 - (1 - contest->terms.confidence) / 2),
                                              judgment->share_most};
        json_t *metric = json_object();
        bool is_whole = cli_json_set(metric, "mean", cli_json_number(sample.mean)) &&
                        cli_json_set(metric, "low", cli_json_number(interval.low)) &&
                        cli_json_set(metric, "high", cli_json_number(interval.high));
        is_fine = cli_json_set(object, figure_names[i], cli_json_complete(metric, is_whole));
    }
    return cli_json_complete(object, is_fine);
}

static json_t *requirements_of(const struct tune_entrant *entrant)
{
    json_t *list = json_array();
    for (unsigned i = 0; list != NULL && i < LAB_REQUIREMENT_COUNT; i++) {
        if ((entrant->requirements >> i & 1) != 0)
            list = cli_json_append(list, json_string(lab_requirement_name((enum lab_requirement)i)));
    }
    return list;
}

static json_t *candidate_of(const struct tune_contest *contest, const struct tune_entrant *entrant)
{
    char yaml[TUNE_STRATEGY_TEXT_SIZE];
    json_t *object = json_object();
    tune_strategy_text(&entrant->strategy, yaml);
    bool is_fine =
        cli_json_set(object, "label", json_string(entrant->strategy.label)) &&
        cli_json_set(object, "kind", json_string(bk_kind_name(entrant->strategy.settings.strategy.kind))) &&
        cli_json_set(object, "settings", settings_of(&entrant->strategy.settings)) &&
        cli_json_set(object, "yaml", json_string(yaml)) &&
        cli_json_set(object, "template", json_string(entrant->base)) &&
        cli_json_set(object, "own", json_boolean(entrant->is_own)) &&
        cli_json_set(object, "requires", requirements_of(entrant)) &&
        cli_json_set(object, "grows", json_boolean(entrant->is_endless)) &&
        cli_json_set(object, "status", json_string(tune_status_name(entrant->status))) &&
        cli_json_set(object, "judged_by", json_string(lab_judged_by_name(entrant->judgment.by))) &&
        cli_json_set(object, "expected_share",
                     entrant->known.has_distribution ? cli_json_number(entrant->known.expected_share)
                                                     : json_null()) &&
        cli_json_set(object, "horizon_days", cli_json_number(tune_contest_first_over(contest, entrant))) &&
        cli_json_set(object, "seeds", json_integer(entrant->seeds)) &&
        cli_json_set(object, "metrics", metrics_of(contest, entrant));
    if (is_fine && (entrant->status == TUNE_EXCEEDS || entrant->status == TUNE_DISQUALIFIED))
        is_fine = cli_json_set(object, "fails_by", json_string(demand_names[entrant->failed]));
    return cli_json_complete(object, is_fine);
}

static json_t *candidates_of(const struct tune_contest *contest)
{
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < contest->count; i++)
        list = cli_json_append(list, candidate_of(contest, &contest->entrants[i]));
    return list;
}

static json_t *steps_of(const struct tune_margin *margin)
{
    static const char *const words[] = {"not judged", "within", "exceeds"};
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < TUNE_MARGIN_STEPS; i++) {
        const struct tune_margin_step *step = &margin->steps[i];
        json_t *object = json_object();
        bool is_fine =
            cli_json_set(object, "times", cli_json_number(step->factor)) &&
            cli_json_set(object, "within", json_string(words[step->within])) &&
            cli_json_set(object, "judged_by", json_string(lab_judged_by_name(step->judgment.by))) &&
            (!step->is_run ||
             (cli_json_set(object, figure_names[TUNE_OVER], cli_json_number(step->seen.figures[TUNE_OVER])) &&
              cli_json_set(object, "rows_max", cli_json_whole(step->seen.rows_most)) &&
              cli_json_set(object, "bytes_max", cli_json_whole(step->seen.bytes_most))));
        list = cli_json_append(list, cli_json_complete(object, is_fine));
    }
    return list;
}

static json_t *margins_of(const struct tune_contest *contest)
{
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < contest->margin_count; i++) {
        const struct tune_margin *margin = &contest->margins[i];
        if (!margin->is_tried)
            continue;
        json_t *object = json_object();
        bool is_fine =
            cli_json_set(object, "label", json_string(contest->entrants[margin->entrant].strategy.label)) &&
            cli_json_set(object, "rates", steps_of(margin));
        list = cli_json_append(list, cli_json_complete(object, is_fine));
    }
    return list;
}

static json_t *lead_of(const struct tune_contest *contest)
{
    if (contest->led == SIZE_MAX)
        return json_null();
    json_t *object = json_object();
    bool is_fine =
        cli_json_set(object, "label", json_string(contest->entrants[contest->led].strategy.label)) &&
        cli_json_set(object, "formula_s", cli_json_number(tune_contest_lead_ms(contest) / 1000));
    return cli_json_complete(object, is_fine);
}

/* null: a synthetic stream, or a trace of less than four weeks. */
static json_t *growth_of(const struct tune_contest *contest)
{
    const struct tune_growth *growth = &contest->growth;
    if (growth->weeks < TUNE_GROWTH_WEEKS)
        return json_null();
    json_t *object = json_object();
    bool is_fine = cli_json_set(object, "weeks", cli_json_whole(growth->weeks)) &&
                   cli_json_set(object, "per_day", cli_json_number(growth->per_day)) &&
                   cli_json_set(object, "doubles_days", cli_json_number(tune_growth_doubles(growth)));
    return cli_json_complete(object, is_fine);
}

static json_t *prices_of(const struct tune_contest *contest)
{
    json_t *object = json_object();
    bool is_fine = object != NULL;
    for (size_t i = 0; is_fine && i < lab_price_count; i++)
        is_fine =
            cli_json_set(object, lab_price_table[i].name,
                         cli_json_number(lab_price_of(&contest->scenario->prices, &lab_price_table[i])));
    return cli_json_complete(object, is_fine);
}

/* Values around the present one, in equal ratios: three steps are a factor of 2. */
enum { REGION_STEPS = 15, REGION_SIDE = 2 * REGION_STEPS + 1 };

static double region_value(double now, int step)
{
    return (now > 0 ? now : 1) * exp2((double)(step - REGION_STEPS) / 3);
}

static json_t *region_values(double now)
{
    json_t *list = json_array();
    for (int i = 0; i < REGION_SIDE && list != NULL; i++)
        list = cli_json_append(list, cli_json_number(region_value(now, i)));
    return list;
}

/* The cost of a setting within the limits: base + increments x price of an increment + reads x multiple of
 * the rate of reads. */
struct plane {
    const char *kind;
    double base, increments, reads;
};

static size_t take_planes(const struct tune_contest *contest, struct plane *planes)
{
    const double price = contest->scenario->prices.counter_increment;
    size_t count = 0;
    for (size_t i = 0; i < contest->count; i++) {
        const struct tune_entrant *entrant = &contest->entrants[i];
        if (entrant->status > TUNE_WITHIN || entrant->is_endless)
            continue;
        const double write = tune_mean_of(entrant, TUNE_COST_WRITE);
        const double increments = tune_mean_of(entrant, TUNE_INCREMENTS);
        planes[count++] =
            (struct plane){bk_kind_name(entrant->strategy.settings.strategy.kind), write - increments * price,
                           increments, tune_mean_of(entrant, TUNE_COST) - write};
    }
    return count;
}

static json_t *region_row(const struct plane *planes, size_t count, double now, double reads)
{
    json_t *row = json_array();
    for (int i = 0; i < REGION_SIDE && row != NULL; i++) {
        const char *kind = "";
        double least = (double)INFINITY;
        for (size_t j = 0; j < count; j++) {
            const double cost =
                planes[j].base + planes[j].increments * region_value(now, i) + planes[j].reads * reads;
            kind = cost < least ? planes[j].kind : kind;
            least = fmin(least, cost);
        }
        row = cli_json_append(row, json_string(kind));
    }
    return row;
}

/* The cheapest kind, by the price of a counter increment and by multiples of the rate of reads. */
static json_t *regions_of(const struct tune_contest *contest)
{
    const double now = contest->scenario->prices.counter_increment;
    struct plane *planes = calloc(contest->count + 1, sizeof *planes);
    const size_t count = planes == NULL ? 0 : take_planes(contest, planes);
    json_t *object = json_object(), *rows = planes == NULL ? NULL : json_array();
    for (int i = 0; i < REGION_SIDE && rows != NULL; i++)
        rows = cli_json_append(rows, region_row(planes, count, now, region_value(1, i)));
    bool is_fine = cli_json_set(object, "counter_increment", region_values(now)) &&
                   cli_json_set(object, "reads", region_values(1)) && cli_json_set(object, "cheapest", rows);
    free(planes);
    return cli_json_complete(object, is_fine);
}

/* A list: the headline, and the lines. */
static json_t *why_of(const struct report_answer *answer)
{
    json_t *list = cli_json_append(json_array(), json_string(answer->headline));
    for (size_t i = 0; i < answer->line_count; i++)
        list = cli_json_append(list, json_sprintf("%s: %s", answer->lines[i].label, answer->lines[i].text));
    return list;
}

json_t *cli_contest_json(const struct tune_contest *contest)
{
    const struct lab_scenario *scenario = contest->scenario;
    const double days_left = cli_contest_horizon(contest).days_left;
    struct cli_saying notes = {.used = 0};
    struct report_answer *answer = cli_contest_answer(contest);
    if (answer == NULL)
        return NULL;
    cli_contest_notes(contest, &notes);
    json_t *object = json_object();
    bool is_fine =
        cli_json_set(object, "scenario", json_string(scenario->name)) &&
        cli_json_set(object, "seed", cli_json_whole(scenario->seed)) &&
        cli_json_set(object, "asked", asked_of(contest)) &&
        cli_json_set(object, "candidates", candidates_of(contest)) &&
        cli_json_set(object, "recommended",
                     candidate_of(contest, &contest->entrants[contest->recommended])) &&
        cli_json_set(object, "why", why_of(answer)) && cli_json_set(object, "growth", growth_of(contest)) &&
        cli_json_set(object, "prices", prices_of(contest)) &&
        cli_json_set(object, "regions", regions_of(contest)) &&
        cli_json_set(object, "unbucketed_days_left", cli_json_number(days_left)) &&
        cli_json_set(object, "needs_buckets", json_boolean(!(days_left >= REPORT_ENOUGH_DAYS))) &&
        cli_json_set(object, "notes", json_string(notes.buffer)) &&
        cli_json_set(object, "margin", margins_of(contest)) && cli_json_set(object, "lead", lead_of(contest));
    report_answer_free(answer);
    return cli_json_complete(object, is_fine);
}
