/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The schema: the migrations that make the tables and views of each version (docs/database.md), the views by
 * which a database of an earlier version reads like one of this version, and the columns of each table with
 * their places in the structs of a result. All INSERT and SELECT statements of rows follow from the columns.
 */
#include <stddef.h>

#include "private.h"
#include "store/store.h"

/* ANY: an INTEGER, or digits as TEXT when the number needs more than 63 bits. */
static const char version_1_tables[] =
    "CREATE TABLE run (\n"
    "  run INTEGER PRIMARY KEY AUTOINCREMENT,\n"
    "  scenario TEXT NOT NULL, about TEXT, source TEXT,\n"
    "  seed ANY NOT NULL, digest TEXT NOT NULL, rows ANY NOT NULL, keys ANY NOT NULL,\n"
    "  start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL,\n"
    "  limit_partition_rows ANY NOT NULL, limit_partition_bytes ANY NOT NULL, limit_tiny_rows ANY NOT NULL,\n"
    "  created_unix_s INTEGER NOT NULL, elapsed_ms INTEGER NOT NULL, version TEXT,\n"
    "  scenario_path TEXT, scenario_text TEXT, overrides TEXT\n"
    ") STRICT;\n"
    "CREATE TABLE strategy (\n"
    "  strategy INTEGER PRIMARY KEY,\n"
    "  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, position INTEGER NOT NULL,\n"
    "  label TEXT NOT NULL, kind TEXT NOT NULL, placement_digest TEXT NOT NULL,\n"
    "  UNIQUE (run, position), UNIQUE (run, label)\n"
    ") STRICT;\n"
    "CREATE TABLE setting (\n"
    "  strategy INTEGER NOT NULL REFERENCES strategy ON DELETE CASCADE,\n"
    "  name TEXT NOT NULL, value ANY NOT NULL,\n"
    "  PRIMARY KEY (strategy, name)\n"
    ") STRICT, WITHOUT ROWID;\n"
    "CREATE TABLE metric (\n"
    "  strategy INTEGER NOT NULL REFERENCES strategy ON DELETE CASCADE, position INTEGER NOT NULL,\n"
    "  name TEXT NOT NULL, value REAL,\n"
    "  PRIMARY KEY (strategy, position)\n"
    ") STRICT, WITHOUT ROWID;\n"
    "CREATE TABLE histogram (\n"
    "  histogram INTEGER PRIMARY KEY,\n"
    "  strategy INTEGER NOT NULL REFERENCES strategy ON DELETE CASCADE,\n"
    "  state TEXT NOT NULL, unit TEXT NOT NULL, is_rounded INTEGER NOT NULL CHECK (is_rounded IN (0, 1)),\n"
    "  count ANY NOT NULL, weight ANY NOT NULL, least ANY NOT NULL, most ANY NOT NULL,\n"
    "  sum ANY NOT NULL, sum_of_squares ANY NOT NULL,\n"
    "  weighted_sum ANY NOT NULL, weighted_sum_of_squares ANY NOT NULL,\n"
    "  UNIQUE (strategy, state, unit)\n"
    ") STRICT;\n"
    "CREATE TABLE bin (\n"
    "  histogram INTEGER NOT NULL REFERENCES histogram ON DELETE CASCADE,\n"
    "  size ANY NOT NULL, count ANY NOT NULL, weight ANY NOT NULL,\n"
    "  PRIMARY KEY (histogram, size)\n"
    ") STRICT, WITHOUT ROWID;\n"
    "CREATE TABLE expectation (\n"
    "  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, position INTEGER NOT NULL,\n"
    "  text TEXT NOT NULL, actual REAL, ok INTEGER NOT NULL CHECK (ok IN (0, 1)),\n"
    "  PRIMARY KEY (run, position)\n"
    ") STRICT, WITHOUT ROWID;\n"
    "CREATE VIEW runs AS SELECT run, scenario, seed, digest, rows, keys,\n"
    "  strftime('%Y-%m-%dT%H:%M:%SZ', created_unix_s, 'unixepoch') AS created, elapsed_ms, version,\n"
    "  (SELECT count(*) FROM strategy WHERE strategy.run = run.run) AS strategies,\n"
    "  (SELECT count(*) FROM expectation WHERE expectation.run = run.run) AS expects,\n"
    "  (SELECT count(*) FROM expectation WHERE expectation.run = run.run AND NOT ok) AS failed,\n"
    "  source,\n"
    "  strftime('%Y-%m-%dT%H:%M:%SZ', start_ns / 1000000000, 'unixepoch') AS starts,\n"
    "  strftime('%Y-%m-%dT%H:%M:%SZ', end_ns / 1000000000, 'unixepoch') AS ends,\n"
    "  scenario_path, overrides FROM run;\n"
    "CREATE VIEW strategies AS SELECT run, label, kind,\n"
    "  (SELECT json_group_object(name, value) FROM setting WHERE setting.strategy = strategy.strategy)\n"
    "    AS settings, placement_digest FROM strategy;\n"
    "CREATE VIEW strategy_metrics AS SELECT run, label, name AS metric, value\n"
    "  FROM metric JOIN strategy USING (strategy);\n"
    "CREATE VIEW partition_histogram AS SELECT run, label, state, unit, size, bin.count AS partitions,\n"
    "  bin.weight AS rows FROM bin JOIN histogram USING (histogram) JOIN strategy USING (strategy)\n"
    "  WHERE state IN ('closed', 'open');\n"
    "CREATE VIEW read_histogram AS SELECT run, label, size AS partitions, bin.count AS reads\n"
    "  FROM bin JOIN histogram USING (histogram) JOIN strategy USING (strategy) WHERE state = 'read';\n";

