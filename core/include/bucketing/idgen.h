/* SPDX-License-Identifier: MIT */
/* A generator of unique identifiers from leased batches, as a state machine without I/O, clock or
 * randomness.
 *
 * A client hands out whole numbers above 0. No two clients hand out the same number, and each uses the
 * database only once per batch. It acquires a lock, reads the last identifier that was leased, stores that
 * identifier plus a batch, and releases the lock. The client hands out the batch only if the database
 * acknowledged the store in time. Clients may be divided among n stripes: stripe s has the identifiers s, s +
 * n, s + 2n and so on, its own lock and its own last identifier.
 *
 * Two kinds of lock:
 * - columns, like Astyanax's ColumnPrefixDistributedRowLock: a client writes its own column into the stripe's
 *   lock row, and then reads all columns of that row. A client that finds only its own column has the lock;
 *   the others delete their columns and back off. A column that has expired by the reader's clock is stale
 *   and does not count. The lock is safe as long as no two clocks differ by more than lock_lasts_ns -
 *   lease_ns, and each read overlaps with each acknowledged write in a replica (R + W > RF).
 * - LWT: the lock is a row with an owner and an end, updated by compare-and-set. The last identifier is
 *   updated by compare-and-set too, so no batch is leased twice whatever the clocks show; the lock only
 *   reduces contention.
 *
 * The last identifier is written with its own value as the timestamp, so the largest one wins, in whatever
 * order writes arrive. A lock column is written and deleted with its end as the timestamp, so a late delete
 * cannot remove a later column. Only such clients may write these rows, and the number of stripes must never
 * change.
 *
 * Example: a host that performs each action synchronously takes an identifier.
 *
 *     while (bk_idgen_take(&idgen, now_ns, &id) == BK_ERROR_EMPTY) {
 *         while (bk_idgen_next(&idgen, &action)) {
 *             if (action.kind == BK_IDGEN_READY || action.kind == BK_IDGEN_FAILED)
 *                 continue;
 *             struct bk_idgen_outcome outcome = ask_database(&action);
 *             bk_idgen_report(&idgen, now_ns, action.ticket, &outcome);
 *         }
 *     }
 *
 * Every call takes constant time, except for an outcome with columns, which is linear in their number. The
 * end of a column lock depends on clocks: if two clocks differ by more than the bound above, two clients may
 * hold the lock at the same time, and identifiers may be handed out twice.
 *
 * These functions are a library of their own, libbucketing_idgen, which needs libbucketing.
 *
 * The caller owns struct bk_idgen, which holds no pointers: it may be moved and stored. Do not use an older
 * copy again: it would hand out the same identifiers a second time. One client is used by one thread at a
 * time. */
#ifndef BUCKETING_IDGEN_H
#define BUCKETING_IDGEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bucketing/api.h"
#include "bucketing/status.h"

BK_BEGIN

#define BK_IDGEN_STRIPES_MAX 65536u
/** The most columns in one action: the client's own column, and stale columns that are deleted with it. */
#define BK_IDGEN_COLUMNS_MAX 8u
/** The size of a client's state, with room for later versions. */
#define BK_IDGEN_BYTES 760u

enum bk_idgen_lock { BK_IDGEN_LOCK_COLUMNS, BK_IDGEN_LOCK_LWT };

/** Which stripe's lock an attempt tries to acquire. */
enum bk_idgen_choice {
    BK_IDGEN_FIXED,  /**< always the config's `stripe` */
    BK_IDGEN_ROTATE, /**< the next stripe at each attempt, beginning with the config's `stripe` */
    BK_IDGEN_RANDOM  /**< a hash of the client and of the number of the attempt */
};

/** How long a client waits after its n-th failed attempt at the lock for one lease. `base` and `cap` are
 * backoff_base_ns and backoff_cap_ns. */
enum bk_idgen_backoff {
    BK_IDGEN_CONSTANT,    /**< base */
    BK_IDGEN_EXPONENTIAL, /**< base x 2^(n - 1), at most cap */
    BK_IDGEN_RANDOM_TIMES /**< n x a first wait, which is drawn at random from 1 ns to base for each lease */
};

