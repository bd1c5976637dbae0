/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A SQLite file as the database of several agents, whose actions are statements. A process may be killed
 * between any two instructions: committed data stays, and everything else is rolled back. */
#define _POSIX_C_SOURCE 200809L
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "host.h"

#define WAIT_NS  INT64_C(2000000000) /* for other processes that lock the file */
#define PAUSE_NS 50000

static const char *const tables =
    "CREATE TABLE IF NOT EXISTS rows (key, bucket, time, id, number, PRIMARY KEY (key, bucket, time, id)) "
    "WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS states (key INTEGER PRIMARY KEY, c0, c1, c2, c3);"
    "CREATE TABLE IF NOT EXISTS locks (key INTEGER PRIMARY KEY, c0, c1);"
    "CREATE TABLE IF NOT EXISTS counters (key, bucket, total, PRIMARY KEY (key, bucket)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS starts (key, bucket, c0, PRIMARY KEY (key, bucket)) WITHOUT ROWID;";

/* In addition to a statement for each action. */
enum { INSERT_STATE = BK_ACT_DONE, INSERT_LOCK, READ_LOCK, BEGIN, COMMIT };

#define SET(i)   "c" #i " = iif(:mask & (1 << " #i "), :c" #i ", c" #i ")"
#define EQUAL(i) "(:if_mask & (1 << " #i ") = 0 OR c" #i " = :e" #i ")"

static const char *const texts[] = {
    [BK_ACT_PUT_ROW] = "INSERT OR IGNORE INTO rows VALUES (:key, :bucket, :time, :id, :number)",
    [BK_ACT_READ_STATE] = "SELECT c0, c1, c2, c3 FROM states WHERE key = :key",
    [BK_ACT_WRITE_STATE] =
        "INSERT INTO states VALUES (:key, :c0, :c1, :c2, :c3) ON CONFLICT DO UPDATE SET " SET(0) ", " SET(
            1) ", " SET(2) ", " SET(3),
    [BK_ACT_CAS_STATE] = "UPDATE states SET " SET(0) ", " SET(1) ", " SET(2) ", " SET(
        3) " WHERE key = :key AND " EQUAL(0) " AND " EQUAL(1) " AND " EQUAL(2) " AND " EQUAL(3),
    [BK_ACT_ADD_COUNTER] = "INSERT INTO counters VALUES (:key, :counter, :amount)"
                           " ON CONFLICT DO UPDATE SET total = total + :amount",
    [BK_ACT_READ_COUNTER] = "SELECT total FROM counters WHERE key = :key AND bucket = :counter",
    [BK_ACT_READ_START] = "SELECT c0 FROM starts WHERE key = :key AND bucket = :bucket",
    [BK_ACT_WRITE_START] = "INSERT OR REPLACE INTO starts VALUES (:key, :bucket, :c0)",
    [BK_ACT_CAS_LOCK] =
        "UPDATE locks SET " SET(0) ", " SET(1) " WHERE key = :key AND " EQUAL(0) " AND " EQUAL(1),
    [BK_ACT_COUNT_ROWS] = "SELECT time, id, COUNT(*) OVER () FROM rows WHERE key = :key AND bucket = :bucket "
                          "AND (:mask = 0 OR time > "
                          ":c0 OR (time = :c0 AND id > :c1)) ORDER BY time DESC, id DESC LIMIT 1",
    [BK_ACT_READ_ROWS] = "SELECT COUNT(*) FROM (SELECT 1 FROM rows WHERE key = :key AND bucket = :bucket AND "
                         "time >= :from AND "
                         "time < :until LIMIT :rows)",
    [INSERT_STATE] = "INSERT OR IGNORE INTO states VALUES (:key, :c0, :c1, :c2, :c3)",
    [INSERT_LOCK] = "INSERT OR IGNORE INTO locks VALUES (:key, :c0, :c1)",
    [READ_LOCK] = "SELECT c0, c1 FROM locks WHERE key = :key",
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
};

int64_t live_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* SQLite's own busy handler waits for milliseconds, while a transaction here takes microseconds. */
static int wait(void *context, int count)
{
    (void)context;
    nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
    return count < WAIT_NS / PAUSE_NS;
}

bool live_store_open(const char *path, struct live_store *out)
{
    *out = (struct live_store){0};
    if (sqlite3_open(path, &out->file) != SQLITE_OK)
        return false;
    sqlite3_busy_handler(out->file, wait, NULL);
    /* The kernel keeps what a killed process has written; only a power failure would lose it. */
    if (sqlite3_exec(out->file, "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;", NULL, NULL, NULL) !=
            SQLITE_OK ||
        sqlite3_exec(out->file, tables, NULL, NULL, NULL) != SQLITE_OK)
        return false;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (texts[i] != NULL && sqlite3_prepare_v3(out->file, texts[i], -1, SQLITE_PREPARE_PERSISTENT,
                                                   &out->statements[i], NULL) != SQLITE_OK)
            return false;
    }
    return true;
}

void live_store_close(struct live_store *store)
{
    for (size_t i = 0; i < sizeof store->statements / sizeof *store->statements; i++)
        sqlite3_finalize(store->statements[i]);
    sqlite3_close(store->file);
}

static void set(sqlite3_stmt *statement, const char *name, int64_t value)
{
    int place = sqlite3_bind_parameter_index(statement, name);
    if (place > 0)
        sqlite3_bind_int64(statement, place, value);
}

