/* SPDX-License-Identifier: MIT */
/* The result of a call: BK_OK, or the reason why nothing was done. One X-macro has the names and the texts.
 * BK_OK is 0.
 *
 * Example:
 *
 *     enum bk_status status = bk_strategy_hash(0, &strategy);
 *     if (status != BK_OK)
 *         fprintf(out, "%s", bk_status_text(status));
 * */
#ifndef BUCKETING_STATUS_H
#define BUCKETING_STATUS_H

#include "bucketing/api.h"

BK_BEGIN

#define BK_STATUS_MAP(X)                                                                                     \
    X(BK_OK, "fine")                                                                                         \
    X(BK_ERROR_NULL, "a pointer that must be set is NULL")                                                   \
    X(BK_ERROR_KIND, "no such kind of strategy")                                                             \
    X(BK_ERROR_WINDOW, "a time window must last at least one microsecond")                                   \
    X(BK_ERROR_CALENDAR, "no such calendar unit")                                                            \
    X(BK_ERROR_ROWS, "the number of rows must be at least 1")                                                \
    X(BK_ERROR_BITS, "the number of bits must be from 0 to 32")                                              \
    X(BK_ERROR_CHANCE, "a chance m/n needs 0 < m <= n")                                                      \
    X(BK_ERROR_THRESHOLD, "the threshold must be at least 1")                                                \
    X(BK_ERROR_BUCKETS, "the number of buckets must be from 1 to 2147483647")                                \
    X(BK_ERROR_BYTES, "the number of bytes must be at least 1")                                              \
    X(BK_ERROR_AGE, "a greatest age must be at least 1 microsecond; only count, probabilistic and weighted " \
                    "have one; count with agents or eras has none, and a later era cannot introduce one")    \
    X(BK_ERROR_STATE, "the key state cannot be one of this strategy")                                        \
    X(BK_ERROR_PLAN, "this strategy cannot be read with that plan")                                          \
    X(BK_ERROR_QUERY, "no such kind of query")                                                               \
    X(BK_ERROR_RANGE, "a range must end after it begins, and lateness must not be negative")                 \
    X(BK_ERROR_COORDINATION, "only the probabilistic and the weighted strategy can be coordinated")          \
    X(BK_ERROR_SOURCE,                                                                                       \
      "only count has a source of numbers; a lease has at least 1 number, and counting rows needs an "       \
      "interval in rows or time")                                                                            \
    X(BK_ERROR_LEAD, "the lead must not be negative")                                                        \
    X(BK_ERROR_CACHE, "a cache needs at least one entry and a time to live that is not negative")            \
    X(BK_ERROR_OPERATIONS, "the number of operations must be from 1 to 65535")                               \
    X(BK_ERROR_LOCK, "a lock needs an owner that is not 0, and times above 0")                               \
    X(BK_ERROR_GRANT,                                                                                        \
      "guarded needs a grant above 0, a clock bound that is not negative, and counter columns")              \
    X(BK_ERROR_BACKOFF, "the back-off must not be negative")                                                 \
    X(BK_ERROR_MEMORY, "the memory is too small or not aligned")                                             \
    X(BK_ERROR_BUSY, "all operations of the agent are under way")                                            \
    X(BK_ERROR_OPERATION, "the ticket is not that of an action that waits for its outcome")                  \
    X(BK_ERROR_OUTCOME, "no such kind of outcome")                                                           \
    X(BK_ERROR_ERAS, "a history has from 1 to 8 eras")                                                       \
    X(BK_ERROR_ERA_TIME, "a change of settings must come later than the one before")                         \
    X(BK_ERROR_ERA_KIND,                                                                                     \
      "count, probabilistic and weighted can only be followed by their own kind, and "                       \
      "count with agents and an external number or a counter column cannot change settings")                 \
    X(BK_ERROR_BUCKET, "the bucket would be beyond 2^63 - 1")                                                \
    X(BK_ERROR_BATCH, "a batch needs at least one identifier")                                               \
    X(BK_ERROR_STRIPE, "a stripe must be from 1 to the number of stripes, which is at most 65536")           \
    X(BK_ERROR_LEASE, "a lease must last longer than 0, and its lock longer than the lease")                 \
    X(BK_ERROR_CLIENT, "a client's identifier must not be 0")                                                \
    X(BK_ERROR_EMPTY, "no identifier is left; a batch is being leased")                                      \
    X(BK_ERROR_CONTENDED, "the lock was not acquired within the limits of its back-off")                     \
    X(BK_ERROR_EXHAUSTED, "the stripe has no identifier below 2^63 left")                                    \
    X(BK_ERROR_LAST, "the last identifier as stored cannot be one of this stripe")                           \
    X(BK_ERROR_WALK_TOO_LONG, "the read reached its limit of partitions before it was complete")             \
    X(BK_ERROR_ID, "the id does not have the size of its kind, or the UUID has another version")             \
    X(BK_ERROR_RESERVED, "a reserved member of a config must be 0")                                          \
    X(BK_ERROR_SETTING, "the text or the struct is not a valid setting")                                     \
    X(BK_ERROR_CHECKPOINT, "the bytes are not a saved state, or belong to an object with other settings")    \
    X(BK_ERROR_SHARDS, "the number of shards must be from 1 to 64; unbucketed, hash and counts of stored "   \
                       "rows have none, and a later era of the same buckets keeps it")

enum bk_status {
#define BK_STATUS_ENUM(name, text) name,
    BK_STATUS_MAP(BK_STATUS_ENUM)
#undef BK_STATUS_ENUM
};

/** The text of a status: one line, a constant that must not be freed; "unknown status" for any other value.
 */
const char *bk_status_text(enum bk_status status);

BK_END
#endif
