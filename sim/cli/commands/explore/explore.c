/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab explore: every schedule of a small world. In come a protocol and the world's bounds; out go which
 * guarantees hold in all states, and the shortest path that breaks one. */
#define _POSIX_C_SOURCE 200809L
#include "explore/explore.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base.h"
#include "cli/run.h"
#include "lab/quantity.h"
#include "reports/reports.h"

static const struct cli_option options[] = {
    {"protocol", "NAME",
     "single, locked, three-state, guarded, \"count, lwt\":\n"
     "the names that `bucketlab fuzz --guarantees` prints"},
    {"counter", "rmw|lwt|counter", "how the counter is kept (default rmw)"},
    {"agents", "N", "agents that share the key, 1 to 4 (default 2)"},
    {"rows", "N", "rows that they write, 1 to 8 (default 2)"},
    {"fires", "N", "how many of them fire, the first ones (default 2)"},
    {"threshold", "N", "firing rows that fill a bucket; rows of count (default 1)"},
    {"then", "N", "rows from the first second on follow this threshold"},
    {"max-age", "DURATION", "no bucket has rows on both sides of a multiple of this"},
    {"last-row", "now|old|ahead",
     "the last row's time: by the clock, of the first second,\n"
     "or a second ahead of the clock (default now)"},
    {"reads", "N", "reads of all rows, 0 to 3 (default 0)"},
    {"seconds", "N", "how often a second passes, 0 to 15 (default 4)"},
    {"faults", "lost|late|unknown|refused|crash|pause|gone|skew|all|none,...",
     "what may go wrong (default all)"},
    {"most-faults", "N", "how many faults a path has at most, 0 to 9 (default 1)"},
    {"lead", "DURATION", "three-state: from a change to its date (default 2s)"},
    {"cache", "DURATION", "how long an agent uses its copy of the state (default 1s)"},
    {"grant", "DURATION", "guarded: how long a grant lasts (default 2s)"},
    {"lock", "DURATION", "locked: how long a lock lasts (default 2s)"},
    {"bound", "DURATION",
     "bound of the agents' clocks, as they believe (default 1s\n"
     "with skew, else 0s)"},
    {"operations", "N", "operations of an agent at a time, 1 to 4 (default 1)"},
    {"retries", "N", "retries of a request, 0 to 9 (default 1)"},
    {"states", "N", "stop after this many states"},
    {"memory", "SIZE", "size of the table of states, 16 bytes each (default 1GiB)"},
    {CLI_OPTION_JOBS},
    {"history", "FILE",
     "write the shortest counter-example as a history, and its\n"
     "scenario as FILE.yaml: `bucketlab judge FILE.yaml FILE`"},
    {"show", "svg|png|pdf|dot", "print the shortest counter-example as a sequence diagram"},
    {NULL, NULL, NULL}};

struct job {
    struct explore_config config;
    const char *protocol, *history, *show;
    struct explore_result result;
    struct lab_progress *progress;
    int64_t elapsed_ms;
};

/* --- Settings. */
static const char *const faults[] = {
#define FAULT_NAME(name, text) text,
    EXPLORE_FAULT_MAP(FAULT_NAME)
#undef FAULT_NAME
};
static const char *const probes[] = {
#define PROBE_NAME(name, text) text,
    EXPLORE_PROBE_MAP(PROBE_NAME)
#undef PROBE_NAME
};

/* All of them without --faults. */
static uint32_t read_faults(const struct cli_args *args)
{
    bool is_all = !cli_has(args, "faults") || cli_chooses(args, "faults", "all");
    uint32_t may = 0;
    for (unsigned f = 0; f < EXPLORE_FAULT_COUNT; f++)
        may |= is_all || cli_chooses(args, "faults", faults[f]) ? 1u << f : 0;
    return may;
}

static bool read_number(const struct cli_args *args, const char *name, uint64_t least, uint64_t most,
                        uint32_t *out, struct sim_error *error)
{
    uint64_t value = *out;
    if (!cli_whole(args, name, least, most, &value, error))
        return false;
    *out = (uint32_t)value;
    return true;
}

