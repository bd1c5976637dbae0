/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of all cases. The name of a case never changes, because docs/performance.md and users of
 * bench.json find a figure by its name. */
#include "bench.h"

#define PROBABILISTIC "strategies:\n  - probabilistic: {bits: 9, threshold: 40}\n"
#define EXACT         "engine: exact\nrow: {bytes: 350}\n"
#define LOGNORMAL     "engine: exact\nrow: {bytes: {lognormal: {mean: 350, sigma: 1.0}}}\n"
#define PARETO        "engine: exact\nrow: {bytes: {pareto: {min: 100, alpha: 1.5}}}\n"
#define THINNED       "engine: thinned\nrow: {bytes: 350}\n"
#define ALL_FIVE                                                                                             \
    "strategies:\n  - unbucketed: {}\n  - time: {window: 1d}\n  - count: {rows: 20480, counter: "            \
    "external}\n  - hash: "                                                                                  \
    "{buckets: "                                                                                             \
    "256}\n"                                                                                                 \
    "  - probabilistic: {bits: 9, threshold: 40}\n"
#define THREE_STATE                                                                                          \
    "strategies:\n  - probabilistic: {bits: 9, threshold: 8, coordination: three-state, lead: 10s}\n"

/* ns per row, compared with the bare loop. */
#define EXACT_CASE(id, what, row_count, key_count, text, ...)                                                \
    {                                                                                                        \
        .name = "exact-" id, .group = "stream engine, exact", .title = what, .unit = "ns/row",               \
        .beside = "times a bare loop", .measure = bench_exact, .rows = row_count, .keys = key_count,         \
        .days = 10, .scenario = text, __VA_ARGS__                                                            \
    }
#define NO_BUDGET      .bound = BENCH_NO_BUDGET
#define EIGHT_RUNS     .bound = BENCH_RATIO_AT_MOST, .budget = 8
#define TWICE_THE_LOOP .bound = BENCH_RATIO_AT_MOST, .budget = 2
#define DRAWN_SIZES    .bound = BENCH_RATIO_AT_MOST, .budget = 2.5

#define THINNED_CASE(id, what, ...)                                                                          \
    {                                                                                                        \
        .name = "thinned-" id, .group = "stream engine, thinned", .title = what, .unit = "s",                \
        .measure = bench_stream, .days = 30, .scenario = THINNED PROBABILISTIC,                              \
        .bound = BENCH_VALUE_AT_MOST, __VA_ARGS__                                                            \
    }

#define CLUSTER_CASE(id, what, key_count, ...)                                                               \
    {                                                                                                        \
        .name = "cluster-" id, .group = "cluster engine", .title = what, .unit = "M/s",                      \
        .measure = bench_cluster, .rows = 1e6, .keys = key_count, .agents = 16, .nodes = 6,                  \
        .scenario = THREE_STATE, __VA_ARGS__                                                                 \
    }

#define HOLD_CASE(id, what, number, ...)                                                                     \
    {                                                                                                        \
        .name = "queue-" id, .group = "event queue: ns per hold", .title = what, .unit = "ns",               \
        .measure = bench_hold, .rows = 5e5, .keys = number, __VA_ARGS__                                      \
    }

#define CIMBA_CASE(id, what, ...)                                                                            \
    {                                                                                                        \
        .name = "cimba-" id, .group = "event queue compared with Cimba", .title = what,                      \
        .bound = BENCH_RATIO_AT_LEAST, __VA_ARGS__                                                           \
    }

#define THREADS_CASE(id, what, least, ...)                                                                   \
    {                                                                                                        \
        .name = "threads-" id, .group = "two threads against one", .title = what, .unit = "s",               \
        .beside = "times as fast as one", .bound = BENCH_RATIO_AT_LEAST, .budget = least, __VA_ARGS__        \
    }

#define MEMORY_CASE(id, what, ...)                                                                           \
    {                                                                                                        \
        .name = "memory-" id, .group = "memory: 10^9 rows, 10^5 keys", .title = what, .unit = "MiB",         \
        .beside = "times that of 10^6 rows", .measure = bench_flat, .bound = BENCH_VALUE_AT_MOST,            \
        .budget = 8, .rows = 1e9, .keys = 1e5, .days = 90, .runs = 1, __VA_ARGS__                            \
    }

