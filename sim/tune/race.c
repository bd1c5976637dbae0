/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Successive halving: runs settings on more and more seeds, judges them, and recommends one. */
#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/crew.h"
#include "tune/contest.h"
#include "tune/expected.h"

/* Where a run draws the rows for all settings, a few more cost little. */
#define LEAST_SHARED 3

const char *tune_status_name(enum tune_status status)
{
    static const char *const names[TUNE_STATUS_COUNT] = {"recommended", "within",       "not judged",
                                                         "exceeds",     "disqualified", "costly"};
    return (unsigned)status < TUNE_STATUS_COUNT ? names[status] : "unknown";
}

/* --- judging */

struct tune_sample tune_figures_of(const struct tune_entrant *entrant, enum tune_figure figure)
{
    struct tune_sample sample = {0};
    for (uint32_t i = 0; i < entrant->seeds; i++) {
        if (!isnan(entrant->seen[i].figures[figure]))
            tune_sample_add(&sample, entrant->seen[i].figures[figure]);
    }
    return sample;
}

double tune_mean_of(const struct tune_entrant *entrant, enum tune_figure figure)
{
    const struct tune_sample sample = tune_figures_of(entrant, figure);
    return sample.count == 0 ? (double)NAN : sample.mean;
}

unsigned tune_group_of(const struct tune_entrant *entrant)
{
    return 2 * (unsigned)entrant->strategy.settings.strategy.kind +
           (entrant->requirements >> LAB_REQUIRES_SEQUENCE & 1);
}

/* The partitions of a run are estimated by those whose expected number and probability are known; there are
 * never more than rows. */
void tune_know(const struct tune_contest *contest, const struct lab_settings *settings, double factor,
               struct lab_facts *out)
{
    const double rows = (double)contest->rows.rows * factor, keys = (double)contest->rows.keys;
    *out = (struct lab_facts){.has_distribution = false};
    tune_expected_of(contest->scenario, settings, rows, keys, factor, out);
    out->has_distribution = out->has_distribution && isfinite(out->expected_most);
    double partitions = rows;
    if (out->has_distribution && out->expected_share > 0)
        partitions = fmin(rows, out->expected_most / out->expected_share + keys);
    out->partitions = (uint64_t)fmax(1, ceil(partitions));
}

/* Whether the distribution is that of the first seed, since bursts and spikes strike a key at other times
 * with other seeds. Then it tells nothing of several seeds together. */
static bool differs_by_seed(const struct wl_workload *workload, const struct lab_settings *settings)
{
    const enum bk_kind kind = settings->strategy.kind;
    return (workload->has_bursts || workload->spike_count > 0) &&
           (kind == BK_TIME || kind == BK_HASH || kind == BK_UNBUCKETED);
}

static struct lab_facts facts_of(const struct tune_seen *seen, uint32_t seeds, const struct lab_facts *known,
                                 bool is_of_first)
{
    struct lab_facts facts = seeds == 0 ? *known : seen[0].facts;
    if (seeds == 0) { /* the number of partitions is only bounded, so nothing is within a share of them */
        facts.expected_share = isnan(facts.expected_share) ? (double)INFINITY : facts.expected_share;
        return facts;
    }
    for (uint32_t i = 1; i < seeds; i++)
        lab_facts_add(&facts, &seen[i].facts);
    facts.has_distribution = known->has_distribution && !(is_of_first && seeds > 1);
    facts.expected_most = known->expected_most;
    facts.expected_least = known->expected_least;
    facts.expected_share = known->expected_share;
    if (facts.has_distribution && isnan(facts.expected_share) && facts.partitions > 0)
        facts.expected_share = fmax(DBL_MIN, fmin(1, facts.expected_most * seeds / (double)facts.partitions));
    return facts;
}

static double mean_over(const struct tune_seen *seen, uint32_t seeds, enum tune_figure figure)
{
    double sum = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < seeds; i++) {
        count += !isnan(seen[i].figures[figure]);
        sum += isnan(seen[i].figures[figure]) ? 0 : seen[i].figures[figure];
    }
    return count == 0 ? (double)NAN : sum / count;
}

