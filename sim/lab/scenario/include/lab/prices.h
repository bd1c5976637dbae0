/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cost of operations, in units of one insert, so that strategies with different operations can be
 * compared. */
#ifndef LAB_PRICES_H
#define LAB_PRICES_H

#include <stdbool.h>
#include <stddef.h>

/* All 0: each operation costs as much as an insert, and scanning a row costs nothing. */
struct lab_prices {
    double counter_increment, state_read, state_write, lwt, lock, row_scanned;
    double partition_read;
};

/* One row per price, in the order of struct lab_prices. */
struct lab_price {
    const char *name;   /* name in a scenario */
    const char *metric; /* metric that counts these operations; NULL: the partitions that reads query */
    size_t place;       /* in struct lab_prices */
    double measured;    /* the default: the number of inserts that a node performs in the time of one such
                           operation, measured by tests/cassandra5/latency */
};
extern const struct lab_price lab_price_table[];
extern const size_t lab_price_count;

double lab_price_of(const struct lab_prices *prices, const struct lab_price *price);
void lab_prices_default(struct lab_prices *prices);
/* Whether all operations cost the same. */
bool lab_prices_are_equal(const struct lab_prices *prices);

#endif