static bool read_world(const struct cli_args *args, struct explore_config *config, struct sim_error *error)
{
    uint32_t fires = 2;
    if (!read_number(args, "agents", 1, EXPLORE_AGENTS_MAX, &config->agents, error) ||
        !read_number(args, "rows", 1, EXPLORE_ROWS_MAX, &config->rows, error) ||
        !read_number(args, "fires", 0, EXPLORE_ROWS_MAX, &fires, error) ||
        !read_number(args, "reads", 0, EXPLORE_READS_MAX, &config->reads, error) ||
        !read_number(args, "seconds", 0, EXPLORE_TICKS_MAX, &config->ticks, error) ||
        !read_number(args, "most-faults", 0, EXPLORE_FAULTS_MAX, &config->faults, error) ||
        !cli_whole(args, "threshold", 1, 9, &config->threshold, error) ||
        !cli_whole(args, "then", 1, 9, &config->then, error) ||
        !cli_whole(args, "states", 1, UINT64_MAX, &config->states_max, error))
        return false;
    config->may = read_faults(args);
    if ((config->may & ~(1u << EXPLORE_SKEW)) == 0)
        config->faults = 0;
    config->last_row = cli_chooses(args, "last-row", "old")     ? EXPLORE_ROW_OLD
                       : cli_chooses(args, "last-row", "ahead") ? EXPLORE_ROW_AHEAD
                                                                : EXPLORE_ROW_NOW;
    config->threads = args->jobs;
    config->fires = (1u << fires) - 1;
    uint64_t bytes = config->memory_bytes;
    const char *wrong = lab_quantity_bytes(cli_value(args, "memory", "1GiB"), &bytes);
    config->memory_bytes = bytes;
    return wrong == NULL || sim_fail(error, SIM_ERROR_INPUT, "--memory: %s", wrong);
}

static bool read_duration(const struct cli_args *args, const char *name, int64_t standard_ns, int64_t *out,
                          struct sim_error *error)
{
    *out = standard_ns;
    if (!cli_duration(args, name, EXPLORE_TICK_NS, out, error))
        return false;
    return *out % EXPLORE_TICK_NS == 0 ||
           sim_fail(error, SIM_ERROR_INPUT, "--%s: time passes in whole seconds", name);
}

/* Times of a scenario as whole seconds of the world: a second stands for the shortest of them. */
static bool scale(struct bk_agent_config *agent, struct sim_error *error)
{
    int64_t *const times[] = {&agent->cache_ttl_ns, &agent->lead_ns, &agent->grant_ns, &agent->lock_lasts_ns};
    int64_t unit_ns = INT64_MAX;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        unit_ns = *times[i] > 0 && *times[i] < unit_ns ? *times[i] : unit_ns;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        int64_t ticks = *times[i] / unit_ns + (*times[i] % unit_ns != 0);
        if (ticks > EXPLORE_TICKS_MAX)
            return sim_fail(
                error, SIM_ERROR_INPUT,
                "the lead, the grant, the lock and the life of a cached state differ more than %u times; "
                "give --lead, --grant, --lock or --cache",
                EXPLORE_TICKS_MAX);
        *times[i] = ticks * EXPLORE_TICK_NS;
    }
    return true;
}

/* The settings of the scenario's strategy that has the protocol. */
static bool read_scenario(const struct cli_args *args, struct bk_agent_config *agent, const char *protocol,
                          struct sim_error *error)
{
    struct lab_scenario *scenario;
    const char *path = cli_argument(args, 0);
    if (!cli_scenario_load(args, path, &scenario, error))
        return false;
    bool is_found = false;
    for (size_t i = 0; i < scenario->strategy_count && !is_found; i++) {
        const struct lab_settings *own = &scenario->strategies[i].settings;
        enum bk_kind kind = lab_settings_kind(own);
        is_found = (kind == BK_KIND_COUNT || (kind < BK_KINDS && bk_kind_fires(kind))) &&
                   strcmp(lab_protocol_name(kind, lab_settings_protocol(own)), protocol) == 0;
        if (!is_found)
            continue;
        agent->counter = own->counter;
        agent->lead_ns = own->lead_ns;
        agent->grant_ns = own->grant_ns;
        agent->lock_lasts_ns = own->lock_lasts_ns;
        agent->cache_ttl_ns = scenario->agents.cache_ttl_ns;
    }
    lab_scenario_destroy(scenario);
    return (is_found && scale(agent, error)) ||
           sim_fail(error, SIM_ERROR_INPUT, "%s: no strategy has the protocol '%s'", path, protocol);
}

