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

/* Per component of a composite: a length of two bytes before it, and a zero byte after it. */
#define FRAME_SIZE 3u

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

void cass_tokens_bucketed(const char *key, size_t key_size, int64_t *buckets, size_t count)
{
    uint8_t serialised[CASS_COMPONENT_SIZE_MAX + sizeof(*buckets) + 2 * FRAME_SIZE];
    uint8_t *number = write_component(serialised, key, key_size) + 2;
    const uint8_t *end = write_component(number - 2, &(int64_t){0}, sizeof(*buckets));
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < sizeof(*buckets); j++)
            number[j] = (uint8_t)((uint64_t)buckets[i] >> (56 - 8 * j));
        buckets[i] = cass_token(serialised, (size_t)(end - serialised));
    }
}

/* Draws the tokens of a ring at random, sorts them and redraws duplicates. */

int64_t cass_ring_draw(struct sim_random *stream)
{
    int64_t token = (int64_t)sim_random_next(stream);
    return token == INT64_MIN ? INT64_MAX : token;
}

/* Orders by token, then node. */
static int compare_entries(const void *left, const void *right)
{
    const struct cass_ring_entry *a = left;
    const struct cass_ring_entry *b = right;
    if (a->token != b->token)
        return a->token < b->token ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
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
    qsort(entries, count, sizeof(*entries), compare_entries);
    while (cass_ring_duplicate(entries, count) < count) {
        /* This goes backwards, so that a redrawn token is not compared with its left neighbour again in this
         * pass. */
        for (size_t i = count - 1; i > 0; i--) {
            if (entries[i].token == entries[i - 1].token)
                entries[i].token = cass_ring_draw(&streams[entries[i].node]);
        }
        qsort(entries, count, sizeof(*entries), compare_entries);
    }
}

/* The token ring: which nodes hold the replicas of a token. */

#define NUM_TOKENS_MAX 4096u

void cass_ring_destroy(struct cass_ring *ring)
{
    if (ring == NULL)
        return;
    free(ring->tokens);
    free(ring->replicas);
    free(ring->firsts);
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

static uint32_t part_of(int64_t token)
{
    return (uint32_t)(((uint64_t)token ^ UINT64_C(1) << 63) >> (64 - RING_PART_BITS));
}

/* A binary search among the positions of the token's part, most of which have none or one. */
size_t cass_ring_position(const struct cass_ring *ring, int64_t token)
{
    const uint32_t part = part_of(token);
    size_t low = ring->firsts[part], high = ring->firsts[part + 1];
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (ring->tokens[middle] < token)
            low = middle + 1;
        else
            high = middle;
    }
    return low == ring->token_count ? 0 : low;
}

const uint32_t *cass_ring_replicas(const struct cass_ring *ring, int64_t token)
{
    return ring->replicas + cass_ring_position(ring, token) * ring->replication_factor;
}

/* NetworkTopologyStrategy. With one datacenter of one rack it chooses as SimpleStrategy does. */

/* The state of one token's walk: what is still to be found in each datacenter. Racks and nodes that were
 * found are marked with the number of the walk. */
struct walk {
    const struct cass_topology *topology;
    uint32_t rack_stride;
    uint32_t rack_counts[CASS_DATACENTERS_MAX],
        node_counts[CASS_DATACENTERS_MAX]; /* only nodes with tokens */
    uint32_t left[CASS_DATACENTERS_MAX];   /* the number of nodes to find */
    int64_t repeats[CASS_DATACENTERS_MAX]; /* acceptable repeats of racks */
    uint32_t *node_stamps, *rack_stamps;   /* in one block */
    uint32_t stamp;
};

