/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs numbered jobs on threads and ranks, and collects their results in order. */
#include "lab/crew.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

/* The number of jobs per thread that may be ahead of the slowest job; more if ranks hand over their results
 * only now and then. */
#define AHEAD_EACH      8u
#define AHEAD_EACH_TEAM 64u
#define AHEAD_TEAM      1024u

/* The result of a job, until it is its turn to be delivered or it is handed over. */
struct slot {
    bool is_full, is_fine;
    void *made;
    struct sim_error error;
};

struct crew {
    const struct lab_crew *jobs;
    struct lab_progress *progress; /* the caller's; may be NULL */
    struct lab_progress inner;     /* progress of all jobs; its `stop` ends them */
    struct lab_joint joint;        /* its team is NULL if only this rank works */
    pthread_mutex_t lock;
    pthread_cond_t turned; /* a slot became free, or all jobs are over */
    struct slot *slots;
    uint64_t ahead; /* number of slots */
    uint64_t taken; /* jobs before this one were delivered; on other ranks, as of the last round */
    uint64_t end;   /* the end of the jobs that were done here */
    bool is_taking; /* a thread is in take(), without the lock */
    bool is_over;
    bool is_fine;
    struct sim_error error;
};

/* Ends the jobs in progress too, since their results are not needed. */
static void stop(struct crew *crew)
{
    crew->is_over = true;
    crew->inner.stop = true;
    pthread_cond_broadcast(&crew->turned);
}

static bool take_up(struct crew *crew, uint64_t *job)
{
    *job = lab_joint_draw(&crew->joint);
    pthread_mutex_lock(&crew->lock);
    while (!crew->is_over && *job < crew->jobs->count && *job - crew->taken >= crew->ahead)
        pthread_cond_wait(&crew->turned, &crew->lock);
    if (lab_is_stopped(crew->progress))
        stop(crew);
    bool is_left = !crew->is_over && *job < crew->jobs->count;
    pthread_mutex_unlock(&crew->lock);
    return is_left;
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
        if (crew->progress != NULL && !crew->jobs->is_part)
            crew->progress->done = crew->progress->rows = crew->taken;
        if (is_enough)
            stop(crew);
        pthread_cond_broadcast(&crew->turned);
    }
}

static void work(void *context, uint32_t thread)
{
    struct crew *crew = context;
    uint64_t job;
    (void)thread;
    while (take_up(crew, &job)) {
        struct slot slot = {.is_full = true};
        slot.is_fine = crew->jobs->work(crew->jobs->context, job, &crew->inner, &slot.made, &slot.error);
        pthread_mutex_lock(&crew->lock);
        crew->slots[job % crew->ahead] = slot;
        crew->end = job + 1 > crew->end ? job + 1 : crew->end;
        if (crew->joint.team == NULL) /* with other ranks, jobs are delivered after each round */
            hand_over(crew);
        pthread_mutex_unlock(&crew->lock);
        if (crew->joint.team != NULL && !slot.is_fine)
            ranks_close(crew->joint.team->ranks);
    }
}

/* A job of another rank. */
static void archive_slot(const struct crew *crew, struct slot *slot, struct sim_archive *archive)
{
    uint32_t class = slot->error.class;
    sim_archive_bool(archive, &slot->is_fine);
    if (slot->is_fine) {
        crew->jobs->archive(crew->jobs->context, &slot->made, archive);
    } else {
        sim_archive_u32(archive, &class);
        sim_archive_bytes(archive, slot->error.text, sizeof slot->error.text);
        slot->error.class = (enum sim_error_class) class;
        slot->error.text[sizeof slot->error.text - 1] = '\0';
    }
}

