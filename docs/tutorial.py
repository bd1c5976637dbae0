#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Regenerates the outputs in docs/tutorial.md: creates a folder as a reader would, writes the page's files
into it, runs the page's commands there in order, and puts their output below them.

In the page, a block after `<!-- file NAME -->` is a file. A block that begins with `$ ` has commands with
their output; a line `...` in it replaces the lines between the line before it and the line after it. A
command must end with exit code 0, unless `echo $?` follows it.

usage: docs/tutorial.py [--check] [--write FILE] [BUCKETLAB]"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

from findings_harness import ROOT, Failure

PAGE = os.path.join(ROOT, "docs", "tutorial.md")
BLOCK = re.compile(r"(?:<!-- file (?P<file>\S+) -->\n)?```(?P<kind>\w*)\n(?P<body>.*?)```\n", re.S)
PROGRESS = re.compile(r"\S+ +\d+ %, |\S+ .* left, ")
# Parts of outputs that differ from run to run: durations and times.
VOLATILE = ((re.compile(r", \d+\.\d s$", re.M), ", 0.1 s"),
            (re.compile(r"\d+\.\d(?=  [0-9a-f]{16}$)", re.M), "0.1"))


class Reader:
    """A reader with the program, and a folder with the files that the page requires at its start."""

    def __init__(self, program, folder):
        self.folder = folder
        os.symlink(os.path.abspath(program), os.path.join(folder, "bucketlab"))
        shutil.copytree(os.path.join(ROOT, "scenarios"), os.path.join(folder, "work", "scenarios"))
        self.code = 0

    def write(self, name, text):
        with open(os.path.join(self.folder, "work", name), "w", encoding="utf-8") as file:
            file.write(text)

    def run(self, command):
        """Returns the text as a terminal shows it, without progress lines."""
        environment = dict(os.environ, NO_COLOR="1", PATH=self.folder + os.pathsep + os.environ["PATH"])
        done = subprocess.run(["sh", "-c", f"(exit {self.code}); {command}"], cwd=os.path.join(self.folder, "work"),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=environment, check=False)
        self.code = done.returncode
        text = "".join(line for line in done.stderr.splitlines(True) if not PROGRESS.match(line)) + done.stdout
        for pattern, instead in VOLATILE:
            text = pattern.sub(instead, text)
        return text


def shortened(lines, old):
    """Returns the new lines, shortened by `...` at the same places as the old ones."""
    if "..." not in old:
        return lines
    head = old.index("...")
    tail = len(old) - head - 1
    if len(lines) <= head + tail:
        return lines
    return lines[:head] + ["..."] + lines[len(lines) - tail:]


def told(body, reader):
    """Returns the block with the new output of its commands."""
    entries = []
    for line in body.splitlines():
        if line.startswith("$ "):
            entries.append((line[2:], []))
        else:
            entries[-1][1].append(line)
    lines = []
    for index, (command, old) in enumerate(entries):
        output = reader.run(command).splitlines()
        asks_code = index + 1 < len(entries) and entries[index + 1][0] == "echo $?"
        if reader.code != 0 and not asks_code:
            raise Failure(f"$ {command}\nexit code {reader.code}\n" + "\n".join(output))
        lines += [f"$ {command}", *shortened(output, old)]
    return "".join(line.rstrip() + "\n" for line in lines)


def remade(page, program):
    with tempfile.TemporaryDirectory() as folder:
        reader = Reader(program, folder)
        parts, at = [], 0
        for found in BLOCK.finditer(page):
            body = found["body"]
            if found["file"]:
                reader.write(found["file"], body)
            elif body.startswith("$ "):
                parts += [page[at:found.start("body")], told(body, reader)]
                at = found.end("body")
        return "".join(parts) + page[at:]


def first_difference(old, new):
    """Returns the number of the first line that differs, the line in the page and the new line; or None."""
    both = zip(old.splitlines() + [""], new.splitlines() + [""])
    return next(((number, was, now) for number, (was, now) in enumerate(both, 1) if was != now), None)


def main():
    parser = argparse.ArgumentParser(prog="docs/tutorial.py", description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when the page is not up to date")
    parser.add_argument("--write", default=PAGE, metavar="FILE", help="the page, instead of docs/tutorial.md")
    parser.add_argument("--page", default=PAGE, metavar="FILE", help="read this instead of docs/tutorial.md")
    parser.add_argument("bucketlab", nargs="?", default=os.path.join(ROOT, "build", "release", "bucketlab"))
    arguments = parser.parse_args()
    try:
        with open(arguments.page, encoding="utf-8") as file:
            old = file.read()
        new = remade(old, arguments.bucketlab)
        if not arguments.check:
            with open(arguments.write, "w", encoding="utf-8") as file:
                file.write(new)
        elif new != old:
            number, was, now = first_difference(old, new)
            raise Failure(f"{arguments.page}:{number}: the page says\n  {was}\nand the program\n  {now}\n"
                          "docs/tutorial.py writes it again")
    except (Failure, OSError) as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
