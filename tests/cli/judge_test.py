#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: `judge` finds in a run's history what the run's own oracles found, and nothing else when the history
is complete; it reports when a history is incomplete, and where. Method: runs with and without violations are
written as histories and judged; then histories and tables are damaged line by line.
"""

import json
import os
import re
import unittest

from program import ProgramTest

SCENARIO = """\
name: judged
seed: 5
duration: 40s
keys: {count: 3}
arrivals: {rate: 60/s, bursts: {on: 2s, off: 6s, factor: 5}}
row: {bytes: 100}
reads: {latest: {rows: 10, rate: 2/s}}
cluster: {nodes: 4, replication_factor: 3}
agents: {count: 5, cache_ttl: 1s, operations: 16, clock: {offset: 5ms, drift: 20ppm, bound: 10ms}}
strategies:
  - probabilistic: {bits: 3, threshold: 8, coordination: three-state, lead: 3s, label: safe}
  - probabilistic: {bits: 3, threshold: 8, coordination: three-state, lead: 50ms, label: unsafe}
  - probabilistic: {bits: 3, threshold: 8, coordination: single, label: single}
  - probabilistic: {bits: 3, threshold: 8, coordination: locked, counter: lwt, label: locked}
  - probabilistic: {bits: 3, threshold: 8, coordination: guarded, grant: 500ms, label: guarded}
  - count: {rows: 50, counter: lease, batch: 10, label: lease}
  - count: {rows: 50, counter: counter, label: counter}
  - count: {rows: 50, counter: incremental, every_rows: 5, label: incremental}
  - time: {window: 7s}
faults:
  - agent_crash: {agent: 1, at: 8s, lasts: 3s}
  - agent_pause: {agent: 2, at: 14s, lasts: 4s}
  - node_down: {node: 1, at: 20s, lasts: 5s}
  - clock_jump: {agent: 3, at: 30s, by: -2s}
  - random: {rate: 6/m, kinds: [lost_message, gc_storm, slow_node], lasts: 1s}
