#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fuzzes the program's readers: scenarios, traces, the output of Cassandra's tools, expectations.

    cmake --preset fuzz && cmake --build --preset fuzz
    tests/fuzzing/fuzz.py build/fuzz [TARGET...] [--runs 10000000] [--keep]

The build unpacks tests/fuzzing/corpus/TARGET.tar into BUILD/tests/corpus/TARGET. New inputs of libFuzzer stay in
BUILD/fuzzing/TARGET, where the next call continues; --keep adds those that cover more to the corpus, the smallest
first, and packs it. An input that breaks a target stays in BUILD/fuzzing, and its name is printed: move it into
BUILD/tests/corpus/TARGET under a name that says what broke, and pack it together with the fix (--runs 0 --keep).
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tarfile

HERE = pathlib.Path(__file__).resolve().parent
# The targets, and the longest input of each.
TARGETS = {"scenario": 4096, "trace": 4096, "observed": 4096, "expect": 256}
SEEDS = {"scenario": [HERE.parents[1] / "scenarios"]}


def pack(folder, archive):
    """Equal inputs give equal archives."""
    with tarfile.open(archive, "w", format=tarfile.USTAR_FORMAT) as file:
        for path in sorted(folder.iterdir()):
            entry = tarfile.TarInfo(path.name)
            entry.size = path.stat().st_size
            with open(path, "rb") as data:
                file.addfile(entry, data)


def fuzz(build, target, runs, keep):
    own, kept = build / "fuzzing" / target, build / "tests" / "corpus" / target
    own.mkdir(parents=True, exist_ok=True)
    program = build / "tests" / f"fuzz_{target}"
    arguments = [program, f"-runs={runs}", f"-max_len={TARGETS[target]}", "-timeout=10", "-rss_limit_mb=2048",
                 "-print_final_stats=1", f"-artifact_prefix={build / 'fuzzing'}/{target}-"]
    words = HERE / f"{target}.dict"
    if words.exists():
        arguments.append(f"-dict={words}")
    inputs = [own, kept, *SEEDS.get(target, [])]
    # A small quarantine and short stacks save up to a third of the time of an execution.
    env = {**os.environ, "ASAN_OPTIONS": "quarantine_size_mb=8:malloc_context_size=4",
           "LSAN_OPTIONS": f"suppressions={HERE / 'leaks.supp'}:print_suppressions=0"}
    done = subprocess.run([*arguments, *inputs], capture_output=True, text=True, errors="replace", check=False,
                          env=env)
    if done.returncode != 0:
        print(done.stderr[-6000:], file=sys.stderr)
        print(f"{target}: broken; the input is named above", file=sys.stderr)
        return False
    number = re.search(r"number_of_executed_units: (\d+)", done.stderr)
    cover = re.findall(r"cov: (\d+)", done.stderr)
    print(f"{target}: {int(number[1]):,} executions, {cover[-1] if cover else '?'} edges, clean", flush=True)
    if keep:
        # Each new edge is worth a file, but not the number of times it is taken.
        subprocess.run([program, "-merge=1", "-use_counters=0", f"-max_len={TARGETS[target]}", kept, own], check=True,
                       capture_output=True)
        pack(kept, HERE / "corpus" / f"{target}.tar")
    return True


def build_targets(build, targets):
    presets = (HERE.parents[1] / "CMakePresets.json").read_text()
    flags = re.search(r'"name": "fuzz".*?"CMAKE_C_FLAGS": "([^"]*)"', presets, re.DOTALL)[1]
    configured = subprocess.run(
        ["cmake", "-S", HERE.parents[1], "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
         "-DCMAKE_C_COMPILER=clang", f"-DCMAKE_C_FLAGS={flags}"], capture_output=True, text=True, check=False)
    if configured.returncode != 0:
        return False
    subprocess.run(["ninja", "-C", build, *(f"fuzz_{name}" for name in targets)], check=True,
                   stdout=subprocess.DEVNULL)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("targets", nargs="*", default=list(TARGETS), metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--runs", type=int, default=10_000_000)
    parser.add_argument("--keep", action="store_true", help="put what covers more into tests/fuzzing/corpus")
    parser.add_argument("--build", action="store_true", dest="build_first", help="configure and build BUILD first")
    options = parser.parse_args()
    unknown = [name for name in options.targets if name not in TARGETS]
    if unknown:
        parser.error(f"no target is called '{unknown[0]}'; there are {', '.join(TARGETS)}")
    if options.build_first and not build_targets(options.build.resolve(), options.targets):
        print("skipped: no libFuzzer here; ./setup.sh fuzz installs it")
        return 77
    missing = [name for name in options.targets if not (options.build / "tests" / f"fuzz_{name}").exists()]
    if missing:
        parser.error(f"{options.build} holds no fuzz_{missing[0]}; build it: cmake --preset fuzz && cmake --build "
                     "--preset fuzz")
    results = [fuzz(options.build.resolve(), name, options.runs, options.keep) for name in options.targets]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
