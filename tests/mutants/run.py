#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Adds mistakes to the code, and checks that `bucketlab fuzz` finds them.

Aim: to show that a campaign detects mistakes. Method: each patch in this folder adds one small mistake to the core,
the lab or the mock. The sources are copied, the patch is applied to the copy and the program is built. Then `fuzz
--seeds 1..N` must find a broken guarantee. Without a patch it must find none.

    run.py SOURCE_DIR BUILD_DIR [--seeds N] [--jobs N] [--timeout SECONDS] [--table] [--quick | --only NAME...]
    run.py SOURCE_DIR --apply        only checks that all patches apply to the sources

PROGRAMS names the test programs that run the mutants of the stream engine (stream-*) and of the mock's Paxos, hints,
answers and network (model-*). tests/lab/rates_test.py runs the mutants of rates (rate-*). `fuzz` runs the others.
The first word of a mutant's name selects the scenario:
    count-   protocols.yaml, which has every protocol
    key-     crash.yaml, whose rows are routed by key and whose agents crash
    evict-   evict.yaml, whose keys outnumber the cache's entries
    change-  changes.yaml, whose settings change
    lock-    lock.yaml, whose protocols use locks
    lines-, spans-  lines.yaml and spans.yaml, whose strategies have `max_age`
    loss-    paxos.yaml, whose replicas lose Paxos state again and again
    power-   protocols.yaml, where replicas lose Paxos state once a second
    range-   scenarios with range reads
    idgen-   scenarios with identifiers
--quick runs the six mutants of QUICK. The copy and its build stay in BUILD_DIR, so a second run is faster.

A patch begins with one sentence that describes the mistake. A line "class: NAME" names its class; without such
a line, the first word of the file's name is the class. If a mutant runs longer than --timeout, it counts as found
only if its patch has a line "hang: found". A mutant that ends with an assertion counts as found. --table writes the
results into README.md: it replaces the rows of the mutants that ran, keeps the other rows, and removes rows without
a patch.
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import time

# One mutant for each kind of mistake: an ignored state, a wrong outcome, a missing rule, a lost hint, a wrong count,
# and a number that is used twice.
QUICK = ["core-roll-while-waiting", "core-unknown-put-refused", "guarded-until-ignored", "mock-hint-dropped",
         "mock-quorum-one-short", "count-unknown-is-won"]
# The arguments of `fuzz` besides the seeds, by the first word of a mutant's name.
BASES = {"count": ["protocols.yaml"], "change": ["changes.yaml"], "evict": ["evict.yaml"],
         "lock": ["lock.yaml"], "lines": ["lines.yaml"], "spans": ["spans.yaml"], "loss": ["paxos.yaml"],
         "key": ["crash.yaml"],
         "power": ["protocols.yaml", "--set", "faults=[{random: {rate: 1/s, kinds: [paxos_loss]}}]"],
         "idgen": ["--set", "identifiers={think: 5ms}"],
         "range": ["--set", "reads={range: {span: 10s, age: 1s, rate: 2/s}}"]}
# This script finds mistakes that no single run shows: it counts what long runs draw.
RATES = "tests/lab/rates_test.py"
SOURCES = ["CMakeLists.txt", "cmake", "core", "sim", "reports", "docs"]
# The test program for each prefix. A program that finds the mutant prints "seed N: CHECK: ..." and ends with exit
# code 1.
PROGRAMS = {"stream-": "lab_stream_fuzz", "model-paxos-": "cassandra_paxos_model_test",
            "model-hint-": "cassandra_hints_model_test", "model-answer-": "cassandra_answers_model_test",
            "model-network-": "cassandra_network_model_test"}


HANGS = 124  # the exit code of a program that ran too long
TABLE = ("<!-- mutants -->", "<!-- /mutants -->")
HEAD = ["| fault | class | what is wrong | found by | oracle or check | seed |", "|---|---|---|---|---|---|"]


def run(command, timeout=None, **options):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=timeout, **options)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, HANGS, "", f"still running after {timeout} s")


def fail(text, output=""):
    print(output, end="")
    print(f"FAILED: {text}")
    sys.exit(1)


def program_of(name):
    """The target of the test program that must find the mutant; None: the program bucketlab."""
    return next((target for prefix, target in PROGRAMS.items() if name.startswith(prefix)), None)


def is_of_rates(name):
    return name.startswith("rate-")


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


