/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The worker of the stream engine. What comes in: the rows of a key, in columns. They are weighed, the rows
 * that fire are listed, seconds and reads are found between them; what goes out are batches, passed to every
 * strategy. And the sums of workers: added, stored as partial results, loaded. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"
#include "kernel/time.h"
#include "lab/scenario.h"
#include "lab/tally.h"
#include "stream.h"

/* Computes the sums for rows [from, to), whose timestamps have the same length. before[from] is the sum_bytes
 * of the rows before them. */
static uint64_t sum_bytes(struct lab_worker *worker, size_t from, size_t to, uint32_t class)
{
    uint64_t *before = worker->bytes_before, payload = 0, all = before[from];
    for (size_t i = from; i < to; i++) {
        const uint64_t bytes = worker->bytes[i] = lab_row_clamped(worker->bytes[i]);
        payload += bytes;
        before[i + 1] = all += lab_row_weight(worker, bytes, class);
    }
    return payload;
}

static void fill_bytes(struct lab_worker *worker, size_t from, size_t to, uint64_t each)
{
    uint64_t *before = worker->bytes_before;
    for (size_t i = from; i < to; i++)
        before[i + 1] = before[from] + (i + 1 - from) * each;
}

/* Computes the sizes stretch by stretch. Returns the sum_bytes of the payloads. */
static uint64_t weigh_stretches(struct lab_worker *worker, const struct lab_batch *batch,
                                uint64_t payload_each)
{
    const struct lab_row_cost *cost = &worker->scenario->row_cost;
    const struct lab_row_stamps *stamps = &worker->stamps;
    uint64_t payload = payload_each * batch->count;
    worker->bytes_before[0] = 0;
    for (size_t from = 0, to; from < batch->count; from = to) {
        const uint32_t class = lab_row_stamp_class(stamps, batch->times_ns[from]);
        to = batch->times_ns[batch->count - 1] < stamps->until_ns[class]
                 ? batch->count
                 : lab_first_at(batch->times_ns, from + 1, batch->count, stamps->until_ns[class]);
        if (payload_each > 0)
            fill_bytes(worker, from, to, lab_row_bytes(cost, payload_each, stamps->bytes[class]));
        else
            payload += sum_bytes(worker, from, to, class);
    }
    return payload;
}

/* weigh.c: computes the sizes of a batch's rows, and adds their payload to the tallies; a payload above 1 TiB
 * is reduced to 1 TiB. */
static void lab_weigh_rows(struct lab_worker *worker, struct lab_batch *batch, uint64_t payload_each)
{
    const struct lab_row_stamps *stamps = &worker->stamps;
    uint32_t first = lab_row_stamp_class(stamps, batch->times_ns[0]);
    uint64_t payload = payload_each * batch->count;
    for (size_t i = 0; payload_each > 0 && worker->wants_bytes && i < batch->count; i++)
        worker->bytes[i] = payload_each;
    if (payload_each > 0 && batch->times_ns[batch->count - 1] < stamps->until_ns[first]) {
        batch->bytes_each = lab_row_bytes(&worker->scenario->row_cost, payload_each, stamps->bytes[first]);
    } else {
        payload = weigh_stretches(worker, batch, payload_each);
        batch->bytes_before = worker->bytes_before;
    }
    for (size_t i = 0; i < worker->lane_count; i++)
        lab_bytes_add(&worker->tallies[i].payload_bytes, payload);
}

/* The worker of the stream engine: draws the rows of a key and passes them to every strategy. */

/* The mean number of reads between the rows of one batch, which is between two safe points. */
#define READS_IN_BATCH 16384.0

/* Of the archive of a partial result. */
#define PARTIAL_KIND 0x7061727469616c31u

/* Returns whether a row that fires by `other` fires by `one` too. */
static bool is_wider(const struct bk_strategy *one, const struct bk_strategy *other)
{
    return one->kind == BK_KIND_WEIGHTED ? one->of.weighted.bytes <= other->of.weighted.bytes
                                         : one->of.probabilistic.bits <= other->of.probabilistic.bits;
}

