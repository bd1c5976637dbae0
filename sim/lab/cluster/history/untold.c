/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Effects that the history has no line for, because their author was killed before it got the outcome, or
 * never got it. For rows, the tables that were read back show them: such a row counts as stored from its
 * request on, so that it is not counted before it is stored. For counters, each read shows them, if it finds
 * more than is known. */
#include <stdlib.h>
#include <string.h>

#include "history.h"
#include "kernel/grow.h"

struct untold_row {
    uint32_t key;
    bool is_done; /* the history has it, or it is stored by now */
    int64_t bucket, row;
};

struct lab_untold {
    struct untold_row *rows; /* sorted when all are known */
    size_t count, capacity;
};

static int compare(const void *a, const void *b)
{
    const struct untold_row *one = a, *other = b;
    if (one->key != other->key)
        return one->key < other->key ? -1 : 1;
    if (one->row != other->row)
        return one->row < other->row ? -1 : 1;
    return (one->bucket > other->bucket) - (one->bucket < other->bucket);
}

static struct untold_row *find(const struct lab_untold *untold, uint64_t key, int64_t bucket, int64_t row)
{
    const struct untold_row wanted = {.key = (uint32_t)key, .bucket = bucket, .row = row};
    return untold->count == 0 ? NULL : bsearch(&wanted, untold->rows, untold->count, sizeof wanted, compare);
}

static bool take_row(void *context, const struct lab_history_line *line, const struct lab_tables_line *found,
                     struct sim_error *error)
{
    struct lab_untold *untold = context;
    (void)line;
    if (found->kind != LAB_TABLES_ROW || found->key < 0 || found->key > UINT32_MAX)
        return true; /* the reader of all tables reports the error */
    if (!sim_grow(&untold->rows, &untold->capacity, untold->count + 1, sizeof *untold->rows))
        return sim_fail_memory(error);
    untold->rows[untold->count++] = (struct untold_row){
        .key = (uint32_t)found->key, .bucket = found->numbers[0], .row = found->numbers[1]};
    return true;
}

/* Handles "row N is stored in bucket B ...". */
static void mark_told(struct lab_untold *untold, const struct lab_history_line *line)
{
    const char *at = line->text;
    int64_t row, bucket;
    if (!line->has_key || !lab_history_word(&at, "row") || !lab_history_number(&at, &row) ||
        strncmp(at, "is stored in bucket ", 20) != 0)
        return;
    at += 20;
    struct untold_row *found = lab_history_number(&at, &bucket) ? find(untold, line->key, bucket, row) : NULL;
    if (found != NULL)
        found->is_done = true;
}

bool lab_untold_find(const char *const *paths, size_t count, const char *tables, struct lab_untold **out,
                     struct sim_error *error)
{
    struct lab_untold *untold = *out = calloc(1, sizeof *untold);
    struct lab_history *history = NULL;
    const struct lab_history_line *line;
    if (untold == NULL)
        return sim_fail_memory(error);
    bool ok = lab_tables_each(tables, take_row, untold, error);
    if (untold->count > 0)
        qsort(untold->rows, untold->count, sizeof *untold->rows, compare);
    ok = ok && lab_history_open(paths, count, &history, error);
    while (ok && lab_history_next(history, &line, error))
        mark_told(untold, line);
    lab_history_close(history);
    return ok && error->class == SIM_ERROR_NONE;
}

void lab_untold_destroy(struct lab_untold *untold)
{
    if (untold != NULL)
        free(untold->rows);
    free(untold);
}

void lab_untold_asked(struct lab_cluster_run *run, const struct bk_action *action)
{
    const struct lab_replay *replay = run->replay;
    if (action->kind != BK_ACT_PUT_ROW || !replay->is_observed || replay->untold == NULL)
        return;
    int64_t number = (int64_t)action->row.sequence;
    struct untold_row *found = find(replay->untold, action->key, action->bucket, number);
    if (found == NULL || found->is_done)
        return;
    found->is_done = true;
    lab_replay_store(run, (uint32_t)action->key, action->bucket, action->row.sequence, action->row.time_ns,
                     (int64_t)action->row.id, CASS_EVERY_REPLICA);
}

/* Returns whether an agent that is up may still get the outcome. */
static bool is_under_way(const struct lab_cluster_run *run, const struct lab_increment *increment)
{
    for (uint32_t i = 0; i < run->agent_count; i++) {
        const struct lab_host_agent *agent = &run->agents[i];
        for (uint32_t j = 0; agent->is_up && j < agent->operations_met; j++) {
            const struct lab_host_operation *operation = &agent->operations[j];
            if (operation->is_active && operation->outstanding > 0 &&
                operation->action == BK_ACT_ADD_COUNTER && operation->row == increment->row &&
                operation->counter == increment->counter)
                return true;
        }
    }
    return false;
}

int64_t lab_untold_increments(struct lab_cluster_run *run, uint64_t counter, int64_t total)
{
    int64_t missing = total - cass_counter_total(run->cluster, counter);
    for (int pass = 0; pass < 2 && missing > 0; pass++) {
        for (size_t i = 0; i < run->oracles.increments.capacity && missing > 0; i++) {
            const struct lab_increment *increment = &run->oracles.increments.slots[i];
            int64_t amount = (int64_t)increment->amount;
            if (!increment->is_used || increment->counter != counter || increment->applied > 0 ||
                amount > missing || (pass == 0 && is_under_way(run, increment)))
                continue;
            cass_record_addition(run->cluster, counter, increment->row, amount);
            missing -= amount;
        }
    }
    return missing;
}
