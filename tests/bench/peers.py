#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares bucketlab with SimPy, NumPy, Cimba and a real node in one run.

  peers.py BENCH [--cimba DIR] [--rounds N] [--write]

BENCH is bucketlab_bench of a release build. Each peer is measured alternately with bucketlab, in processor
time of one core; a peer that is not installed is skipped with a message. SimPy 4 and NumPy are modules of the
Python that runs this. DIR is a built checkout of Cimba, for its own benchmark of M/M/1; measurements of
events on its queue need a BENCH that was configured with -DBUCKETLAB_CIMBA=DIR. The node's rows are those of
its recordings, in tests/cassandra5/latency. --write puts the table into docs/performance.md.
"""
import argparse
import json
import os
import pathlib
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "docs"))
from findings_harness import filled  # noqa: E402

PAGE = ROOT / "docs/performance.md"
CUSTOMERS, LOAD = 100_000, 0.9
HOLDS, PENDING = 100_000, 1000
ROWS_OF_A_KEY, KEYS = 20_000, 500  # of the benchmark's case exact-1e3, half of its keys


def bench_value(bench, name):
    """One run's value of a case, and the value it is compared with; None when BENCH lacks the case."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "bench.json"
        subprocess.run([bench, "--set", "all", "--only", name, "--runs", "1", "--json", path], check=False,
                       stdout=subprocess.DEVNULL)
        cases = {case["name"]: case for case in json.loads(path.read_text(encoding="utf-8"))["cases"]}
    case = cases.get(name)
    return case and (case["value"]["median"], (case["beside"] or {}).get("median"))


def in_millions(bench, name):
    """Million rows per second, from a case in ns per row."""
    return 1e3 / bench_value(bench, name)[0]


def simpy_customers(simpy):
    """Million customers per second: one process for arrivals, one for service, and a store between them, as
    in Cimba."""
    env = simpy.Environment()
    store, sojourns = simpy.Store(env), []

    def arrive():
        for _ in range(CUSTOMERS):
            yield env.timeout(random.expovariate(LOAD))
            yield store.put(env.now)

    def serve():
        while True:
            arrived = yield store.get()
            yield env.timeout(random.expovariate(1))
            sojourns.append(env.now - arrived)

    env.process(arrive())
    env.process(serve())
    begun = time.process_time()
    env.run()
    spent = time.process_time() - begun
    assert len(sojourns) == CUSTOMERS and 5 < statistics.fmean(sojourns) < 20
    return CUSTOMERS / spent / 1e6


def simpy_hold(simpy):
    """ns per hold of PENDING processes that only wait."""
    env = simpy.Environment()

    def hold():
        while True:
            yield env.timeout(random.expovariate(1))

    for _ in range(PENDING):
        env.process(hold())
    for _ in range(3 * PENDING):
        env.step()
    begun = time.process_time()
    for _ in range(HOLDS):
        env.step()
    return (time.process_time() - begun) * 1e9 / HOLDS


def numpy_rows(numpy):
    """Million rows per second of `probabilistic: {bits: 9, threshold: 40}`: the times and ids of a key's rows
    as columns, the rows that count, every 40th of them as the end of a partition, and the sizes between the
    ends."""
    draws = numpy.random.Generator(numpy.random.SFC64(1))
    sizes, span = [], 0.0
    begun = time.process_time()
    for _ in range(KEYS):
        times = numpy.cumsum(draws.standard_exponential(ROWS_OF_A_KEY))
        ids = draws.integers(0, 1 << 64, ROWS_OF_A_KEY, dtype=numpy.uint64)
        ends = numpy.flatnonzero((ids & numpy.uint64(511)) == 0)[39::40]
        sizes.append(numpy.diff(ends, prepend=-1, append=ROWS_OF_A_KEY - 1))
        span += times[-1]
    histogram = numpy.bincount(numpy.concatenate(sizes))
    spent = time.process_time() - begun
    rows = KEYS * ROWS_OF_A_KEY
    assert int((histogram * numpy.arange(len(histogram))).sum()) == rows and 0.99 < span / rows < 1.01
    return rows / spent / 1e6


