/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search of `tune SCENARIO`, from the pilot to the margins. In: a scenario. Kept: what each run of a
 * setting showed. Out: a verdict for each setting, and the one to recommend. */
#include "tune/contest.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/metric.h"
#include "lab/team.h"
#include "tune/expected.h"

/* A trace is read again by each round, which costs more than a few more settings of each kind. */
#define TOGETHER 3
/* A run has at most this many windows, if another kind is better. */
#define WINDOWS_MOST 1e8

const char *tune_status_name(enum tune_status status)
{
    static const char *const names[TUNE_STATUS_COUNT] = {"recommended", "within",       "not judged",
                                                         "exceeds",     "disqualified", "costly"};
    return (unsigned)status < TUNE_STATUS_COUNT ? names[status] : "unknown";
}

static bool stopped(struct lab_progress *progress, struct sim_error *error)
{
    if (!lab_is_stopped(progress))
        return false;
    sim_fail(error, SIM_ERROR_CHECK, "interrupted; nothing was stored");
    return true;
}

/* --- the pilot: a run of `unbucketed`, whose rows have the mean size if sizes vary little enough */

static uint64_t larger(uint64_t one, uint64_t other)
{
    return one > other ? one : other;
}

/* Sets contest->rows from the only strategy of a run. */
static bool measure(struct tune_contest *contest, const struct lab_result *result, struct sim_error *error)
{
    const struct lab_limits *limits = &contest->scenario->limits;
    const struct lab_strategy_result *all = &result->strategies[0];
    const double bytes = (double)(all->open_bytes.sum + all->closed_bytes.sum);
    const double rows = (double)(all->open_rows.sum + all->closed_rows.sum);
    const struct lab_metric *payload = lab_metrics_find(&all->metrics, "writes.payload_bytes");
    struct tune_rows *out = &contest->rows;
    if (!(rows > 0))
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s: no row comes within the run, so there is nothing to tune; raise arrivals.rate "
                        "or duration",
                        contest->scenario->path);
    *out = (struct tune_rows){
        .rows = result->rows,
        .keys = result->keys,
        .mean_bytes = bytes / rows,
        .mean_payload = payload != NULL && payload->value > 0 ? payload->value / rows : bytes / rows,
        .busiest_rows = larger(all->open_rows.most, all->closed_rows.most),
        .busiest_bytes = larger(all->open_bytes.most, all->closed_bytes.most),
        .start_ns = result->start_ns,
        .lasts_ns = result->end_ns > result->start_ns ? result->end_ns - result->start_ns : 1,
        .limit_rows = limits->partition_rows != 0 ? (double)limits->partition_rows : (double)INFINITY};
    if (limits->partition_bytes != 0)
        out->limit_rows = fmin(out->limit_rows, floor((double)limits->partition_bytes / out->mean_bytes));
    /* If the limit is less than a row, a partition still has one row. */
    out->limit_rows = fmax(out->limit_rows, 1);
    return true;
}

static bool fly(struct tune_contest *contest, uint32_t threads, struct lab_progress *progress,
                struct sim_error *error)
{
    char label[] = "unbucketed";
    struct lab_strategy unbucketed = {.label = label};
    struct lab_scenario scenario;
    struct lab_result *result;
    const struct lab_run_context run = {.progress = progress, .no_latencies = true};
    if (bk_strategy_unbucketed(&unbucketed.settings.strategy) != BK_OK)
        return false;
    tune_scenario_of(contest->scenario, &unbucketed, 1, contest->scenario->seed, 1, &scenario);
    scenario.reads = (struct lab_reads){0};
    struct sim_size *size = &scenario.workload.row_bytes;
    if (scenario.trace_path == NULL && (size->kind != SIM_SIZE_PARETO || size->b > 2))
        *size =
            (struct sim_size){.kind = SIM_SIZE_CONSTANT, .a = (double)sim_size_whole(sim_size_mean(size))};
    bool is_fine = lab_run_in(&scenario, threads, &run, &result, error);
    if (!is_fine && progress != NULL && stopped(progress, error))
        return false;
    is_fine = is_fine && measure(contest, result, error);
    struct tune_outlook *outlook = &contest->outlook;
    *outlook = (struct tune_outlook){.scenario = contest->scenario,
                                     .days = (double)contest->rows.lasts_ns / (double)SIM_DAY,
                                     .rows = (double)contest->rows.rows,
                                     .busiest_rows = contest->rows.busiest_rows,
                                     .busiest_bytes = contest->rows.busiest_bytes};
    if (is_fine)
        is_fine =
            tune_growth_of_run(contest->scenario, result, contest->terms.confidence, &outlook->growth, error);
    lab_result_destroy(result);
    return is_fine && (tune_unbucketed_days(outlook, &outlook->unbucketed_days) || sim_fail_memory(error));
}

