/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A scenario: the experiment as a checked struct, read from YAML (docs/scenario.md lists every field).
 *
 * The parser is strict: an unknown field, a wrong unit, a missing or impossible value is an error that names
 * file, line, column and remedy, and no scenario is made. All strings and arrays belong to the scenario. */
#ifndef LAB_SCENARIO_H
#define LAB_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cassandra/cluster.h"
#include "cassandra/token.h"
#include "kernel/error.h"
#include "lab/row_cost.h"
#include "lab/setting.h"
#include "workload/trace.h"
#include "workload/workload.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- A table's design: where the value of each column comes from, and which columns are its partition key
 * and its clustering columns.
 *
 * It is a plain value within the scenario. Without `table:` in the scenario it is the default design, PRIMARY
 * KEY ((key, bucket), at, id) with the newest rows first. */

#define LAB_COLUMNS_MAX         63u      /* CASS_SSTABLE_COLUMNS_MAX */
#define LAB_COLUMN_NAME_MAX     48u      /* in bytes of UTF-8 */
#define LAB_TYPE_SIZE           128u     /* of a type with its parameters, with the final NUL */
#define LAB_TABLE_NAME_MAX      36u      /* leaves room for the suffixes of the names of related tables */
#define LAB_COLUMN_VALUES_MAX   1000000u /* distinct values of a column */
#define LAB_DESIGN_CELL_TIME_NS INT64_C(1000000) /* resolution of CQL's type timestamp */

enum lab_feed {
    LAB_FEED_KEY,    /* the workload's key */
    LAB_FEED_BUCKET, /* the strategy's bucket */
    LAB_FEED_TIME,   /* the row's own time, in whole milliseconds */
    LAB_FEED_ID,     /* the row's id, which is unique */
    LAB_FEED_VALUES, /* one of `values` distinct values, drawn for each row */
    LAB_FEED_DATA    /* payload of the row; never in the primary key */
};

struct lab_column {
    char name[LAB_COLUMN_NAME_MAX + 1];
    enum lab_feed feed;
    uint32_t values; /* LAB_FEED_VALUES: number of distinct values, 1 to LAB_COLUMN_VALUES_MAX */
    double zipf; /* LAB_FEED_VALUES: the k-th value has a frequency proportional to k^-zipf; 0: all values are
                    equally frequent */
    char type_text[LAB_TYPE_SIZE];
    enum cass_type type;
    uint64_t bytes; /* size of each value or, of CASS_NESTED, of each of varying length in it; 0: the size of
                       the type, a share of the row's bytes or, for LAB_FEED_VALUES, the number of digits */
    struct cass_weight weight; /* value 0: a share of the row's bytes, or the length of the key */
    bool is_guess;             /* the weight depends on sizes that are not given */
    /* Only for LAB_FEED_DATA: */
    uint32_t elements;      /* of each collection in the type; 0: CASS_ELEMENTS_USUAL */
    struct sim_size spread; /* their distribution, unless a is 0: then they are the row's bytes */
    bool is_static;
    double
        missing; /* the share of rows that have no such cell; for a static column, the share of partitions */
};

struct lab_design {
    bool is_given; /* the scenario has `table:` */
    char name[LAB_TABLE_NAME_MAX + 1];
    size_t column_count;
    struct lab_column columns[LAB_COLUMNS_MAX]; /* in the order of the file */
    size_t partition_count, clustering_count;
    uint8_t partition[LAB_COLUMNS_MAX]; /* indices of `columns` */
    uint8_t clustering[LAB_COLUMNS_MAX];
    bool is_descending[LAB_COLUMNS_MAX]; /* for each element of `clustering` */
};

/* Sets *out to the default design. */
void lab_design_default(struct lab_design *out);
/* The first column with this feed, or NULL; and whether a column with this feed is in the partition key, or
 * is a clustering column. */
const struct lab_column *lab_design_column(const struct lab_design *design, enum lab_feed feed);
bool lab_design_partitions_by(const struct lab_design *design, enum lab_feed feed);
bool lab_design_clusters_by(const struct lab_design *design, enum lab_feed feed);
/* Whether the column with this index is in the primary key. */
bool lab_design_is_in_key(const struct lab_design *design, size_t column);
/* Whether every row has a unique primary key, so that no row overwrites another. */
bool lab_design_is_unique(const struct lab_design *design);
/* Whether the design is equivalent to the default: partitions are (key, bucket), and every row is kept. */
bool lab_design_is_plain(const struct lab_design *design);
/* The number of distinct combinations of the value columns in the partition key or, unless
 * of_partition_alone, in the whole primary key. */
