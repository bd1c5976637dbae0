/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many seeds on several threads, and on other ranks. Seeds are taken and summed up in their order, whichever
 * is first, so that what a campaign finds does not depend on how many there are. */
#ifndef CLI_CAMPAIGN_H
#define CLI_CAMPAIGN_H

#include "cli/execute.h"
#include "lab/fuzz.h"
#include "lab/team.h"

/* A seed that another rank runs. */
#define CLI_SERVICE_SEED LAB_SERVICES

/* A guarantee that a seed broke. */
struct cli_breach {
    uint64_t seed;
    char label[LAB_LABEL_SIZE_MAX + 1]; /* of the strategy */
    enum lab_oracle oracle;
    struct lab_violation violation;
    int64_t since_ns;            /* of the first violation, from the start of the run */
    char key[LAB_KEY_NAME_SIZE]; /* "": of no single key */
};

struct cli_campaign {
    /* What is asked. */
    const struct lab_fuzz_base *base;
    uint64_t first, last; /* at most INT64_MAX */
    int64_t for_ms;       /* no seed is summed up after the first that comes later; 0: all are */
    uint32_t jobs;
    struct lab_team team;
    bool is_quiet;
    bool keeps_going; /* past the first broken guarantee */
    /* What was found, up to the first broken guarantee or to the end. */
    struct lab_fuzz_tally tally;
    struct cli_breach *breaches; /* by seed */
    size_t breach_count, breach_capacity;
    int64_t begin_ms, elapsed_ms;
    bool is_out_of_time;
};

/* Between cli_signals_hold() and release. A signal ends it early: true, and signals->caught is set. False
 * when a seed could not be run at all: that of the smallest such seed is the error. */
bool cli_campaign_run(struct cli_campaign *campaign, struct cli_signals *signals, struct sim_error *error);
void cli_campaign_clear(struct cli_campaign *campaign);
/* CLI_SERVICE_SEED, on the other side. */
bool cli_campaign_serve(struct ranks_task *task, const struct ranks_bytes *request,
                        struct ranks_bytes *answer, struct sim_error *error);
/* Describes the breach of a result; false when out of memory or when the trace of its keys cannot be read. */
bool cli_breach_describe(const struct lab_scenario *scenario, const struct lab_result *result,
                         const struct lab_breach *breach, struct cli_breach *out, struct sim_error *error);

#endif
