/* SPDX-License-Identifier: MIT */
/* Identifiers in leased batches, as a state machine without I/O, clock or randomness.
 *
 * A client hands out whole numbers above 0, each once among all clients, and uses the database once per
 * batch. It acquires a lock, reads the last identifier that was leased, stores that identifier plus a batch,
 * and releases the lock. The client hands out the batch only when the store was acknowledged in time. Stripe
 * s of n hands out s, s + n, s + 2n ... and has its own lock and its own last identifier.
 *
 * Two kinds of lock:
 * - columns, like Astyanax's ColumnPrefixDistributedRowLock: a client writes a column of its own into the
 * stripe's lock row and reads all columns of that row. A client that finds only its own column has the lock;
 * the others delete their columns and back off. A column that has expired by the reader's clock is stale and
 * does not count. The lock is safe as long as no two clocks differ by more than lock_lasts_ns - lease_ns, and
 * reads meet acknowledged writes (R + W > RF).
 * - LWT: a row with owner and end, changed by compare-and-set. The last identifier is changed by
 * compare-and-set too, so no batch is leased twice whatever the clocks show; the lock only reduces
 * contention.
 *
 * The last identifier is written with itself as timestamp, so the largest one stays, in whatever order writes
 * arrive. A lock column is written, and deleted, with its end as timestamp, so a late delete cannot remove a
 * later column. Only clients of this kind may write these rows, and the number of stripes never changes.
 * docs/idgen.md has the argument.
 *
 * Example: an identifier is taken, by a host that answers each action at once.
 *
 *     while (bk_idgen_take(&idgen, now_ns, &id) == BK_ERROR_EMPTY) {
 *         while (bk_idgen_next(&idgen, &action)) {
 *             if (action.kind == BK_IDGEN_READY || action.kind == BK_IDGEN_FAILED)
 *                 continue;
 *             struct bk_idgen_outcome outcome = ask_database(&action);
 *             bk_idgen_outcome(&idgen, now_ns, &outcome);
 *         }
 *     }
 *
 * Every call takes constant time, except for an outcome with columns, which is linear in their number. A lock
 * of columns ends by clocks: when a clock leaves its bound, two clients may hold the lock at once, and
 * identifiers may be handed out twice.
 *
 * The caller owns struct bk_idgen, which holds no pointers: it may be moved and stored. Do not use an older
 * copy again: it would hand out the same identifiers a second time. One client is used by one thread at a
 * time.
 */
#ifndef BUCKETING_IDGEN_H
#define BUCKETING_IDGEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bucketing/api.h"
#include "bucketing/status.h"

BK_BEGIN

#define BK_IDGEN_STRIPES_MAX 65536u
/* The most columns in one action: the client's own one, and stale ones that are deleted with it. */
#define BK_IDGEN_COLUMNS_MAX 8u

enum bk_idgen_lock { BK_IDGEN_LOCK_COLUMNS, BK_IDGEN_LOCK_LWT };

/* Which stripe an attempt at a lock goes to. */
enum bk_idgen_choice {
    BK_IDGEN_FIXED,  /* `stripe`, always */
    BK_IDGEN_ROTATE, /* the next one each time, beginning with `stripe` */
    BK_IDGEN_RANDOM  /* drawn by hashing client and attempt */
};

/* The wait after the nth attempt of a lease that did not acquire the lock. */
enum bk_idgen_backoff {
    BK_IDGEN_CONSTANT,    /* base */
    BK_IDGEN_EXPONENTIAL, /* base x 2^(n - 1), at most cap */
    BK_IDGEN_RANDOM_TIMES /* n x a first wait that each lease draws from 1 ns to base */
};

