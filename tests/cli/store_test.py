# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: a stored run is shown, drawn and replayed as it was. Method: one run is stored; the later commands are
compared with the output of `run` itself. A stored seed or digest is then falsified in the database, which
replay must detect.
"""
import os
import sqlite3
import unittest

from program import SMALL, ProgramTest


class StoreTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("small.yaml", SMALL)

    def read(self, name):
        with open(os.path.join(self.folder, name), "rb") as file:
            return file.read()

    def test_show_json_equals_that_of_run(self):
        result = self.good("run", "small.yaml", "--json", "--no-charts")
        self.assertEqual(self.good("show", "1", "--json"), result)
        self.assertEqual(self.good("show", "last", "--json"), result)

    def test_show_prints_the_table_of_run_and_the_origin(self):
        run = self.good("run", "small.yaml", "--no-charts", "--quiet", "--set", "strategies[2].count.rows=500")
        show = self.good("show", "last")
        self.assertTrue(show.startswith(run.split("\nrun 1 in")[0]), show)
        self.assertIn("  count          count: {rows: 500, counter: external}\n", show)
        self.assertIn("  probabilistic  probabilistic: {bits: 4, threshold: 40}\n", show)
        self.assertIn("--set 'strategies[2].count.rows=500'", show)
        self.assertIn("again: bucketlab replay 1 --db bucketlab.db\n", show)

    def test_runs_lists_newest_first(self):
        for seed in ["3", "4"]:
            self.good("run", "small.yaml", "--no-charts", "--quiet", "--seed", seed)
        rows = self.good_json("runs", "--json")
        self.assertEqual([(row["run"], row["seed"], row["strategies"]) for row in rows], [(2, 4, 5), (1, 3, 5)])
        lines = self.good("runs").splitlines()
        self.assertEqual([line.split()[:3] for line in lines], [["run", "scenario", "seed"], ["2", "small", "4"],
                                                                ["1", "small", "3"]])

    def test_runs_with_long_names_keep_their_columns(self):
        self.write("a-scenario-of-middling-name.yaml", SMALL.replace("name: small\n", ""))
        self.write("long.yaml", SMALL.replace("name: small", "name: a-scenario-with-a-very-long-name"))
        for name in ["small.yaml", "a-scenario-of-middling-name.yaml", "long.yaml"]:
            self.good("run", name, "--no-charts", "--quiet")
        lines = self.good("runs").splitlines()
        self.assertEqual(lines[1].split(), ["3", "a-scenario-with-a-very-long-name"])
        self.assertEqual({line.rindex("  ") for line in lines if line != lines[1]}, {lines[2].rindex("  ")})
        self.assertLessEqual(max(map(len, lines)), 80)

    def test_show_says_where_numbers_come_from(self):
        sources = ["counter", "lease, batch: 50", "scan", "incremental, every_rows: 7"]
        strategies = ", ".join(f"{{count: {{rows: 100, label: c{i}, counter: {one}}}}}"
                               for i, one in enumerate(sources))
        self.write("ways.yaml", SMALL.split("strategies:")[0] + f"strategies: [{strategies}]\n")
        self.good("run", "ways.yaml", "--no-charts", "--quiet")
        told = [line.split(": ", 1)[1] for line in self.good("show", "last").splitlines() if " count: {rows" in line]
        self.assertEqual(told, ["{rows: 100, counter: counter}", "{rows: 100, counter: lease, batch: 50}",
                                "{rows: 100, counter: scan, every_rows: 1}",
                                "{rows: 100, counter: incremental, every_rows: 7}"])

    def test_locks_are_distinguished(self):
        self.write("locks.yaml", SMALL.split("reads:")[0] + "agents: {count: 2}\nstrategies:\n" + "".join(
            f"  - probabilistic: {{bits: 4, threshold: 40, coordination: locked, lock: {lock}, label: {label}}}\n"
            for label, lock in [("one", "{lasts: 3s, backoff: 50ms}"), ("two", "{lasts: 4s, backoff: 50ms}")]))
        self.good("run", "locks.yaml", "--no-charts", "--set", "duration=1h")
        shown = self.good("show", "1")
        self.assertIn("coordination: locked, lock: {lasts: 3s, backoff: 50ms}", " ".join(shown.split()))
        self.assertIn("coordination: locked, lock: {lasts: 4s, backoff: 50ms}", " ".join(shown.split()))

    def test_long_sentences_are_broken(self):
        about = "wörds and words " * 20
        self.write("about.yaml", SMALL.replace("name: small", f"name: small\nabout: {about}"))
        lines = self.good("run", "about.yaml", "--no-charts", "--quiet").splitlines()
        self.assertLessEqual(max(map(len, lines)), 80)
        first = next(i for i, line in enumerate(lines) if line.startswith("small: "))
        text = "\n".join(lines[first:first + 5])
        self.assertTrue(text.replace("\n", " ").startswith("small: " + about.strip()), text)
        self.assertGreater(len(lines[first]), 74)

    def test_report_draws_the_same_bytes_as_run(self):
        self.good("run", "small.yaml", "--quiet", "--out", "a", "--format", "png,svg,pdf,html")
        named = self.good("report", "1", "--out", "b", "--format", "png,svg,pdf,html").splitlines()
        self.assertGreaterEqual(len(named), 4)
        self.assertIn("b/small.html", named)
        for name in named:
            self.assertEqual(self.read(name), self.read("a" + name[1:]))

    def test_report_says_what_is_left_out_and_why(self):
        self.good("run", "small.yaml", "--quiet", "--no-charts")
        code, out, err = self.run_program("report", "1", "--format", "svg")
        self.assertEqual((code, err), (0, "left out: latency: the scenario has no agents, so operations take no time\n"
                                          "left out: bucket-changes: no agent was seen while a key's bucket changed\n"))
        self.assertNotIn("bucket-changes", out)
        self.assertEqual(self.run_program("report", "1", "--format", "svg", "--quiet")[2], "")

    def test_page_has_what_the_database_has_and_no_path(self):
        os.mkdir(os.path.join(self.folder, "deep"))
        out = self.good("run", "small.yaml", "--quiet", "--format", "html", "--db", "deep/lab.db", "--set",
                        "duration=1d", "--seed", "5")
        self.assertIn("\n  bucketlab-out/small.html\n", out)
        self.assertEqual(os.listdir(os.path.join(self.folder, "bucketlab-out")), ["small.html"])
        page = self.read("bucketlab-out/small.html").decode()
        self.assertIn(">bucketlab replay 1 --db lab.db\n"
                      "bucketlab run small.yaml --seed 5 --set duration=1d\n<", page)
        self.assertIn(self.good_json("show", "1", "--db", "deep/lab.db", "--json")["digest"], page)
        self.assertNotIn(self.folder, page)
        metrics = self.good_json("show", "1", "--db", "deep/lab.db", "--json")["strategies"][0]["metrics"]
        self.assertIn(f'data-value="{metrics["partitions.total"]}"', page)

    def test_replay_from_another_folder_has_the_same_digest(self):
        result = self.good_json("run", "small.yaml", "--json", "--no-charts", "--seed", "11", "--set",
                                "duration=1d", "--set", "arrivals.rate=1/s")
        os.mkdir(os.path.join(self.folder, "elsewhere"))
        os.remove(os.path.join(self.folder, "small.yaml"))
        before = self.files()
        self.assertEqual(self.good("replay", "last", "--quiet"), f"run 1: same digest {result['digest']}\n")
        self.assertEqual(self.good_json("replay", "1", "--json", "--db", "./bucketlab.db"),
                         {"run": 1, "same": True, "digest": result["digest"]})
        self.assertEqual(self.files(), before)

    def test_replay_of_a_trace_from_another_folder_finds_the_trace(self):
        self.write("rows.csv", "timestamp_ms,key,bytes\n" + "".join(f"{1000 * i},k{i % 3},100\n" for i in range(90)))
        self.write("trace.yaml", "name: traced\nseed: 1\ntrace: {file: rows.csv}\nrow: {cells: 3}\n"
                                 "strategies:\n  - count: {rows: 7, counter: external}\n")
        self.good("run", "trace.yaml", "--quiet", "--no-charts")
        os.mkdir(os.path.join(self.folder, "elsewhere"))
        arguments = ["replay", "last", "--quiet", "--db", "../bucketlab.db"]
        elsewhere = {"cwd": os.path.join(self.folder, "elsewhere")}
        self.assertIn("same digest", self.good(*arguments, **elsewhere))
        self.write("rows.csv", "timestamp_ms,key,bytes\n1000,k,100\n")
        self.assertIn("a trace that changed", self.bad(1, *arguments, **elsewhere))

    def test_replay_of_a_run_whose_count_names_no_source_takes_external(self):
        text = self.read("small.yaml").decode()
        self.assertIn("rows: 1000, counter: external", text)
        result = self.good_json("run", "small.yaml", "--json", "--no-charts")
        self.write("small.yaml", text.replace(", counter: external", ""))
        self.assertRegex(self.bad(2, "run", "small.yaml"), "'counter' is missing under 'count'; add where")
        with sqlite3.connect(os.path.join(self.folder, "bucketlab.db")) as database:
            database.execute("UPDATE run SET scenario_text = replace(scenario_text, ', counter: external', '')")
        database.close()
        self.assertEqual(self.good("replay", "last", "--quiet"), f"run 1: same digest {result['digest']}\n")
        self.good("run", "--continue", "1", "--for", "1d", "--no-charts")

    def test_replay_of_a_falsified_run_names_the_strategy(self):
        self.good("run", "small.yaml", "--quiet", "--no-charts")
        with sqlite3.connect(os.path.join(self.folder, "bucketlab.db")) as database:
            database.execute("UPDATE strategy SET placement_digest = '00000000deadbeef' WHERE label = 'count'")
        database.close()
        self.assertIn("run 1: strategy 'count' places rows differently", self.bad(1, "replay", "1", "--quiet"))

    def test_run_into_a_locked_database_exits_3_and_draws_nothing(self):
        self.good("run", "small.yaml", "--quiet", "--no-charts")
        other = sqlite3.connect(os.path.join(self.folder, "bucketlab.db"), isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        line = self.bad(3, "run", "small.yaml", "--quiet")
        other.close()
        self.assertRegex(line, r"\Abucketlab\.db: .*locked")
        self.assertNotIn("bucketlab-out", self.files())
        self.assertEqual(len(self.good_json("runs", "--json")), 1)

    def test_database_of_a_newer_version_is_not_changed(self):
        self.good("run", "small.yaml", "--quiet", "--no-charts")
        with sqlite3.connect(os.path.join(self.folder, "bucketlab.db")) as database:
            database.execute("PRAGMA user_version = 999")
        database.close()
        before = self.read("bucketlab.db")
        for command in [["run", "small.yaml"], ["runs"], ["show", "1"], ["replay", "1"], ["report", "1"]]:
            self.assertRegex(self.bad(3, *command), r"\Abucketlab\.db: .*newer")
        self.assertEqual(self.files(), ["bucketlab.db", "small.yaml"])
        self.assertEqual(self.read("bucketlab.db"), before)


if __name__ == "__main__":
    unittest.main()
