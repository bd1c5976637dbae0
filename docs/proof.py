#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the tables and the paths of docs/proof.md, between its markers.

    proof.py PROGRAM

The tables come from docs/proof.json, which `tests/explore/worlds.py PROGRAM --write` records; those of
docs/proof_faults.json `tests/explore/faults.py --write`; the paths are printed by the program itself.
"""
import json
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ORDER = ["findable", "newest", "monotone", "no_gaps", "no_duplicates", "filled", "bounded", "lines", "conserved",
         "available"]
PATHS = {
    "single": ["--protocol", "single", "--rows", "3", "--fires", "3", "--threshold", "2", "--seconds", "1", "--faults",
               "late"],
    "unsafe": ["--protocol", "three-state", "--lead", "1s", "--cache", "2s", "--rows", "3", "--fires", "1", "--seconds",
               "3", "--faults", "none"],
    "late": ["--protocol", "three-state", "--rows", "3", "--fires", "3", "--threshold", "2", "--seconds", "2",
             "--faults", "late"],
}
# A row that is lost without any fault.
LOST = ["--protocol", "three-state", "--lead", "1s", "--cache", "2s", "--rows", "4", "--fires", "4", "--threshold", "2",
        "--seconds", "2", "--faults", "none"]


def rows(record):
    """A line per protocol: worlds, states, and each guarantee: holds, or in how many steps it breaks. Worlds in which
    the state is lost, or a row has another time than that of its agent's clock, are not part of it."""
    protocols = {}
    for name, seen in record.items():
        protocol, options = name.split(": ", 1)
        if any(part in options for part in ("gone", "--last-row", "--bound")):
            continue
        protocols.setdefault(protocol, []).append((options, seen))
    yield "| protocol | worlds | states | " + " | ".join(f"`{g}`" for g in ORDER) + " | requests |"
    yield "|---|--:|--:|" + "---|" * len(ORDER) + "--:|"
    for protocol, worlds in protocols.items():
        cells = []
        for guarantee in ORDER:
            broken = [seen["broken"][guarantee] for _, seen in worlds if guarantee in seen["broken"]]
            asked = any(guarantee in seen["holds"] or guarantee in seen["broken"] for _, seen in worlds)
            cells.append("-" if not asked else "holds" if not broken else f"{min(broken)} steps")
        states = sum(seen["states"] for _, seen in worlds)
        cells.append(str(max(seen["requests"] for _, seen in worlds)))
        yield f"| `{protocol}` | {len(worlds)} | {states:,} | " + " | ".join(cells) + " |"


def worlds(record):
    yield "| world | states | broken, in steps |"
    yield "|---|--:|---|"
    for name, seen in record.items():
        broken = ", ".join(f"`{g}` {n}" for g, n in seen["broken"].items())
        protocol, options = name.split(": ", 1)
        yield f"| {protocol}: `{options}` | {seen['states']:,} | {broken or '-'} |"


def rules(faults):
    """The seeded faults of `guarded`, and those that a world of `three-state` found; of one comparison each: only the
    number."""
    yield "| the mistake | broken | in steps |"
    yield "|---|---|--:|"
    for name, fault in faults.items():
        if name.startswith("vector-"):
            continue
        if fault["file"] != "protocol_guarded.c" and not (fault["world"] or "").startswith("three-state"):
            continue
        how = fault["found"] or "not found"
        yield f"| {fault['what']} | {f'`{how}`' if fault['steps'] else how} | {fault['steps'] or '-'} |"
    ways = [fault["found"] for fault in faults.values()]
    steps = [fault["steps"] for fault in faults.values() if fault["steps"]]
    states, requests = ways.count("other states"), ways.count("other requests")
    found = len(ways) - ways.count(None)
    yield ""
    yield f"Of {len(ways)} faults in all protocols, {found} ({100 * found / len(ways):.1f} %) are found:"
    yield f"{found - states - requests} by a guarantee, {states} by the number of states only, and {requests} by the"
    yield f"digest of requests only. Half of the breaks take at most {statistics.median(steps):.0f} steps."


def unseen(faults):
    yield "| the mistake | in | why no world shows it |"
    yield "|---|---|---|"
    for fault in faults.values():
        if fault["found"] is None:
            what = fault['what'].replace('|', '\\|')
            yield f"| {what} | `{fault['file']}` | {fault['why_not']} |"


def path(program, options):
    text = subprocess.run([program, "explore", "--quiet"] + options, capture_output=True, text=True).stdout
    paragraphs = text.split("\n\n")
    guarantee = text.split("ways to break ")[1].split(":")[0]
    yield f"$ bucketlab explore {' '.join(options)}"
    yield f"One of the shortest ways to break {guarantee}:"
    yield from next(p for p in paragraphs if "agent A" in p).split("\n")


def draw(program, chart, options):
    """The first path, as a chart of README.md."""
    command = [program, "explore", "--quiet", "--show", "png"] + options
    drawn = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    (HERE / "images" / chart).write_bytes(drawn.stdout)


def main():
    program, page = sys.argv[1], HERE / "proof.md"
    record = json.loads((HERE / "proof.json").read_text())
    faults = json.loads((HERE / "proof_faults.json").read_text())
    parts = {"protocols": list(rows(record)), "worlds": list(worlds(record)), "rules": list(rules(faults)),
             "unseen": list(unseen(faults))}
    for name, options in PATHS.items():
        parts[name] = ["```", *path(program, options), "```"]
    draw(program, "explore-three-state.png", LOST)
    text = page.read_text()
    for name, lines in parts.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        head, rest = text.split(begin)
        text = head + begin + "\n".join(lines) + "\n" + end + rest.split(end)[1]
    page.write_text(text)


if __name__ == "__main__":
    main()
