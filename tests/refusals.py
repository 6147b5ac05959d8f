"""Assertions on the code, key, place and nearest name of errors, instead of their wording."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from gingham import GinghamError
from tests.conftest import Finished

Error = TypeVar("Error", bound=GinghamError)


@contextmanager
def raises(
    kind: type[Error],
    code: str,
    *,
    key: str | None = None,
    file: Path | str | None = None,
    line: int | None = None,
    nearest: str | None = None,
) -> Iterator[pytest.ExceptionInfo[Error]]:
    """Expect an error of this kind and code, with the given further facts."""
    with pytest.raises(kind) as caught:
        yield caught
    expected = {"code": code, **given(key=key, file=file, line=line, nearest=nearest)}
    assert {name: getattr(caught.value, name, None) for name in expected} == expected, caught.value


def require_error(
    finished: Finished,
    code: str,
    *,
    exit_code: int = 2,
    key: str | None = None,
    file: Path | str | None = None,
    line: int | None = None,
    nearest: str | None = None,
) -> dict[str, Any]:
    """Return the error of a command with `--json`; fail unless it has this code and these facts."""
    error = error_of(finished.err)
    assert finished.code == exit_code, finished.err
    facts = given(key=key, file=file, line=line, nearest=nearest)
    expected = {"code": code, "exit_code": exit_code, **facts}
    assert {name: error.get(name) for name in expected} == expected, finished.err
    return error


def error_of(err: str) -> dict[str, Any]:
    """Return the one error on the standard error of a command with `--json`."""
    [error] = [line for line in map(json.loads, err.splitlines()) if "exit_code" in line]
    found: dict[str, Any] = error
    return found


def notes_of(err: str) -> list[str]:
    """Return the notes on the standard error of a command with `--json`."""
    return [line["note"] for line in map(json.loads, err.splitlines()) if "note" in line]


def given(**facts: object) -> dict[str, object]:
    """Return the facts other than `None`, with paths as text."""
    return {
        name: str(fact) if isinstance(fact, Path) else fact
        for name, fact in facts.items()
        if fact is not None
    }
