# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: verdicts, choices and horizons are right. Method: questions of people who size partitions (world/), whose
answers can be computed by hand, and for each kind two more inputs; and properties of verdicts: a longer run, a higher
rate, another strategy, a higher limit, an import of a run's own sizes.
"""

import json
import os
import sys
import unittest

from program import SOURCE, ProgramTest

WORLD = os.path.join(SOURCE, "tests", "cli", "world")
NEVER = 106751

STREAM = """\
duration: {duration}
keys: {{count: {keys}}}
arrivals: {{rate: {rate}}}
row: {{bytes: {bytes}}}
limits: {limits}
strategies:
"""


def stream(*strategies, duration="30d", keys=10, rate="10/s", size="200", limits="{partition_rows: 100000}", more=""):
    head = STREAM.format(duration=duration, keys=keys, rate=rate, bytes=size, limits=limits)
    return head + "".join(f"  - {one}\n" for one in strategies) + more


class AnswersTest(ProgramTest):
    def answer(self, command, scenario, *more):
        """The verdict of each strategy, by its label, and the whole answer."""
        path = scenario if os.path.exists(scenario) else self.write("s.yaml", scenario)
        result = json.loads(self.good(command, path, "--no-charts", "--no-store", "--quiet", "--json", *more))
        return {one["label"]: one["verdict"] for one in result["strategies"]}, result

    def world(self, number):
        (name,) = [name for name in os.listdir(WORLD) if name.startswith(f"q-{number}-")]
        return os.path.join(WORLD, name)

    def headline(self, result):
        return result["why"][0]

    # Distributions judge before samples.

    def test_a_count_of_rows_is_certain(self):
        verdicts, _ = self.answer("run", self.world("01"))
        self.assertEqual((verdicts["c500k"]["within"], verdicts["c500k"]["by"]), (False, "sample"))
        for label in ("c50k", "c10k"):
            self.assertEqual((verdicts[label]["within"], verdicts[label]["by"]), (True, "certain"))
            self.assertEqual(verdicts[label]["first_over_days"], NEVER)
        # Rows of drawn sizes: by their distribution, also where a partition has a limit in bytes.
        for limits in ("{partition_rows: 100000}", "{partition_rows: 100000, partition_bytes: 100MB}"):
            verdicts, _ = self.answer("run", stream("count: {rows: 20480, counter: external}",
                                                    "probabilistic: {bits: 9, threshold: 40}", duration="3d",
                                                    size="{lognormal: {mean: 350, sigma: 1.0}}", limits=limits))
            for verdict in verdicts.values():
                self.assertEqual(verdict["within"], True)
                self.assertIn(verdict["by"], ("certain", "distribution"))
                self.assertLess(verdict["share_most"] or 0, 1e-6)

    def test_a_window_is_judged_by_its_rate(self):
        for limit, within in (("83MB", False), ("85MB", True), ("100MB", True)):
            verdicts, _ = self.answer("run", self.world("02"), "--set", f"limits.partition_bytes={limit}")
            self.assertEqual((verdicts["day"]["within"], verdicts["day"]["by"]), (True, "distribution"))
            self.assertEqual(verdicts["week"]["within"], within, limit)
            self.assertIs(verdicts["month"]["within"], False)

    # The time of the first partition over a limit.

    def test_the_first_partition_over_a_limit(self):
        verdicts, _ = self.answer("run", self.world("12"))
        self.assertEqual(len({one["first_over_days"] for one in verdicts.values()}), 1)
        self.assertAlmostEqual(verdicts["time"]["first_over_days"] * 24, 9.26, delta=0.1)
        verdicts, _ = self.answer("run", self.world("05"))
        for label, days in (("unbucketed", 11.57), ("time", 11.57), ("hash", 23.1)):
            self.assertAlmostEqual(verdicts[label]["first_over_days"], days, delta=0.3)
        verdicts, _ = self.answer("run", self.world("19"), "--set", "keys.count=2000", "--set", "arrivals.rate=22.87/s",
                                  "--set", "keys.popularity={points: [[1, 100], [3, 100], [4, 1], [2000, 1]]}")
        self.assertAlmostEqual(verdicts["month"]["first_over_days"] * 24, 27.9, delta=0.5)

    def test_a_partition_never_exceeds_a_limit_before_its_key_has_the_rows(self):
        for ttl in ("", "row: {bytes: 100, ttl: 20d}\n"):
            text = stream("unbucketed: {}", "time: {window: 20d}", "count: {rows: 300000, counter: external}",
                          keys=3, rate="0.3/s", duration="40d")
            text = text.replace("row: {bytes: 200}\n", ttl or "row: {bytes: 200}\n")
            verdicts, _ = self.answer("run", text)
            days = [one["first_over_days"] for one in verdicts.values() if one["within"] is False]
            self.assertGreater(len(days), 0)
            for one in days:
                self.assertGreater(one, 11.4)

    # What was not judged, or loses rows, is no choice.

    def test_nothing_is_chosen_that_was_not_judged(self):
        verdicts, result = self.answer("run", self.world("08c"))
        self.assertEqual(len(verdicts), 1)
        self.assertNotIn("does not stay within", json.dumps(result["why"]))

    def test_strategies_that_refuse_rows_or_fail_reads_are_no_choice(self):
        lwt = '[{count: {rows: 500, counter: lwt, label: lwt}}, {time: {window: 10s}}]'
        _, result = self.answer("run", self.world("16"), "--set", "arrivals.rate=100/s", "--set",
                                "limits.partition_rows=500", "--set", f"strategies={lwt}")
        self.assertNotIn("Use lwt", self.headline(result))
        self.assertNotIn("Use count", self.headline(result))
        windows = '[{time: {window: 3h, label: w3h}}, {time: {window: 10m, label: w10m}}]'
        _, result = self.answer("run", self.world("17"), "--set", "limits={partition_rows: 1000000}", "--set",
                                "duration=4h", "--set", f"strategies={windows}")
        self.assertNotIn("w3h", self.headline(result).split(";")[0])

    # Books and engines.

    def test_a_table_of_many_rows_counts_them(self):
        for number in ("03", "03b"):
            verdicts, result = self.answer("run", self.world(number), "--set", "engine=auto")
            metrics = result["strategies"][0]["metrics"]
            self.assertGreater(metrics["partitions.total"], 0)
            self.assertIs(next(iter(verdicts.values()))["within"], False)

    # Properties.

    STRATEGIES = ("time: {window: 6h}", "count: {rows: 900, counter: external}", "hash: {buckets: 3}",
                  "probabilistic: {bits: 4, threshold: 40}", "unbucketed: {}")

    def verdicts(self, **settings):
        verdicts, _ = self.answer("run", stream(*self.STRATEGIES, **settings))
        return {label: verdict["within"] for label, verdict in verdicts.items()}

    def never_better(self, before, after):
        for label, within in before.items():
            if within is False:
                self.assertIsNot(after[label], True, label)

    def test_a_longer_run_or_a_higher_rate_never_turns_exceeds_into_within(self):
        for limit in (700, 1000, 1500):
            limits = f"{{partition_rows: {limit}}}"
            short = self.verdicts(duration="1d", rate="0.3/s", limits=limits)
            long = self.verdicts(duration="6d", rate="0.3/s", limits=limits)
            fast = self.verdicts(duration="1d", rate="1/s", limits=limits)
            self.never_better(short, long)
            self.never_better(short, fast)

    def test_a_higher_limit_never_makes_a_verdict_worse(self):
        before = None
        for limit in (500, 650, 800, 1000, 2000, 10000):
            now = self.verdicts(duration="2d", rate="0.3/s", limits=f"{{partition_rows: {limit}}}")
            if before is not None:
                self.never_better(now, before)
            before = now

    def test_another_strategy_changes_no_verdict(self):
        whole, _ = self.answer("run", stream(*self.STRATEGIES, duration="2d", rate="0.3/s",
                                             limits="{partition_rows: 800}"))
        for strategy in self.STRATEGIES:
            alone, _ = self.answer("run", stream(strategy, duration="2d", rate="0.3/s",
                                                 limits="{partition_rows: 800}"))
            for label, verdict in alone.items():
                self.assertEqual(verdict["within"], whole[label]["within"])
                self.assertEqual(verdict["first_over_days"], whole[label]["first_over_days"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
