/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs both sides of a comparison on each seed, or reads the runs that are stored. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/again.h"
#include "cli/execute.h"
#include "diff.h"
#include "lab/crew.h"

/* A run that is missing. */
struct job {
    const struct cli_diff_side *side;
    uint64_t seed;
};

struct jobs {
    struct job *items;
    size_t count;
    uint32_t threads;
    struct store *store;
    const char *database, *files; /* options */
    uint64_t stored;
};

/* The result of a job. */
struct outcome {
    struct lab_result *result;
    int64_t elapsed_ms;
};

/* A seed is represented by its newest run, so two runs of the same sample have the same list. */
static bool is_one_sample(const struct cli_diff *diff)
{
    const struct cli_diff_side *a = &diff->a, *b = &diff->b;
    return a->seed_count > 0 && a->seed_count == b->seed_count && a->seeds[0].run == b->seeds[0].run;
}

bool cli_diff_pair(struct cli_diff *diff, struct store *store, struct sim_error *error)
{
    struct cli_diff_side *a = &diff->a, *b = &diff->b;
    free(a->seeds);
    free(b->seeds);
    a->seeds = b->seeds = NULL;
    if (!store_list_seeds(store, a->run, &a->seeds, &a->seed_count, error) ||
        !store_list_seeds(store, b->run, &b->seeds, &b->seed_count, error))
        return false;
    free(diff->pairs);
    diff->pair_count = 0;
    diff->pairs = calloc(a->seed_count + 1, sizeof *diff->pairs);
    if (diff->pairs == NULL)
        return sim_fail_memory(error);
    for (size_t i = 0, j = 0; i < a->seed_count; i++) {
        while (j < b->seed_count && b->seeds[j].seed < a->seeds[i].seed)
            j++;
        if (j < b->seed_count && b->seeds[j].seed == a->seeds[i].seed)
            diff->pairs[diff->pair_count++] =
                (struct cli_diff_pair){a->seeds[i].seed, a->seeds[i].run, b->seeds[j].run};
    }
    diff->is_one_sample = is_one_sample(diff);
    return true;
}

static bool has_seed(const struct cli_diff_side *side, uint64_t seed)
{
    size_t low = 0, high = side->seed_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (side->seeds[middle].seed < seed)
            low = middle + 1;
        else
            high = middle;
    }
    return low < side->seed_count && side->seeds[low].seed == seed;
}

static void add_missing(const struct cli_diff *diff, uint64_t seed, struct jobs *jobs)
{
    if (!has_seed(&diff->a, seed))
        jobs->items[jobs->count++] = (struct job){&diff->a, seed};
    if (!diff->is_one_sample && !has_seed(&diff->b, seed))
        jobs->items[jobs->count++] = (struct job){&diff->b, seed};
}

/* Plans the missing runs: first for seeds that one of the two samples has, then for the smallest other
 * seeds. */
static bool plan(const struct cli_diff *diff, uint64_t wanted, struct jobs *jobs, struct sim_error *error)
{
    const struct cli_diff_side *a = &diff->a, *b = &diff->b;
    uint64_t missing = wanted - diff->pair_count;
    jobs->items = calloc(2 * missing, sizeof *jobs->items);
    if (jobs->items == NULL)
        return sim_fail_memory(error);
    for (size_t i = 0; i < a->seed_count && missing > 0; i++) {
        if (!has_seed(b, a->seeds[i].seed)) {
            add_missing(diff, a->seeds[i].seed, jobs);
            missing--;
        }
    }
    for (size_t i = 0; i < b->seed_count && missing > 0; i++) {
        if (!has_seed(a, b->seeds[i].seed)) {
            add_missing(diff, b->seeds[i].seed, jobs);
            missing--;
        }
    }
    for (uint64_t seed = 1; missing > 0; seed++) {
        if (!has_seed(a, seed) && !has_seed(b, seed)) {
            add_missing(diff, seed, jobs);
            missing--;
        }
    }
    return true;
}

/* Fails when the stored run is of another version, whose runs would belong to another sample. */
static bool check_version(const struct cli_diff_side *side, struct sim_error *error)
{
    return strcmp(side->version, BUCKETLAB_VERSION) == 0 ||
           sim_fail(error, SIM_ERROR_INPUT,
                    "bucketlab: --seeds: run %" PRId64 " was stored by bucketlab %s, and this is %s, whose "
                    "runs may differ; run its scenario again, and compare that run",
                    side->run, side->version, BUCKETLAB_VERSION);
}