/* Returns whether the same rows fire by both. */
static bool fires_alike(const struct bk_strategy *one, const struct bk_strategy *other)
{
    if (one->kind != other->kind || one->kind == BK_KIND_WEIGHTED)
        return one->kind == other->kind && one->of.weighted.bytes == other->of.weighted.bytes;
    return one->of.probabilistic.bits == other->of.probabilistic.bits &&
           one->of.probabilistic.chance_numerator == other->of.probabilistic.chance_numerator &&
           one->of.probabilistic.chance_denominator == other->of.probabilistic.chance_denominator;
}

static struct lab_widest *widest_of(struct lab_worker *worker, const struct bk_strategy *strategy)
{
    return &worker->widest[strategy->kind == BK_KIND_WEIGHTED];
}

/* Finds the strategies whose rows that fire include those of all others of their kind, so that the others
 * need not search all rows. A kind with chances that are not powers of two has none. */
static void find_widest(struct lab_worker *worker)
{
    size_t counts[2] = {0};
    for (size_t i = 0; i < worker->firing_count; i++) {
        const struct bk_strategy *strategy = worker->firing[i].strategy;
        struct lab_widest *widest = widest_of(worker, strategy);
        if (counts[strategy->kind == BK_KIND_WEIGHTED]++ == 0 || is_wider(strategy, widest->strategy))
            widest->strategy = strategy;
    }
    for (size_t i = 0; i < worker->firing_count; i++) {
        const struct bk_strategy *strategy = worker->firing[i].strategy;
        if (counts[strategy->kind == BK_KIND_WEIGHTED] < 2 ||
            (strategy->kind == BK_KIND_PROBABILISTIC && strategy->of.probabilistic.chance_denominator != 0))
            widest_of(worker, strategy)->strategy = NULL;
    }
}

/* Gives the lanes their lists of rows that fire. */
static void share_firing(struct lab_worker *worker)
{
    for (size_t i = 0; i < worker->lane_count; i++) {
        const struct bk_strategy *strategy = &worker->strategies[i];
        size_t list = 0;
        if (!bk_kind_fires(strategy->kind) || worker->scenario->strategies[i].settings.change_count > 0)
            continue;
        while (list < worker->firing_count && !fires_alike(worker->firing[list].strategy, strategy))
            list++;
        if (list == worker->firing_count)
            worker->firing[worker->firing_count++].strategy = strategy;
        worker->settings[i].firing = worker->firing[list].rows;
    }
    find_widest(worker);
}

bool lab_worker_create(const struct lab_scenario *scenario, const struct cass_ring *ring,
                       const struct lab_run_context *context, struct lab_worker **out,
                       struct sim_error *error)
{
    *out = NULL;
    struct lab_worker *worker = calloc(1, sizeof *worker);
    if (worker == NULL)
        return sim_fail_memory(error);
    worker->scenario = scenario;
    worker->context = context;
    worker->lane_count = scenario->strategy_count;
    worker->wants_seconds = wl_has_own_times(&scenario->workload);
    if (scenario->trace_path == NULL) /* for a trace it is not known yet */
        worker->end_ns = scenario->workload.start_ns + scenario->workload.duration_ns;
    worker->settings = calloc(worker->lane_count, sizeof *worker->settings);
    worker->tallies = calloc(worker->lane_count, sizeof *worker->tallies);
    worker->strategies = calloc(worker->lane_count, sizeof *worker->strategies);
    worker->regimes = calloc(worker->lane_count, sizeof *worker->regimes);
    worker->firing = calloc(worker->lane_count, sizeof *worker->firing);
    bool is_made = worker->settings != NULL && worker->tallies != NULL && worker->strategies != NULL &&
                   worker->regimes != NULL && worker->firing != NULL;
    for (size_t i = 0; is_made && i < worker->lane_count; i++) {
        worker->strategies[i] = lab_counted_strategy(&scenario->strategies[i]);
        worker->settings[i] = (struct lab_lane_settings){scenario, ring, &worker->strategies[i],
                                                         &scenario->strategies[i], .width = 0};
        worker->settings[i].width = lab_read_width(&worker->settings[i]);
        worker->settings[i].replicas = cass_ring_replication_factor(ring);
        const enum bk_kind kind = worker->strategies[i].kind;
        const bool is_sharded = lab_shards(&worker->strategies[i]) > 1;
        worker->wants_ids = worker->wants_ids || kind == BK_KIND_HASH || bk_kind_fires(kind) || is_sharded ||
                            scenario->strategies[i].settings.change_count > 0;
        worker->wants_bytes =
            worker->wants_bytes || scenario->strategies[i].settings.strategy.kind == BK_KIND_WEIGHTED;
        worker->wants_seconds =
            worker->wants_seconds || is_sharded || scenario->strategies[i].settings.change_count > 0;
        is_made = lab_stream_tally_init(scenario, ring, &worker->tallies[i]);
    }
    if (!is_made) {
        lab_worker_destroy(worker);
        return sim_fail_memory(error);
    }
    share_firing(worker);
    *out = worker;
    return true;
}

