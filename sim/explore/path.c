/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints a path: for people, and as a history with its scenario, which `bucketlab judge`
 * judges by the lab's own oracles. In come the settings and the steps of a path; they are only read. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "explore/explore.h"
#include "lab/cluster_engine.h"
#include "lab/setting.h"

bool explore_find_protocol(const char *name, const char *counter, struct explore_config *config)
{
    for (unsigned kind = BK_KIND_COUNT; kind <= BK_KIND_WEIGHTED; kind++) {
        unsigned protocols = kind == BK_KIND_COUNT ? BK_SOURCE_MEMORY + 1 : BK_GUARDED + 1;
        for (unsigned p = 0; p < protocols && kind != BK_KIND_HASH; p++) {
            if (strcmp(lab_protocol_name((enum bk_kind)kind, p), name) != 0)
                continue;
            struct bk_strategy strategy;
            if (kind == BK_KIND_COUNT)
                bk_strategy_count(config->threshold, &strategy);
            else if (kind == BK_KIND_WEIGHTED)
                bk_strategy_weighted(2, config->threshold, &strategy);
            else
                bk_strategy_probabilistic(1, config->threshold, &strategy);
            struct bk_agent_config agent = bk_agent_config_default(&strategy);
            agent.coordination = kind == BK_KIND_COUNT ? BK_SINGLE : (enum bk_coordination)p;
            agent.source = kind == BK_KIND_COUNT ? (enum bk_source)p : BK_SOURCE_EXTERNAL;
            agent.counter = agent.coordination == BK_GUARDED ? BK_COUNTER_NATIVE : BK_COUNTER_RMW;
            config->agent = agent;
            const struct lab_choice *word = lab_setting_find(BK_KIND_PROBABILISTIC, "counter")->words;
            while (counter != NULL && word->name != NULL && strcmp(word->name, counter) != 0)
                word++;
            if (counter != NULL && word->name != NULL)
                config->agent.counter = (enum bk_counter)word->value;
            return counter == NULL || word->name != NULL;
        }
    }
    return false;
}

bool explore_has_request(enum explore_move_kind kind)
{
    return kind == EXPLORE_EFFECT || kind == EXPLORE_LATE_EFFECT || kind == EXPLORE_ANSWER ||
           kind == EXPLORE_GIVE_UP || kind == EXPLORE_REFUSE;
}

bool explore_is_of_agent(const struct explore_step *step)
{
    return step->kind != EXPLORE_TICK && step->kind != EXPLORE_LATE_EFFECT &&
           step->kind != EXPLORE_STATE_GONE;
}

/* --- For people. */
static void print_time(FILE *out, int64_t time_ns)
{
    if (time_ns == INT64_MIN)
        fprintf(out, "-inf");
    else if (time_ns % EXPLORE_TICK_NS == 0 && time_ns != 0)
        fprintf(out, "%" PRId64 " s", (time_ns - EXPLORE_FIRST_NS) / EXPLORE_TICK_NS);
    else
        fprintf(out, "%" PRId64, time_ns);
}

static void print_columns(FILE *out, const struct explore_config *config, uint32_t mask,
                          const int64_t *columns)
{
    static const char *const guarded[] = {"bucket", "before", "start", "until"};
    static const char *const counted[] = {"bucket", "counter", "last change", "next change"};
    bool is_guarded = config->agent.coordination == BK_GUARDED, is_first = true;
    for (unsigned i = 0; i < BK_COLUMNS; i++) {
        bool is_time = is_guarded ? i > 0 : i > 1;
        if ((mask >> i & 1) == 0 || (is_time && columns[i] == 0))
            continue;
        fprintf(out, "%s%s ", is_first ? "" : ", ", (is_guarded ? guarded : counted)[i]);
        if (is_time)
            print_time(out, columns[i]);
        else
            fprintf(out, "%" PRId64, columns[i]);
        is_first = false;
    }
}

