#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""One digest on every machine: builds the program `digest` for x86-64, arm64 and s390x (big-endian), with gcc
and clang, unoptimised and highly optimised, runs the foreign builds under qemu, and compares all digests with
those stored here.

  machines.py [--few | --quick] [--jobs N] [--work FOLDER] [--only WORD]...   --only: rows with that word: arm64, O3
  machines.py --write           stores the digests of gcc -O2 in shipped.txt, for an intended change

digests.txt has shortened runs, for every build; shipped.txt has every scenario at its shipped size, with the
digests of each strategy, for the builds with -O2. The output is a table with a line per build and condition,
and a line below it for each run that differs: its first digest that differs. --few: a dozen short runs of
every kind. --quick: these, with gcc -O0 here and -O2 on the foreign machines, without any download.

Exit codes: 0 all equal; 1 some differ; 3 something could not be built or run; 77 the tools or libraries for
some of the machines are missing, and the rest is equal.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SKIPPED = 77
FEW = tuple(f"scenarios/{name}.yaml" for name in (
    "small-trace", "faults", "weighted", "idgen-stripes", "observed", "likes-readers", "tune-sensors", "sweep",
    "facts/sparse-keys"))

Machine = collections.namedtuple("Machine", "name triple emulator debian")
Build = collections.namedtuple("Build", "machine compiler flags")
Condition = collections.namedtuple("Condition", "name words environment jobs")

X86, ARM, S390 = MACHINES = (
    Machine("x86-64", None, None, None),
    Machine("arm64", "aarch64-linux-gnu", "qemu-aarch64", "arm64"),
    Machine("s390x", "s390x-linux-gnu", "qemu-s390x", "s390x"),
)
PLAIN = Condition("1 thread", [], {}, 1)
WITHOUT = "-FMA,-FMA4,-AVX2,-AVX,-AVX512F,-AVX512VL,-XSAVE,-XSAVEC"
CONDITIONS = (
    Condition("3 threads", [], {}, 3),
    Condition("libc without FMA", [], {"GLIBC_TUNABLES": f"glibc.cpu.hwcaps={WITHOUT}"}, 1),
    Condition("fixed addresses", ["setarch", "-R"], {}, 2),
    Condition("memory is not 0", [], {"GLIBC_TUNABLES": "glibc.malloc.perturb=165"}, 1),
    Condition("no AVX2", ["qemu-x86_64", "-cpu", "Nehalem"], {}, 1),
    Condition("other locale", [], {"LC_ALL": "tr_TR.UTF-8", "TZ": "Asia/Kathmandu", "COLUMNS": "7"}, 1),
)
REFERENCE = Build(X86, "gcc", "-O2")
# Stops at undefined behaviour, and at implicit conversions that change a value.
SANITIZED = "sanitized"
SANITIZERS = "-O1 -fsanitize=undefined,float-divide-by-zero,implicit-conversion -fno-sanitize-recover=all"


class Run(collections.namedtuple("Run", "words digests")):
    """A line of a golden file: the words of a command line, and the digests that it must give, the run's
    first."""

    @property
    def command(self):
        return " ".join(self.words)


def is_digest(word):
    return len(word.split("/")[0]) == 16 and all(c in "0123456789abcdef/" for c in word)


def read_golden(name):
    runs = []
    for line in (HERE / name).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            words = line.split()
            first = next((i for i, word in enumerate(words[1:], 1) if is_digest(word)), len(words))
            runs.append(Run(tuple(words[1:first]), [words[0], *words[first:]]))
    return runs


def builds():
    for machine in MACHINES:
        for compiler in ("gcc", "clang"):
            for flags in ("-O0", "-O2", "-O3"):
                yield Build(machine, compiler, flags)
            if machine is X86:
                # A compiler for a processor with fused multiplications must not use them.
                yield Build(machine, compiler, "-O3 -march=x86-64-v3")
    yield Build(X86, "clang", SANITIZED)


def plan(quick):
    """(build, condition, files) of each row, the reference first."""
    for build in sorted(builds(), key=lambda build: build != REFERENCE):
        if quick:
            if (build.compiler, build.flags) == ("gcc", "-O0" if build.machine is X86 else "-O2"):
                yield build, PLAIN, ["digests.txt"]
            continue
        yield build, PLAIN, ["digests.txt", "shipped.txt"] if build.flags == "-O2" else ["digests.txt"]
        if build == REFERENCE:
            for condition in CONDITIONS:
                yield build, condition, ["digests.txt"]


def missing(build, condition, work, quick):
    """A short reason why the build cannot be made or run here; '' when it can."""
    machine = build.machine
    if machine is X86:
        if os.uname().machine != "x86_64":
            return "this is no x86-64"
        tools = [build.compiler]
    else:
        tools = [f"{machine.triple}-gcc", machine.emulator, build.compiler]
    tools += ["cmake", "ninja", *condition.words[:1]]
    absent = [tool for tool in dict.fromkeys(tools) if shutil.which(tool) is None]
    if absent:
        return f"no {', no '.join(absent)}: ./setup.sh machines"
    if build.flags.endswith("v3") and not has_fma():
        return "this processor has no FMA"
    if machine is X86 or (work / machine.name / "usr").is_dir():
        return ""
    if quick:
        return "no libraries: ./setup.sh machines"
    got = subprocess.run([HERE / "libraries.sh", machine.debian, work / machine.name], check=False,
                         capture_output=True, text=True)
    return "" if got.returncode == 0 else got.stderr.strip().splitlines()[-1]


def has_fma():
    words = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
    return {"fma", "avx2", "bmi2", "movbe"} <= set(words)


def folder_of(build, work):
    return work / "-".join([build.machine.name, build.compiler, *build.flags.replace("-", "").split()])


