/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists the runs that differ from a given run only in the seed. */
#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"
#include "private.h"

struct seeds {
    struct store_seed *items;
    size_t count, capacity;
};

static const char *skip_seed(const char *overrides)
{
    static const char seed[] = "seed=";
    while (strncmp(overrides, seed, sizeof seed - 1) == 0) {
        overrides += strcspn(overrides, "\n");
        overrides += *overrides == '\n';
    }
    return overrides;
}

/* Compares two lists of overrides, one per line, without those of the seed. */
static bool are_equal(const char *one, const char *other)
{
    one = skip_seed(one == NULL ? "" : one);
    other = skip_seed(other == NULL ? "" : other);
    while (*one != '\0' && *other != '\0') {
        size_t length = strcspn(one, "\n");
        if (length != strcspn(other, "\n") || memcmp(one, other, length) != 0)
            return false;
        one = skip_seed(one + length + (one[length] == '\n'));
        other = skip_seed(other + length + (other[length] == '\n'));
    }
    return *one == *other;
}

static bool take_seed(struct store *store, struct store_row *row, struct seeds *seeds,
                      struct sim_error *error)
{
    struct store_seed seed = {.run = store_take_integer(row)};
    seed.seed = (uint64_t)store_take_whole(row, UINT64_MAX);
    char *overrides = store_take_text(row), *wanted = store_take_text(row);
    bool fine = store_row_check(store, row, error);
    bool is_one = fine && are_equal(overrides, wanted);
    free(overrides);
    free(wanted);
    if (is_one && !sim_grow(&seeds->items, &seeds->capacity, seeds->count + 1, sizeof *seeds->items))
        return sim_fail_memory(error);
    if (is_one)
        seeds->items[seeds->count++] = seed;
    return fine;
}

static int compare_seeds(const void *left, const void *right)
{
    const struct store_seed *one = left, *other = right;
    if (one->seed != other->seed)
        return one->seed < other->seed ? -1 : 1;
    return (one->run < other->run) - (one->run > other->run);
}

bool store_list_seeds(struct store *store, int64_t run, struct store_seed **out, size_t *count,
                      struct sim_error *error)
{
    static const char sql[] =
        "SELECT other.run, other.seed, other.overrides, one.overrides FROM run AS one JOIN run AS other ON "
        "other.scenario = one.scenario AND other.version IS one.version AND "
        "other.scenario_text IS one.scenario_text AND (one.source IN ('made', 'synthetic') OR "
        "other.scenario_path IS one.scenario_path) WHERE one.run = ? ORDER BY other.run DESC";
    sqlite3_stmt *statement;
    struct store_row row;
    struct seeds seeds = {NULL, 0, 0};
    *out = NULL;
    *count = 0;
    if (store->db == NULL)
        return true;
    bool more = true, fine = store_query(store, sql, run, &statement, error);
    while (fine && (fine = store_next(store, statement, &row, &more, error)) && more)
        fine = take_seed(store, &row, &seeds, error);
    sqlite3_finalize(statement);
    if (!fine) {
        free(seeds.items);
        return false;
    }
    if (seeds.count > 0)
        qsort(seeds.items, seeds.count, sizeof *seeds.items, compare_seeds);
    for (size_t i = 0; i < seeds.count; i++) {
        if (*count == 0 || seeds.items[*count - 1].seed != seeds.items[i].seed)
            seeds.items[(*count)++] = seeds.items[i];
    }
    *out = seeds.items;
    return true;
}