uint64_t lab_design_values(const struct lab_design *design, bool of_partition_alone);

/* --- The cluster engine's part of a scenario: consistency levels, agents and faults.
 *
 * Times of faults are relative to the start of the run. The nodes, agents and datacenters that a fault names
 * are checked against the cluster when the scenario is read. */

#define LAB_AGENTS_MAX     4096u
#define LAB_OPERATIONS_MAX 4096u /* operations under way at once per agent */
#define LAB_FAULTS_MAX     2000u
/* The most keys; each has one row and one read pending at a time. */
#define LAB_CLUSTER_KEYS_MAX (UINT32_C(1) << 22)
/* The most buckets of a hash strategy in the cluster engine. */
#define LAB_CLUSTER_BUCKETS_MAX 65536u

/* The consistency levels of writes and reads of rows, of the state, and of LWT; the defaults are LOCAL_QUORUM
 * and LOCAL_SERIAL. */
struct lab_consistency {
    enum cass_consistency write, read, state, serial;
};

/* Where a client retries a row whose outcome is unknown. */
enum lab_retry { LAB_RETRY_SAME_BUCKET, LAB_RETRY_ROUTE_AGAIN };

struct lab_agents {
    bool present;
    uint32_t count;          /* 1 to LAB_AGENTS_MAX */
    int64_t cache_ttl_ns;    /* default 5s */
    uint32_t cache_entries;  /* default 100000 */
    int64_t clock_offset_ns; /* each agent's clock starts uniformly within plus or minus this; default 0 */
    double clock_drift;      /* and drifts uniformly within plus or minus this; 20ppm = 20e-6; default 0 */
    int64_t clock_resolution_ns; /* times of the clock are rounded down to a multiple of this; default 0: not
                                    rounded */
    int64_t clock_bound_ns;      /* time synchronisation keeps the clock's error within this, except after a
                                    clock_jump; default: the offset plus the resolution */
    int retry;                   /* enum lab_retry; default LAB_RETRY_SAME_BUCKET */
    uint32_t retries;            /* retries of actions that may be repeated; default 3 */
    uint32_t counter_retries;    /* retries of counter updates; default 0, as in drivers */
    int64_t timeout_ns;          /* the client's own timeout; default 12s (cluster.timeouts.client) */
    bool by_key; /* all rows and reads of a key go to the same agent while it is up; default: to any agent */
    uint32_t operations; /* operations under way at once per agent; 0, the default: as many as fit into
                            memory, at most 4096 */
    uint32_t
        queue; /* rows of one key that may wait in an agent for the row before; 0, the default: none waits */
    int64_t restart_ns; /* a crashed agent restarts after this; default 5s */
    double twin_share;  /* share of the agent's steps after which its twin is saved and loaded; default 0:
                           there is no twin */
};

enum lab_fault_kind {
    LAB_FAULT_NODE_DOWN,
    LAB_FAULT_SLOW_NODE,         /* factor */
    LAB_FAULT_GC_STORM,          /* the node pauses for the duration of the fault */
    LAB_FAULT_NETWORK_PARTITION, /* between two groups of places */
    LAB_FAULT_LOST_MESSAGE,      /* chance */
    LAB_FAULT_DUPLICATE_MESSAGE, /* chance */
    LAB_FAULT_DELAY,             /* factor */
    LAB_FAULT_HINT_LOSS,         /* the node loses its stored hints */
    LAB_FAULT_AGENT_CRASH,
    LAB_FAULT_CLOCK_JUMP,     /* by_ns */
    LAB_FAULT_AGENT_PAUSE,    /* the agent still receives one event, and acts on it after the pause */
    LAB_FAULT_LATE_MESSAGE,   /* chance, by_ns */
    LAB_FAULT_STATE_LOST,     /* a key's state row is deleted */
    LAB_FAULT_STATE_RESTORED, /* a key's state row is set back to its contents of age_ns before */
    LAB_FAULT_PAXOS_LOSS,     /* a replica loses its Paxos state of the last age_ns */
    LAB_FAULT_KIND_COUNT
};
/* The name in a scenario, for example "node_down". */
const char *lab_fault_kind_name(enum lab_fault_kind kind);

