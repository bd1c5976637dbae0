/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saves and loads the ledger and the oracles of a run. Hash tables are built again, and their contents are
 * archived in a fixed order, so that equal states give equal bytes. */
#include <stdlib.h>
#include <string.h>

#include "cluster_archive.h"
#include "evidence.h"
#include "oracles.h"

SIM_ARCHIVE_KNOWS(sizeof(struct lab_partition) == 264 && sizeof(struct lab_key_ledger) == 328,
                  "the ledger has changed: archive new fields");
SIM_ARCHIVE_KNOWS(sizeof(struct lab_oracles) - sizeof(struct lab_verdict) - sizeof(struct lab_concerns) -
                          sizeof(struct lab_remembered) ==
                      696,
                  "oracles have changed: archive new fields");
SIM_ARCHIVE_KNOWS(sizeof(struct lab_health) == 56 && sizeof(struct lab_increment) == 40 &&
                      sizeof(struct lab_open_row) == 24,
                  "health, increments or open rows have changed: archive new fields");
SIM_ARCHIVE_KNOWS(sizeof(struct lab_span) == 32 && sizeof(struct lab_doubt) == 24,
                  "spans or doubts have changed: archive new fields");

/* Archives times of rows, some of them negated. A clock that jumps may give any time, so these are not
 * checked. */
static void extreme_of(struct sim_archive *archive, struct lab_extreme *extreme)
{
    for (int i = 0; i < 2; i++) {
        sim_archive_i64_within(archive, &extreme->time_ns[i], -INT64_MAX, INT64_MAX);
        sim_archive_u32(archive, &extreme->agent[i]);
    }
}

static void partition_of(const struct lab_cluster_run *run, struct sim_archive *archive,
                         struct lab_partition *partition)
{
    sim_archive_i64(archive, &partition->bucket);
    if (archive->is_loading)
        sim_archive_check(archive, lab_is_possible_bucket(run, partition->bucket));
    sim_archive_u32_below(archive, &partition->key, run->key_count);
    sim_archive_u32(archive, &partition->lower);
    sim_archive_u32(archive, &partition->higher);
    sim_archive_u32(archive, &partition->rows_in_second);
    sim_archive_bool(archive, &partition->is_reopened);
    sim_archive_bool(archive, &partition->is_late);
    sim_archive_u8(archive, &partition->eras);
    sim_archive_i64(archive, &partition->second);
    uint64_t *const counts[] = {&partition->placed,       &partition->stored,
                                &partition->acknowledged, &partition->balance,
                                &partition->fired,        &partition->increments_lost,
                                &partition->unfindable,   &partition->copies_balance};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        sim_archive_u64(archive, counts[i]);
    extreme_of(archive, &partition->latest);
    extreme_of(archive, &partition->earliest);
    extreme_of(archive, &partition->below);
    sim_archive_u64(archive, &partition->counted);
    sim_archive_u64(archive, &partition->overlapping);
    sim_archive_u64(archive, &partition->doubled);
    sim_archive_u64(archive, &partition->added);
    sim_archive_u32(archive, &partition->healthy_stretch);
    sim_archive_u32(archive, &partition->fired_since_healthy);
    lab_archive_time(archive, run, &partition->full_ns);
    lab_archive_span(archive, &partition->first_unhealthy_ns);
    lab_archive_span(archive, &partition->last_unhealthy_ns);
    lab_archive_time(archive, run, &partition->first_ns);
    lab_archive_time(archive, run, &partition->last_stored_ns);
    sim_archive_i64(archive, &partition->line_ns);
}

static void partitions_of(struct lab_cluster_run *run, struct sim_archive *archive)
{
    struct lab_oracles *oracles = &run->oracles;
    sim_archive_u32_below(archive, &oracles->partition_count, LAB_NO_PARTITION / 4);
    if (archive->is_loading) {
        free(oracles->partitions);
        oracles->partitions =
            sim_archive_allocate(archive, oracles->partition_count, sizeof *oracles->partitions, 64);
        if (oracles->partitions == NULL)
            oracles->partition_count = 0;
        oracles->partition_capacity = oracles->partition_count;
    }
    for (uint32_t i = 0; i < oracles->partition_count && sim_archive_is_fine(archive); i++)
        partition_of(run, archive, &oracles->partitions[i]);
}

