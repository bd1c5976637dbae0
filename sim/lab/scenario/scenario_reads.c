/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads `reads`: the rate and the plan of each kind of read, and what a strategy specifies differently. */
#include <string.h>

#include "kernel/time.h"
#include "lab/scenario_part.h"
#include "workload/rows.h"

#define AT_ONCE_MAX 4096

#define SCENARIO(member) offsetof(struct lab_scenario, member)
#define READ(kind, member)                                                                                   \
    (SCENARIO(reads.kinds) + (kind) * sizeof(struct lab_read) + offsetof(struct lab_read, member))
#define RATE_RANGE "a rate above 0/s and at most 1000000000/s"
#define PLAN_RANGE "walk, pair, all, lazy or parallel"
#define SPAN_MAX   (36500.0 * (double)SIM_DAY)

#define RATE_FIELD(kind)                                                                                     \
    {                                                                                                        \
        "rate", lab_read_rate, READ(kind, rate_per_s), LAB_REQUIRED, 1e-9, 1e9, RATE_RANGE, NULL             \
    }
#define PLAN_FIELD(place)                                                                                    \
    {                                                                                                        \
        "plan", lab_read_choice, place, LAB_OPTIONAL, 0, 0, PLAN_RANGE, lab_plan_words                       \
    }
#define AT_ONCE_FIELD(place)                                                                                 \
    {                                                                                                        \
        "at_once", lab_read_whole32, place, LAB_OPTIONAL, 1, AT_ONCE_MAX, "a whole number from 1 to 4096",   \
            NULL                                                                                             \
    }

static bool check_read(struct lab_reader *reader, const struct lab_node *node, void *target)
{
    const struct lab_node *at_once = lab_node_find(node, "at_once"), *plan = lab_node_find(node, "plan");
    const char *name = plan == NULL ? NULL : lab_scalar(reader, plan);
    (void)target;
    if (at_once == NULL || (name != NULL && strcmp(name, "parallel") == 0))
        return true;
    return lab_fail_at(&reader->tree, &at_once->name_place,
                       "'at_once' applies only to plan: parallel; add that, or remove 'at_once'");
}

static const struct lab_table latest_table = {
    .fields =
        (const struct lab_field[]){
            {"rows", lab_read_whole, READ(LAB_READ_LATEST, rows), LAB_REQUIRED, 1, 1e9,
             "a whole number from 1 to 1000000000", NULL},
            RATE_FIELD(LAB_READ_LATEST),
            PLAN_FIELD(READ(LAB_READ_LATEST, plan)),
            AT_ONCE_FIELD(READ(LAB_READ_LATEST, at_once)),
            {.name = NULL},
        },
    .check = check_read};

static const struct lab_table range_table = {
    .fields =
        (const struct lab_field[]){
            {"span", lab_read_duration, READ(LAB_READ_RANGE, span_ns), LAB_REQUIRED, 1, SPAN_MAX,
             "a duration above 0s and at most 36500d", NULL},
            {"age", lab_read_duration, READ(LAB_READ_RANGE, age_ns), LAB_OPTIONAL, 0, SPAN_MAX,
             "a duration from 0s to 36500d", NULL},
            RATE_FIELD(LAB_READ_RANGE),
            PLAN_FIELD(READ(LAB_READ_RANGE, plan)),
            AT_ONCE_FIELD(READ(LAB_READ_RANGE, at_once)),
            {.name = NULL},
        },
    .check = check_read};

static const struct lab_table all_table = {.fields =
                                               (const struct lab_field[]){
                                                   RATE_FIELD(LAB_READ_ALL),
                                                   PLAN_FIELD(READ(LAB_READ_ALL, plan)),
                                                   AT_ONCE_FIELD(READ(LAB_READ_ALL, at_once)),
                                                   {.name = NULL},
                                               },
                                           .check = check_read};

static bool check_reads(struct lab_reader *reader, const struct lab_node *node, void *target)
{
    (void)target;
    if (lab_node_find(node, "latest") != NULL || lab_node_find(node, "range") != NULL ||
        lab_node_find(node, "all") != NULL)
        return true;
    return lab_fail_at(&reader->tree, &node->place,
                       "no reads under 'reads'; add some, as in latest: {rows: 50, rate: 1/s}");
}

