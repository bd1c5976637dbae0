/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aim: the ring finds a token's owner and replicas as Cassandra does. Method: known answers of the drivers;
 * and random rings, compared with a direct implementation of SimpleStrategy's definition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cassandra/ring.h"
#include "kernel/random.h"
#include "peek.h"
#include "state.h"
#include "vectors.h"

#define TOKENS_MAX 64

/* One datacenter with one rack: SimpleStrategy. */
static struct cass_topology simple_topology(uint32_t nodes, const uint32_t *factor)
{
    static const uint32_t zeros[TOKENS_MAX];
    return (struct cass_topology){nodes, zeros, zeros, 1, factor};
}

static void test_position_known_ring_is_first_token_not_below(void **state)
{
    (void)state;
    json_t *root = vectors_load();
    json_t *section = vectors_get(root, "ring_owner");
    json_t *ring_tokens = vectors_get(section, "ring");
    int64_t tokens[TOKENS_MAX];
    uint32_t nodes[TOKENS_MAX];
    size_t count = json_array_size(ring_tokens);
    assert_in_range(count, 1, TOKENS_MAX);
    for (size_t i = 0; i < count; i++) {
        tokens[i] = json_integer_value(json_array_get(ring_tokens, i));
        nodes[i] = (uint32_t)i;
    }
    struct cass_ring *ring;
    struct sim_error error;
    const uint32_t factor = 1;
    const struct cass_topology topology = simple_topology((uint32_t)count, &factor);
    assert_true(cass_ring_create_from(tokens, nodes, count, &topology, &ring, &error));
    json_t *lookups = vectors_get(section, "lookups");
    assert_true(json_array_size(lookups) >= 7);
    size_t index;
    json_t *lookup;
    json_array_foreach(lookups, index, lookup)
    {
        int64_t token = json_integer_value(json_array_get(lookup, 0));
        int64_t owner = json_integer_value(json_array_get(lookup, 1));
        size_t position = cass_ring_position(ring, token);
        assert_int_equal(cass_ring_token_at(ring, position), owner);
        assert_int_equal(tokens[*cass_ring_replicas(ring, token)], owner);
    }
    cass_ring_destroy(ring);
    json_decref(root);
}

/* Numbers the nodes of a vector in order of appearance. */
/* A ring of vectors.json. */
struct placement {
    int64_t tokens[TOKENS_MAX];
    uint32_t token_nodes[TOKENS_MAX], node_count;
    size_t count;
    const char *names[TOKENS_MAX]; /* of nodes */
};

static uint32_t number_of(const char **names, uint32_t *count, const char *name)
{
    for (uint32_t i = 0; i < *count; i++) {
        if (strcmp(names[i], name) == 0)
            return i;
    }
    assert_true(*count < TOKENS_MAX);
    names[*count] = name;
    return (*count)++;
}

static struct placement placement_of(const json_t *vector)
{
    struct placement placement = {.node_count = 0};
    const json_t *pairs = vectors_get(vector, "ring");
    placement.count = json_array_size(pairs);
    assert_in_range(placement.count, 1, TOKENS_MAX);
    for (size_t i = 0; i < placement.count; i++) {
        const json_t *pair = json_array_get(pairs, i);
        placement.tokens[i] = vectors_int64(json_string_value(json_array_get(pair, 0)));
        placement.token_nodes[i] =
            number_of(placement.names, &placement.node_count, json_string_value(json_array_get(pair, 1)));
    }
    return placement;
}

static void check_lookups(size_t index, const json_t *vector, const char *order,
                          const struct placement *placement, const struct cass_ring *ring)
{
    const json_t *lookups = vectors_get(vector, "lookups");
    assert_true(json_array_size(lookups) >= 1);
    for (size_t i = 0; i < json_array_size(lookups); i++) {
        const json_t *lookup = json_array_get(lookups, i);
        const json_t *wanted = vectors_get(lookup, order);
        const uint32_t *replicas = cass_ring_replicas(ring, vectors_int64(vectors_string(lookup, "token")));
        assert_int_equal(json_array_size(wanted), cass_ring_replication_factor(ring));
        for (size_t j = 0; j < json_array_size(wanted); j++) {
            const char *name = json_string_value(json_array_get(wanted, j));
            if (strcmp(placement->names[replicas[j]], name) != 0)
                fail_msg("case %zu, lookup %zu: replica %zu is %s, not %s", index, i, j,
                         placement->names[replicas[j]], name);
        }
    }
}

