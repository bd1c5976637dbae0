# SPDX-License-Identifier: GPL-3.0-or-later
"""modules.py finds each kind of fault: a small tree is clean, and each change of one of its files is
reported.
"""
import pathlib
import subprocess
import sys
import tempfile

CHECK = pathlib.Path(__file__).with_name("modules.py")
LICENCE = "/* SPDX-License-Identifier: GPL-3.0-or-later */\n"
OPENING = LICENCE + "/* What it does. */\n"
TREE = {
    "core/CMakeLists.txt": "bucketlab_library(bucketing)\n",
    "core/include/bucketing/route.h": LICENCE + "#define BK_ONE 1\nstruct bk_route {\n    int at;\n};\n"
                                                "int bk_route(struct bk_route *route);\n",
    "core/route.c": OPENING + '#include "bucketing/route.h"\n',
    "sim/CMakeLists.txt": "# A comment (with parentheses).\n"
                          "bucketlab_module(sim low LINK bucketing)\nbucketlab_module(sim high PRIVATE low m)\n"
                          "bucketlab_umbrella(sim high)\n",
    "sim/low/include/sim/low.h": LICENCE + '#include "bucketing/route.h"\nenum low { LOW_A, LOW_B };\n',
    "sim/low/low.c": OPENING + '#include "inner.h"\n#include "sim/low.h"\n',
    "sim/low/inner.h": LICENCE + "typedef int low_inner(int sum);\n",
    "sim/low/inner.c": OPENING + '#include "inner.h"\n',
    "sim/high/include/sim/high.h": LICENCE + "int high_of(int value);\n",
    "sim/high/high.c": OPENING + '#include "sim/high.h"\n#include "sim/low.h"\n',
    "sim/lab/CMakeLists.txt": "bucketlab_module(sim_lab cluster)\n",
    "sim/lab/cluster/cluster_agents.h": LICENCE + "int lab_agent(void);\n",
    "sim/lab/cluster/cluster_view.h": LICENCE + "int lab_view(void);\n",
    "sim/lab/cluster/oracles/oracle.c": OPENING + '#include "cluster_view.h"\n',
    "tests/high_test.c": OPENING,
}
# A text to append to a file, or to replace it when the text begins with LICENCE -> a part of the check's
# output.
CASES = [
    ("sim/low/low.c", '#include "sim/high.h"\n', "sim/low does not link sim/high"),
    ("core/route.c", '#include "sim/low.h"\n', "core does not link sim/low"),
    ("sim/high/high.c", '#include "inner.h"\n', "which is inside sim/low; publish it"),
    ("core/CMakeLists.txt", "target_link_libraries(bucketing PUBLIC sim_high)\n",
     "the targets bucketing, sim_high, sim_low link each other"),
    ("sim/low/inner.c", '#include "sim/low.h"\n', "sim/low: these files include each other in a circle: inner low"),
    ("sim/high/include/sim/high.h", "#define BK_ONE 2\n", "'BK_ONE' means something in each of"),
    ("sim/high/include/sim/high.h", "struct low_inner {\n    int at;\n};\n", "'low_inner' means something in each"),
    ("sim/high/include/sim/high.h", "enum { HIGH_A, LOW_B = 3 };\n", "'LOW_B' means something in each"),
    ("sim/high/include/sim/high.h", "int *bk_route(void);\n", "'bk_route' means something in each"),
    ("sim/high/high.c", LICENCE + '#include "sim/high.h"\n', "sim/high/high.c:2: say in an opening comment"),
    ("sim/lab/cluster/oracles/oracle.c", '#include "cluster_agents.h"\n',
     "which is no part of what sim/lab/cluster/oracles sees"),
    ("tests/high_test.c", LICENCE + "\n#include <math.h>\n", "tests/high_test.c:2: say in an opening comment"),
]
# Changes that are not faults.
CLEAN = [
    {},
    {"sim/high/include/sim/high.h": "struct bk_route;\n"},
    {"sim/high/high.c": "#define BK_ONE 2\nstruct low_inner {\n    int at;\n};\n"},
]


def run(changes):
    """The check's output for the tree with some of its files changed, and its exit code."""
    with tempfile.TemporaryDirectory() as scratch:
        for name, text in TREE.items():
            path = pathlib.Path(scratch) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            change = changes.get(name, "")
            path.write_text(change if change.startswith(LICENCE) else text + change, encoding="utf-8")
        command = [sys.executable, "-BS", str(CHECK), scratch]
        check = subprocess.run(command, capture_output=True, text=True, check=False)
        return check.stdout + check.stderr, check.returncode


faults = []
for changes in CLEAN:
    said, code = run(changes)
    if code != 0:
        faults.append(f"{changes}: is no fault, but: {said}")
for name, change, wanted in CASES:
    said, code = run({name: change})
    if code == 0 or wanted not in said or said.count("\n") != 2:
        faults.append(f"{name} with {change!r}: wanted '{wanted}' alone, not: {said}")
print("\n".join(faults))
print(f"{len(CASES)} faults and {len(CLEAN)} trees without: {len(faults)} faults")
sys.exit(1 if faults else 0)
