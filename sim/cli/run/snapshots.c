/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stores states of a run in the database, so that the run can be resumed after a kill. */
#define _POSIX_C_SOURCE 200809L
#include "cli/snapshots.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/clock.h"
#include "cli/text.h"
#include "lab/quantity.h"

/* The time between two states is at least this multiple of the time to write one. */
#define WRITES_SHARE 10

#define DATABASE_NAME_MAX 256
#define DATABASE_SIZE     (4 * DATABASE_NAME_MAX + 3) /* quoted */

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int64_t elapsed(const struct cli_snapshots *snapshots)
{
    return snapshots->before_ms + cli_passed_ms(snapshots->begin_ms);
}

/* Ensures that the run has a number in the database. */
static bool need_run(struct cli_snapshots *snapshots, struct sim_error *error)
{
    const struct lab_scenario *scenario = snapshots->scenario;
    struct store_unfinished *unfinished = &snapshots->unfinished;
    if (snapshots->store == NULL && !store_open(snapshots->database, STORE_WRITE, &snapshots->store, error))
        return false;
    if (unfinished->run != 0)
        return true;
    if (!lab_snapshot_sources(scenario, &unfinished->sources, error))
        return false;
    unfinished->scenario_name = scenario->name;
    unfinished->seed = scenario->seed;
    unfinished->created_unix_s = (int64_t)time(NULL);
    unfinished->elapsed_ms = elapsed(snapshots);
    unfinished->version = (char *)(uintptr_t)BUCKETLAB_VERSION;
    unfinished->scenario_path = (char *)(uintptr_t)snapshots->path;
    unfinished->scenario_text = scenario->text;
    unfinished->overrides = scenario->overrides;
    snapshots->is_ours = store_unfinished_begin(snapshots->store, unfinished, error);
    return snapshots->is_ours;
}

static bool keep(struct cli_snapshots *snapshots, uint32_t part, uint32_t parts, const unsigned char *data,
                 size_t size, struct sim_error *error)
{
    if (data == NULL)
        return sim_fail_memory(error);
    if (!need_run(snapshots, error))
        return false;
    snapshots->unfinished.elapsed_ms = elapsed(snapshots);
    return store_snapshot_put(snapshots->store, &snapshots->unfinished, part, parts, data, size, error);
}

static void complain(struct cli_snapshots *snapshots, const char *what, const char *text)
{
    if (!snapshots->is_quiet && !snapshots->has_complained) {
        fputs("warning: ", stderr);
        cli_print_text(stderr, what);
        fputs(": ", stderr);
        cli_print_text(stderr, text);
        fputc('\n', stderr);
    }
    snapshots->has_complained = true;
}

/* Called from the threads of the run. An error is reported once, and the run continues without this state. */
static void put(void *context, uint32_t part, uint32_t parts, const unsigned char *data, size_t size)
{
    struct cli_snapshots *snapshots = context;
    struct sim_error error = {SIM_ERROR_NONE, ""};
    pthread_mutex_lock(&snapshots->lock);
    if (snapshots->taken.class != SIM_ERROR_NONE) {
        pthread_mutex_unlock(&snapshots->lock);
        return;
    }
    int64_t begin_us = now_us();
    bool is_kept = keep(snapshots, part, parts, data, size, &error);
    int64_t took_us = now_us() - begin_us;
    snapshots->put_us += took_us > 0 ? took_us : 0;
    snapshots->was_put = true;
    if (is_kept) {
        snapshots->put_count++;
        snapshots->lost_parts &= ~(UINT64_C(1) << part % 64);
        if (snapshots->lost_parts == 0)
            snapshots->lost.class = SIM_ERROR_NONE;
    } else if (error.class == SIM_ERROR_CHECK) {
        snapshots->taken = error;
        atomic_store_explicit(&snapshots->progress->stop, true, memory_order_relaxed);
    } else {
        snapshots->lost = error;
        snapshots->lost_parts |= UINT64_C(1) << part % 64;
        if (!lab_is_stopped(snapshots->progress))
            complain(snapshots, "the run continues, but its state could not be stored", error.text);
    }
    pthread_mutex_unlock(&snapshots->lock);
}

void cli_snapshots_init(struct cli_snapshots *snapshots, const char *database,
                        const struct lab_scenario *scenario, const char *path, int64_t every_ms,
                        bool is_quiet)
{
    memset(snapshots, 0, sizeof *snapshots);
    snapshots->database = database;
    snapshots->scenario = scenario;
    snapshots->path = path;
    snapshots->every_ms = every_ms;
    snapshots->is_quiet = is_quiet;
    snapshots->lab.put = put;
    snapshots->lab.context = snapshots;
    pthread_mutex_init(&snapshots->lock, NULL);
}

