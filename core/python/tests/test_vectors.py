# SPDX-License-Identifier: MIT
"""Runs the vectors of core/vectors through the package. Each case has inputs and the exact outputs.

docs/porting.md describes the cases."""
import dataclasses
import json
import pathlib

import pytest

import bucketing as bk

FILES = sorted((pathlib.Path(__file__).resolve().parents[2] / "vectors").glob("*.json"))
NO_ROUTE = [[0, 0, 0, 0, 0], [0, 0]]


def digits_to_numbers(node):
    """Converts strings of digits, which are numbers beyond 2^53."""
    if isinstance(node, dict):
        return {name: value if name == "bytes" and isinstance(value, str) else digits_to_numbers(value)
                for name, value in node.items()}
    if isinstance(node, list):
        return [digits_to_numbers(value) for value in node]
    return int(node) if isinstance(node, str) and node.lstrip("-").isdigit() else node


def tried(call, *arguments, **options):
    """Returns the name of the status and the result of the call, which is None if the call was refused."""
    try:
        return "BK_OK", call(*arguments, **options)
    except bk.BucketingError as error:
        return error.status, None


def filled(dataclass, node, **more):
    """Returns a dataclass with the members that the case has."""
    names = {field.name for field in dataclasses.fields(dataclass)} - more.keys()
    return dataclass(**{name: value for name, value in node.items() if name in names}, **more)


def strategy_of(node):
    of = {name: node.get(name, 0) for name in ("window_ns", "epoch_ns", "rows", "bits", "chance_numerator",
                                               "chance_denominator", "threshold", "buckets", "bytes")}
    made = {
        "time": lambda: bk.Strategy.calendar(node["calendar"]) if "calendar" in node
        else bk.Strategy.time(of["window_ns"], of["epoch_ns"]),
        "count": lambda: bk.Strategy.count(of["rows"]),
        "probabilistic": lambda: bk.Strategy.probabilistic_chance(
            of["chance_numerator"], of["chance_denominator"], of["threshold"])
        if "chance_denominator" in node else bk.Strategy.probabilistic(of["bits"], of["threshold"]),
        "hash": lambda: bk.Strategy.hash(of["buckets"]),
        "weighted": lambda: bk.Strategy.weighted(of["bytes"], of["threshold"]),
        "unbucketed": bk.Strategy.unbucketed,
    }[node["kind"]]()
    made = made.with_shards(node["shards"]) if "shards" in node else made
    return made.with_max_age(node["max_age_ns"]) if "max_age_ns" in node else made


def history_of(eras):
    history = bk.History(strategy_of(eras[0][1]))
    for from_ns, strategy in eras[1:]:
        history.change(from_ns, strategy_of(strategy))
    return history


def query_of(node):
    query = node["query"]
    starts = [bk.BucketStart(*start) for start in node.get("starts", [])]
    return filled(bk.Query, query, kind=bk.QueryKind[query["kind"]], plan=bk.Plan[query["plan"]]), starts


def of_row(node, target, state):
    """Routes the case's row and advances the state. Returns what the case must contain."""
    row = bk.Row(*node["row"])
    status, route = tried(target.route, state, row)
    got = {"status": status}
    got["route"], got["sequences"] = NO_ROUTE if route is None else [
        [route.bucket, route.scope, route.begins, route.from_ns, route.until_ns],
        [route.sequence_low, route.sequence_high]]
    if isinstance(target, bk.History):
        got |= {"era": target.era_at(row.time_ns), "fires": target.fires(state, row)}
    else:
        got["weight"] = target.weight(row)
    _, effect = tried(target.advance, state, row)
    got["effect"] = [0, 0, 0] if effect is None else list(dataclasses.astuple(effect))
    return got


def agree(node, got):
    """Omits members that are 0."""
    assert got == {name: node.get(name, 0) for name in got}


def check_hash(case):
    data, value, buckets = bytes.fromhex(case["bytes"]), case.get("input", 0), case["buckets"]
    plain, own = (hashed(data, case.get("seed", 0)) for hashed in (bk.murmur3_128, bk.murmur3_128_cassandra))
    agree(case, {"h1": plain.h1, "h2": plain.h2, "cassandra_h1": own.h1, "cassandra_h2": own.h2,
                 "consistent_hash": bk.consistent_hash(value, buckets), "u64_h1": bk.murmur3_128_u64(value).h1,
                 "bucket_of_id": bk.bucket_of_id(value, buckets)})