/* What the request does. */
static void print_request(FILE *out, const struct explore_config *config, const struct explore_step *step)
{
    static const char *const texts[] = {[BK_ACT_READ_STATE] = "the state is read%s",
                                        [BK_ACT_WRITE_STATE] = "the state is written: ",
                                        [BK_ACT_CAS_STATE] = "the state is updated, if it is as known: ",
                                        [BK_ACT_ADD_COUNTER] = "%" PRId64 " is added to the counter",
                                        [BK_ACT_READ_COUNTER] = "the counter is read",
                                        [BK_ACT_READ_START] = "the start of bucket %" PRId64 " is read",
                                        [BK_ACT_WRITE_START] = "the start of bucket %" PRId64 " is stored",
                                        [BK_ACT_CAS_LOCK] = "the lock is %s",
                                        [BK_ACT_COUNT_ROWS] = "the rows of bucket %" PRId64 " are counted",
                                        [BK_ACT_READ_ROWS] = "bucket %" PRId64 " is read"};
    const struct bk_action *action = &step->action;
    if (action->kind == BK_ACT_PUT_ROW)
        fprintf(out, "row %" PRIu64 " is put into bucket %" PRId64, action->row.sequence, action->bucket);
    else if (action->kind == BK_ACT_READ_STATE)
        fprintf(out, texts[action->kind], action->serial ? " at SERIAL" : "");
    else if (action->kind == BK_ACT_CAS_LOCK)
        fprintf(out, texts[action->kind], action->columns[BK_LOCK_OWNER] == 0 ? "released" : "requested");
    else
        fprintf(out, texts[action->kind],
                action->kind == BK_ACT_ADD_COUNTER ? action->amount
                : action->kind == BK_ACT_READ_ROWS ? action->step.bucket_high
                                                   : action->bucket);
    if (action->kind == BK_ACT_WRITE_STATE || action->kind == BK_ACT_CAS_STATE)
        print_columns(out, config, action->mask, action->columns);
}

/* What the store answers, if that says more than "done". */
static void print_answer(FILE *out, const struct explore_config *config, const struct explore_step *step)
{
    const struct bk_outcome *outcome = &step->outcome;
    bool is_state = step->action.kind == BK_ACT_READ_STATE || outcome->kind == BK_OUTCOME_NOT_APPLIED;
    if (outcome->kind == BK_OUTCOME_NOT_APPLIED)
        fprintf(out, "; not applied, it is ");
    else if (is_state)
        fprintf(out, ": ");
    if (is_state && step->action.kind == BK_ACT_CAS_LOCK)
        fprintf(out, "held");
    else if (is_state && outcome->mask == 0)
        fprintf(out, "none");
    else if (is_state)
        print_columns(out, config, outcome->mask, outcome->columns);
    else if (step->action.kind == BK_ACT_READ_COUNTER)
        fprintf(out, ": %" PRId64, outcome->counter);
    else if (step->action.kind == BK_ACT_READ_ROWS || step->action.kind == BK_ACT_COUNT_ROWS)
        fprintf(out, ": %" PRIu64 " rows", outcome->rows);
}

/* An answer that is heard at once is not told, unless the agent acknowledges a row then. */
static bool is_told(const struct explore_break *broken, uint32_t i)
{
    const struct explore_step *step = &broken->path[i], *before = i == 0 ? NULL : step - 1;
    if (step->kind != EXPLORE_ANSWER || step->acknowledged != 0)
        return true;
    return before == NULL || before->kind != EXPLORE_EFFECT || before->agent != step->agent ||
           before->operation != step->operation;
}

void explore_print_step(const struct explore_config *config, const struct explore_break *broken, uint32_t i,
                        FILE *out)
{
    static const char *const texts[] = {[EXPLORE_TICK] = "time passes",
                                        [EXPLORE_STATE_GONE] = "the state is lost",
                                        [EXPLORE_WRITE] = "takes row ",
                                        [EXPLORE_READ] = "begins to read all rows",
                                        [EXPLORE_EFFECT] = "",
                                        [EXPLORE_LATE_EFFECT] = "",
                                        [EXPLORE_ANSWER] = "hears that ",
                                        [EXPLORE_GIVE_UP] = "does not hear whether ",
                                        [EXPLORE_REFUSE] = "hears a refusal: ",
                                        [EXPLORE_WAKE] = "has waited long enough",
                                        [EXPLORE_DIES] = "crashes, and starts again with nothing known"};
    const struct explore_step *step = &broken->path[i];
    if (!is_told(broken, i))
        return;
    fputs(texts[step->kind], out);
    if (explore_has_request(step->kind))
        print_request(out, config, step);
    if (step->kind == EXPLORE_EFFECT || step->kind == EXPLORE_LATE_EFFECT)
        print_answer(out, config, step);
    if (step->kind == EXPLORE_LATE_EFFECT)
        fputs(" (late)", out);
    if (step->kind == EXPLORE_GIVE_UP && step->is_late)
        fputs("; that may still happen", out);
    for (unsigned r = 0; r < config->rows && step->kind == EXPLORE_ANSWER; r++)
        if (step->acknowledged >> r & 1)
            fprintf(out, r == step->number ? ", and acknowledges it" : ", and acknowledges row %u", r);
    if (step->kind != EXPLORE_WRITE)
        return;
    fprintf(out, "%u of time ", step->number);
    print_time(out, step->row.time_ns);
    fputs(bk_fires(&config->agent.strategy, &step->row) ? ", which fires" : "", out);
    if (step->offset_ns != 0)
        fprintf(out, " (its clock is a second %s)", step->offset_ns > 0 ? "ahead" : "behind");
}

