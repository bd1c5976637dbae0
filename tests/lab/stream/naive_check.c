/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compares the engine's result with the naive one: every metric by name and bits, digests, the largest
 * partitions, the timeline's counts and sizes, and the contents of each node. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cassandra/ring.h"
#include "naive.h"
#include "naive_metrics.h"

struct check {
    const struct lab_scenario *scenario;
    const struct naive_input *input;
    const struct lab_strategy_result *strategy;
    const struct naive_result *naive;
    char *message;
    size_t size;
};

__attribute__((format(printf, 2, 3))) static bool differs(const struct check *check, const char *format, ...)
{
    va_list arguments;
    int used = snprintf(check->message, check->size, "%s: ", check->strategy->label);
    va_start(arguments, format);
    vsnprintf(check->message + used, check->size - (size_t)used, format, arguments);
    va_end(arguments);
    return false;
}

/* The first metric, partitions.growing, follows from the scenario alone; twin_grows() checks it. */
static bool check_metrics(const struct check *check, const struct lab_metrics *wanted)
{
    const struct lab_metrics *found = &check->strategy->metrics;
    const size_t first = found->count > 0 && strcmp(found->items[0].name, "partitions.growing") == 0;
    for (size_t i = 0; i + first < found->count && i < wanted->count; i++) {
        const struct lab_metric *a = &found->items[i + first], *b = &wanted->items[i];
        if (strcmp(a->name, b->name) != 0)
            return differs(check, "metric %zu is %s, and %s in naive_metrics.c", i, a->name, b->name);
        if (memcmp(&a->value, &b->value, sizeof a->value) != 0)
            return differs(check, "%s is %.17g, and %.17g with the naive engine", a->name, a->value,
                           b->value);
    }
    return found->count - first == wanted->count ||
           differs(check, "%zu metrics, and %zu with the naive engine", found->count - first, wanted->count);
}

/* Of several equally large partitions, the one of the first key and its first bucket counts. */
static bool check_largest(const struct check *check)
{
    for (int unit = 0; unit < LAB_SIZE_UNITS; unit++) {
        const struct naive_partition *best = NULL;
        uint64_t most = 0;
        for (size_t i = 0; i < check->naive->partition_count; i++) {
            const struct naive_partition *one = &check->naive->partitions[i];
            uint64_t size = unit == LAB_IN_ROWS ? one->rows : one->bytes;
            bool is_first = best != NULL && size == most && one->key_index == best->key_index &&
                            one->bucket < best->bucket; /* keys come in their order */
            if (size > most || is_first) {
                best = one;
                most = size;
            }
        }
        const struct lab_largest *told = &check->strategy->largest[unit];
        bool is_same = told->size == most &&
                       (best == NULL || (told->key_index == best->key_index && told->bucket == best->bucket &&
                                         strcmp(told->key, check->input->keys[best->key_index].name) == 0));
        if (!is_same)
            return differs(check,
                           "the largest is key %" PRIu64 ", bucket %" PRId64 ", size %" PRIu64
                           "; with the naive engine key %" PRIu64 ", bucket %" PRId64 ", size %" PRIu64,
                           told->key_index, told->bucket, told->size, best == NULL ? 0 : best->key_index,
                           best == NULL ? 0 : best->bucket, most);
    }
    return true;
}

