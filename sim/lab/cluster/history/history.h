/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Histories: the events of a run with agents as lines that contain everything that was reported to its agents
 * and everything that was stored, so that the run can be judged later. A run of the lab writes a history with
 * --trace-format record; a process that embeds the core can write one too. docs/live.md describes the
 * format. */
#ifndef LAB_HISTORY_H
#define LAB_HISTORY_H

#include "cluster_run.h"

/* --- judge.c: the lines of several files, merged by their times. */
struct lab_history_line {
    const char *path;
    uint64_t number;
    int64_t since_ns;
    bool has_key;
    uint32_t key;
    const char *text; /* the event, without the full stop */
};
struct lab_history;
/* Reads the next line, which is valid until the next call; false at the end and on errors. */
bool lab_history_next(struct lab_history *history, const struct lab_history_line **out,
                      struct sim_error *error);
/* Makes lab_history_next() return the last line once more. */
void lab_history_again(struct lab_history *history);
bool lab_history_fail(const struct lab_history_line *line, struct sim_error *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Parse a word or a number at the beginning of a text; if it is there, return true and advance *at past
 * it. */
bool lab_history_word(const char **at, const char *word);
bool lab_history_number(const char **at, int64_t *out);

/* --- history.c: replays a history, and checks it against each row and state that it stores. */
struct lab_replay {
    struct lab_history *history;
    struct lab_tables *tables; /* that were read back; NULL: none */
    int64_t start_ns;
    bool is_observed;  /* written by processes, none of which knows everything that is stored */
    bool is_exhausted; /* the history says that no more events would have occurred */
    bool has_ended;
    struct sim_error *error;
};
/* A line "strategy LABEL begins at NS" of a run of the lab, or "... is observed from NS" of processes. */
struct lab_replay_head {
    char label[128];
    int64_t start_ns;
    bool is_observed;
};
bool lab_replay_head(const struct lab_history_line *line, struct lab_replay_head *out);
/* Stores a row on a replica, or on CASS_EVERY_REPLICA. */
void lab_replay_store(struct lab_cluster_run *run, uint32_t key, int64_t bucket, uint64_t row,
                      int64_t time_ns, int64_t order, uint32_t replica);
/* Replays the rest of a history after its run has ended: copies of rows. False when the error is set. */
bool lab_replay_rest(struct lab_cluster_run *run);

/* --- judge.c: the tables as they were read back after the run, whose rows, states and counters take effect.
 */
bool lab_tables_settle(struct lab_cluster_run *run, struct sim_error *error);
/* Called when a row is put: stores it, if the tables have it and the history never says so. */
void lab_untold_asked(struct lab_cluster_run *run, const struct bk_action *action);
/* Called when a counter has the value `total`: if this is more than the known increments add up to,
 * increments of unknown outcome are taken to have been applied. Returns the remaining difference. */
int64_t lab_untold_increments(struct lab_cluster_run *run, uint64_t counter, int64_t total);
bool lab_replay_events(struct lab_cluster_run *run, struct sim_error *error);

#endif
