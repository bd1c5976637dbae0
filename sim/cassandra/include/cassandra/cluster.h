/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An in-process mock Cassandra: nodes, replicas, coordinators and the network between them, as discrete
 * events.
 *
 * It has tables, and does not know buckets. There are four kinds of storage, each kept per replica, so that
 * replicas differ as in a real cluster:
 *  - registers: a row of up to CASS_COLUMNS int64 columns under a 64-bit key, last write wins, LWT by Paxos;
 *  - rows of named columns: config.named_columns int64 columns under a 64-bit key, each with its own
 * timestamp; a statement writes or deletes some of them, and a read returns all of them; the register under
 * the same key has the static columns of their partition;
 *  - counters: one counter column under a 64-bit key, with one shard per leader, which can be added to but
 * not set;
 *  - data: partitions (key, bucket) that count rows, bytes and tombstones. A row's id is stored only while a
 * replica misses the row or its writer has no answer; each row's place and lifetime are stored only if the
 * config requests it. The host owns the event queue, and passes every event whose kind is in
 * [CASS_EVENT_FIRST, CASS_EVENT_LAST] to cass_handle(). A request is answered by one CASS_EVENT_REPLY to the
 * client, or by none if the network lost the answer, so clients need their own timeouts. docs/mock.md says
 * which rules of Cassandra the mock follows, and which it does not. Memory is only allocated to grow a pool;
 * if that fails, the cluster is unsound, see cass_cluster_is_sound(). */
#ifndef CASSANDRA_CLUSTER_H
#define CASSANDRA_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cassandra/ring.h"
#include "kernel/error.h"
#include "kernel/queue.h"
#include "kernel/sampler.h"

#define CASS_COLUMNS           6
#define CASS_NAMED_MAX         8 /* the most named columns that one statement writes or deletes */
#define CASS_NAMED_COLUMNS_MAX 65536u
#define CASS_IN_MAX            4  /* the most values of an IN condition */
#define CASS_NO_TTL            -1 /* USING TTL 0 */
/* With storage_compatibility_mode: CASSANDRA_4, the default of 5.0, nothing that expires later is stored:
 * 2038-01-19T03:14:06Z. */
#define CASS_EXPIRES_MAX_S        (INT64_C(2147483646))
#define CASS_CLUSTER_REPLICAS_MAX 32u /* replicas in all datacenters together */
#define CASS_CLUSTER_NODES_MAX    1024u
#define CASS_CLUSTER_PAIRS_MAX    ((size_t)1 << 24) /* nodes x (nodes + clients) */
#define CASS_EVENT_FIRST          1000u
#define CASS_EVENT_LAST           1999u
#define CASS_EVENT_REPLY          2000u /* to the client: target = client, a = the request's tag, b = reply slot */

enum cass_consistency {
    CASS_ANY,
    CASS_ONE,
    CASS_TWO,
    CASS_THREE,
    CASS_QUORUM,
    CASS_ALL,
    CASS_LOCAL_QUORUM,
    CASS_EACH_QUORUM,
    CASS_LOCAL_ONE,
    CASS_SERIAL,
    CASS_LOCAL_SERIAL,
    CASS_CONSISTENCY_COUNT
};
const char *cass_consistency_name(enum cass_consistency consistency);
/* How many of `factor` replicas a request of this level waits for; any node will do for ANY. */
uint32_t cass_required(enum cass_consistency level, uint32_t factor);
bool cass_is_local(enum cass_consistency level);

enum cass_paxos { CASS_PAXOS_V1, CASS_PAXOS_V2 };

/* docs/mock.md has the default of every member; cass_cluster_config_default() sets them all. Times must be at
 * least 0. */
