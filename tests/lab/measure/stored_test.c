/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the contents of a table are counted exactly: its partitions, the rows that later rows overwrite, the
 * busiest second and minute, and the load. Method: all rows of small workloads are put into one list, with
 * their whole keys as text, sorted and counted by hand, for tables of all shapes under all strategies; a
 * table that keeps everything is compared with no table; the number of workers varies; there is a trace; and
 * the frequencies of drawn values are tested by chi-square (fixed seeds; chance alone exceeds the limits less
 * often than once in 10^9). */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cassandra/token.h"
#include "kernel/time.h"
#include "lab/result.h"
#include "lab/run.h"
#include "lab/tally.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define TEXT_SIZE    160
#define MINUTE       (60 * SIM_SECOND)

static const char workload_text[] = "name: stored\n"
                                    "seed: 11\n"
                                    "duration: 4h\n"
                                    "keys: {count: 7, popularity: {zipf: 1.2}}\n"
                                    "arrivals: {rate: 0.4/s, bursts: {on: 1m, off: 10m, factor: 300}}\n"
                                    "row: {bytes: {lognormal: {mean: 350, sigma: 1.0}}, format: payload}\n"
                                    "limits: {partition_rows: 120, partition_bytes: 20KB, tiny_rows: 20}\n";
static const char strategies_text[] = "strategies:\n"
                                      "  - unbucketed: {}\n"
                                      "  - time: {window: 25m}\n"
                                      "  - count: {rows: 100, counter: external}\n"
                                      "  - probabilistic: {bits: 2, threshold: 9}\n"
                                      "  - hash: {buckets: 3}\n";
#define COLUMNS                                                                                              \
    "  columns: {k: key, b: bucket, at: time, i: id, u: {values: 4}, z: {values: 6, zipf: 1.5}, d: data}\n"
static const char *const keys[] = {
    "  partition_key: [b]\n",
    "  partition_key: [b]\n  clustering: [u]\n",
    "  partition_key: [k, b]\n",
    "  partition_key: [b, k]\n  clustering: [{z: desc}]\n",
    "  partition_key: [b]\n  clustering: [k, at]\n",
    "  partition_key: [k, b]\n  clustering: [at]\n",
    "  partition_key: [b, z]\n  clustering: [u, k]\n",
    "  partition_key: [k, u, b]\n  clustering: [z, at]\n",
    "  partition_key: [b]\n  clustering: [{at: desc}, i]\n",
    "  partition_key: [z, k, b]\n  clustering: [i]\n",
};

struct row {
    char partition[TEXT_SIZE], primary[TEXT_SIZE];
    int64_t time_ns, bucket, token;
    uint64_t key, number, bytes;
    bool is_closed;
};

struct list {
    struct row *rows;
    size_t count, capacity;
};

static struct lab_scenario *load(const char *table)
{
    char text[4096];
    snprintf(text, sizeof text, "%s%s%s", workload_text, table, strategies_text);
    struct lab_scenario *scenario;
    struct sim_error error;
    if (!lab_scenario_parse("stored.yaml", text, strlen(text), NULL, 0, NULL, &scenario, &error))
        fail_msg("%s", error.text);
    return scenario;
}

static struct lab_result *run(const struct lab_scenario *scenario, uint32_t jobs)
{
    struct lab_result *result;
    struct sim_error error;
    if (!lab_run(scenario, jobs, NULL, &result, &error))
        fail_msg("%s", error.text);
    return result;
}

static int64_t floor_of(int64_t value, int64_t by)
{
    return value / by - (value % by < 0);
}

