/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints the causes of the rows that went wrong, as text or as JSON. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>

#include "cli/json.h"
#include "cli/text.h"
#include "lab/oracle.h"
#include "lab/quantity.h"
#include "lab/setting.h"
#include "why.h"
#include "workload/rows.h"

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
    why_judge(why, strategy, kind, &causes);
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
               text, why_rows(why, 2 + fault, strategy, kind));
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

void why_print(const struct why *why)
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
    json_t *object = json_object(), *faults = json_array(), *without = json_array();
    why_judge(why, strategy, kind, &causes);
    for (size_t i = 0; i < why->scenario->fault_count; i++) {
        faults = cli_json_append(faults, cli_json_whole(causes.faults[i]));
        without = cli_json_append(without, cli_json_whole(why_rows(why, 2 + i, strategy, kind)));
    }
    bool is_fine = cli_json_set(object, "faults", faults) && cli_json_set(object, "without", without) &&
                   cli_json_set(object, "rows", cli_json_whole(causes.rows)) &&
                   cli_json_set(object, "races", cli_json_whole(causes.races)) &&
                   cli_json_set(object, "together", cli_json_whole(causes.together)) &&
                   cli_json_set(object, "any", cli_json_whole(causes.any));
    return cli_json_complete(object, is_fine);
}

static json_t *strategy_json(const struct why *why, size_t index)
{
    const struct lab_strategy_result *strategy = &why->runs[0]->strategies[index];
    json_t *object = json_object();
    bool is_fine = cli_json_set(object, "label", json_string(strategy->label)) &&
                   cli_json_set(object, "protocol", json_string(protocol_of(strategy)));
    for (int kind = 0; is_fine && kind < WHY_KIND_COUNT; kind++)
        is_fine = cli_json_set(object, kind_names[kind], causes_json(why, index, (enum why_kind)kind));
    return cli_json_complete(object, is_fine);
}

bool why_print_json(const struct why *why, struct sim_error *error)
{
    json_t *object = json_object(), *strategies = json_array(), *faults = json_array();
    for (size_t i = 0; i < why->scenario->fault_count; i++) {
        char text[TEXT_SIZE];
        fault_text(&why->scenario->faults[i], text);
        faults = cli_json_append(faults, json_string(text));
    }
    for (size_t i = 0; i < why->scenario->strategy_count; i++)
        strategies = cli_json_append(strategies, strategy_json(why, i));
    bool is_fine = cli_json_set(object, "faults", faults) && cli_json_set(object, "strategies", strategies) &&
                   cli_json_set(object, "scenario", json_string(why->scenario->name)) &&
                   cli_json_set(object, "seed", cli_json_whole(why->runs[0]->seed)) &&
                   cli_json_set(object, "rows", cli_json_whole(why->runs[0]->rows)) &&
                   cli_json_set(object, "slow_ms", cli_json_number((double)why->slow_ns / 1e6));
    return cli_json_print(cli_json_complete(object, is_fine), error);
}