struct cass_cluster_config {
    uint64_t seed;
    uint32_t datacenter_count;
    struct cass_datacenter datacenters[CASS_DATACENTERS_MAX];
    uint32_t num_tokens;
    uint32_t client_count;      /* number of agents; agent i is in datacenter i % datacenter_count */
    uint32_t named_columns;     /* columns per row of named columns; 0, the default: there are no such rows */
    struct sim_size latency_ns; /* one-way latency between two processes of a datacenter; constant 0: none */
    struct sim_size latency_between_ns; /* one-way latency between datacenters */
    double loss, duplicate;             /* probability for each message */
    uint32_t concurrency;               /* number of requests that a node serves concurrently */
    int64_t coordinate_ns;              /* time that a coordinator needs for a request; default 0 */
    int64_t write_ns, read_ns, scan_row_ns, scan_tombstone_ns;
    int64_t gc_every_ns, gc_lasts_ns; /* garbage collection: means of exponential distributions; if either is
                                         0, there is none */
    int64_t timeout_write_ns, timeout_read_ns, timeout_counter_ns, timeout_cas_ns;
    int64_t detect_ns;      /* time from a crash or a network partition until a process detects it */
    int64_t hint_window_ns; /* no hints are stored for a node that has been unreachable for longer */
    int64_t hint_retry_ns;  /* time between two checks whether hints can be delivered */
    int64_t slow_query_ns;
    enum cass_paxos paxos;
    uint32_t tombstone_warn, tombstone_fail;
    bool avoids_shortcuts; /* for tests: every request takes the general code path, with the same events */
    /* Stores each row's place in its partition, write time, expiry and deletion, 42 bytes per row. Reads then
     * find exactly the live rows, and scan each tombstone at its place. Rows with equal row_time_ns and
     * row_order are one row. */
    bool keeps_lifetimes;
    uint32_t row_cells;     /* cells per data row; an expired row is this number of tombstones */
    int64_t default_ttl_ns; /* default_time_to_live of registers and data rows; 0: none */
};

enum cass_statement_kind {
    CASS_WRITE_ROW,  /* data */
    CASS_DELETE_ROW, /* data: a tombstone for a row that was written */
    CASS_READ_ROWS,  /* data: read up to `limit` rows of one partition; of a time span: needs keeps_lifetimes
                      */
    CASS_COUNT_ROWS, /* data: count(*) of one partition, or of its rows after a place in its order, which
                        needs keeps_lifetimes */
    CASS_WRITE_COLUMNS,  /* registers: plain write of the columns in set_mask */
    CASS_DELETE_COLUMNS, /* registers: tombstones for the columns in set_mask, or for the row */
    CASS_READ_COLUMNS,   /* registers: read, at a plain or a SERIAL level */
    CASS_CAS_COLUMNS,    /* registers: LWT: a write, or a delete of the row, under a condition */
    CASS_WRITE_NAMED,    /* rows of named columns: an unlogged batch that writes or deletes the columns in
                            `named`, and writes the static columns in set_mask */
    CASS_DELETE_NAMED,   /* rows of named columns: tombstones for all columns in `named` */
    CASS_READ_NAMED,     /* rows of named columns: read all columns of a row, at a plain level; see
                            cass_reply_named() */
    CASS_ADD_COUNTER,
    CASS_READ_COUNTER,
    CASS_DELETE_COUNTER, /* later additions continue from the old value */
    CASS_DELETE_RANGE,   /* data: a range tombstone for times in [from_ns, until_ns); needs keeps_lifetimes */
    CASS_DELETE_PARTITION /* data: needs keeps_lifetimes */
};

/* A column's name is a number below named_columns. */
struct cass_named {
    uint32_t name;
    bool is_delete; /* in a statement: write a tombstone instead of the value */
    int64_t value;
    int64_t timestamp_us; /* in a statement, as in struct cass_statement; in a reply, as stored */
};

