/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is drawn for a seed: the figures that several parts of a scenario depend on, as the user's file has
 * them or else as drawn, and the parts written from them. */
#ifndef LAB_FUZZ_PLAN_H
#define LAB_FUZZ_PLAN_H

#include <stdint.h>

#include "cassandra/cluster.h"
#include "lab/scenario_tree.h"
#include "lab/scenario_write.h"

/* A figure is drawn from the stream of its own number, so that a new one moves no other. Append only, or all
 * seeds are other scenarios. */
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
    LAB_DRAW_FAULTS = 1000 /* from here on a stream per kind of fault */
};

/* How much a seed has of what takes time: in partitions small enough, few rows roll as often as many. */
struct lab_fuzz_length {
    double rows[2];
    uint64_t keys; /* at most */
    int64_t duration_ns[2];
    double partition_rows[2]; /* the mean */
    uint64_t operations;      /* of an agent at once, at least */
    int64_t caches[2];        /* the longest and the shortest life of a copy, as parts of the run */
    int64_t windows;          /* the shortest, likewise */
    int64_t faults;           /* the longest, likewise */
    uint64_t latest_rows[2];
    double latest, ranges;       /* reads a row, at most */
    uint64_t identifiers, batch; /* identifiers of all clients, and of a batch at most */
};

struct lab_fuzz_plan {
    uint64_t seed;
    const struct lab_fuzz_length *length;
    bool has_duration; /* false: of a trace that is run whole */
    int64_t duration_ns;
    double rate_per_s; /* of all keys together */
    uint64_t keys;
    uint32_t agents, nodes, replicas, datacenters, racks;
    char datacenter_names[CASS_DATACENTERS_MAX][32];
    int64_t cache_ttl_ns, clock_bound_ns;
    int64_t clock_step_ns;       /* clocks show multiples of this; 0: they are as fine as time */
    uint32_t cache_entries;      /* fewer than keys: states are pushed out */
    bool has_identifiers;        /* and no rows */
    bool has_then;               /* settings change: drawn, or of the user's strategies */
    bool has_strategies;         /* the user's tree names them */
    bool may_expire, may_delete; /* the user's tree says nothing against it */
};

/* The parts that are not in the user's tree, all of them as they would be drawn, as YAML. malloc'ed; NULL
 * when out of memory. */
char *lab_fuzz_draw(const struct lab_node *root, uint64_t seed, bool is_named);

/* Draws: uniform in [0, 1); true with this chance; a whole number from least to most; between two positive
 * numbers with a uniform logarithm; a span likewise, rounded to two digits. */
struct sim_random;
void lab_draw_init(struct sim_random *random, const struct lab_fuzz_plan *plan, unsigned draw);
bool lab_draw_chance(struct sim_random *random, double chance);
uint64_t lab_draw_whole(struct sim_random *random, uint64_t least, uint64_t most);
double lab_draw_log(struct sim_random *random, double least, double most);
int64_t lab_draw_span(struct sim_random *random, int64_t least_ns, int64_t most_ns);
int64_t lab_draw_rounded(double span_ns);
/* " 1500ms" without the blank; buffer holds LAB_SPAN_SIZE. */
#define LAB_SPAN_SIZE 32
const char *lab_span_text(int64_t span_ns, char *buffer);

/* On the grid of the clocks, so that a row's time can meet the end of such a span exactly. */
int64_t lab_draw_on_grid(const struct lab_fuzz_plan *plan, int64_t span_ns);

/* The seed's strategy counts rows. */
bool lab_draw_counts(const struct lab_fuzz_plan *plan);
/* The seed's strategy is of windows, and its readers remember which were empty. */
bool lab_draw_remembers(const struct lab_fuzz_plan *plan);

/* fuzz_draw_workload.c: rows and reads; of a trace, the reads alone. fuzz_draw_idgen.c: "identifiers:", and
 * its strategy. fuzz_draw_strategy.c, fuzz_draw_fault.c: "strategies:", "faults:". */
void lab_fuzz_draw_workload(const struct lab_fuzz_plan *plan, bool is_trace, struct lab_writer *writer);
void lab_fuzz_draw_identifiers(const struct lab_fuzz_plan *plan, struct lab_writer *writer);
void lab_fuzz_draw_idgen(const struct lab_fuzz_plan *plan, struct lab_writer *writer);
void lab_fuzz_draw_strategy(const struct lab_fuzz_plan *plan, struct lab_writer *writer);
void lab_fuzz_draw_faults(const struct lab_fuzz_plan *plan, struct lab_writer *writer);

#endif
