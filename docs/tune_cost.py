#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints the processor time of `tune` relative to that of one run.
With several programs, such as those of two commits, it measures them alternately. --all measures every scenario
that has rows and limits, with the number of its own strategies; the largest ratios come first.

usage: docs/tune_cost.py [--times N] [--only TEXT] [--all] [NAME=]BUCKETLAB..."""

import argparse
import glob
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile

from findings_harness import ROOT, Failure


class NothingToTune(Failure):
    """The scenario has no rows or no limits."""


CASES = [
    ("small-trace.yaml", "a trace of 5,243 rows", []),
    ("tweets.yaml", "a trace of 409,706 rows", []),
    ("tweets.yaml", "the same, 118 reads a row", ["reads.latest.rate=10/s"]),
    ("tune-sensors.yaml", "exact", []),
    ("server-logs-1-hour.yaml", "exact, no reads", []),
    ("observed.yaml", "exact", []),
    ("sweep.yaml", "exact", []),
    ("late-rows.yaml", "in the cluster", []),
    ("sensors.yaml", "1.3 x 10^8 rows, thinned", []),
    ("sensors.yaml", "1.3 x 10^9 rows, thinned", ["arrivals.rate=500/s"]),
    ("sensors.yaml", "1.3 x 10^9 rows, exact", ["arrivals.rate=500/s", "engine=exact"]),
]


def spent_s():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def call(program, command, scenario, settings):
    """Returns the processor time and the output; None if no setting is within the limits."""
    with tempfile.TemporaryDirectory() as folder:
        words = [
            program,
            command,
            os.path.join(ROOT, "scenarios", scenario),
            "--json",
            "--quiet",
            "--no-charts",
            "--jobs",
            "1",
            "--db",
            os.path.join(folder, "cost.db"),
        ]
        for setting in ["expect=[]", *settings]:
            words += ["--set", setting]
        begin = spent_s()
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        may_refuse = command == "tune"
        if done.returncode != 0 and not (may_refuse and done.returncode == 1):
            kind = NothingToTune if done.returncode == 2 else Failure
            raise kind(f"{' '.join(words)}: {done.stderr.strip()}")
        return spent_s() - begin, json.loads(done.stdout) if done.returncode == 0 else None


def row_of(programs, times, scenario, what, settings):
    cells = [f"{scenario}: {what}"]
    for program in programs:
        runs, tunes, answer = [], [], None
        for _ in range(times):
            runs.append(call(program, "run", scenario, settings)[0])
            spent, answer = call(program, "tune", scenario, settings)
            tunes.append(spent)
        ratio = statistics.median(tune / run for tune, run in zip(tunes, runs))
        cells += [
            f"{statistics.median(runs):.3g}",
            f"{statistics.median(tunes):.3g}",
            f"{ratio:.3g}",
            answer["recommended"]["label"] if answer else "none",
        ]
    return cells


def least(program, command, scenario, times):
    """The least processor time of some calls, and the output; a long one is made once."""
    found = [call(program, command, scenario, [])]
    while len(found) < times and found[0][0] < 1:
        found.append(call(program, command, scenario, []))
    return min(found, key=lambda pair: pair[0])


def all_rows(program, times, only):
    """The rows of --all."""
    rows = []
    for path in sorted(glob.glob(os.path.join(ROOT, "scenarios", "**", "*.yaml"), recursive=True)):
        name = os.path.relpath(path, os.path.join(ROOT, "scenarios"))
        try:
            if only not in name:
                continue
            tune, answer = least(program, "tune", name, times)
            run, result = least(program, "run", name, times)
        except NothingToTune:
            continue
        best = answer["recommended"]["label"] if answer else "none"
        cells = [name, str(len(result["strategies"])), f"{run:.3g}", f"{tune:.3g}", f"{tune / run:.3g}", best]
        rows.append((tune / run, cells))
        print(f"{name}: {tune / run:.3g}", file=sys.stderr, flush=True)
    return [cells for _, cells in sorted(rows, reverse=True)]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("programs", nargs="+")
    args = parser.parse_args()
    if args.all and len(args.programs) > 1:
        parser.error("--all measures one program")
    if args.all:
        print("| scenario | strategies | run, s | tune, s | times | recommended |\n|---|--:|--:|--:|--:|---|")
        for cells in all_rows(os.path.abspath(args.programs[0]), args.times, args.only):
            print("| " + " | ".join(cells) + " |")
        return
    named = [one.partition("=")[::2] if "=" in one else ("", one) for one in args.programs]
    head = ["scenario"]
    for name, _ in named:
        head += [f"run{' ' * bool(name)}{name}, s", "tune, s", "times", "recommended"]
    print("| " + " | ".join(head) + " |\n|---|" + "--:|--:|--:|---|" * len(named))
    for case in CASES:
        if args.only in ": ".join(case[:2]):
            cells = row_of([os.path.abspath(path) for _, path in named], args.times, *case)
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        sys.exit(f"docs/tune_cost.py: {failure}")
