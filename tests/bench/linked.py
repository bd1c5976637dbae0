#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cost of position-independent code and of the shared library: linked.c with the core linked in three
ways.

  linked.py [--rounds N] [--cc COMPILER]

Compiles the core at a fixed address, position-independent as it is shipped, and as a shared library, with the
flags of a release. Prints for each case the minimum ns of N rounds, and the medians of the ratios to the
first way.
"""
import argparse
import pathlib
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "core/src").glob("*.c"))
FLAGS = ["-std=c17", "-O3", "-DNDEBUG", "-ffp-contract=off", "-fno-strict-overflow", f"-I{ROOT / 'core/include'}"]
SHIPPED = ["-fPIC", "-fvisibility=hidden", "-fno-semantic-interposition"]
WAYS = {"fixed address": ["-fno-pie"], "static, as shipped": SHIPPED, "shared library": SHIPPED}


def build(cc, way, flags, folder):
    folder.mkdir()
    subprocess.run([cc, *FLAGS, *flags, "-c", *SOURCES], cwd=folder, check=True)
    objects = sorted(folder.glob("*.o"))
    if way == "shared library":
        subprocess.run([cc, "-shared", "-Wl,-Bsymbolic-functions", *objects, "-o", "libbucketing.so"], cwd=folder,
                       check=True)
        objects = [folder / "libbucketing.so", f"-Wl,-rpath,{folder}"]
    own = ["-fno-pie", "-no-pie"] if way == "fixed address" else ["-fPIE", "-pie"]
    subprocess.run([cc, *FLAGS, *own, ROOT / "tests/bench/linked.c", *objects, "-o", folder / "linked"], check=True)
    return folder / "linked"


def measure(program):
    lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    return {name: float(ns) for name, ns in (line.split("\t") for line in lines)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--cc", default="cc")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        programs = {way: build(arguments.cc, way, flags, pathlib.Path(name) / str(number))
                    for number, (way, flags) in enumerate(WAYS.items())}
        rounds = [{way: measure(program) for way, program in programs.items()} for _ in range(arguments.rounds)]
    first, *others = WAYS
    print(f"| ns | {first} | " + " | ".join(f"{way} | times" for way in others) + " |")
    print("|---|--:|" + "--:|--:|" * len(others))
    for case in rounds[0][first]:
        cells = [f"{min(found[first][case] for found in rounds):.3g}"]
        for way in others:
            ratio = statistics.median(found[way][case] / found[first][case] for found in rounds)
            cells += [f"{min(found[way][case] for found in rounds):.3g}", f"{ratio:.2f}"]
        print(f"| {case} | " + " | ".join(cells) + " |")


main()