void explore_print_path(const struct explore_config *config, const struct explore_break *broken, FILE *out)
{
    for (uint32_t i = 0; i < broken->steps; i++) {
        const struct explore_step *step = &broken->path[i];
        if (!is_told(broken, i))
            continue;
        fprintf(out, explore_is_of_agent(step) ? "  %2u s  agent %c  " : "  %2u s           ", step->tick,
                'A' + (char)step->agent);
        explore_print_step(config, broken, i, out);
        fprintf(out, "\n");
    }
    fprintf(out, "  %s\n", broken->text);
}

/* --- The history: docs/live.md, "The form". */
static void print_outcome(FILE *out, const struct explore_step *step, const struct bk_outcome *outcome)
{
    char text[512];
    lab_heard_text(&(const struct lab_heard){step->agent, step->operation, step->action.kind,
                                             step->action.bucket, outcome, outcome->rows > 0, outcome->rows},
                   text, sizeof text);
    fputs(text, out);
}

/* Whether the request, when it takes effect, changes what is stored. */
static bool is_stored(const struct explore_step *step)
{
    enum bk_action_kind kind = step->action.kind;
    bool is_state = kind == BK_ACT_WRITE_STATE || kind == BK_ACT_CAS_STATE;
    return kind == BK_ACT_PUT_ROW || kind == BK_ACT_ADD_COUNTER ||
           (is_state && step->outcome.kind == BK_OUTCOME_APPLIED);
}

/* state: the stored state so far. */
static void print_stored(FILE *out, const struct explore_config *config, const struct explore_step *step,
                         int64_t *state)
{
    const struct bk_action *action = &step->action;
    if (action->kind == BK_ACT_PUT_ROW) {
        fprintf(out,
                "row %" PRIu64 " is stored in bucket %" PRId64 " time %" PRId64 " id %" PRId64 " replica 0",
                action->row.sequence, action->bucket, action->row.time_ns, (int64_t)action->row.id);
    } else if (action->kind == BK_ACT_ADD_COUNTER) {
        fprintf(out, "row %" PRIu64 " is counted in bucket %" PRId64 " amount %" PRId64, action->row.sequence,
                config->agent.coordination == BK_GUARDED ? action->bucket : 0, action->amount);
    } else {
        for (unsigned i = 0; i < BK_COLUMNS; i++)
            state[i] = action->mask >> i & 1 ? action->columns[i] : state[i];
        fprintf(out, "state is stored, columns 15 %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, state[0],
                state[1], state[2], state[3]);
    }
}

