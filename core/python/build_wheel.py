# SPDX-License-Identifier: MIT
"""Builds a wheel that has the package bucketing and the program, which is then `python -m bucketlab run chat.yaml`.

  build_wheel.py [PROGRAM [OUT [OPTION OF PIP]...]]   PROGRAM: a bucketlab that is built already; otherwise the preset
                                                      release is built

The libraries of the program are in the wheel too, except those of the C and C++ compilers. So it works where glibc is
at least as new as here."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
OF_COMPILER = re.compile(r"lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+)\.so|ld-linux")
MAIN = '''# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the program of this package with its libraries."""
import os
import pathlib
import sys

folder = pathlib.Path(__file__).resolve().parent / "program"
path = os.pathsep.join(filter(None, [str(folder), os.environ.get("LD_LIBRARY_PATH")]))
os.execve(folder / "bucketlab", ["bucketlab", *sys.argv[1:]], {**os.environ, "LD_LIBRARY_PATH": path})
'''


def call(*command: object) -> str:
    return subprocess.run([str(word) for word in command], text=True, check=True, stdout=subprocess.PIPE,
                          cwd=ROOT).stdout


def add_program(package: pathlib.Path, program: pathlib.Path) -> None:
    folder = package / "src/bucketlab/program"
    folder.mkdir(parents=True)
    for name in ("__init__.py", "__main__.py"):
        (folder.parent / name).write_text(MAIN if name == "__main__.py" else "", encoding="utf-8")
    shutil.copy(program, folder / "bucketlab")
    for name, path in re.findall(r"^\s*(\S+) => (/\S+)", call("ldd", program), re.M):
        if not OF_COMPILER.match(name):
            shutil.copy(path, folder / name)
    shutil.copy(ROOT / "LICENSE", package / "LICENSE-bucketlab")
    project = package / "pyproject.toml"
    text = project.read_text(encoding="utf-8").replace('name = "bucketing"', 'name = "bucketlab"')
    text = text.replace('license = "MIT"', 'license = "GPL-3.0-or-later"')
    project.write_text(text.replace('["LICENSE"]', '["LICENSE*"]'), encoding="utf-8")


def main() -> None:
    program = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release/bucketlab").resolve()
    out = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ".").resolve()
    if len(sys.argv) < 2:
        call("cmake", "--preset", "release")
        call("cmake", "--build", "--preset", "release", "--target", "bucketlab")
    with tempfile.TemporaryDirectory() as scratch:
        core = pathlib.Path(scratch) / "core"
        shutil.copytree(ROOT / "core", core, ignore=shutil.ignore_patterns("vectors", "build", "__pycache__"))
        add_program(core / "python", program)
        call(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", *sys.argv[3:], "-w", out, core / "python")


main()
