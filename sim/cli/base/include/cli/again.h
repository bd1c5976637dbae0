/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the scenario of a stored run again.
 *
 * A database may be of unknown origin, so its scenarios read no file outside the folders of the database, of
 * --files, and of the scenario, if that is still there as it was stored. */
#ifndef CLI_AGAIN_H
#define CLI_AGAIN_H

#include "lab/scenario.h"
#include "store/store.h"

#define CLI_OPTION_FILES                                                                                     \
    {                                                                                                        \
        "files", "DIR", "a stored scenario may read the files of this folder too"                            \
    }

/* Applies the run's overrides, and `more`. files: the value of --files, or NULL. SIM_ERROR_INPUT when this
 * version of the program refuses what another version stored, or a file is elsewhere. */
bool cli_scenario_again(const struct store_run_info *info, const char *database, const char *files,
                        const struct lab_override *more, uint64_t seed, struct lab_scenario **out,
                        struct sim_error *error);

#endif