bool tune_contest_begin(struct tune_contest *contest, const struct lab_scenario *scenario,
                        const struct lab_tune *terms, uint32_t threads, struct lab_progress *progress,
                        struct sim_error *error)
{
    *contest = (struct tune_contest){
        .scenario = scenario, .terms = *terms, .recommended = SIZE_MAX, .led = SIZE_MAX};
    if (fly(contest, threads, progress, error) && tune_candidates(contest, error))
        return true;
    tune_contest_clear(contest);
    return false;
}

void tune_contest_clear(struct tune_contest *contest)
{
    for (size_t i = 0; i < contest->count; i++) {
        free(contest->entrants[i].strategy.label);
        free(contest->entrants[i].seen);
        lab_result_destroy(contest->entrants[i].result);
    }
    free(contest->entrants);
    free(contest->margins);
    free(contest->scratch);
    contest->entrants = NULL;
    contest->margins = NULL;
    contest->scratch = NULL;
    contest->count = contest->capacity = contest->margin_count = 0;
}

/* --- judging */

struct tune_sample tune_figures_of(const struct tune_seen *seen, uint32_t seeds, enum tune_figure figure)
{
    struct tune_sample sample = {0};
    for (uint32_t i = 0; i < seeds; i++) {
        if (!isnan(seen[i].figures[figure]))
            tune_sample_add(&sample, seen[i].figures[figure]);
    }
    return sample;
}

static double mean_over(const struct tune_seen *seen, uint32_t seeds, enum tune_figure figure)
{
    const struct tune_sample sample = tune_figures_of(seen, seeds, figure);
    return sample.count == 0 ? (double)NAN : sample.mean;
}

double tune_mean_of(const struct tune_entrant *entrant, enum tune_figure figure)
{
    return mean_over(entrant->seen, entrant->seeds, figure);
}

unsigned tune_group_of(const struct tune_entrant *entrant)
{
    return 2 * (unsigned)entrant->strategy.settings.strategy.kind +
           (entrant->requirements >> LAB_REQUIRES_SEQUENCE & 1);
}

/* Where bursts and spikes strike a key at other times with other seeds, windows and partitions without end
 * have another distribution with each seed that is needed. */
static uint32_t asks(const struct tune_contest *contest, const struct tune_entrant *entrant)
{
    const struct wl_workload *workload = &contest->scenario->workload;
    const enum bk_kind kind = entrant->strategy.settings.strategy.kind;
    const bool differs = (workload->has_bursts || workload->spike_count > 0) &&
                         (kind == BK_KIND_TIME || kind == BK_KIND_HASH || kind == BK_KIND_UNBUCKETED);
    return differs ? entrant->needs : 1;
}

static bool is_shared(const struct tune_contest *contest)
{
    return contest->scenario->engine != LAB_ENGINE_CLUSTER;
}

struct tune_prospect tune_prospect_of(const struct tune_contest *contest, double factor)
{
    return (struct tune_prospect){.scenario = contest->scenario,
                                  .factor = factor,
                                  .rows = (double)contest->rows.rows * factor,
                                  .keys = (double)contest->rows.keys,
                                  .is_verdict = true,
                                  .seconds = (double)contest->rows.lasts_ns / (double)SIM_SECOND,
                                  .busiest = (double)contest->rows.busiest_rows * factor};
}

bool tune_know(const struct tune_contest *contest, const struct lab_settings *settings, double factor,
               uint64_t seed, struct lab_facts *out)
{
    struct lab_scenario scenario = *contest->scenario;
    struct tune_prospect prospect = tune_prospect_of(contest, factor);
    prospect.scenario = &scenario;
    scenario.seed = scenario.workload.seed = seed;
    *out = (struct lab_facts){.expected_share = (double)NAN, .partitions = (uint64_t)ceil(prospect.rows)};
    return tune_rates_of(&prospect, settings, out->rates) && tune_expected_of(&prospect, settings, out);
}

static struct lab_facts facts_of(const struct tune_seen *seen, uint32_t seeds, const struct lab_facts *known)
{
    struct lab_facts facts = seeds == 0 ? *known : seen[0].facts;
    if (seeds == 0) { /* the number of partitions is only bounded, so nothing is within a share of them */
        facts.expected_share = isnan(facts.expected_share) ? (double)INFINITY : facts.expected_share;
        return facts;
    }
    for (uint32_t i = 1; i < seeds; i++)
        lab_facts_add(&facts, &seen[i].facts);
    facts.has_distribution = known->has_distribution;
    facts.expected_most = known->expected_most;
    facts.expected_least = known->expected_least;
    facts.expected_days = known->expected_days;
    facts.expected_share = known->expected_share;
    facts.expected_full = known->expected_full;
    for (int i = 0; i < LAB_RATES; i++) {
        const struct lab_rate_facts seen_rate = facts.rates[i];
        facts.rates[i] = known->rates[i];
        facts.rates[i].is_counted = seen_rate.is_counted;
        facts.rates[i].counted = seen_rate.counted;
    }
    return facts;
}

static unsigned disqualifiers_of(const struct tune_seen *seen, uint32_t seeds)
{
    unsigned disqualifiers = 0;
    for (uint32_t i = 0; i < seeds; i++)
        disqualifiers |= seen[i].disqualifiers;
    return disqualifiers;
}

