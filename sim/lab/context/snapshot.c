/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saves the state of a part of a run, and finds the state that fits a scenario. */
#include "lab/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bucketing/hash.h"
#include "kernel/digest.h"
#include "kernel/file.h"
#include "workload/trace_files.h"

/* Version of the layout. Raise it whenever a part archives something different. */
#define LAYOUT     21u
#define READ_BYTES 65536u

/* Text, overrides and seed determine a run. */
static uint64_t kind_of(const struct lab_scenario *scenario)
{
    uint64_t kind = sim_digest_chain(LAYOUT, scenario->seed);
    kind = sim_digest_chain(kind, bk_murmur3_128(scenario->text, scenario->text_size, 0).h1);
    return sim_digest_chain(kind, bk_murmur3_128(scenario->overrides, strlen(scenario->overrides), 0).h1);
}

void lab_snapshot_begin(const struct lab_scenario *scenario, struct sim_archive *archive)
{
    sim_archive_begin_save(archive, kind_of(scenario));
}

void lab_snapshot_put(const struct lab_run_context *context, uint32_t part, uint32_t parts,
                      struct sim_archive *archive)
{
    const struct lab_snapshots *snapshots = context->snapshots;
    unsigned char *data;
    size_t size;
    sim_archive_finish_save(archive, &data, &size, NULL);
    snapshots->put(snapshots->context, part, parts, data, size);
    free(data);
}

bool lab_snapshot_find(const struct lab_run_context *context, const struct lab_scenario *scenario,
                       uint32_t part, struct sim_archive *archive, bool *is_there, struct sim_error *error)
{
    const struct lab_snapshots *snapshots = context->snapshots;
    *is_there = false;
    for (size_t i = 0; snapshots != NULL && i < snapshots->kept_count; i++) {
        const struct lab_kept *kept = &snapshots->kept[i];
        if (kept->part != part)
            continue;
        *is_there = sim_archive_begin_load(archive, kept->data, kept->size, kind_of(scenario), error);
        return *is_there;
    }
    return true;
}

bool lab_snapshot_check(const struct lab_scenario *scenario, const struct lab_kept *kept,
                        struct sim_error *error)
{
    struct sim_archive archive;
    return sim_archive_begin_load(&archive, kept->data, kept->size, kind_of(scenario), error);
}

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

bool lab_snapshot_sources(const struct lab_scenario *scenario, uint64_t *out, struct sim_error *error)
{
    uint64_t digest = 0;
    *out = 0;
    if (scenario->trace_path != NULL && !add_trace(scenario->trace_path, &digest, error))
        return false;
    if (scenario->like_path != NULL && !add_file(scenario->like_path, &digest, error))
        return false;
    for (size_t i = 0; i < scenario->observed_count; i++) {
        if (!add_file(scenario->observed[i].path, &digest, error))
            return false;
    }
    *out = digest;
    return true;
}
