# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: what `tune` recommends, and calls the best of a kind, is what a search of all settings finds. Method: the
two shipped scenarios that expect something of tune's answer; every window of four, or six, whole hours and every pair
of bits and threshold whose exact chance may hold are run on the same rows, and none that stays within the limits may
be cheaper than tune's by more than the 1 % within which it goes by evenness, or the 2 % of a window between those that
it tries. `check` and `tune` judge the expectations. Every third window, and one in two of the pairs, are run; with the
argument `slow` all."""
import collections
import os
import sys
import unittest

from program import SOURCE, ProgramTest

AS_CHEAP, WINDOW_AS_CHEAP = 1.01, 1.02
AT_ONCE = 60
IS_SLOW = "slow" in sys.argv
if IS_SLOW:
    sys.argv.remove("slow")


def some(settings, best, step):
    """All, or so many fewer, the best among them."""
    return settings if IS_SLOW else settings[settings.index(best) % step::step]


def chance_above(limit, bits, threshold):
    """P(more than `limit` rows) = P(Binomial(limit, 2^-bits) < threshold)."""
    p = 0.5 ** bits
    term, total = (1 - p) ** limit, 0.0
    for k in range(threshold):
        total += term
        term *= (limit - k) / (k + 1) * p / (1 - p)
    return total


def pairs(limit, chance):
    """Every number of bits and threshold that keeps the chance, as far as thresholds grow costly."""
    found = []
    for bits in range(1, 24):
        for threshold in range(1, 60):
            if chance_above(limit, bits, threshold) > chance:
                break
            found.append((bits, threshold))
    return found


class ExhaustiveTest(ProgramTest):
    def search(self, name, strategies, seeds, most):
        """{label: mean cost} of those of which at most that share of all partitions is over a limit."""
        path = os.path.join(SOURCE, "scenarios", name)
        cost, over, made = collections.Counter(), collections.Counter(), collections.Counter()
        for first in range(0, len(strategies), AT_ONCE):
            part = "[" + ", ".join(strategies[first:first + AT_ONCE]) + "]"
            for seed in range(1, seeds + 1):
                run = self.good_json("run", path, "--json", "--quiet", "--no-charts", "--no-store", "--seed",
                                     str(seed), "--set", "expect=[]", "--set", f"strategies={part}")
                for one in run["strategies"]:
                    label = one["label"]
                    cost[label] += (one["cost"]["write"] + one["cost"]["read"]) / seeds
                    over[label] += one["metrics"]["partitions.over_limit"]
                    made[label] += one["metrics"]["partitions.total"]
        return {label: cost[label] for label in cost if over[label] <= most * made[label]}

    def tune(self, name):
        path = os.path.join(SOURCE, "scenarios", name)
        answer = self.good_json("tune", path, "--json", "--quiet", "--no-charts")
        return answer["recommended"]["label"], {
            one["label"]: one["metrics"]["cost_per_1000_rows"]["mean"]
            for one in answer["candidates"] if one["metrics"]}

    def assert_cheapest(self, found, label, as_cheap=AS_CHEAP):
        least = min(found, key=found.get)
        self.assertLessEqual(found[label], found[least] * as_cheap, f"{least} costs {found[least]}")

    def test_sensors(self):
        recommended, costs = self.tune("sensors.yaml")
        hours = some(list(range(4, 721, 4)), 48, 3)
        windows = [f"{{time: {{window: {each}h, label: t{each}}}}}" for each in hours]
        found = self.search("sensors.yaml", windows, 1, 0.001)
        self.assertEqual(recommended, "time-2d")
        self.assertIn("t48", found)
        self.assertGreater(len(found), len(windows) / 18)
        self.assertLess(len(found), len(windows))
        self.assert_cheapest(found, "t48", WINDOW_AS_CHEAP)
        # A bit fewer doubles the increments, which are all that it costs.
        dice = [pair for pair in pairs(100000, 0.001) if pair[0] >= 10]
        self.assertEqual((max(dice), len(dice) > 80), ((13, 3), True))
        found = self.search("sensors.yaml", [f"{{probabilistic: {{bits: {b}, threshold: {t}, label: p{b}x{t}}}}}"
                                             for b, t in some(dice, (13, 3), 2)], 2, 0.001)
        self.assert_cheapest(found, "p13x3")
        self.assertLess(costs["time-2d"], costs["probabilistic-13x3"])

    def test_tweets(self):
        recommended, costs = self.tune("tweets.yaml")
        hours = some(list(range(6, 15 * 24, 6)), 72, 3)
        windows = [f"{{time: {{window: {each}h, label: t{each}}}}}" for each in hours]
        found = self.search("tweets.yaml", windows, 1, 0)
        self.assertEqual(recommended, "count")
        self.assertTrue(0 < len(found) < len(windows))
        self.assert_cheapest(found, "t72", WINDOW_AS_CHEAP)
        self.assertLessEqual(costs[recommended], costs["time-3d"])
        # Of all partitions of eight seeds a tenth of one may be expected above the limit.
        dice = [pair for pair in pairs(20000, 0.1 / (8 * 409706 / 20000)) if pair[0] >= 10]
        found = self.search("tweets.yaml", [f"{{probabilistic: {{bits: {b}, threshold: {t}, label: p{b}x{t}}}}}"
                                            for b, t in dice], 1, 0)
        self.assert_cheapest(found, "p11x1")

    def test_expectations_are_judged(self):
        path = os.path.join(SOURCE, "scenarios", "tweets.yaml")
        quiet = ["--quiet"]
        told = self.good("tune", path, "--no-charts", *quiet)
        self.assertIn("\nexpectations\n  ok     tune.recommended == count   (actual count)\n", told)
        self.assertIn("passed", self.good("check", path, "--no-store", *quiet) + "passed")
        wrong = ["--set", "expect=['tune.recommended != count', 'tune.best.time == time-1h', 'tune.best.hash != x']"]
        code, out, err = self.run_program("tune", path, "--no-charts", *quiet, *wrong)
        self.assertEqual(code, 1)
        self.assertIn("  FAILED tune.best.time == time-1h   (actual time-3d)\n", out)
        self.assertIn("  ok     tune.best.hash != x   (actual ", out)
        self.assertIn("2 of 3 expectations of tune failed", err)
        code, out, err = self.run_program("check", path, "--no-store", *quiet, *wrong)
        self.assertEqual(code, 1)
        self.assertIn("expected tune.recommended != count, got count, as 'bucketlab tune' tells; again: ", out + err)
        self.assertIn("expected tune.best.time == time-1h, got time-3d, ", out + err)
        # No run has an answer of tune.
        self.assertNotIn("tune.recommended", self.good("run", path, "--no-store", "--no-charts", "--quiet"))

    def test_wrong_expectations_are_refused(self):
        path = os.path.join(SOURCE, "scenarios", "small-trace.yaml")
        for text, problem in [("tune.recommended < count", "compare by == or !="),
                              ("tune.best.cont == x", "no kind of strategy"),
                              ("tune.recommend == x", "no number to compare with"),
                              ("tune.recommended ==", "nothing to compare with")]:
            self.assertIn(problem, self.bad(2, "tune", path, "--set", f"expect=['{text}']"))
        self.assertIn("there is no limit to tune", self.bad(2, "run", path, "--set", "limits=null", "--set",
                                                            "expect=['tune.recommended == count']"))


if __name__ == "__main__":
    unittest.main()
