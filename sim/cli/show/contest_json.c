/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints tune's comparison of strategies as JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/contest_answer.h"
#include "cli/json.h"
#include "lab/setting.h"
#include "tune/strategy_text.h"

static const char *const figure_names[TUNE_FIGURE_COUNT] = {
    [TUNE_COST_WRITE] = "cost_of_writes_per_1000_rows",
    [TUNE_OPS] = "writes.extra_ops_per_1000_rows",
    [TUNE_INCREMENTS] = "writes.counter_increments_per_1000_rows",
    [TUNE_CV] = "partitions.closed.rows.cv",
    [TUNE_PER_READ] = "reads.partitions_per_read.mean",
    [TUNE_P99_BYTES] = "partitions.all.bytes.p99",
    [TUNE_COST] = "cost_per_1000_rows",
    [TUNE_PER_READ_P99] = "reads.partitions_per_read.p99",
    [TUNE_OVER] = "partitions.over_limit.share",
    [TUNE_TINY] = "partitions.tiny.share",
};
static const char *const demand_names[TUNE_DEMAND_COUNT] = {
    [TUNE_IN_LIMITS] = "limits",  [TUNE_NOT_TINY] = "tiny",       [TUNE_FEW_PER_READ] = "partitions_per_read",
    [TUNE_FINDABLE] = "findable", [TUNE_AVAILABLE] = "available",
};

static json_t *asked_of(const struct tune_contest *contest)
{
    const struct lab_tune *terms = &contest->race.terms;
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
    json_t *object = json_object();
    bool is_fine = object != NULL;
    for (int i = 0; is_fine && i < TUNE_FIGURE_COUNT; i++) {
        struct tune_sample sample = tune_figures_of(entrant, (enum tune_figure)i);
        if (sample.count == 0)
            continue;
        struct tune_interval interval = tune_sample_mean_interval(&sample, contest->race.terms.confidence);
        if (i == TUNE_OVER)
            interval = entrant->over;
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

/* null: not known, or never. */
static json_t *horizon_of(const struct tune_contest *contest, const struct tune_entrant *entrant)
{
    struct tune_horizon horizon = tune_horizon_of(contest, entrant);
    if (isnan(horizon.days))
        return json_null();
    json_t *object = json_object();
    bool is_fine = cli_json_set(object, "days", cli_json_number(horizon.days)) &&
                   cli_json_set(object, "is_least", json_boolean(horizon.is_least)) &&
                   cli_json_set(object, "partitions", cli_json_number(horizon.partitions)) &&
                   cli_json_set(object, "over", cli_json_number(horizon.over)) &&
                   cli_json_set(object, "over_most", cli_json_number(horizon.over_most));
    return cli_json_complete(object, is_fine);
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
        cli_json_set(object, "horizon", horizon_of(contest, entrant)) &&
        cli_json_set(object, "exact_share",
                     entrant->has_distribution ? cli_json_number(entrant->exact_share) : json_null()) &&
        cli_json_set(object, "seeds", json_integer(entrant->seeds)) &&
        cli_json_set(object, "metrics", metrics_of(contest, entrant));
    if (is_fine && entrant->status == TUNE_FAILS)
        is_fine = cli_json_set(object, "fails_by", json_string(demand_names[entrant->failed]));
    if (is_fine && entrant->status == TUNE_DOMINATED)
        is_fine = cli_json_set(object, "dominated_by",
                               json_string(contest->race.entrants[entrant->dominator].strategy.label));
    return cli_json_complete(object, is_fine);
}

static json_t *candidates_of(const struct tune_contest *contest)
{
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < contest->race.count; i++)
        list = cli_json_append(list, candidate_of(contest, &contest->race.entrants[i]));
    return list;
}

static json_t *front_of(const struct tune_race *race)
{
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < race->count; i++) {
        if (race->entrants[i].status <= TUNE_FRONT)
            list = cli_json_append(list, json_string(race->entrants[i].strategy.label));
    }
    return list;
}

static json_t *recommended_of(const struct tune_contest *contest)
{
    json_t *object = candidate_of(contest, &contest->race.entrants[contest->race.recommended]);
    bool is_fine = object != NULL && cli_json_set(object, "is_shown", json_boolean(contest->race.is_shown));
    return cli_json_complete(object, is_fine);
}

static json_t *steps_of(const struct tune_margin *margin)
{
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < TUNE_MARGIN_STEPS; i++) {
        const struct tune_margin_step *step = &margin->steps[i];
        json_t *object = json_object();
        bool is_fine =
            cli_json_set(object, "times", cli_json_number(step->factor)) &&
            cli_json_set(object, "holds", json_boolean(step->holds)) &&
            cli_json_set(object, "expected_over_least",
                         step->is_bounded ? cli_json_number(step->over_least) : json_null()) &&
            cli_json_set(object, "expected_over_most",
                         step->is_bounded ? cli_json_number(step->over_most) : json_null()) &&
            (!step->is_run || tune_is_cut(&step->seen) ||
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
        bool is_fine = cli_json_set(object, "label",
                                    json_string(contest->race.entrants[margin->entrant].strategy.label)) &&
                       cli_json_set(object, "rates", steps_of(margin));
        list = cli_json_append(list, cli_json_complete(object, is_fine));
    }
    return list;
}

