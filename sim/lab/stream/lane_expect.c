/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The expected figures of a lane's reads: in come the rows of a key and of its lanes; out go the numbers of
 * reads, and what they query and find, to the tally.
 *
 * Reads are a Poisson process, so between two changes of what a read queries, their expected number is
 * proportional to the time between. A row or a partition that is found from one time until another is added
 * for all reads between, at once. What a read queries depends on the ends of windows and on a few partitions,
 * so the work depends on the number of partitions and not on that of reads; and nothing is kept but the seams
 * within the range. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/grow.h"
#include "kernel/number.h"
#include "kernel/time.h"
#include "lab/scenario.h"
#include "lane.h"

/* A time with more changes of what reads query is divided into this many pieces. */
#define CHANGES 64

static bool has_reads(const struct lab_reads_seen *reads, int kind)
{
    return reads->parts_per_ns[kind] > 0;
}

/* Returns the expected number of reads, in fractional parts, up to `delay_ns` after a time. */
static inline uint64_t parts_at(const struct lab_reads_seen *reads, enum lab_read_kind kind, int64_t time_ns,
                                int64_t delay_ns)
{
    const double since_ns = (double)(time_ns - reads->first_ns[kind]) + (double)delay_ns,
                 all_ns = (double)(reads->end_ns - reads->first_ns[kind]);
    const double some_ns = since_ns > 0 ? since_ns : 0;
    return (uint64_t)(int64_t)((some_ns < all_ns ? some_ns : all_ns) * reads->parts_per_ns[kind]);
}

/* The mean of parts_at() over the times in [begin_ns, end_ns). */
static double mean_parts(const struct lab_reads_seen *reads, enum lab_read_kind kind, int64_t begin_ns,
                         int64_t end_ns, int64_t delay_ns)
{
    if (begin_ns == end_ns || begin_ns >= lab_before(reads->end_ns, delay_ns))
        return (double)parts_at(reads, kind, begin_ns, delay_ns);
    const double first = (double)(reads->first_ns[kind] - begin_ns) - (double)delay_ns;
    const double last = (double)(reads->end_ns - begin_ns) - (double)delay_ns,
                 all = (double)(end_ns - begin_ns);
    const double low = first > 0 ? first : 0, high = last < all ? last : all;
    double sum = high < all ? (all - high) * (last - first) : 0;
    sum += low < high ? (high - low) * ((high + low) / 2 - first) : 0;
    return sum / all * reads->parts_per_ns[kind];
}

/* The sum, over the first `some` of `count` rows in [begin_ns, end_ns), of the reads that come after a row.
 * Not for reads of ranges. */
static lab_wide after_first(const struct lab_reads_seen *reads, enum lab_read_kind kind, int64_t begin_ns,
                            int64_t end_ns, uint64_t count, uint64_t some)
{
    const double share = some < count ? (double)(some + 1) / (double)(count + 1) : 1;
    const bool has_pace = reads->pace != NULL && reads->pace->count > 1;
    const int64_t until_ns = has_pace ? wl_pace_place(reads->pace, begin_ns, end_ns, share)
                                      : begin_ns + (int64_t)((double)(end_ns - begin_ns) * share);
    const double mean_ns = has_pace ? wl_pace_mean_ns(reads->pace, begin_ns, until_ns) : 0;
    const double after = has_pace ? (double)parts_at(reads, kind, begin_ns + (int64_t)mean_ns, 0)
                                  : mean_parts(reads, kind, begin_ns, until_ns, 0);
    const double each = (double)parts_at(reads, kind, reads->end_ns, 0) - after;
    return (lab_wide)((double)some * each);
}

/* Returns the reads of ranges that find one of `rows` rows, but no earlier one. *left: the reads before which
 * the last row has left all ranges. Of n uniform points in an interval of length T, the gap after each
 * exceeds s with probability (1 - s/T)^n, and then by T/(n + 1) (1 - s/T) in the mean. */
