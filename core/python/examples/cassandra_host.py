# SPDX-License-Identifier: MIT
"""A service over Apache Cassandra that shares its keys with other processes: it stores lines in buckets.

    cassandra_host.py ADDRESS KEYSPACE SETTING PROCESS < lines of "KEY NUMBER TEXT"

KEY is a whole number, and NUMBER is the number of the row within its key. SETTING is a file of `bucketlab tune
--emit`. PROCESS is a unique number, from 1. The tables are those of `bucketlab cql`, but the columns of a state are
numbered, and times are in nanoseconds.
"""

import secrets
import sys
from collections.abc import Callable, Iterable
from typing import Any

from bucketing import Action, ActionKind as Act, Agent, Coordination, Outcome, Row, Setting
from cassandra import ConsistencyLevel as Level, DriverException, Unavailable
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile, NoHostAvailable
from cassandra.connection import ConnectionException
from cassandra.policies import FallthroughRetryPolicy, RoundRobinPolicy
from cassandra.protocol import ErrorMessage
from cassandra.query import dict_factory

TABLES = """rows (key bigint, bucket bigint, at bigint, id bigint, number bigint, data text,
                  PRIMARY KEY ((key, bucket), at, id)) WITH CLUSTERING ORDER BY (at DESC, id DESC);
            states (key bigint PRIMARY KEY, c0 bigint, c1 bigint, c2 bigint, c3 bigint);
            locks (key bigint PRIMARY KEY, c0 bigint, c1 bigint);
            starts (key bigint, bucket bigint, c0 bigint, PRIMARY KEY ((key, bucket)));
            counters (key bigint, bucket bigint, n counter, PRIMARY KEY ((key, bucket)))"""
IN = "WHERE key = ? AND bucket = ?"
PUT = "INSERT INTO rows (key, bucket, at, id, number, data) VALUES (?, ?, ?, ?, ?, ?)"
STATE = "SELECT c0, c1, c2, c3 FROM states WHERE key = ?"
COUNT = f"SELECT COUNT(*) AS rows, at AS c0, id AS c1 FROM rows {IN}"


Answer = list[dict[str, Any]]


def equal(columns: Iterable[int], glue: str) -> str:
    return glue.join(f"c{i} = ?" for i in columns)


def told(answer: Answer, of: Callable[..., Outcome] = Outcome.applied) -> Outcome:
    """Converts the first row of an answer to an outcome."""
    names = (name for name in ("c0", "c1", "c2", "c3") if answer[0].get(name) is not None)
    outcome = of({int(name[1]): answer[0][name] for name in names})
    outcome.rows, outcome.counter = answer[0].get("rows", 0), answer[0].get("counter", 0)
    return outcome


