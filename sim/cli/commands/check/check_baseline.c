/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares the runs of a check with the stored baseline, and makes a new one.
 *
 * A metric has drifted when it is outside the interval of its baseline, on the same side, at several seeds in
 * sequence. One seed proves nothing: an effect of a fault or a burst on a tail may occur at one seed in ten,
 * and the few seeds of a baseline may not have had it. But if the distribution has not changed, the
 * probability that m new values are all below, or all above, n old values is 2 / C(n + m, n), whatever the
 * distribution is; over many metrics it is at most the sum, however they are correlated. So m is the smallest
 * number with which the probability of any false alarm in the whole check is below FALSE_ALARM. The cost is
 * small if nothing has drifted, since a suspect is dropped at the first seed that clears it. */
#define _POSIX_C_SOURCE 200809L
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "cli/events.h"
#include "kernel/grow.h"
#include "lab/fuzz.h"
#include "lab/metric.h"
#include "tune/sample.h"

#define FALSE_ALARM 1e-3
/* Sums may be rounded differently on another processor. */
#define ROUNDING 1e-9

#define FIGURE_SIZE 48
#define FIGURES     4

const struct lab_strategy_result *cli_check_strategy(const struct lab_result *result, const char *label)
{
    for (size_t i = 0; i < result->strategy_count; i++) {
        if (strcmp(result->strategies[i].label, label) == 0)
            return &result->strategies[i];
    }
    return NULL;
}

static int side_of(const struct store_baseline_metric *metric, double value)
{
    double slack = ROUNDING * fabs(metric->mean);
    return value < metric->low - slack ? -1 : value > metric->high + slack ? 1 : 0;
}

bool cli_check_suspect(struct cli_checked *item, struct sim_error *error)
{
    const struct store_baseline *held = &item->held;
    if (!item->has_baseline || item->is_exact)
        return true;
    item->suspects = calloc(held->metric_count + 1, sizeof *item->suspects);
    if (item->suspects == NULL)
        return sim_fail_memory(error);
    for (size_t i = 0; i < held->metric_count; i++) {
        const struct store_baseline_metric *metric = &held->metrics[i];
        const struct lab_strategy_result *now = cli_check_strategy(item->result, metric->label);
        if (now == NULL)
            continue;
        const struct lab_metric *figure = lab_metrics_find(&now->metrics, metric->name);
        struct cli_suspect suspect = {.metric = metric,
                                      .value = figure == NULL ? (double)NAN : figure->value};
        suspect.side = figure == NULL ? 0 : side_of(metric, figure->value);
        bool is_gone = figure == NULL && metric->count == held->seeds;
        if (is_gone || suspect.side != 0)
            item->suspects[item->suspect_count++] = suspect;
    }
    item->suspects_left = item->suspect_count;
    return true;
}

static bool is_wanted(void *context, size_t index, uint64_t offset)
{
    struct cli_gate *gate = context;
    (void)offset;
    return gate->items[index].suspects_left > 0;
}

static bool clear_suspects(void *context, size_t index, uint64_t offset, struct lab_result *result,
                           int64_t elapsed_ms, struct sim_error *error)
{
    struct cli_gate *gate = context;
    struct cli_checked *item = &gate->items[index];
    size_t left = 0;
    (void)offset;
    (void)elapsed_ms;
    (void)error;
    for (size_t i = 0; result != NULL && i < item->suspect_count; i++) {
        struct cli_suspect *suspect = &item->suspects[i];
        const struct lab_strategy_result *now = cli_check_strategy(result, suspect->metric->label);
        const struct lab_metric *figure = lab_metrics_find(&now->metrics, suspect->metric->name);
        bool is_same = suspect->side == 0
                           ? figure == NULL
                           : figure != NULL && side_of(suspect->metric, figure->value) == suspect->side;
        suspect->is_cleared = suspect->is_cleared || !is_same;
        left += !suspect->is_cleared;
    }
    if (result != NULL)
        item->suspects_left = left;
    lab_result_destroy(result);
    return true;
}

