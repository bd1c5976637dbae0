/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The token ring: which nodes hold the replicas of a token. */
#include "cassandra/ring.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ring.h"

#define NUM_TOKENS_MAX 4096u

/* The walk that begins at the last token: that token's node, then the ring from its start. */
static void walk_last(const struct cass_ring_entry *entries, uint32_t replication_factor, uint32_t last_node,
                      bool *met, uint32_t *out)
{
    out[0] = last_node;
    met[last_node] = true;
    uint32_t found = 1;
    for (size_t i = 0; found < replication_factor; i++) {
        if (met[entries[i].node])
            continue;
        met[entries[i].node] = true;
        out[found++] = entries[i].node;
    }
}

/* Sets `out` to `node` followed by the nodes of `next` other than `node`, up to the replication factor. */
static void prepend(uint32_t node, const uint32_t *next, uint32_t replication_factor, uint32_t *out)
{
    uint32_t found = 1;
    out[0] = node;
    for (uint32_t i = 0; found < replication_factor; i++) {
        if (next[i] != node)
            out[found++] = next[i];
    }
}

/* Goes backwards around the ring: the replicas of a token are its node followed by the replicas of the next
 * token, so only the last token needs a walk, whatever the order of the nodes. */
static bool place_replicas(struct cass_ring *ring, const struct cass_ring_entry *entries,
                           struct sim_error *error)
{
    uint32_t factor = ring->replication_factor;
    bool *met = calloc(ring->node_count, sizeof(*met));
    if (met == NULL)
        return sim_fail_memory(error);
    uint32_t nodes_with_tokens = 0;
    for (size_t i = 0; i < ring->token_count; i++) {
        ring->tokens[i] = entries[i].token;
        nodes_with_tokens += met[entries[i].node] ? 0 : 1;
        met[entries[i].node] = true;
    }
    if (nodes_with_tokens < factor) {
        free(met);
        return sim_fail(error, SIM_ERROR_INPUT,
                        "only %" PRIu32 " nodes have tokens, too few for %" PRIu32
                        " replicas; give more nodes tokens or lower the replication factor",
                        nodes_with_tokens, factor);
    }
    memset(met, 0, ring->node_count * sizeof(*met));
    size_t last = ring->token_count - 1;
    walk_last(entries, factor, entries[last].node, met, ring->replicas + last * factor);
    for (size_t i = last; i-- > 0;) {
        const uint32_t *next = ring->replicas + (i + 1) * factor;
        prepend(entries[i].node, next, factor, ring->replicas + i * factor);
    }
    free(met);
    return true;
}

/* Builds a ring from sorted entries with distinct tokens. */
static bool ring_build(const struct cass_ring_entry *entries, size_t count, uint32_t nodes,
                       uint32_t replication_factor, struct cass_ring **out, struct sim_error *error)
{
    struct cass_ring *ring = cass_ring_allocate(count, nodes, replication_factor);
    if (ring == NULL)
        return sim_fail_memory(error);
    bool ok = place_replicas(ring, entries, error);
    if (!ok) {
        cass_ring_destroy(ring);
        return false;
    }
    *out = ring;
    return true;
}

bool cass_ring_create(uint64_t seed, uint32_t nodes, uint32_t num_tokens, uint32_t replication_factor,
                      struct cass_ring **out, struct sim_error *error)
{
    *out = NULL;
    if (!cass_ring_check_tokens(num_tokens, error))
        return false;
    if (!cass_ring_check(nodes, (size_t)nodes * num_tokens, replication_factor, error))
        return false;
    size_t count = (size_t)nodes * num_tokens;
    struct cass_ring_entry *entries = malloc(count * sizeof(*entries));
    if (entries == NULL)
        return sim_fail_memory(error);
    bool ok = cass_ring_draw_all(seed, nodes, num_tokens, entries)
                  ? ring_build(entries, count, nodes, replication_factor, out, error)
                  : sim_fail_memory(error);
    free(entries);
    return ok;
}

bool cass_ring_create_from(const int64_t *tokens, const uint32_t *token_nodes, size_t token_count,
                           uint32_t nodes, uint32_t replication_factor, struct cass_ring **out,
                           struct sim_error *error)
{
    *out = NULL;
    if (!cass_ring_check(nodes, token_count, replication_factor, error))
        return false;
    struct cass_ring_entry *entries = malloc(token_count * sizeof(*entries));
    if (entries == NULL)
        return sim_fail_memory(error);
    bool ok = cass_ring_take_all(tokens, token_nodes, token_count, nodes, entries, error);
    ok = ok && ring_build(entries, token_count, nodes, replication_factor, out, error);
    free(entries);
    return ok;
}

void cass_ring_destroy(struct cass_ring *ring)
{
    if (ring == NULL)
        return;
    free(ring->tokens);
    free(ring->replicas);
    free(ring);
}

uint32_t cass_ring_node_count(const struct cass_ring *ring)
{
    return ring->node_count;
}

uint32_t cass_ring_replication_factor(const struct cass_ring *ring)
{
    return ring->replication_factor;
}

/* A binary search whose number of steps does not depend on the data. It advances by a multiplication instead
 * of a condition, so that the compiler needs no branch: with random tokens, half of the predictions would be
 * wrong. */
