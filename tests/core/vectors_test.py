#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The vectors of core/vectors agree with the present core, and cover its branches.

  vectors_test.py GENERATOR              regenerates them and compares; UPDATE_VECTORS=1 writes them
  vectors_test.py --amalgamated          so does the core as two files (core/amalgamate.py), by each compiler that
                                         is here, without a warning
  vectors_test.py --slips                makes the slips of tests/mutants/vectors.txt: all but 5 % change a vector
  vectors_test.py --choose               chooses the seeds of vectors/seeds.h, by the slips of vectors/slips.py, which
                                         needs clang and half an hour
  vectors_test.py --coverage [--print]   builds the core for gcov, runs only the vectors' cases, and compares the
                                         branches that they miss with vectors/uncovered.txt; --print shows a table
                                         and such lines

Exits with 77 when gcc or gcov is missing.
"""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "core/src").glob("*.c"))
GENERATOR = sorted((ROOT / "tests/core/vectors").glob("*.c"))
VECTORS = ROOT / "core/vectors"


def read_folder(folder):
    return {path.name: path.read_bytes() for path in sorted(pathlib.Path(folder).glob("*.json"))}


def compare(*generator):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*generator, folder], check=True)
        made, kept = read_folder(folder), read_folder(VECTORS)
    differing = sorted(name for name in made.keys() | kept.keys() if made.get(name) != kept.get(name))
    if differing and os.environ.get("UPDATE_VECTORS"):
        for name in differing:
            (VECTORS / name).unlink(missing_ok=True)
            if name in made:
                (VECTORS / name).write_bytes(made[name])
        print(f"wrote {', '.join(differing)}")
    elif differing:
        sys.exit(f"the core makes other vectors: {', '.join(differing)}. Ports would differ; "
                 "UPDATE_VECTORS=1 writes the new ones")
    for text in made.values():
        json.loads(text)
    print(f"{len(made)} files, {sum(map(len, made.values())):,} bytes, as the core makes them")


WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wno-sign-conversion", "-Wundef",
            "-Wcast-qual"]
ARM, ARM_GCC = "/usr/aarch64-linux-gnu", "/usr/lib/gcc-cross/aarch64-linux-gnu/12"
MACHINES = {  # what must be here, the compiler first; its options; the runner
    "gcc": (["gcc"], ["-std=c11", "-O1"], []),
    "gcc -m32": (["gcc", "/usr/lib/gcc/x86_64-linux-gnu/12/32"],
                 ["-std=c17", "-m32", "-O1", "-msse2", "-mfpmath=sse"], []),
    "tcc": (["tcc"], [], []),
    "clang for arm64": (["clang", "ld.lld", "qemu-aarch64", ARM, ARM_GCC],
                        ["-std=c17", "-O1", "--target=aarch64-linux-gnu", "-Wno-unused-command-line-argument",
                         "-isystem", f"{ARM}/include", f"--sysroot={ARM}", "-static", "-fuse-ld=lld",
                         f"-B{ARM_GCC}", f"-B{ARM}/lib", f"-L{ARM_GCC}", f"-L{ARM}/lib"], ["qemu-aarch64"]),
}


def amalgamated():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, ROOT / "core/amalgamate.py", folder], check=True)
        source, program = f"{folder}/bucketing.c", f"{folder}/generator"
        licences = {line for name in ("bucketing.c", "bucketing.h")
                    for line in pathlib.Path(folder, name).read_text(encoding="utf-8").splitlines() if "SPDX" in line}
        if licences != {"/* SPDX-License-Identifier: MIT"}:
            sys.exit(f"licences of the two files: {licences}")
        if shutil.which("g++"):
            probe = pathlib.Path(folder, "probe.cpp")
            probe.write_text('#include "bucketing.h"\nbk_placement place; bk_agent_stats stats; '
                             'bk_idgen_outcome outcome;\n', encoding="utf-8")
            subprocess.run(["g++", "-std=c++20", "-Werror", *WARNINGS, "-fsyntax-only", probe], check=True)
        for name, (needs, options, runner) in MACHINES.items():
            lacks = [need for need in needs if shutil.which(need) is None and not pathlib.Path(need).exists()]
            if lacks:
                print(f"{name}: skipped, no {', '.join(lacks)}")
                continue
            flags = [] if name == "tcc" else [*WARNINGS, "-ffp-contract=off"]
            subprocess.run([needs[0], *options, *flags, "-Werror", "-c", source, "-o", f"{folder}/core.o"], check=True)
            subprocess.run([needs[0], *options, f"-I{ROOT / 'core/include'}", *GENERATOR, f"{folder}/core.o",
                            "-o", program], check=True)
            compare(*runner, program)
            print(f"{name}: the same vectors")


def choose():
    with tempfile.TemporaryDirectory() as folder:
        first, flags = "1", [f"-I{ROOT / 'core/include'}", f"-I{ROOT / 'core/src'}"]
        for source in SOURCES:
            text = subprocess.run([sys.executable, ROOT / "tests/core/vectors/slips.py", source, first, *flags],
                                  check=True, capture_output=True, text=True).stdout
            first = text.rsplit("// ", 1)[1].strip()
            pathlib.Path(folder, source.name).write_text(text, encoding="utf-8")
        subprocess.run(["gcc", "-std=gnu17", "-w", "-O2", "-ffp-contract=off", *flags, *GENERATOR,
                        *pathlib.Path(folder).glob("*.c"), "-o", f"{folder}/generator"], check=True)
        seeds = subprocess.run([f"{folder}/generator", "--choose"], check=True, capture_output=True, text=True)
        (ROOT / "tests/core/vectors/seeds.h").write_text(seeds.stdout, encoding="utf-8")
        print(seeds.stderr.splitlines()[-1])


def slips():
    """Compiles the core with each slip, one file again, and compares the vectors that it makes."""
    text = (ROOT / "tests/mutants/vectors.txt").read_text(encoding="utf-8")
    records = re.findall(r"^fault (\S+)\n.*\nrun: vectors\nin: (\S+)\n((?:[ +-].*\n)+)", text, re.M)
    kept, missed = read_folder(VECTORS), []
    compiler = ["gcc", "-std=c17", "-O1", "-ffp-contract=off", f"-I{ROOT / 'core/include'}",
                f"-I{ROOT / 'core/src'}"]
    with tempfile.TemporaryDirectory() as folder:
        tools = pathlib.Path(folder, "tools")
        tools.mkdir()
        subprocess.run([*compiler, "-c", *GENERATOR], cwd=tools, check=True)
        subprocess.run([*compiler, "-c", *SOURCES], cwd=folder, check=True)
        objects = {path.stem: path for path in pathlib.Path(folder).glob("*.o")}
        for name, file, change in records:
            old, new = ("".join(line[1:] + "\n" for line in change.splitlines() if line[0] in signs)
                        for signs in (" -", " +"))
            source, made = pathlib.Path(folder, "slip.c"), pathlib.Path(folder, name)
            source.write_text((ROOT / file).read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
            made.mkdir()
            subprocess.run([*compiler, "-c", source], cwd=folder, check=True)
            others = [path for stem, path in objects.items() if stem != pathlib.Path(file).stem]
            subprocess.run(["gcc", *tools.glob("*.o"), *others, "slip.o", "-o", "generator"], cwd=folder, check=True)
            try:
                ended = subprocess.run([f"{folder}/generator", made], timeout=60, check=False,
                                       stderr=subprocess.DEVNULL)
                missed += [name] if ended.returncode == 0 and read_folder(made) == kept else []
            except subprocess.TimeoutExpired:
                pass
    print(f"of {len(records)} slips the vectors find {len(records) - len(missed)}; not {', '.join(missed)}")
    sys.exit(len(records) < 60 or 20 * len(missed) > len(records))


def measure():
    """File -> {line number: (function, branches taken, branches)}, for a core that runs only the cases."""
    with tempfile.TemporaryDirectory() as folder:
        flags = ["gcc", "-std=c17", "-O0", f"-I{ROOT / 'core/include'}"]
        subprocess.run([*flags, "--coverage", "-c", *SOURCES], cwd=folder, check=True)
        objects = sorted(pathlib.Path(folder).glob("*.o"))
        subprocess.run([*flags, *GENERATOR, *objects, "-lgcov", "-o", "generator"], cwd=folder, check=True)
        os.mkdir(f"{folder}/out")
        subprocess.run(["./generator", "out"], cwd=folder, check=True)
        told = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", *objects], cwd=folder,
                              check=True, capture_output=True, text=True).stdout
    found = {}
    for line in told.splitlines():
        for file in json.loads(line)["files"]:
            lines = found.setdefault(pathlib.Path(file["file"]).name, {})
            for at in file["lines"]:
                _, taken, count = lines.get(at["line_number"], ("", 0, 0))
                ways = [way["count"] > 0 for way in at["branches"]]
                lines[at["line_number"]] = (at.get("function_name", ""), taken + sum(ways), count + len(ways))
    return {name: lines for name, lines in found.items() if name in {path.name for path in SOURCES}}


def read_uncovered():
    """(file, pattern) -> its reason, in the order of the list. The list's header describes its format."""
    reasons, reason = {}, None
    for line in (ROOT / "tests/core/vectors/uncovered.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            reason = line[3:]
        elif line and not line.startswith("#"):
            name, pattern = line.split(": ", 1)
            reasons[name, pattern] = reason
    return reasons


def is_meant(key, name, function, text):
    file, pattern = key
    return file in (name, "any") and (pattern in ("*", f"{function}()", text)
                                      or (pattern.startswith("~ ") and re.search(pattern[2:], text) is not None))


def show(files, reasons, missed):
    sums = collections.Counter()
    print("| file | branches | taken | share |\n|---|--:|--:|--:|")
    for name, lines in sorted(files.items()):
        taken, count = (sum(line[i] for line in lines.values()) for i in (1, 2))
        if count and (name, "*") not in reasons:
            sums.update(taken=taken, count=count)
            print(f"| `{name}` | {count} | {taken} | {taken / count:.0%} |")
    print(f"| all | {sums['count']:,} | {sums['taken']:,} | {sums['taken'] / sums['count']:.1%} |\n")
    why = collections.Counter()
    for reason, ways in missed:
        why[reason] += ways
    for reason, ways in why.most_common():
        print(f"- {ways}: {reason}")


def cover():
    if shutil.which("gcc") is None or shutil.which("gcov") is None:
        print("skipped: no gcc or no gcov")
        sys.exit(77)
    files, reasons = measure(), read_uncovered()
    missed, faults, used = [], [], set()
    for name, lines in sorted(files.items()):
        source = (ROOT / "core/src" / name).read_text(encoding="utf-8").splitlines()
        for number, (function, taken, count) in sorted(lines.items()):
            text = source[number - 1].strip()
            key = next((key for key in reasons if is_meant(key, name, function, text)), None)
            if taken < count and key is None:
                faults.append(f"core/src/{name}:{number}: {function}(): {taken} of {count} branches taken: {text}")
            if taken < count:
                used.add(key)
                if key is None or key[1] != "*":
                    missed.append((reasons.get(key, "not listed"), count - taken))
    if "--print" in sys.argv:
        show(files, reasons, missed)
    faults += [f"uncovered.txt: {name}: {pattern}: the vectors cover it" for name, pattern in reasons.keys() - used]
    sys.exit("\n".join(faults) if faults else 0)


if "--coverage" in sys.argv:
    cover()
elif "--slips" in sys.argv:
    slips()
elif "--choose" in sys.argv:
    choose()
elif "--amalgamated" in sys.argv:
    amalgamated()
else:
    compare(sys.argv[1])
