"""Old names with their present ones; files with old names are refused with the new ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gingham import _native
from gingham.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Container, Iterator
    from pathlib import Path


def said(what: str, old: str) -> str | None:
    """Return a sentence with the present name for an old one; `None` for any other name."""
    named = (one for one in _native.old_names() if (one["what"], one["old"]) == (what, old))
    return next((sentence(one) for one in named), None)


def require_none(place: Path, values: Mapping[str, Any], columns: Container[str]) -> None:
    """Raise `InputError` if the scenario in `values` has old keys, or results old columns."""
    written = [f".{leaf}." for leaf in leaves(values)]
    old = [
        one
        for one in _native.old_names()
        if (one["what"] == "column" and one["old"] in columns)
        or (one["what"] == "key" and any(f".{one['old']}." in leaf for leaf in written))
    ]
    if old:
        raise InputError(
            f"{place}: written with old names: {'; '.join(map(sentence, old))}\n"
            "  run it again into another folder, or read it with the version that wrote it",
            file=str(place),
            code="old-names",
            expected=[one["new"] for one in old],
        )


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