static bool read_config(const struct cli_args *args, struct job *job, struct sim_error *error)
{
    struct explore_config *config = &job->config;
    const char *counter = cli_value(args, "counter", NULL);
    *config = (struct explore_config){
        .agents = 2, .rows = 2, .ticks = 4, .faults = 1, .threshold = 1, .states_max = UINT64_MAX};
    job->protocol = cli_value(args, "protocol", NULL);
    if (job->protocol == NULL)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "--protocol is missing: single, locked, three-state, guarded, ...");
    if (!read_world(args, config, error))
        return false;
    if (!explore_find_protocol(job->protocol, counter, config))
        return sim_fail(
            error, SIM_ERROR_INPUT, "no protocol '%s'%s%s; `bucketlab fuzz --guarantees` prints their names",
            job->protocol, counter == NULL ? "" : " with the counter ", counter == NULL ? "" : counter);
    struct bk_agent_config *agent = &config->agent, own = *agent;
    own.cache_ttl_ns = EXPLORE_TICK_NS;
    own.lead_ns = own.grant_ns = own.lock_lasts_ns = 2 * EXPLORE_TICK_NS;
    if (args->count > 0 && !read_scenario(args, &own, job->protocol, error))
        return false;
    uint32_t retries = 1, operations = 1;
    agent->clock_bound_ns = config->may >> EXPLORE_SKEW & 1 ? EXPLORE_TICK_NS : 0;
    int64_t age_ns = 0;
    if (!read_duration(args, "cache", own.cache_ttl_ns, &agent->cache_ttl_ns, error) ||
        !read_duration(args, "lead", own.lead_ns, &agent->lead_ns, error) ||
        !read_duration(args, "grant", own.grant_ns, &agent->grant_ns, error) ||
        !read_duration(args, "lock", own.lock_lasts_ns, &agent->lock_lasts_ns, error) ||
        !read_duration(args, "max-age", 0, &age_ns, error) ||
        !cli_duration(args, "bound", 0, &agent->clock_bound_ns, error) ||
        !read_number(args, "retries", 0, 9, &retries, error) ||
        !read_number(args, "operations", 1, 4, &operations, error))
        return false;
    enum bk_status status = age_ns == 0 ? BK_OK : bk_strategy_max_age(age_ns, &agent->strategy);
    if (status != BK_OK)
        return sim_fail(error, SIM_ERROR_INPUT, "--max-age: %s", bk_status_text(status));
    agent->counter = own.counter;
    agent->retries = retries;
    agent->operations = operations;
    agent->cache_entries = 4;
    agent->lease_rows = 2;
    agent->agent_id = 1;
    job->history = cli_value(args, "history", NULL);
    job->show = cli_value(args, "show", NULL);
    return cli_file_check("history", job->history, error);
}

/* --- What was found. */
/* The conditions that this world never meets. */
static uint32_t never_of(const struct explore_config *config)
{
    const struct bk_agent_config *agent = &config->agent;
    uint32_t never = 1u << LAB_CONDITION_CLOCK_JUMP | 1u << LAB_CONDITION_WEAK_LEVELS |
                     1u << LAB_CONDITION_ROUTE_AGAIN | 1u << LAB_CONDITION_UNEVEN_SETTINGS |
                     1u << LAB_CONDITION_REMOVED_ROWS | 1u << LAB_CONDITION_OLD_CHECKPOINT |
                     1u << LAB_CONDITION_PAXOS_LOST;
    if (config->last_row != EXPLORE_ROW_OLD)
        never |= 1u << LAB_CONDITION_LATE_ROWS;
    if (config->last_row != EXPLORE_ROW_AHEAD)
        never |= 1u << LAB_CONDITION_EARLY_ROWS;
    if (config->faults == 0 || (config->may >> EXPLORE_GONE & 1) == 0)
        never |= 1u << LAB_CONDITION_STATE_LOST;
    if (config->agents == 1)
        never |= 1u << LAB_CONDITION_MANY_AGENTS;
    if (config->agents == 1 && agent->operations == 1)
        never |= 1u << LAB_CONDITION_CHANGES_AT_ONCE | 1u << LAB_CONDITION_COUNTED_AT_ROLL;
    if (config->faults == 0)
        never |=
            1u << LAB_CONDITION_FAULTS | 1u << LAB_CONDITION_UNKNOWN_WRITE | 1u << LAB_CONDITION_REFUSED_ROWS;
    if ((bk_agent_warnings(agent, 1) & (1u << BK_WARNING_LEAD | 1u << BK_WARNING_LEAD_AGE)) == 0)
        never |= 1u << LAB_CONDITION_SHORT_LEAD;
    return never;
}

