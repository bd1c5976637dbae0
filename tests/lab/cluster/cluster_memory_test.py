#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The memory of a judged run grows with keys and partitions, not with rows: ten times the rows in the same
number of partitions, at a tenth of the chance to fire, need about the same memory.

Usage: cluster_memory_test.py BUCKETLAB.
"""
import json
import os
import resource
import subprocess
import sys
import tempfile

bucketlab = os.path.abspath(sys.argv[1])
SCENARIO = """name: memory
duration: 250s
keys: {{count: 100}}
arrivals: {{rate: {rate}/s}}
reads: {{latest: {{rows: 20, rate: 1/s}}}}
cluster: {{nodes: 3, replication_factor: 3}}
agents: {{count: 4, cache_ttl: 1s, clock: {{bound: 5ms}}}}
strategies:
  - probabilistic: {{chance: 1/{every}, threshold: 4, coordination: guarded, counter: counter, grant: 5s}}
"""


def run(rate, every):
    """Peak memory in KiB, rows and partitions."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "memory.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(SCENARIO.format(rate=rate, every=every))
        if os.fork() == 0:
            result = subprocess.run([bucketlab, "run", path, "--no-charts", "--quiet", "--json", "--db",
                                     folder + "/m.db"], stdout=subprocess.PIPE, check=True)
            peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
            metrics = json.loads(result.stdout)["strategies"][0]["metrics"]
            with open(folder + "/peak", "w", encoding="utf-8") as file:
                file.write(f"{peak} {metrics['writes.rows']} {metrics['partitions.total']}")
            os._exit(0)
        if os.wait()[1] != 0:
            sys.exit("the run failed")
        with open(folder + "/peak", encoding="utf-8") as file:
            return map(int, file.read().split())


few_kib, few_rows, few_partitions = run(300, 12)
many_kib, many_rows, many_partitions = run(3000, 120)
print(f"peak memory: {few_kib / 1024:.1f} MiB at {few_rows} rows in {few_partitions} partitions, "
      f"{many_kib / 1024:.1f} MiB at {many_rows} rows in {many_partitions}")
if not 0.8 < many_partitions / few_partitions < 1.25 or many_rows < 9 * few_rows:
    sys.exit("these two cannot be compared")
sys.exit(0 if many_kib < few_kib * 1.1 + 1024 else 1)
