# SPDX-License-Identifier: GPL-3.0-or-later
"""Every public header compiles alone and when included twice, as C17; those of core/, together, as C++ too."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

import sources

build, compiler = sys.argv[1:3]
commands = sources.compile_commands(build)
faults = []
count = 0


def outside(folder):
    """The include folders of outside libraries for the folder's files."""
    words = next((words for name, words in commands.items() if name.startswith(f"{folder}/")), [])
    root = f"-I{sources.ROOT}/"
    return [word for i, word in enumerate(words)
            if (word.startswith("-I") and not word.startswith(root)) or "-isystem" in (word, words[i - 1])]


def compile_probes(groups, folder, *command):
    """Compiles a file for each group of the folder's headers, all by one call of the compiler, which names the
    header in its messages."""
    with tempfile.TemporaryDirectory() as scratch:
        probes = [pathlib.Path(scratch) / f"probe{number}.c" for number in range(len(groups))]
        for probe, headers in zip(probes, groups):
            lines = [f'#include "{header.removeprefix(f"{folder}/include/")}"\n' for header in headers]
            probe.write_text("".join(lines * 2) + "extern int probe;\n", encoding="utf-8")
        includes = [f"-I{sources.ROOT / seen}/include" for seen in sources.FOLDERS[folder]] + outside(folder)
        run = subprocess.run(
            [*command, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", *includes, *probes],
            capture_output=True, text=True, check=False,
        )
        if run.returncode != 0:
            faults.append(f"{folder}: a header does not compile with {' '.join(command)}\n{run.stderr}")


for folder in sources.FOLDERS:
    headers = sources.public_headers(folder)
    count += len(headers)
    # The program needs POSIX, and so do its headers.
    posix = ["-D_POSIX_C_SOURCE=200809L"] if folder.startswith("sim/cli/") else []
    if headers:
        compile_probes([[header] for header in headers], folder, compiler, "-std=c17", *posix)
    if folder == "core" and shutil.which("clang"):
        compile_probes([headers], folder, "clang", "-x", "c++", "-std=c++17")
        compile_probes([headers], folder, "clang", "-x", "c++", "-std=c++11")
if count == 0:
    faults.append("no public header was found")
sources.finish(faults, f"{count} public headers")
