/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bucketlab why: counts the rows of a cluster run that went wrong, and attributes them to faults: the run is
 * repeated without any fault, and without each single fault.
 *
 * Numbers of rows are compared, and not single rows: a fault changes the times of all later messages, so
 * without it other rows are hit by the same race. The number of rows that go wrong without any fault is
 * attributed to races. Each fault is attributed the decrease in the number when it is left out. If the sum
 * exceeds the total, some rows need several faults together, and are counted for each of them; if it is
 * smaller, some rows go wrong because of any of several faults, and leaving out one fault does not help. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "cli/base.h"
#include "cli/run.h"
#include "kernel/time.h"
#include "lab/metric.h"
#include "lab/oracle.h"
#include "lab/quantity.h"
#include "lab/setting.h"
#include "workload/workload.h"

#define WHY_FAULTS_MAX 63u

enum why_kind { WHY_MISROUTED, WHY_REFUSED, WHY_SLOW, WHY_KIND_COUNT };

struct why_causes {
    uint64_t rows;
    uint64_t races;
    uint64_t faults[WHY_FAULTS_MAX]; /* decrease without the fault; 0 when the difference may be chance */
    uint64_t together;               /* rows that are counted for several faults */
    uint64_t any;                    /* rows with several possible faults, none of which is necessary */
};

struct why {
    const struct lab_scenario *scenario;
    int64_t slow_ns;
    /* Run 0 has all faults, run 1 none, run 2 + f all but fault f. */
    struct lab_result **runs;
    size_t run_count;
};

/* The number of races differs from run to run by chance: a difference below this many standard deviations,
 * computed as if races were independent, is ignored. */
#define CHANCE_DEVIATIONS 3

static bool make(void *context, uint64_t job, struct lab_scenario **out, struct sim_error *error)
{
    const struct lab_scenario *base = ((const struct why *)context)->scenario;
    if (!lab_scenario_again(base->path, base->text, base->overrides, NULL, 0, base->seed, out, error))
        return false;
    (*out)->faults_left_out = job == 0 ? 0 : job == 1 ? UINT64_MAX : UINT64_C(1) << (job - 2);
    return true;
}

static bool take(void *context, uint64_t job, struct lab_result *result, int64_t elapsed_ms,
                 struct sim_error *error)
{
    (void)elapsed_ms, (void)error;
    ((struct why *)context)->runs[job] = result;
    return true;
}

static uint64_t figure(const struct lab_strategy_result *strategy, const char *name)
{
    const struct lab_metric *metric = lab_metrics_find(&strategy->metrics, name);
    return metric == NULL ? 0 : (uint64_t)metric->value;
}

/* The number of rows of a strategy that went wrong in a run. */
static uint64_t rows_of(const struct why *why, size_t run, size_t strategy, enum why_kind kind)
{
    const struct lab_strategy_result *of = &why->runs[run]->strategies[strategy];
    const struct lab_histogram *latency = &of->latency[LAB_LATENCY_WRITE];
    uint64_t rows = 0;
    if (kind == WHY_MISROUTED)
        return figure(of, "writes.misrouted");
    if (kind == WHY_REFUSED)
        return figure(of, "writes.refused") + figure(of, "writes.unresolved");
    for (size_t i = 0; i < latency->slot_count; i++)
        rows += latency->slots[i].size >= (uint64_t)why->slow_ns ? latency->slots[i].count : 0;
    return rows;
}

/* The decrease in the number of rows without a fault, or 0 if it may be chance. */
static uint64_t fewer(uint64_t with, uint64_t without, uint64_t races)
{
    double chance = races == 0 ? 0 : CHANCE_DEVIATIONS * sqrt((double)with + (double)without);
    return with > without && (double)(with - without) > chance ? with - without : 0;
}

static void judge(const struct why *why, size_t strategy, enum why_kind kind, struct why_causes *out)
{
    uint64_t rows = rows_of(why, 0, strategy, kind), sum = 0;
    uint64_t races = why->run_count == 1 ? rows : rows_of(why, 1, strategy, kind);
    *out = (struct why_causes){.rows = rows, .races = races < rows ? races : rows};
    for (size_t run = 2; run < why->run_count; run++)
        sum += out->faults[run - 2] = fewer(rows, rows_of(why, run, strategy, kind), races);
    uint64_t of_faults = rows - out->races;
    if (sum == 0 && why->run_count == 3) { /* there is only one fault, and its effect may be chance */
        out->races = rows;
        return;
    }
    out->together = sum > of_faults ? sum - of_faults : 0;
    out->any = sum < of_faults ? of_faults - sum : 0;
}

#define TEXT_SIZE 256

static const char *const kind_names[WHY_KIND_COUNT] = {"misrouted", "refused", "slow"};

