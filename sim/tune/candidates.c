/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the settings that a contest tries. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"
#include "kernel/random.h"
#include "kernel/sampler.h"
#include "kernel/text.h"
#include "kernel/time.h"
#include "lab/quantity.h"
#include "lab/scenario.h"
#include "lab/setting.h"
#include "tune/contest.h"
#include "tune/horizon.h"

#define NUMBERS_SIZE 40

static size_t size_of(enum lab_setting_type type)
{
    return type == LAB_SETTING_FLAG                                ? sizeof(bool)
           : type == LAB_SETTING_U32 || type == LAB_SETTING_CHOICE ? sizeof(uint32_t)
           : type == LAB_SETTING_CHANCE                            ? 2 * sizeof(uint64_t)
                                                                   : sizeof(uint64_t);
}

/* Whether all settings that `tune` varies, or all others, are equal. */
static bool are_same(const struct lab_settings *one, const struct lab_settings *other, bool is_rung)
{
    enum bk_kind kind = one->strategy.kind;
    if (kind != other->strategy.kind)
        return false;
    for (size_t i = 0; i < lab_setting_count; i++) {
        const struct lab_setting *setting = &lab_setting_table[i];
        size_t place = lab_setting_place(setting, kind, 0);
        if (place != SIZE_MAX && setting->path != NULL && setting->is_rung == is_rung &&
            memcmp((const unsigned char *)one + place, (const unsigned char *)other + place,
                   size_of(setting->type)) != 0)
            return false;
    }
    return true;
}

/* The label of the first strategy with the same settings besides its numbers. */
static const char *template_of(const struct lab_scenario *scenario, const struct lab_strategy *own)
{
    const struct lab_strategy *first = scenario->strategies;
    while (first != own && !are_same(&first->settings, &own->settings, false))
        first++;
    return first->label;
}

/* Increments per 1000 rows that add at most one each. If sizes differ, from this many random sizes. */
static double increments_least(const struct tune_contest *contest, const struct lab_settings *settings)
{
    const struct lab_scenario *scenario = contest->scenario;
    const struct bk_strategy *strategy = &settings->strategy;
    if (strategy->kind == BK_PROBABILISTIC) {
        double n = (double)strategy->of.probabilistic.chance_denominator;
        return 1000 * (n > 0 ? (double)strategy->of.probabilistic.chance_numerator / n
                             : ldexp(1, -(int)strategy->of.probabilistic.bits));
    }
    if (strategy->kind == BK_COUNT &&
        (settings->source == BK_SOURCE_COUNTER || settings->source == BK_SOURCE_LWT))
        return 1000;
    if (strategy->kind != BK_WEIGHTED || (scenario->trace_path != NULL && !scenario->has_row_bytes))
        return 0;
    struct sim_random random;
    double sum = 0, unit = (double)strategy->of.weighted.bytes;
    sim_random_init(&random, scenario->seed, SIM_ROW_BYTES, UINT64_MAX);
    for (unsigned i = 0; i < TUNE_SIZES_DRAWN; i++)
        sum += fmin(1, (double)sim_size_draw(&scenario->workload.row_bytes, &random) / unit);
    return 1000 * sum / TUNE_SIZES_DRAWN;
}

/* Returns a lower bound on the load: a read queries at least one partition, or all with hash, and the rate of
 * increments is known. Chance may make either a little less. */
static double least_load(const struct tune_contest *contest, const struct lab_settings *settings)
{
    const struct lab_scenario *scenario = contest->scenario;
    const struct lab_prices *prices = &scenario->prices;
    double reads = 0, asks = 1;
    if (settings->strategy.kind == BK_HASH) {
        const uint32_t buckets = settings->strategy.of.hash.buckets;
        asks = scenario->reads.limit != 0 ? fmin(buckets, (double)scenario->reads.limit) : buckets;
    }
    for (int kind = 0; kind < LAB_READ_KINDS; kind++)
        reads += scenario->reads.kinds[kind].rate_per_s * (double)contest->rows.lasts_ns * 1e-9;
    return 1000 + increments_least(contest, settings) * fmin(prices->counter_increment, prices->lwt) +
           1000 * reads * asks / (double)contest->rows.rows * prices->partition_read;
}

/* The sizes of a trace are in its file. */
static bool has_varied_bytes(const struct lab_scenario *scenario)
{
    return scenario->workload.row_bytes.kind != SIM_SIZE_CONSTANT ||
           (scenario->trace_path != NULL && !scenario->has_row_bytes);
}

/* Whether every figure is the same with every seed: nothing is drawn for a trace but sizes that it lacks,
 * increments, and reads. */
