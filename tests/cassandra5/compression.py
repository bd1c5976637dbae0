#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records the compression of tables in a running Cassandra, and their rows in the format of cqlsh's COPY TO.

There are three tables: log lines, rows of several columns of which some are missing, and random bytes. Each
table is filled with write times equal to the rows' own times, flushed and compacted to one sstable. FOLDER
receives NAME.csv.gz, and recorded.txt with one line per table: the bytes of the sstable before compression
and of Data.db, the chunks and their bound by CompressionInfo.db, and the ratio that `nodetool tablestats`
prints. Usage: compression.py FOLDER [--host ADDRESS] [--port N]. Environment: CASSANDRA_HOME_DIR, JMX_PORT,
as for node/tool.sh. Needs the package cassandra-driver.
"""
import argparse
import csv
import datetime
import glob
import gzip
import io
import os
import pathlib
import random
import re
import struct
import subprocess
import uuid

from cassandra.cluster import Cluster

HERE = pathlib.Path(__file__).resolve().parent
START_MS, DAY_MS = 1_767_225_600_000, 86_400_000
WORDS = [f"{a}{b}" for a in ("re", "un", "pre", "con", "trans")
         for b in ("quest", "port", "tain", "act", "form", "mit")]
COMMON = "key text, bucket bigint, at timestamp, id timeuuid"
TABLES = {
    "log": f"{COMMON}, data text, PRIMARY KEY ((key, bucket), at, id)) WITH CLUSTERING ORDER BY (at DESC, id DESC)",
    "columns": f"{COMMON}, level tinyint, host text, ok boolean, load double, owner text static, body text, "
               "PRIMARY KEY ((key, bucket), at, id)) WITH CLUSTERING ORDER BY (at ASC, id ASC)",
    "random": f"{COMMON}, data blob, PRIMARY KEY ((key, bucket), at, id)) WITH CLUSTERING ORDER BY (at DESC, id DESC)",
}


def rows_of(name, draw):
    """Rows as dicts of Python values, in an order that differs from the table's."""
    count = {"log": 1500, "columns": 1500, "random": 200}[name]
    for number in range(count):
        at = START_MS + draw.randrange(3 * DAY_MS)
        ticks = at * 10_000 + number % 10_000 + 0x01B21DD213814000
        fields = (ticks & 0xFFFFFFFF, ticks >> 32 & 0xFFFF, ticks >> 48 & 0xFFF | 0x1000, 0x80, 1, 77)
        key = f"sensor-{int(draw.paretovariate(0.8)) % 40}"
        row = {"key": key, "bucket": at // DAY_MS, "at": at, "id": uuid.UUID(fields=fields)}
        words = " ".join(draw.choices(WORDS, k=max(1, min(60, int(draw.lognormvariate(2, 0.7))))))
        if name == "log":
            row["data"] = f'{draw.choice(["INFO", "WARN"])} [{draw.randrange(16)}] "{words}", {draw.getrandbits(40):x}'
        elif name == "random":
            row["data"] = draw.randbytes(300)
        else:
            row |= {"level": draw.randrange(8), "host": f"web-{draw.randrange(30)}.example", "ok": draw.random() < 0.9,
                    "load": round(draw.random() * 8, 3), "owner": f"team of {key}", "body": words}
            for column in ("host", "ok", "load", "body"):
                if draw.random() < 0.2:
                    row[column] = None
        yield row


def as_copied(value, column):
    """The value as COPY TO writes it: UTC with an offset, and an empty field for null."""
    if value is None:
        return ""
    if column == "at":
        time = datetime.datetime.fromtimestamp(value // 1000, datetime.timezone.utc)
        return f"{time:%Y-%m-%d %H:%M:%S}.{value % 1000:03}+0000"
    return "0x" + value.hex() if isinstance(value, bytes) else str(value)


def write_rows(path, rows):
    text = io.StringIO()
    writer = csv.writer(text, doublequote=False, escapechar="\\", lineterminator="\n")
    writer.writerow(rows[0])
    for row in rows:
        writer.writerow([as_copied(value, column) for column, value in row.items()])
    path.write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))


def tool(*words):
    return subprocess.run([HERE / "node" / "tool.sh", *words], check=True, capture_output=True, text=True).stdout


def fill(session, name, rows):
    prepared = {}
    session.execute(f"DROP TABLE IF EXISTS {name}")
    session.execute(f"CREATE TABLE {name} ({TABLES[name]}")
    for row in rows:
        given = {column: value for column, value in row.items() if value is not None}
        names = ", ".join(given)
        if names not in prepared:
            prepared[names] = session.prepare(f"INSERT INTO {name} ({names}) VALUES ({', '.join('?' * len(given))}) "
                                              "USING TIMESTAMP ?")
        session.execute(prepared[names], [*given.values(), row["at"] * 1000])


def record(name):
    home = pathlib.Path(os.environ["CASSANDRA_HOME_DIR"]) / "node1" / "data" / "compression"
    newest = max(home.glob(f"{name}-*"), key=os.path.getmtime)
    files = glob.glob(f"{newest}/*-Data.db")
    if len(files) != 1:
        raise SystemExit(f"{name}: {len(files)} sstables; one was wanted")
    info = pathlib.Path(files[0].replace("-Data.db", "-CompressionInfo.db")).read_bytes()
    size = struct.unpack(">H", info[:2])[0]
    compressor = info[2:2 + size].decode()
    if struct.unpack(">i", info[2 + size:6 + size])[0] != 0:
        raise SystemExit(f"{name}: options of the compressor, which are not read here")
    chunk, most, data, chunks = struct.unpack(">iiqi", info[6 + size:26 + size])
    ratio = re.search(r"Compression Ratio: ([\d.]+)", tool("nodetool", "tablestats", f"compression.{name}"))[1]
    return (f"{name} {compressor} data={data} file={os.path.getsize(files[0])} chunk={chunk} most={most} "
            f"chunks={chunks} tablestats={ratio}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=9042)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    session = Cluster([args.host], port=args.port).connect()
    session.execute("CREATE KEYSPACE IF NOT EXISTS compression WITH replication = {'class': 'SimpleStrategy', "
                    "'replication_factor': 1}")
    session.set_keyspace("compression")
    for name in TABLES:
        rows = list(rows_of(name, random.Random(f"compression {name}")))
        write_rows(args.folder / f"{name}.csv.gz", rows)
        fill(session, name, rows)
    tool("nodetool", "flush", "compression")
    tool("nodetool", "compact", "compression")
    lines = [record(name) for name in TABLES]
    (args.folder / "recorded.txt").write_text("\n".join(lines) + "\n", encoding="ascii")
    print("\n".join(lines))


main()