def check_id(case):
    status, bits = tried(bk.id_bits, bk.IdKind[case["kind"].upper().replace(" V", "")], bytes.fromhex(case["bytes"]))
    agree(case, {"status": status, "bits": bits or 0})


def check_route(case):
    strategy, state = strategy_of(case["strategy"]), bk.KeyState(*case["state"])
    for node in case["rows"]:
        agree(node, of_row(node, strategy, state) | {"state": list(dataclasses.astuple(state))})


def answer(reader, told, step):
    """Reports a step's rows; the step must equal the case's."""
    wanted = told["step"]
    assert list(dataclasses.astuple(step))[:len(wanted)] == wanted
    is_range = len(wanted) == 5
    reader.found(told.get("rows", 0), bool(told.get("saw_older", 0)) if is_range else None)


def check_read(case):
    strategy, state, known = strategy_of(case["strategy"]), bk.KeyState(*case["state"]), bk.Empties()
    for node in case["reads"]:
        query, starts = query_of(node)
        status, reader = tried(bk.Reader, strategy, state, query, starts)
        end, is_cut_off = [0, 0, 0, 0], False
        for told in node["steps"]:
            step = reader.next(known)
            answer(reader, told, step)
            if "learn" in told:
                known.learn(strategy, reader, query.now_ns, told["learn"][0], step.bucket_low, step.bucket_high)
            if "skip" in told:
                assert reader.skip_to(told["skip"][0]) == told["skip"][1]
            if "forget" in told:
                known.forget(told["forget"][0])
        if reader is not None:
            assert len(node["steps"]) == 30 or reader.next(known) is None
            end = [reader.rows_found, reader.partitions_asked, reader.partitions_spared, reader.order]
            is_cut_off = reader.is_cut_off
        bucket = node["pass_top"][0]
        agree(node, {"status": status, "end": end, "empties": [end for run in known.runs for end in run],
                     "ended": "BK_ERROR_WALK_TOO_LONG" if is_cut_off else "BK_OK",
                     "pass_top": [bucket, known.pass_down(bucket), known.top(bucket)]})


def check_history(case):
    history, state = history_of(case["history"]), bk.HistoryState()
    for node in case["rows"]:
        got = of_row(node, history, state)
        starts = [list(dataclasses.astuple(start)) for start in state.starts[1:state.opened + 1]]
        agree(node, got | {"state": list(dataclasses.astuple(state.key)), "opened": [state.has_rows, state.opened],
                           "starts": sum(starts, [])})
        if "read" in node:
            check_history_read(history, state, node["read"])


def check_history_read(history, state, node):
    status, reader = tried(bk.HistoryReader, history, state, *query_of(node))
    for told in node["steps"]:
        answer(reader, told, reader.next())
    assert reader is None or len(node["steps"]) == 30 or reader.next() is None
    end = [0, 0, 0] if reader is None else [reader.rows_found, reader.partitions_asked, reader.order]
    agree(node, {"status": status, "end": end})


def of_action(node, action):
    got = {name: getattr(action, name) for name in (
        "operation", "key", "bucket", "is_retry", "serial", "if_null_mask", "amount", "mask", "if_mask", "fired",
        "counted", "rows_found", "partitions_asked", "partitions_spared", "order")}
    got["kind"] = action.kind.name
    if "status" in node or action.status is not bk.OperationStatus.OK:
        got["status"] = action.status.name
    for name in {"row", "step"} & node.keys():
        got[name] = list(dataclasses.astuple(getattr(action, name)))[:len(node[name])]
    for name, has in (("columns", action.mask), ("expected", action.if_mask)):
        if has:
            got[name] = list(getattr(action, name))
    return got