static json_t *lead_of(const struct tune_contest *contest)
{
    const struct tune_lead *lead = &contest->lead;
    if (contest->led == SIZE_MAX)
        return json_null();
    json_t *object = json_object();
    bool is_fine =
        cli_json_set(object, "label", json_string(contest->race.entrants[contest->led].strategy.label)) &&
        cli_json_set(object, "formula_s", cli_json_number((double)lead->formula_ns / 1e9)) &&
        cli_json_set(object, "safe_s",
                     lead->safe_ns < 0 ? json_null() : cli_json_number((double)lead->safe_ns / 1e9)) &&
        cli_json_set(object, "unsafe_s",
                     lead->unsafe_ns < 0 ? json_null() : cli_json_number((double)lead->unsafe_ns / 1e9));
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

static json_t *flips_of(const struct tune_contest *contest)
{
    static const char *const axes[TUNE_AXIS_COUNT] = {"counter_increment", "reads"};
    json_t *list = json_array();
    for (int i = 0; list != NULL && i < 2 * TUNE_AXIS_COUNT; i++) {
        struct tune_flip flip = tune_flip_of(contest, (enum tune_axis)(i / 2), i % 2 != 0);
        if (flip.entrant == SIZE_MAX)
            continue;
        json_t *object = json_object();
        bool is_fine =
            cli_json_set(object, "axis", json_string(axes[i / 2])) &&
            cli_json_set(object, "now", cli_json_number(tune_axis_now(contest, (enum tune_axis)(i / 2)))) &&
            cli_json_set(object, "at", cli_json_number(flip.at)) &&
            cli_json_set(object, "label", json_string(contest->race.entrants[flip.entrant].strategy.label));
        list = cli_json_append(list, cli_json_complete(object, is_fine));
    }
    return list;
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

static json_t *region_row(const struct tune_contest *contest, const struct tune_plane *planes, size_t count,
                          double reads)
{
    const double now = tune_axis_now(contest, TUNE_AXIS_COUNTER);
    json_t *row = json_array();
    for (int i = 0; i < REGION_SIDE && row != NULL; i++) {
        size_t best = tune_cheapest_at(planes, count, region_value(now, i), reads);
        const char *kind = best == SIZE_MAX
                               ? ""
                               : bk_kind_name(contest->race.entrants[best].strategy.settings.strategy.kind);
        row = cli_json_append(row, json_string(kind));
    }
    return row;
}

/* The cheapest kind, by the price of a counter increment and by multiples of the rate of reads. */
static json_t *regions_of(const struct tune_contest *contest)
{
    size_t count;
    struct tune_plane *planes = tune_planes(contest, &count);
    json_t *object = json_object(), *rows = planes == NULL ? NULL : json_array();
    for (int i = 0; i < REGION_SIDE && rows != NULL; i++)
        rows = cli_json_append(rows, region_row(contest, planes, count, region_value(1, i)));
    bool is_fine =
        cli_json_set(object, "counter_increment", region_values(tune_axis_now(contest, TUNE_AXIS_COUNTER))) &&
        cli_json_set(object, "reads", region_values(1)) && cli_json_set(object, "cheapest", rows);
    free(planes);
    return cli_json_complete(object, is_fine);
}

json_t *cli_contest_json(const struct tune_contest *contest)
{
    const struct lab_scenario *scenario = contest->scenario;
    struct cli_saying why = {.used = 0}, notes = {.used = 0}, horizon = {.used = 0}, flip = {.used = 0};
    cli_contest_why(contest, &why);
    cli_contest_horizon(contest, &horizon);
    cli_contest_flip(contest, &flip);
    cli_contest_margins(contest, &notes);
    cli_contest_notes(contest, &notes);
    json_t *object = json_object();
    bool is_fine =
        cli_json_set(object, "scenario", json_string(scenario->name)) &&
        cli_json_set(object, "seed", cli_json_whole(scenario->seed)) &&
        cli_json_set(object, "risk", cli_json_number(contest->race.terms.risk)) &&
        cli_json_set(object, "asked", asked_of(contest)) &&
        cli_json_set(object, "candidates", candidates_of(contest)) &&
        cli_json_set(object, "front", front_of(&contest->race)) &&
        cli_json_set(object, "recommended", recommended_of(contest)) &&
        cli_json_set(object, "why", json_string(why.buffer)) &&
        cli_json_set(object, "horizon", json_string(horizon.buffer)) &&
        cli_json_set(object, "growth", growth_of(contest)) &&
        cli_json_set(object, "prices", prices_of(contest)) &&
        cli_json_set(object, "flips", flips_of(contest)) &&
        cli_json_set(object, "regions", regions_of(contest)) &&
        cli_json_set(object, "flip", json_string(flip.buffer)) &&
        cli_json_set(object, "needs_buckets", json_boolean(cli_contest_needs_buckets(contest))) &&
        cli_json_set(object, "unbucketed_days_left", cli_json_number(cli_contest_unbucketed_days(contest))) &&
        cli_json_set(object, "notes", json_string(notes.buffer + (notes.buffer[0] == ' '))) &&
        cli_json_set(object, "margin", margins_of(contest)) && cli_json_set(object, "lead", lead_of(contest));
    return cli_json_complete(object, is_fine);
}
