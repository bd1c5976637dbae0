/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CLI_CONTEST_REGIONS_H
#define CLI_CONTEST_REGIONS_H

#include "contest_views.h"

/* The chart of regions, where more than one kind can be the cheapest. */
bool cli_contest_regions_make(const json_t *answer, struct cli_contest_views *out, struct sim_error *error);

#endif
