/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Serialises a partition key and computes its token as Murmur3Partitioner does. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bucketing/hash.h"
#include "cassandra/ring.h"
#include "cassandra/token.h"
#include "state.h"

#define FRAME_SIZE                                                                                           \
    3u /* per component of a composite: a length of two bytes before it, and a zero byte after it \ */

int64_t cass_token(const void *serialised_key, size_t size)
{
    /* Murmur3Partitioner.getToken returns MINIMUM for an empty key without hashing it. */
    if (size == 0)
        return INT64_MIN;
    struct bk_hash128 hash = bk_murmur3_128_cassandra(serialised_key, size, 0);
    int64_t token = (int64_t)hash.h1;
    return token == INT64_MIN ? INT64_MAX : token;
}

size_t cass_key_size(const struct cass_component *components, size_t count)
{
    assert(count >= 1);
    if (count == 1)
        return components[0].size;
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += components[i].size + FRAME_SIZE;
    return size;
}

static uint8_t *write_component(uint8_t *out, const void *data, size_t size)
{
    assert(size <= CASS_COMPONENT_SIZE_MAX);
    out[0] = (uint8_t)(size >> 8);
    out[1] = (uint8_t)size;
    if (size > 0)
        memcpy(out + 2, data, size);
    out[2 + size] = 0;
    return out + 2 + size + 1;
}

void cass_key_serialise(const struct cass_component *components, size_t count, uint8_t *out)
{
    assert(count >= 1);
    if (count == 1) {
        if (components[0].size > 0)
            memcpy(out, components[0].data, components[0].size);
        return;
    }
    for (size_t i = 0; i < count; i++)
        out = write_component(out, components[i].data, components[i].size);
}

int64_t cass_token_bucketed(const char *key, size_t key_size, int64_t bucket)
{
    uint8_t number[8];
    for (size_t i = 0; i < sizeof(number); i++)
        number[i] = (uint8_t)((uint64_t)bucket >> (56 - 8 * i));
    uint8_t serialised[CASS_COMPONENT_SIZE_MAX + sizeof(number) + 2 * FRAME_SIZE];
    uint8_t *end = write_component(serialised, key, key_size);
    end = write_component(end, number, sizeof(number));
    return cass_token(serialised, (size_t)(end - serialised));
}

/* Draws the tokens of a ring at random, sorts them and redraws duplicates. */

int64_t cass_ring_draw(struct sim_random *stream)
{
    int64_t token = (int64_t)sim_random_next(stream);
    return token == INT64_MIN ? INT64_MAX : token;
}

static int compare_entries(const void *left, const void *right)
{
    const struct cass_ring_entry *a = left;
    const struct cass_ring_entry *b = right;
    if (a->token != b->token)
        return a->token < b->token ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

/* Orders by token, then node. */
static void cass_ring_sort(struct cass_ring_entry *entries, size_t count)
{
    qsort(entries, count, sizeof(*entries), compare_entries);
}

size_t cass_ring_duplicate(const struct cass_ring_entry *entries, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (entries[i].token == entries[i - 1].token)
            return i;
    }
    return count;
}

void cass_ring_settle(struct cass_ring_entry *entries, size_t count, struct sim_random *streams)
{
    cass_ring_sort(entries, count);
    while (cass_ring_duplicate(entries, count) < count) {
        /* This goes backwards, so that a redrawn token is not compared with its left neighbour again in this
         * pass. */
        for (size_t i = count - 1; i > 0; i--) {
            if (entries[i].token == entries[i - 1].token)
                entries[i].token = cass_ring_draw(&streams[entries[i].node]);
        }
        cass_ring_sort(entries, count);
    }
}

/* The token ring: which nodes hold the replicas of a token. */

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

/* Allocates a ring whose contents are not set; NULL when out of memory. */
static struct cass_ring *cass_ring_allocate(size_t token_count, uint32_t nodes, uint32_t replication_factor)
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

static bool cass_ring_check_tokens(uint32_t num_tokens, struct sim_error *error)
{
    if (num_tokens >= 1 && num_tokens <= NUM_TOKENS_MAX)
        return true;
    return sim_fail(error, SIM_ERROR_INPUT, "a node cannot have %" PRIu32 " tokens; give 1 to %u", num_tokens,
                    NUM_TOKENS_MAX);
}

/* Returns false, with an error, for values out of range. */
static bool cass_ring_check(uint32_t nodes, size_t token_count, uint32_t replication_factor,
                            struct sim_error *error)
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
static bool cass_ring_draw_all(uint64_t seed, uint32_t nodes, uint32_t num_tokens,
                               struct cass_ring_entry *entries)
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

