/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search of `tune SCENARIO`, from the pilot to the margins. In: a scenario. Kept: what each run of a
 * setting showed. Out: a verdict for each setting, and the one to recommend. */
#include "tune/contest.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/team.h"
#include "tune/expected.h"

/* Where a run draws the rows for all settings, a few more of each kind cost little. */
#define TOGETHER 3

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

/* --- the pilot: a run of `unbucketed` */

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
    if (is_fine && contest->scenario->trace_path != NULL)
        is_fine =
            tune_growth_of_run(contest->scenario, result, contest->terms.confidence, &outlook->growth, error);
    lab_result_destroy(result);
    outlook->unbucketed_days = is_fine ? tune_unbucketed_days(outlook) : 0;
    return is_fine;
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

static bool is_shared(const struct tune_contest *contest)
{
    return contest->scenario->engine != LAB_ENGINE_CLUSTER;
}

/* Whether bursts and spikes strike a key at other times with other seeds. A distribution given the rates of
 * one seed tells nothing of the others. */
static bool differs_by_seed(const struct tune_contest *contest, const struct lab_settings *settings)
{
    const struct wl_workload *workload = &contest->scenario->workload;
    const enum bk_kind kind = settings->strategy.kind;
    return (workload->has_bursts || workload->spike_count > 0) && contest->terms.seeds > 1 &&
           (kind == BK_KIND_TIME || kind == BK_KIND_HASH || kind == BK_KIND_UNBUCKETED);
}