/* The demand that these disqualifiers miss; TUNE_IN_LIMITS: none. */
static enum tune_demand missed_by(unsigned disqualifiers)
{
    static const struct {
        unsigned bits;
        enum tune_demand demand;
    } table[] = {
        {LAB_DISQUALIFIER_HIDDEN, TUNE_FINDABLE},
        {LAB_DISQUALIFIER_REFUSED, TUNE_AVAILABLE},
        {LAB_DISQUALIFIER_FAILED, TUNE_ANSWERED},
        {LAB_DISQUALIFIER_MISROUTED | LAB_DISQUALIFIER_BROKEN, TUNE_GUARANTEED},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if ((disqualifiers & table[i].bits) != 0)
            return table[i].demand;
    }
    return TUNE_IN_LIMITS;
}

enum lab_within tune_judge(const struct tune_contest *contest, const struct tune_seen *seen, uint32_t seeds,
                           const struct lab_facts *known, struct lab_judgment *judgment,
                           enum tune_demand *failed)
{
    const struct lab_tune *terms = &contest->terms;
    const struct lab_facts facts = facts_of(seen, seeds, known);
    *judgment = lab_judgment_of(&contest->scenario->limits, &facts);
    if (seeds == 0 && judgment->by == LAB_BY_SAMPLE) { /* there was none */
        judgment->within = LAB_NOT_JUDGED;
        judgment->by = LAB_BY_NOTHING;
    }
    if (seeds == 0) {
        judgment->partitions = 0;
        judgment->share = (double)NAN;
    }
    *failed = missed_by(disqualifiers_of(seen, seeds));
    if (*failed != TUNE_IN_LIMITS || judgment->within == LAB_EXCEEDS)
        return LAB_EXCEEDS;
    *failed = TUNE_NOT_TINY;
    if (terms->tiny >= 0 && mean_over(seen, seeds, TUNE_TINY) > terms->tiny)
        return LAB_EXCEEDS;
    *failed = TUNE_FEW_PER_READ;
    if (terms->partitions_per_read > 0 &&
        mean_over(seen, seeds, TUNE_PER_READ_P99) > terms->partitions_per_read)
        return LAB_EXCEEDS;
    return judgment->within;
}

/* Whether a setting can fail by something else than a limit. */
static bool has_more_demands(const struct tune_contest *contest)
{
    return !is_shared(contest) || contest->terms.tiny >= 0 || contest->terms.partitions_per_read > 0;
}

/* Whether no other seed can show another rate of one partition than those that are judged. */
static bool knows_rates(const struct tune_contest *contest, const struct tune_entrant *entrant)
{
    const struct lab_limits *limits = &contest->scenario->limits;
    bool is_known = true;
    for (int i = 0; i < LAB_RATES; i++) {
        const struct lab_rate_facts *rate = &entrant->known.rates[i];
        is_known =
            is_known && (limits->rate[i] == 0 || (rate->is_known && rate->most <= 1 - limits->confidence));
    }
    return is_known;
}

/* Whether a run would take long, and show little that the distribution does not say. */
static bool has_many_windows(const struct tune_contest *contest, const struct tune_entrant *entrant)
{
    const struct bk_strategy *strategy = &entrant->strategy.settings.strategy;
    const struct tune_rows *rows = &contest->rows;
    return strategy->kind == BK_KIND_TIME && strategy->of.time.calendar == BK_CALENDAR_NONE &&
           fmin((double)rows->rows, (double)rows->lasts_ns / (double)strategy->of.time.window_ns *
                                        (double)lab_shards(strategy) * (double)rows->keys) > WINDOWS_MOST;
}

static void judge(const struct tune_contest *contest, struct tune_entrant *entrant)
{
    const enum lab_within within = tune_judge(contest, entrant->seen, entrant->seeds, &entrant->known,
                                              &entrant->judgment, &entrant->failed);
    entrant->disqualifiers = (entrant->is_endless ? (unsigned)LAB_DISQUALIFIER_ENDLESS : 0) |
                             disqualifiers_of(entrant->seen, entrant->seeds);
    entrant->status =
        within == LAB_EXCEEDS ? (entrant->failed == TUNE_IN_LIMITS ? TUNE_EXCEEDS : TUNE_DISQUALIFIED)
        : entrant->seeds == 0 && (within != LAB_WITHIN || !has_many_windows(contest, entrant)) ? TUNE_COSTLY
        : within == LAB_WITHIN                                                                 ? TUNE_WITHIN
                               : TUNE_NOT_JUDGED;
    const bool is_decided =
        within == LAB_WITHIN && entrant->seeds > 0 && entrant->asked >= asks(contest, entrant) &&
        (entrant->judgment.by == LAB_BY_DISTRIBUTION || entrant->judgment.by == LAB_BY_CERTAINTY);
    if (is_decided && knows_rates(contest, entrant) && !has_more_demands(contest))
        entrant->needs = entrant->seeds;
}

