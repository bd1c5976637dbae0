/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A process of a live run: an agent of the core over a SQLite file that several such processes share. */
#ifndef LIVE_HOST_H
#define LIVE_HOST_H

#include <bucketing/bucketing.h>
#include <sqlite3.h>

/* --- store.c: the file as the database. Each action of an agent is one transaction. */
struct live_store {
    sqlite3 *file;
    sqlite3_stmt *statements[BK_ACT_DONE + 5];
    bool is_guarded; /* each bucket has a separate counter */
};

/* The outcome of an action and the time of its effect, which is read while the file is locked, so that the
 * times are in the order of the effects. state: the state row after the action. */
struct live_answer {
    struct bk_outcome outcome;
    bool took_effect;
    int64_t effect_ns, state[BK_COLUMNS];
    uint64_t filled; /* READ_ROWS: buckets with rows */
};

bool live_store_open(const char *path, struct live_store *out);
void live_store_close(struct live_store *store);
/* For an agent whose sequence numbers come from the rows. */
struct live_answer live_store_ask(struct live_store *store, const struct bk_action *action);

/* The machine's monotonic clock in nanoseconds, which all processes share. */
int64_t live_now_ns(void);

#endif