static void check_simple(size_t index, const json_t *vector)
{
    const struct placement placement = placement_of(vector);
    uint32_t factor = (uint32_t)json_integer_value(vectors_get(vector, "rf"));
    const struct cass_topology topology = simple_topology(placement.node_count, &factor);
    struct cass_ring *ring;
    assert_true(cass_ring_create_from(placement.tokens, placement.token_nodes, placement.count, &topology,
                                      &ring, NULL));
    assert_int_equal(cass_ring_node_count(ring), placement.node_count);
    check_lookups(index, vector, "replicas", &placement, ring);
    cass_ring_destroy(ring);
}

static void check_network(size_t index, const json_t *vector)
{
    struct placement placement = placement_of(vector);
    uint32_t datacenters = 0, racks = 0;
    uint32_t node_datacenters[TOKENS_MAX], node_racks[TOKENS_MAX], factors[TOKENS_MAX] = {0};
    const char *datacenter_names[TOKENS_MAX], *rack_names[TOKENS_MAX];
    for (uint32_t i = 0; i < placement.node_count; i++) {
        const json_t *location = vectors_get(vectors_get(vector, "location"), placement.names[i]);
        node_datacenters[i] =
            number_of(datacenter_names, &datacenters, json_string_value(json_array_get(location, 0)));
        node_racks[i] = number_of(rack_names, &racks, json_string_value(json_array_get(location, 1)));
    }
    for (uint32_t i = 0; i < datacenters; i++)
        factors[i] =
            (uint32_t)json_integer_value(json_object_get(vectors_get(vector, "rf"), datacenter_names[i]));
    struct cass_topology topology = {placement.node_count, node_datacenters, node_racks, datacenters,
                                     factors};
    struct cass_ring *ring;
    struct sim_error error;
    if (!cass_ring_create_from(placement.tokens, placement.token_nodes, placement.count, &topology, &ring,
                               &error))
        fail_msg("case %zu: %s", index, error.text);
    check_lookups(index, vector, "cassandra_order", &placement, ring);
    cass_ring_destroy(ring);
}

static void test_replicas_known_rings_match_their_strategy(void **state)
{
    (void)state;
    json_t *root = vectors_load();
    size_t index, simple = 0, network = 0;
    json_t *vector;
    json_array_foreach(vectors_get(vectors_get(root, "replica_placement"), "cases"), index, vector)
    {
        const bool is_simple = strcmp(vectors_string(vector, "strategy"), "SimpleStrategy") == 0;
        (is_simple ? check_simple : check_network)(index, vector);
        simple += is_simple;
        network += !is_simple;
    }
    assert_true(simple >= 6 && network >= 4);
    json_decref(root);
}

/* SimpleStrategy's definition: go clockwise from the first token >= t, and skip nodes already met. */
static void check_walk(const int64_t *tokens, const uint32_t *token_nodes, size_t count, uint32_t factor,
                       const struct cass_ring *ring, int64_t token)
{
    size_t owner = count, lowest = 0;
    for (size_t i = 0; i < count; i++) {
        lowest = tokens[i] < tokens[lowest] ? i : lowest;
        if (tokens[i] >= token && (owner == count || tokens[i] < tokens[owner]))
            owner = i;
    }
    size_t at = owner == count ? lowest : owner;
    assert_int_equal(cass_ring_token_at(ring, cass_ring_position(ring, token)), tokens[at]);
    const uint32_t *replicas = cass_ring_replicas(ring, token);
    uint32_t met[TOKENS_MAX], found = 0;
    while (found < factor) {
        uint32_t node = token_nodes[at], i = 0;
        while (i < found && met[i] != node)
            i++;
        if (i == found) {
            assert_int_equal(replicas[found], node);
            met[found++] = node;
        }
        size_t next = count;
        for (size_t j = 0; j < count; j++) {
            if (tokens[j] > tokens[at] && (next == count || tokens[j] < tokens[next]))
                next = j;
        }
        at = next == count ? lowest : next;
    }
}