bool lab_worker_start(struct lab_worker *worker, int64_t start_ns, struct sim_error *error)
{
    lab_row_stamps_init(&worker->stamps, &worker->scenario->row_cost, start_ns);
    lab_disk_windows_init(&worker->disk, worker->scenario, NULL, start_ns, worker->end_ns);
    for (size_t i = 0; i < worker->lane_count; i++) {
        const struct lab_strategy *strategy = &worker->scenario->strategies[i];
        worker->settings[i].start_ns = start_ns;
        worker->settings[i].first_whole = lab_first_whole(worker->scenario, &worker->strategies[i], start_ns);
        lab_disk_windows_init(&worker->settings[i].disk, worker->scenario, strategy, start_ns,
                              worker->end_ns);
        lab_stream_tally_begin(worker->scenario, &worker->tallies[i], start_ns, worker->end_ns);
        if (strategy->settings.change_count == 0)
            continue;
        if (!lab_regimes_make(strategy, start_ns, &worker->regimes[i]))
            return sim_fail(error, SIM_ERROR_INPUT,
                            "%s:%d:%d: a change overflows the range of timestamps; lower 'at'",
                            worker->scenario->path, strategy->line, strategy->column);
        worker->settings[i].regimes = &worker->regimes[i];
    }
    return true;
}

bool lab_stream_tally_init(const struct lab_scenario *scenario, const struct cass_ring *ring,
                           struct lab_tally *tally)
{
    if (!lab_tally_init(tally, cass_ring_node_count(ring)))
        return false;
    tally->is_raced = scenario->is_raced && !LAB_KEEPS_STORED(scenario);
    if (!LAB_KEEPS_STORED(scenario))
        return true;
    tally->stored = lab_stored_create(scenario, ring);
    return tally->stored != NULL;
}

void lab_stream_tally_begin(const struct lab_scenario *scenario, struct lab_tally *tally, int64_t start_ns,
                            int64_t end_ns)
{
    if (!scenario->is_raced)
        lab_slices_begin(&tally->slices, start_ns, end_ns);
    if (tally->stored != NULL)
        lab_stored_begin(tally->stored, start_ns, end_ns);
}

void lab_worker_add(struct lab_worker *worker, const struct cass_ring *ring, struct lab_stream_result *sum)
{
    for (size_t i = 0; i < worker->lane_count; i++) {
        struct lab_tally *tally = &worker->tallies[i];
        lab_tally_move(&sum->tallies[i], tally, cass_ring_node_count(ring));
        lab_tally_clear(tally);
        if (lab_stream_tally_init(worker->scenario, ring, tally))
            lab_stream_tally_begin(worker->scenario, tally, sum->start_ns, sum->end_ns);
        else
            sum->tallies[i].out_of_memory = true;
    }
    sum->rows += worker->rows;
    sum->keys += worker->keys;
    worker->rows = worker->keys = 0;
}

