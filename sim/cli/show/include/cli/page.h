/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --format html: the page of one run, with the data that the page shows in addition to the result. */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include <jansson.h>

#include "cli/files.h"
#include "store/store.h"

struct cli_page {
    const struct lab_result *result;
    const struct store_run_info *info;
    const char *database;
    const json_t *answer; /* answer of tune (contest_json.c); NULL without one */
};

/* Writes the page, if one was requested. */
bool cli_page_write(struct cli_charts *charts, const struct cli_page *page, struct sim_error *error);

#endif
