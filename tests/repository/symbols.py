# SPDX-License-Identifier: GPL-3.0-or-later
"""The core is free of I/O, allocation, clocks and randomness: built by itself against the C library alone, it needs
no symbol but those that a compiler may call for by itself. And neither it nor the simulator's folders keep a global
that changes."""
import concurrent.futures
import pathlib
import subprocess
import sys
import tempfile

import sources

# Copies and comparisons, the stack's guard, and what some machines lack instructions for.
ALLOWED = {
    "memcpy", "memmove", "memset", "memcmp", "__stack_chk_fail",
    "__udivti3", "__umodti3", "__divti3", "__modti3", "__udivmodti4", "__multi3",
}
STATELESS = ["core", "sim/kernel", "sim/workload", "sim/cassandra", "sim/lab", "sim/tune", "sim/store", "reports"]


def symbols(compiler, source, level, folder, words):
    """The type and name of each symbol of a file, as nm tells them, or None when the file does not compile. The code
    is made for a fixed address: otherwise a constant table of pointers counts as data, for the loader to fill in."""
    with tempfile.TemporaryDirectory() as scratch:
        built = pathlib.Path(scratch) / "probe.o"
        command = words or [compiler, "-std=c17", f"-I{sources.ROOT / folder}/include"]
        command = [*command, level, "-fno-pie", "-c", str(sources.ROOT / source), "-o", str(built)]
        if subprocess.run(command, check=False).returncode != 0:
            return None
        listed = subprocess.run(["nm", "-P", str(built)], check=True, capture_output=True, text=True)
        return [tuple(reversed(line.split()[:2])) for line in listed.stdout.splitlines()]


def check_core(compiler, faults):
    core = sources.files(".c", under=("core/",))
    if not core:
        faults.append("core/ has no source")
    for level in ("-O0", "-O3"):
        found = {name: symbols(compiler, name, level, "core", None) for name in core}
        faults += [f"{name}: does not compile against the C library alone" for name in core if found[name] is None]
        found = {name: table for name, table in found.items() if table is not None}
        defined = {symbol for table in found.values() for kind, symbol in table if kind not in "Uw"}
        for name, table in found.items():
            for kind, symbol in table:
                if kind in "Uw" and symbol not in defined | ALLOWED:
                    faults.append(f"{name}: needs '{symbol}' ({level}), which the core must do without")
                if kind in "TDBRC" and not symbol.startswith("bk_"):
                    faults.append(f"{name}: publishes '{symbol}'; make it static or begin it with bk_")


def check_state(build, faults):
    jobs = [
        (name, words)
        for name, words in sources.compile_commands(build).items()
        if name.startswith(tuple(f"{folder}/" for folder in STATELESS))
    ]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        tables = pool.map(lambda job: symbols(None, job[0], "-O0", None, job[1]), jobs)
        for (name, _), table in zip(jobs, tables):
            if table is None:
                faults.append(f"{name}: does not compile")
                continue
            for kind, symbol in table:
                if kind in "dDbBC":
                    faults.append(f"{name}: '{symbol}' is a global that can change; make it const or pass it")
    return len(jobs)


def main():
    build, compiler = sys.argv[1:3]
    faults = []
    check_core(compiler, faults)
    count = check_state(build, faults)
    sources.finish(faults, f"symbols of {count} files")


main()
