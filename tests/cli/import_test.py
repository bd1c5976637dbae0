# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: the sizes that Cassandra's tools printed appear as one more strategy: in the same table, metrics,
expectations, database and replay. Method: random partitions, written in the tools' format, whose figures the
test computes.
"""
import gzip
import json
import math
import os
import random
import sqlite3
import sys
import unittest

from program import SMALL, SOURCE, ProgramTest

sys.path.insert(0, os.path.join(SOURCE, "scenarios", "observed"))
import make  # noqa: E402  the example's generator knows the tools' formats

QUANTILES = {"p001": 1, "p01": 10, "p50": 500, "p90": 900, "p99": 990, "p999": 999}
HISTOGRAMS = os.path.join(SOURCE, "scenarios", "observed", "messages.txt")


def line(key, size, rows, sstable=1, table="messages", index=""):
    return (f"\"{key}\",{str(key).encode().hex()},true,0,{size},{rows},1,0,0,0,0,0,0,0,/d/nb-{sstable}-big-Data.db,"
            f"chat,{table},{index},,,{sstable},big,nb\n")


def figures(sizes):
    """The contract's metrics of a list of sizes, by their definition."""
    ordered, count = sorted(sizes), len(sizes)
    mean = sum(sizes) / count
    found = {name: ordered[math.ceil(count * p / 1000) - 1] for name, p in QUANTILES.items()}
    found.update({"mean": mean, "min": ordered[0], "max": ordered[-1],
                  "stddev": math.sqrt(sum((size - mean) ** 2 for size in sizes) / count)})
    return found