/* Tables for cluster runs: the digest of events, and the agents' views of a bucket around a change. */
static const char version_2_tables[] =
    "CREATE TABLE event_log (\n"
    "  strategy INTEGER PRIMARY KEY REFERENCES strategy ON DELETE CASCADE,\n"
    "  digest TEXT NOT NULL, events ANY NOT NULL, stride ANY NOT NULL, marks BLOB NOT NULL\n"
    ") STRICT;\n"
    "CREATE TABLE change (\n"
    "  strategy INTEGER PRIMARY KEY REFERENCES strategy ON DELETE CASCADE,\n"
    "  key TEXT NOT NULL, change_ns INTEGER NOT NULL, until_ns INTEGER NOT NULL, agents INTEGER NOT NULL\n"
    ") STRICT;\n"
    "CREATE TABLE belief (\n"
    "  strategy INTEGER NOT NULL REFERENCES change ON DELETE CASCADE, position INTEGER NOT NULL,\n"
    "  time_ns INTEGER NOT NULL, agent INTEGER NOT NULL, bucket INTEGER NOT NULL,\n"
    "  is_known INTEGER NOT NULL CHECK (is_known IN (0, 1)),\n"
    "  is_changing INTEGER NOT NULL CHECK (is_changing IN (0, 1)),\n"
    "  PRIMARY KEY (strategy, position)\n"
    ") STRICT, WITHOUT ROWID;\n"
    "DROP VIEW strategies;\n"
    "CREATE VIEW strategies AS SELECT run, label, kind,\n"
    "  (SELECT json_group_object(name, value) FROM setting WHERE setting.strategy = strategy.strategy)\n"
    "    AS settings, placement_digest, event_log.digest AS event_digest, events\n"
    "  FROM strategy LEFT JOIN event_log USING (strategy);\n"
    "CREATE VIEW agent_views AS SELECT run, label, key, change_ns, until_ns, agents, time_ns, agent, "
    "bucket,\n"
    "  is_known, is_changing\n"
    "  FROM belief JOIN change USING (strategy) JOIN strategy USING (strategy);\n";

