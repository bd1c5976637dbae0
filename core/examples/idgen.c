/* SPDX-License-Identifier: MIT */
/* Prints identifiers that never repeat, even when several processes take them from the same SQLite file,
 * which represents the database. A process leases 50 at a time, under a lock that it takes by compare-and-set
 * (BK_IDGEN_LOCK_LWT).
 *
 *     cc idgen.c $(pkg-config --cflags --libs bucketing sqlite3) -o idgen
 *     ./idgen ids.db 1 120        prints 120 identifiers, one per line
 *
 * Processes that run at the same time need different numbers (here 1), other than 0. */
#include <bucketing/bucketing.h>
#include <bucketing/idgen.h>
#include <inttypes.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SECOND INT64_C(1000000000)

static const char *const tables = "CREATE TABLE IF NOT EXISTS locks (stripe PRIMARY KEY, v0, v1);"
                                  "CREATE TABLE IF NOT EXISTS lasts (stripe PRIMARY KEY, v0, v1);";

/* The statement of each kind of action. A conditional update has a second one, [1], for a row that does not
 * exist yet. */
static const char *const statements[][2] = {
    [BK_IDGEN_CAS_LOCK] = {"UPDATE locks SET v0 = ?2, v1 = ?3 WHERE stripe = ?1 AND v0 = ?4 AND v1 = ?5",
                           "INSERT OR IGNORE INTO locks VALUES (?1, ?2, ?3)"},
    [BK_IDGEN_CAS_LAST] = {"UPDATE lasts SET v0 = ?2 WHERE stripe = ?1 AND v0 = ?4",
                           "INSERT OR IGNORE INTO lasts VALUES (?1, ?2, 0)"},
    [BK_IDGEN_READ_LAST] = {"SELECT v0, v1 FROM lasts WHERE stripe = ?1"},
};
static const char *const look_at_lock = "SELECT v0, v1 FROM locks WHERE stripe = ?1";

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * SECOND + now.tv_nsec;
}

/* Returns SQLITE_DONE on success. */
static int run(sqlite3 *file, const char *text, const struct bk_idgen_action *action,
               struct bk_idgen_outcome *outcome)
{
    const int64_t values[] = {action->stripe, action->set[0], action->set[1], action->expected[0],
                              action->expected[1]};
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(file, text, -1, &statement, NULL) != SQLITE_OK)
        return SQLITE_ERROR;
    for (int i = 0; i < sqlite3_bind_parameter_count(statement); i++)
        sqlite3_bind_int64(statement, i + 1, values[i]);
    int status;
    while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
        outcome->found = true;
        for (int i = 0; i < 2; i++)
            outcome->values[i] = sqlite3_column_int64(statement, i);
    }
    sqlite3_finalize(statement);
    return status;
}

static struct bk_idgen_outcome ask(sqlite3 *file, const struct bk_idgen_action *action)
{
    struct bk_idgen_outcome outcome = {.kind = BK_IDGEN_APPLIED};
    bool is_read = action->kind == BK_IDGEN_READ_LAST, is_lock = action->kind == BK_IDGEN_CAS_LOCK;
    int status = run(file, statements[action->kind][action->if_absent], action, &outcome);
    if (status == SQLITE_DONE && !is_read && sqlite3_changes(file) == 0) {
        outcome.kind = BK_IDGEN_NOT_APPLIED;
        status = run(file, is_lock ? look_at_lock : statements[BK_IDGEN_READ_LAST][0], action, &outcome);
    }
    if (status != SQLITE_DONE) /* for example because the disk is full */
        outcome = (struct bk_idgen_outcome){.kind = BK_IDGEN_REFUSED};
    return outcome;
}

static int fail(const char *what)
{
    fprintf(stderr, "idgen: %s\n", what);
    return 1;
}

/* Leases a batch, and releases the lock. */
static enum bk_status lease(struct bk_idgen *idgen, sqlite3 *file)
{
    struct bk_idgen_action action;
    enum bk_status status = BK_ERROR_EMPTY;
    for (;;) {
        while (bk_idgen_next(idgen, &action)) {
            if (action.kind == BK_IDGEN_READY || action.kind == BK_IDGEN_FAILED) {
                status = action.status; /* the release of the lock may follow */
                continue;
            }
            struct bk_idgen_outcome outcome = ask(file, &action);
            bk_idgen_report(idgen, now_ns(), action.ticket, &outcome);
        }
        if (status != BK_ERROR_EMPTY)
            return status;
        int64_t wait_ns = bk_idgen_deadline(idgen) - now_ns();
        if (wait_ns > 0)
            nanosleep(&(struct timespec){wait_ns / SECOND, wait_ns % SECOND}, NULL);
        bk_idgen_tick(idgen, now_ns());
    }
}

int main(int argc, char **argv)
{
    sqlite3 *file;
    struct bk_idgen idgen;
    if (argc != 4)
        return fail("usage: idgen FILE NUMBER IDENTIFIERS");
    const struct bk_idgen_config config = {.client_id = strtoull(argv[2], NULL, 10),
                                           .batch = 50,
                                           .stripes = 1,
                                           .stripe = 1,
                                           .lock = BK_IDGEN_LOCK_LWT,
                                           .lock_lasts_ns = 60 * SECOND, /* long, for slow disks */
                                           .lease_ns = 30 * SECOND,
                                           .backoff = BK_IDGEN_RANDOM_TIMES,
                                           .backoff_base_ns = SECOND / 100,
                                           .retries = 10};
    enum bk_status status = bk_idgen_init(&config, &idgen);
    if (status != BK_OK)
        return fail(bk_status_text(status));
    /* Each statement is a transaction of its own, so no process holds the file's lock while it waits for it,
     * and every wait ends. */
    if (sqlite3_open(argv[1], &file) != SQLITE_OK || sqlite3_busy_timeout(file, INT_MAX) != SQLITE_OK ||
        sqlite3_exec(file, tables, NULL, NULL, NULL) != SQLITE_OK)
        return fail(sqlite3_errmsg(file));
    for (uint64_t left = strtoull(argv[3], NULL, 10); status == BK_OK && left > 0;) {
        int64_t id;
        status = bk_idgen_take(&idgen, now_ns(), &id);
        if (status == BK_OK) {
            printf("%" PRId64 "\n", id);
            left--;
        } else if (status == BK_ERROR_EMPTY) {
            status = lease(&idgen, file);
        }
    }
    sqlite3_close(file);
    return status == BK_OK ? 0 : fail(bk_status_text(status));
}
