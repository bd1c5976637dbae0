# SPDX-License-Identifier: MIT
"""Tests strategies, reads, histories and settings with the examples of the headers."""
import pytest

import bucketing as bk

HOUR = 3_600_000_000_000


def test_strategies_have_value_semantics():
    same = [bk.Strategy.time(HOUR, 5), bk.Strategy.time(HOUR, 5)]
    assert same[0] == same[1] and len(set(same)) == 1 and same[0] != bk.Strategy.time(HOUR)
    assert repr(bk.Strategy.probabilistic(9, 40)) == "<probabilistic: bits=9, threshold=40>"
    assert bk.Strategy.weighted(1000, 3).threshold == 3 and bk.Strategy.unbucketed().kind is bk.Kind.UNBUCKETED
    aged = bk.Strategy.count(5).with_max_age(HOUR)
    assert aged.settings == {"rows": 5, "max_age_ns": HOUR} and bk.Strategy.count(5).settings["max_age_ns"] == 0


def test_a_row_is_placed_and_counted():
    strategy, state = bk.Strategy.probabilistic(1, 2), bk.KeyState()
    buckets = []
    for i, bits in enumerate([1, 0, 1, 1, 3]):
        row = bk.Row(time_ns=i, id=bits)
        buckets.append(strategy.route(state, row).bucket)
        assert strategy.fires(row) == (strategy.weight(row) == 1) == (bits % 2 == 1)
        strategy.advance(state, row)
    assert buckets == [0, 0, 0, 1, 1] and state == bk.KeyState(bucket=2, last_change_ns=4)


def test_a_route_says_how_long_it_is_valid():
    route = bk.Strategy.calendar(bk.Calendar.DAY).route(bk.KeyState(), bk.Row(time_ns=25 * HOUR))
    assert (route.bucket, route.from_ns, route.until_ns, route.scope) == (1, 24 * HOUR, 48 * HOUR, bk.Scope.RANGE)
    assert bk.Strategy.hash(16).route(bk.KeyState(), bk.Row(id=3)).scope is bk.Scope.ROW


def test_a_read_walks_down():
    reader = bk.Reader(bk.Strategy.probabilistic(9, 40), bk.KeyState(bucket=3), bk.Query(rows=50, plan=bk.Plan.PAIR))
    asked = []
    while (step := reader.next()) is not None:
        asked.append((step.bucket_low, step.bucket_high, step.rows))
        reader.found(30)
    assert asked == [(2, 3, 50), (0, 1, 20)]
    assert (reader.rows_found, reader.partitions_asked, reader.order) == (60, 4, bk.Order.NEWEST_FIRST)
    assert not reader.is_cut_off


def test_a_range_goes_straight_to_its_buckets_by_their_starts():
    query = bk.Query(bk.QueryKind.RANGE, from_ns=15, until_ns=25)
    starts = [bk.BucketStart(1, 10), bk.BucketStart(2, 20), bk.BucketStart(3, 30)]
    reader = bk.Reader(bk.Strategy.probabilistic(9, 40), bk.KeyState(bucket=9), query, starts)
    asked = []
    while (step := reader.next()) is not None:
        asked.append(step.bucket_low)
        reader.found(1, saw_older=False)
    assert asked == [2, 1]


def test_empty_windows_are_remembered():
    strategy, empties = bk.Strategy.time(HOUR), bk.Empties()
    query = bk.Query(rows=1, now_ns=5 * HOUR, birth_ns=0)
    reader = bk.Reader(strategy, bk.KeyState(), query)
    while (step := reader.next(empties)) is not None:
        reader.found(0)
        empties.learn(strategy, reader, query.now_ns, HOUR, step.bucket_low, step.bucket_high)
    assert empties.runs == [(0, 3)] and empties.pass_down(3) == -1 and empties.top(9) == 3
    again = bk.Reader(strategy, bk.KeyState(), query)
    asked = []
    while (step := again.next(empties)) is not None:
        asked.append(step.bucket_low)
        again.found(0)
    assert asked == [5, 4] and again.partitions_spared == 4
    empties.forget(2)
    assert empties.runs == [(0, 1), (3, 3)]
    assert bk.Reader(strategy, bk.KeyState(), query).skip_to(1) == 4


def test_settings_change_from_a_date_on():
    history = bk.History(bk.Strategy.unbucketed())
    history.change(100, bk.Strategy.time(HOUR))
    state = bk.HistoryState()
    assert [history.route(state, bk.Row(time_ns=at)).bucket for at in (99, 100, HOUR)] == [0, 1, 2]
    assert [era.strategy.kind for era in history.eras] == [bk.Kind.UNBUCKETED, bk.Kind.TIME]
    assert history.era_at(99) == 0 and history.era_at(100) == 1
    reader = bk.HistoryReader(history, state, bk.Query(rows=9, now_ns=HOUR, birth_ns=0))
    asked = []
    while (step := reader.next()) is not None:
        asked.append(step.bucket_low)
        reader.found(1)
    assert asked == [2, 1, 0] and reader.rows_found == 3 and reader.partitions_asked == 3
    with pytest.raises(bk.BucketingError) as caught:
        history.change(100, bk.Strategy.unbucketed())
    assert caught.value.status == "BK_ERROR_ERA_TIME"


def test_the_state_of_a_history_of_counts_opens_an_era():
    history, state = bk.History(bk.Strategy.count(10)), bk.HistoryState()
    history.change(100, bk.Strategy.count(5))
    for sequence in range(20):
        row = bk.Row(time_ns=90 + sequence, sequence=sequence)
        history.route(state, row)
        history.advance(state, row)
    assert state.opened == 1 and state.starts[1] == bk.EraStart(10, 1)
    assert history.fires(state, bk.Row(time_ns=50)) is False


def test_a_setting_is_read_and_written():
    text = "bucketing-setting 1\nscenario_digest = 0123456789abcdef\nkind = probabilistic\nbits = 9\nthreshold = 40\n" \
           "coordination = three-state\ncounter = rmw\nlead = 3s\nend\n"
    setting = bk.Setting.parse(text)
    assert setting.strategy == bk.Strategy.probabilistic(9, 40) and setting.lead_ns == 3_000_000_000
    assert setting.print() == text and bk.Setting.parse(text.encode()) == setting
    assert setting.agent_config().coordination is bk.Coordination.THREE_STATE
    with pytest.raises(bk.SettingError) as caught:
        bk.Setting.parse(text.replace("40", "0"))
    assert (caught.value.line, caught.value.status) == (5, "BK_ERROR_SETTING")
