/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tally of a strategy: partitions, keys and reads come in one by one, sums and histograms go out. Where
 * rows expire, a partition counts what it has on disk, in a ring of compaction windows. Tallies are merged,
 * archived and cleared, with what their tables store, by a list of what a tally has. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/sampler.h"
#include "lab/tally.h"

/* Compaction windows per time to live, as Cassandra's documentation recommends. Where gc_grace_seconds is far
 * longer, windows are longer than that, so that a ring has room for all that are kept. */
#define WINDOWS_MEANT 25

/* The longest time during which a partition of the strategy gets rows; INT64_MAX: it has no bound. */
static int64_t written_ns(const struct lab_strategy *strategy, int64_t start_ns)
{
    const struct bk_strategy *core = &strategy->settings.strategy;
    const struct bk_row row = {.time_ns = start_ns};
    struct bk_placement route;
    if (strategy->settings.change_count > 0)
        return INT64_MAX;
    if (core->kind == BK_KIND_TIME && bk_route(core, NULL, &row, &route) == BK_OK)
        return route.until_ns - route.from_ns;
    return core->max_age_ns > 0 ? core->max_age_ns : INT64_MAX;
}

void lab_disk_windows_init(struct lab_disk_windows *out, const struct lab_scenario *scenario,
                           const struct lab_strategy *strategy, int64_t start_ns, int64_t end_ns)
{
    const int64_t ttl_ns = scenario->row_ttl_ns;
    *out = (struct lab_disk_windows){0, 0};
    if (ttl_ns <= 0 || ttl_ns > INT64_MAX - scenario->gc_grace_ns)
        return;
    const int64_t kept_ns = ttl_ns + scenario->gc_grace_ns, most = LAB_DISK_WINDOWS - 2;
    if ((uint64_t)end_ns - (uint64_t)start_ns <= (uint64_t)kept_ns ||
        (strategy != NULL && written_ns(strategy, start_ns) <= kept_ns))
        return;
    const int64_t given_ns = scenario->compaction_window_ns,
                  span_ns = given_ns > 0 ? given_ns : ttl_ns / WINDOWS_MEANT + 1;
    out->kept = kept_ns / span_ns < 1 ? 1 : kept_ns / span_ns;
    out->kept = out->kept < most ? out->kept : most;
    out->window_ns = given_ns > kept_ns ? given_ns : kept_ns / out->kept + 1;
}

/* Whether a window begins and ends in this time. */
static bool has_whole_window(const struct bk_strategy *strategy, int64_t start_ns, int64_t end_ns)
{
    struct bk_row row = {.time_ns = start_ns - 1};
    struct bk_placement route;
    if (bk_route(strategy, NULL, &row, &route) != BK_OK)
        return false;
    row.time_ns = route.until_ns;
    return route.until_ns < end_ns && bk_route(strategy, NULL, &row, &route) == BK_OK &&
           route.until_ns <= end_ns;
}

bool lab_partitions_grow(const struct lab_scenario *scenario, const struct lab_settings *settings,
                         int64_t start_ns, int64_t end_ns)
{
    const uint32_t changes = settings->change_count;
    const struct bk_strategy *last =
        changes > 0 ? &settings->changes[changes - 1].strategy : &settings->strategy;
    struct lab_disk_windows windows;
    lab_disk_windows_init(&windows, scenario, NULL, start_ns, end_ns);
    if (settings->is_idgen || settings->observed != WL_OBSERVED_AUTO ||
        (windows.window_ns != 0 && (end_ns - start_ns) / windows.window_ns > windows.kept) ||
        (last->max_age_ns > 0 && last->max_age_ns <= end_ns - start_ns))
        return false;
    return last->kind == BK_KIND_TIME ? !has_whole_window(last, start_ns, end_ns)
                                      : !lab_kind_ends(last->kind);
}