/* The largest partitions, sweeps, baselines, and the answers of tune. */
static const char version_3_tables[] =
    "CREATE TABLE largest (\n"
    "  strategy INTEGER NOT NULL REFERENCES strategy ON DELETE CASCADE,\n"
    "  unit TEXT NOT NULL CHECK (unit IN ('rows', 'bytes')),\n"
    "  key TEXT NOT NULL, key_index ANY NOT NULL, bucket INTEGER NOT NULL, size ANY NOT NULL,\n"
    "  PRIMARY KEY (strategy, unit)\n"
    ") STRICT, WITHOUT ROWID;\n"
    "CREATE TABLE sweep (\n"
    "  sweep INTEGER PRIMARY KEY AUTOINCREMENT,\n"
    "  identity TEXT NOT NULL UNIQUE, scenario TEXT NOT NULL, version TEXT NOT NULL,\n"
    "  scenario_path TEXT, scenario_text TEXT, overrides TEXT,\n"
    "  points ANY NOT NULL, jobs ANY NOT NULL, created_unix_s INTEGER NOT NULL\n"
    ") STRICT;\n"
    "CREATE TABLE sweep_point (\n"
    "  sweep INTEGER NOT NULL REFERENCES sweep ON DELETE CASCADE, point INTEGER NOT NULL,\n"
    "  settings TEXT NOT NULL,\n"
    "  PRIMARY KEY (sweep, point)\n"
    ") STRICT, WITHOUT ROWID;\n"
    "CREATE TABLE sweep_job (\n"
    "  sweep INTEGER NOT NULL REFERENCES sweep ON DELETE CASCADE, job INTEGER NOT NULL,\n"
    "  point INTEGER NOT NULL, run INTEGER NOT NULL UNIQUE REFERENCES run ON DELETE CASCADE,\n"
    "  PRIMARY KEY (sweep, job)\n"
    ") STRICT, WITHOUT ROWID;\n"
    "CREATE TABLE baseline (\n"
    "  scenario TEXT PRIMARY KEY, run INTEGER NOT NULL UNIQUE REFERENCES run ON DELETE CASCADE,\n"
    "  seeds INTEGER NOT NULL\n"
    ") STRICT, WITHOUT ROWID;\n"
    "CREATE TABLE baseline_metric (\n"
    "  scenario TEXT NOT NULL REFERENCES baseline ON DELETE CASCADE,\n"
    "  label TEXT NOT NULL, name TEXT NOT NULL,\n"
    "  count INTEGER NOT NULL, mean REAL NOT NULL, stddev REAL NOT NULL, low REAL, high REAL,\n"
    "  PRIMARY KEY (scenario, label, name)\n"
    ") STRICT, WITHOUT ROWID;\n"
    "CREATE TABLE tune (\n"
    "  run INTEGER PRIMARY KEY REFERENCES run ON DELETE CASCADE,\n"
    "  answer TEXT NOT NULL\n"
    ") STRICT;\n"
    "CREATE VIEW largest_partitions AS SELECT run, label, unit, key, bucket, size\n"
    "  FROM largest JOIN strategy USING (strategy);\n";

/* The load of nodes, and the sizes of the partitions that began in each interval of the run. */
static const char version_4_tables[] =
    "CREATE TABLE node (\n"
    "  strategy INTEGER NOT NULL REFERENCES strategy ON DELETE CASCADE, position INTEGER NOT NULL,\n"
    "  name TEXT NOT NULL, rows ANY NOT NULL, bytes ANY NOT NULL,\n"
    "  PRIMARY KEY (strategy, position)\n"
    ") STRICT, WITHOUT ROWID;\n"
    "CREATE TABLE slice (\n"
    "  strategy INTEGER NOT NULL REFERENCES strategy ON DELETE CASCADE,\n"
    "  state TEXT NOT NULL CHECK (state IN ('closed', 'open')),\n"
    "  start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, partitions ANY NOT NULL,\n"
    "  rows_least ANY NOT NULL, rows_p10 ANY NOT NULL, rows_p50 ANY NOT NULL, rows_p90 ANY NOT NULL,\n"
    "  rows_most ANY NOT NULL, bytes_least ANY NOT NULL, bytes_p10 ANY NOT NULL,\n"
    "  bytes_p50 ANY NOT NULL, bytes_p90 ANY NOT NULL, bytes_most ANY NOT NULL,\n"
    "  PRIMARY KEY (strategy, state, start_ns)\n"
    ") STRICT, WITHOUT ROWID;\n"
    "CREATE VIEW node_load AS SELECT run, label, name AS node, rows, bytes\n"
    "  FROM node JOIN strategy USING (strategy);\n"
    "CREATE VIEW partition_timeline AS SELECT run, label, state, unit,\n"
    "  strftime('%Y-%m-%dT%H:%M:%fZ', start_ns / 1e9, 'unixepoch') AS starts,\n"
    "  strftime('%Y-%m-%dT%H:%M:%fZ', end_ns / 1e9, 'unixepoch') AS ends, partitions, least, p10, p50,\n"
    "  p90, most FROM (\n"
    "    SELECT strategy, state, 'rows' AS unit, start_ns, end_ns, partitions, rows_least AS least,\n"
    "    rows_p10 AS p10, rows_p50 AS p50, rows_p90 AS p90, rows_most AS most FROM slice UNION ALL\n"
    "    SELECT strategy, state, 'bytes', start_ns, end_ns, partitions, bytes_least, bytes_p10, bytes_p50,\n"
    "    bytes_p90, bytes_most FROM slice) JOIN strategy USING (strategy);\n";