static uint64_t covered_by(const struct lab_reads_seen *reads, int64_t begin_ns, int64_t end_ns,
                           uint64_t rows, uint64_t *left)
{
    const double length = (double)(end_ns - begin_ns), span = (double)reads->span_ns;
    const int64_t gap_ns = begin_ns == end_ns ? 0 : (int64_t)(length / (double)(rows + 1));
    const int64_t first_ns = begin_ns + gap_ns, last_ns = end_ns - gap_ns;
    const uint64_t enter = parts_at(reads, LAB_READ_RANGE, first_ns, reads->enter_ns);
    const uint64_t from = enter > *left ? enter : *left;
    *left = parts_at(reads, LAB_READ_RANGE, last_ns, reads->leave_ns);
    uint64_t all = *left > from ? *left - from : 0;
    if (rows > 1 && span < length) {
        const double gaps = (double)(rows - 1) * length / (double)(rows + 1) *
                            sim_exp((double)(rows + 1) * sim_log(1 - span / length));
        const double none =
            gaps / (double)(last_ns - first_ns) *
            ((double)parts_at(reads, LAB_READ_RANGE, last_ns, reads->enter_ns) - (double)enter);
        all -= none < (double)all ? (uint64_t)none : all;
    }
    return all;
}

void lab_reads_seen_begin(struct lab_reads_seen *reads, const struct lab_scenario *scenario, double share,
                          int64_t start_ns, int64_t end_ns)
{
    const struct lab_read *kinds = scenario->reads.kinds, *range = &kinds[LAB_READ_RANGE];
    *reads = (struct lab_reads_seen){.start_ns = start_ns,
                                     .end_ns = end_ns,
                                     .first_ns = {start_ns, start_ns, start_ns},
                                     .span_ns = range->span_ns,
                                     .latest_rows = kinds[LAB_READ_LATEST].rows,
                                     .last_ns = INT64_MIN};
    for (int kind = 0; kind < LAB_READ_KINDS; kind++)
        reads->parts_per_ns[kind] = kinds[kind].rate_per_s * share * 1e-9 * LAB_READ_PARTS;
    if (range->rate_per_s <= 0)
        return;
    reads->enter_ns = range->age_ns + 1;
    reads->leave_ns = sim_time_after(reads->enter_ns, range->span_ns);
    reads->first_ns[LAB_READ_RANGE] =
        lab_before(end_ns, reads->leave_ns - 1) < start_ns ? end_ns : start_ns + reads->leave_ns - 1;
}

static void see(struct lab_reads_seen *reads, int64_t begin_ns, int64_t end_ns, uint64_t count)
{
    if (reads->rows < reads->latest_rows && has_reads(reads, LAB_READ_LATEST)) {
        const uint64_t left = reads->latest_rows - reads->rows;
        reads->scanned[LAB_READ_LATEST] +=
            after_first(reads, LAB_READ_LATEST, begin_ns, end_ns, count, left < count ? left : count);
    }
    if (has_reads(reads, LAB_READ_ALL))
        reads->scanned[LAB_READ_ALL] += after_first(reads, LAB_READ_ALL, begin_ns, end_ns, count, count);
    if (has_reads(reads, LAB_READ_RANGE)) {
        const double each = mean_parts(reads, LAB_READ_RANGE, begin_ns, end_ns, reads->leave_ns) -
                            mean_parts(reads, LAB_READ_RANGE, begin_ns, end_ns, reads->enter_ns);
        reads->scanned[LAB_READ_RANGE] += each > 0 ? (lab_wide)((double)count * each) : 0;
        reads->has_gaps = reads->has_gaps || lab_before(begin_ns, reads->span_ns) > reads->last_ns;
        reads->covered += covered_by(reads, begin_ns, end_ns, count, &reads->left);
        reads->last_ns = end_ns;
    }
    reads->rows += count;
}

void lab_reads_seen_rows(struct lab_reads_seen *reads, const int64_t *each_ns, int64_t begin_ns,
                         int64_t end_ns, uint64_t count)
{
    const bool is_quick = !has_reads(reads, LAB_READ_RANGE) && !has_reads(reads, LAB_READ_ALL);
    reads->has_gaps = false;
    if (reads->rows == 0)
        reads->birth_ns = each_ns != NULL ? each_ns[0] : begin_ns;
    if (is_quick && reads->rows >= reads->latest_rows)
        return;
    if (each_ns == NULL)
        see(reads, begin_ns, end_ns, count);
    for (uint64_t i = 0; each_ns != NULL && i < count; i++)
        see(reads, each_ns[i], each_ns[i], 1);
}

/* Adds reads that query this number of partitions to the tally. */
static void tell(struct lab_lane *lane, int kind, uint64_t partitions, uint64_t parts)
{
    lane->expected->courses[kind].all_partitions += (lab_wide)parts * partitions;
    lab_histogram_add(&lane->tally->reads.partitions, partitions, parts, 1);
    if (lab_read_kind_count(lane->settings->scenario) > 1)
        lab_histogram_add(&lane->tally->reads_of[kind].partitions, partitions, parts, 1);
}

