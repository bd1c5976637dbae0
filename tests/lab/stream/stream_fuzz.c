/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stream engine's fuzzer: a seed is a scenario. Each seed's exact run must equal the naive engine's in
 * every metric and digest, to the last bit. Every 16th seed also compares the thinned mode with the exact
 * one; every 16th, at an offset of eight, the sizes of partitions with their exact distribution; and every
 * 16th, at an offset of four, the thinned mode of many keys by one thread with that by several threads; and
 * every 16th, at an offset of twelve, a histogram with the list of its sizes.
 *
 *     lab_stream_fuzz [--seeds A..B] [--jobs N] [--keep-going] [--work DIR]
 *     lab_stream_fuzz --print SEED     the scenario; its trace, if it has one, is left in DIR
 *     lab_stream_fuzz --shrink SEED    a smaller scenario that differs from the naive engine as well
 *
 * A seed that fails is replayed by --seeds SEED. This is a test program and not a command of bucketlab,
 * because the naive engine belongs to the tests: a program that contained a second engine would have to
 * maintain it for users. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../share.h"
#include "lab/crew.h"
#include "lab/fuzz.h"
#include "lab/run.h"
#include "naive.h"
#include "stream_distribution.h"
#include "stream_draw.h"

#define MESSAGE_SIZE  1280u
#define SHRINK_TRIES  2000u
#define SEEDS_DEFAULT 150u

enum check {
    CHECK_NAIVE,
    CHECK_DISTRIBUTION,
    CHECK_SIZES,
    CHECK_THREADS,
    CHECK_EXPECTED,
    CHECK_HISTOGRAM,
    CHECK_COUNT
};
static const char *const check_names[CHECK_COUNT] = {"naive",   "thinned",  "sizes",
                                                     "threads", "expected", "histogram"};

struct campaign {
    uint64_t first, last;
    uint32_t jobs;
    bool keeps_going;
    const char *work;
    uint64_t failures;
};

struct outcome {
    bool is_broken;
    enum check check;
    char message[MESSAGE_SIZE];
};

static void trace_name(const struct campaign *campaign, uint64_t seed, char *name, size_t size)
{
    snprintf(name, size, "%s/stream-%ld-%" PRIu64 ".csv", campaign->work, (long)getpid(), seed);
}

static bool write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    bool ok = file != NULL && fputs(text, file) >= 0;
    if (file != NULL)
        ok = fclose(file) == 0 && ok;
    if (!ok)
        fprintf(stderr, "stream_fuzz: cannot write %s: %s\n", path, strerror(errno));
    return ok;
}

/* True when both engines give the same result. A rare scenario has more distinct sizes than its histograms
 * store exactly, and would take the naive engine minutes, so it is only run. */
static bool check_naive(const char *text, uint32_t jobs, char *message)
{
    struct lab_scenario *scenario;
    struct lab_result *result = NULL;
    struct sim_error error;
    if (!lab_scenario_parse("stream.yaml", text, strlen(text), NULL, 0, NULL, &scenario, &error)) {
        snprintf(message, MESSAGE_SIZE, "the drawn scenario is refused: %s", error.text);
        return false;
    }
    bool ok = lab_run(scenario, jobs, NULL, &result, &error);
    if (ok)
        ok = result->rows > LAB_HISTOGRAM_EXACT || naive_check(scenario, result, message, MESSAGE_SIZE);
    else
        snprintf(message, MESSAGE_SIZE, "the run failed: %s", error.text);
    lab_result_destroy(result);
    lab_scenario_destroy(scenario);
    return ok;
}

static bool check_exact(const struct campaign *campaign, uint64_t seed, char *message)
{
    char text[STREAM_TEXT_SIZE], path[512], *csv;
    trace_name(campaign, seed, path, sizeof path);
    stream_draw(seed, path, text, &csv);
    bool ok = csv == NULL || write_file(path, csv);
    if (!ok)
        snprintf(message, MESSAGE_SIZE, "no trace");
    ok = ok && check_naive(text, (uint32_t)(1 + seed % 3), message);
    if (csv != NULL)
        remove(path);
    free(csv);
    return ok;
}

static bool work(void *context, uint64_t job, struct lab_progress *progress, void **made,
                 struct sim_error *error)
{
    (void)progress;
    const struct campaign *campaign = context;
    uint64_t seed = campaign->first + job;
    struct outcome *outcome = calloc(1, sizeof *outcome);
    *made = outcome;
    if (outcome == NULL)
        return sim_fail_memory(error);
    bool ok = check_exact(campaign, seed, outcome->message);
    outcome->check = CHECK_NAIVE;
    if (ok && seed % 16 == 0) {
        ok = stream_check_distribution(seed, outcome->message, MESSAGE_SIZE);
        outcome->check = CHECK_DISTRIBUTION;
    }
    if (ok && seed % 16 == 8) {
        ok = stream_check_sizes(seed, outcome->message, MESSAGE_SIZE);
        outcome->check = CHECK_SIZES;
    }
    if (ok && seed % 16 == 4) {
        ok = stream_check_threads(seed, outcome->message, MESSAGE_SIZE);
        outcome->check = CHECK_THREADS;
    }
    if (ok && seed % 16 == 12) {
        ok = stream_check_histogram(seed, outcome->message, MESSAGE_SIZE);
        outcome->check = CHECK_HISTOGRAM;
    }
    if (ok && seed % 4 == 2) {
        ok = stream_check_expected(seed, outcome->message, MESSAGE_SIZE);
        outcome->check = CHECK_EXPECTED;
    }
    outcome->is_broken = !ok;
    return true;
}