/* Unfinished runs, and the states from which they can resume. */
static const char version_5_tables[] =
    "CREATE TABLE unfinished (\n"
    "  run INTEGER PRIMARY KEY,\n"
    "  attempt INTEGER NOT NULL, state TEXT NOT NULL CHECK (state IN ('running', 'stopped')),\n"
    "  scenario TEXT NOT NULL, seed ANY NOT NULL, sources TEXT NOT NULL,\n"
    "  created_unix_s INTEGER NOT NULL, elapsed_ms INTEGER NOT NULL, version TEXT NOT NULL,\n"
    "  scenario_path TEXT NOT NULL, scenario_text TEXT NOT NULL, overrides TEXT NOT NULL\n"
    ") STRICT;\n"
    "CREATE TABLE snapshot (\n"
    "  run INTEGER NOT NULL REFERENCES unfinished ON DELETE CASCADE,\n"
    "  part INTEGER NOT NULL, piece INTEGER NOT NULL, bytes BLOB NOT NULL,\n"
    "  PRIMARY KEY (run, part, piece)\n"
    ") STRICT;\n"
    "CREATE VIEW unfinished_runs AS SELECT run, scenario, seed, state, attempt,\n"
    "  strftime('%Y-%m-%dT%H:%M:%SZ', created_unix_s, 'unixepoch') AS created, elapsed_ms, version,\n"
    "  (SELECT count(DISTINCT part) FROM snapshot WHERE snapshot.run = unfinished.run) AS parts,\n"
    "  (SELECT coalesce(sum(length(bytes)), 0) FROM snapshot WHERE snapshot.run = unfinished.run)\n"
    "    AS bytes, scenario_path, overrides FROM unfinished;\n";

/* Settings of locks, of reads and of changes are rows of `setting`, which an older program would take for
 * damage. No table changes, so a reader accepts version 5. */
static const char version_6_tables[] = "";

/* The outcomes of the finished runs of an unfinished tune. Readers do not use them. */
static const char version_7_tables[] =
    "CREATE TABLE tune_outcome (\n"
    "  identity TEXT NOT NULL, job TEXT NOT NULL, command TEXT NOT NULL, digest TEXT NOT NULL,\n"
    "  outcome BLOB NOT NULL,\n"
    "  PRIMARY KEY (identity, job)\n"
    ") STRICT, WITHOUT ROWID;\n";

/* The strategy `none` became `unbucketed`, and so did its default label; `made` rows became `synthetic`.
 * Views show a reader the later names, so it accepts version 5. */
static const char version_8_tables[] =
    "UPDATE baseline_metric SET label = 'unbucketed' WHERE label = 'none' AND EXISTS (\n"
    "  SELECT 1 FROM baseline JOIN strategy USING (run) WHERE baseline.scenario = baseline_metric.scenario\n"
    "  AND strategy.label = 'none' AND strategy.kind = 'none');\n"
    "UPDATE expectation SET text = 'unbucketed.' || substr(text, 6) WHERE text LIKE 'none.%' AND EXISTS (\n"
    "  SELECT 1 FROM strategy WHERE strategy.run = expectation.run\n"
    "  AND strategy.label = 'none' AND strategy.kind = 'none');\n"
    "UPDATE OR IGNORE strategy SET label = 'unbucketed' WHERE label = 'none' AND kind = 'none';\n"
    "UPDATE strategy SET kind = 'unbucketed' WHERE kind = 'none';\n"
    "UPDATE run SET source = 'synthetic' WHERE source = 'made';\n";

/* The criteria of a run that are not the default. */
static const char version_9_tables[] =
    "CREATE TABLE run_term (\n"
    "  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, name TEXT NOT NULL, value REAL NOT NULL,\n"
    "  PRIMARY KEY (run, name)\n"
    ") STRICT, WITHOUT ROWID;\n"
    "CREATE VIEW run_terms AS SELECT run, name AS term, value FROM run_term;\n";

/* The bins of a histogram are one text instead of a row each; `bin` shows them as before. */
#define BINS_OF_ROWS                                                                                         \
    "(SELECT json_group_array(json_array(size, count, weight)) FROM bin WHERE bin.histogram = "              \
    "histogram.histogram)"
