/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plan of a seed: the values on which several parts of the scenario depend, from the user's file or else
 * drawn, and the functions that draw the parts. */
#ifndef LAB_FUZZ_PLAN_H
#define LAB_FUZZ_PLAN_H

#include <stdint.h>

#include "cassandra/cluster.h"
#include "lab/fields.h"

/* Each value is drawn from the random stream with its own number, so a new value does not change the others.
 * Only append numbers; otherwise every seed would become another scenario. */
enum lab_draw {
    LAB_DRAW_DURATION,
    LAB_DRAW_ROWS,
    LAB_DRAW_KEYS,
    LAB_DRAW_ZIPF,
    LAB_DRAW_BURSTS,
    LAB_DRAW_READS,
    LAB_DRAW_AGENTS,
    LAB_DRAW_CACHE,
    LAB_DRAW_CLOCK,
    LAB_DRAW_OFFSET,
    LAB_DRAW_RETRIES,
    LAB_DRAW_RESTART,
    LAB_DRAW_RING,
    LAB_DRAW_LEVELS,
    LAB_DRAW_NETWORK,
    LAB_DRAW_NODE,
    LAB_DRAW_TIMEOUTS,
    LAB_DRAW_PAXOS,
    LAB_DRAW_STRATEGY,
    LAB_DRAW_SIZE,
    LAB_DRAW_COUNTER,
    LAB_DRAW_LEAD,
    LAB_DRAW_LOCK,
    LAB_DRAW_GRANT,
    LAB_DRAW_SWARM,
    LAB_DRAW_OPERATIONS,
    LAB_DRAW_WEIGHTED,
    LAB_DRAW_SOURCE,
    LAB_DRAW_LATE,
    LAB_DRAW_EARLY,
    LAB_DRAW_RESOLUTION,
    LAB_DRAW_BACKFILL,
    LAB_DRAW_TTL,
    LAB_DRAW_DELETES,
    LAB_DRAW_RANGE,
    LAB_DRAW_ALL,
    LAB_DRAW_CLOCK_STEP,
    LAB_DRAW_EVICTION,
    LAB_DRAW_ROUTING,
    LAB_DRAW_PLAN,
    LAB_DRAW_EMPTIES,
    LAB_DRAW_THEN,
    LAB_DRAW_TOPOLOGY,
    LAB_DRAW_ANY_LEVELS,
    LAB_DRAW_CHECKPOINT,
    LAB_DRAW_IDENTIFIERS,
    LAB_DRAW_IDGEN,
    LAB_DRAW_THINK,
    LAB_DRAW_COUNTS,
    LAB_DRAW_ONE_WRITER,
    LAB_DRAW_TWIN,
    LAB_DRAW_BACKOFF,
    LAB_DRAW_LENGTH,
    LAB_DRAW_MAX_AGE,
    LAB_DRAW_ALIGNED,
    LAB_DRAW_DAILY,
    LAB_DRAW_SPIKES,
    LAB_DRAW_SIZES,
    LAB_DRAW_CELLS,
    LAB_DRAW_FORMAT,
    LAB_DRAW_LIMIT,
    LAB_DRAW_READ_PLANS, /* three, by kind */
    LAB_DRAW_LOSS = LAB_DRAW_READ_PLANS + 3,
    LAB_DRAW_DUPLICATE,
    LAB_DRAW_UNIFORM,
    LAB_DRAW_NODE_TIMES,
    LAB_DRAW_TOKENS,
    LAB_DRAW_DETECT,
    LAB_DRAW_TRAP,
    LAB_DRAW_RANDOM,
    LAB_DRAW_DRIFT,
    LAB_DRAW_HISTORY,
    LAB_DRAW_WINDOWS,
    LAB_DRAW_CHANCE,
    LAB_DRAW_EVERY_TIME,
    LAB_DRAW_ONE_BUCKET,
    LAB_DRAW_STRIPES,
    LAB_DRAW_CHOICE,
    LAB_DRAW_CORES,
    LAB_DRAW_COMPRESSION,
    LAB_DRAW_POINTS,
    LAB_DRAW_EACH,
    LAB_DRAW_MIXED,
    LAB_DRAW_FAULTS = 1000 /* from here on, a stream per kind of fault */
};

/* The size of a seed's run. If partitions are small enough, a short run rolls as often as a long one. */
struct lab_fuzz_length {
    double rows[2];
    uint64_t keys; /* at most */
    int64_t duration_ns[2];
    double partition_rows[2]; /* range of the mean */
    uint64_t operations;      /* smallest number of an agent's concurrent operations */
    int64_t caches[2];        /* longest and shortest time to live of caches, as fractions 1/N of the run */
    int64_t windows;          /* shortest window, as a fraction 1/N of the run */
    int64_t faults;           /* longest fault, as a fraction 1/N of the run */
    uint64_t latest_rows[2];
    double latest, ranges;       /* largest number of reads per row */
    uint64_t identifiers, batch; /* identifiers of all clients, and the most identifiers of a batch */
};

