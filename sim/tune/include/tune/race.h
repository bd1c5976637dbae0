/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A race of settings: all meet the same rows, seed by seed, and those that cannot win are dropped early.
 *
 * A setting must meet demands: the share of its partitions above a limit is at most the risk; the scenario
 * may also limit the share of tiny partitions and the partitions per read. Settings are compared by four
 * objectives; less is better. After the third seed, and after each later one, a setting is dropped when
 *  - it fails: the interval of a share is above the allowed share; or
 *  - it is dominated: another setting of its kind, with no further requirement, was shown to meet the
 * demands, and over the same seeds is better on at least one objective and, on each of the others, better or
 * equal on every seed. A missing figure counts as worse than any value. So the best of a kind depends neither
 * on other kinds nor on what the user may not have.
 *
 * A setting fails before that when a reader missed a row, or when it is hopeless (tune_is_hopeless()). One
 * whose partitions grow without end is not compared, and runs with the first seed only.
 *
 * Branch and bound: of each template (settings that differ only in numbers) the settings with the lowest
 * bound of cost run first (tune_entrant.cost_least; a window bounds the smaller windows into which it can be
 * cut). The others are run only while they may be cheaper than the best that is within the limits, or cost
 * less than TUNE_COSTLY_TIMES as much, since more increments buy evenness; the rest never run. A setting
 * also stops if it only cuts the buckets of another one, costs more by its first seeds, and cannot be
 * recommended for its evenness (is_outdone). In all this, the best of a template, and the cheapest of
 * all, is the cheapest that may hold, if there is one: so a template is also tried further if too few
 * partitions are left to show that a setting holds. From the third seed on a setting needs no more seeds (it
 * is settled) while it is shown to cost more than another one of its template that is shown to be within the
 * limits (or, where settings share no rows, that may yet be shown to be); where costs are nearly equal, it
 * must also be shown to be less even. It is not recommended then (is_beaten), since settings are compared on
 * the seeds of both, and by chance its few seeds may cost less than those of the cheapest. If that cannot be
 * shown of the other one any more, the setting resumes. Where rows are shared and no share is allowed, a
 * setting that costs little to run does not stop once another one of its template failed after its first
 * seed, or on it if sizes are drawn. If the seeds that are left have too few partitions
 * to show that the setting holds, it is enough that the other one is within the limits so far. The best is
 * settled once no other setting may take its place; but if no share is allowed, the cheapest of all is not,
 * nor, unless settings share nothing, the best of a template that does not cost far more, since a later seed
 * may have a partition above a limit. So every setting that may be recommended, or be the best of its
 * template, runs with all seeds. Where settings share no rows and the best of a template costs more than
 * TUNE_COSTLY_TIMES as much as the cheapest setting, the others of its template are settled by their first
 * seeds, without a test. Where settings share keys, the cheapest templates run first, and if the bounds of a
 * template show that cost, a lower threshold of `probabilistic` waits until the higher ones fail. Where
 * settings share nothing, the scenario's own ones of a template run first, and such a template is tried one
 * by one from the lowest bound up, until a setting is within the limits; of such templates of one kind that
 * require the same only the cheapest has a setting with all seeds, and a setting that costs TUNE_FAR_TIMES as
 * much as the cheapest has TUNE_SEEDS_FIRST, unless it is the best of its kind and may be shown to hold,
 * where a share is allowed; within a template, costs decide by the first seeds, without a test (call.c:
 * CLEARLY_MORE). Where seeds change nothing (a trace, and a setting without chance), one seed stands for all.
 *
 * Why this is seldom wrong. Let C be the confidence, R the number of rounds in which settings are dropped
 * plus one for the hopeless, n the number of settings and d the number of demands judged. Each test of
 * failure has the level (1 - C) / 2Rd; each test of costs has the level of the tests of objectives below. A
 * setting that no other dominates is better than each other setting on at least one objective; it is dropped
 * for another one only if the test of this objective says the opposite, and this test has the level (1 - C) /
 * 2R(n - 1). By the union bound, the race wrongly drops any given setting that meets the demands and is on
 * the front, hence also the one to recommend, with probability at most 1 - C, however the tests depend on
 * each other. tune/sample.h says what the tests assume. A share is judged by two intervals, which must agree:
 * the one over seeds allows for partitions of one seed that are correlated, and the one of Clopper and
 * Pearson over all partitions allows for a share above 0 although no partition was above the limit.
 *
 * Where an exact distribution bounds the share, that bound is used as well. Nothing depends on the number of
 * threads. */
