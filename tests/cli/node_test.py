# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: the commands read a measured node from its file, and report when the file is missing or has changed.
Method: the recorded node and one that is written here, in runs, sweeps and replays; fuzz_test.py tests the
files that fuzz keeps.
"""
import json
import os
import shutil
import unittest

from program import SOURCE, ProgramTest

RECORDED = os.path.join(SOURCE, "tests", "cassandra5", "latency", "one-v1.json")
CLUSTER = """\
name: measured
duration: 2m
keys: {count: 5}
arrivals: {rate: 20/s}
reads: {latest: {rows: 100, rate: 10/s}}
agents: {count: 2}
cluster: {nodes: 3, network: {latency: 0s}, node: {like: measured.json}}
strategies: [{unbucketed: {}}]
"""


class NodeTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("slow.yaml", CLUSTER)

    def node(self, **settings):
        self.write("measured.json", json.dumps({"node": settings, "nodes": 1, "points": []}))

    def latency(self, *words):
        run = self.good_json("run", "slow.yaml", "--json", "--quiet", "--no-charts", *words)
        return run["strategies"][0]["metrics"]["latency.write.p50"]

    def test_a_run_is_as_fast_as_the_measured_node(self):
        self.node(coordinate="5ms", write="2ms")
        self.assertAlmostEqual(self.latency(), 7, delta=0.5)
        self.assertAlmostEqual(self.latency("--set", "cluster.node.coordinate=1ms"), 3, delta=0.5)
        shutil.copy(RECORDED, os.path.join(self.folder, "measured.json"))
        self.assertLess(self.latency(), 0.2)

    def test_a_stored_run_is_replayed_with_its_file_only(self):
        self.node(write="2ms")
        self.good("run", "slow.yaml", "--no-charts", "--quiet")
        self.good("replay", "last", "--quiet")
        self.node(write="3ms")
        self.assertNotEqual(self.run_program("replay", "last", "--quiet")[0], 0)
        os.remove(os.path.join(self.folder, "measured.json"))
        self.assertIn("measured.json:1:1: cannot be opened: No such file or directory; check the name",
                      self.bad(2, "run", "slow.yaml", "--quiet"))

    def test_the_node_file_is_never_overwritten(self):
        self.node(write="2ms")
        self.assertRegex(self.bad(2, "run", "slow.yaml", "--quiet", "--no-charts", "--db", "measured.json"),
                         "measured node")

    def test_a_sweep_of_another_node_is_another_sweep(self):
        self.write("sweep.yaml", CLUSTER + "sweep: {grid: {arrivals.rate: [10/s, 20/s]}, seeds: 1}\n")
        self.node(write="2ms")
        first = self.good_json("sweep", "sweep.yaml", "--json", "--quiet")
        self.node(write="3ms")
        second = self.good_json("sweep", "sweep.yaml", "--json", "--quiet")
        self.assertNotEqual(first["identity"], second["identity"])
        self.assertNotEqual(first["digest"], second["digest"])


if __name__ == "__main__":
    unittest.main()