static bool is_same(const struct lab_scenario *scenario, enum bk_kind kind)
{
    return scenario->trace_path != NULL && scenario->engine != LAB_ENGINE_CLUSTER &&
           (kind == BK_UNBUCKETED || kind == BK_TIME || kind == BK_COUNT) &&
           !(scenario->has_row_bytes && has_varied_bytes(scenario)) &&
           (!scenario->reads.present || lab_reads_can_be_expected(scenario));
}

static void describe(const struct tune_contest *contest, struct tune_entrant *entrant)
{
    const struct lab_settings *settings = &entrant->strategy.settings;
    const enum bk_kind kind = settings->strategy.kind;
    entrant->requirements = lab_requirements(settings);
    entrant->is_endless =
        !lab_kind_ends(kind) && !tune_rows_stop(contest->scenario, tune_contest_days(contest));
    entrant->needs = entrant->is_endless || is_same(contest->scenario, kind) ? 1 : contest->terms.seeds;
    entrant->load_least = least_load(contest, settings);
    if (kind == BK_PROBABILISTIC)
        entrant->cv_known = sqrt((1 - increments_least(contest, settings) / 1000) /
                                 (double)settings->strategy.of.probabilistic.threshold);
    else if (kind == BK_WEIGHTED)
        entrant->cv_known = sqrt(1 / (double)settings->strategy.of.weighted.threshold);
    tune_know(contest, settings, 1, &entrant->known);
}

/* Adds a candidate. Settings that the engine cannot simulate are left out. */
static bool enter(struct tune_contest *contest, const struct lab_strategy *strategy, const char *label,
                  const char *base, bool is_own, struct sim_error *error)
{
    struct tune_entrant entrant = {
        .strategy = *strategy, .base = base, .is_own = is_own, .status = TUNE_COSTLY};
    struct lab_scenario scenario;
    entrant.strategy.label = strdup(label);
    if (entrant.strategy.label == NULL)
        return sim_fail_memory(error);
    tune_scenario_of(contest->scenario, &entrant.strategy, 1, contest->scenario->seed, 1, &scenario);
    if (!lab_run_check(&scenario, NULL)) {
        contest->left_out++;
        free(entrant.strategy.label);
        return true;
    }
    describe(contest, &entrant);
    if (!sim_grow(&contest->entrants, &contest->capacity, contest->count + 1, sizeof *contest->entrants)) {
        free(entrant.strategy.label);
        return sim_fail_memory(error);
    }
    contest->entrants[contest->count++] = entrant;
    return true;
}

/* A strategy whose settings change during the run is not a candidate. */
static bool enter_own(struct tune_contest *contest, const struct lab_strategy *own, struct sim_error *error)
{
    if (own->settings.change_count > 0) {
        contest->left_out++;
        return true;
    }
    return enter(contest, own, own->label, template_of(contest->scenario, own), true, error);
}

static bool is_entered(const struct tune_contest *contest, const struct lab_strategy *strategy)
{
    for (size_t i = 0; i < contest->count; i++) {
        const struct lab_strategy *other = &contest->entrants[i].strategy;
        if (are_same(&other->settings, &strategy->settings, false) &&
            are_same(&other->settings, &strategy->settings, true))
            return true;
    }
    return false;
}

/* "13x3": bits and threshold; "512KBx40", "10d", "20480", "256". */
static void numbers_of(const struct bk_strategy *strategy, char *buffer)
{
    char unit[NUMBERS_SIZE / 2];
    buffer[0] = '\0';
    switch (strategy->kind) {
    case BK_TIME:
        lab_quantity_duration_text(strategy->of.time.window_ns, buffer, NUMBERS_SIZE);
        break;
    case BK_COUNT:
        snprintf(buffer, NUMBERS_SIZE, "%" PRIu64, strategy->of.count.rows);
        break;
    case BK_PROBABILISTIC:
        snprintf(buffer, NUMBERS_SIZE, "%" PRIu32 "x%" PRIu64, strategy->of.probabilistic.bits,
                 strategy->of.probabilistic.threshold);
        break;
    case BK_WEIGHTED:
        lab_quantity_bytes_text(strategy->of.weighted.bytes, unit, sizeof unit);
        snprintf(buffer, NUMBERS_SIZE, "%sx%" PRIu64, unit, strategy->of.weighted.threshold);
        break;
    case BK_HASH:
        snprintf(buffer, NUMBERS_SIZE, "%" PRIu32, strategy->of.hash.buckets);
        break;
    case BK_UNBUCKETED:
    case BK_KIND_COUNT:
        break;
    }
}

static bool is_taken(const struct tune_contest *contest, const char *label)
{
    for (size_t i = 0; i < contest->count; i++) {
        if (strcmp(contest->entrants[i].strategy.label, label) == 0)
            return true;
    }
    return false;
}

