/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The default design of a table, and queries about the columns of a design. */
#include "lab/design.h"

#include <string.h>

void lab_design_default(struct lab_design *out)
{
    static const struct lab_column columns[] = {{.name = "key", .feed = LAB_FEED_KEY},
                                                {.name = "bucket", .feed = LAB_FEED_BUCKET},
                                                {.name = "at", .feed = LAB_FEED_TIME},
                                                {.name = "id", .feed = LAB_FEED_ID},
                                                {.name = "data", .feed = LAB_FEED_DATA}};
    memset(out, 0, sizeof *out);
    memcpy(out->name, "rows_by_key", sizeof "rows_by_key");
    memcpy(out->columns, columns, sizeof columns);
    out->column_count = sizeof columns / sizeof *columns;
    out->partition_count = out->clustering_count = 2;
    out->partition[1] = 1;
    out->clustering[0] = 2;
    out->clustering[1] = 3;
    out->is_descending[0] = out->is_descending[1] = true;
}

const struct lab_column *lab_design_column(const struct lab_design *design, enum lab_feed feed)
{
    for (size_t i = 0; i < design->column_count; i++) {
        if (design->columns[i].feed == feed)
            return &design->columns[i];
    }
    return NULL;
}

static bool is_fed(const struct lab_design *design, const uint8_t *positions, size_t count,
                   enum lab_feed feed)
{
    for (size_t i = 0; i < count; i++) {
        if (design->columns[positions[i]].feed == feed)
            return true;
    }
    return false;
}

bool lab_design_partitions_by(const struct lab_design *design, enum lab_feed feed)
{
    return is_fed(design, design->partition, design->partition_count, feed);
}

bool lab_design_clusters_by(const struct lab_design *design, enum lab_feed feed)
{
    return is_fed(design, design->clustering, design->clustering_count, feed);
}

bool lab_design_is_unique(const struct lab_design *design)
{
    return lab_design_clusters_by(design, LAB_FEED_ID);
}

bool lab_design_is_plain(const struct lab_design *design)
{
    return lab_design_is_unique(design) && lab_design_partitions_by(design, LAB_FEED_KEY) &&
           lab_design_partitions_by(design, LAB_FEED_BUCKET) && lab_design_values(design, true) == 1;
}

uint64_t lab_design_values(const struct lab_design *design, bool of_partition_alone)
{
    uint64_t product = 1;
    for (size_t i = 0; i < design->partition_count; i++) {
        const struct lab_column *column = &design->columns[design->partition[i]];
        product *= column->feed == LAB_FEED_VALUES ? column->values : 1;
    }
    for (size_t i = 0; !of_partition_alone && i < design->clustering_count; i++) {
        const struct lab_column *column = &design->columns[design->clustering[i]];
        product *= column->feed == LAB_FEED_VALUES ? column->values : 1;
    }
    return product;
}
