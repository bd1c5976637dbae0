#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the table of docs/strategies.md and writes it between its markers: the medians of five seeds of each
scenario.

Usage: idgen.py BUCKETLAB SOURCE_FOLDER [--check]; --check writes nothing, and fails when the page has other
figures."""
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

bucketlab, source = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
PAGE = source / "docs" / "strategies.md"
BEGIN, END = "<!-- measured -->\n", "<!-- /measured -->"
# Scenario, label, description, and what MetaBroadcast claims about it.
ROWS = [
    ("stripes", "plain", "1 lock of columns", "about 30,000"),
    ("stripes", "striped", "5 stripes", "about 100,000"),
    ("stripes", "plain-lwt", "1 lock by LWT", ""),
    ("stripes", "striped-lwt", "5 stripes by LWT", ""),
    ("backoff", "random", "1 lock, back-off random", "separates contenders"),
    ("backoff", "constant", "1 lock, back-off constant", "stays in step"),
    ("backoff", "exponential", "1 lock, back-off exponential", "stays in step"),
    ("backoff", "exponential-capped", "the same, no wait above 1 s", ""),
]


def measure(name):
    found = {}
    for seed in range(1, 6):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [bucketlab, "run", source / "scenarios" / f"idgen-{name}.yaml", "--seed", str(seed), "--json",
                 "--quiet", "--no-charts", "--set", "expect=[]", "--db", pathlib.Path(folder) / "x.db"],
                capture_output=True, text=True, check=True)
        for strategy in json.loads(done.stdout)["strategies"]:
            found.setdefault(strategy["label"], []).append(strategy["metrics"])
    return found


def main():
    found = {name: measure(name) for name in ("stripes", "backoff")}
    lines = ["| what | ids/s, median of 5 seeds | from - to | attempts per lock | fewest per client "
             "| given twice | the claim |\n",
             "|---|---|---|---|---|---|---|\n"]
    for name, label, what, claim in ROWS:
        runs = found[name][label]
        rates = sorted(round(run["ids.per_second"]) for run in runs)
        tried = statistics.median(run["locks.tried"] / max(run["locks.acquired"], 1) for run in runs)
        least = min(round(run["ids.client_least"]) for run in runs)
        twice = sum(round(run["oracle.unique.violations"]) for run in runs)
        lines.append(f"| {what} | {statistics.median(rates):,} | {rates[0]:,} - {rates[-1]:,} | {tried:.1f} "
                     f"| {least:,} | {twice} | {claim} |\n")
    text = PAGE.read_text(encoding="utf-8")
    head, rest = text.split(BEGIN)
    fresh = head + BEGIN + "".join(lines) + END + rest.split(END, 1)[1]
    if "--check" in sys.argv:
        sys.exit(0 if fresh == text else "docs/strategies.md is not what this program measures; run docs/idgen.py")
    PAGE.write_text(fresh, encoding="utf-8")


main()