/* Marks the run as not in progress. Returns false when it began in this process and has no state; it is then
 * deleted. */
static bool leave(struct cli_snapshots *snapshots)
{
    const struct store_unfinished *unfinished = &snapshots->unfinished;
    bool is_kept = snapshots->put_count > 0 || snapshots->is_resumed;
    struct sim_error ignored;
    if (!snapshots->is_ours)
        return is_kept;
    snapshots->is_ours = false;
    if (snapshots->store == NULL &&
        !store_open(snapshots->database, STORE_WRITE, &snapshots->store, &ignored))
        return is_kept;
    if (is_kept)
        store_unfinished_stop(snapshots->store, unfinished, &ignored);
    else
        store_unfinished_drop(snapshots->store, unfinished, &ignored);
    return is_kept;
}

void cli_snapshots_free(struct cli_snapshots *snapshots)
{
    if (snapshots->database == NULL)
        return;
    if (snapshots->is_ours && snapshots->taken.class == SIM_ERROR_NONE)
        leave(snapshots);
    store_close(snapshots->store);
    store_snapshots_free(snapshots->states, snapshots->state_count);
    free(snapshots->kept);
    pthread_mutex_destroy(&snapshots->lock);
    memset(snapshots, 0, sizeof *snapshots);
}

bool cli_snapshots_open(struct cli_snapshots *snapshots, struct sim_error *error)
{
    snapshots->begin_ms = cli_now_ms();
    snapshots->next_ms = snapshots->every_ms;
    /* Each part stores a state when it begins, so that parts that end before the first state is due have one
     * too. */
    snapshots->lab.wish = snapshots->every_ms > 0;
    return snapshots->every_ms == 0 || need_run(snapshots, error);
}

static bool take_states(struct cli_snapshots *snapshots, struct sim_error *error)
{
    size_t count = 0;
    snapshots->kept = calloc(snapshots->state_count + 1, sizeof *snapshots->kept);
    if (snapshots->kept == NULL)
        return sim_fail_memory(error);
    for (size_t i = 0; i < snapshots->state_count; i++) {
        const struct store_snapshot *state = &snapshots->states[i];
        struct lab_kept kept = {state->part, state->data, state->size};
        struct sim_error why;
        if (lab_snapshot_check(snapshots->scenario, &kept, &why)) {
            snapshots->kept[count++] = kept;
        } else if (why.class == SIM_ERROR_ENVIRONMENT) {
            complain(snapshots, "a part of the run starts again", why.text);
        } else {
            return sim_fail(error, why.class, "run %" PRId64 ": %s", snapshots->unfinished.run, why.text);
        }
    }
    snapshots->lab.kept = snapshots->kept;
    snapshots->lab.kept_count = count;
    return true;
}

/* Changes the error's class: that another process has resumed the run is not a failed check. */
static bool lose(struct sim_error *error)
{
    if (error->class == SIM_ERROR_CHECK)
        error->class = SIM_ERROR_ENVIRONMENT;
    return false;
}

bool cli_snapshots_resume(struct cli_snapshots *snapshots, const struct store_unfinished *unfinished,
                          struct sim_error *error)
{
    snapshots->unfinished = *unfinished;
    snapshots->before_ms = unfinished->elapsed_ms;
    /* Done before its states are read: another process that still works on the run must not store a state
     * meanwhile, which would replace one that this process has read. */
    snapshots->is_resumed = true;
    snapshots->is_ours =
        store_open(snapshots->database, STORE_WRITE, &snapshots->store, error) &&
        (store_unfinished_take(snapshots->store, &snapshots->unfinished, error) || lose(error));
    return snapshots->is_ours &&
           store_snapshots_load(snapshots->store, unfinished->run, &snapshots->states,
                                &snapshots->state_count, error) &&
           take_states(snapshots, error);
}

/* The next states are due when the interval has passed since the last of these was written. The interval
 * grows so that writing takes a tenth of the time at most; otherwise a state that takes longer to write than
 * the interval would leave no time for the run. */