#define PROGRAM_CASE(id, what, measurement, file, ...)                                                       \
    {                                                                                                        \
        .name = "program-" id, .group = "the program", .title = what, .measure = measurement,                \
        .scenario = file, __VA_ARGS__                                                                        \
    }

#define TUNE_CASE(id, what, file, times, ...)                                                                \
    {                                                                                                        \
        .name = "tune-" id, .group = "tune, compared with one run", .title = what, .unit = "s",              \
        .beside = "times a run", .measure = bench_tune, .scenario = file, .runs = times, __VA_ARGS__         \
    }

#define FIRST_CASE(id, what, ...)                                                                            \
    {                                                                                                        \
        .name = "tune-first-" id, .group = "tune, first answer", .title = what, .unit = "s",                 \
        .measure = bench_tune_first, .scenario = "sensors.yaml", .bound = BENCH_VALUE_AT_MOST, .budget = 2,  \
        __VA_ARGS__                                                                                          \
    }

/* A point of a curve, in seconds. */
#define POINT(along, x, measurement, ...)                                                                    \
    {                                                                                                        \
        .name = "growth-" along "-" #x, .group = "growth: " along, .title = #x, .unit = "s",                 \
        .measure = measurement, .set = BENCH_GROWTH, .curve = along, .at = x, .runs = 3, __VA_ARGS__         \
    }
#define EXACT_POINT(along, x, ...)                                                                           \
    POINT("exact-" along, x, bench_stream, .scenario = EXACT PROBABILISTIC, .days = 30, __VA_ARGS__)
#define THINNED_POINT(along, x, ...)                                                                         \
    POINT("thinned-" along, x, bench_stream, .scenario = THINNED PROBABILISTIC, .days = 30, __VA_ARGS__)
#define CLUSTER_POINT(along, x, ...)                                                                         \
    POINT("cluster-" along, x, bench_cluster_time, .scenario = THREE_STATE, __VA_ARGS__)
#define SIXTEEN_AGENTS .agents = 16, .nodes = 6

