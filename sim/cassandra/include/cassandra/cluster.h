/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An in-process mock Cassandra: nodes, replicas, coordinators and the network between them, as discrete
 * events.
 *
 * It knows tables, not buckets. Four kinds of storage, each held per replica, so that copies differ as they
 * do in life:
 *  - registers: a row of up to CASS_COLUMNS int64 columns under a 64-bit key, last write wins, LWT by Paxos;
 *  - rows of named columns: as many int64 columns under a 64-bit key as the config says, each with a
 *    timestamp of its own, written and deleted some at a time and read all at once; the register under the
 *    same key holds the static columns of their partition;
 *  - counters: one counter column under a 64-bit key, one shard a leader, added to and never set;
 *  - data: partitions (key, bucket) that count rows, bytes and tombstones; row ids are kept only while a
 *    replica misses the row or its writer has no answer, and each row's place and lifetime if the config asks
 *    for them.
 * The host owns the event queue and gives back every event whose kind lies in [CASS_EVENT_FIRST,
 * CASS_EVENT_LAST]. A request is answered by one CASS_EVENT_REPLY for the client, or by none when the network
 * lost it: clients keep their own timeouts. docs/mock.md says which rules of Cassandra it keeps, and which
 * not. Nothing is allocated but to grow a pool; when that fails the cluster is unsound, see
 * cass_cluster_is_sound(). */
#ifndef CASSANDRA_CLUSTER_H
#define CASSANDRA_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/error.h"
#include "kernel/queue.h"
#include "kernel/sampler.h"

#define CASS_COLUMNS              6
#define CASS_NAMED_MAX            8 /* named columns that one statement writes or deletes */
#define CASS_NAMED_COLUMNS_MAX    65536u
#define CASS_IN_MAX               4  /* values of an IN condition */
#define CASS_NO_TTL               -1 /* USING TTL 0 */
#define CASS_DATACENTERS_MAX      8
#define CASS_CLUSTER_REPLICAS_MAX 32u /* of all datacenters together */
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
/* "QUORUM" and the like; false for a name that is none. */
bool cass_consistency_parse(const char *name, enum cass_consistency *out);
const char *cass_consistency_name(enum cass_consistency consistency);

enum cass_paxos { CASS_PAXOS_V1, CASS_PAXOS_V2 };

struct cass_datacenter {
    char name[32];
    uint32_t nodes, racks, replication_factor;
};

/* Every figure has the default of docs/mock.md; cass_cluster_config_default() fills them all. Times are at
 * least 0. */
struct cass_cluster_config {
    uint64_t seed;
    uint32_t datacenter_count;
    struct cass_datacenter datacenters[CASS_DATACENTERS_MAX];
    uint32_t num_tokens;
    uint32_t client_count;      /* agents: agent i stands in datacenter i % datacenter_count */
    uint32_t named_columns;     /* of each row of named columns; 0, the default: there are no such rows */
    struct sim_size latency_ns; /* one way, between two processes of a datacenter; constant 0: none */
    struct sim_size latency_between_ns; /* between datacenters */
    double loss, duplicate;             /* chance of each message */
    uint32_t concurrency;               /* requests that a node serves at once */
    int64_t coordinate_ns;              /* a coordinator's own work on a request; default 0: none */
    int64_t write_ns, read_ns, scan_row_ns, scan_tombstone_ns;
    int64_t gc_every_ns, gc_lasts_ns; /* means of exponentials; either 0: none */
    int64_t timeout_write_ns, timeout_read_ns, timeout_counter_ns, timeout_cas_ns;
    int64_t detect_ns;      /* from a crash or a network partition until a process believes it */
    int64_t hint_window_ns; /* no more hints for a node that is gone for longer */
    int64_t hint_retry_ns;  /* between two looks at whether hints can be delivered */
    int64_t slow_query_ns;
    enum cass_paxos paxos;
    uint32_t tombstone_warn, tombstone_fail;
    bool keeps_order; /* of the rows of each partition, 16 bytes a row: for CASS_COUNT_ROWS */
    /* Each row's write time, expiry and deletion, 24 bytes a row more; includes keeps_order. Reads then find
     * exactly the rows that live, and scan each tombstone in its place. Rows of equal row_time_ns and
     * row_order are one row. */
    bool keeps_lifetimes;
    uint32_t row_cells;     /* of a data row: an expired one is that many tombstones */
    int64_t default_ttl_ns; /* default_time_to_live of registers and of data rows; 0: none */
};

