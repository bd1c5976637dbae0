/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stores the partial result of a run of the stream engine in the database, every second, so that the same
 * command resumes from it. A run of the cluster engine has none: its seed makes it again. */
#ifndef CLI_PARTIAL_H
#define CLI_PARTIAL_H

#include "lab/context.h"
#include "lab/scenario.h"
#include "store/outcomes.h"

struct cli_partial {
    struct lab_partial lab;
    const char *database;
    const struct lab_scenario *scenario;
    struct store *store; /* NULL: the run has no partial results */
    struct store_work work;
    struct store_outcome *known; /* the one from which the run resumes, if known_count is 1 */
    size_t known_count;
    bool is_quiet, has_sources;
    uint64_t sources; /* lab_sources(), if has_sources */
    int64_t begin_ms;
    _Atomic int64_t next_ms; /* when the next one is due, since the run began */
    _Atomic bool is_kept;    /* the database has one of this run */
    struct sim_error lost;   /* why the last one could not be stored */
};

/* The digests of a scenario's run, or of another work on it: `options` are a digest of its own options. Files
 * that the scenario reads are not part of them. */
struct store_work cli_work_of(const struct lab_scenario *scenario, const char *path, uint64_t options);

/* Finds the partial result of a run with this scenario, and says on stderr when the run resumes from it. The
 * caller must call cli_partial_close(), even when it fails, and for a zeroed struct. */
bool cli_partial_open(struct cli_partial *partial, const char *database, const struct lab_scenario *scenario,
                      const char *path, bool is_quiet, struct sim_error *error);
void cli_partial_close(struct cli_partial *partial);
/* Called several times a second while the run runs. */
void cli_partial_tick(struct cli_partial *partial, int64_t elapsed_ms);
/* Sets the error of a run that was interrupted, which says how to resume; returns false. */
bool cli_partial_stopped(const struct cli_partial *partial, struct sim_error *error);
/* Removes the partial results of this run, whose result is stored. */
bool cli_partial_forget(struct cli_partial *partial, struct sim_error *error);

#endif
