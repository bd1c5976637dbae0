#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Redraws the example charts of docs/charts from shipped scenarios.

charts.json records each chart's command, the run's digest, a checksum and the versions of the drawing libraries. Other
versions of a library or the font draw other bytes, so bytes are compared only if the versions are equal.

usage: docs/charts.py [--check] [--folder DIR] [BUCKETLAB]"""
import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

from findings_harness import ROOT, Failure

FOLDER = os.path.join(ROOT, "docs", "charts")
# The commands, each with the names of the charts that are kept.
COMMANDS = (
    ("bucketlab run scenarios/tune-sensors.yaml",
     ("timeline", "reads", "summary")),
    ("bucketlab run scenarios/weighted.yaml", ("partitions-bytes",)),
    ("bucketlab run scenarios/three-state.yaml", ("nodes", "latency")),
    ("bucketlab tune scenarios/tune-sensors.yaml --out charts", ("tune-front",)),
)


def libraries():
    """The versions of the drawing libraries on this machine."""
    def told(*command):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
        return done.stdout.strip()

    fonts = [told("fc-match", "-f", "%{file}", f"DejaVu Sans:{style}") for style in ("regular", "bold")]
    versions = {name: told("pkg-config", "--modversion", name)
                for name in ("cairo", "pangocairo", "freetype2", "libpng", "zlib")}
    return {**versions, "fonts": [checksum(name) if os.path.exists(name) else "" for name in fonts]}


def checksum(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def drawn(program, commands, folder):
    """Draws the charts into the folder. Returns the entries of charts.json for the charts that are kept."""
    entries = {}
    for command, kept in commands:
        words = command.split()
        scenario = os.path.join(ROOT, words[2])
        out = tempfile.mkdtemp(dir=folder)
        database = os.path.join(out, "x.db")
        done = subprocess.run([program, words[1], scenario, "--quiet", "--out", out, "--db", database],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        found = re.search(r"digest ([0-9a-f]{16}), ", done.stdout)
        if done.returncode != 0 or found is None:
            raise Failure(f"$ {command}\nexit code {done.returncode}\n{done.stderr}{done.stdout}")
        name = os.path.splitext(os.path.basename(scenario))[0]
        for chart in kept:
            path = os.path.join(out, f"{name}-{chart}.png")
            if not os.path.exists(path):
                raise Failure(f"$ {command}\nno longer draws {name}-{chart}.png")
            entries[chart + ".png"] = {"command": command, "digest": found[1], "sha256": checksum(path)}
            os.replace(path, os.path.join(folder, chart + ".png"))
    return entries


def faults(folder, made):
    """Returns a line for each chart that differs from what the program draws now, whose entries are `made`."""
    with open(os.path.join(folder, "charts.json"), encoding="utf-8") as file:
        kept = json.load(file)
    found = []
    for name, entry in kept["charts"].items():
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            found.append(f"{name}: it is missing")
        elif checksum(path) != entry["sha256"]:
            found.append(f"{name}: it differs from the checksum in charts.json")
    is_same = kept["libraries"] == libraries()
    for name, entry in made.items():
        old = kept["charts"].get(name)
        if old is None or (old["command"], old["digest"]) != (entry["command"], entry["digest"]):
            found.append(f"{name}: it shows another run")
        elif is_same and old["sha256"] != entry["sha256"]:
            found.append(f"{name}: the program draws it differently")
    return found


def main():
    parser = argparse.ArgumentParser(prog="docs/charts.py", description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a chart is out of date")
    parser.add_argument("--folder", default=FOLDER, metavar="DIR", help="in place of docs/charts")
    parser.add_argument("bucketlab", nargs="?", default=os.path.join(ROOT, "build", "release", "bucketlab"))
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.bucketlab)
    try:
        if arguments.check:
            with tempfile.TemporaryDirectory() as work:
                found = faults(arguments.folder, drawn(program, COMMANDS, work))
            if found:
                raise Failure("\n".join(found) + "\nrun docs/charts.py to draw them again")
            return 0
        with tempfile.TemporaryDirectory() as work:
            made = drawn(program, COMMANDS, work)
            for name in made:
                with open(os.path.join(work, name), "rb") as chart, \
                        open(os.path.join(arguments.folder, name), "wb") as file:
                    file.write(chart.read())
        with open(os.path.join(arguments.folder, "charts.json"), "w", encoding="utf-8") as file:
            json.dump({"libraries": libraries(), "charts": made}, file, indent=2, sort_keys=True)
            file.write("\n")
    except (Failure, OSError) as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
