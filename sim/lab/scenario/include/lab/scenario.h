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

#include "kernel/error.h"
#include "lab/cluster.h"
#include "lab/design.h"
#include "lab/expect.h"
#include "lab/prices.h"
#include "lab/row_cost.h"
#include "lab/settings.h"
#include "lab/tune.h"
#include "workload/observed.h"
#include "workload/trace_format.h"
#include "workload/workload.h"

#define LAB_STRATEGIES_MAX 64
#define LAB_LABEL_SIZE_MAX 64 /* bytes of UTF-8 */
/* The start of a scenario that does not specify one: 2026-01-01. */
#define LAB_START_DEFAULT (INT64_C(20454) * 86400 * 1000000000)

/* A scenario with agents or faults has LAB_ENGINE_CLUSTER, whether it specifies that or auto. A scenario with
 * auto and many rows that need not be drawn has LAB_ENGINE_THINNED. A loaded scenario never has
 * LAB_ENGINE_AUTO. */
enum lab_engine { LAB_ENGINE_AUTO, LAB_ENGINE_EXACT, LAB_ENGINE_THINNED, LAB_ENGINE_CLUSTER };

/* Whether the stream engine keeps what the table stores (lab/stored.h). The partitions of a table that can be
 * thinned are those of the strategy. */
#define LAB_KEEPS_STORED(scenario) ((scenario)->design.is_given && (scenario)->engine != LAB_ENGINE_THINNED)

enum lab_read_kind { LAB_READ_LATEST, LAB_READ_RANGE, LAB_READ_ALL, LAB_READ_KINDS };

struct lab_read {
    double rate_per_s;       /* 0: there are no such reads */
    uint64_t rows;           /* LAB_READ_LATEST: number of rows */
    int64_t span_ns, age_ns; /* LAB_READ_RANGE: the range is [now - age - span, now - age) */
    enum bk_plan plan;       /* for BK_HASH, walk and pair mean its default plan */
    uint32_t at_once;        /* BK_PLAN_PARALLEL: buckets per step; 0: the core's default */
};

struct lab_reads {
    bool present;
    struct lab_read kinds[LAB_READ_KINDS];
    uint64_t limit;    /* the most partitions that a read may query; 0: the core's limit */
    bool are_expected; /* set by `tune`: only the distribution of partitions per read is counted, and it is
                          computed from expected counts of reads; see lab_reads_can_be_expected() */
};

struct lab_strategy {
    char *label; /* unique; the name of the kind when none is given */
    struct lab_settings settings;
    int line, column;
};

/* Whether partitions of this kind end. Those of the other kinds take rows for as long as their keys do. */
static inline bool lab_kind_ends(enum bk_kind kind)
{
    return kind != BK_UNBUCKETED && kind != BK_HASH;
}

/* Sizes that a running Cassandra reported, with which strategies are compared. It places no rows. */
struct lab_observed {
    char *label; /* different from the labels of all strategies */
    char *path;  /* relative to the scenario's folder as given, resolved here */
    enum wl_observed_format format;
    char *table; /* "keyspace.table"; NULL: the only one in the file */
    int line, column;
};

/* Clients of idgen, which are the agents, in a closed loop: each takes its next identifier after it has used
 * the last one. */
struct lab_identifiers {
    bool present;
    int64_t think_ns; /* time from an identifier to the next request; default 0 */
    uint64_t each;    /* number of identifiers after which a client stops; 0, the default: it never stops */
};

struct lab_limits {
    uint64_t partition_rows;  /* 0: no limit */
    uint64_t partition_bytes; /* 0: no limit */
    uint64_t tiny_rows;       /* partitions with fewer rows are tiny; 0: none is */
    double over_limit_share;  /* the share of the partitions that may exceed a limit; default 0: none */
    double confidence;        /* tune.confidence: the confidence of judgements */
    double tolerance;         /* tune.tolerance: loads that differ by at most this share count as equal */
};

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
    bool has_start;              /* trace: rows before workload.start_ns are ignored */
    bool has_row_bytes; /* `row.bytes` was given, at the line and column below; otherwise workload.row_bytes
                           is the default */
    int row_bytes_line, row_bytes_column;
    bool has_row_cells, has_row_columns; /* `row.cells`, `row.columns` were given */
    int row_format;                      /* enum lab_row_format */
    double row_compression;              /* bytes on disk per byte of the table; 0: not given */
    struct lab_row_cost row_cost;        /* the sizes of rows and partitions */
    int64_t row_ttl_ns;                  /* 0: rows do not expire */
    struct lab_deletes deletes;
    struct lab_identifiers identifiers; /* if present, all strategies are idgen, and there are no rows */
    struct lab_reads reads;
    bool is_raced; /* set by `tune`: what its race does not compare is not measured by the stream engine:
                      digests, nodes, the timeline, the largest partitions, the busiest second, most quantiles
                    */
    struct lab_design design; /* from `table`; otherwise lab_design_default() */
    struct lab_limits limits;
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
    struct lab_observed *observed;
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

#endif