/* Whether the lab guarantees it, with clocks within their bound, without an exception that can occur in this
 * world. */
static bool is_guaranteed(const struct job *job, enum lab_oracle oracle)
{
    const struct bk_agent_config *agent = &job->config.agent;
    bool is_count = agent->strategy.kind == BK_KIND_COUNT;
    const struct lab_guarantee *guarantee = lab_guarantee_find(
        agent->strategy.kind, is_count ? (unsigned)agent->source : (unsigned)agent->coordination, oracle);
    const bool is_within =
        (job->config.may >> EXPLORE_SKEW & 1) == 0 || agent->clock_bound_ns >= EXPLORE_TICK_NS;
    return guarantee != NULL && is_within && (guarantee->except & ~never_of(&job->config)) == 0;
}

static const struct explore_break *break_of(const struct explore_result *result, enum lab_oracle oracle)
{
    for (uint32_t i = 0; i < result->broken_count; i++)
        if (result->broken[i].oracle == oracle)
            return &result->broken[i];
    return NULL;
}

/* The counter-example that is printed: of a broken guarantee, else of what is not guaranteed; of several the
 * first in the order of the oracles, which begins with rows that readers miss. */
static const struct explore_break *worst(const struct job *job)
{
    const struct explore_result *result = &job->result;
    for (uint32_t i = 0; i < result->broken_count; i++)
        if (is_guaranteed(job, result->broken[i].oracle))
            return &result->broken[i];
    return result->broken_count > 0 ? &result->broken[0] : NULL;
}

/* What the world could have met. */
static uint32_t expected_probes(const struct explore_config *config)
{
    bool strikes = config->faults > 0;
    /* With these, agents change no state, or each key has one writer. */
    enum bk_source source = config->agent.source;
    bool races = config->agents > 1 && (config->agent.strategy.kind != BK_KIND_COUNT ||
                                        (source >= BK_SOURCE_LWT && source != BK_SOURCE_MEMORY));
    return 1u << EXPLORE_PROBE_ROLLED | (config->reads > 0 ? 1u << EXPLORE_PROBE_READ : 0) |
           (strikes && config->may >> EXPLORE_LATE & 1 ? 1u << EXPLORE_PROBE_TOOK_LATE : 0) |
           (strikes && config->may >> EXPLORE_CRASH & 1 ? 1u << EXPLORE_PROBE_CRASHED : 0) |
           (races ? 1u << EXPLORE_PROBE_RACED : 0);
}

