/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search of `tune SCENARIO`; docs/tune.md has its rules.
 *
 * A pilot, which is one run of `unbucketed`, counts the rows and measures their sizes. Candidates are the
 * scenario's own settings and, for each template, a ladder of numbers. A template is a strategy of the
 * scenario without its numbers (its coordination, counter, lead, source of count, epoch, reading and maximum
 * age) or, for a kind that the scenario lacks, the simplest form of that kind. The distribution of partitions
 * (tune/expected.h) excludes some; the others are ranked by the rule of recommendation (lab_choose_from()),
 * by what the run with the first seed showed, so that all are compared on the same rows (common random
 * numbers), or by a lower bound of the load. Further seeds test the first of the ranking, and never rank it.
 * Nothing depends on time or the number of threads. */
#ifndef TUNE_CONTEST_H
#define TUNE_CONTEST_H

#include "kernel/time.h"
#include "lab/judgment.h"
#include "lab/run.h"
#include "lab/scenario.h"
#include "tune/expected.h"
#include "tune/sample.h"

/* What the pilot measured. */
struct tune_rows {
    uint64_t rows, keys;
    double mean_bytes;                    /* on disk */
    double mean_payload;                  /* the mean weight that weighted strategies use */
    uint64_t busiest_rows, busiest_bytes; /* of the key that has the most */
    int64_t start_ns, lasts_ns;
    double limit_rows; /* the tighter limit of a partition, in rows of mean size */
};

enum tune_figure {
    TUNE_COST,       /* operations in addition to the inserts and partitions that reads query, per 1000 rows,
                        in inserts */
    TUNE_COST_WRITE, /* the first part of it */
    TUNE_CV,         /* standard deviation / mean of closed partitions' rows */
    TUNE_PER_READ,   /* partitions per read, on average */
    TUNE_PER_READ_P99,
    TUNE_P99_BYTES,  /* of all partitions */
    TUNE_OVER,       /* share of partitions above a limit */
    TUNE_TINY,       /* share of closed partitions that are tiny */
    TUNE_OPS,        /* operations in addition to the inserts per 1000 rows, unweighted */
    TUNE_INCREMENTS, /* additions to a counter among them */
    TUNE_ROWS_MEAN,  /* of closed partitions, or of all if none has closed */
    TUNE_BYTES_MEAN,
    TUNE_FIRST_OVER, /* days until a partition exceeded a limit */
    TUNE_ROWS,
    TUNE_REFUSED, /* rows */
    TUNE_REPLACED,
    TUNE_MISROUTED,
    TUNE_READS, /* reads */
    TUNE_READS_FAILED,
    TUNE_WRITE_P999, /* milliseconds of a row's write, including the read of the state; only of the first seed
                      */
    TUNE_NODE_DAYS,  /* what a node holds and does */
    TUNE_NODE_BYTES,
    TUNE_NODE_DISK,
    TUNE_NODE_WRITES,
    TUNE_NODE_READS,
    TUNE_FIGURE_COUNT
};
/* As in JSON: that of the metric, if a run has it. */
extern const char *const tune_figure_names[TUNE_FIGURE_COUNT];

/* What a run of one setting with one seed showed. */
struct tune_seen {
    uint64_t seed;
    double figures[TUNE_FIGURE_COUNT]; /* NaN: the run does not have it */
    struct lab_facts facts;
    unsigned disqualifiers;         /* bits enum lab_disqualifier */
    double refused;                 /* lab_refused_share() */
    struct lab_candidate candidate; /* apart from is_eligible */
    uint64_t closed;
    uint64_t rows_most, bytes_most; /* the largest partition */
};

enum tune_status {
    TUNE_RECOMMENDED,
    TUNE_WITHIN,       /* the limits, and all demands are met; with `seeds` 0 by its distribution */
    TUNE_NOT_JUDGED,   /* there were too few partitions to tell */
    TUNE_EXCEEDS,      /* a limit; with `seeds` 0 by its distribution */
    TUNE_DISQUALIFIED, /* by `failed` */
    TUNE_COSTLY,       /* not run: whatever it showed, another setting of its kind would be better */
    TUNE_STATUS_COUNT
};
/* "recommended", "within", "not judged", "exceeds", "disqualified", "costly". */
const char *tune_status_name(enum tune_status status);