size_t cass_ring_position(const struct cass_ring *ring, int64_t token)
{
    const int64_t *base = ring->tokens;
    for (size_t length = ring->token_count; length > 1;) {
        size_t half = length / 2;
        base += (size_t)(base[half - 1] < token) * half;
        length -= half;
    }
    size_t position = (size_t)(base - ring->tokens) + (*base < token ? 1 : 0);
    return position == ring->token_count ? 0 : position;
}

int64_t cass_ring_token_at(const struct cass_ring *ring, size_t position)
{
    return ring->tokens[position];
}

const uint32_t *cass_ring_replicas(const struct cass_ring *ring, int64_t token)
{
    return ring->replicas + cass_ring_position(ring, token) * ring->replication_factor;
}

bool cass_ring_check(uint32_t nodes, size_t token_count, uint32_t replication_factor, struct sim_error *error)
{
    if (nodes < 1 || nodes > CASS_NODES_MAX) {
        return sim_fail(error, SIM_ERROR_INPUT, "a ring cannot have %" PRIu32 " nodes; give 1 to %u", nodes,
                        CASS_NODES_MAX);
    }
    if (replication_factor < 1 || replication_factor > nodes || replication_factor > CASS_REPLICAS_MAX) {
        uint32_t most = nodes < CASS_REPLICAS_MAX ? nodes : CASS_REPLICAS_MAX;
        return sim_fail(error, SIM_ERROR_INPUT,
                        "a ring of %" PRIu32 " nodes cannot hold %" PRIu32 " replicas; give 1 to %" PRIu32,
                        nodes, replication_factor, most);
    }
    if (token_count < 1 || token_count > CASS_RING_REPLICAS_MAX / replication_factor) {
        return sim_fail(error, SIM_ERROR_INPUT,
                        "a ring of %zu tokens with %" PRIu32
                        " replicas is too large or empty; give 1 to %zu tokens",
                        token_count, replication_factor, CASS_RING_REPLICAS_MAX / replication_factor);
    }
    return true;
}

/* Each node has its own stream of random numbers, so that adding a node does not change the tokens of the
 * others. Returns false when out of memory. */
bool cass_ring_draw_all(uint64_t seed, uint32_t nodes, uint32_t num_tokens, struct cass_ring_entry *entries)
{
    struct sim_random *streams = malloc(nodes * sizeof(*streams));
    if (streams == NULL)
        return false;
    for (uint32_t node = 0; node < nodes; node++) {
        sim_random_init(&streams[node], seed, SIM_RING, node);
        for (uint32_t i = 0; i < num_tokens; i++) {
            struct cass_ring_entry *entry = &entries[(size_t)node * num_tokens + i];
            *entry = (struct cass_ring_entry){.token = cass_ring_draw(&streams[node]), .node = node};
        }
    }
    cass_ring_settle(entries, (size_t)nodes * num_tokens, streams);
    free(streams);
    return true;
}

bool cass_ring_take_all(const int64_t *tokens, const uint32_t *token_nodes, size_t token_count,
                        uint32_t nodes, struct cass_ring_entry *entries, struct sim_error *error)
{
    bool ok = true;
    for (size_t i = 0; ok && i < token_count; i++) {
        entries[i] = (struct cass_ring_entry){.token = tokens[i], .node = token_nodes[i]};
        if (token_nodes[i] >= nodes) {
            ok = sim_fail(error, SIM_ERROR_INPUT,
                          "token %" PRId64 " belongs to node %" PRIu32 ", but the ring has %" PRIu32
                          "; number the nodes from 0",
                          tokens[i], token_nodes[i], nodes);
        }
    }
    if (ok) {
        cass_ring_sort(entries, token_count);
        size_t duplicate = cass_ring_duplicate(entries, token_count);
        if (duplicate < token_count) {
            ok = sim_fail(error, SIM_ERROR_INPUT,
                          "token %" PRId64 " appears twice in the ring; give it to one node",
                          entries[duplicate].token);
        }
    }
    return ok;
}

bool cass_ring_check_tokens(uint32_t num_tokens, struct sim_error *error)
{
    if (num_tokens >= 1 && num_tokens <= NUM_TOKENS_MAX)
        return true;
    return sim_fail(error, SIM_ERROR_INPUT, "a node cannot have %" PRIu32 " tokens; give 1 to %u", num_tokens,
                    NUM_TOKENS_MAX);
}

struct cass_ring *cass_ring_allocate(size_t token_count, uint32_t nodes, uint32_t replication_factor)
{
    struct cass_ring *ring = malloc(sizeof(*ring));
    if (ring == NULL)
        return NULL;
    *ring = (struct cass_ring){
        .token_count = token_count,
        .node_count = nodes,
        .replication_factor = replication_factor,
        .tokens = malloc(token_count * sizeof(*ring->tokens)),
        .replicas = malloc(token_count * replication_factor * sizeof(*ring->replicas)),
    };
    if (ring->tokens == NULL || ring->replicas == NULL) {
        cass_ring_destroy(ring);
        return NULL;
    }
    return ring;
}
