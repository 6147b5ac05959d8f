"""Sentences of messages."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def unknown(what: str, name: str, known: Sequence[str]) -> str:
    """Return that a name is none of those known, with the nearest of them."""
    close = get_close_matches(name, known, n=1)
    meant = f'; did you mean "{close[0]}"?' if close else ""
    return f'"{name}" is not {what}{meant}\n  known are {", ".join(known)}'