/* Archives a ring buffer as a list. */
static void window_of(struct sim_archive *archive, struct lab_window *window)
{
    sim_archive_u32_below(archive, &window->count, UINT32_MAX / 4);
    if (archive->is_loading) {
        uint32_t capacity = LAB_WINDOW_FEW;
        while (capacity < window->count)
            capacity *= 2;
        free(window->buckets);
        window->buckets = NULL;
        window->begin = window->capacity = 0;
        if (capacity > LAB_WINDOW_FEW)
            window->buckets = sim_archive_allocate(archive, capacity, sizeof *window->buckets, 1);
        if (window->buckets != NULL)
            window->capacity = capacity;
        else if (capacity > LAB_WINDOW_FEW)
            window->count = 0;
    }
    for (uint32_t i = 0; i < window->count; i++)
        sim_archive_i64(archive, lab_window_bucket(window, i));
    sim_archive_u64(archive, &window->placement.fold);
    sim_archive_u64(archive, &window->placement.rows);
    sim_archive_i64(archive, &window->placement.bucket);
}

static void newest_of(struct lab_oracles *oracles, struct sim_archive *archive, struct lab_key_ledger *ledger)
{
    bool has_newest = ledger->newest != NULL;
    uint32_t most = oracles->newest_rows;
    sim_archive_bool(archive, &has_newest);
    if (!has_newest)
        return;
    if (archive->is_loading) {
        free(ledger->newest);
        ledger->newest = sim_archive_allocate(archive, most, sizeof *ledger->newest, 1);
        if (ledger->newest == NULL)
            return;
    }
    sim_archive_u32_below(archive, &ledger->newest_begin, most);
    sim_archive_u32_below(archive, &ledger->newest_count, (uint64_t)most + 1);
    sim_archive_u32_below(archive, &ledger->newest_run, (uint64_t)most + 1);
    for (uint32_t i = 0; i < ledger->newest_count; i++) {
        struct lab_newest_row *row = &ledger->newest[(ledger->newest_begin + i) % most];
        sim_archive_i64(archive, &row->time_ns);
        sim_archive_i64(archive, &row->bucket);
    }
}

static void ledger_of(struct lab_cluster_run *run, struct sim_archive *archive, uint32_t key)
{
    struct lab_oracles *oracles = &run->oracles;
    struct lab_key_ledger *ledger = &oracles->keys[key];
    size_t changes = run->keys[key].change_count;
    sim_archive_u32(archive, &ledger->top);
    sim_archive_u32(archive, &ledger->bottom);
    sim_archive_u32(archive, &ledger->recent);
    window_of(archive, &ledger->window);
    newest_of(oracles, archive, ledger);
    sim_archive_u64(archive, &ledger->stored);
    sim_archive_u64(archive, &ledger->overdue);
    sim_archive_i64(archive, &ledger->second);
    sim_archive_u64(archive, &ledger->rows_in_second);
    sim_archive_u64(archive, &ledger->peak_rows_per_s);
    sim_archive_i64(archive, &ledger->state_bucket);
    sim_archive_u64(archive, &ledger->state_version);
    sim_archive_u32(archive, &ledger->writes_open);
    sim_archive_u32(archive, &ledger->missed);
    sim_archive_u32(archive, &ledger->spans);
    sim_archive_i64(archive, &ledger->latest_ns);
    sim_archive_i64(archive, &ledger->crowd_from_ns);
    sim_archive_i64(archive, &ledger->crowd_until_ns);
    sim_archive_u64(archive, &ledger->arrived);
    sim_archive_u64(archive, &ledger->acknowledged);
    sim_archive_i64(archive, &ledger->born_ns);
    lab_archive_time(archive, run, &ledger->misplaced_ns);
    sim_archive_i64(archive, &ledger->misplaced_from_ns);
    sim_archive_u32(archive, &ledger->counting);
    sim_archive_u64(archive, &ledger->doubled);
    sim_archive_u64(archive, &ledger->added);
    sim_archive_u64(archive, &ledger->numbers_lost);
    lab_archive_time(archive, run, &ledger->rolled_ns);
    lab_archive_time(archive, run, &ledger->at_once_ns);
    sim_archive_bool(archive, &ledger->rolled_at_once);
    sim_archive_i64(archive, &ledger->gaps_judged);
    sim_archive_u32(archive, &ledger->stuck_stretch);
    sim_archive_i64(archive, &ledger->stuck_bucket);
    if (!archive->is_loading)
        return;
    int64_t bucket = ledger->state_bucket;
    sim_archive_check(archive, bucket >= 0 && (bucket == 0 || (uint64_t)bucket < changes));
    sim_archive_check(archive, ledger->gaps_judged >= 0);
}

