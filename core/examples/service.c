/* SPDX-License-Identifier: MIT */
/* A complete host for an agent. Several of these processes write the same keys into one SQLite file, and
 * agree on their buckets (BK_GUARDED). The file represents the database: each action of the agent is one
 * statement.
 *
 *     cc service.c $(pkg-config --cflags --libs bucketing sqlite3) -o service
 *     ./service chat.db 1 room-7 write 5000     writes rows, and prints "bucket id" for each stored row
 *     ./service chat.db 2 room-7 read 20        prints the newest rows, newest first
 *
 * Processes that run at the same time need different numbers (here 1 and 2). */
#include <bucketing/bucketing.h>
#include <inttypes.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define SECOND INT64_C(1000000000)

static const char *const tables =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
    "CREATE TABLE IF NOT EXISTS rows (key, bucket, time, id, PRIMARY KEY (key, bucket, time, id)) WITHOUT "
    "ROWID;"
    "CREATE TABLE IF NOT EXISTS states (key PRIMARY KEY, c0, c1, c2, c3);"
    "CREATE TABLE IF NOT EXISTS counters (key, bucket, total, PRIMARY KEY (key, bucket));"
    "CREATE TABLE IF NOT EXISTS starts (key, bucket, c0, PRIMARY KEY (key, bucket));";

/* The statement of each action. The bits of :mask and :if_mask choose the columns that a statement sets and
 * compares. Each state has all columns here, so if_null_mask is 0. */
static const char *const statements[] = {
    [BK_ACT_PUT_ROW] = "INSERT OR IGNORE INTO rows VALUES (:key, :bucket, :time, :id)",
    [BK_ACT_READ_STATE] = "SELECT c0, c1, c2, c3 FROM states WHERE key = :key",
    [BK_ACT_CAS_STATE] =
        "UPDATE states SET c0 = iif(:mask & 1, :c0, c0), c1 = iif(:mask & 2, :c1, c1),"
        " c2 = iif(:mask & 4, :c2, c2), c3 = iif(:mask & 8, :c3, c3)"
        " WHERE key = :key AND (:if_mask & 1 = 0 OR c0 = :e0) AND (:if_mask & 2 = 0 OR c1 = :e1)"
        " AND (:if_mask & 4 = 0 OR c2 = :e2) AND (:if_mask & 8 = 0 OR c3 = :e3)",
    [BK_ACT_ADD_COUNTER] = "INSERT INTO counters VALUES (:key, :bucket, :amount)"
                           " ON CONFLICT DO UPDATE SET total = total + :amount",
    [BK_ACT_READ_COUNTER] = "SELECT total FROM counters WHERE key = :key AND bucket = :bucket",
    [BK_ACT_READ_START] = "SELECT c0 FROM starts WHERE key = :key AND bucket = :bucket",
    [BK_ACT_WRITE_START] = "INSERT OR REPLACE INTO starts VALUES (:key, :bucket, :c0)",
    [BK_ACT_READ_ROWS] = "SELECT bucket, id FROM rows WHERE key = :key AND bucket BETWEEN :low AND :high"
                         " AND time >= :from AND time < :until ORDER BY time DESC LIMIT :rows",
};
static const char *const insert_state = "INSERT OR IGNORE INTO states VALUES (:key, :c0, :c1, :c2, :c3)";

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * SECOND + now.tv_nsec;
}

static void set(sqlite3_stmt *statement, const char *name, int64_t value)
{
    sqlite3_bind_int64(statement, sqlite3_bind_parameter_index(statement, name), value);
}

static sqlite3_stmt *prepare(sqlite3 *file, const char *text, const struct bk_action *action)
{
    static const char *const columns[] = {":c0", ":c1", ":c2", ":c3"}, *const expected[] = {":e0", ":e1",
                                                                                            ":e2", ":e3"};
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(file, text, -1, &statement, NULL) != SQLITE_OK)
        return NULL;
    for (int i = 0; i < BK_COLUMNS; i++) {
        set(statement, columns[i], action->columns[i]);
        set(statement, expected[i], action->expected[i]);
    }
    set(statement, ":key", (int64_t)action->key);
    set(statement, ":bucket", action->bucket);
    set(statement, ":time", action->row.time_ns);
    set(statement, ":id", (int64_t)action->row.id);
    set(statement, ":mask", action->mask);
    set(statement, ":if_mask", action->if_mask);
    set(statement, ":amount", action->amount);
    set(statement, ":low", action->step.bucket_low);
    set(statement, ":high", action->step.bucket_high);
    set(statement, ":from", action->step.from_ns);
    set(statement, ":until", action->step.until_ns);
    set(statement, ":rows", action->step.rows > INT64_MAX ? INT64_MAX : (int64_t)action->step.rows);
    return statement;
}

/* Handles a row of a query's result: the columns of a state, a counter, or a row to print. */
static void take_row(sqlite3_stmt *statement, const struct bk_action *action, struct bk_outcome *outcome)
{
    outcome->rows++;
    outcome->counter = sqlite3_column_int64(statement, 0);
    if (action->kind == BK_ACT_READ_ROWS)
        printf("%lld %016" PRIx64 "\n", sqlite3_column_int64(statement, 0),
               (uint64_t)sqlite3_column_int64(statement, 1));
    for (int i = 0; i < sqlite3_column_count(statement) && i < BK_COLUMNS; i++) {
        outcome->columns[i] = sqlite3_column_int64(statement, i);
        outcome->mask |= 1u << i;
    }
}

