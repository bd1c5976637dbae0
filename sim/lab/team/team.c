/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads of one rank or of several that work together: orders, and the meetings of ranks. In: an order, and
 * what each rank's work hands over. Out: all of it on rank 0, or the first error. */
#include "lab/team.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/file.h"

#define ORDER_KIND UINT64_C(0x6f72646572)
#define WORK_KIND  UINT64_C(0x776f726b)

/* The flags of a note; the rest is the class of an error, whose text the rank sends. */
#define WORKS    1u
#define STOPS    2u
#define CLASS_OF 2u /* the first bit of the class */

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
    sim_archive_u64(archive, &order->part);
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
    sim_archive_begin_save(&archive, ORDER_KIND);
    archive_order(joint->order, &archive);
    if (joint->more != NULL)
        joint->more(joint->context, &archive);
    bool is_fine = sim_archive_finish_save(&archive, &bytes.data, &bytes.size, error);
    if (is_fine)
        ranks_share(team->ranks, &bytes); /* a rank that is lost is noticed at the first meeting */
    free(bytes.data);
    return is_fine;
}

void lab_team_name_rank(const struct lab_team *team, struct sim_error *error)
{
    const struct sim_error inner = *error;
    const uint32_t own = ranks_own(team->ranks);
    sim_fail(error, inner.class, "%s (on rank %u, %s)", inner.text, (unsigned)own,
             ranks_host(team->ranks, own));
}

