# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: `export` writes the contents of the database, to the last digit, for any CSV reader. Method: each line
is compared with the database's own views; labels that need quoting; every option and its errors.
"""
import csv
import io
import os
import sqlite3
import unittest

from program import SMALL, ProgramTest

STRANGE = "a \"b\", c"
SCENARIO = SMALL.replace("  - unbucketed: {}\n", "  - unbucketed: {label: 'a \"b\", c'}\n")
SIZES = ["label", "state", "unit", "size", "partitions", "rows"]


class ExportTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.good("run", self.write("x.yaml", SCENARIO), "--no-charts", "--quiet")

    def rows(self, *arguments):
        out = self.good("export", "last", *arguments)
        self.assertTrue(out.endswith("\r\n"))
        table = list(csv.reader(io.StringIO(out, newline=""), strict=True))
        self.assertTrue(all(len(row) == len(table[0]) for row in table))
        return table

    def ask(self, sql):
        connection = sqlite3.connect(os.path.join(self.folder, "bucketlab.db"))
        self.addCleanup(connection.close)
        return connection.execute(sql).fetchall()

    def test_all_histograms_are_those_of_the_database(self):
        table = self.rows()
        self.assertEqual(table[0], SIZES)
        stored = self.ask("SELECT label, state, unit, size, partitions, rows FROM partition_histogram "
                          "UNION ALL SELECT label, 'read', 'partitions', partitions, reads, '' FROM read_histogram")
        self.assertGreater(len(stored), 100)
        self.assertEqual(sorted(table[1:]), sorted([str(value) for value in row] for row in stored))
        self.assertEqual({row[0] for row in table[1:]}, {STRANGE, "time", "count", "probabilistic", "hash"})
        for before, row in zip(table[1:], table[2:]):
            if before[:3] == row[:3]:
                self.assertLess(int(before[3]), int(row[3]))

    def test_selections_are_parts_of_the_whole(self):
        whole = self.rows()[1:]
        for arguments, keep in [
                (["--label", STRANGE], lambda row: row[0] == STRANGE),
                (["--state", "closed"], lambda row: row[1] == "closed"),
                (["--unit", "bytes"], lambda row: row[2] == "bytes"),
                (["--state", "read"], lambda row: row[1] == "read"),
                (["--unit", "partitions"], lambda row: row[1] == "read"),
                (["--label", "count", "--state", "open", "--unit", "rows"],
                 lambda row: row[:3] == ["count", "open", "rows"])]:
            part = self.rows(*arguments)[1:]
            self.assertEqual(part, [row for row in whole if keep(row)], arguments)
            self.assertTrue(part)

    def test_state_all_is_the_sum_of_closed_and_open(self):
        whole = self.rows("--label", "count", "--unit", "rows")[1:]
        sums = {}
        for _, _, _, size, partitions, rows in whole:
            before = sums.get(int(size), (0, 0))
            sums[int(size)] = (before[0] + int(partitions), before[1] + int(rows))
        self.assertEqual({row[1] for row in whole}, {"closed", "open"})
        together = self.rows("--label", "count", "--unit", "rows", "--state", "all")[1:]
        self.assertEqual([(int(row[3]), int(row[4]), int(row[5])) for row in together],
                         [(size, *sums[size]) for size in sorted(sums)])
        self.assertEqual({tuple(row[:3]) for row in together}, {("count", "all", "rows")})

    def test_metrics_are_those_of_the_database(self):
        table = self.rows("--metrics")
        self.assertEqual(table[0], ["label", "metric", "value"])
        stored = {(label, metric): value for label, metric, value in
                  self.ask("SELECT label, metric, value FROM strategy_metrics")}
        self.assertEqual({(row[0], row[1]): float(row[2]) for row in table[1:]}, stored)
        self.assertEqual(len(table), len(stored) + 1)
        self.assertEqual({row[0] for row in self.rows("--metrics", "--label", "hash")[1:]}, {"hash"})

    def test_file_is_whole_or_not_there(self):
        self.assertEqual(self.good("export", "last", "--out", "s.csv"), "")
        with open(os.path.join(self.folder, "s.csv"), newline="", encoding="utf-8") as file:
            self.assertEqual(file.read(), self.run_program("export", "1")[1])
        self.good("export", "last", "--metrics", "--out", "s.csv")
        with open(os.path.join(self.folder, "s.csv"), newline="", encoding="utf-8") as file:
            self.assertTrue(file.read().startswith("label,metric,value\r\n"))
        before = self.files()
        self.assertIn("none/s.csv: No such file", self.bad(2, "export", "last", "--out", "none/s.csv"))
        os.mkdir(os.path.join(self.folder, "d"))
        self.assertIn("d: Is a directory; name a file in it", self.bad(2, "export", "last", "--out", "d"))
        os.rmdir(os.path.join(self.folder, "d"))
        self.assertEqual(self.files(), before)

    def test_observed_sizes_are_exported_unchanged(self):
        lines = [("a", 1000, 3), ("b", 2000, 5), ("c", 2000, 7)]
        self.write("s.csv", "key,keyBinary,size,rowCount\n" +
                   "".join(f"\"{key}\",{key.encode().hex()},{size},{rows}\n" for key, size, rows in lines))
        self.good("import", "s.csv")
        self.assertEqual(self.rows("--unit", "bytes")[1:], [["observed", "open", "bytes", "1000", "1", "3"],
                                                            ["observed", "open", "bytes", "2000", "2", "12"]])


if __name__ == "__main__":
    unittest.main()
