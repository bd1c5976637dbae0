/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports the events of a run to a listener. */
#ifndef LAB_CLUSTER_EVENT_TRACE_H
#define LAB_CLUSTER_EVENT_TRACE_H

#include "cluster_run.h"

struct lab_told {
    enum lab_event_kind kind;
    uint32_t key, agent, node, operation;
    enum lab_event_phase phase;
};
/* An instant event of an agent, or of LAB_EVENT_NOBODY. */
#define LAB_TOLD(kind, key, agent)                                                                           \
    ((struct lab_told){LAB_EVENT_OF_##kind, key, agent, LAB_EVENT_NOBODY, 0, LAB_EVENT_MOMENT})
/* Whether the listener wants events of the key: lab_event_trace_is_asked() for a run with a listener,
 * lab_event_trace_wants() for any run. */
bool lab_event_trace_is_asked(const struct lab_cluster_run *run, uint32_t key) __attribute__((cold));
static inline bool lab_event_trace_wants(const struct lab_cluster_run *run, uint32_t key)
{
    return SIM_UNLIKELY(run->context->event_trace != NULL) && lab_event_trace_is_asked(run, key);
}
void lab_event_trace_add(struct lab_cluster_run *run, struct lab_told told, const char *format, ...)
    __attribute__((cold, format(printf, 3, 4)));
/* Reports that an operation was lost when its agent crashed. */
void lab_event_trace_lost(struct lab_cluster_run *run, uint32_t agent, uint32_t number);
void lab_event_trace_action(struct lab_cluster_run *run, uint32_t agent, const struct bk_action *action)
    __attribute__((cold));
void lab_event_trace_outcome(struct lab_cluster_run *run, uint32_t agent,
                             const struct lab_host_operation *operation, uint32_t number,
                             const struct bk_outcome *outcome) __attribute__((cold));

#endif