static void bind(struct live_store *store, sqlite3_stmt *statement, const struct bk_action *action,
                 int64_t bucket)
{
    static const char *const columns[] = {":c0", ":c1", ":c2", ":c3"}, *const expected[] = {":e0", ":e1",
                                                                                            ":e2", ":e3"};
    for (int i = 0; i < BK_COLUMNS; i++) {
        set(statement, columns[i], action->columns[i]);
        set(statement, expected[i], action->expected[i]);
    }
    set(statement, ":key", (int64_t)action->key);
    set(statement, ":bucket", bucket);
    set(statement, ":counter", store->is_guarded ? action->bucket : 0);
    set(statement, ":time", action->row.time_ns);
    set(statement, ":id", (int64_t)action->row.id);
    set(statement, ":number", (int64_t)action->row.sequence);
    set(statement, ":mask", action->mask);
    set(statement, ":if_mask", action->if_mask);
    set(statement, ":amount", action->amount);
    set(statement, ":from", action->step.from_ns);
    set(statement, ":until", action->step.until_ns);
    set(statement, ":rows", action->step.rows > INT64_MAX ? INT64_MAX : (int64_t)action->step.rows);
}

/* Executes a statement; `values` gets the columns of a result row. Returns the number of rows, or -1 when
 * nothing was done. */
static int run(struct live_store *store, int which, const struct bk_action *action, int64_t bucket,
               int64_t *values)
{
    sqlite3_stmt *statement = store->statements[which];
    int status, rows = 0;
    if (action != NULL)
        bind(store, statement, action, bucket);
    while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
        rows++;
        for (int i = 0; values != NULL && i < sqlite3_column_count(statement); i++)
            values[i] = sqlite3_column_int64(statement, i);
    }
    sqlite3_reset(statement);
    return status == SQLITE_DONE ? rows : -1;
}

static struct bk_outcome read(struct live_store *store, const struct bk_action *action, uint64_t *filled)
{
    struct bk_outcome outcome = {.kind = BK_OUTCOME_APPLIED};
    int64_t values[BK_COLUMNS] = {0};
    int64_t low = action->step.bucket_low, high = action->step.bucket_high;
    if (action->kind != BK_ACT_READ_ROWS)
        low = high = action->bucket;
    for (int64_t bucket = low; bucket <= high; bucket++) {
        int rows = run(store, (int)action->kind, action, bucket, values);
        if (rows < 0)
            return (struct bk_outcome){.kind = BK_OUTCOME_REFUSED};
        if (action->kind == BK_ACT_READ_ROWS) {
            outcome.rows += (uint64_t)values[0];
            *filled += values[0] > 0;
            if (values[0] == 0 && bucket - low < 64)
                outcome.empty |= UINT64_C(1) << (bucket - low);
        } else if (action->kind == BK_ACT_COUNT_ROWS) {
            outcome.rows = rows > 0 ? (uint64_t)values[2] : 0;
            outcome.mask = rows > 0 ? 1u << BK_PLACE_TIME | 1u << BK_PLACE_ID : 0;
        } else if (action->kind == BK_ACT_READ_COUNTER) {
            outcome.counter = values[0];
        } else {
            outcome.mask = rows == 0 ? 0 : action->kind == BK_ACT_READ_START ? 1u : (1u << BK_COLUMNS) - 1;
        }
    }
    if (outcome.mask != 0)
        memcpy(outcome.columns, values, sizeof values);
    return outcome;
}

/* Runs a transaction; the file is locked from its beginning to its end. */
static bool write(struct live_store *store, const struct bk_action *action, struct live_answer *answer)
{
    bool is_lock = action->kind == BK_ACT_CAS_LOCK, is_state = action->kind == BK_ACT_CAS_STATE;
    bool is_insert = (is_lock || is_state) && action->if_mask == 0;
    int which = !is_insert ? (int)action->kind : is_lock ? INSERT_LOCK : INSERT_STATE;
    if (run(store, BEGIN, NULL, 0, NULL) < 0)
        return false;
    bool ok = run(store, which, action, action->bucket, NULL) >= 0;
    answer->took_effect = ok && sqlite3_changes(store->file) > 0;
    if (ok && (is_lock || is_state || action->kind == BK_ACT_WRITE_STATE)) {
        int rows = run(store, is_lock ? READ_LOCK : BK_ACT_READ_STATE, action, 0, answer->state);
        ok = rows >= 0;
        if ((is_lock || is_state) && !answer->took_effect) {
            answer->outcome.kind = BK_OUTCOME_NOT_APPLIED;
            answer->outcome.mask = rows <= 0 ? 0 : is_lock ? 3u : (1u << BK_COLUMNS) - 1;
            memcpy(answer->outcome.columns, answer->state, sizeof answer->state);
        }
    }
    answer->effect_ns = live_now_ns();
    if (ok && run(store, COMMIT, NULL, 0, NULL) >= 0)
        return true;
    sqlite3_exec(store->file, "ROLLBACK", NULL, NULL, NULL);
    return false;
}

struct live_answer live_store_ask(struct live_store *store, const struct bk_action *action)
{
    struct live_answer answer = {.outcome = {.kind = BK_OUTCOME_APPLIED}};
    switch (action->kind) {
    case BK_ACT_READ_STATE:
    case BK_ACT_READ_COUNTER:
    case BK_ACT_READ_START:
    case BK_ACT_COUNT_ROWS:
    case BK_ACT_READ_ROWS:
        answer.outcome = read(store, action, &answer.filled);
        break;
    default:
        if (!write(store, action, &answer)) /* nothing changed, as when the file is locked */
            answer = (struct live_answer){.outcome = {.kind = BK_OUTCOME_REFUSED}};
    }
    return answer;
}
