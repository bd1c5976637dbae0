/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the settings that a contest tries: for each template a ladder of numbers, in steps from large buckets
 * to small ones. Also writes a setting as YAML. */
#define _POSIX_C_SOURCE 200809L
#include <assert.h>
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
#include "lab/tally.h"
#include "tune/contest.h"
#include "tune/odds.h"

#define VALUES_SIZE 512
#define SIZES_DRAWN 4096 /* draws to estimate the mean of a function of a row's size */
/* Above this threshold the CV is below 3%, and a smaller one has no benefit. With agents, each setting is
 * simulated on its own cluster, so the ladder has fewer rungs. */
#define THRESHOLD_MOST         1000u
#define THRESHOLD_MOST_CLUSTER 100u
/* Unless the distribution decides, windows are tried if they are at most this many times shorter than the
 * mean rate of the busiest key requires. */
#define WINDOW_ROOM 100.0
#define WINDOW_PART 4.0 /* else this many times shorter than the first that is within the limits */
#define HASH_MOST   65536.0
/* Up to this threshold, bytes are varied in fine steps. */
#define WEIGHTED_FINE 2u

/* The settings that `tune` varies, "9x40", or all others. */
static void values_of(const struct lab_settings *settings, bool is_rung, char buffer[VALUES_SIZE])
{
    size_t used = 0;
    buffer[0] = '\0';
    for (size_t i = 0; i < lab_setting_count; i++) {
        const struct lab_setting *setting = &lab_setting_table[i];
        const size_t place = lab_setting_place(setting, settings->strategy.kind, 0);
        char text[LAB_SETTING_TEXT_SIZE];
        if (place == SIZE_MAX || setting->path == NULL || setting->is_rung != is_rung ||
            !lab_setting_is_said(setting, settings, 0, LAB_ZERO_WRITTEN))
            continue;
        lab_setting_text(setting, (const unsigned char *)settings + place, text);
        used += (size_t)snprintf(buffer + used, VALUES_SIZE - used, "%s%s%s", used == 0 ? "" : "x",
                                 is_rung ? "" : setting->path, text);
        assert(used < VALUES_SIZE);
    }
}

/* Whether two strategies are alike, besides their numbers. */
static bool are_alike(const struct lab_settings *one, const struct lab_settings *other)
{
    char mine[VALUES_SIZE], its[VALUES_SIZE];
    values_of(one, false, mine);
    values_of(other, false, its);
    return one->strategy.kind == other->strategy.kind && strcmp(mine, its) == 0;
}

/* The label of the first strategy that is alike. */
static const char *template_of(const struct lab_scenario *scenario, const struct lab_strategy *own)
{
    const struct lab_strategy *first = scenario->strategies;
    while (first != own && !are_alike(&first->settings, &own->settings))
        first++;
    return first->label;
}

/* Increments per 1000 rows that add at most one each. If sizes differ, from this many random sizes. */
static double increments_least(const struct tune_contest *contest, const struct lab_settings *settings)
{
    const struct lab_scenario *scenario = contest->scenario;
    const struct bk_strategy *strategy = &settings->strategy;
    if (strategy->kind == BK_KIND_PROBABILISTIC) {
        const struct tune_distribution distribution = tune_distribution_of(strategy, 1);
        return tune_increments_per_1000_rows(&distribution);
    }
    if (strategy->kind == BK_KIND_COUNT &&
        (settings->source == BK_SOURCE_COUNTER || settings->source == BK_SOURCE_LWT))
        return 1000;
    if (strategy->kind != BK_KIND_WEIGHTED || (scenario->trace_path != NULL && !scenario->has_row_bytes))
        return 0;
    struct sim_random random;
    double sum = 0, unit = (double)strategy->of.weighted.bytes;
    sim_random_init(&random, scenario->seed, SIM_ROW_BYTES, UINT64_MAX);
    for (unsigned i = 0; i < SIZES_DRAWN; i++)
        sum += fmin(1, (double)sim_size_draw(&scenario->workload.row_bytes, &random) / unit);
    return 1000 * sum / SIZES_DRAWN;
}

