#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Generates events.csv.gz in its own folder: the events of 24 fictitious customers, counted per hour, for 28
days.

The customers' rates differ by a factor of a hundred. They have more events by day and fewer at weekends; the
largest one loads its history in one night, and one joins late. The seed is fixed, so each run generates the
same file.
"""
import gzip
import math
import pathlib
import random

HOUR_MS = 3_600_000
START_MS = 1_767_571_200_000  # 2026-01-05T00:00:00Z, a Monday
DAYS = 28
CUSTOMERS = 24
LOAD_DAY, LOAD_HOURS, LOAD_EVENTS = 9, range(1, 5), 14_000


def poisson(mean):
    """Knuth's method, a product of uniform draws. A large mean is drawn in steps, because exp(-mean) would
    underflow."""
    count = 0
    while mean > 0:
        step, product = min(mean, 50.0), 1.0
        mean -= step
        limit = math.exp(-step)
        while True:
            product *= random.random()
            if product <= limit:
                break
            count += 1
    return count


def hour_factor(hour, day):
    working = math.exp(-((hour - 13) / 4) ** 2) * 2.9 + 0.15
    return working * (0.25 if day % 7 >= 5 else 1.3)


def main():
    random.seed(20260105)
    lines = ["timestamp_ms,key,count"]
    for hour in range(24 * DAYS):
        day, of_day = divmod(hour, 24)
        for customer in range(CUSTOMERS):
            mean = 130.0 / (customer + 1) ** 1.4 * hour_factor(of_day, day)
            if customer == 6 and day < 12:
                mean = 0
            count = poisson(mean)
            if customer == 0 and day == LOAD_DAY and of_day in LOAD_HOURS:
                count += LOAD_EVENTS // len(LOAD_HOURS)
            if count > 0:
                lines.append(f"{START_MS + hour * HOUR_MS},customer-{customer + 1:02},{count}")
    data = ("\n".join(lines) + "\n").encode()
    path = pathlib.Path(__file__).parent / "events.csv.gz"
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(data)


if __name__ == "__main__":
    main()