struct bk_idgen_config {
    uint64_t client_id; /* not 0; differs between all clients that live at the same time */
    uint32_t batch;     /* identifiers in one lease, >= 1 */
    uint32_t stripes;   /* 1 to BK_IDGEN_STRIPES_MAX */
    uint32_t stripe;    /* 1 to stripes; BK_IDGEN_RANDOM ignores it */
    enum bk_idgen_choice choice;
    enum bk_idgen_lock lock;
    int64_t lock_lasts_ns; /* a lock older than this is stale */
    int64_t lease_ns;      /* the time from the request for the lock within which the batch must be stored and
                              acknowledged; above 0 and below lock_lasts_ns */
    enum bk_idgen_backoff backoff;
    int64_t backoff_base_ns;  /* > 0 */
    int64_t backoff_cap_ns;   /* BK_IDGEN_EXPONENTIAL: >= base; 0: none */
    int64_t backoff_limit_ns; /* the lease fails instead of waiting longer than this; >= base; 0: no limit */
    uint32_t attempts;        /* the most attempts at the lock for one lease; 0: no limit */
    uint32_t retries; /* of each action that was refused or has an unknown outcome, after the first try */
};

/* A column of a lock row: its client, and its end by that client's clock. The end is also the column's
 * timestamp. */
struct bk_idgen_column {
    uint64_t client;
    int64_t until_ns;
};

/* What the client asks its host to do. All rows belong to the action's stripe. */
enum bk_idgen_action_kind {
    BK_IDGEN_WRITE_COLUMN, /* columns[0]: column `client` of the lock row, value until_ns, timestamp until_ns
                            */
    BK_IDGEN_READ_COLUMNS, /* all columns of the lock row, at once */
    BK_IDGEN_DELETE_COLUMNS, /* column_count columns of the lock row, each with its until_ns as timestamp */
    BK_IDGEN_CAS_LOCK,       /* the lock row's columns owner and until: IF they equal `expected` THEN `set` */
    BK_IDGEN_READ_LAST,      /* the last identifier; of BK_IDGEN_LOCK_LWT at a SERIAL level */
    BK_IDGEN_WRITE_LAST,     /* set[0], with set[0] as timestamp */
    BK_IDGEN_CAS_LAST,       /* IF it equals expected[0] THEN set[0] */
    BK_IDGEN_READY,          /* needs no outcome: bk_idgen_take() has identifiers to give */
    BK_IDGEN_FAILED /* needs no outcome: the lease has failed, with `status`; the next bk_idgen_take() tries
                       again */
};

struct bk_idgen_action {
    enum bk_idgen_action_kind kind;
    uint32_t stripe; /* 1 to stripes */
    uint32_t column_count;
    struct bk_idgen_column columns[BK_IDGEN_COLUMNS_MAX];
    bool if_absent;      /* for a CAS: IF NOT EXISTS instead of `expected` */
    int64_t expected[2]; /* of the lock: owner (client_id as int64), until; 0 and 0: released */
    int64_t set[2];
    bool is_retry;
    enum bk_status status; /* FAILED: BK_ERROR_CONTENDED, BK_ERROR_EXHAUSTED or BK_ERROR_LAST */
};

enum bk_idgen_outcome_kind {
    BK_IDGEN_APPLIED,     /* definite: done, or read */
    BK_IDGEN_NOT_APPLIED, /* definite: the condition failed; `found` and `values` have the current row */
    BK_IDGEN_REFUSED,     /* definite: not done */
    BK_IDGEN_UNKNOWN      /* timed out: perhaps done, perhaps later */
};

struct bk_idgen_outcome {
    enum bk_idgen_outcome_kind kind;
    bool found;                            /* READ_LAST, and a CAS that was not applied: the row exists */
    int64_t values[2];                     /* the last identifier; or owner and until */
    const struct bk_idgen_column *columns; /* READ_COLUMNS; may be NULL when column_count is 0; not kept */
    size_t column_count;
};

