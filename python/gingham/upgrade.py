"""Scenarios and sweep files of earlier versions, rewritten with present names.

::

    text ── tomllib ──► values ── rename ──► expected
      │                                         ║ equal
      └─ one name replaced in the text ── tomllib ──► values ── rename ──► ...

Layout and comments stay. A replacement in the text is kept if it changes the values, and if the
remaining renames lead to the expected values; a comment with an old name is therefore left alone.
Old names are those of `gingham.catalogue.old_names`.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gingham import _native
from gingham._files import write_bytes
from gingham.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class Renamed:
    """A name that was replaced: its line, counted from 1, its kind, the old and the new name."""

    line: int
    kind: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Upgrade:
    """A file with its replacements, and its text with present names."""

    path: Path
    changes: tuple[Renamed, ...]
    text: str

    def save(self) -> None:
        """Replace the file, whole or not at all."""
        write_bytes(self.path, self.text.encode(), overwrite=True)


@dataclass(frozen=True, slots=True)
class Name:
    """An old name in two parts: the path above, and the last part, which the new name replaces.

    The last part of an old value is the value, and the path above is that of its key. The step `*`
    of a path is any entry of a list.
    """

    kind: str
    old: str
    new: str

    @property
    def above(self) -> tuple[str, ...]:
        """Return the path above the last part; old and new name share it."""
        return tuple(self.old.split(".")[:-1])

    @property
    def last(self) -> tuple[str, str]:
        """Return the last part of the old name, and of the new one."""
        return self.old.split(".")[-1], self.new.split(".")[-1]


def old_names() -> list[Name]:
    """Return the old names that scenarios and sweep files can have."""
    named = _native.old_names()
    return [
        Name(one["what"], one["old"], one["new"])
        for one in named
        if one["what"] in {"key", "value", "engine", "example"}
    ]


def upgrade(path: Path) -> Upgrade:
    """Return the replacements in a scenario or sweep file.

    Raises:
        InputError: The file cannot be read, is not TOML, or has both an old name and its new one.
    """
    try:
        text = path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {error}", code="no-file", file=str(path)) from error
    changes = list[Renamed]()
    for name in old_names():
        text = replaced(path, text, name, changes)
    if changes:
        require_known_format(path, parsed(path, text))
    return Upgrade(path, tuple(sorted(changes, key=lambda one: one.line)), text)


def require_known_format(path: Path, values: dict[str, Any]) -> None:
    """Refuse to rewrite a file of a later format: an old name may have a new meaning there."""
    number = values.get("format")
    present = _native.scenario_schema()["properties"]["format"]["maximum"]
    if isinstance(number, int) and number > present:
        raise InputError(
            f"{path}: needs a version of Gingham that reads format {number}; "
            f"{_native.__version__} reads format {present}",
            code="other-form",
            file=str(path),
            key="format",
        )


def replaced(path: Path, text: str, name: Name, changes: list[Renamed]) -> str:
    """Return the text with one old name replaced, and add the replacements to `changes`."""
    expected = renamed(path, parsed(path, text), name)
    old, new = name.last
    pattern = re.compile(rf"(?<![\w-]){re.escape(old)}(?![\w-])")
    start = 0
    while match := pattern.search(text, start):
        start = match.end()
        before = parsed(path, text)
        candidate = text[: match.start()] + new + text[match.end() :]
        try:
            values = tomllib.loads(candidate)
        except tomllib.TOMLDecodeError:
            continue
        if values != before and renamed(path, values, name) == expected:
            line = text.count("\n", 0, match.start()) + 1
            changes.append(Renamed(line, name.kind, name.old, name.new))
            text, start = candidate, match.start() + len(new)
    if parsed(path, text) != expected:
        raise InputError(
            f"{path}: the {name.kind} `{name.old}` is written in a form that cannot be rewritten; "
            f"write `{name.new}` by hand",
            code="cannot-upgrade",
            file=str(path),
            key=name.old,
        )
    return text


def parsed(path: Path, text: str) -> dict[str, Any]:
    """Return the values of a TOML file."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: {error}", code="bad-toml", file=str(path)) from error


def renamed(path: Path, values: Any, name: Name, above: Sequence[str] = ()) -> Any:
    """Return values with present names; keys may be dotted paths, as in sweep files."""
    if isinstance(values, list):
        return [renamed(path, value, name, (*above, "*")) for value in values]
    if isinstance(values, dict):
        found = dict[str, Any]()
        for key, value in values.items():
            parts = (*above, *key.split("."))
            now = key_now(key, above, name)
            if key == "values" and isinstance(varied := values.get("key"), str):
                below = values_of_axis(path, value, name, varied.split("."))
            else:
                below = renamed(path, value, name, parts)
            found[now] = merged(path, found[now], below, name) if now in found else below
        return found
    return text_now(values, above, name) if isinstance(values, str) else values


def values_of_axis(path: Path, values: Any, name: Name, above: Sequence[str]) -> Any:
    """Return the values of a sweep's axis, which are those of the key `above`."""
    if isinstance(values, list):
        return [renamed(path, value, name, above) for value in values]
    if isinstance(values, dict):
        return {key: renamed(path, value, name, above) for key, value in values.items()}
    return values


def text_now(text: str, above: Sequence[str], name: Name) -> str:
    """Return a text with present names: that of an engine, an example, a key or a value."""
    old, new = name.last
    if name.kind == "key" and above[-1:] == ("key",):
        return key_now(text, (), name)
    if name.kind == "value":
        return new if text == old and ends_with(above, name.above) else text
    of = {"engine": ("engine",), "example": ("base",)}.get(name.kind)
    return new if text == old and tuple(above[-1:]) == of else text


def ends_with(path: Sequence[str], pattern: Sequence[str]) -> bool:
    """Return whether a path ends as a pattern does, in which `*` is any step."""
    end = path[len(path) - len(pattern) :] if len(path) >= len(pattern) else []
    return len(end) == len(pattern) and all(
        of in {"*", step} for step, of in zip(end, pattern, strict=True)
    )


def key_now(key: str, above: Sequence[str], name: Name) -> str:
    """Return a key, which may be a dotted path, with its present name."""
    if name.kind != "key":
        return key
    parts = key.split(".")
    path = [*above, *parts]
    old, new = name.last
    for end in range(len(above) + 1, len(path) + 1):
        if ends_with(path[:end], [*name.above, old]):
            parts[end - 1 - len(above)] = new
    return ".".join(parts)


def merged(path: Path, one: Any, other: Any, name: Name) -> Any:
    """Return the union of two tables; the old and the new name may each hold a part of it."""
    if isinstance(one, dict) and isinstance(other, dict):
        result = dict(one)
        for key, value in other.items():
            result[key] = merged(path, result[key], value, name) if key in result else value
        return result
    raise InputError(
        f"{path}: has both `{name.old}` and its present name `{name.new}`; remove one",
        code="both-names",
        file=str(path),
        key=name.old,
    )


def files_in(place: Path) -> Iterator[Path]:
    """Yield the TOML files of a folder and those below it, in order; a file itself.

    Folders of runs and sweeps are left out: their files are sealed by digests.
    """
    if not place.is_dir():
        yield place
        return
    if (place / MANIFEST).exists():
        return
    for below in sorted(place.iterdir()):
        hidden = below.name.startswith(".")
        if not hidden and not below.is_symlink() and (below.is_dir() or below.suffix == ".toml"):
            yield from files_in(below)