int64_t lab_first_whole(const struct lab_scenario *scenario, const struct bk_strategy *strategy,
                        int64_t start_ns)
{
    const struct bk_row row = {.time_ns = lab_before(start_ns, scenario->workload.backfill_before_ns)};
    struct bk_placement route;
    if (strategy->kind != BK_KIND_TIME || bk_route(strategy, NULL, &row, &route) != BK_OK)
        return INT64_MIN;
    return lab_first_shard(strategy, route.bucket) + (route.from_ns < row.time_ns ? lab_shards(strategy) : 0);
}

static int64_t window_of(const struct lab_disk_windows *windows, int64_t time_ns)
{
    return time_ns / windows->window_ns - (time_ns % windows->window_ns < 0);
}

int64_t lab_disk_until(const struct lab_disk_windows *windows, int64_t time_ns)
{
    const int64_t window = window_of(windows, time_ns) + 1;
    return window > INT64_MAX / windows->window_ns ? INT64_MAX : window * windows->window_ns;
}

bool lab_disk_add(struct lab_disk **held, const struct lab_disk_windows *windows, int64_t time_ns,
                  uint64_t rows, uint64_t bytes)
{
    const int64_t window = window_of(windows, time_ns);
    struct lab_disk *disk = *held;
    if (disk == NULL) {
        disk = *held = calloc(1, sizeof *disk);
        if (disk == NULL)
            return false;
        disk->window = window;
    }
    if (window - disk->window > (int64_t)LAB_DISK_WINDOWS) {
        memset(disk->in, 0, sizeof disk->in);
        disk->now = (struct cass_partition){0, 0};
        disk->window = window;
    }
    while (disk->window < window) {
        disk->window++;
        struct cass_partition *gone =
            &disk->in[(uint64_t)(disk->window - windows->kept - 1) % LAB_DISK_WINDOWS];
        disk->now.rows -= gone->rows;
        disk->now.bytes -= gone->bytes < disk->now.bytes ? gone->bytes : disk->now.bytes;
        *gone = (struct cass_partition){0, 0};
    }
    struct cass_partition *in = &disk->in[(uint64_t)disk->window % LAB_DISK_WINDOWS];
    in->rows += rows;
    lab_bytes_add(&in->bytes, bytes);
    disk->now.rows += rows;
    lab_bytes_add(&disk->now.bytes, bytes);
    disk->most.rows = disk->now.rows > disk->most.rows ? disk->now.rows : disk->most.rows;
    disk->most.bytes = disk->now.bytes > disk->most.bytes ? disk->now.bytes : disk->most.bytes;
    return true;
}

/* Computes when reads occur, and what each of them requests. */

void lab_read_clock_begin(struct lab_read_clock *clock, const struct lab_scenario *scenario,
                          enum lab_read_kind kind, uint64_t entity, double share, int64_t start_ns)
{
    static const enum sim_purpose purposes[LAB_READ_KINDS] = {SIM_READ, SIM_READ_RANGE, SIM_READ_ALL};
    double rate_per_s = scenario->reads.kinds[kind].rate_per_s * share;
    memset(clock, 0, sizeof *clock);
    clock->next_ns = INT64_MAX;
    if (rate_per_s <= 0 || scenario->reads.are_expected)
        return;
    sim_random_init(&clock->draws, scenario->seed, purposes[kind], entity);
    clock->gap_ns = 1e9 / rate_per_s;
    clock->next_ns = start_ns;
    lab_read_clock_next(clock);
}

void lab_read_clock_next(struct lab_read_clock *clock)
{
    double gap = sim_exponential(&clock->draws) * clock->gap_ns;
    bool is_never = gap >= 0x1p62 || clock->next_ns > INT64_MAX - (INT64_C(1) << 62);
    clock->next_ns = is_never ? INT64_MAX : clock->next_ns + (int64_t)gap;
}

