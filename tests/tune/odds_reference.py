#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes odds_reference.txt: P(N < rows), P(N > rows) and P(N = rows) to 25 digits, for odds_test.c.

Method: 80-digit arithmetic of mpmath; the binomial's terms are summed one by one away from the mean, and small
cases are compared with mpmath's own incomplete beta function. Usage: odds_reference.py > odds_reference.txt
"""
import math

import mpmath as mp

mp.mp.dps = 80

# Both tails to about 1e-30, the shoulders and the middle, as standard normal deviates.
DEEP = (-11.4, 11.4)
OTHERS = ((-6.0,), (0.0,), (3.1,), (-3.1,), (0.3,), (6.0,), (-8.5,), (8.5,))
CHANCES = [2.0**-bits for bits in (0, 1, 2, 5, 9, 13, 20, 27, 32)] + [1 / 300, 2 / 3, 299 / 300, 1 / 1000003]
THRESHOLDS = (1, 2, 10, 40, 160, 1000, 10**5, 10**6)


def binomial_term(n, k, p):
    log_choose = mp.loggamma(n + 1) - mp.loggamma(k + 1) - mp.loggamma(n - k + 1)
    log_q = mp.log(1 - p) if p < 1 else mp.ninf
    return mp.exp(log_choose + k * mp.log(p) + ((n - k) * log_q if n > k else 0))


def binomial_lower(n, k, p):
    """P(X <= k)."""
    if k >= n:
        return mp.mpf(1)
    if k < 0 or p == 1:
        return mp.mpf(0)
    if k > n * p:
        return 1 - binomial_upper(n, k + 1, p)
    odds = (1 - p) / p
    term = total = binomial_term(n, k, p)
    for j in range(k, 0, -1):
        term *= odds * j / (n - j + 1)
        total += term
        if term < total * mp.mpf(10) ** -75:
            break
    return total


def binomial_upper(n, k, p):
    """P(X >= k)."""
    if k <= 0 or p == 1:
        return mp.mpf(1 if k <= n else 0)
    if k > n:
        return mp.mpf(0)
    if k < n * p:
        return 1 - binomial_lower(n, k - 1, p)
    odds = p / (1 - p)
    term = total = binomial_term(n, k, p)
    for j in range(k, n):
        term *= odds * (n - j) / (j + 1)
        total += term
        if term < total * mp.mpf(10) ** -75:
            break
    return total


def distribution(p, threshold, rows):
    """P(N < rows), P(N > rows), P(N = rows)."""
    p = mp.mpf(p)
    below = binomial_upper(rows - 1, threshold, p)
    above = binomial_lower(rows, threshold - 1, p)
    if rows < threshold:
        return below, above, mp.mpf(0)
    if p == 1:
        return below, above, mp.mpf(1 if rows == threshold else 0)
    pmf = p * binomial_term(rows - 1, threshold - 1, p)
    if rows < 2000:
        other = mp.betainc(rows - threshold + 1, threshold, 0, 1 - p, regularized=True)
        assert abs(other - above) <= above * mp.mpf(10) ** -40
    assert abs(below + pmf + above - 1) < mp.mpf(10) ** -60
    return below, above, pmf


def rows_at(p, threshold, deviate):
    """The Wilson-Hilferty approximation; it need not be exact."""
    relative = math.sqrt((1 - p) / threshold)
    root = 1 - relative**2 / 9 + deviate * relative / 3
    return max(threshold, int(threshold / p * max(root, 0.0) ** 3))


def main():
    print("# Written by odds_reference.py: p threshold rows P(N < rows) P(N > rows) P(N = rows)")
    turn = 0
    for p in CHANCES:
        for threshold in THRESHOLDS:
            deviates = DEEP + OTHERS[turn % len(OTHERS)]
            turn += 1
            rows = {rows_at(p, threshold, deviate) for deviate in deviates} if p < 1 else {threshold, threshold + 1}
            for n in sorted(rows):
                values = distribution(p, threshold, n)
                if all(value == 0 or value > mp.mpf(10) ** -60 for value in values):
                    print(p.hex(), threshold, n, *(mp.nstr(value, 25) for value in values))


if __name__ == "__main__":
    main()
