# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared by the repository's checks: its files, the dependencies between its folders, and the end of a check.
"""
import functools
import json
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# A folder that has a target -> the libraries that CMake links to it: {"name", "link", "private"}, the only
# definition of the dependencies.
CALL = re.compile(r"^[ ]*(bucketlab_library|bucketlab_module|bucketlab_umbrella|add_library|bucketing_library|"
                  r"target_link_libraries)\s*\(([^()]*)\)", re.M)


def links_of(words):
    """The words after LINK or PUBLIC, and those after PRIVATE."""
    links = {"link": [], "private": []}
    kind = None
    for word in words:
        if word in ("LINK", "PUBLIC", "INTERFACE", "PRIVATE"):
            kind = "private" if word == "PRIVATE" else "link"
        elif kind:
            links[kind].append(word)
    return links


def read_targets(root):
    """Target -> its folder (None for an umbrella) and its links, from all CMakeLists.txt below core/, sim/,
    reports/."""
    targets = {}
    for path in sorted(path for top in ("core", "sim", "reports") for path in (root / top).rglob("CMakeLists.txt")):
        folder = str(path.parent.relative_to(root))
        text = re.sub(r"#[^\n]*", "", path.read_text(encoding="utf-8"))
        for call, arguments in CALL.findall(text):
            words = arguments.split()
            if call == "bucketlab_library":
                targets[words[0]] = {"folder": folder, **links_of(words[1:])}
            elif call == "bucketlab_module":
                links = {
                    kind: [f"{words[0]}_{name}" if (path.parent / name).is_dir() else name for name in names]
                    for kind, names in links_of(words[2:]).items()
                }
                targets[f"{words[0]}_{words[1]}"] = {"folder": f"{folder}/{words[1]}", **links}
            elif call == "bucketlab_umbrella":
                links = [f"{words[0]}_{name}" for name in words[1:]]
                targets[words[0]] = {"folder": None, "link": links, "private": []}
            elif call in ("add_library", "bucketing_library") and "ALIAS" not in words:
                targets[words[0]] = {"folder": folder, "link": [], "private": []}
            elif call == "target_link_libraries" and words[0] in targets:
                for kind, names in links_of(words[1:]).items():
                    targets[words[0]][kind] += names
    return targets


def shown_by(targets, name, seen):
    """The targets whose headers are visible to a target that links `name`."""
    if name in targets and name not in seen:
        seen.append(name)
        for link in targets[name]["link"]:
            shown_by(targets, link, seen)
    return seen


def read_folders(root):
    """Folder -> the folders whose headers it may include, its own first, as in CMake."""
    targets = read_targets(root)
    folders = {}
    for name, target in targets.items():
        if target["folder"] is None:
            continue
        seen = shown_by(targets, name, [])
        for link in target["private"]:
            shown_by(targets, link, seen)
        folders[target["folder"]] = [targets[other]["folder"] for other in seen if targets[other]["folder"]]
    return folders


FOLDERS = read_folders(ROOT)

SKIPPED = 77  # the exit code for ctest, from tests.cmake


def folder_of(name, folders=None):
    """The innermost folder with a target that contains a file; the examples belong to none."""
    if name.startswith("core/examples/"):
        return None
    return max((folder for folder in folders or FOLDERS if name.startswith(f"{folder}/")), key=len, default=None)


@functools.cache
def all_files(root):
    command = ["git", "-c", "safe.directory=*", "ls-files", "-co", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        return listed.stdout.splitlines()
    names = [str(path.relative_to(root)) for path in root.rglob("*")]
    return [name for name in names if not re.match(r"(build|bucketlab-out|\.[^/]+)/", name)]


def files(*suffixes, under=("",)):
    """Paths below ROOT that git tracks or would add; without git, all outside of build folders and dot
    folders."""
    return sorted(
        name
        for name in all_files(ROOT)
        if name.endswith(suffixes) and name.startswith(tuple(under)) and (ROOT / name).is_file()
    )


def public_headers(folder):
    return files(".h", under=(f"{folder}/include/",))


def words_of(command):
    """The words of a command in compile_commands.json. shlex takes milliseconds for one."""
    if re.search(r"(?<!\\)['\"]", command):
        return shlex.split(command)
    return [re.sub(r"\\(.)", r"\1", word) for word in re.findall(r"(?:\\.|[^\s\\])+", command)]


def compile_commands(build):
    """Source below ROOT -> the compiler's arguments, without output, source, LTO and sanitizers. Of a file that is
    compiled again for a benchmark, those of its library, which come first."""
    commands = {}
    for entry in json.loads((pathlib.Path(build) / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["file"])
        if ROOT not in source.parents:
            continue
        words = words_of(entry["command"])
        words = words[: words.index("-o")]
        dropped = ("-flto", "-fno-fat-lto-objects", "-fsanitize", "-fno-sanitize")
        kept = [word for word in words if not word.startswith(dropped)]
        commands.setdefault(str(source.relative_to(ROOT)), kept)
    return commands


def finish(faults, summary):
    """Prints the faults, one per line, and ends the check."""
    for fault in faults:
        print(fault)
    print(f"{summary}: {len(faults)} faults")
    sys.exit(1 if faults else 0)


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)
