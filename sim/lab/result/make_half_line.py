#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes half_line.h: nodes and weights of the double exponential rule for a half-line (Takahasi and Mori 1974).

With s = exp(v - exp(-v)) the integral of f(s) over s > 0 is that of f(s) s (1 + exp(-v)) over all v, which the
trapezoidal rule takes at v = -29/8, -28/8, ... 48/8. Nodes before the first weigh less than 1e-17 of the sum.

    make_half_line.py >sim/lab/result/half_line.h
"""
import math

STEP = 0.125
print("/* SPDX-License-Identifier: GPL-3.0-or-later */")
print("/* Made by make_half_line.py: nodes s and weights s (1 + exp(-v)) of the double exponential rule for a")
print(" * half-line, s = exp(v - exp(-v)) at v = -29/8, -28/8, ... 48/8. */")
print("#ifndef LAB_HALF_LINE_H")
print("#define LAB_HALF_LINE_H")
print()
print(f"#define HALF_LINE_STEP {STEP.hex()}")
print("#define HALF_LINE_MIDDLE 29 /* index of v = 0 */")
print("#define HALF_LINE_NODES  78")
print()
print("static const struct {")
print("    double s, weight;")
print("} half_line[HALF_LINE_NODES] = {")
for i in range(-29, 49):
    inner = math.exp(-i * STEP)
    s = math.exp(i * STEP - inner)
    print(f"    {{{s.hex()}, {(s * (1 + inner)).hex()}}},")
print("};")
print()
print("#endif")
