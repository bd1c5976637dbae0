/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer of `tune SCENARIO`: in sentences, as a table, as JSON, and as a chart. */
#ifndef CLI_CONTEST_ANSWER_H
#define CLI_CONTEST_ANSWER_H

#include <jansson.h>

#include "cli/base.h"
#include "reports/arena.h"
#include "reports/front.h"
#include "reports/option.h"
#include "tune/contest.h"

/* Formats a number with this many digits, rounded up. */
void cli_round_up(double value, int digits, char *buffer);

/* Prints the relevant settings, one per line. */
void cli_contest_table(const struct tune_contest *contest);
/* The entrants that the table lists, in its order; the caller must free them. */
const struct tune_entrant **cli_contest_listed(const struct tune_contest *contest, size_t *count);

/* The answer, made from the listed settings. There must be a recommendation. */
void cli_contest_answer(const struct tune_contest *contest, struct report_arena *arena,
                        struct report_answer *out);
/* Notes beside the answer, one sentence each: a lead that is too short, no partition that ended, settings
 * left out. "" when there are none. */
void cli_contest_notes(const struct tune_contest *contest, GString *out);
/* Without a recommendation: fails with SIM_ERROR_CHECK, and a text that names the setting that came nearest,
 * what it fails by, and the remedy. */
bool cli_contest_refuse(const struct tune_contest *contest, struct sim_error *error);

json_t *cli_contest_json(const struct tune_contest *contest);

/* --- the chart: the settings within the limits, by cost and partition size. It uses only the answer's JSON.
 * Texts are owned by the answer, which must outlive the struct. */
struct cli_contest_front {
    struct report_front front; /* without points: there is no chart */
    struct report_front_point points[REPORT_FRONT_MAX];
};
/* *out must not be moved while it is used. */
void cli_contest_front_make(const json_t *answer, struct cli_contest_front *out);

#endif
