/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tracks when something fails, and when everything has been healthy for long enough. A fault is over when the
 * messages that it delayed have arrived and the operations that it delayed have ended, too; the patience of
 * clients bounds the latter. */
#include "cluster_run.h"
#include "evidence.h"

void lab_health_begin(struct lab_cluster_run *run)
{
    run->oracles.health.settle_ns = run->scenario->agents.timeout_ns;
    run->oracles.health.until_ns = run->start_ns;
    /* A network that loses messages without faults is never healthy. */
    if (run->scenario->network.loss > 0)
        lab_health_fault(run, true);
}

static void mark_unhealthy(struct lab_health *health, int64_t now_ns, int64_t until_ns)
{
    if (health->is_unhealthy && now_ns >= health->until_ns) {
        health->total_ns += health->until_ns - health->since_ns;
        health->is_unhealthy = false;
    }
    if (!health->is_unhealthy) {
        health->is_unhealthy = true;
        health->since_ns = now_ns;
        health->stretch++;
    }
    health->until_ns = until_ns; /* never decreases: an earlier end has settled earlier, too */
}

void lab_health_fault(struct lab_cluster_run *run, bool begins)
{
    struct lab_health *health = &run->oracles.health;
    int64_t now_ns = sim_queue_now(&run->queue);
    lab_condition_set(run, LAB_CONDITION_FAULTS);
    if (begins) {
        health->active++;
        mark_unhealthy(health, now_ns, INT64_MAX);
    } else if (--health->active == 0) {
        int64_t settled_ns = lab_until(now_ns, health->settle_ns);
        health->until_ns = settled_ns > health->pulse_until_ns ? settled_ns : health->pulse_until_ns;
    }
}

void lab_health_pulse(struct lab_cluster_run *run, int64_t until_ns)
{
    struct lab_health *health = &run->oracles.health;
    int64_t settled_ns = lab_until(until_ns, health->settle_ns);
    lab_condition_set(run, LAB_CONDITION_FAULTS);
    if (settled_ns > health->pulse_until_ns)
        health->pulse_until_ns = settled_ns;
    mark_unhealthy(health, sim_queue_now(&run->queue),
                   health->active > 0 ? INT64_MAX : health->pulse_until_ns);
}

int64_t lab_health_well_ns(const struct lab_cluster_run *run)
{
    const struct lab_health *health = &run->oracles.health;
    int64_t now_ns = sim_queue_now(&run->queue);
    return now_ns < health->until_ns ? -1 : now_ns - health->until_ns;
}
