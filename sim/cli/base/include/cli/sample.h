/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --sample FILE: how well a user's own rows compress, as a change of the scenario. The ratio is measured once
 * and becomes `row.compression`, which is stored with the run, so that nobody needs the file again. */
#ifndef CLI_SAMPLE_H
#define CLI_SAMPLE_H

#include "cli/command.h"

#define CLI_OPTION_SAMPLE                                                                                    \
    {                                                                                                        \
        "sample", "FILE",                                                                                    \
            "rows of the table as CSV, as COPY TO writes them WITH\n"                                        \
            "HEADER = TRUE: they are compressed as Cassandra does it,\n"                                     \
            "and the ratio becomes row.compression"                                                          \
    }

#define CLI_SAMPLE_TEXT_SIZE 48

/* The overrides of cli_overrides() for this scenario: `--sample` adds one behind `*count`, where there is
 * room, whose text stands in `text`. Without the option nothing is done. What was found is told on stderr,
 * unless
 * --quiet. */
bool cli_sample_override(const struct cli_args *args, const char *scenario_path, const uint64_t *seed,
                         struct lab_override *overrides, size_t *count, char *text, struct sim_error *error);

#endif