/* Counts this many more reads of a kind, which are alike. */
static inline void count_parts(struct lab_lane *lane, int kind, uint64_t parts)
{
    struct lab_course *course = &lane->expected->courses[kind];
    if (course->partitions < LAB_FEW_PARTITIONS)
        course->parts_of[course->partitions] += parts;
    else
        tell(lane, kind, course->partitions, parts);
    course->all_filled += (lab_wide)parts * course->filled;
    course->all_scanned += (lab_wide)parts * course->scanned;
    course->parts += parts;
}

/* Counts the reads of a kind up to until_ns, which are alike. */
static inline void count(struct lab_lane *lane, int kind, int64_t until_ns)
{
    struct lab_course *course = &lane->expected->courses[kind];
    const uint64_t parts = parts_at(lane->expected->reads, (enum lab_read_kind)kind, until_ns, 0);
    course->since_ns = until_ns;
    if (parts > course->parts)
        count_parts(lane, kind, parts - course->parts);
}

/* Sets what a read of the newest rows that begins at this time queries. A walk ends where find_end() found
 * its end. */
static void set_latest(struct lab_lane *lane, int64_t now_ns)
{
    struct lab_expected *expected = lane->expected;
    struct lab_course *course = &expected->courses[LAB_READ_LATEST];
    const bool is_born = lane->placement.rows > 0;
    if (expected->is_walk && is_born) {
        const int64_t top = lab_newest_bucket(lane, now_ns);
        if (top >= expected->newest) {
            course->partitions = (uint64_t)(top - expected->lowest) + 1;
            return;
        }
    }
    struct lab_read_done done;
    const struct lab_read_event event = {.kind = LAB_READ_LATEST,
                                         .now_ns = now_ns,
                                         .birth_ns = is_born ? expected->reads->birth_ns : now_ns,
                                         .key_rows = lane->placement.rows};
    lab_read_ask(lane, &event, &done);
    course->partitions = done.partitions;
    course->filled = done.filled;
    course->scanned = expected->is_walk ? 0 : done.scanned;
}

static int64_t sooner(int64_t now_ns, int64_t next_ns, int64_t time_ns, int64_t delay_ns)
{
    const int64_t other_ns = sim_time_after(time_ns, delay_ns);
    return other_ns > now_ns && other_ns < next_ns ? other_ns : next_ns;
}

/* The end of the range, after which a read at this time does not look. */
static int64_t range_until(const struct lab_reads_seen *reads, int64_t now_ns)
{
    return lab_before(now_ns, reads->enter_ns - 1);
}

static int64_t range_from(const struct lab_reads_seen *reads, int64_t now_ns)
{
    return lab_before(range_until(reads, now_ns), reads->span_ns);
}

/* Counts the reads of ranges in whole periods, of a window's length each. From the earlier of the two changes
 * of a period to the later one, a read queries one partition more if the first is at the high end, else one
 * fewer. */
static void pass_periods(struct lab_lane *lane, struct bk_placement *high, struct bk_placement *low,
                         int64_t apart_ns, int64_t periods)
{
    struct lab_course *course = &lane->expected->courses[LAB_READ_RANGE];
    const int64_t length_ns = high->until_ns - high->from_ns, all_ns = periods * length_ns;
    const uint64_t until = parts_at(lane->expected->reads, LAB_READ_RANGE, course->since_ns + all_ns, 0);
    const uint64_t parts = until > course->parts ? until - course->parts : 0;
    const uint64_t some = (uint64_t)((double)parts * fabs((double)apart_ns) / (double)length_ns + 0.5);
    course->since_ns += all_ns;
    count_parts(lane, LAB_READ_RANGE, parts - some);
    course->partitions += apart_ns > 0 ? 1 : UINT64_MAX;
    count_parts(lane, LAB_READ_RANGE, some);
    for (int i = 0; i < 2; i++) {
        struct bk_placement *window = i == 0 ? high : low;
        window->bucket += periods;
        window->from_ns += all_ns;
        window->until_ns += all_ns;
    }
}

/* BK_KIND_TIME: counts all reads of ranges of the key, which query every window of the range since the key's
 * birth. */
