# SPDX-License-Identifier: MIT
"""Strategies, and the buckets of rows: strategy.h and route.h."""
import dataclasses
import typing
from typing import Any

from ._core import ffi, lib
from ._structs import check, new, read
from .enums import Calendar, Kind, Scope

if typing.TYPE_CHECKING:
    import numpy
    import numpy.typing

Out = typing.TypeVar("Out")
INT64_MIN, INT64_MAX = -(1 << 63), (1 << 63) - 1
UINT64_MAX = (1 << 64) - 1


@dataclasses.dataclass(slots=True)
class Row:
    time_ns: int = 0
    sequence: int = 0
    id: int = 0  # 64 random bits, 0 to 2^64 - 1: id_bits()
    bytes: int = 0


@dataclasses.dataclass(slots=True)
class KeyState:
    """The state of a key; advance() and route_batch() change it."""

    bucket: int = 0
    counter: int = 0
    last_change_ns: int = 0
    is_begun: bool = False
    until_ns: int = 0
    first_sequence: int = 0


@dataclasses.dataclass(slots=True)
class Placement:
    bucket: int
    scope: Scope
    begins: bool
    from_ns: int
    until_ns: int
    sequence_low: int
    sequence_high: int


@dataclasses.dataclass(slots=True)
class Effect:
    counter_increments: int
    state_writes: int
    rolled: bool


# The members of struct bk_strategy for each kind.
_SETTINGS = {
    Kind.UNBUCKETED: ("", ()),
    Kind.TIME: ("time", ("calendar", "window_ns", "epoch_ns", "shards")),
    Kind.COUNT: ("count", ("rows",)),
    Kind.PROBABILISTIC: ("probabilistic", ("bits", "chance_numerator", "chance_denominator", "threshold")),
    Kind.HASH: ("hash", ("buckets",)),
    Kind.WEIGHTED: ("weighted", ("bytes", "threshold")),
}


