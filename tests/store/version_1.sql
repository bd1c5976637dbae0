-- SPDX-License-Identifier: GPL-3.0-or-later
-- A database as version 1 of the tables left it: written by the store of that time, told by sqlite3's .dump.
PRAGMA application_id=0x626b6c62;
PRAGMA user_version=1;
PRAGMA journal_mode=WAL;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE run (
  run INTEGER PRIMARY KEY AUTOINCREMENT,
  scenario TEXT NOT NULL, about TEXT, source TEXT,
  seed ANY NOT NULL, digest TEXT NOT NULL, rows ANY NOT NULL, keys ANY NOT NULL,
  start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL,
  limit_partition_rows ANY NOT NULL, limit_partition_bytes ANY NOT NULL, limit_tiny_rows ANY NOT NULL,
  created_unix_s INTEGER NOT NULL, elapsed_ms INTEGER NOT NULL, version TEXT,
  scenario_path TEXT, scenario_text TEXT, overrides TEXT
) STRICT;
INSERT INTO run VALUES(1,'chat-channels',replace('Kanäle, ''quoted''\nand two lines','\n',char(10)),'made',1,'00c0ffee00000001',1555200000,10000,1767225600000000000,1775001600000000000,100000,100000000,24,1767225600,1234,'0.1.0','scenarios/chat-channels.yaml',replace('name: chat-channels\nseed: 1\n','\n',char(10)),replace('arrivals.rate=300/s\n','\n',char(10)));
CREATE TABLE strategy (
  strategy INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, position INTEGER NOT NULL,
  label TEXT NOT NULL, kind TEXT NOT NULL, placement_digest TEXT NOT NULL,
  UNIQUE (run, position), UNIQUE (run, label)
) STRICT;
INSERT INTO strategy VALUES(1,1,0,'none','none','0000000000000000');
INSERT INTO strategy VALUES(2,1,1,'time','time','5692161d100b05e5');
INSERT INTO strategy VALUES(3,1,2,'monthly','time','dbd238973a2b148a');
CREATE TABLE setting (
  strategy INTEGER NOT NULL REFERENCES strategy ON DELETE CASCADE,
  name TEXT NOT NULL, value ANY NOT NULL,
  PRIMARY KEY (strategy, name)
) STRICT, WITHOUT ROWID;
INSERT INTO setting VALUES(2,'epoch_ns',-1000000000);
INSERT INTO setting VALUES(2,'window_ns',864000000000000);
INSERT INTO setting VALUES(3,'calendar','month');
CREATE TABLE metric (
  strategy INTEGER NOT NULL REFERENCES strategy ON DELETE CASCADE, position INTEGER NOT NULL,
  name TEXT NOT NULL, value REAL,
  PRIMARY KEY (strategy, position)
) STRICT, WITHOUT ROWID;
INSERT INTO metric VALUES(1,0,'partitions.closed',1.0);
INSERT INTO metric VALUES(1,1,'partitions.closed.rows.mean',1.1000000000000000888);
INSERT INTO metric VALUES(1,2,'partitions.closed.rows.p99',7.0);
INSERT INTO metric VALUES(1,3,'partitions.over_limit',1.0);
INSERT INTO metric VALUES(1,4,'writes.extra_ops_per_1000_rows',0.33333333333333331482);
INSERT INTO metric VALUES(2,0,'partitions.closed',1.0);
INSERT INTO metric VALUES(2,1,'partitions.closed.rows.mean',1.1000000000000000888);
INSERT INTO metric VALUES(2,2,'partitions.closed.rows.p99',7.0);
INSERT INTO metric VALUES(2,3,'partitions.over_limit',1.0);
INSERT INTO metric VALUES(2,4,'writes.extra_ops_per_1000_rows',0.33333333333333331482);
INSERT INTO metric VALUES(3,0,'partitions.closed',1.0);
INSERT INTO metric VALUES(3,1,'partitions.closed.rows.mean',1.1000000000000000888);
INSERT INTO metric VALUES(3,2,'partitions.closed.rows.p99',7.0);
INSERT INTO metric VALUES(3,3,'partitions.over_limit',1.0);
INSERT INTO metric VALUES(3,4,'writes.extra_ops_per_1000_rows',0.33333333333333331482);
CREATE TABLE histogram (
  histogram INTEGER PRIMARY KEY,
  strategy INTEGER NOT NULL REFERENCES strategy ON DELETE CASCADE,
  state TEXT NOT NULL, unit TEXT NOT NULL, is_rounded INTEGER NOT NULL CHECK (is_rounded IN (0, 1)),
  count ANY NOT NULL, weight ANY NOT NULL, least ANY NOT NULL, most ANY NOT NULL,
  sum ANY NOT NULL, sum_of_squares ANY NOT NULL,
  weighted_sum ANY NOT NULL, weighted_sum_of_squares ANY NOT NULL,
  UNIQUE (strategy, state, unit)
) STRICT;
INSERT INTO histogram VALUES(1,1,'closed','rows',0,2,14,7,7,14,98,98,686);
INSERT INTO histogram VALUES(2,1,'open','rows',0,1,3,3,3,3,9,9,27);
INSERT INTO histogram VALUES(3,1,'closed','bytes',0,2,14,7001,7001,14002,98028002,98014,686196014);
INSERT INTO histogram VALUES(4,1,'open','bytes',0,1,3,3001,3001,3001,9006001,9003,27018003);
INSERT INTO histogram VALUES(5,1,'read','partitions',0,40,40,2,2,80,160,80,160);
INSERT INTO histogram VALUES(6,2,'closed','rows',0,2,14,7,7,14,98,98,686);
INSERT INTO histogram VALUES(7,2,'open','rows',0,1,3,3,3,3,9,9,27);
INSERT INTO histogram VALUES(8,2,'closed','bytes',0,2,14,7001,7001,14002,98028002,98014,686196014);
INSERT INTO histogram VALUES(9,2,'open','bytes',0,1,3,3001,3001,3001,9006001,9003,27018003);
INSERT INTO histogram VALUES(10,2,'read','partitions',0,40,40,2,2,80,160,80,160);
INSERT INTO histogram VALUES(11,3,'closed','rows',0,2,14,7,7,14,98,98,686);
INSERT INTO histogram VALUES(12,3,'open','rows',0,1,3,3,3,3,9,9,27);
INSERT INTO histogram VALUES(13,3,'closed','bytes',0,2,14,7001,7001,14002,98028002,98014,686196014);
INSERT INTO histogram VALUES(14,3,'open','bytes',0,1,3,3001,3001,3001,9006001,9003,27018003);
INSERT INTO histogram VALUES(15,3,'read','partitions',0,40,40,2,2,80,160,80,160);
CREATE TABLE bin (
  histogram INTEGER NOT NULL REFERENCES histogram ON DELETE CASCADE,
  size ANY NOT NULL, count ANY NOT NULL, weight ANY NOT NULL,
  PRIMARY KEY (histogram, size)
) STRICT, WITHOUT ROWID;
INSERT INTO bin VALUES(1,7,2,14);
INSERT INTO bin VALUES(2,3,1,3);
INSERT INTO bin VALUES(3,7001,2,14);
INSERT INTO bin VALUES(4,3001,1,3);
INSERT INTO bin VALUES(5,2,40,40);
INSERT INTO bin VALUES(6,7,2,14);
INSERT INTO bin VALUES(7,3,1,3);
INSERT INTO bin VALUES(8,7001,2,14);
INSERT INTO bin VALUES(9,3001,1,3);
INSERT INTO bin VALUES(10,2,40,40);
INSERT INTO bin VALUES(11,7,2,14);
INSERT INTO bin VALUES(12,3,1,3);
INSERT INTO bin VALUES(13,7001,2,14);
INSERT INTO bin VALUES(14,3001,1,3);
INSERT INTO bin VALUES(15,2,40,40);
CREATE TABLE expectation (
  run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, position INTEGER NOT NULL,
  text TEXT NOT NULL, actual REAL, ok INTEGER NOT NULL CHECK (ok IN (0, 1)),
  PRIMARY KEY (run, position)
) STRICT, WITHOUT ROWID;
INSERT INTO expectation VALUES(1,0,'none.partitions.over_limit == 1',1.0,1);
INSERT INTO expectation VALUES(1,1,'hash.partitions.closed < 1',3.5,0);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('run',1);
CREATE VIEW runs AS SELECT run, scenario, seed, digest, rows, keys,
  strftime('%Y-%m-%dT%H:%M:%SZ', created_unix_s, 'unixepoch') AS created, elapsed_ms, version,
  (SELECT count(*) FROM strategy WHERE strategy.run = run.run) AS strategies,
  (SELECT count(*) FROM expectation WHERE expectation.run = run.run) AS expects,
  (SELECT count(*) FROM expectation WHERE expectation.run = run.run AND NOT ok) AS failed,
  source,
  strftime('%Y-%m-%dT%H:%M:%SZ', start_ns / 1000000000, 'unixepoch') AS starts,
  strftime('%Y-%m-%dT%H:%M:%SZ', end_ns / 1000000000, 'unixepoch') AS ends,
  scenario_path, overrides FROM run;
CREATE VIEW strategies AS SELECT run, label, kind,
  (SELECT json_group_object(name, value) FROM setting WHERE setting.strategy = strategy.strategy)
    AS settings, placement_digest FROM strategy;
CREATE VIEW strategy_metrics AS SELECT run, label, name AS metric, value
  FROM metric JOIN strategy USING (strategy);
CREATE VIEW partition_histogram AS SELECT run, label, state, unit, size, bin.count AS partitions,
  bin.weight AS rows FROM bin JOIN histogram USING (histogram) JOIN strategy USING (strategy)
  WHERE state IN ('closed', 'open');
CREATE VIEW read_histogram AS SELECT run, label, size AS partitions, bin.count AS reads
  FROM bin JOIN histogram USING (histogram) JOIN strategy USING (strategy) WHERE state = 'read';
COMMIT;