struct cass_statement {
    enum cass_statement_kind kind;
    enum cass_consistency consistency;        /* for a CAS, the level of its commit */
    enum cass_consistency serial_consistency; /* for a CAS: SERIAL or LOCAL_SERIAL */
    uint64_t key;                             /* key of the register, the counter or the data partition */
    int64_t bucket;                           /* bucket of the data partition */
    uint64_t row_id; /* CASS_WRITE_ROW: a second write with the same id is the same row, see docs/mock.md */
    int64_t row_time_ns;
    int64_t row_order; /* CASS_WRITE_ROW: rows of a partition are sorted by row_time_ns, then by this */
    bool has_after;    /* CASS_COUNT_ROWS: only rows after (after_time_ns, after_order) */
    int64_t after_time_ns, after_order;
    uint64_t bytes;
    int64_t ttl_ns; /* 0: the table's default; CASS_NO_TTL: it never expires; whole seconds, rounded up */
    uint64_t limit; /* CASS_READ_ROWS: the most rows; 0: all */
    bool has_span;  /* CASS_READ_ROWS: read only rows with a time in [from_ns, until_ns), newest first */
    int64_t from_ns, until_ns;
    int64_t timestamp_us; /* USING TIMESTAMP, not allowed for a CAS; INT64_MIN: the coordinator's clock, or
                             for data rows the true time of the request */
    uint32_t set_mask, null_mask; /* null_mask: the columns of set_mask that are set to null */
    bool is_insert;    /* CASS_WRITE_COLUMNS: writes the row's marker too, so the row lives without columns */
    bool is_whole_row; /* CASS_DELETE_COLUMNS, CASS_CAS_COLUMNS: deletes the row */
    bool if_absent, if_exists; /* CASS_CAS_COLUMNS: IF NOT EXISTS, of an INSERT; IF EXISTS */
    /* if_mask: the columns with a condition, IF column = equal. if_null_mask: those compared with null;
     * if_not_mask: those with != instead of =; if_in_mask: those with IN (the first in_count values of
     * `in`). */
    uint32_t if_mask, if_null_mask, if_not_mask, if_in_mask, in_count;
    int64_t set[CASS_COLUMNS], equal[CASS_COLUMNS], in[CASS_IN_MAX];
    int64_t delta; /* CASS_ADD_COUNTER */
    uint32_t named_count;
    struct cass_named named[CASS_NAMED_MAX]; /* for a delete, values are not used */
};

enum cass_result {
    CASS_OK,            /* for a CAS, see `applied` */
    CASS_UNAVAILABLE,   /* certainly not applied (except in the commit of a CAS, as in Cassandra) */
    CASS_WRITE_TIMEOUT, /* may have been applied, or may still be applied later */
    CASS_WRITE_FAILURE, /* may have been applied by some replicas */
    CASS_READ_TIMEOUT,
    CASS_READ_FAILURE,
    CASS_CAS_UNKNOWN, /* accepted by some replicas; may be completed later */
    CASS_INVALID,     /* a level or clause that this statement does not allow; certainly not applied */
    CASS_RESULT_COUNT
};

struct cass_reply {
    enum cass_result result;
    bool applied;          /* CAS */
    bool found;            /* the row exists */
    uint32_t columns_mask; /* columns that have a value */
    int64_t columns[CASS_COLUMNS];
    int64_t counter;
    uint64_t rows,
        tombstones; /* CASS_READ_ROWS: rows found (at most `limit`) and tombstones scanned. CASS_COUNT_ROWS:
                       the count; if it is not 0, columns 0 and 1 are the place of the last row */
    uint64_t scanned;
    int64_t bucket; /* CASS_READ_ROWS */
    bool saw_older; /* CASS_READ_ROWS of a time span: the read ended at a row before the span, which it
                       scanned too */
    uint32_t contentions;
    uint32_t received,
        required; /* number of answers received (for Unavailable, of live replicas) and required */
};

struct cass_cluster;

void cass_cluster_config_default(struct cass_cluster_config *out);
/* Creates a cluster. The queue is owned by the host and must outlive the cluster. The config must be valid;
 * of datacenters and tokens that no ring can have, the error says so (cassandra/ring.h). On errors, also when
 * out of memory, *out is NULL. */
bool cass_cluster_create(const struct cass_cluster_config *config, struct sim_queue *queue,
                         struct cass_cluster **out, struct sim_error *error);
void cass_cluster_destroy(struct cass_cluster *cluster);
/* Returns false once a pool could not grow: the cluster then does nothing any more, and the run must be
 * abandoned. */
bool cass_cluster_is_sound(const struct cass_cluster *cluster);
/* Whether it is unsound, for a loop that tests it often. The address is valid until the cluster is destroyed.
 */
const bool *cass_cluster_broken(const struct cass_cluster *cluster);

/* Sends a statement from a client to a coordinator. CASS_ANY_NODE: a random replica in the client's
 * datacenter that the client believes to be up, or else any node there. The reply has the same tag. */
#define CASS_ANY_NODE UINT32_MAX
void cass_request(struct cass_cluster *cluster, uint32_t client, uint32_t coordinator, uint64_t tag,
                  const struct cass_statement *statement);
/* The description of a kind of event for an event trace: "a message arrives". NULL for a kind that does not
 * belong to the cluster. */
