/* SPDX-License-Identifier: GPL-3.0-or-later */
/* available: a row that arrives while everything has been healthy for a grace period is acknowledged within
 * the bound of its protocol; and every operation ends, with or without faults. The bound is the sum of the
 * steps that the protocol takes before the acknowledgement, each with all its retries (docs/oracles.md has
 * the formula). An operation that overlaps a fault may be refused, but only after all its retries. An
 * operation hangs if it has not ended ten minutes after the end of the run, or if its agent has forgotten it,
 * so that it can never continue. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cluster_run.h"
#include "history.h"
#include "idgen.h"
#include "kernel/grow.h"
#include "kernel/time.h"
#include "oracles.h"

/* The steps of an update for which agents contend: each lost update costs a round trip and a wait. Of 178,000
 * such rows in 4,500 random clusters, the slowest took 4.0 steps, and with one agent 1.1 (docs/oracles.md);
 * this is three times as many. */
#define STEPS_OF_CONTEST 12
#define STEPS_ALONE      4
/* The greatest wait for a batch, in turns per client. A turn is the duration of a lock, plus a request with
 * all its tries, plus the base of the wait. Of 552,366 batches in 150 random clusters, the slowest took 2.4
 * turns (docs/oracles.md). */
#define TURNS_OF_A_CLIENT 12
/* With an LWT lock, taking the lock, the read and the store take 24 trips through the network. If a lease is
 * not much longer than that, its success depends on chance, and there is no bound. */
#define TRIPS_OF_A_LEASE 64

/* Returns the greatest duration of an action with all its retries. */
static int64_t step_ns(const struct lab_cluster_run *run)
{
    const struct lab_agents *agents = &run->scenario->agents;
    int64_t tries = (int64_t)agents->retries + 1;
    return lab_times(tries, lab_until(agents->timeout_ns, lab_times(tries, run->config.retry_backoff_ns)));
}

bool lab_contends_for_rows(const struct lab_cluster_run *run)
{
    return lab_takes_numbers(run) || run->config.coordination == BK_GUARDED;
}

/* Returns the number of actions before a row is acknowledged: the put, the reads that it needs, and contended
 * updates: a grant, a lease of numbers or the roll at a line, for which agents contend, or a single number,
 * for which all rows of the key contend. */
static int64_t steps_before(const struct lab_cluster_run *run)
{
    if (lab_contends_for_rows(run) || run->config.strategy.max_age_ns != 0)
        return run->agent_count > 1 || run->config.source == BK_SOURCE_LWT ? STEPS_OF_CONTEST : STEPS_ALONE;
    return lab_keeps_state(run) || run->config.source == BK_SOURCE_COUNTER ? 2 : 1;
}

int64_t lab_available_bound_ns(const struct lab_cluster_run *run)
{
    return lab_times(steps_before(run), step_ns(run));
}

/* Returns whether everything was healthy during the operation and for the grace period before it. Operations
 * that failed earlier, and operations that were parked because of them, have ended by then. */
static bool is_judged(const struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    int64_t spent_ns = sim_queue_now(&run->queue) - operation->begun_ns;
    int64_t grace_ns = lab_until(run->oracles.lag_ns, lab_times(2, step_ns(run)));
    int64_t well_ns = lab_health_well_ns(run);
    return well_ns >= grace_ns && well_ns - grace_ns >= spent_ns;
}

void lab_available_late(struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    int64_t now_ns = sim_queue_now(&run->queue), spent_ns = now_ns - operation->begun_ns;
    if (!is_judged(run, operation))
        return;
    lab_violate_within(run, LAB_ORACLE_AVAILABLE, operation->key, 1, operation->begun_ns, now_ns,
                       "row %" PRIu64 " was acknowledged after %.3f s without a fault; the bound is %.3f s",
                       operation->row, (double)spent_ns / 1e9, (double)run->oracles.available_ns / 1e9);
}

void lab_available_failed(struct lab_cluster_run *run, const struct lab_host_operation *operation,
                          bool is_refused)
{
    int64_t now_ns = sim_queue_now(&run->queue);
    if (!is_judged(run, operation))
        return;
    lab_violate_within(run, LAB_ORACLE_AVAILABLE, operation->key, 1, operation->begun_ns, now_ns,
                       "row %" PRIu64 " was %s after %.3f s without a fault", operation->row,
                       is_refused ? "refused" : "given up", (double)(now_ns - operation->begun_ns) / 1e9);
}

/* Whether the operation waits for an answer that another one of its agent requests for the key. */
static bool is_parked(const struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    bool is_guarded = run->config.coordination == BK_GUARDED;
    if (operation->outstanding > 0)
        return false;
    if (operation->action == BK_ACT_DONE) /* it has made no request yet */
        return is_guarded || run->config.source == BK_SOURCE_LEASE || run->config.source == BK_SOURCE_MEMORY;
    return is_guarded && operation->action == BK_ACT_READ_COUNTER &&
           operation->outcome.kind == BK_OUTCOME_APPLIED;
}

