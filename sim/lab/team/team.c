/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads of one rank or of several that work together. In: an order, and what each rank's work hands over.
 * Out: all of it on rank 0, or the first error; of numbered jobs, the results in order. */
#include "lab/team.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "kernel/file.h"

#define ORDER_KIND UINT64_C(0x6f72646572)
#define WORK_KIND  UINT64_C(0x776f726b)

uint32_t lab_team_threads(const struct lab_team *team, uint32_t rank)
{
    return team->threads > 0 ? team->threads : ranks_threads(team->ranks, rank);
}

uint32_t lab_team_all_threads(const struct lab_team *team)
{
    uint32_t all = 0;
    for (uint32_t rank = 0; rank < lab_team_count(team); rank++)
        all += lab_team_threads(team, rank);
    return all;
}

const struct lab_team *lab_team_for(const struct lab_scenario *scenario,
                                    const struct lab_run_context *context)
{
    bool is_shared = context->progress != NULL && context->event_trace == NULL &&
                     scenario->trace_path == NULL && lab_team_count(context->team) > 1;
    return is_shared ? context->team : NULL;
}

struct lab_order lab_order_of(enum lab_service service, const struct lab_scenario *scenario)
{
    return (struct lab_order){.service = service,
                              .path = scenario->path,
                              .text = scenario->text,
                              .overrides = scenario->overrides,
                              .seed = scenario->seed};
}

static void archive_order(struct lab_order *order, struct sim_archive *archive)
{
    uint32_t service = order->service;
    sim_archive_u32_below(archive, &service, LAB_SERVICES);
    order->service = (enum lab_service)service;
    sim_archive_u32(archive, &order->threads);
    sim_archive_text(archive, &order->path);
    sim_archive_text(archive, &order->text);
    sim_archive_text(archive, &order->overrides);
    sim_archive_u64(archive, &order->seed);
    sim_archive_u64(archive, &order->first);
}

/* Rank 0: sends the order. */
static bool begin(const struct lab_joint *joint, struct sim_error *error)
{
    const struct lab_team *team = joint->team;
    struct sim_archive archive;
    struct ranks_bytes bytes;
    if (ranks_own(team->ranks) != 0)
        return true;
    joint->order->threads = team->threads;
    joint->order->first = joint->next;
    sim_archive_begin_save(&archive, ORDER_KIND);
    archive_order(joint->order, &archive);
    if (joint->more != NULL)
        joint->more(joint->context, &archive);
    bool is_fine = sim_archive_finish_save(&archive, &bytes.data, &bytes.size, error);
    if (is_fine)
        ranks_share(team->ranks, &bytes, joint->next); /* a rank that is lost is noticed at the gathering */
    free(bytes.data);
    return is_fine;
}

static void name_rank(const struct lab_team *team, struct sim_error *error)
{
    const struct sim_error inner = *error;
    const uint32_t own = ranks_own(team->ranks);
    sim_fail(error, inner.class, "%s (on rank %u, %s)", inner.text, (unsigned)own,
             ranks_host(team->ranks, own));
}

/* Ends loading what came from another rank: the errors of an archive are of saved states. */
static bool finish_load(struct sim_archive *archive, bool is_begun, struct sim_error *error)
{
    struct sim_error inner = {0};
    if (is_begun && sim_archive_finish_load(archive, &inner))
        return true;
    if (is_begun && inner.class == SIM_ERROR_ENVIRONMENT)
        return sim_fail_memory(error);
    return sim_fail(error, SIM_ERROR_ENVIRONMENT,
                    "what a rank has sent came damaged; start the same command again");
}

static void archive_error(struct sim_error *error, struct sim_archive *archive)
{
    uint32_t class = error->class;
    sim_archive_u32_below(archive, &class, SIM_ERROR_ENVIRONMENT + 1);
    sim_archive_bytes(archive, error->text, sizeof error->text);
    error->class = (enum sim_error_class) class;
    error->text[sizeof error->text - 1] = '\0';
}

/* What another rank hands over: its error, or its progress and what it has done. */
static void archive_work(struct lab_joint *joint, struct sim_error *error, struct sim_archive *archive)
{
    struct lab_progress none = {0}, *progress = joint->progress == NULL ? &none : joint->progress;
    uint64_t done = archive->is_loading ? 0 : atomic_exchange(&progress->done, 0),
             rows = archive->is_loading ? 0 : atomic_exchange(&progress->rows, 0);
    archive_error(error, archive);
    sim_archive_u64(archive, &done);
    sim_archive_u64(archive, &rows);
    if (archive->is_loading) {
        atomic_fetch_add_explicit(&progress->done, done, memory_order_relaxed);
        atomic_fetch_add_explicit(&progress->rows, rows, memory_order_relaxed);
    }
    if (error->class == SIM_ERROR_NONE && sim_archive_is_fine(archive))
        joint->archive(joint->context, archive);
}