/* The value of a column of a row: draw `number` of the stream of (seed, key, column). */
static uint64_t value_of(const struct lab_scenario *scenario, uint32_t position, const char *key,
                         uint64_t number)
{
    const struct lab_column *column = &scenario->design.columns[position];
    uint64_t entity = sim_mix64(bk_murmur3_128(key, strlen(key), 0).h1 + position);
    uint64_t begin = sim_hash(scenario->seed, SIM_COLUMN, entity);
    uint64_t bits = sim_mix64(begin + (number + 1) * UINT64_C(0x9e3779b97f4a7c15));
    double sum = 0, unit = (double)(bits >> 11) * 0x1p-53;
    struct sim_zipf distribution;
    if (column->zipf == 0)
        return (uint64_t)((bits >> 32) * column->values >> 32);
    sim_zipf_init(&distribution, column->zipf, column->values);
    for (uint32_t i = 0; i + 1 < column->values; i++) {
        sum += sim_zipf_share(&distribution, i);
        if (unit < sum)
            return i;
    }
    return column->values - 1;
}

/* Writes the columns' values one after another, and computes the token of their components. */
static void write_key(const struct lab_scenario *scenario, const uint8_t *positions, size_t count,
                      const struct row *row, const char *key, uint64_t id, char *text, int64_t *token)
{
    struct cass_component components[8];
    char pieces[8][32];
    uint8_t bucket[8], serialised[256];
    size_t used = strlen(text);
    for (int i = 0; i < 8; i++)
        bucket[i] = (uint8_t)((uint64_t)row->bucket >> (56 - 8 * i));
    for (size_t i = 0; i < count; i++) {
        const char *piece = pieces[i];
        size_t size = sizeof pieces[i];
        switch (scenario->design.columns[positions[i]].feed) {
        case LAB_FEED_KEY:
            piece = key;
            break;
        case LAB_FEED_BUCKET:
            snprintf(pieces[i], size, "%" PRId64, row->bucket);
            break;
        case LAB_FEED_TIME:
            snprintf(pieces[i], size, "%" PRId64, floor_of(row->time_ns, 1000000));
            break;
        case LAB_FEED_ID:
            snprintf(pieces[i], size, "%" PRIu64, id);
            break;
        default:
            snprintf(pieces[i], size, "%" PRIu64, value_of(scenario, positions[i], key, row->number));
        }
        components[i] = (struct cass_component){piece, strlen(piece)};
        if (scenario->design.columns[positions[i]].feed == LAB_FEED_BUCKET)
            components[i] = (struct cass_component){bucket, sizeof bucket};
        used += (size_t)snprintf(text + used, TEXT_SIZE - used, "%s/", piece);
    }
    if (token == NULL)
        return;
    cass_key_serialise(components, count, serialised);
    *token = cass_token(serialised, cass_key_size(components, count));
}

/* Returns the key's bucket at the end of the run. */
static int64_t draw_rows(const struct lab_scenario *scenario, const struct bk_strategy *strategy,
                         uint64_t key_index, struct list *list)
{
    struct wl_key key;
    struct bk_key_state state = {0};
    struct bk_placement route;
    char name[32];
    snprintf(name, sizeof name, "key-%" PRIu64, key_index);
    wl_key_init(&key, &scenario->workload, key_index);
    size_t first = list->count;
    for (uint64_t number = 0;; number++) {
        int64_t time_ns;
        uint64_t id, bytes;
        if (wl_key_rows(&key, INT64_MAX, 1, &time_ns, &id, &bytes) == 0)
            break;
        if (list->count == list->capacity) {
            list->capacity = list->capacity * 2 + 64;
            list->rows = realloc(list->rows, list->capacity * sizeof *list->rows);
            assert_non_null(list->rows);
        }
        struct bk_row one = {time_ns, number, id, 0};
        struct bk_effect effect;
        assert_int_equal(bk_route(strategy, &state, &one, &route), BK_OK);
        assert_int_equal(bk_advance(strategy, &state, &one, &effect), BK_OK);
        struct row *row = &list->rows[list->count++];
        *row = (struct row){
            .time_ns = time_ns, .bucket = route.bucket, .key = key_index, .number = number, .bytes = bytes};
        const struct lab_design *design = &scenario->design;
        write_key(scenario, design->partition, design->partition_count, row, name, id, row->partition,
                  &row->token);
        memcpy(row->primary, row->partition, sizeof row->primary);
        write_key(scenario, design->clustering, design->clustering_count, row, name, id, row->primary, NULL);
    }
    struct bk_row last = {.time_ns = scenario->workload.start_ns + scenario->workload.duration_ns};
    int64_t current = state.bucket, cut = INT64_MIN;
    if (strategy->kind == BK_KIND_TIME) {
        bk_route(strategy, NULL, &(struct bk_row){.time_ns = scenario->workload.start_ns - 1}, &route);
        cut = route.bucket;
        bk_route(strategy, NULL, &last, &route);
        current = route.bucket;
    }
    for (size_t i = first; i < list->count; i++)
        list->rows[i].is_closed = list->rows[i].bucket < current && list->rows[i].bucket > cut;
    return list->count > first ? current : INT64_MAX;
}

