/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests whether the ids of a user's sample are random enough for a strategy that derives random bits from
 * them.
 *
 * With a probabilistic strategy, a row fires when the k lowest bits of its id are all 1. Two sets of bits are
 * tested: the k lowest of the id itself, and the k lowest of bk_id_bits(). For each set, exact binomial tests
 * compare the following with random bits: every bit, every pair of bits, every bit together with the same bit
 * of the previous id, and the share of ids whose bits are all 1. If ids contain their process, the tests are
 * repeated for each process with at least IDS_LEAST ids. A set is considered random when the smallest p-value
 * times the number of tests (Bonferroni) is at least IDS_CHANCE, so random bits are called biased in one
 * sample of a million. */
#ifndef IDS_IDS_H
#define IDS_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bucketing/id.h"
#include "kernel/error.h"

#define IDS_LEAST    64u       /* fewer ids are not enough for a test */
#define IDS_MOST     10000000u /* more ids, as an endless stream has, need not be held in memory */
#define IDS_BITS_MAX 32u
#define IDS_CHANCE   1e-6

struct ids_sample {
    enum bk_id_kind kind;
    const char *form; /* of ids of the kind BYTES, which bits of it are random; NULL: no known form */
    uint8_t *bytes;   /* the bytes of all ids in sequence, as bk_id_bits() takes them */
    size_t *ends;     /* end of each id in `bytes` */
    size_t count;
};

/* Reads the ids in a column of a CSV file, plain or compressed, or of a table pasted from a terminal; a first
 * record without an id is taken as a header. An id is a UUID of version 1, 4 or 7, a ULID, a whole number of
 * 64 bits (a Snowflake from 2^41 on, which is nine minutes after the epoch of Snowflakes), bytes written as
 * 0x..., or else a text.
 *
 * @param column  the column's name in the header; NULL: the first column
 * @param kind    BK_ID_KINDS: the kind of most ids
 * @return        false with SIM_ERROR_INPUT and file, line and remedy; also for an id of another kind,
 *                for fewer than IDS_LEAST ids, and for more than IDS_MOST */
bool ids_read(const char *path, const char *column, enum bk_id_kind kind, struct ids_sample *out,
              struct sim_error *error);
void ids_free(struct ids_sample *sample);

enum ids_test { IDS_TEST_BIT, IDS_TEST_PAIR, IDS_TEST_SERIAL, IDS_TEST_FIRE, IDS_TEST_COUNT };

struct ids_bits {
    uint32_t constant; /* number of bits that are equal in all ids, or in all ids of one process if that
                          number is larger */
    double fires;      /* share of ids with all bits 1 */
    bool is_random;
    /* The test with the smallest p-value: */
    enum ids_test test;
    uint32_t bit, other; /* the tested bit; other: the second bit of IDS_TEST_PAIR */
    bool is_of_process;  /* the test covers only the ids of one process */
    double share;  /* IDS_TEST_BIT: share of ones; PAIR, SERIAL: share of equal bits; FIRE: as `fires` */
    double chance; /* its p-value times the number of tests; at most 1 */
};

struct ids_verdict {
    size_t count, repeated; /* repeated: occurrences of an id after its first */
    size_t processes;       /* 0: ids of this kind do not name their process */
    struct ids_bits lowest; /* the bits of the id itself */
    struct ids_bits taken;  /* the bits that bk_id_bits() takes */
};

/* Tests a sample. bits: k, from 1 to IDS_BITS_MAX. Returns false when out of memory. */
bool ids_judge(const struct ids_sample *sample, uint32_t bits, struct ids_verdict *out,
               struct sim_error *error);
/* A sentence that explains why the lowest bits of ids of this kind are not random; NULL when they are. */
const char *ids_trap(enum bk_id_kind kind);

#endif
