/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a scenario, one file each, as the table of the top level (scenario.c) puts them together. */
#ifndef LAB_SCENARIO_PART_H
#define LAB_SCENARIO_PART_H

#include "lab/scenario_field.h"

/* scenario_workload.c; the target of each table is the struct lab_scenario. */
extern const struct lab_table lab_keys_table, lab_arrivals_table, lab_trace_table, lab_row_table;
/* What concerns several parts of the workload; completes it. */
bool lab_workload_complete(struct lab_reader *reader, const struct lab_node *root);

/* scenario_gone.c; the target is the struct lab_scenario. Complete once the engine is known. */
extern const struct lab_table lab_deletes_table;
bool lab_gone_complete(struct lab_reader *reader, const struct lab_node *root);

/* scenario_reads.c; the target is the struct lab_scenario. Complete once strategies are read. */
extern const struct lab_table lab_reads_table;
bool lab_reads_complete(struct lab_reader *reader, const struct lab_node *root);
/* `read` of a strategy; the target is a struct lab_reading_draft. */
struct lab_reading_draft {
    int plan, remembers_empty;
    uint32_t at_once;
    int64_t late_ns;
};
extern const struct lab_table lab_reading_table;
/* Whether a strategy of that kind can be read as its node says; then *out is set. */
bool lab_reading_make(struct lab_reader *reader, const struct lab_node *strategy, enum bk_kind kind,
                      const struct lab_reading_draft *draft, struct lab_reading *out);

/* scenario_strategy.c; the target is the struct lab_scenario. */
lab_field_reader lab_read_strategies;
extern const struct lab_table lab_strategy_table; /* of one of them: its kinds, and the settings of each */

/* scenario_then.c: `then`, a list of changes, by kind; the target is a struct lab_changes. */
struct lab_changes {
    uint32_t count;
    struct lab_change items[LAB_CHANGES_MAX];
};
lab_field_reader lab_read_then; /* detail: the table of one change, which is one of these */
extern const struct lab_table lab_then_time_table, lab_then_count_table, lab_then_probabilistic_table,
    lab_then_hash_table, lab_then_weighted_table;
/* What the engine can do with the changes of one strategy, whose settings are the mapping. */
bool lab_then_complete(struct lab_reader *reader, const struct lab_node *settings,
                       const struct lab_strategy *strategy);

/* scenario_cluster.c; the target is the struct lab_scenario. */
extern const struct lab_table lab_cluster_table;
void lab_cluster_default(struct lab_scenario *scenario);
/* The ring's own figures; what the cluster engine asks more of them is with the engine. */
bool lab_cluster_complete(struct lab_reader *reader, const struct lab_node *root);

/* scenario_agents.c; the target is the struct lab_scenario. */
extern const struct lab_table lab_agents_table;
void lab_agents_default(struct lab_agents *agents);
bool lab_agents_complete(struct lab_reader *reader, const struct lab_node *root);

/* scenario_fault.c; the target is the struct lab_scenario. Complete once cluster and agents are. */
lab_field_reader lab_read_faults;
bool lab_faults_complete(struct lab_reader *reader, const struct lab_node *root);

/* scenario_idgen.c. What the table of the strategy fills; its check makes the config of it. */
struct lab_idgen_draft {
    char *label; /* malloc'ed; NULL when none was given */
    bool is_present;
    int choice, lock;
    int64_t constant_ns, exponential_ns, random_ns;
    struct bk_idgen_config config;
};
extern const struct lab_table lab_idgen_table;
/* The target is the struct lab_scenario. */
extern const struct lab_table lab_identifiers_table;
bool lab_identifiers_complete(struct lab_reader *reader, const struct lab_node *root);

/* scenario_observed.c. What the table of the strategy fills; the strings are malloc'ed. */
struct lab_observed_draft {
    char *label, *file, *table;
    int format;
    bool is_present;
};
extern const struct lab_table lab_observed_table;
bool lab_observed_complete(struct lab_reader *reader, const struct lab_node *root);
/* The element of `strategies` itself or the next one that places rows; NULL where there is none. */
const struct lab_node *lab_placing(const struct lab_node *item);

/* scenario_engine.c: the engine, and what it asks of strategies, cluster and consistency. */
bool lab_engine_complete(struct lab_reader *reader, const struct lab_node *root);

/* scenario_table.c; the target is the struct lab_scenario. Complete once strategies, reads and engine are. */
extern const struct lab_table lab_design_table;
bool lab_table_complete(struct lab_reader *reader, const struct lab_node *root);

/* scenario_tune.c; the target is the struct lab_scenario. Complete once reads are read. */
extern const struct lab_table lab_tune_table;
void lab_tune_default(struct lab_tune *tune);
bool lab_tune_complete(struct lab_reader *reader, const struct lab_node *root);

/* scenario_sweep.c: checks the form of `sweep`, which no single run looks at; fills nothing. */
lab_field_reader lab_read_sweep;

/* scenario_override.c: applies one --set argument to the tree. */
bool lab_override_apply(struct lab_tree *tree, struct lab_node *root, const char *argument);

/* scenario.c: a scenario of a tree that was read (and altered) before; `text` becomes its own text, without
 * overrides. On failure *out is NULL, and the tree's error is set. */
bool lab_scenario_of_tree(struct lab_tree *tree, const struct lab_node *root, const char *text,
                          struct lab_scenario **out);
/* Whether the top node is a mapping. */
bool lab_check_root(const struct lab_tree *tree, const struct lab_node *root);

#endif
