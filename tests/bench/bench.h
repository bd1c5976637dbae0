/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A benchmark: the cases of one table (cases.c). Each case is measured several times in a separate process,
 * so that its peak memory is measured separately too, and compared with its budget if it has one. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "hold.h"

enum { BENCH_RUNS = 5, BENCH_RUNS_MAX = 25 };

enum bench_set {
    BENCH_USUAL,
    BENCH_LONG,   /* minutes per case */
    BENCH_GROWTH, /* points of the curves of docs/performance.md */
    BENCH_SETS
};

/* The quantity that the budget bounds. */
enum bench_bound {
    BENCH_NO_BUDGET,
    BENCH_VALUE_AT_MOST,
    BENCH_VALUE_AT_LEAST,
    BENCH_RATIO_AT_MOST,
    BENCH_RATIO_AT_LEAST
};

struct bench_context {
    bool is_quick;       /* every case once with small sizes: a smoke test */
    uint32_t runs;       /* 0: the number in the case */
    const char *program; /* the bucketlab program */
    const char *source;  /* the project's source folder */
    const char *folder;  /* for temporary files; empty at the start */
};

/* One run: the value, in the case's unit; the value of the comparison; and their ratio, which the case's
 * `beside` describes. NaN when there is none. */
struct bench_sample {
    double value, beside, ratio;
};

struct bench_result {
    uint32_t run_count;
    struct bench_sample runs[BENCH_RUNS_MAX];
    uint64_t peak_kib;
    char failure[256]; /* "": none */
};

struct bench_case {
    const char *name; /* used by scripts, never changed */
    const char *group, *title, *unit;
    const char *beside; /* description of the ratio; NULL when there is none */
    bool (*measure)(const struct bench_case *bench, const struct bench_context *context,
                    struct bench_result *result);
    enum bench_set set;
    enum bench_bound bound;
    double budget;
    uint32_t runs; /* 0: BENCH_RUNS */
    /* The workload, as far as it applies to the case. In cases of a queue, `keys` events are pending, and
     * `rows` counts holds or customers. */
    const char *scenario;     /* lines of YAML in addition to the common ones, or a shipped file */
    const char *scenario_set; /* a change to the shipped file, as PATH=VALUE; NULL: none */
    bool is_refused;          /* `tune` says that no setting stays within the limits */
    bool is_exact;            /* the shipped file's engine is thinned, and here exact */
    double rows, keys;
    uint32_t days, threads, agents, strategies;
    uint32_t nodes; /* with three replicas; with one if there are fewer than three nodes */
    bool has_bursts;
    enum hold_gaps gaps;
    bool has_timeouts;
    /* The name of a curve and the x of a point on it; NULL for other cases. */
    const char *curve;
    double at;
};

extern const struct bench_case bench_cases[];
extern const size_t bench_case_count;

/* How many times the case is measured. */
uint32_t bench_run_count(const struct bench_case *bench, const struct bench_context *context);
/* The size, or its smaller value in a quick run. */
double bench_size(const struct bench_context *context, double size, double quick);
/* The processor time of this process, which other processes on the same processor do not lengthen; and wall
 * time, for cases with several threads or programs. */
double bench_processor_s(void);
double bench_wall_s(void);
/* Writes the case's scenario, with this number of rows and keys. */
void bench_write_scenario(const struct bench_case *bench, double rows, double keys, FILE *out);
/* Uses an outcome, so that the compiler cannot remove the work that produces it. */
void bench_keep(uint64_t outcome);
/* Stores this process's peak memory so far in the result. */
void bench_note_peak(struct bench_result *result);
/* Stores the failure in the result and returns false. */
bool bench_fail(struct bench_result *result, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Measures the case in a child process. */
void bench_run(const struct bench_case *bench, const struct bench_context *context,
               struct bench_result *result);

/* The measurements. */
bool bench_exact(const struct bench_case *bench, const struct bench_context *context,
                 struct bench_result *result);
bool bench_stream(const struct bench_case *bench, const struct bench_context *context,
                  struct bench_result *result);
bool bench_cluster(const struct bench_case *bench, const struct bench_context *context,
                   struct bench_result *result);
bool bench_cluster_time(const struct bench_case *bench, const struct bench_context *context,
                        struct bench_result *result);
bool bench_threads(const struct bench_case *bench, const struct bench_context *context,
                   struct bench_result *result);
bool bench_flat(const struct bench_case *bench, const struct bench_context *context,
                struct bench_result *result);
bool bench_hold(const struct bench_case *bench, const struct bench_context *context,
                struct bench_result *result);
bool bench_customers(const struct bench_case *bench, const struct bench_context *context,
                     struct bench_result *result);
bool bench_start(const struct bench_case *bench, const struct bench_context *context,
                 struct bench_result *result);
bool bench_sweep(const struct bench_case *bench, const struct bench_context *context,
                 struct bench_result *result);
bool bench_ranks(const struct bench_case *bench, const struct bench_context *context,
                 struct bench_result *result);
bool bench_charts(const struct bench_case *bench, const struct bench_context *context,
                  struct bench_result *result);
bool bench_cimba_hold(const struct bench_case *bench, const struct bench_context *context,
                      struct bench_result *result);
bool bench_cimba_customers(const struct bench_case *bench, const struct bench_context *context,
                           struct bench_result *result);
/* ns per customer of an M/M/1 queue on sim_queue. */
double bench_customer_ns(uint64_t count);
bool bench_tune(const struct bench_case *bench, const struct bench_context *context,
                struct bench_result *result);
bool bench_tune_first(const struct bench_case *bench, const struct bench_context *context,
                      struct bench_result *result);
bool bench_trace(const struct bench_case *bench, const struct bench_context *context,
                 struct bench_result *result);
bool bench_fuzz(const struct bench_case *bench, const struct bench_context *context,
                struct bench_result *result);
bool bench_fuzz_two(const struct bench_case *bench, const struct bench_context *context,
                    struct bench_result *result);
bool bench_store(const struct bench_case *bench, const struct bench_context *context,
                 struct bench_result *result);

/* Minimum, median and maximum of the runs' values or ratios; NaN when there are none. */
struct bench_spread {
    double least, median, most;
};
struct bench_spread bench_values(const struct bench_result *result);
struct bench_spread bench_besides(const struct bench_result *result);
struct bench_spread bench_ratios(const struct bench_result *result);
/* False when a case failed or missed its budget. */
bool bench_is_kept(const struct bench_case *bench, const struct bench_result *result);

/* Prints a line of the table when a case is done; writes the JSON file of all cases. */
void bench_print(const struct bench_case *bench, const struct bench_result *result, bool is_first_of_group);
bool bench_write_json(const char *path, const struct bench_context *context,
                      const struct bench_result *results, const bool *is_done);

#endif
