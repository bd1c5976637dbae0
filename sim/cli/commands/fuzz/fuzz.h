/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The two parts of a fuzz campaign's report: the first broken guarantee, shrunk, and the comparison with a
 * stored campaign. */
#ifndef CLI_FUZZ_H
#define CLI_FUZZ_H

#include <glib.h>
#include <jansson.h>

#include "cli/run.h"
#include "lab/fuzz.h"
#include "lab/team.h"

/* --- fuzz.c: seeds are started and added up in order, so the result does not depend on the number of threads
 * or ranks */

/* A guarantee that a seed broke. */
struct cli_breach {
    uint64_t seed;
    char label[LAB_LABEL_SIZE_MAX + 1]; /* of the strategy */
    enum lab_oracle oracle;
    struct lab_violation violation;
    int64_t since_ns;            /* time of the first violation, since the start of the run */
    char key[LAB_KEY_NAME_SIZE]; /* "": the violation is not of a single key */
};

struct cli_campaign {
    /* Set by the caller. */
    const struct lab_fuzz_base *base;
    uint32_t held;        /* of base, for other ranks */
    uint64_t first, last; /* at most INT64_MAX */
    int64_t for_ms; /* time limit: the first seed that ends after it is the last one counted; 0: no limit */
    uint32_t jobs;
    struct lab_team team;
    bool keeps_going; /* continue after the first broken guarantee */
    /* The results, up to the first broken guarantee or to the end. */
    struct lab_fuzz_tally tally;
    GArray *breaches; /* struct cli_breach, in the order of seeds */
    int64_t begin_ms, elapsed_ms;
    bool is_out_of_time;
};

/* Describes the breach of a result; false when out of memory or when the trace of its keys cannot be read. */
bool cli_breach_describe(const struct lab_scenario *scenario, const struct lab_result *result,
                         const struct lab_breach *breach, struct cli_breach *out, struct sim_error *error);

/* --- finding.c: reports a broken guarantee: shrinks the scenario and writes it to a file, with the event
 * trace of the key and the command that replays it */

struct cli_finding {
    struct cli_breach before, after; /* before and after shrinking */
    char *path;                      /* path of the written file */
    char *text;                      /* text of the scenario in the file */
    uint32_t tries;                  /* number of tests while shrinking */
    GQueue lines;                    /* the last lines of the event trace of the key */
};

/* Shrinks the scenario of the seed as long as the same oracle is broken, writes it into `folder`, which is
 * created if it is missing, and records its event trace. The file appears only when it is complete. A signal
 * ends the shrinking; the smallest scenario so far is still written. */
bool cli_finding_make(const struct cli_args *args, const struct lab_fuzz_base *base,
                      const struct cli_breach *breach, const char *replay, const char *folder,
                      struct cli_finding *out, struct sim_error *error);
/* The beginning of the file's name: "fuzz", or the name of the scenario's file without its extension. The
 * caller must free it. */
char *cli_finding_stem(const struct lab_fuzz_base *base);
void cli_finding_print(const struct cli_finding *finding);
void cli_finding_clear(struct cli_finding *finding);

/* --- baseline.c: if a protocol has no guarantee, or a violation is excused, the violation is not a failure,
 * but the share of seeds with such violations may get worse. Each protocol and oracle is a cell: the number
 * of judged seeds, and the number of these with a violation that no guarantee covers, or with too few
 * acknowledged rows. A baseline is a text file of cells. A cell is worse when Fisher's exact test of both
 * shares is significant, at a level that is divided among all cells. */

/* The probability that any cell is reported as worse although nothing has changed; and likewise as better. */
#define CLI_FUZZ_FALSE_ALARM 1e-6

struct cli_fuzz_cell {
    uint64_t seeds, violated;
};

struct cli_fuzz_shift {
    enum bk_kind kind;
    unsigned protocol;
    unsigned share; /* enum lab_oracle, or enum lab_fuzz_share */
    struct cli_fuzz_cell before, now;
    double chance; /* p-value: the probability of this or a larger shift, if nothing has changed */
};

struct cli_fuzz_baseline {
    const char *path; /* NULL: there is none */
    bool is_update;
    uint64_t identity; /* identity of the current campaign */
    uint64_t first, last;
    json_t *stored; /* the file */
    size_t compared;
    GArray *worse, *better; /* struct cli_fuzz_shift, the smallest p-value first; NULL: not compared */
};

/* Reads the file, unless it will be replaced, and refuses the baseline of another campaign. */
bool cli_fuzz_baseline_read(struct cli_fuzz_baseline *baseline, const struct lab_fuzz_base *base,
                            struct sim_error *error);
/* Sets `worse` and `better`. */
bool cli_fuzz_baseline_compare(struct cli_fuzz_baseline *baseline, const struct lab_fuzz_tally *tally,
                               struct sim_error *error);
bool cli_fuzz_baseline_write(const struct cli_fuzz_baseline *baseline, const struct cli_campaign *campaign,
                             struct sim_error *error);
/* cli_fuzz_baseline_print() prints the comparison. cli_fuzz_baseline_judge() fails with SIM_ERROR_CHECK, and
 * names the worst cell, if any cell is worse. */
void cli_fuzz_baseline_print(const struct cli_fuzz_baseline *baseline);
bool cli_fuzz_baseline_judge(const struct cli_fuzz_baseline *baseline, struct sim_error *error);
/* The field `baseline`; NULL when out of memory. */
json_t *cli_fuzz_baseline_json(const struct cli_fuzz_baseline *baseline);
void cli_fuzz_baseline_clear(struct cli_fuzz_baseline *baseline);

#endif
