# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: a change of the core that breaks programs compiled earlier requires a new SOVERSION. Method: abidiff
(abigail-tools) compares the shared library, built here with debug information, with core/abi.xml, which abidw
wrote for the last release. Functions may be added. `--update` writes core/abi.xml, only for releases; `--try`
adds a member to a struct, adds an argument and removes a function, and checks that each change is detected.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import sources

CORE = sources.ROOT / "core"
BASELINE = CORE / "abi.xml"
COMPACT = (
    "--no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed --no-parameter-names "
    "--no-write-default-sizes --drop-undefined-syms --exported-interfaces-only --drop-private-types "
    "--type-id-style hash"
)
# A text of the source and its replacement: each replacement breaks programs that were compiled earlier.
BREAKS = [
    (r"\bstruct bk_row \{", r"\g<0>\n    uint64_t added;"),
    (r"\bbk_agent_get_stats\((?=const)", r"\g<0>uint64_t added, "),
    (r"\bbk_version\b", "bk_version_gone"),
    (r"\bBK_ACT_READ_STATE,", r"BK_ACT_ADDED, \g<0>"),
]


def describe(core, compiler, interface, folder):
    """The interface of the shared library of a copy of core/, without types that its headers do not define:
    --headers-dir uses only the names of files, so structs that the headers only declare are removed by name.
    """
    library, description, hidden = (
        pathlib.Path(folder) / name for name in ("libbucketing.so", "abi.xml", "hidden")
    )
    text = "".join(header.read_text(encoding="utf-8") for header in (core / "include").rglob("*.h"))
    opaque = "|".join(sorted(set(re.findall(r"^struct (\w+);", text, re.M))))
    hidden.write_text(f"[suppress_type]\n  name_regexp = ^({opaque})$\n  drop = yes\n", encoding="utf-8")
    subprocess.run(
        [
            compiler,
            "-std=c17",
            "-g",
            "-O0",
            "-fPIC",
            "-shared",
            "-fvisibility=hidden",
            f"-I{core}/include",
            *map(str, sorted((core / "src").glob("*.c"))),
            f"-Wl,-soname,libbucketing.so.{interface}",
            "-o",
            library,
        ],
        check=True,
    )
    subprocess.run(
        [
            "abidw",
            *COMPACT.split(),
            "--suppressions",
            hidden,
            "--headers-dir",
            core / "include",
            "--out-file",
            description,
            library,
        ],
        check=True,
    )
    return description


def difference(description):
    """abidiff's report; empty when programs of the baseline run with the library."""
    done = subprocess.run(
        ["abidiff", "--no-added-syms", "--no-architecture", BASELINE, description],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode & 3:
        sys.exit(f"abidiff ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout if done.returncode else ""


def interface_of():
    return re.search(
        r"^set\(interface (\d+)\)$", (CORE / "CMakeLists.txt").read_text(encoding="utf-8"), re.M
    ).group(1)


def tried(compiler, folder):
    """The entries of BREAKS that are not detected."""
    faults = []
    for before, after in BREAKS:
        copy, count = pathlib.Path(folder) / "core", 0
        shutil.copytree(CORE, copy)
        for path in (*(copy / "include").rglob("*.h"), *(copy / "src").glob("*.c")):
            text, changed = re.subn(before, after, path.read_text(encoding="utf-8"))
            path.write_text(text, encoding="utf-8")
            count += changed
        if count == 0 or not difference(describe(copy, compiler, interface_of(), folder)):
            faults.append(
                f"abi.py: abidiff does not see that '{before}' becomes '{after}', in {count} places"
            )
        shutil.rmtree(copy)
    return faults


def main():
    compiler = sys.argv[1]
    if shutil.which("abidiff") is None:
        print("skipped: no abidiff; ./setup.sh test installs it (abigail-tools)")
        sys.exit(77)
    interface, faults = interface_of(), []
    with tempfile.TemporaryDirectory(prefix="bucketlab-abi-") as folder:
        description = describe(CORE, compiler, interface, folder)
        if "--update" in sys.argv:
            text = description.read_text(encoding="utf-8").replace(f"{sources.ROOT}/", "")
            BASELINE.write_text(text, encoding="utf-8")
        was = re.search(r"soname='libbucketing\.so\.(\d+)'", BASELINE.read_text(encoding="utf-8")).group(1)
        told = difference(description) if was == interface else ""
        if told:
            faults.append(
                f"core/CMakeLists.txt: programs compiled with the last release break; raise 'interface' above {was}, "
                f"or take the change back:\n{told}"
            )
        if int(interface) < int(was):
            faults.append(f"core/CMakeLists.txt: 'interface' is {interface}, and the last release had {was}")
        faults += tried(compiler, folder) if was == interface and "--try" in sys.argv else []
    sources.finish(faults, f"binary interface {interface}")


main()