static bool is_stopped(const void *context)
{
    return lab_is_stopped(context);
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

/* Of what one rank has told: adds up its progress, and loads what it hands over, or its error. */
static void receive(struct lab_joint *joint, uint32_t rank, const struct ranks_note *note,
                    struct sim_error *error)
{
    struct ranks_bytes bytes = {NULL, note->size};
    struct sim_archive archive;
    const enum sim_error_class class = (enum sim_error_class)(note->flags >> CLASS_OF);
    if (joint->progress != NULL) {
        atomic_fetch_add_explicit(&joint->progress->done, note->done, memory_order_relaxed);
        atomic_fetch_add_explicit(&joint->progress->rows, note->rows, memory_order_relaxed);
    }
    if (bytes.size == 0 || !ranks_send(joint->team->ranks, rank, &bytes, error))
        return;
    if (class != SIM_ERROR_NONE) {
        sim_fail(error, class, "%.*s", (int)bytes.size, (const char *)bytes.data);
    } else {
        bool is_begun = sim_archive_begin_load(&archive, bytes.data, bytes.size, WORK_KIND, NULL);
        if (is_begun)
            joint->take(joint->context, &archive);
        finish_load(&archive, is_begun, error);
    }
    free(bytes.data);
}

/* On a rank other than 0: the bytes that it hands over, or the text of its error. */
static struct ranks_bytes hand_over(struct lab_joint *joint, struct ranks_note *mine, struct ranks_note *told,
                                    struct sim_error *failed)
{
    struct ranks_bytes bytes = {0};
    struct sim_archive archive;
    if (failed->class == SIM_ERROR_NONE) {
        sim_archive_begin_save(&archive, WORK_KIND);
        bool is_any = joint->tend(joint->context, &mine->mark, &archive);
        if (sim_archive_finish_save(&archive, &bytes.data, &bytes.size, failed) && !is_any) {
            free(bytes.data);
            bytes = (struct ranks_bytes){0};
        }
    }
    if (failed->class != SIM_ERROR_NONE && told->flags == 0) {
        told->flags = 1;
        lab_team_name_rank(joint->team, failed);
        mine->flags |= (uint64_t)failed->class << CLASS_OF;
        bytes = (struct ranks_bytes){(unsigned char *)failed->text, strlen(failed->text)};
    }
    if (joint->progress != NULL) {
        mine->done = joint->progress->done - told->done;
        mine->rows = joint->progress->rows - told->rows;
        told->done += mine->done;
        told->rows += mine->rows;
    }
    return bytes;
}

/* One meeting. Returns false when the work is over. told: what this rank has told the others of its progress,
 * and whether it has told them its error. */
static bool meet(struct lab_joint *joint, struct ranks_note *told, struct sim_error *failed)
{
    struct ranks *ranks = joint->team->ranks;
    const uint32_t own = ranks_own(ranks);
    struct ranks_bytes bytes = {0};
    struct ranks_note mine = {.flags = joint->working > 0 ? WORKS : 0, .mark = told->mark};
    if (own == 0)
        joint->tend(joint->context, &mine.mark, NULL);
    else
        bytes = hand_over(joint, &mine, told, failed);
    if (failed->class != SIM_ERROR_NONE || lab_is_stopped(joint->progress)) {
        mine.flags |= STOPS;
        joint->stop(joint->context);
    }
    mine.size = bytes.size;
    const struct ranks_note *notes = ranks_meet(ranks, &mine, is_stopped, joint->progress, failed);
    uint64_t flags = 0;
    for (uint32_t rank = 0; notes != NULL && rank < ranks_count(ranks); rank++) {
        flags |= notes[rank].flags;
        struct sim_error error = {0};
        if (own == 0 && rank > 0)
            receive(joint, rank, &notes[rank], &error);
        if (failed->class == SIM_ERROR_NONE)
            *failed = error;
    }
    if (own != 0 && notes != NULL && bytes.size > 0)
        ranks_send(ranks, own, &bytes, failed);
    if (bytes.data != (unsigned char *)failed->text)
        free(bytes.data);
    if (notes == NULL)
        return false;
    told->mark = notes[0].mark;
    if ((notes[0].flags & STOPS) != 0)
        joint->stop(joint->context);
    return (flags & WORKS) != 0;
}

/* Meets the others until no thread of any rank works. An error of any rank stops all; rank 0 returns it,
 * followed by the rank. */
static bool attend(struct lab_joint *joint, struct sim_error *error)
{
    struct sim_error failed = *error;
    struct ranks_note told = {0};
    while (meet(joint, &told, &failed))
        ranks_rest(joint->team->ranks, &joint->working);
    if (failed.class == SIM_ERROR_NONE)
        return true;
    joint->stop(joint->context);
    *error = failed;
    return false;
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

bool lab_joint_run(struct lab_joint *joint, uint32_t count, struct sim_error *error)
{
    const bool is_shared = joint->team != NULL;
    const uint32_t first = is_shared ? 0 : 1; /* the calling thread is number 0, or attends to the others */
    struct thread *threads = calloc(count, sizeof *threads);
    if (threads == NULL)
        return sim_fail_memory(error);
    bool is_fine = !is_shared || begin(joint, error);
    uint32_t made = first;
    joint->working = count;
    /* The others do the work of a thread that cannot be started. */
    for (; is_fine && made < count; made++) {
        threads[made] = (struct thread){.joint = joint, .number = made};
        if (sim_thread_start(&threads[made].handle, thread_main, &threads[made]) != 0)
            break;
    }
    joint->working -= count - made;
    if (is_fine && is_shared)
        is_fine = attend(joint, error);
    else if (is_fine)
        joint->work(joint->context, 0);
    for (uint32_t i = first; i < made; i++)
        pthread_join(threads[i].handle, NULL);
    free(threads);
    return is_fine;
}

uint64_t lab_joint_draw(struct lab_joint *joint)
{
    return joint->team != NULL ? ranks_draw(joint->team->ranks) : joint->next++;
}

static void stop_nothing(void *context)
{
    (void)context;
}

static bool tend_nothing(void *context, uint64_t *mark, struct sim_archive *archive)
{
    (void)context, (void)mark, (void)archive;
    return false;
}

void lab_team_serve(struct ranks *ranks, lab_team_service *const services[LAB_SERVICES])
{
    struct ranks_bytes bytes = {0};
    while (ranks_share(ranks, &bytes)) {
        struct lab_team team = {.ranks = ranks};
        struct lab_order order = {.service = LAB_SERVICES};
        struct sim_error error = {0};
        struct sim_archive archive;
        bool is_begun = sim_archive_begin_load(&archive, bytes.data, bytes.size, ORDER_KIND, NULL);
        if (is_begun)
            archive_order(&order, &archive);
        team.threads = order.threads;
        if (is_begun && sim_archive_is_fine(&archive))
            services[order.service](&team, &order, &archive, &error);
        else
            finish_load(&archive, is_begun, &error);
        if (!ranks_has_met(ranks)) /* it could not join the others, which wait for it */
            attend(&(struct lab_joint){.team = &team, .tend = tend_nothing, .stop = stop_nothing}, &error);
        free(order.path);
        free(order.text);
        free(order.overrides);
        free(bytes.data);
        bytes = (struct ranks_bytes){0};
    }
}