/* Sorts given tokens into entries; false, with an error, for an unknown node or a duplicate token. */
static bool cass_ring_take_all(const int64_t *tokens, const uint32_t *token_nodes, size_t token_count,
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

/* NetworkTopologyStrategy. */

/* The state of one token's walk: what is still to be found in each datacenter. Racks and nodes that were
 * found are marked with the number of the walk. */
struct walk {
    const struct cass_topology *topology;
    uint32_t rack_stride;
    uint32_t *rack_counts, *node_counts; /* of each datacenter, counting only nodes with tokens */
    uint32_t *left;                      /* for each datacenter: the number of nodes to find */
    int64_t *repeats;                    /* for each datacenter: acceptable repeats of racks */
    uint32_t *node_stamps, *rack_stamps;
    uint32_t stamp;
};

static void walk_destroy(struct walk *walk)
{
    free(walk->rack_counts);
    free(walk->node_counts);
    free(walk->left);
    free(walk->repeats);
    free(walk->node_stamps);
    free(walk->rack_stamps);
}

static bool walk_create(struct walk *walk, const struct cass_topology *topology,
                        const struct cass_ring_entry *entries, size_t count)
{
    uint32_t nodes = topology->node_count, datacenters = topology->datacenter_count, stride = 1;
    for (uint32_t node = 0; node < nodes; node++)
        stride = topology->node_racks[node] >= stride ? topology->node_racks[node] + 1 : stride;
    *walk = (struct walk){
        .topology = topology,
        .rack_stride = stride,
        .rack_counts = calloc(datacenters + 1, sizeof(uint32_t)),
        .node_counts = calloc(datacenters + 1, sizeof(uint32_t)),
        .left = calloc(datacenters + 1, sizeof(uint32_t)),
        .repeats = calloc(datacenters + 1, sizeof(int64_t)),
        .node_stamps = calloc(nodes, sizeof(uint32_t)),
        .rack_stamps = calloc((size_t)datacenters * stride + 1, sizeof(uint32_t)),
        .stamp = 1,
    };
    if (walk->rack_counts == NULL || walk->node_counts == NULL || walk->left == NULL ||
        walk->repeats == NULL || walk->node_stamps == NULL || walk->rack_stamps == NULL) {
        walk_destroy(walk);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t node = entries[i].node, datacenter = topology->node_datacenters[node];
        size_t rack = (size_t)datacenter * stride + topology->node_racks[node];
        walk->node_counts[datacenter] += walk->node_stamps[node] == 0;
        walk->rack_counts[datacenter] += walk->rack_stamps[rack] == 0;
        walk->node_stamps[node] = 1;
        walk->rack_stamps[rack] = 1;
    }
    return true;
}

static uint32_t factor_total(const struct walk *walk)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < walk->topology->datacenter_count; i++) {
        uint32_t factor = walk->topology->replication_factors[i];
        total += factor < walk->node_counts[i] ? factor : walk->node_counts[i];
    }
    return total;
}

static void walk_from(struct walk *walk, const struct cass_ring_entry *entries, size_t count, size_t position,
                      uint32_t factor, uint32_t *out)
{
    const struct cass_topology *topology = walk->topology;
    walk->stamp++;
    for (uint32_t i = 0; i < topology->datacenter_count; i++) {
        uint32_t wanted = topology->replication_factors[i];
        walk->left[i] = wanted < walk->node_counts[i] ? wanted : walk->node_counts[i];
        walk->repeats[i] = (int64_t)wanted - walk->rack_counts[i];
    }
    uint32_t found = 0;
    for (size_t i = position; found < factor; i = i + 1 == count ? 0 : i + 1) {
        uint32_t node = entries[i].node, datacenter = topology->node_datacenters[node];
        size_t rack = (size_t)datacenter * walk->rack_stride + topology->node_racks[node];
        if (walk->left[datacenter] == 0 || walk->node_stamps[node] == walk->stamp)
            continue;
        bool is_repeat = walk->rack_stamps[rack] == walk->stamp;
        if (is_repeat && walk->repeats[datacenter] <= 0)
            continue;
        walk->repeats[datacenter] -= is_repeat ? 1 : 0;
        walk->rack_stamps[rack] = walk->stamp;
        walk->node_stamps[node] = walk->stamp;
        walk->left[datacenter]--;
        out[found++] = node;
    }
}

static bool network_build(const struct cass_ring_entry *entries, size_t count,
                          const struct cass_topology *topology, struct cass_ring **out,
                          struct sim_error *error)
{
    struct walk walk;
    if (!walk_create(&walk, topology, entries, count))
        return sim_fail_memory(error);
    uint32_t factor = factor_total(&walk);
    struct cass_ring *ring = NULL;
    bool ok = cass_ring_check(topology->node_count, count, factor, error);
    if (ok) {
        ring = cass_ring_allocate(count, topology->node_count, factor);
        ok = ring != NULL || sim_fail_memory(error);
    }
    for (size_t i = 0; ok && i < count; i++) {
        ring->tokens[i] = entries[i].token;
        walk_from(&walk, entries, count, i, factor, ring->replicas + i * factor);
    }
    walk_destroy(&walk);
    *out = ring;
    return ok;
}

bool cass_ring_create_network(uint64_t seed, const struct cass_topology *topology, uint32_t num_tokens,
                              struct cass_ring **out, struct sim_error *error)
{
    *out = NULL;
    uint32_t nodes = topology->node_count;
    size_t count = (size_t)nodes * num_tokens;
    if (!cass_ring_check_tokens(num_tokens, error) || !cass_ring_check(nodes, count, 1, error))
        return false;
    struct cass_ring_entry *entries = malloc(count * sizeof(*entries));
    if (entries == NULL)
        return sim_fail_memory(error);
    bool ok = cass_ring_draw_all(seed, nodes, num_tokens, entries)
                  ? network_build(entries, count, topology, out, error)
                  : sim_fail_memory(error);
    free(entries);
    return ok;
}

bool cass_ring_create_network_from(const int64_t *tokens, const uint32_t *token_nodes, size_t token_count,
                                   const struct cass_topology *topology, struct cass_ring **out,
                                   struct sim_error *error)
{
    *out = NULL;
    if (!cass_ring_check(topology->node_count, token_count, 1, error))
        return false;
    struct cass_ring_entry *entries = malloc(token_count * sizeof(*entries));
    if (entries == NULL)
        return sim_fail_memory(error);
    bool ok = cass_ring_take_all(tokens, token_nodes, token_count, topology->node_count, entries, error) &&
              network_build(entries, token_count, topology, out, error);
    free(entries);
    return ok;
}
