/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The judge: turns what is known of a strategy's partitions into one value, and chooses between
 * strategies. `run`, `tune`, `import`, `show`, `check`, `sweep`, the page, charts and JSON all ask this
 * judge.
 *
 * What is known decides in this order:
 *  1. nothing of a size that has a limit: not judged;
 *  2. percentiles: bounds of the share of partitions above the limit;
 *  3. the partitions of the run, where every seed makes the same ones, or where one exceeded a limit although
 *     none may;
 *  4. the distribution of sizes (the metrics expected.*), where it decides: the number of partitions that are
 *     expected to exceed a limit within LAB_JUDGED_DAYS, and the chance that one does, even if the run is too
 *     short to fill one;
 *  5. the partitions of the run as a sample, by the one-sided bounds of Clopper and Pearson.
 * If limits.over_limit_share is 0, no partition may exceed a limit: by its distribution a strategy is within
 * the limits if fewer partitions than 1 - limits.confidence are expected above one, and a partition of count,
 * probabilistic or weighted that is full exceeds one with no larger chance. Otherwise the share of partitions
 * above a limit must be at most over_limit_share.
 *
 * A limited rate is exceeded by one second, of any partition, whatever over_limit_share says. What the run
 * counted above it decides; then the number of such seconds that are expected, by the Poisson distribution
 * (the metrics rates.*), between two bounds as in 4.; then what the run counted, as a sample. */
#ifndef LAB_JUDGMENT_H
#define LAB_JUDGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lab/result.h"

/* Partitions that end are expected for this many days of the stream, or for the run if it is longer: so the
 * verdict on a setting does not depend on how long a run was. */
#define LAB_JUDGED_DAYS 365
/* For how many days, of a run that lasts so long: partitions without end are judged for the run. */
double lab_judged_days(const struct lab_settings *settings, double lasts_ns);

/* What is known of the busiest second of a partition; nothing, if all is 0. */
struct lab_rate_facts {
    bool is_counted, is_known;
    double counted;     /* the most in a second of a run */
    double most, least; /* is_known: bounds of the expected number of seconds above the limit, over all
                           partitions of the time that is judged */
    double peak;        /* is_known: with limits.confidence no second of that time has more */
};

/* What is known of a strategy's partitions. Facts of several seeds add up. */
struct lab_facts {
    uint64_t partitions;              /* of the runs; 0 for percentiles */
    uint64_t over;                    /* partitions above a limit, in rows or bytes */
    uint64_t over_of[LAB_SIZE_UNITS]; /* above the limit in rows, and in bytes */
    bool is_unknown[LAB_SIZE_UNITS];  /* nothing is known of sizes in this unit */
    bool is_certain;                  /* every seed makes the same partitions */
    bool has_distribution;
    double expected_most, expected_least; /* bounds of the expected number of partitions above a limit */
    double expected_days;                 /* lab_judged_days() */
    /* Bounds of the probability that a partition, if it is full, exceeds a limit: upper and lower. */
    double expected_share, expected_full;
    bool has_bounds;                                                /* percentiles: */
    double bound_least[LAB_SIZE_UNITS], bound_most[LAB_SIZE_UNITS]; /* bounds of the share above the limit */
    struct lab_rate_facts rates[LAB_RATES];
};

enum lab_within { LAB_NOT_JUDGED, LAB_WITHIN, LAB_EXCEEDS };
enum lab_judged_by {
    LAB_BY_NOTHING,
    LAB_BY_CERTAINTY,
    LAB_BY_DISTRIBUTION,
    LAB_BY_SAMPLE,
    LAB_BY_PERCENTILES
};
/* "not judged", "certain", "distribution", "sample", "percentiles". */
const char *lab_judged_by_name(enum lab_judged_by by);

struct lab_judgment {
    enum lab_within within;
    enum lab_judged_by by;
    uint64_t partitions, over;        /* of the facts */
    uint64_t over_of[LAB_SIZE_UNITS]; /* of the facts */
    unsigned exceeded;                /* bit u: the limit in unit u is exceeded; bit LAB_SIZE_UNITS + r: that
                                         of rate r */
    double peak[LAB_RATES];           /* in the busiest second, counted or as is to be expected */
    double share;      /* of the partitions above a limit: seen, or a lower bound; NaN: not known */
    double share_most; /* its upper bound: by the distribution, for percentiles, or for other seeds with
                          limits.confidence; NaN: there is none, or nothing is random */
    double expected, expected_days; /* exceeds by its distribution: partitions above a limit, within days */
    const char *missing;            /* not judged: what is missing and the remedy; a constant text, or NULL */
};

