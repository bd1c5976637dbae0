/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports a broken guarantee: shrinks the scenario and writes it to a file, with the event trace of the key
 * and the command that replays it. */
#ifndef CLI_BREACH_H
#define CLI_BREACH_H

#include "cli/campaign.h"

struct cli_finding {
    struct cli_breach before, after; /* before and after shrinking */
    char *path;                      /* path of the written file */
    char *text;                      /* text of the scenario in the file */
    uint32_t tries;                  /* number of tests while shrinking */
    char **lines;                    /* the last lines of the event trace of the key */
    size_t line_count;
};

/* Shrinks the scenario of the seed as long as the same oracle is broken, writes it into `folder`, which is
 * created if it is missing, and records its event trace. The file appears only when it is complete. A signal
 * ends the shrinking; the smallest scenario so far is still written. */
bool cli_finding_make(const struct lab_fuzz_base *base, const struct cli_breach *breach, const char *replay,
                      const char *folder, bool is_quiet, struct cli_signals *signals, struct cli_finding *out,
                      struct sim_error *error);
#define CLI_FINDING_NAME_SIZE 64
/* The beginning of the file's name: "fuzz", or the name of the scenario's file without its extension. */
void cli_finding_stem(const struct lab_fuzz_base *base, char *buffer);
void cli_finding_print(const struct cli_finding *finding);
void cli_finding_clear(struct cli_finding *finding);

#endif
