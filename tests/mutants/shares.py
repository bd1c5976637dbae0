#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares the shares of seeds with a violation that no guarantee covers with those of an earlier campaign.

    shares.py BUCKETLAB SEEDS [--update]      SEEDS as in 1..150
    shares.py --power [--shares N] [--before SEEDS]

Method: if a protocol guarantees nothing, or a violation is excused, no seed fails, but a change of the code may
increase the share of such seeds. protocols.json has these shares of every strategy and oracle of protocols.yaml, each
of which has one run per seed, and those of the seeds that acknowledged less than 99, 90 and 50 % of the rows. Two
campaigns are two binomial samples. A share is worse when the p-value of Fisher's exact test is below 1e-6 divided by
the number of shares, so the chance of a false alarm over all shares is below 1e-6. First the test itself is tested.

--update writes protocols.json. --power prints how many seeds it takes to detect that a share has doubled: the number of
hits is binomial with twice the old share, and in nine cases of ten it must reach the least number that is worse.
"""
import argparse
import json
import pathlib
import subprocess
import sys
from math import exp, lgamma, log

FOLDER = pathlib.Path(__file__).resolve().parent
STORED = FOLDER / "protocols.json"


def choose(n, k):
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def chance(hits, seeds, before, seeds_before):
    """The chance of this many hits or more, if nothing has changed."""
    total, both = seeds + seeds_before, hits + before
    return sum(exp(choose(both, k) + choose(total - both, seeds - k) - choose(total, seeds))
               for k in range(hits, min(both, seeds) + 1))


def shares_of(report):
    found = {}
    for cell in report["guarantees"]:
        found.setdefault(cell["strategy"], {})[cell["oracle"]] = [cell["judged"], cell["violated"] - cell["broken"]]
    return found


def find_worse(now, stored):
    """The shares that are worse, each with its chance; and the number of shares that were compared."""
    missing = [name for name in now if name not in stored]
    if missing:
        sys.exit(f"shares: {STORED.name} has no {', '.join(missing)}; run this again with --update")
    pairs = [(name, oracle, *cell, *stored[name][oracle]) for name, cells in now.items()
             for oracle, cell in cells.items() if oracle in stored[name]]
    worse = [(chance(hits, seeds, before, of), name, oracle, hits, seeds, before, of)
             for name, oracle, seeds, hits, of, before in pairs]
    return sorted(one for one in worse if one[0] < 1e-6 / len(pairs)), len(pairs)


def test():
    """The tail of the hypergeometric distribution, summed in integers, and a share that has grown."""
    for expected, *counts in [(0.024475524475524476, 8, 10, 1, 6), (0.008574511384204201, 30, 100, 15, 100),
                              (6.100066157072791e-08, 60, 150, 400, 2000),
                              (5.607440204801362e-120, 150, 150, 260, 2000)]:
        assert abs(chance(*counts) / expected - 1) < 1e-9, counts
    now = {"single": {"monotone": [60, 30], "kept_below_99": [60, 0]}}
    assert find_worse(now, {"single": {"monotone": [2000, 1000], "kept_below_99": [2000, 9]}}) == ([], 2)
    worse, _ = find_worse(now, {"single": {"monotone": [2000, 0], "kept_below_99": [2000, 2000]}})
    assert [one[1:3] for one in worse] == [("single", "monotone")]


def compare(program, seeds, is_update):
    command = [program, "fuzz", str(FOLDER / "protocols.yaml"), "--seeds", seeds, "--quiet", "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    now = shares_of(json.loads(done.stdout))
    if is_update:
        rows = []
        for name, cells in now.items():
            lines = [f'    "{oracle}": {json.dumps(cell)}' for oracle, cell in cells.items()]
            rows.append(f'  "{name}": {{\n' + ",\n".join(lines) + "\n  }")
        STORED.write_text("{\n" + ",\n".join(rows) + "\n}\n")
        return 0
    worse, count = find_worse(now, json.loads(STORED.read_text()))
    for value, name, oracle, hits, of, before, seeds_before in worse:
        print(f"worse: {name}, '{oracle}': {hits} of {of} seeds, before {before} of {seeds_before} "
              f"(chance {value:.1g})")
    print(f"{count} shares compared, {len(worse)} worse")
    return len(worse) > 0


def power(share, seeds, seeds_before, level):
    before = round(share * seeds_before)
    least = next((hits for hits in range(seeds + 1) if chance(hits, seeds, before, seeds_before) < level), seeds + 1)
    return sum(exp(choose(seeds, k) + k * log(2 * share) + (seeds - k) * log(1 - 2 * share))
               for k in range(least, seeds + 1))


def print_power(shares, seeds_before):
    print("| share | seeds |\n|---|---|")
    for share in [0.02, 0.05, 0.1, 0.2, 0.4]:
        seeds = 10
        while seeds < 4000 and power(share, seeds, seeds_before, 1e-6 / shares) < 0.9:
            seeds = seeds + 10 if seeds < 200 else seeds * 21 // 20
        print(f"| {share:.0%} | {seeds if seeds < 4000 else 'more than 4,000'} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", nargs="?")
    parser.add_argument("seeds", nargs="?", default="1..60")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--power", action="store_true")
    parser.add_argument("--shares", type=int, default=150)
    parser.add_argument("--before", type=int, default=2000)
    args = parser.parse_args()
    test()
    if args.power:
        print_power(args.shares, args.before)
        return 0
    return compare(args.program, args.seeds, args.update)


if __name__ == "__main__":
    sys.exit(main())
