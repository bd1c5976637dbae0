/* SPDX-License-Identifier: MIT */
/* What only the simulator asks of an agent, and of a client of identifiers. This header is not installed, and
 * the shared library does not export its functions. */
#ifndef BUCKETING_PRIVATE_LAB_H
#define BUCKETING_PRIVATE_LAB_H

#include "bucketing/agent.h"

/* Prefetches the key's cache entries in the agent's memory into the processor's cache, for a host that will
 * soon write or read the key. It does nothing for NULL, and with compilers other than GCC and Clang. Cost:
 * constant. */
void bk_agent_prefetch(const struct bk_agent *agent, uint64_t key);

/* The number of the set of four entries in which the cache keeps the key's state. A fifth key of the same set
 * evicts one of the four, so a cache of n entries may keep fewer than n keys. config must not be NULL, and is
 * not checked. Cost: constant. */
uint32_t bk_agent_cache_set(const struct bk_agent_config *config, uint64_t key);

/* Forgets how many actions the agent has had: the ticket of each action under way is then its operation's
 * number + 1. So agents in the same situation have the same checkpoint, however they came there. The agent
 * accepts only the new tickets. Cost: linear in the operations that were ever under way at once. */
void bk_agent_forget_tickets(struct bk_agent *agent);

struct bk_idgen;

/* How many attempts at a lock the client has begun, and how many columns of others, which are stale, its
 * release will delete. */
uint64_t bk_idgen_attempts(const struct bk_idgen *idgen);
uint32_t bk_idgen_stale_columns(const struct bk_idgen *idgen);

#endif
