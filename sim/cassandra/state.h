/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of the mock. In: statements of clients, and the queue's events. Kept: struct cass_cluster. Out:
 * events, a reply for each statement, and calls of the observer for what is stored.
 *
 *     cass_request()                                                     CASS_EVENT_REPLY
 *          |                                                                   ^
 *          v                                                                   |
 *     mock.c: a message to a coordinator --network.c: latency, loss, partitions-+---------+
 *          |                                                                             |
 *          v                                                                             |
 *     coordinator.c: an operation: level, writes, timers, its answer ---------------------+
 *          |-- coordinator_read.c   answers of replicas, merged and repaired
 *          |-- paxos.c              LWTs and SERIAL reads; the locks of keys
 *          |-- replica.c            leaders of counters; hints for replicas that missed a write
 *          v
 *     network.c: the queue of a node, its pauses and its clock
 *          v
 *     replica.c: service time and effect of a request at a replica
 *          v
 *     storage.c: registers, counters, named columns     storage_rows.c: rows of data partitions
 *     token_ring.c: which nodes have a key              direct.c: looks at, and changes, what is stored
 *
 * value.c (types and keys of CQL, tokens) and sstable.c (bytes on disk) serve other folders as well. While
 * nothing fails and a key has one replica, mock.c does in one step what the others do in many.
 *
 * The state is in pools and arrays, and is accessed by index. An index into a pool stays valid when the pool
 * grows, but a pointer does not: after allocating an item, look up pointers into the same pool again. */
#ifndef CASSANDRA_STATE_H
#define CASSANDRA_STATE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cassandra/cluster.h"
#include "cassandra/ring.h"
#include "kernel/random.h"
#include "kernel/table.h"
#include "kernel/time.h"

/* Pools of items of equal size, identified by index, with a free list through the first four bytes of free
 * items.
 *
 * Item 0 is never allocated: index 0 means "none". A pool that cannot grow returns item 0, so that the caller
 * need not handle the error; it also sets *is_broken, and the owner stops before the next event. */
#define CASS_NONE 0u

struct cass_pool {
    uint8_t *items;
    size_t item_size;
    uint32_t used, capacity; /* used: number of items that were ever allocated, including item 0 */
    uint32_t free_head;
    bool *is_broken; /* owned by the pool's owner */
};

/* Allocates an item that was never allocated before; 0 when out of memory. */
uint32_t cass_pool_take_new(struct cass_pool *pool);

/* Allocates an item. It is zeroed when it is allocated for the first time; later it has its previous
 * contents, except for the first four bytes. */
static inline uint32_t cass_pool_take(struct cass_pool *pool)
{
    uint32_t index = pool->free_head;
    if (SIM_UNLIKELY(index == CASS_NONE))
        return cass_pool_take_new(pool);
    memcpy(&pool->free_head, pool->items + index * pool->item_size, sizeof(pool->free_head));
    return index;
}

static inline void cass_pool_give(struct cass_pool *pool, uint32_t index)
{
    if (index == CASS_NONE)
        return;
    assert(index < pool->used);
    memcpy(pool->items + index * pool->item_size, &pool->free_head, sizeof(pool->free_head));
    pool->free_head = index;
}

/* Draws the tokens of a ring: sorted pairs with unique tokens. Private to this folder and its tests. */
struct cass_ring_entry {
    int64_t token;
    uint32_t node;
};

/* Draws a random token; INT64_MIN, which is never a token, becomes INT64_MAX. */
int64_t cass_ring_draw(struct sim_random *stream);
/* The index of the first entry with the same token as the previous one, or count. Entries must be sorted. */
size_t cass_ring_duplicate(const struct cass_ring_entry *entries, size_t count);
/* Sorts the entries, and draws every duplicate token again from its node's stream (the entry of the lowest
 * node keeps the token), until all are unique. */
void cass_ring_settle(struct cass_ring_entry *entries, size_t count, struct sim_random *streams);

/* Internals of a ring, shared by its replication strategies. */
#define RING_PART_BITS 13
#define RING_PARTS     (1u << RING_PART_BITS)
struct cass_ring {
    size_t token_count;
    uint32_t node_count;
    uint32_t replication_factor;
    int64_t *tokens;    /* ascending */
    uint32_t *replicas; /* replication_factor nodes for each token */
    uint32_t *firsts;   /* of each of RING_PARTS equal parts of all tokens, its first position, and the end */
};

#define NO_TIME INT64_MIN
/* The longest time that anything takes, however slow a fault makes it: ten years, so that sums of times do
 * not overflow. */
#define SPAN_MAX (INT64_C(10) * 366 * 86400 * 1000000000)
#define NEVER    INT64_MAX

enum event_kind {
    EVENT_ARRIVE = CASS_EVENT_FIRST, /* target: place, a: message */
    EVENT_SERVED,                    /* target: node, a: message */
    EVENT_TIMER,                     /* target: node, a: operation, b: generation and timer */
    EVENT_PAUSE,                     /* target: node, a: generation of the node's garbage collections */
    EVENT_HINTS,                     /* target: node that stores the hints, a: node for which they are */
};

