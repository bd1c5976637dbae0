/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fuzzer: each seed is a scenario. Settings in the user's own scenario are kept; all others are drawn,
 * each from its own random stream, after a first draw of which kinds of faults are enabled (swarm testing).
 * Each run is checked against the table of guarantees. A campaign adds up its seeds. A scenario that breaks a
 * guarantee is shrunk as long as it still breaks it.
 *
 *     user's YAML --+--> draw.c: what it does not say, as YAML --> fuzz.c: the scenario of a seed --> a run
 *     seed ---------+                                                                                 |
 *                                                            fuzz.c: sums over seeds, shrinking <-----+
 *     sweep.c (lab/sweep.h): the points of a sweep, each a scenario of its own
 *
 * Everything depends only on the seed and the text. */
#ifndef LAB_FUZZ_H
#define LAB_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lab/histogram.h"
#include "lab/result.h"
#include "lab/scenario.h"

/* --- The scenario of a seed. */

/* The input that all seeds of a campaign share. */
struct lab_fuzz_base {
    const char
        *path; /* path of the user's scenario, for messages and relative file names; NULL: there is none */
    const char *text; /* its YAML, `size` bytes */
    size_t size;
    const struct lab_override *overrides; /* applied as if they were in the text */
    size_t override_count;
    uint32_t held; /* bit c: condition c does not excuse violations */
};

/* Makes a scenario of the fields of the base, those drawn, and `seed:`; has_text: with its text, which a
 * caller that only runs it does not need. It passes the
 * same checks as any other; errors in the user's part name the place in the user's file. On failure *out is
 * NULL.
 */
bool lab_fuzz_scenario(const struct lab_fuzz_base *base, uint64_t seed, bool has_text,
                       struct lab_scenario **out, struct sim_error *error);

/* Applies overrides to the scenario of `text`, and writes it as a new text, malloc'ed. */
bool lab_fuzz_rewrite(const char *text, const struct lab_override *overrides, size_t override_count,
                      char **out, struct sim_error *error);

/* Writes the name of a key of the scenario into buffer, which must have LAB_KEY_NAME_SIZE bytes; "" for
 * UINT32_MAX. */
bool lab_fuzz_key_name(const struct lab_scenario *scenario, uint32_t key, char *buffer,
                       struct sim_error *error);

/* --- The guarantees that a run, or a campaign, broke. */

/* The first guarantee, in the order of strategies and oracles, that a run broke. */
struct lab_breach {
    size_t strategy; /* index in the result */
    enum lab_oracle oracle;
};
bool lab_breach_find(const struct lab_result *result, struct lab_breach *out);

/* The properties of runs that a campaign counts: violations of each oracle, and, after these, whether fewer
 * than a given share of the rows was acknowledged. */
enum lab_fuzz_share {
    LAB_FUZZ_KEPT_BELOW_99 = LAB_ORACLE_COUNT, /* fewer than 99 % of the rows were acknowledged */
    LAB_FUZZ_KEPT_BELOW_90,
    LAB_FUZZ_KEPT_BELOW_50,
    LAB_FUZZ_SHARES
};
/* "findable", "kept_below_99". */
const char *lab_fuzz_share_name(unsigned share);

/* The data of one strategy's run that a campaign counts. Bit s of `judged` and `violated`: property s (enum
 * lab_fuzz_share); of `broken`: oracle s. */
struct lab_fuzz_run {
    enum bk_kind kind;
    unsigned protocol;
    uint32_t judged, violated, broken;
    uint32_t excuses[LAB_ORACLE_COUNT]; /* conditions that excuse its violations; bit c: condition c */
    uint32_t lapsed[LAB_ORACLE_COUNT];  /* conditions that occurred and suspend the guarantee, whether it was
                                           violated or not */
    uint64_t rolls;
};
struct lab_fuzz_outcome {
    uint64_t rows;
    uint64_t probes; /* bit p: some strategy's run reached probe p */
    size_t run_count;
    struct lab_fuzz_run runs[LAB_STRATEGIES_MAX];
};
/* Removes the conditions in `held` from the excuses. */
void lab_fuzz_hold(struct lab_result *result, uint32_t held);
void lab_fuzz_outcome_of(const struct lab_result *result, struct lab_fuzz_outcome *out);

/* The kinds that place rows, and LAB_KIND_IDGEN. */
#define LAB_FUZZ_KINDS ((unsigned)LAB_KIND_IDGEN + 1)

/* Counts of runs, for one kind and protocol and one property; of one that is no oracle only the first two. */
struct lab_fuzz_cell {
    uint64_t judged, violated;
    uint64_t excused; /* the guarantee was violated, and each violation was excused */
    uint64_t broken;
    uint64_t excuses[LAB_CONDITION_COUNT]; /* number of excused runs per condition; several conditions may
                                              excuse the same run */
    /* Number of runs in which the guarantee applied to every key at every time; and, per condition, of runs
     * in which it did not. */
    uint64_t guaranteed, lapsed[LAB_CONDITION_COUNT];
};
struct lab_fuzz_tally {
    uint64_t seeds;
    uint64_t runs[LAB_FUZZ_KINDS][LAB_PROTOCOL_COUNT];
    struct lab_fuzz_cell cells[LAB_FUZZ_KINDS][LAB_PROTOCOL_COUNT][LAB_FUZZ_SHARES];
    uint64_t probes[LAB_PROBE_COUNT]; /* number of seeds that reached the probe */
    struct lab_histogram rows, rolls; /* rows per seed; rolls per strategy's run */
};
void lab_fuzz_tally_init(struct lab_fuzz_tally *tally);
void lab_fuzz_tally_clear(struct lab_fuzz_tally *tally);
/* Adds a seed. Returns false when out of memory. */
bool lab_fuzz_tally_add(struct lab_fuzz_tally *tally, const struct lab_fuzz_outcome *outcome);

/* --- Smaller scenarios with the same failure. */

/* Whether the scenario of this text still has the failure; false also when the text is not a valid
 * scenario. */
typedef bool lab_shrink_test(void *context, const char *text);
/* Removes parts step by step, until every further step would make the test false, or until `tries` tests were
 * made. The test must be true for `text` itself. *out is malloc'ed; it equals `text` when nothing can be
 * removed. It fails only when out of memory; *out is then NULL. */
bool lab_shrink(const char *text, uint32_t tries, lab_shrink_test *test, void *context, char **out,
                struct sim_error *error);
#endif