enum lab_within tune_judge(const struct tune_contest *contest, const struct lab_settings *settings,
                           const struct tune_seen *seen, uint32_t seeds, const struct lab_facts *known,
                           struct lab_judgment *judgment, enum tune_demand *failed)
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
    const struct lab_tune *terms = &contest->terms;
    const struct lab_facts facts =
        facts_of(seen, seeds, known, differs_by_seed(&contest->scenario->workload, settings));
    unsigned disqualifiers = 0;
    *judgment = lab_judgment_of(&contest->scenario->limits, &facts);
    if (seeds == 0 && judgment->by == LAB_BY_SAMPLE) { /* there was none */
        judgment->within = LAB_NOT_JUDGED;
        judgment->by = LAB_BY_NOTHING;
    }
    if (seeds == 0) {
        judgment->partitions = 0;
        judgment->share = (double)NAN;
    }
    *failed = TUNE_IN_LIMITS;
    for (uint32_t i = 0; i < seeds; i++)
        disqualifiers |= seen[i].disqualifiers;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if ((disqualifiers & table[i].bits) != 0) {
            *failed = table[i].demand;
            return LAB_EXCEEDS;
        }
    }
    if (judgment->within == LAB_EXCEEDS)
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

static void judge(const struct tune_contest *contest, struct tune_entrant *entrant)
{
    const enum lab_within within =
        tune_judge(contest, &entrant->strategy.settings, entrant->seen, entrant->seeds, &entrant->known,
                   &entrant->judgment, &entrant->failed);
    const bool is_limit = entrant->failed == TUNE_IN_LIMITS;
    entrant->disqualifiers = entrant->is_endless ? LAB_DISQUALIFIER_ENDLESS : 0;
    for (uint32_t i = 0; i < entrant->seeds; i++)
        entrant->disqualifiers |= entrant->seen[i].disqualifiers;
    entrant->status = within == LAB_EXCEEDS  ? (is_limit ? TUNE_EXCEEDS : TUNE_DISQUALIFIED)
                      : entrant->seeds == 0  ? TUNE_COSTLY
                      : within == LAB_WITHIN ? TUNE_WITHIN
                                             : TUNE_NOT_JUDGED;
}

/* --- ranking */

/* Whether more seeds may show that the setting is to recommend, or the best of its kind. */
static bool may_win(const struct tune_entrant *entrant)
{
    return !entrant->is_endless && (entrant->status <= TUNE_WITHIN || entrant->status == TUNE_COSTLY ||
                                    (entrant->status == TUNE_NOT_JUDGED && entrant->seeds < entrant->needs));
}

static bool is_shared(const struct tune_contest *contest)
{
    return contest->scenario->engine != LAB_ENGINE_CLUSTER;
}

static double fullness_of(const struct lab_limits *limits, const struct tune_entrant *entrant)
{
    double most = 0;
    for (uint32_t i = 0; i < entrant->seeds; i++) {
        if (limits->partition_rows != 0)
            most = fmax(most, (double)entrant->seen[i].rows_most / (double)limits->partition_rows);
        if (limits->partition_bytes != 0)
            most = fmax(most, (double)entrant->seen[i].bytes_most / (double)limits->partition_bytes);
    }
    return most;
}

/* What a partition may hold by the number that settings of a template differ in if their increments cost the
 * same; 0 for other kinds. */
static uint64_t number_of(const struct bk_strategy *strategy)
{
    return strategy->kind == BK_TIME            ? (uint64_t)strategy->of.time.window_ns
           : strategy->kind == BK_COUNT         ? strategy->of.count.rows
           : strategy->kind == BK_PROBABILISTIC ? strategy->of.probabilistic.threshold
                                                : 0;
}

/* What a setting of a template costs above its bound, at the least, by those that have run: the least of
 * them, since a protocol costs this much whatever the numbers are, and as much as one with larger partitions
 * and the same increments. */
static double overhead_of(const struct tune_contest *contest, const struct tune_entrant *entrant)
{
    const uint64_t number = number_of(&entrant->strategy.settings.strategy);
    double least = (double)INFINITY, larger = 0;
    for (size_t i = 0; i < contest->count; i++) {
        const struct tune_entrant *other = &contest->entrants[i];
        if (other->seeds == 0 || strcmp(other->base, entrant->base) != 0)
            continue;
        const double above = 1000 + tune_mean_of(other, TUNE_COST) - other->load_least;
        least = fmin(least, above);
        if (other->load_least == entrant->load_least &&
            number < number_of(&other->strategy.settings.strategy))
            larger = fmax(larger, above);
    }
    return fmax(larger, isfinite(least) ? least : 0);
}

