/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The race of a scenario: which settings take part, how they are run in the lab, and which margin the winner
 * has.
 *
 * First a pilot, which is one run of `unbucketed`, counts the rows and those of the busiest key, and measures
 * the mean size of a row. Then settings are made from templates: a strategy of the scenario without its
 * numbers (its coordination, counter, lead, source of count, epoch, reading and maximum age) or, for a kind
 * that the scenario lacks, the simplest form of that kind. The numbers to try are the largest with which the
 * exact distribution stays within the limits (a limit in bytes is converted to rows of mean size), and
 * smaller ones, because only a run shows bursts, lag and the sizes of rows. The scenario's own settings take
 * part unchanged. Settings that the exact distribution excludes are not run. */
#ifndef TUNE_CONTEST_H
#define TUNE_CONTEST_H

#include "kernel/time.h"
#include "lab/run.h"
#include "tune/growth.h"
#include "tune/horizon.h"
#include "tune/kept.h"
#include "tune/lead.h"
#include "tune/memory.h"
#include "tune/race.h"

#define TUNE_LEAD_SEEDS 3 /* of the lead's search */

/* What the pilot measured. */
struct tune_rows {
    uint64_t rows, keys;
    double mean_bytes;                    /* on disk */
    double mean_payload;                  /* the mean weight that weighted strategies use */
    uint64_t busiest_rows, busiest_bytes; /* of the key that has the most */
    int64_t lasts_ns;
    double limit_rows; /* the tighter limit of a partition, in rows of mean size */
};

/* The result of one seed at a multiple of the scenario's rate, if neither another rate nor the exact
 * distribution decides. */
#define TUNE_MARGIN_STEPS 5
#define TUNE_MARGIN_LEAST 1.5 /* the lowest rate, as a multiple of the scenario's */
struct tune_margin_step {
    double factor;
    bool is_run;
    struct tune_seen seen; /* of the scenario's first seed, if run */
    enum tune_demand failed;
    bool is_bounded; /* the exact distribution bounds the expected number of partitions above a limit: */
    double over_least, over_most;
    bool holds, fails; /* as far as one seed or the bounds show, at this rate or, in the end, at another */
};
struct tune_margin {
    size_t entrant;
    bool is_tried; /* false for a trace, whose rate is given, and for a setting that costs far more than the
                      recommended one and would need runs; then `steps` has no meaning */
    bool holds_anywhere; /* the setting was shown to meet all demands at every rate */
    struct tune_margin_step steps[TUNE_MARGIN_STEPS];
};

struct tune_contest {
    const struct lab_scenario *scenario;
    const struct tune_memory *memory; /* for the runs of tune_contest_run(), which puts `kept` in front of it;
                                         set it after tune_contest_begin() */
    struct tune_kept *kept;           /* what runs leave for later steps */
    bool keeps_results; /* of the cluster engine, for settings that the table may list: the results with the
                           scenario's own seed are kept; set it after tune_contest_begin() */
    bool stops_early;   /* in the cluster engine, a run ends once it shows that its setting fails */
    struct tune_rows rows;
    struct tune_growth growth; /* of a trace; a synthetic stream keeps its rate */
    struct tune_race race;
    size_t left_out; /* the number of the scenario's own settings left out, because they change during the run
                        or cannot be simulated */
    size_t margin_count;
    struct tune_margin
        *margins; /* first that of the recommended setting, then those of the best of each other kind */
    size_t led;   /* the entrant whose lead was determined; SIZE_MAX if none has a lead */
    struct tune_lead lead;
};

/* Begins a contest and runs the pilot, whose progress is in rows. The scenario must have a limit and outlive
 * the contest. terms: the demands. On failure the contest is cleared. */
bool tune_contest_begin(struct tune_contest *contest, const struct lab_scenario *scenario,
                        const struct lab_tune *terms, uint32_t threads, struct lab_progress *progress,
                        struct sim_error *error);
/* Runs the race and, if there is a winner, determines its margin and its lead. The progress is in runs. */
bool tune_contest_run(struct tune_contest *contest, uint32_t threads, struct lab_progress *progress,
                      struct sim_error *error);
/* Sets contest->rows from the first strategy of a run. Fails with SIM_ERROR_INPUT if the run has no rows. */
bool tune_contest_rows(struct tune_contest *contest, const struct lab_result *result,
                       struct sim_error *error);
/* The length of the run in days. */
static inline double tune_contest_days(const struct tune_contest *contest)
{
    return (double)contest->rows.lasts_ns / (double)SIM_DAY;
}
/* Returns the label of the best setting of a kind or, with BK_KIND_COUNT, of the recommended setting; NULL if
 * none stays within the limits. */
const char *tune_contest_best(const struct tune_contest *contest, enum bk_kind kind);
void tune_contest_clear(struct tune_contest *contest);

/* --- candidates.c */