class ImportTest(ProgramTest):
    def write_csv(self, lines, name="s.csv"):
        return self.write(name, make.HEADER + "\n" + "".join(lines))

    def metrics(self, *arguments):
        run = self.good_json("import", *arguments, "--json")
        return run["strategies"][0]["metrics"]

    def assert_figures(self, metrics, prefix, sizes):
        wanted = figures(sizes)
        for name, value in wanted.items():
            self.assertAlmostEqual(metrics[f"{prefix}.{name}"] / value if value else 1, 1, places=12, msg=name)
        self.assertEqual(sum(name.startswith(prefix + ".") for name in metrics), len(wanted))

    def make_partitions(self, count):
        """{key: (bytes, rows)}, and the lines of three sstables, with each key in at least one of them."""
        draw = random.Random(6)
        sums, lines = {}, []
        for key in range(count):
            total = [0, 0]
            for sstable in sorted(draw.sample(range(3), draw.randint(1, 3))):
                piece = (draw.randint(1, 10 ** draw.randint(2, 9)), draw.randint(1, 500))
                total = [total[0] + piece[0], total[1] + piece[1]]
                lines.append(line(key, *piece, sstable))
            sums[key] = tuple(total)
        draw.shuffle(lines)
        return sums, lines

    def test_metrics_are_those_of_the_partitions(self):
        sums, lines = self.make_partitions(700)
        path = self.write_csv(lines)
        metrics = self.metrics(path, "--set", "limits={partition_rows: 600, partition_bytes: 1MB}")
        sizes, rows = [s for s, _ in sums.values()], [r for _, r in sums.values()]
        self.assertEqual(metrics["partitions.total"], 700)
        self.assert_figures(metrics, "partitions.all.bytes", sizes)
        self.assert_figures(metrics, "partitions.all.rows", rows)
        self.assert_figures(metrics, "partitions.row_weighted.bytes", [s for s, r in sums.values() for _ in range(r)])
        self.assert_figures(metrics, "partitions.row_weighted.rows", [r for r in rows for _ in range(r)])
        self.assertEqual(metrics["partitions.over_limit_rows"], sum(r > 600 for r in rows))
        self.assertEqual(metrics["partitions.over_limit_bytes"], sum(s > 10 ** 6 for s in sizes))
        self.assertEqual(metrics["partitions.over_limit"], sum(r > 600 or s > 10 ** 6 for s, r in sums.values()))
        self.assertEqual(len(metrics), 1 + 3 + 40)

    def test_settings_name_the_observed_table(self):
        self.write_csv([line("a", 100, 4)])
        self.good("import", "s.csv")
        self.write("t.csv", "key,size\na,1\n")
        self.good("import", "t.csv", "--label", "bare")
        self.assertIn("bare: sstablepartitions of t.csv (of all", self.good("show", "last"))
        self.good("import", HISTOGRAMS)
        self.assertIn("observed: tablehistograms of chat.messages in", self.good("show", "last"))
        connection = sqlite3.connect(os.path.join(self.folder, "bucketlab.db"))
        self.addCleanup(connection.close)
        settings = [json.loads(row[0]) for row in connection.execute("SELECT settings FROM strategies ORDER BY run")]
        self.assertEqual(settings, [
            {"file": "s.csv", "format": "sstablepartitions", "table": "chat.messages"},
            {"file": "t.csv", "format": "sstablepartitions", "table": ""},
            {"file": "messages.txt", "format": "tablehistograms", "table": "chat.messages"}])

    def test_largest_partition_is_kept_with_its_key(self):
        sums, lines = self.make_partitions(300)
        self.good("import", self.write_csv(lines))
        connection = sqlite3.connect(os.path.join(self.folder, "bucketlab.db"))
        self.addCleanup(connection.close)
        found = {unit: (key, size) for unit, key, size in
                 connection.execute("SELECT unit, key, size FROM largest_partitions")}
        for unit, index in (("bytes", 0), ("rows", 1)):
            key, size = found[unit]
            self.assertEqual(size, max(sizes[index] for sizes in sums.values()))
            self.assertEqual(sums[int(key)][index], size)

    def test_digest_is_of_the_sizes_in_any_order(self):
        _, lines = self.make_partitions(50)
        digest = self.good_json("import", self.write_csv(lines), "--json")["strategies"][0]["placement_digest"]
        with gzip.open(os.path.join(self.folder, "z.csv.gz"), "wt", encoding="utf-8", newline="") as file:
            file.write((make.HEADER + "\n" + "".join(sorted(lines))).replace("\n", "\r\n"))
        again = self.good_json("import", "z.csv.gz", "--json", "--label", "other")["strategies"][0]
        self.assertEqual((again["placement_digest"], again["label"], again["kind"]), (digest, "other", "observed"))
        lines[0] = line(1000, 77, 3)
        other = self.good_json("import", self.write_csv(lines), "--json")["strategies"][0]
        self.assertNotEqual(other["placement_digest"], digest)

    def test_partitions_without_rows_do_not_count_where_rows_are_known(self):
        metrics = self.metrics(self.write_csv([line("a", 100, 4), line("gone", 5000, 0)]))
        self.assertEqual((metrics["partitions.total"], metrics["partitions.all.bytes.max"]), (1, 100))

    def test_metrics_of_rows_are_absent_where_rows_are_not_known(self):
        path = self.write_csv([line("a", 100, 0), line("b", 5000, 0)])
        metrics = self.metrics(path, "--set", "limits={partition_rows: 10, partition_bytes: 1KB}")
        self.assert_figures(metrics, "partitions.all.bytes", [100, 5000])
        self.assertEqual(metrics["partitions.over_limit_bytes"], 1)
        self.assertEqual(len(metrics), 2 + 10)
        error = self.bad(2, "import", path, "--set", "expect=[observed.partitions.all.rows.p99 < 5]")
        self.assertIn("this run has no metric 'observed.partitions.all.rows.p99'", error)

    def test_percentiles_are_what_the_file_says_and_nothing_more(self):
        metrics = self.metrics(HISTOGRAMS, "--set", "limits.partition_bytes=1MB")
        sizes = [size for _, _, size, _ in make.pieces()]
        wanted = dict(zip(("p50", "p75", "p95", "p98", "p99", "min", "max"), make.histogram(sizes)))
        self.assertEqual(metrics, {f"partitions.all.bytes.{name}": size for name, size in wanted.items()})
        bins = self.good("export", "last").split("\r\n")[1:-1]
        steps = (("p50", 50), ("p75", 25), ("p95", 20), ("p98", 3), ("p99", 1), ("max", 1))
        self.assertEqual(bins, [f"observed,open,bytes,{wanted[name]},{share},0" for name, share in steps])
        for name, share in (("p50", 50), ("p99", 99)):
            exact = sorted(sizes)[-(-len(sizes) * share // 100) - 1]
            above, bound = make.bucket(exact)
            self.assertEqual(wanted[name], bound)
            self.assertLess(above, exact)
        text = self.good("import", HISTOGRAMS)
        self.assertIn("p50 is above 88.1KB, at\nmost 106KB; p99 is above 4.06MB, at most 4.87MB", text)
        self.assertTrue(all(len(row) <= 80 for row in text.splitlines() if not row.startswith("scenario")), text)

    def test_observed_is_compared_with_strategies_of_either_engine(self):
        self.write_csv([line("a", 100, 4), line("b", 5000, 7)])
        scenario = SMALL + "  - observed: {file: s.csv}\nexpect: [observed.partitions.all.bytes.max == 5KB]\n"
        path = self.write("x.yaml", scenario.replace("  - unbucketed: {}\n",
                                                     "  - observed: {file: s.csv, label: first}\n"
                                                     "  - unbucketed: {}\n"))
        plain = self.good_json("run", self.write("plain.yaml", SMALL), "--json", "--no-charts")
        run = self.good_json("run", path, "--json", "--quiet")
        self.assertEqual(run["strategies"][:5], plain["strategies"])
        self.assertEqual([one["label"] for one in run["strategies"][5:]], ["first", "observed"])
        self.assertNotEqual(run["digest"], plain["digest"])
        self.assertEqual(run["strategies"][5]["metrics"], run["strategies"][6]["metrics"])
        shown = self.good_json("show", "last", "--json")
        self.assertEqual(shown, run)
        self.assertEqual(self.good("replay", "last", "--quiet"), f"run 2: same digest {run['digest']}\n")
        agents = self.good_json("run", path, "--json", "--no-charts", "--set", "agents={count: 2}", "--set",
                                "duration=1m", "--quiet")
        self.assertEqual(agents["strategies"][5:], run["strategies"][5:])
        self.assertIn("events", agents["strategies"][0]["metrics"])

    def test_replay_of_an_import_reads_the_file_again(self):
        self.write_csv([line("a", 100, 4)], "a \"strange\\name.csv")
        run = self.good_json("import", "a \"strange\\name.csv", "--json")
        self.assertEqual((run["rows"], run["scenario"]), (0, "a \"strange\\name"))
        self.assertEqual(self.good("replay", "1"), f"run 1: same digest {run['digest']}\n")
        self.write_csv([line("a", 101, 4)], "a \"strange\\name.csv")
        error = self.bad(1, "replay", "1")
        self.assertRegex(error, r"^run 1: strategy 'observed': a \"strange\\name.csv gives other sizes than before, "
                                r"digest [0-9a-f]{16} then and [0-9a-f]{16} now; restore the file, or run it again$")

    def test_table_of_several_is_to_be_named(self):
        path = self.write_csv([line("a", 1, 1), line("a", 2, 1, table="rooms"), line("a", 3, 1, index="by_name")])
        self.assertTrue(self.bad(2, "import", path).endswith(
            "s.csv:3: a second table, chat.rooms; name the one that you want, as in table: chat.messages, "
            "or --table of import"))
        for table, size in (("chat.messages", 1), ("chat.rooms", 2), ("chat.messages.by_name", 3)):
            self.assertEqual(self.metrics(path, "--table", table)["partitions.all.bytes.max"], size)
        self.assertIn("ends without table 'chat.x'", self.bad(2, "import", path, "--table", "chat.x"))

    def test_lists_of_the_largest_know_nothing_of_the_others(self):
        path = self.write("l.txt", " keyspace_name | table_name | sstable_name | partition_size | partition_key "
                          "| rows\n---+---+---+---+---+---\n shop | events | me-1 | 188716932 | room-1 | 410000\n"
                          " shop | events | me-2 | 120000000 | room-2 | 250000\n\n(2 rows)\n")
        limits = ["--set", "limits={partition_rows: 100000, partition_bytes: 100MB}"]
        wanted = {"partitions.all.rows.max": 410000, "partitions.all.bytes.max": 188716932}
        self.assertEqual(self.metrics(path, *limits), wanted)
        self.assertEqual(self.good_json("show", "last", "--json")["strategies"][0]["metrics"], wanted)
        self.assertIn("of the largest partitions", " ".join(self.good("show", "last").split()))
        expect = "expect=[observed.partitions.over_limit == 0]"
        self.assertIn("over_limit", self.bad(2, "import", path, *limits, "--set", expect))
        self.assertEqual(self.metrics(self.write("k.csv", "key,size\na,7\nb,9\n"), "--format", "large_partitions"),
                         {"partitions.all.bytes.max": 9})

    def test_a_scenario_of_the_sizes_has_them(self):
        sizes = [1 + int(100000 / (rank + 1)) for rank in range(500)]
        self.write_csv([line(key, 200 * rows, rows) for key, rows in enumerate(sizes)])
        self.assertIn("p50 399 and 399, p95 3847 and 3847, p99 16665 and 16667, largest 99990 and 100001\n",
                      self.good("import", "s.csv", "--scenario", "fit.yaml"))
        run = self.good_json("run", "fit.yaml", "--json", "--quiet", "--no-charts")
        made, seen = (next(one for one in run["strategies"] if one["label"] == label)["metrics"]
                      for label in ("unbucketed", "observed"))
        for name in ("rows.p50", "rows.p99", "bytes.p99"):
            self.assertAlmostEqual(made[f"partitions.all.{name}"] / seen[f"partitions.all.{name}"], 1, delta=0.2)
        self.good("import", HISTOGRAMS, "--scenario", "points.yaml")
        with open(os.path.join(self.folder, "points.yaml"), encoding="utf-8") as file:
            self.assertIn("count: 100 # a guess", file.read())

    def test_lines_that_were_added_up_without_an_sstable_are_told(self):
        path = self.write("m.csv", "key,size,rowCount\na,5,1\nb,6,1\na,5,1\na,1,1\n")
        code, out, err = self.run_program("import", path, "--json")
        self.assertEqual((code, json.loads(out)["strategies"][0]["metrics"]["partitions.merged"]), (0, 2))
        self.assertTrue(err.startswith("2 of the lines have the key of a line before, and were added to it"), err)
        self.assertNotIn("partitions.merged", self.metrics(self.write_csv([line("a", 1, 1), line("a", 1, 1, 2)])))

    def test_bad_usage_leaves_nothing(self):
        path = self.write_csv([line("a", 1, 1)])
        before = self.files()
        for arguments, words in [
                ([path, "--label", "a\nb"], "--label 'a?b': give a label of 1 to 64 bytes"),
                ([path, "--format", "tablehistograms"], "where a table should begin"),
                ([HISTOGRAMS, "--format", "sstablepartitions"], "unknown header 'chat/messages histograms'"),
                ([path, "--set", "keys.count=3"], "'keys' is about rows, and 'observed' places none")]:
            self.assertIn(words, self.bad(2, "import", *arguments))
        self.assertEqual(self.files(), before)

    def test_expectations_judge_what_was_observed(self):
        path = self.write_csv([line("a", 1000, 1)])
        code, out, err = self.run_program("import", path, "--set", "expect=[observed.partitions.all.bytes.max < 1KB]")
        self.assertEqual((code, err), (1, "s: 1 of 1 expectation failed\n"))
        self.assertIn("FAILED observed.partitions.all.bytes.max < 1KB   (actual 1000)", out)

    def test_charts_of_an_import_are_drawn(self):
        self.good("import", self.write_csv([line("a", 1000, 1), line("b", 3000, 2)]))
        self.good("report", "last", "--format", "svg")
        with open(os.path.join(self.folder, "bucketlab-out", "s-partitions-bytes.svg"), encoding="utf-8") as file:
            self.assertIn("<svg", file.read())

    def test_example_is_what_its_script_makes(self):
        folder = os.path.join(SOURCE, "scenarios", "observed")
        copy = os.path.join(self.folder, "make.py")
        with open(os.path.join(folder, "make.py"), encoding="utf-8") as file:
            self.write("make.py", file.read())
        os.system(f"'{sys.executable}' '{copy}'")
        for name in ("messages.csv", "messages.txt"):
            with open(os.path.join(folder, name), "rb") as kept, open(os.path.join(self.folder, name), "rb") as made:
                self.assertEqual(kept.read(), made.read())


if __name__ == "__main__":
    unittest.main()