void lab_available_left(struct lab_cluster_run *run, const struct lab_host_operation *operation)
{
    int64_t now_ns = sim_queue_now(&run->queue), spent_ns = now_ns - operation->begun_ns;
    bool is_forgotten = run->replay != NULL ? run->replay->is_exhausted : sim_queue_count(&run->queue) == 0;
    /* All retries of a few steps may take longer than the drain of a run, and so may those of several
     * operations for which a parked one waited in turn. */
    bool is_early = is_parked(run, operation) || spent_ns < LAB_DRAIN_NS ||
                    now_ns - operation->turn_ns <= lab_times(8, step_ns(run));
    if (!is_forgotten && is_early)
        return;
    lab_violate_within(run, LAB_ORACLE_AVAILABLE, operation->key, 1, operation->begun_ns, now_ns,
                       "%s has not ended %.0f s after it began%s",
                       operation->is_read ? "a read" : "a row's write", (double)spent_ns / 1e9,
                       is_forgotten ? ", and no event of it is pending" : "");
}

/* --- Identifiers. */

/* If everything was healthy while the client waited, and for the grace period before, the batch must have
 * come within a few turns per client. */
void lab_available_served(struct lab_cluster_run *run, uint32_t number)
{
    const struct lab_id_client *client = &run->idgen->clients[number];
    const struct lab_agents *agents = &run->scenario->agents;
    const struct bk_idgen_config *config = &run->idgen->config;
    int64_t step_ns = lab_times((int64_t)agents->retries + 1, agents->timeout_ns);
    int64_t turn_ns = lab_until(lab_until(config->lock_lasts_ns, step_ns), config->backoff_base_ns);
    int64_t grace_ns = lab_until(run->oracles.lag_ns, turn_ns);
    int64_t well_ns = lab_health_well_ns(run), spent_ns = sim_queue_now(&run->queue) - client->leased_ns;
    int64_t bound_ns = lab_times(TURNS_OF_A_CLIENT * (int64_t)run->agent_count, turn_ns);
    if (config->lease_ns < lab_times(TRIPS_OF_A_LEASE, lab_longest_trip_ns(run->scenario)))
        return;
    if (!client->is_leasing || config->backoff != BK_IDGEN_RANDOM_TIMES || spent_ns > well_ns - grace_ns)
        return;
    if (spent_ns > bound_ns)
        lab_violate_bare(run, LAB_ORACLE_AVAILABLE, LAB_NO_KEY,
                         "client %" PRIu32
                         " waits %.3f s for an identifier without a fault; the bound is %.3f s",
                         number, (double)spent_ns / 1e9, (double)bound_ns / 1e9);
}

void lab_available_waits(struct lab_cluster_run *run, uint32_t number)
{
    const struct lab_id_client *client = &run->idgen->clients[number];
    if (client->is_leasing && !client->is_asking && bk_idgen_deadline(&client->idgen) == INT64_MAX)
        lab_violate_bare(run, LAB_ORACLE_AVAILABLE, LAB_NO_KEY,
                         "client %" PRIu32
                         " waits for an identifier without a request or a time for the next attempt",
                         number);
}

/* --- unique: no identifier is given twice. The identifiers that were handed out are a list of intervals per
 * stripe. Batches are consecutive, so the lists grow only with lost identifiers. */

/* Returns the first span that does not end before `first`. */
static size_t find(const struct lab_id_spans *spans, int64_t first)
{
    size_t low = 0, high = spans->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (spans->items[middle].end < first)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool replace(struct lab_id_spans *spans, size_t at, size_t count, struct lab_id_span span)
{
    if (!sim_grow(&spans->items, &spans->capacity, spans->count + (count == 0), sizeof *spans->items))
        return false;
    struct lab_id_span *items = spans->items;
    size_t behind = spans->count - at - count;
    if (count != 1 && behind > 0)
        memmove(&items[at + 1], &items[at + count], behind * sizeof *items);
    items[at] = span;
    spans->count = spans->count + 1 - count;
    return true;
}

bool lab_id_spans_add(struct lab_id_spans *spans, int64_t first, int64_t end, uint64_t *twice)
{
    struct lab_id_span united = {first, end};
    size_t at = find(spans, first), count = 0;
    *twice = 0;
    for (; at + count < spans->count && spans->items[at + count].first <= end; count++) {
        const struct lab_id_span *met = &spans->items[at + count];
        int64_t low = met->first > first ? met->first : first, high = met->end < end ? met->end : end;
        *twice += (uint64_t)(high - low); /* 0 for spans that only adjoin */
        united.first = met->first < united.first ? met->first : united.first;
        united.end = met->end > united.end ? met->end : united.end;
    }
    return replace(spans, at, count, united);
}

bool lab_unique_begin(struct lab_cluster_run *run)
{
    run->oracles.id_stripes = run->strategy->settings.idgen.stripes;
    run->oracles.id_spans = calloc(run->oracles.id_stripes, sizeof *run->oracles.id_spans);
    return run->oracles.id_spans != NULL;
}

void lab_unique_end(struct lab_oracles *oracles)
{
    for (uint32_t i = 0; oracles->id_spans != NULL && i < oracles->id_stripes; i++)
        free(oracles->id_spans[i].items);
    free(oracles->id_spans);
}

void lab_unique_given(struct lab_cluster_run *run, uint32_t client, int64_t first, int64_t last)
{
    int64_t stripes = run->oracles.id_stripes;
    uint64_t twice;
    if (!lab_id_spans_add(&run->oracles.id_spans[(first - 1) % stripes], (first - 1) / stripes,
                          (last - 1) / stripes + 1, &twice))
        run->out_of_memory = true;
    else if (twice > 0)
        lab_violate(run, LAB_ORACLE_UNIQUE, LAB_NO_KEY, twice,
                    "client %u hands out identifiers from %lld to %lld; %llu of them were handed out before",
                    client, (long long)first, (long long)last, (unsigned long long)twice);
}
