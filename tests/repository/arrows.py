# SPDX-License-Identifier: GPL-3.0-or-later
"""A folder can include only the headers of the folders that its CMakeLists.txt links: for each pair of
folders, the preprocessor, with the build's flags for the first, tries to include a header of the second.
Libraries from outside are used only in the folders that may use them.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

import sources

# The beginning of an include -> the folders that may have it.
OUTSIDE = {
    "gsl/": ["sim/tune"],
    "sqlite3": ["sim/store"],
    "cairo": ["reports/style", "reports/draw"],
    "pango/": ["reports/style"],
    "libfyaml": ["sim/lab/scenario"],
    "jansson": ["sim/cli", "sim/workload"],
    "libxml/": ["reports/page", "sim/cli"],
    "zlib": ["sim/workload"],
    "zstd": ["sim/workload"],
    "mpi": ["sim/ranks"],
    "pthread": ["sim/kernel", "sim/explore", "sim/lab/stream", "sim/lab/team", "sim/ranks", "sim/cli"],
    "threads.h": ["sim/cli"],
}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)', re.M)


def seen_from(folder, command, headers, scratch):
    """The headers that the folder's files can include, by one run of the preprocessor."""
    source = pathlib.Path(scratch) / f"{folder.replace('/', '_')}.c"
    questions = [f'#if __has_include("{said}")\nSEEN {other}\n#endif\n' for other, said in headers.items()]
    source.write_text("".join(questions), encoding="utf-8")
    run = subprocess.run([*command, "-E", "-P", str(source)], capture_output=True, text=True, check=True)
    return set(re.findall(r"SEEN (\S+)", run.stdout))


def check_folders(build, faults):
    commands = sources.compile_commands(build)
    headers = {folder: names[0].split("/include/")[1]
               for folder in sources.FOLDERS if (names := sources.public_headers(folder))}
    with tempfile.TemporaryDirectory() as scratch:
        for folder, allowed in sources.FOLDERS.items():
            command = next((words for name, words in commands.items() if sources.folder_of(name) == folder), None)
            if command is None:
                faults.append(f"{folder}: compile_commands.json has no file of it")
                continue
            seen = seen_from(folder, command, headers, scratch)
            for other in headers:
                if other in seen and other not in allowed:
                    faults.append(f"{folder}: a header of {other} can be included; take it off the target's links")
                if other in allowed and other not in seen:
                    faults.append(f"{folder}: a header of {other} cannot be included")
    return len(sources.FOLDERS) * len(headers)


def check_includes(faults):
    for name in sources.files(".c", ".h"):
        folder = sources.folder_of(name)
        text = (sources.ROOT / name).read_text(encoding="utf-8") if folder else ""
        for found in INCLUDE.finditer(text):
            place = f"{name}:{text.count(chr(10), 0, found.start(1)) + 1}"
            if ".." in found[1].split("/"):
                faults.append(f"{place}: include by way of '..'; publish the header or move the code")
            for start, folders in OUTSIDE.items():
                is_allowed = any(f"{folder}/".startswith(f"{allowed}/") for allowed in folders)
                if found[1].startswith(start) and not is_allowed:
                    faults.append(f"{place}: '{found[1]}' belongs to {', '.join(folders)} alone")


def main():
    faults = []
    count = check_folders(sys.argv[1], faults)
    check_includes(faults)
    sources.finish(faults, f"arrows of {count} pairs of folders")


main()