enum message_kind {
    MESSAGE_REQUEST,   /* client -> coordinator: an operation */
    MESSAGE_WRITE_ROW, /* to a replica: a row; answered by ACK */
    MESSAGE_WRITE_CELLS,
    MESSAGE_WRITE_SHARD,
    MESSAGE_REPAIR_ROWS, /* limit: the set of replicas from which it is repaired */
    MESSAGE_REPAIR_SHARDS,
    MESSAGE_READ_ROWS, /* to a replica; answered by ANSWER */
    MESSAGE_READ_CELLS,
    MESSAGE_READ_SHARDS,
    MESSAGE_COUNT,       /* coordinator -> leader; answered by ANSWER */
    MESSAGE_PREPARE,     /* answered by ANSWER */
    MESSAGE_PROPOSE,     /* answered by ANSWER */
    MESSAGE_COMMIT,      /* answered by ACK */
    MESSAGE_COUNT_SHARD, /* internal to a leader, not sent over the network: its own shard is read and written
                          */
    MESSAGE_ACK,
    MESSAGE_ANSWER,
    MESSAGE_HINT_ACK,
};

/* MESSAGE_SCANS: in a read, `limit` and `tombstones` are the numbers of rows and tombstones that it scans. */
enum { MESSAGE_FAILED = 1, MESSAGE_REFUSED = 2, MESSAGE_HINT = 4, MESSAGE_SCANS = 8 };

struct message {
    uint32_t next; /* free list */
    uint8_t kind, flags;
    uint16_t replica; /* index of the replica among the key's replicas */
    uint32_t from, to;
    uint32_t operation, generation; /* the operation to which an answer belongs; for a hint, the hint */
    uint32_t round;
    uint32_t entity; /* partition, register or counter */
    uint32_t body;   /* a row for WRITE_ROW, otherwise a body; the message has a reference to it */
    uint32_t limit;
    uint32_t epoch; /* epoch of the node that serves it */
    uint32_t tombstones;
    int64_t sent_ns;
    int64_t frozen_ns; /* the node's frozen_ns when the service was scheduled */
};

struct cell {
    int64_t value;
    int64_t timestamp_us; /* NO_TIME: no cell */
    int64_t
        deletion_s; /* NEVER: does not expire; >= 0: time of expiry; < 0: a tombstone, ~(time of deletion) */
};

struct ballot {
    int64_t micros; /* NO_TIME: none */
    uint32_t node;
};

/* The contents of a register. Cells that are not newer than the row's deletion are not stored. */
struct image {
    struct cell cells[CASS_COLUMNS];
    int64_t marker_us, marker_until_s; /* the row marker, which INSERT writes: its timestamp (NO_TIME: none),
                                          and its expiry (NEVER: none) */
    int64_t deleted_us;                /* timestamp of the row's deletion; NO_TIME: none */
};

struct proposal {
    struct ballot ballot;
    bool is_empty;
    struct image image; /* the cells that it sets; all other cells have no timestamp */
};

struct shard {
    int64_t clock, count;
};

/* A row's place in its partition. */
struct clustering {
    int64_t time_ns, order;
};

/* The places of a partition that a read has seen: from `oldest` on, with times before until_ns. */
struct cass_seen {
    struct clustering oldest;
    int64_t until_ns;
};

/* The body of a message. */
struct body {
    uint32_t next, references;
    struct ballot ballot, promised;
    struct proposal accepted,
        committed; /* accepted: in a PROPOSE, the proposal; committed: in a COMMIT, the commit */
    struct image image;
    uint64_t limit;
    uint64_t row_id; /* row id of an addition to a counter */
    int64_t delta;
    uint32_t leader; /* index among the replicas */
    struct shard shard;
    struct shard shards[CASS_CLUSTER_REPLICAS_MAX + 1]; /* the last one: the counter's deletion */
    uint32_t named;                                     /* named columns; CASS_NONE: none */
    struct cass_seen seen;                              /* of a repair of rows: what is repaired */
    uint32_t answers[CASS_CLUSTER_REPLICAS_MAX];        /* for a read: the body that each replica sent */
};

struct paxos_state {
    struct ballot promised;
    struct proposal accepted, committed;
};

/* Of a counter only key and position are used. */
struct register_entry {
    uint64_t key;
    uint32_t position; /* position in the ring */
    uint32_t paxos;    /* index of its Paxos states; CASS_NONE: none yet */
    uint32_t named;    /* index of its named columns, one copy per replica; CASS_NONE: none yet */
    uint32_t written;  /* set of replicas that have cells; the images of other replicas are not used */
};

/* When a row was written, expires and was deleted. A row that is newer than its deletion is live. */
struct lifetime {
    int64_t written_us, expires_s, deleted_us; /* NO_TIME, NEVER, NO_TIME: not so */
};

#define CLUSTERING_CHUNK 31u
/* Places in ascending order, and the lifetimes of their rows as far as all replicas have them. The next chunk
 * has older ones. */
