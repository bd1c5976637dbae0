/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sample of a user's ids, and whether a strategy that wants random bits may take them from it.
 *
 * A row of a probabilistic strategy counts when its k lowest bits are all 1. Two sets of bits are tested: the
 * k lowest of the id as it stands, and the k lowest of bk_id_bits(). Of each set every bit, every pair of
 * bits, every bit beside that of the id before it, and the share that is all 1 are held against what random
 * bits would give, by exact binomial tails; the same is done for each process that made at least
 * IDS_LEAST of the ids, where the id tells its process. A set is random when the least of all these chances,
 * times their number, is at least IDS_CHANCE: so random bits are called biased once in a million samples. */
#ifndef IDS_IDS_H
#define IDS_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bucketing/id.h"
#include "kernel/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define IDS_LEAST    64u /* fewer tell nothing */
#define IDS_BITS_MAX 32u
#define IDS_CHANCE   1e-6

struct ids_sample {
    enum bk_id_kind kind;
    uint8_t *bytes; /* of all ids, one behind the other; what bk_id_bits() takes */
    size_t *ends;   /* of each in `bytes` */
    size_t count;
};

/* Reads a CSV file, plain or gzip: ids are the fields of a column, or the only ones; a first record without
 * an id is a header. UUIDs of version 1, 4 and 7, ULIDs, whole numbers (64 bits; from 2^41 on, which is a
 * second and a bit of a Snowflake's time, Snowflakes), bytes as 0x..., and text otherwise. column: its name
 * in the header; NULL: the first. kind: BK_ID_KIND_COUNT: as the first id tells. Errors: SIM_ERROR_INPUT with
 * file, line and cure, of an id of another kind and of fewer than IDS_LEAST ids too. */
bool ids_read(const char *path, const char *column, enum bk_id_kind kind, struct ids_sample *out,
              struct sim_error *error);
void ids_free(struct ids_sample *sample);

enum ids_test { IDS_TEST_BIT, IDS_TEST_PAIR, IDS_TEST_SERIAL, IDS_TEST_FIRE, IDS_TEST_COUNT };

struct ids_bits {
    uint32_t constant; /* bits that are the same in all ids, or, if more, in all ids of one process */
    double fires;      /* share of ids with all bits 1 */
    bool is_random;
    /* The test with the least chance: */
    enum ids_test test;
    uint32_t bit, other; /* other: of IDS_TEST_PAIR */
    bool is_of_process;  /* it is about the ids of one process alone */
    double share;        /* of IDS_TEST_BIT: of ones; PAIR, SERIAL: of equal bits; FIRE: as fires */
    double chance; /* that random bits give something as far off, times the number of tests; at most 1 */
};

struct ids_verdict {
    size_t count,
        repeated;     /* repeated: ids that stand in the sample more than once, after their first time */
    size_t processes; /* 0: ids of this kind do not tell theirs */
    struct ids_bits lowest; /* of the id as it stands */
    struct ids_bits taken;  /* by bk_id_bits() */
};

/* bits: 1 to IDS_BITS_MAX. False: no memory. */
bool ids_judge(const struct ids_sample *sample, uint32_t bits, struct ids_verdict *out,
               struct sim_error *error);
/* Why the lowest bits of such ids are not random, one sentence; NULL where they are. */
const char *ids_trap(enum bk_id_kind kind);

#ifdef __cplusplus
}
#endif
#endif
