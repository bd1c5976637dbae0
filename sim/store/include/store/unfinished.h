/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Unfinished runs in the run database: their scenarios, and the states from which they can resume.
 *
 * An unfinished run has a number from the start. Each process that begins or resumes the run gets an attempt
 * number, one above that of the previous attempt. Writes by an older attempt are refused with
 * SIM_ERROR_CHECK, so that two processes cannot mix their states in one run. store_unfinished_end() turns it
 * into a finished run with the same number. */
#ifndef STORE_UNFINISHED_H
#define STORE_UNFINISHED_H

#include "store/store.h"

struct store_unfinished {
    int64_t run, attempt;
    bool is_stopped; /* false: a process is working on the run, or was killed while it did */
    char *scenario_name;
    uint64_t seed;
    uint64_t sources;                   /* lab_snapshot_sources() */
    int64_t created_unix_s, elapsed_ms; /* wall clock time of all attempts so far */
    char *version, *scenario_path, *scenario_text, *overrides;
    int64_t parts, bytes; /* number of its states, and their total size */
};

/* Begins a run: sets unfinished->run to its number (0 on failure) and attempt to 1. The texts are owned by
 * the caller. */
bool store_unfinished_begin(struct store *store, struct store_unfinished *unfinished,
                            struct sim_error *error);
/* Loads an unfinished run. run: its number; 0: the newest. *is_there is false when there is none. The caller
 * must free the texts with store_unfinished_clear(). */
bool store_unfinished_load(struct store *store, int64_t run, struct store_unfinished *out, bool *is_there,
                           struct sim_error *error);
void store_unfinished_clear(struct store_unfinished *unfinished);
/* Lists all unfinished runs, newest first. The caller must free *out with store_unfinished_free(). */
bool store_unfinished_list(struct store *store, struct store_unfinished **out, size_t *count,
                           struct sim_error *error);
void store_unfinished_free(struct store_unfinished *items, size_t count);
/* Begins the next attempt at the run, and sets unfinished->attempt to its number. */
bool store_unfinished_take(struct store *store, struct store_unfinished *unfinished, struct sim_error *error);
/* Stores the time that the run has taken so far, and that no process is working on it. */
bool store_unfinished_stop(struct store *store, const struct store_unfinished *unfinished,
                           struct sim_error *error);
/* Removes an unfinished run of which no state was stored. */
bool store_unfinished_drop(struct store *store, const struct store_unfinished *unfinished,
                           struct sim_error *error);
/* Stores the result and removes the unfinished run, in one transaction. info->number must be the number of
 * the unfinished run. */
bool store_unfinished_end(struct store *store, const struct store_unfinished *unfinished,
                          struct store_run_info *info, const struct lab_result *result,
                          struct sim_error *error);

/* Stores a state, which replaces the states of all parts p with p % parts == part, in one transaction. Also
 * stores unfinished->elapsed_ms. */
bool store_snapshot_put(struct store *store, const struct store_unfinished *unfinished, uint32_t part,
                        uint32_t parts, const unsigned char *data, size_t size, struct sim_error *error);
struct store_snapshot {
    uint32_t part;
    unsigned char *data;
    size_t size;
};
/* Loads the states of a run in order of parts, at most one per part. The caller must free *out with
 * store_snapshots_free(), and check that the states are intact (lab_snapshot_check()). */
bool store_snapshots_load(struct store *store, int64_t run, struct store_snapshot **out, size_t *count,
                          struct sim_error *error);
void store_snapshots_free(struct store_snapshot *snapshots, size_t count);

#endif
