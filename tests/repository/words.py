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
QUOTED = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
NAME = re.compile(r"[a-z_]\w*")
MARGIN = re.compile(r"^( *)\*(?=[ \n])", re.M)
HASH = re.compile(r"^( *)#", re.M)
# A docstring is a string at the beginning of a line.
PYTHON = re.compile(r'(?<=\n) *r?(""".*?""")|"""(?:.*?)"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|(#[^\n]*)', re.S)


def in_prose(rows):
    words = "|".join(row.pattern for row in rows) or "(?!)"
    return re.compile(rf"\b(?:{words})(?!\w)".replace(" ", r"\s+"))


def in_names(rows):
    return re.compile(rf"(?<!\S)(?:{'|'.join(row.pattern for row in rows) or '(?!)'})(?!\S)")


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
        self.pattern = pattern
        self.prose = self.scopes & PROSE and in_prose([self])
        self.name = in_names([self])
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


class Said:
    """The parts of a file's text that belong to a scope."""

    def __init__(self, text, spans, margin=None):
        self.text, self.spans, self.margin = text, spans, margin

    def joined(self, gap):
        """The parts, with gap(text) for each text between them."""
        ends = [0, *(until for _, until in self.spans)]
        parts = (gap(self.text[end:begin]) + self.text[begin:until] for end, (begin, until) in zip(ends, self.spans))
        return self.margin.sub(r"\1 ", "".join(parts)) if self.margin else "".join(parts)

    def short(self):
        return self.joined(lambda _: "\n")

    def in_place(self):
        """Each part at its place, with line breaks and spaces elsewhere."""
        return self.joined(blank)


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def scopes_of(name):
    """Scope -> what the file says there."""
    text = (ROOT / name).read_text(encoding="utf-8").lower()
    if name.endswith(".py"):
        spans = [found.span(found.lastindex) for found in PYTHON.finditer(text) if found.lastindex]
        return {"comment": Said(text, spans, HASH)}
    if not name.endswith((".c", ".h")):
        if name == "CHANGELOG.md":
            text = re.sub(r"`[^`]*`", lambda found: blank(found[0]), text)
        return {"doc": Said(text, [(0, len(text))])}
    spans = [found.span() for found in QUOTED.finditer(text)]
    between = list(zip([0, *(end for _, end in spans)], [*(begin for begin, _ in spans), len(text)]))
    messages = [(begin + 1, end - 1) for begin, end in spans if text[begin] == '"']
    comments = [(begin, end) for begin, end in spans if text[begin] == "/"]
    return {"identifier": Said(text, between), "message": Said(text, messages),
            "comment": Said(text, comments, MARGIN)}


class Rows:
    """The rows of the list, and what they say of texts. A name occurs in many files and is searched once, and few
    texts break a row: all rows are first searched as one expression."""

    def __init__(self, rows):
        self.rows = rows
        self.names = {}  # identifier -> the rows that it breaks, with the words
        self.for_names = [row for row in rows if "identifier" in row.scopes]
        self.any_name = in_names(self.for_names)
        self.any_prose = {}  # the rows of a scope that cover a file -> all of them as one expression

    def in_names(self, name, said):
        for identifier in dict.fromkeys(NAME.findall(said.short())):
            words = identifier.replace("_", " ").strip()
            if identifier not in self.names:
                broken = self.for_names if self.any_name.search(words) else []
                self.names[identifier] = [(row, found[0]) for row in broken for found in row.name.finditer(words)]
            for row, found in self.names[identifier]:
                if row.covers(name):
                    yield from ((row, found, place.start()) for place in NAME.finditer(said.in_place())
                                if place[0] == identifier)

    def in_prose(self, name, scope, said):
        rows = tuple(row for row in self.rows if scope in row.scopes and row.covers(name))
        if rows not in self.any_prose:
            self.any_prose[rows] = in_prose(rows)
        if self.any_prose[rows].search(said.short()):
            for row in rows:
                yield from ((row, found[0], found.start()) for found in row.prose.finditer(said.in_place()))


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