struct bk_idgen_config {
    uint64_t client_id; /**< not 0; unique among the clients that run at the same time */
    uint32_t batch;     /**< number of identifiers in one lease, >= 1 */
    uint32_t stripes;   /**< 1 to BK_IDGEN_STRIPES_MAX */
    uint32_t stripe;    /**< 1 to stripes; BK_IDGEN_RANDOM ignores it */
    enum bk_idgen_choice choice;
    enum bk_idgen_lock lock;
    int64_t lock_lasts_ns; /**< a lock older than this is stale */
    int64_t lease_ns; /**< the time from the request for the lock within which the batch must be stored and
                         acknowledged; above 0 and below lock_lasts_ns */
    enum bk_idgen_backoff backoff;
    int64_t backoff_base_ns;  /**< > 0 */
    int64_t backoff_cap_ns;   /**< BK_IDGEN_EXPONENTIAL: the longest wait, >= backoff_base_ns; 0: no limit */
    int64_t backoff_limit_ns; /**< the lease fails when the next wait would be longer than this; >=
                                 backoff_base_ns; 0: no limit */
    uint32_t attempts;        /**< the most attempts at the lock for one lease; 0: no limit */
    uint32_t retries;     /**< the most retries of an action that was refused or has an unknown outcome, not
                             counting the first try */
    uint64_t reserved[4]; /**< 0: room for settings of later versions */
};

/** A column of a lock row: its client, and the end of the lock by that client's clock. The end is also the
 * timestamp with which the column is written. */
struct bk_idgen_column {
    uint64_t client;
    int64_t until_ns;
};

/** What the client asks its host to do. All rows belong to the action's stripe. */
enum bk_idgen_action_kind {
    BK_IDGEN_WRITE_COLUMN,   /**< write columns[0] into the lock row: its name is `client`, its value and its
                                timestamp are until_ns */
    BK_IDGEN_READ_COLUMNS,   /**< read all columns of the lock row */
    BK_IDGEN_DELETE_COLUMNS, /**< delete the column_count columns of the lock row, each with its until_ns as
                                the timestamp */
    BK_IDGEN_CAS_LOCK,       /**< compare-and-set of the lock row's columns owner and until: IF they equal
                                `expected`,       set them to `set` */
    BK_IDGEN_READ_LAST, /**< read the last identifier; with BK_IDGEN_LOCK_LWT at a SERIAL consistency level */
    BK_IDGEN_WRITE_LAST, /**< write set[0] as the last identifier, with set[0] as the timestamp */
    BK_IDGEN_CAS_LAST, /**< compare-and-set of the last identifier: IF it equals expected[0], set it to set[0]
                        */
    BK_IDGEN_READY,    /**< needs no outcome: bk_idgen_take() has identifiers to give */
    BK_IDGEN_FAILED /**< needs no outcome: the lease has failed, with `status`; the next bk_idgen_take() tries
                       again */
};

struct bk_idgen_action {
    enum bk_idgen_action_kind kind;
    uint64_t ticket; /**< names this action for bk_idgen_report(); 0: it needs no outcome */
    uint32_t stripe; /**< 1 to stripes */
    uint32_t column_count;
    struct bk_idgen_column columns[BK_IDGEN_COLUMNS_MAX];
    bool if_absent;      /**< for a CAS: IF NOT EXISTS instead of `expected` */
    int64_t expected[2]; /**< CAS_LOCK: owner (client_id as int64_t) and until, both 0 for a released lock.
                            CAS_LAST: the last identifier */
    int64_t set[2];
    bool is_retry;
    enum bk_status status; /**< FAILED: BK_ERROR_CONTENDED, BK_ERROR_EXHAUSTED or BK_ERROR_LAST */
};

enum bk_idgen_outcome_kind {
    BK_IDGEN_UNKNOWN,     /**< 0. Timed out: it may have been done, or may still be done later */
    BK_IDGEN_APPLIED,     /**< definite: done, or read */
    BK_IDGEN_NOT_APPLIED, /**< definite: the condition failed; `found` and `values` describe the current row
                           */
    BK_IDGEN_REFUSED      /**< definite: not done */
};

struct bk_idgen_outcome {
    enum bk_idgen_outcome_kind kind;
    bool found;        /**< READ_LAST, and a CAS that was not applied: whether the row exists */
    int64_t values[2]; /**< the last identifier; or, for CAS_LOCK, owner and until */
    const struct bk_idgen_column *columns; /**< READ_COLUMNS; may be NULL when column_count is 0; not kept */
    size_t column_count;
};

