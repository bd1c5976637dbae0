/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: a run whose settings change does what the changes say. Method: the same rows pass one by one through a
 * model without histories: a partition is named by era and plain bucket if old settings are kept, and by the
 * plain bucket only if they are forgotten; reads walk over these partitions. Every figure must be equal. A
 * change to the same settings must change nothing at all if the key's state continues. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../scenario_of.h"
#include "kernel/time.h"
#include "lab/run.h"

#define CHANGE_NS  (INT64_C(43) * SIM_HOUR)
#define KEYS       40
#define PARTITIONS 4096

static const char head[] = "name: change-test\n"
                           "seed: 7\n"
                           "duration: 4d\n"
                           "keys: {count: 40, popularity: {zipf: 1.2}}\n"
                           "arrivals: {rate: 100/h, bursts: {on: 10m, off: 3h, factor: 60}}\n"
                           "row: {bytes: {lognormal: {mean: 350, sigma: 1.0}}}\n"
                           "reads: {latest: {rows: 12, rate: 150/h}}\n"
                           "strategies:\n";

/* The model's partitions of one key, newest last. */
struct model_partition {
    int era;
    int64_t bucket;
    uint64_t rows, bytes;
};

struct model {
    const struct bk_strategy *strategies[2];
    bool keeps_old;
    int64_t change_ns;
    struct model_partition partitions[PARTITIONS];
    size_t count;
    /* For a count that keeps the old settings: the first number of the second era; UINT64_MAX: not begun. */
    uint64_t starts_at;
    uint64_t partitions_total, most_rows, bytes, asked, empties, incomplete, reads;
};

static double metric(const struct lab_strategy_result *strategy, const char *name)
{
    const struct lab_metric *found = lab_metrics_find(&strategy->metrics, name);
    if (found == NULL)
        fail_msg("%s has no %s", strategy->label, name);
    return found->value;
}

static struct model_partition *find(struct model *model, int era, int64_t bucket)
{
    for (size_t i = model->count; i > 0; i--) {
        if (model->partitions[i - 1].bucket == bucket &&
            (!model->keeps_old || model->partitions[i - 1].era == era))
            return &model->partitions[i - 1];
    }
    return NULL;
}

static int64_t plain_bucket(const struct bk_strategy *strategy, int64_t time_ns, uint64_t number, uint64_t id)
{
    struct bk_row row = {time_ns, number, id, 0};
    struct bk_placement route;
    assert_int_equal(bk_route(strategy, NULL, &row, &route), BK_OK);
    return route.bucket;
}

static void place(struct model *model, const struct bk_row *row)
{
    int era = row->time_ns >= model->change_ns;
    uint64_t number = row->sequence;
    if (era == 1 && model->starts_at == UINT64_MAX)
        model->starts_at = number;
    if (era == 1 && model->keeps_old)
        number -= model->starts_at;
    int64_t bucket = plain_bucket(model->strategies[era], row->time_ns, number, row->id);
    struct model_partition *partition = find(model, era, bucket);
    if (partition == NULL) {
        assert_true(model->count < PARTITIONS);
        partition = &model->partitions[model->count++];
        *partition = (struct model_partition){era, bucket, 0, 0};
    }
    partition->rows++;
    partition->bytes += row->bytes;
}

/* The buckets of one era from high down to low, `width` at a time, until there are enough rows. */
static void walk(struct model *model, int era, int64_t high, int64_t low, int64_t width, uint64_t *found)
{
    for (int64_t bucket = high; bucket >= low && *found < 12; bucket -= width) {
        for (int64_t i = bucket; i > bucket - width && i >= low; i--) {
            const struct model_partition *partition = find(model, era, i);
            model->asked++;
            model->empties += partition == NULL;
            *found += partition == NULL ? 0 : partition->rows;
        }
    }
}