static void print_event(FILE *out, const struct explore_config *config, const struct explore_step *step,
                        int64_t *state)
{
    bool is_effect = step->kind == EXPLORE_EFFECT || step->kind == EXPLORE_LATE_EFFECT;
    if (step->kind == EXPLORE_TICK || (is_effect && !is_stored(step)))
        return;
    struct bk_outcome told = {.kind = step->kind == EXPLORE_REFUSE ? BK_OUTCOME_REFUSED : BK_OUTCOME_UNKNOWN};
    fprintf(out, "%6u.000000000 s  ", step->tick);
    if (step->kind == EXPLORE_WAKE)
        fprintf(out, "agent %u wakes", step->agent);
    else if (step->kind == EXPLORE_DIES)
        fprintf(out,
                "fault agent_crash begins, target %u lasts 1 by %" PRId64
                ".\n%6u.000000000 s  agent %u is back, "
                "offset %" PRId64 " drift 0",
                step->agent, EXPLORE_FIRST_NS + step->tick * EXPLORE_TICK_NS, step->tick, step->agent,
                step->offset_ns);
    else
        fprintf(out, "key-0: ");
    if (step->kind == EXPLORE_STATE_GONE)
        fprintf(out, "no state is stored");
    else if (is_effect)
        print_stored(out, config, step, state);
    else if (step->kind == EXPLORE_WRITE)
        fprintf(out, "agent %u takes row %u time %" PRId64 " id %" PRId64 " bytes %" PRIu64, step->agent,
                step->number, step->row.time_ns, (int64_t)step->row.id, step->row.bytes);
    else if (step->kind == EXPLORE_READ)
        fprintf(out, "agent %u reads latest birth %" PRId64 " newest %" PRIu64, step->agent, EXPLORE_TICK_NS,
                step->row.sequence);
    else if (step->kind == EXPLORE_ANSWER || step->kind == EXPLORE_GIVE_UP || step->kind == EXPLORE_REFUSE)
        print_outcome(out, step, step->kind == EXPLORE_ANSWER ? &step->outcome : &told);
    fprintf(out, ".\n");
}

static const char *kind_name(const struct explore_config *config)
{
    return lab_kind_name(config->agent.strategy.kind);
}

void explore_history(const struct explore_config *config, const struct explore_break *broken, FILE *out)
{
    int64_t offsets[EXPLORE_AGENTS_MAX] = {0}, state[BK_COLUMNS] = {0};
    for (uint32_t i = 0; i < broken->steps; i++)
        if (explore_is_of_agent(&broken->path[i]))
            offsets[broken->path[i].agent] = broken->path[i].offset_ns;
    fprintf(out, "%6u.000000000 s  strategy %s begins at %" PRId64 ".\n", 0u, kind_name(config),
            EXPLORE_FIRST_NS);
    for (uint32_t a = 0; a < config->agents; a++)
        fprintf(out, "%6u.000000000 s  agent %u begins, offset %" PRId64 " drift 0.\n", 0u, a, offsets[a]);
    for (uint32_t i = 0; i < broken->steps; i++)
        print_event(out, config, &broken->path[i], state);
    fprintf(out, "%6u.000000000 s  strategy %s ends.\n",
            broken->steps == 0 ? 0 : broken->path[broken->steps - 1].tick, kind_name(config));
}

void explore_scenario(const struct explore_config *config, const struct explore_break *broken, FILE *out)
{
    const struct bk_agent_config *agent = &config->agent;
    const struct lab_settings settings = {.strategy = agent->strategy,
                                          .coordination = agent->coordination,
                                          .counter = agent->counter,
                                          .source = agent->source,
                                          .lease_rows = agent->lease_rows,
                                          .every_rows = agent->every_rows,
                                          .lead_ns = agent->lead_ns,
                                          .lock_lasts_ns = agent->lock_lasts_ns,
                                          .lock_backoff_ns = agent->lock_backoff_ns,
                                          .grant_ns = agent->grant_ns};
    const int64_t bound_s = agent->clock_bound_ns / EXPLORE_TICK_NS;
    char text[1024];
    size_t used = lab_settings_text(&settings, text, sizeof text);
    if (config->then != 0)
        snprintf(text + used, sizeof text - used, ", then: [{at: 1s, %s %" PRIu64 "}]",
                 agent->strategy.kind == BK_KIND_COUNT ? "rows:" : "bits: 1, threshold:", config->then);
    fprintf(out,
            "name: explored\n"
            "start: 1970-01-01T00:00:08Z\n"
            "duration: %us\n"
            "keys: {count: 1}\n"
            "arrivals: {rate: 1/s}\n"
            "row: {bytes: 1}\n"
            "reads: {latest: {rows: %u, rate: 1/s}}\n"
            "cluster: {nodes: 1, replication_factor: 1}\n"
            "agents: {count: %u, operations: %u, retries: %u, cache_ttl: %" PRId64
            "s, clock: {offset: %" PRId64 "s, bound: %" PRId64 "s}}\n"
            "strategies:\n  - %s: {%s}\n",
            config->ticks + 1, broken->newest, config->agents, agent->operations, agent->retries,
            agent->cache_ttl_ns / EXPLORE_TICK_NS, bound_s, bound_s, kind_name(config), text);
}
