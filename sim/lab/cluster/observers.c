/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who observes the runs of the program: lines for a person come before what follows from the event. A test
 * program has a table of its own, with the judges of the engine. */
#include "events.h"

const struct cluster_observer *const cluster_observers[] = {&cluster_event_trace,
                                                            &cluster_history,
                                                            &cluster_oracles,
                                                            &cluster_views,
                                                            &cluster_latencies,
                                                            &cluster_twins,
                                                            NULL};