/* One side of a network partition: all agents, one agent, a datacenter, a node. */
enum lab_group_kind { LAB_GROUP_AGENTS, LAB_GROUP_AGENT, LAB_GROUP_DATACENTER, LAB_GROUP_NODE };
struct lab_group {
    enum lab_group_kind kind;
    uint32_t index;
};

/* A fault at a given time (rate_per_s 0), or faults at random times, which are a Poisson process up to
 * until_ns. */
struct lab_fault {
    uint32_t kinds; /* bit k: enum lab_fault_kind k; only `random` has several bits */
    int64_t at_ns;
    int64_t lasts_ns;  /* INT64_MAX: never ends. `random`: the mean, default 30s. agent_crash: default
                          agents.restart_ns. Not used by clock_jump and hint_loss */
    double rate_per_s; /* rate of random faults; 0: one fault, at at_ns */
    int64_t until_ns;  /* end of random faults; INT64_MAX: the end of the run */
    uint32_t target;   /* index of the node, agent or key; UINT32_MAX: drawn for each fault */
    struct lab_group between[2]; /* the two sides of a network partition at a given time */
    double factor;  /* slow_node and delay: factor, default 10. lost_message and duplicate_message:
                       probability, default 5 %. late_message: probability, default 1 %. `random`: factor 10 */
    int64_t by_ns;  /* clock_jump: the jump; `random`: drawn within plus or minus this, default 2s.
                       late_message: the delay, default 1m */
    int64_t age_ns; /* state_restored: default 30s; paxos_loss: default 10s; agent_crash: age of the
                       checkpoint from which the agent restarts, 0: it restarts without one */
    int line, column;
};

/* --- An expectation: "LABEL.METRIC OP NUMBER", where OP is one of < <= > >= == !=. */

enum lab_compare { LAB_LESS, LAB_LESS_EQUAL, LAB_GREATER, LAB_GREATER_EQUAL, LAB_EQUAL, LAB_NOT_EQUAL };

/* With what unit the number of an expectation is written. */
enum lab_expect_unit {
    LAB_EXPECT_PLAIN,     /* "32000" */
    LAB_EXPECT_THOUSANDS, /* "32k" */
    LAB_EXPECT_BYTES,     /* "10MB" */
    LAB_EXPECT_DURATION,  /* "5ms" */
    LAB_EXPECT_SHARE      /* "1%" */
};

struct lab_expect {
    char *text;   /* as written */
    char *metric; /* "LABEL.METRIC"; the strategy is the one with the longest matching label */
    enum lab_compare compare;
    double value; /* a number, a share of 1, a size in bytes, or a duration in milliseconds */
    enum lab_expect_unit unit;
    int line, column;
};

/* An expectation about the answer of `tune`: "tune.recommended == LABEL" or "tune.best.KIND != LABEL". Runs
 * ignore it. */
struct lab_tune_expect {
    char *text, *label;
    enum bk_kind kind; /* the kind of "tune.best.KIND"; BK_KINDS: "tune.recommended" */
    bool is_unequal;
};

/* The text that lab_expect_parse() returns when out of memory. Compare the pointers. */
extern const char LAB_EXPECT_NO_MEMORY[];

/* Parses one expectation. Returns NULL, or a constant text "problem; remedy". On success the caller must free
 * *out with lab_expect_clear(). */
const char *lab_expect_parse(const char *text, struct lab_expect *out);
void lab_tune_expect_clear(struct lab_tune_expect *expect);
/* label: the label of the recommended setting, or of the best setting of the kind; NULL: there is none. */
bool lab_tune_expect_holds(const struct lab_tune_expect *expect, const char *label);
void lab_expect_clear(struct lab_expect *expect);
bool lab_expect_holds(const struct lab_expect *expect, double actual);

/* --- The cost of operations, in units of one insert, so that strategies with different operations can be
 * compared. */

/* All 0: each operation costs as much as an insert, and scanning a row costs nothing. */
struct lab_prices {
    double counter_increment, state_read, state_write, lwt, lock, row_scanned;
    double partition_read;
};

/* One row per price, in the order of struct lab_prices. */
struct lab_price {
    const char *name;   /* name in a scenario */
    const char *metric; /* metric that counts these operations; NULL: the partitions that reads query */
    size_t place;       /* in struct lab_prices */
    double measured;    /* the default: the number of inserts that a node performs in the time of one such
                           operation, measured by tests/cassandra5/latency */
};
extern const struct lab_price lab_price_table[];
extern const size_t lab_price_count;

