# SPDX-License-Identifier: MIT
"""Tests agents and identifiers over dictionaries as database, with outcomes of all kinds."""
import random
import threading

import pytest

import bucketing as bk


class Clock:
    def __init__(self):
        self.now_ns = 1_000_000

    def __call__(self):
        self.now_ns += 1000
        return self.now_ns


class Database:
    """A host. One action in `of` is refused or has an unknown outcome."""

    def __init__(self, of=0, seed=1):
        self.rows, self.states, self.locks, self.counters, self.starts = {}, {}, {}, {}, {}
        self.random, self.of = random.Random(seed), of

    def perform(self, action):
        if self.of and self.random.randrange(self.of) == 0:
            if self.random.randrange(2) == 0:
                return bk.Outcome.refused()
            self.effect(action)
            return bk.Outcome.unknown()
        return self.effect(action)

    def compare_and_set(self, table, action):
        now = table.get(action.key)
        if action.condition != ({} if now is None else {i: now.get(i) for i in action.condition}) or (
                now is not None and not action.condition):
            return bk.Outcome.not_applied(now)
        table.setdefault(action.key, {}).update(action.sets)
        return bk.Outcome.applied()

    def effect(self, action):
        partition = (action.key, action.bucket)
        match action.kind:
            case bk.ActionKind.PUT_ROW:
                self.rows.setdefault(partition, set()).add((action.row.time_ns, action.row.id))
            case bk.ActionKind.READ_STATE:
                return bk.Outcome.applied(self.states.get(action.key))
            case bk.ActionKind.WRITE_STATE:
                self.states.setdefault(action.key, {}).update(action.sets)
            case bk.ActionKind.CAS_STATE:
                return self.compare_and_set(self.states, action)
            case bk.ActionKind.CAS_LOCK:
                return self.compare_and_set(self.locks, action)
            case bk.ActionKind.ADD_COUNTER:
                self.counters[partition] = self.counters.get(partition, 0) + action.amount
            case bk.ActionKind.READ_COUNTER:
                return bk.Outcome.applied(counter=self.counters.get(partition, 0))
            case bk.ActionKind.READ_START:
                return bk.Outcome.applied(self.starts.get(partition))
            case bk.ActionKind.WRITE_START:
                self.starts[partition] = action.sets
            case bk.ActionKind.COUNT_ROWS:
                after = tuple(action.sets.values()) or (-(1 << 63), -(1 << 63))
                places = [(at, bits - (bits >> 63 << 64)) for at, bits in self.rows.get(partition, ())]
                newer = [place for place in places if place > after]
                return bk.Outcome.applied(max(newer) if newer else None, rows=len(newer))
            case bk.ActionKind.READ_ROWS:
                found = [len(self.rows.get((action.key, bucket), ())) for bucket in
                         range(action.step.bucket_low, action.step.bucket_high + 1)]
                return bk.Outcome.applied(rows=min(sum(found), action.step.rows))
            case _:
                raise AssertionError(action)
        return bk.Outcome.applied()


CONFIGS = {
    "single": bk.AgentConfig(bk.Strategy.probabilistic(2, 5)),
    "locked": bk.AgentConfig(bk.Strategy.probabilistic(2, 5), bk.Coordination.LOCKED, agent_id=1),
    "three-state": bk.AgentConfig(bk.Strategy.probabilistic(2, 5), bk.Coordination.THREE_STATE, bk.Counter.LWT,
                                  lead_ns=100_000, cache_ttl_ns=10_000),
    "guarded": bk.AgentConfig(bk.Strategy.probabilistic(2, 5), bk.Coordination.GUARDED, bk.Counter.NATIVE,
                              grant_ns=100_000, agent_id=1, retry_backoff_ns=1000),
    "lease": bk.AgentConfig(bk.Strategy.count(20), source=bk.Source.LEASE, lease_rows=7),
    "incremental": bk.AgentConfig(bk.Strategy.count(20), source=bk.Source.INCREMENTAL, every_rows=4),
    "scan": bk.AgentConfig(bk.Strategy.count(20), source=bk.Source.SCAN, every_rows=4),
    "memory": bk.AgentConfig(bk.Strategy.count(20), source=bk.Source.MEMORY),
    "counter": bk.AgentConfig(bk.Strategy.count(20), source=bk.Source.COUNTER),
    "time": bk.AgentConfig(bk.Strategy.time(100_000), remember_keys=4),
}


