# SPDX-License-Identifier: GPL-3.0-or-later
"""core/go passes the vectors, and the cases of other seeds that the core makes: go_test.py GENERATOR. Exits with 77
when there is no go."""
import os
import pathlib
import shutil
import subprocess
import sys

GO = shutil.which("go") or "/usr/local/go/bin/go"
FOLDER = pathlib.Path(__file__).resolve().parents[2] / "core/go"
if not pathlib.Path(GO).exists():
    print("skipped: no go")
    sys.exit(77)
for more in ({}, {"GENERATOR": sys.argv[1], "SEEDS": "1001..1400"}):
    environment = {**os.environ, "GOFLAGS": "-mod=mod", "GOPROXY": "off", **more}
    command = [GO, "test", "-timeout", "20m", "-count=1", "."]
    if subprocess.run(command, cwd=FOLDER, env=environment, check=False).returncode != 0:
        sys.exit(1)