static bool walk_create(struct walk *walk, const struct cass_topology *topology,
                        const struct cass_ring_entry *entries, size_t count)
{
    uint32_t nodes = topology->node_count, stride = 1;
    assert(topology->datacenter_count <= CASS_DATACENTERS_MAX);
    for (uint32_t node = 0; node < nodes; node++)
        stride = topology->node_racks[node] >= stride ? topology->node_racks[node] + 1 : stride;
    *walk = (struct walk){.topology = topology, .rack_stride = stride, .stamp = 1};
    walk->node_stamps = calloc(nodes + (size_t)topology->datacenter_count * stride, sizeof(uint32_t));
    if (walk->node_stamps == NULL)
        return false;
    walk->rack_stamps = walk->node_stamps + nodes;
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

static uint32_t wanted_in(const struct walk *walk, uint32_t datacenter)
{
    uint32_t factor = walk->topology->replication_factors[datacenter];
    return factor < walk->node_counts[datacenter] ? factor : walk->node_counts[datacenter];
}

static void walk_from(struct walk *walk, const struct cass_ring_entry *entries, size_t count, size_t position,
                      uint32_t factor, uint32_t *out)
{
    const struct cass_topology *topology = walk->topology;
    walk->stamp++;
    for (uint32_t i = 0; i < topology->datacenter_count; i++) {
        walk->left[i] = wanted_in(walk, i);
        walk->repeats[i] = (int64_t)topology->replication_factors[i] - walk->rack_counts[i];
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

static bool check(uint32_t nodes, size_t token_count, uint64_t factor, struct sim_error *error)
{
    uint32_t most = nodes < CASS_REPLICAS_MAX ? nodes : CASS_REPLICAS_MAX;
    if (nodes < 1 || nodes > CASS_NODES_MAX)
        return sim_fail(error, SIM_ERROR_INPUT, "a ring cannot have %" PRIu32 " nodes; give 1 to %u", nodes,
                        CASS_NODES_MAX);
    if (factor < 1 || factor > most)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "a ring of %" PRIu32 " nodes cannot hold %" PRIu64 " replicas; give 1 to %" PRIu32,
                        nodes, factor, most);
    if (token_count < 1 || token_count > CASS_RING_REPLICAS_MAX / factor)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "a ring of %zu tokens with %" PRIu64
                        " replicas is too large or empty; give 1 to %zu tokens",
                        token_count, factor, CASS_RING_REPLICAS_MAX / (size_t)factor);
    return true;
}

/* Builds a ring from sorted entries with distinct tokens. */
static bool build(const struct cass_ring_entry *entries, size_t count, const struct cass_topology *topology,
                  struct cass_ring **out, struct sim_error *error)
{
    struct walk walk;
    uint32_t factor = 0;
    if (!walk_create(&walk, topology, entries, count))
        return sim_fail_memory(error);
    for (uint32_t i = 0; i < topology->datacenter_count; i++)
        factor += wanted_in(&walk, i);
    struct cass_ring *ring = calloc(1, sizeof(*ring));
    if (ring != NULL) {
        *ring = (struct cass_ring){count,
                                   topology->node_count,
                                   factor,
                                   malloc(count * sizeof(*ring->tokens)),
                                   malloc(count * factor * sizeof(*ring->replicas)),
                                   calloc(RING_PARTS + 1, sizeof(*ring->firsts))};
        if (ring->tokens == NULL || ring->replicas == NULL || ring->firsts == NULL) {
            cass_ring_destroy(ring);
            ring = NULL;
        }
    }
    for (size_t i = 0; ring != NULL && i < count; i++) {
        ring->tokens[i] = entries[i].token;
        ring->firsts[part_of(entries[i].token) + 1]++; /* their numbers, to be summed up */
        walk_from(&walk, entries, count, i, factor, ring->replicas + i * factor);
    }
    for (size_t part = 0; ring != NULL && part < RING_PARTS; part++)
        ring->firsts[part + 1] += ring->firsts[part];
    free(walk.node_stamps);
    *out = ring;
    return ring != NULL || sim_fail_memory(error);
}

/* Each node has its own stream of random numbers, so that adding a node does not change the tokens of the
 * others. Returns false when out of memory. */
static bool draw_all(uint64_t seed, uint32_t nodes, uint32_t num_tokens, struct cass_ring_entry *entries)
{
    struct sim_random *streams = malloc(nodes * sizeof(*streams));
    if (streams == NULL)
        return false;
    for (uint32_t node = 0; node < nodes; node++) {
        sim_random_init(&streams[node], seed, SIM_RING, node);
        for (uint32_t i = 0; i < num_tokens; i++)
            entries[(size_t)node * num_tokens + i] =
                (struct cass_ring_entry){.token = cass_ring_draw(&streams[node]), .node = node};
    }
    cass_ring_settle(entries, (size_t)nodes * num_tokens, streams);
    free(streams);
    return true;
}

bool cass_ring_create(uint64_t seed, const struct cass_datacenter *datacenters, uint32_t datacenter_count,
                      uint32_t num_tokens, struct cass_ring **out, struct sim_error *error)
{
    uint32_t factors[CASS_DATACENTERS_MAX], nodes = 0, node = 0;
    uint64_t factor = 0;
    *out = NULL;
    for (uint32_t i = 0; i < datacenter_count; i++) {
        nodes += datacenters[i].nodes;
        factor += factors[i] = datacenters[i].replication_factor;
    }
    size_t count = (size_t)nodes * num_tokens;
    if (num_tokens < 1 || num_tokens > NUM_TOKENS_MAX)
        return sim_fail(error, SIM_ERROR_INPUT, "a node cannot have %" PRIu32 " tokens; give 1 to %u",
                        num_tokens, NUM_TOKENS_MAX);
    if (!check(nodes, count, factor, error))
        return false;
    struct cass_ring_entry *entries = malloc(count * sizeof(*entries));
    uint32_t *places = malloc(2 * (size_t)nodes * sizeof *places); /* datacenters, then racks */
    for (uint32_t i = 0; places != NULL && i < datacenter_count; i++) {
        for (uint32_t j = 0; j < datacenters[i].nodes; j++, node++) {
            places[node] = i;
            places[nodes + node] = j % datacenters[i].racks;
        }
    }
    bool ok = entries != NULL && places != NULL && draw_all(seed, nodes, num_tokens, entries);
    ok = ok ? build(entries, count,
                    &(struct cass_topology){nodes, places, places + nodes, datacenter_count, factors}, out,
                    error)
            : sim_fail_memory(error);
    free(places);
    free(entries);
    return ok;
}

bool cass_ring_create_from(const int64_t *tokens, const uint32_t *token_nodes, size_t token_count,
                           const struct cass_topology *topology, struct cass_ring **out,
                           struct sim_error *error)
{
    *out = NULL;
    if (!check(topology->node_count, token_count, 1, error))
        return false;
    struct cass_ring_entry *entries = malloc(token_count * sizeof(*entries));
    bool ok = entries != NULL || sim_fail_memory(error);
    for (size_t i = 0; ok && i < token_count; i++) {
        entries[i] = (struct cass_ring_entry){.token = tokens[i], .node = token_nodes[i]};
        ok = token_nodes[i] < topology->node_count ||
             sim_fail(error, SIM_ERROR_INPUT,
                      "token %" PRId64 " belongs to node %" PRIu32 ", but the ring has %" PRIu32
                      "; number the nodes from 0",
                      tokens[i], token_nodes[i], topology->node_count);
    }
    if (ok) {
        qsort(entries, token_count, sizeof(*entries), compare_entries);
        size_t duplicate = cass_ring_duplicate(entries, token_count);
        ok = duplicate == token_count ||
             sim_fail(error, SIM_ERROR_INPUT,
                      "token %" PRId64 " appears twice in the ring; give it to one node",
                      entries[duplicate].token);
    }
    ok = ok && build(entries, token_count, topology, out, error);
    free(entries);
    return ok;
}