void lab_read_plan(const struct lab_scenario *scenario, const struct lab_strategy *strategy,
                   enum lab_read_kind kind, enum bk_plan *plan, uint32_t *at_once)
{
    const struct lab_read *read = &scenario->reads.kinds[kind];
    const struct lab_reading *own = &strategy->settings.reading;
    bool is_own = own->plan != BK_PLAN_DEFAULT;
    *plan = is_own ? own->plan : read->plan;
    *at_once = is_own ? own->at_once : read->at_once;
}

void lab_read_query(const struct lab_scenario *scenario, const struct lab_strategy *strategy,
                    enum lab_read_kind kind, int64_t now_ns, int64_t birth_ns, struct bk_query *out)
{
    static const enum bk_query_kind kinds[LAB_READ_KINDS] = {BK_QUERY_LATEST, BK_QUERY_RANGE, BK_QUERY_ALL};
    const struct lab_read *read = &scenario->reads.kinds[kind];
    memset(out, 0, sizeof *out);
    out->kind = kinds[kind];
    lab_read_plan(scenario, strategy, kind, &out->plan, &out->at_once);
    const bool is_of_hash = out->plan == BK_PLAN_ALL || out->plan == BK_PLAN_LAZY;
    const bool is_of_others = out->plan == BK_PLAN_WALK || out->plan == BK_PLAN_PAIR;
    if (strategy->settings.strategy.kind == BK_KIND_HASH ? is_of_others : is_of_hash)
        out->plan = BK_PLAN_DEFAULT;
    out->rows = read->rows;
    out->now_ns = now_ns;
    out->birth_ns = birth_ns;
    out->until_ns = lab_before(now_ns, read->age_ns);
    if (out->until_ns == INT64_MIN)
        out->until_ns++; /* there is no row in this range, but a range must not be empty */
    out->from_ns = lab_before(out->until_ns, read->span_ns);
    out->partitions_max = scenario->reads.limit;
}

/* Rows that a lazy read found in several buckets are in no order, and the newest rows may be in buckets that
 * it did not query. */
void lab_read_count(struct lab_read_tally *tally, const struct lab_read_done *done, uint64_t times)
{
    if (!done->is_before) {
        lab_histogram_add(&tally->partitions, done->partitions, times, 1);
        tally->empties += done->empties * times;
        tally->scanned += done->scanned * times;
    }
    tally->before += done->is_before ? times : 0;
    tally->incomplete += done->rows < done->due ? times : 0;
    tally->cut += done->is_cut ? times : 0;
    bool is_jumbled = done->order == BK_ORDER_NONE && (done->filled > 1 || done->is_early);
    tally->out_of_order += is_jumbled || done->is_stale ? times : 0;
}

unsigned lab_read_kind_count(const struct lab_scenario *scenario)
{
    unsigned count = 0;
    for (int kind = 0; kind < LAB_READ_KINDS; kind++)
        count += scenario->reads.kinds[kind].rate_per_s > 0;
    return count;
}

const char *lab_read_kind_name(enum lab_read_kind kind)
{
    static const char *const names[LAB_READ_KINDS] = {"latest", "range", "all"};
    return names[kind];
}

/* Adds partitions and keys to a tally, and records the largest partitions. */

bool lab_tally_init(struct lab_tally *tally, uint32_t nodes)
{
    memset(tally, 0, sizeof *tally);
    tally->first_over_ns = INT64_MAX;
    tally->nodes = calloc(nodes, sizeof *tally->nodes);
    return tally->nodes != NULL;
}

