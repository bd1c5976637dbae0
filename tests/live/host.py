#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A process of a service over Cassandra that writes rows in bursts and reads them, several operations at a
time, and logs its agent's events as a history (docs/live.md). It may be killed, stopped and started again at
any time.

    host.py ADDRESSES LOG NUMBERS SETTING BEGAN START OFFSET AGENT KEYS ROWS BURST PAUSE_US [NAME=VALUE...]

The arguments are those of host.c, except for ADDRESSES: the nodes and the keyspace, as in
127.0.0.1,127.0.0.2/live. The driver of the run sorts LOG by time, since an effect is logged with its outcome
but carries the time of its request.
"""

import fcntl
import os
import pathlib
import queue
import random
import struct
import sys
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "core/python/examples"))

from bucketing import ActionKind as Act, Agent, Busy, OutcomeKind, Row, Setting
from cassandra import ConsistencyLevel
from cassandra.cluster import NoHostAvailable
from cassandra_host import Store

SECOND = 10**9
AT_ONCE = 8  # concurrent actions
READ_ROWS = 20
READ_BURSTS = 8  # bursts per read
INT64_MAX = (1 << 63) - 1


class Log:
    """Each line is one write, so that a kill loses no line that was logged."""

    def __init__(self, path, began):
        self.file, self.began = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), began

    def write(self, *lines):
        text = "".join(
            f"{(now - self.began) // SECOND:6d}.{(now - self.began) % SECOND:09d} s  {what}.\n"
            for now, what in lines
        )
        os.write(self.file, text.encode("ascii"))

    def begin(self, world, agent, offset):
        is_back = os.fstat(self.file).st_size > 0
        if is_back:
            os.write(self.file, b"\n")  # terminates a line that a kill has truncated
        else:
            self.write((self.began, f"strategy live is observed from {world}"))
        now = time.monotonic_ns() if is_back else self.began
        self.write((now, f"agent {agent} {'is back' if is_back else 'begins'}, offset {offset} drift 0"))


def effect_of(action, is_guarded):
    """The effect of an applied action as a line of a history; None when a history does not record it."""
    columns = " ".join(str(action.sets.get(i, 0)) for i in range(4))
    row, signed_id = action.row, (action.row.id ^ 1 << 63) - (1 << 63)
    match action.kind:
        case Act.PUT_ROW:
            return f"row {row.sequence} is stored in bucket {action.bucket} time {row.time_ns} id {signed_id}"
        case Act.ADD_COUNTER:
            bucket = action.bucket if is_guarded else 0
            return f"row {row.sequence} is counted in bucket {bucket} amount {action.amount}"
        case Act.WRITE_STATE | Act.CAS_STATE:
            return f"state is written, columns {action.mask} {columns}"
    return None


def outcome_text(action, outcome):
    """`put_row applied bucket 4`"""
    text = f"{action.operation} {action.kind.name.lower()} {outcome.kind.name.lower()}"
    if action.kind is Act.PUT_ROW:
        text += f" bucket {action.bucket}"
    if outcome.mask:
        columns = [*outcome.columns, 0, 0, 0, 0]
        text += f" columns {outcome.mask} " + " ".join(map(str, columns[:4]))
    if outcome.counter:
        text += f" counter {outcome.counter}"
    if outcome.rows:
        text += f" rows {outcome.rows}"
    if action.kind is Act.READ_ROWS:
        asked = action.step.bucket_high - action.step.bucket_low + 1
        text += f" empty {outcome.empty & INT64_MAX} filled {asked - outcome.empty.bit_count()}"
    return text


class Numbers:
    """The number of rows, in all and for each key, in a file that all processes share."""

    def __init__(self, path):
        self.file = os.open(path, os.O_RDWR)

    def get(self, index):
        return struct.unpack("q", os.pread(self.file, 8, 8 * index))[0]

    def take(self, index):
        fcntl.lockf(self.file, fcntl.LOCK_EX)
        number = self.get(index)
        os.pwrite(self.file, struct.pack("q", number + 1), 8 * index)
        fcntl.lockf(self.file, fcntl.LOCK_UN)
        return number


class Host:
    def __init__(self, agent, store, log, numbers, options):
        self.agent, self.store, self.log, self.numbers, self.options = agent, store, log, numbers, options
        self.under_way, self.bursts = 0, 0
        self.pool, self.answers = ThreadPoolExecutor(AT_ONCE), queue.SimpleQueue()

    def clock(self, now):
        return now - self.options.began + self.options.world + self.options.offset

    def take_actions(self):
        """Takes the agent's actions immediately after each event, as the judge does."""
        for action in self.agent.actions():
            if action.kind is Act.DONE:
                self.under_way -= 1
            elif action.kind is not Act.ACK:
                self.pool.submit(self.carry_out, action)

    def carry_out(self, action):
        """Runs in a thread. Plain writes of the state carry the true time, so that it is known which one
        wins."""
        sent = time.monotonic_ns()
        true_us = (sent - self.options.began + self.options.world) // 1000
        try:
            self.answers.put((action, sent, self.store.perform(action, "x" * action.row.bytes, true_us)))
        except BaseException as why:
            self.answers.put((action, sent, why))

    def hear(self, action, sent, outcome):
        if isinstance(outcome, BaseException):
            raise outcome
        now, lines = time.monotonic_ns(), []
        effect = effect_of(action, self.store.is_guarded) if outcome.kind is OutcomeKind.APPLIED else None
        if effect:
            lines.append((sent, f"key-{action.key}: {effect}"))
        told = outcome_text(action, outcome)
        lines.append((now, f"key-{action.key}: agent {self.options.agent} hears {told}"))
        self.log.write(*lines)
        self.agent.outcome(action, outcome, self.clock(now))
        self.take_actions()

    def work(self, until=1 << 62, most=0):
        """Works until that time, or until at most `most` operations are under way."""
        while self.under_way > most and (now := time.monotonic_ns()) < until:
            deadline = self.agent.deadline()
            wait = until - now if deadline is None else min(until - now, deadline - self.clock(now))
            try:
                self.hear(*self.answers.get(timeout=min(60, max(0, wait) / SECOND)))
            except queue.Empty:
                now = time.monotonic_ns()
                if deadline is not None and self.clock(now) >= deadline:
                    self.log.write((now, f"agent {self.options.agent} wakes"))
                    self.agent.tick(self.clock(now))
                    self.take_actions()

    def begin(self, key, what, call):
        now = time.monotonic_ns()
        self.log.write((now, f"key-{key}: agent {self.options.agent} {what(self.clock(now))}"))
        try:
            call(self.clock(now))
            self.under_way += 1
        except Busy:
            pass
        self.take_actions()

    def write_row(self, key):
        if self.numbers.take(0) >= self.options.rows:
            return False
        number, id_bits = self.numbers.take(1 + key), random.getrandbits(64)
        signed_id = (id_bits ^ 1 << 63) - (1 << 63)
        self.begin(
            key,
            lambda now: f"takes row {number} time {now} id {signed_id} bytes 100",
            lambda now: self.agent.write(key, Row(now, number, id_bits, 100), now),
        )
        return True

    def read_rows(self, key):
        newest, birth = max(0, self.numbers.get(1 + key) - 1), self.options.world
        self.begin(
            key,
            lambda now: f"reads latest birth {birth} newest {newest}",
            lambda now: self.agent.read_latest(
                key, READ_ROWS, birth_ns=birth, newest_sequence=newest, now_ns=now
            ),
        )

    def choose_key(self):
        """The lower of two random keys, so that some keys are busier than others. All processes choose the
        same key during a period."""
        turn = (time.monotonic_ns() - self.options.began) // (2000 * self.options.pause_us + 1)
        draws = random.Random(f"{self.options.world} {turn}")
        return min(draws.randrange(self.options.keys), draws.randrange(self.options.keys))

    def burst(self):
        key = self.choose_key()
        has_room = all(self.write_row(key) for _ in range(random.randint(1, self.options.burst)))
        self.bursts += 1
        if self.bursts % READ_BURSTS == 0:
            self.read_rows(random.randrange(self.options.keys))
        return has_room

    def serve(self):
        while self.burst():
            until = time.monotonic_ns() + random.randrange(2 * self.options.pause_us + 1) * 1000
            self.work(until, most=0)
            self.work(most=self.options.operations // 2)
            time.sleep(max(0, until - time.monotonic_ns()) / SECOND)
        self.work()


def connect(*arguments):
    """Busy nodes may not answer in time at first."""
    for _ in range(10):
        try:
            return Store(*arguments)
        except NoHostAvailable:
            time.sleep(1)
    return Store(*arguments)


class Options:
    def __init__(self, words):
        names = ("began", "world", "offset", "agent", "keys", "rows", "burst", "pause_us")
        for name, value in zip(names, words):
            setattr(self, name, int(value))
        self.more = {
            name: int(value) for name, _, value in (word.partition("=") for word in words[len(names) :])
        }
        self.operations = self.more.get("operations", 64)


def main(addresses, log, numbers, setting, *words):
    options = Options(words)
    nodes, _, keyspace = addresses.partition("/")
    with open(setting, encoding="utf-8") as stream:
        setting = Setting.parse(stream.read())
    config = setting.agent_config()
    config.agent_id = options.agent + 1
    config.cache_ttl_ns = options.more.get("cache_ttl", config.cache_ttl_ns)
    config.clock_bound_ns = options.more.get("clock_bound", 0)
    config.retries = options.more.get("retries", config.retries)
    config.operations = options.operations
    config.cache_entries = options.more.get("cache_entries", config.cache_entries)
    level = ConsistencyLevel.QUORUM if "," in nodes else ConsistencyLevel.ONE
    store = connect(nodes.split(","), keyspace, setting, level, options.more["client_s"])
    log = Log(log, options.began)
    log.begin(options.world, options.agent, options.offset)
    Host(Agent(config), store, log, Numbers(numbers), options).serve()


if __name__ == "__main__":
    main(*sys.argv[1:])
    os._exit(0)
