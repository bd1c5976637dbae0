#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""core/java passes the vectors through the shared library: java_test.py BUILD.

Exits with 77 when there is no JDK, no Maven, or no access to the artifacts that Maven needs.
"""
import pathlib
import re
import shutil
import subprocess
import sys

CORE = pathlib.Path(__file__).resolve().parents[2] / "core"


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def main():
    version = re.search(r'BK_VERSION "(.*)"', (CORE / "include/bucketing/api.h").read_text(encoding="utf-8"))[1]
    if f"<version>{version}</version>" not in (CORE / "java/pom.xml").read_text(encoding="utf-8"):
        sys.exit(f"core/java/pom.xml is not of version {version}")
    build = pathlib.Path(sys.argv[1]).resolve()
    for program in ("javac", "mvn"):
        if shutil.which(program) is None:
            skip(f"no {program}")
    folder = build / "java"
    shutil.copytree(CORE / "java", folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("target"))
    made = subprocess.run(["mvn", "-q", "-B", "process-classes"], cwd=folder, text=True, capture_output=True,
                          check=False)
    if made.returncode != 0:
        told = made.stdout + made.stderr
        if "COMPILATION ERROR" in told:
            sys.exit(told)
        skip(f"Maven finds not all that it needs: {told.strip()[:300]}")
    command = ["java", f"-Djna.library.path={build / 'core'}", "-cp", "target/classes:target/dependency/*",
               "bucketing.Vectors", CORE / "vectors"]
    sys.exit(subprocess.run(command, cwd=folder, check=False).returncode)


main()
