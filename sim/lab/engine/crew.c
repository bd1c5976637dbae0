/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs numbered jobs on threads and ranks, and collects their results in order. */
#include "lab/crew.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "kernel/thread.h"

/* The number of jobs per thread that may be ahead of the slowest job. */
#define AHEAD_EACH 8u

/* The result of a job, until it is its turn to be delivered. */
struct slot {
    bool is_full, is_fine;
    void *made;
    struct sim_error error;
};

struct crew {
    const struct lab_crew *jobs;
    struct lab_progress *progress; /* the caller's; may be NULL */
    struct lab_progress inner;     /* progress of all jobs; its `stop` ends them */
    pthread_mutex_t lock;
    pthread_cond_t turned; /* a slot became free or full, or all jobs are over */
    struct slot *slots;
    uint32_t hands; /* a hand that is ahead stops when no more jobs than this are left */
    uint64_t ahead; /* number of slots */
    uint64_t next;  /* next job to start */
    uint64_t taken; /* jobs before this one were delivered */
    bool is_taking; /* a thread is in take(), without the lock */
    bool is_far;    /* other ranks work on jobs: only the calling thread delivers results, since a rank waits
                       for its next job meanwhile, and storing may wait for the disk */
    bool is_over;
    bool is_fine;
    struct sim_error error;
};

/* A thread, and the rank on which its jobs run: this one, or another for which it waits. */
struct hand {
    struct crew *crew;
    pthread_t thread;
    uint32_t rank;
    bool is_ahead; /* calls the rank while it is busy, unless few jobs are left */
};

/* Makes the hands: first those of this rank, then the first of each other rank, then the second of each, and
 * so on; at most one per job. If there are more jobs, each other rank has one hand more, so that its next job
 * is there when one ends. */
static struct hand *make_hands(struct crew *crew, uint32_t threads, uint32_t *count)
{
    const struct lab_team *team = crew->jobs->work_far == NULL ? NULL : crew->jobs->team;
    uint32_t ranks = lab_team_count(team), most = 0, made = 0;
    uint64_t all = threads;
    for (uint32_t rank = 1; rank < ranks; rank++) {
        uint32_t there = lab_team_threads(team, rank);
        most = there > most ? there : most;
        all += there;
    }
    if (all > crew->jobs->count)
        all = crew->jobs->count;
    struct hand *hands = calloc(all + ranks, sizeof *hands);
    for (uint32_t i = 0; hands != NULL && i < threads && made < all; i++)
        hands[made++].crew = crew;
    for (uint32_t nth = 0; hands != NULL && nth < most; nth++) {
        for (uint32_t rank = 1; rank < ranks && made < all; rank++) {
            if (lab_team_threads(team, rank) > nth)
                hands[made++] = (struct hand){.crew = crew, .rank = rank};
        }
    }
    for (uint32_t rank = 1; hands != NULL && rank < ranks && all < crew->jobs->count; rank++)
        hands[made++] = (struct hand){.crew = crew, .rank = rank, .is_ahead = true};
    *count = made;
    return hands;
}

static bool begin(struct crew *crew, uint32_t hands, struct sim_error *error)
{
    crew->inner.parent = crew->progress;
    crew->hands = hands;
    crew->ahead = (uint64_t)hands * AHEAD_EACH;
    crew->slots = calloc(crew->ahead, sizeof *crew->slots);
    if (crew->slots == NULL)
        return sim_fail_memory(error);
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->turned, NULL);
    return true;
}

/* Ends the jobs in progress too, since their results are not needed. */
static void stop(struct crew *crew)
{
    crew->is_over = true;
    crew->inner.stop = true;
    pthread_cond_broadcast(&crew->turned);
}

static bool take_up(struct crew *crew, bool is_ahead, uint64_t *job)
{
    pthread_mutex_lock(&crew->lock);
    while (!crew->is_over && crew->next < crew->jobs->count && crew->next - crew->taken >= crew->ahead)
        pthread_cond_wait(&crew->turned, &crew->lock);
    if (lab_is_stopped(crew->progress))
        stop(crew);
    const uint64_t left = crew->jobs->count - crew->next;
    bool is_left = !crew->is_over && left > (is_ahead ? crew->hands : 0);
    *job = crew->next;
    if (is_left)
        crew->next++;
    pthread_mutex_unlock(&crew->lock);
    return is_left;
}

