# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: the default prices of operations that a scenario omits are the measured ones, as docs/scenario.md
says, and prices rank strategies but do not affect a digest. Method: the recording of a node, the page, and a
run's costs computed again from its metrics.
"""
import json
import os
import re
import unittest

from program import SMALL, SOURCE, ProgramTest

KINDS = {"counter_increment": "counter", "state_read": "state_read", "state_write": "state_write", "lwt": "lwt",
         "lock": "lwt", "partition_read": "read_1"}
METRICS = {"counter_increment": "counter_increments", "state_read": "state_reads", "lwt": "lwt",
           "state_write": "state_writes", "lock": "lock_ops", "row_scanned": "rows_scanned"}


def page():
    """Price -> its default, by docs/scenario.md."""
    with open(os.path.join(SOURCE, "docs", "scenario.md"), encoding="utf-8") as file:
        table = file.read().split("### `prices`\n")[1].split("\n### ")[0]
    rows = re.findall(r"^\| `(\w+)` \| number[^|]*\| ([\d.]+) \|", table, re.M)
    return {name: float(value) for name, value in rows}


def seconds():
    """Kind of operation -> seconds per operation, with 128 in flight."""
    with open(os.path.join(SOURCE, "tests", "cassandra5", "latency", "one-v1.json"), encoding="utf-8") as file:
        points = json.load(file)["points"]
    return {point["kind"]: 1 / point["per_second"] for point in points if point["in_flight"] == 128}


class PricesTest(ProgramTest):
    def run_small(self, *more):
        self.write("s.yaml", SMALL)
        return json.loads(self.good("run", "s.yaml", "--json", "--quiet", "--no-charts", *more))

    def test_defaults_are_what_was_measured(self):
        prices, took = page(), seconds()
        for name, kind in KINDS.items():
            self.assertAlmostEqual(prices[name] / (took[kind] / took["insert"]), 1, delta=0.02, msg=name)
        scanned = (took["read_1000"] - took["read_100"]) / 900 / took["insert"]
        self.assertAlmostEqual(prices["row_scanned"] / scanned, 1, delta=0.02)

    def costs(self, result, prices):
        for strategy in result["strategies"]:
            metrics = strategy["metrics"]
            write = sum(prices[name] * metrics["writes." + metric] for name, metric in METRICS.items())
            read = prices["partition_read"] * metrics["reads.count"] * metrics["reads.partitions_per_read.mean"]
            self.assertAlmostEqual(strategy["cost"]["write"], 1000 * write / metrics["writes.rows"])
            self.assertAlmostEqual(strategy["cost"]["read"], 1000 * read / metrics["writes.rows"])

    def test_costs_are_operations_by_their_prices(self):
        plain = self.run_small()
        self.costs(plain, page())
        own = {**page(), "counter_increment": 7.5, "partition_read": 0.25}
        priced = self.run_small("--set", "prices.counter_increment=7.5", "--set", "prices.partition_read=0.25")
        self.costs(priced, own)
        money = self.run_small("--set", "prices={insert: 0.2, counter_increment: 1.5, partition_read: 0.05}")
        self.assertEqual([s["cost"] for s in money["strategies"]], [s["cost"] for s in priced["strategies"]])
        self.assertEqual({plain["digest"]}, {priced["digest"], money["digest"]})
        shown = json.loads(self.good("show", "2", "--json"))
        self.assertEqual([s["cost"] for s in shown["strategies"]], [s["cost"] for s in priced["strategies"]])

    def test_bad_prices_are_reported(self):
        self.write("s.yaml", SMALL)
        cures = [("insert=0", "a number above 0"), ("lwt=-1", "at least 0"), ("lw=1", "did you mean 'lwt'?")]
        for price, cure in cures:
            self.assertIn(cure, self.bad(2, "run", "s.yaml", "--set", "prices." + price))


if __name__ == "__main__":
    unittest.main()
