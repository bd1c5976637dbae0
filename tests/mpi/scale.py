#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the messages and the memory of 1, 2, 4 and 8 ranks, and extrapolates to 1,000 ranks.

  scale.py PROGRAM COUNTER --check
  scale.py PROGRAM COUNTER PROBE [--rounds N] [--write]

COUNTER is the library of counter.c, PROBE the program of ranks_probe.c. --check tests the machine-independent
properties: the number of messages by sender, and that neither the bytes of a rank nor its memory grow with
the number of ranks. The model for 1,000 ranks uses processor times, the minimum of N rounds, and differences
of them, by medians; --write puts all of it into docs/performance.md.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from speed import MPIRUN, RUN, SWEEP

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "docs"))
from findings_harness import filled  # noqa: E402

PAGE = ROOT / "docs/performance.md"
RANKS = (1, 2, 4, 8)
KINDS = ("", "call", "cancel", "end", "answer", "note", "leave")
HEAD_BYTES, JOBS = 40, 48
# As in stream_ranks.c and stream_synthetic.h; the run's work is in rows, its keys included.
PARTS_A_THREAD, PARTS_OF_REST, LEAST_WORK, TASK_KEYS = 16, 8, 1 << 19, 64
RUN_WORK = 6 * 3600 * 100 + 64 * 20000
TEXTS = {"run": RUN.replace("30d", "6h"), "sweep": SWEEP.replace("30d", "6h").replace("seeds: 40", f"seeds: {JOBS}")}
ANSWER_BYTES_MAX = {"run": 4e5, "sweep": 4e4}
WORDS = {"start": ["--version"], "probe": [], "run": ["run", "run.yaml", "--no-charts"],
         "sweep": ["sweep", "sweep.yaml"]}


class Rank:
    """The messages and resources of one rank."""

    def __init__(self, line):
        words = line.split()
        numbers = [int(word) for word in words[:2 * len(KINDS)]]
        self.messages = dict(zip(KINDS, numbers[::2]))
        self.bytes = dict(zip(KINDS, numbers[1::2]))
        self.cpu_s, self.progress_s, self.peak_mib = float(words[-3]), float(words[-2]), int(words[-1]) / 1024


def measure(program, counter, ranks, case, folder):
    for path in folder.glob("x.db*"):
        path.unlink()
    command = [*MPIRUN, "-q", "-x", f"LD_PRELOAD={counter}", "-x", f"MPI_COUNTER={folder}/count", "-n", str(ranks),
               program, *WORDS[case]]
    if case in TEXTS:
        command += ["--quiet", "--jobs", "1", "--db", "x.db"]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return [Rank((folder / f"count.{rank}").read_text(encoding="ascii")) for rank in range(ranks)]


def hold(what, is_so):
    if not is_so:
        raise SystemExit(f"{what}: not so")


def check_messages(case, ranks):
    """Only rank 0 calls and ends the job; the others answer. Only notes depend on time."""
    first, others = ranks[0], ranks[1:]
    count = len(others)
    answers = sum(rank.messages["answer"] for rank in others)
    hold(f"{case}, {count + 1} ranks: each call is answered", first.messages["call"] == answers)
    hold(f"{case}, {count + 1} ranks: each rank is told to end, and leaves",
         first.messages["end"] == count == sum(rank.messages["leave"] for rank in others))
    hold(f"{case}, {count + 1} ranks: nothing is cancelled", first.messages["cancel"] == 0)
    hold(f"{case}, {count + 1} ranks: all but requests and answers are heads", all(
        rank.bytes[kind] == HEAD_BYTES * rank.messages[kind] for rank in ranks for kind in KINDS
        if kind not in ("call", "answer")))
    if case == "run":
        hold(f"run, {count + 1} ranks: so many blocks at most", answers <= 2 * RUN_WORK / LEAST_WORK + 2 * count)
    else:
        hold(f"sweep, {count + 1} ranks: no job is done twice", answers <= JOBS)


def check_growth(found):
    """The bytes of an answer and the memory of a rank have bounds that do not depend on the number of ranks;
    rank 0 holds one answer of each other rank, as bytes and unpacked."""
    for (case, count), (first, *others) in found.items():
        if case not in TEXTS:
            continue
        alone, answers = found[case, 1][0], sum(rank.bytes["answer"] for rank in others)
        for rank in others:
            hold(f"{case}, {count} ranks: an answer is no longer",
                 rank.bytes["answer"] <= ANSWER_BYTES_MAX[case] * rank.messages["answer"])
            hold(f"{case}, {count} ranks: no more memory than one alone", rank.peak_mib <= 1.1 * alone.peak_mib + 2)
        hold(f"{case}, {count} ranks: rank 0 takes memory for the answers alone",
             first.peak_mib <= 1.1 * alone.peak_mib + 2 * answers / 2**20 + 4)


def largest(values):
    return max(values, default=0)


def table(found):
    lines = ["| | ranks | messages | from each rank | bytes from each rank | memory of rank 0 | of each other |",
             "|---|--:|--:|--:|--:|--:|--:|"]
    for (case, count), (first, *others) in sorted(found.items()):
        if case not in TEXTS:
            continue
        sent = [sum(rank.messages.values()) - rank.messages["note"] for rank in others]
        size = [sum(rank.bytes.values()) - rank.bytes["note"] for rank in others]
        total = sum(first.messages.values()) + sum(sent)
        dash = "–"
        lines.append(f"| {case} | {count} | {total if others else 0} | {f'{max(sent)}' if sent else dash} | "
                     f"{f'{max(size) / 1e6:.2f} MB' if size else dash} | {first.peak_mib:.0f} MiB | "
                     f"{f'{largest(rank.peak_mib for rank in others):.0f} MiB' if others else dash} |")
    return lines


