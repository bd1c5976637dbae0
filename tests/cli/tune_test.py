# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: `tune --rows` lists exactly the settings within the limits, recommends the cheapest, gives correct
figures as reasons, and refuses impossible requests with a remedy that works. Method: small limits compared
with sums of exact fractions, published figures as constants, and the pages' examples run again.
"""
import math
import os
import re
import shlex
import unittest
from fractions import Fraction

from program import PROGRAM, SOURCE, ProgramTest, commands_s, unit_s
from share import in_full, part

FIELDS = ["bits", "threshold", "mean_rows", "p_below", "p_above", "counter_increments_per_1000_rows"]
GOAL = ["--rows", "12000..32000", "--risk", "0.003"]


def tails(one_in, threshold, least, most):
    """P(rows < least), P(rows > most) of the distribution by its definition."""
    p = Fraction(1, one_in)

    def term(n, k):
        return math.comb(n, k) * p ** k * (1 - p) ** (n - k)
    below = sum(term(least - 1, k) for k in range(threshold, least)) if least > 0 else Fraction(0)
    return below, sum(term(most, k) for k in range(0, min(threshold, most + 1)))


def settings(least, most, risk, numbers):
    return [(n, t) for n in sorted(numbers, reverse=True) for t in range(1, most + 2)
            if sum(tails(n, t, least, most)) <= risk]


def is_slow_build():
    """A build with sanitizers, or with branch coverage."""
    with open(PROGRAM, "rb") as file:
        text = file.read()
    return b"__asan_init" in text or b"__gcov_" in text


class TuneTest(ProgramTest):
    def tune(self, *arguments):
        return self.good_json("tune", "--json", *arguments)

    def test_tune_of_published_limits(self):
        answer = self.tune(*GOAL)
        self.assertEqual(list(answer), ["candidates", "left_out", "recommended", "why"])
        best = answer["recommended"]
        self.assertEqual(list(best), FIELDS)
        self.assertEqual((best["bits"], best["threshold"], best["mean_rows"]), (9, 40, 20480))
        self.assertEqual(best["counter_increments_per_1000_rows"], 1.953125)
        self.assertAlmostEqual(best["p_below"], 0.0011304044, 10)
        self.assertAlmostEqual(best["p_above"], 0.00095968816, 10)
        self.assertEqual(answer["left_out"], 0)
        pairs = [(one["bits"], one["threshold"]) for one in answer["candidates"]]
        self.assertEqual(pairs, sorted(pairs, key=lambda pair: (-pair[0], pair[1])))
        self.assertEqual(pairs[:4], [(9, 39), (9, 40), (9, 41), (9, 42)])
        self.assertEqual(len([pair for pair in pairs if pair[0] == 0]), 20001)
        self.assertIn("With 9 bits and threshold 40 a partition has 20480 rows", answer["why"])
        self.assertIn("standard deviation of 3235 (15.8 %", answer["why"])
        self.assertNotIn("uneven", answer["why"])
        self.assertIn("With 10 bits, the next cheaper probability, no threshold stays within the risk: the best "
                      "one, 20, has a risk of 3 %", answer["why"])

    def test_uneven_sizes_are_reported(self):
        answer = self.tune("--rows", "1..100000", "--risk", "0.001")
        self.assertIn("(100 % of the mean, which is uneven)", answer["why"])

    def test_tune_lists_what_exact_fractions_allow(self):
        for least, most, risk in [(20, 60, "0.05"), (0, 25, "0.4"), (30, 30, "0.3"), (14, 31, "0"), (1, 9, "0.9")]:
            with self.subTest(rows=(least, most), risk=risk):
                answer = self.tune("--rows", f"{least}..{most}", "--risk", risk)
                expected = settings(least, most, Fraction(risk), [2 ** bits for bits in range(10)])
                self.assertEqual([(2 ** one["bits"], one["threshold"]) for one in answer["candidates"]], expected)
                for one in answer["candidates"]:
                    exact = tails(2 ** one["bits"], one["threshold"], least, most)
                    for name, value in zip(("p_below", "p_above"), exact):
                        self.assertAlmostEqual(one[name], float(value), 12)

    @in_full
    def test_tune_of_any_number_lists_what_exact_fractions_allow(self):
        for least, most, risk in [(20, 60, "0.05"), (3, 11, "0.5"), (30, 33, "0.1")]:
            with self.subTest(rows=(least, most), risk=risk):
                answer = self.tune("--rows", f"{least}..{most}", "--risk", risk, "--probability", "any")
                expected = settings(least, most, Fraction(risk), range(1, 60))
                self.assertLess(expected[0][0], 30)
                self.assertEqual([(int(one["probability"][2:]), one["threshold"]) for one in answer["candidates"]],
                                 expected)
                for one in answer["candidates"]:
                    n = int(one["probability"][2:])
                    self.assertEqual(one["bits"], int(math.log2(n)) if n & (n - 1) == 0 else None)

    def test_tune_recommends_fewest_increments_then_least_risk(self):
        for extra in [[], ["--probability", "any"], ["--bits", "2..5"]]:
            answer = self.tune("--rows", "90..200", "--risk", "5%", *extra)
            least = min(one["counter_increments_per_1000_rows"] for one in answer["candidates"])
            cheapest = [one for one in answer["candidates"] if one["counter_increments_per_1000_rows"] == least]
            self.assertEqual(answer["recommended"], min(cheapest, key=lambda one: one["p_below"] + one["p_above"]))

    def test_tune_respects_bits_and_increments(self):
        answer = self.tune(*GOAL, "--bits", "7..8")
        self.assertEqual({one["bits"] for one in answer["candidates"]}, {7, 8})
        self.assertEqual(answer["recommended"]["bits"], 8)
        self.assertIn("No lower probability was tried.", answer["why"])
        answer = self.tune(*GOAL, "--max-increments", "7.8125")
        self.assertEqual({one["bits"] for one in answer["candidates"]}, {7, 8, 9})
        answer = self.tune(*GOAL, "--max-increments", "7.8124")
        self.assertEqual({one["bits"] for one in answer["candidates"]}, {8, 9})

    def test_long_list_is_cut_and_the_rest_counted(self):
        answer = self.tune("--rows", "1..1000000000000", "--risk", "0.003")
        self.assertEqual(len(answer["candidates"]), 50000)
        whole = self.tune("--rows", "1..1000000000000", "--risk", "0.003", "--bits", "0")
        self.assertEqual(whole["left_out"], 10 ** 12 - 50000)
        self.assertGreater(answer["left_out"], whole["left_out"])
        self.assertEqual(answer["candidates"][0]["bits"], 32)
        many = self.tune("--rows", "1..1000000000000", "--risk", "0.003", "--probability", "any")
        self.assertIsNone(many["left_out"])

    def test_answer_takes_a_moment(self):
        most_s = (400 if is_slow_build() else 20) * unit_s()
        for rows, risk in part([("1000000000000..1001000000000", "0.000000000001"), ("12000..32000", "0.003"),
                                ("1..1000000000000", "0.003"), ("7..9223372036854775807", "0.9"),
                                ("1000000000000000000..1001000000000000000", "0.003")]):
            for extra in [[], ["--probability", "any"]]:
                before_s = commands_s()
                self.good("tune", "--json", "--rows", rows, "--risk", risk, *extra)
                self.assertLess(commands_s() - before_s, most_s, (rows, extra))

    def test_plain_answer_is_a_table_with_its_reasons(self):
        text = self.good("tune", *GOAL)
        self.assertRegex(text, r"(?m)^\* +9  39\.\.42 +40 +0\.21 % +1\.953 +20480 +3235$")
        self.assertRegex(text, r"(?m)^  +0  12000\.\.32000 +12000 +0 % +1000 +12000 +0$")
        self.assertEqual(text.count("\n*"), 2)
        odds = text.splitlines()[-1].split()
        self.assertEqual(odds[:2], ["bucketlab", "odds"])
        self.assertIn("P(rows < 12000)", self.good(*odds[1:]))
        any_number = self.good("tune", *GOAL, "--probability", "any")
        self.assertIn("and every number below 538", any_number)
        huge = self.good("tune", "--rows", "1..9223372036854775807", "--risk", "0.5")
        for line in (text + any_number + huge).splitlines():
            self.assertLessEqual(len(line), 80, line)

    def test_impossible_limit_is_named_with_a_working_remedy(self):
        for limits in [["--bits", "10..12"], ["--max-increments", "0.1"], ["--bits", "10", "--max-increments", "0.99"],
                       ["--bits", "8..12", "--max-increments", "0.9"], ["--bits", "10", "--max-increments", "1.96"],
                       ["--probability", "any", "--max-increments", "1.8"]]:
            with self.subTest(limits):
                text = self.bad(1, "tune", *GOAL, *limits, "--json")
                found = re.fullmatch(r"bucketlab: no setting stays within the limits with (--[a-z-]+) [^:]+: "
                                     r"with .+ the best threshold, \d+, has a risk of [\d.]+ %, above --risk 0.003; "
                                     r"--risk ([\d.]+) or (.+) would do", text)
                self.assertIsNotNone(found, text)
                self.assertIn(found[1], limits)
                self.good("tune", "--rows", "12000..32000", "--risk", found[2], *limits)
                cure = found[3].replace(" with ", " ").split()
                kept = [word for i in range(0, len(limits), 2) if limits[i] not in cure for word in limits[i:i + 2]]
                self.good("tune", *GOAL, *kept, *cure)

    def test_increments_that_no_chance_gives_are_named(self):
        text = self.bad(1, "tune", *GOAL, "--bits", "0..9", "--max-increments", "0.1")
        self.assertEqual(text, "bucketlab: no setting of up to 9 bits has as few as 0.1 increments per 1000 rows; "
                               "--max-increments 1.96 or --bits 14 is the nearest")
        self.bad(1, "tune", *GOAL, "--max-increments", "0.0000000001")
        self.bad(1, "tune", *GOAL, "--max-increments", "0.00000000000000000001", "--probability", "any")

    def test_wrong_usage_is_refused_with_a_remedy(self):
        for arguments, cure in [
                (["--risk", "0.1"], "write --rows 12000..32000"), (["--rows", "1..2"], "write --risk 0.003"),
                (["--rows", "9..3", "--risk", "0.1"], "write --rows 3..9"),
                (["--rows", "9..", "--risk", "0.1"], "give two whole numbers"),
                (["--rows", "100000", "--risk", "0.1"], "write --rows 1..100000 for at most this number, or --rows "
                 "37500..100000 for a range"),
                (["--rows", "1..9", "--risk", "2/1000"], "1 divided by a whole number, as in 1/1000"),
                (["--rows", "0..0", "--risk", "0.1"], "at least one row"),
                (["--rows", "1..9223372036854775808", "--risk", "0.1"], "from 0 to 9223372036854775807"),
                (["--rows", "1..2", "--risk", "1"], "give a share from 0 to below 1"),
                (["--rows", "1..2", "--risk", "100%"], "give a share from 0 to below 1"),
                (["--rows", "1..2", "--risk", "-0.1"], "give a share from 0 to below 1"),
                (["--rows", "1..2", "--risk", "low"], "write"),
                ([*GOAL, "--bits", "33"], "from 0 to 32"), ([*GOAL, "--bits", "x"], "as in --bits 4..12"),
                ([*GOAL, "--max-increments", "0"], "above 0"), ([*GOAL, "--max-increments", "two"], "digits"),
                ([*GOAL, "--probability", "1/300"], "odds --probability 1/300"),
                ([*GOAL, "--probability", "any", "--bits", "9"], "leave one of them out")]:
            with self.subTest(arguments):
                self.assertIn(cure, self.bad(2, "tune", "--json", *arguments))

    def test_examples_of_the_pages_are_what_the_program_prints(self):
        count = 0
        for name in ["cli.md", "tune.md"]:
            with open(os.path.join(SOURCE, "docs", name), encoding="utf-8") as file:
                page = file.read()
            for block in re.findall(r"```\n(\$ bucketlab tune --rows .*?)```", page, re.S):
                for example in re.split(r"(?m)^\$ bucketlab ", block)[1:]:
                    command, _, shown = example.partition("\n")
                    code, out, err = self.run_program(*shlex.split(command))
                    self.assertEqual((out + err).rstrip(), shown.rstrip(), command)
                    count += 1
        self.assertGreaterEqual(count, 3)


if __name__ == "__main__":
    unittest.main()