static bool take(void *context, uint64_t job, void *made, bool *is_enough, struct sim_error *error)
{
    (void)error;
    struct campaign *campaign = context;
    struct outcome *outcome = made;
    if (outcome->is_broken) {
        uint64_t seed = campaign->first + job;
        printf("seed %" PRIu64 ": %s: %s\n  again: lab_stream_fuzz --seeds %" PRIu64 "\n", seed,
               check_names[outcome->check], outcome->message, seed);
        fflush(stdout);
        campaign->failures++;
        *is_enough = !campaign->keeps_going;
    }
    free(outcome);
    return true;
}

static int run_campaign(struct campaign *campaign)
{
    const struct lab_crew crew = {.context = campaign,
                                  .count = campaign->last - campaign->first + 1,
                                  .work = work,
                                  .take = take,
                                  .drop = free};
    struct timespec begin, end;
    struct sim_error error;
    uint64_t taken;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    if (!lab_crew_run(&crew, campaign->jobs, NULL, &taken, &error)) {
        fprintf(stderr, "stream_fuzz: %s\n", error.text);
        return 3;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    printf("%" PRIu64 " seeds, %" PRIu64 " failures, %.1f s, %.0f seeds/s\n", taken, campaign->failures,
           seconds, (double)taken / seconds);
    return campaign->failures > 0;
}

static bool still_differs(void *context, const char *text)
{
    (void)context;
    char message[MESSAGE_SIZE];
    return !check_naive(text, 1, message) && strstr(message, "refused") == NULL;
}

static int print_seed(const struct campaign *campaign, uint64_t seed, bool is_shrunk)
{
    char text[STREAM_TEXT_SIZE], path[512], *csv, *smaller = NULL;
    snprintf(path, sizeof path, "%s/stream-%" PRIu64 ".csv", campaign->work, seed);
    stream_draw(seed, path, text, &csv);
    struct sim_error error = {.class = SIM_ERROR_NONE};
    bool ok = csv == NULL || write_file(path, csv);
    if (ok && is_shrunk && !still_differs(NULL, text)) {
        fprintf(stderr, "stream_fuzz: seed %" PRIu64 " does not differ from the naive engine\n", seed);
        ok = false;
    } else if (ok && is_shrunk) {
        ok = lab_shrink(text, SHRINK_TRIES, still_differs, NULL, &smaller, &error);
    }
    if (ok)
        fputs(smaller != NULL ? smaller : text, stdout);
    if (ok && !is_shrunk && seed % 16 == 0) {
        stream_draw_distribution(seed, 1, text);
        printf("---\n# exact and thinned:\n%s", text);
    }
    if (ok && !is_shrunk && seed % 16 == 8) {
        struct stream_single single;
        stream_draw_single(seed, 3000, 3e6, text, &single);
        printf("---\n# sizes against their exact distribution:\n%s", text);
    }
    free(smaller);
    free(csv);
    return ok ? 0 : 1;
}

static bool seeds_of(const char *text, uint64_t *first, uint64_t *last)
{
    char *end;
    *first = *last = strtoull(text, &end, 10);
    if (end != text && strncmp(end, "..", 2) == 0) {
        text = end + 2;
        *last = strtoull(text, &end, 10);
    }
    return end != text && *end == '\0' && *first <= *last;
}

static int fail_usage(const char *argument)
{
    fprintf(stderr,
            "stream_fuzz: '%s' is not understood; use [--seeds A..B] [--jobs N] [--keep-going] [--work DIR], "
            "--print SEED or --shrink SEED\n",
            argument);
    return 2;
}

int main(int argc, char **argv)
{
    struct campaign campaign = {.first = 1, .last = test_part(SEEDS_DEFAULT), .jobs = 2, .work = "."};
    uint64_t seed = 0, unused;
    bool prints = false, shrinks = false;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        bool ok = true;
        if (strcmp(argv[i], "--keep-going") == 0) {
            campaign.keeps_going = true;
            continue;
        }
        if (strcmp(argv[i], "--seeds") == 0) {
            ok = seeds_of(value, &campaign.first, &campaign.last);
        } else if (strcmp(argv[i], "--jobs") == 0) {
            campaign.jobs = (uint32_t)strtoul(value, NULL, 10);
            ok = campaign.jobs >= 1 && campaign.jobs <= 1024;
        } else if (strcmp(argv[i], "--work") == 0) {
            campaign.work = value;
        } else if (strcmp(argv[i], "--print") == 0) {
            prints = ok = seeds_of(value, &seed, &unused);
        } else if (strcmp(argv[i], "--shrink") == 0) {
            shrinks = ok = seeds_of(value, &seed, &unused);
        } else {
            ok = false;
        }
        if (!ok)
            return fail_usage(argv[i]);
        i++;
    }
    return prints || shrinks ? print_seed(&campaign, seed, shrinks) : run_campaign(&campaign);
}
