#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Python package core/python: builds it in the build folder, runs its tests, and checks it with mypy.

  python_test.py BUILD           only its extension, with this interpreter if it has cffi and pytest, otherwise in an
                                 environment that is kept for the next time; mypy if it is installed
  python_test.py BUILD --wheel   a wheel from the tree and one from an sdist, each in a separate environment,
                                 where the README's example draws its histogram; mypy
  python_test.py BUILD --notebook  the wheel that has the program too; runs docs/dataframe.ipynb with it

Exits with 77 when the environment cannot be made: no pip, no network, no compiler for Python.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

CORE = pathlib.Path(__file__).resolve().parents[2] / "core"
IS_ENOUGH = "import cffi, pytest, setuptools; assert int(setuptools.__version__.split('.')[0]) >= 77"
NEEDS = ["cffi", "setuptools>=77", "wheel", "numpy", "pytest"]
TYPES = ["mypy", "types-cffi"]


def call(*command, **options):
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def environment(folder, *more):
    """The interpreter of an environment with everything that the package needs, and more; created once. One without
    more uses what the machine has. Its pip is that of the machine: to install another one takes four seconds."""
    python = folder / "bin/python"
    if not (folder / "is_whole").exists():
        shutil.rmtree(folder, ignore_errors=True)
        inherits = [] if more else ["--system-site-packages"]
        for command in ([sys.executable, "-m", "venv", "--without-pip", *inherits, folder],
                        [*pip(python), "install", "--quiet", "--no-compile", *NEEDS, *more]):
            done = subprocess.run(command, text=True, capture_output=True, check=False)
            if done.returncode != 0:
                print(f"skipped: no environment for Python: {(done.stderr or done.stdout).strip()[-300:]}")
                sys.exit(77)
        (folder / "is_whole").touch()
    return python


def pip(python):
    return [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python]


def can(python, code):
    return subprocess.run([python, "-c", code], capture_output=True, check=False).returncode == 0


def copy_of_core(folder):
    """A copy that a build may write into; files keep their times, so that nothing is built twice."""
    for name in ("src", "include", "python", "vectors"):
        shutil.rmtree(folder / name / "src" if name == "python" else folder / name, ignore_errors=True)
        shutil.copytree(CORE / name, folder / name, dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns("build", "__pycache__", "*.egg-info"))
    shutil.copy2(CORE / "LICENSE", folder)
    return folder / "python"


def judge(python, package, **options):
    print(call(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", package / "tests", cwd=package, **options))


def walk(python, build):
    """Runs the README's example, from a run database to a histogram, on a short run."""
    readme = (CORE / "python/README.md").read_text(encoding="utf-8")
    section = re.search(r"## A run as a histogram\n(.*?)\n## ", readme, re.S)
    code = "\n".join(re.findall(r"```python\n(.*?)```", section[1], re.S)).replace("46_000_000", "460_000")
    with tempfile.TemporaryDirectory() as folder:
        call(build / "bucketlab", "run", CORE.parent / "scenarios/three-state.yaml", cwd=folder)
        print(call(python, "-c", code, cwd=folder, env={**os.environ, "MPLBACKEND": "Agg"}))
        if (pathlib.Path(folder) / "partitions.png").stat().st_size < 10_000:
            sys.exit("the README's walk draws nothing")


def check_types(python, package, build):
    print(call(python, "-m", "mypy", "--strict", "--cache-dir", build / "python-mypy", package / "src/bucketing",
               package / "examples", cwd=package))


def build_and_test(build):
    kept = build / "python-environment"
    python = sys.executable if can(sys.executable, IS_ENOUGH) and not kept.exists() else environment(kept)
    package = copy_of_core(build / "python-core")
    compiler = {"CC": "ccache cc"} if shutil.which("ccache") else {}
    built = build / "python-built"
    call(python, "setup.py", "-q", "build", "--build-lib", built, cwd=package, env={**os.environ, **compiler})
    judge(python, package, env={**os.environ, "PYTHONPATH": str(built), "PYTHONDONTWRITEBYTECODE": "1"})
    if can(python, "import mypy, numpy"):
        check_types(python, package, build)


def build_wheels(build):
    tools = environment(build / "python-tools", *TYPES)
    with tempfile.TemporaryDirectory(dir=build) as scratch:
        scratch = pathlib.Path(scratch)
        package = copy_of_core(scratch / "core")
        check_types(tools, package, build)
        call(tools, "setup.py", "-q", "sdist", "--dist-dir", scratch / "sdist", cwd=package)
        for name, source in (("tree", package), ("sdist", next((scratch / "sdist").glob("*.tar.gz")))):
            call(*pip(tools), "wheel", "--no-deps", "--no-build-isolation", "-w", scratch / name, source)
            python = environment(scratch / f"environment-{name}", "matplotlib", *TYPES)
            call(*pip(python), "install", "--no-deps", next((scratch / name).glob("*.whl")))
            judge(python, package)
            walk(python, build)
            probe = "import bucketing\nreveal_type(bucketing.Strategy.count(5).kind)\n"
            (scratch / "probe.py").write_text(probe, encoding="utf-8")
            shown = call(python, "-m", "mypy", "--strict", scratch / "probe.py")
            if 'Revealed type is "bucketing.enums.Kind"' not in shown:
                sys.exit(f"who installs the package does not see its types:\n{shown}")


def run_notebook(build):
    """The cells run as one script, so Jupyter is not needed. The script contains assertions."""
    python = environment(build / "python-notebook", "pandas")
    cells = json.loads((CORE.parent / "docs/dataframe.ipynb").read_text(encoding="utf-8"))["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    with tempfile.TemporaryDirectory(dir=build) as scratch:
        call(sys.executable, "-B", CORE / "python/build_wheel.py", build / "bucketlab", scratch, "--no-build-isolation",
             env={**os.environ, "PIP_PYTHON": str(python)})
        call(*pip(python), "install", "--no-deps", "--force-reinstall", next(pathlib.Path(scratch).glob("*.whl")))
        shown = call(python, "-c", code + "\nprint(len(choice), len(sizes))", cwd=scratch)
        if shown.split() != ["5", "5"]:
            sys.exit(f"the notebook chooses among {shown}")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    if "--notebook" in sys.argv:
        return run_notebook(build)
    (build_wheels if "--wheel" in sys.argv else build_and_test)(build)


main()
