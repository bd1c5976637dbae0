/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records what the agents believe to be one key's current bucket around its first change. They are observed
 * at intervals, without affecting them, until the change is over. The observations before the change are kept
 * in the same list, which is thinned out when it grows. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>

#include "cluster_run.h"
#include "cluster_view.h"
#include "kernel/grow.h"
#include "observers.h"

#define LOOKS_BEFORE 40u
#define LOOKS_AFTER  120u
#define VIEWS_AGENTS 64u /* more do not fit a chart */

static bool add(struct lab_cluster_run *run, const struct lab_view *view)
{
    struct lab_views *views = &run->views;
    if (!sim_grow(&views->items, &views->capacity, views->count + 1, sizeof *views->items)) {
        run->out_of_memory = true;
        return false;
    }
    views->items[views->count++] = *view;
    return true;
}

void lab_views_sample(struct lab_cluster_run *run, int64_t now_ns)
{
    struct lab_views *views = &run->views;
    if (run->views_done || run->key_count == 0 || now_ns < run->views_next_ns)
        return;
    run->views_next_ns = now_ns + run->views_period_ns;
    views->agents = run->agent_count < VIEWS_AGENTS ? run->agent_count : VIEWS_AGENTS;
    for (uint32_t i = 0; i < views->agents; i++) {
        struct lab_view view = {.time_ns = now_ns, .agent = i};
        view.is_known =
            run->agents[i].is_up && bk_agent_view(run->agents[i].agent, lab_agent_clock(run, i),
                                                  run->views_key, &view.bucket, &view.is_changing);
        if (!add(run, &view))
            return;
    }
    if (views->key == NULL && views->count >= 2 * (size_t)LOOKS_BEFORE * views->agents) {
        size_t dropped = (size_t)LOOKS_BEFORE * views->agents;
        memmove(views->items, views->items + dropped, (views->count - dropped) * sizeof *views->items);
        views->count -= dropped;
    }
    run->views_done = views->key != NULL && now_ns >= run->views_until_ns;
}

static void hear(struct lab_cluster_run *run, void *state, const struct cluster_event *event)
{
    struct lab_views *views = &run->views;
    const uint32_t key = event->key;
    const int64_t now_ns = sim_queue_now(&run->queue), until_ns = run->keys[key].changes[event->bucket];
    (void)state;
    if (views->key != NULL || key != run->views_key || event->bucket < event->value)
        return;
    char name[256];
    lab_rows_key_name(run->rows, key, name, sizeof name);
    views->key = strdup(name);
    if (views->key == NULL) {
        run->out_of_memory = true;
        return;
    }
    views->change_ns = now_ns;
    views->until_ns = until_ns;
    int64_t over_ns = until_ns > now_ns ? until_ns : now_ns;
    run->views_until_ns = over_ns + (int64_t)LOOKS_AFTER / 3 * run->views_period_ns;
}

static uint64_t wants(const struct lab_cluster_run *run)
{
    return run->idgen == NULL && lab_rows_fire(run) ? CLUSTER_WANTS(ROLLED) : 0;
}

const struct cluster_observer cluster_views = {.name = "views", .wants = wants, .on_event = hear};
