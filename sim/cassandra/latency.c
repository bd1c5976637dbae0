/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Latencies of messages. A lognormal latency is an exponential function of a normal draw, which is a long
 * chain of dependent operations. So each place draws several latencies ahead, whose chains the processor can
 * execute in parallel. The draws from its stream are the same, in the same order. */
#include "kernel/number.h"
#include "kernel/sampler.h"
#include "state.h"
#include "traffic.h"

/* Computes a lognormal latency from a normal draw in the same way as sim_size_draw(). */
static int64_t lognormal(const struct sim_size *size, double normal)
{
    return (int64_t)sim_size_whole(sim_exp(size->log_mean + size->b * normal));
}

static void draw_ahead(const struct sim_size *near, struct latencies *ahead, struct sim_random *stream)
{
    ahead->taken = 0;
    sim_normals(stream, ahead->normals, LATENCIES_AHEAD);
    double means[LATENCIES_AHEAD];
    for (uint32_t i = 0; i < LATENCIES_AHEAD; i++)
        means[i] = near->log_mean + near->b * ahead->normals[i];
    sim_exps(means, LATENCIES_AHEAD);
    for (uint32_t i = 0; i < LATENCIES_AHEAD; i++)
        ahead->near_ns[i] = (int64_t)sim_size_whole(means[i]);
}

int64_t cass_latency_draw(struct cass_cluster *cluster, uint32_t place_index, bool is_near)
{
    struct place *place = &cluster->places[place_index];
    const struct sim_size *near = &cluster->config.latency_ns, *far = &cluster->config.latency_between_ns;
    if (near->kind != SIM_SIZE_LOGNORMAL || far->kind != SIM_SIZE_LOGNORMAL)
        return (int64_t)sim_size_draw(is_near ? near : far, &place->latency);
    struct latencies *ahead = &place->ahead;
    if (ahead->taken == LATENCIES_AHEAD)
        draw_ahead(near, ahead, &place->latency);
    uint32_t i = ahead->taken++;
    return is_near ? ahead->near_ns[i] : lognormal(far, ahead->normals[i]);
}