static bool run_job(void *context, uint64_t job, struct lab_progress *progress, void **made,
                    struct sim_error *error)
{
    const struct jobs *jobs = context;
    const struct cli_diff_side *side = jobs->items[job].side;
    const struct store_run_info info = {
        .scenario_path = side->path, .scenario_text = side->text, .overrides = side->overrides};
    struct lab_scenario *scenario = NULL;
    struct outcome *outcome = calloc(1, sizeof *outcome);
    *made = outcome;
    if (outcome == NULL)
        return sim_fail_memory(error);
    int64_t begin_ms = cli_now_ms();
    bool is_fine = cli_scenario_again(&info, jobs->database, jobs->files, NULL, jobs->items[job].seed,
                                      &scenario, error) &&
                   lab_run(scenario, 1, progress, &outcome->result, error);
    outcome->elapsed_ms = cli_passed_ms(begin_ms);
    lab_scenario_destroy(scenario);
    return is_fine;
}

static void drop(void *made)
{
    struct outcome *outcome = made;
    if (outcome != NULL)
        lab_result_destroy(outcome->result);
    free(outcome);
}

static bool store_run(void *context, uint64_t job, void *made, bool *is_enough, struct sim_error *error)
{
    struct jobs *jobs = context;
    struct outcome *outcome = made;
    const struct cli_diff_side *side = jobs->items[job].side;
    struct store_run_info info = {.scenario_path = side->path,
                                  .scenario_text = side->text,
                                  .overrides = side->overrides,
                                  .version = BUCKETLAB_VERSION,
                                  .created_unix_s = (int64_t)time(NULL),
                                  .elapsed_ms = outcome->elapsed_ms};
    *is_enough = false;
    bool is_fine = store_save_run(jobs->store, &info, outcome->result, error);
    jobs->stored += is_fine;
    drop(outcome);
    return is_fine;
}

static bool run_all(void *context, struct lab_progress *progress, struct sim_error *error)
{
    struct jobs *jobs = context;
    const struct lab_crew crew = {
        .context = jobs, .count = jobs->count, .work = run_job, .take = store_run, .drop = drop};
    uint64_t taken;
    return lab_crew_run(&crew, jobs->threads, progress, &taken, error);
}

bool cli_diff_run_missing(struct cli_diff *diff, struct store *store, const struct cli_args *args,
                          uint64_t wanted, struct cli_signals *signals, struct sim_error *error)
{
    struct jobs jobs = {.store = store,
                        .database = cli_value(args, "db", "bucketlab.db"),
                        .files = cli_value(args, "files", NULL)};
    int64_t elapsed_ms;
    if (diff->is_one_sample && diff->is_same_choice)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --seeds: runs %" PRId64 " and %" PRId64
                        " are of one scenario and differ only in their seed, so more seeds would show "
                        "nothing; leave it out",
                        diff->a.run, diff->b.run);
    if (lab_result_is_observed(diff->a.result) || lab_result_is_observed(diff->b.result))
        return sim_fail(error, SIM_ERROR_INPUT,
                        "bucketlab: --seeds: run %" PRId64
                        " holds sizes from a file, the same for every seed; leave "
                        "it out, or put the file under 'observed' of the other run's scenario",
                        lab_result_is_observed(diff->a.result) ? diff->a.run : diff->b.run);
    if (!cli_jobs(args, &jobs.threads, error) || !check_version(&diff->a, error) ||
        !check_version(&diff->b, error) || !plan(diff, wanted, &jobs, error))
        return false;
    const struct cli_task task = {.name = "diff",
                                  .unit = "runs/s",
                                  .is_quiet = cli_has(args, "quiet"),
                                  .run = run_all,
                                  .context = &jobs};
    cli_signals_hold(signals);
    bool is_fine = cli_attend(&task, signals, &elapsed_ms, error);
    cli_signals_release(signals);
    if (signals->caught != 0)
        is_fine = sim_fail(error, SIM_ERROR_CHECK,
                           "interrupted; %" PRIu64 " of %zu runs are stored, and the same command resumes",
                           jobs.stored, jobs.count);
    free(jobs.items);
    return is_fine && cli_diff_pair(diff, store, error);
}
