/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "again.h"

#include <stdlib.h>
#include <string.h>

static struct lab_override *split_lines(char *text, size_t *count);

bool cli_scenario_again(const struct store_run_info *info, uint64_t seed, struct lab_scenario **out,
                        struct sim_error *error)
{
    size_t count = 0;
    char *text = strdup(info->overrides);
    struct lab_override *overrides = text == NULL ? NULL : split_lines(text, &count);
    bool is_fine = overrides == NULL
                       ? sim_fail_memory(error)
                       : lab_scenario_parse(info->scenario_path, info->scenario_text,
                                            strlen(info->scenario_text), overrides, count, &seed, out, error);
    free(overrides);
    free(text);
    return is_fine;
}

/* Ends each line of text in place and points at it. */
static struct lab_override *split_lines(char *text, size_t *count)
{
    size_t most = 1;
    for (const char *c = text; *c != '\0'; c++)
        most += *c == '\n';
    struct lab_override *lines = calloc(most, sizeof *lines);
    *count = 0;
    while (lines != NULL && *text != '\0') {
        lines[(*count)++].text = text;
        text += strcspn(text, "\n");
        if (*text == '\n')
            *text++ = '\0';
    }
    return lines;
}
