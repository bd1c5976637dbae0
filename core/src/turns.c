/* SPDX-License-Identifier: MIT */
/* The order in which operations on one key take turns to make requests: by operation number. An operation
 * that makes requests for others, is parked, or uses the lock row is in the list of its key's hash (Fibonacci
 * hashing; there are as many lists as operations, so keys rarely share one). The head of a list, and each
 * link, is the number of the next operation plus 1, or 0. Protocols in which no operation waits for another
 * have no lists. */
#include "operation.h"

static uint32_t *head_of(struct bk_agent *agent, uint64_t key)
{
    /* The high half of the product selects the list. */
    uint64_t high = key * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    return bk_agent_numbers(agent, agent->lists_at) + (high * agent->list_count >> 32);
}

/* Returns the head or the link that refers to the operation, or that would if it were in the list. */
static uint32_t *place_of(struct bk_agent *agent, uint32_t number)
{
    uint32_t *links = bk_agent_numbers(agent, agent->links_at);
    uint32_t *link = head_of(agent, bk_agent_operations(agent)[number].key);
    while (*link != 0 && *link < number + 1)
        link = &links[*link - 1];
    return link;
}

bool bk_turns_asks(const struct bk_agent *agent, const struct operation *operation)
{
    const struct protocol *protocol = bk_protocol(agent);
    return protocol->asks != NULL && protocol->asks(operation);
}

void bk_turns_update(struct bk_agent *agent, uint32_t number)
{
    const struct protocol *protocol = bk_protocol(agent);
    struct operation *operation = &bk_agent_operations(agent)[number];
    bool is_locking = protocol->is_locking != NULL && protocol->is_locking(operation);
    bool concerns_others = operation->step == STEP_PARKED || is_locking || bk_turns_asks(agent, operation);
    if (concerns_others == operation->is_listed)
        return;
    uint32_t *place = place_of(agent, number), *link = &bk_agent_numbers(agent, agent->links_at)[number];
    operation->is_listed = concerns_others;
    if (concerns_others) {
        *link = *place;
        *place = number + 1;
    } else {
        *place = *link;
        *link = 0;
    }
}

/* Returns the first operation on the key, starting with the one that `link` refers to; NULL if there is
 * none. */
static struct operation *find(struct bk_agent *agent, uint32_t link, uint64_t key)
{
    const uint32_t *links = bk_agent_numbers(agent, agent->links_at);
    struct operation *operations = bk_agent_operations(agent);
    while (link != 0 && operations[link - 1].key != key)
        link = links[link - 1];
    return link == 0 ? NULL : &operations[link - 1];
}

struct operation *bk_turns_first(struct bk_agent *agent, uint64_t key)
{
    return agent->list_count == 0 ? NULL : find(agent, *head_of(agent, key), key);
}

struct operation *bk_turns_next(struct bk_agent *agent, const struct operation *operation)
{
    size_t number = (size_t)(operation - bk_agent_operations(agent));
    return find(agent, bk_agent_numbers(agent, agent->links_at)[number], operation->key);
}

bool bk_turns_is_taken(struct bk_agent *agent, const struct operation *operation)
{
    const struct operation *other = bk_turns_first(agent, operation->key);
    while (other != NULL && (other == operation || !bk_turns_asks(agent, other)))
        other = bk_turns_next(agent, other);
    return other != NULL;
}

bool bk_turns_is_locking(struct bk_agent *agent, const struct operation *operation)
{
    const struct protocol *protocol = bk_protocol(agent);
    const struct operation *other = bk_turns_first(agent, operation->key);
    while (other != NULL && (other == operation || !protocol->is_locking(other)))
        other = bk_turns_next(agent, other);
    return other != NULL;
}
