# SPDX-License-Identifier: GPL-3.0-or-later
"""words.py [ROOT]: no text contains a word that words.txt lists for its scope; that file describes its
format.

A sentence may continue over several lines of a comment, a string or a document. CHANGELOG.md may contain an
old word in backquotes, to say what replaced it.
"""
import pathlib
import re
import sys

import sources

ROOT = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else sources.ROOT
sources.ROOT = ROOT
LIST = "tests/repository/words.txt"
PROSE = {"message", "comment", "doc"}
SCOPES = {"identifier", *PROSE}
SETS = {"prose": PROSE, "all": SCOPES}
TOKEN = re.compile(r'(/\*.*?\*/|//[^\n]*)|("(?:\\.|[^"\\\n])*")|\'(?:\\.|[^\'\\\n])*\'|([a-z_]\w*)', re.S)
MARGIN = re.compile(r"^( *)\*(?=[ \n])", re.M)
HASH = re.compile(r"^( *)#", re.M)
# A docstring is a string at the beginning of a line.
PYTHON = re.compile(r'(?<=\n) *r?(""".*?""")|"""(?:.*?)"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|(#[^\n]*)', re.S)


class Row:
    """A line of the list."""

    def __init__(self, line):
        cells = [cell.strip() for cell in re.split(r" \|(?: |$)", line)]
        if len(cells) != 4 or not cells[1] or not cells[2]:
            raise ValueError("a row has four cells")
        scopes, pattern, self.write, where = cells
        self.scopes = set().union(*(SETS.get(scope, {scope}) for scope in scopes.split()))
        if not self.scopes or not self.scopes <= SCOPES:
            raise ValueError(f"'{scopes}' is no scope")
        words = pattern.replace(" ", r"\s+")
        self.prose = self.scopes & PROSE and re.compile(rf"\b(?:{words})(?!\w)")
        self.name = re.compile(rf"(?<!\S)(?:{pattern})(?!\S)")
        self.is_in = not where.startswith("not in ")
        self.where = re.compile(where.removeprefix("not in ").removeprefix("in "))

    def covers(self, name):
        return (self.where.match(name) is not None) == self.is_in


def read_rows(faults):
    rows = []
    for number, line in enumerate((ROOT / LIST).read_text(encoding="utf-8").splitlines(), 1):
        if line and not line.startswith("#"):
            try:
                rows.append(Row(line))
            except (ValueError, re.error) as error:
                faults.append(f"{LIST}:{number}: {error}; write 'scopes | pattern | write | where'")
    return rows


def joined(text, spans):
    """The text of the spans, each at its place, with line breaks and spaces elsewhere."""
    out, end = [], 0
    for begin, until in spans:
        out += ["\n".join(" " * len(line) for line in text[end:begin].split("\n")), text[begin:until]]
        end = until
    return "".join(out)


def scopes_of(name):
    """Scope -> its text, where each word keeps its place; identifier -> names split into words, and the
    places of each."""
    text = (ROOT / name).read_text(encoding="utf-8").lower()
    if name.endswith(".py"):
        spans = [found.span(found.lastindex) for found in PYTHON.finditer(text) if found.lastindex]
        return {"comment": HASH.sub(r"\1 ", joined(text, spans))}
    if not name.endswith((".c", ".h")):
        if name == "CHANGELOG.md":
            text = re.sub(r"`[^`]*`", lambda found: re.sub(r"[^\n]", " ", found[0]), text)
        return {"doc": text}
    comments, messages, names = [], [], {}
    for found in TOKEN.finditer(text):
        if found[3]:
            names.setdefault(found[3].replace("_", " ").strip(), []).append(found.start())
        elif found[2]:
            messages.append((found.start() + 1, found.end() - 1))
        elif found[1]:
            comments.append(found.span())
    return {"identifier": names, "message": joined(text, messages),
            "comment": MARGIN.sub(r"\1 ", joined(text, comments))}


class Rows:
    """The rows of the list, and what they say of texts; a name occurs in many files and is searched once."""

    def __init__(self, rows):
        self.rows = rows
        self.names = {}  # split identifier -> the rows that it breaks, with the words
        self.any_prose = {}  # the rows of a scope that cover a file -> all of them as one expression

    def in_names(self, name, said):
        for words, places in said.items():
            if words not in self.names:
                self.names[words] = [(row, found[0]) for row in self.rows if "identifier" in row.scopes
                                     for found in row.name.finditer(words)]
            for row, found in self.names[words]:
                if row.covers(name):
                    yield from ((row, found, place) for place in places)

    def in_prose(self, name, scope, said):
        rows = tuple(row for row in self.rows if scope in row.scopes and row.covers(name))
        if rows not in self.any_prose:
            self.any_prose[rows] = re.compile("|".join(row.prose.pattern for row in rows) or r"(?!)")
        if self.any_prose[rows].search(said):
            for row in rows:
                yield from ((row, found[0], found.start()) for found in row.prose.finditer(said))


def check(name, rows, faults):
    text = (ROOT / name).read_text(encoding="utf-8")
    for scope, said in scopes_of(name).items():
        hits = rows.in_names(name, said) if scope == "identifier" else rows.in_prose(name, scope, said)
        for row, words, place in hits:
            line = text.count("\n", 0, place) + 1
            faults.append(f"{name}:{line}: {scope} says '{' '.join(words.split())}'; write '{row.write}'")


def main():
    faults = []
    rows = read_rows(faults)
    names = sources.files(".c", ".h", ".py", ".md", ".1.in", ".yaml")
    searched = Rows(rows)
    for name in names:
        check(name, searched, faults)
    sources.finish(faults, f"{len(rows)} patterns in {len(names)} files")


main()
