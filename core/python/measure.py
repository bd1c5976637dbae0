# SPDX-License-Identifier: MIT
"""Measures the rows per second of Strategy.route_batch() in one thread: the best of five, by processor time.

  python measure.py [ROWS]"""
import sys
import time

import numpy

import bucketing as bk

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000_000
CASES = {
    "time, hours": (bk.Strategy.calendar(bk.Calendar.HOUR), ("times_ns",)),
    "time, hours; one row in 10 is late": (bk.Strategy.calendar(bk.Calendar.HOUR), ("late",)),
    "count, 20,480 rows": (bk.Strategy.count(20_480), ("sequences",)),
    "probabilistic, 9 bits": (bk.Strategy.probabilistic(9, 40), ("ids",)),
    "probabilistic, 9 bits, of 7 days at most": (
        bk.Strategy.probabilistic(9, 40).with_max_age(7 * 86_400 * 10**9), ("ids", "times_ns")),
    "weighted, 512 kB": (bk.Strategy.weighted(512_000, 40), ("ids", "bytes")),
    "hash, 64 buckets": (bk.Strategy.hash(64), ("ids",)),
}


def main() -> None:
    draws = numpy.random.default_rng(1)
    columns = {
        "times_ns": numpy.cumsum(draws.integers(0, 20_000_000, ROWS)),  # 100 rows a second
        "sequences": numpy.arange(ROWS),
        "ids": draws.integers(0, 1 << 64, ROWS, dtype=numpy.uint64),
        "bytes": draws.integers(0, 700, ROWS),
    }
    lag = numpy.where(draws.random(ROWS) < 0.1, draws.integers(0, 7_200_000_000_000, ROWS), 0)
    columns["late"] = columns["times_ns"] - lag
    out = numpy.empty(ROWS, dtype=numpy.int64)
    for name, (strategy, wanted) in CASES.items():
        best = float("inf")
        for _ in range(5):
            begun = time.process_time()
            strategy.route_batch(bk.KeyState(), out=out,
                                 **{column.replace("late", "times_ns"): columns[column] for column in wanted})
            best = min(best, time.process_time() - begun)
        print(f"{name:<44}{ROWS / best / 1e6:8.0f} million rows/s{int(out[-1]) + 1:10} buckets")


if __name__ == "__main__":
    main()
