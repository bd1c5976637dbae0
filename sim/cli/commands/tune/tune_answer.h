/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the answer of `tune --rows`: as JSON, and as a table with the reasons for the recommended
 * setting. */
#ifndef CLI_TUNE_ANSWER_H
#define CLI_TUNE_ANSWER_H

#include <jansson.h>

#include "tune/odds.h"

struct cli_tune_answer {
    struct tune_goal goal;
    struct tune_chances chances;
    struct tune_found found; /* the settings found, with the recommended one */
};

json_t *cli_tune_json(const struct cli_tune_answer *answer);
void cli_tune_print(const struct cli_tune_answer *answer);

/* Formats a chance: "9 bits", "1 bit", or "one row in 549" if chances other than powers of two are
 * considered. */
void cli_tune_chance(const struct tune_chances *chances, uint64_t one_in, char *buffer, size_t size);
/* Formats a share in percent: "0.21 %", with this number of digits, and two more near 100 %; "<1e-28 %" below
 * the accuracy of the distribution. */
void cli_tune_share(double share, int digits, char *buffer);
/* Formats a share above `limit`, with enough digits to distinguish it from the limit. */
void cli_tune_share_above(double share, double limit, char *buffer);
/* The exponent of a power of 2; -1 for any other number. */
int cli_tune_bits(uint64_t one_in);

#endif