const struct lab_table lab_reads_table = {
    .fields =
        (const struct lab_field[]){
            {"latest", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &latest_table},
            {"range", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &range_table},
            {"all", lab_read_mapping, 0, LAB_OPTIONAL, 0, 0, NULL, &all_table},
            {"limit", lab_read_whole, SCENARIO(reads.limit), LAB_OPTIONAL, 1, BK_WALK_PARTITIONS_MAX,
             "a whole number from 1 to 100000001", NULL},
            {.name = NULL},
        },
    .check = check_reads};

/* Checks that the plan fits every strategy that does not specify its own plan. */
static bool check_plans(struct lab_reader *reader, const struct lab_node *read, enum bk_plan plan)
{
    const struct lab_scenario *scenario = reader->scenario;
    for (size_t i = 0; i < scenario->strategy_count; i++) {
        const struct lab_strategy *strategy = &scenario->strategies[i];
        if ((plan == BK_PLAN_ALL || plan == BK_PLAN_LAZY) && strategy->settings.strategy.kind != BK_HASH &&
            strategy->settings.reading.plan == BK_PLAN_DEFAULT)
            return lab_fail_value(
                reader, lab_node_find(read, "plan"),
                "only hash can be read this way; give it under hash, as in read: {plan: lazy}, and use "
                "walk, pair or parallel for the others");
    }
    return true;
}

static bool changes_settings(const struct lab_scenario *scenario)
{
    for (size_t i = 0; i < scenario->strategy_count; i++) {
        if (scenario->strategies[i].settings.change_count > 0)
            return true;
    }
    return false;
}

bool lab_reads_complete(struct lab_reader *reader, const struct lab_node *root)
{
    static const char *const names[LAB_READ_KINDS] = {"latest", "range", "all"};
    struct lab_scenario *scenario = reader->scenario;
    const struct lab_node *reads = lab_node_find(root, "reads");
    for (int kind = 0; kind < LAB_READ_KINDS; kind++) {
        const struct lab_node *read = lab_node_find(reads, names[kind]);
        scenario->reads.present = scenario->reads.present || read != NULL;
        if (read != NULL && !check_plans(reader, read, scenario->reads.kinds[kind].plan))
            return false;
        if (read != NULL && kind != LAB_READ_LATEST && changes_settings(scenario))
            return lab_fail_at(
                &reader->tree, &read->name_place,
                "'%s' conflicts with 'then' of a strategy, which allows only 'latest'; remove one of them",
                names[kind]);
        if (read != NULL && kind == LAB_READ_RANGE && scenario->workload.is_late_trace)
            return lab_fail_at(
                &reader->tree, &read->name_place,
                "'range' conflicts with the column 'arrived' of the trace, as it needs rows in the "
                "order of their times; remove 'arrived' from 'columns', or remove this");
        if (read != NULL && kind == LAB_READ_RANGE && wl_has_own_times(&scenario->workload) &&
            lab_node_find(root, "agents") == NULL)
            return lab_fail_at(&reader->tree, &read->name_place,
                               "'range' needs agents when rows do not arrive in the order of their times; "
                               "add 'agents: {count: N}', or remove this");
    }
    return true;
}

bool lab_reading_check(struct lab_reader *reader, const struct lab_node *strategy,
                       const struct lab_settings *settings)
{
    const struct lab_node *read = lab_node_find(strategy, "read");
    const struct lab_node *plan = lab_node_find(read, "plan");
    const struct lab_node *remembers = lab_node_find(read, "remember_empty");
    enum bk_plan asked = settings->reading.plan;
    bool is_hash = settings->strategy.kind == BK_HASH;
    if (read != NULL && lab_node_find(strategy, "then") != NULL)
        return lab_fail_at(&reader->tree, &read->name_place,
                           "'read' conflicts with 'then', whose eras are read by their own plans; remove one "
                           "of them");
    if (is_hash && (asked == BK_PLAN_WALK || asked == BK_PLAN_PAIR))
        return lab_fail_value(reader, plan,
                              "any bucket of hash may hold the newest row; use all, lazy or parallel");
    if (!is_hash && (asked == BK_PLAN_ALL || asked == BK_PLAN_LAZY))
        return lab_fail_value(reader, plan, "only hash can be read this way; use walk, pair or parallel");
    return remembers == NULL || settings->strategy.kind == BK_TIME ||
           lab_fail_at(&reader->tree, &remembers->name_place,
                       "'remember_empty' applies only to time, whose windows close by themselves; remove it");
}