const char *cass_event_name(uint32_t kind);
/* Handles one of the cluster's events. */
void cass_handle(struct cass_cluster *cluster, const struct sim_event *event);
/* Takes the reply of a CASS_EVENT_REPLY and frees its slot. Each slot must be either taken or discarded,
 * once. A row's id is removed only after an OK for it was taken, so a client that had stopped waiting must
 * discard the reply. */
void cass_reply_take(struct cass_cluster *cluster, uint64_t slot, struct cass_reply *out);
void cass_reply_discard(struct cass_cluster *cluster, uint64_t slot);
/* The live columns that a CASS_READ_NAMED found, in ascending order of names. Must be called before the reply
 * is taken. Writes at most `capacity` columns, and returns their total number. */
uint32_t cass_reply_named(const struct cass_cluster *cluster, uint64_t slot, struct cass_named *out,
                          uint32_t capacity);

/* Faults. A place is a node (0 to n - 1) or a client (n to n + c - 1). */
uint32_t cass_place_count(const struct cass_cluster *cluster);
uint32_t cass_place_of_client(const struct cass_cluster *cluster, uint32_t client);
/* Crashes a node, or restarts it. What it had in flight is lost; its disk is kept. */
void cass_set_down(struct cass_cluster *cluster, uint32_t node, bool is_down);
/* Multiplies a node's service times by the factor; 1: normal. */
void cass_set_slow(struct cass_cluster *cluster, uint32_t node, double factor);
/* When the node will have served all requests that it has accepted, and its pause will have ended: requests
 * that it accepted while it was slow still take long. */
int64_t cass_node_served_by_ns(const struct cass_cluster *cluster, uint32_t node);
/* Begins a garbage collection pause now. */
void cass_pause(struct cass_cluster *cluster, uint32_t node, int64_t lasts_ns);
/* Separates every place of group_a from every place of group_b in both directions, or ends one such
 * separation: places that several network partitions separate are joined when all of them have ended. A group
 * has one byte for each place, which is not 0 if the place is in the group. */
void cass_set_network_partition(struct cass_cluster *cluster, const uint8_t *group_a, const uint8_t *group_b,
                                bool is_separated);
void cass_set_loss(struct cass_cluster *cluster, double loss, double duplicate);
void cass_set_delay(struct cass_cluster *cluster, double factor); /* latency times factor */
/* Each message takes `by_ns` longer with this chance; 0: none does. */
void cass_set_late(struct cass_cluster *cluster, double chance, int64_t by_ns);
/* Loses the hints that a node stores. */
void cass_drop_hints(struct cass_cluster *cluster, uint32_t node);
/* A power failure with a commit log that is synced only periodically: the replica loses what it promised,
 * accepted and learned as committed by Paxos within the last last_ns. The columns that a commit has written
 * are kept. `forgot` is called with the key of each register that lost something; returns their number. */
uint64_t cass_forget_paxos(struct cass_cluster *cluster, uint32_t node, int64_t last_ns,
                           void (*forgot)(void *context, uint64_t key), void *context);
/* An administrator's change on all replicas at the same time: the register then has the columns of the mask,
 * and no others. Operations in flight may still change it. */
void cass_set_columns(struct cass_cluster *cluster, uint64_t key, const int64_t *columns, uint32_t mask);
/* When the last message arrives to whose latency a delay was added; INT64_MIN: to none was. */
int64_t cass_delayed_until_ns(const struct cass_cluster *cluster);
/* Ends every fault: loss and duplication are those of the config again, and hints are delivered again. Clocks
 * are not changed. */
void cass_heal(struct cass_cluster *cluster);

/* An observer of what is stored, for oracles. Each function may be NULL. It is called while an event is
 * handled, and must not call functions of the cluster other than those below, up to cass_row_held(). */
struct cass_observer {
    void *context;
    /* A row was stored on its first replica. */
    void (*row_stored)(void *context, uint64_t key, int64_t bucket, uint64_t row_id, int64_t row_time_ns,
                       int64_t row_order, uint64_t row_bytes, uint32_t replica);
    /* A replica has stored a row that it did not have, and that another replica had stored before. */
    void (*row_copied)(void *context, uint64_t key, int64_t bucket, uint64_t row_id, int64_t row_time_ns,
                       int64_t row_order, uint32_t replica);
    /* A replica's copy of a register got a write or a commit. */
    void (*register_changed)(void *context, uint64_t key);
    /* A leader has added to a counter, for the statement with this row_id. */
    void (*counter_added)(void *context, uint64_t key, uint64_t row_id, int64_t delta);
};
void cass_observe(struct cass_cluster *cluster, const struct cass_observer *observer);

