#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks whether concurrent LWTs and SERIAL reads of registers were linearizable.

A history has a line for each operation: `client start end OPERATION => answer`, with start and end in one
unit of time, and with the operations NX, CAS and GET and their answers in the format of this folder's README.
Any other answer, and an end of `-`, leaves the outcome of an update unknown: it took effect at some time
after its start, or never.

Method: Wing and Gong's search with Lowe's cache of configurations (the set of finished operations, and the
row). The next operation must have begun before any other remaining operation ended, and its answer must fit
the row. Usage: linear.py FILE (or -). Exit code: 0 each key is linearizable, 1 one is not, 2 bad input.
"""
import sys

INFINITE = float("inf")


def pairs(words):
    return {name: int(value) for name, value in (word.split("=") for word in words)}


class Operation:
    def __init__(self, number, line):
        head, self.answer = line.split(" => ")
        words = head.split()
        self.number, self.line = number, line
        self.start, end = int(words[1]), words[2]
        self.kind, self.key = words[3], words[4]
        rest = [word for word in words[5:] if not word.startswith(("cl=", "scl="))]
        at = rest.index("IF") if "IF" in rest else len(rest)
        self.sets, self.conditions = pairs(rest[:at]), pairs(rest[at + 1:])
        if self.kind not in ("NX", "CAS", "GET"):
            raise ValueError(f"{self.kind} is not one of NX, CAS and GET")
        is_known = end != "-" and self.answer.split()[0] in ("applied", "refused", "row", "none")
        self.end = int(end) if is_known else INFINITE

    def is_of_use(self):
        return self.end != INFINITE or self.kind != "GET"

    def row_told(self):
        words = self.answer.split()
        words = words[1:] if words[0] == "refused" else words
        return None if words[0] == "none" else pairs(words[1:])

    def apply(self, row):
        """The row after the operation, a sorted tuple or None; False when its answer does not fit."""
        values = None if row is None else dict(row)
        if self.kind == "GET":
            return row if self.row_told() == values else False
        holds = values is None if self.kind == "NX" else all((values or {}).get(c) == v
                                                             for c, v in self.conditions.items())
        if self.end == INFINITE:
            return self.after(values) if holds else False
        if holds != (self.answer == "applied"):
            return False
        if holds:
            return self.after(values)
        shown = values
        if values is not None and self.kind == "CAS":
            shown = {c: v for c, v in values.items() if c in self.conditions}
        return row if self.row_told() == shown else False

    def after(self, values):
        return tuple(sorted({**(values or {}), **self.sets}.items()))


def check_key(operations):
    """None, or the remaining operations at the end of the longest order that was found."""
    operations = sorted(operations, key=lambda operation: operation.start)
    needed = sum(1 << i for i, operation in enumerate(operations) if operation.end != INFINITE)
    seen, stack, best, stuck = set(), [(0, 0, None)], -1, []
    while stack:
        done, first, row = stack.pop()
        if done & needed == needed:
            return None
        while done >> first & 1:
            first += 1
        candidates, soonest = [], INFINITE
        for i in range(first, len(operations)):
            if operations[i].start > soonest:
                break
            if not done >> i & 1:
                candidates.append(i)
                soonest = min(soonest, operations[i].end)
        count = bin(done & needed).count("1")
        if count > best:
            best, stuck = count, [operations[i] for i in candidates if operations[i].end != INFINITE]
        # Operations with unknown outcomes are tried last.
        for i in sorted(candidates, key=lambda i: -operations[i].end):
            after = operations[i].apply(row)
            configuration = (done | 1 << i, after)
            if after is not False and configuration not in seen:
                seen.add(configuration)
                stack.append((done | 1 << i, first, after))
    return stuck


def check(lines):
    """None, or a description of the fault."""
    keys = {}
    for number, line in enumerate(lines, 1):
        operation = Operation(number, line)
        if operation.is_of_use():
            keys.setdefault(operation.key, []).append(operation)
    for key, operations in keys.items():
        stuck = check_key(operations)
        if stuck is not None:
            head = f"key {key} is not linearizable; after all that came before, none of these can be next:"
            return "\n".join([head] + [f"  {operation.line}" for operation in stuck])
    return None


def main():
    with (sys.stdin if sys.argv[1] == "-" else open(sys.argv[1], encoding="utf-8")) as file:
        lines = [line.strip() for line in file if line.strip()]
    try:
        wrong = check(lines)
    except (ValueError, IndexError) as error:
        print(f"{sys.argv[1]}: {error}; a line is: client start end OPERATION => answer", file=sys.stderr)
        return 2
    print(wrong or f"{len(lines)} operations, linearizable")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