double lab_price_of(const struct lab_prices *prices, const struct lab_price *price);
void lab_prices_default(struct lab_prices *prices);
/* Whether all operations cost the same. */
bool lab_prices_are_equal(const struct lab_prices *prices);

/* --- `tune` in a scenario: the requirements on a recommended setting, and which kinds of strategies compete.
 */

struct lab_tune {
    double share; /* limits.over_limit_share: the share of partitions that may exceed a limit */
    double risk;  /* as read, if the file has it; `share` is what counts */
    double tiny;  /* the share of closed partitions that may be tiny; negative, the default: any */
    double partitions_per_read; /* the largest allowed p99; 0, the default: any */
    double confidence;          /* confidence of statements about other seeds; default 95 % */
    double
        tolerance;  /* settings whose load is within this share of the least count as equal; default 0.5 % */
    uint32_t seeds; /* the most seeds with which a setting is run; default 8 */
    uint32_t kinds; /* bit k: strategies of kind k compete; default: all kinds */
};

#define LAB_TUNE_SEEDS_MAX  1000u
#define LAB_TUNE_CONFIDENCE 0.95
#define LAB_TUNE_TOLERANCE  0.005

#define LAB_STRATEGIES_MAX 64
#define LAB_LABEL_SIZE_MAX 64 /* bytes of UTF-8 */
/* The start of a scenario that does not specify one: 2026-01-01. */
#define LAB_START_DEFAULT (INT64_C(20454) * 86400 * 1000000000)

/* A scenario with agents or faults has LAB_ENGINE_CLUSTER, whether it specifies that or auto. A scenario with
 * auto and many rows that need not be drawn has LAB_ENGINE_THINNED. A loaded scenario never has
 * LAB_ENGINE_AUTO. */
enum lab_engine { LAB_ENGINE_AUTO, LAB_ENGINE_EXACT, LAB_ENGINE_THINNED, LAB_ENGINE_CLUSTER };

/* Whether the stream engine keeps what the table stores (lab/tally.h). The partitions of a table that can be
 * thinned are those of the strategy. */
#define LAB_KEEPS_STORED(scenario) ((scenario)->design.is_given && (scenario)->engine != LAB_ENGINE_THINNED)

enum lab_read_kind { LAB_READ_LATEST, LAB_READ_RANGE, LAB_READ_ALL, LAB_READ_KINDS };

struct lab_read {
    double rate_per_s;       /* 0: there are no such reads */
    uint64_t rows;           /* LAB_READ_LATEST: number of rows */
    int64_t span_ns, age_ns; /* LAB_READ_RANGE: the range is [now - age - span, now - age) */
    enum bk_plan plan;       /* for BK_KIND_HASH, walk and pair mean its default plan */
    uint32_t at_once;        /* BK_PLAN_PARALLEL: buckets per step; 0: the core's default */
};

struct lab_reads {
    bool present;
    struct lab_read kinds[LAB_READ_KINDS];
    uint64_t limit;    /* the most partitions that a read may query; 0: the core's limit */
    bool are_expected; /* of each kind, the expected figures are computed; otherwise reads are drawn, one by
                          one. As lab_reads_can_be_expected(), except in tests */
};

struct lab_strategy {
    char *label; /* unique; the name of the kind when none is given */
    struct lab_settings settings;
    int line, column;
};

/* Whether partitions of this kind end. Those of the other kinds take rows for as long as their keys do. */
static inline bool lab_kind_ends(enum bk_kind kind)
{
    return kind != BK_KIND_UNBUCKETED && kind != BK_KIND_HASH;
}

/* The probability that a row makes an increment, of probabilistic. */
static inline double lab_chance(const struct bk_strategy *strategy)
{
    const uint64_t of = strategy->of.probabilistic.chance_denominator;
    return of == 0 ? 1 / (double)(UINT64_C(1) << strategy->of.probabilistic.bits)
                   : (double)strategy->of.probabilistic.chance_numerator / (double)of;
}

/* The partitions of a window or of a counted bucket, and the first one of those that have this one. */
static inline int64_t lab_shards(const struct bk_strategy *strategy)
{
    const uint32_t shards = strategy->kind == BK_KIND_TIME ? strategy->of.time.shards : strategy->shards;
    return shards > 1 ? (int64_t)shards : 1;
}
static inline int64_t lab_first_shard(const struct bk_strategy *strategy, int64_t bucket)
{
    const int64_t shards = lab_shards(strategy);
    if (shards == 1)
        return bucket;
    const int64_t shard = bucket % shards;
    return bucket - shard - (shard < 0 ? shards : 0);
}