/* The metric that counts a rate. */
const char *lab_rate_counted(enum lab_rate rate);
/* The facts of one run. */
struct lab_facts lab_facts_of(const struct lab_result *result, const struct lab_strategy_result *strategy);
/* Adds those of another seed. */
void lab_facts_add(struct lab_facts *into, const struct lab_facts *from);
struct lab_judgment lab_judgment_of(const struct lab_limits *limits, const struct lab_facts *facts);

/* What disqualifies a strategy besides the limits, as bits. */
enum lab_disqualifier {
    LAB_DISQUALIFIER_HIDDEN = 1,    /* a reader does not find some rows, or not among the newest */
    LAB_DISQUALIFIER_REFUSED = 2,   /* agents refused more than LAB_REFUSED_MOST of the rows, or gave them up,
                                       although nothing had failed; or they were too busy to take them */
    LAB_DISQUALIFIER_FAILED = 4,    /* reads failed */
    LAB_DISQUALIFIER_MISROUTED = 8, /* rows were stored in another bucket than the key's changes require */
    LAB_DISQUALIFIER_BROKEN = 16,   /* it broke a guarantee of its protocol */
    LAB_DISQUALIFIER_ENDLESS = 32,  /* partitions still grow at the end of the run */
    LAB_DISQUALIFIER_OBSERVED = 64, /* it was not run: its sizes were read from a file */
    LAB_DISQUALIFIER_COUNT = 7
};
/* Those that lose rows or answers. */
#define LAB_DISQUALIFIED_BY_LOSS                                                                             \
    (LAB_DISQUALIFIER_HIDDEN | LAB_DISQUALIFIER_REFUSED | LAB_DISQUALIFIER_FAILED |                          \
     LAB_DISQUALIFIER_MISROUTED | LAB_DISQUALIFIER_BROKEN)

/* This share of the rows may be refused although nothing had failed: conditional updates that compete for a
 * key sometimes give up. */
#define LAB_REFUSED_MOST 0.001

/* The disqualifiers that a run shows. */
unsigned lab_disqualifiers_of(const struct lab_strategy_result *strategy);
/* The share of the rows that agents refused or gave up although no fault explains it; 0 without agents. */
double lab_refused_share(const struct lab_strategy_result *strategy);

/* Requirements of a setting that not every service can meet. */
enum lab_requirement {
    LAB_REQUIRES_SEQUENCE, /* count: external: a gapless number in each row */
    LAB_REQUIRES_WRITER,   /* one writer for each key: the key's state is in its memory alone */
    LAB_REQUIRES_FAN_OUT,  /* hash: a reader queries all partitions of a key */
    LAB_REQUIRES_LEAD,     /* three-state: a lead longer than the time to live of caches plus the difference
                              between clocks */
    LAB_REQUIRES_LWT,      /* conditional updates */
    LAB_REQUIREMENT_COUNT
};
/* "sequence", "writer", "fan_out", "lead", "lwt". */
const char *lab_requirement_name(enum lab_requirement requirement);
/* The end of a sentence that begins with "It needs ": "conditional updates (LWT)". */
const char *lab_requirement_text(enum lab_requirement requirement);
/* The requirements of a setting; bit r: enum lab_requirement r. */
uint32_t lab_requirements(const struct lab_settings *settings);

/* The upper and the lower Clopper-Pearson bound of a probability, given `hits` successes in `count` trials,
 * each bound with this confidence. 1 and 0 when count is 0. */
double lab_share_most(uint64_t hits, uint64_t count, double confidence);
double lab_share_least(uint64_t hits, uint64_t count, double confidence);

/* The cost per 1000 rows, in inserts: the writers' operations in addition to the inserts, and the
 * partitions that reads query. NaN when nothing was run. */
struct lab_cost {
    double write, read;
};
struct lab_cost lab_cost_of(const struct lab_prices *prices, const struct lab_strategy_result *strategy);

/* What the distribution says of a full partition of count, probabilistic or weighted: rows, or bytes of
 * payload, on average, and the coefficient of variation of rows. NaN: not known, as with shards, max_age
 * or a change. That of weighted is an upper bound if no row has more bytes than an increment. */