struct clustering_chunk {
    uint32_t next, count;
    uint32_t special; /* number of rows that expire or are deleted, or that some replica misses */
    struct clustering places[CLUSTERING_CHUNK];
    uint16_t open[CLUSTERING_CHUNK]; /* for each row, the number of its records that some replica misses */
    struct lifetime items[CLUSTERING_CHUNK];
};

/* A range tombstone that all replicas have: times from from_ns to until_ns, both included. */
struct range {
    uint32_t next;
    int64_t from_ns, until_ns, deleted_us, deleted_s; /* deleted_s: the second of the request */
};

struct partition {
    uint64_t key;
    int64_t bucket;
    uint64_t rows, bytes;
    uint64_t written_rows, written_bytes; /* including expired and deleted rows */
    uint32_t position;
    uint32_t tombstones;
    uint32_t unresolved; /* first of its records that some replica misses */
    uint32_t expiry_head, expiry_tail;
    uint32_t newest; /* newest chunk of places */
    uint32_t ranges; /* first of its range tombstones; a deletion of the partition is a range of all times */
    uint32_t open_ranges; /* number of records of range tombstones that some replica misses */
    uint32_t records;     /* number of records of rows */
    uint32_t is_tabled;   /* 1: its records are in the table of rows, since they are many or were */
};

/* ROW_RANGE: a range tombstone for the times from time_ns to `order`, inclusive; ROW_ALL: a range of all
 * times. */
enum {
    ROW_DELETE = 1,
    ROW_CONFIRMED = 2,
    ROW_RANGE = 4,
    ROW_ALL = 8,
    ROW_KIND = ROW_DELETE | ROW_RANGE | ROW_ALL
};

/* A record of a row (or delete, or range tombstone) that some replica misses, that is still in flight, or
 * whose writer has no OK. */
struct row {
    uint32_t next, previous; /* in the list of its partition */
    uint32_t partition;
    uint32_t references;
    uint32_t held; /* set of replicas that have it */
    uint32_t flags;
    uint64_t row_id;
    uint64_t bytes;
    int64_t time_ns, order;
    int64_t expires_s;    /* NEVER: does not expire; of a delete, the second of the request */
    int64_t timestamp_us; /* timestamp of the write or the delete */
};

/* Rows of a partition that expire in the same second. */
struct expiry {
    uint32_t next;
    uint32_t rows;
    int64_t second;
    uint64_t bytes;
};

enum stage {
    STAGE_TRAVELLING, /* in transit to the coordinator */
    STAGE_WRITE,
    STAGE_READ,
    STAGE_READ_AGAIN, /* full reads after a mismatch */
    STAGE_REPAIR,
    STAGE_LOCK_WAIT, /* waiting for the counter's lock, or for the key's lock of Paxos v2 */
    STAGE_COUNT,     /* a leader reads and writes its own shard */
    STAGE_LEADER,    /* the coordinator waits for the leader */
    STAGE_PREPARE,
    STAGE_PROPOSE,
    STAGE_PROPOSE_REPAIR, /* proposing another coordinator's unfinished proposal */
    STAGE_COMMIT_REPAIR,  /* repairing a commit that some replicas miss, or committing another's proposal that
                             was just accepted */
    STAGE_COMMIT,
    STAGE_SLEEP,
};

struct cass_operation {
    uint32_t next;       /* free list, or waiting list of a lock */
    uint32_t generation; /* never reset; odd while in use */
    uint8_t stage;
    bool is_answered, is_leader, is_condition_failed, has_mismatch, has_lock;
    bool is_carrying_row; /* `body` is a row */
    uint32_t round;       /* current round; answers of earlier rounds are ignored */
    uint32_t place;       /* the node that runs it */
    uint32_t client;
    uint64_t tag;
    uint32_t entity, body, position;
    uint32_t gathered; /* body in which a read collects answers */
    uint32_t asked, acked, failed, hinted,
        counted; /* sets of replicas; counted: those that the consistency level counts */
    uint32_t required;
    uint32_t repairing;
    enum cass_consistency level;
    int64_t started_ns;
    uint64_t timer;
    bool has_timer;
    /* for a leader's operation: where to send the answer */
    uint32_t parent, parent_generation, parent_round, parent_place, leader;
    /* LWT */
    uint32_t contentions, accepted;
    int64_t ballot_least;
    struct ballot ballot;
    /* The members from here on are not cleared for the write of a row, which uses only the statement's kind
     * and level. */
    struct cass_statement statement;
    struct cass_reply reply;
};

struct hint {
    uint32_t next;
    uint8_t kind; /* kind of its message */
    uint16_t replica;
    uint32_t body, entity;
};

struct hint_list {
    uint32_t head, tail, in_flight;
    uint32_t page; /* current page; acknowledgements of earlier pages are ignored, and their hints are sent
                      again */
    uint64_t event;
    bool has_event;
};

struct node {
    uint32_t datacenter;
    bool is_down, is_failing;
    uint32_t epoch;
    int64_t paused_until_ns, frozen_ns;
    double slow;
    int64_t clock_offset_ns, last_timestamp_us;
    int64_t paxos_mean_ns; /* mean duration of its LWTs, for the waits of Paxos v2 */
    struct sim_random pause, backoff;
    struct cass_node_stats stats;
};