static void pass_ranges(struct lab_lane *lane, int64_t end_ns)
{
    struct lab_course *course = &lane->expected->courses[LAB_READ_RANGE];
    const struct lab_reads_seen *reads = lane->expected->reads;
    const int64_t born_ns =
        lane->placement.rows == 0 ? end_ns : sim_time_after(reads->birth_ns, reads->enter_ns);
    course->partitions = 0;
    if (born_ns > course->since_ns)
        count(lane, LAB_READ_RANGE, born_ns < end_ns ? born_ns : end_ns);
    if (course->since_ns >= end_ns)
        return;
    const int64_t from_ns = range_from(reads, course->since_ns),
                  length_ns = lane->settings->strategy->of.time.window_ns;
    struct bk_placement high = *lab_lane_window(lane, range_until(reads, course->since_ns) - 1);
    struct bk_placement low = *lab_lane_window(lane, from_ns > reads->birth_ns ? from_ns : reads->birth_ns);
    while (course->since_ns < end_ns) {
        const int64_t high_ns = sim_time_after(high.until_ns, reads->enter_ns),
                      low_ns = sim_time_after(low.until_ns, reads->leave_ns - 1),
                      next_ns = high_ns < low_ns ? high_ns : low_ns;
        course->partitions = (uint64_t)(high.bucket - low.bucket) + 1;
        count(lane, LAB_READ_RANGE, next_ns < end_ns ? next_ns : end_ns);
        const int64_t apart_ns = low_ns - high_ns;
        const int64_t periods = length_ns == 0 ? 0 : (end_ns - course->since_ns) / length_ns;
        if (periods > 0 && apart_ns > -length_ns && apart_ns < length_ns) {
            pass_periods(lane, &high, &low, apart_ns, periods);
            continue;
        }
        if (high_ns == next_ns)
            high = *lab_lane_window(lane, high.until_ns);
        if (low_ns == next_ns)
            low = *lab_lane_window(lane, low.until_ns);
    }
}

/* A partition is as long as its strategy's counter says: sets what a read of a range queries, which goes from
 * the newest bucket down to the first without a row of the range, but with an older one. */
static void set_range(struct lab_lane *lane, int64_t now_ns)
{
    struct lab_expected *expected = lane->expected;
    const struct lab_reads_seen *reads = expected->reads;
    struct lab_course *course = &expected->courses[LAB_READ_RANGE];
    const int64_t until_ns = range_until(reads, now_ns), from_ns = range_from(reads, now_ns);
    const bool knows_start = bk_kind_fires(lane->settings->strategy->kind) && expected->bucket > 0;
    while (expected->begin < expected->end && expected->seams[expected->begin].before_ns < from_ns) {
        expected->seam = expected->seams[expected->begin++];
        expected->has_seam = true;
    }
    const struct lab_seam *seam = &expected->seam;
    /* The bucket of the last row before the range, and the one at which the read ends. */
    int64_t older = -1, last = 0;
    if (expected->has_seam && from_ns <= seam->after_ns) {
        older = seam->below;
        last = until_ns <= seam->after_ns || seam->above != seam->below ? older : older - 1;
    } else if (lane->placement.rows > 0 && from_ns > reads->birth_ns) {
        older = expected->has_seam ? seam->above : 0;
        last = from_ns > expected->last_ns ? older : older - 1;
    }
    last = last < 0 ? 0 : last;
    if (knows_start && from_ns > expected->change_ns)
        last = expected->bucket;
    const int64_t top = expected->bucket - (knows_start && until_ns <= expected->change_ns);
    course->partitions = top < last ? 0 : (uint64_t)(top - last) + 1;
    course->scanned = older < last ? 0 : (uint64_t)(older - last) + 1;
}

/* When this changes next. */
static int64_t next_seam(const struct lab_lane *lane, int64_t now_ns)
{
    const struct lab_expected *expected = lane->expected;
    const struct lab_reads_seen *reads = expected->reads;
    const int64_t enter_ns = reads->enter_ns, leave_ns = reads->leave_ns;
    int64_t next_ns = INT64_MAX;
    if (lane->placement.rows == 0)
        return next_ns;
    next_ns = sooner(now_ns, next_ns, reads->birth_ns, leave_ns);
    next_ns = sooner(now_ns, next_ns, expected->last_ns, leave_ns);
    if (expected->bucket > 0) {
        next_ns = sooner(now_ns, next_ns, expected->change_ns, enter_ns);
        next_ns = sooner(now_ns, next_ns, expected->change_ns, leave_ns);
    }
    if (expected->has_seam) {
        next_ns = sooner(now_ns, next_ns, expected->seam.after_ns, enter_ns);
        next_ns = sooner(now_ns, next_ns, expected->seam.after_ns, leave_ns);
    }
    if (expected->begin < expected->end)
        next_ns = sooner(now_ns, next_ns, expected->seams[expected->begin].before_ns, leave_ns);
    return next_ns;
}