static int by_primary(const void *a, const void *b)
{
    const struct row *one = a, *other = b;
    int order = strcmp(one->partition, other->partition);
    if (order == 0)
        order = strcmp(one->primary, other->primary);
    if (order == 0)
        order = (one->time_ns > other->time_ns) - (one->time_ns < other->time_ns);
    if (order == 0)
        order = (one->key > other->key) - (one->key < other->key);
    return order != 0 ? order : (one->number > other->number) - (one->number < other->number);
}

static int64_t unit_ns;
static int by_partition_and_unit(const void *a, const void *b)
{
    const struct row *one = a, *other = b;
    int64_t u = floor_of(one->time_ns, unit_ns), v = floor_of(other->time_ns, unit_ns);
    int order = (u > v) - (u < v);
    return order != 0 ? order : strcmp(one->partition, other->partition);
}

/* For each unit of time the most rows of one partition: the maximum or the sum over all units. */
static uint64_t busiest(struct list *list, int64_t unit, bool summed)
{
    uint64_t sum = 0, most = 0, in_unit = 0, run = 0;
    unit_ns = unit;
    qsort(list->rows, list->count, sizeof *list->rows, by_partition_and_unit);
    for (size_t i = 0; i < list->count; i++) {
        bool is_unit =
            i > 0 && floor_of(list->rows[i].time_ns, unit) == floor_of(list->rows[i - 1].time_ns, unit);
        bool is_same = is_unit && strcmp(list->rows[i].partition, list->rows[i - 1].partition) == 0;
        if (!is_unit) {
            sum += in_unit;
            in_unit = 0;
        }
        run = is_same ? run + 1 : 1;
        in_unit = run > in_unit ? run : in_unit;
        most = run > most ? run : most;
    }
    return summed ? sum + in_unit : most;
}

static double metric(const struct lab_strategy_result *result, const char *name)
{
    const struct lab_metric *found = lab_metrics_find(&result->metrics, name);
    if (found == NULL)
        fail_msg("no %s", name);
    return found->value;
}

static void check_equal(const struct lab_strategy_result *result, const char *what, double wanted)
{
    double actual = metric(result, what);
    if (actual != wanted)
        fail_msg("%s: %s is %.17g, not %.17g", result->label, what, actual, wanted);
}