enum cass_statement_kind {
    CASS_WRITE_ROW,      /* data */
    CASS_DELETE_ROW,     /* data: a tombstone for a row that was written */
    CASS_READ_ROWS,      /* data: up to limit rows of one partition; of a span of time in it needs
                            keeps_order */
    CASS_COUNT_ROWS,     /* data: count(*) of one partition, or of its rows after a place in its order; needs
                            keeps_order. Without keeps_lifetimes the second counts rows that do not live too */
    CASS_WRITE_COLUMNS,  /* registers: plain write of the columns in set_mask */
    CASS_DELETE_COLUMNS, /* registers: tombstones for the columns in set_mask, or for the row */
    CASS_READ_COLUMNS,   /* registers: at a plain or a SERIAL level */
    CASS_CAS_COLUMNS,    /* registers: LWT: a write, or a delete of the row, under a condition */
    CASS_WRITE_NAMED,    /* rows of named columns: an unlogged batch of the columns in `named`, written or
                            deleted, and of the static columns in set_mask */
    CASS_DELETE_NAMED,   /* the same: tombstones for all of `named` */
    CASS_READ_NAMED,     /* all columns of a row, at a plain level; see cass_reply_named() */
    CASS_ADD_COUNTER,
    CASS_READ_COUNTER,
    CASS_DELETE_COUNTER, /* what is added later counts on from the old value */
    CASS_DELETE_RANGE,   /* data: a range tombstone for times in [from_ns, until_ns); needs keeps_lifetimes */
    CASS_DELETE_PARTITION /* data: needs keeps_lifetimes */
};

/* A column's name is a number below named_columns. */
struct cass_named {
    uint32_t name;
    bool is_delete; /* of a statement: a tombstone in place of the value */
    int64_t value;
    int64_t timestamp_us; /* of a statement, as cass_statement's; of a reply, as stored */
};

struct cass_statement {
    enum cass_statement_kind kind;
    enum cass_consistency consistency;        /* of a CAS: of its commit */
    enum cass_consistency serial_consistency; /* of a CAS: SERIAL or LOCAL_SERIAL */
    uint64_t key;                             /* of the register, the counter or the data partition */
    int64_t bucket;                           /* of the data partition */
    uint64_t row_id; /* CASS_WRITE_ROW: a second write of the same id is the same row, see docs/mock.md */
    int64_t row_time_ns;
    int64_t row_order; /* CASS_WRITE_ROW: rows of a partition stand in the order of row_time_ns, then this */
    bool has_after;    /* CASS_COUNT_ROWS: only rows after (after_time_ns, after_order) */
    int64_t after_time_ns, after_order;
    uint64_t bytes;
    int64_t ttl_ns; /* 0: the table's default; CASS_NO_TTL: for ever; whole seconds, rounded up */
    uint64_t limit; /* CASS_READ_ROWS; 0: all */
    bool has_span;  /* CASS_READ_ROWS: only rows with a time in [from, until), from the newest down */
    int64_t from_ns, until_ns;
    int64_t timestamp_us; /* USING TIMESTAMP; INT64_MIN: the coordinator's clock; never with a CAS. Of data
                             rows INT64_MIN is the time of the request, whatever clocks say */
    uint32_t set_mask, null_mask; /* null_mask: those of set_mask that are set to null */
    bool is_insert;    /* CASS_WRITE_COLUMNS: writes the row's marker too, so the row lives without columns */
    bool is_whole_row; /* CASS_DELETE_COLUMNS, CASS_CAS_COLUMNS: deletes the row */
    bool if_absent, if_exists; /* CASS_CAS_COLUMNS: IF NOT EXISTS, of an INSERT; IF EXISTS */
    /* The columns with a condition: IF column = equal. if_null_mask: the value is null; if_not_mask: != in
     * place of =; if_in_mask: IN the first in_count of `in`. */
    uint32_t if_mask, if_null_mask, if_not_mask, if_in_mask, in_count;
    int64_t set[CASS_COLUMNS], equal[CASS_COLUMNS], in[CASS_IN_MAX];
    int64_t delta; /* CASS_ADD_COUNTER */
    uint32_t named_count;
    struct cass_named named[CASS_NAMED_MAX]; /* of a delete without values */
};

