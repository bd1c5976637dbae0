#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Adds mistakes to the code, and checks that a test finds them.

Aim: to show that the tests detect mistakes. Method: each record of the tables in this folder is one small mistake in
the core, the lab or the mock; README.md describes the records. The sources are copied, the text of the copy is
replaced and the program is built. Then `fuzz --seeds 1..N`, `judged` (the same with the judges of tests/lab/judges), or
the test that the record names, must fail. Without a mistake it must pass.

    run.py SOURCE_DIR BUILD_DIR [--seeds N] [--jobs N] [--timeout SECONDS] [--table] [--quick | --only NAME...]
    run.py SOURCE_DIR --apply        only checks that each old text occurs exactly once in its file

--quick runs the six mutants of QUICK. The copy and its build stay in BUILD_DIR, so a second run is faster. A mutant
that ends with an assertion counts as found. If a mutant runs longer than --timeout, it counts as found only if its
record says `found: hangs`. --table writes what the mutants that ran were found by into their records.
"""
import argparse
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

# One mutant for each kind of mistake: an ignored state, a wrong outcome, a missing rule, a lost hint, a wrong count,
# and a number that is used twice.
QUICK = ["core-roll-while-waiting", "core-unknown-put-refused", "guarded-until-ignored", "mock-hint-dropped",
         "mock-quorum-one-short", "count-unknown-is-won"]
# This script finds mistakes that no single run shows: it counts what long runs draw.
RATES = "rates_test.py"
# The program with the judges of tests/lab/judges, whose `fuzz` also finds what breaks no guarantee.
JUDGED = "bucketlab_judged"
SOURCES = ["CMakeLists.txt", "cmake", "core", "sim", "reports", "docs"]
HANGS = 124  # the exit code of a program that ran too long
RECORD = re.compile(r"^fault ([\w-]+)\n(.*)\n(?:run: (.*)\n)?(?:found: (.*)\n)?", re.M)


class Fault:
    """A record of a table: its name, the command that finds it, what it was found by, and the replacements."""

    def __init__(self, head, body):
        self.name, self.what, run, self.found = head.groups()
        self.command = shlex.split(run or "fuzz")
        self.changes = [change_of(piece) for piece in re.split(r"^in: ", body.rstrip("\n") + "\n", flags=re.M)[1:]]
        # The target of the test program that must find the mutant; None: the program bucketlab.
        self.target = {"fuzz": None, RATES: None, "judged": JUDGED}.get(self.command[0], self.command[0])


def change_of(piece):
    """Returns the file, the old text and the new text. Each line begins with its sign, or is empty."""
    file, *lines = piece.splitlines()
    old, new = ("".join(line[1:] + "\n" for line in lines if line[:1] != other) for other in "+-")
    return file, old, new


def faults_of(here):
    faults = []
    for table in sorted(here.glob("*.txt")):
        text = table.read_text()
        heads = list(RECORD.finditer(text))
        ends = [head.start() for head in heads[1:]] + [len(text)]
        faults += [Fault(head, text[head.end():end]) for head, end in zip(heads, ends)]
    return faults


def stale_of(fault, source):
    """Returns the first change of the fault that cannot be made, or None."""
    for file, old, new in fault.changes:
        text = (source / file).read_text() if (source / file).exists() else ""
        times = ("\n" + text).count("\n" + old)
        if times != 1 or old == new:
            return f"{fault.name}: its text is in {file} {times} times; copy the current lines"
    return None if fault.changes else f"{fault.name}: changes nothing"


def apply(fault, copy):
    for file, old, new in fault.changes:
        text = "\n" + (copy / file).read_text()
        (copy / file).write_text(text.replace("\n" + old, "\n" + new)[1:])


def run(command, timeout=None, **options):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=timeout, **options)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, HANGS, "", f"still running after {timeout} s")


def fail(text, output=""):
    print(output, end="")
    print(f"FAILED: {text}")
    sys.exit(1)


def copy_sources(source, copy, has_tests):
    """Copies only files that differ, so that the build is incremental."""
    wanted = set()
    for name in SOURCES + (["tests"] if has_tests else []):
        root = source / name
        files = [root] if root.is_file() else [f for f in root.rglob("*") if f.is_file()]
        for file in files:
            target = copy / file.relative_to(source)
            wanted.add(target)
            if not target.exists() or target.read_bytes() != file.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target)
    for file in [f for f in copy.rglob("*") if f.is_file()]:
        if file not in wanted:
            file.unlink()


def configure(copy, folder, has_tests):
    result = run(["cmake", "-S", copy, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                  f"-DBUCKETLAB_TESTS={'ON' if has_tests else 'OFF'}"] +
                 (["-DBUCKETLAB_LTO=OFF"] if has_tests else []))
    if result.returncode != 0:
        fail("the copy cannot be configured", result.stdout + result.stderr)


def build(folder, target="bucketlab"):
    result = run(["cmake", "--build", folder, "--target", target])
    if result.returncode != 0:
        fail("the copy does not build", result.stdout + result.stderr)


def write_found(here, found):
    """found: (oracle, seed) by name."""
    def write(record):
        name, what, command, old = record.groups()
        if name in found:
            old = found[name][0] + (f", seed {found[name][1]}" if found[name][1] else "")
        return "\n".join([f"fault {name}", what, *([f"run: {command}"] if command else []),
                          *([f"found: {old}"] if old else []), ""])

    for table in here.glob("*.txt"):
        table.write_text(RECORD.sub(write, table.read_text()))


def fuzz(program, base, seeds, jobs, work, timeout=None):
    """Returns the exit code, the first failure or None, and stderr. The campaign runs in growing pieces, each to its
    end, so that no failure is shrunk."""
    out, first, size = work / "out", 1, 10
    shutil.rmtree(out, ignore_errors=True)
    while first <= seeds:
        last = min(first + size - 1, seeds)
        result = run([program, "fuzz", *base, "--seeds", f"{first}..{last}", "--jobs", str(jobs), "--quiet", "--json",
                      "--keep-going", "--out", out], timeout, cwd=work)
        failures = json.loads(result.stdout)["failures"] if result.returncode == 1 and result.stdout else []
        if result.returncode != 0:
            return result.returncode, min(failures, key=lambda one: one["seed"], default=None), result.stderr
        first, size = last + 1, 3 * size
    return 0, None, ""


def seek(command, work, timeout=None):
    """Returns the same values for a test program, which prints "seed N: CHECK: ..." and ends with exit code 1."""
    result = run(command, timeout, cwd=work)
    found = re.search(r"seed (\d+): ([\w.-]+):", result.stdout + result.stderr)
    failure = {"oracle": found[2], "seed": int(found[1])} if found and result.returncode != 0 else None
    return result.returncode, failure, result.stderr


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path, nargs="?")
    parser.add_argument("--apply", action="store_true")
    parser.add_argument("--seeds", type=int, default=2000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=int, default=600)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", dest="names", nargs="+", default=[], metavar="NAME")
    args = parser.parse_args()
    here = args.source.resolve() / "tests" / "mutants"
    faults = {fault.name: fault for fault in faults_of(here) if args.apply or fault.command != ["vectors"]}
    names = args.names or (QUICK if args.quick else sorted(faults))
    unknown = [n for n in names if n not in faults]
    if unknown or not names:
        fail(f"no such mutant: {', '.join(unknown)}" if unknown else "no mutants")
    stale = [text for text in (stale_of(faults[n], args.source) for n in names) if text is not None]
    if stale:
        fail(f"{len(stale)} records do not apply", "".join(text + "\n" for text in stale))
    if args.apply:
        print(f"{len(names)} records apply")
        return
    if args.build is None:
        parser.error("BUILD_DIR is missing")

    work = args.build.resolve()
    copy, folder, tests = work / "source", work / "build", work / "build-tests"
    copy.mkdir(parents=True, exist_ok=True)
    targets = {faults[name].target for name in names}
    seeds = ["--seeds", f"1..{args.seeds}", "--jobs", str(args.jobs)]
    has_tests = targets != {None}
    copy_sources(args.source.resolve(), copy, has_tests)
    program = folder / "sim" / "cli" / "bucketlab"
    if None in targets:
        configure(copy, folder, False)
        build(folder)
        if not program.exists():
            program = folder / "bucketlab"
        code, failure, text = fuzz(program, [], args.seeds, args.jobs, work)
        if code != 0:
            fail(f"without any mutant: exit code {code}, {failure} {text}")
    if has_tests:
        configure(copy, tests, True)
    for target in sorted(targets - {None}):
        build(tests, target)
        if target == JUDGED:
            code, failure, text = fuzz(tests / "tests" / target, [], args.seeds, args.jobs, work)
        else:
            code, failure, text = seek([tests / "tests" / target, *seeds], work)
        if code != 0:
            fail(f"{target} without any mutant: exit code {code}, {failure} {text}")
    print(f"{'unchanged':32} no broken guarantee in {args.seeds} seeds")
    alive, found = [], {}
    for name in names:
        fault = faults[name]
        apply(fault, copy)
        build(tests if fault.target else folder, fault.target or "bucketlab")
        begin = time.monotonic()
        base = [here / word if word.endswith(".yaml") else word for word in fault.command[1:]]
        if fault.target == JUDGED:
            code, failure, text = fuzz(tests / "tests" / JUDGED, base, args.seeds, args.jobs, work, args.timeout)
        elif fault.target:
            code, failure, text = seek([tests / "tests" / fault.target, *base, *seeds], work, args.timeout)
        elif fault.command[0] == RATES:
            script = here.parent / "lab" / "cluster" / RATES
            code, failure, text = seek([sys.executable, script, program], work, args.timeout)
        else:
            code, failure, text = fuzz(program, base, args.seeds, args.jobs, work, args.timeout)
        if code == HANGS and fault.found == "hangs":
            failure = {"oracle": "hangs", "seed": None}
        if code < 0:  # an assertion of the program
            failure = {"oracle": "asserts", "seed": None}
        spent = time.monotonic() - begin
        if failure is not None:
            found[name] = failure["oracle"], failure["seed"]
            print(f"{name:32} {failure['oracle']:14} seed {failure['seed'] or '-':<5} {spent:5.1f} s")
        else:
            alive.append(name)
            print(f"{name:32} NOT FOUND               {spent:5.1f} s  (exit code {code}) {text.strip()[:200]}")
        sys.stdout.flush()
        copy_sources(args.source.resolve(), copy, has_tests)
    if args.table:
        write_found(here, found)
    if alive:
        fail(f"{len(alive)} of {len(names)} mutants were not found: {', '.join(alive)}")
    print(f"{len(names)} mutants, all found")


if __name__ == "__main__":
    main()
