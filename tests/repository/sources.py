# SPDX-License-Identifier: GPL-3.0-or-later
"""What the repository's checks share: its files, the house's arrows, and how a check ends."""
import json
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Folder -> the folders whose headers it may include, its own among them: the arrows of docs/architecture.md.
FOLDERS = {
    "core": ["core"],
    "sim/kernel": ["sim/kernel"],
    "sim/ranks": ["sim/ranks", "sim/kernel"],
    "sim/workload": ["sim/workload", "sim/kernel"],
    "sim/cassandra": ["sim/cassandra", "sim/kernel", "core"],
}
FOLDERS["sim/lab"] = ["sim/lab", "sim/workload", "sim/cassandra", "sim/ranks", "sim/kernel", "core"]
FOLDERS["sim/tune"] = ["sim/tune"] + FOLDERS["sim/lab"]
FOLDERS["sim/store"] = ["sim/store"] + FOLDERS["sim/lab"]
FOLDERS["reports"] = ["reports", "sim/tune"] + FOLDERS["sim/lab"]
FOLDERS["sim/cli"] = ["sim/store"] + FOLDERS["reports"]

SKIPPED = 77  # tests.cmake names it to ctest


def files(*suffixes, under=("",)):
    """Paths below ROOT that git knows or would take up; without git, all outside build folders and dot folders."""
    command = ["git", "-c", "safe.directory=*", "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        names = listed.stdout.splitlines()
    else:
        names = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*")]
        names = [name for name in names if not re.match(r"(build|bucketlab-out|\.[^/]+)/", name)]
    return sorted(
        name
        for name in names
        if name.endswith(suffixes) and name.startswith(tuple(under)) and (ROOT / name).is_file()
    )


def public_headers(folder):
    return files(".h", under=(f"{folder}/include/",))


def compile_commands(build):
    """Source below ROOT -> the compiler's arguments, without output, source, LTO and sanitizers."""
    commands = {}
    for entry in json.loads((pathlib.Path(build) / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["file"])
        if ROOT not in source.parents:
            continue
        words = shlex.split(entry["command"])
        words = words[: words.index("-o")]
        dropped = ("-flto", "-fno-fat-lto-objects", "-fsanitize", "-fno-sanitize")
        commands[str(source.relative_to(ROOT))] = [word for word in words if not word.startswith(dropped)]
    return commands


def finish(faults, summary):
    """Prints the faults, one a line, and ends the check."""
    for fault in faults:
        print(fault)
    print(f"{summary}: {len(faults)} faults")
    sys.exit(1 if faults else 0)


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)
