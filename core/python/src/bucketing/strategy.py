# SPDX-License-Identifier: MIT
"""Strategies, and the buckets of rows: strategy.h and route.h."""
import dataclasses
import typing
from typing import Any

from ._core import ffi, lib
from ._structs import check, new, read
from .enums import Calendar, Kind, Scope

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
        """Returns the same strategy with each window, or each counted bucket, divided into this many partitions."""
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
        own = {member: int(getattr(group, member)) for member in members} | {"max_age_ns": int(self._c.max_age_ns)}
        return own | {"shards": int(self._c.shards)} if self._c.shards else own

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

    def route_batch(self, state: KeyState | dict[Any, KeyState], *, times_ns: Any = None, sequences: Any = None,
                    ids: Any = None, bytes: Any = None, keys: Any = None, out: Any = None) -> Any:
        """Returns the bucket of each row of one key, like route() and advance() row by row; changes the state.

        Columns are NumPy arrays of 64-bit integers, or other objects with the buffer protocol (array.array,
        memoryview); they are not copied. Columns of pandas and Polars may have other integers; times may be
        datetime64 of any unit. Negative ids are read as unsigned, as in Cassandra's bigint.
        keys: the key of each row, in any order; state: then a dict from key to KeyState, which gets those that are
        missing. out: receives the buckets; None: a new array, or a series like the columns, for a groupby. Other
        Python threads can run during the call."""
        columns = {"times_ns": times_ns, "sequences": sequences, "ids": ids, "bytes": bytes}
        given = {name: column for name, column in columns.items() if column is not None}
        views = {name: _column(name, column) for name, column in given.items()}
        sized = [*views.values(), *(column for column in (keys, out) if column is not None)]
        if len({len(column) for column in sized}) != 1:
            raise ValueError("columns need one length")
        count, frame = len(sized[0]), next((column for column in given.values() if hasattr(column, "to_numpy")), None)
        is_given = out is not None
        if not is_given:
            import numpy
            out = numpy.empty(count, dtype=numpy.int64)
        if keys is not None:
            self._route_keys(state, views, keys, out)
        elif isinstance(state, KeyState):
            self._route_key(state, views, count, out)
        else:
            raise TypeError("state: a KeyState, or with keys= a dict of them")
        if frame is None or is_given:
            return out
        series = type(frame)
        return series(out, index=frame.index, name="bucket") if hasattr(frame, "index") else series("bucket", out)

    def _route_key(self, state: KeyState, views: dict[str, Any], count: int, out: Any) -> None:
        rows, kept, changed = ffi.new("struct bk_rows *"), [], new("bk_key_state", state)
        for name, view in views.items():
            kept.append(ffi.from_buffer(view))
            setattr(rows, name, ffi.cast("int64_t *" if name == "times_ns" else "uint64_t *", kept[-1]))
        buckets = ffi.from_buffer(_column("out", out), require_writable=True)
        check(lib.bk_route_batch(self._c, changed, rows, count, ffi.cast("int64_t *", buckets)))
        take_state(state, changed)

    def _route_keys(self, states: Any, views: dict[str, Any], keys: Any, out: Any) -> None:
        import numpy
        if not isinstance(states, dict):
            raise TypeError("state: a dict from key to KeyState, as keys= is given")
        numbers: dict[Any, int] = {}
        codes = numpy.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=numpy.int64)
        order = numpy.argsort(codes, kind="stable")  # a key's rows stay in their order
        ends = numpy.cumsum(numpy.bincount(codes, minlength=len(numbers)))
        sorted_views = {name: numpy.asarray(view)[order] for name, view in views.items()}
        buckets = numpy.empty(len(codes), dtype=numpy.int64)
        begin = 0
        for key, end in zip(numbers, ends.tolist(), strict=True):
            part = {name: _column(name, column[begin:end]) for name, column in sorted_views.items()}
            self._route_key(states.setdefault(key, KeyState()), part, end - begin, buckets[begin:end])
            begin = end
        numpy.asarray(_column("out", out))[order] = buckets


def _column(name: str, column: Any) -> memoryview:
    if hasattr(column, "to_numpy") or (hasattr(column, "dtype") and column.dtype.kind == "M"):
        column = _of_frame(name, column)
    view = memoryview(column)
    if view.ndim != 1 or not view.contiguous or view.itemsize != 8 or view.format not in ("l", "L", "q", "Q"):
        raise TypeError(f"{name}: not a contiguous column of 64-bit integers")
    return view


def _of_frame(name: str, column: Any) -> Any:
    """A column of pandas or Polars, or of datetime64, as 64-bit integers; times as nanoseconds."""
    import numpy
    values = column
    if hasattr(column, "to_numpy"):
        is_zoned = getattr(column.dtype, "tz", None) is not None
        values = column.to_numpy(dtype="datetime64[ns]") if is_zoned else column.to_numpy()
    if values.dtype.kind == "M" and name == "times_ns":
        if numpy.datetime_data(values.dtype)[0] == "generic":
            raise TypeError(f"{name}: datetime64 without a unit; write datetime64[ns]")
        ns = values.astype("datetime64[ns]")
        if numpy.isnat(values).any():
            raise ValueError(f"{name}: row {int(numpy.argmax(numpy.isnat(values)))} has no time (NaT)")
        if (ns.astype(values.dtype) != values).any():
            raise OverflowError(f"{name}: a time that does not fit into nanoseconds, which end in 2262")
        return numpy.ascontiguousarray(ns.view(numpy.int64))
    if values.dtype.kind not in "iu":
        raise TypeError(f"{name}: a column of {column.dtype}, not of integers" +
                        (" or datetime64" if name == "times_ns" else ""))
    return numpy.ascontiguousarray(values, dtype=numpy.uint64 if values.dtype.kind == "u" else numpy.int64)


def take_state(state: KeyState, changed: Any) -> None:
    for field in dataclasses.fields(KeyState):
        setattr(state, field.name, getattr(changed, field.name))
