# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: the table of costs in docs/strategies.md equals the program's present output, and agrees with the metrics.
Method: the table is made again and compared, and each of its figures is computed from `show --json`.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.join(SOURCE, "docs"))

import costs  # noqa: E402

OPERATIONS = ("counter_increments", "state_reads", "state_writes", "lwt", "lock_ops", "rows_scanned")


def metrics_by_label(folder):
    done = subprocess.run([PROGRAM, "show", "last", "--json", "--db", os.path.join(folder, "costs.db")],
                          capture_output=True, check=True)
    return {strategy["label"]: strategy["metrics"] for strategy in json.loads(done.stdout)["strategies"]}


class Costs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            cls.text = costs.table(PROGRAM, folder)
            cls.metrics = metrics_by_label(folder)

    def expected(self, label):
        metrics = self.metrics[label]
        mean = metrics.get("partitions.closed.rows.mean")
        return [*(1000 * metrics[f"writes.{name}"] / metrics["writes.rows"] for name in OPERATIONS),
                metrics["latency.write.p99"], metrics["reads.partitions_per_read.mean"],
                100 * metrics["partitions.closed.rows.stddev"] / mean if mean else None]

    def test_readme_shows_the_costs(self):
        with open(os.path.join(SOURCE, "docs", "strategies.md"), encoding="utf-8") as file:
            page = file.read()
        self.assertEqual(page, costs.filled(page, self.text), "docs/costs.py --write docs/strategies.md updates it")

    def test_every_figure_is_that_of_the_metrics(self):
        rows = self.text.split("\n\n", maxsplit=1)[0].splitlines()[2:]
        self.assertEqual([row[:13].rstrip() for row in rows], list(self.metrics))
        for row in rows:
            label = row[:13].rstrip()
            for cell, value in zip(row[13:].split(), self.expected(label), strict=True):
                with self.subTest(label, cell=cell):
                    if cell == "-":
                        self.assertIsNone(value)
                    elif cell == "<.01":
                        self.assertTrue(0 < value < 0.005)
                    else:
                        scale = {"k": 1e3, "M": 1e6}.get(cell[-1], 1)
                        self.assertLess(abs(float(cell.rstrip("%kM")) * scale - value), 0.006 + 0.006 * value)

    def test_lines_fit_a_terminal(self):
        self.assertLessEqual(max(map(len, self.text.splitlines())), 80)


if __name__ == "__main__":
    unittest.main()