def tell_agent(agent, event, asked):
    """Returns the status, and the operation that the call began or ended."""
    now, key = event.get("now", 0), event.get("key", 0)
    match event["event"]:
        case "write":
            return tried(agent.write, key, bk.Row(*event["row"]), now_ns=now)
        case "read":
            query, starts = query_of(event)
            return tried(agent.read, key, query, starts=starts, now_ns=now,
                         newest_sequence=event.get("newest_sequence", 0))
        case "outcome":
            outcome = filled(bk.Outcome, event, kind=bk.OutcomeKind[event["outcome"]],
                             columns=tuple(event.get("columns", ())))
            operation = event.get("operation", 0)
            return tried(agent.outcome, asked[operation], outcome, now_ns=now)[0], operation
        case "tick":
            return tried(agent.tick, now_ns=now)
        case "change":
            return tried(agent.change, history_of(event["history"]))
        case "view":
            known = agent.view(key, now_ns=now)
            assert event.get("known") == (None if known is None else list(known))
    return "BK_OK", None


def check_agent(case):
    node = case["config"]
    config = filled(bk.AgentConfig, {name: 0 for name in bk.AgentConfig.__slots__} | node, **{
        "strategy": strategy_of(node["strategy"]),
        "coordination": bk.Coordination[node["coordination"]],
        "counter": bk.Counter[node["counter"]], "source": bk.Source[node["source"]],
        "history": history_of(node["history"]) if "history" in node else None})
    agent = bk.Agent(config)
    asked = {}
    for event in case["events"]:
        status, operation = tell_agent(agent, event, asked)
        assert status == event.get("status", "BK_OK")
        assert (operation or 0) == event.get("operation", 0)
        asked |= {action.operation: action for action in judge_actions(agent, event, of_action)}
    assert list(dataclasses.astuple(agent.stats(now_ns=case["now"]))) == case["stats"]


def judge_actions(machine, event, of):
    actions, wanted = list(machine.actions()), event.get("actions", [])
    assert len(actions) == len(wanted)
    for action, node in zip(actions, wanted):
        agree(node, of(node, action))
    assert machine.deadline() == event.get("deadline")
    return [action for action in actions if action.ticket]


def of_idgen_action(node, action):
    columns = [list(dataclasses.astuple(column)) for column in action.columns[:action.column_count]]
    got = {"kind": action.kind.name, "stripe": action.stripe, "if_absent": action.if_absent,
           "is_retry": action.is_retry}
    got |= {name: list(value) for name, value in (("expected", action.expected), ("set", action.set)) if any(value)}
    got |= {"columns": columns} if columns else {}
    status, _ = tried(bk.idgen.check, action.status)
    return got | ({"status": status} if status != "BK_OK" else {})


def check_idgen(case):
    node = case["config"]
    config = filled(bk.IdgenConfig, {name: 0 for name in bk.IdgenConfig.__slots__} | node,
                    choice=bk.IdgenChoice[node["choice"]], lock=bk.IdgenLock[node["lock"]],
                    backoff=bk.IdgenBackoff[node["backoff"]])
    idgen = bk.Idgen(config)
    asked = []
    for event in case["events"]:
        now, got = event.get("now", 0), {}
        match event["event"]:
            case "take":
                identifier = idgen.take(now_ns=now)
                got = {"id": identifier} if identifier is not None else {"status": "BK_ERROR_EMPTY", "id": 0}
            case "outcome":
                outcome = bk.IdgenOutcome(bk.IdgenOutcomeKind[event["outcome"]], bool(event.get("found", 0)),
                                          tuple(event.get("values", ())))
                columns = [bk.IdgenColumn(*column) for column in event.get("columns", [])]
                idgen.outcome(asked[-1], outcome, columns, now_ns=now)
            case "tick":
                idgen.tick(now_ns=now)
        agree(event, got)
        asked += judge_actions(idgen, event, of_idgen_action)


CHECKS = {"hash": check_hash, "id": check_id, "route": check_route, "read": check_read, "history": check_history,
          "agent": check_agent, "idgen": check_idgen}


def test_every_family_has_vectors():
    if not FILES:
        pytest.skip("no vectors beside the package")
    assert {path.stem.split("-")[0] for path in FILES} == CHECKS.keys()


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_vectors(path):
    for case in digits_to_numbers(json.loads(path.read_text(encoding="utf-8"))):
        CHECKS[path.stem.split("-")[0]](case)
