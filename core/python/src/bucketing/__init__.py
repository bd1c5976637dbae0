# SPDX-License-Identifier: MIT
"""libbucketing for Python: which bucket a row belongs in, and how processes agree on it.

Names are those of the C headers without the prefix bk_; the headers explain them. Numbers have the ranges of C: times
are ns since 1970 in 64 bits, and a number that does not fit raises an OverflowError. A refused call raises a
BucketingError with the status, and changes nothing. Objects own their memory and copy their arguments.
"""
from ._core import ffi as _ffi
from ._core import lib as _lib
from ._structs import BucketingError, Busy
from .agent import Action, Agent, AgentConfig, AgentStats, Outcome
from .enums import (ActionKind, Calendar, Coordination, Counter, IdgenActionKind, IdgenBackoff, IdgenChoice, IdgenLock,
                    IdgenOutcomeKind, IdKind, Kind, OperationStatus, Order, OutcomeKind, Plan, QueryKind, Scope, Source)
from .hashes import (Hash128, bucket_of_id, consistent_hash, id_bits, key_of, murmur3_128, murmur3_128_cassandra,
                     murmur3_128_u64)
from .history import Era, EraStart, History, HistoryReader, HistoryState
from .idgen import Idgen, IdgenAction, IdgenColumn, IdgenConfig, IdgenOutcome
from .reader import BucketStart, Empties, Query, Reader, Step
from .setting import Setting, SettingError
from .strategy import Effect, KeyState, Placement, Row, Strategy

__version__: str = _ffi.string(_lib.bk_version()).decode()

__all__ = [
    "Action", "ActionKind", "Agent", "AgentConfig", "AgentStats", "BucketStart", "BucketingError", "Busy", "Calendar",
    "Coordination", "Counter", "Effect", "Empties", "Era", "EraStart", "Hash128", "History", "HistoryReader",
    "HistoryState", "IdKind", "Idgen", "IdgenAction", "IdgenActionKind", "IdgenBackoff", "IdgenChoice", "IdgenColumn",
    "IdgenConfig", "IdgenLock", "IdgenOutcome", "IdgenOutcomeKind", "KeyState", "Kind", "OperationStatus", "Order",
    "Outcome", "OutcomeKind", "Placement", "Plan", "Query", "QueryKind", "Reader", "Row", "Scope", "Setting",
    "SettingError", "Source", "Step", "Strategy", "bucket_of_id", "consistent_hash", "id_bits", "key_of",
    "murmur3_128", "murmur3_128_cassandra", "murmur3_128_u64",
]