def drive(agent, database):
    """Uses a simulated clock, so the test does not sleep."""
    told = []
    while True:
        for action in agent.actions():
            if action.kind in (bk.ActionKind.ACK, bk.ActionKind.DONE):
                told.append(action)
            else:
                agent.outcome(action, database.perform(action))
        if (deadline := agent.deadline()) is None:
            return told
        agent.now.now_ns = max(agent.now.now_ns, deadline)
        agent.tick()


@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("of", [0, 10])
def test_every_acknowledged_row_is_stored_in_the_bucket_that_was_reported(name, of):
    database, clock, draws = Database(of), Clock(), random.Random(7)
    agent = bk.Agent(CONFIGS[name], clock=clock)
    acknowledged = buckets = 0
    for i in range(150):
        row = bk.Row(time_ns=clock(), sequence=i, id=draws.getrandbits(64))
        agent.write(7, row)
        told = drive(agent, database)
        assert told[-1].kind is bk.ActionKind.DONE
        for ack in told[:-1]:
            acknowledged += 1
            assert (row.time_ns, row.id) in database.rows[7, ack.bucket]
            buckets = max(buckets, ack.bucket + 1)
        if i % 50 == 0:  # a restart, between operations
            agent = bk.Agent(CONFIGS[name], agent.save(), clock)
    assert acknowledged > 125 and buckets > 2
    agent.read_latest(7, 30, newest_sequence=149)
    done = drive(agent, database)[-1]
    assert done.status is bk.OperationStatus.OK or of
    assert done.rows_found == 30 or of
    assert agent.stats().under_way == 0


def test_conditional_update_completes_a_state_that_lacks_columns():
    agent = bk.Agent(bk.AgentConfig(bk.Strategy.probabilistic(0, 3), counter=bk.Counter.LWT), clock=Clock())
    database = Database()
    database.states[7] = {1: 1}
    agent.write(7, bk.Row(time_ns=1, id=0))
    asked = []
    list(agent.run(lambda action: asked.append(action) or database.perform(action)))
    assert [action.condition for action in asked if action.kind is bk.ActionKind.CAS_STATE] == [
        {0: None, 1: 1, 2: None, 3: None}]
    assert database.states[7] == {0: 0, 1: 2, 2: 0, 3: 0}


def test_a_checkpoint_keeps_what_is_under_way():
    agent = bk.Agent(CONFIGS["single"], clock=Clock())
    agent.write(7, bk.Row())
    asked = next(agent.actions())
    assert asked.kind is bk.ActionKind.READ_STATE and agent.stats().under_way == 1
    again = bk.Agent(CONFIGS["single"], agent.save(), clock=Clock())
    again.outcome(asked, bk.Outcome.applied({0: 4, 1: 0, 2: 0, 3: 0}))
    assert [(action.kind, action.bucket) for action in again.actions()] == [(bk.ActionKind.PUT_ROW, 4)]
    assert again.view(7) == (4, False) and again.view(8) is None
    with pytest.raises(bk.BucketingError) as caught:
        bk.Agent(CONFIGS["locked"], agent.save())
    assert caught.value.status == "BK_ERROR_CHECKPOINT"
    with pytest.raises(bk.BucketingError):
        bk.Agent(CONFIGS["single"], agent.save()[:-1])


