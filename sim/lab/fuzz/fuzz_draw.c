/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws the workload, agents and cluster of a seed. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fuzz_plan.h"
#include "kernel/number.h"
#include "kernel/random.h"
#include "kernel/time.h"
#include "lab/quantity.h"

/* The default in docs/scenario.md. */
#define NODES_DEFAULT 6u
/* Shares of the seeds. */
#define IDENTIFIERS    0.05
#define THEN           0.08
#define CLOCK_STEP     0.25
#define EVICTION       0.3
#define COUNT_EVICTION 0.6
#define TWIN           0.1
#define ONE_WRITER     0.4 /* share of the seeds that count rows */
#define BY_KEY         0.12
#define TOPOLOGY       0.15
#define ANY_LEVELS     0.1
#define LONG           0.1
#define CORES          0.1
#define DRIFT          0.1
#define KEYS_MANY      16u
/* The number of keys if readers remember empty windows, so few that each reader reads each key often. */
#define KEYS_READ   2u
#define AGENTS_READ 3u
#define CACHE_SET   4u /* the smallest number of entries of a cache */
/* With bursts, the rate is still below the limit of scenarios. */
#define RATE_MAX 1e6
/* Most seeds are short, since more seeds find more in the same time. More hints than fit into a page, and
 * large partitions, need many rows. */
static const struct lab_fuzz_length short_seed = {.rows = {60, 250},
                                                  .keys = 3,
                                                  .duration_ns = {12 * SIM_SECOND, 6 * SIM_MINUTE},
                                                  .partition_rows = {3, 20},
                                                  .operations = 8,
                                                  .caches = {15, 1000},
                                                  .windows = 30,
                                                  .latest_rows = {3, 20},
                                                  .latest = 0.4,
                                                  .ranges = 0.3,
                                                  .faults = 3,
                                                  .identifiers = 500,
                                                  .batch = 15};
static const struct lab_fuzz_length long_seed = {.rows = {300, 1500},
                                                 .keys = 4,
                                                 .duration_ns = {40 * SIM_SECOND, 20 * SIM_MINUTE},
                                                 .partition_rows = {8, 200},
                                                 .operations = 32,
                                                 .caches = {30, 2000},
                                                 .windows = 50,
                                                 .latest_rows = {5, 60},
                                                 .latest = 0.2,
                                                 .ranges = 0.1,
                                                 .faults = 6,
                                                 .identifiers = 3000,
                                                 .batch = 40};
/* The longest run: adding this span to a time does not overflow. */
#define SPAN_MAX (100 * 365 * SIM_DAY)

/* --- values in the user's tree; invalid ones are found by later checks */

static const struct lab_node *child(const struct lab_node *mapping, const char *name)
{
    return mapping == NULL ? NULL : lab_node_find(mapping, name);
}

/* Whether any strategy of the list has 'then'. */
static bool changes_settings(const struct lab_node *strategies)
{
    for (const struct lab_node *item = strategies->first; item != NULL; item = item->next) {
        for (const struct lab_node *kind = item->first; kind != NULL; kind = kind->next) {
            if (kind->kind == LAB_NODE_MAPPING && child(kind, "then") != NULL)
                return true;
        }
    }
    return false;
}

/* --- values on which others depend: the user's, or drawn */

/* Draws rare features that the user's tree does not specify. A tree that does not describe rows may get
 * identifiers instead of rows. */
