/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A scenario's race: which settings enter, how they are run in the lab, and what margin the winner has.
 *
 * First a pilot, one run of `unbucketed`, counts the rows and those of the busiest key, and measures the
 * mean row. Then settings are made from templates: a strategy of the scenario without its numbers (that is
 * its coordination, counter, lead, source of count, epoch, reading, maximum age), or, for a kind that the
 * scenario lacks, the plainest form. The numbers to try are the largest that the exact distribution allows
 * within the limits (a limit in bytes is converted to rows of mean size), and smaller ones, since only a
 * run shows bursts, lag and the sizes of rows. The scenario's own settings enter unchanged; those that the
 * exact distribution refuses are not run. */
#ifndef TUNE_CONTEST_H
#define TUNE_CONTEST_H

#include "lab/run.h"
#include "tune/growth.h"
#include "tune/lead.h"
#include "tune/memory.h"
#include "tune/race.h"

/* What the pilot measured. */
struct tune_rows {
    uint64_t rows, keys;
    double mean_bytes;     /* on disk */
    double mean_payload;   /* what weighted strategies go by */
    uint64_t busiest_rows; /* of the key that has most */
    int64_t lasts_ns;
    double limit_rows; /* the tighter limit of a partition, in rows of mean size */
};

/* What one seed shows at a multiple of the scenario's rate, where another rate or the exact distribution does
 * not tell. */
#define TUNE_MARGIN_STEPS 5
struct tune_margin_step {
    double factor;
    bool is_run;
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
    struct tune_growth growth; /* of a trace; a synthetic stream keeps its rate */
    struct tune_race race;
    size_t left_out;  /* own settings left out, since they change during the run or no run could hold them */
    bool has_margins; /* false for a trace, whose rate is given; then `steps` has no meaning */
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
/* What a run tells of its rows; of its first strategy. SIM_ERROR_INPUT where there are none. */
bool tune_contest_rows(struct tune_contest *contest, const struct lab_result *result,
                       struct sim_error *error);
/* The label of the best setting of a kind, or, with BK_KIND_COUNT, of the recommended setting; NULL: none
 * stays within the limits. */
const char *tune_contest_best(const struct tune_contest *contest, enum bk_kind kind);
void tune_contest_clear(struct tune_contest *contest);

/* --- candidates.c */

/* Enters all settings. */
bool tune_candidates(struct tune_contest *contest, struct sim_error *error);
/* The exact distribution of one, where there is one: sets has_distribution and exact_share; and is_endless
 * is_fixed and is_same.
 */
void tune_entrant_describe(const struct tune_contest *contest, struct tune_entrant *entrant);

/* --- ladder.c: numbers worth trying, at most TUNE_LADDER_MAX, best first */

#define TUNE_LADDER_MAX  64
#define TUNE_SIZES_DRAWN 4096 /* where the mean of a function of a row's size is wanted */
size_t tune_ladder(const struct tune_contest *contest, const struct bk_strategy *template,
                   struct bk_strategy *out);

/* --- watch.c */

tune_watch tune_watch_lab; /* its context is the struct tune_contest */
/* Runs these strategies together, unless the outcomes of all of them are in the contest's memory. strategies
 * is the caller's. */
bool tune_watch_at(const struct tune_contest *contest, struct lab_strategy *strategies, size_t count,
                   uint64_t seed, double factor, uint32_t threads, struct lab_progress *progress,
                   struct tune_seen *out, struct sim_error *error);
/* What a run saw of one strategy. */
bool tune_see(const struct lab_strategy_result *result, const struct lab_prices *prices, double risk,
              struct tune_seen *out, struct sim_error *error);
/* Which engine runs the race: rows that need not be drawn are not, where they are many. At other rates than
 * the scenario's nothing is compared seed by seed, so there they never are. */
enum lab_engine tune_engine(const struct lab_scenario *scenario, double factor);
/* The scenario with these strategies, one seed, and its rate times a factor; strategies is the caller's and
 * nothing of *out is to be freed. */
void tune_scenario_of(const struct lab_scenario *scenario, struct lab_strategy *strategies, size_t count,
                      uint64_t seed, double factor, struct lab_scenario *out);

/* --- horizon.c */

struct tune_horizon {
    double days;       /* from the first row until the first partition is expected above a limit; infinity:
                          never; NaN: the setting was not run, or the rows are those of a trace whose growth is
                          not known, and no partition was above */
    bool is_least;     /* no partition was above: `days` is a lower bound, with the confidence asked for */
    double partitions; /* of a run, on average over the seeds */
    double over;       /* of these above a limit, on average */
    double over_most;  /* upper bound of `over`, with the confidence asked for */
};
/* The horizon at the run's rate, which for a trace grows as the trace does. Where partitions grow for ever,
 * it is that of the largest. A window's rows grow with the rate, and its largest partition is taken for one
 * of the mean rate. */
struct tune_horizon tune_horizon_of(const struct tune_contest *contest, const struct tune_entrant *entrant);
/* The same of a run, whose only seed is all that is known: adds the metrics horizon.* to its strategies. Of a
 * trace of four weeks or more the file is read for its growth. */
bool tune_horizons_add(const struct lab_scenario *scenario, struct lab_result *result,
                       struct sim_error *error);

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
/* The scenario's own value on this axis. */
double tune_axis_now(const struct tune_contest *contest, enum tune_axis axis);
/* The nearest place, upwards or downwards from there, where a setting of another kind that stays within the
 * limits costs as little as the recommended one's kind. With a recommendation. */
struct tune_flip tune_flip_of(const struct tune_contest *contest, enum tune_axis axis, bool is_up);
/* The cheapest setting within the limits at this price and this multiple of the reads. */
size_t tune_cheapest_at(const struct tune_contest *contest, double price, double reads);

/* --- margin.c */

/* How many runs the two below take, about. */
uint64_t tune_runs_after(const struct tune_contest *contest);
bool tune_margins(struct tune_contest *contest, uint32_t threads, struct lab_progress *progress,
                  struct sim_error *error);
/* The smallest safe lead of the recommended setting, or else of the cheapest setting with a lead that meets
 * the demands. */
bool tune_contest_lead(struct tune_contest *contest, uint32_t threads, struct lab_progress *progress,
                       struct sim_error *error);

#endif
