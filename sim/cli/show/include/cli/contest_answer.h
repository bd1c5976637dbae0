/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the answer of `tune SCENARIO`: as a table with the reasons for the recommended setting, and as
 * JSON. */
#ifndef CLI_CONTEST_ANSWER_H
#define CLI_CONTEST_ANSWER_H

#include <jansson.h>

#include "tune/contest.h"

/* From this CV on, the answer notes that partitions are uneven. */
#define CLI_CV_UNEVEN 0.5

/* A text of limited size; text that does not fit is truncated. */
#define CLI_SAYING_SIZE 4096
struct cli_saying {
    char buffer[CLI_SAYING_SIZE];
    size_t used;
};
void cli_say(struct cli_saying *saying, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* --- contest_table.c: the relevant settings, one per line; when out of memory nothing is printed */
bool cli_contest_table(const struct tune_contest *contest, struct sim_error *error);
/* The indices of the entrants that the table lists, in its order; the caller must free *out. Returns false
 * when out of memory. */
bool cli_contest_listed(const struct tune_contest *contest, size_t **out, size_t *count);
/* Formats a share in percent: "0.012". */
void cli_percent(double share, char *buffer);

/* --- contest_why.c: the answer in sentences */
/* Why the recommended setting is recommended, and what it costs. */
void cli_contest_why(const struct tune_contest *contest, struct cli_saying *out);
/* The multiple of the rate at which the recommended setting still stays within the limits. */
void cli_contest_margin(const struct tune_contest *contest, const struct tune_margin *margin,
                        struct cli_saying *out);
/* Those of all settings that were tried at other rates. */
void cli_contest_margins(const struct tune_contest *contest, struct cli_saying *out);
/* Notes: too few partitions for the confidence, a trace whose rate is fixed, the least safe lead, a cheaper
 * setting that more seeds might show, settings whose partitions grow without end, and settings left out. */
void cli_contest_notes(const struct tune_contest *contest, struct cli_saying *out);
/* Without a recommendation: fails with SIM_ERROR_CHECK, and a text that names the limit that is exceeded and
 * the nearest limit that would suffice. */
bool cli_contest_refuse(const struct tune_contest *contest, struct sim_error *error);

/* --- contest_flip.c: the prices or rates at which another kind would be the cheapest */
void cli_contest_flip(const struct tune_contest *contest, struct cli_saying *out);

/* --- contest_horizon.c */

/* How many partitions are expected to exceed a limit, and when the first one does. If buckets are not needed
 * for a year or longer, the text begins with that. "" when nothing is known. */
void cli_contest_horizon(const struct tune_contest *contest, struct cli_saying *out);
/* The entrant `unbucketed`; NULL when it does not compete. */
const struct tune_entrant *cli_contest_unbucketed(const struct tune_contest *contest);
/* The number of days after the run for which `unbucketed` stays within the limits; NaN when it already
 * exceeds them, or does not compete. */
double cli_contest_unbucketed_days(const struct tune_contest *contest);
bool cli_contest_needs_buckets(const struct tune_contest *contest);

/* --- contest_json.c; NULL when out of memory */
json_t *cli_contest_json(const struct tune_contest *contest);

#endif
