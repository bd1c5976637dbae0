# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: `diff` reports the differences between two runs, and which of them can be chance. Method: with three
pairs Student's t has two degrees of freedom and a distribution in closed form, so this test computes every
mean, interval and corrected p-value from the stored runs' own --json. Then two samples of one distribution
must hardly ever differ significantly, and a planted difference must be found with its size. Seeds are fixed;
with fresh ones `test_equal_distributions_hardly_ever_differ` would fail with a chance below 1e-9.
"""
import math
import os
import signal
import sqlite3
import unittest

from program import SMALL, SOURCE, ProgramTest
from share import in_full

FEW = """\
name: few
duration: 8h
keys: {count: 10, popularity: uniform}
arrivals: {rate: 1/s}
row: {bytes: {uniform: [50B, 150B]}, cells: 3}
limits: {partition_rows: 400, tiny_rows: 24}
strategies:
  - probabilistic: {SETTING, threshold: 20}
"""
T_95 = math.sqrt(2 * 0.95**2 / (1 - 0.95**2))  # quantile 0.975 of t with 2 degrees of freedom


def p_value(differences):
    """The two-sided p-value of three differences."""
    mean = sum(differences) / 3
    error = math.sqrt(sum((one - mean) ** 2 for one in differences) / 2 / 3)
    if error == 0:
        return (1.0 if mean == 0 else 0.0), mean, 0.0
    t = abs(mean) / error
    return 2 / (math.sqrt(t * t + 2) * (math.sqrt(t * t + 2) + t)), mean, T_95 * error


def holm(p_values):
    corrected, most = {}, 0
    for rank, (p, name) in enumerate(sorted((p, name) for name, p in p_values.items())):
        most = max(most, min(1, p * (len(p_values) - rank)))
        corrected[name] = most
    return corrected


class DiffTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("small.yaml", SMALL)

    def keep(self, *arguments, name="small.yaml"):
        self.good("run", name, "--no-charts", "--quiet", *arguments)

    def two(self):
        """Run 1, and run 2 with a different number of bits."""
        self.keep()
        self.keep("--set", "strategies[3].probabilistic.bits=5")

    def metrics(self, run, label):
        run = self.good_json("show", str(run), "--json")
        return next(one["metrics"] for one in run["strategies"] if one["label"] == label)

    def test_infinite_figures_are_compared(self):
        self.two()
        database = sqlite3.connect(os.path.join(self.folder, "bucketlab.db"))
        database.executescript("UPDATE metric SET value = 9e999 WHERE name = 'writes.rows' AND strategy <= 5;"
                               "UPDATE metric SET value = 9e999 WHERE name = 'writes.lwt'")
        database.close()
        lines = {line.split()[0]: line.split()[1:]
                 for line in self.good("diff", "1:hash", "2:hash", "--all").splitlines()
                 if line.startswith("  writes.")}
        self.assertEqual(lines["writes.rows"][0], "inf")
        self.assertEqual(lines["writes.rows"][2:], ["-inf", "-"])
        self.assertEqual(lines["writes.lwt"], ["inf", "inf", "0", "0"])
        self.assertIn("  writes.rows", self.good("diff", "1:hash", "2:hash"))

    def test_one_seed_compares_and_guarantees_nothing(self):
        self.two()
        out = self.good("diff", "1", "last")
        self.assertIn("--set\n  + strategies[3].probabilistic.bits=5\n", out)
        self.assertIn("One common seed cannot distinguish", out)
        self.assertIn("\nprobabilistic\n  a: bits: 4, threshold: 40\n  b: bits: 5, threshold: 40\n", out)
        self.assertNotIn("*", out)
        self.assertNotIn("\nhash\n", out)
        self.assertLessEqual(max(map(len, out.splitlines())), 80)
        told = self.good_json("diff", "1", "2", "--json")
        self.assertEqual((told["a"]["run"], told["b"]["run"], told["pairs"], told["test"]), (1, 2, [7], None))
        for strategy in told["strategies"]:
            a, b = self.metrics(1, strategy["label_a"]), self.metrics(2, strategy["label_b"])
            self.assertEqual(set(strategy["metrics"]), set(a) & set(b))
            for name, figure in strategy["metrics"].items():
                self.assertEqual((figure["a"], figure["b"], figure["p"], figure["low"], figure["significant"]),
                                 (a[name], b[name], None, None, False))
                self.assertEqual(figure["difference"], figure["b"] - figure["a"])

    def test_test_of_three_pairs_matches_the_formulas(self):
        self.two()
        for seed in ["8", "9"]:
            self.keep("--seed", seed)
            self.keep("--seed", seed, "--set", "strategies[3].probabilistic.bits=5")
        told = self.good_json("diff", "1", "2", "--json")
        self.assertEqual((told["pairs"], told["test"]), ([7, 8, 9], "paired"))
        expected, p_values = {}, {}
        for strategy in told["strategies"]:
            label = strategy["label_a"]
            runs = [self.metrics(run, label) for run in range(1, 7)]
            for name in strategy["metrics"]:
                a, b = [run[name] for run in runs[0::2]], [run[name] for run in runs[1::2]]
                p, mean, half = p_value([two - one for one, two in zip(a, b)])
                expected[label, name] = (sum(a) / 3, sum(b) / 3, mean, mean - half, mean + half)
                p_values[label, name] = p
        corrected, stars = holm(p_values), 0
        for strategy in told["strategies"]:
            for name, figure in strategy["metrics"].items():
                key = strategy["label_a"], name
                actual = [figure[part] for part in ("a", "b", "difference", "low", "high")]
                for one, other in zip(actual, expected[key]):
                    self.assertLessEqual(abs(one - other), 1e-7 * (abs(other) + abs(expected[key][0]) + 1e-9), key)
                self.assertLessEqual(abs(figure["p"] - corrected[key]), 1e-6 * corrected[key] + 1e-300, key)
                self.assertEqual(figure["significant"], corrected[key] < 0.05 and figure["difference"] != 0)
                stars += figure["significant"]
        self.assertGreater(stars, 5)
        out = self.good("diff", "1", "2")
        self.assertEqual(sum(line.endswith("*") for line in out.splitlines()), stars)
        self.assertIn("Means over the 3 common seeds.", out)
        self.assertLessEqual(max(map(len, out.splitlines())), 80)

    def test_seeds_runs_what_is_missing(self):
        self.two()
        self.keep("--seed", "30")
        before = self.good_json("diff", "1", "2", "--json")
        told = self.good_json("diff", "1", "2", "--seeds", "4", "--json", "--quiet")
        self.assertEqual(told["pairs"], [1, 2, 7, 30])
        runs = self.good_json("runs", "--json")
        self.assertEqual(sorted(run["seed"] for run in runs), [1, 1, 2, 2, 7, 7, 30, 30])
        self.assertEqual([told[side]["digest"] for side in "ab"], [before[side]["digest"] for side in "ab"])
        for run in runs:
            self.good("replay", str(run["run"]), "--quiet")
        again = self.good_json("diff", "1", "2", "--seeds", "3", "--json", "--quiet", "--jobs", "1")
        self.assertEqual((again, len(self.good_json("runs", "--json"))), (told, 8))

    def test_number_of_jobs_does_not_change_the_result(self):
        told = []
        for jobs in ["1", "3"]:
            self.two()
            told.append(self.good("diff", "1", "2", "--seeds", "5", "--quiet", "--jobs", jobs))
            os.rename(os.path.join(self.folder, "bucketlab.db"), os.path.join(self.folder, f"{jobs}.db"))
        self.assertEqual(*told)

    def test_two_strategies_of_one_run(self):
        self.keep()
        told = self.good_json("diff", "1:time", "1:count", "--seeds", "3", "--json", "--quiet")
        self.assertEqual([(one["label_a"], one["label_b"]) for one in told["strategies"]], [("time", "count")])
        self.assertEqual((told["pairs"], told["test"], len(self.good_json("runs", "--json"))), ([1, 2, 7], "paired", 3))
        name = "partitions.closed.rows.mean"
        a, b = (sum(self.metrics(run, label)[name] for run in (1, 2, 3)) / 3 for label in ("time", "count"))
        figure = told["strategies"][0]["metrics"][name]
        self.assertAlmostEqual(figure["a"], a)
        self.assertAlmostEqual(figure["b"], b)
        self.assertEqual((told["only_in_a"], told["only_in_b"]), ([], []))
        self.assertIn("\ntime | count\n  a: window: 6h\n  b: rows: 1000, counter: external\n",
                      self.good("diff", "1:time", "1:count"))

    def test_metrics_missing_on_one_side(self):
        self.keep()
        told = self.good_json("diff", "1:unbucketed", "1:count", "--json")["strategies"][0]
        self.assertEqual(told["only_in_a"], ["partitions.first_over_days", "expected.full_share"])
        self.assertIn("partitions.closed.rows.p99", told["only_in_b"])
        line = next(line for line in self.good("diff", "1:unbucketed", "1:count").splitlines()
                    if "closed.rows.p99 " in line)
        self.assertEqual(line.split(), ["partitions.closed.rows.p99", "-", "1000"])

    def test_many_labels_missing_in_one_run_are_wrapped(self):
        labels = [f"a-label-of-some-length-{i}" for i in range(20)]
        self.keep()
        self.write("other.yaml", SMALL.replace("  - hash: {buckets: 4}", "".join(
            f"  - hash: {{buckets: {4 + i}, label: {label}}}\n" for i, label in enumerate(labels)).rstrip()))
        self.keep(name="other.yaml")
        lines = self.good("diff", "1", "2").splitlines()
        first = next(i for i, line in enumerate(lines) if line.startswith("only in b: "))
        text = " ".join(lines[first:])[len("only in b: "):]
        self.assertTrue(text.startswith(", ".join(labels)), text)
        self.assertLessEqual(max(map(len, lines[first:])), 80)
        listed = self.bad(2, "diff", "2:zzzzzzz", "1").rstrip("\n").split("it has: ")[1].split(", ")
        self.assertEqual(listed, ["unbucketed", "time", "count", "probabilistic"] + labels)

    def test_labels_missing_in_one_run(self):
        self.keep()
        self.write("other.yaml", SMALL.replace("  - hash: {buckets: 4}", "  - hash: {buckets: 4, label: four}"))
        self.keep(name="other.yaml")
        out = self.good("diff", "1", "2")
        self.assertIn("scenario\n  -   - hash: {buckets: 4}\n  +   - hash: {buckets: 4, label: four}\n", out)
        self.assertIn("\nonly in a: hash\n\nonly in b: four\n", out)
        told = self.good_json("diff", "1", "2", "--json")
        self.assertEqual((told["only_in_a"], told["only_in_b"]), (["hash"], ["four"]))
        self.assertEqual(self.run_program("diff", "1", "2", "--exit-code")[0], 1)
        err = self.bad(2, "diff", "1:hash", "2")
        self.assertIn("name one of each, as in 'diff 1:", err)
        told = self.good_json("diff", "1:hash", "2:four", "--json")["strategies"][0]
        self.assertTrue(all(one["difference"] == 0 for one in told["metrics"].values()))

    def test_equal_runs_have_no_difference(self):
        self.keep()
        self.keep()
        self.write("said.yaml", "# A remark.\n" + SMALL)
        self.keep(name="said.yaml")
        self.keep("--seed", "8")
        self.assertIn("The same run: all decisions are equal.\n", self.good("diff", "1", "2"))
        out = self.good("diff", "1", "3", "--exit-code")
        self.assertIn("scenario\n  + # A remark.\n", out)
        self.assertIn("The same run: all decisions are equal.\n", out)
        self.assertTrue(self.good_json("diff", "1", "3", "--json")["same"])
        self.assertIn("The two differ only in their seed: the differences are chance.\n", self.good("diff", "1", "4"))
        self.assertFalse(self.good_json("diff", "1", "4", "--json")["same"])
        self.assertIn("differ only in their seed, so more seeds would show nothing", self.bad(2, "diff", "1", "4",
                                                                                         "--seeds", "5"))

    def test_seeds_without_pairs(self):
        self.write("said.yaml", SMALL.replace("{buckets: 4}", "{buckets: 5}"))
        for seed in range(1, 7):
            self.keep("--seed", str(seed), name="small.yaml" if seed < 4 else "said.yaml")
        told = self.good_json("diff", "1", "6", "--json")
        self.assertEqual((told["pairs"], told["test"], told["a"]["seeds"], told["b"]["seeds"]), ([], "welch", 3, 3))
        hashed = next(one for one in told["strategies"] if one["label_a"] == "hash")["metrics"]
        self.assertEqual((hashed["partitions.total"]["a"], hashed["partitions.total"]["b"]), (80, 100))
        self.assertEqual((hashed["partitions.total"]["p"], hashed["partitions.total"]["significant"]), (0, True))
        rows = hashed["partitions.all.rows.mean"]
        self.assertTrue(rows["low"] < rows["difference"] < rows["high"] < 0 and rows["significant"])
        self.assertIn("No common seed: means over 3 seeds of a and 3 others of b", self.good("diff", "1", "6"))

    def test_other_rows_are_reported(self):
        self.keep()
        self.keep("--set", "arrivals.rate=0.6/s")
        self.keep("--set", "row.bytes=101B")
        self.keep("--set", "row.bytes={uniform: [1B, 199B]}", "--set", "strategies[4].hash.buckets=5")
        for other in ["2", "4"]:
            self.assertIn("The rows differ too", self.good("diff", "1", other))
        same = self.good("diff", "1", "3")
        self.assertIn("All decisions are equal; only", same)
        self.assertNotIn("The rows differ", same)
        self.assertFalse(self.good_json("diff", "1", "3", "--json")["same"])
        self.two()
        self.assertNotIn("The rows differ too", self.good("diff", "5", "6"))

    def test_sizes_part_where_the_histograms_say(self):
        self.two()
        told = next(one for one in self.good_json("diff", "1", "2", "--json")["strategies"]
                    if one["label_a"] == "probabilistic")["sizes"]
        with sqlite3.connect(os.path.join(self.folder, "bucketlab.db")) as database:
            rows = [dict(database.execute("SELECT size, partitions FROM partition_histogram WHERE run = ? AND label = "
                                          "'probabilistic' AND state = 'closed' AND unit = 'rows'", (run,)))
                    for run in (1, 2)]
        shares = {size: [sum(n for at, n in sizes.items() if at <= size) / sum(sizes.values()) for sizes in rows]
                  for size in sorted({*rows[0], *rows[1]})}
        best = max(shares, key=lambda size: abs(shares[size][0] - shares[size][1]))
        self.assertEqual((told["of"], told["rows"]), ("closed", best))
        self.assertAlmostEqual(told["distance"], abs(shares[best][0] - shares[best][1]), 12)
        self.assertAlmostEqual(told["share_a"], shares[best][0], 12)
        self.assertAlmostEqual(told["share_b"], shares[best][1], 12)
        self.assertIn(f"the distributions of sizes differ most at {best} row", self.good("diff", "1", "2"))

    def test_all_and_metric_choose_what_is_shown(self):
        self.two()
        short, full = (self.good("diff", "1", "2", *more).count("\n") for more in ([], ["--all"]))
        self.assertGreater(full, short + 300)
        out = self.good("diff", "1", "2", "--metric", "partitions.closed.rows", "--metric", "writes.rows", "--all")
        names = {line.split()[0] for line in out.splitlines() if line.startswith(("  part", "  writ"))}
        self.assertEqual({name.rsplit(".", 1)[0] for name in names}, {"partitions.closed.rows", "writes"})
        told = self.good_json("diff", "1", "2", "--metric", "writes.rows", "--json")
        self.assertEqual({name for one in told["strategies"] for name in one["metrics"]}, {"writes.rows"})

    def test_exit_code(self):
        self.two()
        self.assertEqual(self.run_program("diff", "1", "2", "--exit-code")[0], 1)
        self.assertEqual(self.run_program("diff", "1:hash", "2:hash", "--exit-code")[0], 0)
        self.assertEqual(self.run_program("diff", "1", "2", "--exit-code", "--seeds", "4", "--quiet")[0], 1)
        self.assertEqual(self.run_program("diff", "1", "2")[0], 0)

    @in_full
    def test_equal_distributions_hardly_ever_differ(self):
        """A chance of 1/16 by four bits or by `chance`: the same distribution with different draws."""
        self.write("a.yaml", FEW.replace("SETTING", "bits: 4"))
        self.write("b.yaml", FEW.replace("SETTING", "chance: 1/16").replace("few", "chance"))
        false, alone, moved = 0, 0, 0
        for batch in range(16):
            for seed in range(8):
                self.good("run", "a.yaml", "b.yaml", "--no-charts", "--quiet", "--seed", str(100 * batch + seed),
                          "--db", f"{batch}.db")
            told = self.good_json("diff", "1", "2", "--db", f"{batch}.db", "--json")
            self.assertEqual((len(told["pairs"]), len(told["strategies"])), (8, 1))
            figures = told["strategies"][0]["metrics"].values()
            moved += sum(one["difference"] != 0 for one in figures)
            false += any(one["significant"] for one in figures)
            alone += any(not one["low"] <= 0 <= one["high"] for one in figures)
        self.assertGreater(moved, 16 * 40)
        self.assertLessEqual(false, 10)
        self.assertLess(false, alone, "Holm's correction")

    def test_a_planted_difference_is_found_with_its_size(self):
        """86,400 rows on average, of which one in 16 or one in 32 counts: 2,700 fewer."""
        self.two()
        told = self.good_json("diff", "1", "2", "--seeds", "10", "--json", "--quiet")
        figures = next(one for one in told["strategies"] if one["label_a"] == "probabilistic")["metrics"]
        figure = figures["writes.counter_increments"]
        self.assertTrue(figure["significant"] and figure["p"] < 1e-6)
        self.assertTrue(figure["low"] < -2700 < figure["high"] < figure["low"] + 100, figure)
        equal = next(one for one in told["strategies"] if one["label_a"] == "hash")["metrics"].values()
        self.assertFalse(any(one["significant"] or one["difference"] for one in equal))

    def test_runs_with_agents(self):
        self.write("agents.yaml", SMALL.replace("2d", "2m").replace("  - time: {window: 6h}\n", "")
                   .replace("  - unbucketed: {}\n", "").replace("  - hash: {buckets: 4}\n", "")
                   .replace("0.5/s", "20/s").replace("rows: 1000, counter: external", "rows: 100, counter: lwt")
                   + "agents: {count: 3}\n")
        self.keep(name="agents.yaml")
        self.keep("--set", "agents.count=4", name="agents.yaml")
        out = self.good("diff", "1", "2", "--seeds", "3", "--quiet")
        self.assertRegex(out, r"latency\.write\.p99 +[\d.]+ms +[\d.]+ms")
        self.assertLessEqual(max(map(len, out.splitlines())), 80)

    def test_interrupted_continues_where_it_was(self):
        slow = SMALL.replace("2d", "60d")
        self.write("slow.yaml", slow)
        self.keep(name="slow.yaml")
        self.keep("--set", "strategies[4].hash.buckets=5", name="slow.yaml")
        process = self.start("diff", "1", "2", "--seeds", "5000", "--quiet", "--jobs", "2")
        self.wait_until(lambda: self.stored("run") >= 4, process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (130, b""))
        stored = len(self.good_json("runs", "--json")) - 2
        self.assertEqual(err.decode(), f"interrupted; {stored} of 9998 runs are stored, and the same command resumes\n")
        self.assertGreaterEqual(stored, 2)
        self.assertEqual(len(self.good_json("diff", "1", "2", "--json")["pairs"]), 1 + stored // 2)

    def test_sizes_that_a_file_reported(self):
        self.keep()
        self.good("import", os.path.join(SOURCE, "scenarios", "observed", "messages.csv"), "--quiet")
        out = self.good("diff", "1:hash", "2")
        self.assertIn("\nhash | observed\n", out)
        self.assertNotIn("The rows differ", out)
        self.assertIn("run 2 holds sizes from a file", self.bad(2, "diff", "1:hash", "2", "--seeds", "3"))

    def test_bad_input(self):
        self.assertIn("bucketlab.db", self.bad(3, "diff", "1", "2"))
        self.bad(3, "diff", "1", "2", "--seeds", "3")
        self.assertEqual(self.files(), ["small.yaml"])
        self.two()
        for words, text in [
                (["1", "-3:hash"], "'-3' is not a run"),
                (["1:", "2"], "run 1 has no strategy ''"),
                (["1", "2", "--metric", "write.rows"], "--metric write.rows: no figure of that name; did you mean "
                                                       "'writes.rows'?"),
                (["1", "2", "--metric", "partitions.bytes"], "did you mean 'partitions.all.bytes.mean'?")]:
            self.assertIn(text, self.bad(2, "diff", *words))
            self.assertEqual(self.bad(2, "diff", *words, "--json"), self.bad(2, "diff", *words))

    def test_a_run_of_an_older_version(self):
        self.two()
        with sqlite3.connect(os.path.join(self.folder, "bucketlab.db")) as database:
            database.execute("UPDATE run SET version = '0.0.9' WHERE run = 1")
        self.assertIn("Two versions of bucketlab: a difference may come from the version.", self.good("diff", "1", "2"))
        self.keep("--seed", "8")
        self.assertEqual(self.good_json("diff", "1", "2", "--json")["a"]["seeds"], 1)
        self.assertIn("run 1 was stored by bucketlab 0.0.9, and this is 1.0.0",
                      self.bad(2, "diff", "1", "2", "--seeds", "3"))


if __name__ == "__main__":
    unittest.main()
