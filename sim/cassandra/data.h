/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The data of replicas: registers, counters, named columns, and the rows of data partitions. */
#ifndef CASSANDRA_DATA_H
#define CASSANDRA_DATA_H

#include "state.h"

/* storage.c: registers, counters, bodies */
uint32_t cass_position(const struct cass_cluster *cluster, uint64_t key);
uint32_t cass_register_find(const struct cass_cluster *cluster, uint64_t key);
uint32_t cass_register_need(struct cass_cluster *cluster, uint64_t key);
void cass_register_enter(struct cass_cluster *cluster,
                         uint32_t entry); /* adds to the hash table; likewise below */
uint32_t cass_counter_find(const struct cass_cluster *cluster, uint64_t key);
uint32_t cass_counter_need(struct cass_cluster *cluster, uint64_t key);
void cass_counter_enter(struct cass_cluster *cluster, uint32_t entry);
uint32_t cass_body_new(struct cass_cluster *cluster); /* with one reference */
void cass_body_release(struct cass_cluster *cluster, uint32_t body);
void cass_image_clear(struct image *image);
void cass_image_set(struct image *image, const struct cass_statement *statement, int64_t timestamp_us,
                    int64_t now); /* sets the cells that a statement writes */
bool cass_cell_wins(const struct cell *left, const struct cell *right); /* left replaces right */
void cass_image_merge(struct image *into, const struct image *from);
bool cass_image_equal(const struct image *left, const struct image *right);
uint32_t cass_image_live(const struct image *image, int64_t now, int64_t *columns);
/* Whether the row is live; `columns` is its set of live columns. */
bool cass_image_is_found(const struct image *image, int64_t now, uint32_t columns);
/* Sets the timestamp of everything that the image writes. */
void cass_image_date(struct image *image, int64_t timestamp_us);

/* view.c */
void cass_register_tell(const struct cass_cluster *cluster,
                        uint32_t entity); /* notifies the observer of a change */

/* named.c: rows of named columns, which are registers with one copy of the columns per replica */
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

/* storage_rows.c: data partitions */
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
void cass_partition_enter(struct cass_cluster *cluster, uint32_t partition);
uint32_t cass_partition_position(const struct cass_cluster *cluster, uint64_t key, int64_t bucket);
void cass_partition_expire(struct cass_cluster *cluster, uint32_t partition);
/* Finds or makes the record of a statement's row in the partition, and adds a reference for the caller. */
uint32_t cass_row_need(struct cass_cluster *cluster, uint32_t partition,
                       const struct cass_statement *statement);
/* Counts the records in the partition's list, and adds them to the hash table if there are many. */
void cass_rows_enter(struct cass_cluster *cluster, uint32_t partition);
/* Returns the record of a written row; CASS_NONE if the row is not pending any more. */
uint32_t cass_row_find(const struct cass_cluster *cluster, uint32_t partition, uint64_t row_id);
void cass_row_settle(struct cass_cluster *cluster, uint32_t row); /* a record without references */
static inline void cass_row_release(struct cass_cluster *cluster, uint32_t row)
{
    if (row != CASS_NONE && --row_at(cluster, row)->references == 0)
        cass_row_settle(cluster, row);
}
void cass_row_confirm(struct cass_cluster *cluster, uint32_t row);
void cass_row_apply(struct cass_cluster *cluster, uint32_t row, uint32_t replica);
/* The number of rows that none of the replicas has, and whether any two of the replicas differ. */
uint64_t cass_rows_missed(const struct cass_cluster *cluster, uint32_t partition, uint32_t replicas,
                          bool *is_mismatch);
/* The replicas of the set that lack a row which another replica of the set has. */
uint32_t cass_rows_laggards(const struct cass_cluster *cluster, uint32_t partition, uint32_t replicas);
/* Stores on a replica the rows that any replica in `others` has. */
void cass_rows_repair(struct cass_cluster *cluster, uint32_t partition, uint32_t replica, uint32_t others);

/* clustering.c */
/* The number of rows with times in [from_ns, until_ns) that any of the replicas has; until_ns INT64_MAX: no
 * bound. */
uint64_t cass_span_rows(const struct cass_cluster *cluster, uint32_t partition, int64_t from_ns,
                        int64_t until_ns, uint32_t replicas);
/* The number of rows that a replica scans for a read of a time span: the rows of the span, and the row at
 * which the read ends. */
uint64_t cass_span_scanned(const struct cass_cluster *cluster, const struct cass_operation *operation);
void cass_clustering_add(struct cass_cluster *cluster, uint32_t partition, int64_t time_ns, int64_t order);
/* Finds or makes a place: returns its chunk and sets *position to its index there; CASS_NONE when out of
 * memory. */
uint32_t cass_clustering_need(struct cass_cluster *cluster, uint32_t partition, int64_t time_ns,
                              int64_t order, uint32_t *position);
/* The number of rows after the statement's place on any replica; and the number of these that none of the
 * replicas in the set has. */
uint64_t cass_clustering_newer(const struct cass_cluster *cluster, uint32_t partition,
                               const struct cass_statement *statement);
uint64_t cass_clustering_missed(const struct cass_cluster *cluster, uint32_t partition, uint32_t replicas,
                                const struct cass_statement *statement);
/* The place of the last row that any of the replicas has; false when there is none. */
bool cass_clustering_last(const struct cass_cluster *cluster, uint32_t partition, uint32_t replicas,
                          struct clustering *out);

/* lifetimes.c: which rows of a partition replicas find and scan, when lifetimes are stored */
struct scan {
    uint64_t rows, tombstones;
    bool saw_older;         /* there is a live row before the time span */
    struct clustering last; /* the newest row, if there is one */
};
/* Called when the row, delete or range tombstone has arrived at its first replica, and at its last one. */
void cass_lifetime_open(struct cass_cluster *cluster, uint32_t row);
void cass_lifetime_settle(struct cass_cluster *cluster, uint32_t row);
/* The number of special rows among the first `count` rows of a chunk. */
uint32_t cass_lifetimes_special(const struct chunk_lifetimes *chunk, uint32_t count);
/* Computes what a statement finds if these replicas answer. */
void cass_lifetimes_scan(const struct cass_cluster *cluster, uint32_t partition,
                         const struct cass_statement *statement, uint32_t replicas, struct scan *out);

#endif