/* Asks the distribution of a setting, as far as it was not, with the rates of this many seeds, until it
 * excludes the setting. */
static void ask(const struct tune_contest *contest, struct tune_entrant *entrant, uint32_t seeds)
{
    const uint32_t last = seeds < asks(contest, entrant) ? seeds : asks(contest, entrant);
    for (; entrant->asked < last && entrant->status != TUNE_EXCEEDS; entrant->asked++) {
        const struct lab_facts before = entrant->known;
        entrant->lacked_memory |= !tune_know(contest, &entrant->strategy.settings, 1,
                                             contest->scenario->seed + entrant->asked, &entrant->known);
        entrant->known.expected_most = fmax(before.expected_most, entrant->known.expected_most);
        entrant->known.expected_least = fmax(before.expected_least, entrant->known.expected_least);
        entrant->known.expected_share = fmax(before.expected_share, entrant->known.expected_share);
        entrant->known.expected_full = fmax(before.expected_full, entrant->known.expected_full);
        judge(contest, entrant);
    }
}

enum lab_within tune_contest_try(const struct tune_contest *contest, const struct tune_entrant *entrant,
                                 const struct lab_limits *limits)
{
    const uint64_t limit[LAB_SIZE_UNITS] = {limits->partition_rows, limits->partition_bytes};
    struct lab_scenario scenario = *contest->scenario;
    struct tune_contest tried = *contest;
    struct tune_entrant one = *entrant;
    tried.scenario = &scenario;
    scenario.limits = *limits;
    one.asked = 0;
    one.status = TUNE_COSTLY;
    one.known = (struct lab_facts){.expected_share = (double)NAN};
    one.seen = calloc(one.seeds + 1, sizeof *one.seen);
    one.lacked_memory = one.seen == NULL;
    for (uint32_t i = 0; !one.lacked_memory && i < one.seeds; i++) {
        struct lab_facts *facts = &one.seen[i].facts;
        one.seen[i] = entrant->seen[i];
        const uint64_t most[LAB_SIZE_UNITS] = {one.seen[i].rows_most, one.seen[i].bytes_most};
        for (int unit = 0; unit < LAB_SIZE_UNITS; unit++)
            facts->over_of[unit] = most[unit] <= limit[unit] ? 0 : facts->over_of[unit];
        facts->over = facts->over_of[LAB_IN_ROWS] + facts->over_of[LAB_IN_BYTES] == 0 ? 0 : facts->over;
    }
    if (!one.lacked_memory)
        ask(&tried, &one, one.needs);
    free(one.seen);
    return one.lacked_memory ? LAB_NOT_JUDGED : one.judgment.within;
}

/* --- ranking */

/* Whether the setting may still be recommended, or the best of its kind. */
static bool may_win(const struct tune_entrant *entrant)
{
    return !entrant->is_endless && (entrant->status <= TUNE_WITHIN || entrant->status == TUNE_COSTLY ||
                                    (entrant->status == TUNE_NOT_JUDGED && entrant->seeds < entrant->needs));
}

/* What a protocol writes above the bound whatever its numbers are: the least that the settings of the
 * template have shown. That of a single writer is a write for each new bucket, so it does depend on them,
 * apart from count. The increments of weighted on a trace are not in the bound. */
static double overhead_of(const struct tune_contest *contest, const struct tune_entrant *entrant)
{
    double least = (double)INFINITY;
    if (is_shared(contest) && entrant->strategy.settings.strategy.kind != BK_KIND_COUNT)
        return 0;
    for (size_t i = 0; i < contest->count; i++) {
        const struct tune_entrant *other = &contest->entrants[i];
        if (other->seeds > 0 && strcmp(other->base, entrant->base) == 0 && other->write_least > 0)
            least = fmin(least, other->seen[0].figures[TUNE_COST_WRITE] - other->write_least);
    }
    return isfinite(least) ? fmax(0, least) : 0;
}

/* Whether reads query one bucket after another until the last one that they need. */
static bool reads_walk(const struct tune_contest *contest, const struct lab_settings *settings)
{
    bool walks = settings->reading.plan <= BK_PLAN_WALK && lab_reads_can_be_expected(contest->scenario);
    for (int kind = 0; settings->reading.plan == BK_PLAN_DEFAULT && kind < LAB_READ_KINDS; kind++)
        walks = walks && contest->scenario->reads.kinds[kind].plan <= BK_PLAN_WALK;
    return walks;
}

/* The partitions of a read, on average and at least. A read that queries m windows spans more than m - 2 of
 * them, whatever the length of other windows is. */
