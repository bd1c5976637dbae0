#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many seeds `fuzz --baseline` takes to detect that a share has doubled; docs/fuzz.md has the table.

    power.py [--shares N] [--baseline SEEDS]

Method: Fisher's exact test at 1e-6 / shares compares the campaign with a baseline that has exactly the old share. The
new campaign's number of hits is binomial with twice that share, and in nine cases of ten it must reach the least
number that the test calls worse.
"""
import argparse
from math import exp, lgamma, log


def choose(n, k):
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def chance(hits, seeds, before, seeds_before):
    """The chance of this many hits or more, if nothing has changed."""
    total, both = seeds + seeds_before, hits + before
    return sum(exp(choose(both, k) + choose(total - both, seeds - k) - choose(total, seeds))
               for k in range(hits, min(both, seeds) + 1))


def power(share, seeds, seeds_before, level):
    before = round(share * seeds_before)
    least = next((hits for hits in range(seeds + 1) if chance(hits, seeds, before, seeds_before) < level), seeds + 1)
    return sum(exp(choose(seeds, k) + k * log(2 * share) + (seeds - k) * log(1 - 2 * share))
               for k in range(least, seeds + 1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--shares", type=int, default=150)
    parser.add_argument("--baseline", type=int, default=2000)
    args = parser.parse_args()
    print("| share | seeds |\n|---|---|")
    for share in [0.02, 0.05, 0.1, 0.2, 0.4]:
        seeds = 10
        while seeds < 4000 and power(share, seeds, args.baseline, 1e-6 / args.shares) < 0.9:
            seeds = seeds + 10 if seeds < 200 else seeds * 21 // 20
        print(f"| {share:.0%} | {seeds if seeds < 4000 else 'more than 4,000'} |")


if __name__ == "__main__":
    main()