static void plan_character(struct lab_fuzz_plan *figures, const struct lab_node *root)
{
    static const char *const of_rows[] = {"keys",  "arrivals", "trace", "row",   "deletes",
                                          "reads", "limits",   "table", "start", "strategies"};
    struct sim_random random;
    bool has_rows = false;
    for (size_t i = 0; i < sizeof of_rows / sizeof *of_rows; i++)
        has_rows = has_rows || child(root, of_rows[i]) != NULL;
    lab_draw_init(&random, figures, LAB_DRAW_IDENTIFIERS);
    figures->has_identifiers =
        (lab_draw_chance(&random, IDENTIFIERS) && !has_rows) || child(root, "identifiers") != NULL;
    lab_draw_init(&random, figures, LAB_DRAW_THEN);
    const struct lab_node *strategies = child(root, "strategies");
    figures->has_strategies = strategies != NULL;
    /* Scenarios with changing settings do not have reads of ranges or of all rows. */
    const struct lab_node *reads = child(root, "reads");
    bool may_change = reads == NULL || (child(reads, "range") == NULL && child(reads, "all") == NULL);
    figures->has_then =
        strategies == NULL ? lab_draw_chance(&random, THEN) && may_change : changes_settings(strategies);
    lab_draw_init(&random, figures, LAB_DRAW_LENGTH);
    figures->length = lab_draw_chance(&random, LONG) ? &long_seed : &short_seed;
    figures->may_expire = child(root, "deletes") == NULL;
    figures->may_delete = child(root, "row") == NULL;
}

static bool fact_span(const struct lab_node *mapping, const char *name, int64_t *out)
{
    const struct lab_node *node = child(mapping, name);
    int64_t span_ns;
    if (node == NULL || node->kind != LAB_NODE_SCALAR || lab_quantity_duration(node->text, &span_ns) != NULL)
        return false;
    *out = span_ns;
    return true;
}

static bool fact_rate(const struct lab_node *mapping, const char *name, double *out)
{
    const struct lab_node *node = child(mapping, name);
    double rate;
    if (node == NULL || node->kind != LAB_NODE_SCALAR || lab_quantity_rate(node->text, &rate) != NULL ||
        !(rate > 0))
        return false;
    *out = rate;
    return true;
}

static bool fact_whole(const struct lab_node *mapping, const char *name, uint32_t *out)
{
    const struct lab_node *node = child(mapping, name);
    uint64_t value;
    if (node == NULL || node->kind != LAB_NODE_SCALAR || lab_quantity_whole(node->text, &value) != NULL ||
        value == 0 || value > UINT32_MAX)
        return false;
    *out = (uint32_t)value;
    return true;
}

/* The number of rows determines the cost of a seed, so it is drawn, and the rate follows from it. */
static void plan_workload(struct lab_fuzz_plan *figures, const struct lab_node *root)
{
    const struct lab_fuzz_length *length = figures->length;
    struct sim_random random;
    uint32_t keys;
    bool counts = lab_draw_counts(figures);
    lab_draw_init(&random, figures, LAB_DRAW_ROWS);
    double rows = lab_draw_log(&random, length->rows[0], length->rows[1]);
    lab_draw_init(&random, figures, LAB_DRAW_KEYS);
    figures->keys = lab_draw_whole(&random, 1, lab_draw_remembers(figures) ? KEYS_READ : length->keys);
    /* With more keys than entries of a small cache, states are evicted. */
    figures->cache_entries = 16;
    lab_draw_init(&random, figures, LAB_DRAW_EVICTION);
    if (lab_draw_chance(&random, counts ? COUNT_EVICTION : EVICTION)) {
        figures->cache_entries = (uint32_t)lab_draw_whole(&random, 1, CACHE_SET);
        figures->keys = lab_draw_whole(&random, CACHE_SET + 1, KEYS_MANY);
    }
    if (fact_whole(child(root, "keys"), "count", &keys))
        figures->keys = keys;

    bool is_trace = child(root, "trace") != NULL;
    if (is_trace)
        figures->keys = 0; /* not known before the run */
    bool has_rate = !is_trace && fact_rate(child(root, "arrivals"), "rate", &figures->rate_per_s);
    lab_draw_init(&random, figures, LAB_DRAW_DURATION);
    figures->duration_ns = lab_draw_span(&random, length->duration_ns[0], length->duration_ns[1]);
    figures->has_duration = fact_span(root, "duration", &figures->duration_ns) || !is_trace;
    if (has_rate && child(root, "duration") == NULL)
        figures->duration_ns = lab_draw_rounded(rows / figures->rate_per_s * 1e9);
    if (has_rate)
        return;
    figures->rate_per_s = rows * 1e9 / (double)figures->duration_ns;
    if (figures->rate_per_s > RATE_MAX)
        figures->rate_per_s = RATE_MAX;
}

