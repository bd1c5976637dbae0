# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: a sweep ends with the same digest whatever happens during it, and reports the results of its runs.
Method: one undisturbed sweep is the reference; then threads, shards and their merge, kills at random moments,
signals, two concurrent programs, and malformed databases. `sweep_test.py PROGRAM slow` kills a larger sweep
20 times, and measures 1,000 runs of 10^5 rows.
"""
import contextlib
import csv
import json
import os
import random
import signal
import sqlite3
import statistics
import sys
import time
import unittest

from program import SMALL, ProgramTest, commands_s
from share import in_full

IS_SLOW = "slow" in sys.argv
if IS_SLOW:
    sys.argv.remove("slow")

SWEEP = SMALL + """\
sweep:
  seeds: 3
  grid:
    strategies.probabilistic.bits: [3, 4, 5]
    arrivals.rate: [0.2/s, 0.5/s]
  list:
    - {duration: 1d, seed: 3}
"""
JOBS = 19
LONG = SWEEP.replace("duration: 2d", "duration: 12d").replace("0.5/s]", "1/s]")
# Far too many runs to do them all: a thousand times those that are stored at once.
ENDLESS_JOBS = 60001
ENDLESS = LONG.replace("seeds: 3", "seeds: 10000")


class SweepTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("s.yaml", SWEEP)

    def sweep(self, *arguments):
        return self.good_json("sweep", "s.yaml", "--json", "--quiet", *arguments)

    def read(self, name):
        with open(os.path.join(self.folder, name), "rb") as file:
            return file.read()

    def query(self, sql, database="bucketlab.db"):
        connection = sqlite3.connect(os.path.join(self.folder, database))
        rows = connection.execute(sql).fetchall()
        connection.close()
        return rows

    def assert_each_job_once(self, jobs, database="bucketlab.db"):
        rows = self.query("SELECT count(*), count(DISTINCT job), count(DISTINCT run) FROM sweep_job", database)
        self.assertEqual(rows, [(jobs, jobs, jobs)])
        self.assertEqual(self.query("SELECT count(*), (SELECT count(*) FROM sweep) FROM run", database), [(jobs, 1)])
        self.assertEqual(self.query("PRAGMA integrity_check", database), [("ok",)])

    def test_figures_are_those_of_the_runs(self):
        answer = self.sweep()
        self.assertEqual((answer["sweep"], answer["scenario"], answer["jobs"], answer["done"]),
                         (1, "small", JOBS, JOBS))
        self.assertEqual([point["seeds"] for point in answer["points"]], [3, 3, 3, 3, 3, 3, 1])
        self.assertEqual(answer["points"][1]["settings"],
                         {"strategies.probabilistic.bits": "3", "arrivals.rate": "0.5/s"})
        self.assert_each_job_once(JOBS)
        runs = []
        for seed in range(7, 10):
            run = self.good_json("run", "s.yaml", "--json", "--no-charts", "--quiet", "--db", "plain.db", "--seed",
                                 str(seed), "--set", "strategies.probabilistic.bits=3")
            runs.append(run)
        digests = [row[0] for row in self.query("SELECT digest FROM run JOIN sweep_job USING (run) "
                                                "WHERE point = 2 ORDER BY job")]
        self.assertEqual([run["digest"] for run in runs], digests)
        for told in answer["points"][1]["strategies"]:
            by_label = [next(one for one in run["strategies"] if one["label"] == told["label"]) for run in runs]
            self.assertEqual(list(told["metrics"]),
                             [name for name in by_label[0]["metrics"]
                              if not name.startswith(("horizon.", "expected."))])
            for name, figure in told["metrics"].items():
                values = [one["metrics"][name] for one in by_label]
                self.assertEqual(figure["count"], 3)
                self.assertAlmostEqual(figure["mean"], statistics.mean(values), 6)
                self.assertAlmostEqual(figure["stddev"], statistics.stdev(values), 6)
                # Student's t at 97.5 % with 2 degrees of freedom.
                half = 4.302652729749464 * statistics.stdev(values) / 3 ** 0.5
                self.assertAlmostEqual(figure["high"] - figure["mean"], half, 6)
                self.assertAlmostEqual(figure["mean"] - figure["low"], half, 6)
        alone = answer["points"][6]["strategies"][0]["metrics"]["partitions.total"]
        self.assertEqual((alone["count"], alone["low"], alone["high"]), (1, None, None))

    def test_figure_that_the_first_run_lacks_is_listed_with_its_strategy(self):
        """At the first seed no partition closes."""
        self.write("s.yaml", "duration: 1h\nkeys: {count: 1}\narrivals: {rate: 0.005/s}\nsweep: {seeds: 6}\n"
                             "strategies:\n  - probabilistic: {bits: 2, threshold: 6}\n  - hash: {buckets: 2}\n")
        strategies = self.sweep()["points"][0]["strategies"]
        self.assertEqual([one["label"] for one in strategies], ["probabilistic", "hash"])
        self.assertLess(strategies[0]["metrics"]["partitions.closed.rows.mean"]["count"], 6)
        first = self.good_json("run", "s.yaml", "--json", "--quiet", "--no-charts")
        self.assertNotIn("partitions.closed.rows.mean", first["strategies"][0]["metrics"])

    def test_digest_is_that_of_any_threads_and_shards(self):
        whole = self.sweep("--jobs", "1")
        self.assertEqual(self.sweep("--jobs", "2", "--db", "two.db"), whole)
        again = self.sweep()
        self.assertEqual(again, whole)
        done = 0
        for part in ["3/4", "1/4", "4/4", "2/4"]:
            answer = self.sweep("--shard", part, "--db", "parts.db")
            done += len(range(int(part[0]), JOBS + 1, 4))
            self.assertEqual(answer["done"], done)
            self.assertEqual(answer == {**whole}, done == JOBS)
        self.assertEqual(answer, whole)
        self.assert_each_job_once(JOBS, "parts.db")
        rows = self.query("SELECT job, digest FROM sweep_job JOIN run USING (run) ORDER BY job")
        self.assertEqual(rows, self.query("SELECT job, digest FROM sweep_job JOIN run USING (run) ORDER BY job",
                                          "parts.db"))

    def test_merged_parts_are_the_whole(self):
        whole = self.sweep("--db", "whole.db")
        parts = [f"part-{i}.db" for i in range(1, 4)]
        for i, part in enumerate(parts, 1):
            self.sweep("--shard", f"{i}/3", "--db", part)
        self.good("run", "s.yaml", "--no-charts", "--quiet", "--db", parts[1])
        before = [self.read(part) for part in parts]
        merged = self.good_json("merge", *parts, "--db", "all.db", "--json")
        self.assertEqual(merged, {"db": "all.db", "added": JOBS + 1, "found": 0, "sweeps": [
            {"sweep": 1, "scenario": "small", "identity": whole["identity"], "digest": whole["digest"],
             "jobs": JOBS, "done": JOBS}]})
        self.assertEqual(self.sweep("--db", "all.db"), whole)
        out = self.good("merge", parts[2], parts[0], parts[2], "--db", "all.db")
        self.assertEqual(out, f"all.db: 0 runs added, {6 + 7 + 6} were there already\n"
                              f"sweep 1 of small: {JOBS} of {JOBS} runs done, digest {whole['digest']}\n")
        self.assertEqual([self.read(part) for part in parts], before)
        self.assertEqual([name for name in self.files() if "-wal" in name or "-shm" in name], [])
        # Without --db the first database receives the others.
        self.good("merge", parts[1], parts[2], parts[0])
        self.assertEqual(self.sweep("--db", parts[1]), whole)
        run = self.query("SELECT run FROM sweep_job WHERE job = 17", parts[1])[0][0]
        self.assertIn("same digest", self.good("replay", str(run), "--quiet", "--db", parts[1]))

    def test_impossible_merge_is_one_error_line(self):
        self.sweep("--shard", "1/9", "--db", "a.db")
        self.write("text.db", "no database at all")
        before = self.read("a.db")
        for code, arguments, text in [
                (2, ["a.db", "--db", "./a.db"], "a.db: receives the other databases"),
                (3, ["none.db", "a.db"], "none.db: no such database"),
                (3, ["a.db", "text.db"], "text.db: not a database"),
                (3, ["a.db", "text.db", "--db", "new.db"], "text.db: not a database")]:
            self.assertIn(text, self.bad(code, "merge", *arguments))
        self.assertEqual(self.read("a.db"), before)
        self.assertEqual(self.files(), ["a.db", "s.yaml", "text.db"])

    def test_sweep_continues_where_it_was_and_says_so(self):
        self.sweep("--shard", "1/3")
        code, _, err = self.run_program("sweep", "s.yaml")
        self.assertEqual((code, err), (0, f"sweep: 7 of {JOBS} runs were done\n"))
        self.assertEqual(self.run_program("sweep", "s.yaml")[2], f"sweep: {JOBS} of {JOBS} runs were done\n")

    def kill_often(self, scenario, kills, jobs, longest):
        self.write("s.yaml", scenario)
        before_s = commands_s()
        whole = self.sweep("--db", "whole.db")
        used_s = commands_s() - before_s
        moments = random.Random(11)
        killed = 0
        for _ in range(kills):
            code, _ = self.stop_after(moments.uniform(0, min(longest, used_s)), signal.SIGKILL, "sweep", "s.yaml",
                                      "--quiet")
            killed += code == -signal.SIGKILL
        self.assertGreater(killed, 0)
        self.assertEqual(self.sweep(), whole)
        self.assert_each_job_once(jobs)

    @in_full
    def test_sweep_that_is_killed_ends_with_the_same_digest(self):
        self.kill_often(LONG, 4, JOBS, 1)

    def test_interrupted_sweep_keeps_what_is_finished(self):
        self.write("s.yaml", ENDLESS)
        done = 0
        for number in [signal.SIGINT, signal.SIGTERM]:
            process = self.start("sweep", "s.yaml", "--quiet", "--json", "--jobs", "1")
            self.wait_until(lambda: self.stored("sweep_job") > done, process)
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
            self.assertEqual((process.returncode, out), (128 + number, b""), err)
            done = self.stored("sweep_job")
            # Large numbers are printed with commas.
            self.assertEqual(err.decode().replace(",", ""),
                             f"interrupted; {done} of {ENDLESS_JOBS} runs are in bucketlab.db and the same command "
                             "resumes with the others\n")
        self.assert_each_job_once(done)

    @in_full
    def test_two_sweeps_at_once_end_right(self):
        self.write("s.yaml", LONG)
        whole = self.sweep("--db", "whole.db")
        processes = [self.start("sweep", "s.yaml", "--json", "--quiet", "--jobs", "1") for _ in range(2)]
        for process in processes:
            out, err = process.communicate(timeout=120)
            self.assertEqual((process.returncode, err), (0, b""))
            self.assertEqual(json.loads(out), whole)
        self.assert_each_job_once(JOBS)

    def test_database_that_is_removed_meanwhile_is_an_error(self):
        self.write("s.yaml", ENDLESS)
        process = self.start("sweep", "s.yaml", "--quiet", "--jobs", "1")
        self.wait_until(lambda: self.stored("sweep_job") > 0, process)
        path = os.path.join(self.folder, "bucketlab.db")
        for name in ["", "-wal", "-shm"]:
            with contextlib.suppress(FileNotFoundError):  # SQLite has a log only while the database is open.
                os.rename(path + name, path + ".away" + name)
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (3, b""), err)
        self.assertIn(b"bucketlab.db: was removed, moved or replaced meanwhile; ", err)

    def test_text_is_at_most_80_columns(self):
        out = self.good("sweep", "s.yaml", "--quiet")
        self.assertIn("\npoint 2: bits=3, rate=0.5/s (3 of 3 runs)\n", out)
        self.assertRegex(out, r"\n  probabilistic +\d+ \+- [\d.]+ ")
        self.assertRegex(out, r"\nsweep 1 in bucketlab.db, digest [0-9a-f]{16}\n\Z")
        self.assertLessEqual(max(map(len, out.splitlines())), 80)
        out = self.good("sweep", "s.yaml", "--quiet", "--metric", "partitions.row_weighted.rows.stddev", "--metric",
                        "writes.rows")
        self.assertRegex(out, r"\n  strategy +partitions\.row_weighted\.rows\.stddev +writes\.rows\n")
        out = self.good("sweep", "s.yaml", "--quiet", "--metric", "partitions.all.bytes.p99", "--metric",
                        "partitions.over_limit")
        self.assertRegex(out, r"\n +bytes\n  strategy +partitions\.all\.bytes\.p99 +over limit\n")
        self.assertIn("\n\nover limit: partitions.over_limit\n\nsweep 1 in", out)

    def test_csv_has_every_figure(self):
        answer = self.sweep("--csv", "s.csv")
        with open(os.path.join(self.folder, "s.csv"), encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        told = [(str(point["point"]), strategy["label"], name, figure["mean"])
                for point in answer["points"] for strategy in point["strategies"]
                for name, figure in strategy["metrics"].items()]
        self.assertEqual([(row["point"], row["label"], row["metric"], float(row["mean"])) for row in rows], told)
        self.assertEqual(rows[0]["settings"], "strategies.probabilistic.bits=3; arrivals.rate=0.2/s")
        self.assertEqual((rows[-1]["settings"], rows[-1]["low"], rows[-1]["count"]), ("duration=1d", "", "1"))

    def test_runs_of_a_sweep_are_folded_shown_and_replayed(self):
        self.sweep()
        self.good("run", "s.yaml", "--no-charts", "--quiet")
        lines = self.good("runs").splitlines()
        self.assertEqual([line.split()[0] for line in lines], ["run", str(JOBS + 1), str(JOBS), "the"])
        self.assertEqual(lines[3].strip(), f"the newest of {JOBS} runs of sweep 1; --all lists them")
        self.assertEqual(len(self.good("runs", "--all").splitlines()), JOBS + 2)
        rows = self.good_json("runs", "--json")
        self.assertEqual([row.get("sweep_runs") for row in rows], [None, JOBS])
        self.assertEqual(len(self.good_json("runs", "--json", "--all")), JOBS + 1)
        for job in [1, 9, JOBS]:
            run, seed = self.query(f"SELECT run, seed FROM sweep_job JOIN run USING (run) WHERE job = {job}")[0]
            self.assertEqual(seed, 3 if job == JOBS else 7 + (job - 1) % 3)
            self.assertIn("same digest", self.good("replay", str(run), "--quiet"))
        self.assertIn("--set 'duration=1d'", self.good("show", str(run)))

    def test_expectations_that_fail_are_counted(self):
        self.write("s.yaml", SWEEP + "expect: [probabilistic.partitions.closed.rows.p50 < 600]\n")
        answer = self.sweep()
        failed = [point["expects_failed"] for point in answer["points"]]
        self.assertGreater(sum(failed), 0)
        self.assertEqual(failed[0], 0)
        self.assertIn(f"(3 of 3 runs; expectations failed in {max(failed)}", self.good("sweep", "s.yaml", "--quiet"))

    def test_bad_usage_is_one_line(self):
        for arguments, text in [
                (["--set", "sweep=null"], "s.yaml:1:1: no 'sweep' in it; add one"),
                (["--set", "sweep.seeds=0"], "--set sweep.seeds=0: 'seeds: 0': out of range"),
                (["--set", "strategies.hash.buckets=x"],
                 "--set strategies.hash.buckets=x: 'buckets: x': not a whole number")]:
            self.assertIn(text, self.bad(2, "sweep", "s.yaml", *arguments))
        self.bad(3, "sweep", "s.yaml", "--db", "none/such.db")
        self.assertEqual(self.files(), ["s.yaml"])
        self.sweep()
        self.assertIn("no run of this sweep has the metric 'writes.rose'",
                      self.bad(2, "sweep", "s.yaml", "--quiet", "--metric", "writes.rose"))
        self.assertIn("--csv ./bucketlab.db: would overwrite the database bucketlab.db",
                      self.bad(2, "sweep", "s.yaml", "--csv", "./bucketlab.db"))

    def test_job_that_cannot_run_is_named_and_the_others_are_kept(self):
        self.write("s.yaml", SWEEP + "    - {strategies.hash.buckets: 2000000}\n")
        text = self.bad(2, "sweep", "s.yaml", "--quiet")
        self.assertIn("2000000 hash buckets are more than a run can hold", text)
        self.assertIn(f"(job {JOBS + 1} of the sweep: strategies.hash.buckets=2000000, seed 7)", text)
        self.assert_each_job_once(JOBS)

    def test_sweep_of_another_version_is_refused(self):
        self.sweep("--shard", "1/2")
        connection = sqlite3.connect(os.path.join(self.folder, "bucketlab.db"))
        connection.execute("UPDATE sweep SET version = '0.0.1'")
        connection.commit()
        connection.close()
        self.assertIn("bucketlab 0.0.1 began this sweep, and this is ", self.bad(2, "sweep", "s.yaml"))

    @unittest.skipUnless(IS_SLOW, "takes minutes")
    def test_slow_twenty_kills_end_with_the_same_digest(self):
        self.kill_often(LONG.replace("seeds: 3", "seeds: 60"), 20, 361, 3)

    @unittest.skipUnless(IS_SLOW, "takes minutes")
    def test_slow_thousand_runs_of_1e5_rows_take_a_minute(self):
        self.write("s.yaml", SMALL.replace("rate: 0.5/s", "rate: 10000/d").replace("duration: 2d", "duration: 10d") +
                   "sweep: {seeds: 100, grid: {strategies.probabilistic.bits: [2, 3, 4, 5, 6], "
                   "strategies.probabilistic.threshold: [20, 40]}}\n")
        begin = time.monotonic()
        answer = self.sweep("--jobs", "2")
        took = time.monotonic() - begin
        print(f"1,000 runs in {took:.1f} s")
        self.assertEqual(answer["done"], 1000)
        self.assertEqual(self.query("SELECT count(*) FROM run WHERE rows NOT BETWEEN 97000 AND 103000"), [(0,)])
        self.assertLess(took, 60)


if __name__ == "__main__":
    unittest.main(argv=sys.argv + (["-k", "test_slow"] if IS_SLOW else []))
