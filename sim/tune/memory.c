/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The number under which the result of a run is remembered: a digest of everything that it depends on, except
 * for the scenario. */
#include "tune/memory.h"

#include <string.h>

#include "bucketing/hash.h"
#include "kernel/digest.h"
#include "tune/strategy_text.h"

uint64_t tune_memory_job(const struct lab_strategy *strategy, uint64_t seed, double factor)
{
    char text[TUNE_STRATEGY_TEXT_SIZE];
    uint64_t bits;
    tune_strategy_text(strategy, text);
    memcpy(&bits, &factor, sizeof bits);
    return sim_digest_chain(sim_digest_chain(seed, bits), bk_murmur3_128(text, strlen(text), 0).h1);
}
