/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table's design: what feeds each column, and which columns make its partition key and its clustering.
 *
 * A plain value within the scenario. Without `table:` in a scenario it is the design that the strategies are
 * made for: PRIMARY KEY ((key, bucket), at, id), newest rows first. */
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
#define LAB_COLUMN_NAME_MAX     48u      /* bytes of UTF-8 */
#define LAB_TABLE_NAME_MAX      36u      /* so that NAME_... of the tables next to it is a name as well */
#define LAB_COLUMN_VALUES_MAX   1000000u /* different values of a column */
#define LAB_DESIGN_CELL_TIME_NS INT64_C(1000000) /* CQL's timestamp counts milliseconds */

enum lab_feed {
    LAB_FEED_KEY,    /* the workload's key */
    LAB_FEED_BUCKET, /* the strategy's bucket */
    LAB_FEED_TIME,   /* the row's own time, in whole milliseconds */
    LAB_FEED_ID,     /* the row's id: no two rows have the same */
    LAB_FEED_VALUES, /* one of `values` different values, drawn for each row */
    LAB_FEED_DATA    /* what the row carries; never in a key */
};

struct lab_column {
    char name[LAB_COLUMN_NAME_MAX + 1];
    enum lab_feed feed;
    uint32_t values; /* of LAB_FEED_VALUES: 1 to LAB_COLUMN_VALUES_MAX */
    double zipf;     /* its exponent: the k-th value comes in proportion to k^-zipf; 0: all as often */
    uint64_t
        bytes; /* of each value; 0: the type's, or its share of the row's; of LAB_FEED_VALUES its digits */
    /* Of LAB_FEED_DATA: */
    enum cass_type type;
    bool is_static;
    double missing; /* the share of rows, of a static column of partitions, that have no such cell */
};

struct lab_design {
    bool is_given; /* `table:` stands in the scenario */
    char name[LAB_TABLE_NAME_MAX + 1];
    size_t column_count;
    struct lab_column columns[LAB_COLUMNS_MAX]; /* in the order of the file */
    size_t partition_count, clustering_count;
    uint8_t partition[LAB_COLUMNS_MAX]; /* positions of columns */
    uint8_t clustering[LAB_COLUMNS_MAX];
    bool is_descending[LAB_COLUMNS_MAX]; /* of each of `clustering` */
};

void lab_design_default(struct lab_design *out);
/* The first column with this feed, or NULL; and whether one stands in the partition key, in the clustering.
 */
const struct lab_column *lab_design_column(const struct lab_design *design, enum lab_feed feed);
bool lab_design_partitions_by(const struct lab_design *design, enum lab_feed feed);
bool lab_design_clusters_by(const struct lab_design *design, enum lab_feed feed);
/* Whether every row has a primary key of its own: nothing overwrites anything. */
bool lab_design_is_unique(const struct lab_design *design);
/* Whether it stores what no design at all stands for: partitions (key, bucket), and every row. */
bool lab_design_is_plain(const struct lab_design *design);
/* How many different combinations the value columns of the partition key, or of the whole primary key, have.
 */
uint64_t lab_design_values(const struct lab_design *design, bool of_partition_alone);

#ifdef __cplusplus
}
#endif
#endif