static void test_replicas_random_rings_match_the_walk(void **state)
{
    (void)state;
    struct sim_random random;
    sim_random_init(&random, 7, SIM_RING, 0);
    for (int round = 0; round < 300; round++) {
        uint32_t nodes = 1 + (uint32_t)sim_random_below(&random, 8);
        size_t count = nodes + sim_random_below(&random, TOKENS_MAX - nodes);
        uint32_t factor = 1 + (uint32_t)sim_random_below(&random, nodes);
        int64_t tokens[TOKENS_MAX];
        uint32_t token_nodes[TOKENS_MAX];
        for (size_t i = 0; i < count; i++) {
            tokens[i] = (int64_t)sim_random_next(&random);
            token_nodes[i] = i < nodes ? (uint32_t)i : (uint32_t)sim_random_below(&random, nodes);
        }
        if (round % 3 == 0)
            tokens[0] = INT64_MIN;
        if (round % 5 == 0)
            tokens[count - 1] = INT64_MAX;
        struct cass_ring *ring;
        const struct cass_topology topology = simple_topology(nodes, &factor);
        assert_true(cass_ring_create_from(tokens, token_nodes, count, &topology, &ring, NULL));
        check_walk(tokens, token_nodes, count, factor, ring, INT64_MIN);
        check_walk(tokens, token_nodes, count, factor, ring, INT64_MAX);
        for (size_t i = 0; i < count; i++) {
            check_walk(tokens, token_nodes, count, factor, ring, tokens[i]);
            if (tokens[i] < INT64_MAX)
                check_walk(tokens, token_nodes, count, factor, ring, tokens[i] + 1);
            check_walk(tokens, token_nodes, count, factor, ring, (int64_t)sim_random_next(&random));
        }
        cass_ring_destroy(ring);
    }
}

static bool make_simple(uint64_t seed, uint32_t nodes, uint32_t num_tokens, uint32_t factor,
                        struct cass_ring **out, struct sim_error *error)
{
    const struct cass_datacenter only = {.nodes = nodes, .racks = 1, .replication_factor = factor};
    return cass_ring_create(seed, &only, 1, num_tokens, out, error);
}

/* A node's tokens depend only on the seed and the node, so a ring that grows keeps its tokens: the smaller
 * ring's tokens are in the larger ring with the same owners. */
static void test_ring_one_node_more_keeps_the_others_tokens(void **state)
{
    (void)state;
    struct cass_ring *small, *large, *other;
    assert_true(make_simple(1, 6, 16, 1, &small, NULL));
    assert_true(make_simple(1, 7, 16, 1, &large, NULL));
    assert_true(make_simple(2, 6, 16, 1, &other, NULL));
    size_t tokens_in_other = 0;
    for (size_t i = 0; i < (size_t)6 * 16; i++) {
        int64_t token = cass_ring_token_at(small, i);
        if (i > 0)
            assert_true(cass_ring_token_at(small, i - 1) < token);
        assert_int_equal(cass_ring_token_at(large, cass_ring_position(large, token)), token);
        assert_int_equal(*cass_ring_replicas(large, token), *cass_ring_replicas(small, token));
        tokens_in_other += cass_ring_token_at(other, cass_ring_position(other, token)) == token;
    }
    assert_int_equal(tokens_in_other, 0);
    cass_ring_destroy(small);
    cass_ring_destroy(large);
    cass_ring_destroy(other);
}

/* A node's share is the sum of random arcs: with 256 tokens per node it is 1/nodes within about a sixth. */
static void test_ring_many_tokens_share_evenly(void **state)
{
    (void)state;
    enum { NODES = 8, LOOKUPS = 200000 };
    struct cass_ring *ring;
    assert_true(make_simple(42, NODES, 256, 3, &ring, NULL));
    uint32_t owned[NODES] = {0};
    struct sim_random random;
    sim_random_init(&random, 3, SIM_RING, 1000);
    for (int i = 0; i < LOOKUPS; i++) {
        const uint32_t *replicas = cass_ring_replicas(ring, (int64_t)sim_random_next(&random));
        assert_true(replicas[0] != replicas[1] && replicas[1] != replicas[2] && replicas[0] != replicas[2]);
        owned[replicas[0]]++;
    }
    for (int node = 0; node < NODES; node++)
        assert_in_range(owned[node], LOOKUPS / NODES * 2 / 3, LOOKUPS / NODES * 4 / 3);
    cass_ring_destroy(ring);
}

