/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A benchmark: cases of one table (cases.c), each measured several times in a process of its own, so that its
 * peak of memory is its own too, and each compared with its budget where it has one. */
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
    BENCH_LONG,   /* minutes each */
    BENCH_GROWTH, /* points of the curves of docs/performance.md */
    BENCH_SETS
};

/* What the budget is a bound of. */
enum bench_bound {
    BENCH_NO_BUDGET,
    BENCH_VALUE_AT_MOST,
    BENCH_VALUE_AT_LEAST,
    BENCH_RATIO_AT_MOST,
    BENCH_RATIO_AT_LEAST
};

struct bench_context {
    bool is_quick;       /* everything small, once: to see that it works */
    uint32_t runs;       /* 0: as many as the case has */
    const char *program; /* bucketlab */
    const char *source;  /* the project's folder */
    const char *folder;  /* for files, empty at first */
};

/* Of one run: the value, in the case's unit; what it is compared with; and their ratio, as the case's
 * `beside` says. NaN where there is none. */
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
    const char *name; /* for scripts; stays as it is */
    const char *group, *title, *unit;
    const char *beside; /* what the ratio is; NULL for none */
    bool (*measure)(const struct bench_case *bench, const struct bench_context *context,
                    struct bench_result *result);
    enum bench_set set;
    enum bench_bound bound;
    double budget;
    uint32_t runs; /* 0: BENCH_RUNS */
    /* What is measured, as far as it concerns the case. Of a queue, `keys` events are pending, and `rows` are
     * holds or customers. */
    const char *scenario;     /* lines of YAML beside those that every case has, or a shipped file */
    const char *scenario_set; /* a field that the shipped file does not have so: PATH=VALUE; NULL: none */
    double rows, keys;
    uint32_t days, threads, agents, strategies;
    uint32_t nodes; /* three replicas, of fewer nodes one */
    bool has_bursts;
    enum hold_queue queue;
    enum hold_gaps gaps;
    bool has_timeouts;
    /* A point of a curve; else NULL. */
    const char *curve;
    double at;
};

extern const struct bench_case bench_cases[];
extern const size_t bench_case_count;

/* How often the case is measured. */
uint32_t bench_run_count(const struct bench_case *bench, const struct bench_context *context);
/* A size, or the smaller one of a quick run. */
double bench_size(const struct bench_context *context, double size, double quick);
/* Processor time of this process, which others that want the same processor do not lengthen; the clock on the
 * wall for what takes several threads or programs. */
double bench_processor_s(void);
double bench_wall_s(void);
/* So that the work whose outcome it is cannot be left out. */
void bench_keep(uint64_t outcome);
/* The memory that this process has had at once so far, as the result's. */
void bench_note_peak(struct bench_result *result);
/* False, with the failure in the result. */
bool bench_fail(struct bench_result *result, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Measures the case in a child. */
void bench_run(const struct bench_case *bench, const struct bench_context *context,
               struct bench_result *result);

/* Ways to measure. */
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
/* ns a customer of M/M/1 on our queue. */
double bench_customer_ns(uint64_t count);
bool bench_tune(const struct bench_case *bench, const struct bench_context *context,
                struct bench_result *result);
bool bench_trace(const struct bench_case *bench, const struct bench_context *context,
                 struct bench_result *result);
bool bench_fuzz(const struct bench_case *bench, const struct bench_context *context,
                struct bench_result *result);
bool bench_store(const struct bench_case *bench, const struct bench_context *context,
                 struct bench_result *result);

/* Least, middle and largest of the runs' values, or ratios; NaN where there is none. */
struct bench_spread {
    double least, median, most;
};
struct bench_spread bench_values(const struct bench_result *result);
struct bench_spread bench_besides(const struct bench_result *result);
struct bench_spread bench_ratios(const struct bench_result *result);
/* False where a case failed or misses its budget. */
bool bench_is_kept(const struct bench_case *bench, const struct bench_result *result);

/* The table, a line per case as it is done, and the file of all. */
void bench_print(const struct bench_case *bench, const struct bench_result *result, bool is_first_of_group);
bool bench_write_json(const char *path, const struct bench_context *context,
                      const struct bench_result *results, const bool *is_done);

#endif
