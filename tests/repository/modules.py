# SPDX-License-Identifier: GPL-3.0-or-later
"""modules.py [ROOT]: checks the structure of the modules.

1. Dependencies are acyclic: the targets that CMake links have no cycle, and each file includes only headers of its own
   module and of the modules that its own links. (arrows.py checks the same with the compiler.)
2. The files of a module have no include cycle. A file and its header of the same name count as one.
3. A name that a header gives to a function, type, constant or macro is defined in that header only.
4. Each .c file opens, after its licence, with a comment that describes it.
5. A subfolder with a restricted view of its module includes only the permitted headers.
"""
import pathlib
import re
import sys

import sources

ROOT = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else sources.ROOT
sources.ROOT = ROOT
COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">]+)[">]', re.M)

# A subfolder -> the headers of its module that it may include in addition to its own.
VIEWS = {
    "sim/lab/cluster/oracles": {"cluster_run.h", "cluster_view.h", "events.h", "history.h", "idgen.h"},
}


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def without_comments(text):
    return COMMENT_OR_STRING.sub(lambda found: found[0] if found[0][0] == '"' else " ", text)


def circles_of(edges):
    """The sets of nodes that reach each other (Tarjan's strongly connected components), with two nodes or
    more."""
    index, low, stack, out = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(edges.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            circle = []
            while not circle or circle[-1] != node:
                circle.append(stack.pop())
            if len(circle) > 1:
                out.append(sorted(circle))

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return sorted(out)


def check_links(faults):
    targets = sources.read_targets(ROOT)
    edges = {name: {link for link in target["link"] + target["private"] if link in targets}
             for name, target in targets.items()}
    for circle in circles_of(edges):
        faults.append(f"CMakeLists.txt: the targets {', '.join(circle)} link each other; turn an arrow round")


class Tree:
    """The files of all modules, and the includes of each."""

    def __init__(self):
        self.folders = sources.read_folders(ROOT)
        self.modules = {}
        self.public = {}  # the text of an include -> the header
        for name in sources.files(".c", ".h", under=("core/", "sim/", "reports/")):
            module = sources.folder_of(name, self.folders)
            if module:
                self.modules[name] = module
                if "/include/" in name:
                    self.public[name.split("/include/", 1)[1]] = name
        self.private = {}  # the last part of the name of a header outside of include/ -> the headers
        for name in self.modules:
            if name.endswith(".h") and "/include/" not in name:
                self.private.setdefault(name.rsplit("/", 1)[1], []).append(name)

    def includes(self, name):
        """The project's headers that a file includes."""
        for said in INCLUDE.findall(read(name)):
            beside = (pathlib.PurePosixPath(name).parent / said).as_posix()
            if beside in self.modules:
                yield beside
            elif said in self.public:
                yield self.public[said]
            else:
                homes = self.private.get(said.rsplit("/", 1)[-1], [])
                own = [home for home in homes if self.modules[home] == self.modules[name]]
                yield from (own or homes)[:1]


def check_arrows(tree, faults):
    for name, module in tree.modules.items():
        for header in tree.includes(name):
            other = tree.modules[header]
            if other not in tree.folders[module]:
                faults.append(f"{name}: includes {header}, but {module} does not link {other}")
            elif other != module and "/include/" not in header:
                faults.append(f"{name}: includes {header}, which is inside {other}; publish it in its include/")


def check_circles(tree, faults):
    edges = {}
    for name, module in tree.modules.items():
        unit = (module, pathlib.PurePosixPath(name).stem)
        for header in tree.includes(name):
            other = (tree.modules[header], pathlib.PurePosixPath(header).stem)
            if other[0] == module and other != unit:
                edges.setdefault(unit, set()).add(other)
    for circle in circles_of(edges):
        names = " ".join(stem for _, stem in circle)
        faults.append(f"{circle[0][0]}: these files include each other in a circle: {names}")


def names_in(header):
    """The names that a header defines: macros, tags, constants, typedefs, functions."""
    text = without_comments(read(header))
    names = set(re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", text, re.M))
    names -= set(re.findall(r"^[ \t]*#[ \t]*undef[ \t]+(\w+)", text, re.M))
    names -= set(re.findall(r"^[ \t]*#[ \t]*ifndef[ \t]+(\w+)", text, re.M))
    text = re.sub(r"^[ \t]*#(?:.*\\\n)*.*$", "", text, flags=re.M)
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)|\b_Static_assert\s*\([^;]*;", " ", text)
    text = re.sub(r'extern\s+"C"\s*\{', " ", text)
    names.update(re.findall(r"\b(?:struct|union|enum)\s+(\w+)\s*\{", text))
    for body in re.findall(r"\benum\b[^{;()]*\{([^}]*)\}", text):
        names.update(re.findall(r"(?:^|,)\s*([A-Za-z_]\w*)", body))
    while True:  # removes bodies, from the inside out
        shorter = re.sub(r"\{[^{}]*\}", ";", text)
        if shorter == text:
            break
        text = shorter
    for statement in text.split(";"):
        typedef = re.match(r"\s*typedef\b.*?(?:\(\s*\*\s*(\w+)\s*\)|\b(\w+)\s*(?:\([^()]*\))?\s*$)", statement, re.S)
        if typedef:
            names.add(typedef[1] or typedef[2])
            continue
        function = re.match(r"\s*[A-Za-z_][\w\s*]*?\b(\w+)\s*\(", statement)
        if function:
            names.add(function[1])
    return names


def check_names(tree, faults):
    homes = {}
    for name in tree.modules:
        if name.endswith(".h"):
            for said in names_in(name):
                homes.setdefault(said, []).append(name)
    for said, headers in sorted(homes.items()):
        if len(headers) > 1:
            where = " ".join(sorted(headers))
            faults.append(f"'{said}' means something in each of {where}; rename one")


def check_openings(faults):
    for name in sources.files(".c", under=("core/", "sim/", "reports/", "tests/", "docs/")):
        text = re.sub(r"\A\s*(?:/\* *SPDX[^\n]*\*/|// *SPDX[^\n]*)\s*", "", read(name))
        if not text.startswith(("/*", "//")):
            faults.append(f"{name}:2: say in an opening comment what the file does")


def check_views(tree, faults):
    for folder, seen in VIEWS.items():
        for name in (name for name in tree.modules if name.startswith(f"{folder}/")):
            for header in tree.includes(name):
                beyond = tree.modules[header] == tree.modules[name] and not header.startswith(f"{folder}/")
                if beyond and header.rsplit("/", 1)[1] not in seen:
                    faults.append(f"{name}: includes {header}, which is no part of what {folder} sees of its module")


def main():
    faults = []
    tree = Tree()
    check_links(faults)
    check_arrows(tree, faults)
    check_circles(tree, faults)
    check_names(tree, faults)
    check_openings(faults)
    check_views(tree, faults)
    sources.finish(faults, f"modules of {len(tree.modules)} files")


main()