static bool has_ring(const struct lab_node *cluster)
{
    return child(cluster, "nodes") != NULL || child(cluster, "replication_factor") != NULL ||
           child(cluster, "datacenters") != NULL;
}

static void plan_ring(struct lab_fuzz_plan *figures, const struct lab_node *cluster)
{
    struct sim_random random;
    lab_draw_init(&random, figures, LAB_DRAW_RING);
    figures->datacenters = lab_draw_chance(&random, 0.2) ? 2 : 1;
    figures->nodes = (uint32_t)lab_draw_whole(&random, 3, 6);
    double usual = sim_random_unit(&random);
    figures->replicas = usual < 0.8 ? 3 : usual < 0.9 ? 2 : 1;
    if (figures->datacenters == 2) {
        figures->nodes = (uint32_t)lab_draw_whole(&random, 4, 6);
        figures->replicas = usual < 0.5 ? 2 : usual < 0.9 ? 3 : 1;
    }
    if (figures->datacenters == 2 && figures->replicas > figures->nodes / 2)
        figures->replicas = figures->nodes / 2;
    figures->racks = 1;
    lab_draw_init(&random, figures, LAB_DRAW_TOPOLOGY);
    if (lab_draw_chance(&random, TOPOLOGY)) {
        figures->racks = (uint32_t)lab_draw_whole(&random, 1, 3);
        bool has_third = figures->datacenters == 2 && lab_draw_chance(&random, 0.5);
        figures->datacenters += has_third;
        figures->nodes += 2 * has_third;
    }
    for (uint32_t i = 0; i < figures->datacenters; i++)
        snprintf(figures->datacenter_names[i], sizeof figures->datacenter_names[i], "dc%u", i + 1);
    if (!has_ring(cluster))
        return;
    const struct lab_node *list = child(cluster, "datacenters");
    figures->datacenters = 0;
    figures->nodes = NODES_DEFAULT;
    if (list == NULL) {
        fact_whole(cluster, "nodes", &figures->nodes);
        return;
    }
    figures->nodes = 0;
    for (const struct lab_node *one = list->first; one != NULL; one = one->next) {
        uint32_t nodes = 0;
        fact_whole(one, "nodes", &nodes);
        figures->nodes += nodes;
        if (figures->datacenters < CASS_DATACENTERS_MAX)
            snprintf(figures->datacenter_names[figures->datacenters++], sizeof figures->datacenter_names[0],
                     "%s", one->name);
    }
    if (figures->nodes == 0) /* invalid, which is reported by later checks */
        figures->nodes = 1;
}

/* A fraction of the run, so that short runs have as many events as long ones; but at most most_ns, for runs
 * of days. */
static int64_t share(const struct lab_fuzz_plan *figures, int64_t parts, int64_t most_ns)
{
    return figures->duration_ns / parts < most_ns ? figures->duration_ns / parts : most_ns;
}

static void plan_agents(struct lab_fuzz_plan *figures, const struct lab_node *agents)
{
    struct sim_random random;
    lab_draw_init(&random, figures, LAB_DRAW_AGENTS);
    figures->agents =
        lab_draw_chance(&random, 0.1)
            ? 1
            : (uint32_t)lab_draw_whole(&random, 2, lab_draw_remembers(figures) ? AGENTS_READ : 8);
    lab_draw_init(&random, figures, LAB_DRAW_ONE_WRITER);
    if (lab_draw_chance(&random, ONE_WRITER) && lab_draw_counts(figures))
        figures->agents = 1;
    fact_whole(agents, "count", &figures->agents);

    lab_draw_init(&random, figures, LAB_DRAW_CACHE);
    bool is_cached = !lab_draw_chance(&random, 0.1);
    figures->cache_ttl_ns = lab_draw_span(&random, share(figures, figures->length->caches[1], SIM_SECOND),
                                          share(figures, figures->length->caches[0], SIM_MINUTE)) *
                            is_cached;
    fact_span(agents, "cache_ttl", &figures->cache_ttl_ns);

    lab_draw_init(&random, figures, LAB_DRAW_CLOCK);
    bool is_right = lab_draw_chance(&random, 0.3);
    figures->clock_bound_ns =
        is_right ? 0 : lab_draw_span(&random, SIM_MS, share(figures, 40, 5 * SIM_SECOND));
    static const int64_t steps_ns[] = {SIM_MS, 10 * SIM_MS, 100 * SIM_MS, SIM_SECOND};
    lab_draw_init(&random, figures, LAB_DRAW_CLOCK_STEP);
    bool has_steps = lab_draw_chance(&random, CLOCK_STEP);
    figures->clock_step_ns = has_steps ? steps_ns[lab_draw_whole(&random, 0, 3)] : 0;
    figures->clock_bound_ns += figures->clock_step_ns;
    const struct lab_node *clock = child(agents, "clock");
    if (clock != NULL) {
        figures->clock_bound_ns = figures->clock_step_ns = 0;
        fact_span(clock, "resolution", &figures->clock_step_ns);
        fact_span(clock, "offset", &figures->clock_bound_ns);
        figures->clock_bound_ns += figures->clock_step_ns;
        fact_span(clock, "bound", &figures->clock_bound_ns);
    }
}

