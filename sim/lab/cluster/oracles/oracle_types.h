/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The data of the oracles: the ledger of the rows that were placed, stored and acknowledged, by key and
 * partition, which the engine and the mock's observer fill; and their other evidence.
 *
 * Memory does not grow with the number of rows: a row has a record of its own only while its write is under
 * way, or without end if its outcome was never reported. */
#ifndef LAB_ORACLE_TYPES_H
#define LAB_ORACLE_TYPES_H

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bucketing/agent.h"
#include "kernel/digest.h"
#include "kernel/table.h"
#include "lab/oracle.h"

struct lab_cluster_run;
struct lab_scenario;
struct lab_backup;
struct lab_host_operation;

#define LAB_NO_PARTITION UINT32_MAX
#define LAB_ALL_COLUMNS  ((UINT32_C(1) << BK_COLUMNS) - 1) /* of a state row */
/* Instead of a bucket: the row has none yet, or was refused before it had one. */
#define LAB_UNPLACED INT64_MIN
/* The oracle `newest` keeps as many rows as the scenario's readers ask for, up to this number. */
#define LAB_NEWEST_MAX 64u

/* The greatest time, and the greatest time of any other agent. Least times are stored negated. */
struct lab_extreme {
    int64_t time_ns[2];
    uint32_t agent[2];
};

/* The members that each row needs come first. */
struct lab_partition {
    int64_t bucket;
    uint32_t key, lower, higher; /* the key's neighbours; LAB_NO_PARTITION at the ends */
    uint32_t rows_in_second;
    bool is_reopened; /* it got a row after it was closed */
    bool is_late;     /* it did not close when it should have, and this was reported */
    uint8_t eras;     /* bit e: the partition has a row of era e of the settings, by the scenario's dates */
    int64_t second;
    uint64_t placed, stored, acknowledged;
    uint64_t stored_bytes;
    struct lab_disk *disk;                 /* NULL: all rows are on disk */
    uint64_t stored_sum, acknowledged_sum; /* of the hashes of these rows */
    uint64_t copies_balance;               /* hash sum of copies due minus copies made; 0: all copies exist */
    struct lab_extreme latest, earliest, below; /* below: latest of all lower partitions */
    int64_t last_unhealthy_ns,
        last_stored_ns;                   /* total unhealthy time up to its last row, and that row's time */
    int64_t first_unhealthy_ns, first_ns; /* the same of its first row; when it was created */
    uint64_t fired, increments_lost;      /* of acknowledged rows: those that fired, and lost increments */
    uint64_t unfindable;                  /* acknowledged rows that are not findable, and were reported */
    uint64_t counted, overlapping;        /* firing rows whose increment was stored, and those whose increment
                                             another may have overwritten */
    uint64_t doubled; /* guarded, which has a counter per bucket: increments that were applied twice */
    uint64_t added;   /* guarded: sum of acknowledged increments */
    uint32_t healthy_stretch, fired_since_healthy; /* for `live` */
    int64_t full_ns;                               /* since when it should be closed */
    int64_t
        line_ns; /* the next line after its rows, apart from rows that were overtaken; 0: it has no rows */
};

struct lab_newest_row {
    int64_t time_ns, bucket;
};

/* The members that each row needs come first. */
struct lab_key_ledger {
    uint32_t top, bottom,
        recent; /* partitions: those with the highest and the lowest bucket, and the one found last */
    uint32_t newest_begin, newest_count, newest_run;
    struct lab_newest_row *newest; /* a ring in order of time */
    uint64_t arrived;              /* rows */
    uint64_t placed_sum;   /* of the placement digest: what placed rows add to it beyond refused ones */
    struct lab_disk *disk; /* of all its rows; NULL: all are on disk */
    int64_t second;
    uint64_t rows_in_second, peak_rows_per_s;
    /* The state as a read from all replicas returns it. */
    int64_t state_bucket;
    uint32_t writes_open;                    /* writes of the state under way now */
    uint32_t counting;                       /* number of acknowledged rows whose operations have not ended */
    uint64_t state_version;                  /* raised with each change of bucket or dates */
    uint32_t missed;                         /* number of rows that were refused, or are unresolved */
    uint32_t spans;                          /* number + 1 of its newest span; 0: none */
    int64_t misplaced_ns, misplaced_from_ns; /* time of the last row that was placed out of order, and of its
                                                cause; 0: never */
    uint64_t overdue;    /* rows acknowledged so late that readers may already consider their windows empty */
    bool rolled_at_once; /* the state last changed to a higher bucket while several rows were being counted,
                            each of which may have changed it */
    uint64_t doubled;    /* increments of the key's only counter that were applied twice */
    uint64_t added;      /* sum of acknowledged increments of that counter */
    uint64_t numbers_lost; /* BK_SOURCE_LWT, BK_SOURCE_LEASE: numbers that were reserved, but perhaps not
                              assigned to a row */
    int64_t rolled_ns;     /* when the state last changed to a higher bucket; 0: never */
    int64_t at_once_ns; /* when counting of a row last began while another row was being counted; 0: never */
    int64_t crowd_from_ns, crowd_until_ns; /* conditions.c: the last rows whose updates delay one another */
    int64_t latest_ns;      /* for `lines`: the latest time of a row that an agent took; 0: none */
    int64_t gaps_judged;    /* the gaps below this bucket were judged */
    uint32_t stuck_stretch; /* 1 + the healthy stretch in which stuck_bucket did not close */
    int64_t stuck_bucket;
};