/* What a setting may fail by: a limit, a demand of `tune`, or a disqualifier. */
enum tune_demand {
    TUNE_IN_LIMITS,
    TUNE_NOT_TINY,
    TUNE_FEW_PER_READ,
    TUNE_FINDABLE,   /* readers miss rows */
    TUNE_AVAILABLE,  /* agents refuse rows */
    TUNE_ANSWERED,   /* reads fail */
    TUNE_GUARANTEED, /* rows are misrouted, or a guarantee is broken */
    TUNE_DEMAND_COUNT
};

struct tune_entrant {
    struct lab_strategy strategy; /* its label is the entrant's */
    const char *base;             /* the label of its template; not owned */
    bool is_own;                  /* it is a strategy of the scenario itself */
    bool is_endless;              /* its partitions grow for as long as rows come: never recommended */
    uint32_t requirements;        /* bits enum lab_requirement */
    uint32_t needs;               /* seeds to be recommended: 1 where no other seed would differ */
    uint32_t asked;               /* seeds with whose rates its distribution was asked; 0: not asked */
    bool lacked_memory;           /* when it was asked */
    struct lab_facts known;       /* by it, at the scenario's rate, in the worst of these seeds */
    double load_least;            /* a lower bound of the load, */
    double write_least;           /* and of its part for increments */
    /* What the race found. */
    enum tune_status status;
    enum tune_demand failed; /* if it exceeds a limit or is disqualified */
    struct lab_judgment judgment;
    unsigned disqualifiers;
    struct tune_seen *seen;           /* by seed, first the scenario's */
    uint32_t seeds;                   /* with which it was run */
    struct lab_result *result;        /* cluster engine: of the first seed */
    const struct tune_margin *margin; /* NULL: it is not the best of its kind */
};

/* The result of one seed at a multiple of the scenario's rate, unless the distribution decides. */
#define TUNE_MARGIN_STEPS 5
struct tune_margin_step {
    double factor;
    bool is_run;             /* `seen` is set */
    enum lab_within within;  /* NOT_JUDGED: neither this rate nor another one decides */
    enum tune_demand failed; /* for LAB_EXCEEDS */
    struct lab_judgment judgment;
    struct tune_seen seen;
};
struct tune_margin {
    size_t entrant;
    bool is_tried; /* false for a trace, whose rate is given, and with agents if it is not recommended */
    struct tune_margin_step steps[TUNE_MARGIN_STEPS];
};

/* The results of runs of an earlier contest of the same scenario. A run is a pure function of scenario,
 * setting, seed and rate, so a run whose result is remembered need not be repeated. Both functions may be
 * called on any thread, and concurrently. */
struct tune_memory {
    void *context;
    bool (*recall)(void *context, uint64_t job, void *out, size_t size); /* false if it is not remembered */
    void (*keep)(void *context, uint64_t job, const void *bytes, size_t size);
};

struct tune_contest {
    const struct lab_scenario *scenario;
    struct lab_tune terms;
    const struct tune_memory *memory; /* set it after tune_contest_begin(); NULL: nothing is remembered */
    bool is_exhaustive;               /* every setting runs with all the seeds that it needs */
    struct tune_rows rows;
    struct tune_outlook outlook;
    struct tune_entrant *entrants;
    size_t count, capacity;
    size_t left_out;    /* the scenario's own settings that change during the run or cannot be simulated */
    size_t recommended; /* SIZE_MAX: none */
    size_t margin_count;
    struct tune_margin *margins;   /* first that of the recommended setting, then those of the best of each
                                      other kind, with and without a sequence number in the rows */
    size_t led;                    /* the entrant whose lead is judged; SIZE_MAX if none has a lead */
    struct lab_candidate *scratch; /* of the ranking */
};

/* Begins a contest and runs the pilot, whose progress is in rows. The scenario must have a limit and outlive
 * the contest. terms: the demands. On failure the contest is cleared. */
bool tune_contest_begin(struct tune_contest *contest, const struct lab_scenario *scenario,
                        const struct lab_tune *terms, uint32_t threads, struct lab_progress *progress,
                        struct sim_error *error);
/* Runs the race and, if a setting is recommended, determines margins. The progress is in runs.
 * When it is stopped: SIM_ERROR_CHECK. */
bool tune_contest_run(struct tune_contest *contest, uint32_t threads, struct lab_progress *progress,
                      struct sim_error *error);