class Store:
    """Performs actions, from any thread. The agent retries, so the driver must not."""

    def __init__(
        self, addresses: list[str], keyspace: str, setting: Setting, level: int = Level.QUORUM, timeout: float = 2.0
    ) -> None:
        ways = RoundRobinPolicy(), FallthroughRetryPolicy(), level, Level.SERIAL, timeout, dict_factory
        cluster = Cluster(addresses, execution_profiles={EXEC_PROFILE_DEFAULT: ExecutionProfile(*ways)})
        self.session = cluster.connect(keyspace)
        self.prepared: dict[str, Any] = {}
        self.is_guarded = setting.coordination is Coordination.GUARDED

    def run(self, text: str, *values: int | str | None, serial: bool = False) -> Answer:
        if text not in self.prepared:
            self.prepared[text] = self.session.prepare(text)
        bound = self.prepared[text].bind(values)
        bound.consistency_level = Level.SERIAL if serial else None  # None: as in the profile
        return list(self.session.execute(bound)) or [{}]

    def perform(self, action: Action, text: str, now_us: int) -> Outcome:
        try:
            return self.ask(action, text, now_us) or Outcome.applied()
        except NoHostAvailable:  # no node received the request
            return Outcome.refused()
        except Unavailable:  # a conditional update may have been decided before its commit failed
            return Outcome.unknown() if action.kind in (Act.CAS_STATE, Act.CAS_LOCK) else Outcome.refused()
        except (DriverException, ErrorMessage, ConnectionException):
            return Outcome.unknown()

    def ask(self, action: Action, text: str, now_us: int) -> Outcome | None:
        key, bucket, sets = action.key, action.bucket, action.sets
        row, step, of_counter = action.row, action.step, (key, bucket if self.is_guarded else 0)
        match action.kind:
            case Act.PUT_ROW:
                signed_id = (row.id ^ 1 << 63) - (1 << 63)
                self.run(PUT, key, bucket, row.time_ns, signed_id, row.sequence, text)
            case Act.READ_STATE:
                return told(self.run(STATE, key, serial=action.serial))
            case Act.WRITE_STATE:  # the latest write by the writers' clocks wins
                update = f"UPDATE states USING TIMESTAMP ? SET {equal(sets, ', ')} WHERE key = ?"
                self.run(update, now_us, *sets.values(), key)
            case Act.CAS_STATE | Act.CAS_LOCK:
                table, given = "states" if action.kind is Act.CAS_STATE else "locks", action.condition
                update = f"UPDATE {table} SET {equal(sets, ', ')} WHERE key = ? IF {equal(given, ' AND ')}"
                if not given:
                    names, marks = "".join(f"c{i}, " for i in sets), "?, " * len(sets)
                    update = f"INSERT INTO {table} ({names}key) VALUES ({marks}?) IF NOT EXISTS"
                answer = self.run(update, *sets.values(), key, *given.values())
                return Outcome.applied() if answer[0]["[applied]"] else told(answer, Outcome.not_applied)
            case Act.ADD_COUNTER:
                self.run(f"UPDATE counters SET n = n + ? {IN}", action.amount, *of_counter)
            case Act.READ_COUNTER:
                return told(self.run(f"SELECT n AS counter FROM counters {IN}", *of_counter))
            case Act.READ_START:
                return told(self.run(f"SELECT c0 FROM starts {IN}", key, bucket))
            case Act.WRITE_START:
                self.run("INSERT INTO starts (key, bucket, c0) VALUES (?, ?, ?)", key, bucket, sets[0])
            case Act.COUNT_ROWS:  # all rows, or those after a place
                return told(
                    self.run(COUNT + " AND (at, id) > (?, ?)" * bool(sets), key, bucket, *sets.values())
                )
            case Act.READ_ROWS:  # of the newest; a service would keep them, too
                buckets = range(step.bucket_low, step.bucket_high + 1)
                find, most = f"SELECT number FROM rows {IN} LIMIT ?", min(step.rows, (1 << 31) - 1)
                got = [sum(map(bool, self.run(find, key, bucket, most))) for bucket in buckets]
                empty = sum(1 << i for i, rows in enumerate(got[:64]) if rows == 0)
                return Outcome.applied(rows=sum(got), empty=empty)
        return None


def main(address: str, keyspace: str, file: str, process: str) -> None:
    setting = Setting.parse(open(file, encoding="utf-8").read())
    config = setting.agent_config()
    config.agent_id, config.clock_bound_ns = int(process), 100_000_000
    agent, store = Agent(config), Store([address], keyspace, setting)
    for table in TABLES.split(";"):
        store.session.execute(f"CREATE TABLE IF NOT EXISTS {table}", timeout=60)
    for key, number, text in (line.rstrip("\n").split(" ", 2) for line in sys.stdin):
        agent.write(int(key), Row(agent.now(), int(number), secrets.randbits(64), len(text)))
        for action in agent.run(lambda action: store.perform(action, text, agent.now() // 1000)):
            if action.kind is Act.DONE:
                print(key, number, action.status.name, action.bucket)


if __name__ == "__main__":
    main(*sys.argv[1:])
