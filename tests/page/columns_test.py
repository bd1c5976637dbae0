# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: the comparison sorts by every column, in both directions, numbers as numbers, by mouse and keyboard; a
cell has the database's figure. Method: the order of the rows is compared with the sorted figures of the
database.
"""
import unittest

from pages import NAMES, PageTest

HEADS = """
return [...document.querySelectorAll("#strategies thead tr:last-child th")]
    .map(head => [head.dataset.metric || "", head.getAttribute("aria-sort") || "none"]);
"""
CLICK = "document.querySelectorAll('#strategies thead tr:last-child th button')[arguments[0]].click()"
# For each row the label and the values of its cells, as stored in the markup.
ROWS = """
return [...document.querySelectorAll("#strategies tbody tr")]
    .map(row => [row.querySelector(".label").textContent, ...[...row.cells].map(cell => cell.dataset.value)]);
"""


class ColumnsTest(PageTest):
    def head(self, column):
        """The middle of a column's button, in the window."""
        return self.browser.run("""
            const head = document.querySelectorAll("#strategies thead tr:last-child th button")[arguments[0]];
            head.scrollIntoView({block: "center", inline: "center", behavior: "instant"});
            const box = head.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];""", column)

    def test_each_column_sorts_up_and_down(self):
        for name in self.each_page():
            heads = self.browser.run(HEADS)
            self.assertGreater(len(heads), 8)
            # Sorting many rows repeatedly is slow, and the columns of that page are the same.
            for column in range(0, len(heads), 6 if name == "tune" else 1):
                self.browser.click(*self.head(column))
                self.check_order(column, heads[column][0], "ascending")
                if column == 0:
                    self.browser.click(*self.head(column))
                else:  # as above, without the mouse, which is slow
                    self.browser.run(CLICK, column)
                self.check_order(column, heads[column][0], "descending")

    def test_keyboard_sorts(self):
        self.open("stream")
        metrics = [metric for metric, _ in self.browser.run(HEADS)]
        column = metrics.index("partitions.all.rows.max")
        self.browser.run("document.querySelectorAll('#strategies thead tr:last-child th button')[arguments[0]].focus()",
                         column)
        self.browser.press("Enter")
        self.check_order(column, metrics[column], "ascending")
        self.browser.press(" ")
        self.check_order(column, metrics[column], "descending")

    def check_order(self, column, metric, way):
        rows = self.browser.run(ROWS)
        values = [row[1 + column] for row in rows]
        present = [value for value in values if value != ""]
        self.assertEqual(values, present + [""] * (len(values) - len(present)), "rows without a figure come last")
        keys = [float(value) for value in present] if metric else present
        if not metric and all(value.replace(".", "").isdigit() for value in present):
            keys = [float(value) for value in present]
        if column == 0:
            keys = self.browser.run("return arguments[0].map(one => arguments[0].filter(other => "
                                    "other.localeCompare(one) < 0).length)", present)
        self.assertEqual(keys, sorted(keys, reverse=way == "descending"), (metric, way))
        sorts = [sort for _, sort in self.browser.run(HEADS)]
        self.assertEqual(sorts, ["none"] * column + [way] + ["none"] * (len(sorts) - column - 1))

    def test_numbers_are_sorted_by_value(self):
        """The figures are such that the two orders differ; otherwise the test above would prove little."""
        for run, name in enumerate(NAMES, 1):
            rows = self.pages.rows("SELECT value FROM strategy_metrics WHERE run = ? AND metric = "
                                   "'partitions.all.rows.max'", run)
            words = [f"{value:.17g}" for value, in rows]
            if name == "stream":
                self.assertNotEqual(sorted(words), sorted(words, key=float))

    def test_cells_are_those_of_the_database(self):
        checked = 0
        for run, name in enumerate(NAMES, 1):
            self.look(name)
            metrics = [metric for metric, _ in self.browser.run(HEADS)]
            stored = {(label, metric): value for label, metric, value in self.pages.rows(
                "SELECT label, metric, value FROM strategy_metrics WHERE run = ?", run)}
            rows = self.browser.run(ROWS)
            self.assertEqual([row[0] for row in rows], [label for label, in self.pages.rows(
                "SELECT label FROM strategy WHERE run = ? ORDER BY position", run)])
            for row in rows:
                for metric, value in zip(metrics, row[1:]):
                    if metric:
                        self.assertEqual(float(value) if value else None, stored.get((row[0], metric)),
                                         (name, row[0], metric))
                        checked += value != ""
        self.assertGreaterEqual(checked, 60)

    def test_shown_text_is_the_stored_text(self):
        self.look("stream")
        cells = self.browser.run("return [...document.querySelectorAll('.sortable tbody td[data-value][title]')]"
                                 ".map(cell => [cell.dataset.value, cell.title, cell.textContent])")
        self.assertGreater(len(cells), 50)
        for value, title, text in cells:
            self.assertEqual(value, title)
            self.assertAlmostEqual(read(text) / (float(value) or 1), 1 if float(value) else 0, delta=0.006,
                                   msg=(value, text))


def read(text):
    """Parses a figure as it is written: 46,422,562 or 1.2K, 8.1 MB, 25 ms, 3.4%."""
    text = text.replace("▲", "").replace("\u00a0", "").replace("\u202f", "").replace(",", "").strip()
    scales = {"%": 0.01, "µs": 1e-3, "ms": 1, "s": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "B": 1, "K": 1e3, "M": 1e6,
              "G": 1e9}
    for ending, scale in scales.items():
        if text.endswith(ending):
            return float(text[:-len(ending)]) * scale
    return float(text)


if __name__ == "__main__":
    unittest.main()
