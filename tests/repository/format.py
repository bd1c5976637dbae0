# SPDX-License-Identifier: GPL-3.0-or-later
"""Every C file is formatted by clang-format 14; other versions format slightly differently."""
import shutil
import subprocess

import sources

if shutil.which("clang-format-14") is None:
    sources.skip("clang-format-14 is not installed")
names = sources.files(".c", ".h")
check = subprocess.run(
    ["clang-format-14", "--dry-run", "--Werror", *names], cwd=sources.ROOT, capture_output=True, text=True, check=False
)
faults = sorted({line.split(":")[0] for line in check.stderr.splitlines() if "error:" in line})
if check.returncode != 0 and not faults:
    faults = [check.stderr]
faults = [f"{name}: run clang-format-14 -i on it" for name in faults]
sources.finish(faults, f"format of {len(names)} files")
