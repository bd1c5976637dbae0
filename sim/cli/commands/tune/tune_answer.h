/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer of `tune --rows`: as JSON, and as a table with what speaks for the recommended setting. */
#ifndef CLI_TUNE_ANSWER_H
#define CLI_TUNE_ANSWER_H

#include <jansson.h>

#include "tune/search.h"

struct cli_tune_answer {
    struct tune_goal goal;
    struct tune_chances chances;
    struct tune_found found; /* with a fit */
};

json_t *cli_tune_json(const struct cli_tune_answer *answer);
void cli_tune_print(const struct cli_tune_answer *answer);

/* "9 bits", "1 bit"; "one row in 549" unless only bits are in question. */
void cli_tune_chance(const struct tune_chances *chances, uint64_t one_in, char *buffer, size_t size);
/* "0.21 %", with so many digits and two more near 100 %; "<1e-28 %" where the distribution's own are not
 * sure. */
void cli_tune_share(double share, int digits, char *buffer);
/* The same of a share above `limit`, with as many digits as tell it from that. */
void cli_tune_share_above(double share, double limit, char *buffer);
/* Exponent of a power of 2; -1 for another number. */
int cli_tune_bits(uint64_t one_in);

#endif
