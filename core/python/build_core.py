# SPDX-License-Identifier: MIT
"""Builds the extension bucketing._core: declarations from the public headers, code from every .c file of the core.

So Python has each struct, enum, constant and function of the headers, and the C compiler checks the declarations."""
import os
import pathlib
import re

from cffi import FFI

HERE = pathlib.Path(__file__).resolve().parent
CORE = HERE / "core" if (HERE / "core").is_dir() else HERE.parent
HEADERS = ["api", "status", "hash", "id", "strategy", "route", "read", "history", "agent", "idgen", "setting"]


def declarations(text):
    """Returns a header in the form that cffi can parse: without comments, includes and conditions, with constants and
    enums written out."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S).replace("\\\n", " ")
    enums = {}
    constants = []
    lines = []
    for line in text.splitlines():
        table = re.match(r"#define (BK_\w+_MAP)\(X\) (.*)", line)
        constant = re.match(r"#define (BK_\w+)\s+(\d\w*)\s*$", line)
        if table:
            enums[table.group(1)] = ", ".join(re.findall(r"X\((\w+),", table.group(2)))
        elif constant:
            constants.append(f"#define {constant.group(1)} {constant.group(2).rstrip('u')}")
        elif not line.startswith("#") and line.strip() not in ("BK_BEGIN", "BK_END"):
            lines.append(line)
    body = "\n".join(lines)
    for name, members in enums.items():
        body = re.sub(rf"{name}\(\w+\)", members, body)
    return "\n".join([*constants, body])


builder = FFI()
builder.cdef("\n".join(declarations((CORE / "include/bucketing" / f"{name}.h").read_text(encoding="utf-8"))
                       for name in HEADERS))
builder.set_source(
    "bucketing._core", "#include <bucketing/bucketing.h>\n#include <bucketing/idgen.h>",
    sources=[os.path.relpath(name, HERE) for name in sorted((CORE / "src").glob("*.c"))],
    include_dirs=[os.path.relpath(CORE / "include", HERE)],
    extra_compile_args=["-std=c17", "-O2", "-ffp-contract=off", "-fno-strict-overflow"] if os.name == "posix" else [])
