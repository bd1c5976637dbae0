/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cheapest kind of strategy at other prices and rates of reads, as plain data, made from the JSON of an
 * answer of `tune SCENARIO`. */
#ifndef CLI_CONTEST_REGIONS_H
#define CLI_CONTEST_REGIONS_H

#include <jansson.h>

#include "kernel/error.h"
#include "reports/regions.h"

struct cli_contest_plane;

/* Texts are owned by the answer, which must outlive the struct. A zeroed struct is empty. */
struct cli_contest_regions {
    bool is_shown; /* more than one kind can be the cheapest */
    struct report_regions data;
    struct cli_contest_plane *plane;
    char title[160];
};

/* Makes the regions. *out must be zeroed before, and must not be moved while it is used. The caller must call
 * cli_contest_regions_free() even after a failure. */
bool cli_contest_regions_make(const json_t *answer, struct cli_contest_regions *out, struct sim_error *error);
void cli_contest_regions_free(struct cli_contest_regions *regions);

#endif