void lab_sum_archive(struct sim_archive *archive, const struct lab_scenario *scenario,
                     const struct cass_ring *ring, struct lab_stream_result *sum, uint64_t *done,
                     size_t words)
{
    sim_archive_bytes(archive, done, words * sizeof *done);
    sim_archive_u64(archive, &sum->rows);
    sim_archive_u64(archive, &sum->keys);
    for (size_t i = 0; i < scenario->strategy_count; i++)
        lab_tally_archive(&sum->tallies[i], archive, cass_ring_node_count(ring));
}

void lab_partial_put(struct lab_partial *partial, const struct lab_scenario *scenario,
                     const struct cass_ring *ring, struct lab_stream_result *sum, uint64_t *done,
                     size_t words)
{
    struct sim_archive archive;
    unsigned char *data;
    size_t size;
    for (size_t i = 0; i < scenario->strategy_count; i++) {
        if (sum->tallies[i].out_of_memory)
            return; /* this ends the run; the partial result before remains */
    }
    sim_archive_begin_save(&archive, PARTIAL_KIND);
    lab_sum_archive(&archive, scenario, ring, sum, done, words);
    if (sim_archive_finish_save(&archive, &data, &size, NULL))
        partial->put(partial->context, data, size);
    free(data);
}

bool lab_partial_load(const struct lab_partial *partial, const struct lab_scenario *scenario,
                      const struct cass_ring *ring, struct lab_stream_result *sum, uint64_t *done,
                      size_t words, struct sim_error *error)
{
    struct sim_archive archive;
    if (!sim_archive_begin_load(&archive, partial->kept, partial->kept_size, PARTIAL_KIND, error))
        return false;
    lab_sum_archive(&archive, scenario, ring, sum, done, words);
    return sim_archive_finish_load(&archive, error);
}

void lab_worker_destroy(struct lab_worker *worker)
{
    if (worker == NULL)
        return;
    for (size_t i = 0; worker->tallies != NULL && i < worker->lane_count; i++)
        lab_tally_clear(&worker->tallies[i]);
    free(worker->tallies);
    free(worker->strategies);
    free(worker->settings);
    free(worker->regimes);
    free(worker->firing);
    free(worker);
}

void lab_worker_tell_rest(struct lab_worker *worker)
{
    if (worker->context->progress != NULL) {
        atomic_fetch_add_explicit(&worker->context->progress->rows, worker->untold_rows,
                                  memory_order_relaxed);
        atomic_fetch_add_explicit(&worker->context->progress->done, worker->untold_done,
                                  memory_order_relaxed);
    }
    worker->untold_rows = worker->untold_done = 0;
}

/* Chooses the next read of all kinds; reads at the same time come in the order of their kinds. */
static void choose_read(struct lab_key *key)
{
    key->next_read = LAB_READ_LATEST;
    for (int kind = 1; kind < LAB_READ_KINDS; kind++) {
        if (key->reads[kind].next_ns < key->reads[key->next_read].next_ns)
            key->next_read = (enum lab_read_kind)kind;
    }
    key->next_read_ns = key->reads[key->next_read].next_ns;
}

bool lab_key_init(struct lab_key *key, struct lab_worker *worker)
{
    const size_t count = worker->lane_count;
    const bool is_thinned = worker->scenario->engine == LAB_ENGINE_THINNED;
    struct lab_thin *thins = is_thinned ? calloc(count, sizeof *thins) : NULL;
    key->worker = worker;
    key->lanes = calloc(count, sizeof *key->lanes);
    if (key->lanes == NULL || (is_thinned && thins == NULL)) {
        free(thins);
        return false;
    }
    if (is_thinned)
        lab_thin_weights(worker);
    for (size_t i = 0; i < count; i++) {
        key->lanes[i] = (struct lab_lane){.settings = &worker->settings[i],
                                          .tally = &worker->tallies[i],
                                          .key = &key->name,
                                          .horizon = &key->horizon};
        if (is_thinned)
            lab_thin_prepare(&key->lanes[i], worker, &thins[i]);
    }
    return true;
}

