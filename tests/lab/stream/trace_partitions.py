#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts the partitions of `time` and `count` on a trace independently, and compares `bucketlab run --json`
with them.

Usage: trace_partitions.py BUCKETLAB TRACE.csv WINDOW_SECONDS ROWS. Independent of the program: the
dictionaries below are the whole algorithm.
"""
import collections
import csv
import json
import os
import subprocess
import sys
import tempfile

bucketlab, trace, window, rows = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
if not os.path.exists(trace):
    print(f"skipped: {trace} is not here")
    sys.exit(77)

lines = [(int(t), key, int(value)) for t, key, value in list(csv.reader(open(trace, encoding="utf-8")))[1:]]
by_time, by_count, seen = collections.Counter(), collections.Counter(), collections.Counter()
bytes_by_time, bytes_by_count = collections.Counter(), collections.Counter()
for t, key, size in lines:
    at, number = (key, t // (window * 1000)), (key, seen[key] // rows)
    by_time[at] += 1
    by_count[number] += 1
    bytes_by_time[at] += size
    bytes_by_count[number] += size
    seen[key] += 1
start, end = min(t for t, _, _ in lines), max(t for t, _, _ in lines)
closed_time = sorted(n for (_, bucket), n in by_time.items()
                     if start <= bucket * window * 1000 and (bucket + 1) * window * 1000 <= end)
closed_count = sorted(n for (key, bucket), n in by_count.items() if bucket < (seen[key] - 1) // rows)

with tempfile.TemporaryDirectory() as folder:
    scenario = os.path.join(folder, "trace.yaml")
    with open(scenario, "w", encoding="utf-8") as file:
        file.write(f"name: trace\ntrace: {{file: {os.path.abspath(trace)}}}\nrow: {{format: payload}}\nstrategies:\n"
                   f"  - time: {{window: {window}s}}\n  - count: {{rows: {rows}, counter: external}}\n")
    out = subprocess.run([bucketlab, "run", scenario, "--json", "--no-charts", "--quiet", "--db", folder + "/t.db"],
                         capture_output=True, text=True, check=True).stdout
got = {s["label"]: s["metrics"] for s in json.loads(out)["strategies"]}
assert json.loads(out)["rows"] == len(lines), "rows"
for label, sizes, closed, all_bytes in (("time", by_time, closed_time, bytes_by_time),
                                        ("count", by_count, closed_count, bytes_by_count)):
    want = {"partitions.total": len(sizes), "partitions.closed": len(closed),
            "partitions.open": len(sizes) - len(closed), "partitions.all.rows.max": max(sizes.values()),
            "partitions.all.rows.min": min(sizes.values()), "partitions.all.bytes.max": max(all_bytes.values()),
            "partitions.all.rows.p50": sorted(sizes.values())[(len(sizes) + 1) // 2 - 1]}
    if closed:
        want["partitions.closed.rows.min"] = closed[0]
        want["partitions.closed.rows.p50"] = closed[(len(closed) + 1) // 2 - 1]
        want["partitions.closed.rows.max"] = closed[-1]
    for name, value in want.items():
        assert got[label][name] == value, f"{label}.{name} is {got[label][name]}, not {value}"
print(f"{len(lines)} rows: {len(by_time)} time and {len(by_count)} count partitions, as counted by hand")
