# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: whichever process is killed, the job ends soon and reports it by its exit code; the database is sound,
and the same command continues from it and gives the result of an undisturbed job. Method: SIGKILL for a rank,
for rank 0 and for mpirun, and signals for mpirun, in the middle of a sweep and of runs by each engine.
`slow`: twenty kills at random moments of one sweep.
"""
import json
import os
import random
import signal
import sqlite3
import subprocess
import time
import unittest

from mpirun import IS_SLOW, MpiTest
from program import SMALL
from share import in_full

# About 25 ms per job.
SWEEP = SMALL.replace("duration: 2d", "duration: 25d") + """\
sweep:
  seeds: 20
  grid:
    strategies.probabilistic.bits: [3, 4, 5]
"""
JOBS = 60
LONG = SMALL.replace("duration: 2d", "duration: 4000d")
CLUSTER = """\
name: cluster
duration: 30d
keys: {count: 4}
arrivals: {rate: 5/s}
agents: {count: 4}
strategies:
  - hash: {buckets: 2}
  - hash: {buckets: 3, label: three}
  - unbucketed: {}
"""
WITHIN_S = 20  # mpirun gives the others a second to end; a loaded machine takes longer for everything


class KilledTest(MpiTest):
    undisturbed = None

    def sweep_alone(self):
        self.write("s.yaml", SWEEP)
        if KilledTest.undisturbed is None:
            KilledTest.undisturbed = self.good_json("sweep", "s.yaml", "--json", "--quiet", "--db", "alone.db")
        return KilledTest.undisturbed

    def stored_jobs(self):
        path = os.path.join(self.folder, "bucketlab.db")
        if not os.path.exists(path):
            return 0
        try:
            connection = sqlite3.connect(path, timeout=20)
            count = connection.execute("SELECT count(*) FROM sweep_job").fetchone()[0]
            connection.close()
        except sqlite3.OperationalError:
            return 0
        return count

    def assert_sound(self):
        connection = sqlite3.connect(os.path.join(self.folder, "bucketlab.db"))
        self.assertEqual(connection.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        connection.close()

    def disturb(self, process, pids, victim, number):
        """The job's output before it ends, which it does without a result."""
        begin = time.monotonic()
        self.kill(victim, number)
        out, err = process.communicate(timeout=120)
        self.assertLess(time.monotonic() - begin, WITHIN_S)
        self.assertNotEqual(process.returncode, 0)
        self.assertEqual(out, b"")
        self.assert_gone(pids)
        return err.decode()

    def kill_in_sweep(self, choose, number=signal.SIGKILL):
        undisturbed = self.sweep_alone()
        process = self.start_ranks(3, "sweep", "s.yaml", "--json", "--quiet")
        ranks = self.ranks_of(process, 3)
        while process.poll() is None and self.stored_jobs() == 0:
            time.sleep(0.02)
        self.assertIsNone(process.poll(), "too fast to be disturbed")
        self.disturb(process, ranks.values(), choose(process, ranks), number)
        self.assert_sound()
        kept = self.stored_jobs()
        self.assertTrue(0 < kept < JOBS, kept)
        code, out, err = self.run_ranks(2, "sweep", "s.yaml", "--json")
        self.assertEqual(code, 0)
        self.assertIn(f"sweep: {kept} of {JOBS} runs were done\n", err)
        self.assertEqual(json.loads(out), undisturbed)
        self.assertEqual(self.stored_jobs(), JOBS)

    @in_full
    def test_sweep_with_a_killed_rank_continues(self):
        self.kill_in_sweep(lambda _, ranks: ranks[2])

    def test_sweep_with_rank_0_killed_continues(self):
        self.kill_in_sweep(lambda _, ranks: ranks[0])

    @in_full
    def test_sweep_whose_mpirun_is_killed_continues(self):
        self.kill_in_sweep(lambda process, _: process.pid)

    @in_full
    def test_sweep_whose_mpirun_is_interrupted_continues(self):
        self.kill_in_sweep(lambda process, _: process.pid, signal.SIGINT)

    def kill_in_run(self, text):
        self.write("s.yaml", text)
        process = self.start_ranks(3, "run", "s.yaml", "--json", "--quiet", "--no-charts")
        ranks = self.ranks_of(process, 3)
        # The rank is at work: it has used more processor time than its start takes.
        while process.poll() is None and min(self.cpu_s(pid) for pid in ranks.values()) < 0.2:
            time.sleep(0.02)
        self.assertIsNone(process.poll(), "too fast to be disturbed")
        self.disturb(process, ranks.values(), ranks[1], signal.SIGKILL)
        database = os.path.join(self.folder, "bucketlab.db")
        if os.path.exists(database):
            self.assert_sound()
        short = ["--set", "duration=1h"]
        alone = self.run_program("run", "s.yaml", "--json", "--quiet", "--no-charts", "--db", "alone.db", *short)
        again = self.run_ranks(3, "run", "s.yaml", "--json", "--quiet", "--no-charts", *short)
        self.assertEqual(alone, again)

    @staticmethod
    def cpu_s(pid):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            return 0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @in_full
    def test_stream_run_with_a_killed_rank_leaves_nothing_behind(self):
        self.kill_in_run(LONG)

    @in_full
    def test_cluster_run_with_a_killed_rank_leaves_nothing_behind(self):
        self.kill_in_run(CLUSTER)

    def test_interrupted_run_says_so_and_stores_nothing(self):
        self.write("s.yaml", LONG)
        process = self.start_ranks(2, "run", "s.yaml", "--quiet", "--no-charts")
        ranks = self.ranks_of(process, 2)
        while process.poll() is None and min(self.cpu_s(pid) for pid in ranks.values()) < 0.2:
            time.sleep(0.02)
        err = self.disturb(process, ranks.values(), ranks[0], signal.SIGTERM)
        self.assertIn("interrupted; nothing was stored\n", err)
        self.assertEqual([name for name in self.files() if name.startswith("bucketlab.db")], [])

    @unittest.skipUnless(IS_SLOW, "slow")
    def test_sweep_that_is_killed_again_and_again_loses_nothing(self):
        undisturbed = self.sweep_alone()
        draw = random.Random(8)
        for _ in range(20):
            process = self.start_ranks(3, "sweep", "s.yaml", "--json", "--quiet")
            try:
                process.communicate(timeout=draw.uniform(0.3, 1.2))
            except subprocess.TimeoutExpired:
                ranks = self.ranks_of(process, 3, deadline_s=5) if draw.random() < 0.7 else {}
                self.kill(draw.choice([*ranks.values(), process.pid]))
                process.communicate(timeout=60)
                self.assert_gone(ranks.values())
            else:
                break
        code, out, _ = self.run_ranks(2, "sweep", "s.yaml", "--json", "--quiet")
        self.assertEqual((code, json.loads(out)), (0, undisturbed))
        self.assert_sound()


if __name__ == "__main__":
    unittest.main()
