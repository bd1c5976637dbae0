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

#include "cli/execute.h"
#include "lab/result.h"
#include "store/baseline.h"

enum cli_check_kind { CLI_CHECK_EXPECT, CLI_CHECK_GUARANTEE, CLI_CHECK_BASELINE, CLI_CHECK_KINDS };
const char *cli_check_kind_name(enum cli_check_kind kind); /* "expect" */

/* What a finding is about. Texts are NULL when they do not apply; numbers are NaN when the finding is not
 * about a metric. */
struct cli_about {
    const char *label; /* of the strategy */
    const char *name;  /* of the metric or the oracle; "digest", "baseline", "strategy", "expect" */
    const char *key;   /* of the largest partition, or of the first violation */
    double value, low, high;
    double excess; /* for a metric: distance from the interval, in half widths of the interval */
};
#define CLI_NO_FIGURE .value = (double)NAN, .low = (double)NAN, .high = (double)NAN

/* A finding; it owns its texts. */
struct cli_finding_line {
    enum cli_check_kind kind;
    char *text; /* one line: what is wrong, the limit, the value, the key */
    char *label, *name, *key;
    double value, low, high, excess;
};

enum cli_check_state { CLI_CHECK_HOLDS, CLI_CHECK_FAILS, CLI_CHECK_EXCUSED };

struct cli_check {
    enum cli_check_kind kind;
    enum cli_check_state state;
    char *name;           /* "LABEL keeps findable" */
    char *excuse;         /* the conditions that excuse it */
    size_t first, number; /* findings */
};

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
    int64_t run; /* its number in the database; 0: not stored */
    int64_t elapsed_ms, created_unix_s;
    struct cli_check *checks;
    size_t check_count, check_capacity, failed_count;
    struct cli_finding_line *findings;
    size_t finding_count, finding_capacity;
    struct store_baseline held;  /* the baseline it is compared with; the texts of `info` are not kept */
    bool has_baseline, is_exact; /* is_exact: digest, seed and scenario are the baseline's, so each figure
                                    must be equal */
    const char *cause; /* the reason given for a metric that differs although the digest is equal; constant */
    struct cli_suspect *suspects;
    size_t suspect_count;
    _Atomic size_t suspects_left;
    char **notes; /* remarks that are not failures */
    size_t note_count, note_capacity;
};

struct cli_gate {
    struct cli_checked *items; /* in the order of the command line */
    size_t count;
    const char *database; /* NULL: nothing is stored */
    const char *baseline; /* NULL: there is none */
    const char *junit;    /* NULL: none was requested */
    uint64_t seeds;       /* number of seeds in addition to the scenario's own, for intervals */
    uint64_t confirmed; /* the number of seeds that confirmed a drifted metric; 0: no metric was suspected */
    bool is_update, is_updated;
    bool digest_counts; /* a changed digest is a failure */
    bool is_quiet, is_json;
    uint32_t workers;
    struct cli_signals signals;
};

size_t cli_gate_checks(const struct cli_gate *gate);
size_t cli_gate_failed(const struct cli_gate *gate);

/* --- check.c: lists that grow; all return false when out of memory */

/* Begins a check; it passes unless a finding is added. */
bool cli_check_begin(struct cli_checked *item, enum cli_check_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool cli_check_excuse(struct cli_checked *item, const char *excuse);
/* Adds a finding to the last check, whose kind it has; takes copies. The text is made by the format. */
bool cli_check_fail(struct cli_checked *item, const struct cli_about *about, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool cli_check_note(struct cli_checked *item, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* --- check_judge.c: the checks that need no baseline */

bool cli_check_judge(struct cli_checked *item, struct sim_error *error);
/* Judges the expectations about tune's answer, which this computes. */
bool cli_check_tune(struct cli_gate *gate, struct cli_checked *item, struct sim_error *error);
/* " (largest: key K, bucket 4, 35,112 rows)" for a figure about the sizes of partitions, else "";
 * *key is then the name, else NULL. */
#define CLI_LARGEST_SIZE (LAB_KEY_NAME_SIZE + 96)
void cli_check_largest(const struct lab_result *result, const struct lab_strategy_result *strategy,
                       const char *metric, char *buffer, const char **key);

/* Checks that no limit, expectation or strategy of the baseline was loosened or removed. The texts of
 * `held.info` must be valid. */
bool cli_check_terms(struct cli_checked *item, struct sim_error *error);

/* --- check_baseline.c: comparison with the baseline, and making it */

/* Loads the baseline of the item, and checks what is demanded, and the digest; a scenario without baseline
 * fails. */
bool cli_check_digest(struct cli_checked *item, const struct cli_gate *gate, struct store *store,
                      struct sim_error *error);

/* NULL: there is no strategy of this label. */
const struct lab_strategy_result *cli_check_strategy(const struct lab_result *result, const char *label);
/* Finds the metrics that are outside at the scenario's own seed, in items whose digest changed. */
bool cli_check_suspect(struct cli_checked *item, struct sim_error *error);
/* Runs further seeds until each suspect was inside at one seed (cleared), or outside on the same side at
 * enough seeds (confirmed). */
bool cli_check_confirm(struct cli_gate *gate, struct sim_error *error);
/* Checks the figures of each strategy. */
bool cli_check_figures(struct cli_checked *item, const struct cli_gate *gate, struct sim_error *error);
/* Makes baselines of all scenarios, by running further seeds. */
bool cli_check_update(struct cli_gate *gate, struct sim_error *error);

/* --- check.c: runs scenarios at several seeds in parallel */

/* Whether the run of item `index` at seed + offset is still needed; called on any thread. */
typedef bool cli_check_wanted(void *context, size_t index, uint64_t offset);
/* Takes ownership of the result of a run; NULL: the run was not needed. Calls do not overlap; those of an
 * item come in the order of seeds. */
typedef bool cli_check_take(void *context, size_t index, uint64_t offset, struct lab_result *result,
                            int64_t elapsed_ms, struct sim_error *error);
/* Runs every item at the offsets first to first + number - 1. */
bool cli_check_run(struct cli_gate *gate, uint64_t first, uint64_t number, cli_check_wanted *wanted,
                   cli_check_take *take, void *context, struct sim_error *error);

/* --- check_report.c */

bool cli_check_print(const struct cli_gate *gate, struct sim_error *error);
/* Warns on stderr of each scenario of which nothing was checked, unless it is for a baseline. */
void cli_check_warn(const struct cli_gate *gate);
json_t *cli_check_json(const struct cli_gate *gate); /* NULL when out of memory */
bool cli_check_junit(const struct cli_gate *gate, struct sim_error *error);

#endif
