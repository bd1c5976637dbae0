# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: `odds` prints the published figures, in the guaranteed fields, and refuses invalid settings. Method:
the figures in the docs and the design as constants, and a small distribution computed in exact fractions.
"""
import json
import unittest
from fractions import Fraction

from program import ProgramTest

FIELDS = ["bits", "threshold", "increment_probability", "mean_rows", "stddev_rows", "below", "above",
          "quantiles", "counter_increments_per_1000_rows"]


class OddsTest(ProgramTest):
    def close(self, actual, expected, digits):
        self.assertLess(abs(actual / expected - 1), 10.0 ** -digits, (actual, expected))

    def test_odds_9_40_gives_published_figures(self):
        odds = self.good_json("odds", "--bits", "9", "--threshold", "40", "--json", "--below", "12000",
                              "--below", "4200", "--above", "20000", "--above", "32000", "--above", "58000")
        self.assertEqual((odds["mean_rows"], odds["increment_probability"]), (20480, 1 / 512))
        self.close(odds["stddev_rows"], 3235.0085007616, 12)
        self.assertEqual([tail["rows"] for tail in odds["below"] + odds["above"]],
                         [12000, 4200, 20000, 32000, 58000])
        published = [0.0011304044, 1.338744e-15, 0.538460811385, 0.00095968816, 5.8165184e-16]
        for tail, expected in zip(odds["below"] + odds["above"], published):
            self.close(tail["probability"], expected, 6)
        self.assertEqual(odds["counter_increments_per_1000_rows"], 1.953125)

    def test_odds_json_has_the_fields_in_order(self):
        text = self.good("odds", "--bits", "9", "--threshold", "40", "--json")
        fields = json.loads(text, object_pairs_hook=lambda pairs: [name for name, _ in pairs])
        self.assertEqual(fields, FIELDS)
        self.assertIn('"stddev_rows":3235.008500761', text)
        self.assertEqual([q["p"] for q in json.loads(text)["quantiles"]], [0.001, 0.01, 0.5, 0.99, 0.999])

    def test_odds_of_a_chance_agree_with_a_sum_of_fractions(self):
        odds = self.good_json("odds", "--probability", "2/7", "--threshold", "3", "--json", "--below", "6",
                              "--above", "9", "--quantile", "0.5", "--quantile", "0")
        p, distribution, ways = Fraction(2, 7), {}, 1
        for rows in range(3, 200):
            distribution[rows] = ways * p ** 3 * (1 - p) ** (rows - 3)
            ways = ways * rows // (rows - 2)
        self.close(odds["below"][0]["probability"], float(sum(distribution[n] for n in range(3, 6))), 14)
        self.close(odds["above"][0]["probability"], float(1 - sum(distribution[n] for n in range(3, 10))), 13)
        median = next(n for n in distribution if sum(distribution[i] for i in range(3, n + 1)) >= Fraction(1, 2))
        self.assertEqual([q["rows"] for q in odds["quantiles"]][0], median)
        self.assertIsNone(odds["bits"])

    def test_odds_of_0_bits_is_a_constant(self):
        odds = self.good_json("odds", "--bits", "0", "--threshold", "40", "--below", "40", "--above", "40",
                              "--json")
        self.assertEqual((odds["mean_rows"], odds["stddev_rows"]), (40, 0))
        self.assertEqual((odds["below"][0]["probability"], odds["above"][0]["probability"]), (0, 0))
        self.assertEqual({q["rows"] for q in odds["quantiles"]}, {40})

    def test_odds_plain_is_a_table(self):
        text = self.good("odds", "--bits", "9", "--threshold", "40", "--above", "32000")
        self.assertRegex(text, r"(?m)^  mean +20480$")
        self.assertRegex(text, r"(?m)^  P\(rows > 32000\) +0\.00095968815")
        self.assertRegex(text, r"(?m)^  quantile 0\.5 +20310$")

    def test_odds_weighted_is_exact_for_rows_of_one_size(self):
        odds = self.good_json("odds", "--weighted", "512B", "--threshold", "40", "--row-bytes", "1B", "--json",
                              "--below", "12000B", "--above", "32000B")
        rows = self.good_json("odds", "--bits", "9", "--threshold", "40", "--json", "--below", "12000",
                              "--above", "32000")
        self.assertEqual(odds["mean_bytes"], 20480)
        self.close(odds["stddev_bytes"], rows["stddev_rows"], 12)
        for name in ("below", "above"):
            self.close(odds[name][0]["probability"], rows[name][0]["probability"], 10)
        self.assertEqual([q["bytes"] for q in odds["quantiles"]], [q["rows"] for q in rows["quantiles"]])
        self.assertEqual(odds["counter_increments_per_1000_rows"], 1.953125)
        large = self.good_json("odds", "--weighted", "100B", "--threshold", "40", "--row-bytes", "400B", "--json",
                               "--quantile", "0.9")
        self.assertEqual((large["mean_bytes"], large["stddev_bytes"]), (4000, 0))
        self.assertEqual(large["quantiles"], [{"p": 0.9, "bytes": 4000}])

    def test_odds_weighted_without_a_row_gives_bounds(self):
        odds = self.good_json("odds", "--weighted", "512KB", "--threshold", "40", "--json", "--below", "8MB",
                              "--above", "30MB", "--above", "1MB")
        self.assertEqual((odds["row_bytes"], odds["mean_bytes"]), (None, 20480000))
        self.close(odds["stddev_bytes_most"], 512000 * 40 ** 0.5, 14)
        exact = self.good_json("odds", "--weighted", "512KB", "--threshold", "40", "--row-bytes", "350B", "--json",
                               "--below", "8MB", "--above", "30MB")
        for name in ("below", "above"):
            bound, own = odds[name][0]["probability_most"], exact[name][0]["probability"]
            self.assertTrue(own <= bound < 2 * own, (own, bound))
        self.assertEqual(odds["above"][1]["probability_most"], 1)
        text = self.good("odds", "--weighted", "512KB", "--threshold", "40", "--above", "30MB")
        self.assertRegex(text, r"(?m)^  P\(bytes > 30MB\), at most +0\.0061")


if __name__ == "__main__":
    unittest.main()
