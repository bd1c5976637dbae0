#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the outputs in docs/tutorial.md again: a reader's folder is made, the files that the page shows are
written into it, the page's commands are run there one after the other, and what they print is put below them.

In the page `<!-- file NAME -->` stands before a block that is a file. A block that begins with `$ ` holds commands
with their output; a line `...` in it stands for lines that are left out, all between those that stand before and
after it. A command ends with exit code 0, unless `echo $?` follows it.

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
# What is another one each time: how long it took, and when it was.
VOLATILE = ((re.compile(r", \d+\.\d s$", re.M), ", 0.1 s"),
            (re.compile(r"\d+\.\d(?=  [0-9a-f]{16}$)", re.M), "0.1"))


class Reader:
    """Somebody with the program and a folder that holds what the page starts with."""

    def __init__(self, program, folder):
        self.folder = folder
        os.symlink(os.path.abspath(program), os.path.join(folder, "bucketlab"))
        shutil.copytree(os.path.join(ROOT, "scenarios"), os.path.join(folder, "work", "scenarios"))
        self.code = 0

    def write(self, name, text):
        with open(os.path.join(self.folder, "work", name), "w", encoding="utf-8") as file:
            file.write(text)

    def run(self, command):
        """What a terminal shows of it, apart from progress."""
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
    """The lines with as many left out as the old ones leave out: all between their heads and tails."""
    if "..." not in old:
        return lines
    head = old.index("...")
    tail = len(old) - head - 1
    if len(lines) <= head + tail:
        return lines
    return lines[:head] + ["..."] + lines[len(lines) - tail:]


def told(body, reader):
    """The block with its commands' outputs made again."""
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
    """Number, line there, line here; or None."""
    both = zip(old.splitlines() + [""], new.splitlines() + [""])
    return next(((number, was, now) for number, (was, now) in enumerate(both, 1) if was != now), None)


def main():
    parser = argparse.ArgumentParser(prog="docs/tutorial.py", description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when the page is off")
    parser.add_argument("--write", default=PAGE, metavar="FILE", help="the page, in place of docs/tutorial.md")
    parser.add_argument("--page", default=PAGE, metavar="FILE", help="read this in place of docs/tutorial.md")
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
