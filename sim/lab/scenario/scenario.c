/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads a scenario's text from its file, and destroys scenarios. */
#include "lab/scenario.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/file.h"

#define FILE_SIZE_MAX ((size_t)1 << 20)

/* Whether a line consists of fields between delimiters, and is not a field of a scenario. */
static bool is_row(const char *line, size_t size, char delimiter)
{
    for (size_t i = 0; i < size; i++) {
        if (line[i] == ':' && (i + 1 == size || line[i + 1] == ' ' || line[i + 1] == '\r'))
            return false;
    }
    return size > 0 && memchr(line, delimiter, size) != NULL && strchr("#{[-%", line[0]) == NULL;
}

/* Whether the text is a trace: two lines of CSV or of JSON objects, or compressed data. */
static bool is_rows(const char *text, size_t size)
{
    static const char delimiters[] = ",;\t|";
    if (size >= 4 && (memcmp(text, "\x1f\x8b", 2) == 0 || memcmp(text, "\x28\xb5\x2f\xfd", 4) == 0))
        return true;
    const char *end = memchr(text, '\n', size);
    if (end == NULL)
        return false;
    const char *second = end + 1;
    size_t left = size - (size_t)(second - text);
    const char *second_end = left == 0 ? NULL : memchr(second, '\n', left);
    size_t second_size = second_end == NULL ? left : (size_t)(second_end - second);
    if (text[0] == '{' && second_size > 0 && second[0] == '{')
        return true;
    for (const char *c = delimiters; *c != '\0'; c++) {
        if (is_row(text, (size_t)(end - text), *c) && is_row(second, second_size, *c))
            return true;
    }
    return false;
}

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
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s:1:1: cannot be opened: %s; check the name and its permissions", path,
                        sim_input_reason(reason, why, sizeof why));
    errno = 0;
    char *bytes = malloc(FILE_SIZE_MAX + 1);
    if (bytes == NULL) {
        fclose(file);
        return sim_fail_memory(error);
    }
    *size = fread(bytes, 1, FILE_SIZE_MAX + 1, file);
    int problem = ferror(file) ? errno : 0;
    fclose(file);
    if (problem == 0 && is_rows(bytes, *size)) {
        free(bytes);
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s:1:1: this is a trace, not a scenario; 'bucketlab trace %s --scenario FILE' "
                        "describes it, and writes a scenario for it",
                        path, path);
    }
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
    wl_trace_format_clear(&scenario->trace_format);
    free(scenario->like_path);
    free(scenario->workload.spikes);
    sim_sizes_destroy(scenario->workload.sizes);
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
    for (size_t i = 0; i < scenario->tune_expect_count; i++)
        lab_tune_expect_clear(&scenario->tune_expects[i]);
    free(scenario->tune_expects);
    free(scenario);
}
