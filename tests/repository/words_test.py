# SPDX-License-Identifier: GPL-3.0-or-later
"""words.py finds a listed word in each scope, by its line, and nothing else: a small tree is clean, and each
change of one of its files is reported.
"""
import pathlib
import subprocess
import sys
import tempfile

CHECK = pathlib.Path(__file__).with_name("words.py")
LIST = "tests/repository/words.txt"
TREE = {
    LIST: "# A comment.\nall | laws? | distribution |\nprose | goes on with | resumes | not in sim/old\n"
          "identifier | far | overflow list | in sim/\nmessage doc | spread | CV |\n",
    "sim/a.c": "/* One. */\nint a;\n",
    "sim/old.c": "/* It goes on with it. */\n",
    "docs/a.md": "One.\n\nTwo.\n",
    "CHANGELOG.md": "- `law` is distribution.\n",
    "core/far.c": "int far, lawn, outlaw, spread; /* By law_of(), far and spread. */\n",
    "scenarios/a.yaml": "name: a\n",
    "tests/a.py": '"""One."""\na = "# law" + "law"\n',
}
# A text to append to a file -> the check's output.
CASES = [
    ("sim/a.c", "int find_laws;\n", "sim/a.c:3: identifier says 'laws'; write 'distribution'"),
    ("sim/a.c", "enum { LAW };\n", "sim/a.c:3: identifier says 'law'; write 'distribution'"),
    ("sim/a.c", "int is_far(void);\n", "sim/a.c:3: identifier says 'far'; write 'overflow list'"),
    ("sim/a.c", "// A Law.\n", "sim/a.c:3: comment says 'law'; write 'distribution'"),
    ("sim/a.c", "/* It goes\n * on with it. */\n", "sim/a.c:3: comment says 'goes on with'; write 'resumes'"),
    ("sim/a.c", 'char b[] = "/* goes "\n"on with";\n', "sim/a.c:3: message says 'goes on with'; write 'resumes'"),
    ("sim/a.c", 'char b[] = "\\"a spread";\n', "sim/a.c:3: message says 'spread'; write 'CV'"),
    ("tests/a.py", 'def b():\n    """A\n    law."""\n', "tests/a.py:5: comment says 'law'; write 'distribution'"),
    ("tests/a.py", "b = 1  # it goes\n# on with it\n", "tests/a.py:3: comment says 'goes on with'; write 'resumes'"),
    ("docs/a.md", "It goes on\nwith it.\n", "docs/a.md:4: doc says 'goes on with'; write 'resumes'"),
    ("docs/a.md", "`law`\n", "docs/a.md:4: doc says 'law'; write 'distribution'"),
    ("CHANGELOG.md", "- A law.\n", "CHANGELOG.md:2: doc says 'law'; write 'distribution'"),
    ("scenarios/a.yaml", "about: A spread.\n", "scenarios/a.yaml:2: doc says 'spread'; write 'CV'"),
    (LIST, "prose | (law | distribution |\n", f"{LIST}:6: "),
    (LIST, "speech | law | distribution |\n", f"{LIST}:6: 'speech' is no scope"),
    (LIST, "prose | law | distribution\n", f"{LIST}:6: a row has four cells"),
]


def run(changes):
    """The check's output for the tree with additions to some of its files, and its exit code."""
    with tempfile.TemporaryDirectory() as scratch:
        for name, text in TREE.items():
            path = pathlib.Path(scratch) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + changes.get(name, ""), encoding="utf-8")
        command = [sys.executable, "-BS", str(CHECK), scratch]
        check = subprocess.run(command, capture_output=True, text=True, check=False)
        return check.stdout + check.stderr, check.returncode


faults = []
said, code = run({})
if code != 0:
    faults.append(f"the tree is no fault, but: {said}")
for name, change, wanted in CASES:
    said, code = run({name: change})
    if code == 0 or wanted not in said or said.count("\n") != 2:
        faults.append(f"{name} with {change!r}: wanted '{wanted}' alone, not: {said}")
print("\n".join(faults))
print(f"{len(CASES)} faults and a tree without: {len(faults)} faults")
sys.exit(1 if faults else 0)