/* Describes a fault: "clock_jump of agent 2 at 30s (line 14)". */
static void fault_text(const struct lab_fault *fault, char text[TEXT_SIZE])
{
    char target[64] = "", at[64], line[32] = "";
    unsigned kind = 0;
    bool is_random = (fault->kinds & (fault->kinds - 1)) != 0;
    while (!is_random && (fault->kinds >> kind & 1) == 0)
        kind++;
    bool is_of_agent =
        kind == LAB_FAULT_AGENT_CRASH || kind == LAB_FAULT_CLOCK_JUMP || kind == LAB_FAULT_AGENT_PAUSE;
    bool is_of_key = kind == LAB_FAULT_STATE_LOST || kind == LAB_FAULT_STATE_RESTORED;
    bool is_of_node = kind == LAB_FAULT_NODE_DOWN || kind == LAB_FAULT_SLOW_NODE ||
                      kind == LAB_FAULT_GC_STORM || kind == LAB_FAULT_HINT_LOSS ||
                      kind == LAB_FAULT_PAXOS_LOSS;
    if (!is_random && fault->target != UINT32_MAX && (is_of_agent || is_of_key || is_of_node))
        snprintf(target, sizeof target, " of %s %" PRIu32,
                 is_of_agent ? "agent"
                 : is_of_key ? "key"
                             : "node",
                 fault->target);
    if (fault->rate_per_s > 0) {
        snprintf(at, sizeof at, "now and then");
    } else {
        char time[48];
        lab_quantity_duration_text(fault->at_ns, time, sizeof time);
        snprintf(at, sizeof at, "at %s", time);
    }
    if (fault->line > 0)
        snprintf(line, sizeof line, " (line %d)", fault->line);
    snprintf(text, TEXT_SIZE, "%s%s %s%s",
             is_random ? "random faults" : lab_fault_kind_name((enum lab_fault_kind)kind), target, at, line);
}

static const char *protocol_of(const struct lab_strategy_result *strategy)
{
    return lab_protocol_name(lab_settings_kind(&strategy->settings),
                             lab_settings_protocol(&strategy->settings));
}

static void print_causes(const struct why *why, size_t strategy, enum why_kind kind)
{
    char more[64] = "";
    struct why_causes causes;
    judge(why, strategy, kind, &causes);
    if (kind == WHY_SLOW) {
        char time[40];
        lab_quantity_duration_text(why->slow_ns, time, sizeof time);
        snprintf(more, sizeof more, " (%s or more)", time);
    } else if (kind == WHY_REFUSED) {
        snprintf(more, sizeof more, ", or their outcome is unknown");
    }
    printf("  %" PRIu64 " %s%s\n", causes.rows, kind_names[kind], more);
    for (size_t fault = 0; fault < why->scenario->fault_count; fault++) {
        char text[TEXT_SIZE];
        if (causes.faults[fault] == 0)
            continue;
        fault_text(&why->scenario->faults[fault], text);
        printf("  %8" PRIu64 "  fault %zu, %s: without it %" PRIu64 "\n", causes.faults[fault], fault + 1,
               text, rows_of(why, 2 + fault, strategy, kind));
    }
    if (causes.together > 0)
        printf("            of these %" PRIu64 " need several faults together, and count for each\n",
               causes.together);
    if (causes.any > 0)
        printf("  %8" PRIu64 "  several faults together: leaving out one of them does not help\n",
               causes.any);
    if (causes.races > 0)
        printf("  %8" PRIu64 "  races%s: as many occur without any fault\n", causes.races,
               kind == WHY_REFUSED && wl_has_late(&why->scenario->workload) ? ", or rows that came too late"
                                                                            : "");
}

static void print(const struct why *why)
{
    char rows[CLI_NUMBER_SIZE];
    cli_grouped(why->runs[0]->rows, rows);
    cli_print_text(stdout, why->scenario->name);
    printf(", seed %" PRIu64 ": %s rows a strategy, run %zu time%s\n", why->runs[0]->seed, rows,
           why->run_count, why->run_count == 1 ? "" : "s");
    for (size_t i = 0; i < why->scenario->fault_count; i++) {
        char text[TEXT_SIZE];
        fault_text(&why->scenario->faults[i], text);
        printf("  fault %zu, %s\n", i + 1, text);
    }
    for (size_t i = 0; i < why->scenario->strategy_count; i++) {
        putchar('\n');
        cli_print_text(stdout, why->runs[0]->strategies[i].label);
        printf(" (%s)\n", protocol_of(&why->runs[0]->strategies[i]));
        for (int kind = 0; kind < WHY_KIND_COUNT; kind++)
            print_causes(why, i, (enum why_kind)kind);
    }
}

