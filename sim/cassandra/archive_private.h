/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of a cluster's archive share. An item of a pool is either free or in use, and each one in
 * use is where exactly those name it that hold it: what is loaded is counted as the cluster would have
 * counted it, and anything else is refused, since the cluster follows its own indices without looking. */
#ifndef CASSANDRA_ARCHIVE_PRIVATE_H
#define CASSANDRA_ARCHIVE_PRIVATE_H

#include "kernel/archive.h"
#include "state.h"

/* Times further from now than 2^60 ns, 36 years, are none that a run comes to; sums of two of them fit. */
#define FAR_NS (INT64_C(1) << 60)

struct cass_books {
    struct cass_cluster *cluster;
    struct sim_archive *archive;
    /* A byte for each item of each pool, in the order of cluster->pools: 1 in use. And how often a row, a
     * body, and so on, is held. */
    uint8_t *used[sizeof(((struct cass_cluster *)0)->pools) / sizeof(struct cass_pool)];
    uint32_t *row_holds, *body_holds;
    uint8_t *gathers; /* a byte for each body: an operation gathers answers in it */
};

#define CASS_POOL_NUMBER(cluster, pool) ((size_t)(&(cluster)->pool - (cluster)->pools))

static inline bool cass_is_used(const struct cass_books *books, const struct cass_pool *pool, uint32_t index)
{
    return index != CASS_NONE && index < pool->used &&
           books->used[(size_t)(pool - books->cluster->pools)][index] != 0;
}

static inline uint32_t cass_all_replicas(const struct cass_cluster *cluster)
{
    return (uint32_t)((UINT64_C(1) << cluster->factor) - 1);
}

/* archive_items.c: each kind of item, field by field. */
void cass_archive_message(struct cass_books *books, struct message *message);
void cass_archive_body(struct cass_books *books, uint32_t index);
void cass_archive_operation(struct cass_books *books, struct cass_operation *operation);
void cass_archive_row(struct cass_books *books, struct row *row);
void cass_archive_reply(struct cass_books *books, struct reply_slot *reply);
void cass_archive_hint(struct cass_books *books, struct hint *hint);
void cass_archive_partition(struct cass_books *books, struct partition *partition);
void cass_archive_register(struct cass_books *books, uint32_t index);
void cass_archive_counter(struct cass_books *books, uint32_t index);
void cass_archive_chunk(struct cass_books *books, struct clustering_chunk *chunk);
void cass_archive_lifetimes(struct cass_books *books, uint32_t index);
void cass_archive_range(struct cass_books *books, struct range *range);
void cass_archive_cells(struct cass_books *books, struct cell *cells, uint32_t count);
void cass_archive_node(struct cass_books *books, struct node *node);
/* A time that has come; one that may be still to come, or NO_TIME; a factor of time. */
void cass_archive_past(struct cass_books *books, int64_t *time_ns);
void cass_archive_near(struct cass_books *books, int64_t *time_ns);
void cass_archive_factor(struct cass_books *books, double *factor);

/* Of an operation whose partition is there. */
uint32_t cass_archive_position(const struct cass_cluster *cluster, const struct cass_operation *operation);

/* archive_check.c: whether all that was loaded fits together; and the tables, which are made again. */
bool cass_archive_fits(struct cass_books *books);

#endif
