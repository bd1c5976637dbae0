#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How often partitions close early where that is not guaranteed; docs/oracles.md has the table.

    early.py BUCKETLAB [--seeds N]

Method: `fuzz` runs three protocols with each kind of counter, both without and with faults. Each cell is the share of
seeds in which `filled` is violated.
"""
import argparse
import json
import subprocess
import tempfile

PROTOCOLS = {"single": "", "locked": ", coordination: locked", "three-state": ", coordination: three-state, lead: 4s"}


def shares(program, counter, options, seeds):
    strategies = ", ".join(f"{{probabilistic: {{bits: 2, threshold: 3, counter: {counter}, label: {name}{more}}}}}"
                           for name, more in PROTOCOLS.items())
    with tempfile.TemporaryDirectory() as folder:
        out = subprocess.run([program, "fuzz", "--set", f"strategies=[{strategies}]", *options, "--seeds",
                              f"1..{seeds}", "--keep-going", "--quiet", "--json", "--out", folder],
                             capture_output=True, text=True, check=False)
    cells = {cell["strategy"]: cell for cell in json.loads(out.stdout)["guarantees"] if cell["oracle"] == "filled"}
    return [cells[name]["violated"] / cells[name]["judged"] for name in PROTOCOLS]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seeds", type=int, default=300)
    args = parser.parse_args()
    print("| `counter` | " + " | ".join(f"`{name}`" for name in PROTOCOLS) + " |\n|---|---|---|---|")
    for counter in ["rmw", "lwt", "counter"]:
        well = shares(args.program, counter, ["--set", "faults=null"], args.seeds)
        faulty = shares(args.program, counter, [], args.seeds)
        cells = [f"{100 * one:.1f} % ({100 * other:.1f} %)" for one, other in zip(well, faulty)]
        print(f"| `{counter}` | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
