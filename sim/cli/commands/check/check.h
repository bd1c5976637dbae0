/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gate of `check`: the scenarios that run, the checks of each, and their findings.
 *
 * There is a check for each expectation, for each guarantee of each strategy, and, with a baseline, for what
 * the scenario demands, for the digest and for the figures of each strategy. A failed check has one or more
 * findings; one list has the findings of all checks, in the order of the checks. */
#ifndef CLI_CHECK_H
#define CLI_CHECK_H

#include <jansson.h>
#include <math.h>

#include "cli/run.h"
#include "lab/result.h"
#include "store/store.h"

/* What a finding is about. Texts are NULL when they do not apply; numbers are NaN when the finding is not
 * about a metric. */
struct cli_about {
    const char *label; /* of the strategy */
    const char *name;  /* of the metric or the oracle; "digest", "baseline", "strategy", "expect" */
    const char *key;   /* of the largest partition, or of the first violation */
    double value, low, high;
};
#define CLI_NO_FIGURE .value = (double)NAN, .low = (double)NAN, .high = (double)NAN

/* A metric outside its interval at the scenario's own seed. */
struct cli_suspect {
    const struct store_baseline_metric *metric;
    double value;    /* NaN: the strategy does not have it any more */
    int side;        /* -1: below the interval, 1: above it, 0: missing */
    bool is_cleared; /* at another seed the metric was inside */
};

/* One scenario of the command line. */
struct cli_checked {
    struct lab_scenario *scenario;
    char *path;  /* absolute */
    char *again; /* the command that runs it again, for a shell */
    struct lab_result *result;
    struct store_run_info info; /* as stored */
    /* Lists, as --json prints them: checks, each with its kind, its name, its state ("holds", "fails" or
     * "excused") and the number of its findings; findings; and remarks that are not failures. */
    json_t *checks, *findings, *notes;
    struct store_baseline held;  /* the baseline it is compared with; the texts of `info` are not kept */
    bool has_baseline, is_exact; /* is_exact: digest, seed and scenario are the baseline's, so each figure
                                    must be equal */
    const char *cause; /* the reason given for a metric that differs although the digest is equal; constant */
    struct cli_suspect *suspects;
    size_t suspect_count;
    _Atomic size_t suspects_left;
};

struct cli_gate {
    const struct cli_args *args;
    struct cli_checked *items; /* in the order of the command line */
    size_t count;
    const char *database; /* NULL: nothing is stored */
    const char *baseline; /* NULL: there is none */
    const char *junit;    /* NULL: none was requested */
    uint64_t seeds;       /* number of seeds in addition to the scenario's own, for intervals */
    uint64_t confirmed; /* the number of seeds that confirmed a drifted metric; 0: no metric was suspected */
    bool is_update, is_updated;
    bool digest_counts; /* a changed digest is a failure */
};

/* --- check.c */

/* Begins a check of the kind "expect", "guarantee" or "baseline"; it holds unless a finding is added. */
void cli_check_begin(struct cli_checked *item, const char *kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void cli_check_excuse(struct cli_checked *item, const char *excuse);
/* Adds a finding to the last check. */
void cli_check_fail(struct cli_checked *item, const struct cli_about *about, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void cli_check_note(struct cli_checked *item, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* --- judge.c */

bool cli_check_judge(struct cli_checked *item, struct sim_error *error);
/* Judges the expectations about tune's answer, which this computes. */
bool cli_check_tune(struct cli_gate *gate, struct cli_checked *item, struct sim_error *error);
/* Loads the baseline of the item, and checks what is demanded, and the digest; a scenario without baseline
 * fails. */
bool cli_check_digest(struct cli_checked *item, const struct cli_gate *gate, struct store *store,
                      struct sim_error *error);

/* Finds the metrics that are outside at the scenario's own seed, in items whose digest changed. */
void cli_check_suspect(struct cli_checked *item);
/* Runs further seeds until each suspect was inside at one seed (cleared), or outside on the same side at
 * enough seeds (confirmed). */
bool cli_check_confirm(struct cli_gate *gate, struct sim_error *error);
/* Checks the figures of each strategy. */
void cli_check_figures(struct cli_checked *item, const struct cli_gate *gate);
/* Makes baselines of all scenarios, by running further seeds. */
bool cli_check_update(struct cli_gate *gate, struct sim_error *error);

/* --- check.c: runs scenarios at several seeds in parallel */

/* Whether the run of an item at another seed than its own is still needed; called on any thread. */
typedef bool cli_check_wanted(const struct cli_checked *item);
/* Takes ownership of the result of a run; NULL: the run was not needed. Calls do not overlap; those of an
 * item come in the order of seeds. */
typedef bool cli_check_take(void *context, size_t index, struct lab_result *result, int64_t elapsed_ms,
                            struct sim_error *error);
/* Runs every item at the seeds first to first + number - 1 from its own on. */
bool cli_check_run(struct cli_gate *gate, uint64_t first, uint64_t number, cli_check_wanted *wanted,
                   cli_check_take *take, void *context, struct sim_error *error);

#endif
