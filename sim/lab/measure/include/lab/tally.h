/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A tally: the statistics of one strategy, such as histograms of partition sizes, costs, reads and the
 * digest. Each worker has one per strategy; tallies merge by addition. */
#ifndef LAB_TALLY_H
#define LAB_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cassandra/partition.h"
#include "cassandra/ring.h"
#include "kernel/archive.h"
#include "kernel/digest.h"
#include "kernel/random.h"
#include "lab/histogram.h"
#include "lab/scenario.h"

/* --- collects a timeline (lab/result.h): a coarse histogram for each slice, state and unit, with eight
 * bins per octave. It has only counts, so the slices of several workers merge by addition to the same result,
 * however the work was split. Bins are allocated on demand: a slice without partitions takes 144 bytes. */

/* A strategy's largest partition, with its key and bucket, so that a user who sees that a limit is exceeded
 * can find the partition. */
enum lab_size_unit { LAB_IN_ROWS, LAB_IN_BYTES, LAB_SIZE_UNITS };

#define LAB_KEY_NAME_SIZE 256

/* The largest partition; of several equally large ones, that of the lowest key index, and of its lowest
 * bucket. */
struct lab_largest {
    char key[LAB_KEY_NAME_SIZE]; /* a longer name is truncated between two characters */
    uint64_t key_index;
    int64_t bucket;
    uint64_t size; /* in rows or bytes; 0: there is no partition */
};

/* A total order, so that the results of several workers merge to the same result in any order. */
static inline bool lab_is_larger(uint64_t size, uint64_t key_index, int64_t bucket,
                                 const struct lab_largest *other)
{
    if (size != other->size)
        return size > other->size;
    if (key_index != other->key_index)
        return key_index < other->key_index;
    return bucket < other->bucket;
}

/* The sizes of partitions over the run: its virtual time is divided into a few equal slices, and each slice
 * has the final sizes of the partitions whose first row was written in it. Plain data. */
#define LAB_SLICES_MAX 96u

enum lab_partition_state { LAB_CLOSED, LAB_OPEN, LAB_STATES };

/* Quantiles of sizes. Least and most are exact. Any other is the smallest size N with P(size <= N) >= p,
 * rounded up by less than an eighth, but not above most. */
struct lab_slice_sizes {
    uint64_t least, p10, p50, p90, most;
};

struct lab_slice {
    enum lab_partition_state state;
    int64_t start_ns, end_ns; /* the last slice ends with the run */
    uint64_t partitions;      /* at least 1: slices without partitions are left out */
    struct lab_slice_sizes sizes[LAB_SIZE_UNITS];
};

struct lab_timeline {
    struct lab_slice *items; /* sorted by state, then time; NULL when there are none */
    size_t count;
};

struct lab_slice_cell;

struct lab_slices {
    int64_t start_ns, end_ns;
    uint64_t slice_ns;  /* a round duration */
    uint32_t count;     /* number of slices, at most LAB_SLICES_MAX; 0: not begun, and nothing is collected */
    uint32_t last;      /* the slice that was looked up last */
    int64_t last_ns;    /* its beginning */
    bool out_of_memory; /* never cleared */
    struct lab_slice_cell *cells; /* sorted by state, then time; NULL before the first partition */
};

/* Begins the slices of a run from start_ns to end_ns >= start_ns. The struct must be zeroed. */
void lab_slices_begin(struct lab_slices *slices, int64_t start_ns, int64_t end_ns);
/* Adds a partition whose first row was written at first_ns; a time outside of the run is moved to the nearer
 * end of the run. */
void lab_slices_add(struct lab_slices *slices, int64_t first_ns, bool is_closed,
                    const struct cass_partition *partition);
/* Whether all times of [from_ns, until_ns) are in one slice, or nothing is collected. */
bool lab_slices_is_one(struct lab_slices *slices, int64_t from_ns, int64_t until_ns);
/* Both must be of the same run; `into` may be zeroed. */
void lab_slices_merge(struct lab_slices *into, const struct lab_slices *from);
/* Computes the timeline. Returns false when out of memory. */
bool lab_slices_timeline(const struct lab_slices *slices, struct lab_timeline *out);
/* Saves or loads. Loading needs slices that have begun the same run and are empty. */
void lab_slices_archive(struct lab_slices *slices, struct sim_archive *archive);
void lab_slices_clear(struct lab_slices *slices);

/* --- a map from tuples of four numbers to a fixed number of values, in order of insertion. */

#define LAB_TUPLE_WORDS 4
#define LAB_TUPLES_MAX  (UINT32_C(1) << 23)

struct lab_tuples {
    uint64_t *entries; /* each entry: a tuple and its values */
    uint32_t *slots;   /* open addressing: number of an entry + 1; 0: free */
    uint32_t count, capacity, slot_count;
    uint32_t values;    /* number of values per tuple */
    uint32_t most;      /* LAB_TUPLES_MAX, except in tests */
    bool out_of_memory; /* never cleared */
    bool is_full;       /* never cleared: a tuple beyond `most` was lost */
};