/* Of another rank: saves the jobs that are done. */
static bool give(void *context, struct sim_archive *archive)
{
    struct crew *crew = context;
    uint64_t count = 0;
    for (uint64_t job = crew->taken; job < crew->end; job++)
        count += crew->slots[job % crew->ahead].is_full;
    sim_archive_u64(archive, &count);
    for (uint64_t job = crew->taken; count > 0 && job < crew->end; job++) {
        struct slot *slot = &crew->slots[job % crew->ahead];
        if (!slot->is_full)
            continue;
        if (!slot->is_fine)
            lab_team_name_rank(crew->joint.team, &slot->error);
        sim_archive_u64(archive, &job);
        archive_slot(crew, slot, archive);
        if (slot->made != NULL)
            crew->jobs->drop(slot->made);
        *slot = (struct slot){0};
    }
    return count > 0;
}

/* The mark is the number of delivered jobs. */
static bool turn(void *context, uint64_t *mark)
{
    struct crew *crew = context;
    if (ranks_own(crew->joint.team->ranks) == 0) {
        pthread_mutex_lock(&crew->lock);
        hand_over(crew);
        pthread_mutex_unlock(&crew->lock);
        *mark = crew->taken;
    }
    crew->taken = *mark;
    crew->joint.limit = *mark + crew->ahead;
    return !crew->is_over;
}

static void take(void *context, struct sim_archive *archive)
{
    struct crew *crew = context;
    uint64_t count, job;
    sim_archive_u64(archive, &count);
    for (uint64_t i = 0; i < count && sim_archive_is_fine(archive); i++) {
        struct slot slot = {.is_full = true};
        sim_archive_u64(archive, &job);
        archive_slot(crew, &slot, archive);
        if (sim_archive_is_fine(archive))
            crew->slots[job % crew->ahead] = slot;
        else if (slot.made != NULL)
            crew->jobs->drop(slot.made);
    }
}

static void more(void *context, struct sim_archive *archive)
{
    const struct lab_crew *jobs = ((struct crew *)context)->jobs;
    jobs->more(jobs->context, archive);
}

bool lab_crew_run(const struct lab_crew *jobs, uint32_t threads, struct lab_progress *progress,
                  uint64_t *taken, struct sim_error *error)
{
    assert(threads >= 1);
    struct crew crew = {.jobs = jobs, .progress = progress, .inner = {.parent = progress}, .is_fine = true};
    *taken = 0;
    if (progress != NULL && !jobs->is_part)
        progress->total = jobs->is_open ? 0 : jobs->count;
    if (jobs->count == 0)
        return true;
    if (threads > jobs->count)
        threads = (uint32_t)jobs->count;
    crew.ahead = (uint64_t)threads * AHEAD_EACH;
    crew.joint = (struct lab_joint){.context = &crew,
                                    .order = jobs->order,
                                    .more = jobs->more == NULL ? NULL : more,
                                    .work = work,
                                    .progress = jobs->is_part ? progress : &crew.inner,
                                    .has_one_round = jobs->is_part,
                                    .give = give,
                                    .take = take,
                                    .turn = turn};
    if (lab_team_count(jobs->team) > 1) {
        crew.joint.team = jobs->team;
        crew.ahead = (uint64_t)lab_team_all_threads(jobs->team) * AHEAD_EACH_TEAM + AHEAD_TEAM;
    }
    crew.joint.limit = crew.ahead;
    crew.slots = calloc(crew.ahead, sizeof *crew.slots);
    pthread_mutex_init(&crew.lock, NULL);
    pthread_cond_init(&crew.turned, NULL);
    const bool is_fine =
        (crew.slots != NULL || sim_fail_memory(error)) && lab_joint_run(&crew.joint, threads, error);
    pthread_cond_destroy(&crew.turned);
    pthread_mutex_destroy(&crew.lock);
    for (uint64_t i = 0; crew.slots != NULL && i < crew.ahead; i++) {
        if (crew.slots[i].is_full && crew.slots[i].made != NULL)
            jobs->drop(crew.slots[i].made);
    }
    free(crew.slots);
    *taken = crew.joint.team != NULL && ranks_own(jobs->team->ranks) != 0 ? jobs->count : crew.taken;
    if (is_fine && !crew.is_fine)
        *error = crew.error;
    return is_fine && crew.is_fine;
}
