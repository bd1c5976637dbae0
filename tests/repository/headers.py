# SPDX-License-Identifier: GPL-3.0-or-later
"""Every public header compiles alone and when included twice, as C17; those of core/ as C++ too."""
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


def compile_alone(header, folder, command, suffix):
    include = header.removeprefix(f"{folder}/include/")
    with tempfile.TemporaryDirectory() as scratch:
        probe = pathlib.Path(scratch) / f"probe.{suffix}"
        probe.write_text(f'#include "{include}"\n#include "{include}"\nextern int probe;\n', encoding="utf-8")
        includes = [f"-I{sources.ROOT / seen}/include" for seen in sources.FOLDERS[folder]] + outside(folder)
        run = subprocess.run(
            [*command, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", *includes, str(probe)],
            capture_output=True, text=True, check=False,
        )
        if run.returncode != 0:
            faults.append(f"{header}: does not compile alone with {command[0]} as {suffix}\n{run.stderr}")


for folder in sources.FOLDERS:
    for header in sources.public_headers(folder):
        count += 1
        # The program needs POSIX, and so do its headers.
        posix = ["-D_POSIX_C_SOURCE=200809L"] if folder.startswith("sim/cli/") else []
        compile_alone(header, folder, [compiler, "-std=c17", *posix], "c")
        if folder == "core" and shutil.which("clang"):
            compile_alone(header, folder, ["clang", "-x", "c++", "-std=c++17"], "cpp")
            compile_alone(header, folder, ["clang", "-x", "c++", "-std=c++11"], "cpp")
if count == 0:
    faults.append("no public header was found")
sources.finish(faults, f"{count} public headers")
