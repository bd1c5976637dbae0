/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who observes the runs of the program. A test program has a table of its own. */
#include "events.h"

const struct cluster_observer *const cluster_observers[] = {CLUSTER_OBSERVER_MAP(CLUSTER_OBSERVER_ROW) NULL};
