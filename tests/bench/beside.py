#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares two builds of the benchmark: what did a change cost?

Runs them alternately, so that the machine's other load affects both. Prints for each case the median over
rounds of new / old (of ns per row, in processor time), its minimum and maximum, and the ratio of the minimum
values. Usage: beside.py OLD NEW [--only TEXT]... [--rounds N]. OLD and NEW are bucketlab_bench of two builds,
both with link-time optimisation, as in a release.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile


def measure(program, only, folder):
    """The values of the runs of one round, by the name of the case."""
    path = pathlib.Path(folder) / "bench.json"
    subprocess.run([program, "--only", only, "--runs", "3", "--json", path], check=False, stdout=subprocess.DEVNULL)
    cases = json.loads(path.read_text(encoding="utf-8"))["cases"]
    return {case["name"]: case["runs"] for case in cases}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("old", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument("--only", action="append")
    parser.add_argument("--rounds", type=int, default=9)
    args = parser.parse_args()
    programs = [args.old.resolve(), args.new.resolve()]
    for only in args.only or ["exact-1e3"]:
        ratios, least = {}, {}
        with tempfile.TemporaryDirectory() as folder:
            for number in range(args.rounds):
                found = {}
                for which in (0, 1) if number % 2 == 0 else (1, 0):
                    found[which] = measure(programs[which], only, folder)
                for name in found[0]:
                    values = [found[which][name] for which in (0, 1)]
                    ratios.setdefault(name, []).append(min(values[1]) / min(values[0]))
                    least[name] = [min(least.get(name, [1e9, 1e9])[which], *values[which]) for which in (0, 1)]
        for name, all_of in ratios.items():
            old, new = least[name]
            print(f"{name}: {statistics.median(all_of):.3f} ({min(all_of):.3f} to {max(all_of):.3f}), "
                  f"least {old:.2f} and {new:.2f}: {new / old:.3f}", flush=True)


main()
