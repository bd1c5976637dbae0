/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table's design: where the value of each column comes from, and which columns are its partition key and
 * its clustering columns.
 *
 * It is a plain value within the scenario. Without `table:` in the scenario it is the default design, PRIMARY
 * KEY ((key, bucket), at, id) with the newest rows first. */
#ifndef LAB_DESIGN_H
#define LAB_DESIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cassandra/token.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LAB_COLUMNS_MAX         32u
#define LAB_COLUMN_NAME_MAX     48u      /* in bytes of UTF-8 */
#define LAB_TABLE_NAME_MAX      36u      /* leaves room for the suffixes of the names of related tables */
#define LAB_COLUMN_VALUES_MAX   1000000u /* distinct values of a column */
#define LAB_DESIGN_CELL_TIME_NS INT64_C(1000000) /* resolution of CQL's type timestamp */

enum lab_feed {
    LAB_FEED_KEY,    /* the workload's key */
    LAB_FEED_BUCKET, /* the strategy's bucket */
    LAB_FEED_TIME,   /* the row's own time, in whole milliseconds */
    LAB_FEED_ID,     /* the row's id, which is unique */
    LAB_FEED_VALUES, /* one of `values` distinct values, drawn for each row */
    LAB_FEED_DATA    /* payload of the row; never in the primary key */
};

struct lab_column {
    char name[LAB_COLUMN_NAME_MAX + 1];
    enum lab_feed feed;
    uint32_t values; /* LAB_FEED_VALUES: number of distinct values, 1 to LAB_COLUMN_VALUES_MAX */
    double zipf; /* LAB_FEED_VALUES: the k-th value has a frequency proportional to k^-zipf; 0: all values are
                    equally frequent */
    uint64_t bytes; /* size of each value; 0: the size of the type, a share of the row's bytes or, for
                       LAB_FEED_VALUES, the number of digits */
    /* Only for LAB_FEED_DATA: */
    enum cass_type type;
    bool is_static;
    double
        missing; /* the share of rows that have no such cell; for a static column, the share of partitions */
};

struct lab_design {
    bool is_given; /* the scenario has `table:` */
    char name[LAB_TABLE_NAME_MAX + 1];
    size_t column_count;
    struct lab_column columns[LAB_COLUMNS_MAX]; /* in the order of the file */
    size_t partition_count, clustering_count;
    uint8_t partition[LAB_COLUMNS_MAX]; /* indices of `columns` */
    uint8_t clustering[LAB_COLUMNS_MAX];
    bool is_descending[LAB_COLUMNS_MAX]; /* for each element of `clustering` */
};

/* Sets *out to the default design. */
void lab_design_default(struct lab_design *out);
/* The first column with this feed, or NULL; and whether a column with this feed is in the partition key, or
 * is a clustering column. */
const struct lab_column *lab_design_column(const struct lab_design *design, enum lab_feed feed);
bool lab_design_partitions_by(const struct lab_design *design, enum lab_feed feed);
bool lab_design_clusters_by(const struct lab_design *design, enum lab_feed feed);
/* Whether every row has a unique primary key, so that no row overwrites another. */
bool lab_design_is_unique(const struct lab_design *design);
/* Whether the design is equivalent to the default: partitions are (key, bucket), and every row is kept. */
bool lab_design_is_plain(const struct lab_design *design);
/* The number of distinct combinations of the value columns in the partition key or, unless
 * of_partition_alone, in the whole primary key. */
uint64_t lab_design_values(const struct lab_design *design, bool of_partition_alone);

#ifdef __cplusplus
}
#endif
#endif