static void plan(struct lab_fuzz_plan *figures, const struct lab_node *root, uint64_t seed)
{
    *figures = (struct lab_fuzz_plan){.seed = seed};
    plan_character(figures, root);
    plan_workload(figures, root);
    plan_ring(figures, lab_node_find(root, "cluster"));
    plan_agents(figures, lab_node_find(root, "agents"));
}

/* --- the parts */

static void draw_agents(const struct lab_fuzz_plan *figures, struct lab_writer *writer)
{
    struct sim_random random;
    char span[LAB_SPAN_SIZE], other[LAB_SPAN_SIZE];
    lab_draw_init(&random, figures, LAB_DRAW_OPERATIONS);
    lab_writer_add(writer, "agents:\n  count: %u\n  cache_ttl: %s\n  cache_entries: %u\n  operations: %d\n",
                   figures->agents, lab_span_text(figures->cache_ttl_ns, span), figures->cache_entries,
                   (int)figures->length->operations << lab_draw_whole(&random, 0, 3));
    lab_draw_init(&random, figures, LAB_DRAW_TWIN);
    if (lab_draw_chance(&random, TWIN))
        lab_writer_add(writer, "  twin: %.1f%%\n", lab_draw_log(&random, 0.1, 10));
    lab_draw_init(&random, figures, LAB_DRAW_ROUTING);
    if (lab_draw_chance(&random, BY_KEY))
        lab_writer_add(writer, "  routing: key\n");
    lab_draw_trap(figures, writer);
    lab_draw_init(&random, figures, LAB_DRAW_DRIFT);
    uint64_t drift_ppm = lab_draw_chance(&random, DRIFT) ? lab_draw_whole(&random, 1, 2000) : 100;
    lab_draw_init(&random, figures, LAB_DRAW_OFFSET);
    int64_t most_ns = figures->clock_bound_ns - figures->clock_step_ns;
    if (most_ns > 0) {
        bool is_tight = lab_draw_chance(&random, 0.5);
        int64_t offset_ns = lab_draw_rounded((double)most_ns * (is_tight ? 1 : 0.5));
        lab_writer_add(writer, "  clock: {offset: %s, drift: %" PRIu64 "ppm, bound: %s",
                       lab_span_text(offset_ns, span), lab_draw_whole(&random, 0, 1) * drift_ppm,
                       lab_span_text(figures->clock_bound_ns, other));
    }
    if (figures->clock_step_ns > 0)
        lab_writer_add(writer, "%sresolution: %s", most_ns > 0 ? ", " : "  clock: {",
                       lab_span_text(figures->clock_step_ns, span));
    if (most_ns > 0 || figures->clock_step_ns > 0)
        lab_writer_add(writer, "}\n");
    lab_draw_init(&random, figures, LAB_DRAW_RETRIES);
    uint64_t retries = lab_draw_whole(&random, 0, 5), counter_retries = lab_draw_whole(&random, 0, 2);
    lab_writer_add(writer, "  retries: %" PRIu64 "\n  counter_retries: %" PRIu64 "\n", retries,
                   counter_retries);
    lab_draw_init(&random, figures, LAB_DRAW_RESTART);
    lab_writer_add(
        writer, "  restart: %s\n",
        lab_span_text(lab_draw_span(&random, share(figures, 500, SIM_SECOND), share(figures, 20, SIM_MINUTE)),
                      span));
}