static double per_read_least(const struct tune_contest *contest, const struct tune_entrant *entrant)
{
    const struct lab_settings *settings = &entrant->strategy.settings;
    double least = 1;
    if (settings->strategy.kind != BK_KIND_TIME || !reads_walk(contest, settings))
        return least;
    for (size_t i = 0; i < contest->count; i++) {
        const struct tune_entrant *other = &contest->entrants[i];
        const struct bk_strategy *its = &other->strategy.settings.strategy;
        if (other->seeds > 0 && strcmp(other->base, entrant->base) == 0 &&
            its->of.time.calendar == BK_CALENDAR_NONE &&
            settings->strategy.of.time.calendar == BK_CALENDAR_NONE)
            least = fmax(least, (other->seen[0].figures[TUNE_PER_READ] / (double)lab_shards(its) - 2) *
                                    (double)its->of.time.window_ns /
                                    (double)settings->strategy.of.time.window_ns);
    }
    return least;
}

struct lab_candidate tune_candidate_for(const struct tune_contest *contest,
                                        const struct tune_entrant *entrant)
{
    const double known = lab_full_of(&entrant->strategy.settings).cv;
    struct lab_candidate candidate = {.load = entrant->load_least, .cv = isnan(known) ? 0 : known};
    if (entrant->seeds == 0) {
        candidate.load +=
            overhead_of(contest, entrant) +
            (per_read_least(contest, entrant) - 1) * (entrant->load_least - 1000 - entrant->write_least);
    } else {
        candidate = entrant->seen[0].candidate;
    }
    candidate.is_eligible = may_win(entrant);
    candidate.requirements = entrant->requirements;
    return candidate;
}

/* The first of the ranking of a group, or of all with TUNE_GROUPS; SIZE_MAX: there is none. is_within: only
 * of those that are judged to be within the limits. */
static size_t first_of(const struct tune_contest *contest, unsigned group, bool is_within)
{
    struct lab_candidate *candidates = contest->scratch;
    for (size_t i = 0; i < contest->count; i++) {
        const struct tune_entrant *entrant = &contest->entrants[i];
        candidates[i] = tune_candidate_for(contest, entrant);
        candidates[i].is_eligible &= (!is_within || entrant->judgment.within == LAB_WITHIN) &&
                                     (group == TUNE_GROUPS || tune_group_of(entrant) == group);
    }
    return lab_choose_from(candidates, contest->count, contest->terms.tolerance);
}

/* Names the best setting so far. */
static void tell_best(const struct tune_contest *contest, struct lab_progress *progress)
{
    const size_t best = progress == NULL ? SIZE_MAX : first_of(contest, TUNE_GROUPS, true);
    if (progress != NULL)
        atomic_store_explicit(&progress->best,
                              best == SIZE_MAX ? NULL : contest->entrants[best].strategy.label,
                              memory_order_release);
}

/* --- running */

/* A round runs the settings of the list with the first seed, in jobs of `together`, or a single one with the
 * seeds that it lacks, a job each. */
struct search {
    struct tune_contest *contest;
    uint32_t threads, threads_each;
    struct lab_progress *progress;
    size_t *list;
    size_t count, together;
    uint32_t from; /* the first of these seeds */
};
struct batch {
    struct lab_result *result;
    struct tune_seen seen[];
};

static void drop(void *made)
{
    struct batch *batch = made;
    if (batch != NULL)
        lab_result_destroy(batch->result);
    free(batch);
}

static size_t batch_of(const struct search *search, uint64_t job, size_t *first)
{
    *first = search->from > 0 ? 0 : (size_t)job * search->together;
    return search->count - *first < search->together ? search->count - *first : search->together;
}

static bool work(void *context, uint64_t job, struct lab_progress *progress, void **made,
                 struct sim_error *error)
{
    const struct search *search = context;
    const struct tune_contest *contest = search->contest;
    const uint64_t seed = contest->scenario->seed + (search->from > 0 ? search->from + job : 0);
    size_t first, count = batch_of(search, job, &first);
    struct batch *batch = calloc(1, sizeof *batch + count * sizeof *batch->seen);
    const bool is_kept = !is_shared(contest) && search->from == 0;
    *made = batch;
    return batch != NULL ? tune_watch(contest, search->list + first, count, seed, 1, search->threads_each,
                                      progress, batch->seen, is_kept ? &batch->result : NULL, error)
                         : sim_fail_memory(error);
}

static bool take(void *context, uint64_t job, void *made, bool *is_enough, struct sim_error *error)
{
    struct search *search = context;
    struct batch *batch = made;
    size_t first, count = batch_of(search, job, &first);
    (void)error;
    for (size_t i = 0; i < count; i++) {
        struct tune_entrant *entrant = &search->contest->entrants[search->list[first + i]];
        entrant->seen[entrant->seeds++] = batch->seen[i];
        judge(search->contest, entrant);
        if (search->from > 0)
            *is_enough =
                entrant->seeds >= entrant->needs || (!search->contest->is_exhaustive && !may_win(entrant));
    }
    if (batch->result != NULL)
        search->contest->entrants[search->list[first]].result = batch->result;
    batch->result = NULL;
    drop(batch);
    tell_best(search->contest, search->progress);
    return true;
}

/* Runs the settings of the list, and empties it. A run of a trace has one thread, so there the list is
 * divided. */
