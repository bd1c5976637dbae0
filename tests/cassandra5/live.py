#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares new answers of a running Cassandra with the mock's answers.

Generates random sequences of every class, obtains a node's answers, writes them in the format of this
folder's README, and replays them with cassandra_replay. A sequence that differs is reduced, operation by
operation, while it still differs. Usage: live.py CASSANDRA_REPLAY v1|v2 [--down N] [--host ADDRESS] [--seed
N] [--operations N] [--out FILE]. With --linear, four concurrent clients contend for two registers by LWTs
instead, through all --host (ADDRESS,ADDRESS), and linear.py judges their answers. --tables only creates the
tables, before several clients need them concurrently. Exit code: 0 all agree, 1 some differ, 3 no node. Needs
the package cassandra-driver.
"""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time

import linear

from cassandra import (ConsistencyLevel, InvalidRequest, ReadFailure, ReadTimeout, Unavailable, WriteFailure,
                       WriteTimeout)
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile
from cassandra.policies import FallthroughRetryPolicy, WhiteListRoundRobinPolicy
from cassandra.protocol import ProtocolException, SyntaxException
from cassandra.query import SimpleStatement

TABLES = (
    "reg (k bigint PRIMARY KEY, c0 bigint, c1 bigint, c2 bigint, c3 bigint, c4 bigint, c5 bigint)",
    "ctr (k bigint PRIMARY KEY, n counter)",
    "nam (k bigint, name int, v bigint, c0 bigint static, c1 bigint static, PRIMARY KEY (k, name))",
    "dat (k bigint, b bigint, at bigint, id bigint, data text, PRIMARY KEY ((k, b), at, id)) "
    "WITH CLUSTERING ORDER BY (at DESC, id DESC)",
)
COLUMNS = [f"c{i}" for i in range(6)]
VALUES = [0, 1, -1, 2, 255, 256, -9223372036854775808, 9223372036854775807]
TIMESTAMPS = [-5000001, -5000000, -4000000]
LEVELS = ["ANY", "ONE", "TWO", "THREE", "QUORUM", "ALL", "LOCAL_QUORUM", "EACH_QUORUM", "LOCAL_ONE", "SERIAL",
          "LOCAL_SERIAL"]


class Generator:
    """Generates operations as text, by class; each is a line without its time and answer."""

    def __init__(self, seed, is_ring):
        self.draw, self.is_ring = random.Random(seed), is_ring

    def some(self, names, values, null=0.0):
        chosen = sorted(self.draw.sample(names, min(len(names), self.draw.choice([1, 1, 2, 3]))))
        return " ".join(f"{name}={'null' if self.draw.random() < null else self.draw.choice(values)}"
                        for name in chosen)

    def options(self, ts=0.0, ttl=0.0, level=0.4, levels=("ONE", "QUORUM", "LOCAL_QUORUM", "LOCAL_ONE")):
        text, draw = "", self.draw.random
        text += f" ts={self.draw.choice(TIMESTAMPS)}" if draw() < ts else ""
        text += f" ttl={self.draw.choice([0, 1, 2, 100])}" if draw() < ttl else ""
        return text + (f" cl={self.draw.choice(list(levels))}" if draw() < level else "")

    def register(self, ts=0.5, ttl=0.0):
        key, kind = self.draw.randrange(2), self.draw.random()
        if kind < 0.35:
            return f"UPD {key} {self.some(COLUMNS, VALUES)}{self.options(ts, ttl)}"
        if kind < 0.5:
            return f"INS {key} {self.some(COLUMNS, VALUES)}{self.options(ts, ttl)}"
        if kind < 0.65:
            names = sorted(self.draw.sample(COLUMNS, self.draw.choice([1, 2])))
            return f"DEL {key} {' '.join(names)}{self.options(ts)}"
        return f"GET {key}{self.options()}"

    def lwt(self, ttl=0.0, plain=0.0):
        key, kind, few = self.draw.randrange(2), self.draw.random(), ["c0", "c1"]
        if self.draw.random() < plain:
            return self.register(0.4, ttl)
        serial = " scl=LOCAL_SERIAL cl=LOCAL_QUORUM" if self.draw.random() < 0.2 else self.options()
        lives = f" ttl={self.draw.choice([0, 1, 2, 100])}" if self.draw.random() < ttl else ""
        if kind < 0.3:
            return f"NX {key} {self.some(few, [0, 1])}{lives}{serial}"
        if kind < 0.75:
            condition = sorted(self.draw.sample(few, self.draw.choice([1, 1, 2])))
            text = " ".join(f"{name}={self.draw.choice([0, 1])}" for name in condition)
            return f"CAS {key} {self.some(few + ['c2'], [0, 1])}{lives}{serial} IF {text}"
        return f"GET {key} cl={self.draw.choice(['SERIAL', 'LOCAL_SERIAL', 'QUORUM'])}"

    def beyond(self):
        key, few, draw = self.draw.randrange(2), ["c0", "c1"], self.draw
        one = f"{draw.choice(few)}={draw.choice([0, 1, 'null'])}"
        return draw.choice([
            f"UPD {key} {self.some(few + ['c2'], [0, 1], 0.5)}{self.options(0.4, 0.1, 0)}",
            f"INS {key} {self.some(few, [0, 1], 0.3)}{self.options(0.4, 0.1, 0)}",
            f"DELROW {key}{self.options(0.4, 0, 0)}", f"IFEX {key} {self.some(few, [0, 1], 0.2)}", f"DELIFEX {key}",
            f"DELIF {key} IF {one}", f"CAS {key} {self.some(few, [0, 1], 0.2)} IF {one}",
            f"CASIN {key} {self.some(few, [0, 1])} IN {draw.choice(few)}=0",
            f"CASNE {key} {self.some(few, [0, 1])} NE {one}",
            f"NX {key} {self.some(few, [0, 1], 0.3)}", f"GET {key}", f"GET {key} cl=SERIAL",
            f"DEL {key} {draw.choice(few)}{self.options(0.4, 0, 0)}"])

    def counter(self, deletes=0.0):
        key = self.draw.randrange(2)
        if self.draw.random() < deletes:
            return f"CDEL {key}"
        return f"ADD {key} {self.draw.choice([1, 5, -3, 1000])}{self.options()}" if self.draw.random() < 0.6 else \
            f"CNT {key}{self.options()}"

    def named(self, statics=0.0):
        if self.draw.random() < statics:
            return self.static()
        key, names = self.draw.randrange(2), sorted(self.draw.sample(range(-1, 5), self.draw.choice([1, 1, 2, 3])))
        stamps, batches = [-1, -2, -3], ("ONE", "QUORUM", "LOCAL_QUORUM", "SERIAL", "LOCAL_SERIAL")
        kind = self.draw.random()
        if kind < 0.4:
            text = " ".join(f"n{n}={self.draw.choice(VALUES)}@{self.draw.choice(stamps)}" for n in names)
            statics = f" {self.some(['c0', 'c1'], [0, 1], 0.3)}" if self.draw.random() < statics else ""
            return f"NW {key} {text}{statics}{self.options(levels=batches)}"
        if kind < 0.6:
            return f"ND {key} " + " ".join(f"n{n}@{self.draw.choice(stamps)}" for n in names)
        return f"NG {key}{self.options()}"

    def static(self):
        key, few, draw = self.draw.randrange(2), ["c0", "c1"], self.draw
        return draw.choice([
            f"SUPD {key} {self.some(few, [0, 1], 0.4)}{self.options(0.3, 0.1)}", f"SDEL {key} {draw.choice(few)}",
            f"SCAS {key} {self.some(few, [0, 1], 0.3)} IF {draw.choice(few)}={draw.choice([0, 1, 'null', 'null'])}",
            f"SNX {key} {self.some(few, [0, 1])}", f"SIFEX {key} {self.some(few, [0, 1], 0.3)}",
            f"SGET {key} cl={draw.choice(['SERIAL', 'LOCAL_SERIAL', 'QUORUM', 'ONE'])}"])

    def rows(self, deletes=0.0, ttl=0.0, ranges=0.0):
        draw, at, order = self.draw, self.draw.randrange(10), self.draw.randrange(3)
        kind = draw.random()
        if draw.random() < ranges:
            return draw.choice([f"DRANGE 0 0 {at} {at + draw.randrange(6)}", f"DPART 0 0",
                                f"DROW 0 0 {at} {order}{self.options(0.6, 0, 0)}",
                                f"ROW 0 0 {at} {order}{self.options(0.6, 0.2, 0)}"])
        if kind < 0.45:
            return f"ROW 0 0 {at} {order}{self.options(0.0, ttl)}"
        if draw.random() < deletes:
            return f"DROW 0 0 {at} {order}"
        until, dead = at + draw.randrange(-1, 8), "" if self.is_ring else " dead"
        return draw.choice([f"ROWS 0 0 {draw.choice([0, 1, 3, 10])}", f"SPAN 0 0 {at} {until} {draw.choice([0, 0, 2])}",
                            "COUNT 0 0", f"AFTER 0 0 {at} {order}"]) + self.options() + dead

    def levels(self):
        level, key = f" cl={self.draw.choice(LEVELS)}", self.draw.randrange(2)
        return self.draw.choice([
            f"UPD 0 c0=1{level}", f"GET 0{level}", f"CAS 0 c0=1{level} IF c0=1", f"NX 1 c0=1{level}", f"ADD 1 1{level}",
            f"DEL {key} c0{level}", f"NW 0 n1=5@-1{level}", f"ROW 0 0 1 {self.draw.randrange(99)}{level}",
            f"DELROW 1{level}",
            f"NW 0 n1=5@-1 n2=6@-1{level}", f"SGET 0{level}", f"DRANGE 0 1 {self.draw.choice([3, 3, 4])} 3{level}",
            f"SPAN 0 1 3 {self.draw.choice([2, 3])} 0{level}", f"SCAS 0 c0=1{level} IF c0=null",
            f"CNT 1{level.replace('LOCAL_SERIAL', 'ONE').replace('SERIAL', 'TWO')}",
            f"ROWS 0 1 0{level.replace('LOCAL_SERIAL', 'ONE').replace('SERIAL', 'TWO')}",
            "UPD 0 c0=1 ttl=600000000", "NX 1 c0=1 ttl=600000000", "ROW 0 0 1 1 ttl=600000000",
            "UPD 1 c0=1 ttl=300000000",
            "ADD 1 1 ts=-5", "ADD 1 1 ttl=5", "NX 0 c0=1 ts=-5", "CAS 0 c0=1 ts=-5 IF c0=1"])

    def sequence(self):
        kinds = {
            "plain": self.register, "ttl": lambda: self.register(0.1, 0.6),
            "ties-ttl": lambda: self.register(0.9, 0.5), "lwt": self.lwt, "lwtttl": lambda: self.lwt(0.5),
            "insert": lambda: self.lwt(0.1, 0.5), "counter": self.counter, "named": self.named, "rows": self.rows,
            "static": lambda: self.named(0.6), "uncount": lambda: self.counter(0.3),
            "rowsdel": lambda: self.rows(0.5), "rowsttl": lambda: self.rows(0.2, 0.5),
            "levels": self.levels, "beyond": self.beyond, "ranges": lambda: self.rows(0.3, 0.2, 0.4)}
        name = self.draw.choice(["levels", "levels", *kinds] if self.is_ring else list(kinds))
        lines = [kinds[name]() for _ in range(self.draw.randrange(10, 26))]
        return name, (["UPD 0 c0=1", "ADD 1 1"] if name == "levels" else []) + lines


def statement(words, key, base_us):
    """The CQL, level and serial level of an operation; its timestamps are relative to the base."""
    name, rest = words[0], words[1:]
    options = dict(word.split("=", 1) for word in rest if word.split("=")[0] in ("ts", "ttl", "cl", "scl"))
    rest = [word for word in rest if word.split("=")[0] not in ("ts", "ttl", "cl", "scl", "dead")]
    split = next((i for i, word in enumerate(rest) if word in ("IF", "IN", "NE")), len(rest))
    conditions, rest = rest[split + 1:], rest[:split]
    using = ([f"TIMESTAMP {base_us + int(options['ts'])}"] if "ts" in options else []) + \
            ([f"TTL {options['ttl']}"] if "ttl" in options else [])
    using = " USING " + " AND ".join(using) if using else ""
    pairs, number = [word.split("=") for word in rest[1:] if "=" in word and word[0] == "c"], [key(rest[0])] + rest[1:]
    where = f" WHERE k = {number[0]}"
    assign = ", ".join(f"{c} = {v}" for c, v in pairs)
    insert = f"({', '.join(['k'] + [c for c, _ in pairs])}) VALUES ({', '.join([number[0]] + [v for _, v in pairs])})"
    tests = " AND ".join(f"{c} IN (0, 1)" if name == "CASIN" else f"{c} {'!=' if name == 'CASNE' else '='} {v}"
                         for c, v in (word.split("=") for word in conditions))
    part = f" FROM dat WHERE k = {number[0]} AND b = {number[1] if len(number) > 1 else 0}"
    place = f" AND at = {number[2]} AND id = {number[3]}" if len(number) > 3 else ""

    def named(word):
        head, stamp = word.split("@")
        stamp = f" USING TIMESTAMP {base_us + int(stamp)}"
        if name == "ND":
            return f"DELETE FROM nam{stamp}{where} AND name = {head[1:]}"
        n, v = head[1:].split("=")
        return f"INSERT INTO nam (k, name, v) VALUES ({number[0]}, {n}, {v}){stamp}"

    def batch():
        parts = [named(word) for word in rest[1:] if word[0] == "n"]
        parts += [f"UPDATE nam SET {assign}{where}"] if name == "NW" and assign else []
        return parts[0] if len(parts) == 1 else "BEGIN UNLOGGED BATCH " + "; ".join(parts) + "; APPLY BATCH"

    texts = {
        "UPD": lambda: f"UPDATE reg{using} SET {assign}{where}", "INS": lambda: f"INSERT INTO reg {insert}{using}",
        "DEL": lambda: f"DELETE {', '.join(rest[1:])} FROM reg{using}{where}",
        "DELROW": lambda: f"DELETE FROM reg{using}{where}",
        "GET": lambda: f"SELECT {', '.join(COLUMNS)} FROM reg{where}",
        "NX": lambda: f"INSERT INTO reg {insert} IF NOT EXISTS{using}",
        "CAS": lambda: f"UPDATE reg{using} SET {assign}{where} IF {tests}",
        "IFEX": lambda: f"UPDATE reg{using} SET {assign}{where} IF EXISTS",
        "DELIFEX": lambda: f"DELETE FROM reg{using}{where} IF EXISTS",
        "DELIF": lambda: f"DELETE FROM reg{using}{where} IF {tests}",
        "ADD": lambda: f"UPDATE ctr{using} SET n = n + {rest[1]}{where}", "CNT": lambda: f"SELECT n FROM ctr{where}",
        "CDEL": lambda: f"DELETE FROM ctr{where}", "NW": batch, "ND": batch,
        "SUPD": lambda: f"UPDATE nam{using} SET {assign}{where}",
        "SDEL": lambda: f"DELETE {', '.join(rest[1:])} FROM nam{using}{where}",
        "SGET": lambda: f"SELECT DISTINCT c0, c1 FROM nam{where}",
        "SNX": lambda: f"INSERT INTO nam {insert} IF NOT EXISTS{using}",
        "SIFEX": lambda: f"UPDATE nam{using} SET {assign}{where} IF EXISTS",
        "SCAS": lambda: f"UPDATE nam{using} SET {assign}{where} IF {tests}",
        "NG": lambda: f"SELECT name, v, writetime(v) AS w FROM nam{where}",
        "ROW": lambda: f"INSERT INTO dat (k, b, at, id, data) VALUES ({', '.join(number)}, 'x'){using}",
        "DROW": lambda: f"DELETE FROM dat{using} WHERE k = {number[0]} AND b = {number[1]}{place}",
        "DRANGE": lambda: f"DELETE FROM dat{using} WHERE k = {number[0]} AND b = {number[1]} AND at >= {number[2]} "
                          f"AND at < {number[3]}",
        "DPART": lambda: f"DELETE FROM dat{using} WHERE k = {number[0]} AND b = {number[1]}",
        "ROWS": lambda: f"SELECT at{part}" + (f" LIMIT {number[2]}" if number[2] != "0" else ""),
        "SPAN": lambda: f"SELECT at{part} AND at >= {number[2]} AND at < {number[3]}" +
                        (f" LIMIT {number[4]}" if number[4] != "0" else ""),
        "COUNT": lambda: f"SELECT COUNT(*) AS count, at, id{part}",
        "AFTER": lambda: f"SELECT COUNT(*) AS count, at, id{part} AND (at, id) > ({number[2]}, {number[3]})",
    }
    texts["CASIN"] = texts["CASNE"] = texts["CAS"]
    return texts[name](), options.get("cl", "QUORUM"), options.get("scl", "SERIAL")


def columns_text(row):
    return "".join(f" {c}={getattr(row, c)}" for c in COLUMNS if getattr(row, c, None) is not None)


def answer(session, line, key, base_us):
    """The node's answer, in the format of the recordings."""
    words = line.split()
    text, level, serial = statement(words, key, base_us)
    query = SimpleStatement(text, consistency_level=getattr(ConsistencyLevel, level),
                            serial_consistency_level=getattr(ConsistencyLevel, serial))
    try:
        future = session.execute_async(query)
        rows = list(future.result())
    except (InvalidRequest, SyntaxException, ProtocolException):
        return "invalid"
    except Unavailable:
        return "UNAVAILABLE"
    except WriteTimeout:
        return "WRITE_TIMEOUT"
    except WriteFailure:
        return "WRITE_FAILURE"
    except (ReadTimeout, ReadFailure):
        return "READ_TIMEOUT"
    name = words[0]
    if name in ("GET", "SGET"):
        return "row" + columns_text(rows[0]) if rows else "none"
    if name == "CNT":
        return f"n={rows[0].n}" if rows and rows[0].n is not None else "none"
    if name == "NG":
        rows = [r for r in rows if r.name is not None]  # static columns alone
        return "row" + "".join(f" n{r.name}={r.v}@{r.w - base_us}" for r in rows) if rows else "none"
    # The node's warnings say how many tombstones it read, since its tombstone_warn_threshold is 0.
    told = [int(re.search(r"and (\d+) tombstone", warning)[1]) for warning in future.warnings or []]
    dead = f" dead={sum(told)}" if "dead" in words else ""
    if name in ("ROWS", "SPAN"):
        return f"rows={len(rows)}{dead}"
    if name in ("COUNT", "AFTER"):
        return f"count={rows[0].count}" + (f" last={rows[0].at}:{rows[0].id}" if rows[0].count else "") + dead
    if rows and hasattr(rows[0], "applied"):
        if rows[0].applied:
            return "applied"
        return "refused row" + columns_text(rows[0]) if len(rows[0]) > 1 else "refused none"
    return "ok"


