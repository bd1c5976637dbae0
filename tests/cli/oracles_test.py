# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: the oracles of a run report what happened in it. Method: an independent reader of the run's event
trace collects which agent wrote and acknowledged which row, and when the key's state changed; agreement,
monotone and findable are computed from that alone, row by row, and must equal the metrics. The clocks are
correct, so that a row's time is the time of its arrival; they are declared to be wrong by 10 ms, so that a
tolerance applies.
"""
import collections
import os
import re
import unittest

from program import ProgramTest
from share import SHARE, part

BOUND_NS = 10_000_000
HEAD = """\
name: judged
seed: {seed}
duration: 40s
keys: {{count: 3, popularity: {{zipf: 1}}}}
arrivals: {{rate: 40/s}}
cluster: {{nodes: 3, replication_factor: 3}}
agents: {{count: 8, cache_ttl: 1s, clock: {{offset: 0s, bound: 10ms}}}}
"""
FAULTS = """\
faults:
  - agent_crash: {agent: 1, at: 6s, lasts: 3s}
  - lost_message: {at: 10s, lasts: 4s, chance: 15%}
  - node_down: {node: 0, at: 18s, lasts: 8s}
  - duplicate_message: {at: 22s, lasts: 5s, chance: 20%}
  - network_partition: {between: [agent 3, node 2], at: 28s, lasts: 6s}
"""
STRATEGIES = """\
strategies:
  - probabilistic: {bits: 2, threshold: 4, label: single}
  - probabilistic: {bits: 2, threshold: 4, counter: lwt, label: lwt}
  - probabilistic: {bits: 2, threshold: 4, coordination: locked, label: locked}
  - probabilistic: {bits: 2, threshold: 4, coordination: three-state, lead: 0s, label: unsafe}
  - probabilistic: {bits: 2, threshold: 4, coordination: three-state, lead: 900ms, label: short}
  - probabilistic: {bits: 2, threshold: 4, coordination: three-state, lead: 3s, label: safe}
  - probabilistic: {bits: 2, threshold: 4, coordination: guarded, counter: counter, grant: 2s, label: guarded}
"""
LABELS = re.findall(r"label: (\S+)}", STRATEGIES)
BEGINS = re.compile(r" *(\d+)\.(\d{9}) s  strategy (\S+) begins")
EVENT = re.compile(r" *(\d+)\.(\d{9}) s  (key-\d+): (.*)")
TAKES = re.compile(r"agent \d+ takes row (\d+)")
PUTS = re.compile(r"agent (\d+) puts row (\d+) into bucket (\d+)")
TOLD = re.compile(r"agent \d+ acknowledges row (\d+)")
MOVES = re.compile(r"the (?:key rolls|state goes back) to bucket (\d+)")
ORACLES = ["agreement", "monotone", "findable"]


def is_apart(time_ns, bucket, other, span, least_ns):
    """Whether another bucket has a row that belongs to the other side of this time, by more than this."""
    return (span[1] - time_ns if other < bucket else time_ns - span[0]) > least_ns


class Judge:
    """One strategy's run."""

    def __init__(self):
        self.taken = {}
        # By key, bucket and agent: the first and the last time of its rows; of all agents: None.
        self.placed = collections.defaultdict(lambda: collections.defaultdict(dict))
        self.last_put = {}
        self.told = collections.defaultdict(dict)  # by key: acknowledged row -> bucket
        self.lost = set()
        self.newest = collections.Counter()
        self.rolls = 0
        self.counts = collections.Counter({name: 0 for name in ORACLES})

    def hear(self, time_ns, key, text):
        if match := TAKES.match(text):
            self.taken[key, match[1]] = time_ns
        elif match := PUTS.match(text):
            agent, row, bucket = match[1], match[2], int(match[3])
            if (key, row) not in self.last_put:
                self.place(key, self.taken[key, row], bucket, agent)
            self.last_put[key, row] = bucket
        elif match := TOLD.match(text):
            self.told[key][match[1]] = self.last_put[key, match[1]]
            self.look(key, [match[1]])
        elif match := MOVES.match(text):
            self.rolls += max(0, int(match[1]) - self.newest[key])
            self.newest[key] = int(match[1])
            self.look(key, self.told[key])

    def place(self, key, time_ns, bucket, agent):
        disagrees = goes_back = False
        for other, spans in self.placed[key].items():
            if other == bucket or not is_apart(time_ns, bucket, other, spans[None], 0):
                continue
            goes_back = True
            disagrees |= any(is_apart(time_ns, bucket, other, span, 2 * BOUND_NS)
                             for other_agent, span in spans.items() if other_agent not in (agent, None))
        for each in (agent, None):
            first_ns, last_ns = self.placed[key][bucket].get(each, (time_ns, time_ns))
            self.placed[key][bucket][each] = min(first_ns, time_ns), max(last_ns, time_ns)
        self.counts["agreement"] += disagrees
        self.counts["monotone"] += goes_back

    def look(self, key, rows):
        """Those of these acknowledged rows that are above the bucket at which a reader begins."""
        for row in rows:
            if self.told[key][row] > self.newest[key] and (key, row) not in self.lost:
                self.lost.add((key, row))
                self.counts["findable"] += 1


