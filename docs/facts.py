#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Regenerates the tables of "The claims, one by one" in docs/findings.md: runs the shipped scenarios of the
claims in docs/facts_claims.py, and writes our figure next to each claim.

usage: docs/facts.py [--check] [--write FILE] [BUCKETLAB]"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

from findings_harness import ROOT, Failure

PAGE = os.path.join(ROOT, "docs", "findings.md")
HEADER = ("claim", "our figure", "agrees?", "why", "shown by")


class Lab:
    """Runs the program, each scenario once. The name of a scenario is its path below scenarios/, without the
    extension."""

    def __init__(self, program):
        self.program = os.path.abspath(program)
        self.runs = {}

    def json_of(self, *words):
        done = subprocess.run([self.program, *words], cwd=ROOT, capture_output=True, text=True, check=False)
        if not done.stdout:
            raise Failure(f"bucketlab {' '.join(words)}: {done.stderr.strip()}")
        return json.loads(done.stdout)

    def run(self, scenario):
        """Returns the run's --json output; fails if an expectation does not hold."""
        if scenario not in self.runs:
            with tempfile.TemporaryDirectory() as folder:
                run = self.json_of("run", f"scenarios/{scenario}.yaml", "--json", "--quiet", "--no-charts",
                                   "--db", os.path.join(folder, "facts.db"))
            failed = [f"{expect['text']} (actual {expect['actual']:g})" for expect in run["expect"] if not expect["ok"]]
            if failed or not run["expect"]:
                raise Failure(f"scenarios/{scenario}.yaml: expected {'; '.join(failed) or 'nothing'}")
            self.runs[scenario] = {strategy["label"]: strategy["metrics"] for strategy in run["strategies"]}
        return self.runs[scenario]

    @staticmethod
    def has_trace(scenario):
        """Returns whether the file that the scenario reads, if any, exists on this machine."""
        path = os.path.join(ROOT, "scenarios", f"{scenario}.yaml")
        with open(path, encoding="utf-8") as file:
            found = re.search(r"^(?:trace: *\{)? *file: *([^ ,}]+)", file.read(), re.M)
        return found is None or os.path.exists(os.path.join(os.path.dirname(path), found.group(1)))

    def refusal(self, trace, scenario):
        """Returns the error message for an invalid scenario. The scenario and the trace are given as text;
        the trace is stored as trace.csv."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("trace.csv", trace), ("scenario.yaml", scenario)):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(text)
            done = subprocess.run([self.program, "run", "scenario.yaml", "--quiet", "--no-charts"], cwd=folder,
                                  capture_output=True, text=True, check=False)
        if done.returncode != 2:
            raise Failure(f"bucketlab run accepts what it should refuse: exit code {done.returncode}")
        return done.stderr.strip()

    def odds(self, bits, threshold, *words):
        """Returns the exact distribution of one setting."""
        return self.json_of("odds", "--bits", str(bits), "--threshold", str(threshold), *words, "--json")


class Metrics:
    """The metrics of a claim's scenario, from which its figure is computed: run["LABEL", "METRIC"]."""

    def __init__(self, metrics):
        self.metrics = metrics

    def __getitem__(self, name):
        label, metric = name
        if metric not in self.metrics.get(label, {}):
            raise Failure(f"no metric {label}.{metric}")
        return self.metrics[label][metric]


def table_of(lab, part, old):
    """Returns the lines of a part's table. If the trace of a claim is missing, its old line is kept."""
    lines = ["| " + " | ".join(HEADER) + " |", "|" + "---|" * len(HEADER)]
    for claim in part.claims:
        if not all(map(lab.has_trace, claim.scenarios)):
            lines += [line for line in old if line.startswith(f"| {claim.text} |")]
            continue
        try:
            figure = claim.figure(lab, *(Metrics(lab.run(name)) for name in claim.scenarios))
        except Failure as failure:
            raise Failure(f"claim '{claim.text}': {failure}") from failure
        shown = ", ".join(f"[{os.path.basename(name)}](../scenarios/{name}.yaml)" for name in claim.scenarios)
        lines.append(f"| {claim.text} | {figure} | {claim.agrees} | {claim.why} | {shown or claim.command} |")
    return lines


def filled(page, lab, parts):
    """Returns the page with regenerated tables."""
    for part in parts:
        marked = re.findall(rf"<!-- facts {part.name} -->\n.*?<!-- /facts -->", page, re.S)
        if len(marked) != 1:
            raise Failure(f"{PAGE}: <!-- facts {part.name} --> occurs {len(marked)} times, not once")
        table = table_of(lab, part, marked[0].splitlines())
        page = page.replace(marked[0], "\n".join([f"<!-- facts {part.name} -->", *table, "<!-- /facts -->"]))
    return page


def first_difference(old, new):
    """Returns the first pair of lines that differ, or None."""
    for was, now in zip(old.splitlines() + [""], new.splitlines() + [""]):
        if was != now:
            return was, now
    return None


def main():
    from facts_claims import PARTS  # the import needs this folder in sys.path, where a script has it
    parser = argparse.ArgumentParser(prog="docs/facts.py", description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when the page is not up to date")
    parser.add_argument("--write", default=PAGE, metavar="FILE", help="the page, instead of docs/findings.md")
    parser.add_argument("bucketlab", nargs="?", default=os.path.join(ROOT, "build", "release", "bucketlab"))
    arguments = parser.parse_args()
    try:
        with open(PAGE, encoding="utf-8") as file:
            old = file.read()
        new = filled(old, Lab(arguments.bucketlab), PARTS)
        if arguments.check:
            difference = first_difference(old, new)
            if difference:
                raise Failure(f"{PAGE} says\n  {difference[0]}\nand runs say\n  {difference[1]}\n"
                              "docs/facts.py writes it again")
        else:
            with open(arguments.write, "w", encoding="utf-8") as file:
                file.write(new)
    except (Failure, OSError) as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