/* The number of runs that must agree, including the one at the scenario's own seed. */
static uint64_t confirmations(uint64_t seeds, uint64_t figures)
{
    /* C(n + m, n) grows by (n + m) / m with each m. */
    double combinations = 1, wanted = 2 * (double)figures / FALSE_ALARM;
    uint64_t runs = 1;
    for (combinations = (double)seeds + 1; combinations < wanted && runs < 100000;
         combinations *= (double)(seeds + runs) / (double)runs)
        runs++;
    return runs;
}

bool cli_check_confirm(struct cli_gate *gate, struct sim_error *error)
{
    uint64_t figures = 0, seeds = UINT64_MAX, suspects = 0;
    for (size_t i = 0; i < gate->count; i++) {
        const struct cli_checked *item = &gate->items[i];
        if (item->has_baseline && !item->is_exact)
            figures += item->held.metric_count;
        suspects += item->suspect_count;
        if (item->suspect_count > 0 && item->held.seeds < seeds)
            seeds = item->held.seeds;
    }
    if (seeds == UINT64_MAX)
        return true;
    gate->confirmed = confirmations(seeds, figures);
    if (!gate->is_quiet)
        fprintf(stderr,
                "%" PRIu64 " figure%s outside the baseline; running up to %" PRIu64
                " more seeds to rule out chance\n",
                suspects, suspects == 1 ? " is" : "s are", gate->confirmed - 1);
    return cli_check_run(gate, 1, gate->confirmed - 1, is_wanted, clear_suspects, gate, error);
}

static bool is_equal(double one, double other)
{
    return fabs(one - other) <= ROUNDING * fmax(fabs(one), fabs(other)) || (isnan(one) && isnan(other));
}

/* Compares the metrics when the digest is equal, so that every row has the same bucket. */
static bool compare_equal(struct cli_checked *item, const struct lab_strategy_result *one,
                          const struct lab_strategy_result *now, const char *cause)
{
    for (size_t i = 0; i < one->metrics.count; i++) {
        const struct lab_metric *old = &one->metrics.items[i];
        const struct lab_metric *figure = lab_metrics_find(&now->metrics, old->name);
        double value = figure == NULL ? (double)NAN : figure->value;
        if (figure != NULL && is_equal(old->value, value))
            continue;
        struct cli_about about = {
            .label = one->label,
            .name = old->name,
            .value = value,
            .low = old->value,
            .high = old->value,
            .excess = figure == NULL ? HUGE_VAL : fabs(value - old->value) / fmax(fabs(old->value), DBL_MIN)};
        if (figure == NULL
                ? !cli_check_fail(item, &about, "%s.%s is missing although the digest is the same; %s",
                                  one->label, old->name, cause)
                : !cli_check_fail(item, &about,
                                  "%s.%s: %.10g, baseline %.10g, although the digest is the same; %s",
                                  one->label, old->name, value, old->value, cause))
            return false;
    }
    return true;
}

/* Formats values in the same unit, which is returned, with enough digits to distinguish the first one from
 * the bounds. */
static const char *print_figures(const char *name, const double *values, char (*texts)[FIGURE_SIZE])
{
    static const char *const units[] = {" B", " KB", " MB", " GB", " TB", " PB"};
    double divisor = 1, most = fmax(fabs(values[0]), fabs(values[2]));
    size_t unit = 0, unit_count = sizeof units / sizeof *units;
    const struct lab_metric_row *row = lab_metric_row_of(name);
    bool is_bytes = row != NULL && row->unit == LAB_METRIC_BYTES;
    for (; is_bytes && most / divisor >= 1000 && unit + 1 < unit_count; unit++)
        divisor *= 1000;
    for (int digits = 4; digits <= 17; digits++) {
        for (size_t i = 0; i < FIGURES; i++) {
            double shown = values[i] / divisor;
            /* Printed as a whole number where %g would print 1.2e+04. */
            if (fabs(shown) >= pow(10, digits) && fabs(shown) < 1e15)
                snprintf(texts[i], FIGURE_SIZE, "%.0f", shown);
            else
                snprintf(texts[i], FIGURE_SIZE, "%.*g", digits, shown);
        }
        if (strcmp(texts[0], texts[1]) != 0 && strcmp(texts[0], texts[2]) != 0)
            break;
    }
    return is_bytes ? units[unit] : "";
}

