# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: the pages of docs/charts show the program's present charts. Method: the runs of the charts are
repeated, except for tune's search, and compared with the stored ones; then charts and notes that are wrong,
which must be detected; and links, commands and metrics on the pages must exist.
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


def pages():
    for name in sorted(os.listdir(charts.FOLDER)):
        if name.endswith(".md"):
            with open(os.path.join(charts.FOLDER, name), encoding="utf-8") as file:
                yield name, file.read()


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
            with open(os.path.join(folder, "costs.png"), "ab") as file:
                file.write(b"x")
            notes = os.path.join(folder, "charts.json")
            with open(notes, encoding="utf-8") as file:
                kept = json.load(file)
            kept["charts"]["summary.png"]["digest"] = "0" * 16
            kept["libraries"] = charts.libraries()
            kept["charts"]["survival-rows.png"]["sha256"] = "0" * 64
            with open(notes, "w", encoding="utf-8") as file:
                json.dump(kept, file)
            found = charts.faults(folder, self.made)
            for fault in ("reads.png: it is missing", "costs.png: it differs from the checksum in charts.json",
                          "summary.png: it shows another run", "survival-rows.png: the program draws it differently"):
                self.assertIn(fault, found)

    def test_a_chart_that_is_no_longer_drawn_is_noticed(self):
        with tempfile.TemporaryDirectory() as work:
            with self.assertRaisesRegex(charts.Failure, r"no longer draws tune-sensors-gone\.png"):
                charts.drawn(PROGRAM, [(QUICK[0][0], ("gone",))], work)

    def test_each_page_has_its_parts_and_each_link_an_end(self):
        linked = set()
        for name, text in pages():
            for link in re.findall(r"\]\(([^)#]+)(?:#[\w-]+)?\)", text):
                self.assertTrue(os.path.exists(os.path.join(charts.FOLDER, link)), f"{name}: {link}")
                linked.add(link)
            if name != "README.md":
                self.assertEqual(re.findall(r"^## (.*)$", text, re.M), ["Read it", "Good and bad", "Figures"], name)
                self.assertRegex(text, r"\n!\[[^]]+\]\(")
                self.assertRegex(text, r"\n\$ bucketlab (run|tune) scenarios/[\w-]+\.yaml")
        for name in os.listdir(charts.FOLDER):
            self.assertTrue(name in linked or name in ("README.md", "charts.json"), f"{name}: no page shows it")

    def test_charts_are_next_to_the_commands_that_draw_them(self):
        said = {name: text for name, text in pages()}
        for command, kept in charts.COMMANDS:
            for chart in kept:
                self.assertTrue(any(f"]({chart}.png)" in text and f"$ {command}\n" in text for text in said.values()),
                                chart)

    def test_runs_have_each_metric_that_is_named(self):
        had = set()
        for database in glob.glob(os.path.join(self.work, "*", "x.db")):
            done = subprocess.run([PROGRAM, "show", "last", "--json", "--db", database], stdout=subprocess.PIPE,
                                  check=True)
            run = json.loads(done.stdout)
            if run["scenario"] in ("tune-sensors", "three-state"):
                had |= {metric for strategy in run["strategies"] for metric in strategy["metrics"]}
        named = [(page, metric) for page, text in pages()
                 for metric in re.findall(r"`([a-z_]+\.[a-z_0-9.*]+)`", text.split("## Figures")[-1])]
        self.assertGreater(len(named), 15)
        for page, metric in named:
            if metric.endswith(".*"):
                self.assertTrue(any(one.startswith(metric[:-1]) for one in had), (page, metric))
            elif page != "README.md":
                self.assertIn(metric, had, page)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