static const char version_10_tables[] =
    "ALTER TABLE histogram ADD COLUMN bins TEXT NOT NULL DEFAULT '[]';\n"
    "UPDATE histogram SET bins = " BINS_OF_ROWS ";\n"
    "DROP TABLE bin;\n"
    "CREATE VIEW bin AS SELECT histogram, json_extract(value, '$[0]') AS size,\n"
    "  json_extract(value, '$[1]') AS count, json_extract(value, '$[2]') AS weight\n"
    "  FROM histogram, json_each(bins);\n";

/* Snapshots of unfinished runs are gone, and outcomes are no longer those of a tune only. The outcomes of an
 * earlier version are not used. */
static const char version_11_tables[] =
    "DROP VIEW unfinished_runs;\n"
    "DROP TABLE snapshot;\n"
    "DROP TABLE unfinished;\n"
    "DROP TABLE tune_outcome;\n"
    "CREATE TABLE outcome (\n"
    "  identity TEXT NOT NULL, job TEXT NOT NULL, command TEXT NOT NULL, digest TEXT NOT NULL,\n"
    "  outcome BLOB NOT NULL,\n"
    "  PRIMARY KEY (identity, job)\n"
    ") STRICT, WITHOUT ROWID;\n";

/* Placements are digested in another way than before, so the digests of earlier runs differ. */
static const char version_12_tables[] =
    "ALTER TABLE run ADD COLUMN digest_kind INTEGER NOT NULL DEFAULT 0;\n";

/* What an earlier version lacks, for a reader. */
static const char view_8[] =
    "CREATE TEMP VIEW strategy AS SELECT strategy, run, position, label,\n"
    "  CASE kind WHEN 'none' THEN 'unbucketed' ELSE kind END AS kind, placement_digest\n"
    "  FROM main.strategy";
static const char view_9[] = "CREATE TEMP TABLE run_term (run, name, value)";
static const char view_10[] =
    "CREATE TEMP VIEW histogram AS SELECT *, " BINS_OF_ROWS " AS bins FROM main.histogram AS histogram";
static const char view_12[] =
    "CREATE TEMP VIEW run AS SELECT run, scenario, about,\n"
    "  CASE source WHEN 'made' THEN 'synthetic' ELSE source END AS source, seed, digest, rows, keys, "
    "start_ns,\n"
    "  end_ns, limit_partition_rows, limit_partition_bytes, limit_tiny_rows, created_unix_s, elapsed_ms,\n"
    "  version, scenario_path, scenario_text, overrides, 0 AS digest_kind FROM main.run";

static const struct store_migration migrations[] = {
    {version_1_tables, NULL},     {version_2_tables, NULL},   {version_3_tables, NULL},
    {version_4_tables, NULL},     {version_5_tables, NULL},   {version_6_tables, NULL},
    {version_7_tables, NULL},     {version_8_tables, view_8}, {version_9_tables, view_9},
    {version_10_tables, view_10}, {version_11_tables, NULL},  {version_12_tables, view_12}};

const struct store_options store_options_default = {
    .busy_timeout_ms = 3000,
    .migrations = migrations,
    .version = sizeof migrations / sizeof *migrations,
    .readable_version = 5,
};

static const char *const states[] = {[LAB_CLOSED] = "closed", [LAB_OPEN] = "open", NULL};
static const char *const units[] = {[LAB_IN_ROWS] = "rows", [LAB_IN_BYTES] = "bytes", NULL};

#define AT(kind, column, row, member)                                                                        \
    {                                                                                                        \
        .name = column, .type = STORE_##kind, .offset = offsetof(struct row, member)                         \
    }
#define OF(list, row)                                                                                        \
    .columns = list, .column_count = sizeof(list) / sizeof *(list), .row_bytes = sizeof(struct row)

/* The last ones are only read. Strategies are counted in their table and found through its index: if one of
 * the two is damaged, the results differ. */
