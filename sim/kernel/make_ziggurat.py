#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes ziggurat.h: 256 layers of equal area for the exponential and the normal distribution (Marsaglia and Tsang,
2000).

Layer i holds the candidates x = j * width[i], j in [0, 2^53), surely below the curve while j < accept[i].
Needs python3-mpmath. Usage: make_ziggurat.py > ziggurat.h
"""
from mpmath import mp, mpf, erfc, exp, floor, log, pi, sqrt

mp.dps = 40
N = 256


def edges(f, inverse, tail, low, high):
    """The outer edges x[0..256] and the tail's begin r, found by bisection: too small an r fills the height early."""
    def walk(r):
        v = r * f(r) + tail(r)
        x = [v / f(r), r]
        while len(x) < N:
            y = f(x[-1]) + v / x[-1]
            if y >= 1:
                return None
            x.append(inverse(y))
        return x if f(x[-1]) + v / x[-1] < 1 else None

    while high - low > mpf(10) ** -36:
        middle = (low + high) / 2
        if walk(middle) is None:
            low = middle
        else:
            high = middle
    return walk(high) + [mpf(0)], high


def table(linkage, name, x, f):
    print(f"{linkage}const struct sim_layer {name}[256] = {{")
    for i in range(N):
        width = float(x[i] / mpf(2) ** 53)
        accept = int(floor(x[i + 1] / x[i] * mpf(2) ** 53))
        print(f"    {{UINT64_C({accept:#018x}), {width.hex()}, {float(f(x[i]) if i else 0).hex()}}},")
    print("};")


print("/* SPDX-License-Identifier: GPL-3.0-or-later */")
print("/* Made by make_ziggurat.py; do not edit. */")
print("/* clang-format off */")
x, r = edges(lambda t: exp(-t), lambda y: -log(y), lambda t: exp(-t), mpf("7.6"), mpf("7.8"))
print(f"#define EXPONENTIAL_TAIL {float(r).hex()}")
table("", "sim_exponential_layers", x, lambda t: exp(-t))
half = mpf(1) / 2
x, r = edges(lambda t: exp(-t * t * half), lambda y: sqrt(-2 * log(y)),
             lambda t: sqrt(pi * half) * erfc(t * sqrt(half)), mpf("3.6"), mpf("3.7"))
print(f"#define NORMAL_TAIL {float(r).hex()}")
table("static ", "normal_layers", x, lambda t: exp(-t * t * half))
