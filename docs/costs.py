#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints the costs of all strategies for one workload: the table "operations per 1000 rows" that the program
prints for scenarios/costs.yaml. docs/strategies.md has it between two markers.

usage: docs/costs.py [--write FILE | --check FILE] [BUCKETLAB]"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

import findings_harness
from findings_harness import ROOT, Failure

SCENARIO = "scenarios/costs.yaml"


def table(program, folder):
    """Returns the table and the lines that explain it. Checks the run's expectations, and stores the run in
    costs.db in the folder."""
    done = subprocess.run([os.path.abspath(program), "run", SCENARIO, "--quiet", "--no-charts", "--db",
                           os.path.join(folder, "costs.db")], cwd=ROOT, capture_output=True, text=True,
                          env={**os.environ, "NO_COLOR": "1"}, check=False)
    if done.returncode != 0:
        raise Failure(f"bucketlab run {SCENARIO}: {done.stderr.strip()}")
    found = re.search(r"^ +operations per 1000 rows .*?\n\n.*?(?=\n\n)", done.stdout, re.S | re.M)
    if found is None:
        raise Failure(f"bucketlab run {SCENARIO} prints no operations")
    return found.group()


def filled(page, text):
    """Returns the page with the table between its markers."""
    return findings_harness.filled(page, "costs", f"```\n{text}\n```")


def main():
    parser = argparse.ArgumentParser(prog="docs/costs.py", description=__doc__.split("\n\n", maxsplit=1)[0])
    to_do = parser.add_mutually_exclusive_group()
    to_do.add_argument("--write", metavar="FILE", help="put it between the markers of FILE")
    to_do.add_argument("--check", metavar="FILE", help="exit 1 when FILE shows another")
    parser.add_argument("bucketlab", nargs="?", default=os.path.join(ROOT, "build", "release", "bucketlab"))
    arguments = parser.parse_args()
    name = arguments.write or arguments.check
    try:
        with tempfile.TemporaryDirectory() as folder:
            text = table(arguments.bucketlab, folder)
        if name is None:
            print(text)
            return 0
        with open(name, encoding="utf-8") as file:
            old = file.read()
        new = filled(old, text)
        if arguments.check and new != old:
            raise Failure(f"{name} shows another table; docs/costs.py --write {name} updates it")
        if arguments.write:
            with open(name, "w", encoding="utf-8") as file:
                file.write(new)
    except (Failure, OSError) as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