#define LATENCIES_AHEAD 8u
/* Lognormal latencies that were drawn in advance. */
struct latencies {
    uint32_t taken;                   /* number of latencies that were used; LATENCIES_AHEAD: all */
    int64_t near_ns[LATENCIES_AHEAD]; /* latencies within a datacenter */
    double
        normals[LATENCIES_AHEAD]; /* normal variates from which latencies between datacenters are computed */
};

struct place {
    uint32_t datacenter;
    struct sim_random latency, loss, choice;
    struct latencies ahead;
};

/* The lock of a key on a node, and the list of waiting operations. */
struct lock {
    uint32_t next;
    uint32_t node;
    uint32_t entity;
    uint32_t is_counter;
    uint32_t head, tail;
};

#define CASS_WRITTEN_LAST 128u
struct cass_cluster {
    struct cass_cluster_config config;
    struct sim_queue *queue;
    struct cass_ring *ring;
    uint32_t node_count, place_count, factor; /* factor: number of replicas of a key */
    uint32_t all;                             /* the set of all replicas of a key */
    uint32_t datacenter_first[CASS_DATACENTERS_MAX];
    double loss, duplicate, delay, late; /* late: probability that a message is late by late_ns */
    int64_t late_ns, delayed_until_ns; /* delayed_until_ns: when the last message that was delayed arrives */
    struct node *nodes;
    struct place *places;
    int64_t *free_at;    /* a heap per node: when its servers are free */
    uint32_t *separated; /* for each place and node, the number of network partitions between them */
    size_t separated_count;
    int64_t *gone_since; /* by (place, node): since when the node is unreachable; NEVER: it is reachable */
    size_t gone_count;   /* number of pairs whose node is unreachable */
    struct hint_list *hints_for; /* by (node that stores the hints, node for which they are) */
    union {
        struct cass_pool pools[18];
        struct {
            struct cass_pool messages, bodies, operations, rows, expiries, hints, replies, locks;
            struct cass_pool partitions, registers, counters; /* never freed; in order of first use */
            struct cass_pool images, shards,
                paxos; /* one per replica for each register, each counter, each register with an LWT */
            struct cass_pool chunks, ranges;
            struct cass_pool named,
                named_copies; /* columns of a message; one copy per replica for each row */
        };
    };
    union {
        struct sim_table tables[5];
        struct {
            struct sim_table partition_table, register_table, counter_table, row_table, lock_table;
        };
    };
    /* The partition that was last written of a key, by the key's low bits. */
    uint32_t written[CASS_WRITTEN_LAST];
    struct cass_observer observer;
    bool is_broken; /* out of memory; set by pools and tables */
    /* Derived: mock.c may take its shortcut while nothing fails; no fault of the network is
     * in force. */
    bool is_alone, is_calm;
};

struct reply_slot {
    uint32_t next;
    uint32_t row;   /* row that an OK confirms */
    uint32_t named; /* the named columns that were read */
    struct cass_reply reply;
};

#define AT(name, type, pool)                                                                                 \
    static inline struct type *name(const struct cass_cluster *cluster, uint32_t index)                      \
    {                                                                                                        \
        return (struct type *)(void *)cluster->pool.items + index;                                           \
    }
AT(message_at, message, messages)
AT(body_at, body, bodies)
AT(operation_at, cass_operation, operations)
AT(row_at, row, rows)
AT(expiry_at, expiry, expiries)
AT(hint_at, hint, hints)
AT(reply_at, reply_slot, replies)
AT(lock_at, lock, locks)
AT(partition_at, partition, partitions)
AT(register_at, register_entry, registers)
AT(counter_at, register_entry, counters)
AT(chunk_at, clustering_chunk, chunks)
AT(range_at, range, ranges)
#undef AT

/* memset() to 0 in pieces, which the compiler replaces by stores, instead of a call. */
static inline void cass_clear(void *memory, size_t bytes)
{
    char *at = memory;
    for (; bytes >= 64; bytes -= 64, at += 64)
        memset(at, 0, 64);
    memset(at, 0, bytes);
}

static inline int64_t now_ns(const struct cass_cluster *cluster)
{
    return sim_queue_now(cluster->queue);
}

static inline bool is_row_kind(enum cass_statement_kind kind)
{
    const uint32_t kinds =
        1u << CASS_WRITE_ROW | 1u << CASS_DELETE_ROW | 1u << CASS_DELETE_RANGE | 1u << CASS_DELETE_PARTITION;
    return kinds >> kind & 1;
}

static inline uint32_t cass_place_datacenter(const struct cass_cluster *cluster, uint32_t place)
{
    return cluster->places[place].datacenter;
}

static inline const uint32_t *replicas_at(const struct cass_cluster *cluster, uint32_t position)
{
    return cluster->ring->replicas + (size_t)position * cluster->factor;
}

/* The Paxos states of a register's replicas. */
static inline struct paxos_state *paxos_at(const struct cass_cluster *cluster, uint32_t index)
{
    return (struct paxos_state *)(void *)(cluster->paxos.items + index * cluster->paxos.item_size);
}