static json_t *as_json(const struct job *job)
{
    const struct explore_result *result = &job->result;
    json_t *guarantees = json_array(), *sometimes = json_array();
    for (unsigned o = 0; o < LAB_ORACLE_COUNT; o++) {
        if ((result->judged >> o & 1) == 0)
            continue;
        const struct explore_break *broken = break_of(result, (enum lab_oracle)o);
        guarantees = cli_json_append(
            guarantees, CLI_OBJECT({"name", json_string(lab_oracle_name((enum lab_oracle)o))},
                                   {"holds", json_boolean(broken == NULL)},
                                   {"guaranteed", json_boolean(is_guaranteed(job, (enum lab_oracle)o))},
                                   {"steps", broken == NULL ? json_null() : cli_json_whole(broken->steps)},
                                   {"text", cli_json_words(broken == NULL ? NULL : broken->text)}));
    }
    for (unsigned p = 0; p < EXPLORE_PROBE_COUNT; p++)
        if (expected_probes(&job->config) >> p & 1)
            sometimes =
                cli_json_append(sometimes, CLI_OBJECT({"name", json_string(probes[p])},
                                                      {"reached", json_boolean(result->probes >> p & 1)}));
    double seconds = (double)(job->elapsed_ms > 0 ? job->elapsed_ms : 1) / 1e3;
    const char *history = worst(job) != NULL ? job->history : NULL;
    char digest[17];
    snprintf(digest, sizeof digest, "%016" PRIx64, result->request_digest);
    return CLI_OBJECT(
        {"protocol", json_string(job->protocol)}, {"states", cli_json_whole(result->states)},
        {"transitions", cli_json_whole(result->transitions)}, {"depth", cli_json_whole(result->depth)},
        {"exhausted", json_boolean(result->is_complete)},
        {"states_per_second", cli_json_number((double)result->states / seconds)},
        {"requests", cli_json_whole(result->requests)}, {"request_digest", json_string(digest)},
        {"memories", cli_json_whole(result->memories)}, {"stores", cli_json_whole(result->stores)},
        {"guarantees", guarantees}, {"sometimes", sometimes}, {"history", cli_json_words(history)});
}

static void print_verdicts(const struct job *job)
{
    const struct explore_result *result = &job->result;
    char states[CLI_NUMBER_SIZE];
    cli_grouped(result->states, states);
    for (unsigned o = 0; o < LAB_ORACLE_COUNT; o++) {
        const struct explore_break *broken = break_of(result, (enum lab_oracle)o);
        if ((result->judged >> o & 1) == 0)
            continue;
        printf("  %-14s", lab_oracle_name((enum lab_oracle)o));
        if (broken == NULL)
            printf("holds in %s %s states\n", result->is_complete ? "all" : "the first", states);
        else
            printf("%s in %u steps: %s\n",
                   is_guaranteed(job, (enum lab_oracle)o) ? "BROKEN" : "not guaranteed, and broken",
                   broken->steps, broken->text);
    }
}

static void print(const struct job *job)
{
    const struct explore_config *config = &job->config;
    const struct explore_result *result = &job->result;
    const struct explore_break *broken = worst(job);
    char states[CLI_NUMBER_SIZE], transitions[CLI_NUMBER_SIZE];
    cli_grouped(result->states, states);
    cli_grouped(result->transitions, transitions);
    printf("%s: %u agents, %u rows, %u reads, %u seconds, at most %u fault%s\n\n", job->protocol,
           config->agents, config->rows, config->reads, config->ticks, config->faults,
           config->faults == 1 ? "" : "s");
    print_verdicts(job);
    for (unsigned p = 0; p < EXPLORE_PROBE_COUNT; p++)
        if (expected_probes(config) >> p & ~result->probes >> p & 1)
            printf("  never met: %s\n", probes[p]);
    if (broken != NULL) {
        printf("\nOne of the shortest ways to break %s:\n\n", lab_oracle_name(broken->oracle));
        explore_print_path(config, broken, stdout);
    }
    printf("\n%s states, %s transitions, %u steps deep, %s, in %.1f s; at most %u requests of an operation\n",
           states, transitions, result->depth,
           result->is_complete ? "all there are" : "and more that were not reached",
           (double)job->elapsed_ms / 1e3, result->requests);
}

static bool write_text(const char *path, const struct job *job, bool is_scenario, struct sim_error *error)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = cli_memory_open(&text, &size);
    (is_scenario ? explore_scenario : explore_history)(&job->config, worst(job), memory);
    cli_memory_close(memory);
    bool is_written = cli_file_write(path, text, size, error);
    free(text);
    return is_written;
}

static bool write_history(const struct job *job, struct sim_error *error)
{
    char scenario[4096];
    if (job->history == NULL || worst(job) == NULL)
        return true;
    if ((size_t)snprintf(scenario, sizeof scenario, "%s.yaml", job->history) >= sizeof scenario)
        return sim_fail(error, SIM_ERROR_INPUT, "--history: the name is too long");
    return write_text(job->history, job, false, error) && write_text(scenario, job, true, error);
}

/* --- The counter-example as a diagram: the agents on both sides of the store. */
struct diagram {
    char *texts; /* of all steps, one after the other */
    char title[128], subtitle[256];
    struct report_message *messages; /* with room for two per step */
    size_t count;
};

