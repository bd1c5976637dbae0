#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Seeds faults without a look at the tests, and counts how many of them a fuzzer finds.

Aim: the share of unknown mistakes that the fuzzer of answers detects. Method: of each ROOM, lines that an answer
executes (by gcov, --cov is a build with --coverage that has run some commands) are drawn at random, and at each line
one of the mistakes that apply there: another operator, another constant, a negated or shortened condition, an omitted
statement. A fault whose object code equals the original's is drawn again. The faulty file alone is compiled, and the
fuzzer linked with it.

    seed.py SOURCE BUILD --cov COVERAGE_BUILD --work FOLDER [--draw SEED] [--each N] [--seeds N] [--only N...]

The faults stay in the FOLDER; a second run takes these.
"""
import argparse
import collections
import gzip
import json
import os
import pathlib
import random
import re
import resource
import subprocess
import sys

ROOMS = {"tune": "sim/tune", "judge": "sim/lab/result", "measures": "sim/lab/measure", "workload": "sim/workload",
         "stream": "sim/lab/stream"}
SWAPS = {" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == ", " && ": " || ",
         " || ": " && ", " + ": " - ", " - ": " + ", " * ": " / ", " / ": " * ", " += ": " -= ", " -= ": " += ",
         "true": "false", "false": "true", " % ": " / ", "++": "--"}
TARGET = "lab_answers_fuzz"
# An overrun of an allocation, and the use of memory that was not set, show.
CHECKED = {"LD_PRELOAD": "libc_malloc_debug.so.0", "MALLOC_CHECK_": "3", "MALLOC_PERTURB_": "165"}


def mistakes_at(line, before):
    """(kind, new line) of all mistakes that this line can have."""
    code = line.split("/*")[0]
    for old, new in SWAPS.items():
        for found in re.finditer(re.escape(old), code):
            yield f"'{old.strip()}' becomes '{new.strip()}'", code[:found.start()] + new + code[found.end():]
    for found in re.finditer(r"(?<![\w.\"%])(\d+)(?![\w.\"])", code):
        for more in (1, -1):
            yield f"{found[1]} becomes {int(found[1]) + more}", \
                code[:found.start()] + str(int(found[1]) + more) + code[found.end():]
    if found := re.match(r"(\s*(?:\} else )?(?:if|while) )\((.*)\)( \{)?$", code):
        yield "a negated condition", f"{found[1]}(!({found[2]})){found[3] or ''}"
    for found in re.finditer(r"(?<=[(=] )?(!?[\w.>\[\]-]+(?: [<>=!]=? [\w.>\[\]-]+)?) (&&|\|\|) ", code):
        yield f"without '{found[0].strip()}'", code[:found.start()] + code[found.end():]
    if re.match(r"\s*(?!return|break|continue|case|goto|const |else|static |struct |uint|int|size_t|bool |double )"
                r"[\w*(>\[][^{}]*;$", code) and re.search(r"[;{})]\s*$", before):
        yield "a statement is omitted", ";"
    for found in re.finditer(r"\? ([^?:]+) : ([^?:;,)]+)(?=[;,)])", code):
        yield "the other of two values", code[:found.start()] + f"? {found[2]} : {found[1]}" + code[found.end():]


def executed(source, cov):
    """The lines by file that ran."""
    lines = collections.defaultdict(set)
    for data in cov.rglob("*.gcda"):
        if not any(folder.rsplit("/", 1)[-1] in str(data) for folder in ROOMS.values()):
            continue
        out = subprocess.run(["gcov", "--json-format", "--stdout", data], capture_output=True, check=False,
                             cwd=data.parent).stdout
        for document in out.splitlines():
            for file in json.loads(gzip.decompress(document) if document[:2] == b"\x1f\x8b" else document)["files"]:
                path = (cov / file["file"]).resolve()  # relative with a compiler cache
                if path.is_relative_to(source) and path.suffix == ".c":
                    lines[str(path.relative_to(source))] |= {one["line_number"] for one in file["lines"]
                                                             if one["count"] > 0}
    return lines


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, **options)


def command_of(build, file):
    for one in json.loads((build / "compile_commands.json").read_text()):
        if one["file"].endswith(file):
            return [word for word in one["command"].split() if word not in ("-Werror", "ccache") and
                    not word.startswith("-W")]
    return None


def compile_to(build, source, file, text, out):
    command = command_of(build, file)
    copy = out.with_suffix(".c")
    copy.write_text(text)
    where = command.index("-o")
    command[where + 1] = str(out)
    command[command.index("-c") + 1] = str(copy)
    return run(command + ["-w", "-iquote", str((source / file).parent), f"-ffile-prefix-map={copy}={file}"],
               cwd=build).returncode == 0


def code_of(path):
    return run(["objdump", "-d", "-r", "-s", "-j", ".text", "-j", ".rodata", "-j", ".text.unlikely", path]).stdout \
        .split("\n", 3)[-1]


def draw(args):
    """All faults, each with its object file in the folder."""
    chance, faults = random.Random(args.draw), []
    lines = executed(args.source, args.cov)
    for room, folder in ROOMS.items():
        places = sorted((file, line) for file in lines for line in lines[file] if file.startswith(folder + "/"))
        drawn, seen = 0, set()
        while drawn < args.each:
            file, number = chance.choice(places)
            text = (args.source / file).read_text().split("\n")
            found = list(mistakes_at(text[number - 1], text[number - 2]))
            if not found or (file, number) in seen:
                continue
            what, new = chance.choice(found)
            seen.add((file, number))
            fault = text[:number - 1] + [new] + text[number:]
            out = args.work / f"{len(faults) + 1}.o"
            if compile_to(args.build, args.source, file, "\n".join(text), args.work / "original.o") and \
                    compile_to(args.build, args.source, file, "\n".join(fault), out) and \
                    code_of(args.work / "original.o") != code_of(out):
                drawn += 1
                faults.append([room, file, number, what, text[number - 1].strip(), new.strip()])
    return faults


def link(args, number):
    command = run(["ninja", "-C", args.build, "-t", "commands", TARGET]).stdout.strip().split("\n")[-1]
    command = command.replace(": && ", "", 1).rsplit(" && :", 1)[0].split()
    where = command.index("-o")
    command[where + 1] = str(args.work / TARGET)
    linked = run(command[:where] + [str(args.work / f"{number}.o")] + command[where:], cwd=args.build)
    if linked.returncode != 0:
        sys.exit(linked.stderr)


def set_limits():
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--cov", type=lambda text: pathlib.Path(text).resolve(), required=True)
    parser.add_argument("--draw", type=int, default=1)
    parser.add_argument("--each", type=int, default=9)
    parser.add_argument("--seeds", type=int, default=2000)
    parser.add_argument("--only", type=int, nargs="+")
    parser.add_argument("--work", type=lambda text: pathlib.Path(text).resolve(), required=True)
    args = parser.parse_args()
    args.work.mkdir(exist_ok=True)
    drawn = args.work / "faults.json"
    if not drawn.exists():
        drawn.write_text(json.dumps(draw(args), indent=1))
    found = tried = 0
    for number, (room, file, line, what, old, new) in enumerate(json.loads(drawn.read_text()), 1):
        if args.only and number not in args.only:
            continue
        link(args, number)
        result = run([args.work / TARGET, "--seeds", f"1..{args.seeds}"], cwd=args.work,
                     preexec_fn=set_limits, env={**os.environ, **CHECKED})
        seed = re.search(r"seed (\d+): (.*)", result.stdout)
        how = f"seed {seed[1]}: {seed[2][:90]}" if seed else \
            f"crash {result.returncode}"
        tried += 1
        found += result.returncode != 0
        print(f"{number:3} {room:8} {file}:{line}: {what}\n      - {old}\n      + {new}\n      "
              f"{'found, ' + how if result.returncode != 0 else 'NOT FOUND'}", flush=True)
    print(f"{found} of {tried} found in {args.seeds} seeds")


if __name__ == "__main__":
    main()
