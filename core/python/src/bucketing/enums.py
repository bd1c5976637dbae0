# SPDX-License-Identifier: MIT
"""The enums of the C headers, without the prefixes of their names; the headers explain them."""
import enum


class Kind(enum.IntEnum):
    UNBUCKETED = 0
    TIME = 1
    COUNT = 2
    PROBABILISTIC = 3
    HASH = 4
    WEIGHTED = 5


class Calendar(enum.IntEnum):
    NONE = 0
    HOUR = 1
    DAY = 2
    WEEK = 3
    MONTH = 4


class Scope(enum.IntEnum):
    RANGE = 0
    ROW = 1


class Plan(enum.IntEnum):
    DEFAULT = 0
    WALK = 1
    PAIR = 2
    ALL = 3
    LAZY = 4
    PARALLEL = 5


class QueryKind(enum.IntEnum):
    LATEST = 0
    RANGE = 1
    ALL = 2


class Order(enum.IntEnum):
    NEWEST_FIRST = 0
    MERGED = 1
    NONE = 2


class Coordination(enum.IntEnum):
    SINGLE = 0
    LOCKED = 1
    THREE_STATE = 2
    GUARDED = 3


class Counter(enum.IntEnum):
    RMW = 0
    LWT = 1
    NATIVE = 2


class Source(enum.IntEnum):
    EXTERNAL = 0
    COUNTER = 1
    LWT = 2
    LEASE = 3
    INCREMENTAL = 4
    SCAN = 5
    MEMORY = 6


class ActionKind(enum.IntEnum):
    PUT_ROW = 0
    READ_STATE = 1
    WRITE_STATE = 2
    CAS_STATE = 3
    ADD_COUNTER = 4
    READ_COUNTER = 5
    READ_START = 6
    WRITE_START = 7
    CAS_LOCK = 8
    COUNT_ROWS = 9
    READ_ROWS = 10
    ACK = 11
    DONE = 12


class OperationStatus(enum.IntEnum):
    OK = 0
    REFUSED = 1
    UNKNOWN = 2
    TOO_LONG = 3


class OutcomeKind(enum.IntEnum):
    UNKNOWN = 0
    APPLIED = 1
    NOT_APPLIED = 2
    REFUSED = 3


class IdKind(enum.IntEnum):
    TIMEUUID = 0
    UUID4 = 1
    UUID7 = 2
    ULID = 3
    SNOWFLAKE = 4
    BYTES = 5


class IdgenLock(enum.IntEnum):
    COLUMNS = 0
    LWT = 1


class IdgenChoice(enum.IntEnum):
    FIXED = 0
    ROTATE = 1
    RANDOM = 2


class IdgenBackoff(enum.IntEnum):
    CONSTANT = 0
    EXPONENTIAL = 1
    RANDOM_TIMES = 2


class IdgenActionKind(enum.IntEnum):
    WRITE_COLUMN = 0
    READ_COLUMNS = 1
    DELETE_COLUMNS = 2
    CAS_LOCK = 3
    READ_LAST = 4
    WRITE_LAST = 5
    CAS_LAST = 6
    READY = 7
    FAILED = 8


class IdgenOutcomeKind(enum.IntEnum):
    UNKNOWN = 0
    APPLIED = 1
    NOT_APPLIED = 2
    REFUSED = 3
