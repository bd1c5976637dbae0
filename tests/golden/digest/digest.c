/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the digests of scenarios. It uses the simulator's unchanged libraries without the database and the
 * charts, so it can be built for a machine that has only a C library, libfyaml and zlib.
 *
 *   digest [--jobs N] SCENARIO [--seed N | --fuzz N] [--set PATH=VALUE]...
 *
 * --fuzz: the scenario that `bucketlab fuzz` makes of SCENARIO for seed N.
 * The run's digest comes first, then a line per strategy: its placement digest and, in the cluster engine,
 * the digest of its events; last a digest of all metrics, bit by bit. Exit codes are those of `bucketlab`. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bucketing/hash.h"
#include "kernel/digest.h"
#include "kernel/error.h"
#include "lab/fuzz.h"
#include "lab/run.h"
#include "lab/scenario.h"

#define OVERRIDES_MAX 32

struct request {
    const char *path;
    uint32_t jobs;
    bool has_seed, is_fuzz;
    uint64_t seed;
    size_t override_count;
    struct lab_override overrides[OVERRIDES_MAX];
};

static bool parse_number(const char *word, uint64_t *out)
{
    char *end;
    *out = strtoull(word, &end, 10);
    return end != word && *end == '\0';
}

static bool parse(int count, char **words, struct request *out)
{
    *out = (struct request){.jobs = 1};
    for (int i = 0; i < count; i++) {
        const char *value = i + 1 < count ? words[i + 1] : NULL;
        uint64_t number = 0;
        if (strncmp(words[i], "--", 2) != 0) {
            if (out->path != NULL)
                return false;
            out->path = words[i];
            continue;
        }
        if (value == NULL)
            return false;
        if (strcmp(words[i], "--set") == 0 && out->override_count < OVERRIDES_MAX) {
            out->overrides[out->override_count++] = (struct lab_override){value};
        } else if ((strcmp(words[i], "--seed") == 0 || strcmp(words[i], "--fuzz") == 0) && !out->has_seed &&
                   parse_number(value, &out->seed)) {
            out->has_seed = true;
            out->is_fuzz = words[i][2] == 'f';
        } else if (strcmp(words[i], "--jobs") == 0 && parse_number(value, &number) && number >= 1 &&
                   number <= 64) {
            out->jobs = (uint32_t)number;
        } else {
            return false;
        }
        i++;
    }
    return out->path != NULL;
}

static bool load(const struct request *request, struct lab_scenario **out, struct sim_error *error)
{
    if (!request->is_fuzz)
        return lab_scenario_load(request->path, request->overrides, request->override_count,
                                 request->has_seed ? &request->seed : NULL, out, error);
    struct lab_fuzz_base base = {
        .path = request->path, .overrides = request->overrides, .override_count = request->override_count};
    char *text;
    if (!lab_scenario_text(request->path, &text, &base.size, error))
        return false;
    base.text = text;
    bool ok = lab_fuzz_scenario(&base, request->seed, true, out, error);
    free(text);
    return ok;
}

static uint64_t digest_figures(const struct lab_result *result)
{
    uint64_t digest = 0;
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_metrics *metrics = &result->strategies[i].metrics;
        for (size_t j = 0; j < metrics->count; j++) {
            const struct lab_metric *metric = &metrics->items[j];
            uint64_t bits;
            memcpy(&bits, &metric->value, sizeof bits);
            digest = sim_digest_chain(digest, bk_murmur3_128(metric->name, strlen(metric->name), 0).h1);
            digest = sim_digest_chain(digest, bits);
        }
    }
    return digest;
}

static bool print(const struct lab_result *result, struct sim_error *error)
{
    printf("%016" PRIx64 "\n", result->digest);
    for (size_t i = 0; i < result->strategy_count; i++) {
        const struct lab_strategy_result *strategy = &result->strategies[i];
        printf("%016" PRIx64, strategy->placement_digest);
        if (strategy->events.stride > 0)
            printf("/%016" PRIx64, strategy->events.digest);
        printf(" %s\n", strategy->label);
    }
    printf("%016" PRIx64 " figures\n", digest_figures(result));
    if (fflush(stdout) != 0 || ferror(stdout))
        return sim_fail(error, SIM_ERROR_ENVIRONMENT, "standard output: cannot be written");
    return true;
}

static bool run(const struct request *request, struct sim_error *error)
{
    struct lab_scenario *scenario;
    if (!load(request, &scenario, error))
        return false;
    struct lab_result *result = NULL;
    bool ok = lab_run(scenario, request->jobs, NULL, &result, error) && print(result, error);
    lab_result_destroy(result);
    lab_scenario_destroy(scenario);
    return ok;
}

int main(int argc, char **argv)
{
    struct request request;
    if (!parse(argc - 1, argv + 1, &request)) {
        fputs("usage: digest [--jobs N] SCENARIO [--seed N | --fuzz N] [--set PATH=VALUE]...\n", stderr);
        return SIM_ERROR_INPUT;
    }
    struct sim_error error = {0};
    if (!run(&request, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return (int)error.class;
    }
    return 0;
}
