# SPDX-License-Identifier: GPL-3.0-or-later
"""Every C file is formatted by clang-format 14; other versions format slightly differently. ./test.sh looks only at
files that have changed since the commit RECENT before the last, if Git has it: all others were looked at in earlier
runs, and each takes 12 ms.
"""
import pathlib
import shutil
import subprocess
import sys

import sources

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from share import SHARE  # noqa: E402

RECENT = 100


def changed():
    """The files that differ from an earlier commit, or None if it is not there."""
    commands = [["diff", "--name-only", f"HEAD~{RECENT}"], ["ls-files", "--others", "--exclude-standard"]]
    runs = [subprocess.run(["git", *words], cwd=sources.ROOT, capture_output=True, text=True, check=False)
            for words in commands]
    return {name for run in runs for name in run.stdout.splitlines()} if runs[0].returncode == 0 else None


if shutil.which("clang-format-14") is None:
    sources.skip("clang-format-14 is not installed")
names = sources.files(".c", ".h")
recent = changed() if SHARE > 1 else None
if recent is not None and ".clang-format" not in recent:
    names = [name for name in names if name in recent]
faults = []
if names:
    check = subprocess.run(["clang-format-14", "--dry-run", "--Werror", *names], cwd=sources.ROOT, capture_output=True,
                           text=True, check=False)
    faults = sorted({line.split(":")[0] for line in check.stderr.splitlines() if "error:" in line})
    if check.returncode != 0 and not faults:
        faults = [check.stderr]
faults = [f"{name}: run clang-format-14 -i on it" for name in faults]
sources.finish(faults, f"format of {len(names)} files")