/* Functions that store the contents of a recorded history without requests (direct.c). Observers are
 * notified, unless stated otherwise. */
#define CASS_EVERY_REPLICA UINT32_MAX
/* Stores the row of a CASS_WRITE_ROW on a replica. */
void cass_record_row(struct cass_cluster *cluster, const struct cass_statement *row, uint32_t replica);
/* Records that the row's writer has got an OK. */
void cass_record_answer(struct cass_cluster *cluster, uint64_t key, int64_t bucket, uint64_t row_id);
/* Sets the columns that a reader of all replicas finds in the register from now on; mask 0: no row. */
void cass_record_columns(struct cass_cluster *cluster, uint64_t key, const int64_t *columns, uint32_t mask);
/* Records an addition to a counter, by the statement with this row_id. */
void cass_record_addition(struct cass_cluster *cluster, uint64_t key, uint64_t row_id, int64_t delta);
/* Sets the number of rows of a partition, whatever was recorded before. Observers are not notified. */
void cass_record_rows(struct cass_cluster *cluster, uint64_t key, int64_t bucket, uint64_t rows);

/* Functions that return what is stored, immediately and without simulated cost, for oracles, metrics and
 * tests. */
struct cass_partition_view {
    uint64_t key;
    int64_t bucket;
    uint64_t rows, bytes,
        tombstones; /* of rows that at least one replica has, without expired and deleted rows */
    uint64_t written_rows, written_bytes; /* of all rows that some replica ever got */
};
size_t cass_partition_count(const struct cass_cluster *cluster);
/* Partitions are in order of their first write; rows may be 0 if every write failed. */
void cass_partition_at(struct cass_cluster *cluster, size_t index, struct cass_partition_view *out);
/* The committed values of a register that a reader of all replicas would find now. */
bool cass_peek_merged(const struct cass_cluster *cluster, uint64_t key, int64_t *columns, uint32_t *mask);
/* The columns of a row of named columns that a reader of all replicas would find now; see
 * cass_reply_named(). */
uint32_t cass_peek_named(struct cass_cluster *cluster, uint64_t key, struct cass_named *out,
                         uint32_t capacity);
/* The number of replicas that have a written row; all of them, if nothing about the row is open any more. */
uint32_t cass_row_held(const struct cass_cluster *cluster, uint64_t key, int64_t bucket, uint64_t row_id);
/* Whether any replica has the row, and its writer never took an OK. */
bool cass_row_is_open(const struct cass_cluster *cluster, uint64_t key, int64_t bucket, uint64_t row_id);
/* The sum of all additions of leaders to the counter, whether replicas have them yet or not. */
int64_t cass_counter_total(const struct cass_cluster *cluster, uint64_t key);
/* The sum of all additions to all counters. */
uint64_t cass_counters_total(const struct cass_cluster *cluster);
/* Prefetches the slot in the hash table of a register, or of a data partition, into the processor's cache,
 * for a request that will be made soon; if is_entry, prefetches the entry itself, for which the slot should
 * be in the cache already. They change nothing. */
void cass_prefetch_register(const struct cass_cluster *cluster, uint64_t key, bool is_entry);
void cass_prefetch_partition(const struct cass_cluster *cluster, uint64_t key, int64_t bucket, bool is_entry);

struct cass_node_stats {
    uint64_t rows, bytes;                    /* data rows written to it, including expired and deleted ones */
    uint64_t writes, reads, paxos, counters; /* requests served as a replica */
    uint64_t coordinated, hints_stored, hints_sent, read_repairs, slow_queries, gc_pauses;
    uint64_t dropped; /* requests that were dropped since they had waited longer than their timeout */
    uint64_t tombstone_warnings;
    uint64_t paxos_finished; /* accepted proposals of other coordinators that it found and completed */
    int64_t busy_ns;
};
uint32_t cass_node_count(const struct cass_cluster *cluster);
void cass_node_stats(const struct cass_cluster *cluster, uint32_t node, struct cass_node_stats *out);

#endif