static bool fail_drifted(struct cli_checked *item, const struct cli_gate *gate,
                         const struct cli_suspect *suspect, const struct lab_strategy_result *now)
{
    const struct store_baseline_metric *metric = suspect->metric;
    char texts[FIGURES][FIGURE_SIZE], largest[CLI_LARGEST_SIZE];
    const char *key;
    struct cli_about about = {.label = metric->label,
                              .name = metric->name,
                              .value = suspect->value,
                              .low = metric->low,
                              .high = metric->high,
                              .excess = HUGE_VAL};
    if (suspect->side == 0)
        return cli_check_fail(item, &about, "%s.%s is missing, at each of %" PRIu64 " seeds", metric->label,
                              metric->name, gate->confirmed);
    double bound = suspect->side < 0 ? metric->low : metric->high;
    double width = (metric->high - metric->low) / 2 + ROUNDING * fabs(metric->mean);
    const double values[FIGURES] = {suspect->value, metric->low, metric->high, metric->mean};
    about.excess = width > 0 ? fabs(suspect->value - bound) / width : HUGE_VAL;
    const char *unit = print_figures(metric->name, values, texts);
    cli_check_largest(item->result, now, metric->name, largest, &key);
    about.key = key;
    if (metric->low >= metric->high)
        return cli_check_fail(item, &about,
                              "%s.%s: %s%s, and %s%s at all %" PRIu64
                              " seeds of the baseline; so at each of %" PRIu64 " seeds%s",
                              metric->label, metric->name, texts[0], unit, texts[1], unit, item->held.seeds,
                              gate->confirmed, largest);
    return cli_check_fail(item, &about,
                          "%s.%s: %s%s is outside %s to %s%s (baseline: mean %s%s over %" PRIu64
                          " seeds), and so at each of %" PRIu64 " seeds%s",
                          metric->label, metric->name, texts[0], unit, texts[1], texts[2], unit, texts[3],
                          unit, item->held.seeds, gate->confirmed, largest);
}

