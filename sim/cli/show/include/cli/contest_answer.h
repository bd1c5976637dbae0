/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer of `tune SCENARIO`: as a table with what speaks for the recommended setting, and as JSON. */
#ifndef CLI_CONTEST_ANSWER_H
#define CLI_CONTEST_ANSWER_H

#include <jansson.h>

#include "tune/contest.h"

/* From this CV on a person should know that partitions are uneven. */
#define CLI_CV_UNEVEN 0.5

/* A text that grows up to its size; what does not fit is cut. */
#define CLI_SAYING_SIZE 4096
struct cli_saying {
    char buffer[CLI_SAYING_SIZE];
    size_t used;
};
void cli_say(struct cli_saying *saying, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* --- contest_table.c: the settings that matter, a line each; when out of memory nothing is printed */
bool cli_contest_table(const struct tune_contest *contest, struct sim_error *error);
/* Which entrants the table lists, in its order; *out is the caller's. False when out of memory. */
bool cli_contest_listed(const struct tune_contest *contest, size_t **out, size_t *count);
/* "0.012": in percent. */
void cli_percent(double share, char *buffer);

/* --- contest_why.c: in sentences */
/* Why it is recommended, and what it costs. */
void cli_contest_why(const struct tune_contest *contest, struct cli_saying *out);
/* At how many times the rate it still holds. */
void cli_contest_margin(const struct tune_contest *contest, const struct tune_margin *margin,
                        struct cli_saying *out);
/* What else is worth knowing: what grows without end, what costs nothing, what was not tried. */
void cli_contest_notes(const struct tune_contest *contest, struct cli_saying *out);
/* Without a recommendation: which limit binds, and the nearest that would do. SIM_ERROR_CHECK. */
bool cli_contest_refuse(const struct tune_contest *contest, struct sim_error *error);

/* --- contest_flip.c: what would make another kind the cheapest */
void cli_contest_flip(const struct tune_contest *contest, struct cli_saying *out);

/* --- contest_horizon.c */

/* How many partitions exceed a limit, and when the first one does; and first, where none is needed for a year
 * or longer, that buckets are not. "" where nothing is known. */
void cli_contest_horizon(const struct tune_contest *contest, struct cli_saying *out);
/* The plain unbucketed entrant; NULL: it does not compete. */
const struct tune_entrant *cli_contest_unbucketed(const struct tune_contest *contest);
/* For so many days after the run it stays within the limits; NaN: it does not now, or does not compete. */
double cli_contest_unbucketed_days(const struct tune_contest *contest);
bool cli_contest_needs_buckets(const struct tune_contest *contest);

/* --- contest_json.c; NULL when out of memory */
json_t *cli_contest_json(const struct tune_contest *contest);

#endif
