/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A scenario's race: which settings enter, how they are run in the lab, and what margin the winner has.
 *
 * First a pilot, one run of `unbucketed`, tells how many rows there are, how large they are on average and
 * how many the busiest key gets. Then settings are made of templates: what the scenario's own strategies say
 * in addition to their numbers (coordination, counter, lead, source of count, epoch, reading, maximum age),
 * and, for kinds that it lacks, the plainest form. The numbers are those that the exact distribution allows
 * within the limits, the limit in bytes taken in rows of mean size, and below these, since bursts, lag and
 * the sizes of rows only show in a run. Own settings enter as they are; one that the distribution refuses is
 * refused. */
#ifndef TUNE_CONTEST_H
#define TUNE_CONTEST_H

#include "lab/run.h"
#include "tune/lead.h"
#include "tune/memory.h"
#include "tune/race.h"

/* What the rows are like, by the pilot. */
struct tune_rows {
    uint64_t rows, keys;
    double mean_bytes;     /* on disk */
    double mean_payload;   /* what weighted strategies go by */
    uint64_t busiest_rows; /* of the key that has most */
    int64_t lasts_ns;
    double limit_rows; /* of a partition: of both limits the tighter one, with rows of mean size */
};

/* At so many times the rate, as far as it was tried. */
#define TUNE_MARGIN_STEPS 5
struct tune_margin_step {
    double factor;
    struct tune_seen seen; /* of the scenario's first seed */
    bool holds;            /* within all demands, as far as one seed shows */
    enum tune_demand failed;
};
struct tune_margin {
    size_t entrant;
    struct tune_margin_step steps[TUNE_MARGIN_STEPS];
};

struct tune_contest {
    const struct lab_scenario *scenario;
    const struct tune_memory *memory; /* of the runs of tune_contest_run(); set between the two */
    struct tune_rows rows;
    struct tune_race race;
    size_t left_out;  /* own settings that change on the way, or that a run could not hold */
    bool has_margins; /* not of a trace, which comes at the rate that it has; then steps mean nothing */
    size_t margin_count;
    struct tune_margin *margins; /* the recommended one's first, then those of the best of other kinds */
    size_t led;                  /* the entrant whose lead was sought; SIZE_MAX: none has one */
    struct tune_lead lead;
};

/* The scenario outlives the contest and has a limit; terms: what is asked. Runs the pilot, whose progress
 * is counted in rows. On failure the contest is cleared. */
bool tune_contest_begin(struct tune_contest *contest, const struct lab_scenario *scenario,
                        const struct lab_tune *terms, uint32_t threads, struct lab_progress *progress,
                        struct sim_error *error);
/* The race itself, and with a winner its margin and its lead; its progress is counted in runs. */
bool tune_contest_run(struct tune_contest *contest, uint32_t threads, struct lab_progress *progress,
                      struct sim_error *error);
/* The label of the best of a kind (as the text names it: "of other kinds"), or of the recommended setting
 * with BK_KIND_COUNT; NULL: none stays within the limits. */
const char *tune_contest_best(const struct tune_contest *contest, enum bk_kind kind);
void tune_contest_clear(struct tune_contest *contest);

/* --- candidates.c */

/* Enters all settings. */
bool tune_candidates(struct tune_contest *contest, struct sim_error *error);
/* The exact distribution of one, where there is one: sets has_distribution and exact_share; and is_endless
 * and is_fixed.
 */
void tune_entrant_describe(const struct tune_contest *contest, struct tune_entrant *entrant);

/* --- ladder.c: numbers worth trying, at most TUNE_LADDER_MAX, best first */

#define TUNE_LADDER_MAX 64
size_t tune_ladder(const struct tune_contest *contest, const struct bk_strategy *template,
                   struct bk_strategy *out);

/* --- watch.c */

tune_watch tune_watch_lab; /* its context is the struct tune_contest */
/* Runs these strategies together, or remembers what all of them came to. strategies is the caller's. */
bool tune_watch_at(const struct tune_contest *contest, struct lab_strategy *strategies, size_t count,
                   uint64_t seed, double factor, uint32_t threads, struct lab_progress *progress,
                   struct tune_seen *out, struct sim_error *error);
/* What a run saw of one strategy. */
bool tune_see(const struct lab_strategy_result *result, const struct lab_prices *prices, double risk,
              struct tune_seen *out, struct sim_error *error);
/* The scenario with these strategies, one seed, and its rate times a factor; strategies is the caller's and
 * nothing of *out is to be freed. */
void tune_scenario_of(const struct lab_scenario *scenario, struct lab_strategy *strategies, size_t count,
                      uint64_t seed, double factor, struct lab_scenario *out);

/* --- horizon.c */

struct tune_horizon {
    double days;   /* from the first row until the first partition is expected above a limit; infinity: never;
                      NaN: it was not run, or of a trace, which does not say what comes after it */
    bool is_least; /* none was above: not before, with the confidence asked for */
    double partitions; /* of a run, on average over the seeds */
    double over;       /* of them above a limit, as seen */
    double over_most;  /* at most so many are, with the confidence asked for */
};
/* At the rate of the run; the one of a trace is its mean. Of partitions that are never left it is the largest
 * one's. */
struct tune_horizon tune_horizon_of(const struct tune_contest *contest, const struct tune_entrant *entrant);

/* --- flip.c: which kind is the cheapest elsewhere */

enum tune_axis {
    TUNE_AXIS_COUNTER, /* the price of a counter increment, in inserts */
    TUNE_AXIS_READS,   /* so many times the reads of the scenario */
    TUNE_AXIS_COUNT
};
struct tune_flip {
    double at;      /* NaN: nowhere */
    size_t entrant; /* of another kind, which is as cheap there; SIZE_MAX: none */
};
/* Where the scenario is. */
double tune_axis_now(const struct tune_contest *contest, enum tune_axis axis);
/* The nearest place, upwards or downwards from there, where a setting of another kind that stays within the
 * limits costs as little as the recommended one's kind. With a recommendation. */
struct tune_flip tune_flip_of(const struct tune_contest *contest, enum tune_axis axis, bool is_up);
/* The cheapest within the limits there. */
size_t tune_cheapest_at(const struct tune_contest *contest, double price, double reads);

/* --- margin.c */

/* How many runs the two below take, about. */
uint64_t tune_runs_after(const struct tune_contest *contest);
bool tune_margins(struct tune_contest *contest, uint32_t threads, struct lab_progress *progress,
                  struct sim_error *error);
/* The smallest safe lead of the recommended one, or of the cheapest with a lead that holds. */
bool tune_contest_lead(struct tune_contest *contest, uint32_t threads, struct lab_progress *progress,
                       struct sim_error *error);

#endif
