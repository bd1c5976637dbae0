/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recognises whether the files that a scenario reads have changed. */
#include "lab/context.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bucketing/hash.h"
#include "kernel/digest.h"
#include "kernel/file.h"
#include "workload/trace.h"

#define READ_BYTES 65536u

/* Adds the content of a file to a hash. */
static bool add_file(const char *path, uint64_t *digest, struct sim_error *error)
{
    int number;
    char why[SIM_REASON_SIZE];
    FILE *file = sim_input_stream(path, &number);
    unsigned char *buffer = malloc(READ_BYTES);
    size_t size = 0, total = 0;
    if (buffer == NULL || file == NULL) {
        free(buffer);
        if (file == NULL)
            return sim_fail(error, SIM_ERROR_INPUT,
                            "%s: cannot be opened (%s); put it where the scenario names it", path,
                            sim_input_reason(number, why, sizeof why));
        fclose(file);
        return sim_fail_memory(error);
    }
    do {
        size = fread(buffer, 1, READ_BYTES, file);
        *digest = sim_digest_chain(*digest, bk_murmur3_128(buffer, size, total).h1);
        total += size;
    } while (size == READ_BYTES);
    bool is_read = ferror(file) == 0;
    fclose(file);
    free(buffer);
    return is_read ||
           sim_fail(error, SIM_ERROR_INPUT, "%s: cannot be read; check the file and its disk", path);
}

/* Adds a trace file or, if the trace is a folder, all of its files. */
static bool add_trace(const char *path, uint64_t *digest, struct sim_error *error)
{
    struct wl_trace_files files;
    bool ok = wl_trace_files_find(path, &files, error);
    for (size_t i = 0; ok && i < files.count; i++)
        ok = add_file(files.paths[i], digest, error);
    wl_trace_files_clear(&files);
    return ok;
}

bool lab_sources(const struct lab_scenario *scenario, uint64_t *out, struct sim_error *error)
{
    uint64_t digest = 0;
    *out = 0;
    if (scenario->trace_path != NULL && !add_trace(scenario->trace_path, &digest, error))
        return false;
    if (scenario->like_path != NULL && !add_file(scenario->like_path, &digest, error))
        return false;
    for (size_t i = 0; i < scenario->observed_count; i++) {
        if (!add_file(scenario->observed[i].settings.observed_file, &digest, error))
            return false;
    }
    *out = digest;
    return true;
}