static void draw_datacenter(const struct lab_fuzz_plan *figures, uint32_t number, uint32_t nodes,
                            struct lab_writer *writer)
{
    lab_writer_add(writer, "    dc%u: {nodes: %u, replication_factor: %u", number + 1, nodes,
                   figures->replicas < nodes ? figures->replicas : nodes);
    if (figures->racks > 1)
        lab_writer_add(writer, ", racks: %u", figures->racks < nodes ? figures->racks : nodes);
    lab_writer_add(writer, "}\n");
}

/* Draws from all consistency levels that the replicas support; levels such as TWO need that many replicas. */
static void draw_any_levels(const struct lab_fuzz_plan *figures, struct sim_random *random,
                            struct lab_writer *writer)
{
    static const char *const names[] = {"ONE",          "LOCAL_ONE",   "QUORUM", "ALL",
                                        "LOCAL_QUORUM", "EACH_QUORUM", "TWO",    "THREE"};
    uint64_t most = figures->replicas < 2 ? 5 : figures->replicas < 3 ? 6 : 7;
    const char *write = lab_draw_chance(random, 0.1) ? "ANY" : names[lab_draw_whole(random, 0, most)];
    const char *read = names[lab_draw_whole(random, 0, most)],
               *state = names[lab_draw_whole(random, 0, most)];
    bool is_local = lab_draw_chance(random, 0.3), is_alone = lab_draw_chance(random, 0.5);
    /* A read at ONE shows whether a write waited for all replicas. */
    if (is_alone && strcmp(write, "THREE") == 0)
        read = "ONE";
    lab_writer_add(writer, "  consistency: {write: %s, read: %s, state: %s, serial: %s}\n", write, read,
                   state, is_local ? "LOCAL_SERIAL" : "SERIAL");
}

/* Usually such that reads see all acknowledged writes; sometimes not. */
static void draw_levels(const struct lab_fuzz_plan *figures, struct lab_writer *writer)
{
    struct sim_random random;
    lab_draw_init(&random, figures, LAB_DRAW_ANY_LEVELS);
    if (lab_draw_chance(&random, ANY_LEVELS)) {
        draw_any_levels(figures, &random, writer);
        return;
    }
    lab_draw_init(&random, figures, LAB_DRAW_LEVELS);
    double kind = sim_random_unit(&random);
    if (kind < 0.06)
        lab_writer_add(writer, "  consistency: {write: ONE, read: ONE, state: ONE, serial: SERIAL}\n");
    else if (kind < 0.09)
        lab_writer_add(writer, "  consistency: {write: QUORUM, read: ONE, state: QUORUM, serial: SERIAL}\n");
    else if (kind < 0.12)
        lab_writer_add(writer, "  consistency: {write: ALL, read: ONE, state: QUORUM, serial: SERIAL}\n");
    else if (figures->datacenters > 1 ? kind < 0.9 : kind < 0.6)
        lab_writer_add(writer,
                       "  consistency: {write: QUORUM, read: QUORUM, state: QUORUM, serial: SERIAL}\n");
    else
        lab_writer_add(writer, "  consistency: {write: LOCAL_QUORUM, read: LOCAL_QUORUM, state: "
                               "LOCAL_QUORUM, serial: LOCAL_SERIAL}\n");
}

