#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the branch coverage of the tests: builds the preset `coverage`, runs the tests in it, and counts
by gcovr.

  coverage.py [--report] [--jobs N] [--missing FOLDER] [arguments for ctest]
                     --report: evaluates the former run again; --missing: also lists each file of FOLDER and its lines

The failing branch of an assertion does not count, and a line with GCOVR_EXCL_BR_LINE gives a reason. The
table has a line per folder. Exit codes: 0 the bounds below are kept, 1 they are not or a test failed, 3 it
does not build, 77 gcovr is missing.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "build/coverage"
BOUNDS = {"core": 100.0, "sim": 90.0}
EXCLUDED = "^(slow|repository|screen)$"
ASSERTION = r"^\s*(assert|static_assert|_Static_assert)\("


def build_and_test(jobs, words):
    log = BUILD.with_suffix(".log")
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "w", encoding="utf-8") as file:
        for words_of_step in (["--preset"], ["--build", "-j", jobs, "--preset"]):
            step = ["cmake", *words_of_step, "coverage"]
            if subprocess.run(step, cwd=ROOT, stdout=file, stderr=file, check=False).returncode != 0:
                print(f"it does not build; see {log}", file=sys.stderr)
                return 3
    # Counts of an older build would be added, or would not fit.
    for counts in BUILD.rglob("*.gcda"):
        counts.unlink()
    done = subprocess.run(["ctest", "--test-dir", BUILD, "-LE", EXCLUDED, "-j", jobs, "--output-on-failure", *words],
                          cwd=ROOT, check=False)
    return 1 if done.returncode != 0 else 0


def count():
    """File -> (branches, taken)."""
    # The manual's generator is a tool of the build. A count that gcov derives may be negative where a test
    # ends the program in the middle of a function; such a line is left out.
    done = subprocess.run(["gcovr", "--root", ROOT, "--filter", "core/src/", "--filter", "sim/",
                           "--exclude", "sim/cli/manual/", "--exclude-branches-by-pattern", ASSERTION,
                           "--gcov-ignore-parse-errors", "--json", "-", "--object-directory", BUILD, BUILD],
                          cwd=ROOT, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr.strip()[-500:])
    files = {}
    for file in json.loads(done.stdout)["files"]:
        lines = {}
        for line in file["lines"]:
            branches = line["branches"]
            lines[line["line_number"]] = (len(branches), sum(branch["count"] > 0 for branch in branches))
        files[file["file"]] = lines
    return files


def totals(files):
    pairs = [pair for lines in files.values() for pair in lines.values()]
    return sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)


def show(name, files):
    all_of_them, taken = totals(files)
    percent = 100.0 * taken / all_of_them if all_of_them else 0.0
    print(f"{name:<40}{taken:>8}{all_of_them:>10}{percent:>8.1f} %")
    return percent


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--jobs", default=str(os.cpu_count()))
    parser.add_argument("--missing", action="append", default=[])
    options, words = parser.parse_known_args()
    if shutil.which("gcovr") is None:
        print("no gcovr: ./setup.sh test")
        return 77
    code = 0 if options.report else build_and_test(options.jobs, words)
    if code == 3:
        return code
    files = count()
    print(f"{'branches of':<40}{'taken':>8}{'all':>10}")
    folders = sorted({str(pathlib.PurePath(name).parent) for name in files})
    for folder in folders:
        inside = {name: lines for name, lines in files.items() if str(pathlib.PurePath(name).parent) == folder}
        show(folder, inside)
        for name, lines in inside.items() if folder in options.missing else ():
            missed = [str(number) for number, (every, taken) in sorted(lines.items()) if taken < every]
            if missed:
                show(f"  {pathlib.PurePath(name).name}", {name: lines})
                print(f"    {' '.join(missed)}")
    for part, bound in BOUNDS.items():
        percent = show(f"{part}, of which {bound:g} % must be taken",
                       {name: lines for name, lines in files.items() if name.startswith(f"{part}/")})
        code = code or percent < bound
    return int(code)


sys.exit(main())
