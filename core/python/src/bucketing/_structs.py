# SPDX-License-Identifier: MIT
"""Converts dataclasses to C structs and back, member by member, and statuses to exceptions."""
import dataclasses
import enum
import functools
import types
import typing
from typing import Any, TypeVar

from ._core import ffi, lib

T = TypeVar("T")


class BucketingError(ValueError):
    """The core refused a call, which changed nothing. `status` is the name in C, such as BK_ERROR_BITS."""

    def __init__(self, status: str, text: str) -> None:
        super().__init__(text)
        self.status = status


class Busy(BucketingError):
    """BK_ERROR_BUSY: the agent has no free operation; try again once one has ended."""


def check(status: int) -> None:
    if status != lib.BK_OK:
        name = ffi.typeof("enum bk_status").elements.get(status, "unknown status")
        text = ffi.string(lib.bk_status_text(status)).decode()
        raise (Busy if status == lib.BK_ERROR_BUSY else BucketingError)(name, text)


def fill(target: Any, value: Any) -> None:
    """Copies the members of a dataclass into a C struct; None leaves a member 0."""
    for field in dataclasses.fields(value):
        member = getattr(value, field.name)
        if member is None:
            continue
        if hasattr(member, "_copy_to"):
            member._copy_to(ffi.addressof(target, field.name))
        elif dataclasses.is_dataclass(member):
            fill(getattr(target, field.name), member)
        elif isinstance(member, tuple):
            for i, item in enumerate(member):
                _put(getattr(target, field.name), i, item)
        else:
            setattr(target, field.name, member)


def _put(array: Any, i: int, item: Any) -> None:
    if dataclasses.is_dataclass(item):
        fill(array[i], item)
    else:
        array[i] = item


def new(name: str, value: Any) -> Any:
    target = ffi.new(f"struct {name} *")
    fill(target, value)
    return target


@functools.cache
def _types(kind: Any) -> list[tuple[str, Any]]:
    """Returns the members with their types; the type of `X | None` is X."""
    hints = typing.get_type_hints(kind)
    return [(field.name, next(iter(typing.get_args(hints[field.name])), hints[field.name])
             if isinstance(hints[field.name], types.UnionType) else hints[field.name])
            for field in dataclasses.fields(kind)]


def read(kind: type[T], source: Any) -> T:
    """Returns a dataclass with the values of a C struct."""
    return kind(**{name: _value(hint, getattr(source, name)) for name, hint in _types(typing.cast(Any, kind))})


def _value(hint: Any, value: Any) -> Any:
    if typing.get_origin(hint) is tuple:
        item = typing.get_args(hint)[0]
        return tuple(_value(item, value[i]) for i in range(len(value)))
    if hasattr(hint, "_copy_from"):
        return hint._copy_from(value)
    if dataclasses.is_dataclass(hint):
        return read(typing.cast(type, hint), value)
    return hint(value) if hint in (int, bool) or isinstance(hint, enum.EnumMeta) else value
