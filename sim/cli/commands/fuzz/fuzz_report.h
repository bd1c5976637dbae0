/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a campaign found, for people and for machines. */
#ifndef CLI_FUZZ_REPORT_H
#define CLI_FUZZ_REPORT_H

#include <jansson.h>

#include "breach.h"
#include "cli/campaign.h"

/* "bucketlab fuzz my.yaml --seeds 17..17", for a shell; malloc'ed, NULL when out of memory. */
char *cli_fuzz_replay(const struct lab_fuzz_base *base, uint64_t seed);
/* "bucketlab fuzz my.yaml --seeds 1001.. --for 60s": what a campaign left untried, options that find nothing
 * aside. */
char *cli_fuzz_rest(const struct cli_campaign *campaign);
/* finding->path is NULL when nothing was shrunk; else replay is the line above for its seed. rest may be
 * NULL.
 */
void cli_fuzz_print(const struct cli_campaign *campaign, const char *replay, const char *rest,
                    const struct cli_finding *finding);
/* Takes `baseline` over. NULL when out of memory, or when that is NULL. */
json_t *cli_fuzz_json(const struct cli_campaign *campaign, const struct lab_fuzz_base *base,
                      const struct cli_finding *finding, json_t *baseline);

/* --- guarantees.c: who guarantees what, and unless what, as the table of a page (docs/oracles.md). */
void cli_guarantees_print(void);

#endif