class Node:
    def __init__(self, args):
        hosts = args.host.split(",")
        policy = WhiteListRoundRobinPolicy(hosts)
        profile = ExecutionProfile(load_balancing_policy=policy, retry_policy=FallthroughRetryPolicy(),
                                   request_timeout=60)
        # A busy machine may need a long time for the initial connection.
        self.cluster = Cluster(hosts, execution_profiles={EXEC_PROFILE_DEFAULT: profile}, connect_timeout=60,
                               control_connection_timeout=60, max_schema_agreement_wait=60)
        self.session = self.cluster.connect()
        self.session.use_client_timestamp = False
        self.space = 0
        copies = 3 if args.down is not None else 1
        place = self.session.execute("SELECT data_center FROM system.local").one().data_center
        self.session.execute("CREATE KEYSPACE IF NOT EXISTS live WITH replication = "
                             f"{{'class': 'NetworkTopologyStrategy', '{place}': {copies}}}")
        for table in TABLES:
            self.session.execute(f"CREATE TABLE IF NOT EXISTS live.{table}", timeout=120)
        self.session.set_keyspace("live")
        self.keys = (os.getpid() & 0x7FFF) << 47 | int(time.time()) << 16  # no other client uses these keys

    def run(self, number, name, lines):
        """Runs a sequence and returns it with its answers. Operations avoid the change of a second, since a
        TTL counts in seconds."""
        base = int(time.time()) - 1
        self.keys += 100
        first, out = self.keys, [f"S {number} {name} base={base}"]
        for line in lines:
            if line == "WAIT":
                time.sleep(1.1)
                continue
            left = 1 - time.time() % 1
            if left < 0.05 or left > 0.98:
                time.sleep(0.08)
            offset = int(time.time() * 1e6) - base * 1000000
            said = answer(self.session, line, lambda k: str(first + int(k)), base * 1000000)
            out.append(f"{offset} {line} => {said}")
        return out


