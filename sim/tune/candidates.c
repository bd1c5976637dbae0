/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the settings that a contest tries. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/random.h"
#include "kernel/sampler.h"
#include "kernel/text.h"
#include "kernel/time.h"
#include "lab/quantity.h"
#include "lab/runnable.h"
#include "lab/setting.h"
#include "tune/contest.h"
#include "tune/odds.h"
#include "tune/weighted.h"
#include "workload/rows.h"

#define NUMBERS_SIZE       40
#define FULL_ROWS          64
#define LIGHT_ROWS         64
#define LIGHT_ROWS_COUNTED 16

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

/* Adds a candidate. Settings that the engine cannot simulate are left out. */
static bool enter(struct tune_contest *contest, const struct lab_strategy *strategy, const char *label,
                  const char *base, bool is_own, struct sim_error *error)
{
    struct tune_entrant entrant = {
        .strategy = *strategy, .base = base, .is_own = is_own, .status = TUNE_HOLDS};
    struct lab_scenario scenario;
    tune_entrant_describe(contest, &entrant);
    entrant.strategy.label = strdup(label);
    if (entrant.strategy.label == NULL)
        return sim_fail_memory(error);
    tune_scenario_of(contest->scenario, &entrant.strategy, 1, contest->scenario->seed, 1, &scenario);
    if (!lab_run_check(&scenario, NULL)) {
        contest->left_out++;
        free(entrant.strategy.label);
        return true;
    }
    return tune_race_add(&contest->race, &entrant) || sim_fail_memory(error);
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
    for (size_t i = 0; i < contest->race.count; i++) {
        const struct lab_strategy *other = &contest->race.entrants[i].strategy;
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
    for (size_t i = 0; i < contest->race.count; i++) {
        if (strcmp(contest->race.entrants[i].strategy.label, label) == 0)
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

/* The sizes of a trace are in its file. */
static bool has_varied_bytes(const struct lab_scenario *scenario)
{
    return scenario->workload.row_bytes.kind != SIM_SIZE_CONSTANT ||
           (scenario->trace_path != NULL && !scenario->has_row_bytes);
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
    uint32_t kinds = contest->race.terms.kinds, met = 0;
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

/* Whether the limit is less than a row of mean size; `limit_rows` is then still 1. */
static bool is_below(const struct tune_contest *contest)
{
    uint64_t limit = contest->scenario->limits.partition_bytes;
    return limit != 0 && (double)limit < contest->rows.mean_bytes;
}

/* Strategies that number each row make partitions of exactly this many rows. */
static void distribution_of_count(const struct tune_contest *contest, struct tune_entrant *entrant)
{
    const struct lab_scenario *scenario = contest->scenario;
    enum bk_source source = entrant->strategy.settings.source;
    bool numbers = source == BK_SOURCE_EXTERNAL || source == BK_SOURCE_COUNTER || source == BK_SOURCE_LWT ||
                   source == BK_SOURCE_LEASE;
    bool is_exact = scenario->limits.partition_bytes == 0 || !has_varied_bytes(scenario);
    bool is_over = is_below(contest) ||
                   (double)entrant->strategy.settings.strategy.of.count.rows > contest->rows.limit_rows;
    uint64_t limit = scenario->limits.partition_rows;
    if (!is_exact)
        is_over = limit != 0 && entrant->strategy.settings.strategy.of.count.rows > limit;
    entrant->exact_share = is_over ? 1 : 0;
    entrant->has_distribution = numbers && (is_exact || is_over);
}

/* Returns a lower bound on the share of all partitions that exceed the limit, from the exact share of those
 * whose rows have all come. One that begins within the last rows of its key, as many as the limit has, cannot
 * exceed it any more. */
static double share_of_all(const struct tune_rows *rows, const struct tune_distribution *distribution,
                           double exact_share)
{
    const double count = (double)rows->rows, keys = (double)rows->keys;
    const double mean = (double)distribution->threshold / distribution->p;
    return exact_share * fmax(0, count - keys * rows->limit_rows) / (count + keys * mean);
}

/* When rows are counted at once and have one size, the distribution is exact. A maximum age ends partitions
 * earlier, so the distribution is then only a bound, and refuses no setting. */
static void find_distribution(const struct tune_contest *contest, struct tune_entrant *entrant)
{
    const struct lab_scenario *scenario = contest->scenario;
    const struct bk_strategy *strategy = &entrant->strategy.settings.strategy;
    bool is_exact = scenario->limits.partition_bytes == 0 || !has_varied_bytes(scenario);
    bool is_cluster = scenario->engine == LAB_ENGINE_CLUSTER, is_below_a_row = is_exact && is_below(contest);
    if (scenario->design.is_given)
        return;
    /* A row's own number decides its bucket, regardless of the agent. */
    const bool is_bound =
        is_cluster && (strategy->kind != BK_COUNT || entrant->strategy.settings.source != BK_SOURCE_EXTERNAL);
    if (is_bound && (strategy->kind != BK_PROBABILISTIC || strategy->max_age_ns != 0))
        return;
    if (strategy->kind == BK_COUNT) {
        distribution_of_count(contest, entrant);
    } else if (strategy->kind == BK_PROBABILISTIC) {
        double n = (double)strategy->of.probabilistic.chance_denominator;
        const struct tune_distribution distribution = {
            .p = n > 0 ? (double)strategy->of.probabilistic.chance_numerator / n
                       : ldexp(1, -(int)strategy->of.probabilistic.bits),
            .threshold = strategy->of.probabilistic.threshold};
        entrant->exact_share =
            is_below_a_row ? 1 : tune_above(&distribution, (uint64_t)fmin(contest->rows.limit_rows, 1e18));
        /* By mean sizes the distribution may refuse a setting, but never accept one; nor in the cluster,
         * where rows that come until an increment takes effect make partitions larger. Runs there are short,
         * so partitions that are open at the end count as well. */
        const double certain = is_bound ? share_of_all(&contest->rows, &distribution, entrant->exact_share)
                                        : entrant->exact_share;
        entrant->has_distribution = (is_exact && !is_bound) || certain > contest->race.terms.risk;
    } else if (strategy->kind == BK_WEIGHTED && !has_varied_bytes(scenario) &&
               scenario->limits.partition_rows == 0) {
        const struct tune_weighted distribution = {.bytes = strategy->of.weighted.bytes,
                                                   .threshold = strategy->of.weighted.threshold,
                                                   .row_bytes =
                                                       (uint64_t)fmax(1, round(contest->rows.mean_payload))};
        /* The payload of rows beyond the limit. */
        double limit = fmin(contest->rows.limit_rows * (double)distribution.row_bytes, 1e18);
        entrant->exact_share = tune_weighted_above(&distribution, (uint64_t)limit);
        entrant->has_distribution = true;
    }
    if (strategy->max_age_ns != 0 && entrant->exact_share > contest->race.terms.risk)
        entrant->has_distribution = false;
}

/* Increments per 1000 rows that add at most one each. If sizes differ, from this many random sizes. */
static double increments_least(const struct tune_contest *contest, const struct bk_strategy *strategy,
                               enum bk_source source)
{
    const struct lab_scenario *scenario = contest->scenario;
    if (strategy->kind == BK_PROBABILISTIC) {
        double n = (double)strategy->of.probabilistic.chance_denominator;
        return 1000 * (n > 0 ? (double)strategy->of.probabilistic.chance_numerator / n
                             : ldexp(1, -(int)strategy->of.probabilistic.bits));
    }
    if (strategy->kind == BK_COUNT && (source == BK_SOURCE_COUNTER || source == BK_SOURCE_LWT))
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

/* Returns a lower bound on the cost: a read queries at least one partition, or all with hash, and the rate of
 * increments is known. */
static double least_cost(const struct tune_contest *contest, const struct bk_strategy *strategy,
                         enum bk_source source)
{
    const struct lab_scenario *scenario = contest->scenario;
    const struct lab_prices *prices = &scenario->prices;
    double reads = 0, asks = 1;
    if (strategy->kind == BK_HASH) {
        const uint32_t buckets = strategy->of.hash.buckets;
        asks = scenario->reads.limit != 0 ? fmin(buckets, (double)scenario->reads.limit) : buckets;
    }
    for (int kind = 0; kind < LAB_READ_KINDS; kind++)
        reads += scenario->reads.kinds[kind].rate_per_s * (double)contest->rows.lasts_ns * 1e-9;
    return increments_least(contest, strategy, source) * fmin(prices->counter_increment, prices->lwt) +
           1000 * reads * asks / (double)contest->rows.rows * prices->partition_read;
}

/* Returns the number of windows of all keys, if each of them certainly has rows, or 0: the expected number of
 * rows in the emptiest is at least FULL_ROWS, so that even with 10^12 windows the chance that any is empty is
 * below 10^-15. */
static double full_windows(const struct tune_contest *contest, const struct bk_strategy *strategy)
{
    const struct lab_scenario *scenario = contest->scenario;
    const struct wl_workload *workload = &scenario->workload;
    const int64_t window_ns = strategy->of.time.window_ns;
    const struct bk_row first = {.time_ns = workload->start_ns};
    struct bk_route route;
    if (strategy->kind != BK_TIME || strategy->of.time.calendar != BK_CALENDAR_NONE ||
        scenario->engine == LAB_ENGINE_CLUSTER || scenario->trace_path != NULL ||
        wl_has_own_times(workload) || workload->has_bursts || workload->duration_ns % window_ns != 0 ||
        bk_route(strategy, NULL, &first, &route) != BK_OK || route.from_ns != workload->start_ns)
        return 0;
    const double keys = (double)workload->key_count;
    const double windows = keys * (double)(workload->duration_ns / window_ns);
    double rows = workload->rate_per_s * (double)window_ns * 1e-9 *
                  sim_zipf_share(&workload->popularity, workload->key_count - 1) *
                  (workload->has_daily ? 1 - workload->daily_amplitude : 1);
    for (size_t i = 0; i < workload->spike_count; i++)
        rows *= fmin(1, workload->spikes[i].factor);
    return rows >= FULL_ROWS && windows <= 1e12 ? windows : 0;
}

/* Returns whether there is at most one partition in LIGHT_ROWS rows on average, and one increment in
 * LIGHT_ROWS_COUNTED. */
static bool is_light(const struct tune_contest *contest, const struct bk_strategy *strategy)
{
    const struct tune_rows *rows = &contest->rows;
    const double size = tune_bucket_size(strategy);
    double each = 0;
    if (strategy->kind == BK_TIME)
        each = size * (double)rows->rows / ((double)rows->keys * (double)rows->lasts_ns);
    else if (strategy->max_age_ns == 0)
        each = strategy->kind == BK_WEIGHTED ? size / rows->mean_payload : size;
    return each >= LIGHT_ROWS &&
           increments_least(contest, strategy, BK_SOURCE_EXTERNAL) <= 1000.0 / LIGHT_ROWS_COUNTED;
}

bool tune_is_bounded(const struct tune_contest *contest)
{
    const int64_t ttl_ns = contest->scenario->row_ttl_ns;
    return ttl_ns > 0 && ttl_ns <= contest->rows.lasts_ns;
}

void tune_entrant_describe(const struct tune_contest *contest, struct tune_entrant *entrant)
{
    const struct lab_scenario *scenario = contest->scenario;
    enum bk_kind kind = entrant->strategy.settings.strategy.kind;
    entrant->requirements = lab_requirements(&entrant->strategy.settings);
    entrant->is_endless = !lab_kind_ends(kind) && !tune_is_bounded(contest);
    /* A trace without sizes gets sizes of row.bytes, which differ with every seed. */
    bool has_drawn_bytes = scenario->has_row_bytes && has_varied_bytes(scenario);
    entrant->is_fixed = scenario->trace_path != NULL && scenario->engine != LAB_ENGINE_CLUSTER &&
                        (scenario->limits.partition_bytes == 0 || !has_drawn_bytes) &&
                        (kind == BK_UNBUCKETED || kind == BK_TIME || kind == BK_COUNT);
    entrant->is_same = entrant->is_fixed && !has_drawn_bytes &&
                       (!scenario->reads.present || lab_reads_can_be_expected(scenario));
    entrant->has_distribution = false;
    entrant->full_count = full_windows(contest, &entrant->strategy.settings.strategy);
    entrant->cost_least =
        least_cost(contest, &entrant->strategy.settings.strategy, entrant->strategy.settings.source);
    entrant->is_light = is_light(contest, &entrant->strategy.settings.strategy);
    find_distribution(contest, entrant);
    if (entrant->has_distribution && entrant->exact_share > contest->race.terms.risk)
        entrant->status = TUNE_REFUSED;
}