static bool run_round(struct search *search, struct sim_error *error)
{
    struct tune_contest *contest = search->contest;
    struct lab_progress *progress = search->progress, inner = {.parent = progress};
    const struct tune_entrant *one = &contest->entrants[search->list[0]];
    const uint64_t margins = contest->scenario->trace_path == NULL ? 3 : 0;
    const size_t count = search->count;
    search->from = one->seeds;
    search->together = count;
    if (!is_shared(contest))
        search->together = 1;
    else if (contest->scenario->trace_path != NULL && tune_engine(contest->scenario, 1) == LAB_ENGINE_EXACT)
        search->together = (count + search->threads - 1) / search->threads;
    const uint64_t jobs =
        search->from > 0 ? one->needs - one->seeds : (count + search->together - 1) / search->together;
    const uint32_t at_once = jobs < search->threads ? (uint32_t)jobs : search->threads;
    const struct lab_crew crew = {.context = search, .count = jobs, .work = work, .take = take, .drop = drop};
    uint64_t taken;
    search->threads_each = search->threads / at_once;
    if (progress != NULL)
        progress->total = progress->done + jobs + contest->terms.seeds + margins;
    if (!lab_crew_run(&crew, at_once, &inner, &taken, error))
        return false;
    search->count = 0;
    if (progress != NULL) {
        progress->done += jobs;
        progress->rows += jobs * search->together;
    }
    return progress == NULL || !stopped(progress, error);
}

/* --- the search */

static void list(struct search *search, size_t index)
{
    size_t i = 0;
    ask(search->contest, &search->contest->entrants[index], 1);
    while (i < search->count && search->list[i] != index)
        i++;
    if (i == search->count)
        search->list[search->count++] = index;
}

/* The first of the ranking that its distribution does not exclude. */
static size_t first_asked(const struct tune_contest *contest, unsigned group)
{
    for (;;) {
        const size_t first = first_of(contest, group, false);
        if (first == SIZE_MAX || contest->entrants[first].asked > 0)
            return first;
        ask(contest, &contest->entrants[first], 1);
    }
}

/* Runs what is listed and, until the first of all and of each group have run, these; of a group, not if it
 * has many windows. */
static bool run_leaders(struct search *search, struct sim_error *error)
{
    const struct tune_contest *contest = search->contest;
    const size_t most = contest->scenario->trace_path != NULL ? TOGETHER : 1;
    for (;;) {
        for (unsigned group = 0; group <= TUNE_GROUPS; group++) {
            size_t first = first_asked(contest, group);
            if (first == SIZE_MAX || contest->entrants[first].seeds > 0 ||
                (group < TUNE_GROUPS && has_many_windows(contest, &contest->entrants[first])))
                continue;
            for (size_t i = 0; i < most && first != SIZE_MAX; i++) { /* the next ones of the same ranking */
                if (contest->entrants[first].seeds == 0)
                    list(search, first);
                contest->scratch[first].is_eligible = false;
                first = lab_choose_from(contest->scratch, contest->count, contest->terms.tolerance);
            }
        }
        if (search->count == 0)
            return true;
        if (!run_round(search, error))
            return false;
    }
}

/* A setting that lacks seeds: the first of all, with those that have not run or without, or else of a group;
 * they differ where the tolerance is wide. SIZE_MAX: none. */
static size_t lacking(const struct tune_contest *contest)
{
    const size_t best = first_of(contest, TUNE_GROUPS, true);
    if (best != SIZE_MAX && contest->entrants[best].seeds > 0 &&
        contest->entrants[best].seeds < contest->entrants[best].needs)
        return best;
    for (unsigned group = TUNE_GROUPS + 1; group-- > 0;) {
        const size_t first = first_of(contest, group, false);
        if (first != SIZE_MAX && contest->entrants[first].seeds > 0 &&
            contest->entrants[first].seeds < contest->entrants[first].needs)
            return first;
    }
    return SIZE_MAX;
}

/* Gives a setting the seeds that it lacks, unless its distribution decides without them. */
static bool run_seeds(struct search *search, size_t index, struct sim_error *error)
{
    struct tune_entrant *entrant = &search->contest->entrants[index];
    ask(search->contest, entrant, entrant->needs);
    if (!search->contest->is_exhaustive && (!may_win(entrant) || entrant->seeds >= entrant->needs))
        return true;
    list(search, index);
    return run_round(search, error);
}

/* The setting that comes nearest to the limits, if distributions exclude all: its figures show what would do.
 * SIZE_MAX: there is none, or it has run. */
static size_t nearest_excluded(const struct tune_contest *contest)
{
    size_t nearest = SIZE_MAX;
    double least = 1;
    for (size_t i = 0; i < contest->count; i++) {
        const struct tune_entrant *entrant = &contest->entrants[i];
        if (entrant->is_endless)
            continue;
        if (entrant->status != TUNE_EXCEEDS)
            return SIZE_MAX;
        if (entrant->known.expected_share < least) {
            least = entrant->known.expected_share;
            nearest = i;
        }
    }
    return nearest != SIZE_MAX && contest->entrants[nearest].seeds > 0 ? SIZE_MAX : nearest;
}

