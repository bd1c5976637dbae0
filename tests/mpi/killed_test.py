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
import unittest

from mpirun import HASTY, IS_SLOW, MpiTest
import program
from program import SMALL, commands_s
from share import SHARE, in_full

# On a faster machine the runs are longer, so that the sweep takes this much processor time: mpirun needs up to a
# second to tell the ranks that it was interrupted, but a killed rank 0 stores nothing more. The first jobs that are
# stored are 64 at most.
SWEEP_S = 4 if SHARE == 1 else 1
HASTE = 5  # the clock of a stream run that is killed, which stores a partial result every second
SWEEP = SMALL.replace("duration: 2d", "duration: 6d") + """\
sweep:
  seeds: 80
  grid:
    strategies.probabilistic.bits: [3, 4, 5]
"""
JOBS = 240
LONG = (SMALL.replace("name: small", "name: long\nengine: exact").replace("rate: 0.5/s", "rate: 2000/s")
        .replace("duration: 2d", "duration: 400d"))
KEYS = (LONG.replace("name: long", "name: keys").replace("rate: 2000/s", "rate: 24/s")
        .replace("duration: 400d", "duration: 2d")
        .replace("keys: {count: 20", "keys: {count: 2000"))
CLUSTER = """\
name: cluster
duration: 3000d
keys: {count: 4}
arrivals: {rate: 5/s}
agents: {count: 4}
strategies:
  - hash: {buckets: 2}
  - hash: {buckets: 3, label: three}
  - unbucketed: {}
"""
WITHIN_S = 60  # mpirun gives the others a second to end; a loaded machine takes longer for everything


class KilledTest(MpiTest):
    days, undisturbed = 1, None

    def sweep_alone(self):
        used_s = SWEEP_S if KilledTest.undisturbed else 0
        while used_s < SWEEP_S:
            KilledTest.days *= 2
            self.write("s.yaml", SWEEP.replace("duration: 6d", f"duration: {self.days}d"))
            before_s = commands_s()
            KilledTest.undisturbed = self.good_json("sweep", "s.yaml", "--json", "--quiet", "--db", f"{self.days}.db")
            used_s = commands_s() - before_s
        self.write("s.yaml", SWEEP.replace("duration: 6d", f"duration: {self.days}d"))
        return KilledTest.undisturbed

    def assert_sound(self):
        connection = sqlite3.connect(os.path.join(self.folder, "bucketlab.db"))
        self.assertEqual(connection.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        connection.close()

    def disturb(self, process, pids, victim, number):
        """The job's output before it ends, which it does without a result."""
        self.kill(victim, number)
        out, err = process.communicate(timeout=WITHIN_S)
        self.assertNotEqual(process.returncode, 0)
        self.assertEqual(out, b"")
        self.assert_gone(pids)
        return err.decode()

    def kill_in_sweep(self, choose, number=signal.SIGKILL):
        undisturbed = self.sweep_alone()
        process = self.start_ranks(3, "sweep", "s.yaml", "--json", "--quiet", "--jobs", "1")
        ranks = self.ranks_of(process, 3)
        self.wait_until(lambda: self.stored("sweep_job") > 0, process)
        self.disturb(process, ranks.values(), choose(process, ranks), number)
        self.assert_sound()
        kept = self.stored("sweep_job")
        self.assertTrue(0 < kept < JOBS, kept)
        code, out, err = self.run_ranks(2, "sweep", "s.yaml", "--json")
        self.assertEqual(code, 0)
        self.assertIn(f"sweep: {kept} of {JOBS} runs were done\n", err)
        self.assertEqual(json.loads(out), undisturbed)
        self.assertEqual(self.stored("sweep_job"), JOBS)

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
        self.wait_until_all_work(process, ranks)
        self.disturb(process, ranks.values(), ranks[1], signal.SIGKILL)
        database = os.path.join(self.folder, "bucketlab.db")
        if os.path.exists(database):
            self.assert_sound()
        short = ["--set", "duration=1h"]
        alone = self.run_program("run", "s.yaml", "--json", "--quiet", "--no-charts", "--db", "alone.db", *short)
        again = self.run_ranks(3, "run", "s.yaml", "--json", "--quiet", "--no-charts", *short)
        self.assertEqual(alone, again)

    def wait_until_all_work(self, process, ranks):
        """Waits until each rank has used more processor time than its start takes."""
        self.wait_until(lambda: min(self.used_s(pid) for pid in ranks.values()) > 0.4, process)

    def test_stream_run_with_a_killed_rank_resumes(self):
        days, used_s = 1, 0
        while used_s < 3 * SWEEP_S / HASTE:
            days, before_s = 2 * days, commands_s()
            self.write("s.yaml", KEYS.replace("duration: 2d", f"duration: {days}d"))
            alone = self.good_json("run", "s.yaml", "--json", "--quiet", "--no-charts", "--db", f"{days}.db")
            used_s = commands_s() - before_s
        hastily = ["env", f"LD_PRELOAD={HASTY}", f"HASTY_FACTOR={HASTE}", program.PROGRAM]
        process = self.start_ranks(3, "run", "s.yaml", "--json", "--quiet", "--no-charts", "--jobs", "1",
                                   command=hastily)
        ranks = self.ranks_of(process, 3)
        self.wait_until(lambda: self.stored("outcome") > 0, process)
        self.disturb(process, ranks.values(), ranks[1], signal.SIGKILL)
        self.assert_sound()
        code, out, err = self.run_ranks(2, "run", "s.yaml", "--json", "--no-charts")
        self.assertEqual(code, 0)
        self.assertIn("the run resumes from its partial result in bucketlab.db\n", err)
        self.assertEqual(json.loads(out), alone)

    @in_full
    def test_cluster_run_with_a_killed_rank_leaves_nothing_behind(self):
        self.kill_in_run(CLUSTER)

    def test_interrupted_run_says_so_and_stores_nothing(self):
        self.write("s.yaml", LONG)
        process = self.start_ranks(2, "run", "s.yaml", "--quiet", "--no-charts")
        ranks = self.ranks_of(process, 2)
        self.wait_until_all_work(process, ranks)
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
