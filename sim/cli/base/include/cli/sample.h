/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The option --sample FILE: measures how well a user's rows compress, and sets `row.compression` of the
 * scenario to that ratio. It is stored with the run, so the file is not needed again. */
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

/* If --sample is given, appends an override to those of cli_overrides(), which have room for it, and raises
 * *count. Its text is in `text`, which must have CLI_SAMPLE_TEXT_SIZE bytes. Prints the result to stderr,
 * unless --quiet is given. */
bool cli_sample_override(const struct cli_args *args, const char *scenario_path, const uint64_t *seed,
                         struct lab_override *overrides, size_t *count, char *text, struct sim_error *error);

#endif