static bool search_all(struct search *search, struct sim_error *error)
{
    struct tune_contest *contest = search->contest;
    if (!contest->is_exhaustive)
        first_asked(contest, TUNE_GROUPS);
    tell_best(contest, search->progress);
    /* These have figures whatever their rank is: the scenario's own settings, and those without end where a
     * run draws the rows for all. */
    for (size_t i = 0; i < contest->count; i++) {
        const struct tune_entrant *entrant = &contest->entrants[i];
        if (contest->is_exhaustive || entrant->is_own || (entrant->is_endless && is_shared(contest)))
            list(search, i);
    }
    /* Rows that are shared are drawn for the first of the others too. */
    if ((contest->is_exhaustive || !is_shared(contest)) && search->count > 0 && !run_round(search, error))
        return false;
    for (size_t i = 0; contest->is_exhaustive && i < contest->count; i++) {
        if (contest->entrants[i].seeds < contest->entrants[i].needs && !run_seeds(search, i, error))
            return false;
    }
    for (;;) {
        if (!run_leaders(search, error))
            return false;
        size_t next = lacking(contest);
        if (next == SIZE_MAX && (next = nearest_excluded(contest)) != SIZE_MAX)
            list(search, next);
        else if (next == SIZE_MAX)
            return true;
        else if (!run_seeds(search, next, error))
            return false;
    }
}

bool tune_race(struct tune_contest *contest, uint32_t threads, struct lab_progress *progress,
               struct sim_error *error)
{
    struct search search = {.contest = contest,
                            .threads = threads,
                            .progress = progress,
                            .list = calloc(contest->count + 1, sizeof *search.list)};
    contest->scratch = calloc(contest->count + 1, sizeof *contest->scratch);
    bool is_fine = search.list != NULL && contest->scratch != NULL;
    for (size_t i = 0; is_fine && i < contest->count; i++) {
        contest->entrants[i].seen = calloc(contest->terms.seeds, sizeof *contest->entrants[i].seen);
        is_fine = contest->entrants[i].seen != NULL;
        judge(contest, &contest->entrants[i]);
    }
    is_fine = is_fine ? search_all(&search, error) : sim_fail_memory(error);
    for (size_t i = 0; is_fine && i < contest->count; i++)
        is_fine = !contest->entrants[i].lacked_memory || sim_fail_memory(error);
    free(search.list);
    contest->recommended = is_fine ? first_of(contest, TUNE_GROUPS, true) : SIZE_MAX;
    if (contest->recommended != SIZE_MAX)
        contest->entrants[contest->recommended].status = TUNE_RECOMMENDED;
    return is_fine;
}

/* --- the margin: how much faster may rows come? */

static void judge_step(const struct tune_contest *contest, const struct lab_facts *known, uint32_t seeds,
                       struct tune_margin_step *step)
{
    step->within = tune_judge(contest, &step->seen, seeds, known, &step->judgment, &step->failed);
    if (seeds == 0 && step->within == LAB_WITHIN && has_more_demands(contest)) {
        step->within = LAB_NOT_JUDGED;
        step->judgment.by = LAB_BY_NOTHING;
    }
}

/* The distribution decides where it can, as a run with the scenario's seed would be judged. Rates that it
 * leaves open are halved by runs: more rows make no partition smaller, so what is within the limits at one
 * rate is so at every lower one, and what exceeds them at every higher one. */
static bool find_margin(struct tune_contest *contest, struct tune_margin *margin, bool may_run,
                        uint32_t threads, struct lab_progress *progress, struct sim_error *error)
{
    static const double factors[TUNE_MARGIN_STEPS] = {1.5, 2, 3, 5, 10};
    const struct lab_settings *settings = &contest->entrants[margin->entrant].strategy.settings;
    struct tune_margin_step *steps = margin->steps;
    struct lab_facts known[TUNE_MARGIN_STEPS];
    size_t held = 0, failed = TUNE_MARGIN_STEPS;
    for (size_t i = 0; i < TUNE_MARGIN_STEPS; i++) {
        steps[i].factor = factors[i];
        if (i > failed)
            continue;
        if (!tune_know(contest, settings, factors[i], contest->scenario->seed, &known[i]))
            return sim_fail_memory(error);
        judge_step(contest, &known[i], 0, &steps[i]);
        held = steps[i].within == LAB_WITHIN ? i + 1 : held;
        failed = steps[i].within == LAB_EXCEEDS ? i : failed;
    }
    while (may_run && held < failed) {
        const size_t next = (held + failed) / 2;
        if (!tune_watch(contest, &margin->entrant, 1, contest->scenario->seed, factors[next], threads,
                        progress, &steps[next].seen, NULL, error))
            return false;
        steps[next].is_run = true;
        judge_step(contest, &known[next], 1, &steps[next]);
        *(steps[next].within == LAB_EXCEEDS ? &failed : &held) = next + (steps[next].within != LAB_EXCEEDS);
        if (progress != NULL)
            progress->done++;
        if (progress != NULL && stopped(progress, error))
            return false;
    }
    for (size_t i = TUNE_MARGIN_STEPS - 1; i-- > 0;) {
        if (steps[i + 1].within == LAB_WITHIN && steps[i].within != LAB_WITHIN) {
            steps[i].within = LAB_WITHIN;
            steps[i].judgment.by = steps[i + 1].judgment.by;
        }
    }
    for (size_t i = failed + 1; i < TUNE_MARGIN_STEPS; i++) {
        if (steps[i].within != LAB_EXCEEDS)
            steps[i].judgment.by = steps[failed].judgment.by;
        steps[i].within = LAB_EXCEEDS;
    }
    return true;
}