void lab_tally_sizes(struct lab_tally *tally, const struct lab_limits *limits,
                     const struct cass_partition *partition, bool is_closed, uint64_t times)
{
    bool over_rows = limits->partition_rows != 0 && partition->rows > limits->partition_rows;
    bool over_bytes = limits->partition_bytes != 0 && partition->bytes > limits->partition_bytes;
    tally->over_limit_rows += over_rows ? times : 0;
    tally->over_limit_bytes += over_bytes ? times : 0;
    tally->over_limit += over_rows || over_bytes ? times : 0;
    tally->tiny += is_closed && partition->rows < limits->tiny_rows ? times : 0;
    if (tally->is_raced) {
        lab_histogram_note(is_closed ? &tally->closed_rows : &tally->open_rows, partition->rows);
        lab_histogram_note(is_closed ? &tally->closed_bytes : &tally->open_bytes, partition->bytes);
        lab_sizes_add(&tally->sizes[LAB_IN_ROWS], partition->rows);
        lab_sizes_add(&tally->sizes[LAB_IN_BYTES], partition->bytes);
        return;
    }
    lab_histogram_add(is_closed ? &tally->closed_rows : &tally->open_rows, partition->rows, times,
                      partition->rows);
    lab_histogram_add(is_closed ? &tally->closed_bytes : &tally->open_bytes, partition->bytes, times,
                      partition->rows);
}

void lab_tally_partition(struct lab_tally *tally, const struct lab_limits *limits,
                         const struct cass_partition *partition, int64_t first_ns, bool is_closed)
{
    lab_tally_sizes(tally, limits, partition, is_closed, 1);
    if (!tally->is_raced)
        lab_slices_add(&tally->slices, first_ns, is_closed, partition);
}

void lab_tally_larger(struct lab_tally *tally, const struct lab_key_name *key, int64_t bucket,
                      const struct cass_partition *partition)
{
    const uint64_t sizes[LAB_SIZE_UNITS] = {partition->rows, partition->bytes};
    for (int unit = 0; unit < LAB_SIZE_UNITS; unit++) {
        struct lab_largest *largest = &tally->largest[unit];
        if (!lab_is_larger(sizes[unit], key->index, bucket, largest))
            continue;
        *largest = (struct lab_largest){.key_index = key->index, .bucket = bucket, .size = sizes[unit]};
        size_t size = key->size;
        if (size >= sizeof largest->key) {
            size = sizeof largest->key - 1;
            /* Not within a character, whose bytes after the first are 10xxxxxx. */
            while (size > 0 && ((unsigned char)key->text[size] & 0xc0) == 0x80)
                size--;
        }
        memcpy(largest->key, key->text, size);
    }
}

void lab_tally_left(struct lab_tally *tally, uint64_t live, uint64_t tombstones)
{
    lab_histogram_add(&tally->tombstones, tombstones, 1, 1);
    tally->emptied += live == 0;
    if (live > 0)
        lab_histogram_add(&tally->live_rows, live, 1, live);
}

void lab_tally_key(struct lab_tally *tally, const struct cass_partition *whole)
{
    struct cass_partition *most = &tally->key_most;
    most->rows = whole->rows > most->rows ? whole->rows : most->rows;
    most->bytes = whole->bytes > most->bytes ? whole->bytes : most->bytes;
}

/* The histograms of a tally; those of partitions come first. */
static const size_t histograms[] = {
    offsetof(struct lab_tally, closed_rows),
    offsetof(struct lab_tally, open_rows),
    offsetof(struct lab_tally, closed_bytes),
    offsetof(struct lab_tally, open_bytes),
    offsetof(struct lab_tally, live_rows),
    offsetof(struct lab_tally, tombstones),
    offsetof(struct lab_tally, reads.partitions),
    offsetof(struct lab_tally, reads_of[0].partitions),
    offsetof(struct lab_tally, reads_of[1].partitions),
    offsetof(struct lab_tally, reads_of[2].partitions),
};
#define HISTOGRAM_COUNT      (sizeof histograms / sizeof *histograms)
#define PARTITION_HISTOGRAMS 4

/* Its numbers, and how they merge. Those of partitions are replaced by those of a table's partitions. */
enum rule { ADD, ADD_WIDE, SATURATE, LARGER };
#define OF(rule, member)                                                                                     \
    {                                                                                                        \
        offsetof(struct lab_tally, member), rule, false                                                      \
    }
#define OF_PARTITIONS(rule, member)                                                                          \
    {                                                                                                        \
        offsetof(struct lab_tally, member), rule, true                                                       \
    }