static const struct store_column run_columns[] = {
    AT(NAME, "scenario", store_head, result.scenario_name),
    AT(TEXT, "about", store_head, result.about),
    AT(TEXT, "source", store_head, result.source),
    AT(WHOLE, "seed", store_head, result.seed),
    AT(DIGEST, "digest", store_head, result.digest),
    AT(WHOLE, "rows", store_head, result.rows),
    AT(WHOLE, "keys", store_head, result.keys),
    AT(INTEGER, "start_ns", store_head, result.start_ns),
    AT(INTEGER, "end_ns", store_head, result.end_ns),
    AT(WHOLE, "limit_partition_rows", store_head, result.limits.partition_rows),
    AT(WHOLE, "limit_partition_bytes", store_head, result.limits.partition_bytes),
    AT(WHOLE, "limit_tiny_rows", store_head, result.limits.tiny_rows),
    AT(INTEGER, "created_unix_s", store_head, info.created_unix_s),
    AT(SPAN, "elapsed_ms", store_head, info.elapsed_ms),
    AT(TEXT, "version", store_head, info.version),
    AT(TEXT, "scenario_path", store_head, info.scenario_path),
    AT(TEXT, "scenario_text", store_head, info.scenario_text),
    AT(TEXT, "overrides", store_head, info.overrides),
    AT(INTEGER, "digest_kind", store_head, digest_kind),
    AT(INTEGER, "run", store_head, info.run),
    AT(WHOLE, "(SELECT count(*) FROM strategy WHERE +strategy.run = run.run)", store_head, strategies),
    AT(FLAG, "EXISTS (SELECT 1 FROM tune WHERE tune.run = run.run)", store_head, result.is_tuned),
};
#define RUN_ONLY_READ 3
static const struct store_column strategy_columns[] = {
    AT(INTEGER, "position", store_strategy_row, position),
    AT(NAME, "label", store_strategy_row, label),
    AT(NAME, "kind", store_strategy_row, kind),
    AT(DIGEST, "placement_digest", store_strategy_row, placement_digest),
    AT(INTEGER, "strategy", store_strategy_row, id),
};
static const struct store_column metric_columns[] = {
    {"name", STORE_CHARS, offsetof(struct lab_metric, name), LAB_METRIC_NAME_SIZE, NULL},
    AT(REAL, "value", lab_metric, value),
};
static const struct store_column histogram_columns[] = {
    AT(NAME, "state", store_histogram_row, state),
    AT(NAME, "unit", store_histogram_row, unit),
    AT(FLAG, "is_rounded", store_histogram_row, figures.is_rounded),
    AT(WHOLE, "count", store_histogram_row, figures.count),
    AT(WHOLE, "weight", store_histogram_row, figures.weight),
    AT(WHOLE, "least", store_histogram_row, figures.least),
    AT(WHOLE, "most", store_histogram_row, figures.most),
    AT(WIDE, "sum", store_histogram_row, figures.sum),
    AT(WIDE, "sum_of_squares", store_histogram_row, figures.sum_of_squares),
    AT(WIDE, "weighted_sum", store_histogram_row, figures.weighted_sum),
    AT(WIDE, "weighted_sum_of_squares", store_histogram_row, figures.weighted_sum_of_squares),
    AT(NAME, "bins", store_histogram_row, bins),
};
static const struct store_column event_columns[] = {
    AT(DIGEST, "digest", store_event_row, log.digest),
    AT(WHOLE, "events", store_event_row, log.events),
    AT(WHOLE, "stride", store_event_row, log.stride),
    AT(BLOB, "marks", store_event_row, marks),
};
static const struct store_column change_columns[] = {
    AT(NAME, "key", lab_views, key),
    AT(INTEGER, "change_ns", lab_views, change_ns),
    AT(INTEGER, "until_ns", lab_views, until_ns),
    AT(U32, "agents", lab_views, agents),
};
static const struct store_column belief_columns[] = {
    AT(INTEGER, "time_ns", lab_view, time_ns),      AT(U32, "agent", lab_view, agent),
    AT(INTEGER, "bucket", lab_view, bucket),        AT(FLAG, "is_known", lab_view, is_known),
    AT(FLAG, "is_changing", lab_view, is_changing),
};
static const struct store_column largest_columns[] = {
    {"unit", STORE_WORD, offsetof(struct store_largest_row, unit), 0, units},
    {"key", STORE_CHARS, offsetof(struct store_largest_row, largest.key), LAB_KEY_NAME_SIZE, NULL},
    AT(WHOLE, "key_index", store_largest_row, largest.key_index),
    AT(INTEGER, "bucket", store_largest_row, largest.bucket),
    AT(WHOLE, "size", store_largest_row, largest.size),
};
#define SIZES(prefix, unit)                                                                                  \
    AT(WHOLE, prefix "_least", lab_slice, sizes[unit].least),                                                \
        AT(WHOLE, prefix "_p10", lab_slice, sizes[unit].p10),                                                \
        AT(WHOLE, prefix "_p50", lab_slice, sizes[unit].p50),                                                \
        AT(WHOLE, prefix "_p90", lab_slice, sizes[unit].p90),                                                \
        AT(WHOLE, prefix "_most", lab_slice, sizes[unit].most)
