/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs finish on several threads; their outcomes are stored every half second, in one transaction. A batch
 * that cannot be stored waits for the next: the tune itself needs none of them. */
#define _POSIX_C_SOURCE 200809L
#include "cli/tune_memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/execute.h"
#include "cli/text.h"
#include "kernel/digest.h"
#include "lab/context.h"
#include "tune/contest.h"

#define BATCH_MS 500

static bool identify(struct store_work *work, const struct lab_scenario *scenario, const char *path,
                     const struct lab_tune *terms, struct sim_error *error)
{
    /* Outcomes are stored in the machine's representation, so outcomes of another kind of machine must not be
     * used. */
    const struct {
        double order;
        uint64_t size;
    } layout = {1, sizeof(struct tune_seen)};
    uint64_t sources;
    if (!lab_sources(scenario, &sources, error))
        return false;
    uint64_t options = sim_digest_chain(terms->seeds, 0);
    options = cli_add_bytes(options, &terms->risk, sizeof terms->risk);
    options = cli_add_bytes(options, &terms->share, sizeof terms->share);
    *work = cli_work_of(scenario, path, options);
    work->identity = cli_add_bytes(work->identity, &layout, sizeof layout);
    work->identity = sim_digest_chain(work->identity, sources);
    return true;
}

static const struct store_outcome *find(const struct cli_tune_memory *memory, uint64_t job)
{
    for (size_t i = 0; i < memory->known_count; i++) {
        if (memory->known[i].job == job)
            return &memory->known[i];
    }
    return NULL;
}

static bool recall(void *context, uint64_t job, void *out, size_t size)
{
    const struct store_outcome *known = find(context, job);
    if (known == NULL || known->size != size)
        return false;
    memcpy(out, known->bytes, size);
    return true;
}

static bool keep_batch(struct cli_tune_memory *memory, struct sim_error *error)
{
    const guint count = memory->batch->len;
    bool is_fine =
        count == 0 || store_outcomes_keep(memory->store, &memory->work,
                                          (struct store_outcome *)(void *)memory->batch->data, count, error);
    if (is_fine) {
        memory->kept_count += count;
        g_array_set_size(memory->batch, 0);
    }
    memory->batch_ms = cli_now_ms();
    return is_fine;
}

/* An outcome may be stored already, if it was run together with others that were not. */
static void keep(void *context, uint64_t job, const void *bytes, size_t size)
{
    struct cli_tune_memory *memory = context;
    struct sim_error ignored;
    if (find(memory, job) != NULL)
        return;
    const struct store_outcome outcome = {job, size, g_memdup2(bytes, size)};
    pthread_mutex_lock(&memory->lock);
    g_array_append_val(memory->batch, outcome);
    if (cli_now_ms() - memory->batch_ms >= BATCH_MS)
        keep_batch(memory, &ignored);
    pthread_mutex_unlock(&memory->lock);
}

static void clear_outcome(gpointer outcome)
{
    free(((struct store_outcome *)outcome)->bytes);
}

bool cli_tune_memory_open(struct cli_tune_memory *memory, const char *database,
                          const struct lab_scenario *scenario, const char *path, const struct lab_tune *terms,
                          struct sim_error *error)
{
    *memory = (struct cli_tune_memory){.memory = {memory, recall, keep},
                                       .database = database,
                                       .lock = PTHREAD_MUTEX_INITIALIZER,
                                       .batch = g_array_new(FALSE, FALSE, sizeof(struct store_outcome)),
                                       .batch_ms = cli_now_ms()};
    g_array_set_clear_func(memory->batch, clear_outcome);
    return identify(&memory->work, scenario, path, terms, error) &&
           store_open(database, STORE_WRITE, &memory->store, error) &&
           store_outcomes_load(memory->store, &memory->work, &memory->known, &memory->known_count, error);
}

void cli_tune_memory_close(struct cli_tune_memory *memory)
{
    if (memory->batch != NULL)
        g_array_free(g_steal_pointer(&memory->batch), TRUE);
    store_outcomes_free(memory->known, memory->known_count);
    store_close(memory->store);
    memory->known = NULL;
    memory->known_count = 0;
    memory->store = NULL;
}

bool cli_tune_memory_stop(struct cli_tune_memory *memory, struct sim_error *error)
{
    struct sim_error why = {0};
    char kept[CLI_NUMBER_SIZE], lost[CLI_NUMBER_SIZE];
    bool is_fine = keep_batch(memory, &why);
    size_t count = memory->known_count + memory->kept_count;
    cli_grouped(count, kept);
    cli_grouped(memory->batch->len, lost);
    if (!is_fine)
        return sim_fail(error, why.class, "interrupted; the last %s runs could not be kept: %s", lost,
                        why.text);
    if (count == 0)
        return sim_fail(error, SIM_ERROR_CHECK, "interrupted; nothing was stored");
    return sim_fail(error, SIM_ERROR_CHECK,
                    "interrupted; %s runs are in %s, and the same command resumes with the others", kept,
                    memory->database);
}

void cli_tune_memory_forget(struct cli_tune_memory *memory)
{
    struct sim_error ignored;
    g_array_set_size(memory->batch, 0);
    store_outcomes_free(memory->known, memory->known_count);
    memory->known = NULL;
    memory->known_count = memory->kept_count = 0;
    store_outcomes_forget(memory->store, &memory->work, &ignored);
}
