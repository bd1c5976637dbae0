# SPDX-License-Identifier: MIT
"""route_batch() equals route() and advance() row by row, from arrays without copying."""
import array
import random

import pytest

import bucketing as bk

STRATEGIES = [
    bk.Strategy.time(1000), bk.Strategy.calendar(bk.Calendar.HOUR), bk.Strategy.count(7), bk.Strategy.hash(5),
    bk.Strategy.probabilistic(3, 4), bk.Strategy.probabilistic_chance(1, 5, 3), bk.Strategy.weighted(700, 5),
    bk.Strategy.probabilistic(3, 4).with_max_age(5000), bk.Strategy.unbucketed(),
]


@pytest.mark.parametrize("strategy", STRATEGIES, ids=repr)
def test_batch_equals_row_by_row(strategy):
    draws, by_batch, by_row = random.Random(5), bk.KeyState(), bk.KeyState()
    for length in (0, 1, 200):
        times = array.array("q", (i * 90 - draws.randrange(500) for i in range(length)))
        sequences = array.array("Q", range(length))
        ids = array.array("Q", (draws.getrandbits(64) for _ in range(length)))
        sizes = array.array("Q", (draws.randrange(900) for _ in range(length)))
        out = array.array("q", [-1]) * length
        assert strategy.route_batch(by_batch, times_ns=times, sequences=sequences, ids=ids, bytes=sizes, out=out) is out
        for row, bucket in zip(map(bk.Row, times, sequences, ids, sizes), out, strict=True):
            assert strategy.route(by_row, row).bucket == bucket
            strategy.advance(by_row, row)
        assert by_batch == by_row


def test_numpy_arrays_are_not_copied():
    numpy = pytest.importorskip("numpy")
    state, ids = bk.KeyState(), numpy.random.default_rng(1).integers(0, 1 << 64, 100_000, dtype=numpy.uint64)
    buckets = bk.Strategy.probabilistic(9, 10).route_batch(state, ids=ids)
    fired = numpy.cumsum(ids & numpy.uint64(511) == 511)
    assert buckets.dtype == numpy.int64
    assert (buckets[1:] == fired[:-1] // 10).all() and state.bucket == fired[-1] // 10
    half = numpy.zeros(200_000, dtype=numpy.int64)
    bk.Strategy.hash(8).route_batch(state, ids=ids, out=half[:100_000])
    assert half[:100_000].any() and not half[100_000:].any()
    signed = bk.Strategy.hash(8).route_batch(state, ids=ids.view(numpy.int64))
    assert (signed == half[:100_000]).all()


@pytest.mark.parametrize("column", [array.array("d", [1.0]), array.array("i", [1]), memoryview(b"12345678"),
                                    memoryview(array.array("Q", [1, 2, 3, 4]))[::2]])
def test_a_column_of_something_else_is_refused(column):
    with pytest.raises(TypeError, match="ids: not a contiguous column of 64-bit integers"):
        bk.Strategy.hash(8).route_batch(bk.KeyState(), ids=column, out=array.array("q", [0]))


def test_columns_that_do_not_fit_are_refused():
    ids, out = array.array("Q", [1, 2]), array.array("q", [0])
    with pytest.raises(ValueError, match="one length"):
        bk.Strategy.hash(8).route_batch(bk.KeyState(), ids=ids, out=out)
    with pytest.raises(bk.BucketingError) as caught:
        bk.Strategy.count(8).route_batch(bk.KeyState(), ids=ids, out=array.array("q", [0, 0]))
    assert caught.value.status == "BK_ERROR_NULL"
    with pytest.raises(BufferError):
        bk.Strategy.hash(8).route_batch(bk.KeyState(), ids=ids, out=memoryview(array.array("q", [0, 0])).toreadonly())


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_of_data_frames_are_grouped_by_key(library):
    frames, numpy = pytest.importorskip(library), pytest.importorskip("numpy")
    draws = random.Random(7)
    keys = [draws.choice("abc") for _ in range(300)]
    times = numpy.array(sorted(draws.randrange(10**6) for _ in keys), dtype="datetime64[s]")
    ids = [draws.getrandbits(31) for _ in keys]
    frame = frames.DataFrame({"key": keys, "at": times.astype("datetime64[ms]"), "id": numpy.array(ids, dtype="int32")})
    for strategy in (bk.Strategy.time(3_600_000_000_000), bk.Strategy.probabilistic(3, 4)):
        states, alone = {"a": bk.KeyState()}, {}
        buckets = strategy.route_batch(states, times_ns=frame["at"], ids=frame["id"], keys=frame["key"])
        assert type(buckets) is type(frame["at"]) and buckets.name == "bucket"
        for key, time, id_, bucket in zip(keys, times.astype("int64").tolist(), ids, buckets, strict=True):
            row, state = bk.Row(time * 10**9, id=id_), alone.setdefault(key, bk.KeyState())
            assert strategy.route(state, row).bucket == bucket
            strategy.advance(state, row)
        assert states == alone
    if library == "pandas":
        assert frame.groupby(["key", buckets]).size().sum() == 300
        zoned = frame["at"].dt.tz_localize("Europe/Berlin")
        shifted = bk.Strategy.time(10**9).route_batch(bk.KeyState(), times_ns=zoned)
        assert (shifted.to_numpy() == times.astype("int64") - 3600).all()


def test_columns_without_whole_times_or_numbers_are_refused():
    numpy, strategy = pytest.importorskip("numpy"), bk.Strategy.time(1000)
    for column, error, text in (
            (numpy.array(["2026-01-01", "NaT"], dtype="datetime64[s]"), ValueError, "row 1 has no time"),
            (numpy.array(["2500-01-01"], dtype="datetime64[s]"), OverflowError, "end in 2262"),
            (numpy.array([5]).view("datetime64"), TypeError, "without a unit")):
        with pytest.raises(error, match=text):
            strategy.route_batch(bk.KeyState(), times_ns=column)
    with pytest.raises(TypeError, match="dict from key"):
        strategy.route_batch(bk.KeyState(), times_ns=numpy.array([1]), keys=["a"])
    pandas = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match="ids: a column of float64"):
        bk.Strategy.hash(8).route_batch(bk.KeyState(), ids=pandas.Series([0.5]))
