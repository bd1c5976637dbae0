/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of the table of metrics, in the order of docs/metrics.md. */
#include "lab/metric.h"
#include "lab/oracle.h"

#define SIZES                    "mean stddev min p001 p01 p50 p90 p99 p999 max"
#define TIMES                    "p50 p99 p999"
#define ASKED                    "mean p50 p99 max"
#define NAME(symbol, text, what) text " "

/* The lines of a row: what it is called, where it stands, its unit. */
#define IN(heading)         .section = heading
#define IS(title, of)       .name = title, .unit = LAB_METRIC_##of
#define ARE(title, of, set) .name = title, .unit = LAB_METRIC_##of, .members = set
#define TELLS(what)         .largest = LAB_LARGEST_##what

#define NO_AGENTS      "without `agents`"
#define NO_GONE        "without `deletes` and `row.ttl`"
#define NO_TIMES       "without `late`, `resolution`, `backfill` and a trace's `arrived`"
#define NO_TABLE       "without `table`"
#define NO_READS       "without `reads`"
#define NO_READ        "without `reads`, and where none was made"
#define NO_IDS         "without `identifiers`"
#define NO_ROWS        "with `identifiers`"
#define NONE_CLOSED    "where no partition has closed"
#define NO_DISK        "without `row.compression` and `--sample`"
#define NO_WATCH       "but in runs that `watch` stores"
#define NO_WATCH_LIMIT "but in runs that `watch` stores, and without a limit or the number of partitions"
#define NO_KEYS        "with `identifiers`, and of `observed`"
#define NO_HORIZON_AT_ALL                                                                                    \
    "without limits, with `table`, where rows expire within the run, and but in runs of `run` and `check`"
#define NO_HORIZON NO_HORIZON_AT_ALL ", and where a trace does not tell"
#define NO_TOMBS   "without `agents` or `reads`, and without `deletes` and `row.ttl`"

