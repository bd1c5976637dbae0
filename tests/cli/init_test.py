# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: `init` writes a scenario that runs unchanged, completely or not at all, and never overwrites a file.
Method: the test inspects the files that it leaves, and runs the scenario.
"""
import os
import unittest

from program import SOURCE, ProgramTest


class InitTest(ProgramTest):
    def test_init_writes_the_starter_whole(self):
        self.assertEqual(self.good("init"), "wrote scenario.yaml; try it: bucketlab run scenario.yaml\n")
        self.assertEqual(self.files(), ["scenario.yaml"])
        with open(os.path.join(SOURCE, "sim", "cli", "commands", "run", "starter.yaml"), "rb") as file:
            starter = file.read()
        with open(os.path.join(self.folder, "scenario.yaml"), "rb") as file:
            self.assertEqual(file.read(), starter)

    def test_init_of_a_name_adds_the_ending_once(self):
        self.good("init", "chat")
        self.good("init", "tweets.yaml")
        self.assertEqual(self.files(), ["chat.yaml", "tweets.yaml"])

    def test_init_without_room_leaves_nothing(self):
        self.assertIn("scenario.yaml: ", self.bad(3, "init", **self.small_files(100)))
        self.assertEqual(self.files(), [])

    def test_starter_runs_and_its_expectations_hold(self):
        self.good("init")
        result = self.good_json("run", "scenario.yaml", "--json", "--quiet", "--no-charts")
        self.assertEqual([s["label"] for s in result["strategies"]],
                         ["unbucketed", "time", "count", "probabilistic", "hash"])
        self.assertEqual(result["scenario"], "scenario")  # named after its file
        self.assertTrue(result["expect"] and all(expect["ok"] for expect in result["expect"]))

    def test_a_table_of_a_schema_becomes_a_scenario_that_runs(self):
        self.write("s.cql", """-- DESCRIBE
CREATE TYPE IF NOT EXISTS shop.location (street text, zip int);
CREATE TABLE shop.events (tenant text, day date, kind text, at timestamp, id timeuuid, level tinyint, body text,
    "Odd Name" varint, tags set<text>, who location, vec vector<float, 4>, owner text STATIC, /* , */
    PRIMARY KEY ((tenant, kind, day), at, id)
) WITH CLUSTERING ORDER BY (at DESC, id ASC) AND bloom_filter_fp_chance = 0.01 AND comment = 'a; b AND c'
  AND compaction = {'class': 'LeveledCompactionStrategy'} AND default_time_to_live = 604800;
CREATE TABLE kv (k text PRIMARY KEY, v blob);
CREATE TABLE likes (post uuid, who uuid, n counter, PRIMARY KEY (post, who)) WITH COMPACT STORAGE;
CREATE TABLE odd (a int, b int, c nothing, PRIMARY KEY (a, b));
CREATE TABLE worse (a int, b int, PRIMARY KEY (a, d));
""")
        for name in ("events", "likes"):
            self.good("init", name, "--table", "s.cql")
            self.good("run", name + ".yaml", "--set", "duration=10m", "--quiet", "--no-charts", "--no-store")
        with open(os.path.join(self.folder, "events.yaml"), encoding="utf-8") as file:
            text = file.read()
        for wanted in ("schema: {file: 's.cql', table: events}",
                       "  # tenant: the key, kind: goes with the key, day: the bucket, at: the time, id: the id",
                       "'Odd Name': {bytes: 4B} # varint\n", "'tags': {bytes: 20B, elements: 5} # set<text>\n",
                       "'owner': {bytes: 20B} # text\n", "'who': {bytes: 20B, elements: 5} # location\n"):
            self.assertIn(wanted, text)
        self.assertNotIn("'vec'", text)
        # The schema's table is the one of the scenario's name, which may come last.
        self.write("last.yaml", text.replace(", table: events", "") + "name: events\n")
        self.assertEqual(self.good("cql", "last.yaml"), self.good("cql", "events.yaml"))
        printed = self.good("cql", "events.yaml")
        self.assertIn("CREATE TYPE IF NOT EXISTS shop.location (street text, zip int);", printed)
        self.assertIn("((tenant, kind, day), at, id)\n) WITH CLUSTERING ORDER BY (at DESC, id ASC) AND bloom",
                      printed)
        self.assertIn("PRIMARY KEY ((post, bucket), who)) WITH COMPACT STORAGE;", self.good("cql", "likes.yaml"))
        for name, said in (("kv", "s.cql:8: table kv has no clustering columns"),
                           ("odd", "s.cql:10: column c has the type nothing, which is not known"),
                           ("worse", "s.cql:11: the primary key names 'd'"),
                           ("none", "s.cql:3: 5 tables, events, kv, likes, odd, worse; name the one")):
            self.assertIn(said, self.bad(2, "init", name, "--table", "s.cql"))


if __name__ == "__main__":
    unittest.main()
