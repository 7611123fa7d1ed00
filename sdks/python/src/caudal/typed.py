"""Variables into the user's types, and results back into JSON."""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from enum import Enum
from typing import Any
from uuid import UUID

from caudal.errors import NonRetryableError


class DecodeError(NonRetryableError):
    """A value does not fit the type its handler asks for. Trying again cannot help."""


def decode(kind: Any, value: Any, at: str = "variables") -> Any:
    """``value`` as a ``kind``: a dataclass, a pydantic model, a builtin, or a list, dict or union of those."""
    if kind is Any or kind is None:
        return value
    if hasattr(kind, "model_validate"):
        return _pydantic(kind, value, at)
    if dataclasses.is_dataclass(kind):
        return _dataclass(typing.cast(type, kind), value, at)
    if typing.is_typeddict(kind):
        return _expect(dict, value, at)
    origin = typing.get_origin(kind)
    if origin is not None:
        return _generic(kind, origin, value, at)
    if isinstance(kind, type) and issubclass(kind, Enum | datetime | date | UUID):
        return _from_text(kind, value, at)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return _expect(type(None) if kind is type(None) else kind, value, at)


def encode(value: Any) -> Any:
    """``value`` as JSON has it."""
    if isinstance(value, float) and not math.isfinite(value):
        raise NonRetryableError(f"{value} cannot be written as JSON")
    if value is None or (isinstance(value, str | bool | int | float) and not isinstance(value, Enum)):
        return value
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: encode(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(name): encode(item) for name, item in value.items()}
    if isinstance(value, Enum):
        return encode(value.value)
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, Sequence | set | frozenset) and not isinstance(value, bytes | bytearray):
        return [encode(item) for item in value]
    raise NonRetryableError(f"a {type(value).__name__} cannot be written as JSON")


def encode_variables(value: Any) -> dict[str, Any]:
    """What a handler returned as variables: an object, or nothing."""
    try:
        encoded = encode(value)
    except (ValueError, TypeError, RecursionError) as error:
        raise NonRetryableError(f"a {type(value).__name__} cannot be written as JSON: {error}") from None
    if encoded is None:
        return {}
    if not isinstance(encoded, dict):
        raise NonRetryableError(f"a handler must return an object of variables, not a {type(value).__name__}")
    return encoded


def _dataclass(kind: type, value: Any, at: str) -> Any:
    given = _expect(dict, value, at)
    hints = typing.get_type_hints(kind)
    arguments = {}
    # Variables that the type does not name belong to other steps.
    for field in dataclasses.fields(kind):
        if field.init and field.name in given:
            arguments[field.name] = decode(hints[field.name], given[field.name], f"{at}.{field.name}")
        elif field.init and field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise DecodeError(f"{at}.{field.name} is missing")
    return kind(**arguments)


def _pydantic(kind: Any, value: Any, at: str) -> Any:
    try:
        return kind.model_validate(value)
    except ValueError as error:
        raise DecodeError(f"{at}: {error}") from error


def _generic(kind: Any, origin: Any, value: Any, at: str) -> Any:
    inner = typing.get_args(kind)
    if origin is typing.Union or origin is types.UnionType:
        return _union(inner, value, at)
    if origin is typing.Literal:
        if value not in inner:
            raise DecodeError(f"{at} is {value!r}, but must be one of {', '.join(map(repr, inner))}")
        return value
    if origin is typing.Annotated:
        return decode(inner[0], value, at)
    if issubclass(origin, Mapping):
        items = _expect(dict, value, at)
        return {name: decode(inner[1], item, f"{at}.{name}") for name, item in items.items()}
    if issubclass(origin, Sequence | set | frozenset):
        members = [decode(inner[0], item, f"{at}[{index}]") for index, item in enumerate(_expect(list, value, at))]
        return members if origin in (list, Sequence) else origin(members)
    raise DecodeError(f"{at}: values cannot be read as {kind}")


def _union(kinds: Sequence[Any], value: Any, at: str) -> Any:
    if value is None and type(None) in kinds:
        return None
    failures = []
    for kind in kinds:
        try:
            return decode(kind, value, at)
        except DecodeError as error:
            failures.append(error)
    raise failures[0]


def _from_text(kind: type, value: Any, at: str) -> Any:
    try:
        if issubclass(kind, datetime | date):
            return kind.fromisoformat(_expect(str, value, at).replace("Z", "+00:00"))
        return typing.cast(Any, kind)(value)
    except (ValueError, AttributeError, TypeError) as error:
        raise DecodeError(f"{at} is {value!r}, which is no {kind.__name__}") from error


def _expect(kind: Any, value: Any, at: str) -> Any:
    fits = isinstance(value, kind) and not (kind is int and isinstance(value, bool))
    if not fits:
        raise DecodeError(f"{at} is {_name(value)}, but must be {kind.__name__}")
    return value


def _name(value: Any) -> str:
    return "null" if value is None else f"a {type(value).__name__}"