def mock(args, lines):
    words = [args.tool, args.paxos] + (["--down", str(args.down)] if args.down is not None else [])
    done = subprocess.run(words, input="\n".join(lines) + "\n", capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{done.stderr.strip()}")
    return done.stdout.splitlines()


def shrink(args, node, name, lines):
    """Removes operations as long as the answers still differ."""
    at = 0
    while at < len(lines):
        fewer = lines[:at] + lines[at + 1:]
        recorded = node.run(0, name, fewer)
        if fewer and mock(args, recorded) != recorded:
            lines = fewer
        else:
            at += 1
    recorded = node.run(0, name, lines)
    return [f"{a}    mock: {b.split(' => ')[1]}" if a != b else a for a, b in zip(recorded, mock(args, recorded))]


def contend(node, args):
    """Four clients, two keys: each client replaces the value that it saw last by a unique value."""
    keys, history, lock = [str(node.keys + 1), str(node.keys + 2)], [], threading.Lock()

    def work(client):
        draw, seen = random.Random(f"{args.seed} {client}"), {}
        for number in range(args.operations // 4):
            name = draw.randrange(2)
            value, kind = client * 1000000 + number + 1, draw.random()
            line = f"CAS {name} c0={value} cl={draw.choice(['ONE', 'QUORUM', 'ANY'])} IF c0={seen.get(name, 0)}"
            if kind < 0.3 or name not in seen:
                line = draw.choice([f"GET {name} cl=SERIAL", f"NX {name} c0={value} cl=QUORUM"])
            start = time.monotonic_ns()
            try:
                said = answer(node.session, line, lambda k: keys[int(k)], 0)
            except Exception as error:  # pylint: disable=broad-except
                said = f"UNKNOWN {type(error).__name__}"
            end = time.monotonic_ns()
            if "c0=" in said:
                seen[name] = int(said.split("c0=")[1])
            elif said == "applied":
                seen[name] = value
            with lock:
                history.append(f"{client} {start} {end} {line} => {said}")

    threads = [threading.Thread(target=work, args=(client,)) for client in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    history.sort(key=lambda line: int(line.split()[1]))
    first = int(history[0].split()[1])
    history = [" ".join([words[0], str(int(words[1]) - first), str(int(words[2]) - first), *words[3:]])
               for words in (line.split(" ") for line in history)]
    with open(args.out or tempfile.mktemp(suffix=".txt"), "w", encoding="utf-8") as file:
        file.write("\n".join(history) + "\n")
    wrong = linear.check(history)
    told = {said: sum(line.split(" => ")[1].split()[0] == said for line in history)
            for said in sorted({line.split(" => ")[1].split()[0] for line in history})}
    print(wrong or f"{len(history)} concurrent operations are linearizable: " +
          ", ".join(f"{count} {said}" for said, count in told.items()), flush=True)
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("paxos", choices=["v1", "v2"])
    parser.add_argument("--down", type=int)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--operations", type=int, default=20000)
    parser.add_argument("--out", default=None)
    parser.add_argument("--linear", action="store_true")
    parser.add_argument("--tables", action="store_true")
    args = parser.parse_args()
    try:
        node = Node(args)
    except Exception as error:  # pylint: disable=broad-except
        print(f"live.py: no node answers at {args.host}: {error}; start one with node/start.sh", file=sys.stderr)
        return 3
    if args.tables:
        node.cluster.shutdown()
        return 0
    if args.linear:
        result = contend(node, args)
        node.cluster.shutdown()
        return result
    generator, done, number, differing, recorded = Generator(args.seed, args.down is not None), 0, 0, [], []
    while done < args.operations:
        number += 1
        name, lines = generator.sequence()
        if "ttl" in name and generator.draw.random() < 0.5:
            lines.insert(generator.draw.randrange(len(lines)), "WAIT")
        out = node.run(number, name, lines)
        recorded += out
        done += len(out) - 1
        # Repeat the sequence: the difference may come from a change of second or a pause of the node during a
        # statement.
        if mock(args, out) != out and all(mock(args, out := node.run(number, name, lines)) != out for _ in range(2)):
            differing.append((name, lines))
            print("\n".join(["differs, as short as it gets:"] + shrink(args, node, name, lines)), flush=True)
            if len(differing) == 10:
                break
    with open(args.out or tempfile.mktemp(suffix=".txt"), "w", encoding="utf-8") as file:
        file.write("\n".join(recorded) + "\n")
    print(f"{done} answers in {number} sequences, {len(differing)} sequences differ")
    node.cluster.shutdown()
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
