/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of the table of metrics, in the order of docs/metrics.md. */
#include "lab/metric.h"
#include "lab/oracle.h"

#define SIZES                    "mean stddev min p001 p01 p50 p90 p99 p999 max"
#define TIMES                    "p50 p99 p999"
#define ASKED                    "mean p50 p99 max"
#define NAME(symbol, text, what) text " "

/* Macros for the members of a row: section, name, unit and so on. */
#define IN(heading)         .section = heading
#define IS(title, of)       .name = title, .unit = LAB_METRIC_##of
#define ARE(title, of, set) .name = title, .unit = LAB_METRIC_##of, .members = set
#define TELLS(what)         .largest = LAB_LARGEST_##what
#define IS_LATE             .is_late = true

#define NO_AGENTS      "without `agents`"
#define NO_GONE        "without `deletes` and `row.ttl`"
#define NO_TIMES       "without `late`, `resolution`, `backfill` and a trace's `arrived`"
#define NO_TABLE       "without `table`"
#define NO_PEAKS       "without `table`, and with `engine: thinned`"
#define NO_READS       "without `reads`"
#define NO_READ        "without `reads`, and where no read was made, or the range of each began before the stream"
#define NO_IDS         "without `identifiers`"
#define NO_ROWS        "with `identifiers`"
#define NONE_CLOSED    "where no partition has closed"
#define NO_DISK        "without `row.compression` and `--sample`"
#define NO_WATCH       "in runs that `watch` does not store"
#define NO_WATCH_LIMIT "in runs that `watch` does not store, and without a limit or the number of partitions"
#define NO_KEYS        "with `identifiers`, and of `observed`"
#define NO_HORIZON_AT_ALL                                                                                    \
    "without limits, with a `table` that overwrites rows or divides partitions, where rows expire within "   \
    "the run, and in runs of commands other than `run` and `check`"
#define NO_EXPECTED                                                                                          \
    "without limits, with a `table` that overwrites rows or divides partitions, with `deletes`, `then` or "  \
    "agents, of windows and hash buckets of a trace or of late rows, and in runs of commands other than "    \
    "`run` and `check`"
#define NO_HORIZON NO_HORIZON_AT_ALL ", and where a trace does not say when rows arrived"
#define UNLISTED                                                                                             \
    ", and of `observed` unless its file lists all partitions, with `rowCount` for a limit in rows"
#define NO_CAPACITY "with `identifiers`, and with a `table` whose partitions are counted"
#define NO_RATES                                                                                             \
    "without such a limit, with a `table` that divides partitions, with `then`, `backfill`, agents or, of "  \
    "writes, a trace, and in runs of commands other than `run` and `check`"
#define NO_TOMBS "without `agents` or `reads`, and without `deletes` and `row.ttl`"