/* On rank 0, of another rank; no bytes: it had no memory to save them. */
static void receive(void *context, const struct ranks_bytes *bytes)
{
    struct lab_joint *joint = context;
    struct sim_archive archive;
    struct sim_error theirs = {0}, damage = {0};
    bool is_begun = sim_archive_begin_load(&archive, bytes->data, bytes->size, WORK_KIND, NULL);
    if (is_begun)
        archive_work(joint, &theirs, &archive);
    if (bytes->size == 0)
        sim_fail_memory(&theirs);
    else if (!finish_load(&archive, is_begun, &damage))
        theirs = damage;
    if (joint->failed.class == SIM_ERROR_NONE)
        joint->failed = theirs;
}

static bool joint_is_stopped(const void *context)
{
    return lab_is_stopped(((const struct lab_joint *)context)->progress);
}

/* Hands over to rank 0. */
static void meet(struct lab_joint *joint)
{
    struct ranks *ranks = joint->team->ranks;
    struct ranks_bytes mine = {0};
    struct sim_archive archive;
    struct sim_error failed = joint->failed, ignored;
    if (ranks_own(ranks) != 0) {
        if (failed.class != SIM_ERROR_NONE)
            name_rank(joint->team, &failed);
        sim_archive_begin_save(&archive, WORK_KIND);
        archive_work(joint, &failed, &archive);
        sim_archive_finish_save(&archive, &mine.data, &mine.size, &ignored);
    }
    if (!ranks_gather(ranks, &mine, receive, joint_is_stopped, joint, &failed))
        joint->failed = failed;
    free(mine.data);
}

struct thread {
    struct lab_joint *joint;
    uint32_t number;
    pthread_t handle;
};

static void *thread_main(void *argument)
{
    struct thread *thread = argument;
    thread->joint->work(thread->joint->context, thread->number);
    thread->joint->working--;
    return NULL;
}

/* Does the work on the threads of this rank. */
static void work_here(struct lab_joint *joint, struct thread *threads, uint32_t count)
{
    const bool is_attended = joint->team != NULL && ranks_own(joint->team->ranks) == 0;
    const uint32_t first = is_attended ? 0 : 1; /* the calling thread is number 0, or lets the others draw */
    uint32_t made = first;
    joint->working = count - first;
    for (; made < count; made++) {
        threads[made] = (struct thread){.joint = joint, .number = made};
        if (sim_thread_start(&threads[made].handle, thread_main, &threads[made]) != 0)
            break;
    }
    joint->working -= count - made;
    if (!is_attended || made == 0) /* the calling thread does the work of those that cannot be started */
        joint->work(joint->context, 0);
    while (is_attended && joint->working > 0) {
        if (ranks_rest(joint->team->ranks) && joint->may_end_early && joint->next == RANKS_CLOSED)
            joint->next = ranks_close(joint->team->ranks);
    }
    for (uint32_t i = first; i < made; i++)
        pthread_join(threads[i].handle, NULL);
}

bool lab_joint_run(struct lab_joint *joint, uint32_t count, struct sim_error *error)
{
    struct thread *threads = calloc(count, sizeof *threads);
    if (threads == NULL)
        return sim_fail_memory(error);
    if (joint->team != NULL && !begin(joint, error)) {
        free(threads);
        return false;
    }
    if (joint->team != NULL)
        joint->next = RANKS_CLOSED;
    work_here(joint, threads, count);
    free(threads);
    if (joint->team != NULL)
        meet(joint);
    else
        joint->next = RANKS_CLOSED;
    if (joint->failed.class == SIM_ERROR_NONE || ranks_own(joint->team->ranks) != 0)
        return true;
    *error = joint->failed;
    return false;
}

uint64_t lab_joint_draw(struct lab_joint *joint)
{
    if (joint->team == NULL)
        return joint->next++;
    if (lab_is_stopped(joint->progress))
        ranks_close(joint->team->ranks);
    return ranks_draw(joint->team->ranks);
}

void lab_team_serve(struct ranks *ranks, lab_team_service *const services[LAB_SERVICES])
{
    struct ranks_bytes bytes = {0};
    while (ranks_share(ranks, &bytes, 0)) {
        struct lab_team team = {.ranks = ranks};
        struct lab_order order = {.service = LAB_SERVICES};
        struct sim_error error = {0};
        struct sim_archive archive;
        bool is_begun = sim_archive_begin_load(&archive, bytes.data, bytes.size, ORDER_KIND, NULL);
        if (is_begun)
            archive_order(&order, &archive);
        team.threads = order.threads;
        team.first = order.first;
        bool is_fine = is_begun && sim_archive_is_fine(&archive)
                           ? services[order.service](&team, &order, &archive, &error)
                           : finish_load(&archive, is_begun, &error);
        if (!is_fine) { /* it could not join the others, which wait for it */
            ranks_close(ranks);
            meet(&(struct lab_joint){.team = &team, .failed = error});
        }
        free(order.path);
        free(order.text);
        free(order.overrides);
        free(bytes.data);
        bytes = (struct ranks_bytes){0};
    }
}

