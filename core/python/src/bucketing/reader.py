# SPDX-License-Identifier: MIT
"""Plans which partitions a read queries: read.h."""
import dataclasses
from typing import Any

from ._core import ffi, lib
from ._structs import check, new, read
from .enums import Order, Plan, QueryKind
from .strategy import KeyState, Strategy


@dataclasses.dataclass(slots=True)
class BucketStart:
    bucket: int
    start_ns: int


@dataclasses.dataclass(slots=True)
class Query:
    """What a read requests, and how. Members that its kind does not use may stay 0."""

    kind: QueryKind = QueryKind.LATEST
    plan: Plan = Plan.DEFAULT
    at_once: int = 0
    rows: int = 0
    from_ns: int = 0
    until_ns: int = 0
    now_ns: int = 0
    birth_ns: int = 0
    partitions_max: int = 0


@dataclasses.dataclass(slots=True)
class Step:
    """Buckets to query at once, bounds included: up to `rows` rows of each, with times in [from_ns, until_ns)."""

    bucket_low: int
    bucket_high: int
    rows: int
    from_ns: int
    until_ns: int


class Empties:
    """Windows of one key that are known to be empty; for TIME."""

    __slots__ = ("_c",)

    def __init__(self) -> None:
        self._c = ffi.new("struct bk_empties *")

    @property
    def runs(self) -> list[tuple[int, int]]:
        """The lowest and the highest window of each run, in ascending order."""
        return [(run.low, run.high) for run in self._c.runs[0:self._c.count]]

    def learn(self, strategy: Strategy, reader: "Reader", now_ns: int, late_ns: int, low: int, high: int) -> None:
        check(lib.bk_empties_learn(self._c, strategy._c, reader._reader, now_ns, late_ns, low, high))

    def forget(self, bucket: int) -> None:
        lib.bk_empties_forget(self._c, bucket)

    def pass_down(self, bucket: int) -> int:
        """bk_empties_pass(): the highest bucket, at or below this one, that is not known to be empty."""
        return int(lib.bk_empties_pass(self._c, bucket))

    def top(self, bucket: int) -> int:
        return int(lib.bk_empties_top(self._c, bucket))


class Reader:
    """One read: call next(), query its buckets, call found(), until next() is None. For one thread at a time."""

    def __init__(self, strategy: Strategy, state: KeyState, query: Query, starts: list[BucketStart] | None = None):
        self._c: Any = ffi.new("struct bk_reader *")
        asked, _kept = query_of(query, starts)
        check(lib.bk_read_begin(strategy._c, new("bk_key_state", state), asked, self._c))

    @property
    def _reader(self) -> Any:
        return self._c

    def next(self, known: Empties | None = None) -> Step | None:
        step = ffi.new("struct bk_read_step *")
        there_is = lib.bk_read_next_known(self._c, known._c if known else ffi.NULL, step)
        return read(Step, step) if there_is else None

    def found(self, rows: int, saw_older: bool | None = None) -> None:
        """Reports the number of rows in the step's buckets. saw_older: for a range, see bk_read_found_range()."""
        if saw_older is None:
            lib.bk_read_found(self._reader, rows)
        else:
            lib.bk_read_found_range(self._reader, rows, saw_older)

    def skip_to(self, bucket: int) -> int:
        """Skips the buckets above this one, which are empty. Returns how many partitions count as queried."""
        return int(lib.bk_read_skip_to(self._reader, bucket))

    @property
    def order(self) -> Order:
        return Order(self._reader.order)

    @property
    def is_cut_off(self) -> bool:
        """Whether the read ended at partitions_max, before all buckets were queried."""
        return bool(self._reader.status != lib.BK_OK)

    @property
    def rows_found(self) -> int:
        return int(self._c.rows_found)

    @property
    def partitions_asked(self) -> int:
        return int(self._c.partitions_asked)

    @property
    def partitions_spared(self) -> int:
        return int(self._reader.partitions_spared)


def query_of(query: Query, starts: list[BucketStart] | None) -> tuple[Any, Any]:
    """Returns the struct and the array that it points to. The caller must keep the array alive."""
    asked = new("bk_query", query)
    kept = ffi.new("struct bk_bucket_start[]", [(start.bucket, start.start_ns) for start in starts or []])
    asked.starts = kept if starts else ffi.NULL
    asked.start_count = len(kept)
    return asked, kept
