# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: --sample gives a run the compression of a user's rows, and its disk figures are stored with the run.
Method: rows that a real node compressed, whose ratio is known; the figures computed from the metrics; a run
that is replayed and shown after the file was removed; and files that are refused.
"""
import json
import os
import shutil
import unittest

from program import SMALL, SOURCE, ProgramTest

ROWS = os.path.join(SOURCE, "tests", "cassandra5", "compression", "log.csv.gz")
RATIO = 0.5604  # 111,107 of 198,276 bytes


class SampleTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("small.yaml", SMALL + "cluster: {nodes: 6, replication_factor: 2}\n")
        shutil.copy(ROWS, os.path.join(self.folder, "rows.csv.gz"))

    def metrics(self, *words):
        run = self.good_json("run", "small.yaml", "--json", "--quiet", "--no-charts", *words)
        return {strategy["label"]: strategy["metrics"] for strategy in run["strategies"]}

    def test_the_ratio_is_reported_and_estimates_the_disk(self):
        code, out, err = self.run_program("run", "small.yaml", "--sample", "rows.csv.gz", "--no-charts")
        self.assertEqual(code, 0, err)
        self.assertIn("sample rows.csv.gz: 1,500 rows in 102 partitions, 198,276 bytes, compressed 111,107: "
                      "row.compression 0.5604\n", err)
        self.assertIn("disk, all replicas: unbucketed", out)
        self.assertIn("compressed", out)
        plain, sampled = self.metrics(), self.metrics("--sample", "rows.csv.gz")
        for label, metrics in sampled.items():
            bytes_of_all = metrics["partitions.all.bytes.mean"] * metrics["partitions.total"]
            self.assertAlmostEqual(metrics["disk.bytes"], 2 * bytes_of_all, delta=1e-9 * bytes_of_all)
            self.assertAlmostEqual(metrics["disk.compressed_bytes"], RATIO * metrics["disk.bytes"], delta=1)
            # Limits apply to uncompressed sizes, and nothing else changes.
            for name in ("capacity.bytes_per_node", "capacity.disk_per_node"):
                self.assertAlmostEqual(metrics.pop(name) / plain[label].pop(name), RATIO, places=9)
            for name in ("disk.bytes", "disk.compressed_bytes"):
                del metrics[name]
            self.assertEqual(metrics, plain[label])

    def test_a_stored_run_no_longer_needs_the_file(self):
        self.good("run", "small.yaml", "--sample", "rows.csv.gz", "--quiet", "--no-charts")
        os.remove(os.path.join(self.folder, "rows.csv.gz"))
        self.assertIn("disk, all replicas: unbucketed", self.good("show", "last"))
        self.good("replay", "last", "--quiet")
        self.good("report", "last", "--quiet", "--format", "html")
        with open(os.path.join(self.folder, "bucketlab-out", "small.html"), encoding="utf-8") as page:
            self.assertIn("disk.compressed_bytes", page.read())

    def test_a_scenario_says_the_ratio_itself(self):
        self.assertEqual(self.metrics("--set", "row.compression=0.5604"), self.metrics("--sample", "rows.csv.gz"))
        self.assertIn("give bytes on disk for each byte before compression, a number from 0.001 to 2",
                      self.bad(2, "run", "small.yaml", "--set", "row.compression=0", "--quiet"))

    def test_check_uses_the_sample_for_its_expectations(self):
        self.write("gate.yaml", SMALL + "expect: [unbucketed.disk.compressed_bytes <= 30000000]\n")
        words = ("check", "gate.yaml", "--no-store", "--quiet", "--json")
        report = json.loads(self.good(*words, "--sample", "rows.csv.gz"))
        self.assertIn("unbucketed.disk.compressed_bytes", json.dumps(report))
        self.assertEqual(self.run_program(*words)[0], 2)

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return file.read()

    def test_sweep_measures_the_sample_once_for_all_points(self):
        self.write("sweep.yaml", SMALL + "sweep: {grid: {keys.count: [3, 4]}, seeds: 2}\n")
        words = ("sweep", "sweep.yaml", "--metric", "disk.compressed_bytes")
        code, out, err = self.run_program(*words, "--sample", "rows.csv.gz")
        self.assertEqual(code, 0, err)
        self.assertEqual(err.count("row.compression 0.5604"), 1)
        self.assertIn("disk.compressed_bytes", out)
        self.good("sweep", "sweep.yaml", "--quiet", "--set", "row.compression=0.5604", "--csv", "set.csv", "--db",
                  "b.db")
        self.good("sweep", "sweep.yaml", "--quiet", "--sample", "rows.csv.gz", "--csv", "sample.csv")
        self.assertEqual(self.read("set.csv"), self.read("sample.csv"))
        self.assertIn("disk.compressed_bytes", self.read("sample.csv"))
        self.assertIn("rows.csv.gz", self.bad(2, "sweep", "sweep.yaml", "--quiet", "--sample", "rows.csv.gz", "--csv",
                                              "rows.csv.gz"))

    def test_tune_uses_the_sample_for_its_recommended_run(self):
        self.write("tune.yaml", SMALL + "tune: {risk: 1%, seeds: 2}\n")
        words = ("tune", "tune.yaml", "--no-charts", "--quiet", "--sample", "rows.csv.gz")
        self.good(*words)
        run = json.loads(self.good("show", "last", "--json"))
        self.assertIn("disk.compressed_bytes", json.dumps(run))
        self.assertIn("rows.csv.gz", self.bad(2, *words, "--db", "rows.csv.gz"))
        self.assertIn("--sample applies only to 'tune SCENARIO'",
                      self.bad(2, "tune", "--rows", "1..9", "--risk", "0.5", "--sample", "rows.csv.gz"))

    def test_a_wrong_file_ends_in_a_line(self):
        self.write("rows.csv", "key,at,id,data\nk,1,7,x\n")
        self.assertRegex(self.bad(2, "run", "small.yaml", "--sample", "rows.csv", "--quiet"),
                         r"^rows\.csv:2: column 'id': ")
        self.write("empty.csv", "")
        self.assertIn("empty.csv: a sample without rows; export some",
                      self.bad(2, "run", "small.yaml", "--sample", "empty.csv", "--quiet"))
        self.assertIn("no.csv: sample cannot be opened",
                      self.bad(2, "run", "small.yaml", "--sample", "no.csv", "--quiet"))
        self.assertIn("--db", self.bad(2, "run", "small.yaml", "--sample", "rows.csv.gz", "--db", "rows.csv.gz",
                                       "--quiet"))
        self.assertEqual([name for name in self.files() if "bucketlab" in name], [])


if __name__ == "__main__":
    unittest.main()