static bool is_counted_out(const struct lab_lane *lane)
{
    const enum bk_kind kind = lane->settings->strategy->kind;
    return kind == BK_KIND_COUNT || bk_kind_fires(kind);
}

/* Whether reads of a kind are counted while the lane gets rows; else at its end. */
static bool is_stepped(const struct lab_lane *lane, int kind)
{
    return has_reads(lane->expected->reads, kind) &&
           (kind != LAB_READ_RANGE || lane->settings->strategy->kind != BK_KIND_TIME);
}

static void set(struct lab_lane *lane, int kind, int64_t now_ns)
{
    const struct lab_expected *expected = lane->expected;
    if (kind == LAB_READ_LATEST)
        set_latest(lane, now_ns);
    else if (kind == LAB_READ_RANGE && is_counted_out(lane))
        set_range(lane, now_ns);
    else if (kind == LAB_READ_ALL && lane->placement.rows > 0 &&
             lane->settings->strategy->kind != BK_KIND_HASH)
        lane->expected->courses[kind].partitions =
            (uint64_t)(lane->settings->strategy->kind == BK_KIND_TIME
                           ? lab_newest_bucket(lane, now_ns) - expected->birth_bucket
                           : expected->bucket) +
            1;
}

static int64_t next_change(struct lab_lane *lane, int kind, int64_t now_ns)
{
    if (lane->placement.rows == 0)
        return INT64_MAX;
    if (lane->settings->strategy->kind == BK_KIND_TIME)
        return lab_lane_window(lane, now_ns)->until_ns;
    return kind == LAB_READ_RANGE && is_counted_out(lane) ? next_seam(lane, now_ns) : INT64_MAX;
}

/* Counts the reads of a kind up to until_ns, during which the lane got no rows. An expected time may be after
 * a time that is drawn later; then nothing is counted twice and nothing is taken back. If there are very many
 * changes, each of some pieces of the time is evaluated at its middle. */
static void go_to(struct lab_lane *lane, int kind, int64_t until_ns)
{
    struct lab_course *course = &lane->expected->courses[kind];
    for (unsigned i = 0; course->since_ns < until_ns; i++) {
        const int64_t next_ns = next_change(lane, kind, course->since_ns);
        if (i == CHANGES && next_ns < until_ns)
            break;
        count(lane, kind, next_ns < until_ns ? next_ns : until_ns);
        if (course->since_ns == next_ns)
            set(lane, kind, next_ns);
    }
    const int64_t piece_ns = (until_ns - course->since_ns) / CHANGES + 1;
    while (course->since_ns < until_ns) {
        const int64_t left_ns = until_ns - course->since_ns,
                      some_ns = left_ns < piece_ns ? left_ns : piece_ns;
        set(lane, kind, course->since_ns + some_ns / 2);
        count(lane, kind, course->since_ns + some_ns);
        if (course->since_ns == until_ns)
            set(lane, kind, until_ns);
    }
}

static void all_go_to(struct lab_lane *lane, int64_t until_ns)
{
    for (int kind = 0; kind < LAB_READ_KINDS; kind++) {
        if (is_stepped(lane, kind))
            go_to(lane, kind, until_ns);
    }
}

/* Finds the last partition that a walk queries: the newest partitions down to it hold as many rows as a read
 * wants. With more rows it is never an older one, so the search continues from the one before. And finds how
 * many more rows the open partition needs for a read to query fewer partitions, or in another way. */
static void find_end(struct lab_lane *lane)
{
    struct lab_expected *expected = lane->expected;
    const uint64_t wanted = expected->reads->latest_rows, rows = lane->placement.rows;
    const struct lab_book *book = &lane->book;
    const uint64_t forgotten = lane->partition_count - book->count;
    /* The open one may be without the rows to come. */
    const size_t count = book->count - (book->count > 0 && lab_open(lane)->size.rows == 0);
    size_t last = expected->last > forgotten ? (size_t)(expected->last - forgotten) : 0;
    uint64_t newer = 0, found = 0;
    expected->newest = expected->lowest = 0;
    if (count > 0) {
        const struct lab_entry *items = &book->items[book->begin];
        while (last + 1 < count && rows - items[last].end_row >= wanted)
            last++;
        expected->newest = items[count - 1].bucket;
        expected->lowest = items[last].bucket;
        newer = rows - items[last].end_row;
        found = newer + items[last].size.rows;
    }
    expected->last = forgotten + last;
    expected->courses[LAB_READ_LATEST].filled = count - last;
    expected->rows_left = newer > 0 ? wanted - newer : UINT64_MAX;
    if (!expected->is_walk && (book->count == 0 || lab_open(lane)->size.rows < wanted))
        expected->rows_left = 1;
    if (found < wanted && expected->is_walk && rows > 0)
        expected->lowest = lane->settings->strategy->kind == BK_KIND_TIME ? expected->birth_bucket : 0;
}