/* Returns the label of the best setting of a kind or, with BK_KINDS, of the recommended setting; NULL if
 * none stays within the limits. */
const char *tune_contest_best(const struct tune_contest *contest, enum bk_kind kind);
/* Days until the first partition exceeds a limit (tune/expected.h). */
bool tune_contest_first_over(const struct tune_contest *contest, const struct tune_entrant *entrant,
                             double *out);
/* The lead that `led` needs, in whole milliseconds (docs/findings.md, "How long a lead is long enough"):
 * the 99.9th percentile of the latency of a write, the time to live of a cached state, and twice the clock
 * bound. */
double tune_contest_lead_ms(const struct tune_contest *contest);
/* How a setting that was run would be judged with other limits, each at least the scenario's.
 * LAB_NOT_JUDGED: also if memory is lacking. */
enum lab_within tune_contest_try(const struct tune_contest *contest, const struct tune_entrant *entrant,
                                 const struct lab_limits *limits);
void tune_contest_clear(struct tune_contest *contest);

/* --- candidates.c */

/* Adds all settings. */
bool tune_candidates(struct tune_contest *contest, struct sim_error *error);

/* The most numbers that are tried for a template. */
#define TUNE_LADDER_MAX 64
/* Writes a strategy as in a scenario, to paste into one or to pass as an override: "probabilistic: {bits: 9,
 * threshold: 40, label: mine}". Parsing it gives the same strategy. Changes (`then`) are left out. */
#define TUNE_STRATEGY_TEXT_SIZE 768
void tune_strategy_text(const struct lab_strategy *strategy, char *buffer);

/* --- watch.c */

/* Runs these entrants together at `factor` times the scenario's rate, apart from those in the contest's
 * memory. In the cluster engine count is 1, and *kept, unless `kept` is NULL, is the result of the run;
 * NULL if it was remembered. */
bool tune_watch(const struct tune_contest *contest, const size_t *list, size_t count, uint64_t seed,
                double factor, uint32_t threads, struct lab_progress *progress, struct tune_seen *out,
                struct lab_result **kept, struct sim_error *error);
/* The engine for the race: if there are many rows, one that does not draw each row, where that is possible
 * and faster. */
enum lab_engine tune_engine(const struct lab_scenario *scenario, double factor);
/* Sets *out to the scenario with these strategies, one seed, and its rate multiplied by a factor. The caller
 * keeps the ownership of `strategies`, and *out must not be freed. */
void tune_scenario_of(const struct lab_scenario *scenario, struct lab_strategy *strategies, size_t count,
                      uint64_t seed, double factor, struct lab_scenario *out);

/* --- contest.c */

/* Searches, without margins. */
bool tune_race(struct tune_contest *contest, uint32_t threads, struct lab_progress *progress,
               struct sim_error *error);
/* What the distribution is asked with, at a multiple of the rate. */
struct tune_prospect tune_prospect_of(const struct tune_contest *contest, double factor);
/* Sets what is known by the distribution at a multiple of the rate, with the bursts of a seed. False: out of
 * memory. */
bool tune_know(const struct tune_contest *contest, const struct lab_settings *settings, double factor,
               uint64_t seed, struct lab_facts *out);
/* Judges these seeds: the limits, then demands and disqualifiers, which make it LAB_EXCEEDS. */
enum lab_within tune_judge(const struct tune_contest *contest, const struct tune_seen *seen, uint32_t seeds,
                           const struct lab_facts *known, struct lab_judgment *judgment,
                           enum tune_demand *failed);
struct tune_sample tune_figures_of(const struct tune_seen *seen, uint32_t seeds, enum tune_figure figure);
/* The least headroom that its seeds showed: sizes and the share refused; `closed` is their sum. The other
 * members are 0. */
struct tune_seen tune_worst_of(const struct tune_entrant *entrant);
/* NaN when no seed has it. */
double tune_mean_of(const struct tune_entrant *entrant, enum tune_figure figure);
/* What the rule of recommendation compares. */
struct lab_candidate tune_candidate_for(const struct tune_contest *contest,
                                        const struct tune_entrant *entrant);
/* The group of settings of which each has a best one: a kind, with or without a sequence number. */
#define TUNE_GROUPS (2 * BK_KINDS)
unsigned tune_group_of(const struct tune_entrant *entrant);

#endif