static void check_strategy(const struct lab_scenario *scenario, size_t number,
                           const struct lab_strategy_result *result, const struct cass_ring *ring)
{
    struct list list = {0};
    uint64_t partitions = 0, closed = 0, stored = 0, over = 0, tiny = 0, bytes = 0, most_rows = 0,
             most_written = 0;
    uint64_t load[64] = {0}, rows_here = 0, bytes_here = 0, written_here = 0, all = 0, most_load = 0;
    int64_t least = INT64_MAX;
    for (uint64_t i = 0; i < scenario->workload.key_count; i++) {
        int64_t current = draw_rows(scenario, &scenario->strategies[number].settings.strategy, i, &list);
        least = current < least ? current : least;
    }
    /* If keys share partitions, a partition is open as long as a row of any of them may still go to it. */
    for (size_t i = 0; !lab_design_partitions_by(&scenario->design, LAB_FEED_KEY) && i < list.count; i++)
        list.rows[i].is_closed &= list.rows[i].bucket < least;
    qsort(list.rows, list.count, sizeof *list.rows, by_primary);
    bool all_closed = true;
    for (size_t i = 0; i < list.count; i++) {
        const struct row *row = &list.rows[i];
        bool is_last = i + 1 == list.count, is_end = is_last || strcmp(row->partition, row[1].partition) != 0;
        all_closed = all_closed && row->is_closed;
        written_here++;
        if (is_end || strcmp(row->primary, row[1].primary) != 0) {
            rows_here++;
            bytes_here += row->bytes;
        }
        if (!is_end)
            continue;
        partitions++;
        closed += all_closed;
        tiny += all_closed && rows_here < 20;
        over += rows_here > 120 || bytes_here > 20000;
        stored += rows_here;
        bytes += bytes_here;
        most_rows = rows_here > most_rows ? rows_here : most_rows;
        most_written = written_here > most_written ? written_here : most_written;
        const uint32_t *replicas = cass_ring_replicas(ring, row->token);
        for (uint32_t j = 0; j < 3; j++)
            load[replicas[j]] += bytes_here;
        rows_here = bytes_here = written_here = 0;
        all_closed = true;
    }
    for (size_t i = 0; i < 6; i++) {
        all += load[i];
        most_load = load[i] > most_load ? load[i] : most_load;
    }
    check_equal(result, "partitions.total", (double)partitions);
    check_equal(result, "partitions.closed", (double)closed);
    check_equal(result, "partitions.tiny", (double)tiny);
    check_equal(result, "partitions.over_limit", (double)over);
    check_equal(result, "partitions.all.rows.max", (double)most_rows);
    check_equal(result, "rows.stored", (double)stored);
    check_equal(result, "rows.overwritten", (double)(list.count - stored));
    check_equal(result, "peak.rows_written_one_partition", (double)most_written);
    check_equal(result, "nodes.load_share_max", (double)most_load / (double)all);
    check_equal(result, "peak.rows_per_second_one_partition", (double)busiest(&list, SIM_SECOND, false));
    check_equal(result, "peak.minute_share_one_partition",
                (double)busiest(&list, MINUTE, true) / (double)list.count);
    double mean = metric(result, "partitions.all.bytes.mean");
    assert_true(fabs(mean - (double)bytes / (double)partitions) < 1e-9 * mean);
    free(list.rows);
}

static void test_every_table_is_counted_as_by_hand(void **state)
{
    (void)state;
    uint64_t overwritten = 0;
    for (size_t i = 0; i < COUNT(keys); i++) {
        char table[1024];
        snprintf(table, sizeof table, "table:\n  name: t\n" COLUMNS "%s", keys[i]);
        struct lab_scenario *scenario = load(table);
        struct lab_result *result = run(scenario, 1);
        struct cass_ring *ring;
        struct sim_error error;
        assert_true(lab_ring_create(scenario, &ring, &error));
        for (size_t j = 0; j < scenario->strategy_count; j++) {
            check_strategy(scenario, j, &result->strategies[j], ring);
            overwritten += metric(&result->strategies[j], "rows.overwritten") > 0;
        }
        cass_ring_destroy(ring);
        lab_result_destroy(result);
        lab_scenario_destroy(scenario);
    }
    assert_true(overwritten >= 5 * 6); /* also by milliseconds: the bursts are dense */
}

static void test_result_is_the_same_for_any_number_of_workers(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(keys); i++) {
        char table[1024];
        snprintf(table, sizeof table, "table:\n  name: t\n" COLUMNS "%s", keys[i]);
        struct lab_scenario *scenario = load(table);
        struct lab_result *one = run(scenario, 1), *more = run(scenario, 3);
        assert_true(one->digest == more->digest);
        for (size_t j = 0; j < one->strategy_count; j++) {
            const struct lab_metrics *metrics = &one->strategies[j].metrics;
            assert_int_equal(metrics->count, more->strategies[j].metrics.count);
            for (size_t k = 0; k < metrics->count; k++)
                check_equal(&more->strategies[j], metrics->items[k].name, metrics->items[k].value);
        }
        lab_result_destroy(one);
        lab_result_destroy(more);
        lab_scenario_destroy(scenario);
    }
}