/* values: number of values per tuple, at least 1. Memory is allocated with the first tuple. */
void lab_tuples_init(struct lab_tuples *tuples, uint32_t values);
/* The values of a tuple, which is inserted with zeros when it is new; NULL when it cannot be inserted. The
 * pointer is valid until the next insertion. */
uint64_t *lab_tuples_get(struct lab_tuples *tuples, const uint64_t *tuple);
/* The values of a tuple; NULL when it does not exist. */
uint64_t *lab_tuples_find(const struct lab_tuples *tuples, const uint64_t *tuple);
/* The index-th tuple, followed by its values. */
static inline uint64_t *lab_tuples_at(const struct lab_tuples *tuples, uint32_t index)
{
    return tuples->entries + (size_t)index * (LAB_TUPLE_WORDS + tuples->values);
}
/* Removes all tuples and keeps the memory. */
void lab_tuples_empty(struct lab_tuples *tuples);
void lab_tuples_clear(struct lab_tuples *tuples);
/* Saves or loads; loading needs tuples initialised with the same number of values, and leaves them empty on
 * failure.
 */
void lab_tuples_archive(struct lab_tuples *tuples, struct sim_archive *archive);

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
/* time_ns - span_ns, span_ns >= 0; saturating at INT64_MIN, since clocks that jump and backfills reach far
 * beyond the dates that a scenario may specify. */
static inline int64_t lab_before(int64_t time_ns, int64_t span_ns)
{
    return time_ns < INT64_MIN + span_ns ? INT64_MIN : time_ns - span_ns;
}
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
    uint64_t empties, incomplete, out_of_order, cut;
    lab_wide scanned;
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
/* Whether partitions of these settings still grow at the end of a run, so that later ones are larger: their
 * kind has no end, or the run has no whole window, and the run is too short for rows to leave the disk. */
bool lab_partitions_grow(const struct lab_scenario *scenario, const struct lab_settings *settings,
                         int64_t start_ns, int64_t end_ns);
/* The first bucket that is not cut off by the start of the run, or of its history: an earlier window of
 * `time` is never a closed one, since its size says nothing. INT64_MIN: the buckets are no windows. */
int64_t lab_first_whole(const struct lab_scenario *scenario, const struct bk_strategy *strategy,
                        int64_t start_ns);
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
/* Adds `times` such partitions, but not to the timeline. */
void lab_tally_sizes(struct lab_tally *tally, const struct lab_limits *limits,
                     const struct cass_partition *partition, bool is_closed, uint64_t times);
/* Begins to load what lab_tally_partition() changes. */
static inline void lab_tally_prefetch(const struct lab_tally *tally, const struct cass_partition *partition,
                                      bool is_closed)
{
    lab_histogram_prefetch(is_closed ? &tally->closed_rows : &tally->open_rows, partition->rows);
    lab_histogram_prefetch(is_closed ? &tally->closed_bytes : &tally->open_bytes, partition->bytes);
}
/* Records the partition if it is the largest so far. */
void lab_tally_larger(struct lab_tally *tally, const struct lab_key_name *key, int64_t bucket,
                      const struct cass_partition *partition);
static inline void lab_tally_largest(struct lab_tally *tally, const struct lab_key_name *key, int64_t bucket,
                                     const struct cass_partition *partition)
{
    if (partition->rows >= tally->largest[LAB_IN_ROWS].size ||
        partition->bytes >= tally->largest[LAB_IN_BYTES].size)
        lab_tally_larger(tally, key, bucket, partition);
}
/* Adds a key: all of its rows, and their size if they were in one partition. */
void lab_tally_key(struct lab_tally *tally, const struct cass_partition *whole);
void lab_tally_clear(struct lab_tally *tally);
/* Saves or loads. Loading needs a tally that was made for the same scenario; lab_tally_clear() must be called
 * even after a failure. */
void lab_tally_archive(struct lab_tally *tally, struct sim_archive *archive, uint32_t nodes);
/* Adds the live rows and the tombstones that a partition has at the end. */
void lab_tally_left(struct lab_tally *tally, uint64_t live, uint64_t tombstones);

/* --- what a table stores of the rows that a strategy writes: its partitions are those of the table's
 * partition key, and of several rows with the same primary key it keeps only the latest.
 *
 * A lane adds rows in batches. At the end of the run, the results replace what the lane has tallied for its
 * partitions (key, bucket). If the key is in the partition key, a synthetic workload is finished key by key;
 * otherwise everything is kept until the end, and the results of several workers merge to the same result in
 * any order. */

/* A batch: the rows that are passed to a lane in one call. */
#define LAB_BATCH_ROWS 512