#define OF_READS(reads)                                                                                      \
    OF(ADD, reads.empties), OF(ADD, reads.incomplete), OF(ADD, reads.out_of_order), OF(ADD, reads.cut),      \
        OF(ADD, reads.before), OF(ADD_WIDE, reads.scanned)
static const struct {
    size_t place;
    enum rule rule;
    bool is_of_partitions;
} numbers[] = {
    OF_PARTITIONS(ADD, over_limit),
    OF_PARTITIONS(ADD, over_limit_rows),
    OF_PARTITIONS(ADD, over_limit_bytes),
    OF_PARTITIONS(ADD, tiny),
    OF_PARTITIONS(ADD, placed),
    OF_PARTITIONS(LARGER, peak_rows_per_s),
    OF(LARGER, key_most.rows),
    OF(LARGER, key_most.bytes),
    OF(SATURATE, payload_bytes),
    OF(ADD, rows),
    OF(ADD, counter_increments),
    OF(ADD, state_reads),
    OF(ADD, state_writes),
    OF(ADD, lwt),
    OF(ADD, rows_scanned),
    OF(ADD, rows_deleted),
    OF(ADD, rows_expired),
    OF(ADD, emptied),
    OF(ADD, late_rows),
    OF(ADD, rows_into_closed),
    OF(ADD, reopened),
    OF(ADD, placement_digest),
    OF_READS(reads),
    OF_READS(reads_of[0]),
    OF_READS(reads_of[1]),
    OF_READS(reads_of[2]),
};
#define NUMBER_COUNT (sizeof numbers / sizeof *numbers)
_Static_assert(LAB_READ_KINDS == 3, "list the tallies of all kinds of reads");

static struct lab_histogram *histogram_at(const struct lab_tally *tally, size_t i)
{
    return (struct lab_histogram *)((uintptr_t)tally + histograms[i]);
}

static uint64_t *number_at(const struct lab_tally *tally, size_t i)
{
    return (uint64_t *)((uintptr_t)tally + numbers[i].place);
}

bool lab_tally_is_lost(const struct lab_tally *tally)
{
    bool is_lost = tally->out_of_memory || tally->slices.out_of_memory;
    for (size_t i = 0; i < HISTOGRAM_COUNT; i++)
        is_lost = is_lost || histogram_at(tally, i)->out_of_memory;
    return is_lost;
}

void lab_tally_merge(struct lab_tally *into, const struct lab_tally *from, uint32_t nodes)
{
    for (size_t i = 0; i < HISTOGRAM_COUNT; i++)
        lab_histogram_merge(histogram_at(into, i), histogram_at(from, i));
    for (size_t i = 0; i < NUMBER_COUNT; i++) {
        uint64_t *sum = number_at(into, i);
        const uint64_t more = *number_at(from, i);
        if (numbers[i].rule == LARGER)
            *sum = more > *sum ? more : *sum;
        else if (numbers[i].rule == ADD_WIDE)
            *(lab_wide *)sum += *(const lab_wide *)number_at(from, i);
        else if (numbers[i].rule == SATURATE)
            lab_bytes_add(sum, more);
        else
            *sum += more;
    }
    for (int unit = 0; unit < LAB_SIZE_UNITS; unit++) {
        const struct lab_largest *largest = &from->largest[unit];
        lab_sizes_merge(&into->sizes[unit], &from->sizes[unit]);
        if (lab_is_larger(largest->size, largest->key_index, largest->bucket, &into->largest[unit]))
            into->largest[unit] = *largest;
    }
    lab_slices_merge(&into->slices, &from->slices);
    lab_tally_over(into, from->first_over_ns);
    into->out_of_memory = into->out_of_memory || lab_tally_is_lost(from);
    if (from->stored != NULL)
        lab_stored_merge(into->stored, from->stored);
    for (uint32_t i = 0; i < nodes; i++) {
        into->nodes[i].rows += from->nodes[i].rows;
        lab_bytes_add(&into->nodes[i].bytes, from->nodes[i].bytes);
    }
}