/* Clients of idgen, which are the agents, in a closed loop: each takes its next identifier after it has used
 * the last one. */
struct lab_identifiers {
    bool present;
    int64_t think_ns; /* time from an identifier to the next request; default 0 */
    uint64_t each;    /* number of identifiers after which a client stops; 0, the default: it never stops */
};

/* What a partition takes at a limited rate: a row written, or a query of a read. */
enum lab_rate { LAB_RATE_WRITES, LAB_RATE_READS, LAB_RATES };
const char *lab_rate_name(enum lab_rate rate); /* "writes", "reads" */

struct lab_limits {
    uint64_t partition_rows;  /* 0: no limit */
    uint64_t partition_bytes; /* 0: no limit */
    double rate[LAB_RATES];   /* the most of a partition in any second of the clock; 0: no limit */
    uint64_t tiny_rows;       /* partitions with fewer rows are tiny; 0: none is */
    double over_limit_share;  /* the share of the partitions that may exceed a limit; default 0: none */
    double confidence;        /* tune.confidence: the confidence of judgements */
    double tolerance;         /* tune.tolerance: loads that differ by at most this share count as equal */
};

static inline bool lab_limits_sizes(const struct lab_limits *limits)
{
    return limits->partition_rows != 0 || limits->partition_bytes != 0;
}
static inline bool lab_limits_any(const struct lab_limits *limits)
{
    return lab_limits_sizes(limits) || limits->rate[LAB_RATE_WRITES] > 0 || limits->rate[LAB_RATE_READS] > 0;
}

/* The ring, with the totals of all datacenters. */
struct lab_cluster {
    uint32_t nodes, replication_factor, num_tokens;
};

/* Deletion of some of the rows by a client, each some time after it was written. */
struct lab_deletes {
    double share;     /* share of the rows that are deleted; 0: none */
    int64_t after_ns; /* mean time between write and deletion */
};

struct lab_scenario {
    char *path; /* the file's path, as it was given */
    char *text; /* the YAML as read, overrides not applied */
    size_t text_size;
    char *overrides; /* the --set arguments, one per line; "" when there were none */
    bool is_kept;    /* made by lab_scenario_again() */
    char *name;
    char *about; /* "" when absent */
    uint64_t seed;
    uint64_t tie_seed; /* for tests: if not 0, it determines the order of events with equal times */
    enum lab_engine engine;
    char *trace_path; /* NULL for a synthetic workload; resolved relative to the scenario's folder */
    struct wl_trace_format trace_format;
    char *like_path;             /* the file of cluster.node, resolved likewise; NULL: none */
    struct wl_workload workload; /* for a trace, only start, duration (0: the whole trace), row_bytes,
                                    row_cells and seed are used */
    double popularity_top;       /* `keys.popularity.top`, the share of the busiest key; 0: not given */
    bool has_start;              /* trace: rows before workload.start_ns are ignored */
    bool has_row_bytes; /* `row.bytes` was given, at the line and column below; otherwise workload.row_bytes
                           is the default */
    int row_bytes_line, row_bytes_column;
    bool has_row_cells, has_row_columns; /* `row.cells`, `row.columns` were given */
    int row_format;                      /* enum lab_row_format */
    int row_is_updated, row_has_nulls;   /* 1: written by UPDATE; what a row lacks is null */
    double row_compression;              /* bytes on disk per byte of the table; 0: not given */
    struct lab_row_cost row_cost;        /* the sizes of rows and partitions */
    int64_t row_ttl_ns;                  /* 0: rows do not expire */
    int64_t compaction_window_ns;        /* of the table; 0: one is chosen that suits row_ttl_ns */
    int64_t gc_grace_ns;                 /* how long a tombstone is kept */
    char *schema_types,
        *schema_table; /* of `row.schema`, the CREATE statements; the table's with its bucket */
    struct lab_deletes deletes;
    struct lab_identifiers identifiers; /* if present, all strategies are idgen, and there are no rows */
    struct lab_reads reads;
    bool is_raced; /* set by `tune`: what its race does not compare is not measured by the stream engine:
                      digests, nodes, the timeline, the largest partitions, the busiest second, most quantiles
                    */
    struct lab_design design; /* from `table`; otherwise lab_design_default() */
    struct lab_limits limits;
    int limits_like;          /* the preset of limits that was named; 0: none */
    struct lab_prices prices; /* in units of one insert */
    double price_of_insert;   /* the price of an insert in the scenario: 1, or an amount of money */
    struct lab_tune tune;
    struct lab_cluster cluster;         /* defaults: 6 nodes, replication factor 3, 16 tokens per node */
    struct cass_cluster_config network; /* the full description of the cluster, including seed and clients;
                                           `nodes: N` is one datacenter "dc1" */
    struct lab_consistency consistency;
    struct lab_agents agents; /* present if and only if the engine is LAB_ENGINE_CLUSTER */
    size_t fault_count;
    struct lab_fault *faults;
    uint64_t faults_left_out; /* bit f: fault f is disabled, without any effect on the other faults; 0 in a
                                 scenario that was read from text */
    size_t strategy_count;    /* 0: there are only observed strategies, no rows, and no engine runs */
    struct lab_strategy *strategies;
    size_t observed_count; /* for the user these are strategies too; in a result they follow the others */
    struct lab_strategy *observed; /* sizes that a running Cassandra reported, with which strategies are
                                      compared; they place no rows */
    size_t expect_count;
    struct lab_expect *expects;
    size_t tune_expect_count; /* expectations about tune's answer, which the engines ignore */
    struct lab_tune_expect *tune_expects;
};