static void draw_network(const struct lab_fuzz_plan *figures, struct lab_writer *writer)
{
    struct sim_random random;
    char span[LAB_SPAN_SIZE], other[LAB_SPAN_SIZE];
    lab_draw_init(&random, figures, LAB_DRAW_NETWORK);
    int64_t mean_ns = lab_draw_span(&random, 200 * SIM_US, 20 * SIM_MS);
    uint64_t sigma = lab_draw_whole(&random, 1, 10);
    lab_writer_add(writer, "  network: {latency: ");
    if (!lab_draw_uniform_latency(figures, mean_ns, writer))
        lab_writer_add(writer, "{lognormal: {mean: %s, sigma: %.1f}}", lab_span_text(mean_ns, span),
                       (double)sigma / 10);
    int64_t far_ns = lab_draw_span(&random, 2 * mean_ns, 100 * SIM_MS);
    if (figures->datacenters > 1)
        lab_writer_add(writer, ", between: {lognormal: {mean: %s, sigma: 0.2}}", lab_span_text(far_ns, span));
    lab_draw_rare_network(figures, writer);
    lab_writer_add(writer, "}\n");
    lab_draw_init(&random, figures, LAB_DRAW_NODE);
    int64_t every_ns = lab_draw_span(&random, 5 * SIM_SECOND, SIM_MINUTE);
    int64_t lasts_ns = lab_draw_span(&random, 10 * SIM_MS, 500 * SIM_MS);
    uint64_t concurrency = lab_draw_chance(&random, 0.2) ? 1 : 32;
    lab_draw_init(&random, figures, LAB_DRAW_CORES);
    concurrency = lab_draw_chance(&random, CORES) ? lab_draw_whole(&random, 2, 16) : concurrency;
    lab_writer_add(writer, "  node: {concurrency: %" PRIu64 ", gc: {every: %s, lasts: %s}", concurrency,
                   lab_span_text(every_ns, span), lab_span_text(lasts_ns, other));
    lab_draw_rare_node(figures, writer);
    lab_writer_add(writer, "}\n");
}

/* The mean latency between the two most distant places, as draw_network() draws it. */
static int64_t drawn_trip(const struct lab_fuzz_plan *figures)
{
    struct sim_random random;
    lab_draw_init(&random, figures, LAB_DRAW_NETWORK);
    int64_t mean_ns = lab_draw_span(&random, 200 * SIM_US, 20 * SIM_MS);
    lab_draw_whole(&random, 1, 10);
    int64_t far_ns = lab_draw_span(&random, 2 * mean_ns, 100 * SIM_MS);
    return figures->datacenters > 1 ? far_ns : mean_ns;
}

/* Short timeouts make outcomes unknown. But an LWT takes eight trips, and a run in which no LWT can succeed
 * tests nothing. */
static void draw_timeouts(const struct lab_fuzz_plan *figures, struct lab_writer *writer)
{
    struct sim_random random;
    char span[LAB_SPAN_SIZE];
    lab_draw_init(&random, figures, LAB_DRAW_TIMEOUTS);
    if (lab_draw_chance(&random, 0.5)) {
        lab_draw_detect(figures, true, writer);
        return;
    }
    static const char *const names[] = {"write", "read", "counter", "cas"};
    int64_t longest_ns = 0, least_ns = 16 * drawn_trip(figures);
    least_ns = least_ns > 30 * SIM_MS ? least_ns : 30 * SIM_MS;
    lab_writer_add(writer, "  timeouts: {");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int64_t span_ns = lab_draw_span(&random, least_ns, 2 * SIM_SECOND);
        longest_ns = span_ns > longest_ns ? span_ns : longest_ns;
        lab_writer_add(writer, "%s: %s, ", names[i], lab_span_text(span_ns, span));
    }
    lab_draw_detect(figures, false, writer);
    lab_writer_add(writer, "client: %s}\n",
                   lab_span_text(lab_draw_span(&random, longest_ns, 4 * longest_ns), span));
}