/* Sets lower bounds of the load: a read queries at least one partition, or all with hash, and the rate of
 * increments is known. Chance may make either a little less. */
static void bound_load(const struct tune_contest *contest, struct tune_entrant *entrant)
{
    const struct lab_scenario *scenario = contest->scenario;
    const struct lab_settings *settings = &entrant->strategy.settings;
    const struct lab_prices *prices = &scenario->prices;
    double reads = 0, asks = 1;
    if (settings->strategy.kind == BK_KIND_HASH) {
        const uint32_t buckets = settings->strategy.of.hash.buckets;
        asks = scenario->reads.limit != 0 ? fmin(buckets, (double)scenario->reads.limit) : buckets;
    }
    for (int kind = 0; kind < LAB_READ_KINDS; kind++)
        reads += scenario->reads.kinds[kind].rate_per_s * (double)contest->rows.lasts_ns * 1e-9;
    entrant->write_least = increments_least(contest, settings) * fmin(prices->counter_increment, prices->lwt);
    entrant->load_least = 1000 + entrant->write_least +
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
           (kind == BK_KIND_UNBUCKETED || kind == BK_KIND_TIME || kind == BK_KIND_COUNT) &&
           !(scenario->has_row_bytes && has_varied_bytes(scenario)) &&
           (!scenario->reads.present || lab_reads_can_be_expected(scenario));
}

static bool grows(const struct tune_contest *contest, const struct lab_settings *settings)
{
    const struct tune_rows *rows = &contest->rows;
    return lab_partitions_grow(contest->scenario, settings, rows->start_ns, rows->start_ns + rows->lasts_ns);
}