static void read_era(struct model *model, int era, int64_t now_ns, int64_t birth_ns, uint64_t rows,
                     uint64_t *found)
{
    const struct bk_strategy *strategy = model->strategies[era];
    int64_t high = 0, low = 0, width = 1;
    if (strategy->kind == BK_KIND_TIME) {
        int64_t last_ns = era == 0 && now_ns >= model->change_ns ? model->change_ns - 1 : now_ns;
        bool is_cut = era == 1 && model->keeps_old && birth_ns < model->change_ns;
        high = plain_bucket(strategy, last_ns, 0, 0);
        low = plain_bucket(strategy, is_cut ? model->change_ns : birth_ns, 0, 0);
    } else if (strategy->kind == BK_KIND_HASH) {
        high = (int64_t)strategy->of.hash.buckets - 1;
        width = high + 1;
    } else {
        uint64_t before = model->starts_at == UINT64_MAX ? rows : model->starts_at;
        uint64_t of_era = !model->keeps_old ? rows : era == 0 ? before : rows - before;
        if (of_era == 0)
            return;
        high = plain_bucket(strategy, 0, of_era - 1, 0);
    }
    walk(model, era, high, low, width, found);
}

static void read_newest(struct model *model, int64_t now_ns, int64_t birth_ns, uint64_t rows)
{
    uint64_t found = 0, asked = model->asked;
    int era = now_ns >= model->change_ns;
    if (rows == 0 && model->strategies[0]->kind == BK_KIND_COUNT) {
        model->asked++; /* bucket 0 */
        model->empties++;
    } else {
        read_era(model, era, now_ns, birth_ns, rows, &found);
        if (era == 1 && model->keeps_old && found < 12 && birth_ns < model->change_ns)
            read_era(model, 0, now_ns, birth_ns, rows, &found);
    }
    assert_true(model->asked > asked);
    model->incomplete += found < (rows < 12 ? rows : 12);
    model->reads++;
}

static void run_key(const struct lab_scenario *scenario, struct model *model, uint64_t key_index)
{
    static int64_t times[100000];
    static uint64_t ids[100000], bytes[100000];
    const struct wl_workload *workload = &scenario->workload;
    int64_t end_ns = workload->start_ns + workload->duration_ns;
    struct wl_key key;
    wl_key_init(&key, workload, key_index);
    size_t count = wl_key_rows(&key, end_ns, 100000, times, ids, bytes);
    struct sim_random reads;
    sim_random_init(&reads, scenario->seed, SIM_READ, key_index);
    double rate = scenario->reads.kinds[LAB_READ_LATEST].rate_per_s;
    double gap = 1e9 / (rate * sim_zipf_share(&workload->popularity, key_index));
    int64_t read_ns = workload->start_ns + (int64_t)(sim_exponential(&reads) * gap);
    model->count = 0;
    model->starts_at = UINT64_MAX;
    for (size_t i = 0; i <= count; i++) {
        int64_t time_ns = i < count ? times[i] : end_ns;
        for (; read_ns < time_ns; read_ns += (int64_t)(sim_exponential(&reads) * gap))
            read_newest(model, read_ns, i > 0 ? times[0] : read_ns, i);
        if (i == count)
            break;
        struct bk_row row = {time_ns, i, ids[i], bytes[i]};
        place(model, &row);
    }
    model->partitions_total += model->count;
    for (size_t i = 0; i < model->count; i++) {
        model->bytes += model->partitions[i].bytes;
        if (model->partitions[i].rows > model->most_rows)
            model->most_rows = model->partitions[i].rows;
    }
}

