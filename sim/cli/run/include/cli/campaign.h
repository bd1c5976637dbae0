/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs many seeds on several threads, and on other ranks. Seeds are started and added up in order, so the
 * result of a campaign does not depend on the number of threads or ranks. */
#ifndef CLI_CAMPAIGN_H
#define CLI_CAMPAIGN_H

#include "cli/execute.h"
#include "lab/fuzz.h"
#include "lab/team.h"

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
    struct lab_fuzz_base own; /* a copy, for the order to other ranks */
    uint64_t first, last;     /* at most INT64_MAX */
    int64_t for_ms; /* time limit: the first seed that ends after it is the last one counted; 0: no limit */
    uint32_t jobs;
    struct lab_team team;
    bool is_quiet;
    bool keeps_going; /* continue after the first broken guarantee */
    /* The results, up to the first broken guarantee or to the end. */
    struct lab_fuzz_tally tally;
    struct cli_breach *breaches; /* in the order of seeds */
    size_t breach_count, breach_capacity;
    int64_t begin_ms, elapsed_ms;
    bool is_out_of_time;
};

/* Runs the campaign while the signals are held. A signal ends it early; it then returns true, and
 * signals->caught is set. Returns false when a seed could not be run; the error is that of the smallest such
 * seed. */
bool cli_campaign_run(struct cli_campaign *campaign, struct cli_signals *signals, struct sim_error *error);
void cli_campaign_clear(struct cli_campaign *campaign);
extern lab_team_service cli_campaign_serve; /* another rank: runs seeds */
/* Describes the breach of a result; false when out of memory or when the trace of its keys cannot be read. */
bool cli_breach_describe(const struct lab_scenario *scenario, const struct lab_result *result,
                         const struct lab_breach *breach, struct cli_breach *out, struct sim_error *error);

#endif
