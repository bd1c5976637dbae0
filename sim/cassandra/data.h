/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What replicas hold: registers, counters, named columns, and the rows of data partitions. */
#ifndef CASSANDRA_DATA_H
#define CASSANDRA_DATA_H

#include "state.h"

/* storage.c: registers, counters, bodies */
uint32_t cass_position(const struct cass_cluster *cluster, uint64_t key);
uint32_t cass_register_find(const struct cass_cluster *cluster, uint64_t key);
uint32_t cass_register_need(struct cass_cluster *cluster, uint64_t key);
void cass_register_enter(struct cass_cluster *cluster, uint32_t entry); /* into its table, as all of these */
uint32_t cass_counter_find(const struct cass_cluster *cluster, uint64_t key);
uint32_t cass_counter_need(struct cass_cluster *cluster, uint64_t key);
void cass_counter_enter(struct cass_cluster *cluster, uint32_t entry);
uint32_t cass_body_new(struct cass_cluster *cluster); /* with one reference */
void cass_body_release(struct cass_cluster *cluster, uint32_t body);
void cass_image_clear(struct image *image);
void cass_image_set(struct image *image, const struct cass_statement *statement, int64_t timestamp_us,
                    int64_t now);                                       /* what a statement writes */
bool cass_cell_wins(const struct cell *left, const struct cell *right); /* left replaces right */
void cass_image_merge(struct image *into, const struct image *from);
bool cass_image_equal(const struct image *left, const struct image *right);
uint32_t cass_image_live(const struct image *image, int64_t now, int64_t *columns);
/* Whether the row lives, of which `columns` live. */
bool cass_image_is_found(const struct image *image, int64_t now, uint32_t columns);
/* Gives all that it writes another timestamp. */
void cass_image_date(struct image *image, int64_t timestamp_us);

/* view.c */
void cass_register_tell(const struct cass_cluster *cluster, uint32_t entity); /* the observer, of a change */

/* named.c: rows of named columns, which are registers with one copy of the columns a replica */
void cass_named_need(struct cass_cluster *cluster, uint32_t entity);
/* What a statement sets, as columns of a message. */
uint32_t cass_named_set(struct cass_cluster *cluster, const struct cass_statement *statement,
                        int64_t timestamp_us);
/* A replica's columns as they are now; CASS_NONE when the register has none. */
uint32_t cass_named_copy(struct cass_cluster *cluster, uint32_t entity, uint32_t replica);
void cass_named_apply(struct cass_cluster *cluster, uint32_t entity, uint32_t replica, uint32_t named);
/* The merge of those that the replicas in `set` answered, into the body that gathers. */
void cass_named_gather(struct cass_cluster *cluster, uint32_t gathered, uint32_t set);
bool cass_named_equal(const struct cass_cluster *cluster, uint32_t left, uint32_t right);
bool cass_named_is_found(const struct cass_cluster *cluster, uint32_t named);
/* What a replica's read of them costs beyond read_ns. */
int64_t cass_named_cost(const struct cass_cluster *cluster, uint32_t entity, uint32_t replica);

/* storage_rows.c: data partitions */
uint32_t cass_partition_find(const struct cass_cluster *cluster, uint64_t key, int64_t bucket);
uint32_t cass_partition_need(struct cass_cluster *cluster, uint64_t key, int64_t bucket);
void cass_partition_enter(struct cass_cluster *cluster, uint32_t partition);
uint32_t cass_partition_position(const struct cass_cluster *cluster, uint64_t key, int64_t bucket);
void cass_partition_expire(struct cass_cluster *cluster, uint32_t partition);
/* The row of a statement, with a reference for the caller. */
uint32_t cass_row_need(struct cass_cluster *cluster, const struct cass_statement *statement);
void cass_row_enter(struct cass_cluster *cluster, uint32_t row);
/* The record of a written row, CASS_NONE once nothing about it is open. */
uint32_t cass_row_find(const struct cass_cluster *cluster, uint32_t partition, uint64_t row_id);
void cass_row_release(struct cass_cluster *cluster, uint32_t row);
void cass_row_confirm(struct cass_cluster *cluster, uint32_t row);
void cass_row_apply(struct cass_cluster *cluster, uint32_t row, uint32_t replica);
/* Rows that none of the replicas has, and whether any two of them differ. */
uint64_t cass_rows_missed(const struct cass_cluster *cluster, uint32_t partition, uint32_t replicas,
                          bool *is_mismatch);
/* Those of the replicas that lack a row which another of them has. */
uint32_t cass_rows_laggards(const struct cass_cluster *cluster, uint32_t partition, uint32_t replicas);
/* Gives a replica the rows that any of the others has. */
void cass_rows_repair(struct cass_cluster *cluster, uint32_t partition, uint32_t replica, uint32_t others);

/* clustering.c */
/* Rows of the times in [from, until) that stand on any of the replicas; INT64_MAX: no bound. */
uint64_t cass_span_rows(const struct cass_cluster *cluster, uint32_t partition, int64_t from_ns,
                        int64_t until_ns, uint32_t replicas);
/* What a replica goes through for a read of a span: its rows, and the one at which it ends. */
uint64_t cass_span_scanned(const struct cass_cluster *cluster, const struct cass_operation *operation);
void cass_clustering_add(struct cass_cluster *cluster, uint32_t partition, int64_t time_ns, int64_t order);
/* The place's chunk and its position there, with a new place where there is none; CASS_NONE when out of
 * memory.
 */
uint32_t cass_clustering_need(struct cass_cluster *cluster, uint32_t partition, int64_t time_ns,
                              int64_t order, uint32_t *position);
/* Rows after the statement's place, whoever holds them; and those of them that none of the replicas holds. */
uint64_t cass_clustering_newer(const struct cass_cluster *cluster, uint32_t partition,
                               const struct cass_statement *statement);
uint64_t cass_clustering_missed(const struct cass_cluster *cluster, uint32_t partition, uint32_t replicas,
                                const struct cass_statement *statement);
/* The place of the last row that one of the replicas holds; false when there is none. */
bool cass_clustering_last(const struct cass_cluster *cluster, uint32_t partition, uint32_t replicas,
                          struct clustering *out);

/* lifetimes.c: what rows of a partition replicas find, and scan, when lifetimes are kept */
struct scan {
    uint64_t rows, tombstones;
    bool saw_older;         /* a row lives that is older than the span */
    struct clustering last; /* the newest row, if there is one */
};
/* The row, delete or range has come to its first replica, or to its last one; both when there is one. */
void cass_lifetime_open(struct cass_cluster *cluster, uint32_t row);
void cass_lifetime_settle(struct cass_cluster *cluster, uint32_t row);
/* How many of the first rows of a chunk are special. */
uint32_t cass_lifetimes_special(const struct chunk_lifetimes *chunk, uint32_t count);
/* After loading: counts the records that some replica misses again. False when one of them has no place. */
bool cass_lifetimes_are_opened(struct cass_cluster *cluster);
/* What a statement finds that asks these replicas. */
void cass_lifetimes_scan(const struct cass_cluster *cluster, uint32_t partition,
                         const struct cass_statement *statement, uint32_t replicas, struct scan *out);

#endif