#ifndef TUNE_RACE_H
#define TUNE_RACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lab/crew.h"
#include "lab/judgment.h"
#include "lab/scenario.h"
#include "lab/tune.h"
#include "tune/sample.h"

enum tune_figure {
    TUNE_COST_WRITE, /* operations in addition to the inserts, per 1000 rows, in inserts */
    TUNE_CV,         /* standard deviation / mean of closed partitions' rows */
    TUNE_PER_READ,   /* partitions per read, on average */
    TUNE_P99_BYTES,  /* of all partitions */
    TUNE_COST,       /* TUNE_COST_WRITE plus the cost of the partitions that reads query */
    TUNE_PER_READ_P99,
    TUNE_OVER,       /* share of partitions above a limit */
    TUNE_TINY,       /* share of closed partitions that are tiny */
    TUNE_OPS,        /* operations in addition to the inserts per 1000 rows, unweighted */
    TUNE_INCREMENTS, /* additions to a counter among them */
    TUNE_FIGURE_COUNT
};
#define TUNE_OBJECTIVES 4 /* the first ones */

/* What a run of one setting with one seed showed. */
struct tune_seen {
    double figures[TUNE_FIGURE_COUNT]; /* NaN: the run does not have it */
    uint64_t partitions, closed, over, over_rows, over_bytes, tiny;
    uint64_t rows_at_risk,
        bytes_at_risk;              /* the least sizes that at most a share `risk` of the partitions exceed */
    uint64_t rows_most, bytes_most; /* the largest partition */
    uint64_t violations;            /* violations of guarantees that readers rely on; cluster engine only */
    double refused;                 /* lab_refused_share() */
    double cost_so_far;             /* TUNE_COST of the rows that came before the run stopped */
};
/* Whether the run stopped as soon as it showed that the setting fails. Then there are no figures. */
static inline bool tune_is_cut(const struct tune_seen *seen)
{
    return seen->partitions == 0 && (seen->violations > 0 || seen->over > 0);
}

enum tune_status {
    TUNE_RECOMMENDED,
    TUNE_FRONT,  /* meets the demands, and no other setting that meets them and requires no more is as good or
                    better on all objectives */
    TUNE_HOLDS,  /* meets the demands, but another one is better; or meets them for this run only
                    (is_endless) */
    TUNE_UNSURE, /* within the demands so far, but there were too few partitions to show it */
    TUNE_DOMINATED, /* dropped, since another one dominates it */
    TUNE_FAILS,
    TUNE_REFUSED, /* refused by the exact distribution; not run */
    TUNE_COSTLY,  /* not run, or no further: it costs at least TUNE_COSTLY_TIMES as much as the best of its
                     template, or is outdone */
    TUNE_STATUS_COUNT
};
/* "recommended", "front", "holds", "unsure", "dominated", "fails", "refused", "costly". */
const char *tune_status_name(enum tune_status status);

/* The demands that a setting may fail. */
enum tune_demand {
    TUNE_IN_LIMITS,
    TUNE_NOT_TINY,
    TUNE_FEW_PER_READ,
    TUNE_FINDABLE,
    TUNE_AVAILABLE,
    TUNE_DEMAND_COUNT
};
/* Whether a setting that fails because of it loses rows, so that the shares of its partitions decide nothing.
 */
static inline bool tune_loses_rows(enum tune_demand failed)
{
    return failed == TUNE_FINDABLE || failed == TUNE_AVAILABLE;
}

