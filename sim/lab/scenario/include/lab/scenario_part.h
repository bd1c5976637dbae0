/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a scenario, each read by one file; the table of the top level (scenario_read.c) combines them.
 * The functions ..._complete() make the checks and set the defaults that involve several fields. */
#ifndef LAB_SCENARIO_PART_H
#define LAB_SCENARIO_PART_H

#include "lab/scenario_field.h"

/* scenario_workload.c; the target of each table is the struct lab_scenario. */
extern const struct lab_table lab_keys_table, lab_arrivals_table, lab_trace_table, lab_row_table;
/* Checks that involve several parts of the workload. */
bool lab_workload_complete(struct lab_reader *reader, const struct lab_node *root);

/* scenario_gone.c; the target is the struct lab_scenario. To be completed after the engine is known. */
extern const struct lab_table lab_deletes_table;
bool lab_gone_complete(struct lab_reader *reader, const struct lab_node *root);

/* scenario_reads.c; the target is the struct lab_scenario. To be completed after strategies. */
extern const struct lab_table lab_reads_table;
bool lab_reads_complete(struct lab_reader *reader, const struct lab_node *root);
/* Checks that a strategy can be read with the read settings of its node. */
bool lab_reading_check(struct lab_reader *reader, const struct lab_node *strategy,
                       const struct lab_settings *settings);

/* scenario_setting.c. For a strategy whose kind and settings were read: refuses settings that need another,
 * missing setting, and sets defaults. */
bool lab_settings_complete(struct lab_reader *reader, const struct lab_node *node,
                           struct lab_settings *settings);
/* Replaces the values of a strategy, or of a change, by the struct that the core makes from them; fails when
 * the core refuses them. */
bool lab_strategy_make(struct lab_reader *reader, const struct lab_node *node, struct bk_strategy *strategy);
/* Reads a label; a duplicate is refused. */
lab_field_reader lab_read_label;
/* The table of one change, for the kind whose bit is set; NULL when the settings of that kind cannot
 * change. */
const struct lab_table *lab_change_table(uint32_t kinds);

/* scenario_strategy.c; the target is the struct lab_scenario. */
lab_field_reader lab_read_strategies;
extern const struct lab_table
    lab_strategy_table; /* for one strategy: its kinds, and the settings of each kind */

/* scenario_then.c: `then`, a list of changes; the target is a struct lab_settings. */
lab_field_reader lab_read_then; /* `detail` is the table of one change */
/* Checks that the engine supports the changes of one strategy, whose settings are the mapping. */
bool lab_then_complete(struct lab_reader *reader, const struct lab_node *settings,
                       const struct lab_strategy *strategy);

/* scenario_cluster.c; the target is the struct lab_scenario. */
extern const struct lab_table lab_cluster_table;
void lab_cluster_default(struct lab_scenario *scenario);
/* Checks the ring's settings; the cluster engine's own checks are in scenario_engine.c. */
bool lab_cluster_complete(struct lab_reader *reader, const struct lab_node *root);

/* scenario_node.c: reads how fast a node works into the scenario's network. */
lab_field_reader lab_read_node;

/* scenario_agents.c; the target is the struct lab_scenario. */
extern const struct lab_table lab_agents_table;
void lab_agents_default(struct lab_agents *agents);
bool lab_agents_complete(struct lab_reader *reader, const struct lab_node *root);

/* scenario_fault.c; the target is the struct lab_scenario. To be completed after cluster and agents. */
lab_field_reader lab_read_faults;
bool lab_faults_complete(struct lab_reader *reader, const struct lab_node *root);

/* scenario_idgen.c: the checks of idgen's settings, and of its `backoff`. */
bool lab_check_idgen(struct lab_reader *reader, const struct lab_node *node, void *target);
bool lab_check_backoff(struct lab_reader *reader, const struct lab_node *node, void *target);
/* The target is the struct lab_scenario. */
extern const struct lab_table lab_identifiers_table;
bool lab_identifiers_complete(struct lab_reader *reader, const struct lab_node *root);

/* scenario_observed.c: the check of the settings of `observed`. */
bool lab_check_observed(struct lab_reader *reader, const struct lab_node *node, void *target);
bool lab_observed_complete(struct lab_reader *reader, const struct lab_node *root);
/* The first element of `strategies`, from `item` on, that places rows; NULL when there is none. */
const struct lab_node *lab_placing(const struct lab_node *item);

/* scenario_engine.c: chooses the engine, and checks what it requires of strategies, cluster and
 * consistency. */
bool lab_engine_complete(struct lab_reader *reader, const struct lab_node *root);
/* Chooses whether rows are thinned. To be completed after all that lab_thin_refusal() looks at. */
bool lab_thin_complete(struct lab_reader *reader, const struct lab_node *root);

/* scenario_table.c; the target is the struct lab_scenario. To be completed after strategies, reads and
 * engine. */
extern const struct lab_table lab_design_table;
bool lab_table_complete(struct lab_reader *reader, const struct lab_node *root);

/* scenario_row.c: the columns of a row, and its size. To be completed after the table. */
bool lab_row_complete(struct lab_reader *reader, const struct lab_node *root);
/* scenario_row_cost.c. */
void lab_row_cost_make(const struct lab_scenario *scenario, struct lab_row_cost *out);

/* scenario_tune.c; the target is the struct lab_scenario. To be completed after reads. */
extern const struct lab_table lab_tune_table;
void lab_tune_default(struct lab_tune *tune);
bool lab_tune_complete(struct lab_reader *reader, const struct lab_node *root);

extern const struct lab_table lab_prices_table;
bool lab_prices_complete(struct lab_reader *reader, const struct lab_node *root);

/* scenario_sweep.c: checks the form of `sweep`, which single runs ignore; stores nothing. */
lab_field_reader lab_read_sweep;

/* scenario_override.c: applies one --set argument to the tree. */
bool lab_override_apply(struct lab_tree *tree, struct lab_node *root, const char *argument);

/* scenario_read.c: makes a scenario from a tree that was read, and possibly changed, before. `text` becomes
 * its text, without overrides. On failure *out is NULL, and the tree's error is set. */
bool lab_scenario_of_tree(struct lab_tree *tree, const struct lab_node *root, const char *text,
                          struct lab_scenario **out);
/* scenario_read.c: as lab_scenario_parse(), for a text that was accepted before, possibly by an earlier
 * version of the program; its files must be in one of the folders, if there are some. */
bool lab_scenario_parse_kept(const char *path, const char *text, const char *const *folders,
                             const struct lab_override *overrides, size_t override_count, uint64_t seed,
                             struct lab_scenario **out, struct sim_error *error);
/* Replaces a malloc'ed relative file name by one that is resolved relative to the scenario's folder, and
 * refuses one that is in none of the reader's folders. */
bool lab_resolve(struct lab_reader *reader, char **path);
/* Checks that the top node is a mapping. */
bool lab_check_root(const struct lab_tree *tree, const struct lab_node *root);

#endif
