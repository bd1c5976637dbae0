# SPDX-License-Identifier: MIT
"""Hashes, and the random bits of ids: hash.h and id.h."""
import typing

from ._core import ffi, lib
from ._structs import check
from .enums import IdKind


class Hash128(typing.NamedTuple):
    h1: int
    h2: int


def murmur3_128(data: bytes, seed: int = 0) -> Hash128:
    hashed = lib.bk_murmur3_128(data, len(data), seed)
    return Hash128(hashed.h1, hashed.h2)


def murmur3_128_cassandra(data: bytes, seed: int = 0) -> Hash128:
    """Cassandra's variant: h1 is the token, as an unsigned number."""
    hashed = lib.bk_murmur3_128_cassandra(data, len(data), seed)
    return Hash128(hashed.h1, hashed.h2)


def murmur3_128_u64(value: int) -> Hash128:
    hashed = lib.bk_murmur3_128_u64(value)
    return Hash128(hashed.h1, hashed.h2)


def key_of(name: str | bytes) -> int:
    """The number that identifies a key in calls of an agent: h1 of its bytes."""
    return murmur3_128(name.encode() if isinstance(name, str) else name).h1


def consistent_hash(value: int, buckets: int) -> int:
    """The consistent hash of Guava; -1 if the number of buckets is not 1 to 2^31 - 1."""
    return int(lib.bk_consistent_hash(value, buckets))


def bucket_of_id(id: int, buckets: int) -> int:
    return int(lib.bk_bucket_of_id(id, buckets))


def id_bits(kind: IdKind, id: bytes) -> int:
    """64 random bits of an id, for Row.id. The bytes are in Cassandra's order, as in uuid.UUID.bytes."""
    bits = ffi.new("uint64_t *")
    check(lib.bk_id_bits(kind, id, len(id), bits))
    return int(bits[0])
