#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the plan of a new user (plan.yaml), and draws its partitions again with NumPy.

  plan.py BUCKETLAB [--days N] [--keys N] [--write]

The twin draws a Poisson number of rows for each key and hour, and from these the partitions of each
strategy: no bytes, digest, nodes, timeline or reads. Its figures must be those of bucketlab within six
standard errors: over some 30 comparisons, the chance of a false alarm is below 1e-7. Both run in turn, in
processor time of one core. With --keys the rate falls in proportion. --write puts the table into
docs/performance.md. Without NumPy, says so and exits with 77.
"""
import argparse
import json
import pathlib
import re
import resource
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.append(str(ROOT / "docs"))
from findings_harness import filled  # noqa: E402

PAGE = ROOT / "docs/performance.md"
KEYS, RATE, EXPONENT = 40_000, 1200, 0.8
SPIKE = (20, 2, 15)  # day, days, factor
LIMIT, ROWS, BITS, THRESHOLD, BUCKETS = 100_000, 40_000, 9, 80, 16
RATES = {"latest": 20, "range": 1}  # of reads, per second
AT_ONCE = 500  # keys
# Settings with which rows are drawn one by one.
EXACT = {"plain": [], "row.ttl: 3d": ["row.ttl=3d"], "10 % deleted": ["deletes.share=10%", "deletes.after=1h"],
         "5 % late": ["arrivals.late.share=5%", "arrivals.late.by=10m"]}
STRATEGIES = ["unbucketed", "count", "probabilistic", "hash", "day", "hour"]
READS = {"none": "{}",
         "latest": "{latest: {rows: 100, rate: 20/s}}",
         "range": "{range: {span: 1d, age: 1d, rate: 1/s}}"}


def run(program, args, label=None, reads=None, more=()):
    """Returns the metrics of each strategy, processor seconds and MiB of a run with these reads and settings."""
    text = (HERE / "plan.yaml").read_text(encoding="utf-8")
    if label is not None:
        text = re.sub(r"^  - (?!.*\b" + label + r"\b).*\n", "", text, flags=re.M)
    if reads is not None:
        chosen = "" if reads == "none" else f"reads: {READS[reads]}\n"
        text = re.sub(r"^reads:\n(  .*\n)+", chosen, text, flags=re.M)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([program, "run", "/dev/stdin", "--json", "--no-store", "--quiet", "--jobs", "1",
                           "--no-charts",
                           "--set", f"duration={args.days}d", "--set", f"keys.count={args.keys}",
                           "--set", f"arrivals.rate={RATE * args.keys / KEYS}/s",
                           *(word for setting in more for word in ("--set", setting))],
                          input=text, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1) or not done.stdout:
        sys.exit(f"plan: bucketlab failed: {done.stderr[-500:]}")
    metrics = {one["label"]: one["metrics"] for one in json.loads(done.stdout)["strategies"]}
    return metrics, after.ru_utime - before.ru_utime, after.ru_maxrss / 1024


def exact_rows(args):
    """A table of rows that are drawn one by one, for a hundredth of the keys: ns for each, and times as plain."""
    few = argparse.Namespace(days=args.days, keys=max(args.keys // 100, 4))
    rows = ["\n| rows drawn one by one, six strategies | no reads | latest | range |", "|---|--:|--:|--:|"]
    plain = {}
    for name, settings in EXACT.items():
        cells = []
        for reads in READS if name in ("plain", "row.ttl: 3d") else ["none"]:
            rates = [f"reads.{reads}.rate={RATES[reads] * few.keys / KEYS}/s"] if reads in RATES else []
            metrics, seconds, _ = run(args.bucketlab, few, None, reads, ["engine=exact", *settings, *rates])
            each = seconds * 1e9 / metrics["unbucketed"]["writes.rows"]
            cells.append(f"{each:.0f} ns, {each / plain.setdefault(reads, each):.1f} times")
        rows.append(f"| {name} | " + " | ".join(cells + ["does not apply"] * (3 - len(cells))) + " |")
    return rows


def figures_of(sizes, closed):
    """Partitions, those over the limit, the largest, and those that are closed."""
    return [len(sizes), int((sizes > LIMIT).sum()), int(sizes.max(initial=0)), int(closed)]


def twin(numpy, args):
    """The same figures of each strategy, drawn with NumPy."""
    draws = numpy.random.default_rng(1)
    rank = numpy.arange(1, args.keys + 1, dtype=float) ** -EXPONENT
    mean = RATE * args.keys / KEYS * 3600 * rank / rank.sum()
    hours = numpy.ones(args.days * 24)
    hours[SPIKE[0] * 24:(SPIKE[0] + SPIKE[1]) * 24] *= SPIKE[2]
    sums = {label: numpy.zeros(5) for label in STRATEGIES}
    for first in range(0, args.keys, AT_ONCE):
        rows = draws.poisson(mean[first:first + AT_ONCE, None] * hours)
        keys = rows.sum(axis=1)
        keys = keys[keys > 0]
        full = numpy.concatenate([[ROWS] * int(((keys - 1) // ROWS).sum()), (keys - 1) % ROWS + 1])
        days = rows.reshape(len(rows), args.days, 24).sum(axis=2).ravel()
        counted = draws.binomial(keys, 0.5 ** BITS)
        closed = int((counted // THRESHOLD).sum())
        drawn = draws.negative_binomial(THRESHOLD, 0.5 ** BITS, closed) + THRESHOLD
        rest = numpy.ones(len(keys))  # open ones, whose sizes do not matter here
        found = {"unbucketed": figures_of(keys, 0),
                 "count": figures_of(full, ((keys - 1) // ROWS).sum()),
                 "probabilistic": figures_of(numpy.concatenate([drawn, rest]), closed),
                 "hash": figures_of(draws.multinomial(keys, [1 / BUCKETS] * BUCKETS).ravel(), 0)}
        for label, sizes in (("day", days[days > 0]), ("hour", rows[rows > 0])):
            found[label] = figures_of(sizes, len(sizes))
        for label, (partitions, over, largest, done) in found.items():
            sums[label] += [partitions, over, 0, done, counted.sum() if label == "probabilistic" else 0]
            sums[label][2] = max(sums[label][2], largest)
    return sums


def compare(metrics, sums):
    """Figures that differ by more than six standard errors: of counts, and for the largest 10 %."""
    names = ["partitions.total", "partitions.over_limit", "partitions.all.rows.max", "partitions.closed",
             "writes.counter_increments"]
    faults = []
    for label, wanted in sums.items():
        for name, value in zip(names, wanted):
            found = metrics[label][name]
            # The counts vary at most as Poisson numbers, in both.
            slack = 0.1 * value if name.endswith("max") else 6 * (2 * value) ** 0.5 + 6
            if abs(found - value) > slack:
                faults.append(f"plan: {label}: {name} is {found:.0f}, and {value:.0f} with NumPy")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("bucketlab")
    parser.add_argument("--days", type=int, default=40)
    parser.add_argument("--keys", type=int, default=KEYS)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    try:
        import numpy
    except ImportError:
        print("plan: skipped, since this Python has no NumPy")
        return 77
    rows = ["| strategy | no reads | latest | range |", "|---|--:|--:|--:|"]
    for label in STRATEGIES:
        cells = [run(args.bucketlab, args, label, reads) for reads in READS]
        rows.append(f"| {label} | " + " | ".join(f"{seconds:.2f} s" for _, seconds, _ in cells) + " |")
    metrics, seconds, mib = run(args.bucketlab, args)
    begin = time.process_time()
    sums = twin(numpy, args)
    numpy_s = time.process_time() - begin
    rows.append(f"\nAll six with both reads: {seconds:.1f} s, {mib:.0f} MiB at most; sizes alone by NumPy "
                f"{numpy.__version__}: {numpy_s:.1f} s.")
    rows += exact_rows(args)
    print("\n".join(rows))
    faults = compare(metrics, sums)
    print("\n".join(faults), file=sys.stderr)
    if args.write and not faults:
        PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), "plan", "\n".join(rows)), encoding="utf-8")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
