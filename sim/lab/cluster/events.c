/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Passes each event of a run to the observers that want its kind. What an observer wants is asked once, when
 * a run begins. */
#include <string.h>

#include "events.h"

bool cluster_observers_begin(struct lab_cluster_run *run)
{
    for (const struct cluster_observer *const *at = cluster_observers; *at != NULL; at++) {
        struct cluster_listener *listener = &run->listeners[run->listener_count];
        uint64_t wants = (*at)->wants(run);
        if (wants == 0)
            continue;
        assert(run->listener_count < CLUSTER_LISTENERS_MAX);
        *listener = (struct cluster_listener){.observer = *at, .on_event = (*at)->on_event};
        uint32_t number = run->listener_count++;
        for (int oracle = 0; oracle < LAB_ORACLE_COUNT; oracle++)
            run->oracles.verdict.is_judged[oracle] |= (*at)->judges >> oracle & 1;
        if ((*at)->begin != NULL && !(*at)->begin(run, &listener->state))
            return false;
        for (int kind = 0; kind < CLUSTER_EVENT_KINDS; kind++)
            run->heard_by[kind] |= (uint32_t)(wants >> kind & 1) << number;
    }
    return true;
}

void cluster_tell(struct lab_cluster_run *run, const struct cluster_event *event)
{
    for (unsigned left = run->heard_by[event->kind]; left != 0; left &= left - 1) {
        const struct cluster_listener *listener = &run->listeners[__builtin_ctz(left)];
        listener->on_event(run, listener->state, event);
    }
}

void cluster_observers_finish(struct lab_cluster_run *run)
{
    for (uint32_t i = 0; i < run->listener_count; i++) {
        if (run->listeners[i].observer->finish != NULL)
            run->listeners[i].observer->finish(run, run->listeners[i].state);
    }
}

void cluster_observers_end(struct lab_cluster_run *run)
{
    memset(run->heard_by, 0, sizeof run->heard_by);
    for (uint32_t i = 0; i < run->listener_count; i++) {
        if (run->listeners[i].observer->destroy != NULL)
            run->listeners[i].observer->destroy(run->listeners[i].state);
    }
    run->listener_count = 0;
}