static const struct store_column slice_columns[] = {
    {"state", STORE_WORD, offsetof(struct lab_slice, state), 0, states},
    AT(INTEGER, "start_ns", lab_slice, start_ns),
    AT(INTEGER, "end_ns", lab_slice, end_ns),
    AT(WHOLE, "partitions", lab_slice, partitions),
    SIZES("rows", LAB_IN_ROWS),
    SIZES("bytes", LAB_IN_BYTES),
};
static const struct store_column node_columns[] = {
    {"name", STORE_CHARS, offsetof(struct lab_node_load, name), LAB_NODE_NAME_SIZE, NULL},
    AT(WHOLE, "rows", lab_node_load, rows),
    AT(WHOLE, "bytes", lab_node_load, bytes),
};
static const struct store_column expectation_columns[] = {
    AT(NAME, "text", lab_expect_result, text),
    AT(REAL, "actual", lab_expect_result, actual),
    AT(FLAG, "ok", lab_expect_result, ok),
};
static const struct store_column term_columns[] = {
    AT(NAME, "name", store_term_row, name),
    AT(REAL, "value", store_term_row, value),
};
static const struct store_column tune_columns[] = {AT(TEXT, "answer", store_text_row, text)};
static const struct store_column baseline_columns[] = {
    AT(NAME, "scenario", store_baseline_row, scenario),
    AT(WHOLE, "seeds", store_baseline_row, seeds),
    AT(INTEGER, "run", store_baseline_row, run),
};
static const struct store_column baseline_metric_columns[] = {
    AT(NAME, "label", store_baseline_metric, label),
    {"name", STORE_CHARS, offsetof(struct store_baseline_metric, name), LAB_METRIC_NAME_SIZE, NULL},
    AT(WHOLE, "count", store_baseline_metric, count),
    AT(REAL, "mean", store_baseline_metric, mean),
    AT(REAL, "stddev", store_baseline_metric, stddev),
    AT(REAL, "low", store_baseline_metric, low),
    AT(REAL, "high", store_baseline_metric, high),
};
static const struct store_column sweep_columns[] = {
    AT(DIGEST, "identity", store_work_row, identity),
    AT(NAME, "scenario", store_work_row, scenario),
    AT(NAME, "version", store_work_row, version),
    AT(TEXT, "scenario_path", store_work_row, path),
    AT(TEXT, "scenario_text", store_work_row, text),
    AT(TEXT, "overrides", store_work_row, overrides),
    AT(WHOLE, "points", store_work_row, points),
    AT(WHOLE, "jobs", store_work_row, jobs),
    AT(INTEGER, "created_unix_s", store_work_row, created_unix_s),
    AT(INTEGER, "sweep", store_work_row, sweep),
};
static const struct store_column point_columns[] = {AT(NAME, "settings", store_text_row, text)};
static const struct store_column job_columns[] = {
    AT(INTEGER, "sweep", store_job_row, sweep),
    AT(SPAN, "job", store_job_row, job),
    AT(INTEGER, "point", store_job_row, point),
    AT(INTEGER, "run", store_job_row, run),
    AT(DIGEST, "(SELECT digest FROM run WHERE run.run = sweep_job.run)", store_job_row, digest),
};
static const struct store_column outcome_columns[] = {
    AT(DIGEST, "identity", store_outcome_row, identity), AT(DIGEST, "job", store_outcome_row, job),
    AT(DIGEST, "command", store_outcome_row, command),   AT(DIGEST, "digest", store_outcome_row, digest),
    AT(BLOB, "outcome", store_outcome_row, outcome),
};
static const struct store_column run_list_columns[] = {
    AT(INTEGER, "run", store_run_row, run),
    AT(NAME, "scenario", store_run_row, scenario_name),
    AT(WHOLE, "seed", store_run_row, seed),
    AT(DIGEST, "digest", store_run_row, digest),
    AT(WHOLE, "rows", store_run_row, rows),
    AT(INTEGER, "created_unix_s", store_run_row, created_unix_s),
    AT(SPAN, "elapsed_ms", store_run_row, elapsed_ms),
    AT(INTEGER, "(SELECT count(*) FROM strategy WHERE strategy.run = run.run)", store_run_row,
       strategy_count),
    AT(INTEGER, "(SELECT count(*) FROM expectation WHERE expectation.run = run.run)", store_run_row, expects),
    AT(INTEGER, "(SELECT count(*) FROM expectation WHERE expectation.run = run.run AND NOT ok)",
       store_run_row, expects_failed),
    AT(TEXT, "version", store_run_row, version),
    AT(INTEGER, "coalesce(sweep, 0)", store_run_row, sweep),
    AT(INTEGER, "coalesce(runs, 0)", store_run_row, sweep_runs),
};
static const struct store_column seed_columns[] = {
    AT(INTEGER, "other.run", store_seed_row, run),
    AT(WHOLE, "other.seed", store_seed_row, seed),
    AT(TEXT, "other.overrides", store_seed_row, overrides),
    AT(TEXT, "one.overrides", store_seed_row, wanted),
};

