/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L
#include "campaign.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "progress.h"

/* A thread may be ahead of the slowest one by so many seeds. */
#define AHEAD_MAX 256u

/* What became of a seed, until its turn has come to be summed up. */
struct slot {
    bool is_full, has_breach;
    struct lab_fuzz_outcome outcome;
    struct cli_breach breach;
    struct sim_error error;
};

struct crew {
    struct cli_campaign *campaign;
    struct lab_progress progress; /* of all runs: its `stop` ends them */
    pthread_t watcher;
    pthread_mutex_t lock;
    pthread_cond_t turned; /* room was made in the slots, or all is over */
    struct slot *slots;
    uint64_t next;   /* seed to be taken */
    uint64_t merged; /* seeds before this one are summed up */
    bool is_over;    /* no more seeds are taken, nor summed up */
    uint32_t working;
    struct sim_error error;
};

static bool start(struct crew *crew, pthread_t *threads, uint32_t *count, struct sim_error *error);
static void *work(void *argument);
static bool take(struct crew *crew, uint64_t *seed);
static void run_seed(struct crew *crew, uint64_t seed, struct slot *slot);
static void merge(struct crew *crew);
static void merge_slot(struct crew *crew, const struct slot *slot);
static void stop(struct crew *crew);
static void watch(struct crew *crew, struct cli_signals *signals, int64_t begin_ms);
static bool keep_breach(struct cli_campaign *campaign, const struct cli_breach *breach);

