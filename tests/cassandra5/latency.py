#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the speed of Cassandra nodes for each kind of operation, and writes it as JSON.

Keeps 1, 16 and 128 requests in flight at one coordinator, for each kind of operation in the lab, and records
operations per second, p50, p99 and p999 of their latency, and the CPU time that each node spent per operation
(from /proc/PID/stat; unavailable for nodes on other machines). The script implements the native protocol (v4)
itself, since a driver would use more processor time than the node. It fits the settings of `cluster.node`;
docs/mock.md describes how. It creates the keyspace bucketlab_latency, and empties its tables at the start.
The first --pid is the node of --host. Usage: latency.py [--host ADDRESS] [--pid PID ...] [--replicas N]
[--paxos v1|v2] [--out measured.json]. With --compare FILE --lab build/release/tests/lab/cluster_load: the
same load in the lab, side by side. Exit code: 0 measured, 3 no node.
"""
import argparse
import functools
import json
import math
import os
import random
import selectors
import socket
import struct
import subprocess
import sys
import tempfile
import time

LEVELS = {"ONE": 1, "QUORUM": 4, "ALL": 5, "LOCAL_QUORUM": 6, "SERIAL": 8, "LOCAL_SERIAL": 9, "LOCAL_ONE": 10}
STARTUP, READY, AUTHENTICATE, QUERY, RESULT, PREPARE, EXECUTE, AUTH_RESPONSE = 1, 2, 3, 7, 8, 9, 10, 15
HEADER = struct.Struct(">BBhBI")
TICK = os.sysconf("SC_CLK_TCK")
KEYS = 10000          # registers and counters
PARTITIONS, ROWS = 50, 1000
TOMBSTONES = 900      # per partition; below the warning at 1000
TABLES = (
    "reg (k bigint PRIMARY KEY, c0 bigint, c1 bigint, c2 bigint, c3 bigint, c4 bigint, c5 bigint)",
    "ctr (k bigint PRIMARY KEY, n counter)",
    "dat (k bigint, b bigint, at bigint, id bigint, data text, PRIMARY KEY ((k, b), at, id)) "
    "WITH CLUSTERING ORDER BY (at DESC, id DESC)",
)
SPACE = "bucketlab_latency"


class Failed(Exception):
    """The node refused the request, or there is no node."""


def bigint(value):
    return struct.pack(">iq", 8, value)


def text(value):
    return struct.pack(">i", len(value)) + value


class Connection:
    """A connection, which handles one frame at a time except when run() drives its requests."""

    def __init__(self, args):
        try:
            self.socket = socket.create_connection((args.host, args.port), timeout=60)
        except OSError as error:
            raise Failed(f"no node answers at {args.host}:{args.port}: {error}; "
                         "start one with node/start.sh") from error
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""
        option = b"\0\x0bCQL_VERSION\0\x053.0.0"
        opcode, _ = self.ask(STARTUP, b"\0\1" + option)
        if opcode == AUTHENTICATE:
            opcode, _ = self.ask(AUTH_RESPONSE, text(f"\0{args.user}\0{args.password}".encode()))

    def ask(self, opcode, body):
        self.socket.sendall(HEADER.pack(4, 0, 0, opcode, len(body)) + body)
        while True:
            for _, opcode, body in self.frames(self.socket.recv(1 << 18)):
                if opcode == 0:
                    raise Failed(f"the node answers: {body[6:].decode(errors='replace')}")
                return opcode, body

    def frames(self, data):
        if not data:
            raise Failed("the node closed the connection")
        buffer, at = (self.buffer + data if self.buffer else data), 0
        found = []
        while len(buffer) - at >= 9:
            _, _, stream, opcode, length = HEADER.unpack_from(buffer, at)
            if len(buffer) - at - 9 < length:
                break
            found.append((stream, opcode, buffer[at + 9:at + 9 + length]))
            at += 9 + length
        self.buffer = buffer[at:]
        return found

    def query(self, cql, level="ALL"):
        words = cql.encode()
        return self.ask(QUERY, struct.pack(">I", len(words)) + words + struct.pack(">HB", LEVELS[level], 0))

    def prepare(self, cql):
        words = cql.encode()
        _, body = self.ask(PREPARE, struct.pack(">I", len(words)) + words)
        length = struct.unpack_from(">H", body, 4)[0]
        return body[4:6 + length]


class Statement:
    """A prepared statement as the bytes of its frame, without the stream id and the values."""

    def __init__(self, connection, cql, level, serial=None):
        self.name = connection.prepare(cql)
        self.count = cql.count("?")
        self.flags = 1 | (16 if serial else 0)
        self.head = self.name + struct.pack(">HBH", LEVELS[level], self.flags, self.count)
        self.tail = struct.pack(">H", LEVELS[serial]) if serial else b""

    def frame(self, stream, values):
        body = self.head + values + self.tail
        return HEADER.pack(4, 0, stream, EXECUTE, len(body)) + body


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def machine_seconds():
    """The CPU time of all processes of this machine."""
    with open("/proc/stat", encoding="ascii") as file:
        fields = [int(word) for word in file.readline().split()[1:]]
    return (sum(fields[:8]) - fields[3] - fields[4]) / TICK


def run(connections, statement, values, in_flight, seconds=None, count=None):
    """Keeps in_flight requests under way, for a duration or a number of requests. Returns the latencies in
    ns, and the number of failures."""
    selector, sent_ns, latencies, failed = selectors.DefaultSelector(), [0] * in_flight, [], 0
    share = len(connections)
    now, left = time.perf_counter_ns, [count if count is not None else 1 << 60]
    begin = now()
    end = begin + int((seconds if seconds is not None else 3600) * 1e9)
    under_way = 0
    for number, connection in enumerate(connections):
        slots = range(number, in_flight, share)
        out = b""
        for slot in slots:
            if left[0] > 0:
                left[0] -= 1
                sent_ns[slot] = now()
                out += statement.frame(slot, values(slot))
                under_way += 1
        connection.socket.sendall(out)
        selector.register(connection.socket, selectors.EVENT_READ, connection)
    while under_way:
        for ready, _ in selector.select(60) or sys.exit("the node has not answered for 60 s"):
            connection, out = ready.data, []
            found = connection.frames(connection.socket.recv(1 << 18))
            got = now()
            for slot, opcode, body in found:
                latencies.append(got - sent_ns[slot])
                if opcode == 0:
                    failed += 1
                    error = body[6:120]
                if got < end and left[0] > 0:
                    left[0] -= 1
                    out.append(statement.frame(slot, values(slot)))
                    sent_ns[slot] = now()
                else:
                    under_way -= 1
            if out:
                connection.socket.sendall(b"".join(out))
    selector.close()
    if failed:
        print(f"latency.py: {failed} of {len(latencies)} failed: {error.decode(errors='replace')}", file=sys.stderr)
    return latencies, failed, (now() - begin) / 1e9


def truncate(connection, table):
    """Empties a table, after all nodes have agreed on the schema."""
    for attempt in range(30):
        try:
            connection.query(f"TRUNCATE {SPACE}.{table}")
            return
        except Failed:
            if attempt == 29:
                raise
            time.sleep(1)


class Load:
    """The tables, their contents, and the kinds of operations with their statements and values."""

    def __init__(self, connections, args):
        self.connections, self.draw = connections, random.Random(args.seed)
        self.data, self.number, self.lwt = os.urandom(args.row_bytes).hex().encode()[:args.row_bytes], 0, {}
        first = connections[0]
        place = args.datacenter
        first.query(f"CREATE KEYSPACE IF NOT EXISTS {SPACE} WITH replication = "
                    f"{{'class': 'NetworkTopologyStrategy', '{place}': {args.replicas}}}")
        for table in TABLES:
            first.query(f"CREATE TABLE IF NOT EXISTS {SPACE}.{table}")
        for table in TABLES:
            truncate(first, table.split()[0])
        self.level = args.level
        self.keys, self.rows = max(1, round(KEYS * args.scale)), max(1, round(ROWS * args.scale))
        self.fill()

    def prepare(self, cql, serial=None, level=None):
        for connection in self.connections[1:]:
            connection.prepare(cql.replace(" T.", f" {SPACE}."))
        return Statement(self.connections[0], cql.replace(" T.", f" {SPACE}."), level or self.level, serial)

    def fill(self):
        reg = self.prepare("INSERT INTO T.reg (k, c0, c1, c2, c3, c4, c5) VALUES (?, ?, ?, ?, ?, ?, ?)")
        numbers = iter(range(self.keys))
        run(self.connections, reg, lambda slot: bigint(next(numbers)) + bigint(0) * 6, 64, count=self.keys)
        dat = self.prepare("INSERT INTO T.dat (k, b, at, id, data) VALUES (?, ?, ?, ?, ?)")
        rows = iter((k, at) for k in range(PARTITIONS) for at in range(self.rows))
        run(self.connections, dat, lambda slot: self.row(*next(rows), 0), 64, count=PARTITIONS * self.rows)
        dead = self.prepare("DELETE FROM T.dat WHERE k = ? AND b = ? AND at = ? AND id = ?")
        many = min(TOMBSTONES, self.rows)
        gone = iter((k, at) for k in range(PARTITIONS) for at in range(1, many + 1))
        run(self.connections, dead, lambda slot: self.place(*next(gone), 1), 64, count=PARTITIONS * many)
        ends = iter(range(PARTITIONS))
        run(self.connections, dat, lambda slot: self.row(next(ends), 0, 1), 16, count=PARTITIONS)

    def place(self, key, at, bucket):
        return bigint(key) + bigint(bucket) + bigint(at) + bigint(0)

    def row(self, key, at, bucket):
        return self.place(key, at, bucket) + text(self.data)

    def new_row(self, _slot):
        self.number += 1
        return self.row(1000000 + self.number % 4096, self.number, 0)

    def next_condition(self, slot):
        """Each request in flight has twenty registers that no other uses, so that requests do not contend."""
        key, value = self.lwt.get(slot, (0, 0))
        key += 1
        if key == 20:
            key, value = 0, value + 1
        self.lwt[slot] = (key, value)
        return bigint(value + 1) + bigint(slot * 20 + key) + bigint(value)

    def kinds(self):
        key, part = (lambda slot: bigint(self.draw.randrange(KEYS))), (lambda bucket: lambda slot: bigint(
            self.draw.randrange(PARTITIONS)) + bigint(bucket))
        some = lambda slot: bigint(self.draw.randrange(PARTITIONS)) + bigint(0) + bigint(self.draw.randrange(900))
        columns = "c0, c1, c2, c3, c4, c5"
        rows = "SELECT at, id, data FROM T.dat WHERE k = ? AND b = ?"
        values = lambda slot: bigint(self.draw.randrange(1 << 40)) * 6
        return {
            "insert": (self.prepare("INSERT INTO T.dat (k, b, at, id, data) VALUES (?, ?, ?, ?, ?)"), self.new_row),
            "state_write": (self.prepare("UPDATE T.reg SET c0 = ?, c1 = ?, c2 = ?, c3 = ?, c4 = ?, c5 = ? WHERE k = ?"),
                            lambda slot: values(slot) + bigint(KEYS + self.draw.randrange(KEYS))),
            "state_read": (self.prepare(f"SELECT {columns} FROM T.reg WHERE k = ?"), key),
            "read_1": (self.prepare(rows + " AND at = ?"), some),
            "read_100": (self.prepare(rows + " LIMIT 100"), part(0)),
            "read_1000": (self.prepare(rows), part(0)),
            "read_range": (self.prepare(rows + " AND at >= ? AND at < ?"), lambda slot: self.span()),
            "count_1000": (self.prepare("SELECT COUNT(*) FROM T.dat WHERE k = ? AND b = ?"), part(0)),
            "tombstones_900": (self.prepare(rows), part(1)),
            "delete": (self.prepare("DELETE FROM T.dat WHERE k = ? AND b = ? AND at = ? AND id = ?"),
                       lambda slot: self.place(2000000 + self.draw.randrange(4096), self.draw.randrange(1 << 40), 0)),
            "counter": (self.prepare("UPDATE T.ctr SET n = n + 1 WHERE k = ?"), key),
            "counter_read": (self.prepare("SELECT n FROM T.ctr WHERE k = ?"), key),
            "lwt": (self.prepare("UPDATE T.reg SET c0 = ? WHERE k = ? IF c0 = ?", "SERIAL"), self.next_condition),
            "serial_read": (self.prepare(f"SELECT {columns} FROM T.reg WHERE k = ?", level="SERIAL"), key),
        }

    def span(self):
        start = self.draw.randrange(900)
        return bigint(self.draw.randrange(PARTITIONS)) + bigint(0) + bigint(start) + bigint(start + 50)


def percentile(ordered, share):
    return ordered[min(len(ordered) - 1, max(0, -(-len(ordered) * share // 1000) - 1))]


def measure(connections, args, name, statement, values, in_flight):
    used = connections[:min(len(connections), in_flight)]
    run(used, statement, values, in_flight, seconds=args.seconds / 4)
    cpu, mine, machine = [cpu_seconds(pid) for pid in args.pid], time.process_time(), machine_seconds()
    latencies, failed, seconds = run(used, statement, values, in_flight, seconds=args.seconds)
    cpu, mine = [cpu_seconds(pid) - was for pid, was in zip(args.pid, cpu)], time.process_time() - mine
    others = machine_seconds() - machine - mine - sum(cpu)
    latencies.sort()
    count = len(latencies)
    out = {"kind": name, "in_flight": in_flight, "operations": count, "failed": failed,
           "per_second": round(count / seconds, 1)}
    out.update({f"p{label}_us": round(percentile(latencies, share) / 1000, 1)
                for label, share in (("50", 500), ("99", 990), ("999", 999))})
    out["node_cpu_us"] = [round(used * 1e6 / count, 1) for used in cpu]
    out["client_cpu_us"] = round(mine * 1e6 / count, 1)
    out["others_cores"] = round(max(0, others) / seconds, 2)
    print(f"{name:15} {in_flight:4} in flight: {out['per_second']:9.1f}/s  p50 {out['p50_us']:9.1f} us  "
          f"p99 {out['p99_us']:9.1f} us  CPU of the nodes {out['node_cpu_us']} us, of the client "
          f"{out['client_cpu_us']} us, others {out['others_cores']} cores", flush=True)
    return out


def least(points, kind, which, cores):
    """Core time per operation in us, on the coordinator or on all other nodes, at the load at which it is
    lowest. Without the processes' ids, the coordinator's core time at its highest rate."""
    found = [point for point in points if point["kind"] == kind]
    return min(((point["node_cpu_us"][0] if which == "first" else sum(point["node_cpu_us"][1:]))
                if point["node_cpu_us"] else cores * 1e6 / point["per_second"] for point in found), default=None)


def mean(values):
    values = [value for value in values if value is not None]
    return sum(values) / len(values) if values else None


def fit(points, nodes, cores):
    """Settings of cluster.node, in us, from the CPU time. For a single node they contain all of its work. For
    a ring, `write` and `read` are the cost of an operation on a node that only stores, and `coordinate` is
    the coordinator's additional cost. At (LOCAL_)QUORUM of three a read asks one other node, and a write the
    two others. Without processes (0 nodes), `write` and `read` are such that a coordinator has the measured
    rate."""
    which, copies = ("first", 1) if nodes < 2 else ("others", nodes - 1)
    part = lambda kind, share: (lambda cpu: None if cpu is None else cpu / share)(least(points, kind, which, cores))
    writes, reads = ("insert", "state_write", "delete"), ("state_read", "read_1")
    write, read = mean(part(kind, copies) for kind in writes), mean(part(kind, 1) for kind in reads)
    found = {"coordinate": 0.0, "write": write, "read": read}
    if nodes > 1:
        beyond = [least(points, kind, "first", cores) - cost for kinds, share in ((writes, copies), (reads, 1))
                  for kind in kinds if (cost := part(kind, share)) is not None]
        found["coordinate"] = max(0.0, mean(beyond) or 0.0)
    rows = [part("read_1000", 1), part("read_100", 1)]
    if None not in rows:
        found["scan_row"] = (rows[0] - rows[1]) / 900
    dead = part("tombstones_900", 1)
    if dead is not None and read is not None:
        found["scan_tombstone"] = (dead - read) / TOMBSTONES
    return {name: max(0.0, value) for name, value in found.items() if value is not None}


def settings(points, nodes, cores):
    found = {"concurrency": cores}
    found.update({name: f"{round(value * 1000)}ns" for name, value in fit(points, nodes, cores).items()})
    return found


@functools.lru_cache
def normals(count):
    draw = random.Random(7)
    return [draw.normalvariate(0, 1) for _ in range(count)]


@functools.lru_cache
def hop_sums(sigma, ways, draw_count):
    factors = [math.exp(sigma * normal) for normal in normals(ways * draw_count)]
    return sorted(sum(factors[i:i + ways]) for i in range(0, len(factors), ways))


def hops(sigma, ways, share, draw_count=20000):
    """A percentile, in per mille, of the time of several lognormal hops of median 1."""
    return percentile(hop_sums(sigma, ways, draw_count), share)


def hop_of(middle_us, tail_us, ways):
    """The lognormal hop of which `ways` hops together have this p50 and p99."""
    low, high = 0.0, 4.0
    for _ in range(20):
        sigma = (low + high) / 2
        if hops(sigma, ways, 990) / hops(sigma, ways, 500) < tail_us / middle_us:
            low = sigma
        else:
            high = sigma
    sigma = round(sigma, 2)
    median_us = middle_us / hops(sigma, ways, 500)
    return {"mean": f"{max(1, round(1000 * median_us * math.exp(sigma * sigma / 2)))}ns", "sigma": sigma}


def latency_of(points, node, is_ring, factor=1.0):
    """cluster.network.latency: the time of a single request in flight beyond its service, at p50 and at p99.
    """
    spans = {name: factor * int(value[:-2]) / 1000 for name, value in node.items() if name != "concurrency"}
    if not {"coordinate", "write", "read"} <= spans.keys():
        return None
    service_us = spans["coordinate"] + (spans["write"] + spans["read"]) / 2
    quick = [point for point in points if point["in_flight"] == 1 and
             point["kind"] in ("insert", "state_write", "state_read", "read_1")]
    if not quick:
        return None
    middle = max(1.0, mean(point["p50_us"] for point in quick) - service_us)
    tail = max(middle, mean(point["p99_us"] for point in quick) - service_us)
    # A request goes to the coordinator and back, and in a ring to another node and back.
    return {"lognormal": hop_of(middle, tail, 4 if is_ring else 2)}


def as_json(measured):
    """JSON with a line for each setting and for each point."""
    points = ",\n".join("  " + json.dumps(point) for point in measured["points"])
    head = ",\n".join(f" {json.dumps(name)}: {json.dumps(value)}" for name, value in measured.items()
                      if name != "points")
    return "{\n" + head + ",\n \"points\": [\n" + points + "\n]}\n"


def shared(points):
    """The factor by which a node is slower because its machine also runs the others, from all processor
    times."""
    found = [sum(point["node_cpu_us"]) / max(point["node_cpu_us"]) for point in points if point["node_cpu_us"]]
    return mean(found) or 1.0


def scenario_of(measured):
    """The measured cluster as a scenario (JSON is YAML). In the lab, each node has separate cores."""
    points, nodes = measured["points"], max(measured["nodes"], measured["replicas"])
    factor = shared(points) if nodes > 1 else 1.0
    node = {name: value if name == "concurrency" else f"{round(int(value[:-2]) * factor)}ns"
            for name, value in measured["node"].items()}
    return json.dumps({
        "seed": 1, "duration": "1m", "keys": {"count": 1}, "arrivals": {"rate": "1/s"}, "agents": {"count": 1},
        "strategies": [{"unbucketed": {}}],
        "cluster": {"nodes": nodes, "replication_factor": measured["replicas"], "lwt": f"paxos-{measured['paxos']}",
                    "network": {"latency": latency_of(points, measured["node"], nodes > 1, factor) or "0s"},
                    "consistency": {"write": measured["level"]}, "node": node}})


def in_lab(measured, tool):
    """Each point's rate and percentiles in the lab: (operations per second, p50 in us, p99 in us)."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
        file.write(scenario_of(measured))
        file.flush()
        asked = "".join(f"{point['kind']} {point['in_flight']}\n" for point in measured["points"])
        told = subprocess.run([tool, file.name], input=asked, capture_output=True, text=True, check=True).stdout
    return [tuple(float(word) for word in line.split()[2:5]) for line in told.splitlines()]


