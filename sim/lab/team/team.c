/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads of one rank or of several that work together: orders, and the ends of rounds. In: an order, and
 * what each rank's work hands over. Out: all of it on rank 0, or the first error. */
#include "lab/team.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/file.h"

#define ORDER_KIND UINT64_C(0x6f72646572)
#define WORK_KIND  UINT64_C(0x776f726b)

/* The flags of a note: the work has more than this round; the rest is the class of an error, whose text the
 * rank sends. */
#define HAS_MORE 1u
#define CLASS_OF 1u /* the first bit of the class */
/* How long the first round lasts, and how many times as long as the fastest rank waited for the slowest one.
 */
#define ROUND_FIRST_NS INT64_C(250000000)
#define ROUND_PER_WAIT 32

/* What rank 0 says after a round. */
struct verdict {
    bool goes_on;
    uint64_t mark;
    int64_t round_ns;
};

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
        ranks_share(team->ranks, &bytes, 0); /* a rank that is lost is noticed at the end of a round */
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
static struct ranks_bytes pack(const struct lab_joint *joint, struct sim_error *failed)
{
    struct ranks_bytes bytes = {0};
    struct sim_archive archive;
    if (failed->class == SIM_ERROR_NONE) {
        sim_archive_begin_save(&archive, WORK_KIND);
        bool is_any = joint->give(joint->context, &archive);
        if (sim_archive_finish_save(&archive, &bytes.data, &bytes.size, failed) && !is_any) {
            free(bytes.data);
            bytes = (struct ranks_bytes){0};
        }
    }
    if (failed->class != SIM_ERROR_NONE) {
        lab_team_name_rank(joint->team, failed);
        bytes = (struct ranks_bytes){(unsigned char *)failed->text, strlen(failed->text)};
    }
    return bytes;
}

/* Another rank at the end of a round: hands over, and hears the verdict. Returns whether there is a next one.
 */
static bool hand_over(struct lab_joint *joint, struct ranks_note *mine, struct sim_error *failed)
{
    struct ranks *ranks = joint->team->ranks;
    struct ranks_bytes bytes = pack(joint, failed);
    mine->size = bytes.size;
    mine->flags |= (uint64_t)failed->class << CLASS_OF;
    if (ranks_gather(ranks, mine, NULL, NULL, failed) != NULL && bytes.size > 0)
        ranks_send(ranks, ranks_own(ranks), &bytes, failed);
    if (bytes.data != (unsigned char *)failed->text)
        free(bytes.data);
    struct verdict verdict = {0};
    bytes = (struct ranks_bytes){0};
    if (ranks_share(ranks, &bytes, 0) && bytes.size == sizeof verdict)
        memcpy(&verdict, bytes.data, sizeof verdict);
    free(bytes.data);
    joint->round_ns = verdict.round_ns;
    if (verdict.goes_on && joint->turn != NULL)
        joint->turn(joint->context, &verdict.mark);
    return verdict.goes_on;
}

/* Rank 0 at the end of a round. */
static bool collect(struct lab_joint *joint, const struct ranks_note *mine, struct sim_error *failed)
{
    struct ranks *ranks = joint->team->ranks;
    int64_t first_ns = mine->elapsed_ns, last_ns = mine->elapsed_ns;
    uint64_t flags = mine->flags;
    const struct ranks_note *notes = ranks_gather(ranks, mine, is_stopped, joint->progress, failed);
    for (uint32_t rank = 1; notes != NULL && rank < ranks_count(ranks); rank++) {
        struct sim_error error = {0};
        receive(joint, rank, &notes[rank], &error);
        if (failed->class == SIM_ERROR_NONE)
            *failed = error;
        flags |= notes[rank].flags;
        first_ns = notes[rank].elapsed_ns < first_ns ? notes[rank].elapsed_ns : first_ns;
        last_ns = notes[rank].elapsed_ns > last_ns ? notes[rank].elapsed_ns : last_ns;
    }
    if (notes == NULL)
        return false;
    const uint64_t drawn = ranks_draw(ranks), next = drawn < joint->limit ? drawn : joint->limit;
    if ((last_ns - first_ns) * ROUND_PER_WAIT > joint->round_ns)
        joint->round_ns = (last_ns - first_ns) * ROUND_PER_WAIT;
    struct verdict verdict = {.round_ns = joint->round_ns};
    bool is_needed = joint->turn == NULL || joint->turn(joint->context, &verdict.mark);
    verdict.goes_on = is_needed && (flags & HAS_MORE) != 0 && failed->class == SIM_ERROR_NONE &&
                      !lab_is_stopped(joint->progress);
    ranks_share(ranks, &(struct ranks_bytes){(unsigned char *)&verdict, sizeof verdict}, next);
    return verdict.goes_on;
}

/* The end of a round. Returns whether there is a next one. */
static bool meet(struct lab_joint *joint, struct sim_error *failed)
{
    struct ranks *ranks = joint->team->ranks;
    struct ranks_note mine = {.flags = joint->is_short ? HAS_MORE : 0, .elapsed_ns = ranks_elapsed_ns(ranks)};
    joint->is_short = false;
    if (ranks_own(ranks) == 0)
        return collect(joint, &mine, failed);
    if (joint->progress != NULL) {
        mine.done = atomic_exchange(&joint->progress->done, 0);
        mine.rows = atomic_exchange(&joint->progress->rows, 0);
    }
    return hand_over(joint, &mine, failed);
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

/* One round on the threads of this rank. */
static void do_round(struct lab_joint *joint, struct thread *threads, uint32_t count)
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
    while (is_attended && joint->working > 0)
        ranks_rest(joint->team->ranks);
    for (uint32_t i = first; i < made; i++)
        pthread_join(threads[i].handle, NULL);
}

bool lab_joint_run(struct lab_joint *joint, uint32_t count, struct sim_error *error)
{
    struct thread *threads = calloc(count, sizeof *threads);
    if (threads == NULL)
        return sim_fail_memory(error);
    const bool is_begun = joint->team == NULL || begin(joint, error);
    struct sim_error failed = {0};
    bool goes_on = is_begun;
    joint->round_ns = ROUND_FIRST_NS;
    while (goes_on) {
        do_round(joint, threads, count);
        goes_on = joint->team != NULL && meet(joint, &failed);
    }
    free(threads);
    if (failed.class != SIM_ERROR_NONE && ranks_own(joint->team->ranks) == 0) {
        *error = failed;
        return false;
    }
    return is_begun;
}

uint64_t lab_joint_draw(struct lab_joint *joint)
{
    if (joint->team == NULL)
        return joint->next++;
    struct ranks *ranks = joint->team->ranks;
    uint64_t number = RANKS_CLOSED;
    if (lab_is_stopped(joint->progress))
        ranks_close(ranks);
    else if (joint->has_one_round || ranks_elapsed_ns(ranks) < joint->round_ns)
        number = ranks_draw(ranks);
    if (number >= joint->limit) {
        joint->is_short = true;
        number = UINT64_MAX;
    }
    return number;
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
        bool is_fine = is_begun && sim_archive_is_fine(&archive)
                           ? services[order.service](&team, &order, &archive, &error)
                           : finish_load(&archive, is_begun, &error);
        if (!is_fine) { /* it could not join the others, which wait for it */
            ranks_close(ranks);
            meet(&(struct lab_joint){.team = &team}, &error);
        }
        free(order.path);
        free(order.text);
        free(order.overrides);
        free(bytes.data);
        bytes = (struct ranks_bytes){0};
    }
}
