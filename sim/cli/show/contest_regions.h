/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which kind is the cheapest at other prices and rates of reads, as plain data, from the JSON of an answer of
 * `tune SCENARIO`. */
#ifndef CLI_CONTEST_REGIONS_H
#define CLI_CONTEST_REGIONS_H

#include <jansson.h>

#include "kernel/error.h"
#include "reports/regions.h"

struct cli_contest_plane;

/* Texts are the answer's, and live as long. Zeroed: none. */
struct cli_contest_regions {
    bool is_shown; /* more than one kind can be the cheapest */
    struct report_regions data;
    struct cli_contest_plane *plane;
    char title[160];
};

/* *out stays where it is for as long as it is used, and is zeroed before; cli_contest_regions_free() in
 * either case. */
bool cli_contest_regions_make(const json_t *answer, struct cli_contest_regions *out, struct sim_error *error);
void cli_contest_regions_free(struct cli_contest_regions *regions);

#endif
