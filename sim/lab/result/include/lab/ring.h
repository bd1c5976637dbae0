/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the ring of a scenario's cluster, for the stream engine. */
#ifndef LAB_RING_H
#define LAB_RING_H

#include "cassandra/ring.h"
#include "lab/scenario.h"

/* Tokens are derived from the scenario's seed. Errors: as for cass_ring_create(). */
bool lab_ring_create(const struct lab_scenario *scenario, struct cass_ring **out, struct sim_error *error);

#endif
