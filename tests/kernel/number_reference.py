#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes number_reference.txt: true values of log, exp, power and of Zipf sums, each as high + low doubles.

Lines: `log X HIGH LOW`, `exp X HIGH LOW`, `pow X Y HIGH LOW`, `zipf S COUNT HIGH LOW`; all numbers but COUNT are
hexadecimal floats. Needs python3-mpmath. Usage: number_reference.py > number_reference.txt
"""
import random

from mpmath import exp, harmonic, log, mp, mpf, power, zeta

mp.dps = 60
random.seed(20260101)


def line(name, arguments, value):
    high = float(value)
    print(name, *arguments, high.hex(), float(value - mpf(high)).hex())


def log_inputs():
    yield from (2.0 ** k for k in (-1074, -1073, -1050, -1023, -1022, -1021, -700, -64, -1, 1, 2, 53, 600, 1023))
    yield from (float.fromhex(x) for x in ("0x1.fffffffffffffp+1023", "0x1.fffffffffffffp-1023"))
    for k in (1, 2, 5, 10, 20, 30, 40, 50, 52):
        yield 1 + 2.0 ** -k
        yield 1 - 2.0 ** -k
    # The edges of the range reduction: the square root of 2 and its neighbours.
    for bits in (0x3FF6A09E667F3BCB, 0x3FF6A09E667F3BCC, 0x3FF6A09E667F3BCD, 0x3FF6A09E667F3BCE):
        mantissa = (bits & (1 << 52) - 1) * 2.0 ** -52 + 1
        yield from (mantissa, mantissa / 2, mantissa * 2.0 ** 40)
    yield from (random.uniform(0.5, 2) for _ in range(20))
    yield from (random.uniform(1, 2) * 2.0 ** random.randint(-1000, 1000) for _ in range(20))


def exp_inputs():
    yield from (-707.999, -708 * (1 - 2.0 ** -53), -700.0, -1.0, -2.0 ** -30, 2.0 ** -30, 2.0 ** -60, 1.0, 700.0)
    yield from (709.0, 709.5, 709.7827, 709.782712893384)
    half = float(log(2) / 2)
    for k in (-1021, -1000, -5, -2, -1, 0, 1, 2, 5, 1000, 1023):
        middle = float(log(2) * k + log(2) / 2)
        yield from (middle, middle - half / 2, middle * (1 + 2.0 ** -50) if middle else half)
    yield from (random.uniform(-1, 1) for _ in range(20))
    yield from (random.uniform(-700, 709) for _ in range(20))


for x in log_inputs():
    line("log", [x.hex()], log(mpf(x)))
for x in exp_inputs():
    if -708 < x <= 709.782712893384:
        line("exp", [x.hex()], exp(mpf(x)))
for s in (0.5, 1.0, 1.1, 2.0, 10.0):
    for x in (1.0, 2.0, 3.0, 1000.0, 1e9):
        line("pow", [x.hex(), (-s).hex()], power(mpf(x), -mpf(s)))
for _ in range(15):
    x, y = random.uniform(0.01, 100), random.uniform(-20, 20)
    line("pow", [x.hex(), y.hex()], power(mpf(x), mpf(y)))
for s in (0.0, 0.5, 1.0, 1 + 1e-9, 1.1, 2.0, 10.0):
    for count in (1001, 1000000, 1000000000):
        total = harmonic(count) if s == 1 else mpf(count) if s == 0 else zeta(mpf(s)) - zeta(mpf(s), count + 1)
        line("zipf", [float(s).hex(), count], total)