/** The state of a client, which only these functions read: it may be copied, moved and stored as it is. */
struct bk_idgen {
    int64_t aligned;
    unsigned char opaque[BK_IDGEN_BYTES];
};

/** Checks a config. Returns BK_OK, or the first error that applies of BK_ERROR_NULL, CLIENT, BATCH, STRIPE,
 * LOCK, LEASE, BACKOFF and RESERVED. */
enum bk_status bk_idgen_check(const struct bk_idgen_config *config);
/** Makes a client that has no identifiers yet.
 *
 * @param config  copied
 * @param out     the caller's; every member is set, and there is nothing to free. Unchanged on errors
 * @return        BK_OK; BK_ERROR_NULL, those of bk_idgen_check() */
enum bk_status bk_idgen_init(const struct bk_idgen_config *config, struct bk_idgen *out);
/** Takes the next identifier.
 *
 * @param now_ns  the client's clock, in nanoseconds, as in all calls below
 * @param id      set to the identifier, from 1 to INT64_MAX; 0 on errors
 * @return        BK_OK; BK_ERROR_NULL; BK_ERROR_EMPTY (no identifier is left, and a batch is being leased:
 *                actions follow until BK_IDGEN_READY or BK_IDGEN_FAILED) */
enum bk_status bk_idgen_take(struct bk_idgen *idgen, int64_t now_ns, int64_t *id);
/** Reports the outcome of the action under way, once per action. BK_IDGEN_NOT_APPLIED for an action without a
 * condition is treated as BK_IDGEN_REFUSED.
 *
 * @param ticket   the action's ticket
 * @param outcome  read only; neither the struct nor its columns are kept
 * @return         BK_OK; BK_ERROR_NULL, BK_ERROR_OPERATION (no action under way has this ticket),
 *                 BK_ERROR_OUTCOME. On errors nothing is changed */
enum bk_status bk_idgen_report(struct bk_idgen *idgen, int64_t now_ns, uint64_t ticket,
                               const struct bk_idgen_outcome *outcome);
/** Takes the next action and returns true; every member of *out is set. Returns false and leaves *out
 * unchanged when a pointer is NULL, or when there is no action; further calls then return false until another
 * function has been called. */
bool bk_idgen_next(struct bk_idgen *idgen, struct bk_idgen_action *out);
/** The time, by the client's clock, at which bk_idgen_tick() must be called; INT64_MAX when the client does
 * not wait for a time, and for NULL. */
int64_t bk_idgen_deadline(const struct bk_idgen *idgen);
/** Begins the next attempt if its wait is over; otherwise does nothing. Error: BK_ERROR_NULL. */
enum bk_status bk_idgen_tick(struct bk_idgen *idgen, int64_t now_ns);
/** The number of identifiers left before the next lease; 0 for NULL. */
uint64_t bk_idgen_in_hand(const struct bk_idgen *idgen);

/** The size in bytes of the checkpoint that bk_idgen_save() would write; 0 for NULL. A checkpoint of a client
 * is like that of an agent (agent.h): portable between machines, and taken between any two calls. */
size_t bk_idgen_state_size(const struct bk_idgen *idgen);
/** Writes a checkpoint of the client.
 *
 * @param state  the caller's buffer of any alignment
 * @param size   size of the buffer in bytes, at least bk_idgen_state_size()
 * @return       BK_OK; BK_ERROR_NULL, BK_ERROR_MEMORY (too small). On errors nothing is written */
enum bk_status bk_idgen_save(const struct bk_idgen *idgen, void *state, size_t size);
/** Makes a client from a checkpoint of `size` bytes. Bytes that are not a valid checkpoint are refused
 * without harm.
 *
 * @param config  must equal the saved client's config in client_id, batch, stripes, stripe, choice and lock
 * @param state   read only, any alignment
 * @return        BK_OK; BK_ERROR_NULL, BK_ERROR_CHECKPOINT, or an error of bk_idgen_check(). On errors *out
 *                is unchanged */
enum bk_status bk_idgen_load(const struct bk_idgen_config *config, const void *state, size_t size,
                             struct bk_idgen *out);

BK_END
#endif
