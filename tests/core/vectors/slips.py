#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes a copy of a C file that holds many slips, of which at most one is made at a time: slips.py FILE FIRST [FLAGS].

The slips are those that come to mind at each expression: a comparison takes the equality to the other side, a
condition is always or never met, a term is left out, a constant is greater by 1, a statement is left out. Slip i is
made while `slip == i`, and sets `slip_differs[i]` when it would change a value. The places are those of clang's syntax
tree. Prints the copy, and last a line `// NEXT`, the number of the next slip."""
import json
import re
import subprocess
import sys

OTHER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
HEAD = """extern unsigned slip;
extern unsigned char slip_differs[];
#define SLIP(i, is, was) (slip_differs[i] |= (is) != (was), slip == (i) ? (is) : (was))
#define SLIP_ORDER(i, op, other, left, right) __extension__({ __typeof__((left) + 0) l_ = (left); \\
    __typeof__((right) + 0) r_ = (right); SLIP(i, l_ other r_, l_ op r_); })
#define SLIP_TERM(i, op, left, right) __extension__({ __typeof__((left) + 0) l_ = (left); \\
    __typeof__((right) + 0) r_ = (right); __typeof__(l_ op r_) w_ = l_ op r_; SLIP(i, (__typeof__(w_))l_, w_); })
#define SLIP_IF(i, condition) __extension__({ _Bool c_ = (condition); slip_differs[(i) + c_] = 1; \\
    slip == (i) || slip == (i) + 1 ? slip == (i) : c_; })
#define SLIP_OUT(i) (slip_differs[i] = 1, slip == (i))
"""


class Copy:
    def __init__(self, text, first):
        self.text, self.next, self.edits = text, first, []  # (at, order, removed characters, new text)

    def take(self, count=1):
        self.next += count
        return self.next - count

    def span(self, node):
        """Begin and end of the node in the file's text; None if a macro holds only a part of it."""
        ends = []
        for side in ("begin", "end"):
            place = node["range"][side]
            if "expansionLoc" in place:
                place = place["expansionLoc"]
            if "offset" not in place or "includedFrom" in place:
                return None
            ends += [place["offset"], place["offset"] + place["tokLen"]]
        begin, end = ends[0], ends[3]
        if "expansionLoc" in node["range"]["end"] and self.text[end:end + 1] == "(":
            end = self.closing(end)
        return begin, end

    def closing(self, at):
        depth = 0
        for i in range(at, len(self.text)):
            depth += (self.text[i] == "(") - (self.text[i] == ")")
            if depth == 0:
                return i + 1
        return at

    def wrap(self, span, before, after):
        self.edits += [(span[0], (1, -span[1]), 0, before), (span[1], (0, -span[0]), 0, after)]

    def two(self, node, before):
        spans = [self.span(child) for child in node["inner"]]
        whole = self.span(node)
        if None in spans or whole is None or spans[0][1] > spans[1][0] or whole != (spans[0][0], spans[1][1]):
            return
        self.wrap(whole, before, "))")
        self.edits += [(spans[0][1], (0, 1), spans[1][0] - spans[0][1], "), (")]

    def condition(self, node):
        span = self.span(node)
        if span is not None and node["kind"] not in ("IntegerLiteral",):
            self.wrap(span, f"SLIP_IF({self.take(2)}, ", ")")

    def statement(self, node):
        span = self.span(node)
        if span is not None and node["kind"] in ("BinaryOperator", "CompoundAssignOperator", "CallExpr",
                                                 "UnaryOperator"):
            self.edits += [(span[0], (1, -span[1] - 1), 0, f"if (!SLIP_OUT({self.take()})) ")]

    def walk(self, node):
        kind, inner, code = node.get("kind"), node.get("inner", []), node.get("opcode")
        is_macro = "expansionLoc" in node.get("range", {}).get("begin", {})
        if is_macro or kind in ("UnaryExprOrTypeTraitExpr", "StaticAssertDecl", "ConstantExpr") or (
                kind == "VarDecl" and node.get("storageClass") == "static"):
            return
        integer = any(word in node.get("type", {}).get("qualType", "") for word in ("int", "long", "size_t"))
        if kind == "BinaryOperator" and code in OTHER:
            self.two(node, f"SLIP_ORDER({self.take()}, {code}, {OTHER[code]}, (")
        elif kind == "BinaryOperator" and code in "+-*/%&|" and integer and "*" not in node["type"]["qualType"]:
            self.two(node, f"SLIP_TERM({self.take()}, {code}, (")
        elif kind == "IntegerLiteral" and self.span(node) is not None:
            self.wrap(self.span(node), f"SLIP({self.take()}, {node['value']} + 1, ", ")")
        if kind == "BinaryOperator" and code in ("&&", "||"):
            for child in inner:
                self.condition(child)
        if kind in ("IfStmt", "ConditionalOperator"):
            self.condition(inner[0])
        if kind == "ReturnStmt" and inner and node["inner"][0].get("type", {}).get("qualType") in ("bool", "_Bool"):
            self.condition(inner[0])
        if kind == "CompoundStmt":
            for child in inner:
                self.statement(child)
        for child in inner:
            self.walk(child)

    def made(self):
        out, at = [], 0
        for place, _, removed, text in sorted(self.edits):
            out += [self.text[at:place], text]
            at = max(at, place + removed)
        return "".join(out) + self.text[at:]


def main():
    file, first, flags = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    tree = json.loads(subprocess.run(["clang", "-fsyntax-only", "-std=c17", *flags, "-Xclang", "-ast-dump=json", file],
                                     check=True, capture_output=True, text=True).stdout)
    with open(file, encoding="utf-8") as source:
        copy = Copy(source.read(), first)
    for node in tree["inner"]:
        if node["kind"] == "FunctionDecl" and "includedFrom" not in node["loc"] and "offset" in node["loc"]:
            for part in node.get("inner", []):
                if part["kind"] == "CompoundStmt":
                    copy.walk(part)
    print(HEAD, copy.made(), f"// {copy.next}", sep="\n")


main()