static void draw_cluster(const struct lab_fuzz_plan *figures, bool is_given, struct lab_writer *writer)
{
    struct sim_random random;
    lab_writer_add(writer, "cluster:\n");
    if (!is_given && figures->datacenters > 1) {
        uint32_t left = figures->nodes;
        lab_writer_add(writer, "  datacenters:\n");
        for (uint32_t i = 0; i < figures->datacenters; i++) {
            uint32_t nodes = (left + figures->datacenters - i - 1) / (figures->datacenters - i);
            left -= nodes;
            draw_datacenter(figures, i, nodes, writer);
        }
    } else if (!is_given && figures->racks > 1) {
        lab_writer_add(writer, "  datacenters:\n");
        draw_datacenter(figures, 0, figures->nodes, writer);
    } else if (!is_given) {
        lab_writer_add(writer, "  nodes: %u\n  replication_factor: %u\n", figures->nodes, figures->replicas);
    }
    lab_writer_add(writer, "  num_tokens: %" PRIu64 "\n", lab_draw_tokens(figures));
    draw_levels(figures, writer);
    draw_network(figures, writer);
    draw_timeouts(figures, writer);
    lab_draw_init(&random, figures, LAB_DRAW_PAXOS);
    lab_writer_add(writer, "  lwt: paxos-v%d\n", lab_draw_chance(&random, 0.5) ? 1 : 2);
}

char *lab_fuzz_draw(const struct lab_node *root, uint64_t seed, bool is_named)
{
    struct lab_fuzz_plan figures;
    struct lab_writer writer = {0};
    plan(&figures, root, seed);
    if (!is_named)
        lab_writer_add(&writer, "name: fuzz-%" PRIu64 "\n", seed);
    if (figures.has_identifiers)
        lab_fuzz_draw_identifiers(&figures, &writer);
    else
        lab_fuzz_draw_workload(&figures, lab_node_find(root, "trace") != NULL, &writer);
    draw_cluster(&figures, has_ring(lab_node_find(root, "cluster")), &writer);
    draw_agents(&figures, &writer);
    if (figures.has_identifiers)
        lab_fuzz_draw_idgen(&figures, &writer);
    else
        lab_fuzz_draw_strategy(&figures, &writer);
    lab_fuzz_draw_faults(&figures, &writer);
    return lab_writer_take(&writer);
}

void lab_draw_init(struct sim_random *random, const struct lab_fuzz_plan *figures, unsigned draw)
{
    sim_random_init(random, figures->seed, SIM_FUZZ, draw);
}

bool lab_draw_chance(struct sim_random *random, double chance)
{
    return sim_random_unit(random) < chance;
}

uint64_t lab_draw_whole(struct sim_random *random, uint64_t least, uint64_t most)
{
    return least + sim_random_below(random, most - least + 1);
}

double lab_draw_log(struct sim_random *random, double least, double most)
{
    return least * sim_exp(sim_random_unit(random) * sim_log(most / least));
}

int64_t lab_draw_span(struct sim_random *random, int64_t least_ns, int64_t most_ns)
{
    least_ns = least_ns < 1 ? 1 : least_ns; /* in a run of a few nanoseconds, the fraction may be 0 */
    if (most_ns <= least_ns)
        return lab_draw_rounded((double)least_ns);
    return lab_draw_rounded(lab_draw_log(random, (double)least_ns, (double)most_ns));
}

/* Rounded to two digits, for readability; at least 1 us, and at most the limit of scenarios. */
int64_t lab_draw_rounded(double span_ns)
{
    int64_t span = span_ns < 1e3 ? SIM_US : span_ns < (double)SPAN_MAX ? (int64_t)span_ns : SPAN_MAX;
    int64_t unit = 1;
    while (span / unit >= 100)
        unit *= 10;
    return span / unit * unit;
}

int64_t lab_draw_on_grid(const struct lab_fuzz_plan *figures, int64_t span_ns)
{
    int64_t step_ns = figures->clock_step_ns;
    if (step_ns == 0 || span_ns % step_ns == 0)
        return span_ns;
    return span_ns - span_ns % step_ns + step_ns;
}

const char *lab_span_text(int64_t span_ns, char *buffer)
{
    static const struct {
        int64_t span_ns;
        const char *name;
    } units[] = {{SIM_SECOND, "s"}, {SIM_MS, "ms"}, {SIM_US, "us"}, {1, "ns"}};
    size_t i = 0;
    while (span_ns % units[i].span_ns != 0)
        i++;
    snprintf(buffer, LAB_SPAN_SIZE, "%" PRId64 "%s", span_ns / units[i].span_ns, units[i].name);
    return buffer;
}