/* Looks at the lane's state after a change. */
static void look(struct lab_lane *lane)
{
    struct lab_expected *expected = lane->expected;
    if (lane->state.bucket != expected->bucket) {
        expected->bucket = lane->state.bucket;
        expected->change_ns = lane->state.last_change_ns;
    }
    if (has_reads(expected->reads, LAB_READ_LATEST))
        find_end(lane);
    expected->courses[LAB_READ_ALL].filled = lane->partition_count;
    for (int kind = 0; kind < LAB_READ_KINDS; kind++) {
        if (is_stepped(lane, kind))
            set(lane, kind, expected->courses[kind].since_ns);
    }
}

bool lab_expect_begin(struct lab_lane *lane, const struct lab_reads_seen *reads)
{
    const struct bk_strategy *strategy = lane->settings->strategy;
    struct lab_expected *expected = lane->expected;
    if (expected == NULL)
        expected = lane->expected = calloc(1, sizeof *expected);
    if (expected == NULL)
        return false;
    enum bk_plan plan;
    uint32_t at_once;
    lab_read_plan(lane->settings->scenario, lane->settings->scenario_strategy, LAB_READ_LATEST, &plan,
                  &at_once);
    *expected = (struct lab_expected){
        .reads = reads,
        .is_walk = strategy->kind != BK_KIND_HASH && (plan == BK_PLAN_DEFAULT || plan == BK_PLAN_WALK),
        .rows_left = UINT64_MAX,
        .is_followed = has_reads(reads, LAB_READ_RANGE) && strategy->kind != BK_KIND_HASH &&
                       strategy->kind != BK_KIND_UNBUCKETED,
        .seams = expected->seams,
        .capacity = expected->capacity};
    const bool is_hash = strategy->kind == BK_KIND_HASH;
    for (int kind = 0; kind < LAB_READ_KINDS; kind++)
        expected->courses[kind] = (struct lab_course){.since_ns = reads->first_ns[kind],
                                                      .partitions = is_hash ? strategy->of.hash.buckets : 1};
    if (!is_hash)
        look(lane);
    return true;
}

struct lab_row_times lab_times_between(const struct wl_pace *pace, int64_t begin_ns, int64_t end_ns,
                                       uint64_t first, uint64_t all)
{
    const double gap_ns = (double)(end_ns - begin_ns) / (double)all;
    struct lab_row_times times = {
        .first_ns = begin_ns + (int64_t)((double)first * gap_ns), .gap_ns = gap_ns, .pace = NULL};
    if (pace != NULL && pace->count > 1) {
        const double before = wl_pace_rows(pace, begin_ns);
        times.pace = pace;
        times.gap_rows = (wl_pace_rows(pace, end_ns) - before) / (double)all;
        times.first_rows = before + (double)first * times.gap_rows;
    }
    return times;
}

static void add_seam(struct lab_lane *lane, int64_t time_ns, int64_t bucket)
{
    struct lab_expected *expected = lane->expected;
    const size_t kept = expected->end - expected->begin;
    if (expected->end == expected->capacity && expected->begin > 0) {
        memmove(expected->seams, expected->seams + expected->begin, kept * sizeof *expected->seams);
        expected->begin = 0;
        expected->end = kept;
    }
    if (!sim_grow(&expected->seams, &expected->capacity, expected->end + 1, sizeof *expected->seams)) {
        lane->tally->out_of_memory = true;
        return;
    }
    expected->seams[expected->end++] =
        (struct lab_seam){expected->last_ns, time_ns, expected->last_bucket, bucket};
}