extern const struct image cass_image_none;

static inline struct image *image_place(const struct cass_cluster *cluster, uint32_t entry, uint32_t replica)
{
    return (struct image *)(void *)(cluster->images.items + entry * cluster->images.item_size) + replica;
}

/* A replica's cells of a register, for reading. If there are none, this avoids three cache lines; with many
 * keys, most registers have none for a long time. */
static inline const struct image *image_at(const struct cass_cluster *cluster, uint32_t entry,
                                           uint32_t replica)
{
    bool is_written = register_at(cluster, entry)->written >> replica & 1;
    return is_written ? image_place(cluster, entry, replica) : &cass_image_none;
}

/* A replica's cells of a register, for writing. */
static inline struct image *image_need(const struct cass_cluster *cluster, uint32_t entry, uint32_t replica)
{
    struct image *image = image_place(cluster, entry, replica);
    if (!(register_at(cluster, entry)->written >> replica & 1)) {
        register_at(cluster, entry)->written |= UINT32_C(1) << replica;
        *image = cass_image_none;
    }
    return image;
}

/* A replica's copy of a leader's shard. For leader == factor, its clock is the time of the counter's
 * deletion. */
static inline struct shard *shard_at(const struct cass_cluster *cluster, uint32_t entry, uint32_t replica,
                                     uint32_t leader)
{
    return (struct shard *)(void *)(cluster->shards.items + entry * cluster->shards.item_size) +
           replica * (cluster->factor + 1) + leader;
}

static inline struct cell *named_at(const struct cass_cluster *cluster, uint32_t index)
{
    return (struct cell *)(void *)(cluster->named.items + index * cluster->named.item_size);
}

/* Counts the replicas of a set bit by bit, which is faster than the library function that the compiler calls
 * when the target may have no popcount instruction. */
static inline uint32_t bit_count(uint32_t set)
{
    uint32_t count = 0;
    for (; set != 0; set &= set - 1)
        count++;
    return count;
}

static inline uint32_t first_bit(uint32_t set)
{
    return (uint32_t)__builtin_ctz(set);
}

