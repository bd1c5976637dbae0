#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records the sizes of rows in the sstables of a running Cassandra.

Fills nine tables of different designs, each flushed and compacted to one sstable. For each table it writes
the rows that sstabledump prints and the bytes of each partition that sstablepartitions prints to
FOLDER/NAME-FORMAT.txt, in the format that the README describes. Usage: bytes.py FOLDER nb|da [--host ADDRESS]
[--port N] [--seed N] [--partitions N] [--tables NAME,...]. Environment: CASSANDRA_HOME_DIR, JMX_PORT, as for
node/tool.sh. Needs
the package cassandra-driver.
"""
import argparse
import csv
import glob
import json
import os
import pathlib
import random
import subprocess
import time
import uuid

from cassandra.cluster import Cluster

HERE = pathlib.Path(__file__).resolve().parent
KEYS = "key text, bucket bigint"
SMALL = ["int", "boolean", "tinyint", "smallint", "float", "double", "bigint", "text", "blob", "uuid"]
FEW = "a int, b text, c bigint, d boolean, e double, f int"
TABLES = {  # name: columns, primary key, options
    "text": (f"{KEYS}, at timestamp, id timeuuid, data text", "(key, bucket), at, id",
             "CLUSTERING ORDER BY (at DESC, id DESC)"),
    "bigint": ("key bigint, bucket bigint, at bigint, v bigint", "(key, bucket), at", None),
    "timeuuid": ("key text, id timeuuid, data blob", "key, id", "CLUSTERING ORDER BY (id DESC)"),
    "cells": (f"{KEYS}, id timeuuid, " + ", ".join(f"c{i:02} {SMALL[i % 10]}" for i in range(20)), "(key, bucket), id",
              None),
    "static": (f"{KEYS}, at timestamp, name text, owner text static, quota int static, data text",
               "(key, bucket), at, name", None),
    "counters": (f"{KEYS}, name text, a counter, b counter", "(key, bucket), name", None),
    "nulls": (f"{KEYS}, id timeuuid, {FEW}", "(key, bucket), id", None),
    "updates": (f"{KEYS}, id timeuuid, {FEW}", "(key, bucket), id", None),
    "gone": (f"{KEYS}, at timestamp, id bigint, a text, b int", "(key, bucket), at, id", None),
}
FIXED = {"bigint": 8, "timestamp": 8, "int": 4, "uuid": 16, "timeuuid": 16, "boolean": 1, "tinyint": 1, "smallint": 2,
         "float": 4, "double": 8, "counter": 36}
START_US = 1_767_225_600_000_000  # 2026-01-01


class Filler:
    """The statements of one table, with explicit write times."""

    def __init__(self, session, name, seed, partitions):
        self.session, self.name, self.draw, self.partitions = session, name, random.Random(f"{seed} {name}"), partitions
        self.prepared = {}

    def run(self, text, values):
        if text not in self.prepared:
            self.prepared[text] = self.session.prepare(text)
        self.session.execute(self.prepared[text], values)

    def insert(self, values, stamp, ttl=0):
        names = ", ".join(values)
        marks = ", ".join("?" * len(values))
        using = f"TIMESTAMP {stamp}" + (f" AND TTL {ttl}" if ttl else "")
        self.run(f"INSERT INTO {self.name} ({names}) VALUES ({marks}) USING {using}", list(values.values()))

    def text(self, most=400):
        return "x" * min(most, int(self.draw.lognormvariate(4.5, 1)))

    def timeuuid(self, us):
        ticks = us * 10 + 0x01B21DD213814000
        return uuid.UUID(fields=(ticks & 0xFFFFFFFF, ticks >> 32 & 0xFFFF, ticks >> 48 & 0xFFF | 0x1000,
                                 0x80 | self.draw.randrange(64), self.draw.randrange(256),
                                 self.draw.randrange(1 << 48)))

    def value(self, kind):
        draw = self.draw
        numbers = {"int": 31, "tinyint": 7, "smallint": 15, "bigint": 63}
        if kind in numbers:
            return draw.randrange(1 << numbers[kind])
        return {"boolean": True, "float": 0.5, "double": 0.25, "text": self.text(30), "blob": b"\0" * draw.randrange(4),
                "uuid": uuid.UUID(int=draw.getrandbits(128))}[kind]

    def fill(self):
        span = 40 * 86400 * 1_000_000
        for number in range(self.partitions):
            rows = min(120, int(self.draw.paretovariate(0.7)))
            key = "k" * self.draw.choice([1, 5, 20, 90]) + str(number)
            times = sorted(START_US + int(self.draw.random() ** 4 * span) for _ in range(rows))
            for at in times:
                getattr(self, f"row_{self.name}")(key, number, at)

    def row_text(self, key, number, at):
        self.insert({"key": key, "bucket": number, "at": at // 1000, "id": self.timeuuid(at), "data": self.text()}, at)

    def row_bigint(self, key, number, at):
        self.insert({"key": len(key), "bucket": number, "at": at, "v": at % 1000}, at)

    def row_timeuuid(self, key, number, at):
        data = self.text(20000).encode() * (1 + 39 * (number % 5 == 0))
        self.insert({"key": key, "id": self.timeuuid(at), "data": data}, at)

    def row_cells(self, key, number, at):
        values = {"key": key, "bucket": number, "id": self.timeuuid(at)}
        for i in range(20):
            if self.draw.random() < 0.8:
                values[f"c{i:02}"] = self.value(SMALL[i % 10])
        self.insert(values, at)

    def row_few(self, key, number, at, present=0.7):
        place = {"key": key, "bucket": number, "id": self.timeuuid(at)}
        values = {"a": 7, "b": "x" * 12, "c": at, "d": True, "e": 0.5, "f": 8}
        return place, {name: value if self.draw.random() < present else None for name, value in values.items()}

    def row_nulls(self, key, number, at):
        place, values = self.row_few(key, number, at)
        self.insert({**place, **values}, time.time_ns() // 1000)  # a null's deletion has the node's time

    def row_updates(self, key, number, at):
        place, values = self.row_few(key, number, at, 1)
        self.run(f"UPDATE {self.name} USING TIMESTAMP {at} SET " + ", ".join(f"{name} = ?" for name in values) +
                 " WHERE key = ? AND bucket = ? AND id = ?", [*values.values(), *place.values()])

    def row_static(self, key, number, at):
        if number % 3 == 0:
            self.insert({"key": key, "bucket": number, "owner": self.text(60)}, at)
        if number % 4 == 0:
            self.insert({"key": key, "bucket": number, "quota": 7}, at)
        self.insert({"key": key, "bucket": number, "at": at // 1000, "name": self.text(9), "data": self.text()}, at)

    def row_counters(self, key, number, at):
        columns = self.draw.choice(["a", "b", "ab"])
        self.run(f"UPDATE {self.name} SET " + ", ".join(f"{c} = {c} + ?" for c in columns) +
                 " WHERE key = ? AND bucket = ? AND name = ?",
                 [1 + at % 7] * len(columns) + [key, number, f"n{at % 50}"])

    def row_gone(self, key, number, at):
        place = {"key": key, "bucket": number, "at": at // 1000, "id": at % 1000}
        where = "WHERE key = ? AND bucket = ?"
        kind = self.draw.randrange(10)
        if kind < 3:
            self.insert({**place, "a": self.text(), "b": 5}, at, self.draw.choice([0, 864000, 8640000]))
        elif kind == 3:
            self.run(f"UPDATE {self.name} USING TIMESTAMP {at} SET b = ? {where} AND at = ? AND id = ?",
                     [3, *place.values()])
        elif kind == 4:
            self.insert({**place, "a": ""}, at)
        elif kind == 5:
            self.run(f"DELETE FROM {self.name} USING TIMESTAMP {at} {where} AND at = ? AND id = ?",
                     list(place.values()))
        elif kind == 6:
            self.insert({**place, "a": None, "b": 1}, at)
        elif kind == 7:
            self.run(f"DELETE FROM {self.name} USING TIMESTAMP {at} {where} AND at >= ? AND at < ?",
                     [key, number, at // 1000 + 1, at // 1000 + 2])
        elif kind == 8:
            self.insert({**place, "a": self.text()}, at, 864000)
            self.run(f"UPDATE {self.name} USING TIMESTAMP {at + 9} AND TTL 900000 SET b = ? {where} AND at = ? "
                     "AND id = ?", [4, *place.values()])
        elif number % 4 == 0:
            self.run(f"DELETE FROM {self.name} USING TIMESTAMP {START_US - 1000 + number} {where}", [key, number])


def columns_of(name):
    """The clustering, regular and static columns with their types, each in the order of an sstable."""
    columns, primary, _ = TABLES[name]
    pairs = [part.split() for part in columns.split(", ")]
    partition = primary.split("), ")[0].strip("(").split(", ") if "(" in primary else primary.split(", ")[:1]
    rest = primary.split("), ")[1] if "(" in primary else primary.split(", ", 1)[1]
    clustering = rest.split(", ")
    kinds = {pair[0]: pair[1] for pair in pairs}
    statics = sorted(pair[0] for pair in pairs if len(pair) > 2)
    regular = sorted(set(kinds) - set(partition) - set(clustering) - set(statics))
    return kinds, clustering, regular, statics


def size_of(kind, value):
    if kind in FIXED:
        return FIXED[kind]
    return (len(value) - 2) // 2 if kind == "blob" else len(value.encode())


def liveness(info):
    text = f" live={info['tstamp']}"
    if "ttl" in info:
        text += f":{info['ttl']}:{info['expires_at']}"
    return text


def deletion(info):
    return f"{info['marked_deleted']}:{info['local_delete_time']}"


def cells_of(item, kinds):
    info = item.get("liveness_info", {})
    for cell in item.get("cells", []):
        kind, stamp = kinds[cell["name"]], cell.get("tstamp", info.get("tstamp"))
        if "deletion_info" in cell:
            yield f" {cell['name']}=x@{stamp}:0:{cell['deletion_info']['local_delete_time']}"
            continue
        text = f" {cell['name']}={size_of(kind, cell['value'])}@{stamp}"
        if "ttl" in cell:
            text += f":{cell['ttl']}:{cell['expires_at']}"
        elif "ttl" in info:
            text += f":{info['ttl']}:{info['expires_at']}"
        yield text


def item_lines(item, kinds, clustering):
    sizes = lambda values: ",".join(str(size_of(kinds[name], value)) for name, value in zip(clustering, values))
    if item["type"] == "range_tombstone_bound":
        if "start" in item and "end" in item:
            raise SystemExit("two range deletions touch; their common bound is not recorded here")
        for side in ("start", "end"):
            if side in item:
                bound = item[side]
                values = [value for value in bound.get("clustering", []) if value != "*"]
                yield f"B {side} {bound['type']} {sizes(values)} del={deletion(bound['deletion_info'])}"
        return
    text = "S" if item["type"] == "static_block" else f"R {sizes(item['clustering'])}"
    if "liveness_info" in item:
        text += liveness(item["liveness_info"])
    if "deletion_info" in item:
        text += f" del={deletion(item['deletion_info'])}"
    yield text + "".join(cells_of(item, kinds))


def tool(*words):
    return subprocess.run([HERE / "node" / "tool.sh", *words], check=True, capture_output=True, text=True).stdout


def words_of(name, fmt, stats):
    kinds, clustering, regular, statics = columns_of(name)
    columns = lambda names: ",".join(f"{column}:{kinds[column]}" for column in names)
    return (f"T {name} {fmt} clustering={columns(clustering)} regular={columns(regular)} statics={columns(statics)} "
            f"ts={stats['minTimestamp']} del={stats['minLocalDeletionTime']} ttl={stats['minTTL']}")


def partition_lines(name, file, sizes):
    kinds, clustering, _, _ = columns_of(name)
    for partition, (key, size) in zip(json.loads(tool("sstabledump", "-t", file)), sizes):
        words = f"P {len(key) // 2}"
        if "deletion_info" in partition["partition"]:
            info = partition["partition"]["deletion_info"]
            words += f" del={info['marked_deleted']}:{info['local_delete_time']}"
        yield f"{words} => {size}"
        for item in partition["rows"]:
            yield from item_lines(item, kinds, clustering)


def record(fmt, folder, names):
    """Records all tables together: each of Cassandra's tools starts a JVM, so one call handles all tables if
    possible."""
    tool("nodetool", "flush", "bytes")
    tool("nodetool", "compact", "bytes")
    home = pathlib.Path(os.environ["CASSANDRA_HOME_DIR"]) / "node1" / "data" / "bytes"
    newest = {name: max(home.glob(f"{name}-*"), key=os.path.getmtime) for name in names}
    files = {}
    for name, path in newest.items():
        found = glob.glob(f"{path}/{fmt}-*-Data.db")
        if len(found) != 1:
            raise SystemExit(f"{name}: {len(found)} sstables of format {fmt}; one was wanted")
        files[name] = found[0]
    stats, sizes = {name: {} for name in files}, {name: [] for name in files}
    for name in files:
        for line in tool("sstablemetadata", files[name]).splitlines():
            if line.startswith("EncodingStats "):
                word, value = line.removeprefix("EncodingStats ").split(": ", 1)
                stats[name][word] = value.split("(")[-1].rstrip(")")
    for row in csv.DictReader(tool("sstablepartitions", "-m", "--csv", "-t", "0", *files.values()).splitlines()):
        sizes[row["table"]].append((row["keyBinary"], int(row["size"])))
    for name, file in files.items():
        lines = [words_of(name, fmt, stats[name]), *partition_lines(name, file, sizes[name])]
        path = folder / f"{name}-{fmt}.txt"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(f"{path}: {len(sizes[name])} partitions, {sum(size for _, size in sizes[name])} bytes")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("format", choices=["nb", "da"])
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=9042)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--partitions", type=int, default=25)
    parser.add_argument("--tables", default=",".join(TABLES))
    args = parser.parse_args()
    session = Cluster([args.host], port=args.port, connect_timeout=120, control_connection_timeout=120).connect()
    session.default_timeout = 120
    session.execute("CREATE KEYSPACE IF NOT EXISTS bytes WITH replication = {'class': 'SimpleStrategy', "
                    "'replication_factor': 1}")
    session.set_keyspace("bytes")
    names = args.tables.split(",")
    for name, (columns, primary, order) in ((name, TABLES[name]) for name in names):
        session.execute(f"DROP TABLE IF EXISTS {name}")
        options = f"{order} AND " if order else ""
        session.execute(f"CREATE TABLE {name} ({columns}, PRIMARY KEY ({primary})) "
                        f"WITH {options}gc_grace_seconds = 864000")
        Filler(session, name, args.seed, args.partitions).fill()
    record(args.format, args.folder, names)


main()