void lab_key_begin(struct lab_key *key, const struct lab_key_name *name, uint64_t entity, double share,
                   int64_t start_ns)
{
    const struct lab_scenario *scenario = key->worker->scenario;
    const struct lab_reads *reads = &scenario->reads;
    key->name = *name;
    key->entity = entity;
    key->rows = key->bytes = 0;
    key->birth_ns = 0;
    key->second_end_ns = INT64_MIN;
    key->second_begin = 0;
    key->horizon.begin = key->horizon.end = 0;
    key->horizon.end_row = 0;
    for (int kind = 0; kind < LAB_READ_KINDS; kind++)
        lab_read_clock_begin(&key->reads[kind], scenario, (enum lab_read_kind)kind, entity, share, start_ns);
    choose_read(key);
    lab_reads_seen_begin(&key->expected, scenario, share, start_ns, key->worker->end_ns);
    for (size_t i = 0; i < key->worker->lane_count; i++) {
        lab_lane_begin(&key->lanes[i]);
        if (reads->are_expected && !lab_expect_begin(&key->lanes[i], &key->expected))
            key->lanes[i].tally->out_of_memory = true;
    }
}

void lab_key_clear(struct lab_key *key)
{
    if (key->lanes != NULL)
        free(key->lanes[0].thin);
    for (size_t i = 0; key->lanes != NULL && i < key->worker->lane_count; i++)
        lab_lane_clear(&key->lanes[i]);
    free(key->lanes);
    free(key->horizon.rows);
    free(key->disk);
    memset(key, 0, sizeof *key);
}

static void mark_own_times(struct lab_worker *worker, size_t count)
{
    const struct wl_workload *workload = &worker->scenario->workload;
    bool has_late = wl_has_late(workload);
    for (size_t i = 0; i < count; i++)
        worker->own_ns[i] = wl_own_time(workload, worker->times_ns[i], has_late ? worker->late_ns[i] : 0);
}

/* Records which rows will be deleted or expired at the end of the run. */
static void mark_gone(const struct lab_key *key, struct lab_worker *worker, size_t count)
{
    uint32_t deleted = 0, expired = 0;
    for (size_t i = 0; i < count; i++) {
        worker->gone_before[i] = deleted + expired;
        enum lab_fate fate =
            lab_row_fate(worker->scenario, key->entity, key->rows + i, worker->times_ns[i], worker->end_ns);
        deleted += fate == LAB_FATE_DELETED;
        expired += fate == LAB_FATE_EXPIRED;
    }
    worker->gone_before[count] = deleted + expired;
    for (size_t i = 0; i < worker->lane_count; i++) {
        worker->tallies[i].rows_deleted += deleted;
        worker->tallies[i].rows_expired += expired;
    }
}

/* Returns the end of the whole second that contains a time, which may be before 1970. It returns the end
 * because the beginning of the first second may be outside of the range of times. */
static int64_t second_end(int64_t time_ns)
{
    int64_t past_ns = time_ns % SIM_SECOND;
    return sim_time_after(time_ns, past_ns < 0 ? -past_ns : SIM_SECOND - past_ns);
}

/* Records for each row the first row of its whole second, and returns the greatest number of rows in one
 * second. The end of a second is computed only if another row follows within a second of the first one, so
 * this is cheap if rows are rare. */
static uint64_t mark_seconds(struct lab_key *key, struct lab_worker *worker, size_t count)
{
    uint64_t most = 0, begin = key->second_begin;
    /* The time of the second's first row, or its last nanosecond; and a time until which the second certainly
     * lasts. */
    int64_t first_ns = key->rows == 0 ? worker->times_ns[0] : key->second_end_ns - 1;
    int64_t end_ns = key->rows == 0 ? first_ns : key->second_end_ns;
    for (size_t i = 0; i < count; i++) {
        int64_t time_ns = worker->times_ns[i];
        if (time_ns >= end_ns) {
            if ((uint64_t)time_ns - (uint64_t)first_ns < (uint64_t)SIM_SECOND)
                end_ns = second_end(first_ns);
            if (time_ns >= end_ns) {
                if (key->rows + i - begin > most)
                    most = key->rows + i - begin;
                begin = key->rows + i;
                first_ns = end_ns = time_ns;
            }
        }
        worker->second_begin[i] = begin;
    }
    key->second_begin = begin;
    key->second_end_ns = second_end(first_ns);
    uint64_t last = key->rows + count - begin;
    return last > most ? last : most;
}