def cimba_customers(program):
    """Million customers per second of Cimba's own benchmark: a million customers, by coroutines."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([program], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1 / (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def node_rows():
    """The highest number of rows that one real node accepted per second in a recording, and its requests in
    flight."""
    found = []
    for path in sorted((ROOT / "tests/cassandra5/latency").glob("one-*.json")):
        points = json.loads(path.read_text(encoding="utf-8"))["points"]
        found += [(point["per_second"], point["in_flight"]) for point in points if point["kind"] == "insert"]
    return max(found)


def module(name):
    try:
        return __import__(name)
    except ImportError:
        print(f"skipped: no module {name} in this Python")
        return None


def in_turn(rounds, ours, theirs):
    pairs = [(ours(), theirs()) for _ in range(rounds)]
    return [statistics.median(values) for values in zip(*pairs)]


def digits(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def comparisons(arguments):
    """The comparisons: the subject, the peer, the unit, bucketlab's figure and the peer's."""
    bench, rounds = arguments.bench, arguments.rounds

    def customers():
        return bench_value(bench, "queue-customers")[0]

    simpy, numpy = module("simpy"), module("numpy")
    if simpy is not None:
        name = f"SimPy {simpy.__version__}"
        yield ("M/M/1", name, "million customers/s", *in_turn(rounds, customers, lambda: simpy_customers(simpy)))
        yield ("hold, 10^3 pending", name, "ns", *in_turn(
            rounds, lambda: bench_value(bench, "queue-exp-1e3")[0], lambda: simpy_hold(simpy)))
    cimba = arguments.cimba and arguments.cimba / "build/benchmark/MM1_single"
    if cimba is None or not cimba.exists():
        print("skipped: --cimba names no built checkout of Cimba")
    else:
        yield ("M/M/1", "Cimba, coroutines", "million customers/s",
               *in_turn(rounds, customers, lambda: cimba_customers(cimba)))
    for case, what, unit in (("cimba-customers", "M/M/1", "million customers/s"),
                             ("cimba-1e3", "hold, 10^3 pending", "ns"), ("cimba-1e5", "hold, 10^5 pending", "ns")):
        pairs = [bench_value(bench, case) for _ in range(rounds)]
        if None in pairs:
            print(f"skipped: {bench} has no {case}; configure it with -DBUCKETLAB_CIMBA=DIR")
        else:
            yield (what, "Cimba, events", unit, *(statistics.median(values) for values in zip(*pairs)))
    if numpy is not None:
        yield ("probabilistic partitions, exact", f"NumPy {numpy.__version__}", "million rows/s", *in_turn(
            rounds, lambda: in_millions(bench, "exact-1e3"), lambda: numpy_rows(numpy)))
    most, in_flight = node_rows()
    for case, what in (("cluster-one-node", "one node, three-state"),
                       ("growth-cluster-rows-1e6", "six nodes, replication factor 3")):
        # The case gives seconds for a million rows.
        lab = 1 / statistics.median(bench_value(bench, case)[0] for _ in range(rounds))
        yield (what, f"a node on two cores, {in_flight} inserts in flight", "million rows/s", lab, most / 1e6)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("bench", type=pathlib.Path)
    parser.add_argument("--cimba", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    arguments.bench = arguments.bench.resolve()
    lines = ["| | compared with | unit | ours | theirs | times |", "|---|---|---|--:|--:|--:|"]
    for what, who, unit, ours, theirs in comparisons(arguments):
        times = theirs / ours if unit == "ns" else ours / theirs
        lines.append(f"| {what} | {who} | {unit} | {digits(ours)} | {digits(theirs)} | {digits(times)} |")
        print(lines[-1], flush=True)
    print(f"medians of {arguments.rounds} in turn; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    if arguments.write:
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(filled(page, "peers", "\n".join(lines)), encoding="utf-8")


main()