static struct bk_outcome ask(sqlite3 *file, const struct bk_action *action)
{
    bool is_insert = action->kind == BK_ACT_CAS_STATE && action->if_mask == 0;
    struct bk_outcome outcome = {.kind = BK_OUTCOME_APPLIED};
    sqlite3_stmt *statement = prepare(file, is_insert ? insert_state : statements[action->kind], action);
    int status = SQLITE_ERROR;
    while (statement != NULL && (status = sqlite3_step(statement)) == SQLITE_ROW)
        take_row(statement, action, &outcome);
    sqlite3_finalize(statement);
    if (status != SQLITE_DONE) /* nothing changed, for example because the disk is full */
        return (struct bk_outcome){.kind = BK_OUTCOME_REFUSED};
    if (action->kind == BK_ACT_CAS_STATE && sqlite3_changes(file) == 0) {
        struct bk_action look = {.kind = BK_ACT_READ_STATE, .key = action->key};
        outcome = ask(file, &look);
        if (outcome.kind == BK_OUTCOME_APPLIED)
            outcome.kind = BK_OUTCOME_NOT_APPLIED;
    }
    return outcome;
}

/* Carries out the agent's actions until its operation has ended. */
static enum bk_operation_status carry_out(struct bk_agent *agent, sqlite3 *file)
{
    struct bk_action action;
    for (;;) {
        while (bk_agent_next(agent, &action)) {
            if (action.kind == BK_ACT_DONE)
                return action.status;
            if (action.kind == BK_ACT_ACK) {
                printf("%" PRId64 " %016" PRIx64 "\n", action.bucket, action.row.id);
                fflush(stdout);
                continue;
            }
            struct bk_outcome outcome = ask(file, &action);
            bk_agent_report(agent, now_ns(), action.ticket, &outcome);
        }
        int64_t wait_ns = bk_agent_deadline(agent) - now_ns();
        if (wait_ns > 0)
            nanosleep(&(struct timespec){wait_ns / SECOND, wait_ns % SECOND}, NULL);
        bk_agent_tick(agent, now_ns());
    }
}

static struct bk_agent *begin(uint64_t number)
{
    struct bk_strategy strategy;
    struct bk_agent *agent = NULL;
    bk_strategy_probabilistic(4, 25, &strategy); /* 400 rows per bucket on average */
    struct bk_agent_config config = bk_agent_config_default(&strategy);
    config.coordination = BK_GUARDED;
    config.counter = BK_COUNTER_NATIVE;
    config.clock_bound_ns = SECOND / 1000; /* processes on one machine share its clock */
    config.grant_ns = SECOND / 10;         /* a full bucket accepts rows until its grant ends */
    config.agent_id = number;
    size_t size = bk_agent_size(&config);
    void *memory = malloc(size);
    if (memory == NULL || bk_agent_init(memory, size, &config, &agent) != BK_OK)
        free(memory);
    return agent;
}

static int fail(const char *what)
{
    fprintf(stderr, "service: %s\n", what);
    return 1;
}

int main(int argc, char **argv)
{
    sqlite3 *file;
    if (argc != 6 || (strcmp(argv[4], "write") != 0 && strcmp(argv[4], "read") != 0))
        return fail("usage: service FILE NUMBER KEY write|read ROWS");
    struct bk_agent *agent = begin(strtoull(argv[2], NULL, 10));
    uint64_t key = bk_murmur3_128(argv[3], strlen(argv[3]), 0).h1, rows = strtoull(argv[5], NULL, 10);
    bool is_read = strcmp(argv[4], "read") == 0;
    if (agent == NULL || sqlite3_open(argv[1], &file) != SQLITE_OK)
        return fail("no memory, or the file cannot be opened");
    /* Each statement is a transaction of its own, so no process holds the file's lock while it waits for it,
     * and every wait ends. */
    sqlite3_busy_timeout(file, INT_MAX);
    /* If several processes switch a new file to WAL, SQLite refuses some of them without a wait. */
    int opened;
    while ((opened = sqlite3_exec(file, tables, NULL, NULL, NULL)) == SQLITE_BUSY)
        sqlite3_sleep(10);
    if (opened != SQLITE_OK)
        return fail(sqlite3_errmsg(file));
    enum bk_operation_status status = BK_OPERATION_OK;
    for (uint64_t i = 0; status == BK_OPERATION_OK && i < (is_read ? 1 : rows); i++) {
        struct bk_row row = {.time_ns = now_ns()};
        uint32_t operation;
        if (getrandom(&row.id, sizeof row.id, 0) != (ssize_t)sizeof row.id)
            return fail("no random bits");
        enum bk_status begun =
            is_read ? bk_agent_read_latest(agent, row.time_ns, key, 0, 0, rows, BK_PLAN_DEFAULT, &operation)
                    : bk_agent_write(agent, row.time_ns, key, &row, &operation);
        if (begun != BK_OK)
            return fail(bk_status_text(begun));
        status = carry_out(agent, file);
    }
    sqlite3_close(file);
    free(agent);
    return status == BK_OPERATION_OK ? 0 : fail("a row was not stored, or its outcome is unknown");
}
