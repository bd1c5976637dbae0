/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a row costs in the stream engine, beside a bare loop that does the least that any engine must: draw a
 * time, draw bits, bump a counter of one of K keys, test it. Both are timed in turn in this process, so that
 * the ratio carries from one machine to another. Usage: bucketlab_bench [--json] [--million ROWS] */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "kernel/sampler.h"
#include "kernel/time.h"
#include "lab/run.h"

#define REPEATS 5

struct bench_case {
    const char *name;
    uint64_t keys;
    bool has_sizes; /* lognormal row sizes instead of constant ones */
    bool has_bursts;
    uint32_t strategies; /* a bit a kind */
    uint32_t jobs;
};

static const struct bench_case cases[] = {
    {"probabilistic, 10^3 keys", 1000, false, false, 1u << BK_PROBABILISTIC, 1},
    {"probabilistic, 10^5 keys", 100000, false, false, 1u << BK_PROBABILISTIC, 1},
    {"probabilistic, 10^6 keys", 1000000, false, false, 1u << BK_PROBABILISTIC, 1},
    {"probabilistic, 10^3 keys, 2 threads", 1000, false, false, 1u << BK_PROBABILISTIC, 2},
    {"probabilistic, 10^3 keys, lognormal bytes", 1000, true, false, 1u << BK_PROBABILISTIC, 1},
    {"probabilistic, 10^3 keys, bursts", 1000, false, true, 1u << BK_PROBABILISTIC, 1},
    {"none, 10^3 keys", 1000, false, false, 1u << BK_NONE, 1},
    {"time, 10^3 keys", 1000, false, false, 1u << BK_TIME, 1},
    {"count, 10^3 keys", 1000, false, false, 1u << BK_COUNT, 1},
    {"hash, 10^3 keys", 1000, false, false, 1u << BK_HASH, 1},
    {"all five, 10^3 keys, lognormal bytes", 1000, true, false, 31, 1},
};

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double *values)
{
    qsort(values, REPEATS, sizeof *values, compare);
    return values[REPEATS / 2];
}

struct bare_key {
    uint32_t rows;
    uint32_t counter;
};

/* Nanoseconds a row; *out keeps the work from being left out. */
static double bare_loop(uint64_t keys, uint64_t rows, uint64_t *out)
{
    struct bare_key *table = calloc(keys, sizeof *table);
    if (table == NULL)
        exit(3);
    struct sim_random random;
    sim_random_init(&random, 1, SIM_ARRIVAL, 0);
    struct sim_random stream = random;
    double time = 0;
    uint64_t rolls = 0, shift = 32;
    double begin = now_s();
    for (uint64_t i = 0; i < rows; i++) {
        time += sim_exponential(&stream) * 5.0;
        uint64_t bits = sim_random_next(&stream);
        struct bare_key *key = &table[(bits >> shift) * keys >> 32];
        key->rows++;
        if ((bits & 511) == 511 && ++key->counter >= 40) {
            key->counter = 0;
            rolls++;
        }
    }
    double spent = now_s() - begin;
    *out += rolls + (uint64_t)time + table[keys / 2].rows;
    free(table);
    return spent * 1e9 / (double)rows;
}

static void make_scenario(const struct bench_case *bench, uint64_t rows, struct lab_scenario *scenario,
                          struct lab_strategy *strategies)
{
    static char name[] = "bench", empty[] = "", label[] = "label";
    memset(scenario, 0, sizeof *scenario);
    scenario->path = scenario->name = name;
    scenario->about = scenario->overrides = scenario->text = empty;
    scenario->seed = 1;
    scenario->cluster = (struct lab_cluster){6, 3, 16};
    scenario->workload = (struct wl_workload){
        .seed = 1,
        .duration_ns = 10 * SIM_DAY,
        .key_count = bench->keys,
        .rate_per_s = (double)rows / (10 * 86400.0),
        .row_bytes = {bench->has_sizes ? SIM_SIZE_LOGNORMAL : SIM_SIZE_CONSTANT, 350, 1.0, 0},
        .row_cells = 1,
        .has_bursts = bench->has_bursts,
        .burst_on_ns = 10 * SIM_MINUTE,
        .burst_off_ns = 6 * SIM_HOUR,
        .burst_factor = 50,
    };
    sim_size_prepare(&scenario->workload.row_bytes);
    sim_zipf_init(&scenario->workload.popularity, 0, bench->keys);
    struct bk_strategy all[BK_KIND_COUNT];
    bk_strategy_none(&all[BK_NONE]);
    bk_strategy_time(SIM_DAY, 0, &all[BK_TIME]);
    bk_strategy_count(20480, &all[BK_COUNT]);
    bk_strategy_probabilistic(9, 40, &all[BK_PROBABILISTIC]);
    bk_strategy_hash(256, &all[BK_HASH]);
    bk_strategy_weighted(512000, 40, &all[BK_WEIGHTED]);
    scenario->strategies = strategies;
    for (int kind = 0; kind < BK_KIND_COUNT; kind++) {
        if (bench->strategies >> kind & 1)
            strategies[scenario->strategy_count++] =
                (struct lab_strategy){.label = label, .strategy = all[kind]};
    }
}