def short(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.2g}"


def side_by_side(args):
    """The measurement and the lab's result for the same load, as a Markdown table."""
    with open(args.compare, encoding="utf-8") as file:
        measured = json.load(file)
    loads = sorted({point["in_flight"] for point in measured["points"]})
    cells = {}
    for point, (rate, p50, p99) in zip(measured["points"], in_lab(measured, args.lab)):
        at = (point["kind"], point["in_flight"])
        pairs = ((point["per_second"], rate), (point["p50_us"] / 1000, p50 / 1000),
                 (point["p99_us"] / 1000, p99 / 1000))
        cells[at] = [f"{short(node)} / {short(lab)}" for node, lab in pairs]
    print("| operation |" + "".join(f" {what}{load} |" for what in ("a second, at ", "p50 in ms, at ", "p99 in ms, at ")
                                    for load in loads))
    print("|---" * (1 + 3 * len(loads)) + "|")
    for kind in dict.fromkeys(point["kind"] for point in measured["points"]):
        print(f"| `{kind}` |" + "".join(f" {cells[(kind, load)][i]} |" for i in range(3) for load in loads))
    return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=9042)
    parser.add_argument("--user", default="cassandra")
    parser.add_argument("--password", default="cassandra")
    parser.add_argument("--pid", type=int, nargs="*", default=[])
    parser.add_argument("--datacenter", default="datacenter1")
    parser.add_argument("--replicas", type=int, default=1)
    parser.add_argument("--level", default="LOCAL_QUORUM", choices=list(LEVELS))
    parser.add_argument("--row-bytes", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--warm-up", type=float, default=3)
    parser.add_argument("--in-flight", type=int, nargs="*", default=[1, 16, 128])
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--after-load", help="a command, such as nodetool flush")
    parser.add_argument("--paxos", default="v1", choices=["v1", "v2"], help="what the nodes are configured with")
    parser.add_argument("--cores", type=int, default=os.cpu_count(), help="of a node")
    parser.add_argument("--compare", help="a file that was written before: the same load in the lab")
    parser.add_argument("--lab", help="with --compare: build/release/tests/lab/cluster_load")
    parser.add_argument("--scale", type=float, default=1, help="of what the tables hold; the fit wants 1")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default="measured.json")
    args = parser.parse_args()
    if args.compare:
        return side_by_side(args)
    try:
        connections = [Connection(args) for _ in range(4)]
        load = Load(connections, args)
        if args.after_load:
            subprocess.run(args.after_load, shell=True, check=True)
        kinds = {name: kind for name, kind in load.kinds().items() if not args.only or name in args.only}
        for name, (statement, values) in kinds.items():
            run(connections, statement, values, 32, seconds=args.warm_up)
        points = [measure(connections, args, name, statement, values, in_flight)
                  for name, (statement, values) in kinds.items() for in_flight in args.in_flight]
    except Failed as error:
        print(f"latency.py: {error}", file=sys.stderr)
        return 3
    with open(args.out, "w", encoding="utf-8") as file:
        node = settings(points, len(args.pid), args.cores)
        file.write(as_json({"node": node, "network": {"latency": latency_of(points, node, args.replicas > 1)},
                            "nodes": len(args.pid),
                            "replicas": args.replicas, "paxos": args.paxos, "level": args.level,
                            "row_bytes": args.row_bytes, "points": points}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