/* Returns true if no second can have more rows than the peak of every strategy so far. */
static bool is_no_peak(const struct lab_key *key, const struct lab_worker *worker, size_t count)
{
    const int64_t *times_ns = worker->times_ns;
    uint64_t peak = UINT64_MAX, carried = key->rows - key->second_begin, close = 0;
    for (size_t i = 0; i < worker->lane_count; i++)
        peak = worker->tallies[i].peak_rows_per_s < peak ? worker->tallies[i].peak_rows_per_s : peak;
    uint64_t over = peak > carried ? peak - carried
                                   : 0; /* the row with which the second in progress would exceed the peak */
    if (key->rows > 0 && over < count && times_ns[over] < key->second_end_ns)
        return false;
    /* The top bit gets set if more than `peak` rows are within a second. There is no branch, because there
     * are many rows. */
    for (size_t i = 0; peak < count && i < count - peak; i++)
        close |= (uint64_t)times_ns[i + peak] - (uint64_t)times_ns[i] - (uint64_t)SIM_SECOND;
    return close >> 63 == 0;
}

/* Sets the second in progress after the batch, when no earlier one is of interest. */
static void pass_seconds(struct lab_key *key, const struct lab_worker *worker, size_t count)
{
    int64_t end_ns = second_end(worker->times_ns[count - 1]);
    size_t first = count - 1;
    while (first > 0 && second_end(worker->times_ns[first - 1]) == end_ns)
        first--;
    if (first > 0 || key->rows == 0 || end_ns != key->second_end_ns)
        key->second_begin = key->rows + first;
    key->second_end_ns = end_ns;
}

/* With reads of ranges, or with rows that expire: keeps the times of the newest rows that a later read may
 * need. */
static void see_rows(struct lab_key *key, struct lab_worker *worker, size_t from, size_t to)
{
    const struct lab_scenario *scenario = worker->scenario;
    const struct lab_read *range = &scenario->reads.kinds[LAB_READ_RANGE];
    struct lab_horizon *horizon = &key->horizon;
    bool expires = scenario->reads.present && scenario->row_ttl_ns > 0;
    if ((range->rate_per_s <= 0 && !expires) || scenario->reads.are_expected || from == to)
        return;
    int64_t newest_ns = worker->times_ns[to - 1], oldest_ns = INT64_MAX;
    if (range->rate_per_s > 0)
        oldest_ns = lab_before(lab_before(newest_ns, range->age_ns), range->span_ns);
    if (expires) {
        int64_t live_ns = lab_live_since(scenario, newest_ns);
        oldest_ns = live_ns < oldest_ns ? live_ns : oldest_ns;
    }
    while (horizon->begin < horizon->end && horizon->rows[horizon->begin].time_ns < oldest_ns)
        horizon->begin++;
    size_t kept = horizon->end - horizon->begin;
    if (horizon->end + (to - from) > horizon->capacity && horizon->begin > 0) {
        memmove(horizon->rows, horizon->rows + horizon->begin, kept * sizeof *horizon->rows);
        horizon->begin = 0;
        horizon->end = kept;
    }
    if (!sim_grow(&horizon->rows, &horizon->capacity, 2 * (horizon->end + (to - from)),
                  sizeof *horizon->rows)) {
        worker->tallies[0].out_of_memory = true;
        return;
    }
    for (size_t i = from; i < to; i++)
        horizon->rows[horizon->end++] = (struct lab_horizon_row){worker->times_ns[i], worker->ids[i]};
    horizon->end_row += to - from;
}

/* Performs the read that is due with every strategy. If it is a read of the newest rows, performs also the
 * next ones of this kind before until_ns, up to a few thousand: no row comes between them, so most of them
 * have the same result. Returns the number of reads. */
