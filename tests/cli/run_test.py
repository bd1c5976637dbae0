# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: `run` compares, stores and draws, exits with the right code, and leaves nothing half done. Method: a
scenario of tens of thousands of rows; stdout, stderr, exit code and the files left.
"""
import json
import os
import unittest

from program import SMALL, ProgramTest

LABELS = ["unbucketed", "time", "count", "probabilistic", "hash"]


class RunTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("small.yaml", SMALL)

    def test_run_prints_a_table_that_fits(self):
        out = self.good("run", "small.yaml", "--quiet")
        table = out.split("strategy ")[1].split("\n\n")[0].splitlines()[1:]
        self.assertEqual([line[2:].split()[0] for line in table], LABELS)
        for line in out.split("charts")[0].splitlines():
            self.assertLessEqual(len(line), 80, line)
        self.assertNotIn("\033", out)
        self.assertRegex(out, r"\nrun 1 in bucketlab\.db, seed 7, digest [0-9a-f]{16}, \d+\.\d s\n\Z")

    def test_run_leaves_database_and_named_charts_only(self):
        out = self.good("run", "small.yaml", "--quiet", "--db", "a.db", "--out", "x/y", "--format", "svg,pdf",
                        "--format=png")
        named = [line.strip() for line in out.split("charts\n")[1].split("\n\n")[0].splitlines()]
        self.assertEqual({os.path.splitext(name)[1] for name in named}, {".svg", ".pdf", ".png"})
        self.assertEqual(self.files(), sorted(["a.db", "small.yaml", "x", "x/y"] + named))

    def test_run_json_is_the_object_of_the_reference(self):
        result = self.good_json("run", "small.yaml", "--json", "--no-charts")
        self.assertEqual(list(result), ["run", "scenario", "seed", "digest", "rows", "recommended", "why", "strategies",
                                        "expect", "needs_buckets", "unbucketed_days_left", "warnings"])
        self.assertEqual((result["run"], result["scenario"], result["seed"], result["expect"]),
                         (1, "small", 7, []))
        self.assertRegex(result["digest"], r"\A[0-9a-f]{16}\Z")
        for strategy, label in zip(result["strategies"], LABELS):
            self.assertEqual(list(strategy), ["label", "kind", "placement_digest", "verdict", "cost", "metrics"])
            self.assertEqual(list(strategy["verdict"]),
                             ["within", "by", "share", "share_most", "why", "first_over_days"])
            over = strategy["metrics"]["partitions.over_limit"]
            self.assertEqual(strategy["verdict"]["within"], over == 0)
            self.assertEqual(strategy["verdict"]["share"], over / strategy["metrics"]["partitions.total"])
            self.assertEqual((strategy["label"], strategy["kind"]), (label, label))
            self.assertEqual(strategy["metrics"]["writes.rows"], result["rows"])
        # The sentences are those of the text.
        said = " ".join(self.good("show", "last").split())
        self.assertEqual(result["why"][0].split()[0], "Use")
        self.assertIn(f"Use {result['recommended']} ", result["why"][0])
        for sentence in result["why"][1:]:
            self.assertIn(" ".join(sentence.replace(": ", " ", 1).split()), said)
        count = result["strategies"][2]["metrics"]
        self.assertEqual(count["partitions.closed.rows.max"], 1000)
        self.assertIsInstance(count["partitions.closed"], int)
        self.assertEqual(self.files(), ["bucketlab.db", "small.yaml"])

    def test_run_that_is_not_stored_does_not_change_charts(self):
        stored = self.good_json("run", "small.yaml", "--json", "--no-charts", "--db", "a.db")
        result = self.good_json("run", "small.yaml", "--json", "--no-store", "-o", "x", "--format", "html")
        self.assertEqual(result, {**stored, "run": None})
        self.assertEqual(self.files(), ["a.db", "small.yaml", "x", "x/small.html"])
        with open(os.path.join(self.folder, "x", "small.html"), encoding="utf-8") as file:
            page = file.read()
        self.assertIn("bucketlab run small.yaml --seed 7", page)
        self.assertNotIn("bucketlab replay", page)
        self.assertIn("\nnot stored, seed 7, digest", self.good("run", "small.yaml", "--no-store", "--no-charts"))
        for option in ["--db=a.db", "--resume"]:
            self.assertIn("--no-store", self.bad(2, "run", "--no-store", option, "small.yaml"))

    def test_run_of_the_same_seed_has_the_same_digest(self):
        digests = [self.good_json("run", "small.yaml", "--json", "--no-charts", "--jobs", jobs)["digest"]
                   for jobs in ["1", "2", "3"]]
        self.assertEqual(len(set(digests)), 1)
        other = self.good_json("run", "small.yaml", "--json", "--no-charts", "--seed", "8")
        self.assertEqual(other["seed"], 8)
        self.assertNotEqual(other["digest"], digests[0])

    def test_run_of_the_highest_seed_prints_it_exactly(self):
        seed = str(2 ** 64 - 1)
        out = self.good("run", "small.yaml", "--json", "--no-charts", "--seed", seed)
        self.assertIn(f'"seed":"{seed}"', out)
        self.assertEqual(self.good("show", "last", "--json"), out)
        self.bad(2, "run", "small.yaml", "--seed", str(2 ** 64))

    def test_run_with_overrides_uses_them(self):
        result = self.good_json("run", "small.yaml", "--json", "--no-charts", "--set",
                                "strategies[2].count.rows=500", "--set", "name=other")
        self.assertEqual(result["scenario"], "other")
        self.assertEqual(result["strategies"][2]["metrics"]["partitions.closed.rows.max"], 500)

    def test_no_partition_exceeds_a_limit_before_a_key_does(self):
        """Each window of each key has some 2,160 rows, so most partitions exceed the limit."""
        self.write("s.yaml", SMALL.replace("window: 6h", "window: 1d")
                   .replace("partition_rows: 3000", "partition_rows: 2000"))
        answer = json.loads(self.good("run", "s.yaml", "--json", "--quiet", "--no-charts", "--no-store"))
        days = {each["label"]: each["metrics"]["horizon.days"] for each in answer["strategies"]}
        self.assertGreater(days["time"], 0.5)
        self.assertEqual(days["time"], days["unbucketed"])

    def test_run_with_a_failed_expectation_stores_draws_and_exits_1(self):
        self.write("bad.yaml", SMALL + "expect:\n  - count.partitions.closed.rows.max == 999\n"
                                       "  - count.partitions.over_limit == 0\n")
        code, out, err = self.run_program("run", "bad.yaml", "--quiet", "--out", "o")
        self.assertEqual((code, err), (1, "small: 1 of 2 expectations failed\n"))
        self.assertIn("  FAILED count.partitions.closed.rows.max == 999   (actual 1000)\n", out)
        self.assertIn("  ok     count.partitions.over_limit == 0   (actual 0)\n", out)
        self.assertIn("o", self.files())
        self.assertEqual(self.good_json("runs", "--json")[0]["expects_failed"], 1)

    def test_run_of_several_prints_an_object_a_line(self):
        self.write("other.yaml", SMALL.replace("name: small", "name: other"))
        out = self.good("run", "small.yaml", "other.yaml", "--json", "--quiet", "--no-charts")
        self.assertEqual(len(out.splitlines()), 2)
        self.assertEqual([row["scenario"] for row in self.good_json("runs", "--json")], ["other", "small"])

    def test_run_of_bad_input_leaves_nothing(self):
        self.write("typo.yaml", SMALL.replace("threshold", "treshold"))
        self.write("metric.yaml", SMALL + "expect: [count.partitions.closd > 1]\n")
        before = self.files()
        for arguments in [["typo.yaml"], ["small.yaml", "typo.yaml"], ["metric.yaml"], ["."],
                          ["small.yaml", "--set", "durration=3d"], ["small.yaml", "--format", "png,gif"],
                          ["small.yaml", "--set", "name=a\nb"]]:
            with self.subTest(arguments):
                self.bad(2, "run", "--json", *arguments)
                self.assertEqual(self.files(), before)
        self.assertRegex(self.bad(2, "run", "typo.yaml"), r"\Atypo\.yaml:13:\d+: .*did you mean 'threshold'\?")

    def test_run_with_an_unknown_metric_has_a_suggestion(self):
        for metric, hint in [("count.partitions.closd", "; did you mean 'count.partitions.closed'?"),
                             ("count.partitions.over_limits_bytes", "; did you mean "
                              "'count.partitions.over_limit_bytes'? It is absent without `limits.partition_bytes`, "
                              "and of `observed` unless its file lists all "
                              "partitions, with `rowCount` for a limit in rows; docs/metrics.md has all"),
                             ("unbucketed.partitions.closed.rows.max",
                              ", which is absent where no partition has closed; docs/metrics.md has all")]:
            self.write("metric.yaml", SMALL + f"expect: [{metric} > 1]\n")
            self.assertTrue(self.bad(2, "run", "metric.yaml").endswith(
                f"this run has no metric '{metric}'{hint}"))
        self.assertTrue(self.bad(2, "run", "small.yaml", "--set", "expect=[hash.x > 1]").startswith(
            "--set expect: this run has no metric 'hash.x'"))

    def test_run_that_outgrows_the_file_size_limit_exits_3_and_leaves_nothing(self):
        before = self.files()
        for limit in [100, 20000]:
            self.bad(3, "run", "small.yaml", **self.small_files(limit))
            self.assertEqual(self.files(), before)

    def test_folder_that_cannot_be_made_is_found_before_the_run(self):
        for folder in ("/proc", "/proc/x", "/proc/x/y"):
            line = self.bad(3, "run", "small.yaml", "--quiet", "--out", folder)
            self.assertTrue(line.startswith(folder + ": "), line)
            self.assertTrue(line.endswith("; choose a folder that you may write to"), line)
            self.assertEqual(self.files(), ["small.yaml"])

    def test_run_without_a_place_to_store_leaves_nothing(self):
        before = self.files()
        for database in ["no/such.db", ".", "small.yaml/x.db"]:
            with self.subTest(database):
                self.assertTrue(self.bad(3, "run", "small.yaml", "--db", database).startswith(database + ": "))
                self.assertEqual(self.files(), before)

    def test_run_into_another_file_does_not_change_it(self):
        self.write("notes.db", "these are my notes, " * 100)
        before = self.files()
        self.assertIn("notes.db", self.bad(3, "run", "small.yaml", "--db", "notes.db"))
        self.assertEqual(self.files(), before)
        with open(os.path.join(self.folder, "notes.db")) as file:
            self.assertEqual(file.read(), "these are my notes, " * 100)


if __name__ == "__main__":
    unittest.main()