/* A row whose writer never learned its outcome; or a row that was put into several buckets, with one record
 * for each bucket, of which the last may have been acknowledged. */
struct lab_open_row {
    uint32_t key;
    bool is_acknowledged;
    bool is_heard; /* reported as stored to an agent that then crashed */
    uint64_t row;
    int64_t bucket;
};
struct lab_open_rows {
    struct lab_open_row *items;
    size_t count, capacity;
};

/* Increments of counter columns under way, or of unknown outcome: by counter and row. */
struct lab_increment {
    uint64_t counter, row;
    uint64_t amount; /* amount of each of these increments */
    uint32_t asked, applied;
    uint32_t next; /* of a free one */
    bool is_used;
};
struct lab_increments {
    struct lab_increment *items; /* the first is not used */
    size_t count, capacity, used;
    struct sim_table table;                           /* of items by (counter, row) */
    uint32_t free;                                    /* the first free item; 0: none */
    uint64_t lost, doubled;                           /* numbers of increments */
    uint64_t amount_due, amount_lost, amount_doubled; /* sums of their amounts */
};

/* Time with a fault in it, or just after one. */
struct lab_health {
    uint32_t active;
    uint32_t stretch; /* number of the healthy stretch */
    int64_t total_ns, since_ns, until_ns, pulse_until_ns, settle_ns;
    bool is_unhealthy;
};

/* An interval in which a condition can have an effect on a key (or on any key, in the list for all keys). */
#define LAB_OPEN_ENDED INT64_MAX
struct lab_span {
    uint32_t condition, next;  /* next: number + 1 of the key's next; 0: none */
    int64_t from_ns, until_ns; /* LAB_OPEN_ENDED: until something ends it */
    int64_t noted_ns;          /* when it was last known to apply */
};
struct lab_spans {
    struct lab_span *items;
    size_t capacity;
    uint32_t count;
};

/* A violation that is not excused so far. */
struct lab_doubt {
    uint32_t oracle, key;
    int64_t from_ns, to_ns;
};
struct lab_doubts {
    struct lab_doubt *items;
    size_t capacity;
    uint32_t count;
};

struct lab_oracles {
    bool has_crowds; /* rows wait for the updates of others */
    bool finds_all;  /* a reader queries all replicas, and no agent skips windows */
    struct lab_partition *partitions;
    uint32_t partition_count, partition_capacity;
    struct sim_table table; /* of partitions by (key, bucket): numbers + 1 */
    struct lab_key_ledger *keys;
    uint32_t key_count, newest_rows;
    bool is_ordered;        /* buckets, or windows, follow row times: probabilistic, time, unbucketed */
    bool keeps_times;       /* times of the rows of each partition are stored */
    bool is_linked;         /* partitions of a key are linked: all but hash */
    int64_t tolerance_ns;   /* tolerance of the oracle `agreement` */
    int64_t lag_ns;         /* time within which a full partition must close if nothing fails */
    int64_t available_ns;   /* time within which a row must be acknowledged if nothing fails */
    uint32_t replicas;      /* number of replicas of each row */
    uint32_t read_replicas; /* number of replicas that a reader certainly queries; 0: not known */
    bool has_ended;         /* only copies of rows are observed: lab_copies_alone() */
    bool hints_may_be_lost; /* a node crashed with requests in flight, or lost its hints */
    uint32_t crashes;       /* number of agent crashes so far */
    uint64_t acknowledged;
    uint64_t copies_due; /* of rows that some replica has: copies due on the other replicas */
    struct lab_open_rows open, moved;
    struct lab_increments increments;
    struct lab_health health;
    uint32_t rolls_open;
    int64_t rolls_until_ns; /* the latest date of a roll */
    int64_t jumps_until_ns; /* the latest time of a clock that had jumped */
    uint32_t spans_of_all;  /* number + 1 of the newest span of all keys; 0: none */
    uint32_t whole_run;     /* bit c: condition c applies to all keys and times */
    struct lab_spans spans;
    struct lab_doubts doubts;
    struct lab_id_spans *id_spans; /* available.c, by stripe; NULL: rows */
    uint32_t id_stripes;
    struct lab_lives *lives; /* conserved.c, by key; NULL: rows do not expire, or it is not known when */
    uint32_t except[LAB_ORACLE_COUNT]; /* exceptions of the strategy's guarantees */
    bool is_guaranteed[LAB_ORACLE_COUNT];
    struct lab_verdict verdict;
};

#endif
