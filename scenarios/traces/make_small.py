#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Generates small.csv and small-counts.csv.gz in its own folder: 30 days of 12 synthetic keys.

The rates of the keys differ by a factor of several hundred. Busy keys have bursts, one key ends half way, one
begins late, and one is a flash crowd of an hour. The second file has the same rows as counts per key and
hour. Each run generates the same rows: the seed is fixed, and only random() is used, whose values do not
depend on the version of Python.
"""
import gzip
import math
import pathlib
import random

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
START_MS = 1_767_225_600_000  # 2026-01-01T00:00:00Z
DAYS = 30

# key, rows a day while quiet, factor within a burst, first day, day of the end
KEYS = [
    ("general", 48, 8, 0, 30),
    ("support", 26, 12, 0, 30),
    ("releases", 13, 30, 0, 30),
    ("random", 13, 6, 0, 30),
    ("incidents", 2.4, 150, 0, 30),
    ("design", 6.4, 5, 0, 30),
    ("hiring", 4.8, 3, 0, 14),
    ("launch-2026", 9.6, 10, 19, 30),
    ("café", 3.2, 4, 0, 30),
    ("sales, emea", 2.4, 4, 0, 30),
    ("archive", 0.64, 1, 0, 30),
    ("board", 0.32, 1, 0, 30),
]
CROWD_KEY, CROWD_AT_MS, CROWD_ROWS = "general", START_MS + 12 * DAY_MS + 19 * HOUR_MS, 400


def exponential(mean):
    return -math.log(1.0 - random.random()) * mean


def key_times(rate_a_day, factor, first_day, end_day):
    """Poisson arrivals whose rate jumps by `factor` in bursts of half an hour about every two days."""
    now = START_MS + first_day * DAY_MS
    end = START_MS + end_day * DAY_MS
    is_burst, until = False, now + exponential(2 * DAY_MS)
    while now < end:
        rate = rate_a_day * (factor if is_burst else 1)
        gap = exponential(DAY_MS / rate)
        if now + gap >= until:
            now, is_burst = until, not is_burst
            until = now + exponential(HOUR_MS if is_burst else 2 * DAY_MS)
            continue
        now += gap
        if now < end:
            yield int(now)


def row_bytes():
    """Most rows are small; one in a hundred carries some 100 times as much."""
    size = 40 + int(exponential(220))
    return size * 100 if random.random() < 0.01 else size


def quoted(key):
    return '"' + key.replace('"', '""') + '"' if "," in key or '"' in key else key


def main():
    random.seed(20260101)
    rows = []
    for order, (key, *rate) in enumerate(KEYS):
        rows += [(time, order, row_bytes()) for time in key_times(*rate)]
        if key == CROWD_KEY:
            rows += [(CROWD_AT_MS + int(random.random() * HOUR_MS), order, row_bytes()) for _ in range(CROWD_ROWS)]
    rows.sort(key=lambda row: row[:2])
    folder = pathlib.Path(__file__).resolve().parent
    with open(folder / "small.csv", "w", encoding="utf-8", newline="\n") as file:
        file.write("timestamp_ms,key,bytes\n")
        for time, order, size in rows:
            file.write(f"{time},{quoted(KEYS[order][0])},{size}\n")
    counts = {}
    for time, order, _ in rows:
        hour = (time - START_MS) // HOUR_MS
        counts[hour, order] = counts.get((hour, order), 0) + 1
    lines = ["timestamp_ms,key,count\n"]
    for (hour, order), count in sorted(counts.items()):
        lines.append(f"{START_MS + hour * HOUR_MS},{quoted(KEYS[order][0])},{count}\n")
    packed = gzip.compress("".join(lines).encode("utf-8"), mtime=0)
    (folder / "small-counts.csv.gz").write_bytes(packed)
    print(f"{len(rows)} rows of {len(KEYS)} keys, {len(lines) - 1} lines of counts")


if __name__ == "__main__":
    main()
