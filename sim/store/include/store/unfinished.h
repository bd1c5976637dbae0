/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs under way in the run database: what they are runs of, and the states that they can go on from.
 *
 * An unfinished run has its number from the start. Whoever works on it holds an attempt, which is one more
 * than that of whoever worked on it before; what an older attempt still wants to write is refused with
 * SIM_ERROR_CHECK, so that two programs on one run do not mix their states. The run moves to the finished
 * ones, with its number, by store_unfinished_end(). */
#ifndef STORE_UNFINISHED_H
#define STORE_UNFINISHED_H

#include "store/store.h"

struct store_unfinished {
    int64_t run, attempt;
    bool is_stopped; /* false: somebody is at work, or was killed at it */
    char *scenario_name;
    uint64_t seed;
    uint64_t sources;                   /* lab_snapshot_sources() */
    int64_t created_unix_s, elapsed_ms; /* so far, of all attempts */
    char *version, *scenario_path, *scenario_text, *overrides;
    int64_t parts, bytes; /* of its states */
};

/* Begins a run: sets run, or 0 on false, and attempt to 1. Its texts are the caller's. */
bool store_unfinished_begin(struct store *store, struct store_unfinished *unfinished,
                            struct sim_error *error);
/* run 0: the newest; *is_there false when there is none. The texts are freed by store_unfinished_clear(). */
bool store_unfinished_load(struct store *store, int64_t run, struct store_unfinished *out, bool *is_there,
                           struct sim_error *error);
void store_unfinished_clear(struct store_unfinished *unfinished);
/* All, the newest first; freed by store_unfinished_free(). */
bool store_unfinished_list(struct store *store, struct store_unfinished **out, size_t *count,
                           struct sim_error *error);
void store_unfinished_free(struct store_unfinished *items, size_t count);
/* Takes the run over: unfinished->attempt becomes the next. */
bool store_unfinished_take(struct store *store, struct store_unfinished *unfinished, struct sim_error *error);
/* Notes how long it has taken so far, and that nobody is at work any more. */
bool store_unfinished_stop(struct store *store, const struct store_unfinished *unfinished,
                           struct sim_error *error);
/* Takes it away, with its number: of a run of which nothing was kept. */
bool store_unfinished_drop(struct store *store, const struct store_unfinished *unfinished,
                           struct sim_error *error);
/* Moves it to the finished ones: all of it or nothing. The info's number is the unfinished one's. */
bool store_unfinished_end(struct store *store, const struct store_unfinished *unfinished,
                          struct store_run_info *info, const struct lab_result *result,
                          struct sim_error *error);

/* A state takes the place of those of all parts p with p % parts == part: all or nothing. elapsed_ms is noted
 * with it. */
bool store_snapshot_put(struct store *store, const struct store_unfinished *unfinished, uint32_t part,
                        uint32_t parts, const unsigned char *data, size_t size, struct sim_error *error);
struct store_snapshot {
    uint32_t part;
    unsigned char *data;
    size_t size;
};
/* In order of parts, none twice; freed by store_snapshots_free(). Whether they are whole, they tell
 * themselves (lab_snapshot_check()). */
bool store_snapshots_load(struct store *store, int64_t run, struct store_snapshot **out, size_t *count,
                          struct sim_error *error);
void store_snapshots_free(struct store_snapshot *snapshots, size_t count);

#endif