const struct lab_metric_row lab_metric_table[] = {
    {IN("Partitions"), IS("partitions.total", PARTITIONS), .absent = NO_ROWS,
     .meaning = "all that hold a row"},
    {IN("Partitions"), IS("partitions.closed", PARTITIONS), .absent = "with `identifiers`, and of `observed`",
     .meaning =
         "of these, the closed ones. A window of `time` that began before the run, or before the history "
         "of a `backfill`, is not one of them"},
    {IN("Partitions"), IS("partitions.open", PARTITIONS), .absent = "with `identifiers`, and of `observed`",
     .meaning = "and the open ones"},
    {IN("Partitions"), IS("partitions.growing", NUMBER), .absent = "with `identifiers`, and of `observed`",
     .meaning =
         "1: partitions still grow at the end, since they have no end, or the run has no whole window"},
    {IN("Partitions"), IS("partitions.over_limit", PARTITIONS), TELLS(EITHER),
     .absent = "without limits" UNLISTED, .meaning = "above a limit, in rows or bytes"},
    {IN("Partitions"), IS("partitions.over_limit_rows", PARTITIONS), TELLS(ROWS),
     .absent = "without `limits.partition_rows`" UNLISTED, .meaning = "above that limit"},
    {IN("Partitions"), IS("partitions.over_limit_bytes", PARTITIONS), TELLS(BYTES),
     .absent = "without `limits.partition_bytes`" UNLISTED, .meaning = "above that limit"},
    {IN("Partitions"), IS("partitions.first_over_days", DAYS),
     .absent = "where no partition exceeds a limit, and with a `table` that overwrites rows or whose "
               "partitions several keys share",
     .meaning = "from the start of the run until the first partition exceeded a limit"},
    {IN("Partitions"), IS("partitions.reopened", PARTITIONS), .absent = NO_TIMES,
     .meaning = "those that got a row after they were closed"},
    {IN("Partitions"), IS("partitions.merged", NUMBER),
     .absent = "unless a file of `observed` that does not name the sstables has several lines of a partition",
     .meaning = "lines that were added to one before with the same key, as another piece of the partition"},
    {IN("Partitions"), IS("partitions.tiny", PARTITIONS), .absent = "without `limits.tiny_rows`",
     .meaning = "closed ones with fewer rows than `tiny_rows`"},
    {IN("Partitions"), ARE("partitions.closed.rows.*", ROWS, SIZES), TELLS(ROWS), .absent = NONE_CLOSED,
     .meaning = "sizes of the closed partitions"},
    {IN("Partitions"), ARE("partitions.closed.bytes.*", BYTES, SIZES), TELLS(BYTES), .absent = NONE_CLOSED,
     .meaning = "their sizes in bytes"},
    {IN("Partitions"), ARE("partitions.all.rows.*", ROWS, SIZES), TELLS(ROWS),
     .absent = "where nothing was written",
     .meaning =
         "sizes of all, closed and open. With `row.ttl`, here and below a partition's size is the largest "
         "that it has on disk at a time: what was written within the time to live, gc_grace_seconds (10 "
         "days) and one compaction window"},
    {IN("Partitions"), ARE("partitions.all.bytes.*", BYTES, SIZES), TELLS(BYTES),
     .absent = "where nothing was written", .meaning = "their sizes in bytes"},
    {IN("Partitions"), ARE("partitions.all.bytes.*", BYTES, "p75 p95 p98"), TELLS(BYTES),
     .absent = "unless `observed` reads `tablehistograms`",
     .meaning = "the percentiles that `tablehistograms` prints"},
    {IN("Partitions"), ARE("partitions.row_weighted.rows.*", ROWS, SIZES), TELLS(ROWS),
     .absent = "where nothing was written",
     .meaning = "sizes of all, each weighted by its rows: the size of the partition of a random row, which "
                "is what a typical reader sees"},
    {IN("Partitions"), ARE("partitions.row_weighted.bytes.*", BYTES, SIZES), TELLS(BYTES),
     .absent = "where nothing was written", .meaning = "their sizes in bytes"},
    {IN("Partitions"), IS("keys.rows.max", ROWS), .absent = NO_KEYS,
     .meaning = "rows of the largest key, which is the largest partition without buckets"},
    {IN("Partitions"), IS("keys.bytes.max", BYTES), .absent = NO_KEYS,
     .meaning = "bytes of the key that has the most bytes"},

    {IN("Horizon"), IS_LATE, IS("expected.over_limit", PARTITIONS), .absent = NO_EXPECTED,
     .meaning =
         "how many partitions are expected to exceed a limit, by the distribution of their sizes: within 365 "
         "days or the run if it is longer, of kinds without end within the run; an upper bound"},
    {IN("Horizon"), IS_LATE, IS("expected.over_limit_least", PARTITIONS), .absent = NO_EXPECTED,
     .meaning = "a lower bound of that number, with agents too"},
    {IN("Horizon"), IS_LATE, IS("expected.share", SHARE), .absent = NO_EXPECTED,
     .meaning = "an upper bound of the probability that a partition exceeds a limit, where it has its full "
                "size"},
    {IN("Horizon"), IS_LATE, IS("expected.full_share", SHARE),
     .absent = "if it is 0, with `max_age` or `row.ttl`, and as `expected.share`",
     .meaning =
         "a lower bound of the same probability, of `count`, `probabilistic` and `weighted` for a full "
         "partition, even if none of the run is full, with agents too"},

    {IN("Horizon"), IS_LATE, ARE("rates.*.peak", OPERATIONS_PER_S, "writes reads"),
     .absent = "without such a limit, and in runs of commands other than `run` and `check`",
     .meaning = "the rate of the busiest partition in the busiest second: what the run counted or, if more, "
                "what is not exceeded with `tune.confidence` in 365 days or the run if it is longer, of "
                "kinds without end in the run, by the Poisson distribution"},
    {IN("Horizon"), IS_LATE, ARE("rates.*.over", NUMBER, "writes reads"), .absent = NO_RATES,
     .meaning = "how many seconds of that time, over all partitions, are expected above the limit of "
                "`partition_writes` or `partition_reads`: an upper bound"},
    {IN("Horizon"), IS_LATE, ARE("rates.*.over_least", NUMBER, "writes reads"), .absent = NO_RATES,
     .meaning = "a lower bound of that number"},

    {IN("Horizon"), IS_LATE, IS("horizon.days", DAYS), .absent = NO_HORIZON,
     .meaning =
         "from the first row until a partition exceeds a limit: the time at which one did; else the median "
         "by the distribution, if the stream continues at its rate, or a trace of four weeks or more at its "
         "growth; 106751, the end of the range of times, means never"},
    {IN("Horizon"), IS_LATE, IS("horizon.unbucketed_days", DAYS), .absent = NO_HORIZON_AT_ALL,
     .meaning = "the same for one partition per key, whether or not `unbucketed` is among the strategies"},
    {IN("Horizon"), IS_LATE, IS("horizon.doubles_days", DAYS),
     .absent = "without `arrivals.growth`, unless a trace of four weeks or more grows",
     .meaning = "time in which the rate doubles"},

    {IN("Drift"), IS_LATE, IS("drift.run", NUMBER), .absent = NO_WATCH,
     .meaning = "the run that predicts: its strategy of the same label"},
    {IN("Drift"), IS_LATE, IS("drift.look", NUMBER), .absent = NO_WATCH,
     .meaning = "the number of this look at the prediction, from 1"},
    {IN("Drift"), IS_LATE, IS("drift.distance", SHARE), .absent = NO_WATCH,
     .meaning = "the largest difference between the shares of observed and of predicted partitions up to a "
                "size, beyond "
                "the tolerance"},
    {IN("Drift"), IS_LATE, IS("drift.allowed", SHARE), .absent = NO_WATCH,
     .meaning = "the part of it that chance explains: a larger distance is drift"},
    {IN("Drift"), IS_LATE, IS("drift.beyond", PARTITIONS), .absent = NO_WATCH,
     .meaning =
         "the number of largest partitions that are too large for the prediction: one or more are drift"},
    {IN("Drift"), IS_LATE, IS("drift.over_least", SHARE), .absent = NO_WATCH_LIMIT,
     .meaning = "at least this share of the table's partitions is over the limit"},
    {IN("Drift"), IS_LATE, IS("drift.over_most", SHARE), .absent = NO_WATCH_LIMIT,
     .meaning = "at most this share was predicted to be over it: a larger `drift.over_least` is drift"},

    {IN("What is left"), IS("rows.live", ROWS), .absent = NO_GONE,
     .meaning = "rows that were written and are live at the end of the run"},
    {IN("What is left"), IS("rows.deleted", ROWS), .absent = NO_GONE,
     .meaning = "rows that were deleted by then"},
    {IN("What is left"), IS("rows.expired", ROWS), .absent = NO_GONE,
     .meaning = "rows that have expired by then"},
    {IN("What is left"), ARE("partitions.live.rows.*", ROWS, SIZES), .absent = NO_GONE,
     .meaning = "live rows of the partitions that have any"},
    {IN("What is left"), IS("partitions.emptied", PARTITIONS), .absent = NO_GONE,
     .meaning = "partitions without live rows, which readers still query"},
    {IN("What is left"), ARE("tombstones.partition.*", TOMBSTONES, SIZES), .absent = NO_GONE,
     .meaning = "tombstones of each partition: a deleted row is one, an expired row one for each of "
                "`row.cells`; where rows both expire and are deleted, each counts as one. None is purged "
                "during a run, as before a first repair"},
    {IN("What is left"), IS("tombstones.scanned_per_read", TOMBSTONES), .absent = NO_TOMBS,
     .meaning =
         "tombstones that a read scanned, in the order of rows: a read that has its rows scans no further"},
    {IN("What is left"), IS("tombstones.warnings", READS), .absent = NO_TOMBS,
     .meaning = "reads of a replica that met more than `tombstone_warn`"},
    {IN("What is left"), IS("reads.failed", READS), .absent = NO_TOMBS,
     .meaning =
         "reads without an answer, at `tombstone_fail` or for another reason, such as a clock that jumped so "
         "far that its agent would query more than 100,000,000 windows"},
    {IN("What is left"), IS("writes.deletes_lost", OPERATIONS),
     .absent = "without `agents`, and without `deletes` and `row.ttl`",
     .meaning = "deletes whose last try failed"},

    {IN("Repair"), IS("repair.bytes_per_differing_row", BYTES), TELLS(BYTES),
     .absent = "where nothing was written",
     .meaning = "bytes streamed to one replica for a random row: the size of its partition, which is the "
                "mean of `partitions.row_weighted.bytes`"},
    {IN("Repair"), IS("repair.bytes_max", BYTES), TELLS(BYTES), .absent = "where nothing was written",
     .meaning = "the same for the worst row: the largest partition"},
    {IN("Repair"), IS("repair.amplification", RATIO), TELLS(BYTES), .absent = "where nothing was written",
     .meaning = "bytes streamed for each byte that differs"},

    {IN("Writes"), IS("writes.rows", ROWS), .absent = NO_ROWS, .meaning = "rows inserted"},
    {IN("Writes"), IS("writes.placed", ROWS), .absent = NO_ROWS,
     .meaning =
         "rows that the partitions got, those included that expired, were deleted or were overwritten. "
         "Each row of the workload is one of them, or was refused, or its outcome is unknown"},
    {IN("Writes"), IS("writes.payload_bytes", BYTES), .absent = NO_ROWS,
     .meaning = "bytes of their values only; `partitions.*.bytes` are [what rows and partitions weigh on "
                "disk](scenario.md#what-a-row-weighs) before compression"},
    {IN("Writes"), IS("writes.counter_increments", OPERATIONS), .absent = NO_ROWS,
     .meaning =
         "additions to a counter: with `probabilistic` and `weighted` one for each row that counts, however "
         "much it adds. Cluster: only those that are separate writes; `counter: lwt` counts them in "
         "`writes.lwt`, and the last one before a roll is written with the roll"},
    {IN("Writes"), IS("writes.state_reads", OPERATIONS),
     .meaning = "reads of a key's bucket and counter: a single writer reads them once per key. Cluster: at "
                "each cache miss and before each count, including reads of a counter column"},
    {IN("Writes"), IS("writes.state_writes", OPERATIONS),
     .meaning = "writes of a key's bucket and counter: at each roll. Cluster: also by `three-state` when a "
                "change is over"},
    {IN("Writes"), IS("writes.lwt", OPERATIONS), .meaning = "conditional updates of the state"},
    {IN("Writes"), IS("writes.lock_ops", OPERATIONS),
     .meaning = "operations on locks, which are conditional updates too"},
    {IN("Writes"), IS("writes.rows_scanned", ROWS), .absent = NO_ROWS,
     .meaning = "cluster: rows that were read to be counted (`counter: incremental`, `scan` and `memory` of "
                "`count`)"},
    {IN("Writes"), IS("writes.extra_ops_per_1000_rows", OPERATIONS), .absent = NO_ROWS,
     .meaning = "operations in addition to the inserts, for each 1000 rows"},
    {IN("Writes"), IS("writes.retried", ROWS), .absent = NO_ROWS, .meaning = "rows that were sent again"},
    {IN("Writes"), IS("writes.duplicated", ROWS), .absent = NO_ROWS,
     .meaning = "rows that are stored in two buckets"},
    {IN("Writes"), IS("writes.misrouted", ROWS), .absent = NO_ROWS,
     .meaning = "rows that are stored in a bucket other than the one that the strategy's state gives for the "
                "row's own time, which is the time of its agent's clock unless the row was late. 0 without "
                "agents, because a single writer always knows the state"},
    {IN("Writes"), IS("writes.late", ROWS), .absent = NO_TIMES,
     .meaning = "rows that came later than their own time"},
    {IN("Writes"), IS("writes.into_closed", ROWS), .absent = NO_TIMES,
     .meaning = "rows written into partitions that were already closed; `partitions.reopened` is the number "
                "of these partitions"},
    {IN("Writes"), IS("writes.refused", ROWS), .absent = NO_AGENTS,
     .meaning =
         "rows that were certainly not stored: no agent was up, its agent was too busy or its queue "
         "full, its agent crashed while it waited there, no coordinator was up, or the row was too late "
         "for what `three-state` remembers of its key"},
    {IN("Writes"), IS("writes.refused_unprovoked", ROWS), .absent = NO_AGENTS,
     .meaning = "of the refused and unresolved rows, those that no fault explains: all of them where nothing "
                "failed; otherwise those that `available` counts, and those that busy agents did not take"},
    {IN("Writes"), IS("writes.unresolved", ROWS), .absent = NO_AGENTS,
     .meaning = "rows of unknown outcome: the last try timed out, or their agent crashed"},
    {IN("Writes"), IS("writes.waiting_most", ROWS), .absent = "without `agents.queue`",
     .meaning = "the most rows of a key that waited at once in one agent"},
    {IN("Writes"), IS("writes.increments_unresolved", ROWS), .absent = NO_AGENTS,
     .meaning = "rows that fired and whose increment was perhaps not counted exactly once"},
    {IN("Writes"), IS("writes.conditions_lost", OPERATIONS),
     .absent = "without `agents`, and where there are no conditional updates",
     .meaning = "conditional updates of a key's state that lost to another"},
    {IN("Writes"), IS("writes.rows_uncounted", ROWS), .absent = "without `counter: incremental`",
     .meaning = "rows that were stored at earlier times than the last counted row, or in a bucket that was "
                "full: no count ever includes them"},
    {IN("Writes"), IS("writes.increments_lost", OPERATIONS),
     .absent = "without `agents`, and without counter columns",
     .meaning = "increments that were due and were never made"},
    {IN("Writes"), IS("writes.increments_doubled", OPERATIONS),
     .absent = "without `agents`, and without counter columns",
     .meaning = "increments that were made more than once"},

    {IN("Cluster runs"), ARE("latency.write.*", MS, TIMES), .absent = NO_AGENTS,
     .meaning = "from a row's arrival at its agent to its acknowledgement, the wait in its agent's queue and "
                "the read of the state included"},
    {IN("Cluster runs"), ARE("latency.read.*", MS, TIMES), .absent = "without `agents` or `reads`",
     .meaning = "of a whole read with all of its partitions"},
    {IN("Cluster runs"), ARE("latency.counter.*", MS, TIMES),
     .absent = "where no counter column was added to", .meaning = "of one addition to a counter column"},
    {IN("Cluster runs"), ARE("latency.lwt.*", MS, TIMES), .absent = "where there were no conditional updates",
     .meaning = "of one conditional update"},
    {IN("Cluster runs"), ARE("latency.queue.*", MS, TIMES), .absent = "without `agents.queue`",
     .meaning =
         "from a row's arrival at its agent to the end of the row of its key before it; 0 for rows that "
         "need not wait"},
    {IN("Cluster runs"), ARE("oracle.*.violations", VIOLATIONS, LAB_ORACLE_MAP(NAME)),
     .absent = "without `agents`, where the oracle does not apply, and for `live` where faults leave too "
               "little of the run to judge it: let them end sooner, or run for longer",
     .meaning = "violations, in the unit of the oracle; [oracles.md](oracles.md)"},
    {IN("Cluster runs"), IS("guarantees.broken", NUMBER), .absent = "without `agents`",
     .meaning = "guarantees of its protocol that the strategy broke, with no condition to excuse it"},
    {IN("Cluster runs"), IS("events", EVENTS), .absent = "without `agents` and `identifiers`",
     .meaning = "events of the simulation"},

    {IN("Tables"), IS("rows.stored", ROWS), .absent = NO_TABLE, .meaning = "rows that are stored at the end"},
    {IN("Tables"), IS("rows.overwritten", ROWS), .absent = NO_TABLE,
     .meaning = "rows that a later one with the same primary key replaced; the two add up to `writes.rows`"},
    {IN("Tables"), IS("peak.rows_written_one_partition", ROWS), .absent = NO_PEAKS,
     .meaning = "the most rows that were written to one partition, those replaced included"},
    {IN("Tables"), IS("peak.minute_share_one_partition", SHARE), .absent = NO_PEAKS,
     .meaning =
         "share of all rows that went to the busiest partition of their minute: 1 means a hot spot, 1 / "
         "(partitions written to at a time) an even load. With few rows per minute the figure is random"},

    {IN("Identifiers"), IS("ids.given", IDENTIFIERS), .absent = NO_IDS,
     .meaning = "identifiers that clients took"},
    {IN("Identifiers"), IS("ids.per_second", IDENTIFIERS_PER_S), .absent = NO_IDS,
     .meaning =
         "identifiers per second of virtual time: of the whole run, or until the last client had `each`"},
    {IN("Identifiers"), IS("ids.client_least", IDENTIFIERS), .absent = NO_IDS,
     .meaning = "identifiers of the client that got the fewest"},
    {IN("Identifiers"), IS("ids.client_most", IDENTIFIERS), .absent = NO_IDS,
     .meaning = "identifiers of the client that got the most"},
    {IN("Identifiers"), IS("ids.leased", IDENTIFIERS), .absent = NO_IDS,
     .meaning = "leased in all, as a reader of all replicas finds it at the end"},
    {IN("Identifiers"), IS("ids.in_hand", IDENTIFIERS), .absent = NO_IDS,
     .meaning = "leased identifiers that live clients hold at the end"},
    {IN("Identifiers"), IS("ids.lost", IDENTIFIERS), .absent = NO_IDS,
     .meaning = "leased identifiers that were never given and that no live client holds: their client died, "
                "or learned too late that they were stored"},
    {IN("Identifiers"), IS("ids.failed", LEASES), .absent = NO_IDS,
     .meaning = "leases that were given up, by `limit` or `attempts`"},
    {IN("Identifiers"), IS("locks.tried", LOCKS), .absent = NO_IDS, .meaning = "attempts to get a lock"},
    {IN("Identifiers"), IS("locks.acquired", LOCKS), .absent = NO_IDS,
     .meaning = "attempts that got the lock"},
    {IN("Identifiers"), IS("locks.busy", LOCKS), .absent = NO_IDS,
     .meaning = "attempts that gave way to another client"},
    {IN("Identifiers"), IS("locks.stale", LOCKS), .absent = NO_IDS,
     .meaning = "expired locks of other clients that were removed or taken over"},
    {IN("Identifiers"), ARE("latency.lock.*", MS, TIMES), .absent = NO_IDS,
     .meaning = "from the request for a batch until its lock is held, all waits included"},
    {IN("Identifiers"), ARE("latency.lease.*", MS, TIMES), .absent = NO_IDS,
     .meaning = "until the batch is in hand"},

    {IN("Reads"), IS("reads.count", READS), .is_of_kinds = true, .absent = NO_READS,
     .meaning =
         "reads that were made, or their expected number where they are [computed](scenario.md#reads)"},
    {IN("Reads"), ARE("reads.partitions_per_read.*", PARTITIONS, ASKED), .is_of_kinds = true,
     .absent = NO_READ,
     .meaning =
         "partitions that a read queried. This and the next two leave out reads of a range that begins "
         "before the stream, since they find less than later ones. If all do, the mean is what a longer run "
         "is expected to show, of a synthetic stream whose settings do not change"},
    {IN("Reads"), IS("reads.empty_partitions_per_read", PARTITIONS), .is_of_kinds = true, .absent = NO_READ,
     .meaning = "queried partitions without a row for the read, on average"},
    {IN("Reads"), IS("reads.rows_scanned_per_read", ROWS), .is_of_kinds = true, .absent = NO_READ,
     .meaning = "rows that the replicas scanned for a read, on average: each partition up to its limit; for "
                "a range its rows, and the one at which a walk sees that the range has ended; with agents "
                "also the tombstones on the way"},
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
    {IN("Load"), IS("peak.reads_per_second_one_partition", OPERATIONS_PER_S),
     .absent = "without `agents` and `limits.partition_reads`",
     .meaning = "the most queries of reads that one partition got within one second of the clock"},
    {IN("Load"), IS("nodes.load_share_max", SHARE), .absent = "where nothing was written",
     .meaning = "the largest share of all bytes, replicas included, that one node holds; the view "
                "`node_load` of [the "
                "database](database.md) has those of all"},
    {IN("Load"), IS("nodes.load_share_min", SHARE), .absent = "where nothing was written",
     .meaning = "the smallest share that one node holds"},
    {IN("Load"), IS("capacity.days", DAYS), .absent = NO_CAPACITY,
     .meaning =
         "after how long a node holds as much as below: the time to live and gc_grace_seconds, or a year "
         "where rows do not expire"},
    {IN("Load"), IS("capacity.bytes_per_node", BYTES), .absent = NO_CAPACITY,
     .meaning = "what a node then holds at the run's rate, and its growth, replicas included, on average "
                "over the nodes; with "
                "`row.compression` after compression"},
    {IN("Load"), IS("capacity.disk_per_node", BYTES), .absent = NO_CAPACITY,
     .meaning =
         "the same with room for compaction: twice as much, as SizeTieredCompactionStrategy may rewrite "
         "all of a table; where rows expire, one more window of TimeWindowCompactionStrategy, a 25th of them "
         "all unless `row.compaction` says otherwise"},
    {IN("Load"), IS("capacity.writes_per_node", OPERATIONS_PER_S), .absent = NO_CAPACITY,
     .meaning = "rows and other writes of strategies that a node applies per second, on average"},
    {IN("Load"), IS("capacity.reads_per_node", OPERATIONS_PER_S), .absent = NO_CAPACITY,
     .meaning = "queries of partitions and states that a node answers per second, on average, at the "
                "consistency level of reads; a range that begins before the stream counts as the mean of "
                "the others"},
    {IN("Load"), IS("disk.bytes", BYTES), .absent = NO_DISK,
     .meaning = "the bytes of the whole table on all replicas, before compression"},
    {IN("Load"), IS("disk.compressed_bytes", BYTES), .absent = NO_DISK,
     .meaning = "the same, [as estimated](scenario.md#compression) after compression"},
};
const size_t lab_metric_row_count = sizeof lab_metric_table / sizeof *lab_metric_table;
