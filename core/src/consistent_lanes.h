/* SPDX-License-Identifier: MIT */
/* Computes several consistent hashes in parallel, LANES of them in a register of floats (SIMD). hash.c
 * includes this file once for each width of registers, with the following names defined; they are undefined
 * at its end:
 *
 *     LANES, LANES_TARGET            walks of a register; what a function needs to use such registers
 *     LANES_NAME(name)               the name of a function for this width: multiply(), split() and join()
 *                                    are hash.c's own
 *     LANES_OP(operation)            an intrinsic on these registers
 *     LANES_INTS, LANES_FLOATS, LANES_MASK   types
 *     LANES_LOAD, LANES_STORE        integers from memory and into it
 *     LANES_EACH(value), LANES_XOR   64-bit integers: all equal, or the XOR of two registers
 *     LANES_BITS, LANES_VALUES       floats as integers, and back
 *     LANES_NONE, LANES_ALL, LANES_OR, LANES_MASK_BITS   masks, and one as a number
 *     LANES_IF_BELOW, LANES_IF_DIFFERENT     those of a mask of which a comparison is true
 *     LANES_CHOOSE(mask, a, b)       a where the mask is set, else b; neither is below 0, and b not above a
 * */

#define TOGETHER (REGISTERS * LANES)

#if LANES > 4
/* The last steps of murmur3. */
static LANES_TARGET inline LANES_INTS LANES_NAME(mix)(LANES_INTS k)
{
    k = LANES_NAME(multiply)(LANES_XOR(k, LANES_OP(srli_epi64)(k, 33)), MURMUR_MIX_1);
    k = LANES_NAME(multiply)(LANES_XOR(k, LANES_OP(srli_epi64)(k, 33)), MURMUR_MIX_2);
    return LANES_XOR(k, LANES_OP(srli_epi64)(k, 33));
}

/* The first halves of the murmur3_128 of several ids, as murmur_u64() computes them. Returns how many it has
 * hashed: whole registers alone. */
static LANES_TARGET size_t LANES_NAME(hash_lanes)(const uint64_t *ids, size_t count, uint64_t *hashes)
{
    const LANES_INTS size = LANES_EACH(sizeof *ids);
    size_t i = 0;
    for (; count - i >= LANES / 2; i += LANES / 2) {
        LANES_INTS k = LANES_NAME(multiply)(LANES_LOAD(ids + i), MURMUR_C1);
        k = LANES_XOR(LANES_OP(slli_epi64)(k, 31), LANES_OP(srli_epi64)(k, 33));
        LANES_INTS a = LANES_OP(add_epi64)(LANES_XOR(LANES_NAME(multiply)(k, MURMUR_C2), size), size);
        LANES_INTS b = LANES_OP(add_epi64)(a, size);
        LANES_STORE(hashes + i, LANES_OP(add_epi64)(LANES_NAME(mix)(a), LANES_NAME(mix)(b)));
    }
    return i;
}
#endif

/* Makes `steps` steps of TOGETHER walks, in several registers, since each has to wait for its divisions.
 * Returns the set of walks that are not finished, a bit each; *doubtful is the set of walks that must be
 * repeated one by one.
 *
 * Quotients are computed in single precision, and made too small by a relative 2^-21, with an error of at
 * most 2^-22; a quotient that is a relative 2^-20 larger is then too large. If both have the same whole part,
 * so has the true quotient. The whole part is found by subtracting a half and rounding to nearest; for a
 * quotient that is itself a whole number this may give the number below, which is then in doubt. */
