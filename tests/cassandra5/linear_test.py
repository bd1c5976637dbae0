# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: the histories of concurrent LWTs in the mock and in a real node are linearizable, and linear.py
detects histories that are not; and the mock repeats a history from its seed. Method: histories made by hand; the
mock's campaigns under faults, printed by cassandra_linear_history; and each of these with an altered answer. The
seeds are fixed, so there is no chance of a false alarm. Usage: linear_test.py LINEAR_HISTORY FOLDER.
"""
import pathlib
import subprocess
import sys

import linear

CASES = [
    (True, ["0 1 2 NX 7 c0=0 => applied", "1 3 4 GET 7 cl=SERIAL => row c0=0"]),
    (True, ["0 1 4 NX 7 c0=0 => applied", "1 2 3 GET 7 cl=SERIAL => none"]),
    # A read that began after an update's answer sees the update.
    (False, ["0 1 2 NX 7 c0=0 => applied", "1 3 4 GET 7 cl=SERIAL => none"]),
    # An unknown outcome may take effect late or never, but cannot disappear afterwards.
    (True, ["0 1 2 NX 7 c0=0 => applied", "0 3 - CAS 7 c0=1 IF c0=0 => ?", "1 9 10 GET 7 => row c0=0"]),
    (True, ["0 1 2 NX 7 c0=0 => applied", "0 3 - CAS 7 c0=1 IF c0=0 => ?", "1 5 6 GET 7 => row c0=0",
            "1 9 10 GET 7 => row c0=1"]),
    (False, ["0 1 2 NX 7 c0=0 => applied", "0 3 4 CAS 7 c0=1 IF c0=0 => WRITE_TIMEOUT", "1 5 6 GET 7 => row c0=1",
             "1 9 10 GET 7 => row c0=0"]),
    # A refused update that took effect; an applied one that did not; two winners.
    (False, ["0 1 2 NX 7 c0=0 => applied", "0 3 4 CAS 7 c0=1 IF c0=0 => refused row c0=0", "1 5 6 GET 7 => row c0=1"]),
    (False, ["0 1 2 NX 7 c0=0 => applied", "0 3 4 CAS 7 c0=1 IF c0=0 => applied", "1 5 6 GET 7 => row c0=0"]),
    (False, ["0 1 2 NX 7 c0=0 => applied", "0 3 5 CAS 7 c0=1 IF c0=0 => applied",
             "1 4 6 CAS 7 c0=2 IF c0=0 => applied"]),
    # A refused update returns a row that was current, with its columns.
    (True, ["0 1 2 NX 7 c0=0 c1=5 => applied", "0 3 5 CAS 7 c0=1 IF c0=0 => applied",
            "1 4 6 CAS 7 c0=2 IF c0=0 => refused row c0=1"]),
    (False, ["0 1 2 NX 7 c0=0 => applied", "0 3 5 CAS 7 c0=1 IF c0=0 => applied",
             "1 6 7 CAS 7 c0=2 IF c0=5 => refused row c0=0"]),
    # Keys are independent.
    (True, ["0 1 2 NX 7 c0=0 => applied", "0 1 2 NX 8 c0=0 => applied"]),
]

for expected, lines in CASES:
    if (linear.check(lines) is None) != expected:
        sys.exit(f"FAILED: linearizable is to be {expected}: {lines}")
program, folder = sys.argv[1], pathlib.Path(sys.argv[2])


def history(paxos, seed):
    done = subprocess.run([program, paxos, str(seed)], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


operations, unknown, applied = 0, 0, 0
for paxos in ("v1", "v2"):
    for seed in range(1, 13):
        lines = history(paxos, seed)
        wrong = linear.check(lines)
        if wrong:
            sys.exit(f"FAILED: the mock, {paxos}, seed {seed}: {wrong}")
        operations += len(lines)
        unknown += sum(" - CAS" in line for line in lines)
        applied += sum(line.endswith("=> applied") for line in lines)
        last = max(i for i, line in enumerate(lines) if line.endswith("=> applied"))
        lines[last] = lines[last].replace("=> applied", "=> refused row c0=1000000")
        if linear.check(lines) is None:
            sys.exit(f"FAILED: the mock, {paxos}, seed {seed}: an answer was changed, and nobody sees it")
if unknown <= 200 or applied <= 1000:
    sys.exit(f"FAILED: only {applied} updates of the mock are applied, and {unknown} unknown")
if history("v1", 3) != history("v1", 3) or history("v1", 3) == history("v1", 4):
    sys.exit("FAILED: a history of the mock does not follow from its seed")
for file in sorted(folder.glob("linear-*.txt")):
    wrong = linear.check(file.read_text(encoding="utf-8").splitlines())
    if wrong:
        sys.exit(f"FAILED: {file.name}: {wrong}")
print(f"{len(CASES)} histories by hand, {operations} operations of the mock, {unknown} of them unknown")