struct lab_override {
    const char
        *text; /* "PATH=VALUE", for example "arrivals.rate=300/s" or "strategies[3].probabilistic.bits=8" */
};

/* Reads and checks a file. overrides may be NULL when override_count is 0; seed overrides `seed:` when it is
 * not NULL. On failure *out is NULL and the error is SIM_ERROR_INPUT (or SIM_ERROR_ENVIRONMENT when out
 * of memory). */
bool lab_scenario_load(const char *path, const struct lab_override *overrides, size_t override_count,
                       const uint64_t *seed, struct lab_scenario **out, struct sim_error *error);
/* As lab_scenario_load(), from a text of `size` bytes; `path` is for messages and for relative file names. */
bool lab_scenario_parse(const char *path, const char *text, size_t size, const struct lab_override *overrides,
                        size_t override_count, const uint64_t *seed, struct lab_scenario **out,
                        struct sim_error *error);
/* As lab_scenario_load(), from the stored path, text and overrides of a scenario, with a seed, and with more
 * overrides, which are applied last. more may be NULL when more_count is 0. It accepts what earlier versions
 * of the program accepted: `count` without `counter` is `external`, and expectations have any units. */
bool lab_scenario_again(const char *path, const char *text, const char *overrides,
                        const struct lab_override *more, size_t more_count, uint64_t seed,
                        struct lab_scenario **out, struct sim_error *error);
/* As lab_scenario_again(), for a text of unknown origin: a file that is in none of the folders, a list that
 * ends with NULL, is refused before it is opened. */
bool lab_scenario_again_within(const char *const *folders, const char *path, const char *text,
                               const char *overrides, const struct lab_override *more, size_t more_count,
                               uint64_t seed, struct lab_scenario **out, struct sim_error *error);
/* Reads a file as lab_scenario_load() does. *text is malloc'ed and owned by the caller; NULL on failure. */
bool lab_scenario_text(const char *path, char **text, size_t *size, struct sim_error *error);
void lab_scenario_destroy(struct lab_scenario *scenario); /* scenario may be NULL */

/* Whether the stream engine counts the rows of each second. */
static inline bool lab_counts_seconds(const struct lab_scenario *scenario)
{
    return !scenario->is_raced || scenario->limits.rate[LAB_RATE_WRITES] > 0;
}

/* --- Settings that change during a run, as the histories that apply at each time.
 *
 * A change that keeps the old settings adds an era to the core's history; all agents know the era and its
 * date from the start. A change that forgets the old settings begins a new regime: from its date on, writers
 * and readers know only the new settings, as when a team edits a constant and deploys. */

struct lab_regime {
    int64_t from_ns; /* start of the regime; INT64_MIN for the first */
    struct bk_history history;
};

struct lab_regimes {
    uint32_t count;
    struct lab_regime items[LAB_CHANGES_MAX + 1];
};