struct lab_fuzz_plan {
    uint64_t seed;
    const struct lab_fuzz_length *length;
    bool has_duration; /* false: a trace that is run completely */
    int64_t duration_ns;
    double rate_per_s; /* rate of all keys together */
    uint64_t keys;
    uint32_t agents, nodes, replicas, datacenters, racks;
    char datacenter_names[CASS_DATACENTERS_MAX][32];
    int64_t cache_ttl_ns, clock_bound_ns;
    int64_t clock_step_ns;       /* resolution of clocks; 0: nanoseconds */
    uint32_t cache_entries;      /* if below the number of keys, states are evicted */
    bool has_identifiers;        /* the scenario has identifiers and no rows */
    bool has_then;               /* settings change, as drawn or in the user's strategies */
    bool has_strategies;         /* the user's tree has strategies */
    bool may_expire, may_delete; /* the user's tree does not exclude it */
};

/* Draws all parts of a scenario that are not in the user's tree, as YAML. malloc'ed; NULL when out of
 * memory. */
char *lab_fuzz_draw(const struct lab_node *root, uint64_t seed, bool is_named);

/* Draws. lab_draw_init() begins the random stream of a value; lab_draw_chance() is true with this
 * probability; lab_draw_whole() draws a whole number from least to most, inclusive; lab_draw_log() a positive
 * number with a uniform logarithm; lab_draw_span() a span with a uniform logarithm, rounded to two digits by
 * lab_draw_rounded(). */
struct sim_random;
void lab_draw_init(struct sim_random *random, const struct lab_fuzz_plan *plan, unsigned draw);
bool lab_draw_chance(struct sim_random *random, double chance);
uint64_t lab_draw_whole(struct sim_random *random, uint64_t least, uint64_t most);
double lab_draw_log(struct sim_random *random, double least, double most);
int64_t lab_draw_span(struct sim_random *random, int64_t least_ns, int64_t most_ns);
int64_t lab_draw_rounded(double span_ns);
/* Formats a span, for example "1500ms"; buffer must have LAB_SPAN_SIZE bytes. */
#define LAB_SPAN_SIZE 32
const char *lab_span_text(int64_t span_ns, char *buffer);

/* Rounds a span to a multiple of the clocks' resolution, so that a row's time can be exactly at its end. */
int64_t lab_draw_on_grid(const struct lab_fuzz_plan *plan, int64_t span_ns);

/* Whether the seed's strategy counts rows. */
bool lab_draw_counts(const struct lab_fuzz_plan *plan);
/* Whether the seed's strategy has time windows, and its readers remember which were empty. */
bool lab_draw_remembers(const struct lab_fuzz_plan *plan);

/* fuzz_draw_workload.c: rows and reads; for a trace, only the reads. fuzz_draw_idgen.c: "identifiers:" and
 * its strategy. fuzz_draw_strategy.c, fuzz_draw_fault.c: "strategies:", "faults:". */
void lab_fuzz_draw_workload(const struct lab_fuzz_plan *plan, bool is_trace, struct lab_writer *writer);
void lab_fuzz_draw_identifiers(const struct lab_fuzz_plan *plan, struct lab_writer *writer);
void lab_fuzz_draw_idgen(const struct lab_fuzz_plan *plan, struct lab_writer *writer);
void lab_fuzz_draw_strategy(const struct lab_fuzz_plan *plan, struct lab_writer *writer);
void lab_fuzz_draw_faults(const struct lab_fuzz_plan *plan, struct lab_writer *writer);

/* fuzz_draw_rare.c: settings that few seeds have. Those of the popularity of keys (a field; false: not
 * drawn), how many identifiers each client takes (a field), of arrivals, of `row`, of reads (a field, and the
 * plan of a kind as fields), of the network (fields), its latency (false: not drawn), a node (fields), the
 * number of tokens, the time-out of detection, the trap of retries, and random faults. */
bool lab_draw_points(const struct lab_fuzz_plan *plan, struct lab_writer *writer);
void lab_draw_each(const struct lab_fuzz_plan *plan, struct lab_writer *writer);
void lab_draw_rare_arrivals(const struct lab_fuzz_plan *plan, struct lab_writer *writer);
void lab_draw_row(const struct lab_fuzz_plan *plan, int64_t ttl_ns, struct lab_writer *writer);
void lab_draw_read_limit(const struct lab_fuzz_plan *plan, struct lab_writer *writer);
void lab_draw_read_plan(const struct lab_fuzz_plan *plan, unsigned kind, struct lab_writer *writer);
void lab_draw_rare_network(const struct lab_fuzz_plan *plan, struct lab_writer *writer);
bool lab_draw_uniform_latency(const struct lab_fuzz_plan *plan, int64_t mean_ns, struct lab_writer *writer);
void lab_draw_rare_node(const struct lab_fuzz_plan *plan, struct lab_writer *writer);
uint64_t lab_draw_tokens(const struct lab_fuzz_plan *plan);
void lab_draw_detect(const struct lab_fuzz_plan *plan, bool is_alone, struct lab_writer *writer);
void lab_draw_trap(const struct lab_fuzz_plan *plan, struct lab_writer *writer);
/* until: they begin within this fraction of the run. */
void lab_draw_random_faults(const struct lab_fuzz_plan *plan, double until, struct lab_writer *writer);
bool lab_draw_has_random(const struct lab_fuzz_plan *plan);

#endif
