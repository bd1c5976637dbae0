#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Explores the protocols with each seeded fault of tests/mutants that is in their code.

Aim: what `explore` alone finds of them. Method: the one changed file is compiled and linked instead of the
original; then the worlds of worlds.py, smallest first, run until a guarantee breaks that docs/proof.json says holds,
or the core refuses a call, or an operation never ends.

    faults.py SOURCE_DIR BUILD_DIR [--only NAME...] [--seconds N]      N: the most for a fault (default 30)
"""
import json
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

import worlds

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "mutants"))
import run as mutants  # noqa: E402

FILES = ("protocol", "counted")


def link_with(build, source, folder):
    """Builds the program with one file of the core replaced, and returns its path."""
    commands = subprocess.run(["ninja", "-C", build, "-t", "commands", "bucketlab"], capture_output=True, text=True,
                              check=True).stdout.splitlines()
    name = pathlib.Path(source).name
    compile_line = next(c for c in commands if f"core/src/{name}" in c and " -c " in c)
    words = shlex.split(compile_line)
    words[words.index("-c") + 1] = source
    words[words.index("-o") + 1] = f"{folder}/changed.o"
    for option in ("-MF", "-MT"):
        at = words.index(option)
        del words[at:at + 2]
    words.remove("-MD")
    words.append(f"-I{build.parent.parent}/core/src")
    if subprocess.run(words, cwd=build, capture_output=True).returncode != 0:
        return None
    link = shlex.split(commands[-1].split("&&")[1])
    link[link.index("-o") + 1] = f"{folder}/bucketlab"
    link.insert(link.index("-o"), f"{folder}/changed.o")
    if subprocess.run(link + ["-Wl,--allow-multiple-definition"], cwd=build, capture_output=True).returncode != 0:
        return None
    return f"{folder}/bucketlab"


def find(program, record, seconds):
    """Returns the guarantee that breaks, and its steps; or None."""
    end = time.monotonic() + seconds
    for world in sorted(worlds.worlds(), key=lambda w: record[worlds.key(w)]["states"]):
        command = worlds.command_of(program, world) + ["--json", "--states", "3000000", "--memory", "64MiB"]
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=max(1, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            return None
        if run.returncode not in (0, 1) or not run.stdout:
            return "refused", 0
        answer = json.loads(run.stdout)
        holds = record[worlds.key(world)]["holds"]
        broken = [(g["steps"], g["name"]) for g in answer["guarantees"] if not g["holds"] and g["name"] in holds]
        if broken:
            return min(broken)[1], min(broken)[0]
        never = [s["name"] for s in answer["sometimes"] if not s["reached"]]
        if set(never) - set(record[worlds.key(world)]["never"]):
            return never[0], 0
    return None


def main():
    source, build = (pathlib.Path(name).resolve() for name in sys.argv[1:3])
    seconds = float(sys.argv[sys.argv.index("--seconds") + 1]) if "--seconds" in sys.argv else 30
    only = sys.argv[sys.argv.index("--only") + 1:] if "--only" in sys.argv else []
    record = json.loads(worlds.RECORD.read_text())
    found, missed = {}, []
    for fault in mutants.faults_of(source / "tests" / "mutants"):
        files = {change[0] for change in fault.changes}
        file = next(iter(files))
        if len(files) != 1 or not file.startswith("core/src/") or not pathlib.Path(file).name.startswith(FILES):
            continue
        if file.endswith(".h") or (only and fault.name not in only):
            continue
        with tempfile.TemporaryDirectory(prefix="bucketlab-test-") as folder:
            text = (source / file).read_text()
            for _, old, new in fault.changes:
                text = text.replace(old, new)
            changed = pathlib.Path(folder) / pathlib.Path(file).name
            changed.write_text(text)
            program = link_with(build, str(changed), folder)
            if program is None:
                print(f"{fault.name}: does not build alone, and does not count", flush=True)
                continue
            how = find(program, record, seconds)
        print(f"{fault.name}: {how[0] + ', ' + str(how[1]) + ' steps' if how else 'NOT FOUND'}", flush=True)
        if how:
            found[fault.name] = how[1]
        else:
            missed.append(fault.name)
    steps = [n for n in found.values() if n > 0]
    median = statistics.median(steps) if steps else "-"
    print(f"{len(found)} of {len(found) + len(missed)} found; median {median} steps")


if __name__ == "__main__":
    main()