enum cass_result {
    CASS_OK,            /* of a CAS: see applied */
    CASS_UNAVAILABLE,   /* surely not applied (not so in a CAS's commit, as in Cassandra) */
    CASS_WRITE_TIMEOUT, /* perhaps applied, perhaps later */
    CASS_WRITE_FAILURE, /* perhaps applied by some */
    CASS_READ_TIMEOUT,
    CASS_READ_FAILURE,
    CASS_CAS_UNKNOWN, /* accepted by some; perhaps completed later */
    CASS_INVALID,     /* a level or a clause that this statement cannot have; surely not applied */
    CASS_RESULT_COUNT
};
const char *cass_result_name(enum cass_result result);

struct cass_reply {
    enum cass_result result;
    bool applied;          /* CAS */
    bool found;            /* the row exists */
    uint32_t columns_mask; /* columns that have a value */
    int64_t columns[CASS_COLUMNS];
    int64_t counter;
    uint64_t rows, tombstones; /* CASS_READ_ROWS: rows found (at most limit), tombstones met; CASS_COUNT_ROWS:
                                  the count, and if not 0, columns 0 and 1 are the last row's place */
    uint64_t scanned;
    int64_t bucket; /* CASS_READ_ROWS */
    bool saw_older; /* CASS_READ_ROWS of a span: it ended at a row before it, which it went through too */
    uint32_t contentions;
    uint32_t received, required; /* answers that came, and that were wanted (of Unavailable: alive) */
};

struct cass_cluster;

void cass_cluster_config_default(struct cass_cluster_config *out);
/* The queue is the host's and outlives the cluster. Errors: SIM_ERROR_INPUT for figures that make no cluster,
 * or no memory; then *out is NULL. */
bool cass_cluster_create(const struct cass_cluster_config *config, struct sim_queue *queue,
                         struct cass_cluster **out, struct sim_error *error);
void cass_cluster_destroy(struct cass_cluster *cluster);
/* False once a pool could not grow: the cluster then does nothing any more, and the run is to be given up. */
bool cass_cluster_is_sound(const struct cass_cluster *cluster);

/* Sends a statement from a client to a coordinator (CASS_ANY_NODE: a replica of the client's datacenter that
 * the client believes up, drawn at random, else any node there). The tag comes back with the reply. */
#define CASS_ANY_NODE UINT32_MAX
void cass_request(struct cass_cluster *cluster, uint32_t client, uint32_t coordinator, uint64_t tag,
                  const struct cass_statement *statement);
/* What an event of that kind is, for an event trace: "a message arrives". NULL for a kind that is not the
 * cluster's.
 */
const char *cass_event_name(uint32_t kind);
/* Handles one of the cluster's events. */
void cass_handle(struct cass_cluster *cluster, const struct sim_event *event);
/* Takes the reply of a CASS_EVENT_REPLY and frees its slot. Each slot is to be taken or discarded once. A
 * row's id is forgotten only after an OK for it was taken, so a client that had given up waiting discards. */
void cass_reply_take(struct cass_cluster *cluster, uint64_t slot, struct cass_reply *out);
void cass_reply_discard(struct cass_cluster *cluster, uint64_t slot);
/* The live columns that a CASS_READ_NAMED found, by rising name, before its reply is taken: fills at most
 * `capacity` of them, and returns how many there are. */
uint32_t cass_reply_named(const struct cass_cluster *cluster, uint64_t slot, struct cass_named *out,
                          uint32_t capacity);

/* Faults. Places are nodes 0..n-1 and clients n..n+c-1. */
uint32_t cass_place_count(const struct cass_cluster *cluster);
uint32_t cass_place_of_client(const struct cass_cluster *cluster, uint32_t client);
/* A crashed process: what it had in flight is gone, its disk stays. */
void cass_set_down(struct cass_cluster *cluster, uint32_t node, bool is_down);
/* Service times times factor; 1: well. */
void cass_set_slow(struct cass_cluster *cluster, uint32_t node, double factor);
/* When it will have served all that it has taken up: what it took up while it was slow goes on to take long.
 */
