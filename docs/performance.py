#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes measured figures into docs/performance.md: the tables between their markers, and the charts.

The figures are stored in docs/performance.json. --measure runs the benchmark and replaces the stored figures
of the measured cases; it takes some minutes, on a machine without other load. Without it, the page is made
from the stored figures.

usage: docs/performance.py [--measure SET]... [--only TEXT] [--from FILE]... [--write | --check] [--build DIR]"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time

from curves import draw
from findings_harness import ROOT, Failure

DOCS = os.path.join(ROOT, "docs")
PAGE = os.path.join(DOCS, "performance.md")
KEPT = os.path.join(DOCS, "performance.json")
GAPS = {"exp-2": "exponential, 2 pending", "exp-1e2": "exponential, 100", "exp-1e3": "exponential, 10^3",
        "exp-1e5": "exponential, 10^5", "exp-1e6": "exponential, 10^6",
        "tied-1e5": "1000 events at each time, 10^5", "timeout-1e3": "with timeouts, 10^3",
        "timeout-1e5": "with timeouts, 10^5", "bimodal-1e5": "1 ms or 100 s, 10^5", "pareto-1e5": "Pareto, 10^5"}
# Cases that only some builds have.
ELSEWHERE = ("cimba-", "threads-ranks")
ENGINES = ("exact", "thinned", "cluster")
AXES = {"rows": "seconds over rows, 10^3 keys", "keys": "seconds over keys: 10^7 rows exact, 10^9 thinned, 2 x 10^5 "
        "in the cluster", "agents": "seconds over agents, 10^5 rows", "nodes": "seconds over nodes, 10^5 rows",
        "strategies": "seconds over strategies: 2 x 10^6 rows exact, 10^8 thinned, 2 x 10^4 in the cluster"}


def digits(value):
    """Formats a number with three digits."""
    if value >= 99.95:
        return f"{value:.0f}"
    places = 1 if value >= 9.995 else 2 if value >= 0.9995 else 3 if value >= 0.0095 else 4
    return f"{value:.{places}f}"


def power(value):
    """Formats the x value of a curve's point: 1, 4, 16, 10^3; large ones are powers of ten."""
    exponent = round(math.log10(value))
    return f"10^{exponent}" if exponent >= 3 and value == 10 ** exponent else f"{value:.0f}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---|" + "--:|" * (len(head) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def budget_of(case):
    if "budget" not in case:
        return ""
    (name, bound), = case["budget"].items()
    sign = "at most" if name.endswith("most") else "at least"
    return f"{sign} {bound:g} {'times' if name.startswith('ratio') else case['unit']}"


def budgets(cases):
    """Returns all cases except points of curves and holds."""
    rows, group = [], None
    for case in cases.values():
        name = case["name"]
        if "curve" in case or (name.startswith("queue-") and name != "queue-customers"):
            continue
        if case["group"] != group:
            group = case["group"]
            rows.append([f"**{group}**", "", "", "", "", ""])
        value, ratio = case["value"], case["ratio"]
        span = f"{digits(value['least'])} to {digits(value['most'])}" if case["runs"] > 1 else "one run"
        shown = "" if ratio is None else f"{digits(ratio['median'])} {case['ratio_is']}"
        budget = budget_of(case)
        if budget:
            budget += ": kept" if case["kept"] else ": **missed**"
        rows.append([case["title"], f"{digits(value['median'])} {case['unit']}", span, shown, budget,
                     f"{case['peak_kib'] / 1024:.0f}"])
    return table(["", "median", "range", "ratio", "budget", "peak MiB"], rows)


def queues(cases):
    return table(["", "ns per hold"], [[what, digits(cases[f"queue-{gaps}"]["value"]["median"])]
                                       for gaps, what in GAPS.items()])


def points(cases, curve):
    return [case for case in cases.values() if case.get("curve") == curve]


def growth(cases):
    parts = []
    for axis, what in AXES.items():
        curves = {engine: points(cases, f"{engine}-{axis}") for engine in ENGINES}
        columns = sorted({case["at"] for found in curves.values() for case in found})
        rows = []
        for engine, found in curves.items():
            known = {case["at"]: digits(case["value"]["median"]) for case in found}
            if known:
                rows.append([engine] + [known.get(column, "") for column in columns])
        parts.append(table([what, *(power(column) for column in columns)], rows))
    return "\n\n".join(parts)


def day(unix_s):
    return time.strftime("%Y-%m-%d", time.gmtime(unix_s))


def later(kept):
    """Returns what was measured again after the whole table: groups of cases, or single cases of a group."""
    rounds, groups = {}, {}
    for case in kept["cases"].values():
        groups.setdefault(case["group"], []).append(case)
    for group, cases in groups.items():
        told = {(day(case["unix_s"]), round(case["load"])) if "unix_s" in case else None for case in cases}
        for case in cases:
            if "unix_s" in case:
                titles = rounds.setdefault((day(case["unix_s"]), round(case["load"])), {})
                titles[group if len(told) == 1 else case["title"]] = True
    return "".join(f"\nOn {when} at a load of {load}: {'; '.join(titles)}." for (when, load), titles in rounds.items())


def machine(kept):
    told = kept["machine"]
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(told["unix_s"]))
    return (f"Measured on {when} on {told['processors']} virtual cores of an {told['model']} that "
            f"other programs use too, gcc {told['compiler'].split()[0]}: the load was {told['load']:.1f} at the end."
            + later(kept))


def line(label, found, unit):
    return label, [(case["at"], *(case["value"][name] / unit for name in ("median", "least", "most")))
                   for case in found]


