"""Files named by a scenario: values of keys with `x-file` in its schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def files_named(value: Any, schema: Mapping[str, Any], key: str = "") -> Iterator[tuple[str, str]]:
    """Yield key and name of each file that a value of a schema without references names, once.

    >>> shape = {"properties": {"length": {"oneOf": [
    ...     {"const": "any"}, {"properties": {"file": {"type": "string", "x-file": True}}}]}}}
    >>> list(files_named({"length": {"file": "a.csv"}}, shape))
    [('length.file', 'a.csv')]
    >>> list(files_named({"length": "any"}, shape))
    []
    """
    yield from dict.fromkeys(walk(value, schema, key))


def walk(value: Any, schema: Mapping[str, Any], key: str) -> Iterator[tuple[str, str]]:
    """Yield key and name of each file, repeated for schema alternatives that share the key."""
    if isinstance(value, str):
        if schema.get("x-file"):
            yield key, value
    elif isinstance(value, dict):
        for name, below in schema.get("properties", {}).items():
            if name in value:
                yield from walk(value[name], below, f"{key}.{name}" if key else name)
    elif isinstance(value, list):
        for place, one in enumerate(value):
            yield from walk(one, schema.get("items", {}), f"{key}.{place}")
    for among in ("oneOf", "anyOf", "allOf"):
        for branch in schema.get(among, []):
            yield from walk(value, branch, key)