int64_t cass_node_served_by_ns(const struct cass_cluster *cluster, uint32_t node);
/* A node that answers every request to a replica with an error, as with a broken disk. */
void cass_set_failing(struct cass_cluster *cluster, uint32_t node, bool is_failing);
/* A GC pause from now on. */
void cass_pause(struct cass_cluster *cluster, uint32_t node, int64_t lasts_ns);
/* Separates every place of group_a from every place of group_b in both directions, or joins them again. A
 * group has one byte for each place, not 0: in the group. */
void cass_set_network_partition(struct cass_cluster *cluster, const uint8_t *group_a, const uint8_t *group_b,
                                bool is_separated);
/* The same, without a word to anybody, for several changes at one moment; cass_network_partitions_tell() ends
 * them. */
void cass_change_network_partition(struct cass_cluster *cluster, const uint8_t *group_a,
                                   const uint8_t *group_b, bool is_separated);
void cass_network_partitions_tell(struct cass_cluster *cluster);
void cass_set_loss(struct cass_cluster *cluster, double loss, double duplicate);
void cass_set_delay(struct cass_cluster *cluster, double factor); /* latency times factor */
/* Each message takes `by_ns` longer with this chance; 0: none does. */
void cass_set_late(struct cass_cluster *cluster, double chance, int64_t by_ns);
/* Loses the hints that a node stores. */
void cass_drop_hints(struct cass_cluster *cluster, uint32_t node);
/* A power failure under a commit log that is synced now and then: the replica forgets what it promised,
 * accepted and learned as committed by Paxos within the last span. The columns that a commit has written
 * stay. `forgot` is called with the key of each register that lost something; returns how many did. */
uint64_t cass_forget_paxos(struct cass_cluster *cluster, uint32_t node, int64_t last_ns,
                           void (*forgot)(void *context, uint64_t key), void *context);
/* What an administrator does on all replicas at once: the register holds the columns of the mask, and no
 * others. What is under way may still change it. */
void cass_set_columns(struct cass_cluster *cluster, uint64_t key, const int64_t *columns, uint32_t mask);
void cass_set_clock(struct cass_cluster *cluster, uint32_t node, int64_t offset_ns); /* the wall clock */
/* The faults that are in force now. */
struct cass_disturbance {
    double loss, duplicate, late; /* the chances of a message */
    double delay;                 /* the factor of latencies */
    int64_t late_ns;              /* how much longer a late message takes */
};
void cass_disturbance(const struct cass_cluster *cluster, struct cass_disturbance *out);
struct cass_node_disturbance {
    bool is_down;
    double slow;             /* the factor of service times */
    int64_t paused_until_ns; /* in the past: the node does not pause */
};
void cass_node_disturbance(const struct cass_cluster *cluster, uint32_t node,
                           struct cass_node_disturbance *out);
/* Whether a network partition separates two places; either may be a client, but not both. */
bool cass_places_are_separated(const struct cass_cluster *cluster, uint32_t place, uint32_t node);
/* Ends every fault, back to the config's loss and duplication; hints flow again. Clocks stay. */
void cass_heal(struct cass_cluster *cluster);

/* Somebody who hears of what is stored as it happens: for oracles. Each function may be NULL, is called from
 * within the events, and must neither ask nor change the cluster but by the functions below, up to
 * cass_row_held(). */
struct cass_observer {
    void *context;
    /* A row is on its first replica. */
    void (*row_stored)(void *context, uint64_t key, int64_t bucket, uint64_t row_id, int64_t row_time_ns,
                       int64_t row_order);
    /* A replica holds the row, which it did not before. */
    void (*row_copied)(void *context, uint64_t key, int64_t bucket, uint64_t row_id, int64_t row_time_ns,
                       int64_t row_order, uint32_t replica);
    /* A replica's copy of a register has got a write or a commit. */
    void (*register_changed)(void *context, uint64_t key);
    /* A leader has added to a counter, for the statement that bore this row_id. */
    void (*counter_added)(void *context, uint64_t key, uint64_t row_id, int64_t delta);
};
void cass_observe(struct cass_cluster *cluster, const struct cass_observer *observer);

