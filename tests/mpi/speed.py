# SPDX-License-Identifier: GPL-3.0-or-later
"""The speedup by ranks: a run by the stream engine and a sweep, by one process and by 2 single-threaded
ranks, alternately.
    speed.py PROGRAM [--times 5] [--json FILE]
In addition to the wall time, the output has the processor time summed over all ranks: on a machine with other
load it is the reliable figure, and it shows the cost of a second rank beyond the work itself. `start` is the
time of a command that does nothing, and is subtracted from the others.
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

RUN = """\
name: run
duration: 30d
keys: {count: 20000, popularity: {zipf: 1.05}}
arrivals: {rate: 100/s}
row: {bytes: {lognormal: {mean: 350, sigma: 1.0}}}
engine: exact
strategies:
  - time: {window: 1d}
  - probabilistic: {bits: 9, threshold: 40}
  - hash: {buckets: 16}
"""
SWEEP = """\
name: sweep
duration: 30d
keys: {count: 100}
arrivals: {rate: 2/s}
row: {bytes: 100}
strategies:
  - probabilistic: {bits: 6, threshold: 40}
  - hash: {buckets: 16}
sweep:
  seeds: 40
"""
CASES = {"start": ["--version"], "run": ["run", "run.yaml", "--no-charts"], "sweep": ["sweep", "sweep.yaml"]}
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]


def measure(program, ranks, words, folder):
    """Wall time and processor time in seconds."""
    for name in os.listdir(folder):
        if name.startswith("x.db"):
            os.remove(os.path.join(folder, name))
    command = ([*MPIRUN, "-n", str(ranks)] if ranks else []) + [program, *words]
    if words[0] != "--version":
        command += ["--quiet", "--jobs", "1", "--db", "x.db"]
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.monotonic() - begin, used


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.program)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("run", RUN), ("sweep", SWEEP)):
            with open(os.path.join(folder, f"{name}.yaml"), "w", encoding="utf-8") as file:
                file.write(text)
        for _ in range(arguments.times):
            for case, words in CASES.items():
                for ranks in (0, 1, 2):
                    found.setdefault((case, ranks), []).append(measure(program, ranks, words, folder))
    figures = {}
    for (case, ranks), pairs in found.items():
        passed, used = (statistics.median(pair[i] for pair in pairs) for i in range(2))
        figures.setdefault(case, {})[ranks] = (passed, used)
    print(f"{'':8}{'alone':>16}{'1 rank':>16}{'2 ranks':>16}    1 rank / 2 ranks, without their start")
    report = {}
    for case, by_ranks in figures.items():
        line = f"{case:8}" + "".join(f"{passed:8.2f}s{used:6.2f}s" for passed, used in by_ranks.values())
        report[case] = {str(ranks): {"seconds": passed, "cpu_seconds": used}
                        for ranks, (passed, used) in by_ranks.items()}
        if case != "start":
            start = figures["start"]
            passed = (by_ranks[1][0] - start[1][0]) / (by_ranks[2][0] - start[2][0])
            used = 2 * (by_ranks[1][1] - start[1][1]) / (by_ranks[2][1] - start[2][1])
            report[case].update(ratio=passed, cpu_ratio=used)
            line += f"    {passed:.2f} by the clock, {used:.2f} by the processors' time"
        print(line)
    print(f"each: seconds that passed, seconds of processors; medians of {arguments.times}; load "
          f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({**report, "load": os.getloadavg()[0]}, file, indent=1)


if __name__ == "__main__":
    sys.exit(main())
