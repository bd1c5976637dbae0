/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the results of a campaign as text or as JSON. */
#ifndef CLI_FUZZ_REPORT_H
#define CLI_FUZZ_REPORT_H

#include <jansson.h>

#include "breach.h"
#include "cli/campaign.h"

/* The command that replays a seed, for a shell: "bucketlab fuzz my.yaml --seeds 17..17". malloc'ed; NULL when
 * out of memory. */
char *cli_fuzz_replay(const struct lab_fuzz_base *base, uint64_t seed);
/* The command for the seeds that a campaign did not run: "bucketlab fuzz my.yaml --seeds 1001.. --for 60s".
 * It leaves out options that do not change results. */
char *cli_fuzz_rest(const struct cli_campaign *campaign);
/* Prints the results. finding->path is NULL when nothing was shrunk; otherwise `replay` must be
 * cli_fuzz_replay() of its seed. rest may be NULL. */
void cli_fuzz_print(const struct cli_campaign *campaign, const char *replay, const char *rest,
                    const struct cli_finding *finding);
/* The results as JSON; takes ownership of `baseline`. NULL when out of memory, or when baseline is NULL. */
json_t *cli_fuzz_json(const struct cli_campaign *campaign, const struct lab_fuzz_base *base,
                      const struct cli_finding *finding, json_t *baseline);

/* --- guarantees.c: prints the table of guarantees and their exceptions for docs/oracles.md. */
void cli_guarantees_print(void);

#endif
