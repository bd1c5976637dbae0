/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the stored scenario of a finished run again, for a command that repeats that run. */
#define _POSIX_C_SOURCE 200809L
#include "cli/again.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/text_file.h"

/* Whether the scenario is still in its folder. Only a file of the same size is opened. */
static bool is_in_place(const struct store_run_info *info)
{
    struct stat status;
    char *text = NULL;
    size_t size = 0, stored = strlen(info->scenario_text);
    bool is_same = stat(info->scenario_path, &status) == 0 && S_ISREG(status.st_mode) &&
                   (uintmax_t)status.st_size == stored &&
                   lab_scenario_text(info->scenario_path, &text, &size, NULL) && size == stored &&
                   memcmp(text, info->scenario_text, stored) == 0;
    free(text);
    return is_same;
}

bool cli_scenario_again(const struct store_run_info *info, const char *database, const char *files,
                        const struct lab_override *more, uint64_t seed, struct lab_scenario **out,
                        struct sim_error *error)
{
    char *own = cli_folder_of(database);
    char *beside = is_in_place(info) ? cli_folder_of(info->scenario_path) : NULL;
    *out = NULL;
    const char *folders[] = {own, files == NULL ? beside : files, files == NULL ? NULL : beside, NULL};
    bool is_fine =
        own != NULL ? lab_scenario_again_within(folders, info->scenario_path, info->scenario_text,
                                                info->overrides, more, more == NULL ? 0 : 1, seed, out, error)
                    : sim_fail_memory(error);
    free(own);
    free(beside);
    return is_fine;
}
