# SPDX-License-Identifier: GPL-3.0-or-later
"""A folder sees the headers that the house's arrows give it, and no others: for each pair of folders a file that
includes a header of the second is compiled with the flags that the build uses in the first. Libraries from outside
stay in the folder that they were taken for."""
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

import sources

# What an include begins with -> the folders that may have it.
OUTSIDE = {
    "gsl/": ["sim/tune"],
    "sqlite3": ["sim/store"],
    "cairo": ["reports"],
    "pango/": ["reports"],
    "libfyaml": ["sim/lab"],
    "jansson": ["sim/cli"],
    "libxml/": ["reports", "sim/cli"],
    "zlib": ["sim/workload"],
    "mpi": ["sim/ranks"],
    "pthread": ["sim/lab", "sim/ranks", "sim/cli"],
    "threads.h": ["sim/lab", "sim/cli"],
}


def probe(job):
    command, header, scratch, number = job
    source = pathlib.Path(scratch) / f"probe_{number}.c"
    source.write_text(f'#include "{header}"\nextern int probe;\n', encoding="utf-8")
    run = subprocess.run([*command, "-fsyntax-only", str(source)], capture_output=True, text=True, check=False)
    return run.returncode == 0, run.stderr


def check_folders(build, faults):
    commands = sources.compile_commands(build)
    jobs, expected = [], []
    with tempfile.TemporaryDirectory() as scratch:
        for folder, seen in sources.FOLDERS.items():
            command = next((words for name, words in commands.items() if name.startswith(f"{folder}/")), None)
            if command is None:
                faults.append(f"{folder}: compile_commands.json has no file of it")
                continue
            for other in sources.FOLDERS:
                for header in sources.public_headers(other)[:1]:
                    jobs.append((command, header.split("/include/")[1], scratch, len(jobs)))
                    expected.append((folder, other, other in seen))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for (folder, other, allowed), (built, text) in zip(expected, pool.map(probe, jobs)):
                if built and not allowed:
                    faults.append(f"{folder}: a header of {other} can be included; take it off the target's links")
                if allowed and not built:
                    faults.append(f"{folder}: a header of {other} cannot be included:\n{text}")
    return len(jobs)


def check_includes(faults):
    for folder in sources.FOLDERS:
        for name in sources.files(".c", ".h", under=(f"{folder}/",)):
            lines = (sources.ROOT / name).read_text(encoding="utf-8").splitlines()
            for number, line in enumerate(lines, 1):
                found = re.match(r'\s*#\s*include\s*[<"]([^>"]+)', line)
                if not found:
                    continue
                if ".." in found[1].split("/"):
                    faults.append(f"{name}:{number}: include by way of '..'; publish the header or move the code")
                for start, folders in OUTSIDE.items():
                    if found[1].startswith(start) and folder not in folders:
                        faults.append(f"{name}:{number}: '{found[1]}' belongs to {', '.join(folders)} alone")


def main():
    faults = []
    count = check_folders(sys.argv[1], faults)
    check_includes(faults)
    sources.finish(faults, f"arrows of {count} pairs of folders")


main()