static const struct store_baseline_metric *baseline_metric(const struct store_baseline *baseline,
                                                           const char *label, const char *name)
{
    size_t low = 0, high = baseline->metric_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct store_baseline_metric *metric = &baseline->metrics[middle];
        int order = strcmp(label, metric->label);
        order = order != 0 ? order : strcmp(name, metric->name);
        if (order == 0)
            return metric;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* Whether the baseline lacks a figure that it had when it was made, or that the run has now. */
static bool lacks_figure(const struct cli_checked *item, const struct lab_strategy_result *one,
                         const struct lab_metric *figure)
{
    const struct store_baseline_metric *range = baseline_metric(&item->held, one->label, figure->name);
    if (lab_metrics_find(&one->metrics, figure->name) == NULL)
        return item->is_exact || range == NULL || range->count == item->held.seeds;
    return range == NULL && isfinite(figure->value);
}

/* What a baseline must have follows from the run that is compared with it: whatever this has and the baseline
 * lacks was removed, or was not there to be compared. */
static bool check_whole(struct cli_checked *item, const struct lab_strategy_result *one,
                        const struct lab_strategy_result *now)
{
    struct cli_about about = {.label = one->label, .name = "figures", CLI_NO_FIGURE};
    size_t count = 0;
    for (size_t i = 0; i < now->metrics.count; i++) {
        if (lacks_figure(item, one, &now->metrics.items[i]) && count++ == 0)
            about.name = now->metrics.items[i].name;
    }
    if (count > 0 &&
        !cli_check_fail(item, &about, "the baseline does not have %zu figure%s of %s, for example %s", count,
                        count == 1 ? "" : "s", one->label, about.name))
        return false;
    const struct {
        const char *name;
        uint64_t one, now;
    } parts[] = {
        {"largest partition by rows", one->largest[LAB_IN_ROWS].size, now->largest[LAB_IN_ROWS].size},
        {"largest partition by bytes", one->largest[LAB_IN_BYTES].size, now->largest[LAB_IN_BYTES].size},
        {"sizes over time", one->timeline.count, now->timeline.count},
        {"load of nodes", one->node_count, now->node_count},
        {"events", one->events.events, now->events.events},
        {"agents' views of a change", one->views.count, item->is_exact ? now->views.count : 0}};
    bool is_fine = true;
    for (size_t i = 0; is_fine && i < sizeof parts / sizeof *parts; i++) {
        about.name = parts[i].name;
        if (parts[i].one < parts[i].now && (item->is_exact || parts[i].one == 0))
            is_fine = cli_check_fail(item, &about, "the baseline does not have all of %s: %s", one->label,
                                     parts[i].name);
    }
    return is_fine;
}

static bool check_strategy(struct cli_checked *item, const struct cli_gate *gate,
                           const struct lab_strategy_result *one, const struct lab_strategy_result *now)
{
    const char *label = now == NULL ? one->label : now->label;
    const struct cli_about gone = {.label = label, .name = "strategy", CLI_NO_FIGURE};
    if (!cli_check_begin(item, CLI_CHECK_BASELINE, "figures of %s", label))
        return false;
    if (now == NULL)
        return cli_check_fail(item, &gone, "the baseline has strategy %s, and the run does not", label);
    if (one == NULL)
        return cli_check_fail(item, &gone, "the run has strategy %s, and the baseline does not", label);
    if (!check_whole(item, one, now))
        return false;
    if (item->is_exact)
        return compare_equal(item, one, now, item->cause);
    for (size_t i = 0; i < item->suspect_count; i++) {
        const struct cli_suspect *suspect = &item->suspects[i];
        if (!suspect->is_cleared && strcmp(suspect->metric->label, label) == 0 &&
            !fail_drifted(item, gate, suspect, now))
            return false;
    }
    return true;
}

bool cli_check_figures(struct cli_checked *item, const struct cli_gate *gate, struct sim_error *error)
{
    if (!item->has_baseline)
        return true;
    const struct lab_result *one = item->held.result, *now = item->result;
    bool is_fine = true;
    for (size_t i = 0; is_fine && i < now->strategy_count; i++)
        is_fine = check_strategy(item, gate, cli_check_strategy(one, now->strategies[i].label),
                                 &now->strategies[i]);
    for (size_t i = 0; is_fine && i < one->strategy_count; i++) {
        if (cli_check_strategy(now, one->strategies[i].label) == NULL)
            is_fine = check_strategy(item, gate, &one->strategies[i], NULL);
    }
    return is_fine || sim_fail_memory(error);
}

/* The explanation of a changed digest; each part is "" or begins with "; ". */
struct moved {
    char where[512];  /* the first strategy that differs */
    char change[256]; /* the change of the scenario */
    char version[96];
};

static void tell_strategy(const struct lab_strategy_result *one, const struct lab_strategy_result *now,
                          char *buffer, size_t size)
{
    struct cli_difference difference;
    int used = snprintf(buffer, size, "; first to differ: strategy %s", one->label);
    buffer += used;
    size -= (size_t)used;
    if (!cli_difference_find(&one->events, &now->events, &difference))
        snprintf(buffer, size, ", placement %016" PRIx64 ", baseline %016" PRIx64, now->placement_digest,
                 one->placement_digest);
    else if (difference.is_placed && difference.first < difference.last)
        snprintf(buffer, size, " between events %" PRIu64 " and %" PRIu64, difference.first, difference.last);
    else if (difference.is_placed)
        snprintf(buffer, size, " at event %" PRIu64, difference.first);
    else
        snprintf(buffer, size, ", %" PRIu64 " events, baseline %" PRIu64, now->events.events,
                 one->events.events);
}

static bool is_same_strategy(const struct lab_strategy_result *one, const struct lab_strategy_result *other)
{
    return one->placement_digest == other->placement_digest && one->events.digest == other->events.digest;
}

static void tell_where(const struct lab_result *one, const struct lab_result *now, struct moved *out)
{
    size_t differ = 0;
    for (size_t i = 0; i < one->strategy_count; i++) {
        const struct lab_strategy_result *old = &one->strategies[i];
        const struct lab_strategy_result *other = cli_check_strategy(now, old->label);
        if (other == NULL || is_same_strategy(old, other))
            continue;
        if (differ++ == 0)
            tell_strategy(old, other, out->where, sizeof out->where);
    }
    size_t used = strlen(out->where);
    if (differ > 1)
        snprintf(out->where + used, sizeof out->where - used, ", and %zu more of %zu", differ - 1,
                 one->strategy_count);
    else if (differ == 0 && (one->rows != now->rows || one->keys != now->keys))
        snprintf(out->where, sizeof out->where,
                 "; the rows themselves differ: %" PRIu64 " of %" PRIu64 " keys, baseline %" PRIu64
                 " of %" PRIu64,
                 now->rows, now->keys, one->rows, one->keys);
    else if (differ == 0)
        snprintf(out->where, sizeof out->where, "; each strategy that both have puts every row where it did");
}

static bool begins_line(const char *text, size_t at)
{
    return at == 0 || text[at - 1] == '\n';
}

/* The number of lines, including an unterminated one. */
static uint64_t lines_of(const char *begin, const char *end)
{
    uint64_t count = 0;
    for (const char *c = begin; c < end; c++)
        count += *c == '\n';
    return count + (end > begin && end[-1] != '\n');
}

/* Formats "lines 3 to 5": from the first to the last changed line, as numbered now. */
static void tell_lines(const char *old, const char *now, char *buffer, size_t size)
{
    size_t head = 0, tail = 0, old_size = strlen(old), now_size = strlen(now);
    if (strcmp(old, now) == 0)
        return;
    while (head < old_size && head < now_size && old[head] == now[head])
        head++;
    while (!begins_line(old, head))
        head--;
    while (tail < old_size - head && tail < now_size - head &&
           old[old_size - 1 - tail] == now[now_size - 1 - tail])
        tail++;
    while (tail > 0 && !(begins_line(old, old_size - tail) && begins_line(now, now_size - tail)))
        tail--;
    uint64_t first = lines_of(now, now + head) + 1;
    uint64_t gone = lines_of(old + head, old + old_size - tail);
    uint64_t come = lines_of(now + head, now + now_size - tail);
    if (come == 0)
        snprintf(buffer, size, "%" PRIu64 " line%s gone before line %" PRIu64, gone, gone == 1 ? "" : "s",
                 first);
    else if (come == 1)
        snprintf(buffer, size, "line %" PRIu64, first);
    else
        snprintf(buffer, size, "lines %" PRIu64 " to %" PRIu64, first, first + come - 1);
}

static void tell_change(const struct lab_scenario *scenario, const struct store_run_info *info, char *buffer,
                        size_t size)
{
    char lines[128] = "";
    tell_lines(info->scenario_text == NULL ? "" : info->scenario_text, scenario->text, lines, sizeof lines);
    const char *overrides = info->overrides == NULL ? "" : info->overrides;
    bool is_overridden = strcmp(overrides, scenario->overrides) != 0;
    snprintf(buffer, size, "%s%s%s", lines[0] == '\0' ? "" : "; the scenario changed since: ", lines,
             is_overridden ? "; --set differs from the baseline's" : "");
}

static bool compare_digest(struct cli_checked *item, const struct cli_gate *gate,
                           const struct store_run_info *info, struct sim_error *error)
{
    const struct lab_result *one = item->held.result, *now = item->result;
    struct moved moved = {"", "", ""};
    tell_change(item->scenario, info, moved.change, sizeof moved.change);
    bool is_same = one->digest == now->digest && one->seed == now->seed;
    bool is_same_version = strcmp(info->version == NULL ? "" : info->version, BUCKETLAB_VERSION) == 0;
    item->is_exact = is_same && moved.change[0] == '\0' && (is_same_version || gate->digest_counts);
    item->cause =
        is_same_version
            ? "the same program gave two results, which is a defect; please report it"
            : "another version of bucketlab made the baseline, and computed this figure differently";
    if (!is_same_version)
        snprintf(moved.version, sizeof moved.version, " by bucketlab %.32s, and this is %.32s", info->version,
                 BUCKETLAB_VERSION);
    if (is_same)
        return moved.change[0] == '\0' ||
               cli_check_note(item, "all rows go to the same partitions as before%s", moved.change) ||
               sim_fail_memory(error);
    char seed[64] = "";
    if (one->seed != now->seed)
        snprintf(seed, sizeof seed, " at seed %" PRIu64 ", and this is %" PRIu64, one->seed, now->seed);
    tell_where(one, now, &moved);
    struct cli_about about = {.name = "digest", CLI_NO_FIGURE};
    const char *format = "digest changed: %016" PRIx64 ", baseline %016" PRIx64 "%s%s%s%s";
    bool is_fine = gate->digest_counts ? cli_check_fail(item, &about, format, now->digest, one->digest, seed,
                                                        moved.version, moved.where, moved.change)
                                       : cli_check_note(item, format, now->digest, one->digest, seed,
                                                        moved.version, moved.where, moved.change);
    return is_fine || sim_fail_memory(error);
}

bool cli_check_digest(struct cli_checked *item, const struct cli_gate *gate, struct store *store,
                      struct sim_error *error)
{
    const struct cli_about about = {.name = "baseline", CLI_NO_FIGURE};
    if (!store_baseline_load(store, item->scenario->name, &item->held, &item->has_baseline, error))
        return false;
    if (item->has_baseline && !cli_check_terms(item, error))
        return false;
    if (!cli_check_begin(item, CLI_CHECK_BASELINE, "digest"))
        return sim_fail_memory(error);
    if (item->has_baseline)
        return compare_digest(item, gate, &item->held.info, error);
    return cli_check_fail(item, &about,
                          "%s does not have '%s'; add it with --update-baseline once its figures are right",
                          gate->baseline, item->scenario->name) ||
           sim_fail_memory(error);
}

/* Confidence of the interval of a metric for one more seed. False alarms are prevented by FALSE_ALARM,
 * not by this number. */
#define CONFIDENCE 0.99

struct figure {
    char *label; /* owned by the item's strategy */
    char name[LAB_METRIC_NAME_SIZE];
    struct tune_sample sample;
};

struct figures {
    struct figure *items;
    size_t count, capacity;
    uint64_t failed; /* number of seeds at which an expectation fails */
    uint64_t first_failed;
};

struct update {
    struct cli_gate *gate;
    struct figures *figures; /* metrics of each item */
};

/* Finds or makes a metric; `hint` is its usual index, since metrics are nearly always in the same order. */
static struct figure *figure_of(struct figures *figures, size_t hint, char *label, const char *name)
{
    for (size_t i = 0; i < figures->count; i++) {
        struct figure *figure = &figures->items[(hint + i) % figures->count];
        if (strcmp(figure->name, name) == 0 && strcmp(figure->label, label) == 0)
            return figure;
    }
    if (!sim_grow(&figures->items, &figures->capacity, figures->count + 1, sizeof *figures->items))
        return NULL;
    struct figure *figure = &figures->items[figures->count++];
    *figure = (struct figure){.label = label};
    snprintf(figure->name, sizeof figure->name, "%s", name);
    return figure;
}

static bool add_result(struct figures *figures, const struct cli_checked *item,
                       const struct lab_result *result)
{
    size_t place = 0;
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_strategy_result *strategy = &result->strategies[i];
        for (size_t j = 0; j < strategy->metrics.count; j++, place++) {
            const struct lab_metric *metric = &strategy->metrics.items[j];
            if (!isfinite(metric->value))
                continue;
            struct figure *figure =
                figure_of(figures, place, item->result->strategies[i].label, metric->name);
            if (figure == NULL)
                return false;
            tune_sample_add(&figure->sample, metric->value);
        }
    }
    return true;
}