def make(build, work, jobs):
    """The path of the program, and the compiler's messages when it could not be built."""
    machine, folder = build.machine, folder_of(build, work)
    flags = SANITIZERS if build.flags == SANITIZED else build.flags
    options = [f"-DCMAKE_C_COMPILER={build.compiler}", f"-DCMAKE_C_FLAGS={flags}"]
    environment = dict(os.environ)
    if machine is not X86:
        libraries = work / machine.name
        compiler = f"{machine.triple}-gcc" if build.compiler == "gcc" else build.compiler
        options[0] = f"-DCMAKE_C_COMPILER={compiler}"
        options += ["-DCMAKE_SYSTEM_NAME=Linux", f"-DCMAKE_SYSTEM_PROCESSOR={machine.triple.split('-')[0]}",
                    f"-DCMAKE_FIND_ROOT_PATH={libraries}", "-DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY",
                    "-DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY", "-DCMAKE_EXE_LINKER_FLAGS=-static"]
        if build.compiler == "clang":
            options.append(f"-DCMAKE_C_COMPILER_TARGET={machine.triple}")
        environment |= {"PKG_CONFIG_LIBDIR": f"{libraries}/usr/lib/{machine.triple}/pkgconfig",
                        "PKG_CONFIG_SYSROOT_DIR": str(libraries)}
    for command in (["cmake", "-S", HERE / "digest", "-B", folder, "-G", "Ninja", *options],
                    ["ninja", "-C", folder, "-j", str(jobs)]):
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
        if done.returncode != 0:
            return None, done.stdout[-2000:] + done.stderr[-2000:]
    return folder / "digest", ""


def run(program, build, condition, words):
    """The digests of the run, and the strategies' labels; or the line of error instead of both."""
    emulator = [build.machine.emulator] if build.machine.emulator else []
    command = [*condition.words, *emulator, program, "--jobs", str(condition.jobs), *words]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True,
                          env=dict(os.environ) | condition.environment)
    if done.returncode != 0:
        return None, (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1]
    lines = done.stdout.splitlines()
    pairs = [line.split(" ", 1) for line in lines[1:]]
    return [lines[0], *(pair[0] for pair in pairs)], ["the run", *(pair[1] for pair in pairs)]


def difference(one, digests, labels, reference):
    """The first digest that differs, in words; '' when none does. The strategies' digests come first, since
    the run's digest covers all of them. Digests that the golden line lacks (the strategies of a short run,
    the figures) are compared with the reference."""
    expected = list(reference or digests)
    expected[: len(one.digests)] = one.digests
    for i in [*range(1, len(expected)), 0]:
        got = digests[i] if i < len(digests) else "none"
        if got != expected[i]:
            return f"{labels[i] if i < len(labels) else 'a strategy'}: {got}, not {expected[i]}"
    return ""


class Table:
    """Prints its rows as they arrive."""

    WIDTHS = (8, 9, 21, 17, 5)

    def row(self, *cells):
        line = "".join(str(cell).ljust(width) for cell, width in zip(cells, self.WIDTHS))
        print((line + str(cells[len(self.WIDTHS)])).rstrip(), flush=True)

    def below(self, text):
        print(f"    {text}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--few", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/machines")
    parser.add_argument("--only", action="append", default=[])
    options = parser.parse_args()
    options.work = options.work.resolve()
    options.work.mkdir(parents=True, exist_ok=True)
    if options.write:
        return write(options)

    table, worst = Table(), 0
    seen = {}  # words -> the results of the reference
    table.row("machine", "compiler", "flags", "run with", "runs", "digests")
    for build, condition, names in plan(options.quick):
        row = (build.machine.name, build.compiler, build.flags, condition.name)
        if not set(options.only) <= {word.lstrip("-") for cell in row for word in cell.split()}:
            continue
        worst = merge(worst, try_row(table, row, (build, condition, names), seen, options))
    return worst


def merge(a, b):
    """The more serious of two exit codes."""
    order = (0, SKIPPED, 3, 1)
    return max(a, b, key=order.index)


def try_row(table, row, what, seen, options):
    """Fills a row of the table; returns its exit code."""
    build, condition, names = what
    why = missing(build, condition, options.work, options.quick)
    if why:
        table.row(*row, "-", f"not tried: {why}")
        return SKIPPED
    program, messages = make(build, options.work, options.jobs)
    if program is None:
        table.row(*row, "-", "does not build")
        table.below(messages)
        return 3
    few = options.few or options.quick
    runs = [run for name in names[: 1 if few else None] for run in read_golden(name)]
    if few:
        runs = [run for run in runs if run.words[0] in FEW and "guarded" not in run.command]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        answers = list(pool.map(lambda one: run(program, build, condition, one.words), runs))
    faults, code = [], 0
    for one, (digests, labels) in zip(runs, answers):
        if build == REFERENCE and condition == PLAIN:
            seen[one.words] = digests
        fault = labels if digests is None else difference(one, digests, labels, seen.get(one.words))
        if fault:
            faults.append(f"{one.command}: {fault}")
            code = merge(code, 3 if digests is None else 1)
    table.row(*row, len(runs), "equal" if not faults else f"{len(faults)} differ")
    for fault in faults:
        table.below(fault)
    return code


def write(options):
    program, messages = make(REFERENCE, options.work, options.jobs)
    if program is None:
        print(messages, file=sys.stderr)
        return 3
    out = []
    for line in (HERE / "shipped.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            words = [word for word in line.split()[1:] if not is_digest(word)]
            digests, labels = run(program, REFERENCE, PLAIN, words)
            if digests is None:
                print(labels, file=sys.stderr)
                return 3
            line = " ".join([digests[0], *words, *digests[1:-1]])
        out.append(line)
    (HERE / "shipped.txt").write_text("\n".join(out) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
