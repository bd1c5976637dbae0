# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: features that are combined in one scenario either work together or are refused with one line that
names the place and the remedy; and both engines give the same figures where both can run. Method: the
combinations that were once wrong, and scenarios drawn from fixed seeds, each in a fraction of a second.
"""
import json
import random
import re
import unittest

from program import ProgramTest, without_warnings
from share import SHARE, part

# One agent, and a cluster in which everything takes no time.
QUIET = {"agents": {"count": 1},
         "cluster": {"network": {"latency": "0s"},
                     "node": {"write": "0s", "read": "0s", "scan_row": "0s", "scan_tombstone": "0s",
                              "gc": {"every": "0s"}}}}
PLACED = re.compile(r"partitions\.|rows\.|repair\.|tombstones\.partition|writes\.(rows|late|into_closed|duplicated)$")


def time_settings(draw):
    return {"window": draw.choice(["1s", "3s", "7s"])}


def count_settings(draw):
    return {"rows": draw.choice([1, 3, 10, 50])}


def bits_settings(draw):
    return {"bits": draw.choice([0, 1, 3]), "threshold": draw.choice([1, 2, 30])}


def weighted_settings(draw):
    return {"bytes": draw.choice(["50B", "1KB", "1MB"]), "threshold": draw.choice([1, 5])}


def hash_settings(draw):
    return {"buckets": draw.choice([1, 3, 64])}


KINDS = {"unbucketed": lambda draw: {}, "time": time_settings, "count": count_settings, "probabilistic": bits_settings,
         "weighted": weighted_settings, "hash": hash_settings}


def with_change(draw, kind, settings):
    if kind != "unbucketed" and draw.random() < 0.25:
        settings["then"] = [{"at": f"{draw.randint(1, 9)}s", **KINDS[kind](draw)}]
    return settings


def drawn_strategy(draw, has_agents):
    kind = draw.choice(list(KINDS))
    settings = with_change(draw, kind, KINDS[kind](draw))
    if kind == "count":
        settings["counter"] = draw.choice(["external", "counter", "lwt", "lease", "incremental", "scan", "memory"])
    if kind in ("probabilistic", "weighted") and has_agents:
        settings["coordination"] = draw.choice(["single", "locked", "three-state", "guarded"])
        if settings["coordination"] == "three-state":
            settings["lead"] = "1s"
    elif kind in ("count", "probabilistic", "weighted") and draw.random() < 0.3:
        settings["max_age"] = draw.choice(["1s", "1us"])
    if draw.random() < 0.3:
        settings["read"] = {"plan": draw.choice(["lazy", "all"] if kind == "hash" else ["walk", "pair"])}
        if kind == "time":
            settings["read"]["remember_empty"] = True
    return {kind: settings}


def drawn_rows(draw):
    arrivals = {"rate": draw.choice(["5/s", "60/s"])}
    if draw.random() < 0.3:
        arrivals["late"] = {"share": draw.choice(["20%", "100%"]), "by": draw.choice(["1s", "5s", "1d"])}
    if draw.random() < 0.25:
        arrivals["resolution"] = draw.choice(["1ms", "1s", "1h"])
    if draw.random() < 0.25:
        arrivals["backfill"] = {"before": "20s", "order": draw.choice(["forward", "reverse"]), "rate": "9/s"}
    scenario = {"seed": draw.randint(1, 9), "duration": "10s", "keys": {"count": draw.choice([1, 4])},
                "arrivals": arrivals, "limits": {"partition_rows": 20, "tiny_rows": 5}}
    gone = draw.random()
    if gone < 0.2:
        scenario["deletes"] = {"share": "30%", "after": draw.choice(["1s", "20s"])}
    elif gone < 0.4:
        scenario["row"] = {"ttl": draw.choice(["1s", "3s"])}
    return scenario


def drawn_reads(draw):
    reads = {}
    if draw.random() < 0.6:
        reads["latest"] = {"rows": draw.choice([1, 20, 10**9]), "rate": "4/s"}
    if draw.random() < 0.4:
        reads["range"] = {"span": draw.choice(["1s", "36500d"]), "age": draw.choice(["0s", "2s", "36500d"]),
                          "rate": "4/s"}
    if draw.random() < 0.4 or not reads:
        reads["all"] = {"rate": "1/s"}
    for kind in reads.values():
        if draw.random() < 0.3:
            kind.update({"plan": "parallel", "at_once": draw.choice([1, 3, 4096])})
    if draw.random() < 0.3:
        reads["limit"] = draw.choice([1, 3])
    return reads


def drawn_agents(draw):
    settings = {"agents": {"count": draw.choice([1, 3]), "routing": draw.choice(["any", "key"]),
                           "retry": draw.choice(["same-bucket", "route-again"]),
                           "cache_ttl": draw.choice(["0s", "1s"])},
                "cluster": {"nodes": draw.choice([1, 4])}}
    fault = draw.choice([None, {"node_down": {"node": 0, "at": "3s", "lasts": "1s"}},
                         {"agent_crash": {"agent": 0, "at": "4s"}}, {"random": {"rate": "1/s", "lasts": "500ms"}},
                         {"clock_jump": {"agent": 0, "at": "5s", "by": draw.choice(["-300d", "3s"])}}])
    if fault is not None:
        settings["faults"] = [fault]
    return settings


class MeetingTest(ProgramTest):
    def metrics(self, scenario):
        """The metrics of the scenario's only strategy; None when the scenario was refused."""
        self.write("x.yaml", json.dumps(scenario))
        code, out, err = self.run_program("run", "x.yaml", "--json", "--quiet", "--no-charts", "--jobs", "1")
        if code == 2:
            self.assertRegex(without_warnings(err), r"\Ax\.yaml:[1-9]\d*:[1-9]\d*: [^\n]+; [^\n]+\n\Z")
            return None
        self.assertIn(code, (0, 1), f"{json.dumps(scenario)}\n{err}")
        return json.loads(out)["strategies"][0]["metrics"]

    def refusal(self, scenario):
        self.write("x.yaml", json.dumps(scenario, indent=1))
        return self.bad(2, "run", "x.yaml", "--quiet", "--no-charts")

    def judge_sums(self, scenario, metrics):
        told = json.dumps(scenario)
        self.assertEqual(metrics["partitions.total"], metrics["partitions.closed"] + metrics["partitions.open"],
                         told)
        kinds = [f"reads.{kind}.count" for kind in ("latest", "range", "all")]
        if any(kind in metrics for kind in kinds):
            self.assertEqual(metrics["reads.count"], sum(metrics.get(kind, 0) for kind in kinds), told)
        # A read of a span that begins before the stream is not averaged.
        if "limit" in scenario.get("reads", {}) and "reads.partitions_per_read.max" in metrics:
            self.assertLessEqual(metrics["reads.partitions_per_read.max"], scenario["reads"]["limit"], told)
        if "rows.live" in metrics:
            rows = metrics["rows.live"] + metrics["rows.deleted"] + metrics["rows.expired"]
            held = metrics["partitions.all.rows.mean"] * metrics["partitions.total"]
            self.assertAlmostEqual(rows, held, places=6, msg=told)
        self.assertEqual(metrics.get("oracle.conserved.violations", 0), 0, told)

    def test_random_combinations_run_or_are_refused(self):
        ran = 0
        for seed in part(range(110)):
            draw = random.Random(seed)
            scenario = drawn_rows(draw)
            has_agents = draw.random() < 0.6
            if has_agents:
                scenario.update(drawn_agents(draw))
            if draw.random() < 0.6:
                scenario["reads"] = drawn_reads(draw)
            scenario["strategies"] = [drawn_strategy(draw, has_agents)]
            metrics = self.metrics(scenario)
            if metrics is not None:
                ran += 1
                self.judge_sums(scenario, metrics)
        self.assertGreater(ran, 50 / SHARE)

    def test_both_engines_place_the_same_rows(self):
        """For strategies without a state row, whose writes could be reordered by nodes with different clocks.
        """
        ran = 0
        for seed in part(range(60)):
            draw = random.Random(1000 + seed)
            scenario = drawn_rows(draw)
            kind = draw.choice(["unbucketed", "time", "count", "hash"])
            settings = KINDS[kind](draw)
            scenario["strategies"] = [{kind: settings if kind == "count" else with_change(draw, kind, settings)}]
            exact, cluster = self.metrics(scenario), self.metrics({**scenario, **QUIET})
            if exact is None or cluster is None:
                continue
            ran += 1
            names = [name for name in exact if PLACED.match(name)]
            self.assertGreater(len(names), 20)
            self.assertEqual({name: exact[name] for name in names}, {name: cluster.get(name) for name in names},
                             json.dumps(scenario))
        self.assertGreaterEqual(ran, 40 / SHARE)

    def test_late_rows_do_not_make_a_walk_too_long(self):
        scenario = {"duration": "8s", "keys": {"count": 1},
                    "arrivals": {"rate": "5/s", "late": {"share": "100%", "by": "1d"}}, **QUIET,
                    "reads": {"all": {"rate": "1/s"}}, "strategies": [{"time": {"window": "1us"}}]}
        self.assertRegex(self.refusal(scenario), r"\Ax\.yaml:\d+:\d+: a read may have to walk over more than ")

    def test_a_clock_that_jumps_fails_its_reads_only(self):
        scenario = {"duration": "8s", "keys": {"count": 1}, "arrivals": {"rate": "5/s"}, **QUIET,
                    "faults": [{"clock_jump": {"agent": 0, "at": "4s", "by": "300d"}}],
                    "reads": {"all": {"rate": "5/s"}}, "row": {"ttl": "1m"},
                    "strategies": [{"time": {"window": "10ms"}}]}
        self.assertGreater(self.metrics(scenario)["reads.failed"], 5)

    def test_read_limit_applies_to_all_eras_together(self):
        scenario = {"duration": "8s", "keys": {"count": 1}, "arrivals": {"rate": "5/s"},
                    "reads": {"latest": {"rows": 1000, "rate": "9/s"}, "limit": 3},
                    "strategies": [{"time": {"window": "1s", "then": [{"at": "6s", "window": "2s"}]}}]}
        for more in {}, QUIET:
            metrics = self.metrics({**scenario, **more})
            self.assertEqual(metrics["reads.partitions_per_read.max"], 3)
            self.assertGreater(metrics["reads.cut_off"], 9)

    def test_identifiers_begin_before_1970_by_a_wrong_clock(self):
        scenario = {"duration": "2s", "start": "1970-01-01", "agents": {"count": 4, "clock": {"offset": "2s"}},
                    "identifiers": {}, "strategies": [{"idgen": {"batch": 1, "lock": "lwt"}}]}
        self.assertGreater(self.metrics(scenario)["ids.given"], 10)

    def test_error_found_only_in_rows_is_refused_with_its_place(self):
        rows = {"duration": "8s", "keys": {"count": 1}, "arrivals": {"rate": "5/s", "resolution": "1s"}}
        tail = {"strategies": [{"unbucketed": {}}]}
        self.assertRegex(self.refusal({**rows, "reads": {"range": {"span": "1s", "rate": "1/s"}}, **tail}),
                         r"\Ax\.yaml:\d+:3: 'range' needs agents when rows do not arrive in the order of their times")
        self.write("t.csv", "timestamp_ms,key,bytes\n1000,a,1\n")
        self.assertRegex(self.refusal({"trace": {"file": "t.csv"}, "row": {"bytes": 5}, **tail}),
                         r"\Ax\.yaml:6:3: 'bytes' conflicts with a trace whose lines have their own; remove it")


if __name__ == "__main__":
    unittest.main()
