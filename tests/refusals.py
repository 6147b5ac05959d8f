"""Assertions on the code, key and file of errors, in place of their words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import pytest

from gingham import GinghamError

Error = TypeVar("Error", bound=GinghamError)


@contextmanager
def raises(
    kind: type[Error], code: str, *, key: str | None = None, file: Path | str | None = None
) -> Iterator[pytest.ExceptionInfo[Error]]:
    """Expect an error of this kind and code, and with this key or file if one is given."""
    with pytest.raises(kind) as caught:
        yield caught
    error = caught.value
    assert getattr(error, "code", None) == code, error
    assert key is None or getattr(error, "key", None) == key, error
    assert file is None or getattr(error, "file", None) == str(file), error
