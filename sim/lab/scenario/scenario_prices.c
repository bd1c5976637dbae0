/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads `prices`: the cost of operations, which affects no event and no digest. */
#include "lab/prices.h"

#include <string.h>

#include "lab/scenario_part.h"

#define PLACE(member)  offsetof(struct lab_prices, member)
#define PRICES(member) (offsetof(struct lab_scenario, prices) + offsetof(struct lab_prices, member))
#define MOST           1e12

/* Each default is the inserts per second divided by the operations per second of one node with 128 operations
 * in flight; that of a scanned row is the difference between reads of a thousand and of a hundred rows.
 * docs/mock.md has the measurements, and tests/cli/prices_test.py checks these numbers against the
 * recording. */
const struct lab_price lab_price_table[] = {
    {"counter_increment", "writes.counter_increments", PLACE(counter_increment), 2.3},
    {"state_read", "writes.state_reads", PLACE(state_read), 0.87},
    {"state_write", "writes.state_writes", PLACE(state_write), 0.69},
    {"lwt", "writes.lwt", PLACE(lwt), 4.8},
    {"lock", "writes.lock_ops", PLACE(lock), 4.8},
    {"row_scanned", "writes.rows_scanned", PLACE(row_scanned), 0.051},
    {"partition_read", NULL, PLACE(partition_read), 1.0},
};
const size_t lab_price_count = sizeof lab_price_table / sizeof *lab_price_table;

static bool is_given(const struct lab_prices *prices)
{
    static const struct lab_prices none = {0};
    return memcmp(prices, &none, sizeof none) != 0;
}

double lab_price_of(const struct lab_prices *prices, const struct lab_price *price)
{
    double value;
    if (!is_given(prices))
        return price->place == PLACE(row_scanned) ? 0 : 1;
    memcpy(&value, (const unsigned char *)prices + price->place, sizeof value);
    return value;
}

static void set(struct lab_prices *prices, const struct lab_price *price, double value)
{
    memcpy((unsigned char *)prices + price->place, &value, sizeof value);
}

void lab_prices_default(struct lab_prices *prices)
{
    for (size_t i = 0; i < lab_price_count; i++)
        set(prices, &lab_price_table[i], lab_price_table[i].measured);
}

bool lab_prices_are_equal(const struct lab_prices *prices)
{
    for (size_t i = 0; i < lab_price_count; i++) {
        if (lab_price_table[i].place != PLACE(row_scanned) && lab_price_of(prices, &lab_price_table[i]) != 1)
            return false;
    }
    return true;
}

const struct lab_table lab_prices_table = {
    .fields = (const struct lab_field[]){
        {"insert", lab_read_number, offsetof(struct lab_scenario, price_of_insert), LAB_OPTIONAL, 1e-12, MOST,
         "a number above 0, or leave it out for 1", NULL},
        {"counter_increment", lab_read_number, PRICES(counter_increment), LAB_OPTIONAL, 0, MOST,
         "a number of at least 0", NULL},
        {"state_read", lab_read_number, PRICES(state_read), LAB_OPTIONAL, 0, MOST, "a number of at least 0",
         NULL},
        {"state_write", lab_read_number, PRICES(state_write), LAB_OPTIONAL, 0, MOST, "a number of at least 0",
         NULL},
        {"lwt", lab_read_number, PRICES(lwt), LAB_OPTIONAL, 0, MOST, "a number of at least 0", NULL},
        {"lock", lab_read_number, PRICES(lock), LAB_OPTIONAL, 0, MOST, "a number of at least 0", NULL},
        {"row_scanned", lab_read_number, PRICES(row_scanned), LAB_OPTIONAL, 0, MOST, "a number of at least 0",
         NULL},
        {"partition_read", lab_read_number, PRICES(partition_read), LAB_OPTIONAL, 0, MOST,
         "a number of at least 0", NULL},
        {.name = NULL},
    }};

/* Prices in money are divided by the price of an insert. */
bool lab_prices_complete(struct lab_reader *reader, const struct lab_node *root)
{
    struct lab_scenario *scenario = reader->scenario;
    const struct lab_node *prices = lab_node_find(root, "prices");
    for (size_t i = 0; i < lab_price_count; i++) {
        const struct lab_price *price = &lab_price_table[i];
        if (lab_node_find(prices, price->name) != NULL)
            set(&scenario->prices, price, lab_price_of(&scenario->prices, price) / scenario->price_of_insert);
    }
    return true;
}