def judge(path):
    judges, current = {}, None
    with open(path, encoding="utf-8") as file:
        for line in file:
            if match := BEGINS.match(line):
                current = judges[match[3]] = Judge()
            elif (match := EVENT.match(line)) and current is not None:
                current.hear(int(match[1]) * 10**9 + int(match[2]), match[3], match[4])
    return judges


class OraclesTest(ProgramTest):
    def compare(self, text):
        """Compares both; returns the figures of each strategy."""
        self.write("judged.yaml", text)
        result = self.good_json("run", "judged.yaml", "--quiet", "--no-charts", "--json", "--trace-events",
                                "events.txt")
        judges = judge(os.path.join(self.folder, "events.txt"))
        self.assertEqual(list(judges), LABELS)
        for strategy in result["strategies"]:
            judged, metrics = judges[strategy["label"]], strategy["metrics"]
            counted = {name: metrics[f"oracle.{name}.violations"] for name in ORACLES}
            self.assertEqual(counted, dict(judged.counts), strategy["label"])
            self.assertEqual(metrics["writes.rows"], len(judged.taken), strategy["label"])
            self.assertGreater(judged.rolls, 10, strategy["label"])
        return {label: judged.counts for label, judged in judges.items()}

    def test_oracles_without_faults_match_the_event_trace(self):
        sums = collections.Counter()
        for seed in part(range(1, 3)):
            counts = self.compare(HEAD.format(seed=seed) + STRATEGIES)
            for label in ("guarded", "safe"):
                self.assertEqual(sum(counts[label].values()), 0, label)
            for label in ("single", "unsafe"):
                self.assertGreater(counts[label]["monotone"], 0, label)
            sums += counts["single"]
            sums += counts["unsafe"]
        self.assertGreater(sums["agreement"], 0)
        # The tolerance has an effect.
        self.assertGreater(sums["monotone"], sums["agreement"])

    def test_oracles_under_faults_match_the_event_trace(self):
        sums = collections.Counter()
        for seed in part(range(1, 4)):
            counts = self.compare(HEAD.format(seed=seed) + FAULTS + STRATEGIES)
            self.assertEqual(sum(counts["guarded"].values()), 0)
            for label in LABELS:
                sums += counts[label]
        for name in ORACLES if SHARE == 1 else ():
            self.assertGreater(sums[name], 0, name)

    # Rows that are later than a lead are refused under three-state.
    def test_every_oracle_that_found_a_violation_has_a_column_and_no_other(self):
        self.write("late.yaml", (
            "duration: 5m\nkeys: {count: 2}\narrivals: {rate: 10/s, late: {share: 30%, by: 30s}}\nagents: {count: 2}\n"
            "strategies:\n"
            "  - {label: dated, probabilistic: {bits: 1, threshold: 5, coordination: three-state, lead: 3s}}\n"
            "  - {label: guarded, probabilistic: {bits: 1, threshold: 5, coordination: guarded}}\n"))
        metrics = {strategy["label"]: strategy["metrics"] for strategy in
                   self.good_json("run", "late.yaml", "--json", "--no-charts", "--quiet")["strategies"]}
        found = {label: int(of["oracle.available.violations"]) for label, of in metrics.items()}
        self.assertGreater(found["dated"], 0)
        self.assertEqual(found["guarded"], 0)
        out = self.good("run", "late.yaml", "--no-charts", "--quiet")
        head, *rows = out.split(" violations\n")[1].split("\n\n")[0].splitlines()
        names = head.split()
        self.assertEqual(set(names), {name.split(".")[1] for of in metrics.values() for name, value in of.items()
                                      if name.startswith("oracle.") and value > 0})
        at = names.index("available") + 1
        self.assertEqual({row.split()[0]: row.split()[at] for row in rows},
                         {label: str(count) for label, count in found.items()})


if __name__ == "__main__":
    unittest.main()