/* A table of (key, bucket) and an id gives the same results as no table, whatever the order of the partition
 * key's columns means to a token, and the reads are allowed. */
static void check_plain(const char *source)
{
    static const char table[] =
        "table: {name: t, columns: {k: key, b: bucket, i: id}, partition_key: [k, b], "
        "clustering: [i]}\n";
    struct lab_result *results[2];
    for (int i = 0; i < 2; i++) {
        char text[4096];
        struct lab_scenario *scenario;
        struct sim_error error;
        snprintf(text, sizeof text, "%s%s%sreads: {latest: {rows: 30, rate: 1/m}}\n", source,
                 i == 0 ? "" : table, strategies_text);
        if (!lab_scenario_parse("stored.yaml", text, strlen(text), NULL, 0, NULL, &scenario, &error))
            fail_msg("%s", error.text);
        results[i] = run(scenario, 1);
        lab_scenario_destroy(scenario);
    }
    for (size_t i = 0; i < results[0]->strategy_count; i++) {
        const struct lab_strategy_result *without = &results[0]->strategies[i],
                                         *with = &results[1]->strategies[i];
        size_t same = 0; /* a table has no capacity */
        for (size_t j = 0; j < without->metrics.count; j++) {
            if (strncmp(without->metrics.items[j].name, "capacity.", strlen("capacity.")) == 0)
                continue;
            check_equal(with, without->metrics.items[j].name, without->metrics.items[j].value);
            same++;
        }
        assert_int_equal(with->metrics.count, same + 4);
        check_equal(with, "rows.overwritten", 0);
        check_equal(with, "rows.stored", metric(without, "writes.rows"));
        assert_true(with->placement_digest == without->placement_digest);
    }
    lab_result_destroy(results[0]);
    lab_result_destroy(results[1]);
}

static void test_table_that_keeps_all_rows_changes_nothing(void **state)
{
    (void)state;
    check_plain(workload_text);
    check_plain("name: stored\nlimits: {partition_rows: 120, tiny_rows: 20}\n"
                "trace: {file: " BUCKETLAB_SOURCE_DIR
                "/scenarios/traces/small.csv}\nrow: {format: payload}\n");
}

/* Of two rows of one key at one time the later line stays; of two keys at one time the row of the higher key
 * stays. */
static void check_last(const char *partition_key, double bytes, double overwritten)
{
    char text[512];
    struct lab_scenario *scenario;
    struct sim_error error;
    FILE *file = fopen("stored_test.csv", "w");
    assert_non_null(file);
    fputs("timestamp_ms,key,bytes\n1000,a,900\n1000,a,100\n2000,a,300\n2000,b,500\n2000,a,200\n", file);
    assert_int_equal(fclose(file), 0);
    snprintf(text, sizeof text,
             "trace: {file: stored_test.csv}\nrow: {format: payload}\nstrategies: [time: {window: 1s}]\n"
             "table: {name: t, columns: {k: key, b: bucket}, partition_key: %s}\n",
             partition_key);
    if (!lab_scenario_parse("stored.yaml", text, strlen(text), NULL, 0, NULL, &scenario, &error))
        fail_msg("%s", error.text);
    struct lab_result *result = run(scenario, 1);
    check_equal(&result->strategies[0], "rows.overwritten", overwritten);
    check_equal(&result->strategies[0], "partitions.all.bytes.min", 100);
    check_equal(&result->strategies[0], "partitions.all.bytes.max", bytes);
    lab_result_destroy(result);
    lab_scenario_destroy(scenario);
    remove("stored_test.csv");
}

static void test_last_of_rows_with_equal_times_wins(void **state)
{
    (void)state;
    check_last("[b]", 500, 3);
    check_last("[k, b]", 500, 2);
}