/* Makes the regimes of a strategy in a run that starts at start_ns. Returns false when a date overflows a
 * timestamp, or when the core refuses a change; a checked scenario has neither. */
bool lab_regimes_make(const struct lab_strategy *strategy, int64_t start_ns, struct lab_regimes *out);
/* The index of the regime that applies at time_ns. */
uint32_t lab_regime_at(const struct lab_regimes *regimes, int64_t time_ns);

/* --- Rows that expire or are deleted: rows with a time to live, and rows that are deleted some time after
 * they were written. Either leaves a tombstone in its partition. */

/* Whether a row is live, deleted or expired. */
enum lab_fate { LAB_FATE_LIVE, LAB_FATE_DELETED, LAB_FATE_EXPIRED };

#define LAB_GC_GRACE_NS (INT64_C(864000) * 1000000000) /* gc_grace_seconds unless it is set */

static inline bool lab_rows_go(const struct lab_scenario *scenario)
{
    return scenario->row_ttl_ns > 0 || scenario->deletes.share > 0;
}

/* How long after it was written a row is deleted; -1: it is not deleted. It is a function of (seed, key,
 * row), so both engines and all strategies delete the same rows. */
int64_t lab_deleted_after(const struct lab_scenario *scenario, uint64_t entity, uint64_t row);

/* The fate at end_ns of a row that was written at written_ns. As in Cassandra, a time to live is in whole
 * seconds. */
enum lab_fate lab_row_fate(const struct lab_scenario *scenario, uint64_t entity, uint64_t row,
                           int64_t written_ns, int64_t end_ns);

/* For a scenario with a time to live: rows that were written at the returned time or later are live at
 * now_ns; earlier rows have expired. */
int64_t lab_live_since(const struct lab_scenario *scenario, int64_t now_ns);

/* The number of tombstones of `gone` expired or deleted rows. An expired row has one tombstone per cell. If
 * rows are deleted too, it is not known how many of them expired, and each row counts as one tombstone. */
static inline uint64_t lab_tombstones_of(const struct lab_scenario *scenario, uint64_t gone)
{
    bool expires = scenario->row_ttl_ns > 0 && scenario->deletes.share <= 0;
    return expires ? gone * scenario->workload.row_cells : gone;
}

/* --- Checks whether the engines can run a scenario, as far as this is known before a run. Each check fails
 * with SIM_ERROR_INPUT. */

/* Checks that every read between start_ns and end_ns can walk back to start_ns. */
bool lab_check_walks(const struct lab_scenario *scenario, int64_t start_ns, int64_t end_ns,
                     struct sim_error *error);
/* Checks that row sizes come either from the trace or from row.bytes, not from both. */
bool lab_check_trace_bytes(const struct lab_scenario *scenario, bool has_counts, struct sim_error *error);
/* Checks that what the run has to hold in memory is within the limits, as far as it is known. */
bool lab_run_check(const struct lab_scenario *scenario, struct sim_error *error);
/* The number of rows from which the engine may be thinned. Fewer rows are drawn one by one, which takes less
 * than a second, gives all strategies the same rows, and yields peaks. */
#define LAB_THINNED_ROWS 1e8
/* Whether rows are thinned in less time than they are drawn one by one: in a segment of a key, in which its
 * rate is constant, there are enough rows to jump over, on average over all keys. rows: the expected number.
 */
bool lab_thin_is_faster(const struct lab_scenario *scenario, double rows);
/* How many intervals of constant rate a stretch of rows may have. With reads of ranges it has only one. */
size_t lab_thin_intervals(const struct lab_scenario *scenario);
/* The reason why the scenario cannot be thinned, for example "rows are deleted one by one"; NULL when it
 * can. */
const char *lab_thin_refusal(const struct lab_scenario *scenario);
/* What takes the most time of a run of the stream engine, "windows of hour", by rough measures; and which
 * setting makes it shorter, with what that does to the answer. Without a name: not known. */
struct lab_slow_part {
    char name[96];
    const char *advice;
};
void lab_slow_part(const struct lab_scenario *scenario, struct lab_slow_part *out);
/* Whether the stream engine can compute the expected counts of reads instead of drawing reads
 * (lab_reads.are_expected): rows arrive in order and do not expire, settings do not change, and no reader
 * remembers empty windows or stops early. */
bool lab_reads_can_be_expected(const struct lab_scenario *scenario);

#ifdef __cplusplus
}
#endif
#endif