/* What a history says was stored (recorded.c), in place of requests; observers hear of it. */
#define CASS_EVERY_REPLICA UINT32_MAX
/* A CASS_WRITE_ROW: the replica holds it now. */
void cass_record_row(struct cass_cluster *cluster, const struct cass_statement *row, uint32_t replica);
/* The row's writer has taken an OK. */
void cass_record_answer(struct cass_cluster *cluster, uint64_t key, int64_t bucket, uint64_t row_id);
/* A reader of all replicas finds these columns of the register from now on; mask 0: no row. */
void cass_record_columns(struct cass_cluster *cluster, uint64_t key, const int64_t *columns, uint32_t mask);
/* A counter has been added to, by the statement that bore this row_id. */
void cass_record_addition(struct cass_cluster *cluster, uint64_t key, uint64_t row_id, int64_t delta);
/* The partition holds so many rows, whatever was recorded before. Observers do not hear of it. */
void cass_record_rows(struct cass_cluster *cluster, uint64_t key, int64_t bucket, uint64_t rows);

/* What is stored, seen at once and without cost: for oracles, metrics and tests. */
struct cass_partition_view {
    uint64_t key;
    int64_t bucket;
    uint64_t rows, bytes,
        tombstones; /* rows that at least one replica has; without expired and deleted ones */
    uint64_t written_rows, written_bytes; /* that some replica ever got */
    uint64_t missing_rows;                /* of the rows, those that some replica misses */
    int64_t first_row_ns, last_row_ns;
};
size_t cass_partition_count(const struct cass_cluster *cluster);
/* In order of first write; rows may be 0 when every write to it failed. */
void cass_partition_at(const struct cass_cluster *cluster, size_t index, struct cass_partition_view *out);
/* The register as a replica has it now (node), committed values alone; false when it has none. */
bool cass_peek_columns(const struct cass_cluster *cluster, uint32_t node, uint64_t key, int64_t *columns,
                       uint32_t *mask);
/* The register as a reader of all replicas would find it now, committed values alone. */
bool cass_peek_merged(const struct cass_cluster *cluster, uint64_t key, int64_t *columns, uint32_t *mask);
/* The same of a row of named columns: as cass_reply_named(). */
uint32_t cass_peek_named(struct cass_cluster *cluster, uint64_t key, struct cass_named *out,
                         uint32_t capacity);
/* How many replicas hold a row that was written: all of them for one of which nothing is open any more. */
uint32_t cass_row_held(const struct cass_cluster *cluster, uint64_t key, int64_t bucket, uint64_t row_id);
/* Whether any replica holds a row whose writer never took an OK. */
bool cass_row_is_open(const struct cass_cluster *cluster, uint64_t key, int64_t bucket, uint64_t row_id);
/* The counter as a replica has it now; false when it has none. */
bool cass_peek_counter(const struct cass_cluster *cluster, uint32_t node, uint64_t key, int64_t *value);
/* Everything that leaders ever added to the counter, whoever knows it yet. */
int64_t cass_counter_total(const struct cass_cluster *cluster, uint64_t key);
/* The same of all counters together. */
uint64_t cass_counters_total(const struct cass_cluster *cluster);
/* A request for a register, or for a data partition, will come soon: fetches its place in the table into the
 * processor's cache, or, when that has come, the entry itself. They change nothing. */
void cass_prefetch_register(const struct cass_cluster *cluster, uint64_t key, bool is_entry);
void cass_prefetch_partition(const struct cass_cluster *cluster, uint64_t key, int64_t bucket, bool is_entry);
/* The replicas of a register or counter, and of a data partition: `out` holds CASS_CLUSTER_REPLICAS_MAX. */
uint32_t cass_key_replicas(const struct cass_cluster *cluster, uint64_t key, uint32_t *out);
uint32_t cass_partition_replicas(const struct cass_cluster *cluster, uint64_t key, int64_t bucket,
                                 uint32_t *out);

struct cass_node_stats {
    uint64_t rows, bytes;                    /* data written to it, expired and deleted ones included */
    uint64_t writes, reads, paxos, counters; /* served as replica */
    uint64_t coordinated, hints_stored, hints_sent, read_repairs, slow_queries, gc_pauses;
    uint64_t dropped; /* requests that had waited longer than their timeout */
    uint64_t tombstone_warnings;
    uint64_t paxos_finished; /* proposals of others that it found accepted and brought to their end */
    int64_t busy_ns;
};
uint32_t cass_node_count(const struct cass_cluster *cluster);
void cass_node_stats(const struct cass_cluster *cluster, uint32_t node, struct cass_node_stats *out);
/* Bytes of memory that the cluster holds now. */
size_t cass_cluster_memory(const struct cass_cluster *cluster);

#endif
