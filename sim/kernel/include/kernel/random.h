/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random streams: one for each (seed, purpose, entity). A stream is seeded by a hash of the three and never
 * by a draw from another stream, so a new stream does not change the draws of the others.
 *
 * Generator: xoshiro256++ (Blackman and Vigna, 2019), with a period of 2^256 - 1; splitmix64 expands the hash
 * into its four words. In a hot loop, copy the stream into a local variable, so that its state stays in
 * registers. */
#ifndef KERNEL_RANDOM_H
#define KERNEL_RANDOM_H

#include <stdint.h>

/* What a stream is used for. Only append values: their numbers affect every digest. */
enum sim_purpose {
    SIM_ARRIVAL = 1,
    SIM_ROW_ID = 2,
    SIM_ROW_BYTES = 3,
    SIM_BURST = 4,
    SIM_SPIKE = 5,
    SIM_READ = 6,
    SIM_RING = 7,
    SIM_NETWORK = 8,  /* latency of the messages that a place (a node or a client) sends */
    SIM_LOSS = 9,     /* loss and duplication of those messages */
    SIM_PAUSE = 10,   /* a node's garbage collections */
    SIM_CHOICE = 11,  /* which replicas and coordinators a place asks */
    SIM_BACKOFF = 12, /* a coordinator's sleeps between Paxos rounds */
    SIM_AGENT = 13,   /* which agent takes a row */
    SIM_CLOCK = 14,   /* an agent's clock */
    SIM_FAULT = 15,
    SIM_FUZZ = 16, /* the random choices of a seed of the fuzzer */
    SIM_LATE = 17, /* how late a row is */
    SIM_BACKFILL = 18,
    SIM_DELETE = 19,  /* which rows are deleted, and when */
    SIM_COLUMN = 20,  /* the values of a column of a key's rows */
    SIM_ROLLOUT = 21, /* when an agent is given new settings */
    SIM_READ_RANGE = 22,
    SIM_READ_ALL = 23,
    SIM_THIN_ROWS = 24,  /* thinned runs: the number of rows in an interval, which are not drawn one by one */
    SIM_THIN_LANE = 25,  /* thinned runs: which of those rows fire, and their times */
    SIM_THIN_BIRTH = 26, /* thinned runs: the time of the first of those rows */
    SIM_EARLY = 27,      /* how far a row's own time is ahead of its arrival */
    SIM_TWIN = 28,       /* when the twin of an agent is saved and loaded */
    SIM_THIN_BYTES =
        29, /* thinned runs: which rows of a bucket were written before their timestamps take one more byte */
    SIM_THIN_OVER = 30,  /* thinned runs: when a row came with which a partition exceeded a limit */
    SIM_THIN_SIZES = 31, /* thinned runs: the bytes of rows whose sizes are drawn */
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

/* A hash of (seed, purpose, entity), the same on every machine, by which the streams are seeded. */
static inline uint64_t sim_hash(uint64_t seed, enum sim_purpose purpose, uint64_t entity)
{
    uint64_t hash = sim_mix64(seed + UINT64_C(0x9e3779b97f4a7c15));
    hash = sim_mix64(hash + (uint64_t)purpose * UINT64_C(0xd1342543de82ef95));
    return sim_mix64(hash ^ sim_mix64(entity + UINT64_C(0x2545f4914f6cdd1d)));
}

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

/* Uniform in [0, 1), a multiple of 2^-53. */
static inline double sim_random_unit(struct sim_random *random)
{
    return (double)(int64_t)(sim_random_next(random) >> 11) * 0x1p-53;
}

/* Uniform in [0, n), n >= 1, without bias (Lemire 2019). */
uint64_t sim_random_below(struct sim_random *random, uint64_t n);

/* Hints for the hot path: which way a branch goes, so that the usual way is straight and in few lines of the
 * instruction cache, and which functions few rows need. A wrong hint only costs time. */

#define SIM_LIKELY(condition)   __builtin_expect(!!(condition), 1)
#define SIM_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
/* Inlined, the function would make its callers save registers for every row. */
#define SIM_OUT_OF_LINE __attribute__((noinline))

#endif
