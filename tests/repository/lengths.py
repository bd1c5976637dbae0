# SPDX-License-Identifier: GPL-3.0-or-later
"""A function fits a screen, and a line fits too. The check relies on the format: a body's braces are alone in
column one.
"""
import sources

FUNCTION_LINES_MAX = 70
# A test may contain its table of cases.
TEST_LINES_MAX = 120
COLUMNS_MAX = 110

faults = []
names = sources.files(".c", ".h")
for name in names:
    most = TEST_LINES_MAX if name.startswith("tests/") else FUNCTION_LINES_MAX
    begin = 0
    for number, line in enumerate((sources.ROOT / name).read_text(encoding="utf-8").splitlines(), 1):
        if line == "{":
            begin = number
        elif line == "}" and begin:
            if number - begin - 1 > most:
                faults.append(f"{name}:{begin}: function of {number - begin - 1} lines; split it ({most} at most)")
            begin = 0
for name in sources.files(".c", ".h", ".py"):
    for number, line in enumerate((sources.ROOT / name).read_text(encoding="utf-8").splitlines(), 1):
        if len(line) > COLUMNS_MAX + 10:
            faults.append(f"{name}:{number}: line of {len(line)} columns; break it at {COLUMNS_MAX}")
sources.finish(faults, f"lengths in {len(names)} files")
