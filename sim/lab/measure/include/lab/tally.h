/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A tally: the statistics of one strategy, such as histograms of partition sizes, costs, reads and the
 * digest. Each worker has one per strategy; tallies merge by addition. */
#ifndef LAB_TALLY_H
#define LAB_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cassandra/partition.h"
#include "kernel/archive.h"
#include "kernel/digest.h"
#include "kernel/random.h"
#include "lab/histogram.h"
#include "lab/scenario.h"
#include "lab/slices.h"

/* Shared by both engines: when reads occur, what they request, and what is counted of them. */
/* The reads of one kind of one key: a Poisson process with its own random stream. */
struct lab_read_clock {
    int64_t next_ns; /* time of the next read; INT64_MAX: none */
    double gap_ns;
    struct sim_random draws;
};
void lab_read_clock_begin(struct lab_read_clock *clock, const struct lab_scenario *scenario,
                          enum lab_read_kind kind, uint64_t entity, double share, int64_t start_ns);
void lab_read_clock_next(struct lab_read_clock *clock);

/* Sets the plan to the strategy's, or else to the scenario's for this kind of read. *at_once 0 is the core's
 * default. */
void lab_read_plan(const struct lab_scenario *scenario, const struct lab_strategy *strategy,
                   enum lab_read_kind kind, enum bk_plan *plan, uint32_t *at_once);
/* time_ns - span_ns, saturating at INT64_MIN; span_ns >= 0. */
int64_t lab_before(int64_t time_ns, int64_t span_ns);
/* Makes the query of a read of this kind that begins at now_ns. */
void lab_read_query(const struct lab_scenario *scenario, const struct lab_strategy *strategy,
                    enum lab_read_kind kind, int64_t now_ns, int64_t birth_ns, struct bk_query *out);

/* The result of one read. */
struct lab_read_done {
    enum lab_read_kind kind;
    enum bk_order order;
    uint64_t partitions, empties,
        filled; /* number of partitions queried; of these, without and with a row for the read */
    uint64_t rows, due, scanned; /* number of rows found, of rows that should have been found, and of rows
                                    that the replicas scanned */
    bool is_stale;               /* the rows found are not the newest ones */
    bool is_early;               /* a lazy read ended without querying all buckets */
    bool is_cut;                 /* the read ended at its limit of partitions */
    bool is_before; /* its range begins before the stream, so it finds less than later reads do */
};
/* Whether a range that begins at from_ns does so before the stream of a run that starts at start_ns. */
static inline bool lab_range_is_before(const struct lab_scenario *scenario, int64_t from_ns, int64_t start_ns)
{
    return from_ns < lab_before(start_ns, scenario->workload.backfill_before_ns);
}

/* Expected counts of reads are stored as multiples of 1 / LAB_READ_PARTS. */
#define LAB_READ_PARTS 65536.0

struct lab_read_tally {
    struct lab_histogram partitions;
    uint64_t empties, incomplete, out_of_order, scanned, cut;
    uint64_t before; /* reads of ranges that begin before the stream: neither partitions, empties nor scanned
                        have them */
};
/* Counts `times` reads with this result. */
void lab_read_count(struct lab_read_tally *tally, const struct lab_read_done *done, uint64_t times);

/* The number of kinds of reads that a scenario has. */
unsigned lab_read_kind_count(const struct lab_scenario *scenario);
const char *lab_read_kind_name(enum lab_read_kind kind);

/* What a partition has on disk where rows expire. TimeWindowCompactionStrategy writes the rows of each
 * compaction window into one sstable, and drops it as a whole once its newest rows have expired and
 * gc_grace_seconds have passed. So a partition's size is that of its rows of the newest windows, and its
 * limits are judged by its largest size over time, which no longer grows with the run. */
#define LAB_GC_GRACE_NS  (INT64_C(864000) * 1000000000) /* gc_grace_seconds unless it is set */
#define LAB_DISK_WINDOWS 64u

/* The compaction windows of a run. */
struct lab_disk_windows {
    int64_t window_ns; /* 0: no row leaves the disk during the run, or before its partition ends */
    int64_t kept;      /* windows that make up the time to live and gc_grace_seconds */
};

/* A partition's rows on disk. */
struct lab_disk {
    int64_t window;                                        /* the newest with rows */
    struct cass_partition in[LAB_DISK_WINDOWS], now, most; /* in: by window, modulo their number */
};

/* strategy NULL: for the whole key. */
void lab_disk_windows_init(struct lab_disk_windows *out, const struct lab_scenario *scenario,
                           const struct lab_strategy *strategy, int64_t start_ns, int64_t end_ns);
/* The end of the window of this time. */
int64_t lab_disk_until(const struct lab_disk_windows *windows, int64_t time_ns);
/* Adds rows of one window, which must not be before earlier ones, and allocates *disk. False when out of
 * memory. */
bool lab_disk_add(struct lab_disk **disk, const struct lab_disk_windows *windows, int64_t time_ns,
                  uint64_t rows, uint64_t bytes);

struct lab_stored;