static bool add_seed(void *context, size_t index, uint64_t offset, struct lab_result *result,
                     int64_t elapsed_ms, struct sim_error *error)
{
    struct update *update = context;
    struct figures *figures = &update->figures[index];
    struct lab_breach breach;
    (void)offset;
    (void)elapsed_ms;
    if (!result->expects_hold || lab_breach_find(result, &breach)) {
        figures->first_failed = figures->failed++ == 0 ? result->seed : figures->first_failed;
    }
    bool is_fine = add_result(figures, &update->gate->items[index], result);
    lab_result_destroy(result);
    return is_fine || sim_fail_memory(error);
}

static bool save_made(struct cli_gate *gate, struct store_baseline *made, struct sim_error *error)
{
    struct store *store;
    if (!store_open(gate->baseline, STORE_WRITE, &store, error))
        return false;
    bool is_fine = store_baselines_save(store, made, gate->count, error);
    store_close(store);
    return is_fine;
}

/* Makes a baseline, whose strings and result are owned by the item. */
static bool make_baseline(struct cli_checked *item, const struct figures *figures, uint64_t seeds,
                          struct store_baseline *out)
{
    *out = (struct store_baseline){
        .info = {.scenario_path = item->scenario->path, /* relative to the repository's folder, so that it is
                                                           the same on every machine */
                 .scenario_text = item->scenario->text,
                 .overrides = item->scenario->overrides,
                 .version = BUCKETLAB_VERSION,
                 .created_unix_s = item->created_unix_s,
                 .elapsed_ms = item->elapsed_ms},
        .result = item->result,
        .seeds = seeds,
        .metrics = calloc(figures->count + 1, sizeof *out->metrics),
        .metric_count = figures->count};
    for (size_t i = 0; out->metrics != NULL && i < figures->count; i++) {
        const struct figure *figure = &figures->items[i];
        struct tune_interval next = tune_sample_next_interval(&figure->sample, CONFIDENCE);
        struct store_baseline_metric *metric = &out->metrics[i];
        *metric = (struct store_baseline_metric){.label = figure->label,
                                                 .count = figure->sample.count,
                                                 .mean = figure->sample.mean,
                                                 .stddev = tune_sample_stddev(&figure->sample),
                                                 .low = fmin(next.low, figure->sample.least),
                                                 .high = fmax(next.high, figure->sample.most)};
        memcpy(metric->name, figure->name, sizeof metric->name);
    }
    return out->metrics != NULL;
}