static void schedule(struct cli_snapshots *snapshots, int64_t elapsed_ms)
{
    int64_t least_ms = (WRITES_SHARE * snapshots->put_us + 999) / 1000;
    bool is_longer = least_ms > snapshots->every_ms;
    snapshots->next_ms = elapsed_ms + (is_longer ? least_ms : snapshots->every_ms);
    snapshots->was_put = false;
    if (!is_longer || snapshots->is_stretched || lab_is_stopped(snapshots->progress))
        return;
    snapshots->is_stretched = true;
    char took[CLI_NUMBER_SIZE], every[CLI_NUMBER_SIZE], least[CLI_NUMBER_SIZE];
    lab_quantity_duration_text((snapshots->put_us + 999) / 1000 * 1000000, took, sizeof took);
    lab_quantity_duration_text(snapshots->every_ms * 1000000, every, sizeof every);
    lab_quantity_duration_text(least_ms * 1000000, least, sizeof least);
    if (!snapshots->is_quiet)
        fprintf(
            stderr,
            "warning: a state of the run takes %s to write, so it is stored every %s instead of every %s\n",
            took, least, every);
}

void cli_snapshots_tick(struct cli_snapshots *snapshots, int64_t elapsed_ms)
{
    /* While a state is being written, nothing is due; do not wait for the lock, since signals must still be
     * handled. */
    if (snapshots->every_ms == 0 || pthread_mutex_trylock(&snapshots->lock) != 0)
        return;
    if (snapshots->was_put)
        schedule(snapshots, elapsed_ms);
    if (elapsed_ms >= snapshots->next_ms) {
        snapshots->next_ms = elapsed_ms + snapshots->every_ms;
        snapshots->put_us = 0;
        atomic_fetch_add_explicit(&snapshots->lab.wish, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&snapshots->lock);
}

void cli_snapshots_over(struct cli_snapshots *snapshots, int64_t *elapsed_ms)
{
    *elapsed_ms += snapshots->before_ms;
    snapshots->unfinished.elapsed_ms = *elapsed_ms;
    snapshots->progress = NULL;
}

/* The database's name for a shell, or FILE for one that is too long for a message. */
static void quote_database(const struct cli_snapshots *snapshots, char *out)
{
    strcpy(out, "FILE");
    if (strlen(snapshots->database) <= DATABASE_NAME_MAX)
        cli_quote(snapshots->database, out);
}

bool cli_snapshots_unstored(const struct cli_snapshots *snapshots, struct sim_error *error)
{
    char database[DATABASE_SIZE];
    if (snapshots->unfinished.run == 0 || snapshots->taken.class != SIM_ERROR_NONE ||
        (snapshots->put_count == 0 && !snapshots->is_resumed))
        return false;
    const struct sim_error why = *error;
    quote_database(snapshots, database);
    return sim_fail(error, why.class,
                    "%s; the result was not stored; bucketlab run --resume %" PRId64
                    " --db %s resumes from the last state that was kept",
                    why.text, snapshots->unfinished.run, database);
}

bool cli_snapshots_stopped(struct cli_snapshots *snapshots, struct sim_error *error)
{
    char database[DATABASE_SIZE];
    int64_t run = snapshots->unfinished.run;
    bool is_kept = leave(snapshots);
    if (snapshots->taken.class != SIM_ERROR_NONE) {
        *error = snapshots->taken;
        return lose(error);
    }
    if (!is_kept && snapshots->lost.class != SIM_ERROR_NONE)
        return sim_fail(error, snapshots->lost.class, "interrupted; nothing was stored: %s",
                        snapshots->lost.text);
    if (!is_kept)
        return sim_fail(error, SIM_ERROR_CHECK, "interrupted; nothing was stored");
    quote_database(snapshots, database);
    if (snapshots->lost.class != SIM_ERROR_NONE)
        return sim_fail(error, snapshots->lost.class,
                        "interrupted; the newest state could not be kept (%s); bucketlab run --resume "
                        "%" PRId64 " --db %s resumes from what was kept before",
                        snapshots->lost.text, run, database);
    return sim_fail(error, SIM_ERROR_CHECK,
                    "interrupted; bucketlab run --resume %" PRId64 " --db %s resumes from here", run,
                    database);
}

bool cli_snapshots_store(struct cli_snapshots *snapshots, struct store *store, struct store_run_info *info,
                         const struct lab_result *result, struct sim_error *error)
{
    if (snapshots->unfinished.run == 0)
        return store_save_run(store, info, result, error);
    store_close(snapshots->store);
    snapshots->store = NULL;
    bool is_stored = store_unfinished_end(store, &snapshots->unfinished, info, result, error);
    snapshots->is_ours = !is_stored;
    return is_stored || lose(error);
}