void lab_expect_follow(struct lab_lane *lane, const struct lab_row_times *times, uint64_t rows)
{
    struct lab_expected *expected = lane->expected;
    const struct lab_reads_seen *reads = expected->reads;
    const int64_t bucket = lab_open(lane)->bucket, until_ns = lab_row_time(times, rows - 1);
    const bool is_first = lane->placement.rows == rows;
    const bool is_counted = is_counted_out(lane);
    int64_t time_ns = lab_row_time(times, 0);
    time_ns = is_first || time_ns > expected->last_ns ? time_ns : expected->last_ns;
    if (!is_first && bucket != expected->last_bucket) {
        /* Some reads find rows on both sides. */
        const uint64_t until = parts_at(reads, LAB_READ_RANGE, expected->last_ns, reads->leave_ns),
                       from = parts_at(reads, LAB_READ_RANGE, time_ns, reads->enter_ns);
        expected->courses[LAB_READ_RANGE].all_filled += until > from ? until - from : 0;
    }
    if (is_counted && !is_first &&
        (bucket != expected->last_bucket || time_ns - expected->last_ns > reads->span_ns))
        add_seam(lane, time_ns, bucket);
    expected->last_bucket = bucket;
    const bool has_gaps = times->each_ns != NULL ? reads->has_gaps : times->gap_ns > (double)reads->span_ns;
    for (uint64_t i = 1; is_counted && has_gaps && i < rows; i++) {
        expected->last_ns = time_ns;
        time_ns = lab_row_time(times, i);
        if (time_ns - expected->last_ns > reads->span_ns)
            add_seam(lane, time_ns, bucket);
    }
    expected->last_ns = until_ns > time_ns ? until_ns : time_ns;
}

/* Adds rows to the open partition's numbers only; fewer, if the number wraps around. */
static void count_rows(struct lab_lane *lane, struct lab_entry *open, uint64_t rows)
{
    open->size.rows += rows;
    open->end_row += rows;
    lane->placement.rows += rows;
}

/* Goes step by step from the lane's state before these rows to its state after them, which is restored at the
 * end. */
void lab_expect_changes(struct lab_lane *lane, const struct lab_row_times *times, uint64_t rows)
{
    struct lab_expected *expected = lane->expected;
    struct lab_entry *open = lab_open(lane);
    const int64_t bucket = lane->state.bucket;
    uint64_t left = rows;
    if (open->size.rows == rows)
        expected->rows_left = 1; /* a new partition begins */
    if (lane->placement.rows == rows)
        expected->birth_bucket = open->bucket;
    if (lane->settings->strategy->kind != BK_KIND_TIME)
        lane->state.bucket = open->bucket;
    count_rows(lane, open, -rows);
    while (expected->rows_left <= left) {
        const uint64_t some = expected->rows_left;
        const int64_t time_ns = lab_row_time(times, rows - left + some - 1);
        left -= some;
        all_go_to(lane, time_ns);
        count_rows(lane, open, some);
        expected->rows_left = UINT64_MAX;
        look(lane);
    }
    count_rows(lane, open, left);
    lane->state.bucket = bucket;
    if (expected->rows_left != UINT64_MAX)
        expected->rows_left -= left;
    if (lane->settings->strategy->kind != BK_KIND_TIME && bucket != open->bucket) {
        all_go_to(lane, lab_row_time(times, rows - 1));
        look(lane);
    }
}

void lab_expect_window(struct lab_lane *lane, int64_t begin_ns)
{
    struct lab_expected *expected = lane->expected;
    const struct lab_reads_seen *reads = expected->reads;
    struct lab_course *course = &expected->courses[LAB_READ_LATEST];
    const struct lab_entry *items = &lane->book.items[lane->book.begin];
    const size_t open = lane->book.count - 1;
    const uint64_t rows = items[open].size.rows, before = lane->placement.rows - rows,
                   forgotten = lane->partition_count - lane->book.count, wanted = reads->latest_rows;
    const int64_t end_ns = begin_ns + lane->settings->strategy->of.time.window_ns;
    const struct lab_row_times times = lab_times_between(reads->pace, begin_ns, end_ns, 1, rows + 1);
    if (!expected->is_walk || before == 0 || has_reads(reads, LAB_READ_ALL)) {
        lab_expect_rows(lane, &times, rows);
        return;
    }
    if (expected->is_followed) {
        /* Some reads find rows on both sides. */
        const uint64_t until = parts_at(reads, LAB_READ_RANGE, expected->last_ns, reads->leave_ns),
                       from = parts_at(reads, LAB_READ_RANGE, times.first_ns, reads->enter_ns);
        expected->courses[LAB_READ_RANGE].all_filled += until > from ? until - from : 0;
        expected->last_bucket = items[open].bucket;
        expected->last_ns = lab_row_time(&times, rows - 1);
    }
    if (!has_reads(reads, LAB_READ_LATEST))
        return;
    size_t last = expected->last > forgotten ? (size_t)(expected->last - forgotten) : 0;
    if (course->since_ns < begin_ns)
        go_to(lane, LAB_READ_LATEST, begin_ns);
    /* As count(), all of it in registers. */
    const double parts_per_ns = reads->parts_per_ns[LAB_READ_LATEST];
    const int64_t start_ns = reads->first_ns[LAB_READ_LATEST];
    uint64_t parts = course->parts, partitions = course->partitions, filled = course->filled,
             next_partitions = partitions, step = 1;
    lab_wide all_filled = course->all_filled;
    for (int64_t until_ns = lab_row_time(&times, 0);;) {
        const uint64_t until = (uint64_t)(int64_t)((double)(until_ns - start_ns) * parts_per_ns);
        const uint64_t some = until > parts ? until - parts : 0;
        parts += some;
        all_filled += (lab_wide)some * filled;
        if (partitions < LAB_FEW_PARTITIONS)
            course->parts_of[partitions] += some;
        else
            tell(lane, LAB_READ_LATEST, partitions, some);
        if (until_ns == end_ns)
            break;
        partitions = next_partitions;
        filled += step; /* the window is not empty any more; later, the last partition is left out */
        step = UINT64_MAX;
        until_ns = end_ns;
        if (last < open && before + rows - items[last].end_row >= wanted) {
            until_ns = lab_row_time(&times, wanted - (before - items[last].end_row) - 1);
            next_partitions = (uint64_t)(items[open].bucket - items[++last].bucket) + 1;
        }
    }
    course->since_ns = end_ns;
    course->parts = parts;
    course->filled = filled;
    course->all_filled = all_filled;
    expected->last = forgotten + last;
    expected->newest = items[open].bucket;
    expected->lowest = items[last].bucket;
    course->partitions = (uint64_t)(expected->newest - expected->lowest) + 2; /* by the next window */
}

