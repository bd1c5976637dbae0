# SPDX-License-Identifier: MIT
"""Identifiers in leased batches: idgen.h."""
import dataclasses
import threading
import time
import typing

from ._core import ffi, lib
from ._structs import check, new, read
from .enums import IdgenActionKind, IdgenBackoff, IdgenChoice, IdgenLock, IdgenOutcomeKind

INT64_MAX = (1 << 63) - 1


@dataclasses.dataclass(slots=True)
class IdgenConfig:
    """struct bk_idgen_config, with the defaults of `idgen` in docs/scenario.md."""

    client_id: int
    batch: int = 100
    stripes: int = 1
    stripe: int = 1
    choice: IdgenChoice = IdgenChoice.RANDOM
    lock: IdgenLock = IdgenLock.COLUMNS
    lock_lasts_ns: int = 5_000_000_000
    lease_ns: int = 2_500_000_000
    backoff: IdgenBackoff = IdgenBackoff.RANDOM_TIMES
    backoff_base_ns: int = 5_000_000
    backoff_cap_ns: int = 0
    backoff_limit_ns: int = 0
    attempts: int = 0
    retries: int = 3


@dataclasses.dataclass(slots=True)
class IdgenColumn:
    client: int
    until_ns: int


@dataclasses.dataclass(slots=True)
class IdgenAction:
    kind: IdgenActionKind
    ticket: int
    stripe: int
    column_count: int
    columns: tuple[IdgenColumn, ...]  # the first column_count are used
    if_absent: bool
    expected: tuple[int, ...]
    set: tuple[int, ...]
    is_retry: bool
    status: int


@dataclasses.dataclass(slots=True)
class IdgenOutcome:
    """The outcome of an action. values, if `found`: the last identifier, or owner and end of a lock."""

    kind: IdgenOutcomeKind = IdgenOutcomeKind.UNKNOWN
    found: bool = False
    values: tuple[int, ...] = ()


class Idgen:
    """A client that hands out identifiers. Several threads may share it: each call takes its lock."""

    def __init__(self, config: IdgenConfig, state: bytes | None = None,
                 clock: typing.Callable[[], int] = time.time_ns) -> None:
        self._c = ffi.new("struct bk_idgen *")
        made = new("bk_idgen_config", config)
        if state is None:
            check(lib.bk_idgen_init(made, self._c))
        else:
            check(lib.bk_idgen_load(made, state, len(state), self._c))
        self._lock = threading.Lock()
        self.now = clock

    def take(self, now_ns: int | None = None) -> int | None:
        """The next identifier; None: a batch must be leased first, so there are actions."""
        identifier = ffi.new("int64_t *")
        with self._lock:
            status = lib.bk_idgen_take(self._c, self.now() if now_ns is None else now_ns, identifier)
        if status == lib.BK_ERROR_EMPTY:
            return None
        check(status)
        return int(identifier[0])

    def actions(self) -> typing.Iterator[IdgenAction]:
        while True:
            out = ffi.new("struct bk_idgen_action *")
            with self._lock:
                if not lib.bk_idgen_next(self._c, out):
                    return
            yield read(IdgenAction, out)

    def outcome(self, action: IdgenAction, outcome: IdgenOutcome, columns: typing.Sequence[IdgenColumn] = (),
                now_ns: int | None = None) -> None:
        """Reports the outcome of an action, once. columns: for READ_COLUMNS, all columns of the lock row."""
        told = new("bk_idgen_outcome", outcome)
        kept = ffi.new("struct bk_idgen_column[]", [(column.client, column.until_ns) for column in columns])
        told.columns, told.column_count = kept, len(kept)
        with self._lock:
            check(lib.bk_idgen_report(self._c, self.now() if now_ns is None else now_ns, action.ticket, told))

    def new_identifier(self, perform: typing.Callable[[IdgenAction], IdgenOutcome | list[IdgenColumn]]) -> int:
        """Takes an identifier, calls `perform` for each action, and sleeps between attempts to get the lock. For
        READ_COLUMNS, `perform` returns the columns. A failed lease raises the error of its status."""
        while (identifier := self.take()) is None:
            for action in self.actions():
                if action.kind is IdgenActionKind.FAILED:
                    check(action.status)
                elif action.kind is not IdgenActionKind.READY:
                    answer = perform(action)
                    columns = answer if isinstance(answer, list) else []
                    self.outcome(action, IdgenOutcome(IdgenOutcomeKind.APPLIED) if isinstance(answer, list) else answer,
                                 columns)
            deadline_ns = self.deadline()
            if deadline_ns is not None:
                time.sleep(max(0, deadline_ns - self.now()) / 1e9)
                self.tick()
        return identifier

    def deadline(self) -> int | None:
        with self._lock:
            deadline_ns = int(lib.bk_idgen_deadline(self._c))
        return None if deadline_ns == INT64_MAX else deadline_ns

    def tick(self, now_ns: int | None = None) -> None:
        with self._lock:
            check(lib.bk_idgen_tick(self._c, self.now() if now_ns is None else now_ns))

    @property
    def in_hand(self) -> int:
        with self._lock:
            return int(lib.bk_idgen_in_hand(self._c))

    def save(self) -> bytes:
        """Returns a checkpoint, for Idgen(config, state). Never resume from an older one."""
        with self._lock:
            state = ffi.new("char[]", lib.bk_idgen_state_size(self._c))
            check(lib.bk_idgen_save(self._c, state, len(state)))
        return bytes(ffi.buffer(state))
