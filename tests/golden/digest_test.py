#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""One seed, one digest: every line of digests.txt is run and must give its digest.

The same file is compared with gcc and clang, -O0, -O1 and -O3, one thread and two, so equal digests are equal
everywhere; machines.py compares it on other machines. Every scenario must be listed in shipped.txt, which
that script runs. The lines run with one thread and with two alternately; with --both, and before a digest is
written, each line runs with both. Usage: digest_test.py BUCKETLAB SOURCE_FOLDER [--both] [--write]; --write
stores the digests of this build: only for a change that is intended to change digests, and says so in
CHANGELOG.md.
"""
import json
import os
import pathlib
import subprocess
import sys

bucketlab, source = os.path.abspath(sys.argv[1]), sys.argv[2]
golden = os.path.join(source, "tests/golden/digests.txt")


def digest_of(words, jobs):
    done = subprocess.run([bucketlab, "run", *words, "--json", "--no-charts", "--no-store", "--quiet",
                           "--jobs", str(jobs)], cwd=source, capture_output=True, text=True, check=False)
    if not done.stdout:
        sys.exit(f"{' '.join(words)}: {done.stderr.strip()}")
    return json.loads(done.stdout)["digest"]


failures, out, turn = 0, [], 0
is_both = "--both" in sys.argv or "--write" in sys.argv
with open(golden, encoding="utf-8") as file:
    lines = file.read().splitlines()
for line in lines:
    if not line or line.startswith("#"):
        out.append(line)
        continue
    expected, *words = line.split()
    turn += 1
    digests = {digest_of(words, jobs) for jobs in ((1, 2) if is_both else (1 + turn % 2,))}
    out.append(f"{sorted(digests)[0]} {' '.join(words)}")
    if digests != {expected}:
        failures += 1
        print(f"FAILED {' '.join(words)}: {' and '.join(sorted(digests))}, not {expected}")
with open(os.path.join(source, "tests/golden/shipped.txt"), encoding="utf-8") as file:
    kept = set(file.read().split())
for path in sorted(pathlib.Path(source, "scenarios").rglob("*.yaml")):
    if (name := path.relative_to(source).as_posix()) not in kept:
        failures += 1
        print(f"FAILED {name}: not in shipped.txt; add '0 {name}' there and run machines.py --write")
if "--write" in sys.argv:
    with open(golden, "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n")
    sys.exit(0)
sys.exit(1 if failures else 0)
