# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: any number of ranks prints and stores the same as one process. Method: runs by each engine, sweeps and
campaigns with 1, 2, 3 and 8 ranks, compared with the program by itself.
"""
import os
import sqlite3
import unittest

from mpirun import BOLD, MpiTest, steady
import program
from program import SMALL
from share import SHARE, part

# In a part of the tests only 3 ranks, and 8 for the exact stream.
EACH = (8,) if SHARE > 1 else (1, 2, 3, 8)
RANKS = part((3, 1, 2, 8))
# Everything that a tally contains: reads of several kinds, late rows, expiring and deleted rows, a change of
# settings.
FULL = """\
name: full
seed: 11
duration: 3d
keys: {count: 3000, popularity: {zipf: 1.1}}
arrivals: {rate: 2/s, daily: {amplitude: 0.5, peak: 20h}, bursts: {on: 10m, off: 6h, factor: 20}}
row: {bytes: {lognormal: {mean: 350, sigma: 1.0}}, cells: 6}
reads: {latest: {rows: 20, rate: 0.1/s}, range: {span: 1h, rate: 0.05/s}}
limits: {partition_rows: 3000, partition_bytes: 1MB, tiny_rows: 24}
strategies:
  - unbucketed: {}
  - time: {window: 6h}
  - count: {rows: 1000, counter: external}
  - probabilistic: {bits: 4, threshold: 40}
  - hash: {buckets: 4}
"""
LATE = FULL.replace("rate: 2/s, ", "rate: 2/s, late: {share: 5%, by: 2h}, ").replace(", range:", "} #")
GONE = FULL.replace("cells: 6}", "cells: 6, ttl: 2d}").replace("reads:", "# reads:")
TABLE = """\
name: table
seed: 3
duration: 2d
keys: {count: 40, popularity: {zipf: 0.8}}
arrivals: {rate: 0.5/s}
row: {bytes: 200}
table:
  name: logs
  columns: {hour: bucket, server: key, level: {values: 5}, message: data}
  partition_key: [hour, level]
  clustering: [server]
strategies:
  - time: {window: 1h}
  - probabilistic: {bits: 3, threshold: 20}
"""
THINNED = """\
name: thinned
seed: 5
duration: 30d
keys: {count: 1500, popularity: {zipf: 1.1}}
arrivals: {rate: 2000/s}
row: {bytes: 100}
engine: thinned
limits: {partition_rows: 100000}
strategies:
  - count: {rows: 20480, counter: external}
  - probabilistic: {bits: 9, threshold: 40}
"""
CLUSTER = """\
name: cluster
seed: 2
duration: 1h
keys: {count: 4}
arrivals: {rate: 2/s}
row: {bytes: 100}
reads: {latest: {rows: 5, rate: 0.1/s}}
agents: {count: 4, clock: {offset: 50ms, drift: 20ppm, bound: 100ms}}
faults:
  - {node_down: {node: 3, at: 10m, lasts: 5m}}
strategies:
  - hash: {buckets: 2}
  - probabilistic: {bits: 3, threshold: 20, coordination: three-state, lead: 10s}
  - probabilistic: {bits: 3, threshold: 20, coordination: guarded, label: guarded}
  - count: {rows: 200, counter: lwt}
"""
SWEEP = SMALL + """\
sweep:
  seeds: 4
  grid:
    strategies.probabilistic.bits: [3, 5]
    arrivals.rate: [0.2/s, 0.5/s]
  list:
    - {duration: 1d, seed: 3}
"""
SINGLE = "strategies: [{probabilistic: {bits: 2, threshold: 5, label: \"it's\"}}]\n"


class SameTest(MpiTest):
    def dump(self, database):
        """Everything that is stored, except times of day and durations."""
        connection = sqlite3.connect(os.path.join(self.folder, database))
        lines = []
        for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"):
            cursor = connection.execute(f'SELECT * FROM "{table}"')
            kept = [i for i, column in enumerate(cursor.description)
                    if "created" not in column[0] and "elapsed" not in column[0]]
            lines += sorted(repr((table, [row[i] for i in kept])) for row in cursor)
        connection.close()
        return lines

    def hold(self, *words, has_database=True, numbers=RANKS):
        """Asserts that these numbers of ranks print and store the same as the program by itself; returns its
        output."""
        database = ["--db", "x.db"] if has_database else []

        def outcome(run):
            code, out, err = run
            stored = self.dump("x.db") if has_database else []
            for name in self.files():
                if name.startswith("x.db"):
                    os.remove(os.path.join(self.folder, name))
            return code, steady(out), err, stored

        alone = outcome(self.run_program(*words, *database))
        for ranks in numbers:
            several = outcome(self.run_ranks(ranks, *words, *database))
            self.assertEqual(alone[:3], several[:3], f"{ranks} ranks")
            self.assertTrue(alone[3] == several[3], f"{ranks} ranks store something else")
        return alone

    def run_of(self, text, numbers=RANKS):
        self.write("s.yaml", text)
        code, out, err, stored = self.hold("run", "s.yaml", "--quiet", "--no-charts", numbers=numbers)
        self.assertEqual((code, err), (0, ""))
        self.assertIn("digest", out)
        self.assertGreater(len(stored), 50)

    def test_exact_stream(self):
        self.run_of(FULL, EACH)

    def test_stream_with_late_rows(self):
        self.run_of(LATE, (3,))

    def test_stream_with_rows_that_expire(self):
        self.run_of(GONE, (2,))

    def test_table_with_shared_partitions(self):
        self.run_of(TABLE, (3,))

    def test_thinned_stream(self):
        self.run_of(THINNED)

    def test_cluster(self):
        self.run_of(CLUSTER)

    def test_sweep(self):
        self.write("s.yaml", SWEEP)
        code, _, err, stored = self.hold("sweep", "s.yaml", "--quiet")
        self.assertEqual((code, err), (0, ""))
        self.assertGreater(len(stored), 500)

    def test_campaign_without_findings(self):
        self.write("fine.yaml", "strategies: [{hash: {buckets: 3}}, {unbucketed: {}}]\n")
        code, _, err, _ = self.hold("fuzz", "fine.yaml", "--seeds", "3..32", "--quiet", "--set", "agents.count=3",
                                    has_database=False, numbers=(3,))
        self.assertEqual((code, err), (0, ""))

    def test_campaign_finds_the_smallest_seed_that_fails(self):
        self.addCleanup(setattr, program, "PROGRAM", program.PROGRAM)
        program.PROGRAM = BOLD
        self.write("s.yaml", SINGLE)
        code, out, err, _ = self.hold("fuzz", "s.yaml", "--seeds", "1..40", "--quiet", "--json", has_database=False)
        self.assertEqual(code, 1)
        self.assertIn('"oracle":"monotone"', out.replace(": ", ":"))
        self.assertEqual(err.count("\n"), 1)


if __name__ == "__main__":
    unittest.main()