bool cli_campaign_run(struct cli_campaign *campaign, struct cli_signals *signals, struct sim_error *error)
{
    struct crew crew = {.campaign = campaign,
                        .watcher = pthread_self(),
                        .lock = PTHREAD_MUTEX_INITIALIZER,
                        .turned = PTHREAD_COND_INITIALIZER,
                        .next = campaign->first,
                        .merged = campaign->first,
                        .slots = calloc(AHEAD_MAX, sizeof *crew.slots)};
    pthread_t *threads = calloc(campaign->jobs, sizeof *threads);
    uint32_t count = 0;
    int64_t begin_ms = cli_now_ms();
    lab_fuzz_tally_init(&campaign->tally);
    bool is_fine = (crew.slots != NULL && threads != NULL) || sim_fail_memory(error);
    if (is_fine && (is_fine = start(&crew, threads, &count, error)))
        watch(&crew, signals, begin_ms);
    for (uint32_t i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    free(crew.slots);
    campaign->elapsed_ms = cli_now_ms() - begin_ms;
    if (is_fine && crew.error.class != SIM_ERROR_NONE)
        is_fine = sim_fail(error, crew.error.class, "%s", crew.error.text);
    return is_fine;
}

void cli_campaign_clear(struct cli_campaign *campaign)
{
    lab_fuzz_tally_clear(&campaign->tally);
    free(campaign->breaches);
    campaign->breaches = NULL;
}

bool cli_breach_describe(const struct lab_scenario *scenario, const struct lab_result *result,
                         const struct lab_breach *breach, struct cli_breach *out, struct sim_error *error)
{
    const struct lab_strategy_result *strategy = &result->strategies[breach->strategy];
    *out = (struct cli_breach){.seed = result->seed,
                               .oracle = breach->oracle,
                               .violation = strategy->verdict.violations[breach->oracle]};
    out->since_ns = out->violation.time_ns - result->start_ns;
    snprintf(out->label, sizeof out->label, "%s", strategy->label);
    return lab_fuzz_key_name(scenario, out->violation.key, out->key, error);
}

/* One thread is enough to go on with. */
static bool start(struct crew *crew, pthread_t *threads, uint32_t *count, struct sim_error *error)
{
    pthread_mutex_lock(&crew->lock);
    while (*count < crew->campaign->jobs && pthread_create(&threads[*count], NULL, work, crew) == 0)
        ++*count;
    crew->working = *count;
    pthread_mutex_unlock(&crew->lock);
    return *count > 0 ||
           sim_fail(error, SIM_ERROR_ENVIRONMENT, "no thread could be made; end other programs first");
}

static void *work(void *argument)
{
    struct crew *crew = argument;
    struct slot *slot = calloc(1, sizeof *slot);
    uint64_t seed;
    while (slot != NULL && take(crew, &seed)) {
        run_seed(crew, seed, slot);
        slot->is_full = true;
        pthread_mutex_lock(&crew->lock);
        crew->slots[seed % AHEAD_MAX] = *slot;
        merge(crew);
        pthread_mutex_unlock(&crew->lock);
    }
    pthread_mutex_lock(&crew->lock);
    if (slot == NULL && crew->error.class == SIM_ERROR_NONE) {
        sim_fail_memory(&crew->error);
        stop(crew);
    }
    if (--crew->working == 0)
        pthread_kill(crew->watcher, CLI_WAKE);
    pthread_mutex_unlock(&crew->lock);
    free(slot);
    return NULL;
}

static bool take(struct crew *crew, uint64_t *seed)
{
    pthread_mutex_lock(&crew->lock);
    while (!crew->is_over && crew->next - crew->merged >= AHEAD_MAX)
        pthread_cond_wait(&crew->turned, &crew->lock);
    bool is_left = !crew->is_over && crew->next <= crew->campaign->last;
    *seed = crew->next;
    if (is_left)
        crew->next++;
    pthread_mutex_unlock(&crew->lock);
    return is_left;
}

static void run_seed(struct crew *crew, uint64_t seed, struct slot *slot)
{
    struct lab_scenario *scenario = NULL;
    struct lab_result *result = NULL;
    struct lab_breach breach;
    *slot = (struct slot){0};
    if (lab_fuzz_scenario(crew->campaign->base, seed, &scenario, &slot->error) &&
        lab_run(scenario, 1, &crew->progress, &result, &slot->error)) {
        lab_fuzz_hold(result, crew->campaign->base->held);
        lab_fuzz_outcome_of(result, &slot->outcome);
        slot->has_breach = lab_breach_find(result, &breach) &&
                           cli_breach_describe(scenario, result, &breach, &slot->breach, &slot->error);
    }
    lab_result_destroy(result);
    lab_scenario_destroy(scenario);
}

/* Sums up what is there without a gap. */
static void merge(struct crew *crew)
{
    struct slot *slot;
    while (!crew->is_over && (slot = &crew->slots[crew->merged % AHEAD_MAX])->is_full) {
        slot->is_full = false;
        merge_slot(crew, slot);
        if (crew->merged == crew->campaign->last)
            stop(crew);
        crew->merged++;
    }
    pthread_cond_broadcast(&crew->turned);
}

static void merge_slot(struct crew *crew, const struct slot *slot)
{
    struct cli_campaign *campaign = crew->campaign;
    bool is_fine = slot->error.class == SIM_ERROR_NONE;
    if (!is_fine) {
        crew->error = slot->error;
    } else if (!lab_fuzz_tally_add(&campaign->tally, &slot->outcome) ||
               (slot->has_breach && !keep_breach(campaign, &slot->breach))) {
        is_fine = sim_fail_memory(&crew->error);
    }
    if (!is_fine || (slot->has_breach && !campaign->keeps_going))
        stop(crew);
}

/* Also what others have under way is of no use then. */
static void stop(struct crew *crew)
{
    crew->is_over = true;
    crew->progress.stop = true;
    pthread_cond_broadcast(&crew->turned);
}

/* Until all threads are at their end. */
static void watch(struct crew *crew, struct cli_signals *signals, int64_t begin_ms)
{
    const struct timespec frame = {.tv_nsec = CLI_FRAME_MS * 1000000L};
    const struct cli_campaign *campaign = crew->campaign;
    struct cli_progress display;
    struct lab_progress seeds = {.total = campaign->last - campaign->first + 1};
    cli_progress_init(&display, "fuzz", campaign->is_quiet);
    display.unit = "seeds/s";
    while (true) {
        int signal = sigtimedwait(&signals->held, NULL, &frame);
        if (signal > 0 && signal != CLI_WAKE && signals->caught != 0)
            _exit(128 + signal);
        pthread_mutex_lock(&crew->lock);
        if (signal > 0 && signal != CLI_WAKE) {
            signals->caught = signal;
            stop(crew);
        }
        bool is_done = crew->working == 0;
        seeds.done = seeds.rows = campaign->tally.seeds;
        pthread_mutex_unlock(&crew->lock);
        if (is_done)
            break;
        cli_progress_show(&display, &seeds, cli_now_ms() - begin_ms);
    }
    cli_progress_end(&display);
}

static bool keep_breach(struct cli_campaign *campaign, const struct cli_breach *breach)
{
    if (campaign->breach_count == campaign->breach_capacity) {
        size_t capacity = campaign->breach_capacity == 0 ? 4 : 2 * campaign->breach_capacity;
        struct cli_breach *larger = realloc(campaign->breaches, capacity * sizeof *larger);
        if (larger == NULL)
            return false;
        campaign->breaches = larger;
        campaign->breach_capacity = capacity;
    }
    campaign->breaches[campaign->breach_count++] = *breach;
    return true;
}
