#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares a million rows in a running Cassandra with the same rows in the lab.

Makes a trace and its rows, of 300 keys over 30 days with log lines as data, and loads them into the table
that `bucketlab cql` prints, bucketed by day. It compares the lab's run of the trace with `nodetool
tablehistograms`, whose figures are bounds of buckets, at p50, p75, p95, p99 and max; with the bytes of every
partition by `sstablepartitions`; and the compression ratio of `nodetool tablestats` with that of `run
--sample` for the same rows. Usage: million.py BUCKETLAB FOLDER [--rows N] [--host ADDRESS] [--port N]
[--load|--compare|--recorded]; with --recorded no node is needed, and the lab's run is compared with the
recordings in tools/ of a node that held these rows. FOLDER receives the trace, the rows and the tools'
output. Environment: CASSANDRA_HOME_DIR, JMX_PORT, as for node/tool.sh. Needs the package cassandra-driver.
Exit code: 0 all agree, 1 not.
"""
import argparse
import csv
import glob
import os
import pathlib
import random
import re
import subprocess
import sys
import uuid

HERE = pathlib.Path(__file__).resolve().parent
START_MS, DAY_MS, DAYS, KEYS = 1_767_225_600_000, 86_400_000, 30, 300
WORDS = [f"{a}{b}" for a in ("re", "un", "pre", "con", "trans", "sub", "in", "ex") for b in
         ("quest", "port", "tain", "act", "form", "ceive", "ject", "mit", "duct", "scribe", "tend", "vert")]
LEVELS = ["INFO", "INFO", "INFO", "WARN", "DEBUG", "ERROR"]
RECORDED_PARTITIONS, RECORDED_BYTES = 9000, 157_921_834
SCENARIO = """seed: 1
trace: {file: trace.csv}
strategies: [{time: {window: 1d, label: day}}]
"""


def make(folder, count, rows_path=None):
    """Writes rows.csv, or another path: key,bucket,at,id,data in order of time; and trace.csv: the same for
    the lab."""
    draw = random.Random(5)
    weights = [1 / (i + 1) ** 0.9 for i in range(KEYS)]
    keys = draw.choices(range(KEYS), weights, k=count)
    times = sorted(START_MS + draw.randrange(DAYS * DAY_MS) for _ in range(count))
    with open(rows_path or folder / "rows.csv", "w", encoding="ascii") as rows, \
            open(folder / "trace.csv", "w", encoding="ascii") as trace:
        rows.write("key,bucket,at,id,data\n")
        trace.write("timestamp_ms,key,bytes\n")
        for number, (key, at) in enumerate(zip(keys, times)):
            ticks = at * 10_000 + number % 10_000 + 0x01B21DD213814000
            fields = (ticks & 0xFFFFFFFF, ticks >> 32 & 0xFFFF, ticks >> 48 & 0xFFF | 0x1000, 0x80, 1, 77)
            name = uuid.UUID(fields=fields)
            data = (f"{draw.choice(LEVELS)} [worker-{draw.randrange(16)}] request {draw.getrandbits(48):012x} "
                    + " ".join(draw.choices(WORDS, k=min(200, int(draw.lognormvariate(2, 0.9))))))
            rows.write(f"sensor-{key},{at // DAY_MS},{at},{name},{data}\n")
            trace.write(f"{at},sensor-{key},{len(data)}\n")
    (folder / "scenario.yaml").write_text(SCENARIO, encoding="ascii")


def tool(*words):
    return subprocess.run([HERE / "node" / "tool.sh", *words], check=True, capture_output=True, text=True).stdout


def load(folder, args):
    from cassandra.cluster import Cluster
    from cassandra.concurrent import execute_concurrent
    from cassandra.query import BatchStatement, BatchType
    session = Cluster([args.host], port=args.port).connect()
    session.execute("CREATE KEYSPACE IF NOT EXISTS million WITH replication = {'class': 'SimpleStrategy', "
                    "'replication_factor': 1}")
    session.set_keyspace("million")
    session.execute("DROP TABLE IF EXISTS rows_by_key")
    session.execute("CREATE TABLE rows_by_key (key text, bucket bigint, at timestamp, id timeuuid, data text, "
                    "PRIMARY KEY ((key, bucket), at, id)) WITH CLUSTERING ORDER BY (at DESC, id DESC)")
    insert = session.prepare("INSERT INTO rows_by_key (key, bucket, at, id, data) VALUES (?, ?, ?, ?, ?) "
                             "USING TIMESTAMP ?")
    groups, done = {}, 0

    def send():
        nonlocal done
        batches = []
        for rows in groups.values():
            for first in range(0, len(rows), 50):
                batch = BatchStatement(BatchType.UNLOGGED)
                for row in rows[first:first + 50]:
                    batch.add(insert, row)
                batches.append((batch, None))
        done += sum(len(rows) for rows in groups.values())
        for ok, why in execute_concurrent(session, batches, concurrency=16, raise_on_first_error=False):
            if not ok:
                raise SystemExit(f"a batch failed: {why}")
        groups.clear()

    with open(folder / "rows.csv", encoding="ascii") as rows:
        for number, row in enumerate(csv.DictReader(rows)):
            at = int(row["at"])
            bucket = int(row["bucket"])
            groups.setdefault((row["key"], bucket), []).append(
                (row["key"], bucket, at, uuid.UUID(row["id"]), row["data"], at * 1000))
            if number % 20000 == 19999:
                send()
        send()
    print(f"{done} rows loaded")
    tool("nodetool", "flush", "million")
    tool("nodetool", "compact", "million")
    home = pathlib.Path(os.environ["CASSANDRA_HOME_DIR"]) / "node1" / "data" / "million"
    newest = max(home.glob("rows_by_key-*"), key=os.path.getmtime)
    files = glob.glob(f"{newest}/*-Data.db")
    if len(files) != 1:
        raise SystemExit(f"{len(files)} sstables; one was wanted")
    (folder / "sstablepartitions.csv").write_text(tool("sstablepartitions", "-m", "--csv", "-t", "0", files[0]))
    (folder / "tablehistograms.txt").write_text(tool("nodetool", "tablehistograms", "million", "rows_by_key"))
    (folder / "tablestats.txt").write_text(tool("nodetool", "tablestats", "million.rows_by_key"))


def bounds():
    """The bounds of Cassandra's EstimatedHistogram: each is 1.2 times its predecessor, and at least one more.
    """
    last, out = 1, [1]
    while len(out) < 160:
        last = max(round(last * 1.2), last + 1)
        out.append(last)
    return out


def bucket_of(value, limits):
    return next(limit for limit in limits if value <= limit)


def lab_sizes(folder, bucketlab):
    """The bytes of the lab's partitions, ascending."""
    for name in ("million.db", "million.db-wal", "million.db-shm"):
        (folder / name).unlink(missing_ok=True)
    words = ["--db", "million.db", "--quiet"]
    subprocess.run([bucketlab, "run", "scenario.yaml", "--no-charts", *words], cwd=folder, check=True,
                   capture_output=True)
    out = subprocess.run([bucketlab, "export", "last", "--state", "all", "--unit", "bytes", *words], cwd=folder,
                         check=True, capture_output=True, text=True).stdout
    sizes = []
    for row in csv.DictReader(out.splitlines()):
        sizes += [int(row["size"])] * int(row["partitions"])
    return sorted(sizes)


def compare_ratio(folder, args):
    """Whether the ratio of `--sample` equals that of tablestats within one percent."""
    node = float(re.search(r"Compression Ratio: ([\d.]+)", (folder / "tablestats.txt").read_text(encoding="utf-8"))[1])
    words = ["run", "scenario.yaml", "--sample", "rows.csv", "--no-charts", "--db", "million.db"]
    told = subprocess.run([args.bucketlab, *words], cwd=folder, check=True, capture_output=True, text=True).stderr
    mine = float(re.search(r"row.compression ([\d.]+)", told)[1])
    print(f"compression ratio: {node} on the node, {mine} of the sample")
    return abs(mine - node) <= 0.01 * node


def compare_histograms(text, lab):
    """Whether a percentile of the lab differs by more than a bucket from the one that tablehistograms prints.
    """
    table = {line.split()[0]: line.split() for line in text.splitlines() if line.strip()}
    limits, far = bounds(), 0
    for name, share in (("50%", 50), ("75%", 75), ("95%", 95), ("99%", 99), ("Max", 100)):
        node, mine = int(float(table[name][4])), lab[max(0, -(-share * len(lab) // 100) - 1)]
        apart = abs(limits.index(node) - limits.index(bucket_of(mine, limits)))
        far += apart > 1
        print(f"{name}: tablehistograms {node}, the lab {mine}, whose bucket ends at {bucket_of(mine, limits)}: "
              f"{apart} buckets apart")
    return far > 0


def compare(folder, args):
    lab = lab_sizes(folder, args.bucketlab)
    with open(folder / "sstablepartitions.csv", encoding="utf-8") as file:
        real = sorted(int(row["size"]) for row in csv.DictReader(file))
    worst = max(abs(a - b) / b for a, b in zip(lab, real))
    print(f"partitions: {len(real)} on the node, {len(lab)} in the lab; bytes: {sum(real)} and {sum(lab)}; "
          f"of partitions in order of size none is further apart than {worst:.2%}")
    failed = len(real) != len(lab) or worst > 0.01
    failed = compare_histograms((folder / "tablehistograms.txt").read_text(encoding="utf-8"), lab) or failed
    return failed or not compare_ratio(folder, args)


def recorded(folder, args):
    """Compares the lab's run of the same rows with the recorded output of a node's tools."""
    lab = lab_sizes(folder, args.bucketlab)
    print(f"{len(lab)} partitions, {sum(lab)} bytes; the node had {RECORDED_PARTITIONS} and {RECORDED_BYTES}")
    failed = len(lab) != RECORDED_PARTITIONS or abs(sum(lab) - RECORDED_BYTES) > 0.001 * RECORDED_BYTES
    return compare_histograms((HERE / "tools" / "tablehistograms.txt").read_text(encoding="utf-8"), lab) or failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bucketlab", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=9042)
    parser.add_argument("--load", action="store_true")
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--recorded", action="store_true")
    args = parser.parse_args()
    args.bucketlab = args.bucketlab.resolve()
    args.folder.mkdir(parents=True, exist_ok=True)
    if args.recorded:
        make(args.folder, args.rows, os.devnull)
        sys.exit(recorded(args.folder, args))
    if not args.compare:
        make(args.folder, args.rows)
        load(args.folder, args)
    sys.exit(compare(args.folder, args) if not args.load else 0)


main()