struct lab_full {
    double rows, bytes, cv;
};
struct lab_full lab_full_of(const struct lab_settings *settings);

/* A strategy or setting to choose from. */
struct lab_candidate {
    bool is_eligible; /* within the limits, and nothing disqualifies it */
    uint32_t requirements;
    double load; /* inserts, extra operations and partitions read, per 1000 rows, in inserts */
    double cv;   /* coefficient of variation of a full partition's rows, where its distribution is known, or
                    else of the closed partitions; NaN: none has closed */
    double fullness; /* the largest partition as a share of the limit that it is nearest to */
};
/* The rule of recommendation. Settings whose load is within `tolerance` of the least count as equal; of these
 * the one with the lowest CV, in whole percent, is taken, then the one with more headroom, then the first. A
 * setting that needs a sequence number in each row is taken only if no other is eligible. Returns SIZE_MAX if
 * none is. */
size_t lab_choose_from(const struct lab_candidate *candidates, size_t count, double tolerance);

struct lab_score {
    struct lab_judgment judgment;
    unsigned disqualifiers;
    double cost; /* lab_cost_of(), both parts; NaN when nothing was run */
    struct lab_candidate candidate;
};
struct lab_score lab_score_of(const struct lab_result *result, const struct lab_strategy_result *strategy);
/* Scores every strategy into `scores`, the caller's array with room for all of them. Returns the index of the
 * strategy to choose by lab_choose_from(), or SIZE_MAX: there is none, the scenario has no limits, or `tune`
 * has chosen from more than one run. */
size_t lab_choose(const struct lab_result *result, struct lab_score *scores);

/* --- what a file of observed sizes says about the limits. A list of all partitions gives the share above a
 * limit; percentiles are ends of the buckets of Cassandra's histogram, so they give bounds; a list of the
 * largest partitions says nothing about the others. All is derived from what the database keeps of a
 * strategy. */

enum lab_known_by {
    LAB_KNOWN_NOTHING,     /* the file has no sizes in this unit, so a limit in this unit cannot be judged */
    LAB_KNOWN_EXACTLY,     /* the size of each partition */
    LAB_KNOWN_PERCENTILES, /* of the pieces of partitions in sstables; a partition may have several */
    LAB_KNOWN_LARGEST      /* the sizes of some partitions, the largest; not how many others there are */
};

struct lab_known {
    enum lab_known_by by;
    double over_least, over_most; /* bounds of the share of partitions above the limit; 0 and 1: not known */
    uint64_t largest_least, largest_most; /* bounds of the largest partition; 0 and UINT64_MAX: not known */
    uint64_t over, listed; /* partitions of the list above the limit, and all of the list; 0 for percentiles
                              and for nothing */
};

/* What is known of an observed strategy's sizes in one unit, and of the share above the limit in this unit.
 * Without such a limit no partition counts as above it. */
struct lab_known lab_known_of(const struct lab_strategy_result *observed, const struct lab_limits *limits,
                              enum lab_size_unit unit);

/* One of the points of tablehistograms, as two bounds: at least `share` of the pieces have at most `size`
 * bytes, and at least `share_above` have more than `above`. 0 for `above` says nothing. */
struct lab_known_step {
    uint64_t size, above;
    double share, share_above;
};
/* Fills out[WL_OBSERVED_POINTS], in ascending order of size; false when the strategy has other sizes. */
bool lab_known_steps(const struct lab_strategy_result *observed, struct lab_known_step *out);

/* --- the binomial distribution with full relative accuracy in both tails, for n up to 2^64 - 1. `tune` and
 * the bounds of a share use it.
 *
 * GSL's gsl_cdf_binomial_* and gsl_sf_beta_inc_e lose digits (six are left at n = 4e15), and on underflow
 * they call the error handler, which aborts. Here the probability at k is Loader's saddle-point form, and the
 * rest of the tail is a sum of positive terms or, if that sum were long, an integral of a positive function.
 * Source: C. Loader, Fast and Accurate Computation of Binomial Probabilities, 2000. */

/* X ~ Binomial(n, p), 0 < p <= 1. */
double lab_binomial_pmf(uint64_t n, uint64_t k, double p);   /* P(X = k) */
double lab_binomial_lower(uint64_t n, uint64_t k, double p); /* P(X <= k) */
double lab_binomial_upper(uint64_t n, uint64_t k, double p); /* P(X >= k) */

#endif