static void describe(struct tune_contest *contest, struct tune_entrant *entrant)
{
    const struct lab_settings *settings = &entrant->strategy.settings;
    const enum bk_kind kind = settings->strategy.kind;
    entrant->requirements = lab_requirements(settings);
    entrant->is_endless = grows(contest, settings);
    entrant->needs = entrant->is_endless || is_same(contest->scenario, kind) ? 1 : contest->terms.seeds;
    bound_load(contest, entrant);
    entrant->known.expected_share = (double)NAN;
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

static bool is_entered(const struct tune_contest *contest, const struct lab_settings *settings)
{
    char mine[VALUES_SIZE], its[VALUES_SIZE];
    values_of(settings, true, mine);
    for (size_t i = 0; i < contest->count; i++) {
        const struct lab_settings *other = &contest->entrants[i].strategy.settings;
        if (!are_alike(other, settings))
            continue;
        values_of(other, true, its);
        if (strcmp(mine, its) == 0)
            return true;
    }
    return false;
}

/* The template's label and the numbers, truncated and numbered if necessary. */
static void name(const struct tune_contest *contest, const char *base, const struct lab_settings *settings,
                 char *label)
{
    char numbers[VALUES_SIZE], tail[VALUES_SIZE + 16];
    values_of(settings, true, numbers);
    for (unsigned number = 1;; number++) {
        if (number == 1)
            snprintf(tail, sizeof tail, "%s%s", numbers[0] == '\0' ? "" : "-", numbers);
        else
            snprintf(tail, sizeof tail, "-%s%s%u", numbers, numbers[0] == '\0' ? "" : "-", number);
        size_t room = LAB_LABEL_SIZE_MAX - strlen(tail), size = strlen(base);
        size = sim_utf8_valid(base, size < room ? size : room);
        snprintf(label, LAB_LABEL_SIZE_MAX + 1, "%.*s%s", (int)size, base, tail);
        size_t i = 0;
        while (i < contest->count && strcmp(contest->entrants[i].strategy.label, label) != 0)
            i++;
        if (i == contest->count)
            return;
    }
}

/* --- ladders */

struct ladder {
    struct bk_strategy rungs[TUNE_LADDER_MAX + 1];
    size_t count;
    bool lacked_memory;
};

static struct bk_strategy *next(struct ladder *ladder)
{
    return &ladder->rungs[ladder->count];
}

/* Keeps the next rung, if it is a strategy. */
static void add(struct ladder *ladder, enum bk_status status)
{
    ladder->count += status == BK_OK && ladder->count < TUNE_LADDER_MAX;
}

static bool has_agents(const struct tune_contest *contest)
{
    return contest->scenario->engine == LAB_ENGINE_CLUSTER;
}

static void climb_unbucketed(const struct tune_contest *contest, const struct bk_strategy *template,
                             struct ladder *out)
{
    (void)contest;
    (void)template;
    add(out, bk_strategy_unbucketed(next(out)));
}

/* If no partition may exceed a limit, the risk is about the largest that the judge allows a kind that ends.
 */
static double risk_of(const struct tune_contest *contest)
{
    const struct lab_tune *terms = &contest->terms;
    const double days = (double)contest->rows.lasts_ns / (double)SIM_DAY,
                 rows = (double)contest->rows.rows * fmax(1, LAB_JUDGED_DAYS / days);
    return terms->share > 0 ? terms->share
                            : fmin(0.001, (1 - terms->confidence) / fmax(rows / contest->rows.limit_rows, 1));
}

/* For each number of bits: the largest threshold that the distribution allows, and fractions of it, which
 * leave room for effects that the distribution does not include. Also includes the first number of bits that
 * the distribution does not allow. */
static void climb_probabilistic(const struct tune_contest *contest, const struct bk_strategy *template,
                                struct ladder *out)
{
    static const double all[] = {1, 0.75, 0.5, 0.25}, few[] = {0.9, 0.5};
    const double *parts = has_agents(contest) ? few : all;
    const size_t part_count = has_agents(contest) ? sizeof few / sizeof *few : sizeof all / sizeof *all;
    const struct tune_goal goal = {.rows_max =
                                       (uint64_t)fmin(contest->rows.limit_rows, (double)TUNE_ROWS_MAX),
                                   .risk = risk_of(contest)};
    (void)template;
    for (uint32_t bits = BK_BITS_MAX + 1; bits-- > 0;) {
        const uint64_t most = tune_fit_thresholds(&goal, UINT64_C(1) << bits).last;
        uint64_t before = 0;
        if (most == 0)
            continue;
        if (bits < BK_BITS_MAX && out->count == 0)
            add(out, bk_strategy_probabilistic(bits + 1, 1, next(out)));
        for (size_t i = 0; i < part_count; i++) {
            const uint64_t threshold = (uint64_t)ceil((double)most * parts[i]);
            if (threshold != before)
                add(out, bk_strategy_probabilistic(bits, threshold, next(out)));
            before = threshold;
        }
        if (most > (has_agents(contest) ? THRESHOLD_MOST_CLUSTER : THRESHOLD_MOST))
            break;
    }
}

/* Estimates `rest` of tune_weighted_above_about() from SIZES_DRAWN draws. Returns infinity if only a
 * trace has the sizes. */
static double rest_of(const struct tune_contest *contest)
{
    const struct lab_scenario *scenario = contest->scenario;
    struct sim_random random;
    double sum = 0, squares = 0;
    if (scenario->trace_path != NULL && !scenario->has_row_bytes)
        return (double)INFINITY;
    sim_random_init(&random, scenario->seed, SIM_ROW_BYTES, UINT64_MAX);
    for (unsigned i = 0; i < SIZES_DRAWN; i++) {
        double bytes = (double)sim_size_draw(&scenario->workload.row_bytes, &random);
        sum += bytes;
        squares += bytes * bytes;
    }
    return sum > 0 ? squares / (2 * sum) : 0;
}

/* Returns the greatest number of bytes per increment with which the share of partitions above the limit is
 * within the risk. */
static uint64_t bytes_that_hold(uint64_t threshold, uint64_t limit, double rest, double risk)
{
    uint64_t low = 0, high = limit + 1;
    while (high - low > 1) {
        const uint64_t unit = low + (high - low) / 2;
        const bool is_within =
            tune_weighted_above_about(unit, threshold, limit, fmin(rest, (double)unit)) <= risk;
        *(is_within ? &low : &high) = unit;
    }
    return low;
}

static uint64_t round_down(uint64_t value, unsigned digits)
{
    uint64_t unit = 1, most = 1;
    for (unsigned i = 0; i < digits; i++)
        most *= 10;
    while (value / unit >= most)
        unit *= 10;
    return value / unit * unit;
}

/* Rounds down to two digits, or to three if two would lose more than 2%. */
static uint64_t round_bytes(uint64_t value)
{
    uint64_t rounded = round_down(value, 2);
    return value - rounded > value / 50 ? round_down(value, 3) : rounded;
}

/* For thresholds that are powers of two: the most bytes that the distribution allows, and fractions of them,
 * which leave room for effects that the distribution does not include and that a few partitions do not show.
 * A tenth fewer bytes halve the probability. With large thresholds the increments cost more, so one setting
 * each is enough. */
static void climb_weighted(const struct tune_contest *contest, const struct bk_strategy *template,
                           struct ladder *out)
{
    const double rest = rest_of(contest);
    const double all[] = {1, 0.9, 0.75, 0.5}, few[] = {isinf(rest) ? 1 : 0.85, 0.5};
    const uint64_t limit = (uint64_t)fmin(contest->rows.limit_rows * contest->rows.mean_payload, 1e15);
    const bool is_cluster = has_agents(contest);
    const uint64_t last = is_cluster ? THRESHOLD_MOST_CLUSTER : THRESHOLD_MOST, step = is_cluster ? 4 : 2;
    (void)template;
    for (uint64_t threshold = 1; threshold <= last; threshold *= step) {
        const uint64_t most = bytes_that_hold(threshold, limit, rest, risk_of(contest));
        const bool is_fine = !is_cluster && threshold <= WEIGHTED_FINE;
        const double *parts = is_fine ? all : few;
        const size_t part_count = is_fine ? sizeof all / sizeof *all : is_cluster ? 2 : 1;
        for (size_t i = 0; i < part_count; i++) {
            const uint64_t bytes = round_bytes((uint64_t)((double)most * parts[i]));
            if (bytes > 0)
                add(out, bk_strategy_weighted(bytes, threshold, next(out)));
        }
    }
}

/* The partitions that the busiest key needs at a time, so that none exceeds the limit of writes. */
static double parts_for_writes(const struct tune_contest *contest, struct ladder *out)
{
    const double rate = contest->scenario->limits.rate[LAB_RATE_WRITES];
    const struct lab_settings unbucketed = {.strategy.kind = BK_KIND_UNBUCKETED};
    const struct tune_prospect prospect = tune_prospect_of(contest, 1);
    struct lab_rate_facts known[LAB_RATES];
    if (!(rate > 0))
        return 1;
    out->lacked_memory |= !tune_rates_of(&prospect, &unbucketed, known);
    return known[LAB_RATE_WRITES].is_known ? known[LAB_RATE_WRITES].peak / rate : 1;
}

static bool has_shards(const struct tune_contest *contest)
{
    for (size_t i = 0; i < contest->scenario->strategy_count; i++) {
        if (lab_shards(&contest->scenario->strategies[i].settings.strategy) > 1)
            return true;
    }
    return false;
}

/* A whole number of days, hours, minutes or seconds, at least two of them; or one second. */
static int64_t round_window(int64_t length_ns)
{
    const int64_t unit_ns = length_ns >= 2 * SIM_DAY      ? SIM_DAY
                            : length_ns >= 2 * SIM_HOUR   ? SIM_HOUR
                            : length_ns >= 2 * SIM_MINUTE ? SIM_MINUTE
                                                          : SIM_SECOND;
    return length_ns / unit_ns * unit_ns;
}

/* What the distribution says of windows of this length and the limits of sizes. */
static enum lab_within judge_window(const struct tune_contest *contest, int64_t length_ns, int64_t epoch_ns,
                                    struct ladder *out)
{
    struct lab_settings settings = {.change_count = 0};
    struct lab_limits limits = contest->scenario->limits;
    struct lab_facts facts;
    if (bk_strategy_time(length_ns, epoch_ns, &settings.strategy) != BK_OK)
        return LAB_NOT_JUDGED;
    for (int i = 0; i < LAB_RATES; i++)
        limits.rate[i] = 0;
    out->lacked_memory |= !tune_know(contest, &settings, 1, contest->scenario->seed, &facts);
    const struct lab_judgment judgment = lab_judgment_of(&limits, &facts);
    return judgment.by == LAB_BY_SAMPLE ? LAB_NOT_JUDGED : judgment.within;
}

/* The longest window that its distribution does not exclude, from one that it does not to one that it does.
 */
static int64_t longest_window(const struct tune_contest *contest, int64_t low_ns, int64_t high_ns,
                              int64_t epoch_ns, struct ladder *out)
{
    for (int64_t middle_ns; (middle_ns = round_window(low_ns + (high_ns - low_ns) / 2)) > low_ns;)
        *(judge_window(contest, middle_ns, epoch_ns, out) == LAB_EXCEEDS ? &high_ns : &low_ns) = middle_ns;
    return low_ns;
}

/* A window, in a scenario with shards with the fewest that the mean rate of the busiest key and the limit of
 * writes require, a power of two, and with twice as many. needed: shards that these require. */
static void add_window(struct ladder *out, int64_t length_ns, int64_t epoch_ns, bool is_sharded,
                       double needed)
{
    uint32_t shards = 1;
    while (is_sharded && shards < BK_SHARDS_MAX && needed > shards)
        shards *= 2;
    for (uint32_t turn = 1; turn <= (is_sharded ? 2 : 1) && turn * shards <= BK_SHARDS_MAX; turn++) {
        enum bk_status status = bk_strategy_time(length_ns, epoch_ns, next(out));
        add(out, turn * shards > 1 ? bk_strategy_shards(turn * shards, next(out)) : status);
    }
}

/* The longest window that the distribution does not exclude, and common lengths below it: down to a quarter
 * of the first that is within the limits by it, or else while the busiest key may have a hundredth of the
 * rows; if the last of these is excluded, it as well. */
static void climb_time(const struct tune_contest *contest, const struct bk_strategy *template,
                       struct ladder *out)
{
    static const int64_t common_ns[] = {
        365 * SIM_DAY,  180 * SIM_DAY,   90 * SIM_DAY,    60 * SIM_DAY,    30 * SIM_DAY,    14 * SIM_DAY,
        10 * SIM_DAY,   7 * SIM_DAY,     5 * SIM_DAY,     3 * SIM_DAY,     2 * SIM_DAY,     SIM_DAY,
        12 * SIM_HOUR,  8 * SIM_HOUR,    6 * SIM_HOUR,    4 * SIM_HOUR,    3 * SIM_HOUR,    2 * SIM_HOUR,
        SIM_HOUR,       30 * SIM_MINUTE, 20 * SIM_MINUTE, 15 * SIM_MINUTE, 10 * SIM_MINUTE, 5 * SIM_MINUTE,
        2 * SIM_MINUTE, SIM_MINUTE,      30 * SIM_SECOND, 10 * SIM_SECOND, 5 * SIM_SECOND,  SIM_SECOND};
    const double full_ns =
        (double)contest->rows.lasts_ns * contest->rows.limit_rows / (double)contest->rows.busiest_rows;
    const bool is_sharded = has_shards(contest);
    const double writes = is_sharded ? parts_for_writes(contest, out) : 1;
    const int64_t epoch_ns = template->of.time.calendar == BK_CALENDAR_NONE ? template->of.time.epoch_ns : 0;
    int64_t excluded_ns = 0;
    bool is_known = !is_sharded; /* the distribution decides */
    double least_ns = full_ns / WINDOW_ROOM;
    for (size_t i = 0; i < sizeof common_ns / sizeof *common_ns && (double)common_ns[i] >= least_ns; i++) {
        const int64_t window_ns = common_ns[i];
        if (window_ns > contest->rows.lasts_ns)
            continue;
        const enum lab_within within =
            is_known ? judge_window(contest, window_ns, epoch_ns, out) : LAB_NOT_JUDGED;
        is_known = within != LAB_NOT_JUDGED;
        if (within == LAB_EXCEEDS) {
            excluded_ns = window_ns;
            continue;
        }
        const int64_t longest_ns =
            excluded_ns > 0 ? longest_window(contest, window_ns, excluded_ns, epoch_ns, out) : window_ns;
        excluded_ns = 0;
        if (longest_ns > window_ns)
            add_window(out, longest_ns, epoch_ns, false, 1);
        add_window(out, window_ns, epoch_ns, is_sharded, fmax(writes, (double)window_ns / full_ns));
        if (within == LAB_WITHIN)
            least_ns = fmax(least_ns, (double)window_ns / WINDOW_PART);
    }
    if (excluded_ns > 0) /* the shortest, which may be the nearest to the limits */
        add_window(out, excluded_ns, epoch_ns, false, 1);
}

static void climb_count(const struct tune_contest *contest, const struct bk_strategy *template,
                        struct ladder *out)
{
    static const double parts[] = {1, 0.75, 0.5, 0.9, 0.25, 0.1};
    (void)template;
    for (size_t i = 0; i < (has_agents(contest) ? 3 : sizeof parts / sizeof *parts); i++) {
        const uint64_t rows = (uint64_t)fmin(contest->rows.limit_rows * parts[i], 1e15);
        add(out, bk_strategy_count(i == 0 ? rows : round_down(rows, 2), next(out)));
    }
}

/* The power of two that is at least twice the number of buckets that the busiest key needs, since partitions
 * that grow without end soon exceed a limit that they almost reach. If they end with their rows' time to
 * live, half as many are tried too. None if one bucket is enough, which is `unbucketed`. */
static void climb_hash(const struct tune_contest *contest, const struct bk_strategy *template,
                       struct ladder *out)
{
    const double needed =
        fmax(parts_for_writes(contest, out), (double)contest->rows.busiest_rows / contest->rows.limit_rows);
    const struct lab_settings hash = {.strategy.kind = BK_KIND_HASH};
    double buckets = 1;
    (void)template;
    while (buckets < needed && buckets < HASH_MOST)
        buckets *= 2;
    for (int turn = grows(contest, &hash) ? 2 : 1; buckets > 1 && turn <= 2; turn++)
        add(out, bk_strategy_hash((uint32_t)fmin(turn * buckets, HASH_MOST), next(out)));
}

/* --- candidates */

static bool enter_ladder(struct tune_contest *contest, const struct lab_strategy *template, const char *base,
                         struct sim_error *error)
{
    static void (*const climbs[])(const struct tune_contest *, const struct bk_strategy *,
                                  struct ladder *) = {
        [BK_KIND_UNBUCKETED] = climb_unbucketed, [BK_KIND_TIME] = climb_time,
        [BK_KIND_COUNT] = climb_count,           [BK_KIND_PROBABILISTIC] = climb_probabilistic,
        [BK_KIND_WEIGHTED] = climb_weighted,     [BK_KIND_HASH] = climb_hash};
    struct ladder ladder = {.count = 0};
    struct lab_strategy strategy = *template;
    climbs[template->settings.strategy.kind](contest, &template->settings.strategy, &ladder);
    if (ladder.lacked_memory)
        return sim_fail_memory(error);
    strategy.settings.change_count = 0;
    strategy.line = strategy.column = 0;
    for (size_t i = 0; i < ladder.count; i++) {
        char label[LAB_LABEL_SIZE_MAX + 1];
        strategy.settings.strategy = ladder.rungs[i];
        strategy.settings.strategy.max_age_ns = template->settings.strategy.max_age_ns;
        strategy.settings.strategy.shards = template->settings.strategy.shards;
        if (is_entered(contest, &strategy.settings))
            continue;
        name(contest, base, &strategy.settings, label);
        if (!enter(contest, &strategy, label, base, false, error))
            return false;
    }
    return true;
}

/* The other settings of a kind that the scenario lacks. False: the kind would be of no use. */
static bool default_template(const struct tune_contest *contest, enum bk_kind kind, struct lab_strategy *out)
{
    const struct lab_scenario *scenario = contest->scenario;
    *out = (struct lab_strategy){.settings.strategy = {.kind = kind}};
    if (kind == BK_KIND_COUNT) /* only the application can supply an external number */
        out->settings.source = BK_SOURCE_COUNTER;
    /* With several agents: the only coordination that needs neither clocks nor luck. */
    if (bk_kind_fires(kind) && has_agents(contest)) {
        out->settings.coordination = BK_GUARDED;
        out->settings.counter = BK_COUNTER_NATIVE;
        lab_setting_put_standard(lab_setting_find(kind, "grant"), &out->settings);
    }
    return kind != BK_KIND_WEIGHTED || (scenario->limits.partition_bytes != 0 && has_varied_bytes(scenario));
}

/* Whether the scenario has coordinations with agents, but not the one that is always safe. */
static bool lacks_guarded(const struct lab_scenario *scenario)
{
    bool lacks = scenario->engine == LAB_ENGINE_CLUSTER;
    for (size_t i = 0; i < scenario->strategy_count; i++)
        lacks = lacks && scenario->strategies[i].settings.coordination != BK_GUARDED;
    return lacks;
}

/* A strategy whose settings change during the run is not a candidate. */
bool tune_candidates(struct tune_contest *contest, struct sim_error *error)
{
    const struct lab_scenario *scenario = contest->scenario;
    const uint32_t kinds = contest->terms.kinds;
    uint32_t met = 0;
    for (size_t i = 0; i < scenario->strategy_count; i++) {
        const struct lab_strategy *own = &scenario->strategies[i];
        const uint32_t kind = UINT32_C(1) << own->settings.strategy.kind;
        const bool is_left_out = (kinds & kind) != 0 && own->settings.change_count > 0;
        met |= kind;
        contest->left_out += is_left_out;
        if ((kinds & kind) != 0 && !is_left_out &&
            !enter(contest, own, own->label, template_of(scenario, own), true, error))
            return false;
    }
    for (size_t i = 0; i < scenario->strategy_count; i++) {
        const struct lab_strategy *own = &scenario->strategies[i];
        if ((kinds >> own->settings.strategy.kind & 1) != 0 && template_of(scenario, own) == own->label &&
            !enter_ladder(contest, own, own->label, error))
            return false;
    }
    for (unsigned kind = 0; kind < BK_KINDS; kind++) {
        struct lab_strategy template;
        const bool is_met = (met >> kind & 1) != 0;
        if ((is_met && (kind != BK_KIND_PROBABILISTIC || !lacks_guarded(scenario))) ||
            (kinds >> kind & 1) == 0 || !default_template(contest, (enum bk_kind)kind, &template))
            continue;
        if (!enter_ladder(contest, &template, is_met ? "guarded" : bk_kind_name((enum bk_kind)kind), error))
            return false;
    }
    return true;
}

/* --- text */

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