def constants(rounds):
    """Processor seconds: for a rank's start; for rank 0 per message, and per job received; for one more rank
    in a run, to read the scenario and to save, load and merge the answer. The job and the answer are
    differences, so medians are used; values below 0.1 ms and 1 ms are noise, and are raised to these."""

    def least(value_of):
        return min(value_of(found) for found in rounds)

    def work_s(found, count):
        return sum(rank.cpu_s - rank.progress_s for rank in found["run", count])

    def take_in_s(found):
        first = found["sweep", 8][0]
        return (first.cpu_s - start_s - (JOBS - first.messages["call"]) * job_s) / JOBS

    start_s = least(lambda found: min(rank.cpu_s for rank in found["start", 8]))
    job_s = least(lambda found: (found["sweep", 2][1].cpu_s - start_s) / found["sweep", 2][1].messages["answer"])
    answer_s = statistics.median((work_s(found, 8) - work_s(found, 2)) / 6 - start_s for found in rounds)
    take_in = statistics.median(take_in_s(found) for found in rounds)
    return {
        "start": start_s,
        "message": least(lambda found: found["probe", 5][0].progress_s / sum(
            sum(rank.messages.values()) for rank in found["probe", 5])),
        "answer": max(answer_s, 1e-3),
        "take in": max(take_in, 1e-4),
    }


def kept_value(name):
    cases = json.loads((ROOT / "docs/performance.json").read_text(encoding="utf-8"))["cases"]
    return next(case["value"]["median"] for case in cases if case["name"] == name)


def shares(keys, ranks):
    """The number of blocks into which equal keys with much work each are divided."""
    count, left = 0, keys
    while left > 0:
        left -= max(TASK_KEYS, min(keys / PARTS_A_THREAD, left / PARTS_OF_REST) / ranks)
        count += 1
    return count


def model(found, known, ranks=1000, keys=10**8):
    """The meaning of the figures for that many single-threaded ranks: the work of rank 0 for them, and their
    run time. At the end, a rank may have a block in hand and another one waiting, of one task each."""
    eight = found["run", 8]
    answer_mb = largest(rank.bytes["answer"] for rank in eight[1:]) / 1e6
    memory_mib = (eight[0].peak_mib - found["run", 1][0].peak_mib) / 7
    messages = 2 * (shares(keys, ranks) + ranks)
    merge_s = known["answer"] * messages / 2
    lines = [f"| {ranks:,} ranks of one thread | |", "|---|--:|"]
    costs = {"exact": kept_value("exact-1e6") * 1e-9, "thinned": kept_value("growth-thinned-rows-1e10") / 1e10}
    for name, row_s in costs.items():
        work_s = 1e14 * row_s
        part_s, tail_s = max(work_s / ranks, messages * known["message"]), 2 * TASK_KEYS * work_s / keys
        lines += [
            f"| run of 10^14 rows, {name}: work | {work_s:,.0f} s |",
            f"| {name}: work of each rank, and the wait for the last block | {part_s:,.1f} s and {tail_s:.2g} s |",
            f"| {name}: speed-up | {work_s / (known['start'] + part_s + tail_s + merge_s):,.0f} |",
        ]
    return lines + [
        f"| run: messages, and time of rank 0 for them | {messages:,} and {messages * known['message']:.1f} s |",
        f"| run: bytes from each rank, and at rank 0 | {answer_mb:.1f} MB and {answer_mb * ranks / 1e3:.1f} GB |",
        f"| run: time of rank 0 to add up the results, at most | {merge_s:.1f} s |",
        f"| run: memory of rank 0, and of each other rank | {memory_mib * ranks / 1024:.1f} GiB and "
        f"{largest(rank.peak_mib for rank in eight[1:]):.0f} MiB |",
        f"| sweep: time of rank 0 to receive and store a job's result, at most | {known['take in'] * 1e3:.2f} ms |",
        f"| sweep: all ranks are busy if a job lasts | {known['take in'] * ranks:.1f} s or more |",
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("counter")
    parser.add_argument("probe", nargs="?")
    parser.add_argument("--rounds", type=int, default=3)
    to_do = parser.add_mutually_exclusive_group()
    to_do.add_argument("--write", action="store_true")
    to_do.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    program, counter = os.path.abspath(arguments.program), os.path.abspath(arguments.counter)
    if arguments.probe:
        arguments.probe = os.path.abspath(arguments.probe)
    elif not arguments.check:
        parser.error("without --check it wants PROBE")
    rounds = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for case, text in TEXTS.items():
            (folder / f"{case}.yaml").write_text(text, encoding="utf-8")
        for _ in range(1 if arguments.check else arguments.rounds):
            wanted = [(case, count) for case in TEXTS for count in RANKS]
            wanted += [] if arguments.check else [("start", 8), ("probe", 5)]
            rounds.append({(case, count): measure(arguments.probe if case == "probe" else program, counter, count, case,
                                                  folder) for case, count in wanted})
    for found in rounds:
        for (case, count), ranks in found.items():
            if case in TEXTS and count > 1:
                check_messages(case, ranks)
        check_growth(found)
    lines = table(rounds[-1])
    if not arguments.check:
        lines += ["", *model(rounds[-1], constants(rounds))]
    text = "\n".join(lines)
    print(text)
    if arguments.write:
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(filled(page, "scale", text), encoding="utf-8")


if __name__ == "__main__":
    main()
