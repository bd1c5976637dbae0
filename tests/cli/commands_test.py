# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: every command works under the sanitizers, with the code that reads files, prints and draws. Method: each
command that the program lists runs once, on small inputs; a command without a line here fails. ./test.sh runs
this in the sanitized build alone.
"""
import os
import re
import unittest

from program import SMALL, SOURCE, ProgramTest

AGENTS = """\
name: agents
seed: 3
duration: 1m
keys: {count: 4}
arrivals: {rate: 5/s}
row: {bytes: 100}
agents: {count: 2}
strategies: [probabilistic: {bits: 4, threshold: 10}]
faults: [{agent_crash: {rate: 60/h}}]
"""
SWEEP = SMALL + "sweep: {seeds: 2, grid: {strategies.hash.buckets: [2, 4]}}\n"
TRACE = "time,key,bytes\n" + "".join(f"{1767225600000 + 997 * i},k{i % 3},{100 + i % 7}\n" for i in range(3000))
IDS = "".join(f"{(i * 0x9E3779B97F4A7C15) % 2 ** 64}\n" for i in range(2000))
OBSERVED = os.path.join(SOURCE, "scenarios", "observed", "messages.csv")

# In this order: a command may use what an earlier one wrote.
COMMANDS = [
    ["init", "mine"],
    ["run", "small.yaml", "--format", "svg,png,pdf"],
    ["run", "agents.yaml", "--no-charts", "--trace-events", "history.txt", "--trace-format", "record"],
    ["why", "agents.yaml"],
    ["judge", "agents.yaml", "history.txt"],
    ["explore", "--protocol", "three-state", "--rows", "3", "--faults", "none", "--history", "path.log"],
    ["explore", "--protocol", "three-state", "--rows", "3", "--faults", "none", "--show", "svg"],
    ["sweep", "sweep.yaml", "--csv", "sweep.csv"],
    ["merge", "bucketlab.db", "--db", "merged.db"],
    ["cql", "small.yaml"],
    ["fuzz", "--seeds", "1..3"],
    ["odds", "--bits", "9", "--threshold", "40", "--below", "12000"],
    ["tune", "small.yaml", "--seeds", "2", "--set", "tune.strategies=[time, hash]", "--format", "svg"],
    ["check", "small.yaml", "--baseline", "b.db", "--update-baseline", "--seeds", "3"],
    ["check", "small.yaml", "--baseline", "b.db", "--junit", "junit.xml"],
    ["runs"],
    ["show", "1"],
    ["diff", "1:time", "1:hash"],
    ["report", "1", "--format", "svg"],
    ["import", OBSERVED],
    ["watch", "1", OBSERVED, "--strategy", "hash", "--prometheus", "watch.prom"],
    ["export", "1", "--out", "sizes.csv"],
    ["replay", "1"],
    ["ids", "ids.txt"],
    ["trace", "rows.csv", "--scenario", "traced.yaml", "--anonymise", "shared.csv"],
    ["run", "traced.yaml", "--no-charts"],
    ["token", "chat"],
    ["bucket-of", "--buckets", "8", "chat"],
]


class CommandsTest(ProgramTest):
    def test_every_command_runs(self):
        for name, text in [("small.yaml", SMALL), ("agents.yaml", AGENTS), ("sweep.yaml", SWEEP), ("rows.csv", TRACE),
                           ("ids.txt", IDS)]:
            self.write(name, text)
        listed = re.findall(r"(?m)^  ([a-z-]+)  +\S", self.good("help").split("commands:")[1].split("\n\n")[0])
        self.assertGreater(len(listed), 20)
        self.assertEqual(sorted({command[0] for command in COMMANDS}), sorted(listed))
        for command in COMMANDS:
            with self.subTest(command=command):
                code, out, err = self.run_program(*command)
                # `watch` may find drift.
                self.assertIn(code, [0, 1] if command[0] == "watch" else [0], out + err)
                self.assertNotIn("Sanitizer", err)
                self.assertNotIn("runtime error", err)


if __name__ == "__main__":
    unittest.main()