/* Adds all settings to the race. */
bool tune_candidates(struct tune_contest *contest, struct sim_error *error);
/* Whether partitions that never close stop growing within the run, since their rows expire. */
bool tune_is_bounded(const struct tune_contest *contest);
/* Sets has_distribution and exact_share if the entrant has an exact distribution, and is_endless, is_fixed
 * and is_same. */
void tune_entrant_describe(const struct tune_contest *contest, struct tune_entrant *entrant);

/* --- ladder.c: numbers worth trying, at most TUNE_LADDER_MAX, best first */

#define TUNE_LADDER_MAX  64
#define TUNE_SIZES_DRAWN 4096 /* draws to estimate the mean of a function of a row's size */
size_t tune_ladder(const struct tune_contest *contest, const struct bk_strategy *template,
                   struct bk_strategy *out);

/* --- watch.c */

tune_watch tune_watch_lab; /* its context is the struct tune_contest */
/* Runs these strategies together, unless the results of all of them are in the contest's memory. The caller
 * keeps the ownership of `strategies`. */
bool tune_watch_at(const struct tune_contest *contest, struct lab_strategy *strategies, size_t count,
                   uint64_t seed, double factor, uint32_t threads, struct lab_progress *progress,
                   struct tune_seen *out, struct sim_error *error);
/* Returns whether buckets end by rows or bytes alone, so that they are as large at any rate. */
bool tune_ends_by_rows(const struct lab_strategy *strategy);
/* Extracts the figures of one strategy from the result of a run. */
bool tune_see(const struct lab_strategy_result *result, const struct lab_prices *prices, double risk,
              struct tune_seen *out, struct sim_error *error);
/* Returns the engine for the race. If there are many rows, it is one that does not draw each row, where that
 * is possible and faster; so it is for any number of rows at rates other than the scenario's, since results
 * are not compared seed by seed there. */
enum lab_engine tune_engine(const struct lab_scenario *scenario, double factor);
/* Sets *out to the scenario with these strategies, one seed, and its rate multiplied by a factor. The caller
 * keeps the ownership of `strategies`, and *out must not be freed. */
void tune_scenario_of(const struct lab_scenario *scenario, struct lab_strategy *strategies, size_t count,
                      uint64_t seed, double factor, struct lab_scenario *out);

/* --- horizon.c */

struct tune_horizon {
    double days;   /* from the first row until the first partition is expected to exceed a limit; infinity:
                      never; NaN: the setting was not run, or no partition exceeded a limit in a trace whose
                      growth is not known */
    bool is_least; /* no partition exceeded a limit: `days` is a lower bound, with the requested confidence */
    double partitions; /* partitions of a run, mean over the seeds */
    double over;       /* partitions of a run that exceed a limit, mean over the seeds */
    double over_most;  /* upper bound of `over`, with the requested confidence; NaN if partitions never end */
};
/* Returns the horizon at the run's rate, which for a trace grows as the trace does. If partitions never end,
 * it is the horizon of the largest one. The rows of a window grow with the rate, and its largest partition is
 * assumed to have the mean rate. */
struct tune_horizon tune_horizon_of(const struct tune_contest *contest, const struct tune_entrant *entrant);

/* --- flip.c: which kind is the cheapest elsewhere */

enum tune_axis {
    TUNE_AXIS_COUNTER, /* the price of a counter increment, in inserts */
    TUNE_AXIS_READS,   /* a factor of the scenario's rate of reads */
    TUNE_AXIS_COUNT
};
struct tune_flip {
    double at;      /* NaN: nowhere */
    size_t entrant; /* of another kind, which costs the same at `at`; SIZE_MAX if there is none */
};
/* Returns the scenario's own value on this axis. */
double tune_axis_now(const struct tune_contest *contest, enum tune_axis axis);
/* The nearest value on the axis, above or below the scenario's own, at which a setting of another kind that
 * stays within the limits costs as little as the recommended kind. There must be a recommendation. */
struct tune_flip tune_flip_of(const struct tune_contest *contest, enum tune_axis axis, bool is_up);
/* The cost of a setting within the limits: base + increments x price of an increment + reads x multiple of
 * the rate of reads. */
struct tune_plane {
    size_t entrant;
    double base, increments, reads;
};
/* The costs of all settings within the limits, whose partitions end; the caller frees them. There must be a
 * recommendation. NULL when out of memory. */
struct tune_plane *tune_planes(const struct tune_contest *contest, size_t *count);
/* The cheapest setting at this price and this multiple of the reads; SIZE_MAX if there is none. */
size_t tune_cheapest_at(const struct tune_plane *planes, size_t count, double price, double reads);

/* --- margin.c */

/* The approximate number of runs of the two functions below. */
uint64_t tune_runs_after(const struct tune_contest *contest);
bool tune_margins(struct tune_contest *contest, uint32_t threads, struct lab_progress *progress,
                  struct sim_error *error);
/* The smallest safe lead of the recommended setting, or else of the cheapest setting with a lead that meets
 * the demands. */
bool tune_contest_lead(struct tune_contest *contest, uint32_t threads, struct lab_progress *progress,
                       struct sim_error *error);

#endif
