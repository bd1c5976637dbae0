/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Passes each event of a run to the observers that want its kind. What an observer wants is asked once, when
 * a run begins. */
#include "events.h"

bool cluster_observers_begin(struct lab_cluster_run *run)
{
    for (const struct cluster_observer *const *at = cluster_observers; *at != NULL; at++) {
        struct cluster_listener *listener = &run->listeners[run->listener_count];
        uint64_t wants = (*at)->wants(run);
        if (wants == 0)
            continue;
        assert(run->listener_count < CLUSTER_LISTENERS_MAX);
        *listener = (struct cluster_listener){.observer = *at, .on_event = (*at)->on_event, .wants = wants};
        run->listener_count++;
        if ((*at)->begin != NULL && !(*at)->begin(run, &listener->state))
            return false;
        run->wanted |= wants;
    }
    return true;
}

void cluster_tell(struct lab_cluster_run *run, const struct cluster_event *event)
{
    for (uint32_t i = 0; i < run->listener_count; i++) {
        const struct cluster_listener *listener = &run->listeners[i];
        if ((listener->wants >> event->kind & 1) != 0)
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
    run->wanted = 0;
    for (uint32_t i = 0; i < run->listener_count; i++) {
        if (run->listeners[i].observer->destroy != NULL)
            run->listeners[i].observer->destroy(run->listeners[i].state);
    }
    run->listener_count = 0;
}

void *cluster_observer_state(const struct lab_cluster_run *run, const struct cluster_observer *observer)
{
    for (uint32_t i = 0; i < run->listener_count; i++) {
        if (run->listeners[i].observer == observer)
            return run->listeners[i].state;
    }
    return NULL;
}
