/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A process of a live run: an agent of the core over a SQLite file that several such processes share. */
#ifndef LIVE_HOST_H
#define LIVE_HOST_H

#include <bucketing/bucketing.h>
#include <sqlite3.h>

/* --- store.c: the file as the database; each action of an agent is one transaction. */
struct live_store {
    sqlite3 *file;
    sqlite3_stmt *statements[BK_ACT_DONE + 5];
    bool is_guarded; /* each bucket has a counter of its own */
};

/* What became of an action, and when that took effect: read while the file was locked, so in the order in
 * which effects happened. state: what the state row is then. */
struct live_answer {
    struct bk_outcome outcome;
    bool took_effect;
    int64_t effect_ns, state[BK_COLUMN_COUNT];
    uint64_t filled; /* READ_ROWS: buckets with rows */
};

bool live_store_open(const char *path, struct live_store *out);
void live_store_close(struct live_store *store);
/* Of an agent whose rows have numbers as sequence numbers. */
struct live_answer live_store_ask(struct live_store *store, const struct bk_action *action);

/* Nanoseconds of the machine's monotonic clock, which all processes share. */
int64_t live_now_ns(void);

#endif
