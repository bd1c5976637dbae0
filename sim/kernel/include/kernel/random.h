/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random streams: one for each (seed, purpose, entity), derived by hashing and never by drawing, so that a
 * new stream moves nobody else's draws.
 *
 * Generator: xoshiro256++ (Blackman and Vigna, 2019), 2^256 - 1 long; its four words come from splitmix64
 * over a hash of the three. Copy a stream into a local for a hot loop: its state then stays in registers. */
#ifndef KERNEL_RANDOM_H
#define KERNEL_RANDOM_H

#include <stdint.h>

/* What a stream is for. Append only: a number is part of every digest. */
enum sim_purpose {
    SIM_ARRIVAL = 1,
    SIM_ROW_ID = 2,
    SIM_ROW_BYTES = 3,
    SIM_BURST = 4,
    SIM_SPIKE = 5,
    SIM_READ = 6,
    SIM_RING = 7,
    SIM_NETWORK = 8,  /* latency of a place's messages */
    SIM_LOSS = 9,     /* loss and duplication of a place's messages */
    SIM_PAUSE = 10,   /* a node's garbage collections */
    SIM_CHOICE = 11,  /* which replica a place asks */
    SIM_BACKOFF = 12, /* a coordinator's sleeps between Paxos rounds */
    SIM_AGENT = 13,   /* which agent takes a row */
    SIM_CLOCK = 14,   /* an agent's clock */
    SIM_FAULT = 15,
    SIM_FUZZ = 16, /* what a seed of the fuzzer is */
    SIM_LATE = 17, /* how late a row is */
    SIM_BACKFILL = 18,
    SIM_DELETE = 19,  /* which rows are deleted, and when */
    SIM_COLUMN = 20,  /* the values of a column of a key's rows */
    SIM_ROLLOUT = 21, /* when an agent is given new settings */
    SIM_READ_RANGE = 22,
    SIM_READ_ALL = 23,
    SIM_THIN_ROWS = 24,  /* how many rows a stretch has that are not drawn one by one */
    SIM_THIN_LANE = 25,  /* which of them fire, and when they came */
    SIM_THIN_BIRTH = 26, /* when the first came */
    SIM_EARLY = 27,      /* how far ahead a row's own time is */
    SIM_TWIN = 28,       /* when an agent's twin is restored */
    SIM_THIN_BYTES = 29, /* which rows of a bucket were written before times take a byte more */
};

struct sim_random {
    uint64_t s[4];
};

/* The finaliser of splitmix64: a bijection that mixes all 64 bits. */
static inline uint64_t sim_mix64(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* A hash of (seed, purpose, entity), the same everywhere; the streams are seeded by it. */
uint64_t sim_hash(uint64_t seed, enum sim_purpose purpose, uint64_t entity);

void sim_random_init(struct sim_random *random, uint64_t seed, enum sim_purpose purpose, uint64_t entity);

static inline uint64_t sim_rotl64(uint64_t x, int r)
{
    return (x << r) | (x >> (64 - r));
}

/* 64 random bits. */
static inline uint64_t sim_random_next(struct sim_random *random)
{
    uint64_t *s = random->s;
    uint64_t result = sim_rotl64(s[0] + s[3], 23) + s[0];
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = sim_rotl64(s[3], 45);
    return result;
}

/* A multiple of 2^-53 in [0, 1). */
static inline double sim_random_unit(struct sim_random *random)
{
    return (double)(int64_t)(sim_random_next(random) >> 11) * 0x1p-53;
}

/* Uniform in [0, n), n >= 1, without bias (Lemire 2019). */
uint64_t sim_random_below(struct sim_random *random, uint64_t n);

#endif
