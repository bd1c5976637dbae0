/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer of `tune SCENARIO`: in sentences, as a table, and as JSON. */
#ifndef CLI_CONTEST_ANSWER_H
#define CLI_CONTEST_ANSWER_H

#include <jansson.h>

#include "reports/option.h"
#include "tune/contest.h"

/* A text of limited size; text that does not fit is truncated. */
#define CLI_SAYING_SIZE 4096
struct cli_saying {
    char buffer[CLI_SAYING_SIZE];
    size_t used;
};
void cli_say(struct cli_saying *saying, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints the relevant settings, one per line; when out of memory nothing is printed. */
bool cli_contest_table(const struct tune_contest *contest, struct sim_error *error);
/* The indices of the entrants that the table lists, in its order; the caller must free *out. Returns false
 * when out of memory. */
bool cli_contest_listed(const struct tune_contest *contest, size_t **out, size_t *count);

/* The answer, made from the listed settings; the caller must free it with report_answer_free(). NULL when out
 * of memory. There must be a recommendation. */
struct report_answer *cli_contest_answer(const struct tune_contest *contest);
/* Notes beside the answer, one sentence each: a lead that is too short, no partition that ended, settings
 * left out. "" when there are none. */
void cli_contest_notes(const struct tune_contest *contest, struct cli_saying *out);
/* Without a recommendation: fails with SIM_ERROR_CHECK, and a text that names the setting that came nearest,
 * what it fails by, and the remedy. */
bool cli_contest_refuse(const struct tune_contest *contest, struct sim_error *error);

/* NULL when out of memory. */
json_t *cli_contest_json(const struct tune_contest *contest);

#endif