const struct lab_metric_row lab_metric_table[] = {
    {IN("Partitions"), IS("partitions.total", PARTITIONS), .absent = NO_ROWS,
     .meaning = "all that hold a row"},
    {IN("Partitions"), IS("partitions.closed", PARTITIONS), .absent = "with `identifiers`, and of `observed`",
     .meaning = "of them, the closed"},
    {IN("Partitions"), IS("partitions.open", PARTITIONS), .absent = "with `identifiers`, and of `observed`",
     .meaning = "and the open"},
    {IN("Partitions"), IS("partitions.over_limit", PARTITIONS), TELLS(EITHER), .absent = "without limits",
     .meaning = "above a limit, in rows or bytes"},
    {IN("Partitions"), IS("partitions.over_limit_rows", PARTITIONS), TELLS(ROWS),
     .absent = "without `limits.partition_rows`", .meaning = "above that limit"},
    {IN("Partitions"), IS("partitions.over_limit_bytes", PARTITIONS), TELLS(BYTES),
     .absent = "without `limits.partition_bytes`", .meaning = "above that limit"},
    {IN("Partitions"), IS("partitions.reopened", PARTITIONS), .absent = NO_TIMES,
     .meaning = "those that got a row after they were closed"},
    {IN("Partitions"), IS("partitions.tiny", PARTITIONS), .absent = "without `limits.tiny_rows`",
     .meaning = "closed ones with fewer rows than `tiny_rows`"},
    {IN("Partitions"), ARE("partitions.closed.rows.*", ROWS, SIZES), TELLS(ROWS), .absent = NONE_CLOSED,
     .meaning = "sizes of the closed partitions"},
    {IN("Partitions"), ARE("partitions.closed.bytes.*", BYTES, SIZES), TELLS(BYTES), .absent = NONE_CLOSED,
     .meaning = "the same in bytes"},
    {IN("Partitions"), ARE("partitions.all.rows.*", ROWS, SIZES), TELLS(ROWS),
     .absent = "where nothing was written", .meaning = "sizes of all, closed and open"},
    {IN("Partitions"), ARE("partitions.all.bytes.*", BYTES, SIZES), TELLS(BYTES),
     .absent = "where nothing was written", .meaning = "the same in bytes"},
    {IN("Partitions"), ARE("partitions.all.bytes.*", BYTES, "p75 p95 p98"), TELLS(BYTES),
     .absent = "but for `observed` of `tablehistograms`", .meaning = "percentiles of its own"},
    {IN("Partitions"), ARE("partitions.row_weighted.rows.*", ROWS, SIZES), TELLS(ROWS),
     .absent = "where nothing was written",
     .meaning = "sizes of all, each counted once a row in it: the size that a random row finds itself in, "
                "and so what "
                "a reader meets"},
    {IN("Partitions"), ARE("partitions.row_weighted.bytes.*", BYTES, SIZES), TELLS(BYTES),
     .absent = "where nothing was written", .meaning = "the same in bytes"},
    {IN("Partitions"), IS("keys.rows.max", ROWS), .absent = NO_KEYS,
     .meaning = "rows of the key that has most: of the largest partition without buckets"},
    {IN("Partitions"), IS("keys.bytes.max", BYTES), .absent = NO_KEYS,
     .meaning = "the same in bytes, of the key that has most of these"},

    {IN("Horizon"), IS("horizon.days", DAYS), .absent = NO_HORIZON,
     .meaning = "from the first row until the first partition is expected above a limit, as the stream goes "
                "on at its "
                "rate, or a trace of four weeks or more at its growth; 106751, which is as far as times "
                "reach, stands "
                "for never"},
    {IN("Horizon"), IS("horizon.is_least", NUMBER), .absent = NO_HORIZON,
     .meaning = "1: none of the run's partitions, whose sizes are a matter of chance, is above, so "
                "`horizon.days` is a "
                "lower bound, with `limits.confidence`"},
    {IN("Horizon"), IS("horizon.unbucketed_days", DAYS), .absent = NO_HORIZON_AT_ALL,
     .meaning = "the same of one partition a key, whether or not `unbucketed` is among the strategies"},
    {IN("Horizon"), IS("horizon.doubles_days", DAYS),
     .absent = "but for a trace of four weeks or more that grows",
     .meaning = "in this time the trace's rate doubles"},

    {IN("Drift"), IS("drift.run", NUMBER), .absent = NO_WATCH,
     .meaning = "the run that predicts: its strategy of the same label"},
    {IN("Drift"), IS("drift.look", NUMBER), .absent = NO_WATCH,
     .meaning = "its number among the looks at this prediction, from 1"},
    {IN("Drift"), IS("drift.distance", SHARE), .absent = NO_WATCH,
     .meaning = "the largest difference between the shares of observed and of predicted partitions up to a "
                "size, beyond "
                "the tolerance"},
    {IN("Drift"), IS("drift.allowed", SHARE), .absent = NO_WATCH,
     .meaning = "what chance explains of it: a larger distance is a drift"},
    {IN("Drift"), IS("drift.over_least", SHARE), .absent = NO_WATCH_LIMIT,
     .meaning = "at least this share of the table's partitions is over the limit"},
    {IN("Drift"), IS("drift.over_most", SHARE), .absent = NO_WATCH_LIMIT,
     .meaning = "at most this share was predicted to be: a larger `drift.over_least` is a drift"},

    {IN("What is left"), IS("rows.live", ROWS), .absent = NO_GONE,
     .meaning = "of the rows that were written, those that live at the end of the run"},
    {IN("What is left"), IS("rows.deleted", ROWS), .absent = NO_GONE, .meaning = "that were deleted by then"},
    {IN("What is left"), IS("rows.expired", ROWS), .absent = NO_GONE, .meaning = "that have expired by then"},
    {IN("What is left"), ARE("partitions.live.rows.*", ROWS, SIZES), .absent = NO_GONE,
     .meaning = "live rows of the partitions that have any"},
    {IN("What is left"), IS("partitions.emptied", PARTITIONS), .absent = NO_GONE,
     .meaning = "partitions in which no row lives any more: a reader asks them all the same"},
    {IN("What is left"), ARE("tombstones.partition.*", TOMBSTONES, SIZES), .absent = NO_GONE,
     .meaning =
         "tombstones of a partition, of all partitions: a deleted row is one, an expired row one for each of "
         "`row.cells`; where rows both expire and are deleted, each counts as one. None is purged during a "
         "run, "
         "as where repair has not yet been there"},
    {IN("What is left"), IS("tombstones.scanned_per_read", TOMBSTONES), .absent = NO_TOMBS,
     .meaning =
         "tombstones that a read scanned, each in its place: a read that has its rows scans no further"},
    {IN("What is left"), IS("tombstones.warnings", READS), .absent = NO_TOMBS,
     .meaning = "reads of a replica that met more than `tombstone_warn`"},
    {IN("What is left"), IS("reads.failed", READS), .absent = NO_TOMBS,
     .meaning =
         "reads without an answer, at `tombstone_fail` or for another reason, such as a clock that jumped so "
         "far that its agent would ask more than 100,000,000 windows"},
    {IN("What is left"), IS("writes.deletes_lost", OPERATIONS),
     .absent = "without `agents`, and without `deletes` and `row.ttl`",
     .meaning = "deletes that had no success to the last try"},

    {IN("Repair"), IS("repair.bytes_per_differing_row", BYTES), TELLS(BYTES),
     .absent = "where nothing was written",
     .meaning = "bytes streamed to one replica for one row by chance: the size of the partition that it sits "
                "in, which "
                "is the mean of `partitions.row_weighted.bytes`"},
    {IN("Repair"), IS("repair.bytes_max", BYTES), TELLS(BYTES), .absent = "where nothing was written",
     .meaning = "the same for the worst row: the largest partition"},
    {IN("Repair"), IS("repair.amplification", RATIO), TELLS(BYTES), .absent = "where nothing was written",
     .meaning = "bytes streamed for each byte that differs"},

    {IN("Writes"), IS("writes.rows", ROWS), .absent = NO_ROWS, .meaning = "rows inserted"},
    {IN("Writes"), IS("writes.payload_bytes", BYTES), .absent = NO_ROWS,
     .meaning = "bytes of their values alone; `partitions.*.bytes` are [what rows and partitions weigh on "
                "disk](scenario.md#what-a-row-weighs) before compression"},
    {IN("Writes"), IS("writes.counter_increments", OPERATIONS), .absent = NO_ROWS,
     .meaning =
         "additions to a counter: with `probabilistic` and `weighted` one for each row that counts, however "
         "much it adds. Cluster: those that are writes of their own; `counter: lwt` has them in "
         "`writes.lwt`, "
         "and the last before a roll is written with it"},
    {IN("Writes"), IS("writes.state_reads", OPERATIONS),
     .meaning = "reads of a key's bucket and counter: once a key by its writer. Cluster: whenever a cache "
                "does not know, "
                "and before each count, those of a counter column included"},
    {IN("Writes"), IS("writes.state_writes", OPERATIONS),
     .meaning = "writes of them: at each roll. Cluster: also by `three-state` when a change is over"},
    {IN("Writes"), IS("writes.lwt", OPERATIONS), .meaning = "conditional updates of the state"},
    {IN("Writes"), IS("writes.lock_ops", OPERATIONS),
     .meaning = "operations on locks, which are conditional too"},
    {IN("Writes"), IS("writes.rows_scanned", ROWS), .absent = NO_ROWS,
     .meaning = "cluster: rows that were read to be counted (`counter: incremental`, `scan` and `memory` of "
                "`count`)"},
    {IN("Writes"), IS("writes.extra_ops_per_1000_rows", OPERATIONS), .absent = NO_ROWS,
     .meaning = "operations in addition to the inserts, for each 1000 rows"},
    {IN("Writes"), IS("writes.retried", ROWS), .absent = NO_ROWS, .meaning = "rows that were sent again"},
    {IN("Writes"), IS("writes.duplicated", ROWS), .absent = NO_ROWS,
     .meaning = "rows that are stored in two buckets"},
    {IN("Writes"), IS("writes.misrouted", ROWS), .absent = NO_ROWS,
     .meaning =
         "rows that are stored in another bucket than the strategy's state says, which goes by the row's "
         "own time: the "
         "one that its agent's clock gave it, unless it was late. Without agents 0: one writer goes "
         "by the state "
         "that it knows"},
    {IN("Writes"), IS("writes.late", ROWS), .absent = NO_TIMES,
     .meaning = "rows that came later than their own time says"},
    {IN("Writes"), IS("writes.into_closed", ROWS), .absent = NO_TIMES,
     .meaning = "rows put into a partition that was closed when they came; into `partitions.reopened` "
                "different ones"},
    {IN("Writes"), IS("writes.refused", ROWS), .absent = NO_AGENTS,
     .meaning =
         "rows surely not stored: no agent up, an agent with too much under way, or nobody to write to"},
    {IN("Writes"), IS("writes.unresolved", ROWS), .absent = NO_AGENTS,
     .meaning = "rows whose outcome nobody knows: timed out to the last try, or their agent crashed"},
    {IN("Writes"), IS("writes.increments_unresolved", ROWS), .absent = NO_AGENTS,
     .meaning = "rows that fired and whose increment is not surely counted once"},
    {IN("Writes"), IS("writes.conditions_lost", OPERATIONS),
     .absent = "without `agents`, and where there are no conditional updates",
     .meaning = "conditional updates of a key's state that somebody else was ahead of"},
    {IN("Writes"), IS("writes.rows_uncounted", ROWS), .absent = "but for `counter: incremental`",
     .meaning = "rows that were stored behind the last row counted, or in a bucket that was full: no count "
                "will ever "
                "meet them"},
    {IN("Writes"), IS("writes.increments_lost", OPERATIONS),
     .absent = "without `agents`, and without counter columns",
     .meaning = "increments that were due and never made, for whatever reason"},
    {IN("Writes"), IS("writes.increments_doubled", OPERATIONS),
     .absent = "without `agents`, and without counter columns",
     .meaning = "that were made more often than once"},

    {IN("Cluster runs"), ARE("latency.write.*", MS, TIMES), .absent = NO_AGENTS,
     .meaning = "from a row's arrival at its agent to its acknowledgement, the read of the state included"},
    {IN("Cluster runs"), ARE("latency.read.*", MS, TIMES), .absent = "without `agents` or `reads`",
     .meaning = "of a whole read, all of its partitions"},
    {IN("Cluster runs"), ARE("latency.counter.*", MS, TIMES),
     .absent = "where no counter column was added to", .meaning = "of one addition to a counter column"},
    {IN("Cluster runs"), ARE("latency.lwt.*", MS, TIMES), .absent = "where there were no conditional updates",
     .meaning = "of one conditional update"},
    {IN("Cluster runs"), ARE("oracle.*.violations", VIOLATIONS, LAB_ORACLE_MAP(NAME)),
     .absent = "without `agents`, where the oracle has no meaning, and of `live` where faults leave too "
               "little of the run "
               "to judge it: let them end sooner, or run for longer",
     .meaning = "what a reader would hold against the strategy, in what the oracle counts; "
                "[oracles.md](oracles.md)"},
    {IN("Cluster runs"), IS("events", EVENTS), .absent = "without `agents` and `identifiers`",
     .meaning = "events of the simulation"},

    {IN("Tables"), IS("rows.stored", ROWS), .absent = NO_TABLE, .meaning = "rows that are stored in the end"},
    {IN("Tables"), IS("rows.overwritten", ROWS), .absent = NO_TABLE,
     .meaning = "rows that a later one with the same primary key replaced; the two add up to `writes.rows`"},
    {IN("Tables"), IS("peak.rows_written_one_partition", ROWS), .absent = NO_TABLE,
     .meaning = "the most rows that were written to one partition, those replaced included"},
    {IN("Tables"), IS("peak.minute_share_one_partition", SHARE), .absent = NO_TABLE,
     .meaning =
         "of all rows, the share that went to the busiest partition of their minute: 1 is a hot spot, 1 / "
         "partitions that are written to at a time is even. With a few rows a minute it is chance"},

    {IN("Identifiers"), IS("ids.given", IDENTIFIERS), .absent = NO_IDS,
     .meaning = "identifiers that clients took"},
    {IN("Identifiers"), IS("ids.per_second", IDENTIFIERS_PER_S), .absent = NO_IDS,
     .meaning =
         "of them, each second of virtual time: of the whole run, or until the last client had `each`"},
    {IN("Identifiers"), IS("ids.client_least", IDENTIFIERS), .absent = NO_IDS,
     .meaning = "given to the client that got the fewest"},
    {IN("Identifiers"), IS("ids.client_most", IDENTIFIERS), .absent = NO_IDS, .meaning = "and the most"},
    {IN("Identifiers"), IS("ids.leased", IDENTIFIERS), .absent = NO_IDS,
     .meaning = "leased in all, as a reader of all replicas finds it at the end"},
    {IN("Identifiers"), IS("ids.in_hand", IDENTIFIERS), .absent = NO_IDS,
     .meaning = "of them in the hands of living clients at the end"},
    {IN("Identifiers"), IS("ids.lost", IDENTIFIERS), .absent = NO_IDS,
     .meaning = "of them never given, and in nobody's hand: of clients that died, and of stores that were "
                "not known in "
                "time"},
    {IN("Identifiers"), IS("ids.failed", LEASES), .absent = NO_IDS,
     .meaning = "leases that were given up, by `limit` or `attempts`"},
    {IN("Identifiers"), IS("locks.tried", LOCKS), .absent = NO_IDS, .meaning = "attempts at a lock"},
    {IN("Identifiers"), IS("locks.acquired", LOCKS), .absent = NO_IDS, .meaning = "those that got it"},
    {IN("Identifiers"), IS("locks.busy", LOCKS), .absent = NO_IDS, .meaning = "those that gave way"},
    {IN("Identifiers"), IS("locks.stale", LOCKS), .absent = NO_IDS,
     .meaning = "locks of others that had run out, and were cleared away or taken over"},
    {IN("Identifiers"), ARE("latency.lock.*", MS, TIMES), .absent = NO_IDS,
     .meaning = "from the wish for a batch until its lock is had, all waits included"},
    {IN("Identifiers"), ARE("latency.lease.*", MS, TIMES), .absent = NO_IDS,
     .meaning = "until the batch is in hand"},

    {IN("Reads"), IS("reads.count", READS), .is_of_kinds = true, .absent = NO_READS,
     .meaning = "reads that were made"},
    {IN("Reads"), ARE("reads.partitions_per_read.*", PARTITIONS, ASKED), .is_of_kinds = true,
     .absent = NO_READ, .meaning = "partitions that a read asked"},
    {IN("Reads"), IS("reads.empty_partitions_per_read", PARTITIONS), .is_of_kinds = true, .absent = NO_READ,
     .meaning = "of them, those without a row for it, on average"},
    {IN("Reads"), IS("reads.rows_scanned_per_read", ROWS), .is_of_kinds = true, .absent = NO_READ,
     .meaning =
         "rows that the replicas went through for it, on average: each partition up to its limit, of "
         "a range its "
         "rows, and the one at which a walk sees that the range has ended; with agents also the tombstones "
         "on its way"},
    {IN("Reads"), IS("reads.incomplete", READS), .is_of_kinds = true, .absent = NO_READS,
     .meaning = "reads that ended with fewer rows than they should have found. Cluster: fewer than had been "
                "acknowledged "
                "when the read began, of a range by the rows' own times"},
    {IN("Reads"), IS("reads.out_of_order", READS), .is_of_kinds = true, .absent = NO_READS,
     .meaning = "reads whose rows were not the newest, or not in order: lazy ones over several hash buckets"},
    {IN("Reads"), IS("reads.cut_off", READS), .is_of_kinds = true, .absent = "without `reads.limit`",
     .meaning = "reads that ended at the `limit` of partitions"},
    {IN("Reads"), ARE("reads.latest.latency.*", MS, TIMES),
     .absent = "without `agents`, and without several kinds of read",
     .meaning = "of a whole read of the newest rows"},
    {IN("Reads"), ARE("reads.range.latency.*", MS, TIMES),
     .absent = "without `agents`, and without several kinds of read",
     .meaning = "of a whole read of a range"},
    {IN("Reads"), ARE("reads.all.latency.*", MS, TIMES),
     .absent = "without `agents`, and without several kinds of read",
     .meaning = "of a whole read of all rows"},

    {IN("Load"), IS("peak.rows_per_second_one_partition", ROWS_PER_S), .absent = "with `engine: thinned`",
     .meaning = "the most rows that one partition took within one second of the clock"},
    {IN("Load"), IS("nodes.load_share_max", SHARE), .absent = "where nothing was written",
     .meaning = "the largest share of all bytes, replicas included, that one node holds; the view "
                "`node_load` of [the "
                "database](database.md) has those of all"},
    {IN("Load"), IS("nodes.load_share_min", SHARE), .absent = "where nothing was written",
     .meaning = "and the smallest"},
    {IN("Load"), IS("disk.bytes", BYTES), .absent = NO_DISK,
     .meaning = "the bytes of the whole table on all replicas, before compression"},
    {IN("Load"), IS("disk.compressed_bytes", BYTES), .absent = NO_DISK,
     .meaning = "and [as estimated](scenario.md#compression) on disk"},
};
const size_t lab_metric_row_count = sizeof lab_metric_table / sizeof *lab_metric_table;
