# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: the statements of docs/findings.md about the scenarios in scenarios/findings/ stay true. Method: each
is run as it is shipped, and its expectations must hold; those that are made for fuzz must give it scenarios
that run.
"""
import glob
import os
import unittest

from program import SOURCE, ProgramTest
from share import part

PATHS = sorted(glob.glob(os.path.join(SOURCE, "scenarios", "findings", "*.yaml")))


def is_for_fuzz(path):
    """Such a scenario omits the parts that fuzz draws."""
    with open(path, encoding="utf-8") as file:
        return "\nduration:" not in file.read()


class Findings(ProgramTest):
    def test_every_scenario_holds_its_expectations(self):
        paths = [path for path in PATHS if not is_for_fuzz(path)]
        self.assertGreaterEqual(len(paths), 8)
        for path in part(paths):
            with self.subTest(os.path.basename(path)):
                run = self.good_json("run", path, "--json", "--quiet", "--no-charts")
                self.assertEqual(run["scenario"], os.path.basename(path).removesuffix(".yaml"))
                self.assertTrue(run["expect"])
                self.assertTrue(all(expect["ok"] for expect in run["expect"]))

    def test_every_scenario_for_fuzz_gives_scenarios_that_run(self):
        paths = [path for path in PATHS if is_for_fuzz(path)]
        self.assertEqual(len(paths), 2)
        for path in paths:
            with self.subTest(os.path.basename(path)):
                for seed in part((1, 2, 3)):
                    drawn = self.write("drawn.yaml", self.good("fuzz", path, "--print", "--seeds", f"{seed}..{seed}"))
                    run = self.good_json("run", drawn, "--json", "--quiet", "--no-charts")
                    self.assertEqual(run["seed"], seed)


if __name__ == "__main__":
    unittest.main()
