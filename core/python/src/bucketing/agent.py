# SPDX-License-Identifier: MIT
"""An agent, for a process that shares its keys with others: agent.h.

A host reports events to an agent, takes its actions, and reports their outcomes:

    agent = Agent(AgentConfig(Strategy.probabilistic(9, 40), Coordination.THREE_STATE, agent_id=1))
    agent.write(key_of("room-7"), Row(time_ns=agent.now(), id=secrets.randbits(64)))
    for told in agent.run(perform):          # perform(action) queries the database and returns an Outcome
        if told.kind is ActionKind.DONE:
            print(told.status, told.bucket)
"""
import collections.abc
import dataclasses
import threading
import time
import typing
from typing import Any

from ._core import ffi, lib
from ._structs import check, new, read
from .enums import ActionKind, Coordination, Counter, OperationStatus, Order, OutcomeKind, Plan, Source
from .history import History
from .reader import BucketStart, Query, Step, query_of
from .strategy import Row, Strategy

Columns = typing.Mapping[int, int] | typing.Sequence[int]
INT64_MAX = (1 << 63) - 1
ALIGNMENT = 16  # of max_align_t, or more


@dataclasses.dataclass(slots=True)
class AgentConfig:
    """struct bk_agent_config, with the defaults of bk_agent_config_default()."""

    strategy: Strategy
    coordination: Coordination = Coordination.SINGLE
    counter: Counter = Counter.RMW
    source: Source = Source.EXTERNAL
    history: History | None = None
    lease_rows: int = 100
    every_rows: int = 1
    every_ns: int = 0
    lead_ns: int = 10_000_000_000
    cache_ttl_ns: int = 5_000_000_000
    cache_entries: int = 100_000
    operations: int = 64
    retries: int = 3
    counter_retries: int = 0
    retry_backoff_ns: int = 10_000_000
    lock_lasts_ns: int = 5_000_000_000
    lock_backoff_ns: int = 100_000_000
    grant_ns: int = 10_000_000_000
    remember_keys: int = 0
    late_ns: int = 60_000_000_000
    clock_bound_ns: int = 0
    agent_id: int = 0

    def warnings(self, answer_ns: int) -> list[str]:
        """The rules that this config breaks, for a host to log when it starts: bk_agent_warnings()."""
        found = lib.bk_agent_warnings(new("bk_agent_config", self), answer_ns)
        return [ffi.string(lib.bk_warning_text(i)).decode() for i in range(found.bit_length()) if found >> i & 1]


@dataclasses.dataclass(slots=True)
class Action:
    """What an agent requests from its host; agent.h says which members each kind has."""

    kind: ActionKind
    operation: int
    ticket: int
    key: int
    bucket: int
    row: Row
    is_retry: bool
    serial: bool
    if_null_mask: int
    amount: int
    mask: int
    if_mask: int
    columns: tuple[int, ...]
    expected: tuple[int, ...]
    step: Step
    status: OperationStatus
    fired: bool
    counted: bool
    rows_found: int
    partitions_asked: int
    partitions_spared: int
    order: Order

    @property
    def sets(self) -> dict[int, int]:
        """The values to store, by column. For COUNT_ROWS: the place after which rows count."""
        return {i: value for i, value in enumerate(self.columns) if self.mask >> i & 1}

    @property
    def condition(self) -> dict[int, int | None]:
        """For a CAS: the required values, by column; None: null. Empty: the row must not exist."""
        return {i: None if self.if_null_mask >> i & 1 else value
                for i, value in enumerate(self.expected) if self.if_mask >> i & 1}


@dataclasses.dataclass(slots=True)
class Outcome:
    """The outcome of an action, created by one of the four functions below."""

    kind: OutcomeKind = OutcomeKind.UNKNOWN
    mask: int = 0
    columns: tuple[int, ...] = ()
    counter: int = 0
    rows: int = 0
    saw_older: bool = False
    empty: int = 0

    @classmethod
    def applied(cls, columns: Columns | None = None, *, counter: int = 0, rows: int = 0, saw_older: bool = False,
                empty: int = 0) -> "Outcome":
        """The action was done. columns: those of the row that was read; None: no row was found or read."""
        mask, values = _columns(columns)
        return cls(OutcomeKind.APPLIED, mask, values, counter, rows, saw_older, empty)

    @classmethod
    def not_applied(cls, columns: Columns | None = None) -> "Outcome":
        """The condition failed. columns: the current values; None: there is no such row."""
        return cls(OutcomeKind.NOT_APPLIED, *_columns(columns))

    @classmethod
    def refused(cls) -> "Outcome":
        """The action was certainly not applied."""
        return cls(OutcomeKind.REFUSED)

    @classmethod
    def unknown(cls) -> "Outcome":
        """A timeout: the action may have been applied, or may be applied later."""
        return cls(OutcomeKind.UNKNOWN)


def _columns(columns: Columns | None) -> tuple[int, tuple[int, ...]]:
    if columns is None:
        return 0, ()
    pairs = columns if isinstance(columns, collections.abc.Mapping) else dict(enumerate(columns))
    return sum(1 << i for i in pairs), tuple(pairs.get(i, 0) for i in range(max(pairs, default=-1) + 1))


