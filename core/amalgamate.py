# SPDX-License-Identifier: MIT
"""amalgamate.py FOLDER: writes the core as two files, FOLDER/bucketing.h and FOLDER/bucketing.c.

They need nothing but a C compiler and libc: add both to a project. A name that is private to a file, and that
another file has too, gets its file's name as a prefix."""
import collections
import pathlib
import re
import sys

CORE = pathlib.Path(__file__).resolve().parent
INCLUDE = re.compile(r'^#include "([^"]+)"\n', re.M)
MACRO = re.compile(r"^#define (\w+)", re.M)
STATIC = re.compile(r"^static [^;={(]*?\b(\w+)(?:\(|\[|;| =)", re.M)
TOKEN = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![.\w>])[A-Za-z_]\w*', re.S)
SOURCES = sorted((CORE / "src").glob("*.c"))


def inlined(path, text, seen):
    """The text with the headers of the core where it includes them, those with a guard once in all."""
    def header(found):
        beside = path.parent / found[1]
        name = beside if beside.is_file() else CORE / "include" / found[1]
        if name in seen:
            return ""
        inside = name.read_text(encoding="utf-8")
        seen.update([name] if "#ifndef BUCKETING_" in inside else [])
        return inlined(name, inside, seen)
    return INCLUDE.sub(header, text.replace("/* SPDX-License-Identifier: MIT */\n", ""))


def main():
    folder, seen = pathlib.Path(sys.argv[1]), set()
    folder.mkdir(parents=True, exist_ok=True)
    lines = (CORE / "LICENSE").read_text(encoding="utf-8").strip().splitlines()
    licence = "/* SPDX-License-Identifier: MIT\n" + "".join(f" * {line}".rstrip() + "\n" for line in lines) + " */\n"
    headers = '#include "bucketing/bucketing.h"\n#include "bucketing/idgen.h"\n'
    (folder / "bucketing.h").write_text(licence + inlined(CORE / "include/bucketing.h", headers, seen),
                                        encoding="utf-8")
    texts = {path: path.read_text(encoding="utf-8") for path in SOURCES}
    names = {path: {*STATIC.findall(text), *MACRO.findall(text)} for path, text in texts.items()}
    count = collections.Counter(name for own in names.values() for name in own)
    out = [licence, '#include "bucketing.h"\n']
    for path, text in texts.items():
        own = {name for name in names[path] if count[name] > 1}
        text = TOKEN.sub(lambda found: f"{path.stem}_{found[0]}" if found[0] in own else found[0], text)
        out.append(inlined(path, text, seen))
    (folder / "bucketing.c").write_text("".join(out), encoding="utf-8")


main()