"""
QUIET = ["--quiet", "--no-charts", "--no-store", "--json", "--trace-format", "record", "--trace-events"]
GUARDED = [
    "--set",
    "strategies=[{probabilistic: {bits: 3, threshold: 8, coordination: guarded, grant: 500ms}}]",
]
# A history has no row sizes beyond the rows' bytes, and nothing about the work of nodes.
UNTOLD = ("bytes", "disk_per_node", "nodes.", "repair.", "events", "rows_scanned", "tombstones")


class JudgeTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("judged.yaml", SCENARIO)

    def record(self, *more):
        return self.good_json("run", "judged.yaml", *QUIET, "run.log", *more)

    def lines(self):
        with open(os.path.join(self.folder, "run.log"), encoding="utf-8") as stream:
            return stream.read().splitlines(keepends=True)

    def judge(self, code, *names):
        got, out, err = self.run_program("judge", "judged.yaml", *names, "--quiet")
        self.assertEqual(got, code, err)
        return out if code == 0 else err

    def test_history_of_a_run_is_judged_as_the_run_was(self):
        run = self.record()
        code, out, _ = self.run_program("judge", "judged.yaml", "run.log", "--quiet", "--json")
        self.assertIn(code, (0, 1))
        judged = json.loads(out)
        self.assertEqual(len(judged["strategies"]), len(run["strategies"]))
        violated = set()
        for one, other in zip(run["strategies"], judged["strategies"]):
            self.assertEqual(
                (one["label"], one["placement_digest"]), (other["label"], other["placement_digest"])
            )
            told = {
                name: value
                for name, value in one["metrics"].items()
                if not any(part in name for part in UNTOLD)
            }
            self.assertGreater(len(told), 30)
            self.assertEqual(told, {name: other["metrics"].get(name) for name in told})
            violated |= {one["label"] for name in told if name.startswith("oracle.") and told[name] > 0}
        self.assertLessEqual({"unsafe", "single"}, violated)
        self.assertNotIn("guarded", violated)

    def test_row_that_no_agent_takes_is_judged(self):
        down = ", ".join(f"{{agent_crash: {{agent: {agent}, at: 5s, lasts: 2s}}}}" for agent in range(5))
        only = [*GUARDED, "--set", f"faults=[{down}]"]
        self.record(*only)
        self.assertTrue(any("nobody" in line for line in self.lines()))
        self.judge(0, "run.log", *only)

    def test_judge_follows_the_tables(self):
        only = [*GUARDED, "--set", "faults=null"]
        self.record(*only)
        rows = set()
        for line in self.lines():
            words = line.split()
            if "stored" in words and "row" in words:
                rows.add(
                    (
                        words[2].rstrip(":"),
                        words[words.index("bucket") + 1],
                        words[4],
                        words[words.index("time") + 1],
                    )
                )
        self.assertGreater(len(rows), 1000)
        states, counters = {}, {}
        for line in self.lines():
            words = line.rstrip(".\n").split()
            if "state" in words and "columns" in words:
                states[words[2].rstrip(":")] = words[-4:]
            if "counted" in words:
                place = words[2].rstrip(":"), words[words.index("bucket") + 1]
                counters[place] = counters.get(place, 0) + int(words[-1])
        tables = [f"row,{key},{bucket},{row},{time}\n" for key, bucket, row, time in sorted(rows)]
        tables += [f"state,{key}," + ",".join(columns) + "\n" for key, columns in states.items()]
        tables += [f"counter,{key},{bucket},{total}\n" for (key, bucket), total in counters.items()]
        self.write("tables.csv", "".join(tables))
        more = ["run.log", *only, "--tables", "tables.csv"]
        self.judge(0, *more)
        self.write("tables.csv", "".join(tables[1:]))
        self.assertIn("breaks its guarantee of conserved", self.judge(1, *more))
        key, bucket, row, time = sorted(rows)[0]
        self.write("tables.csv", "".join(tables) + f"row,{key},{bucket},999999,{time}\n")
        self.assertIn("breaks its guarantee of conserved", self.judge(1, *more))
        self.write(
            "tables.csv",
            "".join(tables).replace(f"row,{key},{bucket},{row},{time}\n", f"row,{key},{bucket},\n"),
        )
        self.assertRegex(self.judge(2, *more), r"tables\.csv:\d+: not a line of tables")

    def test_history_that_is_not_whole_is_refused_with_its_place(self):
        only = GUARDED
        self.record(*only)
        lines = self.lines()
        puts = [i for i, line in enumerate(lines) if " hears " in line and " put_row " in line]
        cas = [i for i, line in enumerate(lines) if " cas_state applied" in line]
        takes = [i for i, line in enumerate(lines) if " takes row " in line]
        cases = [
            (lines[:1] + lines[2:3] + ["nonsense.\n"] + lines[3:], r"run\.log:3: not a line of a history"),
            (lines[:40] + lines[20:30] + lines[40:], r"run\.log:41: .* comes after "),
            (
                lines[: cas[3]] + lines[cas[3] + 1 :],
                r"run\.log:\d+: the outcome is of \w+, but by the answers that its agent got",
            ),
            (lines[: takes[9]] + lines[takes[9] + 1 :], r"run\.log:\d+: .*by the answers that its agent got"),
            (
                lines[: puts[5]] + [lines[puts[5]].replace("bucket 0", "bucket 7")] + lines[puts[5] + 1 :],
                r"run\.log:\d+: the row went to bucket 7, but by the answers that its agent got it belongs to bucket 0",
            ),
            (lines[1:], r"run\.log:1: a history begins with 'strategy LABEL begins"),
            (
                lines[:50] + [lines[50].rstrip(".\n") + "\n"] + lines[51:],
                r"run\.log:51: the line does not end with a full",
            ),
            (
                [lines[0].replace("strategy probabilistic", "strategy other")] + lines[1:],
                "no strategy 'other'",
            ),
            ([], "the history is empty"),
            (
                lines[:2] + [lines[2].replace("agent 1", "agent 77")] + lines[3:],
                r"run\.log:3: agent 77: the scenario has 5",
            ),
        ]
        for text, message in cases:
            self.write("bad.log", "".join(text))
            self.assertRegex(self.judge(2, "bad.log", *only).replace("bad.log", "run.log"), message)
        self.assertIn("No such file", self.judge(2, "none.log", *only))
        self.assertIn("has deletes", self.judge(2, "run.log", "--set", "deletes={share: 1%, after: 1s}"))
        code, _, err = self.run_program("run", "judged.yaml", *QUIET, "x.log", "--key", "key-1")
        self.assertEqual(code, 2)
        self.assertIn("writes every event", err)

    def observed(self, drop=lambda line: False):
        """The run's history as processes would have written it, without knowledge of replicas; and the
        tables."""
        lines, rows, tables = [], set(), []
        for line in self.lines():
            line = re.sub(r"(strategy .*) begins at", r"\1 is observed from", line)
            words = line.rstrip(".\n").split()
            if " is stored in bucket " in line:
                row = words[2].rstrip(":"), words[words.index("bucket") + 1], words[4]
                if row in rows:
                    continue
                rows.add(row)
                tables.append(f"row,{','.join(row)},{words[words.index('time') + 1]}\n")
                line = re.sub(r" replica \d+", "", line)
            if not re.search(r" s  strategy .* ends", line) and not drop(line):
                lines.append(line)
        self.write("observed.log", "".join(lines))
        return tables

    def test_columns_that_are_written_leave_the_others(self):
        only = [
            "--set",
            "strategies=[{probabilistic: {bits: 3, threshold: 8, coordination: three-state, lead: 50ms}}]",
        ]
        run = self.record(*only)["strategies"][0]
        known, lines = {}, self.lines()
        for i, line in enumerate(lines):
            words = line.rstrip(".\n").split()
            if "state is stored, columns" in line:
                before, now = known.get(words[2], [None] * 4), words[-4:]
                mask = sum(1 << j for j in range(4) if now[j] != before[j])
                columns = [now[j] if mask >> j & 1 else "77" for j in range(4)]
                lines[i] = (
                    f"{line[: line.index(' is stored')]} is written, columns {mask} {' '.join(columns)}.\n"
                )
                known[words[2]] = now
        self.write("written.log", "".join(lines))
        code, out, _ = self.run_program("judge", "judged.yaml", "written.log", *only, "--quiet", "--json")
        judged = json.loads(out)["strategies"][0]
        self.assertEqual((code, judged["placement_digest"]), (0, run["placement_digest"]))
        self.assertGreater(judged["metrics"]["writes.misrouted"], 0)
        self.assertEqual(judged["metrics"]["writes.misrouted"], run["metrics"]["writes.misrouted"])

    def test_rows_without_a_line_are_those_of_the_tables(self):
        """One writer of a row in seven was killed before it could log the row, but the sums count these rows.
        """
        only = [
            "--set",
            "strategies=[{count: {rows: 50, counter: incremental, every_rows: 5}}]",
            "--set",
            "faults=null",
        ]
        self.record(*only)
        states = {}
        tables = self.observed(lambda line: re.search(r"row \d*[07] is stored", line))
        for line in self.lines():
            if "state is stored, columns" in line:
                words = line.rstrip(".\n").split()
                states[words[2].rstrip(":")] = ",".join(words[-4:])
        tables += [f"state,{key},{columns}\n" for key, columns in states.items()]
        self.write("tables.csv", "".join(tables))
        self.judge(0, "observed.log", *only, "--tables", "tables.csv")
        self.assertIn("rows are counted, and it holds", self.judge(1, "observed.log", *only))


if __name__ == "__main__":
    unittest.main()