struct lab_candidate tune_candidate_for(const struct tune_contest *contest,
                                        const struct tune_entrant *entrant)
{
    const bool is_run = entrant->seeds > 0;
    /* The runs of the cluster engine are short, and their CV is a matter of chance. */
    const bool is_known = !is_run || (!is_shared(contest) && entrant->cv_known > 0);
    return (struct lab_candidate){
        .is_eligible = may_win(entrant),
        .requirements = entrant->requirements,
        .load = is_run ? 1000 + tune_mean_of(entrant, TUNE_COST)
                       : entrant->load_least + overhead_of(contest, entrant),
        .cv = is_known ? entrant->cv_known : tune_mean_of(entrant, TUNE_CV),
        .fullness = is_run ? fullness_of(&contest->scenario->limits, entrant) : (double)INFINITY,
    };
}

/* Marks the first `count` settings of the ranking of a group; TUNE_GROUPS: of all. */
static void mark_first(const struct tune_contest *contest, const struct lab_candidate *all, unsigned group,
                       size_t count, struct lab_candidate *left, bool *is_wanted)
{
    memcpy(left, all, contest->count * sizeof *left);
    for (size_t i = 0; i < contest->count; i++)
        left[i].is_eligible =
            left[i].is_eligible && (group == TUNE_GROUPS || tune_group_of(&contest->entrants[i]) == group);
    while (count-- > 0) {
        const size_t best = lab_choose_from(left, contest->count, contest->terms.tolerance);
        if (best == SIZE_MAX)
            return;
        is_wanted[best] = true;
        left[best].is_eligible = false;
    }
}

/* The settings of a group that may win. */
static size_t size_of_group(const struct tune_contest *contest, unsigned group)
{
    size_t count = 0;
    for (size_t i = 0; i < contest->count; i++)
        count += may_win(&contest->entrants[i]) &&
                 (group == TUNE_GROUPS || tune_group_of(&contest->entrants[i]) == group);
    return count;
}

/* Marks the first 1 in `divisor` settings of all, and of each group, but at least `least`. */
static void want(const struct tune_contest *contest, size_t divisor, size_t least, bool *is_wanted,
                 struct lab_candidate *scratch)
{
    struct lab_candidate *all = scratch, *left = scratch + contest->count;
    for (size_t i = 0; i < contest->count; i++) {
        all[i] = tune_candidate_for(contest, &contest->entrants[i]);
        is_wanted[i] = false;
    }
    for (unsigned group = 0; group <= TUNE_GROUPS; group++) {
        const size_t count = size_of_group(contest, group) / divisor;
        mark_first(contest, all, group, count > least ? count : least, left, is_wanted);
    }
}

/* Marks what runs with one seed for its figures: the scenario's own settings, and those without end where a
 * run draws the rows for all. Without halving, all settings. */
static void want_figures(const struct tune_contest *contest, bool *is_wanted)
{
    for (size_t i = 0; i < contest->count; i++) {
        const struct tune_entrant *entrant = &contest->entrants[i];
        is_wanted[i] |= !contest->halves;
        is_wanted[i] |= entrant->status == TUNE_COSTLY &&
                        (entrant->is_own || (entrant->is_endless && is_shared(contest)));
    }
}

/* --- running */

