/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The engines: rows per second, events per second, threads, and memory. */
#define _DEFAULT_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "kernel/sampler.h"
#include "lab/run.h"

enum { SCENARIO_SIZE_MAX = 16384 };

void bench_write_scenario(const struct bench_case *bench, double rows, double keys, FILE *out)
{
    /* The cluster engine runs for seconds of virtual time and with fewer rows. */
    const double seconds = bench->days > 0 ? bench->days * 86400.0 : 1000.0;
    fprintf(out, "name: bench\nduration: %.0fs\nkeys: {count: %.0f}\n", seconds, keys);
    fprintf(out, "arrivals: {rate: %.17g/s%s}\n", rows / seconds,
            bench->has_bursts ? ", bursts: {on: 10m, off: 6h, factor: 50}" : "");
    if (bench->nodes > 0)
        fprintf(out, "cluster: {nodes: %" PRIu32 ", replication_factor: %d}\n", bench->nodes,
                bench->nodes < 3 ? 1 : 3);
    if (bench->agents > 0)
        fprintf(out, "agents: {count: %" PRIu32 ", cache_ttl: 5s}\n", bench->agents);
    fputs(bench->scenario, out);
    /* The last line is a strategy; the additional strategies repeat it with other labels. */
    const char *last = strstr(bench->scenario, "  - ");
    for (uint32_t i = 1; last != NULL && i < bench->strategies; i++) {
        const size_t length = strcspn(last, "}");
        fprintf(out, "%.*s, label: s%" PRIu32 "}\n", (int)length, last, i);
    }
}

static bool parse(const struct bench_case *bench, double rows, double keys, struct lab_scenario **scenario,
                  struct bench_result *result)
{
    char text[SCENARIO_SIZE_MAX] = "";
    FILE *out = fmemopen(text, sizeof text, "w");
    if (out == NULL)
        return bench_fail(result, "no memory");
    bench_write_scenario(bench, rows, keys, out);
    fclose(out);
    struct sim_error error;
    if (lab_scenario_parse("bench.yaml", text, strlen(text), NULL, 0, NULL, scenario, &error))
        return true;
    return bench_fail(result, "%.250s", error.text);
}

static bool run(const struct lab_scenario *scenario, uint32_t threads, uint64_t *rows, uint64_t *events,
                struct bench_result *result)
{
    struct lab_result *made;
    struct sim_error error;
    if (!lab_run(scenario, threads, NULL, &made, &error))
        return bench_fail(result, "%.250s", error.text);
    *rows = made->rows;
    *events = 0;
    for (size_t i = 0; i < made->strategy_count; i++)
        *events += made->strategies[i].events.events;
    lab_result_destroy(made);
    return true;
}

struct bare_key {
    uint32_t rows;
    uint32_t counter;
};

/* The bare loop: per row it draws a time, draws bits, and increments and tests a counter of one of the keys.
 * Returns ns per row. */
static double bare_loop(uint64_t keys, uint64_t rows)
{
    struct bare_key *table = calloc(keys, sizeof *table);
    if (table == NULL)
        exit(3);
    struct sim_random random;
    sim_random_init(&random, 1, SIM_ARRIVAL, 0);
    struct sim_random stream = random;
    double time = 0;
    uint64_t rolls = 0, shift = 32;
    const double begin = bench_processor_s();
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
    const double spent = bench_processor_s() - begin;
    bench_keep(rolls + (uint64_t)time + table[keys / 2].rows);
    free(table);
    return spent * 1e9 / (double)rows;
}

/* ns per row, compared with a bare loop that does the minimum that any engine has to do. */
bool bench_exact(const struct bench_case *bench, const struct bench_context *context,
                 struct bench_result *result)
{
    struct lab_scenario *scenario;
    const double wanted = bench_size(context, bench->rows, 1e5), keys = bench_size(context, bench->keys, 1e3);
    if (!parse(bench, wanted, keys, &scenario, result))
        return false;
    for (uint32_t i = 0; i < result->run_count && result->failure[0] == 0; i++) {
        uint64_t rows = 0, events;
        const double begin = bench_processor_s();
        run(scenario, 1, &rows, &events, result);
        const double spent = bench_processor_s() - begin;
        if (i == 0)
            bench_note_peak(result);
        struct bench_sample *sample = &result->runs[i];
        sample->value = spent * 1e9 / (double)rows;
        sample->beside = bare_loop((uint64_t)keys, (uint64_t)wanted);
        sample->ratio = sample->value / sample->beside;
    }
    lab_scenario_destroy(scenario);
    return result->failure[0] == 0;
}