@dataclasses.dataclass(slots=True)
class AgentStats:
    rows_stored: int
    rows_refused: int
    rows_unknown: int
    reads_complete: int
    reads_incomplete: int
    cache_hits: int
    rolls: int
    retries: int
    unknown: int
    under_way: int
    parked: int
    asleep: int
    oldest_ns: int


class Agent:
    """Several threads may share an agent: each call takes its lock. An agent owns its memory.

    clock: the agent's clock, in ns since 1970. Calls that need the time read it, unless now_ns is given.
    state: the result of save() of an agent with the same config; the new agent resumes from it.
    """

    def __init__(self, config: AgentConfig, state: bytes | None = None,
                 clock: typing.Callable[[], int] = time.time_ns) -> None:
        made = new("bk_agent_config", config)
        check(lib.bk_agent_check(made))
        size = lib.bk_agent_size(made)
        self._memory = ffi.new("char[]", size + ALIGNMENT)
        at = self._memory + -int(ffi.cast("uintptr_t", self._memory)) % ALIGNMENT
        out = ffi.new("struct bk_agent **")
        if state is None:
            check(lib.bk_agent_init(at, size, made, out))
        else:
            check(lib.bk_agent_load(at, size, made, state, len(state), out))
        self._agent: Any = out[0]
        self._lock = threading.Lock()
        self.now = clock

    def write(self, key: int, row: Row, now_ns: int | None = None) -> int:
        """Begins to write a row, and returns the operation's number."""
        return self._begun(lib.bk_agent_write, now_ns, key, new("bk_row", row))

    def read_latest(self, key: int, rows: int, *, birth_ns: int = 0, newest_sequence: int = 0,
                    plan: Plan = Plan.DEFAULT, now_ns: int | None = None) -> int:
        """Begins to read the newest rows of a key."""
        return self._begun(lib.bk_agent_read_latest, now_ns, key, birth_ns, newest_sequence, rows, plan)

    def read(self, key: int, query: Query, *, newest_sequence: int = 0, starts: list[BucketStart] | None = None,
             now_ns: int | None = None) -> int:
        """Begins any read."""
        asked, _kept = query_of(query, starts)
        return self._begun(lib.bk_agent_read, now_ns, key, newest_sequence, asked)

    def _begun(self, begin: Any, now_ns: int | None, *arguments: Any) -> int:
        operation = ffi.new("uint32_t *")
        with self._lock:
            check(begin(self._agent, self.now() if now_ns is None else now_ns, *arguments, operation))
        return int(operation[0])

    def actions(self) -> typing.Iterator[Action]:
        """Takes actions until none is left. Outcomes that are reported meanwhile may add actions."""
        while True:
            out = ffi.new("struct bk_action *")
            with self._lock:
                if not lib.bk_agent_next(self._agent, out):
                    return
            yield read(Action, out)

    def outcome(self, action: Action, outcome: Outcome, now_ns: int | None = None) -> None:
        """Reports the outcome of an action, once. Refuses that of an earlier action, or of another agent's."""
        told = new("bk_outcome", outcome)
        with self._lock:
            check(lib.bk_agent_report(self._agent, self.now() if now_ns is None else now_ns, action.ticket,
                                       told))

    def run(self, perform: typing.Callable[[Action], Outcome]) -> typing.Iterator[Action]:
        """Calls `perform` for each action, sleeps while operations wait, and yields each ACK and DONE, until no
        operation is left. An exception in `perform` ends it; the outcome of that action must still be reported."""
        while True:
            for action in self.actions():
                if action.kind in (ActionKind.ACK, ActionKind.DONE):
                    yield action
                else:
                    self.outcome(action, perform(action))
            deadline_ns = self.deadline()
            if deadline_ns is None:
                return
            time.sleep(max(0, deadline_ns - self.now()) / 1e9)
            self.tick()

    def deadline(self) -> int | None:
        """The time at which tick() is due, by the agent's clock; None: no operation waits for a time."""
        with self._lock:
            deadline_ns = int(lib.bk_agent_deadline(self._agent))
        return None if deadline_ns == INT64_MAX else deadline_ns

    def tick(self, now_ns: int | None = None) -> None:
        with self._lock:
            check(lib.bk_agent_tick(self._agent, self.now() if now_ns is None else now_ns))

    def change(self, history: History) -> None:
        """Replaces the agent's history."""
        with self._lock:
            check(lib.bk_agent_change(self._agent, history._c))

    def view(self, key: int, now_ns: int | None = None) -> tuple[int, bool] | None:
        """The bucket that a row would get now, and whether a change is pending; None: the key is not cached."""
        bucket, is_changing = ffi.new("int64_t *"), ffi.new("bool *")
        with self._lock:
            known = lib.bk_agent_view(self._agent, self.now() if now_ns is None else now_ns, key, bucket, is_changing)
        return (int(bucket[0]), bool(is_changing[0])) if known else None

    def stats(self, now_ns: int | None = None) -> AgentStats:
        out = ffi.new("struct bk_agent_stats *")
        with self._lock:
            lib.bk_agent_get_stats(self._agent, self.now() if now_ns is None else now_ns, out)
        return read(AgentStats, out)

    def save(self) -> bytes:
        """Returns a checkpoint, for Agent(config, state)."""
        with self._lock:
            state = ffi.new("char[]", lib.bk_agent_state_size(self._agent))
            check(lib.bk_agent_save(self._agent, state, len(state)))
        return bytes(ffi.buffer(state))