/* Of the recommended setting, and of the best of each other kind as far as distributions decide. */
static bool find_margins(struct tune_contest *contest, uint32_t threads, struct lab_progress *progress,
                         struct sim_error *error)
{
    const unsigned own = tune_group_of(&contest->entrants[contest->recommended]);
    contest->margins = calloc(TUNE_GROUPS + 1, sizeof *contest->margins);
    if (contest->margins == NULL)
        return sim_fail_memory(error);
    contest->margins[contest->margin_count++].entrant = contest->recommended;
    for (unsigned group = 0; group < TUNE_GROUPS; group++) {
        const size_t best = group == own ? SIZE_MAX : first_of(contest, group, true);
        if (best != SIZE_MAX)
            contest->margins[contest->margin_count++].entrant = best;
    }
    for (size_t i = 0; i < contest->margin_count; i++) {
        struct tune_margin *margin = &contest->margins[i];
        contest->entrants[margin->entrant].margin = margin;
        margin->is_tried = contest->scenario->trace_path == NULL && (i == 0 || is_shared(contest));
        if (margin->is_tried && !find_margin(contest, margin, i == 0, threads, progress, error))
            return false;
    }
    return true;
}

/* --- the whole */

/* The setting whose lead is judged: the recommended one or, of those that do not exceed the limits, the one
 * with the least load. */
static size_t leader(const struct tune_contest *contest)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < contest->count; i++) {
        const struct tune_entrant *entrant = &contest->entrants[i];
        if (entrant->status > TUNE_NOT_JUDGED || entrant->strategy.settings.coordination != BK_THREE_STATE)
            continue;
        if (i == contest->recommended)
            return i;
        if (best == SIZE_MAX ||
            entrant->seen[0].candidate.load < contest->entrants[best].seen[0].candidate.load)
            best = i;
    }
    return best;
}

bool tune_contest_run(struct tune_contest *contest, uint32_t threads, struct lab_progress *progress,
                      struct sim_error *error)
{
    if (!tune_race(contest, threads, progress, error))
        return false;
    if (contest->recommended != SIZE_MAX) {
        if (!find_margins(contest, threads, progress, error))
            return false;
        contest->led = leader(contest);
    }
    /* The search may end sooner than expected. */
    if (progress != NULL)
        progress->total = progress->done;
    return true;
}

double tune_contest_lead_ms(const struct tune_contest *contest)
{
    const struct lab_agents *agents = &contest->scenario->agents;
    const double write_ms = tune_mean_of(&contest->entrants[contest->led], TUNE_WRITE_P999);
    const double known_ms = (double)(agents->cache_ttl_ns + 2 * agents->clock_bound_ns) / (double)SIM_MS;
    return ceil(known_ms + (isnan(write_ms) ? 0 : write_ms));
}

struct tune_seen tune_worst_of(const struct tune_entrant *entrant)
{
    struct tune_seen worst = {.refused = 0};
    for (uint32_t i = 0; i < entrant->seeds; i++) {
        const struct tune_seen *seen = &entrant->seen[i];
        worst.refused = fmax(worst.refused, seen->refused);
        worst.closed += seen->closed;
        worst.rows_most = larger(worst.rows_most, seen->rows_most);
        worst.bytes_most = larger(worst.bytes_most, seen->bytes_most);
    }
    return worst;
}

bool tune_contest_first_over(const struct tune_contest *contest, const struct tune_entrant *entrant,
                             double *out)
{
    /* As `run` reports, with the scenario's seed. */
    const struct tune_seen unseen = {.figures[TUNE_FIRST_OVER] = (double)NAN},
                           *seen = entrant->seeds > 0 ? &entrant->seen[0] : &unseen;
    const bool is_fine =
        tune_first_over_days(&contest->outlook, &entrant->strategy.settings, seen->figures[TUNE_FIRST_OVER],
                             seen->rows_most, seen->bytes_most, out);
    *out = *out >= LAB_DAYS_MOST ? (double)INFINITY : *out;
    return is_fine;
}

const char *tune_contest_best(const struct tune_contest *contest, enum bk_kind kind)
{
    for (size_t i = 0; i < contest->margin_count; i++) {
        const struct lab_strategy *strategy = &contest->entrants[contest->margins[i].entrant].strategy;
        if (kind == BK_KINDS || strategy->settings.strategy.kind == kind)
            return strategy->label;
    }
    return NULL;
}
