"""Columns by a JSON schema: each plain field of an object is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

# Arrow types by the kind of a field.
TYPES = {"integer": "int64", "number": "double", "string": "string"}


def plain_columns(fields: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return name and Arrow type of each field that is a number or a text, or may be missing.

    >>> plain_columns({"a": {"type": ["integer", "null"]}, "b": {"type": "array"}, "c": {}})
    {'a': 'int64', 'c': 'string'}
    """
    types = {name: type_of(field) for name, field in fields.items()}
    return {name: type_ for name, type_ in types.items() if type_}


def type_of(field: Mapping[str, Any]) -> str:
    """Return the type of the column of a field, or nothing if it is no plain value.

    A choice among words has no type in the schema, and is a text.
    """
    kinds = field.get("type", "string")
    names = [kinds] if isinstance(kinds, str) else kinds
    return next((TYPES[name] for name in names if name in TYPES), "")
