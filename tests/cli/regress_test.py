# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: scenarios that the fuzzer once found, or that show a known weakness, get the same verdict as before.
Method: every scenario of scenarios/regress/ is run; it has expectations, and they hold.
"""
import glob
import os
import unittest

from program import SOURCE, ProgramTest


class RegressTest(ProgramTest):
    def test_every_kept_scenario_holds_its_expectations(self):
        for path in sorted(glob.glob(os.path.join(SOURCE, "scenarios", "regress", "*.yaml"))):
            with self.subTest(os.path.basename(path)):
                run = self.good_json("run", path, "--json", "--quiet", "--no-charts")
                self.assertTrue(run["expect"])
                self.assertTrue(all(expect["ok"] for expect in run["expect"]))


if __name__ == "__main__":
    unittest.main()
