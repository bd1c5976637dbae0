#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the figures of live runs into docs/live.md, between their markers.

The figures are stored in docs/live.json. --keep FOLDER replaces those that `./test.sh --live FOLDER` has
measured; without it, the page shows the stored figures.

usage: docs/live.py [--keep FOLDER] [--write | --check]"""

import argparse
import json
import math
import os
import re
import statistics
import sys

from findings_harness import ROOT, Failure, filled

DOCS = os.path.join(ROOT, "docs")
PAGE, KEPT = os.path.join(DOCS, "live.md"), os.path.join(DOCS, "live.json")
# For each place where runs were made: its file, and the section of the page.
PLACES = {
    "sqlite": ("sqlite-guarded", "sqlite"),
    "singles": ("sqlite-singles",),
    "node": ("node",),
    "ring": ("ring-guarded", "ring"),
    "long-sqlite": ("long-sqlite",),
    "long-ring": ("long-ring",),
}
METRICS = re.compile(
    r"writes\.(rows|misrouted|refused|increments_(lost|doubled)|counter_increments|state_(reads|writes)|lwt|lock_ops)$"
    r"|latency\.write\.p(50|99)$|partitions\.closed(\.rows\.(mean|p50|p99|max))?$|oracle\."
)
STUDENT = {
    2: 12.71,
    3: 4.303,
    4: 3.182,
    5: 2.776,
    6: 2.571,
    7: 2.447,
    8: 2.365,
    9: 2.306,
    10: 2.262,
}  # at 97.5 %
KINDS = {
    "increments": "writes.counter_increments",
    "state reads": "writes.state_reads",
    "state writes": "writes.state_writes",
    "LWTs": "writes.lwt",
    "lock": "writes.lock_ops",
}


def shown(value):
    """Formats a number with three digits."""
    if value == 0 or abs(value) >= 99.95:
        return f"{value:.0f}"
    return f"{value:.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"


class Figure:
    """Formats a figure of a live run, and the interval in which that of a simulated twin with another seed is
    expected with 95 % confidence."""

    def __init__(self, run, name, per=None, by=1.0):
        def of(metrics):
            whole = metrics.get(per, 1) if per else 1
            return metrics.get(name, 0) * by / whole if whole else 0.0

        self.live = of(run["live"]) if name in run["live"] else None
        labs = [of(metrics) for metrics in run["lab"]]
        self.mean = statistics.mean(labs)
        apart = (
            statistics.stdev(labs) * STUDENT[len(labs)] * math.sqrt(1 + 1 / len(labs)) if len(labs) > 1 else 0
        )
        self.low, self.high = max(0.0, self.mean - apart), self.mean + apart

    def __str__(self):
        if self.live is None:
            return "-"
        if self.live == self.mean == self.high:
            return shown(self.live)
        is_within = self.low <= self.live <= self.high or shown(self.live) == shown(self.mean)
        live = shown(self.live) if is_within else f"**{shown(self.live)}**"
        span = f" ({shown(self.low)} to {shown(self.high)})" if self.high > self.low else ""
        return f"{live} / {shown(self.mean)}{span}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---|" + "--:|" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


def violated(metrics):
    names = {
        name.split(".")[1]: int(value)
        for name, value in sorted(metrics.items())
        if name.startswith("oracle.")
    }
    return ", ".join(f"`{name}` {value}" for name, value in names.items() if value) or "none"


def faults_of(run):
    text = f"{run['kills']}, {run['pauses']}"
    return text + (f", {run['node_pauses']}, {run['node_stops']}" if run["nodes"] > 1 else "")


def tables(runs):
    nodes = ", pauses and stops of nodes" if runs[0]["nodes"] > 1 else ""
    verdicts = [
        [
            f"`{run['protocol']}`",
            f"{run['rows']:,}",
            faults_of(run),
            Figure(run, "writes.misrouted", "writes.rows", 1000),
            Figure(run, "writes.refused", "writes.rows", 1000),
            Figure(run, "writes.increments_lost"),
            Figure(run, "writes.increments_doubled"),
            violated(run["live"]),
            violated(run["lab"][0]),
        ]
        for run in runs
    ]
    costs = [
        [f"`{run['protocol']}`", *(Figure(run, name, "writes.rows", 1000) for name in KINDS.values())]
        for run in runs
    ]
    sizes = [
        [
            f"`{run['protocol']}`",
            Figure(run, "partitions.closed"),
            *(Figure(run, f"partitions.closed.rows.{name}") for name in ("mean", "p50", "p99", "max")),
            *(Figure(run, f"latency.write.{name}") for name in ("p50", "p99")),
        ]
        for run in runs
    ]
    head = [
        "protocol",
        "rows",
        "kills, stops" + nodes,
        "misrouted",
        "refused",
        "lost",
        "doubled",
        "violated live",
        "in the lab",
    ]
    return "\n\n".join(
        [
            table(head, verdicts),
            "Operations per 1000 rows, live / in the lab:",
            table(["protocol", *KINDS], costs),
            "Closed partitions and their rows; milliseconds until a row is acknowledged:",
            table(["protocol", "closed", "mean", "p50", "p99", "max", "write p50", "write p99"], sizes),
        ]
    )


def keep(folder, kept):
    for place, names in PLACES.items():
        runs = []
        for name in names:
            path = os.path.join(folder, name + ".json")
            if os.path.exists(path):
                with open(path, encoding="utf-8") as file:
                    runs += json.load(file)
        for run in runs:
            for metrics in [run["live"], *run["lab"]]:
                for name in [name for name in metrics if not METRICS.match(name)]:
                    del metrics[name]
        if runs:
            kept[place] = runs


def write_kept(kept):
    """Returns a table with one run per line."""
    places = [
        f" {json.dumps(place)}: [\n"
        + ",\n".join("  " + json.dumps(run, sort_keys=True) for run in runs)
        + "\n ]"
        for place, runs in kept.items()
    ]
    with open(KEPT, "w", encoding="utf-8") as file:
        file.write("{\n" + ",\n".join(places) + "\n}\n")


def main():
    parser = argparse.ArgumentParser(prog="docs/live.py", description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument(
        "--keep", metavar="FOLDER", help="use the figures that ./test.sh --live FOLDER has written"
    )
    to_do = parser.add_mutually_exclusive_group()
    to_do.add_argument("--write", action="store_true", help="write them into the page")
    to_do.add_argument("--check", action="store_true", help="exit 1 when the page has other figures")
    arguments = parser.parse_args()
    kept = {}
    if os.path.exists(KEPT):
        with open(KEPT, encoding="utf-8") as file:
            kept = json.load(file)
    try:
        if arguments.keep:
            keep(arguments.keep, kept)
            write_kept(kept)
        with open(PAGE, encoding="utf-8") as file:
            old = file.read()
        new = old
        for place, runs in kept.items():
            new = filled(new, place, tables(runs))
        if arguments.check and new != old:
            raise Failure("docs/live.md shows other figures; docs/live.py --write updates it")
        if arguments.write and new != old:
            with open(PAGE, "w", encoding="utf-8") as file:
                file.write(new)
    except Failure as why:
        print(f"docs/live.py: {why}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