def test_misuse_is_an_exception_and_changes_nothing():
    agent = bk.Agent(bk.AgentConfig(bk.Strategy.probabilistic(2, 5), operations=1), clock=Clock())
    agent.write(7, bk.Row())
    stale = next(agent.actions())
    agent.outcome(stale, bk.Outcome())  # unknown, so it is asked again
    again = next(agent.actions())
    assert (again.kind, again.operation) == (stale.kind, stale.operation)
    other = bk.Agent(bk.AgentConfig(bk.Strategy.probabilistic(2, 5), agent_id=2), clock=Clock())
    other.write(7, bk.Row())
    for late in stale, next(other.actions()):
        with pytest.raises(bk.BucketingError) as caught:
            agent.outcome(late, bk.Outcome.applied({0: 4, 1: 0, 2: 0, 3: 0}))
        assert caught.value.status == "BK_ERROR_OPERATION"
    assert list(agent.actions()) == [] and agent.view(7) is None
    with pytest.raises(bk.Busy):
        agent.write(7, bk.Row())
    with pytest.raises(bk.BucketingError) as caught:
        bk.Agent(bk.AgentConfig(bk.Strategy.count(3), bk.Coordination.GUARDED))
    assert caught.value.status == "BK_ERROR_COORDINATION"


def test_run_waits_for_the_deadline():
    agent = bk.Agent(bk.AgentConfig(bk.Strategy.probabilistic(2, 5), retry_backoff_ns=2_000_000))
    answers = [bk.Outcome.refused(), bk.Outcome.applied(), bk.Outcome.applied()]
    begun = agent.now()
    agent.write(7, bk.Row(time_ns=begun, id=0))
    told = [action.kind for action in agent.run(lambda action: answers.pop(0))]
    assert told == [bk.ActionKind.ACK, bk.ActionKind.DONE] and agent.now() - begun >= 2_000_000


def test_settings_change_while_an_agent_runs():
    agent = bk.Agent(bk.AgentConfig(bk.Strategy.time(1000)), clock=Clock())
    history = bk.History(bk.Strategy.time(1000))
    history.change(5000, bk.Strategy.time(10_000))
    agent.change(history)
    agent.write(7, bk.Row(time_ns=6000))
    assert next(agent.actions()).bucket == 5
    agent.read(7, bk.Query(bk.QueryKind.ALL, now_ns=0, birth_ns=0))


def test_threads_may_share_an_agent():
    agent = bk.Agent(bk.AgentConfig(bk.Strategy.hash(4), operations=64), clock=Clock())
    done = []

    def work():
        for i in range(200):
            agent.write(i, bk.Row(id=i))
            for action in agent.actions():
                if action.kind is bk.ActionKind.PUT_ROW:
                    agent.outcome(action, bk.Outcome.applied())
                elif action.kind is bk.ActionKind.DONE:
                    done.append(action.status)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert done == [bk.OperationStatus.OK] * 800


@pytest.mark.parametrize("lock", list(bk.IdgenLock))
def test_identifiers_never_repeat(lock):
    columns, row, last = {}, None, None

    def perform(action):
        nonlocal row, last
        kinds = bk.IdgenActionKind
        own = action.columns[:action.column_count]
        match action.kind:
            case kinds.WRITE_COLUMN:
                columns[own[0].client] = own[0].until_ns
            case kinds.READ_COLUMNS:
                return [bk.IdgenColumn(*column) for column in columns.items()]
            case kinds.DELETE_COLUMNS:
                for column in own:
                    columns.pop(column.client, None)
            case kinds.READ_LAST:
                return bk.IdgenOutcome(bk.IdgenOutcomeKind.APPLIED, last is not None, (last or 0,))
            case kinds.WRITE_LAST | kinds.CAS_LAST:
                last = action.set[0]
            case kinds.CAS_LOCK:
                if (row is None) != action.if_absent or (row is not None and row != action.expected):
                    return bk.IdgenOutcome(bk.IdgenOutcomeKind.NOT_APPLIED, row is not None, row or ())
                row = action.set
        return bk.IdgenOutcome(bk.IdgenOutcomeKind.APPLIED)

    taken = []
    clients = [bk.Idgen(bk.IdgenConfig(i + 1, batch=10, lock=lock)) for i in range(2)]
    for i in range(50):
        taken += [client.new_identifier(perform) for client in clients]
        if i == 25:
            clients[0] = bk.Idgen(bk.IdgenConfig(1, batch=10, lock=lock), clients[0].save())
    assert len(set(taken)) == 100 and max(taken) <= 110
    assert clients[0].take() is None and clients[0].in_hand == 0 and clients[0].deadline() is None
