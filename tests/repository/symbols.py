# SPDX-License-Identifier: GPL-3.0-or-later
"""The core has no I/O, allocation, clocks or randomness: compiled alone and linked with the C library only,
it needs no symbol except those that a compiler may insert. Neither the core nor the simulator's folders have
a global variable that changes: for this check, the objects of the build are read. And the folders on which a
run's digest depends call no outside function except those listed here: no clock, no environment, no locale,
no source of randomness, and of libm only the square root, which IEEE 754 defines exactly.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import sources

# Copies and comparisons, the stack protector, the linker's table, functions for instructions that some
# machines lack, and the compiler's record of the processor's instructions: wider registers give the same
# results faster.
ALLOWED = {
    "memcpy", "memmove", "memset", "memcmp", "__stack_chk_fail", "_GLOBAL_OFFSET_TABLE_", "__cpu_model",
    "__udivti3", "__umodti3", "__divti3", "__modti3", "__udivmodti4", "__multi3",
}
COMMON = ALLOWED | {
    "malloc", "calloc", "realloc", "free", "aligned_alloc", "strdup", "qsort", "abort", "__assert_fail", "sqrt",
    "memchr", "strlen", "strcmp", "strncmp", "strchr", "strrchr", "strstr", "strspn", "strcspn", "strpbrk", "strcpy",
    "strcat", "snprintf", "vsnprintf", "__popcountdi2", "__floattidf", "__floatuntidf", "__fixunsdfti",
}
FILES = {"open", "close", "fstat", "stat", "fopen", "fread", "fclose", "ferror", "strerror", "__xpg_strerror_r",
         "__errno_location"}
# Folder -> the functions that it may call in addition to its own and its neighbours', and permitted prefixes.
OUTSIDE = {
    # The queue requests large pages; a failed assertion prints the state. This folder opens inputs and starts
    # threads for all others.
    "sim/kernel": (COMMON | FILES | {"madvise", "fprintf", "stderr", "fcntl", "fdopen", "gmtime_r", "strftime"},
                   ("pthread_attr_", "pthread_create")),
    # Dates are read in the C locale, which the program never leaves. Folders are read in the order of names, JSON by
    # jansson, UTF-16 by iconv(); data being sorted is stored in a temporary file. Each decoder has its library, and
    # zip the checksum of zlib. A tool's figure, such as 1.5 MiB, is parsed in the C locale and scaled exactly.
    "sim/workload": (COMMON | FILES | {"read", "lseek", "scandir", "mkstemp", "unlink", "write", "pread",
                                       "fmemopen", "open_memstream", "fprintf", "fputs", "fputc", "fwrite", "strndup",
                                       "strncasecmp", "strptime", "strtod", "strtol", "strtoul", "ldexp", "crc32"},
                     ("inflate", "BZ2_", "lzma_", "LZ4F_", "ZSTD_", "json_", "iconv")),
    # strtod() parses figures in a text, and rounds as IEEE 754 requires. Addresses are text without names of hosts.
    "sim/cassandra": (COMMON | {"inet_pton", "strtod", "strtof", "strtol", "strtoull"}, ()),
    # Logarithms and powers are for the bounds of an observed share (binomial.c), which do not affect an
    # event. Histories are read line by line, and a silent one ends at a signal. A file that a stored scenario names
    # may have to be in a folder.
    "sim/lab": (COMMON | FILES | {"getline", "poll", "read", "realpath", "strtod", "strtoll", "strtoul", "strtoull",
                                  "log", "log1p", "exp", "expm1", "pow", "fma", "fmax", "fmin"},
                ("fy_", "pthread_mutex_", "pthread_cond_", "pthread_join")),
}
STATELESS = ["core", "sim/kernel", "sim/ranks", "sim/workload", "sim/cassandra", "sim/lab", "sim/tune", "sim/store",
             "reports"]


# What objdump -t writes: a line for each object, then for each symbol its address, flags, section, size and name.
BEGINNING = re.compile(r"^\S.*: +file format .*$", re.M)
SYMBOL = re.compile(r"^[0-9a-f]+ (.{7}) (\S+)\t[0-9a-f]+ +(?:\.hidden )?(\S+)$", re.M)
# The writable sections.
CHANGES = re.compile(r"\.(data(?!\.rel\.ro)|bss|tdata|tbss)")


def symbols(compiler, source, level, folder):
    """The type and name of each symbol of a file, as nm prints them; None when the file does not compile."""
    with tempfile.TemporaryDirectory() as scratch:
        built = pathlib.Path(scratch) / "probe.o"
        command = [compiler, "-std=c17", f"-I{sources.ROOT / folder}/include", level, "-c", str(sources.ROOT / source),
                   "-o", str(built)]
        if subprocess.run(command, check=False).returncode != 0:
            return None
        listed = subprocess.run(["nm", "-P", str(built)], check=True, capture_output=True, text=True)
        return [tuple(reversed(line.split()[:2])) for line in listed.stdout.splitlines()]


def check_core(compiler, optimised, faults):
    """Without optimisation, and with -O3; optimised: the tables of objects that the build has made with -O3."""
    core = sources.files(".c", under=("core/src/",))
    if not core:
        faults.append("core/ has no source")
    for level in ("-O0", "-O3"):
        found = {name: level == "-O3" and optimised.get(name) or symbols(compiler, name, level, "core")
                 for name in core}
        faults += [f"{name}: does not compile against the C library alone" for name in core if found[name] is None]
        found = {name: table for name, table in found.items() if table is not None}
        defined = {symbol for table in found.values() for kind, symbol in table if kind not in "Uw"}
        for name, table in found.items():
            for kind, symbol in table:
                if kind in "Uw" and symbol not in defined | ALLOWED:
                    faults.append(f"{name}: needs '{symbol}' ({level}), which the core must do without")
                if kind in "TDBRC" and not symbol.startswith("bk_"):
                    faults.append(f"{name}: publishes '{symbol}'; make it static or begin it with bk_")


def check_state(tables, faults):
    for name, table in tables.items():
        for kind, symbol in table:
            if kind in "dDbBC":
                faults.append(f"{name}: '{symbol}' is a global that can change; make it const or pass it")


def check_outside(tables, faults):
    defined = {symbol for table in tables.values() for kind, symbol in table if kind not in "Uw"}
    for folder, (names, beginnings) in OUTSIDE.items():
        inside = {name: table for name, table in tables.items() if name.startswith(f"{folder}/")}
        if not inside:
            faults.append(f"{folder}/ has no source")
        for name, table in inside.items():
            for kind, symbol in table:
                if kind in "Uw" and symbol not in defined | names and not symbol.startswith(beginnings):
                    faults.append(f"{name}: calls '{symbol}', which {folder} must do without, or OUTSIDE must list: a "
                                  "digest may depend on nothing but the scenario")


def read_tables(build, faults):
    """Source -> the symbols of its built object, for all sources that must not keep state: "U" and the name
    of each symbol that it needs, "d" and the name of each variable. A constant table of pointers, which the
    loader fills in, is not one."""
    objects = {}
    for entry in json.loads((pathlib.Path(build) / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["file"])
        name = str(source.relative_to(sources.ROOT)) if sources.ROOT in source.parents else ""
        if name.startswith(tuple(f"{folder}/" for folder in STATELESS)):
            words = sources.words_of(entry["command"])
            built = words[words.index("-o") + 1]
            if not built.startswith("tests/"):  # the benchmark compiles some of them once more
                objects[name] = pathlib.Path(entry["directory"]) / built
    faults += [f"{name}: not built; build all first" for name, built in objects.items() if not built.exists()]
    objects = {name: built for name, built in objects.items() if built.exists()}
    listed = subprocess.run(["objdump", "-t", *map(str, objects.values())], check=True, capture_output=True, text=True)
    tables = {}
    for name, table in zip(objects, BEGINNING.split(listed.stdout)[1:], strict=True):
        tables[name] = []
        for flags, section, symbol in SYMBOL.findall(table):
            if section == "*UND*":
                tables[name].append(("U", symbol))
            elif section == "*COM*" or "O" in flags and CHANGES.match(section):
                tables[name].append(("d", symbol))
            elif "g" in flags:
                tables[name].append(("T", symbol))
    return tables


def main():
    build, compiler = sys.argv[1:3]
    faults = []
    tables = read_tables(build, faults)
    is_optimised = "-O3" in sources.compile_commands(build).get("core/src/route.c", [])
    check_core(compiler, tables if is_optimised else {}, faults)
    check_state(tables, faults)
    check_outside(tables, faults)
    sources.finish(faults, f"symbols of {len(tables)} files")


main()
