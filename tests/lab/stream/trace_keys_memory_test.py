#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A trace of many keys fits into memory: with 100,000 keys of one or two rows, both engines need at most a
given number of bytes per key, and they see every key.

Usage: trace_keys_memory_test.py BUCKETLAB.
"""
import json
import os
import resource
import subprocess
import sys
import tempfile

bucketlab = os.path.abspath(sys.argv[1])
KEYS = 100000
STRATEGIES = """strategies:
  - unbucketed: {}
  - time: {window: 5m}
  - probabilistic: {bits: 5, threshold: 40}
  - hash: {buckets: 64}
"""
# Bytes per key in total: names, shares, rows, and in the cluster each strategy's data; with a small reserve.
CASES = [("stream", STRATEGIES, 280), ("cluster", "agents: {count: 4}\nstrategies: [unbucketed: {}]\n", 3000)]


def run(folder, text):
    """Peak memory in bytes, and the rows."""
    with open(folder + "/keys.yaml", "w", encoding="utf-8") as file:
        file.write("trace: {file: keys.csv}\n" + text)
    if os.fork() == 0:
        result = subprocess.run([bucketlab, "run", folder + "/keys.yaml", "--no-charts", "--quiet", "--json", "--jobs",
                                 "1", "--db", folder + "/m.db"], stdout=subprocess.PIPE, check=True)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        found = json.loads(result.stdout)
        with open(folder + "/peak", "w", encoding="utf-8") as file:
            file.write(f"{peak} {found['rows']} {int(found['strategies'][0]['metrics']['partitions.total'])}")
        os._exit(0)
    if os.wait()[1] != 0:
        sys.exit("the run failed")
    with open(folder + "/peak", encoding="utf-8") as file:
        return map(int, file.read().split())


failed = False
with tempfile.TemporaryDirectory() as folder:
    with open(folder + "/keys.csv", "w", encoding="utf-8") as file:
        file.write("timestamp_ms,key,bytes\n")
        for i in range(KEYS * 3 // 2):
            file.write(f"{1767225600000 + i // 2},user-{i * 7919 % KEYS},{100 + i % 900}\n")
    for name, text, most in CASES:
        peak, rows, keys = run(folder, text)
        print(f"{name}: {keys} keys, {rows} rows, {peak / keys:.0f} bytes a key at the peak")
        failed = failed or keys != KEYS or rows != KEYS * 3 // 2 or peak > most * KEYS
sys.exit(1 if failed else 0)
