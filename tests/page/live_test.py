# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: the live calculator shows the results of `bucketlab odds`, to six digits, at any position of its
sliders and fields. Method: more than 200 settings are entered into the page, with tails of all sizes; the
command that the page shows is run, and each figure is compared with its answer, in full and as displayed.
"""
import json
import math
import re
import shlex
import unittest
from concurrent.futures import ThreadPoolExecutor

from pages import PageTest, program
from share import SHARE, part

PUT = """
const put = (id, value) => {
    const input = document.getElementById(id);
    input.value = value;
    input.dispatchEvent(new Event("input", {bubbles: true}));
};
"""
# The displayed values for each of a list of {id: value}; the last one triggers the event.
SHOWN = """
return arguments[0].map(setting => {
    let input = null;
    for (const id in setting) {
        input = document.getElementById(id);
        input.value = setting[id];
    }
    if (input !== null)
        input.dispatchEvent(new Event("input", {bubbles: true}));
    const figures = {};
    for (const row of document.querySelectorAll("#live tr[data-figure]"))
        if (!row.hidden)
            figures[row.dataset.figure] = [row.querySelector("data").value, row.querySelector("data").textContent];
    return {command: document.getElementById("live-command").textContent, figures: figures,
            says: document.getElementById("live-says").textContent,
            slider: document.getElementById("live-threshold").value};
});
"""
THRESHOLDS = [1, 2, 40, 1000, 31000, 999999, 1000000]
SPREADS = [-30, -12, -4, -1, -0.1, 0, 0.3, 2, 6, 20, 36]
QUANTILES = [0.001, 0.01, 0.5, 0.99, 0.999]


def settings():
    """Every number of bits with every threshold of the list, and limits all over the distribution and outside
    of it."""
    found = []
    for bits in range(33):
        for i, threshold in enumerate(THRESHOLDS):
            mean = threshold * 2 ** bits
            stddev = math.sqrt(threshold * (1 - 2.0 ** -bits)) * 2 ** bits
            at = [int(max(1, mean + SPREADS[(bits * 3 + i + 4 * j) % len(SPREADS)] * stddev)) for j in range(2)]
            found.append({"live-bits-number": bits, "live-threshold-number": threshold, "live-tiny": at[0],
                          "live-limit-rows": at[1], "live-limit-bytes": f"{2 * at[1]} B",
                          "live-row-bytes": "1 B"})
    return found


class LiveTest(PageTest):
    def shown(self, *wanted):
        return self.browser.run(SHOWN, list(wanted))

    def test_figures_are_those_of_odds(self):
        self.open("stream")
        wanted = part(settings())
        shown = self.shown(*wanted)
        with ThreadPoolExecutor(2) as pool:
            odds = list(pool.map(lambda each: odds_of(self.pages.folder, each["command"]), shown))
        chances = []
        for setting, page, told in zip(wanted, shown, odds):
            self.assertEqual((told["bits"], told["threshold"]),
                             (setting["live-bits-number"], setting["live-threshold-number"]))
            self.assertEqual([tail["rows"] for tail in told["below"] + told["above"]],
                             [setting["live-tiny"], setting["live-limit-rows"], 2 * setting["live-limit-rows"]])
            self.agree(page["figures"], told, setting)
            chances += [tail["probability"] for tail in told["below"]]
            chances += [tail["probability"] for tail in told["above"]]
        # The settings cover the range: all magnitudes of chances, including ones that a double cannot
        # represent.
        self.assertGreaterEqual(len(shown), 200 / SHARE)
        self.assertTrue(any(0 < chance < 1e-250 for chance in chances))
        self.assertTrue(any(1e-250 < chance < 1e-20 for chance in chances))
        self.assertTrue({0, 1} <= set(chances))

    def agree(self, figures, told, setting):
        expected = {"mean": told["mean_rows"], "stddev": told["stddev_rows"],
                    "increments": told["counter_increments_per_1000_rows"],
                    "below": told["below"][0]["probability"], "above": told["above"][0]["probability"],
                    "above-bytes": told["above"][1]["probability"]}
        expected |= {f"quantile-{each['p']:g}": each["rows"] for each in told["quantiles"]}
        self.assertEqual(len(expected), 6 + len(QUANTILES))
        for name, value in expected.items():
            full, read = figures[name]
            self.close(float(full), value, 1e-9, (setting, name))
            self.close(float(re.sub(r"[, a-df-z]", "", read)), value, 5.1e-6, (setting, name, read))

    def close(self, actual, expected, share, of):
        """Below 1e-300 a double has few digits."""
        self.assertLessEqual(abs(actual - expected), share * abs(expected) + 1e-300, (of, actual, expected))

    def test_quantiles_of_any_share_are_those_of_odds(self):
        self.open("stream")
        shares = ["0", "1e-12", "1e-9", "1e-5", "0.25", "0.75", "0.99999", "0.999999999"]
        for bits, threshold in [(0, 7), (1, 1), (1, 40), (9, 1), (9, 40), (20, 3), (32, 100), (32, 1000000)]:
            asked = [word for share in shares for word in ("--quantile", share)]
            told = json.loads(program(self.pages.folder, "odds", "--bits", str(bits), "--threshold",
                                      str(threshold), "--json", *asked))
            mine = self.browser.run("const distribution = bucketlabDistribution.make(arguments[0], arguments[1]);"
                                    "return arguments[2].map(Number).map(share => "
                                    "bucketlabDistribution.quantile(distribution, share));",
                                    bits, threshold, shares)
            self.assertEqual(mine, [each["rows"] for each in told["quantiles"]], (bits, threshold))

    def test_threshold_slider_goes_to_the_maximum(self):
        self.open("cluster")
        last = int(self.browser.run("return document.getElementById('live-threshold').max"))
        first = part(range(100))
        positions = [*first, *part(range(100, last)), last]
        at = self.browser.run(PUT + "return arguments[0].map(i => { put('live-threshold', i);"
                              "return Number(document.getElementById('live-threshold-number').value); });", positions)
        self.assertEqual(at[:len(first)], [position + 1 for position in first])
        self.assertEqual(at[-1], 1000000)
        self.assertTrue(all(low < high for low, high in zip(at, at[1:])))

    def test_keyboard_moves_both_sliders_and_the_line_of_the_chart(self):
        self.open("stream")
        self.browser.run("document.getElementById('live-bits').focus()")
        self.browser.press("ArrowRight")
        self.browser.press("ArrowRight")
        self.browser.run("document.getElementById('live-threshold').focus()")
        self.browser.press("ArrowLeft")
        page = self.shown({})[0]
        self.assertIn("--bits 7 --threshold 39 ", page["command"])
        self.assertEqual(float(page["figures"]["mean"][0]), 39 * 2 ** 7)
        self.browser.run("document.getElementById('live-chart').focus()")
        self.browser.press("End")
        at = "return Number(document.getElementById('live-chart').getAttribute('aria-valuenow'))"
        end = self.browser.run(at)
        self.browser.press("ArrowLeft")
        self.assertLess(self.browser.run(at), end)
        self.assertRegex(self.browser.run("return document.getElementById('live-reading').textContent"),
                         r"^At [0-9,]+ rows \([0-9.]+ .?B\): .* of the partitions are larger, .* smaller\.$")

    def test_a_sentence_says_what_the_setting_means(self):
        self.open("stream")
        page = self.shown({"live-bits-number": 9, "live-threshold-number": 40, "live-limit-rows": 32000,
                           "live-limit-bytes": "100 MB", "live-row-bytes": "350 B", "live-rate": ""})[0]
        self.assertEqual(page["says"], "One row in 512 adds 1 to the counter; at 40 the key moves to its next bucket. "
                         "Partitions have 20,480 rows ± 15.8 %, or 7.17 MB. Of 1,000,000 partitions about 960 "
                         "exceed 32,000 rows and none exceeds 100 MB.")
        page = self.shown({"live-bits-number": 0, "live-limit-rows": "", "live-limit-bytes": "",
                           "live-row-bytes": "", "live-rate": "2"})[0]
        self.assertEqual(page["says"], "Every row adds 1 to the counter; at 40 the key moves to its next bucket. "
                         "Partitions have exactly 40 rows. At 2 rows per second a partition is full after 20 s.")
        self.assertEqual(page["command"], "bucketlab odds --bits 0 --threshold 40 --below 24")

    def test_a_field_that_is_no_figure_is_marked_and_says_what_it_takes(self):
        self.open("stream")
        for field, value, says in [("live-bits-number", "33", "Bits must be a whole number from 0 to 32."),
                                   ("live-bits-number", "", "Bits must be a whole number from 0 to 32."),
                                   ("live-threshold-number", "0",
                                    "The threshold must be a whole number from 1 to 1,000,000."),
                                   ("live-threshold-number", "2.5",
                                    "The threshold must be a whole number from 1 to 1,000,000."),
                                   ("live-limit-rows", "many", "The limit of rows must be a whole number from 0 to "
                                    "9,007,199,254,740,992."),
                                   ("live-row-bytes", "350", "A row's size must be a size with its unit, for example "
                                    "350 B or 100 MB."),
                                   ("live-rate", "-1", "The rate must be a number of rows per second.")]:
            with self.subTest(field=field, value=value):
                good = self.browser.run("return document.getElementById(arguments[0]).value", field)
                before, wrong = self.shown({}, {field: value})
                self.assertEqual(wrong["says"], says)
                self.assertEqual(wrong["figures"], before["figures"])
                self.assertEqual(self.marked(), [field])
                self.assertEqual(self.shown({field: good})[0]["says"], before["says"])
                self.assertEqual(self.marked(), [])

    def marked(self):
        return self.browser.run("return [...document.querySelectorAll('#live [aria-invalid=true]')].map(e => e.id)")

    def test_corner_begins_with_a_setting_of_the_run(self):
        self.open("stream")
        self.assertIn("--bits 5 --threshold 40 --below 24 --above 10000 ", self.shown({})[0]["command"])
        self.browser.run("const start = document.getElementById('live-start'); start.selectedIndex = 1;"
                         "start.dispatchEvent(new Event('change', {bubbles: true}));")
        self.assertIn("--bits 4 --threshold 160 ", self.shown({})[0]["command"])


def odds_of(folder, command):
    """The answer to the command that a page shows."""
    words = shlex.split(command)
    if words[0] != "bucketlab":
        raise AssertionError(command)
    return json.loads(program(folder, *words[1:], "--json"))


if __name__ == "__main__":
    unittest.main()
