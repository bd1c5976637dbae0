/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fuzzer: each seed is a scenario. Settings in the user's own scenario are kept; the others are drawn,
 * each from a random stream of its own, after a first draw of which kinds of faults are enabled (swarm
 * testing). Each run is checked against the table of guarantees; a campaign sums up its seeds; a scenario
 * that breaks a guarantee is shrunk as long as it still breaks it.
 *
 * Everything is a function of the seed and the text alone. */
#ifndef LAB_FUZZ_H
#define LAB_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lab/histogram.h"
#include "lab/result.h"
#include "lab/scenario.h"

/* --- fuzz_scenario.c: the scenario of a seed */

/* What all seeds of a campaign share. */
struct lab_fuzz_base {
    const char *path; /* of the user's scenario, for messages and relative file names; NULL: there is none */
    const char *text; /* its YAML, `size` bytes */
    size_t size;
    const struct lab_override *overrides; /* applied as if they stood in the text */
    size_t override_count;
    uint32_t held; /* bit c: condition c excuses nothing */
};

/* Makes a scenario with a complete text: the fields of the base, those drawn, and `seed:`. It passes the
 * same checks as any other; errors in the user's part name the place in the user's file. On failure *out is
 * NULL.
 */
bool lab_fuzz_scenario(const struct lab_fuzz_base *base, uint64_t seed, struct lab_scenario **out,
                       struct sim_error *error);

/* The same scenario with an empty text, for whoever only runs it. */
bool lab_fuzz_case(const struct lab_fuzz_base *base, uint64_t seed, struct lab_scenario **out,
                   struct sim_error *error);

/* The scenario of `text` with overrides laid over it, written out as a text of its own, malloc'ed. */
bool lab_fuzz_rewrite(const char *text, const struct lab_override *overrides, size_t override_count,
                      char **out, struct sim_error *error);

/* A hash of everything that the seeds of a campaign share, without comments and layout: it identifies the
 * campaign. */
bool lab_fuzz_identity(const struct lab_fuzz_base *base, uint64_t *out, struct sim_error *error);

/* The name of a key of the scenario; buffer holds LAB_KEY_NAME_SIZE. Of UINT32_MAX: "". */
bool lab_fuzz_key_name(const struct lab_scenario *scenario, uint32_t key, char *buffer,
                       struct sim_error *error);

/* --- fuzz_judge.c: the guarantees that a run, or a campaign, broke */

/* The first guarantee, in the order of strategies and oracles, that a run broke. */
struct lab_breach {
    size_t strategy; /* of the result */
    enum lab_oracle oracle;
};
bool lab_breach_find(const struct lab_result *result, struct lab_breach *out);

/* What a campaign has shares of: the oracles, whose violations are counted, and behind them whether a run
 * kept fewer of its rows than a share of all. */
enum lab_fuzz_share {
    LAB_FUZZ_KEPT_BELOW_99 = LAB_ORACLE_COUNT, /* percent were acknowledged */
    LAB_FUZZ_KEPT_BELOW_90,
    LAB_FUZZ_KEPT_BELOW_50,
    LAB_FUZZ_SHARES
};
/* "findable", "kept_below_99". */
const char *lab_fuzz_share_name(unsigned share);

/* The figures of one strategy's run that a campaign counts. Bit s of `judged` and `violated`: share s; of
 * `broken`: oracle s. */
struct lab_fuzz_run {
    enum bk_kind kind;
    unsigned protocol;
    uint32_t judged, violated, broken;
    uint32_t excuses[LAB_ORACLE_COUNT]; /* of its violations; bit c: condition c */
    uint32_t lapsed[LAB_ORACLE_COUNT];  /* conditions that occurred and suspend the guarantee, violated or
                                           not */
    uint64_t rolls;
};
struct lab_fuzz_outcome {
    uint64_t rows;
    uint64_t probes; /* bit p: some strategy's run walked path p */
    size_t run_count;
    struct lab_fuzz_run runs[LAB_STRATEGIES_MAX];
};
/* Removes the conditions of the mask from the excuses. */
void lab_fuzz_hold(struct lab_result *result, uint32_t held);
void lab_fuzz_outcome_of(const struct lab_result *result, struct lab_fuzz_outcome *out);

/* Those that place rows, and LAB_KIND_IDGEN. */
#define LAB_FUZZ_KINDS ((unsigned)LAB_KIND_IDGEN + 1)

/* Counts of runs, for one kind and protocol and one oracle. */
struct lab_fuzz_cell {
    uint64_t judged, violated;
    uint64_t excused; /* the guarantee was violated, and each violation was excused */
    uint64_t broken;
    uint64_t excuses[LAB_CONDITION_COUNT]; /* of the excused runs, by condition; several conditions may
                                              excuse one run */
    /* Runs in which the guarantee applied to every key at every time; and by condition the runs in which it
     * did not. */
    uint64_t guaranteed, lapsed[LAB_CONDITION_COUNT];
    /* Counts of seeds, which are independent, while the runs of one seed are not. Uncovered: with a
     * violation that no guarantee covers, since none is given or it was excused. Of shares that are no
     * oracle's nothing else is counted. */
    uint64_t seeds_judged, seeds_uncovered;
};
struct lab_fuzz_tally {
    uint64_t seeds;
    uint64_t runs[LAB_FUZZ_KINDS][LAB_PROTOCOL_COUNT];
    struct lab_fuzz_cell cells[LAB_FUZZ_KINDS][LAB_PROTOCOL_COUNT][LAB_FUZZ_SHARES];
    uint64_t probes[LAB_PROBE_COUNT]; /* seeds that walked the path */
    struct lab_histogram rows, rolls; /* of a seed; of a strategy's run */
};
void lab_fuzz_tally_init(struct lab_fuzz_tally *tally);
void lab_fuzz_tally_clear(struct lab_fuzz_tally *tally);
/* False when out of memory. */
bool lab_fuzz_tally_add(struct lab_fuzz_tally *tally, const struct lab_fuzz_outcome *outcome);
/* The median: the least size that half of the seeds do not exceed; 0 for an empty histogram. */
uint64_t lab_fuzz_median(const struct lab_histogram *histogram);

/* --- fuzz_shrink.c: smaller scenarios with the same failure */

/* Whether the scenario of this text still fails in the way to be kept; also false when the text is no valid
 * scenario. */
typedef bool lab_shrink_test(void *context, const char *text);
/* Removes parts step by step, until every further step would make the test false, or until `tries` tests
 * were made. The test is true of `text` itself. *out is malloc'ed; `text` again when nothing can go. On
 * failure, when out of memory, *out is NULL. */
bool lab_shrink(const char *text, uint32_t tries, lab_shrink_test *test, void *context, char **out,
                struct sim_error *error);
#endif
