/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A scenario's text from its file, and the end of a scenario's life. */
#include "lab/scenario.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/file.h"

#define FILE_SIZE_MAX ((size_t)1 << 20)

bool lab_scenario_text(const char *path, char **text, size_t *size, struct sim_error *error)
{
    *text = NULL;
    *size = 0;
    int reason;
    char why[SIM_REASON_SIZE];
    FILE *file = sim_input_stream(path, &reason);
    if (file == NULL && reason == SIM_NOT_REGULAR)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s:1:1: not a regular file; name a scenario file, or '-' for standard input", path);
    if (file == NULL && reason == EISDIR)
        return sim_fail(error, SIM_ERROR_INPUT, "%s:1:1: is a directory; name a scenario file in it", path);
    if (file == NULL)
        return sim_fail(error, SIM_ERROR_INPUT, "%s:1:1: cannot be opened: %s; check the name and its rights",
                        path, sim_input_reason(reason, why, sizeof why));
    errno = 0;
    char *bytes = malloc(FILE_SIZE_MAX + 1);
    if (bytes == NULL) {
        fclose(file);
        return sim_fail_memory(error);
    }
    *size = fread(bytes, 1, FILE_SIZE_MAX + 1, file);
    int problem = ferror(file) ? errno : 0;
    fclose(file);
    if (problem == 0 && *size <= FILE_SIZE_MAX) {
        *text = bytes;
        return true;
    }
    free(bytes);
    if (problem != 0)
        return sim_fail(error, SIM_ERROR_INPUT, "%s:1:1: cannot be read: %s; check the file", path,
                        strerror(problem));
    return sim_fail(error, SIM_ERROR_INPUT,
                    "%s:1:1: more than 1 MiB; a scenario is a short text, check that this is one", path);
}

void lab_scenario_destroy(struct lab_scenario *scenario)
{
    if (scenario == NULL)
        return;
    free(scenario->path);
    free(scenario->text);
    free(scenario->overrides);
    free(scenario->name);
    free(scenario->about);
    free(scenario->trace_path);
    free(scenario->like_path);
    free(scenario->workload.spikes);
    free(scenario->faults);
    for (size_t i = 0; i < scenario->strategy_count; i++)
        free(scenario->strategies[i].label);
    free(scenario->strategies);
    for (size_t i = 0; i < scenario->observed_count; i++) {
        free(scenario->observed[i].label);
        free(scenario->observed[i].path);
        free(scenario->observed[i].table);
    }
    free(scenario->observed);
    for (size_t i = 0; i < scenario->expect_count; i++)
        lab_expect_clear(&scenario->expects[i]);
    free(scenario->expects);
    free(scenario);
}
