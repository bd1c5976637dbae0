/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conserved, rows that expire. A row's time to live, in whole seconds and rounded up, begins in the
 * second in which its coordinator takes the first put: not before its operation began, nor after a replica
 * stored it. So the rows of each key are counted per second: those begun, those begun and acknowledged, and
 * those stored. A row that was begun one time to live ago may have expired, and a row that was stored then
 * has expired. The number of expired rows that the cluster reports is between these two counts. A read finds
 * at most the rows that may be left and, if rows are findable, at least those that certainly are. Seconds
 * whose rows have all expired are merged, so a key has at most as many records as a time to live has seconds.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "events.h"
#include "kernel/grow.h"
#include "kernel/time.h"
#include "oracles.h"

/* A read that takes longer is not judged. */
#define READ_LASTS_S 60

struct second {
    int64_t second;
    uint64_t begun, acknowledged, stored;
};

struct lab_lives {
    struct second *seconds; /* in ascending order */
    size_t count, capacity;
    struct second before; /* the sum of all older seconds */
};

static bool begin(struct lab_cluster_run *run, void **state)
{
    *state = run;
    run->oracles.lives = calloc(run->key_count, sizeof *run->oracles.lives);
    return run->oracles.lives != NULL || run->key_count == 0;
}

static void destroy(void *state)
{
    struct lab_oracles *oracles = &((struct lab_cluster_run *)state)->oracles;
    for (uint32_t i = 0; oracles->lives != NULL && i < oracles->key_count; i++)
        free(oracles->lives[i].seconds);
    free(oracles->lives);
    oracles->lives = NULL;
}

static void add(struct second *into, const struct second *more)
{
    into->begun += more->begun;
    into->acknowledged += more->acknowledged;
    into->stored += more->stored;
}

static int64_t now_s(const struct lab_cluster_run *run)
{
    return sim_queue_now(&run->queue) / SIM_SECOND;
}

/* Returns the second by which rows that began in this second or earlier have expired. */
static int64_t gone_by(const struct lab_cluster_run *run, int64_t second)
{
    return second - (run->scenario->row_ttl_ns + SIM_SECOND - 1) / SIM_SECOND;
}

/* Merges the expired seconds into one, if they are at least half of all and the reads of that time have
 * ended. */
static void compact(const struct lab_cluster_run *run, struct lab_lives *lives)
{
    size_t gone = 0;
    int64_t last = gone_by(run, now_s(run) - READ_LASTS_S);
    while (gone < lives->count && lives->seconds[gone].second <= last)
        gone++;
    if (gone < 16 || gone < lives->count / 2)
        return;
    for (size_t i = 0; i < gone; i++)
        add(&lives->before, &lives->seconds[i]);
    lives->before.second = lives->seconds[gone - 1].second;
    for (size_t i = gone; i < lives->count; i++)
        lives->seconds[i - gone] = lives->seconds[i];
    lives->count -= gone;
}

/* Returns the record of a second, usually the last one; NULL when out of memory. */
static struct second *second_of(struct lab_cluster_run *run, uint32_t key, int64_t time_ns)
{
    struct lab_lives *lives = &run->oracles.lives[key];
    int64_t second = time_ns / SIM_SECOND;
    compact(run, lives);
    size_t at = lives->count;
    for (; at > 0 && lives->seconds[at - 1].second >= second; at--) {
        if (lives->seconds[at - 1].second == second)
            return &lives->seconds[at - 1];
    }
    if (at == 0 && (lives->before.begun | lives->before.stored) != 0 && second <= lives->before.second)
        return &lives->before;
    if (!sim_grow(&lives->seconds, &lives->capacity, lives->count + 1, sizeof *lives->seconds)) {
        run->out_of_memory = true;
        return NULL;
    }
    for (size_t i = lives->count++; i > at; i--)
        lives->seconds[i] = lives->seconds[i - 1];
    lives->seconds[at] = (struct second){.second = second};
    return &lives->seconds[at];
}

/* Returns the sum over the seconds at least one time to live before this one, or over all others. */
static struct second sum_of(const struct lab_cluster_run *run, uint32_t key, int64_t by_s, bool is_gone)
{
    const struct lab_lives *lives = &run->oracles.lives[key];
    struct second sum = {0};
    if (is_gone)
        sum = lives->before;
    for (size_t i = 0; i < lives->count; i++) {
        if ((lives->seconds[i].second <= gone_by(run, by_s)) == is_gone)
            add(&sum, &lives->seconds[i]);
    }
    return sum;
}

uint64_t lab_lives_left(const struct lab_cluster_run *run, uint32_t key)
{
    return run->oracles.lives == NULL ? 0 : sum_of(run, key, now_s(run), false).acknowledged;
}

static void read_ended(struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    int64_t begun_s = operation->begun_ns / SIM_SECOND;
    if (now_s(run) - begun_s >= READ_LASTS_S)
        return;
    uint64_t most = sum_of(run, operation->key, begun_s, false).stored;
    if (operation->done.rows > most)
        lab_violate(run, LAB_ORACLE_CONSERVED, operation->key, 1,
                    "a read found %" PRIu64 " rows, but only %" PRIu64 " had not expired when it began",
                    operation->done.rows, most);
}

void lab_expired_end(struct lab_cluster_run *run, uint64_t expired)
{
    struct second gone = {0};
    for (uint32_t i = 0; run->oracles.lives != NULL && i < run->oracles.key_count; i++) {
        struct second sum = sum_of(run, i, now_s(run), true);
        add(&gone, &sum);
    }
    if (run->oracles.lives != NULL && (expired < gone.stored || expired > gone.begun))
        lab_violate(run, LAB_ORACLE_CONSERVED, LAB_NO_KEY, 1,
                    "%" PRIu64 " rows have expired, and of %" PRIu64 " begun a time to live ago %" PRIu64
                    " were stored by then",
                    expired, gone.begun, gone.stored);
}

static void hear(struct lab_cluster_run *run, void *state, const struct cluster_event *event)
{
    const struct lab_host_operation *operation = event->operation;
    (void)state;
    if (event->kind == CLUSTER_ENDED) {
        if (operation->is_read &&
            (event->action->status == BK_OPERATION_OK || event->action->status == BK_OPERATION_TOO_LONG))
            read_ended(run, operation);
        return;
    }
    if (event->kind == CLUSTER_PLACED && operation->bucket == event->bucket)
        return; /* it is put there again */
    struct second *second =
        second_of(run, event->key,
                  event->kind == CLUSTER_ROW_STORED ? sim_queue_now(&run->queue) : operation->begun_ns);
    if (second == NULL)
        return;
    second->begun += event->kind == CLUSTER_PLACED;
    second->acknowledged += event->kind == CLUSTER_ACKNOWLEDGED;
    second->stored += event->kind == CLUSTER_ROW_STORED;
}

static uint64_t wants(const struct lab_cluster_run *run)
{
    return run->idgen == NULL && run->scenario->row_ttl_ns > 0
               ? CLUSTER_WANTS(PLACED) | CLUSTER_WANTS(ACKNOWLEDGED) | CLUSTER_WANTS(ROW_STORED) |
                     CLUSTER_WANTS(ENDED)
               : 0;
}

const struct cluster_observer cluster_expired = {
    .name = "expired", .wants = wants, .begin = begin, .on_event = hear, .destroy = destroy};