class Strategy:
    """A valid, immutable setting, created by a function below or by Setting.parse(). Any thread may use it."""

    __slots__ = ("_c",)

    def __init__(self) -> None:
        self._c = ffi.new("struct bk_strategy *")  # all zeros: unbucketed

    @classmethod
    def _made(cls, make: Any, *arguments: int) -> "Strategy":
        strategy = cls()
        check(make(*arguments, strategy._c))
        return strategy

    @classmethod
    def unbucketed(cls) -> "Strategy":
        return cls()

    @classmethod
    def time(cls, window_ns: int, epoch_ns: int = 0) -> "Strategy":
        return cls._made(lib.bk_strategy_time, window_ns, epoch_ns)

    @classmethod
    def calendar(cls, unit: Calendar) -> "Strategy":
        return cls._made(lib.bk_strategy_calendar, unit)

    @classmethod
    def count(cls, rows: int) -> "Strategy":
        return cls._made(lib.bk_strategy_count, rows)

    @classmethod
    def probabilistic(cls, bits: int, threshold: int) -> "Strategy":
        return cls._made(lib.bk_strategy_probabilistic, bits, threshold)

    @classmethod
    def probabilistic_chance(cls, numerator: int, denominator: int, threshold: int) -> "Strategy":
        return cls._made(lib.bk_strategy_probabilistic_chance, numerator, denominator, threshold)

    @classmethod
    def hash(cls, buckets: int) -> "Strategy":
        return cls._made(lib.bk_strategy_hash, buckets)

    @classmethod
    def weighted(cls, bytes: int, threshold: int) -> "Strategy":
        return cls._made(lib.bk_strategy_weighted, bytes, threshold)

    def with_shards(self, shards: int) -> "Strategy":
        """Returns the same strategy of time windows, each divided into this many partitions."""
        strategy = self._copy_from(self._c[0])
        check(lib.bk_strategy_shards(shards, strategy._c))
        return strategy

    def with_max_age(self, max_age_ns: int) -> "Strategy":
        """Returns the same strategy with a max_age for its buckets; 0: without one."""
        strategy = self._copy_from(self._c[0])
        check(lib.bk_strategy_max_age(max_age_ns, strategy._c))
        return strategy

    @classmethod
    def _copy_from(cls, source: Any) -> "Strategy":
        strategy = cls()
        strategy._c[0] = source
        return strategy

    def _copy_to(self, target: Any) -> None:
        target[0] = self._c[0]

    @property
    def kind(self) -> Kind:
        return Kind(self._c.kind)

    @property
    def threshold(self) -> int:
        """The count at which a key rolls; 0 for kinds that do not count."""
        return int(lib.bk_threshold(self._c))

    @property
    def settings(self) -> dict[str, int]:
        """The members of struct bk_strategy that its kind has, and max_age_ns."""
        name, members = _SETTINGS[self.kind]
        group = getattr(self._c.of, name) if name else None
        return {member: int(getattr(group, member)) for member in members} | {"max_age_ns": int(self._c.max_age_ns)}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Strategy) and (self.kind, self.settings) == (other.kind, other.settings)

    def __hash__(self) -> int:
        return hash((self.kind, *self.settings.values()))

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value}" for name, value in self.settings.items() if value != 0)
        return f"<{self.kind.name.lower()}{': ' if settings else ''}{settings}>"

    def route(self, state: KeyState, row: Row) -> Placement:
        """Returns the row's bucket, and for which other rows that answer is valid."""
        out = ffi.new("struct bk_placement *")
        check(lib.bk_route(self._c, new("bk_key_state", state), new("bk_row", row), out))
        return read(Placement, out)

    def weight(self, row: Row) -> int:
        return int(lib.bk_weight(self._c, new("bk_row", row)))

    def fires(self, row: Row) -> bool:
        return bool(lib.bk_fires(self._c, new("bk_row", row)))

    def advance(self, state: KeyState, row: Row) -> Effect:
        """Changes the state for a row that was placed."""
        effect, changed = ffi.new("struct bk_effect *"), new("bk_key_state", state)
        check(lib.bk_advance(self._c, changed, new("bk_row", row), effect))
        take_state(state, changed)
        return read(Effect, effect)

    @typing.overload
    def route_batch(self, state: KeyState, *, times_ns: Any = None, sequences: Any = None, ids: Any = None,
                    bytes: Any = None, out: None = None) -> "numpy.typing.NDArray[numpy.int64]": ...

    @typing.overload
    def route_batch(self, state: KeyState, *, times_ns: Any = None, sequences: Any = None, ids: Any = None,
                    bytes: Any = None, out: Out) -> Out: ...

    def route_batch(self, state: KeyState, *, times_ns: Any = None, sequences: Any = None, ids: Any = None,
                    bytes: Any = None, out: Any = None) -> Any:
        """Returns the bucket of each row of one key, like route() and advance() row by row; changes the state.

        Columns are NumPy arrays of 64-bit integers, or other objects with the buffer protocol (array.array,
        memoryview); they are not copied. Negative ids are read as unsigned, as in Cassandra's bigint. out: receives
        the buckets; None: a new NumPy array. Other Python threads can run during the call."""
        columns = {"times_ns": times_ns, "sequences": sequences, "ids": ids, "bytes": bytes}
        views = {name: _column(name, column) for name, column in columns.items() if column is not None}
        lengths = {len(view) for view in views.values()} | ({len(out)} if out is not None else set())
        if len(lengths) != 1:
            raise ValueError("columns need one length")
        count = lengths.pop()
        if out is None:
            import numpy
            out = numpy.empty(count, dtype=numpy.int64)
        rows, kept, changed = ffi.new("struct bk_rows *"), [], new("bk_key_state", state)
        for name, view in views.items():
            kept.append(ffi.from_buffer(view))
            setattr(rows, name, ffi.cast("int64_t *" if name == "times_ns" else "uint64_t *", kept[-1]))
        buckets = ffi.from_buffer(_column("out", out), require_writable=True)
        check(lib.bk_route_batch(self._c, changed, rows, count, ffi.cast("int64_t *", buckets)))
        take_state(state, changed)
        return out


def _column(name: str, column: Any) -> memoryview:
    view = memoryview(column)
    if view.ndim != 1 or not view.contiguous or view.itemsize != 8 or view.format not in ("l", "L", "q", "Q"):
        raise TypeError(f"{name}: not a contiguous column of 64-bit integers")
    return view


def take_state(state: KeyState, changed: Any) -> None:
    for field in dataclasses.fields(KeyState):
        setattr(state, field.name, getattr(changed, field.name))