void lab_expect_cell(struct lab_lane *lane, struct lab_entry *cell, int64_t begin_ns, int64_t end_ns,
                     uint64_t rows)
{
    struct lab_course *courses = lane->expected->courses;
    const struct lab_reads_seen *reads = lane->expected->reads;
    const uint64_t before = cell->size.rows - rows;
    for (int kind = 0; before == 0 && kind < LAB_READ_KINDS; kind++) {
        if (kind != LAB_READ_RANGE && has_reads(reads, kind))
            courses[kind].all_filled +=
                after_first(reads, (enum lab_read_kind)kind, begin_ns, end_ns, rows, 1);
    }
    if (has_reads(reads, LAB_READ_LATEST) && before < reads->latest_rows) {
        const uint64_t left = reads->latest_rows - before;
        courses[LAB_READ_LATEST].all_scanned +=
            after_first(reads, LAB_READ_LATEST, begin_ns, end_ns, rows, left < rows ? left : rows);
    }
    if (has_reads(reads, LAB_READ_RANGE)) {
        cell->left = before == 0 ? 0 : cell->left;
        courses[LAB_READ_RANGE].all_filled += covered_by(reads, begin_ns, end_ns, rows, &cell->left);
    }
}

void lab_expect_end(struct lab_lane *lane, int64_t end_ns)
{
    const struct lab_expected *expected = lane->expected;
    const struct lab_reads_seen *reads = expected->reads;
    all_go_to(lane, end_ns);
    if (has_reads(reads, LAB_READ_RANGE) && lane->settings->strategy->kind == BK_KIND_TIME)
        pass_ranges(lane, end_ns);
    for (int kind = 0; kind < LAB_READ_KINDS; kind++) {
        const struct lab_course *course = &expected->courses[kind];
        if (!has_reads(reads, kind))
            continue;
        for (unsigned partitions = 0; partitions < LAB_FEW_PARTITIONS; partitions++) {
            if (course->parts_of[partitions] > 0)
                tell(lane, kind, partitions, course->parts_of[partitions]);
        }
        const bool is_kept = kind == LAB_READ_RANGE && lane->settings->strategy->kind != BK_KIND_HASH;
        const lab_wide filled = course->all_filled + (is_kept ? reads->covered : 0);
        const uint64_t empties =
            course->all_partitions > filled ? (uint64_t)(course->all_partitions - filled) : 0;
        const lab_wide scanned =
            course->all_scanned + (kind != LAB_READ_LATEST || expected->is_walk ? reads->scanned[kind] : 0);
        const uint64_t before =
            (uint64_t)((double)(reads->first_ns[kind] - reads->start_ns) * reads->parts_per_ns[kind]);
        struct lab_read_tally *tallies[] = {&lane->tally->reads, &lane->tally->reads_of[kind]};
        for (int i = 0; i < (lab_read_kind_count(lane->settings->scenario) > 1 ? 2 : 1); i++) {
            tallies[i]->empties += empties;
            tallies[i]->scanned += scanned;
            tallies[i]->before += before;
        }
    }
}