static unsigned read_due(struct lab_key *key, uint64_t rows, int64_t until_ns)
{
    struct lab_worker *worker = key->worker;
    struct lab_read_event event = {.kind = key->next_read, .birth_ns = key->birth_ns, .key_rows = rows};
    unsigned count = 0;
    do {
        worker->reads_ns[count++] = key->next_read_ns;
        lab_read_clock_next(&key->reads[key->next_read]);
        choose_read(key);
    } while (event.kind == LAB_READ_LATEST && key->next_read == LAB_READ_LATEST &&
             key->next_read_ns < until_ns && count < LAB_READS_AT_ONCE);
    for (size_t i = 0; i < worker->lane_count && !worker->tallies[0].out_of_memory; i++)
        lab_lane_reads(&key->lanes[i], &event, worker->reads_ns, count);
    return count;
}

/* Lists the rows that fire by the widest strategy of each kind. */
static void list_widest(struct lab_widest *widest, const struct lab_batch *batch)
{
    const struct bk_strategy *strategy = widest->strategy;
    size_t row = bk_first_firing(strategy, batch->ids, batch->bytes, 0, batch->count);
    for (widest->count = 0; row < batch->count; widest->count++) {
        widest->rows[widest->count] = (uint16_t)row;
        widest->ids[widest->count] = batch->ids[row];
        widest->bytes[widest->count] = lab_batch_payload(batch, row);
        row = bk_first_firing(strategy, batch->ids, batch->bytes, row + 1, batch->count);
    }
}

/* Lists the rows that fire by each strategy. */
static void list_firing(struct lab_worker *worker, const struct lab_batch *batch)
{
    for (size_t i = 0; i < 2; i++) {
        if (worker->widest[i].strategy != NULL)
            list_widest(&worker->widest[i], batch);
    }
    for (size_t i = 0; i < worker->firing_count; i++) {
        struct lab_firing *firing = &worker->firing[i];
        const struct lab_widest *widest = widest_of(worker, firing->strategy);
        const bool has_widest = widest->strategy != NULL;
        const uint64_t *ids = has_widest ? widest->ids : batch->ids,
                       *bytes = has_widest ? widest->bytes : batch->bytes;
        const size_t end = has_widest ? widest->count : batch->count;
        size_t count = 0, row = bk_first_firing(firing->strategy, ids, bytes, 0, end);
        for (; row < end; row = bk_first_firing(firing->strategy, ids, bytes, row + 1, end))
            firing->rows[count++] = has_widest ? widest->rows[row] : (uint16_t)row;
        firing->rows[count] = UINT16_MAX;
    }
}

void lab_key_store(struct lab_key *key, int64_t time_ns, uint64_t rows, uint64_t bytes)
{
    if (!lab_disk_add(&key->disk, &key->worker->disk, time_ns, rows, bytes))
        key->worker->tallies[0].out_of_memory = true;
}