static void check_frequencies(double zipf, uint32_t values, double limit)
{
    struct lab_design design;
    struct lab_values drawn;
    struct sim_zipf distribution;
    uint64_t counts[64] = {0}, rows = 200000;
    double chi_square = 0;
    lab_design_default(&design);
    design.columns[4] =
        (struct lab_column){.name = "v", .feed = LAB_FEED_VALUES, .values = values, .zipf = zipf};
    design.clustering[design.clustering_count++] = 4;
    assert_true(lab_values_init(&drawn, &design, false));
    assert_int_equal(drawn.partition_combinations, 1);
    for (uint64_t i = 0; i < rows; i++) {
        lab_values_begin(&drawn, 5, i % 4);
        uint64_t combination = lab_values_of_row(&drawn, i / 4);
        assert_int_equal(lab_values_of_column(&drawn, combination, 4), combination);
        assert_true(combination < values);
        counts[combination]++;
    }
    lab_values_clear(&drawn);
    sim_zipf_init(&distribution, zipf, values);
    for (uint32_t i = 0; i < values; i++) {
        double expected = (double)rows * sim_zipf_share(&distribution, i);
        chi_square += ((double)counts[i] - expected) * ((double)counts[i] - expected) / expected;
    }
    if (chi_square > limit)
        fail_msg("zipf %g of %u: chi-square %g", zipf, values, chi_square);
}

/* Quantiles 1 - 1e-10 of chi-square with 4 and 39 degrees of freedom: 52.4 and 125.5. */
static void test_values_come_as_often_as_their_distribution_says(void **state)
{
    (void)state;
    check_frequencies(0, 5, 53);
    check_frequencies(1.1, 5, 53);
    check_frequencies(0, 40, 126);
    check_frequencies(0.7, 40, 126);
}

/* Compared with an array: tuples of a few different words, so that many recur; the set is cleared both while
 * small and while large. */
static void test_tuples_are_found_again_and_end_at_the_bound(void **state)
{
    static uint64_t sums[8][8][8][8];
    struct lab_tuples tuples;
    struct sim_random random;
    (void)state;
    lab_tuples_init(&tuples, 2);
    sim_random_init(&random, 1, SIM_COLUMN, 0);
    for (int round = 0; round < 40; round++) {
        memset(sums, 0, sizeof sums);
        uint64_t draws = sim_random_below(&random, round % 2 == 0 ? 20 : 6000), different = 0;
        for (uint64_t i = 0; i < draws; i++) {
            uint64_t tuple[LAB_TUPLE_WORDS];
            for (int j = 0; j < LAB_TUPLE_WORDS; j++)
                tuple[j] = sim_random_below(&random, 8);
            uint64_t *sum = &sums[tuple[0]][tuple[1]][tuple[2]][tuple[3]];
            assert_true((lab_tuples_find(&tuples, tuple) != NULL) == (*sum > 0));
            different += *sum == 0;
            *sum += i + 1;
            uint64_t *values = lab_tuples_get(&tuples, tuple);
            assert_non_null(values);
            values[1] += i + 1;
        }
        assert_int_equal(tuples.count, different);
        for (uint32_t i = 0; i < tuples.count; i++) {
            const uint64_t *at = lab_tuples_at(&tuples, i);
            assert_true(at[LAB_TUPLE_WORDS] == 0 &&
                        at[LAB_TUPLE_WORDS + 1] == sums[at[0]][at[1]][at[2]][at[3]]);
        }
        lab_tuples_empty(&tuples);
    }
    tuples.most = 3;
    for (uint64_t i = 0; i < 4; i++)
        assert_true((lab_tuples_get(&tuples, (uint64_t[LAB_TUPLE_WORDS]){i}) != NULL) == (i < 3));
    assert_true(tuples.is_full && tuples.count == 3);
    assert_non_null(lab_tuples_get(&tuples, (uint64_t[LAB_TUPLE_WORDS]){2}));
    lab_tuples_clear(&tuples);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_table_is_counted_as_by_hand),
        cmocka_unit_test(test_result_is_the_same_for_any_number_of_workers),
        cmocka_unit_test(test_table_that_keeps_all_rows_changes_nothing),
        cmocka_unit_test(test_last_of_rows_with_equal_times_wins),
        cmocka_unit_test(test_tuples_are_found_again_and_end_at_the_bound),
        cmocka_unit_test(test_values_come_as_often_as_their_distribution_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