/* Rows of one key in time order, as columns. */
struct lab_batch {
    const int64_t *times_ns;
    const int64_t *own_ns;  /* the rows' own times, in any order; NULL: equal to the times of arrival */
    const int64_t *late_ns; /* lateness of each row; NULL: no row is late */
    const uint64_t *ids;
    const uint64_t *bytes;       /* size of each row's payload; NULL when no strategy uses it */
    const uint32_t *gone_before; /* count + 1 running sums: gone_before[i] of the rows before row i will have
                                    expired or been deleted by the end of the run; NULL: none */
    const uint64_t
        *bytes_before; /* count + 1 running sums of the sizes of rows; NULL when every row has bytes_each */
    const uint64_t *second_begin; /* for each row, the number of the key's first row in the same second; only
                                     if most_in_second is above 0 */
    uint64_t last_second; /* the number of the key's first row in the second in which the batch ends */
    uint64_t bytes_each;
    uint64_t first_row;      /* number, within the key, of the batch's row 0 */
    uint64_t most_in_second; /* largest number of the key's rows within one second, up to the batch's end */
    /* Of the key's partitions, only one with more rows than over_rows or more bytes of rows than over_bytes
     * can exceed a limit; UINT64_MAX: none can in this batch. */
    uint64_t over_rows, over_bytes;
    size_t count;
};

/* The payload of a row in bytes; 0 when no strategy uses it. */
static inline uint64_t lab_batch_payload(const struct lab_batch *batch, size_t row)
{
    return batch->bytes == NULL ? 0 : batch->bytes[row];
}

/* The bytes of the rows [from, to). */
static inline uint64_t lab_batch_bytes(const struct lab_batch *batch, size_t from, size_t to)
{
    return batch->bytes_before == NULL ? (to - from) * batch->bytes_each
                                       : batch->bytes_before[to] - batch->bytes_before[from];
}

static inline uint64_t lab_gone_between(const struct lab_batch *batch, size_t from, size_t to)
{
    return batch->gone_before == NULL ? 0 : batch->gone_before[to] - batch->gone_before[from];
}

/* Values of the columns with LAB_FEED_VALUES: drawn independently for each row of a key, equal under every
 * strategy, and combined into one number. */
struct lab_value_column {
    uint32_t values;
    uint32_t column;     /* its index among the table's columns */
    const double *up_to; /* cumulative shares of the values; NULL: all values are equally frequent */
    uint64_t begin;      /* of the key's stream of draws */
};

struct lab_values {
    struct lab_value_column columns[LAB_COLUMNS_MAX]; /* columns of the partition key come first */
    size_t count;
    uint64_t combinations, partition_combinations;
    double *distributions; /* memory to which up_to points */
};

/* Takes the columns of the primary key or, with of_partition_alone, of the partition key. Returns false when
 * out of memory; lab_values_clear() must be called in any case. */
bool lab_values_init(struct lab_values *values, const struct lab_design *design, bool of_partition_alone);
void lab_values_clear(struct lab_values *values);
/* Chooses the key of the following calls. */
void lab_values_begin(struct lab_values *values, uint64_t seed, uint64_t key_hash);
/* The combination of values of the key's row with this number. Its remainder modulo partition_combinations is
 * the combination of the partition key's columns. */
uint64_t lab_values_of_row(const struct lab_values *values, uint64_t row);
/* The value of one column in such a combination. */
uint64_t lab_values_of_column(const struct lab_values *values, uint64_t combination, uint32_t column);

struct lab_stored;

/* Makes the table of one strategy for one worker. NULL when out of memory. */
struct lab_stored *lab_stored_create(const struct lab_scenario *scenario, const struct cass_ring *ring);
void lab_stored_destroy(struct lab_stored *stored); /* stored may be NULL */
/* Must be called before the first row, with the start and the end of the run. */
void lab_stored_begin(struct lab_stored *stored, int64_t start_ns, int64_t end_ns);
/* Adds the rows [from, to) of the batch, which the strategy has placed into the bucket. */
void lab_stored_rows(struct lab_stored *stored, const struct lab_key_name *key, const struct lab_batch *batch,
                     size_t from, size_t to, int64_t bucket);
/* Called when the key has no more rows; its buckets from `first_whole` to below `current` are closed. */
void lab_stored_key_end(struct lab_stored *stored, const struct lab_key_name *key, int64_t first_whole,
                        int64_t current);
/* Saves or loads, between two batches. Loading needs one that was made for the same scenario and has
 * begun. */
void lab_stored_archive(struct lab_stored *stored, struct sim_archive *archive);
void lab_stored_merge(struct lab_stored *into, const struct lab_stored *from);
/* Called after the last row: replaces partitions, limits, load and peak in the tally. Returns false when
 * there were more than LAB_TUPLES_MAX tuples; the results are then wrong. */
bool lab_stored_settle(struct lab_stored *stored, struct lab_tally *tally);

/* Results after lab_stored_settle(). */
struct lab_stored_figures {
    uint64_t rows;                     /* rows stored at the end */
    uint64_t overwritten;              /* rows that a later row has overwritten */
    uint64_t most_written;             /* the most rows written to one partition */
    uint64_t minute_rows, minute_most; /* rows written; and the sum over all minutes of the rows of that
                                          minute's busiest partition */
};
const struct lab_stored_figures *lab_stored_figures(const struct lab_stored *stored);

#endif
