/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A race of settings: all meet the same rows, seed by seed, and those that cannot win are dropped early.
 *
 * What a setting is asked: that the share of its partitions above a limit is not above the risk, and, where
 * that is judged, so for tiny partitions and for partitions a read. What it is compared by: four objectives,
 * less being better. After the third seed and each later one a setting is dropped when
 *  - it fails: the interval of a share lies above what is allowed; or
 *  - it is dominated: another one of its kind, which requires nothing that it does not, was shown to hold,
 *    and is, over the same seeds, better on some objective, and on each other one better too, or equal on
 *    every seed. A figure that one of the two does not have is worse than any. So the best of a kind does
 *    not depend on other kinds, nor on what the user may not have.
 *
 * What grows for ever is not compared, and run with the first three seeds only.
 *
 * Why that is seldom wrong. Let C be the confidence, R the number of times that settings are dropped, n that
 * of settings and d that of shares and figures judged. Each test of failure is made at the level
 * (1 - C) / 2Rd. A setting that no other dominates
 * is better than each other one on some objective, and to be dropped for that one the test of that objective
 * would have to say the opposite; it is made at the level (1 - C) / 2R(n - 1). By the sum of all those
 * chances any given setting that holds and is on the front, so also the one to be recommended, is lost to the
 * race with a chance of at most 1 - C, however the tests hang together. What the tests themselves assume is
 * said in tune/sample.h. Of a share, both the interval over seeds and that of Clopper and Pearson over all
 * partitions have to say so: the former knows that partitions of one seed go together, the latter that none
 * in so many is not the same as never.
 *
 * Partitions are told apart by chance alone where an exact distribution bounds the share; then that bound
 * holds as well. Nothing depends on the number of threads. */
#ifndef TUNE_RACE_H
#define TUNE_RACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lab/choice.h"
#include "lab/crew.h"
#include "lab/scenario.h"
#include "lab/tune.h"
#include "tune/sample.h"

enum tune_figure {
    TUNE_COST_WRITE, /* of operations in addition to the inserts, per 1000 rows, in inserts */
    TUNE_CV,         /* standard deviation / mean of closed partitions' rows */
    TUNE_PER_READ,   /* partitions per read, on average */
    TUNE_P99_BYTES,  /* of all partitions */
    TUNE_COST,       /* TUNE_COST_WRITE, and of the partitions that reads ask */
    TUNE_PER_READ_P99,
    TUNE_OVER,       /* share of partitions above a limit */
    TUNE_TINY,       /* share of closed ones that are tiny */
    TUNE_OPS,        /* operations in addition to the inserts per 1000 rows, at no price */
    TUNE_INCREMENTS, /* of them additions to a counter */
    TUNE_FIGURE_COUNT
};
#define TUNE_OBJECTIVES 4 /* the first ones */

/* What one seed told of one setting. */
struct tune_seen {
    double figures[TUNE_FIGURE_COUNT]; /* NaN: the run does not have it */
    uint64_t partitions, closed, over, over_rows, over_bytes, tiny;
    uint64_t rows_at_risk, bytes_at_risk; /* least sizes that no more than `risk` of partitions are above */
    uint64_t rows_most, bytes_most;       /* the largest partition */
    uint64_t violations;                  /* of what readers rely on; in the cluster engine */
};

enum tune_status {
    TUNE_RECOMMENDED,
    TUNE_FRONT,     /* holds, and no other that holds and requires no more is as good or better on all
                     * objectives */
    TUNE_HOLDS,     /* and some other one is better; or it holds for this run alone (is_endless) */
    TUNE_UNSURE,    /* what was seen is within the demands, but so few partitions do not show it */
    TUNE_DOMINATED, /* dropped for another one */
    TUNE_FAILS,
    TUNE_REFUSED, /* by the exact distribution; not run */
    TUNE_STATUS_COUNT
};
/* "recommended", "front", "holds", "unsure", "dominated", "fails", "refused". */
const char *tune_status_name(enum tune_status status);

/* What a setting may fail by. */
enum tune_demand { TUNE_IN_LIMITS, TUNE_NOT_TINY, TUNE_FEW_PER_READ, TUNE_FINDABLE, TUNE_DEMAND_COUNT };

/* What a setting needs that not every service has. */
enum tune_requirement {
    TUNE_REQUIRES_SEQUENCE, /* count: external: a gapless number in each row */
    TUNE_REQUIRES_FAN_OUT,  /* hash: a reader queries all partitions of a key */
    TUNE_REQUIRES_LEAD,     /* three-state: a lead above what caches and clocks differ by */
    TUNE_REQUIRES_LWT,      /* conditional updates */
    TUNE_REQUIREMENT_COUNT
};
/* "sequence", "fan_out", "lead", "lwt". */
const char *tune_requirement_name(enum tune_requirement requirement);
uint32_t tune_requirements(const struct lab_settings *settings);

