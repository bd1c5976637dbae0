#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Live runs on Cassandra nodes that are already running: processes of host.py write rows in bursts through
`cassandra-driver`, and are killed, stopped for longer than their leases, and started again with the same
number. They are judged like those of sqlite.py.

    nodes.py ADDRESS[,ADDRESS...] BUCKETLAB [--protocols A,B] [--rows N] [--kills N] [--out DIR] [--json FILE]

Needs the Python packages bucketing and cassandra-driver. Exit code 1: a guarantee was broken, or the unsafe
lead does not break where the lab says that it does.
"""

import argparse
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

from cassandra import ConsistencyLevel
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile

import protocols
import run

HERE = pathlib.Path(__file__).resolve().parent
RING_CLOCK_BOUND_MS = 100
START = HERE.parent / "cassandra5/node/start.sh"
sys.path.insert(0, str(HERE.parents[1] / "core/python/examples"))
from cassandra_host import TABLES  # noqa: E402


class Run(run.Run):
    client_s = 5

    def __init__(self, session, nodes, home, *arguments):
        self.session, self.addresses, self.nodes, self.home = session, nodes, len(nodes), pathlib.Path(home)
        self.scale = 4 if self.nodes == 1 else 1
        self.bound_ms = protocols.CLOCK_BOUND_MS if self.nodes == 1 else RING_CLOCK_BOUND_MS
        super().__init__(*arguments)

    def prepare(self):
        self.keyspace = "live_" + self.name.replace("-", "_")
        self.session.execute(f"DROP KEYSPACE IF EXISTS {self.keyspace}")
        self.session.execute(
            f"CREATE KEYSPACE {self.keyspace} WITH replication = "
            f"{{'class': 'SimpleStrategy', 'replication_factor': {self.nodes}}}"
        )
        for table in TABLES.split(";"):
            self.session.execute(f"CREATE TABLE {self.keyspace}.{table.strip()}")

    def program(self):
        return [sys.executable, "-B", str(HERE / "host.py")], ",".join(self.addresses) + "/" + self.keyspace

    def tables(self):
        yield self.session.execute(f"SELECT key, bucket, number, at FROM {self.keyspace}.rows")
        yield self.session.execute(f"SELECT key, c0, c1, c2, c3 FROM {self.keyspace}.states")
        yield self.session.execute(f"SELECT key, bucket, n FROM {self.keyspace}.counters")

    def logs(self):
        """Sorts the logs by time, since an effect is logged with its outcome but carries the time of its
        request."""
        self.puts_s = []
        for agent in range(self.agents):
            with open(self.path(f"agent-{agent}.log"), encoding="ascii") as stream:
                lines = [line for line in stream if line.endswith(".\n")]
            self.puts_s += [
                float(heard[:17]) - float(stored[:17])
                for stored, heard in zip(lines, lines[1:])
                if " put_row applied " in heard and " is stored in bucket " in stored
            ]
            lines.sort(key=lambda line: line[:17])
            self.write(f"agent-{agent}.log", "".join(lines))
        return super().logs()

    def latency(self, judged):
        """Half of an insert's time per direction; in a ring a quarter."""
        if not self.puts_s:
            return "200us"
        puts = sorted(self.puts_s)
        p50, p99 = puts[len(puts) // 2], puts[len(puts) * 99 // 100]
        return run.lognormal(p50, p99, 2 if self.nodes == 1 else 4)

    # --- Nodes of a ring that node/start.sh has started

    def node_pid(self, node):
        return int((self.home / f"node{node + 1}/pid").read_text())

    def pause_node(self, node, seconds):
        """Like a long garbage collection."""
        pid, at = self.node_pid(node), self.seconds()
        now = time.monotonic_ns()
        self.note(now, f"fault gc_storm begins, target {node} lasts {int(seconds * run.SECOND)} by 0")
        os.kill(pid, signal.SIGSTOP)
        self.fault("gc_storm", "node", node, at, seconds)
        self.node_pauses += 1
        threading.Timer(seconds, os.kill, (pid, signal.SIGCONT)).start()

    def restart_node(self, node):
        """Stops the node, and starts it again when it has ended."""
        pid, number = self.node_pid(node), str(node + 1)
        script = "while kill -0 $1 2>/dev/null; do sleep 0.2; done; sleep 5; exec $2 $3 $3"
        os.kill(pid, signal.SIGTERM)
        words = ["bash", "-c", script, "bash", str(pid), str(START), number]
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
        self.node_stops += 1
        self.begin_fault("node_down", "node", node, lambda: process.poll() is not None, lambda: None)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("nodes")
    parser.add_argument("lab")
    parser.add_argument("--home", help="of nodes that node/start.sh has started (CASSANDRA_HOME_DIR)")
    run.add_options(parser, rows=5000, kills=5, pause_us=20000)
    options = parser.parse_args()
    nodes = options.nodes.split(",")
    profile = ExecutionProfile(consistency_level=ConsistencyLevel.ALL, request_timeout=60)
    session = Cluster(nodes, execution_profiles={EXEC_PROFILE_DEFAULT: profile}).connect()

    def more(one):
        """In a ring, one node is paused twice, and another is stopped and started; in a long run repeatedly.
        """
        rounds = max(1, options.kills // 25) if len(nodes) >= 3 else 0
        for turn in range(rounds):
            yield (turn + 0.15) / rounds, lambda: one.pause_node(1, 1.5)
            yield (turn + 0.3) / rounds, lambda: one.restart_node(2)
            yield (turn + 0.9) / rounds, lambda: one.pause_node(0, 3)

    return run.run_all(options, lambda *arguments: Run(session, nodes, options.home, *arguments), more)


if __name__ == "__main__":
    sys.exit(main())