static bool save(struct update *update, struct sim_error *error)
{
    struct cli_gate *gate = update->gate;
    struct store_baseline *made = calloc(gate->count, sizeof *made);
    if (made == NULL)
        return sim_fail_memory(error);
    bool is_fine = true;
    for (size_t i = 0; is_fine && i < gate->count; i++)
        is_fine = make_baseline(&gate->items[i], &update->figures[i], gate->seeds + 1, &made[i]) ||
                  sim_fail_memory(error);
    is_fine = is_fine && save_made(gate, made, error);
    for (size_t i = 0; i < gate->count; i++)
        free(made[i].metrics);
    free(made);
    return is_fine;
}

bool cli_check_update(struct cli_gate *gate, struct sim_error *error)
{
    struct update update = {gate, calloc(gate->count, sizeof *update.figures)};
    bool is_fine = update.figures != NULL;
    for (size_t i = 0; is_fine && i < gate->count; i++)
        is_fine = add_result(&update.figures[i], &gate->items[i], gate->items[i].result);
    is_fine = is_fine || sim_fail_memory(error);
    is_fine = is_fine && cli_check_run(gate, 1, gate->seeds, NULL, add_seed, &update, error) &&
              save(&update, error);
    for (size_t i = 0; is_fine && i < gate->count; i++) {
        const struct figures *figures = &update.figures[i];
        if (figures->failed > 0)
            is_fine = cli_check_note(&gate->items[i],
                                     "at %" PRIu64 " of %" PRIu64 " further seeds, %" PRIu64
                                     " for one, an expectation does not hold or a guarantee is broken",
                                     figures->failed, gate->seeds, figures->first_failed) ||
                      sim_fail_memory(error);
    }
    for (size_t i = 0; update.figures != NULL && i < gate->count; i++)
        free(update.figures[i].items);
    free(update.figures);
    gate->is_updated = is_fine;
    return is_fine;
}
