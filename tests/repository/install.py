# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: the program can be configured without cmocka and without Ninja, and installed whatever targets were
built. Method: a folder of pkg-config files without cmocka's, a Makefile generator, and a separate prefix.
With `--build`, one target of the configured tree is built and the tree is installed; without it, the existing
build tree is installed, and programs outside of it use the installed core (embed.py). The argument is the
build folder.
"""
import os
import subprocess
import sys
import tempfile

import embed

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
INSTALLED = ["bin/bucketlab", "share/man/man1/bucketlab.1", "share/bash-completion/completions/bucketlab",
             "include/bucketing/strategy.h"]


def call(*command, **environment):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                          env={**os.environ, **environment})
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout[-4000:]}")
    return done.stdout


def configure_without_cmocka(folder):
    """Returns the build folder."""
    packages = os.path.join(folder, "packages")
    os.mkdir(packages)
    places = call("pkg-config", "--variable", "pc_path", "pkg-config").strip().split(":")
    for place in filter(os.path.isdir, places):
        for name in os.listdir(place):
            link = os.path.join(packages, name)
            if name != "cmocka.pc" and not os.path.lexists(link):
                os.symlink(os.path.join(place, name), link)
    build = os.path.join(folder, "build")
    out = call("cmake", "-S", SOURCE, "-B", build, "-G", "Unix Makefiles", PKG_CONFIG_LIBDIR=packages,
               PKG_CONFIG_PATH="")
    if out.count("The tests are off, since cmocka is missing\n") != 1:
        sys.exit(f"no line, or more than one, says that the tests are off:\n{out}")
    return build


def install(build, prefix):
    call("cmake", "--install", build, "--prefix", prefix)
    for name in INSTALLED:
        if not os.path.exists(os.path.join(prefix, name)):
            sys.exit(f"{name} was not installed")
    call(os.path.join(prefix, "bin/bucketlab"), "--version")


def main():
    with tempfile.TemporaryDirectory(prefix="bucketlab-install-") as folder:
        build = configure_without_cmocka(folder)
        if sys.argv[2:] == ["--build"]:
            call("cmake", "--build", build, "--target", "bucketlab", "-j", str(os.cpu_count()))
        else:
            build = sys.argv[1]
        install(build, os.path.join(folder, "prefix"))
        embed.Embed(os.path.join(folder, "prefix"), os.path.join(folder, "embed")).judge()


main()
