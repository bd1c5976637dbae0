/* SPDX-License-Identifier: MIT */
/* The cache of key states. It is set-associative with four entries per set; a new key replaces the oldest
 * entry of its set. */
#include <string.h>

#include "protocol.h"

static struct cache_entry *set_of(const struct bk_agent *agent, uint64_t key)
{
    char *cache = (char *)(uintptr_t)(const void *)agent + agent->cache_at;
    return (struct cache_entry *)(void *)cache + bk_agent_set_at(key, agent->cache_sets);
}

static struct cache_entry *entry_of(const struct bk_agent *agent, uint64_t key)
{
    struct cache_entry *set = set_of(agent, key);
    for (uint32_t i = 0; i < CACHE_WAYS; i++) {
        if (set[i].is_used && set[i].key == key)
            return &set[i];
    }
    return NULL;
}

const struct known *bk_agent_cache_find(const struct bk_agent *agent, int64_t now_ns, uint64_t key)
{
    const struct cache_entry *entry = entry_of(agent, key);
    /* The age of an entry that was learned at a later clock reading, before the clock was set back, is
     * unknown. */
    if (entry == NULL || now_ns < entry->known.learned_ns ||
        (uint64_t)now_ns - (uint64_t)entry->known.learned_ns >= (uint64_t)agent->config.cache_ttl_ns)
        return NULL;
    return &entry->known;
}

void bk_agent_prefetch(const struct bk_agent *agent, uint64_t key)
{
    if (agent == NULL)
        return;
#ifdef __GNUC__
    const struct cache_entry *set = set_of(agent, key);
    for (uint32_t i = 0; i < CACHE_WAYS; i++)
        __builtin_prefetch(&set[i].key);
#else
    (void)key;
#endif
}

const struct known *bk_agent_cache_peek(const struct bk_agent *agent, uint64_t key)
{
    const struct cache_entry *entry = entry_of(agent, key);
    return entry == NULL ? NULL : &entry->known;
}

/* The entry with the lowest value is replaced: first an unused one, then one whose time is in the future
 * because the clock was set back, then the oldest. */
static int64_t worth_ns(const struct cache_entry *entry, int64_t now_ns)
{
    if (!entry->is_used)
        return INT64_MIN;
    return entry->known.learned_ns > now_ns ? INT64_MIN + 1 : entry->known.learned_ns;
}

static struct local_count *local_of(const struct bk_agent *agent, const struct cache_entry *entry)
{
    char *memory = (char *)(uintptr_t)(const void *)agent;
    size_t index = ((size_t)((const char *)entry - memory) - agent->cache_at) / sizeof *entry;
    return (struct local_count *)(void *)(memory + agent->local_at) + index;
}

void bk_agent_cache_store(struct bk_agent *agent, int64_t now_ns, uint64_t key, const struct known *known)
{
    struct cache_entry *entry = entry_of(agent, key);
    if (entry == NULL) {
        struct cache_entry *set = set_of(agent, key);
        entry = set;
        for (uint32_t i = 1; i < CACHE_WAYS; i++) {
            if (worth_ns(&set[i], now_ns) < worth_ns(entry, now_ns))
                entry = &set[i];
        }
    }
    if (bk_protocol(agent)->has_local_count && !(entry->is_used && entry->key == key)) {
        struct local_count *local = local_of(agent, entry);
        memset(local, 0, sizeof *local);
        /* A full set may have evicted this key before, and with it the number of rows that were not counted
         * yet. */
        local->is_cold = entry->is_used;
    }
    /* Assigned field by field, so that padding bytes stay 0 and copies of an agent are equal byte by byte. */
    entry->is_used = true;
    entry->key = key;
    entry->known = *known;
}

struct local_count *bk_agent_cache_local(const struct bk_agent *agent, uint64_t key)
{
    const struct cache_entry *entry = entry_of(agent, key);
    return entry == NULL ? NULL : local_of(agent, entry);
}

void bk_agent_cache_forget(struct bk_agent *agent, uint64_t key)
{
    struct cache_entry *entry = entry_of(agent, key);
    if (entry != NULL)
        entry->is_used = false;
}

uint32_t bk_agent_cache_set(const struct bk_agent_config *config, uint64_t key)
{
    uint32_t sets = config->cache_entries / CACHE_WAYS + (config->cache_entries % CACHE_WAYS != 0);
    return (uint32_t)(bk_agent_set_at(key, sets) / CACHE_WAYS);
}
