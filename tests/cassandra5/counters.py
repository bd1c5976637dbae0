#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records how a ring of three answers counter updates at ALL after one node was stopped but before it is seen
down.

    counters.py PID [--updates N] [--out FILE]     PID: the process of node 3; `start.sh 1 3` runs

All updates go through node 1, which sends each to a leader of its choice, and are sent concurrently. Exit
code: 0 all three answers came, each in its time, as in counters/all.txt; 1 they differ; see README.md.
"""

import argparse
import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from cassandra import ConsistencyLevel, WriteTimeout
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile
from cassandra.policies import FallthroughRetryPolicy, WhiteListRoundRobinPolicy

WRITE_S, COUNTER_S = 2, 5  # timeouts of the nodes
KINDS = {
    "ok": (WRITE_S, COUNTER_S),  # node 2 was the leader, and gave up on node 3
    "WRITE_TIMEOUT 2 of 3": (WRITE_S, COUNTER_S),  # node 1 was the leader, and gave up on node 3
    "WRITE_TIMEOUT 0 of 1": (COUNTER_S, 2 * COUNTER_S),  # node 3 was to be the leader
}


def ask(session, update, key):
    began = time.monotonic()
    try:
        session.execute(update, (key,))
        answer = "ok"
    except WriteTimeout as why:
        answer = f"WRITE_TIMEOUT {why.received_responses} of {why.required_responses}"
    return answer, time.monotonic() - began


def record(pid, updates):
    profile = ExecutionProfile(
        WhiteListRoundRobinPolicy(["127.0.0.1"]),
        FallthroughRetryPolicy(),
        ConsistencyLevel.ALL,
        request_timeout=30,
    )
    cluster = Cluster(["127.0.0.1"], execution_profiles={EXEC_PROFILE_DEFAULT: profile})
    session = cluster.connect()
    replicas = "{'class': 'SimpleStrategy', 'replication_factor': 3}"
    session.execute(f"CREATE KEYSPACE IF NOT EXISTS counted WITH replication = {replicas}", timeout=60)
    session.execute("CREATE TABLE IF NOT EXISTS counted.n (k int PRIMARY KEY, n counter)", timeout=60)
    update = session.prepare("UPDATE counted.n SET n = n + 1 WHERE k = ?")
    for key in range(updates):
        session.execute(update, (key,))
    os.kill(pid, signal.SIGSTOP)
    try:
        with ThreadPoolExecutor(updates) as pool:
            return list(pool.map(lambda key: ask(session, update, key), range(updates)))
    finally:
        os.kill(pid, signal.SIGCONT)
        cluster.shutdown()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pid", type=int)
    parser.add_argument("--updates", type=int, default=24)
    parser.add_argument("--out")
    options = parser.parse_args()
    answers = record(options.pid, options.updates)
    text = "".join(f"ADD {key} 1 cl=ALL => {kind} after {s:.1f} s\n" for key, (kind, s) in enumerate(answers))
    print(text, end="")
    if options.out:
        with open(options.out, "w", encoding="ascii") as out:
            out.write(text)
    odd = [
        f"{kind} after {s:.1f} s"
        for kind, s in answers
        if not (kind in KINDS and KINDS[kind][0] <= s < KINDS[kind][1])
    ]
    missing = set(KINDS) - {kind for kind, _ in answers}
    for what in [*odd, *(f"no answer was {kind}" for kind in missing)]:
        print(f"counters.py: {what}", file=sys.stderr)
    return 1 if odd or missing else 0


if __name__ == "__main__":
    sys.exit(main())