/* A margin is judged as a run with the scenario's seed would be. */
void tune_know(const struct tune_contest *contest, const struct lab_settings *settings, double factor,
               struct lab_facts *out)
{
    const double rows = (double)contest->rows.rows * factor, keys = (double)contest->rows.keys;
    const struct tune_prospect prospect = {contest->scenario,
                                           factor,
                                           rows,
                                           keys,
                                           true,
                                           (double)contest->rows.lasts_ns / (double)SIM_SECOND,
                                           (double)contest->rows.busiest_rows * factor};
    *out = (struct lab_facts){
        .expected_most = (double)INFINITY, .expected_share = (double)NAN, .partitions = (uint64_t)ceil(rows)};
    if (factor != 1 || !differs_by_seed(contest, settings))
        tune_expected_of(&prospect, settings, out);
    tune_rates_of(&prospect, settings, out->rates);
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
    facts.expected_run = known->expected_run;
    facts.expected_days = known->expected_days;
    facts.expected_share = known->expected_share;
    facts.expected_full = known->expected_full;
    for (int i = 0; i < LAB_RATES; i++) {
        const struct lab_rate_facts seen_rate = facts.rates[i];
        facts.rates[i] = known->rates[i];
        facts.rates[i].is_counted = seen_rate.is_counted;
        facts.rates[i].counted = seen_rate.counted;
    }
    tune_expected_share(&facts, (double)facts.partitions / seeds);
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

static void judge(const struct tune_contest *contest, struct tune_entrant *entrant)
{
    const enum lab_within within = tune_judge(contest, entrant->seen, entrant->seeds, &entrant->known,
                                              &entrant->judgment, &entrant->failed);
    entrant->disqualifiers = (entrant->is_endless ? (unsigned)LAB_DISQUALIFIER_ENDLESS : 0) |
                             disqualifiers_of(entrant->seen, entrant->seeds);
    entrant->status = within == LAB_EXCEEDS
                          ? (entrant->failed == TUNE_IN_LIMITS ? TUNE_EXCEEDS : TUNE_DISQUALIFIED)
                      : entrant->seeds == 0  ? TUNE_COSTLY
                      : within == LAB_WITHIN ? TUNE_WITHIN
                                             : TUNE_NOT_JUDGED;
    const bool is_decided =
        within == LAB_WITHIN && entrant->seeds > 0 &&
        (entrant->judgment.by == LAB_BY_DISTRIBUTION || entrant->judgment.by == LAB_BY_CERTAINTY);
    if (is_decided && !has_more_demands(contest))
        entrant->needs = entrant->seeds;
}

/* --- ranking */

/* Whether the setting may still be recommended, or the best of its kind. */
static bool may_win(const struct tune_entrant *entrant)
{
    return !entrant->is_endless && (entrant->status <= TUNE_WITHIN || entrant->status == TUNE_COSTLY ||
                                    (entrant->status == TUNE_NOT_JUDGED && entrant->seeds < entrant->needs));
}

/* What a protocol writes above the bound whatever its numbers are: the least that the settings of the
 * template have shown. The increments of weighted on a trace are not in the bound. */
static double overhead_of(const struct tune_contest *contest, const struct tune_entrant *entrant)
{
    double least = (double)INFINITY;
    for (size_t i = 0; i < contest->count; i++) {
        const struct tune_entrant *other = &contest->entrants[i];
        if (other->seeds > 0 && strcmp(other->base, entrant->base) == 0 && other->write_least > 0)
            least = fmin(least, other->seen[0].figures[TUNE_COST_WRITE] - other->write_least);
    }
    return isfinite(least) ? fmax(0, least) : 0;
}

struct lab_candidate tune_candidate_for(const struct tune_contest *contest,
                                        const struct tune_entrant *entrant)
{
    struct lab_candidate candidate = {
        .load = entrant->load_least, .cv = entrant->cv_known, .fullness = (double)INFINITY};
    if (entrant->seeds == 0) {
        candidate.load += overhead_of(contest, entrant);
    } else {
        candidate = entrant->seen[0].candidate;
        /* The runs of the cluster engine are short, and their CV is a matter of chance. */
        if (!is_shared(contest) && entrant->cv_known > 0)
            candidate.cv = entrant->cv_known;
    }
    candidate.is_eligible = may_win(entrant);
    candidate.requirements = entrant->requirements;
    return candidate;
}

/* The first settings of the ranking of a group, or of all with TUNE_GROUPS. is_within: only of those that are
 * within the limits. Returns their number, at most `most_listed`. */
static size_t rank(const struct tune_contest *contest, unsigned group, bool is_within, size_t most_listed,
                   size_t *out)
{
    struct lab_candidate *left = contest->scratch;
    size_t count = 0;
    for (size_t i = 0; i < contest->count; i++) {
        const struct tune_entrant *entrant = &contest->entrants[i];
        left[i] = tune_candidate_for(contest, entrant);
        left[i].is_eligible = left[i].is_eligible && (!is_within || entrant->status <= TUNE_WITHIN) &&
                              (group == TUNE_GROUPS || tune_group_of(entrant) == group);
    }
    for (; count < most_listed; count++) {
        out[count] = lab_choose_from(left, contest->count, contest->terms.tolerance);
        if (out[count] == SIZE_MAX)
            break;
        left[out[count]].is_eligible = false;
    }
    return count;
}

/* Returns SIZE_MAX when there is none. */
static size_t best_so_far(const struct tune_contest *contest)
{
    size_t best;
    return rank(contest, TUNE_GROUPS, true, 1, &best) == 1 ? best : SIZE_MAX;
}

/* Names the best setting so far; before any is within the limits by its runs, the best of those that are by
 * their distributions. */
static void tell_best(const struct tune_contest *contest, struct lab_progress *progress)
{
    struct lab_candidate *left = contest->scratch;
    size_t best = best_so_far(contest);
    for (size_t i = 0; best == SIZE_MAX && i < contest->count; i++) {
        left[i] = tune_candidate_for(contest, &contest->entrants[i]);
        left[i].is_eligible &= contest->entrants[i].judgment.within == LAB_WITHIN;
    }
    if (best == SIZE_MAX)
        best = lab_choose_from(left, contest->count, contest->terms.tolerance);
    if (progress != NULL)
        atomic_store_explicit(&progress->best,
                              best == SIZE_MAX ? NULL : contest->entrants[best].strategy.label,
                              memory_order_release);
}

/* --- running */

/* A round runs the settings of the list: with the first seed, in jobs of `together`; or all together, with
 * one job for each of the seeds that they lack. */
struct search {
    struct tune_contest *contest;
    uint32_t threads, threads_each;
    struct lab_progress *progress;
    size_t *list;
    size_t count, together;
    uint32_t from;   /* the first of these seeds; 0: they have none */
    bool ends_early; /* as soon as they are judged */
    /* The further seeds: where rows are shared, first the one that made a setting drop out last, since the
     * next exceeds a limit by the same bursts. */
    uint32_t order[LAB_TUNE_SEEDS_MAX];
    uint64_t failed; /* its job */
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
    const uint64_t seed =
        contest->scenario->seed + (search->from > 0 ? search->order[search->from - 1 + job] : 0);
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
    const bool drops_out = search->from > 0 && !search->contest->is_exhaustive;
    bool is_done = true;
    (void)error;
    for (size_t i = 0; i < count; i++) {
        struct tune_entrant *entrant = &search->contest->entrants[search->list[first + i]];
        if (drops_out && !may_win(entrant))
            continue;
        entrant->seen[entrant->seeds++] = batch->seen[i];
        judge(search->contest, entrant);
        search->failed = drops_out && !may_win(entrant) ? job : search->failed;
        is_done = is_done && (entrant->seeds >= entrant->needs || (drops_out && !may_win(entrant)) ||
                              (search->ends_early && entrant->status != TUNE_NOT_JUDGED));
    }
    *is_enough = search->from > 0 && is_done;
    if (batch->result != NULL)
        search->contest->entrants[search->list[first]].result = batch->result;
    batch->result = NULL;
    drop(batch);
    tell_best(search->contest, search->progress);
    return true;
}

/* Runs the settings of the list, which have the same seeds, and empties it. A run of a trace has one thread,
 * so there the list is divided. */
static bool run_round(struct search *search, bool ends_early, struct sim_error *error)
{
    struct tune_contest *contest = search->contest;
    struct lab_progress *progress = search->progress, inner = {.parent = progress};
    const struct tune_entrant *one = &contest->entrants[search->list[0]];
    const uint64_t margins = contest->scenario->trace_path == NULL ? 3 : 0;
    const size_t count = search->count;
    if (count == 0)
        return true;
    search->from = one->seeds;
    search->ends_early = ends_early;
    search->together = count;
    if (search->from == 0 && !is_shared(contest))
        search->together = 1;
    else if (search->from == 0 && contest->scenario->trace_path != NULL &&
             tune_engine(contest->scenario, 1) == LAB_ENGINE_EXACT)
        search->together = (count + search->threads - 1) / search->threads;
    const uint64_t jobs =
        search->from > 0 ? one->needs - one->seeds : (count + search->together - 1) / search->together;
    const uint32_t at_once = jobs < search->threads ? (uint32_t)jobs : search->threads;
    const struct lab_crew crew = {.context = search, .count = jobs, .work = work, .take = take, .drop = drop};
    uint64_t taken;
    search->threads_each = search->threads / at_once;
    if (progress != NULL)
        progress->total = progress->done + jobs + contest->terms.seeds + margins;
    search->failed = 0;
    if (!lab_crew_run(&crew, at_once, &inner, &taken, error))
        return false;
    search->count = 0;
    for (uint64_t i = search->failed; is_shared(contest) && i > 0; i--) {
        const uint32_t seed = search->order[i];
        search->order[i] = search->order[i - 1];
        search->order[i - 1] = seed;
    }
    if (progress != NULL) {
        progress->done += jobs;
        progress->rows += jobs * search->together;
    }
    return progress == NULL || !stopped(progress, error);
}

/* --- the search */

static void add(struct search *search, size_t index)
{
    size_t i = 0;
    while (i < search->count && search->list[i] != index)
        i++;
    if (i == search->count)
        search->list[search->count++] = index;
}

/* Runs what is listed and, until they have run, the first settings of the ranking of all and of each group.
 */
static bool run_leaders(struct search *search, struct sim_error *error)
{
    const struct tune_contest *contest = search->contest;
    size_t first[TOGETHER];
    for (;;) {
        bool is_done = search->count == 0;
        for (unsigned group = 0; group <= TUNE_GROUPS; group++) {
            const size_t count = rank(contest, group, false, is_shared(contest) ? TOGETHER : 1, first);
            is_done = is_done && (count == 0 || contest->entrants[first[0]].seeds > 0);
            for (size_t i = 0; i < count; i++) {
                if (contest->entrants[first[i]].seeds == 0)
                    add(search, first[i]);
            }
        }
        if (is_done) {
            search->count = 0;
            return true;
        }
        if (!run_round(search, false, error))
            return false;
    }
}

/* Lists settings that lack seeds and have the same number of them. Where rows are shared: the first of all,
 * those that come next, and the first of each group. With agents the first of all, or of those within the
 * limits; or else the first of a group that is not judged. Returns whether the first of all is listed. */
static bool list_lacking(struct search *search)
{
    const struct tune_contest *contest = search->contest;
    size_t first[TOGETHER];
    bool has_leader = false;
    for (unsigned group = TUNE_GROUPS + 1; group-- > 0;) {
        const bool is_all = group == TUNE_GROUPS;
        size_t count = rank(contest, group, false, is_all && is_shared(contest) ? TOGETHER : 1, first);
        if (is_all && count > 0 && contest->entrants[first[0]].seeds >= contest->entrants[first[0]].needs)
            count = rank(contest, group, true, 1, first);
        for (size_t i = 0; i < count; i++) {
            const struct tune_entrant *entrant = &contest->entrants[first[i]];
            if (entrant->seeds == 0 || entrant->seeds >= entrant->needs ||
                (!is_all && !is_shared(contest) && entrant->status != TUNE_NOT_JUDGED) ||
                (search->count > 0 && entrant->seeds != contest->entrants[search->list[0]].seeds))
                break;
            add(search, first[i]);
            has_leader |= is_all;
        }
        if (search->count > 0 && !is_shared(contest))
            break;
    }
    return has_leader;
}

static bool search_all(struct search *search, struct sim_error *error)
{
    struct tune_contest *contest = search->contest;
    /* These have figures whatever their rank is: the scenario's own settings, and those without end where a
     * run draws the rows for all. */
    for (size_t i = 0; i < contest->count; i++) {
        const struct tune_entrant *entrant = &contest->entrants[i];
        if (contest->is_exhaustive || (entrant->status == TUNE_COSTLY &&
                                       (entrant->is_own || (entrant->is_endless && is_shared(contest)))))
            search->list[search->count++] = i;
    }
    /* Rows that are shared are drawn for the first of the others too. */
    if ((contest->is_exhaustive || !is_shared(contest)) && !run_round(search, false, error))
        return false;
    for (size_t i = 0; contest->is_exhaustive && i < contest->count; i++) {
        search->list[0] = i;
        search->count = contest->entrants[i].seeds < contest->entrants[i].needs;
        if (!run_round(search, false, error))
            return false;
    }
    for (;;) {
        if (!run_leaders(search, error))
            return false;
        const bool has_leader = list_lacking(search);
        if (search->count == 0)
            return true;
        if (!run_round(search, !has_leader && !is_shared(contest), error))
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
    for (uint32_t i = 0; i < LAB_TUNE_SEEDS_MAX; i++)
        search.order[i] = i + 1;
    for (size_t i = 0; is_fine && i < contest->count; i++) {
        contest->entrants[i].seen = calloc(contest->terms.seeds, sizeof *contest->entrants[i].seen);
        is_fine = contest->entrants[i].seen != NULL;
        judge(contest, &contest->entrants[i]);
    }
    if (is_fine)
        tell_best(contest, progress);
    is_fine = is_fine ? search_all(&search, error) : sim_fail_memory(error);
    free(search.list);
    contest->recommended = is_fine ? best_so_far(contest) : SIZE_MAX;
    if (contest->recommended != SIZE_MAX)
        contest->entrants[contest->recommended].status = TUNE_RECOMMENDED;
    return is_fine;
}

/* --- the margin: how much faster may rows come? */

static void judge_step(struct tune_contest *contest, const struct tune_margin *margin, uint32_t seeds,
                       struct tune_margin_step *step)
{
    const struct lab_settings *settings = &contest->entrants[margin->entrant].strategy.settings;
    struct lab_facts known;
    tune_know(contest, settings, step->factor, &known);
    step->within = tune_judge(contest, &step->seen, seeds, &known, &step->judgment, &step->failed);
    if (seeds == 0 && step->within == LAB_WITHIN && has_more_demands(contest))
        step->within = LAB_NOT_JUDGED;
}

/* More rows make no partition smaller, so what is within the limits at one rate is so at every lower one, and
 * what exceeds them at every higher one. Returns a rate in the middle of those that this leaves open;
 * TUNE_MARGIN_STEPS: none. */
static size_t spread(struct tune_margin *margin)
{
    struct tune_margin_step *steps = margin->steps;
    size_t held = 0, failed = TUNE_MARGIN_STEPS;
    for (size_t i = 0; i < TUNE_MARGIN_STEPS; i++) {
        if (steps[i].within == LAB_WITHIN || (steps[i].within == LAB_NOT_JUDGED && steps[i].is_run))
            held = i + 1;
        if (steps[i].within == LAB_EXCEEDS && i < failed)
            failed = i;
    }
    for (size_t i = TUNE_MARGIN_STEPS - 1; i > 0; i--) {
        if (steps[i].within == LAB_WITHIN)
            steps[i - 1].within = LAB_WITHIN;
    }
    for (size_t i = failed; i < TUNE_MARGIN_STEPS; i++)
        steps[i].within = LAB_EXCEEDS;
    return held < failed ? (held + failed) / 2 : TUNE_MARGIN_STEPS;
}

/* The distribution decides where it can. Rates that it leaves open are halved by runs. */
static bool find_margin(struct tune_contest *contest, struct tune_margin *margin, bool may_run,
                        uint32_t threads, struct lab_progress *progress, struct sim_error *error)
{
    static const double factors[TUNE_MARGIN_STEPS] = {1.5, 2, 3, 5, 10};
    for (size_t i = 0; i < TUNE_MARGIN_STEPS; i++) {
        margin->steps[i].factor = factors[i];
        if (i == 0 || margin->steps[i - 1].within != LAB_EXCEEDS)
            judge_step(contest, margin, 0, &margin->steps[i]);
        else
            margin->steps[i].within = LAB_EXCEEDS;
    }
    for (size_t next; (next = spread(margin)) < TUNE_MARGIN_STEPS && may_run;) {
        struct tune_margin_step *step = &margin->steps[next];
        if (!tune_watch(contest, &margin->entrant, 1, contest->scenario->seed, step->factor, threads,
                        progress, &step->seen, NULL, error))
            return false;
        step->is_run = true;
        judge_step(contest, margin, 1, step);
        if (progress != NULL)
            progress->done++;
        if (progress != NULL && stopped(progress, error))
            return false;
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
        size_t best;
        const size_t count = group == own ? 0 : rank(contest, group, true, 1, &best);
        if (count > 0)
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

double tune_contest_first_over(const struct tune_contest *contest, const struct tune_entrant *entrant)
{
    /* As `run` reports, with the scenario's seed. */
    const struct tune_seen unseen = {.figures[TUNE_FIRST_OVER] = (double)NAN},
                           *seen = entrant->seeds > 0 ? &entrant->seen[0] : &unseen;
    return tune_first_over_days(&contest->outlook, &entrant->strategy.settings,
                                seen->figures[TUNE_FIRST_OVER], seen->rows_most, seen->bytes_most);
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