void lab_key_rows(struct lab_key *key, size_t count, uint64_t bytes_each)
{
    struct lab_worker *worker = key->worker;
    if (count == 0)
        return;
    bool has_own_times = wl_has_own_times(&worker->scenario->workload);
    if (has_own_times)
        mark_own_times(worker, count);
    const int64_t *own_ns = has_own_times ? worker->own_ns : worker->times_ns;
    if (key->rows == 0) {
        key->birth_ns = own_ns[0];
        worker->keys++;
    }
    struct lab_batch batch = {
        .times_ns = worker->times_ns,
        .own_ns = has_own_times ? own_ns : NULL,
        .late_ns = wl_has_late(&worker->scenario->workload) ? worker->late_ns : NULL,
        .ids = worker->ids,
        .second_begin = worker->second_begin,
        .bytes = worker->wants_bytes ? worker->bytes : NULL,
        .first_row = key->rows,
        .count = count,
    };
    if (!worker->wants_seconds && !lab_counts_seconds(worker->scenario))
        batch.second_begin = NULL;
    else if (!worker->wants_seconds && is_no_peak(key, worker, count))
        pass_seconds(key, worker, count);
    else
        batch.most_in_second = mark_seconds(key, worker, count);
    batch.last_second = key->second_begin;
    lab_weigh_rows(worker, &batch, bytes_each);
    lab_bytes_add(&key->bytes, lab_batch_bytes(&batch, 0, count));
    const struct cass_partition bound = lab_over_bound(worker->scenario, &key->name);
    batch.over_rows = key->rows + count > bound.rows ? bound.rows : UINT64_MAX;
    batch.over_bytes = key->bytes > bound.bytes ? bound.bytes : UINT64_MAX;
    if (lab_rows_go(worker->scenario)) {
        mark_gone(key, worker, count);
        batch.gone_before = worker->gone_before;
    }
    list_firing(worker, &batch);
    if (worker->scenario->reads.are_expected)
        lab_reads_seen_rows(&key->expected, worker->times_ns, 0, 0, count);
    size_t from = 0;
    while (from < count) {
        /* Process the rows up to the next read, which includes rows of its own nanosecond. */
        size_t to = count;
        if (key->next_read_ns < worker->times_ns[count - 1]) {
            to = from;
            while (worker->times_ns[to] <= key->next_read_ns)
                to++;
        }
        see_rows(key, worker, from, to);
        for (size_t i = 0; i < worker->lane_count; i++)
            lab_lane_rows(&key->lanes[i], &batch, from, to);
        for (; has_own_times && from < to; from++)
            key->birth_ns = own_ns[from] < key->birth_ns ? own_ns[from] : key->birth_ns;
        from = to;
        if (from < count)
            (void)read_due(key, key->rows + from, worker->times_ns[from]);
        if (lab_worker_is_stopped(worker))
            return;
    }
    key->rows += count;
    worker->rows += count;
    for (size_t i = 0, next; worker->disk.window_ns != 0 && i < count; i = next) {
        next = lab_first_at(batch.times_ns, i + 1, count, lab_disk_until(&worker->disk, batch.times_ns[i]));
        lab_key_store(key, batch.times_ns[i], next - i, lab_batch_bytes(&batch, i, next));
    }
}

size_t lab_key_batch_rows(const struct lab_key *key, const int64_t *times_ns, size_t count)
{
    double reads_per_ns = 0;
    for (int kind = 0; kind < LAB_READ_KINDS; kind++)
        reads_per_ns += key->reads[kind].gap_ns > 0 ? 1 / key->reads[kind].gap_ns : 0;
    while (count > 1 && ((double)times_ns[count - 1] - (double)times_ns[0]) * reads_per_ns > READS_IN_BATCH)
        count /= 2;
    return count;
}

bool lab_key_reads(struct lab_key *key, int64_t end_ns)
{
    struct lab_worker *worker = key->worker;
    for (unsigned done = 0; done < LAB_READS_AT_ONCE && key->next_read_ns < end_ns;) {
        done += read_due(key, key->rows, end_ns);
        if (lab_worker_is_stopped(worker))
            break;
    }
    return key->next_read_ns < end_ns;
}

void lab_key_end(struct lab_key *key, int64_t end_ns)
{
    struct lab_worker *worker = key->worker;
    while (!lab_worker_is_stopped(worker) && lab_key_reads(key, end_ns)) {
    }
    for (size_t i = 0; i < worker->lane_count; i++)
        lab_lane_end(&key->lanes[i], end_ns);
    const struct cass_partition rows = {key->rows, key->bytes},
                                *held = key->disk == NULL ? &rows : &key->disk->most,
                                whole = lab_lane_weigh(worker->scenario, &key->name, held, 0);
    free(key->disk);
    key->disk = NULL;
    for (size_t i = 0; key->rows > 0 && i < worker->lane_count; i++)
        lab_tally_key(&worker->tallies[i], &whole);
}

void lab_key_read(struct lab_key *key)
{
    (void)read_due(key, key->rows, INT64_MIN);
}

void lab_stream_result_clear(struct lab_stream_result *result, size_t strategy_count)
{
    for (size_t i = 0; result->tallies != NULL && i < strategy_count; i++)
        lab_tally_clear(&result->tallies[i]);
    free(result->tallies);
    free(result->weeks);
    memset(result, 0, sizeof *result);
}