static void open_rows_of(const struct lab_cluster_run *run, struct sim_archive *archive,
                         struct lab_open_rows *rows)
{
    sim_archive_size(archive, &rows->count);
    if (archive->is_loading) {
        free(rows->items);
        rows->items = sim_archive_allocate(archive, rows->count, sizeof *rows->items, 8);
        if (rows->items == NULL)
            rows->count = 0;
        rows->capacity = rows->count;
    }
    for (size_t i = 0; i < rows->count; i++) {
        sim_archive_u32_below(archive, &rows->items[i].key, run->key_count);
        sim_archive_bool(archive, &rows->items[i].is_acknowledged);
        sim_archive_bool(archive, &rows->items[i].is_heard);
        sim_archive_u64(archive, &rows->items[i].row);
        sim_archive_i64(archive, &rows->items[i].bucket);
    }
}

static void increment_of(struct sim_archive *archive, struct lab_increment *increment)
{
    sim_archive_u64(archive, &increment->counter);
    sim_archive_u64(archive, &increment->row);
    sim_archive_u64(archive, &increment->amount);
    sim_archive_u32(archive, &increment->asked);
    sim_archive_u32(archive, &increment->applied);
}

static int by_counter_and_row(const void *left, const void *right)
{
    const struct lab_increment *a = left, *b = right;
    if (a->counter != b->counter)
        return a->counter < b->counter ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static void increments_save(struct sim_archive *archive, const struct lab_increments *increments)
{
    struct lab_increment *sorted = calloc(increments->used, sizeof *sorted);
    size_t count = 0;
    if (sorted == NULL) {
        sim_archive_fail_memory(archive);
        return;
    }
    for (size_t i = 0; i < increments->capacity; i++) {
        if (increments->slots[i].is_used)
            sorted[count++] = increments->slots[i];
    }
    qsort(sorted, count, sizeof *sorted, by_counter_and_row);
    for (size_t i = 0; i < count; i++)
        increment_of(archive, &sorted[i]);
    free(sorted);
}

static void increments_load(struct sim_archive *archive, struct lab_increments *increments, size_t used)
{
    struct lab_increment before = {0};
    free(increments->slots);
    increments->slots = NULL;
    increments->used = increments->capacity = 0;
    for (size_t i = 0; i < used && sim_archive_is_fine(archive); i++) {
        struct lab_increment increment = {.is_used = true};
        increment_of(archive, &increment);
        sim_archive_check(archive, i == 0 || by_counter_and_row(&before, &increment) < 0);
        if (sim_archive_is_fine(archive) && !lab_increment_restore(increments, &increment))
            sim_archive_fail_memory(archive);
        before = increment;
    }
}

static void increments_of(struct sim_archive *archive, struct lab_increments *increments)
{
    size_t used = increments->used;
    uint64_t *const counts[] = {&increments->due,         &increments->lost,
                                &increments->doubled,     &increments->amount_due,
                                &increments->amount_lost, &increments->amount_doubled};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        sim_archive_u64(archive, counts[i]);
    sim_archive_size(archive, &used);
    if (used > 0 && sim_archive_is_fine(archive) && !archive->is_loading)
        increments_save(archive, increments);
    if (archive->is_loading)
        increments_load(archive, increments, used);
}

static void health_of(const struct lab_cluster_run *run, struct sim_archive *archive,
                      struct lab_health *health)
{
    sim_archive_u32(archive, &health->active);
    sim_archive_u32(archive, &health->stretch);
    lab_archive_span(archive, &health->total_ns);
    lab_archive_time(archive, run, &health->since_ns);
    lab_archive_time(archive, run, &health->until_ns);
    lab_archive_time(archive, run, &health->pulse_until_ns);
    sim_archive_bool(archive, &health->is_unhealthy);
}

/* Spans may have times of rows, so their times are not checked. */
static void excuses_of(struct lab_cluster_run *run, struct sim_archive *archive)
{
    struct lab_oracles *oracles = &run->oracles;
    struct lab_spans *spans = &oracles->spans;
    struct lab_doubts *doubts = &oracles->doubts;
    size_t span_count = spans->count, doubt_count = doubts->count;
    sim_archive_u32(archive, &oracles->spans_of_all);
    sim_archive_u32(archive, &oracles->whole_run);
    spans->items =
        sim_archive_array(archive, spans->items, sizeof *spans->items, &span_count, UINT32_MAX / 2);
    doubts->items =
        sim_archive_array(archive, doubts->items, sizeof *doubts->items, &doubt_count, UINT32_MAX / 2);
    if (!archive->is_loading)
        return;
    spans->capacity = span_count;
    spans->count = (uint32_t)span_count;
    doubts->capacity = doubt_count;
    doubts->count = (uint32_t)doubt_count;
}

/* Checks that the next span of each span is older, so that each list ends. */
static bool spans_fit(const struct lab_oracles *oracles)
{
    const struct lab_spans *spans = &oracles->spans;
    bool is_fine = oracles->spans_of_all <= spans->count;
    for (uint32_t i = 0; i < spans->count; i++)
        is_fine = is_fine && spans->items[i].next <= i && spans->items[i].condition < LAB_CONDITION_COUNT;
    for (uint32_t i = 0; i < oracles->key_count; i++)
        is_fine = is_fine && oracles->keys[i].spans <= spans->count;
    for (uint32_t i = 0; i < oracles->doubts.count; i++)
        is_fine = is_fine && oracles->doubts.items[i].oracle < LAB_ORACLE_COUNT;
    return is_fine;
}

/* Checks that buckets increase along the links of a key up to its top, and that there are no links if
 * partitions are not linked. */
static bool links_fit(const struct lab_oracles *oracles)
{
    uint32_t count = oracles->partition_count, none = LAB_NO_PARTITION;
    const struct lab_partition *partitions = oracles->partitions;
    for (uint32_t i = 0; i < count; i++) {
        const struct lab_partition *partition = &partitions[i];
        uint32_t lower = partition->lower, higher = partition->higher;
        if ((lower != none && lower >= count) || (higher != none && higher >= count))
            return false;
        if (!oracles->is_linked && (lower != none || higher != none))
            return false;
        if (lower != none && (partitions[lower].higher != i || partitions[lower].key != partition->key ||
                              partitions[lower].bucket >= partition->bucket))
            return false;
        if (higher != none && (partitions[higher].lower != i || partitions[higher].key != partition->key))
            return false;
        if (oracles->is_linked && higher == none && oracles->keys[partition->key].top != i)
            return false;
    }
    for (uint32_t i = 0; i < oracles->key_count; i++) {
        const struct lab_key_ledger *ledger = &oracles->keys[i];
        if (ledger->bottom != none && (ledger->bottom >= count || partitions[ledger->bottom].key != i ||
                                       partitions[ledger->bottom].lower != none))
            return false;
        if ((ledger->top == none) != (ledger->bottom == none))
            return false;
        if (ledger->top != none && (ledger->top >= count || partitions[ledger->top].key != i ||
                                    partitions[ledger->top].higher != none))
            return false;
        if (ledger->recent != none && (ledger->recent >= count || partitions[ledger->recent].key != i))
            return false;
        if (ledger->newest_count > 0 && oracles->is_linked && ledger->top == none)
            return false;
    }
    return true;
}

void lab_archive_oracles(struct lab_cluster_run *run, struct sim_archive *archive)
{
    struct lab_oracles *oracles = &run->oracles;
    sim_archive_mark(archive, 0x6f726163);
    partitions_of(run, archive);
    for (uint32_t i = 0; i < oracles->key_count && sim_archive_is_fine(archive); i++)
        ledger_of(run, archive, i);
    lab_lives_archive(oracles, archive);
    sim_archive_bool(archive, &oracles->hints_may_be_lost);
    sim_archive_u32(archive, &oracles->crashes);
    sim_archive_u64(archive, &oracles->placed);
    sim_archive_u64(archive, &oracles->acknowledged);
    sim_archive_u64(archive, &oracles->copies_due);
    open_rows_of(run, archive, &oracles->open);
    open_rows_of(run, archive, &oracles->moved);
    increments_of(archive, &oracles->increments);
    health_of(run, archive, &oracles->health);
    sim_archive_u64(archive, &oracles->waits.seen);
    sim_archive_u32(archive, &oracles->waits.least_ppm);
    sim_archive_u32(archive, &oracles->waits.most_ppm);
    sim_archive_u32(archive, &oracles->rolls_open);
    sim_archive_i64(archive, &oracles->rolls_until_ns);
    sim_archive_i64(archive, &oracles->jumps_until_ns);
    excuses_of(run, archive);
    lab_host_archive(run, archive);
    bool is_judged[LAB_ORACLE_COUNT]; /* until the run ends, this follows from its scenario */
    memcpy(is_judged, oracles->verdict.is_judged, sizeof is_judged);
    lab_archive_verdict(archive, &oracles->verdict);
    if (archive->is_loading && sim_archive_is_fine(archive))
        sim_archive_check(archive, links_fit(oracles) && spans_fit(oracles) &&
                                       memcmp(is_judged, oracles->verdict.is_judged, sizeof is_judged) == 0);
    if (archive->is_loading && sim_archive_is_fine(archive) && oracles->key_count > 0 &&
        !lab_partitions_enter(oracles))
        sim_archive_fail_memory(archive);
}

void lab_archive_verdict(struct sim_archive *archive, struct lab_verdict *verdict)
{
    for (int i = 0; i < LAB_ORACLE_COUNT; i++) {
        struct lab_violation *violation = &verdict->violations[i];
        sim_archive_bool(archive, &verdict->is_judged[i]);
        sim_archive_u32(archive, &verdict->lapsed[i]);
        sim_archive_u64(archive, &violation->count);
        sim_archive_u32(archive, &violation->key);
        sim_archive_i64(archive, &violation->time_ns);
        sim_archive_bytes(archive, violation->text, sizeof violation->text);
        sim_archive_bool(archive, &violation->is_excused);
        sim_archive_u32_below(archive, &violation->excuse_count, LAB_EXCUSES_MAX + 1);
        for (uint32_t set = 0; set < LAB_EXCUSES_MAX; set++)
            sim_archive_u32(archive, &violation->excuses[set]);
        if (archive->is_loading)
            sim_archive_check(archive, memchr(violation->text, '\0', sizeof violation->text) != NULL);
    }
    sim_archive_u32(archive, &verdict->conditions);
    for (int i = 0; i < LAB_PROBE_COUNT; i++)
        sim_archive_u64(archive, &verdict->probes[i]);
    sim_archive_u64(archive, &verdict->increments_lost);
    sim_archive_u64(archive, &verdict->increments_doubled);
    sim_archive_u64(archive, &verdict->rolls);
}
