# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: docs/charts.md shows the program's present charts. Method: the runs of the charts are
repeated, except for tune's search, and compared with the stored ones; then charts and notes that are wrong,
which must be detected; and links, commands and metrics on the page must exist.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.join(SOURCE, "docs"))

import charts  # noqa: E402

QUICK = [entry for entry in charts.COMMANDS if " run " in entry[0]]


DOCS = os.path.join(SOURCE, "docs")


def page():
    with open(os.path.join(DOCS, "charts.md"), encoding="utf-8") as file:
        return file.read()


class Charts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.work)
        cls.made = charts.drawn(PROGRAM, QUICK, cls.work)

    def test_charts_are_what_the_program_draws(self):
        self.assertEqual(charts.faults(charts.FOLDER, self.made), [], "docs/charts.py draws them again")

    def test_a_chart_that_is_out_of_date_is_noticed(self):
        with tempfile.TemporaryDirectory() as work:
            folder = os.path.join(work, "charts")
            shutil.copytree(charts.FOLDER, folder)
            os.remove(os.path.join(folder, "reads.png"))
            with open(os.path.join(folder, "partitions-bytes.png"), "ab") as file:
                file.write(b"x")
            notes = os.path.join(folder, "charts.json")
            with open(notes, encoding="utf-8") as file:
                kept = json.load(file)
            kept["charts"]["summary.png"]["digest"] = "0" * 16
            kept["libraries"] = charts.libraries()
            kept["charts"]["timeline.png"]["sha256"] = "0" * 64
            with open(notes, "w", encoding="utf-8") as file:
                json.dump(kept, file)
            found = charts.faults(folder, self.made)
            for fault in ("reads.png: it is missing",
                          "partitions-bytes.png: it differs from the checksum in charts.json",
                          "summary.png: it shows another run", "timeline.png: the program draws it differently"):
                self.assertIn(fault, found)

    def test_a_chart_that_is_no_longer_drawn_is_noticed(self):
        with tempfile.TemporaryDirectory() as work:
            with self.assertRaisesRegex(charts.Failure, r"no longer draws tune-sensors-gone\.png"):
                charts.drawn(PROGRAM, [(QUICK[0][0], ("gone",))], work)

    def test_the_page_shows_each_chart_and_each_link_has_an_end(self):
        linked = set(re.findall(r"\]\(([^)#:]+)(?:#[\w-]+)?\)", page()))
        for link in linked:
            self.assertTrue(os.path.exists(os.path.join(DOCS, link)), link)
        for name in os.listdir(charts.FOLDER):
            self.assertTrue(f"charts/{name}" in linked or name == "charts.json", f"{name}: the page does not show it")

    def test_each_chart_has_its_parts(self):
        parts = [part for part in page().split("\n## ")[1:] if "**Figures:**" in part]
        self.assertGreaterEqual(len(parts), 9)
        for part in parts:
            self.assertIn("**Good and bad.**", part)
            self.assertRegex(part, r"\n!\[[^]]+\]\(")

    def test_the_page_has_the_commands_that_draw(self):
        said = " ".join(page().split())
        for command, _ in charts.COMMANDS:
            self.assertIn(f"`{command}`", said)

    def test_runs_have_each_metric_that_is_named(self):
        had = set()
        for database in glob.glob(os.path.join(self.work, "*", "x.db")):
            done = subprocess.run([PROGRAM, "show", "last", "--json", "--db", database], stdout=subprocess.PIPE,
                                  check=True)
            run = json.loads(done.stdout)
            if run["scenario"] in ("tune-sensors", "three-state"):
                had |= {metric for strategy in run["strategies"] for metric in strategy["metrics"]}
        named = [metric for part in page().split("**Figures:**")[1:]
                 for metric in re.findall(r"`([a-z_]+\.[a-z_0-9.*]+)`", part.split("\n## ")[0])]
        self.assertGreater(len(named), 15)
        for metric in named:
            if metric.endswith(".*"):
                self.assertTrue(any(one.startswith(metric[:-1]) for one in had), metric)
            else:
                self.assertIn(metric, had)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