void lab_tally_move(struct lab_tally *into, struct lab_tally *from, uint32_t nodes)
{
    if (into->rows > 0 || into->reads.partitions.count > 0 || into->reads.before > 0 || into->out_of_memory) {
        lab_tally_merge(into, from, nodes);
        return;
    }
    const struct lab_tally empty = *into;
    *into = *from;
    *from = empty;
}

void lab_tally_take_partitions(struct lab_tally *into, struct lab_tally *from)
{
    into->out_of_memory = lab_tally_is_lost(into) || lab_tally_is_lost(from);
    for (size_t i = 0; i < PARTITION_HISTOGRAMS; i++) {
        lab_histogram_clear(histogram_at(into, i));
        *histogram_at(into, i) = *histogram_at(from, i);
        lab_histogram_init(histogram_at(from, i));
    }
    for (size_t i = 0; i < NUMBER_COUNT; i++) {
        if (numbers[i].is_of_partitions)
            *number_at(into, i) = *number_at(from, i);
    }
    into->first_over_ns = from->first_over_ns;
    memset(into->largest, 0, sizeof into->largest);
    const struct lab_slices slices = into->slices;
    struct cass_node_load *nodes = into->nodes;
    into->slices = from->slices;
    into->nodes = from->nodes;
    from->slices = slices;
    from->nodes = nodes;
}

void lab_tally_clear(struct lab_tally *tally)
{
    for (size_t i = 0; i < HISTOGRAM_COUNT; i++)
        lab_histogram_clear(histogram_at(tally, i));
    for (int unit = 0; unit < LAB_SIZE_UNITS; unit++)
        lab_sizes_clear(&tally->sizes[unit]);
    lab_slices_clear(&tally->slices);
    lab_stored_destroy(tally->stored);
    free(tally->nodes);
    memset(tally, 0, sizeof *tally);
}

static void archive_largest(struct lab_largest *largest, struct sim_archive *archive)
{
    sim_archive_bytes(archive, largest->key, sizeof largest->key);
    sim_archive_u64(archive, &largest->key_index);
    sim_archive_i64(archive, &largest->bucket);
    sim_archive_u64(archive, &largest->size);
    if (sim_archive_is_fine(archive))
        sim_archive_check(archive, memchr(largest->key, '\0', sizeof largest->key) != NULL);
    if (!sim_archive_is_fine(archive) && archive->is_loading)
        memset(largest, 0, sizeof *largest);
}

void lab_tally_archive(struct lab_tally *tally, struct sim_archive *archive, uint32_t nodes)
{
    sim_archive_mark(archive, 0x54414c59);
    for (size_t i = 0; i < HISTOGRAM_COUNT; i++)
        lab_histogram_archive(histogram_at(tally, i), archive);
    for (size_t i = 0; i < NUMBER_COUNT; i++)
        sim_archive_bytes(archive, number_at(tally, i),
                          numbers[i].rule == ADD_WIDE ? sizeof(lab_wide) : sizeof(uint64_t));
    sim_archive_i64(archive, &tally->first_over_ns);
    lab_slices_archive(&tally->slices, archive);
    for (int unit = 0; unit < LAB_SIZE_UNITS; unit++)
        archive_largest(&tally->largest[unit], archive);
    sim_archive_bool(archive, &tally->out_of_memory);
    sim_archive_bytes(archive, tally->nodes, nodes * sizeof *tally->nodes);
    /* The tally was made for the same scenario, which determines whether it has `stored`. */
    bool has_stored = tally->stored != NULL;
    sim_archive_bool(archive, &has_stored);
    if (has_stored == (tally->stored != NULL) && has_stored)
        lab_stored_archive(tally->stored, archive);
    else if (sim_archive_is_fine(archive))
        sim_archive_check(archive, has_stored == (tally->stored != NULL));
}
