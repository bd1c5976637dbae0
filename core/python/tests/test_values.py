# SPDX-License-Identifier: MIT
"""Enums, defaults and structs equal those of the headers; values survive a round trip through C."""
import dataclasses
import uuid

import pytest

import bucketing as bk
from bucketing import enums
from bucketing._core import ffi, lib
from bucketing._structs import new, read

# The C enum and the prefix of its members, by the name of the Python enum.
ENUMS = {
    "Kind": ("bk_kind", "BK_KIND_"), "Calendar": ("bk_calendar", "BK_CALENDAR_"), "Scope": ("bk_scope", "BK_SCOPE_"),
    "Plan": ("bk_plan", "BK_PLAN_"), "QueryKind": ("bk_query_kind", "BK_QUERY_"),
    "Order": ("bk_order", "BK_ORDER_"), "Coordination": ("bk_coordination", "BK_"),
    "Counter": ("bk_counter", "BK_COUNTER_"), "Source": ("bk_source", "BK_SOURCE_"),
    "ActionKind": ("bk_action_kind", "BK_ACT_"), "OperationStatus": ("bk_operation_status", "BK_OPERATION_"),
    "OutcomeKind": ("bk_outcome_kind", "BK_OUTCOME_"), "IdKind": ("bk_id_kind", "BK_ID_"),
    "IdgenLock": ("bk_idgen_lock", "BK_IDGEN_LOCK_"), "IdgenChoice": ("bk_idgen_choice", "BK_IDGEN_"),
    "IdgenBackoff": ("bk_idgen_backoff", "BK_IDGEN_"), "IdgenActionKind": ("bk_idgen_action_kind", "BK_IDGEN_"),
    "IdgenOutcomeKind": ("bk_idgen_outcome_kind", "BK_IDGEN_"),
}


@pytest.mark.parametrize("name", [name for name, value in vars(enums).items()
                                  if isinstance(value, type) and value.__module__ == enums.__name__])
def test_enum_has_the_members_of_the_header(name):
    tag, prefix = ENUMS[name]
    members = {value: text for value, text in ffi.typeof(f"enum {tag}").elements.items()
               if not text.endswith("KINDS")}
    assert {value: text.removeprefix(prefix) for value, text in members.items()} == {
        int(member): member.name for member in getattr(enums, name)}


@pytest.mark.parametrize("kind, struct, left_out", [
    (bk.Row, "bk_row", set()), (bk.KeyState, "bk_key_state", set()), (bk.Placement, "bk_placement", set()),
    (bk.Effect, "bk_effect", set()), (bk.Step, "bk_read_step", set()), (bk.BucketStart, "bk_bucket_start", set()),
    (bk.Query, "bk_query", {"starts", "start_count"}), (bk.Action, "bk_action", set()),
    (bk.Outcome, "bk_outcome", set()), (bk.AgentConfig, "bk_agent_config", {"reserved"}),
    (bk.AgentStats, "bk_agent_stats", set()), (bk.Setting, "bk_setting", {"reserved"}), (bk.Era, "bk_era", set()),
    (bk.EraStart, "bk_era_start", set()), (bk.HistoryState, "bk_history_state", set()),
    (bk.IdgenConfig, "bk_idgen_config", {"reserved"}), (bk.IdgenColumn, "bk_idgen_column", set()),
    (bk.IdgenAction, "bk_idgen_action", set()), (bk.IdgenOutcome, "bk_idgen_outcome", {"columns", "column_count"}),
])
def test_dataclass_has_the_members_of_the_struct(kind, struct, left_out):
    members = {name for name, _ in ffi.typeof(f"struct {struct}").fields}
    assert {field.name for field in dataclasses.fields(kind)} == members - left_out


def test_every_function_of_the_headers_is_there():
    used = {name for name in dir(lib) if name.startswith("bk_")}
    assert {"bk_agent_write", "bk_route", "bk_idgen_take", "bk_strategy_parse"} <= used
    assert lib.BK_COLUMNS == 4 and bk.__version__ == ffi.string(lib.bk_version()).decode()


def test_defaults_of_an_agent_are_those_of_c():
    strategy = bk.Strategy.probabilistic(9, 40)
    short = bk.AgentConfig(strategy, bk.Coordination.THREE_STATE, lead_ns=5_000_000_000)
    assert short.warnings(0) == [] and [text[:7] for text in short.warnings(1)] == ["lead_ns"]
    assert read(bk.AgentConfig, ffi.new("struct bk_agent_config *", lib.bk_agent_config_default(strategy._c))) == \
        bk.AgentConfig(strategy)


def test_values_survive_a_round_trip_through_c():
    state = bk.HistoryState(bk.KeyState(3, 5, -7, True, 11, 13), True, 2, tuple(
        bk.EraStart(i, -i) for i in range(lib.BK_ERAS_MAX)))
    assert read(bk.HistoryState, new("bk_history_state", state)) == state
    config = bk.AgentConfig(bk.Strategy.count(7), source=bk.Source.LEASE, history=bk.History(bk.Strategy.count(7)))
    again = read(bk.AgentConfig, new("bk_agent_config", config))
    assert [era.strategy for era in again.history.eras] == [bk.Strategy.count(7)]
    assert dataclasses.replace(again, history=None) == dataclasses.replace(config, history=None)


def test_a_number_that_does_not_fit_is_refused():
    with pytest.raises(OverflowError):
        bk.Strategy.hash(-1)
    with pytest.raises(OverflowError):
        bk.Strategy.count(7).route(bk.KeyState(), bk.Row(sequence=1 << 64))


def test_an_error_has_its_status_and_text():
    with pytest.raises(bk.BucketingError, match="threshold must be at least 1") as caught:
        bk.Strategy.probabilistic(9, 0)
    assert caught.value.status == "BK_ERROR_THRESHOLD"


def test_hashes_and_ids():
    assert bk.murmur3_128(b"").h1 == 0
    # Guava: Hashing.murmur3_128().hashString("hello", UTF_8)
    assert bk.murmur3_128(b"hello").h1.to_bytes(8, "little").hex() == "029bbd41b3a7d8cb"
    assert bk.bucket_of_id(12345, 64) == bk.consistent_hash(bk.murmur3_128_u64(12345).h1, 64)
    assert bk.consistent_hash(1, 0) == -1
    assert bk.key_of("room-7") == bk.murmur3_128(b"room-7").h1
    assert bk.murmur3_128_cassandra(bytes([200, 201])) != bk.murmur3_128(bytes([200, 201]))
    identifier = uuid.UUID("7f1b0ac4-2c3d-11ee-be56-0242ac120002")
    assert bk.id_bits(bk.IdKind.TIMEUUID, identifier.bytes) == bk.murmur3_128(identifier.bytes).h1
    with pytest.raises(bk.BucketingError) as caught:
        bk.id_bits(bk.IdKind.UUID4, identifier.bytes)
    assert caught.value.status == "BK_ERROR_ID"
