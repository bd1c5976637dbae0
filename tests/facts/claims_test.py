# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: every claim in docs/findings.md has the lab's present figure. Method: all scenarios of
scenarios/facts/ are run as they are shipped, and their expectations hold; a claim names each of them; and the
page's tables equal those that docs/facts.py makes.
"""
import glob
import os
import sys
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path[:0] = [os.path.join(SOURCE, "docs"), os.path.join(SOURCE, "tests")]

import facts  # noqa: E402
from facts_claims import PARTS  # noqa: E402
from share import in_full, part  # noqa: E402

LAB = facts.Lab(PROGRAM)


class Claims(unittest.TestCase):
    def test_every_scenario_holds_its_expectations_and_backs_a_claim(self):
        paths = glob.glob(os.path.join(SOURCE, "scenarios", "facts", "*.yaml"))
        names = {f"facts/{os.path.basename(path).removesuffix('.yaml')}" for path in paths}
        self.assertGreaterEqual(len(names), 15)
        for name in part(sorted(names)):
            with self.subTest(name):
                if LAB.has_trace(name):
                    LAB.run(name)
        claimed = {name for part in PARTS for claim in part.claims for name in claim.scenarios}
        self.assertEqual(names - claimed, set())

    @in_full
    def test_the_page_shows_what_runs_give(self):
        with open(facts.PAGE, encoding="utf-8") as file:
            page = file.read()
        self.assertIsNone(facts.first_difference(page, facts.filled(page, LAB, PARTS)), "docs/facts.py writes it again")

    @in_full
    def test_a_figure_that_is_off_is_found(self):
        with open(facts.PAGE, encoding="utf-8") as file:
            page = file.read()
        wrong = page.replace("mean 20,480, standard", "mean 20,481, standard")
        self.assertNotEqual(wrong, page)
        was, now = facts.first_difference(wrong, facts.filled(wrong, LAB, PARTS))
        self.assertIn("20,481", was)
        self.assertIn("20,480, standard", now)

    def test_a_scenario_without_expectations_is_no_proof(self):
        lab = facts.Lab(PROGRAM)
        lab.json_of = lambda *_: {"expect": [], "strategies": []}
        self.assertRaises(facts.Failure, lab.run, "facts/distribution")


if __name__ == "__main__":
    unittest.main()
