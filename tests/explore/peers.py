#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares the speed of `bucketlab explore` with SPIN and Stateright on this machine.

Aim: the figures of docs/proof.md. Method: each explores a world of its own examples with one thread: SPIN its
leader election with 6 nodes, without its partial order, Stateright its two-phase commit with 7 participants, and
bucketlab a world of `guarded`. They take turns, so that all see the same load; what counts is processor time.

    peers.py PROGRAM FOLDER [TURNS]      with spin, gcc and cargo; FOLDER is for builds, and is kept
"""
import json
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys

LEADER = "/usr/share/doc/spin/examples/Examples/leader0.pml"
STATERIGHT = "0.30.2"


def build(folder):
    text = re.sub(r"#define N\t.*", "#define N 6", pathlib.Path(LEADER).read_text())
    (folder / "leader.pml").write_text(text)
    subprocess.run("spin -a leader.pml && gcc -O3 -DSAFETY -DNOREDUCE -o pan pan.c 2>spin.log", shell=True, cwd=folder,
                   check=True)
    crate = folder / f"stateright-{STATERIGHT}"
    if not crate.exists():  # its examples are part of the crate
        subprocess.run(["cargo", "init", "-q", "--name", "user", "user"], cwd=folder, check=True)
        subprocess.run(["cargo", "add", "-q", f"stateright@={STATERIGHT}"], cwd=folder / "user", check=True)
        subprocess.run(["cargo", "fetch", "-q"], cwd=folder / "user", check=True)
        source = next(pathlib.Path.home().glob(f".cargo/registry/src/*/stateright-{STATERIGHT}"))
        shutil.copytree(source, crate)
    subprocess.run(["cargo", "build", "-q", "--release", "--example", "2pc"], cwd=crate, check=True)
    return folder / "pan", crate / "target" / "release" / "examples" / "2pc"


def measure(command, count):
    """States, and seconds of processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run(command, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return count(out), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    turns = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    folder.mkdir(parents=True, exist_ok=True)
    pan, commit = build(folder.resolve())
    world = ["--agents", "3", "--rows", "3", "--fires", "2", "--reads", "1", "--seconds", "3", "--faults",
             "lost,late,unknown,crash,skew", "--states", "3000000", "--jobs", "1", "--memory", "64MiB"]
    rivals = {
        "SPIN": ([str(pan), "-m200000", "-w22"], lambda out: int(re.search(r"(\d+) states, stored", out)[1])),
        "Stateright": ([str(commit), "check", "7"], lambda out: int(re.findall(r"unique=(\d+)", out)[-1])),
        "bucketlab": ([program, "explore", "--quiet", "--json", "--protocol", "guarded"] + world,
                      lambda out: json.loads(out)["states"])}
    rates = {name: [] for name in rivals}
    for _ in range(turns):
        for name, (command, count) in rivals.items():
            states, seconds = measure(command, count)
            rates[name].append(states / seconds)
    for name, seen in rates.items():
        print(f"{name}: {statistics.median(seen):,.0f} states a second of processor time "
              f"({min(seen):,.0f} to {max(seen):,.0f})")


if __name__ == "__main__":
    main()
