/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random streams: each is a function of seed, purpose and entity. */
#include "kernel/random.h"

#include <assert.h>

__extension__ typedef unsigned __int128 wide;

uint64_t sim_hash(uint64_t seed, enum sim_purpose purpose, uint64_t entity)
{
    return sim_hash_with(sim_hash_of(seed, purpose), entity);
}

void sim_random_init(struct sim_random *random, uint64_t seed, enum sim_purpose purpose, uint64_t entity)
{
    uint64_t state = sim_hash(seed, purpose, entity);
    for (int i = 0; i < 4; i++)
        random->s[i] = sim_mix64(state += UINT64_C(0x9e3779b97f4a7c15));
    /* Four consecutive words of splitmix64 are never all 0, the only state that xoshiro must not have. */
}

uint64_t sim_random_below(struct sim_random *random, uint64_t n)
{
    assert(n >= 1);
    wide product = (wide)sim_random_next(random) * n;
    if ((uint64_t)product < n) {
        uint64_t threshold = -n % n;
        while ((uint64_t)product < threshold)
            product = (wide)sim_random_next(random) * n;
    }
    return (uint64_t)(product >> 64);
}
