/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A lane over rows that are not drawn individually. It jumps to the next relevant row (the next that fires,
 * the first outside of the route's ranges, the first of a partition) and only counts the rows between. The
 * gaps between rows that fire are geometric, whatever their times. A time is drawn only where it is needed:
 * if n rows of a stretch are left, the time of the (j + 1)-th is the (j + 1)-th order statistic of n uniform
 * points. */
#include <assert.h>

#include "count_cost.h"
#include "kernel/time.h"
#include "thin.h"

/* The number of steps between two checks for a stop of the run. */
#define STEPS_A_LOOK 65536u

/* Returns the product, limited to 2^64 - 1 as in lab_bytes_add(). */
static uint64_t product(uint64_t rows, uint64_t bytes_each)
{
    uint64_t bytes;
    return __builtin_mul_overflow(rows, bytes_each, &bytes) ? UINT64_MAX : bytes;
}

uint64_t lab_thin_bytes(const struct lab_thin *thin, int64_t begin_ns, int64_t end_ns, uint64_t rows,
                        struct sim_random *draws)
{
    const struct lab_row_stamps *stamps = &thin->worker->stamps;
    uint64_t sum = 0, left = rows;
    uint32_t class = 0;
    while (begin_ns >= stamps->until_ns[class] && class + 1 < stamps->count)
        class ++;
    for (; end_ns > stamps->until_ns[class] && class + 1 < stamps->count; class ++) {
        double share = (double)(stamps->until_ns[class] - begin_ns) / (double)(end_ns - begin_ns);
        uint64_t some =
            draws == NULL ? (uint64_t)((double)left * share + 0.5) : sim_binomial(draws, left, share);
        some = some < left ? some : left;
        lab_bytes_add(&sum, product(some, thin->row_bytes[class]));
        left -= some;
        begin_ns = stamps->until_ns[class];
    }
    lab_bytes_add(&sum, product(left, thin->row_bytes[class]));
    return sum;
}

/* Returns the bytes of the next `rows` rows. The time of the first one may be known; the others are assumed
 * to be evenly distributed. */
static uint64_t bytes_of_next(const struct lab_thin *thin, const struct lab_rest *rest, uint64_t rows)
{
    const struct lab_row_stamps *stamps = &thin->worker->stamps;
    const uint32_t class = lab_row_stamp_class(stamps, rest->begin_ns);
    if (class + 1 == stamps->count || rest->end_ns < stamps->until_ns[class] - SIM_SECOND)
        return product(rows, thin->row_bytes[class]);
    uint64_t first = rest->is_at ? 1 : 0, before = rest->after + first;
    double row_ns = (double)(rest->end_ns - rest->begin_ns) / (double)(rest->rows + rest->after);
    int64_t begin_ns = rest->begin_ns + (int64_t)(row_ns * (double)before);
    int64_t end_ns = begin_ns + (int64_t)(row_ns * (double)(rows - first));
    uint64_t sum = first == 0 ? 0 : lab_thin_bytes(thin, rest->begin_ns, rest->begin_ns, 1, NULL);
    lab_bytes_add(&sum, lab_thin_bytes(thin, begin_ns, end_ns, rows - first, NULL));
    return sum;
}

/* Finds out when the next row came. */
static int64_t locate(struct lab_rest *rest, struct sim_random *draws)
{
    if (!rest->is_at && rest->begin_ns < rest->end_ns)
        rest->begin_ns =
            lab_thin_place(draws, rest->begin_ns, rest->end_ns, rest->after + 1, rest->after + rest->rows);
    rest->after = 0;
    rest->is_at = true;
    return rest->begin_ns;
}

static void take(struct lab_rest *rest, uint64_t rows)
{
    rest->after = rest->is_at ? rows - 1 : rest->after + rows;
    rest->rows -= rows;
    rest->is_at = false;
}

/* Limits *rest to the rows before the line, the first of which is located, and returns the other rows. */
static struct lab_rest cut(struct lab_rest *rest, int64_t line_ns, struct sim_random *draws)
{
    double share = (double)(line_ns - rest->begin_ns) / (double)(rest->end_ns - rest->begin_ns);
    uint64_t before = 1 + sim_binomial(draws, rest->rows - 1, share);
    struct lab_rest later = {line_ns, rest->end_ns, 0, rest->rows - before, false};
    rest->end_ns = line_ns;
    rest->rows = before;
    return later;
}

/* Returns the number of rows for which the route is valid, up to and including the first one that fires. */
static uint64_t count_step(struct lab_thin *thin, const struct bk_route *route, uint64_t sequence,
                           uint64_t rows, bool *fires)
{
    if (route->sequence_high - sequence < rows)
        rows = route->sequence_high - sequence;
    if (route->begins)
        rows = 1; /* bk_advance() must be called for this row before the next one is routed */
    *fires = false;
    if (!thin->can_fire)
        return rows;
    if (thin->to_fire == 0)
        thin->to_fire = sim_trials_next(&thin->trials, &thin->draws);
    *fires = thin->to_fire <= rows;
    rows = *fires ? thin->to_fire : rows;
    thin->to_fire -= rows;
    return rows;
}

static void begin_partition(struct lab_lane *lane, const struct lab_lane_settings *settings,
                            struct lab_tally *tally, const struct lab_key_name *key, int64_t bucket,
                            uint64_t first_row, int64_t first_ns)
{
    if (lane->open.rows > 0) {
        lab_lane_finish(settings, tally, key, lane->bucket, &lane->open, &lane->open_disk, lane->open_gone,
                        lane->open_first_ns, true);
        if (settings->scenario->reads.present)
            lab_lane_remember(lane, settings, tally, NULL);
    }
    lane->bucket = bucket;
    lane->open = (struct cass_partition){0, 0};
    lane->open_gone = 0;
    lane->open_first_row = first_row;
    lane->open_first_ns = first_ns;
}

static void advance(struct lab_lane *lane, const struct lab_lane_settings *settings, struct lab_tally *tally,
                    const struct bk_row *row)
{
    struct bk_effect effect;
    enum bk_status status = bk_advance(settings->strategy, &lane->state, row, &effect);
    assert(status == BK_OK);
    (void)status;
    tally->counter_increments += effect.counter_increments;
    tally->state_writes += effect.state_writes;
}

/* Passes the next rows to lab_expect_rows() with the expected times of order statistics of uniform points. */
static void expect(struct lab_lane *lane, const struct lab_lane_settings *settings, struct lab_tally *tally,
                   const struct lab_rest *rest, uint64_t rows)
{
    const double length_ns = (double)(rest->end_ns - rest->begin_ns);
    struct lab_row_times times = {NULL, rest->begin_ns, length_ns / (double)rest->rows};
    if (!rest->is_at) {
        times.gap_ns = length_ns / (double)(rest->after + rest->rows + 1);
        times.first_ns += (int64_t)((double)(rest->after + 1) * times.gap_ns);
    }
    lab_expect_rows(lane, settings, tally, &times, rows);
}

/* Returns how many more rows certainly have the size of row_bytes[*class]: bytes_of_next() gives all of them
 * times before the end of the class. The margin is far above the rounding errors of these times. */
static uint64_t rows_of_class(const struct lab_thin *thin, const struct lab_rest *rest, uint32_t *class)
{
    const struct lab_row_stamps *stamps = &thin->worker->stamps;
    const double row_ns = (double)(rest->end_ns - rest->begin_ns) / (double)(rest->rows + rest->after);
    *class = lab_row_stamp_class(stamps, rest->begin_ns + (int64_t)(row_ns * (double)rest->after));
    if (*class + 1 == stamps->count)
        return rest->rows;
    const double left_ns = (double)(stamps->until_ns[*class] - rest->begin_ns) * (1 - 0x1p-40) - 16;
    const double rows = left_ns - row_ns * (double)rest->after;
    return rows >= row_ns * (double)rest->rows ? rest->rows : rows > 0 ? (uint64_t)(rows / row_ns) : 0;
}

/* Takes the rows up to the last one whose increment neither ends the partition nor changes what a read
 * queries, so that nothing else happens at these rows. Their route is that of the row before. */
static void take_increments(struct lab_lane *lane, struct lab_thin *thin, struct lab_tally *tally,
                            struct lab_rest *rest, bool is_gone)
{
    const uint64_t most = thin->threshold - 1 - lane->state.counter;
    uint32_t class;
    uint64_t limit = rows_of_class(thin, rest, &class), rows = 0, count = 0;
    if (lane->expected != NULL && limit >= lane->expected->rows_left)
        limit = lane->expected->rows_left - 1;
    struct sim_random draws = thin->draws;
    for (; rows < rest->rows && count < most && count < STEPS_A_LOOK; count++) {
        if (thin->to_fire == 0)
            thin->to_fire = sim_trials_next(&thin->trials, &draws);
        if (thin->to_fire > limit - rows)
            break;
        rows += thin->to_fire;
        thin->to_fire = 0;
    }
    thin->draws = draws;
    lane->state.counter += count;
    lane->open.rows += rows;
    sim_placement_add(&lane->placement, lane->bucket, rows);
    lab_bytes_add(&lane->open.bytes, product(rows, thin->row_bytes[class]));
    if (is_gone) {
        lane->open_gone += rows;
        tally->rows_expired += rows;
    }
    tally->counter_increments += count;
    if (lane->expected != NULL && lane->expected->rows_left != UINT64_MAX)
        lane->expected->rows_left -= rows;
    rest->after += rows;
    rest->rows -= rows;
}

/* Returns by which of its new rows a partition exceeded a limit, from 1; their bytes are about equal. 0: it
 * has not. */
static uint64_t first_over(const struct lab_lane_settings *settings, const struct lab_key_name *key,
                           const struct cass_partition *before, const struct cass_partition *after)
{
    const struct lab_scenario *scenario = settings->scenario;
    const double bytes_each = (double)(after->bytes - before->bytes) / (double)(after->rows - before->rows);
    struct cass_partition whole = lab_lane_weigh(scenario, key, after, 0),
                          start = lab_lane_weigh(scenario, key, before, 0);
    if (!lab_is_over(&scenario->limits, &whole) ||
        (before->rows > 0 && lab_is_over(&scenario->limits, &start)))
        return 0;
    uint64_t low = 1, high = after->rows - before->rows;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        const struct cass_partition then = {before->rows + middle,
                                            before->bytes + (uint64_t)((double)middle * bytes_each)};
        whole = lab_lane_weigh(scenario, key, &then, 0);
        if (lab_is_over(&scenario->limits, &whole))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* first_ns: when the partition's first row came. */
static bool may_be_over(const struct lab_thin *thin, const struct lab_tally *tally,
                        const struct cass_partition *rows, int64_t first_ns,
                        const struct lab_stretch *stretch)
{
    const int64_t since_ns = first_ns > stretch->begin_ns ? first_ns : stretch->begin_ns;
    return (rows->rows > thin->over.rows || rows->bytes > thin->over.bytes) &&
           since_ns < tally->first_over_ns;
}

/* The time of the k-th of n rows of the stretch. `which` selects the draw: a row of the key has the same time
 * in all strategies. */
static int64_t time_over(const struct lab_lane_settings *settings, const struct lab_key_name *key,
                         const struct lab_stretch *stretch, uint64_t which, uint64_t k, uint64_t n)
{
    struct sim_random draws;
    if (stretch->begin_ns == stretch->end_ns)
        return stretch->begin_ns;
    sim_random_init(&draws, settings->scenario->seed, SIM_THIN_OVER, sim_mix64(key->index) ^ which);
    return lab_thin_place(&draws, stretch->begin_ns, stretch->end_ns, k, n);
}

/* Adds rows to what is on disk. A stretch is within one compaction window. */
static const struct cass_partition *store(const struct lab_lane_settings *settings, struct lab_tally *tally,
                                          const struct lab_stretch *stretch, uint64_t rows, uint64_t bytes,
                                          struct lab_disk **disk, const struct cass_partition *all)
{
    if (settings->disk.window_ns == 0)
        return all;
    if (lab_disk_add(disk, &settings->disk, stretch->begin_ns, rows, bytes))
        return &(*disk)->now;
    tally->out_of_memory = true;
    return all;
}

/* Takes note of new rows of the open partition, the first of which is row `first` of the key: when the
 * partition exceeded a limit. They came after the partition's first row, and not after `rest`. */
static void watch(struct lab_lane *lane, const struct lab_lane_settings *settings,
                  const struct lab_thin *thin, struct lab_tally *tally, const struct lab_key_name *key,
                  const struct lab_stretch *stretch, uint64_t first, uint64_t rows, uint64_t bytes,
                  const struct lab_rest *rest)
{
    if (rows == 0)
        return;
    const struct cass_partition *now =
        store(settings, tally, stretch, rows, bytes, &lane->open_disk, &lane->open);
    if (!may_be_over(thin, tally, now, lane->open_first_ns, stretch))
        return;
    const struct cass_partition before = {now->rows - rows, now->bytes - bytes};
    const uint64_t over = first_over(settings, key, &before, now), row = first + over - 1;
    if (over == 0)
        return;
    const int64_t time_ns =
        time_over(settings, key, stretch, row, row - stretch->first_row + 1, stretch->rows);
    const int64_t since_ns = time_ns < lane->open_first_ns ? lane->open_first_ns : time_ns;
    lab_tally_over(tally, since_ns < rest->end_ns ? since_ns : rest->end_ns);
}

static bool take_ranges(struct lab_lane *lane, const struct lab_lane_settings *settings,
                        struct lab_thin *thin, struct lab_tally *tally, const struct lab_key_name *key,
                        const struct lab_stretch *stretch)
{
    struct lab_rest rest = {stretch->begin_ns, stretch->end_ns, 0, stretch->rows, false}, later = {0};
    uint64_t sequence = stretch->first_row;
    for (uint32_t step = 1; rest.rows > 0; step++) {
        if (thin->goes_by_time)
            locate(&rest, &thin->draws);
        if (!rest.is_at && lane->state.counter + 1 < thin->threshold && lane->open.rows > 0 &&
            lane->state.bucket == lane->bucket) {
            const struct cass_partition before = lane->open;
            take_increments(lane, thin, tally, &rest, stretch->is_gone);
            watch(lane, settings, thin, tally, key, stretch, sequence, lane->open.rows - before.rows,
                  lane->open.bytes - before.bytes, &rest);
            sequence += lane->open.rows - before.rows;
            if (rest.rows == 0)
                break;
        }
        struct bk_row row = {rest.begin_ns, sequence, thin->quiet, thin->bytes_each};
        struct bk_route route;
        enum bk_status status = bk_route(settings->strategy, &lane->state, &row, &route);
        assert(status == BK_OK && route.scope == BK_SCOPE_RANGE);
        (void)status;
        if (thin->goes_by_time && route.until_ns < rest.end_ns) {
            assert(later.rows == 0); /* no row is before a line that was passed */
            later = cut(&rest, route.until_ns, &thin->draws);
        }
        if (lane->open.rows == 0 || route.bucket != lane->bucket) {
            locate(&rest, &thin->draws);
            begin_partition(lane, settings, tally, key, route.bucket, sequence, rest.begin_ns);
        }
        bool fires;
        uint64_t rows = count_step(thin, &route, sequence, rest.rows, &fires);
        const struct cass_partition before = lane->open;
        lane->open.rows += rows;
        sim_placement_add(&lane->placement, route.bucket, rows);
        lab_bytes_add(&lane->open.bytes, bytes_of_next(thin, &rest, rows));
        watch(lane, settings, thin, tally, key, stretch, sequence, rows, lane->open.bytes - before.bytes,
              &rest);
        if (stretch->is_gone) {
            lane->open_gone += rows;
            tally->rows_expired += rows;
        }
        sequence += rows;
        row.sequence = sequence - 1;
        if (fires)
            row.id = thin->fires_always ? sim_random_next(&thin->draws) : thin->firing;
        advance(lane, settings, tally, &row);
        if (sequence == route.sequence_high && lab_closes_when_full(settings->scenario_strategy))
            lane->state.bucket = route.bucket + 1;
        if (lane->expected != NULL)
            expect(lane, settings, tally, &rest, rows);
        take(&rest, rows);
        if (rest.rows == 0) {
            rest = later;
            later.rows = 0;
        }
        if (step % STEPS_A_LOOK == 0 && lab_worker_is_stopped(thin->worker))
            return false;
    }
    return true;
}

/* Draws the time of the first of `rows` rows of the stretch. */
static int64_t earliest(const struct lab_stretch *stretch, uint64_t rows, struct sim_random *draws)
{
    struct lab_rest rest = {stretch->begin_ns, stretch->end_ns, 0, rows, false};
    return locate(&rest, draws);
}

/* A row's id is hashed to a bucket, so buckets are uniformly distributed like ids. A few rows are drawn
 * individually; of many rows, each bucket in turn gets a random share of the remaining ones. */
static void take_cells(struct lab_lane *lane, const struct lab_lane_settings *settings, struct lab_thin *thin,
                       struct lab_tally *tally, const struct lab_key_name *key,
                       const struct lab_stretch *stretch)
{
    uint32_t buckets = settings->strategy->of.hash.buckets;
    struct lab_rest rest = {stretch->begin_ns, stretch->end_ns, 0, stretch->rows, false};
    tally->rows_expired += stretch->is_gone ? rest.rows : 0;
    bool is_few = rest.rows / 4 < buckets;
    /* The times at which rows were written are drawn from a copy of the stream, so that the sizes of rows do
     * not affect their places. */
    struct sim_random times, copy = thin->draws;
    sim_random_init(&times, settings->scenario->seed, SIM_THIN_BYTES, sim_random_next(&copy));
    for (uint32_t i = 0; rest.rows > 0; i++) {
        uint32_t bucket = is_few ? (uint32_t)sim_random_below(&thin->draws, buckets) : i;
        uint64_t rows = is_few ? 1 : sim_binomial(&thin->draws, rest.rows, 1 / (double)(buckets - i));
        if (rows == 0)
            continue;
        struct lab_cell *cell = lab_lane_cell(lane, settings->strategy, bucket);
        if (cell == NULL) {
            tally->out_of_memory = true;
            return;
        }
        if (cell->rows == 0)
            cell->first_ns = is_few ? locate(&rest, &thin->draws) : earliest(stretch, rows, &thin->draws);
        const struct cass_partition before = {cell->rows, cell->bytes};
        cell->rows += rows;
        lab_bytes_add(&cell->bytes,
                      is_few ? bytes_of_next(thin, &rest, 1)
                             : lab_thin_bytes(thin, stretch->begin_ns, stretch->end_ns, rows, &times));
        const struct cass_partition all = {cell->rows, cell->bytes};
        const struct cass_partition after =
            *store(settings, tally, stretch, rows, all.bytes - before.bytes, &cell->disk, &all);
        if (may_be_over(thin, tally, &after, cell->first_ns, stretch)) {
            const struct cass_partition then = {after.rows - rows, after.bytes - (all.bytes - before.bytes)};
            const uint64_t over = first_over(settings, key, &then, &after);
            const uint64_t which = sim_mix64(stretch->first_row + i) ^ bucket;
            if (over > 0)
                lab_tally_over(tally, time_over(settings, key, stretch, which, is_few ? i + 1 : over,
                                                is_few ? stretch->rows : rows));
        }
        cell->gone += stretch->is_gone ? rows : 0;
        sim_placement_add(&lane->placement, bucket, rows);
        take(&rest, rows);
    }
}

bool lab_lane_stretch(struct lab_lane *lane, const struct lab_lane_settings *settings, struct lab_thin *thin,
                      struct lab_tally *tally, const struct lab_key_name *key,
                      const struct lab_stretch *stretch)
{
    if (stretch->rows == 0)
        return true;
    if (lane->placement.rows == 0 &&
        (bk_kind_fires(settings->strategy->kind) || settings->strategy->max_age_ns != 0))
        tally->state_reads++; /* the writer's cache does not have the key yet */
    tally->rows += stretch->rows;
    lab_bytes_add(&tally->payload_bytes, product(stretch->rows, thin->bytes_each));
    if (settings->strategy->kind != BK_HASH)
        return take_ranges(lane, settings, thin, tally, key, stretch);
    take_cells(lane, settings, thin, tally, key, stretch);
    return true;
}