static inline int64_t at_least(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Returns a uniform number in [0, n), as sim_random_below() does. For n = 1 it also takes a draw, which has
 * no effect on the result. */
static inline uint32_t random_below(struct sim_random *random, uint32_t n)
{
    if (SIM_UNLIKELY(n != 1))
        return (uint32_t)sim_random_below(random, n);
    sim_random_next(random);
    return 0;
}

/* An event of the cluster's own, or a reply, not before now. */
static inline uint64_t cass_schedule(struct cass_cluster *cluster, int64_t at_ns, uint32_t kind,
                                     uint32_t target, uint64_t a, uint64_t b)
{
    uint64_t handle = sim_queue_push(
        cluster->queue, at_ns, &(const struct sim_event){.kind = kind, .target = target, .a = a, .b = b});
    if (SIM_UNLIKELY(handle == 0))
        cluster->is_broken = true;
    return handle;
}

/* --- storage.c: registers, counters, bodies */
uint32_t cass_position(const struct cass_cluster *cluster, uint64_t key);
uint32_t cass_register_find(const struct cass_cluster *cluster, uint64_t key);
uint32_t cass_register_need(struct cass_cluster *cluster, uint64_t key);
uint32_t cass_counter_find(const struct cass_cluster *cluster, uint64_t key);
uint32_t cass_counter_need(struct cass_cluster *cluster, uint64_t key);
uint32_t cass_body_new(struct cass_cluster *cluster); /* with one reference */
void cass_body_release(struct cass_cluster *cluster, uint32_t body);
void cass_image_set(struct image *image, const struct cass_statement *statement, int64_t timestamp_us,
                    int64_t now); /* sets the cells that a statement writes */
void cass_image_merge(struct image *into, const struct image *from);
bool cass_image_equal(const struct image *left, const struct image *right);
uint32_t cass_image_live(const struct image *image, int64_t now, int64_t *columns);
/* Whether the row is live; `columns` is its set of live columns. */
bool cass_image_is_found(const struct image *image, int64_t now, uint32_t columns);
/* Sets the timestamp of everything that the image writes. */
void cass_image_date(struct image *image, int64_t timestamp_us);

void cass_register_tell(const struct cass_cluster *cluster,
                        uint32_t entity); /* notifies the observer of a change */

/* --- storage.c: rows of named columns, which are registers with one copy of the columns per replica */
void cass_named_need(struct cass_cluster *cluster, uint32_t entity);
/* Makes the columns of a message from those that a statement sets. */
uint32_t cass_named_set(struct cass_cluster *cluster, const struct cass_statement *statement,
                        int64_t timestamp_us);
/* Copies a replica's current columns; CASS_NONE when the register has none. */
uint32_t cass_named_copy(struct cass_cluster *cluster, uint32_t entity, uint32_t replica);
void cass_named_apply(struct cass_cluster *cluster, uint32_t entity, uint32_t replica, uint32_t named);
/* Merges the columns in the answers of the replicas in `set` into the body `gathered`. */
void cass_named_gather(struct cass_cluster *cluster, uint32_t gathered, uint32_t set);
bool cass_named_equal(const struct cass_cluster *cluster, uint32_t left, uint32_t right);
bool cass_named_is_found(const struct cass_cluster *cluster, uint32_t named);
/* The time that a replica's read of the columns takes in addition to read_ns. */
int64_t cass_named_cost(const struct cass_cluster *cluster, uint32_t entity, uint32_t replica);

/* --- storage_rows.c: data partitions */
uint32_t cass_partition_find(const struct cass_cluster *cluster, uint64_t key, int64_t bucket);
uint32_t cass_partition_need_other(struct cass_cluster *cluster, uint64_t key, int64_t bucket);
/* Finds or makes a partition; most are those that were last written of their key. */
static inline uint32_t cass_partition_need(struct cass_cluster *cluster, uint64_t key, int64_t bucket)
{
    uint32_t last = cluster->written[key % CASS_WRITTEN_LAST];
    const struct partition *partition = partition_at(cluster, last);
    if (SIM_LIKELY(last != CASS_NONE && partition->key == key && partition->bucket == bucket))
        return last;
    return cass_partition_need_other(cluster, key, bucket);
}
uint32_t cass_partition_position(const struct cass_cluster *cluster, uint64_t key, int64_t bucket);
void cass_partition_expire(struct cass_cluster *cluster, uint32_t partition);
/* Finds or makes the record of a statement's row in the partition, and adds a reference for the caller. */
uint32_t cass_row_need(struct cass_cluster *cluster, uint32_t partition,
                       const struct cass_statement *statement);
/* Returns the record of a written row; CASS_NONE if the row is not pending any more. */
uint32_t cass_row_find(const struct cass_cluster *cluster, uint32_t partition, uint64_t row_id);
void cass_row_settle(struct cass_cluster *cluster, uint32_t row); /* a record without references */
static inline void cass_row_release(struct cass_cluster *cluster, uint32_t row)
{
    if (row != CASS_NONE && --row_at(cluster, row)->references == 0)
        cass_row_settle(cluster, row);
}
/* What a message or a hint of this kind carries: a row, or a body, which may be CASS_NONE. */
static inline void cass_carry(const struct cass_cluster *cluster, uint32_t kind, uint32_t body)
{
    if (kind == MESSAGE_WRITE_ROW)
        row_at(cluster, body)->references++;
    else if (body != CASS_NONE)
        body_at(cluster, body)->references++;
}
static inline void cass_carry_no_more(struct cass_cluster *cluster, uint32_t kind, uint32_t body)
{
    if (kind == MESSAGE_WRITE_ROW)
        cass_row_release(cluster, body);
    else
        cass_body_release(cluster, body);
}
void cass_row_confirm(struct cass_cluster *cluster, uint32_t row);
void cass_row_apply(struct cass_cluster *cluster, uint32_t row, uint32_t replica);
/* The number of rows that none of the replicas has. */
uint64_t cass_rows_missed(const struct cass_cluster *cluster, uint32_t partition, uint32_t replicas);
/* The replicas of the set that lack a row, delete or range which another replica of the set has, and which
 * was seen there. */
uint32_t cass_rows_laggards(const struct cass_cluster *cluster, uint32_t partition, uint32_t replicas,
                            uint32_t where, const struct cass_seen *seen);
/* Stores on a replica what any replica in `others` has of what was seen. */
void cass_rows_repair(struct cass_cluster *cluster, uint32_t partition, uint32_t replica, uint32_t others,
                      const struct cass_seen *seen);

/* Which rows of a partition replicas find and scan, when lifetimes are stored */
struct scan {
    uint64_t rows, tombstones;
    bool saw_older;         /* there is a live row before the time span */
    struct clustering last; /* the newest row, if there is one */
    struct cass_seen seen;
};
/* Computes what a statement finds if these replicas answer. */
void cass_lifetimes_scan(const struct cass_cluster *cluster, uint32_t partition,
                         const struct cass_statement *statement, uint32_t replicas, struct scan *out);

/* --- network.c: messages, and which places can reach each other */
static inline uint32_t cass_message_new(struct cass_cluster *cluster, enum message_kind kind, uint32_t from,
                                        uint32_t to)
{
    uint32_t index = cass_pool_take(&cluster->messages);
    *message_at(cluster, index) = (struct message){.kind = (uint8_t)kind, .from = from, .to = to};
    return index;
}
void cass_message_send(struct cass_cluster *cluster, uint32_t message);
/* Turns a request into its answer, and sends it back to the sender. Releases what the request carried, and
 * takes ownership of the caller's reference to `body`. */
void cass_message_answer(struct cass_cluster *cluster, uint32_t message, enum message_kind kind,
                         uint32_t body);
static inline void cass_message_drop(struct cass_cluster *cluster, uint32_t message)
{
    const struct message *item = message_at(cluster, message);
    if (item->body != CASS_NONE)
        cass_carry_no_more(cluster, item->kind, item->body);
    cass_pool_give(&cluster->messages, message);
}
/* cass_network_passes(): whether a message sent now is delivered, and whether twice. cass_network_latency():
 * its latency. */
/* Called when a fault of the network has begun or ended: updates is_calm. */
void cass_network_settle(struct cass_cluster *cluster);
bool cass_network_passes_faults(struct cass_cluster *cluster, uint32_t from, uint32_t to, bool *is_double);
int64_t cass_network_latency_drawn(struct cass_cluster *cluster, uint32_t from, uint32_t to);
static inline bool cass_network_passes(struct cass_cluster *cluster, uint32_t from, uint32_t to,
                                       bool *is_double)
{
    *is_double = false;
    return SIM_LIKELY(cluster->is_calm) || cass_network_passes_faults(cluster, from, to, is_double);
}

/* The latency of most messages was drawn in advance, and no fault adds to it. */
static inline int64_t cass_network_latency(struct cass_cluster *cluster, uint32_t from, uint32_t to)
{
    struct latencies *ahead = &cluster->places[from].ahead;
    if (SIM_LIKELY(ahead->taken < LATENCIES_AHEAD) && SIM_LIKELY(cluster->is_calm) &&
        (SIM_LIKELY(cluster->config.datacenter_count == 1) ||
         cass_place_datacenter(cluster, from) == cass_place_datacenter(cluster, to)))
        return ahead->near_ns[ahead->taken++];
    return cass_network_latency_drawn(cluster, from, to);
}
bool cass_believes_up(const struct cass_cluster *cluster, uint32_t place, uint32_t node);

/* --- network.c: a node's clock, its pauses and its queue */
void cass_node_arrive(struct cass_cluster *cluster, uint32_t message);
void cass_node_served(struct cass_cluster *cluster, uint32_t message);
void cass_node_enqueue(struct cass_cluster *cluster, uint32_t message, int64_t service_ns,
                       int64_t timeout_ns);
/* Replaces the least value of a heap. */
void cass_node_busy(int64_t *heap, uint32_t count, int64_t free_at);
/* The server that is free first serves the message from start_ns on. It is replaced in the heap; or any
 * server that is free now, which is equivalent: for a leaf, no further step is needed. The leaf is chosen by
 * the message's index, so most messages find their leaf free. */
static inline void cass_node_serve(struct cass_cluster *cluster, uint32_t index, int64_t start_ns,
                                   int64_t service_ns)
{
    struct message *message = message_at(cluster, index);
    struct node *node = &cluster->nodes[message->to];
    uint32_t count = cluster->config.concurrency, leaves = count - count / 2;
    int64_t *heap = cluster->free_at + (size_t)message->to * count;
    uint32_t leaf = count / 2 + (uint32_t)((uint64_t)(index * UINT32_C(0x9e3779b9)) * leaves >> 32);
    if (SIM_UNLIKELY(service_ns > SPAN_MAX))
        service_ns = SPAN_MAX;
    if (SIM_LIKELY(heap[leaf] <= now_ns(cluster)))
        heap[leaf] = start_ns + service_ns;
    else
        cass_node_busy(heap, count, start_ns + service_ns);
    node->stats.busy_ns += service_ns;
    message->epoch = node->epoch;
    message->frozen_ns = node->frozen_ns;
    cass_schedule(cluster, start_ns + service_ns, EVENT_SERVED, message->to, index, 0);
}
int64_t cass_node_clock_us(const struct cass_cluster *cluster, uint32_t node);
int64_t cass_node_timestamp_us(struct cass_cluster *cluster, uint32_t node, int64_t least_us);
void cass_node_pause_event(struct cass_cluster *cluster, uint32_t node);
void cass_node_plan_pause(struct cass_cluster *cluster, uint32_t node);

/* --- replica.c: what a replica does with a request */
void cass_replica_receive(struct cass_cluster *cluster, uint32_t message);
void cass_replica_execute(struct cass_cluster *cluster, uint32_t message);

/* --- replica.c: hints are writes for unreachable replicas; false when a replica has been unreachable for
 * longer than hints are stored */
bool cass_hint_store(struct cass_cluster *cluster, uint32_t node, uint32_t replica, uint32_t position,
                     enum message_kind kind, uint32_t entity, uint32_t body);
void cass_hints_event(struct cass_cluster *cluster, uint32_t node, uint32_t target);
void cass_hint_ack(struct cass_cluster *cluster, const struct message *message);

/* --- paxos.c: locks of a key on a node, in order of arrival */
bool cass_lock_take(struct cass_cluster *cluster, uint32_t operation, bool is_counter); /* false: it waits */
void cass_lock_release(struct cass_cluster *cluster, uint32_t operation, bool is_counter);
void cass_lock_forget(struct cass_cluster *cluster, uint32_t operation, bool is_counter);

/* Sets the operation's `counted` and `required` for a level (for EACH_QUORUM, `required` is a quorum of each
 * datacenter) and *alive to the replicas that the coordinator believes to be up. Returns whether these are
 * enough. */
bool cass_operation_plan(const struct cass_cluster *cluster, struct cass_operation *operation,
                         enum cass_consistency level, uint32_t *alive);
/* Whether the answers of this set of replicas are enough. */
bool cass_level_met(const struct cass_cluster *cluster, const struct cass_operation *operation,
                    enum cass_consistency level, uint32_t set);
/* Answers with this result, and ends the operation; cass_operation_unavailable() since only these are alive.
 */
void cass_operation_refuse(struct cass_cluster *cluster, uint32_t operation, enum cass_result result);
void cass_operation_unavailable(struct cass_cluster *cluster, uint32_t operation, uint32_t alive);
/* The set of replicas in a datacenter. */
uint32_t cass_datacenter_set(const struct cass_cluster *cluster, uint32_t position, uint32_t datacenter);
uint32_t cass_replicas_alive(const struct cass_cluster *cluster, uint32_t place, uint32_t position);

/* --- coordinator.c: an operation from arrival to answer */
void cass_operation_begin(struct cass_cluster *cluster, uint32_t operation, uint32_t node);
/* The second in which something expires that is written now. */
static inline int64_t cass_expiry_s(int64_t now, int64_t ttl_ns)
{
    return ttl_ns > 0 ? now / SIM_SECOND + (ttl_ns + SIM_SECOND - 1) / SIM_SECOND : NEVER;
}
static inline bool cass_is_too_late(int64_t expires_s)
{
    return expires_s != NEVER && expires_s > CASS_EXPIRES_MAX_S;
}
/* The time to live, in ns, of what a statement writes; 0: it does not expire. */
static inline int64_t cass_ttl(const struct cass_cluster *cluster, const struct cass_statement *statement)
{
    int64_t ttl_ns = statement->ttl_ns == 0 ? cluster->config.default_ttl_ns : statement->ttl_ns;
    return ttl_ns == CASS_NO_TTL ? 0 : ttl_ns;
}
/* Allocates an operation for a statement, and returns its index. Its members before `statement` are 0. For
 * the write of a row, only the statement's kind and level are copied, and `reply` is not initialised. */
uint32_t cass_operation_new(struct cass_cluster *cluster, const struct cass_statement *statement);
void cass_operation_end(struct cass_cluster *cluster, uint32_t operation);
void cass_operation_answer(struct cass_cluster *cluster, uint32_t operation, enum cass_result result);
void cass_operation_timer(struct cass_cluster *cluster, uint32_t operation, int64_t at_ns);
void cass_operation_timer_fired(struct cass_cluster *cluster, uint32_t operation);
void cass_operation_no_timer(struct cass_cluster *cluster, uint32_t operation);
/* Handles an answer to one of an operation's messages, and drops the message. */
void cass_operation_message(struct cass_cluster *cluster, uint32_t message);
/* Sends a request to each of the operation's replicas in `set`, and begins a new round. */
void cass_operation_send(struct cass_cluster *cluster, uint32_t operation, enum message_kind kind,
                         uint32_t set, uint32_t body);

/* Sends the operation's body to all replicas except those in `except`, and stores hints for unreachable ones.
 * Ends the operation if no replica is left to answer. */
void cass_write_spread(struct cass_cluster *cluster, uint32_t operation, uint32_t except);
/* The message that carries the operation's body. */
enum message_kind cass_write_kind(const struct cass_operation *operation);

void cass_read_begin(struct cass_cluster *cluster, uint32_t operation, enum cass_consistency level);
void cass_read_answer(struct cass_cluster *cluster, uint32_t operation, const struct message *message);
/* The reply of a read of columns: what its answers are together. */
void cass_reply_gathered(const struct cass_cluster *cluster, struct cass_operation *operation);
/* Releases the answers that a read has collected. */
void cass_read_let_go(struct cass_cluster *cluster, uint32_t operation);

/* --- paxos.c: the replica's part of Paxos */
bool cass_ballot_after(const struct ballot *left, const struct ballot *right);
void cass_paxos_prepare(struct cass_cluster *cluster, uint32_t message);
void cass_paxos_propose(struct cass_cluster *cluster, uint32_t message);
void cass_paxos_commit(struct cass_cluster *cluster, const struct message *message);

void cass_cas_begin(struct cass_cluster *cluster, uint32_t operation);
void cass_cas_answer(struct cass_cluster *cluster, uint32_t operation, const struct message *message);
void cass_cas_read_done(struct cass_cluster *cluster, uint32_t operation);
void cass_cas_timer(struct cass_cluster *cluster, uint32_t operation);

/* Adds with wrap-around, like a Java long. */
int64_t cass_count_sum(int64_t left, int64_t right);
/* Whether anything was added to a counter after its deletion. */
bool cass_count_is_found(const struct shard *shards, uint32_t factor);
void cass_count_begin(struct cass_cluster *cluster, uint32_t operation);
void cass_count_lead(struct cass_cluster *cluster, uint32_t message);
void cass_count_locked(struct cass_cluster *cluster, uint32_t operation);
/* Whether this is a leader's part of an increment that another node coordinates. */
bool cass_count_is_forwarded(const struct cass_operation *operation);

#endif
