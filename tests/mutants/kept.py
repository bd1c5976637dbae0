#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the share of rows that each protocol acknowledges during a fault; docs/oracles.md has the table.

    kept.py BUCKETLAB ORACLES.md [--update]

Method: a fault lasts for a whole run, so it affects every row. A row is kept if its client received an
acknowledgement. Three nodes hold three replicas, all levels are QUORUM, and three agents write two keys. Each cell is
the share over five seeds. Runs are deterministic, so every cell must equal the cell in the document. --update writes
the table.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

SEEDS = 5
MARKS = ("<!-- kept -->", "<!-- /kept -->")
SCENARIO = """seed: {seed}
duration: 1m
keys: {{count: 2}}
arrivals: {{rate: 10/s}}
cluster:
  nodes: 3
  replication_factor: 3
  consistency: {{write: QUORUM, read: QUORUM, state: QUORUM, serial: SERIAL}}
  network: {{latency: {{lognormal: {{mean: 1ms, sigma: 0.5}}}}}}
  timeouts: {{write: 500ms, read: 500ms, counter: 500ms, cas: 500ms, client: 600ms}}
agents: {{count: 3, cache_ttl: 1s, retries: 2, clock: {{offset: 1ms, bound: 5ms}}}}
faults:
  - {fault}
strategies:
"""
FAULTS = {"a node is down": "node_down: {node: 0, at: 0s, lasts: 1m}",
          "a node is 300 times slower": "slow_node: {node: 0, factor: 300, at: 0s, lasts: 1m}",
          "a node pauses all the time": "gc_storm: {node: 0, at: 0s, lasts: 1m}",
          "5 % of messages are lost": "lost_message: {chance: 5%, at: 0s, lasts: 1m}",
          "30 % of messages are lost": "lost_message: {chance: 30%, at: 0s, lasts: 1m}",
          "messages take 100 times as long": "delay: {factor: 100, at: 0s, lasts: 1m}"}
PROTOCOLS = {"unbucketed": "unbucketed: {}", "count, counter": "count: {rows: 30, counter: counter}",
             "count, lwt": "count: {rows: 30, counter: lwt}",
             "count, lease": "count: {rows: 30, counter: lease, batch: 10}",
             "count, scan": "count: {rows: 30, counter: scan, every_rows: 3}",
             "count, memory": "count: {rows: 30, counter: memory}",
             "single": "probabilistic: {bits: 2, threshold: 8}",
             "locked": "probabilistic: {bits: 2, threshold: 8, coordination: locked}",
             "three-state": "probabilistic: {bits: 2, threshold: 8, coordination: three-state, lead: 10s}",
             "guarded": "probabilistic: {bits: 2, threshold: 8, coordination: guarded, grant: 5s}"}


def run(program, fault, seed, folder):
    """(rows, rows kept) by protocol."""
    text = SCENARIO.format(seed=seed, fault=fault)
    for name, strategy in PROTOCOLS.items():
        text += f"  - {strategy[:-1]}{', ' if strategy[-2] != '{' else ''}label: '{name}'}}\n"
    file = pathlib.Path(folder) / "kept.yaml"
    file.write_text(text, encoding="utf-8")
    out = subprocess.run([program, "run", file, "--no-charts", "--json", "--db", f"{folder}/kept.db"],
                         capture_output=True, text=True, check=False)
    if not out.stdout:
        sys.exit(f"kept.py: {fault}: {out.stderr}")
    result = json.loads(out.stdout)
    return {s["label"]: (result["rows"], result["rows"] - s["metrics"]["writes.refused"] -
                         s["metrics"]["writes.unresolved"]) for s in result["strategies"]}


def measure(program):
    lines = ["| protocol | " + " | ".join(FAULTS) + " |", "|---|" + "---|" * len(FAULTS)]
    cells = {name: [] for name in PROTOCOLS}
    with tempfile.TemporaryDirectory() as folder:
        for fault in FAULTS.values():
            runs = [run(program, fault, seed, folder) for seed in range(1, SEEDS + 1)]
            for name in PROTOCOLS:
                rows, kept = (sum(r[name][i] for r in runs) for i in range(2))
                cells[name].append(f"{100 * kept / rows:.1f} %")
    return "\n".join(lines + [f"| `{name}` | " + " | ".join(values) + " |" for name, values in cells.items()])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("document", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()
    text = args.document.read_text(encoding="utf-8")
    before, rest = text.split(MARKS[0])
    old, after = rest.split(MARKS[1])
    new = measure(args.program)
    if args.update:
        args.document.write_text(before + MARKS[0] + "\n" + new + "\n" + MARKS[1] + after, encoding="utf-8")
        return
    wrong = [(a, b) for a, b in zip(old.strip().splitlines(), new.splitlines()) if a != b]
    if old.strip() != new:
        for told, measured in wrong:
            print(f"{args.document}: says {told}\n  measured: {measured}")
        sys.exit("kept.py: the shares have changed; if this is intended, run kept.py with --update")
    print("the shares equal those of the document")


if __name__ == "__main__":
    main()
