/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sample of a user's ids, and whether a strategy that wants random bits may take them from it.
 *
 * A probabilistic strategy counts a row when the k lowest bits of its id are all 1. Two sets of bits are
 * tested: the k lowest of the id itself, and the k lowest of bk_id_bits(). For each set, exact binomial
 * tests compare with random bits: every bit, every pair of bits, every bit with the same bit of the
 * previous id, and the share of ids with all bits 1. Where the id names its process, the tests are repeated
 * for each process with at least IDS_LEAST ids. A set counts as random when the smallest p-value times the
 * number of tests (Bonferroni) is at least IDS_CHANCE, so random bits are called biased once in a million
 * samples. */
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

#define IDS_LEAST    64u /* fewer ids show nothing */
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
 * in the header; NULL: the first. kind: BK_ID_KIND_COUNT: taken from the first id. Errors: SIM_ERROR_INPUT
 * with file, line and cure; also for an id of another kind, and for fewer than IDS_LEAST ids. */
bool ids_read(const char *path, const char *column, enum bk_id_kind kind, struct ids_sample *out,
              struct sim_error *error);
void ids_free(struct ids_sample *sample);

enum ids_test { IDS_TEST_BIT, IDS_TEST_PAIR, IDS_TEST_SERIAL, IDS_TEST_FIRE, IDS_TEST_COUNT };

struct ids_bits {
    uint32_t constant; /* number of bits that are equal in all ids, or in all ids of one process where that
                          is more */
    double fires;      /* share of ids with all bits 1 */
    bool is_random;
    /* The test with the smallest p-value: */
    enum ids_test test;
    uint32_t bit, other; /* other: of IDS_TEST_PAIR */
    bool is_of_process;  /* it is about the ids of one process alone */
    double share;        /* of IDS_TEST_BIT: of ones; PAIR, SERIAL: of equal bits; FIRE: as fires */
    double chance;       /* its p-value times the number of tests; at most 1 */
};

struct ids_verdict {
    size_t count, repeated; /* repeated: occurrences of an id after its first */
    size_t processes;       /* 0: ids of this kind do not name their process */
    struct ids_bits lowest; /* of the id as it stands */
    struct ids_bits taken;  /* by bk_id_bits() */
};

/* bits: 1 to IDS_BITS_MAX. False: no memory. */
bool ids_judge(const struct ids_sample *sample, uint32_t bits, struct ids_verdict *out,
               struct sim_error *error);
/* One sentence on why the lowest bits of ids of this kind are not random; NULL where they are. */
const char *ids_trap(enum bk_id_kind kind);

#ifdef __cplusplus
}
#endif
#endif
