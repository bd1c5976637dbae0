#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The benchmark works: every case can be measured, and its figures are in the table and in the JSON. The test
does not judge the speed.

Usage: bench_test.py BENCH BUCKETLAB
"""
import json
import os
import re
import subprocess
import sys
import tempfile

bench, program = (os.path.abspath(name) for name in sys.argv[1:3])
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def measured(folder, *options):
    path = os.path.join(folder, "bench.json")
    done = subprocess.run([bench, "--quick", "--json", path, "--program", program, "--source", SOURCE, *options],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}{done.stderr}"
    with open(path, encoding="utf-8") as file:
        return done.stdout, json.load(file)


def check_case(case, table):
    name = case["name"]
    assert "failure" not in case, f"{name}: {case['failure']}"
    spread = case["value"]
    assert 0 < spread["least"] <= spread["median"] <= spread["most"], f"{name}: {spread}"
    assert len(case["runs"]) == 1, f"{name}: {case['runs']}"
    assert (case["ratio"] is None) == (case["ratio_is"] is None), f"{name}: {case['ratio']}"
    assert 500 < case["peak_kib"] < 4e6, f"{name}: {case['peak_kib']} KiB"
    assert ("kept" in case) == ("budget" in case), name
    assert f"  {case['title']} " in table, f"{name}: the table has no line '{case['title']}'"


def main():
    with tempfile.TemporaryDirectory() as folder:
        table, figures = measured(folder, "--set", "all")
        _, usual = measured(folder, "--only", "exact-")
    cases = figures["cases"]
    for case in cases:
        check_case(case, table)
    names = [case["name"] for case in cases]
    assert len(set(names)) == len(names), "a name stands twice"
    wanted = {"exact", "thinned", "cluster", "queue", "threads", "memory", "program", "growth"}
    assert wanted <= {name.split("-")[0] for name in names}, names
    with open(os.path.join(SOURCE, "tests", "bench", "cases.c"), encoding="utf-8") as file:
        points = re.findall(r"^ +[A-Z]+_POINT\(", file.read(), re.M)
    assert len(points) == sum("curve" in case for case in cases) > 40, len(points)
    assert sum("budget" in case for case in cases) >= 15, "budgets are missing"
    assert {case["name"].split("-")[0] for case in usual["cases"]} == {"exact"}, "--only lets others through"
    assert figures["quick"] is True and figures["machine"]["processors"] >= 1
    long_lines = [line for line in table.splitlines() if len(line) > 80 and "json" not in line]
    assert not long_lines, "\n".join(long_lines)
    bad = subprocess.run([bench, "--set", "none"], capture_output=True, text=True, check=False)
    assert bad.returncode == 2 and "usage" in bad.stderr, bad
    print(f"{len(cases)} cases")


main()