static enum report_message_kind message_kind(const struct explore_step *step)
{
    return step->kind == EXPLORE_EFFECT                                   ? REPORT_MESSAGE_CALL
           : step->kind == EXPLORE_ANSWER || step->kind == EXPLORE_REFUSE ? REPORT_MESSAGE_ANSWER
           : step->kind == EXPLORE_GIVE_UP                                ? REPORT_MESSAGE_UNHEARD
                                                                          : REPORT_MESSAGE_NONE;
}

static void tell_diagram(const struct job *job, size_t hub, struct diagram *out)
{
    const struct explore_break *broken = worst(job);
    size_t size = 0;
    FILE *memory = cli_memory_open(&out->texts, &size);
    out->messages = g_new0(struct report_message, 2 * (size_t)broken->steps + 1);
    for (uint32_t i = 0; i < broken->steps; i++) {
        fprintf(memory, "%u s%c", broken->path[i].tick, '\0');
        explore_print_step(&job->config, broken, i, memory);
        fputc('\0', memory);
    }
    cli_memory_close(memory);
    const char *text = out->texts;
    for (uint32_t i = 0; i < broken->steps; i++, text += strlen(text) + 1) {
        const struct explore_step *step = &broken->path[i];
        const char *time = text;
        text += strlen(text) + 1;
        if (text[0] == '\0' || step->kind == EXPLORE_TICK)
            continue;
        if (out->count == 0 || strcmp(out->messages[out->count - 1].time, time) != 0)
            out->messages[out->count++] =
                (struct report_message){.time = time, .text = "", .kind = REPORT_MESSAGE_TIME};
        out->messages[out->count++] = (struct report_message){
            .time = time,
            .text = text,
            .kind = message_kind(step),
            .party = !explore_is_of_agent(step) ? hub : step->agent + (step->agent >= hub),
            .is_alarm = step->kind == EXPLORE_GIVE_UP || step->kind == EXPLORE_REFUSE ||
                        step->kind == EXPLORE_DIES || !explore_is_of_agent(step)};
    }
}

static void print_dot(const struct report_sequence *sequence)
{
    printf("digraph explored {\n  label=\"%s\\n%s\"; labelloc=t; node [shape=box];\n", sequence->title,
           sequence->foot);
    size_t before = SIZE_MAX, own[EXPLORE_AGENTS_MAX + 1] = {0};
    for (size_t i = 0; i < sequence->message_count; i++) {
        const struct report_message *message = &sequence->messages[i];
        if (message->kind == REPORT_MESSAGE_TIME)
            continue;
        printf("  s%zu [group=%zu, label=\"%s  %s\\n%s\"%s];\n", i, message->party, message->time,
               sequence->parties[message->party], message->text, message->is_alarm ? ", color=red" : "");
        /* Time goes down; the steps of a party are joined. */
        if (before != SIZE_MAX)
            printf("  s%zu -> s%zu [style=invis];\n", before, i);
        if (own[message->party] != 0)
            printf("  s%zu -> s%zu;\n", own[message->party], i);
        before = own[message->party] = i;
    }
    printf("}\n");
}