static void a_run_is_what_the_changes_say(void **unused)
{
    (void)unused;
    struct lab_scenario *scenario = scenario_of(
        head,
        "  - {time: {window: 5h, then: [{at: 43h, window: 17h}]}, label: time}\n"
        "  - {time: {window: 5h, then: [{at: 43h, window: 17h, keep_old: false}]}, label: time-forgets}\n"
        "  - {time: {window: 17h, then: [{at: 43h, calendar: hour}]}, label: hours}\n"
        "  - {time: {window: 17h, then: [{at: 43h, window: 5h, keep_old: false}]}, label: hours-forget}\n"
        "  - {hash: {buckets: 3, then: [{at: 43h, buckets: 11}]}, label: hash}\n"
        "  - {hash: {buckets: 11, then: [{at: 43h, buckets: 3}]}, label: fewer}\n"
        "  - {hash: {buckets: 3, then: [{at: 43h, buckets: 11, keep_old: false}]}, label: hash-forgets}\n"
        "  - {hash: {buckets: 11, then: [{at: 43h, buckets: 3, keep_old: false}]}, label: fewer-forget}\n"
        "  - {count: {rows: 40, counter: external, then: [{at: 43h, rows: 15}]}, label: count}\n"
        "  - {count: {rows: 15, counter: external, then: [{at: 43h, rows: 40, keep_old: false}]}, label: "
        "count-forgets}\n"
        "  - {count: {rows: 40, counter: external, then: [{at: 43h, rows: 15, keep_old: false}]}, label: "
        "fewer-rows-forget}\n");
    struct lab_result *result;
    struct sim_error error;
    if (!lab_run(scenario, 2, NULL, &result, &error))
        fail_msg("%s", error.text);
    static struct model model;
    uint64_t lost = 0;
    for (size_t i = 0; i < scenario->strategy_count; i++) {
        const struct lab_strategy *strategy = &scenario->strategies[i];
        const struct lab_strategy_result *got = &result->strategies[i];
        memset(&model, 0, sizeof model);
        model.strategies[0] = &strategy->settings.strategy;
        model.strategies[1] = &strategy->settings.changes[0].strategy;
        model.keeps_old = strategy->settings.changes[0].keeps_old;
        model.change_ns = scenario->workload.start_ns + CHANGE_NS;
        for (uint64_t key = 0; key < KEYS; key++)
            run_key(scenario, &model, key);
        print_message("%s: %.0f partitions\n", strategy->label, (double)model.partitions_total);
        assert_true(metric(got, "partitions.total") == (double)model.partitions_total);
        assert_true(metric(got, "partitions.all.rows.max") == (double)model.most_rows);
        assert_true(metric(got, "reads.count") == (double)model.reads);
        assert_true(metric(got, "reads.incomplete") == (double)model.incomplete);
        assert_true(metric(got, "reads.partitions_per_read.mean") ==
                    (double)model.asked / (double)model.reads);
        assert_true(metric(got, "reads.empty_partitions_per_read") ==
                    (double)model.empties / (double)model.reads);
        if (model.keeps_old)
            assert_int_equal(model.incomplete, 0);
        lost += model.incomplete;
    }
    assert_true(lost > 0); /* the effect of forgetting is visible */
    lab_result_destroy(result);
    lab_scenario_destroy(scenario);
}

static void the_same_settings_change_nothing(void **unused)
{
    (void)unused;
    struct lab_scenario *scenario = scenario_of(
        head, "  - {probabilistic: {bits: 3, threshold: 5}, label: plain}\n"
              "  - {probabilistic: {bits: 3, threshold: 5, then: [{at: 1d, bits: 3, threshold: 5}, "
              "{at: 2d, bits: 3, threshold: 5}]}, label: kept}\n"
              "  - {probabilistic: {bits: 3, threshold: 5, then: [{at: 1d, bits: 3, threshold: 5, keep_old: "
              "false}]}, label: forgot}\n"
              "  - {probabilistic: {bits: 3, threshold: 5, then: [{at: 1d, bits: 3, threshold: 50}, {at: 2d, "
              "bits: 3, threshold: 5}]}, label: other}\n");
    struct lab_result *result;
    struct sim_error error;
    if (!lab_run(scenario, 1, NULL, &result, &error))
        fail_msg("%s", error.text);
    for (size_t i = 1; i < 3; i++) {
        const struct lab_metrics *plain = &result->strategies[0].metrics,
                                 *same = &result->strategies[i].metrics;
        assert_int_equal(result->strategies[i].placement_digest, result->strategies[0].placement_digest);
        assert_int_equal(same->count, plain->count);
        for (size_t j = 0; j < plain->count; j++) {
            assert_string_equal(same->items[j].name, plain->items[j].name);
            assert_true(same->items[j].value == plain->items[j].value);
        }
    }
    assert_true(result->strategies[3].placement_digest != result->strategies[0].placement_digest);
    assert_true(metric(&result->strategies[3], "reads.incomplete") == 0);
    lab_result_destroy(result);
    lab_scenario_destroy(scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_run_is_what_the_changes_say),
                                       cmocka_unit_test(the_same_settings_change_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