static double engine(const struct bench_case *bench, uint64_t rows, uint64_t *out)
{
    struct lab_scenario scenario;
    struct lab_strategy strategies[BK_KIND_COUNT];
    make_scenario(bench, rows, &scenario, strategies);
    struct lab_result *result;
    struct sim_error error;
    double begin = now_s();
    if (!lab_run(&scenario, bench->jobs, NULL, &result, &error)) {
        fprintf(stderr, "bench: %s\n", error.text);
        exit(3);
    }
    double spent = now_s() - begin;
    double per_row = spent * 1e9 / (double)result->rows;
    *out += result->digest;
    lab_result_destroy(result);
    return per_row;
}

/* A cluster of 6 nodes and 16 agents; with 10^5 keys at least as many events are pending. */
struct cluster_case {
    const char *name;
    uint64_t keys;
    uint64_t rows;
};

static const struct cluster_case cluster_cases[] = {
    {"cluster, 10^6 rows of 10^2 keys", 100, 1000000},
    {"cluster, 10^6 rows of 10^5 keys", 100000, 1000000},
};

static double cluster(const struct cluster_case *bench, uint64_t *out)
{
    char text[1024];
    snprintf(text, sizeof text,
             "name: bench\nduration: 1000s\nkeys: {count: %" PRIu64 "}\narrivals: {rate: %" PRIu64 "/s}\n"
             "cluster: {nodes: 6, replication_factor: 3}\nagents: {count: 16, cache_ttl: 5s}\nstrategies:\n"
             "  - probabilistic: {bits: 9, threshold: 8, coordination: three-state, lead: 10s}\n",
             bench->keys, bench->rows / 1000);
    struct lab_scenario *scenario;
    struct lab_result *result;
    struct sim_error error;
    if (!lab_scenario_parse("bench.yaml", text, strlen(text), NULL, 0, NULL, &scenario, &error)) {
        fprintf(stderr, "bench: %s\n", error.text);
        exit(3);
    }
    double begin = now_s();
    if (!lab_run(scenario, 1, NULL, &result, &error)) {
        fprintf(stderr, "bench: %s\n", error.text);
        exit(3);
    }
    double per_second = (double)result->strategies[0].events.events / (now_s() - begin);
    *out += result->digest;
    lab_result_destroy(result);
    lab_scenario_destroy(scenario);
    return per_second;
}

static uint64_t peak_memory_kib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss;
}

int main(int argc, char **argv)
{
    bool as_json = false;
    uint64_t rows = 20000000;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            as_json = true;
        } else if (strcmp(argv[i], "--million") == 0 && i + 1 < argc) {
            rows = strtoull(argv[++i], NULL, 10) * 1000000;
        } else {
            fprintf(stderr, "usage: bucketlab_bench [--json] [--million ROWS]\n");
            return 2;
        }
    }
    if (rows == 0)
        return 2;
    uint64_t sink = 0;
    if (!as_json)
        printf("%-44s %9s %9s %7s %10s\n", "exact mode", "ns/row", "bare", "ratio", "peak MiB");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double ours[REPEATS], bare[REPEATS], ratio[REPEATS];
        for (int j = 0; j < REPEATS; j++) {
            bare[j] = bare_loop(cases[i].keys, rows, &sink);
            ours[j] = engine(&cases[i], rows, &sink);
            ratio[j] = ours[j] / bare[j];
        }
        double ours_median = median(ours), bare_median = median(bare), ratio_median = median(ratio);
        if (as_json)
            printf("%s{\"name\":\"%s\",\"rows\":%" PRIu64
                   ",\"ns_per_row\":%.3f,\"bare_ns_per_row\":%.3f,\"ratio\":%.3f,"
                   "\"peak_kib\":%" PRIu64 "}",
                   i == 0 ? "[" : ",\n ", cases[i].name, rows, ours_median, bare_median, ratio_median,
                   peak_memory_kib());
        else
            printf("%-44s %9.2f %9.2f %7.2f %10.1f\n", cases[i].name, ours_median, bare_median, ratio_median,
                   (double)peak_memory_kib() / 1024);
        fflush(stdout);
    }
    if (!as_json)
        printf("\n%-44s %14s %18s\n", "cluster engine", "M events/s", "s for 10^6 rows");
    for (size_t i = 0; i < sizeof cluster_cases / sizeof *cluster_cases; i++) {
        double rates[REPEATS], spent[REPEATS];
        for (int j = 0; j < REPEATS; j++) {
            double begin = now_s();
            rates[j] = cluster(&cluster_cases[i], &sink);
            spent[j] = now_s() - begin;
        }
        double rate = median(rates), seconds = median(spent);
        if (as_json)
            printf(",\n {\"name\":\"%s\",\"events_per_s\":%.0f,\"seconds\":%.3f,\"peak_kib\":%" PRIu64 "}",
                   cluster_cases[i].name, rate, seconds, peak_memory_kib());
        else
            printf("%-44s %14.2f %18.2f\n", cluster_cases[i].name, rate / 1e6, seconds);
        fflush(stdout);
    }
    if (as_json)
        printf("]\n");
    else
        fprintf(stderr, "(checksum %016" PRIx64 ")\n", sink);
    return 0;
}