/* Seconds; wall time when there are several threads. */
bool bench_stream(const struct bench_case *bench, const struct bench_context *context,
                  struct bench_result *result)
{
    struct lab_scenario *scenario;
    if (!parse(bench, bench_size(context, bench->rows, 1e5), bench_size(context, bench->keys, 1e3), &scenario,
               result))
        return false;
    double (*clock)(void) = bench->threads > 1 ? bench_wall_s : bench_processor_s;
    for (uint32_t i = 0; i < result->run_count && result->failure[0] == 0; i++) {
        uint64_t rows, events;
        const double begin = clock();
        run(scenario, bench->threads > 1 ? bench->threads : 1, &rows, &events, result);
        result->runs[i].value = clock() - begin;
    }
    lab_scenario_destroy(scenario);
    return result->failure[0] == 0;
}

static bool time_cluster(const struct bench_case *bench, const struct bench_context *context, bool per_second,
                         struct bench_result *result)
{
    struct lab_scenario *scenario;
    if (!parse(bench, bench_size(context, bench->rows, 1e3), bench_size(context, bench->keys, 1e2), &scenario,
               result))
        return false;
    for (uint32_t i = 0; i < result->run_count && result->failure[0] == 0; i++) {
        uint64_t rows, events = 0;
        const double begin = bench_processor_s();
        run(scenario, 1, &rows, &events, result);
        const double spent = bench_processor_s() - begin;
        result->runs[i].value = per_second ? (double)events / spent / 1e6 : spent;
    }
    lab_scenario_destroy(scenario);
    return result->failure[0] == 0;
}

/* Million events per second. */
bool bench_cluster(const struct bench_case *bench, const struct bench_context *context,
                   struct bench_result *result)
{
    return time_cluster(bench, context, true, result);
}

/* Seconds. */
bool bench_cluster_time(const struct bench_case *bench, const struct bench_context *context,
                        struct bench_result *result)
{
    return time_cluster(bench, context, false, result);
}

/* The speedup of two threads over one, measured alternately. */
bool bench_threads(const struct bench_case *bench, const struct bench_context *context,
                   struct bench_result *result)
{
    struct lab_scenario *scenario;
    if (!parse(bench, bench_size(context, bench->rows, 1e4), bench_size(context, bench->keys, 1e2), &scenario,
               result))
        return false;
    for (uint32_t i = 0; i < result->run_count && result->failure[0] == 0; i++) {
        double spent[2];
        for (uint32_t threads = 1; threads <= 2; threads++) {
            uint64_t rows, events;
            const double begin = bench_wall_s();
            run(scenario, threads, &rows, &events, result);
            spent[threads - 1] = bench_wall_s() - begin;
        }
        result->runs[i] = (struct bench_sample){spent[1], spent[0], spent[0] / spent[1]};
    }
    lab_scenario_destroy(scenario);
    return result->failure[0] == 0;
}

/* The peak memory in KiB of a child process that runs the case; 0 when it fails. */
static uint64_t peak_of(const struct bench_case *bench, double rows, double keys)
{
    struct bench_case part = *bench;
    part.rows = rows;
    part.keys = keys;
    part.measure = bench_stream;
    part.runs = 1;
    struct bench_result result;
    bench_run(&part, &(struct bench_context){.runs = 1}, &result);
    return result.failure[0] == 0 ? result.peak_kib : 0;
}

/* Peak memory in MiB, compared with the peak for a thousandth of the rows. */
bool bench_flat(const struct bench_case *bench, const struct bench_context *context,
                struct bench_result *result)
{
    const double rows = bench_size(context, bench->rows, 1e6), keys = bench_size(context, bench->keys, 1e3);
    for (uint32_t i = 0; i < result->run_count; i++) {
        const uint64_t few = peak_of(bench, rows / 1000, keys), many = peak_of(bench, rows, keys);
        if (few == 0 || many == 0)
            return bench_fail(result, "a run failed");
        result->runs[i] =
            (struct bench_sample){(double)many / 1024, (double)few / 1024, (double)many / (double)few};
        result->peak_kib = many > result->peak_kib ? many : result->peak_kib;
    }
    return true;
}
