#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: `why` names the fault that caused a violation, and calls a violation without a causing fault a race.
Method: small clusters in which the cause is known: a quorum lost by a network partition, rows dated by a
clock that jumped, two nodes that must both be down, two partitions of which either is sufficient, and a
protocol with a race.
"""
import unittest

from program import ProgramTest

SCENARIO = """\
name: cut
seed: 3
duration: 60s
keys: {count: 3}
arrivals: {rate: 40/s}
row: {bytes: 100}
cluster: {nodes: 3, replication_factor: 3}
agents: {count: 4, cache_ttl: 500ms, clock: {bound: 1ms}}
strategies:
  - probabilistic: {bits: 3, threshold: 10, coordination: three-state, lead: 3s, label: dated}
faults:
"""
PARTITION = "  - network_partition: {between: [agents, node 1], at: 20s, lasts: 5s}\n"
JUMP = "  - clock_jump: {agent: 2, at: 40s, by: -30s}\n"


class WhyTest(ProgramTest):
    def why(self, text, *arguments):
        self.write("cut.yaml", text)
        return self.good_json("why", "cut.yaml", "--json", "--quiet", *arguments)

    def test_each_of_two_faults_is_blamed_for_its_effect(self):
        found = self.why(SCENARIO + PARTITION + JUMP)
        self.assertEqual(found["faults"],
                         ["network_partition at 20s (line 12)", "clock_jump of agent 2 at 40s (line 13)"])
        dated, = found["strategies"]
        self.assertEqual((dated["label"], dated["protocol"]), ("dated", "three-state"))
        misrouted, refused, slow = dated["misrouted"], dated["refused"], dated["slow"]
        self.assertGreater(misrouted["rows"], 100)
        self.assertEqual((misrouted["faults"], misrouted["races"]), ([0, misrouted["rows"]], 0))
        self.assertGreater(refused["rows"], 0)
        self.assertEqual((refused["faults"], refused["without"]), ([refused["rows"], 0], [0, refused["rows"]]))
        self.assertGreater(slow["faults"][0], 10)
        self.assertEqual(slow["faults"][1], 0)
        # The numbers equal those of run.
        run = self.good_json("run", "cut.yaml", "--json", "--quiet", "--no-charts", "--no-store")
        metrics = run["strategies"][0]["metrics"]
        self.assertEqual((found["seed"], found["rows"]), (run["seed"], run["rows"]))
        self.assertEqual(misrouted["rows"], metrics["writes.misrouted"])
        self.assertEqual(refused["rows"], metrics["writes.refused"] + metrics["writes.unresolved"])

    def test_text_says_what_the_json_says_and_threads_change_nothing(self):
        found = self.why(SCENARIO + PARTITION + JUMP)["strategies"][0]
        texts = {self.good("why", "cut.yaml", "--quiet", "--jobs", jobs) for jobs in ("1", "3")}
        self.assertEqual(len(texts), 1)
        text = texts.pop()
        self.assertIn("\ndated (three-state)\n", text)
        self.assertIn(f"  {found['misrouted']['rows']} misrouted\n       {found['misrouted']['rows']}  fault 2, "
                      "clock_jump of agent 2 at 40s (line 13): without it 0\n", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 80)

    def test_effect_that_needs_two_faults_counts_for_both(self):
        down = "".join(f"  - node_down: {{node: {node}, at: 20s, lasts: 20s}}\n" for node in (0, 1))
        refused = self.why(SCENARIO + down)["strategies"][0]["refused"]
        self.assertGreater(refused["rows"], 0)
        self.assertGreater(min(refused["faults"]), 0.9 * refused["rows"])
        self.assertEqual((refused["together"], refused["any"]), (sum(refused["faults"]) - refused["rows"], 0))
        self.assertIn("need several faults together", self.good("why", "cut.yaml", "--quiet"))

    def test_effect_of_either_of_two_faults_belongs_to_neither(self):
        refused = self.why(SCENARIO + PARTITION + PARTITION)["strategies"][0]["refused"]
        self.assertGreater(refused["rows"], 0)
        self.assertEqual((refused["faults"], refused["together"], refused["any"]), ([0, 0], 0, refused["rows"]))

    def test_effect_without_a_fault_is_a_race(self):
        racing = SCENARIO.replace("three-state, lead: 3s", "single").replace("faults:\n", "")
        misrouted = self.why(racing)["strategies"][0]["misrouted"]
        self.assertGreater(misrouted["rows"], 10)
        self.assertEqual((misrouted["races"], misrouted["faults"]), (misrouted["rows"], []))
        # A node that pauses has no effect that can be distinguished from chance.
        storm = self.why(racing + "faults: [{gc_storm: {node: 1, at: 20s, lasts: 1s}}]\n")["strategies"][0]["misrouted"]
        self.assertEqual(storm["faults"], [0])
        self.assertEqual(storm["races"], storm["rows"])

    def test_slow_checks_run_only_on_request(self):
        slow = [self.why(SCENARIO + PARTITION, "--slow", limit)["strategies"][0]["slow"]["rows"]
                for limit in ("1ms", "100ms", "1h")]
        self.assertGreater(slow[0], slow[1])
        self.assertGreater(slow[1], 0)
        self.assertEqual(slow[2], 0)


if __name__ == "__main__":
    unittest.main()