/* The statistics of a strategy over the keys of one worker. */
struct lab_tally {
    struct lab_histogram closed_rows, open_rows, closed_bytes, open_bytes; /* without bins, if is_raced */
    bool is_raced;                                                         /* as lab_scenario.is_raced */
    struct lab_sizes sizes[LAB_SIZE_UNITS]; /* of all partitions, if is_raced */
    struct lab_read_tally reads,
        reads_of[LAB_READ_KINDS]; /* reads_of: per kind, if there are several kinds */
    struct lab_slices slices;
    uint64_t over_limit, over_limit_rows, over_limit_bytes, tiny;
    int64_t first_over_ns; /* when the first partition exceeded a limit; INT64_MAX: none has */
    struct lab_largest largest[LAB_SIZE_UNITS];
    struct cass_partition
        key_most;           /* the most rows and the most bytes of a key, as if each key were one partition */
    uint64_t payload_bytes; /* bytes of the rows' values only */
    uint64_t placed;        /* rows that partitions got; one in several buckets counts once */
    uint64_t rows, counter_increments, state_reads, state_writes;
    uint64_t lwt, lock_ops, rows_scanned, retried, duplicated, misrouted; /* only in a cluster run */
    uint64_t peak_rows_per_s;
    /* With a time to live or deletes: the live rows and the tombstones of each partition at the end of the
     * run. */
    struct lab_histogram live_rows, tombstones;
    uint64_t rows_deleted, rows_expired, emptied;
    uint64_t tombstones_read, tombstone_warnings, reads_failed, deletes_lost; /* only in a cluster run */
    uint64_t late_rows; /* rows that arrived after their own time */
    uint64_t rows_into_closed,
        reopened; /* number of rows written to closed partitions, and number of these partitions */
    uint64_t placement_digest;
    struct cass_node_load *nodes; /* one for each node of the ring */
    struct lab_stored *stored;    /* what the table stores (stored.h), if the scenario has a table */
    bool out_of_memory;           /* never cleared */
};

/* A key: its name and its index. */
struct lab_key_name {
    const char *text;
    size_t size;
    uint64_t index;
};

/* Counts a row of a partition towards its peak of rows per second. `second` is the number of the key's first
 * row in that second, which identifies it. *last and *rows are the partition's last second and its rows in
 * that second. */
static inline void lab_watch_second(uint64_t second, uint64_t *last, uint32_t *rows, struct lab_tally *tally)
{
    if (*last != second)
        *rows = 0;
    *last = second;
    if (++*rows > tally->peak_rows_per_s)
        tally->peak_rows_per_s = *rows;
}

/* Adds with saturation at 2^64 - 1, which exceeds every limit, instead of wrapping around. */
static inline void lab_bytes_add(uint64_t *sum, uint64_t bytes)
{
    *sum = bytes > UINT64_MAX - *sum ? UINT64_MAX : *sum + bytes;
}

static inline bool lab_is_over(const struct lab_limits *limits, const struct cass_partition *partition)
{
    return (limits->partition_rows != 0 && partition->rows > limits->partition_rows) ||
           (limits->partition_bytes != 0 && partition->bytes > limits->partition_bytes);
}
static inline void lab_tally_over(struct lab_tally *tally, int64_t time_ns)
{
    tally->first_over_ns = time_ns < tally->first_over_ns ? time_ns : tally->first_over_ns;
}

/* Initialises a tally; `stored` is NULL, and `slices` must still be begun. Returns false when out of
 * memory. */
bool lab_tally_init(struct lab_tally *tally, uint32_t nodes);
void lab_tally_merge(struct lab_tally *into, const struct lab_tally *from, uint32_t nodes);
/* The same; `from` need not keep its content, and must only be cleared. */
void lab_tally_move(struct lab_tally *into, struct lab_tally *from, uint32_t nodes);
/* Whether memory ran out, so that the tally lacks something. */
bool lab_tally_is_lost(const struct lab_tally *tally);
/* Replaces the partitions, limits, load and peak, and leaves what it had in `from`. There are no largest
 * partitions. */
void lab_tally_take_partitions(struct lab_tally *into, struct lab_tally *from);
/* Adds a partition as it is at the end of the run: its sizes, and the limits that it exceeds. first_ns: time
 * of its first row. */
void lab_tally_partition(struct lab_tally *tally, const struct lab_limits *limits,
                         const struct cass_partition *partition, int64_t first_ns, bool is_closed);
/* Begins to load what lab_tally_partition() changes. */
static inline void lab_tally_prefetch(const struct lab_tally *tally, const struct cass_partition *partition,
                                      bool is_closed)
{
    lab_histogram_prefetch(is_closed ? &tally->closed_rows : &tally->open_rows, partition->rows);
    lab_histogram_prefetch(is_closed ? &tally->closed_bytes : &tally->open_bytes, partition->bytes);
}
/* Records the partition if it is the largest so far. */
void lab_tally_largest(struct lab_tally *tally, const struct lab_key_name *key, int64_t bucket,
                       const struct cass_partition *partition);
/* Adds a key: all of its rows, and their size if they were in one partition. */
void lab_tally_key(struct lab_tally *tally, const struct cass_partition *whole);
void lab_tally_clear(struct lab_tally *tally);
/* Saves or loads. Loading needs a tally that was made for the same scenario; lab_tally_clear() must be called
 * even after a failure. */
void lab_tally_archive(struct lab_tally *tally, struct sim_archive *archive, uint32_t nodes);
/* Adds the live rows and the tombstones that a partition has at the end. */
void lab_tally_left(struct lab_tally *tally, uint64_t live, uint64_t tombstones);

#endif