struct tune_entrant {
    struct lab_strategy strategy; /* its label is the entrant's */
    const char *base;             /* the label of its template; not owned, and of no matter to the race */
    bool is_own;                  /* the scenario has it just so */
    bool is_endless;              /* its partitions grow for as long as rows come */
    uint32_t requirements;        /* what the user must have: bits 1 << enum tune_requirement */
    bool is_fixed;                /* partitions are the same with every seed, so one tells all */
    bool has_distribution;
    double exact_share; /* at most this share is above a limit; of closed partitions exactly this */
    /* What the race found. */
    enum tune_status status;
    enum tune_demand failed;   /* of TUNE_FAILS: by which demand */
    size_t dominator;          /* of TUNE_DOMINATED: by which entrant */
    struct tune_seen *seen;    /* by seed, from the first on */
    uint32_t seeds;            /* that it was run with */
    struct tune_interval over; /* of the share above a limit, with the confidence asked for */
};

/* Runs some entrants with one seed on so many threads, and tells what it saw of each. Called on any thread.
 */
typedef bool tune_watch(void *context, const struct tune_entrant *const *entrants, size_t count,
                        uint32_t seed_index, uint32_t threads, struct lab_progress *progress,
                        struct tune_seen *out, struct sim_error *error);

struct tune_race {
    struct lab_tune terms;
    tune_watch *watch;
    void *context;
    struct tune_entrant *entrants;
    size_t count, capacity;
    bool drops;          /* false: all run with all seeds */
    size_t recommended;  /* SIZE_MAX: none */
    bool is_shown;       /* the recommended one was shown to hold */
    uint64_t runs_after; /* that come when it is over: they count in the progress's total */
};

/* Adds an entrant and takes over strategy->label, also on failure, which is without memory. */
bool tune_race_add(struct tune_race *race, const struct tune_entrant *entrant);
/* Runs what is not refused, and gives every entrant its status. progress may be NULL; `done` and `total` are
 * runs of a few entrants, and `rows` counts runs of one. When it is stopped: SIM_ERROR_CHECK. */
bool tune_race_run(struct tune_race *race, uint32_t threads, struct lab_progress *progress,
                   struct sim_error *error);
void tune_race_clear(struct tune_race *race);

/* --- judge.c */

enum tune_verdict { TUNE_VERDICT_FAILS, TUNE_VERDICT_OPEN, TUNE_VERDICT_HOLDS };

struct tune_sample tune_figures_of(const struct tune_entrant *entrant, enum tune_figure figure);
/* NaN when no seed has it. */
double tune_mean_of(const struct tune_entrant *entrant, enum tune_figure figure);
/* Where the share lies, each side with this chance of being wrong. */
struct tune_interval tune_over_interval(const struct tune_entrant *entrant, double error_chance);
struct tune_interval tune_tiny_interval(const struct tune_entrant *entrant, double error_chance);
/* *demand: the first that it fails by, or of which it is open whether it does. */
enum tune_verdict tune_judge(const struct tune_entrant *entrant, const struct lab_tune *terms,
                             double error_chance, enum tune_demand *demand);
/* Whether what was seen on average is within the demands, whatever it shows. */
bool tune_is_within(const struct tune_entrant *entrant, const struct lab_tune *terms,
                    enum tune_demand *demand);
/* Whether one dominates the other, with a chance of at most this of saying so wrongly. */
bool tune_dominates(const struct tune_entrant *one, const struct tune_entrant *other, double error_chance);
/* Whether who can have `other` can have `one` as well. */
bool tune_may_replace(const struct tune_entrant *one, const struct tune_entrant *other);
/* As tune_dominates(), by the means alone. */
bool tune_is_better(const struct tune_entrant *one, const struct tune_entrant *other);

/* --- front.c: statuses of those that were not dropped, front and recommendation */

void tune_race_finish(struct tune_race *race);
/* The order of the table: by cost, then CV, then p99. What is recommended may cost TUNE_AS_CHEAP of the
 * least: among these it has the least CV, then p99. */
#define TUNE_AS_CHEAP LAB_AS_CHEAP
bool tune_is_cheaper(const struct tune_entrant *one, const struct tune_entrant *other);
/* Whether it stays within the limits as surely as the recommended one does, and is not that one. */
bool tune_is_rival(const struct tune_race *race, const struct tune_entrant *entrant);

#endif
