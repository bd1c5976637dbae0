/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Orders, and the meetings of ranks that work together. In: an order, and what each rank's work hands over. Out: all
 * of it on rank 0, or the first error. */
#include "lab/team.h"

#include <stdlib.h>
#include <string.h>

#define ORDER_KIND UINT64_C(0x6f72646572)

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

bool lab_team_begin(const struct lab_team *team, struct lab_order *order, lab_order_more *more, void *context,
                    struct sim_error *error)
{
    struct sim_archive archive;
    struct ranks_bytes bytes;
    if (ranks_own(team->ranks) != 0)
        return true;
    order->threads = team->threads;
    sim_archive_begin_save(&archive, ORDER_KIND);
    archive_order(order, &archive);
    if (more != NULL)
        more(context, &archive);
    bool is_fine = sim_archive_finish_save(&archive, &bytes.data, &bytes.size, error);
    if (is_fine)
        ranks_share(team->ranks, &bytes); /* a rank that is lost is noticed at the first meeting */
    free(bytes.data);
    return is_fine;
}

static bool is_stopped(const void *context)
{
    return lab_is_stopped(context);
}

/* Adds up the progress of the others, and receives what they hand over. */
static bool receive(struct lab_joint *joint, const struct ranks_note *notes, struct sim_error *failed)
{
    struct ranks *ranks = joint->team->ranks;
    for (uint32_t rank = 1; rank < ranks_count(ranks); rank++) {
        const uint32_t class = (uint32_t)(notes[rank].flags >> CLASS_OF);
        struct ranks_bytes bytes = {NULL, notes[rank].size};
        if (joint->progress != NULL) {
            atomic_fetch_add_explicit(&joint->progress->done, notes[rank].done, memory_order_relaxed);
            atomic_fetch_add_explicit(&joint->progress->rows, notes[rank].rows, memory_order_relaxed);
        }
        if (bytes.size == 0)
            continue;
        struct sim_error error = {0};
        if (!ranks_send(ranks, rank, &bytes, &error)) {
            *failed = error;
            return false;
        }
        if (class != SIM_ERROR_NONE)
            sim_fail(&error, (enum sim_error_class)class, "%.*s (on rank %u, %s)", (int)bytes.size,
                     (const char *)bytes.data, (unsigned)rank, ranks_host(ranks, rank));
        else if (failed->class == SIM_ERROR_NONE)
            joint->take(joint->context, &bytes, &error);
        free(bytes.data);
        if (failed->class == SIM_ERROR_NONE)
            *failed = error;
    }
    return true;
}

/* One meeting. Returns false when the work is over. told: what this rank has told the others of its progress, and
 * whether it has told them its error. */
static bool meet(struct lab_joint *joint, struct ranks_note *told, struct sim_error *failed)
{
    struct ranks *ranks = joint->team->ranks;
    const uint32_t own = ranks_own(ranks);
    struct ranks_bytes bytes = {0};
    struct ranks_note mine = {.flags = joint->working > 0 ? WORKS : 0, .mark = told->mark};
    if (failed->class == SIM_ERROR_NONE && joint->tend != NULL)
        joint->tend(joint->context, &mine.mark, &bytes, failed);
    if (failed->class != SIM_ERROR_NONE || lab_is_stopped(joint->progress)) {
        mine.flags |= STOPS;
        joint->stop(joint->context);
    }
    if (own != 0 && joint->progress != NULL) {
        mine.done = joint->progress->done - told->done;
        mine.rows = joint->progress->rows - told->rows;
        told->done += mine.done;
        told->rows += mine.rows;
    }
    struct ranks_bytes sent = bytes;
    if (own != 0 && failed->class != SIM_ERROR_NONE && told->flags == 0) {
        told->flags = 1;
        mine.flags |= (uint64_t)failed->class << CLASS_OF;
        sent = (struct ranks_bytes){(unsigned char *)failed->text, strlen(failed->text)};
    }
    mine.size = sent.size;
    const struct ranks_note *notes = ranks_meet(ranks, &mine, is_stopped, joint->progress, failed);
    bool is_met = notes != NULL && (own == 0 ? receive(joint, notes, failed)
                                             : sent.size == 0 || ranks_send(ranks, own, &sent, failed));
    free(bytes.data);
    uint64_t works = 0;
    for (uint32_t rank = 0; is_met && rank < ranks_count(ranks); rank++)
        works |= notes[rank].flags & WORKS;
    if (is_met && (notes[0].flags & STOPS) != 0)
        joint->stop(joint->context);
    if (is_met)
        told->mark = notes[0].mark;
    return is_met && works != 0;
}

bool lab_team_attend(struct lab_joint *joint, struct sim_error *error)
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

static void stop_nothing(void *context)
{
    (void)context;
}

void lab_team_serve(struct ranks *ranks, lab_team_service *const services[LAB_SERVICES])
{
    struct ranks_bytes bytes = {0};
    while (ranks_share(ranks, &bytes)) {
        struct lab_team team = {.ranks = ranks};
        struct lab_order order = {.service = LAB_SERVICES};
        struct sim_error error = {0};
        struct sim_archive archive;
        bool is_fine = sim_archive_begin_load(&archive, bytes.data, bytes.size, ORDER_KIND, &error);
        if (is_fine)
            archive_order(&order, &archive);
        if (is_fine && sim_archive_is_fine(&archive)) {
            team.threads = order.threads;
            services[order.service](&team, &order, &archive, &error);
        } else if (is_fine) {
            sim_archive_finish_load(&archive, &error);
        }
        if (!ranks_has_met(ranks)) /* it could not join the others, which wait for it */
            lab_team_attend(&(struct lab_joint){.team = &team, .stop = stop_nothing}, &error);
        free(order.path);
        free(order.text);
        free(order.overrides);
        free(bytes.data);
        bytes = (struct ranks_bytes){0};
    }
}