static json_t *causes_json(const struct why *why, size_t strategy, enum why_kind kind)
{
    struct why_causes causes;
    json_t *faults = json_array(), *without = json_array();
    judge(why, strategy, kind, &causes);
    for (size_t i = 0; i < why->scenario->fault_count; i++) {
        faults = cli_json_append(faults, cli_json_whole(causes.faults[i]));
        without = cli_json_append(without, cli_json_whole(rows_of(why, 2 + i, strategy, kind)));
    }
    return CLI_OBJECT({"faults", faults}, {"without", without}, {"rows", cli_json_whole(causes.rows)},
                      {"races", cli_json_whole(causes.races)}, {"together", cli_json_whole(causes.together)},
                      {"any", cli_json_whole(causes.any)});
}

static json_t *as_json(const struct why *why)
{
    json_t *strategies = json_array(), *faults = json_array();
    for (size_t i = 0; i < why->scenario->fault_count; i++) {
        char text[TEXT_SIZE];
        fault_text(&why->scenario->faults[i], text);
        faults = cli_json_append(faults, json_string(text));
    }
    for (size_t i = 0; i < why->scenario->strategy_count; i++) {
        const struct lab_strategy_result *strategy = &why->runs[0]->strategies[i];
        json_t *one = CLI_OBJECT({"label", json_string(strategy->label)},
                                 {"protocol", json_string(protocol_of(strategy))});
        for (int kind = 0; kind < WHY_KIND_COUNT; kind++)
            one = cli_json_with(one, kind_names[kind], causes_json(why, i, (enum why_kind)kind));
        strategies = cli_json_append(strategies, one);
    }
    return CLI_OBJECT(
        {"faults", faults}, {"strategies", strategies}, {"scenario", json_string(why->scenario->name)},
        {"seed", cli_json_whole(why->runs[0]->seed)}, {"rows", cli_json_whole(why->runs[0]->rows)},
        {"slow_ms", cli_json_number((double)why->slow_ns / 1e6)});
}

#define SLOW_DEFAULT (SIM_SECOND / 10)

static const struct cli_option options[] = {
    {CLI_OPTION_SEED},
    {CLI_OPTION_SET},
    {"slow", "DURATION", "rows that took this long or longer are slow (default\n100ms)"},
    {CLI_OPTION_JOBS},
    {NULL, NULL, NULL}};

static bool check(const struct lab_scenario *scenario, struct sim_error *error)
{
    if (scenario->engine != LAB_ENGINE_CLUSTER)
        return sim_fail(error, SIM_ERROR_INPUT,
                        "%s: 'why' needs agents: without them nothing goes wrong; add, for example, "
                        "'agents: {count: 8}'",
                        scenario->path);
    return scenario->fault_count <= WHY_FAULTS_MAX ||
           sim_fail(error, SIM_ERROR_INPUT, "%s: %zu faults; 'why' tries at most %u; remove some with --set",
                    scenario->path, scenario->fault_count, WHY_FAULTS_MAX);
}

static bool run_all(const struct cli_args *args, struct why *job, struct sim_error *error)
{
    job->run_count = job->scenario->fault_count == 0 ? 1 : job->scenario->fault_count + 2;
    job->runs = g_new0(struct lab_result *, job->run_count);
    const struct cli_runs runs = {.name = "why",
                                  .lost = "there is no result",
                                  .count = job->run_count,
                                  .context = job,
                                  .make = make,
                                  .take = take};
    if (!args->is_quiet)
        cli_warnings_files(stderr, job->scenario);
    return cli_run_all(args, &runs, error);
}

static bool why(const struct cli_args *args, struct sim_error *error)
{
    struct why job = {.slow_ns = SLOW_DEFAULT};
    struct lab_scenario *scenario = NULL;
    bool is_fine = cli_duration(args, "slow", SIM_MS, &job.slow_ns, error) &&
                   cli_scenario_load(args, cli_argument(args, 0), &scenario, error) && check(scenario, error);
    job.scenario = scenario;
    is_fine = is_fine && run_all(args, &job, error);
    if (is_fine && args->is_json)
        cli_json_print(as_json(&job));
    else if (is_fine)
        print(&job);
    for (size_t i = 0; i < job.run_count; i++)
        lab_result_destroy(job.runs[i]);
    g_free(job.runs);
    lab_scenario_destroy(scenario);
    return is_fine;
}

const struct cli_command cli_why = {
    .name = "why",
    .arguments = "SCENARIO",
    .summary = "show which faults or races caused misrouted or slow rows",
    .example = "  bucketlab why scenarios/three-state.yaml\n"
               "  bucketlab why my.yaml --seed 7 --slow 50ms --json\n",
    .options = options,
    .least = 1,
    .most = 1,
    .run = why,
};