/* --- Numbered jobs, whose results are collected in order. */

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
    uint64_t taken; /* jobs before this one were delivered; on other ranks, before the order */
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

/* With other ranks, jobs are delivered after the work. */
static bool take_up(struct crew *crew, uint64_t *job)
{
    *job = lab_joint_draw(&crew->joint);
    pthread_mutex_lock(&crew->lock);
    while (crew->joint.team == NULL && !crew->is_over && *job < crew->jobs->count &&
           *job - crew->taken >= crew->ahead)
        pthread_cond_wait(&crew->turned, &crew->lock);
    if (lab_is_stopped(crew->progress))
        stop(crew);
    bool is_left = !crew->is_over && *job < crew->jobs->count && *job - crew->taken < crew->ahead;
    pthread_mutex_unlock(&crew->lock);
    return is_left;
}

/* Delivers finished jobs in order, up to the first unfinished one. One thread at a time does this, and
 * releases the lock meanwhile, so that others continue. */
static void deliver(struct crew *crew)
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

static void work_off(void *context, uint32_t thread)
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
        if (crew->joint.team == NULL)
            deliver(crew);
        pthread_mutex_unlock(&crew->lock);
        if (crew->joint.team != NULL && !slot.is_fine)
            ranks_close(crew->joint.team->ranks);
    }
}

/* The jobs that another rank has done. */
static void archive_slots(void *context, struct sim_archive *archive)
{
    struct crew *crew = context;
    uint64_t count = 0, job = crew->taken;
    for (; job < crew->end; job++)
        count += crew->slots[job % crew->ahead].is_full;
    sim_archive_u64(archive, &count);
    for (job = crew->taken; count > 0 && sim_archive_is_fine(archive); count--, job++) {
        while (!archive->is_loading && !crew->slots[job % crew->ahead].is_full)
            job++;
        sim_archive_u64(archive, &job);
        struct slot *slot = &crew->slots[job % crew->ahead], made = *slot;
        if (archive->is_loading)
            sim_archive_check(archive, job - crew->taken < crew->ahead && !made.is_full);
        if (made.error.class != SIM_ERROR_NONE)
            name_rank(crew->joint.team, &made.error);
        archive_error(&made.error, archive);
        if (made.error.class == SIM_ERROR_NONE && sim_archive_is_fine(archive))
            crew->jobs->archive(crew->jobs->context, &made.made, archive);
        made.is_fine = made.error.class == SIM_ERROR_NONE;
        made.is_full = archive->is_loading && sim_archive_is_fine(archive);
        if (!made.is_full && made.made != NULL) {
            crew->jobs->drop(made.made);
            made.made = NULL;
        }
        *slot = made.is_full ? made : (struct slot){0};
    }
}

static void archive_more(void *context, struct sim_archive *archive)
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
                                    .more = jobs->more == NULL ? NULL : archive_more,
                                    .work = work_off,
                                    .progress = jobs->is_part ? progress : &crew.inner,
                                    .may_end_early = !jobs->is_part,
                                    .archive = archive_slots};
    const bool is_other = lab_team_count(jobs->team) > 1 && ranks_own(jobs->team->ranks) != 0;
    if (lab_team_count(jobs->team) > 1) {
        crew.joint.team = jobs->team;
        crew.taken = is_other ? jobs->team->first : 0;
        crew.ahead = (uint64_t)lab_team_all_threads(jobs->team) * AHEAD_EACH_TEAM + AHEAD_TEAM;
    }
    crew.slots = calloc(crew.ahead, sizeof *crew.slots);
    pthread_mutex_init(&crew.lock, NULL);
    pthread_cond_init(&crew.turned, NULL);
    bool is_fine = crew.slots != NULL || sim_fail_memory(error);
    do {
        crew.joint.next = crew.taken;
        is_fine = is_fine && lab_joint_run(&crew.joint, threads, error);
        if (is_fine && crew.joint.team != NULL && !is_other) {
            pthread_mutex_lock(&crew.lock);
            deliver(&crew);
            pthread_mutex_unlock(&crew.lock);
        }
    } while (is_fine && crew.joint.team != NULL && !is_other && !crew.is_over && crew.taken < jobs->count &&
             !lab_is_stopped(progress));
    pthread_cond_destroy(&crew.turned);
    pthread_mutex_destroy(&crew.lock);
    for (uint64_t i = 0; crew.slots != NULL && i < crew.ahead; i++) {
        if (crew.slots[i].is_full && crew.slots[i].made != NULL)
            jobs->drop(crew.slots[i].made);
    }
    free(crew.slots);
    *taken = is_other ? jobs->count : crew.taken;
    if (is_fine && !crew.is_fine)
        *error = crew.error;
    return is_fine && crew.is_fine;
}