struct round {
    struct tune_contest *contest;
    const size_t *list; /* entrants */
    size_t count, together;
    uint32_t threads_each;
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

static size_t batch_of(const struct round *round, uint64_t job, size_t *first)
{
    *first = (size_t)job * round->together;
    return round->count - *first < round->together ? round->count - *first : round->together;
}

static bool work(void *context, uint64_t job, struct lab_progress *progress, void **made,
                 struct sim_error *error)
{
    const struct round *round = context;
    const struct tune_contest *contest = round->contest;
    size_t first, count = batch_of(round, job, &first);
    struct batch *batch = calloc(1, sizeof *batch + count * sizeof *batch->seen);
    const struct tune_entrant **entrants = calloc(count, sizeof *entrants);
    bool is_fine = (batch != NULL && entrants != NULL) || sim_fail_memory(error);
    *made = batch;
    for (size_t i = 0; is_fine && i < count; i++)
        entrants[i] = &contest->entrants[round->list[first + i]];
    if (is_fine) {
        const bool is_kept = !is_shared(contest) && entrants[0]->seeds == 0;
        is_fine =
            tune_watch(contest, entrants, count, contest->scenario->seed + entrants[0]->seeds, 1,
                       round->threads_each, progress, batch->seen, is_kept ? &batch->result : NULL, error);
    }
    free(entrants);
    return is_fine;
}

static bool take(void *context, uint64_t job, void *made, bool *is_enough, struct sim_error *error)
{
    const struct round *round = context;
    struct batch *batch = made;
    size_t first, count = batch_of(round, job, &first);
    (void)is_enough;
    (void)error;
    for (size_t i = 0; i < count; i++) {
        struct tune_entrant *entrant = &round->contest->entrants[round->list[first + i]];
        entrant->seen[entrant->seeds++] = batch->seen[i];
        judge(round->contest, entrant);
    }
    if (batch->result != NULL)
        round->contest->entrants[round->list[first]].result = batch->result;
    batch->result = NULL;
    drop(batch);
    return true;
}

/* Runs the settings of a list, which have the same number of seeds unless each has a run of its own, with one
 * more. A run of a trace has one thread, so there the list is divided. */
static bool run_list(struct tune_contest *contest, const size_t *list, size_t count, uint32_t threads,
                     struct lab_progress *progress, struct sim_error *error)
{
    struct round round = {contest, list, count, count, threads};
    if (!is_shared(contest))
        round.together = 1;
    else if (contest->scenario->trace_path != NULL && tune_engine(contest->scenario, 1) == LAB_ENGINE_EXACT)
        round.together = (count + threads - 1) / threads;
    const uint64_t jobs = (count + round.together - 1) / round.together;
    const uint32_t at_once = jobs < threads ? (uint32_t)jobs : threads;
    round.threads_each = threads / at_once;
    const struct lab_crew crew = {.context = &round, .count = jobs, .work = work, .take = take, .drop = drop};
    struct lab_progress inner = {.parent = progress};
    uint64_t taken;
    if (!lab_crew_run(&crew, at_once, &inner, &taken, error))
        return false;
    if (progress != NULL) {
        progress->done += jobs;
        progress->rows += count;
        atomic_store_explicit(&progress->best, tune_best_so_far(contest), memory_order_release);
    }
    return !lab_is_stopped(progress) || sim_fail(error, SIM_ERROR_CHECK, "interrupted; nothing was stored");
}

/* Lists the wanted settings that lack seeds; of those that share runs, only the ones with the fewest. */
static size_t list_next(const struct tune_contest *contest, const bool *is_wanted, uint32_t target,
                        size_t *list)
{
    uint32_t fewest = UINT32_MAX;
    size_t count = 0;
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < contest->count; i++) {
            const struct tune_entrant *entrant = &contest->entrants[i];
            const uint32_t needs = entrant->needs < target ? entrant->needs : target;
            if (!is_wanted[i] || entrant->seeds >= needs)
                continue;
            if (turn == 0)
                fewest = entrant->seeds < fewest ? entrant->seeds : fewest;
            else if (entrant->seeds == fewest || !is_shared(contest))
                list[count++] = i;
        }
    }
    return count;
}

/* What a search keeps. */
struct search {
    struct tune_contest *contest;
    uint32_t threads;
    struct lab_progress *progress;
    size_t *list;
    bool *is_wanted;
    struct lab_candidate *scratch;
};

/* Runs the wanted settings up to this number of seeds. Those that fail drop out. later: the runs that follow.
 */
static bool run_wanted(struct search *search, uint32_t target, uint64_t later, struct sim_error *error)
{
    struct tune_contest *contest = search->contest;
    for (;;) {
        const size_t count = list_next(contest, search->is_wanted, target, search->list);
        if (count == 0)
            return true;
        if (search->progress != NULL)
            search->progress->total = search->progress->done + (is_shared(contest) ? 1 : count) + later;
        if (!run_list(contest, search->list, count, search->threads, search->progress, error))
            return false;
        for (size_t i = 0; contest->halves && i < count; i++)
            search->is_wanted[search->list[i]] = may_win(&contest->entrants[search->list[i]]);
    }
}

/* Successive halving where settings share rows: the better half with one seed, a quarter with two, and so on.
 */