struct tune_entrant {
    struct lab_strategy strategy; /* its label is the entrant's */
    const char *base;             /* the label of its template; not owned; the race does not read it */
    bool is_own;                  /* it is a strategy of the scenario itself */
    bool is_endless;              /* its partitions grow for as long as rows come */
    uint32_t requirements;        /* what the user must have: bits 1 << enum lab_requirement */
    bool is_fixed;                /* partitions are the same with every seed, so one seed is enough */
    bool is_same;                 /* every figure is the same with every seed, so one seed is run for all */
    bool has_distribution;
    double exact_share; /* share above a limit: exact for closed partitions, an upper bound for all */
    double cost_least;  /* a lower bound of the mean cost; 0: unknown */
    bool is_light;      /* it has so few partitions that it costs little where rows are shared */
    double full_count;  /* the number of windows, if each certainly has rows; 0: unknown */
    /* What the race found. */
    bool is_called, is_settled; /* it is run; it needs no more seeds so far */
    bool is_beaten;             /* settled, because another one of its template costs less */
    bool is_beaten_so_far;      /* settled by its first seeds, without a test */
    bool holds;                 /* it was shown to meet the demands when settings were last settled */
    bool is_outdone; /* not run, or not further: another one has no more of its buckets, and is no worse */
    enum tune_status status;
    enum tune_demand failed;   /* for TUNE_FAILS: the demand that it fails */
    size_t dominator;          /* for TUNE_DOMINATED: the entrant that dominates it */
    struct tune_seen *seen;    /* by seed, from the first on */
    uint32_t seeds;            /* the number of seeds that it was run with */
    struct tune_interval over; /* interval of the share above a limit, with the requested confidence */
};

/* Runs some entrants with one seed on this many threads, and returns the figures of each. May be called on
 * any thread.
 */
typedef bool tune_watch(void *context, const struct tune_entrant *const *entrants, size_t count,
                        uint32_t seed_index, uint32_t threads, struct lab_progress *progress,
                        struct tune_seen *out, struct sim_error *error);

/* How many entrants share one call of the watcher. */
enum tune_sharing {
    TUNE_SHARES_ROWS,    /* all entrants, on all threads: rows are generated once */
    TUNE_SHARES_KEYS,    /* all entrants, but each generates its own rows */
    TUNE_SHARES_THREADS, /* one group per thread, and the run of each call has one thread */
    TUNE_SHARES_NOTHING  /* one entrant per call: each generates its own rows */
};
/* Whether each entrant generates its own rows. */
static inline bool tune_draws_alone(enum tune_sharing sharing)
{
    return sharing == TUNE_SHARES_KEYS || sharing == TUNE_SHARES_NOTHING;
}

struct tune_race {
    struct lab_tune terms;
    enum tune_sharing sharing;
    bool draws_sizes; /* the size of each row is drawn, which costs more than most settings */
    tune_watch *watch;
    void *context;
    struct tune_entrant *entrants;
    size_t count, capacity;
    bool drops;     /* false: all run with all seeds */
    bool is_second; /* after a race without a recommendation: settings whose readers miss rows stay dropped */
    size_t recommended;  /* SIZE_MAX: none */
    bool is_shown;       /* the recommended one was shown to hold */
    uint64_t runs_after; /* runs that follow the race: the progress's total includes them */
};

/* Adds an entrant and takes ownership of strategy->label, also on failure (out of memory). */
bool tune_race_add(struct tune_race *race, const struct tune_entrant *entrant);
/* Runs all entrants that are not refused, and gives every entrant its status. progress may be NULL; `done`
 * and `total` are runs of a few entrants, and `rows` counts runs of one. When it is stopped: SIM_ERROR_CHECK.
 */
bool tune_race_run(struct tune_race *race, uint32_t threads, struct lab_progress *progress,
                   struct sim_error *error);
void tune_race_clear(struct tune_race *race);

/* Nothing is dropped before this many seeds: two seeds show too little of the variation between seeds. */
#define TUNE_SEEDS_FIRST 3
/* A setting that costs at least this many times as much as the best of its template is not run. */
#define TUNE_COSTLY_TIMES 2
/* A setting costs far more than another one if it costs more than 50 inserts per 1000 rows and this many
 * times as much as the other one. It has no margin that needs runs; in the cluster engine it runs with the
 * first seeds only, unless a share is allowed, and it is the best of its kind and may be shown to hold. */
#define TUNE_FAR_TIMES 5
#define TUNE_FAR_COST  50.0
static inline bool tune_is_far(double cost, double other)
{
    return cost > TUNE_FAR_COST && cost > TUNE_FAR_TIMES * other;
}
/* Whether it was run: it is neither refused nor costly. */
static inline bool tune_was_run(const struct tune_entrant *entrant)
{
    return entrant->status != TUNE_REFUSED && entrant->status != TUNE_COSTLY;
}

/* Whether it may be recommended, or be the best of its kind. On its few seeds, a setting that is beaten may
 * cost less than the cheapest, but it costs more than the one that beats it. */
static inline bool tune_may_win(const struct tune_entrant *entrant)
{
    return !entrant->is_endless && !entrant->is_beaten;
}

/* --- call.c: which entrants run, and which need no more seeds */

