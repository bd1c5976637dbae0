#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records what a running Cassandra stores of each CQL type.

Creates the tables of cql_types.cql, writes 60 rows a second apart into each partition, flushes, and prints a line per
partition: its table, the only column with a value (`-`: all), the bytes of its values of varying length, the elements
of its collections, and the bytes of the partition, as sstablepartitions prints them. Of as_value a partition has one
column. tests/lab/scenario/row_cost_test.c reads the lines. Usage: cql_types.py [--host ADDRESS] [--port N]
>cql_types.txt. Environment: CASSANDRA_HOME_DIR, JMX_PORT, as for node/tool.sh. Needs the package cassandra-driver.
"""
import argparse
import csv
import decimal
import glob
import os
import pathlib
import re
import subprocess
import uuid

from cassandra.cluster import Cluster
from cassandra.concurrent import execute_concurrent_with_args
from cassandra.util import Date, Duration, Time

HERE = pathlib.Path(__file__).resolve().parent
START_US = 1_767_225_600_000_000  # 2026-01-01
ROWS = 60
FIXED = {"int": 9, "bigint": 9, "smallint": 9, "tinyint": 9, "boolean": True, "float": 0.5, "double": 0.25,
         "timestamp": 1767225600000, "date": Date(20454), "time": Time(99), "inet": "127.0.0.1",
         "varint": 1 << 30, "decimal": decimal.Decimal(1 << 30) / 100, "duration": Duration(1, 1, 10 ** 8)}


def parts_of(kind):
    """Splits map<text, frozen<list<int>>> into its name and the types in it."""
    if "<" not in kind:
        return kind, []
    name, rest = kind[:-1].split("<", 1)
    parts, depth = [""], 0
    for sign in rest:
        depth += (sign == "<") - (sign == ">")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return name, [part.strip() for part in parts]


def value_of(kind, size, count, number=0):
    """A value whose parts of varying length have `size` bytes, and whose collections `count` elements."""
    name, parts = parts_of(kind)
    make = lambda i, of: value_of(of, size, count, i)
    if name == "frozen":
        return make(number, parts[0])
    if name == "list":
        return [make(i, parts[0]) for i in range(count)]
    if name == "set":
        return {make(i, parts[0]) for i in range(count)}
    if name == "map":
        return {make(i, parts[0]): make(i, parts[1]) for i in range(count)}
    if name == "tuple":
        return tuple(make(number, part) for part in parts)
    if name == "vector":
        return [make(number, parts[0]) for _ in range(int(parts[1]))]
    if name == "pair":
        return (make(number, "text"), number)
    if name in ("text", "ascii", "varchar"):
        return f"{number:0{size}d}"
    if name == "blob":
        return f"{number:0{size}d}".encode()
    if name in ("uuid", "timeuuid"):
        return uuid.UUID(fields=(number, 0, 0x1000 if name == "timeuuid" else 0x4000, 128, 1, 1))
    if name == "date":
        return Date(20454 + number)
    return number if name == "int" else FIXED[name]


def sizes_of(kind):
    """The bytes and the numbers of elements with which a type is recorded; 0: it has no such."""
    varies = any(word in re.split(r"\W+", kind) for word in ("text", "ascii", "varchar", "blob", "pair"))
    counts = (1, 4, 200) if re.search(r"\b(list|set|map)\b", kind) else (0,)
    return [(size, count) for size in ((7, 300) if varies and counts == (0,) else (7 * varies,)) for count in counts]


def columns_of(text, table):
    """The columns of a table in the file, in its order, with their types."""
    body = re.search(rf"CREATE TABLE {table} \((.*?)\n    PRIMARY KEY", text, re.S).group(1)
    return dict(line.strip(" ,").split(" ", 1) for line in body.strip().splitlines())


def insert(session, table, values):
    """Inserts the rows of a partition, with all that they have besides their ids."""
    names = ["id", *values]
    statement = session.prepare(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))}) "
                                "USING TIMESTAMP ?")
    rows = [[uuid.UUID(fields=(row, 0, 0x1000, 128, 1, 1)), *values.values(), START_US + row * 1_000_000]
            for row in range(ROWS)]
    while not all(one.success for one in execute_concurrent_with_args(session, statement, rows, concurrency=4,
                                                                      raise_on_first_error=False)):
        pass  # the same rows again, after a timeout


def tool(*words):
    return subprocess.run([HERE / "node" / "tool.sh", *words], check=True, capture_output=True, text=True).stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=9042)
    args = parser.parse_args()
    session = Cluster([args.host], port=args.port, connect_timeout=60, control_connection_timeout=60).connect()
    session.default_timeout = 300
    session.execute("DROP KEYSPACE IF EXISTS types")
    session.execute("CREATE KEYSPACE types WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
    session.set_keyspace("types")
    text = (HERE / "cql_types.cql").read_text(encoding="utf-8")
    for statement in re.sub("--.*", "", text).split(";"):
        if statement.strip():
            session.execute(statement)
    lines = []
    # Complex columns first: in 128 s their deletions, by the node's clock, need a byte more than in the lab.
    is_plain = lambda column: re.match("list|set|map|pair", column[1]) is None
    for name, kind in sorted(columns_of(text, "as_value").items(), key=is_plain):
        for size, count in sizes_of(kind) if name.startswith("v") else []:
            insert(session, "as_value", {"k": f"{len(lines):05d}", "b": 1, name: value_of(kind, size, count)})
            lines.append(f"as_value {name} {size} {count}")
    for table in ("as_clustering", "as_key"):
        values = {name: value_of(kind, 20, 5) for name, kind in columns_of(text, table).items() if name != "id"}
        insert(session, table, {**values, **({"k": f"{len(lines):05d}"} if "k" in values else {}), "b": 1, "v": 5})
        lines.append(f"{table} - 0 0")
    tool("nodetool", "flush", "types")
    home = pathlib.Path(os.environ["CASSANDRA_HOME_DIR"]) / "node1" / "data" / "types"
    found = tool("sstablepartitions", "--csv", "-t", "0", *glob.glob(f"{home}/as_*/*-Data.db"))
    sizes = {row["key"].split(":")[0] if row["table"] != "as_key" else "key": int(row["size"])
             for row in csv.DictReader(found.splitlines())}
    for number, line in enumerate(lines):
        print(line, sizes["key" if line.startswith("as_key") else f"{number:05d}"])


main()