def about(patch):
    """Returns the patch's sentence and class, and whether a hang counts as found."""
    lines = patch.read_text().split("\n--- ")[0].splitlines()
    named = next((line[7:].strip() for line in lines if line.startswith("class: ")), patch.stem.split("-")[0])
    return lines[0], named, "hang: found" in lines


def finder(name):
    """Returns the command as it appears in the table."""
    if is_of_rates(name):
        return "`rates_test.py`"
    return f"`{program_of(name) or ' '.join(['fuzz', *BASES.get(name.split('-')[0], [])])}`"


def write_table(readme, here, found):
    """found: (oracle, seed) by name."""
    text = readme.read_text()
    before, rest = text.split(TABLE[0], 1)
    old, after = rest.split(TABLE[1], 1)
    rows = {line.split("`")[1]: line for line in old.splitlines() if line.startswith("| `")}
    for name, (oracle, seed) in found.items():
        what, named, _ = about(here / f"{name}.patch")
        rows[name] = f"| `{name}` | {named} | {what} | {finder(name)} | {oracle} | {seed} |"
    rows = [rows[name] for name in sorted(rows) if (here / f"{name}.patch").exists()]
    readme.write_text(before + "\n".join([TABLE[0], *HEAD, *rows, TABLE[1]]) + after)


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
    """Returns the same values for a test program."""
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
    here = args.source / "tests" / "mutants"
    patches = sorted(here.glob("*.patch"))
    names = args.names or (QUICK if args.quick else [p.stem for p in patches])
    unknown = [n for n in names if not (here / f"{n}.patch").exists()]
    if unknown or not names:
        fail(f"no such mutant: {', '.join(unknown)}" if unknown else "no mutants")
    if args.apply:
        command = ["patch", "-p1", "--dry-run", "--force", "-i"]
        stale = [n for n in names if run([*command, (here / f"{n}.patch").resolve()], cwd=args.source).returncode != 0]
        if stale:
            fail(f"these do not apply; recreate them for the current code: {', '.join(stale)}")
        print(f"{len(names)} patches apply")
        return
    if args.build is None:
        parser.error("BUILD_DIR is missing")

    work = args.build.resolve()
    copy, folder, tests = work / "source", work / "build", work / "build-tests"
    copy.mkdir(parents=True, exist_ok=True)
    targets = {program_of(name) for name in names}
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
            fail(f"without any patch: exit code {code}, {failure} {text}")
    if has_tests:
        configure(copy, tests, True)
    for target in sorted(targets - {None}):
        build(tests, target)
        code, failure, text = seek([tests / "tests" / target, *seeds], work)
        if code != 0:
            fail(f"{target} without any patch: exit code {code}, {failure} {text}")
    print(f"{'unpatched':32} no broken guarantee in {args.seeds} seeds")
    alive, found = [], {}
    for name in names:
        patch = here / f"{name}.patch"
        result = run(["patch", "-p1", "--no-backup-if-mismatch", "-i", patch.resolve()], cwd=copy)
        if result.returncode != 0:
            fail(f"{name} does not apply; recreate it for the current code", result.stdout)
        target = program_of(name)
        build(tests if target else folder, target or "bucketlab")
        begin = time.monotonic()
        base = [here.resolve() / word if word.endswith(".yaml") else word
                for word in BASES.get(name.split("-")[0], [])]
        if target:
            code, failure, text = seek([tests / "tests" / target, *seeds], work, args.timeout)
        elif is_of_rates(name):
            code, failure, text = seek([sys.executable, args.source.resolve() / RATES, program], work, args.timeout)
        else:
            code, failure, text = fuzz(program, base, args.seeds, args.jobs, work, args.timeout)
        if code == HANGS and about(patch)[2]:
            failure = {"oracle": "hangs", "seed": "-"}
        if code < 0:  # an assertion of the program
            failure = {"oracle": "asserts", "seed": "-"}
        spent = time.monotonic() - begin
        if failure is not None:
            found[name] = failure["oracle"], failure["seed"]
            print(f"{name:32} {failure['oracle']:14} seed {failure['seed']:<5} {spent:5.1f} s")
        else:
            alive.append(name)
            print(f"{name:32} NOT FOUND               {spent:5.1f} s  (exit code {code}) {text.strip()[:200]}")
        sys.stdout.flush()
        copy_sources(args.source.resolve(), copy, has_tests)
    if args.table:
        write_table(here / "README.md", here, found)
    if alive:
        fail(f"{len(alive)} of {len(names)} mutants were not found: {', '.join(alive)}")
    print(f"{len(names)} mutants, all found")


if __name__ == "__main__":
    main()
