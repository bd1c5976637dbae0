# SPDX-License-Identifier: MIT
"""Settings that change at given dates: history.h."""
import dataclasses
from typing import Any

from ._core import ffi, lib
from ._structs import check, new, read
from .reader import BucketStart, Empties, Query, Reader, Step, query_of
from .strategy import Effect, KeyState, Placement, Row, Strategy


@dataclasses.dataclass(slots=True)
class Era:
    from_ns: int
    shift: int
    strategy: Strategy


@dataclasses.dataclass(slots=True)
class EraStart:
    sequence: int = 0
    bucket: int = 0


@dataclasses.dataclass(slots=True)
class HistoryState:
    """The state of a key; advance() changes it."""

    key: KeyState = dataclasses.field(default_factory=KeyState)
    has_rows: bool = False
    opened: int = 0
    starts: tuple[EraStart, ...] = ()


class History:
    """The strategies of a table, each with its date. Any thread may use all functions but change()."""

    __slots__ = ("_c",)

    def __init__(self, first: Strategy) -> None:
        self._c = ffi.new("struct bk_history *")
        check(lib.bk_history_begin(first._c, self._c))

    @classmethod
    def _copy_from(cls, source: Any) -> "History | None":
        if source.count == 0:
            return None
        history = cls.__new__(cls)
        history._c = ffi.new("struct bk_history *", source)
        return history

    def _copy_to(self, target: Any) -> None:
        target[0] = self._c[0]

    def change(self, from_ns: int, strategy: Strategy) -> None:
        """The strategy applies to rows from this time on."""
        check(lib.bk_history_change(self._c, from_ns, strategy._c))

    @property
    def eras(self) -> list[Era]:
        return [read(Era, era) for era in self._c.eras[0:self._c.count]]

    def era_at(self, time_ns: int) -> int:
        return int(lib.bk_history_era_at(self._c, time_ns))

    def route(self, state: HistoryState, row: Row) -> Placement:
        out = ffi.new("struct bk_placement *")
        check(lib.bk_history_route(self._c, new("bk_history_state", state), new("bk_row", row), out))
        return read(Placement, out)

    def fires(self, state: HistoryState, row: Row) -> bool:
        return bool(lib.bk_history_fires(self._c, new("bk_history_state", state), new("bk_row", row)))

    def advance(self, state: HistoryState, row: Row) -> Effect:
        effect, changed = ffi.new("struct bk_effect *"), new("bk_history_state", state)
        check(lib.bk_history_advance(self._c, changed, new("bk_row", row), effect))
        after = read(HistoryState, changed)
        for field in dataclasses.fields(HistoryState):
            setattr(state, field.name, getattr(after, field.name))
        return read(Effect, effect)


class HistoryReader(Reader):
    """A read that continues into earlier eras if necessary."""

    def __init__(self, history: History, state: HistoryState, query: Query, starts: list[BucketStart] | None = None):
        self._c = ffi.new("struct bk_history_reader *")
        self._history = history
        asked, _kept = query_of(query, starts)
        check(lib.bk_history_read_begin(history._c, new("bk_history_state", state), asked, self._c))

    @property
    def _reader(self) -> Any:
        return ffi.addressof(self._c, "reader")

    def next(self, known: Empties | None = None) -> Step | None:
        if known is not None:
            raise ValueError("a read over eras takes no known windows")
        step = ffi.new("struct bk_read_step *")
        return read(Step, step) if lib.bk_history_read_next(self._history._c, self._c, step) else None

    @property
    def rows_found(self) -> int:
        return int(lib.bk_history_rows_found(self._c))

    @property
    def partitions_asked(self) -> int:
        return int(lib.bk_history_partitions_asked(self._c))
