/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files that archive a cluster. The cluster follows its indices without checks, so loading must
 * verify them: an item of a pool is either free or in use, and the references to each item in use are counted
 * while loading, and compared with the counts that the cluster keeps. */
#ifndef CASSANDRA_ARCHIVE_PRIVATE_H
#define CASSANDRA_ARCHIVE_PRIVATE_H

#include "kernel/archive.h"
#include "state.h"

/* The largest distance of a time from now, 2^60 ns or 36 years, that loading accepts; the sum of two such
 * times does not overflow. */
#define FAR_NS (INT64_C(1) << 60)

struct cass_books {
    struct cass_cluster *cluster;
    struct sim_archive *archive;
    /* used: a byte for each item of each pool, in the order of cluster->pools; 1: in use. row_holds,
     * body_holds: number of references to each row and body. */
    uint8_t *used[sizeof(((struct cass_cluster *)0)->pools) / sizeof(struct cass_pool)];
    uint32_t *row_holds, *body_holds;
    uint8_t *gathers; /* a byte for each body; 1: an operation collects answers in it */
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

/* archive_items.c: archives each kind of item, field by field. */
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
/* Archive a time that is not after now; a time near now, or NO_TIME; and a factor of time. Each is
 * checked. */
void cass_archive_past(struct cass_books *books, int64_t *time_ns);
void cass_archive_near(struct cass_books *books, int64_t *time_ns);
void cass_archive_factor(struct cass_books *books, double *factor);

/* The position in the ring of an operation whose partition exists. */
uint32_t cass_archive_position(const struct cass_cluster *cluster, const struct cass_operation *operation);

/* archive_check.c: checks that everything loaded is consistent, and rebuilds the hash tables. */
bool cass_archive_fits(struct cass_books *books);

#endif