static int by_number(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* Least and most must be exact, and a quantile within an eighth above. */
static bool check_slice_sizes(const struct check *check, const struct lab_slice_sizes *told,
                              const uint64_t *sorted, size_t count)
{
    const size_t percents[] = {10, 50, 90};
    const uint64_t quantiles[] = {told->p10, told->p50, told->p90};
    bool ok = told->least == sorted[0] && told->most == sorted[count - 1];
    for (int i = 0; i < 3; i++) {
        uint64_t exact = sorted[(count * percents[i] + 99) / 100 - 1];
        ok = ok && quantiles[i] >= exact && quantiles[i] - exact <= exact / 8 && quantiles[i] <= told->most;
    }
    return ok || differs(check, "sizes of a slice of the timeline differ");
}

/* Each partition is in the slice of its first row, and no slice is without a partition. */
static bool check_timeline(const struct check *check)
{
    const struct naive_result *naive = check->naive;
    uint64_t *sizes = naive_must(calloc(naive->partition_count + 1, sizeof *sizes)), all = 0;
    const struct lab_timeline *timeline = &check->strategy->timeline;
    bool ok = true;
    for (size_t i = 0; ok && i < timeline->count; i++) {
        const struct lab_slice *slice = &timeline->items[i];
        bool is_last = slice->end_ns == check->input->end_ns; /* a trace's last row is at its end */
        for (int unit = 0; ok && unit < LAB_SIZE_UNITS; unit++) {
            size_t count = 0;
            for (size_t j = 0; j < naive->partition_count; j++) {
                const struct naive_partition *partition = &naive->partitions[j];
                if (partition->is_closed == (slice->state == LAB_CLOSED) &&
                    partition->first_ns >= slice->start_ns &&
                    (partition->first_ns < slice->end_ns || is_last))
                    sizes[count++] = unit == LAB_IN_ROWS ? partition->rows : partition->bytes;
            }
            qsort(sizes, count, sizeof *sizes, by_number);
            ok = (count > 0 && slice->partitions == count) ||
                 differs(check,
                         "a slice of the timeline has %" PRIu64 " partitions, and %zu with the naive engine",
                         slice->partitions, count);
            ok = ok && check_slice_sizes(check, &slice->sizes[unit], sizes, count);
        }
        all += slice->partitions;
    }
    free(sizes);
    return ok &&
           (all == naive->partition_count ||
            differs(check, "the timeline has %" PRIu64 " partitions of %zu", all, naive->partition_count));
}

static bool check_nodes(const struct check *check, const struct naive_load *loads)
{
    for (size_t i = 0; i < check->strategy->node_count; i++) {
        const struct lab_node_load *node = &check->strategy->nodes[i];
        if (node->rows != loads[i].rows || node->bytes != loads[i].bytes)
            return differs(check, "%s holds %" PRIu64 " rows, and %" PRIu64 " with the naive engine",
                           node->name, node->rows, loads[i].rows);
    }
    return true;
}

static bool check_strategy(const struct check *check, const struct cass_ring *ring)
{
    struct naive_load *loads = naive_must(calloc(cass_ring_node_count(ring), sizeof *loads));
    struct lab_metrics metrics = {0};
    bool is_table = check->scenario->design.is_given;
    naive_loads(check->input, check->naive, ring, is_table, loads);
    naive_metrics(check->input, check->scenario, check->naive, loads, &check->strategy->settings, &metrics);
    bool ok =
        check_metrics(check, &metrics) &&
        (check->strategy->placement_digest == check->naive->digest ||
         differs(check, "the placement digest is %016" PRIx64 ", and %016" PRIx64 " with the naive engine",
                 check->strategy->placement_digest, check->naive->digest)) &&
        (is_table || check_largest(check)) && check_timeline(check) && check_nodes(check, loads);
    free(metrics.items);
    free(loads);
    return ok;
}

bool naive_check(const struct lab_scenario *scenario, const struct lab_result *result, char *message,
                 size_t size)
{
    struct naive_input *input = naive_input_make(scenario);
    struct cass_ring *ring;
    bool ok = input->rows == result->rows && input->keys_with_rows == result->keys;
    if (!ok)
        snprintf(message, size,
                 "%" PRIu64 " rows of %" PRIu64 " keys, and %" PRIu64 " of %" PRIu64 " with the naive engine",
                 result->rows, result->keys, input->rows, input->keys_with_rows);
    const struct cass_datacenter only = {"dc", scenario->cluster.nodes, 1,
                                         scenario->cluster.replication_factor};
    if (!cass_ring_create(scenario->seed, &only, 1, scenario->cluster.num_tokens, &ring, NULL))
        abort();
    for (size_t i = 0; ok && i < scenario->strategy_count; i++) {
        struct naive_result *naive = naive_run(input, scenario, &scenario->strategies[i]);
        if (scenario->design.is_given)
            naive_settle(input, scenario, naive);
        const struct check check = {.scenario = scenario,
                                    .input = input,
                                    .strategy = &result->strategies[i],
                                    .naive = naive,
                                    .message = message,
                                    .size = size};
        ok = check_strategy(&check, ring);
        naive_free(naive);
    }
    cass_ring_destroy(ring);
    naive_input_free(input);
    return ok;
}