static bool show(const struct job *job, struct sim_error *error)
{
    static const char *const agents[] = {"agent A", "agent B", "agent C", "agent D"};
    const struct explore_config *config = &job->config;
    const struct explore_break *broken = worst(job);
    const char *parties[EXPLORE_AGENTS_MAX + 1];
    const size_t hub = (config->agents + 1) / 2;
    struct diagram diagram = {.texts = NULL};
    if (broken == NULL)
        return sim_fail(error, SIM_ERROR_CHECK,
                        "--show: no guarantee is broken, so there is no counter-example");
    for (size_t i = 0; i < config->agents + 1; i++)
        parties[i] = i == hub ? "the store" : agents[i - (i > hub)];
    tell_diagram(job, hub, &diagram);
    snprintf(diagram.title, sizeof diagram.title, "%s breaks %s", job->protocol,
             lab_oracle_name(broken->oracle));
    size_t used = (size_t)snprintf(diagram.subtitle, sizeof diagram.subtitle,
                                   "One of the shortest ways, of %u steps, in a world of %u agents, %u rows, "
                                   "%u seconds and at most %u fault%s.",
                                   broken->steps, config->agents, config->rows, config->ticks, config->faults,
                                   config->faults == 1 ? "" : "s");
    if (config->agent.coordination == BK_THREE_STATE)
        snprintf(diagram.subtitle + used, sizeof diagram.subtitle - used,
                 " The lead is %" PRId64 " s; a copy of the state is used for %" PRId64 " s.",
                 config->agent.lead_ns / EXPLORE_TICK_NS, config->agent.cache_ttl_ns / EXPLORE_TICK_NS);
    const struct report_sequence sequence = {.title = diagram.title,
                                             .subtitle = diagram.subtitle,
                                             .foot = broken->text,
                                             .parties = parties,
                                             .party_count = config->agents + 1,
                                             .hub = hub,
                                             .messages = diagram.messages,
                                             .message_count = diagram.count};
    int format = 0;
    while (format < REPORT_FORMAT_COUNT &&
           strcmp(job->show, report_format_extension((enum report_format)format)) != 0)
        format++;
    const bool is_shown =
        format == REPORT_FORMAT_COUNT || report_sequence_print(&sequence, (enum report_format)format, error);
    if (format == REPORT_FORMAT_COUNT)
        print_dot(&sequence);
    free(diagram.texts);
    free(diagram.messages);
    return is_shown;
}

/* A guarantee that is broken is an error, and so is a search that met nothing of what it is for. */
static bool holds(const struct job *job, struct sim_error *error)
{
    const struct explore_result *result = &job->result;
    const struct explore_break *broken = worst(job);
    if (broken != NULL && is_guaranteed(job, broken->oracle))
        return sim_fail(error, SIM_ERROR_CHECK, "%s breaks its guarantee of %s in %u steps: %s",
                        job->protocol, lab_oracle_name(broken->oracle), broken->steps, broken->text);
    for (unsigned p = 0; p < EXPLORE_PROBE_COUNT; p++)
        if (result->is_complete && expected_probes(&job->config) >> p & ~result->probes >> p & 1)
            return sim_fail(
                error, SIM_ERROR_CHECK,
                "in none of the states: %s; give the world more rows, seconds, faults or a lower threshold",
                probes[p]);
    return true;
}

/* --- The command. */
static bool go_on(void *context, const struct explore_result *so_far)
{
    struct job *job = context;
    atomic_store_explicit(&job->progress->rows, so_far->states, memory_order_relaxed);
    atomic_store_explicit(&job->progress->done, so_far->states, memory_order_relaxed);
    return !lab_is_stopped(job->progress);
}

static bool search(void *context, struct lab_progress *progress, struct sim_error *error)
{
    struct job *job = context;
    job->progress = progress;
    if (!explore_run(&job->config, go_on, job, &job->result, error))
        return false;
    return !lab_is_stopped(progress) || sim_fail(error, SIM_ERROR_CHECK, "interrupted");
}

static bool explore(const struct cli_args *args, struct sim_error *error)
{
    struct job job = {0};
    if (!read_config(args, &job, error))
        return false;
    const struct cli_task task = {
        .name = "explore", .unit = "states/s", .lost = "nothing was shown", .run = search, .context = &job};
    bool is_fine = cli_attend(args, &task, &job.elapsed_ms, error);
    cli_release(args);
    is_fine = is_fine && write_history(&job, error);
    if (is_fine && job.show != NULL)
        is_fine = show(&job, error);
    else if (is_fine && args->is_json)
        cli_json_print(as_json(&job));
    else if (is_fine)
        print(&job);
    is_fine = is_fine && holds(&job, error);
    explore_result_free(&job.result);
    return is_fine;
}

const struct cli_command cli_explore = {
    .name = "explore",
    .arguments = "[SCENARIO]",
    .summary = "try every schedule of a protocol in a small world",
    .example = "  bucketlab explore --protocol guarded --reads 1\n"
               "  bucketlab explore my.yaml --protocol three-state --history broken.log\n"
               "  bucketlab judge broken.log.yaml broken.log\n",
    .options = options,
    .least = 0,
    .most = 1,
    .run = explore,
};
