"""Old names with their present ones; files with old names are refused with the new ones."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gingham import _native
from gingham.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Container, Iterator
    from pathlib import Path

# Kinds of names that scenarios and sweeps have as dotted paths.
PATHS = {"key", "value"}


def said(what: str, old: str) -> str | None:
    """Return a sentence with the present name for an old one; `None` for any other name."""
    named = (one for one in _native.old_names() if (one["what"], one["old"]) == (what, old))
    return next((sentence(one) for one in named), None)


def name_now(name: str) -> str | None:
    """Return the present name for an old one, or for a path below an old key; `None` for others.

    The first steps of a path may be missing.

    >>> name_now("held_pace"), name_now("traffic.0.window.answer.length"), name_now("window")
    ('held_rate_limit', 'traffic.0.window.ack.length', None)
    """
    steps = name.split(".")
    for one in _native.old_names():
        old, new = one["old"].split("."), one["new"].split(".")[-1]
        for length in range(1, len(steps) + 1):
            end = old[-length:]
            if len(end) == length and all(map(matches, end, steps)):
                return ".".join([*steps[: length - 1], new, *steps[length:]])
    return None


def matches(pattern: str, step: str) -> bool:
    """Return whether a step of an old name, where `*` is any entry of a list, is this one."""
    return pattern in {"*", step}


def require_none(place: Path, values: Mapping[str, Any], columns: Container[str]) -> None:
    """Raise `InputError` if the scenario in `values` has old keys, or results old columns."""
    written = [f".{leaf}." for leaf in leaves(values)]
    old = [
        one
        for one in _native.old_names()
        if (one["what"] == "column" and one["old"] in columns)
        or (one["what"] in PATHS and any(map(expression(one["old"]).search, written)))
    ]
    if old:
        raise InputError(
            f"{place}: written with old names: {'; '.join(map(sentence, old))}\n"
            "  run it again into another folder, or read it with the version that wrote it",
            file=str(place),
            code="old-names",
            expected=[one["new"] for one in old],
        )


def expression(path: str) -> re.Pattern[str]:
    """Return the expression that finds an old path between the dots of a longer one."""
    steps = ("[^.]+" if step == "*" else re.escape(step) for step in path.split("."))
    return re.compile("[.]" + "[.]".join(steps) + "[.]")


def sentence(one: Mapping[str, str]) -> str:
    """Return a sentence with the present name for an old one."""
    return f"the {one['what']} `{one['old']}` is called `{one['new']}` now"


def leaves(values: object) -> Iterator[str]:
    """Yield every dotted path to a value, and the value, which may be a dotted path itself."""
    if isinstance(values, Mapping | list):
        items = values.items() if isinstance(values, Mapping) else enumerate(values)
        for step, below in items:
            yield from (f"{step}.{leaf}" for leaf in leaves(below))
    elif values is not None:
        yield str(values)