/* The caller must not use the members. */
struct bk_idgen {
    struct bk_idgen_config config;
    int64_t next;     /* the next identifier to hand out */
    uint64_t in_hand; /* how many are left; they are `stripes` apart */
    int step, after;
    bool is_to_ask, is_waiting, is_wanted, is_ready_due, is_failed_due, is_retry;
    enum bk_status status;
    uint32_t stripe, attempts, tries, races;
    uint64_t draws;
    int64_t begun_ns, until_ns, wake_ns;
    int64_t first_wait_ns;
    bool lock_is_absent, has_last;
    int64_t lock[2];
    int64_t last, stored;
    uint32_t column_count;
    struct bk_idgen_column columns[BK_IDGEN_COLUMNS_MAX];
};

/* BK_OK, or the first that applies of BK_ERROR_NULL, CLIENT, BATCH, STRIPE, LOCK, LEASE and BACKOFF. */
enum bk_status bk_idgen_check(const struct bk_idgen_config *config);
/* Makes a client that has no identifiers yet.
 *
 * @param config  copied
 * @param out     the caller's, set whole; there is nothing to free. Untouched on errors
 * @return        BK_OK; BK_ERROR_NULL, those of bk_idgen_check() */
enum bk_status bk_idgen_init(const struct bk_idgen_config *config, struct bk_idgen *out);
/* Takes the next identifier.
 *
 * @param now_ns  the client's clock, in nanoseconds, as in all calls below
 * @param id      set to the identifier, from 1 to INT64_MAX; 0 on errors
 * @return        BK_OK; BK_ERROR_NULL; BK_ERROR_EMPTY: none is left and a batch is being leased; actions
 *                follow until BK_IDGEN_READY or BK_IDGEN_FAILED */
enum bk_status bk_idgen_take(struct bk_idgen *idgen, int64_t now_ns, int64_t *id);
/* Reports the outcome of the action under way, once per action. NOT_APPLIED where the action has no condition
 * counts as refused.
 *
 * @param outcome  read only, not kept, nor are its columns
 * @return         BK_OK; BK_ERROR_NULL, BK_ERROR_OPERATION when no action waits for one: nothing has changed
 *                 then */
enum bk_status bk_idgen_outcome(struct bk_idgen *idgen, int64_t now_ns,
                                const struct bk_idgen_outcome *outcome);
/* The next action, or false: there is none until the next call of another function, or a pointer is NULL.
 * *out is set whole, and untouched when there is none. */
bool bk_idgen_next(struct bk_idgen *idgen, struct bk_idgen_action *out);
/* The time, by the client's clock, when bk_idgen_tick() is due; INT64_MAX when it is not, and for NULL. */
int64_t bk_idgen_deadline(const struct bk_idgen *idgen);
/* Makes the next attempt once its wait is over; before that it does nothing. Error: BK_ERROR_NULL. */
enum bk_status bk_idgen_tick(struct bk_idgen *idgen, int64_t now_ns);
/* How many identifiers are left before the next lease; 0 for NULL. */
uint64_t bk_idgen_in_hand(const struct bk_idgen *idgen);

/* A checkpoint, like that of an agent (agent.h): bytes that mean the same on every machine, taken between any
 * two calls. The bytes that bk_idgen_save() would write; 0 for NULL. */
size_t bk_idgen_state_size(const struct bk_idgen *idgen);
/* @param state  the caller's, of `size` bytes, bk_idgen_state_size() or more; any alignment
 * @return       BK_OK; BK_ERROR_NULL, BK_ERROR_MEMORY (too small): nothing is written then */
enum bk_status bk_idgen_save(const struct bk_idgen *idgen, void *state, size_t size);
/* As bk_idgen_init(), with the client as it was saved in the `size` bytes of state. Bytes that are not a
 * saved state do no harm.
 *
 * @param config  must equal the saved one in client_id, batch, stripes, stripe, choice and lock
 * @param state   read only, any alignment
 * @return        BK_OK; BK_ERROR_NULL, those of bk_idgen_check(), BK_ERROR_CHECKPOINT: *out is untouched then
 */
enum bk_status bk_idgen_load(const struct bk_idgen_config *config, const void *state, size_t size,
                             struct bk_idgen *out);

BK_END
#endif
