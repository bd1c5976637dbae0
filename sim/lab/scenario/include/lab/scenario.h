/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A scenario: the experiment as a checked struct, read from YAML (docs/scenario.md lists every field).
 *
 * The parser is strict: an unknown field, a wrong unit, a missing or impossible figure ends in one error that
 * names file, line, column and cure, and nothing is made. All strings and arrays belong to the scenario. */
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
/* Of a scenario that names no start: 2026-01-01. */
#define LAB_START_DEFAULT (INT64_C(20454) * 86400 * 1000000000)

/* A scenario with agents or faults has LAB_ENGINE_CLUSTER, whether it says so or auto; one that says auto and
 * has many rows that need not be drawn has LAB_ENGINE_THINNED. */
enum lab_engine { LAB_ENGINE_AUTO, LAB_ENGINE_EXACT, LAB_ENGINE_THINNED, LAB_ENGINE_CLUSTER };

enum lab_read_kind { LAB_READ_LATEST, LAB_READ_RANGE, LAB_READ_ALL, LAB_READ_KINDS };

struct lab_read {
    double rate_per_s;       /* 0: there are none */
    uint64_t rows;           /* of latest */
    int64_t span_ns, age_ns; /* of range: [now - age - span, now - age) */
    enum bk_plan plan;       /* of BK_HASH walk and pair stand for its default */
    uint32_t at_once;        /* of BK_PLAN_PARALLEL; 0: the core's default */
};

struct lab_reads {
    bool present;
    struct lab_read kinds[LAB_READ_KINDS];
    uint64_t limit;    /* partitions that a read may ask; 0: the core's own */
    bool are_expected; /* by `tune`: how many ask so many partitions is as expected, and nothing else is
                          counted of them; lab_reads_can_be_expected() */
};

struct lab_strategy {
    char *label; /* its kind where none is given; no label twice */
    struct lab_settings settings;
    int line, column;
};

/* Sizes that a running Cassandra told, to hold strategies against. It places no rows. */
struct lab_observed {
    char *label; /* no strategy has the same */
    char *path;  /* resolved against the scenario's folder */
    enum wl_observed_format format;
    char *table; /* "keyspace.table"; NULL: the only one in the file */
    int line, column;
};

/* Clients, which are the agents, in a closed loop: each takes its next identifier when it has used the last.
 */
struct lab_identifiers {
    bool present;
    int64_t think_ns; /* from one to the next; default 0: as fast as they come */
    uint64_t each;    /* that a client takes, then it is done; 0, the default: as many as it gets */
};

struct lab_limits {
    uint64_t partition_rows;  /* 0: no limit */
    uint64_t partition_bytes; /* 0: no limit */
    uint64_t tiny_rows;       /* 0: none is tiny */
    double over_limit_share;  /* of the partitions, so many may be over a limit; 0, the default: none */
    double confidence;        /* tune.confidence: with which chance is judged */
};

/* The ring, all datacenters together. */
struct lab_cluster {
    uint32_t nodes, replication_factor, num_tokens;
};

/* A client that deletes some of the rows, each after a while. */
struct lab_deletes {
    double share;     /* of the rows; 0: none */
    int64_t after_ns; /* on average */
};

struct lab_scenario {
    char *path; /* as it was named */
    char *text; /* the YAML as read, overrides not applied */
    size_t text_size;
    char *overrides; /* the --set arguments, one a line; "" when there were none */
    char *name;
    char *about; /* "" when absent */
    uint64_t seed;
    uint64_t tie_seed; /* for tests: not 0: events of equal time come in an order that it draws */
    enum lab_engine engine;
    char *trace_path; /* NULL for a synthetic workload; resolved against the scenario's folder */
    struct wl_trace_format trace_format;
    char *like_path; /* of cluster.node; NULL: none; resolved in the same way */
    struct wl_workload
        workload;       /* of a trace: start, duration (0: the whole trace), row_bytes, row_cells, seed */
    bool has_start;     /* of a trace: rows before workload.start_ns are left out */
    bool has_row_bytes; /* `row.bytes` was given, here; workload.row_bytes is the default else */
    int row_bytes_line, row_bytes_column;
    bool has_row_cells, has_row_columns; /* the same of `row.cells`, `row.columns` */
    int row_format;                      /* enum lab_row_format */
    double row_compression;              /* bytes on disk for each of the table's; 0: not said */
    struct lab_row_cost row_cost;        /* what rows and partitions weigh */
    int64_t row_ttl_ns;                  /* 0: rows stay */
    struct lab_deletes deletes;
    struct lab_identifiers identifiers; /* present: all strategies are idgen, and there are no rows */
    struct lab_reads reads;
    struct lab_design design; /* `table`; without it lab_design_default() */
    struct lab_limits limits;
    struct lab_prices prices; /* in inserts */
    double price_of_insert;   /* as it stands in the scenario: 1, or money */
    struct lab_tune tune;
    struct lab_cluster cluster;         /* defaults: 6 nodes, replication factor 3, 16 tokens a node */
    struct cass_cluster_config network; /* the same in full, seed and clients included; `nodes: N` is one
                                           datacenter "dc1" */
    struct lab_consistency consistency;
    struct lab_agents agents; /* present in the cluster engine, and nowhere else */
    size_t fault_count;
    struct lab_fault *faults;
    uint64_t faults_left_out; /* bit f: fault f never strikes, others are as with it; 0 of every text */
    size_t strategy_count;    /* 0: there are observed ones alone, no rows, and no engine runs */
    struct lab_strategy *strategies;
    size_t observed_count; /* strategies too for the user; in a result they stand behind the others */
    struct lab_observed *observed;
    size_t expect_count;
    struct lab_expect *expects;
    size_t tune_expect_count; /* of tune's answer; no engine looks at them */
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
/* The same from text; `path` is for messages and for relative file names. */
bool lab_scenario_parse(const char *path, const char *text, size_t size, const struct lab_override *overrides,
                        size_t override_count, const uint64_t *seed, struct lab_scenario **out,
                        struct sim_error *error);
/* The same from what was kept of a scenario (its path, text and overrides), with more overrides after those,
 * which win, and a seed. more may be NULL when more_count is 0. What earlier programs accepted is accepted:
 * `count` without `counter` is `external`. */
bool lab_scenario_again(const char *path, const char *text, const char *overrides,
                        const struct lab_override *more, size_t more_count, uint64_t seed,
                        struct lab_scenario **out, struct sim_error *error);
/* A file's bytes, malloc'ed, as lab_scenario_load() reads them. On failure *text is NULL. */
bool lab_scenario_text(const char *path, char **text, size_t *size, struct sim_error *error);
void lab_scenario_destroy(struct lab_scenario *scenario); /* NULL is fine */

#endif