const struct bench_case bench_cases[] = {
    EXACT_CASE("1e3", "probabilistic, 10^3 keys", 2e7, 1e3, EXACT PROBABILISTIC, TWICE_THE_LOOP),
    EXACT_CASE("1e5", "probabilistic, 10^5 keys", 2e7, 1e5, EXACT PROBABILISTIC, TWICE_THE_LOOP),
    EXACT_CASE("1e6", "probabilistic, 10^6 keys", 1e8, 1e6, EXACT PROBABILISTIC, TWICE_THE_LOOP),
    EXACT_CASE("1e6-quiet", "10^6 keys of 20 rows each", 2e7, 1e6, EXACT PROBABILISTIC, NO_BUDGET),
    EXACT_CASE("bursts", "bursts, 10^3 keys", 2e7, 1e3, EXACT PROBABILISTIC, .has_bursts = true),
    EXACT_CASE("lognormal", "lognormal bytes, 10^3", 2e7, 1e3, LOGNORMAL PROBABILISTIC, DRAWN_SIZES),
    EXACT_CASE("pareto", "Pareto bytes, 10^3", 2e7, 1e3, PARETO PROBABILISTIC, DRAWN_SIZES),
    EXACT_CASE("unbucketed", "unbucketed, 10^3 keys", 2e7, 1e3, EXACT "strategies:\n  - unbucketed: {}\n",
               NO_BUDGET),
    EXACT_CASE("time", "time, 10^3 keys", 2e7, 1e3, EXACT "strategies:\n  - time: {window: 1d}\n", NO_BUDGET),
    EXACT_CASE("count", "count, 10^3 keys", 2e7, 1e3,
               EXACT "strategies:\n  - count: {rows: 20480, counter: external}\n", NO_BUDGET),
    EXACT_CASE("hash", "hash, 10^3 keys", 5e6, 1e3, EXACT "strategies:\n  - hash: {buckets: 256}\n",
               .bound = BENCH_RATIO_AT_MOST, .budget = 4),
    EXACT_CASE("reads", "100 reads/row, 10^3 keys", 2e5, 1e3,
               EXACT PROBABILISTIC "reads: {latest: {rows: 50, rate: 23.148/s}}\n", NO_BUDGET),
    EXACT_CASE("all", "all five, lognormal, 10^3", 5e6, 1e3, LOGNORMAL ALL_FIVE, NO_BUDGET),

    THINNED_CASE("1e9", "10^9 rows, 10^5 keys", .rows = 1e9, .keys = 1e5, .budget = 0.5),
    THINNED_CASE("1e12", "10^12 rows, 10^7 keys", .rows = 1e12, .keys = 1e7, .budget = 120, .threads = 2,
                 .set = BENCH_LONG),
    THINNED_CASE("1e12-bursts", "the same with bursts", .rows = 1e12, .keys = 1e7, .budget = 600,
                 .threads = 2, .has_bursts = true, .set = BENCH_LONG),

    CLUSTER_CASE("1e2", "10^6 rows of 10^2 keys", 1e2, NO_BUDGET),
    CLUSTER_CASE("1e5", "10^6 rows of 10^5 keys", 1e5, .bound = BENCH_VALUE_AT_LEAST, .budget = 5),
    {.name = "cluster-one-node",
     .group = "cluster engine",
     .title = "10^6 rows of 10^2, one node",
     .unit = "s",
     .measure = bench_cluster_time,
     .rows = 1e6,
     .keys = 1e2,
     .agents = 16,
     .nodes = 1,
     .bound = BENCH_VALUE_AT_MOST,
     .budget = 0.4,
     .scenario = THREE_STATE},

    HOLD_CASE("exp-2", "exponential 2", 2, .gaps = HOLD_EXPONENTIAL),
    HOLD_CASE("exp-1e2", "exponential 100", 1e2, .gaps = HOLD_EXPONENTIAL),
    HOLD_CASE("exp-1e3", "exponential 10^3", 1e3, .gaps = HOLD_EXPONENTIAL),
    HOLD_CASE("exp-1e5", "exponential 10^5", 1e5, .gaps = HOLD_EXPONENTIAL),
    HOLD_CASE("exp-1e6", "exponential 10^6", 1e6, .gaps = HOLD_EXPONENTIAL),
    HOLD_CASE("tied-1e5", "ties 10^5", 1e5, .gaps = HOLD_TIED),
    HOLD_CASE("timeout-1e3", "timeouts 10^3", 1e3, .has_timeouts = true),
    HOLD_CASE("timeout-1e5", "timeouts 10^5", 1e5, .has_timeouts = true),
    HOLD_CASE("bimodal-1e5", "bimodal 10^5", 1e5, .gaps = HOLD_BIMODAL),
    HOLD_CASE("pareto-1e5", "Pareto 10^5", 1e5, .gaps = HOLD_PARETO),
    {.name = "queue-customers",
     .group = "event queue: M/M/1",
     .title = "customers",
     .unit = "M/s",
     .measure = bench_customers,
     .bound = BENCH_VALUE_AT_LEAST,
     .budget = 25,
     .rows = 1e7},
#ifdef BENCH_CIMBA
    CIMBA_CASE("1e3", "10^3 pending", .unit = "ns", .beside = "times as long by Cimba",
               .measure = bench_cimba_hold, .keys = 1e3, .rows = 1e6, .budget = 2.5),
    CIMBA_CASE("1e5", "10^5 pending", .unit = "ns", .beside = "times as long by Cimba",
               .measure = bench_cimba_hold, .keys = 1e5, .rows = 1e6, .budget = 3),
    CIMBA_CASE("1e6", "10^6 pending", .unit = "ns", .beside = "times as long by Cimba",
               .measure = bench_cimba_hold, .keys = 1e6, .rows = 1e6, .budget = 3),
    CIMBA_CASE("customers", "M/M/1, plain events", .unit = "M/s", .beside = "times Cimba's rate",
               .measure = bench_cimba_customers, .rows = 1e7, .budget = 1),
#endif

    THREADS_CASE("exact", "exact, 10^5 keys", 1.9, .measure = bench_threads, .rows = 1e8, .keys = 1e5,
                 .days = 10, .scenario = EXACT PROBABILISTIC),
    THREADS_CASE("thinned", "thinned, 10^6 keys", 1.9, .measure = bench_threads, .rows = 4e10, .keys = 1e6,
                 .days = 30, .scenario = THINNED PROBABILISTIC),
    THREADS_CASE("cluster", "cluster, 4 strategies", 1.9, .measure = bench_threads, .rows = 4e5, .keys = 1e3,
                 .strategies = 4, SIXTEEN_AGENTS, .scenario = THREE_STATE),
    THREADS_CASE("sweep", "sweep of 16 runs", 1.9, .rows = 6e7, .keys = 1e3, .measure = bench_sweep),
#ifdef BENCH_MPI
    THREADS_CASE("ranks", "sweep of 16 runs, 2 ranks", 1.85, .rows = 6e7, .keys = 1e3,
                 .measure = bench_ranks),
#endif

    MEMORY_CASE("exact", "exact", .scenario = EXACT PROBABILISTIC),
    MEMORY_CASE("thinned", "thinned", .scenario = THINNED PROBABILISTIC),

    PROGRAM_CASE("start", "small-trace.yaml, all of it", bench_start, "small-trace.yaml", .unit = "ms",
                 .bound = BENCH_VALUE_AT_MOST, .budget = 50, .runs = 21),
    PROGRAM_CASE("trace", "trace: 10^7 rows, 10^6 keys", bench_trace, NULL, .unit = "s", .rows = 1e7,
                 .keys = 1e6, .bound = BENCH_VALUE_AT_MOST, .budget = 10, .runs = 3),
    PROGRAM_CASE("trace-memory", "its memory", bench_trace, NULL, .unit = "MiB", .rows = 1e7, .keys = 1e6,
                 .bound = BENCH_VALUE_AT_MOST, .budget = 286, .runs = 1),
    PROGRAM_CASE("fuzz", "fuzz, per seed", bench_fuzz, NULL, .unit = "ms", .rows = 1000,
                 .bound = BENCH_VALUE_AT_MOST, .budget = 3),
    PROGRAM_CASE("fuzz-two", "fuzz on two threads", bench_fuzz_two, NULL, .unit = "1/s",
                 .beside = "of it in wall time", .rows = 4000, .bound = BENCH_VALUE_AT_LEAST, .budget = 2000),
    PROGRAM_CASE("sqlite", "SQLite, chat-channels", bench_store, "chat-channels.yaml", .unit = "%",
                 .bound = BENCH_VALUE_AT_MOST, .budget = 2),
    PROGRAM_CASE("charts-png", "its charts as PNG", bench_charts, "chat-channels.yaml", .unit = "s"),
    PROGRAM_CASE("charts-svg", "its charts as SVG", bench_charts, "chat-channels.yaml", .unit = "s"),
    PROGRAM_CASE("charts-html", "its page", bench_charts, "chat-channels.yaml", .unit = "s"),

    TUNE_CASE("small-trace", "small-trace.yaml", "small-trace.yaml", 3, EIGHT_RUNS),
    TUNE_CASE("tweets", "tweets.yaml, a trace", "tweets.yaml", 3, EIGHT_RUNS),
    TUNE_CASE("tweets-reads", "the same, 118 reads per row", "tweets.yaml", 3, EIGHT_RUNS,
              .scenario_set = "reads.latest.rate=10/s"),
    TUNE_CASE("tune-sensors", "tune-sensors.yaml, exact", "tune-sensors.yaml", 3, EIGHT_RUNS),
    TUNE_CASE("server-logs", "server-logs-1-hour, a table", "server-logs-1-hour.yaml", 3, EIGHT_RUNS),
    TUNE_CASE("sweep", "sweep.yaml", "sweep.yaml", 3, EIGHT_RUNS),
    TUNE_CASE("observed", "observed.yaml", "observed.yaml", 3, EIGHT_RUNS),
    TUNE_CASE("sensors", "sensors.yaml, thinned", "sensors.yaml", 3, EIGHT_RUNS),
    TUNE_CASE("sensors-1e9", "the same, 1.3 x 10^9 rows", "sensors.yaml", 3, EIGHT_RUNS,
              .scenario_set = "arrivals.rate=500/s"),
    TUNE_CASE("sensors-1e9-exact", "the same, engine: exact", "sensors.yaml", 1, EIGHT_RUNS,
              .scenario_set = "arrivals.rate=500/s", .is_exact = true),
    TUNE_CASE("server-logs-4", "server-logs-4, a table", "server-logs-4-hour-server-level.yaml", 3,
              EIGHT_RUNS),
    TUNE_CASE("server-logs-5", "server-logs-5, every line", "server-logs-5-every-line.yaml", 3, EIGHT_RUNS),
    TUNE_CASE("weighted", "weighted.yaml: no answer", "weighted.yaml", 3, EIGHT_RUNS, .is_refused = true),
    TUNE_CASE("weighted-140MB", "the same, limit of 140MB", "weighted.yaml", 1, NO_BUDGET,
              .scenario_set = "limits.partition_bytes=140MB"),
    TUNE_CASE("daily-partitions", "daily-partitions, cluster", "daily-partitions.yaml", 1, EIGHT_RUNS),
    TUNE_CASE("three-state", "three-state, cluster", "three-state.yaml", 1, EIGHT_RUNS),
    TUNE_CASE("deletes", "deletes, cluster", "deletes.yaml", 1, EIGHT_RUNS),
    TUNE_CASE("faults", "faults, cluster", "faults.yaml", 1, EIGHT_RUNS),
    TUNE_CASE("costs", "costs, cluster", "costs.yaml", 1, EIGHT_RUNS),
    TUNE_CASE("migration", "migration, cluster", "migration.yaml", 1, EIGHT_RUNS),
    TUNE_CASE("dual-write", "dual writes, cluster", "migration-dual-write.yaml", 1, EIGHT_RUNS),
    TUNE_CASE("late-rows", "late-rows.yaml, cluster", "late-rows.yaml", 1, EIGHT_RUNS),
    TUNE_CASE("chat-channels", "chat-channels.yaml", "chat-channels.yaml", 3, EIGHT_RUNS, .set = BENCH_LONG),

    FIRST_CASE("sensors", "sensors.yaml, thinned", .runs = 3),
    FIRST_CASE("sensors-1e9", "the same, 1.3 x 10^9 rows", .scenario_set = "arrivals.rate=500/s", .runs = 3),
    FIRST_CASE("sensors-1e9-exact", "the same, engine: exact", .scenario_set = "arrivals.rate=500/s",
               .is_exact = true, .runs = 3),

    EXACT_POINT("rows", 1e5, .rows = 1e5, .keys = 1e3),
    EXACT_POINT("rows", 1e6, .rows = 1e6, .keys = 1e3),
    EXACT_POINT("rows", 1e7, .rows = 1e7, .keys = 1e3),
    EXACT_POINT("rows", 1e8, .rows = 1e8, .keys = 1e3),
    THINNED_POINT("rows", 1e6, .rows = 1e6, .keys = 1e3),
    THINNED_POINT("rows", 1e7, .rows = 1e7, .keys = 1e3),
    THINNED_POINT("rows", 1e8, .rows = 1e8, .keys = 1e3),
    THINNED_POINT("rows", 1e9, .rows = 1e9, .keys = 1e3),
    THINNED_POINT("rows", 1e10, .rows = 1e10, .keys = 1e3),
    CLUSTER_POINT("rows", 1e3, .rows = 1e3, .keys = 1e3, SIXTEEN_AGENTS),
    CLUSTER_POINT("rows", 1e4, .rows = 1e4, .keys = 1e3, SIXTEEN_AGENTS),
    CLUSTER_POINT("rows", 1e5, .rows = 1e5, .keys = 1e3, SIXTEEN_AGENTS),
    CLUSTER_POINT("rows", 1e6, .rows = 1e6, .keys = 1e3, SIXTEEN_AGENTS),

    EXACT_POINT("keys", 1e2, .rows = 1e7, .keys = 1e2),
    EXACT_POINT("keys", 1e3, .rows = 1e7, .keys = 1e3),
    EXACT_POINT("keys", 1e4, .rows = 1e7, .keys = 1e4),
    EXACT_POINT("keys", 1e5, .rows = 1e7, .keys = 1e5),
    EXACT_POINT("keys", 1e6, .rows = 1e7, .keys = 1e6),
    THINNED_POINT("keys", 1e2, .rows = 1e9, .keys = 1e2),
    THINNED_POINT("keys", 1e3, .rows = 1e9, .keys = 1e3),
    THINNED_POINT("keys", 1e4, .rows = 1e9, .keys = 1e4),
    THINNED_POINT("keys", 1e5, .rows = 1e9, .keys = 1e5),
    THINNED_POINT("keys", 1e6, .rows = 1e9, .keys = 1e6),
    CLUSTER_POINT("keys", 1e1, .rows = 2e5, .keys = 1e1, SIXTEEN_AGENTS),
    CLUSTER_POINT("keys", 1e2, .rows = 2e5, .keys = 1e2, SIXTEEN_AGENTS),
    CLUSTER_POINT("keys", 1e3, .rows = 2e5, .keys = 1e3, SIXTEEN_AGENTS),
    CLUSTER_POINT("keys", 1e4, .rows = 2e5, .keys = 1e4, SIXTEEN_AGENTS),
    CLUSTER_POINT("keys", 1e5, .rows = 2e5, .keys = 1e5, SIXTEEN_AGENTS),

    CLUSTER_POINT("agents", 1, .rows = 1e5, .keys = 1e3, .agents = 1, .nodes = 6),
    CLUSTER_POINT("agents", 4, .rows = 1e5, .keys = 1e3, .agents = 4, .nodes = 6),
    CLUSTER_POINT("agents", 16, .rows = 1e5, .keys = 1e3, .agents = 16, .nodes = 6),
    CLUSTER_POINT("agents", 64, .rows = 1e5, .keys = 1e3, .agents = 64, .nodes = 6),
    CLUSTER_POINT("agents", 256, .rows = 1e5, .keys = 1e3, .agents = 256, .nodes = 6),
    CLUSTER_POINT("nodes", 3, .rows = 1e5, .keys = 1e3, .agents = 16, .nodes = 3),
    CLUSTER_POINT("nodes", 6, .rows = 1e5, .keys = 1e3, .agents = 16, .nodes = 6),
    CLUSTER_POINT("nodes", 24, .rows = 1e5, .keys = 1e3, .agents = 16, .nodes = 24),
    CLUSTER_POINT("nodes", 96, .rows = 1e5, .keys = 1e3, .agents = 16, .nodes = 96),
    CLUSTER_POINT("nodes", 384, .rows = 1e5, .keys = 1e3, .agents = 16, .nodes = 384),

    EXACT_POINT("strategies", 1, .rows = 2e6, .keys = 1e3, .strategies = 1),
    EXACT_POINT("strategies", 4, .rows = 2e6, .keys = 1e3, .strategies = 4),
    EXACT_POINT("strategies", 16, .rows = 2e6, .keys = 1e3, .strategies = 16),
    EXACT_POINT("strategies", 64, .rows = 2e6, .keys = 1e3, .strategies = 64),
    THINNED_POINT("strategies", 1, .rows = 1e8, .keys = 1e3, .strategies = 1),
    THINNED_POINT("strategies", 4, .rows = 1e8, .keys = 1e3, .strategies = 4),
    THINNED_POINT("strategies", 16, .rows = 1e8, .keys = 1e3, .strategies = 16),
    THINNED_POINT("strategies", 64, .rows = 1e8, .keys = 1e3, .strategies = 64),
    CLUSTER_POINT("strategies", 1, .rows = 2e4, .keys = 1e3, .strategies = 1, SIXTEEN_AGENTS),
    CLUSTER_POINT("strategies", 4, .rows = 2e4, .keys = 1e3, .strategies = 4, SIXTEEN_AGENTS),
    CLUSTER_POINT("strategies", 16, .rows = 2e4, .keys = 1e3, .strategies = 16, SIXTEEN_AGENTS),
    CLUSTER_POINT("strategies", 64, .rows = 2e4, .keys = 1e3, .strategies = 64, SIXTEEN_AGENTS),
};

const size_t bench_case_count = sizeof bench_cases / sizeof *bench_cases;