static void test_settle_duplicates_are_redrawn_from_their_nodes_stream(void **state)
{
    (void)state;
    struct sim_random streams[3], copies[3];
    for (uint32_t node = 0; node < 3; node++) {
        sim_random_init(&streams[node], 1, SIM_RING, node);
        copies[node] = streams[node];
    }
    int64_t first_of_2 = cass_ring_draw(&copies[2]);
    int64_t second_of_2 = cass_ring_draw(&copies[2]);
    /* Node 2 has the same token as node 0, and then draws the token that node 1 already has. */
    struct cass_ring_entry entries[] = {{5, 2}, {first_of_2, 1}, {5, 0}};
    cass_ring_settle(entries, 3, streams);
    assert_int_equal(cass_ring_duplicate(entries, 3), 3);
    for (size_t i = 0; i < 3; i++) {
        int64_t wanted[] = {5, first_of_2, second_of_2};
        assert_int_equal(entries[i].token, wanted[entries[i].node]);
        if (i > 0)
            assert_true(entries[i - 1].token < entries[i].token);
    }
}

static void test_ring_figures_out_of_range_are_refused(void **state)
{
    (void)state;
    static const struct {
        uint32_t nodes, num_tokens, factor;
        const char *wanted;
    } rows[] = {
        {0, 16, 1, "0 nodes; give 1 to 65535"},       {65536, 16, 1, "65536 nodes; give 1 to 65535"},
        {6, 0, 1, "0 tokens; give 1 to 4096"},        {6, 4097, 1, "4097 tokens; give 1 to 4096"},
        {6, 16, 0, "0 replicas; give 1 to 6"},        {6, 16, 7, "7 replicas; give 1 to 6"},
        {100, 16, 65, "65 replicas; give 1 to 64"},   {65535, 4096, 3, "give 1 to 22369621 tokens"},
        {UINT32_MAX, UINT32_MAX, UINT32_MAX, "give"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cass_ring *ring = (struct cass_ring *)&ring;
        struct sim_error error = {0};
        assert_false(make_simple(1, rows[i].nodes, rows[i].num_tokens, rows[i].factor, &ring, &error));
        assert_null(ring);
        assert_int_equal(error.class, SIM_ERROR_INPUT);
        if (strstr(error.text, rows[i].wanted) == NULL)
            fail_msg("row %zu: %s", i, error.text);
    }
}

static void test_invalid_ring_tokens_are_refused(void **state)
{
    (void)state;
    static const int64_t tokens[] = {10, -5, 10, 7};
    static const uint32_t nodes[] = {0, 1, 1, 1}, strangers[] = {0, 2, 1, 1}, factor = 1;
    const struct cass_topology topology = simple_topology(2, &factor);
    struct cass_ring *ring;
    struct sim_error error = {0};
    assert_false(cass_ring_create_from(tokens, nodes, 0, &topology, &ring, &error));
    assert_null(ring);
    assert_false(cass_ring_create_from(tokens, nodes, 4, &topology, &ring, &error));
    assert_non_null(strstr(error.text, "token 10 appears twice"));
    assert_false(cass_ring_create_from(tokens, strangers, 2, &topology, &ring, &error));
    assert_non_null(strstr(error.text, "belongs to node 2"));
    assert_null(ring);
    cass_ring_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_position_known_ring_is_first_token_not_below),
        cmocka_unit_test(test_replicas_known_rings_match_their_strategy),
        cmocka_unit_test(test_replicas_random_rings_match_the_walk),
        cmocka_unit_test(test_ring_one_node_more_keeps_the_others_tokens),
        cmocka_unit_test(test_ring_many_tokens_share_evenly),
        cmocka_unit_test(test_settle_duplicates_are_redrawn_from_their_nodes_stream),
        cmocka_unit_test(test_ring_figures_out_of_range_are_refused),
        cmocka_unit_test(test_invalid_ring_tokens_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
