# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: the hint of a mark that a user points at, or reaches by keys, agrees with the database. Method: the
hints of all marks are parsed as sentences and computed again from the views of the database; some marks are
pointed at by the mouse and reached by keys, and the visible hint is read from the page.
"""
import csv
import io
import json
import re
import unittest
import urllib.parse

from pages import NAMES, PageTest
from share import part

# On a page of tune some sections are folded.
WITH_HINTS = "for (const fold of document.querySelectorAll('details.fold')) fold.open = true;"\
             "return [...document.querySelectorAll('svg.chart-svg:not(.narrow)')].map(svg => svg.id)"
# For each mark of a chart its hint and the label of its panel.
HINTS = """
const svg = document.getElementById(arguments[0]);
const names = [...svg.querySelectorAll("text")].filter(text => arguments[1].includes(text.textContent))
    .map(text => [text.getBBox().y, text.textContent]).sort((one, other) => one[0] - other[0]);
return [...svg.querySelectorAll("[data-hint]")].map(mark => {
    const y = mark.getBBox().y;
    const above = names.filter(name => name[0] < y + 1);
    return [mark.dataset.hint, above.length > 0 ? above[above.length - 1][1] : ""];
});
"""
# The middle of a mark, in the window.
MIDDLE = """
const mark = document.getElementById(arguments[0]).querySelectorAll("[data-hint]")[arguments[1]];
mark.scrollIntoView({block: "center", inline: "center", behavior: "instant"});
const box = mark.getBoundingClientRect();
return [box.x + box.width / 2, box.y + box.height / 2];
"""
TIP = """
const tip = document.querySelector(".chart-tip");
return tip !== null && tip.checkVisibility() ? tip.textContent : "";
"""
BAR = re.compile(r"([\d,]+)(?: to ([\d,]+))? (rows?|bytes?): ([\d,]+) (closed|open) partitions?, ([\d.]+)% of all.*")
LARGER = re.compile(r"(.*): ([\d,]+) (rows?|bytes?), (none|[\d,]+) of ([\d,]+) (closed|open) partitions (is|are) larger"
                    r".*", re.DOTALL)
READ = re.compile(r"([\d,]+) partitions?: ([\d,]+) of ([\d,]+) reads .*")
COST = re.compile(r"(.*): a cost of ([\d.]+) inserts per 1000 rows, ([\d.]+) by writers and ([\d.]+) by reads",
                  re.DOTALL)
ASKED = re.compile(r"(.*): ([\d.]+) partitions? per read on average, 99th percentile ([\d.]+)", re.DOTALL)
OVER = re.compile(r"(.*): ([\d,]+) of ([\d,]+) partitions over a limit", re.DOTALL)
TINY = re.compile(r"(.*): ([\d,]+) of ([\d,]+) closed partitions below 24 rows", re.DOTALL)
SPOT = re.compile(r"([^;]*); cost in inserts per 1000 rows: ([\d.,]+); .*")


def whole(text):
    return 0 if text == "none" else int(text.replace(",", ""))


class FiguresTest(PageTest):
    def hints(self, run, chart):
        """The hints of a chart with their panels, those of each kind parsed by its pattern."""
        self.look(NAMES[run - 1])
        labels = [label for label, in self.pages.rows("SELECT label FROM strategy WHERE run = ?", run)]
        found = self.browser.run(HINTS, f"chart-{chart}-svg", labels)
        self.assertGreater(len(found), 0, chart)
        return found

    def metrics(self, run):
        return {(label, metric): value for label, metric, value in self.pages.rows(
            "SELECT label, metric, value FROM strategy_metrics WHERE run = ?", run)}

    def sizes(self, run, unit):
        """(label, state) -> [(size, partitions)]."""
        found = {}
        for label, state, size, count in self.pages.rows(
                "SELECT label, state, size, partitions FROM partition_histogram WHERE run = ? AND unit = ?", run, unit):
            found.setdefault((label, state), []).append((size, count))
        return found

    def test_bars_count_the_partitions_of_their_range(self):
        for run in (1, 2):
            for unit in ("rows", "bytes"):
                stored = self.sizes(run, unit)
                shown = {}
                for hint, label in self.hints(run, f"partitions-{unit}"):
                    low, high, named, count, state, _ = BAR.fullmatch(hint).groups()
                    self.assertEqual(named.rstrip("s"), unit.rstrip("s"))
                    low, high = whole(low), whole(high or low)
                    self.assertEqual(whole(count), sum(many for size, many in stored[label, state]
                                                       if low <= size <= high), (run, label, hint))
                    shown[label, state] = shown.get((label, state), 0) + whole(count)
                self.assertEqual(shown, {key: sum(many for _, many in bins) for key, bins in stored.items()})

    def test_survivors_are_the_larger_partitions(self):
        for run in (1, 2):
            for unit in ("rows", "bytes"):
                stored = self.sizes(run, unit)
                for hint, _ in self.hints(run, f"survival-{unit}"):
                    if "distribution" in hint:
                        continue
                    label, at, _, larger, of, state, _ = LARGER.fullmatch(hint).groups()
                    bins = stored[label, state]
                    self.assertEqual((whole(larger), whole(of)),
                                     (sum(many for size, many in bins if size > whole(at)),
                                      sum(many for _, many in bins)), (run, hint))

    def test_reads_are_those_that_queried_this_many(self):
        for run in (1, 2):
            stored = {(label, partitions): reads for label, partitions, reads in self.pages.rows(
                "SELECT label, partitions, reads FROM read_histogram WHERE run = ?", run)}
            shown = {}
            for hint, label in self.hints(run, "reads"):
                partitions, reads, of = (whole(part) for part in READ.fullmatch(hint).groups())
                shown[label, partitions] = reads
                self.assertEqual(of, sum(many for (owner, _), many in stored.items() if owner == label))
            self.assertEqual(shown, stored)

    def test_costs_are_the_metrics(self):
        stored = self.metrics(1)
        counted = 0
        for hint, _ in self.hints(1, "costs"):
            for pattern, metrics in [(COST, []),
                                     (ASKED, ["reads.partitions_per_read.mean", "reads.partitions_per_read.p99"]),
                                     (OVER, ["partitions.over_limit", "partitions.total"]),
                                     (TINY, ["partitions.tiny", "partitions.closed"])]:
                match = pattern.fullmatch(hint)
                if match:
                    label, *values = match.groups()
                    counted += 1
                    if pattern is COST:
                        total, writers, reads = (float(value) for value in values)
                        self.assertGreater(total, 0)
                        self.assertAlmostEqual(total, writers + reads, delta=1e-9 * total, msg=hint)
                    for metric, value in zip(metrics, values):
                        expected = stored[label, metric]
                        self.assertAlmostEqual(float(value.replace(",", "")), expected, delta=1e-13 * expected,
                                               msg=hint)
        self.assertEqual(counted, len(self.hints(1, "costs")))

    def test_points_are_the_candidates(self):
        (answer,), = self.pages.rows("SELECT answer FROM tune WHERE run = 3")
        costs = {each["label"]: each["metrics"]["cost_per_1000_rows"]["mean"]
                 for each in json.loads(answer)["candidates"] if "cost_per_1000_rows" in each["metrics"]}
        for hint, _ in self.hints(3, "tune-front"):
            label, cost = SPOT.fullmatch(hint).groups()
            self.assertAlmostEqual(float(cost.replace(",", "")) / costs[label], 1, delta=1e-12, msg=hint)

    def test_csv_of_a_chart_has_what_it_shows(self):
        def rows_of(name, chart):
            self.look(name)
            link = self.browser.run("return document.querySelector(`#chart-${arguments[0]} .csv a`).href", chart)
            text = urllib.parse.unquote(link.partition(",")[2])
            return list(csv.DictReader(io.StringIO(text, newline="")))

        for unit in ("rows", "bytes"):
            shown = {}
            for row in rows_of(NAMES[0], f"partitions-{unit}"):
                self.assertLessEqual(float(row["from"]), float(row["to"]))
                key = row["strategy"], row["state"]
                shown[key] = shown.get(key, 0) + float(row["count"])
            self.assertEqual(shown, {key: sum(many for _, many in bins) for key, bins in self.sizes(1, unit).items()})
        stored = self.metrics(1)
        for row in rows_of(NAMES[0], "costs"):
            self.assertAlmostEqual(float(row["partitions per read"]),
                                   stored[row["strategy"], "reads.partitions_per_read.mean"], delta=1e-9)
        (answer,), = self.pages.rows("SELECT answer FROM tune WHERE run = 3")
        costs = {each["label"]: each["metrics"].get("cost_per_1000_rows", {}).get("mean")
                 for each in json.loads(answer)["candidates"]}
        for row in rows_of("tune", "tune-front"):
            self.assertAlmostEqual(float(row["cost in inserts per 1000 rows (log scale)"]) / costs[row["setting"]], 1,
                                   delta=1e-9)
        for name in self.names():
            self.look(name)
            self.assertEqual(self.browser.run("return [...document.querySelectorAll('section.chart')].filter("
                                              "chart => !chart.querySelector('.csv a[download]')).length"), 0)

    def test_pointing_at_a_mark_shows_its_hint(self):
        for name in self.each_page():
            for chart in part(self.browser.run(WITH_HINTS)):
                hints = [hint for hint, _ in self.browser.run(HINTS, chart, [])]
                for index in sorted({0, len(hints) // 3, len(hints) - 1}):
                    x, y = self.browser.run(MIDDLE, chart, index)
                    self.browser.point(x, y)
                    shown = self.browser.wait(TIP)
                    at = self.browser.run("""
                        const marks = document.getElementById(arguments[0]).querySelectorAll("[data-hint]");
                        return [...marks].filter(mark => {
                            const box = mark.getBoundingClientRect();
                            return arguments[1] >= box.left - 2 && arguments[1] <= box.right + 2 &&
                                arguments[2] >= box.top - 2 && arguments[2] <= box.bottom + 2;
                        }).map(mark => mark.dataset.hint);""", chart, x, y)
                    self.assertIn(hints[index], at)
                    self.assertIn(shown, at, (name, chart, hints[index]))
                self.browser.point(1, 1)
                self.assertEqual(self.browser.run(TIP), "", (name, chart))

    def test_keys_walk_through_the_marks(self):
        for name in self.each_page():
            for chart in part(self.browser.run(WITH_HINTS)):
                hints = [hint for hint, _ in self.browser.run(HINTS, chart, [])]
                self.browser.run("document.getElementById(arguments[0]).focus()", chart)
                for key, expected in [("Home", hints[0]), ("ArrowRight", hints[1]), ("ArrowLeft", hints[0]),
                                      ("End", hints[-1])]:
                    self.browser.press(key)
                    self.assertEqual(self.browser.run(TIP), expected, (name, chart, key))
                told = self.browser.run("return [...document.querySelectorAll('[aria-live]')].map(e => e.textContent)")
                self.assertIn(hints[-1], told)
                self.browser.press("Escape")
                self.assertEqual(self.browser.run(TIP), "", (name, chart))


if __name__ == "__main__":
    unittest.main()