const struct store_table store_tables[STORE_TABLE_COUNT] = {
    [STORE_RUN] = {.name = "run", OF(run_columns, store_head), .only_read = RUN_ONLY_READ},
    [STORE_STRATEGY] = {.name = "strategy",
                        .owner = "run",
                        .order = "position",
                        .only_read = 1,
                        OF(strategy_columns, store_strategy_row)},
    [STORE_SETTING] = {.name = "setting", .owner = "strategy", OF(term_columns, store_term_row)},
    [STORE_METRIC] = {.name = "metric",
                      .owner = "strategy",
                      .position = "position",
                      OF(metric_columns, lab_metric)},
    [STORE_HISTOGRAM] = {.name = "histogram",
                         .owner = "strategy",
                         OF(histogram_columns, store_histogram_row)},
    [STORE_EVENT_LOG] = {.name = "event_log", .owner = "strategy", OF(event_columns, store_event_row)},
    [STORE_CHANGE] = {.name = "change", .owner = "strategy", OF(change_columns, lab_views)},
    [STORE_BELIEF] = {.name = "belief",
                      .owner = "strategy",
                      .position = "position",
                      OF(belief_columns, lab_view)},
    [STORE_LARGEST] = {.name = "largest", .owner = "strategy", OF(largest_columns, store_largest_row)},
    [STORE_SLICE] = {.name = "slice",
                     .owner = "strategy",
                     .order = "state, start_ns",
                     OF(slice_columns, lab_slice)},
    [STORE_NODE] = {.name = "node",
                    .owner = "strategy",
                    .position = "position",
                    OF(node_columns, lab_node_load)},
    [STORE_EXPECTATION] = {.name = "expectation",
                           .owner = "run",
                           .position = "position",
                           OF(expectation_columns, lab_expect_result)},
    [STORE_TERM] = {.name = "run_term", .owner = "run", OF(term_columns, store_term_row)},
    [STORE_TUNE] = {.name = "tune", .owner = "run", OF(tune_columns, store_text_row)},
    [STORE_BASELINE] = {.name = "baseline",
                        .owner = "run",
                        .only_read = 1,
                        OF(baseline_columns, store_baseline_row)},
    [STORE_BASELINE_METRIC] = {.name = "baseline_metric",
                               .owner = "scenario",
                               .order = "label, name",
                               .key = "(SELECT scenario FROM baseline WHERE run = ?1)",
                               OF(baseline_metric_columns, store_baseline_metric)},
    [STORE_SWEEP] = {.name = "sweep", .only_read = 1, OF(sweep_columns, store_work_row)},
    [STORE_SWEEP_POINT] = {.name = "sweep_point",
                           .owner = "sweep",
                           .position = "point",
                           .first = 1,
                           OF(point_columns, store_text_row)},
    [STORE_SWEEP_JOB] = {.name = "sweep_job", .only_read = 1, OF(job_columns, store_job_row)},
    [STORE_OUTCOME] = {.name = "outcome", OF(outcome_columns, store_outcome_row)},
    [STORE_RUN_LIST] = {.name = "run LEFT JOIN sweep_job USING (run) LEFT JOIN (SELECT sweep, count(*) AS "
                                "runs, max(run) AS newest FROM sweep_job GROUP BY sweep) USING (sweep)",
                        OF(run_list_columns, store_run_row)},
    [STORE_SEED_LIST] = {.name = "run AS one JOIN run AS other ON other.scenario = one.scenario AND "
                                 "other.version IS one.version AND other.scenario_text IS one.scenario_text "
                                 "AND (one.source = 'synthetic' OR other.scenario_path IS one.scenario_path)",
                         OF(seed_columns, store_seed_row)},
};
