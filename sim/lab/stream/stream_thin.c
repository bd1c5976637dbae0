/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Divides a key's rows into stretches. They are cut where the rate changes, at reads, where rows become too
 * old to exist at the end, and where a stretch is so long that progress would not be visible. */
#include <stdio.h>

#include "kernel/time.h"
#include "lab/gone.h"
#include "thin.h"

/* A stretch of more than PIECE_ROWS rows is cut into at most PIECES pieces, so that all counts stay far below
 * SIM_COUNT_MAX. There are few pieces, because each of them costs a strategy one draw per bucket. */
#define PIECE_ROWS 0x1p24
#define PIECES     256

void lab_thin_prepare(const struct lab_lane_settings *settings, uint64_t bytes_each,
                      struct lab_worker *worker, struct lab_thin *out)
{
    const struct bk_strategy *strategy = settings->strategy;
    double chance = 0;
    *out = (struct lab_thin){.goes_by_time = strategy->kind == BK_TIME || strategy->max_age_ns != 0,
                             .can_fire = bk_kind_fires(strategy->kind),
                             .bytes_each = bytes_each,
                             .worker = worker};
    for (uint32_t i = 0; i < worker->stamps.count; i++)
        out->row_bytes[i] = lab_row_bytes(&worker->scenario->row_cost, bytes_each, worker->stamps.bytes[i]);
    if (!out->can_fire)
        return;
    if (strategy->kind == BK_WEIGHTED) {
        uint64_t unit = strategy->of.weighted.bytes;
        out->fires_always = bytes_each >= unit;
        chance = out->fires_always ? 1 : (double)bytes_each / (double)unit;
        out->quiet = UINT64_MAX;
    } else if (strategy->of.probabilistic.chance_denominator != 0) {
        chance = (double)strategy->of.probabilistic.chance_numerator /
                 (double)strategy->of.probabilistic.chance_denominator;
        out->quiet = UINT64_MAX;
    } else {
        chance = 1 / (double)(UINT64_C(1) << strategy->of.probabilistic.bits);
        out->firing = UINT64_MAX;
    }
    if (!out->goes_by_time && !out->fires_always)
        out->threshold = bk_threshold(strategy);
    sim_trials_init(&out->trials, chance);
}

void lab_thin_begin(struct lab_thin_walk *walk, const struct lab_worker *worker, struct lab_thin *thins,
                    const struct lab_key_name *name)
{
    const struct wl_workload *workload = &worker->scenario->workload;
    wl_key_init(&walk->arrivals, workload, name->index);
    walk->steady = (struct wl_stretch){workload->start_ns, workload->start_ns, 0};
    walk->begin_ns = workload->start_ns;
    sim_random_init(&walk->counts, workload->seed, SIM_THIN_ROWS, name->index);
    for (size_t i = 0; i < worker->lane_count; i++) {
        sim_random_init(&thins[i].draws, workload->seed, SIM_THIN_LANE, name->index);
        thins[i].over = lab_over_bound(worker->scenario, name);
        thins[i].to_fire = 0;
    }
}

/* Returns the length of the pieces of a stretch. */
static int64_t piece_of(const struct wl_stretch *steady)
{
    double length = (double)(steady->end_ns - steady->begin_ns), rows = length * steady->rate_per_ns;
    if (rows <= PIECE_ROWS)
        return steady->end_ns - steady->begin_ns;
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

/* Begins the rows up to the end of the piece. The key's first row is a piece of its own: readers go back to
 * it, so its time must be the same for all strategies. */
static void begin_piece(struct lab_thin_walk *walk, struct lab_key *key, struct lab_worker *worker,
                        struct lab_lane *lanes, struct lab_thin *thins, const struct lab_key_name *name,
                        int64_t piece_ns)
{
    const struct wl_stretch *steady = &walk->steady;
    const int64_t gone_ns = gone_before(worker->scenario), begin_ns = walk->begin_ns;
    int64_t end_ns = steady->end_ns - begin_ns > piece_ns ? begin_ns + piece_ns : steady->end_ns;
    if (key->next_read_ns < end_ns)
        end_ns = key->next_read_ns + 1; /* a read includes rows of its own nanosecond */
    if (begin_ns < gone_ns && gone_ns < end_ns)
        end_ns = gone_ns;
    if (worker->disk.window_ns != 0 && lab_disk_until(&worker->disk, begin_ns) < end_ns)
        end_ns = lab_disk_until(&worker->disk, begin_ns);
    struct lab_stretch *piece = &walk->piece;
    *piece = (struct lab_stretch){begin_ns, end_ns, key->rows, 0, end_ns <= gone_ns};
    piece->rows = sim_poisson(&walk->counts, (double)(end_ns - begin_ns) * steady->rate_per_ns);
    uint64_t rows = piece->rows;
    if (key->rows == 0 && rows > 0) {
        struct sim_random draws;
        sim_random_init(&draws, worker->scenario->seed, SIM_THIN_BIRTH, name->index);
        key->birth_ns = lab_thin_place(&draws, begin_ns, end_ns, 1, rows);
        worker->keys++;
        struct lab_stretch first = {key->birth_ns, key->birth_ns, 0, 1, piece->is_gone};
        for (size_t i = 0; i < worker->lane_count; i++)
            lab_lane_stretch(&lanes[i], &worker->settings[i], &thins[i], &worker->tallies[i], name, &first);
        piece->begin_ns = key->birth_ns;
        piece->first_row++;
        piece->rows--;
    }
    key->rows += rows;
    const uint64_t bytes = lab_thin_bytes(&thins[0], begin_ns, end_ns, rows, NULL);
    lab_bytes_add(&key->bytes, bytes);
    if (worker->disk.window_ns != 0 && rows > 0)
        lab_key_store(key, worker, begin_ns, rows, bytes);
    worker->rows += rows;
    lab_worker_tell(worker, rows, rows);
}

static bool run_lanes(struct lab_thin_walk *walk, struct lab_lane *lanes, struct lab_worker *worker,
                      struct lab_thin *thins, const struct lab_key_name *name)
{
    for (size_t i = 0; i < worker->lane_count; i++) {
        if (!lab_lane_stretch(&lanes[i], &worker->settings[i], &thins[i], &worker->tallies[i], name,
                              &walk->piece))
            return false;
    }
    return true;
}

static void end_piece(struct lab_thin_walk *walk, struct lab_key *key, struct lab_lane *lanes,
                      struct lab_worker *worker)
{
    while (key->next_read_ns < walk->piece.end_ns)
        lab_key_read(key, lanes, worker);
    walk->begin_ns = walk->piece.end_ns;
}

bool lab_thin_go(struct lab_thin_walk *walk, struct lab_key *key, struct lab_lane *lanes,
                 struct lab_worker *worker, struct lab_thin *thins, const struct lab_key_name *name)
{
    struct wl_stretch *steady = &walk->steady;
    do {
        const int64_t piece_ns = piece_of(steady);
        while (walk->begin_ns < steady->end_ns) {
            begin_piece(walk, key, worker, lanes, thins, name, piece_ns);
            if (!run_lanes(walk, lanes, worker, thins, name))
                return false;
            end_piece(walk, key, lanes, worker);
            if (lab_worker_is_stopped(worker))
                return false;
        }
        if (!wl_key_stretch(&walk->arrivals, steady))
            return true;
        walk->begin_ns = steady->begin_ns;
    } while (true);
}
