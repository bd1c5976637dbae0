# SPDX-License-Identifier: MIT
"""Builds the extension from the core's sources, in the tree around this folder or in the sdist."""
import pathlib
import re
import shutil

from setuptools import setup
from setuptools.command.sdist import sdist

HERE = pathlib.Path(__file__).resolve().parent
CORE = HERE / "core" if (HERE / "core").is_dir() else HERE.parent


class SdistWithCore(sdist):
    """Copies the core into the sdist, as the folder `core`."""

    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        for folder in ("src", "include"):
            shutil.copytree(CORE / folder, pathlib.Path(base_dir) / "core" / folder, dirs_exist_ok=True)
        shutil.copy(CORE / "LICENSE", pathlib.Path(base_dir) / "core")


version = re.search(r'BK_VERSION "(.*)"', (CORE / "include/bucketing/api.h").read_text(encoding="utf-8"))
setup(version=version.group(1), cffi_modules=["build_core.py:builder"], cmdclass={"sdist": SdistWithCore})