/* Whether each window of `whole` is divided into windows of `part`, another one of its template; or whether
 * `part` has no more rows in a bucket, where rows are numbered. */
bool tune_is_divided_into(const struct tune_entrant *whole, const struct tune_entrant *part);
/* Returns the mean size of a bucket in a unit of its kind, or 0 if it is not known. */
double tune_bucket_size(const struct bk_strategy *strategy);
/* During the race: the label of the cheapest entrant within the limits so far; NULL: none. */
const char *tune_race_best(const struct tune_race *race);
/* Calls the entrants that may be the best of their template by the figures so far; with `all`, all
 * entrants. */
void tune_race_call(struct tune_race *race, bool all);
/* Settles the entrants that cost more than the best of their template, lets the others resume, and settles
 * the best once no other can take its place. fail_chance and cost_chance: the levels of the tests, which need
 * is_even: all that are not settled have the same number of seeds, three or more. */
void tune_race_settle(struct tune_race *race, double fail_chance, double cost_chance, bool is_even);

/* --- judge.c */

enum tune_verdict { TUNE_VERDICT_FAILS, TUNE_VERDICT_OPEN, TUNE_VERDICT_HOLDS };

struct tune_sample tune_figures_of(const struct tune_entrant *entrant, enum tune_figure figure);
/* NaN when no seed has it. */
/* The largest share of the rows that a seed refused although nothing had failed. */
double tune_refused_of(const struct tune_entrant *entrant);
double tune_mean_of(const struct tune_entrant *entrant, enum tune_figure figure);
/* The same over at most its first `seeds` seeds. */
double tune_mean_over(const struct tune_entrant *entrant, enum tune_figure figure, uint32_t seeds);
/* An interval for the share; each side is wrong with this probability. */
struct tune_interval tune_over_interval(const struct tune_entrant *entrant, double error_chance);
struct tune_interval tune_tiny_interval(const struct tune_entrant *entrant, double error_chance);
/* *demand: the first demand that it fails, or that is still open. */
enum tune_verdict tune_judge(const struct tune_entrant *entrant, const struct lab_tune *terms,
                             double error_chance, enum tune_demand *demand);
/* The number of seeds, more than those of the terms, that would show that the setting holds, if the further
 * ones have the same results as those so far. 0 if no number up to LAB_TUNE_SEEDS_MAX would, or if another
 * demand than that of the limits is open. */
uint32_t tune_seeds_to_show(const struct tune_entrant *entrant, const struct lab_tune *terms);
/* Whether one seed, or a few, already show that the setting fails. Either no partition may be over a limit
 * and one is; or a share is so far above the allowed share that it is unlikely under any distribution over
 * seeds. For each demand the probability of an error is at most error_chance, over all numbers of seeds
 * together. */
bool tune_is_hopeless(struct tune_entrant *entrant, const struct lab_tune *terms, double error_chance);
/* Whether a run of the setting stopped at a partition above a limit. */
bool tune_stopped_over(const struct tune_entrant *entrant);
/* Whether the means are within the demands, significant or not. */
bool tune_is_within(const struct tune_entrant *entrant, const struct lab_tune *terms,
                    enum tune_demand *demand);
/* Whether one dominates the other; wrong with a probability of at most error_chance. */
bool tune_dominates(const struct tune_entrant *one, const struct tune_entrant *other, double error_chance);
/* Whether `one` requires nothing that `other` does not. */
bool tune_may_replace(const struct tune_entrant *one, const struct tune_entrant *other);
/* Like tune_dominates(), but by the means only. */
bool tune_is_better(const struct tune_entrant *one, const struct tune_entrant *other);

/* --- front.c: statuses of the entrants that were not dropped, the front and the recommendation */

void tune_race_finish(struct tune_race *race);
/* The order of the table: by cost, then CV, then p99. The recommended setting may cost up to TUNE_AS_CHEAP
 * times the least cost; among those settings it has the least CV, then the least p99. */
#define TUNE_AS_CHEAP 1.01
bool tune_is_cheaper(const struct tune_entrant *one, const struct tune_entrant *other);
/* The same over the seeds of both, whose rows are the same. */
bool tune_is_cheaper_beside(const struct tune_entrant *one, const struct tune_entrant *other);
/* Whether another entrant stays within the limits as surely as the recommended one. */
bool tune_is_rival(const struct tune_race *race, const struct tune_entrant *entrant);

#endif
