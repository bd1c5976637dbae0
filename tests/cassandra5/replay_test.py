#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The mock answers as a real Cassandra 5.0.4 did.

Aim: cassandra_replay reproduces each recorded file byte for byte. Method: the files in this folder, and those
in ../shared/cassandra5 if that folder exists; then altered answers, which must be detected, and bad lines,
which must be refused with the line and the remedy. Usage: replay_test.py CASSANDRA_REPLAY FOLDER...
"""
import pathlib
import subprocess
import sys

tool, folders = sys.argv[1], [pathlib.Path(word) for word in sys.argv[2:]]
HEAD = "S 1 plain base=1000\n"
failures = 0


def fail(text):
    global failures
    failures += 1
    print("FAILED", text)


def replay(words, data):
    done = subprocess.run([tool, *words], input=data.encode(), capture_output=True, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def words_of(name):
    variant = "v1" if "v1" in name else "v2"
    return [variant, "--down", "1"] if "down" in name else [variant]


for folder in folders:
    if not folder.is_dir():
        print(f"skipped: {folder} is not there, so its recordings are not replayed")
        continue
    files = sorted(file for file in folder.glob("*v[12]*.txt") if not file.name.startswith("linear-"))
    if not files:
        fail(f"{folder} has no recordings")
    for file in files:
        recorded = file.read_text(encoding="utf-8")
        code, out, error = replay(words_of(file.name), recorded)
        if code != 0 or out != recorded:
            pairs = zip(recorded.splitlines(), out.splitlines())
            first = next((f"{a} | {b}" for a, b in pairs if a != b), error.strip())
            fail(f"{file}: exit {code}; first difference, recorded | mock: {first}")
        print(f"{file}: {recorded.count(' => ')} answers")

# An altered answer is detected, and the mock's own answer is printed.
first = next(iter(sorted(folders[0].glob("v1.txt"))))
recorded = first.read_text(encoding="utf-8")
code, out, _ = replay(["v1", "-"], recorded.replace("=> applied", "=> refused none", 1))
if code != 1 or out != recorded:
    fail(f"an altered answer: exit {code}")

# Cases that the recordings lack: name and lines, each with the mock's answer.
GOOD = {
    "no time to live": "0 UPD 0 c0=1 ttl=0 => ok\n9000000000 GET 0 => row c0=1\n",
    "counted on after a delete": "0 ADD 0 5 => ok\n1 CDEL 0 => ok\n2 CNT 0 => none\n3 ADD 0 3 => ok\n"
                                 "4 CNT 0 => n=8\n",
    "added within the millisecond of its deletion":
        "0 CDEL 0 => ok\n1 CDEL 0 => ok\n2 ADD 0 3 => ok\n3 CNT 0 => n=3\n",
    "no static columns": "0 NW 0 n1=5@-1 => ok\n1 SIFEX 0 c0=1 => refused row\n2 SNX 0 c0=1 => applied\n"
                         "3 SNX 0 c0=2 => refused row c0=1\n4 SIFEX 0 c0=3 => applied\n"
                         "5 SGET 0 cl=SERIAL => row c0=3\n",
    "no marker of static columns": "0 SNX 0 c0=1 => applied\n1 SDEL 0 c0 => ok\n2 SGET 0 => none\n"
                                   "3 SNX 0 c0=2 => applied\n",
    "deleted range": "0 ROW 0 0 1 1 => ok\n1 ROW 0 0 4 1 => ok\n2 ROW 0 0 5 1 => ok\n3 DRANGE 0 0 1 5 => ok\n"
                     "4 ROWS 0 0 0 => rows=1\n5 ROW 0 0 4 2 => ok\n6 COUNT 0 0 => count=2 last=5:1\n",
    "deleted partition": "0 ROW 0 0 1 1 => ok\n1 DPART 0 0 => ok\n2 ROWS 0 0 0 => rows=0\n3 ROW 0 0 2 1 ts=1 => ok\n"
                         "4 ROWS 0 0 0 => rows=0\n5 ROW 0 0 2 1 => ok\n6 ROWS 0 0 1 => rows=1\n",
    "an older delete": "0 ROW 0 0 1 1 ts=10 => ok\n1 DROW 0 0 1 1 ts=9 => ok\n2 ROWS 0 0 0 => rows=1\n"
                       "3 DROW 0 0 1 1 ts=10 => ok\n4 ROWS 0 0 0 => rows=0\n",
    "a batch of many names": "0 NW 0 " + " ".join(f"n{i}={i}@-1" for i in range(-3, 17)) + " => ok\n1 NG 0 => row "
                             + " ".join(f"n{i}={i}@-1" for i in range(-3, 17)) + "\n",
    "a name twice in a batch": "0 NW 0 n1=5@-1 n1=6@-2 => ok\n1 NG 0 => row n1=5@-1\n",
    "a delete wins a tie": "0 INS 0 c0=1 c1=1 ts=5 => ok\n1 DELROW 0 ts=5 => ok\n2 GET 0 => none\n"
                           "3 UPD 0 c0=2 ts=6 => ok\n4 GET 0 => row c0=2\n",
    "an undecided commit, v1": "0 NX 0 c0=1 cl=THREE => UNAVAILABLE\n1 NX 0 c0=1 cl=THREE => UNAVAILABLE\n"
                               "2 NX 0 c0=1 => refused row c0=1\n",
    "marker alone": "0 INS 0 => ok\n1 GET 0 => row\n2 DELIFEX 0 => applied\n3 GET 0 => none\n4 NX 0 => applied\n",
    "comments, blank lines": "# a comment\n\n0 GET -7 => none\r\n",
    "no end of line": "0 GET 7 => none",
}
for name, lines in GOOD.items():
    code, out, error = replay(["v1" if name.endswith("v1") else "v2"], HEAD + lines)
    if code != 0 or out != HEAD + lines:
        fail(f"{name}: exit {code}: {error.strip()}\n{out}")

BAD = {
    "0 FOO 0 => ok": "unknown", "0 UPD 0 c6=1 => ok": "c0 to c5", "0 UPD 0 c0=x => ok": "whole number",
    "0 UPD 0 => ok": "no column", "0 ROW 0 0 1 => ok": "lacks a number", "GET 0 => ok": "no time",
    "0 GET 0": "no answer", "0 CAS 0 c0=1 => applied": "condition", "0 GET 0 cl=FOUR => none": "level",
    "0 GET 0 colour=1 => none": "README", "S 2 plain": "base=", "0 NW 0 n1@-2 => ok": "n1=5@-2",
}
for line, cure in BAD.items():
    code, _, error = replay(["v1"], HEAD + line + "\n")
    if code != 2 or ":2: " not in error or cure not in error or error.count("\n") != 1:
        fail(f"{line}: exit {code}: {error.strip()}")
for words in (["v3"], [], ["v1", "--down", "4"], ["v1", "/no/such/file"], ["v1", "-", "-"]):
    if replay(words, "")[0] != 2:
        fail(f"arguments {words}")
if replay(["v1"], "0 GET 0 => none\n")[0] != 2:
    fail("an operation before the first sequence")
sys.exit(1 if failures else 0)
