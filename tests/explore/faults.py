#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Explores the protocols with each seeded fault of tests/mutants that is in their code.

Aim: what `explore` alone finds of them. Method: the one changed file is compiled and linked instead of the
original; then the small worlds of worlds.py that run the file are explored, smallest first, until a guarantee
breaks that docs/proof.json says holds, or the core refuses a call, or something that occurred in some state
never does. A fault that only changes the number of states, which worlds.py compares too, counts separately.

    faults.py SOURCE_DIR BUILD_DIR [--write] [--seconds N] [--only NAME...]      N: the most for a fault (default 30)

--write records the result in docs/proof_faults.json, of which docs/proof.py makes a table; with --only, the others
stay as they were recorded.
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

FILES = "core/src/protocol"
RECORD = worlds.RECORD.with_name("proof_faults.json")
# Why no schedule of a small world shows a fault.
CONTENDED = "It needs 64 lost races in a row, more than the few rows of a world can cause."
ONE_KEY = "The only key of a world is never evicted from the cache."
REASONS = {
    "then-fires-newest": "`--then` changes the threshold, not which rows fire.",
    "read-window-stays-empty": "No strategy of a world has windows, so agents remember no empty ones.",
    "steps-memory-gives-up": ONE_KEY,
    "evict-cold-by-time": ONE_KEY,
    "vector-protocol-5": "Only the loss of a state leaves one without some columns, and a conditional update "
                         "that follows writes all of them anyway.",
    "vector-counted-13": CONTENDED,
    "vector-guarded-3": "The reads of a world are of the newest rows, not of a range.",
    "vector-guarded-4": "It needs two buckets with the same start, and starts ascend.",
    "vector-guarded-7": "A request whose outcome stays unknown takes a second or more, longer than any other "
                        "wait before a retry.",
    "vector-guarded-12": CONTENDED,
    "vector-memory-3": CONTENDED,
    "vector-sum-3": "Rows are counted by their number; a world has no intervals (`every_ns`).",
}


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
    words.append("-Wno-error")
    words.append(f"-I{build.parent.parent}/core/src")
    if subprocess.run(words, cwd=build, capture_output=True).returncode != 0:
        return None
    link = shlex.split(commands[-1].split("&&")[1])
    link[link.index("-o") + 1] = f"{folder}/bucketlab"
    link.insert(link.index("-o"), f"{folder}/changed.o")
    if subprocess.run(link + ["-Wl,--allow-multiple-definition"], cwd=build, capture_output=True).returncode != 0:
        return None
    return f"{folder}/bucketlab"


def concerns(fault_file, world):
    """Whether a world runs the code of a file: guarded and count have files of their own."""
    own = {"guarded": ["guarded"], "memory": ["memory"], "number": ["counter", "lwt", "lease"],
           "sum": ["incremental", "scan"]}.get(pathlib.Path(fault_file).stem.removeprefix("protocol_"))
    protocol = world[0].split(", ")[-1]
    if fault_file.endswith("counted.c"):
        return protocol in ("single", "locked", "three-state")
    return own is None or protocol in own


def find(program, file, record, seconds, first):
    """Returns what showed the fault, its steps, and the world; or None. A guarantee that breaks, an operation with more
    requests than any in the record, or a rare event that never occurs, ends the search; another number of states
    counts if nothing else is found. The world `first` is explored first."""
    end, other = time.monotonic() + seconds, None
    worlds_first = sorted(worlds.worlds(), key=lambda w: (worlds.key(w) != first, record[worlds.key(w)]["states"]))
    for world in worlds_first:
        name = worlds.key(world)
        if not concerns(file, world) or (record[name]["states"] > worlds.FEW and name != first):
            continue
        command = worlds.command_of(program, world) + ["--json", "--states", "2000000", "--memory", "32MiB"]
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=max(0.1, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            break
        if run.returncode not in (0, 1) or not run.stdout:
            return "the core refuses a call", None, name
        answer = json.loads(run.stdout)
        broken = [(g["steps"], g["name"]) for g in answer["guarantees"]
                  if not g["holds"] and g["name"] in record[name]["holds"]]
        if broken:
            return min(broken)[1], min(broken)[0], name
        if answer["requests"] > record[name]["requests"]:
            return "more requests", None, name
        never = [s["name"] for s in answer["sometimes"] if not s["reached"]]
        if set(never) - set(record[name]["never"]):
            return f"never: {never[0]}", None, name
        if other is None and any(answer[what] != record[name][what] for what in ("states", "transitions")):
            other = "other states", None, name
        elif other is None and answer["request_digest"] != record[name]["request_digest"]:
            other = "other requests", None, name
    return other


def protocol_faults(source):
    """The faults of the protocols: those of a file whose name begins with FILES."""
    for fault in mutants.faults_of(source / "tests" / "mutants"):
        file = fault.changes[0][0]
        if len(fault.changes) == sum(change[0] == file for change in fault.changes) and file.startswith(FILES):
            if file.endswith(".c"):
                yield fault, file


def main():
    source, build = (pathlib.Path(name).resolve() for name in sys.argv[1:3])
    seconds = float(sys.argv[sys.argv.index("--seconds") + 1]) if "--seconds" in sys.argv else 30
    only = sys.argv[sys.argv.index("--only") + 1:] if "--only" in sys.argv else []
    record = json.loads(worlds.RECORD.read_text())
    known = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    found = dict(known) if only else {}
    for fault, file in protocol_faults(source):
        if only and fault.name not in only:
            continue
        with tempfile.TemporaryDirectory(prefix="bucketlab-test-") as folder:
            text = (source / file).read_text()
            for _, old, new in fault.changes:
                text = text.replace(old, new)
            changed = pathlib.Path(folder) / pathlib.Path(file).name
            changed.write_text(text)
            program = link_with(build, str(changed), folder)
            assert program is not None, f"{fault.name} does not build"
            how = find(program, file, record, seconds, known.get(fault.name, {}).get("world"))
        found[fault.name] = {"what": fault.what, "file": pathlib.Path(file).name, "found": how and how[0],
                             "steps": how and how[1], "world": how and how[2]}
        if how is None:
            found[fault.name]["why_not"] = REASONS[fault.name]
        print(f"{fault.name}: {how or 'NOT FOUND'}", flush=True)
    if "--write" in sys.argv:
        RECORD.write_text(json.dumps(found, indent=1) + "\n")
    ways = [fault["found"] for fault in found.values()]
    steps = [fault["steps"] for fault in found.values() if fault["steps"]]
    print(f"{len(ways) - ways.count(None)} of {len(ways)} found, {ways.count('other states')} of them by the number of "
          f"states only; median {statistics.median(steps) if steps else '-'} steps")


if __name__ == "__main__":
    main()
