/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stream engine's thinned mode: results have the same distribution as if every row were drawn, but the
 * engine jumps from one relevant row to the next, so the cost of a run is proportional to its partitions and
 * increments, and not to its rows.
 *
 * In an interval of constant rate, the number of rows of a Poisson process is Poisson distributed; given
 * their number, the rows are uniform in time, and independent of each other and of their ids. All strategies
 * have the same numbers of rows. Which rows fire, and when rows arrive within an interval, is drawn for each
 * strategy separately, from the same random stream per key, so that a strategy's results do not depend on the
 * other strategies.
 *
 * A key's rows are divided into stretches, which are cut at reads, where rows become too old to exist at the
 * end, and where a stretch is so long that progress would not be visible. If its rate changes, time is
 * measured in expected rows (wl_pace), by which it does not. A lane jumps to the next relevant row of a
 * stretch (the next that fires, the first outside of the route's ranges, the first of a partition) and only
 * counts the rows between. The gaps between rows that fire are geometric, whatever their times. A time is
 * drawn only where it is needed: if n rows of a stretch are left, the time of the (j + 1)-th is the (j +
 * 1)-th order statistic of n uniform points. Windows of `time` that lie within a stretch are drawn together,
 * and go to the tally without a route. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "kernel/time.h"
#include "lab/scenario.h"
#include "stream.h"

/* The number of steps between two checks for a stop of the run. */
#define STEPS_A_LOOK 65536u
/* The windows that are taken as a whole, and at once. */
#define WINDOWS_AT_ONCE 512u
/* With fewer rows a window, on average, rows are put into windows one by one. */
#define SPREAD_ROWS 10u

/* A stretch of more than PIECE_ROWS rows is cut into at most PIECES pieces, so that all counts stay far below
 * SIM_COUNT_MAX. There are few pieces, because each of them costs a strategy one draw per bucket. */
#define PIECE_ROWS 0x1p24
#define PIECES     256

/* The rest of an interval, or of its part before a line. */
struct lab_rest {
    int64_t begin_ns, end_ns;
    uint64_t after; /* rows taken since begin_ns, at unknown times */
    uint64_t rows;  /* rows left */
    bool is_at;     /* the first of these rows is at begin_ns */
};

/* The k-th of n rows in [begin_ns, end_ns), which must not be empty. */
static int64_t thin_place(const struct wl_pace *pace, struct sim_random *draws, int64_t begin_ns,
                          int64_t end_ns, uint64_t k, uint64_t n)
{
    const int64_t time_ns = wl_pace_place(pace, begin_ns, end_ns, sim_order(draws, k, n));
    /* With very many points, the last one may be rounded up to the end. */
    return time_ns < end_ns ? time_ns : end_ns - 1;
}

/* Returns the product, limited to 2^64 - 1 as in lab_bytes_add(). */
static uint64_t product(uint64_t rows, uint64_t bytes_each)
{
    uint64_t bytes;
    return __builtin_mul_overflow(rows, bytes_each, &bytes) ? UINT64_MAX : bytes;
}

static void add_weight(struct lab_weight *sum, struct lab_weight more)
{
    lab_bytes_add(&sum->payload, more.payload);
    lab_bytes_add(&sum->bytes, more.bytes);
}

/* Of many rows, only the outer sizes are drawn. */
SIM_OUT_OF_LINE static struct lab_weight weigh_drawn(struct lab_worker *worker, uint32_t class, uint64_t rows,
                                                     struct sim_random *sizes)
{
    enum { AT_ONCE = 256 };
    const struct wl_workload *workload = &worker->scenario->workload;
    struct lab_weight sum = {0, 0};
    uint64_t left = rows, drawn[AT_ONCE];
    int level = SIM_LEVELS - 1;
    while (level >= 0 &&
           (rows < worker->sums[class][level].payload.least || rows < worker->sums[class][level].bytes.least))
        level--;
    if (level >= 0) {
        const struct lab_sums *sums = &worker->sums[class][level];
        left = workload->sizes == NULL ? 0 : sim_binomial(sizes, rows, SIM_OUTER(level));
        const double normal = sim_normal(sizes);
        sum = (struct lab_weight){sim_sum_of(&sums->payload, rows - left, normal),
                                  sim_sum_of(&sums->bytes, rows - left, normal)};
    }
    for (uint64_t some; left > 0; left -= some) {
        some = left < AT_ONCE ? left : AT_ONCE;
        if (level >= 0)
            sim_sizes_outer(workload->sizes, &workload->row_bytes, level, sizes, drawn, (size_t)some);
        else
            wl_row_sizes(workload, sizes, drawn, (size_t)some);
        for (size_t i = 0; i < some; i++) {
            const uint64_t payload = lab_row_clamped(drawn[i]);
            add_weight(&sum, (struct lab_weight){payload, lab_row_weight(worker, payload, class)});
        }
    }
    return sum;
}

/* The weight of rows with times of a class. */
static inline struct lab_weight weigh(struct lab_worker *worker, uint32_t class, uint64_t rows,
                                      struct sim_random *sizes)
{
    const struct sim_size *size = &worker->scenario->workload.row_bytes;
    if (size->kind != SIM_SIZE_CONSTANT)
        return weigh_drawn(worker, class, rows, sizes);
    return (struct lab_weight){product(rows, (uint64_t)size->a), product(rows, worker->row_bytes[class])};
}

/* Prepares weigh_drawn(). */
static void prepare_sums(struct lab_worker *worker)
{
    enum { VALUES = 1 << 14 };
    const struct wl_workload *workload = &worker->scenario->workload;
    uint64_t values[VALUES];
    for (int level = 0; level < SIM_LEVELS; level++) {
        struct sim_sum payload;
        sim_sizes_body(workload->sizes, &workload->row_bytes, level, values, VALUES);
        sim_sum_init(&payload, values, VALUES);
        for (uint32_t class = 0; class < worker->stamps.count; class ++) {
            sim_sizes_body(workload->sizes, &workload->row_bytes, level, values, VALUES);
            for (size_t i = 0; i < VALUES; i++)
                values[i] = lab_row_weight(worker, lab_row_clamped(values[i]), class);
            worker->sums[class][level].payload = payload;
            sim_sum_init(&worker->sums[class][level].bytes, values, VALUES);
        }
    }
}

/* The weight of `rows` rows with times in [begin_ns, end_ns). The number of rows in each class of times is
 * the expected one if draws is NULL, otherwise random. */
static struct lab_weight weigh_between(struct lab_worker *worker, int64_t begin_ns, int64_t end_ns,
                                       uint64_t rows, struct sim_random *draws, struct sim_random *sizes)
{
    const struct lab_row_stamps *stamps = &worker->stamps;
    struct lab_weight sum = {0, 0};
    uint64_t left = rows;
    uint32_t class = 0;
    while (begin_ns >= stamps->until_ns[class] && class + 1 < stamps->count)
        class ++;
    for (; end_ns > stamps->until_ns[class] && class + 1 < stamps->count; class ++) {
        double share = wl_pace_share(&worker->pace, begin_ns, stamps->until_ns[class], end_ns);
        uint64_t some =
            draws == NULL ? (uint64_t)((double)left * share + 0.5) : sim_binomial(draws, left, share);
        some = some < left ? some : left;
        add_weight(&sum, weigh(worker, class, some, sizes));
        left -= some;
        begin_ns = stamps->until_ns[class];
    }
    add_weight(&sum, weigh(worker, class, left, sizes));
    return sum;
}

/* Returns the bytes of the next `rows` rows. The time of the first one may be known; the others are assumed
 * to be evenly distributed. */
static uint64_t bytes_of_next(struct lab_thin *thin, const struct lab_rest *rest, uint64_t rows)
{
    struct lab_worker *worker = thin->worker;
    const struct lab_row_stamps *stamps = &worker->stamps;
    const uint32_t class = lab_row_stamp_class(stamps, rest->begin_ns);
    if (class + 1 == stamps->count || rest->end_ns < stamps->until_ns[class] - SIM_SECOND)
        return weigh(worker, class, rows, &thin->sizes).bytes;
    const uint64_t first = rest->is_at ? 1 : 0;
    const double all = (double)(rest->rows + rest->after), before = (double)(rest->after + first);
    const int64_t begin_ns = wl_pace_place(&worker->pace, rest->begin_ns, rest->end_ns, before / all);
    const int64_t end_ns =
        wl_pace_place(&worker->pace, rest->begin_ns, rest->end_ns, (before + (double)(rows - first)) / all);
    uint64_t sum = first == 0 ? 0 : weigh(worker, class, 1, &thin->sizes).bytes;
    lab_bytes_add(&sum, weigh_between(worker, begin_ns, end_ns, rows - first, NULL, &thin->sizes).bytes);
    return sum;
}

/* Finds out when the next row came. */
static int64_t locate(const struct wl_pace *pace, struct lab_rest *rest, struct sim_random *draws)
{
    if (!rest->is_at && rest->begin_ns < rest->end_ns)
        rest->begin_ns =
            thin_place(pace, draws, rest->begin_ns, rest->end_ns, rest->after + 1, rest->after + rest->rows);
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
static struct lab_rest cut(const struct wl_pace *pace, struct lab_rest *rest, int64_t line_ns,
                           struct sim_random *draws)
{
    double share = wl_pace_share(pace, rest->begin_ns, line_ns, rest->end_ns);
    uint64_t before = 1 + sim_binomial(draws, rest->rows - 1, share);
    struct lab_rest later = {line_ns, rest->end_ns, 0, rest->rows - before, false};
    rest->end_ns = line_ns;
    rest->rows = before;
    return later;
}

/* Returns the number of rows for which the route is valid, up to and including the first one that fires. */
static uint64_t count_step(struct lab_thin *thin, const struct bk_placement *route, uint64_t sequence,
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

static void advance(struct lab_lane *lane, const struct bk_row *row)
{
    struct bk_effect effect;
    enum bk_status status = bk_advance(lane->settings->strategy, &lane->state, row, &effect);
    assert(status == BK_OK);
    (void)status;
    lane->tally->counter_increments += effect.counter_increments;
    lane->tally->state_writes += effect.state_writes;
}

/* The expected times of the next rows, of which rest->rows come before end_ns: those of order statistics of
 * uniform points. */
static struct lab_row_times times_of(const struct wl_pace *pace, const struct lab_rest *rest)
{
    const uint64_t first = rest->is_at ? 0 : rest->after + 1;
    return lab_times_between(pace, rest->begin_ns, rest->end_ns, first, first + rest->rows);
}

/* Returns how many more rows certainly have times of one class: bytes_of_next() gives all of them times
 * before its end. The margin is far above the rounding errors of these times. */
static uint64_t rows_of_class(const struct lab_thin *thin, const struct lab_rest *rest, uint32_t *class)
{
    const struct lab_row_stamps *stamps = &thin->worker->stamps;
    const struct wl_pace *pace = &thin->worker->pace;
    const double after = (double)rest->after, all = after + (double)rest->rows;
    *class = lab_row_stamp_class(stamps, wl_pace_place(pace, rest->begin_ns, rest->end_ns, after / all));
    const int64_t until_ns = stamps->until_ns[*class];
    if (*class + 1 == stamps->count || until_ns > rest->end_ns)
        return rest->rows;
    const double rows =
        all * wl_pace_share(pace, rest->begin_ns, until_ns, rest->end_ns) * (1 - 0x1p-40) - after - 1;
    return rows > 0 ? (uint64_t)rows : 0;
}

static void add_rows(struct lab_lane *lane, struct lab_entry *open, uint64_t rows, uint64_t bytes,
                     bool is_gone)
{
    open->size.rows += rows;
    lab_bytes_add(&open->size.bytes, bytes);
    open->gone += is_gone ? rows : 0;
    sim_placement_add(&lane->placement, open->bucket, rows);
    open->end_row = lane->placement.rows;
}

/* Takes the rows up to the last one whose increment neither ends the partition nor changes what a read
 * queries, so that nothing else happens at these rows. Their route is that of the row before. */
static void take_increments(struct lab_lane *lane, struct lab_entry *open, struct lab_rest *rest,
                            bool is_gone)
{
    const uint64_t most = lane->thin->threshold - 1 - lane->state.counter;
    uint32_t class;
    uint64_t limit = rows_of_class(lane->thin, rest, &class), rows = 0, count = 0;
    if (lane->expected != NULL && limit >= lane->expected->rows_left)
        limit = lane->expected->rows_left - 1;
    struct sim_random draws = lane->thin->draws;
    for (; rows < rest->rows && count < most && count < STEPS_A_LOOK; count++) {
        if (lane->thin->to_fire == 0)
            lane->thin->to_fire = sim_trials_next(&lane->thin->trials, &draws);
        if (lane->thin->to_fire > limit - rows)
            break;
        rows += lane->thin->to_fire;
        lane->thin->to_fire = 0;
    }
    lane->thin->draws = draws;
    lane->state.counter += count;
    add_rows(lane, open, rows, weigh(lane->thin->worker, class, rows, &lane->thin->sizes).bytes, is_gone);
    lane->tally->counter_increments += count;
    if (lane->expected != NULL && lane->expected->rows_left != UINT64_MAX)
        lane->expected->rows_left -= rows;
    if (lane->expected != NULL && lane->expected->is_followed && rows > 0) {
        const struct lab_row_times times = times_of(&lane->thin->worker->pace, rest);
        lab_expect_follow(lane, &times, rows);
    }
    rest->after += rows;
    rest->rows -= rows;
}

/* Returns by which of its new rows a partition exceeded a limit, from 1; their bytes are about equal. 0: it
 * has not. */
static uint64_t first_over(struct lab_lane *lane, const struct cass_partition *before,
                           const struct cass_partition *after)
{
    const struct lab_scenario *scenario = lane->settings->scenario;
    const double bytes_each = (double)(after->bytes - before->bytes) / (double)(after->rows - before->rows);
    struct cass_partition whole = lab_lane_weigh(scenario, lane->key, after, 0),
                          start = lab_lane_weigh(scenario, lane->key, before, 0);
    if (!lab_is_over(&scenario->limits, &whole) ||
        (before->rows > 0 && lab_is_over(&scenario->limits, &start)))
        return 0;
    uint64_t low = 1, high = after->rows - before->rows;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        const struct cass_partition then = {before->rows + middle,
                                            before->bytes + (uint64_t)((double)middle * bytes_each)};
        whole = lab_lane_weigh(scenario, lane->key, &then, 0);
        if (lab_is_over(&scenario->limits, &whole))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* first_ns: when the partition's first row came. */
static bool may_be_over(struct lab_lane *lane, const struct cass_partition *rows, int64_t first_ns,
                        const struct lab_stretch *stretch)
{
    const int64_t since_ns = first_ns > stretch->begin_ns ? first_ns : stretch->begin_ns;
    return (rows->rows > lane->thin->over.rows || rows->bytes > lane->thin->over.bytes) &&
           since_ns < lane->tally->first_over_ns;
}

/* The time of the k-th of n rows of the stretch. `which` selects the draw: a row of the key has the same time
 * in all strategies. */
static int64_t time_over(struct lab_lane *lane, const struct lab_stretch *stretch, uint64_t which, uint64_t k,
                         uint64_t n)
{
    struct sim_random draws;
    if (stretch->begin_ns == stretch->end_ns)
        return stretch->begin_ns;
    sim_random_init(&draws, lane->settings->scenario->seed, SIM_THIN_OVER,
                    sim_mix64(lane->key->index) ^ which);
    return thin_place(&lane->thin->worker->pace, &draws, stretch->begin_ns, stretch->end_ns, k, n);
}

/* Adds rows to what is on disk. A stretch is within one compaction window. */
static const struct cass_partition *store(struct lab_lane *lane, const struct lab_stretch *stretch,
                                          uint64_t rows, uint64_t bytes, struct lab_disk **disk,
                                          const struct cass_partition *all)
{
    if (lane->settings->disk.window_ns == 0)
        return all;
    if (lab_disk_add(disk, &lane->settings->disk, stretch->begin_ns, rows, bytes))
        return &(*disk)->now;
    lane->tally->out_of_memory = true;
    return all;
}

/* Takes note of new rows of the open partition, the first of which is row `first` of the key: when the
 * partition exceeded a limit. They came after the partition's first row, and not after `rest`. */
static void watch(struct lab_lane *lane, struct lab_entry *open, const struct lab_stretch *stretch,
                  const struct cass_partition *old, const struct lab_rest *rest)
{
    const uint64_t rows = open->size.rows - old->rows, bytes = open->size.bytes - old->bytes;
    if (rows == 0)
        return;
    const struct cass_partition *now = store(lane, stretch, rows, bytes, &open->disk, &open->size);
    if (!may_be_over(lane, now, open->first_ns, stretch))
        return;
    const struct cass_partition before = {now->rows - rows, now->bytes - bytes};
    const uint64_t over = first_over(lane, &before, now), row = open->end_row - rows + over - 1;
    if (over == 0)
        return;
    const int64_t time_ns = time_over(lane, stretch, row, row - stretch->first_row + 1, stretch->rows);
    const int64_t since_ns = time_ns < open->first_ns ? open->first_ns : time_ns;
    lab_tally_over(lane->tally, since_ns < rest->end_ns ? since_ns : rest->end_ns);
}

/* Takes the rows of a stretch, which is a part of `whole`. */
static bool take_ranges(struct lab_lane *lane, const struct lab_stretch *stretch,
                        const struct lab_stretch *whole)
{
    const struct wl_pace *pace = &lane->thin->worker->pace;
    struct lab_rest rest = {stretch->begin_ns, stretch->end_ns, 0, stretch->rows, false}, later = {0};
    for (uint32_t step = 1; rest.rows > 0; step++) {
        struct lab_entry *open = lab_open(lane);
        if (lane->thin->goes_by_time)
            locate(pace, &rest, &lane->thin->draws);
        if (!rest.is_at && lane->state.counter + 1 < lane->thin->threshold && open != NULL &&
            lane->state.bucket == open->bucket) {
            const struct cass_partition before = open->size;
            take_increments(lane, open, &rest, stretch->is_gone);
            watch(lane, open, whole, &before, &rest);
            if (rest.rows == 0)
                break;
        }
        const uint64_t sequence = lane->placement.rows;
        struct bk_row row = {rest.begin_ns, sequence, lane->thin->quiet, lane->thin->bytes_each};
        struct bk_placement route;
        enum bk_status status = bk_route(lane->settings->strategy, &lane->state, &row, &route);
        assert(status == BK_OK && route.scope == BK_SCOPE_RANGE);
        (void)status;
        if (lane->thin->goes_by_time && route.until_ns < rest.end_ns) {
            assert(later.rows == 0); /* no row is before a line that was passed */
            later = cut(pace, &rest, route.until_ns, &lane->thin->draws);
        }
        if (open == NULL || route.bucket != open->bucket) {
            locate(pace, &rest, &lane->thin->draws);
            open = lab_open_next(lane, route.bucket, rest.begin_ns);
            if (open == NULL)
                return true;
        }
        bool fires;
        const uint64_t rows = count_step(lane->thin, &route, sequence, rest.rows, &fires);
        const struct cass_partition before = open->size;
        const bool is_whole = lane->thin->is_drawn && rows == whole->rows;
        add_rows(lane, open, rows, is_whole ? whole->weight.bytes : bytes_of_next(lane->thin, &rest, rows),
                 stretch->is_gone);
        watch(lane, open, whole, &before, &rest);
        row.sequence = lane->placement.rows - 1;
        struct lab_rest taken = rest;
        struct lab_row_times times = times_of(pace, &rest);
        if (lane->expected != NULL && !lane->thin->goes_by_time)
            row.time_ns = lab_row_time(&times, rows - 1);
        if (fires)
            row.id = lane->thin->fires_always ? sim_random_next(&lane->thin->draws) : lane->thin->firing;
        advance(lane, &row);
        if (lane->placement.rows == route.sequence_high &&
            lab_closes_when_full(lane->settings->scenario_strategy))
            lane->state.bucket = route.bucket + 1;
        take(&rest, rows);
        if (lane->expected != NULL && rest.rows > 0 && lane->state.bucket != open->bucket) {
            /* The next row begins a partition. Until then, readers know one without rows. */
            taken.end_ns = locate(pace, &rest, &lane->thin->draws);
            taken.rows = rows;
            times = times_of(pace, &taken);
        }
        if (lane->expected != NULL)
            lab_expect_rows(lane, &times, rows);
        if (rest.rows == 0) {
            rest = later;
            later.rows = 0;
        }
        if (step % STEPS_A_LOOK == 0 && lab_worker_is_stopped(lane->thin->worker))
            return false;
    }
    return true;
}

/* The windows of `time` that lie within a stretch as a whole. None of them gets rows before or after it, so
 * without reads they do not pass through the book. */
struct grid {
    struct lab_lane *lane;
    struct lab_stretch stretch; /* of the windows, a part of `whole` */
    const struct lab_stretch *whole;
    int64_t bucket; /* of the first one */
    uint32_t class; /* of the times in the window that was taken last */
    bool is_stopped;
};

/* A window with this many rows, up to before row `end_row` of the key. */
static struct lab_ended window_of(struct grid *grid, uint64_t index, uint64_t rows, uint64_t end_row)
{
    struct lab_lane *lane = grid->lane;
    const int64_t length_ns = lane->settings->strategy->of.time.window_ns;
    const int64_t begin_ns = grid->stretch.begin_ns + (int64_t)index * length_ns,
                  end_ns = begin_ns + length_ns;
    const int64_t bucket = grid->bucket + (int64_t)index;
    struct lab_worker *worker = lane->thin->worker;
    struct sim_random *sizes = &lane->thin->sizes;
    const struct lab_row_stamps *stamps = &worker->stamps;
    while (grid->class + 1 < stamps->count && begin_ns >= stamps->until_ns[grid->class])
        grid->class ++;
    const bool is_one = grid->class + 1 == stamps->count || end_ns <= stamps->until_ns[grid->class];
    const struct lab_weight weight = is_one ? weigh(worker, grid->class, rows, sizes)
                                            : weigh_between(worker, begin_ns, end_ns, rows, NULL, sizes);
    const struct cass_partition size = {rows, weight.bytes};
    const bool may_exceed = may_be_over(lane, &size, begin_ns, &grid->stretch);
    struct lab_ended window = {.bucket = bucket,
                               .first_ns = begin_ns,
                               .rows = rows,
                               .gone = grid->stretch.is_gone ? rows : 0,
                               .held = size,
                               .is_closed = bucket >= lane->settings->first_whole};
    /* From a stream of its own, since whether it is drawn depends on the keys before. */
    if (may_exceed || !lab_slices_is_one(&lane->tally->slices, begin_ns, end_ns))
        window.first_ns = time_over(lane, &(struct lab_stretch){.begin_ns = begin_ns, .end_ns = end_ns},
                                    ~(uint64_t)bucket, 1, rows);
    if (may_exceed)
        watch(lane, &(struct lab_entry){.size = size, .first_ns = window.first_ns, .end_row = end_row},
              grid->whole, &(struct cass_partition){0, 0}, &(struct lab_rest){.end_ns = end_ns});
    return window;
}

static int64_t window_begin(const struct grid *grid, uint64_t index)
{
    return grid->stretch.begin_ns + (int64_t)index * grid->lane->settings->strategy->of.time.window_ns;
}

/* Divides rows among `count` windows, from `index` on: while the rate differs, among halves of them; at[i]
 * are the rows expected before window i. Poisson numbers, given their sum, are like rows that are each put
 * into a window at random. So are they when the rows that the sum lacks are put at random; and a sum that
 * exceeds `rows` is drawn again. */
static void spread(const struct grid *grid, uint64_t index, const double *at, uint64_t rows, uint64_t *counts,
                   size_t count)
{
    struct sim_random *draws = &grid->lane->thin->draws;
    const size_t half = count / 2;
    if (count == 1 || rows == 0) {
        memset(counts, 0, count * sizeof *counts);
        counts[0] = rows;
        return;
    }
    if (!wl_pace_is_level(&grid->lane->thin->worker->pace, window_begin(grid, index),
                          window_begin(grid, index + count))) {
        const double all = at[count] - at[0], share = all > 0 ? (at[half] - at[0]) / all : 0.5;
        const uint64_t some = sim_binomial(draws, rows, share);
        spread(grid, index, at, some, counts, half);
        spread(grid, index + half, at + half, rows - some, counts + half, count - half);
        return;
    }
    uint64_t some[WINDOWS_AT_ONCE], sum;
    memset(counts, 0, count * sizeof *counts);
    while (rows >= SPREAD_ROWS * count) {
        do {
            sim_poissons(draws, ((double)rows - 2 * sqrt((double)rows)) / (double)count, some, count);
            sum = 0;
            for (size_t i = 0; i < count; i++)
                sum += some[i];
        } while (sum > rows);
        for (size_t i = 0; i < count; i++)
            counts[i] += some[i];
        rows -= sum;
    }
    struct sim_random state = *draws;
    for (; rows > 0; rows--) /* no window is preferred by more than 2^-55 */
        counts[(size_t)((lab_wide)sim_random_next(&state) * count >> 64)]++;
    *draws = state;
}

/* Divides rows among `count` windows, from `index` on; if there are many windows, first among halves of them.
 */
static void divide(struct grid *grid, uint64_t index, uint64_t count, uint64_t rows)
{
    const struct wl_pace *pace = &grid->lane->thin->worker->pace;
    uint64_t counts[WINDOWS_AT_ONCE];
    double at[WINDOWS_AT_ONCE + 1];
    while (count > WINDOWS_AT_ONCE && rows > 0 && !grid->is_stopped) {
        const uint64_t left = UINT64_C(1) << (63 - __builtin_clzll(count - 1));
        const uint64_t some =
            sim_binomial(&grid->lane->thin->draws, rows,
                         wl_pace_share(pace, window_begin(grid, index), window_begin(grid, index + left),
                                       window_begin(grid, index + count)));
        divide(grid, index, left, some);
        index += left;
        count -= left;
        rows -= some;
    }
    if (rows == 0 || grid->is_stopped)
        return;
    for (uint64_t i = 0; pace->count > 1 && i <= count; i++)
        at[i] = wl_pace_rows(pace, window_begin(grid, index + i));
    spread(grid, index, at, rows, counts, (size_t)count);
    struct lab_ended windows[LAB_ENDED_AT_ONCE];
    uint64_t end_row = grid->lane->placement.rows;
    size_t filled = 0;
    for (uint64_t i = 0; i < count; i++) {
        end_row += counts[i];
        if (counts[i] > 0)
            windows[filled++] = window_of(grid, index + i, counts[i], end_row);
        if (filled == LAB_ENDED_AT_ONCE || (i + 1 == count && filled > 0)) {
            lab_lane_windows(grid->lane, windows, filled, grid->bucket, grid->stretch.begin_ns);
            filled = 0;
        }
    }
    grid->is_stopped = lab_worker_is_stopped(grid->lane->thin->worker);
}

/* BK_KIND_TIME: only the rows before the first whole window of the stretch, and those after the last one, go
 * row by row. */
static bool take_windows(struct lab_lane *lane, const struct lab_stretch *stretch)
{
    const struct bk_row row = {.time_ns = stretch->begin_ns};
    const int64_t length_ns = lane->settings->strategy->of.time.window_ns;
    struct bk_placement route;
    const enum bk_status status = bk_route(lane->settings->strategy, NULL, &row, &route);
    assert(status == BK_OK);
    (void)status;
    const bool is_cut = route.from_ns < stretch->begin_ns;
    const int64_t begin_ns = is_cut ? route.until_ns : route.from_ns;
    if (length_ns == 0 || begin_ns >= stretch->end_ns || stretch->end_ns - begin_ns < 2 * length_ns)
        return take_ranges(lane, stretch, stretch);
    const uint64_t count = (uint64_t)((stretch->end_ns - begin_ns) / length_ns);
    const int64_t end_ns = begin_ns + (int64_t)count * length_ns;
    struct lab_stretch before = *stretch, after = *stretch;
    before.end_ns = begin_ns;
    const struct wl_pace *pace = &lane->thin->worker->pace;
    before.rows = sim_binomial(&lane->thin->draws, stretch->rows,
                               wl_pace_share(pace, stretch->begin_ns, begin_ns, stretch->end_ns));
    after.begin_ns = end_ns;
    after.rows = sim_binomial(&lane->thin->draws, stretch->rows - before.rows,
                              1 - wl_pace_share(pace, begin_ns, end_ns, stretch->end_ns));
    struct grid grid = {.lane = lane,
                        .whole = stretch,
                        .stretch = {begin_ns,
                                    end_ns,
                                    stretch->first_row + before.rows,
                                    stretch->rows - before.rows - after.rows,
                                    stretch->is_gone,
                                    {0, 0}},
                        .bucket = route.bucket + (is_cut ? 1 : 0)};
    if (!take_ranges(lane, &before, stretch))
        return false;
    divide(&grid, 0, count, grid.stretch.rows);
    after.first_row = grid.stretch.first_row + grid.stretch.rows;
    return !grid.is_stopped && take_ranges(lane, &after, stretch);
}

/* Draws the time of the first of `rows` rows of the stretch. */
static int64_t earliest(const struct wl_pace *pace, const struct lab_stretch *stretch, uint64_t rows,
                        struct sim_random *draws)
{
    struct lab_rest rest = {stretch->begin_ns, stretch->end_ns, 0, rows, false};
    return locate(pace, &rest, draws);
}

/* A row's id is hashed to a bucket, so buckets are uniformly distributed like ids. A few rows are drawn
 * individually; of many rows, each bucket in turn gets a random share of the remaining ones. */
static void take_cells(struct lab_lane *lane, const struct lab_stretch *stretch)
{
    const uint32_t buckets = lane->settings->strategy->of.hash.buckets;
    const struct wl_pace *pace = &lane->thin->worker->pace;
    struct lab_rest rest = {stretch->begin_ns, stretch->end_ns, 0, stretch->rows, false};
    bool is_few = rest.rows / 4 < buckets;
    /* The times at which rows were written are drawn from a copy of the stream, so that the sizes of rows do
     * not affect their places. */
    struct sim_random times, copy = lane->thin->draws;
    sim_random_init(&times, lane->settings->scenario->seed, SIM_THIN_BYTES, sim_random_next(&copy));
    for (uint32_t i = 0; rest.rows > 0; i++) {
        uint32_t bucket = is_few ? (uint32_t)sim_random_below(&lane->thin->draws, buckets) : i;
        uint64_t rows = is_few ? 1 : sim_binomial(&lane->thin->draws, rest.rows, 1 / (double)(buckets - i));
        if (rows == 0)
            continue;
        struct lab_entry *cell = lab_cell(&lane->book, buckets, bucket);
        if (cell == NULL) {
            lane->tally->out_of_memory = true;
            return;
        }
        if (cell->size.rows == 0)
            cell->first_ns = is_few ? locate(pace, &rest, &lane->thin->draws)
                                    : earliest(pace, stretch, rows, &lane->thin->draws);
        const uint64_t bytes = is_few ? bytes_of_next(lane->thin, &rest, 1)
                                      : weigh_between(lane->thin->worker, stretch->begin_ns, stretch->end_ns,
                                                      rows, &times, &lane->thin->sizes)
                                            .bytes;
        add_rows(lane, cell, rows, bytes, stretch->is_gone);
        if (lane->expected != NULL && is_few) {
            const struct lab_row_times next = times_of(pace, &rest);
            const int64_t time_ns = lab_row_time(&next, 0);
            lab_expect_cell(lane, cell, time_ns, time_ns, 1);
        } else if (lane->expected != NULL) {
            lab_expect_cell(lane, cell, stretch->begin_ns, stretch->end_ns, rows);
        }
        const struct cass_partition after = *store(lane, stretch, rows, bytes, &cell->disk, &cell->size);
        if (may_be_over(lane, &after, cell->first_ns, stretch)) {
            const struct cass_partition then = {after.rows - rows, after.bytes - bytes};
            const uint64_t over = first_over(lane, &then, &after);
            const uint64_t which = sim_mix64(stretch->first_row + i) ^ bucket;
            if (over > 0)
                lab_tally_over(lane->tally, time_over(lane, stretch, which, is_few ? i + 1 : over,
                                                      is_few ? stretch->rows : rows));
        }
        take(&rest, rows);
    }
}

/* Processes a stretch in a lane; false when the run must stop. */
static bool lane_stretch(struct lab_lane *lane, const struct lab_stretch *stretch)
{
    if (stretch->rows == 0)
        return true;
    if (lane->placement.rows == 0 &&
        (bk_kind_fires(lane->settings->strategy->kind) || lane->settings->strategy->max_age_ns != 0))
        lane->tally->state_reads++; /* the writer's cache does not have the lane->key yet */
    lane->tally->rows += stretch->rows;
    lane->tally->rows_expired += stretch->is_gone ? stretch->rows : 0;
    lab_bytes_add(&lane->tally->payload_bytes, stretch->weight.payload);
    if (lane->settings->strategy->kind == BK_KIND_TIME && lane->settings->disk.window_ns == 0 &&
        (lane->expected != NULL || !lane->settings->scenario->reads.present))
        return take_windows(lane, stretch);
    if (lane->settings->strategy->kind != BK_KIND_HASH)
        return take_ranges(lane, stretch, stretch);
    take_cells(lane, stretch);
    return true;
}

void lab_thin_prepare(struct lab_lane *lane, struct lab_worker *worker, struct lab_thin *out)
{
    const struct bk_strategy *strategy = lane->settings->strategy;
    const uint64_t bytes_each = (uint64_t)worker->scenario->workload.row_bytes.a;
    lane->thin = out;
    double chance = 0;
    *out = (struct lab_thin){.goes_by_time = strategy->kind == BK_KIND_TIME || strategy->max_age_ns != 0,
                             .can_fire = bk_kind_fires(strategy->kind),
                             .is_drawn = worker->scenario->workload.row_bytes.kind != SIM_SIZE_CONSTANT,
                             .bytes_each = bytes_each,
                             .worker = worker};
    const bool has_alike = !out->is_drawn && !worker->scenario->is_raced && strategy->kind != BK_KIND_HASH;
    lane->alike = has_alike ? out->alike : NULL;
    if (!out->can_fire)
        return;
    if (strategy->kind == BK_KIND_WEIGHTED) {
        uint64_t unit = strategy->of.weighted.bytes;
        out->fires_always = bytes_each >= unit;
        chance = out->fires_always ? 1 : (double)bytes_each / (double)unit;
        out->quiet = UINT64_MAX;
    } else if (strategy->of.probabilistic.chance_denominator != 0) {
        chance = lab_chance(strategy);
        out->quiet = UINT64_MAX;
    } else {
        chance = lab_chance(strategy);
        out->firing = UINT64_MAX;
    }
    if (!out->goes_by_time && !out->fires_always)
        out->threshold = bk_threshold(strategy);
    sim_trials_init(&out->trials, chance);
}

void lab_thin_weights(struct lab_worker *worker)
{
    const struct sim_size *size = &worker->scenario->workload.row_bytes;
    for (uint32_t i = 0; i < worker->stamps.count; i++)
        worker->row_bytes[i] =
            lab_row_bytes(&worker->scenario->row_cost, (uint64_t)size->a, worker->stamps.bytes[i]);
    if (size->kind != SIM_SIZE_CONSTANT)
        prepare_sums(worker);
}

/* Returns the length of the pieces of an interval. */
static int64_t piece_of(const struct wl_pace *pace)
{
    const double length = (double)(pace->edges[pace->count].time_ns - pace->edges[0].time_ns),
                 rows = pace->edges[pace->count].rows;
    if (rows <= PIECE_ROWS)
        return (int64_t)length;
    return 1 + (int64_t)(rows < PIECE_ROWS * PIECES ? length * (PIECE_ROWS / rows) : length / PIECES);
}

/* Returns the time before which rows must have been written to have expired at the end of the run; INT64_MIN
 * if rows do not expire. A time to live is in whole seconds. */
static int64_t gone_before(const struct lab_scenario *scenario)
{
    int64_t ttl_ns = scenario->row_ttl_ns,
            end_ns = scenario->workload.start_ns + scenario->workload.duration_ns;
    if (ttl_ns == 0)
        return INT64_MIN;
    int64_t ttl_s = ttl_ns / SIM_SECOND + (ttl_ns % SIM_SECOND != 0);
    return (end_ns / SIM_SECOND - ttl_s + 1) * SIM_SECOND;
}

/* Adds a stretch to every lane. Returns false if the run must stop. */
static bool lanes_stretch(struct lab_key *key, const struct lab_stretch *stretch)
{
    if (key->worker->scenario->reads.are_expected && stretch->rows > 0)
        lab_reads_seen_rows(&key->expected, NULL, stretch->begin_ns, stretch->end_ns, stretch->rows);
    for (size_t i = 0; i < key->worker->lane_count; i++) {
        if (!lane_stretch(&key->lanes[i], stretch))
            return false;
    }
    return true;
}

/* Begins the rows up to the end of the piece. The key's first row is a piece of its own: readers go back to
 * it, so its time must be the same for all strategies. */
static void begin_piece(struct lab_thin_walk *walk, struct lab_key *key, int64_t piece_ns)
{
    struct lab_worker *worker = key->worker;
    const struct wl_pace *pace = &worker->pace;
    const int64_t gone_ns = gone_before(worker->scenario), begin_ns = walk->begin_ns;
    int64_t end_ns = walk->end_ns - begin_ns > piece_ns ? begin_ns + piece_ns : walk->end_ns;
    if (key->next_read_ns < end_ns)
        end_ns = key->next_read_ns + 1; /* a read includes rows of its own nanosecond */
    if (begin_ns < gone_ns && gone_ns < end_ns)
        end_ns = gone_ns;
    if (worker->disk.window_ns != 0 && lab_disk_until(&worker->disk, begin_ns) < end_ns)
        end_ns = lab_disk_until(&worker->disk, begin_ns);
    struct lab_stretch *piece = &walk->piece;
    const uint64_t rows =
        sim_poisson(&walk->counts, wl_pace_rows(pace, end_ns) - wl_pace_rows(pace, begin_ns));
    const struct lab_weight weight = weigh_between(worker, begin_ns, end_ns, rows, NULL, &walk->sizes);
    *piece = (struct lab_stretch){begin_ns, end_ns, key->rows, rows, end_ns <= gone_ns, weight};
    if (key->rows == 0 && rows > 0) {
        struct sim_random draws;
        sim_random_init(&draws, worker->scenario->seed, SIM_THIN_BIRTH, key->name.index);
        key->birth_ns = thin_place(pace, &draws, begin_ns, end_ns, 1, rows);
        worker->keys++;
        struct lab_weight first =
            weigh(worker, lab_row_stamp_class(&worker->stamps, key->birth_ns), 1, &walk->sizes);
        if (first.payload >= weight.payload || first.bytes >= weight.bytes || rows == 1)
            first = weight;
        piece->weight = (struct lab_weight){weight.payload - first.payload, weight.bytes - first.bytes};
        lanes_stretch(key, &(struct lab_stretch){key->birth_ns, key->birth_ns, 0, 1, piece->is_gone, first});
        piece->begin_ns = key->birth_ns;
        piece->first_row++;
        piece->rows--;
    }
    key->rows += rows;
    lab_bytes_add(&key->bytes, weight.bytes);
    if (worker->disk.window_ns != 0 && rows > 0)
        lab_key_store(key, begin_ns, rows, weight.bytes);
    worker->rows += rows;
    lab_worker_tell(worker, rows, rows);
}

bool lab_thin_key(struct lab_key *key)
{
    struct lab_worker *worker = key->worker;
    const struct lab_scenario *scenario = worker->scenario;
    const struct wl_workload *workload = &scenario->workload;
    struct lab_thin_walk walk;
    wl_key_init(&walk.arrivals, workload, key->name.index);
    sim_random_init(&walk.counts, workload->seed, SIM_THIN_ROWS, key->name.index);
    sim_random_init(&walk.sizes, workload->seed, SIM_ROW_BYTES, key->name.index);
    key->expected.pace = &worker->pace;
    for (size_t i = 0; i < key->worker->lane_count; i++) {
        struct lab_thin *thin = key->lanes[i].thin;
        sim_random_init(&thin->draws, workload->seed, SIM_THIN_LANE, key->name.index);
        sim_random_init(&thin->sizes, workload->seed, SIM_THIN_SIZES, key->name.index);
        thin->over = lab_over_bound(key->worker->scenario, &key->name);
        thin->to_fire = 0;
    }
    while (wl_key_pace(&walk.arrivals, lab_thin_intervals(scenario), PIECE_ROWS, &worker->pace)) {
        const int64_t piece_ns = piece_of(&worker->pace);
        walk.begin_ns = worker->pace.edges[0].time_ns;
        walk.end_ns = worker->pace.edges[worker->pace.count].time_ns;
        for (; walk.begin_ns < walk.end_ns; walk.begin_ns = walk.piece.end_ns) {
            begin_piece(&walk, key, piece_ns);
            if (!lanes_stretch(key, &walk.piece))
                return false;
            while (key->next_read_ns < walk.piece.end_ns)
                lab_key_read(key);
            if (lab_worker_is_stopped(key->worker))
                return false;
        }
    }
    return true;
}