/* The template's label and the numbers, truncated and numbered if necessary. */
static void name(const struct tune_contest *contest, const char *base, const struct bk_strategy *strategy,
                 char *label)
{
    char numbers[NUMBERS_SIZE], tail[NUMBERS_SIZE + 16];
    numbers_of(strategy, numbers);
    for (unsigned number = 1;; number++) {
        if (number == 1)
            snprintf(tail, sizeof tail, "%s%s", numbers[0] == '\0' ? "" : "-", numbers);
        else
            snprintf(tail, sizeof tail, "-%s%s%u", numbers, numbers[0] == '\0' ? "" : "-", number);
        size_t room = LAB_LABEL_SIZE_MAX - strlen(tail), size = strlen(base);
        size = sim_utf8_valid(base, size < room ? size : room);
        snprintf(label, LAB_LABEL_SIZE_MAX + 1, "%.*s%s", (int)size, base, tail);
        if (!is_taken(contest, label))
            return;
    }
}

static bool enter_ladder(struct tune_contest *contest, const struct lab_strategy *template, const char *base,
                         struct sim_error *error)
{
    struct bk_strategy ladder[TUNE_LADDER_MAX];
    size_t count = tune_ladder(contest, &template->settings.strategy, ladder);
    struct lab_strategy strategy = *template;
    strategy.settings.change_count = 0;
    strategy.line = strategy.column = 0;
    for (size_t i = 0; i < count; i++) {
        char label[LAB_LABEL_SIZE_MAX + 1];
        strategy.settings.strategy = ladder[i];
        if (is_entered(contest, &strategy))
            continue;
        name(contest, base, &ladder[i], label);
        if (!enter(contest, &strategy, label, base, false, error))
            return false;
    }
    return true;
}

/* The other settings of a kind that the scenario lacks. False: the kind would be of no use. */
static bool default_template(const struct tune_contest *contest, enum bk_kind kind, struct lab_strategy *out)
{
    bool is_cluster = contest->scenario->engine == LAB_ENGINE_CLUSTER;
    *out = (struct lab_strategy){.settings.strategy = {.kind = kind}};
    switch (kind) {
    case BK_UNBUCKETED:
    case BK_TIME:
    case BK_HASH:
        return true;
    case BK_COUNT: /* only the application can supply an external number */
        out->settings.source = BK_SOURCE_COUNTER;
        return true;
    case BK_PROBABILISTIC:
    case BK_WEIGHTED:
        /* With several agents: the only coordination that needs neither clocks nor luck. */
        if (is_cluster) {
            out->settings.coordination = BK_GUARDED;
            out->settings.counter = BK_COUNTER_COLUMN;
            lab_setting_put_standard(lab_setting_find(kind, "grant"), &out->settings);
        }
        return kind == BK_PROBABILISTIC ||
               (contest->scenario->limits.partition_bytes != 0 && has_varied_bytes(contest->scenario));
    case BK_KIND_COUNT:
        break;
    }
    return false;
}

/* Whether the scenario has coordinations with agents, but not the one that is always safe. */
static bool lacks_guarded(const struct lab_scenario *scenario)
{
    bool lacks = scenario->engine == LAB_ENGINE_CLUSTER;
    for (size_t i = 0; i < scenario->strategy_count; i++)
        lacks = lacks && scenario->strategies[i].settings.coordination != BK_GUARDED;
    return lacks;
}

/* Whether an earlier strategy of the scenario is the same template. */
static bool is_repeated(const struct lab_scenario *scenario, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (are_same(&scenario->strategies[i].settings, &scenario->strategies[index].settings, false))
            return true;
    }
    return false;
}

bool tune_candidates(struct tune_contest *contest, struct sim_error *error)
{
    const struct lab_scenario *scenario = contest->scenario;
    uint32_t kinds = contest->terms.kinds, met = 0;
    for (size_t i = 0; i < scenario->strategy_count; i++) {
        const struct lab_strategy *own = &scenario->strategies[i];
        met |= UINT32_C(1) << own->settings.strategy.kind;
        if ((kinds >> own->settings.strategy.kind & 1) != 0 && !enter_own(contest, own, error))
            return false;
    }
    for (size_t i = 0; i < scenario->strategy_count; i++) {
        const struct lab_strategy *own = &scenario->strategies[i];
        if ((kinds >> own->settings.strategy.kind & 1) != 0 && !is_repeated(scenario, i) &&
            !enter_ladder(contest, own, own->label, error))
            return false;
    }
    for (unsigned kind = 0; kind < BK_KIND_COUNT; kind++) {
        struct lab_strategy template;
        bool is_new = (met >> kind & 1) == 0 || (kind == BK_PROBABILISTIC && lacks_guarded(scenario));
        if (is_new && (kinds >> kind & 1) != 0 && default_template(contest, (enum bk_kind)kind, &template) &&
            !enter_ladder(contest, &template,
                          (met >> kind & 1) == 0 ? bk_kind_name((enum bk_kind)kind) : "guarded", error))
            return false;
    }
    return true;
}