def pictures(cases):
    foot = "Medians; bars from the fastest to the slowest run. docs/performance.py --measure growth measures again"
    draw(os.path.join(DOCS, "images", "performance-rows.png"),
         {"title": "What a run costs over its rows", "subtitle": "10^3 keys; cluster: 16 agents, 6 nodes; one core",
          "foot": foot, "x": "size of the run | rows | log", "y": "time | seconds | log"},
         [line(engine, points(cases, f"{engine}-rows"), 1) for engine in ENGINES])
    lines = []
    for axis in ("keys", "agents", "nodes", "strategies"):
        for engine in ENGINES:
            found = points(cases, f"{engine}-{axis}")
            if len(found) > 1:
                label = axis if axis in ("agents", "nodes") else f"{axis}, {engine}"
                lines.append(line(label, found, found[0]["value"]["median"]))
    draw(os.path.join(DOCS, "images", "performance-growth.png"),
         {"title": "What more of something costs", "subtitle": "The same rows; time as a multiple of that with the "
          "fewest", "foot": foot, "x": "keys, agents, nodes or strategies | plain | log",
          "y": "times the cost of the fewest | plain | log"}, lines)


def filled(page, cases, kept):
    blocks = {"machine": machine(kept), "budgets": budgets(cases), "queues": queues(cases), "growth": growth(cases)}
    for name, text in blocks.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        if page.count(begin) != 1 or page.count(end) != 1:
            raise Failure(f"{begin.strip()} or its end does not occur exactly once in {PAGE}")
        before, rest = page.split(begin)
        page = f"{before}{begin}{text}\n{end}{rest.split(end)[1]}"
    return page


def measured(bench, chosen, only, runs):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "bench.json")
        command = [bench, "--set", chosen, "--only", only, "--runs", str(runs), "--json", path]
        done = subprocess.run(command, check=False)
        if done.returncode != 0:
            raise Failure(f"{bench} --set {chosen}: exit code {done.returncode}")
        return read(path)


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def listed(bench, chosen):
    done = subprocess.run([bench, "--set", chosen, "--list"], capture_output=True, text=True, check=True)
    return done.stdout.split()


def keep(kept, figures):
    """A case that was measured separately has its own time and load."""
    told, is_all = figures["machine"], 2 * len(figures["cases"]) > len(kept["cases"])
    since = {} if is_all else {"unix_s": told["unix_s"], "load": told["load"]}
    for case in figures["cases"]:
        kept["cases"][case["name"]] = {**case, "runs": len(case["runs"]), **since}
    if is_all:
        kept["machine"] = told


def load():
    if not os.path.exists(KEPT):
        return {"machine": {}, "cases": {}}
    kept = read(KEPT)
    return {"machine": kept["machine"], "cases": {case["name"]: case for case in kept["cases"]}}


def save(kept):
    lines = ",\n".join(json.dumps(case) for case in kept["cases"].values())
    with open(KEPT, "w", encoding="utf-8") as file:
        file.write(f'{{"machine": {json.dumps(kept["machine"])},\n"cases": [\n{lines}\n]}}\n')


def main():
    parser = argparse.ArgumentParser(prog="docs/performance.py", description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--measure", metavar="SET", action="append", default=[],
                        choices=("usual", "long", "growth"), help="usual, long or growth; repeatable")
    parser.add_argument("--from", metavar="FILE", action="append", default=[], dest="figures",
                        help="use the figures that the benchmark wrote to FILE; repeatable")
    parser.add_argument("--only", metavar="TEXT", default="", help="only cases whose names begin with TEXT")
    parser.add_argument("--runs", metavar="N", type=int, default=0, help="runs of each case, instead of its own number")
    parser.add_argument("--build", metavar="DIR", default=os.path.join(ROOT, "build", "release"))
    to_do = parser.add_mutually_exclusive_group()
    to_do.add_argument("--write", action="store_true", help="write them into the page, and draw the charts")
    to_do.add_argument("--check", action="store_true", help="exit 1 when the page has other figures, or lacks a case")
    arguments = parser.parse_args()
    bench = os.path.join(arguments.build, "tests", "bench", "bucketlab_bench")
    try:
        kept = load()
        for chosen in arguments.measure:
            keep(kept, measured(bench, chosen, arguments.only, arguments.runs))
        for path in arguments.figures:
            keep(kept, read(path))
        order = listed(bench, "all")
        if arguments.check:
            wanted = listed(bench, "usual") + listed(bench, "growth")
            missing = [name for name in wanted if name not in kept["cases"] and not name.startswith(ELSEWHERE)]
            if missing:
                raise Failure(f"no figures of {', '.join(missing)}; docs/performance.py --measure SET --only "
                              f"{missing[0]} --write measures them")
        # In the order of the benchmark's table. A case that only another build measures stays after the case
        # that it followed.
        rank, place = {name: number for number, name in enumerate(order)}, -1
        known = {name: case for name, case in kept["cases"].items() if name in rank or name.startswith(ELSEWHERE)}
        for name in known:
            place = rank.setdefault(name, place)
        kept["cases"] = dict(sorted(known.items(), key=lambda item: rank[item[0]]))
        with open(PAGE, encoding="utf-8") as file:
            old = file.read()
        new = filled(old, kept["cases"], kept)
        if arguments.check and new != old:
            raise Failure(f"{PAGE} shows other figures than {KEPT}; docs/performance.py --write updates it")
        if arguments.write:
            save(kept)
            with open(PAGE, "w", encoding="utf-8") as file:
                file.write(new)
            pictures(kept["cases"])
    except (Failure, OSError) as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
