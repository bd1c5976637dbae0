/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fuzzer: a seed is a scenario. What the user's own scenario says stands; what it leaves out is drawn,
 * each figure from a random stream of its own, and which kinds of fault there are at all is drawn first
 * (swarm testing). A run is held against the table of guarantees; a campaign of seeds is summed up; a
 * scenario that breaks a guarantee is made smaller for as long as it breaks it.
 *
 * All of it is a function of seed and text alone. */
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
    const struct lab_override *overrides; /* laid over it, as if it said so */
    size_t override_count;
    uint32_t held; /* bit c: guarantees are held although condition c happened */
};

/* A scenario whose text is whole: the fields of the base, those drawn, and `seed:`. It goes through the same
 * checks as any other; what the user wrote is named by its place in the user's file. On failure *out is NULL.
 */
bool lab_fuzz_scenario(const struct lab_fuzz_base *base, uint64_t seed, struct lab_scenario **out,
                       struct sim_error *error);

/* The scenario of `text` with overrides laid over it, written out as a text of its own, malloc'ed. */
bool lab_fuzz_rewrite(const char *text, const struct lab_override *overrides, size_t override_count,
                      char **out, struct sim_error *error);

/* Of what all seeds of a campaign share, comments and layout aside: another number is another campaign. */
bool lab_fuzz_identity(const struct lab_fuzz_base *base, uint64_t *out, struct sim_error *error);

/* The name of a key of the scenario; buffer holds LAB_KEY_NAME_SIZE. Of UINT32_MAX: "". */
bool lab_fuzz_key_name(const struct lab_scenario *scenario, uint32_t key, char *buffer,
                       struct sim_error *error);

/* --- fuzz_judge.c: what a run did to the guarantees, and what a campaign did */

/* The first guarantee, in the order of strategies and oracles, that a run broke. */
struct lab_breach {
    size_t strategy; /* of the result */
    enum lab_oracle oracle;
};
bool lab_breach_find(const struct lab_result *result, struct lab_breach *out);

/* One strategy's run, as far as a campaign counts it. Bit o of a mask: oracle o. */
struct lab_fuzz_run {
    enum bk_kind kind;
    unsigned protocol;
    uint32_t judged, violated, broken;
    uint32_t excuses[LAB_ORACLE_COUNT]; /* of its violations; bit c: condition c */
    uint32_t lapsed[LAB_ORACLE_COUNT];  /* conditions that the guarantee excepts, violated or not */
    uint64_t rolls;
};
struct lab_fuzz_outcome {
    uint64_t rows;
    uint64_t probes; /* bit p: some strategy's run walked path p */
    size_t run_count;
    struct lab_fuzz_run runs[LAB_STRATEGIES_MAX];
};
/* The conditions of the mask excuse nothing any more. */
void lab_fuzz_hold(struct lab_result *result, uint32_t held);
void lab_fuzz_outcome_of(const struct lab_result *result, struct lab_fuzz_outcome *out);

/* Those that place rows, and LAB_KIND_IDGEN. */
#define LAB_FUZZ_KINDS ((unsigned)LAB_KIND_IDGEN + 1)

/* Strategies of one kind and protocol against one oracle, in numbers of runs. */
struct lab_fuzz_cell {
    uint64_t judged, violated;
    uint64_t excused; /* guaranteed and violated, and each violation was excused */
    uint64_t broken;
    uint64_t excuses[LAB_CONDITION_COUNT]; /* of those excused; several may excuse at once */
    /* Runs in which the guarantee held for every key at every time, and by condition those in which not. */
    uint64_t guaranteed, lapsed[LAB_CONDITION_COUNT];
    /* In numbers of seeds, which are independent of each other also where a seed has several such runs:
     * uncovered has a violation that no guarantee covers, as none is made or it was excused. */
    uint64_t seeds_judged, seeds_uncovered;
};
struct lab_fuzz_tally {
    uint64_t seeds;
    uint64_t runs[LAB_FUZZ_KINDS][LAB_PROTOCOL_COUNT];
    struct lab_fuzz_cell cells[LAB_FUZZ_KINDS][LAB_PROTOCOL_COUNT][LAB_ORACLE_COUNT];
    uint64_t probes[LAB_PROBE_COUNT]; /* seeds that walked the path */
    struct lab_histogram rows, rolls; /* of a seed; of a strategy's run */
};
void lab_fuzz_tally_init(struct lab_fuzz_tally *tally);
void lab_fuzz_tally_clear(struct lab_fuzz_tally *tally);
/* False without memory. */
bool lab_fuzz_tally_add(struct lab_fuzz_tally *tally, const struct lab_fuzz_outcome *outcome);
/* The least size that half of them do not exceed; 0 when there are none. */
uint64_t lab_fuzz_median(const struct lab_histogram *histogram);

/* --- fuzz_shrink.c: smaller scenarios that still do it */

/* Whether the scenario of this text still does what it is kept for; false also when it is no scenario. */
typedef bool lab_shrink_test(void *context, const char *text);
/* Takes away what is not needed, step by step, until no step is left that keeps the test true, or `tries`
 * tests were made. The test is true of `text` itself. *out is malloc'ed; `text` again when nothing can go. On
 * failure, without memory, *out is NULL. */
bool lab_shrink(const char *text, uint32_t tries, lab_shrink_test *test, void *context, char **out,
                struct sim_error *error);
#endif
