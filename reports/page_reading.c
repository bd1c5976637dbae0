/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "sheet.h"

static const struct {
    const char *chart, *reading;
} readings[] = {
    {"partitions-rows",
     "Each strip is one strategy; the further right a bar stands, the more rows its partitions have, and the "
     "higher it is, the more partitions there are of that size. Hatched ones are still open and will grow. "
     "The "
     "black line is what the exact law foretells; beyond the dashed line partitions pass the limit."},
    {"partitions-bytes",
     "The same partitions, by what they weigh on disk. Rows of unequal size make it wider than the one of "
     "rows: a limit in bytes can be passed by a partition that has few rows."},
    {"survival-rows", "A line a strategy: its height over a size is the share of partitions that are larger. "
                      "Where it meets the "
                      "line of the limit, that is the share over the limit; one that ends left of it keeps "
                      "the limit. Straight "
                      "down means one size for all. The dashed lines are the exact laws."},
    {"survival-bytes",
     "The same partitions, by what they weigh on disk: how large the largest are, and how few they are."},
    {"timeline",
     "Each strip is one strategy, from left to right in time: a column is the partitions that began in it, "
     "as "
     "large as they were at the end. A level line means that load does not change their sizes; the dark part "
     "holds the middle four fifths, the pale one all. Hatched ones are still open, and small because they "
     "are "
     "young."},
    {"reads",
     "Each strip is one strategy; a bar at 3 is the share of reads that had to ask three partitions. Further "
     "left is better: each partition that a read asks is a request of its own, and the slowest one decides."},
    {"costs",
     "A line a strategy, a column a price; shorter bars are better. Where a heading says log scale, each "
     "step "
     "to the right is a multiple: compare the numbers, not the lengths. The stroke beside a bar is the 99th "
     "percentile."},
    {"nodes", "Each strip is one strategy, a bar is one node with all that it holds, replicas included; the "
              "line is what each "
              "would hold were the load even. One bar far above it is a node that got the few huge "
              "partitions; many small "
              "partitions spread evenly."},
    {"latency",
     "A panel an operation, a line a strategy: at 99% it is as high as the time within which 99 of 100 were "
     "done. Each nine takes the same room, so that the slowest few, whom users remember, are not squeezed "
     "into "
     "the edge; lower is better, and where lines part tells which strategy waits for what."},
    {"bucket-changes",
     "Each lane is one agent, from left to right in time, coloured by the bucket that it believes the key to "
     "be in. Where lanes of different colours stand above each other, agents disagree, and rows may land in "
     "two partitions at once."},
    {"tune-front",
     "Each spot is a setting that was tried: the further left, the cheaper; the lower, the smaller its large "
     "partitions. None is better in both than those on the line; the recommended one is the cheapest that "
     "holds."},
    {"tune-thresholds",
     "A cell a setting: more bits to the right, a higher threshold further up. Light cells cost more, dark "
     "ones less; within the line all that was asked for holds, and the ring marks the recommended one."},
};

const char *report_page_reading(const char *chart_name)
{
    for (size_t i = 0; i < sizeof readings / sizeof readings[0]; i++) {
        if (strcmp(readings[i].chart, chart_name) == 0) {
            return readings[i].reading;
        }
    }
    return NULL;
}
