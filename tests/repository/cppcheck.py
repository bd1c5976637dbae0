# SPDX-License-Identifier: GPL-3.0-or-later
"""cppcheck reports no fault in the library, the program and the reports."""
import pathlib
import shutil
import subprocess
import sys

import sources

if shutil.which("cppcheck") is None:
    sources.skip("cppcheck is not installed")
cache = pathlib.Path(sys.argv[1]) / "cppcheck"
cache.mkdir(exist_ok=True)
names = sources.files(".c", under=("core/", "sim/", "reports/"))
includes = [f"-I{folder}/include" for folder in sources.FOLDERS]
check = subprocess.run(
    ["cppcheck", "--quiet", "--std=c11", "--enable=warning,performance,portability", "--inline-suppr",
     "--suppressions-list=.cppcheck", "--error-exitcode=1", f"--cppcheck-build-dir={cache}", "-j2",
     "--template={file}:{line}: {severity}: {message} [{id}]", *includes, *names],
    cwd=sources.ROOT, capture_output=True, text=True, check=False,
)
faults = [line for line in check.stderr.splitlines() if line.strip()]
if check.returncode != 0 and not faults:
    faults = [check.stdout or f"cppcheck ended with {check.returncode}"]
sources.finish(faults if check.returncode != 0 else [], f"cppcheck of {len(names)} files")