static void do_job(struct crew *crew, uint32_t rank, uint64_t job, struct slot *slot)
{
    const struct lab_crew *jobs = crew->jobs;
    slot->is_fine = rank == 0
                        ? jobs->work(jobs->context, job, &crew->inner, &slot->made, &slot->error)
                        : jobs->work_far(jobs->context, job, rank, &crew->inner, &slot->made, &slot->error);
}

/* Delivers finished jobs in order, up to the first unfinished one. One thread at a time does this, and
 * releases the lock meanwhile, so that others continue. */
static void hand_over(struct crew *crew)
{
    struct slot *slot;
    while (!crew->is_taking && !crew->is_over && (slot = &crew->slots[crew->taken % crew->ahead])->is_full) {
        struct slot mine = *slot;
        bool is_enough = false, is_fine = mine.is_fine;
        *slot = (struct slot){0};
        crew->is_taking = true;
        pthread_mutex_unlock(&crew->lock);
        if (is_fine)
            is_fine = crew->jobs->take(crew->jobs->context, crew->taken, mine.made, &is_enough, &mine.error);
        else if (mine.made != NULL)
            crew->jobs->drop(mine.made);
        pthread_mutex_lock(&crew->lock);
        crew->is_taking = false;
        if (!is_fine) {
            /* A job that was ended by a stop has not failed. */
            crew->is_fine = !mine.is_fine && lab_is_stopped(crew->progress);
            crew->error = mine.error;
            stop(crew);
            return;
        }
        crew->taken++;
        if (crew->progress != NULL)
            crew->progress->done = crew->progress->rows = crew->taken;
        if (is_enough)
            stop(crew);
        pthread_cond_broadcast(&crew->turned);
    }
}

static void *work(void *argument)
{
    const struct hand *hand = argument;
    struct crew *crew = hand->crew;
    uint64_t job;
    while (take_up(crew, hand->is_ahead, &job)) {
        struct slot slot = {.is_full = true};
        do_job(crew, hand->rank, job, &slot);
        pthread_mutex_lock(&crew->lock);
        crew->slots[job % crew->ahead] = slot;
        if (crew->is_far)
            pthread_cond_broadcast(&crew->turned);
        else
            hand_over(crew);
        pthread_mutex_unlock(&crew->lock);
    }
    return NULL;
}

/* Delivers all results. */
static void hand_over_all(struct crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    while (!crew->is_over && crew->taken < crew->jobs->count) {
        if (!crew->slots[crew->taken % crew->ahead].is_full)
            pthread_cond_wait(&crew->turned, &crew->lock);
        hand_over(crew);
    }
    pthread_mutex_unlock(&crew->lock);
}

/* Works even if only one thread could be started. */
static bool run(struct crew *crew, struct hand *hands, uint32_t count, struct sim_error *error)
{
    uint32_t made = 0;
    while (made < count && sim_thread_start(&hands[made].thread, work, &hands[made]) == 0)
        made++;
    if (crew->is_far && made > 0)
        hand_over_all(crew);
    for (uint32_t i = 0; i < made; i++)
        pthread_join(hands[i].thread, NULL);
    return made > 0 ||
           sim_fail(error, SIM_ERROR_ENVIRONMENT, "cannot start a thread; end other programs first");
}

static void drop_rest(struct crew *crew)
{
    for (uint64_t i = 0; i < crew->ahead; i++) {
        if (crew->slots[i].is_full && crew->slots[i].made != NULL)
            crew->jobs->drop(crew->slots[i].made);
    }
}

bool lab_crew_run(const struct lab_crew *jobs, uint32_t threads, struct lab_progress *progress,
                  uint64_t *taken, struct sim_error *error)
{
    assert(threads >= 1);
    struct crew crew = {.jobs = jobs, .progress = progress, .is_fine = true};
    *taken = 0;
    if (progress != NULL)
        progress->total = jobs->is_open ? 0 : jobs->count;
    if (jobs->count == 0)
        return true;
    uint32_t count;
    struct hand *hands = make_hands(&crew, threads, &count);
    crew.is_far = hands != NULL && hands[count - 1].rank != 0;
    if (hands == NULL || !begin(&crew, count, error)) {
        free(hands);
        return sim_fail_memory(error);
    }
    bool is_fine = run(&crew, hands, count, error);
    drop_rest(&crew);
    free(hands);
    free(crew.slots);
    pthread_cond_destroy(&crew.turned);
    pthread_mutex_destroy(&crew.lock);
    *taken = crew.taken;
    if (is_fine && !crew.is_fine)
        *error = crew.error;
    return is_fine && crew.is_fine;
}