static bool halve(struct search *search, uint64_t later, struct sim_error *error)
{
    const uint32_t seeds = search->contest->terms.seeds;
    size_t divisor = 2;
    for (uint32_t target = 1; target == 1 || target < seeds; target *= 2, divisor *= 2) {
        want(search->contest, divisor, LEAST_SHARED, search->is_wanted, search->scratch);
        if (target == 1)
            want_figures(search->contest, search->is_wanted);
        if (!run_wanted(search, target, later + seeds - target, error))
            return false;
    }
    return true;
}

/* Until the first of all, and of each group, have all their seeds: runs them, and where rows are shared also
 * those that come next. */
static bool finish(struct search *search, uint64_t later, struct sim_error *error)
{
    struct tune_contest *contest = search->contest;
    const uint32_t seeds = contest->terms.seeds;
    for (;;) {
        want(contest, SIZE_MAX, 1, search->is_wanted, search->scratch);
        const size_t count = list_next(contest, search->is_wanted, seeds, search->list);
        if (count == 0)
            return true;
        uint32_t target = seeds;
        if (is_shared(contest))
            want(contest, SIZE_MAX, LEAST_SHARED, search->is_wanted, search->scratch);
        else
            target = contest->entrants[search->list[0]].seeds + 1;
        for (size_t i = 0; !is_shared(contest) && i < count; i++) {
            const uint32_t next = contest->entrants[search->list[i]].seeds + 1;
            target = next < target ? next : target;
        }
        if (!run_wanted(search, target, later, error))
            return false;
    }
}

static bool search_all(struct search *search, struct sim_error *error)
{
    const struct tune_contest *contest = search->contest;
    const uint64_t later = contest->scenario->trace_path == NULL ? 3 : 0; /* margins */
    if (!contest->halves) {
        want_figures(contest, search->is_wanted);
        return run_wanted(search, contest->terms.seeds, later, error);
    }
    if (is_shared(contest) && !halve(search, later, error))
        return false;
    if (!is_shared(contest)) {
        want_figures(contest, search->is_wanted);
        if (!run_wanted(search, 1, later, error))
            return false;
    }
    return finish(search, later, error);
}

static size_t choose(const struct tune_contest *contest)
{
    struct lab_candidate *candidates = calloc(contest->count + 1, sizeof *candidates);
    size_t chosen = SIZE_MAX;
    for (size_t i = 0; candidates != NULL && i < contest->count; i++) {
        candidates[i] = tune_candidate_for(contest, &contest->entrants[i]);
        candidates[i].is_eligible = candidates[i].is_eligible && contest->entrants[i].status <= TUNE_WITHIN;
    }
    if (candidates != NULL)
        chosen = lab_choose_from(candidates, contest->count, contest->terms.tolerance);
    free(candidates);
    return chosen;
}

const char *tune_best_so_far(const struct tune_contest *contest)
{
    const size_t best = choose(contest);
    return best == SIZE_MAX ? NULL : contest->entrants[best].strategy.label;
}

bool tune_race(struct tune_contest *contest, uint32_t threads, struct lab_progress *progress,
               struct sim_error *error)
{
    bool is_fine = true;
    for (size_t i = 0; is_fine && i < contest->count; i++) {
        struct tune_entrant *entrant = &contest->entrants[i];
        entrant->seen = calloc(contest->terms.seeds, sizeof *entrant->seen);
        is_fine = entrant->seen != NULL;
        judge(contest, entrant);
    }
    struct search search = {.contest = contest,
                            .threads = threads,
                            .progress = progress,
                            .list = calloc(contest->count + 1, sizeof *search.list),
                            .is_wanted = calloc(contest->count + 1, sizeof *search.is_wanted),
                            .scratch = calloc(2 * contest->count + 1, sizeof *search.scratch)};
    is_fine = (is_fine && search.list != NULL && search.is_wanted != NULL && search.scratch != NULL) ||
              sim_fail_memory(error);
    is_fine = is_fine && search_all(&search, error);
    free(search.list);
    free(search.is_wanted);
    free(search.scratch);
    contest->recommended = is_fine ? choose(contest) : SIZE_MAX;
    if (contest->recommended != SIZE_MAX)
        contest->entrants[contest->recommended].status = TUNE_RECOMMENDED;
    return is_fine;
}