static LANES_TARGET inline uint32_t LANES_NAME(go_on)(const uint64_t *from, struct walks *walks, size_t at,
                                                      bool is_first, unsigned steps, uint32_t buckets,
                                                      uint32_t *doubtful)
{
    const LANES_FLOATS end = LANES_OP(set1_ps)((float)buckets), one = LANES_OP(set1_ps)(1);
    const LANES_FLOATS unit = LANES_OP(set1_ps)(0x1p-31f * (1 + 0x1p-21f));
    const LANES_FLOATS more = LANES_OP(set1_ps)(1 + 0x1p-20f);
    const LANES_FLOATS half_less = LANES_OP(set1_ps)(0x1p23f - 0.5f);
    const LANES_FLOATS plus_one = LANES_OP(set1_ps)(0x1p23f - 1);
    LANES_INTS first[REGISTERS], second[REGISTERS];
    LANES_FLOATS next[REGISTERS], last[REGISTERS];
    LANES_MASK doubt[REGISTERS], live[REGISTERS];
    for (unsigned r = 0; r < REGISTERS; r++) {
        first[r] = LANES_LOAD(from + r * LANES);
        second[r] = LANES_LOAD(from + r * LANES + LANES / 2);
        LANES_NAME(split)(&first[r], &second[r]);
        next[r] = last[r] = is_first ? one : LANES_OP(loadu_ps)(walks->next + at + r * LANES);
        doubt[r] = LANES_NONE;
        live[r] = LANES_ALL;
    }
    for (unsigned i = 0; i < steps; i++) {
        for (unsigned r = 0; r < REGISTERS; r++) {
            first[r] = LANES_OP(add_epi64)(LANES_NAME(multiply)(first[r], WALK_FACTOR), LANES_EACH(1));
            second[r] = LANES_OP(add_epi64)(LANES_NAME(multiply)(second[r], WALK_FACTOR), LANES_EACH(1));
            LANES_FLOATS upper = LANES_OP(shuffle_ps)(LANES_VALUES(first[r]), LANES_VALUES(second[r]), 0xdd);
            LANES_INTS draw = LANES_OP(srli_epi32)(LANES_BITS(upper), 1); /* less 1 */
            LANES_FLOATS share = LANES_OP(mul_ps)(LANES_OP(add_ps)(LANES_OP(cvtepi32_ps)(draw), one), unit);
            LANES_FLOATS quotient = LANES_OP(div_ps)(next[r], share);
            LANES_FLOATS whole = LANES_OP(add_ps)(quotient, half_less);
            LANES_FLOATS most = LANES_OP(add_ps)(LANES_OP(mul_ps)(quotient, more), half_less);
            next[r] = LANES_OP(sub_ps)(whole, plus_one);
            live[r] = LANES_IF_BELOW(live[r], quotient, end);
            last[r] = LANES_CHOOSE(live[r], next[r], last[r]);
            doubt[r] = LANES_OR(doubt[r], LANES_IF_DIFFERENT(live[r], whole, most));
        }
    }
    uint32_t goes_on = *doubtful = 0;
    for (unsigned r = 0; r < REGISTERS; r++) {
        LANES_NAME(join)(&first[r], &second[r]);
        LANES_STORE(walks->state + at + r * LANES, first[r]);
        LANES_STORE(walks->state + at + r * LANES + LANES / 2, second[r]);
        LANES_OP(storeu_ps)(walks->next + at + r * LANES, last[r]);
        *doubtful |= LANES_MASK_BITS(doubt[r]) << r * LANES;
        goes_on |= LANES_MASK_BITS(live[r]) << r * LANES;
    }
    return goes_on & ~*doubtful;
}

/* Walks up to WALKS_AT_ONCE inputs. All make the first steps together; unfinished walks are compacted and
 * make some more steps, until few are left. */
static LANES_TARGET void LANES_NAME(walk_lanes)(const uint64_t *inputs, size_t count, uint32_t buckets,
                                                int32_t *out)
{
    struct walks walks;
    const unsigned steps = first_steps(buckets);
    const size_t whole = count - count % TOGETHER;
    size_t left = 0;
    uint32_t doubtful;
    for (size_t begin = 0, end; begin < whole; begin = end) {
        uint64_t live = 0;
        end = begin + STRIDE < whole ? begin + STRIDE : whole;
        for (size_t at = begin; at < end; at += TOGETHER) {
            live |= (uint64_t)LANES_NAME(go_on)(inputs + at, &walks, at, true, steps, buckets, &doubtful)
                    << (at - begin);
            for (size_t i = at; i < at + TOGETHER; i++)
                out[i] = (int32_t)walks.next[i] - 1;
            for (; __builtin_expect(doubtful != 0, 0); doubtful &= doubtful - 1)
                walk_again(inputs, at + (size_t)__builtin_ctz(doubtful), buckets, out);
        }
        for (; live != 0; live &= live - 1) {
            size_t i = begin + (size_t)__builtin_ctzll(live);
            keep(&walks, i, i, left++);
        }
    }
    while (left > FEW) {
        size_t before = left;
        left = 0;
        for (size_t at = 0; at < before; at += TOGETHER) {
            uint32_t live =
                LANES_NAME(go_on)(walks.state + at, &walks, at, false, NEXT_STEPS, buckets, &doubtful);
            uint32_t there = before - at < TOGETHER ? (UINT32_C(1) << (before - at)) - 1 : UINT32_MAX;
            for (size_t i = at; i < at + TOGETHER && i < before; i++)
                out[walks.input[i]] = (int32_t)walks.next[i] - 1;
            for (doubtful &= there; __builtin_expect(doubtful != 0, 0); doubtful &= doubtful - 1)
                walk_again(inputs, walks.input[at + (size_t)__builtin_ctz(doubtful)], buckets, out);
            for (live &= there; live != 0; live &= live - 1) {
                size_t i = at + (size_t)__builtin_ctz(live);
                keep(&walks, i, walks.input[i], left++);
            }
        }
    }
    for (size_t i = 0; i < left; i++)
        out[walks.input[i]] = walk(walks.state[i], (int32_t)walks.next[i], buckets);
    for (size_t i = whole; i < count; i++)
        walk_again(inputs, i, buckets, out);
}

#undef TOGETHER
#undef LANES
#undef LANES_TARGET
#undef LANES_NAME
#undef LANES_OP
#undef LANES_INTS
#undef LANES_FLOATS
#undef LANES_MASK
#undef LANES_LOAD
#undef LANES_STORE
#undef LANES_EACH
#undef LANES_XOR
#undef LANES_BITS
#undef LANES_VALUES
#undef LANES_NONE
#undef LANES_ALL
#undef LANES_OR
#undef LANES_MASK_BITS
#undef LANES_IF_BELOW
#undef LANES_IF_DIFFERENT
#undef LANES_CHOOSE
