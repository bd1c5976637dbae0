#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Memory does not grow with rows: 10^5 keys at 10^6 rows and at many more need less than 300 MB, and differ
by at most a tenth and 16 MiB. Histograms of up to 4,096 sizes per octave need the latter until all their
sizes have occurred.

Usage: memory_test.py BUCKETLAB ROWS (the larger number; 10^9 under the label slow).
"""
import os
import resource
import subprocess
import sys
import tempfile

bucketlab, most = os.path.abspath(sys.argv[1]), float(sys.argv[2])
SCENARIO = """name: memory
duration: 90d
keys: {{count: 100000}}
arrivals: {{rate: {rate}/s}}
strategies:
  - time: {{window: 10d}}
  - count: {{rows: 2048, counter: external}}
  - probabilistic: {{bits: 9, threshold: 4}}
"""


def peak_kib(rows):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "memory.yaml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(SCENARIO.format(rate=rows / (90 * 86400)))
        if os.fork() == 0:
            subprocess.run([bucketlab, "run", path, "--no-charts", "--quiet", "--db", folder + "/m.db"],
                           stdout=subprocess.DEVNULL, check=True)
            with open(folder + "/peak", "w", encoding="utf-8") as file:
                file.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
            os._exit(0)
        if os.wait()[1] != 0:
            sys.exit("the run failed")
        with open(folder + "/peak", encoding="utf-8") as file:
            return int(file.read())


few, many = peak_kib(1e6), peak_kib(most)
print(f"peak memory: {few / 1024:.1f} MiB at 1e+06 rows, {many / 1024:.1f} MiB at {most:.0e} rows")
sys.exit(0 if many * 1024 < 300e6 and many < few * 1.1 + 16384 else 1)
