/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A broken guarantee made plain: the scenario shrunk and kept as a file, the event trace of the key, and
 * the command that replays it. */
#ifndef CLI_BREACH_H
#define CLI_BREACH_H

#include "cli/campaign.h"

struct cli_finding {
    struct cli_breach before, after; /* as the seed broke it, and as the file does */
    char *path;                      /* of the file that was written */
    char *text;                      /* of the scenario in it */
    uint32_t tries;                  /* of shrinking */
    char **lines;                    /* the end of the event trace of the file's key */
    size_t line_count;
};

/* Shrinks the scenario of the seed for as long as the same oracle is broken, writes it into `folder` (made
 * when it is missing; whole or not at all), and takes its event trace. A signal ends the shrinking: what it
 * has come to is written all the same. */
bool cli_finding_make(const struct lab_fuzz_base *base, const struct cli_breach *breach, const char *replay,
                      const char *folder, bool is_quiet, struct cli_signals *signals, struct cli_finding *out,
                      struct sim_error *error);
#define CLI_FINDING_NAME_SIZE 64
/* What the name of the file begins with: "fuzz", or the name of the scenario's file without its ending. */
void cli_finding_stem(const struct lab_fuzz_base *base, char *buffer);
void cli_finding_print(const struct cli_finding *finding);
void cli_finding_clear(struct cli_finding *finding);

#endif
